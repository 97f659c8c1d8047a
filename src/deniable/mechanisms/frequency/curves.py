"""Families along their own parameter: all values at once, with what the closed forms are made of.

A curve has the exact numbers of the mechanism at each of its values, by the same laws (`core.laws`); a test holds both
equal.
"""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np

from deniable.core.frontier import best_subset_size, mixture_mse, mixture_success
from deniable.core.guess import covered_by_independent, uniform_success
from deniable.core.laws import balanced, epsilon_to, projective, wheel
from deniable.core.support import Support
from deniable.core.types import FloatArray, IntArray
from deniable.mechanisms.entry import Curve
from deniable.mechanisms.frequency.families import FAMILIES
from deniable_client.exact import EPSILON_MAX
from deniable_client.kernels.geometry import is_prime, points, rank_of
from deniable_client.packing import bits_width, uint_width

__all__ = [
    "balanced_curve",
    "hashing_curve",
    "interval_curve",
    "mixture_curve",
    "projective_curve",
    "subset_curve",
    "thresholded_curve",
    "unary_curve",
    "wheel_curve",
]

_MOST = 20_000
"""Whole-number parameters up to it are listed one by one; larger ones on a ladder whose steps are refined later."""
_GRID = 1024
"""Places of a real parameter."""
_LEAST_ARC = math.log(2.0**-26)
"""Shorter arcs are too few points of the ring of 2**32."""


_TABLED = 64
"""Factorials from here on are those of Stirling's series: what it leaves out is below 1e-15."""
_SMALL = np.array([math.lgamma(n + 1) for n in range(_TABLED + 1)])


_Laws = tuple[Support[Any], Any, Any]
"""Support probabilities; likelihood of a value that a report does not support, relative to one that it does; chance
that a report made without any value supports at least one item."""


