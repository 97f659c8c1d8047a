"""Kernels on block designs: Hadamard response and projective-geometry response. No seed, few outputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from deniable_client.errors import require
from deniable_client.kernels.contract import Numbered, check_k, check_threshold, check_value
from deniable_client.packing import pack_int
from deniable_client.words import Words, below, happens

__all__ = ["Hadamard", "Projective", "is_prime", "point", "point_index", "points", "rank_of"]


@dataclass(frozen=True, slots=True)
class Hadamard(Numbered):
    """Hadamard response: a column of the Sylvester matrix with the entry +1 in row x+1 with probability keep/2**64."""

    k: int
    keep: int
    kind: ClassVar[str] = "hadamard"
    words: ClassVar[int] = 2

    def __post_init__(self) -> None:
        check_k(self.k, (1 << 32) - 1)
        check_threshold("keep", self.keep)

    @property
    def order(self) -> int:
        """Number of columns: the least power of two above k (row 0, all ones, tells nothing and is left out)."""
        return 1 << self.k.bit_length()

    @property
    def reports(self) -> tuple[int, int]:
        """See `Base.reports`. Half of the columns have +1 in a row, half have -1."""
        return self.order // 2, self.order // 2

    def randomise(self, x: int, words: Words) -> bytes:
        check_value(x, self.k)
        odd = 0 if happens(self.keep, words) else 1
        row, y = x + 1, below(self.order, words)
        if (row & y).bit_count() % 2 != odd:
            y ^= row & -row
        return pack_int(y, self.width)


@dataclass(frozen=True, slots=True)
class Projective(Numbered):
    """Projective-geometry response: a point of PG(t-1, prime), orthogonal to x's point with probability keep/2**64."""

    k: int
    prime: int
    keep: int
    kind: ClassVar[str] = "projective"

    def __post_init__(self) -> None:
        check_k(self.k, 1 << 31)
        ok = isinstance(self.prime, int) and 2 <= self.prime < 1 << 31 and is_prime(self.prime)
        require(ok, "prime", self.prime, "a prime number below 2**31")
        check_threshold("keep", self.keep)

    @property
    def rank(self) -> int:
        """Number t of coordinates: the least with enough points for all items."""
        return rank_of(self.k, self.prime)

    @property
    def order(self) -> int:
        """Number of points, which is the number of reports."""
        return points(self.prime, self.rank)

    @property
    def reports(self) -> tuple[int, int]:
        """See `Base.reports`. Every item has the same number of orthogonal points."""
        own = points(self.prime, self.rank - 1)
        return own, self.order - own

    @property
    def words(self) -> int:
        return 2 * self.rank + 1

    def randomise(self, x: int, words: Words) -> bytes:
        check_value(x, self.k)
        item = point(x, self.prime, self.rank)
        kept = happens(self.keep, words)
        while True:
            y = self._vector(item, 0 if kept else 1 + below(self.prime - 1, words), words)
            if any(y):
                return pack_int(point_index(y, self.prime), self.width)

    def _vector(self, item: list[int], product: int, words: Words) -> list[int]:
        """A uniform vector whose inner product with the item's is `product`: all free but the item's first 1."""
        pivot = item.index(1)
        y = [0 if i == pivot else below(self.prime, words) for i in range(len(item))]
        y[pivot] = (product - sum(a * b for a, b in zip(item, y, strict=True))) % self.prime
        return y


def is_prime(n: int) -> bool:
    """Trial division: enough for the sizes that occur here."""
    return n >= 2 and all(n % d for d in range(2, int(n**0.5) + 1))


def points(prime: int, t: int) -> int:
    """Number of points of PG(t-1, prime)."""
    total: int = (prime**t - 1) // (prime - 1)
    return total


def rank_of(k: int, prime: int) -> int:
    """The least t >= 2 with at least k points."""
    t = 2
    while points(prime, t) < k:
        t += 1
    return t


def point(index: int, prime: int, t: int) -> list[int]:
    """The index-th vector whose first non-zero entry is 1, in lexicographic order."""
    tail = 0
    while points(prime, tail + 1) <= index:
        tail += 1
    rest = index - points(prime, tail)
    digits = [rest // prime**i % prime for i in range(tail - 1, -1, -1)]
    return [0] * (t - 1 - tail) + [1, *digits]


def point_index(vector: list[int], prime: int) -> int:
    """The inverse of `point`, for any multiple of its vector."""
    pivot = next(i for i, v in enumerate(vector) if v)
    scale = pow(vector[pivot], -1, prime)
    digits = [v * scale % prime for v in vector[pivot + 1 :]]
    number = 0
    for digit in digits:
        number = number * prime + digit
    return points(prime, len(digits)) + number
