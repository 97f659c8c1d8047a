"""How well the most frequent items are found [ULDP Fig. 9]."""

from __future__ import annotations

import numpy as np

from deniable.core.types import FloatArray, IntArray
from deniable.errors import require

__all__ = ["f1_top", "ndcg_top", "top_items"]


def top_items(value: FloatArray, t: int) -> IntArray:
    """The t items of largest value, largest first; equal ones in their order."""
    require(1 <= t <= value.size, "t", t, f"from 1 to the number of items, {value.size}")
    return np.argsort(-value, kind="stable")[:t]


def f1_top(value: FloatArray, truth: FloatArray, t: int) -> float:
    """F1 of the t most frequent items: both sets have t items, so precision, recall and F1 are the share in common.

    >>> f1_top(np.array([0.5, 0.1, 0.4]), np.array([0.6, 0.3, 0.1]), 2)
    0.5
    """
    _check(value, truth)
    return np.intersect1d(top_items(value, t), top_items(truth, t)).size / t


def ndcg_top(value: FloatArray, truth: FloatArray, t: int) -> float:
    """Normalised discounted cumulative gain of the t most frequent items, in their estimated order.

    The most frequent item has the relevance t, the next t - 1, and so on; all others 0.

    >>> ndcg_top(np.array([3.0, 2.0, 1.0]), np.array([0.5, 0.3, 0.2]), 3)
    1.0
    """
    _check(value, truth)
    relevance = np.zeros(truth.size)
    relevance[top_items(truth, t)] = np.arange(t, 0, -1)
    discount = 1 / np.log2(np.arange(2, t + 2))
    ideal = float(np.arange(t, 0, -1) @ discount)
    return float(relevance[top_items(value, t)] @ discount) / ideal


def _check(value: FloatArray, truth: FloatArray) -> None:
    require(value.shape == truth.shape and value.ndim == 1, "value", value.shape, f"as many numbers as {truth.shape}")
