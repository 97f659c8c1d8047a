"""Hadamard response: one of about k outputs, no seed, decoded by a fast transform [Acharya19]."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from deniable.collect.reports import Field
from deniable.core.channel import Channel, Proof, Witness
from deniable.core.guess import first_to_cover
from deniable.core.laws import epsilon_to, hadamard, ratio_to
from deniable.core.support import Support
from deniable.core.types import Bytes, Columns, FloatArray, IntArray
from deniable.kernels import loops
from deniable.kernels.sampling import below
from deniable.kernels.transforms import walsh_hadamard
from deniable.mechanisms.bulk import Cells, SupportBulk, check_outputs, refuse_values, two_level
from deniable.mechanisms.support import SupportMechanism
from deniable.randomness import Stream, bernoulli
from deniable_client.kernels import Hadamard as HadamardKernel
from deniable_client.packing import uint_width

__all__ = ["Hadamard", "HadamardBulk"]


class HadamardBulk(SupportBulk[HadamardKernel]):
    """Hadamard response for many people: a column number."""

    @property
    def fields(self) -> tuple[Field, ...]:
        return (Field("value", "uint", uint_width(self.kernel.order)),)

    @property
    def outputs(self) -> float:
        return math.log2(self.kernel.order)

    @cached_property
    def support(self) -> Support[Fraction]:
        return hadamard(*ratio_to(self.kernel.ratio))

    @property
    def uneven(self) -> bool:
        return True

    def extra_pairs(self, f: FloatArray, support: Support[float]) -> FloatArray:
        """See `SupportBulk.extra_pairs`: the value whose row is the sum of the pair's rows ties them together."""
        rows = np.arange(1, self.k + 1)
        third = (rows[:, None] ^ rows[None, :]) - 1
        held = np.where((third >= 0) & (third < self.k), f[np.clip(third, 0, self.k - 1)], 0.0)
        return np.asarray(held * (support.p / 2 - support.both_none))

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        """See `Bulk.perturb`: a uniform column, and where its entry is not the wanted one, its partner."""
        odd = ~bernoulli(rng, self.kernel.keep, items.size)
        rows, y = items + 1, below(rng, self.kernel.order, items.size)
        wrong = (np.bitwise_count(rows & y) % 2 == 1) != odd
        return {"value": np.where(wrong, y ^ (rows & -rows), y).astype(self.fields[0].dtype)}

    def blind(self, n: int, rng: Stream) -> Columns:
        return {"value": below(rng, self.kernel.order, n).astype(self.fields[0].dtype)}

    def count(self, columns: Columns) -> Cells:
        """See `Bulk.count`: how often each column was reported, from which all else follows."""
        refuse_values(columns["value"], self.kernel.order, "value")
        counts = loops().count_values(columns["value"], self.kernel.order)
        return {"n": np.array([len(columns["value"])], np.int64), "value": counts[None, :]}

    def support_counts(self, cells: Cells) -> IntArray:
        """See `SupportBulk.support_counts`: by the fast Walsh-Hadamard transform."""
        signs = walsh_hadamard(cells["value"][0])
        return np.asarray((int(cells["n"][0]) + signs[1 : self.k + 1]) // 2)

    def supported(self, columns: Columns) -> Bytes:
        y, rows = columns["value"].astype(np.int64), np.arange(1, self.k + 1)
        return np.packbits(np.bitwise_count(y[:, None] & rows[None, :]) % 2 == 0, axis=1, bitorder="little")

    @property
    def work(self) -> float:
        """See `SupportBulk.work`: one counter."""
        return 1.0

    @property
    def sufficient(self) -> bool:
        return True

    def channel(self) -> Channel:
        order = self.kernel.order
        check_outputs(order, "this Hadamard response", self.k)
        held = [frozenset(x for x in range(self.k) if ((x + 1) & y).bit_count() % 2 == 0) for y in range(order)]
        return two_level(self.kernel, [f"report {y}" for y in range(order)], held, order // 2, order // 2)


@dataclass(frozen=True, kw_only=True)
class Hadamard(SupportMechanism):
    """A column number of a Sylvester matrix, which supports the items whose rows have +1 there.

    Short reports without a seed and a server that works in O(n + k log k); best at small epsilon, where one bit of
    information per report is all there is.
    """

    family: ClassVar[str] = "hr"
    vetted: ClassVar[bool] = True

    @cached_property
    def bulk(self) -> HadamardBulk:
        return HadamardBulk(HadamardKernel.calibrate(self.epsilon, self.k))

    @cached_property
    def support(self) -> Support[float]:
        return hadamard(*epsilon_to(self.epsilon))

    def covered(self, support: Support[float]) -> float:
        """See `SupportMechanism.covered`: only with k = 2 does one of the four columns support nothing."""
        return 0.75 if self.k == 2 else 1.0

    def best_ranked(self, order: IntArray) -> FloatArray:
        """See `SupportMechanism.best_ranked`: every further row halves the columns that are left."""
        return first_to_cover(order, lambda x, y: np.bitwise_count((x + 1) & y) % 2 == 0, 1 << self.k.bit_length())

    @cached_property
    def proof(self) -> Proof:
        text = (
            "every row but the first has +1 in half of the columns, so a report has the mass 2 keep/(2^64 K) given any "
            "value that it supports and 2 (2^64 - keep)/(2^64 K) given any other"
        )
        return Proof(self.kernel.ratio, "symmetry", text, Witness("report 2", 0, 1))
