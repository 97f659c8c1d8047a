"""Whether two groups differ in what was measured, by ranks."""

from __future__ import annotations

from typing import Any

import numpy as np

from deniable.core.types import FloatArray

__all__ = ["permutation"]


def permutation(times: FloatArray, first: np.ndarray[Any, Any], rounds: int = 20_000) -> float:
    """The chance that a split into two groups at random differs as much in the mean of ranks. Seeded."""
    ranks = np.argsort(np.argsort(times)).astype(float)
    rng = np.random.default_rng(17)
    seen = abs(ranks[first].mean() - ranks[~first].mean())
    more = 0
    for _ in range(rounds):
        own = rng.permutation(first)
        more += abs(ranks[own].mean() - ranks[~own].mean()) >= seen - 1e-12
    return float(1 + more) / (1 + rounds)
