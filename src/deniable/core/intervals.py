"""Confidence intervals for frequencies: inverted score tests, one item at a time or all at once."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from deniable.core.support import Support, check_target
from deniable.core.types import FloatArray, Target
from deniable.errors import require

__all__ = ["Interval", "critical", "score_interval", "spread", "wald_interval"]


@dataclass(frozen=True, slots=True, eq=False)
class Interval:
    """Lower and upper ends, with what they promise."""

    low: FloatArray
    high: FloatArray
    level: float
    target: Target
    simultaneous: bool

    def covers(self, truth: FloatArray) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Which intervals contain the truth."""
        return np.asarray((self.low <= truth) & (truth <= self.high))


def critical(level: float, tests: int = 1) -> float:
    """Two-sided normal quantile for `level`, shared by `tests` intervals (Bonferroni)."""
    require(0 < level < 1, "level", level, "between 0 and 1", "95 % is level=0.95.")
    return -NormalDist().inv_cdf((1 - level) / (2 * tests))


def score_interval(
    share: FloatArray, support: Support[float], n: float, *, level: float, target: Target, simultaneous: bool = False
) -> Interval:
    """All frequencies whose score test does not reject the observed support share.

    Reporters: (share - q - f gap)^2 <= z^2 (q(1-q) + f (p(1-p) - q(1-q)))/n, a quadratic in f. Population: Wilson's
    interval [Wilson27] for the support probability q + f gap, mapped to f.
    """
    check_target(target)
    c = critical(level, share.size if simultaneous else 1) ** 2 / n
    p, q, gap = support.p, support.q, support.gap
    if target == "population":
        centre = (share + c / 2) / (1 + c)
        half = np.sqrt(c * (share * (1 - share) + c / 4)) / (1 + c)
        low, high = (centre - half - q) / gap, (centre + half - q) / gap
    else:
        bend, base, y = p * support.p_not - q * support.q_not, q * support.q_not, share - q
        root = np.sqrt(c * (4 * gap * (y * bend + gap * base) + c * bend * bend))
        low, high = ((2 * gap * y + c * bend + sign * root) / (2 * gap * gap) for sign in (-1, 1))
    return Interval(np.asarray(low), np.asarray(high), level, target, simultaneous)


def wald_interval(
    value: FloatArray, stderr: FloatArray, *, level: float, target: Target, simultaneous: bool = False
) -> Interval:
    """value +- z stderr, for estimates that are no frequencies of a support mechanism."""
    check_target(target)
    half = critical(level, value.size if simultaneous else 1) * stderr
    return Interval(value - half, value + half, level, target, simultaneous)


def spread(values: FloatArray) -> float | None:
    """Standard error of the mean over independent runs; None where there is only one."""
    return float(values.std(ddof=1)) / math.sqrt(values.size) if values.size > 1 else None
