"""The loops in NumPy. They define the results; `compiled` has the same names and gives the same arrays.

Arrays that a loop changes come first or are said to be changed; nothing here draws randomness: random words come in.
"""

from deniable.kernels.reference.counts import count_bits, count_values, popcounts
from deniable.kernels.reference.draws import (
    begin,
    compare,
    draw_table,
    near,
    put_bits,
    respond,
    scale,
    settle,
    unfinished,
)
from deniable.kernels.reference.em_levels import em_levels
from deniable.kernels.reference.hashed import buckets, count_hashed, count_intervals
from deniable.kernels.reference.permuted import count_places, walk
from deniable.kernels.reference.tables import draw_rows
from deniable.kernels.reference.transforms import count_orthogonal, walsh_hadamard

__all__ = [
    "begin",
    "buckets",
    "compare",
    "count_bits",
    "count_hashed",
    "count_intervals",
    "count_orthogonal",
    "count_places",
    "count_values",
    "draw_rows",
    "draw_table",
    "em_levels",
    "near",
    "popcounts",
    "put_bits",
    "respond",
    "scale",
    "settle",
    "unfinished",
    "walk",
    "walsh_hadamard",
]
