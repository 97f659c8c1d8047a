"""What BRR says beyond its theorems, checked: optimality, grids, other mechanisms, regions, and its applications."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

from deniable.audit.exact import audit
from deniable.core.space import Space
from deniable.mechanisms.metric import staircase
from deniable.mechanisms.metric.baselines import exponential, laplace_loss, level
from deniable.mechanisms.metric.bipartite import choose_m, fine_limit, line_min, loss_of
from deniable.mechanisms.metric.bound import optimal_release
from deniable.mechanisms.metric.codes_search import interval_codes, line_codes
from deniable.mechanisms.metric.losses import Line, MatrixLosses
from deniable.papers.brr.figures import fig3_holds
from deniable.papers.brr.places import find_table
from deniable.papers.brr.printed import grid_alg4
from deniable.papers.brr.theory import BUDGETS, each_loss
from deniable.papers.evidence import Evidence, Missing
from deniable.papers.leaks import Leak, bounded_noise, clipping_by_data, interval_by_sign, region_restriction
from deniable.papers.paper import Context, Measures
from deniable.papers.rules import EXACT

__all__ = ["measures"]

measures = Measures()


@measures("optimal")
def optimal(_: Context) -> Evidence:
    """E11: against the best mechanism of the same promise, a constant, and the best common m."""
    found: dict[str, float] = {}
    for epsilon in (0.1, 0.5, 1.0, 2.0, 3.0):
        line = Line(40)
        best = line_codes(line, epsilon).loss
        found[f"above the optimum, N=40 epsilon={epsilon:g}"] = loss_of(line, epsilon, line_min(40, epsilon)) / best - 1
    small = Line(12)
    linear = optimal_release(small.matrix(), 1.0).loss
    found["codebook - linear programme, N=12 epsilon=1"] = line_codes(small, 1.0).loss - linear
    found["worse than a constant answer below epsilon"] = _break_even()
    excess = {
        (n, e): loss_of(line, e, line_min(n, e)) / loss_of(line, e, choose_m(line, e, "mean")) - 1
        for n, e in product(range(4, 121, 2), BUDGETS)
        if (line := Line(n))
    }
    worst = max(excess, key=lambda at: excess[at])
    found[f"min over answers above the best common m, N={worst[0]} epsilon={worst[1]:g}"] = excess[worst]
    return found


def _break_even() -> float:
    """The budget at which BRR on an interval is as good as the constant middle."""
    low, high = 0.1, 3.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if fine_limit(middle) > 0.25 else (low, middle)
    return low


@measures("more-points")
def more_points(_: Context) -> Evidence:
    """E12: the loss on [0, 1] against the number of points, on Alg. 4's grid and on midpoints of cells."""
    found: dict[str, float] = {}
    rises = 0
    for epsilon in (1.0, 2.0, 4.0):
        for layout, line in (("ends", grid_alg4), ("midpoints", lambda n: Line(n, 1 / n, "midpoints"))):
            losses = {n: loss_of(line(n), epsilon, line_min(n, epsilon)) for n in range(2, 402)}
            best = min(losses, key=lambda n: losses[n])
            rises += sum(losses[n + 1] > losses[n] * (1 + 1e-9) for n in range(2, 401))
            at = f"epsilon={epsilon:g}, {layout}"
            found |= {f"{at}, N=7": losses[7], f"{at}, N=401": losses[401], f"{at}, best N={best}": losses[best]}
    return found | {"steps from N to N+1 where the loss rises": rises}


