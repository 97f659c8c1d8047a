"""A mechanism written by somebody else, for the tests of the conformance suite: right as it is, and easily broken."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pytest

from deniable.collect.reports import Field
from deniable.core.channel import Channel, Proof, Witness
from deniable.core.domain import Domain
from deniable.core.support import Support
from deniable.core.types import Bytes, Columns, FloatArray, IntArray
from deniable.mechanisms.bulk import Cells, SupportBulk
from deniable.mechanisms.support import SupportMechanism
from deniable.randomness import Stream, bernoulli
from deniable.testing import conformance
from deniable_client.errors import ParameterError
from deniable_client.exact import keep_threshold
from deniable_client.words import Words, happens

WORD = 1 << 64
ALPHA = 1e-6


@dataclass(frozen=True)
class CoinKernel:
    """Warner's coin for one person: the truth with probability keep/2**64, else the other answer."""

    keep: int
    kind: ClassVar[str] = "coin"
    k: ClassVar[int] = 2
    width: ClassVar[int] = 1

    @property
    def ratio(self) -> Fraction:
        return Fraction(self.keep, WORD - self.keep)

    def randomise(self, x: int, words: Words) -> bytes:
        if isinstance(x, bool) or x not in (0, 1) or not isinstance(x, int):
            raise ParameterError(f"value must be 0 or 1, got {x!r}.")
        return bytes([x if happens(self.keep, words) else 1 - x])


class CoinBulk(SupportBulk[Any]):
    """Warner's coin, written by somebody else, in a different way from ours: probabilities first."""

    @property
    def support(self) -> Support[Fraction]:
        p = Fraction(self.kernel.keep, WORD)
        return Support(p, 1 - p, 2 * p - 1, 1 - p, p, Fraction(0), Fraction(0))

    @property
    def fields(self) -> tuple[Field, ...]:
        return (Field("answer", "uint", 1),)

    @property
    def outputs(self) -> float:
        return 1.0

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        truth = bernoulli(rng, self.kernel.keep, items.size)
        return {"answer": np.where(truth, items, 1 - items).astype(np.uint8)}

    def count(self, columns: Columns) -> Cells:
        yes = int(columns["answer"].sum())
        n = len(columns["answer"])
        return {"n": np.array([n]), "support": np.array([[n - yes, yes]])}

    def supported(self, columns: Columns) -> Bytes:
        return (columns["answer"].astype(np.uint8) + 1)[:, None]  # no -> 0b01, yes -> 0b10

    def channel(self) -> Channel:
        keep, lie = self.kernel.keep, WORD - self.kernel.keep
        return Channel(("no", "yes"), ((keep, lie), (lie, keep)), WORD, (frozenset({0}), frozenset({1})))


@dataclass(frozen=True, kw_only=True)
class Coin(SupportMechanism):
    """What a stranger adds to it."""

    family: ClassVar[str] = "coin"
    bulk_class: ClassVar[type[CoinBulk]] = CoinBulk
    kernel_class: ClassVar[type[CoinKernel]] = CoinKernel
    excess: ClassVar[float] = 1.0

    @cached_property
    def bulk(self) -> CoinBulk:
        return self.bulk_class(self.kernel_class(keep_threshold(self.excess * self.epsilon, 1, 1)))

    @property
    def params(self) -> dict[str, Any]:
        return {}

    @property
    def support(self) -> Support[float]:
        p = math.exp(self.epsilon) / (1 + math.exp(self.epsilon))
        return Support(p, 1 - p, 2 * p - 1, 1 - p, p, 0.0, 0.0)

    def best_ranked(self, order: IntArray) -> FloatArray:
        return np.array([0.5, 0.5])

    @property
    def proof(self) -> Proof:
        return Proof(self.kernel.ratio, "two answers", "both were compared", Witness("no", 0, 1))


def coin(cls: type[Coin] = Coin) -> Coin:
    return cls(epsilon=1.0, domain=Domain.of(2))


def failures(m: SupportMechanism) -> dict[str, str]:
    """The checks that fail, with their messages."""
    with pytest.raises(AssertionError) as caught:
        conformance(m, alpha=ALPHA)
    lines = str(caught.value).splitlines()
    assert lines[0].startswith(type(m).__name__)
    return dict(line.strip().split(": ", 1) for line in lines[1:] if ": " in line)


def with_bulk(own: type[CoinBulk]) -> type[Coin]:
    """The coin with another bulk."""
    return type(own.__name__.removesuffix("Bulk"), (Coin,), {"bulk_class": own})
