"""The counts of `reference`, compiled."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.core.types import Bytes, IntArray
from deniable.kernels.compiled.jit import compile_loop, inline

__all__ = ["count_bits", "count_cells", "count_values", "popcounts"]

_FEW = 1 << 18
"""Values of more kinds have one counter each: equal neighbours are rare, and memory is not."""
_LEVELS = 4
"""Levels of the vertical counters, four bits each."""
_TILE = 256
"""Words of a row that are added together: their counters fit the cache."""


def count_values(values: NDArray[np.unsignedinteger], k: int) -> IntArray:
    out = np.zeros((4 if k <= _FEW else 1, k), np.int64)
    _count_values(values, out)
    total: IntArray = out.sum(axis=0)
    return total


@compile_loop
def _count_values(values: Any, out: Any) -> None:
    """Four counters for each value in turn, so that equal neighbours do not wait for each other; or one."""
    whole = values.size // 4 * 4 if out.shape[0] == 4 else 0
    for i in range(0, whole, 4):
        out[0, values[i]] += 1
        out[1, values[i + 1]] += 1
        out[2, values[i + 2]] += 1
        out[3, values[i + 3]] += 1
    for i in range(whole, values.size):
        out[0, values[i]] += 1


def count_bits(rows: Bytes, k: int) -> IntArray:
    """See `reference.count_bits`.

    So many rows as fill whole words are one long row of words; counted are the bits of long rows, 16 of them at a
    time. The rows that are left over are completed by empty ones.
    """
    n, width = rows.shape
    unit = 8 // math.gcd(width, 8)
    group = 16 * unit
    whole = n // group * group
    total = np.zeros(8 * width, np.int64)
    _count_rows(np.ascontiguousarray(rows[:whole]), unit, total)
    if whole < n:
        rest = np.zeros((group, width), np.uint8)
        rest[: n - whole] = rows[whole:]
        _count_rows(rest, unit, total)
    return total[:k]


def _count_rows(rows: Bytes, unit: int, total: IntArray) -> None:
    _count_words(rows.reshape(-1).view(np.uint64), unit * rows.shape[1] // 8, total)


@compile_loop
def _count_words(words: Any, length: int, total: Any) -> None:
    """Add the bits of rows of `length` words to `total`, in which the positions of a long row go round and round."""
    n = words.size // length
    most = 16**_LEVELS - 16
    carries = np.zeros((_LEVELS, 16 * _TILE), np.uint64)
    planes = np.zeros((_LEVELS, 4, _TILE), np.uint64)
    for start in range(0, n, most):
        stop = min(n, start + most)
        for first in range(0, length, _TILE):
            m = min(_TILE, length - first)
            _count_tile(words, start * length + first, stop * length, length, m, carries, planes)
            _empty(planes, m, 64 * first % total.size, total)


@compile_loop
def _count_tile(words: Any, start: int, stop: int, length: int, m: int, carries: Any, planes: Any) -> None:
    """Carry-save adders: 16 rows of weight 1 give one row of weight 16, 16 of these one of weight 256, and so on."""
    filled = np.zeros(_LEVELS, np.int64)
    for at in range(start, stop, 16 * length):
        _add_rows(words, at, length, m, planes[0], carries[0], filled[0] * m)
        filled[0] += 1
        level = 0
        while filled[level] == 16:
            _lift(level, m, filled, carries, planes)
            level += 1
    for level in range(_LEVELS - 1):
        if filled[level]:
            carries[level, filled[level] * m : 16 * m] = 0
            _lift(level, m, filled, carries, planes)


@compile_loop
def _lift(level: int, m: int, filled: Any, carries: Any, planes: Any) -> None:
    """Add up the rows that one level's adders have given to the next one."""
    above = level + 1
    _add_rows(carries[level], 0, m, m, planes[above], carries[above], filled[above] * m)
    filled[level] = 0
    filled[above] += 1


@inline
def _add3(a: Any, b: Any, c: Any) -> Any:
    """Sum and carry of three bits, 64 times."""
    u = a ^ b
    return u ^ c, (a & b) | (u & c)


