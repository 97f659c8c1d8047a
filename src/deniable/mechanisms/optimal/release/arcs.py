"""Which inequalities a promise needs of an output: few of them imply all the others.

An output has a likelihood for each value, and v_x <= e^B[x,z] v_z. A pair whose budget is the length of a path through
others needs no inequality of its own (generating pairs). Where many budgets are the same, a further number stands
between values (hub): v_x <= e^a b and b <= e^c v_z say all of v_x <= e^(a+c) v_z. Where neither helps, as on a map,
inequalities are looked for when they are broken; a spanner is a good beginning. Proofs: docs/maths/release.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deniable.core.types import BoolArray, FloatArray, IntArray

__all__ = ["Arcs", "arcs_of", "spanner"]

_SAME = 1e-12
"""Share by which two budgets may differ and be the same: they are sums of floats."""
_STRETCH = 1.1
"""How much longer than a budget a path may be where inequalities are added later."""


@dataclass(frozen=True, slots=True, eq=False)
class Arcs:
    """Inequalities v[high] <= e^budget v[low] between nodes: the values, and behind them the hubs."""

    values: int
    nodes: int
    high: IntArray
    low: IntArray
    budget: FloatArray

    @property
    def size(self) -> int:
        """How many there are."""
        return self.high.size

    @property
    def form(self) -> str:
        """What kind of inequalities they are, in a word."""
        return "pairs" if self.nodes == self.values else "hubs"


def arcs_of(budgets: FloatArray, groups: Sequence[Sequence[int]] = ()) -> Arcs:
    """Inequalities that imply all those of closed budgets: generating pairs, or hubs and the pairs that they leave.

    Zero is on the diagonal only. `groups` are values that can be exchanged. Pairs that are the sum of others up to
    rounding are left out; this gives away no more than the rounding, and what is drawn is checked against all pairs.
    """
    k = len(budgets)
    needed = _generating(budgets)
    hubs: list[tuple[FloatArray, FloatArray]] = []
    left = np.isfinite(budgets) & ~np.eye(k, dtype=bool)
    for hub in _hubs(budgets, groups):
        through = hub[0][:, None] + hub[1][None, :]
        covered = left & (through <= budgets * (1 + _SAME))
        if (covered & needed).sum() > np.isfinite(hub[0]).sum() + np.isfinite(hub[1]).sum():
            hubs.append(hub)
            left &= ~covered
    rest = needed & left if hubs else needed
    high, low = np.nonzero(rest)
    ends = [(high, low, budgets[rest])]
    for i, (up, down) in enumerate(hubs):
        above, below = np.flatnonzero(np.isfinite(up)), np.flatnonzero(np.isfinite(down))
        ends.append((above, np.full(above.size, k + i), up[above]))
        ends.append((np.full(below.size, k + i), below, down[below]))
    high, low, budget = (np.concatenate(parts) for parts in zip(*ends, strict=True))
    return Arcs(k, k + len(hubs), high.astype(np.int64), low.astype(np.int64), budget.astype(np.float64))


def _generating(budgets: FloatArray) -> BoolArray:
    """Finite budgets that are shorter than every path through another value."""
    k = len(budgets)
    needed = np.isfinite(budgets) & ~np.eye(k, dtype=bool)
    with np.errstate(invalid="ignore"):
        for m in range(k):
            other = np.arange(k) != m
            shorter = budgets[:, m, None] + budgets[None, m, :] <= budgets * (1 + _SAME)
            needed &= ~(shorter & other[:, None] & other[None, :])
    return needed


def _hubs(budgets: FloatArray, groups: Sequence[Sequence[int]]) -> list[tuple[FloatArray, FloatArray]]:
    """Hubs that say nothing stronger than the budgets: up[x] + down[z] >= budgets[x, z]; inf: takes no part.

    One below all values (a row has one budget), one above them (a column has), and one below each group.
    """
    k = len(budgets)
    off = ~np.eye(k, dtype=bool)
    rows = np.where(off, budgets, 0.0).max(axis=1)
    limited = np.isfinite(rows)
    found = [(rows, np.zeros(k))]
    columns = np.where(off & limited[:, None], budgets, 0.0).max(axis=0)
    found.append((np.where(limited, 0.0, np.inf), columns))
    for group in groups:
        own = list(group)
        if len(own) > 3 and np.isfinite(budgets[own[0], own[1]]):
            up, down = np.full(k, np.inf), np.full(k, np.inf)
            up[own], down[own] = budgets[own[0], own[1]], 0.0
            found.append((up, down))
    return found


def spanner(arcs: Arcs) -> BoolArray:
    """Which inequalities to begin with: a path of them is at most `_STRETCH` times as long as any of the others."""
    far = np.where(np.eye(arcs.nodes, dtype=bool), 0.0, np.inf)
    chosen = np.zeros(arcs.size, np.bool_)
    for i in np.argsort(arcs.budget, kind="stable").tolist():
        x, z, b = int(arcs.high[i]), int(arcs.low[i]), float(arcs.budget[i])
        if far[x, z] > _STRETCH * b:
            chosen[i] = True
            np.minimum(far, far[:, x, None] + (b + far[None, z, :]), out=far)
    return chosen
