"""The law of reports by rows of whole numbers: means exactly on a line, variances level or as wanted.

A number is an item x = 0..k-1 of a fine grid; places on it have rows, and between two places their rows are mixed. All
is in steps of the fine grid, in fractions. Derivations: docs/maths/mean-optimum.md.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

import numpy as np

from deniable.core.guess import Guess, check_prior
from deniable.core.types import FloatArray
from deniable_client.exact import WORD
from deniable_client.kernels import Lattice

__all__ = ["RowsLaw"]

_NEAR, _STEADY = 0.002, 2.0
"""A linear reading of the variance is good enough if it is nowhere farther above the true one than this part of it; it
must not deviate from report to report by more than so many times the largest variance."""


@dataclass(frozen=True, eq=False)
class RowsLaw:
    """The law of the integers that a `Lattice` samples."""

    kernel: Lattice

    @property
    def k(self) -> int:
        """Number of items."""
        return self.kernel.k

    @property
    def answers(self) -> int:
        """Number of different reports."""
        return self.kernel.outputs

    @cached_property
    def _line(self) -> tuple[int, Fraction]:
        base, rise = self.kernel.line
        return base, Fraction(self.k - 1, rise)

    def unbiased(self, y: int) -> Fraction:
        """What a report is taken for: on average its item."""
        base, unit = self._line
        return (self.kernel.values[y] * WORD - base) * unit

    @cached_property
    def squares(self) -> list[Fraction]:
        """At every place, the mean of the squared readings."""
        base, unit = self._line
        firsts, seconds = self.kernel.sums(2), self.kernel.sums(3)
        return [
            (second * WORD - 2 * first * base + base * base) * unit * unit
            for first, second in zip(firsts, seconds, strict=True)
        ]

    @property
    def noises(self) -> list[Fraction]:
        """The variance of one report at every place."""
        return [square - place * place for square, place in zip(self.squares, self.kernel.places, strict=True)]

    def noise(self, x: int | Fraction) -> Fraction:
        """Variance of one unbiased report of x, rounding included."""
        i = min(bisect_right(self.kernel.places, x) - 1, self.kernel.points - 2)
        start, end = self.kernel.places[i : i + 2]
        up = Fraction(x - start) / (end - start)
        return (1 - up) * self.squares[i] + up * self.squares[i + 1] - Fraction(x) * x

    @cached_property
    def worst(self) -> Fraction:
        """The largest variance of all items, also of those between two places, where it is a parabola."""
        found = list(self.noises)
        for (start, end), (low, high) in zip(pairwise(self.kernel.places), pairwise(self.squares), strict=True):
            top = (high - low) / (2 * (end - start))
            whole = top.numerator // top.denominator
            found += [self.noise(x) for x in (whole, whole + 1) if start < x < end]
        return max(found)

    @cached_property
    def average(self) -> Fraction:
        """The mean of all items' variances."""
        total, last = self.squares[-1], self.k - 1
        for (start, end), (low, high) in zip(pairwise(self.kernel.places), pairwise(self.squares), strict=True):
            total += (end - start) * low + (high - low) * (end - start - 1) / 2
        return (total - Fraction(last * (last + 1) * (2 * last + 1), 6)) / self.k

    @cached_property
    def table(self) -> FloatArray:
        """The rows as probabilities."""
        return np.array([[weight / WORD for weight in self.kernel.row(i)] for i in range(self.kernel.points)])

    def readings(self) -> FloatArray:
        """What every report is taken for, in steps."""
        return np.array([float(self.unbiased(y)) for y in range(self.answers)])

    @cached_property
    def spread(self) -> FloatArray:
        """For every report a number whose mean is the variance of the item, or a little more: never less.

        The variances of the places, with what rounding adds at most between them, as a linear function of the rows. Of
        functions that do so about equally well the one is taken that varies least from report to report.
        """
        gaps = [end - start for start, end in pairwise(self.kernel.places)]
        added = [max(one, two) ** 2 // 4 for one, two in zip([0, *gaps], [*gaps, 0], strict=True)]
        wanted = np.array([float(own + more) for own, more in zip(self.noises, added, strict=True)])
        left, sizes, right = np.linalg.svd(self.table, full_matrices=False)
        made, best = np.full(self.answers, wanted.max()), float(np.inf)
        for rank in range(1, int(np.count_nonzero(sizes > 1e-9 * sizes[0])) + 1):
            tried = right[:rank].T @ ((left[:, :rank].T @ wanted) / sizes[:rank])
            off = wanted - self.table @ tried
            tried = tried + off.max()
            above = float(((self.table @ tried - wanted) / wanted).max())
            varies = self.table @ tried**2 - (self.table @ tried) ** 2
            if above < best and float(varies.max()) <= (_STEADY * float(wanted.max())) ** 2:
                made, best = tried, above
            if best <= _NEAR:
                break
        return np.asarray(made)

    def shares(self, start: int, end: int) -> FloatArray:
        """How many of the items from `start` to `end` - 1 are rounded to each place, on average."""
        found = [Fraction(0)] * self.kernel.points
        last = self.k - 1
        for i, (low, high) in enumerate(pairwise(self.kernel.places)):
            one, two = max(start, low), min(end, high)
            if one < two:
                up = Fraction((two - one) * (one + two - 1 - 2 * low), 2 * (high - low))
                found[i] += two - one - up
                found[i + 1] += up
        found[-1] += start <= last < end
        return np.array([float(part) for part in found])

    def guess(self, prior: object = None) -> Guess:
        """The likeliest item by the report. Likelihoods are largest at places, since rows are mixed between them."""
        if prior is None:
            most = sum(high for _, high in self.kernel.extremes())
            return Guess(float(Fraction(most, WORD * self.k)), 1 / self.k)
        pi, best = check_prior(prior, self.k), np.zeros(self.answers)
        for i, (start, end) in enumerate(pairwise(self.kernel.places)):
            own = pi[start : end + 1]
            up = np.arange(own.size)[:, None] / (end - start)
            mixed = own[:, None] * ((1 - up) * self.table[i] + up * self.table[i + 1])
            best = np.maximum(best, mixed.max(axis=0))
        return Guess(float(best.sum()), float(pi.max()))
