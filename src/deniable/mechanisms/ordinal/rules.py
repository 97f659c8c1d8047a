"""How cells are chosen for answers in an order: the circle, the widths, and how often each is used."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from deniable.core.frontier import best_subset_size
from deniable.core.ranges import RANGES, by_distance, count, information, pairs
from deniable.core.types import FloatArray
from deniable.errors import require
from deniable.mechanisms.ordinal.laws import Cut, Dense, ideal_law, nested_gains

__all__ = [
    "circle_of",
    "haar_variance",
    "sizes_of",
    "tree_shares",
    "whole_shares",
    "widths_of",
    "windows_shares",
]

_SHARES = 1 << 20
"""What shares that were optimised sum to: finer ones do not show in any variance."""
_PLAIN_MOST = 2.0
"""Up to this epsilon the plain rule is as good as optimised shares, to a part in a hundred."""
_APART = 3.0
"""Neighbouring widths are at most so many times each other; on average twice."""
_ROOM = 1.25
"""A circle may have so many times the points that are needed before its widths are taken as they come."""
_DENSE_MOST = 256
"""Points up to which shares are optimised for points that are not all alike; it takes inverses of matrices."""
_STEPS, _NEAR, _NEAR_DENSE = 3000, 1e-7, 1e-4
"""Steps of the search for best shares, and how near to the optimum it stops."""


def circle_of(points: int, workload: str = RANGES) -> int:
    """The points of the circle: the answers, or somewhat more where their number has too few divisors.

    For prefixes half as many more: then the first and the last answer are far apart on the circle.
    """
    start = points if workload == RANGES else -(-3 * points // 2)
    every = range(start, math.ceil(_ROOM * start) + 4)
    return next((circle for circle in every if _even(circle, workload)), start)


def _even(circle: int, workload: str) -> bool:
    widths = widths_of(circle, workload)
    return all(b <= _APART * a for a, b in pairwise([*widths, circle / _least_cells(workload)]))


def _least_cells(workload: str) -> int:
    return 4 if workload == RANGES else 3


def widths_of(circle: int, workload: str = RANGES) -> tuple[int, ...]:
    """Divisors of the circle from 1 on, each as near as possible to twice the one before, up to a quarter (a third).

    >>> widths_of(64), widths_of(100)
    ((1, 2, 4, 8, 16), (1, 2, 4, 10, 20))
    """
    most = circle // _least_cells(workload)
    divisors = [w for w in range(1, most + 1) if circle % w == 0] or [1]
    chosen = [1]
    while larger := [w for w in divisors if 2 * w >= 3 * chosen[-1]]:
        chosen.append(min(larger, key=lambda w: abs(math.log(w / (2 * chosen[-1])))))
    return tuple(chosen)


def sizes_of(epsilon: float, circle: int, widths: Sequence[int]) -> tuple[int, ...]:
    """The best subset size among the cells of each width."""
    return tuple(best_subset_size(circle // width, epsilon) for width in widths)


def windows_shares(
    epsilon: float, points: int, circle: int, widths: Sequence[int], workload: str = RANGES
) -> tuple[int, ...]:
    """2 : 1 : .. : 1 : 2 where widths double, up to epsilon 2; else the shares of least mean variance.

    Where not all points of the circle are answers, those of the whole circle are taken for ranges of many points.
    """
    double = all(b == 2 * a for a, b in pairwise(widths)) and widths[-1] * _least_cells(RANGES) == circle
    if epsilon <= _PLAIN_MOST and double and points == circle and workload == RANGES:
        ends = 2 if len(widths) > 2 else 1
        return (ends, *(1,) * (len(widths) - 2), ends)[: len(widths)]
    if len(widths) == 1:
        return (1,)
    if points == circle or (workload == RANGES and points > _DENSE_MOST):
        gains, table = _on_circle(epsilon, circle, widths, workload)
        return whole_shares(_best(len(widths), lambda q: _diagonal(q, gains, table)))
    hint = "Give shares yourself, or leave the circle at the number of points."
    require(points <= _DENSE_MOST, "points", points, f"at most {_DENSE_MOST} for shares that are optimised", hint)
    law = ideal_law(epsilon, points, circle, widths, widths, [1] * len(widths), sizes_of(epsilon, circle, widths))
    cuts, weights = law.cuts, pairs(points, workload)
    tables = np.stack([cut.information * cut.together(circle, points) for cut in cuts])
    return whole_shares(_best(len(widths), lambda q: _by_matrix(q, weights, tables), _NEAR_DENSE))


def tree_shares(epsilon: float, fanout: int, depth: int) -> tuple[float, ...]:
    """The best chances of a full tree's levels, by the width of their nodes from 1 on: (A15) of docs/maths/ordinal.md.

    >>> [round(q, 4) for q in tree_shares(1.0, 2, 3)]
    [0.7589, 0.2135, 0.0276]
    """
    points, widths = fanout**depth, [fanout**i for i in range(depth)]
    told = np.array([information(points // width, epsilon) * width for width in widths])
    gains = nested_gains(points, widths, RANGES)
    steps = np.diff(np.append(0.0, _eigenvalues(gains, told))) / told
    if (steps >= 0).all():
        return tuple((steps / steps.sum()).tolist())
    table = np.tril(np.ones((depth, depth))).T * told[:, None]
    return tuple(_best(depth, lambda q: _diagonal(q, gains, table)).tolist())


def haar_variance(epsilon: float, fanout: int, depth: int) -> float:
    """The mean variance of ranges if a report is about one drawn node's children (Haar, for two of them one bit).

    With the best shares of the levels: (O12) of docs/maths/ordinal.md. For comparison only; trees by sets of nodes are
    better.
    """
    points, widths = fanout**depth, [fanout**i for i in range(depth)]
    steps = nested_gains(points, widths, RANGES) / widths / count(points, RANGES)
    told = information(fanout, epsilon) * (fanout - 1) / fanout
    return float(np.sqrt(steps).sum() ** 2 * (fanout - 1) / (fanout * told))


def _eigenvalues(gains: FloatArray, told: FloatArray) -> FloatArray:
    """The eigenvalues of M, up to a factor, if all shares were free to be negative: a Lagrange multiplier's answer.

    Level i costs (eigenvalue i - eigenvalue i-1)/told i, so a unit of eigenvalue i costs 1/told i - 1/told i+1.
    """
    cost = 1 / told - np.append(1 / told[1:], 0.0)
    return np.asarray(np.sqrt(gains / np.maximum(cost, 1e-300)))


def whole_shares(chances: FloatArray | Sequence[float]) -> tuple[int, ...]:
    """Chances as whole numbers; the first, without which single points are not told apart, is at least 1."""
    found = np.round(np.asarray(chances, np.float64) * _SHARES).astype(np.int64)
    found[0] = max(found[0], 1)
    return tuple(found.tolist())


# ---- optimal shares: the sum of gains by eigenvalue is convex in them

Score = Callable[[FloatArray], tuple[float, FloatArray]]
"""The total variance at some shares, and how fast it falls with each of them."""


def _best(count: int, score: Score, near: float = _NEAR) -> FloatArray:
    """Shares that minimise it: each is multiplied by the root of its slope, which never makes the total larger.

    At the optimum no slope is above the total (the total is homogeneous of degree -1), so the largest slope says how
    far off it can be.
    """
    q = np.full(count, 1 / count)
    for _ in range(_STEPS):
        total, slopes = score(q)
        if slopes.max() <= total * (1 + near):
            break
        q = q * np.sqrt(slopes / total)
        q /= q.sum()
    return q


def _diagonal(q: FloatArray, gains: FloatArray, table: FloatArray) -> tuple[float, FloatArray]:
    own = q @ table
    return float((gains / own).sum()), np.asarray(table @ (gains / own**2))


def _on_circle(epsilon: float, circle: int, widths: Sequence[int], workload: str) -> tuple[FloatArray, FloatArray]:
    """What the queries have of each frequency, and what each width tells about it, if all points are answers."""
    sums = by_distance(circle, workload)
    sums[1:] *= 2
    law = ideal_law(epsilon, circle, circle, widths, widths, [1] * len(widths), sizes_of(epsilon, circle, widths))
    gains = np.fft.fft(sums).real[1:] / circle
    rows = [cut.information * _triangle(cut, circle) for cut in law.cuts]
    return np.asarray(gains), np.stack([np.fft.fft(row).real[1:] for row in rows])


def _triangle(cut: Cut, circle: int) -> FloatArray:
    d = np.arange(circle)
    return np.asarray(np.maximum(0.0, 1 - np.minimum(d, circle - d) / cut.width))


def _by_matrix(q: FloatArray, weights: FloatArray, tables: FloatArray) -> tuple[float, FloatArray]:
    inverse = Dense.of(np.tensordot(q, tables, 1)).matrix
    product = inverse @ weights
    return float(np.trace(product)), np.asarray((tables * (product @ inverse)).sum(axis=(1, 2)))
