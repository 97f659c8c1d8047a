"""Key-value kernels in bulk: many reports at once, how they count, their signal, and their channel on signed keys.

A report is a row of bytes, as `deniable_client.kernels.keyvalue` makes one. Signed key x is key x with +1, for x below
the number of keys, else key x - keys with -1.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import combinations, product
from typing import Any, TypeVar

import numpy as np

from deniable.collect.reports import Field
from deniable.core.channel import Channel
from deniable.core.types import Bytes, Columns, IntArray
from deniable.errors import FormatError, require
from deniable.kernels import loops
from deniable.kernels.bits import clear_padding
from deniable.kernels.sampling import below, bernoulli_bits, respond, subset_bits
from deniable.mechanisms.bulk import Bulk, Cells, SupportBulk, check_outputs
from deniable.mechanisms.frequency.subset import log2_comb
from deniable.mechanisms.keyvalue.laws import Signal, signal_of_key_subset, signal_of_signed_subset, signal_of_subset
from deniable.randomness import Stream, bernoulli
from deniable_client.exact import WORD_BITS
from deniable_client.kernels import Kernel, Response, Subset, Unary
from deniable_client.kernels.keyvalue import KeysOnly, OneKey, SignedSubset, SignedUnary
from deniable_client.packing import bits_width, uint_width

__all__ = ["KeyBits", "KeySets", "Law", "OneKeyLaw", "Responses", "Sets", "SignedBits", "SignedSets"]

_WORD = 1 << WORD_BITS


@dataclass(frozen=True)
class Law(ABC):
    """One kernel on the signed keys of `keys` keys, in bulk."""

    kernel: Any
    keys: int

    @abstractmethod
    def rows(self, items: IntArray, rng: Stream) -> Bytes:
        """Reports for signed keys, one row of bytes each."""

    @abstractmethod
    def counts(self, rows: Bytes) -> tuple[IntArray, IntArray]:
        """How many reports have +1 and how many have -1 at each key; `FormatError` for what no device sends."""

    @property
    @abstractmethod
    def signal(self) -> Signal:
        """What a report says of a key, for the integers that are sampled."""

    @property
    @abstractmethod
    def outputs(self) -> float:
        """Number of different reports, as a base-2 logarithm."""

    @abstractmethod
    def channel(self) -> Channel:
        """All reports, given each signed key."""

    @abstractmethod
    def most(self, r: int) -> int:
        """How many of r keys one report can speak for at most; a key with both signs counts twice."""

    @property
    def work(self) -> float:
        """Operations of the server per report: one for each byte, unless there is more to do."""
        return float(self.kernel.width)

    def asked(self, rows: Bytes) -> IntArray | None:
        """How many reports speak of each key, where not all do."""
        return None

    @property
    def error(self) -> Fraction:
        """How far a probability of what is sampled may be from `channel`: 0 unless that idealises a hash."""
        return Fraction(0)

    def _two_level(self, sets: Iterable[frozenset[int]], names: Iterable[str] = ()) -> Channel:
        """A report favours the signed keys in its set, all of them alike."""
        every, x = list(sets), range(2 * self.keys)
        with_x = sum(0 in s for s in every)
        without = len(every) - with_x
        keep = getattr(self.kernel, "base", self.kernel).keep
        own, other = keep * without, (_WORD - keep) * with_x
        weights = tuple(tuple(own if i in s else other for i in x) for s in every)
        labels = tuple(names) or tuple("report {" + ", ".join(map(str, sorted(s))) + "}" for s in every)
        return Channel(labels, weights, (with_x * without) << WORD_BITS)


class NumberLaw(Law):
    """Reports that are one number each."""

    def most(self, r: int) -> int:
        """See `Law.most`."""
        return 1

    @property
    def work(self) -> float:
        """See `Law.work`: one counter."""
        return 1.0

    @staticmethod
    def tallied(rows: Bytes, limit: int) -> IntArray:
        """How often each number below `limit` was sent; `FormatError` for others."""
        numbers = np.ascontiguousarray(rows).view(f"<u{rows.shape[1]}").reshape(len(rows))
        if numbers.size and int(numbers.max()) >= limit:
            raise FormatError(f"a report has the number {int(numbers.max())}, the largest is {limit - 1}.")
        return np.bincount(numbers, minlength=limit).astype(np.int64)


class Responses(NumberLaw):
    """One signed key per report."""

    kernel: Response

    def rows(self, items: IntArray, rng: Stream) -> Bytes:
        """See `Law.rows`."""
        width = uint_width(2 * self.keys)
        numbers = respond(rng, items, 2 * self.keys, self.kernel.keep, np.dtype(f"<u{width}"))
        return np.ascontiguousarray(numbers).view(np.uint8).reshape(items.size, width)

    def counts(self, rows: Bytes) -> tuple[IntArray, IntArray]:
        """See `Law.counts`."""
        found = self.tallied(rows, 2 * self.keys)
        return found[: self.keys], found[self.keys :]

    @property
    def signal(self) -> Signal:
        """See `Law.signal`."""
        return signal_of_subset(self.kernel.ratio, self.keys, 1)

    @property
    def outputs(self) -> float:
        """See `Law.outputs`."""
        return math.log2(2 * self.keys)

    def channel(self) -> Channel:
        """See `Law.channel`."""
        return self._two_level(frozenset([x]) for x in range(2 * self.keys))


class Sets(Law):
    """A set of signed keys per report; both signs of a key may be in."""

    kernel: Subset

    def rows(self, items: IntArray, rng: Stream) -> Bytes:
        """See `Law.rows`."""
        kept = bernoulli(rng, self.kernel.keep, items.size)
        return subset_bits(rng, 2 * self.keys, np.full(items.size, self.kernel.size), items, kept)

    def counts(self, rows: Bytes) -> tuple[IntArray, IntArray]:
        """See `Law.counts`."""
        found = _bits(rows, 2 * self.keys, self.kernel.size)
        return found[: self.keys], found[self.keys :]

    @property
    def signal(self) -> Signal:
        """See `Law.signal`."""
        return signal_of_subset(self.kernel.ratio, self.keys, self.kernel.size)

    def most(self, r: int) -> int:
        """See `Law.most`."""
        return min(2 * r, self.kernel.size)

    @property
    def outputs(self) -> float:
        """See `Law.outputs`."""
        return log2_comb(2 * self.keys, self.kernel.size)

    def channel(self) -> Channel:
        """See `Law.channel`."""
        check_outputs(math.comb(2 * self.keys, self.kernel.size), "this subset selection")
        return self._two_level(frozenset(c) for c in combinations(range(2 * self.keys), self.kernel.size))


class SignedSets(Law):
    """A set of keys per report, each with one sign."""

    kernel: SignedSubset

    def rows(self, items: IntArray, rng: Stream) -> Bytes:
        """See `Law.rows`."""
        minus, keys = np.divmod(items, self.keys)
        kept = bernoulli(rng, self.kernel.keep, items.size)
        size = self.kernel.size
        turned = ~kept & (below(rng, 2 * self.keys - size, items.size) < size)
        members = subset_bits(rng, self.keys, np.full(items.size, size), keys, kept | turned)
        return _signed(members, keys, kept | turned, (minus == 1) ^ turned, rng)

    def counts(self, rows: Bytes) -> tuple[IntArray, IntArray]:
        """See `Law.counts`."""
        plus, minus = _sides(rows, self.keys)
        if (loops().popcounts(plus) + loops().popcounts(minus) != self.kernel.size).any():
            raise FormatError(f"a report has not the {self.kernel.size} keys that it should have.")
        return _bits(plus, self.keys), _bits(minus, self.keys)

    @property
    def signal(self) -> Signal:
        """See `Law.signal`."""
        return signal_of_signed_subset(self.kernel.ratio, self.keys, self.kernel.size)

    def most(self, r: int) -> int:
        """See `Law.most`."""
        return min(r, self.kernel.size)

    @property
    def outputs(self) -> float:
        """See `Law.outputs`."""
        return log2_comb(self.keys, self.kernel.size) + self.kernel.size

    def channel(self) -> Channel:
        """See `Law.channel`."""
        size = self.kernel.size
        check_outputs(math.comb(self.keys, size) << size, "this signed subset selection")
        signs = list(product((0, self.keys), repeat=size))
        sets = combinations(range(self.keys), size)
        return self._two_level(frozenset(k + s for k, s in zip(c, sign, strict=True)) for c in sets for sign in signs)


class SignedBits(Law):
    """+1, -1 or 0 for every key, independently."""

    kernel: SignedUnary

    def rows(self, items: IntArray, rng: Stream) -> Bytes:
        """See `Law.rows`."""
        minus, keys = np.divmod(items, self.keys)
        own, width = self.kernel, bits_width(self.keys)
        members = bernoulli_bits(rng, own.other, items.size * width).reshape(items.size, width)
        clear_padding(members, self.keys)
        words = rng.draw(64, items.size)
        told, turned = words < np.uint64(own.own + own.flip), words >= np.uint64(own.own)
        loops().put_bits(members, keys, told)
        return _signed(members, keys, told, (minus == 1) ^ turned, rng)

    def counts(self, rows: Bytes) -> tuple[IntArray, IntArray]:
        """See `Law.counts`."""
        plus, minus = _sides(rows, self.keys)
        return _bits(plus, self.keys), _bits(minus, self.keys)

    @property
    def signal(self) -> Signal:
        """See `Law.signal`."""
        return Signal.of(*self.kernel.chances)

    def most(self, r: int) -> int:
        """See `Law.most`."""
        return r

    @property
    def outputs(self) -> float:
        """See `Law.outputs`."""
        return self.keys * math.log2(3)

    def channel(self) -> Channel:
        """See `Law.channel`."""
        check_outputs(3**self.keys, "this signed unary encoding")
        s, r, a = self.kernel.own, self.kernel.flip, self.kernel.other
        held, idle = (2 * s, 2 * r, 2 * (_WORD - s - r)), (a, a, 2 * (_WORD - a))
        reports = list(product((0, 1, 2), repeat=self.keys))

        def weight(report: tuple[int, ...], x: int) -> int:
            minus, key = divmod(x, self.keys)
            own = held[report[key] if report[key] == 2 else report[key] ^ minus]
            return own * math.prod(idle[y] for i, y in enumerate(report) if i != key)

        weights = tuple(tuple(weight(y, x) for x in range(2 * self.keys)) for y in reports)
        labels = tuple("report " + "".join("+-0"[v] for v in y) for y in reports)
        return Channel(labels, weights, (2 * _WORD) ** self.keys)


class KeyBits(Law):
    """A bit per key, independently; nothing of values."""

    kernel: KeysOnly

    @property
    def _unary(self) -> Unary:
        assert isinstance(self.kernel.base, Unary)
        return self.kernel.base

    def rows(self, items: IntArray, rng: Stream) -> Bytes:
        """See `Law.rows`."""
        width = bits_width(self.keys)
        rows = bernoulli_bits(rng, self._unary.flip, items.size * width).reshape(items.size, width)
        clear_padding(rows, self.keys)
        loops().put_bits(rows, items % self.keys, bernoulli(rng, self._unary.keep, items.size))
        return rows

    def counts(self, rows: Bytes) -> tuple[IntArray, IntArray]:
        """See `Law.counts`: all as +1."""
        return _bits(rows, self.keys), np.zeros(self.keys, np.int64)

    @property
    def signal(self) -> Signal:
        """See `Law.signal`."""
        p, q = Fraction(self._unary.keep, _WORD), Fraction(self._unary.flip, _WORD)
        return Signal(p, p, p, Fraction(0), q, q, q, p * q, q * q)

    def most(self, r: int) -> int:
        """See `Law.most`."""
        return r

    @property
    def outputs(self) -> float:
        """See `Law.outputs`."""
        return float(self.keys)

    def channel(self) -> Channel:
        """See `Law.channel`."""
        check_outputs(1 << self.keys, "this unary encoding")
        held, idle = (_WORD - self._unary.keep, self._unary.keep), (_WORD - self._unary.flip, self._unary.flip)
        reports = list(product((0, 1), repeat=self.keys))
        weights = tuple(
            tuple(math.prod((held if i == x % self.keys else idle)[b] for i, b in enumerate(y)) for x in self._x)
            for y in reports
        )
        return Channel(tuple("keys " + "".join(map(str, y)) for y in reports), weights, _WORD**self.keys)

    @property
    def _x(self) -> range:
        return range(2 * self.keys)


class KeySets(Law):
    """A set of keys per report; nothing of values."""

    kernel: KeysOnly

    @property
    def _subset(self) -> Subset:
        assert isinstance(self.kernel.base, Subset)
        return self.kernel.base

    def rows(self, items: IntArray, rng: Stream) -> Bytes:
        """See `Law.rows`."""
        kept = bernoulli(rng, self._subset.keep, items.size)
        return subset_bits(rng, self.keys, np.full(items.size, self._subset.size), items % self.keys, kept)

    def counts(self, rows: Bytes) -> tuple[IntArray, IntArray]:
        """See `Law.counts`: all as +1."""
        return _bits(rows, self.keys, self._subset.size), np.zeros(self.keys, np.int64)

    @property
    def signal(self) -> Signal:
        """See `Law.signal`."""
        return signal_of_key_subset(self.kernel.ratio, self.keys, self._subset.size)

    def most(self, r: int) -> int:
        """See `Law.most`."""
        return min(r, self._subset.size)

    @property
    def outputs(self) -> float:
        """See `Law.outputs`."""
        return log2_comb(self.keys, self._subset.size)

    def channel(self) -> Channel:
        """See `Law.channel`."""
        check_outputs(math.comb(self.keys, self._subset.size), "this subset selection")
        sets = combinations(range(self.keys), self._subset.size)
        return self._two_level(frozenset(c) | {k + self.keys for k in c} for c in sets)


class OneKeyLaw(NumberLaw):
    """One key that was drawn blindly, with +1, -1 or 0."""

    kernel: OneKey

    def rows(self, items: IntArray, rng: Stream) -> Bytes:
        """See `Law.rows`."""
        minus, keys = np.divmod(items, self.keys)
        asked = below(rng, self.keys, items.size)
        held = asked == keys
        told = bernoulli(rng, self.kernel.keep, items.size) == held
        turned = np.where(held, bernoulli(rng, self.kernel.flip, items.size), rng.draw(8, items.size) & 1 == 1)
        said = np.where(told, 1 + (minus ^ turned), 0)
        width = uint_width(3 * self.keys)
        return (3 * asked + said).astype(f"<u{width}").view(np.uint8).reshape(items.size, width)

    def counts(self, rows: Bytes) -> tuple[IntArray, IntArray]:
        """See `Law.counts`."""
        found = self._found(rows)
        return found[:, 1].copy(), found[:, 2].copy()

    def asked(self, rows: Bytes) -> IntArray | None:
        """See `Law.asked`."""
        return np.asarray(self._found(rows).sum(axis=1))

    def _found(self, rows: Bytes) -> IntArray:
        return self.tallied(rows, 3 * self.keys).reshape(self.keys, 3)

    @property
    def signal(self) -> Signal:
        """See `Law.signal`."""
        return Signal.of(*self.kernel.chances, Fraction(1, self.keys))

    @property
    def outputs(self) -> float:
        """See `Law.outputs`."""
        return math.log2(3 * self.keys)

    def channel(self) -> Channel:
        """See `Law.channel`."""
        p, turn = self.kernel.keep, self.kernel.flip
        held = ((_WORD - p) * _WORD, p * (_WORD - turn), p * turn)
        idle = (p * _WORD, (_WORD - p) * _WORD // 2, (_WORD - p) * _WORD // 2)

        def weight(key: int, said: int, x: int) -> int:
            minus, own = divmod(x, self.keys)
            return held[said if not said or not minus else 3 - said] if own == key else idle[said]

        every = list(product(range(self.keys), range(3)))
        weights = tuple(tuple(weight(key, said, x) for x in range(2 * self.keys)) for key, said in every)
        labels = tuple(f"key {key}: {'0+-'[said]}" for key, said in every)
        return Channel(labels, weights, self.keys * _WORD**2)


K = TypeVar("K", bound=Kernel)


class KeyBulk(Bulk[K]):
    """A kernel on signed keys for many people, with what key-value estimates need to know of it.

    `count` gives the cells n, plus and minus (reports with +1 and with -1 at each key), and asked (reports that speak of
    each key) where not all reports speak of all keys. A channel's `supported` are signed keys.
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
    def work(self) -> float:
        """Operations of the server per report: one for each byte, unless there is more or less to do."""
        return float(self.row_bytes)

    def cells(self, columns: Columns, plus: IntArray, minus: IntArray, **more: IntArray) -> Cells:
        """The cells of a batch, from how many reports have +1 and how many -1 at each key."""
        found = {"plus": plus, "minus": minus} | more
        n = len(next(iter(columns.values())))
        return {"n": np.array([n], np.int64)} | {name: cell[None, :] for name, cell in found.items()}


