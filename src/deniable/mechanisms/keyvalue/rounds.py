"""PrivKVM: several rounds in which people without a key answer by the mean that the last round gave [Ye19].

Everybody takes part in every round. Half of epsilon is for whether the key is held, all in the first round; the other
half, for values, is shared by all rounds. The means are biased: of the first round's error a share (1 - f)^(rounds - 1)
is left, nearly all of it for a rare key, and the guesses of people without the key are all that later rounds add. It is
there for comparison; the intervals are those of the first round alone, without that bias.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from deniable.collect.reports import Reports
from deniable.collect.tally import Tally
from deniable.core.domain import Domain
from deniable.core.protection import PAIR
from deniable.core.types import FloatArray
from deniable.errors import require
from deniable.estimate.result import Estimate
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.fitting import check_tally
from deniable.mechanisms.keyvalue.estimate import MeanPart
from deniable.mechanisms.keyvalue.pairs import PairSets
from deniable.mechanisms.keyvalue.protocols import PairProtocol
from deniable.mechanisms.keyvalue.signed import OneSampledKey
from deniable.mechanisms.protocol import Step
from deniable.randomness import Stream
from deniable_client.exact import WORD_BITS
from deniable_client.kernels.keyvalue import GRID

__all__ = ["PrivKvm", "published_means"]

_MOST = 20
"""Rounds; with more the budget of each would say next to nothing."""


@dataclass(frozen=True, kw_only=True)
class RoundStep(Step[PairSets]):
    """One round: everybody is asked about one key, drawn blindly."""

    mechanism: OneSampledKey

    def privatize(self, data: PairSets, rng: Stream) -> Reports:
        return self.mechanism.privatize(data, rng=rng)


@dataclass(frozen=True, kw_only=True)
class PrivKvm(PairProtocol):
    """PrivKVM with a given number of rounds, for people with one pair each; one round is PrivKV."""

    rounds: int = 3
    family: ClassVar[str] = "privkvm"
    repeated: ClassVar[bool] = True
    subject: ClassVar[str] = PAIR

    def __post_init__(self) -> None:
        super().__post_init__()
        ok = isinstance(self.rounds, int) and not isinstance(self.rounds, bool) and 1 <= self.rounds <= _MOST
        require(ok, "rounds", self.rounds, f"an integer from 1 to {_MOST}")

    @property
    def shares(self) -> tuple[float, ...]:
        """See `Protocol.shares`: everybody in every round."""
        return (1.0,) * self.rounds

    @property
    def budgets(self) -> tuple[float, ...]:
        """Epsilon of each round; as exact numbers they sum to at most the whole."""
        keys = self.epsilon / 2
        each = keys / self.rounds
        while Fraction(each) * self.rounds > Fraction(self.epsilon) - Fraction(keys):
            each = math.nextafter(each, 0.0)
        first = keys + each
        while Fraction(first) + (self.rounds - 1) * Fraction(each) > Fraction(self.epsilon):
            first = math.nextafter(first, 0.0)
        return (first, *(each for _ in range(1, self.rounds)))

    @property
    def outline(self) -> tuple[Step[PairSets], ...]:
        """See `Protocol.outline`: those without the key toss an even coin, as if nothing were known of its mean."""
        return tuple(self._step(number, None) for number in range(self.rounds))

    def variants(self, step: Step[PairSets]) -> tuple[Sequence[Mechanism], str]:
        """See `Protocol.variants`: with the guesses at both ends, since quotients are monotone in a guess.

        The key that is asked for is public, so that the ratio depends on neither the other keys nor their number.
        """
        m = step.mechanism
        assert isinstance(m, OneSampledKey)
        if m.key_epsilon:
            return super().variants(step)
        return (replace(m, domain=Domain.of(2), told=(0, GRID)),), "the worst of all guesses"

    def first(self) -> Step[PairSets]:
        return self._step(0, None)

    def next(self, tallies: Sequence[Tally]) -> Step[PairSets] | Estimate:
        """See `Protocol.next`: the next round with the means so far as guesses, or the estimate."""
        means = np.zeros(self.k)
        for number, tally in enumerate(tallies):
            step = self._step(number, means if number else None)
            check_tally(step.mechanism, tally)
            means = published_means(step.mechanism, tally, means)
        return self._step(len(tallies), means) if len(tallies) < self.rounds else self._finish(tallies, means)

    def _step(self, number: int, means: FloatArray | None) -> RoundStep:
        told: dict[str, Any] = {}
        if means is not None:
            told = {"told": tuple(np.rint((1 + means) / 2 * GRID).astype(np.int64).tolist())}
        spent = 0.0 if number else self.epsilon / 2
        m = OneSampledKey(epsilon=self.budgets[number], domain=self.domain, range=self.range, key_epsilon=spent, **told)
        return RoundStep(name=f"round {number + 1}", share=1.0, mechanism=m)

    def _finish(self, tallies: Sequence[Tally], means: FloatArray) -> Estimate:
        """Frequencies and intervals of the first round, with the means of the last one."""
        found = self.first().mechanism.estimate(tallies[0])
        part = found.parts["mean"]
        assert isinstance(part, MeanPart)
        told = f"means of round {self.rounds} as published (biased: for rare keys they are mostly guesses)"
        parts = {**found.parts, "mean": replace(part, shrunk=means)}
        simulated = any(t.simulated for t in tallies)
        return replace(
            found, parts=parts, steps=(*found.steps, told), bias=(*found.bias, "as published"), simulated=simulated
        )


def published_means(m: OneSampledKey, tally: Tally, before: FloatArray) -> FloatArray:
    """The means that PrivKVM takes from a round's counts, on a range from -1 to 1; `before` where nobody said anything.

    Signs are turned back by their chance and the counts clipped; people without the key are not told apart.
    """
    plus, minus = (tally.cells[name][0].astype(np.float64) for name in ("plus", "minus"))
    said = plus + minus
    kept = 1 - m.bulk.groups[0].kernel.flip / 2**WORD_BITS
    ones, twos = (np.clip(((kept - 1) * said + c) / (2 * kept - 1), 0, said) for c in (plus, minus))
    return np.where(said > 0, (ones - twos) / np.maximum(said, 1), before)
