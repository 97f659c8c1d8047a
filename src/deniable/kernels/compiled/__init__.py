"""The loops of `reference`, compiled by Numba: the same names, arguments and results, bit for bit.

They release the interpreter's lock, so that threads use all cores; machine code is cached on disk.
"""

from deniable.kernels.compiled.counts import count_bits, count_hashed, count_values, popcounts
from deniable.kernels.compiled.draws import (
    begin,
    buckets,
    compare,
    put_bits,
    respond,
    scale,
    settle,
    unfinished,
)

__all__ = [
    "begin",
    "buckets",
    "compare",
    "count_bits",
    "count_hashed",
    "count_values",
    "popcounts",
    "put_bits",
    "respond",
    "scale",
    "settle",
    "unfinished",
]
