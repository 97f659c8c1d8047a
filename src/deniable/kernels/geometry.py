"""Points of projective geometries over prime fields, for arrays of point numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deniable.core.types import FloatArray, IntArray
from deniable.kernels.sampling import below
from deniable.randomness import Stream
from deniable_client.kernels.geometry import points

__all__ = ["coordinates", "line_sums", "point_numbers", "random_points"]


def coordinates(numbers: IntArray, prime: int, t: int) -> IntArray:
    """The vectors of points, one row each: `deniable_client.kernels.geometry.point` of an array."""
    starts = np.array([points(prime, i) for i in range(t)])
    tail = np.searchsorted(starts, numbers, side="right") - 1
    rest = numbers - starts[tail]
    out = np.empty((numbers.size, t), np.int64)
    for column in range(t - 1, -1, -1):
        place = t - 1 - column
        out[:, column] = np.where(place < tail, rest % prime, place == tail)
        rest = np.where(place < tail, rest // prime, rest)
    return out


def point_numbers(vectors: IntArray, prime: int) -> IntArray:
    """The numbers of the points of vectors, none of them zero: `designs.point_index` of an array."""
    n, t = vectors.shape
    pivot = (vectors != 0).argmax(axis=1)
    scale = _inverses(prime, vectors[np.arange(n), pivot])
    starts = np.array([points(prime, i) for i in range(t)])
    number = np.zeros(n, np.int64)
    for column in range(t):
        number = np.where(column > pivot, number * prime + vectors[:, column] * scale % prime, number)
    return np.asarray(starts[t - 1 - pivot] + number)


def _inverses(prime: int, values: IntArray) -> IntArray:
    """Multiplicative inverses by Fermat: v^(prime-2)."""
    out, base, exponent = np.ones_like(values), values % prime, prime - 2
    while exponent > 0:
        if exponent & 1:
            out = out * base % prime
        base = base * base % prime
        exponent >>= 1
    return out


def random_points(stream: Stream, items: IntArray, kept: NDArray[np.bool_], prime: int, t: int) -> IntArray:
    """For each item a uniform point that is orthogonal to the item's (where `kept`), or one that is not.

    All coordinates but the item's pivot are free and uniform; the pivot makes the inner product what it is to be.
    Zero vectors, which are no points, are drawn again.
    """
    item = coordinates(items, prime, t)
    pivot = (item != 0).argmax(axis=1)
    out = np.empty(items.size, np.int64)
    pending = np.arange(items.size)
    while pending.size:
        mine = item[pending]
        y = below(stream, prime, pending.size * t).reshape(-1, t)
        product = np.where(kept[pending], 0, 1 + below(stream, prime - 1, pending.size) if prime > 2 else 1)
        rows = np.arange(pending.size)
        y[rows, pivot[pending]] = 0
        y[rows, pivot[pending]] = (product - (mine * y).sum(axis=1)) % prime
        good = y.any(axis=1)
        out[pending[good]] = point_numbers(y[good], prime)
        pending = pending[~good]
    return out


def line_sums(f: FloatArray, prime: int, t: int) -> FloatArray:
    """For every pair of the first k points: the sum of f over the other points of their line."""
    k = f.size
    x = coordinates(np.arange(k), prime, t)
    longer = np.zeros(points(prime, t))
    longer[:k] = f
    out = np.zeros((k, k))
    for factor in range(1, prime):
        for i in range(k):
            vectors = (x[i][None, :] + factor * x) % prime
            others = np.flatnonzero(vectors.any(axis=1))
            out[i, others] += longer[point_numbers(vectors[others], prime)]
    np.fill_diagonal(out, 0.0)
    return out
