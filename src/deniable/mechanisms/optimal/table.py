"""The registry's rows of mechanisms that are written down whole: matrices, and the best channels for any promise."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from deniable.core.promise.making import promise
from deniable.mechanisms.entry import Entry, Traits
from deniable.mechanisms.optimal.base import Optimal, promised_epsilon
from deniable.mechanisms.optimal.matrix import (
    Matrix,
    make_matrix,
    matrix_pull,
    matrix_work,
    rows_domain,
    rows_epsilon,
)
from deniable.mechanisms.optimal.release.table import ROW, make_any, promise_domain
from deniable.mechanisms.spaces import SPACE

__all__ = ["ROWS"]


def _work(m: Optimal, n: float) -> float:
    """One counter per report, and a product for each output and answer per release."""
    return 1 + m.k * m.table.outputs / n


def _pull(m: Optimal, r: int) -> float:
    """The largest sum of r scores of an output, in the worst case all from people with other answers."""
    return float(np.sort(m.worth.scores, axis=1)[:, -r:].sum(axis=1).max())


_SMALL = (
    ((3, 1), (1, 3)),
    ((4, 2, 1, 1), (1, 5, 1, 1), (2, 2, 2, 2)),
    ((21, 20, 20), (20, 21, 20), (20, 20, 21), (20, 20, 21)),
    ((54, 1), (1, 54)),
)
_UNEVEN = promise(budgets=[[0, 0.5, 1.2, "inf"], [1.0, 0, 0.7, 2.0], [0.4, 0.9, 0, 1.5], [1.0, 1.0, 0.3, 0]])

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
    "optimal": Entry(
        Optimal,
        make_any,
        "the best channel for any promise: budgets between any two answers, found with a certificate",
        "docs/maths/optimal.md",
        "few answers, and a promise that is not the same to all: the least error there is",
        ("promise", "objective", "prior", "values", "worst", "loss", *SPACE),
        needed=("promise",),
        inner=("functionals", "progress"),
        small=(
            {"promise": promise(epsilon=1.0, k=4)},
            {"promise": promise(epsilon=1.0, k=5, sensitive=3), "prior": (0.02, 0.02, 0.01, 0.35, 0.6)},
            {"promise": promise(graph=[(0, 1), (1, 2), (2, 3)], epsilon=0.5, k=4)},
            {"promise": promise(item_epsilon=[0.5, 1, 2], rule="own", labels=["a", "b", "c"]), "worst": True},
            {"promise": promise(budgets=[[0, 0.5], [2, 0]])},
            {"promise": _UNEVEN},
        ),
        traits=Traits(_work, _pull),
        default_epsilon=promised_epsilon,
        space=promise_domain,
        brings=True,
    ),
    "optimal-release": ROW,
}
