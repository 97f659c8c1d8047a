"""The registry's rows of mechanisms that are written down whole."""

from __future__ import annotations

from collections.abc import Mapping

from deniable.mechanisms.entry import Entry
from deniable.mechanisms.optimal.matrix import Matrix, make_matrix, rows_domain, rows_epsilon

__all__ = ["ROWS"]

_COIN = ((3, 1), (1, 3))
_THREE = ((4, 2, 1, 1), (1, 5, 1, 1), (2, 2, 2, 2))

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
        small=(
            {"matrix": _COIN},
            {"matrix": _COIN, "epsilon": 4.0},
            {"matrix": _THREE, "epsilon": 2.0},
            {"matrix": _THREE},
        ),
        default_epsilon=rows_epsilon,
        space=rows_domain,
        brings=True,
    ),
}
