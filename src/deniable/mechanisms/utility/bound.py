"""The least error of any ULDP mechanism: weighted set systems, mixtures of two adjacent subset sizes, and a converse.

For mechanisms whose users randomise independently and additive unbiased estimators whose weights do not depend on the
frequencies; the error is n times the variances summed over all items, averaged over relabellings of the s sensitive
and of the m harmless items. Proofs: docs/maths/utility.md, section 5.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from deniable.mechanisms.utility.laws import golden, near, null_size, size_costs

__all__ = ["best_mixture", "best_single", "converse", "least_mse_sum", "mixture_mse", "single_mse"]

_STEPS = 90
"""Steps of the golden-section search: the weight is found to the precision of floats."""


@dataclass(frozen=True, slots=True)
class Mixture:
    """Subset size `size` with probability `weight`, else size + 1; and the error n MSE of the best estimate."""

    size: int
    weight: float
    mse: float


@dataclass(frozen=True, slots=True)
class _Size:
    """What a subset size k brings, all divided by powers of e: u_k e^-eps, e_k e^-eps."""

    u: float
    e: float
    gain: float
    """u - w: (u_k - 1) e^-eps."""

    @classmethod
    def of(cls, k: float, s: int, theta: float, w: float, v: float) -> _Size:
        gain = k * v / s
        u = w + gain
        return cls(u, (1 - theta) * u + theta * w, gain)


def mixture_mse(size: int, weight: float, s: int, m: float, theta: float, w: float, v: float) -> float:
    """n MSE of a mixture with its best estimator.

    (s-1)/A + (1-1/m) theta/z + (1/s+1/m) theta/W + t^2/s + theta^2/m - 1 with A, z and W linear in the weights.
    `m` may be infinite. Size s (the set of all sensitive items) is allowed as the larger one.
    """
    parts = [(weight, _Size.of(size, s, theta, w, v)), (1 - weight, _Size.of(size + 1, s, theta, w, v))]
    parts = [(lam, x) for lam, x in parts if lam > 0]
    contrast = sum(lam * (s / (s - 1)) * x.gain * max(0.0, 1 - x.u) / (x.u * x.e) for lam, x in parts)
    z = sum(lam * x.gain / x.u for lam, x in parts)
    total = sum(lam * x.gain / x.e for lam, x in parts)
    if contrast <= 0:
        return math.inf
    t = 1 - theta
    return (s - 1) / contrast + (1 - 1 / m) * theta / z + (1 / s + 1 / m) * theta / total + t * t / s + theta**2 / m - 1


def single_mse(size: float, s: int, theta: float, w: float, v: float) -> float:
    """n MSE of one subset size with the null branch, in closed form."""
    a1, a2 = size_costs(s, theta, w, v)
    return a1 / size + a2 / (s - size) - (s - 1) * (1 - theta)


def best_single(s: int, theta: float, w: float, v: float) -> int:
    """The subset size of least error: convex in the size, so next to the real minimiser."""
    return near(null_size(s, theta, w, v), 1, s - 1, lambda k: single_mse(k, s, theta, w, v))


def best_mixture(s: int, m: float, theta: float, w: float, v: float) -> Mixture:
    """The optimum over all ULDP mechanisms for s >= 2: one size, or two adjacent ones, next to the real size."""
    k = max(1, min(s - 1, math.floor(null_size(s, theta, w, v))))

    def cost(weight: float) -> float:
        return mixture_mse(k, weight, s, m, theta, w, v)

    middle = golden(cost, 0.0, 1.0, _STEPS)
    single = best_single(s, theta, w, v)
    ends = [Mixture(single, 1.0, single_mse(single, s, theta, w, v)), Mixture(k, middle, cost(middle))]
    return min(ends, key=lambda x: x.mse)


def least_mse_sum(s: int, m: int, theta: float, w: float, v: float) -> float:
    """The least n MSE that any ULDP mechanism has; 0 where nothing is sensitive."""
    if s == 0:
        return 0.0
    if s == 1:
        return 2 * theta * w / v
    return best_mixture(s, m or math.inf, theta, w, v).mse


def converse(s: int, theta: float, w: float, v: float) -> float:
    """A closed-form lower bound, for every m: sizes are allowed to be real. Equal to the optimum if that is whole."""
    if s == 1:
        return 2 * theta * w / v
    a1, a2 = size_costs(s, theta, w, v)
    if null_size(s, theta, w, v) <= 1:
        return single_mse(1, s, theta, w, v)
    return (math.sqrt(a1) + math.sqrt(a2)) ** 2 / s - (s - 1) * (1 - theta)
