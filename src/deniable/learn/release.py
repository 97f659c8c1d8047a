"""Numbers of an interval, each released on its own: one door to the mechanisms that the learners use.

The metric mechanisms (`NEAR`) answer with a number of the interval that is near the truth, but drawn to the middle; the
numeric ones (`pm`, `duchi`) with a number that may lie far outside, but whose mean is the truth.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from deniable.core.grid import Grid
from deniable.core.types import FloatArray
from deniable.errors import ParameterError, require
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.registry import mechanism
from deniable.randomness import Stream

__all__ = ["KINDS", "NEAR", "Release"]

_NAMED: dict[str, tuple[str, dict[str, Any]]] = {
    "alg4": ("brr", {"form": "paper", "layout": "endpoints", "points": 21}),
    "truncated": ("laplace", {"variant": "truncate"}),
    "clamped": ("laplace", {"variant": "clamp"}),
}
"""BRR's Algorithm 4 (with the m that no value loses by, and 21 points unless told otherwise), and Laplace noise that
stays inside: conditioned on it, or moved to the ends."""
NEAR = ("codebook", "brr", *_NAMED)
_UNBIASED = ("pm", "duchi")
KINDS = (*NEAR, *_UNBIASED)
_POINTS = (1 << 12) + 1
"""Points of the grid of unbiased releases; numbers between two of them are rounded by chance, to the right mean."""


@dataclass(frozen=True, slots=True)
class Release:
    """A mechanism for numbers from -1 to 1: `draw` gives the released numbers, on the same scale."""

    kind: str
    epsilon: float
    points: int | None = None

    def __post_init__(self) -> None:
        require(self.kind in KINDS, "kind", self.kind, f"one of {', '.join(KINDS)}")

    @property
    def mechanism(self) -> Any:
        """The mechanism behind it, for its proof and its design: a metric one, or for the unbiased kinds a numeric."""
        return _mechanism(self.kind, self.epsilon, self.points)

    def draw(self, numbers: FloatArray, rng: Stream) -> FloatArray:
        """Each number of any array released, independently of the others."""
        made, flat = self.mechanism, numbers.ravel()
        if not flat.size:
            return numbers.copy()
        if self.kind in NEAR:
            return np.asarray(made.released(made.privatize(flat, rng=rng)), np.float64).reshape(numbers.shape)
        place = (flat + 1) / 2 * (made.k - 1)
        items = np.minimum(np.floor(place + rng.draw(32, flat.size) / 2.0**32), made.k - 1).astype(np.int64)
        return np.asarray(made.unbiased(made.privatize_items(items, rng))).reshape(numbers.shape)

    @property
    def loss(self) -> float:
        """Expected distance of a released number from the truth, as a share of the range, numbers being uniform."""
        if self.kind not in NEAR:
            raise ParameterError(f"{self.kind} is for means: a single answer of it is not near anything.")
        return float(self.mechanism.loss()) / 2

    def mean_of(self, numbers: FloatArray) -> FloatArray:
        """The mean of what is released for each number: the number itself for the unbiased kinds."""
        if self.kind not in NEAR:
            return numbers.copy()
        made = self.mechanism
        points, kept = made.domain.points, made.output_points
        answers = points if kept is None else points[kept]
        return np.asarray(made.matrix()[made.domain.encode(numbers)] @ answers)


@lru_cache(maxsize=512)
def _mechanism(kind: str, epsilon: float, points: int | None) -> Mechanism:
    """On [-1, 1]: with `points` on a grid of so many, else where the mechanism places its answers best."""
    if kind in _UNBIASED:
        grid = Grid.of(-1.0, 1.0, points or _POINTS, layout="endpoints")
        return mechanism(kind, epsilon=epsilon, domain=grid)
    name, own = _NAMED.get(kind, (kind, {}))
    options = {"interval": (-1.0, 1.0), **own, **({} if points is None else {"points": points})}
    return mechanism(name, epsilon=epsilon, **options)
