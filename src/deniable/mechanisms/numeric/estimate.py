"""Unbiased means of numbers on a grid, from counts of reports."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from deniable.core.grid import Grid
from deniable.core.intervals import Curve, Interval, count_interval, critical, curve_interval, noted
from deniable.core.support import Support
from deniable.core.types import FloatArray, IntArray, Target
from deniable.estimate.result import Shares
from deniable.mechanisms.numeric.lattice_laws import RowsLaw
from deniable.mechanisms.numeric.laws import Blend, Law, Lean, Sliding

__all__ = ["mean_part"]


@dataclass(frozen=True, slots=True, eq=False)
class NumberPart(Shares):
    """One mean with its variance, for those who reported and for the population behind them."""

    mean: float
    reporters: float
    population: float
    n: int
    middle: float
    least: Curve
    """The least variance that any people with this mean have, by the mean's distance from `middle`."""
    grid: Grid

    @property
    def value(self) -> FloatArray:
        return np.array([self.mean])

    @property
    def range(self) -> tuple[float, float]:
        return float(self.grid.low), float(self.grid.high)

    def variance(self, target: Target) -> FloatArray:
        return np.array([self.population if target == "population" else self.reporters])

    def covariance(self, target: Target) -> FloatArray:
        return self.variance(target)[:, None]

    def interval(self, level: float, target: Target, simultaneous: bool) -> Interval:
        """See `Part.interval`: means that a score test does not reject, with the variance seen, or the least possible.

        Few reports from far away make most of the variance: where none came by chance, the sample does not know it, and
        its variance is below the least.
        """
        off, spread = self.value - self.middle, self.variance(target)
        a, _, c = self.least
        least = a + c * off[0] ** 2
        known = near = spread < least
        if target == "population":  # the variance about the mean that is tested, not about the one seen
            near = spread < least * (1 + _NEAR / math.sqrt(self.n))
            spread = spread * self.n / max(self.n - critical(level) ** 2, 1.0)
        curve = self.least if known[0] else (spread, 0.0, 0.0)
        ends = curve_interval(off, curve, level=level, target=target, simultaneous=simultaneous)
        return replace(ends, low=ends.low + self.middle, high=ends.high + self.middle, notes=noted(_ALIKE, near))


@dataclass(frozen=True, slots=True, eq=False)
class BitPart(Shares):
    """The mean of values from bits. They do not tell how unlike the values are: variances are those of equal values."""

    ones: int
    n: int
    chances: Support[float]
    """Of a one, for the last value (p) and the first (q)."""
    grid: Grid

    @property
    def value(self) -> FloatArray:
        return self._scaled(self.chances.unbias(np.array([self.ones / self.n])))

    @property
    def range(self) -> tuple[float, float]:
        return float(self.grid.low), float(self.grid.high)

    def _scaled(self, unit: FloatArray) -> FloatArray:
        return np.asarray(self.grid.at(unit * (self.grid.k - 1)))

    def variance(self, target: Target) -> FloatArray:
        """See `Part.variance`: the share of ones is taken to be at least and at most what it can be."""
        share = min(max(self.ones / self.n, self.chances.q), self.chances.p)
        spread = share * (1 - share) / self.chances.gap**2 / max(self.n - 1, 1)
        return np.array([spread * (self.grid.step * (self.grid.k - 1)) ** 2])

    def covariance(self, target: Target) -> FloatArray:
        return self.variance(target)[:, None]

    def interval(self, level: float, target: Target, simultaneous: bool) -> Interval:
        """See `Part.interval`: by the count of ones, for both targets that of the population."""
        share = np.array([self.ones / self.n])
        ends = count_interval(share, self.chances, self.n, level=level, target="population")
        notes = {**ends.notes, **noted(_EQUAL, [target == "reporters"])}
        return Interval(self._scaled(ends.low), self._scaled(ends.high), level, target, simultaneous, notes)


_NEAR = 10.0
"""Over the root of n: how near to the least a variance is that may be below it by chance."""
_ALIKE = "reports that vary hardly more than equal values make them: a lesser variance is not believed; may cover more"
_EQUAL = (
    "covers more than its level for these very people, the more the less equal their values are: one bit does not tell"
)


