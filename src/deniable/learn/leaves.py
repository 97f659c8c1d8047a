"""One number per leaf from a trusted curator: values whose change by one person is bounded, released on a grid.

A leaf's value is V = -S/(n + l2), S the sum of its n gradients. One person more or less changes it by at most
g/(1 + l2), and never by more than the range it is clipped to [LiWu20]. `sensitivity` is the smaller of both, cut into
`STEPS` steps, so that two neighbouring values, rounded down to steps, are at most `STEPS` apart.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from deniable.core.promise.judge import within
from deniable.core.types import FloatArray, IntArray
from deniable.errors import PrivacyError
from deniable.kernels.noise import laplace_steps
from deniable.kernels.sampling import weighted
from deniable.randomness import Stream
from deniable_client.exact import WORD, WORD_BITS, exp_bounds

__all__ = ["STEPS", "Leaf", "Truncated", "clamped_laplace", "geometric", "laplace", "noisy_ratio", "truncated_laplace"]

STEPS = 32
"""Steps of the grid that one person can move a value by."""
_SLACKS = (1e-12, 1e-9, 1e-6, 1e-3)
"""Shares of epsilon to give away for rounding a table's probabilities to multiples of 2**-64: the least that does."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """Sum of gradients (in units of g/unit), number of people, and the public rules for the value."""

    total: int
    count: int
    unit: int
    l2: Fraction
    bound: Fraction
    """Values are clipped to +- bound, in units of g."""

    @property
    def value(self) -> Fraction:
        """V in units of g, clipped."""
        raw = -Fraction(self.total, self.unit) / (self.count + self.l2) if self.count else Fraction(0)
        return max(-self.bound, min(self.bound, raw))

    @property
    def sensitivity(self) -> Fraction:
        """How far one person can move `value`."""
        return min(1 / (1 + self.l2), 2 * self.bound)


@lru_cache(maxsize=1024)
def geometric(epsilon: Fraction, steps: int) -> int:
    """Least A so that noise with Pr[y] proportional to (A/2**64)^|y| hides a shift by `steps` within e^epsilon."""
    top, bottom = exp_bounds(epsilon)[0].as_integer_ratio()
    low, high = 0, WORD - 1
    while low < high:  # least A with (2^64/A)^steps <= top/bottom
        middle = (low + high) // 2
        if WORD**steps * bottom <= middle**steps * top:
            high = middle
        else:
            low = middle + 1
    if not (0 < low < WORD and WORD**steps * bottom <= low**steps * top):
        raise PrivacyError(f"epsilon {float(epsilon)!r} for {steps} steps needs more than {WORD_BITS}-bit words.")
    return low


def laplace(leaves: list[Leaf], epsilon: Fraction, stream: Stream) -> FloatArray:
    """Values plus discrete Laplace noise of scale sensitivity/epsilon: it may leave the range, by far."""
    steps = np.array([_steps(leaf) for leaf in leaves])
    noisy = steps + laplace_steps(stream, len(leaves), geometric(epsilon, STEPS), (), 0)
    return np.array([float(s) + 0.5 for s in noisy]) * _step(leaves[0])


def clamped_laplace(leaves: list[Leaf], epsilon: Fraction, stream: Stream) -> FloatArray:
    """The same noise, then moved to the nearer end of the range where it has left it: free post-processing."""
    bound = float(leaves[0].bound)
    return np.asarray(np.clip(laplace(leaves, epsilon, stream), -bound, bound))


def truncated_laplace(leaves: list[Leaf], epsilon: Fraction, stream: Stream) -> FloatArray:
    """Such noise conditioned on staying inside the range, with the scale that makes this exactly private."""
    first = _steps_of(-leaves[0].bound, leaves[0])
    table = Truncated.calibrate(epsilon, _steps_of(leaves[0].bound, leaves[0]) - first + 1)
    out = table.draw(np.array([_steps(leaf) - first for leaf in leaves]), stream)
    bound = float(leaves[0].bound)
    return np.asarray(np.clip((out + first + 0.5) * _step(leaves[0]), -bound, bound))


