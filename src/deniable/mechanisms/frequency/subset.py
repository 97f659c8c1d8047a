"""Subset selection [YeBarg18, AdaptiveLDP Sec. IV-B]."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import Any, ClassVar, Literal

import numpy as np

from deniable.collect.reports import Field
from deniable.core.channel import Channel, Proof, Witness
from deniable.core.domain import Domain
from deniable.core.frontier import best_subset_size
from deniable.core.guess import first_of_subset
from deniable.core.laws import epsilon_to, ratio_to, subset
from deniable.core.support import Support
from deniable.core.types import Bytes, Columns, FloatArray, IntArray
from deniable.errors import FormatError, require
from deniable.kernels import loops
from deniable.kernels.sampling import subset_bits
from deniable.mechanisms.base import check_outputs
from deniable.mechanisms.support import SupportMechanism
from deniable.randomness import Stream, bernoulli
from deniable_client.exact import WORD_BITS, check_epsilon
from deniable_client.kernels import Subset

__all__ = ["SizedSelection", "SubsetSelection", "log2_comb"]


@dataclass(frozen=True, kw_only=True)
class SizedSelection(SupportMechanism):
    """What the encodings of subset selection have in common: the law of `size` supported answers."""

    size: int

    def __post_init__(self) -> None:
        super().__post_init__()
        ok = isinstance(self.size, int | np.integer) and not isinstance(self.size, bool) and 1 <= self.size < self.k
        require(ok, "size", self.size, f"an integer from 1 to k-1 = {self.k - 1}")
        object.__setattr__(self, "size", int(self.size))

    @property
    def params(self) -> dict[str, Any]:
        """See `Mechanism.params`."""
        return {"size": self.size}

    @cached_property
    def support(self) -> Support[float]:
        """See `SupportMechanism.support`."""
        return subset(*epsilon_to(self.epsilon), self.k, self.size)

    @cached_property
    def support_exact(self) -> Support[Fraction]:
        """See `SupportMechanism.support_exact`."""
        return subset(*ratio_to(self.kernel.ratio), self.k, self.size)

    def best_ranked(self, order: IntArray) -> FloatArray:
        """See `SupportMechanism.best_ranked`."""
        return first_of_subset(self.k, self.size)


@dataclass(frozen=True, kw_only=True)
class SubsetSelection(SizedSelection):
    """A set of `size` answers that holds the true one with probability size e/(size e + k - size).

    The least error of all mechanisms with the same epsilon when `size` is best. A report is the set as k bits: it has
    no order, so nothing tells which member is the true one.
    """

    family: ClassVar[str] = "ss"
    vetted: ClassVar[bool] = True

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
    def kernel(self) -> Subset:
        """See `Mechanism.kernel`."""
        return Subset.calibrate(self.epsilon, self.k, self.size)

    @property
    def fields(self) -> tuple[Field, ...]:
        """See `Mechanism.fields`."""
        return (Field("bits", "bytes", self.kernel.width),)

    @cached_property
    def outputs(self) -> float:
        """See `Mechanism.outputs`."""
        return log2_comb(self.k, self.size)

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        """See `Mechanism.perturb`."""
        kept = bernoulli(rng, self.kernel.keep, items.size)
        return {"bits": subset_bits(rng, self.k, np.full(items.size, self.size), items, kept)}

    def count(self, columns: Columns) -> dict[str, IntArray]:
        """See `Mechanism.count`."""
        rows = columns["bits"]
        sizes = loops().popcounts(rows)
        counts = loops().count_bits(rows, 8 * self.kernel.width)
        if (sizes != self.size).any() or counts[self.k :].any():
            raise FormatError(f"a report is no subset of {self.size} out of {self.k} items.")
        return self._one_stratum(columns, counts[: self.k])

    def rows(self, columns: Columns) -> Bytes:
        """See `SupportMechanism.rows`: the report itself."""
        return columns["bits"].astype(np.uint8, copy=False)

    def channel(self) -> Channel:
        """See `Mechanism.channel`."""
        check_outputs(math.comb(self.k, self.size), self.name, self.k)
        sets = [frozenset(c) for c in combinations(range(self.k), self.size)]
        with_x, without = math.comb(self.k - 1, self.size - 1), math.comb(self.k - 1, self.size)
        own, other = self.kernel.keep * without, ((1 << WORD_BITS) - self.kernel.keep) * with_x
        weights = tuple(tuple(own if x in s else other for x in range(self.k)) for s in sets)
        labels = tuple("report {" + ", ".join(map(str, sorted(s))) + "}" for s in sets)
        return Channel(labels, weights, (with_x * without) << WORD_BITS, tuple(sets))

    @cached_property
    def proof(self) -> Proof:
        """See `Mechanism.proof`."""
        text = (
            "a set has probability keep/(2^64 C(k-1,size-1)) given any of its members and "
            "(2^64 - keep)/(2^64 C(k-1,size)) given any other value; relabelling maps all such pairs to each other"
        )
        members = ", ".join(map(str, range(min(self.size, 3)))) + (", ..." if self.size > 3 else "")
        return Proof(self.kernel.ratio, "symmetry", text, Witness(f"report {{{members}}}", 0, self.k - 1))


def log2_comb(k: int, size: int) -> float:
    """log2 of a binomial coefficient that may be too large to write down."""
    if k <= 20_000:
        return math.log2(math.comb(k, size))
    return (math.lgamma(k + 1) - math.lgamma(size + 1) - math.lgamma(k - size + 1)) / math.log(2)
