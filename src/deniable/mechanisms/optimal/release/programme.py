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
from deniable.mechanisms.optimal.release.arcs import Arcs, arcs_of, spanner
from deniable.mechanisms.optimal.release.folding import Fold, folded

__all__ = ["Progress", "Solution", "bound_of", "least_loss"]

CELLS = 1 << 16
"""Probabilities of the largest channel that is looked for."""
_ROWS = 60_000
"""Inequalities that are all given at once; of more, those that are broken are added in rounds."""
_ROUNDS = 60
_BROKEN = 1e-9
"""An inequality that is broken by more is added."""
_MISSING = 1e-14
"""Reduced costs that are more below 0 are mended."""
_UNIT = 2.0**-53
_WAYS = (("highs-ipm", 1e-10), ("highs-ds", 1e-10), ("highs-ipm", 1e-8), ("highs-ds", 1e-8))
"""Solvers and their tolerances, tried in turn until one says that it has the optimum."""

Progress = Callable[[str, float], None]
"""Hears what is done, and for the how manieth time."""


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """The channel that a solver found, and what it proves."""

    matrix: FloatArray
    """P(y|x), a row for each value; up to the solver's tolerance."""
    value: float
    """Its expected loss, or that of its worst value."""
    bound: float
    """No channel that keeps the promise has less."""
    prior: FloatArray
    """The prior of the bound: the given one, or the least favourable one."""
    arcs: Arcs
    multipliers: FloatArray
    """Of the inequalities (rows) of each output: what proves the bound."""
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
    owner: IntArray | None = None,
    groups: Sequence[Sequence[int]] = (),
    progress: Progress | None = None,
) -> Solution:
    """The channel of least expected loss under closed `budgets`; without a prior that of the least worst loss.

    Off the diagonal budgets are above 0, inf for no limit. `loss` has a row for each kind of people, as has the prior,
    and a column for each output; `owner` is the value that each kind hands in, its own number if left out. `groups` are
    values that can be exchanged.
    """
    k, outputs = len(budgets), loss.shape[1]
    if k * outputs > CELLS:
        raise EnumerationError(
            f"the best release of {k} values as {outputs} is too large a problem (at most {CELLS:,} probabilities).",
            "Use fewer values or outputs, or codebook, brr or exponential, which need no solver.",
        )
    goal = _Goal(k, loss, prior, np.arange(k) if owner is None else owner)
    arcs = arcs_of(budgets, groups)
    fold = folded(arcs, outputs, None if goal.merged else (budgets, loss, prior))
    first = spanner(arcs) if arcs.size * outputs > _ROWS else np.ones(arcs.size, np.bool_)
    lazily, given = not first.all(), np.tile(first[:, None], outputs)
    for rounds in range(1, _ROUNDS + 1):
        if progress is not None:
            progress(f"solving a linear programme of {int(given.sum()):,} limits", float(rounds))
        found = _solved(arcs, given, goal, fold)
        broken = _broken(arcs, found.nodes) & ~given
        if not broken.any():
            break
        given |= broken
    else:
        raise DeniableError(f"after {_ROUNDS} rounds some inequalities are still broken.", "Use fewer values.")
    weights = found.weights if prior is None else prior
    cost = goal.cost(weights)
    mended = _mended(arcs, cost, found.rows, found.multipliers, found.nodes)
    bounds = [(bound_of(arcs, cost, found.rows, each), each) for each in (found.multipliers, mended)]
    bound, best = max(bounds, key=lambda each: each[0])
    matrix = found.nodes[:k]
    form = "pairs, added when broken" if lazily else arcs.form
    return Solution(matrix, goal.value(matrix), bound, weights, arcs, best, form, rounds)


