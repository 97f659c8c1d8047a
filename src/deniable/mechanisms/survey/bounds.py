"""What no survey can beat: the least weighted sum of errors of several questions under one budget."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from deniable.core.laws import epsilon_to
from deniable.mechanisms.survey.laws import most_information

__all__ = ["least_sum", "most_of_all", "simple_bound"]

_CELLS = 16
"""Sets of answers, at most, all sets of which are gone through."""


def least_sum(epsilon: float, sizes: Sequence[int], weights: Sequence[float]) -> float:
    """Least weighted sum of the errors of one report, the drawing of people included; uniform population (Y3)."""
    told = sum(math.sqrt(w) * (k - 1) / k for k, w in zip(sizes, weights, strict=True))
    asked = tuple(sorted(k for k, w in zip(sizes, weights, strict=True) if w > 0))
    return told**2 / most_of_all(epsilon, asked)


def simple_bound(epsilon: float) -> float:
    """I = sinh^2(epsilon/2): the most that one report tells of all questions together, whatever these are."""
    return math.sinh(epsilon / 2) ** 2


@lru_cache(maxsize=1024)
def most_of_all(epsilon: float, sizes: tuple[int, ...]) -> float:
    """At least the sum over questions of what one report tells of each, of every report there can be.

    Of few sets of answers the largest sum, found among all sets of them; of many what one report tells of the set
    itself, V_ss (Y1), which is at most `simple_bound`.
    """
    k = math.prod(sizes)
    return _searched(epsilon, sizes) if k <= _CELLS else min(most_information(k, epsilon), simple_bound(epsilon))


def _searched(epsilon: float, sizes: tuple[int, ...]) -> float:
    """The largest sum of V_j over all sets of cells: a report that is e^epsilon times as likely for a set's members."""
    k, (w, v) = math.prod(sizes), epsilon_to(epsilon)
    sets = np.arange(1, (1 << k) - 1)
    member = (sets[:, None] >> np.arange(k)) & 1
    profile = w + v * member
    profile /= profile.mean(axis=1, keepdims=True)
    table, total = profile.reshape(-1, *sizes), np.zeros(sets.size)
    for j in range(len(sizes)):
        others = tuple(1 + i for i in range(len(sizes)) if i != j)
        total += table.mean(axis=others).var(axis=1)
    return float(total.max())
