"""Frequencies and means of keys from signed counts: unbiased frequencies, clipped means, intervals, shrinkage, scores.

With Y and X as in `laws.Signal`, f = (mean of Y - idle)/step is unbiased for a frequency, S = (mean of
X)/gain for frequency times mean. Their ratio has no moments, so the mean is clip(S / clip(f, 1/n, 1), -1, 1), one rule
for all mechanisms; its interval inverts the test of S - m f = 0 [Fieller54] and is the whole range where a key is too
rare to say.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np

from deniable.core.intervals import Curve, Interval, critical, curve_interval, drawn, noted
from deniable.core.types import BoolArray, FloatArray, IntArray, Target
from deniable.errors import ParameterError, require
from deniable.estimate.result import Estimate, Shares
from deniable.estimate.scores import ncr_top, top_items
from deniable.mechanisms.keyvalue.laws import Group

__all__ = ["GroupCounts", "MeanPart", "Score", "clipped_mean", "keyvalue_parts", "score", "shrink_means"]


@dataclass(frozen=True, slots=True, eq=False)
class GroupCounts:
    """What one group of reporters sent: how many reports have +1 or -1 at each key."""

    group: Group
    n: FloatArray
    """How many reports are expected to speak of each key."""
    plus: IntArray
    minus: IntArray
    asked: IntArray | None = None
    """How many reports do, where that is left to chance."""

    @property
    def frequency(self) -> FloatArray:
        """Unbiased share of the keys drawn."""
        signal, told = self.group.signal, self.n if self.asked is None else self.asked
        return np.asarray((self.plus + self.minus - told * float(signal.idle)) / (self.n * float(signal.step)))

    @property
    def total(self) -> FloatArray:
        """Unbiased share times mean of the keys drawn."""
        return np.asarray((self.plus - self.minus) / (self.n * float(self.group.signal.gain)))


@dataclass(frozen=True, slots=True, eq=False)
class FrequencyPart(Shares):
    """Unbiased frequencies; the variance of each is a polynomial of the true one, `curve` (constant term first)."""

    value: FloatArray
    curve: tuple[FloatArray, FloatArray, FloatArray]
    n: int
    cross: tuple[float, float, float] | None = None
    """Covariance of two keys: cross[0] plus cross[1] times their summed frequencies minus cross[2] times the product.

    None where people may have several keys: it then depends on which ones they have together.
    """
    later: FrequencyPart | None = None
    """Where keys are there because their values are high: what does not depend on that, for the intervals."""

    @property
    def several(self) -> bool:
        return self.cross is None

    def _curve(self, target: Target) -> Curve:
        return drawn(self.curve, self.n, target)

    def variance(self, target: Target) -> FloatArray:
        """See `Part.variance`: at the estimated frequency, brought to [0, 1]."""
        f, (a, b, c) = np.clip(self.value, 0, 1), self._curve(target)
        return np.asarray(np.maximum(a + b * f + c * f * f, 0.0))

    def covariance(self, target: Target) -> FloatArray:
        """See `Part.covariance`: at the estimated frequencies, brought to [0, 1]; refused for several pairs each."""
        if self.cross is None:
            _no_covariance("depends on which keys people have together, if they may have several")
        f, (a, b, c) = np.clip(self.value, 0, 1), self.cross
        own = 1 / self.n if target == "population" else 0.0
        out = a + b * np.add.outer(f, f) - (c + own) * np.multiply.outer(f, f)
        np.fill_diagonal(out, self.variance(target))
        return np.asarray(out)

    def interval(self, level: float, target: Target, simultaneous: bool) -> Interval:
        """See `Part.interval`: all frequencies whose score test does not reject the estimate."""
        if self.later is not None:
            own = self.later.interval(level, target, simultaneous)
            return replace(own, low=np.minimum(own.low, self.value), high=np.maximum(own.high, self.value))
        curve = self._curve(target)
        return curve_interval(self.value, curve, level=level, target=target, simultaneous=simultaneous, n=self.n)


_TWICE = 4.0
"""A frequency up to twice that of keys too rare to say: the square of it."""
_NEARLY = "keys nearly too rare to say: may cover more than the level"


@dataclass(frozen=True, slots=True, eq=False)
class MeanPart(Shares):
    """Means of values, in the units of their range: no unbiased ones. The rarer a key, the nearer to the middle.

    A frequency that is too large by chance makes the quotient small, one that is too small leaves it clipped at an end.
    """

    frequency: FloatArray
    total: FloatArray
    spread: tuple[FloatArray, FloatArray]
    """The variance of `total` - m `frequency` is spread[0] + m^2 spread[1]."""
    rare_spread: tuple[float, float]
    """The same for a key that nobody has."""
    ends: tuple[float, float]
    n: int
    shrunk: FloatArray | None = None

    @property
    def unit(self) -> FloatArray:
        """The means on a range from -1 to 1."""
        return clipped_mean(self.frequency, self.total, self.n) if self.shrunk is None else self.shrunk

    @property
    def value(self) -> FloatArray:
        return self.scaled(self.unit)

    def scaled(self, unit: FloatArray) -> FloatArray:
        """Means on a range from -1 to 1, in the units of the values' own range."""
        low, high = self.ends
        return np.asarray(low + (high - low) * (1 + unit) / 2)

    def variance(self, target: Target) -> FloatArray:
        """See `Part.variance`: by the delta method, at most that of a value at either end."""
        f, m = np.clip(self.frequency, 1 / self.n, 1), self.unit
        spread = np.minimum(np.maximum(self.spread[0] + m * m * self.spread[1], 0) / f**2, 1.0)
        return np.asarray(spread * ((self.ends[1] - self.ends[0]) / 2) ** 2)

    def covariance(self, target: Target) -> FloatArray:
        """See `Part.covariance`: refused, since it is not worked out between keys."""
        _no_covariance("is not worked out for means")

    def interval(self, level: float, target: Target, simultaneous: bool) -> Interval:
        """See `Part.interval`: all means that the reports do not reject; the whole range for keys too rare to say."""
        z2 = critical(level, self.total.size if simultaneous else 1) ** 2
        f, s, (v0, v2) = self.frequency, self.total, self.spread
        lead, half, rest = f * f - z2 * v2, s * f, s * s - z2 * v0
        safe = np.where(lead > 0, lead, 1.0)
        root = np.sqrt(np.maximum(half * half - safe * rest, 0.0))
        rare = self._rare(z2)
        low = np.where(rare, -1.0, np.clip((half - root) / safe, -1, 1))
        high = np.where(rare, 1.0, np.clip((half + root) / safe, -1, 1))
        low, high = np.minimum(low, self.unit), np.maximum(high, self.unit)
        notes = noted(f"the whole range for {int(rare.sum())} of {rare.size} keys, too rare to say", rare)
        notes |= noted(_NEARLY, self._rare(_TWICE * z2) & ~rare)
        return Interval(self.scaled(low), self.scaled(high), level, target, simultaneous, notes)

    @property
    def range(self) -> tuple[float, float]:
        return self.ends

    def _rare(self, z2: float) -> Any:
        return (self.frequency <= 0) | (self.frequency**2 <= z2 * np.maximum(self.spread[1], 0))

    def too_rare(self, level: float = 0.95) -> BoolArray:
        """Which keys are too rare to say anything of their mean: their frequency may be 0."""
        return np.asarray(self._rare(critical(level) ** 2))


