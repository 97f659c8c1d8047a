"""Class labels: a public list of them, and scores of predictions."""

from __future__ import annotations

from typing import Any

import numpy as np

from deniable.core.types import FloatArray, IntArray
from deniable.errors import ParameterError, require

__all__ = ["classes_of", "codes_of", "determination"]


def classes_of(given: object, y: object) -> np.ndarray[Any, Any]:
    """The classes: a public list where one is given, else those that occur (which says which labels occur)."""
    labels = np.unique(np.asarray(y if given is None else given))
    require(labels.size >= 2, "classes", labels.tolist(), "at least two labels")
    return labels


def codes_of(y: object, classes: np.ndarray[Any, Any], rows: int) -> IntArray:
    """The number of each label in the list; `ParameterError` for one that is not there."""
    labels = np.asarray(y)
    require(labels.shape == (rows,), "y", f"shape {labels.shape}", f"{rows} labels, one per row of X")
    codes = np.minimum(np.searchsorted(classes, labels), classes.size - 1)
    bad = np.flatnonzero(classes[codes] != labels)
    if bad.size:
        raise ParameterError(
            f"y must be one of {classes.tolist()}, got {labels[bad[0]]!r} at position {bad[0]}.",
            "List all labels in classes.",
        )
    return np.asarray(codes, np.int64)


def determination(truth: FloatArray, found: FloatArray) -> float:
    """The coefficient of determination: 1 for a perfect prediction, 0 for that of the mean."""
    spread = float(np.sum((truth - truth.mean()) ** 2))
    require(spread > 0, "y", "values all alike", "not constant, for a score")
    return 1 - float(np.sum((truth - found) ** 2)) / spread
