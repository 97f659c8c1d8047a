"""What a report tells about the level it was made at: largest log-ratios between two kernels, for any number of values.

Kernels of one form are compared, one for each of two levels. All quotients are taken in whole numbers and rounded up;
independent bits are maximised one by one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

from deniable_client.errors import require
from deniable_client.exact import WORD_BITS, log_upper
from deniable_client.kernels.contract import AnyKernel

__all__ = ["add_up", "check_data", "disclosure", "form_of", "largest", "other_value", "same_value"]

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
