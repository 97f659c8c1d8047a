"""Key-value kernels with something public in them, in bulk: seeds in reports, or guesses in the question.

A report with a seed is 8 bytes of seed, then a number (`deniable_client.kernels.keyvalue_seeded`).
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import permutations, product

import numpy as np

from deniable.core.channel import Channel
from deniable.core.types import Bytes, IntArray, UintArray
from deniable.errors import FormatError
from deniable.kernels import loops
from deniable.kernels.hashing import bucket, hash_values
from deniable.kernels.permutation import permute, unpermute
from deniable.kernels.sampling import below, respond
from deniable.mechanisms.bulk import check_outputs
from deniable.mechanisms.keyvalue.bulk import KeySets, Law, OneKeyLaw, Sets, SignedSets
from deniable.mechanisms.keyvalue.laws import Signal, signal_of_hashed
from deniable.randomness import Stream, bernoulli
from deniable_client.exact import WORD_BITS
from deniable_client.kernels import Hashing
from deniable_client.kernels.keyvalue_seeded import SignedHashing, SignedInterval, ToldKey
from deniable_client.kernels.seeded import Interval
from deniable_client.packing import uint_width
from deniable_client.permutation import rounds

__all__ = ["CyclicKeySets", "CyclicSets", "CyclicSignedSets", "HashedKeys", "HashedSigns", "ToldKeyLaw"]

_WORD = 1 << WORD_BITS
_SEED, _ROUND, _HASH = 8, 10, 4
"""Bytes of a seed; operations of a round of the permutation and of a hash value."""


def _draw_interval(rng: Stream, items: IntArray, k: int, kernel: Interval) -> Bytes:
    """Rows of a seed and the first of `size` neighbouring positions under its permutation of 0..k-1."""
    seeds = rng.draw(64, items.size).astype(np.uint64)
    kept = bernoulli(rng, kernel.keep, items.size)
    near, far = below(rng, kernel.size, items.size), below(rng, k - kernel.size, items.size)
    return _pack(seeds, (permute(seeds, items, k) - np.where(kept, near, kernel.size + far)) % k, k)


def _count_interval(rows: Bytes, k: int, size: int) -> IntArray:
    seeds, first = _unpack(rows, k)
    counts: IntArray = loops().count_places(seeds, first, np.full(first.size, size), k)
    return counts


def _pack(seeds: UintArray, numbers: IntArray, count: int) -> Bytes:
    """Rows of a seed and a number below `count`."""
    width = uint_width(count)
    tail = numbers.astype(f"<u{width}").view(np.uint8).reshape(seeds.size, width)
    return np.concatenate([seeds.astype("<u8").view(np.uint8).reshape(seeds.size, _SEED), tail], axis=1)


def _unpack(rows: Bytes, count: int) -> tuple[UintArray, IntArray]:
    """The inverse of `_pack`; `FormatError` for numbers that are too large."""
    seeds = np.ascontiguousarray(rows[:, :_SEED]).view("<u8").reshape(len(rows)).astype(np.uint64)
    tail = np.ascontiguousarray(rows[:, _SEED:])
    numbers = tail.view(f"<u{tail.shape[1]}").reshape(len(rows)).astype(np.int64)
    if numbers.size and int(numbers.max()) >= count:
        raise FormatError(f"a report has the number {int(numbers.max())}, the largest is {count - 1}.")
    return seeds, numbers


def _rings(k: int, size: int, name: str) -> list[tuple[str, frozenset[int]]]:
    """All permutations of 0..k-1 and all first positions, with what lies at the `size` positions from there on."""
    check_outputs(math.factorial(k) * k if k < 20 else 1 << 64, name)
    return [
        (f"positions {h} report {y}", frozenset(x for x in range(k) if (h[x] - y) % k < size))
        for h in permutations(range(k))
        for y in range(k)
    ]


class CyclicSets(Sets):
    """The law of `Sets` by neighbouring positions under a public permutation of the signed keys."""

    kernel: Interval

    def rows(self, items: IntArray, rng: Stream) -> Bytes:
        """See `Law.rows`."""
        return _draw_interval(rng, items, 2 * self.keys, self.kernel)

    def counts(self, rows: Bytes) -> tuple[IntArray, IntArray]:
        """See `Law.counts`."""
        found = _count_interval(rows, 2 * self.keys, self.kernel.size)
        return found[: self.keys], found[self.keys :]

    @property
    def outputs(self) -> float:
        """See `Law.outputs`."""
        return 64 + math.log2(2 * self.keys)

    @property
    def work(self) -> float:
        """See `Law.work`: a permuted place for each signed key in the set."""
        return float(self.kernel.size * _ROUND * rounds(2 * self.keys))

    def channel(self) -> Channel:
        """See `Law.channel`: over all permutations, each as likely as any other."""
        names, sets = zip(*_rings(2 * self.keys, self.kernel.size, "this subset selection"), strict=True)
        return self._two_level(sets, names)


class CyclicKeySets(KeySets):
    """The law of `KeySets` by neighbouring positions under a public permutation of the keys."""

    @property
    def _interval(self) -> Interval:
        assert isinstance(self.kernel.base, Interval)
        return self.kernel.base

    def rows(self, items: IntArray, rng: Stream) -> Bytes:
        """See `Law.rows`."""
        return _draw_interval(rng, items % self.keys, self.keys, self._interval)

    def counts(self, rows: Bytes) -> tuple[IntArray, IntArray]:
        """See `Law.counts`: all as +1."""
        return _count_interval(rows, self.keys, self._interval.size), np.zeros(self.keys, np.int64)

    @property
    def outputs(self) -> float:
        """See `Law.outputs`."""
        return 64 + math.log2(self.keys)

    @property
    def work(self) -> float:
        """See `Law.work`: a permuted place for each key in the set."""
        return float(self._interval.size * _ROUND * rounds(self.keys))

    def channel(self) -> Channel:
        """See `Law.channel`: over all permutations, each as likely as any other."""
        names, sets = zip(*_rings(self.keys, self._interval.size, "this subset selection"), strict=True)
        return self._two_level([s | {k + self.keys for k in s} for s in sets], names)


class CyclicSignedSets(SignedSets):
    """The law of `SignedSets` by neighbouring positions under a public permutation, and public signs of the keys."""

    kernel: SignedInterval

    def rows(self, items: IntArray, rng: Stream) -> Bytes:
        """See `Law.rows`."""
        minus, keys = np.divmod(items, self.keys)
        size, n = self.kernel.size, items.size
        seeds = rng.draw(64, n).astype(np.uint64)
        kept = bernoulli(rng, self.kernel.keep, n)
        near, far = below(rng, size, n), below(rng, 2 * self.keys - size, n)
        turned = ~kept & (far < self.keys)
        back = np.where(kept, near, np.where(turned, far, far - self.keys + size))
        sign = minus ^ _signs(seeds, keys) ^ turned
        first = (permute(seeds, keys, self.keys) - back) % self.keys
        return _pack(seeds, first + self.keys * sign, 2 * self.keys)

    def counts(self, rows: Bytes) -> tuple[IntArray, IntArray]:
        """See `Law.counts`."""
        seeds, numbers = _unpack(rows, 2 * self.keys)
        sign, first = np.divmod(numbers, self.keys)
        found = np.zeros(2 * self.keys, np.int64)
        for step in range(self.kernel.size):
            keys = unpermute(seeds, (first + step) % self.keys, self.keys)
            found += np.bincount(keys + self.keys * (sign ^ _signs(seeds, keys)), minlength=2 * self.keys)
        return found[: self.keys], found[self.keys :]

    @property
    def outputs(self) -> float:
        """See `Law.outputs`."""
        return 64 + math.log2(2 * self.keys)

    @property
    def work(self) -> float:
        """See `Law.work`: a permuted place and a hash value for each key in the set."""
        return float(self.kernel.size * (_ROUND * rounds(self.keys) + _HASH))

    def channel(self) -> Channel:
        """See `Law.channel`: over all permutations and all signs, each as likely as any other."""
        d = self.keys
        check_outputs(math.factorial(d) * 2 * d << d if d < 20 else 1 << 64, "this signed subset selection")
        names, sets = [], []
        for name, members in _rings(d, self.kernel.size, "this signed subset selection"):
            for signs in product((0, 1), repeat=d):
                for sign in (0, 1):
                    names.append(f"signs {signs} {name} sign {sign}")
                    sets.append(frozenset(k + d * (sign ^ signs[k]) for k in members))
        return self._two_level(sets, names)


def _signs(seeds: UintArray, keys: IntArray) -> IntArray:
    """The public signs of keys, 0 or 1, each under its own seed."""
    return (hash_values(seeds, keys) >> np.uint64(31)).astype(np.int64)


class HashedSigns(Law):
    """A bucket and a sign under a public hash function."""

    kernel: SignedHashing

    def rows(self, items: IntArray, rng: Stream) -> Bytes:
        """See `Law.rows`."""
        minus, keys = np.divmod(items, self.keys)
        g, seeds = self.kernel.g, rng.draw(64, items.size).astype(np.uint64)
        value = bucket(seeds, keys, 2 * g) ^ minus
        words = rng.draw(64, items.size)
        value ^= words >= np.uint64(self.kernel.own)
        other = below(rng, 2 * g - 2, items.size)
        other = other + 2 * (other >= value - value % 2)
        return _pack(seeds, np.where(words >= np.uint64(self.kernel.own + self.kernel.flip), other, value), 2 * g)

    def counts(self, rows: Bytes) -> tuple[IntArray, IntArray]:
        """See `Law.counts`: the keys with the reported value, and those with its neighbour of the other sign."""
        seeds, numbers = _unpack(rows, 2 * self.kernel.g)
        values = numbers.astype(np.uint32)
        plus, minus = (loops().count_hashed(seeds, v, self.keys, 2 * self.kernel.g) for v in (values, values ^ 1))
        return plus, minus

    @property
    def signal(self) -> Signal:
        """See `Law.signal`: for a random function."""
        return Signal.of(*self.kernel.chances, Fraction(1, self.kernel.g))

    @property
    def error(self) -> Fraction:
        """See `Law.error`: values of 2g differ by one in 2^32, so sum_y s_y^2 is up to 2g/2^66 above 1/(2g)."""
        return Fraction(2 * self.kernel.g, 1 << 66)

    def most(self, r: int) -> int:
        """See `Law.most`: seeds can be searched."""
        return r

    @property
    def work(self) -> float:
        """See `Law.work`: two hash values for each key."""
        return float(2 * _HASH * self.keys)

    @property
    def outputs(self) -> float:
        """See `Law.outputs`."""
        return 64 + math.log2(2 * self.kernel.g)

    def channel(self) -> Channel:
        """See `Law.channel`: over all functions to 2g values, each as likely as any other."""
        values = 2 * self.kernel.g
        check_outputs(values ** (self.keys + 1) if self.keys < 64 else 1 << 64, "this hashing")
        own, flip = self.kernel.own * (values - 2), self.kernel.flip * (values - 2)
        rest = _WORD - self.kernel.own - self.kernel.flip

        def weight(h: tuple[int, ...], y: int, x: int) -> int:
            minus, key = divmod(x, self.keys)
            value = h[key] ^ minus
            return own if y == value else flip if y == value ^ 1 else rest

        every = [(h, y) for h in product(range(values), repeat=self.keys) for y in range(values)]
        weights = tuple(tuple(weight(h, y, x) for x in range(2 * self.keys)) for h, y in every)
        names = tuple(f"hash {h} report {y}" for h, y in every)
        return Channel(names, weights, (values - 2) * values**self.keys << WORD_BITS)


class HashedKeys(Law):
    """A hash value: every signed key has one of its own, so that a report may speak for both signs of a key."""

    kernel: Hashing

    def rows(self, items: IntArray, rng: Stream) -> Bytes:
        """See `Law.rows`."""
        g, seeds = self.kernel.g, rng.draw(64, items.size).astype(np.uint64)
        own = loops().buckets(seeds, items, g)
        return _pack(seeds, respond(rng, own, g, self.kernel.keep, np.dtype(f"<u{uint_width(g)}")), g)

    def counts(self, rows: Bytes) -> tuple[IntArray, IntArray]:
        """See `Law.counts`: the signed keys with the reported value."""
        seeds, numbers = _unpack(rows, self.kernel.g)
        found = loops().count_hashed(seeds, numbers.astype(np.uint32), 2 * self.keys, self.kernel.g)
        return found[: self.keys], found[self.keys :]

    @property
    def signal(self) -> Signal:
        """See `Law.signal`: for a random function."""
        return signal_of_hashed(Fraction(self.kernel.keep, _WORD), self.kernel.g)

    @property
    def error(self) -> Fraction:
        """See `Law.error`: values differ by one in 2^32, so sum_y s_y^2 is up to g/2^66 above 1/g."""
        return Fraction(self.kernel.g, 1 << 66)

    def most(self, r: int) -> int:
        """See `Law.most`: seeds can be searched."""
        return 2 * r

    @property
    def work(self) -> float:
        """See `Law.work`: a hash value for each signed key."""
        return float(2 * _HASH * self.keys)

    @property
    def outputs(self) -> float:
        """See `Law.outputs`."""
        return 64 + math.log2(self.kernel.g)

    def channel(self) -> Channel:
        """See `Law.channel`: over all functions of signed keys, each as likely as any other."""
        g, items = self.kernel.g, 2 * self.keys
        check_outputs(g ** (items + 1) if items < 64 else 1 << 64, "this hashing")
        own, other = self.kernel.keep * (g - 1), _WORD - self.kernel.keep
        every = [(h, y) for h in product(range(g), repeat=items) for y in range(g)]
        weights = tuple(tuple(own if h[x] == y else other for x in range(items)) for h, y in every)
        names = tuple(f"values {h} report {y}" for h, y in every)
        return Channel(names, weights, (g - 1) * g**items << WORD_BITS)


class ToldKeyLaw(OneKeyLaw):
    """One key that was drawn blindly; people without it answer by a public guess of its value."""

    kernel: ToldKey  # type: ignore[assignment]

    def rows(self, items: IntArray, rng: Stream) -> Bytes:
        """See `Law.rows`."""
        minus, keys = np.divmod(items, self.keys)
        asked = below(rng, self.keys, items.size)
        held = asked == keys
        said = bernoulli(rng, self.kernel.keep, items.size) == held
        guess = rng.draw(32, items.size).astype(np.int64) >= np.array(self.kernel.told)[asked]
        sign = np.where(held, minus, guess) ^ bernoulli(rng, self.kernel.flip, items.size)
        width = uint_width(3 * self.keys)
        numbers = 3 * asked + np.where(said, 1 + sign, 0)
        return numbers.astype(f"<u{width}").view(np.uint8).reshape(items.size, width)

    @property
    def signal(self) -> Signal:
        """See `Law.signal`: what does not depend on the guesses; means need them too."""
        (_, s, r), _, (_, plus, minus) = self.kernel.chances(1 << 31)
        return Signal.of(s, r, plus + minus, Fraction(1, self.keys))

    def channel(self) -> Channel:
        """See `Law.channel`."""
        check_outputs(3 * self.keys, "this question", 2 * self.keys)
        names, weights = [], []
        for key, told in enumerate(self.kernel.told):
            plus, minus, none = self.kernel.chances(told)
            for said in range(3):
                law = (plus if x == key else minus if x == key + self.keys else none for x in range(2 * self.keys))
                weights.append(tuple(int(one[said] * (_WORD**2 << 32)) for one in law))
                names.append(f"key {key}: {'0+-'[said]}")
        return Channel(tuple(names), tuple(weights), self.keys * _WORD**2 << 32)
