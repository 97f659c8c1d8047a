"""Personal levels where only some items are sensitive: what reports at hidden levels say, in closed form.

s items are sensitive, the others harmless; theta is the share of people whose item is harmless. At level i a sensitive
item is reported by a base mechanism on the s items, with p_i and q_i; a harmless one is disclosed with chance z_i, and
otherwise hidden by a blind report, which supports a given sensitive item with chance b_i, so that r_i = (1 - z_i) b_i.
A disclosed item counts as the fraction `credit` of a support for every sensitive item. Derivations:
docs/maths/personal.md, section 8.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from deniable.core.intervals import Curve
from deniable.core.laws import epsilon_to
from deniable.core.support import check_target
from deniable.core.types import FloatArray, Target
from deniable.errors import ParameterError, require
from deniable.mechanisms.personal.laws import UNCALIBRATED, Extra, LevelLaw, Linear, level_leakage
from deniable.mechanisms.utility.laws import null_law

__all__ = ["CAP_MAX", "UtilityLevelLaw", "ideal_law", "ideal_utility_guarantee"]

CAP_MAX = 50.0
"""A cap of e^50 on quotients of chances binds nothing: no threshold is below 2^-64."""


@dataclass(frozen=True, slots=True, eq=False)
class _Level:
    """One level's moments of the counts W: support plus credit for sensitive items, disclosure for harmless ones."""

    p: float
    q: float
    z: float
    r: float
    one: float
    """Chance to support two sensitive items, one of which is the own one."""
    none: float
    """... neither of which is."""
    blind: float
    """... for a harmless item, hidden."""


