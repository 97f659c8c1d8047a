"""Near answers at their edges: ties, ends of lines and intervals, units, priors, and what is told of every report."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.core.codes import Codes
from deniable.core.grid import Grid
from deniable.core.space import Space
from deniable.errors import FormatError, ParameterError
from deniable.mechanisms.metric.base import check_nearest
from deniable.mechanisms.metric.bipartite import best_points, choose_m, loss_of
from deniable.mechanisms.metric.bound import optimal_release
from deniable.mechanisms.metric.codebook import make_codebook
from deniable.mechanisms.metric.losses import Line, MatrixLosses, losses_of, nearest
from deniable.mechanisms.metric.staircase import band_groups, group_sizes, rank_groups, shared_levels
from deniable.mechanisms.registry import MECHANISMS, from_design

NAMES = ("brr", "codebook", "exponential", "laplace", "geometric", "lsrr")
SMALL = [dn.mechanism(name, **case) for name in NAMES for case in MECHANISMS[name].small]
PEAK = [0.6, 0.25, 0.1, 0.05]


@pytest.mark.parametrize("m", SMALL, ids=str)
def test_what_is_said_of_reports_is_what_the_table_of_chances_says(m: Any) -> None:
    """Rank, losses, best guesses and remapping, each from the written-out channel."""
    table, losses = m.matrix(), m.losses.matrix()
    prior = np.arange(m.k, 0, -1.0) / np.arange(m.k, 0, -1.0).sum()
    cost = losses if m.output_points is None else losses[:, m.output_points]
    each = (table * cost).sum(axis=1)
    assert m.rank == np.linalg.matrix_rank(table)
    assert m.worst_loss() == pytest.approx(each.max())
    assert m.loss(prior) == pytest.approx(prior @ each)
    assert m.loss() == pytest.approx(m.losses.weights() @ each)
    assert m.guess().success == pytest.approx(table.max(axis=0).sum() / m.k)
    told = m.guess(prior)
    assert told.success == pytest.approx(max(prior.max(), (prior[:, None] * table).max(axis=0).sum()))
    assert told.blind == pytest.approx(prior.max())
    best = m.remap(prior)
    costs = (prior[:, None] * table).T @ losses
    assert best.loss == pytest.approx(costs.min(axis=1).sum())
    assert best.before == pytest.approx(prior @ each)
    assert costs[np.arange(len(costs)), best.table] == pytest.approx(costs.min(axis=1))
    assert best.loss <= best.before + 1e-12


@pytest.mark.parametrize("m", [m for m in SMALL if type(m).__name__ == "TableMechanism"], ids=str)
def test_the_witness_of_a_table_is_likelier_for_the_first_value_by_its_ratio(m: Any) -> None:
    witness, weights = m.proof.witness, m.bulk.kernel.weights
    y = int(witness.output.removeprefix("report "))
    assert weights[witness.likely][y] == m.proof.ratio * weights[witness.unlikely][y]


@pytest.mark.parametrize("m", SMALL, ids=str)
def test_a_forged_report_is_as_far_away_as_an_answer_can_be(m: Any) -> None:
    pull = MECHANISMS[m.name].traits.pull(m, 1)  # type: ignore[misc]
    if isinstance(m.domain, Grid | Codes):
        answers = np.asarray(m.answers(), float) if m.output_points is None else m.answers()[m.output_points]
        ends = (m.domain.cells[0], m.domain.cells[-1]) if isinstance(m.domain, Codes) else (m.domain.low, m.domain.high)
        assert pull == pytest.approx(max(ends[1] - min(answers), max(answers) - ends[0]))
    else:
        assert pull == pytest.approx(m.loss_matrix().max())


@pytest.mark.parametrize("name", ["brr", "codebook", "exponential", "laplace", "geometric"])
def test_losses_and_their_bounds_are_in_units_of_the_interval(name: str) -> None:
    own: dict[str, Any] = {"epsilon": 2.0, "points": 6}
    one, ten = (dn.mechanism(name, interval=(0, width), **own).properties() for width in (1, 10))
    assert one.keys() == ten.keys()
    assert ("loss_fine" in one) == (name == "brr")
    for what, value in one.items():
        if what in ("loss", "bound", "loss_fine"):
            assert ten[what] == pytest.approx(10 * value), what
        elif isinstance(value, float):
            assert ten[what] == pytest.approx(value), what
    assert one["gap"] == pytest.approx(one["loss"] / one["bound"] - 1)
    if name == "brr":  # the limit of many points, whose rule is `min`
        fine = dn.mechanism("brr", epsilon=2.0, interval=(0, 1), points=4001, rule="min").properties()
        assert fine["loss"] == pytest.approx(one["loss_fine"], rel=1e-3)


def test_losses_between_places_are_told_with_their_unit() -> None:
    places = Space.places([[52.5, 13.4], [48.9, 2.4], [41.9, 12.5]])
    for name in ("brr", "codebook", "exponential", "lsrr"):
        m: Any = dn.mechanism(
            name, epsilon=1.0, distances=places, **({"size": 2} if name in ("brr", "codebook") else {})
        )
        assert m.properties()["unit"] == m.losses.unit == places.unit != ""
    assert "unit" not in dn.mechanism("brr", epsilon=1.0, k=4).properties()


# ---- how many are favoured


@pytest.mark.parametrize(
    ("m", "tie", "wanted"),
    [
        (4, "low", [[2, 3, 4, 5]]),
        (4, "high", [[3, 4, 5, 6]]),
        (4, "random", [[2, 3, 4, 5], [3, 4, 5, 6]]),
        (3, "high", [[3, 4, 5]]),
    ],
)
def test_of_two_points_as_near_the_one_is_favoured_that_was_asked_for(
    m: int, tie: str, wanted: list[list[int]]
) -> None:
    made: Any = dn.mechanism("brr", epsilon=1.0, k=9, size=m, tie=tie)
    row, high = made.matrix()[4], 1 / (m + (9 - m) * math.exp(-1))
    held = np.mean([np.isin(np.arange(9), own) for own in wanted], axis=0)
    assert row == pytest.approx(high * (held + (1 - held) * math.exp(-1)))


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 2.5, 6.0])
def test_the_rules_favour_as_many_as_is_best_for_all_or_for_each(epsilon: float) -> None:
    """`mean`: no other number has a smaller mean loss; `min`: the least of what each answer alone would favour."""
    rng = np.random.default_rng(3)
    space = MatrixLosses(np.round(rng.random((6, 8)) * 4))
    for losses in (space, Line(7), Line(8)):
        w = math.exp(-epsilon)
        rows = np.sort(losses.matrix(), axis=1)
        outputs = losses.outputs
        m = np.arange(1, outputs + 1)
        each = ((1 - w) * np.cumsum(rows, axis=1) + w * rows.sum(axis=1, keepdims=True)) / ((1 - w) * m + w * outputs)
        best = (each <= each.min(axis=1, keepdims=True) * (1 + 1e-9)).argmax(axis=1) + 1
        assert choose_m(losses, epsilon, "min") == best.min()
        mean = [loss_of(losses, epsilon, count) for count in range(1, outputs + 1)]
        assert mean == pytest.approx(each.mean(axis=0))
        assert mean[choose_m(losses, epsilon) - 1] == pytest.approx(min(mean))
    for k in range(2, 12):
        assert 1 <= choose_m(Line(k), epsilon, "alg3") <= k - 1


@pytest.mark.parametrize("layout", ["midpoints", "endpoints"])
def test_the_best_number_of_points_is_the_best_of_all(layout: str) -> None:
    for epsilon, rule in ((0.5, "mean"), (2.0, "min"), (3.0, "mean")):
        points, loss = best_points(epsilon, rule, layout, limit=20)
        every = {}
        for n in range(2, 21):
            m: Any = dn.mechanism("brr", epsilon=epsilon, interval=(0, 1), points=n, layout=layout, rule=rule)
            every[n] = m.loss()
        assert loss == pytest.approx(min(every.values()))
        assert every[points] == pytest.approx(loss)


def test_not_all_answers_are_favoured_and_what_was_chosen_is_recorded() -> None:
    for wrong in (0, 4, 5, True):
        with pytest.raises(ParameterError, match="m must be an integer from 1 to 3"):
            dn.mechanism("brr", epsilon=1.0, k=4, size=wrong)
    plain, by_prior = dn.mechanism("brr", epsilon=1.0, k=4), dn.mechanism("brr", epsilon=1.0, k=4, prior=PEAK)
    assert plain.selection["prior"] == "uniform"
    assert by_prior.selection["prior"] == "given"
    assert make_codebook(epsilon=1.0, domain=dn.Domain.of(4), prior=PEAK).selection["prior"] == "given"


# ---- codes


@pytest.mark.parametrize(
    ("k", "size", "codes"),
    [(9, 3, (1, 4, 7)), (10, 2, (2, 7)), (4, 4, (0, 1, 2, 3)), (5, 2, (1, 3)), (6, 3, (0, 2, 4))],
)
def test_the_middles_of_equal_parts_are_the_points_whose_cells_they_are_in(
    k: int, size: int, codes: tuple[int, ...]
) -> None:
    """The middle of a part between two points is the lower one's."""
    assert make_codebook(epsilon=1.0, domain=dn.Domain.of(k), size=size, variant="bins").codes == codes


