"""Discrete Laplace noise for many coordinates: the law of `deniable_client.kernels.Laplace`, exactly."""

from __future__ import annotations

import numpy as np

from deniable.core.types import IntArray
from deniable.kernels.sampling import bernoulli_bits
from deniable.randomness import Stream, bernoulli

__all__ = ["laplace_steps"]

_HALF = 1 << 63


def laplace_steps(stream: Stream, size: int, again: int, digits: tuple[int, ...], grid: int) -> IntArray:
    """Noise in steps of 1/2**grid: a sign and a size; a negative zero is drawn again."""
    out, negative = _sizes(stream, size, again, digits, grid), bernoulli(stream, _HALF, size)
    pending = np.flatnonzero((out == 0) & negative)
    while pending.size:
        out[pending] = _sizes(stream, pending.size, again, digits, grid)
        negative[pending] = bernoulli(stream, _HALF, pending.size)
        pending = pending[(out[pending] == 0) & negative[pending]]
    return np.where(negative, -out, out)


def _sizes(stream: Stream, size: int, again: int, digits: tuple[int, ...], grid: int) -> IntArray:
    """Sizes: independent binary digits for the remainder, repeated coins for the quotient."""
    out = np.zeros(size, np.int64)
    for i, threshold in enumerate(digits):
        packed = bernoulli_bits(stream, threshold, -(-size // 8))
        out += np.unpackbits(packed, count=size, bitorder="little").astype(np.int64) << i
    pending = np.flatnonzero(bernoulli(stream, again, size))
    while pending.size:
        out[pending] += 1 << grid
        pending = pending[bernoulli(stream, again, pending.size)]
    return out
