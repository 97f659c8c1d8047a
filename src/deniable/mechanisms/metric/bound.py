"""The least expected loss that any mechanism with a promise can have, by linear programming: the yardstick.

Every channel within e^epsilon is Pr[y|x] = b_y + u_xy with 0 <= u_xy <= (e-1) b_y and rows that sum to 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from deniable.core.types import FloatArray
from deniable.errors import DeniableError, EnumerationError, require

__all__ = ["optimal_release"]

OBJECTIVES = ("mean", "minimax")
ENTRIES_MAX = 1 << 14
"""Values times reports of the largest programme."""
_TOLERANCE = 1e-10


@dataclass(frozen=True, slots=True, eq=False)
class Optimum:
    """The least loss, and a channel (a row for each value) that attains it."""

    loss: float
    matrix: FloatArray


def optimal_release(
    losses: FloatArray, epsilon: float, weights: FloatArray | None = None, objective: str = "mean"
) -> Optimum:
    """The channel of least expected loss (`mean`), or of the least loss of the value that is worst off (`minimax`)."""
    from scipy.optimize import linprog

    require(objective in OBJECTIVES, "objective", objective, f"one of {', '.join(OBJECTIVES)}")
    require(epsilon <= 30, "epsilon", epsilon, "at most 30 for a linear programme", "Solvers work with floats.")
    k, outputs = losses.shape
    if k * outputs > ENTRIES_MAX:
        raise EnumerationError(f"a programme for {k} x {outputs} losses is too large (at most {ENTRIES_MAX}).")
    pi = np.full(k, 1 / k) if weights is None else weights
    cost, caps, rows = _programme(losses, pi, math.expm1(epsilon), objective)
    found: Any = linprog(
        cost,
        A_ub=caps,
        b_ub=np.zeros(caps.shape[0]),
        A_eq=rows,
        b_eq=np.ones(k),
        method="highs",
        options={"primal_feasibility_tolerance": _TOLERANCE, "dual_feasibility_tolerance": _TOLERANCE},
    )
    if found.status != 0:
        raise DeniableError(f"the linear programme was not solved: {found.message}")
    floor, rest = found.x[:outputs], found.x[outputs : outputs + k * outputs].reshape(k, outputs)
    return Optimum(float(found.fun), np.asarray(floor[None, :] + rest, np.float64))


def _programme(losses: FloatArray, pi: FloatArray, more: float, objective: str) -> tuple[FloatArray, Any, Any]:
    """The objective, what must be at most 0, and what must be 1, as vectors and sparse matrices over (b, u)."""
    sparse: Any = import_module("scipy.sparse")
    k, outputs = losses.shape
    per_value = sparse.kron(sparse.eye(k), np.ones((1, outputs)))
    rows = sparse.hstack([np.ones((k, outputs)), per_value])
    caps = sparse.hstack([sparse.kron(np.ones((k, 1)), -more * sparse.eye(outputs)), sparse.eye(k * outputs)])
    cost = np.concatenate([pi @ losses, (pi[:, None] * losses).ravel()])
    if objective == "minimax":  # one more variable, the objective itself, that is at least every value's expected loss
        each = sparse.hstack([losses, per_value @ sparse.diags(losses.ravel()), -np.ones((k, 1))])
        caps = sparse.vstack([sparse.hstack([caps, sparse.csr_matrix((k * outputs, 1))]), each])
        rows = sparse.hstack([rows, sparse.csr_matrix((k, 1))])
        cost = np.concatenate([np.zeros(cost.size), [1.0]])
    return cost, caps.tocsr(), rows.tocsr()
