"""KS-GRR and KS-Adap: first find the frequent keys, then ask for pairs with these only [KSKV Sec. 4.2].

Differences from the paper, each for a reason given in docs/maths/keyvalue.md: the mean is divided by P - Q, the sizes
of KS-Adap's second step are capped and projected, and its last step uses what padding amplifies. `form="paper"` leaves
them as printed, which is private too but worse; `form="pooled"` of KS-GRR asks for pairs by `kv-ss` and takes the
frequencies from all people.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from deniable.collect.reports import Reports
from deniable.collect.tally import Tally
from deniable.core.domain import Domain
from deniable.core.protection import PAIRS
from deniable.core.types import IntArray
from deniable.errors import require
from deniable.estimate.result import Estimate, Part
from deniable.estimate.simplex import project_simplex
from deniable.kernels.sampling import below_each
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.frequency.grr import GRR
from deniable.mechanisms.frequency.local_hashing import LocalHashing
from deniable.mechanisms.keyvalue.base import KeyValue
from deniable.mechanisms.keyvalue.estimate import FrequencyPart, GroupCounts, MeanPart, clipped_mean, keyvalue_parts
from deniable.mechanisms.keyvalue.laws import Signal, best_split, pooled
from deniable.mechanisms.keyvalue.options import FORMS
from deniable.mechanisms.keyvalue.pairs import PairSets, check_range
from deniable.mechanisms.keyvalue.signed import SignedResponse, SplitSelection
from deniable.mechanisms.protocol import Protocol, Step
from deniable.randomness import Stream

__all__ = [
    "KsAdap",
    "KsGrr",
    "PairProtocol",
    "PairStep",
    "SizeStep",
    "choose_length",
    "printed_budget",
    "printed_length",
]

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

    def people(self, data: PairSets) -> int:
        return len(data)

    def part(self, data: PairSets, who: IntArray) -> PairSets:
        return data.take(who)


@dataclass(frozen=True, kw_only=True)
class KsGrr(PairProtocol):
    """Half of the people say which key they have, the other half give their pair if its key is a candidate."""

    top: int = 20
    form: str = "repaired"
    shares: ClassVar[tuple[float, ...]] = (0.5, 0.5)
    family: ClassVar[str] = "ks-grr"

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_top(self.top, self.k)
        require(self.form in FORMS, "form", self.form, f"one of {', '.join(FORMS)}")

    @property
    def outline(self) -> tuple[Step[PairSets], ...]:
        """See `Protocol.outline`: the first keys are the candidates; which ones are changes no chance."""
        return self.first(), _pair_step(self, range(2 * self.top), 1)

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
    form: str = "repaired"
    shares: ClassVar[tuple[float, ...]] = (0.4, 0.1, 0.5)
    family: ClassVar[str] = "ks-adap"

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_top(self.top, self.k)
        hint = "Its first step asks for one of several keys, which says how frequent a key is only roughly."
        known = [form for form in FORMS if form != "pooled"]
        require(self.form in known, "form", self.form, f"one of {', '.join(known)}", hint * (self.form == "pooled"))

    @property
    def outline(self) -> tuple[Step[PairSets], ...]:
        """See `Protocol.outline`: people with one pair each, of the first keys; which ones are changes no chance."""
        places = range(2 * self.top)
        return self.first(), self._ask_sizes(places), _pair_step(self, places, 1)

    def variants(self, step: Step[PairSets]) -> tuple[Sequence[Mechanism], str]:
        """See `Protocol.variants`: pairs with every length that can come out."""
        if not isinstance(step, PairStep):
            return super().variants(step)
        most, domain = self._sizes().k - 1, step.mechanism.domain
        made = [_pairs(self, domain, length) for length in range(1, most + 1)]
        return made, f"the worst of the lengths from 1 to {most}"

    def first(self) -> Step[PairSets]:
        return _ask_keys(self)

    def next(self, tallies: Sequence[Tally]) -> Step[PairSets] | Estimate:
        sizes = self._sizes()
        if len(tallies) == 1:
            return self._ask_sizes(_candidates(self, tallies[0]))
        choose = printed_length if self.form == "paper" else choose_length
        return _ask_pairs(self, tallies, choose(sizes.estimate(tallies[1]).value))

    def _ask_sizes(self, places: Sequence[int]) -> SizeStep:
        return SizeStep(name="sizes", share=self.shares[1], mechanism=self._sizes(), places=tuple(places), keys=self.k)

    def _sizes(self) -> GRR | LocalHashing:
        """How the number of candidates that people have is asked for: capped, or, as printed, all numbers there are."""
        if self.form == "paper":
            return LocalHashing.optimal(epsilon=self.epsilon, domain=Domain.of(2 * self.top + 1))
        return GRR(epsilon=self.epsilon, domain=Domain.of(min(_SIZES, 2 * self.top) + 1))

    def best(self, estimate: Estimate) -> tuple[str, ...]:
        """The labels of the `top` keys by estimated frequency, the most frequent first."""
        return _best(estimate, self.top)


# ---- what both share: `top` keys are wanted, twice as many are candidates


def _check_top(top: int, k: int) -> None:
    ok = isinstance(top, int) and not isinstance(top, bool) and 1 <= top <= k // 2
    require(
        ok,
        "top",
        top,
        f"an integer from 1 to {k // 2}",
        "Twice as many keys are candidates; 20 are wanted if it is left out.",
    )


def _ask_keys(p: PairProtocol) -> KeyStep:
    olh = LocalHashing.optimal(epsilon=p.epsilon, domain=Domain.of(p.k + 1))
    return KeyStep(name="keys", share=p.shares[0], mechanism=olh)


def _candidates(p: KsGrr | KsAdap, tally: Tally) -> tuple[int, ...]:
    """The keys that look most frequent, twice as many as wanted."""
    value = p.first().mechanism.estimate(tally).value[: p.k]
    return tuple(sorted(np.argsort(-value, kind="stable")[: 2 * p.top].tolist()))


def _ask_pairs(p: KsGrr | KsAdap, tallies: Sequence[Tally], length: int) -> PairStep | Estimate:
    """The last step, for the candidates that the first one gave; or the estimate, if its tally is there."""
    step = _pair_step(p, _candidates(p, tallies[0]), length)
    if len(tallies) < len(p.shares):
        return step
    m = step.mechanism
    assert isinstance(m, KeyValue)
    found = m.estimate(tallies[-1])
    told = f"candidates from {tallies[0].n} other reports; {p.family}, length {length}"
    found = replace(found, steps=(told, *found.steps), simulated=any(t.simulated for t in tallies))
    if p.form == "paper":
        return _divided_as_printed(m, found)
    return _pooled(p, m, tallies, found) if p.form == "pooled" else found


def _pair_step(p: KsGrr | KsAdap, places: Sequence[int], length: int) -> PairStep:
    """The question for pairs with some of the keys."""
    names = p.domain.labels or range(p.k)
    m = _pairs(p, Domain.of([str(names[i]) for i in places]), length)
    return PairStep(name="pairs", share=p.shares[-1], mechanism=m, places=tuple(places), keys=p.k)


def _pairs(p: KsGrr | KsAdap, domain: Domain, length: int) -> KeyValue:
    """The mechanism of the last step."""
    if p.form == "pooled":
        mix, first, size = _best_split(p.epsilon, domain.k, length, 1.0, None, None)
        return SplitSelection(
            epsilon=p.epsilon, domain=domain, mix=mix, key_size=first, size=size, length=length, range=p.range
        )
    spent = printed_budget(p.epsilon, length) if p.form == "paper" else p.epsilon
    return SignedResponse(epsilon=spent, domain=domain, length=length, range=p.range)


_best_split = lru_cache(maxsize=32)(best_split)
"""Asked for twice in every run, with the same numbers."""


def printed_budget(epsilon: float, length: int) -> float:
    """ln(1 + (e^epsilon - 1)/length): what is spent if the ratio is e^epsilon before padding, which lowers it."""
    return min(epsilon, epsilon + math.log1p((length - 1) / length * math.expm1(-epsilon)))


def _divided_as_printed(m: KeyValue, found: Estimate) -> Estimate:
    """Means divided by P + Q instead of P - Q [KSKV Alg. 2, line 18]; intervals stay those of the right ones."""
    part, signal = found.parts["mean"], m.groups[0].signal
    assert isinstance(part, MeanPart)
    shrunk = clipped_mean(part.frequency, part.total * float(signal.gain / signal.held), part.n)
    told = f"means divided by P + Q as printed (biased: {float(signal.gain / signal.held):.3g} times what they are)"
    parts = {**found.parts, "mean": replace(part, shrunk=shrunk)}
    return replace(found, parts=parts, steps=(*found.steps, told), bias=(*found.bias, "as printed"))


def _pooled(p: KsGrr | KsAdap, m: KeyValue, tallies: Sequence[Tally], found: Estimate) -> Estimate:
    """Frequencies from both halves, with fixed weights by their errors for rare keys, and means with these.

    Intervals are those of the second half alone, which does not depend on how candidates were chosen.
    """
    asked, first, last = p.first().mechanism, tallies[0], tallies[-1]
    assert isinstance(asked, LocalHashing)
    half = Fraction(p.shares[0])
    kinds = [(half, Signal.of_keys(asked.bulk.support)), *(((1 - half) * g.share, g.signal) for g in m.groups)]
    groups = pooled(kinds, [s.frequency_variance(Fraction(0)) if s.step else None for _, s in kinds])
    named = asked.bulk.support_counts(first.cells)[list(_candidates(p, first))]
    keys = GroupCounts(groups[0], np.full(m.k, float(first.n)), named, np.zeros_like(named))
    others = [replace(counts, group=group) for counts, group in zip(m.counts(last), groups[1:], strict=True)]
    n = first.n + last.n
    both = keyvalue_parts([keys, *others], n, m.length, p.range)
    frequency, mean, later, own = both["frequency"], both["mean"], found.parts["frequency"], found.parts["mean"]
    assert isinstance(frequency, FrequencyPart)
    assert isinstance(later, FrequencyPart)
    assert isinstance(mean, MeanPart)
    assert isinstance(own, MeanPart)
    told = (
        f"frequencies from all {n} reports, those by which candidates were chosen among them (biased: too high for "
        f"keys that hardly became one); intervals from the other {last.n} alone"
    )
    candidates, _, *rest = found.steps
    parts: dict[str, Part] = {"frequency": replace(frequency, later=later), "mean": replace(own, shrunk=mean.unit)}
    return replace(found, parts=parts, n=n, steps=(candidates, told, *rest), bias=(*found.bias, "selected"))


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


def printed_length(sizes: Any) -> int:
    """The length as printed [KSKV Sec. 4.3]: the same rule for estimated shares as they are, negative ones too."""
    some = np.cumsum(np.asarray(sizes, np.float64)[1:])
    return int(np.flatnonzero(some / some[-1] > _COVERED)[0]) + 1 if some[-1] else 1
