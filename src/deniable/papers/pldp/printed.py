"""What the PLDP paper prints and does not hold, Theorem 5.3, and what the authors' code does.

For comparison only: nothing outside the reproduction uses them.
"""

from __future__ import annotations

import numpy as np

from deniable.core.types import FloatArray, IntArray
from deniable.mechanisms.personal.laws import LevelLaw
from deniable.randomness import Simulation

__all__ = ["auem_as_coded", "emoa_as_coded", "theorem_53"]


_BOX = (1e-6, 1.0)


def theorem_53(law: LevelLaw, f: float, n: float) -> tuple[float, float, float, float]:
    """V1 to V4 as printed [PLDP Theorem 5.3]; the first two lack a factor 1/n^2."""
    keep, flip = law.channel[0, 0], law.channel[0, 1]
    rho, q, d = law.shares, law.of("q"), law.of("gap")
    told = flip + rho * (keep - flip)
    spread = told * (1 - told) / (n * (keep - flip) ** 2)
    a, gap = law.q + f * law.gap, law.gap
    bent = float(np.sum(spread * d**2)) / gap**4
    return (n * a * (1 - a) / gap**2, (n * a) ** 2 * bent, float(np.sum(spread * q**2)) / gap**2, law.q**2 * bent)


def auem_as_coded(
    law: LevelLaw, share: FloatArray, people: IntArray, level_epsilon: float, rng: Simulation
) -> FloatArray:
    """The authors' `UPRAPPOR`: levels told by SUE, shares clipped at 0 and divided by their sum, and so is the result.

    `people` by true level. The sum that the result is divided by can be near 0.
    """
    draw, n = rng.generator(), int(people.sum())
    p = 1 / (1 + np.exp(-level_epsilon / 2))
    ones = draw.binomial(people, p) + draw.binomial(n - people, 1 - p)
    told = np.maximum((ones / n - (1 - p)) / (2 * p - 1), 0)
    told = told / told.sum() if told.sum() > 0 else np.full(people.size, 1 / people.size)
    top, low = float(told @ law.of("p")), float(told @ law.of("q"))
    raw = (share - low) / (top - low)
    return np.asarray(raw / raw.sum())


def emoa_as_coded(law: LevelLaw, share: FloatArray) -> FloatArray:
    """Where the authors' EM ends: without weights of a posterior every level counts the same, whatever was reported.

    Bit by bit it tends to 1/2 - (1/2 - share) mean(d)/mean(d^2), d being p - q by level, within the box of their
    optimiser, from 10^-6 to 1; then all are divided by their sum. Reports of levels are never used.
    """
    d = law.of("gap")
    ends = 0.5 - (0.5 - share) * float(d.mean()) / float((d**2).mean())
    boxed = np.clip(ends, *_BOX)
    return np.asarray(boxed / boxed.sum())
