"""Local hashing: binary (BLH), optimised (OLH) [Wang17, AdaptiveLDP Sec. IV-D], and balanced by a permutation."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import permutations, product
from typing import Any, ClassVar, Literal

import numpy as np

from deniable.collect.reports import Field
from deniable.core.channel import Channel, Proof, Witness
from deniable.core.domain import Domain
from deniable.core.guess import first_of_independent, first_of_subset
from deniable.core.laws import balanced, epsilon_to, hashing, ratio_to
from deniable.core.support import Support
from deniable.core.types import Bytes, Columns, FloatArray, IntArray, UintArray
from deniable.errors import require
from deniable.kernels import loops
from deniable.kernels.hashing import interval_of, interval_rows
from deniable.kernels.permutation import permute, place_rows
from deniable.kernels.sampling import respond
from deniable.mechanisms.base import check_outputs, refuse_values
from deniable.mechanisms.support import SupportMechanism
from deniable.randomness import Stream
from deniable_client.exact import WORD_BITS, check_epsilon
from deniable_client.kernels import Balanced, Hashing
from deniable_client.packing import uint_width

__all__ = ["BalancedHashing", "HashedResponse", "LocalHashing", "best_range"]


@dataclass(frozen=True, kw_only=True)
class HashedResponse(SupportMechanism):
    """What both kinds of hashing have in common: a public seed sends items to 0..g-1; then randomised response."""

    g: int

    @property
    @abstractmethod
    def kernel(self) -> Hashing:
        """See `Mechanism.kernel`."""

    @abstractmethod
    def places(self, coins: UintArray, items: IntArray) -> IntArray:
        """The number in 0..g-1 of each item under its coin."""

    @property
    def params(self) -> dict[str, Any]:
        """See `Mechanism.params`."""
        return {"g": self.g}

    @property
    def fields(self) -> tuple[Field, ...]:
        """See `Mechanism.fields`."""
        return Field("seed", "uint", 8), Field("value", "uint", uint_width(self.g))

    @property
    def outputs(self) -> float:
        """See `Mechanism.outputs`: seeds and values."""
        return 64 + math.log2(self.g)

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        """See `Mechanism.perturb`."""
        return self.perturb_dealt(items, rng.draw(64, items.size).astype(np.uint64, copy=False), rng)

    def perturb_dealt(self, items: IntArray, coins: UintArray, rng: Stream) -> Columns:
        """See `Mechanism.perturb_dealt`."""
        own = self.places(coins, items)
        return {"seed": coins, "value": respond(rng, own, self.g, self.kernel.keep, self.fields[1].dtype)}

    def given_coins(self, columns: Columns, f: FloatArray) -> FloatArray:
        """Chance that a report with each seed supports each item, if its sender's item is drawn from `f`."""
        seeds = columns["seed"].astype(np.uint64, copy=False)
        items = np.tile(np.arange(self.k), seeds.size)
        own = self.places(np.repeat(seeds, self.k), items).reshape(seeds.size, self.k)
        return _answered(own, f, self.g, self.support_effective.p)

    def _proof(self, function: str, bucket: str) -> Proof:
        text = (
            "the seed is drawn independently of the value, so its probability cancels; given any "
            f"{function} the report is randomised response on 0..g-1: keep/2^64 for the own {bucket}, "
            "(2^64 - keep)/(2^64 (g-1)) else"
        )
        output = f"any seed that sends values 0 and 1 to different {bucket}s, with the {bucket} of 0"
        return Proof(self.kernel.ratio, "conditioning on the public seed", text, Witness(output, 0, 1))


