"""Numbers of an interval on a declared grid: what makes mechanisms for numbers exact."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.core.domain import Domain
from deniable.core.types import FloatArray, IntArray
from deniable.errors import ParameterError, require, show

__all__ = ["Grid", "check_interval", "numbers_of", "numbers_within"]

_LAYOUTS = ("midpoints", "endpoints")
"""Points in the middle of N equal cells, or from the lowest number to the highest."""

_POINTS_MAX = 1 << 30
"""Finer grids are beyond what floats of a wide interval tell apart."""

_LISTED = 1 << 26
"""Most points that are written out as numbers."""


_NAMED = 1 << 23
"""Most points that are written out as texts."""

_NARROW, _WIDE = 1e-100, 1e100
"""How wide intervals may be, so that squares of errors are floats."""


def check_interval(given: object, name: str = "interval", hint: str = "For example interval=(0, 1).") -> Any:
    """Two ends (low, high), from two numbers or a text such as "1,5"."""
    ends = given.split(",") if isinstance(given, str) else given
    if not isinstance(ends, Iterable):
        raise ParameterError(f"{name} must be two numbers, got {show(given)}.", hint)
    try:
        low, high = (float(end) for end in ends)
    except (TypeError, ValueError):
        raise ParameterError(f"{name} must be two numbers, got {show(given)}.", hint) from None
    ok = math.isfinite(low) and math.isfinite(high) and math.isfinite(high - low) and low < high
    require(ok, name, given, "two finite numbers, the lower one first", hint)
    told = f"from {_NARROW:g} to {_WIDE:g} wide"
    require(_NARROW <= high - low <= _WIDE, name, given, told, "Errors are squared: measure in another unit.")
    return low, high


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid(Domain):
    """k points of the interval from `low` to `high`; a number counts as the nearest of them, the lower one in a tie.

    `layout` says where the points are: at `midpoints` of equal bins, or from end to end (`endpoints`). Numbers outside
    of the interval are errors unless `clip` is given: then they count as its nearer end, which is a choice about the
    data that has to be made openly.

    >>> Grid.of(0, 10, 5).points.tolist()
    [1.0, 3.0, 5.0, 7.0, 9.0]
    >>> Grid.of(0, 10, 5).encode([0.2, 4.0, "4.1"]).tolist()
    [0, 1, 2]
    """

    low: float = 0.0
    high: float = 1.0
    layout: str = _LAYOUTS[0]
    clip: bool = False

    def __post_init__(self) -> None:
        ok = isinstance(self.k, int) and not isinstance(self.k, bool) and 2 <= self.k <= _POINTS_MAX
        require(ok, "points", self.k, f"an integer from 2 to {_POINTS_MAX}")
        low, high = check_interval((self.low, self.high))
        require(self.layout in _LAYOUTS, "layout", self.layout, f"one of {', '.join(_LAYOUTS)}")
        require(isinstance(self.clip, bool), "clip", self.clip, "True or False")
        plain = self.labels is None and self.missing is None and self.other is None
        require(plain, "labels", self.labels, "left out for numbers", "A grid has numbers, not labels.")
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)
        hint = "Take fewer points, or measure from another zero."
        require(self.at(1) > self.at(0) and self.at(self.k - 1) > self.at(self.k - 2), "points", self.k, _FEWER, hint)

    @classmethod
    def of(  # type: ignore[override]  # a grid is made of other things than a list of answers
        cls, low: float, high: float, points: int, *, layout: str = _LAYOUTS[0], clip: bool = False
    ) -> Grid:
        """A grid of so many points from `low` to `high`."""
        whole = int(points) if isinstance(points, np.integer) else points
        return cls(k=whole, low=low, high=high, layout=layout, clip=clip)

    @property
    def step(self) -> float:
        """Distance of two neighbouring points."""
        return (self.high - self.low) / (self.k if self.layout == "midpoints" else self.k - 1)

    def at(self, index: Any) -> Any:
        """The number at an index of the grid, or at an array of them; beyond the grid's ends, too."""
        shift, cells = (0.5, self.k) if self.layout == "midpoints" else (0.0, self.k - 1)
        return self.low + (index + shift) / cells * (self.high - self.low)

    def decode(self, items: IntArray) -> np.ndarray[Any, Any]:
        return np.asarray(self.at(items))

    @property
    def points(self) -> FloatArray:
        """The numbers of the grid, from the lowest to the highest."""
        require(self.k <= _LISTED, "points", self.k, f"at most {_LISTED} to be listed")
        return np.asarray(self.at(np.arange(self.k)))

    @property
    def labels_or_numbers(self) -> tuple[str, ...]:
        """The numbers of the grid as text, with as many digits as tell neighbours apart."""
        require(self.k <= _NAMED, "points", self.k, f"at most {_NAMED} to be named one by one")
        size = max(abs(self.low), abs(self.high))
        digits = min(17, max(1, math.ceil(math.log10(size / self.step))) + 2)
        near = np.where(np.abs(self.points) < self.step / 1e6, 0.0, self.points)
        return tuple(f"{point:.{digits}g}" for point in near.tolist())

    @property
    def allowed(self) -> str:
        return f"numbers from {self.low:g} to {self.high:g}"

    def document(self) -> dict[str, Any]:
        return {"interval": [self.low, self.high], "points": self.k, "layout": self.layout, "clip": self.clip}

    def _encode_numbers(self, cells: np.ndarray[Any, Any]) -> IntArray:
        numbers = numbers_within(cells, self.low, self.high, clip=self.clip)
        share = (numbers - self.low) / (self.high - self.low)
        if self.layout == "midpoints":
            nearest = np.ceil(share * self.k) - 1
        else:
            nearest = np.ceil(share * (self.k - 1) - 0.5)
        return np.asarray(np.clip(nearest, 0, self.k - 1), np.int64)


_FEWER = "so few that floats tell neighbouring numbers of the interval apart"


def numbers_within(cells: np.ndarray[Any, Any], low: float, high: float, *, clip: bool) -> FloatArray:
    """Values as numbers from `low` to `high`; others are refused, or with `clip` taken as the nearer end."""
    numbers = numbers_of(cells)
    bad = np.flatnonzero(~np.isfinite(numbers))
    if not clip and not bad.size:
        bad = np.flatnonzero((numbers < low) | (numbers > high))
    if bad.size:
        found = f"{show(cells.tolist()[bad[0]])} at position {bad[0]} ({bad.size} of {cells.size})"
        raise ParameterError(
            f"values must be numbers from {low:g} to {high:g}, got {found}.",
            "Nothing was clipped; correct or leave them out, or declare another interval (or clip=True, which "
            "takes finite numbers outside as its nearer end).",
        )
    return np.asarray(np.clip(numbers, low, high))


def numbers_of(cells: np.ndarray[Any, Any]) -> FloatArray:
    """Numbers, or text that is a number, as floats; all else is refused by its position."""
    if cells.dtype.kind in "iuf":
        return cells.astype(np.float64)
    wrong = (i for i, cell in enumerate(cells.tolist()) if not _is_number(cell))
    if (at := next(wrong, None)) is not None:
        found = f"{show(cells.tolist()[at])} at position {at}"
        raise ParameterError(f"values must be numbers, got {found}.", "Correct it or leave it out.")
    return np.array([float(cell) for cell in cells.tolist()])


def _is_number(cell: object) -> bool:
    if isinstance(cell, bool | np.bool_) or cell is None:
        return False
    try:
        float(cell)  # type: ignore[arg-type]  # what has no float is told by the error
    except (TypeError, ValueError, OverflowError):
        return False
    return True
