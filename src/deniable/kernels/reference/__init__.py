"""The loops in NumPy. They define the results; `compiled` has the same names and gives the same arrays.

Arrays that a loop changes come first or are said to be changed; nothing here draws randomness: random words come in.
"""

from deniable.kernels.reference.counts import count_bits, count_hashed, count_values, popcounts
from deniable.kernels.reference.draws import (
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
