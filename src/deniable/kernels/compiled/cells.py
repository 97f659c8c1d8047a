"""The counts of cells of `reference`, compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from deniable.core.types import Bytes, IntArray
from deniable.kernels.compiled.jit import compile_loop

__all__ = ["count_cells"]


def count_cells(
    rows: Bytes, cuts: IntArray, shifts: IntArray, widths: IntArray, circle: int
) -> tuple[IntArray, IntArray]:
    starts, sizes = np.zeros((len(widths), circle), np.int64), np.zeros(len(rows), np.int64)
    _count_cells(rows, cuts, shifts, widths, circle, starts, sizes)
    return starts, sizes


@compile_loop
def _count_cells(rows: Any, cuts: Any, shifts: Any, widths: Any, circle: int, starts: Any, sizes: Any) -> None:
    for i in range(rows.shape[0]):
        cut, shift = cuts[i], shifts[i]
        width = widths[cut]
        cells = circle // width
        size = 0
        for j in range((cells + 7) // 8):
            byte = np.int64(rows[i, j])
            cell = 8 * j
            while byte and cell < cells:
                if byte & 1:
                    size += 1
                    at = cell * width - shift
                    starts[cut, at + circle if at < 0 else at] += 1
                byte >>= 1
                cell += 1
        sizes[i] = size
