"""The kernels of the basic families: randomised response, subset selection, unary encoding, local hashing."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from deniable_client.errors import require
from deniable_client.exact import flip_threshold, keep_threshold, two_level_ratio, unary_ratio
from deniable_client.hashing import RANGE_MAX, bucket
from deniable_client.kernels.contract import (
    check_coin,
    check_k,
    check_seed_words,
    check_threshold,
    check_value,
    other_than,
)
from deniable_client.packing import bits_width, pack_bits, pack_int, uint_width
from deniable_client.words import Words, happens, subset

__all__ = ["Hashing", "Response", "Subset", "Unary"]


@dataclass(frozen=True, slots=True)
class Response:
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
    def ratio(self) -> Fraction:
        """See `Kernel.ratio`."""
        return two_level_ratio(self.keep, 1, self.k - 1)

    @property
    def width(self) -> int:
        """See `Kernel.width`."""
        return uint_width(self.k)

    def randomise(self, x: int, words: Words) -> bytes:
        """See `Kernel.randomise`."""
        check_value(x, self.k)
        y = x if happens(self.keep, words) else other_than(x, self.k, words)
        return pack_int(y, self.width)


@dataclass(frozen=True, slots=True)
class Subset:
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
    def calibrate(cls, epsilon: float, k: int, size: int) -> Subset:
        """The most accurate integers within e^epsilon."""
        check_k(k)
        require(1 <= size < k, "size", size, f"an integer from 1 to k-1 = {k - 1}")
        return cls(k, size, keep_threshold(epsilon, size, k - size))

    @property
    def ratio(self) -> Fraction:
        """See `Kernel.ratio`. A set with x has mass keep/C(k-1,size-1), one without (1-keep)/C(k-1,size)."""
        return two_level_ratio(self.keep, self.size, self.k - self.size)

    @property
    def width(self) -> int:
        """See `Kernel.width`."""
        return bits_width(self.k)

    def randomise(self, x: int, words: Words) -> bytes:
        """See `Kernel.randomise`."""
        check_value(x, self.k)
        kept = happens(self.keep, words)
        others = subset(self.k - 1, self.size - kept, words)
        chosen = {i + (i >= x) for i in others} | ({x} if kept else set())
        return pack_bits(chosen, self.k)


@dataclass(frozen=True, slots=True)
class Unary:
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
    def width(self) -> int:
        """See `Kernel.width`."""
        return bits_width(self.k)

    def randomise(self, x: int, words: Words) -> bytes:
        """See `Kernel.randomise`."""
        check_value(x, self.k)
        ones = [i for i in range(self.k) if happens(self.keep if i == x else self.flip, words)]
        return pack_bits(ones, self.k)


@dataclass(frozen=True, slots=True)
class Hashing:
    """Local hashing: a fresh public seed, then randomised response on the hash value in 0..g-1."""

    k: int
    g: int
    keep: int
    kind: ClassVar[str] = "hashing"

    def __post_init__(self) -> None:
        check_k(self.k)
        ok = isinstance(self.g, int) and 2 <= self.g <= RANGE_MAX
        require(
            ok,
            "g",
            self.g,
            f"an integer from 2 to {RANGE_MAX}",
            "Larger ranges need more than 32-bit hash values.",
        )
        check_threshold("keep", self.keep)

    @classmethod
    def calibrate(cls, epsilon: float, k: int, g: int) -> Hashing:
        """The most accurate integers within e^epsilon."""
        check_k(k)
        return cls(k, g, keep_threshold(epsilon, 1, g - 1))

    @property
    def ratio(self) -> Fraction:
        """See `Kernel.ratio`. The seed is independent of the value, so the ratio is that of the response on 0..g-1."""
        return two_level_ratio(self.keep, 1, self.g - 1)

    @property
    def width(self) -> int:
        """See `Kernel.width`."""
        return 8 + uint_width(self.g)

    def randomise(self, x: int, words: Words) -> bytes:
        """See `Kernel.randomise`."""
        check_seed_words(words)
        return self.randomise_dealt(x, words.word(), words)

    def randomise_dealt(self, x: int, coin: int, words: Words) -> bytes:
        """`randomise` with a public seed that was dealt beforehand, without looking at the value."""
        check_value(x, self.k)
        check_coin(coin)
        h = bucket(coin, x, self.g)
        y = h if happens(self.keep, words) else other_than(h, self.g, words)
        return pack_int(coin, 8) + pack_int(y, uint_width(self.g))
