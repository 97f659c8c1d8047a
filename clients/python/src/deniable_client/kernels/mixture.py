"""Mixtures: one of two kernels, by a coin that does not look at the value."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from deniable_client.errors import require
from deniable_client.exact import WORD_BITS
from deniable_client.kernels.contract import Base, Kernel, check_k, check_plain, check_value
from deniable_client.packing import bits_width, pack_bits
from deniable_client.words import Words, happens

__all__ = ["Mixture", "Whole"]


@dataclass(frozen=True, slots=True)
class Whole(Base):
    """The set of all k values, whatever the value is: a report that says nothing."""

    k: int
    kind: ClassVar[str] = "whole"

    def __post_init__(self) -> None:
        check_k(self.k)

    @property
    def ratio(self) -> Fraction:
        return Fraction(1)

    @property
    def width(self) -> int:
        return bits_width(self.k)

    def randomise(self, x: int, words: Words) -> bytes:
        check_value(x, self.k)
        return self.blind(words)

    def blind(self, words: Words) -> bytes:
        return pack_bits(range(self.k), self.k)

    @property
    def blind_peak(self) -> Fraction:
        """See `Base.blind_peak`: all reports are alike."""
        return Fraction(1)


@dataclass(frozen=True, slots=True)
class Mixture:
    """The second kernel with probability coin/2**64, else the first one; both have reports of one length.

    A report of a mixture is at most as telling as the more telling of the two kernels, whether or not it shows which of
    them made it.
    """

    first: Kernel
    second: Kernel
    coin: int
    kind: ClassVar[str] = "mixture"

    def __post_init__(self) -> None:
        ok = isinstance(self.coin, int) and 0 <= self.coin < 1 << WORD_BITS
        require(ok, "coin", self.coin, f"an integer from 0 to 2**{WORD_BITS} - 1")
        check_plain("part of a mixture", self.first, self.second)
        for name in ("k", "width"):
            one, two = getattr(self.first, name, None), getattr(self.second, name, None)
            require(one is not None and one == two, f"{name} of the kernels in a mixture", (one, two), "the same")

    @property
    def k(self) -> int:
        return self.first.k

    @property
    def ratio(self) -> Fraction:
        """See `Kernel.ratio`: the larger one, of those that can happen."""
        return max(self.first.ratio, self.second.ratio) if self.coin else self.first.ratio

    @property
    def width(self) -> int:
        return self.first.width

    def randomise(self, x: int, words: Words) -> bytes:
        return (self.second if happens(self.coin, words) else self.first).randomise(x, words)
