"""Estimators that papers on personal levels name, as they print or describe them; none is what this library advises.

PBP, RCF, APLDP and PPDA are reconstructions from PLDP Appendix A.5: the articles they come from were not at hand, so
details may differ. RCF and APLDP need levels that everyone sees; PBP and PPDA send no level. Nothing is clipped or
projected. EMOA is PLDP's own Algorithm 1. Who reports what is in `schemes`.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from deniable.core.support import Support, check_target
from deniable.core.types import FloatArray, IntArray, Target
from deniable.mechanisms.personal.laws import LevelLaw

__all__ = ["emoa", "pbp", "ppda", "ppda_covariance", "precision", "rcf", "response_is_better"]


def precision(n: IntArray | FloatArray, support: Support[FloatArray]) -> FloatArray:
    """One over the variance of an item that nobody holds, estimated by n reports: the weights of RCF and APLDP."""
    return np.asarray(np.where(n > 0, n * support.gap**2 / (support.q * support.q_not), 0.0))


def rcf(law: LevelLaw, n: IntArray, support: IntArray) -> FloatArray:
    """Combination of the estimates of all true levels, by their variances of an item that nobody holds.

    Recycling reports of weak levels for strong ones adds nothing for one histogram: perturbed again, they tell less.
    """
    each = Support(*(law.of(name) for name in ("p", "q", "gap", "p_not", "q_not", "both_one", "both_none")))
    weights, held = precision(n, each), n > 0
    estimates = (support / np.maximum(n, 1)[:, None] - each.q[:, None]) / each.gap[:, None]
    return np.asarray((weights / weights.sum())[held] @ estimates[held])


def response_is_better(k: int, level: float) -> bool:
    """Whether APLDP takes randomised response at this level, whose variance of an item that nobody holds is lower.

    >>> response_is_better(4, 0.1), response_is_better(12, 1.0)
    (True, False)
    """
    return k < math.exp(1.5 * level) + math.exp(level) + math.exp(0.5 * level) + 2


def pbp(law: LevelLaw, share: FloatArray, shares: FloatArray) -> FloatArray:
    """The estimate with shares of the levels that are public [PLDP Eq. 3]; `share` is that of supporting reports."""
    return np.asarray(replace(law, shares=shares).mixed().unbias(share))


def ppda(share: FloatArray, q: float) -> FloatArray:
    """The estimate of SUE whose q is the mean of bits that nobody holds; no level is sent."""
    return np.asarray((share - q) / (1 - 2 * q))


def ppda_covariance(law: LevelLaw, f: FloatArray, n: float, extra: int, target: Target) -> FloatArray:
    """First-order covariance of `ppda` with `extra` bits of nobody; levels drawn.

    Given the level and the value, bits are independent; the mean of a report's bits of nobody, times 1 - 2f, is taken
    off. What is left given both is (1 - f) d_i for the own value and -f d_i for others, d_i = p_i - q_i.
    """
    check_target(target)
    own = float(law.shares @ (law.of("gap") - law.gap) ** 2) + (law.gap**2 if target == "population" else 0.0)
    noise = float(law.shares @ (law.of("q") * law.of("q_not"))) / extra
    bits = np.diag([law.bits(float(x)) for x in f])
    joint = bits + np.outer(1 - 2 * f, 1 - 2 * f) * noise + own * (np.diag(f) - np.outer(f, f))
    return np.asarray(joint / (n * law.gap**2))


def emoa(sets: FloatArray, law: LevelLaw, f: FloatArray, rho: FloatArray, steps: int = 10) -> FloatArray:
    """PLDP Algorithm 1 with Eq. 15 as printed: likelihood times level posterior, without the frequencies.

    `sets` has a row per report, 1 where an item is supported. The output need not sum to 1, and hardly depends on the
    reports: it is not an EM step, and more steps make it no better.
    """
    p, q = law.of("p"), law.of("q")
    frequencies, shares = f.copy(), rho.copy()
    for _ in range(steps):
        inside = sets @ frequencies
        outside = float(frequencies.sum()) - inside
        # the posterior of level i is shares[i] (inside p[i] + outside q[i])/mass; own and other are means of p and q
        mass = inside * (shares @ p) + outside * (shares @ q)
        inside, outside = inside / mass, outside / mass
        own = inside * (shares @ p**2) + outside * (shares @ (p * q))
        other = inside * (shares @ (p * q)) + outside * (shares @ q**2)
        new = (sets.T @ (own - other) + other.sum()) / len(sets)
        change = float(np.abs(new - frequencies).max())
        frequencies, shares = new, shares * (p * inside.mean() + q * outside.mean())
        if change < 1e-9:
            break
    return np.asarray(frequencies)
