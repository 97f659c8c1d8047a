"""Checks of what AdaptiveLDP says of its adaptive protocols: choices, trade-offs, and what they depend on."""

from __future__ import annotations

import math
from itertools import pairwise, product

import numpy as np

from deniable.audit.exact import audit
from deniable.mechanisms.frequency.families import FAMILIES
from deniable.mechanisms.frequency.options import Metric
from deniable.papers.adaptive.designs import ORIGIN, Point, chosen_at, known_parameter, make, points
from deniable.papers.adaptive.equations import BUDGETS, DOMAINS, LOW, SETTINGS, SMALL, K
from deniable.papers.checks import design, off
from deniable.papers.evidence import Evidence
from deniable.papers.paper import Context, Measures
from deniable.papers.rules import EXACT

__all__ = ["measures"]

measures = Measures()


_CHECKED = tuple(product(SMALL, LOW))
_METRICS: dict[str, Metric] = {"Eq. 4": "paper", "the exact MSE": "exact"}


def _at(p: Point) -> str:
    return f"k={p.k} epsilon={p.epsilon:g}"


def _pairs(context: Context, new: str, known: str = "") -> list[tuple[Point, Point]]:
    table = points(context)
    return [(table[new, *at], table[known or ORIGIN[new], *at]) for at in SETTINGS]


# ---- choices


@measures("fig7-adaptive")
def parameters(_: Context) -> Evidence:
    """The choices in the setting of Fig. 7, on the paper's grids, and what a finer search finds."""
    grid = {name.upper(): chosen_at(name, K, 4.0).value for name in ORIGIN}
    found: dict[str, float] = {name: round(value, 3) for name, value in grid.items()}
    for name in ("aue", "athe"):
        found[f"{name.upper()}, not on a grid"] = chosen_at(name, K, 4.0, continuous=True).value
    return found


@measures("aue-grid")
def aue_grid(_: Context) -> Evidence:
    """Whether the best value of the grid of 100 p is nearly as good as the best p."""
    found: dict[str, float] = {"settings": len(_CHECKED), "sum more than 1 % above its least": 0}
    largest, other = 1.0, 0.0
    for k, epsilon in _CHECKED:
        grid, free = (chosen_at("aue", k, epsilon, continuous=how) for how in (False, True))
        largest = max(largest, grid.objective / free.objective)
        other = max(other, free.objective / grid.objective)
        found["sum more than 1 % above its least"] += grid.objective > 1.01 * free.objective
        if (k, epsilon) in ((100, 10.0), (25, 8.0)):
            at = f"k={k} epsilon={epsilon:g}"
            found |= {f"{at}, p on the grid": grid.value, f"{at}, sum": grid.objective}
            found |= {f"{at}, best p": free.value, f"{at}, least sum": free.objective}
    found["last p of the grid but one"] = float(np.sort(FAMILIES["aue"].grid(100, 10.0))[-2])
    return found | {"largest sum over its least": largest, "largest search over grid": other}


@measures("weight-one")
def weight_one(_: Context) -> Evidence:
    """The choices with all weight on the MSE against the known parameters, by Eq. 4 and by the exact MSE."""
    found: dict[str, float] = {"settings": len(_CHECKED)}
    step = {"athe": 0.5 / 99}
    for name in ORIGIN:
        for label, metric in _METRICS.items():
            others = 0
            for k, epsilon in _CHECKED:
                value = chosen_at(name, k, epsilon, weight=0.0, metric=metric).value
                others += abs(value - known_parameter(name, k, epsilon)) > step.get(name, 1e-6)
            found[f"{name.upper()} is another protocol by {label}"] = others
    for k, epsilon in ((100, 4.0), (25, 1.0)):
        at = f"k={k} epsilon={epsilon:g}"
        found[f"{at}, SS"] = known_parameter("ass", k, epsilon)
        found[f"{at}, ASS by Eq. 4"] = chosen_at("ass", k, epsilon, weight=0.0).value
    found["k=100 epsilon=4, AUE by the exact MSE"] = chosen_at("aue", 100, 4.0, weight=0.0, metric="exact").value
    return found


