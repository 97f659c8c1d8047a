"""What reports tell about the kernel that made them: largest log-ratios of two kernels of one form.

They are computed for any number of values, in whole numbers and rounded up; independent bits are maximised one by one.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

from deniable_client.exact import WORD, log_upper

__all__ = ["Bits", "Hiding", "Law", "OneOf", "add_up", "largest"]

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


class Law(ABC):
    """The law of a kernel's reports, given the public seed if there is one; `its` is that of one of its form."""

    __slots__ = ()

    @property
    @abstractmethod
    def blind(self) -> Law:
        """The same for reports without a value."""

    @abstractmethod
    def same(self, its: Any, factor: Fraction = Fraction(1)) -> float:
        """Largest log-ratio of a report of this kernel and of the other one for one value, and a factor."""

    @abstractmethod
    def other(self, its: Any) -> float:
        """... of this kernel for one value and of the other kernel for another one."""


@dataclass(frozen=True, slots=True)
class Bits(Law):
    """Independent bits, 1 with chance keep/2**64 for the own value and flip/2**64 for any of the others."""

    k: int
    keep: int
    flip: int

    @property
    def blind(self) -> Bits:
        return replace(self, keep=self.flip)

    def same(self, its: Any, factor: Fraction = Fraction(1)) -> float:
        rest = (self.k - 1) * _bit(self.flip, its.flip)
        return add_up(_log(factor), _bit(self.keep, its.keep), rest)

    def other(self, its: Any) -> float:
        rest = (self.k - 2) * _bit(self.flip, its.flip)
        return add_up(_bit(self.keep, its.flip), _bit(self.flip, its.keep), rest)


@dataclass(frozen=True, slots=True)
class OneOf(Law):
    """One of `size` answers (for hashing: given the seed), each own one with chance `own`, any other with `rest`."""

    size: int
    own: Fraction
    rest: Fraction

    @classmethod
    def of(cls, size: int, keep: int, favoured: int = 1) -> OneOf:
        """One of the `favoured` own answers with chance keep/2**64."""
        return cls(size, Fraction(keep, WORD * favoured), Fraction(WORD - keep, WORD * (size - favoured)))

    @property
    def blind(self) -> OneOf:
        return replace(self, own=Fraction(1, self.size), rest=Fraction(1, self.size))

    def same(self, its: Any, factor: Fraction = Fraction(1)) -> float:
        return _log(factor * max(self.own / its.own, self.rest / its.rest))

    def other(self, its: Any) -> float:
        """See `Law.other`; an answer that two values have in common tells what it does in `same`."""
        third = [self.rest / its.rest] if self.size > 2 else []
        return _log(max(self.own / its.rest, self.rest / its.own, *third))


@dataclass(frozen=True, slots=True)
class Hiding:
    """A base on the sensitive values; a harmless one is disclosed with chance `told`, or hidden by a blind report."""

    base: Law
    told: Fraction

    def same(self, its: Any) -> float:
        """See `Law.same`: of all reports."""
        return float(max(self.base.same(its.base), self.open(its), self._hidden(its)))

    def other(self, its: Any) -> float:
        """See `Law.other`: of reports that disclose nothing."""
        own = self.base.same(its.base.blind, 1 / (1 - its.told))
        theirs = self.base.blind.same(its.base, 1 - self.told)
        return float(max(self.base.other(its.base), self._hidden(its), own, theirs))

    def open(self, its: Any) -> float:
        """Log-ratio of the chances that a harmless value is disclosed."""
        return _log(self.told / its.told)

    def _hidden(self, its: Any) -> float:
        """Largest log-ratio of a report that hides a harmless value."""
        return float(self.base.blind.same(its.base.blind, (1 - self.told) / (1 - its.told)))


def _bit(a: int, b: int) -> float:
    """Largest log-ratio of a bit that is 1 with chance a/2**64 and one with b/2**64."""
    return largest((a, WORD - a), (b, WORD - b))


def _log(ratio: Fraction) -> float:
    """A float that is at least ln(ratio), also below 0."""
    if ratio >= 1:
        return _upper(ratio)
    return math.nextafter(math.nextafter(-_upper(1 / ratio), math.inf), math.inf)
