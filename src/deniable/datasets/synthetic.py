"""Made-up populations of a given shape, whose counts add up to exactly n people."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from deniable.core.types import FloatArray, IntArray
from deniable.datasets.population import Population
from deniable.errors import ParameterError, is_whole, require
from deniable.randomness import Stream, stream_of

__all__ = ["KINDS", "apportion", "synthetic"]

KINDS: dict[str, tuple[str, float] | None] = {
    "uniform": None,
    "zipf": ("s", 1.0),
    "normal": ("spread", 1 / 6),
    "dirichlet": ("alpha", 1.0),
}
"""Every kind of population with its one shape parameter and that parameter's default."""


def synthetic(kind: str, *, k: int, n: int, rng: Stream | None = None, **shape: float) -> Population:
    """A population of n people over k items, labelled "0" to "k-1", of one of four kinds.

    - `uniform`: the same number of people everywhere, up to one.
    - `zipf`: item i has weight `1 / (i + 1) ** s` (default `s=1.0`).
    - `normal`: a bell over the k items, centred in the middle, with a standard deviation of `spread * k`
      items (default `spread=1/6`) and what falls outside cut off.
    - `dirichlet`: weights drawn from the symmetric Dirichlet law with parameter `alpha` (default 1.0). The
      only kind that is random: it needs `rng`, for instance `deniable.simulation(7)`.

    The weights are turned into whole people by largest remainders (`apportion`), so the true frequencies are
    fixed and known.

    >>> synthetic("zipf", k=4, n=25).counts.tolist()
    [12, 6, 4, 3]
    """
    require(kind in KINDS, "kind", kind, f"one of {', '.join(KINDS)}")
    require(is_whole(k, 2), "k", k, "an integer >= 2", "For a yes/no question use k=2.")
    require(is_whole(n, 1), "n", n, "an integer >= 1", "It is the number of people.")
    value = _shape_value(kind, shape)
    weights = _dirichlet(k, value, rng) if kind == "dirichlet" else _FIXED[kind](k, value)
    grains = np.rint(weights / weights.max() * 2.0**53).astype(np.int64)
    labels = tuple(str(i) for i in range(k))
    name = kind if KINDS[kind] is None else f"{kind}:{value:g}"
    return Population(name, labels, apportion(grains.tolist(), n))


def apportion(weights: Sequence[int], n: int) -> IntArray:
    """Whole numbers that follow the weights and sum to n exactly: largest remainders, ties to the earlier.

    The arithmetic is exact for integers of any size.

    >>> apportion([1, 1, 1], 10).tolist()
    [4, 3, 3]
    """
    total = sum(weights)
    ok = total > 0 and min(weights) >= 0
    require(ok, "weights", list(weights), "non-negative integers with a positive sum")
    parts = [divmod(weight * n, total) for weight in weights]
    counts = np.array([whole for whole, _ in parts], dtype=np.int64)
    missing = n - sum(whole for whole, _ in parts)
    first = sorted(range(len(parts)), key=lambda i: -parts[i][1])[:missing]
    counts[first] += 1
    return counts


def _shape_value(kind: str, shape: dict[str, float]) -> float:
    """The value of the shape parameter of this kind; parameters of other kinds are refused."""
    known = KINDS[kind]
    allowed = "left out: uniform has no shape" if known is None else f"{known[0]!r}, the only shape of {kind}"
    odd = sorted(set(shape) - ({known[0]} if known else set()))
    require(not odd, "shape", odd, allowed)
    if known is None:
        return 0.0
    name, default = known
    value: object = shape.get(name, default)
    number = float(value) if isinstance(value, int | float | np.floating) else math.nan
    ok = 0 < number <= 1000 or (kind == "zipf" and number == 0)
    require(ok, name, value, "a number from 0 to 1000" if kind == "zipf" else "a number > 0, at most 1000")
    return number


def _normal(k: int, spread: float) -> FloatArray:
    """Mass of the bell on [i, i + 1); one half is computed and mirrored, so both are equal to the bit."""
    scale = spread * k * math.sqrt(2)
    edges = [math.erfc((k / 2 - i) / scale) for i in range((k + 1) // 2 + 1)]
    half = np.diff(edges)
    return np.concatenate([half, half[: k // 2][::-1]])


_FIXED: dict[str, Callable[[int, float], FloatArray]] = {
    "uniform": lambda k, _: np.ones(k),
    "zipf": lambda k, s: np.arange(1, k + 1, dtype=np.float64) ** -s,
    "normal": _normal,
}


def _dirichlet(k: int, alpha: float, rng: Stream | None) -> FloatArray:
    """Gamma variates by inversion, relative to the largest; logarithms keep a small alpha from underflow."""
    if rng is None:
        need = "a random stream, because the kind dirichlet is random"
        raise ParameterError(f"rng must be {need}, got None.", "Give one, such as deniable.simulation(7).")
    words = stream_of(rng).draw(64, k)
    u = ((words >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
    logs = np.log(-np.log(u)) if alpha == 1.0 else _log_gamma_quantile(alpha, u)
    weights: FloatArray = np.exp(logs - logs.max())
    return weights


def _log_gamma_quantile(alpha: float, u: FloatArray) -> FloatArray:
    """Logarithm of the quantile of the Gamma(alpha) law; below 1e-290 its leading term is exact in floats."""
    from scipy.special import gammaincinv, gammaln

    x = gammaincinv(alpha, u)
    tiny = (np.log(u) + gammaln(alpha + 1.0)) / alpha
    logs: FloatArray = np.where(x > 1e-290, np.log(np.maximum(x, 1e-290)), tiny)
    return logs
