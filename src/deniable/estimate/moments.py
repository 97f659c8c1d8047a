"""Frequencies from additive unbiased weights whose variance depends on whether a value is held, and on that alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deniable.core.intervals import Interval, curve_interval, drawn
from deniable.core.support import check_target
from deniable.core.types import FloatArray, Target
from deniable.estimate.result import Shares

__all__ = ["MomentsPart"]


@dataclass(frozen=True, slots=True, eq=False)
class MomentsPart(Shares):
    """Estimates that are means of n weights, one per report, with the second moments of one report's weights.

    Given value x the weight of item i has variance `own` if i = x, else `other`; the weights of two items have
    covariance `one` if x is one of them, else `none`. Variances are then linear in the frequencies, as for support
    mechanisms.
    """

    value: FloatArray
    own: float
    other: float
    one: float
    none: float
    n: int

    def variance(self, target: Target) -> FloatArray:
        """See `Part.variance`: at the estimated frequencies, those outside [0, 1] taken as the nearer end of it."""
        check_target(target)
        f = np.clip(self.value, 0, 1)
        spread = self.other + f * (self.own - self.other)
        return np.asarray((spread + f * (1 - f) if target == "population" else spread) / self.n)

    def covariance(self, target: Target) -> FloatArray:
        f = np.clip(self.value, 0, 1)
        matrix = self.none + (f[:, None] + f[None, :]) * (self.one - self.none)
        if target == "population":
            matrix = matrix - np.outer(f, f)
        matrix = np.asarray(matrix / self.n, dtype=np.float64)
        np.fill_diagonal(matrix, self.variance(target))
        return matrix

    def interval(self, level: float, target: Target, simultaneous: bool) -> Interval:
        """See `Part.interval`: all frequencies whose score test does not reject the estimate."""
        curve = drawn((self.other / self.n, (self.own - self.other) / self.n, 0.0), self.n, target)
        return curve_interval(self.value, curve, level=level, target=target, simultaneous=simultaneous, n=self.n)
