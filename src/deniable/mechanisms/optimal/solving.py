"""The best choice of outputs for an estimate: a convex problem, solved from inside and then on few outputs.

Nothing here is believed: `certificate` says how near a choice is to the best one. Why the choice may be sparse:
docs/maths/optimal.md, section 4.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from deniable.core.types import FloatArray, IntArray
from deniable.errors import DeniableError
from deniable.mechanisms.optimal.certificate import Certificate, Problem, certified, least_of

__all__ = ["chosen", "near_least"]

_STEPS = 100
_SMALL = 1e-11
"""What is left above the least, as a share, when the walk inside ends."""
_BOUNDARY = 0.99
"""Share of the way to the boundary that a step takes at most."""
_RARE = 1e-10
"""Outputs that are rarer are left out on the way."""
_POLISH = 12
"""Steps of Newton's method on the outputs in use."""

Progress = Callable[[int, float], None]


def chosen(problem: Problem, progress: Progress | None = None) -> FloatArray:
    """Weights of least spread, most of them 0; `progress` hears of each step, and how far from the least it is."""
    white = _whitened(problem)
    inside, slack = _inside(white, progress)
    kept = np.flatnonzero(inside > slack)
    for some, w in (_sparse(white, inside, kept), (kept, inside[kept])):
        polished = _polished(white, w, some)
        if polished is not None:
            return polished
    return np.asarray(inside / inside.sum())


def near_least(problem: Problem) -> Certificate:
    """The certificate of a choice that is nearly the best one, for those who need the bound and not the choice."""
    w = _inside(_whitened(problem), None)[0]
    return certified(problem, problem, w / w.sum(), tight=False)


def _whitened(problem: Problem) -> Problem:
    """The same in coordinates and units in which equal weights have S = I, s = 1 and the spread 1."""
    even = np.full(problem.size, 1 / problem.size)
    inner, single = problem.moments(even)
    root = np.linalg.inv(np.linalg.cholesky(inner))
    cost, kappa = root @ problem.cost @ root.T, problem.kappa / single
    unit = float(np.trace(cost) + kappa.sum())
    turns, sums = np.ascontiguousarray(problem.turns @ root.T), problem.sums
    outer = np.linalg.inv(np.linalg.cholesky((sums.T * even) @ sums))
    return Problem(turns, cost / unit, problem.squares / single, kappa / unit, sums @ outer.T)


@dataclass(frozen=True, slots=True, eq=False)
class _Point:
    """What Newton's method needs at a choice: the spread, minus its slopes, and F with curvature 2 F'F."""

    spread: float
    q: FloatArray
    curve: FloatArray


def _at(problem: Problem, w: FloatArray, turns: FloatArray, squares: FloatArray) -> _Point:
    """At weights w of some outputs; curvature_ij = 2 (t_i S^-1 t_j)(t_i S^-1 C S^-1 t_j) + 2 sum kappa v_i v_j / s^3.

    In the basis in which S^-1 is I and C is diagonal (c), the first part is the sum over a <= b of products of
    (c_a + c_b) t_ia t_ib, and c_a t_ia^2 where a = b.
    """
    inner, single = (turns.T * w) @ turns, w @ squares
    root = np.linalg.inv(np.linalg.cholesky(inner))
    c, basis = np.linalg.eigh(root @ problem.cost @ root.T)
    c = np.maximum(c, 0.0)
    y = (turns @ (root.T @ basis)).T
    a, b = np.triu_indices(len(c))
    curve = np.sqrt(np.where(a == b, c[a], c[a] + c[b]))[:, None] * y[a] * y[b]
    own = np.sqrt(problem.kappa / single**3)[:, None] * squares.T
    q = c @ y**2 + squares @ (problem.kappa / single**2)
    return _Point(float(c.sum() + (problem.kappa / single).sum()), q, np.concatenate([curve, own]))


def _inside(problem: Problem, progress: Progress | None) -> tuple[FloatArray, FloatArray]:
    """A point near the best one from inside, and how far each output is below the line of the certificate.

    Primal and dual steps with a predictor and a corrector; conditions are l0 + l.u_j - q_j = s_j, w_j s_j = mu, and
    the sums of w and w u.
    """
    m = problem.size
    rows = np.concatenate([np.ones((1, m)), problem.sums.T])
    goal = np.eye(len(rows))[0]
    w = _start(rows, goal)
    here = _at(problem, w, problem.turns, problem.squares)
    line = np.zeros(len(rows))
    line[0] = 1.1 * here.q.max()
    s = line[0] - here.q
    for step in range(_STEPS):
        off = goal - rows @ w
        above = float(w @ s) / here.spread
        if progress is not None:
            progress(step, above)
        if above < _SMALL:
            break
        solve = _system(here.curve, rows, w / s)
        base = here.q - line @ rows
        dw, _, ds = solve(base, off, w, s)
        most = _most(w, dw, s, ds)
        aimed = float((w + most * dw) @ (s + most * ds)) / m
        mu = float(w @ s) / m
        target = mu * (aimed / mu) ** 3
        dw, dline, ds = solve(base + (target - dw * ds) / w, off, w, s, (target - dw * ds) / w)
        most = _BOUNDARY * _most(w, dw, s, ds)
        while True:
            there = _at(problem, w + most * dw, problem.turns, problem.squares)
            if there.spread < 4 * here.spread or most < 1e-3:
                break
            most /= 2
        w, line, s, here = w + most * dw, line + most * dline, s + most * ds, there
        if most < 1e-8:
            break
    return w, s


