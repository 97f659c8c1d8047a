"""What reports near a value say about frequencies, in steps of O(k): sums over windows are differences of sums."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from deniable.core.types import FloatArray, IntArray
from deniable.core.window import window_held, window_odds, window_starts
from deniable.estimate.evidence import redrawn, two_level
from deniable.randomness import Simulation
from deniable_client.kernels import Window

__all__ = ["WindowEvidence"]


@dataclass(frozen=True, slots=True, eq=False)
class WindowEvidence:
    """Counts of all answers: L_y(x) = 1 + more s, where s is the share of x's windows (one, or a coin's two) with y."""

    counts: FloatArray
    starts: IntArray
    """First answers of the windows: a row for each side of the coin, rising along it."""
    m: int
    more: float
    complete: bool = field(default=True, init=False)

    @classmethod
    def of(cls, kernel: Window, counts: IntArray) -> WindowEvidence:
        """From how often each answer was given."""
        more = float(window_odds(kernel) - 1)
        return cls(counts.astype(np.float64), window_starts(kernel), kernel.m, more)

    @property
    def k(self) -> int:
        return int(self.starts.shape[1])

    @property
    def n(self) -> int:
        return round(float(self.counts.sum()))

    def step(self, f: FloatArray) -> tuple[FloatArray, float]:
        den = self._denominators(f)
        share = self.counts / den
        return (share.sum() + self.more * self._by_value(share)) / self.n, float(self.counts @ np.log(den))

    def information(self, f: FloatArray) -> FloatArray:
        den = self._denominators(f)
        v = self.n / (den.sum() * den)
        inside = window_held(self.starts, self.m, self.counts.size) / len(self.starts)
        return two_level(float(v.sum()), inside @ v, (inside * v) @ inside.T, self.more)

    def resampled(self, rng: Simulation) -> WindowEvidence:
        return replace(self, counts=redrawn(self.counts, self.n, rng))

    def _denominators(self, f: FloatArray) -> FloatArray:
        """1 + more sum_x f_x s for every answer: windows with it start at it or up to m-1 before."""
        sums, answers = _running(f), np.arange(self.counts.size)
        inside = np.zeros(self.counts.size)
        for row in self.starts:
            last = np.searchsorted(row, answers, side="right")
            inside += sums[last] - sums[np.searchsorted(row, answers - self.m, side="right")]
        return 1 + self.more / len(self.starts) * np.maximum(inside, 0.0)

    def _by_value(self, v: FloatArray) -> FloatArray:
        """Sum of v over the answers in a value's window, the mean of its two with a coin."""
        sums = _running(v)
        total: Any = sum(sums[row + self.m] - sums[row] for row in self.starts)
        return np.asarray(total / len(self.starts))


def _running(v: FloatArray) -> FloatArray:
    return np.concatenate([[0.0], np.cumsum(v)])
