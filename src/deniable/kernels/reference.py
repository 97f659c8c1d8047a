"""The loops in NumPy. They define the results; `compiled` has the same names and gives the same arrays.

Arrays that a loop changes are named first or said to be changed; nothing here draws randomness: random words come in.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deniable.core.types import IntArray
from deniable.kernels.hashing import expand, interval_of, mix32

__all__ = [
    "compare",
    "count_bits",
    "count_hashed",
    "count_values",
    "popcounts",
    "put_bits",
    "respond",
    "scale",
    "settle",
]

Bytes = NDArray[np.uint8]
Words = NDArray[np.uint64]
_ONES = np.uint64(0x0101010101010101)
_PAIRS = 1 << 17
"""Pairs of report and item that are hashed at once."""


def count_values(values: NDArray[np.unsignedinteger], k: int) -> IntArray:
    """How often each of 0..k-1 occurs."""
    return np.bincount(values, minlength=k).astype(np.int64)


def count_bits(rows: Bytes, k: int) -> IntArray:
    """How many rows have each of their first k bits set (rows are packed, lowest bit first)."""
    n, width = rows.shape
    lanes = -(-width // 8)
    total = np.zeros((8, lanes * 8), np.int64)
    step = min(255, max(1, n))
    padded = np.zeros((step, lanes * 8), np.uint8)
    for start in range(0, n, step):
        part = rows[start : start + step]
        padded[: len(part), :width] = part
        words = padded[: len(part)].view(np.uint64)
        for bit in range(8):
            sums = ((words >> np.uint64(bit)) & _ONES).sum(axis=0, dtype=np.uint64)
            total[bit] += sums.view(np.uint8)
    return np.ascontiguousarray(total.T).reshape(-1)[:k]


def popcounts(rows: Bytes) -> IntArray:
    """Number of ones in each row."""
    return np.asarray(np.bitwise_count(rows).sum(axis=1, dtype=np.int64))


def count_hashed(seeds: Words, values: NDArray[np.unsignedinteger], k: int, g: int) -> IntArray:
    """For each of the k items, how many reports (seed, value) have the item in bucket `value` of g.

    Bucket y is an interval of hash values, so one comparison per (report, item) replaces the division.
    """
    a, b = expand(seeds)
    first, length = interval_of(values, g)
    mixed = mix32(np.arange(k))
    total = np.zeros(k, np.int64)
    step = max(1, _PAIRS // max(k, 1))
    for start in range(0, len(a), step):
        part = slice(start, start + step)
        h = (a[part, None] * mixed[None, :] + b[part, None]) >> np.uint64(32)
        total += np.count_nonzero(h - first[part, None] < length[part, None], axis=0)
    return total


def compare(out: Words, left: IntArray, undecided: Words, random: Words, pattern: NDArray[np.bool_]) -> int:
    """Compare 64 random numbers per word with a threshold, some bits further; the words out[left] get the answers.

    Row i of `random` holds the next bit of the random numbers, pattern[i] that of the threshold. A lane that differs
    is decided: less (1 in `out`) where the threshold's bit is 1. `left` and `undecided` are changed: the words with
    undecided lanes come first; returns how many there are.
    """
    n = random.shape[1]
    result, lanes = out[left[:n]], undecided[:n]
    for bits, one in zip(random, pattern.tolist(), strict=True):
        if one:
            result |= lanes & ~bits
            lanes &= bits
        else:
            lanes &= ~bits
    out[left[:n]] = result
    going = np.flatnonzero(lanes)
    left[: going.size], undecided[: going.size] = left[going], lanes[going]
    return int(going.size)


def scale(words: NDArray[np.unsignedinteger], n: int, bits: int) -> IntArray:
    """floor(word n / 2**bits) of words of at most 32 bits, or -1 where the word is to be drawn again."""
    product = words.astype(np.uint64) * np.uint64(n)
    value = (product >> np.uint64(bits)).astype(np.int64)
    surplus = (1 << bits) % n
    if surplus:
        value[(product & np.uint64((1 << bits) - 1)) < np.uint64(surplus)] = -1
    return value


def settle(rows: Bytes, excess: IntArray, pending: IntArray, own: IntArray, at: IntArray) -> IntArray:
    """For each pending row flip bit `at` if that brings its number of ones nearer to what it should be.

    Changes `rows` and `excess` (ones too many); the own bit of a row is never touched. Returns the rows still pending.
    """
    wanted = excess[pending] < 0
    byte, mask = at >> 3, np.left_shift(np.uint8(1), (at & 7).astype(np.uint8))
    change = ((rows[pending, byte] & mask != 0) != wanted) & (at != own[pending])
    todo = pending[change]
    rows[todo, byte[change]] ^= mask[change]
    excess[todo] += np.where(wanted[change], 1, -1)
    left: IntArray = pending[excess[pending] != 0]
    return left


def put_bits(rows: Bytes, at: IntArray, values: NDArray[np.bool_]) -> None:
    """Set bit at[i] of row i to values[i], in place."""
    where = np.arange(len(rows)), at >> 3
    mask = np.left_shift(np.uint8(1), (at & 7).astype(np.uint8))
    rows[where] = np.where(values, rows[where] | mask, rows[where] & ~mask)


def respond(items: IntArray, coins: Words, keep: int, lies: IntArray) -> IntArray:
    """The item where the coin is below `keep`, else the lie, which is a number among the other items."""
    return np.where(coins < np.uint64(keep), items, lies + (lies >= items))
