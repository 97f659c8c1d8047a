"""Symmetry: a line that is the same from both ends, and a circle, need not be solved for every value.

If budgets, losses and prior stay as they are when values and outputs change places, so does the set of best channels,
and the mean over all such changes is one of them. Probabilities that change places are then one variable.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deniable.core.types import FloatArray, IntArray
from deniable.mechanisms.optimal.release.arcs import Arcs

__all__ = ["Fold", "folded"]


@dataclass(frozen=True, slots=True, eq=False)
class Fold:
    """What changes places, as numbers of classes: nodes with outputs, inequalities with outputs, and values."""

    cells: IntArray
    limits: IntArray
    values: IntArray

    @staticmethod
    def firsts(classes: IntArray) -> tuple[IntArray, IntArray]:
        """One member of each class, in the order of the classes, and how many there are."""
        _, first, many = np.unique(classes, return_index=True, return_counts=True)
        return np.asarray(first, np.int64), np.asarray(many, np.int64)


Problem = tuple[FloatArray, FloatArray, FloatArray | None]
"""Budgets, losses and prior."""


def folded(arcs: Arcs, outputs: int, problem: Problem | None) -> Fold:
    """The classes under those of a few changes of places that leave the problem as it is: backwards, one further.

    Without a problem nothing changes places.
    """
    k = arcs.values
    changes = [] if problem is None or outputs != k else _changes(arcs, problem)
    hubs = np.arange(arcs.nodes - k) + k
    cells = [(np.concatenate([change, hubs]), change) for change, _ in changes]
    limits = [(moved, change) for change, moved in changes]
    return Fold(
        _classes(arcs.nodes, outputs, cells),
        _classes(arcs.size, outputs, limits),
        _classes(k, 1, [(change, np.zeros(1, np.int64)) for change, _ in changes]),
    )


def _changes(arcs: Arcs, problem: Problem) -> list[tuple[IntArray, IntArray]]:
    """Changes of places of values (and outputs), each with where it takes the inequalities."""
    budgets, loss, prior = problem
    found = []
    for change in (np.arange(arcs.values)[::-1], (np.arange(arcs.values) + 1) % arcs.values):
        square = np.ix_(change, change)
        same = np.array_equal(budgets[square], budgets) and np.array_equal(loss[square], loss)
        moved = _moved(arcs, change) if same and (prior is None or np.array_equal(prior[change], prior)) else None
        if moved is not None:
            found.append((change, moved))
    return found


def _moved(arcs: Arcs, change: IntArray) -> IntArray | None:
    """Where each inequality goes; None if there is no such one."""
    whole = np.concatenate([change, np.arange(arcs.values, arcs.nodes)])
    place = {pair: i for i, pair in enumerate(zip(arcs.high.tolist(), arcs.low.tolist(), strict=True))}
    found = [place.get(pair, -1) for pair in zip(whole[arcs.high].tolist(), whole[arcs.low].tolist(), strict=True)]
    moved = np.array(found, np.int64)
    fits = bool((moved >= 0).all()) and np.array_equal(arcs.budget[moved], arcs.budget)
    return moved if fits else None


def _classes(rows: int, columns: int, changes: list[tuple[IntArray, IntArray]]) -> IntArray:
    """The class of each entry of a table, numbered row by row, whose rows and columns change places together."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n = rows * columns
    if not changes:
        return np.arange(n)
    here = np.tile(np.arange(n), len(changes))
    there = np.concatenate([(row[:, None] * columns + column[None, :]).ravel() for row, column in changes])
    graph = coo_array((np.ones(here.size, np.int8), (here, there)), shape=(n, n))
    return np.asarray(connected_components(graph, directed=False)[1], np.int64)
