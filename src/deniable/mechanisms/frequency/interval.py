"""Subset selection by permuted intervals: the law of subset selection in a seed and log2 k bits."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import permutations
from typing import ClassVar

import numpy as np

from deniable.collect.reports import Field
from deniable.core.channel import Channel, Proof, Witness
from deniable.core.domain import Domain
from deniable.core.frontier import best_subset_size
from deniable.core.laws import epsilon_to, ratio_to, subset
from deniable.core.support import Support
from deniable.core.types import Bytes, Columns, IntArray, UintArray
from deniable.kernels import loops
from deniable.kernels.permutation import permute, place_rows
from deniable.kernels.sampling import below
from deniable.mechanisms.bulk import Cells, SupportBulk, check_outputs, one_stratum, refuse_values, two_level
from deniable.mechanisms.frequency.costs import ROUND_WORK
from deniable.mechanisms.frequency.subset import check_size
from deniable.mechanisms.support import SupportMechanism
from deniable.randomness import Stream, bernoulli
from deniable_client.exact import check_epsilon
from deniable_client.kernels import Interval
from deniable_client.packing import uint_width
from deniable_client.permutation import rounds

__all__ = ["IntervalBulk", "IntervalSelection"]


class IntervalBulk(SupportBulk[Interval]):
    """Permuted intervals for many people: a report is a seed and the first position of an interval."""

    @property
    def fields(self) -> tuple[Field, ...]:
        return Field("seed", "uint", 8), Field("value", "uint", uint_width(self.k))

    @property
    def outputs(self) -> float:
        return 64 + math.log2(self.k)

    @cached_property
    def support(self) -> Support[Fraction]:
        return subset(*ratio_to(self.kernel.ratio), self.k, self.kernel.size)

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        size = self.kernel.size
        seeds = rng.draw(64, items.size).astype(np.uint64)
        kept = bernoulli(rng, self.kernel.keep, items.size)
        near, far = below(rng, size, items.size), below(rng, self.k - size, items.size)
        value = (permute(seeds, items, self.k) - np.where(kept, near, size + far)) % self.k
        return {"seed": seeds, "value": value.astype(self.fields[1].dtype)}

    def blind(self, n: int, rng: Stream) -> Columns:
        value = below(rng, self.k, n).astype(self.fields[1].dtype)
        return {"seed": rng.draw(64, n).astype(np.uint64), "value": value}

    def _places(self, columns: Columns) -> tuple[UintArray, IntArray, IntArray]:
        """Seeds, and the first position and the number of positions of the reported intervals."""
        first = columns["value"].astype(np.int64)
        return columns["seed"].astype(np.uint64, copy=False), first, np.full(first.size, self.kernel.size)

    def count(self, columns: Columns) -> Cells:
        refuse_values(columns["value"], self.k, "value")
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
        check_outputs(math.factorial(k) * k if k < 20 else 1 << 64, "these permuted intervals", k)
        outputs = [(h, y) for h in permutations(range(k)) for y in range(k)]
        held = [frozenset(x for x in range(k) if (h[x] - y) % k < size) for h, y in outputs]
        labels = [f"positions {h} report {y}" for h, y in outputs]
        return two_level(self.kernel, labels, held, size, k - size, math.factorial(k))


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
    def bulk(self) -> IntervalBulk:
        return IntervalBulk(Interval.calibrate(self.epsilon, self.k, self.size))

    @cached_property
    def support(self) -> Support[float]:
        return subset(*epsilon_to(self.epsilon), self.k, self.size)

    @property
    def sizes(self) -> Mapping[int, float]:
        return {self.size: 1.0}

    @cached_property
    def proof(self) -> Proof:
        text = (
            "the seed is drawn independently of the value, so its probability cancels; given any permutation, the size "
            "intervals that hold the value have the mass keep/(2^64 size) and the others (2^64 - keep)/(2^64 (k-size))"
        )
        output = "any seed, with an interval that holds value 0 and not value 1"
        return Proof(self.kernel.ratio, "conditioning on the public seed", text, Witness(output, 0, 1))