@measures("g-bound")
def range_bound(context: Context) -> Evidence:
    """How the chosen ranges of hash values compare with k, and whether they matter to privacy."""
    table = points(context)
    chosen = [table["alh", *at] for at in SETTINGS]
    low = sum((p.parameter or 0) < p.k for p in chosen)
    leaks = [audit(design("lh", K, 4.0, g=g)) for g in (2, 13, 56, 100, 1000)]
    found: dict[str, float] = {"settings": len(chosen), "chosen g below k": low}
    found["k=100 epsilon=4, g=100: MSE over that of g=56"] = (
        design("lh", K, 4.0, g=100).mse_approx() / design("lh", K, 4.0, g=56).mse_approx()
    )
    found["ranges from 2 to 1000"] = len(leaks)
    return found | {"ranges from 2 to 1000 that keep epsilon": sum(leak.holds for leak in leaks)}


# ---- privacy and best guess


@measures("adaptive-eq1")
def privacy_kept(_: Context) -> Evidence:
    """Exact epsilon of the adaptive protocols as they are chosen."""
    made = [
        make(name, k, epsilon) for name, k, epsilon in product(ORIGIN, (25, 100), (0.5, 1.0, 2.0, 4.0, 6.0, 8.0, 10.0))
    ]
    failed = [f"{m.name} k={m.k} epsilon={m.epsilon:g}" for m in made if not audit(m).holds]
    return {"designs": len(made), "failed": len(failed), "who failed": "; ".join(failed) or "none"}


@measures("asr-lower")
def asr_lower(context: Context) -> Evidence:
    """In how many settings each adaptive protocol has a lower, the same or a higher ASR than the known one."""
    found: dict[str, float] = {"settings": len(SETTINGS)}
    for new in ORIGIN:
        ratios = [(p.asr / q.asr, p) for p, q in _pairs(context, new)]
        same = sum(abs(ratio - 1) <= EXACT for ratio, _ in ratios)
        higher = sum(ratio > 1 + EXACT for ratio, _ in ratios)
        found |= {f"{new.upper()}, the same ASR": same, f"{new.upper()}, a higher ASR": higher}
        largest, where = max(ratios, key=lambda pair: pair[0])
        if higher:
            found[f"{new.upper()} over {ORIGIN[new].upper()}, largest ratio ({_at(where)})"] = largest
    best = max(q.asr / p.asr for new in ORIGIN for p, q in _pairs(context, new))
    found["largest reduction, orders of magnitude"] = math.log10(best)
    at = {name: points(context)[name, 100, 1.0].parameter or 0 for name in ("ass", "ss", "aue", "oue", "alh", "olh")}
    return found | {f"k=100 epsilon=1, parameter of {name.upper()}": value for name, value in at.items()}


@measures("ass-cap")
def ass_cap(context: Context) -> Evidence:
    """The largest ASR of ASS for medium to low privacy, and for all budgets."""
    p = max((p for p, _ in _pairs(context, "ass")), key=lambda p: p.asr)
    return {"largest ASR of ASS": p.asr, "k": p.k, "epsilon": p.epsilon}


@measures("aue-asr")
def aue_asr(context: Context) -> Evidence:
    """AUE against OUE."""
    pairs = _pairs(context, "aue")
    higher = sum(p.asr > q.asr * (1 + EXACT) for p, q in pairs)
    same = sum(off(p.asr, q.asr) <= EXACT for p, q in pairs)
    top = max((p for p, _ in pairs), key=lambda p: p.asr)
    found: dict[str, float] = {"settings": len(pairs), "the same": same, "higher": higher}
    return found | {f"largest ASR of AUE ({_at(top)})": top.asr}


@measures("alh-asr")
def alh_asr(context: Context) -> Evidence:
    """In how many settings ALH is outside, exactly."""
    low = [p.asr / q.asr for p, q in _pairs(context, "alh", "blh")]
    high = [p.asr / q.asr for p, q in _pairs(context, "alh")]
    found: dict[str, float] = {"settings": len(low), "ALH below BLH": sum(r < 1 - EXACT for r in low)}
    return found | {
        "ALH above OLH": sum(r > 1 + EXACT for r in high),
        "ALH above OLH, by a factor of at most": max(high),
    }


