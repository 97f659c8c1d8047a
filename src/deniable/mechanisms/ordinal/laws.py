"""The law of reports about cells of points in an order, and what linear estimates from them are worth.

A report is a public cut of the circle into cells and a set of its cells (subset selection). What it tells about the
points is the matrix M = sum of q a T over the cuts, T(x, y) being the chance that x and y are in one cell; estimates
and their variances follow from M and from sums over cells. Formulas: docs/maths/ordinal.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, Protocol

import numpy as np

from deniable.core.laws import epsilon_to, ratio_to, subset
from deniable.core.ranges import by_distance, count, pairs, within
from deniable.core.support import Support
from deniable.core.types import FloatArray, Target
from deniable_client.kernels import Windows as Kernel

__all__ = ["Cut", "Dense", "Law", "ideal_law", "law_of", "nested_gains"]

_COLUMNS = 256
"""Queries that are looked at together, where there is one for each point."""
_RANGES_MOST = 64
"""Points up to which all ranges are looked at one by one."""


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """Cells of one width, in one of some shifts that are all as likely, and subset selection among them."""

    width: int
    cells: int
    shifts: int
    chance: float
    """Of this cut among all."""
    size: int
    support: Support[float]
    lift: float
    """kappa = (e-1)/(1 + (e-1) size/cells): the profile of a report is 1 + kappa ([cell in set] - size/cells)."""

    @property
    def information(self) -> float:
        """a = kappa (p - q): what a report tells about its cell."""
        return self.lift * self.support.gap

    @property
    def sliding(self) -> bool:
        """Whether there is a shift for every point of a cell, so that all points are alike."""
        return self.shifts == self.width

    @property
    def weight(self) -> float:
        """q kappa^2 for each shift."""
        return self.chance * self.lift**2 / self.shifts

    @property
    def base(self) -> float:
        """What the squared sum of a cell counts in the second moment, whoever is in it: q - none."""
        return self.support.q - self.support.both_none

    @property
    def slope(self) -> float:
        """... and what more, where the person is in it: p - q - 2 one + 2 none."""
        s = self.support
        return s.gap - 2 * s.both_one + 2 * s.both_none

    def sums(self, columns: FloatArray) -> FloatArray:
        """Sums over all cells in all shifts of numbers for the points of the circle, a column for each query."""
        if self.sliding:
            wrapped = np.concatenate([columns, columns[: self.width - 1]])
            total = np.concatenate([np.zeros_like(columns[:1]), np.cumsum(wrapped, axis=0)])
            return np.asarray(total[self.width :] - total[: -self.width])
        shape = (self.cells, self.width, *columns.shape[1:])
        rolled = (np.roll(columns, s, axis=0).reshape(shape).sum(axis=1) for s in range(self.shifts))
        return np.concatenate(list(rolled))

    def together(self, circle: int, points: int) -> FloatArray:
        """T: the chance that two points are in one cell."""
        x = np.arange(points)
        if self.sliding:
            off = np.abs(np.subtract.outer(x, x))
            return np.asarray(np.maximum(0.0, 1 - np.minimum(off, circle - off) / self.width))
        cells = [(x + s) % circle // self.width for s in range(self.shifts)]
        return np.asarray(sum(np.equal.outer(own, own).astype(np.float64) for own in cells) / self.shifts)


class Solver(Protocol):
    """C, the inverse of M on queries whose weights sum to 0, by whatever shape M has."""

    @property
    def prior(self) -> FloatArray:
        """o/1'o: the estimates before any report."""

    @property
    def row(self) -> FloatArray | None:
        """C of the first point and each other one, where that says all since the points are alike; else None."""

    def solve(self, queries: FloatArray) -> FloatArray:
        """C r for each column r."""

    def total(self, workload: str) -> float | None:
        """The sum of r'C r over the queries of a workload, where that is their variance; else None."""


@dataclass(frozen=True, slots=True, eq=False)
class Circulant:
    """All points of the circle are answers and all of them are alike: M is diagonal in Fourier space."""

    points: int
    inverse: FloatArray
    """1/eigenvalue by frequency, 0 for the constant."""

    @classmethod
    def of(cls, row: FloatArray) -> Circulant:
        """From M of the first point and each other one."""
        with np.errstate(divide="ignore"):
            inverse = 1 / np.fft.rfft(row).real
        inverse[0] = 0.0
        return cls(len(row), inverse)

    @property
    def prior(self) -> FloatArray:
        return np.full(self.points, 1 / self.points)

    @property
    def row(self) -> FloatArray:
        return np.asarray(np.fft.irfft(self.inverse, n=self.points))

    def solve(self, queries: FloatArray) -> FloatArray:
        scale = self.inverse.reshape(-1, *(1,) * (queries.ndim - 1))
        return np.asarray(np.fft.irfft(np.fft.rfft(queries, axis=0) * scale, n=self.points, axis=0))

    def total(self, workload: str) -> float:
        sums, row = by_distance(self.points, workload), self.row
        return float(2 * (row @ sums) - row[0] * sums[0])


