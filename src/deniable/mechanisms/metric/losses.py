"""What a report costs: losses between answers and reports, and sums over the nearest of them.

On a line nothing is written out, so that it may have a billion points; other spaces have a matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from deniable.core.codes import Codes
from deniable.core.domain import Domain
from deniable.core.grid import Grid
from deniable.core.guess import check_prior
from deniable.core.space import Space
from deniable.core.types import FloatArray, IntArray
from deniable.errors import EnumerationError, require
from deniable.mechanisms.outputs import MATRIX_MAX

__all__ = ["Line", "Losses", "MatrixLosses", "losses_of", "nearest"]

_CELLS = ("points", "midpoints", "endpoints")


class Losses(Protocol):
    """Losses of k answers and so many reports."""

    @property
    def k(self) -> int:
        """Number of answers."""

    @property
    def outputs(self) -> int:
        """Number of reports."""

    @property
    def unit(self) -> str:
        """What losses are measured in; empty where it is not known."""

    @property
    def width(self) -> float | None:
        """Length of the interval whose numbers the answers stand for, if they do."""

    @property
    def line(self) -> Line | None:
        """The losses themselves, where answers are at equal distances in a row."""

    def weights(self, prior: object = None) -> FloatArray:
        """How likely the answers are: `prior`, or all values alike (those at the ends of a line may have less room)."""

    def matrix(self) -> FloatArray:
        """The losses: a row for each answer."""

    def near(self, m: int, prior: object = None) -> float:
        """The sum of the m least losses of an answer, on average over the answers."""


def losses_of(domain: Domain) -> Losses:
    """The losses that belong to a domain: its own, or distances on a line in the order of the answers."""
    made: Losses = _LOSSES.get(type(domain), lambda plain: Line(plain.k))(domain)
    return made


def _codes_losses(domain: Codes) -> MatrixLosses:
    """Losses between numbers of a code's cell, all equally likely, and codes: averages over the cell."""
    points, ends = domain.points, domain.cells
    low, high = ends[:-1], ends[1:]

    def table() -> FloatArray:
        check_size(points.size**2, points.size)
        losses = np.abs((low + high)[:, None] / 2 - points[None, :])
        np.fill_diagonal(losses, ((points - low) ** 2 + (high - points) ** 2) / (2 * (high - low)))
        return np.asarray(losses)

    width = domain.high - domain.low
    return MatrixLosses(table, shares=(high - low) / width, width=width)


def _grid_losses(domain: Grid) -> Line:
    return Line(domain.k, domain.step, domain.layout, width=domain.high - domain.low)


_LOSSES: Mapping[type[Domain], Callable[[Any], Losses]] = {
    Space: lambda space: MatrixLosses(space.matrix(), space.unit),
    Codes: _codes_losses,
    Grid: _grid_losses,
}


def check_size(size: int, points: int) -> None:
    """`EnumerationError` where so many numbers are too many to be written out."""
    if size > MATRIX_MAX:
        raise EnumerationError(
            f"{points} points are too many to write everything out for each of them.",
            "Closed forms without a prior work for any number of points.",
        )


