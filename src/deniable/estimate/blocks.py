"""Counts of blocks that hold items, seen through their likelihood: steps by transforms, none by report and item."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from deniable.core.types import FloatArray, IntArray
from deniable.estimate.evidence import redrawn, two_level
from deniable.kernels.cyclotomic import Blocks
from deniable.randomness import Simulation

__all__ = ["BlockEvidence"]


@dataclass(frozen=True, slots=True, eq=False)
class BlockEvidence:
    """How often each block was reported: L_y(x) = odds if the block y holds x, else 1."""

    blocks: Blocks
    weights: FloatArray
    """By union and shift."""
    odds: float
    k: int
    complete: bool = field(default=True, init=False)

    @classmethod
    def of(cls, blocks: Blocks, counts: IntArray, odds: float, k: int) -> BlockEvidence:
        """From how often each report occurs."""
        return cls(blocks, counts.reshape(blocks.m, blocks.q).astype(np.float64), odds, k)

    @property
    def n(self) -> int:
        return round(float(self.weights.sum()))

    def _den(self, f: FloatArray) -> FloatArray:
        return np.asarray(1 + (self.odds - 1) * np.maximum(self.blocks.sum_by_block(f), 0.0))

    def step(self, f: FloatArray) -> tuple[FloatArray, float]:
        den = self._den(f)
        share = self.weights / den
        by_item = self.blocks.sum_by_point(share)[: self.k]
        loglik = float(np.vdot(self.weights, np.log(den)))
        return (float(share.sum()) + (self.odds - 1) * by_item) / self.n, loglik

    def information(self, f: FloatArray) -> FloatArray:
        den = self._den(f)
        v = self.n / (float(den.sum()) * den)
        held = (np.where(self.blocks.holding(x), v, 0.0) for x in range(self.k))
        pair = np.stack([self.blocks.sum_by_point(each)[: self.k] for each in held])
        single = np.diag(pair).copy()
        return two_level(float(v.sum()), single, (pair + pair.T) / 2, self.odds - 1)

    def resampled(self, rng: Simulation) -> BlockEvidence:
        return replace(self, weights=redrawn(self.weights.ravel(), self.n, rng).reshape(self.weights.shape))
