"""Projection onto the probability simplex."""

from __future__ import annotations

import numpy as np

from deniable.core.types import FloatArray
from deniable.errors import require

__all__ = ["project_simplex"]


def project_simplex(value: FloatArray, total: float = 1.0) -> FloatArray:
    """The nearest point (Euclidean) with non-negative entries that sum to `total`, by sorting.

    >>> project_simplex(np.array([0.6, 0.6, -0.2])).tolist()
    [0.5, 0.5, 0.0]
    """
    require(value.ndim == 1 and value.size > 0 and bool(np.isfinite(value).all()), "value", value, "finite numbers")
    ordered = np.sort(value)[::-1]
    excess = (np.cumsum(ordered) - total) / np.arange(1, value.size + 1)
    last = np.flatnonzero(ordered > excess)[-1]
    return np.asarray(np.maximum(value - excess[last], 0.0))
