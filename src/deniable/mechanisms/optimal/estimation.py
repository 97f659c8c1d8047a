"""The best channel for an estimate under any promise: chosen in floats, certified, and written in whole numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from deniable.core.types import FloatArray
from deniable.errors import DeniableError
from deniable.mechanisms.optimal.extremes import Extremes
from deniable.mechanisms.optimal.goal import Goal, Worth
from deniable.mechanisms.optimal.solving import chosen
from deniable.mechanisms.optimal.whole import Whole, shares_of, whole

__all__ = ["LOST_MAX", "Found", "Progress", "best", "rounded", "written"]

LOST_MAX = 1e-9
"""Share of the error that whole numbers may add."""
_EXTRA = (1e-6, 1e-8, 1e-10)
"""As if all frequencies mattered so much, where they do not: then no choice is singular."""
_REFITS = 3
_GOOD = 1e-9
"""Gaps below this are not improved any more."""

Progress = Callable[[str, float], None]


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """A choice of extreme outputs: their probabilities at the prior, and what they are worth."""

    every: Extremes
    chance: FloatArray
    worth: Worth
    least: float
    """The certified least error of any channel that keeps the promise."""
    gap: float
    """The largest share of the spread that it may be above the least."""

    @property
    def error(self) -> float:
        """At the prior."""
        return self.worth.error


def best(every: Extremes, goal: Goal, progress: Progress | None = None) -> Found:
    """The channel of least error at a prior; how near it is, is recomputed from the choice."""
    rays = every.rays
    found: Found | None = None
    for extra in (0.0,) if goal.whole else _EXTRA:
        heard = None if progress is None else lambda step, left: progress("choosing outputs", left)
        made = _judged(every, goal, chosen(goal.problem(rays, extra), heard))
        found = made if found is None or made.gap < found.gap else found
        if found.gap < _GOOD:
            break
    assert found is not None
    return found


def _judged(every: Extremes, goal: Goal, chance: FloatArray) -> Found:
    rays = every.rays
    worth = Worth(goal, (rays * (chance / (rays @ goal.prior))[:, None]).T[:, chance > 0])
    proof = worth.certificate(every)
    return Found(every, chance, worth, max(0.0, worth.error - (proof.spread - proof.least)), proof.gap)


def written(found: Found, budgets: FloatArray) -> Whole:
    """The whole numbers of a choice; refused where they cost more than a billionth of the error or of the spread."""
    table = rounded(found.every, found.chance / (found.every.rays @ found.worth.goal.prior), budgets)
    _check_lost(found, table)
    return table


def rounded(every: Extremes, tops: FloatArray, budgets: FloatArray) -> Whole:
    """The whole numbers of extreme outputs by the weights of their largest entries, most of which are 0."""
    used = np.flatnonzero(tops)
    own = _refitted(every.rays[used], tops[used])
    return whole(shares_of(every.potentials[used], every.bits, own), budgets)


def _refitted(rays: FloatArray, tops: FloatArray) -> FloatArray:
    """The same weights but for their last digits, so that the sums of all values are 1 to the last digit."""
    wide = rays.astype(np.longdouble)
    for _ in range(_REFITS):
        off = (1 - tops.astype(np.longdouble) @ wide).astype(np.float64)
        tops = tops * (1 + np.linalg.lstsq((rays * tops[:, None]).T, off, rcond=None)[0])
    return np.asarray(tops)


def _check_lost(found: Found, table: Whole) -> None:
    """`DeniableError` where whole numbers have a larger error than the choice that they were made from."""
    own = Worth(found.worth.goal, table.matrix)
    spread = own.used[0].spread(own.used[1])
    before = found.worth.used[0].spread(found.worth.used[1])
    if spread > before * (1 + LOST_MAX):
        raise DeniableError(
            f"the whole numbers of this channel have {spread / before - 1:.3g} more error than it should have.",
            "Use larger budgets, or a prior without rare values.",
        )
