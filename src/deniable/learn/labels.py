"""Class labels: a public list of them, and scores of predictions."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from deniable.core.types import FloatArray, IntArray
from deniable.errors import ParameterError, require
from deniable.learn.estimator import Learner, column_of

__all__ = ["Classifier", "determination"]


def classes_of(given: object, y: object) -> np.ndarray[Any, Any]:
    """The classes: a public list where one is given, else those that occur (which says which labels occur)."""
    labels = np.unique(np.asarray(y if given is None else given))
    if labels.dtype.kind == "f" and not np.array_equal(labels, np.floor(labels)):
        raise ParameterError(
            f"Unknown label type: continuous. y must be labels, got numbers such as {labels[0]:g}.",
            "Use a regressor, or cut the numbers into classes by public bounds.",
        )
    need = "at least two labels: nothing is learned from one class"
    require(labels.size >= 2, "classes", labels.tolist(), need)
    return labels


def codes_of(y: object, classes: np.ndarray[Any, Any], rows: int) -> IntArray:
    """The number of each label in the list; `ParameterError` for one that is not there."""
    labels = np.asarray(y)
    require(labels.shape == (rows,), "y", f"shape {labels.shape}", f"{rows} labels, one per row of X")
    codes = np.minimum(np.searchsorted(classes, labels), classes.size - 1)
    bad = np.flatnonzero(classes[codes] != labels)
    if bad.size:
        raise ParameterError(
            f"y must be one of {classes.tolist()}, got {labels[bad].tolist()[0]!r} at position {bad[0]}.",
            "List all labels in classes.",
        )
    return np.asarray(codes, np.int64)


@dataclass(eq=False, kw_only=True)
class Classifier(Learner):
    """What learners of classes share: their labels, the likeliest class, and how often it is right.

    `classes`: all labels, a public list; without it those that occur, and that they occur is then no secret.
    """

    classes: Any = None

    kind_of_learner: ClassVar[str] = "classifier"

    def _codes(self, y: object, rows: int) -> IntArray:
        """The labels as numbers; `classes_` is their list."""
        labels = column_of(y)
        self.classes_ = classes_of(self.classes, labels)
        return codes_of(labels, self.classes_, rows)

    @abstractmethod
    def predict_proba(self, X: object) -> FloatArray:
        """Chance of each class."""

    def predict(self, X: object) -> np.ndarray[Any, Any]:
        """The likeliest class of each row."""
        found = self.predict_proba(X)
        return np.asarray(self.classes_[found.argmax(axis=1)])

    def score(self, X: object, y: object) -> float:
        """Share of the rows whose class is found."""
        return float(np.mean(self.predict(X) == np.asarray(y)))


def determination(truth: FloatArray, found: FloatArray) -> float:
    """The coefficient of determination: 1 for a perfect prediction, 0 for that of the mean."""
    spread = float(np.sum((truth - truth.mean()) ** 2))
    require(spread > 0, "y", "values all alike", "not constant, for a score")
    return 1 - float(np.sum((truth - found) ** 2)) / spread
