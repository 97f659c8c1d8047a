"""The sums of `reference.em_levels`, compiled: the same up to rounding."""

from __future__ import annotations

from typing import Any

import numpy as np

from deniable.core.types import Bytes, FloatArray, IntArray
from deniable.kernels.compiled.jit import compile_loop

__all__ = ["em_levels"]

_ROWS = 4096
"""Rows of bits that are weighed together."""
_BYTES = 128
"""Bytes of a row that are looked up together: a table of all values of so many bytes fits a core's cache."""
_FACTORS = 8
"""Likelihoods that are multiplied before their logarithm is taken: they are scaled to be near 1."""


def em_levels(
    f: FloatArray, rows: Bytes, weights: FloatArray, kinds: IntArray, high: FloatArray, low: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, float]:
    """See `reference.em_levels`. A byte's share of S, and of the sums by item, goes through a table of 256 entries."""
    padded, items = np.zeros(8 * rows.shape[1]), np.zeros(8 * rows.shape[1])
    padded[: f.size] = f
    inside, outside, log = np.zeros(high.size), np.zeros(high.size), np.zeros(1)
    _em_levels(padded, rows, weights, kinds, high, low, items, inside, outside, log)
    return items[: f.size], inside, outside, float(log[0])


@compile_loop
def _em_levels(
    f: Any, rows: Any, weights: Any, kinds: Any, high: Any, low: Any, items: Any, inside: Any, outside: Any, log: Any
) -> None:
    n, width = rows.shape
    table, tables = np.empty((_BYTES, 256)), np.zeros((width, 256))
    for start in range(0, n, _ROWS):
        part = rows[start : start + _ROWS]
        share = np.zeros(part.shape[0])
        for first in range(0, width, _BYTES):
            if start == 0 or width > _BYTES:
                _subset_sums(f[8 * first : 8 * (first + _BYTES)], table)
            _look_up(part[:, first : first + _BYTES], table, share)
        span = slice(start, start + _ROWS)
        _weigh_levels(kinds[span], weights[span], high, low, share, inside, outside, log)
        _collect(part, share, tables)
    _distribute(tables, items)


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
def _weigh_levels(
    kinds: Any, weights: Any, high: Any, low: Any, share: Any, inside: Any, outside: Any, log: Any
) -> None:
    """From the shares S to the weights (high - low)/likelihood, in place, and the sums by class."""
    total, factor, count = 0.0, 1.0, 0
    for i in range(share.size):
        kind, weight = kinds[i], weights[i]
        base = low[kind]
        gain = high[kind] - base
        mass = base + gain * share[i]
        each = weight / mass
        inside[kind] += each * share[i]
        outside[kind] += each * (1 - share[i])
        share[i] = gain * each
        if weight == 1.0:
            factor *= mass
            count += 1
            if count == _FACTORS:
                total += np.log(factor)
                factor, count = 1.0, 0
        else:
            total += weight * np.log(mass)
    log[0] += total + np.log(factor)


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
