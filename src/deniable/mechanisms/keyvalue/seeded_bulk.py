"""Key-value kernels with a public seed and public signs, for many people: a report is a seed, then a number."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import permutations, product

import numpy as np

from deniable.collect.reports import Field
from deniable.core.channel import Channel
from deniable.core.types import Columns, IntArray, UintArray
from deniable.kernels import loops
from deniable.kernels.hashing import bucket, hash_values
from deniable.kernels.permutation import permute, unpermute
from deniable.kernels.sampling import below
from deniable.mechanisms.bulk import Cells, check_outputs, log2_factorial, refuse_values, two_level
from deniable.mechanisms.frequency.costs import HASH_WORK, ROUND_WORK
from deniable.mechanisms.keyvalue.bulk import KeyBulk, key_cells
from deniable.mechanisms.keyvalue.laws import Signal, signal_of_signed_subset
from deniable.randomness import Stream, bernoulli
from deniable_client.exact import WORD, WORD_BITS
from deniable_client.hashing import rounds
from deniable_client.kernels.keyvalue_seeded import SignedHashing, SignedInterval
from deniable_client.packing import uint_width

__all__ = ["SignedHashingBulk", "SignedIntervalBulk"]


class SignedIntervalBulk(KeyBulk[SignedInterval]):
    """The law of `SignedSubsetBulk` by neighbouring positions under a public permutation, and public signs of keys."""

    @property
    def fields(self) -> tuple[Field, ...]:
        return _fields(self.k)

    @property
    def outputs(self) -> float:
        return 64 + math.log2(self.k)

    @property
    def signal(self) -> Signal:
        return signal_of_signed_subset(self.kernel.ratio, self.keys, self.kernel.size)

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        minus, keys = np.divmod(items, self.keys)
        size, n = self.kernel.size, items.size
        seeds = rng.draw(64, n).astype(np.uint64)
        kept = bernoulli(rng, self.kernel.keep, n)
        near, far = below(rng, size, n), below(rng, self.k - size, n)
        turned = ~kept & (far < self.keys)
        back = np.where(kept, near, np.where(turned, far, far - self.keys + size))
        sign = minus ^ _signs(seeds, keys) ^ turned
        first = (permute(seeds, keys, self.keys) - back) % self.keys
        return {"seed": seeds, "value": first + self.keys * sign}

    def count(self, columns: Columns) -> Cells:
        refuse_values(columns["value"], self.k, "value")
        seeds = columns["seed"].astype(np.uint64, copy=False)
        sign, first = np.divmod(columns["value"].astype(np.int64), self.keys)
        found = np.zeros(self.k, np.int64)
        for step in range(self.kernel.size):
            keys = unpermute(seeds, (first + step) % self.keys, self.keys)
            found += np.bincount(keys + self.keys * (sign ^ _signs(seeds, keys)), minlength=self.k)
        return key_cells(columns, found[: self.keys], found[self.keys :])

    def most(self, r: int) -> int:
        return min(r, self.kernel.size)

    @property
    def work(self) -> float:
        """See `KeyBulk.work`: a permuted place and a hash value for each key in the set."""
        return float(self.kernel.size * (ROUND_WORK * rounds(self.keys) + HASH_WORK))

    def channel(self) -> Channel:
        """See `Bulk.channel`: over all permutations and all signs, each as likely as any other."""
        d, size = self.keys, self.kernel.size
        check_outputs(log2_factorial(d) + d + 1 + math.log2(d), "this signed subset selection")
        rings = product(permutations(range(d)), range(d), product((0, 1), repeat=d), (0, 1))
        labels, held = [], []
        for h, y, signs, sign in rings:
            labels.append(f"signs {signs} positions {h} report {y} sign {sign}")
            held.append(frozenset(k + d * (sign ^ signs[k]) for k in range(d) if (h[k] - y) % d < size))
        return two_level(self.kernel, labels, held, size, 2 * d - size, math.factorial(d) << d)


class SignedHashingBulk(KeyBulk[SignedHashing]):
    """A bucket and a sign under a public hash function, for many people."""

    @property
    def fields(self) -> tuple[Field, ...]:
        return _fields(2 * self.kernel.g)

    @property
    def outputs(self) -> float:
        return 64 + math.log2(2 * self.kernel.g)

    @property
    def signal(self) -> Signal:
        """See `KeyBulk.signal`: for a random function."""
        return Signal.of(*self.kernel.chances, Fraction(1, self.kernel.g))

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        minus, keys = np.divmod(items, self.keys)
        g, seeds = self.kernel.g, rng.draw(64, items.size).astype(np.uint64)
        value = bucket(seeds, keys, 2 * g) ^ minus
        words = rng.draw(64, items.size)
        value ^= words >= np.uint64(self.kernel.own)
        other = below(rng, 2 * g - 2, items.size)
        other = other + 2 * (other >= value - value % 2)
        kept = words < np.uint64(self.kernel.own + self.kernel.flip)
        return {"seed": seeds, "value": np.where(kept, value, other)}

    def count(self, columns: Columns) -> Cells:
        """See `KeyBulk`: the keys with the reported value, and those with its neighbour of the other sign."""
        refuse_values(columns["value"], 2 * self.kernel.g, "value")
        seeds, values = columns["seed"].astype(np.uint64, copy=False), columns["value"].astype(np.uint32)
        plus, minus = (loops().count_hashed(seeds, v, self.keys, 2 * self.kernel.g) for v in (values, values ^ 1))
        return key_cells(columns, plus, minus)

    def most(self, r: int) -> int:
        """See `KeyBulk.most`: seeds can be searched."""
        return r

    @property
    def work(self) -> float:
        """See `KeyBulk.work`: two hash values for each key."""
        return float(2 * HASH_WORK * self.keys)

    def channel(self) -> Channel:
        """See `Bulk.channel`: over all functions to 2g values, each as likely as any other."""
        values, d = 2 * self.kernel.g, self.keys
        check_outputs((d + 1) * math.log2(values), "this hashing")
        own, flip = self.kernel.own * (values - 2), self.kernel.flip * (values - 2)
        rest = WORD - self.kernel.own - self.kernel.flip
        every = [(h, y) for h in product(range(values), repeat=d) for y in range(values)]

        def weight(h: tuple[int, ...], y: int, x: int) -> int:
            minus, key = divmod(x, d)
            value = h[key] ^ minus
            return own if y == value else flip if y == value ^ 1 else rest

        weights = tuple(tuple(weight(h, y, x) for x in range(self.k)) for h, y in every)
        supported = tuple(frozenset(i + d * (v != y) for i, v in enumerate(h) if v // 2 == y // 2) for h, y in every)
        names = tuple(f"hash {h} report {y}" for h, y in every)
        return Channel(names, weights, (values - 2) * values**d << WORD_BITS, supported)

    @property
    def channel_error(self) -> Fraction:
        """See `Bulk.channel_error`: shares of values differ by 2^-32, so sum_y s_y^2 is up to 2g/2^66 above 1/(2g)."""
        return Fraction(2 * self.kernel.g, 1 << 66)


def _fields(numbers: int) -> tuple[Field, ...]:
    return Field("seed", "uint", 8), Field("value", "uint", uint_width(numbers))


def _signs(seeds: UintArray, keys: IntArray) -> IntArray:
    """The public signs of keys, 0 or 1, each under its own seed."""
    return (hash_values(seeds, keys) >> np.uint64(31)).astype(np.int64)
