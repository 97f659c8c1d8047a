"""A channel that is simply written down, as a base: what makes any finite LDP mechanism a ULDP mechanism."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from deniable.collect.reports import Field
from deniable.collect.tally import Tally
from deniable.core.channel import Channel, Proof
from deniable.core.domain import Domain
from deniable.core.guess import Guess, check_prior
from deniable.core.types import Columns, FloatArray, IntArray
from deniable.errors import PrivacyError, require
from deniable.estimate.evidence import DenseEvidence, Evidence
from deniable.estimate.inverse import inverse_part
from deniable.estimate.linear import check_reports
from deniable.estimate.result import Part
from deniable.kernels import loops
from deniable.kernels.sampling import draw_by_row, row_thresholds
from deniable.mechanisms.base import Mechanism, report_size
from deniable.mechanisms.bulk import Bulk, Cells, check_outputs, refuse_values
from deniable.randomness import Stream
from deniable_client.exact import WORD_BITS, exp_bounds
from deniable_client.kernels import Table

__all__ = ["Explicit", "ExplicitBulk", "written_down"]

_WORD = 1 << WORD_BITS


class ExplicitBulk(Bulk[Table]):
    """A table for many people: a report is the number of an output, and a tally counts every one of them."""

    @property
    def fields(self) -> tuple[Field, ...]:
        return (Field("value", "uint", self.kernel.width),)

    @property
    def outputs(self) -> float:
        return math.log2(self.kernel.outputs)

    @cached_property
    def _thresholds(self) -> Any:
        return row_thresholds(self.kernel.weights)

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        return {"value": draw_by_row(rng, self._thresholds, items).astype(self.fields[0].dtype)}

    def count(self, columns: Columns) -> Cells:
        refuse_values(columns["value"], self.kernel.outputs, "value")
        counts: IntArray = loops().count_values(columns["value"], self.kernel.outputs)
        return {"n": np.array([columns["value"].size], np.int64), "value": counts[None, :]}

    def channel(self) -> Channel:
        check_outputs(self.kernel.outputs, "this table", self.k)
        labels = tuple(f"report {y}" for y in range(self.kernel.outputs))
        return Channel(labels, tuple(zip(*self.kernel.weights, strict=True)), _WORD)

    @cached_property
    def matrix(self) -> FloatArray:
        """Pr[output | value] as floats, a row for each value."""
        return np.array([[weight / _WORD for weight in row] for row in self.kernel.weights])

    def likelihood(self, columns: Columns) -> FloatArray:
        return np.asarray(self.matrix.T[columns["value"].astype(np.int64)])

    @property
    def sufficient(self) -> bool:
        return True

    def tally_evidence(self, cells: Cells) -> Evidence:
        return DenseEvidence(np.ascontiguousarray(self.matrix.T), cells["value"][0].astype(np.float64))


@dataclass(frozen=True, kw_only=True)
class Explicit(Mechanism):
    """A mechanism that is its table: for each answer, how often each output comes.

    It has no registry name of its own: designs of the ULDP mechanism that it is the base of carry the table.
    """

    table: Table
    family: ClassVar[str] = "explicit"

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.table.k == self.k, "table", f"a table of {self.table.k} values", f"one of {self.k}")

    @cached_property
    def bulk(self) -> ExplicitBulk:
        return ExplicitBulk(self.table)

    @property
    def params(self) -> dict[str, Any]:
        return {}

    @cached_property
    def proof(self) -> Proof:
        return self.channel().proof()

    def parts(self, tally: Tally) -> dict[str, Part]:
        check_reports(tally)
        return {"frequency": inverse_part(tally.cells["value"][0], self.bulk.matrix, tally.n, self.name)}

    def guess(self, prior: object = None) -> Guess:
        pi = np.full(self.k, 1 / self.k) if prior is None else check_prior(prior, self.k)
        return Guess(float((pi[:, None] * self.bulk.matrix).max(axis=0).sum()), float(pi.max()))

    def properties(self, n: float = 1) -> dict[str, Any]:
        return {"asr": self.guess().success} | report_size(self)

    def effective(self, n: float = 1) -> dict[str, Any]:
        return {"epsilon": self.epsilon_exact, "asr": self.guess().success}


def written_down(channel: Channel, epsilon: float | None) -> Explicit:
    """A channel as a mechanism: its own epsilon unless one is given; whole 64-bit weights, as it is or the nearest.

    >>> written_down(Channel(("no", "yes"), ((3, 1), (1, 3)), 4), None).proof.ratio
    Fraction(3, 1)
    """
    found = Channel(channel.outputs, channel.weights, channel.total).proof()
    if found.ratio is None:
        raise PrivacyError(
            f"a base must not rule values out: {found.witness} has no bound.", "No epsilon allows that; add noise."
        )
    level = found.epsilon if epsilon is None else epsilon
    weights = [[Fraction(row[x], channel.total) * _WORD for row in channel.weights] for x in range(channel.k)]
    if found.ratio <= exp_bounds(level)[0] and all(w.denominator == 1 for row in weights for w in row):
        table = Table(tuple(tuple(map(int, row)) for row in weights))
    else:
        table = Table.calibrate(level, channel.matrix().tolist())
    return Explicit(epsilon=level, domain=Domain.of(channel.k), table=table)
