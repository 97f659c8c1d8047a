"""From random words to outputs of a channel that is written down."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deniable.core.types import IntArray

__all__ = ["draw_rows"]

Words = NDArray[np.uint64]


def draw_rows(words: Words, thresholds: Words, items: IntArray) -> IntArray:
    """How many thresholds of row items[i], which ascend, are at most word i. There is at least one in a row.

    Binary search for all words at once: the length halves, and each start moves or not.
    """
    start, length = np.zeros(items.size, np.int64), thresholds.shape[1]
    while length > 1:
        half = length // 2
        start += half * (thresholds[items, start + half - 1] <= words)
        length -= half
    return np.asarray(start + (thresholds[items, start] <= words), np.int64)
