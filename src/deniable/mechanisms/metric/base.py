"""Mechanisms whose report is one of some outputs, each more or less near to the answer.

What a family adds: its kernel in bulk, and its channel with ideal parameters, as floats.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from deniable.collect.reports import Design, Reports
from deniable.collect.tally import Tally
from deniable.core.domain import Domain
from deniable.core.guess import Guess
from deniable.core.laws import ratio_to, response
from deniable.core.protection import VALUE
from deniable.core.types import FloatArray, IntArray
from deniable.errors import FormatError, ParameterError
from deniable.estimate.inverse import inverse_part, no_inverse
from deniable.estimate.linear import SupportPart, check_reports
from deniable.estimate.result import Part
from deniable.mechanisms.base import Mechanism, report_size
from deniable.mechanisms.common import numbers_of
from deniable.mechanisms.metric.codes_search import interval_codes, line_codes
from deniable.mechanisms.metric.losses import Losses, losses_of
from deniable.mechanisms.outputs import OutputBulk
from deniable.mechanisms.possible import LABELS, NUMBERED, Entries
from deniable_client.kernels import Kernel, kernel_from

__all__ = ["MetricMechanism", "check_nearest", "outputs_of", "refuse_prior", "response_parts"]

SEARCHED = 1024
"""Lines of at most this many points are compared with the best mechanism there is."""

_NEAR = 1e-9
"""Share by which sums of distances may differ between machines."""


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
class MetricMechanism(Mechanism):
    """Reports are numbers of outputs; a tally counts every one of them."""

    given: Kernel | None = field(default=None, repr=False)
    """The kernel that a design carries, where it is another one than is made here.

    Floats may differ in their last digits from one machine to another, and then so do lists and tables made from them.
    Whoever reads a design takes those that it carries, after checking that they are what they should be.
    """
    carries: ClassVar[type[Kernel]]
    """The kind of kernel that depends on floats."""
    subject: ClassVar[str] = VALUE

    @classmethod
    def of_design(cls, design: Design, domain: Domain) -> Self:
        """See `Mechanism.of_design`: with the kernel that the design carries, if it depends on floats."""
        kernel = kernel_from(design["kernel"])
        own = {"given": kernel if isinstance(kernel, cls.carries) else None, **design["params"]}
        return cls(epsilon=design["epsilon"], domain=domain, name=design["mechanism"], **own)

    # ---- what a family says of itself

    @property
    @abstractmethod
    def bulk(self) -> OutputBulk[Any]: ...

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

    # ---- reports and estimates

    def released(self, reports: Reports) -> np.ndarray[Any, Any]:
        """Reports as answers: numbers of an interval, labels where there are some, else numbers of answers."""
        outputs = numbers_of(self, reports)
        points = self.output_points
        return self.domain.decode(outputs if points is None else points[outputs])

    def answers(self) -> np.ndarray[Any, Any]:
        """All answers that a report may be taken for, as they are read."""
        return self.domain.decode(np.arange(self.losses.outputs))

    @cached_property
    def rank(self) -> int:
        """Rank of the channel: below k there is no unbiased estimate."""
        return int(np.linalg.matrix_rank(self.matrix()))

    def parts(self, tally: Tally) -> dict[str, Part]:
        """See `Mechanism.parts`; refused where the channel has no inverse."""
        check_reports(tally)
        if self.rank < self.k:
            raise no_inverse(self.name, self.rank, self.k)
        return {"frequency": inverse_part(tally.cells["value"][0], self.bulk.matrix, tally.n, self.name)}

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
        return self.loss_under(self.bulk.matrix)

    def remap(self, prior: object = None) -> Remap:
        """The best answer to take each output for, given a prior [BRR]: it costs no privacy."""
        weights = self.losses.weights(prior)
        joint = weights[:, None] * self.matrix()
        table = self.losses.matrix()
        costs = joint.T @ table
        best = np.asarray(costs.argmin(axis=1), np.int64)
        return Remap(best, float(costs.min(axis=1).sum()), self.loss(prior), self.answers())

    def bound(self) -> float | None:
        """The least expected loss of any mechanism with this promise, where it is known: on a line of a few points."""
        losses = self.losses
        if losses.width is not None:
            return losses.width * interval_codes(self.epsilon).loss
        if losses.line is not None and self.k <= SEARCHED:
            return line_codes(losses.line, self.epsilon).loss
        return None

    # ---- closed forms

    def guess(self, prior: object = None) -> Guess:
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
        size = {"bits": math.log2(self.output_count)} | report_size(self)
        unit = {"unit": self.losses.unit} if self.losses.unit else {}
        return {"loss": loss, **unit, "asr": self.guess().success} | size | known

    def effective(self, n: float = 1) -> dict[str, Any]:
        return {"epsilon": self.epsilon_exact, "loss": self.loss_effective()}


def response_parts(tally: Tally, odds: Fraction, k: int) -> dict[str, Part]:
    """The frequencies of randomised response on k answers, from counts of all outputs."""
    check_reports(tally)
    law = response(*ratio_to(odds), k).map(float)
    return {"frequency": SupportPart(tally.cells["value"][0] / tally.n, law, tally.n)}


def outputs_of(m: MetricMechanism) -> Entries:
    """What outputs are: answers, unless there are others than those that people may give."""
    if m.output_points is not None:
        return Entries("label", m.output_points.tolist())
    return LABELS if m.output_count == m.k else NUMBERED


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
