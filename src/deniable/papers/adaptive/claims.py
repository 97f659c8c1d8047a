"""Checks of AdaptiveLDP's claims that need none of its printed formulas: the exact closed forms decide them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import pairwise, product
from typing import Any

import numpy as np

from deniable.audit.exact import audit
from deniable.core.laws import epsilon_to, hashing, subset, unary
from deniable.datasets import synthetic
from deniable.mechanisms.frequency.grr import GRR
from deniable.mechanisms.frequency.local_hashing import LocalHashing
from deniable.mechanisms.frequency.subset import SubsetSelection
from deniable.mechanisms.frequency.unary import Unary
from deniable.mechanisms.registry import mechanism
from deniable.papers.adaptive.designs import ORIGIN, TWELVE, known_parameter, points
from deniable.papers.adaptive.equations import BUDGETS, DOMAINS, LOW, SETTINGS, SMALL
from deniable.papers.checks import design, off, small_designs
from deniable.papers.evidence import Evidence
from deniable.papers.paper import Context, Measures
from deniable.papers.rules import EXACT

__all__ = ["measures"]

measures = Measures()

_PROTOCOLS = ("grr", "ss", "sue", "oue", "blh", "olh")
_FAMILIES = (GRR, SubsetSelection, Unary, LocalHashing)


# ---- privacy and error


@measures("eq1")
def privacy(context: Context) -> Evidence:
    """Exact epsilon of every protocol: by its general argument and, where it is small, by enumeration."""
    small = [m for m, _ in small_designs(context, *_FAMILIES)]
    large = [design(name, 100, epsilon) for name in _PROTOCOLS for epsilon in LOW]
    failed = [f"{m.name} k={m.k} epsilon={m.epsilon:g}" for m in (*small, *large) if not audit(m).holds]
    found: dict[str, str | int] = {"designs": len(small) + len(large), "enumerated": len(small)}
    return found | {"failed": len(failed), "who failed": "; ".join(failed) or "none"}


@measures("eq4")
def dropped_term(context: Context) -> Evidence:
    """How much of the exact MSE Eq. 4 leaves out, and whether the exact one is right."""
    made = [design(name, k, epsilon) for name in _PROTOCOLS for k, epsilon in product(SMALL, LOW)]
    ratios = {m: m.mse() / m.mse_approx() for m in made}
    found: dict[str, float] = {"largest exact/Eq. 4": max(ratios.values())}
    found["share of settings more than 10 % off"] = float(np.mean([ratio > 1.1 for ratio in ratios.values()]))
    for m, ratio in ratios.items():
        if m.name in ("grr", "sue", "oue") and m.k in (25, 100) and m.epsilon in (8, 10):
            found[f"{m.name} k={m.k} epsilon={m.epsilon:g}, exact/Eq. 4"] = ratio
    small = small_designs(context, *_FAMILIES)
    worst = max(off(m.mse(), truth[which]) for m, truth in small for which in ("mse_uneven", "mse_even"))
    return found | {
        "exact MSE, largest relative deviation from enumerated channels": worst,
        "enumerated channels": len(small),
    }


_FREE = ("sue", "oue", "blh", "olh", "she", "the")


@measures("mse-free-of-k")
def free_of_k(context: Context) -> Evidence:
    """The MSE of the smallest domain over that of the largest, exactly and by Eq. 4."""
    table, approx = points(context), []
    ratios: dict[str, float] = {}
    moved: set[str] = set()
    for name, epsilon in product(_FREE, BUDGETS):
        few, many = (table[name, k, epsilon] for k in (DOMAINS[0], DOMAINS[-1]))
        ratio = few.mse / many.mse
        approx.append(off(few.mse_printed, many.mse_printed))
        moved |= {name} if off(ratio, 1) > EXACT else set()
        ratios |= {name: ratio} if epsilon == BUDGETS[-1] else {}
    return {
        **{f"{name} epsilon=10, exact MSE of k=25 over k=10000": ratio for name, ratio in ratios.items()},
        "protocols whose exact MSE is free of k": len(_FREE) - len(moved),
        "protocols whose exact MSE depends on k": len(moved),
        "free of k": ", ".join(name for name in _FREE if name not in moved) or "none",
        "Eq. 4, largest relative change with k": max(approx),
    }


# ---- the parameters of least error


@measures("ss-size")
def best_size(_: Context) -> Evidence:
    """The printed subset size against the best ones by Eq. 4 and by the exact MSE, among all sizes."""
    found: dict[str, float] = {"settings": len(SETTINGS), "another size is best by Eq. 4": 0}
    found |= {"another size is best by the exact MSE": 0, "largest Eq. 4 over its least": 1.0}
    worst = 0.0
    for k, epsilon in SETTINGS:
        law = subset(*epsilon_to(epsilon), k, np.arange(1, k))
        approx, exact = law.mse_approx(), law.mse(k)
        near, best = (design("ss", k, epsilon, rounding=how).params["size"] for how in ("paper", "best"))
        found["another size is best by Eq. 4"] += int(approx.argmin()) + 1 != near
        found["another size is best by the exact MSE"] += int(exact.argmin()) + 1 != near
        excess = float(approx[near - 1] / approx.min())
        found["largest Eq. 4 over its least"] = max(excess, found["largest Eq. 4 over its least"])
        worst = max(worst, off(exact[best - 1], exact.min()))
        if (k, epsilon) in ((25, 1.0), (100, 4.0)):
            at = f"k={k} epsilon={epsilon:g}"
            found |= {f"{at}, printed rule": near, f"{at}, best by Eq. 4": int(approx.argmin()) + 1}
    return found | {"rounding=best, largest exact MSE over its least, minus 1": worst}


@measures("olh-g")
def best_g(_: Context) -> Evidence:
    """The printed g against its neighbours, by Eq. 14, and what the best integer is instead."""
    wrong = 0
    budgets = [i / 100 for i in range(5, 1001, 5)]
    found: dict[str, float] = {"settings": len(budgets), "another g is better": 0, "largest Eq. 14 over its least": 1.0}
    for epsilon in budgets:
        near = design("olh", 100, epsilon).params["g"]
        around = np.arange(max(2, near - 3), near + 4)
        mse = hashing(*epsilon_to(epsilon), around).mse_approx()
        best, excess = int(around[mse.argmin()]), float(mse[around == near][0] / mse.min())
        low = math.floor(math.exp(epsilon))
        wrong += best != 1 + low + (math.exp(epsilon) > math.sqrt(low * (low + 1)))
        found["another g is better"] += best != near
        found["largest Eq. 14 over its least"] = max(excess, found["largest Eq. 14 over its least"])
        if epsilon in (0.35, 0.4):
            found |= {f"epsilon={epsilon:g}, rounded": near, f"epsilon={epsilon:g}, best": best}
    return found | {"corrected rule is not the best g": wrong}


@measures("oue-p")
def best_p(_: Context) -> Evidence:
    """Eq. 11 over a grid of p with 1/2 in its middle."""
    logit = np.linspace(-8, 8, 3201)
    p, p_not = 1 / (1 + np.exp(-logit)), 1 / (1 + np.exp(logit))
    laws = {epsilon: unary(p, p_not, *epsilon_to(epsilon)) for epsilon in BUDGETS}
    best = [float(p[law.mse_approx().argmin()]) for law in laws.values()]
    found = {"least best p by Eq. 11": min(best), "largest best p by Eq. 11": max(best)}
    for k in (25, 100):
        exact = laws[4.0].mse(k)
        found[f"k={k} epsilon=4, best p by the exact MSE"] = float(p[exact.argmin()])
        found[f"k={k} epsilon=4, exact MSE of p=1/2 over its least"] = float(exact[logit.size // 2] / exact.min())
    return found | {"best p by Eq. 11, largest deviation from 1/2": max(off(value, 0.5) for value in best)}


@measures("fig7-known")
def fixed_parameters(_: Context) -> Evidence:
    """The parameters of the known protocols in the setting of Fig. 7, to three decimals."""
    return {known.upper(): round(known_parameter(name, 100, 4.0), 3) for name, known in ORIGIN.items()}


# ---- the best guess


@measures("oue-olh-half")
def limit(context: Context) -> Evidence:
    """The largest ASR of OUE and OLH in the paper's settings, and by domain."""
    table, found = points(context), dict[str, float]()
    for name in ("oue", "olh"):
        most = {k: max(table[name, k, epsilon].asr for epsilon in BUDGETS) for k in DOMAINS}
        found |= {f"{name}, k={k}, at most": value for k, value in most.items()}
        found[f"largest ASR of {name}"] = max(most.values())
    return found


