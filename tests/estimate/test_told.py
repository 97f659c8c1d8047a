"""Estimates in words, bins and scores: digits, numbers of labels, ends of bins and ties, by parts that are made up."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import permutations
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.core.channel import Channel
from deniable.core.frontier import distance, frontier_mse, least_mse
from deniable.core.guess import check_prior, covered_by_independent, first_of_independent, first_of_subset
from deniable.core.intervals import (
    Interval,
    count_interval,
    critical,
    curve_interval,
    drawn,
    noted,
    score_interval,
    spread,
)
from deniable.core.laws import response
from deniable.core.types import BoolArray, FloatArray, Target
from deniable.errors import MergeError, ParameterError
from deniable.estimate.bins import _clear, _numbers_of_bins, _summed, edges_of, is_fine
from deniable.estimate.em import Climb
from deniable.estimate.fit import FitOptions, _told, _told_spread, fit_frequencies
from deniable.estimate.fitted import FittedPart, Spread, bootstrap_spread
from deniable.estimate.inverse import best_inverse
from deniable.estimate.methods import METHODS, methods_for
from deniable.estimate.pooled import pool
from deniable.estimate.result import Comparison, Estimate, NormalPart
from deniable.estimate.scores import f1_top, mean_absolute, mean_square, ncr_top, ndcg_top, top_items, wasserstein
from deniable.estimate.simplex import project_simplex

TARGETS: tuple[Target, ...] = ("reporters", "population")
DESIGN: dict[str, Any] = {"mechanism": "made", "epsilon": 1.5}


@dataclass(frozen=True, slots=True, eq=False)
class Made(NormalPart):
    """Values with standard errors, some of which may be too rare."""

    value: FloatArray
    errors: FloatArray
    rare: BoolArray | None = None

    def variance(self, target: Target) -> FloatArray:
        return self.errors**2 * (4 if target == "population" else 1)

    def covariance(self, target: Target) -> FloatArray:
        return np.diag(self.variance(target))

    def too_rare(self, level: float = 0.95) -> BoolArray | None:
        return self.rare


def estimate(value: Any, errors: Any, name: str = "frequency", n: int = 1000, **more: Any) -> Estimate:
    part = Made(np.array(value, float), np.array(errors, float), more.pop("rare", None))
    labels = tuple(f"l{i}" for i in range(len(part.value)))
    return Estimate(
        labels,
        {name: part, **more.pop("parts", {})},
        n,
        more.pop("design", DESIGN),
        **({"simulated": False, "steps": ("made",)} | more),
    )


# ---- numbers with their errors


@pytest.mark.parametrize(
    ("value", "error", "told"),
    [
        (0.123456, 0.01234, "12.3 % ± 1.2"),
        (0.123456, 0.1234, "12 % ± 12"),
        (0.123456, 0.0009876, "12.346 % ± 0.099"),
        (0.123456, 0.001, "12.35 % ± 0.10"),
        (0.123456, 1.5, "12 % ± 150"),
        (0.5, 0.0, "50.00 % ± 0.00"),
        (0.5, math.inf, "50.00 % ± inf"),
        (-0.0123, 0.02, "-1.2 % ± 2.0"),
    ],
)
def test_shares_are_told_with_two_digits_of_their_error(value: float, error: float, told: str) -> None:
    """In per cent; of a mean the numbers as they are."""
    assert estimate([value], [error])._told("frequency", 9) == [told]
    same = estimate([100 * value], [100 * error], "mean")._told("mean", 9)
    assert same == [told.replace(" %", "")]


def test_an_estimate_names_its_first_four_answers_and_says_how_many_more() -> None:
    four, five = (estimate([0.2] * k, [0.01] * k) for k in (4, 5))
    head = "<Estimate from 1,000 reports of made, epsilon = 1.5: "
    row = ", ".join(f"l{i} 20.0 % ± 1.0" for i in range(4))
    assert repr(four) == f"{head}{row}>"
    assert repr(five) == f"{head}{row}, and 1 more>"
    assert repr(replace(four, n=1, simulated=True)).startswith(
        "<Estimate from 1 report of made, epsilon = 1.5, SIMULATED:"
    )
    means = Made(np.array([3.0, 4.0]), np.array([0.5, 0.25]), np.array([False, True]))
    both = estimate([0.25, 0.75], [0.01, 0.02], parts={"mean": means})
    assert repr(both).endswith(": l0 25.0 % ± 1.0, mean 3.00 ± 0.50; l1 75.0 % ± 2.0, mean too rare to say>")
    assert repr(both["mean"]).endswith(
        ": l0 3.00 ± 0.50, frequency 25.0 % ± 1.0; l1 too rare to say, frequency 75.0 % ± 2.0>"
    )


def test_a_notebook_shows_twelve_rows_with_bars_of_shares_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    from deniable.present import html

    seen: list[Any] = []
    monkeypatch.setattr(html, "bars_html", lambda *given, **more: seen.append((given, more)) or "")
    estimate([0.05] * 13, [0.01] * 13, n=12_345, simulated=True)._repr_html_()
    estimate([5.0], [0.5], "mean")._repr_html_()
    (title, head, rows, bars), more = seen[0]
    assert title.endswith(": 12,345 reports")
    assert (head, len(rows), len(bars)) == (("", "frequency"), 13, 12)
    assert rows[11:] == [("l11", "5.0 % ± 1.0"), ("", "")]
    assert more == {"simulated": True, "notes": ("made",)}
    assert seen[1][0][3] is None
    assert bars[0].high == pytest.approx(1.0)
    assert bars[0].value == pytest.approx(0.05 / (0.05 + 1.96 * 0.01), rel=1e-4)


def test_a_comparison_names_four_and_adds_both_errors() -> None:
    one, two = estimate([0.5, 0.25, 0.25], [0.03, 0.03, 0.0], n=2000), estimate([0.3, 0.3, 0.4], [0.04, 0.04, 0.04])
    found = one.compare(two)
    assert found.stderr == pytest.approx([0.1, 0.1, 0.08]), "of the populations, twice as large here"
    assert one.compare(two, target="reporters").stderr == pytest.approx([0.05, 0.05, 0.04])
    assert repr(found) == "<Comparison of 2,000 and 1,000 reports: l0 +0.2 ± 0.1, l1 -0.05 ± 0.1, l2 -0.15 ± 0.08>"
    many = Comparison(tuple("abcdef"), np.zeros(6), np.ones(6), "population", (1, 2), True)
    assert repr(many).endswith("2 reports, SIMULATED: a +0 ± 1, b +0 ± 1, c +0 ± 1, d +0 ± 1, and 2 more>")
    columns = found.to_columns(0.9)
    z = critical(0.9)
    assert columns["low"] == pytest.approx((found.value - z * found.stderr).tolist())
    assert columns["high"] == pytest.approx((found.value + z * found.stderr).tolist())
    assert (columns["label"], columns["simulated"]) == (["l0", "l1", "l2"], [False] * 3)
    assert columns["pvalue_adjusted"] == found.pvalue_adjusted.tolist()


# ---- several groups as one


def test_groups_are_pooled_by_their_reports_or_by_weights() -> None:
    one = estimate([0.2, 0.8], [0.02, 0.02], n=300, steps=("a",), bias=("fitted", "projected"))
    two = estimate([0.6, 0.4], [0.04, 0.02], n=100, steps=("b",), bias=("smoothed", "fitted"), simulated=True)
    found = pool([one, two])
    assert found.value == pytest.approx([0.3, 0.7])
    assert found.stderr == pytest.approx(np.sqrt([0.015**2 + 0.01**2, 0.015**2 + 0.005**2]).tolist())
    assert (found.n, found.simulated, found.bias) == (400, True, ("fitted", "projected", "smoothed"))
    assert found.steps == ("b", "pooled with 1 other group(s), 400 reports in all")
    assert pool([two, one]).simulated, "whichever of them is"
    assert not pool([one, one]).simulated
    weighed = pool([one, two], [1, 4])
    assert weighed.value == pytest.approx([0.52, 0.48])
    assert weighed.covariance() == pytest.approx(np.diag([0.004**2 + 0.032**2, 0.004**2 + 0.016**2]))
    assert pool([one, two], [0, 2]).value == pytest.approx([0.6, 0.4])
    for wrong, said in (([0, 0], "2 numbers, not all of them 0"), ([1], "2 numbers"), ([1, 1, 1], "2 numbers")):
        with pytest.raises(ParameterError, match=said):
            pool([one, two], wrong)
    with pytest.raises(ParameterError, match="estimates must be at least one"):
        pool([])
    with pytest.raises(MergeError, match="only estimates of the same labels"):
        pool([one, estimate([1.0, 0.0, 0.0], [0.1] * 3)])


# ---- bins


def in_points(points: int, layout: str = "midpoints", steps: tuple[str, ...] = ()) -> Estimate:
    domain = {"interval": [10.0, 20.0], "points": points, "layout": layout, "clip": False}
    return estimate([1 / points] * points, [0.01] * points, design=DESIGN | {"domain": domain}, steps=steps)


def test_more_than_twenty_points_are_too_fine_to_be_told_one_by_one() -> None:
    assert [is_fine(in_points(k)) for k in (20, 21)] == [False, True]
    assert not is_fine(in_points(30, steps=("summed in 30 bins",)))
    assert not is_fine(estimate([1 / 30] * 30, [0.01] * 30)), "labels are no numbers"
    assert not is_fine(estimate([1 / 30] * 30, [0.01] * 30, "mean", design=in_points(30).design))


@pytest.mark.parametrize(
    ("points", "layout", "bins", "edges"),
    [
        (8, "midpoints", 4, [10, 12.5, 15, 17.5, 20]),
        (5, "midpoints", 2, [10, 14, 20]),
        (5, "endpoints", 5, [10, 11.25, 13.75, 16.25, 18.75, 20]),
        (5, "endpoints", 1, [10, 20]),
        (6, "endpoints", 3, [10, 13, 17, 20]),
    ],
)
def test_bins_begin_half_way_between_points(points: int, layout: str, bins: int, edges: list[float]) -> None:
    found = in_points(points, layout).binned(bins)
    shown = edges_of(found)
    assert shown is not None
    assert shown.tolist() == pytest.approx(edges)
    assert edges_of(in_points(points, layout)) is None
    assert found.labels[0] == f"{edges[0]:g} to {edges[1]:g}"


def test_how_many_bins_may_be_taken() -> None:
    """Those that divide the points, and all of twenty points or more, from many to few and at most 64."""
    assert _numbers_of_bins(12) == [12, 6, 4, 3, 2]
    assert _numbers_of_bins(128) == [64, 32, 16, 8, *range(6, 1, -1)]
    assert _numbers_of_bins(65) == [13, 5, 3, 2]
    even = 1 / 4
    flat = np.full(8, (even / 7 / 2) ** 2)
    assert _clear(flat * (1 - 1e-9), 8, 4), "without covariances the errors of two points add up"
    assert not _clear(flat * (1 + 1e-9), 8, 4)
    assert _summed(np.array([4.0, 9.0, 1.0]), np.array([0, 2])).tolist() == [25.0, 1.0]
    assert _summed(np.array([[4.0, -4.0], [-4.0, 4.0 - 1e-12]]), np.array([0])).tolist() == [[0.0]]
    vague = estimate([1 / 40] * 40, [0.5] * 40, design=in_points(40).design)
    assert len(vague.binned().labels) == 2, "two where nothing can be told apart"


# ---- fits


def test_what_a_fit_tells_of_its_errors() -> None:
    options = FitOptions(stderr="bootstrap", runs=7, rng=dn.simulation(1))
    known = Spread(np.eye(3), np.eye(3))
    lost = Spread(np.diag([1.0, np.inf, np.inf]), np.eye(3))
    end = "intervals are approximate and cut to [0, 1]; biased so"
    assert _told_spread(None, "kind", "biased so", options) == "no standard errors were asked for; biased so"
    told = f"standard errors: bootstrap of 7 runs, for both targets that of the population; {end}"
    assert _told_spread(known, "kind", "biased so", options) == told
    assert _told_spread(lost, "kind", "biased so", FitOptions()) == (
        f"standard errors: kind; {end}; 2 values cannot be told apart by these reports: their standard errors are "
        "infinite"
    )
    climb = Climb(np.ones(1), 0.1, True, 12, np.ones(1), 34.56789012)
    assert _told(climb) == "12 steps, log-likelihood 34.5679 nats above equal frequencies"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"max_steps": 0}, "max_steps must be an integer >= 1"),
        ({"runs": 1}, "runs must be an integer >= 2"),
        ({"tolerance": 0}, "tolerance must be a number > 0"),
        ({"stderr": "exact"}, "stderr must be 'information', 'bootstrap' or None"),
        ({"stderr": "bootstrap"}, "rng must be a seeded stream for stderr='bootstrap', got NoneType"),
    ],
)
def test_options_of_a_fit_are_checked_at_their_ends(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        FitOptions(**given)
    FitOptions(max_steps=1, runs=2, tolerance=1e-300, stderr=None)


def test_matrices_are_made_for_so_many_values_and_no_more() -> None:
    many: Any = SimpleNamespace(k=2049)
    with pytest.raises(ParameterError, match="k must be at most 2048 with stderr='information', got 2049"):
        fit_frequencies(many, "em", FitOptions())
    for method, options in (("em", FitOptions(stderr=None)), ("ems", FitOptions(stderr=None))):
        with pytest.raises(AttributeError):  # further on: such an evidence has nothing else
            fit_frequencies(many, method, options)
    fits = [np.array([0.1, 0.9]), np.array([0.3, 0.7]), np.array([0.2, 0.8])]
    assert bootstrap_spread(fits).matrix("population") == pytest.approx(0.01 * np.array([[1, -1], [-1, 1]]))
    wide = bootstrap_spread([np.zeros(2049), np.full(2049, 0.2)])
    assert wide.variance("reporters") == pytest.approx(np.full(2049, 0.02)), "divided by the runs but one"
    with pytest.raises(ParameterError, match="no covariance matrix is made for 2049 values; the most is 2048"):
        wide.matrix("reporters")
    plain = FittedPart(np.array([0.1, 0.9]), None)
    with pytest.raises(ParameterError, match="fitted without standard errors"):
        plain.variance("population")
    ends = FittedPart(np.array([0.01, 0.99]), Spread(np.eye(2) * 0.25, np.eye(2) * 0.01)).interval(
        0.95, "reporters", False
    )
    assert (ends.low.tolist(), ends.high.tolist()) == (
        [0.0, pytest.approx(0.794, abs=1e-4)],
        [pytest.approx(0.206, abs=1e-4), 1.0],
    )


def test_methods_are_those_that_a_report_has_something_for() -> None:
    assert methods_for(["likelihood"]) == ("em", "ems")
    assert methods_for(["public seeds", "independent bits"]) == ("count-aware", "calibrated")
    assert methods_for(["levels"], "tally") == ("auto", "auem", "self", "grouped")
    assert methods_for(["levels"], "evidence") == ("em", "em-known", "em-blind")
    assert methods_for(["levels that protect all answers alike"], "reports", "tally") == ("pbp", "emoa")
    assert methods_for([]) == ()
    assert "unbiased" in METHODS


# ---- distances, and how well the most frequent are found


def test_scores_are_their_definitions_for_every_order_of_four() -> None:
    truth = np.array([0.1, 0.4, 0.3, 0.2])
    rank = {1: 0, 2: 1, 3: 2, 0: 3}
    for order in permutations(range(4)):
        value = np.empty(4)
        value[list(order)] = [4.0, 3.0, 2.0, 1.0]
        for t in (1, 2, 3, 4):
            top = order[:t]
            assert top_items(value, t).tolist() == list(top)
            credit = [max(0, t - rank[item]) for item in top]
            assert f1_top(value, truth, t) == sum(rank[item] < t for item in top) / t
            assert ncr_top(value, truth, t) == pytest.approx(sum(credit) / (t * (t + 1) / 2))
            ideal = sum((t - i) / math.log2(i + 2) for i in range(t))
            gain = sum(c / math.log2(i + 2) for i, c in enumerate(credit))
            assert ndcg_top(value, truth, t) == pytest.approx(gain / ideal)
        assert mean_square(value, truth) == pytest.approx(
            sum((v - f) ** 2 for v, f in zip(value, truth, strict=True)) / 4
        )
        assert mean_absolute(value, truth) == pytest.approx(
            sum(abs(v - f) for v, f in zip(value, truth, strict=True)) / 4
        )
    moved = wasserstein(np.array([0.0, 0.5, 0.5, 0.0]), np.array([0.5, 0.0, 0.0, 0.5]))
    assert moved == pytest.approx(1 / 3), "one half of all moves a third, twice"


def test_equal_ones_stand_in_their_order() -> None:
    assert top_items(np.array([1.0, 2.0, 2.0, 1.0, 2.0]), 4).tolist() == [1, 2, 4, 0]


@pytest.mark.parametrize("score", [f1_top, ncr_top, ndcg_top])
def test_more_than_there_are_cannot_be_found(score: Callable[[Any, Any, int], float]) -> None:
    some = np.array([0.5, 0.5])
    for t in (0, 3):
        with pytest.raises(ParameterError, match="t must be from 1 to the number of items, 2"):
            score(some, some, t)
    with pytest.raises(ParameterError, match="value must be as many numbers as"):
        score(some, np.array([1.0, 0.0, 0.0]), 1)
    with pytest.raises(ParameterError, match="value must be at least 2 numbers, got 1"):
        wasserstein(np.ones(1), np.ones(1))


def test_the_nearest_point_of_a_simplex_of_any_sum() -> None:
    assert project_simplex(np.array([3.0, 1.0, 0.0]), 2.0).tolist() == [2.0, 0.0, 0.0]
    assert project_simplex(np.array([1.0, 1.0, 0.0]), 3.0).tolist() == pytest.approx([4 / 3, 4 / 3, 1 / 3])
    assert project_simplex(np.array([-5.0])).tolist() == [1.0]
    for wrong in (np.array([]), np.array([[1.0]]), np.array([np.nan]), np.array([np.inf, 1.0])):
        with pytest.raises(ParameterError, match="value must be finite numbers"):
            project_simplex(wrong)


# ---- intervals, inverses, priors


def test_intervals_name_three_and_say_what_they_are() -> None:
    def ends(count: int, simultaneous: bool = False) -> Interval:
        return Interval(np.arange(count) / 10, np.arange(count) / 10 + 0.05, 0.9, "population", simultaneous)

    assert repr(ends(3)) == "<Interval, level 0.9, of the population: 0 to 0.05, 0.1 to 0.15, 0.2 to 0.25>"
    assert repr(ends(5, True)).startswith("<Interval, level 0.9 together, of the population: 0 to")
    assert repr(ends(5)).endswith("0.2 to 0.25, and 2 more>")
    assert ends(3).covers(np.array([0.0, 0.15, 0.26])).tolist() == [True, True, False]


def test_notes_name_up_to_three_labels() -> None:
    labels = list("abcdef")

    def note(*numbers: int) -> dict[str, BoolArray]:
        return noted(f"labels with few reports: of {len(numbers)}", np.isin(np.arange(6), numbers))

    one = Interval(np.zeros(6), np.ones(6), 0.9, "population", False, note(0, 1, 2) | note(0, 1, 2, 3))
    assert one.note_on(labels) == "a, b, c: of 3; labels with few reports: of 4"
    assert one.note == "labels with few reports: of 3; labels with few reports: of 4"
    assert one.note_of(3) == "labels with few reports: of 4"
    assert replace(one, notes=note(0)).note_on(labels) == "labels with few reports: of 1", "one note is about all"
    assert one.note_on(labels[:5]) == one.note, "labels of something else"
    assert noted("nothing", np.zeros(6)) == {}


def test_spread_of_runs_is_the_error_of_their_mean() -> None:
    assert spread(np.array([1.0, 3.0])) == pytest.approx(1.0)
    assert spread(np.array([1.0, 2.0, 3.0, 6.0])) == pytest.approx(math.sqrt(14 / 3 / 4))
    assert spread(np.array([1.0])) is None
    assert [critical(0.95), critical(0.9, 2)] == pytest.approx([1.959964, 1.959964])
    for level in (0, 1, 1.5, "0.9"):
        with pytest.raises(ParameterError, match="level must be a number between 0 and 1"):
            critical(level)  # type: ignore[arg-type]


@pytest.mark.parametrize("n", [39, 40, 41, 53, 54])
@pytest.mark.parametrize("f", [0.0, 0.25, 0.5])
def test_reports_are_few_where_a_count_of_them_would_vary_by_less_than_ten(n: int, f: float) -> None:
    """Of reports that count with p or q: the variance of a count, with the drawing of people for the population."""
    p, q = 0.75, 0.25
    a, b = q * (1 - q) / 0.25, (p * (1 - p) - q * (1 - q)) / 0.25
    mu = q + f * (p - q)
    varies = {"reporters": f * p * (1 - p) + (1 - f) * q * (1 - q), "population": mu * (1 - mu)}
    for target in TARGETS:
        curve = drawn((a / n, b / n, 0.0), n, target)
        ends = curve_interval(np.array([f]), curve, level=0.9, target=target, n=n)
        assert ("the normal law is rough" in ends.note) == (n * varies[target] < 10)


def test_counts_that_are_not_whole_have_no_law_of_their_own() -> None:
    support = response(math.exp(-1), 1 - math.exp(-1), 2)
    for share, n, told in ((0.25, 8, True), (0.26, 8, False), (0.25, 8.5, False)):
        found = count_interval(np.array([share]), support, n, level=0.9, target="population")
        plain = score_interval(np.array([share]), support, n, level=0.9, target="population")
        assert bool(found.note) == told
        assert ((found.low, found.high) == (plain.low, plain.high)) == (not told)


def test_ranks_of_a_random_set_are_those_of_the_first_that_is_in_it() -> None:
    """C(k-j, s-1)/C(k, s) for the j-th; for several sizes a row each, and as many ranks as are asked for."""
    for k, some in ((6, 2), (5, 1), (5, 4), (4, 3)):
        want = [math.comb(k - j, some - 1) / math.comb(k, some) for j in range(1, k + 1)]
        assert first_of_subset(k, some) == pytest.approx(np.array(want))
        assert first_of_subset(k, some, 2) == pytest.approx(np.array(want[:2]))
    rows = first_of_subset(6, np.array([2, 3]), 4)
    assert rows == pytest.approx(np.stack([first_of_subset(6, 2)[:4], first_of_subset(6, 3)[:4]]))
    assert first_of_independent(3, 0.25) == pytest.approx(np.array([0.25, 0.75 * 0.25, 0.75**2 * 0.25]))
    assert covered_by_independent(3, 0.25) == pytest.approx(1 - 0.75**3)


def test_inverses_that_are_nearly_none_are_refused() -> None:
    def channel(a: float) -> FloatArray:
        return np.array([[0.5 + a, 0.5 - a], [0.5 - a, 0.5 + a]])

    assert best_inverse(channel(0.25), "x") == pytest.approx(np.array([[1.5, -0.5], [-0.5, 1.5]]))
    best_inverse(channel(0.5 / 0.99e8), "x")  # its condition number is 1/(2a)
    with pytest.raises(ParameterError, match=r"the channel of x has the condition number 1.01e\+08, above 1e\+08"):
        best_inverse(channel(0.5 / 1.01e8), "x")
    with pytest.raises(ParameterError, match="the channel of x has rank 1, below the 2 answers"):
        best_inverse(channel(0.0), "x")
    wide = np.array([[0.5, 0.3, 0.2], [0.1, 0.3, 0.6]])
    for prior in (None, np.array([0.9, 0.1]), np.array([0.5, 0.5])):
        found = best_inverse(wide, "x", prior)
        assert wide @ found == pytest.approx(np.eye(2)), "unbiased, whatever the prior"
        if prior is not None:
            seen = prior @ wide
            least = np.linalg.inv((wide / seen) @ wide.T) @ (wide / seen)
            assert found == pytest.approx(least.T), "weighted least squares"


def test_a_prior_sums_to_one_and_has_nothing_below_zero() -> None:
    assert check_prior([0.5, 0.5 + 5e-10], 2).tolist() == [0.5, 0.5 + 5e-10]
    for wrong, said in (
        ([0.5, 0.5 + 2e-9], "prior must sum to 1"),
        ([1.5, -0.5], r"prior must be 2 finite numbers >= 0, got -0\.5"),
        ([1.0], r"got an array of shape \(1,\)"),
        ([math.inf, 0.0], "got inf"),
        ("zipf", "prior must be 2 numbers, got 'zipf'"),
    ):
        with pytest.raises(ParameterError, match=said):
            check_prior(wrong, 2)


def test_distances_to_the_least_error_are_for_so_many_reports() -> None:
    found = distance(10, 1.0, 2 * least_mse(10, 1.0, 50), 0.15, 50)
    assert found["bound"] == pytest.approx(least_mse(10, 1.0) / 50)
    assert found["gap"] == pytest.approx(1.0)
    assert found["bound_at_asr"] == pytest.approx(frontier_mse(10, 1.0, 0.15) / 50)
    assert found["gap_at_asr"] == pytest.approx(2 * found["bound"] / found["bound_at_asr"] - 1)
    assert [frontier_mse(10, 1.0, x) for x in (0.05, 0.1)] == [math.inf, math.inf]
    assert math.isfinite(frontier_mse(10, 1.0, 0.1001))
    assert frontier_mse(10, 1.0, 0.9) == pytest.approx(least_mse(10, 1.0))


def test_channels_are_told_by_four_outputs_and_checked_to_a_millionth() -> None:
    four, five = (Channel.from_matrix(np.full((2, m), 1 / m).tolist()) for m in (4, 5))
    assert repr(four) == "<Channel of 2 values to 4 outputs: 0, 1, 2, 3>"
    assert repr(five) == "<Channel of 2 values to 5 outputs: 0, 1, 2, 3, ...>"
    Channel.from_matrix([[0.5, 0.5 + 9e-7], [0.5, 0.5]])
    with pytest.raises(ParameterError, match=r"the probabilities given value 1 sum to 1, not to 1"):
        Channel.from_matrix([[0.5, 0.5], [0.5, 0.5 + 2e-6]])
    for prior in ([Fraction(1, 2)] * 3, [Fraction(1)], [Fraction(1, 2), Fraction(1, 3)]):
        with pytest.raises(ParameterError, match="prior must be 2 fractions that sum to 1"):
            four.asr(prior)
    pair = Channel(("a", "b"), ((3, 1, 1), (1, 3, 3)), 4)
    assert "all 2 outputs and 6 ordered pairs" in pair.proof().argument
    free = replace(pair, unlimited=frozenset({(0, 1), (0, 2)}))
    assert "all 2 outputs and 4 ordered pairs" in free.proof().argument
    assert [c.proof().ratio for c in (pair, free)] == [3, 3]
    assert replace(free, unlimited=frozenset({(0, 1), (0, 2), (1, 0), (2, 0)})).proof().ratio == 1
