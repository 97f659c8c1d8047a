"""Unbiased means of numbers on a grid, from counts of reports."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from deniable.core.grid import Grid
from deniable.core.intervals import Interval, wald_interval
from deniable.core.types import FloatArray, IntArray, Target
from deniable.mechanisms.numeric.laws import Blend, Law, Lean, Sliding

__all__ = ["mean_part"]


@dataclass(frozen=True, slots=True, eq=False)
class NumberPart:
    """One mean with its variance, for those who reported and for the population behind them; normal intervals."""

    mean: float
    reporters: float
    population: float

    @property
    def value(self) -> FloatArray:
        return np.array([self.mean])

    def variance(self, target: Target) -> FloatArray:
        return np.array([self.population if target == "population" else self.reporters])

    def covariance(self, target: Target) -> FloatArray:
        return self.variance(target)[:, None]

    def interval(self, level: float, target: Target, simultaneous: bool) -> Interval:
        spread = np.sqrt(self.variance(target))
        return wald_interval(self.value, spread, level=level, target=target, simultaneous=simultaneous)


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
    return _part(mean + (law.k - 1) / 2, own, whole, grid)


def _lean_part(law: Lean[Fraction], counts: IntArray, grid: Grid) -> NumberPart:
    """The mean of values from how many bits were 0 and 1.

    Bits do not tell how unlike the values are, so the reporters' variance is bounded by that of equal values, which is
    the population's; the share of ones is taken to be at least and at most what it can be.
    """
    n, ones = int(counts.sum()), int(counts[1])
    share = min(max(ones / n, float(law.shift)), float(law.chance(law.k - 1)))
    spread = share * (1 - share) / float(law.pull) ** 2 / max(n - 1, 1)
    return _part(float((Fraction(ones, n) - law.shift) / law.pull), spread, spread, grid)


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
    return _part(mean + middle, own, whole, grid)


def _distance(law: Blend[Fraction], counts: IntArray, z: FloatArray) -> float:
    """Mean squared distance of the values from the middle, from the reports that are answers of windows."""
    n, most = int(counts.sum()), (law.k - 1) ** 2 / 4
    if n == 0:
        return most if law.bend > 0 else 0.0
    found = (float(counts @ z**2) / n - float(law.window.floor)) / (1 + float(law.window.slant))
    return min(max(found, 0.0), most)


_PARTS: Mapping[type, Callable[[Any, IntArray, Grid], NumberPart]] = {
    Sliding: _sliding_part,
    Lean: _lean_part,
    Blend: _blend_part,
}


def mean_part(law: Law, counts: IntArray, grid: Grid) -> NumberPart:
    """The mean of values from how often each report was given, by the law of what is sampled."""
    return _PARTS[type(law)](law, counts, grid)


def _part(steps: float, reporters: float, population: float, grid: Grid) -> NumberPart:
    """From steps of the grid to its numbers."""
    unit = grid.step**2
    return NumberPart(float(grid.at(steps)), reporters * unit, population * unit)