def _start(rows: FloatArray, goal: FloatArray) -> FloatArray:
    """Weights with the right sums, none of them near 0: the nearest to equal ones, or those whose least is largest."""
    m = rows.shape[1]
    even = np.full(m, 1 / m)
    near = even + np.linalg.lstsq(rows, goal - rows @ even, rcond=None)[0]
    if near.min() > 0.2 / m:
        return np.asarray(near)
    columns = np.column_stack([rows.mean(axis=1), rows])
    best = least_of(-1.0 * (np.arange(m + 1) == 0), equal=(columns, goal))
    if best is None:
        raise DeniableError("no weights of the extreme outputs make a channel.", "Use larger budgets, or other shares.")
    return np.asarray(best[0] / m + best[1:])


Solver = Callable[..., tuple[FloatArray, FloatArray, FloatArray]]


def _system(curve: FloatArray, rows: FloatArray, ratio: FloatArray) -> Solver:
    """(2 F'F + diag(s/w)) dw + A' dl = given, A dw = off: by a system of as many unknowns as F and A have rows."""
    both = np.concatenate([curve, rows])
    inner = (both * ratio) @ both.T
    d = len(curve)
    inner[np.arange(d), np.arange(d)] += 0.5
    size = np.sqrt(np.diag(inner))
    factor = np.linalg.inv(np.linalg.cholesky(inner / np.outer(size, size) + 1e-15 * np.eye(len(inner)))) / size

    def solve(
        given: FloatArray, off: FloatArray, w: FloatArray, s: FloatArray, aim: FloatArray | float = 0.0
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        right = both @ (ratio * given)
        right[d:] -= off
        found = factor.T @ (factor @ right)
        found += factor.T @ (factor @ (right - inner @ found))
        dw = ratio * (given - found @ both)
        return dw, found[d:], np.asarray(aim - s - dw / ratio)

    return solve


def _most(w: FloatArray, dw: FloatArray, s: FloatArray, ds: FloatArray) -> float:
    """The longest step, at most 1, that keeps w and s at 0 or above."""
    down = min(float((dw / w).min()), float((ds / s).min()))
    return 1.0 if down >= -1 else -1 / down


def _sparse(problem: Problem, w: FloatArray, kept: IntArray) -> tuple[IntArray, FloatArray]:
    """Few outputs with the same sums: a vertex of all weights with the same S, s, total and sum of w u."""
    t = problem.turns[kept]
    a, b = np.triu_indices(t.shape[1])
    single = problem.sums[kept].T, problem.squares[kept].T
    sums = np.concatenate([np.ones((1, kept.size)), (t[:, a] * t[:, b]).T, *single])
    sums /= np.abs(sums).max(axis=1, keepdims=True)
    found = least_of(-w[kept], equal=(sums, sums @ w[kept]), vertex=True)
    if found is None:
        return kept, w[kept]
    heavy = found > _RARE
    return kept[heavy], found[heavy]


def _polished(problem: Problem, w: FloatArray, kept: IntArray) -> FloatArray | None:
    """The best weights of the outputs `kept` by Newton's method, near w; None where it leads nowhere."""
    for _ in range(_POLISH):
        turns, squares = problem.turns[kept], problem.squares[kept]
        rows = np.concatenate([np.ones((1, kept.size)), problem.sums[kept].T])
        goal = np.eye(len(rows))[0]
        here = _at(problem, w, turns, squares)
        n, e = kept.size, len(rows)
        system = np.block([[2 * here.curve.T @ here.curve, rows.T], [rows, np.zeros((e, e))]])
        move = np.linalg.lstsq(system, np.concatenate([here.q, goal - rows @ w]), rcond=1e-14)[0][:n]
        w = w + move
        good = w > _RARE
        if not good.all():
            kept, w = kept[good], w[good]
            if kept.size < e:
                return None
        elif np.abs(move).max() < 1e-15:
            break
    whole = np.zeros(problem.size)
    whole[kept] = w
    return whole
