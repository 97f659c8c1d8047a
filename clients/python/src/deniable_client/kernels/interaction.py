"""What several answers of a person have to do with each other: they are hashed to one bucket together.

Public hashes that are balanced send each answer to one of g buckets; the buckets are added up modulo g, and subset
selection speaks of the sum. In a crowd, reports depend on the interaction of the questions alone, not on margins.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, prod
from typing import ClassVar

from deniable_client.hashing import permute, split64
from deniable_client.kernels.basic import Subset
from deniable_client.kernels.contract import (
    Base,
    check_coin,
    check_k,
    check_threshold,
    check_value,
    check_whole,
)
from deniable_client.kernels.seeded import Seeded
from deniable_client.packing import bits_width, pack_bits, pack_int
from deniable_client.words import Words, subset

__all__ = ["BUCKETS_MAX", "QUESTIONS_MAX", "Interaction"]

QUESTIONS_MAX = 8
"""Questions that are taken together."""
BUCKETS_MAX = 1 << 12
"""A report has a bit for each bucket."""


@dataclass(frozen=True, slots=True)
class Interaction(Seeded, Base):
    """A fresh public seed, and `size` of g buckets: the sum of the answers' buckets with probability keep/2**64.

    A value is the number of a cell: one answer to each question, the last question counting fastest. Where g does not
    divide the number of answers, that is filled up with answers that nobody has.
    """

    sizes: tuple[int, ...]
    g: int
    size: int
    keep: int
    kind: ClassVar[str] = "interaction"

    def __post_init__(self) -> None:
        check_whole("number of questions", len(self.sizes), 2, QUESTIONS_MAX)
        for own in self.sizes:
            check_k(own)
        check_k(self.k)
        check_whole("g", self.g, 2, BUCKETS_MAX)
        check_whole("size", self.size, 1, self.g - 1)
        check_threshold("keep", self.keep)

    @property
    def k(self) -> int:  # type: ignore[override]  # it follows from the sizes
        """Number of cells."""
        return prod(self.sizes)

    @property
    def padded(self) -> tuple[int, ...]:
        """Numbers of answers after filling up: the next multiples of g."""
        return tuple(-(-own // self.g) * self.g for own in self.sizes)

    @property
    def reports(self) -> tuple[int, int]:
        """See `Base.reports`. The seed is independent of the value, so they are those of subsets of the buckets."""
        return comb(self.g - 1, self.size - 1), comb(self.g - 1, self.size)

    @property
    def levels(self) -> tuple[int, int]:
        return self.size, self.g - self.size

    @property
    def width(self) -> int:
        return 8 + bits_width(self.g)

    @property
    def words(self) -> int:
        return self.size + 2

    def record(self, x: int) -> tuple[int, ...]:
        """The answers of a cell by its number, one to each question."""
        check_value(x, self.k)
        found: list[int] = []
        for own in reversed(self.sizes):
            x, answer = divmod(x, own)
            found.insert(0, answer)
        return tuple(found)

    def place(self, x: int, coin: int) -> int:
        """Where the seed `coin` sends the cell: the sum of its answers' buckets, each by a hash of its own."""
        each = enumerate(zip(self.record(x), self.padded, strict=True), start=1)
        return sum(permute(split64(coin, i), answer, own) for i, (answer, own) in each) % self.g

    def randomise_dealt(self, x: int, coin: int, words: Words) -> bytes:
        check_coin(coin)
        return pack_int(coin, 8) + Subset(self.g, self.size, self.keep).randomise(self.place(x, coin), words)

    def blind(self, words: Words) -> bytes:
        return pack_int(words.word(), 8) + pack_bits(subset(self.g, self.size, words), self.g)
