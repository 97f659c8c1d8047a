"""Key-value mathematics: three-way answers, what they tell of frequency and mean, and the frontier between the two.

Numbers are fractions: at e = e^epsilon (a rational bound of it that is good to 190 bits) they are the ideal ones, at
the integers that are sampled the effective ones. F is n times the variance of a frequency, M n times that of frequency
times mean, both averaged over the keys at uniform frequencies and values in the middle of their range.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from deniable.core.guess import covered_by_independent, uniform_success
from deniable.core.laws import ratio_to, subset
from deniable.core.support import Support
from deniable.core.types import FloatArray
from deniable_client.exact import exp_bounds

__all__ = [
    "SHAPES",
    "Group",
    "Signal",
    "alone",
    "best_key_size",
    "best_share",
    "best_signed_alone",
    "best_signed_size",
    "best_split",
    "best_subset_size",
    "covered_by_subset",
    "frontier",
    "information",
    "pooled",
    "raised",
    "ratio_of",
    "signal_of_signed_subset",
    "told_by_signed_subset",
    "told_by_signs",
    "told_by_support",
    "variances",
]

_FEW_KEYS, _MARGIN = 5000, 8
"""Up to so many keys all extreme reports are looked at; with more, those around the ideal ones, with a margin."""
_SIZES = 1 << 17
"""Sizes that are looked at where there are more keys."""
_SMALL = 8
"""Sizes up to this one are looked at where people may have several pairs: small sets may tell more of them."""
_SHARES = 256
"""Shares of key-only reports that are tried, and again as many around the best of them."""
Shape: TypeAlias = Callable[[Fraction], tuple[Fraction, Fraction, Fraction]]
"""(s, r, a) of a three-way answer as functions of e^epsilon."""


def _corner(e: Fraction) -> tuple[Fraction, Fraction, Fraction]:
    return e / (2 * e + 1), 1 / (2 * e + 1), 2 / (e + 2)


def _between(e: Fraction) -> tuple[Fraction, Fraction, Fraction]:
    """Half-way between keys only and the corner, on the curve of the best three-way answers."""
    a = (1 / (e + 1) + 2 / (e + 2)) / 2
    b = 1 + (1 - a) * (e - 1) / e
    s, z = e * a / (2 * b), (1 - a) / b
    return s, 1 - s - z, a


SHAPES: Mapping[str, Shape] = {
    "ks-ue": lambda e: ((e + 1) / (2 * (e + 2)), 1 / (e + 2), 2 / (e + 2)),
    "pckv-ue": lambda e: (e / (2 * (e + 1)), 1 / (2 * (e + 1)), 2 / (e + 3)),
    "soue": lambda e: (Fraction(1, 2), 1 / (2 * e), 2 / (e + 1)),
    "corner": _corner,
    "between": _between,
}
"""Held: the sign with chance s, the other one with r, else 0; not held: each sign with a/2 [KSKV Eq. 3 and 4, PCKV]."""


def ratio_of(epsilon: float) -> Fraction:
    """e^epsilon to 190 bits, from below."""
    return exp_bounds(epsilon)[0]


def raised(epsilon: float, size: int, length: int) -> Fraction:
    """The ideal ratio of a kernel with sets of this size, for people with up to `length` pairs; 0: exactly one."""
    e = ratio_of(epsilon)
    return 1 + (e - 1) * Fraction(length, min(size, length)) if length else e


@dataclass(frozen=True, slots=True)
class Signal:
    """Moments of what one report says of one key: Y = (+1 there) + (-1 there), X = (+1 there) - (-1 there).

    E[Y] is `held` or `idle` (not held), E[Y^2] `held2` or `idle2`; E[X] is `gain` times the value or 0, E[X^2] `noise`
    or `idle_noise`. In all kernels E[XY] = E[X]. `asked` is the chance that the report speaks of the key at all. The
    product of Y at two keys has the mean `pair_held` if one of them is held, else `pair_idle`.
    """

    held: Fraction
    held2: Fraction
    noise: Fraction
    gain: Fraction
    idle: Fraction
    idle2: Fraction
    idle_noise: Fraction
    pair_held: Fraction
    pair_idle: Fraction
    asked: Fraction = Fraction(1)

    @classmethod
    def of(cls, s: Fraction, r: Fraction, a: Fraction, asked: Fraction = Fraction(1)) -> Signal:
        """A three-way answer for each key, independent of those for others."""
        h = s + r
        return cls(h, h, h, s - r, a, a, a, h * a, a * a, asked)

    @classmethod
    def of_signed(cls, s: Support[Fraction]) -> Signal:
        """A plain mechanism whose answers are signed keys: it may support both signs of a key."""
        held, idle, one, none = s.p + s.q, 2 * s.q, 2 * s.both_one, 2 * s.both_none
        return cls(held, held + one, held - one, s.gap, idle, idle + none, idle - none, one + none, 2 * none)

    @classmethod
    def of_keys(cls, s: Support[Fraction]) -> Signal:
        """A plain mechanism whose answers are keys: it says nothing of values."""
        return cls(s.p, s.p, s.p, Fraction(0), s.q, s.q, s.q, s.both_one, s.both_none)

    @property
    def step(self) -> Fraction:
        """How much more of Y a holder gives: the divisor of the frequency."""
        return self.held - self.idle

    def frequency_variance(self, f: Any) -> Any:
        """n Var of the frequency's estimate, people and their keys given [KSKV Eq. 9]."""
        own, other = self.held2 - self.held**2, self.idle2 - self.idle**2
        split = (1 / self.asked - 1) * f
        return (f * own + (1 - f) * other) / (self.asked * self.step**2) + split

    def sum_variance(self, f: Any) -> Any:
        """n Var of the estimate of frequency times mean, for values in the middle; infinite for keys only."""
        if not self.gain:
            return math.inf
        return (f * self.noise + (1 - f) * self.idle_noise) / (self.asked * self.gain**2)

    def limits(self) -> tuple[float, float]:
        """F and M of a key that hardly anybody has (KSKV's and PCKV's own figures)."""
        return float(self.frequency_variance(Fraction(0))), float(self.sum_variance(Fraction(0)))