@dataclass(frozen=True, slots=True, eq=False)
class _Goal:
    """What is to be small."""

    k: int
    loss: FloatArray
    prior: FloatArray | None
    owner: IntArray

    @property
    def merged(self) -> bool:
        """Whether some kinds of people hand in the value of others."""
        return not np.array_equal(self.owner, np.arange(self.k))

    def cost(self, weights: FloatArray) -> FloatArray:
        """What a probability costs, for each value and output, if kinds of people are so likely."""
        found = np.zeros((self.k, self.loss.shape[1]))
        np.add.at(found, self.owner, weights[:, None] * self.loss)
        return found

    def value(self, matrix: FloatArray) -> float:
        """The expected loss of a channel, or that of its worst kind."""
        each = (matrix[self.owner] * self.loss).sum(axis=1)
        return float(each.max() if self.prior is None else self.prior @ each)


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


def _solved(arcs: Arcs, given: BoolArray, goal: _Goal, fold: Fold) -> _Solved:
    from scipy.sparse import coo_array, csr_array, hstack, vstack

    k, outputs = goal.k, goal.loss.shape[1]
    n = int(fold.cells.max()) + 1
    first, many = fold.firsts(fold.limits)
    asked = np.bincount(fold.limits, given.ravel()) > 0
    which, where = np.divmod(first[asked], outputs)
    rows, half = np.tile(np.arange(which.size), 2), np.exp(arcs.budget[which] / 2)
    columns = fold.cells[np.concatenate([arcs.high[which], arcs.low[which]]) * outputs + np.tile(where, 2)]
    limits: Any = coo_array((np.concatenate([1 / half, -half]), (rows, columns)), shape=(which.size, n))
    own, people = fold.firsts(fold.values)
    sums: Any = _rows_of(fold, own, np.ones((own.size, outputs)), n)
    cost = np.zeros(n)
    kinds = np.arange(0)
    if goal.prior is not None:
        np.add.at(cost, fold.cells[: k * outputs], goal.cost(goal.prior).ravel())
    else:
        kinds = np.arange(goal.owner.size) if goal.merged else own
        each = _rows_of(fold, goal.owner[kinds], goal.loss[kinds], n)
        top = csr_array(-np.ones((kinds.size, 1)))
        limits = vstack([hstack([limits, csr_array((which.size, 1))]), hstack([each, top])])
        sums = hstack([sums, csr_array((own.size, 1))])
        cost = np.append(cost, 1.0)
    x, single, sides = _optimum(cost, limits.tocsr(), sums.tocsr(), own.size)
    shares = np.zeros(many.size)
    shares[asked] = sides[: which.size]
    multipliers, singles = (shares / many)[fold.limits].reshape(given.shape), (single / people)[fold.values]
    weights, total = goal.prior, 1.0
    if weights is None:
        weights = sides[which.size :]
        weights = weights if goal.merged else (weights / people)[fold.values]
        total = float(weights.sum()) or 1.0
    nodes = np.maximum(x[fold.cells], 0.0).reshape(arcs.nodes, outputs)
    return _Solved(nodes, singles / total, multipliers / total, weights / total)


def _rows_of(fold: Fold, values: IntArray, entries: FloatArray, n: int) -> Any:
    """Sums over the outputs of some values, a row for each."""
    from scipy.sparse import coo_array

    many, outputs = entries.shape
    columns = fold.cells[(values[:, None] * outputs + np.arange(outputs)[None, :]).ravel()]
    return coo_array((entries.ravel(), (np.repeat(np.arange(many), outputs), columns)), shape=(many, n))


