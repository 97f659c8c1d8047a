"""Exact sampling of many reports: draws random words and hands them to the loops in use.

Both sets of loops get the same words in the same order, so they make the same reports.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deniable.core.types import IntArray
from deniable.errors import require
from deniable.kernels import loops
from deniable.kernels.bits import clear_padding
from deniable.randomness import Stream

__all__ = ["below", "bernoulli_bits", "respond", "subset_bits"]

Bytes = NDArray[np.uint8]
_BLOCK = 1 << 14
"""Words of 64 bits that are compared together: they and their random words fit a core's cache."""
_ROUNDS = (6, 2, 4, 8, 16, 28)
"""Bits compared between two looks at which words are done: after 6, a third of the words of 64 lanes is."""
_ALL = 0xFFFFFFFFFFFFFFFF


def bernoulli_bits(stream: Stream, threshold: int, size: int, *, bits: int = 64) -> Bytes:
    """`size` bytes of independent bits, each 1 with probability exactly threshold / 2**bits.

    Bit-sliced: 64 comparisons of a random number with the threshold at once, from the highest bit down, until all
    lanes of a word are decided (about 8 random words for 64 bits, whatever `bits` is).
    """
    require(0 <= threshold <= 1 << bits, "threshold", threshold, f"from 0 to 2**{bits}")
    words = -(-size // 8)
    out = np.full(words, _ALL if threshold >> bits else 0, np.uint64)
    if threshold and not threshold >> bits:
        for start in range(0, words, _BLOCK):
            _compare_block(stream, threshold, bits, out[start : start + _BLOCK])
    return out.view(np.uint8)[:size]


def _compare_block(stream: Stream, threshold: int, bits: int, out: NDArray[np.uint64]) -> None:
    """Write [random < threshold] into every bit of `out`, which is zero."""
    pattern = np.array([threshold >> level & 1 for level in range(bits - 1, -1, -1)], np.bool_)
    pattern = pattern[: pattern.nonzero()[0][-1] + 1]
    left, undecided = np.arange(out.size), np.full(out.size, _ALL, np.uint64)
    count, start = out.size, 0
    for step in _ROUNDS:
        part = pattern[start : start + step]
        start += step
        if not count or not part.size:
            return
        random = stream.draw(64, part.size * count).reshape(part.size, count)
        count = loops().compare(out, left, undecided, random, part)


def below(stream: Stream, n: int, size: int, *, bits: int = 32) -> IntArray:
    """Uniform on 0..n-1, exactly: words that would favour some numbers are drawn again."""
    require(0 < n <= 1 << bits and bits <= 32, "n", n, f"from 1 to 2**{bits}, with bits <= 32")
    out: IntArray = loops().scale(stream.draw(bits, size), n, bits)
    if (1 << bits) % n:
        pending = np.flatnonzero(out < 0)
        while pending.size:
            out[pending] = loops().scale(stream.draw(bits, pending.size), n, bits)
            pending = pending[out[pending] < 0]
    return out


def respond(stream: Stream, items: IntArray, k: int, keep: int) -> IntArray:
    """Randomised response: each item of 0..k-1 with probability keep / 2**64, else another one, all alike."""
    coins = stream.draw(64, items.size)
    out: IntArray = loops().respond(items, coins, keep, below(stream, k - 1, items.size))
    return out


def subset_bits(
    stream: Stream, k: int, size: IntArray, own: IntArray, kept: NDArray[np.bool_], *, bits: int = 32
) -> Bytes:
    """One subset of {0..k-1} per row with size[i] elements: own[i] is in it iff kept[i], the rest is uniform.

    Random bits first, where that saves work; then uniformly drawn positions other than the own one are set or cleared
    until the size is right. The bits are exchangeable and the positions uniform, so the subset is, given its size.
    """
    n, width = len(own), -(-k // 8)
    rows = np.zeros((n, width), np.uint8)
    if n and k >= 64:
        share = 256 * int(size.sum()) // (n * k)
        rows[:] = bernoulli_bits(stream, share, n * width, bits=8).reshape(n, width)
        clear_padding(rows, k)
    loops().put_bits(rows, own, kept)
    excess = loops().popcounts(rows) - size
    pending = np.flatnonzero(excess)
    while pending.size:
        pending = loops().settle(rows, excess, pending, own, below(stream, k, pending.size, bits=bits))
    return rows
