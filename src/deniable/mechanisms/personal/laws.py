"""Personalised levels: what reports at hidden levels say, in closed form [PLDP].

A person at level i supports the own item with p_i and another one with q_i, d_i = p_i - q_i; rho_i is the share of the
people at level i, and the noisy level r has the chance channel[i, r]. Derivations: docs/maths/personal.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from deniable.core.intervals import Curve
from deniable.core.laws import epsilon_to, response
from deniable.core.support import Support, check_target
from deniable.core.types import FloatArray, Target
from deniable.errors import ParameterError, require

__all__ = [
    "UNCALIBRATED",
    "LevelLaw",
    "Linear",
    "Moments",
    "calibration_slope",
    "common_range",
    "ideal_channel",
    "ideal_guarantee",
    "leak_warning",
    "level_leakage",
    "pair_bound",
    "places",
]

Linear: TypeAlias = Literal["auem", "self"]
"""By the level report [PLDP Sec. 5.2], or self-calibrated: by the sum of the frequencies alone."""
UNCALIBRATED = ("grr", "affine")
"""Bases whose reports all support as many points, whatever their level is: their sum does not tell how p is blended."""
Extra: TypeAlias = Callable[[FloatArray, Support[float]], FloatArray] | None
"""What third values add to `both_none` of each pair of items, where they are not all alike (`extra_pairs`)."""


@dataclass(frozen=True, slots=True)
class Moments:
    """First-order variances of one item's estimate, and its second-order bias; data and levels fixed unless said."""

    data: float
    level: float
    fixed: float
    random_levels: float
    """Data fixed, levels drawn."""
    iid: float
    """Both drawn."""
    bias: float


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """Reports by reported level: their share, their blended p and q, and the best weights of their estimates."""

    share: FloatArray
    p: FloatArray
    q: FloatArray
    weights: FloatArray
    variance: float
    """Of the best combination, data and levels drawn."""


