"""The keyed permutation of `deniable_client.hashing`, for arrays."""

from __future__ import annotations

import numpy as np

from deniable.core.types import Bytes, IntArray, Words
from deniable.kernels import loops
from deniable_client.packing import bits_width

__all__ = ["permute", "permute_all", "place_rows", "unpermute"]


def permute(seeds: Words, items: IntArray, k: int) -> IntArray:
    """Positions of items, each under its own seed."""
    positions: IntArray = loops().walk(np.asarray(seeds, np.uint64), np.asarray(items), k, 1)
    return positions


def permute_all(seeds: Words, count: int, k: int) -> IntArray:
    """Positions of the first `count` items, a row for each seed."""
    positions: IntArray = loops().walk_all(np.asarray(seeds, np.uint64), count, k)
    return positions


def unpermute(seeds: Words, positions: IntArray, k: int) -> IntArray:
    """Items at positions, each under its own seed."""
    items: IntArray = loops().walk(np.asarray(seeds, np.uint64), np.asarray(positions), k, -1)
    return items


def place_rows(seeds: Words, first: IntArray, length: IntArray, k: int) -> Bytes:
    """Packed bits, one row per report: the items at `length` positions from `first` on (a ring of k)."""
    out = np.zeros((len(seeds), bits_width(k)), np.uint8)
    for step in range(int(length.max(initial=0))):
        reports = np.flatnonzero(length > step)
        items = unpermute(seeds[reports], (first[reports] + step) % k, k)
        out[reports, items >> 3] |= np.left_shift(np.uint8(1), (items & 7).astype(np.uint8))
    return out
