"""The draws of `reference`, compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from deniable.core.types import Bytes, IntArray, UintArray, Words
from deniable.kernels.compiled.jit import compile_loop, inline

__all__ = [
    "begin",
    "block_of",
    "compare",
    "draw_rows",
    "draw_table",
    "near",
    "put_bits",
    "respond",
    "scale",
    "settle",
    "unfinished",
]

_TILE = 512
"""Words compared together: their answers stay in the first-level cache while all bits are looked at."""
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


@compile_loop
def begin(out: Any, lanes: Any, random: Any, pattern: Any) -> None:
    out[:] = 0
    lanes[:] = _ALL
    _decide(out, lanes, random, pattern)


@compile_loop
def _decide(result: Any, lanes: Any, random: Any, pattern: Any) -> None:
    """See `reference`. The threshold's bit as a mask of 64 spares the branch."""
    for start in range(0, lanes.size, _TILE):
        stop = min(lanes.size, start + _TILE)
        less, equal = result[start:stop], lanes[start:stop]
        for level in range(pattern.size):
            ones = _ALL if pattern[level] else np.uint64(0)
            bits = random[level, start:stop]
            for i in range(stop - start):
                differs = bits[i] ^ ones
                less[i] |= equal[i] & differs & ones
                equal[i] &= ~differs


@compile_loop
def unfinished(lanes: Any) -> Any:
    left, undecided, count = np.empty(lanes.size, np.int64), np.empty(lanes.size, np.uint64), 0
    for i in range(lanes.size):
        left[count], undecided[count] = i, lanes[i]
        count += lanes[i] != 0
    return left[:count], undecided[:count]


@compile_loop
def compare(out: Any, left: Any, undecided: Any, random: Any, pattern: Any) -> int:
    n, count = random.shape[1], 0
    result, lanes = np.zeros(n, np.uint64), undecided[:n]
    _decide(result, lanes, random, pattern)
    for i in range(n):
        out[left[i]] |= result[i]
        left[count], undecided[count] = left[i], lanes[i]
        count += lanes[i] != 0
    return count


@inline
def _scaled(word: Any, n: Any, bits: Any, mask: Any, surplus: Any) -> Any:
    product = np.uint64(word) * n
    return np.int64(product >> bits) if (product & mask) >= surplus else np.int64(-1)


def _scaling(n: int, bits: int) -> tuple[np.uint64, np.uint64, np.uint64, np.uint64]:
    """The last arguments of `_scaled`."""
    return np.uint64(n), np.uint64(bits), np.uint64((1 << bits) - 1), np.uint64((1 << bits) % n)


def scale(words: UintArray, n: int, bits: int) -> IntArray:
    out = np.empty(words.size, np.int64)
    _scale(words, *_scaling(n, bits), out)
    return out


@compile_loop
def _scale(words: Any, n: Any, bits: Any, mask: Any, surplus: Any, out: Any) -> None:
    for i in range(words.size):
        out[i] = _scaled(words[i], n, bits, mask, surplus)


def respond(out: UintArray, items: IntArray, coins: Words, keep: int, words: UintArray, n: int, bits: int) -> IntArray:
    redraw = np.empty(out.size, np.int64)
    return redraw[: _respond(out, items, coins, np.uint64(keep), words, *_scaling(n, bits), redraw)]


@compile_loop
def _respond(
    out: Any, items: Any, coins: Any, keep: Any, words: Any, n: Any, bits: Any, mask: Any, surplus: Any, redraw: Any
) -> int:
    count = 0
    for i in range(out.size):
        number = _scaled(words[i], n, bits, mask, surplus)
        lie = coins[i] >= keep
        out[i] = number + np.int64(number >= items[i]) if lie else items[i]
        if lie and number < 0:
            redraw[count] = i
            count += 1
    return count


def near(
    out: UintArray, starts: IntArray, coins: Words, keep: int, words: UintArray, m: int, rest: int, bits: int
) -> IntArray:
    redraw = np.empty(out.size, np.int64)
    own, other, shift, mask = np.uint64(m), np.uint64(rest), np.uint64(bits), np.uint64((1 << bits) - 1)
    surplus = np.uint64((1 << bits) % m), np.uint64((1 << bits) % rest)
    return redraw[: _near(out, starts, coins, np.uint64(keep), words, own, other, shift, mask, *surplus, redraw)]


