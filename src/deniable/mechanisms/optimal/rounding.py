"""From ideal probabilities to whole numbers that keep every limit exactly (docs/maths/written.md, section 3)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from deniable.core.types import FloatArray
from deniable.errors import PrivacyError
from deniable_client.exact import WORD, exp_bounds
from deniable_client.kernels import Channel, Table

__all__ = ["flattened", "table_of"]

_BLIND = 1 << 12
"""The least share of reports, in 2**-64, that says nothing and makes room for rounding; for each output."""
_BLIND_MOST = WORD // 10**6
"""The most: a matrix that needs more is farther beyond its limits than rounding explains."""
_STEPS = 60
"""Halvings of a search: as many as floats have digits, and some."""

Budgets = tuple[tuple[float, ...], ...]


def table_of(matrix: Sequence[Sequence[Fraction | float]], budgets: Budgets) -> Channel:
    """Whole numbers near the rows of a matrix of probabilities, within all limits; 0 stays 0.

    `PrivacyError` if the matrix is farther beyond a limit than rounding explains. A small share of reports says nothing
    at all: it is part of an output that every value has, or an output of its own after all others.
    """
    rows = [[Fraction(p) for p in row] for row in matrix]
    limits = {b for x, row in enumerate(budgets) for z, b in enumerate(row) if x != z}
    if len(limits) == 1 and math.inf not in limits and all(p > 0 for row in rows for p in row):
        made = Table.calibrate(limits.pop(), [[float(p) for p in row] for row in rows])
        return Channel(made.weights, budgets)
    blind = _BLIND * len(rows[0])
    while blind <= _BLIND_MOST:
        found = _with_blind(rows, budgets, blind)
        if found is not None:
            return found
        blind *= 2
    raise PrivacyError(
        "this matrix is farther beyond what is promised between two answers than rounding explains; no table was made.",
        "Make its rows more alike, or promise less: dn.audit(dn.Channel.from_matrix(P), promise=...) names the pair.",
    )


def _with_blind(rows: list[list[Fraction]], budgets: Budgets, blind: int) -> Channel | None:
    """The table with so large a blind share, if that is enough."""
    columns = [_raised([math.ceil(p * (WORD - blind)) for p in column], budgets) for column in zip(*rows, strict=True)]
    rest = [WORD - sum(row) for row in zip(*columns, strict=True)]
    if min(rest) < 1 or _raised(list(rest), budgets) != rest:
        return None
    full = max(range(len(columns)), key=lambda y: min(columns[y]))
    if min(columns[full]):
        columns[full] = [own + more for own, more in zip(columns[full], rest, strict=True)]
    else:
        columns.append(rest)
    return Channel(tuple(zip(*columns, strict=True)), budgets)


def _raised(column: list[int], budgets: Budgets) -> list[int]:
    """The least whole numbers that are no smaller and within all limits; what is 0 is raised only if it must be."""
    lows = [[None if b == math.inf else exp_bounds(b)[0] for b in row] for row in budgets]
    moved = True
    while moved:
        moved = False
        for x, row in enumerate(lows):
            for z, low in enumerate(row):
                if low is not None and column[x] * low.denominator > column[z] * low.numerator:
                    column[z] = -(-column[x] * low.denominator // low.numerator)
                    moved = True
    return column


def flattened(matrix: FloatArray, budgets: FloatArray, share: float) -> FloatArray:
    """The matrix with its entries to a power, the share or less, such that it keeps `share` times the budgets.

    What gives away less than it might keeps that room. Rows are divided by their sums.
    """
    limits = share * np.where(np.isfinite(budgets) & ~np.eye(len(budgets), dtype=bool), budgets, math.inf)

    def power(exponent: float) -> FloatArray:
        raised = np.where(matrix > 0, np.power(matrix, exponent, where=matrix > 0, out=np.zeros_like(matrix)), 0.0)
        return np.asarray(raised / raised.sum(axis=1, keepdims=True))

    def fits(found: FloatArray) -> bool:
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(found)
            over = np.where(found[:, None] > 0, logs[:, None] - logs[None], -math.inf).max(axis=2)
        return bool((over <= limits + 1e-13).all())

    if fits(power(share)):
        return power(share)
    low, high = 0.0, share
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if fits(power(middle)) else (low, middle)
    return power(low)
