"""The sums that a step of expectation maximisation takes over reports of several levels of protection.

A report of class c has likelihood high[c] for the items it supports and low[c] for the others; with frequencies f that
sum to 1 its likelihood is low + (high - low) S, where S is the frequency of its support. It counts `weights` times.
"""

from __future__ import annotations

import numpy as np

from deniable.core.types import Bytes, FloatArray, IntArray

__all__ = ["em_levels"]

_BITS = 1 << 20
"""Bits of reports that are unpacked at once."""


def em_levels(
    f: FloatArray, rows: Bytes, weights: FloatArray, kinds: IntArray, high: FloatArray, low: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, float]:
    """Sums over reports: of (high - low)/likelihood by supported item; of S and of 1 - S over likelihood by class; log.

    `rows` are packed bits, `kinds` the classes.
    """
    items, inside, outside, log = np.zeros(f.size), np.zeros(high.size), np.zeros(high.size), 0.0
    step = max(1, _BITS // max(f.size, 1))
    for start in range(0, len(rows), step):
        part = slice(start, start + step)
        member = np.unpackbits(rows[part], axis=1, count=f.size, bitorder="little").astype(np.float64)
        kind, w = kinds[part], weights[part]
        gain, share = (high - low)[kind], member @ f
        total = low[kind] + gain * share
        log += float(w @ np.log(total))
        each = w / total
        items += (each * gain) @ member
        inside += np.bincount(kind, weights=each * share, minlength=high.size)
        outside += np.bincount(kind, weights=each * (1 - share), minlength=high.size)
    return items, inside, outside, log
