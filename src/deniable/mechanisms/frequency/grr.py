"""Generalised randomised response [Warner65, Kairouz16, AdaptiveLDP Sec. IV-A]."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from deniable.collect.reports import Field
from deniable.collect.tally import Tally
from deniable.core.channel import Channel, Proof, Witness
from deniable.core.laws import epsilon_to, ratio_to, response
from deniable.core.support import Support
from deniable.core.types import Bytes, Columns, FloatArray, IntArray
from deniable.estimate.evidence import Evidence, ValueEvidence
from deniable.kernels import loops
from deniable.kernels.bits import pack_one
from deniable.kernels.sampling import respond
from deniable.mechanisms.base import check_outputs, refuse_values
from deniable.mechanisms.support import SupportMechanism
from deniable.randomness import Simulation, Stream
from deniable_client.exact import WORD_BITS
from deniable_client.kernels import Response

__all__ = ["GRR"]


@dataclass(frozen=True, kw_only=True)
class GRR(SupportMechanism):
    """The true answer with probability p = e/(e+k-1), else another one, all alike.

    Best for few answers or a large epsilon. A report is one answer; it supports just itself.

    >>> GRR(epsilon=math.log(3), domain=4).support.p
    0.5
    """

    family: ClassVar[str] = "grr"
    vetted: ClassVar[bool] = True
    sufficient: ClassVar[bool] = True

    @cached_property
    def kernel(self) -> Response:
        """See `Mechanism.kernel`."""
        return Response.calibrate(self.epsilon, self.k)

    @property
    def params(self) -> dict[str, Any]:
        """See `Mechanism.params`."""
        return {}

    @cached_property
    def support(self) -> Support[float]:
        """See `SupportMechanism.support`."""
        return response(*epsilon_to(self.epsilon), self.k)

    @cached_property
    def support_exact(self) -> Support[Fraction]:
        """See `SupportMechanism.support_exact`."""
        return response(*ratio_to(self.kernel.ratio), self.k)

    def best_ranked(self, order: IntArray) -> FloatArray:
        """See `SupportMechanism.best_ranked`: a report supports one item."""
        return np.full(self.k, 1 / self.k)

    @property
    def fields(self) -> tuple[Field, ...]:
        """See `Mechanism.fields`."""
        return (Field("value", "uint", self.kernel.width),)

    @property
    def outputs(self) -> float:
        """See `Mechanism.outputs`."""
        return math.log2(self.k)

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        """See `Mechanism.perturb`."""
        return {"value": respond(rng, items, self.k, self.kernel.keep, self.fields[0].dtype)}

    def count(self, columns: Columns) -> dict[str, IntArray]:
        """See `Mechanism.count`."""
        refuse_values(columns["value"], self.k, "value")
        return self._one_stratum(columns, loops().count_values(columns["value"], self.k))

    def rows(self, columns: Columns) -> Bytes:
        """See `SupportMechanism.rows`."""
        return pack_one(columns["value"], self.k)

    def tally_evidence(self, tally: Tally) -> Evidence:
        """See `Mechanism.tally_evidence`."""
        return ValueEvidence(tally.cells["support"][0].astype(np.float64), self.odds)

    def simulate_counts(self, counts: IntArray, rng: Simulation) -> dict[str, IntArray]:
        """See `Mechanism.simulate_counts`: with probability p - q the own item, else any of the k, all alike."""
        draw, n = rng.generator(), int(counts.sum())
        own = draw.binomial(counts, self.support_effective.gap)
        support = own + draw.multinomial(n - own.sum(), np.full(self.k, 1 / self.k))
        return {"n": np.array([n]), "support": support[None, :]}

    def channel(self) -> Channel:
        """See `Mechanism.channel`."""
        check_outputs(self.k, self.name, self.k)
        own, other = self.kernel.keep * (self.k - 1), (1 << WORD_BITS) - self.kernel.keep
        weights = tuple(tuple(own if x == y else other for x in range(self.k)) for y in range(self.k))
        labels = tuple(f"report {y}" for y in range(self.k))
        supported = tuple(frozenset({y}) for y in range(self.k))
        return Channel(labels, weights, (self.k - 1) << WORD_BITS, supported)

    @cached_property
    def proof(self) -> Proof:
        """See `Mechanism.proof`."""
        text = (
            "every report has one probability given its own value, keep/2^64, and one given any other, "
            "(2^64 - keep)/(2^64 (k-1)); relabelling the answers maps all pairs to each other"
        )
        return Proof(self.kernel.ratio, "symmetry", text, Witness("report 0", 0, 1))
