"""The frontier's hull, found at once, is the one that is found point by point."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable.mechanisms.keyvalue.laws import _hull, frontier


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
