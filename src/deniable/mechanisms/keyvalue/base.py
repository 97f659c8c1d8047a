"""Key-value mechanisms: which keys people have, and the mean of their values [KSKV].

Each person gives one pair, or several (`length`), of which one is drawn; its value is rounded to an end of its range; a
kernel on signed keys makes the report (docs/maths/keyvalue.md).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from deniable.collect.reports import Reports, new_id
from deniable.collect.tally import Tally
from deniable.core.channel import Proof, Witness
from deniable.core.guess import Guess, check_prior
from deniable.core.promise import Promise
from deniable.core.protection import PAIR, PAIRS, Protection
from deniable.core.support import check_n
from deniable.core.types import FloatArray, IntArray
from deniable.errors import ParameterError, is_number, require, whole
from deniable.estimate.linear import check_reports
from deniable.estimate.result import Estimate, Part
from deniable.kernels.sampling import below, below_each
from deniable.mechanisms.base import Mechanism, report_size
from deniable.mechanisms.common import refuse_broken
from deniable.mechanisms.keyvalue.bulk import KeyBulk, PairsBulk
from deniable.mechanisms.keyvalue.estimate import GroupCounts, keyvalue_parts
from deniable.mechanisms.keyvalue.laws import Group, frontier, pooled, variances
from deniable.mechanisms.keyvalue.pairs import PairSets, check_range
from deniable.randomness import Stream, stream_of
from deniable_client.exact import WORD
from deniable_client.kernels import promised_ratio
from deniable_client.kernels.keyvalue import GRID

__all__ = ["KeyValue", "check_interest", "check_length", "check_share"]

_LEAST = 1e-9
"""Of errors below it, for one report, the bound would be lost in rounding; it is left out."""


def _promise(m: KeyValue) -> Promise:
    """See `Mechanism.promise`: signed keys, or sets of pairs, are the inputs."""
    return Promise.plain(m.epsilon, 2 * m.k if m.length is None else 3**m.k)


def _in_words(m: KeyValue) -> Protection:
    return Protection(promise=m.promise, epsilon=m.epsilon, subject=PAIR if m.length is None else PAIRS)


@dataclass(frozen=True, kw_only=True)
class KeyValue(Mechanism):
    """Keys are the domain; values lie in `range`. `length` None: one pair per person; else up to about that many."""

    length: int | None = None
    range: tuple[float, float] = (-1.0, 1.0)
    vetted: ClassVar[bool] = True
    takes: ClassVar[str] = "key-value pairs"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "range", check_range(self.range))
        object.__setattr__(self, "length", check_length(self.length, self.k))

    promise = cached_property(_promise)
    protection = cached_property(_in_words)

    # ---- what a kind of mechanism says of itself

    @property
    @abstractmethod
    def group_bulks(self) -> tuple[KeyBulk[Any], ...]:
        """The kernel of each group of reporters for many people: of the only one, or of two."""

    @property
    def group_share(self) -> int:
        """Chance of the second group, in 2**-64."""
        return 0

    def weighed(self, groups: tuple[KeyBulk[Any], ...]) -> list[Fraction | None]:
        """What stands for the variance of each group's frequencies in their pooling; None: they say nothing of them."""
        return [Fraction(1) for _ in groups]

    @abstractmethod
    def ideal(self) -> tuple[Group, ...]:
        """The groups with ideal parameters."""

    @abstractmethod
    def favoured(self) -> float:
        """How likely each report is for the signed key that makes it likeliest, summed over all reports.

        With ideal parameters; of signed keys that people have, not of dummies (docs/maths/keyvalue.md, section 9).
        """

    @property
    def own_params(self) -> dict[str, Any]:
        """Parameters beside `length` and `range`: the fields of a kind of its own, but for usual values."""
        own = [f for f in fields(self) if f.name not in _COMMON and getattr(self, f.name) != f.default]
        given = {f.name: getattr(self, f.name) for f in own}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in given.items()}

    argument: ClassVar[str] = ""
    """Why the kernel's ratio is the worst, for one pair per person."""

    # ---- client

    @property
    def pad(self) -> int:
        """Number of dummy keys."""
        return self.length or 0

    @property
    def total(self) -> int:
        """Keys and dummies."""
        return self.k + self.pad

    @cached_property
    def bulk(self) -> PairsBulk:
        return PairsBulk.of(self.group_bulks, self.k, self.pad, self.group_share)

    @property
    def params(self) -> dict[str, Any]:
        length = {} if self.length is None else {"length": self.length}
        return self.own_params | length | {"range": list(self.range)}

    def privatize(
        self,
        values: object,
        *,
        column: Any = None,
        levels: object = None,
        coins: object = None,
        rng: Stream | None = None,
    ) -> Reports:
        """Perturb pairs: (offsets, keys, values), a frame with user, key and value, or rows of these three.

        `column`: what the three columns of a frame are called, if not so.
        """
        if levels is not None or coins is not None:
            raise ParameterError(f"{self.name} has one privacy level and no public seed; leave out levels and coins.")
        pairs = PairSets.of(values, self.domain, self.range, columns=column)
        refuse_broken(self)
        stream = stream_of(rng)
        columns = self.bulk.draw(self.choose(pairs, stream), stream)
        return Reports(self.design, self.fields, columns, stream.simulated, batches=(new_id(),))

    def privatize_items(self, items: IntArray, rng: Stream | None = None, *, coins: object = None) -> Reports:
        """`privatize` for people with one pair each, by signed key, or with none (2k) where that is allowed."""
        return self.privatize(PairSets.signed(items, self.k), coins=coins, rng=rng)

    def choose(self, pairs: PairSets, rng: Stream) -> IntArray:
        """One signed key per person by padding and sampling, its sign by rounding the value to an end of the range."""
        self.check_sizes(pairs)
        sizes, people = pairs.sizes, len(pairs)
        number = below_each(rng, np.maximum(sizes, max(self.pad, 1)))
        real = number < sizes
        keys, values = np.empty(people, np.int64), np.full(people, GRID // 2, np.int64)
        at = pairs.offsets[:-1][real] + number[real]
        keys[real], values[real] = pairs.keys[at], pairs.values[at]
        if self.pad:
            keys[~real] = self.k + below(rng, self.pad, int((~real).sum()))
        plus = rng.draw(32, people).astype(np.int64) < values
        return np.where(plus, keys, keys + self.total)

    def check_sizes(self, pairs: PairSets) -> None:
        """Refuse people with several pairs, or none, where everybody must have exactly one."""
        bad = np.flatnonzero(pairs.sizes != 1)
        if self.length is None and bad.size:
            raise ParameterError(
                f"people must have exactly one pair, but person {bad[0]} has {pairs.sizes[bad[0]]} "
                f"({bad.size} of {len(pairs)} have several or none).",
                "For several pairs, or none, give length=L, the number of pairs to allow for.",
            )

    @cached_property
    def proof(self) -> Proof:
        text, padded = self.argument, ""
        if len(self.bulk.groups) > 1:
            text += (
                "; the group is public and drawn without looking at the pairs, so the larger ratio of the two counts"
            )
        if self.length:
            padded = (
                "; a set of pairs is a mixture of signed keys, none of them with more than chance 1/length; a report "
                "that favours few keys is then less telling, others are as telling as for one pair"
            )
        likely, unlikely = 0, 1
        if self.length:  # the first keys at +1, and as many others, or the same ones at -1 where there are no others
            likely = sum(3**i for i in range(self.length))
            unlikely = likely * (3**self.length if 2 * self.length <= self.k else 2)
        witness = Witness("a report that favours the one and not the other", likely, unlikely)
        return Proof(
            promised_ratio(self.kernel), "symmetry and mixing" if self.length else "symmetry", text + padded, witness
        )

    # ---- estimator

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """The groups with the integers that are sampled."""
        groups, share = self.bulk.groups, Fraction(self.group_share, WORD)
        shares = [Fraction(1)] if len(groups) == 1 else [1 - share, share]
        parts = list(zip(shares, (group.signal for group in groups), strict=True))
        return pooled(parts, self.weighed(groups))

    def counts(self, tally: Tally) -> list[GroupCounts]:
        """What each group of reporters said of every key; refused where one of them said nothing."""
        check_reports(tally)
        found = []
        for i, group in enumerate(self.groups):
            n, cells = int(tally.cells["n"][i]), tally.cells
            hint = "Collect more reports, or choose another mix."
            told = f"no reports of the group {self.bulk.strata[i]!r}"
            require(n > 0, "tally", told, "one with reports of all groups", hint)
            spoken = np.full(self.k, n * float(group.signal.asked))
            asked = cells["asked"][i] if "asked" in cells else None
            found.append(GroupCounts(group, spoken, cells["plus"][i], cells["minus"][i], asked))
        return found

    def parts(self, tally: Tally) -> dict[str, Part]:
        return dict(keyvalue_parts(self.counts(tally), tally.n, self.length, self.range))

    def estimate(self, tally: Tally) -> Estimate:
        """See `Mechanism.estimate`: frequencies are unbiased, means are not; and which frequencies are too low."""
        steps = [
            f"unbiased frequencies from {tally.n} reports",
            "means are quotients, clipped: the rarer a key, the nearer to the middle of the range",
        ]
        if self.length is not None:
            steps.append(f"frequencies are too low as far as people have more than {self.length} pairs")
        return replace(super().estimate(tally), steps=tuple(steps))

    # ---- closed forms

    def expected_error(self, pairs: PairSets) -> FloatArray:
        """Expected squared error of every key's frequency for these very people, that of padding's bias included.

        Exact for one group of reporters; with two, for groups of the expected sizes.
        """
        n, length = len(pairs), self.length or 1
        draw = np.repeat(1 / np.maximum(pairs.sizes, length), pairs.sizes)
        once, twice, count = (np.bincount(pairs.keys, w, minlength=self.k) for w in (draw, draw**2, None))
        total, split = np.zeros(self.k), 0.0
        for g in (g for g in self.groups if g.weight):
            s, scale = g.signal, float(g.weight**2 / g.share)
            own = float(s.idle2 - s.idle**2) * n + float(s.held2 - s.idle2 - 2 * s.idle * s.step) * once
            total += scale * (own / float(s.asked * s.step**2) - twice) / n**2
            split += scale
        total += (split - 1) * (twice / n - (once / n) ** 2) / n
        return np.asarray(length**2 * total + (length * once - count) ** 2 / n**2)

    def _numbers(self, groups: tuple[Group, ...], n: float) -> dict[str, float]:
        first, second = variances(groups, Fraction(1, self.k), self.length or 1)
        n = check_n(n)
        return {"variance": float(first) / n, "variance_mean": float(second) / n}

    def properties(self, n: float = 1) -> dict[str, Any]:
        """See `Mechanism.properties`: F/n and M/n of people with one pair each, and the least F of any mechanism there.

        Several pairs (`length`) cost something even then, which shows as `gap`.
        """
        found: dict[str, Any] = self._numbers(self.ideal(), n)
        edge = frontier(self.epsilon, self.k)
        bound = edge.least_frequency(found["variance_mean"] * n) / n
        if bound * n < _LEAST:
            return found | report_size(self)
        lowest = edge.least_mean(found["variance"] * n) / n
        return found | report_size(self) | {"bound": bound, "gap": found["variance"] / bound - 1, "bound_mean": lowest}

    def effective(self, n: float = 1) -> dict[str, Any]:
        return {"epsilon": self.epsilon_exact} | self._numbers(self.groups, n)

    def guess_pair(self) -> Guess:
        """The best guess of the signed key of somebody with one pair, all being equally likely; a closed form.

        With a `length` a dummy is drawn instead of the pair now and then, and the report says nothing of it.
        """
        drawn, signed = 1 / (self.length or 1), 2 * self.k
        return Guess((drawn * self.favoured() + 1 - drawn) / signed, 1 / signed)

    def guess(self, prior: object = None) -> Guess:
        """See `Mechanism.guess`: of the signed key (or the set of pairs), by enumeration; one number per input."""
        channel = self.channel()
        if prior is None:
            return Guess(float(channel.asr()), 1 / channel.k)
        pi = check_prior(prior, channel.k)
        exact = [Fraction(float(v)) for v in pi]
        exact[0] += 1 - sum(exact)
        return Guess(float(channel.asr(exact)), float(pi.max()))


_COMMON = frozenset(f.name for f in fields(KeyValue))


def check_length(length: Any, k: int) -> int | None:
    """A number of pairs to allow for; None where everybody has exactly one."""
    if length is None:
        return None
    need, hint = f"an integer from 1 to the number of keys, {k}", "Leave it out where everybody has exactly one pair."
    return whole("length", length, 1, k, need, hint)


def check_share(share: Any) -> float:
    """A share of key-only reports, from 0 to below 1."""
    ok = is_number(share) and 0 <= share < 1
    require(ok, "mix", share, "a number from 0 to below 1", "It is the share of reports that only speak of keys.")
    return float(share)


def check_interest(interest: object) -> None:
    """A weight of frequencies against means."""
    ok = isinstance(interest, int | float) and not isinstance(interest, bool) and 0 <= interest < math.inf
    require(ok, "interest", interest, "a number >= 0", "1 gives frequency and mean the same weight.")
