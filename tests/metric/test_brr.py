"""brr and codebook: losses against written-out channels, ties and edges, long lines, spaces, priors, remapping."""

from __future__ import annotations

import math
import time
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.core.codes import Codes
from deniable.core.grid import Grid
from deniable.core.space import Space
from deniable.mechanisms.metric.base import MetricMechanism
from deniable.mechanisms.metric.bound import optimal_release
from deniable.mechanisms.metric.brr import BRR, make_brr
from deniable.mechanisms.metric.codebook import Codebook, make_codebook
from deniable.mechanisms.metric.codes_search import line_codes, search_codes
from deniable.mechanisms.metric.losses import Line
from deniable.mechanisms.registry import MECHANISMS, from_design
from deniable.testing import law_pvalue

SMALL = [(name, case) for name in ("brr", "codebook") for case in MECHANISMS[name].small]
EPSILONS = (0.1, 1.0, 4.0)


def made(name: str, **given: Any) -> MetricMechanism:
    m = dn.mechanism(name, **given)
    assert isinstance(m, MetricMechanism)
    return m


def cloud(n: int, seed: int = 5) -> Space:
    return Space.vectors(np.random.default_rng(seed).normal(size=(n, 2)))


@pytest.mark.parametrize(("name", "case"), SMALL, ids=str)
def test_closed_forms_are_those_of_the_channel(name: str, case: dict[str, Any]) -> None:
    m = made(name, **case)
    prior = np.arange(1, m.k + 1) / (m.k * (m.k + 1) / 2)
    for given in (None, prior):
        assert m.loss(given) == pytest.approx(m.loss_under(m.matrix(), given), rel=1e-12)
        assert m.guess(given).success == pytest.approx(MetricMechanism.guess(m, given).success, rel=1e-12)
    assert m.loss_effective() == pytest.approx(m.loss_under(m.bulk.matrix), rel=1e-12)
    assert m.loss_effective() == pytest.approx(m.loss(), rel=1e-12)
    assert m.rank == np.linalg.matrix_rank(m.matrix())
    assert np.allclose(m.channel().matrix(), m.bulk.matrix, rtol=1e-12, atol=0)
    again = from_design(m.design)
    assert again == m
    assert again.design == m.design


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("k", [2, 3, 4, 9, 10])
def test_exact_epsilon_with_all_ties_and_sizes(k: int, epsilon: float) -> None:
    for m in range(1, k):
        for tie in ("random", "low", "high"):
            found = dn.audit(BRR(epsilon=epsilon, domain=dn.Domain.of(k), m=m, tie=tie))
            assert found.holds
            assert found.agrees
            assert found.exact > epsilon * (1 - 1e-9), "the budget is used"


def test_duplicates_are_private_and_the_value_itself_comes_first() -> None:
    space = Space.vectors([[0, 0], [0, 0], [0, 0], [1, 0], [5, 0]])
    for m in (1, 2, 3, 4):
        found = dn.audit(BRR(epsilon=1.0, domain=space, m=m))
        assert found.holds
        assert found.agrees
    lists = BRR(epsilon=1.0, domain=space, m=2).kernel.neighbours  # type: ignore[union-attr]
    assert lists == ((0, 1), (0, 1), (0, 2), (0, 3), (3, 4))
    same = dn.audit(BRR(epsilon=1.0, domain=Space.losses([[0, 1, 2], [0, 1, 2]]), m=1))
    assert same.proof.ratio == Fraction(1)
    assert same.agrees, "all values favour the same answer, so reports tell nothing"


def test_a_common_size_is_what_makes_it_private() -> None:
    """With every value's own number of favoured answers the exact level is above the promise (docs/maths/metric.md)."""
    losses, e = Line(20), math.e
    sizes = own_sizes(losses, 1.0)
    rows = []
    for row, m in zip(losses.matrix(), sizes, strict=True):
        near = np.argsort(row, kind="stable")[:m]
        weights = np.ones(20)
        weights[near] = e
        rows.append(weights / weights.sum())
    matrix = np.array(rows)
    level = math.log((matrix.max(axis=0) / matrix.min(axis=0)).max())
    assert (min(sizes), max(sizes)) == (7, 9)
    assert level == pytest.approx(1.1019235531799343, rel=1e-12)


def own_sizes(losses: Line, epsilon: float) -> list[int]:
    from deniable.mechanisms.metric.bipartite import local_m

    return local_m(np.sort(losses.matrix(), axis=1), epsilon).tolist()


