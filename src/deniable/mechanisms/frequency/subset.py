"""Subset selection [YeBarg18, AdaptiveLDP Sec. IV-B]: sets as bits, or as permuted intervals in a seed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, permutations
from typing import ClassVar, Literal

import numpy as np

from deniable.core.channel import Channel, Proof, Witness
from deniable.core.domain import Domain
from deniable.core.frontier import best_subset_size
from deniable.core.laws import epsilon_to, ratio_to, subset
from deniable.core.support import Support
from deniable.core.types import BoolArray, Bytes, Columns, IntArray, UintArray
from deniable.errors import FormatError, require
from deniable.kernels import loops
from deniable.kernels.permutation import permute, place_rows
from deniable.kernels.populations import sets_of_others
from deniable.kernels.sampling import below, subset_bits
from deniable.mechanisms.bulk import (
    Cells,
    Packed,
    Seeded,
    SupportBulk,
    check_outputs,
    fresh_seeds,
    log2_factorial,
    no_ones_after,
    one_stratum,
    two_level,
)
from deniable.mechanisms.frequency.costs import ROUND_WORK
from deniable.mechanisms.possible import Cell
from deniable.mechanisms.support import SupportMechanism
from deniable.randomness import Simulation, Stream, bernoulli
from deniable_client.exact import check_epsilon
from deniable_client.hashing import rounds
from deniable_client.kernels import Interval, Subset, promised_ratio

__all__ = ["IntervalBulk", "IntervalSelection", "SubsetBulk", "SubsetSelection", "check_size", "log2_comb"]


class SubsetBulk(Packed[Subset], SupportBulk[Subset]):
    """Subset selection for many people: a report is the set as k bits."""

    knows_counts = True

    @cached_property
    def outputs(self) -> float:
        return log2_comb(self.k, self.kernel.size)

    @cached_property
    def support(self) -> Support[Fraction]:
        return subset(*ratio_to(self.kernel.ratio), self.k, self.kernel.size)

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        kept = bernoulli(rng, self.kernel.keep, items.size)
        return {"bits": subset_bits(rng, self.k, np.full(items.size, self.kernel.size), items, kept)}

    def blind(self, n: int, rng: Stream) -> Columns:
        first = below(rng, self.k, n) < self.kernel.size
        return {"bits": subset_bits(rng, self.k, np.full(n, self.kernel.size), np.zeros(n, np.int64), first)}

    @property
    def cells(self) -> Mapping[str, Cell]:
        return {"support": Cell(self.k, total=(self.kernel.size, self.kernel.size))}

    def possible(self, columns: Columns) -> BoolArray:
        """See `Bulk.possible`: sets of the right size."""
        rows = columns["bits"].astype(np.uint8, copy=False)
        right: BoolArray = np.equal(loops().popcounts(rows), self.kernel.size)
        return right & no_ones_after(rows, self.k)

    def count(self, columns: Columns) -> Cells:
        rows = columns["bits"]
        sizes = loops().popcounts(rows)
        counts = loops().count_bits(rows, 8 * self.kernel.width)
        if (sizes != self.kernel.size).any() or counts[self.k :].any():
            raise FormatError(f"a report is not a subset of {self.kernel.size} out of {self.k} items.")
        return one_stratum(columns, counts[: self.k])

    def simulate_counts(self, counts: IntArray, rng: Simulation, blind: int = 0) -> Cells:
        """See `Bulk.simulate_counts`: some keep their own item; the rest of a set is drawn from the others.

        Who is blind draws from all, like somebody with an item that no other has.
        """
        size = self.kernel.size
        kept = rng.generator().binomial(counts, float(self.support.p))
        support = kept + sets_of_others(rng, kept, size - 1) + sets_of_others(rng, counts - kept, size)
        if blind:
            support += sets_of_others(rng, np.append(np.zeros_like(counts), blind), size)[: self.k]
        return {"n": np.array([counts.sum() + blind]), "support": support[None, :]}

    def most(self, r: int) -> int:
        return min(r, self.kernel.size)

    def channel(self) -> Channel:
        k, size = self.k, self.kernel.size
        check_outputs(self.outputs, "this subset selection", k)
        held = [frozenset(c) for c in combinations(range(k), size)]
        labels = ["report {" + ", ".join(map(str, sorted(s))) + "}" for s in held]
        return two_level(self.kernel, labels, held, math.comb(k - 1, size - 1), math.comb(k - 1, size))


class IntervalBulk(Seeded, SupportBulk[Interval]):
    """Permuted intervals for many people: a report is a seed and the first position of an interval."""

    @property
    def numbers(self) -> int:
        return self.k

    @cached_property
    def support(self) -> Support[Fraction]:
        return subset(*ratio_to(self.kernel.ratio), self.k, self.kernel.size)

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        size = self.kernel.size
        seeds = fresh_seeds(items.size, rng)
        kept = bernoulli(rng, self.kernel.keep, items.size)
        near, far = below(rng, size, items.size), below(rng, self.k - size, items.size)
        value = (permute(seeds, items, self.k) - np.where(kept, near, size + far)) % self.k
        return {"seed": seeds, "value": value.astype(self.fields[1].dtype)}

    def _places(self, columns: Columns) -> tuple[UintArray, IntArray, IntArray]:
        """Seeds, and the first position and the number of positions of the reported intervals."""
        first = columns["value"].astype(np.int64)
        return self.seeds(columns), first, np.full(first.size, self.kernel.size)

    @property
    def cells(self) -> Mapping[str, Cell]:
        return {"support": Cell(self.k, total=(self.kernel.size, self.kernel.size))}

    def count(self, columns: Columns) -> Cells:
        return one_stratum(columns, loops().count_places(*self._places(columns), self.k))

    def supported(self, columns: Columns) -> Bytes:
        return place_rows(*self._places(columns), self.k)

    def most(self, r: int) -> int:
        return min(r, self.kernel.size)

    @property
    def work(self) -> float:
        """See `SupportBulk.work`: a permuted place for each item in the set."""
        return float(ROUND_WORK * self.kernel.size * rounds(self.k))

    def channel(self) -> Channel:
        """See `Bulk.channel`: over all k! permutations, each as likely as any other."""
        k, size = self.k, self.kernel.size
        check_outputs(log2_factorial(k) + math.log2(k), "these permuted intervals", k)
        outputs = [(h, y) for h in permutations(range(k)) for y in range(k)]
        held = [frozenset(x for x in range(k) if (h[x] - y) % k < size) for h, y in outputs]
        labels = [f"positions {h} report {y}" for h, y in outputs]
        return two_level(self.kernel, labels, held, size, k - size, math.factorial(k))


def check_size(size: object, k: int) -> int:
    """A subset size, from 1 to k-1."""
    ok = isinstance(size, int | np.integer) and not isinstance(size, bool) and 1 <= size < k
    require(bool(ok), "size", size, f"an integer from 1 to k-1 = {k - 1}")
    return int(size)  # type: ignore[call-overload, no-any-return]  # it is a number here


@dataclass(frozen=True, kw_only=True)
class SubsetSelection(SupportMechanism):
    """A set of `size` answers that holds the true one with probability size e/(size e + k - size).

    The least error of all mechanisms with the same epsilon when `size` is best. A report is the set as k bits: it has
    no order, so nothing tells which member is the true one.
    """

    size: int
    family: ClassVar[str] = "ss"
    vetted: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "size", check_size(self.size, self.k))

    @classmethod
    def optimal(
        cls, *, epsilon: float, domain: Domain, rounding: Literal["paper", "best"] = "paper"
    ) -> SubsetSelection:
        """The size next to k/(e+1): rounded (`paper`), or of the lowest exact MSE (`best`)."""
        w, domain = math.exp(-check_epsilon(epsilon)), Domain.of(domain)
        near = max(1, round(domain.k * w / (1 + w)))
        size = near if rounding == "paper" else best_subset_size(domain.k, epsilon)
        return cls(epsilon=epsilon, domain=domain, size=size)

    @cached_property
    def support(self) -> Support[float]:
        return subset(*epsilon_to(self.epsilon), self.k, self.size)

    @property
    def sizes(self) -> Mapping[int, float]:
        return {self.size: 1.0}

    @cached_property
    def bulk(self) -> SubsetBulk:
        return SubsetBulk(Subset.calibrate(self.epsilon, self.k, self.size))

    @cached_property
    def proof(self) -> Proof:
        text = (
            "a set has probability keep/(2^64 C(k-1,size-1)) given any of its members and "
            "(2^64 - keep)/(2^64 C(k-1,size)) given any other value; relabelling maps all such pairs to each other"
        )
        members = ", ".join(map(str, range(min(self.size, 3)))) + (", ..." if self.size > 3 else "")
        return Proof(promised_ratio(self.kernel), "symmetry", text, Witness(f"report {{{members}}}", 0, self.k - 1))


@dataclass(frozen=True, kw_only=True)
class IntervalSelection(SupportMechanism):
    """`size` neighbouring positions on a ring, under a keyed permutation of the answers that the report names.

    The error and the best guess of subset selection for every size, in a seed and one number below k; the server looks
    up `size` answers per report. Privacy holds for every permutation; that the keyed one behaves like a random one
    (for pairs of answers, as far as errors are concerned) is an assumption (docs/maths/utility.md, section 6).
    """

    size: int
    family: ClassVar[str] = "iss"
    vetted: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "size", check_size(self.size, self.k))

    @classmethod
    def optimal(cls, *, epsilon: float, domain: Domain) -> IntervalSelection:
        """The size of lowest exact MSE."""
        epsilon, domain = check_epsilon(epsilon), Domain.of(domain)
        return cls(epsilon=epsilon, domain=domain, size=best_subset_size(domain.k, epsilon))

    @cached_property
    def support(self) -> Support[float]:
        return subset(*epsilon_to(self.epsilon), self.k, self.size)

    @property
    def sizes(self) -> Mapping[int, float]:
        return {self.size: 1.0}

    @cached_property
    def bulk(self) -> IntervalBulk:
        return IntervalBulk(Interval.calibrate(self.epsilon, self.k, self.size))

    @cached_property
    def proof(self) -> Proof:
        text = (
            "the seed is drawn independently of the value, so its probability cancels; given any permutation, the size "
            "intervals that hold the value have the mass keep/(2^64 size) and the others (2^64 - keep)/(2^64 (k-size))"
        )
        output = "any seed, with an interval that holds value 0 and not value 1"
        return Proof(promised_ratio(self.kernel), "conditioning on the public seed", text, Witness(output, 0, 1))


def log2_comb(k: int, size: int) -> float:
    """log2 of a binomial coefficient that may be too large to write down."""
    if k <= 20_000:
        return math.log2(math.comb(k, size))
    return log2_factorial(k) - log2_factorial(size) - log2_factorial(k - size)
