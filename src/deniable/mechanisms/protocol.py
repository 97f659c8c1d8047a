"""Protocols: collections in several steps, where a later question depends on the answers to earlier ones.

Everybody takes part in one step only, with the whole epsilon; or, where a protocol is `repeated`, in every step, whose
budgets then add up to epsilon. `first()` is the first step; `next(tallies)` takes the tallies of all steps so far, in
order, and gives the next step, or the estimate when nothing is left to ask. A protocol holds no state, so the same
object runs in a simulation, a notebook or a collector.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from deniable.collect.reports import Reports
from deniable.collect.tally import Tally
from deniable.core.channel import Proof
from deniable.core.domain import Domain
from deniable.core.promise.value import plain_promise
from deniable.core.protection import ANSWER, Protection
from deniable.core.types import IntArray
from deniable.errors import ParameterError, require
from deniable.estimate.result import Estimate
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.showing import as_line, keep_line, steps_html
from deniable.randomness import Stream, stream_of
from deniable_client.exact import check_epsilon

__all__ = ["ItemStep", "OfItems", "Protocol", "Step", "permutation"]

Data = TypeVar("Data")
"""What all people together have."""


@dataclass(frozen=True, kw_only=True)
class Step(ABC, Generic[Data]):
    """A question to a share of the people, answered through one mechanism."""

    name: str
    share: float
    mechanism: Mechanism

    @abstractmethod
    def privatize(self, data: Data, rng: Stream) -> Reports:
        """The reports of some people."""

    def document(self) -> dict[str, Any]:
        """As plain data."""
        m = self.mechanism
        return {"step": self.name, "share": self.share, "mechanism": m.name, "k": m.k, "params": m.params}


@dataclass(frozen=True, kw_only=True)
class ItemStep(Step[IntArray]):
    """Everybody's item, reported as it is asked for; of levels that are hidden, one is drawn by the planned shares."""

    def privatize(self, data: IntArray, rng: Stream) -> Reports:
        return self.mechanism.privatize_items(data, rng)


class OfItems:
    """What protocols are that ask everybody for an item."""

    def people(self, data: IntArray) -> int:
        """See `Protocol.people`: one for each item."""
        return int(data.size)

    def part(self, data: IntArray, who: IntArray) -> IntArray:
        """See `Protocol.part`: their items."""
        return data[who]


