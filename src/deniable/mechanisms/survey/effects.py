"""The law of interactions: what reports say about cells on average, and how they vary together (docs/maths/tables.md).

Answers are hashed to g buckets by balanced public hashes, the buckets are added up, and a report speaks of the sum. It
supports the cells whose sum is in its set. Whatever the hashes are, the law of reports depends on the interaction of
the questions alone: since the hashes are balanced, margins leave no trace.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from deniable.core.frontier import best_subset_size
from deniable.core.laws import epsilon_to, subset
from deniable.core.support import Support
from deniable.core.types import FloatArray
from deniable_client.kernels.interaction import BUCKETS_MAX

__all__ = ["Effects", "best_buckets", "centred", "interaction_of"]


@dataclass(frozen=True)
class Effects:
    """Questions with so many answers, g buckets, and how often a report supports the own bucket and another one."""

    sizes: tuple[int, ...]
    g: int
    buckets: Support[float]

    @classmethod
    def ideal(cls, epsilon: float, sizes: Sequence[int], g: int, size: int) -> Effects:
        """With the ideal probabilities of subset selection."""
        return cls(tuple(sizes), g, subset(*epsilon_to(epsilon), g, size).map(float))

    @cached_property
    def padded(self) -> tuple[int, ...]:
        """Numbers of answers with those that nobody has, so that g divides them."""
        return tuple(-(-own // self.g) * self.g for own in self.sizes)

    @cached_property
    def scale(self) -> float:
        """What an interaction is multiplied by in the mean of products of contrasts: the product of k/(k-1)."""
        return math.prod(own / (own - 1) for own in self.padded)

    @property
    def base(self) -> float:
        """How often a cell without interaction is supported: size/g."""
        return self.buckets.q + self.buckets.gap / self.g

    @property
    def slope(self) -> float:
        """How fast that grows with the interaction [formula (T2)]."""
        return self.buckets.gap * (self.g - 1) / self.g * self.scale

    def joint(self, gamma: FloatArray) -> FloatArray:
        """How often two cells are supported by one report, at interactions `gamma` of some answers [formula (T5)]."""
        g, own = self.g, self.buckets
        flat = self.scale * gamma.reshape(-1)
        apart = _contrasts(gamma.shape, self.padded)
        same = (1 + (g - 1) * apart) / g
        one = (1 + (g - 1) * flat) / g
        three = 1 + (g - 1) * (apart + flat[:, None] + flat[None, :])
        if g > 2:
            three = three + (g - 1) * (g - 2) * self.scale * _triples(gamma, self.padded)
        all_three = three / (g * g)
        either = one[:, None] + one[None, :] - 2 * all_three
        return np.asarray(
            own.both_none
            + (own.q - own.both_none) * same
            + (own.both_one - own.both_none) * either
            + own.gap * all_three
        )

    @property
    def at_uniform(self) -> float:
        """The interaction of each cell where all answers are equally common: 0 unless some are filled up."""
        return math.prod(1 / own - 1 / full for own, full in zip(self.sizes, self.padded, strict=True))

    def variance(self) -> float:
        """Variance of one report's estimate of a cell, where all answers are equally common; people are drawn too."""
        share = self.base + self.slope * self.at_uniform
        return share * (1 - share) / self.slope**2

    def drawn(self) -> float:
        """The part of `variance` that comes from drawing people: that of the interaction among them."""
        second = math.prod(
            (1 - 1 / full) ** 2 / own + (1 - 1 / own) / full**2
            for own, full in zip(self.sizes, self.padded, strict=True)
        )
        return second - self.at_uniform**2

    def cost(self) -> float:
        """Variances of one report's estimates, centred over the answers that there are, summed over all cells.

        All answers are equally common, and people are drawn. Where nothing is filled up it is that of all cells as
        they are; else it is less, since what is filled up has margins of its own [formula (T7)].
        """
        two = np.full((2,) * len(self.sizes), self.at_uniform)
        signs = np.array([(-1) ** sum(cell) for cell in np.ndindex(two.shape)])
        told = float(self.joint(two)[0] @ signs) / self.slope**2
        return math.prod(own - 1 for own in self.sizes) * told


def centred(values: FloatArray, sizes: Sequence[int]) -> FloatArray:
    """Numbers of cells (along the first axis) without the means of rows and columns: interactions of a table."""
    found = values.reshape(*sizes, *values.shape[1:])
    for axis in range(len(sizes)):
        found = found - found.mean(axis=axis, keepdims=True)
    return np.asarray(found.reshape(values.shape))


def _contrasts(sizes: Sequence[int], padded: Sequence[int]) -> FloatArray:
    """For two cells the product over questions of 1 where the answers are equal and -1/(k-1) where not."""
    found: FloatArray = np.ones((1, 1))
    for own, full in zip(sizes, padded, strict=True):
        found = np.kron(found, (full * np.eye(own) - 1) / (full - 1)).astype(np.float64)
    return found


def _triples(gamma: FloatArray, padded: Sequence[int]) -> FloatArray:
    """For two cells the sum of interactions that three equal buckets have to do with.

    Question by question: the own one where both have the same answer, else those of both over -(k-2).
    """
    found = gamma
    for axis, full in enumerate(padded):
        moved = np.moveaxis(found, 2 * axis, 0)
        count = moved.shape[0]
        both = -(moved[:, None] + moved[None, :]) / max(full - 2, 1)
        both[np.arange(count), np.arange(count)] = moved
        found = np.moveaxis(both, (0, 1), (2 * axis, 2 * axis + 1))
    questions = found.ndim // 2
    cells = math.prod(gamma.shape)
    order = (*range(0, 2 * questions, 2), *range(1, 2 * questions, 2))
    return np.asarray(found.transpose(order).reshape(cells, cells))


def interaction_of(table: FloatArray, padded: Sequence[int]) -> FloatArray:
    """What is left of a table of shares after all that fewer of the questions explain [formula (T1)]."""
    found = np.asarray(table, np.float64)
    for axis, full in enumerate(padded):
        found = found - found.sum(axis=axis, keepdims=True) / full
    return found


@lru_cache(maxsize=1024)
def best_buckets(epsilon: float, sizes: tuple[int, ...]) -> tuple[int, int]:
    """The number of buckets, and of those in a report, of least `cost`."""
    most = min(max(sizes), BUCKETS_MAX)

    def error(g: int) -> float:
        return Effects.ideal(epsilon, sizes, g, best_subset_size(g, epsilon)).cost()

    g = min(range(2, most + 1), key=error)
    return g, best_subset_size(g, epsilon)