def _optimum(cost: FloatArray, limits: Any, sums: Any, k: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The optimum, multipliers of the sums, and those of the limits, clipped to their sign."""
    from scipy import optimize

    solver: Any = optimize.linprog
    told = []
    for method, tolerance in _WAYS:
        options: dict[str, Any] = {"primal_feasibility_tolerance": tolerance, "dual_feasibility_tolerance": tolerance}
        if method == "highs-ipm":
            options["ipm_optimality_tolerance"] = tolerance / 100
        found = solver(
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


def _mended(arcs: Arcs, cost: FloatArray, rows: FloatArray, multipliers: FloatArray, nodes: FloatArray) -> FloatArray:
    """Multipliers that prove more: a solver is exact where its numbers are large, and the bound asks for all of them.

    What is missing to a reduced cost of 0 at a rare entry is taken from the inequalities that it limits. The entries
    that these allow are e^budget times as likely, and miss that much less.
    """
    made, half = multipliers.copy(), np.exp(arcs.budget / 2)
    reduced = _reduced(arcs, cost, rows, made)
    below: list[list[int]] = [[] for _ in range(arcs.nodes)]
    for i in np.argsort(-arcs.budget, kind="stable").tolist():
        below[arcs.low[i]].append(i)
    missing = np.flatnonzero(reduced.min(axis=0) < -_MISSING)
    order = np.argsort(_lifted(arcs, nodes[:, missing], cost[:, missing]), axis=0)
    for column, y in enumerate(missing.tolist()):
        for node in order[:, column].tolist():
            for i in below[node] if reduced[node, y] < 0 else ():
                cut = min(made[i, y] * half[i], -reduced[node, y])
                made[i, y] = max(0.0, made[i, y] - cut / half[i])
                reduced[node, y] += cut
                reduced[arcs.high[i], y] -= cut / half[i] ** 2
                if reduced[node, y] >= 0:
                    break
    return made


def _lifted(arcs: Arcs, nodes: FloatArray, cost: FloatArray) -> FloatArray:
    """The least likelihoods that keep all limits and are not below those given; an output of nobody is that of one."""
    found = nodes.copy()
    unused = np.flatnonzero(found.max(axis=0, initial=0.0) <= 0)
    found[cost[:, unused].argmin(axis=0), unused] = 1.0
    while True:
        raised = found.copy()
        np.maximum.at(raised, arcs.low, found[arcs.high] * np.exp(-arcs.budget)[:, None])
        if (raised <= found * (1 + _UNIT * 4)).all():
            return found
        found = raised


def _reduced(arcs: Arcs, cost: FloatArray, rows: FloatArray, multipliers: FloatArray) -> FloatArray:
    """Reduced costs of all nodes (rows) and outputs."""
    found = np.zeros((arcs.nodes, cost.shape[1]))
    found[: len(cost)] = cost - rows[:, None]
    half = np.exp(arcs.budget / 2)[:, None]
    np.add.at(found, arcs.high, multipliers / half)
    np.subtract.at(found, arcs.low, multipliers * half)
    return found


def bound_of(arcs: Arcs, cost: FloatArray, rows: FloatArray, multipliers: FloatArray) -> float:
    """A lower bound of sum cost P over all channels that keep the budgets, from any multipliers: no solver is trusted.

    `multipliers` of the inequalities are >= 0, and belong to e^(-b/2) v[high] <= e^(b/2) v[low]. With reduced costs r
    the cost is at least sum rows_x + sum r P, P >= 0, and each row of P has the sum 1: every row loses at most its most
    negative r. A hub has at most the sum that one of its values allows. Rounding is taken off at its worst.
    """
    k, outputs = cost.shape
    reduced = _reduced(arcs, cost, rows, multipliers)
    size = np.zeros((arcs.nodes, outputs))
    size[:k] = np.abs(cost) + np.abs(rows)[:, None]
    half = np.exp(arcs.budget / 2)[:, None]
    np.add.at(size, arcs.high, multipliers / half)
    np.add.at(size, arcs.low, multipliers * half)
    terms = 8 + 2 * int(max(np.bincount(arcs.high).max(initial=0), np.bincount(arcs.low).max(initial=0)))
    worst = np.minimum((reduced - terms * _UNIT * size).min(axis=1), 0.0)
    room = np.full(arcs.nodes, np.inf)
    room[:k] = 1.0
    leaving = arcs.high >= k
    np.minimum.at(room, arcs.high[leaving], np.exp(arcs.budget[leaving]) * (1 + 8 * _UNIT))
    parts = [*rows.tolist(), *(worst * room).tolist()]
    return math.fsum(parts) - 4 * _UNIT * math.fsum(map(abs, parts))
