"""Bipartite randomised response: the nearest answers are favoured, all others are alike [BRR]."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from deniable.collect.reports import Design
from deniable.collect.tally import Tally
from deniable.core.channel import Proof, Witness
from deniable.core.codes import Span
from deniable.core.domain import Domain
from deniable.core.grid import Grid
from deniable.core.guess import Guess
from deniable.core.laws import epsilon_to, ratio_to, response
from deniable.core.types import Columns, FloatArray, IntArray
from deniable.core.window import window_likelihood
from deniable.errors import require
from deniable.estimate.evidence import Evidence
from deniable.estimate.linear import SupportPart, check_reports
from deniable.estimate.result import Part
from deniable.estimate.window import WindowEvidence
from deniable.kernels.sampling import near, windowed
from deniable.mechanisms.metric.base import MetricMechanism, Rows, check_nearest, refuse_prior
from deniable.mechanisms.metric.bipartite import (
    GRIDS_MAX,
    RULES,
    best_points,
    choose_m,
    fine_limit,
    loss_at,
    loss_of,
    two_level,
)
from deniable.mechanisms.metric.codes_search import interval_codes, line_codes
from deniable.mechanisms.metric.losses import Line, MatrixLosses
from deniable.randomness import Stream
from deniable_client.exact import WORD_BITS, two_level_ratio
from deniable_client.kernels import Neighbours, Window, kernel_from

__all__ = ["BRR", "TIES", "line_bound", "make_brr"]

TIES = ("random", "low", "high")
"""Which of two equally near answers is favoured on a line: by a fair coin for each report, the lower, the higher."""

SEARCHED = 1024
"""Lines of at most this many points are compared with the best mechanism there is."""


@dataclass(frozen=True, kw_only=True)
class BRR(MetricMechanism):
    """The `m` nearest answers have e times the probability of the others; m is common to all values.

    On a line (the answers in their order, or a grid of numbers) a window of m neighbours around the value, moved
    inwards at the ends; on other spaces the m answers of least loss: the value itself first, then the lower number.

    >>> from deniable.core.domain import Domain
    >>> make_brr(epsilon=2.0, domain=Domain.of(40), rule="min").m
    11
    """

    m: int
    tie: str | None = None
    family: ClassVar[str] = "brr"
    vetted: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        whole = isinstance(self.m, int | np.integer) and not isinstance(self.m, bool)
        most = self.output_count - 1
        require(whole and 1 <= self.m <= most, "m", self.m, f"an integer from 1 to {most}, one less than the answers")
        object.__setattr__(self, "m", int(self.m))
        if not self.on_line:
            require(self.tie is None, "tie", self.tie, "left out where answers are not on a line")
            return
        object.__setattr__(self, "tie", self.tie or TIES[0])
        require(self.tie in TIES, "tie", self.tie, f"one of {', '.join(TIES)}")

    @property
    def on_line(self) -> bool:
        """Whether answers have equal distances in a row."""
        return isinstance(self.losses, Line)

    @property
    def params(self) -> dict[str, Any]:
        """See `Mechanism.params`."""
        return {"m": self.m} | ({"tie": self.tie} if self.on_line else {})

    @property
    def shifts(self) -> tuple[int, ...]:
        """How far before the value its window starts: one number, or the coin's two (no coin without a line)."""
        low, high = self.m // 2, (self.m - 1) // 2
        if low == high or self.tie in ("low", None):
            return (low,)
        return (high,) if self.tie == "high" else (low, high)

    @cached_property
    def kernel(self) -> Window | Neighbours:
        """See `Mechanism.kernel`."""
        if self.on_line:
            return Window.calibrate(self.epsilon, self.k, self.k, self.m, self.shifts[0], len(self.shifts) - 1)
        return Neighbours.calibrate(self.epsilon, tuple(map(tuple, self._lists.tolist())), self.output_count)

    @cached_property
    def _lists(self) -> IntArray:
        """The nearest answers of every value, in rising order."""
        assert isinstance(self.losses, MatrixLosses)
        return np.sort(self.losses.order[:, : self.m], axis=1)

    @cached_property
    def _ranked(self) -> IntArray:
        """The answers of every value, the nearest ones first."""
        return np.argsort(1 - self._sides(), axis=1, kind="stable")

    @classmethod
    def of_design(cls, design: Design, domain: Domain) -> Self:
        """See `Mechanism.of_design`: with the lists of the design, as floats may break ties in other ways elsewhere."""
        made = super().of_design(design, domain)
        kernel = kernel_from(design["kernel"])
        if isinstance(kernel, Neighbours) and not made.on_line:
            lists = np.array(kernel.neighbours, np.int64)
            check_nearest(made.losses.matrix(), lists, made._lists)
            vars(made)["_lists"] = lists  # in place of the cached ones
        return made

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        """See `Mechanism.perturb`."""
        dtype = self.fields[0].dtype
        if isinstance(self.kernel, Window):
            return {"value": windowed(rng, items, self.kernel, dtype)}
        places = near(rng, np.zeros(items.size, np.int64), self.m, self.output_count, self.kernel.keep)
        return {"value": self._ranked[items, places].astype(dtype)}

    # ---- channel

    def _sides(self) -> IntArray:
        """In how many of a value's windows (one, or a coin's two) each output is."""
        self.check_matrix()
        held = np.zeros((self.k, self.output_count), np.int64)
        if not self.on_line:
            np.put_along_axis(held, self._lists, 1, axis=1)
            return held
        outputs = np.arange(self.k)
        for shift in self.shifts:
            first = np.clip(outputs - shift, 0, self.k - self.m)[:, None]
            held += (first <= outputs) & (outputs < first + self.m)
        return held

    def _levels(self, w: float, v: float) -> FloatArray:
        high, _ = two_level(w, v, self.m, self.output_count)
        return np.asarray(high * (w + v * self._sides() / len(self.shifts)))

    def matrix(self) -> FloatArray:
        """See `MetricMechanism.matrix`."""
        return self._levels(*epsilon_to(self.epsilon))

    @cached_property
    def level(self) -> Fraction:
        """Exact odds of a favoured output."""
        return two_level_ratio(self.kernel.keep, self.m, self.output_count - self.m)

    @cached_property
    def matrix_exact(self) -> FloatArray:
        """See `MetricMechanism.matrix_exact`."""
        w, v = ratio_to(self.level)
        return self._levels(float(w), float(v))

    def exact_rows(self) -> tuple[Rows, int]:
        """See `MetricMechanism.exact_rows`."""
        rest, sides = self.output_count - self.m, len(self.shifts)
        inside, outside = self.kernel.keep * rest, ((1 << WORD_BITS) - self.kernel.keep) * self.m
        weights = [inside * held + outside * (sides - held) for held in range(sides + 1)]
        rows = [[weights[held] for held in row] for row in self._sides().tolist()]
        return rows, sides * self.m * rest << WORD_BITS

    @cached_property
    def proof(self) -> Proof:
        """See `Mechanism.proof`."""
        text = (
            f"all values favour equally many outputs ({self.m} of {self.output_count}), so an output has one "
            "probability, keep/(2^64 m), for the values that favour it and one, (2^64 - keep)/(2^64 (N - m)), for all "
            "others, and with a coin for ties a mean of the two"
        )
        return Proof(self.kernel.ratio, "two levels", text, self._witness())

    def _witness(self) -> Witness:
        """An output that one value favours and another does not, if there is one."""
        if isinstance(self.kernel, Window):
            return Witness("report 0", 0, self.k - 1)
        first = set(self.kernel.neighbours[0])
        other = next((x for x, row in enumerate(self.kernel.neighbours) if set(row) != first), 0)
        outputs = sorted(first - set(self.kernel.neighbours[other]))
        return Witness(f"report {outputs[0] if outputs else 0}", 0, other)

    def likelihood(self, columns: Columns) -> FloatArray:
        """See `Mechanism.likelihood`."""
        if isinstance(self.kernel, Window):
            return window_likelihood(self.kernel, columns["value"])
        return super().likelihood(columns)

    def tally_evidence(self, tally: Tally) -> Evidence:
        """See `Mechanism.tally_evidence`: on a line in steps of O(k)."""
        if isinstance(self.kernel, Window):
            return WindowEvidence.of(self.kernel, tally.cells["value"][0])
        return super().tally_evidence(tally)

    @cached_property
    def rank(self) -> int:
        """See `MetricMechanism.rank`: on a line there are k - m + 1 different windows."""
        return self.k - self.m + 1 if self.on_line else super().rank

    def parts(self, tally: Tally) -> dict[str, Part]:
        """See `Mechanism.parts`: for m = 1 on a line those of randomised response."""
        if self.m > 1 or not self.on_line:
            return super().parts(tally)
        check_reports(tally)
        law = response(*ratio_to(self.level), self.k).map(float)
        return {"frequency": SupportPart(tally.cells["value"][0] / tally.n, law, tally.n)}

    # ---- closed forms

    def loss(self, prior: object = None) -> float:
        """See `MetricMechanism.loss`: in constant time on a line without a prior."""
        return loss_of(self.losses, self.epsilon, self.m, prior)

    def loss_effective(self) -> float:
        """See `MetricMechanism.loss_effective`."""
        w, v = ratio_to(self.level)
        return loss_at(self.losses, float(w), float(v), self.m)

    def bound(self) -> float | None:
        """See `MetricMechanism.bound`: that of the best codebook, on a line."""
        return line_bound(self.domain, self.losses, self.epsilon)

    def guess(self, prior: object = None) -> Guess:
        """See `Mechanism.guess`: on a line every output is favoured by its own value, and no other more likely."""
        if prior is not None:
            return super().guess(prior)
        high, low = two_level(*epsilon_to(self.epsilon), self.m, self.output_count)
        favoured = self.k if self.on_line else np.unique(self._lists).size
        return Guess((favoured * high + (self.output_count - favoured) * low) / self.k, 1 / self.k)

    def properties(self, n: float = 1) -> dict[str, Any]:
        """See `Mechanism.properties`: with the limit of ever finer grids on an interval [BRR Thm. 3]."""
        found = super().properties(n)
        if isinstance(self.domain, Grid):
            found["loss_fine"] = (self.domain.high - self.domain.low) * fine_limit(self.epsilon)
        return found


