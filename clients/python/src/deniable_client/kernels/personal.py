"""Everyone chooses a level of protection: one data kernel per level, and a channel that hides the chosen level.

All data kernels have one report format, so that no report shows its level by its form. Its content may still tell: the
largest log-ratios between two levels are computed here for any number of values, in whole numbers and rounded up;
independent bits are maximised one by one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import permutations
from typing import Any, ClassVar

from deniable_client.errors import require
from deniable_client.exact import WORD_BITS, exp_bounds, log_upper
from deniable_client.kernels.contract import (
    AnyKernel,
    Disclosing,
    Kernel,
    check_k,
    check_threshold,
    check_value,
    promised_ratio,
)
from deniable_client.kernels.utility import Utility
from deniable_client.packing import pack_int
from deniable_client.words import Words, happens

__all__ = ["Bit", "Personal", "disclosure", "other_value", "same_value"]

_WORD = 1 << WORD_BITS
_upper = lru_cache(maxsize=4096)(log_upper)
"""Levels are compared again and again, and each certified logarithm takes a tenth of a millisecond."""


def add_up(*terms: float) -> float:
    """A float at least as large as the exact sum of the terms; 0 if all of them are."""
    if not any(terms):
        return 0.0
    return math.fsum(terms) + 4 * math.ulp(max(map(abs, terms)))


def largest(one: Sequence[int], two: Sequence[int]) -> float:
    """Largest log-ratio of two laws of one outcome, each in whole numbers with the same sum."""
    return _upper(max(Fraction(a, b) for a, b in zip(one, two, strict=True)))


# ---- bases


@dataclass(frozen=True, slots=True)
class _Bits:
    """Independent bits, 1 with chance keep/2**64 for the own value and flip/2**64 for any of the others."""

    k: int
    keep: int
    flip: int

    @property
    def blind(self) -> _Bits:
        """The same for reports without a value."""
        return replace(self, keep=self.flip)

    def same(self, its: Any, factor: Fraction = Fraction(1)) -> float:
        """Largest log-ratio of a report of this kernel and of another one of its form for one value, and a factor."""
        rest = (self.k - 1) * _bit(self.flip, its.flip)
        return add_up(_log(factor), _bit(self.keep, its.keep), rest)

    def other(self, its: Any) -> float:
        """... of this kernel for one value and of the other kernel for another one."""
        rest = (self.k - 2) * _bit(self.flip, its.flip)
        return add_up(_bit(self.keep, its.flip), _bit(self.flip, its.keep), rest)


@dataclass(frozen=True, slots=True)
class _OneOf:
    """One of `size` answers (for hashing: given the seed), the own one with chance `own`, any other with `rest`."""

    size: int
    own: Fraction
    rest: Fraction

    @classmethod
    def of(cls, size: int, keep: int) -> _OneOf:
        return cls(size, Fraction(keep, _WORD), Fraction(_WORD - keep, _WORD * (size - 1)))

    @property
    def blind(self) -> _OneOf:
        return replace(self, own=Fraction(1, self.size), rest=Fraction(1, self.size))

    def same(self, its: Any, factor: Fraction = Fraction(1)) -> float:
        return _log(factor * max(self.own / its.own, self.rest / its.rest))

    def other(self, its: Any) -> float:
        third = [self.rest / its.rest] if self.size > 2 else []
        return _log(max(self.own / its.rest, self.rest / its.own, *third))


@dataclass(frozen=True, slots=True)
class _Disclosing:
    """A base on the sensitive values; a harmless one is disclosed with chance `told`, or hidden by a blind report."""

    base: Any
    told: Fraction

    def same(self, its: Any) -> float:
        return float(max(self.base.same(its.base), self.open(its), self._hidden(its)))

    def other(self, its: Any) -> float:
        """See `_Bits.other`: of reports that disclose nothing."""
        own = self.base.same(its.base.blind, 1 / (1 - its.told))
        theirs = self.base.blind.same(its.base, 1 - self.told)
        return float(max(self.base.other(its.base), self._hidden(its), own, theirs))

    def open(self, its: Any) -> float:
        """Log-ratio of the chances that a harmless value is disclosed."""
        return _log(self.told / its.told)

    def _hidden(self, its: Any) -> float:
        """Largest log-ratio of a report that hides a harmless value."""
        return float(self.base.blind.same(its.base.blind, (1 - self.told) / (1 - its.told)))


_TOLD: Mapping[str, Callable[[Any], Any]] = {
    "response": lambda kernel: _OneOf.of(kernel.k, kernel.keep),
    "hashing": lambda kernel: _OneOf.of(kernel.g, kernel.keep),
    "unary": lambda kernel: _Bits(kernel.k, kernel.keep, kernel.flip),
    "utility": lambda kernel: _Disclosing(_told(kernel.base[0]), Fraction(kernel.plain, _WORD)),
}
"""The kernels of which it is known what they tell about the level."""


def _told(kernel: Any) -> Any:
    return _TOLD[kernel.kind](kernel)


# ---- data kernels: bases, or utility kernels on them


def form_of(kernel: Any) -> tuple[object, ...]:
    """What a kernel's reports show of it: kernels of one form cannot be told apart by the form of a report."""
    if kernel.kind == "utility":
        beside = bool(kernel.attach)
        return kernel.kind, kernel.k, kernel.sensitive, beside, kernel.blind, *(form_of(base) for base in kernel.base)
    return kernel.kind, kernel.k, kernel.width, getattr(kernel, "g", 0)


