"""NumPy kernels: counting packed reports, exact Bernoulli bits, uniform subsets, the hash."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.core.types import IntArray
from deniable.errors import require
from deniable.randomness import Stream, below

__all__ = [
    "bernoulli_bits",
    "bucket",
    "clear_padding",
    "count_bits",
    "count_hashed",
    "count_values",
    "get_bits",
    "hash_values",
    "mix32",
    "popcounts",
    "put_bits",
    "subset_bits",
]

Bytes = NDArray[np.uint8]
_BLOCK = 1 << 20
_ONES = np.uint64(0x0101010101010101)


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


def get_bits(rows: Bytes, at: IntArray) -> NDArray[np.bool_]:
    """Bit at[i] of row i."""
    mine = rows[np.arange(len(rows)), at >> 3]
    return np.asarray((mine >> (at & 7).astype(np.uint8)) & 1, np.bool_)


def put_bits(rows: Bytes, at: IntArray, values: NDArray[np.bool_]) -> None:
    """Set bit at[i] of row i to values[i], in place."""
    where = np.arange(len(rows)), at >> 3
    mask = np.left_shift(np.uint8(1), (at & 7).astype(np.uint8))
    rows[where] = np.where(values, rows[where] | mask, rows[where] & ~mask)


def clear_padding(rows: Bytes, k: int) -> None:
    """Set the bits after the first k of each row to zero, in place."""
    if k % 8:
        rows[:, -1] &= np.uint8((1 << (k % 8)) - 1)


def bernoulli_bits(stream: Stream, threshold: int, size: int, *, bits: int = 64) -> Bytes:
    """`size` bytes of independent bits, each 1 with probability exactly threshold / 2**bits.

    Bit-sliced: 64 comparisons of a random number with the threshold at once, from the highest bit down, until all
    lanes of a word are decided (about 8 random words for 64 bits, whatever `bits` is).
    """
    require(0 <= threshold <= 1 << bits, "threshold", threshold, f"from 0 to 2**{bits}")
    words = -(-size // 8)
    out = np.full(words, -(threshold >> bits) & 0xFFFFFFFFFFFFFFFF, np.uint64)
    if threshold >> bits == 0:
        for start in range(0, words, _BLOCK):
            _compare(stream, threshold, out[start : start + _BLOCK], bits)
    return out.view(np.uint8)[:size]


def _compare(stream: Stream, threshold: int, out: NDArray[np.uint64], bits: int) -> None:
    """Write [random < threshold] into every bit of `out`."""
    left = np.arange(out.size)
    undecided = np.full(out.size, 0xFFFFFFFFFFFFFFFF, np.uint64)
    for level in range(bits - 1, -1, -1):
        if not threshold & ((2 << level) - 1) or not left.size:
            return
        random = stream.draw(64, left.size)
        if threshold >> level & 1:
            out[left] |= undecided & ~random
            undecided &= random
        else:
            undecided &= ~random
        going = undecided != 0
        if not going.all():
            left, undecided = left[going], undecided[going]


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
    put_bits(rows, own, kept)
    excess = popcounts(rows) - size
    pending = np.flatnonzero(excess)
    while pending.size:
        at = below(stream, k, pending.size, bits=bits)
        wanted = excess[pending] < 0
        change = (get_bits(rows[pending], at) != wanted) & (at != own[pending])
        todo, spot = pending[change], at[change]
        rows[todo, spot >> 3] ^= np.left_shift(np.uint8(1), (spot & 7).astype(np.uint8))
        excess[todo] += np.where(wanted[change], 1, -1)
        pending = pending[excess[pending] != 0]
    return rows


def mix32(items: Any) -> NDArray[np.uint64]:
    """`deniable_client.hashing.mix32` of an array."""
    x = np.asarray(items).astype(np.uint32)
    x = (x ^ (x >> np.uint32(16))) * np.uint32(0x7FEB352D)
    x = (x ^ (x >> np.uint32(15))) * np.uint32(0x846CA68B)
    return (x ^ (x >> np.uint32(16))).astype(np.uint64)


def _split(z: NDArray[np.uint64]) -> NDArray[np.uint64]:
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def _expand(seeds: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    golden = np.uint64(0x9E3779B97F4A7C15)
    return _split(seeds + golden), _split(seeds + golden + golden)


def hash_values(seeds: NDArray[np.uint64], items: Any) -> NDArray[np.uint64]:
    """`deniable_client.hashing.hash32` of seeds and items, element by element (or broadcast)."""
    a, b = _expand(seeds)
    return (a * mix32(items) + b) >> np.uint64(32)


def bucket(seeds: NDArray[np.uint64], items: Any, g: int) -> IntArray:
    """`deniable_client.hashing.bucket`, element by element."""
    return ((hash_values(seeds, items) * np.uint64(g)) >> np.uint64(32)).astype(np.int64)


def count_hashed(seeds: NDArray[np.uint64], values: NDArray[np.unsignedinteger], k: int, g: int) -> IntArray:
    """For each of the k items, how many reports (seed, value) have the item in bucket `value` of g.

    Bucket y holds the hash values from ceil(y 2^32 / g) up to ceil((y+1) 2^32 / g), so one subtraction and one
    comparison per (report, item) replace the division.
    """
    a, b = _expand(seeds)
    y = values.astype(np.uint64)
    first = _ceil_div(y << np.uint64(32), g)
    length = _ceil_div((y + np.uint64(1)) << np.uint64(32), g) - first
    mixed = mix32(np.arange(k))
    total = np.zeros(k, np.int64)
    step = max(1, _BLOCK // 8 // max(k, 1))
    for start in range(0, len(a), step):
        part = slice(start, start + step)
        h = (a[part, None] * mixed[None, :] + b[part, None]) >> np.uint64(32)
        total += np.count_nonzero(h - first[part, None] < length[part, None], axis=0)
    return total


def _ceil_div(x: NDArray[np.uint64], g: int) -> NDArray[np.uint64]:
    return (x + np.uint64(g - 1)) // np.uint64(g)
