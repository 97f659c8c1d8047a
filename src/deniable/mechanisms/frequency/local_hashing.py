"""Local hashing: binary (BLH), optimised (OLH) [Wang17, AdaptiveLDP Sec. IV-D], and balanced by a permutation."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import permutations, product
from typing import Any, ClassVar, Literal

import numpy as np

from deniable.core.channel import Channel, Proof, Witness
from deniable.core.domain import Domain
from deniable.core.laws import balanced, epsilon_to, hashing, ratio_to
from deniable.core.support import Support
from deniable.core.types import Bytes, Columns, FloatArray, IntArray, UintArray
from deniable.errors import require, whole
from deniable.estimate.calibrated import PublicCoin
from deniable.estimate.methods import SEEDS
from deniable.kernels import loops
from deniable.kernels.hashing import interval_of, interval_rows
from deniable.kernels.permutation import permute, place_rows
from deniable.kernels.sampling import respond
from deniable.mechanisms.bulk import (
    Cells,
    Seeded,
    SupportBulk,
    check_outputs,
    fresh_seeds,
    log2_factorial,
    one_stratum,
    two_level,
)
from deniable.mechanisms.frequency.costs import HASH_WORK, ROUND_WORK
from deniable.mechanisms.possible import Cell
from deniable.mechanisms.reader import Reader, SupportReader
from deniable.mechanisms.support import SupportMechanism
from deniable.randomness import Stream
from deniable_client.exact import WORD, check_epsilon
from deniable_client.hashing import rounds
from deniable_client.kernels import Balanced, Hashing, promised_ratio

__all__ = ["BalancedBulk", "BalancedHashing", "HashingBulk", "LocalHashing", "best_range"]


class _HashedReader(SupportReader["HashingBulk | BalancedBulk"]):
    @property
    def traits(self) -> tuple[str, ...]:
        return (*super().traits, SEEDS)

    @property
    def coins(self) -> PublicCoin:
        return self.bulk


class _Hashed(Seeded):
    """A public seed sends items to 0..g-1; then randomised response."""

    kernel: Hashing
    reads: ClassVar[type[Reader[Any]]] = _HashedReader

    @property
    def numbers(self) -> int:
        return self.kernel.g

    @abstractmethod
    def places(self, coins: UintArray, items: IntArray) -> IntArray:
        """The number in 0..g-1 of each item under its coin."""

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        return self.perturb_dealt(items, fresh_seeds(items.size, rng), rng)

    def perturb_dealt(self, items: IntArray, coins: UintArray, rng: Stream) -> Columns:
        own = self.places(coins, items)
        return {"seed": coins, "value": respond(rng, own, self.numbers, self.kernel.keep, self.fields[1].dtype)}

    def given_coins(self, columns: Columns, f: FloatArray) -> FloatArray:
        """Chance that a report with each seed supports each item, if its sender's item is drawn from `f`."""
        seeds, k = columns["seed"].astype(np.uint64, copy=False), self.kernel.k
        own = self.places(np.repeat(seeds, k), np.tile(np.arange(k), seeds.size)).reshape(seeds.size, k)
        return _answered(own, f, self.numbers, self.kernel.keep / WORD)


class HashingBulk(_Hashed, SupportBulk[Hashing]):
    """Local hashing for many people: a public seed sends items to 0..g-1; then randomised response."""

    @cached_property
    def support(self) -> Support[Fraction]:
        """See `SupportBulk.support`: with the bucket sizes of 32-bit hash values.

        A report y is h(x) with probability p, else another value; so another item is supported with probability
        (p - p') sum_y s_y^2 + p', where s_y is the share of bucket y and p' = (1-p)/(g-1).
        """
        w, v = ratio_to(self.kernel.ratio)
        g = self.kernel.g
        small, large = divmod(1 << 32, g)
        squares = Fraction((g - large) * small**2 + large * (small + 1) ** 2, 1 << 64)
        p = 1 / (1 + (g - 1) * w)
        return hashing(w, v, g, collision=v * p * squares + w * p)

    def places(self, coins: UintArray, items: IntArray) -> IntArray:
        """See `_Hashed.places`: the bucket of the hash value."""
        found: IntArray = loops().buckets(coins, items, self.kernel.g)
        return found

    def count(self, columns: Columns) -> Cells:
        seeds = self.seeds(columns)
        return one_stratum(columns, loops().count_hashed(seeds, columns["value"], self.k, self.kernel.g))

    def supported(self, columns: Columns) -> Bytes:
        first, length = interval_of(columns["value"], self.kernel.g)
        return interval_rows(columns["seed"], first, length, self.k)

    @property
    def work(self) -> float:
        """See `SupportBulk.work`: a hash value for each item."""
        return float(HASH_WORK * self.k)

    def channel(self) -> Channel:
        """See `Bulk.channel`: over all g^k functions, each as likely as any other."""
        k, g = self.k, self.kernel.g
        check_outputs((k + 1) * math.log2(g), "this hashing", k)
        outputs = [(h, y) for h in product(range(g), repeat=k) for y in range(g)]
        held = [frozenset(i for i in range(k) if h[i] == y) for h, y in outputs]
        return two_level(self.kernel, [f"hash {h} report {y}" for h, y in outputs], held, 1, g - 1, g**k)

    @property
    def channel_error(self) -> Fraction:
        """See `Bulk.channel_error`: buckets differ by one in 2^32, so sum_y s_y^2 is up to g/2^66 above 1/g."""
        return Fraction(self.kernel.g, 1 << 66)


