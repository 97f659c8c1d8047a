"""The transforms of `reference`, compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from deniable.core.types import IntArray
from deniable.kernels.compiled.jit import compile_loop
from deniable.kernels.geometry import coordinates

__all__ = ["count_orthogonal", "walsh_hadamard"]


@compile_loop
def walsh_hadamard(vector: Any) -> None:
    """See `reference.walsh_hadamard`. The short steps are done together on parts that fit the cache."""
    size = min(vector.size, 4096)
    for start in range(0, vector.size, size):
        _butterflies(vector[start : start + size], 1)
    _butterflies(vector, size)


@compile_loop
def _butterflies(vector: Any, step: int) -> None:
    while step < vector.size:
        for start in range(0, vector.size, 2 * step):
            one, two = vector[start : start + step], vector[start + step : start + 2 * step]
            for i in range(step):
                one[i], two[i] = one[i] + two[i], one[i] - two[i]
        step *= 2


def count_orthogonal(counts: IntArray, prime: int, t: int, k: int) -> IntArray:
    seen = np.flatnonzero(counts)
    out = np.zeros(k, np.int64)
    y, x = coordinates(seen, prime, t), coordinates(np.arange(k), prime, t)
    _count_orthogonal(counts[seen], np.ascontiguousarray(y.T), x, prime, out)
    return out


@compile_loop
def _count_orthogonal(weights: Any, y: Any, x: Any, prime: int, out: Any) -> None:
    """Inner products of one x with all y; a product is zero modulo the prime if it is what a division gives back."""
    n, inverse = weights.size, 1.0 / prime
    product = np.empty(n)
    for i in range(out.size):
        product[:] = 0
        for j in range(x.shape[1]):
            factor = x[i, j]
            if factor:
                for a in range(n):
                    product[a] += factor * y[j, a]
        total = 0
        for a in range(n):
            total += weights[a] if np.floor(product[a] * inverse + 0.5) * prime == product[a] else 0
        out[i] = total