def line_bound(domain: Domain, losses: object, epsilon: float) -> float | None:
    """The least expected loss of any mechanism on a line, or None where it is not known or too long to find."""
    if isinstance(domain, Grid):
        return (domain.high - domain.low) * interval_codes(epsilon).loss
    if isinstance(losses, Line) and losses.k <= SEARCHED:
        return line_codes(losses, epsilon).loss
    return None


def make_brr(
    *,
    epsilon: float,
    domain: Domain | Span,
    rule: str | None = None,
    size: int | None = None,
    prior: object = None,
    tie: str | None = None,
) -> BRR:
    """With the m of a rule (`mean` unless given), or with m = `size`; on an interval alone, on the best grid."""
    require(rule is None or size is None, "rule", rule, "left out where size says how many answers are favoured")
    kept = rule or RULES[0]
    record: dict[str, Any] = {}
    if isinstance(domain, Span):
        refuse_prior(prior, "an interval without a number of points")
        require(size is None, "size", size, "left out where the number of points is chosen", "Give points=N, too.")
        points, _ = best_points(epsilon, kept, domain.layout)
        note = f"{points} points have the least expected loss of all grids of up to {GRIDS_MAX:,} points"
        record = {"points": points, "note": note}
        domain = Grid.of(domain.low, domain.high, points, layout=domain.layout, clip=domain.clip)
    if size is not None:
        refuse_prior(prior, "a given size")
        return BRR(epsilon=epsilon, domain=domain, m=size, tie=tie)
    if kept == "min":
        refuse_prior(prior, "the rule min")
    losses = BRR(epsilon=epsilon, domain=domain, m=1, tie=tie).losses
    m = choose_m(losses, epsilon, kept, prior)
    record = {"rule": kept, "m": m, "prior": "given" if prior is not None else "uniform"} | record
    return BRR(epsilon=epsilon, domain=domain, m=m, tie=tie, selection=record)
