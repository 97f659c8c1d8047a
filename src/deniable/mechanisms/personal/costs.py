"""What reports at personal levels cost the server, and what forged ones can do (docs/planning.md).

The estimates divide by a p - q that is estimated too, so what a forged report adds is a derivative: of the estimate
that the design chooses, in the direction of the report, at targets that nobody has. Its level is forged as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from deniable.core.types import FloatArray
from deniable.mechanisms.frequency.costs import MOST, WORK
from deniable.mechanisms.personal.estimate import LevelCounts, UtilityLevelCounts, linear, linear_utility

__all__ = ["pull_levels", "work_levels"]

_PEOPLE, _FORGED = 1e12, 1e6
"""Honest and forged reports of a small step: few enough for a derivative, many enough for floats."""
_Cells = tuple[FloatArray, FloatArray, FloatArray]
"""Reports, support and disclosures by reported level."""


def work_levels(m: Any, n: float) -> float:
    """One counter for the level, one for what is disclosed, and the base's work."""
    base = m.bases[0]
    return 1.0 + float(base.k < m.k) + float(WORK[base.family](base, n))


def pull_levels(m: Any, r: int) -> float:
    """The largest derivative over reported levels, numbers of sensitive targets, and kinds of forged reports."""
    s = m.bases[0].k
    most = int(min(MOST[base.family](base) for base in m.bases))
    best = 0.0
    low, high = max(0, r - (m.k - s)), min(r, s - (s < m.k))  # some sensitive answer is left to be had
    for t in {low, high, min(max(most, low), high)}:
        targets = np.r_[0:t, s : s + r - t]
        honest = _expected(m, targets)
        before = _summed(m, honest, targets)
        for forged in _forgeries(m, t, r, most):
            after = _summed(m, tuple(a + _FORGED * b for a, b in zip(honest, forged, strict=True)), targets)
            best = max(best, (after - before) * _PEOPLE / _FORGED)
    return best


def _frequencies(m: Any, targets: FloatArray) -> FloatArray:
    """Nobody has a target; sensitive and harmless answers in the expected shares, where both are left."""
    s = m.bases[0].k
    f = np.ones(m.k)
    f[targets] = 0.0
    theta = (m.theta or 0.0) if s < m.k else 0.0
    for part, share in ((slice(0, s), 1 - theta), (slice(s, m.k), theta)):
        f[part] *= share / max(1.0, float(f[part].sum()))
    return np.asarray(f / f.sum())


def _expected(m: Any, targets: FloatArray) -> _Cells:
    """The expected cells of honest people, level by level."""
    s, law = m.bases[0].k, m.level_law
    f = _frequencies(m, targets)
    z = m.law.z if s < m.k else np.zeros(len(m.levels))
    blind = m.law.r if s < m.k else np.zeros(len(m.levels))
    people = _PEOPLE * law.shares[:, None] * law.channel
    p, q = law.of("p")[:, None], law.of("q")[:, None]
    theta = float(f[s:].sum())
    support = q * (1 - theta) + (p - q) * f[:s] + theta * blind[:, None]
    return people.sum(axis=0), people.T @ support, people.T @ (z[:, None] * f[s:])


def _forgeries(m: Any, t: int, r: int, most: int) -> Iterator[_Cells]:
    """One report each, at every level that can be reported: with or without support, or a disclosed target."""
    s, strata = m.bases[0].k, m.level_law.channel.shape[1]
    held = {0, min(t, most)} if most > 1 or t == 0 else {1}
    for level in range(strata):
        one = np.eye(strata)[level]
        for count in held:
            row = np.zeros(s)
            row[:count] = 1.0
            if most == 1 and count == 0:
                row[-1] = 1.0  # every report of such a base supports some answer
            yield one, np.outer(one, row), np.zeros((strata, m.k - s))
        if t < r:
            yield one, np.zeros((strata, s)), np.outer(one, np.eye(m.k - s)[0])


def _summed(m: Any, cells: Any, targets: FloatArray) -> float:
    """The summed estimates of the targets, by the linear estimator that the design chooses."""
    n, support, disclosed = cells
    s = m.bases[0].k
    counts = LevelCounts(n, support, m.level_law, m.base)
    if s == m.k:
        return float(linear(counts, "auto")[0].value[targets].sum())
    items = np.arange(s), np.arange(s, m.k)
    whole = UtilityLevelCounts(counts, disclosed, m.law, items)
    return float(linear_utility(whole, "auto")[0].value[targets].sum())