def noisy_ratio(leaves: list[Leaf], epsilon: Fraction, stream: Stream) -> FloatArray:
    """Sum and count with noise of their own, half of epsilon each, then divided: the noise shrinks as leaves grow.

    One person moves the sum by at most g and the count by 1; the division and the clipping are free.
    """
    sums = np.array([leaf.total * STEPS // leaf.unit for leaf in leaves])
    counts = np.array([leaf.count for leaf in leaves])
    sums = sums + laplace_steps(stream, len(leaves), geometric(epsilon / 2, STEPS), (), 0)
    counts = counts + laplace_steps(stream, len(leaves), geometric(epsilon / 2, 1), (), 0)
    bound = float(leaves[0].bound)
    share = -(sums + 0.5) / STEPS / (np.maximum(counts, 1) + float(leaves[0].l2))
    return np.asarray(np.clip(share, -bound, bound))


def _step(leaf: Leaf) -> float:
    return float(leaf.sensitivity / STEPS)


@lru_cache(maxsize=1024)
def _steps(leaf: Leaf) -> int:
    return _steps_of(leaf.value, leaf)


def _steps_of(value: Fraction, leaf: Leaf) -> int:
    return math.floor(value * STEPS / leaf.sensitivity)


@dataclass(frozen=True)
class Truncated:
    """Inputs and outputs 0..points-1; neighbours are at most `STEPS` apart. Row x: whole weights that sum to 2**64."""

    epsilon: Fraction
    weights: tuple[tuple[int, ...], ...]

    @staticmethod
    @lru_cache(maxsize=256)
    def calibrate(epsilon: Fraction, points: int) -> Truncated:
        """The table of the largest rate whose exact ratio between neighbours is within e^epsilon."""
        for slack in _SLACKS:
            made = Truncated(epsilon, _whole(np.exp(_log_table(_rate(float(epsilon) * (1 - slack), points), points))))
            if within(made.ratio, epsilon):
                return made
        raise PrivacyError(f"no table of {points} points is within epsilon {float(epsilon)!r} after rounding.")

    @property
    def ratio(self) -> Fraction:
        """The exact largest ratio of an output's probabilities between neighbours.

        Floats only point at the pairs that may be the largest; those are compared as fractions.
        """
        logs = np.log(np.array(self.weights, np.float64))
        points, worst = len(logs), Fraction(1)
        near = max(float(np.abs(logs[k:] - logs[:-k]).max()) for k in range(1, min(STEPS, points - 1) + 1))
        for k in range(1, min(STEPS, points - 1) + 1):
            gap = logs[k:] - logs[:-k]
            for x, y in np.argwhere(np.abs(gap) >= near * (1 - 1e-9) - 1e-12):
                pair = Fraction(self.weights[x + k][y], self.weights[x][y])
                worst = max(worst, pair, 1 / pair)
        return worst

    def draw(self, inputs: IntArray, stream: Stream) -> IntArray:
        """An output for each input."""
        out = np.empty(inputs.size, np.int64)
        for x in np.unique(inputs):
            sums = np.cumsum(np.array(self.weights[x][:-1], np.uint64), dtype=np.uint64)
            at = np.flatnonzero(inputs == x)
            out[at] = weighted(stream, sums, at.size)
        return out


def _log_table(rate: float, points: int) -> FloatArray:
    """ln Pr[y|x], Pr proportional to exp(-rate |x - y|) on 0..points-1."""
    x = np.arange(points)
    logs = -rate * np.abs(x[:, None] - x[None, :])
    out: FloatArray = logs - np.log(np.exp(logs).sum(axis=1, keepdims=True))
    return out


def _rate(target: float, points: int) -> float:
    """The largest rate whose level is at most the target."""
    low, high = 0.0, target / min(STEPS, max(points - 1, 1))
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _level(middle, points) <= target else (low, middle)
    return low


def _level(rate: float, points: int) -> float:
    """ln of the largest ratio between neighbours: rate k from the exponents, the rest from the normalisers."""
    norm = np.log(np.exp(-rate * np.abs(np.subtract.outer(np.arange(points), np.arange(points)))).sum(axis=1))
    shifts = range(1, min(STEPS, points - 1) + 1)
    return max((rate * k + float(np.abs(norm[k:] - norm[:-k]).max()) for k in shifts), default=0.0)


def _whole(table: FloatArray) -> tuple[tuple[int, ...], ...]:
    """Probabilities as whole numbers of 2**-64, rounded up; the excess comes from the largest of each row."""
    rows = []
    for row in table:
        weights = [math.ceil(p * WORD) for p in row.tolist()]
        weights[weights.index(max(weights))] += WORD - sum(weights)
        rows.append(tuple(weights))
    return tuple(rows)
