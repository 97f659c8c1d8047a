"""The schemes that the PLDP paper compares with, as reconstructions from its Appendix A.5.

The articles they come from were not at hand, so details may differ. RCF and APLDP need levels that everyone sees; PBP
and PPDA send no level. Estimates are raw: nothing is clipped or projected.
"""

from __future__ import annotations

import math

import numpy as np

from deniable.core.types import FloatArray, IntArray
from deniable.mechanisms.personal.laws import LevelLaw
from deniable.randomness import Simulation

__all__ = ["apldp", "pbp", "ppda", "rcf", "response_is_better"]


def rcf(law: LevelLaw, n: IntArray, support: IntArray) -> FloatArray:
    """Combination of the estimates of all true levels, by their variances of an item that nobody holds.

    Recycling reports of weak levels for strong ones adds nothing for one histogram: perturbed again, they tell less.
    """
    q, gap, held = law.of("q"), law.of("gap"), n > 0
    precision = np.where(held, n * gap**2 / (q * law.of("q_not")), 0.0)
    weights = precision / precision.sum()
    estimates = (support / np.maximum(n, 1)[:, None] - q[:, None]) / gap[:, None]
    return np.asarray(weights[held] @ estimates[held])


def response_is_better(k: int, level: float) -> bool:
    """Whether APLDP takes randomised response at this level, whose variance of an item that nobody holds is lower.

    >>> response_is_better(4, 0.1), response_is_better(12, 1.0)
    (True, False)
    """
    return k < math.exp(1.5 * level) + math.exp(level) + math.exp(0.5 * level) + 2


def apldp(law: LevelLaw, levels: FloatArray, held: IntArray, support: IntArray, rng: Simulation) -> FloatArray:
    """Randomised response or SUE at each level, whichever is better there; combined as RCF does.

    `held` and `support` have a row for each true level: who holds which value, and whom the SUE reports support. For
    levels that keep SUE it reads the same reports as RCF, and it is RCF where all of them do: so in the experiments,
    where the paper takes SUE ("uniformly", Sec. 7.1).
    """
    draw, k = rng.generator(), held.shape[1]
    total, weight = np.zeros(k), 0.0
    for level, people, ones, q, gap in zip(levels, held, support, law.of("q"), law.of("gap"), strict=True):
        n = int(people.sum())
        if n == 0:
            continue
        if response_is_better(k, float(level)):
            e = math.exp(level)
            q, gap = 1 / (e + k - 1), (e - 1) / (e + k - 1)
            chances = (np.ones((k, k)) + (e - 1) * np.eye(k)) / (e + k - 1)
            ones = draw.multinomial(people, chances).sum(axis=0)
        precision = n * gap**2 / (q * (1 - q))
        total, weight = total + precision * (ones / n - q) / gap, weight + precision
    return np.asarray(total / weight)


def pbp(law: LevelLaw, share: FloatArray, shares: FloatArray) -> FloatArray:
    """The estimate with shares of the levels that are public [PLDP Eq. 3]; `share` is that of supporting reports."""
    p, q = float(shares @ law.of("p")), float(shares @ law.of("q"))
    return np.asarray((share - q) / (p - q))


def ppda(law: LevelLaw, share: FloatArray, people: IntArray, extra: int, rng: Simulation) -> FloatArray:
    """SUE with `extra` bits of nobody appended, whose mean is q; `people` by true level. No level is sent."""
    draw = rng.generator()
    ones = sum(int(draw.binomial(int(n) * extra, q)) for n, q in zip(people, law.of("q"), strict=True))
    q = ones / (int(people.sum()) * extra)
    return np.asarray((share - q) / (1 - 2 * q))
