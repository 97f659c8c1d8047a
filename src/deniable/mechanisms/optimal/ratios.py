"""The exact largest likelihood ratios of a table of whole numbers, between each two values.

Floats find the outputs that can be the worst ones, with room for their rounding; whole numbers decide among these.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from deniable.core.types import BoolArray, FloatArray

__all__ = ["largest_ratios", "worst_of"]

_ROOM = 1e-12
"""Share that floats may be off: a quotient of two 64-bit integers is, by at most 2**-51."""


class Worst(NamedTuple):
    """The largest ratio of an output for one value against another; `bottom` 0: infinite."""

    top: int
    bottom: int
    output: int
    likely: int
    unlikely: int

    @property
    def ratio(self) -> Fraction | None:
        """As a fraction; None: infinite."""
        return Fraction(self.top, self.bottom) if self.bottom else None


def worst_of(weights: Sequence[Sequence[int]], pairs: BoolArray) -> Worst:
    """The largest ratio of any output over the pairs (x, z) that are marked; nothing by nothing is none."""
    rows = np.array(weights, np.float64)
    peaks = np.array([_quotients(rows, x).max(axis=1) for x in range(len(rows))])
    most = peaks[pairs].max()
    first: tuple[int, int] = tuple(np.argwhere(pairs)[0].tolist())
    best = Worst(1, 1, 0, *first)  # rows have one sum, so some output is no likelier for one value than for another
    for x in np.flatnonzero((pairs & (peaks >= most * (1 - _ROOM))).any(axis=1)).tolist():
        high = (_quotients(rows, x) >= most * (1 - _ROOM)) & pairs[x][:, None]
        for z, y in np.argwhere(high).tolist():
            if weights[x][y] * best.bottom > best.top * weights[z][y]:
                best = Worst(weights[x][y], weights[z][y], y, x, z)
    return best


def _quotients(rows: FloatArray, x: int) -> FloatArray:
    """Likelihoods of all outputs for value x by those for every value; 0 for what x never gives."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(rows[x] > 0, rows[x] / rows, 0.0)


def largest_ratios(weights: Sequence[Sequence[int]]) -> list[list[Fraction | None]]:
    """The largest ratio for each value against each other one, at least 1; None: infinite."""
    k = len(weights)
    rows = np.array(weights, np.float64)
    found: list[list[Fraction | None]] = []
    for x in range(k):
        quotients = _quotients(rows, x)
        peaks = quotients.max(axis=1)
        own: list[Fraction | None] = []
        for z in range(k):
            places = np.flatnonzero(quotients[z] >= peaks[z] * (1 - _ROOM)).tolist()
            known = {(weights[x][y], weights[z][y]) for y in places if weights[x][y]}
            own.append(None if np.isinf(peaks[z]) else max(Fraction(a, b) for a, b in known))
        found.append(own)
    return found
