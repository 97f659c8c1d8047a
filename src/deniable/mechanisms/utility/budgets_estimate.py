"""Estimates where sensitive items have bits with noise of their own: item by item, without correlation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deniable.core.types import FloatArray, Target
from deniable.mechanisms.utility.estimate import UtilityPart

__all__ = ["BudgetsPart"]


@dataclass(frozen=True, slots=True, eq=False)
class BudgetsPart(UtilityPart):
    """`UtilityPart` whose law has one entry per sensitive item, for independent bits.

    Credit q makes every bit of a report that is not the own one add 0 on average, disclosed or not: so no two
    estimates are correlated, the reporters being given.
    """

    def covariance(self, target: Target) -> FloatArray:
        matrix = np.zeros((self.value.size, self.value.size))
        if target == "population":
            matrix -= np.outer(self.value, self.value) / self.n
        np.fill_diagonal(matrix, self.variance(target))
        return matrix
