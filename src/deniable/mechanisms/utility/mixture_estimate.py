"""The estimator of the ULDP optimum: weights by the size of the reported set (docs/maths/utility.md, section 5)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from deniable.core.intervals import Curve, Interval, curve_interval, drawn, mixed, noted, told_interval
from deniable.core.laws import subset
from deniable.core.support import Support
from deniable.core.types import BoolArray, FloatArray, IntArray, Target
from deniable.estimate.result import Shares
from deniable.estimate.simplex import project_simplex

__all__ = ["MixtureLaw", "MixtureUtilityPart"]


@dataclass(frozen=True, slots=True)
class MixtureLaw:
    """Weights of the estimator, made for theta0, and the chances of what is reported.

    A set T of size K adds slope_K([i in T] - K/s) + base_K to sensitive item i and side_K to every harmless item; a
    disclosed item adds base_I to every sensitive one, side_I to every harmless one, and 1/z to itself.
    """

    s: int
    m: int
    sizes: tuple[int, int]
    chance: tuple[float, float]
    """Of each size."""
    told: tuple[float, float]
    """Chance of disclosing, given the size."""
    supports: tuple[Support[float], Support[float]]
    slope: tuple[float, float]
    tau: tuple[float, float, float]
    """What a report of each size, and one that discloses, adds to the estimate of theta."""

    @classmethod
    def of(cls, size: int, share: float, s: int, m: int, theta: float, w: float, v: float) -> MixtureLaw:
        """From the sizes size and size + 1, the latter with chance `share`, at theta0 = theta."""
        sizes, chance = (size, size + 1), (1 - share, share)
        gain = [k * v / s for k in sizes]
        u = [w + g for g in gain]
        e = [(1 - theta) * x + theta * w for x in u]
        contrast = sum(c * (s / (s - 1)) * g * (1 - x) / (x * y) for c, g, x, y in zip(chance, gain, u, e, strict=True))
        total = sum(c * g / y for c, g, y in zip(chance, gain, e, strict=True))
        slope = [v / (y * contrast) for y in e]
        tau = [theta * (1 - g / y / total) for g, y in zip(gain, e, strict=True)]
        law = [subset(w, v, s, k) if k < s else _EVERY for k in sizes]
        told = (gain[0] / u[0], gain[1] / u[1])
        weights = (slope[0], slope[1]), (tau[0], tau[1], theta + 1 / total)
        return cls(s, m, sizes, chance, told, (law[0], law[1]), *weights)

    @property
    def z(self) -> float:
        """Chance that a harmless item is disclosed."""
        return sum(c * t for c, t in zip(self.chance, self.told, strict=True))

    @property
    def hidden(self) -> tuple[float, float]:
        """Chance that a harmless item leads to a set of each size."""
        one, two = (c * (1 - t) for c, t in zip(self.chance, self.told, strict=True))
        return one, two

    @property
    def base(self) -> tuple[float, float, float]:
        """What each kind of report adds to every sensitive item."""
        one, two, told = ((1 - t) / self.s for t in self.tau)
        return one, two, told

    @property
    def side(self) -> tuple[float, float, float]:
        """What each kind of report adds to every harmless item."""
        return self.tau[0] / self.m, self.tau[1] / self.m, (self.tau[2] - 1 / self.z) / self.m

    def theta_hat(self, n: IntArray) -> float:
        """Estimated share of harmless answers from the number of reports of each kind."""
        return float(np.dot(n, self.tau) / n.sum())

    def estimate(self, n: IntArray, support: IntArray, disclosed: IntArray) -> tuple[FloatArray, FloatArray]:
        """Frequencies of the sensitive and of the harmless items."""
        total = float(n.sum())
        own = np.full(self.s, float(np.dot(n, self.base)))
        for slope, size, count, hits in zip(self.slope, self.sizes, n[:2], support, strict=True):
            own += slope * (hits - count * size / self.s)
        rest = disclosed / self.z + float(np.dot(n, self.side))
        return own / total, rest / total

    def second(self, f: FloatArray, g: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Mean products of one report's weights: sensitive pairs, sensitive with harmless, harmless pairs.

        `f` and `g` are the frequencies of the sensitive and of the harmless items.
        """
        s, theta, t = self.s, float(g.sum()), float(f.sum())
        own, cross, rest = np.zeros((s, s)), np.zeros((s, self.m)), np.zeros((self.m, self.m))
        pairs = f[:, None] + f[None, :]
        for i, (k, law) in enumerate(zip(self.sizes, self.supports, strict=True)):
            a, b, d, share = self.slope[i], self.base[i], self.side[i], k / s
            mean = self._mean(i, f)
            both = pairs * law.both_one + (t - pairs) * law.both_none
            member = mean + t * share
            centred = both - share * (member[:, None] + member[None, :]) + share * share * t
            own += self.chance[i] * (a * a * centred + a * b * (mean[:, None] + mean[None, :]) + b * b * t)
            cross += self.chance[i] * d * (a * mean + b * t)[:, None]
            rest += self.chance[i] * d * d * t
            own += theta * self.hidden[i] * (a * a * (k * (k - 1) / (s * (s - 1)) - share * share) + b * b)
            cross += theta * self.hidden[i] * b * d
            rest += theta * self.hidden[i] * d * d
        b, d, z = self.base[2], self.side[2], self.z
        own += theta * z * b * b
        cross += theta * z * b * d + b * g[None, :]
        rest += theta * z * d * d + d * (g[:, None] + g[None, :])
        for matrix, squares in zip((own, rest), self.squares(f, g), strict=True):
            np.fill_diagonal(matrix, squares)
        return own, cross, rest

    def squares(self, f: FloatArray, g: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean squares of one report's weights, of every sensitive and of every harmless item: `second`'s diagonals."""
        s, theta, t = self.s, float(g.sum()), float(f.sum())
        own, rest = np.zeros(s), np.zeros(self.m)
        for i, (k, law) in enumerate(zip(self.sizes, self.supports, strict=True)):
            a, b, d, share = self.slope[i], self.base[i], self.side[i], k / s
            mean = self._mean(i, f)
            centred = f * law.p + (t - f) * law.q - 2 * share * (mean + t * share) + share * share * t
            own += self.chance[i] * (a * a * centred + 2 * a * b * mean + b * b * t)
            own += theta * self.hidden[i] * (a * a * share * (1 - share) + b * b)
            rest += d * d * (self.chance[i] * t + theta * self.hidden[i])
        b, d, z = self.base[2], self.side[2], self.z
        return own + theta * z * b * b, rest + theta * z * d * d + 2 * d * g + g / z

    def _mean(self, i: int, f: FloatArray) -> FloatArray:
        """Mean of a sensitive item's support by sets of size i that people with sensitive items send, centred."""
        law, t = self.supports[i], float(f.sum())
        return np.asarray(t * law.q + f * (law.p - law.q) - t * self.sizes[i] / self.s)

    def mse_sum(self, theta: float) -> float:
        """n MSE summed over all items, for a population with this share of harmless items (uniform: any gives this)."""
        own, rest = self.squares(np.full(self.s, (1 - theta) / self.s), np.full(self.m, theta / self.m))
        return float(own.sum() + rest.sum() - 1)


_EVERY: Support[float] = Support(1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0)
"""The set of all sensitive items."""


@dataclass(frozen=True, slots=True, eq=False)
class MixtureUtilityPart(Shares):
    """Frequencies by the weights of a `MixtureLaw`."""

    sensitive: IntArray
    harmless: IntArray
    law: MixtureLaw
    own: FloatArray
    rest: FloatArray
    n: float
    disclosed: FloatArray | None = None
    """Share of the reports that disclose each harmless item, where there are reports."""

    @property
    def value(self) -> FloatArray:
        out = np.empty(self.sensitive.size + self.harmless.size)
        out[self.sensitive], out[self.harmless] = self.own, self.rest
        return out

    def variance(self, target: Target) -> FloatArray:
        """See `Part.variance`: at the estimated frequencies; 0 where that would be negative."""
        own, rest = self.law.squares(self.own, self.rest)
        value = self.value
        squares = np.empty(value.size)
        squares[self.sensitive], squares[self.harmless] = own, rest
        return np.maximum((squares - (value**2 if target == "population" else value)) / self.n, 0.0)

    def covariance(self, target: Target) -> FloatArray:
        matrix = self._matrix(target)
        np.fill_diagonal(matrix, self.variance(target))
        return matrix

    def _matrix(self, target: Target) -> FloatArray:
        own, cross, rest = self.law.second(self.own, self.rest)
        value = self.value
        matrix = np.empty((value.size, value.size))
        matrix[np.ix_(self.sensitive, self.sensitive)] = own
        matrix[np.ix_(self.sensitive, self.harmless)] = cross
        matrix[np.ix_(self.harmless, self.sensitive)] = cross.T
        matrix[np.ix_(self.harmless, self.harmless)] = rest
        return np.asarray((matrix - (np.outer(value, value) if target == "population" else np.diag(value))) / self.n)

    def interval(self, level: float, target: Target, simultaneous: bool) -> Interval:
        """See `Part.interval`: the score test's variance at a frequency, the others being in their proportion.

        Harmless items that few reports disclose: joined with the interval of these reports alone, which is exact.
        """
        curve, size = drawn(self._curve, self.n, target), self.sensitive.size + self.harmless.size
        ends = curve_interval(self.value, curve, level=level, target=target, simultaneous=simultaneous, n=self.n)
        if self.disclosed is None:
            return ends
        each = 1 - (1 - level) / (size if simultaneous else 1)
        told = told_interval(self.disclosed, self.law.z, self.n, level=each, target=target)
        low, high, exact = ends.low.copy(), ends.high.copy(), np.zeros(size, np.bool_)
        notes: dict[str, BoolArray] = {}
        for text, few in told.notes.items():
            items = self.harmless[few]
            low[items], high[items] = np.minimum(low[items], told.low[few]), np.maximum(high[items], told.high[few])
            exact[items] = True
            notes |= noted(text, exact)
        for text, about in ends.notes.items():
            notes |= noted(text, about & ~exact)
        return replace(ends, low=low, high=high, notes=notes)

    @property
    def _curve(self) -> Curve:
        f = project_simplex(self.value)
        own, rest = self.law.squares(f[self.sensitive], f[self.harmless])
        first, none = np.eye(1, self.sensitive.size)[0], np.zeros(self.harmless.size)
        held = np.empty(f.size)
        held[self.sensitive] = self.law.squares(first, none)[0][0]
        first, none = np.eye(1, self.harmless.size)[0], np.zeros(self.sensitive.size)
        held[self.harmless] = self.law.squares(none, first)[1][0]
        mean = np.empty(f.size)
        mean[self.sensitive], mean[self.harmless] = own, rest
        return mixed(held - 1, mean - f, f, self.n)
