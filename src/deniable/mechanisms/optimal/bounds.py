"""The least error of frequencies that a promise allows, for designs that are made in another way.

By all extreme outputs where they can be listed; for people with levels by outputs for each value and level; where many
values can be exchanged, by kinds of outputs. An extreme output has at most two likelihoods inside a class of
exchangeable values: it is a subset of each class. The best choice may be taken to be the same after any exchange, so
that what is chosen are numbers of likely values per class, and a vertex on two nodes per class. Where nothing of this
can be done nothing is said. Proofs: docs/maths/optimal.md, sections 3, 7 and 8.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from deniable.core.frontier import mixture_information
from deniable.core.laws import epsilon_to
from deniable.core.promise.ranges import members, size
from deniable.core.promise.value import Promise
from deniable.core.types import FloatArray
from deniable.errors import EnumerationError
from deniable.mechanisms.optimal.certificate import Problem, plane_of
from deniable.mechanisms.optimal.extremes import extremes
from deniable.mechanisms.optimal.goal import Goal
from deniable.mechanisms.optimal.solving import near_least

__all__ = ["ByClass", "Least", "least_at_levels", "least_by_class", "least_error", "least_told"]

_KINDS = 1 << 16
"""Kinds of outputs that are compared."""
_NODES = 10
"""Twice the classes of several values, and those of one value: any promise to so many has few enough vertices."""
_ROUNDING = 1e-12
"""Errors below it are rounding: no bound is told."""
_LISTED = 12
"""Inputs up to which it is tried to list all extreme outputs."""


@dataclass(frozen=True, slots=True)
class Least:
    """The least summed squared error of the reporters' frequencies, for one report."""

    error: float
    """No design that keeps the promise has less."""
    by: str
    """What it was found by: `outputs`, `classes`, or `levels told`, if it may be out of reach."""

    def distance(self, mse: float, k: int, n: float) -> dict[str, Any]:
        """`bound` of the mean squared error of k frequencies from n reports, and the `gap` of a design to it."""
        bound = self.error / k / n
        return {"bound": bound, "gap": mse / bound - 1, "bound_by": self.by} if self.error > _ROUNDING else {}


def least_error(promise: Promise, prior: FloatArray) -> Least | None:
    """The least error of any design that keeps a promise between values, at a prior; None where it is not known.

    Zero budgets, and shares of 0, have no estimate of all frequencies: nothing is said of them.
    """
    if promise.levels or float(prior.min()) <= 0 or 0.0 in promise.closed.value_budgets:
        return None
    by_class = [prior[list(members(ends))] for ends in promise.classes]
    even = all(np.allclose(own, own[0], rtol=1e-12, atol=0) for own in by_class)
    try:
        if even and len(by_class) < promise.k:
            return Least(least_by_class(promise, np.array([own.sum() for own in by_class])).least, "classes")
        if promise.k <= _LISTED:
            rays = extremes(promise.budgets).rays
            found = near_least(Goal(prior, np.eye(promise.k)).problem(rays))
            return Least(max(0.0, found.least - (1 - float(prior @ prior))), "outputs")
    except EnumerationError:
        return None
    return None


def least_at_levels(promise: Promise, prior: FloatArray, shares: FloatArray) -> Least | None:
    """The same where people choose levels, of which `shares` of all people are known; None where it is not known.

    Levels are chosen without looking at values. Estimates have no bias where these shares are right, so that only the
    channel averaged over levels matters for the error; whoever has to estimate the shares too has no less.
    """
    k = prior.size
    seen = np.flatnonzero(shares > 0)
    inputs = np.concatenate([i * k + np.arange(k) for i in seen])
    if k * seen.size > _LISTED or float(prior.min()) <= 0:
        return None
    budgets = promise.budgets[np.ix_(inputs, inputs)]
    joint = np.outer(shares[seen], prior).ravel()
    try:
        rays = extremes(budgets).rays
    except EnumerationError:
        return None
    problem = _levelled(rays, joint / joint.sum(), k)
    found = near_least(problem)
    return Least(max(0.0, found.least - (1 - float(prior @ prior))), "outputs")


def _levelled(rays: FloatArray, joint: FloatArray, k: int) -> Problem:
    """The choice among outputs of all inputs, where errors are those of the frequencies of values."""
    prior = joint.reshape(-1, k).sum(axis=0)
    scaled = rays / (rays @ joint)[:, None]
    mean = (scaled * joint).reshape(len(rays), -1, k).sum(axis=1) / prior
    plane = plane_of(prior)
    back = plane - np.outer(prior, plane.sum(axis=0))
    turns = np.ascontiguousarray((mean - 1) @ plane)
    sums = np.ascontiguousarray((scaled - 1) @ plane_of(joint))
    return Problem(turns, back.T @ back, np.zeros((len(rays), 0)), np.zeros(0), sums)


def least_told(levels: FloatArray, shares: FloatArray, k: int) -> Least:
    """A bound for plain levels and any k, all values being equally frequent: as if levels were told to everybody.

    Then everybody has the best subset size of the own level, and the information of all levels adds up.
    """
    most = 0.0
    for level, share in zip(levels.tolist(), shares.tolist(), strict=True):
        w, v = epsilon_to(level)
        sizes = np.unique(np.clip([np.floor(k * w / (1 + w)), np.ceil(k * w / (1 + w))], 1, k - 1))
        most += share * float(max(mixture_information(w, v, k, sizes)))
    return Least((k - 1) * (1 / most - 1 / k), "levels told")


# ---- values that can be exchanged


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
    found = near_least(problem)
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
        if len(nodes) > _NODES:
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
    plane = plane_of(root * single)
    turns = np.ascontiguousarray((sums / (scale * sizes) - 1) * root @ plane)
    back = plane - np.outer(root * single, root @ plane)
    several = sizes > 1
    apart = count * (sizes - count) / sizes * ((top - low) / scale) ** 2
    squares = apart[:, several] / (sizes[several] - 1)
    return Problem(turns, back.T @ back, squares, (sizes[several] - 1).astype(np.float64), turns)
