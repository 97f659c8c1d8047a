"""Means and directions at their edges: one report, the ends of what is possible, halves, and where formulas change."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.core.circle import Circle
from deniable.core.grid import Grid
from deniable.core.support import Support
from deniable.errors import ParameterError
from deniable.mechanisms.numeric.arc import DirectionPart, _Vector
from deniable.mechanisms.numeric.certificate import LIMIT_ONE, LIMIT_TWO, least_at_centre, least_worst
from deniable.mechanisms.numeric.estimate import BitPart, NumberPart, _distance
from deniable.mechanisms.numeric.lattice import _check_points, _check_prior
from deniable.mechanisms.numeric.laws import Blend, Lean, Sliding
from deniable.mechanisms.numeric.optimum import most_weighed, usual_half
from deniable.mechanisms.numeric.whole import _apportioned
from deniable.mechanisms.registry import MECHANISMS

NAMES = ("sw", "pm", "duchi", "hm", "lu", "arc")
SMALL = [dn.mechanism(name, **case) for name in NAMES for case in MECHANISMS[name].small]


# ---- what is said of reports, by the channel


@pytest.mark.parametrize("m", SMALL, ids=str)
def test_the_half_of_the_interval_is_guessed_as_the_table_of_chances_says(m: Any) -> None:
    """All numbers being as likely; what is in the middle is in either half. Of a circle any half will do."""
    exact = m.channel()
    chances = np.array([[weight / exact.total for weight in row] for row in exact.weights])
    half = np.clip(m.k / 2 - np.arange(m.k), 0, 1)
    told = m.guess_half()
    assert told.success == pytest.approx(np.maximum(chances @ half, chances @ (1 - half)).sum() / m.k, rel=1e-6)
    assert told.blind == 0.5


@pytest.mark.parametrize("m", [m for m in SMALL if m.name != "arc"], ids=str)
def test_variances_are_those_of_every_number_there_is(m: Any) -> None:
    """Mean and largest, from the channel and what its reports are taken for."""
    exact, readings = m.channel(), m.readings
    chances = np.array([[weight / exact.total for weight in row] for row in exact.weights])
    places = np.asarray(m.grid.at(np.arange(m.k)))
    assert readings @ chances == pytest.approx(places, abs=1e-6 * max(1.0, np.abs(readings).max()))
    each = readings**2 @ chances - places**2
    assert m.variances() == pytest.approx((each.mean(), each.max()), rel=1e-6)
    assert m.variances(50) == pytest.approx((each.mean() / 50, each.max() / 50), rel=1e-6)
    assert float(m.law_exact.average) * m.grid.step**2 == pytest.approx(each.mean(), rel=1e-9)
    assert float(m.law_exact.worst) * m.grid.step**2 == pytest.approx(each.max(), rel=1e-9)


@pytest.mark.parametrize("name", ["sw", "duchi", "arc"])
def test_rounding_is_told_as_half_a_step_at_most(name: str) -> None:
    m: Any = dn.mechanism(name, epsilon=1.0, interval=(0, 24), points=12)
    found = m.estimate(m.tally(m.privatize([1.0, 7.0, 3.0], rng=dn.simulation(1))))
    assert "rounded to 12" in found.steps[0]
    assert found.steps[0].endswith("(by at most 1)")


@pytest.mark.parametrize(("epsilon", "points", "m"), [(2.0, 9, 3), (1.0, 100, 61), (0.1, 4, 4), (20.0, 8, 1)])
def test_the_printed_window_is_that_share_of_the_points(epsilon: float, points: int, m: int) -> None:
    """9/e, 100/sqrt(e), 4/e^.05, and 1 at least."""
    made: Any = dn.mechanism("pm", epsilon=epsilon, interval=(0, 1), points=points, window="paper")
    assert made.m == m


# ---- directions


def direction(cos: float, sin: float, spread: float, low: float = 0.0, high: float = 24.0) -> DirectionPart:
    own = spread**2 * np.eye(2)
    return DirectionPart(_Vector(cos, sin, own / 4, own), Circle.around(low, high, 24))


def test_without_a_resultant_a_direction_may_be_any() -> None:
    nowhere = direction(0.0, 0.0, 0.1)
    assert nowhere.variance("population").tolist() == [math.inf]
    assert nowhere.covariance("reporters").tolist() == [[math.inf]]
    somewhere = direction(0.5, 0.0, 0.1)
    assert somewhere.variance("population") == pytest.approx([(0.1 / 0.5 * 24 / (2 * math.pi)) ** 2])
    assert somewhere.variance("reporters") == pytest.approx(somewhere.variance("population") / 4)


def test_a_direction_is_told_if_0_is_outside_of_the_ellipse_of_the_level() -> None:
    """The squared length in standard errors is at most -2 ln(1 - level) with the chance of the level."""
    for level in (0.5, 0.95):
        edge = 0.1 * math.sqrt(-2 * math.log(1 - level))
        for length, lost in ((0.999 * edge, True), (1.001 * edge, False)):
            ends = direction(-length, 0.0, 0.1).interval(level, "population", False)
            assert any("no direction" in note for note in ends.notes) == lost
            assert (ends.high[0] - ends.low[0] == pytest.approx(24)) == lost


@pytest.mark.parametrize(("hour", "past"), [(0.5, True), (23.5, True), (12.0, False)])
def test_an_interval_past_either_end_of_the_circle_says_so(hour: float, past: bool) -> None:
    angle = hour / 24 * 2 * math.pi
    part = direction(math.cos(angle), math.sin(angle), 0.1)
    ends = part.interval(0.95, "population", False)
    assert part.value == pytest.approx([hour])
    assert ends.low[0] < hour < ends.high[0]
    assert ends.high[0] - hour == pytest.approx(hour - ends.low[0])
    assert any("past the end" in note for note in ends.notes) == past
    wide = math.atan(1.96 * 0.1 / math.sqrt(1 - 1.96**2 * 0.01)) * 24 / (2 * math.pi)
    assert ends.high[0] - hour == pytest.approx(wide, rel=1e-4)


def test_one_report_tells_a_direction_as_people_vary_at_most() -> None:
    m: Any = dn.mechanism("arc", epsilon=2.0, interval=(0, 24), points=24)
    one = m.parts(m.tally(m.privatize([6.0], rng=dn.simulation(1))))["mean"].vector
    assert one.population == pytest.approx(one.reporters + np.eye(2))


@pytest.mark.parametrize("points", [12, 9])
def test_people_with_one_direction_have_the_variance_that_is_foreseen(points: int) -> None:
    m: Any = dn.mechanism("arc", epsilon=1.5, interval=(0, 24), points=points)
    unit = (24 / (2 * math.pi)) ** 2
    for x in (0, 4):
        assert m.across(np.eye(points)[x]) * unit == pytest.approx(m.variance_at(1))
    assert m.variance_at(0.5) >= 4 * m.variance_at(1.0) - 1e-9
    assert m.variance_at(0.5) == pytest.approx(4 * m.variance_at(0.9999999) * 0.9999999**2)


# ---- means from few reports


def number(population: float, n: int = 100) -> NumberPart:
    return NumberPart(5.0, 0.01, population, n, 5.0, (0.02, 0.0, 0.0), Grid.of(0, 10, 11))


@pytest.mark.parametrize(("population", "noted"), [(0.01, True), (0.0399, True), (0.0401, False), (1.0, False)])
def test_reports_that_vary_hardly_more_than_they_must_are_noted(population: float, noted: bool) -> None:
    """The least is 0.02 here, and 10/sqrt(100) more of it is near."""
    ends = number(population).interval(0.95, "population", False)
    assert any("hardly more" in note for note in ends.notes) == noted
    assert ends.high[0] - 5 == pytest.approx(5 - ends.low[0])
    half = 1.96 * math.sqrt(0.02)
    assert ends.high[0] - 5 >= half * (1 - 1e-3)
    own = number(population).interval(0.95, "reporters", False)
    assert own.high[0] - 5 == pytest.approx(half, rel=1e-3), "0.01 is less than the least"


def test_bits_vary_as_no_value_could_make_them_less() -> None:
    chances, grid = Support(0.7, 0.3, 0.4, 0.3, 0.7, 0.0, 0.0), Grid.of(0, 10, 11, layout="endpoints")
    for ones, share in ((0, 0.3), (20, 0.3), (50, 0.5), (80, 0.7), (100, 0.7)):
        part = BitPart(ones, 100, chances, grid)
        assert part.variance("population") == pytest.approx([share * (1 - share) / 0.16 / 99 * 100])
        assert part.value == pytest.approx([10 * (ones / 100 - 0.3) / 0.4])
    assert BitPart(1, 1, chances, grid).variance("reporters") == pytest.approx([0.21 / 0.16 * 100])


def test_values_are_no_farther_from_the_middle_than_the_ends() -> None:
    for share in (0.01, 0.99):
        law = Blend(Sliding.ideal(1.0, 9, 4), Lean.ideal(1.0, 9), share)
        z = (np.arange(law.window.answers) - (law.window.answers - 1) / 2) / law.window.pull
        ends, middle = np.zeros(z.size, np.int64), np.zeros(z.size, np.int64)
        ends[[0, -1]], middle[z.size // 2] = 5, 5
        given: Any = law
        assert _distance(given, ends, z) == 16
        assert _distance(given, middle, z) == 0
        none = np.zeros(z.size, np.int64)
        assert _distance(given, none, z) == (16 if law.bend > 0 else 0)


@pytest.mark.parametrize("name", ["pm", "hm"])
def test_one_report_varies_as_the_worst_value_and_all_people_may(name: str) -> None:
    m: Any = dn.mechanism(name, epsilon=1.0, interval=(0, 8), points=9)
    part = m.parts(m.tally(m.privatize([8.0], rng=dn.simulation(2))))["mean"]
    worst = m.variances()[1]
    assert part.population == pytest.approx(worst + 16 * m.grid.step**2, rel=1e-6)


# ---- where formulas change


@pytest.mark.parametrize(
    ("epsilon", "by"),
    [
        (0.7, "(I)"),
        (LIMIT_ONE, "(I)"),
        (0.72, "(II)"),
        (1.2, "(II)"),
        (LIMIT_TWO, "(II)"),
        (1.4, "(O2)"),
        (3.0, "(O2)"),
    ],
)
def test_the_formula_of_the_bound_is_named(epsilon: float, by: str) -> None:
    m: Any = dn.mechanism("lu", epsilon=epsilon, interval=(-1, 1), outputs=4, fine=25)
    told = m.properties(10)["certificate"]
    assert told["by"] == by
    assert told["bound"] == pytest.approx(least_worst(epsilon) / 10)


def test_the_least_variance_in_the_middle_is_that_of_the_better_of_two_mechanisms() -> None:
    for epsilon in (0.5, math.log(2), 1.0, 3.0):
        e = math.exp(epsilon)
        bit, window = 4 * e / (e - 1) ** 2, (2 * e + 4) / (e - 1) ** 2
        assert least_at_centre(epsilon) == pytest.approx(min(bit, window))
    assert least_at_centre(0.5) < 2 * (math.exp(0.5) + 2) / (math.exp(0.5) - 1) ** 2
    assert least_at_centre(1.0) < 4 * math.e / (math.e - 1) ** 2


def test_points_are_as_many_as_an_epsilon_needs() -> None:
    steps = (
        (0.01, 8),
        (1.0, 8),
        (1.001, 16),
        (2.0, 16),
        (2.001, 32),
        (4.0, 32),
        (5.0, 48),
        (6.0, 64),
        (7.0, 80),
        (8.0, 96),
    )
    assert [usual_half(epsilon) for epsilon, _ in steps] == [half for _, half in steps]
    assert [most_weighed(epsilon) for epsilon in (1.0, 4.0, 5.0, 8.0)] == [65, 65, 97, 193]


def test_a_prior_has_a_weight_for_each_point() -> None:
    three, five = np.full(3, 1 / 3), np.full(5, 0.2)
    assert _check_points(1.0, None, five) == 2
    assert _check_points(1.0, None, None) == 8
    assert _check_points(1.0, 3, three) == 1
    assert _check_points(1.0, 513, None) == 256
    for points, weights in ((5, three), (3, five)):
        with pytest.raises(ParameterError, match="as many as the prior has weights"):
            _check_points(1.0, points, weights)
    for wrong in (1, 4, 515, 3.5):
        with pytest.raises(ParameterError, match="an odd integer from 3 to 513"):
            _check_points(1.0, wrong, None)  # type: ignore[arg-type]
    assert _check_prior("prior", "1,2,1") == pytest.approx([0.25, 0.5, 0.25])
    for bad in ([1.0], [1.0, 2.0], [0.0, 0.0, 0.0], [1.0, -1.0, 1.0], [1.0, math.inf, 1.0], "a,b,c", 3):
        with pytest.raises(ParameterError, match="prior must be"):
            _check_prior("prior", bad)
    with pytest.raises(ParameterError, match="left out unless the objective is prior"):
        _check_prior("even", [1.0, 1.0, 1.0])


def test_whole_numbers_in_proportion_have_their_sum() -> None:
    for ideal, total in (([1.0, 2.0, 4.0], 100), ([1.0, 1.1, 1.2, 1.3], 1 << 20), ([3.0], 7)):
        found = _apportioned(ideal, total)
        assert sum(found) == total
        assert found == pytest.approx([total * x / sum(ideal) for x in ideal], abs=len(ideal))


def test_made_up_people_have_numbers_from_end_to_end() -> None:
    for points, cells in ((25, 24), (2049, 1024)):
        m: Any = dn.mechanism("lu", epsilon=0.5, interval=(0, 12), outputs=4, fine=points)
        grid, items = m.coarse
        assert (grid.k, items.size) == (cells + 1, cells + 1)
        assert (items[0], items[-1]) == (0, m.k - 1)
        assert (grid.low, grid.high) == (0, 12)
        assert np.asarray(m.grid.at(items)) == pytest.approx(np.asarray(grid.at(np.arange(grid.k))), abs=12 / (m.k - 1))


def test_a_mechanism_at_its_own_epsilon_is_itself_and_at_another_one_the_best_there() -> None:
    om: Any = dn.mechanism("om", epsilon=1.0, interval=(-1, 1), points=5, fine=1, objective="even")
    assert om.at(1.0) is om
    lu: Any = dn.mechanism("lu", epsilon=0.5, interval=(-1, 1), outputs=4, fine=25)
    assert lu.at(0.7) == dn.mechanism("lu", epsilon=0.7, interval=(-1, 1), outputs=4, fine=25)
    assert sum(om.weights) > 0
    even = sum((weight * noise for weight, noise in zip(om.weights, om.law.noises, strict=True)), Fraction(0))
    assert om.value == pytest.approx(float(even / sum(om.weights)) * om.unit)
    assert om.properties(4)["variance_even"] == pytest.approx(om.value / 4)
    assert om.value <= om.bound * 1.03