@measures("asr-rises")
def rises(context: Context) -> Evidence:
    """Whether the ASR grows from each budget to the next, and from the first to the last."""
    table, ends = points(context), (BUDGETS[0], BUDGETS[-1])
    curves = list(product(TWELVE, DOMAINS))

    def falls(curve: tuple[str, int], steps: Iterable[tuple[float, float]]) -> int:
        return sum(table[*curve, b].asr <= table[*curve, a].asr for a, b in steps)

    seen = {curve: falls(curve, pairwise(BUDGETS)) for curve in curves}
    found: dict[str, float] = {"curves": len(curves), "steps": len(curves) * (len(BUDGETS) - 1)}
    found |= {f"no rise, {n.upper()}": sum(x for (name, _), x in seen.items() if name == n) for n in TWELVE}
    found["steps without a rise, known protocols"] = sum(x for (name, _), x in seen.items() if name not in ORIGIN)
    found["curves that do not end above their start"] = sum(falls(curve, [ends]) for curve in curves)
    return found | {"curves on which not most steps rise": sum(2 * x >= len(BUDGETS) - 1 for x in seen.values())}


@measures("asr-domain")
def protects(context: Context) -> Evidence:
    """Whether the ASR falls from each number of items to the next larger one."""
    table = points(context)
    steps = [(name, e, a, b) for name, e in product(TWELVE, BUDGETS) for a, b in pairwise(DOMAINS)]
    lost = [name for name, e, a, b in steps if table[name, b, e].asr >= table[name, a, e].asr]
    found: dict[str, float] = {"steps": len(steps), "steps without a fall": len(lost)}
    found |= {f"no fall, {name.upper()}": lost.count(name) for name in ORIGIN}
    return found | {"steps without a fall, known protocols": sum(name not in ORIGIN for name in lost)}