@dataclass(frozen=True, slots=True, eq=False)
class LevelLaw:
    """Support by level, shares of the levels, and the level channel (one column if nothing is sent)."""

    supports: tuple[Support[float], ...]
    shares: FloatArray
    channel: FloatArray

    def __post_init__(self) -> None:
        t = len(self.supports)
        require(self.shares.shape == (t,), "shares", self.shares.shape, f"{t} numbers, one for each level")
        require(self.channel.shape[0] == t, "channel", self.channel.shape, f"a row for each of {t} levels")

    def of(self, name: str) -> FloatArray:
        """A number of the supports, by level."""
        return np.array([getattr(support, name) for support in self.supports])

    @property
    def p(self) -> float:
        """Blended chance that the own item is supported."""
        return float(self.shares @ self.of("p"))

    @property
    def q(self) -> float:
        """Blended chance that another item is supported."""
        return float(self.shares @ self.of("q"))

    @property
    def gap(self) -> float:
        """Their difference: what an estimate divides by."""
        return float(self.shares @ self.of("gap"))

    def mixed(self) -> Support[float]:
        """Support of a report whose sender is at one of the levels, nobody knowing at which: by their shares."""
        p, q, gap, p_not, q_not = (float(self.shares @ self.of(name)) for name in ("p", "q", "gap", "p_not", "q_not"))
        both = (float(self.shares @ self.of(name)) for name in ("both_one", "both_none"))
        return Support(p, q, gap, p_not, q_not, *both)

    # ---- the level report

    @property
    def reported(self) -> bool:
        """Whether reports tell anything about the level."""
        return bool(self.channel.shape[1] > 1)

    def unbiased(self, values: FloatArray) -> FloatArray:
        """Numbers for the reported levels whose mean given level i is values[i].

        For a response over the levels [PLDP Eq. 4]; for one bit, where `values` must be linear in its chances.
        """
        t, outputs = self.channel.shape
        if t == 1:
            return values.copy()
        if not self.reported:
            raise ParameterError("the shares of the levels are not known: no level is reported.")
        if outputs == t:
            keep, flip = self.channel[0, 0], self.channel[0, 1]
            return np.asarray((values - flip * values.sum()) / (keep - flip))
        chance = self.channel[:, 1]
        low, high = int(chance.argmin()), int(chance.argmax())
        slope = (values[high] - values[low]) / (chance[high] - chance[low])
        start = values[low] - slope * chance[low]
        return np.array([start, start + slope])

    def spread(self, one: FloatArray, two: FloatArray) -> float:
        """Mean over the levels of the covariance, given the level, of two unbiased numbers of the reported level."""
        if len(self.supports) == 1:
            return 0.0
        one, two = (values - values.mean() for values in (one, two))
        means = (self.channel @ one) * (self.channel @ two)
        return float(self.shares @ (self.channel @ (one * two) - means))

    def level_spread(self) -> tuple[float, float, float]:
        """`spread` of q with itself, of q with d, and of d with itself, for one report."""
        q, d = self.unbiased(self.of("q")), self.unbiased(self.of("gap"))
        return self.spread(q, q), self.spread(q, d), self.spread(d, d)

    def gap_error(self, n: float) -> float:
        """Standard error of the estimated `gap`: the guard of estimates that divide by it."""
        return math.sqrt(self.level_spread()[2] / n)

    # ---- moments

    @property
    def _gap_variance(self) -> float:
        """Variance of d over the levels."""
        d = self.of("gap")
        return float(self.shares @ (d - self.gap) ** 2)

    def bits(self, f: float) -> float:
        """Variance of one report's support of an item of frequency f, data and levels fixed."""
        p, q = self.of("p") * self.of("p_not"), self.of("q") * self.of("q_not")
        return float(self.shares @ (f * p + (1 - f) * q))

    def auem(self, f: float, n: float) -> Moments:
        """The estimate by reported levels, f^ = (C - Q^)/(P^ - Q^) [PLDP Sec. 5.2; replaces PLDP Theorem 5.3]."""
        qq, qd, dd = self.level_spread()
        scale = n * self.gap**2
        data, level = self.bits(f) / scale, (qq + 2 * f * qd + f * f * dd) / scale
        return self._moments(data, level, f, scale, (qd + f * dd) / scale)

    def self_calibrated(self, base: str, k: int, f: float, n: float) -> Moments:
        """The estimate whose p and q come from the sum of all support, which the frequencies' sum fixes."""
        c = float(calibration_slope(base, k, np.array([f]))[0])
        own = float(self.shares @ (self.of("p") * self.of("p_not")))
        other = float(self.shares @ (self.of("q") * self.of("q_not")))
        held = (1 - c) ** 2 * own + (k - 1) * c * c * other
        not_held = (1 - c) ** 2 * other + c * c * own + (k - 2) * c * c * other
        scale = n * self.gap**2
        return self._moments((f * held + (1 - f) * not_held) / scale, 0.0, f, scale, 0.0)

    def moments(self, method: str, base: str, k: int, f: float, n: float) -> Moments:
        """Of the estimate by the level reports, or self-calibrated."""
        return self.auem(f, n) if method == "auem" else self.self_calibrated(base, k, f, n)

    def _moments(self, data: float, level: float, f: float, scale: float, bias: float) -> Moments:
        fixed, own = data + level, f * (1 - f) / scale
        spread = self._gap_variance
        drawn = fixed + own * spread
        return Moments(data, level, fixed, drawn, drawn + own * self.gap**2, bias)

    def known_shares(self, f: float, n: float) -> float:
        """Variance of the estimate with the true shares [PLDP Eq. 3], data and levels drawn."""
        a = self.q + f * self.gap
        return a * (1 - a) / (n * self.gap**2)

    def covariance(
        self, method: Linear, base: str, f: FloatArray, n: float, target: Target, extra: Extra = None
    ) -> FloatArray:
        """First-order covariance matrix of all items' estimates; levels drawn."""
        check_target(target)
        pairs = f[:, None] + f[None, :]
        joint = np.zeros((f.size, f.size))
        for share, s in zip(self.shares.tolist(), self.supports, strict=True):
            one, none = s.both_one - s.p * s.q, s.both_none - s.q * s.q
            part = pairs * one + (1 - pairs) * none
            if extra is not None:
                part += extra(f, s)
            np.fill_diagonal(part, f * s.p * s.p_not + (1 - f) * s.q * s.q_not)
            joint += share * part
        if method == "self":
            turn = np.eye(f.size) - np.outer(calibration_slope(base, f.size, f), np.ones(f.size))
            joint = turn @ joint @ turn.T
        else:
            qq, qd, dd = self.level_spread()
            joint += qq + pairs * qd + np.outer(f, f) * dd
        own = self._gap_variance + (self.gap**2 if target == "population" else 0.0)
        return np.asarray((joint + own * (np.diag(f) - np.outer(f, f))) / (n * self.gap**2))

    def curve(self, method: Linear, base: str, k: int, n: float, target: Target) -> Curve:
        """The variance of `moments`, levels drawn, as a polynomial of the item's frequency: through 0, 1/2 and 1.

        By the level reports it is just that; self-calibrated nearly so.
        """
        found = [self.moments(method, base, k, f, n) for f in (0.0, 0.5, 1.0)]
        low, middle, high = (m.iid if target == "population" else m.random_levels for m in found)
        bend = 2 * (low - 2 * middle + high)
        return low, high - low - bend, bend

    # ---- groups

    def posterior(self) -> tuple[FloatArray, FloatArray]:
        """Share of each reported level, and the chances of the true levels given it (a row for each)."""
        joint = (self.shares[:, None] * self.channel).T
        share = joint.sum(axis=1)
        return share, joint / share[:, None]

    def groups(self, f: float, n: float) -> Groups:
        """Estimates by reported level, combined with the least variance at frequency f, the shares being known."""
        share, chance = self.posterior()
        p, q, gap = (chance @ self.of(name) for name in ("p", "q", "gap"))
        a = q + f * gap
        precision = n * share * gap**2 / (a * (1 - a))
        return Groups(share, p, q, precision / precision.sum(), float(1 / precision.sum()))

    def public(self) -> LevelLaw:
        """The same with levels that everyone sees."""
        return LevelLaw(self.supports, self.shares, np.eye(len(self.supports)))


