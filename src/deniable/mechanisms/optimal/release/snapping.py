"""From a solver's channel to one whose tight limits are exactly tight: what a linear programme meant to say.

A solver's numbers are right up to its tolerance. Values that are as likely as their budget allows, up to that, are tied
to each other: within such a component the likelihoods are known exactly but for one factor, and the factors follow
from the sums of the rows. Entries too small for the solver are the least that the others ask for.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np

from deniable.core.types import BoolArray, FloatArray, IntArray
from deniable_client.exact import WORD, exp_bounds

__all__ = ["pieces_of", "shares_of_pieces"]

_USED = 1e-10
"""Outputs whose largest probability is not above it are left out."""
_KNOWN = 1e-11
"""Probabilities below it are noise of the solver."""
_TIGHT = 1e-7
"""Limits are taken for tight where they are it up to this much."""
_REFITS = 4


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """A part of an output: values that are tied to each other, their potentials, and the weight of the largest."""

    output: int
    values: IntArray
    down: tuple[Fraction, ...]
    """ln of how much less likely each value is than the likeliest, exactly."""
    weight: float

    @property
    def likelihoods(self) -> FloatArray:
        """The entries, in floats."""
        return np.asarray(self.weight * np.exp([-float(d) for d in self.down]))


def pieces_of(matrix: FloatArray, budgets: FloatArray) -> list[Piece]:
    """The parts of a solver's channel under closed budgets, their weights such that rows sum to 1."""
    made = [
        piece
        for y in np.flatnonzero(matrix.max(axis=0) > _USED).tolist()
        for piece in _tied(y, _lifted(matrix[:, y], budgets), budgets)
    ]
    return _refitted(made, len(budgets))


def _lifted(column: FloatArray, budgets: FloatArray) -> FloatArray:
    """The least column in the cone that is not below what the solver can know of this one."""
    known = np.where(column > _KNOWN, column, 0.0)
    return np.asarray((known[:, None] * np.exp(-budgets)).max(axis=0))


def _tied(output: int, column: FloatArray, budgets: FloatArray) -> Iterable[Piece]:
    """Components of the tight limits, each grown from its likeliest value by the tightest limits first."""
    support = column > 0
    logs = np.log(np.where(support, column, 1.0))
    with np.errstate(invalid="ignore"):
        slack = budgets - (logs[:, None] - logs[None, :])
    slack[~(np.isfinite(budgets) & support[:, None] & support[None, :])] = np.inf
    np.fill_diagonal(slack, np.inf)
    free = support.copy()
    while free.any():
        start = int(np.argmax(np.where(free, column, -1.0)))
        found = _grown(start, free, slack, budgets)
        top = max(found.values())
        values = sorted(found)
        weight = float(np.exp(np.mean([logs[x] - float(found[x] - top) for x in values])))
        yield Piece(output, np.array(values), tuple(top - found[x] for x in values), weight)


def _grown(start: int, free: BoolArray, slack: FloatArray, budgets: FloatArray) -> dict[int, Fraction]:
    """Potentials of the values that tight limits tie to the first one; they are no longer free."""
    found = {start: Fraction(0)}
    free[start] = False
    both = np.minimum(slack, slack.T)
    best, owner = both[start].copy(), np.full(len(both), start)
    while True:
        x = int(np.argmin(np.where(free, best, np.inf)))
        if not free[x] or best[x] > _TIGHT:
            return found
        z = int(owner[x])
        above = slack[x, z] <= slack[z, x]  # as likely for x as its budget against z allows, or the other way round
        found[x] = found[z] + Fraction(float(budgets[x, z])) if above else found[z] - Fraction(float(budgets[z, x]))
        free[x] = False
        nearer = both[x] < best
        best, owner = np.where(nearer, both[x], best), np.where(nearer, x, owner)


def _refitted(pieces: list[Piece], k: int) -> list[Piece]:
    """The pieces with the weights nearest to theirs (relatively) for which rows sum to 1."""
    unit = np.zeros((k, len(pieces)))
    for j, piece in enumerate(pieces):
        unit[piece.values, j] = np.exp([-float(d) for d in piece.down])
    weights = np.array([piece.weight for piece in pieces])
    for _ in range(_REFITS):
        off = 1.0 - unit @ weights
        step = np.linalg.lstsq(unit * weights, off, rcond=1e-13)[0]
        if np.abs(off).max() < 1e-15 or np.abs(step).max() > 0.5:
            break
        weights = weights * (1 + step)
    return [Piece(p.output, p.values, p.down, float(w)) for p, w in zip(pieces, weights, strict=True)]


def shares_of_pieces(pieces: list[Piece], k: int) -> tuple[list[int], list[list[Fraction]]]:
    """The outputs that are used, and the words of each for each value before rounding."""
    found: dict[int, list[Fraction]] = {}
    for piece in pieces:
        row = found.setdefault(piece.output, [Fraction(0)] * k)
        for x, down in zip(piece.values.tolist(), piece.down, strict=True):
            row[x] = Fraction(piece.weight) * WORD / _high(down)
    return list(found), list(found.values())


@cache
def _high(down: Fraction) -> Fraction:
    """A certified upper bound of e^down."""
    return exp_bounds(down)[1]
