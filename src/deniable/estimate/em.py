"""Maximum likelihood by EM: accelerated, never downhill, and stopped by a certificate.

`squarem` speeds up any fixed-point iteration on one simplex or several; `em_move` and `ems_move` are the iterations
for frequencies. Derivations: docs/maths/likelihood.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from deniable.core.types import FloatArray
from deniable.estimate.evidence import Evidence

__all__ = ["EMS_SLACK", "Climb", "ConvergenceWarning", "Move", "em_move", "ems_move", "smooth", "squarem", "uniform"]

SHRINK = 0.1
"""A jump leaves every component at least this share of what plain steps leave it, so that none is trapped at zero."""
_TRIES = 3
"""Jumps of falling length that are tried before plain steps are taken."""
EMS_SLACK = 3.0
"""Smoothed steps have no likelihood to keep: after a jump they may be up to e^3 times as long."""
_GROWTH = 4.0
"""How fast the longest allowed jump grows after a success and shrinks after a failure."""


class ConvergenceWarning(UserWarning):
    """An iteration ended before its stopping rule was met."""


@dataclass(frozen=True, slots=True, eq=False)
class Move:
    """One evaluation of an iteration: where it stands, where it goes, how good it is there and how far from the end."""

    at: FloatArray
    to: FloatArray
    merit: float
    """Never to fall, e.g. the log-likelihood."""
    gap: float
    """The stopping rule: small at the end, e.g. the certificate."""
    loglik: float


@dataclass(frozen=True, slots=True, eq=False)
class Climb:
    """Where an iteration ended, and how."""

    value: FloatArray
    gap: float
    met: bool
    """Whether the gap came down to the tolerance."""
    steps: int
    """Evaluations, each of them one pass over the reports."""
    path: FloatArray
    """Merits of the points that were accepted, in order."""
    gain: float
    """Log-likelihood above the start."""


def uniform(k: int) -> FloatArray:
    """Where iterations start: all values alike."""
    return np.full(k, 1 / k)


def em_move(evidence: Evidence) -> Callable[[FloatArray], Move]:
    """EM on the true likelihood: f_x <- f_x g_x. The gap bounds how far the log-likelihood is below its maximum.

    The log-likelihood is concave and has the gradient n g, so that no f' is better by more than
    n sum_x (f'_x - f_x) g_x = n (sum_x f'_x g_x - 1) <= n (max_x g_x - 1), in nats.
    """

    def move(f: FloatArray) -> Move:
        g, loglik = evidence.step(f)
        return Move(f, f * g, loglik, evidence.n * (float(g.max()) - 1), loglik)

    return move


def ems_move(evidence: Evidence) -> Callable[[FloatArray], Move]:
    """EM with a smoothing after every step, for values in an order [Li20]. The gap is the largest change of a step.

    What it ends at maximises nothing, so there is no certificate; merit is minus the logarithm of a step's length.
    """

    def move(f: FloatArray) -> Move:
        g, loglik = evidence.step(f)
        to = smooth(f * g)
        change = np.abs(to - f)
        return Move(f, to, -math.log(max(float(change.sum()), 1e-300)), float(change.max()), loglik)

    return move


def smooth(f: FloatArray) -> FloatArray:
    """The mean of every value and its neighbours with weights 1/4, 1/2, 1/4; what would leave at an end stays there.

    >>> smooth(np.array([1.0, 0.0, 0.0, 0.0])).tolist()
    [0.75, 0.25, 0.0, 0.0]
    """
    wide = np.concatenate([f[:1], f, f[-1:]])
    return np.asarray(wide[:-2] / 4 + f / 2 + wide[2:] / 4)


def squarem(
    move: Callable[[FloatArray], Move],
    start: FloatArray,
    *,
    tolerance: float,
    max_steps: int,
    slack: float = 0.0,
    blocks: Sequence[int] | None = None,
    progress: Callable[[int, float], None] | None = None,
) -> Climb:
    """Iterate to a gap of at most `tolerance`, jumping ahead where that does not lower the merit [Varadhan08].

    From two plain steps r and r + v a jump goes to at + 2 a r + a^2 v, a = |r|/|v|; it is taken only if its merit is
    at least that of the first plain step, less `slack` (none, where the merit must never fall). `blocks` are the sizes
    of the simplices that make up the parameter (one, if left out). `progress` hears the number of evaluations and the
    gap.
    """
    walk = _Walk(move, tolerance, max_steps, progress)
    sizes = [start.size] if blocks is None else list(blocks)
    here = walk.evaluate(start)
    first, path, limit = here.loglik, [here.merit], 1.0
    while not walk.over(here):
        one = walk.evaluate(here.to)
        path.append(one.merit)
        if walk.over(one):
            here = one
            break
        here, limit = _jump(walk, here, one, limit, slack, sizes)
        path.append(here.merit)
    met = here.gap <= tolerance
    return Climb(here.at, here.gap, met, walk.count, np.array(path), here.loglik - first)


@dataclass(slots=True, eq=False)
class _Walk:
    """Counts the evaluations of an iteration."""

    move: Callable[[FloatArray], Move]
    tolerance: float
    max_steps: int
    progress: Callable[[int, float], None] | None
    count: int = 0

    def evaluate(self, f: FloatArray) -> Move:
        found = self.move(f)
        self.count += 1
        if self.progress is not None:
            self.progress(self.count, found.gap)
        return found

    def over(self, found: Move) -> bool:
        return found.gap <= self.tolerance or self.count >= self.max_steps


def _jump(walk: _Walk, here: Move, one: Move, limit: float, slack: float, sizes: Sequence[int]) -> tuple[Move, float]:
    """The first jump that does not fall below the first plain step, else the second plain step; and the next limit."""
    r, v = one.at - here.at, one.to - one.at - (one.at - here.at)
    bend = float(np.linalg.norm(v))
    length = min(limit, max(1.0, float(np.linalg.norm(r)) / bend)) if bend > 0 else 1.0
    longer = limit * _GROWTH if length == limit else limit
    tried = length
    for _ in range(_TRIES):
        if tried <= 1 or walk.count >= walk.max_steps - 1:
            break
        target = np.maximum(here.at + 2 * tried * r + tried**2 * v, SHRINK * one.to)
        found = walk.evaluate(_normalised(target, sizes))
        if found.merit >= one.merit - slack:
            return found, longer
        tried = (1 + tried) / 2
    return walk.evaluate(one.to), longer if tried == length else max(1.0, limit / _GROWTH)


def _normalised(theta: FloatArray, sizes: Sequence[int]) -> FloatArray:
    """Every block divided by its sum."""
    ends = np.cumsum([0, *sizes])
    for first, last in pairwise(ends.tolist()):
        theta[first:last] /= theta[first:last].sum()
    return theta
