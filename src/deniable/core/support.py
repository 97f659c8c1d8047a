"""Support: the four numbers from which all of linear estimation follows.

A report *supports* a set of items. For item i: Pr[supports i | value i] = p, Pr[supports i | another value] = q;
for two items i and j: Pr[supports both | value i] = both_one, Pr[supports both | value neither] = both_none.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from fractions import Fraction
from numbers import Real
from typing import Any, Generic, TypeVar

import numpy as np

from deniable.core.types import FloatArray, Target
from deniable.errors import require

__all__ = ["Support", "check_n", "check_target", "mean_product"]

N = TypeVar("N", float, Fraction, FloatArray)


@dataclass(frozen=True, slots=True)
class Support(Generic[N]):
    """p and q with their differences, which the caller gives without cancellation, and the pair probabilities.

    Numbers may be floats (ideal or effective values), fractions (exact values of the integers that are sampled), or
    arrays: one entry per item, or per candidate design when a planner scans a family.
    """

    p: N
    q: N
    gap: N
    """p - q"""
    p_not: N
    """1 - p"""
    q_not: N
    """1 - q"""
    both_one: N
    both_none: N

    def map(self, f: Callable[[N], float]) -> Support[float]:
        """The same with every number converted, e.g. fractions to floats."""
        return Support(*(f(getattr(self, field.name)) for field in fields(self)))

    def unbias(self, share: Any) -> Any:
        """Frequencies from the share of reports that support each item [AdaptiveLDP Eq. 2]."""
        return (share - self.q) / self.gap

    def variance(self, f: Any, n: float, target: Target = "reporters") -> Any:
        """Variance of the unbiased estimate of frequency `f` from `n` reports [AdaptiveLDP Eq. 3].

        For the reporters their frequencies are fixed; for the population behind them f(1-f)/n is added.
        """
        check_target(target)
        noise = (f * self.p * self.p_not + (1 - f) * self.q * self.q_not) / (n * self.gap * self.gap)
        return noise if target == "reporters" else noise + f * (1 - f) / n

    def plug_in(self, share: Any, n: float, target: Target = "reporters") -> Any:
        """`variance` at the frequency that `share` estimates, written so that no share makes it negative.

        Proof: docs/maths/support.md, section 6.
        """
        check_target(target)
        noise = self.p * self.q * (1 - share) + self.p_not * self.q_not * share
        spread = noise if target == "reporters" else share * (1 - share)
        return spread / (n * self.gap * self.gap)

    def covariance(self, f: Any, n: float, target: Target = "reporters", extra: Any = 0.0) -> FloatArray:
        """Covariance matrix of the estimates at frequencies `f`; its diagonal is `variance`.

        `extra` is added to the probabilities of supporting both of a pair, where some third values change them.
        """
        one, none = self.both_one - self.p * self.q, self.both_none - self.q * self.q
        pairs = f[:, None] + f[None, :]
        joint = pairs * one + (1 - pairs) * none + extra
        matrix = np.asarray(joint / (n * self.gap * self.gap), dtype=np.float64)
        if target == "population":
            matrix -= np.outer(f, f) / n
        np.fill_diagonal(matrix, self.variance(f, n, target))
        return matrix

    def mse(self, k: Any, n: Any = 1) -> Any:
        """Variance averaged over the k items: exact, and the same for all frequencies, since they sum to 1."""
        return self.mse_approx(n) + (self.p_not - self.q) / (n * k * self.gap)

    def mse_approx(self, n: Any = 1) -> Any:
        """Variance of an item that nobody holds [AdaptiveLDP Eq. 4]."""
        return self.q * self.q_not / (n * self.gap * self.gap)


def check_n(n: float) -> float:
    """A number of reports to divide by."""
    good = isinstance(n, Real) and not isinstance(n, bool) and 0 < n < math.inf
    require(good, "n", n, "a number > 0", "It is the number of reports.")
    return float(n)


def check_target(target: str) -> None:
    """Refuse a target that is neither of the two."""
    require(target in ("reporters", "population"), "target", target, "'reporters' or 'population'")


def mean_product(x: Any, y: Any, both: Any, one: Any, two: Any) -> Any:
    """Mean product of two items' weights, x if supported and else y, from their chances and that of both."""
    return both * x * x + (one + two - 2 * both) * x * y + (1 - one - two + both) * y * y