@compile_loop
def _add_rows(words: Any, at: int, step: int, m: int, planes: Any, carry: Any, to: int) -> None:
    """Add 16 rows of m words, `step` apart, to four bit planes; what does not fit goes to `carry`."""
    r0, r1 = words[at : at + m], words[at + step : at + step + m]
    r2, r3 = words[at + 2 * step : at + 2 * step + m], words[at + 3 * step : at + 3 * step + m]
    r4, r5 = words[at + 4 * step : at + 4 * step + m], words[at + 5 * step : at + 5 * step + m]
    r6, r7 = words[at + 6 * step : at + 6 * step + m], words[at + 7 * step : at + 7 * step + m]
    r8, r9 = words[at + 8 * step : at + 8 * step + m], words[at + 9 * step : at + 9 * step + m]
    ra, rb = words[at + 10 * step : at + 10 * step + m], words[at + 11 * step : at + 11 * step + m]
    rc, rd = words[at + 12 * step : at + 12 * step + m], words[at + 13 * step : at + 13 * step + m]
    re, rf = words[at + 14 * step : at + 14 * step + m], words[at + 15 * step : at + 15 * step + m]
    p0, p1, p2, p3, out = planes[0], planes[1], planes[2], planes[3], carry[to : to + m]
    for j in range(m):
        one, a = _add3(p0[j], r0[j], r1[j])
        one, b = _add3(one, r2[j], r3[j])
        two, c = _add3(p1[j], a, b)
        one, a = _add3(one, r4[j], r5[j])
        one, b = _add3(one, r6[j], r7[j])
        two, d = _add3(two, a, b)
        four, e = _add3(p2[j], c, d)
        one, a = _add3(one, r8[j], r9[j])
        one, b = _add3(one, ra[j], rb[j])
        two, c = _add3(two, a, b)
        one, a = _add3(one, rc[j], rd[j])
        p0[j], b = _add3(one, re[j], rf[j])
        p1[j], d = _add3(two, a, b)
        p2[j], f = _add3(four, c, d)
        p3[j], out[j] = _add3(p3[j], e, f)


@compile_loop
def _empty(planes: Any, m: int, first: int, total: Any) -> None:
    """Add the numbers in the bit planes to `total` from position `first` on, round and round; clear them."""
    for level in range(_LEVELS):
        for p in range(4):
            at = first
            for j in range(m):
                word = planes[level, p, j]
                for byte in range(8):
                    for b in range(8):
                        bit = (word >> np.uint64(8 * byte + b)) & np.uint64(1)
                        total[at + b] += np.int64(bit) << (4 * level + p)
                    at = at + 8 if at + 8 < total.size else 0
    planes[:] = 0


def popcounts(rows: Bytes) -> IntArray:
    whole = rows.shape[1] // 8 * 8
    out = np.empty(len(rows), np.int64)
    _popcounts(rows[:, :whole].view(np.uint64), rows[:, whole:], out)
    return out


@inline
def _popcount(x: Any) -> Any:
    """Number of ones of a 64-bit word, in the form that the compiler knows as one instruction."""
    x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (x * np.uint64(0x0101010101010101)) >> np.uint64(56)


@compile_loop
def _popcounts(words: Any, rest: Any, out: Any) -> None:
    for i in range(out.size):
        total = np.uint64(0)
        for j in range(words.shape[1]):
            total += _popcount(words[i, j])
        last = np.uint64(0)
        for j in range(rest.shape[1]):
            last = (last << np.uint64(8)) | np.uint64(rest[i, j])
        out[i] = np.int64(total + _popcount(last))


def count_cells(
    rows: Bytes, cuts: IntArray, shifts: IntArray, widths: IntArray, circle: int
) -> tuple[IntArray, IntArray]:
    starts, sizes = np.zeros((len(widths), circle), np.int64), np.zeros(len(rows), np.int64)
    _count_cells(rows, cuts, shifts, widths, circle, starts, sizes)
    return starts, sizes


@compile_loop
def _count_cells(rows: Any, cuts: Any, shifts: Any, widths: Any, circle: int, starts: Any, sizes: Any) -> None:
    for i in range(rows.shape[0]):
        cut, shift = cuts[i], shifts[i]
        width = widths[cut]
        cells = circle // width
        size = 0
        for j in range((cells + 7) // 8):
            byte = np.int64(rows[i, j])
            cell = 8 * j
            while byte and cell < cells:
                if byte & 1:
                    size += 1
                    at = cell * width - shift
                    starts[cut, at + circle if at < 0 else at] += 1
                byte >>= 1
                cell += 1
        sizes[i] = size
