"""Directions, hours of the day, days of the year: numbers of an interval whose ends are the same."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from deniable.core.domain import Domain
from deniable.core.grid import check_interval, numbers_within
from deniable.core.types import FloatArray, IntArray
from deniable.errors import FormatError, is_whole, require

__all__ = ["Circle"]

_POINTS_MAX = 1 << 20
"""Finest circle: tallies count every direction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Circle(Domain):
    """k directions around a circle, from `low` on in equal steps; `high` is `low` once more.

    A number counts as the nearest direction, the later one in a tie. Numbers outside of the interval are errors: what
    they would be on another turn is not guessed.

    >>> Circle.around(0, 24, 24).encode([0, 23.4, 23.5, 24]).tolist()
    [0, 23, 0, 0]
    """

    low: float = 0.0
    high: float = 1.0
    clip: ClassVar[bool] = False

    def __post_init__(self) -> None:
        whole = is_whole(self.k, 3, _POINTS_MAX)
        require(whole, "points", self.k, f"an integer from 3 to {_POINTS_MAX}", "Two directions are a yes/no question.")
        low, high = check_interval((self.low, self.high))
        plain = self.labels is None and self.missing is None and self.other is None
        require(plain, "labels", self.labels, "left out for directions", "A circle has numbers, not labels.")
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)
        told = "so few that floats tell neighbouring numbers of the interval apart"
        require(low + self.step > low and high - self.step < high, "points", self.k, told)

    @classmethod
    def around(cls, low: float, high: float, points: int) -> Circle:
        """So many directions from `low` to `high`, which is the first again."""
        return cls(k=int(points) if isinstance(points, np.integer) else points, low=low, high=high)

    @property
    def step(self) -> float:
        """Distance of two neighbouring directions."""
        return (self.high - self.low) / self.k

    def at(self, index: Any) -> Any:
        """The number at an index, or at an array of them; indices beyond one turn are numbers beyond the interval."""
        return self.low + index / self.k * (self.high - self.low)

    def turned(self, number: float) -> float:
        """The same direction as a number of the interval."""
        period = self.high - self.low
        found = self.low + (number - self.low) % period
        return self.low if found >= self.high else found

    @property
    def angles(self) -> FloatArray:
        """The directions in radians."""
        return np.asarray(2 * np.pi * np.arange(self.k) / self.k)

    @property
    def points(self) -> FloatArray:
        """The directions as numbers."""
        return np.asarray(self.at(np.arange(self.k)))

    def decode(self, items: IntArray) -> np.ndarray[Any, Any]:
        return np.asarray(self.at(items))

    def coordinates(self) -> FloatArray:
        return np.stack([np.cos(self.angles), np.sin(self.angles)], axis=1)

    def distances(self) -> FloatArray:
        """See `Domain.distances`: the shorter way around."""
        apart = np.abs(np.arange(self.k)[:, None] - np.arange(self.k))
        return np.asarray(np.minimum(apart, self.k - apart) * self.step)

    @property
    def labels_or_numbers(self) -> tuple[str, ...]:
        """The directions as text, with as many digits as tell neighbours apart."""
        size = max(abs(self.low), abs(self.high))
        digits = min(17, max(1, math.ceil(math.log10(size / self.step))) + 2)
        return tuple(f"{point:.{digits}g}" for point in self.points.tolist())

    @property
    def allowed(self) -> str:
        return f"numbers around the circle from {self.low:g} to {self.high:g}"

    def document(self) -> dict[str, Any]:
        return {"circle": [self.low, self.high], "points": self.k}

    @classmethod
    def from_circle(cls, document: Mapping[str, Any]) -> Circle:
        """The inverse of `document`."""
        try:
            low, high = document["circle"]
            return cls.around(low, high, document["points"])
        except (KeyError, TypeError, ValueError) as error:
            raise FormatError(f"a circle needs two ends and points: {error!r}.") from error

    def _encode_numbers(self, cells: np.ndarray[Any, Any]) -> IntArray:
        numbers = numbers_within(cells, self.low, self.high, clip=False)
        share = (numbers - self.low) / (self.high - self.low)
        return np.asarray(np.floor(share * self.k + 0.5), np.int64) % self.k
