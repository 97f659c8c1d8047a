"""The frontier: the least error that any mechanism with the same guarantee, and the same best guess, can have."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.core.laws import epsilon_to, subset
from deniable.core.types import FloatArray

__all__ = [
    "Mixture",
    "best_subset_size",
    "distance",
    "frontier_mse",
    "least_mse",
    "mixture_information",
    "mixture_mse",
    "mixture_success",
    "weighted_mixture",
]


def best_subset_size(k: int, epsilon: float) -> int:
    """The subset size of least exact MSE: one of the two integers next to k/(e+1), which minimises it on the reals."""
    w, v = epsilon_to(epsilon)
    real = k * w / (1 + w)
    sizes = {min(k - 1, max(1, s)) for s in (math.floor(real), math.ceil(real))}
    return min(sorted(sizes), key=lambda s: float(subset(w, v, k, s).mse(k)))


def least_mse(k: int, epsilon: float, n: float = 1) -> float:
    """Least exact average MSE of any epsilon-LDP mechanism whose users randomise independently.

    For additive unbiased estimators whose weights do not depend on the frequencies, averaged over relabellings of the
    items: subset selection with its best size attains it. Proof: docs/maths/frontier.md.
    """
    return float(subset(*epsilon_to(epsilon), k, best_subset_size(k, epsilon)).mse(k, n))


# ---- mixtures of neighbouring subset sizes: the whole trade-off (docs/maths/mixture.md)


@dataclass(frozen=True, slots=True)
class Mixture:
    """Subsets of `size`, and with probability `share` of one more; size + 1 = k is the report that says nothing."""

    size: int
    share: float


def mixture_success(w: Any, k: Any, size: Any, share: Any = 0.0) -> Any:
    """ASR of a mixture, uniform prior: the mean of e/(s e + k - s), with w = e^-epsilon. Numbers or arrays."""
    one, more = (1 / (s + (k - s) * w) for s in (size, size + 1))
    return one + share * (more - one)


def mixture_information(w: Any, v: Any, k: Any, size: Any, share: Any = 0.0) -> Any:
    """Information a of a mixture: the mean of (k/(k-1)) s(k-s)(e-1)^2/(s e + k - s)^2. Numbers or arrays."""
    one, more = (k / (k - 1) * s * (k - s) * (v / (s + (k - s) * w)) ** 2 for s in (size, size + 1))
    return one + share * (more - one)


def mixture_missing(w: Any, k: Any, size: Any, share: Any = 0.0) -> Any:
    """k - a of a mixture, a sum of positive terms: nothing cancels when epsilon is large and a is near k."""
    one, more = (
        k * k / (k - 1) * (s * (s - 1) + 2 * s * (k - s) * w + (k - s) * (k - s - 1) * w * w) / (s + (k - s) * w) ** 2
        for s in (size, size + 1)
    )
    return one + share * (more - one)


def mixture_mse(w: Any, v: Any, k: Any, size: Any, share: Any = 0.0, n: Any = 1) -> Any:
    """Exact average MSE of a mixture, ((k-1)/k)(1/a - 1/k)/n, for numbers or arrays; nothing cancels."""
    missing = mixture_missing(w, k, size, share)
    return (k - 1) / (k * k) * missing / (mixture_information(w, v, k, size, share) * n)


def frontier_mse(k: int, epsilon: float, asr: float | FloatArray, n: float = 1) -> Any:
    """Least exact MSE of any epsilon-LDP mechanism whose best guess succeeds at most with `asr` (uniform prior).

    Infinite at a blind guess, 1/k, and below; `least_mse` from the ASR of the best subset size on. The class of
    mechanisms is that of `least_mse`. A number for a number, an array for an array.

    >>> round(frontier_mse(100, 4.0, 0.1033), 4)
    0.1197
    """
    w, v = epsilon_to(epsilon)
    top, low = best_subset_size(k, epsilon), k - 1
    given = np.asarray(asr, np.float64)
    inside = np.clip(given, 1 / k, mixture_success(w, k, top))
    size = np.clip(np.floor((1 / inside - k * w) / v), top, low)
    size = np.where(inside > mixture_success(w, k, size), np.maximum(size - 1, top), size)  # the floor may be one off
    size = np.where(inside < mixture_success(w, k, size + 1), np.minimum(size + 1, low), size)
    one, more = mixture_success(w, k, size), mixture_success(w, k, size + 1)
    share = np.clip((one - inside) / (one - more), 0, 1)
    with np.errstate(divide="ignore"):
        found = np.where(given > 1 / k, mixture_mse(w, v, k, size, share, n), np.inf)
    return found if np.ndim(asr) else float(found)


def distance(k: int, epsilon: float, mse: float, asr: float, n: float = 1) -> dict[str, float]:
    """How far a design is from the least possible error: of all (`bound`, `gap`), and of all with no better a guess."""
    bound, here = least_mse(k, epsilon, n), frontier_mse(k, epsilon, asr, n)
    return {"bound": bound, "gap": mse / bound - 1, "bound_at_asr": here, "gap_at_asr": mse / here - 1}


def weighted_mixture(k: int, epsilon: float, *, asr_weight: float, mse_weight: float, n: float = 1) -> Mixture:
    """The mixture of least asr_weight ASR + mse_weight MSE, in closed form on every pair of sizes.

    Between two sizes ASR and information are linear in the share, so the sum is convex and its root is a square root.
    The sizes run from that of least MSE to k-1. With all weight on the ASR that is size k-1: the last mixtures, which
    come as near to saying nothing as one likes, have no best one.

    >>> best = weighted_mixture(100, 4.0, asr_weight=0.5, mse_weight=0.5)
    >>> best.size, round(1 - best.share, 4)
    (7, 0.3133)
    """
    w, v = epsilon_to(epsilon)

    def total(size: int, share: float = 0.0) -> float:
        mse = mse_weight * float(mixture_mse(w, v, k, size, share, n)) if mse_weight else 0.0
        return asr_weight * float(mixture_success(w, k, size, share)) + mse

    low, high = best_subset_size(k, epsilon), k - 1
    while low < high:  # the sum is convex along the frontier
        middle = (low + high) // 2
        low, high = (middle + 1, high) if total(middle + 1) < total(middle) else (low, middle)
    first = max(best_subset_size(k, epsilon), low - 1)
    ends = [Mixture(low, 0.0)]
    for size in {first, low}:
        one, more = (float(mixture_success(w, k, s)) for s in (size, size + 1))
        a, b = (float(mixture_information(w, v, k, s)) for s in (size, size + 1))
        slope = asr_weight * (one - more)
        if slope > 0 and mse_weight > 0:
            share = (a - math.sqrt(mse_weight * (k - 1) / (k * n) * (a - b) / slope)) / (a - b)
            ends += [Mixture(size, share)] if 0 < share < 1 else []
    return min(ends, key=lambda m: total(m.size, m.share))
