"""What the learners share: parameters stored as given, checks of the data, and scikit-learn's manners without it."""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass, fields
from importlib import import_module
from typing import Any, ClassVar, TypeVar

import numpy as np

from deniable.core.types import FloatArray
from deniable.errors import ParameterError, require
from deniable.randomness import Stream, secure, simulation

__all__ = ["Learner", "column_of", "inside", "matrix_of", "numbers_of", "span_of"]

Self = TypeVar("Self", bound="Learner")


@dataclass(eq=False, kw_only=True)
class Learner:
    """An estimator in scikit-learn's manner: the constructor stores, `fit` checks, learned attributes end with `_`.

    `seed`: None draws securely; a number makes a repeatable simulation, and `simulated_` then says so.
    """

    seed: int | None = None

    kind_of_learner: ClassVar[str] = "transformer"
    """What scikit-learn calls it: classifier, regressor or transformer."""
    learned: ClassVar[str] = "ledger_"
    """The attribute that `fit` sets last."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The constructor's parameters, by name."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def set_params(self: Self, **params: Any) -> Self:
        """Change parameters; `ParameterError` for a name that is none."""
        known = self.get_params()
        for name, value in params.items():
            need = f"one of {', '.join(sorted(known))}"
            require(name in known, "the name of a parameter", name, need)
            setattr(self, name, value)
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, self.learned)

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn asks for; only it does, so it is there.

        Two of its expectations contradict privacy and are waived by tag: a good score on a handful of rows
        (`poor_score`), which noise does not allow; and of a transformer the same output for the same row
        (`non_deterministic`), whose report is to be drawn anew each time.
        """
        tags, kind = import_module("sklearn.utils"), self.kind_of_learner
        return tags.Tags(
            estimator_type=None if kind == "transformer" else kind,
            target_tags=tags.TargetTags(required=kind != "transformer"),
            transformer_tags=tags.TransformerTags() if kind == "transformer" else None,
            classifier_tags=tags.ClassifierTags(poor_score=True) if kind == "classifier" else None,
            regressor_tags=tags.RegressorTags(poor_score=True) if kind == "regressor" else None,
            input_tags=tags.InputTags(),
            non_deterministic=kind == "transformer",
        )

    def _stream(self) -> Stream:
        """A new stream, secure unless a seed is given; `simulated_` tells."""
        self.simulated_ = self.seed is not None
        return secure() if self.seed is None else simulation(self.seed)

    def _check_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise _unfitted()(f"this {type(self).__name__} has learned nothing yet.", "Call fit first.")

    def _matrix(self, X: object) -> FloatArray:
        """Rows to predict for, with as many columns as were learned from."""
        self._check_fitted()
        rows = matrix_of(X)
        width = self.__dict__["n_features_in_"]
        if rows.shape[1] != width:
            raise ParameterError(
                f"X has {rows.shape[1]} features, but {type(self).__name__} is expecting {width} features as input.",
                "Give the columns that it was fitted with.",
            )
        return rows


class _NotNumbersError(ParameterError, TypeError):
    """What was given cannot be read as numbers at all."""


def _unfitted() -> type[ParameterError]:
    """The error of a learner that has learned nothing: scikit-learn's own, too, where that is in use."""
    known = sys.modules.get("sklearn.exceptions")
    return ParameterError if known is None else type("NotFittedError", (ParameterError, known.NotFittedError), {})


def matrix_of(X: object, name: str = "X") -> FloatArray:
    """A table of finite numbers; `ParameterError` naming the first cell that is none."""
    rows = _floats(X, name)
    hint = "Reshape your data: X.reshape(-1, 1) is one column, X.reshape(1, -1) one row."
    require(rows.ndim == 2, name, f"an array of shape {rows.shape}", "two-dimensional: a row per person", hint)
    for what, size in (("sample", rows.shape[0]), ("feature", rows.shape[1])):
        if size == 0:
            raise ParameterError(
                f"{name} has 0 {what}(s) (shape={rows.shape}) while a minimum of 1 is required.", "Give some data."
            )
    bad = np.argwhere(~np.isfinite(rows))
    if len(bad):
        i, j = bad[0]
        raise ParameterError(
            f"{name} must be finite numbers, got {_told(rows[i, j])} in row {i}, column {j} ({len(bad)} cells).",
            "Nothing is filled in; decide what a missing value counts as.",
        )
    return rows


def numbers_of(y: object, rows: int, name: str = "y") -> FloatArray:
    """As many finite numbers as there are rows."""
    values = _floats(column_of(y, name), name)
    require(values.ndim == 1, name, f"an array of shape {values.shape}", "one-dimensional")
    require(len(values) == rows, name, f"{len(values)} values", f"{rows} values, one per row of X")
    bad = np.flatnonzero(~np.isfinite(values))
    need = "finite numbers"
    require(not bad.size, name, f"{_told(values[bad[0]])} at position {bad[0]}" if bad.size else "", need)
    return values


def column_of(y: object, name: str = "y") -> Any:
    """A target as it is, or flattened with a warning where it is one column of a table."""
    if y is None:
        raise ParameterError(f"this learner requires {name} to be passed, but the target {name} is None.", "Give it.")
    values = np.asarray(y)
    if values.ndim != 2 or values.shape[1] != 1:
        return values
    known = sys.modules.get("sklearn.exceptions")
    kind = UserWarning if known is None else known.DataConversionWarning
    told = f"A column-vector {name} was passed when a 1d array was expected; it is read as one: give {name}.ravel()."
    warnings.warn(told, kind, stacklevel=4)
    return values[:, 0]


def _told(value: float) -> str:
    return "NaN" if np.isnan(value) else f"{value:g}"


def _floats(values: object, name: str) -> FloatArray:
    if hasattr(values, "toarray"):
        raise _NotNumbersError(f"{name} is sparse: sparse data are not supported.", f"Give {name}.toarray().")
    try:
        read = np.asarray(values)
        if read.dtype.kind == "c":
            raise ParameterError(f"Complex data not supported: {name} must be real numbers.", "Give their parts apart.")
        return np.asarray(read, dtype=np.float64)
    except TypeError as error:
        raise _NotNumbersError(f"{name} must be an array of numbers: {error}.") from error
    except ParameterError:
        raise
    except ValueError as error:
        raise ParameterError(f"{name} must be an array of numbers: {error}.") from error


def span_of(low: object, high: object, width: int) -> tuple[FloatArray, FloatArray]:
    """Public bounds of every column, from numbers or lists of them."""
    ends = []
    for name, given in (("low", low), ("high", high)):
        values = _floats(given, name)
        require(
            values.shape in ((), (width,)), name, f"shape {values.shape}", f"one number, or one for each of {width}"
        )
        require(bool(np.isfinite(values).all()), name, given, "finite")
        ends.append(np.broadcast_to(values, (width,)).astype(np.float64))
    require(bool((ends[0] < ends[1]).all()), "low", low, f"below high = {high!r} in every column")
    return ends[0], ends[1]


def inside(values: FloatArray, low: Any, high: Any, clip: bool, name: str) -> FloatArray:
    """The values if all are within their bounds, or moved there where `clip` allows it."""
    if clip:
        return np.clip(values, low, high)
    bad = np.argwhere((values < low) | (values > high))
    if len(bad):
        at = tuple(int(i) for i in bad[0])
        raise ParameterError(
            f"{name} must be within its public bounds, got {values[at]} at {at} ({len(bad)} of {values.size}).",
            "Bounds must not be read off the people's data: widen them, or say clip=True to move values to the ends.",
        )
    return values
