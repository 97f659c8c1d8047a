"""What the PLDP paper prints, where it does not hold: Theorem 5.3 and Algorithm 1. For comparison only."""

from __future__ import annotations

import numpy as np

from deniable.core.types import FloatArray
from deniable.mechanisms.personal.laws import LevelLaw

__all__ = ["emoa", "theorem_53"]


def theorem_53(law: LevelLaw, f: float, n: float) -> tuple[float, float, float, float]:
    """V1 to V4 as printed [PLDP Theorem 5.3]; the first two lack a factor 1/n^2."""
    keep, flip = law.channel[0, 0], law.channel[0, 1]
    rho, q, d = law.shares, law.of("q"), law.of("gap")
    told = flip + rho * (keep - flip)
    spread = told * (1 - told) / (n * (keep - flip) ** 2)
    a, gap = law.q + f * law.gap, law.gap
    bent = float(np.sum(spread * d**2)) / gap**4
    return (n * a * (1 - a) / gap**2, (n * a) ** 2 * bent, float(np.sum(spread * q**2)) / gap**2, law.q**2 * bent)


def emoa(sets: FloatArray, law: LevelLaw, f: FloatArray, rho: FloatArray, steps: int = 10) -> FloatArray:
    """Algorithm 1 with Eq. 15 as printed: likelihood times level posterior, without the frequencies.

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