def _sliding_part(law: Sliding[Fraction], counts: IntArray, grid: Grid) -> NumberPart:
    """The mean of values from how often each answer was given.

    The reporters' variance is unbiased: with z the unbiased report of a value u steps from the middle, E z^2 is
    floor + (1 + r) u^2 and its variance floor + r u^2, r = blur/pull, so that (floor + r z^2)/(1 + r) estimates it.
    """
    n, scale = int(counts.sum()), float(law.pull)
    z = (np.arange(counts.size) - (counts.size - 1) / 2) / scale
    mean, square = float(counts @ z) / n, float(counts @ z**2) / n
    floor, r = float(law.floor), float(law.blur / law.pull)
    own = (floor + r * square) / (1 + r) / n
    whole = (square - mean**2) / (n - 1) if n > 1 else (float(law.worst) + (law.k - 1) ** 2 / 4) / n
    return _part(mean, own, whole, grid, n, (floor, r))


def _lean_part(law: Lean[Fraction], counts: IntArray, grid: Grid) -> BitPart:
    """The mean of values from how many bits were 0 and 1."""
    q, p = float(law.shift), float(law.chance(law.k - 1))
    chances = Support(p, q, float(law.pull * (law.k - 1)), 1 - p, 1 - q, 0.0, 0.0)
    return BitPart(int(counts[1]), int(counts.sum()), chances, grid)


def _blend_part(law: Blend[Fraction], counts: IntArray, grid: Grid) -> NumberPart:
    """The mean of values from windows and bits.

    The variance of a report is linear in the value's squared distance from the middle, whose mean over the people the
    windows tell without bias; it is kept between 0 and the largest it can be, which is assumed without any window.
    """
    n, middle, answers = int(counts.sum()), (law.k - 1) / 2, counts.size - 2
    windows = np.asarray((np.arange(answers) - (answers - 1) / 2) / float(law.window.pull), np.float64)
    z = np.concatenate([windows, [float(law.bit.unbiased(y)) - middle for y in (0, 1)]])
    mean, square = float(counts @ z) / n, float(counts @ z**2) / n
    central = float(law.noise(Fraction(law.k - 1, 2)))
    own = (central + float(law.bend) * _distance(law, counts[:answers], windows)) / n
    whole = (square - mean**2) / (n - 1) if n > 1 else (float(law.worst) + middle**2) / n
    return _part(mean, own, whole, grid, n, (central, float(law.bend)))


def _distance(law: Blend[Fraction], counts: IntArray, z: FloatArray) -> float:
    """Mean squared distance of the values from the middle, from the reports that are answers of windows."""
    n, most = int(counts.sum()), (law.k - 1) ** 2 / 4
    if n == 0:
        return most if law.bend > 0 else 0.0
    found = (float(counts @ z**2) / n - float(law.window.floor)) / (1 + float(law.window.slant))
    return min(max(found, 0.0), most)


def _rows_part(law: RowsLaw, counts: IntArray, grid: Grid) -> NumberPart:
    """The mean of values from how often each report of a table of rows was given.

    The reporters' variance is that of their very values up to what rounding may add (`RowsLaw.spread`); it is kept
    between the least and the largest that any value has.
    """
    n, middle = int(counts.sum()), (law.k - 1) / 2
    z = law.readings() - middle
    mean, square = float(counts @ z) / n, float(counts @ z**2) / n
    least, worst = float(min(law.noises)), float(law.worst)
    own = min(max(float(counts @ law.spread) / n, least), worst) / n
    whole = (square - mean**2) / (n - 1) if n > 1 else (worst + middle**2) / n
    return _part(mean, own, whole, grid, n, (least, 0.0))


_PARTS: Mapping[type, Callable[[Any, IntArray, Grid], NumberPart | BitPart]] = {
    Sliding: _sliding_part,
    Lean: _lean_part,
    Blend: _blend_part,
    RowsLaw: _rows_part,
}


def mean_part(law: Law | RowsLaw, counts: IntArray, grid: Grid) -> NumberPart | BitPart:
    """The mean of values from how often each report was given, by the law of what is sampled."""
    return _PARTS[type(law)](law, counts, grid)


def _part(
    off: float, reporters: float, population: float, grid: Grid, n: int, least: tuple[float, float]
) -> NumberPart:
    """From steps from the middle of the grid to its numbers. `least`: one report's variance is at least the first, and
    so much more for every squared step from the middle; people of one mean have the least where all are alike."""
    unit, middle = grid.step**2, (grid.k - 1) / 2
    curve = (least[0] * unit / n, 0.0, least[1] / n)
    return NumberPart(
        float(grid.at(off + middle)), reporters * unit, population * unit, n, float(grid.at(middle)), curve, grid
    )
