"""The registry's rows of mechanisms that are written down whole."""

from __future__ import annotations

from collections.abc import Mapping

from deniable.mechanisms.entry import Entry, Traits
from deniable.mechanisms.optimal.matrix import (
    Matrix,
    make_matrix,
    matrix_pull,
    matrix_work,
    rows_domain,
    rows_epsilon,
)

__all__ = ["ROWS"]

_SMALL = (
    ((3, 1), (1, 3)),
    ((4, 2, 1, 1), (1, 5, 1, 1), (2, 2, 2, 2)),
    ((21, 20, 20), (20, 21, 20), (20, 20, 21), (20, 20, 21)),
    ((54, 1), (1, 54)),
)

ROWS: Mapping[str, Entry] = {
    "matrix": Entry(
        Matrix,
        make_matrix,
        "a matrix of chances, of your own",
        "docs/maths/written.md",
        "an idea of your own: audited exactly, then drawn, counted and estimated like any other",
        ("matrix",),
        needed=("matrix",),
        inner=("promise", "outputs", "prior"),
        small=tuple({"matrix": rows} for rows in _SMALL),
        traits=Traits(matrix_work, matrix_pull),
        default_epsilon=rows_epsilon,
        space=rows_domain,
        brings=True,
    ),
}