@pytest.mark.parametrize("m", [1, 2, 3, 6, 7])
def test_random_ties_make_the_channel_symmetric(m: int) -> None:
    found = BRR(epsilon=1.0, domain=dn.Domain.of(8), m=m).matrix()
    assert np.allclose(found, found[::-1, ::-1], rtol=1e-15)
    low, high = (BRR(epsilon=1.0, domain=dn.Domain.of(8), m=m, tie=tie).matrix() for tie in ("low", "high"))
    assert np.allclose(found, (low + high) / 2, rtol=1e-15)
    assert np.allclose(low, high[::-1, ::-1], rtol=1e-15)


@pytest.mark.stat
@pytest.mark.parametrize("tie", ["low", "high"])
def test_random_ties_are_drawn(tie: str) -> None:
    """Reports of the bulk sampler at alpha 1e-6; those of a fixed tie are told apart from it."""
    right, other = (BRR(epsilon=1.0, domain=dn.Domain.of(6), m=2, tie=t) for t in ("random", tie))
    items = {x: np.full(20_000, x) for x in range(6)}
    drawn = [
        {x: m.privatize_items(part, dn.simulation(x)).columns for x, part in items.items()} for m in (right, other)
    ]
    assert law_pvalue(right, drawn[0]) > 1e-6 > law_pvalue(right, drawn[1])


@pytest.mark.parametrize("name", ["brr", "codebook"])
def test_a_billion_points(name: str) -> None:
    """Processor time: the machine may be busy with other things."""
    start = time.process_time()
    m = made(name, epsilon=1.0, points=10**9)
    loss = m.properties()["loss"]
    reports = m.privatize_items(np.array([0, 5 * 10**8, 10**9 - 1]))
    assert time.process_time() - start < 10, "a billion steps of anything would take longer"
    assert loss / 1e9 == pytest.approx({"brr": 0.2437, "codebook": 0.2135}[name], abs=1e-4)
    assert m.released(reports).max() < 10**9
    assert dn.audit(m).holds
    with pytest.raises(dn.ParameterError, match="too many to write"):
        m.matrix()


def test_sampling_a_million() -> None:
    """Processor time, the best of three, for each of the kinds of kernels; the machine may be busy with others."""
    rng = np.random.default_rng(1)
    for given in ({"points": 1000}, {"points": 10**9}, {"distances": cloud(200)}):
        for name in ("brr", "codebook"):
            m = made(name, epsilon=1.0, **given)
            items = rng.integers(m.k, size=10**6)
            m.privatize_items(items[:1000])
            times = []
            for _ in range(3):
                start = time.process_time()
                m.privatize_items(items)
                times.append(time.process_time() - start)
            assert min(times) < 1.0, f"{name} of {sorted(given)}: {min(times):.3f} s"


@pytest.mark.parametrize("epsilon", [1e-9, 1e-3, 40.0, 41.0, 700.0])
def test_extreme_budgets(epsilon: float) -> None:
    for given in ({"points": 2}, {"points": 3}, {"points": 50}, {"interval": (0, 1)}, {"distances": cloud(6)}):
        for name in ("brr", "codebook"):
            m = made(name, epsilon=epsilon, **given)
            found = m.properties()
            assert 0 <= found["loss"] < math.inf
            assert found.get("gap", 0) >= -1e-12
            if epsilon <= 40:
                assert dn.audit(m).holds
            else:
                assert m.refusal is not None


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0])
def test_codes_of_the_interval_beat_all_equal_bins(epsilon: float) -> None:
    best = made("codebook", epsilon=epsilon, interval=(-3, 5)).loss()
    bins = made("codebook", epsilon=epsilon, interval=(-3, 5), variant="bins")
    assert best < bins.loss()
    assert bins.loss() == pytest.approx(min(brr.loss() for brr in grids(epsilon)), rel=1e-12)
    for size in (2, 3, 5, 9):
        assert made("codebook", epsilon=epsilon, interval=(-3, 5), size=size).loss() >= best * (1 - 1e-12)


def grids(epsilon: float) -> list[MetricMechanism]:
    """Plain randomised response on equal bins: brr that favours one answer."""
    return [made("brr", epsilon=epsilon, interval=(-3, 5), points=n, size=1) for n in range(2, 40)]


