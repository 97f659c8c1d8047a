"""Designs for the least favourable share of harmless answers: the largest error over all theta is as small as possible.

The error of a design is linear in theta (docs/maths/utility.md, section 10), so it is largest at 0 or 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

__all__ = ["MINIMAX", "at_worst", "least_favourable", "worst_error"]

MINIMAX = "minimax"
"""What `theta` is called if parameters are chosen for the worst case."""

_STEPS = 44
"""Halvings of the interval of theta: it is then known to about 13 digits."""

M = TypeVar("M", bound=Any)


def worst_error(m: Any) -> float:
    """The largest n MSE of a design over all theta."""
    return max(float(m.mse_sum(theta=theta)) for theta in (0.0, 1.0))


def least_favourable(make: Callable[[float], M]) -> M:
    """The design of least largest error over theta, of those that `make` makes as the best ones for some theta.

    The least error as a function of theta is concave, and the error of the best design there is a tangent of it: on one
    side of the top tangents rise, on the other they fall. Where a parameter is whole there may be no level one.
    """
    low, high = 0.0, 1.0
    rising, falling = make(low), make(high)
    if _slope(rising) <= 0:
        return rising
    if _slope(falling) >= 0:
        return falling
    for _ in range(_STEPS):
        middle = (low + high) / 2
        made = make(middle)
        if _slope(made) > 0:
            low, rising = middle, made
        else:
            high, falling = middle, made
    return min((rising, falling), key=worst_error)


def at_worst(m: M) -> M:
    """The same design with the theta for which its error is largest; not for one whose estimator depends on theta."""
    worst: M = replace(m, theta=float(_slope(m) >= 0)) if 0 < m.s < m.k else m
    return worst


def _slope(m: Any) -> float:
    return float(m.mse_sum(theta=1.0) - m.mse_sum(theta=0.0))
