"""The draws of `reference.tables`, compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.core.types import IntArray
from deniable.kernels.compiled.jit import compile_loop

__all__ = ["draw_rows"]

Words = NDArray[np.uint64]


def draw_rows(words: Words, thresholds: Words, items: IntArray) -> IntArray:
    out = np.empty(items.size, np.int64)
    _draw_rows(words, thresholds, items, out)
    return out


@compile_loop
def _draw_rows(words: Any, thresholds: Any, items: Any, out: Any) -> None:
    for i in range(items.size):
        row, word = thresholds[items[i]], words[i]
        start, length = 0, row.size
        while length > 1:
            half = length // 2
            start += half if row[start + half - 1] <= word else 0
            length -= half
        out[i] = start + (row[start] <= word)