def signal_of_signed_subset(e: Fraction, keys: int, size: int) -> Signal:
    """`size` keys with a sign each."""
    keep = size * e / (size * e + 2 * keys - size)
    turned = (1 - keep) * Fraction(size, 2 * keys - size)
    signal, few = Signal.of(keep, turned, (size - keep - turned) / (keys - 1)), Fraction(size - 1, keys - 1)
    h = signal.held
    none = few * (h * (size - 2) + (1 - h) * size) / (keys - 2) if keys > 2 else Fraction(0)
    return replace(signal, pair_held=h * few, pair_idle=none)


# ---- the best guess of a signed key


def told_by_support(s: Support[Fraction], e: Fraction, covered: float) -> float:
    """Summed over reports: how likely each is for the item that makes it likeliest. All likelihoods have the ratio e.

    `covered` is the chance that a report made without any item supports at least one that people have.
    """
    return float(uniform_success(s.map(float), float(1 / e), covered, 1))


def told_by_signs(s: Signal, keys: int) -> float:
    """The same for three-way answers, independent for different keys: of one of the keys that are told, if any is."""
    a, covered = float(s.idle), covered_by_independent(keys, float(s.idle))
    return float(covered * float(s.held + s.gain) / a + (1 - covered) * float(1 - s.held) / (1 - a))


def told_by_signed_subset(e: Fraction, keys: int, size: int, covered: float) -> float:
    """The same for `size` keys with a sign each: a set with an item is e times as likely as another."""
    even = 2 * keys / (size * float(e - 1) + 2 * keys)
    return even * (covered * float(e) + 1 - covered)


