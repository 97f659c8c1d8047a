"""Unary encodings: independent bits, symmetric (SUE) or optimised (OUE) [Wang17, AdaptiveLDP Sec. IV-C]."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import ClassVar

import numpy as np

from deniable.core.channel import Channel, Proof, Witness
from deniable.core.domain import Domain
from deniable.core.laws import epsilon_to, ratio_to, unary
from deniable.core.support import Support
from deniable.core.types import BoolArray, Columns, FloatArray, IntArray
from deniable.errors import FormatError, is_number, require
from deniable.estimate.count_aware import independent_sizes
from deniable.kernels import loops
from deniable.kernels.bits import clear_padding
from deniable.kernels.sampling import bernoulli_bits
from deniable.mechanisms.bulk import Cells, Packed, SupportBulk, check_outputs, no_ones_after, one_stratum
from deniable.mechanisms.support import SupportMechanism
from deniable.randomness import Simulation, Stream, bernoulli
from deniable_client.exact import WORD, check_epsilon
from deniable_client.kernels import Unary as UnaryKernel

__all__ = ["Unary", "UnaryBulk"]


class UnaryBulk(Packed[UnaryKernel], SupportBulk[UnaryKernel]):
    """k independent bits for many people."""

    knows_counts = True

    @property
    def outputs(self) -> float:
        return float(self.k)

    @cached_property
    def support(self) -> Support[Fraction]:
        p = Fraction(self.kernel.keep, WORD)
        return unary(p, 1 - p, *ratio_to(self.kernel.ratio))

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        rows = self.blind(items.size, rng)["bits"]
        loops().put_bits(rows, items, bernoulli(rng, self.kernel.keep, items.size))
        return {"bits": rows}

    def blind(self, n: int, rng: Stream) -> Columns:
        width = self.kernel.width
        rows = bernoulli_bits(rng, self.kernel.flip, n * width).reshape(n, width)
        clear_padding(rows, self.k)
        return {"bits": rows}

    def blind_weights(self, channel: Channel) -> list[Fraction]:
        flip = Fraction(self.kernel.flip, WORD)
        return [flip ** len(items) * (1 - flip) ** (self.k - len(items)) for items in channel.supported or ()]

    def possible(self, columns: Columns) -> BoolArray:
        """See `Bulk.possible`: any set."""
        return no_ones_after(columns["bits"].astype(np.uint8, copy=False), self.k)

    def count(self, columns: Columns) -> Cells:
        counts = loops().count_bits(columns["bits"], 8 * self.kernel.width)
        if counts[self.k :].any():
            raise FormatError(f"a report has ones after its {self.k} bits.")
        return one_stratum(columns, counts[: self.k])

    def simulate_counts(self, counts: IntArray, rng: Simulation, blind: int = 0) -> Cells:
        """See `Bulk.simulate_counts`: all bits are independent, so the counts are, and each is two binomials."""
        draw, n = rng.generator(), int(counts.sum()) + blind
        support = draw.binomial(counts, float(self.support.p)) + draw.binomial(n - counts, float(self.support.q))
        return {"n": np.array([n]), "support": support[None, :]}

    @cached_property
    def size_law(self) -> FloatArray:
        """See `SupportBulk.size_law`: of the number of ones."""
        return independent_sizes(self.k, float(self.support.p), float(self.support.q))

    def channel(self) -> Channel:
        check_outputs(self.k, "these independent bits", self.k)
        keep, flip = self.kernel.keep, self.kernel.flip
        own, other = (WORD - keep, keep), (WORD - flip, flip)
        vectors = list(product((0, 1), repeat=self.k))
        weights = tuple(
            tuple(math.prod(own[b] if i == x else other[b] for i, b in enumerate(y)) for x in range(self.k))
            for y in vectors
        )
        labels = tuple("report " + "".join(map(str, y)) for y in vectors)
        supported = tuple(frozenset(i for i, b in enumerate(y) if b) for y in vectors)
        return Channel(labels, weights, WORD**self.k, supported)

    @property
    def proof(self) -> Proof:
        """Why the kernel's ratio is the worst."""
        text = (
            "the bits are independent, so for two values all factors cancel but those of their own two bits; "
            "p(1-q)/((1-p)q), p = keep/2^64 and q = flip/2^64, is the largest quotient of what is left, since p > q"
        )
        output = "report 1" + "0" * min(self.k - 1, 5) + ("..." if self.k > 6 else "")
        return Proof(self.kernel.ratio, "factorisation", text, Witness(output, 0, 1))


@dataclass(frozen=True, kw_only=True)
class Unary(SupportMechanism):
    """k bits: the own answer's bit is 1 with probability p, every other one with q = p/(e(1-p)+p), independently."""

    p: float
    family: ClassVar[str] = "ue"
    fixed: ClassVar[Mapping[str, float]] = {"oue": 0.5}
    """The p that a name stands for."""
    vetted: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        ok = is_number(self.p) and (0 < self.p < 1 or self.symmetric_p)  # which rounds to 1 for large epsilon
        require(ok, "p", self.p, "between 0 and 1", "OUE is p=0.5.")
        object.__setattr__(self, "p", float(self.p))
        own = self.fixed.get(self.name, self.p)
        require(self.p == own, "p", self.p, f"{own:g} for {self.name}", "Use ue to choose p.")

    @classmethod
    def symmetric(cls, *, epsilon: float, domain: Domain) -> Unary:
        """SUE, the basic one-time RAPPOR: p = 1 - q = e^(eps/2)/(1+e^(eps/2))."""
        p = _symmetric(check_epsilon(epsilon))
        return cls(epsilon=epsilon, domain=domain, p=p, name="sue")

    @classmethod
    def optimised(cls, *, epsilon: float, domain: Domain) -> Unary:
        """OUE: p = 1/2, q = 1/(e+1)."""
        return cls(epsilon=epsilon, domain=domain, p=0.5, name="oue")

    @property
    def symmetric_p(self) -> bool:
        """Whether p is that of `symmetric`, up to its last digits: exponentials differ between machines."""
        return math.isclose(self.p, _symmetric(self.epsilon), rel_tol=1e-15)

    @property
    def _p_not(self) -> float:
        """1 - p; without cancellation where q is the same."""
        half = math.exp(-self.epsilon / 2)
        return half / (1 + half) if self.symmetric_p else 1 - self.p

    @cached_property
    def bulk(self) -> UnaryBulk:
        keep = round(Fraction(self.p) * WORD)
        return UnaryBulk(UnaryKernel.calibrate(self.epsilon, self.k, keep))

    @cached_property
    def proof(self) -> Proof:
        return self.bulk.proof

    def alone(self, support: Support[float]) -> float:
        return float(support.q)

    @cached_property
    def support(self) -> Support[float]:
        return unary(self.p, self._p_not, *epsilon_to(self.epsilon))


def _symmetric(epsilon: float) -> float:
    """p = 1 - q = e^(eps/2)/(1+e^(eps/2))."""
    return 1 / (1 + math.exp(-epsilon / 2))
