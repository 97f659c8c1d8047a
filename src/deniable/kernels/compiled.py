"""The loops of `reference`, compiled by Numba: the same names, arguments and results, bit for bit.

They release the interpreter's lock, so that threads use all cores; machine code is cached on disk.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
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
_compile = njit(nogil=True, cache=True, boundscheck=False, error_model="numpy")
_inline = njit(nogil=True, cache=True, inline="always")

_HASH_BLOCK = 1024
"""Reports hashed together: their three 8-byte numbers fit the first-level cache."""
_ROWS = 240
"""Rows of bits added together (a multiple of 16)."""
_PLANES = 12
"""Bits of the vertical counters: 4095 rows before they are emptied."""


def count_values(values: NDArray[np.unsignedinteger], k: int) -> IntArray:
    """See `reference.count_values`."""
    out = np.zeros((4, k), np.int64)
    _count_values(values, out)
    total: IntArray = out.sum(axis=0)
    return total


@_compile
def _count_values(values: Any, out: Any) -> None:
    """Four counters for each value in turn, so that equal neighbours do not wait for each other."""
    whole = values.size // 4 * 4
    for i in range(0, whole, 4):
        out[0, values[i]] += 1
        out[1, values[i + 1]] += 1
        out[2, values[i + 2]] += 1
        out[3, values[i + 3]] += 1
    for i in range(whole, values.size):
        out[0, values[i]] += 1


def count_bits(rows: Bytes, k: int) -> IntArray:
    """See `reference.count_bits`."""
    width = rows.shape[1]
    total = np.zeros(64 * -(-width // 8), np.int64)
    if rows.size:
        flat = np.ascontiguousarray(rows).reshape(-1)
        _count_bits(flat, flat[: flat.size // 8 * 8].view(np.uint64), len(rows), width, total)
    return total[:k]


@_compile
def _count_bits(flat: Any, aligned: Any, n: int, width: int, total: Any) -> None:
    """Carry-save adders over 16 rows at a time, counting up to 4095 rows in bit planes before adding to `total`."""
    lanes = (width + 7) // 8
    words = np.zeros(_ROWS * lanes, np.uint64)
    planes = np.zeros((lanes, _PLANES), np.uint64)
    counted = 0
    for start in range(0, n, _ROWS):
        m = min(_ROWS, n - start)
        _load_rows(flat, aligned, start, m, width, lanes, words)
        _add_rows(words, m, lanes, planes)
        counted += m
        if counted + _ROWS > 4095 or start + _ROWS >= n:
            _empty(planes, total)
            counted = 0


@_compile
def _load_rows(flat: Any, aligned: Any, start: int, m: int, width: int, lanes: int, words: Any) -> None:
    """Rows of `width` bytes into rows of 8-byte words; the rows up to the next multiple of 16 become zero."""
    last = np.uint64(0xFFFFFFFFFFFFFFFF) >> np.uint64(64 - 8 * (width - 8 * (lanes - 1)))
    for i in range(m):
        byte = (start + i) * width
        first, shift = byte >> 3, np.uint64(8 * (byte & 7))
        to = i * lanes
        if first + lanes < aligned.size and shift != 0:
            back = np.uint64(64) - shift
            for j in range(lanes):
                words[to + j] = (aligned[first + j] >> shift) | (aligned[first + j + 1] << back)
        elif first + lanes <= aligned.size and shift == 0:
            for j in range(lanes):
                words[to + j] = aligned[first + j]
        else:
            for j in range(lanes):
                word = np.uint64(0)
                for b in range(min(8, width - 8 * j)):
                    word |= np.uint64(flat[byte + 8 * j + b]) << np.uint64(8 * b)
                words[to + j] = word
        words[to + lanes - 1] &= last
    words[m * lanes : (m + 15) // 16 * 16 * lanes] = 0


@_inline
def _add3(a: Any, b: Any, c: Any) -> Any:
    """Sum and carry of three bits, 64 times."""
    u = a ^ b
    return u ^ c, (a & b) | (u & c)


@_compile
def _add_rows(words: Any, m: int, lanes: int, planes: Any) -> None:
    step = np.uint64(lanes)
    for j in range(lanes):
        ones, twos, fours, eights = planes[j, 0], planes[j, 1], planes[j, 2], planes[j, 3]
        x = np.uint64(j)
        for _ in range((m + 15) // 16):
            ones, ta = _add3(ones, words[x], words[x + step])
            x += step + step
            ones, tb = _add3(ones, words[x], words[x + step])
            x += step + step
            twos, fa = _add3(twos, ta, tb)
            ones, ta = _add3(ones, words[x], words[x + step])
            x += step + step
            ones, tb = _add3(ones, words[x], words[x + step])
            x += step + step
            twos, fb = _add3(twos, ta, tb)
            fours, ea = _add3(fours, fa, fb)
            ones, ta = _add3(ones, words[x], words[x + step])
            x += step + step
            ones, tb = _add3(ones, words[x], words[x + step])
            x += step + step
            twos, fa = _add3(twos, ta, tb)
            ones, ta = _add3(ones, words[x], words[x + step])
            x += step + step
            ones, tb = _add3(ones, words[x], words[x + step])
            x += step + step
            twos, fb = _add3(twos, ta, tb)
            fours, eb = _add3(fours, fa, fb)
            eights, carry = _add3(eights, ea, eb)
            for p in range(4, _PLANES):
                planes[j, p], carry = planes[j, p] ^ carry, planes[j, p] & carry
        planes[j, 0], planes[j, 1], planes[j, 2], planes[j, 3] = ones, twos, fours, eights


@_compile
def _empty(planes: Any, total: Any) -> None:
    for j in range(planes.shape[0]):
        for p in range(_PLANES):
            word = planes[j, p]
            for b in range(64):
                total[64 * j + b] += np.int64((word >> np.uint64(b)) & np.uint64(1)) << p
    planes[:] = 0


def popcounts(rows: Bytes) -> IntArray:
    """See `reference.popcounts`."""
    out = np.empty(len(rows), np.int64)
    _popcounts(rows, _ONES_OF_BYTE, out)
    return out


_ONES_OF_BYTE = np.bitwise_count(np.arange(256, dtype=np.uint8))


@_compile
def _popcounts(rows: Any, ones_of_byte: Any, out: Any) -> None:
    for i in range(rows.shape[0]):
        total = 0
        for j in range(rows.shape[1]):
            total += np.int64(ones_of_byte[rows[i, j]])
        out[i] = total


def count_hashed(seeds: Words, values: NDArray[np.unsignedinteger], k: int, g: int) -> IntArray:
    """See `reference.count_hashed`.

    With a 64-bit hash t = a mix(x) + b, the hash value t >> 32 lies in [first, first + length) if and only if
    t - first 2^32 < length 2^32; adding 2^63 on both sides makes that a comparison of signed numbers.
    """
    a, b = expand(seeds)
    first, length = interval_of(values, g)
    half, shift = np.uint64(1 << 63), np.uint64(32)
    start = (b - (first << shift) + half).view(np.int64)
    limit = ((length << shift) + half).view(np.int64)
    total = np.zeros(k, np.int64)
    _count_hashed(a.view(np.int64), start, limit, mix32(np.arange(k)).view(np.int64), total)
    return total


@_compile
def _count_hashed(a: Any, start: Any, limit: Any, mixed: Any, total: Any) -> None:
    n, k = a.size, mixed.size
    for s in range(0, n, _HASH_BLOCK):
        e = min(n, s + _HASH_BLOCK)
        x, y, z = a[s:e], start[s:e], limit[s:e]
        whole = k // 4 * 4
        for i in range(0, whole, 4):
            m0, m1, m2, m3 = mixed[i], mixed[i + 1], mixed[i + 2], mixed[i + 3]
            c0, c1, c2, c3 = 0, 0, 0, 0
            for j in range(e - s):
                c0 += np.int64(x[j] * m0 + y[j] < z[j])
                c1 += np.int64(x[j] * m1 + y[j] < z[j])
                c2 += np.int64(x[j] * m2 + y[j] < z[j])
                c3 += np.int64(x[j] * m3 + y[j] < z[j])
            total[i] += c0
            total[i + 1] += c1
            total[i + 2] += c2
            total[i + 3] += c3
        for i in range(whole, k):
            c0 = 0
            for j in range(e - s):
                c0 += np.int64(x[j] * mixed[i] + y[j] < z[j])
            total[i] += c0


@_compile
def compare(out: Any, left: Any, undecided: Any, random: Any, pattern: Any) -> int:
    """See `reference.compare`."""
    count = 0
    for i in range(random.shape[1]):
        at, lanes = left[i], undecided[i]
        result = out[at]
        for level in range(pattern.size):
            if pattern[level]:
                result |= lanes & ~random[level, i]
                lanes &= random[level, i]
            else:
                lanes &= ~random[level, i]
        out[at] = result
        left[count], undecided[count] = at, lanes
        count += lanes != 0
    return count


def scale(words: NDArray[np.unsignedinteger], n: int, bits: int) -> IntArray:
    """See `reference.scale`."""
    out = np.empty(words.size, np.int64)
    _scale(words, np.uint64(n), np.uint64(bits), np.uint64((1 << bits) % n), out)
    return out


@_compile
def _scale(words: Any, n: Any, bits: Any, surplus: Any, out: Any) -> None:
    mask = (np.uint64(1) << bits) - np.uint64(1)
    for i in range(words.size):
        product = np.uint64(words[i]) * n
        out[i] = np.int64(product >> bits) if (product & mask) >= surplus else np.int64(-1)


@_compile
def settle(rows: Any, excess: Any, pending: Any, own: Any, at: Any) -> Any:
    """See `reference.settle`."""
    left = np.empty_like(pending)
    count = 0
    for i in range(pending.size):
        row, spot = pending[i], at[i]
        wanted = excess[row] < 0
        mask = np.uint8(1) << np.uint8(spot & 7)
        if ((rows[row, spot >> 3] & mask) != 0) != wanted and spot != own[row]:
            rows[row, spot >> 3] ^= mask
            excess[row] += 1 if wanted else -1
        left[count] = row
        count += excess[row] != 0
    return left[:count]


@_compile
def put_bits(rows: Any, at: Any, values: Any) -> None:
    """See `reference.put_bits`."""
    for i in range(at.size):
        mask = np.uint8(1) << np.uint8(at[i] & 7)
        byte = rows[i, at[i] >> 3]
        rows[i, at[i] >> 3] = byte | mask if values[i] else byte & ~mask


def respond(items: IntArray, coins: Words, keep: int, lies: IntArray) -> IntArray:
    """See `reference.respond`."""
    out = np.empty(items.size, np.int64)
    _respond(items, coins, np.uint64(keep), lies, out)
    return out


@_compile
def _respond(items: Any, coins: Any, keep: Any, lies: Any, out: Any) -> None:
    for i in range(items.size):
        lie = lies[i] + np.int64(lies[i] >= items[i])
        out[i] = items[i] if coins[i] < keep else lie
