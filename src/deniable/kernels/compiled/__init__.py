"""The loops of `reference`, compiled by Numba: the same names, arguments and results, bit for bit.

They release the interpreter's lock, so that threads use all cores; machine code is cached on disk. Steps of
expectation maximisation, which add floats, are the same up to rounding.
"""
# ruff: noqa: F401

from deniable.kernels import reference
from deniable.kernels.compiled.counts import count_bits, count_cells, count_values, popcounts
from deniable.kernels.compiled.draws import (
    begin,
    block_of,
    compare,
    draw_rows,
    draw_table,
    near,
    put_bits,
    respond,
    scale,
    settle,
    unfinished,
)
from deniable.kernels.compiled.em_levels import em_levels
from deniable.kernels.compiled.hashed import buckets, count_hashed, count_intervals
from deniable.kernels.compiled.permuted import count_places, walk, walk_all
from deniable.kernels.compiled.transforms import count_orthogonal, walsh_hadamard

__all__ = reference.__all__
