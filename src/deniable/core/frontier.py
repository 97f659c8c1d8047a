"""The least error that any mechanism with the same guarantee can have."""

from __future__ import annotations

import math

from deniable.core.laws import epsilon_to, subset

__all__ = ["best_subset_size", "least_mse"]


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