@dataclass(frozen=True, slots=True, eq=False)
class Nested:
    """Standing cells, each cut by the next: M is diagonal in differences of means over cells."""

    points: int
    widths: tuple[int, ...]
    eigenvalues: FloatArray
    row: ClassVar[None] = None

    @property
    def prior(self) -> FloatArray:
        return np.full(self.points, 1 / self.points)

    def solve(self, queries: FloatArray) -> FloatArray:
        means = [self._means(queries, width) for width in (*self.widths, self.points)]
        steps = ((fine - rough) / own for fine, rough, own in zip(means, means[1:], self.eigenvalues, strict=False))
        return np.asarray(sum(steps))

    @staticmethod
    def _means(queries: FloatArray, width: int) -> FloatArray:
        cells = queries.reshape(-1, width, *queries.shape[1:]).mean(axis=1)
        return np.repeat(cells, width, axis=0)

    def total(self, workload: str) -> float:
        return float((nested_gains(self.points, self.widths, workload) / self.eigenvalues).sum())


def nested_gains(points: int, widths: Sequence[int], workload: str) -> FloatArray:
    """How much of the queries is in the differences of means over the cells of each width and of the next one."""
    means = [within(points, width, workload) / width for width in (*widths, points)]
    return np.asarray(-np.diff(means))


@dataclass(frozen=True, slots=True, eq=False)
class Dense:
    """Any M, as a matrix."""

    matrix: FloatArray
    """C."""
    prior: FloatArray
    row: ClassVar[None] = None

    @classmethod
    def of(cls, matrix: FloatArray) -> Dense:
        """From M."""
        inverse = np.linalg.inv(matrix)
        ones = inverse.sum(axis=1)
        return cls(inverse - np.outer(ones, ones) / ones.sum(), ones / ones.sum())

    def solve(self, queries: FloatArray) -> FloatArray:
        return np.asarray(self.matrix @ queries)

    def total(self, workload: str) -> None:
        return None


