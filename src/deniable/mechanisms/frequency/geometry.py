"""Responses on block designs, one of about k outputs, no seed: Hadamard [Acharya19], projective geometry [Feldman22].

The first is decoded by a fast transform; the second is near the least error with reports of about log2 k bits.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np

from deniable.core.channel import Channel, Proof, Witness
from deniable.core.domain import Domain
from deniable.core.guess import first_to_cover
from deniable.core.laws import epsilon_to, hadamard, projective, ratio_to
from deniable.core.support import Support
from deniable.core.types import Bytes, Columns, FloatArray, IntArray
from deniable.errors import require, whole
from deniable.kernels.geometry import coordinates, line_sums, random_points
from deniable.kernels.sampling import below
from deniable.kernels.transforms import count_orthogonal, walsh_hadamard
from deniable.mechanisms.bulk import Cells, Numbered, SupportBulk, check_outputs, two_level
from deniable.mechanisms.outputs import check_matrix
from deniable.mechanisms.reader import NumberReader
from deniable.mechanisms.support import SupportMechanism
from deniable.randomness import Simulation, Stream, bernoulli
from deniable_client.exact import check_epsilon
from deniable_client.kernels import Hadamard as HadamardKernel
from deniable_client.kernels import Projective as ProjectiveKernel
from deniable_client.kernels import promised_ratio
from deniable_client.kernels.geometry import is_prime, point, points, rank_of

__all__ = ["BlockNumbers", "Hadamard", "HadamardBulk", "Projective", "best_prime"]


class BlockNumbers(Numbered):
    """Reports that are numbers of the blocks of a design: every item is in as many of them."""

    @property
    def size(self: Any) -> int:
        return int(self.kernel.order)

    def blind(self, n: int, rng: Stream) -> Columns:
        """See `Bulk.blind`: any block."""
        return {"value": below(rng, self.size, n).astype(self.fields[0].dtype)}

    def simulate_counts(self: Any, counts: IntArray, rng: Simulation, blind: int = 0) -> Cells:
        """See `Bulk.simulate_counts`: the blocks of an item's people are multinomial, among its own and the others."""
        check_matrix(self.k, self.size, f"this {self.kernel.kind} kernel")
        blocks = self.supported({"value": np.arange(self.size, dtype=np.uint64)})
        own = np.unpackbits(blocks, axis=1, count=self.k, bitorder="little").T.astype(np.float64)
        draw = rng.generator()
        kept = draw.binomial(counts, float(self.support.p))
        value = draw.multinomial(blind, np.full(self.size, 1 / self.size))
        for people, rows in ((kept, own), (counts - kept, 1 - own)):
            value += draw.multinomial(people, rows / rows.sum(axis=1, keepdims=True)).sum(axis=0)
        return {"n": np.array([counts.sum() + blind]), "value": value[None, :]}