def test_losses_of_codes_are_averages_over_the_numbers_of_their_cells() -> None:
    """By hand: codes 1, 5 and 7 of numbers from 0 to 8 have the cells 0-3, 3-6 and 6-8.

    A number is 5/6 from its own code in the first two, 1/2 in the last; from other codes as far as its cell's middle.
    """
    domain = Codes.over(0, 8, [1, 5, 7])
    wanted = np.array([[5 / 6, 3.5, 5.5], [3.5, 5 / 6, 2.5], [6, 2, 1 / 2]])
    m = Codebook(epsilon=math.log(3), domain=domain)
    assert m.loss_matrix() == pytest.approx(wanted, rel=1e-12)
    assert m.losses.weights() == pytest.approx([3 / 8, 3 / 8, 2 / 8], rel=1e-12)
    assert m.losses.near(1) == pytest.approx(3 / 4, rel=1e-12)
    rows = (wanted * (1 + 2 * np.eye(3))).sum(axis=1) / 5
    assert m.loss() == pytest.approx(float(np.dot([3, 3, 2], rows)) / 8, rel=1e-12)
    assert m.worst_loss() == pytest.approx(float(rows.max()), rel=1e-12)
    assert m.loss([0.5, 0.25, 0.25]) == pytest.approx(float(np.dot([2, 1, 1], rows)) / 4, rel=1e-12)


def test_codes_by_simulation_of_numbers() -> None:
    """The stated loss is that of real numbers: the mean of 200,000 uniform ones is within 5 standard errors."""
    numbers = np.random.default_rng(3).uniform(-3, 5, size=200_000)
    for name, given in (("codebook", {}), ("brr", {}), ("brr", {"points": 6, "layout": "endpoints"})):
        m = made(name, epsilon=1.5, interval=(-3, 5), **given)
        off = np.abs(m.released(m.privatize(numbers, rng=dn.simulation(4))) - numbers)
        error = off.std() / math.sqrt(off.size)
        assert abs(off.mean() - m.loss()) < 5 * error
        assert abs(off.mean() - m.loss() * 1.02) > 5 * error, "2 % more would be seen"


def test_local_search_is_near_the_linear_programme() -> None:
    gaps = []
    for seed in range(12):
        matrix = cloud(20, seed).matrix()
        for epsilon in (0.5, 1.0, 2.0, 3.0):
            best = optimal_release(matrix, epsilon).loss
            gaps.append(search_codes(matrix, np.full(20, 1 / 20), epsilon).loss / best - 1)
    assert min(gaps) > -1e-9
    assert max(gaps) < 0.02
    assert float(np.mean(gaps)) < 0.002


@pytest.mark.parametrize("k", [30, 400])
@pytest.mark.parametrize("epsilon", [0.5, 2.0, 5.0])
def test_rounded_codes_of_a_long_line_are_nearly_the_best(k: int, epsilon: float) -> None:
    from deniable.mechanisms.metric.codebook import _rounded
    from deniable.mechanisms.metric.codes_search import interval_codes

    exact = line_codes(Line(k), epsilon).loss
    rounded = Codebook(epsilon=epsilon, domain=dn.Domain.of(k), codes=_rounded(interval_codes(epsilon), k)).loss()
    assert exact * (1 - 1e-12) <= rounded <= exact * (1.0005 if k == 400 else 1.1)


def test_sums_of_long_lines_are_those_of_short_ones() -> None:
    from deniable.mechanisms.metric.codebook import _long_sums

    for cells in ("points", "midpoints"):
        line = Line(57, 0.5, cells)
        codes = np.array([3, 10, 11, 40])
        matrix = line.matrix()[:, codes]
        near, spread = _long_sums(line, codes)
        assert near == pytest.approx(matrix.min(axis=1).mean(), rel=1e-12)
        assert spread == pytest.approx(matrix.mean(axis=0).sum(), rel=1e-12)


def test_a_prior_moves_the_codes_and_lowers_the_loss() -> None:
    prior = np.array([0.5, 0.3, 0.1, *[0.1 / 17] * 17])
    plain = made("codebook", epsilon=1.0, points=20)
    aware = made("codebook", epsilon=1.0, points=20, prior=prior)
    assert aware.loss(prior) < plain.loss(prior)
    assert aware.loss(prior) == pytest.approx(optimal_release(Line(20).matrix(), 1.0, prior).loss, abs=1e-9)
    assert plain.loss() < aware.loss()
    assert aware.selection is not None
    assert aware.selection["prior"] == "given"


def test_remapping_never_costs_and_is_applied_to_reports() -> None:
    prior = np.arange(12, 0, -1) / 78
    m = made("brr", epsilon=0.8, labels=list("abcdefghijkl"))
    best = m.remap(prior)
    assert best.loss < best.before == m.loss(prior)
    reports = m.privatize(list("abcabc"), rng=dn.simulation(1))
    assert best.apply(reports).tolist() == [
        m.domain.labels_or_numbers[best.table[int(y)]] for y in reports.columns["value"]
    ]
    joint = prior[:, None] * m.matrix()
    brute = sum(min(float(joint[:, y] @ m.losses.matrix()[:, z]) for z in range(12)) for y in range(12))
    assert best.loss == pytest.approx(brute, rel=1e-12)