@measures("two-steps")
def two_steps(_: Context) -> Evidence:
    """E13: a staircase of three steps against two, and L-SRR on a line."""
    table = Space.integers(range(1, 101)).matrix()
    losses = MatrixLosses(table)
    found: dict[str, float] = {}
    for epsilon in (1.0, 2.0, 3.0):
        steps = staircase.staircase(staircase.rank_groups(table, (20, 20, 60)), 3, epsilon)
        at = f"Jaccard N=100 epsilon={epsilon:g}"
        found[f"{at}, BRR"] = 1 - loss_of(losses, epsilon, choose_m(losses, epsilon, "min"))
        found[f"{at}, three steps by rank"] = 1 - float((np.exp(steps) * table).sum() / 100)
        found[f"{at}, their exact level"] = level(steps)
    line = Line(40)
    halves = staircase.prefix_groups(staircase.shared_levels(np.arange(40), 5), (2, 1))
    logs = staircase.calibrated_staircase(halves, 3, 2.0)
    found["line of 40, epsilon=2, L-SRR"] = float((np.exp(logs) * line.matrix()).sum() / 40)
    found["line of 40, epsilon=2, GRR"] = loss_of(line, 2.0, 1)
    settings = {epsilon: f"Jaccard N=100 epsilon={epsilon:g}" for epsilon in (1.0, 2.0, 3.0)}
    better = sum(
        found[f"{one}, three steps by rank"] > found[f"{one}, BRR"]
        and found[f"{one}, their exact level"] <= epsilon * (1 + EXACT)
        for epsilon, one in settings.items()
    )
    return found | {"budgets at which three steps are better": better}


def _leaks(recipe: Callable[[float], Leak]) -> Evidence:
    """What a recipe leaks, exactly, at two promises."""
    found: dict[str, str | int] = {"promises": 0, "promises kept": 0}
    for epsilon in (1.0, 5.0):
        proved = audit(recipe(epsilon))
        exact = f"{proved.exact:.4g}" if math.isfinite(proved.exact) else "infinite"
        found |= {f"exact epsilon, promised {epsilon:g}": exact, "promises": int(found["promises"]) + 1}
        found["promises kept"] = int(found["promises kept"]) + proved.holds
    return found


@measures("region")
def regions(_: Context) -> Evidence:
    """E14."""
    return _leaks(region_restriction)


@measures("sgd-sign")
def sign(_: Context) -> Evidence:
    """E17, the interval."""
    return _leaks(interval_by_sign)


@measures("sgd-clip")
def clipping(_: Context) -> Evidence:
    """E17, the threshold."""
    return _leaks(clipping_by_data)


@measures("dnn-noise")
def published_noise(_: Context) -> Evidence:
    """The noise of the public code for networks."""
    return _leaks(bounded_noise)


@measures("exponential")
def exponential_level(_: Context) -> Evidence:
    """E15: the level that the exponential mechanism really uses."""
    found: dict[str, float] = {}
    line, table = Line(40), Line(40).matrix()
    for epsilon in (0.5, 1.0, 2.0):
        printed = exponential(table, epsilon, calibrated=False)
        found[f"line, promised {epsilon:g}, exact"] = level(np.log(printed))
        for name, matrix in (("printed", printed), ("calibrated", exponential(table, epsilon))):
            found[f"line of 40 epsilon={epsilon:g}, loss {name}"] = float((matrix * table).sum() / 40)
        found[f"line of 40 epsilon={epsilon:g}, loss BRR"] = loss_of(line, epsilon, line_min(40, epsilon))
    similar = Space.integers(range(1, 101)).matrix()
    found["Jaccard N=100, promised 1, exact"] = level(np.log(exponential(similar, 1.0, calibrated=False)))
    budgets = (0.5, 1.0, 2.0)
    at = {e: f"line of 40 epsilon={e:g}, loss" for e in budgets}
    used = {e: found[f"line, promised {e:g}, exact"] / e for e in budgets}
    found["line, largest relative deviation from epsilon"] = max(abs(share - 1) for share in used.values())
    found["line, largest relative deviation from epsilon/2"] = max(abs(2 * share - 1) for share in used.values())
    over = max(found[f"{at[e]} BRR"] / found[f"{at[e]} calibrated"] for e in budgets)
    return found | {"loss of BRR over that of the calibrated one, largest": over}


@measures("fig3")
def monotone(_: Context) -> Evidence:
    """Fig. 3, cell by cell."""
    good = total = 0
    for points, epsilon in product(range(4, 31, 2), (0.2, 1.0, 3.0)):
        right, cells = fig3_holds(points, epsilon)
        good, total = good + right, total + cells
    return {"cells": total, "as the figure says": good}


