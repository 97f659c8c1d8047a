"""Packed bits of many rows: lowest bit first, padding zero, as `deniable_client.packing` has them for one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deniable.core.types import IntArray

__all__ = ["clear_padding", "get_bits", "pack_one"]

Bytes = NDArray[np.uint8]


def get_bits(rows: Bytes, at: IntArray) -> NDArray[np.bool_]:
    """Bit at[i] of row i."""
    mine = rows[np.arange(len(rows)), at >> 3]
    return np.asarray((mine >> (at & 7).astype(np.uint8)) & 1, np.bool_)


def clear_padding(rows: Bytes, k: int) -> None:
    """Set the bits after the first k of each row to zero, in place."""
    if k % 8:
        rows[:, -1] &= np.uint8((1 << (k % 8)) - 1)


def pack_one(items: NDArray[np.unsignedinteger], k: int) -> Bytes:
    """One row per item with just that bit set."""
    rows = np.zeros((len(items), -(-k // 8)), np.uint8)
    rows[np.arange(len(items)), items >> 3] = np.left_shift(np.uint8(1), (items & 7).astype(np.uint8))
    return rows
