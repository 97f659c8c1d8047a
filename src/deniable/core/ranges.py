"""Ranges of answers in an order: how they weigh pairs of answers, and the least error that any mechanism can have.

A workload is a set of linear queries, each a sum over some answers; all that counts of it is the matrix Q of how many
of its queries have both of two answers. Two are here: all ranges, and all prefixes (the cumulative shares). Formulas
and proofs: docs/maths/ordinal.md.
"""

from __future__ import annotations

import math

import numpy as np

from deniable.core.frontier import best_subset_size, mixture_information
from deniable.core.laws import epsilon_to
from deniable.core.types import FloatArray
from deniable.errors import require

__all__ = [
    "PREFIXES",
    "RANGES",
    "WORKLOADS",
    "by_distance",
    "count",
    "information",
    "least_variance",
    "pairs",
    "within",
]

RANGES, PREFIXES = "ranges", "prefixes"
WORKLOADS = (RANGES, PREFIXES)
BOUND_MOST = 1 << 12
"""Points up to which the bound is computed: it takes the eigenvalues of a matrix of half as many rows."""


def count(points: int, workload: str) -> int:
    """How many queries there are: of ranges all but the empty one, of prefixes neither nothing nor everything."""
    return points * (points + 1) // 2 if workload == RANGES else points - 1


def pairs(points: int, workload: str) -> FloatArray:
    """The matrix Q: (x+1)(D-y) ranges have both x and y >= x, and D-1-y prefixes do."""
    x = np.arange(points)
    low, high = np.minimum.outer(x, x), np.maximum.outer(x, x)
    found = (low + 1) * (points - high) if workload == RANGES else points - 1 - high
    return np.asarray(found, np.float64)


def by_distance(points: int, workload: str) -> FloatArray:
    """The sums of Q over all pairs with y - x = 0, 1, .., D-1."""
    d, n = np.arange(points, dtype=np.float64), float(points)
    if workload == PREFIXES:
        return np.asarray((n - d) * (n - d - 1) / 2)
    m = n - d  # sum over x of (x+1)(m-x) = C(m+2, 3)
    return np.asarray(m * (m + 1) * (m + 2) / 6)


def within(points: int, width: int, workload: str) -> float:
    """The sum of Q over all pairs that are in one cell, where the points are cut into cells of this width."""
    w, a = float(width), np.arange(0, points, width, dtype=np.float64)
    least, most, product = (w - 1) * w * (2 * w - 1) / 6, w * (w - 1) * (4 * w + 1) / 6, (w * (w - 1) / 2) ** 2
    if workload == PREFIXES:
        return float(((points - 1 - a) * w * w - most).sum())
    cells = (a + 1) * (points - a) * w * w + (points - a) * least - (a + 1) * most - product
    return float(cells.sum())


def information(k: int, epsilon: float) -> float:
    """a of the best subset selection among k cells: the largest information that a report can have about them."""
    return float(mixture_information(*epsilon_to(epsilon), k, best_subset_size(k, epsilon)))


def least_variance(points: int, epsilon: float, workload: str = RANGES) -> float | None:
    """The least mean variance of the queries from one report, at the uniform population, that any mechanism can have.

    Of all epsilon-LDP mechanisms and unbiased estimates with fixed weights, the sampling of people included: (A1) of
    docs/maths/ordinal.md, N^2/(D V) with the sum N of the singular values of the centred queries. None where there are
    too many points to compute it.

    >>> round(least_variance(64, 1.0), 6)
    13.886671
    """
    require(workload in WORKLOADS, "queries", workload, f"one of {', '.join(WORKLOADS)}")
    if points > BOUND_MOST:
        return None
    largest = information(points, epsilon) * (points - 1) / points
    singular = math.fsum(_singular_values(points, workload).tolist())
    return singular**2 / (points * largest) / count(points, workload)


def _singular_values(points: int, workload: str) -> FloatArray:
    """Of the queries with their means removed.

    Centred prefixes have the Gram matrix min(s,t)(D-max(s,t))/D, the inverse of the second difference: its eigenvalues
    are 1/(4 sin^2(pi j/2D)). Ranges are differences of two prefixes, so theirs is ((D+1) I - 11') of it; the vector of
    ones meets the odd eigenvectors only.
    """
    angle = np.arange(1, points) * (math.pi / (2 * points))
    prefix = 1 / (2 * np.sin(angle))
    if workload == PREFIXES:
        return np.asarray(prefix)
    odd, even = prefix[::2], prefix[1::2]
    ones = odd * math.sqrt(2 / points) / np.tan(angle[::2])
    matrix = np.diag((points + 1) * odd**2) - np.outer(ones, ones)
    rest = np.sqrt(np.maximum(np.linalg.eigvalsh(matrix), 0.0))
    return np.concatenate([math.sqrt(points + 1) * even, rest])
