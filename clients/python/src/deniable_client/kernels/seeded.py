"""Kernels with a public seed: local hashing, balanced hashing by a keyed permutation, the wheel, permuted intervals."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from deniable_client.errors import require
from deniable_client.exact import keep_threshold
from deniable_client.hashing import RANGE_MAX, bucket, hash32, permute
from deniable_client.kernels.basic import Subset
from deniable_client.kernels.contract import (
    Base,
    check_coin,
    check_k,
    check_seed_words,
    check_threshold,
    check_value,
    favoured,
    other_than,
)
from deniable_client.kernels.laws import OneOf
from deniable_client.packing import pack_int, uint_width
from deniable_client.words import Words, below, happens

__all__ = ["Balanced", "Hashing", "Interval", "Wheel"]


class Seeded:
    """A kernel whose report begins with a public seed: a fresh one, or one that was dealt beforehand."""

    __slots__ = ()

    def randomise(self, x: int, words: Words) -> bytes:
        """See `Kernel.randomise`: with a fresh seed."""
        check_seed_words(words)
        return self.randomise_dealt(x, words.word(), words)

    @abstractmethod
    def randomise_dealt(self, x: int, coin: int, words: Words) -> bytes:
        """`randomise` with a public seed that was dealt beforehand, without looking at the value."""


def _blind(outputs: int, words: Words) -> bytes:
    """A seed and one of so many outputs, all alike."""
    return pack_int(words.word(), 8) + pack_int(below(outputs, words), uint_width(outputs))


@dataclass(frozen=True, slots=True)
class Hashing(Seeded, Base):
    """Local hashing: a fresh public seed, then randomised response on the hash value in 0..g-1."""

    k: int
    g: int
    keep: int
    kind: ClassVar[str] = "hashing"
    words: ClassVar[int] = 3
    favours: ClassVar[int | None] = 0
    """See `Base.favours`: a bucket may hold all values."""

    def __post_init__(self) -> None:
        check_k(self.k)
        self._check_g()
        check_threshold("keep", self.keep)

    def _check_g(self) -> None:
        ok = isinstance(self.g, int) and 2 <= self.g <= RANGE_MAX
        more = "Larger ranges need more than 32-bit hash values."
        require(ok, "g", self.g, f"an integer from 2 to {RANGE_MAX}", more)

    @property
    def reports(self) -> tuple[int, int]:
        """See `Base.reports`. The seed is independent of the value, so they are those of the response on 0..g-1."""
        return 1, self.g - 1

    @property
    def law(self) -> OneOf | None:
        return OneOf.of(self.g, self.keep)

    @property
    def width(self) -> int:
        return 8 + uint_width(self.g)

    def place(self, x: int, coin: int) -> int:
        """Where the seed `coin` sends the value: 0..g-1."""
        return bucket(coin, x, self.g)

    def randomise_dealt(self, x: int, coin: int, words: Words) -> bytes:
        check_value(x, self.k)
        check_coin(coin)
        own = self.place(x, coin)
        y = own if happens(self.keep, words) else other_than(own, self.g, words)
        return pack_int(coin, 8) + pack_int(y, uint_width(self.g))

    def blind(self, words: Words) -> bytes:
        return _blind(self.g, words)


@dataclass(frozen=True, slots=True)
class Balanced(Hashing):
    """Balanced hashing: a keyed permutation cut into g blocks, then randomised response on the block's number."""

    kind: ClassVar[str] = "balanced"
    favours: ClassVar[None] = None
    law: ClassVar[None] = None

    def _check_g(self) -> None:
        ok = isinstance(self.g, int) and 2 <= self.g <= self.k
        require(ok, "g", self.g, f"an integer from 2 to k = {self.k}", "More blocks than items would be empty.")

    least = property(favoured)

    def place(self, x: int, coin: int) -> int:
        """See `Hashing.place`: the block of the value's position."""
        return permute(coin, x, self.k) * self.g // self.k


@dataclass(frozen=True, slots=True)
class Wheel(Seeded, Base):
    """The wheel: items at hashed places on a ring of 2**ring points; an arc of points from there on is favoured."""

    k: int
    arc: int
    keep: int
    ring: int = 32
    kind: ClassVar[str] = "wheel"
    words: ClassVar[int] = 3

    def __post_init__(self) -> None:
        check_k(self.k)
        require(isinstance(self.ring, int) and 1 <= self.ring <= 32, "ring", self.ring, "from 1 to 32 (bits)")
        ok = isinstance(self.arc, int) and 1 <= self.arc < 1 << self.ring
        require(ok, "arc", self.arc, f"an integer from 1 to 2**{self.ring} - 1")
        check_threshold("keep", self.keep)

    @classmethod
    def calibrate(cls, epsilon: float, k: int, arc: int, ring: int = 32) -> Wheel:
        """The most accurate integers within e^epsilon."""
        check_k(k)
        require(1 <= arc < 1 << ring, "arc", arc, f"an integer from 1 to 2**{ring} - 1")
        return cls(k, arc, keep_threshold(epsilon, arc, (1 << ring) - arc), ring)

    @property
    def reports(self) -> tuple[int, int]:
        """See `Base.reports`. Given any places of the items, a point has one mass on the arc and one off it."""
        return self.arc, (1 << self.ring) - self.arc

    @property
    def width(self) -> int:
        return 8 + uint_width(1 << self.ring)

    def randomise_dealt(self, x: int, coin: int, words: Words) -> bytes:
        check_value(x, self.k)
        check_coin(coin)
        size = 1 << self.ring
        start = hash32(coin, x) >> (32 - self.ring)
        kept = happens(self.keep, words)
        step = below(self.arc, words) if kept else self.arc + below(size - self.arc, words)
        return pack_int(coin, 8) + pack_int((start + step) % size, uint_width(size))

    def blind(self, words: Words) -> bytes:
        return _blind(1 << self.ring, words)


@dataclass(frozen=True, slots=True)
class Interval(Subset):
    """Subset selection in a seed and log2 k bits: `size` neighbouring positions on a ring of k, under a permutation.

    A report has the first of them; the own one is among them with probability keep/2**64.

    A report y means the items at positions y, y+1, ..., y+size-1 (mod k) of the permutation that its seed gives. The
    law is that of `Subset`: given any permutation, `size` of the k reports have one mass and the rest another.
    """

    kind: ClassVar[str] = "interval"
    words: ClassVar[int] = 3

    @property
    def reports(self) -> tuple[int, int]:
        return self.levels

    @property
    def width(self) -> int:
        return 8 + uint_width(self.k)

    def randomise(self, x: int, words: Words) -> bytes:
        check_value(x, self.k)
        check_seed_words(words)
        seed = words.word()
        back = below(self.size, words) if happens(self.keep, words) else self.size + below(self.k - self.size, words)
        y = (permute(seed, x, self.k) - back) % self.k
        return pack_int(seed, 8) + pack_int(y, uint_width(self.k))

    def blind(self, words: Words) -> bytes:
        return _blind(self.k, words)