@dataclass(frozen=True, kw_only=True)
class LocalHashing(HashedResponse):
    """The answer hashed to 0..g-1 by a public random function, then randomised response on the hash value.

    Reports stay short however large the domain. Privacy holds for every hash function; that the estimate is unbiased
    needs only that two answers collide with probability 1/g, which the hash has exactly for uniform coefficients.
    """

    family: ClassVar[str] = "lh"
    vetted: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        ok = isinstance(self.g, int | np.integer) and not isinstance(self.g, bool) and self.g >= 2
        require(ok, "g", self.g, "an integer >= 2", "BLH is g=2; the best is near e^epsilon + 1.")
        object.__setattr__(self, "g", int(self.g))
        require(self.name != "blh" or self.g == 2, "g", self.g, "2 for blh", "Use lh to choose g.")

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
    def kernel(self) -> Hashing:
        """See `Mechanism.kernel`."""
        return Hashing.calibrate(self.epsilon, self.k, self.g)

    @cached_property
    def support(self) -> Support[float]:
        """See `SupportMechanism.support`."""
        return hashing(*epsilon_to(self.epsilon), self.g)

    @cached_property
    def support_exact(self) -> Support[Fraction]:
        """See `SupportMechanism.support_exact`: with the bucket sizes of 32-bit hash values.

        A report y is h(x) with probability p, else another value; so another item is supported with probability
        (p - p') sum_y s_y^2 + p', where s_y is the share of bucket y and p' = (1-p)/(g-1).
        """
        w, v = ratio_to(self.kernel.ratio)
        small, large = divmod(1 << 32, self.g)
        squares = Fraction((self.g - large) * small**2 + large * (small + 1) ** 2, 1 << 64)
        p = 1 / (1 + (self.g - 1) * w)
        return hashing(w, v, self.g, collision=v * p * squares + w * p)

    def covered(self, support: Support[float]) -> float:
        """See `SupportMechanism.covered`: the bucket is not empty; exact for a random function."""
        return -math.expm1(self.k * math.log1p(-1 / self.g))

    def best_ranked(self, order: IntArray) -> FloatArray:
        """See `SupportMechanism.best_ranked`."""
        return first_of_independent(self.k, 1 / self.g)

    def places(self, coins: UintArray, items: IntArray) -> IntArray:
        """See `HashedResponse.places`: the bucket of the hash value."""
        found: IntArray = loops().buckets(coins, items, self.g)
        return found

    def count(self, columns: Columns) -> dict[str, IntArray]:
        """See `Mechanism.count`."""
        refuse_values(columns["value"], self.g, "value")
        seeds = columns["seed"].astype(np.uint64, copy=False)
        return self._one_stratum(columns, loops().count_hashed(seeds, columns["value"], self.k, self.kernel.g))

    def rows(self, columns: Columns) -> Bytes:
        """See `SupportMechanism.rows`: the items in the reported bucket."""
        first, length = interval_of(columns["value"], self.g)
        return interval_rows(columns["seed"], first, length, self.k)

    def channel(self) -> Channel:
        """See `Mechanism.channel`: over all g^k functions, each as likely as any other."""
        check_outputs(self.g ** (self.k + 1) if self.k < 64 else 1 << 64, self.name, self.k)
        own, other = self.kernel.keep * (self.g - 1), (1 << WORD_BITS) - self.kernel.keep
        outputs = [(h, y) for h in product(range(self.g), repeat=self.k) for y in range(self.g)]
        weights = tuple(tuple(own if h[x] == y else other for x in range(self.k)) for h, y in outputs)
        labels = tuple(f"hash {h} report {y}" for h, y in outputs)
        supported = tuple(frozenset(i for i in range(self.k) if h[i] == y) for h, y in outputs)
        total = (self.g - 1) * self.g**self.k << WORD_BITS
        return Channel(labels, weights, total, supported)

    @property
    def channel_error(self) -> Fraction:
        """See `Mechanism.channel_error`: buckets differ by one in 2^32, so sum_y s_y^2 is up to g/2^66 above 1/g."""
        return Fraction(self.g, 1 << 66)

    @cached_property
    def proof(self) -> Proof:
        """See `Mechanism.proof`."""
        return self._proof("hash function", "bucket")


