"""The unbiased linear estimator of support mechanisms."""

from __future__ import annotations

from dataclasses import dataclass

from deniable.collect.tally import Tally
from deniable.core.intervals import Interval, score_interval
from deniable.core.support import Support
from deniable.core.types import FloatArray, Target
from deniable.errors import require

__all__ = ["SupportPart", "linear_frequencies"]


@dataclass(frozen=True, slots=True, eq=False)
class SupportPart:
    """Frequencies estimated from support counts: unbiased, with exact variances and score intervals."""

    share: FloatArray
    """Share of the reports that support each item."""
    support: Support[float]
    n: int

    @property
    def value(self) -> FloatArray:
        """See `Part.value`."""
        value: FloatArray = self.support.unbias(self.share)
        return value

    def variance(self, target: Target) -> FloatArray:
        """See `Part.variance`. Linear in the frequency, hence itself unbiased, and never negative."""
        value: FloatArray = self.support.variance(self.value, self.n, target)
        return value

    def covariance(self, target: Target) -> FloatArray:
        """See `Part.covariance`."""
        return self.support.covariance(self.value, self.n, target)

    def interval(self, level: float, target: Target, simultaneous: bool) -> Interval:
        """See `Part.interval`."""
        return score_interval(self.share, self.support, self.n, level=level, target=target, simultaneous=simultaneous)


def linear_frequencies(tally: Tally, support: Support[float]) -> SupportPart:
    """Frequencies from the cells `n` and `support` of a tally with one stratum [AdaptiveLDP Eq. 2]."""
    require(tally.n > 0, "tally", "no reports", "a tally of at least one report", "Empty data have no estimate.")
    return SupportPart(tally.cells["support"][0] / tally.n, support, tally.n)
