"""Generalised randomised response [Warner65, Kairouz16, AdaptiveLDP Sec. IV-A]."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from deniable.core.channel import Channel, Proof, Witness
from deniable.core.laws import epsilon_to, ratio_to, response
from deniable.core.support import Support
from deniable.core.types import Bytes, Columns, IntArray
from deniable.estimate.evidence import Evidence, ValueEvidence
from deniable.kernels import loops
from deniable.kernels.bits import pack_one
from deniable.kernels.sampling import below, respond
from deniable.mechanisms.bulk import Cells, Numbered, SupportBulk, check_outputs, one_stratum, refuse_values, two_level
from deniable.mechanisms.possible import Cell
from deniable.mechanisms.reader import SupportReader
from deniable.mechanisms.support import SupportMechanism
from deniable.randomness import Simulation, Stream
from deniable_client.kernels import Response, promised_ratio

__all__ = ["GRR", "ResponseBulk"]


class _ResponseReader(SupportReader["ResponseBulk"]):
    sufficient = True

    def tally_evidence(self, cells: Cells) -> Evidence:
        return ValueEvidence(cells["support"][0].astype(np.float64), self.bulk.odds)


class ResponseBulk(Numbered, SupportBulk[Response]):
    """Randomised response for many people: a report is one answer and supports just itself."""

    reads = _ResponseReader
    knows_counts = True

    @property
    def size(self) -> int:
        return self.k

    @cached_property
    def support(self) -> Support[Fraction]:
        return response(*ratio_to(self.kernel.ratio), self.k)

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        return {"value": respond(rng, items, self.k, self.kernel.keep, self.fields[0].dtype)}

    def blind(self, n: int, rng: Stream) -> Columns:
        return {"value": below(rng, self.k, n).astype(self.fields[0].dtype)}

    @property
    def cells(self) -> Mapping[str, Cell]:
        return {"support": Cell(self.k, total=(1, 1))}

    def count(self, columns: Columns) -> Cells:
        refuse_values(columns["value"], self.k, "value")
        return one_stratum(columns, loops().count_values(columns["value"], self.k))

    def supported(self, columns: Columns) -> Bytes:
        return pack_one(columns["value"], self.k)

    def most(self, r: int) -> int:
        return 1

    def simulate_counts(self, counts: IntArray, rng: Simulation, blind: int = 0) -> Cells:
        """See `Bulk.simulate_counts`: with probability p - q the own item, else any of the k, all alike."""
        draw, n = rng.generator(), int(counts.sum()) + blind
        own = draw.binomial(counts, float(self.support.gap))
        support = own + draw.multinomial(n - own.sum(), np.full(self.k, 1 / self.k))
        return {"n": np.array([n]), "support": support[None, :]}

    def channel(self) -> Channel:
        check_outputs(math.log2(self.k), "this randomised response", self.k)
        held = [frozenset({y}) for y in range(self.k)]
        return two_level(self.kernel, [f"report {y}" for y in range(self.k)], held, 1, self.k - 1)


@dataclass(frozen=True, kw_only=True)
class GRR(SupportMechanism):
    """The true answer with probability p = e/(e+k-1), else another one, all alike.

    Best for few answers or a large epsilon. A report is one answer; it supports just itself.

    >>> GRR(epsilon=math.log(3), domain=4).support.p
    0.5
    """

    family: ClassVar[str] = "grr"
    vetted: ClassVar[bool] = True

    @cached_property
    def bulk(self) -> ResponseBulk:
        return ResponseBulk(Response.calibrate(self.epsilon, self.k))

    @cached_property
    def support(self) -> Support[float]:
        return response(*epsilon_to(self.epsilon), self.k)

    @property
    def sizes(self) -> Mapping[int, float]:
        return {1: 1.0}

    @cached_property
    def proof(self) -> Proof:
        text = (
            "every report has one probability given its own value, keep/2^64, and one given any other, "
            "(2^64 - keep)/(2^64 (k-1)); relabelling the answers maps all pairs to each other"
        )
        return Proof(promised_ratio(self.kernel), "symmetry", text, Witness("report 0", 0, 1))
