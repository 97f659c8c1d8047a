"""BRR's theorems, recomputed: limits, bounds and closed forms against exact losses on lines."""

from __future__ import annotations

import math
from itertools import pairwise, product
from typing import Any

import numpy as np

from deniable.audit.exact import audit
from deniable.core.space import Space
from deniable.mechanisms.metric.bipartite import choose_m, line_min, loss_of
from deniable.mechanisms.metric.losses import Line, Losses, MatrixLosses
from deniable.mechanisms.registry import mechanism
from deniable.papers.brr import printed
from deniable.papers.brr.theory import BUDGETS, each_loss, local_ratios, rules
from deniable.papers.evidence import Evidence
from deniable.papers.leaks import own_window_sizes
from deniable.papers.paper import Context, Measures
from deniable.papers.rules import EXACT

__all__ = ["LIMITS", "MANY", "mean_loss", "mean_ratio", "measures"]

measures = Measures()

LIMITS = (0.5, 1.0, 2.0, 4.0)
"""Budgets on which limits are looked at."""

MANY = 20_001
"""Points that stand for infinitely many: odd, as in the proofs."""


# ---- theorems


@measures("thm1-limit")
def theorem1_limit(_: Context) -> Evidence:
    """Theorem 1(1)."""
    found: dict[str, float] = {}
    for epsilon in LIMITS:
        found[f"m/N, N={MANY}, epsilon={epsilon:g}"] = line_min(MANY, epsilon) / MANY
        found[f"limit, epsilon={epsilon:g}"] = 1 / (math.exp(epsilon / 2) + 1)
    shares = {n: [line_min(n, e) / n * (math.exp(e / 2) + 1) - 1 for e in LIMITS] for n in (10**3, 10**6, 10**9)}
    found |= {f"largest relative distance, N={n}": max(map(abs, off)) for n, off in shares.items()}
    least = min(line_min(n, e) for n in range(2, 60) for e in BUDGETS)
    return found | {"least m": least}


@measures("thm1-ldp")
def theorem1_privacy(_: Context) -> Evidence:
    """Theorem 1(3), exactly: all ratios of what is sampled."""
    found: dict[str, float] = {}
    broken = 0
    for points, epsilon in product((2, 5, 12, 30), (0.1, 1.0, 4.0)):
        proved = audit(mechanism("brr", epsilon=epsilon, points=points, form="paper"))
        broken += not proved.holds
        found[f"N={points}, promised {epsilon:g}"] = proved.exact
    return found | {"promises broken": broken}


@measures("own-m")
def own_sizes(_: Context) -> Evidence:
    """Sec. 3.2: different m for different answers break the promise."""
    return {f"N={n}, promised {e:g}": audit(own_window_sizes(e, n)).exact for n, e in ((20, 1.0), (40, 2.0))}


@measures("never-worse")
def never_worse(context: Context) -> Evidence:
    """E4 and the first part of Theorem 2: with the m of Alg. 3, and with that of Alg. 2."""
    globally, locally, worst = 0, 0, (1.0, 0, 0.0)
    lost = 0
    cases = [rule for rule in rules(context) if rule.points <= 100]
    for rule in cases:
        ratios = local_ratios(rule.points, rule.epsilon, rule.by_alg3)
        line = Line(rule.points)
        mean = loss_of(line, rule.epsilon, rule.by_alg3) / loss_of(line, rule.epsilon, 1)
        globally += mean > 1 + EXACT
        locally += bool((ratios > 1 + EXACT).any())
        worst = max(worst, (mean, rule.points, rule.epsilon))
        lost += bool((local_ratios(rule.points, rule.epsilon, rule.least) > 1 + EXACT).any())
    return {
        "settings": len(cases),
        "Alg. 3, mean loss above GRR": globally,
        "Alg. 3, some answer above GRR": locally,
        f"Alg. 3, largest ratio (N={worst[1]}, epsilon={worst[2]:g})": worst[0],
        "Alg. 2, some answer above GRR": lost,
    }


@measures("thm2-bounds")
def theorem2_bounds(_: Context) -> Evidence:
    """E9: the printed limits are those of the largest and the smallest ratio, not of the ratio at any fixed k."""
    found: dict[str, float] = {}
    off = fixed = low = 0.0
    for epsilon in LIMITS:
        ratios = local_ratios(MANY, epsilon)
        found[f"epsilon={epsilon:g}, largest ratio"] = float(ratios.max())
        found[f"epsilon={epsilon:g}, printed upper"] = printed.upper_limit(epsilon)
        found[f"epsilon={epsilon:g}, smallest ratio"] = float(ratios.min())
        found[f"epsilon={epsilon:g}, printed lower"] = printed.lower_limit(epsilon)
        found[f"epsilon={epsilon:g}, at k=5"] = float(ratios[4])
        off = max(off, abs(ratios.max() / printed.upper_limit(epsilon) - 1))
        off = max(off, abs(ratios.min() / printed.lower_limit(epsilon) - 1))
        fixed = max(fixed, abs(float(ratios[4]) / printed.upper_limit(epsilon) - 1))
        low = max(low, abs(float(ratios[4]) / printed.lower_limit(epsilon) - 1))
    return found | {
        "at k=5, largest relative distance from the printed lower limit": low,
        "at k=5, largest relative distance from the printed upper limit": fixed,
        "largest and smallest ratio, largest relative distance from the printed limits": off,
    }


