"""BRR's theorems and its rules for m, recomputed: every printed formula against exact losses on lines."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np

from deniable.core.laws import epsilon_to
from deniable.core.types import FloatArray, IntArray
from deniable.mechanisms.metric.bipartite import line_min, local_m
from deniable.mechanisms.metric.losses import Line, MatrixLosses
from deniable.papers.brr import printed
from deniable.papers.evidence import Evidence
from deniable.papers.paper import Context, Measures, shared

__all__ = ["BUDGETS", "each_loss", "local_ratios", "measures", "rules"]

measures = Measures()

BUDGETS = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 0.95, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0)
"""Budgets on which rules for m are compared, for every number of points."""

_SAME = 1e-9


def each_loss(losses: Line | MatrixLosses, epsilon: float, m: int) -> FloatArray:
    """The expected loss of every answer with the m nearest reports favoured [BRR Eq. 10]."""
    t, v = epsilon_to(epsilon)
    outputs = losses.outputs
    if isinstance(losses, Line):
        near, all_of = losses.near_each(m), losses.near_each(outputs)
    else:
        near, all_of = losses.rows[:, :m].sum(axis=1), losses.rows.sum(axis=1)
    return np.asarray((v * near + t * all_of) / (v * m + t * outputs))


def local_ratios(points: int, epsilon: float, m: int | None = None) -> FloatArray:
    """Local losses relative to those of GRR."""
    line = Line(points)
    return each_loss(line, epsilon, line_min(points, epsilon) if m is None else m) / each_loss(line, epsilon, 1)


# ---- rules for m


@dataclass(frozen=True, slots=True)
class Choice:
    """What all rules for m choose at one number of points and budget."""

    points: int
    epsilon: float
    own: IntArray
    """The m of each answer of the first half [BRR Alg. 1]."""
    closed: int
    by_alg3: int

    @property
    def least(self) -> int:
        """The m of BRR Alg. 2."""
        return int(self.own.min())


@shared
def rules(context: Context) -> list[Choice]:
    """For lines of 2 to 400 points (quick: 120) and all budgets."""
    top = 120 if context.quick else 400
    context.progress(f"brr: m by all rules, lines of 2 to {top} points")
    return [rule for points in range(2, top + 1) for rule in _rules_at(points)]


def _rules_at(points: int) -> list[Choice]:
    rows = np.sort(Line(points).matrix()[: (points + 1) // 2], axis=1)
    return [
        Choice(points, epsilon, local_m(rows, epsilon), line_min(points, epsilon), printed.alg3(points, epsilon))
        for epsilon in BUDGETS
    ]


def _wrong(cases: list[Choice], read: Callable[[Choice], int]) -> dict[str, float]:
    """How often a reading of the rules differs from Alg. 2, by how much, and where first."""
    bad = [(rule, off) for rule in cases if (off := read(rule) - rule.least)]
    found: dict[str, float] = {"settings": len(cases), "wrong": len(bad)}
    if bad:
        found |= {"smallest difference": min(off for _, off in bad), "largest difference": max(off for _, off in bad)}
    for rule, off in bad[:2]:
        at = f"N={rule.points} epsilon={rule.epsilon:g}"
        found |= {f"{at}, printed": rule.least + off, f"{at}, Alg. 2": rule.least}
    return found


def _both(cases: list[Choice], read: Callable[[Choice], int]) -> dict[str, float]:
    """How often the printed rule and the corrected one differ from Alg. 2."""
    return _wrong(cases, read) | {"wrong with the corrected rule": sum(rule.closed != rule.least for rule in cases)}


@measures("alg3-even")
def even_i(context: Context) -> Evidence:
    """E1: an even i is made i + 1."""
    cases = [rule for rule in rules(context) if rule.epsilon < 1]
    return _both(cases, lambda rule: rule.by_alg3)


@measures("thm1-m")
def from_one(context: Context) -> Evidence:
    """E2: m = m1 from epsilon 1 on."""
    cases = [rule for rule in rules(context) if rule.epsilon >= 1]
    return _both(cases, lambda rule: rule.by_alg3)


@measures("alg3-roots")
def roots(context: Context) -> Evidence:
    """E5 and E6: the roots as the proof prints them; beside it, as the lines of the algorithm can be read."""
    cases = rules(context)
    found = _wrong(cases, lambda rule: printed.alg3(rule.points, rule.epsilon, even=-1))
    for name, lines in {"a root over all of line 1": {"line1": True}, "e/2 in line 3": {"line3": True}}.items():
        read = [printed.alg3(rule.points, rule.epsilon, even=-1, **lines) != rule.least for rule in cases]
        found[f"another m with {name}"] = sum(read)
    return found


@measures("eq12-14")
def proof_roots(_: Context) -> Evidence:
    """Eq. 12 to 14 against Eq. 9 itself."""
    off = 0.0
    for points, epsilon in product((4, 9, 20, 33), (0.3, 1.0, 3.0)):
        e = math.exp(epsilon)
        rows = np.sort(Line(points).matrix(), axis=1)
        middle = printed.eq13 if points % 2 == 0 else printed.eq14
        for i in range(2, points + 1):
            off = max(off, abs(printed.slope(rows[0], i, e) - printed.eq12(points, i, e)) / points**2)
            if i % 2:
                found = printed.slope(rows[(points - 1) // 2], i, e)
                off = max(off, abs(found - middle(points, i, e)) / points**2)
    return {"largest deviation": off}


@measures("end-or-middle")
def extreme_or_middle(context: Context) -> Evidence:
    """Fig. 3: the least m is that of an end or of the middle."""
    cases = rules(context)
    lost = [rule for rule in cases if min(int(rule.own[0]), int(rule.own[-1])) != rule.least]
    return {"settings": len(cases), "least m elsewhere": len(lost)}


@measures("eq15")
def inequality15(context: Context) -> Evidence:
    """E3, at the budgets for which it is stated."""
    cases = [rule for rule in rules(context) if rule.epsilon >= 1]
    both = [printed.eq15(rule.points, rule.epsilon) for rule in cases]
    true = sum(left < right for left, right in both)
    left, right = printed.eq15(1000, 1.0)
    return {"settings": len(both), "inequality true": true, "N=1000 epsilon=1, left": left, "right": right}


@measures("m1-floor")
def integer_root(_: Context) -> Evidence:
    """E7: e^epsilon = 2 and six points, where every number is exact."""
    points, e = 6, 2
    root = (math.sqrt(points**2 * e + (1 - e) ** 2 / 4) - (points - e / 2 + 0.5)) / (e - 1)
    own = int(local_m(np.sort(Line(points).matrix(), axis=1), math.log(2)).min())
    return {"root": root, "floor": math.floor(root), "Alg. 2": own, "here": line_min(points, math.log(2))}


@measures("step2")
def step_two(_: Context) -> Evidence:
    """E8: the i at which the derivative is no longer negative is not raised."""
    worse = same = better = 0
    for points, epsilon in product((8, 20, 41), (0.5, 1.0, 2.0, 4.0)):
        line = Line(points)
        rows = np.sort(line.matrix(), axis=1)
        for row, own in zip(rows, local_m(rows, epsilon).tolist(), strict=True):
            alone = MatrixLosses(row[None, :])
            gap = float((each_loss(alone, epsilon, own + 1) / each_loss(alone, epsilon, own))[0]) - 1
            worse, same, better = worse + (gap > _SAME), same + (abs(gap) <= _SAME), better + (gap < -_SAME)
    return {"rows": worse + same + better, "m = i is worse": worse, "the same": same, "better": better}
