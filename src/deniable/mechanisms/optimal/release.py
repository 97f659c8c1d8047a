"""The channel of least expected loss that keeps a promise: a linear programme, and a bound that trusts no solver.

Variables are the probabilities P(y|x); what is to be small is sum prior_x P(y|x) loss[x,y], or the largest row of it.
Rows sum to 1, and columns keep the promise (`arcs`). Any multipliers, also wrong ones, prove a lower bound: see
`bound_of` and docs/maths/release.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.core.types import BoolArray, FloatArray, IntArray
from deniable.errors import DeniableError, EnumerationError
from deniable.mechanisms.optimal.arcs import Arcs, arcs_of, spanner

__all__ = ["CELLS", "Released", "bound_of", "least_loss"]

CELLS = 1 << 16
"""Probabilities of the largest channel that is looked for."""
_ROWS = 60_000
"""Inequalities that are all given at once; of more, those that are broken are added in rounds."""
_ROUNDS = 60
_BROKEN = 1e-9
"""An inequality that is broken by more is added."""
_UNIT = 2.0**-53
_WAYS = (("highs-ipm", 1e-10), ("highs-ds", 1e-10), ("highs-ipm", 1e-8), ("highs-ds", 1e-8))
"""Solvers and their tolerances, tried in turn until one says that it has the optimum."""

Progress = Callable[[int, int | None], None]


@dataclass(frozen=True, slots=True, eq=False)
class Released:
    """The channel that a solver found, and what it proves."""

    matrix: FloatArray
    """P(y|x), a row for each value; up to the solver's tolerance."""
    value: float
    """Its expected loss, or that of its worst value."""
    bound: float
    """No channel that keeps the promise has less."""
    prior: FloatArray
    """The prior of the bound: the given one, or the least favourable one."""
    form: str
    """Which inequalities were given to the solver: pairs, hubs, or pairs that were added when broken."""
    rounds: int

    @property
    def gap(self) -> float:
        """How far the value may be from the least possible one."""
        return self.value - self.bound


def least_loss(
    budgets: FloatArray,
    loss: FloatArray,
    prior: FloatArray | None,
    *,
    groups: Sequence[Sequence[int]] = (),
    progress: Progress | None = None,
) -> Released:
    """The channel of least expected loss under closed `budgets`; without a prior that of the least worst loss.

    Off the diagonal budgets are above 0, inf for no limit; `loss` has a row for each value and a column for each
    output. `groups` are values that can be exchanged.
    """
    k, outputs = loss.shape
    if k * outputs > CELLS:
        raise EnumerationError(
            f"the best release of {k} values as {outputs} is too large a problem (at most {CELLS:,} probabilities).",
            "Use fewer values or outputs, or codebook, brr or exponential, which need no solver.",
        )
    arcs = arcs_of(budgets, groups)
    lazily = arcs.size * outputs > _ROWS
    given = np.tile((spanner(arcs) if lazily else np.ones(arcs.size, np.bool_))[:, None], outputs)
    for rounds in range(1, _ROUNDS + 1):
        if progress is not None:
            progress(rounds - 1, None)
        found = _solved(arcs, given, loss, prior)
        broken = _broken(arcs, found.nodes) & ~given
        if not broken.any():
            break
        given |= broken
    else:
        raise DeniableError(f"after {_ROUNDS} rounds some inequalities are still broken.", "Use fewer values.")
    matrix = found.nodes[:k]
    weights = found.weights if prior is None else prior
    bound = bound_of(arcs, weights[:, None] * loss, found.rows, found.multipliers * given)
    each = (matrix * loss).sum(axis=1)
    value = float(each.max() if prior is None else prior @ each)
    return Released(matrix, value, bound, weights, "pairs, added when broken" if lazily else arcs.form, rounds)


@dataclass(frozen=True, slots=True, eq=False)
class _Solved:
    """What a solver says; nothing of it is believed without a check."""

    nodes: FloatArray
    """Likelihoods of all nodes (rows) and outputs."""
    rows: FloatArray
    """Multipliers of the rows' sums."""
    multipliers: FloatArray
    """Those of the inequalities (rows) of each output."""
    weights: FloatArray
    """Those of the losses of values, where the largest is to be small: the least favourable prior."""


