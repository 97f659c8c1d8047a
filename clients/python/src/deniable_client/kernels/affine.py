"""Affine response: unions of cyclotomic classes of a prime field, moved by any shift. No seed, few outputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar, Self

from deniable_client.errors import require
from deniable_client.exact import keep_threshold
from deniable_client.kernels.contract import Numbered, check_k, check_threshold, check_value, check_whole
from deniable_client.kernels.geometry import is_prime
from deniable_client.kernels.laws import OneOf
from deniable_client.packing import pack_int
from deniable_client.words import Words, below, happens

__all__ = ["CELLS_MAX", "Affine", "is_primitive", "primitive_root"]

CELLS_MAX = 1 << 23
"""Reports that a design may have at most: they are also the cells of its tally."""


@dataclass(frozen=True, slots=True)
class Affine(Numbered):
    """Affine response: a block of a balanced design on 0..q-1, holding x with probability keep/2**64.

    With h = (q-1)/m, class c is the set of all g^(c + m l) mod q, l < h. Block (i, b) is the classes i, ..., i+j-1
    (mod m), and 0 if `zero` is 1, all moved by b; it has w = j h + zero points, and the report is i q + b.

    Every item is in exactly w of the q blocks with the same i, so the likelihoods have two levels for every i.
    """

    k: int
    q: int
    m: int
    j: int
    zero: int
    g: int
    keep: int
    kind: ClassVar[str] = "affine"
    words: ClassVar[int] = 3

    def __post_init__(self) -> None:
        check_k(self.k, CELLS_MAX)
        check_whole("q", self.q, max(3, self.k), CELLS_MAX, "It is the number of points, and the answers are some.")
        check_whole("m", self.m, 1, CELLS_MAX // self.q, f"A design has at most {CELLS_MAX} reports, which are m q.")
        check_whole("j", self.j, 0, self.m - 1)
        check_whole("zero", self.zero, 0, 1)
        check_whole("g", self.g, 1, self.q - 1)
        check_threshold("keep", self.keep)
        require(is_prime(self.q), "q", self.q, "a prime number")
        require((self.q - 1) % self.m == 0, "m", self.m, f"a divisor of q-1 = {self.q - 1}")
        require(self.j + self.zero > 0, "j", self.j, "at least 1 if zero is 0", "A block would have no points.")
        more = "Its powers must be all points but 0; otherwise some reports would rule out answers."
        require(is_primitive(self.g, self.q), "g", self.g, f"a primitive root of {self.q}", more)

    @classmethod
    def calibrate(cls, epsilon: float, k: int, q: int, m: int, j: int, zero: int, g: int | None = None) -> Self:
        """The most accurate integers within e^epsilon; `g` is the least primitive root unless given."""
        root = primitive_root(q) if g is None else g
        points = cls(k, q, m, j, zero, root, 1).points  # with any threshold: it checks all other numbers
        return cls(k, q, m, j, zero, root, keep_threshold(epsilon, points, q - points))

    @property
    def blocks(self) -> tuple[int, ...]:
        """The numbers that say what blocks there are."""
        return self.q, self.m, self.j, self.zero, self.g

    @property
    def step(self) -> int:
        """Points of a class: h."""
        return (self.q - 1) // self.m

    @property
    def points(self) -> int:
        """Points of a block: w."""
        return self.j * self.step + self.zero

    @property
    def order(self) -> int:
        """Number of reports."""
        return self.m * self.q

    @property
    def reports(self) -> tuple[int, int]:
        """See `Base.reports`. For each of the m unions, `points` of the q shifts hold a given item."""
        return self.m * self.points, self.m * (self.q - self.points)

    @property
    def levels(self) -> tuple[int, int]:
        return self.points, self.q - self.points

    @property
    def least(self) -> int:
        """See `Base.least`: a block of w points holds at least w - (q-k) items, and misses at least k - w."""
        favoured = self.points if self.lift >= 1 else self.q - self.points
        return max(1, favoured - (self.q - self.k))

    @property
    def law(self) -> OneOf:
        """See `Base.law`: given the union, whose choice looks at nothing, a report is one of q shifts."""
        return OneOf.of(self.q, self.keep, self.points)

    def randomise(self, x: int, words: Words) -> bytes:
        return self._block(x, words, lambda: below(self.m, words))

    def randomise_dealt(self, x: int, coin: int, words: Words) -> bytes:
        """`randomise` with a union that was dealt beforehand, without looking at the value: private for every one."""
        check_whole("coin", coin, 0, self.m - 1, "It is the union that the collector dealt.")
        return self._block(x, words, lambda: coin)

    def _block(self, x: int, words: Words, union: Callable[[], int]) -> bytes:
        check_value(x, self.k)
        kept = happens(self.keep, words)
        i = union()
        own = self.points
        turn, place = divmod(below(own if kept else self.q - own, words), self.step)
        skipped, last = (0, self.j) if kept else (self.j, self.m - self.j)
        power = self._power((i + turn + skipped) % self.m + self.m * place)
        point = (power, 0)[turn == last]
        return pack_int(i * self.q + (x - point) % self.q, self.width)

    def _power(self, exponent: int) -> int:
        """g^exponent mod q, 0 <= exponent < q: a ladder of fixed length, since time would tell the value's place."""
        power = 1
        for bit in range(self.q.bit_length() - 1, -1, -1):
            square = power * power % self.q
            power = (square, square * self.g % self.q)[exponent >> bit & 1]
        return power


def prime_factors(n: int) -> Iterator[int]:
    """The different prime factors of n >= 1, by trial division."""
    divisor = 2
    while divisor * divisor <= n:
        if n % divisor == 0:
            yield divisor
            while n % divisor == 0:
                n //= divisor
        divisor += 1
    if n > 1:
        yield n


def is_primitive(g: int, q: int) -> bool:
    """Whether the powers of g are all of 1..q-1, for a prime q."""
    return all(pow(g, (q - 1) // factor, q) != 1 for factor in prime_factors(q - 1))


def primitive_root(q: int) -> int:
    """The least primitive root of a prime."""
    require(isinstance(q, int) and 3 <= q <= CELLS_MAX and is_prime(q), "q", q, f"a prime number from 3 to {CELLS_MAX}")
    return next(g for g in range(2, q) if is_primitive(g, q))
