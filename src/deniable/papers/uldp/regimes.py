"""What ULDP says about regimes: many sensitive items, medium privacy, large budgets; by closed forms."""

from __future__ import annotations

import math
from itertools import pairwise, product

from deniable.core.laws import epsilon_to
from deniable.papers.checks import design, off
from deniable.papers.evidence import Evidence, Missing
from deniable.papers.paper import Context, Measures, made_up
from deniable.papers.uldp.collected import TABLE2
from deniable.papers.uldp.figures import BUDGETS, DATA, KNOWN, PRINTED, made, theta_error
from deniable.papers.uldp.simulated import people

__all__ = ["measures"]

measures = Measures()

_MANY = ("Census", "Normal")
"""Data with many sensitive items."""


@measures("many-sensitive")
def _many_sensitive(_: Context) -> Evidence:
    """By how much both are above the lowest error at any budget, as printed and with the null branch."""
    found: dict[str, float] = {}
    ours = {"uUE": ("uue", "null"), "uLH": ("ulh", "null"), "uSS": ("uss", "null")}
    for data, epsilon in product(_MANY, BUDGETS):
        six = {label: made(which, data, epsilon).mse_sum() for label, which in (KNOWN | PRINTED).items()}
        null = {label: made(which, data, epsilon).mse_sum() for label, which in ours.items()}
        lowest = min(*six.values(), *null.values())
        for label in ("uUE", "uLH"):
            for name, excess in (
                (f"{data}, {label}, as printed, most above the lowest of the six", six[label] / min(six.values()) - 1),
                (f"{data}, {label}, null branch, most above the lowest of all", null[label] / lowest - 1),
            ):
                found[name] = max(found.get(name, 0.0), excess)
    return found


@measures("large-s")
def _large_s(_: Context) -> Evidence:
    """The largest error of the three over the least, at the budget where they are farthest apart."""
    found: dict[str, float] = {}
    forms = {"as printed": PRINTED, "null branch": {x: (x.lower(), "null") for x in PRINTED}}
    for data, epsilon, (form, chosen) in product(_MANY, BUDGETS, forms.items()):
        errors = [made(which, data, epsilon).mse_sum() for which in chosen.values()]
        name = f"{data}, {form}, largest over least of the three"
        found[name] = max(found.get(name, 1.0), max(errors) / min(errors))
    return found


@measures("uss-urr")
def _uss_urr(_: Context) -> Evidence:
    """Where the error of uSS is below that of uRR, above it, or the same."""
    ratios, sizes = {}, {}
    for at in product(DATA, BUDGETS):
        uss = made(PRINTED["uSS"], *at)
        assert uss.base is not None
        ratios[at], sizes[at] = made(KNOWN["uRR"], *at).mse_sum() / uss.mse_sum(), int(uss.base.params["size"])
    behind = [at for at, ratio in ratios.items() if not ratio > 1 + 1e-9]
    return {
        "settings": len(ratios),
        "settings in which uSS is not ahead": len(behind),
        "settings in which uRR is ahead": sum(ratio < 1 - 1e-9 for ratio in ratios.values()),
        "of those with k above 1, uSS is not ahead": sum(sizes[at] > 1 for at in behind),
        "largest error of uRR over that of uSS": max(ratios.values()),
    }


@measures("advantage")
def _advantage(_: Context) -> Evidence:
    """Steps, in order of the distance, in which the ratio of the errors falls."""
    far = {
        ("uSS", "uRR"): lambda s, e: abs(s / (math.exp(e) + 1) - 1),
        ("uUE", "uRAP"): lambda s, e: abs(0.5 - 1 / (1 + math.exp(-e / 2))),
    }
    found: dict[str, float] = {}
    for ((own, other), distance), (data, setting) in product(far.items(), DATA.items()):
        budgets = sorted(BUDGETS, key=lambda e: distance(setting[1], e))
        gains = [made(KNOWN[other], data, e).mse_sum() / made(PRINTED[own], data, e).mse_sum() for e in budgets]
        name, lost = f"{own} over {other}, steps in which it shrinks", f"{own} over {other}, {data}, steps back"
        found[lost] = sum(b < a * (1 - 1e-9) for a, b in pairwise(gains))
        found[name] = found.get(name, 0) + found[lost]
    return found


@measures("dominates")
def _dominates(_: Context) -> Evidence:
    """The larger one of the two over the other, on all data at all budgets, also where nearly all are harmless."""
    found: dict[str, float] = {}
    for (label, which), (data, setting), e in product(PRINTED.items(), DATA.items(), BUDGETS):
        s, d = setting[1], setting[2]
        for theta in (setting[3], 0.999):
            law = made(which, (s, theta, d), e).law
            own = s * law.base.q * law.base.q_not / law.base.gap**2
            name = f"{label}, {data}, error of harmless items over that of sensitive ones, largest"
            found[name] = max(found.get(name, 0.0), float(law.variance_harmless(theta) / own))
    return found


