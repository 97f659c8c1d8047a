"""Unbiased shares of answers in an order, from cells of many widths."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deniable.core.types import FloatArray, Target
from deniable.estimate.result import NormalPart
from deniable.mechanisms.ordinal.laws import Law

__all__ = ["CellsPart"]


@dataclass(frozen=True, slots=True, eq=False)
class CellsPart(NormalPart):
    """Shares with the exact variances of their law at the shares that were estimated; sums of many are quick."""

    value: FloatArray
    law: Law
    n: int

    def variance(self, target: Target) -> FloatArray:
        return self._each(self.law.each_point(self.value, target))

    def covariance(self, target: Target) -> FloatArray:
        return self.law.covariance(self.value, target) / self.n

    def prefix_variance(self, target: Target) -> FloatArray:
        return self._each(self.law.each_prefix(self.value, target)[1:])

    def sum_variance(self, start: int, stop: int, target: Target) -> float:
        if stop - start == len(self.value):
            return 0.0
        query = np.zeros((len(self.value), 1))
        query[start:stop] = 1
        return float(self._each(self.law.variance(query, self.value, target))[0])

    def _each(self, variance: FloatArray) -> FloatArray:
        return np.asarray(np.maximum(variance, 0.0) / self.n)
