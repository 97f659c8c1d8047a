"""Several of many options: laws, sizes, bounds, values as people have them, and what becomes of a survey."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.core.domain import Ticks
from deniable.mechanisms.survey.ticks import Weights, best_design, least_ticks, ticked_law, typical
from deniable_client import Device, ParameterError
from deniable_client.kernels.box import number_of, set_of, sets_up_to

FILMS = ["drama", "comedy", "western", "horror"]


def w_v(epsilon: float) -> tuple[float, float]:
    return math.exp(-epsilon), -math.expm1(-epsilon)


def unused(epsilon: float, k: int, most: int, size: int) -> float:
    """n Var of an option that nobody ticks."""
    return float(ticked_law(*w_v(epsilon), k + most, most, size).mse_approx())


def hashed(epsilon: float, most: int) -> float:
    """The same of set hashing, with its best number of buckets."""
    e = math.exp(epsilon)
    costs = ((g - 1) * (g + most * (e - 1)) ** 2 / ((e - 1) * (g - most)) ** 2 for g in range(most + 1, 600))
    return min(costs)


def test_golden_variances() -> None:
    """Padding and set hashing by their own closed forms, and the table of the documentation."""
    for epsilon, k, most in ((1.0, 10, 3), (0.5, 5, 2), (4.0, 20, 5)):
        e = math.exp(epsilon)
        padded = (most * (e - 1) + k + most - 1) / (e - 1) ** 2
        assert unused(epsilon, k, most, 1) == pytest.approx(padded, rel=1e-12)
    told = {(1.0, 10, 3): 5.81, (1.0, 20, 2): 6.26, (0.5, 60, 5): 80.5, (1.0, 64, 3): 10.91}
    for (epsilon, k, most), value in told.items():
        sizes = [size for size in range(1, k + 1) if math.comb(k + most, size) <= 2**64]
        assert min(unused(epsilon, k, most, size) for size in sizes) == pytest.approx(value, abs=0.006 * value)
    assert [round(hashed(*case), 2) for case in ((1.0, 3), (1.0, 2), (0.5, 5))] == [13.35, 8.55, 107.87]
    drawn = Weights.of(ticked_law(*w_v(1.0), 20, 10, 1), 10, 10, 10)
    e = math.e
    assert drawn.cost(0.5) == pytest.approx(10 * (e + 1) ** 2 / (4 * (e - 1) ** 2), rel=1e-12), (
        "k times a yes/no question"
    )


def test_sets_beat_hashing_padding_and_drawing() -> None:
    """For every number of options that there may be, sizes that one word tells apart are enough."""
    for epsilon in (0.2, 0.5, 1.0, 2.0, 4.0):
        for k in (3, 5, 10, 20, 40, 64):
            for most in (1, 2, 3, 5):
                if most >= k:
                    continue
                sizes = [size for size in range(1, k + 1) if math.comb(k + most, size) <= 2**64]
                best = min(unused(epsilon, k, most, size) for size in sizes)
                assert best <= hashed(epsilon, most) * (1 + 1e-12), (epsilon, k, most)


def test_the_best_design_is_chosen() -> None:
    """Many ticks: one drawn option; few of them: dummies; few of many options: larger sets."""
    assert best_design(0.5, 3, 2, None, None) == (3, 1)
    assert best_design(1.0, 10, 3, None, None) == (3, 1)
    assert best_design(0.5, 60, 2, None, None)[1] > 5
    assert best_design(1.0, 10, 10, None, None) == (10, 1)
    for epsilon, k, most in ((1.0, 6, 2), (0.5, 12, 4), (2.0, 4, 3)):
        chosen = dn.mechanism("several", k=k, most=most, epsilon=epsilon)
        others = [(most, size) for size in range(1, k + 1)] + [(k, 1)]
        each = [dn.mechanism("several", k=k, most=most, epsilon=epsilon, marks=m, size=s) for m, s in others if m <= k]
        assert chosen.properties()["mse"] <= min(m.properties()["mse"] for m in each) * (1 + 1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_nothing_is_below_the_bound(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(60):
        k = int(rng.integers(2, 30))
        most, epsilon = int(rng.integers(1, k + 1)), float(np.exp(rng.uniform(-2, 1.6)))
        marks, size = best_design(epsilon, k, most, None, None)
        law = ticked_law(*w_v(epsilon), k + marks, marks, size)
        cost = Weights.of(law, k, most, marks).cost(typical(k, most)[0])
        assert cost >= least_ticks(epsilon, k, most) * (1 - 1e-12), (epsilon, k, most)


def test_the_bound_is_that_of_the_singular_values() -> None:
    """Against the nuclear norm of the centred queries, written out; without the centring it would be another."""
    from deniable.mechanisms.survey.laws import most_information

    for k, most, epsilon in ((4, 2, 1.0), (5, 5, 0.5), (6, 1, 2.0)):
        held = Ticks.over(k, most).members(np.arange(sets_up_to(k, most))).astype(float).T
        centred = held - held.mean(axis=1, keepdims=True)
        total = np.linalg.svd(centred, compute_uv=False).sum() ** 2 / (
            held.shape[1] * most_information(held.shape[1], epsilon)
        )
        assert least_ticks(epsilon, k, most) == pytest.approx(total / k, rel=1e-9)
        raw = np.linalg.svd(held, compute_uv=False).sum() ** 2
        assert raw > 1.01 * np.linalg.svd(centred, compute_uv=False).sum() ** 2


def test_one_dummy_for_all_would_break_the_promise() -> None:
    """Padding with a single dummy, as it is printed elsewhere: who ticks nothing always draws it, others now and then.

    Its exact ratio is l(e-1)+1 where e is meant; with as many dummies as may be ticked it is e.
    """
    e, most, k = Fraction(3), 2, 3
    amplified = most * (e - 1) + 1
    own, other = amplified / (amplified + k), 1 / (amplified + k)

    def dummy(ticked: int) -> Fraction:
        drawn = Fraction(max(0, most - ticked), most)
        return drawn * own + (1 - drawn) * other

    assert dummy(0) / dummy(2) == amplified == 5
    m = dn.mechanism("several", k=k, most=most, epsilon=1.0986, marks=2, size=1)
    assert m.channel().proof().ratio == m.proof.ratio <= 3


def test_sets_have_numbers() -> None:
    for k, most in ((2, 1), (5, 2), (6, 6), (40, 3)):
        where = Ticks.over(k, most)
        items = np.unique(np.linspace(0, where.k - 1, 400).astype(np.int64))
        own = where.members(items)
        for item, row in zip(items.tolist(), own, strict=True):
            assert sorted(set_of(item, k)) == np.flatnonzero(row).tolist()
            assert number_of(np.flatnonzero(row).tolist(), k) == item
    every = [number_of(chosen, 5) for size in range(4) for chosen in combinations(range(5), size)]
    assert sorted(every) == list(range(sets_up_to(5, 3)))


def test_values_as_people_have_them() -> None:
    where = Ticks.over(FILMS, 2)
    texts = where.encode(["drama;horror", "", " comedy ", "horror; drama"])
    lists = where.encode([["drama", "horror"], [], ("comedy",), {"horror", "drama"}])
    assert texts.tolist() == lists.tolist()
    assert texts[0] == texts[3] != texts[2]
    assert where.decode(texts).tolist() == [["drama", "horror"], [], ["comedy"], ["drama", "horror"]]
    assert where.document() == {"ticks": FILMS, "most": 2}
    assert dn.Domain.from_document(where.document()) == where
    for bad in ([["drama", "drama"]], [FILMS[:3]], [["musical"]], [None], [float("nan")], [3]):
        with pytest.raises(dn.ParameterError):
            where.encode(bad)
    for options, most in ((1, 1), (300, 2), (5, 6), (5, 0), (5, True), (100, 50), (["a", "a"], 1)):
        with pytest.raises(dn.ParameterError):
            Ticks.over(options, most)


def test_devices_and_bulk_have_one_law() -> None:
    """All sets of a small list: how often each report comes, by the exact channel, to 6 standard errors."""
    m = dn.mechanism("several", labels=FILMS[:3], most=2, epsilon=1.0, marks=2, size=2)
    device = Device(m.design)
    reports = np.frombuffer(b"".join(device.report(["western", "drama"]) for _ in range(4000)), np.uint8)
    chances = np.array([[float(w) / float(m.channel().total) for w in row] for row in m.channel().weights])
    x = int(m.domain.encode([["drama", "western"]])[0])
    names = [sum(1 << i for i in held) for held in combinations(range(5), 2)]
    found = np.array([(reports == name).sum() for name in names])
    assert found.sum() == 4000
    spread = np.sqrt(4000 * chances[:, x] * (1 - chances[:, x]))
    assert (np.abs(found - 4000 * chances[:, x]) < 6 * spread).all()
    other = int(m.domain.encode([[]])[0])
    assert (np.abs(found - 4000 * chances[:, other]) > 6 * spread).any(), "another value would be noticed"


@pytest.mark.parametrize(("k", "most", "marks", "size"), [(3, 2, 2, 2), (3, 2, 3, 1), (4, 2, 4, 1), (3, 3, 3, 1)])
def test_variances_are_those_of_all_reports(k: int, most: int, marks: int, size: int) -> None:
    """By the exact channel: reports of people who tick an option, of people who do not, and of both together."""
    m: Any = dn.mechanism("several", k=k, most=most, epsilon=1.0, marks=marks, size=size)
    weights = m.bulk.weights
    channel = m.channel()
    law = np.array([[float(w) / float(channel.total) for w in row] for row in channel.weights])
    held = np.array([[y in own for y in range(k + marks)] for own in combinations(range(k + marks), size)], float)
    ticked, rest = held[:, :k], held[:, k:] if marks == k else 0.0
    each = weights.unbias(ticked, rest)
    for x, sets in enumerate(m.bulk.stands_for):
        mean = law[:, x] @ each
        spread = law[:, x] @ each**2 - mean**2
        assert mean == pytest.approx(sets, abs=1e-12)
        assert spread == pytest.approx(weights.variance(np.asarray(sets, float), "reporters"), rel=1e-9)
        for f in (0.0, 0.25, 1.0):  # with people who tick none, whose estimate is 0 on average
            both = f * law[:, x] + (1 - f) * law[:, 0]
            drawn = both @ each**2 - (both @ each) ** 2
            assert drawn == pytest.approx(weights.variance(f * sets, "population"), rel=1e-9)
            own = f * spread + (1 - f) * weights.variance(0.0, "reporters")
            assert own == pytest.approx(weights.variance(f * sets, "reporters"), rel=1e-9)


@pytest.mark.stat
@pytest.mark.parametrize(("most", "marks"), [(2, 2), (4, 4)])
def test_intervals_cover(most: int, marks: int) -> None:
    """Population intervals of 95 % in 200 runs of four options: within 4 standard errors of it (alpha 6e-5)."""
    m = dn.mechanism("several", k=4, most=most, epsilon=1.0, marks=marks)
    rng = np.random.default_rng(5)
    chances = rng.dirichlet(np.ones(m.k))
    true, hits = chances @ m.bulk.stands_for, 0
    for run in range(200):
        items = rng.choice(m.k, 1500, p=chances)
        found = m.estimate(m.tally(m.privatize_items(items, dn.simulation(run)))).interval(target="population")
        hits += int(((found.low <= true) & (true <= found.high)).sum())
    assert abs(hits - 760) <= 4 * math.sqrt(800 * 0.95 * 0.05)


def test_covariances_are_refused_and_nothing_is_projected() -> None:
    m = dn.mechanism("several", k=4, most=2, epsilon=1.0)
    found = m.estimate(m.tally(m.privatize([[0], [1, 2]] * 200, rng=dn.simulation(1))))
    with pytest.raises(dn.ParameterError, match="tick together"):
        found.parts["frequency"].covariance("population")
    with pytest.raises(dn.ParameterError, match="need not sum to 1"):
        found.project()


def test_a_survey_with_several_of() -> None:
    asked: dict[str, Any] = {
        "smokes": ["no", "yes"],
        "films": {"several": FILMS, "most": 2},
        "sports": {"several": 5},
    }
    survey = dn.survey(asked, epsilon=1.0)
    assert [m.name for m in survey.mechanisms] == ["grr", "several", "several"]
    n, rng = 30_000, np.random.default_rng(2)
    people = {
        "smokes": rng.choice(["no", "yes"], n, p=[0.7, 0.3]).tolist(),
        "films": [[["drama"], ["comedy", "western"], []][i] for i in rng.choice(3, n, p=[0.5, 0.3, 0.2])],
        "sports": [np.flatnonzero(row < 0.3).tolist() for row in rng.random((n, 5))],
    }
    found = survey.estimate(survey.privatize(people, rng=dn.simulation(3)))
    true = {"films": [0.5, 0.3, 0.3, 0.0], "sports": [0.3] * 5}
    for name, shares in true.items():
        assert (np.abs(found[name].value - shares) < 4.5 * found[name].stderr).all()
        assert found[name].stderr.max() < 0.05
    told = survey.properties(n)
    assert told["stderr"]["films"] == pytest.approx(found["films"].stderr.mean(), rel=0.1)
    with pytest.raises(dn.ParameterError, match="films"):
        survey.privatize({**people, "films": [["drama", "western", "comedy"]] * n})
    with pytest.raises(ParameterError, match="at most 2 options"):
        Device(survey.mechanisms[1].design).report(FILMS[:3])


def test_the_command_of_devices_asks_for_options(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    """Several of them in one line, none of them with a dash; what is no answer is asked for again."""
    from datetime import date

    from deniable.service.access.identity import Identity
    from deniable.service.tasks import Asked, Terms, new_task
    from deniable_client import Task
    from deniable_client.command import ask_answer, read_value

    for options, given, wanted in (
        (FILMS, "horror; drama", ["horror", "drama"]),
        (4, "3;0", [3, 0]),
        (FILMS, "-", []),
    ):
        m = dn.mechanism("several", domain=dn.Domain.of(options), most=2, epsilon=1.0)
        task = new_task([Asked(text="Which?", design=m.design)], Terms(opens=date(2026, 11, 16)), Identity(bytes(32)))
        question = Task.load(task).questions[0]
        assert question.none == []
        assert read_value(question, given) == wanted
        lines = iter(["musical", given])
        monkeypatch.setattr("builtins.input", lambda *_, lines=lines: next(lines))
        assert ask_answer(question) == wanted
        assert "no answer" in capsys.readouterr().out


def test_surveys_with_an_order_and_with_ticks_have_a_bound() -> None:
    """One question alone has the bound of its own kind, up to what one report tells of it; none is below it."""
    for asked in ({"age": {"ordinal": 64}}, {"films": {"several": FILMS, "most": 2}}):
        alone = dn.survey(asked, epsilon=1.0)
        own = alone.mechanism.properties()["gap"]
        assert alone.gap is not None
        assert own <= alone.gap + 1e-12 <= own + 0.5, "with I in place of what its own cells can tell"
    rng = np.random.default_rng(9)
    kinds: list[Any] = [2, 5, {"ordinal": 16}, {"several": 6, "most": 2}, {"several": 4}]
    for _ in range(12):
        chosen = {f"q{j}": kinds[i] for j, i in enumerate(rng.choice(5, rng.integers(1, 5)))}
        survey = dn.survey(
            chosen, epsilon=float(np.exp(rng.uniform(-1, 1))), weights=list(rng.uniform(0.2, 3, len(chosen)))
        )
        assert survey.gap is not None
        assert survey.gap >= -1e-12