def covered_by_subset(total: int, size: int, others: int) -> float:
    """Chance that a uniform subset of `total` items has more than those of `others` items."""
    missed = math.prod((others - i) / (total - i) for i in range(size)) if size <= others else 0.0
    return 1 - missed


# ---- several groups of reporters


@dataclass(frozen=True, slots=True)
class Group:
    """Reporters of one kind: their share, their signal, and the weight of their frequencies in the pooled ones."""

    share: Fraction
    signal: Signal
    weight: Fraction


def alone(signal: Signal) -> tuple[Group, ...]:
    """Reporters of one kind only."""
    return (Group(Fraction(1), signal, Fraction(1)),)


def pooled(parts: Sequence[tuple[Fraction, Signal]], spread: Sequence[Fraction | None]) -> tuple[Group, ...]:
    """Groups whose weights are fixed: share / spread, brought to sum 1; `spread` stands for their variance.

    None is for reports that say nothing of frequencies: every key with a sign.
    """
    raw = [share / s if s is not None else Fraction(0) for (share, _), s in zip(parts, spread, strict=True)]
    return tuple(Group(share, signal, w / sum(raw)) for (share, signal), w in zip(parts, raw, strict=True))


def variances(groups: Sequence[Group], f: Any, length: int = 1) -> tuple[Any, Any]:
    """(F, M) at frequency f of every key; people have at most `length` pairs, one of which is drawn.

    A random split of the people adds f(1-f)(sum of weight^2/share - 1) to F.
    """
    seen, draw = f / length, Fraction(length - 1, length)  # the draw of a pair is random too
    used = [g for g in groups if g.weight]
    split = sum(g.weight**2 / g.share for g in used)
    first = sum(g.weight**2 / g.share * (g.signal.frequency_variance(seen) + seen * draw) for g in used)
    first += f * (1 - f) * (split - 1) / length**2
    told = sum(g.share / g.signal.sum_variance(seen) for g in groups if g.signal.gain)
    return first * length**2, length**2 / told if told else math.inf


# ---- the frontier


def information(e: Any, d: int, single: Any, double: Any) -> tuple[Any, Any]:
    """(A, B) of reports that favour `single` keys with one sign and `double` keys with both (`docs/maths/keyvalue.md`).

    They are what a report tells of frequencies and of means; F = ((d-1)/d)(1/A - 1/d) and M = 1/B at best.
    """
    share = (single + 2 * double) / d if not isinstance(e, Fraction) else Fraction(single + 2 * double, d)
    alone = single / d if not isinstance(e, Fraction) else Fraction(single, d)
    scale = (e - 1) / (2 + (e - 1) * share)
    c = scale * scale
    return c * (2 * share - share * share - alone) * d / (d - 1), c * alone


def best_subset_size(epsilon: float, keys: int, *, d: int | None = None, length: int = 0) -> int:
    """Size of the subset of 2 keys signed keys with the least F + M, all sizes near 2 keys/(e+1) and below `length`."""
    d = d or keys
    sizes = set(_near(2 * keys / (float(ratio_of(epsilon)) + 1), 2 * keys - 1)) | set(range(1, min(length, keys) + 1))

    def total(size: int) -> float:
        signal = Signal.of_signed(subset(*ratio_to(raised(epsilon, size, length)), 2 * keys, size))
        if signal.step <= 0 or signal.gain <= 0:
            return math.inf
        f = Fraction(1, d * max(length, 1))
        return float(signal.frequency_variance(f) + signal.sum_variance(f))

    return min(sorted(sizes), key=total)


def best_key_size(epsilon: float, keys: int) -> int:
    """Size of the subset of keys that tells most of frequencies."""
    e = ratio_of(epsilon)
    return max(_near(keys / (float(e) + 1), keys - 1), key=lambda w: information(e, keys, 0, w)[0])