@dataclass(frozen=True, kw_only=True)
class BalancedHashing(HashedResponse):
    """Local hashing whose buckets hold equally many answers: a keyed permutation of the domain, cut into g blocks.

    If g divides k it has the error and the best guess of subset selection with k/g answers, in a seed and log2 g bits;
    the server looks up the k/g answers of a block instead of hashing all k. Privacy holds for every permutation; that
    the keyed one behaves like a random one is an assumption (docs/maths/local-hashing.md).
    """

    family: ClassVar[str] = "plh"
    vetted: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        ok = isinstance(self.g, int | np.integer) and not isinstance(self.g, bool) and 2 <= self.g <= self.k
        require(ok, "g", self.g, f"an integer from 2 to k = {self.k}", "More blocks than answers would be empty.")
        object.__setattr__(self, "g", int(self.g))

    @classmethod
    def optimal(cls, *, epsilon: float, domain: Domain) -> BalancedHashing:
        """The g of the lowest exact MSE, found among all from 2 to k."""
        epsilon, domain = check_epsilon(epsilon), Domain.of(domain)
        g = np.arange(2, domain.k + 1)
        return cls(epsilon=epsilon, domain=domain, g=int(g[np.argmin(_balanced_mse(epsilon, domain.k, g))]))

    @cached_property
    def kernel(self) -> Balanced:
        """See `Mechanism.kernel`."""
        return Balanced.calibrate(self.epsilon, self.k, self.g)

    @cached_property
    def support(self) -> Support[float]:
        """See `SupportMechanism.support`."""
        return balanced(*epsilon_to(self.epsilon), self.k, self.g)

    @cached_property
    def support_exact(self) -> Support[Fraction]:
        """See `SupportMechanism.support_exact`."""
        return balanced(*ratio_to(self.kernel.ratio), self.k, self.g)

    def best_ranked(self, order: IntArray) -> FloatArray:
        """See `SupportMechanism.best_ranked`: blocks are random subsets of one of two sizes."""
        small, more = divmod(self.k, self.g)
        few = first_of_subset(self.k, small) * (self.g - more)
        return np.asarray((few + first_of_subset(self.k, small + 1) * more if more else few) / self.g)

    def places(self, coins: UintArray, items: IntArray) -> IntArray:
        """See `HashedResponse.places`: the block of the position."""
        return permute(coins, items, self.k) * self.g // self.k

    def _places(self, columns: Columns) -> tuple[UintArray, IntArray, IntArray]:
        """Seeds, and the first position and the number of positions of the reported blocks: at most ceil(k/g)."""
        y = columns["value"].astype(np.int64)
        first, end = (-(-part * self.k // self.g) for part in (y, y + 1))
        return columns["seed"].astype(np.uint64, copy=False), first, end - first

    def count(self, columns: Columns) -> dict[str, IntArray]:
        """See `Mechanism.count`."""
        refuse_values(columns["value"], self.g, "value")
        return self._one_stratum(columns, loops().count_places(*self._places(columns), self.k))

    def rows(self, columns: Columns) -> Bytes:
        """See `SupportMechanism.rows`: the answers of the reported block."""
        return place_rows(*self._places(columns), self.k)

    def channel(self) -> Channel:
        """See `Mechanism.channel`: over all k! permutations, each as likely as any other."""
        check_outputs(math.factorial(self.k) * self.g if self.k < 20 else 1 << 64, self.name, self.k)
        own, other = self.kernel.keep * (self.g - 1), (1 << WORD_BITS) - self.kernel.keep
        outputs = [(h, y) for h in permutations(range(self.k)) for y in range(self.g)]
        held = [frozenset(x for x in range(self.k) if h[x] * self.g // self.k == y) for h, y in outputs]
        weights = tuple(tuple(own if x in s else other for x in range(self.k)) for s in held)
        total = (self.g - 1) * math.factorial(self.k) << WORD_BITS
        return Channel(tuple(f"positions {h} report {y}" for h, y in outputs), weights, total, tuple(held))

    @cached_property
    def proof(self) -> Proof:
        """See `Mechanism.proof`."""
        return self._proof("permutation", "block")


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


def _balanced_mse(epsilon: float, k: int, g: IntArray) -> FloatArray:
    """Exact MSE of balanced hashing for many g at once; infinite where a block would hold everything."""
    mse: FloatArray = balanced(*epsilon_to(epsilon), k, g).mse(k)
    return mse
