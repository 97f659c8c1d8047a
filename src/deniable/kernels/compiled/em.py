"""The steps of `reference.em`, compiled: the same up to rounding."""

from __future__ import annotations

from typing import Any

import numpy as np

from deniable.core.types import Bytes, FloatArray, UintArray
from deniable.kernels.compiled.hashed import prepare
from deniable.kernels.compiled.jit import compile_loop, compile_sum
from deniable.kernels.hashing import mix32
from deniable.kernels.reference.em import em_values

__all__ = ["em_bits", "em_intervals", "em_values"]

_ROWS = 4096
"""Rows of bits that are weighed together."""
_BYTES = 128
"""Bytes of a row that are looked up together: a table of all values of so many bytes fits a core's cache."""
_REPORTS = 512
"""Hashed reports that are weighed together: their numbers fit the first-level cache."""


def em_bits(
    f: FloatArray, rows: Bytes, kinds: UintArray, high: FloatArray, low: FloatArray
) -> tuple[FloatArray, float]:
    """See `reference.em_bits`. A byte's share of S, and of the weights, is looked up in a table of 256 entries."""
    n, width = rows.shape
    padded, weight = np.zeros(8 * width), np.zeros(8 * width)
    padded[: f.size] = f
    sums = np.zeros(2)
    _em_bits(padded, rows, kinds, high, low, weight, sums)
    return f * (sums[0] + weight[: f.size]) / n, float(sums[1])


@compile_loop
def _em_bits(f: Any, rows: Any, kinds: Any, high: Any, low: Any, weight: Any, sums: Any) -> None:
    n, width = rows.shape
    table = np.empty((_BYTES, 256))
    for start in range(0, n, _ROWS):
        part = rows[start : start + _ROWS]
        share = np.zeros(part.shape[0])
        for first in range(0, width, _BYTES):
            _subset_sums(f[8 * first : 8 * (first + _BYTES)], table)
            _look_up(part[:, first : first + _BYTES], table, share)
        _weigh(kinds[start : start + _ROWS], high, low, share, sums)
        for first in range(0, width, _BYTES):
            table[:] = 0
            _collect(part[:, first : first + _BYTES], share, table)
            _distribute(table, weight[8 * first : 8 * (first + _BYTES)])


@compile_loop
def _subset_sums(f: Any, table: Any) -> None:
    """Row j: the sum of f over the bits of each value of byte j."""
    for j in range(f.size // 8):
        table[j, 0] = 0
        for bit in range(8):
            for value in range(1 << bit):
                table[j, (1 << bit) + value] = table[j, value] + f[8 * j + bit]


@compile_loop
def _look_up(rows: Any, table: Any, share: Any) -> None:
    for i in range(rows.shape[0]):
        even, odd = 0.0, 0.0
        pairs = rows.shape[1] // 2 * 2
        for j in range(0, pairs, 2):
            even += table[j, rows[i, j]]
            odd += table[j + 1, rows[i, j + 1]]
        if pairs < rows.shape[1]:
            even += table[pairs, rows[i, pairs]]
        share[i] += even + odd


@compile_loop
def _weigh(kinds: Any, high: Any, low: Any, share: Any, sums: Any) -> None:
    """From the shares S of reports to the weights (high - low) / likelihood, in place, and the sums over reports."""
    rest, likelihood = 0.0, 0.0
    for i in range(share.size):
        base = low[kinds[i]]
        gain = high[kinds[i]] - base
        total = base + gain * share[i]
        rest += base / total
        likelihood += np.log(total)
        share[i] = gain / total
    sums[0] += rest
    sums[1] += likelihood


@compile_loop
def _collect(rows: Any, weight: Any, table: Any) -> None:
    """Add up the weights of the rows by the values of their bytes."""
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            table[j, rows[i, j]] += weight[i]


@compile_loop
def _distribute(table: Any, weight: Any) -> None:
    """Give each bit the weights of the values that have it."""
    for j in range(weight.size // 8):
        for bit in range(8):
            total = 0.0
            for value in range(256):
                total += table[j, value] if value >> bit & 1 else 0.0
            weight[8 * j + bit] += total


def em_intervals(
    f: FloatArray,
    seeds: UintArray,
    first: UintArray,
    length: UintArray,
    kinds: UintArray,
    high: FloatArray,
    low: FloatArray,
) -> tuple[FloatArray, float]:
    """See `reference.em_intervals`."""
    mixed, weight, sums = mix32(np.arange(f.size)).astype(np.uint32), np.zeros(f.size), np.zeros(2)
    n = len(seeds)
    a, start, limit = np.empty(n, np.uint64), np.empty(n, np.int64), np.empty(n, np.int64)
    prepare(seeds, first, length, a, start, limit)
    _em_intervals(f, a, start, limit, mixed, kinds, high, low, weight, sums)
    return f * (sums[0] + weight) / len(seeds), float(sums[1])


@compile_loop
def _em_intervals(
    f: Any, a: Any, start: Any, limit: Any, mixed: Any, kinds: Any, high: Any, low: Any, weight: Any, sums: Any
) -> None:
    for s in range(0, a.size, _REPORTS):
        x, y, z = a[s : s + _REPORTS], start[s : s + _REPORTS], limit[s : s + _REPORTS]
        share = np.zeros(x.size)
        for i in range(f.size):
            m, own = np.uint64(mixed[i]), f[i]
            for j in range(x.size):
                share[j] += own if np.int64(x[j] * m) + y[j] < z[j] else 0.0
        _weigh(kinds[s : s + _REPORTS], high, low, share, sums)
        for i in range(f.size):
            weight[i] += _weight_of(np.uint64(mixed[i]), x, y, z, share)


@compile_sum
def _weight_of(m: Any, x: Any, y: Any, z: Any, share: Any) -> Any:
    """The weights of the reports that support an item."""
    total = 0.0
    for j in range(x.size):
        total += share[j] if np.int64(x[j] * m) + y[j] < z[j] else 0.0
    return total
