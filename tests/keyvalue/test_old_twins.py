"""Plain bases on signed keys against the classes that were written out: bytes, channel, signal."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.errors import EnumerationError
from deniable.mechanisms.frequency.grr import ResponseBulk
from deniable.mechanisms.frequency.interval import IntervalBulk
from deniable.mechanisms.frequency.local_hashing import HashingBulk
from deniable.mechanisms.frequency.subset import SubsetBulk
from deniable.mechanisms.frequency.unary import UnaryBulk
from deniable.mechanisms.keyvalue.bulk import KeyBits, KeySets, OnKeys, Responses, Sets
from deniable.mechanisms.keyvalue.seeded_bulk import CyclicKeySets, CyclicSets, HashedKeys
from deniable_client.kernels import Hashing, Interval, KeysOnly, Response, Subset, Unary

CASES: list[Any] = []
for e in (0.5, 1.0, 3.0):
    for keys in (2, 3, 5, 40, 300):
        CASES.append((Responses, ResponseBulk(Response.calibrate(e, 2 * keys)), True))
        CASES.append((HashedKeys, HashingBulk(Hashing.calibrate(e, 2 * keys, 4)), True))
        CASES.append((HashedKeys, HashingBulk(Hashing.calibrate(e, 2 * keys, 5)), True))
        CASES.append((KeyBits, UnaryBulk(Unary.calibrate(e, keys, 1 << 63)), False))
        for size in {1, 2, keys - 1, keys}:
            CASES.append((Sets, SubsetBulk(Subset.calibrate(e, 2 * keys, size)), True))
            CASES.append((CyclicSets, IntervalBulk(Interval.calibrate(e, 2 * keys, size)), True))
            if size < keys:
                CASES.append((KeySets, SubsetBulk(Subset.calibrate(e, keys, size)), False))
                CASES.append((CyclicKeySets, IntervalBulk(Interval.calibrate(e, keys, size)), False))


@pytest.mark.parametrize(("cls", "base", "signed"), CASES)
def test_same(cls: Any, base: Any, signed: bool) -> None:
    new = OnKeys.of(base, signed=signed)
    old = cls(base.kernel if signed else KeysOnly(base.kernel), new.keys)
    assert (new.kernel, new.k, new.row_bytes) == (old.kernel, 2 * old.keys, old.kernel.width)
    items = np.arange(3000) % new.k
    columns, rows = new.perturb(items, dn.simulation(5)), old.rows(items, dn.simulation(5))
    parts = [np.ascontiguousarray(columns[f.name]).view(np.uint8).reshape(-1, f.width) for f in new.fields]
    assert np.concatenate(parts, axis=1).tobytes() == rows.tobytes()
    cells, (plus, minus) = new.count(columns), old.counts(rows)
    assert cells["n"].tolist() == [3000]
    assert (cells["plus"] == plus).all()
    assert (cells["minus"] == minus).all()
    assert (new.most(1), new.most(2), new.most(30), new.work) == (old.most(1), old.most(2), old.most(30), old.work)
    assert new.outputs == old.outputs
    assert new.channel_error == old.error
    if cls is HashedKeys:
        for name in new.signal.__slots__:
            assert abs(getattr(new.signal, name) - getattr(old.signal, name)) <= 4 * old.error
        if base.kernel.g == 4:
            assert new.signal == old.signal
    else:
        assert new.signal == old.signal
    try:
        one, two = new.channel(), old.channel()
    except EnumerationError:
        return
    assert [[Fraction(w, one.total) for w in row] for row in one.weights] == [
        [Fraction(w, two.total) for w in row] for row in two.weights
    ]
