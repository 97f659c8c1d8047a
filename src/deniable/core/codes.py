"""Numbers of an interval as a few codes: each number stands for the nearest of some representatives."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from deniable.core.domain import Domain
from deniable.core.grid import Grid, check_interval, numbers_within
from deniable.core.types import FloatArray, IntArray
from deniable.errors import FormatError, require

__all__ = ["Codes", "Span", "on_grid"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """An interval for which a mechanism is to choose the points itself."""

    low: float
    high: float
    clip: bool = False
    layout: str = "midpoints"

    @classmethod
    def of(cls, interval: object, **choices: Any) -> Span:
        """From two numbers, or a text such as "0,1"."""
        low, high = check_interval(interval)
        return cls(low=low, high=high, **choices)

    def grid(self, points: int) -> Grid:
        """So many points of the interval."""
        return Grid.of(self.low, self.high, points, layout=self.layout, clip=self.clip)


def on_grid(domain: Domain | Span, points: int) -> Domain:
    """The domain, or `points` points of an interval for which none are given."""
    return domain.grid(points) if isinstance(domain, Span) else domain


@dataclass(frozen=True, slots=True, kw_only=True)
class Codes(Domain):
    """k numbers in an interval, in rising order; a number counts as the nearest of them, the lower one in a tie.

    >>> codes = Codes.over(0, 1, [0.25, 0.75])
    >>> codes.encode([0.1, 0.5, 0.9]).tolist()
    [0, 0, 1]
    >>> codes.cells
    array([0. , 0.5, 1. ])
    """

    low: float = 0.0
    high: float = 1.0
    codes: tuple[float, ...] = ()
    clip: bool = False

    def __post_init__(self) -> None:
        Domain.__post_init__(self)
        require(self.labels is None, "labels", self.labels, "left out for numbers", "Codes are numbers, not labels.")
        check_interval((self.low, self.high))
        require(isinstance(self.clip, bool), "clip", self.clip, "True or False")
        rising = all(a < b for a, b in pairwise(self.codes))
        inside = all(math.isfinite(c) and self.low <= c <= self.high for c in self.codes)
        ok = len(self.codes) == self.k and rising and inside
        require(ok, "codes", self.codes, f"{self.k} rising numbers from {self.low:g} to {self.high:g}")

    @classmethod
    def over(cls, low: float, high: float, codes: Sequence[float], *, clip: bool = False) -> Codes:
        """The interval from `low` to `high` by these codes."""
        values = tuple(float(c) for c in codes)
        return cls(k=len(values), low=float(low), high=float(high), codes=values, clip=clip)

    @property
    def points(self) -> FloatArray:
        """The codes as an array."""
        return np.array(self.codes)

    def decode(self, items: IntArray) -> np.ndarray[Any, Any]:
        return self.points[items]

    def coordinates(self) -> FloatArray:
        return self.points

    @property
    def cells(self) -> FloatArray:
        """Where the numbers of each code begin and end."""
        points = self.points
        return np.concatenate([[self.low], (points[1:] + points[:-1]) / 2, [self.high]])

    @property
    def labels_or_numbers(self) -> tuple[str, ...]:
        """The codes as text, with as many digits as tell neighbours apart."""
        size, gap = max(abs(self.low), abs(self.high)), float(np.diff(self.points).min())
        digits = min(17, max(6, math.ceil(math.log10(size / gap)) + 2))
        return tuple(f"{code:.{digits}g}" for code in self.codes)

    @property
    def allowed(self) -> str:
        return f"numbers from {self.low:g} to {self.high:g}"

    def document(self) -> dict[str, Any]:
        return {"interval": [self.low, self.high], "codes": list(self.codes), "clip": self.clip}

    @classmethod
    def from_codes(cls, document: Mapping[str, Any]) -> Codes:
        """The inverse of `document`."""
        try:
            low, high = document["interval"]
            return cls.over(low, high, document["codes"], clip=document["clip"])
        except (KeyError, TypeError) as error:
            raise FormatError(f"codes need an interval, codes and clip: {error!r}.") from error

    def _encode_numbers(self, cells: np.ndarray[Any, Any]) -> IntArray:
        numbers = numbers_within(cells, self.low, self.high, clip=self.clip)
        return np.asarray(np.searchsorted(self.cells[1:-1], numbers, side="left"), np.int64)