@dataclass(frozen=True, kw_only=True)
class Protocol(ABC, Generic[Data]):
    """A frozen value like a mechanism: parameters only, no state and no randomness."""

    epsilon: float
    domain: Domain
    family: ClassVar[str]
    vetted: ClassVar[bool] = True
    """Every step's mechanism is vetted, and nobody spends more than epsilon over all steps."""
    repeated: ClassVar[bool] = False
    """Everybody takes part in every step; the steps' budgets add up to epsilon."""
    only_simulated: ClassVar[str] = ""
    """Why no collection is made with it; empty for those that collect."""
    subject: ClassVar[str] = ANSWER
    """What people hand in, by the name that statements of protection have for it."""

    __repr__ = as_line
    _repr_html_ = steps_html
    __init_subclass__ = classmethod(keep_line)

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        object.__setattr__(self, "domain", Domain.of(self.domain))

    @property
    def k(self) -> int:
        """Number of answers."""
        return self.domain.k

    @property
    def name(self) -> str:
        """The registry name."""
        return self.family

    @property
    def params(self) -> dict[str, Any]:
        """Own parameters beside epsilon and the domain."""
        own = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in ("epsilon", "domain")}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in own.items()}

    @property
    @abstractmethod
    def outline(self) -> tuple[Step[Data], ...]:
        """The steps as they come for made-up people; from the second on they depend on what was answered before."""

    def variants(self, step: Step[Data]) -> tuple[Sequence[Mechanism], str]:
        """What a step of the outline may be asked through, as far as ratios differ, and how that is told.

        Earlier answers of the crowd decide which of them it is. A protocol that does not know them all gives the step's
        own mechanism, which stands for the others: each refuses to report if its exact ratio is above its budget.
        """
        return (step.mechanism,), ""

    @cached_property
    def proof(self) -> Proof:
        """The exact worst likelihood ratio of what one person sends over all steps, whatever the crowd answered."""
        proofs, told = list[Proof](), list[str]()
        for step in self.outline:
            made, which = self.variants(step)
            worst = max((m.proof for m in made), key=_ratio)
            proofs.append(worst)
            told.append(f"{step.name} ({step.mechanism.name}{which and f', {which}'}): {worst.argument}")
        each = "everybody answers every step, so the ratios multiply" if self.repeated else "everybody answers one step"
        text = (
            f"{each}; a later step depends on earlier answers of the crowd only, and every step refuses to report if "
            f"its own exact ratio is above its budget. Steps for made-up people: {'; '.join(told)}"
        )
        known = [proof.ratio for proof in proofs if proof.ratio is not None]
        whole = math.prod(known, start=Fraction(1)) if self.repeated else max(known, default=None)
        ratio = whole if len(known) == len(proofs) else None
        return Proof(ratio, "composition of steps", text, max(proofs, key=_ratio).witness)

    @property
    def protection(self) -> Protection:
        """Who is protected from what, over all steps."""
        return Protection(
            promise=plain_promise(self),
            epsilon=self.epsilon,
            subject=self.subject,
            steps="every" if self.repeated else "one",
        )

    @property
    @abstractmethod
    def shares(self) -> tuple[float, ...]:
        """Which share of the people each step asks, in order."""

    @abstractmethod
    def first(self) -> Step[Data]:
        """The first step."""

    @abstractmethod
    def next(self, tallies: Sequence[Tally]) -> Step[Data] | Estimate:
        """The next step after these, or the estimate."""

    @abstractmethod
    def people(self, data: Data) -> int:
        """How many people there are."""

    @abstractmethod
    def part(self, data: Data, who: IntArray) -> Data:
        """The data of some of them."""

    def run(self, data: Data, rng: Stream) -> tuple[Estimate, list[Step[Data]], list[Tally]]:
        """The whole protocol: people are divided at random, exactly by the shares, and asked step by step.

        Everybody is asked in every step of a `repeated` one.
        """
        rng, n = stream_of(rng), self.people(data)
        require(n >= len(self.shares), "people", n, f"at least {len(self.shares)}, one for each step")
        return self.go_on(data, permutation(rng, n), (), rng)

    def go_on(
        self, data: Data, order: IntArray, known: Sequence[Tally], rng: Stream
    ) -> tuple[Estimate, list[Step[Data]], list[Tally]]:
        """The rest of a run whose first tallies are `known`: the estimate, the steps that were left, and all tallies.

        People stand in the `order` by which they are divided.
        """
        ends = [0, *(round(len(order) * float(c)) for c in np.cumsum(self.shares))]
        tallies, steps = list(known), list[Step[Data]]()
        step: Step[Data] | Estimate = self.next(tallies) if tallies else self.first()
        while not isinstance(step, Estimate):
            if len(tallies) == len(self.shares):
                raise ParameterError(f"{self.family} asks more often than its {len(self.shares)} shares say.")
            who = order if self.repeated else order[ends[len(tallies)] : ends[len(tallies) + 1]]
            tallies.append(step.mechanism.tally(step.privatize(self.part(data, who), rng)))
            steps.append(step)
            step = self.next(tallies)
        return step, steps, tallies


def _ratio(proof: Proof) -> Fraction | float:
    return math.inf if proof.ratio is None else proof.ratio


def permutation(rng: Stream, n: int) -> IntArray:
    """A uniformly random order of 0..n-1: by random words, those that occur twice drawn again all together."""
    while True:
        words = rng.draw(64, n)
        order = np.argsort(words, kind="stable")
        if n < 2 or (np.diff(words[order]) != 0).all():
            return order.astype(np.int64)
