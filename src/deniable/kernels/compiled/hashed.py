"""Which items reports of the hashing family support, compiled.

With a 64-bit hash t = a mix(x) + b, the hash value t >> 32 lies in [first, first + length) if and only if
t - first 2^32 < length 2^32, modulo 2^64; adding 2^63 on both sides makes that a comparison of signed numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.core.types import IntArray, UintArray
from deniable.kernels.compiled.jit import compile_loop
from deniable.kernels.hashing import expand, interval_of, mix32

__all__ = ["count_hashed", "count_intervals", "prepare"]

Words = NDArray[np.uint64]
_BLOCK = 1024
"""Reports hashed together: their three 8-byte numbers fit the first-level cache."""
_PREPARED = 1 << 13
"""Reports whose numbers are prepared together, while they are in the cache."""


def prepare(seeds: Words, first: Words, length: Words) -> tuple[Words, IntArray, IntArray]:
    """The numbers a, start, limit: a report supports x if and only if a mix(x) + start < limit, as signed numbers."""
    a, b = expand(np.asarray(seeds, np.uint64))
    half, shift = np.uint64(1 << 63), np.uint64(32)
    return a, (b - (first << shift) + half).view(np.int64), ((length << shift) + half).view(np.int64)


def count_hashed(seeds: Words, values: UintArray, k: int, g: int) -> IntArray:
    """See `reference.count_hashed`."""
    total = np.zeros(k, np.int64)
    mixed = mix32(np.arange(k)).astype(np.uint32)
    for at in range(0, seeds.size, _PREPARED):
        part = slice(at, at + _PREPARED)
        _count(*prepare(seeds[part], *interval_of(values[part], g)), mixed, total)
    return total


def count_intervals(seeds: Words, first: Words, length: Words, k: int) -> IntArray:
    """See `reference.count_intervals`."""
    total = np.zeros(k, np.int64)
    mixed = mix32(np.arange(k)).astype(np.uint32)
    for at in range(0, seeds.size, _PREPARED):
        part = slice(at, at + _PREPARED)
        _count(*prepare(seeds[part], first[part], length[part]), mixed, total)
    return total


@compile_loop
def _count(a: Any, start: Any, limit: Any, mixed: Any, total: Any) -> None:
    """Four items at a time, so that a report's numbers are read once for them. `mixed` has 32 bits: half a product."""
    n, k = a.size, mixed.size
    for s in range(0, n, _BLOCK):
        e = min(n, s + _BLOCK)
        x, y, z = a[s:e], start[s:e], limit[s:e]
        whole = k // 4 * 4
        for i in range(0, whole, 4):
            m0, m1 = np.uint64(mixed[i]), np.uint64(mixed[i + 1])
            m2, m3 = np.uint64(mixed[i + 2]), np.uint64(mixed[i + 3])
            c0, c1, c2, c3 = 0, 0, 0, 0
            for j in range(e - s):
                c0 += int(np.int64(x[j] * m0) + y[j] < z[j])
                c1 += int(np.int64(x[j] * m1) + y[j] < z[j])
                c2 += int(np.int64(x[j] * m2) + y[j] < z[j])
                c3 += int(np.int64(x[j] * m3) + y[j] < z[j])
            total[i] += c0
            total[i + 1] += c1
            total[i + 2] += c2
            total[i + 3] += c3
        for i in range(whole, k):
            m0, c0 = np.uint64(mixed[i]), 0
            for j in range(e - s):
                c0 += int(np.int64(x[j] * m0) + y[j] < z[j])
            total[i] += c0
