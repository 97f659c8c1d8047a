"""From a channel in floats to whole numbers that sum to 2^64 for every value and keep the promise exactly.

Outputs are rounded inside the cone of the promise; what is missing to 2^64 is one more output that is nearly the same
for all values, and is inside the cone too. Proofs: docs/maths/optimal.md, section 5.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from deniable.core.types import FloatArray, IntArray
from deniable.errors import DeniableError
from deniable.mechanisms.optimal.extremes import IMPOSSIBLE
from deniable_client.exact import WORD, exp_bounds

__all__ = ["BLIND_MAX", "Whole", "shares_of", "whole"]

BLIND_MAX = 1e-9
"""Share of reports that may be made without looking at the value; more is an error somewhere else."""
_FINE = 20
"""Bits of a potential that are taken apart from the others, so that both parts are floats."""

_NEAR = 1e-9
"""How near in logarithms a pair must be to its budget to be compared in whole numbers: floats err by far less."""

Column = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Whole:
    """A channel in whole numbers: of each output, how many of 2^64 words lead to it from each value."""

    columns: tuple[Column, ...]
    blind: int
    """Words that were set aside, of 2^64: about the chance that a report is made without looking at the value."""

    @property
    def matrix(self) -> FloatArray:
        """As floats, a row for each value."""
        return np.array([[weight / WORD for weight in column] for column in self.columns]).T

    @property
    def blind_share(self) -> float:
        """The words that were set aside, as a share."""
        return self.blind / WORD


def shares_of(potentials: IntArray, bits: int, weights: FloatArray) -> list[list[Fraction]]:
    """The words of each output and value, before rounding: `weights` are those of each output's largest entry."""
    return [
        [Fraction(0) if u == IMPOSSIBLE else Fraction(w) * WORD / _high(max(row) - u, bits) for u in row]
        for w, row in zip(weights.tolist(), potentials.tolist(), strict=True)
    ]


def _high(units: int, bits: int) -> Fraction:
    """A certified upper bound of e^(units 2^-bits)."""
    fine = units % (1 << _FINE)
    return exp_bounds(math.ldexp(units - fine, -bits))[1] * exp_bounds(math.ldexp(fine, -bits))[1]


def whole(shares: Sequence[Sequence[Fraction]], budgets: FloatArray) -> Whole:
    """The table of whole numbers next to `shares`, which sum to about 2^64 for every value.

    `budgets` as they were given: what keeps these keeps what follows from them. `DeniableError` where too much would
    have to be set aside: `shares` do not keep the promise, or a budget is too small.
    """
    k, many = len(budgets), len(shares)
    limits = _limits(budgets)
    least = float(limits.logs.min(initial=math.inf))
    off = float(max(abs(WORD - sum(column)) for column in zip(*shares, strict=True)))
    blind = 0 if math.isinf(least) and off == 0 else _blind(off, many, least)
    while blind <= BLIND_MAX * WORD:
        scale = Fraction(WORD - blind, WORD)
        columns = [_raised([s * scale for s in column], limits) for column in shares]
        rest = [WORD - sum(column[x] for column in columns) for x in range(k)]
        if min(rest) >= 0 and _keeps(rest, limits):
            return Whole(_with_rest(columns, rest), blind)
        blind *= 2
    raise DeniableError(
        f"no whole numbers near this channel keep the promise: {blind / WORD:.3g} of all reports would be without "
        f"meaning, more than {BLIND_MAX:g}.",
        f"The smallest budget is {least:g}; budgets of 0.0002 or more leave room." if least < 2e-4 else "",
    )


Limit = tuple[int, int, Fraction]


@dataclass(frozen=True, slots=True, eq=False)
class _Limits:
    """The pairs that have a budget, with certified lower bounds of its e-power."""

    pairs: list[Limit]
    likely: IntArray
    unlikely: IntArray
    logs: FloatArray

    def near(self, v: Sequence[int]) -> Iterator[Limit]:
        """The pairs that these numbers may break: floats leave out those that are far from it, whole numbers decide."""
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(np.array(v, np.float64))
            apart = logs[self.likely] - logs[self.unlikely]
        return (self.pairs[i] for i in np.flatnonzero(apart > self.logs - _NEAR).tolist())


def _limits(budgets: FloatArray) -> _Limits:
    likely, unlikely = np.nonzero(np.isfinite(budgets) & ~np.eye(len(budgets), dtype=bool))
    logs = budgets[likely, unlikely]
    bounds = {b: exp_bounds(b)[0] for b in set(logs.tolist())}
    pairs = [(x, z, bounds[b]) for x, z, b in zip(likely.tolist(), unlikely.tolist(), logs.tolist(), strict=True)]
    return _Limits(pairs, likely, unlikely, logs)


def _blind(off: float, many: int, least: float) -> int:
    """Words to set aside so that the rest is within the budgets, whatever the rounding of `many` outputs was."""
    if math.isinf(least):
        return math.ceil(off + many) + 2
    half = least / 2
    return math.ceil((off + many) / math.tanh(half) + many / (4 * math.sinh(half) ** 2)) + 2


def _raised(column: Sequence[Fraction], limits: _Limits) -> list[int]:
    """The least whole numbers that are not below an output's (and not 0 where it is not) and are in the cone."""
    v = [max(math.floor(s), 1) if s else 0 for s in column]
    moved = True
    while moved:
        moved = False
        for x, z, low in limits.near(v):
            need = -(-v[x] * low.denominator // low.numerator)
            if v[z] < need:
                v[z], moved = need, True
    return v


def _keeps(column: Sequence[int], limits: _Limits) -> bool:
    return all(column[x] * low.denominator <= column[z] * low.numerator for x, z, low in limits.near(column))


def _with_rest(columns: Sequence[Sequence[int]], rest: Sequence[int]) -> tuple[Column, ...]:
    """The rest joined to the output that every value sends most often at least; one of its own if there is none."""
    made = [tuple(column) for column in columns]
    if not any(rest):
        return tuple(made)
    at = max(range(len(made)), key=lambda j: (min(made[j]), -j))
    if min(made[at]) == 0:
        return (*made, tuple(rest))
    made[at] = tuple(v + r for v, r in zip(made[at], rest, strict=True))
    return tuple(made)
