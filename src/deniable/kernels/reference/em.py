"""Steps of expectation maximisation on reports whose likelihood has two levels.

A report of class c has likelihood high[c] for the items it supports and low[c] for the others, up to a factor of its
own. With frequencies f that sum to 1, its likelihood is low + (high - low) S, where S is the frequency of its support.
Each function returns the next f and the log-likelihood of the reports under the f that it was given.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from deniable.core.types import Bytes, FloatArray, IntArray, UintArray
from deniable.kernels.hashing import interval_rows

__all__ = ["em_bits", "em_intervals", "em_values"]

_BITS = 1 << 20
"""Bits of reports that are unpacked at once."""


def em_bits(
    f: FloatArray, rows: Bytes, kinds: UintArray, high: FloatArray, low: FloatArray
) -> tuple[FloatArray, float]:
    """A step from reports that are sets of items, rows of packed bits; kinds[i] is the class of row i."""
    step = max(1, _BITS // max(f.size, 1))
    parts = ((rows[s : s + step], kinds[s : s + step]) for s in range(0, len(rows), step))
    return _step(f, parts, len(rows), high, low)


def em_intervals(
    f: FloatArray,
    seeds: UintArray,
    first: UintArray,
    length: UintArray,
    kinds: UintArray,
    high: FloatArray,
    low: FloatArray,
) -> tuple[FloatArray, float]:
    """A step from reports that support the items whose hash value is in [first, first + length), modulo 2**32."""
    step = max(1, _BITS // max(f.size, 1))
    slices = (slice(s, s + step) for s in range(0, len(seeds), step))
    parts = ((interval_rows(seeds[s], first[s], length[s], f.size), kinds[s]) for s in slices)
    return _step(f, parts, len(seeds), high, low)


def _step(
    f: FloatArray, parts: Iterable[tuple[Bytes, UintArray]], n: int, high: FloatArray, low: FloatArray
) -> tuple[FloatArray, float]:
    weight, rest, likelihood = np.zeros(f.size), 0.0, 0.0
    for rows, kinds in parts:
        member = np.unpackbits(rows, axis=1, count=f.size, bitorder="little").astype(np.float64)
        base, gain = low[kinds], (high - low)[kinds]
        total = base + gain * (member @ f)
        likelihood += float(np.log(total).sum())
        rest += float((base / total).sum())
        weight += (gain / total) @ member
    return f * (rest + weight) / n, likelihood


def em_values(f: FloatArray, counts: IntArray, high: FloatArray, low: FloatArray) -> tuple[FloatArray, float]:
    """A step from reports of single items: counts[c, y] reports of class c support just item y."""
    total = low[:, None] + (high - low)[:, None] * f
    rest = float((counts * (low[:, None] / total)).sum())
    weight = (counts * ((high - low)[:, None] / total)).sum(axis=0)
    return f * (rest + weight) / counts.sum(), float((counts * np.log(total)).sum())
