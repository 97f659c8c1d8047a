"""Promises for tests: those of the golden numbers, and made-up ones."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from deniable.core.channel import Channel
from deniable.core.types import FloatArray
from deniable_client.exact import exp_bounds

__all__ = ["GOLDEN", "beyond", "budgets_of_case", "functionals_of", "generic", "line", "random_promise"]

GOLDEN: Any = json.loads((Path(__file__).parents[1] / "golden" / "optimal.json").read_text())


def budgets_of_case(case: Any) -> FloatArray:
    """The matrix of a golden case."""
    return np.array([[math.inf if b == "inf" else b for b in row] for row in case["B"]], np.float64)


def functionals_of(case: Any) -> FloatArray:
    """What a golden case estimates: frequencies, a mean, or two functionals of each key."""
    k = len(case["B"])
    if case["functional"] == "frequencies":
        return np.eye(k)
    if case["id"].startswith("mean"):
        return np.linspace(-1, 1, k)[None]
    kappa = math.sqrt(float(case["id"].rpartition("-")[2]))
    rows = np.zeros((k, k))
    for i in range(0, k, 2):
        rows[i, i : i + 2] = kappa
        rows[i + 1, i : i + 2] = 1, -1
    return rows


def line(k: int, step: float) -> FloatArray:
    """A budget for each step along a line."""
    return step * np.abs(np.subtract.outer(np.arange(k), np.arange(k))).astype(np.float64)


def generic(k: int, seed: int = 0) -> FloatArray:
    """Budgets of which none follows from others."""
    found = np.random.default_rng(seed).uniform(1, 1.9, (k, k))
    np.fill_diagonal(found, 0)
    return found


def random_promise(rng: np.random.Generator, *, endless: bool) -> tuple[FloatArray, FloatArray]:
    """Budgets of 2 to 6 values, neither closed nor symmetric, and a prior; `endless`: some are infinite."""
    k = int(rng.integers(2, 7))
    found = rng.uniform(0.1, 4, (k, k)) * rng.choice([1.0, 1.0, 0.2])
    np.fill_diagonal(found, 0)
    if endless:
        found[(rng.random((k, k)) < 0.4) & ~np.eye(k, dtype=bool)] = math.inf
    prior = np.maximum(rng.dirichlet(np.ones(k)), 1e-4)
    return found, prior / prior.sum()


def beyond(channel: Channel, x: int, epsilon: float) -> set[int]:
    """Outputs that disclose x: those that say so, and what speaks for it beyond e^epsilon without a limit."""
    others = [z for z in range(channel.k) if (x, z) in channel.unlimited]
    low = exp_bounds(epsilon)[0]
    open_ = {o for o, row in enumerate(channel.weights) if others and row[x] > low * min(row[z] for z in others)}
    return open_ | {o for o in channel.disclosing if channel.weights[o][x]}