@compile_loop
def _near(
    out: Any,
    starts: Any,
    coins: Any,
    keep: Any,
    words: Any,
    m: Any,
    rest: Any,
    bits: Any,
    mask: Any,
    surplus_in: Any,
    surplus_out: Any,
    redraw: Any,
) -> int:
    count = 0
    for i in range(out.size):
        inside = coins[i] < keep
        number = _scaled(words[i], m if inside else rest, bits, mask, surplus_in if inside else surplus_out)
        out[i] = number + (starts[i] if inside else np.int64(m) * np.int64(number >= starts[i]))
        redraw[count] = i
        count += number < 0
    return count


def block_of(
    out: UintArray, items: IntArray, coins: Words, keep: int, words: UintArray, powers: IntArray, shape: tuple[int, ...]
) -> IntArray:
    (m, j, zero, bits), q = shape, powers.size + 1
    own = j * ((q - 1) // m) + zero
    redraw = np.empty(out.size, np.int64)
    numbers = np.array([m, own, q - own], np.uint64)
    surplus = np.array([(1 << bits) % n for n in (m, own, q - own)], np.uint64)
    sizes = np.uint64(bits), np.uint64((1 << bits) - 1), numbers, surplus
    return redraw[: _block_of(out, items, coins, np.uint64(keep), words, powers, m, j, *sizes, redraw)]


@compile_loop
def _block_of(
    out: Any,
    items: Any,
    coins: Any,
    keep: Any,
    words: Any,
    powers: Any,
    m: int,
    j: int,
    bits: Any,
    mask: Any,
    numbers: Any,
    surplus: Any,
    redraw: Any,
) -> int:
    count, q, step = 0, powers.size + 1, powers.size // m
    for i in range(out.size):
        kept = coins[i] < keep
        which = 1 if kept else 2
        union = _scaled(words[0, i], numbers[0], bits, mask, surplus[0])
        number = _scaled(words[1, i], numbers[which], bits, mask, surplus[which])
        known = max(number, 0)
        turn = known // step
        power = union + turn + (0 if kept else j)
        point = 0 if turn == (j if kept else m - j) else powers[power % m + m * (known - turn * step)]
        out[i] = union * q + (items[i] - point) % q
        if union < 0 or number < 0:
            redraw[count] = i
            count += 1
    return count


def settle(
    rows: Bytes, excess: IntArray, pending: IntArray, own: IntArray, words: UintArray, k: int, bits: int
) -> IntArray:
    left = np.empty_like(pending)
    return left[: _settle(rows, excess, pending, own, words, *_scaling(k, bits), left)]


@compile_loop
def _settle(
    rows: Any, excess: Any, pending: Any, own: Any, words: Any, k: Any, bits: Any, mask: Any, surplus: Any, left: Any
) -> int:
    count = 0
    for i in range(pending.size):
        row, j = pending[i], 0
        mine, over = np.uint64(own[row]), excess[row] > 0
        todo = abs(excess[row])
        while todo > 0 and j < words.shape[1]:
            product = np.uint64(words[i, j]) * k
            at = product >> bits
            byte, bit = rows[row, at >> np.uint64(3)], np.uint8(at & np.uint64(7))
            flip = ((byte >> bit & 1 != 0) == over) & (at != mine) & ((product & mask) >= surplus)
            rows[row, at >> np.uint64(3)] = byte ^ (np.uint8(flip) << bit)
            todo -= flip
            j += 1
        excess[row] = todo if over else -todo
        left[count] = row
        count += todo != 0
    return count


def draw_table(words: Words, thresholds: Words) -> IntArray:
    out = np.empty(words.size, np.int64)
    _draw_table(words, thresholds, out)
    return out


@compile_loop
def _draw_table(words: Any, thresholds: Any, out: Any) -> None:
    for i in range(words.size):
        out[i] = _at_most(thresholds, words[i])


def draw_rows(words: Words, thresholds: Words, items: IntArray) -> IntArray:
    out = np.empty(items.size, np.int64)
    _draw_rows(words, thresholds, items, out)
    return out


@compile_loop
def _draw_rows(words: Any, thresholds: Any, items: Any, out: Any) -> None:
    for i in range(items.size):
        out[i] = _at_most(thresholds[items[i]], words[i])


@inline
def _at_most(thresholds: Any, word: Any) -> Any:
    """How many are. Binary search without branches: the length halves, and the start moves or not."""
    start, length = 0, thresholds.size
    while length > 1:
        half = length // 2
        start += half if thresholds[start + half - 1] <= word else 0
        length -= half
    return start + (length == 1 and thresholds[start] <= word)


@compile_loop
def put_bits(rows: Any, at: Any, values: Any) -> None:
    for i in range(at.size):
        mask = np.uint8(1) << np.uint8(at[i] & 7)
        byte = rows[i, at[i] >> 3]
        rows[i, at[i] >> 3] = byte | mask if values[i] else byte & ~mask
