"""The best release on a line: a few representatives, and randomised response among them.

A value is reported as its nearest representative with probability e/(e+K-1), else as another one. The expected loss
of a set R of K representatives is [v d(R) + t D(R)] / (v + t K), with t = e^-epsilon, v = 1 - t, d(R) the mean
distance of a value from R and D(R) the sum over R of the mean distance of a value from each. On a line no mechanism
with the same promise has a lower expected loss than the best R, whatever the prior (docs/maths/metric.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from deniable.core.laws import epsilon_to
from deniable.core.types import FloatArray, IntArray
from deniable.errors import EnumerationError, require
from deniable.mechanisms.metric.losses import Line

__all__ = ["Book", "code_loss", "equal_bins", "interval_codes", "line_codes", "search_codes"]

CODES_MAX = 1 << 16
"""Most codes that are chosen where more would still lower the loss: every design carries them."""
POINTS_MAX = 4096
"""Lines of at most this many points are searched exactly."""
_LAYERS = 1 << 28
"""Work of the exact search for a given number of codes: codes times points squared."""
_STEPS = 100
_LOWER = 1 - 1e-12
"""A loss is lower if it is so by more than rounding."""


@dataclass(frozen=True, slots=True)
class Book:
    """Representatives (numbers of answers, or places in [0, 1]) and their expected loss."""

    codes: tuple[float, ...]
    loss: float

    @property
    def size(self) -> int:
        """How many there are."""
        return len(self.codes)


def ratio_loss(near: float, spread: float, size: int, t: float, v: float) -> float:
    """The expected loss from the mean distance to the nearest code and the sum of those to all codes."""
    return (v * near + t * spread) / (v + t * size)


# ---- an interval, all numbers equally likely: closed form


def interval_codes(epsilon: float, size: int | None = None, limit: int = CODES_MAX) -> Book:
    """The best codes of [0, 1], all numbers being equally likely, or the best `size` of them.

    >>> book = interval_codes(1.0)
    >>> [round(code, 3) for code in book.codes], round(book.loss, 4)
    ([0.342, 0.658], 0.2135)
    """
    if size is not None:
        codes = _spread_codes(epsilon, size)
        rising = bool((np.diff(codes) > 0).all())
        require(
            rising, "size", size, "smaller", "At this epsilon reports say so little that more codes would coincide."
        )
        return Book(tuple(codes.tolist()), _interval_loss(codes, epsilon))
    size = _best_size(lambda k: _interval_loss(_spread_codes(epsilon, k), epsilon), epsilon, limit)
    return interval_codes(epsilon, size)


def _best_size(loss: Callable[[int], float], epsilon: float, limit: int) -> int:
    """The number of codes of least loss: all up to some hundred are tried; beyond that the loss has one valley.

    The best number grows as 0.88 e^(epsilon/2) (0.87 for equal bins).
    """
    peak = math.exp(min(epsilon / 2, math.log(4 * limit)))
    most = int(min(limit, 3 * peak + 3))
    if most <= 600:
        return min(range(2, most + 1), key=lambda k: (loss(k), k))
    low, high = min(int(peak / 2), most - 1), most
    while high - low > 8:
        a, b = low + (high - low) // 3, high - (high - low) // 3
        low, high = (low, b) if loss(a) <= loss(b) else (a, high)
    return min(range(low, high + 1), key=lambda k: (loss(k), k))


def _spread_codes(epsilon: float, size: int) -> FloatArray:
    """r_j = 1/2 + sinh(mu (j - (K+1)/2)) / (2 sinh(mu K/2) cosh(mu/2)), cosh(mu) = (e+1)/(e-1)."""
    less = -math.expm1(-epsilon / 2)
    mu = math.log((2 - less) / less) if epsilon < 1 else 2 * math.atanh(math.exp(-epsilon / 2))
    at = mu * (np.arange(1, size + 1) - (size + 1) / 2)
    end = mu * size / 2
    scaled = np.exp(np.abs(at) - end) * np.expm1(-2 * np.abs(at)) / math.expm1(-2 * end)
    return np.asarray(0.5 + np.sign(at) * scaled / (2 * math.cosh(mu / 2)))


def _interval_loss(codes: FloatArray, epsilon: float) -> float:
    return code_loss(codes, *epsilon_to(epsilon))


def code_loss(codes: FloatArray, t: float, v: float) -> float:
    """Expected loss of codes in [0, 1], each standing for the numbers that are nearest to it, for 1/ratio = t."""
    ends = np.concatenate([[0.0], (codes[1:] + codes[:-1]) / 2, [1.0]])
    near = float(((codes - ends[:-1]) ** 2 + (ends[1:] - codes) ** 2).sum() / 2)
    spread = float(((codes - 0.5) ** 2 + 0.25).sum())
    return ratio_loss(near, spread, codes.size, t, v)


def equal_bins(epsilon: float, size: int | None = None, limit: int = CODES_MAX) -> Book:
    """The middles of `size` equal parts of [0, 1], or of the number of parts that has the least loss."""

    def middles(k: int) -> FloatArray:
        return (np.arange(k) + 0.5) / k

    if size is None:
        size = _best_size(lambda k: _interval_loss(middles(k), epsilon), epsilon, limit)
    return Book(tuple(middles(size).tolist()), _interval_loss(middles(size), epsilon))


# ---- points on a line


class _Sums:
    """Sums of distances on a line, from prefix sums of the weights and of the first moments."""

    def __init__(self, line: Line, prior: object) -> None:
        self.pi = line.weights(prior)
        at = np.arange(line.k)
        self.mass = np.concatenate([[0.0], np.cumsum(self.pi)])
        self.moment = np.concatenate([[0.0], np.cumsum(self.pi * at)])
        self.own = np.zeros(line.k) if line.cells == "points" else self.pi / 4
        inner = line.cells == "endpoints"
        first, last = (float(self.pi[0]) / 4, float(self.pi[-1]) / 4) if inner else (0.0, 0.0)
        below = at * self.mass[:-1] - self.moment[:-1]
        above = (self.moment[-1] - self.moment[1:]) - at * (self.mass[-1] - self.mass[1:])
        self.left = below - np.where(at > 0, first, 0.0)
        """Distances of all values below a point from it."""
        self.right = above - np.where(at < line.k - 1, last, 0.0)
        self.all = self.left + self.right + self.own

    def between(self, i: IntArray, j: IntArray) -> FloatArray:
        """Distances of the values between points i < j from the nearer of the two, the lower one in a tie."""
        middle = (i + j) // 2 + 1
        near = self.moment[middle] - self.moment[i + 1] - i * (self.mass[middle] - self.mass[i + 1])
        far = j * (self.mass[j] - self.mass[middle]) - (self.moment[j] - self.moment[middle])
        return np.asarray(near + far)

    def loss(self, codes: IntArray, t: float, v: float) -> float:
        """Expected loss of representatives, in steps."""
        near = self.left[codes[0]] + self.right[codes[-1]] + float(self.own[codes].sum())
        near += float(self.between(codes[:-1], codes[1:]).sum())
        return ratio_loss(float(near), float(self.all[codes].sum()), codes.size, t, v)


def line_book(line: Line, codes: IntArray, epsilon: float, prior: object = None) -> Book:
    """Given representatives on a line, in rising order, with their expected loss."""
    t, v = epsilon_to(epsilon)
    return Book(tuple(int(c) for c in codes), line.step * _Sums(line, prior).loss(codes, t, v))


def line_codes(line: Line, epsilon: float, prior: object = None, size: int | None = None) -> Book:
    """The best representatives among the points of a line, or the best `size` of them, exactly.

    The loss is a ratio; for a trial value q of it, the set of least v d(R) + t (D(R) - q K) is found from left to
    right in O(N^2), and its loss is the next trial value (Dinkelbach). It falls until the set is the best one.
    """
    if line.k > POINTS_MAX:
        raise EnumerationError(
            f"a line of {line.k} points is too long to be searched exactly (at most {POINTS_MAX}).",
            "Without a prior the closed form for an interval is as good.",
        )
    t, v = epsilon_to(epsilon)
    sums = _Sums(line, prior)
    if size is not None:
        return line_book(line, _sized(sums, size, t, v), epsilon, prior)
    codes = np.array([int(sums.all.argmin())])
    loss = sums.loss(codes, t, v)
    for _ in range(_STEPS):
        trial = _chain(sums, t * (sums.all - loss), v)
        found = sums.loss(trial, t, v)
        if not found < loss:
            break
        codes, loss = trial, found
    return Book(tuple(int(c) for c in codes), line.step * loss)


def _chain(sums: _Sums, cost: FloatArray, v: float) -> IntArray:
    """The representatives of least v d(R) + cost(R)."""
    k = cost.size
    best, back = np.empty(k), np.full(k, -1)
    at = np.arange(k)
    for j in range(k):
        best[j] = v * sums.left[j]
        if j:
            ways = best[:j] + v * sums.between(at[:j], at[j : j + 1])
            i = int(ways.argmin())
            if ways[i] < best[j]:
                best[j], back[j] = ways[i], i
        best[j] += cost[j] + v * sums.own[j]
    j = int((best + v * sums.right).argmin())
    codes = [j]
    while back[j] >= 0:
        j = int(back[j])
        codes.append(j)
    return np.array(codes[::-1])


def _sized(sums: _Sums, size: int, t: float, v: float) -> IntArray:
    """The best `size` representatives, code by code."""
    k = sums.all.size
    require(1 <= size <= k, "size", size, f"an integer from 1 to the number of points, {k}")
    require(size * k * k <= _LAYERS, "size", size, f"at most {_LAYERS // (k * k)} for {k} points")
    cost, at = t * sums.all + v * sums.own, np.arange(k)
    best, backs = v * sums.left + cost, []
    for _ in range(1, size):
        now, back = np.full(k, np.inf), np.zeros(k, np.int64)
        for j in range(1, k):
            ways = best[:j] + v * sums.between(at[:j], at[j : j + 1])
            back[j] = int(ways.argmin())
            now[j] = ways[back[j]] + cost[j]
        best = now
        backs.append(back)
    j = int((best + v * sums.right).argmin())
    codes = [j]
    for back in reversed(backs):
        j = int(back[j])
        codes.append(j)
    return np.array(codes[::-1])


# ---- any losses: local search


def search_codes(table: FloatArray, weights: FloatArray, epsilon: float, size: int | None = None) -> Book:
    """Representatives among the reports of a table of losses, by adding, dropping and swapping while that helps.

    Two searches, one that adds first and one that always takes the best step; the better result counts.
    """
    t, v = epsilon_to(epsilon)
    outputs = table.shape[1]
    if size is not None:
        require(1 <= size <= outputs, "size", size, f"an integer from 1 to the number of reports, {outputs}")
    search = _Search(table, weights, t, v)
    codes, loss = min((_descend(search, size, eager) for eager in (False, True)), key=lambda found: found[1])
    return Book(tuple(sorted(codes)), loss)


def _descend(search: _Search, size: int | None, eager: bool) -> tuple[list[int], float]:
    """From the best single code, step by step, to a set that no step improves."""
    codes = [int(search.all.argmin())]
    loss = search.loss(codes)
    for _ in range(4 * search.all.size + _STEPS):
        growing = size is None or len(codes) < size
        moves = [search.add(codes)] if growing else []
        useful = bool(moves) and (size is not None or (eager and moves[0][0] < loss * _LOWER))
        if not useful and len(codes) > 1:
            moves += search.exchanges(codes, drop=size is None)
        found, better = min(moves, key=lambda move: move[0], default=(math.inf, codes))
        if not useful and not found < loss * _LOWER:
            break
        codes, loss = better, found
    return codes, loss


class _Search:
    """The neighbourhood of a set of representatives."""

    def __init__(self, table: FloatArray, weights: FloatArray, t: float, v: float) -> None:
        self.table, self.weights, self.t, self.v = table, weights, t, v
        self.all = weights @ table

    def loss(self, codes: list[int]) -> float:
        """The expected loss of a set."""
        near = float(self.weights @ self.table[:, codes].min(axis=1))
        return ratio_loss(near, float(self.all[codes].sum()), len(codes), self.t, self.v)

    def add(self, codes: list[int]) -> tuple[float, list[int]]:
        """The best code to add to a set."""
        near = self.weights @ np.minimum(self.table, self.table[:, codes].min(axis=1)[:, None])
        losses = self._losses(near, self.all + self.all[codes].sum(), len(codes) + 1)
        losses[codes] = np.inf
        best = int(losses.argmin())
        return float(losses[best]), [*codes, best]

    def exchanges(self, codes: list[int], *, drop: bool) -> list[tuple[float, list[int]]]:
        """The best exchange of a code for another report, and the best removal if one may be dropped.

        Only values whose nearest code goes look for the second nearest or the new one, so all pairs take one pass.
        """
        own = self.table[:, codes]
        nearest = own.argmin(axis=1)
        first, second = np.partition(own, 1, axis=1)[:, :2].T
        served = (nearest == np.arange(len(codes))[:, None]) * self.weights
        kept = np.minimum(self.table, first[:, None])
        near = self.weights @ kept + served @ (np.minimum(self.table, second[:, None]) - kept)
        left = self.all[codes].sum() - self.all[codes]
        losses = self._losses(near, left[:, None] + self.all, len(codes))
        losses[:, codes] = np.inf
        out, into = divmod(int(losses.argmin()), losses.shape[1])
        found = [(float(losses[out, into]), [*codes[:out], *codes[out + 1 :], into])]
        if drop:
            fewer = self._losses(self.weights @ first + served @ (second - first), left, len(codes) - 1)
            out = int(fewer.argmin())
            found.append((float(fewer[out]), [*codes[:out], *codes[out + 1 :]]))
        return found

    def _losses(self, near: FloatArray, spread: FloatArray, size: int) -> FloatArray:
        return np.asarray((self.v * near + self.t * spread) / (self.v + self.t * size))
