"""Simulations of schemes that the PLDP paper compares with, where they draw what its own reports do not have.

Reconstructions from its Appendix A.5; the estimators, with their reasons, are those of `mechanisms.personal.published`.
"""

from __future__ import annotations

import math

import numpy as np

from deniable.core.types import FloatArray, IntArray
from deniable.mechanisms.personal.laws import LevelLaw
from deniable.mechanisms.personal.published import ppda, response_is_better
from deniable.randomness import Simulation

__all__ = ["apldp", "ppda_drawn"]


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


def ppda_drawn(law: LevelLaw, share: FloatArray, people: IntArray, extra: int, rng: Simulation) -> FloatArray:
    """PPDA, whose `extra` bits of nobody are drawn here; `people` by true level."""
    draw = rng.generator()
    ones = sum(int(draw.binomial(int(n) * extra, q)) for n, q in zip(people, law.of("q"), strict=True))
    return ppda(share, ones / (int(people.sum()) * extra))
