"""The schemes that the PLDP paper compares with, as reconstructions from its Appendix A.5.

The articles they come from were not at hand, so details may differ. RCF and APLDP need levels that everyone sees; PBP
and PPDA send no level. Estimates are raw: nothing is clipped or projected.
"""

from __future__ import annotations

import numpy as np

from deniable.core.types import FloatArray, IntArray
from deniable.mechanisms.personal.laws import LevelLaw
from deniable.randomness import Simulation

__all__ = ["pbp", "ppda", "rcf"]


def rcf(law: LevelLaw, n: IntArray, support: IntArray) -> FloatArray:
    """Combination of the estimates of all true levels, by their variances of an item that nobody holds.

    Recycling reports of weak levels for strong ones adds nothing for one histogram: perturbed again, they tell less.
    """
    q, gap, held = law.of("q"), law.of("gap"), n > 0
    precision = np.where(held, n * gap**2 / (q * law.of("q_not")), 0.0)
    weights = precision / precision.sum()
    estimates = (support / np.maximum(n, 1)[:, None] - q[:, None]) / gap[:, None]
    return np.asarray(weights[held] @ estimates[held])


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
