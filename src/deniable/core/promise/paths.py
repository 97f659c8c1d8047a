"""What follows from a promise: shortest paths of budgets, and values that no report can tell apart.

A channel keeps a promise if and only if it keeps the closed one: the inequalities along a path multiply. A budget of 0
makes two inputs one, since the likelihoods of both sum to 1 (docs/maths/promise.md, section 2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice, product
from typing import Any, NamedTuple

import numpy as np

from deniable.core.promise.ranges import members, refined, size
from deniable.core.promise.value import Promise, add_up
from deniable.core.types import BoolArray, FloatArray, IntArray
from deniable.errors import EnumerationError, InWords, require

__all__ = ["Implied", "closed", "implied", "implies", "merged"]

_NODES = 1024
"""Inputs of the largest graph whose shortest paths are looked for."""


class Implied(NamedTuple):
    """Two inputs whose budget follows from others: the steps of `path` have smaller budgets together than `given`.

    A path of these two alone: the budget of the other direction is 0, so that their reports have one law.
    """

    likely: str
    unlikely: str
    given: float
    budget: float
    path: tuple[str, ...]


def closed(p: Promise) -> Promise:
    """The budgets of shortest paths: `Promise.closed`."""
    values, owners = _some(p)
    _, paths, _ = _paths(p, values, owners, p.table, zeros=True)
    table, strict, same = _by_class(p, paths, owners, p.table), None, None
    if p.strict is not None:
        hidden = _paths(p, values, owners, np.minimum(p.strict, table), zeros=False)[1]
        strict = _by_class(p, hidden, owners, p.strict)
    if p.same is not None:
        levels = np.arange(len(p.levels)) * len(values)
        same = np.array(
            [paths[np.ix_(levels + owners.index(a), levels + owners.index(a))] for a in range(len(p.classes))]
        )
    return replace(p, table=table, strict=strict, same=same)


def implies(one: Promise, other: Promise) -> bool:
    """Whether every channel that keeps the first promise keeps the second one too; both are about the same values.

    >>> implies(Promise.plain(0.5, 3), Promise.plain(1.0, 3)), implies(Promise.plain(1.0, 3), Promise.plain(0.5, 3))
    (True, False)
    """
    fits = one.k == other.k and not one.levels and not other.levels
    require(fits, "promises", (one, other), "to the same values, without levels")
    classes, mine, its = refined(one.classes, other.classes)
    more = closed(one).table[np.ix_(mine, mine)] > other.table[np.ix_(its, its)]
    np.fill_diagonal(more, [own and size(ends) > 1 for own, ends in zip(more.diagonal(), classes, strict=True)])
    return not more.any()


def implied(p: Promise) -> tuple[Implied, ...]:
    """Budgets that follow from others, with their paths: `Promise.implied`."""
    values, owners = _some(p)
    given, least, step = _paths(p, values, owners, p.table, zeros=True)
    n, found = len(values), dict[tuple[Any, ...], Implied]()
    for one, two in np.argwhere(least < given).tolist():
        (i, x), (j, z) = divmod(one, n), divmod(two, n)
        kind = (i, j, owners[x], owners[z], x == z)
        if kind in found:
            continue
        path = [one]
        while path[-1] != two:
            path.append(int(step[path[-1], two]))
        names = tuple(p.name(at // n * p.k + values[at % n]) for at in path)
        found[kind] = Implied(names[0], names[-1], float(given[one, two]), float(least[one, two]), names)
    return tuple(found.values())


def merged(p: Promise) -> Promise:
    """Values that are one, as one: `Promise.merged`."""
    require(not p.levels, "levels", p.levels, "none", "Only values can be merged.")
    matrix = closed(p).budgets
    zero = matrix == 0
    first = [x for x in range(p.k) if not zero[x, :x].any()]
    require(len(first) > 1, "budgets", InWords("0 between all values"), "above 0 for some: nothing is left to tell")
    labels = p.labels and tuple(" or ".join(p.labels[y] for y in np.flatnonzero(zero[x]).tolist()) for x in first)
    return Promise.of_matrix(matrix[np.ix_(first, first)], labels)


def _some(p: Promise) -> tuple[list[int], list[int]]:
    """Values that stand for all, and their classes: of each two, and one for each level that a path may go through.

    A path that meets two further values of a class at one level is no shorter than one that meets the first alone:
    what comes after may exchange the two.
    """
    most = max(1, len(p.levels)) + 2
    pairs = [(x, i) for i, ends in enumerate(p.classes) for x in islice(members(ends), most)]
    nodes = len(pairs) * max(1, len(p.levels))
    if nodes > _NODES:
        raise EnumerationError(f"shortest paths over {nodes:,} inputs are too many (at most {_NODES:,}).")
    return [x for x, _ in pairs], [i for _, i in pairs]


def _paths(
    p: Promise, values: Sequence[int], owners: Sequence[int], table: FloatArray, *, zeros: bool
) -> tuple[FloatArray, FloatArray, IntArray]:
    """The matrix, its shortest paths and their first steps. `zeros`: a budget of 0 makes the other direction 0."""
    given = p.spread(values, owners, table)
    full = given
    least, step = _shortest(full)
    while zeros and ((least == 0) & (least.T > 0)).any():
        full = np.where((least == 0).T, 0.0, full)
        least, step = _shortest(full)
    return given, least, step


def _by_class(p: Promise, matrix: FloatArray, owners: list[int], given: FloatArray) -> FloatArray:
    """A table from the matrix of some values; where a class has one value only, what was `given` to it."""
    n, c, found = len(owners), len(p.classes), given.copy()
    first: IntArray = np.array([owners.index(a) for a in range(c)])
    lone: BoolArray = np.array([size(ends) == 1 for ends in p.classes])
    other = np.where(np.eye(c, dtype=bool), (first + ~lone)[:, None], first[None, :])
    for i, j in product(range(max(1, len(p.levels))), repeat=2):
        at = (slice(i * c, (i + 1) * c), slice(j * c, (j + 1) * c))
        found[at] = np.where(np.diag(lone), given[at], matrix[i * n + first[:, None], j * n + other])
    return found


def _shortest(matrix: FloatArray) -> tuple[FloatArray, IntArray]:
    """Lengths of shortest paths, rounded up, and the first step of each."""
    n = len(matrix)
    step = np.tile(np.arange(n, dtype=np.int64), (n, 1))
    for m in range(n):
        through = add_up(matrix[:, m, None], matrix[None, m, :])
        better = through < matrix
        matrix = np.where(better, through, matrix)
        step = np.where(better, step[:, m, None], step)
    return matrix, step
