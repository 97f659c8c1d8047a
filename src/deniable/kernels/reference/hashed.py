"""Hash values of items, and which items reports of the hashing family support."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deniable.core.types import IntArray, UintArray
from deniable.kernels.hashing import bucket, interval_of, interval_rows
from deniable.kernels.reference.counts import count_bits

__all__ = ["buckets", "count_hashed", "count_intervals"]

Words = NDArray[np.uint64]
_REPORTS = 1 << 14
"""Reports whose supports are written out at once."""


def buckets(seeds: Words, items: IntArray, g: int) -> IntArray:
    """The bucket 0..g-1 of each item by the hash function of its seed."""
    return bucket(seeds, items, g)


def count_hashed(seeds: Words, values: UintArray, k: int, g: int) -> IntArray:
    """For each of the k items, how many reports (seed, value) have the item in bucket `value` of g.

    Bucket y is an interval of hash values, so one comparison per (report, item) replaces the division.
    """
    return count_intervals(seeds, *interval_of(values, g), k)


def count_intervals(seeds: Words, first: Words, length: Words, k: int) -> IntArray:
    """For each of the k items, how many reports have its hash value in [first, first + length), modulo 2**32.

    Lengths are less than 2**32.
    """
    total = np.zeros(k, np.int64)
    for start in range(0, len(seeds), _REPORTS):
        part = slice(start, start + _REPORTS)
        total += count_bits(interval_rows(seeds[part], first[part], length[part], k), k)
    return total
