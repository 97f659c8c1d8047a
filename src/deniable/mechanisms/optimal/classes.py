"""The least error where many values can be exchanged: one unknown for each kind of output, not for each output.

Values are exchangeable if their budgets and their shares are the same. An extreme output has at most two likelihoods
inside such a class: it is a subset of each class. The best choice may be taken to be the same after any exchange, so
that what is chosen are numbers of likely values per class, and a vertex on two nodes per class. Proof:
docs/maths/optimal.md, section 7.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from deniable.core.promise.ranges import size
from deniable.core.promise.value import Promise
from deniable.core.types import FloatArray
from deniable.errors import EnumerationError
from deniable.mechanisms.optimal.certificate import Problem, certified
from deniable.mechanisms.optimal.extremes import MOST_VALUES, extremes
from deniable.mechanisms.optimal.solving import chosen

__all__ = ["ByClass", "least_by_class"]

_KINDS = 1 << 16
"""Kinds of outputs that are compared."""


@dataclass(frozen=True, slots=True)
class ByClass:
    """The best error of the frequencies of all values, summed, at a prior; for one report."""

    error: float
    """Of the best choice that was found."""
    least: float
    """The certified least error."""
    gap: float
    kinds: int
    """Kinds of outputs that were compared."""


def least_by_class(promise: Promise, shares: FloatArray) -> ByClass:
    """The least error of frequencies, `shares` being those of each class of the promise, together 1."""
    sizes = np.array([size(ends) for ends in promise.classes])
    single = shares / sizes
    free = float(1 - (sizes * single**2).sum())
    if not np.isfinite(_between(promise)).any():
        return ByClass(0.0, 0.0, 0.0, int(sizes.sum()))
    problem = _problem(_kinds(_between(promise), sizes), sizes, single)
    w = chosen(problem)
    kept = np.flatnonzero(w)
    used = Problem(problem.turns[kept], problem.cost, problem.squares[kept], problem.kappa)
    found = certified(problem, used, w[kept])
    return ByClass(max(0.0, found.spread - free), max(0.0, found.least - free), found.gap, problem.size)


def _between(promise: Promise) -> FloatArray:
    """Closed budgets by classes; on the diagonal those of two values of a class, without a limit if it has one."""
    table = promise.closed.table.copy()
    for i, ends in enumerate(promise.classes):
        table[i, i] = table[i, i] if size(ends) > 1 else np.inf
    return np.asarray(table)


Kind = tuple[FloatArray, FloatArray, FloatArray]
"""Of each class: the number of likely values, their likelihood, that of the others."""


def _kinds(table: FloatArray, sizes: FloatArray) -> Iterator[Kind]:
    """All kinds of extreme outputs."""
    c = len(sizes)
    left = _KINDS
    for split in product(*[(False, True) if n > 1 else (False,) for n in sizes.tolist()]):
        nodes = [a for a in range(c) for _ in range(1 + split[a])]
        high = [nodes.index(a) for a in range(c)]
        if len(nodes) > MOST_VALUES:
            raise EnumerationError(
                f"{c} classes of values are too many.", "Give more values the same budgets and the same share."
            )
        matrix = table[np.ix_(nodes, nodes)].copy()
        np.fill_diagonal(matrix, 0.0)
        rays = extremes(matrix).rays
        low = rays[:, [h + s for h, s in zip(high, split, strict=True)]]
        top = rays[:, high]
        fits = (top > low)[:, list(split)].all(axis=1)
        single = (rays > 0).sum(axis=1) == 1
        counts = [range(1, n) if s else (n,) for n, s in zip(sizes.tolist(), split, strict=True)]
        for ray in np.flatnonzero(fits):
            own = [(1,) if single[ray] and top[ray, a] > 0 else counts[a] for a in range(c)]
            lone = not single[ray] or all(split[a] or sizes[a] == 1 for a in range(c) if top[ray, a] > 0)
            many = math.prod(map(len, own)) if lone else 0
            left -= many
            if left < 0:
                raise EnumerationError(
                    f"more than {_KINDS:,} kinds of outputs would have to be compared.",
                    "Give more values the same budgets and the same share.",
                )
            if many:
                chosen_counts = np.array(list(product(*own)), np.float64)
                yield chosen_counts, np.tile(top[ray], (many, 1)), np.tile(low[ray], (many, 1))


def _problem(kinds: Iterator[Kind], sizes: FloatArray, single: FloatArray) -> Problem:
    """The choice among kinds of outputs: the means of classes, and one square for what tells a class's values apart."""
    found = list(kinds)
    count, top, low = (np.concatenate([kind[i] for kind in found]) for i in range(3))
    sums = count * top + (sizes - count) * low
    scale = (sums @ single)[:, None]
    root = np.sqrt(sizes)
    plane = np.linalg.svd((root * single)[None])[2][1:].T
    turns = (sums / (scale * sizes) - 1) * root @ plane
    back = plane - np.outer(root * single, root @ plane)
    several = sizes > 1
    apart = count * (sizes - count) / sizes * ((top - low) / scale) ** 2
    squares = apart[:, several] / (sizes[several] - 1)
    return Problem(np.ascontiguousarray(turns), back.T @ back, squares, (sizes[several] - 1).astype(np.float64))