@measures("theta-impact")
def _theta_impact(_: Context) -> Evidence:
    """The error of designs for a wrong theta over that of the design for the right one."""
    found: dict[str, float] = {}
    for (label, offs), e in product(TABLE2.items(), BUDGETS):
        for data, off_by in offs.items():
            s, d, theta = DATA[data][1:]
            right = made(PRINTED[label], data, e).law.mse_sum(s, theta)
            for wrong in (theta * (1 - off_by), min(theta * (1 + off_by), 1.0)):
                error = made(PRINTED[label], (s, wrong, d), e).law.mse_sum(s, theta)
                name = f"{label}, {data}, more error with a theta that is so far off, most"
                found[name] = max(found.get(name, 0.0), float(error / right - 1))
    return found


@measures("uwheel-ulh")
def _uwheel(_: Context) -> Evidence:
    """The largest relative difference of their errors, by data."""
    forms = (("uwheel", "paper"), PRINTED["uLH"])
    errors = {data: [[made(form, data, e).mse_sum() for form in forms] for e in BUDGETS] for data in DATA}
    return {f"{data}: largest difference": max(off(a, b) for a, b in pairs) for data, pairs in errors.items()}


@measures("order-medium")
def _order_medium(_: Context) -> Evidence:
    """How the error grows beyond the order of the optimum where epsilon grows with s."""

    def over(label: str, s: int) -> float:
        epsilon = math.log(s) / 2
        w, v = epsilon_to(epsilon)
        return made((KNOWN | PRINTED)[label], (s, 0.5, 2 * s), epsilon).mse_sum() * v * v / (s * w)

    return {f"{label}: growth": over(label, 10_000) / over(label, 100) for label in KNOWN | PRINTED}


@measures("uhr-constant")
def _uhr_constant(_: Context) -> Evidence:
    """The error of uHR at large budgets, and its limit."""
    found: dict[str, float] = {}
    for data, setting in DATA.items():
        s, theta = setting[1], setting[3]
        error = {e: made(KNOWN["uHR"], data, e).mse_sum() for e in (3.5, 4.0, 4.5, 5.0, 20.0)}
        found |= {
            f"{data}: error at 3.5 over that at 5": error[3.5] / error[5.0],
            f"{data}: fall from 3.5 to 4": error[3.5] - error[4.0],
            f"{data}: fall from 4.5 to 5": error[4.5] - error[5.0],
            f"{data}: error at 20 over (s-1)(1-theta), minus 1": error[20.0] / ((s - 1) * (1 - theta)) - 1,
        }
    return found


_WITHOUT = {"uRR": "grr", "uRAP": "sue", "uHR": "hr", "uSS": "ss", "uUE": "oue", "uLH": "olh"}
"""The mechanism for sensitive answers only that each one of the six is made of."""


@measures("all-sensitive")
def _all_sensitive(context: Context) -> Evidence:
    """The six at a share of 100 %, against those without any distinction and against smaller shares."""
    errors = {(r["setting"], r["mechanism"], r["share"]): float(r["n_mse"] or 0) for r in context.rows("fig5")}
    found: dict[str, float] = {}
    for data, (label, name) in product(DATA, _WITHOUT.items()):
        d, whole = DATA[data][2], errors[data, label, 1.0]
        found[f"{data}, {label}: n MSE over that of the LDP mechanism, minus 1"] = off(
            whole, d * design(name, d, 2.0).mse(1)
        )
        smaller = [x for (where, what, share), x in errors.items() if (where, what) == (data, label) and share != 1]
        found[f"{data}, {label}: n MSE at 100 % over that at any smaller share, least"] = whole / max(smaller)
    return found


@measures("table2-bound")
def _off_theta(_: Context) -> Evidence:
    """The mean relative error of theta from 5 % of the people, parameters for theta = 0."""
    found: dict[str, float] = {}
    for (label, which), data in product((PRINTED | {"uLH valid": ("ulh", "glutf")}).items(), DATA):
        n, s, d, theta = DATA[data]
        name = "Normal, uUE" if (label, data) == ("uUE", "Normal") else f"{label}, {data}"
        found[name] = theta_error(made(which, (s, 0.0, d), 0.5), n, theta)
    return found


@measures("data")
def _data(context: Context) -> Evidence | Missing:
    """Counted."""
    drug = people("Drug", context)
    if drug.name == made_up("Drug"):
        return Missing("it needs the ratings of drugs.com in the data folder")
    return {"Drug, theta": float(drug.frequencies[DATA["Drug"][1] :].sum())}