@measures("aue-gap")
def aue_gap(context: Context) -> Evidence:
    """The MSE as printed of AUE over that of OUE, and how it changes with epsilon."""
    ratios = {(p.k, p.epsilon): p.mse_printed / q.mse_printed for p, q in _pairs(context, "aue")}
    steps = [(ratios[k, a], ratios[k, b]) for k in DOMAINS for a, b in pairwise(BUDGETS)]
    shrinks = sum(after < before * (1 - EXACT) for before, after in steps)
    return {
        "least MSE of AUE over OUE": min(ratios.values()),
        "largest": max(ratios.values()),
        "steps": len(steps),
        "steps of epsilon in which the gap shrinks": shrinks,
    }


@measures("aue-sue")
def aue_sue(context: Context) -> Evidence:
    """AUE against SUE for epsilon up to 2."""
    pairs = [(p, q) for p, q in _pairs(context, "aue", "sue") if p.epsilon <= 2]
    errors, guesses = ([getattr(p, what) / getattr(q, what) for p, q in pairs] for what in ("mse_printed", "asr"))
    found = {
        "settings": len(pairs),
        "least MSE of AUE over SUE": min(errors),
        "largest MSE of AUE over SUE": max(errors),
    }
    return found | {"least ASR of AUE over SUE": min(guesses), "largest ASR of AUE over SUE": max(guesses)}


# ---- error


@measures("mse-orders")
def mse_orders(context: Context) -> Evidence:
    """The largest increase of the MSE, as printed and exactly."""
    found, early = dict[str, float](), 0.0
    for new, (label, what) in product(ORIGIN, (("Eq. 4", "mse_printed"), ("exact", "mse"))):
        ratios = [(getattr(p, what) / getattr(q, what), p) for p, q in _pairs(context, new)]
        ratio, where = max(ratios, key=lambda pair: pair[0])
        found[f"{new.upper()} over {ORIGIN[new].upper()}, {label} ({_at(where)})"] = ratio
        early = max(early, *(x for x, p in ratios if p.epsilon <= 6.5))
    return found | {"largest up to epsilon 6.5": early, "largest of all": max(found.values())}


@measures("aue-order")
def aue_order(context: Context) -> Evidence:
    """The MSE of AUE over that of OUE."""
    ratios = [(p.mse_printed / q.mse_printed, p) for p, q in _pairs(context, "aue")]
    largest, where = max(ratios, key=lambda pair: pair[0])
    found = {f"largest ratio ({_at(where)})": largest, "more than 10 times": sum(r > 10 for r, _ in ratios)}
    found |= {f"{_at(p)}": r for r, p in ratios if (p.k, p.epsilon) == (25, 7.0)}
    free = chosen_at("aue", 25, 10.0, continuous=True).mse / points(context)["oue", 25, 10.0].mse_printed
    return found | {"k=25 epsilon=10, best p": free}


@measures("sandwich")
def sandwich(context: Context) -> Evidence:
    """ALH between OLH and BLH, ATHE between THE and SHE."""
    table = points(context)
    found: dict[str, float] = {"settings": len(SETTINGS)}
    odd, deepest = 0, 1.0
    for low, new, high in (("olh", "alh", "blh"), ("the", "athe", "she")):
        for label, what in (("Eq. 4", "mse_printed"), ("exact", "mse")):
            values = [[getattr(table[name, *at], what) for name in (low, new, high)] for at in SETTINGS]
            under = [b / a for a, b, _ in values if b < a * (1 - EXACT)]
            over = sum(b > c * (1 + EXACT) for _, b, c in values)
            found[f"{new.upper()} outside, {label}"] = len(under) + over
            odd, deepest = odd + over, min([deepest, *under])
    return found | {"above both": odd, "below both by a share of at most": 1 - deepest}