class BalancedBulk(_Hashed, SupportBulk[Hashing]):
    """Balanced hashing for many people: a keyed permutation cut into g blocks; then randomised response."""

    @cached_property
    def support(self) -> Support[Fraction]:
        return balanced(*ratio_to(self.kernel.ratio), self.k, self.kernel.g)

    def places(self, coins: UintArray, items: IntArray) -> IntArray:
        """See `_Hashed.places`: the block of the position."""
        return permute(coins, items, self.k) * self.kernel.g // self.k

    def _blocks(self, columns: Columns) -> tuple[UintArray, IntArray, IntArray]:
        """Seeds, and the first position and the number of positions of the reported blocks: at most ceil(k/g)."""
        y = columns["value"].astype(np.int64)
        first, end = (-(-part * self.k // self.kernel.g) for part in (y, y + 1))
        return self.seeds(columns), first, end - first

    @property
    def cells(self) -> Mapping[str, Cell]:
        """See `Bulk.cells`: blocks differ by at most one item."""
        return {"support": Cell(self.k, total=(self.k // self.kernel.g, -(-self.k // self.kernel.g)))}

    def count(self, columns: Columns) -> Cells:
        return one_stratum(columns, loops().count_places(*self._blocks(columns), self.k))

    def supported(self, columns: Columns) -> Bytes:
        return place_rows(*self._blocks(columns), self.k)

    def most(self, r: int) -> int:
        return min(r, -(-self.k // self.kernel.g))

    @property
    def work(self) -> float:
        """See `SupportBulk.work`: a permuted place for each item in the largest block."""
        return float(-(-self.k // self.kernel.g) * ROUND_WORK * rounds(self.k))

    def channel(self) -> Channel:
        """See `Bulk.channel`: over all k! permutations, each as likely as any other."""
        k, g = self.k, self.kernel.g
        check_outputs(log2_factorial(k) + math.log2(g), "this balanced hashing", k)
        outputs = [(h, y) for h in permutations(range(k)) for y in range(g)]
        held = [frozenset(x for x in range(k) if h[x] * g // k == y) for h, y in outputs]
        labels = [f"positions {h} report {y}" for h, y in outputs]
        return two_level(self.kernel, labels, held, 1, g - 1, math.factorial(k))


def _proof(ratio: Fraction, function: str, bucket: str) -> Proof:
    text = (
        "the seed is drawn independently of the value, so its probability cancels; given any "
        f"{function} the report is randomised response on 0..g-1: keep/2^64 for the own {bucket}, "
        "(2^64 - keep)/(2^64 (g-1)) else"
    )
    output = f"any seed that sends values 0 and 1 to different {bucket}s, with the {bucket} of 0"
    return Proof(ratio, "conditioning on the public seed", text, Witness(output, 0, 1))


@dataclass(frozen=True, kw_only=True)
class LocalHashing(SupportMechanism):
    """The answer hashed to 0..g-1 by a public random function, then randomised response on the hash value.

    Reports stay short however large the domain. Privacy holds for every hash function; that the estimate is unbiased
    needs only that two answers collide with probability 1/g, which the hash has exactly for uniform coefficients.
    """

    g: int
    family: ClassVar[str] = "lh"
    fixed: ClassVar[Mapping[str, int]] = {"blh": 2}
    """The g that a name stands for."""
    vetted: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "g", whole("g", self.g, 2, hint="BLH is g=2; the best is near e^epsilon + 1."))
        own = self.fixed.get(self.name, self.g)
        require(self.g == own, "g", self.g, f"{own} for {self.name}", "Use lh to choose g.")

    @classmethod
    def binary(cls, *, epsilon: float, domain: Domain) -> LocalHashing:
        """BLH: g = 2."""
        return cls(epsilon=epsilon, domain=domain, g=2, name="blh")

    @classmethod
    def optimal(cls, *, epsilon: float, domain: Domain, rounding: Literal["paper", "best"] = "paper") -> LocalHashing:
        """OLH: g = e + 1 rounded (`paper`), or the g of the lowest exact MSE (`best`)."""
        epsilon, domain = check_epsilon(epsilon), Domain.of(domain)
        g = round(math.exp(epsilon)) + 1 if rounding == "paper" else _best_g(domain.k, epsilon)
        return cls(epsilon=epsilon, domain=domain, g=g, name="olh")

    @cached_property
    def bulk(self) -> HashingBulk:
        return HashingBulk(Hashing.calibrate(self.epsilon, self.k, self.g))

    @cached_property
    def support(self) -> Support[float]:
        return hashing(*epsilon_to(self.epsilon), self.g)

    def alone(self, support: Support[float]) -> float:
        """See `SupportMechanism.alone`: exact for a random function."""
        return 1 / self.g

    @cached_property
    def proof(self) -> Proof:
        return _proof(promised_ratio(self.kernel), "hash function", "bucket")


@dataclass(frozen=True, kw_only=True)
class BalancedHashing(SupportMechanism):
    """Local hashing whose buckets hold equally many answers: a keyed permutation of the domain, cut into g blocks.

    If g divides k it has the error and the best guess of subset selection with k/g answers, in a seed and log2 g bits;
    the server looks up the k/g answers of a block instead of hashing all k. Privacy holds for every permutation; that
    the keyed one behaves like a random one is an assumption (docs/maths/local-hashing.md).
    """

    g: int
    family: ClassVar[str] = "plh"
    vetted: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        need, hint = f"an integer from 2 to k = {self.k}", "More blocks than answers would be empty."
        object.__setattr__(self, "g", whole("g", self.g, 2, self.k, need, hint))

    @classmethod
    def optimal(cls, *, epsilon: float, domain: Domain) -> BalancedHashing:
        """The g of the lowest exact MSE, found among all from 2 to k.

        The search ends where no larger g can win: with w = e^-epsilon and (g-1) w >= 1, q >= w p, p <= 1/2 and
        p - q <= p, so that the MSE is at least q(1-q)/(p-q)^2 / 2 >= w (1-q)/(2p) >= w^2 (g-1)/4.
        """
        epsilon, domain = check_epsilon(epsilon), Domain.of(domain)
        k, (w, v) = domain.k, epsilon_to(epsilon)
        best, start = (math.inf, 2), 2
        while start <= k and (w * w * (start - 1) / 4 <= best[0] or (start - 1) * w < 1):
            g = np.arange(start, min(k + 1, start + _AT_ONCE))
            mse = balanced(w, v, k, g).mse(k)  # infinite where a block would hold everything
            at = int(np.argmin(mse))
            best, start = min(best, (float(mse[at]), int(g[at]))), start + _AT_ONCE
        return cls(epsilon=epsilon, domain=domain, g=best[1])

    @cached_property
    def bulk(self) -> BalancedBulk:
        return BalancedBulk(Balanced.calibrate(self.epsilon, self.k, self.g))

    @cached_property
    def support(self) -> Support[float]:
        return balanced(*epsilon_to(self.epsilon), self.k, self.g)

    @property
    def sizes(self) -> Mapping[int, float]:
        """See `SupportMechanism.sizes`: blocks are random subsets of one of two sizes."""
        small, more = divmod(self.k, self.g)
        return {small: 1 - more / self.g} | ({small + 1: more / self.g} if more else {})

    @cached_property
    def proof(self) -> Proof:
        return _proof(promised_ratio(self.kernel), "permutation", "block")


_AT_ONCE = 1 << 16
"""Numbers of blocks that are tried at a time."""


def _answered(buckets: IntArray, f: FloatArray, g: int, p: float) -> FloatArray:
    """Chance that randomised response gives the bucket of each item, a row per coin, if the sender's item is from f.

    p' + (p - p') (share of f in that bucket), p' = (1-p)/(g-1).
    """
    n, k = buckets.shape
    cell = (buckets + g * np.arange(n)[:, None]).ravel()
    if g > 4 * k:  # mostly empty buckets: number those that are not
        cell = np.unique(cell, return_inverse=True)[1].ravel()
    held = np.bincount(cell, np.broadcast_to(f, (n, k)).ravel())
    other = (1 - p) / (g - 1)
    return np.asarray(other + (p - other) * held[cell].reshape(n, k))


def best_range(k: int, epsilon: float) -> float:
    """The real u = g-1 of the lowest exact MSE, u(1 + (e-1)/k) + e(e - (e-1)/k)/u, convex in u."""
    w, v = epsilon_to(epsilon)
    return math.sqrt((1 - v / k) / (w * (w + v / k)))


def _best_g(k: int, epsilon: float) -> int:
    """The g of the lowest exact MSE: next to the real one."""
    w, v = epsilon_to(epsilon)
    real = best_range(k, epsilon)
    near = {max(1, math.floor(real)), max(1, math.ceil(real))}
    return 1 + min(sorted(near), key=lambda u: float(hashing(w, v, u + 1).mse(k)))
