"""Vectors: one budget divided over the coordinates of each person, exactly, or spent on few of them.

Coordinate j gets eps_j with sum at most epsilon (sequential composition). At a small budget errors are concave in
it, so that dividing evenly is the worst choice: k coordinates at epsilon/k and the middle of the range for the others
lose less [BRR]. Which coordinates is drawn anew for each person, without looking at the data.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from deniable.core.types import FloatArray, IntArray
from deniable.errors import is_whole, require
from deniable.kernels.parallel import blocks
from deniable.kernels.sampling import below
from deniable.learn.estimator import Learner, inside, matrix_of, span_of
from deniable.learn.ledger import Ledger, float_below, shares_of
from deniable.learn.release import KINDS, NEAR, Release
from deniable.randomness import Stream
from deniable_client.exact import check_epsilon

__all__ = [
    "NothingReleased",
    "VectorRelease",
    "best_coordinates",
    "coordinates_for_means",
    "coordinates_of",
    "few_loss",
    "sample_coordinates",
]

_UNBIASED_EACH = 2.5
"""Budget from which a further coordinate pays, for means."""
_TOGETHER = 1 << 22
"""Coordinates that are drawn from together."""
_LEAST = 1e-6
"""Budgets per coordinate below this say nothing; so small a share is refused."""


def few_loss(width: int, count: int, epsilon: float, loss: Callable[[float], float]) -> float:
    """Mean loss per coordinate, as a share of the range: `count` of them at epsilon/count, the middle for the rest."""
    spent = count * loss(epsilon / count) if count else 0.0
    return (spent + (width - count) / 4) / width


def best_coordinates(width: int, epsilon: float, loss: Callable[[float], float]) -> int:
    """The number of coordinates, 0 to width, with the least `few_loss`.

    >>> from deniable.mechanisms.metric.bipartite import fine_limit
    >>> best_coordinates(14, 3.5, fine_limit), best_coordinates(14, 0.25, fine_limit)
    (1, 0)
    """
    return min(range(width + 1), key=lambda count: few_loss(width, count, epsilon, loss))


def coordinates_for_means(width: int, epsilon: float) -> int:
    """The number of coordinates with which means are estimated best by the piecewise mechanism [Wang19]."""
    return max(1, min(width, int(epsilon / _UNBIASED_EACH)))


def coordinates_of(given: object, width: int, kind: str, epsilon: float) -> int:
    """How many coordinates a person releases: all, a number, or the best number for the kind."""
    if given == "all":
        return width
    if given == "best" and kind not in NEAR:
        return coordinates_for_means(width, epsilon)
    if given == "best":
        return best_coordinates(width, epsilon, lambda each: Release(kind, each).loss)
    require(is_whole(given, 1, width), "coordinates", given, f'"all", "best" or a number from 1 to {width}')
    return int(given)  # type: ignore[call-overload, no-any-return]


def sample_coordinates(people: int, width: int, count: int, rng: Stream) -> IntArray:
    """`count` different coordinates for each person, in rising order, uniformly."""
    if count == width:
        return np.broadcast_to(np.arange(width), (people, width)).copy()
    if count == 1:
        return below(rng, width, people)[:, None]
    out = np.empty((people, count), np.int64)
    for part in blocks(people, max(1, _TOGETHER // width)):
        words = rng.draw(64, (part.stop - part.start) * width).reshape(-1, width)
        out[part] = np.argpartition(words, count, axis=1)[:, :count]
    return np.sort(out, axis=1)


class NothingReleased(UserWarning):
    """Nothing is released, because any report would be worse than the middle of the range."""


@dataclass(eq=False, kw_only=True)
class VectorRelease(Learner):
    """Rows of numbers, each row released with `epsilon` in all: a transformer that learns nothing from the data.

    `kind`: `codebook` (least mean error), `brr`, `alg4` (BRR's Algorithm 4 as published), Laplace noise that stays
    inside (`truncated`, `clamped`), or for means `pm` and `duchi`. `coordinates`: `all` (budgets in proportion to
    public `weights`, such as importances of the columns found on public data; evenly without), a number, or `best`: so
    many drawn for each row, evenly, and the middle of the range for the others. `low`, `high`: public bounds of the
    columns. Every call of `transform` spends epsilon on the rows that it is given: release a row once and keep the
    answer.
    """

    epsilon: float = 1.0
    kind: str = "codebook"
    coordinates: Any = "all"
    weights: Any = None
    low: Any = 0.0
    high: Any = 1.0
    points: int | None = None
    clip: bool = False

    def fit(self, X: object, y: object = None) -> VectorRelease:
        """Divide the budget; of the data only the number of columns is looked at."""
        check_epsilon(self.epsilon, sampling=True)
        require(self.kind in KINDS, "kind", self.kind, f"one of {', '.join(KINDS)}")
        width = matrix_of(X).shape[1]
        span_of(self.low, self.high, width)
        require(self.weights is None or self.coordinates == "all", "weights", self.weights, 'given with "all" only')
        self.n_features_in_ = width
        self.count_ = coordinates_of(self.coordinates, width, self.kind, self.epsilon)
        if self.count_ == 0:
            warnings.warn(
                f"nothing is released: at epsilon = {self.epsilon:g} the middle of the range is better than any "
                "report. Spend more, or give the number of coordinates.",
                NothingReleased,
                stacklevel=2,
            )
        self.simulated_ = self.seed is not None
        self.budgets_ = self._budgets(width)
        self.ledger_ = Ledger(float(self.epsilon))
        for j, budget in enumerate(self.budgets_):
            what = f"column {j}" if self.count_ == width else f"coordinate {j + 1} of {self.count_} drawn for each row"
            self.ledger_.add(what, budget)
        return self

    def transform(self, X: object) -> FloatArray:
        """The released rows."""
        rows = self._matrix(X)
        low, high = span_of(self.low, self.high, rows.shape[1])
        unit = 2 * (inside(rows, low, high, self.clip, "X") - low) / (high - low) - 1
        return np.asarray(low + (self.release_unit(unit, self._stream()) + 1) / 2 * (high - low))

    def fit_transform(self, X: object, y: object = None) -> FloatArray:
        """`fit`, then `transform`."""
        return self.fit(X).transform(X)

    def release_unit(self, unit: FloatArray, stream: Stream) -> FloatArray:
        """`transform` for rows that are scaled to [-1, 1] already."""
        out = np.zeros_like(unit)
        if self.count_ < unit.shape[1]:
            if self.count_:
                at = sample_coordinates(len(unit), unit.shape[1], self.count_, stream)
                release = Release(self.kind, float_below(self.budgets_[0]), self.points)
                near = release.draw(np.take_along_axis(unit, at, axis=1), stream)
                np.put_along_axis(out, at, near, axis=1)
            return out
        for budget in dict.fromkeys(own for own in self.budgets_ if own):
            same = [j for j, own in enumerate(self.budgets_) if own == budget]
            out[:, same] = Release(self.kind, float_below(budget), self.points).draw(unit[:, same], stream)
        return out

    def _budgets(self, width: int) -> list[Fraction]:
        """Exact budgets whose sum is epsilon (or 0, where nothing is worth releasing)."""
        if self.weights is None:
            budgets = shares_of(self.epsilon, [Fraction(1)] * self.count_) if self.count_ else []
        else:
            given = np.asarray(self.weights, np.float64)
            ok = given.shape == (width,) and bool(np.isfinite(given).all())
            require(ok, "weights", self.weights, f"{width} finite numbers >= 0, known before looking at the data")
            budgets = shares_of(self.epsilon, [Fraction(w) for w in given.tolist()])
        least = min((b for b in budgets if b), default=Fraction(1))
        hint = "Spend it on fewer coordinates: coordinates='best'."
        require(least >= _LEAST, "the smallest share of epsilon", float(least), f"at least {_LEAST:g}", hint)
        return budgets