def check_data(kernel: Any) -> None:
    """Refuse kernels of which it is not known what they tell about the level."""
    base = kernel
    if kernel.kind == "utility":
        some = len(kernel.base) == 1 and kernel.s < kernel.k
        require(some, "data", kernel, "with two sensitive values and a harmless one")
        told = kernel.blind == 1 and kernel.attach == 0 and kernel.plain > 0
        hint = "A level that never discloses would be ruled out by every disclosed value."
        require(told, "data", kernel, "with blind reports, and values disclosed alone now and then", hint)
        base = kernel.base[0]
    known = base.kind in _TOLD and base.kind != "utility"
    require(known, "data", base.kind, "response, unary or hashing kernels, or utility kernels on these")


def same_value(a: AnyKernel, b: AnyKernel) -> float:
    """Largest log-ratio of a report of kernel a and of kernel b for one value."""
    return float(_told(a).same(_told(b)))


def other_value(a: AnyKernel, b: AnyKernel) -> float:
    """Largest log-ratio of a report of kernel a for one value and of kernel b for another one.

    Where values are disclosed: of reports that disclose nothing.
    """
    return float(_told(a).other(_told(b)))


def disclosure(a: AnyKernel, b: AnyKernel) -> float:
    """Log-ratio of the chances that a harmless value is disclosed, of two kernels that do so."""
    return float(_told(a).open(_told(b)))


def _bit(a: int, b: int) -> float:
    """Largest log-ratio of a bit that is 1 with chance a/2**64 and one with b/2**64."""
    return largest((a, _WORD - a), (b, _WORD - b))


def _log(ratio: Fraction) -> float:
    """A float that is at least ln(ratio), also below 0."""
    if ratio >= 1:
        return _upper(ratio)
    return math.nextafter(math.nextafter(-_upper(1 / ratio), math.inf), math.inf)


# ---- kernels


@dataclass(frozen=True, slots=True)
class Bit:
    """One bit: 1 with probability chances[x]/2**64 for value x. A level report that says no more than a mean needs."""

    chances: tuple[int, ...]
    kind: ClassVar[str] = "bit"

    def __post_init__(self) -> None:
        check_k(len(self.chances))
        for chance in self.chances:
            check_threshold("chances", chance)

    @classmethod
    def calibrate(cls, epsilon: float, places: tuple[Fraction, ...]) -> Bit:
        """Chances that rise linearly with `places`, from -1 to 1, as steeply as e^epsilon allows.

        1/2 + place (e-1)/(2(e+1)), rounded towards 1/2.
        """
        ok = len(places) >= 2 and all(abs(place) <= 1 for place in places)
        require(ok, "places", places, "at least two numbers from -1 to 1")
        low = exp_bounds(epsilon)[0]
        steep = (low - 1) / (low + 1) / 2
        half = _WORD // 2
        return cls(tuple(half + int(place * steep * _WORD) for place in places))

    @property
    def k(self) -> int:
        return len(self.chances)

    @property
    def ratio(self) -> Fraction:
        low, high = min(self.chances), max(self.chances)
        return max(Fraction(high, low), Fraction(_WORD - low, _WORD - high))

    @property
    def width(self) -> int:
        return 1

    def randomise(self, x: int, words: Words) -> bytes:
        check_value(x, self.k)
        return pack_int(int(happens(self.chances[x], words)), 1)


