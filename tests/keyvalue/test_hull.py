"""The frontier's hull, found at once, is the one that is found point by point."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable.mechanisms.keyvalue.laws import Frontier, _hull, frontier


def one_by_one(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """The usual way: the last corners go as long as they are below."""
    hull: list[tuple[float, float]] = []
    for b, a in sorted(points):
        while hull and (a >= hull[-1][1] or (len(hull) > 1 and _below(hull[-2], hull[-1], (b, a)))):
            hull.pop()
        hull.append((b, a))
    return hull


def _below(one: tuple[float, float], two: tuple[float, float], three: tuple[float, float]) -> bool:
    return (two[1] - one[1]) * (three[0] - one[0]) <= (three[1] - one[1]) * (two[0] - one[0])


whole = st.integers(0, 40).map(float)


@given(st.lists(st.tuples(whole, whole), min_size=1, max_size=60))
@settings(max_examples=200, deadline=None)
def test_the_hull_is_that_of_the_usual_way(points: list[tuple[float, float]]) -> None:
    b, a = _hull(*np.array(points).T)
    assert list(zip(b.tolist(), a.tolist(), strict=True)) == one_by_one(points)


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
def test_the_frontier_of_many_keys_falls_and_is_concave(epsilon: float) -> None:
    edge = frontier(epsilon, 30_000)
    assert edge.b.size > 10
    assert (np.diff(edge.a) <= 0).all()
    slopes = np.diff(edge.a) / np.diff(edge.b)
    assert (np.diff(slopes) <= 1e-9 * np.abs(slopes[1:])).all()


@pytest.mark.parametrize(("epsilon", "d"), [(0.5, 2), (1.0, 5), (4.0, 12)])
def test_either_error_is_read_from_the_other_and_has_no_bound_beyond_the_ends(epsilon: float, d: int) -> None:
    """Where frequencies are known best nothing is known of means; below the least of either there is nothing."""
    edge = frontier(epsilon, d)
    least_f, least_m = edge.least_frequency(math.inf), 1 / float(edge.b[-1])
    assert edge.least_mean(least_f) > 1e12 * least_m
    assert edge.least_mean(least_f * (1 - 1e-6)) == math.inf
    assert edge.least_frequency(least_m * (1 - 1e-6)) == math.inf
    for part in (0.1, 0.5, 0.9):
        a = float(edge.a[0]) + part * float(edge.a[-1] - edge.a[0])
        f = (d - 1) / d * (1 / a - 1 / d)
        assert edge.least_frequency(edge.least_mean(f)) == pytest.approx(f, rel=1e-9)
        assert edge.least_mean(f) > least_m
    flat = Frontier(2, np.array([1.0, 0.5]), np.array([0.0, 0.5]))
    assert flat.least_mean(flat.least_frequency(math.inf)) == math.inf
