"""How far apart independent runs are."""

from __future__ import annotations

import math

from deniable.core.types import FloatArray

__all__ = ["spread"]


def spread(values: FloatArray) -> float | None:
    """Standard error of the mean over independent runs; None where there is only one."""
    return float(values.std(ddof=1)) / math.sqrt(values.size) if values.size > 1 else None