@measures("ss-one")
def certain(context: Context) -> Evidence:
    """The best guess from SS at the largest budget."""
    table, last = points(context), BUDGETS[-1]
    return {
        f"{'small' if k <= 100 else 'larger'} domain: ASR of SS at epsilon={last:g}, k={k}": table["ss", k, last].asr
        for k in DOMAINS
    }


@measures("grr-ss-highest")
def highest(context: Context) -> Evidence:
    """How often, and how far, another known protocol is above GRR or SS."""
    table = points(context)
    over: dict[tuple[str, str], list[float]] = {}
    for top, name in product(("grr", "ss"), ("sue", "oue", "blh", "olh", "she", "the")):
        ratios = [table[name, *at].asr / table[top, *at].asr for at in SETTINGS]
        over[top, name] = [ratio for ratio in ratios if ratio > 1]
    found: dict[str, float] = {"settings": len(SETTINGS)}
    found |= {f"{name} above {top}": len(ratios) for (top, name), ratios in over.items()}
    return found | {f"largest {name}/{top}": max(r) for (top, name), r in over.items() if r}


@measures("blh-lowest")
def lowest(context: Context) -> Evidence:
    """How the ASR of BLH compares with the lowest of the other known protocols, and with a blind guess."""
    table = points(context)
    others = [name for name in TWELVE if name not in ("blh", *ORIGIN)]
    ratios = {name: [table["blh", *at].asr / table[name, *at].asr for at in SETTINGS] for name in others}
    found: dict[str, float] = {"settings": len(SETTINGS)}
    found |= {f"BLH not below {name.upper()}": sum(r >= 1 for r in each) for name, each in ratios.items()}
    found["ASR of BLH over a blind guess, at most"] = max(table["blh", *at].asr * at[0] for at in SETTINGS)
    return found


# ---- both


@measures("inverse")
def inverse(context: Context) -> Evidence:
    """Along each curve of the figure, whether the error falls while the ASR rises."""
    curves: dict[tuple[Any, ...], list[tuple[Any, Any]]] = {}
    for row in context.rows("fig5"):
        curves.setdefault((row["metrics"], row["protocol"], row["k"]), []).append((row["mse"], row["asr"]))
    steps = [(curve, a, b) for curve, points in curves.items() for a, b in pairwise(points)]
    odd = [curve for curve, a, b in steps if not (b[0] < a[0] and b[1] > a[1])]
    found: dict[str, int] = {"curves": len(curves), "steps": len(steps)}
    found |= {f"steps against it, {which}": sum(c[0] == which for c in odd) for which in ("exact", "printed")}
    known = sum(which == "exact" and name not in ORIGIN for which, name, _ in odd)
    return found | {"exact steps of known protocols against it": known}


# ---- histograms


@measures("she-sum")
def she_sum(context: Context) -> Evidence:
    """What the sum and the mean of the reports give for shares that sum to 1."""
    m, people = mechanism("she", k=10, epsilon=4.0), synthetic("zipf", k=10, n=2000)
    reports = m.privatize_items(people.values(), context.stream("she"))
    total = float(m.estimate(m.tally(reports)).value.sum())
    spread = math.sqrt(people.k * m.effective(people.n)["mse"])
    return {
        "people": people.n,
        "all shares together, as a sum": people.n * total,
        "as a mean": total,
        "sum, standard errors from 1": abs(people.n * total - 1) / (people.n * spread),
        "mean, standard errors from 1": abs(total - 1) / spread,
    }


@measures("the-after")
def the_after(_: Context) -> Evidence:
    """The best guess from the raw vector against that from the bits."""
    found: dict[str, float] = {}
    better = settings = 0
    for k, epsilon in product((25, 100, 1000), (2.0, 4.0, 8.0, 10.0)):
        raw, bits = mechanism("she", k=k, epsilon=epsilon).properties()["asr"], design("the", k, epsilon).asr
        better, settings = better + (raw > bits), settings + 1
        if k == 100:
            found |= {f"k=100 epsilon={epsilon:g}, raw": raw, f"k=100 epsilon={epsilon:g}, bits": bits}
    return found | {"settings": settings, "the raw vector gives more away": better}
