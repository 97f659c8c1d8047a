"""What one report tells of the options that people tick, in closed form (docs/maths/several.md)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from deniable.core.laws import epsilon_to
from deniable.core.support import Support
from deniable.core.types import Target
from deniable.errors import is_whole, require
from deniable.mechanisms.survey.bounds import simple_bound
from deniable.mechanisms.survey.laws import most_information
from deniable_client.exact import WORD
from deniable_client.kernels.box import sets_up_to

__all__ = ["Weights", "best_design", "least_ticks", "ticked_law", "typical"]


def ticked_law(w: Any, v: Any, outputs: int, marks: int, size: int) -> Support[Any]:
    """How likely a set holds an output that is one of `marks` own ones, or one that is not (Z1).

    A function of w = e^-epsilon and v = 1 - w, as in `deniable.core.laws`. `both_one` is of two outputs one of which at
    least is an own one.
    """
    one = w * 0 + 1
    met, missed = math.comb(outputs, size) - math.comb(outputs - marks, size), math.comb(outputs - marks, size)
    scale = one * met + w * missed
    each, clear = math.comb(outputs - 1, size - 1), math.comb(outputs - 1 - marks, size - 1)
    both = math.comb(outputs - 2, size - 2) if size > 1 else 0
    apart = math.comb(outputs - 2 - marks, size - 2) if size > 1 and outputs - 2 - marks >= 0 else 0
    p_not = ((met - each) * one + w * missed) / scale
    q_not = ((met - each + clear) * one + w * (missed - clear)) / scale
    gap = v * clear / scale
    return Support(
        each / scale, (each * one - v * clear) / scale, gap, p_not, q_not, both / scale, (both - v * apart) / scale
    )


@lru_cache(maxsize=4096)
def typical(options: int, most: int) -> tuple[float, float]:
    """The share of people who tick an option, and two options, if all sets of at most so many are equally common."""
    sets = sets_up_to(options, most)
    two = sets_up_to(options - 2, most - 2) if most > 1 else 0
    return sets_up_to(options - 1, most - 1) / sets, two / sets


@dataclass(frozen=True, slots=True)
class Weights:
    """The unbiased estimate of the share of an option: linear in the shares of reports that hold its outputs (Z2).

    Where there is an output for an option that is not ticked, `level` of what both hold beyond its mean is taken off.
    """

    law: Support[float]
    options: int
    level: float = 0.0

    @classmethod
    def of(cls, law: Support[float], options: int, most: int, marks: int) -> Weights:
        """Those of least error where all sets of options are equally common."""
        if marks < options:
            return cls(law, options)
        share = typical(options, most)[0]
        return cls(law, options, options * (law.q + share * law.gap))

    def unbias(self, ticked: Any, rest: Any) -> Any:
        """Shares of people who tick an option, from the shares of reports that hold its outputs."""
        return (ticked - self.law.q - self.level * (ticked + rest - 1 / self.options)) / self.law.gap

    def variance(self, f: Any, target: Target) -> Any:
        """Variance from one report, of an option that this share of people ticks (Z3)."""
        law, level = self.law, self.level
        if not level:
            return law.variance(f, 1, target)
        second = ((1 - level) ** 2 * (law.q + f * law.gap) + level**2 * (law.q + (1 - f) * law.gap)) / law.gap**2
        off = (law.q - level / self.options) / law.gap
        if target == "population":
            return second - (f + off) ** 2
        return second - f * (1 + off) ** 2 - (1 - f) * off**2

    def cost(self, share: float) -> float:
        """Variance from one report, the drawing of people included."""
        return float(self.variance(np.float64(share), "population"))


@lru_cache(maxsize=4096)
def best_design(epsilon: float, options: int, most: int, marks: int | None, size: int | None) -> tuple[int, int]:
    """Marks and size of least error where all sets of options are equally common; those that are given stay."""
    each = sorted({most, options}) if marks is None else [marks]
    hint = f"{most}: dummies fill up what is ticked; {options}: reports are about one option each."
    require(set(each) <= {most, options}, "marks", marks, f"{most} or {options}", hint)
    fits = size is None or is_whole(size, 1, options)
    require(fits, "size", size, f"a whole number from 1 to {options}", "It is how many outputs a report holds.")
    share, best = typical(options, most)[0], (math.inf, 0, 0)
    for own in each:
        for held in range(1, 1 + (1 if own == options else options)):
            if (size is not None and held != size) or math.comb(options + own, held) > WORD:
                continue
            law = ticked_law(*epsilon_to(epsilon), options + own, own, held)
            best = min(best, (Weights.of(law, options, most, own).cost(share), own, held))
    need = "1 where there are as many marks as options, else such that there are at most 2**64 sets of so many outputs"
    require(best[1] > 0, "size", size, need)
    return best[1], best[2]


def least_ticks(epsilon: float, options: int, most: int) -> float:
    """No design has a smaller mean variance of options from one report, the drawing of people included (Z4)."""
    one, two = typical(options, most)
    sets = sets_up_to(options, most)
    apart, along = one - two, one * (1 - one) + (options - 1) * (two - one**2)
    told = min(most_information(sets, epsilon), simple_bound(epsilon))
    return ((options - 1) * math.sqrt(apart) + math.sqrt(max(along, 0.0))) ** 2 / (options * told)
