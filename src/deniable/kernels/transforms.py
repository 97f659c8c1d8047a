"""Decoding of counted reports: Walsh-Hadamard transform, orthogonal points, arcs of hash values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deniable.core.types import IntArray
from deniable.kernels import loops
from deniable.kernels.geometry import coordinates
from deniable.kernels.hashing import interval_rows

__all__ = ["count_intervals", "count_orthogonal", "walsh_hadamard"]

Words = NDArray[np.uint64]
_REPORTS = 1 << 14


def walsh_hadamard(counts: IntArray) -> IntArray:
    """The transform by the Sylvester matrix of a vector whose length is a power of two."""
    out = counts.copy()
    step = 1
    while step < out.size:
        pairs = out.reshape(-1, 2, step)
        pairs[:, 0], pairs[:, 1] = pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]
        step *= 2
    return out


def count_orthogonal(counts: IntArray, prime: int, t: int, k: int) -> IntArray:
    """For each of the first k points of PG(t-1, prime): the sum of `counts` over the points orthogonal to it."""
    seen = np.flatnonzero(counts)
    y, x = coordinates(seen, prime, t), coordinates(np.arange(k), prime, t)
    out = np.zeros(k, np.int64)
    step = max(1, (1 << 22) // max(k, 1))
    for start in range(0, seen.size, step):
        part = slice(start, start + step)
        out += (y[part] @ x.T % prime == 0).T.astype(np.int64) @ counts[seen[part]]
    return out


def count_intervals(seeds: Words, first: Words, length: Words, k: int) -> IntArray:
    """For each of the k items, how many reports have its hash value in [first, first + length), modulo 2**32."""
    total = np.zeros(k, np.int64)
    for start in range(0, len(seeds), _REPORTS):
        part = slice(start, start + _REPORTS)
        total += loops().count_bits(interval_rows(seeds[part], first[part], length[part], k), k)
    return total
