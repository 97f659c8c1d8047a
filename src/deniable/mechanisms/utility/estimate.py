"""Estimates where some items are sensitive and the others may be disclosed: unbiased, linear in the counts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from deniable.core.intervals import Curve, Interval, curve_interval, drawn, joined, mixed, told_interval
from deniable.core.types import FloatArray, IntArray, Target
from deniable.estimate.evidence import DenseEvidence, Evidence, RowEvidence, redrawn
from deniable.estimate.result import Shares
from deniable.mechanisms.utility.laws import UtilityLaw
from deniable.randomness import Simulation

__all__ = ["BudgetsPart", "NoiseUtilityPart", "UtilityEvidence", "UtilityPart", "noise_square"]


@dataclass(frozen=True, slots=True, eq=False)
class UtilityPart(Shares):
    """Frequencies from support counts of the sensitive items and counts of disclosed harmless ones.

    c = (support share + credit (disclosed share) - q)/(p - q) for a sensitive item, (its disclosed share)/z for a
    harmless one [ULDP Eq. 21, with credit for what is disclosed alone].
    """

    sensitive: IntArray
    """Numbers of the sensitive items, in the order of `supported`."""
    harmless: IntArray
    """Numbers of the others, in the order of `disclosed`."""
    law: UtilityLaw[float]
    supported: FloatArray
    """Share of the reports that count as support of each sensitive item."""
    disclosed: FloatArray
    """Share of the reports that disclose each harmless item."""
    n: float
    extra: Callable[[FloatArray], FloatArray] | None = None
    """What third values add to the pair probabilities of sensitive items, as a function of their frequencies."""

    @property
    def theta(self) -> float:
        """Estimated share of people with a harmless item."""
        return float(self.disclosed.sum() / self.law.z) if self.law.z else 0.0

    @property
    def value(self) -> FloatArray:
        b, total = self.law.base, float(self.disclosed.sum())
        own = (self.supported + self.law.credit * total - b.q) / b.gap
        return self._join(own, self.disclosed / self.law.z if self.disclosed.size else self.disclosed)

    def variance(self, target: Target) -> FloatArray:
        """See `Part.variance`: for the reporters unbiased, and never negative (docs/maths/utility.md, section 3)."""
        law, value = self.law, self.value
        if target == "population":
            total, gap = float(self.disclosed.sum()), law.base.gap
            mean = self.supported + law.credit * total
            own = (self.supported + law.credit**2 * total - mean**2) / (gap * gap)
            rest = self.disclosed * (1 - self.disclosed) / law.z**2 if self.disclosed.size else self.disclosed
            return self._join(own, rest) / self.n
        own = law.variance_sensitive(value[self.sensitive], self.theta, self.n)
        return self._join(own, law.variance_harmless(value[self.harmless], self.n) if self.disclosed.size else own[:0])

    def covariance(self, target: Target) -> FloatArray:
        law, b, value, theta = self.law, self.law.base, self.value, self.theta
        f, rest = value[self.sensitive], value[self.harmless]
        pairs = f[:, None] + f[None, :]
        one, none = b.both_one - b.p * b.q, b.both_none - b.q * b.q
        a = law.credit
        harmless = law.both + 2 * a * law.paired + a * a * law.z - b.q * b.q
        joint = pairs * one + (1 - theta - pairs) * none + theta * harmless
        joint = joint + (self.extra(f) if self.extra is not None else 0.0)
        cross = np.outer(np.ones(f.size), rest) * (law.paired + a * law.z - b.q * law.z) / (b.gap * (law.z or 1.0))
        return self._matrix(target, joint / (b.gap * b.gap), cross)

    def _matrix(self, target: Target, own: FloatArray | float, cross: FloatArray | float) -> FloatArray:
        """The covariance matrix from n times that of sensitive items, and of those with harmless ones."""
        value = self.value
        matrix = np.zeros((value.size, value.size))
        matrix[np.ix_(self.sensitive, self.sensitive)] = own
        matrix[np.ix_(self.sensitive, self.harmless)] = cross
        matrix[np.ix_(self.harmless, self.sensitive)] = np.transpose(cross)
        matrix /= self.n
        if target == "population":
            matrix -= np.outer(value, value) / self.n
        np.fill_diagonal(matrix, self.variance(target))
        return matrix

    def interval(self, level: float, target: Target, simultaneous: bool) -> Interval:
        """See `Part.interval`: by counts for disclosed items, by score tests of the estimate for sensitive ones."""
        tests = self.sensitive.size + self.harmless.size if simultaneous else 1
        each = 1 - (1 - level) / tests
        curve = drawn(self._curve, self.n, target)
        own = curve_interval(self.value[self.sensitive], curve, level=each, target=target, n=self.n)
        if not self.disclosed.size:
            return replace(own, level=level, simultaneous=simultaneous)
        rest = told_interval(self.disclosed, self.law.z, self.n, level=each, target=target)
        return joined(level, simultaneous, (self.sensitive, own), (self.harmless, rest))

    @property
    def _curve(self) -> Curve:
        """The variance of sensitive items by their frequency; the share of harmless answers is as estimated."""
        b, f = self.law.base, np.clip(self.value[self.sensitive], 0, 1)
        theta = np.clip(self.theta, 0, 1 - f)
        own, scale = b.p * b.p_not, b.gap * b.gap
        mean = f * own + (1 - theta - f) * b.q * b.q_not + theta * self.law.spread
        return mixed(own / scale, mean / scale, f, self.n)

    def _join(self, own: FloatArray, rest: FloatArray) -> FloatArray:
        out = np.empty(self.sensitive.size + self.harmless.size)
        out[self.sensitive], out[self.harmless] = own, rest
        return out


@dataclass(frozen=True, slots=True, eq=False)
class NoiseUtilityPart(UtilityPart):
    """The same for a base that reports noisy vectors instead of supported items: sums over reports, divided by all n.

    Here the law's base has p = 1 and q = 0, r is the mean of a harmless report's coordinate, and `noise` is the
    variance of a coordinate of one report that is not disclosed [ULDP Eq. 30, with its sums over all n].
    """

    noise: float = 0.0

    @property
    def _curve(self) -> Curve:
        """See `UtilityPart._curve`: the same for all frequencies."""
        return ((1 - self.theta) * self.noise + self.theta * noise_square(self.law, self.noise)) / self.n, 0.0, 0.0

    def variance(self, target: Target) -> FloatArray:
        value = self.value
        own = np.full(self.sensitive.size, self._curve[0] * self.n)
        rest = self.law.variance_harmless(value[self.harmless]) if self.disclosed.size else self.disclosed
        spread = self._join(np.maximum(own, 0.0), rest)
        if target == "population":
            spread = np.maximum(spread + value * (1 - value), 0.0)
        return spread / self.n

    def covariance(self, target: Target) -> FloatArray:
        """See `Part.covariance`: noise is independent; only the credit and the drawn item tie items together."""
        law = self.law
        cross = np.outer(np.ones(self.sensitive.size), self.value[self.harmless]) * law.credit
        return self._matrix(target, self.theta * law.credit**2 * law.z, cross)


@dataclass(frozen=True, slots=True, eq=False)
class BudgetsPart(UtilityPart):
    """`UtilityPart` whose law has one entry per sensitive item, for independent bits.

    Credit q makes every bit of a report that is not the own one add 0 on average, disclosed or not: so no two
    estimates are correlated, the reporters being given.
    """

    def covariance(self, target: Target) -> FloatArray:
        return self._matrix(target, 0.0, 0.0)


def noise_square(law: UtilityLaw[float], noise: float) -> float:
    """Mean square of what a harmless report adds to a sensitive item: noise, the drawn item, or credit."""
    return (1 - law.z) * noise + law.r + law.credit**2 * law.z


@dataclass(frozen=True, slots=True, eq=False)
class UtilityEvidence:
    """Reports that disclose nothing, seen through their likelihood, and counts of disclosed items."""

    hidden: Evidence
    """Of all k items; a disclosed report is none of these."""
    disclosed: FloatArray
    """How many reports disclose each of the k items (0 for sensitive ones)."""
    complete: bool = field(default=False, init=False)

    @property
    def k(self) -> int:
        return self.hidden.k

    @property
    def n(self) -> int:
        return self.hidden.n + round(float(self.disclosed.sum()))

    def step(self, f: FloatArray) -> tuple[FloatArray, float]:
        """See `Evidence.step`: a disclosed item has the likelihood 1 given itself and 0 given any other."""
        seen = self.disclosed > 0
        own = np.divide(self.disclosed, f, out=np.zeros(self.k), where=seen)
        told = float(self.disclosed[seen] @ np.log(f[seen]))
        if not self.hidden.n:
            return own / self.n, told
        gain, loglik = self.hidden.step(f)
        return (self.hidden.n * gain + own) / self.n, loglik + told

    def information(self, f: FloatArray) -> FloatArray:
        own = np.divide(self.disclosed, f**2, out=np.zeros(self.k), where=self.disclosed > 0)
        return (self.hidden.information(f) if self.hidden.n else 0.0) + np.diag(own)

    def resampled(self, rng: Simulation) -> UtilityEvidence:
        counts = np.concatenate([[self.hidden.n], self.disclosed])
        drawn = rng.generator().multinomial(self.n, counts / counts.sum()).astype(np.float64)
        return replace(self, hidden=_thinned(self.hidden, int(drawn[0]), rng), disclosed=drawn[1:])


def _thinned(hidden: Evidence, n: int, rng: Simulation) -> Evidence:
    """`n` reports drawn from these with replacement."""
    if isinstance(hidden, RowEvidence):
        return replace(hidden, rows=replace(hidden.rows, weights=redrawn(hidden.rows.weights, n, rng)))
    assert isinstance(hidden, DenseEvidence)
    return replace(hidden, weights=redrawn(hidden.weights, n, rng))
