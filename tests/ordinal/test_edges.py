"""Answers in an order at their edges: whole ranges, circles with gaps, levels of trees, and what is rounded."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.core.domain import Domain
from deniable.core.ranges import PREFIXES, RANGES
from deniable.errors import ParameterError
from deniable.mechanisms.ordinal.base import Windows
from deniable.mechanisms.ordinal.estimate import CellsPart
from deniable.mechanisms.ordinal.laws import ideal_law
from deniable.mechanisms.ordinal.rules import circle_of, sizes_of, whole_shares, widths_of, windows_shares
from deniable.mechanisms.registry import MECHANISMS

SMALL = [dn.mechanism(name, **case) for name in ("windows", "tree") for case in MECHANISMS[name].small]


@pytest.mark.parametrize("m", SMALL, ids=str)
def test_ranges_have_the_variance_of_the_answers_in_them(m: Any) -> None:
    """The end is not in them; everybody's answer is in all of them together."""
    even = np.full(m.k, 1 / m.k)
    falling = np.arange(m.k, 0, -1.0) / np.arange(m.k, 0, -1.0).sum()
    for given, f in ((None, even), (falling, falling)):
        matrix = m.law.covariance(f, "population")
        for start in range(m.k):
            for stop in range(start + 1, m.k + 1):
                wanted = 0.0 if stop - start == m.k else matrix[start:stop, start:stop].sum() / 10
                assert m.range_variance(start, stop, 10, given) == pytest.approx(wanted, rel=1e-6, abs=1e-12)
    for start, stop in ((0, 0), (m.k, m.k + 1), (0, m.k + 1), (-1, 1), (1, 1)):
        with pytest.raises(ParameterError, match="stop is not included"):
            m.range_variance(start, stop)


@pytest.mark.parametrize("m", SMALL, ids=str)
def test_reports_support_as_many_answers_as_tallies_are_checked_for(m: Any) -> None:
    """By all reports there are, width by width: points of the circle that are no answers are not counted."""
    exact = m.channel()
    for i, (least, most) in enumerate(m.bulk._totals()):
        held = [len(own) for own, stratum in zip(exact.supported, exact.strata, strict=True) if stratum == i]
        assert least <= min(held) <= max(held) <= most
        if m.circle == m.k:
            assert (min(held), max(held)) == (least, most)
    assert m.bulk.outputs == pytest.approx(math.log2(len(exact.outputs)))


@pytest.mark.parametrize("m", SMALL, ids=str)
def test_variances_of_sums_are_never_below_0_and_that_of_all_is_0(m: Any) -> None:
    part = CellsPart(np.full(m.k, 1 / m.k), m.law, 10)
    for target in ("reporters", "population"):
        assert part.sum_variance(0, m.k, target) == 0.0  # type: ignore[arg-type]
        one = part.sum_variance(0, 1, target)  # type: ignore[arg-type]
        assert one == pytest.approx(part.variance(target)[0])  # type: ignore[arg-type]
        assert one == pytest.approx(part.covariance(target)[0, 0])  # type: ignore[arg-type]
    assert part._each(np.array([-1e-17, 2.0])).tolist() == [0.0, 0.2]


@pytest.mark.parametrize("m", SMALL, ids=str)
def test_the_work_of_a_report_is_that_of_its_cells_on_average(m: Any) -> None:
    chances = np.array(m.shares) / sum(m.shares)
    assert MECHANISMS[m.name].traits.work(m, 1) == pytest.approx(float(chances @ m.sizes))  # type: ignore[misc]


@pytest.mark.parametrize("m", [m for m in SMALL if m.k <= 12], ids=str)
def test_a_forged_report_moves_no_range_by_more_than_is_said(m: Any) -> None:
    exact, law = m.channel(), m.law
    ranges = [(a, b) for a in range(m.k) for b in range(a + 1, m.k + 1) if b - a < m.k]
    best = -math.inf
    for own, i in zip(exact.supported, exact.strata, strict=True):
        support = [np.zeros(m.k) for _ in m.widths]
        support[i][list(own)] = 1
        counts = [int(i == j) for j in range(len(m.widths))]
        shares = law.shares(support, counts)
        best = max(best, max(float(shares[a:b].sum()) for a, b in ranges))
    said = MECHANISMS[m.name].traits.pull(m, 1)  # type: ignore[misc]
    assert best <= said * (1 + 1e-9)
    assert said == pytest.approx(best, rel=1e-6)


