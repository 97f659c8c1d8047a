"""Channels that a near answer is compared with: exponential, Laplace, geometric noise.

Every function gives ideal probabilities as floats, Pr[output y | value x] in row x and column y. What is sampled is a
table of whole numbers made from them, whose exact level is proved (`deniable_client.kernels.Table`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import cast

import numpy as np

from deniable.core.types import FloatArray
from deniable.errors import InWords, ParameterError, require

__all__ = [
    "calibrate",
    "exponential",
    "geometric",
    "laplace_clamped",
    "laplace_loss",
    "laplace_truncated",
    "level",
]

_STEPS = 200
_BEYOND = 1e4
"""A parameter that makes likelihoods differ by e^10000 and no level: there is none to be found."""


def level(logs: FloatArray) -> float:
    """The level of a channel given by logarithms of its probabilities: the largest ln ratio within a column."""
    return float((logs.max(axis=0) - logs.min(axis=0)).max())


def spread(losses: FloatArray) -> float:
    """How much the loss of one output can change with the value: the sensitivity of the exponential mechanism."""
    return float((losses.max(axis=0) - losses.min(axis=0)).max())


def calibrate(level_at: Callable[[float], float], epsilon: float, start: float) -> float:
    """The parameter at which a level that grows from 0 reaches epsilon, from below.

    `start` is one with a level of at most epsilon or so; it is doubled until the level is above, then the place between
    is found by false position, halving the weight of an end that stays (Illinois).
    """
    low, high = 0.0, start
    below, above = -epsilon, level_at(high) - epsilon
    while above <= 0:
        low, below, high = high, above, 2 * high
        if high > start * _BEYOND:
            raise ParameterError(
                f"no level of {epsilon!r} is reached: all values are answered (almost) alike.",
                "The losses of all values differ by a constant only; publish the best output instead.",
            )
        above = level_at(high) - epsilon
    spare = -below
    for _ in range(_STEPS):
        middle = high - above * (high - low) / (above - below)
        if not low < middle < high or spare <= 1e-15 * epsilon:
            break
        off = level_at(middle) - epsilon
        if off <= 0:
            low, below, spare, above = middle, off, -off, above / 2
        else:
            high, above, below = middle, off, below / 2
    return low


def exponential(losses: FloatArray, epsilon: float, *, calibrated: bool = True) -> FloatArray:
    """The exponential mechanism, Pr[y|x] proportional to exp(-t loss).

    As printed t = epsilon/(2 spread) [BRR Eq. 5], which is less than is allowed: on a line of points just half of it.
    Calibrated, t is raised until the level of the channel is epsilon.
    """
    width = spread(losses)
    require(width > 0, "losses", InWords("columns without any difference"), "losses that depend on the value")
    printed = epsilon / (2 * width)
    if not calibrated:
        return np.asarray(np.exp(_softmax(-printed * losses)))
    return np.asarray(np.exp(_softmax(-calibrate(lambda t: level(_softmax(-t * losses)), epsilon, printed) * losses)))


def _softmax(scores: FloatArray) -> FloatArray:
    """Logarithms of probabilities in proportion to exp(scores), row by row."""
    centred = scores - scores.max(axis=1, keepdims=True)
    return np.asarray(centred - np.log(np.exp(centred).sum(axis=1, keepdims=True)))


def laplace_truncated(points: int, epsilon: float) -> FloatArray:
    """Laplace noise given that it stays on the line: Pr[y|x] proportional to exp(-epsilon |x-y|/(points-1)).

    The first and the last point have the same normaliser and the smallest one, so that the level is epsilon exactly.
    """
    return np.asarray(np.exp(_softmax(-epsilon * _line(points) / (points - 1))))


def laplace_clamped(points: int, epsilon: float, *, calibrated: bool = True) -> FloatArray:
    """Laplace noise, moved to the nearest point of the line; what falls outside goes to its ends.

    As printed the scale is (points-1)/epsilon [BRR Eq. 4]; rounding to points leaves some of epsilon unused, which
    calibration gives back.
    """
    printed = epsilon / (points - 1)
    if not calibrated:
        return np.asarray(np.exp(_clamped(points, printed)))
    return np.asarray(np.exp(_clamped(points, calibrate(lambda t: level(_clamped(points, t)), epsilon, printed))))


def _clamped(points: int, rate: float) -> FloatArray:
    """Logarithms of the probabilities of rounded and clamped Laplace noise of scale 1/rate steps."""
    own = -math.expm1(-rate / 2)
    side = math.log(math.sinh(rate / 2)) if rate < 600 else rate / 2 - math.log(2)
    far = _line(points)
    logs = np.where(far == 0, math.log(own), side - rate * far)
    ends = math.log(0.5) - rate * (far - 0.5)
    logs[:, 0], logs[:, -1] = ends[:, 0], ends[:, -1]
    logs[0, 0] = logs[-1, -1] = math.log1p(-math.exp(-rate / 2) / 2)
    return cast(FloatArray, logs)


def geometric(points: int, epsilon: float) -> FloatArray:
    """Two-sided geometric noise of ratio a = exp(-epsilon/(points-1)), clamped to the line. Its level is epsilon."""
    rate = epsilon / (points - 1)
    log_sum = math.log1p(math.exp(-rate))
    logs = math.log(-math.expm1(-rate)) - log_sum - rate * _line(points)
    far = np.arange(points)
    logs[:, 0], logs[:, -1] = -rate * far - log_sum, -rate * far[::-1] - log_sum
    return np.asarray(np.exp(logs))


def _line(points: int) -> FloatArray:
    require(isinstance(points, int) and points >= 2, "points", points, "an integer >= 2")
    where = np.arange(points, dtype=np.float64)
    return np.abs(where[:, None] - where)


def laplace_loss(epsilon: float, variant: str) -> float:
    """Mean distance of Laplace noise of scale 1/epsilon on [0, 1] from a value that is uniform on it.

    `raw` may leave the interval, `clamp` moves what does to the ends, `truncate` draws given that nothing does.

    >>> [round(laplace_loss(1.0, variant), 4) for variant in ("raw", "clamp", "truncate")]
    [1.0, 0.3679, 0.2851]
    """
    require(variant in ("raw", "clamp", "truncate"), "variant", variant, "one of raw, clamp, truncate")
    if variant == "raw":
        return 1 / epsilon
    if variant == "clamp":
        series = 0.5 - epsilon / 6 + epsilon**2 / 24
        return series if epsilon < 1e-4 else (epsilon + math.expm1(-epsilon)) / epsilon**2
    nodes, weights = np.polynomial.legendre.leggauss(64)
    split = min(0.5, 16 / epsilon)
    total = 0.0
    for start, end in ((0.0, split), (split, 0.5)):
        x = start + (end - start) * (nodes + 1) / 2
        near, far = (np.array([_moments(epsilon, a) for a in side]) for side in (x, 1 - x))
        both = near + far
        total += float((weights * both[:, 1] / both[:, 0]).sum() * (end - start) / 2)
    return 2 * total


def _moments(epsilon: float, a: float) -> tuple[float, float]:
    """Integrals of exp(-epsilon u) and of u exp(-epsilon u) from 0 to a."""
    t = epsilon * a
    if t < 1e-3:
        return a * (1 - t / 2 + t * t / 6), a * a * (0.5 - t / 3 + t * t / 8)
    mass = -math.expm1(-t)
    return mass / epsilon, (mass - t * math.exp(-t)) / epsilon**2
