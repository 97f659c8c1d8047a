"""Formulas as BRR prints them, right or wrong: what the claims hold against what is computed."""

from __future__ import annotations

import math

from deniable.core.types import FloatArray
from deniable.mechanisms.metric.bipartite import end_root, line_printed, middle_root
from deniable.mechanisms.metric.losses import Line

__all__ = [
    "alg3",
    "eq12",
    "eq13",
    "eq14",
    "eq15",
    "eq20_first_line",
    "eq20_second_line",
    "grid_alg4",
    "lower_limit",
    "mean_limit",
    "slope",
    "upper_limit",
]


def alg3(points: int, epsilon: float, *, line1: bool = False, line3: bool = False, even: int = 1) -> int:
    """`line_printed`, or with its lines as they can be read in the algorithm: a root over all, and e/2."""
    if not line1 and not line3:
        return line_printed(points, epsilon, even)
    e = math.exp(epsilon)
    square, shift = points**2 * e + (1 - e) ** 2 / 4, points - e / 2 + 0.5
    end = math.floor(math.sqrt(square - shift) / (e - 1) if line1 else end_root(points, epsilon))
    if epsilon >= 1 and even > 0:
        return end
    i = math.floor(points / (e / 2 + 1) + 1 if line3 and points % 2 == 0 else middle_root(points, epsilon))
    return min(end, i if i % 2 else i + even)


def slope(losses: FloatArray, i: int, e: float) -> float:
    """The numerator of BRR Eq. 9 for the i-th nearest report, the i - 1 before it raised to e."""
    own = float(losses[i - 1])
    return float(e * (own - losses[: i - 1]).sum() + (own - losses[i:]).sum())


def eq12(points: int, i: int, e: float) -> float:
    """The same at an end of the line, as printed."""
    return (e - 1) / 2 * i**2 + (points - e / 2 + 0.5) * i - points**2 / 2 - points / 2


def eq13(points: int, i: int, e: float) -> float:
    """The same in the middle of an even number of points, for odd i, as printed."""
    return (e - 1) / 4 * i**2 + (points - (e - 1)) / 2 * i + ((e - 1) - points**2 - 2 * points) / 4


def eq14(points: int, i: int, e: float) -> float:
    """The same for an odd number of points, as printed."""
    return eq13(points, i, e) + 0.25


def eq15(points: int, epsilon: float) -> tuple[float, float]:
    """Both sides of the first inequality of BRR Eq. 15: the root at an end, and what it is said to be below."""
    e, s = math.exp(epsilon), math.exp(epsilon / 2)
    return end_root(points, epsilon), (points * s + (1 - e) / 2 - (points - e / 2 + 0.5)) / (e - 1)


def eq20_first_line(points: int, epsilon: float, m: int) -> float:
    """N Q_g by the first line of BRR Eq. 20, as printed."""
    c, less = m / points, math.expm1(epsilon)
    return (less * c**3 + 3 * less * c**2 - 3 * (less + 1) + 4) / (12 * (less * c + 1)) * points**2 - 1 / 12


def eq20_second_line(points: int, epsilon: float, m: int) -> float:
    """N Q_g by its second line, as printed; for odd numbers of points and odd m."""
    c, less, square = m / points, math.expm1(epsilon), points**2
    top = less * square * c**3 + 3 * less * square * c**2 - less * c - 3 * (less + 1) - 1 + 4 * square
    return top / (12 * (less * c + 1))


def upper_limit(epsilon: float) -> float:
    """Limit of the largest local ratio to GRR [BRR Theorem 2]."""
    return 2 / (math.exp(epsilon / 2) + 1)


def lower_limit(epsilon: float) -> float:
    """Limit of the smallest local ratio to GRR [BRR Theorem 2]."""
    s = math.exp(epsilon / 2)
    return s - (s - 1) / (s + 1) * (math.sqrt(s * s + 2 * s + 2) + 1)


def mean_limit(epsilon: float) -> float:
    """Limit of the ratio of mean losses to GRR [BRR Theorem 3]."""
    s = math.exp(epsilon / 2)
    return (7 * s + 9) / (4 * (s + 1) ** 2)


def grid_alg4(points: int) -> Line:
    """The line of BRR Alg. 4 on [0, 1]: points from one end to the other."""
    return Line(points, 1 / (points - 1), "endpoints")