def test_a_circle_with_gaps_has_fewer_points() -> None:
    own: dict[str, Any] = {"epsilon": 1.0, "widths": (1,), "shares": (1,), "sizes": (5,)}
    assert Windows(domain=Domain.of(2048), circle=2050, **own).k == 2048
    assert Windows(domain=Domain.of(2049), circle=2049, **own).k == 2049
    with pytest.raises(ParameterError, match="at most 2,048 on a circle of 2050"):
        Windows(domain=Domain.of(2049), circle=2050, **own)
    with pytest.raises(ParameterError, match="at most 16,384"):
        Windows(domain=Domain.of((1 << 14) + 1), circle=(1 << 14) + 1, **own)


@pytest.mark.parametrize(
    ("k", "fanout", "circle"), [(8, 2, 8), (9, 2, 16), (2, 2, 2), (9, 3, 9), (10, 3, 27), (5, 5, 5)]
)
def test_a_tree_has_as_many_levels_as_it_takes(k: int, fanout: int, circle: int) -> None:
    m: Any = dn.mechanism("tree", epsilon=1.0, k=k, fanout=fanout, levels="equal")
    assert m.circle == circle
    assert m.widths == tuple(fanout**i for i in range(round(math.log(circle, fanout))))
    assert m.shares == (1,) * len(m.widths)


@pytest.mark.parametrize("k", [2, 3, 5, 7, 11, 21, 33, 64, 101])
def test_the_circle_for_prefixes_is_half_as_long_again_or_longer(k: int) -> None:
    assert circle_of(k, PREFIXES) >= 1.5 * k
    assert k <= circle_of(k, RANGES) <= 1.25 * k + 4


@pytest.mark.parametrize(
    ("workload", "least", "points"), [(RANGES, 4, (15, 21, 25, 27, 45, 81, 101, 135)), (PREFIXES, 3, (6, 10, 17, 54))]
)
def test_a_circle_is_the_smallest_whose_widths_are_at_most_three_times_each_other(
    workload: Any, least: int, points: tuple[int, ...]
) -> None:
    """Exactly three times is still even."""

    def even(circle: int) -> bool:
        widths = widths_of(circle, workload)
        return all(b <= 3 * a for a, b in pairwise([*widths, circle / least]))

    for k in points:
        circle = circle_of(k, workload)
        start = k if workload == RANGES else math.ceil(1.5 * k)
        assert [c for c in range(start, circle + 1) if even(c)] == [circle]


def test_shares_of_a_circle_with_points_that_are_no_answers_are_the_best_for_its_answers() -> None:
    for epsilon, k, circle in ((1.0, 9, 16), (2.0, 20, 32)):
        widths = widths_of(circle)
        sizes = sizes_of(epsilon, circle, widths)
        found = windows_shares(epsilon, k, circle, widths)
        plain = (2, *(1,) * (len(widths) - 2), 2)
        assert windows_shares(epsilon, circle, circle, widths) == plain
        own, even = (
            ideal_law(epsilon, k, circle, widths, widths, shares, sizes).mean_variance(RANGES)
            for shares in (found, plain)
        )
        assert own < 0.995 * even


@pytest.mark.parametrize("circle", [14, 22])
def test_shares_are_plain_only_where_the_widths_double_up_to_a_quarter_of_the_circle(circle: int) -> None:
    widths = widths_of(circle)
    assert widths == (1, 2), "which double, but are far from a quarter of the circle"
    own, plain = (
        ideal_law(1.0, circle, circle, widths, widths, shares, sizes_of(1.0, circle, widths)).mean_variance(RANGES)
        for shares in (windows_shares(1.0, circle, circle, widths), (1, 1))
    )
    assert own < 0.99 * plain


def test_shares_for_prefixes_are_the_best_for_prefixes() -> None:
    epsilon, k = 1.0, 16
    widths = widths_of(k)
    plain = windows_shares(epsilon, k, k, widths)
    assert plain == (2, *(1,) * (len(widths) - 2), 2)

    def variance(shares: tuple[int, ...], workload: str) -> float:
        law = ideal_law(epsilon, k, k, widths, widths, shares, sizes_of(epsilon, k, widths))
        return law.mean_variance(workload)

    own = windows_shares(epsilon, k, k, widths, PREFIXES)
    assert variance(own, PREFIXES) < variance(plain, PREFIXES)
    assert variance(plain, RANGES) < 1.01 * variance(windows_shares(2.001, k, k, widths), RANGES)


def test_the_answers_themselves_are_always_asked_for() -> None:
    assert whole_shares([0.0, 1.0]) == (1, 1 << 20)
    assert whole_shares([0.25, 0.75]) == (1 << 18, 3 << 18)
    assert whole_shares([1e-9, 0.5, 0.5]) == (1, 1 << 19, 1 << 19)
