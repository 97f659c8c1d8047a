"""What an estimate costs at best, and a proof of it that trusts no solver.

A channel has outputs with probabilities w_j at a prior f and likelihoods r_j (columns, f.r_j = 1). With t_j = r_j - 1
and S = sum w_j t_j t_j' the best unbiased linear estimates have the covariance Q = (11' + S)^-1 - ff', and what is to
be small is spread = tr(K Q). Whatever the channel, spread >= spread^2 / l0 if l0 + l.t_j >= q_j for all extreme
outputs, q_j being the squared deviation of the score of j. Proofs: docs/maths/optimal.md, sections 2 and 3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.core.types import FloatArray, IntArray

__all__ = ["Certificate", "Problem", "certified", "least_of", "plane_of", "problem_of"]


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Outputs to choose from, in coordinates in which nothing cancels: spread = tr(C S^-1) + sum_i kappa_i / s_i.

    S = sum w_j t_j t_j' and s_i = sum w_j v_ji; a choice has w >= 0, sum w_j = 1 and sum w_j u_j = 0.
    """

    turns: FloatArray
    """t_j, a row for each output."""
    cost: FloatArray
    """C."""
    squares: FloatArray
    """v_j, a row for each output: what exchangeable values have in common; no columns where there are none."""
    kappa: FloatArray
    sums: FloatArray
    """u_j, a row for each output: what must cancel; t_j, unless more is promised than what is estimated depends on."""

    def some(self, kept: IntArray) -> Problem:
        """The same with some of the outputs only."""
        return Problem(self.turns[kept], self.cost, self.squares[kept], self.kappa, self.sums[kept])

    @property
    def size(self) -> int:
        """Number of outputs."""
        return len(self.turns)

    def moments(self, w: FloatArray) -> tuple[FloatArray, FloatArray]:
        """S and s of a choice."""
        return np.asarray((self.turns.T * w) @ self.turns), np.asarray(w @ self.squares)

    def spread(self, w: FloatArray) -> float:
        """What is to be small."""
        inner, single = self.moments(w)
        return float(np.trace(np.linalg.solve(inner, self.cost)) + (self.kappa / single).sum())

    def deviations(self, w: FloatArray) -> FloatArray:
        """q_j of all outputs, under a choice: minus the slope of `spread` in w_j."""
        inner, single = self.moments(w)
        inverse = np.linalg.inv(inner)
        middle = inverse @ self.cost @ inverse
        own = np.einsum("jx,jx->j", self.turns @ middle, self.turns)
        return np.asarray(own + self.squares @ (self.kappa / single**2))


def problem_of(rays: FloatArray, prior: FloatArray, weights: FloatArray) -> Problem:
    """The outputs of these likelihoods (rows) at a prior, `weights` being K; and nothing that is exchangeable.

    Columns of `plane` are an orthonormal basis of {s: f.s = 0}; in that basis tr(K Q) = tr(C S^-1).
    """
    plane = plane_of(prior)
    turns = np.ascontiguousarray((rays / (rays @ prior)[:, None] - 1) @ plane)
    back = plane - np.outer(prior, plane.sum(axis=0))
    return Problem(turns, back.T @ weights @ back, np.zeros((len(rays), 0)), np.zeros(0), turns)


def plane_of(prior: FloatArray) -> FloatArray:
    """An orthonormal basis (columns) of what has the product 0 with a vector."""
    return np.ascontiguousarray(np.linalg.svd(prior[None])[2][1:].T)


@dataclass(frozen=True, slots=True)
class Certificate:
    """How near a choice is to the best one; all for one report."""

    spread: float
    """What the choice has, items being drawn from the prior."""
    least: float
    """No channel that keeps the promise has less."""

    @property
    def gap(self) -> float:
        """The largest share by which the spread may be above the least possible one."""
        return max(0.0, 1 - self.least / self.spread) if self.spread > 0 else 0.0


def certified(every: Problem, used: Problem, w: FloatArray, *, tight: bool = True) -> Certificate:
    """The certificate of a choice `w` among the outputs `used`, against `every` extreme output.

    The line is fitted to the outputs in use, and raised until it is above all. `tight`: only if that leaves a gap, it
    is looked for by a linear program; whichever line it is, the bound is checked here.
    """
    inner, single = used.moments(w)
    spread = used.spread(w)
    root = np.linalg.inv(np.linalg.cholesky(inner))
    scaled = root @ every.cost @ root.T
    turned = every.turns @ root.T
    q = np.einsum("jx,jx->j", turned @ scaled, turned) + every.squares @ (every.kappa / single**2)
    own = used.turns @ root.T
    goal = np.einsum("jx,jx->j", own @ scaled, own) + used.squares @ (every.kappa / single**2)
    line = np.column_stack([np.ones(len(own)), used.sums]) * np.sqrt(w)[:, None]
    size = np.maximum(np.abs(line).max(axis=0), 1e-300)
    found = np.linalg.lstsq(line / size, goal * np.sqrt(w), rcond=None)[0] / size
    least = _bound(spread, found[1:], every.sums, q)
    if tight and 1 - least / spread > _GAP:
        least = max(least, _bound(spread, _best_line(every.sums, q), every.sums, q))
    return Certificate(spread, least)


_GAP = 1e-10
"""Gaps below this are not worth a linear program."""


def _bound(spread: float, line: FloatArray, turns: FloatArray, q: FloatArray) -> float:
    """spread^2 / l0, where l0 is the least that keeps l0 + l.t_j >= q_j for all outputs; never above spread."""
    top = float((q - turns @ line).max())
    return min(spread, spread * (spread / top)) if top > 0 else spread


def _best_line(turns: FloatArray, q: FloatArray) -> FloatArray:
    """The line of least l0 by a linear program; nothing depends on its being right."""
    scale, size = float(q.max()), np.maximum(np.abs(turns).max(axis=0), 1e-300)
    rows = np.column_stack([np.ones(len(turns)), turns / size])
    found = least_of(np.eye(rows.shape[1])[0], below=(-rows, -q / scale), free=True)
    return np.zeros(turns.shape[1]) if found is None else np.asarray(found[1:] * scale / size)


# ---- linear programmes

_OPTIONS: Mapping[str, Any] = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
"""What the solver says is checked by whoever asks."""


def least_of(
    cost: FloatArray,
    *,
    equal: tuple[FloatArray, FloatArray] | None = None,
    below: tuple[FloatArray, FloatArray] | None = None,
    free: bool = False,
    vertex: bool = False,
) -> FloatArray | None:
    """Numbers >= 0 (any, if `free`) of least cost with Ax = b (`equal`) and Ax <= b (`below`); None if none were found.

    `vertex`: those of a vertex, of which few are above 0.
    """
    from scipy import optimize

    given: dict[str, Any] = {"bounds": (None if free else 0, None), "method": "highs-ds" if vertex else "highs"}
    given |= {} if equal is None else {"A_eq": equal[0], "b_eq": equal[1]}
    given |= {} if below is None else {"A_ub": below[0], "b_ub": below[1]}
    solver: Any = optimize.linprog
    found = solver(cost, options=dict(_OPTIONS), **given).x
    return None if found is None else np.asarray(found, np.float64)
