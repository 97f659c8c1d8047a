"""The hash of `deniable_client.hashing`, for arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.core.types import IntArray, Words

__all__ = ["bucket", "expand", "hash_values", "interval_of", "interval_rows", "mix32", "split64"]


def mix32(items: Any) -> Words:
    """`deniable_client.hashing.mix32` of an array."""
    x = np.asarray(items).astype(np.uint32)
    x = (x ^ (x >> np.uint32(16))) * np.uint32(0x7FEB352D)
    x = (x ^ (x >> np.uint32(15))) * np.uint32(0x846CA68B)
    return (x ^ (x >> np.uint32(16))).astype(np.uint64)


def _split(z: Words) -> Words:
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def split64(seeds: Words, i: int) -> Words:
    """`deniable_client.hashing.split64` of an array."""
    return _split(seeds + np.uint64(i * 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF))


def expand(seeds: Words) -> tuple[Words, Words]:
    """`deniable_client.hashing.expand` of an array."""
    return split64(seeds, 1), split64(seeds, 2)


def hash_values(seeds: Words, items: Any) -> Words:
    """`deniable_client.hashing.hash32` of seeds and items, element by element."""
    a, b = expand(seeds)
    return (a * mix32(items) + b) >> np.uint64(32)


def bucket(seeds: Words, items: Any, g: int) -> IntArray:
    """`deniable_client.hashing.bucket`, element by element."""
    return ((hash_values(seeds, items) * np.uint64(g)) >> np.uint64(32)).astype(np.int64)


def interval_of(values: NDArray[np.unsignedinteger], g: int) -> tuple[Words, Words]:
    """First hash value and number of hash values of buckets: y holds ceil(y 2^32 / g) up to ceil((y+1) 2^32 / g)."""
    y = values.astype(np.uint64)
    first = _ceil_div(y << np.uint64(32), g)
    return first, _ceil_div((y + np.uint64(1)) << np.uint64(32), g) - first


def interval_rows(seeds: Words, first: Words, length: Words, k: int) -> NDArray[np.uint8]:
    """Packed bits, one row per report: which of the k items have their hash value in [first, first + length)."""
    a, b = expand(np.asarray(seeds, np.uint64))
    mixed = mix32(np.arange(k))
    out = np.empty((len(a), -(-k // 8)), np.uint8)
    step = max(1, (1 << 17) // max(k, 1))
    for start in range(0, len(a), step):
        part = slice(start, start + step)
        h = (a[part, None] * mixed[None, :] + b[part, None]) >> np.uint64(32)
        inside = (h - first[part, None]) & np.uint64(0xFFFFFFFF) < length[part, None]
        out[part] = np.packbits(inside, axis=1, bitorder="little")
    return out


def _ceil_div(x: Words, g: int) -> Words:
    return (x + np.uint64(g - 1)) // np.uint64(g)
