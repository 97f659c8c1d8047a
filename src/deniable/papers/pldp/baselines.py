"""The schemes that the PLDP paper compares with, as reconstructions from its Appendix A.5.

The articles they come from were not at hand, so details may differ. RCF and APLDP need levels that everyone sees; PBP
and PPDA send no level. Estimates are raw: nothing is clipped or projected.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from deniable.core.support import Support
from deniable.core.types import FloatArray, IntArray
from deniable.errors import require
from deniable.mechanisms.personal.laws import LevelLaw
from deniable.randomness import Simulation

__all__ = ["apldp_bases", "by_size", "pbp", "ppda", "rcf", "recycle"]


def rcf(law: LevelLaw, n: IntArray, support: IntArray) -> FloatArray:
    """Combination of the estimates of all true levels, by their variances of an item that nobody holds.

    Recycling (`recycle`) cannot add to it for one histogram: a report that is perturbed again tells less.
    """
    q, gap, held = law.of("q"), law.of("gap"), n > 0
    precision = np.where(held, n * gap**2 / (q * law.of("q_not")), 0.0)
    weights = precision / precision.sum()
    estimates = (support / np.maximum(n, 1)[:, None] - q[:, None]) / gap[:, None]
    return np.asarray(weights[held] @ estimates[held])


def by_size(law: LevelLaw, n: IntArray, support: IntArray) -> FloatArray:
    """Combination of the levels' estimates by how many people there are: unbiased even if levels depend on values."""
    held = n > 0
    estimates = (support / np.maximum(n, 1)[:, None] - law.of("q")[:, None]) / law.of("gap")[:, None]
    return np.asarray((n[held] / n.sum()) @ estimates[held])


def recycle(strong: Support[float], weak: Support[float]) -> tuple[float, float]:
    """Chances that a bit of a report of a weaker level is 1 afterwards, if it was 1 and if it was 0.

    Afterwards the report is one of the stronger level: q' = a q + b (1-q), and so for p.
    """
    zero = (strong.q * weak.p - strong.p * weak.q) / weak.gap
    one = zero + strong.gap / weak.gap
    require(0 <= zero <= one <= 1, "levels", (strong.gap, weak.gap), "of a stronger and a weaker protection")
    return one, zero


def apldp_bases(levels: Sequence[float], k: int) -> list[str]:
    """For each level the base with the least error of an item that nobody holds: grr or sue."""
    limit = [math.exp(1.5 * e) + math.exp(e) + math.exp(e / 2) + 2 for e in levels]
    return ["grr" if k < most else "sue" for most in limit]


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