def keyvalue_parts(
    groups: Sequence[GroupCounts], n: int, padding: int | None, ends: tuple[float, float]
) -> dict[str, FrequencyPart | MeanPart]:
    """`frequency` and `mean` of all keys from the groups' counts.

    `padding` None: everybody has one pair; else up to about that many, one of which is drawn.
    """
    length = padding or 1
    used = [g for g in groups if g.group.weight]
    f = np.sum([float(g.group.weight) * g.frequency for g in used], axis=0) * length
    signed = next(g for g in groups if g.group.signal.gain)
    total = signed.total * length
    frequency = FrequencyPart(f, _curve(used, n, length), n, _cross(used, n) if padding is None else None)
    seen = np.clip(f, 0, 1) / length
    none = np.zeros_like(seen)
    spread, rare = (_spread(used, signed, length, phi) for phi in (seen, none))
    mean = MeanPart(f, total, spread, (float(rare[0].mean()), float(rare[1].mean())), ends, n)
    return {"frequency": frequency, "mean": mean}


def _curve(groups: Sequence[GroupCounts], n: int, length: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The variance of the pooled frequency: people, their pairs and the split into groups of these sizes given."""
    a = b = split = np.zeros(groups[0].n.shape)
    chance = any(g.asked is not None for g in groups)
    for g in groups:
        s, scale = g.group.signal, float(g.group.weight) ** 2 / g.n
        own, other = s.held2 - s.held**2, s.idle2 - s.idle**2
        a = a + scale * length**2 * float(other / s.step**2)
        b = b + scale * (length * float((own - other) / s.step**2) + length - 1)
        split = split + scale
    split = split - 1 / n
    return a, b + split, -split if not chance else 0 * split


def _cross(groups: Sequence[GroupCounts], n: int) -> tuple[float, float, float]:
    """The covariance of two pooled frequencies, for people with one pair each; see `FrequencyPart.cross`."""
    a = b = split = 0.0
    if any(g.asked is not None for g in groups):
        return 0.0, 0.0, 0.0  # a report speaks of one key, and its sender has one
    for g in groups:
        s, scale = g.group.signal, float(g.group.weight) ** 2 / float(g.n[0])
        idle = float((s.pair_idle - s.idle**2) / s.step**2)
        a, b = a + scale * idle, b + scale * (float((s.pair_held - s.held * s.idle) / s.step**2) - idle)
        split += scale
    return a, b, split - 1 / n


def _spread(
    groups: Sequence[GroupCounts], signed: GroupCounts, length: int, seen: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Second moments of total - m frequency: those without m, and those with m^2."""
    s = signed.group.signal
    noise = (1 - seen) * float(s.idle_noise / s.gain**2) + seen * float(s.noise / s.gain**2)
    first, second = noise / signed.n, np.zeros_like(seen)
    for g in groups:
        s, w = g.group.signal, float(g.group.weight)
        own = float((s.held2 - 2 * s.idle * s.held + s.idle**2) / s.step**2)
        second = second + w * w * ((1 - seen) * float((s.idle2 - s.idle**2) / s.step**2) + seen * own) / g.n
        if g is signed:
            second = second - 2 * w * seen * float((1 - s.idle) / s.step) / g.n
    return first * length**2, second * length**2


def clipped_mean(frequency: FloatArray, total: FloatArray, n: int) -> FloatArray:
    """The one rule: the frequency not below one person in n, the mean not outside its range [KSKV Eq. 6]."""
    return np.clip(total / np.clip(frequency, 1 / n, 1), -1, 1)


def shrink_means(estimate: Estimate, top: int) -> Estimate:
    """Means drawn towards the pooled mean of the `top` most frequent keys, the more the rarer a key is.

    Empirical Bayes: biased, hence labelled so; good where the means of the keys are alike. Intervals stay as they were.
    """
    part = estimate.parts.get("mean")
    if not isinstance(part, MeanPart):
        raise ParameterError("shrink_means takes an estimate with a part `mean` from signed counts.")
    require(1 <= top <= part.total.size, "top", top, f"an integer from 1 to {part.total.size}")
    order = np.argsort(-part.frequency, kind="stable")[:top]
    f, s = np.clip(part.frequency, 1 / part.n, 1), part.total
    centre = float(np.clip(s[order].sum() / f[order].sum(), -1, 1))
    noise = part.rare_spread[0] + centre**2 * part.rare_spread[1]
    deviation = ((s - centre * f)[order] ** 2 - noise) * f[order] ** 2
    between = float(np.clip(deviation.sum() / (f[order] ** 4).sum(), 1e-3, 0.5))
    pull = between * f**2 / (between * f**2 + noise)
    shrunk = np.clip(centre + pull * (s / f - centre), -1, 1)
    steps = (*estimate.steps, f"means shrunk towards that of the {top} most frequent keys (biased)")
    parts = {**estimate.parts, "mean": replace(part, shrunk=shrunk)}
    return replace(estimate, parts=parts, steps=steps, bias=(*estimate.bias, "shrunk"))


@dataclass(frozen=True, slots=True)
class Score:
    """How well the most frequent keys were found: NCR, and squared errors on the found ones and on all true ones."""

    ncr: float
    found: int
    mse_frequency: float
    mse_mean: float
    mse_frequency_top: float
    mse_mean_top: float


def score(truth: tuple[FloatArray, FloatArray], frequency: FloatArray, mean: FloatArray, top: int) -> Score:
    """Scores of estimates against the true frequencies and means; NaN where no true top key was found."""
    f, m = truth
    require(1 <= top <= f.size, "top", top, f"an integer from 1 to {f.size}")
    true, guess = top_items(f, top), top_items(frequency, top)
    both = np.intersect1d(true, guess)

    def error(one: FloatArray, two: FloatArray, at: IntArray) -> float:
        return float(np.mean((one[at] - two[at]) ** 2)) if at.size else math.nan

    return Score(
        ncr_top(frequency, f, top),
        int(both.size),
        error(frequency, f, both),
        error(mean, m, both),
        error(frequency, f, true),
        error(mean, m, true),
    )


def _no_covariance(why: str) -> NoReturn:
    raise ParameterError(f"the covariance between keys {why}.", "Use variance() and interval().")