@dataclass(frozen=True)
class OnKeys(KeyBulk[Kernel]):
    """Any plain base for many people, on signed keys as its answers, or on keys: then it says nothing of values."""

    base: SupportBulk[Any]

    def __post_init__(self) -> None:
        hint = "Some pairs of its answers are supported together more often than others."
        require(not self.base.uneven, "base", self.base.kernel.kind, "one that treats all pairs of answers alike", hint)
        even = not self.signed or self.base.k % 2 == 0
        require(even, "base", f"{self.base.k} answers", "two for each key", "They are keys with +1, then keys with -1.")

    @classmethod
    def of(cls, base: SupportBulk[Any], *, signed: bool = True) -> OnKeys:
        """The base on signed keys, or on keys."""
        return cls(base.kernel if signed else KeysOnly(base.kernel), base)

    @property
    def signed(self) -> bool:
        """Whether answers of the base are signed keys."""
        return self.base.k == self.kernel.k

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

    def count(self, columns: Columns) -> Cells:
        """See `Bulk.count`: without signs all as +1."""
        found = self.base.support_counts(self.base.count(columns))
        minus = found[self.keys :] if self.signed else np.zeros(self.keys, np.int64)
        return self.cells(columns, found[: self.keys], minus)

    def most(self, r: int) -> int:
        return self.base.most(2 * r if self.signed else r)

    @property
    def work(self) -> float:
        return self.base.work

    @property
    def channel_error(self) -> Fraction:
        return self.base.channel_error

    def channel(self) -> Channel:
        found = self.base.channel()
        times = self.k // self.base.k
        return replace(found, weights=tuple(row * times for row in found.weights))


def _signed(members: Bytes, keys: IntArray, told: Any, minus: Any, rng: Stream) -> Bytes:
    """Sets of keys with a uniform sign each, but for the own key, whose sign is given; the bits of +1, then of -1."""
    signs = rng.draw(8, members.size).reshape(members.shape)
    loops().put_bits(signs, keys, minus)
    return np.concatenate([members & ~signs, members & signs], axis=1)


def _sides(rows: Bytes, keys: int) -> tuple[Bytes, Bytes]:
    width = bits_width(keys)
    plus, minus = (np.ascontiguousarray(part) for part in (rows[:, :width], rows[:, width:]))
    if (plus & minus).any():
        raise FormatError("a report has both signs for one key.")
    return plus, minus


def _bits(rows: Bytes, k: int, size: int | None = None) -> IntArray:
    """How many rows have each bit; `FormatError` for padding that is not zero and a wrong number of ones."""
    if size is not None and (loops().popcounts(rows) != size).any():
        raise FormatError(f"a report is no subset of {size} out of {k} items.")
    counts: IntArray = loops().count_bits(rows, 8 * rows.shape[1])
    if counts[k:].any():
        raise FormatError(f"a report has ones after its {k} bits.")
    return counts[:k]
