"""Mechanisms whose report is one of some outputs, each more or less near to the answer.

What a family adds: its kernel, a bulk sampler, and its channel as floats (ideal) and as whole numbers (sampled).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from deniable.collect.reports import Field, Reports
from deniable.collect.tally import Tally
from deniable.core.channel import Channel
from deniable.core.codes import Codes
from deniable.core.grid import Grid
from deniable.core.guess import Guess
from deniable.core.space import Space
from deniable.core.types import Columns, FloatArray, IntArray
from deniable.errors import EnumerationError, FormatError, ParameterError, require
from deniable.estimate.evidence import DenseEvidence, Evidence
from deniable.estimate.inverse import inverse_part, no_inverse
from deniable.estimate.linear import check_reports
from deniable.estimate.result import Part
from deniable.kernels import loops
from deniable.mechanisms.bulk import check_outputs, refuse_values
from deniable.mechanisms.legacy import Legacy
from deniable.mechanisms.metric.losses import MATRIX_MAX, Losses, losses_of
from deniable.randomness import Simulation
from deniable_client.packing import uint_width

__all__ = ["MetricMechanism", "Remap", "Rows", "check_nearest", "refuse_prior"]

COUNTED_MAX = 1 << 26
"""Outputs that a tally counts one by one."""

_NEAR = 1e-9
"""Share by which sums of distances may differ between machines."""

Rows = Sequence[Sequence[int]]
"""Whole numbers in proportion to Pr[output | value], a row for each value."""


@dataclass(frozen=True, slots=True, eq=False)
class Remap:
    """What to take each output for, so that the expected loss under a prior is least: free post-processing."""

    table: IntArray
    """The answer that stands for each output."""
    loss: float
    """The expected loss afterwards."""
    before: float
    """The expected loss of the outputs as they are."""
    values: np.ndarray[Any, Any]
    """All answers as they are read: numbers or labels."""

    def apply(self, reports: Reports) -> np.ndarray[Any, Any]:
        """The answers that stand for reports."""
        return np.asarray(self.values[self.table[reports.columns["value"].astype(np.int64)]])


@dataclass(frozen=True, kw_only=True)
class MetricMechanism(Legacy):
    """Reports are numbers of outputs; a tally counts every one of them."""

    sufficient: ClassVar[bool] = True

    # ---- what a family says of itself

    @property
    def output_count(self) -> int:
        """Number of different reports: one for each answer, unless a family has others."""
        return self.losses.outputs

    @property
    def output_points(self) -> IntArray | None:
        """Which answer each output stands for; None: output i is answer i (column i of the losses)."""
        return None

    @abstractmethod
    def matrix(self) -> FloatArray:
        """The ideal channel, Pr[output | value] with a row for each value; `EnumerationError` where it is too large."""

    @abstractmethod
    def exact_rows(self) -> tuple[Rows, int]:
        """The integers that are sampled as weights of each value's outputs, and the sum of a row."""

    @cached_property
    def matrix_exact(self) -> FloatArray:
        """The channel of the integers that are sampled, as floats: what likelihoods and estimates use."""
        self.check_matrix()
        rows, total = self.exact_rows()
        return np.array([[weight / total for weight in row] for row in rows])

    # ---- client and counter

    @property
    def fields(self) -> tuple[Field, ...]:
        """See `Mechanism.fields`: the number of an output."""
        return (Field("value", "uint", uint_width(self.output_count)),)

    @property
    def outputs(self) -> float:
        """See `Mechanism.outputs`."""
        return math.log2(self.output_count)

    def count(self, columns: Columns) -> dict[str, IntArray]:
        """See `Mechanism.count`: how often each output was reported."""
        hint = "Take fewer points, or read the reports themselves."
        require(self.output_count <= COUNTED_MAX, "outputs", self.output_count, f"at most {COUNTED_MAX} to tally", hint)
        values = columns["value"]
        refuse_values(values, self.output_count, "value")
        counts: IntArray = loops().count_values(values, self.output_count)
        return {"n": np.array([values.size], np.int64), "value": counts[None, :]}

    def released(self, reports: Reports) -> np.ndarray[Any, Any]:
        """Reports as answers: numbers of an interval, labels where there are some, else numbers of answers."""
        self._refuse_strangers(reports)
        outputs = reports.columns["value"].astype(np.int64)
        points = self.output_points
        return self._answers(outputs if points is None else points[outputs])

    def answers(self) -> np.ndarray[Any, Any]:
        """All answers that a report may be taken for, as they are read."""
        return self._answers(np.arange(self.losses.outputs))

    def _answers(self, items: IntArray) -> np.ndarray[Any, Any]:
        if isinstance(self.domain, Grid):
            return np.asarray(self.domain.at(items))
        if isinstance(self.domain, Codes):
            return self.domain.points[items]
        labels = self.domain.labels
        square = not isinstance(self.domain, Space) or self.domain.outputs == self.k
        return items if labels is None or not square else np.array(labels)[items]

    def _refuse_strangers(self, reports: Reports) -> None:
        require(reports.design == self.design, "reports", "reports of another design", "reports of this very design")

    def simulate_counts(self, counts: IntArray, rng: Simulation) -> dict[str, IntArray]:
        """See `Mechanism.simulate_counts`: the outputs of each value's people are multinomial."""
        drawn = rng.generator().multinomial(counts, self.matrix_exact).sum(axis=0)
        return {"n": np.array([counts.sum()], np.int64), "value": np.asarray(drawn, np.int64)[None, :]}

    # ---- channel

    def check_matrix(self) -> None:
        """`EnumerationError` where the channel is too large to be written out as floats."""
        if self.k * self.output_count > MATRIX_MAX:
            raise EnumerationError(
                f"the channel of {self.name} has {self.k} x {self.output_count} entries, too many to write out.",
                "Take fewer points; closed forms and reports work for any number of them.",
            )

    def channel(self) -> Channel:
        """See `Mechanism.channel`."""
        check_outputs(self.output_count, self.name, self.k)
        rows, total = self.exact_rows()
        names = tuple(f"report {y}" for y in range(self.output_count))
        return Channel(names, tuple(zip(*rows, strict=True)), total)

    def likelihood(self, columns: Columns) -> FloatArray:
        """See `Mechanism.likelihood`."""
        return np.asarray(self.matrix_exact.T[columns["value"].astype(np.int64)])

    def tally_evidence(self, tally: Tally) -> Evidence:
        """See `Mechanism.tally_evidence`."""
        counts = tally.cells["value"][0]
        seen = np.flatnonzero(counts)
        return DenseEvidence(np.ascontiguousarray(self.matrix_exact.T[seen]), counts[seen].astype(np.float64))

    @cached_property
    def rank(self) -> int:
        """Rank of the channel: below k there is no unbiased estimate."""
        return int(np.linalg.matrix_rank(self.matrix()))

    def parts(self, tally: Tally) -> dict[str, Part]:
        """See `Mechanism.parts`; refused where the channel has no inverse."""
        check_reports(tally)
        if self.rank < self.k:
            raise no_inverse(self.name, self.rank, self.k)
        return {"frequency": inverse_part(tally.cells["value"][0], self.matrix_exact, tally.n, self.name)}

    # ---- losses

    @cached_property
    def losses(self) -> Losses:
        """What reports cost: those of the domain."""
        return losses_of(self.domain)

    def loss_matrix(self) -> FloatArray:
        """Losses of each value (row) and output (column)."""
        table, points = self.losses.matrix(), self.output_points
        return table if points is None else table[:, points]

    def loss(self, prior: object = None) -> float:
        """The expected loss of a report under a prior, all values being equally likely without one."""
        return self.loss_under(self.matrix(), prior)

    def loss_under(self, matrix: FloatArray, prior: object = None) -> float:
        """The expected loss of a channel with the same outputs."""
        each = (matrix * self.loss_matrix()).sum(axis=1)
        return float(self.losses.weights(prior) @ each)

    def worst_loss(self) -> float:
        """The expected loss of the value that has the largest."""
        return float((self.matrix() * self.loss_matrix()).sum(axis=1).max())

    def loss_effective(self) -> float:
        """The expected loss of what is sampled."""
        return self.loss_under(self.matrix_exact)

    def remap(self, prior: object = None) -> Remap:
        """The best answer to take each output for, given a prior [BRR]: it costs no privacy."""
        weights = self.losses.weights(prior)
        joint = weights[:, None] * self.matrix()
        table = self.losses.matrix()
        costs = joint.T @ table
        best = np.asarray(costs.argmin(axis=1), np.int64)
        return Remap(best, float(costs.min(axis=1).sum()), self.loss(prior), self.answers())

    def bound(self) -> float | None:
        """The least expected loss that any mechanism with this promise can have, where it is known."""
        return None

    # ---- closed forms

    def guess(self, prior: object = None) -> Guess:
        """See `Mechanism.guess`."""
        matrix = self.matrix()
        if prior is None:
            return Guess(float(matrix.max(axis=0).sum() / self.k), 1 / self.k)
        weights = self.losses.weights(prior)
        blind = float(weights.max())
        return Guess(max(blind, float((weights[:, None] * matrix).max(axis=0).sum())), blind)

    def properties(self, n: float = 1) -> dict[str, Any]:
        """See `Mechanism.properties`: the expected loss of one report, whatever the number of them."""
        loss, bound = self.loss(), self.bound()
        known = {} if bound is None or bound <= 0 else {"bound": bound, "gap": loss / bound - 1}
        size = {"bits": self.outputs} if self.refusal else {"bits": self.outputs, "bytes": self.row_bytes}
        unit = {"unit": self.losses.unit} if self.losses.unit else {}
        return {"loss": loss, **unit, "asr": self.guess().success} | size | known

    def effective(self, n: float = 1) -> dict[str, Any]:
        """See `Mechanism.effective`."""
        return {"epsilon": self.epsilon_exact, "loss": self.loss_effective()}


def check_nearest(table: FloatArray, given: IntArray, own: IntArray) -> None:
    """`FormatError` unless the outputs that a design gives each value are as near as those found here.

    Distances are floats, and may differ in their last digits from one machine to another; then ties do, too.
    """
    fits = given.shape == own.shape and bool((given >= 0).all()) and bool((given < table.shape[1]).all())
    if fits:
        theirs, ours = (np.take_along_axis(table, lists, axis=1).sum(axis=1) for lists in (given, own))
        fits = bool((np.abs(theirs - ours) <= _NEAR * np.maximum(theirs, ours)).all())
    if not fits:
        raise FormatError(
            "the design does not agree with itself: its nearest answers are not those of its distances.",
            "It was changed, or made by another version.",
        )


def refuse_prior(prior: object, what: str) -> None:
    """`ParameterError` where a prior is given to a rule that does not use one."""
    if prior is not None:
        raise ParameterError(f"prior must be left out for {what}: it does not look at one.")
