"""How far a design at personal levels is from the least error that its promise allows (docs/maths/optimal.md)."""

from __future__ import annotations

from typing import Any

import numpy as np

from deniable.core.promise.value import Promise
from deniable.core.types import FloatArray
from deniable.mechanisms.optimal.bounds import Least, least_at_levels, least_told
from deniable_client.exact import EPSILON_MAX

__all__ = ["distance_at_levels"]


def distance_at_levels(
    promise: Promise, prior: FloatArray, shares: tuple[float, ...], mse: float, n: float
) -> dict[str, Any]:
    """`bound`, `gap` and what the bound is `bound_by`; nothing where it is not known.

    Where values are too many to list all outputs, there is a bound for levels that protect all values alike, and all
    of them equally frequent; it is that of levels which everybody knows.
    """
    found: Least | None = None
    if promise.levels[-1] <= EPSILON_MAX:
        found = least_at_levels(promise, prior, np.array(shares))
        if found is None and promise.sensitive is None and bool(np.allclose(prior, 1 / prior.size, rtol=1e-12)):
            found = least_told(np.array(promise.levels), np.array(shares), prior.size)
    return {} if found is None else found.distance(mse, prior.size, n)
