"""The least error in the worst case: of the channel and the estimate that are best against every population.

With a fixed channel and fixed scores the reporters' error is linear in their frequencies f. So the least worst case is
the maximum over f of the least error at f, which is concave: it is looked for by cuts, and both sides are certified.
Proof: docs/maths/optimal.md, section 6.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.core.types import FloatArray
from deniable.errors import DeniableError
from deniable.mechanisms.optimal.certificate import least_of
from deniable.mechanisms.optimal.estimation import Found, best
from deniable.mechanisms.optimal.extremes import Extremes
from deniable.mechanisms.optimal.goal import Goal, Worth

__all__ = ["Minimax", "minimax"]

LEAST_SHARE = 1e-7
"""Share of the rarest value of a population that is looked at."""
_SOLVES = 80
_NEAR = 1e-9
"""Relative distance of both sides at which the search ends."""
_SAME = 1e-13
"""Populations nearer than this to each other are one."""
_LEVEL = 0.6
"""Where between both sides the next population is looked for."""

Progress = Callable[[str, float], None]


@dataclass(frozen=True, slots=True, eq=False)
class Minimax:
    """The best channel in the worst case."""

    tops: FloatArray
    """Weights of the largest entry of every extreme output."""
    worth: Worth
    """Of that channel, with the scores that are best at the least favourable frequencies."""
    lower: float
    """The certified least worst-case error of any channel."""
    upper: float
    """That of a coin among the designs that were found."""
    solves: int

    @property
    def error(self) -> float:
        """In the worst case."""
        return float(self.worth.errors.max())


def minimax(every: Extremes, goal: Goal, progress: Progress | None = None) -> Minimax:
    """The channel of least worst-case error; `goal.prior` is where the search begins."""
    centre = home = _inner(goal.prior)
    points: list[Found] = []
    lower, upper, coin = 0.0, np.inf, np.ones(1)
    while len(points) < _SOLVES:
        points.append(best(every, goal.at(centre)))
        if points[-1].least >= lower:
            lower, home = points[-1].least, centre
        cuts = np.array([found.worth.errors for found in points])
        upper, coin = _mixture(cuts)
        if progress is not None:
            progress("least favourable frequencies", (upper - lower) / upper)
        ahead = _projected(home, cuts, lower + _LEVEL * (upper - lower))
        if upper - lower <= _NEAR * upper or ahead is None or np.abs(ahead - centre).max() < _SAME:
            break
        centre = ahead
    mixed = np.asarray(sum(share * _tops(found) for share, found in zip(coin, points, strict=True)))
    ends = _saddles(every, goal, mixed, points, coin)
    single = [best(every, worth.goal) for worth in ends]
    tries = [(mixed, worth) for worth in ends] + [(_tops(found), found.worth) for found in single]
    tops, worth = min(tries, key=lambda each: _open(every, each[1]))
    return Minimax(tops, worth, lower, upper, len(points) + len(single))


def _inner(f: FloatArray) -> FloatArray:
    """Frequencies that are not below the least share that is looked at."""
    raised = np.maximum(f, LEAST_SHARE)
    return np.asarray(raised / raised.sum())


def _tops(found: Found) -> FloatArray:
    return np.asarray(found.chance / (found.every.rays @ found.worth.goal.prior))


def _mixture(cuts: FloatArray) -> tuple[float, FloatArray]:
    """The coin among designs whose worst value is least, and its error; checked here, whatever the solver says."""
    n, k = cuts.shape
    unit = float(cuts.max())
    rows = np.column_stack([cuts.T / unit, -np.ones(k)])
    whole = np.append(np.ones(n), 0.0)[None], np.ones(1)
    found = least_of(np.eye(n + 1)[n], equal=whole, below=(rows, np.zeros(k)))
    if found is None:
        raise DeniableError(
            "the least favourable frequencies were not found.", "Use a prior instead of the worst case."
        )
    coin = np.maximum(found[:n], 0.0)
    coin /= coin.sum()
    return float((coin @ cuts).max()), coin


def _projected(home: FloatArray, cuts: FloatArray, level: float) -> FloatArray | None:
    """The nearest frequencies to `home` at which no cut is below a level; None if there are none.

    Least distance by non-negative least squares: minimise |z| with Gz >= h, in the plane of sum 1.
    """
    from scipy.optimize import nnls

    k = home.size
    plane = np.linalg.svd(np.ones((1, k)))[2][1:].T
    unit = float(cuts.max())
    rows = np.concatenate([cuts / unit, np.eye(k)]) @ plane
    need = np.concatenate([(level - cuts @ home) / unit, LEAST_SHARE - home])
    if need.max() <= 0:
        return home
    found, left = nnls(np.concatenate([rows.T, need[None]]), np.eye(k)[k - 1], maxiter=50 * len(rows))
    residual = np.concatenate([rows.T, need[None]]) @ found - np.eye(k)[k - 1]
    if left < 1e-10 or residual[-1] >= 0:
        return None
    return _inner(home + plane @ (-residual[:-1] / residual[-1]))


def _saddles(every: Extremes, goal: Goal, tops: FloatArray, points: Sequence[Found], coin: FloatArray) -> list[Worth]:
    """The channel of these weights, with scores of (nearly) the least worst-case error.

    For a fixed channel the least error over scores is concave in the frequencies too, and smooth.
    """
    from scipy.optimize import minimize

    used = tops > 0
    matrix = (every.rays[used] * tops[used, None]).T
    starts = [np.asarray(sum(c * p.worth.goal.prior for c, p in zip(coin, points, strict=True)))]
    starts.append(max(points, key=lambda found: found.least).worth.goal.prior)
    unit = Worth(goal.at(_inner(starts[0])), matrix).error

    def loss(f: FloatArray) -> tuple[float, FloatArray]:
        worth = Worth(goal.at(f / f.sum()), matrix)
        slope = worth.errors - worth.error
        return -worth.error / unit, np.asarray(-slope / unit)

    limits = [(LEAST_SHARE, 1.0)] * goal.prior.size
    rule: Any = {"type": "eq", "fun": lambda f: f.sum() - 1, "jac": lambda f: np.ones_like(f)}
    tries = []
    for start in starts:
        options: Any = {"ftol": 1e-16, "maxiter": 300}
        end = minimize(
            loss, _inner(start), jac=True, bounds=limits, constraints=[rule], method="SLSQP", options=options
        )
        tries += [Worth(goal.at(_inner(f)), matrix) for f in (start, np.clip(end.x, 0, 1))]
    return tries


def _open(every: Extremes, worth: Worth) -> float:
    """How far the worst case of a channel may be above the least one, by its own certificate."""
    proof = worth.certificate(every)
    return float(worth.errors.max()) - worth.error + (proof.spread - proof.least)
