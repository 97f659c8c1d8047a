"""Decoding of counted reports."""

from __future__ import annotations

import numpy as np

from deniable.core.types import FloatArray, IntArray
from deniable.kernels.geometry import coordinates

__all__ = ["count_orthogonal", "walsh_hadamard"]

_PAIRS = 1 << 22
"""Pairs of points whose inner products are taken at once."""


def walsh_hadamard(vector: IntArray | FloatArray) -> None:
    """Transform by the Sylvester matrix, in place; the length is a power of two."""
    step = 1
    while step < vector.size:
        pairs = vector.reshape(-1, 2, step)
        pairs[:, 0], pairs[:, 1] = pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]
        step *= 2


def count_orthogonal(counts: IntArray, prime: int, t: int, k: int) -> IntArray:
    """For each of the first k points of PG(t-1, prime): the sum of `counts` over the points orthogonal to it."""
    seen = np.flatnonzero(counts)
    y, x = coordinates(seen, prime, t), coordinates(np.arange(k), prime, t)
    out = np.zeros(k, np.int64)
    step = max(1, _PAIRS // max(k, 1))
    for start in range(0, seen.size, step):
        part = slice(start, start + step)
        out += (y[part] @ x.T % prime == 0).T.astype(np.int64) @ counts[seen[part]]
    return out
