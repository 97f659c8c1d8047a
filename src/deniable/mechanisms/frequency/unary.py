"""Unary encodings: independent bits, symmetric (SUE) or optimised (OUE) [Wang17, AdaptiveLDP Sec. IV-C]."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any, ClassVar

import numpy as np

from deniable.collect.reports import Field
from deniable.core.channel import Channel, Proof, Witness
from deniable.core.domain import Domain
from deniable.core.guess import first_of_independent
from deniable.core.laws import epsilon_to, ratio_to, unary
from deniable.core.support import Support
from deniable.core.types import Bytes, Columns, FloatArray, IntArray
from deniable.errors import FormatError, require
from deniable.estimate.count_aware import independent_sizes
from deniable.kernels import loops
from deniable.kernels.bits import clear_padding
from deniable.kernels.sampling import bernoulli_bits
from deniable.mechanisms.base import check_outputs
from deniable.mechanisms.support import SupportMechanism
from deniable.randomness import Simulation, Stream, bernoulli
from deniable_client.exact import WORD_BITS, check_epsilon
from deniable_client.kernels import Unary as UnaryKernel
from deniable_client.packing import bits_width

__all__ = ["BitMechanism", "Unary"]


@dataclass(frozen=True, kw_only=True)
class BitMechanism(SupportMechanism):
    """k independent bits, one per answer, by a unary kernel: what unary encodings and thresholded histograms share."""

    @property
    @abstractmethod
    def kernel(self) -> UnaryKernel:
        """See `Mechanism.kernel`."""

    @cached_property
    def support_exact(self) -> Support[Fraction]:
        """See `SupportMechanism.support_exact`."""
        p = Fraction(self.kernel.keep, 1 << WORD_BITS)
        return unary(p, 1 - p, *ratio_to(self.kernel.ratio))

    def covered(self, support: Support[float]) -> float:
        """See `SupportMechanism.covered`: not all bits are 0."""
        return -math.expm1(self.k * math.log1p(-support.q))

    def best_ranked(self, order: IntArray) -> FloatArray:
        """See `SupportMechanism.best_ranked`."""
        return first_of_independent(self.k, float(self.support.q))

    @property
    def fields(self) -> tuple[Field, ...]:
        """See `Mechanism.fields`."""
        return (Field("bits", "bytes", bits_width(self.k)),)

    @property
    def outputs(self) -> float:
        """See `Mechanism.outputs`."""
        return float(self.k)

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        """See `Mechanism.perturb`."""
        width = self.kernel.width
        rows = bernoulli_bits(rng, self.kernel.flip, items.size * width).reshape(items.size, width)
        clear_padding(rows, self.k)
        loops().put_bits(rows, items, bernoulli(rng, self.kernel.keep, items.size))
        return {"bits": rows}

    def count(self, columns: Columns) -> dict[str, IntArray]:
        """See `Mechanism.count`."""
        counts = loops().count_bits(columns["bits"], 8 * self.kernel.width)
        if counts[self.k :].any():
            raise FormatError(f"a report has ones after its {self.k} bits.")
        return self._one_stratum(columns, counts[: self.k])

    def simulate_counts(self, counts: IntArray, rng: Simulation) -> dict[str, IntArray]:
        """See `Mechanism.simulate_counts`: all bits are independent, so the counts are, and each is two binomials."""
        draw, n = rng.generator(), int(counts.sum())
        p, q = self.support_effective.p, self.support_effective.q
        support = draw.binomial(counts, p) + draw.binomial(n - counts, q)
        return {"n": np.array([n]), "support": support[None, :]}

    @cached_property
    def size_law(self) -> FloatArray:
        """See `SupportMechanism.size_law`: of the number of ones."""
        return independent_sizes(self.k, self.support_effective.p, self.support_effective.q)

    def rows(self, columns: Columns) -> Bytes:
        """See `SupportMechanism.rows`: the report itself."""
        return columns["bits"].astype(np.uint8, copy=False)

    def channel(self) -> Channel:
        """See `Mechanism.channel`."""
        check_outputs(1 << self.k, self.name, self.k)
        word, keep, flip = 1 << WORD_BITS, self.kernel.keep, self.kernel.flip
        own, other = (word - keep, keep), (word - flip, flip)
        vectors = list(product((0, 1), repeat=self.k))
        weights = tuple(
            tuple(math.prod(own[b] if i == x else other[b] for i, b in enumerate(y)) for x in range(self.k))
            for y in vectors
        )
        labels = tuple("report " + "".join(map(str, y)) for y in vectors)
        supported = tuple(frozenset(i for i, b in enumerate(y) if b) for y in vectors)
        return Channel(labels, weights, word**self.k, supported)

    @cached_property
    def proof(self) -> Proof:
        """See `Mechanism.proof`."""
        text = (
            "the bits are independent, so for two values all factors cancel but those of their own two bits; "
            "p(1-q)/((1-p)q), p = keep/2^64 and q = flip/2^64, is the largest quotient of what is left, since p > q"
        )
        output = "report 1" + "0" * min(self.k - 1, 5) + ("..." if self.k > 6 else "")
        return Proof(self.kernel.ratio, "factorisation", text, Witness(output, 0, 1))


@dataclass(frozen=True, kw_only=True)
class Unary(BitMechanism):
    """k bits: the own answer's bit is 1 with probability p, every other one with q = p/(e(1-p)+p), independently."""

    p: float
    family: ClassVar[str] = "ue"
    vetted: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        top = 1.0 if self.name == "sue" else math.nextafter(1, 0)  # SUE's ideal p rounds to 1 for large epsilon
        ok = isinstance(self.p, int | float) and not isinstance(self.p, bool) and 0 < self.p <= top
        require(ok, "p", self.p, "between 0 and 1", "OUE is p=0.5.")
        object.__setattr__(self, "p", float(self.p))
        require(self.name != "oue" or self.p == 0.5, "p", self.p, "0.5 for oue", "Use ue to choose p.")

    @classmethod
    def symmetric(cls, *, epsilon: float, domain: Domain) -> Unary:
        """SUE, the basic one-time RAPPOR: p = 1 - q = e^(eps/2)/(1+e^(eps/2))."""
        p = 1 / (1 + math.exp(-check_epsilon(epsilon) / 2))
        return cls(epsilon=epsilon, domain=domain, p=p, name="sue")

    @classmethod
    def optimised(cls, *, epsilon: float, domain: Domain) -> Unary:
        """OUE: p = 1/2, q = 1/(e+1)."""
        return cls(epsilon=epsilon, domain=domain, p=0.5, name="oue")

    @property
    def _p_not(self) -> float:
        """1 - p; for SUE without cancellation."""
        half = math.exp(-self.epsilon / 2)
        return half / (1 + half) if self.name == "sue" else 1 - self.p

    @cached_property
    def kernel(self) -> UnaryKernel:
        """See `Mechanism.kernel`."""
        keep = round(Fraction(self.p) * (1 << WORD_BITS))
        return UnaryKernel.calibrate(self.epsilon, self.k, keep)

    @property
    def params(self) -> dict[str, Any]:
        """See `Mechanism.params`."""
        return {"p": self.p}

    @cached_property
    def support(self) -> Support[float]:
        """See `SupportMechanism.support`."""
        return unary(self.p, self._p_not, *epsilon_to(self.epsilon))
