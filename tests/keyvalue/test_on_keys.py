"""Plain bases on signed keys and on keys: bytes, counts, signals and unbiased estimates, for a stranger's base too."""

from __future__ import annotations

import hashlib
import math
from dataclasses import astuple, dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pytest

import deniable as dn
from deniable.collect.reports import Field
from deniable.core.channel import Channel
from deniable.core.support import Support
from deniable.core.types import Bytes, Columns, IntArray
from deniable.errors import FormatError, ParameterError
from deniable.kernels.sampling import respond
from deniable.mechanisms.bulk import Cells, SupportBulk, one_stratum, refuse_values
from deniable.mechanisms.frequency.geometry import HadamardBulk
from deniable.mechanisms.frequency.grr import ResponseBulk
from deniable.mechanisms.frequency.local_hashing import BalancedBulk, HashingBulk
from deniable.mechanisms.frequency.subset import IntervalBulk, SubsetBulk
from deniable.mechanisms.frequency.unary import UnaryBulk
from deniable.mechanisms.keyvalue.bulk import KeyBulk, OneKeyBulk, OnKeys, PairsBulk, SignedSubsetBulk, SignedUnaryBulk
from deniable.mechanisms.keyvalue.laws import SHAPES, Signal
from deniable.mechanisms.keyvalue.seeded_bulk import SignedHashingBulk, SignedIntervalBulk
from deniable.randomness import Stream
from deniable_client.exact import keep_threshold, two_level_ratio
from deniable_client.kernels import (
    Balanced,
    Hadamard,
    Hashing,
    Interval,
    OneKey,
    Response,
    SignedHashing,
    SignedInterval,
    SignedSubset,
    SignedUnary,
    Subset,
    ToldKey,
    Unary,
)
from deniable_client.packing import pack_int, uint_width
from deniable_client.words import Words, below, happens
from tiers import every

HALF = 1 << 63


# ---- a stranger's base


@dataclass(frozen=True)
class NotMine:
    """A negative survey: an answer that is rather not the own one [Esponda06]."""

    k: int
    keep: int
    """Chance of the own answer all the same, in 2**-64."""
    kind: ClassVar[str] = "not-mine"

    @property
    def ratio(self) -> Fraction:
        return two_level_ratio(self.keep, 1, self.k - 1)

    @property
    def width(self) -> int:
        return uint_width(self.k)

    def randomise(self, x: int, words: Words) -> bytes:
        other = below(self.k - 1, words)
        return pack_int(x if happens(self.keep, words) else other + (other >= x), self.width)


class Tolerant(NotMine):
    """The same, and it says what padding does to it: the rest of the answers may hold all pairs of a person."""

    def padded(self, keys: int, length: int) -> Fraction:
        return self.ratio


class NotMineBulk(SupportBulk[NotMine]):
    """A report supports all answers but one."""

    @property
    def fields(self) -> tuple[Field, ...]:
        return (Field("value", "uint", self.kernel.width),)

    @property
    def outputs(self) -> float:
        return math.log2(self.k)

    @property
    def support(self) -> Support[Fraction]:
        own = Fraction(self.kernel.keep, 1 << 64)
        other = (1 - own) / (self.k - 1)
        return Support(1 - own, 1 - other, other - own, own, other, 1 - own - other, 1 - 2 * other)

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        return {"value": respond(rng, items, self.k, self.kernel.keep, self.fields[0].dtype)}

    def count(self, columns: Columns) -> Cells:
        refuse_values(columns["value"], self.k, "value")
        named = np.bincount(columns["value"], minlength=self.k)
        return one_stratum(columns, len(columns["value"]) - named)

    def supported(self, columns: Columns) -> Bytes:
        return np.packbits(columns["value"][:, None] != np.arange(self.k), axis=1, bitorder="little")

    def channel(self) -> Channel:
        keep, k = self.kernel.keep, self.k
        weights = tuple(tuple(keep * (k - 1) if x == y else 2**64 - keep for x in range(k)) for y in range(k))
        held = tuple(frozenset(range(k)) - {y} for y in range(k))
        return Channel(tuple(f"not {y}" for y in range(k)), weights, (k - 1) << 64, held)


def not_mine(k: int, cls: type[NotMine] = NotMine) -> NotMineBulk:
    return NotMineBulk(cls(k, (1 << 64) - keep_threshold(1.0, k - 1, 1)))


# ---- all of them