def test_there_are_two_codes_or_more_and_no_more_than_points() -> None:
    for wrong in (1, 0, True, 2.0):
        with pytest.raises(ParameterError, match="size must be an integer >= 2"):
            dn.mechanism("codebook", epsilon=1.0, k=6, size=wrong)
    with pytest.raises(ParameterError, match="at most the number of points, 6, got 7"):
        dn.mechanism("codebook", epsilon=1.0, k=6, size=7)
    for size in (2, 3, 6):
        made: Any = dn.mechanism("codebook", epsilon=1.0, k=6, size=size)
        assert len(made.codes) == size


# ---- losses


@pytest.mark.parametrize("cells", ["points", "midpoints", "endpoints"])
def test_losses_of_a_line_are_averages_over_the_numbers_of_each_point(cells: str) -> None:
    """By the middles of 400 numbers for each half cell; at the ends of `endpoints` there is half a cell only."""
    line, k = Line(5, 2.0, cells), 5
    fine = (np.arange(-200, 200) + 0.5) / 400
    wanted, room = np.zeros((k, k)), np.ones(k)
    for x in range(k):
        own = np.array([0.0]) if cells == "points" else fine
        if cells == "endpoints" and x in (0, k - 1):
            own, room[x] = own[own > 0] if x == 0 else own[own < 0], 0.5
        wanted[x] = 2 * np.abs(x + own[:, None] - np.arange(k)).mean(axis=0)
    assert line.matrix() == pytest.approx(wanted, abs=1e-4)
    assert line.weights() == pytest.approx(room / room.sum())
    prior = np.array([0.5, 0.1, 0.1, 0.1, 0.2])
    for m in range(1, k + 1):
        windows = [np.clip(x - m // 2, 0, k - m) for x in range(k)]
        near = np.array([line.matrix()[x, start : start + m].sum() for x, start in enumerate(windows)])
        assert line.near(m, prior) == pytest.approx(prior @ near)
        assert line.near(m) == pytest.approx(line.weights() @ near)


def test_losses_of_codes_are_averages_over_their_cells() -> None:
    domain = Codes.over(0.0, 10.0, [1.0, 2.0, 7.0])
    losses, ends = losses_of(domain), domain.cells
    wanted = np.zeros((3, 3))
    for x in range(3):
        numbers = ends[x] + (ends[x + 1] - ends[x]) * (np.arange(1000) + 0.5) / 1000
        wanted[x] = np.abs(numbers[:, None] - domain.points).mean(axis=0)
    assert losses.matrix() == pytest.approx(wanted, abs=1e-4)
    assert losses.weights() == pytest.approx(np.diff(ends) / 10)


def test_the_own_answer_is_the_first_of_several_as_near() -> None:
    assert nearest(np.zeros((3, 3)), 1).tolist() == [[0], [1], [2]]
    assert nearest(np.zeros((3, 3)), 2).tolist() == [[0, 1], [0, 1], [0, 2]]
    assert nearest(np.array([[1.0, 0.0, 0.0, 2.0]] * 2), 2).tolist() == [[1, 2]] * 2
    table = np.array([[0.0, 1.0, 2.0]])
    for given in ([[0, 2]], [[1, 2]], [[0]], [[0, 3]], [[-1, 0]]):
        with pytest.raises(FormatError, match="does not agree with itself"):
            check_nearest(table, np.array(given), np.array([[0, 1]]))
    check_nearest(table, np.array([[1, 0]]), np.array([[0, 1]]))


# ---- the yardstick, and groups


def test_the_least_loss_under_a_prior_is_below_that_of_every_mechanism_there() -> None:
    losses = Line(4).matrix()
    for epsilon in (0.5, 2.0):
        best = optimal_release(losses, epsilon, np.array(PEAK))
        book: Any = dn.mechanism("codebook", epsilon=epsilon, k=4, prior=PEAK)
        assert best.loss == pytest.approx(book.loss(PEAK), rel=1e-6)
        assert best.loss == pytest.approx(np.array(PEAK) @ (best.matrix * losses).sum(axis=1))
        assert best.matrix.max(axis=0) == pytest.approx(
            np.minimum(best.matrix.max(axis=0), math.exp(epsilon) * best.matrix.min(axis=0) + 1e-9)
        )
    for wrong in (30.1, 100.0):
        with pytest.raises(ParameterError, match="at most 30"):
            optimal_release(losses, wrong)


def test_groups_by_nearness_are_as_they_say() -> None:
    assert band_groups(np.array([[0.0, 0.9, 1.0, 1.9, 2.0, 3.0]]), 3).tolist() == [[0, 0, 1, 1, 2, 2]]
    assert band_groups(np.array([[0.0, 4.0]]), 2).tolist() == [[0, 1]]
    assert group_sizes(np.zeros((4, 5), np.int64), 3) == (3, 1, 1)
    assert group_sizes(np.full((4, 5), 2), 3) == (1, 1, 3)
    assert group_sizes(np.array([[0, 0, 1, 1, 1], [0, 1, 1, 1, 2]]), 3) == (2, 2, 1)
    assert rank_groups(np.array([[3.0, 1.0, 1.0, 0.0]]), (1, 2, 1)).tolist() == [[2, 1, 1, 0]]
    assert shared_levels([0.0, 1.0, 2.0, 4.0], 2).tolist() == [[2, 1, 0, 0], [1, 2, 0, 0], [0, 0, 2, 1], [0, 0, 1, 2]]
    for wrong in (0, 31, 1.5):
        with pytest.raises(ParameterError, match="depth"):
            shared_levels([0.0, 1.0], wrong)  # type: ignore[arg-type]


def test_there_are_2_to_16_groups_and_tables_of_designs_are_those_of_their_parameters() -> None:
    for wrong in (1, 17, True, 2.5):
        with pytest.raises(ParameterError, match="size must be an integer from 2 to 16"):
            dn.mechanism("lsrr", epsilon=1.0, k=40, size=wrong)
    most: Any = dn.mechanism("lsrr", epsilon=1.0, k=40, size=16)
    assert most.params["size"] == 16
    m = dn.mechanism("geometric", epsilon=2.0, points=4)
    design = m.design
    rows = [list(row) for row in design["kernel"]["weights"]]
    for share, fits in ((1e-12, True), (1e-6, False)):
        moved = [list(row) for row in rows]
        off = int(int(moved[1][1]) * share)
        moved[1][1], moved[1][2] = type(rows[1][1])(int(rows[1][1]) - off), type(rows[1][2])(int(rows[1][2]) + off)
        other = {**design, "kernel": {**design["kernel"], "weights": moved}}
        if fits:
            from_design(other)
        else:
            with pytest.raises(FormatError):
                from_design(other)