def best_signed_size(epsilon: float, keys: int) -> int:
    """Size of the signed subset that makes the steepest edge with the best subset of keys."""
    e = ratio_of(epsilon)
    top = information(e, keys, 0, best_key_size(epsilon, keys))[0]

    def slope(size: int) -> Fraction:
        a, b = information(e, keys, size, 0)
        return b / (top - a) if top > a else Fraction(1 << 60)

    return max(_near(2 * keys / (float(e) + 1), keys), key=slope)


def best_signed_alone(epsilon: float, keys: int, interest: float = 1.0) -> int:
    """Size of the signed subset with the least interest^2 F + M where everybody sends one; below the number of keys."""
    e = math.exp(min(epsilon, 200.0))  # beyond it the size is 1 anyway
    sizes = np.unique(np.rint(np.geomspace(1, keys - 1, _SIZES))) if keys > _SIZES else np.arange(1.0, keys)
    a, b = information(e, keys, sizes, 0.0 * sizes)
    total = interest**2 * (keys - 1) / keys * (1 / a - 1 / keys) + 1 / b
    return int(sizes[np.argmin(total)])


def _near(ideal: float, most: int) -> list[int]:
    return sorted({min(max(1, w), most) for w in (math.floor(ideal), math.ceil(ideal))})


def best_share(epsilon: float, keys: int, interest: float = 1.0) -> float:
    """Share of key-only reports that minimises interest^2 F + M, for the two kinds of subsets above."""
    e = ratio_of(epsilon)
    top = float(information(e, keys, 0, best_key_size(epsilon, keys))[0])
    a, b = map(float, information(e, keys, best_signed_size(epsilon, keys), 0))
    rho = interest * math.sqrt((keys - 1) / keys * max(top - a, 0.0) * b)
    return min(1.0, max(0.0, (rho - a) / (top - a + rho))) if top - a + rho > 0 else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Frontier:
    """What all mechanisms with one epsilon can reach: the corners (A, B) of the largest set, B rising."""

    d: int
    a: FloatArray
    b: FloatArray

    def least_frequency(self, m: float) -> float:
        """The least F at this M or less; infinite where M cannot be reached."""
        b = 0.0 if math.isinf(m) else 1 / m
        if b > self.b[-1] * (1 + 1e-12):
            return math.inf
        a = float(np.interp(b, self.b, self.a))
        return (self.d - 1) / self.d * (1 / a - 1 / self.d) if a > 0 else math.inf

    def least_mean(self, f: float) -> float:
        """The least M at this F or less; infinite where F cannot be reached."""
        a = 1 / (self.d * f / (self.d - 1) + 1 / self.d)
        if a > self.a[0] * (1 + 1e-12):
            return math.inf
        b = float(np.interp(-a, -self.a, self.b))
        return 1 / b if b > 0 else math.inf