SIGNED: dict[str, OnKeys] = {
    "response": OnKeys.of(ResponseBulk(Response.calibrate(1.0, 6))),
    "subset": OnKeys.of(SubsetBulk(Subset.calibrate(1.0, 6, 2))),
    "subset of two keys": OnKeys.of(SubsetBulk(Subset.calibrate(2.0, 4, 3))),
    "interval": OnKeys.of(IntervalBulk(Interval.calibrate(1.0, 6, 2))),
    "hashing": OnKeys.of(HashingBulk(Hashing.calibrate(1.0, 4, 3))),
    "balanced": OnKeys.of(BalancedBulk(Balanced.calibrate(1.0, 6, 4))),
    "unary": OnKeys.of(UnaryBulk(Unary.calibrate(1.0, 6, HALF))),
    "stranger": OnKeys.of(not_mine(6)),
}
BLIND: dict[str, OnKeys] = {
    "subset": OnKeys.of(SubsetBulk(Subset.calibrate(1.0, 5, 2)), signed=False),
    "interval": OnKeys.of(IntervalBulk(Interval.calibrate(1.0, 5, 2)), signed=False),
    "unary": OnKeys.of(UnaryBulk(Unary.calibrate(1.0, 5, HALF)), signed=False),
    "two keys": OnKeys.of(SubsetBulk(Subset.calibrate(1.0, 2, 1)), signed=False),
    "stranger": OnKeys.of(not_mine(5), signed=False),
}
OWN: dict[str, KeyBulk[Any]] = {
    "signed unary": SignedUnaryBulk(SignedUnary.calibrate(1.0, 3, SHAPES["ks-ue"])),
    "signed subset": SignedSubsetBulk(SignedSubset(4, 2, HALF)),
    "signed interval": SignedIntervalBulk(SignedInterval(3, 2, HALF)),
    "signed hashing": SignedHashingBulk(SignedHashing.calibrate(1.0, 2, 2, Fraction(3, 2))),
}
EVERY = {f"{kind}: {name}": bulk for kind, found in (("signed", SIGNED), ("blind", BLIND), ("own", OWN))
         for name, bulk in found.items()}  # fmt: skip


def moments(bulk: KeyBulk[Any]) -> Signal:
    """The signal by going through every report, for key 0 at +1 against key 1 and what is left."""
    channel, d = bulk.channel(), bulk.keys
    held = channel.supported or ()
    plus, minus = ([[int(key + side in s) for key in range(d)] for s in held] for side in (0, d))

    def mean(x: int, what: Any) -> Fraction:
        total = sum(row[x] * what(p, m) for row, p, m in zip(channel.weights, plus, minus, strict=True))
        return Fraction(total, channel.total)

    def both(x: int, i: int, j: int) -> Fraction:
        return mean(x, lambda p, m: (p[i] + m[i]) * (p[j] + m[j]))

    values: list[Fraction] = []
    for x in (0, 1):
        values += [mean(x, lambda p, m: p[0] + m[0]), mean(x, lambda p, m: (p[0] + m[0]) ** 2)]
        values += [mean(x, lambda p, m: (p[0] - m[0]) ** 2), mean(x, lambda p, m: p[0] - m[0])]
    own, own2, noise, gain, idle, idle2, idle_noise, lean = values
    if not bulk.signal.gain:
        gain, lean = gain - own, lean - idle  # all reports count as +1 there
    assert lean == 0, "signs of a key that is not held are not even"
    pair_idle = both(2, 0, 1) if d > 2 else bulk.signal.pair_idle
    return Signal(own, own2, noise, gain, idle, idle2, idle_noise, both(0, 0, 1), pair_idle)


@pytest.mark.parametrize("name", EVERY)
def test_signals_are_those_of_the_enumerated_channel(name: str) -> None:
    bulk = EVERY[name]
    for told, found in zip(astuple(bulk.signal), astuple(moments(bulk)), strict=True):
        assert abs(told - found) <= 4 * bulk.channel_error
    assert bulk.channel().proof().ratio == bulk.kernel.ratio
    assert bulk.channel_error == 0 or "hashing" in name


@pytest.mark.parametrize("name", every(3, EVERY))
def test_estimates_are_unbiased_for_every_signed_key(name: str) -> None:
    """(Y - idle)/step and X/gain of one report, averaged over the channel: whether the key is held, and with what."""
    bulk = EVERY[name]
    channel, s, d = bulk.channel(), bulk.signal, bulk.keys
    slack = 16 * bulk.channel_error
    for x in range(2 * d):
        for key in range(d):
            f = total = Fraction(0)
            for row, held in zip(channel.weights, channel.supported or (), strict=True):
                plus, minus = int(key in held), int(key + d in held)
                f += row[x] * (plus + minus - s.idle) / s.step
                total += row[x] * (plus - minus) / s.gain if s.gain else 0
            assert abs(f / channel.total - (x % d == key)) <= slack
            assert not s.gain or abs(total / channel.total - (x == key) + (x == key + d)) <= slack