@dataclass(frozen=True, eq=False)
class Law:
    """Reports about points 0..points-1 of a circle."""

    points: int
    circle: int
    cuts: tuple[Cut, ...]

    @cached_property
    def solver(self) -> Solver:
        """The inverse of M, in the quickest form that it has."""
        if self.points == self.circle and all(cut.sliding for cut in self.cuts):
            return Circulant.of(self.by_distance())
        widths = tuple(cut.width for cut in self.cuts)
        still = self.points == self.circle and all(cut.shifts == 1 for cut in self.cuts)
        if still and all(b % a == 0 for a, b in pairwise(widths)):
            steps = np.cumsum([cut.chance * cut.information * cut.width for cut in self.cuts])
            return Nested(self.points, widths, steps)
        return Dense.of(self.matrix())

    def by_distance(self) -> FloatArray:
        """M by the distance of two points on the circle, where all cuts slide."""
        d = np.arange(self.circle)
        near = np.minimum(d, self.circle - d)
        rows = (cut.chance * cut.information * np.maximum(0.0, 1 - near / cut.width) for cut in self.cuts)
        return np.asarray(sum(rows))

    def matrix(self) -> FloatArray:
        """M."""
        every = (cut.chance * cut.information * cut.together(self.circle, self.points) for cut in self.cuts)
        return np.asarray(sum(every))

    # ---- estimates

    def score(self, support: Sequence[FloatArray], n: Sequence[int]) -> FloatArray:
        """u: the mean of kappa ([cell in set] - size/cells) for each point, from the counts of each cut."""
        total = np.zeros(self.points)
        for cut, hits, people in zip(self.cuts, support, n, strict=True):
            total += cut.lift * (hits - people * (cut.size / cut.cells))
        return total / sum(n)

    def shares(self, support: Sequence[FloatArray], n: Sequence[int]) -> FloatArray:
        """The unbiased shares of all points."""
        return self.solver.solve(self.score(support, n)) + self.solver.prior

    # ---- what one report can do

    def most(self, queries: FloatArray) -> FloatArray:
        """The most that one report, whoever made it, adds to n times the estimate of each column of weights.

        Given width and shift, that is the report with the cells that count most.
        """
        on = self._on_circle(self.solver.solve(queries))
        found = np.full(queries.shape[1:], -np.inf)
        for cut in self.cuts:
            sums, rest = cut.sums(on), queries.shape[1:]
            by_shift = (
                sums.reshape(cut.cells, cut.width, *rest).swapaxes(0, 1)
                if cut.sliding
                else sums.reshape(cut.shifts, cut.cells, *rest)
            )
            best = np.partition(by_shift, cut.cells - cut.size, axis=1)[:, cut.cells - cut.size :].sum(axis=1)
            each = cut.lift * (best - on.sum(axis=0) * (cut.size / cut.cells))
            found = np.maximum(found, each.max(axis=0))
        return np.asarray(found + self.solver.prior @ queries)

    @cached_property
    def most_of_ranges(self) -> float:
        """The same for the range that suits a forger best; where that would take long, what it is at most.

        On a circle without gaps only lengths matter. Otherwise, of many points, a range is the difference of two
        prefixes, of which each has its best report.
        """
        k = self.points
        if isinstance(self.solver, Circulant):
            return self._most_of((0, length) for length in range(1, k))
        if k <= _RANGES_MOST:
            return self._most_of((a, b) for a in range(k) for b in range(a + 1, k + 1) if b - a < k)
        ends = [(0, b) for b in range(1, k)]
        return max(0.0, self._most_of(ends)) + max(0.0, self._most_of(ends, -1.0))

    def _most_of(self, ranges: Iterable[tuple[int, int]], sign: float = 1.0) -> float:
        listed, found = list(ranges), -np.inf
        for block in (listed[i : i + _COLUMNS] for i in range(0, len(listed), _COLUMNS)):
            queries = np.zeros((self.points, len(block)))
            for column, (a, b) in enumerate(block):
                queries[a:b, column] = sign
            found = max(found, float(self.most(queries).max()))
        return float(found)

    # ---- variances, of one report

    def variance(self, queries: FloatArray, f: FloatArray, target: Target) -> FloatArray:
        """Of the estimate of each column of weights, where people hold the points with shares f."""
        second = self._second(self.solver.solve(queries), f)
        return np.asarray(second - self._told(queries, f, target))

    def _second(self, solved: FloatArray, f: FloatArray) -> FloatArray:
        """Mean square of what a report adds to estimates, less their centres."""
        on = self._on_circle(solved)
        total = np.zeros(solved.shape[1:])
        for cut, counts in self._counts(f):
            total = total + cut.weight * np.tensordot(counts, cut.sums(on) ** 2, 1)
        return np.asarray(total)

    def _counts(self, f: FloatArray) -> Iterator[tuple[Cut, FloatArray]]:
        """What the squared sum of each cell counts, for every cut; estimated shares of cells are kept within 0 and 1.

        Only here: an estimated variance must not be that of shares that no people can have.
        """
        held = self._on_circle(f)
        return ((cut, cut.base + cut.slope * np.clip(cut.sums(held), 0.0, 1.0)) for cut in self.cuts)

    def _told(self, queries: FloatArray, f: FloatArray, target: Target) -> Any:
        """What of the mean square is no noise: of the reporters each one's own mean, of the population that of all."""
        off = queries - self.solver.prior @ queries
        return np.tensordot(f, off**2, 1) if target == "reporters" else np.tensordot(f, off, 1) ** 2

    def _on_circle(self, columns: FloatArray) -> FloatArray:
        """Numbers for the points with zeros for those of the circle that are no answers."""
        rest = self.circle - self.points
        return columns if not rest else np.concatenate([columns, np.zeros((rest, *columns.shape[1:]))])

    def each_point(self, f: FloatArray, target: Target) -> FloatArray:
        """The variance of every share."""
        row = self.solver.row
        if row is None:
            return self._by_columns(np.eye(self.points), f, target)
        second = sum(cut.weight * _moved(cut.sums(row) ** 2, counts) for cut, counts in self._counts(f))
        return np.asarray(second - _of_some(f, 1 / self.points, target))

    def each_prefix(self, f: FloatArray, target: Target) -> FloatArray:
        """The variance of the share of the first 0, 1, .., D points; the last one is 1, and known."""
        out, row = np.zeros(self.points + 1), self.solver.row
        if row is None:
            out[1:-1] = self._by_columns(np.triu(np.ones((self.points, self.points)))[:, :-1], f, target)
            return out
        centre = np.arange(1, self.points) / self.points
        out[1:-1] = self._prefix_squares(row, f) - _of_some(np.cumsum(f)[:-1], centre, target)
        return out

    def _prefix_squares(self, row: FloatArray, f: FloatArray) -> Any:
        """`_second` of all prefixes: C of the first t points is the difference of two shifts of one function."""
        steps, total = np.cumsum(row), 0.0
        steps -= steps.mean()
        for cut, counts in self._counts(f):
            own = cut.sums(steps)
            both = float(counts @ own**2) + _moved(own**2, counts) - 2 * _moved(own, counts * own)
            total = total + cut.weight * both[1:]
        return total

    def _by_columns(self, queries: FloatArray, f: FloatArray, target: Target) -> FloatArray:
        blocks = range(0, queries.shape[1], _COLUMNS)
        every = [self.variance(queries[:, start : start + _COLUMNS], f, target) for start in blocks]
        return np.concatenate(every) if every else np.zeros(0)

    def covariance(self, f: FloatArray, target: Target) -> FloatArray:
        """Of the shares of all points."""
        matrix, eye = np.zeros((self.points, self.points)), np.eye(self.points)
        solved = self._on_circle(self.solver.solve(eye))
        for cut, counts in self._counts(f):
            sums = cut.sums(solved)
            matrix += cut.weight * (sums.T * counts) @ sums
        off = eye - self.solver.prior
        mean = f @ off
        return matrix - ((off.T * f) @ off if target == "reporters" else np.outer(mean, mean))

    # ---- whole workloads, at the uniform population, the sampling of people included

    def mean_variance(self, workload: str) -> float:
        """The mean variance of all queries of a workload."""
        return self._total(workload) / count(self.points, workload)

    def _total(self, workload: str) -> float:
        found = self.solver.total(workload)
        return self._total_dense(workload) if found is None else found

    def _total_dense(self, workload: str) -> float:
        """By the sums of C Q C over all pairs in one cell."""
        weights, f = pairs(self.points, workload), np.full(self.points, 1 / self.points)
        solved = self.solver.solve(self.solver.solve(weights).T)
        on = self._on_circle(self._on_circle(solved).T)
        total = 0.0
        for cut, counts in self._counts(f):
            total += cut.weight * float(counts @ np.diagonal(cut.sums(cut.sums(on).T)))
        off = f - self.solver.prior
        return total - float(off @ weights @ off)