@measures("thm2-gap")
def theorem2_gap(_: Context) -> Evidence:
    """The gap between both limits and its bound."""
    found: dict[str, float] = {}
    off = over = 0.0
    for epsilon in LIMITS:
        s = math.exp(epsilon / 2)
        gap = (s - 1) / (s + 1) / (math.sqrt(s * s + 2 * s + 2) + s + 1)
        found[f"epsilon={epsilon:g}"] = gap
        off = max(off, abs(gap - (printed.upper_limit(epsilon) - printed.lower_limit(epsilon))))
        over = max(over, gap * 2 * (s + 1))
    return found | {"gap over its bound, largest": over, "closed form of the gap, largest deviation": off}


@measures("thm3")
def theorem3(_: Context) -> Evidence:
    """The limit of the ratio of mean losses."""
    found: dict[str, float] = {}
    off = 0.0
    for epsilon in LIMITS:
        ratio = mean_ratio(10**9, epsilon)
        limit = printed.mean_limit(epsilon)
        found |= {f"epsilon={epsilon:g}, N={MANY}": mean_ratio(MANY, epsilon), f"epsilon={epsilon:g}, limit": limit}
        off = max(off, abs(ratio / limit - 1))
    return found | {"largest relative distance, N=10^9": off}


@measures("exponential-times")
def exponential_times(_: Context) -> Evidence:
    """How fast the logarithm of the ratio grows with the budget: exponential means that it does so at a rate."""
    budgets = (2.0, 4.0, 6.0, 8.0, 10.0, 12.0)
    logs = {epsilon: -math.log(mean_ratio(10**9, epsilon)) for epsilon in budgets}
    rates = [(logs[b] - logs[a]) / (b - a) for a, b in pairwise(budgets)]
    found = {f"GRR/BRR, epsilon={epsilon:g}": math.exp(value) for epsilon, value in logs.items()}
    least, last = min(rates), rates[-1]
    name = "growth of ln(GRR/BRR) for each unit of epsilon"
    return found | {f"{name}, least": least, f"{name}, last step": last}


@measures("order-low")
def order_low(_: Context) -> Evidence:
    """The loss over that of GRR where the budget is at least ln N."""
    found: dict[str, float] = {}
    for points, times in product((10, 100, 1000, 10_000), (1.0, 2.0)):
        epsilon = times * math.log(points)
        found[f"N={points} epsilon={epsilon:.3g}, loss over that of GRR"] = mean_ratio(points, epsilon)
    return found | {"largest loss over that of GRR, epsilon from ln N on": max(found.values())}


def mean_ratio(points: int, epsilon: float) -> float:
    """Mean loss with the m of Alg. 2, relative to GRR."""
    line = Line(points)
    return loss_of(line, epsilon, line_min(points, epsilon)) / loss_of(line, epsilon, 1)


@measures("eq20")
def equation20(_: Context) -> Evidence:
    """E10, for odd N and odd m."""
    found: dict[str, float] = {}
    first = second = corrected = 0.0
    for points, epsilon in product((21, 201, 2001), (0.5, 1.0, 4.0)):
        m = line_min(points, epsilon)
        m -= 1 - m % 2
        exact = points * loss_of(Line(points), epsilon, m)
        c, less = m / points, math.expm1(epsilon)
        right = (less * c**3 + 3 * less * c * c + 4) * points**2 - (less * c + 3 * (less + 1) + 1)
        first = max(first, abs(printed.eq20_first_line(points, epsilon, m) / exact - 1))
        second = max(second, abs(printed.eq20_second_line(points, epsilon, m) / exact - 1))
        corrected = max(corrected, abs(right / (12 * (less * c + 1)) / exact - 1))
        if points == 2001:
            found[f"epsilon={epsilon:g}, first line/exact"] = printed.eq20_first_line(points, epsilon, m) / exact
    found |= {"first line, largest relative deviation": first, "second line, largest relative deviation": second}
    return found | {"first line corrected, the same": corrected}


@measures("thm4")
def theorem4(context: Context) -> Evidence:
    """Random spaces of several kinds: no answer is worse than with GRR; strictly better on average if m > 1."""
    runs = 60 if context.quick else 300
    draw = context.stream("theorem 4").generator()
    several = strict = worse = 0
    for run in range(runs):
        losses = random_losses(run % 4, int(draw.integers(4, 40)), draw)
        epsilon = float(draw.uniform(0.1, 4.0))
        m = choose_m(losses, epsilon, "min")
        ratio = each_loss(losses, epsilon, m) - each_loss(losses, epsilon, 1)
        worse += bool((ratio > 1e-12).any())
        several += m > 1
        strict += m > 1 and float(ratio.mean()) < 0
    return {"spaces": runs, "some answer is worse": worse, "m above 1": several, "then strictly better": strict}


def random_losses(kind: int, size: int, draw: Any) -> MatrixLosses:
    """Losses with zero on the diagonal: points in the plane, sets, whole numbers with ties, or no metric at all."""
    if kind == 0:
        table = Space.vectors(draw.random((size, 2))).matrix()
    elif kind == 1:
        members = [np.flatnonzero(draw.random(12) < 0.4).tolist() for _ in range(size)]
        table = Space.sets(members).matrix()
    else:
        table = draw.integers(0, 6, (size, size)).astype(float) if kind == 2 else draw.random((size, size)) ** 2
        np.fill_diagonal(table, 0.0)
    return MatrixLosses(table)


def mean_loss(losses: Losses, epsilon: float, rule: str) -> float:
    """Mean loss of BRR by a rule for m."""
    return loss_of(losses, epsilon, choose_m(losses, epsilon, rule))
