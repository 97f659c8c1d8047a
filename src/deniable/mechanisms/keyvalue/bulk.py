"""Key-value kernels for many people: any plain base on keys, what has a kernel of its own, and pairs through either.

Signed key x is key x with +1, for x below the number of keys, else key x - keys with -1.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import combinations, product
from typing import Any, TypeVar

import numpy as np

from deniable.collect.reports import Field, join_rows
from deniable.core.channel import Channel
from deniable.core.types import BoolArray, Bytes, Columns, IntArray
from deniable.errors import FormatError, InWords, require
from deniable.kernels import loops
from deniable.kernels.bits import clear_padding
from deniable.kernels.sampling import below, bernoulli_bits, subset_bits
from deniable.mechanisms.bulk import Bulk, Cells, SupportBulk, check_outputs, refuse_values, two_level
from deniable.mechanisms.framing import chosen_channel, counted_apart, framed, framed_fields, log2_sum
from deniable.mechanisms.frequency.subset import log2_comb
from deniable.mechanisms.keyvalue.laws import Signal, signal_of_signed_subset
from deniable.mechanisms.possible import Cell, nothing
from deniable.randomness import Stream, bernoulli
from deniable_client.exact import WORD
from deniable_client.kernels import Grouped, Kernel, KeysOnly, OneKey, Pairs, SignedSubset, SignedUnary
from deniable_client.packing import bits_width

__all__ = ["KeyBulk", "OnKeys", "OneKeyBulk", "PairsBulk", "SignedSubsetBulk", "SignedUnaryBulk", "key_cells"]

_GROUP = "group"
"""The field of a report that says which of two groups its sender is in."""
K = TypeVar("K", bound=Kernel)


class KeyBulk(Bulk[K]):
    """A kernel on signed keys for many people, with what key-value estimates need to know of it.

    `count` gives the cells n, plus and minus (reports with +1 and with -1 at each key), and asked (reports that speak
    of each key) where not all reports speak of all keys. The channel's `supported` are signed keys.
    """

    @property
    def keys(self) -> int:
        """Number of keys, dummies included."""
        return self.k // 2

    @property
    @abstractmethod
    def signal(self) -> Signal:
        """What a report says of a key, for the integers that are sampled."""

    @abstractmethod
    def most(self, r: int) -> int:
        """How many of r keys one report can speak for at most; a key with both signs counts twice."""

    @property
    def both(self) -> int:
        """How many signs of one key a report can have at most."""
        return 1

    @property
    def cells(self) -> Mapping[str, Cell]:
        most = (0, self.most(self.keys))
        return {name: Cell(self.keys, total=most) for name in ("plus", "minus")}

    def check(self, cells: Cells) -> None:
        """See `Bulk.check`: the signs of a key, and of all keys, go together; dummies may have been left out."""
        both = Cell(self.keys, (0, self.both), (0, self.most(self.keys)))
        super().check(cells)
        signs = cells["plus"] + cells["minus"]
        both.check("plus + minus", signs[0], int(cells["n"][0]))

    @property
    def work(self) -> float:
        """Operations of the server per report: one for each byte, unless there is more or less to do."""
        return float(self.row_bytes)


def key_cells(columns: Columns, plus: IntArray, minus: IntArray, **more: IntArray) -> Cells:
    """The cells of a batch, from how many of its reports have +1 and how many -1 at each key."""
    found = {"plus": plus, "minus": minus} | more
    n = len(next(iter(columns.values())))
    return {"n": np.array([n], np.int64)} | {name: cell[None, :] for name, cell in found.items()}


@dataclass(frozen=True)
class OnKeys(KeyBulk[Kernel]):
    """Any plain base, on signed keys as its answers, or on keys: then it says nothing of values."""

    base: SupportBulk[Any]

    def __post_init__(self) -> None:
        hint = "Some pairs of its answers are supported together more often than others."
        require(not self.base.uneven, "base", self.base.kernel.kind, "one that treats all pairs of answers alike", hint)
        hint = "They are the keys with +1, then the keys with -1."
        require(self.k % 2 == 0, "base", InWords(f"one with {self.k} answers"), "one with two for each key", hint)

    @classmethod
    def of(cls, base: SupportBulk[Any], *, signed: bool = True) -> OnKeys:
        """The base on signed keys, or on keys."""
        return cls(base.kernel if signed else KeysOnly(base.kernel), base)

    @property
    def signed(self) -> bool:
        """Whether answers of the base are signed keys."""
        return self.base.k == self.k

    @property
    def fields(self) -> tuple[Field, ...]:
        return self.base.fields

    @property
    def outputs(self) -> float:
        return self.base.outputs

    @cached_property
    def signal(self) -> Signal:
        return Signal.of_signed(self.base.support) if self.signed else Signal.of_keys(self.base.support)

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        return self.base.perturb(items % self.base.k, rng)

    def possible(self, columns: Columns) -> BoolArray:
        return self.base.possible(columns)

    def count(self, columns: Columns) -> Cells:
        """See `KeyBulk`: without signs all as +1."""
        found = self.base.support_counts(self.base.count(columns))
        minus = found[self.keys :] if self.signed else np.zeros(self.keys, np.int64)
        return key_cells(columns, found[: self.keys], minus)

    def most(self, r: int) -> int:
        return self.base.most(2 * r if self.signed else r)

    @property
    def both(self) -> int:
        return self.base.most(2) if self.signed else 1

    def check(self, cells: Cells) -> None:
        """See `KeyBulk.check`: without signs there is no -1."""
        super().check(cells)
        if not self.signed:
            nothing(self.keys).check("minus", cells["minus"][0], int(cells["n"][0]))

    @property
    def work(self) -> float:
        return self.base.work

    @property
    def channel_error(self) -> Fraction:
        return self.base.channel_error

    def channel(self) -> Channel:
        found = self.base.channel()
        return replace(found, weights=tuple(row * (self.k // self.base.k) for row in found.weights))


class SignedUnaryBulk(KeyBulk[SignedUnary]):
    """+1, -1 or 0 for every key, independently, for many people."""

    @property
    def fields(self) -> tuple[Field, ...]:
        return _sides(self.keys)

    @property
    def outputs(self) -> float:
        return self.keys * math.log2(3)

    @property
    def signal(self) -> Signal:
        return Signal.of(*self.kernel.chances)

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        minus, keys = np.divmod(items, self.keys)
        own, width = self.kernel, bits_width(self.keys)
        members = bernoulli_bits(rng, own.other, items.size * width).reshape(items.size, width)
        clear_padding(members, self.keys)
        words = rng.draw(64, items.size)
        told, turned = words < np.uint64(own.own + own.flip), words >= np.uint64(own.own)
        loops().put_bits(members, keys, told)
        return _signed(members, keys, (minus == 1) ^ turned, rng)

    def count(self, columns: Columns) -> Cells:
        return _count_sides(columns, self.keys)

    def most(self, r: int) -> int:
        return r

    def channel(self) -> Channel:
        check_outputs(self.keys * math.log2(3), "this signed unary encoding")
        s, r, a = self.kernel.own, self.kernel.flip, self.kernel.other
        held, idle = (2 * s, 2 * r, 2 * (WORD - s - r)), (a, a, 2 * (WORD - a))
        reports = list(product((0, 1, 2), repeat=self.keys))

        def weight(report: tuple[int, ...], x: int) -> int:
            minus, key = divmod(x, self.keys)
            own = held[report[key] if report[key] == 2 else report[key] ^ minus]
            return own * math.prod(idle[y] for i, y in enumerate(report) if i != key)

        weights = tuple(tuple(weight(y, x) for x in range(self.k)) for y in reports)
        labels = tuple("report " + "".join("+-0"[v] for v in y) for y in reports)
        supported = tuple(frozenset(i + self.keys * v for i, v in enumerate(y) if v < 2) for y in reports)
        return Channel(labels, weights, (2 * WORD) ** self.keys, supported)


class SignedSubsetBulk(KeyBulk[SignedSubset]):
    """Sets of keys, each with one sign, for many people."""

    @property
    def fields(self) -> tuple[Field, ...]:
        return _sides(self.keys)

    @property
    def outputs(self) -> float:
        return log2_comb(self.keys, self.kernel.size) + self.kernel.size

    @property
    def signal(self) -> Signal:
        return signal_of_signed_subset(self.kernel.ratio, self.keys, self.kernel.size)

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        minus, keys = np.divmod(items, self.keys)
        kept = bernoulli(rng, self.kernel.keep, items.size)
        size = self.kernel.size
        turned = ~kept & (below(rng, self.k - size, items.size) < size)
        members = subset_bits(rng, self.keys, np.full(items.size, size), keys, kept | turned)
        return _signed(members, keys, (minus == 1) ^ turned, rng)

    def count(self, columns: Columns) -> Cells:
        return _count_sides(columns, self.keys, self.kernel.size)

    def most(self, r: int) -> int:
        return min(r, self.kernel.size)

    def channel(self) -> Channel:
        size = self.kernel.size
        check_outputs(self.outputs, "this signed subset selection")
        signs = list(product((0, self.keys), repeat=size))
        sets = combinations(range(self.keys), size)
        held = [frozenset(k + s for k, s in zip(c, sign, strict=True)) for c in sets for sign in signs]
        labels = ["report {" + ", ".join(map(str, sorted(s))) + "}" for s in held]
        inside = math.comb(self.keys - 1, size - 1) << (size - 1)
        return two_level(self.kernel, labels, held, inside, len(held) - inside)


class OneKeyBulk(KeyBulk[OneKey]):
    """One key that was drawn blindly, with +1, -1 or 0, for many people; those without it may answer by a guess."""

    work = 1.0

    @property
    def fields(self) -> tuple[Field, ...]:
        return (Field("value", "uint", self.kernel.width),)

    @property
    def outputs(self) -> float:
        return math.log2(3 * self.keys)

    @property
    def signal(self) -> Signal:
        """See `KeyBulk.signal`: what does not depend on guesses; means need them too."""
        return Signal.of(*self.kernel.chances, Fraction(1, self.keys))

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        minus, keys = np.divmod(items, self.keys)
        asked = below(rng, self.keys, items.size)
        held = asked == keys
        spoken = bernoulli(rng, self.kernel.keep, items.size) == held
        if self.kernel.guesses:
            guess = rng.draw(32, items.size).astype(np.int64) >= np.array(self.kernel.guesses)[asked]
            sign = np.where(held, minus, guess) ^ bernoulli(rng, self.kernel.flip, items.size)
        else:
            sign = minus ^ np.where(held, bernoulli(rng, self.kernel.flip, items.size), rng.draw(8, items.size) & 1)
        return {"value": (3 * asked + np.where(spoken, 1 + sign, 0)).astype(self.fields[0].dtype)}

    @property
    def cells(self) -> Mapping[str, Cell]:
        return {**super().cells, "asked": Cell(self.keys, total=(0, 1))}

    def check(self, cells: Cells) -> None:
        """See `KeyBulk.check`: a key has a sign in those reports only that speak of it."""
        super().check(cells)
        if bool((cells["plus"] + cells["minus"] > cells["asked"]).any()):
            raise FormatError("no reports give these counts: a key has more signs than reports that speak of it.")

    def count(self, columns: Columns) -> Cells:
        refuse_values(columns["value"], 3 * self.keys, "value")
        found = np.bincount(columns["value"], minlength=3 * self.keys).astype(np.int64).reshape(self.keys, 3)
        return key_cells(columns, found[:, 1], found[:, 2], asked=found.sum(axis=1))

    def most(self, r: int) -> int:
        return 1

    def channel(self) -> Channel:
        check_outputs(math.log2(3 * self.keys), "this question", self.k)
        names, weights, supported = [], list[tuple[int, ...]](), list[frozenset[int]]()
        scale = WORD**2 << 32
        for key in range(self.keys):
            plus, minus, none = self.kernel.answers(*self.kernel.guesses[key : key + 1])
            for said in range(3):
                law = (plus if x == key else minus if x == key + self.keys else none for x in range(self.k))
                weights.append(tuple(int(one[said] * scale) for one in law))
                names.append(f"key {key}: {'0+-'[said]}")
                supported.append(frozenset([key + self.keys * (said - 1)] if said else []))
        return Channel(tuple(names), tuple(weights), self.keys * scale, tuple(supported))


def _sides(keys: int) -> tuple[Field, ...]:
    """Bits of the keys with +1, then of those with -1."""
    return tuple(Field(name, "bytes", bits_width(keys)) for name in ("plus", "minus"))


def _signed(members: Bytes, keys: IntArray, minus: Any, rng: Stream) -> Columns:
    """Sets of keys with a uniform sign each, but for the own key, whose sign is given where it is in."""
    signs = rng.draw(8, members.size).reshape(members.shape)
    loops().put_bits(signs, keys, minus)
    return {"plus": members & ~signs, "minus": members & signs}


def _count_sides(columns: Columns, keys: int, size: int | None = None) -> Cells:
    """Counts of sets of keys with signs; `FormatError` for both signs of one key, or not `size` keys."""
    plus, minus = columns["plus"], columns["minus"]
    if (plus & minus).any():
        raise FormatError("a report has both signs for one key.")
    if size is not None and (loops().popcounts(plus) + loops().popcounts(minus) != size).any():
        raise FormatError(f"a report has not the {size} keys that it should have.")
    found = [loops().count_bits(side, 8 * side.shape[1]) for side in (plus, minus)]
    if any(side[keys:].any() for side in found):
        raise FormatError(f"a report has ones after its {keys} bits.")
    return key_cells(columns, found[0][:keys], found[1][:keys])


# ---- pairs, through the kernels of one or two groups of reporters


@dataclass(frozen=True)
class PairsBulk(Bulk[Pairs]):
    """Pairs for many people: `perturb` takes the signed key that was chosen for each, dummies included.

    With two groups a public coin decides who is in which; reports of the shorter kind are filled up with zeros.
    """

    groups: tuple[KeyBulk[Any], ...]
    group_share: int
    """Chance of the second group, in 2**-64."""

    @classmethod
    def of(cls, groups: Sequence[KeyBulk[Any]], keys: int, length: int, group_share: int = 0) -> PairsBulk:
        """Of one kernel on signed keys, or of two and the share of the second."""
        first, *rest = (group.kernel for group in groups)
        base = Grouped(first, rest[0], group_share) if rest else first
        return cls(Pairs(base, keys, length), tuple(groups), group_share)

    @property
    def k(self) -> int:
        """See `Bulk.k`: signed keys, dummies included."""
        return self.groups[0].k

    @property
    def fields(self) -> tuple[Field, ...]:
        return framed_fields(_GROUP, self.groups)[len(self.groups) == 1 :]

    @property
    def strata(self) -> tuple[str, ...]:
        return ("all",) if len(self.groups) == 1 else ("keys", "signed")

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        groups = self.groups
        if len(groups) == 1:
            return {"report": join_rows(groups[0].fields, groups[0].perturb(items, rng))}
        number = bernoulli(rng, self.group_share, items.size)
        return framed(self.fields, groups, number, lambda i, at: groups[i].perturb(items[at], rng))

    @property
    def cells(self) -> Mapping[str, Cell]:
        """See `Bulk.cells`: those of the groups, without dummies."""
        return {name: replace(cell, size=self.kernel.keys) for name, cell in self.groups[0].cells.items()}

    def check(self, cells: Cells) -> None:
        """See `Bulk.check`: each group has its own stratum."""
        for i, group in enumerate(self.groups):
            group.check({name: cell[i : i + 1] for name, cell in cells.items()})

    def count(self, columns: Columns) -> Cells:
        numbered = {_GROUP: np.zeros(len(columns["report"]), np.uint8), **columns}
        found = counted_apart(_GROUP, self.groups, numbered)
        cells = {name: np.concatenate([part[name] for part in found]) for name in found[0]}
        return {name: cell if name == "n" else cell[:, : self.kernel.keys] for name, cell in cells.items()}

    @cached_property
    def outputs(self) -> float:
        return log2_sum([group.outputs for group in self.groups])

    @property
    def channel_error(self) -> Fraction:
        return max(group.channel_error for group in self.groups)

    @property
    def inputs(self) -> int:
        """See `Bulk.inputs`: with several pairs, all sets of signed pairs with different keys."""
        return 3**self.kernel.keys if self.kernel.length else 2 * self.kernel.keys

    def channel(self) -> Channel:
        """See `Bulk.channel`. With several pairs, digit i of an input in base 3 says of key i: none, +1, -1."""
        name = "these pairs"
        if self.kernel.length and self.kernel.keys > 9:
            check_outputs(self.kernel.keys * math.log2(3), name)
        base = self._chosen_channel()
        if not self.kernel.length:
            return base
        check_outputs(math.log2(len(base.outputs)), name, self.inputs)
        mixes = [self._mix(digits) for digits in product((0, 1, 2), repeat=self.kernel.keys)]
        scale = math.lcm(*(v.denominator for mix in mixes for v in mix.values()))
        whole = [{x: int(v * scale) for x, v in mix.items()} for mix in mixes]
        weights = tuple(tuple(sum(v * row[x] for x, v in mix.items()) for mix in whole) for row in base.weights)
        return replace(base, weights=weights, total=base.total * scale)

    def _mix(self, digits: tuple[int, ...]) -> dict[int, Fraction]:
        """The law of the signed key that is drawn from a set of pairs; the last digit is that of key 0."""
        keys, length = self.kernel.keys, self.kernel.length
        total = keys + length
        held = [key + total * (digit == 2) for key, digit in enumerate(reversed(digits)) if digit]
        most = max(len(held), length)
        idle = Fraction(most - len(held), most * 2 * length)
        dummies = (key + sign for key in range(keys, total) for sign in (0, total))
        return {x: Fraction(1, most) for x in held} | {x: idle for x in dummies if idle}

    def _chosen_channel(self) -> Channel:
        """Of the signed key that was chosen."""
        channels = [group.channel() for group in self.groups]
        known = (
            (items, group.keys)
            for group, own in zip(self.groups, channels, strict=True)
            for items in own.supported or ()
        )
        held = tuple(_real(items, keys, self.kernel.keys) for items, keys in known)
        if len(channels) == 1:
            return replace(channels[0], supported=held)
        strata = tuple(number for number, own in enumerate(channels) for _ in own.outputs)
        names, shares = ("group 0", "group 1"), (WORD - self.group_share, self.group_share)
        return replace(chosen_channel(names, channels, shares), supported=held, strata=strata)


def _real(signed: frozenset[int], among: int, keys: int) -> frozenset[int]:
    """Signed keys of so many, dummies among them, as signed keys of the real ones."""
    return frozenset(x % among + keys * (x // among) for x in signed if x % among < keys)