def test_estimate_names_the_rank_and_points_to_fit() -> None:
    m = made("brr", epsilon=1.0, points=10)
    people = np.repeat(np.arange(10), 300)
    tally = m.tally(m.privatize(people, rng=dn.simulation(2)))
    with pytest.raises(dn.ParameterError, match=r"rank 7, below the 10 answers.*fit\(method='em'\)"):
        m.estimate(tally)
    fitted = m.fit(tally, method="ems", stderr=None)
    assert fitted.value.sum() == pytest.approx(1)
    assert np.abs(fitted.value - 0.1).max() < 0.1


@pytest.mark.parametrize("case", [{"points": 6, "size": 1}, {"distances": Space.losses([[0, 2, 1, 3], [1, 0, 4, 2]])}])
def test_estimates_where_there_is_an_inverse(case: dict[str, Any]) -> None:
    """Unbiased in expectation, exactly; standard errors those of many simulated tallies (200 runs, within 25 %)."""
    m = made("brr", epsilon=2.0, **case)
    truth = np.arange(1, m.k + 1) / (m.k * (m.k + 1) / 2)
    people = np.round(truth * 6000).astype(int)
    rng = dn.simulation(6)
    estimates = [m.estimate(m.simulate_tally(people, rng)) for _ in range(200)]
    values = np.array([e.value for e in estimates])
    spread = values.std(axis=0)
    assert (np.abs(values.mean(axis=0) - people / people.sum()) < 5 * spread / math.sqrt(200)).all()
    stated = np.array([e.stderr for e in estimates]).mean(axis=0)
    assert np.allclose(stated, spread, rtol=0.25)
    assert all((e.variance("population") >= e.variance("reporters") * (1 - 1e-9)).all() for e in estimates)


def test_spaces_of_all_kinds_have_the_distances_they_should() -> None:
    earth = Space.places([[0, 0], [0, 180], [90, 0], [52.52, 13.405], [48.8566, 2.3522]]).matrix()
    assert earth[0, 1] == pytest.approx(math.pi * 6371.0088, rel=1e-12)
    assert earth[0, 2] == pytest.approx(math.pi / 2 * 6371.0088, rel=1e-12)
    assert earth[3, 4] == pytest.approx(877.5, abs=1.0), "Berlin to Paris"
    points = [[0, 0], [3, -4]]
    assert [Space.vectors(points, norm=n).matrix()[0, 1] for n in ("euclidean", "manhattan", "chebyshev")] == [5, 7, 4]
    sets = Space.sets([[], [], ["a"], ["a", "b"], ["b", "c", "c"]]).matrix()
    assert sets[0].tolist() == [0, 0, 1, 1, 1]
    assert sets[3].tolist() == pytest.approx([1, 1, 0.5, 0, 2 / 3])
    assert Space.integers([2, 4]).matrix()[0, 1] == pytest.approx(1 - 8 / (4 + 16 - 8))
    assert np.allclose(Space.similarities([[1, 0.2], [0.5, 0.9]]).matrix(), [[0, 0.8], [0.5, 0.1]])
    near = Space.vectors([[0, 0], [1, 1]]).nearest([[0.2, 0.1], [5, 5], [0.5, 0.5]])
    assert near.tolist() == [0, 1, 0]


def test_designs_of_spaces_codes_and_grids_survive_storage() -> None:
    labels = ["x", "y", "z"]
    for domain in (
        Space.places([[1, 2], [3, 4], [5, 6.5]], labels),
        Space.sets([["a"], [], ["a", "b"]]),
        Grid.of(0, 1, 9, clip=True),
    ):
        for make in (make_brr, make_codebook):
            m = make(epsilon=1.0, domain=domain)
            reports = dn.load(dn.dump(m.privatize_items(np.arange(3), dn.simulation(1))))
            assert from_design(reports.design) == m
    codes = made("codebook", epsilon=1.0, interval=(2, 3), clip=True)
    assert isinstance(codes.domain, Codes)
    assert from_design(codes.design) == codes


