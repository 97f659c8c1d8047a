"""How good estimates are, beside a known truth: errors, distances, and how well the most frequent items are found."""

from __future__ import annotations

import numpy as np

from deniable.core.types import FloatArray, IntArray
from deniable.errors import require

__all__ = ["f1_top", "mean_absolute", "mean_square", "ncr_top", "ndcg_top", "top_items", "wasserstein"]


def mean_square(value: FloatArray, truth: FloatArray) -> float:
    """Squared error, averaged over the items."""
    return float(np.mean((value - truth) ** 2))


def mean_absolute(value: FloatArray, truth: FloatArray) -> float:
    """Absolute error, averaged over the items."""
    return float(np.mean(np.abs(value - truth)))


def wasserstein(value: FloatArray, truth: FloatArray) -> float:
    """First Wasserstein distance of answers in an order, the first and the last of which are 1 apart.

    Of estimates that are not projected it is the mean distance of the cumulative shares all the same.

    >>> wasserstein(np.array([0.0, 1.0, 0.0]), np.array([1.0, 0.0, 0.0]))
    0.5
    """
    _check(value, truth)
    require(value.size >= 2, "value", value.size, "at least 2 numbers")
    return float(np.abs(np.cumsum(value - truth)[:-1]).sum() / (value.size - 1))


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


def ncr_top(value: FloatArray, truth: FloatArray, t: int) -> float:
    """Normalised cumulative rank: credit t for the most frequent item, t - 1 for the next, ..., if it is found.

    >>> round(ncr_top(np.array([0.5, 0.1, 0.4]), np.array([0.6, 0.3, 0.1]), 2), 4)
    0.6667
    """
    _check(value, truth)
    return float(_credit(truth, t)[top_items(value, t)].sum() / (t * (t + 1) / 2))


def ndcg_top(value: FloatArray, truth: FloatArray, t: int) -> float:
    """Normalised discounted cumulative gain of the t most frequent items, in their estimated order.

    The most frequent item has the relevance t, the next t - 1, and so on; all others 0.

    >>> ndcg_top(np.array([3.0, 2.0, 1.0]), np.array([0.5, 0.3, 0.2]), 3)
    1.0
    """
    _check(value, truth)
    discount = 1 / np.log2(np.arange(2, t + 2))
    ideal = float(np.arange(t, 0, -1) @ discount)
    return float(_credit(truth, t)[top_items(value, t)] @ discount) / ideal


def _credit(truth: FloatArray, t: int) -> FloatArray:
    """t for the most frequent item, t - 1 for the next, and so on; 0 for those after the first t."""
    found = np.zeros(truth.size)
    found[top_items(truth, t)] = np.arange(t, 0, -1)
    return found


def _check(value: FloatArray, truth: FloatArray) -> None:
    require(value.shape == truth.shape and value.ndim == 1, "value", value.shape, f"as many numbers as {truth.shape}")
