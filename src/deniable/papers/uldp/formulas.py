"""ULDP's theorems on pure mechanisms, its printed errors and what its introduction reads from Fig. 1."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product

import numpy as np

from deniable.mechanisms.registry import MECHANISMS, mechanism
from deniable.papers.checks import off
from deniable.papers.evidence import Evidence
from deniable.papers.paper import Context, Measures
from deniable.papers.uldp.checks import VALID, small
from deniable.papers.uldp.figures import DATA, KNOWN, PRINTED, made

__all__ = ["measures"]

measures = Measures()

_PURE = ("uss", "uue", "ulh")


@measures("thm2")
def unbiased(_: Context) -> Evidence:
    """Expected estimates of Eq. (21) and (22), by enumerated channels, for people who all have one item."""
    cases, worst = small(*_PURE, form=VALID), 0.0
    for m in cases:
        channel, law = m.channel(), m.law_effective
        own, rest = m.items
        adds = np.zeros((len(channel.outputs), m.k))
        for o, items in enumerate(channel.supported or ()):
            adds[o, own] = [((i in items) - law.base.q) / law.base.gap for i in own]
            adds[o, rest] = [(x in items) / law.z for x in rest]
        worst = max(worst, float(np.abs(channel.matrix() @ adds - np.eye(m.k)).max()))
    return {"enumerated": len(cases), "largest bias of a share": worst}


@measures("thm5")
def pure(_: Context) -> Evidence:
    """Chances of support in enumerated channels: p* and q* of the base, given any item, and z* of harmless ones."""
    cases = small(*_PURE, form=VALID)
    found = {"own item": 0.0, "another item": 0.0, "harmless item": 0.0}
    for m in cases:
        law, (own, rest) = m.law_effective, m.items
        members = np.array([[i in items for i in range(m.k)] for items in m.channel().supported or ()], float)
        chance = m.channel().matrix() @ members
        expected = np.zeros_like(chance)
        expected[:, own] = law.base.q
        expected[own, own], expected[rest, rest] = law.base.p, law.z
        away, same = np.abs(chance - expected), np.eye(m.k, dtype=bool)
        parts = {"own item": away[own, own], "another item": away[~same], "harmless item": away[rest, rest]}
        found = {name: max(found[name], float(part.max(initial=0.0))) for name, part in parts.items()}
    told = {f"largest deviation of the chance, {name}": value for name, value in found.items()}
    return {"enumerated": len(cases), **told}


# ---- errors as printed


def _eq35(e: float, s: int, theta: float, k: float) -> float:
    first = s * (k * e - e + s - k) * (k * e - k + s - 1) / (k * (s - k) * (e - 1) ** 2)
    second = (k * (1 - k) * (e - 1) + (s - 1) * (s - 2 * k)) / (k * (s - k) * (e - 1))
    return first + (1 - theta) * second + theta * s / (k * (e - 1))


def _eq41(e: float, s: int, theta: float, p: float) -> float:
    second = (p**2 - e * (1 - p) ** 2) / (p * (p - 1) * (e - 1))
    return s * e / (p * (1 - p) * (e - 1) ** 2) + (1 - theta) * second + theta * s / (e - 1)


def _eq47(e: float, s: int, theta: float, g: float) -> float:
    second = ((g - 1) ** 2 - e) / ((e - 1) * (g - 1))
    third = theta * g * s / ((e - 1) * (g + s - 1))
    return s * (e + g - 1) ** 2 / ((e - 1) ** 2 * (g - 1)) + (1 - theta) * second + third


def _eq61(e: float, s: int, theta: float, arc: float) -> float:
    second = ((arc - 1) ** 2 - e * arc**2) / ((e - 1) * (1 - arc) * arc)
    third = theta * s / ((e - 1) * (arc * s - arc + 1))
    return s * (e * arc - arc + 1) ** 2 / ((e - 1) ** 2 * (1 - arc) * arc) + (1 - theta) * second + third


_PRINTED_ERRORS: dict[str, tuple[tuple[str, str], str, Callable[[float, int, float, float], float]]] = {
    "eq35": (PRINTED["uSS"], "size", _eq35),
    "eq41": (PRINTED["uUE"], "p", _eq41),
    "eq47": (PRINTED["uLH"], "g", _eq47),
    "eq61": (("uwheel", "paper"), "arc", _eq61),
}
"""Mechanism as printed, its parameter, and n MSE by the printed formula."""


def _as_printed(id: str) -> Callable[[Context], Evidence]:
    which, parameter, formula = _PRINTED_ERRORS[id]

    def measure(_: Context) -> Evidence:
        """The printed formula against the sum of variances for the printed chances (Eq. 28), on all data."""
        worst, settings = 0.0, 0
        for data, e in product(DATA, (0.5, 1.0, 2.0, 3.0, 5.0)):
            m = made(which, data, e)
            assert m.base is not None
            value = float(m.base.params[parameter])
            worst = max(worst, off(formula(math.exp(e), m.s, m.theta, value), m.mse_sum()))
            settings += 1
        return {"settings": settings, "largest relative deviation": worst}

    return measure


for _id in _PRINTED_ERRORS:
    measures(_id)(_as_printed(_id))


# ---- what is said about sizes and costs


@measures("fig1-known")
def known(context: Context) -> Evidence:
    """How error and bits grow where the number of sensitive items doubles again and again."""
    rows = {(row["mechanism"], row["s"]): row for row in context.rows("fig1")}
    few, many = min(s for _, s in rows if isinstance(s, int)), max(s for _, s in rows if isinstance(s, int))

    def grows(label: str, what: str) -> float:
        return float(rows[label, many][what] or 0) / float(rows[label, few][what] or 0)

    return {
        "more sensitive items": many / few,
        **{f"{label}, n MSE: growth": grows(label, "n_mse") for label in (*KNOWN, "uLH")},
        **{f"{label}, bits: growth": grows(label, "bits") for label in (*KNOWN, "uLH")},
    }


@measures("uhr-forty")
def forty(context: Context) -> Evidence:
    """The error of uHR over the least of uSS, uUE and uLH as printed, by the share of sensitive items."""
    value = {(r["setting"], r["mechanism"], r["share"]): float(r["n_mse"] or 0) for r in context.rows("fig5")}
    over = {
        (data, share): value[data, "uHR", share] / min(value[data, label, share] for label in PRINTED)
        for data, _, share in value
    }
    return {f"{data}, share {share:g}: uHR over the best of the three": x for (data, share), x in over.items()}


@measures("ulh-work")
def work(_: Context) -> Evidence:
    """Operations of the server for a report, as the planner counts them: a hash for each item, or additions."""
    found: dict[str, float] = {}
    for data, setting in DATA.items():
        (n, s), spent = setting[:2], {}
        for label, name in (("uSS", "ss"), ("uUE", "oue"), ("uLH", "olh")):
            counted = MECHANISMS[name].traits.work
            assert counted is not None
            spent[label] = float(counted(mechanism(name, k=s, epsilon=1.0), n))
        found |= {f"{data}, {label}: operations for a report": value for label, value in spent.items()}
        found[f"{data}: operations of uLH over those of uSS and uUE, least"] = spent["uLH"] / max(
            spent["uSS"], spent["uUE"]
        )
    return found
