"""Discrete Laplace noise and the best guess from a noisy histogram."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from itertools import pairwise

import numpy as np

from deniable.core.types import FloatArray
from deniable.errors import ParameterError
from deniable_client.exact import WORD
from deniable_client.kernels import Laplace

__all__ = ["asr_laplace", "asr_laplace_prior", "check_reach", "step_law", "success_of", "variance_of"]

_PANELS, _NODES = 16, 64
_VALUES_MAX = 1 << 22
"""Values of a likelihood times a prior that are stepped through."""


@cache
def _gauss(nodes: int) -> tuple[FloatArray, FloatArray]:
    """Gauss-Legendre nodes on [-1, 1] and their weights; numpy finds them anew, as eigenvalues, at every call."""
    x, weight = np.polynomial.legendre.leggauss(nodes)
    return np.asarray(x), np.asarray(weight)


def asr_laplace(k: int, epsilon: float) -> float:
    """Success of the best guess from one-hot plus Laplace noise of scale 2/epsilon, uniform prior [AdaptiveLDP Eq. 31].

    (e^(-eps/2)/k) (1 + 2 Int_0^(eps/2) (1 - (1 - e^-v/2)^k) e^(2v) dv), all terms positive, by Gauss-Legendre panels.
    """
    x, weight = _gauss(_NODES)
    edges = np.linspace(0, epsilon / 2, _PANELS + 1)
    half = (edges[1] - edges[0]) / 2
    v = (edges[:-1, None] + half * (1 + x[None, :])).ravel()
    tail = -np.expm1(k * np.log1p(-np.exp(-v) / 2))
    integral = float(np.sum(np.tile(weight, _PANELS) * half * tail * np.exp(2 * v - epsilon / 2)))
    return (math.exp(-epsilon / 2) + 2 * integral) / k


def asr_laplace_prior(prior: FloatArray, epsilon: float) -> float:
    """The same under a prior: the mean of max_x prior_x W_x over blind reports, W = exp((eps/2) clip(2y-1, -1, 1)).

    That is the integral of 1 - prod_x Pr[W <= t/prior_x]. Pr[W <= s] is 0 below e^(-eps/2) and 1 from e^(eps/2) on,
    with a jump at both ends; panels end where a factor has a corner.
    """
    pi = prior[prior > 0]
    low, high = math.exp(-epsilon / 2), math.exp(epsilon / 2)
    corners = np.unique(np.concatenate([pi * low, pi, pi * high]))
    corners = corners[corners >= pi.max() * low]
    x, weight = _gauss(8)
    total = float(corners[0])
    for start, end in pairwise(corners.tolist()):
        half = (end - start) / 2
        t = start + half * (1 + x)
        log_all = np.log(np.maximum(_blind_law(t[:, None] / pi[None, :], epsilon), 1e-300)).sum(axis=1)
        total += float(np.sum(weight * half * -np.expm1(log_all)))
    return total


def _blind_law(s: FloatArray, epsilon: float) -> FloatArray:
    """Pr[W <= s] for a coordinate with noise only: ln s = (eps/2)(2y-1) inside, atoms at both ends."""
    y = (np.log(np.maximum(s, 1e-300)) * 2 / epsilon + 1) / 2
    inside = 1 - np.exp(-epsilon / 2 * np.clip(y, 0, 1)) / 2
    return np.where(y < 0, 0.0, np.where(y >= 1, 1.0, inside))


def success_of(kernel: Laplace, prior: FloatArray) -> float | None:
    """Success of the best guess from the steps that are sampled, under a prior; None where that is too much work.

    The mean of max_x prior_x W_x over blind reports, as in `asr_laplace_prior`; W, by what one coordinate tells, has
    2**grid + 1 values. Its law is stepped through from value to value.
    """
    likely, people = np.unique(prior[prior > 0], return_counts=True)
    if likely.size << kernel.grid > _VALUES_MAX:
        return None
    odds, above = _told(kernel)
    step = np.diff(np.log1p(-above), prepend=0.0)
    values, steps = np.outer(likely, odds).ravel(), np.outer(people, step).ravel()
    order = np.argsort(values, kind="stable")
    values, below = values[order], np.exp(np.cumsum(steps[order]))
    known = values >= likely[-1] * odds[0]  # below the best that silence about all can do, every report tells more
    return float(values[-1] - np.sum(np.where(known, below, 0.0)[:-1] * np.diff(values)))


def _told(kernel: Laplace) -> tuple[FloatArray, FloatArray]:
    """The likelihood ratios that a coordinate can have, rising, and the chance of larger ones for noise alone."""
    again, rest = kernel.again / WORD, np.ones(1)
    for threshold in kernel.digits:
        chance = threshold / WORD
        rest = np.concatenate([rest * (1 - chance), rest * chance])
    first = (1 - again) * rest[0]  # a size of 0; its negative is drawn again, which halves it
    odds = np.concatenate([[again], rest[:0:-1] / rest[1:], [1 / again]])
    law = np.concatenate([[1.0], (1 - again) * rest[1:], [again]]) / (2 - first)
    order = np.argsort(odds, kind="stable")
    return odds[order], np.append(np.cumsum(law[order][:0:-1])[::-1], 0.0)


def variance_of(kernel: Laplace) -> float:
    """Variance of the sampled noise, in squared units, from the moments of its independent coins.

    Its size g has E[g^2] by quotient and digits; a negative zero is drawn again, which divides by 1 - Pr[g = 0]/2.
    """
    unit = 1 << kernel.grid
    again = Fraction(kernel.again, WORD)
    digits = [(1 << i, Fraction(t, WORD)) for i, t in enumerate(kernel.digits)]
    mean = unit * again / (1 - again) + sum((d * c for d, c in digits), Fraction(0))
    spread = unit**2 * again / (1 - again) ** 2 + sum((d * d * c * (1 - c) for d, c in digits), Fraction(0))
    zero = (1 - again) * math.prod((1 - c for _, c in digits), start=Fraction(1))
    return float((spread + mean * mean) / (1 - zero / 2) / unit**2)


def check_reach(kernel: Laplace) -> None:
    """Refuse to estimate where noise is cut off so often that the mean of reports is not the truth (beyond 1e-12)."""
    units = (kernel.reach >> kernel.grid) - 1
    if units * math.log(WORD / kernel.again) < 28:
        raise ParameterError(
            f"reach must be many units to estimate frequencies, got {kernel.reach} steps, {units + 1} units.",
            "So small a reach is for enumerating the channel: what is cut off would bias the estimate.",
        )


def step_law(kernel: Laplace) -> tuple[tuple[dict[int, int], dict[int, int]], int]:
    """Exact law of a coordinate's steps given another value and given the own one: whole weights and their total."""
    laws = [_law_around(kernel, centre) for centre in (0, 1 << kernel.grid)]
    total = math.lcm(*(v.denominator for law in laws for v in law.values()))
    other, own = ({step: int(v * total) for step, v in law.items()} for law in laws)
    return (other, own), total


def _law_around(kernel: Laplace, centre: int) -> dict[int, Fraction]:
    """Law of `centre` plus noise, cut off at the reach; half of a size's mass on each side, no negative zero."""
    reach, kept = kernel.reach, 1 - _size(kernel, 0) / 2
    inside = {step: _size(kernel, abs(step - centre)) for step in range(1 - reach, reach)}
    ends = {-reach: _tail(kernel, reach + centre), reach: _tail(kernel, reach - centre)}
    return {step: mass / 2 / kept for step, mass in (inside | ends).items()}


def _size(kernel: Laplace, g: int) -> Fraction:
    """Pr[size = g] before negative zeros are drawn again."""
    quotient, rest = divmod(g, 1 << kernel.grid)
    again = Fraction(kernel.again, WORD)
    digits = (Fraction(t if rest >> i & 1 else WORD - t, WORD) for i, t in enumerate(kernel.digits))
    return (1 - again) * again**quotient * math.prod(digits, start=Fraction(1))


def _tail(kernel: Laplace, g: int) -> Fraction:
    """Pr[size >= g] before negative zeros are drawn again."""
    return 1 - sum((_size(kernel, i) for i in range(g)), Fraction(0))
