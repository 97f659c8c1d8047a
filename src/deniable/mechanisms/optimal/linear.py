"""Linear programmes, by one solver with one tolerance; what it says is checked by whoever asks."""

from __future__ import annotations

from typing import Any

import numpy as np

from deniable.core.types import FloatArray

__all__ = ["least_of"]

_OPTIONS: dict[str, Any] = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def least_of(
    cost: FloatArray,
    *,
    equal: tuple[FloatArray, FloatArray] | None = None,
    below: tuple[FloatArray, FloatArray] | None = None,
    free: bool = False,
    vertex: bool = False,
) -> FloatArray | None:
    """Numbers >= 0 (any, if `free`) of least cost with Ax = b (`equal`) and Ax <= b (`below`); None if none were found.

    `vertex`: those of a vertex, of which few are above 0.
    """
    from scipy import optimize

    given: dict[str, Any] = {"bounds": (None if free else 0, None), "method": "highs-ds" if vertex else "highs"}
    given |= {} if equal is None else {"A_eq": equal[0], "b_eq": equal[1]}
    given |= {} if below is None else {"A_ub": below[0], "b_ub": below[1]}
    solver: Any = optimize.linprog
    found = solver(cost, options=_OPTIONS, **given).x
    return None if found is None else np.asarray(found, np.float64)