class HadamardBulk(BlockNumbers, SupportBulk[HadamardKernel]):
    """Hadamard response for many people: a column number."""

    reads = NumberReader
    uneven = True
    knows_counts = True

    @cached_property
    def support(self) -> Support[Fraction]:
        return hadamard(*ratio_to(self.kernel.ratio))

    def extra_pairs(self, f: FloatArray, support: Support[float]) -> FloatArray:
        """See `SupportBulk.extra_pairs`: the value whose row is the sum of the pair's rows ties them together."""
        rows = np.arange(1, self.k + 1)
        third = (rows[:, None] ^ rows[None, :]) - 1
        held = np.where((third >= 0) & (third < self.k), f[np.clip(third, 0, self.k - 1)], 0.0)
        return np.asarray(held * (support.p / 2 - support.both_none))

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        """See `Bulk.perturb`: a uniform column, and where its entry is not the wanted one, its partner."""
        odd = ~bernoulli(rng, self.kernel.keep, items.size)
        rows, y = items + 1, below(rng, self.kernel.order, items.size)
        wrong = (np.bitwise_count(rows & y) % 2 == 1) != odd
        return {"value": np.where(wrong, y ^ (rows & -rows), y).astype(self.fields[0].dtype)}

    def support_counts(self, cells: Cells) -> IntArray:
        """See `SupportBulk.support_counts`: by the fast Walsh-Hadamard transform."""
        signs = walsh_hadamard(cells["value"][0])
        return np.asarray((int(cells["n"][0]) + signs[1 : self.k + 1]) // 2)

    def supported(self, columns: Columns) -> Bytes:
        y, rows = columns["value"].astype(np.int64), np.arange(1, self.k + 1)
        return np.packbits(np.bitwise_count(y[:, None] & rows[None, :]) % 2 == 0, axis=1, bitorder="little")

    def channel(self) -> Channel:
        order = self.kernel.order
        check_outputs(math.log2(order), "this Hadamard response", self.k)
        held = [frozenset(x for x in range(self.k) if ((x + 1) & y).bit_count() % 2 == 0) for y in range(order)]
        return two_level(self.kernel, [f"report {y}" for y in range(order)], held, order // 2, order // 2)


@dataclass(frozen=True, kw_only=True)
class Hadamard(SupportMechanism):
    """A column number of a Sylvester matrix, which supports the items whose rows have +1 there.

    Short reports without a seed and a server that works in O(n + k log k); best at small epsilon, where one bit of
    information per report is all there is.
    """

    family: ClassVar[str] = "hr"
    vetted: ClassVar[bool] = True

    @cached_property
    def bulk(self) -> HadamardBulk:
        return HadamardBulk(HadamardKernel.calibrate(self.epsilon, self.k))

    @cached_property
    def support(self) -> Support[float]:
        return hadamard(*epsilon_to(self.epsilon))

    def covered(self, support: Support[float]) -> float:
        """See `SupportMechanism.covered`: only with k = 2 does one of the four columns support nothing."""
        return 0.75 if self.k == 2 else 1.0

    def best_ranked(self, order: IntArray) -> FloatArray:
        """See `SupportMechanism.best_ranked`: every further row halves the columns that are left."""
        return first_to_cover(order, lambda x, y: np.bitwise_count((x + 1) & y) % 2 == 0, 1 << self.k.bit_length())

    @cached_property
    def proof(self) -> Proof:
        text = (
            "every row but the first has +1 in half of the columns, so a report has the mass 2 keep/(2^64 K) given any "
            "value that it supports and 2 (2^64 - keep)/(2^64 K) given any other"
        )
        return Proof(promised_ratio(self.kernel), "symmetry", text, Witness("report 2", 0, 1))


class ProjectiveBulk(BlockNumbers, SupportBulk[ProjectiveKernel]):
    """Projective-geometry response for many people: the number of a point."""

    reads = NumberReader
    uneven = True
    knows_counts = True

    @cached_property
    def support(self) -> Support[Fraction]:
        return projective(*ratio_to(self.kernel.ratio), self.kernel.prime, self.kernel.rank)

    def extra_pairs(self, f: FloatArray, support: Support[float]) -> FloatArray:
        """See `SupportBulk.extra_pairs`: a point orthogonal to two is so to all others on their line."""
        return line_sums(f, self.kernel.prime, self.kernel.rank) * (support.both_one - support.both_none)

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        kept = bernoulli(rng, self.kernel.keep, items.size)
        found = random_points(rng, items, kept, self.kernel.prime, self.kernel.rank)
        return {"value": found.astype(self.fields[0].dtype)}

    def support_counts(self, cells: Cells) -> IntArray:
        return count_orthogonal(cells["value"][0], self.kernel.prime, self.kernel.rank, self.k)

    def supported(self, columns: Columns) -> Bytes:
        prime, rank = self.kernel.prime, self.kernel.rank
        y = coordinates(columns["value"].astype(np.int64), prime, rank)
        return np.packbits(y @ coordinates(np.arange(self.k), prime, rank).T % prime == 0, axis=1, bitorder="little")

    def most(self, r: int) -> int:
        return min(r, points(self.kernel.prime, self.kernel.rank - 1))

    def channel(self) -> Channel:
        prime, rank, order = self.kernel.prime, self.kernel.rank, self.kernel.order
        check_outputs(math.log2(order), "this projective-geometry response", self.k)
        vectors = [point(i, prime, rank) for i in range(order)]
        held = [
            frozenset(x for x in range(self.k) if sum(a * b for a, b in zip(vectors[x], y, strict=True)) % prime == 0)
            for y in vectors
        ]
        inside = points(prime, rank - 1)
        return two_level(self.kernel, [f"report {y}" for y in range(order)], held, inside, order - inside)


@dataclass(frozen=True, kw_only=True)
class Projective(SupportMechanism):
    """A point of the projective geometry PG(t-1, prime), which supports the items whose points are orthogonal to it.

    Within a few per cent of the least error at small epsilon, without seed or hashing; the server keeps one counter for
    each of about k to prime k points.
    """

    prime: int
    family: ClassVar[str] = "pgr"
    vetted: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "prime", whole("prime", self.prime, 2, (1 << 31) - 1, "a prime number"))
        require(is_prime(self.prime), "prime", self.prime, "a prime number")

    @classmethod
    def optimal(cls, *, epsilon: float, domain: Domain) -> Projective:
        """The prime of lowest exact MSE."""
        epsilon, domain = check_epsilon(epsilon), Domain.of(domain)
        return cls(epsilon=epsilon, domain=domain, prime=_best_prime(domain.k, epsilon))

    @property
    def rank(self) -> int:
        """Number t of coordinates."""
        return rank_of(self.k, self.prime)

    @property
    def order(self) -> int:
        """Number of points."""
        return points(self.prime, self.rank)

    @cached_property
    def bulk(self) -> ProjectiveBulk:
        return ProjectiveBulk(ProjectiveKernel.calibrate(self.epsilon, self.k, self.prime))

    @cached_property
    def support(self) -> Support[float]:
        return projective(*epsilon_to(self.epsilon), self.prime, self.rank)

    def covered(self, support: Support[float]) -> float:
        """See `SupportMechanism.covered`: only with t = 2 are there points that support none of the k items."""
        return self.k / self.order if self.rank == 2 else 1.0

    def best_ranked(self, order: IntArray) -> FloatArray:
        vectors = coordinates(np.arange(self.order), self.prime, self.rank)
        return first_to_cover(order, lambda x, y: vectors[y] @ vectors[x] % self.prime == 0, self.order)

    @cached_property
    def proof(self) -> Proof:
        text = (
            "every point is orthogonal to the same number c of the T points, so a report has the mass keep/(2^64 c) "
            "given any value that it supports and (2^64 - keep)/(2^64 (T - c)) given any other"
        )
        return Proof(
            promised_ratio(self.kernel), "symmetry", text, Witness("a point orthogonal to value 0 and not to 1", 0, 1)
        )


def _best_prime(k: int, epsilon: float) -> int:
    """The prime of lowest exact MSE."""
    w, v = epsilon_to(epsilon)
    return best_prime(k, 1 + 1 / w, lambda q: float(projective(w, v, q, rank_of(k, q)).mse(k)))


def best_prime(k: int, ideal: float, cost: Callable[[int], float]) -> int:
    """The prime of least cost, the smallest one of several, among those that k items need.

    Primes of one rank (number of coordinates) are neighbours; there the cost falls towards the `ideal` and then grows,
    so that a walk to the nearest of them finds the least. More points than a rank of 2 needs only cost more.
    """
    found, rank, above = [], 2, 0
    while True:
        least = bisect_left(range(k + 1), k, lo=2, key=partial(points, t=rank))
        first = _prime_from(least, 1)
        last = first if rank == 2 else _prime_from(above - 1, -1)
        if first <= last:
            found.append(_walk(_prime_from(int(min(max(first, ideal), last)), -1), first, last, cost))
        if least == 2:
            return min(found)[1]
        rank, above = rank + 1, least


def _walk(prime: int, first: int, last: int, cost: Callable[[int], float]) -> tuple[float, int]:
    """The least cost on the way down from a prime, and where it is."""
    best = (cost(prime), prime)
    for step in (1, -1):
        while first <= (q := _prime_from(best[1] + step, step)) <= last and (found := (cost(q), q)) < best:
            best = found
    return best


def _prime_from(n: int, step: int) -> int:
    """The first prime from n on, in steps of 1 or -1; below 2 there is none, and the answer is below 2."""
    while n >= 2 and not is_prime(n):
        n += step
    return n
