"""The keyed permutation of `deniable_client.permutation` for arrays, and counts of the items at given positions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deniable.core.types import IntArray
from deniable.kernels.hashing import mix32, split64
from deniable_client.permutation import rounds, shape

__all__ = ["count_places", "walk"]

Words = NDArray[np.uint64]


def walk(seeds: Words, y: IntArray, k: int, sign: int) -> IntArray:
    """Positions of items y (`sign` 1), or items at positions y (`sign` -1), each under its own seed."""
    a, b = shape(k)
    keys = [split64(seeds, r + 3) >> np.uint64(32) for r in range(rounds(k))]
    out = _once(y.astype(np.uint64), keys, a, b, sign)
    pending = np.flatnonzero(out >= np.uint64(k))
    while pending.size:
        out[pending] = _once(out[pending], [key[pending] for key in keys], a, b, sign)
        pending = pending[out[pending] >= np.uint64(k)]
    return out.astype(np.int64)


def _once(y: Words, keys: list[Words], a: int, b: int, sign: int) -> Words:
    left, right = np.divmod(y, np.uint64(b))
    for r in range(len(keys))[::sign]:
        if r % 2 == 0:
            left = _add(left, right, keys[r], a, sign)
        else:
            right = _add(right, left, keys[r], b, sign)
    return left * np.uint64(b) + right


def _add(value: Words, other: Words, key: Words, side: int, sign: int) -> Words:
    step = (mix32(other ^ key) * np.uint64(side)) >> np.uint64(32)
    total = value + (step if sign > 0 else np.uint64(side) - step)
    return np.where(total >= np.uint64(side), total - np.uint64(side), total)


def count_places(seeds: Words, first: IntArray, length: IntArray, k: int) -> IntArray:
    """For each of the k items, how many reports have it at one of `length` positions from `first` on (a ring of k)."""
    total = np.zeros(k, np.int64)
    for step in range(int(length.max(initial=0))):
        reports = np.flatnonzero(length > step)
        items = walk(seeds[reports], (first[reports] + step) % k, k, -1)
        total += np.bincount(items, minlength=k)
    return total