@dataclass(frozen=True, slots=True)
class Line:
    """k points at equal distances `step`, with the absolute distance as loss.

    `cells` says what the answers are: the `points` themselves, or numbers of an interval that are rounded to the
    nearest point, points being the `midpoints` of k cells, or `endpoints` included. Then losses are averages over the
    numbers that are rounded to a point, all numbers of the interval being equally likely.

    >>> Line(4).near(2)
    1.0
    """

    k: int
    step: float = 1.0
    cells: str = "points"
    unit: str = ""
    width: float | None = None

    def __post_init__(self) -> None:
        require(self.cells in _CELLS, "cells", self.cells, f"one of {', '.join(_CELLS)}")

    @property
    def outputs(self) -> int:
        return self.k

    @property
    def line(self) -> Line:
        return self

    def weights(self, prior: object = None) -> FloatArray:
        check_size(self.k, self.k)
        if prior is not None:
            return check_prior(prior, self.k)
        if self.cells != "endpoints":
            return np.full(self.k, 1 / self.k)
        half = np.full(self.k, 1 / (self.k - 1))
        half[[0, -1]] /= 2
        return half

    def matrix(self) -> FloatArray:
        check_size(self.k * self.k, self.k)
        at = np.arange(self.k, dtype=np.float64)
        losses = np.abs(at[:, None] - at[None, :])
        if self.cells != "points":
            np.fill_diagonal(losses, 0.25)
        if self.cells == "endpoints":  # numbers that are rounded to an end all lie on one side of it
            losses[0, 1:] -= 0.25
            losses[-1, :-1] -= 0.25
        return losses * self.step

    def units(self, m: int) -> int:
        """Four times the sum of the m least losses, in steps, weighed and summed over the answers, exactly."""
        k, half = self.k, m // 2
        first, second = half * (half - 1) // 2, (half - 1) * half * (2 * half - 1) // 6
        edges = 2 * second + (2 - 2 * m) * first + half * m * (m - 1)
        total = edges + (k - 2 * half) * (m * m // 4)
        if self.cells == "points":
            return 4 * total
        if self.cells == "midpoints":
            return 4 * total + k
        ends = 4 * m * (m - 1) - 2 * (m - 1) + 2
        return 8 * (total - m * (m - 1)) + 2 * (k - 2) + ends

    @property
    def weight(self) -> int:
        """What `units` is to be divided by, the four apart."""
        return 2 * (self.k - 1) if self.cells == "endpoints" else self.k

    def near(self, m: int, prior: object = None) -> float:
        """See `Losses.near`: in constant time without a prior."""
        if prior is None:
            return self.step * (self.units(m) / (4 * self.weight))
        return float(self.weights(prior) @ self.near_each(m))

    def near_each(self, m: int) -> FloatArray:
        """The sum of the m least losses of every answer."""
        check_size(self.k, self.k)
        at = np.arange(self.k, dtype=np.int64)
        left = at - np.clip(at - m // 2, 0, self.k - m)
        right = m - 1 - left
        sums = (left * (left + 1) + right * (right + 1)) / 2
        if self.cells != "points":
            sums += 0.25
        if self.cells == "endpoints":
            sums[[0, -1]] -= 0.25 * (m - 1)
        return sums * self.step


@dataclass(frozen=True, eq=False)
class MatrixLosses:
    """Losses that are written out: a row for each answer, a column for each report."""

    given: FloatArray | Callable[[], FloatArray]
    """The losses, or what makes the square table of them when it is first asked for."""
    unit: str = ""
    shares: FloatArray | None = None
    """How likely the answers are where no prior is given; all equal if left out."""
    width: float | None = None
    line = None

    @cached_property
    def table(self) -> FloatArray:
        """The losses, written out."""
        return self.given() if callable(self.given) else self.given

    @property
    def k(self) -> int:
        return int(self.table.shape[0]) if self.shares is None else self.shares.size

    @property
    def outputs(self) -> int:
        return self.k if callable(self.given) else int(self.table.shape[1])

    def weights(self, prior: object = None) -> FloatArray:
        if prior is not None:
            return check_prior(prior, self.k)
        return np.full(self.k, 1 / self.k) if self.shares is None else self.shares

    def matrix(self) -> FloatArray:
        return self.table

    @cached_property
    def rows(self) -> FloatArray:
        """Every row in rising order."""
        return np.asarray(np.sort(self.table, axis=1))

    @cached_property
    def order(self) -> IntArray:
        """The reports of every answer from the nearest on: by loss, the answer itself first, then the lower number."""
        return _order(self.table)

    def near(self, m: int, prior: object = None) -> float:
        return float((self.weights(prior) @ self.rows)[:m].sum())


def nearest(table: FloatArray, m: int) -> IntArray:
    """The m nearest reports of every answer, in rising order."""
    return np.sort(_order(table)[:, :m], axis=1)


def _order(table: FloatArray) -> IntArray:
    k, outputs = table.shape
    index = np.broadcast_to(np.arange(outputs), (k, outputs))
    keys: tuple[Any, ...] = (index, table)
    if k == outputs:
        keys = (index, index != np.arange(k)[:, None], table)
    return np.asarray(np.lexsort(keys, axis=1), np.int64)
