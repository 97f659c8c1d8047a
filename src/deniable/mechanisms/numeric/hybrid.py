"""Means of numbers by a window or a bit, as a coin says [Wang19]: the largest variance is below that of either."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from deniable.collect.tally import Tally
from deniable.core.channel import Channel, Proof
from deniable.core.codes import Span
from deniable.core.domain import Domain
from deniable.core.guess import Guess
from deniable.core.types import Columns, FloatArray, IntArray
from deniable.errors import require
from deniable.estimate.evidence import Evidence
from deniable.mechanisms.bulk import check_outputs
from deniable.mechanisms.numeric.base import POINTS_MEAN, Duchi, Numeric, Piecewise, on_grid, only_means
from deniable.mechanisms.numeric.estimate import NumberPart, blend_part
from deniable.mechanisms.numeric.laws import Blend, best_blend
from deniable.randomness import Stream, bernoulli
from deniable_client.exact import WORD_BITS, check_epsilon
from deniable_client.kernels import WindowOrBit

__all__ = ["Hybrid"]

_WORD = 1 << WORD_BITS


@dataclass(frozen=True, kw_only=True)
class Hybrid(Numeric):
    """Duchi's bit with probability `share`, else an answer of a window of `m`."""

    m: int
    share: float
    family: ClassVar[str] = "hm"

    def __post_init__(self) -> None:
        super().__post_init__()
        number = isinstance(self.share, int | float | np.floating) and not isinstance(self.share, bool)
        ok = number and 0 <= self.share <= 1
        require(ok, "share", self.share, "a number from 0 to 1", "It is the chance that a report is a bit.")
        object.__setattr__(self, "share", float(self.share))
        object.__setattr__(self, "m", self.window.m)

    @classmethod
    def optimal(cls, *, epsilon: float, domain: Domain | Span) -> Hybrid:
        """With the window and the share whose largest variance is least."""
        grid = on_grid(domain, POINTS_MEAN)
        Duchi(epsilon=epsilon, domain=grid)  # refuses what is no grid, or too fine, before the search
        m, share = best_blend(check_epsilon(epsilon), grid.k)
        return cls(epsilon=epsilon, domain=grid, m=m, share=share)

    @cached_property
    def window(self) -> Piecewise:
        """The reports that are answers."""
        return Piecewise(epsilon=self.epsilon, domain=self.domain, m=self.m)

    @cached_property
    def bit(self) -> Duchi:
        """The reports that are bits."""
        return Duchi(epsilon=self.epsilon, domain=self.domain)

    @property
    def coin(self) -> int:
        """`share` in 2**-64; both kinds of report always stay possible."""
        return min(max(int(self.share * _WORD), 1), _WORD - 1)

    @property
    def answers(self) -> int:
        """See `Numeric.answers`."""
        return self.window.answers + 2

    @cached_property
    def kernel(self) -> WindowOrBit:
        """See `Mechanism.kernel`."""
        return WindowOrBit(self.window.kernel, self.bit.kernel, self.coin)

    @property
    def params(self) -> dict[str, Any]:
        """See `Mechanism.params`."""
        return {"m": self.m, "share": self.share}

    @cached_property
    def law(self) -> Blend[float]:
        """See `Numeric.law`."""
        return Blend(self.window.law, self.bit.law, self.share)

    @cached_property
    def law_exact(self) -> Blend[Fraction]:
        """See `Numeric.law_exact`."""
        return Blend(self.window.law_exact, self.bit.law_exact, Fraction(self.coin, _WORD))

    def mean_part(self, counts: IntArray) -> NumberPart:
        """See `Numeric.mean_part`."""
        return blend_part(self.law_exact, counts, self.grid)

    @cached_property
    def readings(self) -> FloatArray:
        """See `Numeric.readings`."""
        return np.concatenate([self.window.readings, self.bit.readings])

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        """See `Mechanism.perturb`."""
        bits = bernoulli(rng, self.coin, items.size)
        out = np.empty(items.size, self.fields[0].dtype)
        out[~bits] = self.window.perturb(items[~bits], rng)["value"]
        out[bits] = self.bit.perturb(items[bits], rng)["value"] + np.uint64(self.window.answers)
        return {"value": out}

    def channel(self) -> Channel:
        """See `Mechanism.channel`."""
        check_outputs(self.answers, self.name, self.k)
        window, bit = self.window.channel(), self.bit.channel()
        weights = [tuple(w * bit.total * (_WORD - self.coin) for w in row) for row in window.weights]
        weights += [tuple(w * window.total * self.coin for w in row) for row in bit.weights]
        names = tuple(f"report {y}" for y in range(self.answers))
        return Channel(names, tuple(weights), window.total * bit.total * _WORD)

    @cached_property
    def proof(self) -> Proof:
        """See `Mechanism.proof`."""
        worse = max(self.window.proof, self.bit.proof, key=lambda proof: proof.ratio or 0)
        text = "the coin does not look at the value and every report tells how it fell, so the larger ratio counts; "
        return Proof(self.kernel.ratio, "two kinds of report", text + worse.argument, worse.witness)

    def likelihood(self, columns: Columns) -> FloatArray:
        """See `Mechanism.likelihood`."""
        value = columns["value"].astype(np.int64)
        bits = value >= self.window.answers
        out = np.empty((value.size, self.k))
        out[~bits] = self.window.likelihood({"value": value[~bits].astype(np.uint64)})
        out[bits] = self.bit.likelihood({"value": (value[bits] - self.window.answers).astype(np.uint64)})
        return out

    def tally_evidence(self, tally: Tally) -> Evidence:
        """It is for means: `ParameterError`."""
        raise only_means(self.name, "are for means: some of them are bits")

    def guess(self, prior: object = None) -> Guess:
        """See `Mechanism.guess`: that of either kind, by its share."""
        window, bit = self.window.guess(prior), self.bit.guess(prior)
        return Guess((1 - self.share) * window.success + self.share * bit.success, window.blind)
