"""Bipartite randomised response: how many of the nearest reports are favoured, and what that costs [BRR].

The m nearest reports have e times the probability of the others, for one m that is common to all answers. Formulas
are in t = e^-epsilon and v = 1 - t, so that nothing overflows or cancels. Where rules of the printed paper are wrong,
these are the corrected ones (docs/maths/metric.md).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from deniable.core.laws import epsilon_to
from deniable.core.types import FloatArray, IntArray
from deniable.errors import require
from deniable.mechanisms.metric.losses import Line, Losses
from deniable.mechanisms.metric.options import RULES

__all__ = ["GRIDS_MAX", "best_points", "choose_m", "fine_limit", "line_min", "local_m", "loss_of", "two_level"]

GRIDS_MAX = 1 << 16
"""Points of the finest grid that is chosen where more points would still lower the loss."""
_NEAR = 1 - 1e-12
"""Losses that differ by less than rounding explains are taken as equal: then nothing more is raised."""


def two_level(w: Any, v: Any, m: int, outputs: int) -> tuple[Any, Any]:
    """Probability of a favoured report, and of another one [BRR Eq. 7]; w = 1/ratio, v = 1 - w."""
    high = 1 / (m + (outputs - m) * w)
    return high, high * w


def loss_of(losses: Losses, epsilon: float, m: int, prior: object = None) -> float:
    """The expected loss with the m nearest reports favoured."""
    t, v = epsilon_to(epsilon)
    return loss_at(losses, t, v, m, prior)


def loss_at(losses: Losses, t: float, v: float, m: int, prior: object = None) -> float:
    """The same for 1/ratio = t and v = 1 - t."""
    outputs = losses.outputs
    return (v * losses.near(m, prior) + t * losses.near(outputs, prior)) / (v * m + t * outputs)


def choose_m(losses: Losses, epsilon: float, rule: str = "mean", prior: object = None) -> int:
    """How many reports to favour: `mean`, for the least expected loss, or `min`, that no answer is worse off for.

    With `min` [BRR Alg. 2], no answer has a larger expected loss than with m = 1. With `alg3` as BRR's Algorithm 3 is
    printed, for a line: often one too many, and then some answers are worse off; as private as any other m.
    """
    require(rule in RULES, "rule", rule, f"one of {', '.join(RULES)}")
    if rule == "alg3":
        require(losses.line is not None, "rule", rule, "mean or min where answers are not on a line")
        return min(max(1, line_printed(losses.k, epsilon)), losses.k - 1)
    if losses.line is not None:
        return line_min(losses.k, epsilon) if rule == "min" else _line_mean(losses.line, epsilon, prior)
    rows = np.sort(losses.matrix(), axis=1)
    return int(local_m(rows if rule == "min" else losses.weights(prior)[None, :] @ rows, epsilon).min())


def local_m(rows: FloatArray, epsilon: float) -> IntArray:
    """How many reports one answer alone would favour, for rows of losses in rising order [BRR Alg. 1].

    The next nearest report is raised while its loss is below the expected loss so far; that is unimodal.
    """
    t, v = epsilon_to(epsilon)
    outputs = rows.shape[1]
    raised = np.arange(1, outputs)
    so_far = v * np.cumsum(rows, axis=1)[:, :-1] + t * rows.sum(axis=1, keepdims=True)
    stop = rows[:, 1:] * (t * outputs + v * raised) >= so_far * _NEAR
    return np.asarray(np.where(stop.any(axis=1), 1 + stop.argmax(axis=1), outputs), np.int64)


def end_root(points: int, epsilon: float) -> float:
    """The root behind m1, at an end of a line [BRR Alg. 3, line 1, as its proof prints it]."""
    e = math.exp(epsilon)
    return (math.sqrt(points**2 * e + (1 - e) ** 2 / 4) - (points - e / 2 + 0.5)) / (e - 1)


def middle_root(points: int, epsilon: float) -> float:
    """The root behind m2, in the middle of a line [BRR Alg. 3, line 3, as its proof prints it]."""
    e = math.exp(epsilon)
    if points % 2 == 0:
        return points / (math.exp(epsilon / 2) + 1) + 1
    return (math.sqrt(e * (points**2 - 1) + 1) - points) / (e - 1) + 1


def line_printed(points: int, epsilon: float, even: int = 1) -> int:
    """BRR Alg. 3 by its rules: m1 alone from epsilon 1 on, an even i made i + 1.

    With `even` = -1 an even i is made i - 1, and both ends count for every epsilon, as is right.
    """
    end = math.floor(end_root(points, epsilon))
    if epsilon >= 1 and even > 0:
        return end
    i = math.floor(middle_root(points, epsilon))
    return min(end, i if i % 2 else i + even)


def line_min(k: int, epsilon: float) -> int:
    """The least of all answers' own m on a line of k points, in constant time (corrects [BRR Alg. 3]).

    The least is that of an end or of the middle. Start values are the roots of the two conditions, which are then
    corrected by steps of one.
    """
    if k <= 3 or epsilon > 2 * math.log(k):
        return 1
    e, less, s = math.exp(epsilon), math.expm1(epsilon), math.exp(epsilon / 2)
    b, root = k - less / 2, math.sqrt(k * k * e + less * less / 4)
    start = (k * k + k) / (b + root) if b > 0 else (root - b) / less
    end = _largest(lambda i: e * i * (i - 1) < (k - i) * (k - i + 1) * _NEAR, int(start), 1, k - 1)
    if k % 2 == 0:
        middle = _largest(lambda n: e * 4 * n * n < (k - 2 * n) ** 2 * _NEAR, int(k / 2 / (s + 1)), 0, k // 2 - 1)
    else:
        start = (k * k - 1) / (2 * (math.sqrt(e * (k * k - 1) + 1) + k))
        middle = _largest(lambda n: e * 4 * n * n < _odd(k, n) * _NEAR, int(start), 0, (k - 1) // 2)
    return min(end, 2 * middle + 1, k - 1)


def _odd(k: int, n: int) -> int:
    """4 M (M+1) with M = (k-1)/2 - n, for an odd k."""
    return (k - 1 - 2 * n) * (k + 1 - 2 * n)


def _largest(holds: Any, near: int, least: int, most: int) -> int:
    """The largest number from `least` to `most` for which a falling condition holds, starting near it."""
    i = min(max(near, least), most)
    while i > least and not holds(i):
        i -= 1
    while i < most and holds(i + 1):
        i += 1
    return i


def _line_mean(line: Line, epsilon: float, prior: object) -> int:
    """The m of least expected loss on a line: the first one that is not worth raising further, by halving."""
    t, v = epsilon_to(epsilon)

    def sums(m: int) -> float:
        return line.units(m) if prior is None else line.near(m, prior)

    whole = sums(line.k)

    def raises(m: int) -> bool:
        now = sums(m)
        return (sums(m + 1) - now) * (v * m + t * line.k) < (v * now + t * whole) * _NEAR

    low, high = 1, line.k
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if middle < line.k and raises(middle) else (low, middle)
    return low


def fine_limit(epsilon: float) -> float:
    """Expected loss on [0, 1] with ever finer grids and the rule `min`: (7s+9)/(12(s+1)^2), s = e^(epsilon/2)."""
    u = math.exp(-epsilon / 2)
    return (7 + 9 * u) * u / (12 * (1 + u) ** 2)


def best_points(epsilon: float, rule: str, layout: str = "midpoints", limit: int = GRIDS_MAX) -> tuple[int, float]:
    """The number of points of an interval with the least expected loss, and that loss on [0, 1].

    More points help only up to about 0.87 e^(epsilon/2): beyond that the loss rises, and then settles at `fine_limit`.
    """
    peak = math.exp(min(epsilon / 2, math.log(limit)))
    most = int(min(4 * peak + 16, limit))
    least = 1 if most <= 4096 else int(peak / 2)
    step = max(1, (most - least) // 4096)
    candidates = [n for n in (*range(max(2, least), most + 1, step), 1001, limit) if n <= limit]
    found = min((_interval_loss(n, epsilon, rule, layout), n) for n in candidates)
    if step > 1:
        near = range(max(2, found[1] - step), min(limit, found[1] + step) + 1)
        found = min((_interval_loss(n, epsilon, rule, layout), n) for n in near)
    return found[1], found[0]


def _interval_loss(points: int, epsilon: float, rule: str, layout: str) -> float:
    line = Line(points, 1 / (points if layout == "midpoints" else points - 1), layout)
    return loss_of(line, epsilon, choose_m(line, epsilon, rule))