def places(told: Sequence[float]) -> list[float]:
    """Where the levels' numbers lie in their range, from -1 to 1."""
    middle, half = (max(told) + min(told)) / 2, (max(told) - min(told)) / 2
    return [min(1.0, max(-1.0, (value - middle) / half)) for value in told]


def ideal_channel(level_report: str, level_epsilon: float | None, told: Sequence[float]) -> FloatArray:
    """Chances of the level reports, a row for each level; `told` are the numbers whose mean one bit is to tell."""
    t = len(told)
    if level_epsilon is None:
        return np.ones((t, 1))
    if level_report == "bit":
        steep = math.tanh(level_epsilon / 2) / 2
        return np.array([[0.5 - place * steep, 0.5 + place * steep] for place in places(told)])
    law = response(*epsilon_to(level_epsilon), t)
    return np.asarray(np.full((t, t), law.q) + np.eye(t) * (law.p - law.q))


# ---- self-calibration


def calibration_slope(base: str, k: int, f: FloatArray) -> FloatArray:
    """How an item's self-calibrated estimate, times the gap, falls with the number of items that a report supports."""
    if base in UNCALIBRATED:
        raise ParameterError(
            f"base {base} cannot be self-calibrated: each report supports as many points whatever its level is.",
            "Estimate by the level reports (auem), or choose base sue, oue or lh.",
        )
    if base == "sue":
        require(k > 2, "k", k, "at least 3 for self-calibration of base sue", "The sum of two bits tells no p.")
        return np.asarray((1 - 2 * f) / (k - 2))
    return np.asarray((1 - f) / (k - 1) if base == "oue" else f)


# ---- what is promised


def common_range(levels: Sequence[float]) -> int:
    """The hash range that leaks least about the level and nearly has the least error: 1 + e^((first+last)/2)."""
    return max(2, round(1 + math.exp((levels[0] + levels[-1]) / 2)))


def level_leakage(base: str, levels: Sequence[float], k: int, g: float | None = None) -> float:
    """Largest log-ratio of a data report between two levels, the value being the same, for ideal parameters.

    `g`: one in how many blind reports supports a given value, for bases where that can be chosen.

    >>> round(level_leakage("sue", (0.1, 1.0), 16), 3), round(level_leakage("lh", (0.1, 1.0), 16, 3), 4)
    (4.09, 0.4816)
    """
    low, high = levels[0], levels[-1]
    if base == "sue":
        return k * _log_ratio(high / 2, low / 2, 1)
    if base == "oue":
        return (k - 1) * _log_ratio(high, low, 1)
    size = (g or common_range(levels)) if base in ("lh", "affine") else k
    a = _log_ratio(high, low, size - 1)
    return max(a, high - low - a)


def pair_bound(base: str, levels: Sequence[float], k: int, level_epsilon: float) -> float:
    """An upper bound of the log-ratio between any two pairs of a value and a level, for ideal parameters."""
    low, high = levels[0], levels[-1]
    if base == "sue":
        return level_epsilon + max(e + k * _log_ratio(high / 2, e / 2, 1) for e in levels)
    if base == "oue":
        return level_epsilon + max(level_leakage(base, levels, k) + low, high)
    return level_epsilon + high


def ideal_guarantee(
    base: str, levels: Sequence[float], k: int, g: float | None, level_epsilon: float
) -> dict[str, Any]:
    """What a report promises for ideal parameters, by the names of `LevelMechanism.guarantee`."""
    leak = level_leakage(base, levels, k, g)
    return {
        "data": levels[-1],
        "data_by_level": list(levels),
        "level_report": level_epsilon,
        "leakage": leak,
        "level": level_epsilon + leak,
        "pair": pair_bound(base, levels, k, level_epsilon) if len(levels) > 1 else levels[-1],
        "method": "ideal parameters; the pair is an upper bound",
    }


def leak_warning(found: Mapping[str, Any]) -> str:
    """A warning where the data tell more about the level than the level report does, else nothing."""
    if not found["leakage"] > found["level_report"] > 0:
        return ""
    return (
        f"the data tell more about the level ({found['leakage']:.3g}) than the level report does "
        f"({found['level_report']:.3g})"
    )


def _log_ratio(high: float, low: float, rest: float) -> float:
    """ln((e^high + rest)/(e^low + rest))."""
    return math.log1p(-math.expm1(low - high) / (math.exp(low - high) + rest * math.exp(-high)))
