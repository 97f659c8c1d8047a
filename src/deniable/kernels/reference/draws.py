"""From random words to reports."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deniable.core.types import Bytes, IntArray, UintArray

__all__ = ["begin", "compare", "draw_table", "near", "put_bits", "respond", "scale", "settle", "unfinished"]

Words = NDArray[np.uint64]
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


def begin(out: Words, lanes: Words, random: Words, pattern: NDArray[np.bool_]) -> None:
    """Compare 64 random numbers per word with a threshold, by their first bits.

    Row i of `random` holds bit i of the random numbers, pattern[i] that of the threshold, highest first. `out` gets 1
    for the numbers known to be less, `lanes` 1 for those that are still undecided: equal to the threshold so far.
    """
    out[:], lanes[:] = 0, _ALL
    _decide(out, lanes, random, pattern)


def unfinished(lanes: Words) -> tuple[IntArray, Words]:
    """The places of the words with undecided lanes, and these lanes."""
    left = np.flatnonzero(lanes)
    return left, lanes[left]


def compare(out: Words, left: IntArray, undecided: Words, random: Words, pattern: NDArray[np.bool_]) -> int:
    """Like `begin` for some further bits of the numbers in the words out[left].

    `left` and `undecided` are changed: the words with undecided lanes come first; returns how many there are.
    """
    n = random.shape[1]
    result, lanes = out[left[:n]], undecided[:n]
    _decide(result, lanes, random, pattern)
    out[left[:n]] = result
    going = np.flatnonzero(lanes)
    left[: going.size], undecided[: going.size] = left[going], lanes[going]
    return int(going.size)


def _decide(result: Words, lanes: Words, random: Words, pattern: NDArray[np.bool_]) -> None:
    """A lane that differs from the threshold's bit is decided: less where that bit is 1."""
    for bits, one in zip(random, pattern.tolist(), strict=True):
        if one:
            result |= lanes & ~bits
            lanes &= bits
        else:
            lanes &= ~bits


def scale(words: UintArray, n: int, bits: int) -> IntArray:
    """floor(word n / 2**bits) of words of at most 32 bits, or -1 where the word is to be drawn again."""
    product = words.astype(np.uint64) * np.uint64(n)
    value = (product >> np.uint64(bits)).astype(np.int64)
    surplus = (1 << bits) % n
    if surplus:
        value[(product & np.uint64((1 << bits) - 1)) < np.uint64(surplus)] = -1
    return value


def respond(out: UintArray, items: IntArray, coins: Words, keep: int, words: UintArray, n: int, bits: int) -> IntArray:
    """Randomised response: out[i] is the item where the coin is below `keep`, else another one, by `scale` of a word.

    Returns the places where a word is to be drawn again.
    """
    lie, number = coins >= np.uint64(keep), scale(words, n, bits)
    out[:] = np.where(lie, number + (number >= items), items)
    return np.flatnonzero(lie & (number < 0))


def near(
    out: UintArray, starts: IntArray, coins: Words, keep: int, words: UintArray, m: int, rest: int, bits: int
) -> IntArray:
    """One of the m numbers from starts[i] on where the coin is below `keep`, else one of the `rest`, by `scale`.

    Returns the places where a word is to be drawn again.
    """
    inside = coins < np.uint64(keep)
    number = np.where(inside, scale(words, m, bits), scale(words, rest, bits))
    out[:] = np.where(inside, number + starts, number + m * (number >= starts))
    return np.flatnonzero(number < 0)


def settle(
    rows: Bytes, excess: IntArray, pending: IntArray, own: IntArray, words: UintArray, k: int, bits: int
) -> IntArray:
    """Bring the numbers of ones of the pending rows nearer to what they should be.

    Row pending[i] uses words[i] in turn: a word is a position by `scale`, or nothing where it would have to be drawn
    again. The bit there is flipped if that reduces the row's excess of ones; the own bit never is. Changes `rows` and
    `excess`; returns the rows that are still pending.
    """
    for column in words.T:
        at, over = scale(column, k, bits), excess[pending]
        byte, mask = at >> 3, np.left_shift(np.uint8(1), (at & 7).astype(np.uint8))
        one = rows[pending, byte] & mask != 0
        change = (over != 0) & (one == (over > 0)) & (at >= 0) & (at != own[pending])
        todo = pending[change]
        rows[todo, byte[change]] ^= mask[change]
        excess[todo] -= np.sign(over[change])
    left: IntArray = pending[excess[pending] != 0]
    return left


def draw_table(words: Words, thresholds: Words) -> IntArray:
    """How many of the thresholds, which ascend, are at most each word: a draw from the law of their differences."""
    return np.searchsorted(thresholds, words, side="right").astype(np.int64)


def put_bits(rows: Bytes, at: IntArray, values: NDArray[np.bool_]) -> None:
    """Set bit at[i] of row i to values[i], in place."""
    where = np.arange(len(rows)), at >> 3
    mask = np.left_shift(np.uint8(1), (at & 7).astype(np.uint8))
    rows[where] = np.where(values, rows[where] | mask, rows[where] & ~mask)