def test_ties_that_fall_otherwise_elsewhere_are_taken_from_the_design() -> None:
    """Another machine may find another of two equally near answers; what is not nearest is refused."""
    square = Space.vectors([[0, 0], [1, 0], [0, 1], [1, 1]])
    near = {**BRR(epsilon=1.0, domain=square, m=2).design}
    assert near["kernel"]["neighbours"][0] == ["0", "1"]
    other = near | {"kernel": near["kernel"] | {"neighbours": [["0", "2"], *near["kernel"]["neighbours"][1:]]}}
    made_of = from_design(other)
    assert made_of.design == other
    assert set(made_of.bulk.matrix[0].argsort()[2:].tolist()) == {0, 2}  # type: ignore[attr-defined]
    reports = made_of.privatize_items(np.zeros(20_000, np.int64), dn.simulation(1))
    assert set(np.bincount(reports.columns["value"]).argsort()[2:].tolist()) == {0, 2}
    wrong = near | {"kernel": near["kernel"] | {"neighbours": [["0", "3"], *near["kernel"]["neighbours"][1:]]}}
    with pytest.raises(dn.FormatError, match="not those of its distances"):
        from_design(wrong)
    book = {**Codebook(epsilon=1.0, domain=square, codes=(1, 2)).design}
    assert book["kernel"]["codes"] == ["0", "1", "0"]
    turned = book | {"kernel": book["kernel"] | {"starts": ["0", "1", "2"], "codes": ["1", "0", "1"]}}
    assert from_design(turned).design == turned
    broken = book | {"kernel": book["kernel"] | {"codes": ["0", "0", "0"]}}
    with pytest.raises(dn.FormatError, match="not those of its distances"):
        from_design(broken)


def test_an_output_that_nobody_favours_is_guessed_as_what_it_is() -> None:
    """Two places that are one: a design may take either for both, and then the other is nobody's nearest."""
    design: dict[str, Any] = {**BRR(epsilon=1.0, domain=Space.vectors([[0, 0], [0, 0], [2, 0]]), m=1).design}
    assert design["kernel"]["neighbours"] == [["0"], ["1"], ["2"]]
    m = from_design(design | {"kernel": design["kernel"] | {"neighbours": [["0"], ["0"], ["2"]]}})
    assert m.guess().success == pytest.approx(float(m.channel().asr()), rel=1e-12)
    book = Codebook(epsilon=1.0, domain=Space.vectors([[0, 0], [0, 0], [2, 0]]), codes=(0, 1, 2))
    assert (book.rank, book.output_count) == (2, 3)
    assert book.guess().success == pytest.approx(float(book.channel().asr()), rel=1e-12)


@pytest.mark.parametrize("where", [{"interval": (0, 9)}, {"points": 8}, {"interval": (0, 9), "points": 8}], ids=str)
@pytest.mark.parametrize("variant", ["optimal", "bins"])
def test_there_are_as_many_codes_as_are_asked_for(variant: str, where: dict[str, Any]) -> None:
    for size in (2, 3, 4):
        m = made("codebook", epsilon=1.0, variant=variant, size=size, **where)
        assert (m.output_count, m.params["size"], (m.selection or {})["size"]) == (size, size, size)


@pytest.mark.parametrize(
    "codes", [(0, 1), (0, 4), (1, 4), (0, 11), (2, 5, 11), (0, 3, 8), (0, 2, 4, 6), (3, 4, 10, 11)]
)
@pytest.mark.parametrize("written", [False, True])
def test_a_value_in_the_middle_of_two_codes_counts_as_the_lower_one(codes: tuple[int, ...], written: bool) -> None:
    """And every other one as the nearest: on a line that is not written out, and by a matrix of the same distances."""
    domain = Space.vectors(np.arange(12.0)[:, None].tolist()) if written else dn.Domain.of(12)
    m = Codebook(epsilon=1.0, domain=domain, codes=codes)
    assert (m.losses.line is None) is written
    nearest = [min(range(len(codes)), key=lambda i: (abs(x - codes[i]), i)) for x in range(12)]
    assert m.matrix().argmax(axis=1).tolist() == nearest
    assert m.bulk.matrix.argmax(axis=1).tolist() == nearest
    assert from_design(m.design) == m


def test_released_numbers_are_codes_or_points() -> None:
    m = made("codebook", epsilon=3.0, interval=(0, 100))
    values = m.released(m.privatize([1.0, 50, "99.5"], rng=dn.simulation(1)))
    assert isinstance(m.domain, Codes)
    assert set(values.tolist()) <= set(m.domain.codes)
    fine = Codes.over(1000, 1001, 1000 + np.arange(1, 4000) / 4000)
    assert len(set(fine.labels_or_numbers)) == fine.k, "labels tell all codes apart"
    labelled = made("codebook", epsilon=3.0, labels=["low", "mid", "high"])
    assert set(labelled.released(labelled.privatize(["low", "high"])).tolist()) <= {"low", "mid", "high"}
