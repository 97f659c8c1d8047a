"""KS-GRR and KS-Adap: first find the frequent keys, then ask for pairs with these only [KSKV Sec. 4.2].

Differences from the paper, each for a reason given in docs/maths/keyvalue.md: the mean is divided by P - Q, the sizes
of KS-Adap's second step are capped and projected, and its last step uses what padding amplifies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from deniable.collect.reports import Reports
from deniable.collect.tally import Tally
from deniable.core.domain import Domain
from deniable.core.protection import PAIRS
from deniable.core.types import IntArray
from deniable.errors import require
from deniable.estimate.result import Estimate
from deniable.estimate.simplex import project_simplex
from deniable.kernels.sampling import below_each
from deniable.mechanisms.frequency.grr import GRR
from deniable.mechanisms.frequency.local_hashing import LocalHashing
from deniable.mechanisms.keyvalue.pairs import PairSets, check_range
from deniable.mechanisms.keyvalue.signed import SignedResponse
from deniable.mechanisms.protocol import SAMPLE, Protocol, Step
from deniable.randomness import Stream

__all__ = ["KsAdap", "KsGrr", "PairProtocol", "PairStep", "SizeStep", "choose_length"]

_SIZES = 5
"""Sizes from here on count as this, and it is the largest length."""
_COVERED = 0.9
"""The length covers more than this share of the people who have any candidate."""


@dataclass(frozen=True, kw_only=True)
class KeyStep(Step[PairSets]):
    """One key of each person, drawn uniformly; the last answer is for people without any."""

    def privatize(self, data: PairSets, rng: Stream) -> Reports:
        at = data.offsets[:-1] + below_each(rng, data.sizes)
        none = self.mechanism.k - 1
        items = np.full(len(data), none, np.int64)
        held = data.sizes > 0
        items[held] = data.keys[at[held]]
        return self.mechanism.privatize_items(items, rng)


@dataclass(frozen=True, kw_only=True)
class _Candidates(Step[PairSets]):
    """A question about some keys only."""

    places: tuple[int, ...]
    """The candidates' numbers among all keys."""
    keys: int

    def among(self, data: PairSets) -> PairSets:
        """What people have of the candidates, under new numbers."""
        table = np.full(self.keys, -1, np.int64)
        table[list(self.places)] = np.arange(len(self.places))
        return data.only(table)


@dataclass(frozen=True, kw_only=True)
class SizeStep(_Candidates):
    """How many of the candidates each person has, capped."""

    def privatize(self, data: PairSets, rng: Stream) -> Reports:
        return self.mechanism.privatize_items(np.minimum(self.among(data).sizes, self.mechanism.k - 1), rng)


@dataclass(frozen=True, kw_only=True)
class PairStep(_Candidates):
    """Pairs with candidates."""

    def privatize(self, data: PairSets, rng: Stream) -> Reports:
        return self.mechanism.privatize(self.among(data), rng=rng)


@dataclass(frozen=True, kw_only=True)
class PairProtocol(Protocol[PairSets]):
    """A protocol for sets of pairs of a key and a value from `range`."""

    range: tuple[float, float] = (-1.0, 1.0)
    subject: ClassVar[str] = PAIRS

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "range", check_range(self.range))

    def pairs(self, values: object, *, duplicates: str = "refuse") -> PairSets:
        """The data that `run` takes, from what `KeyValue.privatize` takes."""
        return PairSets.of(values, self.domain, self.range, duplicates=duplicates)

    def sample(self) -> PairSets:
        """See `Protocol.sample`: one pair each, of all keys in turn."""
        return PairSets.of(
            (np.arange(SAMPLE + 1), np.arange(SAMPLE) % self.k, np.zeros(SAMPLE)), Domain.of(self.k), (-1, 1)
        )

    def people(self, data: PairSets) -> int:
        return len(data)

    def part(self, data: PairSets, who: IntArray) -> PairSets:
        return data.take(who)