@dataclass(frozen=True, slots=True, eq=False)
class UtilityLevelLaw:
    """The law on the sensitive items by level, and for the harmless ones z_i, b_i, and b_i's for two items."""

    own: LevelLaw
    z: FloatArray
    blind: FloatArray
    blind_pair: FloatArray
    s: int

    def __post_init__(self) -> None:
        t = len(self.own.supports)
        for name in ("z", "blind", "blind_pair"):
            require(getattr(self, name).shape == (t,), name, getattr(self, name).shape, f"{t} numbers")

    @classmethod
    def of(cls, own: LevelLaw, z: FloatArray, blind: FloatArray, s: int) -> UtilityLevelLaw:
        """From the law on the s sensitive items: given a supported item, others are so as often in blind reports."""
        pair = np.array([each.both_one * b / each.p for each, b in zip(own.supports, blind.tolist(), strict=True)])
        return cls(own, z, blind, pair, s)

    def with_shares(self, shares: FloatArray) -> UtilityLevelLaw:
        """The same with other shares of the levels."""
        return replace(self, own=replace(self.own, shares=shares))

    @property
    def r(self) -> FloatArray:
        """Chance that a harmless item's report supports a given sensitive item, by level."""
        return np.asarray((1 - self.z) * self.blind)

    @property
    def common(self) -> bool:
        """Whether all levels disclose with one chance."""
        return bool(np.ptp(self.z) == 0)

    def features(self) -> FloatArray:
        """p, q, r and z, a row for each: what estimates blend."""
        return np.stack([self.own.of("p"), self.own.of("q"), self.r, self.z])

    def blended(self) -> FloatArray:
        """`features` under the shares of the levels."""
        return np.asarray(self.features() @ self.own.shares)

    @property
    def credit(self) -> float:
        """(q - r)/z of the blend."""
        _, q, r, z = self.blended().tolist()
        return float((q - r) / z)

    def levels(self) -> list[_Level]:
        """The levels' numbers."""
        found = []
        for i, (s, z, r) in enumerate(zip(self.own.supports, self.z.tolist(), self.r.tolist(), strict=True)):
            hidden = float((1 - z) * self.blind_pair[i])
            found.append(_Level(s.p, s.q, z, r, s.both_one, s.both_none, hidden))
        return found

    # ---- self-calibration

    def slopes(self, base: str, f: FloatArray, theta: float) -> FloatArray:
        """How the support of each sensitive item rises with what the levels' blend is not known of (q; for lh, p).

        `ParameterError` where the sum of the frequencies does not tell it.
        """
        if base in UNCALIBRATED:
            raise ParameterError(
                f"base {base} cannot be self-calibrated: each hidden report supports as many points whatever its "
                "level is.",
                "Estimate by the level reports (auem), or choose base sue, oue or lh.",
            )
        if not self.common:
            raise ParameterError(
                "self-calibration needs one chance of disclosure for all levels: the blended one is not known.",
                "Use disclosure='common', or estimate by the level reports (auem) or by fit().",
            )
        hidden = theta * (1 - float(self.z[0]))
        if base == "lh":
            return f.copy()
        if base == "oue":
            return np.asarray(1 - theta - f + hidden)
        require(self.s > 2 or theta > 0, "s", self.s, "at least 3 sensitive items for self-calibration of base sue")
        return np.asarray(1 - theta - 2 * f + hidden)

    # ---- moments

    def _mean(self, at: _Level, f: FloatArray, theta: float, credit: float) -> FloatArray:
        """Mean count of the sensitive items at a level."""
        return np.asarray(f * at.p + (1 - theta - f) * at.q + theta * (at.r + credit * at.z))

    def _square(self, at: _Level, f: FloatArray, theta: float, credit: float) -> FloatArray:
        return np.asarray(f * at.p + (1 - theta - f) * at.q + theta * (at.r + credit**2 * at.z))

    def noise(self) -> FloatArray:
        """Mean over the levels of the covariance of the unbiased features of a reported level, given the level."""
        if len(self.own.supports) == 1:
            return np.zeros((4, 4))
        told = [self.own.unbiased(row) for row in self.features()]
        return np.array([[self.own.spread(one, two) for two in told] for one in told])

    def variances(
        self, method: Linear, base: str, f: FloatArray, rest: FloatArray, n: float, target: Target
    ) -> tuple[FloatArray, FloatArray]:
        """First-order variances of sensitive items with frequencies f and harmless ones with `rest`; levels drawn."""
        check_target(target)
        theta, a = float(rest.sum()), self.credit
        p, q, _, z = self.blended().tolist()
        gap = p - q
        own, other = np.zeros(f.size), np.zeros(rest.size)
        slope = self._calibrated(base, f, theta) if method == "self" else np.zeros(f.size)
        for share, at in zip(self.own.shares.tolist(), self.levels(), strict=True):
            own += share * self._sensitive(at, f, theta, a, slope, gap / z)
            other += share * (rest * at.z - (rest * at.z) ** 2)
        if method == "auem":
            noise = self.noise()
            turn = np.stack([f, 1 - theta - f, np.full(f.size, theta), np.full(f.size, theta * a)])
            own += np.einsum("ax,ab,bx->x", turn, noise, turn)
            other += rest**2 * noise[3, 3]
        own, other = own / gap**2, other / z**2
        if target == "reporters":
            own, other = own - f * (1 - f), other - rest * (1 - rest)
        return own / n, other / n

    def curves(self, method: Linear, theta: float, n: float, target: Target) -> tuple[Curve, Curve]:
        """`variances` by `auem` as polynomials of an item's frequency, of either kind; for `self` see `LevelLaw`."""
        p, q, _, z = self.blended().tolist()
        noise = self.noise() if method == "auem" else np.zeros((4, 4))
        at, a, flat = np.array([0.0, 0.5, 1.0]), self.credit, np.ones(3)
        turn = np.stack([at, 1 - theta - at, theta * flat, theta * a * flat])
        own = np.einsum("ax,ab,bx->x", turn, noise, turn)
        for share, level in zip(self.own.shares.tolist(), self.levels(), strict=True):
            own += share * (self._square(level, at, theta, a) - self._mean(level, at, theta, a) ** 2)
        own = (own / (p - q) ** 2 - (at * (1 - at) if target == "reporters" else 0.0)) / n
        bend = 2 * (own[0] - 2 * own[1] + own[2])
        less = 1.0 if target == "reporters" else 0.0
        square = (float(noise[3, 3]) - float(self.own.shares @ self.z**2)) / z**2
        return (own[0], own[2] - own[0] - bend, bend), (0.0, (1 / z - less) / n, (square + less) / n)

    def _calibrated(self, base: str, f: FloatArray, theta: float) -> FloatArray:
        slope = self.slopes(base, f, theta)
        return np.asarray(slope / slope.sum())

    def _sensitive(
        self, at: _Level, f: FloatArray, theta: float, a: float, slope: FloatArray, each: float
    ) -> FloatArray:
        """Variance at a level of W_x - slope_x U, U being the sum of the W plus `each` times the disclosed."""
        square, mean = self._square(at, f, theta, a), self._mean(at, f, theta, a)
        found = square - mean**2
        if not slope.any():
            return np.asarray(found)
        s, t = f.size, 1 - theta
        pair = at.blind + a * a * at.z
        row = square + ((s - 2) * f + t) * at.one + (s - 2) * (t - f) * at.none + (s - 1) * theta * pair
        told = theta * at.z
        total = float(mean.sum()) + each * told
        cross = row + each * a * told - mean * total
        whole = float(row.sum()) + 2 * each * s * a * told + each**2 * told - total**2
        return np.asarray(found - 2 * slope * cross + slope**2 * whole)

    def covariance(
        self, method: Linear, base: str, f: FloatArray, rest: FloatArray, n: float, target: Target, extra: Extra = None
    ) -> FloatArray:
        """First-order covariance matrix, sensitive items first; its diagonal is `variances`."""
        check_target(target)
        theta, a, s = float(rest.sum()), self.credit, f.size
        p, q, _, z = self.blended().tolist()
        gap, size = p - q, f.size + rest.size
        joint = np.zeros((size, size))
        for share, at, support in zip(self.own.shares.tolist(), self.levels(), self.own.supports, strict=True):
            joint += share * self._joint(at, f, rest, a)
            if extra is not None:
                joint[:s, :s] += share * extra(f, support)
        if method == "self":
            turn = np.eye(size)
            slope = self._calibrated(base, f, theta)
            turn[:s, :s] -= slope[:, None]
            turn[:s, s:] -= slope[:, None] * (gap / z)
            joint = turn @ joint @ turn.T
        else:
            own = np.stack([f, 1 - theta - f, np.full(s, theta), np.full(s, theta * a)], axis=1)
            other = np.stack([np.zeros(rest.size)] * 3 + [rest], axis=1)
            turn = np.concatenate([own, other])
            joint += turn @ self.noise() @ turn.T
        scale = np.concatenate([np.full(s, gap), np.full(rest.size, z)])
        joint /= np.outer(scale, scale)
        if target == "reporters":
            every = np.concatenate([f, rest])
            joint -= np.diag(every) - np.outer(every, every)
        return np.asarray(joint / n)

    def _joint(self, at: _Level, f: FloatArray, rest: FloatArray, a: float) -> FloatArray:
        """Covariance of the counts W of one report at a level, values drawn."""
        theta, s = float(rest.sum()), f.size
        pairs = f[:, None] + f[None, :]
        joint = np.zeros((s + rest.size, s + rest.size))
        joint[:s, :s] = pairs * at.one + (1 - theta - pairs) * at.none + theta * (at.blind + a * a * at.z)
        joint[:s, s:] = a * rest * at.z
        joint[s:, :s] = joint[:s, s:].T
        np.fill_diagonal(joint, np.concatenate([self._square(at, f, theta, a), rest * at.z]))
        mean = np.concatenate([self._mean(at, f, theta, a), rest * at.z])
        return np.asarray(joint - np.outer(mean, mean))


