"""The linear programs behind `om`: the base measure of the best mechanism on a lattice, and a certificate beside it.

Reports are taken for their estimates y. Every mechanism is nu + (e - 1) nu_x with 0 <= nu_x <= nu; masses, means and
variances are linear in nu and nu_x (docs/maths/mean-optimum.md, section 1). What the solver says is not believed: the
integers are made and audited from nu alone, and the bound is proved from the certificate's whole numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.core.types import FloatArray, IntArray
from deniable.errors import ParameterError
from deniable.mechanisms.numeric.certificate import LIMIT_ONE, Certificate, Row

__all__ = [
    "EPSILON_LEAST",
    "EPSILON_MOST",
    "Aim",
    "Progress",
    "best_measure",
    "most_weighed",
    "prove_bound",
    "usual_half",
]

Progress = Callable[[str, float], None]
"""Hears what is done."""

EPSILON_LEAST, EPSILON_MOST = 0.01, 8.0
"""Where the programs are solved."""
_HALVES = ((1.0, 8), (2.0, 16), (4.0, 32), (5.0, 48), (6.0, 64), (7.0, 80), (8.0, 96))
"""Points on one side of the middle, up to each epsilon: rounding between them adds little to the error."""
_ENOUGH = 2
"""Programs for the largest variance look at so many times as many points, at most."""
_WEIGHED = 32
"""Points on one side of the middle, at least, that may have weights of their own: all of them are in the programs."""
_REACH = (
    (1.39, 1.0),
    (1.5, 0.9),
    (2.0, 0.65),
    (2.5, 0.52),
    (3.0, 0.42),
    (4.0, 0.27),
    (5.0, 0.18),
    (6.0, 0.12),
    (8.0, 0.06),
)
"""How far the outermost report of the best mechanism lies beyond the interval, roughly, by epsilon."""
_WIDE = ((2.0, 9.0), (2.5, 2.0), (3.0, 1.35), (4.0, 0.8), (5.0, 0.5), (6.0, 0.35), (8.0, 0.2))
"""How far from the number a report is ever favoured: the programs have no columns farther away."""
_FINER = 3
"""Estimates of a certificate's program are so many times as dense as its points."""
_NOTHING = 1e-9
"""Less mass than this is left out."""
_SPARED = 1e-7
"""Epsilon that is left for rounding to whole numbers."""
_BITS, _LARGEST = 44, 50
"""A certificate's numbers have at most so many bits after the point, and in all."""


@dataclass(frozen=True, slots=True, eq=False)
class Aim:
    """What is to be least on the points -half..half: the largest variance, or the mean by `weights` of all points."""

    half: int
    weights: FloatArray | None = None

    @property
    def mirrored(self) -> bool:
        """Whether points count like their mirrors, so that one half of them is enough."""
        return self.weights is None or bool(np.array_equal(self.weights, self.weights[::-1]))

    @property
    def points(self) -> IntArray:
        """The points of the program."""
        return np.arange(0 if self.mirrored else -self.half, self.half + 1)

    def shares(self) -> FloatArray | None:
        """The weight of each point of the program, or None for the largest."""
        if self.weights is None or not self.mirrored:
            return self.weights
        folded = self.weights[self.half :].copy()
        folded[1:] *= 2
        return folded

    def looked_at(self, epsilon: float) -> tuple[IntArray, FloatArray | None]:
        """The points that a program needs, and their shares: some stand for very many, unless these have weights.

        What fits a base measure at two points, and their mixture, fits it in between (section 5 of the page).
        """
        points, shares = self.points, self.shares()
        most = _ENOUGH * usual_half(epsilon)
        one = self.weights is None or (self.mirrored and np.count_nonzero(self.weights[self.half + 1 :]) == 0)
        if self.half <= most or not one:
            return points, shares
        some = np.unique(np.rint(np.linspace(0, self.half, most + 1)).astype(np.int64))
        return some, None if shares is None else shares[some]


def usual_half(epsilon: float) -> int:
    """How many points on one side of the middle are enough."""
    return next(half for most, half in _HALVES if epsilon <= most)


def most_weighed(epsilon: float) -> int:
    """How many points may have weights of their own."""
    return 2 * max(_WEIGHED, usual_half(epsilon)) + 1


def _along(table: Sequence[tuple[float, float]], epsilon: float) -> float:
    at, value = zip(*table, strict=True)
    return float(np.interp(epsilon, at, value))


# ---- which reports


