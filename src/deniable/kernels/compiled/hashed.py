"""The loops of `reference`, compiled.

With a 64-bit hash t = a mix(x) + b, the hash value t >> 32 lies in [first, first + length) if and only if
t - first 2^32 < length 2^32, modulo 2^64; adding 2^63 on both sides makes that a comparison of signed numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from deniable.core.types import IntArray, UintArray, Words
from deniable.kernels.compiled.jit import compile_loop, inline
from deniable.kernels.hashing import interval_of, mix32
from deniable.kernels.parallel import blocks

__all__ = ["buckets", "count_hashed", "count_intervals", "mix", "split"]

_BLOCK = 1024
"""Reports hashed together: their three 8-byte numbers fit the first-level cache."""
_VALUES = 1 << 16
"""Reports whose intervals are written out at a time."""


@inline
def mix(value: Any) -> Any:
    """`hashing.mix32` of one number."""
    x = np.uint32(value)
    x = np.uint32((x ^ (x >> np.uint32(16))) * np.uint32(0x7FEB352D))
    x = np.uint32((x ^ (x >> np.uint32(15))) * np.uint32(0x846CA68B))
    return x ^ (x >> np.uint32(16))


@inline
def split(z: Any) -> Any:
    """The last steps of `hashing.split64` of one number."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@inline
def _expand(seed: Any) -> Any:
    """`hashing.expand` of one seed."""
    golden = np.uint64(0x9E3779B97F4A7C15)
    return split(seed + golden), split(seed + golden + golden)


def buckets(seeds: Words, items: IntArray, g: int) -> IntArray:
    out = np.empty(seeds.size, np.int64)
    _buckets(seeds, items, np.uint64(g), out)
    return out


@compile_loop
def _buckets(seeds: Any, items: Any, g: Any, out: Any) -> None:
    half = np.uint64(32)
    for i in range(seeds.size):
        a, b = _expand(seeds[i])
        out[i] = np.int64((((a * np.uint64(mix(items[i])) + b) >> half) * g) >> half)


@compile_loop
def _prepare(seeds: Any, first: Any, length: Any, a: Any, start: Any, limit: Any) -> None:
    """Write the numbers by which a report supports x if and only if a mix(x) + start < limit, as signed numbers."""
    half, shift = np.uint64(1 << 63), np.uint64(32)
    for i in range(seeds.size):
        a[i], b = _expand(seeds[i])
        start[i] = np.int64(b - (first[i] << shift) + half)
        limit[i] = np.int64((length[i] << shift) + half)


def count_hashed(seeds: Words, values: UintArray, k: int, g: int) -> IntArray:
    mixed, total = mix32(np.arange(k)).astype(np.uint32), np.zeros(k, np.int64)
    for part in blocks(seeds.size, _VALUES):
        _count_intervals(seeds[part], *interval_of(values[part], g), mixed, total)
    return total


def count_intervals(seeds: Words, first: Words, length: Words, k: int) -> IntArray:
    mixed, total = mix32(np.arange(k)).astype(np.uint32), np.zeros(k, np.int64)
    _count_intervals(seeds, first, length, mixed, total)
    return total


@compile_loop
def _count_intervals(seeds: Any, first: Any, length: Any, mixed: Any, total: Any) -> None:
    a, start, limit = np.empty(_BLOCK, np.uint64), np.empty(_BLOCK, np.int64), np.empty(_BLOCK, np.int64)
    for s in range(0, seeds.size, _BLOCK):
        e = min(seeds.size, s + _BLOCK)
        _prepare(seeds[s:e], first[s:e], length[s:e], a, start, limit)
        _count(a[: e - s], start[: e - s], limit[: e - s], mixed, total)


@compile_loop
def _count(x: Any, y: Any, z: Any, mixed: Any, total: Any) -> None:
    """Four items at a time, so that a report's numbers are read once for them. `mixed` has 32 bits: half a product."""
    k = mixed.size
    whole = k // 4 * 4
    for i in range(0, whole, 4):
        m0, m1 = np.uint64(mixed[i]), np.uint64(mixed[i + 1])
        m2, m3 = np.uint64(mixed[i + 2]), np.uint64(mixed[i + 3])
        c0, c1, c2, c3 = 0, 0, 0, 0
        for j in range(x.size):
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
        for j in range(x.size):
            c0 += int(np.int64(x[j] * m0) + y[j] < z[j])
        total[i] += c0
