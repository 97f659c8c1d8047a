"""Exact intervals for frequencies from counts: all frequencies whose own law of the count does not reject it.

A count of supporting reports is binomial for a population, and a sum of two binomials for reporters whose number of
holders is given. A count is as unlikely as the rarer of its two tails, together with what is no likelier of the other
tail [Blaker00]: such intervals cover at least with their level, and hardly more than whole numbers make them.
Mathematics: docs/maths/intervals.md, section 3.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from deniable.core.types import FloatArray, IntArray, Target

__all__ = ["exact_end", "unlikeliness"]

_STEPS = 40
"""Frequencies that are tried beyond an end, before the last one that is not rejected."""
_TAIL = 1e-12
"""Tails that are this near to each other count as equal: rounding must not decide."""


@lru_cache(maxsize=1 << 14)
def exact_end(
    count: int, n: int, p: float, q: float, gap: float, alpha: float, target: Target, start: float, reach: float
) -> float:
    """The end of the interval on the side of `reach`: the last frequency from `start` on that is not rejected.

    Between `start` and `start` + `reach`, within [0, 1]; `start` itself where all beyond it are rejected.
    """
    stop = min(max(start + reach, 0.0), 1.0)
    if (stop - start) * reach <= 0:
        return start
    tried = np.linspace(start, stop, _STEPS + 1)
    if target == "reporters":  # only whole people
        whole = np.rint(tried * n)
        tried = np.unique(whole[(whole >= 0) & (whole <= n)]) / n
        tried = tried[(tried - start) * reach > 0]
        tried = tried if reach > 0 else tried[::-1]
    else:
        tried = tried[(tried >= 0) & (tried <= 1)]
    kept = [f for f in tried.tolist() if unlikeliness(count, *_law(f, n, p, q, gap, target)) > alpha]
    if not kept:
        return start
    step = reach / _STEPS if target == "population" or abs(reach) * n > _STEPS else 0.0
    return float(min(max(kept[-1] + step, 0.0), 1.0))


def unlikeliness(count: int, first: int, law: FloatArray) -> float:
    """Probability of what is no likelier than `count`, by tails; `law` are the chances of `first`, `first` + 1, ..."""
    at = count - first
    if not 0 <= at < law.size:
        return 0.0
    below, above = np.cumsum(law), np.cumsum(law[::-1])[::-1]
    own, other = (below[at], above) if below[at] < above[at] else (above[at], below)
    return float(own + other[other <= own * (1 + _TAIL)].max(initial=0.0))


def _law(f: float, n: int, p: float, q: float, gap: float, target: Target) -> tuple[int, FloatArray]:
    """The law of the count at frequency f: the least number with a noticeable chance, and the chances from it on."""
    if target == "population":
        return _binomial(n, min(max(q + f * gap, 0.0), 1.0))
    holders = round(f * n)
    one, two = _binomial(holders, p), _binomial(n - holders, q)
    return one[0] + two[0], np.convolve(one[1], two[1])


def _binomial(n: int, p: float) -> tuple[int, FloatArray]:
    """Binomial chances from the least number on that matters, by their ratios."""
    if n == 0 or p <= 0 or p >= 1:
        return (n if p >= 1 else 0), np.ones(1)
    mean, far = n * p, 12 * np.sqrt(n * p * (1 - p)) + 40
    first, last = max(0, int(mean - far)), min(n, int(mean + far) + 1)
    numbers: IntArray = np.arange(first, last)
    steps = np.log((n - numbers) / (numbers + 1)) + np.log(p / (1 - p))
    logs = np.concatenate([[0.0], np.cumsum(steps)])
    law = np.exp(logs - logs.max())
    return first, np.asarray(law / law.sum())
