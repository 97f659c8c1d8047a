"""The unbiased linear estimator of support mechanisms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from deniable.collect.tally import Tally
from deniable.core.intervals import Interval, count_interval, curve_interval, drawn
from deniable.core.support import Support
from deniable.core.types import FloatArray, Target
from deniable.errors import InWords, require
from deniable.estimate.result import Shares

__all__ = ["NoisePart", "SupportPart", "check_reports"]


@dataclass(frozen=True, slots=True, eq=False)
class SupportPart(Shares):
    """Frequencies estimated from support counts: unbiased, with exact variances and score intervals."""

    share: FloatArray
    """Share of the reports that support each item."""
    support: Support[float]
    n: int
    extra: Callable[[FloatArray], FloatArray] | None = None
    """What third values add to the pair probabilities, as a function of the frequencies."""

    @property
    def value(self) -> FloatArray:
        value: FloatArray = self.support.unbias(self.share)
        return value

    def variance(self, target: Target) -> FloatArray:
        """See `Part.variance`: never negative, and for the reporters itself unbiased."""
        value: FloatArray = self.support.plug_in(self.share, self.n, target)
        return value

    def covariance(self, target: Target) -> FloatArray:
        extra = 0.0 if self.extra is None else self.extra(self.value)
        matrix = self.support.covariance(self.value, self.n, target, extra)
        np.fill_diagonal(matrix, self.variance(target))
        return matrix

    def interval(self, level: float, target: Target, simultaneous: bool) -> Interval:
        return count_interval(self.share, self.support, self.n, level=level, target=target, simultaneous=simultaneous)


@dataclass(frozen=True, slots=True, eq=False)
class NoisePart(Shares):
    """Frequencies as means of reports with independent noise of known variance."""

    value: FloatArray
    noise: float
    """Variance of one report's noise, the same for every item."""
    n: int

    def variance(self, target: Target) -> FloatArray:
        own = self.value * (1 - self.value) if target == "population" else np.zeros_like(self.value)
        return np.asarray(np.maximum(self.noise + own, 0.0) / self.n)

    def covariance(self, target: Target) -> FloatArray:
        matrix = (
            -np.outer(self.value, self.value) / self.n if target == "population" else np.zeros((self.value.size,) * 2)
        )
        np.fill_diagonal(matrix, self.variance(target))
        return matrix

    def interval(self, level: float, target: Target, simultaneous: bool) -> Interval:
        curve = drawn((self.noise / self.n, 0.0, 0.0), self.n, target)
        return curve_interval(self.value, curve, level=level, target=target, simultaneous=simultaneous, n=self.n)


def check_reports(tally: Tally) -> None:
    """Refuse a tally of no reports."""
    require(
        tally.n > 0, "tally", InWords("no reports"), "a tally of at least one report", "Empty data have no estimate."
    )