@measures("explosive")
def explosive(_: Context) -> Evidence:
    """Fig. 5(a): the loss of GRR over N."""
    found: dict[str, float] = {}
    for points in (100, 1000, 10_000):
        line = Line(points)
        found[f"GRR, loss/N, N={points}"] = loss_of(line, 1.0, 1) / points
        found[f"BRR, loss/N, N={points}"] = loss_of(line, 1.0, line_min(points, 1.0)) / points
    growth = found["GRR, loss/N, N=10000"] / found["GRR, loss/N, N=1000"] - 1
    return found | {"GRR, growth of loss/N from N=1000 to N=10000": growth}


@measures("fig5-6")
def lower_than_all(context: Context) -> Evidence:
    """Fig. 5 and 6: against GRR and the exponential mechanism, as printed and calibrated."""
    found: dict[str, float] = {}
    lost = 0
    for figure, key, sense in (("fig5", "loss", 1), ("fig6", "similarity", -1), ("fig6b", "similarity", -1)):
        cells: dict[Any, dict[str, float]] = {}
        for row in context.rows(figure):
            cells.setdefault((row["points"], row["epsilon"]), {})[str(row["mechanism"])] = sense * float(row[key] or 0)
        for at in cells.values():
            own = at["BRR, rule min (paper)"]
            lost += sum(at[name] < own - 1e-12 for name in at if name.startswith(("GRR", "exponential")))
            found["settings"] = found.get("settings", 0) + 1
            found["codebook better still"] = found.get("codebook better still", 0) + (at["codebook"] < own - 1e-12)
    return found | {"another one is better": lost}


@measures("laplace-range")
def interval_errors(_: Context) -> Evidence:
    """Sec. 4.1 and Appendix B: what staying inside the range is worth, on [-1, 1]."""
    found: dict[str, float] = {}
    for epsilon in (1.0, 5.0):
        for name, variant in (("raw", "raw"), ("clamped", "clamp"), ("truncated", "truncate")):
            found[f"epsilon={epsilon:g}, Laplace {name}"] = 2 * laplace_loss(epsilon, variant)
        found[f"epsilon={epsilon:g}, BRR"] = 2 * fine_limit(epsilon)
        found[f"epsilon={epsilon:g}, codebook"] = 2 * interval_codes(epsilon).loss
    share = (found["epsilon=1, Laplace raw"] - found["epsilon=1, Laplace truncated"]) / (
        found["epsilon=1, Laplace raw"] - found["epsilon=1, BRR"]
    )
    for at in ("epsilon=1", "epsilon=5"):
        found[f"BRR over truncated noise, {at}"] = found[f"{at}, BRR"] / found[f"{at}, Laplace truncated"]
    return found | {"share of BRR's gain at epsilon=1 that truncation alone has": share}


@measures("sizes")
def data_sizes(context: Context) -> Evidence | Missing:
    """E16, the sizes."""
    files = {"Bias": "bias_temperature_7588", "abalone": "abalone", "superconduct": "superconduct_76f"}
    found: dict[str, float] = {}
    for name, file in files.items():
        table = find_table(context, f"{file}.csv.gz")
        if table is None:
            return Missing(f"it needs the file {file}.csv.gz in the data folder")
        found |= {f"{name}, instances": len(table.rows), f"{name}, features": len(table.names) - 1}
    return found


@measures("min-m")
def drawback_of_min(_: Context) -> Evidence:
    """Sec. 3.3: more than min_k m hurts somebody."""
    hurt = total = 0
    for points, epsilon in product(range(4, 61), (0.3, 1.0, 2.0, 4.0)):
        line, m = Line(points), line_min(points, epsilon)
        total += 1
        hurt += bool((each_loss(line, epsilon, m + 1) > each_loss(line, epsilon, m) * (1 + 1e-12)).any())
    return {"settings": total, "some answer loses with m + 1": hurt}
