"""What ULDP reports cost the server, and what forged ones can do (docs/planning.md).

A forged report is any that a device could have sent: a report that discloses nothing and supports sensitive targets as
far as the base allows, or one that discloses a harmless target. The r targets are those that suit the forger best, so
how many of them are sensitive is his choice too. What a report adds is linear in that number but for the place where
the base cannot support more, so the best number is there or at an end; or one less than all, as a report that discloses
a target may support sensitive ones beside it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from deniable.mechanisms.frequency.costs import MOST, WORK
from deniable_client.packing import bits_width

__all__ = ["pull_budgets", "pull_mixture", "pull_utility", "work_bits", "work_utility"]


def work_utility(m: Any, n: float) -> float:
    """One look at what is disclosed, and the base's work on the sensitive answers."""
    return work_bits(m, n) if m.base is None else 1.0 + float(WORK[m.base.family](m.base, n))


def work_bits(m: Any, n: float) -> float:
    """One look at what is disclosed, and one at each byte of the bits of the sensitive answers."""
    return 1.0 + bits_width(m.s)


def _best(m: Any, r: int, gain: Callable[[int], float], *turns: int) -> float:
    """The largest gain over the numbers of sensitive targets that can be the best: the ends and the turns between."""
    low, high = max(0, r - (m.k - m.s)), min(r, m.s)
    return max(gain(t) for t in {low, high, *(min(max(turn, low), high) for turn in turns)})


def pull_utility(m: Any, r: int) -> float:
    """By support of sensitive targets, or 1/z for a harmless one, with `credit` for what is disclosed."""
    if m.family == "ussmix":
        return pull_mixture(m, r)
    law, base = m.law, m.base
    noise = base is not None and base.family == "she"
    most = m.s if base is None or noise else int(MOST[base.family](base))
    unit = base.reach / 2.0**base.grid if noise else 1.0
    beside = not m.refusal and bool(m.bulk.kernel.attach) and not noise

    def gain(t: int) -> float:
        held, b = unit * min(t, most), law.base
        hidden = (held - t * b.q) / b.gap
        told = 1 / law.z + (t * (law.credit - b.q) + beside * held) / b.gap if t < r else 0.0
        return float(max(hidden, told))

    return _best(m, r, gain, most, r - 1)


def pull_budgets(m: Any, r: int) -> float:
    """The bits of the t sensitive targets whose budgets leave most room; what is disclosed adds nothing to them."""
    law = m.law
    each = np.cumsum(np.sort((1 - law.base.q) / law.base.gap)[::-1])
    return _best(m, r, lambda t: float(max(each[t - 1] if t else 0.0, 1 / law.z if t < r else 0.0)))


def pull_mixture(m: Any, r: int) -> float:
    """A set of either size, or a disclosed target, each weighted as the estimator weighs it (`MixtureLaw`)."""
    law = m.law
    sizes = law.sizes if m.share else law.sizes[:1]

    def gain(t: int) -> float:
        found = [law.base[2] * t + law.side[2] * (r - t) + (1 / law.z if t < r else 0.0)]
        for slope, base, side, size in zip(law.slope, law.base, law.side, sizes, strict=False):
            found.append(slope * (min(t, size) - t * size / law.s) + t * base + (r - t) * side)
        return float(max(found))

    return _best(m, r, gain, *sizes)