@lru_cache(maxsize=2)
def frontier(epsilon: float, d: int) -> Frontier:
    """The hull of the extreme reports: `t` favoured signed keys on different keys, or on as few as possible."""
    e = math.exp(epsilon)
    alone, both = _sizes(e, d)
    apart, packed = information(e, d, alone, 0 * alone), information(e, d, both % 2, both // 2)
    bs, as_ = _hull(np.r_[apart[1], packed[1]], np.r_[apart[0], packed[0]])
    if bs[0] > 0:
        bs, as_ = np.r_[0.0, bs], np.r_[as_[0], as_]
    return Frontier(d, as_, bs)


def _hull(b: FloatArray, a: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The corners of the upper hull where a falls as b grows; whatever is below others can go at once."""
    order = np.lexsort((a, b))
    b, a = b[order], a[order]
    later = np.r_[np.maximum.accumulate(a[::-1])[::-1][1:], -np.inf]
    b, a = b[a > later], a[a > later]
    while b.size > 2:
        above = (a[1:-1] - a[:-2]) * (b[2:] - b[:-2]) > (a[2:] - a[:-2]) * (b[1:-1] - b[:-2])
        if above.all():
            break
        kept = np.r_[True, above, True]
        b, a = b[kept], a[kept]
    return b, a


def _sizes(e: float, d: int) -> tuple[FloatArray, FloatArray]:
    """How many signed keys extreme reports favour: on different keys, and on as few as possible.

    All of them for few keys. For many, those from 2d/(e+1), where most is told, to 2d/(e-1), where most is told of
    means; on as few keys as possible only next to the former.
    """
    if d <= _FEW_KEYS:
        return np.arange(1.0, d + 1), np.arange(1.0, d + 1)
    first, last = math.floor(2 * d / (e + 1)), math.ceil(2 * d / (e - 1))
    ends = [max(1, first - _MARGIN), max(1, min(d, last + _MARGIN))]
    return np.arange(ends[0], ends[1] + 1.0), np.arange(ends[0], min(d, first + _MARGIN) + 1.0)


def best_split(
    epsilon: float, k: int, length: int, interest: float, mix: float | None, size: int | None
) -> tuple[float, int, int]:
    """Share of key-only reports, their size and that of signed subsets with the least interest^2 F + M.

    For people with up to `length` pairs: sizes next to those that are best for one pair, and small ones up to `length`,
    whose ratio may be raised. A share or a size that is given stays.
    """
    keys, weight = k + length, interest**2
    few = {min(size, length, keys - 1) for size in (*range(1, _SMALL + 1), length)}
    e = float(ratio_of(min(epsilon, 200.0)))  # beyond it all sizes are 1
    shares = np.linspace(0, 1, _SHARES + 1)[:-1] if mix is None else np.array([mix])
    firsts = {*_near(keys / (e + 1), keys - 1), *few}
    seconds = {*_near(2 * keys / (e + 1), keys), *few} if size is None else {size}
    best = (math.inf, 0.0, 1, 1)
    for first in sorted(firsts):
        for second in sorted(seconds):
            best = min(best, _least_split(min(epsilon, 200.0), k, length, weight, first, second, shares))
    _, share, first, second = best
    if mix is None and share:
        around = share + np.linspace(-1, 1, _SHARES + 1) / _SHARES
        _, share, _, _ = _least_split(
            min(epsilon, 200.0), k, length, weight, first, second, around[(around >= 0) & (around < 1)]
        )
    return share, first, second


def _least_split(
    epsilon: float, k: int, length: int, weight: float, first: int, second: int, shares: FloatArray
) -> tuple[float, float, int, int]:
    """The least weight F + M over the shares, with its share, for sets of these sizes: `variances` for many shares."""
    keys, f, seen = k + length, 1 / k, 1 / (k * length)
    one, two = (raised(epsilon, size, length) for size in (first, second))
    signals = (Signal.of_keys(subset(*ratio_to(one), keys, first)), signal_of_signed_subset(two, keys, second))
    a = [float(information(*at)[0]) for at in ((one, keys, 0, first), (two, keys, second, 0))]
    noise = [float(s.frequency_variance(seen)) if s.step else 0.0 for s in signals]  # all keys with a sign: no weight
    told = shares * a[0] + (1 - shares) * a[1]
    usable = np.where(told > 0, told, 1.0) ** 2
    one_part, two_part = shares * a[0] ** 2 / usable, (1 - shares) * a[1] ** 2 / usable
    split = one_part + two_part
    frequency = length**2 * (one_part * noise[0] + two_part * noise[1]) + (length - 1) * f * split
    if not weight and not (told > 0).all():
        # for means alone nobody sends keys alone, and then these sets say nothing of frequencies
        return math.inf, 0.0, first, second
    frequency = np.where(told > 0, frequency + f * (1 - f) * (split - 1), np.inf)
    total = weight * frequency + length**2 * float(signals[1].sum_variance(seen)) / (1 - shares)
    at = int(np.argmin(total))
    return float(total[at]), float(shares[at]), first, second
