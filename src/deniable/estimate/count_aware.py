"""Linear estimation that knows how many items a report supports: each report weighs by that number.

Given its number m of ones a unary report is a subset-selection report of size m [AdaptiveLDP Sec. IV-B, IV-C], and few
ones say more about an item than many. The usual estimator treats all alike; this one is unbiased, too, and its error
is smaller for every population. Proofs: docs/maths/likelihood.md, section 6.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.core.laws import subset
from deniable.core.support import mean_product
from deniable.core.types import FloatArray
from deniable.estimate.evidence import PackedRows
from deniable.estimate.moments import MomentsPart

__all__ = ["CountAware", "independent_sizes"]


def independent_sizes(k: int, p: float, q: float) -> FloatArray:
    """Law of the number of ones among k independent bits: one with probability p, the others with q.

    >>> independent_sizes(2, 0.5, 0.25).tolist()
    [0.375, 0.5, 0.125]
    """
    from scipy.special import gammaln, xlog1py, xlogy

    m = np.arange(k)
    others = np.exp(gammaln(k) - gammaln(m + 1) - gammaln(k - m) + xlogy(m, q) + xlog1py(k - 1 - m, -q))
    others /= others.sum()
    return np.asarray(np.append((1 - p) * others, 0.0) + np.append(0.0, p * others))


@dataclass(frozen=True, slots=True, eq=False)
class CountAware:
    """The estimator for reports that, given their size, are subset-selection reports with these `odds`.

    Size m has probability law[m], whatever the value is. Item i gets from report j the weight 1/k + (L_j(i) - 1)/a,
    where L is a likelihood relative to its mean over the values, and a the information.
    """

    odds: float
    law: FloatArray
    """Probabilities of sizes 0..k."""

    @property
    def k(self) -> int:
        """Number of values."""
        return len(self.law) - 1

    @property
    def _low(self) -> FloatArray:
        """L of a value outside a set of each size: k/D_m, D_m = m odds + k - m. Inside it is `odds` times that."""
        m = np.arange(self.k + 1)
        return self.k / (m * self.odds + self.k - m)

    @property
    def information(self) -> float:
        """a = sum_m law_m (k/(k-1)) m(k-m)(odds-1)^2/D_m^2: what one report says, from 0 to k."""
        m = np.arange(self.k + 1)
        return float(self.law @ (m * (self.k - m) * ((self.odds - 1) * self._low) ** 2) / (self.k * (self.k - 1)))

    def mse(self, n: float = 1) -> float:
        """Exact average MSE from n reports, the same for every population: ((k-1)/k)(1/a - 1/k)/n."""
        return (self.k - 1) / self.k * (1 / self.information - 1 / self.k) / n

    def estimate(self, rows: PackedRows) -> MomentsPart:
        """Unbiased frequencies with exact second moments and score intervals."""
        n, a = float(rows.weights.sum()), self.information
        low = self._low[rows.sizes()] * rows.weights
        total = low.sum() + (self.odds - 1) * rows.by_item(low)
        return MomentsPart(1 / self.k + (total / n - 1) / a, *self._moments(), round(n))

    def _moments(self) -> tuple[float, float, float, float]:
        """Variance of an item's weight given that it is held and that it is not; covariances alike."""
        k, a = self.k, self.information
        given: Any = subset(1 / self.odds, 1 - 1 / self.odds, k, np.arange(k + 1))
        x, y = self.odds * self._low - 1, self._low - 1
        mean, rest = 1 - 1 / k, -1 / k

        def spread(both: FloatArray, one: FloatArray, two: FloatArray, about: float) -> float:
            return float(self.law @ mean_product(x, y, both, one, two)) / a**2 - about

        return (
            spread(given.p, given.p, given.p, mean**2),
            spread(given.q, given.q, given.q, rest**2),
            spread(given.both_one, given.p, given.q, mean * rest),
            spread(given.both_none, given.q, given.q, rest**2) if k > 2 else 0.0,
        )