@pytest.mark.parametrize("name", EVERY)
def test_counts_are_those_of_what_reports_support(name: str) -> None:
    bulk = EVERY[name]
    columns = bulk.perturb(np.arange(600) % bulk.k, dn.simulation(3))
    cells = bulk.count(columns)
    assert cells["n"].tolist() == [600]
    if isinstance(bulk, OnKeys):
        held = np.unpackbits(bulk.base.supported(columns), axis=1, count=bulk.base.k, bitorder="little").sum(axis=0)
        assert cells["plus"][0].tolist() == held[: bulk.keys].tolist()
        assert cells["minus"][0].tolist() == (held[bulk.keys :].tolist() if bulk.signed else [0] * bulk.keys)
    most = (cells["plus"] + cells["minus"]).sum() / 600
    assert most <= bulk.most(bulk.keys)


GOLDEN = {
    "signed: response": "cd7eb960d26db8e1",
    "signed: subset": "1b420e0125a8257f",
    "signed: interval": "55861de164888550",
    "signed: hashing": "1965f79eae120ea0",
    "blind: subset": "4eafc98eaf562244",
    "blind: interval": "c5a72afb7ace42df",
    "blind: unary": "d2a90a73f8491a01",
    "own: signed unary": "764e9f6b7f57cf23",
    "own: signed subset": "1f89409982e84d8b",
    "own: signed interval": "38c750a820566539",
    "own: signed hashing": "f15d9a71e07a28e7",
}
"""Beginning of the SHA-256 of the reports of 1000 people, as classes written out for each base once gave them."""


@pytest.mark.parametrize("name", GOLDEN)
def test_seeded_reports_stay_the_same(name: str) -> None:
    bulk = EVERY[name]
    rows = PairsBulk.of([bulk], bulk.keys, 0).perturb(np.arange(1000) % bulk.k, dn.simulation(7))["report"]
    assert hashlib.sha256(rows.tobytes()).hexdigest()[:16] == GOLDEN[name]


# ---- through pairs


def test_a_strangers_base_takes_pairs() -> None:
    """Alone, with dummies, and beside a group of keys only: fields, counts without dummies, channel."""
    alone = PairsBulk.of([SIGNED["stranger"]], 3, 0)
    assert (alone.inputs, alone.strata, alone.row_bytes) == (6, ("all",), 1)
    assert alone.channel().proof().ratio == alone.kernel.ratio == not_mine(6).kernel.ratio
    with pytest.raises(ParameterError, match="one that padding is worked out for"):
        _ = PairsBulk.of([SIGNED["stranger"]], 2, 1).kernel.ratio
    padded = PairsBulk.of([OnKeys.of(not_mine(6, Tolerant))], 2, 1)
    assert (padded.inputs, padded.k) == (9, 6)
    assert padded.channel().proof().ratio == padded.kernel.ratio
    two = PairsBulk.of([BLIND["stranger"], OnKeys.of(not_mine(10))], 5, 0, 1 << 62)
    columns = two.perturb(np.arange(4000) % 10, dn.simulation(1))
    cells = two.count(columns)
    assert two.strata == ("keys", "signed")
    assert cells["n"].sum() == 4000
    assert 900 < cells["n"][1] < 1100
    assert (cells["minus"][0] == 0).all()
    assert two.channel().proof().ratio == max(group.kernel.ratio for group in two.groups)
    columns["group"][0] = 2
    with pytest.raises(FormatError, match="group"):
        two.count(columns)


def test_guesses_change_signs_only() -> None:
    even, told = OneKeyBulk(OneKey(3, 3 << 62, 1 << 62)), OneKeyBulk(ToldKey(3, 3 << 62, 1 << 62, (1 << 31,) * 3))
    assert even.channel() == told.channel()
    assert even.kernel.ratio == told.kernel.ratio == even.channel().proof().ratio
    assert even.signal == told.signal
    far = OneKeyBulk(ToldKey(3, 3 << 62, 1 << 62, (0, 1 << 30, 1 << 32)))
    assert far.kernel.ratio == far.channel().proof().ratio > even.kernel.ratio
    assert far.signal == even.signal


def test_bases_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ParameterError, match="base must be one that treats all pairs of answers alike"):
        OnKeys.of(HadamardBulk(Hadamard.calibrate(1.0, 6)))
    with pytest.raises(ParameterError, match="base must be one with two for each key"):
        OnKeys.of(ResponseBulk(Response.calibrate(1.0, 5)))
