"""Subset selection by permuted intervals: the law of subset selection in a seed and log2 k bits."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from typing import ClassVar

import numpy as np

from deniable.collect.reports import Field
from deniable.core.channel import Channel, Proof, Witness
from deniable.core.domain import Domain
from deniable.core.frontier import best_subset_size
from deniable.core.types import Bytes, Columns, IntArray, UintArray
from deniable.kernels import loops
from deniable.kernels.permutation import permute, place_rows
from deniable.kernels.sampling import below
from deniable.mechanisms.base import check_outputs, refuse_values
from deniable.mechanisms.frequency.subset import SizedSelection
from deniable.randomness import Stream, bernoulli
from deniable_client.exact import WORD_BITS, check_epsilon
from deniable_client.kernels import Interval
from deniable_client.packing import uint_width

__all__ = ["IntervalSelection"]


@dataclass(frozen=True, kw_only=True)
class IntervalSelection(SizedSelection):
    """`size` neighbouring positions on a ring, under a keyed permutation of the answers that the report names.

    The error and the best guess of subset selection for every size, in a seed and one number below k; the server looks
    up `size` answers per report. Privacy holds for every permutation; that the keyed one behaves like a random one
    (for pairs of answers, as far as errors are concerned) is an assumption (docs/maths/utility.md, section 6).
    """

    family: ClassVar[str] = "iss"
    vetted: ClassVar[bool] = True

    @classmethod
    def optimal(cls, *, epsilon: float, domain: Domain) -> IntervalSelection:
        """The size of lowest exact MSE."""
        epsilon, domain = check_epsilon(epsilon), Domain.of(domain)
        return cls(epsilon=epsilon, domain=domain, size=best_subset_size(domain.k, epsilon))

    @cached_property
    def kernel(self) -> Interval:
        """See `Mechanism.kernel`."""
        return Interval.calibrate(self.epsilon, self.k, self.size)

    @property
    def fields(self) -> tuple[Field, ...]:
        """See `Mechanism.fields`."""
        return Field("seed", "uint", 8), Field("value", "uint", uint_width(self.k))

    @property
    def outputs(self) -> float:
        """See `Mechanism.outputs`: seeds and positions."""
        return 64 + math.log2(self.k)

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        """See `Mechanism.perturb`."""
        seeds = rng.draw(64, items.size).astype(np.uint64)
        kept = bernoulli(rng, self.kernel.keep, items.size)
        near, far = below(rng, self.size, items.size), below(rng, self.k - self.size, items.size)
        value = (permute(seeds, items, self.k) - np.where(kept, near, self.size + far)) % self.k
        return {"seed": seeds, "value": value.astype(self.fields[1].dtype)}

    def _places(self, columns: Columns) -> tuple[UintArray, IntArray, IntArray]:
        """Seeds, and the first position and the number of positions of the reported intervals."""
        first = columns["value"].astype(np.int64)
        return columns["seed"].astype(np.uint64, copy=False), first, np.full(first.size, self.size)

    def count(self, columns: Columns) -> dict[str, IntArray]:
        """See `Mechanism.count`."""
        refuse_values(columns["value"], self.k, "value")
        return self._one_stratum(columns, loops().count_places(*self._places(columns), self.k))

    def rows(self, columns: Columns) -> Bytes:
        """See `SupportMechanism.rows`: the answers of the reported interval."""
        return place_rows(*self._places(columns), self.k)

    def channel(self) -> Channel:
        """See `Mechanism.channel`: over all k! permutations, each as likely as any other."""
        check_outputs(math.factorial(self.k) * self.k if self.k < 20 else 1 << 64, self.name, self.k)
        own = self.kernel.keep * (self.k - self.size)
        other = ((1 << WORD_BITS) - self.kernel.keep) * self.size
        outputs = [(h, y) for h in permutations(range(self.k)) for y in range(self.k)]
        held = [frozenset(x for x in range(self.k) if (h[x] - y) % self.k < self.size) for h, y in outputs]
        weights = tuple(tuple(own if x in s else other for x in range(self.k)) for s in held)
        total = self.size * (self.k - self.size) * math.factorial(self.k) << WORD_BITS
        return Channel(tuple(f"positions {h} report {y}" for h, y in outputs), weights, total, tuple(held))

    @cached_property
    def proof(self) -> Proof:
        """See `Mechanism.proof`."""
        text = (
            "the seed is drawn independently of the value, so its probability cancels; given any permutation, the size "
            "intervals that hold the value have the mass keep/(2^64 size) and the others (2^64 - keep)/(2^64 (k-size))"
        )
        output = "any seed, with an interval that holds value 0 and not value 1"
        return Proof(self.kernel.ratio, "conditioning on the public seed", text, Witness(output, 0, 1))