def _of_some(held: FloatArray, centre: Any, target: Target) -> FloatArray:
    """`Law._told` of the share of some of the points, from it and from its centre."""
    return np.asarray(held * (1 - 2 * centre) + centre**2 if target == "reporters" else (held - centre) ** 2)


def _moved(row: FloatArray, counts: FloatArray) -> Any:
    """Sum over p of row(p - x) counts(p), for every x of the circle."""
    product = np.conj(np.fft.rfft(row)) * np.fft.rfft(counts)
    return np.fft.irfft(product, n=len(row))


# ---- laws of designs


def ideal_law(
    epsilon: float,
    points: int,
    circle: int,
    widths: Sequence[int],
    shifts: Sequence[int],
    shares: Sequence[float],
    sizes: Sequence[int],
) -> Law:
    """With the ideal probabilities of epsilon."""
    odds = [epsilon_to(epsilon)] * len(widths)
    return Law(points, circle, tuple(_cuts(circle, widths, shifts, shares, sizes, odds)))


def law_of(kernel: Kernel) -> Law:
    """With the probabilities of what is sampled."""
    odds = [ratio_to(part.ratio) for part in kernel.parts]
    cuts = _cuts(kernel.circle, kernel.widths, kernel.shifts, kernel.shares, kernel.sizes, odds)
    return Law(kernel.k, kernel.circle, tuple(cuts))


def _cuts(
    circle: int,
    widths: Sequence[int],
    shifts: Sequence[int],
    shares: Sequence[float],
    sizes: Sequence[int],
    odds: Sequence[tuple[Any, Any]],
) -> Iterator[Cut]:
    total = sum(shares)
    for width, moves, share, size, (w, v) in zip(widths, shifts, shares, sizes, odds, strict=True):
        cells = circle // width
        lift = float(v * cells / (cells * w + v * size))
        yield Cut(width, cells, moves, share / total, size, subset(w, v, cells, size).map(float), lift)
