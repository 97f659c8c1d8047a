"""What one report tells of each of several questions, in closed form: sets of answers, and boxes of such sets.

Functions of w = e^-epsilon and v = 1 - w, as in `deniable.core.laws`: floats give the ideal numbers, fractions the
exact ones of the integers that are sampled. The formulas are those of docs/maths/survey.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, product
from typing import Any

from deniable.core.frontier import best_subset_size
from deniable.core.laws import epsilon_to
from deniable.core.support import Support

__all__ = ["best_shape", "box", "box_costs", "box_information", "cell", "least_cost", "most_information", "sampling"]

_SHAPES = 1024
"""Shapes that are all tried; of more, those that one step after the other leads to."""


def _alpha(w: Any, sizes: Sequence[int], shape: Sequence[int]) -> tuple[Any, Any]:
    """The share of all sets of answers that a box holds, and alpha + (1 - alpha) w, the odds' normaliser."""
    alpha = (w * 0 + 1) * math.prod(shape) / math.prod(sizes)
    return alpha, alpha + (1 - alpha) * w


def box(w: Any, v: Any, sizes: Sequence[int], shape: Sequence[int]) -> list[Support[Any]]:
    """Support of each question's answers by the sets of a box (Y8): pure, as if each had been asked alone."""
    alpha, scale = _alpha(w, sizes, shape)
    found = []
    for k, s in zip(sizes, shape, strict=True):
        p, p_not = (alpha + w * ((w * 0 + 1) * s / k - alpha)) / scale, w * (k - s) / (k * scale)
        gap = alpha * (k - s) * v / ((k - 1) * scale)
        q_not = (k - s) * (alpha + ((w * 0 + 1) * (k - 1) / k - alpha) * w) / ((k - 1) * scale)
        pairs = (k - 1) * (k - 2) if k > 2 else 1
        none = (p * (s - 1) * (s - 2) + p_not * s * (s - 1)) / pairs
        found.append(Support(p, (s - p) / (k - 1), gap, p_not, q_not, p * (s - 1) / (k - 1), none))
    return found


def cell(w: Any, v: Any, sizes: Sequence[int], shape: Sequence[int]) -> tuple[Any, Any]:
    """Chance that a box holds all own answers, and that it does not."""
    alpha, scale = _alpha(w, sizes, shape)
    return alpha / scale, (1 - alpha) * w / scale


def box_information(epsilon: float, sizes: Sequence[int], shape: Sequence[int]) -> list[float]:
    """What one box tells of each question, V_j (Y7)."""
    w, v = epsilon_to(epsilon)
    alpha, scale = _alpha(w, sizes, shape)
    return [(v * alpha / scale) ** 2 * (k - s) / s for k, s in zip(sizes, shape, strict=True)]


def sampling(k: int) -> float:
    """What drawing people adds to the variance of one report, averaged over k answers that are equally common."""
    return (k - 1) / k**2


def box_costs(epsilon: float, sizes: Sequence[int], shape: Sequence[int]) -> list[float]:
    """The variance of one report of each question, averaged over its answers, the drawing of people included."""
    told = box_information(epsilon, sizes, shape)
    return [((k - 1) / k) ** 2 / information for k, information in zip(sizes, told, strict=True)]


def most_information(k: int, epsilon: float) -> float:
    """V_ss(k): the most that one report tells of a question with k answers, that of the best subset size."""
    return box_information(epsilon, (k,), (best_subset_size(k, epsilon),))[0]


def least_cost(k: int, epsilon: float) -> float:
    """The least variance of one report of a question with k answers, the drawing of people included."""
    return ((k - 1) / k) ** 2 / most_information(k, epsilon)


def best_shape(
    epsilon: float, sizes: Sequence[int], score: Callable[[Sequence[float]], float] = sum
) -> tuple[int, ...]:
    """The shape of a box whose costs have the least score; all of few shapes are tried, of many by steps."""

    def total(shape: Sequence[int]) -> float:
        return score(box_costs(epsilon, sizes, shape))

    if math.prod(k - 1 for k in sizes) <= _SHAPES:
        return min(product(*(range(1, k) for k in sizes)), key=total)
    share = (1 / (1 + math.exp(min(epsilon, 700)))) ** (1 / len(sizes))
    here = tuple(min(k - 1, max(1, round(k * share))) for k in sizes)
    while True:
        best = min(_near(here, sizes), key=total)
        if total(best) >= total(here):
            return here
        here = best


def _near(shape: tuple[int, ...], sizes: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Shapes that differ in one question, by one, or by half or twice as much; or in two, by one each."""
    for j, s in enumerate(shape):
        for other in {s - 1, s + 1, s // 2, 2 * s}:
            if 1 <= other < sizes[j]:
                yield (*shape[:j], other, *shape[j + 1 :])
    for i, j in combinations(range(len(shape)), 2):
        for a, b in product((shape[i] - 1, shape[i] + 1), (shape[j] - 1, shape[j] + 1)):
            if 1 <= a < sizes[i] and 1 <= b < sizes[j]:
                yield (*shape[:i], a, *shape[i + 1 : j], b, *shape[j + 1 :])
