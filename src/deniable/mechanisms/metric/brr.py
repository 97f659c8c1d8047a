"""Bipartite randomised response: the nearest answers are favoured, all others are alike [BRR]."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from deniable.collect.tally import Tally
from deniable.core.channel import Proof, Witness
from deniable.core.codes import Span
from deniable.core.domain import Domain
from deniable.core.guess import Guess
from deniable.core.laws import epsilon_to
from deniable.core.types import FloatArray, IntArray
from deniable.core.window import starts_of, window_held
from deniable.errors import require
from deniable.estimate.result import Part
from deniable.mechanisms.metric.base import (
    MetricMechanism,
    check_nearest,
    outputs_of,
    refuse_prior,
    response_parts,
)
from deniable.mechanisms.metric.bipartite import (
    GRIDS_MAX,
    best_points,
    choose_m,
    fine_limit,
    loss_at,
    loss_of,
    two_level,
)
from deniable.mechanisms.metric.bulk import NeighboursBulk
from deniable.mechanisms.metric.losses import nearest
from deniable.mechanisms.metric.options import RULES, TIES
from deniable.mechanisms.outputs import WindowBulk, check_matrix, favoured_held, favoured_matrix, odds_to
from deniable_client.kernels import Kernel, Neighbours, Window, promised_ratio

__all__ = ["BRR", "make_brr"]


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
    given: Neighbours | None = field(default=None, repr=False)
    """The lists of a design, where they are others than those found here: ties may be broken in other ways."""
    carries: ClassVar[type[Kernel]] = Neighbours
    family: ClassVar[str] = "brr"
    vetted: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        number = isinstance(self.m, int | np.integer) and not isinstance(self.m, bool)
        most = self.output_count - 1
        require(number and 1 <= self.m <= most, "m", self.m, f"an integer from 1 to {most}, one less than the answers")
        object.__setattr__(self, "m", int(self.m))
        if self.on_line:
            object.__setattr__(self, "tie", self.tie or TIES[0])
            require(self.tie in TIES, "tie", self.tie, f"one of {', '.join(TIES)}")
        else:
            require(self.tie is None, "tie", self.tie, "left out where answers are not on a line")
        if self.given is not None and not _differs(self, self.given):
            object.__setattr__(self, "given", None)

    @property
    def on_line(self) -> bool:
        """Whether answers have equal distances in a row."""
        return self.losses.line is not None

    @property
    def params(self) -> dict[str, Any]:
        return {"m": self.m} | ({"tie": self.tie} if self.on_line else {})

    @property
    def shifts(self) -> tuple[int, ...]:
        """How far before the value its window starts: one number, or the coin's two (no coin without a line)."""
        low, high = self.m // 2, (self.m - 1) // 2
        if low == high or self.tie in ("low", None):
            return (low,)
        return (high,) if self.tie == "high" else (low, high)

    @cached_property
    def lists(self) -> IntArray:
        """The nearest answers of every value, in rising order, where there is no line."""
        return self._nearest if self.given is None else np.array(self.given.neighbours, np.int64)

    @cached_property
    def _nearest(self) -> IntArray:
        return nearest(self.losses.matrix(), self.m)

    @cached_property
    def bulk(self) -> WindowBulk | NeighboursBulk:
        about = outputs_of(self)
        if self.on_line:
            shift, tie = self.shifts[0], len(self.shifts) - 1
            kernel = Window.calibrate(self.epsilon, self.k, self.k, self.m, shift, tie)
            return WindowBulk(kernel, about=about)
        lists = tuple(map(tuple, self.lists.tolist()))
        return NeighboursBulk(Neighbours.calibrate(self.epsilon, lists, self.output_count), about=about)

    # ---- channel

    def matrix(self) -> FloatArray:
        check_matrix(self.k, self.output_count, self.name)
        if self.on_line:
            held = window_held(starts_of(self.k, self.shifts, self.k - self.m), self.m, self.k)
        else:
            held = favoured_held(self.lists, self.output_count)
        return favoured_matrix(held, len(self.shifts), *epsilon_to(self.epsilon), self.m)

    @cached_property
    def proof(self) -> Proof:
        text = (
            f"all values favour equally many outputs ({self.m} of {self.output_count}), so an output has one "
            "probability, keep/(2^64 m), for the values that favour it and one, (2^64 - keep)/(2^64 (N - m)), for all "
            "others, and with a coin for ties a mean of the two"
        )
        return Proof(promised_ratio(self.kernel), "two levels", text, _witness(self))

    @cached_property
    def rank(self) -> int:
        """See `MetricMechanism.rank`: on a line there are k - m + 1 different windows."""
        return self.k - self.m + 1 if self.on_line else super().rank

    def parts(self, tally: Tally) -> dict[str, Part]:
        """See `Mechanism.parts`: for m = 1 on a line those of randomised response."""
        if self.m > 1 or not self.on_line:
            return super().parts(tally)
        return response_parts(tally, self.bulk.odds, self.k)

    # ---- closed forms

    def loss(self, prior: object = None) -> float:
        """See `MetricMechanism.loss`: in constant time on a line without a prior."""
        return loss_of(self.losses, self.epsilon, self.m, prior)

    def loss_effective(self) -> float:
        return loss_at(self.losses, *odds_to(self.bulk.odds), self.m)

    def guess(self, prior: object = None) -> Guess:
        """See `Mechanism.guess`: on a line every output is favoured by its own value, and no other more likely."""
        if prior is not None:
            return super().guess(prior)
        high, low = two_level(*epsilon_to(self.epsilon), self.m, self.output_count)
        favoured = self.k if self.on_line else np.unique(self.lists).size
        return Guess((favoured * high + (self.output_count - favoured) * low) / self.k, 1 / self.k)

    def properties(self, n: float = 1) -> dict[str, Any]:
        """See `Mechanism.properties`: with the limit of ever finer grids on an interval [BRR Thm. 3]."""
        width = self.losses.width if self.on_line else None
        fine = {} if width is None else {"loss_fine": width * fine_limit(self.epsilon)}
        return super().properties(n) | fine


def _differs(m: BRR, given: Neighbours) -> bool:
    """Whether the lists of a design are to be taken: other ones that are as near."""
    if m.on_line:
        return False
    lists = np.array(given.neighbours, np.int64)
    check_nearest(m.losses.matrix(), lists, m._nearest)
    return bool((lists != m._nearest).any())


def _witness(m: BRR) -> Witness:
    """An output that one value favours and another does not, if there is one."""
    if m.on_line:
        return Witness("report 0", 0, m.k - 1)
    other = int((m.lists != m.lists[0]).any(axis=1).argmax())
    outputs = np.setdiff1d(m.lists[0], m.lists[other])
    return Witness(f"report {outputs[0] if outputs.size else 0}", 0, other)


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
        domain = domain.grid(points)
    if size is not None:
        refuse_prior(prior, "a given size")
        return BRR(epsilon=epsilon, domain=domain, m=size, tie=tie)
    if kept == "min":
        refuse_prior(prior, "the rule min")
    m = choose_m(BRR(epsilon=epsilon, domain=domain, m=1, tie=tie).losses, epsilon, kept, prior)
    record = {"rule": kept, "m": m, "prior": "given" if prior is not None else "uniform"} | record
    return BRR(epsilon=epsilon, domain=domain, m=m, tie=tie, selection=record)
