"""The registry's rows of mechanisms that are written down whole: matrices, and the best channels for any promise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from deniable.core.guess import check_prior
from deniable.core.promise.making import promise
from deniable.core.promise.ranges import members
from deniable.mechanisms.entry import Entry, Traits
from deniable.mechanisms.optimal.base import Optimal, as_promise, promised_epsilon
from deniable.mechanisms.optimal.matrix import (
    Matrix,
    make_matrix,
    matrix_pull,
    matrix_work,
    rows_domain,
    rows_epsilon,
)
from deniable.mechanisms.optimal.options import OBJECTIVES
from deniable.mechanisms.optimal.release.table import ROW, make_any, promise_domain
from deniable.mechanisms.spaces import SPACE

__all__ = ["ROWS"]


def _pull(m: Optimal, r: int) -> float:
    """The largest sum of r scores of an output, in the worst case all from people with other answers."""
    return float(np.sort(m.worth.scores, axis=1)[:, -r:].sum(axis=1).max())


_LISTED, _PLAIN = 10, 16
"""Answers up to which all outputs are listed: of any promise, and of one epsilon."""


def _by_classes(options: Mapping[str, Any]) -> tuple[str, float, dict[str, Any]] | None:
    """For many answers that can be exchanged, the row that is the optimum for them: one subset of a class is a report.

    One epsilon: the best subset selection. Sensitive answers with one epsilon, harmless ones without a limit: the best
    mixture of subset selections. Where answers of a class are expected differently often, neither is.
    """
    known = {name: x for name, x in options.items() if x is not None and name not in ("promise", "progress", "prior")}
    if known.pop("objective", OBJECTIVES[0]) != OBJECTIVES[0] or any(known.values()) or "promise" not in options:
        return None
    promised = as_promise(options["promise"])
    harmless = [ends for ends in promised.classes if promised.is_harmless(ends[0])]
    finite = promised.value_budgets
    told = promised.table[[i for i, ends in enumerate(promised.classes) if ends not in harmless]]
    if len(finite) != 1 or 0.0 in finite or not np.isfinite(told).all() or promised.strict is not None:
        return None
    level, own = finite.pop(), [x for ends in promised.classes if ends not in harmless for x in members(ends)]
    prior = check_prior(options["prior"], promised.k) if options.get("prior") is not None else None
    rest = np.setdiff1d(np.arange(promised.k), own)
    groups = [np.array(own), rest] if rest.size else [np.array(own)]
    even = prior is None or all(np.allclose(prior[each], prior[each[0]], rtol=1e-12, atol=0) for each in groups)
    if promised.k <= (_LISTED if rest.size else _PLAIN) or not even or promised.levels:
        return None
    if not rest.size:
        return "ss", level, {}
    theta = float(prior[rest].sum()) if prior is not None else rest.size / promised.k
    names = [promised.label(x) for x in sorted(own)]
    first = sorted(own) == list(range(len(own)))
    return "ussmix", level, {"sensitive": len(own) if first else names, "theta": theta}


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
        traits=Traits(matrix_work, _pull),
        default_epsilon=promised_epsilon,
        space=promise_domain,
        instead=_by_classes,
        brings=True,
    ),
    "optimal-release": ROW,
}
