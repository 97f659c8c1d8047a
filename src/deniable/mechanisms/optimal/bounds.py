"""The least error of frequencies that a promise allows, for designs that are made in another way.

By all extreme outputs where they can be listed, by kinds of outputs where values can be exchanged; for people with
levels by outputs for each value and level. Where neither can be done nothing is said. Proofs: docs/maths/optimal.md,
sections 3, 7 and 8.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.core.frontier import mixture_information
from deniable.core.laws import epsilon_to
from deniable.core.promise.ranges import members
from deniable.core.promise.value import Promise
from deniable.core.types import FloatArray
from deniable.errors import EnumerationError
from deniable.mechanisms.optimal.certificate import Problem, plane_of
from deniable.mechanisms.optimal.classes import least_by_class
from deniable.mechanisms.optimal.extremes import extremes
from deniable.mechanisms.optimal.goal import Goal
from deniable.mechanisms.optimal.solving import near_least

__all__ = ["Least", "least_at_levels", "least_error", "least_told"]

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
