"""The best guess of a value: from its report, and without one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.core.support import Support
from deniable.core.types import FloatArray, IntArray
from deniable.errors import ParameterError, show

__all__ = [
    "Guess",
    "check_prior",
    "covered_by_independent",
    "first_of_independent",
    "first_of_subset",
    "first_to_cover",
    "prior_success",
    "ranked",
    "uniform_success",
]


@dataclass(frozen=True, slots=True)
class Guess:
    """`success`: chance that the best guess from a report is right; `blind`: that of the best guess without one."""

    success: float
    blind: float

    @property
    def gain(self) -> float:
        """What a report adds."""
        return self.success - self.blind


def check_prior(prior: object, k: int) -> FloatArray:
    """A prior as an array; refused unless it is k numbers >= 0 that sum to 1."""
    try:
        pi = np.asarray(prior, np.float64)
    except (TypeError, ValueError) as error:
        hint = f"For a law by its name: deniable.datasets.resolve('zipf:1.2', n=10**6, k={k}).frequencies."
        raise ParameterError(f"prior must be {k} numbers, got {prior!r}.", hint) from error
    if pi.shape != (k,) or not np.isfinite(pi).all() or (pi < 0).any():
        wrong = [x for x in np.ravel(pi).tolist() if not 0 <= x < np.inf]
        told = show(wrong[0]) if wrong else f"an array of shape {pi.shape}"
        raise ParameterError(f"prior must be {k} finite numbers >= 0, got {told}.")
    if abs(float(pi.sum()) - 1) > 1e-9:
        raise ParameterError(f"prior must sum to 1, got {float(pi.sum())!r}.", "Divide it by its sum if that is meant.")
    return pi


def uniform_success(support: Support[Any], w: Any, covered: Any, k: Any) -> Any:
    """Success of the best guess, all k values being equally likely, of designs whose reports support items.

    A report's likelihood is a blind report's, of total mass 1 - p + p w, times 1/w where it is supported; `covered` is
    the chance that a blind report supports at least one item, w the inverse of the odds. Numbers or arrays.
    """
    blind, told = support.p_not + support.p * w, support.p_not / w + support.p
    return (told * covered + blind * (1 - covered)) / k


def ranked(prior: FloatArray) -> FloatArray:
    """A prior with its most likely value first, as `prior_success` reads it."""
    return np.sort(prior)[::-1]


def prior_success(support: Support[Any], w: Any, likely: FloatArray, first: FloatArray) -> Any:
    """Success of the best guess under a prior, of designs whose reports support items.

    `likely` are the probabilities of values, the largest first, and `first` the chances that the j-th of these is the
    first one that a blind report supports. A guess moves from the likeliest value of all to the likeliest supported one
    where its odds of 1/w make up for its rank. Without a column for a rank, no guess moves to it. Numbers or arrays.
    """
    blind, odds = support.p_not + support.p * w, 1 / np.asarray(w)
    moved = np.maximum(likely[: first.shape[-1]] * odds[..., None] - likely[0], 0)
    return blind * (likely[0] + np.sum(first * moved, axis=-1))


def covered_by_independent(k: Any, chance: Any) -> Any:
    """Chance that at least one of k items is in, each being in with `chance`, independently. Numbers or arrays."""
    return -np.expm1(k * np.log1p(-chance))


def first_of_independent(k: int, chance: Any) -> FloatArray:
    """Chances that the j-th of k items is the first that is in, each being in with `chance`, independently.

    For an array of chances, a row for each of them.
    """
    at = np.asarray(chance)[..., None]
    return np.asarray(at * np.exp(np.arange(k) * np.log1p(-at)))


def first_of_subset(k: int, size: Any, ranks: int | None = None) -> FloatArray:
    """Chances that the j-th of k items is the first one in a uniform subset: C(k-j, size-1)/C(k, size), j from 1.

    For all of them, or for the first `ranks`; for an array of sizes, a row for each of them.
    """
    j, at = np.arange(1, k if ranks is None else ranks), np.asarray(size)[..., None]
    ratios = np.maximum(k - j - at + 1, 0) / (k - j)
    return np.asarray(at / k * np.concatenate([np.ones_like(at, np.float64), np.cumprod(ratios, axis=-1)], axis=-1))


def first_to_cover(order: IntArray, supports: Callable[[int, IntArray], Any], outputs: int) -> FloatArray:
    """Chances that the j-th item in `order` is the first one that a uniform output supports.

    `supports(item, outputs)` says which of an array of outputs support an item; outputs are struck off as they are met.
    """
    left, out = np.arange(outputs), np.zeros(order.size)
    for j, item in enumerate(order.tolist()):
        if not left.size:
            break
        hit = supports(item, left)
        out[j] = np.count_nonzero(hit) / outputs
        left = left[~hit]
    return out
