"""Exact sampling of many reports of a channel that is written down in whole numbers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from deniable.core.types import IntArray
from deniable.kernels import loops
from deniable.randomness import Stream

__all__ = ["draw_by_row", "row_thresholds"]


def row_thresholds(weights: Sequence[Sequence[int]]) -> NDArray[np.uint64]:
    """The cumulated weights of each row but the last, which is 2**64 and decides nothing."""
    return np.array([list(accumulate(row[:-1])) for row in weights], np.uint64)


def draw_by_row(stream: Stream, thresholds: NDArray[np.uint64], items: IntArray) -> IntArray:
    """Output y for item x with probability exactly weights[x][y] / 2**64, from `row_thresholds(weights)`.

    One word for each item decides, as in the scalar randomiser.
    """
    out: IntArray = loops().draw_rows(stream.draw(64, items.size), thresholds, items)
    return out
