"""Exact sampling of many reports: draws random words and hands them to the loops in use.

Both sets of loops get the same words in the same order, so they make the same reports.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.core.types import Bytes, IntArray, UintArray, Words
from deniable.errors import require
from deniable.kernels import loops
from deniable.kernels.bits import clear_padding
from deniable.kernels.parallel import blocks
from deniable.randomness import Stream
from deniable_client.kernels import Window

__all__ = [
    "below",
    "below_each",
    "bernoulli_bits",
    "draw_by_row",
    "last_outputs",
    "near",
    "respond",
    "row_thresholds",
    "subset_bits",
    "weighted",
    "windowed",
]

_FIRST = 8
"""Bits of the random numbers that are compared at first, in all words alike."""
_ROUNDS = (4, 8, 16, 28)
"""Bits compared between two later looks at which words are done: after 8 bits, 78 % of the words of 64 lanes are."""
_TILE = 1 << 15
"""Words of 64 bits that begin together. Fewer would make threads wait for each other between short pieces of work."""
_BLOCK = 1 << 17
"""Words of 64 bits whose undecided lanes are followed up together."""
_ITEMS = 1 << 16
"""Items that respond together."""
_SHARE_BITS = 8
"""Most bits of the share of ones that a uniform subset starts from."""
_LARGEST = (1 << 64) - 1
"""The largest random word."""
_TRIES = 16
"""Positions drawn at a time for each row of a subset that has not its size yet."""


def bernoulli_bits(stream: Stream, threshold: int, size: int, *, bits: int = 64) -> Bytes:
    """`size` bytes of independent bits, each 1 with probability exactly threshold / 2**bits.

    Bit-sliced: 64 comparisons of a random number with the threshold at once, from the highest bit down, until all
    lanes of a word are decided (about 9 random words for 64 bits, whatever `bits` is).
    """
    require(0 <= threshold <= 1 << bits, "threshold", threshold, f"from 0 to 2**{bits}")
    words = -(-size // 8)
    if threshold in (0, 1 << bits):
        return np.full(size, 255 if threshold else 0, np.uint8)
    out = np.empty(words, np.uint64)
    pattern = _pattern(threshold, bits)
    for part in blocks(words, _BLOCK):
        _compare_block(stream, pattern, out[part])
    return out.view(np.uint8)[:size]


def _pattern(threshold: int, bits: int) -> NDArray[np.bool_]:
    """The bits of a threshold that is not 0, highest first, up to the last one that is set."""
    pattern = np.array([threshold >> level & 1 for level in range(bits - 1, -1, -1)], np.bool_)
    return pattern[: pattern.nonzero()[0][-1] + 1]


def _compare_block(stream: Stream, pattern: NDArray[np.bool_], out: Words) -> None:
    """Write [random < threshold] into every bit of `out`."""
    first, rest = pattern[:_FIRST], pattern[_FIRST:]
    lanes = np.empty(out.size, np.uint64)
    for part in blocks(out.size, _TILE):
        loops().begin(out[part], lanes[part], _levels(stream, first.size, part.stop - part.start), first)
    if not rest.size:
        return
    left, undecided = loops().unfinished(lanes)
    count = left.size
    for step in _ROUNDS:
        if not count or not rest.size:
            return
        now, rest = rest[:step], rest[step:]
        count = loops().compare(out, left, undecided, _levels(stream, now.size, count), now)


def _levels(stream: Stream, bits: int, words: int) -> UintArray:
    """So many bits of 64 random numbers per word: a row per bit."""
    return stream.draw(64, bits * words).reshape(bits, words)


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


def below_each(stream: Stream, sizes: IntArray) -> IntArray:
    """A uniform number below each of the sizes, exactly; 0 where the size is 0."""
    out = np.zeros(sizes.size, np.int64)
    for size in np.unique(sizes[sizes > 1]):
        at = np.flatnonzero(sizes == size)
        out[at] = below(stream, int(size), at.size)
    return out


def respond(stream: Stream, items: IntArray, k: int, keep: int, dtype: Any = np.int64, *, bits: int = 32) -> Any:
    """Randomised response: each item of 0..k-1 with probability keep / 2**64, else another one, all alike.

    The answers are of type `dtype`; words of `bits` bits choose the other items.
    """
    require(1 < k <= 1 << bits and bits <= 32, "k", k, f"from 2 to 2**{bits}, with bits <= 32")
    out = np.empty(items.size, dtype)
    for at in blocks(items.size, _ITEMS):
        part, own = out[at], items[at]
        coins, words = stream.draw(64, own.size), stream.draw(bits, own.size)
        again = loops().respond(part, own, coins, keep, words, k - 1, bits)
        if again.size:
            others = below(stream, k - 1, again.size, bits=bits)
            part[again] = others + (others >= own[again])
    return out


def near(
    stream: Stream, starts: IntArray, m: int, outputs: int, keep: int, dtype: Any = np.int64, *, bits: int = 32
) -> Any:
    """One of the m answers from starts[i] on with probability keep / 2**64, else one of the other `outputs` - m.

    The answers are of type `dtype`; words of `bits` bits choose among those inside, and among those outside.
    """
    require(0 < m < outputs <= 1 << bits and bits <= 32, "outputs", outputs, f"from m+1 = {m + 1} to 2**{bits}")
    out = np.empty(starts.size, dtype)
    for at in blocks(starts.size, _ITEMS):
        part, first = out[at], starts[at]
        coins, words = stream.draw(64, first.size), stream.draw(bits, first.size)
        again = loops().near(part, first, coins, keep, words, m, outputs - m, bits)
        if again.size:
            inside = coins[again] < np.uint64(keep)
            number = np.empty(again.size, np.int64)
            for which, count in ((inside, m), (~inside, outputs - m)):
                number[which] = below(stream, count, int(np.count_nonzero(which)), bits=bits)
            part[again] = np.where(inside, number + first[again], number + m * (number >= first[again]))
    return out


def windowed(stream: Stream, items: IntArray, kernel: Window, dtype: Any = np.int64) -> Any:
    """Answers in or outside the items' windows, in the law of `kernel.randomise`."""
    starts = items - kernel.shift
    if kernel.tie:
        starts += stream.draw(8, items.size) & np.uint8(1)
    np.clip(starts, 0, kernel.outputs - kernel.m, out=starts)
    return near(stream, starts, kernel.m, kernel.outputs, kernel.keep, dtype)


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
        share, precision = _share(int(size.sum()) // n, k)
        rows = bernoulli_bits(stream, share, n * width, bits=precision).reshape(n, width)
        clear_padding(rows, k)
    loops().put_bits(rows, own, kept)
    excess = loops().popcounts(rows) - size
    pending = np.flatnonzero(excess)
    while pending.size:
        words = stream.draw(bits, pending.size * _TRIES).reshape(pending.size, _TRIES)
        pending = loops().settle(rows, excess, pending, own, words, k, bits)
    return rows


def _share(size: int, k: int) -> tuple[int, int]:
    """A share of ones of few bits, somewhat below size/k: setting bits takes fewer tries than clearing them."""
    near = 3 * isqrt(size * (k - size) // k) // 2
    for bits in range(1, _SHARE_BITS + 1):
        share = (size << bits) // k
        if size - (share * k >> bits) <= near:
            break
    return share, bits


def weighted(stream: Stream, thresholds: Words, size: int) -> IntArray:
    """Draws from 0..m, exactly: i with probability (t[i] - t[i-1]) / 2**64, where t[-1] = 0 and t[m] = 2**64.

    `thresholds` are t[0] <= ... <= t[m-1].
    """
    out: IntArray = loops().draw_table(stream.draw(64, size), thresholds)
    return out


def row_thresholds(weights: Sequence[Sequence[int]]) -> Words:
    """The cumulated weights of each row but the last, which is 2**64 and decides nothing.

    Where outputs at the end of a row never come, 2**64 stands there earlier, as the largest word: see `draw_by_row`.
    """
    return np.array([[min(sum_, _LARGEST) for sum_ in accumulate(row[:-1])] for row in weights], np.uint64)


def last_outputs(weights: Sequence[Sequence[int]]) -> IntArray | None:
    """The last output of each row that comes at all; None where that is the last one everywhere."""
    if all(row[-1] for row in weights):
        return None
    return np.array([max(y for y, weight in enumerate(row) if weight) for row in weights], np.int64)


def draw_by_row(stream: Stream, thresholds: Words, items: IntArray, last: IntArray | None = None) -> IntArray:
    """Output y for item x with probability exactly weights[x][y] / 2**64, from `row_thresholds(weights)`.

    One word for each item decides, as in the scalar randomiser. `last` is `last_outputs(weights)`: where
    weights at the end of a row are 0, the largest word of all is not below a threshold that should be 2**64.
    """
    out: IntArray = loops().draw_rows(stream.draw(64, items.size), thresholds, items)
    return out if last is None else np.minimum(out, last[items])
