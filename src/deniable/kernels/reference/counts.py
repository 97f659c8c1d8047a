"""How often values and bits occur in reports."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deniable.core.types import Bytes, IntArray

__all__ = ["count_bits", "count_values", "popcounts"]

_ONES = np.uint64(0x0101010101010101)


def count_values(values: NDArray[np.unsignedinteger], k: int) -> IntArray:
    """How often each of 0..k-1 occurs."""
    return np.bincount(values, minlength=k).astype(np.int64)


def count_bits(rows: Bytes, k: int) -> IntArray:
    """How many rows have each of their first k bits set (rows are packed, lowest bit first)."""
    n, width = rows.shape
    lanes = -(-width // 8)
    total = np.zeros((8, lanes * 8), np.int64)
    step = min(255, max(1, n))
    padded = np.zeros((step, lanes * 8), np.uint8)
    for start in range(0, n, step):
        part = rows[start : start + step]
        padded[: len(part), :width] = part
        words = padded[: len(part)].view(np.uint64)
        for bit in range(8):
            sums = ((words >> np.uint64(bit)) & _ONES).sum(axis=0, dtype=np.uint64)
            total[bit] += sums.view(np.uint8)
    return np.ascontiguousarray(total.T).reshape(-1)[:k]


def popcounts(rows: Bytes) -> IntArray:
    """Number of ones in each row."""
    return np.asarray(np.bitwise_count(rows).sum(axis=1, dtype=np.int64))
