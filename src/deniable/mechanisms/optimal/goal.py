"""What is estimated, from whom it is expected, and what a channel in floats or whole numbers is worth for it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deniable.core.types import FloatArray
from deniable.mechanisms.optimal.certificate import Certificate, Problem, certified, plane_of, problem_of
from deniable.mechanisms.optimal.extremes import Extremes

__all__ = ["Goal", "Worth"]


@dataclass(frozen=True, eq=False)
class Goal:
    """Some linear functionals of the frequencies, at a prior; their squared errors are summed."""

    prior: FloatArray
    functionals: FloatArray
    """A row for each of them: its value for each answer."""

    @cached_property
    def weights(self) -> FloatArray:
        """K: errors e of the frequencies count as e'Ke."""
        return np.asarray(self.functionals.T @ self.functionals)

    @property
    def whole(self) -> bool:
        """Whether every frequency matters; if not, the best channels may tell nothing about some of them."""
        return bool(np.linalg.matrix_rank(self.functionals) == self.prior.size)

    def problem(self, rays: FloatArray, extra: float = 0.0) -> Problem:
        """The choice among outputs of these likelihoods (rows); `extra`: as if all frequencies mattered a little."""
        size = float(np.trace(self.weights)) / self.prior.size
        return problem_of(rays, self.prior, self.weights + extra * size * np.eye(self.prior.size))

    def at(self, prior: FloatArray) -> Goal:
        """The same at another prior."""
        return Goal(prior, self.functionals)


@dataclass(frozen=True, eq=False)
class Worth:
    """What a channel is worth for a goal, with the unbiased estimate that is best at the prior."""

    goal: Goal
    matrix: FloatArray
    """Pr[output | value], a row for each value."""

    @cached_property
    def used(self) -> tuple[Problem, FloatArray]:
        """The outputs that occur, and how often at the prior."""
        chance = self.goal.prior @ self.matrix
        rays = self.matrix.T[chance > 0]
        return self.goal.problem(rays), chance[chance > 0]

    @cached_property
    def scores(self) -> FloatArray:
        """What each output adds to the frequencies (a row each): Pr[output | value] times these sums to the value."""
        prior = self.goal.prior
        chance = prior @ self.matrix
        rays = (self.matrix / np.where(chance > 0, chance, 1.0)).T
        plane = plane_of(prior)
        turns = (rays - (chance > 0)[:, None]) @ plane
        inner = (turns.T * chance) @ turns
        back = plane - np.outer(prior, plane.sum(axis=0))
        return np.asarray(prior + turns @ np.linalg.solve(inner, back.T))

    @cached_property
    def errors(self) -> FloatArray:
        """The squared error of one report from each value, as if all reporters had it."""
        told = self.scores @ self.goal.functionals.T
        meant = self.goal.functionals.T
        apart = ((told[None] - meant[:, None]) ** 2).sum(axis=2)
        return np.asarray((self.matrix * apart).sum(axis=1))

    @property
    def error(self) -> float:
        """The same at the prior: n times the summed squared error of n reporters' own values of the functionals."""
        return float(self.goal.prior @ self.errors)

    def certificate(self, every: Extremes) -> Certificate:
        """How near it is to the least spread of all channels with the same promise."""
        problem, chance = self.used
        return certified(self.goal.problem(every.rays), problem, chance)