def _response_weights(kernel: Any, level: int) -> list[int]:
    own, other = kernel.keep * (kernel.k - 1), _WORD - kernel.keep
    return [own if told == level else other for told in range(kernel.k)]


def _bit_weights(kernel: Any, level: int) -> list[int]:
    return [_WORD - kernel.chances[level], kernel.chances[level]]


_CHANNELS: Mapping[str, Callable[[Any, int], list[int]]] = {"response": _response_weights, "bit": _bit_weights}
"""Whole numbers in proportion to the chances of a channel's reports of a level."""


@dataclass(frozen=True, slots=True)
class Personal(Disclosing):
    """The data kernel of the chosen level, then the level itself through a channel of its own.

    `data` has one kernel for each level, from the most protective on; `level` has the channel on the numbers of the
    levels, or is empty: then nothing is sent about the level. The two draws are independent given value and level.
    """

    data: tuple[Kernel | Utility, ...]
    level: tuple[Kernel, ...]
    kind: ClassVar[str] = "personal"

    def __post_init__(self) -> None:
        hint = "Reports of another form, e.g. another hash range, would show the level."
        alike = len({form_of(kernel) for kernel in self.data}) == 1
        require(alike, "data", self.data, "kernels of one kind, size and report format", hint)
        for kernel in self.data:
            check_data(kernel)
        t = len(self.data)
        channel = len(self.level) <= 1 and all(c.kind in _CHANNELS and c.k == t for c in self.level)
        require(channel, "level", self.level, f"empty, or one response or bit kernel on {t} levels")

    @property
    def k(self) -> int:
        """Number of values."""
        return self.data[0].k

    @property
    def hidden_ratio(self) -> Fraction:
        """See `Disclosing.hidden_ratio`: of values at one level, which may be known; the largest over the levels.

        The level report does not depend on the value given the level, so it cancels.
        """
        return max(promised_ratio(kernel) for kernel in self.data)

    @property
    def protected(self) -> tuple[int, ...]:
        """See `Disclosing.protected`: the same at all levels, which have reports of one form."""
        first = self.data[0]
        return first.sensitive if isinstance(first, Utility) else (0, first.k)

    @property
    def disclosed(self) -> Fraction:
        return max(kernel.disclosed if isinstance(kernel, Utility) else Fraction(0) for kernel in self.data)

    @property
    def width(self) -> int:
        return self.data[0].width + sum(kernel.width for kernel in self.level)

    def randomise(self, x: int, words: Words, level: int = 0) -> bytes:
        """A report for value `x` at a level, given by its number; the most protective one unless told otherwise."""
        t = len(self.data)
        ok = isinstance(level, int) and not isinstance(level, bool) and 0 <= level < t
        require(ok, "level", level, f"the number of one of the {t} levels, from 0 to {t - 1}")
        told = self.data[level].randomise(x, words)
        return told + b"".join(kernel.randomise(level, words) for kernel in self.level)

    # ---- what a report tells about the level

    def told(self, level: int) -> list[int]:
        """Whole numbers in proportion to the chances of the level's reports; one number if nothing is sent."""
        return next((_CHANNELS[kernel.kind](kernel, level) for kernel in self.level), [1])

    @property
    def report(self) -> float:
        """Exact epsilon of the level report alone, rounded up; 0 if there is none."""
        return max((log_upper(kernel.ratio) for kernel in self.level), default=0.0)

    @property
    def leakage(self) -> float:
        """Exact largest log-ratio of a data report between two levels, the value being the same; rounded up."""
        return max((same_value(a, b) for a, b in permutations(self.data, 2)), default=0.0)

    @property
    def level_guarantee(self) -> float:
        """Exact largest log-ratio of the whole report between two levels, the value being the same; rounded up."""
        return max(self._between(same_value), default=0.0)

    @property
    def pair_guarantee(self) -> float:
        """The same between any two pairs of a value and a level: what is left if the level depends on the value.

        Where values may be disclosed: of reports that disclose nothing, and between levels of those that do.
        """
        return max(log_upper(self.hidden_ratio), *self._between(same_value), *self._between(other_value), 0.0)

    def _between(self, data: Callable[[Any, Any], float]) -> list[float]:
        """Largest log-ratios of whole reports for each two levels, `data` being those of their data."""
        return [
            add_up(data(self.data[i], self.data[j]), largest(self.told(i), self.told(j)))
            for i, j in permutations(range(len(self.data)), 2)
        ]