def ideal_law(
    own: LevelLaw, base: str, levels: Sequence[float], s: int, one_in: float | None, disclosure: str
) -> UtilityLevelLaw:
    """The ideal law, from that of the base on the s sensitive items; `one_in` as in `LevelMechanism`."""
    z = np.array([null_law(each, *epsilon_to(e)).z for each, e in zip(own.supports, levels, strict=True)])
    if disclosure == "common":
        z = np.full(z.size, z.min())
    elif disclosure == "capped":
        z = np.minimum(z, z.min() * math.exp(min(level_leakage(base, levels, s, one_in), CAP_MAX)))
    share = 1 / s if base == "grr" else one_in and 1 / one_in
    blind = own.of("q") if share is None else np.full(z.size, share)
    return UtilityLevelLaw.of(own, z, blind, s)


def ideal_utility_guarantee(
    law: UtilityLevelLaw, base: str, levels: Sequence[float], one_in: float | None, level_epsilon: float
) -> dict[str, Any]:
    """What a report promises for ideal parameters, by the names of `LevelMechanism.guarantee`: upper bounds."""
    z, s = law.z, law.s
    seen, open_ = level_leakage(base, levels, s, one_in), math.log(z.max() / z.min())
    bits = {"sue": seen, "oue": s * level_leakage("oue", levels, 2)}.get(base, 0.0)
    top = law.own.supports[-1]  # at the largest level; 1 - z = 1 - p + p/e where z = p (1 - 1/e) is all of it
    least = max(1 - float(z[-1]), top.p_not + top.p * epsilon_to(levels[-1])[0])
    leak = max(seen, open_, math.log((1 - float(z[0])) / least) + bits)
    return {
        "data": levels[-1],
        "data_by_level": list(levels),
        "level_report": level_epsilon,
        "leakage": leak,
        "disclosure": open_,
        "level": level_epsilon + leak,
        "pair": level_epsilon + leak + levels[-1],
        "method": "ideal parameters; level and pair are upper bounds",
    }
