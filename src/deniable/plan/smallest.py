"""The smallest n and the smallest epsilon for a target, answered on the safe side."""

from __future__ import annotations

import math
from collections.abc import Callable

from deniable_client.exact import EPSILON_MAX

__all__ = ["EPSILON_STEPS", "smallest_epsilon", "smallest_n"]

EPSILON_STEPS = 1_000_000
"""Answers for epsilon are whole multiples of one part in so many."""

_LEAST = 1_000
"""The least epsilon that is considered, in steps."""


def smallest_n(error_of: Callable[[int], float], target: float) -> int:
    """The least n with error_of(n) <= target, for an error that falls as 1/sqrt(n); both sides are checked.

    From the guess that this gives, in steps that double, and then by halves: where n is so large that one report more
    makes no difference to a floating-point number, steps of one would never end.

    >>> smallest_n(lambda n: (2 / n) ** 0.5, 0.01)
    20000
    """
    high, step = max(1, math.ceil((error_of(1) / target) ** 2)), 1
    low = high - 1
    while error_of(high) > target:
        low, high, step = high, high + step, 2 * step
    while low > 0 and error_of(low) <= target:
        low, high, step = max(0, low - step), low, 2 * step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if error_of(middle) <= target else (middle, high)
    return high


def smallest_epsilon(error_of: Callable[[float], float], target: float) -> float | None:
    """The least multiple of a step whose error meets the target, one step less failing it; None if there is none.

    By bisection: the returned value always meets the target. An infinite error says that there is no such design; the
    largest epsilon that is looked at is then halved. If the error does not fall throughout (a rounded
    parameter may make it jump) the step below still fails, though some smaller value may do.

    >>> smallest_epsilon(lambda epsilon: 1 / epsilon, 0.5)
    2.0
    """
    low, high = _LEAST - 1, round(EPSILON_MAX * EPSILON_STEPS)
    while math.isinf(error_of(high / EPSILON_STEPS)) and high > 2 * _LEAST:
        high //= 2
    if error_of(high / EPSILON_STEPS) > target:
        return None
    if error_of(_LEAST / EPSILON_STEPS) <= target:
        return _LEAST / EPSILON_STEPS
    low += 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if error_of(middle / EPSILON_STEPS) <= target else (middle, high)
    return high / EPSILON_STEPS
