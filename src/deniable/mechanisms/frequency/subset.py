"""Subset selection [YeBarg18, AdaptiveLDP Sec. IV-B]."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import ClassVar, Literal

import numpy as np

from deniable.collect.reports import Field
from deniable.core.channel import Channel, Proof, Witness
from deniable.core.domain import Domain
from deniable.core.frontier import best_subset_size
from deniable.core.laws import epsilon_to, ratio_to, subset
from deniable.core.support import Support
from deniable.core.types import Bytes, Columns, IntArray
from deniable.errors import FormatError, require
from deniable.kernels import loops
from deniable.kernels.sampling import below, subset_bits
from deniable.mechanisms.bulk import Cells, SupportBulk, check_outputs, one_stratum, two_level
from deniable.mechanisms.support import SupportMechanism
from deniable.randomness import Stream, bernoulli
from deniable_client.exact import check_epsilon
from deniable_client.kernels import Subset

__all__ = ["SubsetBulk", "SubsetSelection", "check_size", "log2_comb"]


class SubsetBulk(SupportBulk[Subset]):
    """Subset selection for many people: a report is the set as k bits."""

    @property
    def fields(self) -> tuple[Field, ...]:
        return (Field("bits", "bytes", self.kernel.width),)

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

    def count(self, columns: Columns) -> Cells:
        rows = columns["bits"]
        sizes = loops().popcounts(rows)
        counts = loops().count_bits(rows, 8 * self.kernel.width)
        if (sizes != self.kernel.size).any() or counts[self.k :].any():
            raise FormatError(f"a report is no subset of {self.kernel.size} out of {self.k} items.")
        return one_stratum(columns, counts[: self.k])

    def supported(self, columns: Columns) -> Bytes:
        return columns["bits"].astype(np.uint8, copy=False)

    def most(self, r: int) -> int:
        return min(r, self.kernel.size)

    def channel(self) -> Channel:
        k, size = self.k, self.kernel.size
        check_outputs(math.comb(k, size), "this subset selection", k)
        held = [frozenset(c) for c in combinations(range(k), size)]
        labels = ["report {" + ", ".join(map(str, sorted(s))) + "}" for s in held]
        return two_level(self.kernel, labels, held, math.comb(k - 1, size - 1), math.comb(k - 1, size))


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
    def bulk(self) -> SubsetBulk:
        return SubsetBulk(Subset.calibrate(self.epsilon, self.k, self.size))

    @cached_property
    def support(self) -> Support[float]:
        return subset(*epsilon_to(self.epsilon), self.k, self.size)

    @property
    def sizes(self) -> Mapping[int, float]:
        return {self.size: 1.0}

    @cached_property
    def proof(self) -> Proof:
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