def _candidates(epsilon: float, aim: Aim, stride: int) -> IntArray:
    """Estimates >= 0 in steps of the lattice: around those of the best mechanism where they are known."""
    half, first, last = aim.half, 0.0, 1.05 * (1 + _along(_REACH, epsilon))
    if epsilon <= LIMIT_ONE:
        tau = math.tanh(epsilon / 2)
        first, last = math.exp(-tau) / math.sinh(tau), math.exp(tau) / math.sinh(tau)
    elif epsilon < _REACH[0][0]:
        e = math.exp(epsilon)
        t = math.log1p(2 / e) / 2
        last = math.sqrt(e * (e + 2)) / (e - (e + 1) * t) * math.exp(t)
    if aim.weights is not None:
        outer = 2 * math.exp(epsilon) / math.expm1(epsilon)
        first, last = 0.0, max(last, min(outer, (math.exp(epsilon) + 2) / math.expm1(epsilon) + 0.1))
        last = max(last, outer) if epsilon <= math.log(2) else last
    low, high = max(0, math.floor(first * half) - 2), math.ceil(last * half) + 1
    return np.arange(-(-low // stride) * stride, high + 1, stride)


# ---- the program


@dataclass(frozen=True, slots=True, eq=False)
class _Solved:
    """The base measure of each estimate, and the prices of mass, mean and variance at each point."""

    least: float
    measure: FloatArray
    mass: FloatArray
    mean: FloatArray
    variance: FloatArray


def _solve(
    epsilon: float, points: FloatArray, estimates: FloatArray, mirrored: bool, shares: FloatArray | None
) -> _Solved:
    """Least (largest or mean) variance over measures on the estimates and, if `mirrored`, on their mirrors."""
    from scipy import sparse
    from scipy.optimize import linprog

    own = np.arange(estimates.size)
    there = estimates > 0 if mirrored else np.zeros(estimates.size, bool)
    y = np.concatenate([-estimates[there], estimates])
    of = np.concatenate([own[there], own])
    off = y[None, :] - points[:, None]
    wide = math.inf if epsilon <= _WIDE[0][0] else _along(_WIDE, epsilon) * (1 if shares is None else 2)
    at, column = np.nonzero(np.abs(off) <= wide)
    near, count = off[at, column], at.size
    rise = math.expm1(epsilon)

    def terms(power: int, last: float) -> Any:
        """Sums over reports of off^power, by the base measure, by what is favoured, and the largest."""
        base = np.stack([np.bincount(of, weights=row**power, minlength=estimates.size) for row in off])
        chosen = sparse.csr_array((rise * near**power, (at, np.arange(count))), shape=(points.size, count))
        end = sparse.csr_array(np.full((points.size, 1), last))
        return sparse.hstack([sparse.csr_array(base), chosen, end], format="csr")

    below = sparse.hstack(
        [
            sparse.csr_array((-np.ones(count), (np.arange(count), of[column])), shape=(count, estimates.size)),
            sparse.eye_array(count, format="csr"),
            sparse.csr_array((count, 1)),
        ],
        format="csr",
    )
    squares = terms(2, -1.0 if shares is None else 0.0)
    price = np.zeros(estimates.size + count + 1)
    if shares is None:
        price[-1] = 1.0
    else:
        price = np.asarray(shares @ squares)
    under = sparse.vstack([squares, below], format="csr") if shares is None else below
    equal = sparse.vstack([terms(0, 0.0), terms(1, 0.0)], format="csr")
    right = np.concatenate([np.ones(points.size), np.zeros(points.size)])
    limits: Any = {"A_ub": under, "b_ub": np.zeros(under.shape[0]), "A_eq": equal, "b_eq": right}
    found: Any = linprog(price, **limits, bounds=(0, None), method="highs-ipm")
    if found.status != 0:
        hint = "Take more points or outputs, or another epsilon."
        raise ParameterError(f"no best mechanism was found at epsilon {epsilon:g}: {found.message}", hint)
    size, prices = points.size, found.eqlin.marginals
    variance = -found.ineqlin.marginals[:size] if shares is None else shares
    return _Solved(found.fun, found.x[: estimates.size], prices[:size], prices[size:], np.maximum(variance, 0))


def best_measure(
    epsilon: float, aim: Aim, outputs: int, progress: Progress | None = None
) -> tuple[IntArray, FloatArray]:
    """At most so many estimates on the lattice, in rising order, with their base measures.

    Where the lattice has more, every second (third, ...) estimate is looked at; where even the best mechanism on these
    has more, the estimates with the least mass are left out, some at a time, and the others found again.
    """
    kept = _candidates(epsilon, aim, 1)
    stride = 1
    while 2 * kept.size - 1 > max(4 * outputs, 64) or (2 * _used(kept, aim) > 256 >= outputs and stride < 4):
        stride *= 2
        kept = _candidates(epsilon, aim, stride)
        if kept.size < 3:
            break
    full = kept if aim.mirrored else np.concatenate([-kept[:0:-1] if kept[0] == 0 else -kept[::-1], kept])
    points, shares = aim.looked_at(epsilon)
    while True:
        _tell(progress, "looking for the best reports", points.size, full.size)
        found = _solve(epsilon - _SPARED * min(1.0, epsilon), points / aim.half, full / aim.half, aim.mirrored, shares)
        heavy = found.measure > _NOTHING
        full, measure = full[heavy], found.measure[heavy]
        many = int(full.size + (np.count_nonzero(full) if aim.mirrored else 0))
        if many <= outputs:
            break
        drop = max(1, (many - outputs + 3) // 4)
        full = np.sort(full[np.argsort(measure, kind="stable")[drop:]])
    if not aim.mirrored:
        return full, measure
    there = full > 0
    return np.concatenate([-full[there][::-1], full]), np.concatenate([measure[there][::-1], measure])


def _tell(progress: Progress | None, what: str, points: int, estimates: int) -> None:
    if progress is not None:
        progress(f"{what}: a linear programme of {points:,} points and {estimates:,} estimates", 0.0)


def _used(kept: IntArray, aim: Aim) -> int:
    """How many estimates of one sign the best mechanism may use."""
    return int(np.count_nonzero(kept <= 1.06 * aim.half)) if kept.size > 128 else 0


# ---- the certificate


def prove_bound(epsilon: float, aim: Aim, progress: Progress | None = None) -> Certificate:
    """A certificate from the prices of a program with denser estimates, and fewer points if the largest counts.

    Between the estimates of the program H may be above 0. That is mended by lowering A of the points, by the least sum
    of what is lowered that a small program finds, some times again since H bends, and by one amount for all at last.
    """
    coarse = Aim(max(12, min(aim.half // 2, usual_half(epsilon)))) if aim.weights is None else aim
    points = coarse.points / coarse.half
    stretch = _candidates(epsilon, coarse, 1)
    dense = np.arange(stretch[0] * _FINER, stretch[-1] * _FINER + 1) / (coarse.half * _FINER)
    full = dense if coarse.mirrored else np.concatenate([-dense[::-1], dense])
    _tell(progress, "proving how near to the best they are", points.size, np.unique(full).size)
    solved = _solve(epsilon, points, np.unique(full), coarse.mirrored, coarse.shares())
    kept = (solved.variance > 1e-12) | (np.abs(solved.mean) > 1e-12)
    x, mean, variance = points[kept], solved.mean[kept], solved.variance[kept]
    fine = np.linspace(0.0 if coarse.mirrored else -1.3 * dense[-1], 1.3 * dense[-1], 6001)
    mass = _lowered(epsilon, x, solved.mass[kept], mean, variance, fine, coarse.mirrored)
    numbers = np.stack([variance, mass - mean * x - variance * x * x, mean + 2 * variance * x])
    bits = min(_BITS, _LARGEST - math.ceil(math.log2(np.abs(numbers).max())))
    whole = np.rint(np.ldexp(numbers, bits)).astype(np.int64)
    at = np.rint(x * coarse.half).astype(np.int64)
    rows: list[Row] = [(int(X), coarse.half, int(P), int(A), int(B)) for X, (P, A, B) in zip(at, whole.T, strict=True)]
    return Certificate(tuple(rows), coarse.mirrored)


def _lowered(
    epsilon: float,
    x: FloatArray,
    mass: FloatArray,
    mean: FloatArray,
    variance: FloatArray,
    y: FloatArray,
    mirrored: bool,
) -> FloatArray:
    """The prices of mass, lowered so that H is nowhere above 0, at as little cost as is found."""
    from scipy.optimize import linprog

    e = math.exp(epsilon)
    sides = [y, -y] if mirrored else [y]
    offs = [side[None, :] - x[:, None] for side in sides]
    fixed = [mean[:, None] * off - variance[:, None] * off * off for off in offs]

    def slopes(prices: FloatArray) -> list[FloatArray]:
        return [np.where(prices[:, None] + part > 0, e, 1.0) for part in fixed]

    def height(prices: FloatArray) -> FloatArray:
        parts = zip(slopes(prices), fixed, strict=True)
        return np.asarray(sum((slope * (prices[:, None] + part)).sum(axis=0) for slope, part in parts))

    best = mass - np.inf
    for _ in range(4):
        step = 0.0
        while (high := height(mass - step)).max() > 0:
            slope = np.asarray(sum(part.sum(axis=0) for part in slopes(mass - step)))
            step += max(float((high / slope).max()), 1e-18)
        if (mass - step).sum() <= best.sum():
            break
        best, high = mass - step, height(mass)
        if step == 0.0:
            break
        tops = np.flatnonzero((high[1:-1] >= high[:-2]) & (high[1:-1] >= high[2:])) + 1
        tops = np.concatenate([[0], tops])
        pull = np.asarray(sum(part[:, tops] for part in slopes(mass)))
        found: Any = linprog(-np.ones(x.size), pull.T, -high[tops] / (4 * step), bounds=(-1, 1), method="highs")
        if found.status != 0:
            break
        mass = mass + 4 * step * found.x
    return np.asarray(best)