def _solved(arcs: Arcs, given: BoolArray, loss: FloatArray, prior: FloatArray | None) -> _Solved:
    from scipy.sparse import coo_array, csr_array, hstack, vstack

    k, outputs = loss.shape
    n = arcs.nodes * outputs
    which, where = np.nonzero(given)
    rows: IntArray = np.arange(which.size)
    down, up = np.exp(-arcs.budget[which] / 2), np.exp(arcs.budget[which] / 2)
    entries = np.concatenate([down, -up])
    columns = np.concatenate([arcs.high[which] * outputs + where, arcs.low[which] * outputs + where])
    limits: Any = coo_array((entries, (np.tile(rows, 2), columns)), shape=(which.size, n))
    sums: Any = coo_array((np.ones(k * outputs), (np.repeat(np.arange(k), outputs), np.arange(k * outputs))), (k, n))
    cost = np.zeros(n)
    if prior is not None:
        cost[: k * outputs] = (prior[:, None] * loss).ravel()
    else:
        each = coo_array((loss.ravel(), (np.repeat(np.arange(k), outputs), np.arange(k * outputs))), (k, n))
        limits = vstack([hstack([limits, csr_array((which.size, 1))]), hstack([each, csr_array(-np.ones((k, 1)))])])
        sums = hstack([sums, csr_array((k, 1))])
        cost = np.append(cost, 1.0)
    x, single, sides = _optimum(cost, limits.tocsr(), sums.tocsr(), k)
    multipliers = np.zeros(given.shape)
    multipliers[which, where] = sides[: which.size]
    weights = np.ones(k) if prior is not None else sides[which.size :]
    total = float(weights.sum())
    if prior is None and total > 0:
        weights, single, multipliers = weights / total, single / total, multipliers / total
    return _Solved(np.maximum(x[:n], 0.0).reshape(arcs.nodes, outputs), single, multipliers, weights)


def _optimum(cost: FloatArray, limits: Any, sums: Any, k: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The optimum, multipliers of the sums, and those of the limits, clipped to their sign."""
    from scipy.optimize import linprog

    told = []
    for method, tolerance in _WAYS:
        options: dict[str, Any] = {"primal_feasibility_tolerance": tolerance, "dual_feasibility_tolerance": tolerance}
        if method == "highs-ipm":
            options["ipm_optimality_tolerance"] = tolerance / 100
        found = linprog(
            cost,
            A_ub=limits,
            b_ub=np.zeros(limits.shape[0]),
            A_eq=sums,
            b_eq=np.ones(k),
            bounds=(0, None),
            method=method,
            options=options,
        )
        if found.status == 0:
            single, sides = found.eqlin.marginals, -found.ineqlin.marginals
            return np.asarray(found.x), np.asarray(single), np.maximum(sides, 0.0)
        told.append(f"{method}: {str(found.message).strip().splitlines()[0]}")
    raise DeniableError(
        f"no solver found the optimum ({'; '.join(dict.fromkeys(told))}).",
        "Use fewer values, larger budgets, or losses of a similar size.",
    )


def _broken(arcs: Arcs, nodes: FloatArray) -> BoolArray:
    """Which inequalities (rows) are not kept by which outputs."""
    half = np.exp(arcs.budget / 2)[:, None]
    return np.asarray(nodes[arcs.high] / half - nodes[arcs.low] * half > _BROKEN)


def bound_of(arcs: Arcs, cost: FloatArray, rows: FloatArray, multipliers: FloatArray) -> float:
    """A lower bound of sum cost P over all channels that keep the budgets, from any multipliers: no solver is trusted.

    `multipliers` of the inequalities are >= 0, and belong to e^(-b/2) v[high] <= e^(b/2) v[low]. With reduced costs r
    the cost is at least sum rows_x + sum r P, P >= 0, and each row of P has the sum 1: every row loses at most its most
    negative r. A hub has at most the sum that one of its values allows. Rounding is taken off at its worst.
    """
    k, outputs = cost.shape
    reduced, size = np.zeros((arcs.nodes, outputs)), np.zeros((arcs.nodes, outputs))
    reduced[:k] = cost - rows[:, None]
    size[:k] = np.abs(cost) + np.abs(rows)[:, None]
    half = np.exp(arcs.budget / 2)[:, None]
    taken, given = multipliers / half, multipliers * half
    np.add.at(reduced, arcs.high, taken)
    np.subtract.at(reduced, arcs.low, given)
    np.add.at(size, arcs.high, taken)
    np.add.at(size, arcs.low, given)
    terms = 8 + 2 * int(max(np.bincount(arcs.high).max(initial=0), np.bincount(arcs.low).max(initial=0)))
    worst = np.minimum((reduced - terms * _UNIT * size).min(axis=1), 0.0)
    room = np.full(arcs.nodes, np.inf)
    room[:k] = 1.0
    leaving = arcs.high >= k
    np.minimum.at(room, arcs.high[leaving], np.exp(arcs.budget[leaving]) * (1 + 8 * _UNIT))
    parts = [*rows.tolist(), *(worst * room).tolist()]
    return math.fsum(parts) - 4 * _UNIT * math.fsum(map(abs, parts))
