"""The kernels of the basic families: randomised response, subset selection, unary encoding."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

from deniable_client.errors import require
from deniable_client.exact import WORD_BITS, flip_threshold, keep_threshold, unary_ratio
from deniable_client.kernels.contract import (
    Base,
    check_k,
    check_threshold,
    check_value,
    favoured,
    other_than,
)
from deniable_client.packing import bits_width, pack_bits, pack_int, uint_width
from deniable_client.words import Words, below, happens, subset

__all__ = ["Response", "Subset", "Unary"]


@dataclass(frozen=True, slots=True)
class Response(Base):
    """Generalised randomised response: the value with probability keep/2**64, else another one, all alike."""

    k: int
    keep: int
    kind: ClassVar[str] = "response"

    def __post_init__(self) -> None:
        check_k(self.k)
        check_threshold("keep", self.keep)

    @classmethod
    def calibrate(cls, epsilon: float, k: int) -> Response:
        """The most accurate integers within e^epsilon."""
        check_k(k)
        return cls(k, keep_threshold(epsilon, 1, k - 1))

    @property
    def levels(self) -> tuple[int, int]:
        return 1, self.k - 1

    @property
    def least(self) -> int:
        return favoured(self)

    @property
    def width(self) -> int:
        return uint_width(self.k)

    def randomise(self, x: int, words: Words) -> bytes:
        check_value(x, self.k)
        y = x if happens(self.keep, words) else other_than(x, self.k, words)
        return pack_int(y, self.width)

    def blind(self, words: Words) -> bytes:
        return pack_int(below(self.k, words), self.width)


@dataclass(frozen=True, slots=True)
class Subset(Base):
    """Subset selection: `size` values, the own one among them with probability keep/2**64, as bits (no order)."""

    k: int
    size: int
    keep: int
    kind: ClassVar[str] = "subset"

    def __post_init__(self) -> None:
        check_k(self.k)
        ok = isinstance(self.size, int) and 1 <= self.size < self.k
        require(ok, "size", self.size, f"an integer from 1 to k-1 = {self.k - 1}")
        check_threshold("keep", self.keep)

    @classmethod
    def calibrate(cls, epsilon: float, k: int, size: int) -> Self:
        """The most accurate integers within e^epsilon."""
        check_k(k)
        require(1 <= size < k, "size", size, f"an integer from 1 to k-1 = {k - 1}")
        return cls(k, size, keep_threshold(epsilon, size, k - size))

    @property
    def levels(self) -> tuple[int, int]:
        """See `Base.levels`. A set with x has mass keep/C(k-1,size-1), one without (1-keep)/C(k-1,size)."""
        return self.size, self.k - self.size

    @property
    def least(self) -> int:
        return favoured(self)

    @property
    def width(self) -> int:
        return bits_width(self.k)

    def randomise(self, x: int, words: Words) -> bytes:
        check_value(x, self.k)
        kept = happens(self.keep, words)
        others = subset(self.k - 1, self.size - kept, words)
        chosen = {i + (i >= x) for i in others} | ({x} if kept else set())
        return pack_bits(chosen, self.k)

    def blind(self, words: Words) -> bytes:
        return pack_bits(subset(self.k, self.size, words), self.k)


@dataclass(frozen=True, slots=True)
class Unary(Base):
    """Unary encoding: k independent bits, 1 with probability keep/2**64 (own value) or flip/2**64 (others)."""

    k: int
    keep: int
    flip: int
    kind: ClassVar[str] = "unary"

    def __post_init__(self) -> None:
        check_k(self.k)
        check_threshold("keep", self.keep)
        check_threshold("flip", self.flip)
        require(self.flip < self.keep, "flip", self.flip, "less than keep")

    @classmethod
    def calibrate(cls, epsilon: float, k: int, keep: int) -> Unary:
        """The most accurate `flip` within e^epsilon for a given `keep`."""
        check_k(k)
        return cls(k, keep, flip_threshold(epsilon, keep))

    @property
    def ratio(self) -> Fraction:
        """See `Kernel.ratio`. Only the two bits that differ between two inputs count."""
        return unary_ratio(self.keep, self.flip)

    @property
    def share(self) -> Fraction:
        return Fraction(self.flip, 1 << WORD_BITS)

    @property
    def width(self) -> int:
        return bits_width(self.k)

    def randomise(self, x: int, words: Words) -> bytes:
        check_value(x, self.k)
        ones = [i for i in range(self.k) if happens(self.keep if i == x else self.flip, words)]
        return pack_bits(ones, self.k)

    def blind(self, words: Words) -> bytes:
        return pack_bits([i for i in range(self.k) if happens(self.flip, words)], self.k)