def _whole(first: int, last: int) -> IntArray:
    """The whole numbers from `first` to `last`, or a ladder of them."""
    if last - first < _MOST:
        return np.arange(first, last + 1)
    ladder = np.unique(np.rint(np.geomspace(_MOST // 2, last, _MOST // 2)).astype(np.int64))
    return np.concatenate([np.arange(first, _MOST // 2), ladder[ladder >= _MOST // 2]])


def _odds_grid(low: float, high: float) -> FloatArray:
    """Probabilities x whose log-odds are evenly spaced."""
    return np.asarray(1 / (1 + np.exp(-np.linspace(low, high, _GRID))))


def _curve(option: str, values: Any, k: int, laws: _Laws, report: tuple[Any, Any], **own: Any) -> Curve:
    support, w, covered = laws
    asr = uniform_success(support, w, covered, k)
    return Curve(option, values, k, support.mse(k), asr, *report, SimpleNamespace(k=k, support=support, **own))


def subset_curve(epsilon: float, k: int, values: Any = None) -> Curve:
    """Subset selection by its size."""
    size = _whole(1, k - 1) if values is None else values
    report = _log2_comb(k, size), bits_width(k)
    return _curve("size", size, k, _laws("ass", epsilon, k, size), report, size=size)


def interval_curve(epsilon: float, k: int, values: Any = None) -> Curve:
    """Subset selection by permuted intervals, by its size."""
    size = _whole(1, k - 1) if values is None else values
    report = (64 + math.log2(k), 8 + uint_width(k))
    return _curve("size", size, k, _laws("ass", epsilon, k, size), report, size=size)


def _laws(family: str, epsilon: float, k: int, values: Any) -> _Laws:
    """Those of a family of `core.families`, by values of its parameter."""
    found = FAMILIES[family]
    return found.laws(k, epsilon, found.place(values.astype(np.float64)))


def mixture_curve(epsilon: float, k: int, values: Any = None) -> Curve:
    """Mixtures of neighbouring subset sizes, by size plus share; the frontier, from the size of least error on."""
    start = best_subset_size(k, epsilon)
    real = np.linspace(start, k, 4 * min(k - start, _MOST), endpoint=False) if values is None else values
    size = np.floor(real)
    share, (w, v) = real - size, epsilon_to(epsilon)
    mse = mixture_mse(w, v, k, size, share)
    one, more = (_log2_comb(k, s) for s in (size, size + 1))
    bits = np.where(share > 0, np.logaddexp2(one, more), one)
    own = SimpleNamespace(k=k, epsilon=epsilon, size=size, share=share)
    return Curve("share", real, k, mse, mixture_success(w, k, size, share), bits, bits_width(k), own)


def _log2_comb(k: int, size: Any) -> FloatArray:
    """Bits of a set of `size` of k items, for each size."""
    inside = np.asarray(size, np.float64)
    logs = _log_factorial(np.float64(k)) - _log_factorial(inside) - _log_factorial(k - inside)
    return np.asarray(logs / math.log(2))


def _log_factorial(n: Any) -> FloatArray:
    """ln n! for whole numbers: a table of the small ones, Stirling's series (exact to the last digits) beyond it."""
    large = np.maximum(n, _TABLED)
    series = 1 / (12 * large) - 1 / (360 * large**3) + 1 / (1260 * large**5)
    beyond = large * np.log(large) - large + 0.5 * np.log(2 * math.pi * large) + series
    small = _SMALL[np.minimum(n, _TABLED).astype(np.int64)]
    return np.asarray(np.where(n < _TABLED, small, beyond))


def unary_curve(epsilon: float, k: int, values: Any = None) -> Curve:
    """Unary encoding by p, from 1/2 (optimised) towards 1, where reports say ever less."""
    p = _odds_grid(0.0, 30.0) if values is None else values
    return _curve("p", p, k, _laws("aue", epsilon, k, p), (k, bits_width(k)), p=p)


def thresholded_curve(epsilon: float, k: int, values: Any = None) -> Curve:
    """Thresholded histograms by the threshold."""
    theta = np.linspace(0.0, 1.0, _GRID) if values is None else values
    return _curve("threshold", theta, k, _laws("athe", epsilon, k, theta), (k, bits_width(k)), theta=theta)


def hashing_curve(epsilon: float, k: int, values: Any = None) -> Curve:
    """Local hashing by its range, up to k or a few times e + 1, whichever is larger."""
    top = max(k, math.ceil(4 * (1 + math.exp(min(epsilon, EPSILON_MAX / 2)))))
    g = _whole(2, min(top, 1 << 31)) if values is None else values
    return _curve("g", g, k, _laws("alh", epsilon, k, g), _seeded(g), g=g)


def balanced_curve(epsilon: float, k: int, values: Any = None) -> Curve:
    """Balanced hashing by its number of blocks."""
    g = _whole(2, k) if values is None else values
    w, v = epsilon_to(epsilon)
    return _curve("g", g, k, (balanced(w, v, k, g), w, 1.0), _seeded(g), g=g)


def _seeded(g: IntArray) -> tuple[FloatArray, IntArray]:
    """Bits and bytes of a seed and a number below g."""
    ends = np.array([1 << 8, 1 << 16, 1 << 32])
    return np.asarray(64 + np.log2(g)), np.asarray(8 + np.array([1, 2, 4, 8])[np.searchsorted(ends, g)])


def wheel_curve(epsilon: float, k: int, values: Any = None) -> Curve:
    """The wheel by its arc, around 1/(e+1) on the scale of log-odds."""
    arc = _odds_grid(max(-epsilon - 8.0, _LEAST_ARC), 8.0) if values is None else values
    w, v = epsilon_to(epsilon)
    return _curve("arc", arc, k, (wheel(w, v, arc), w, covered_by_independent(k, arc)), (96, 12), arc=arc)


def projective_curve(epsilon: float, k: int, values: Any = None) -> Curve:
    """Projective-geometry response by its prime, as far as its points stay few."""
    last = int(min(max(64.0, 8 * (1 + math.exp(min(epsilon, 10.0)))), max(3, k), 2_000))
    prime = np.array([q for q in range(2, last + 1) if is_prime(q)]) if values is None else values
    w, v = epsilon_to(epsilon)
    rank = np.array([rank_of(k, q) for q in prime.tolist()])
    order = np.array([points(q, t) for q, t in zip(prime.tolist(), rank.tolist(), strict=True)])
    laws = [projective(w, v, q, t) for q, t in zip(prime.tolist(), rank.tolist(), strict=True)]
    fields = ("p", "q", "gap", "p_not", "q_not", "both_one", "both_none")
    support: Support[Any] = Support(*(np.array([getattr(law, name) for law in laws]) for name in fields))
    covered = np.where(rank == 2, k / order, 1.0)
    report = (np.log2(order), np.array([uint_width(t) for t in order.tolist()]))
    return _curve("prime", prime, k, (support, w, covered), report, prime=prime, rank=rank)