@dataclass(frozen=True, kw_only=True)
class KsGrr(PairProtocol):
    """Half of the people say which key they have, the other half give their pair if its key is a candidate."""

    top: int = 20
    shares: ClassVar[tuple[float, ...]] = (0.5, 0.5)
    family: ClassVar[str] = "ks-grr"

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_top(self.top, self.k)

    def first(self) -> Step[PairSets]:
        return _ask_keys(self)

    def next(self, tallies: Sequence[Tally]) -> Step[PairSets] | Estimate:
        return _ask_pairs(self, tallies, 1)

    def best(self, estimate: Estimate) -> tuple[str, ...]:
        """The labels of the `top` keys by estimated frequency, the most frequent first."""
        return _best(estimate, self.top)


@dataclass(frozen=True, kw_only=True)
class KsAdap(PairProtocol):
    """For several pairs per person: 40 % give a key, 10 % how many candidates they have, 50 % pairs."""

    top: int = 20
    shares: ClassVar[tuple[float, ...]] = (0.4, 0.1, 0.5)
    family: ClassVar[str] = "ks-adap"

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_top(self.top, self.k)

    def first(self) -> Step[PairSets]:
        return _ask_keys(self)

    def next(self, tallies: Sequence[Tally]) -> Step[PairSets] | Estimate:
        sizes = GRR(epsilon=self.epsilon, domain=Domain.of(min(_SIZES, 2 * self.top) + 1))
        if len(tallies) == 1:
            places = _candidates(self, tallies[0])
            return SizeStep(name="sizes", share=self.shares[1], mechanism=sizes, places=places, keys=self.k)
        return _ask_pairs(self, tallies, choose_length(sizes.estimate(tallies[1]).value))

    def best(self, estimate: Estimate) -> tuple[str, ...]:
        """The labels of the `top` keys by estimated frequency, the most frequent first."""
        return _best(estimate, self.top)


# ---- what both share: `top` keys are wanted, twice as many are candidates


def _check_top(top: int, k: int) -> None:
    ok = isinstance(top, int) and not isinstance(top, bool) and 1 <= top <= k // 2
    require(ok, "top", top, f"an integer from 1 to {k // 2}", "Twice as many keys are candidates.")


def _ask_keys(p: PairProtocol) -> KeyStep:
    olh = LocalHashing.optimal(epsilon=p.epsilon, domain=Domain.of(p.k + 1))
    return KeyStep(name="keys", share=p.shares[0], mechanism=olh)


def _candidates(p: KsGrr | KsAdap, tally: Tally) -> tuple[int, ...]:
    """The keys that look most frequent, twice as many as wanted."""
    value = p.first().mechanism.estimate(tally).value[: p.k]
    return tuple(sorted(np.argsort(-value, kind="stable")[: 2 * p.top].tolist()))


def _ask_pairs(p: KsGrr | KsAdap, tallies: Sequence[Tally], length: int) -> PairStep | Estimate:
    """The last step, for the candidates that the first one gave; or the estimate, if its tally is there."""
    places = _candidates(p, tallies[0])
    domain = Domain.of([p.domain.labels_or_numbers[i] for i in places])
    m = SignedResponse(epsilon=p.epsilon, domain=domain, length=length, range=p.range)
    if len(tallies) < len(p.shares):
        return PairStep(name="pairs", share=p.shares[-1], mechanism=m, places=places, keys=p.k)
    found = m.estimate(tallies[-1])
    told = f"candidates from {tallies[0].n} other reports; {p.family}, length {length}"
    return replace(found, steps=(told, *found.steps), simulated=any(t.simulated for t in tallies))


def _best(estimate: Estimate, top: int) -> tuple[str, ...]:
    order = np.argsort(-estimate["frequency"].value, kind="stable")[:top]
    return tuple(estimate.labels[i] for i in order)


def choose_length(sizes: Any) -> int:
    """The least length that covers enough of the people who have any candidate, from estimated shares of the sizes.

    The shares are projected to non-negative ones first: as they are, their noise is larger than what is looked for.
    """
    some = project_simplex(np.asarray(sizes))[1:]
    if some.sum() <= 0:
        return 1
    covered = np.cumsum(some) / some.sum()
    return int(np.flatnonzero(covered > _COVERED)[0]) + 1
