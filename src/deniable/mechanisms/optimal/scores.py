"""Linear functionals of the frequencies, such as a mean, from counts of all outputs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deniable.core.intervals import Interval, noted, wald_interval
from deniable.core.types import FloatArray, Target
from deniable.estimate.result import Shares

__all__ = ["ScorePart"]

_WIDE = (
    "covers more than its level for these very people, the more the less equal their values are: the reports are "
    "chosen to tell the estimate, and may not tell how unlike they are"
)


@dataclass(frozen=True, slots=True, eq=False)
class ScorePart(Shares):
    """Means of scores, one for each report; each score is on average what its sender's answer counts."""

    share: FloatArray
    """Share of the reports that are each output."""
    scores: FloatArray
    """What each output counts (a row), of each functional (a column)."""
    ends: tuple[float, float] | None
    """Of a mean: the least and the largest number."""
    n: int
    least: FloatArray
    """The least variance of one report's score, over all answers, of each functional."""

    @property
    def value(self) -> FloatArray:
        return np.asarray(self.share @ self.scores)

    @property
    def range(self) -> tuple[float, float] | None:
        return self.ends

    def variance(self, target: Target) -> FloatArray:
        """See `Part.variance`: of people who are drawn, also for those who reported, whose variance is no larger."""
        return np.asarray(np.maximum(np.diag(self.covariance(target)), 0.0))

    def covariance(self, target: Target) -> FloatArray:
        """See `Part.covariance`: seen in the reports; no less than what each report varies by, whoever sends it.

        One report, or a few that are equal, would otherwise be said to be sure.
        """
        off = self.scores - self.value
        seen = (off.T * self.share) @ off / max(self.n - 1, 1)
        return np.asarray(seen + np.diag(np.maximum(self.least / self.n - np.diag(seen), 0.0)))

    def interval(self, level: float, target: Target, simultaneous: bool) -> Interval:
        """See `Part.interval`: the normal law's."""
        spread = np.sqrt(self.variance(target))
        ends = wald_interval(self.value, spread, level=level, target=target, simultaneous=simultaneous)
        notes = {**ends.notes, **noted(_WIDE, np.full(self.value.size, target == "reporters"))}
        return Interval(ends.low, ends.high, level, target, simultaneous, notes)
