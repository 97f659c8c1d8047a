"""Calibrated estimates from reports with public coins: what the realised coins are known to do is subtracted.

Exactly unbiased by cross-fitting, never materially worse than the plain estimate, better where frequencies are far from
uniform. Mathematics: docs/maths/coins.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np

from deniable.core.support import Support, check_target
from deniable.core.types import Bytes, Columns, FloatArray, IntArray, Target
from deniable.errors import require
from deniable.estimate.result import NormalPart
from deniable.estimate.simplex import project_simplex
from deniable.randomness import simulation

__all__ = ["PublicCoin", "calibrate"]

_CELLS = 1 << 20
"""Reports times items that are looked at together."""


class PublicCoin(Protocol):
    """Reports that carry a public coin and support items, in bulk."""

    @property
    def k(self) -> int:
        """Number of items."""

    @property
    def support(self) -> Support[Fraction]:
        """Support probabilities, over all coins."""

    def supported(self, columns: Columns) -> Bytes:
        """The sets of items that reports support, as packed bits."""

    def given_coins(self, columns: Columns, f: FloatArray) -> FloatArray:
        """Chance that a report with each coin supports each item, if its sender's item is drawn from `f`."""


@dataclass(frozen=True, slots=True, eq=False)
class CalibratedPart(NormalPart):
    """Frequencies with the coins' known part subtracted; variances from the sample, within coins."""

    value: FloatArray
    spread: FloatArray
    """Sample variance of one report's weight given its coin, for each item."""
    n: int
    products: Callable[[], FloatArray]
    """Sample covariance of the weights of all pairs of items, computed when it is asked for."""

    def variance(self, target: Target) -> FloatArray:
        """See `Part.variance`. The sample variance is that for the population; for the reporters f(1-f) goes off."""
        check_target(target)
        own = self.value * (1 - self.value) if target == "reporters" else np.zeros_like(self.value)
        return np.asarray(np.maximum(self.spread - own, 0.0) / self.n)

    def covariance(self, target: Target) -> FloatArray:
        check_target(target)
        matrix = self.products() / self.n
        if target == "reporters":
            matrix = matrix + np.outer(self.value, self.value) / self.n
        np.fill_diagonal(matrix, self.variance(target))
        return np.asarray(matrix)


def calibrate(m: PublicCoin, columns: Columns) -> CalibratedPart:
    """The calibrated estimate from reports, cross-fitted over two random halves of them.

    For each half the frequencies f~ are guessed from the other one (projected onto the simplex), and
    value = f~ + (supports - expected supports at f~ given the half's own coins) / (n (p - q)); the halves are averaged
    by size. Given f~ the second term is unbiased for f - f~, since over all coins an item is expected to be supported
    with q + (p - q) f.
    """
    n = len(columns["seed"])
    require(n >= 2, "reports", n, "at least 2 for a calibrated estimate", "Use estimate() for a single report.")
    halves = _halves(n)
    parts = [{name: column[half] for name, column in columns.items()} for half in halves]
    support = m.support.map(float)
    rough = [project_simplex(support.unbias(_share(m, part))) for part in parts]
    value, spread = np.zeros(m.k), np.zeros(m.k)
    for part, other in zip(parts, reversed(rough), strict=True):
        size = len(part["seed"])
        total, square = np.zeros(m.k), np.zeros(m.k)
        for rest in _residuals(m, part, other):
            total += rest.sum(axis=0)
            square += np.einsum("ij,ij->j", rest, rest)
        value += size / n * (other + total / (size * support.gap))
        spread += square - total**2 / size
    unit = (n - 2 if n > 2 else 1) * float(m.support.gap) ** 2
    return CalibratedPart(value, spread / unit, n, lambda: _products(m, parts, rough) / unit)


def _products(m: PublicCoin, parts: list[Columns], rough: list[FloatArray]) -> FloatArray:
    """Sums of products of the residuals about their means, for all pairs of items."""
    matrix = np.zeros((m.k, m.k))
    for part, other in zip(parts, reversed(rough), strict=True):
        total = np.zeros(m.k)
        for rest in _residuals(m, part, other):
            total += rest.sum(axis=0)
            matrix += rest.T @ rest
        matrix -= np.outer(total, total) / len(part["seed"])
    return matrix


def _halves(n: int) -> tuple[IntArray, IntArray]:
    """A random split that is the same for every estimate from n reports, so that results repeat.

    It must not depend on coins or values; that anyone can know it does no harm.
    """
    order = simulation(n).generator().permutation(n)
    return np.sort(order[: n // 2]), np.sort(order[n // 2 :])


def _chunks(m: PublicCoin, columns: Columns) -> Iterator[Columns]:
    step = max(1, _CELLS // m.k)
    for start in range(0, len(columns["seed"]), step):
        yield {name: column[start : start + step] for name, column in columns.items()}


def _member(m: PublicCoin, columns: Columns) -> FloatArray:
    return np.unpackbits(m.supported(columns), axis=1, count=m.k, bitorder="little").astype(np.float64)


def _share(m: PublicCoin, columns: Columns) -> FloatArray:
    counts = sum(_member(m, chunk).sum(axis=0) for chunk in _chunks(m, columns))
    return np.asarray(counts / len(columns["seed"]))


def _residuals(m: PublicCoin, columns: Columns, f: FloatArray) -> Iterator[FloatArray]:
    """Supported or not, minus what the coin makes expect at frequencies f: a row per report, some at a time."""
    for chunk in _chunks(m, columns):
        yield _member(m, chunk) - m.given_coins(chunk, f)
