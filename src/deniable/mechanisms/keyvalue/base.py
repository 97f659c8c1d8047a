"""Key-value mechanisms: which keys people have, and the mean of their values [KSKV].

Each person gives one pair, or several (`length`), of which one is drawn; its value is rounded to an end of its range; a
kernel on signed keys makes the report (docs/maths/keyvalue.md).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any, ClassVar

import numpy as np

from deniable.collect.reports import Field, Reports
from deniable.collect.tally import Tally
from deniable.core.channel import Channel, Proof, Witness
from deniable.core.guess import Guess, check_prior
from deniable.core.types import Columns, FloatArray, IntArray
from deniable.errors import FormatError, ParameterError, require
from deniable.estimate.linear import check_reports
from deniable.estimate.result import Estimate, Part
from deniable.kernels.sampling import below, below_each
from deniable.mechanisms.bulk import ENTRIES_MAX, check_outputs
from deniable.mechanisms.keyvalue.bulk import Law
from deniable.mechanisms.keyvalue.estimate import GroupCounts, keyvalue_parts
from deniable.mechanisms.keyvalue.laws import Group, frontier, pooled, variances
from deniable.mechanisms.keyvalue.pairs import PairSets, check_range
from deniable.mechanisms.legacy import Legacy
from deniable.randomness import Stream, bernoulli, secure
from deniable_client.exact import WORD_BITS
from deniable_client.kernels import Grouped, Pairs
from deniable_client.kernels.keyvalue import GRID

__all__ = ["KeyValue", "check_share"]

_WORD = 1 << WORD_BITS
_LEAST = 1e-9
"""Of errors below it, for one report, the bound would be lost in rounding; it is left out."""


@dataclass(frozen=True, kw_only=True)
class KeyValue(Legacy):
    """Keys are the domain; values lie in `range`. `length` None: one pair per person; else up to about that many."""

    length: int | None = None
    range: tuple[float, float] = (-1.0, 1.0)
    vetted: ClassVar[bool] = True
    takes: ClassVar[str] = "key-value pairs"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "range", check_range(self.range))
        hint = "Leave it out where everybody has exactly one pair."
        if self.length is not None:
            whole = isinstance(self.length, int | np.integer) and not isinstance(self.length, bool)
            ok = whole and 1 <= self.length <= self.k
            require(ok, "length", self.length, f"an integer from 1 to the number of keys, {self.k}", hint)
            object.__setattr__(self, "length", int(self.length))

    # ---- what a kind of mechanism says of itself

    @property
    @abstractmethod
    def laws(self) -> tuple[Law, ...]:
        """The kernels in bulk: one, or those of two groups."""

    @property
    def coin(self) -> int:
        """Chance of the second group, in 2**-64."""
        return 0

    def weighed(self, laws: tuple[Law, ...]) -> list[Fraction | None]:
        """What stands for the variance of each group's frequencies in their pooling; None: they say nothing of them."""
        return [Fraction(1) for _ in laws]

    @abstractmethod
    def ideal(self) -> tuple[Group, ...]:
        """The groups with ideal parameters."""

    @property
    def own_params(self) -> dict[str, Any]:
        """Parameters beside `length` and `range`."""
        return {}

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
    def kernel(self) -> Pairs:
        """See `Mechanism.kernel`."""
        first, *rest = self.laws
        base = Grouped(first.kernel, rest[0].kernel, self.coin) if rest else first.kernel
        return Pairs(base, self.k, self.pad)

    @property
    def params(self) -> dict[str, Any]:
        """See `Mechanism.params`."""
        length = {} if self.length is None else {"length": self.length}
        return self.own_params | length | {"range": list(self.range)}

    @property
    def fields(self) -> tuple[Field, ...]:
        """See `Mechanism.fields`."""
        if len(self.laws) == 1:
            return (Field("report", "bytes", self.kernel.width),)
        return (Field("group", "uint", 1), Field("report", "bytes", self.kernel.width - 1))

    def privatize(
        self, values: object, *, levels: object = None, coins: object = None, rng: Stream | None = None
    ) -> Reports:
        """Perturb pairs: (offsets, keys, values), a frame with user, key and value, or rows of these three."""
        if levels is not None or coins is not None:
            raise ParameterError(f"{self.name} has one privacy level and no public seed; leave out levels and coins.")
        pairs = PairSets.of(values, self.domain, self.range)
        self._refuse_broken()
        stream = secure() if rng is None else rng
        columns = self._perturb_blocks(self.choose(pairs, stream), stream, act=self._send)
        return Reports(self.design, self.fields, columns, stream.simulated)

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        """See `Mechanism.perturb`: people with one pair each, by signed key, or with none (2k) where allowed."""
        minus, keys = np.divmod(items, self.k)
        held = minus < 2
        offsets = np.r_[0, np.cumsum(held)].astype(np.int64)
        pairs = PairSets(offsets, keys[held], GRID * (1 - minus[held]))
        return self._send(self.choose(pairs, rng), rng)

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

    def _send(self, items: IntArray, rng: Stream) -> Columns:
        if len(self.laws) == 1:
            return {"report": self.laws[0].rows(items, rng)}
        group = bernoulli(rng, self.coin, items.size)
        rows = np.zeros((items.size, self.kernel.width - 1), np.uint8)
        for number, law in enumerate(self.laws):
            at = np.flatnonzero(group == number)
            rows[at, : law.kernel.width] = law.rows(items[at], rng)
        return {"group": group.astype(np.uint8), "report": rows}

    # ---- counter

    @property
    def strata(self) -> tuple[str, ...]:
        """The groups of reporters."""
        return ("all",) if len(self.laws) == 1 else ("keys", "signed")

    def count(self, columns: Columns) -> dict[str, IntArray]:
        """See `Mechanism.count`."""
        rows = columns["report"]
        group = columns.get("group", np.zeros(len(rows), np.uint8))
        if group.size and int(group.max()) >= len(self.laws):
            raise FormatError(f"a report is of group {int(group.max())}, the last is {len(self.laws) - 1}.")
        cells: dict[str, list[Any]] = {"n": [], "plus": [], "minus": []}
        for number, law in enumerate(self.laws):
            mine = rows[group == number]
            if mine[:, law.kernel.width :].any():
                raise FormatError("a report has bytes after its end that are not zero.")
            part = np.ascontiguousarray(mine[:, : law.kernel.width])
            plus, minus = law.counts(part)
            cells["n"].append(len(part))
            cells["plus"].append(plus[: self.k])
            cells["minus"].append(minus[: self.k])
            asked = law.asked(part)
            if asked is not None:
                cells.setdefault("asked", []).append(asked[: self.k])
        return {name: np.array(cell, np.int64) for name, cell in cells.items()}

    # ---- channel

    @cached_property
    def outputs(self) -> float:
        """See `Mechanism.outputs`."""
        found = [law.outputs for law in self.laws]
        return max(found) + math.log2(sum(2.0 ** (v - max(found)) for v in found))

    @property
    def channel_error(self) -> Fraction:
        """See `Mechanism.channel_error`."""
        return max(law.error for law in self.laws)

    @property
    def inputs(self) -> int:
        """See `Mechanism.inputs`: with several pairs, all sets of signed pairs with different keys."""
        return 3**self.k if self.length else 2 * self.k

    def channel(self) -> Channel:
        """See `Mechanism.channel`. With several pairs, digit i of an input in base 3 says of key i: none, +1, -1."""
        if self.length and self.k > 9:
            check_outputs(ENTRIES_MAX + 1, self.name)
        base = self._grouped_channel()
        if self.length is None:
            return base
        check_outputs(len(base.outputs), self.name, self.inputs)
        mixes = [self._mix(s) for s in product((0, 1, 2), repeat=self.k)]
        scale = math.lcm(*(v.denominator for mix in mixes for v in mix.values()))
        whole = [{x: int(v * scale) for x, v in mix.items()} for mix in mixes]
        weights = tuple(tuple(sum(v * row[x] for x, v in mix.items()) for mix in whole) for row in base.weights)
        return Channel(base.outputs, weights, base.total * scale)

    def _mix(self, digits: tuple[int, ...]) -> dict[int, Fraction]:
        """The law of the signed key that is drawn from a set of pairs; the last digit is that of key 0."""
        held = {key + self.total * (digit == 2): digit for key, digit in enumerate(reversed(digits)) if digit}
        assert self.length is not None
        most = max(len(held), self.length)
        mix = {x: Fraction(1, most) for x in held}
        idle = Fraction(most - len(held), most * 2 * self.length)
        dummies = (key + sign for key in range(self.k, self.total) for sign in (0, self.total))
        return mix | {x: idle for x in dummies if idle}

    def _grouped_channel(self) -> Channel:
        first = self.laws[0].channel()
        if len(self.laws) == 1:
            return first
        second = self.laws[1].channel()
        weights = [[w * second.total * (_WORD - self.coin) for w in row] for row in first.weights]
        weights += [[w * first.total * self.coin for w in row] for row in second.weights]
        names = [f"group {g}, {o}" for g, c in enumerate((first, second)) for o in c.outputs]
        return Channel(tuple(names), tuple(map(tuple, weights)), first.total * second.total * _WORD)

    @cached_property
    def proof(self) -> Proof:
        """See `Mechanism.proof`."""
        text, padded = self.argument, ""
        if len(self.laws) > 1:
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
        return Proof(self.kernel.ratio, "symmetry and mixing" if self.length else "symmetry", text + padded, witness)

    # ---- estimator

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """The groups with the integers that are sampled."""
        share = Fraction(self.coin, _WORD)
        shares = [Fraction(1)] if len(self.laws) == 1 else [1 - share, share]
        parts = list(zip(shares, (law.signal for law in self.laws), strict=True))
        return pooled(parts, self.weighed(self.laws))

    def parts(self, tally: Tally) -> dict[str, Part]:
        """See `Mechanism.parts`."""
        check_reports(tally)
        found = []
        for i, group in enumerate(self.groups):
            n, cells = int(tally.cells["n"][i]), tally.cells
            hint = "Collect more reports, or choose another mix."
            require(
                n > 0, "tally", f"no reports of the group {self.strata[i]!r}", "one with reports of all groups", hint
            )
            spoken = np.full(self.k, n * float(group.signal.asked))
            asked = cells["asked"][i] if "asked" in cells else None
            found.append(GroupCounts(group, spoken, cells["plus"][i], cells["minus"][i], asked))
        return dict(keyvalue_parts(found, tally.n, self.length, self.range))

    def estimate(self, tally: Tally) -> Estimate:
        """See `Mechanism.estimate`; with several pairs per person it says whose frequencies are too low."""
        found = super().estimate(tally)
        if self.length is None:
            return found
        told = f"frequencies are too low as far as people have more than {self.length} pairs"
        return replace(found, steps=(*found.steps, told))

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
        return {"variance": float(first) / n, "variance_mean": float(second) / n}

    def properties(self, n: float = 1) -> dict[str, Any]:
        """See `Mechanism.properties`: F/n and M/n of people with one pair each, and the least F of any mechanism there.

        Several pairs (`length`) cost something even then, which shows as `gap`.
        """
        found: dict[str, Any] = self._numbers(self.ideal(), n)
        size = {"bits": self.outputs, "bytes": self.row_bytes} if not self.refusal else {}
        edge = frontier(self.epsilon, self.k)
        bound = edge.least_frequency(found["variance_mean"] * n) / n
        if bound * n < _LEAST:
            return found | size
        lowest = edge.least_mean(found["variance"] * n) / n
        return found | size | {"bound": bound, "gap": found["variance"] / bound - 1, "bound_mean": lowest}

    def effective(self, n: float = 1) -> dict[str, Any]:
        """See `Mechanism.effective`."""
        return {"epsilon": self.epsilon_exact} | self._numbers(self.groups, n)

    def guess(self, prior: object = None) -> Guess:
        """See `Mechanism.guess`: of the signed key (or the set of pairs), by enumeration; one number per input."""
        channel = self.channel()
        if prior is None:
            return Guess(float(channel.asr()), 1 / self.inputs)
        pi = check_prior(prior, self.inputs)
        exact = [Fraction(float(v)) for v in pi]
        exact[0] += 1 - sum(exact)
        return Guess(float(channel.asr(exact)), float(pi.max()))


def check_share(share: object) -> float:
    """A share of key-only reports, from 0 to below 1."""
    ok = isinstance(share, int | float) and not isinstance(share, bool) and 0 <= share < 1
    require(ok, "mix", share, "a number from 0 to below 1", "It is the share of reports that only speak of keys.")
    assert isinstance(share, int | float)
    return float(share)
