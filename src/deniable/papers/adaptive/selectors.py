"""Checks of what AdaptiveLDP says of its selectors, and of the number of people."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from deniable.core.selection import Preference, pareto, select
from deniable.core.types import FloatArray
from deniable.mechanisms.frequency.families import FAMILIES
from deniable.papers.adaptive.designs import ORIGIN, chosen_at
from deniable.papers.adaptive.equations import BUDGETS, K
from deniable.papers.checks import off
from deniable.papers.evidence import Evidence
from deniable.papers.paper import Context, Measures
from deniable.papers.rules import EXACT

__all__ = ["measures"]

measures = Measures()


# ---- selectors and the number of people


def _chosen(context: Context) -> dict[tuple[Any, ...], dict[str, float]]:
    """The parameters that each selector chooses, by protocol, k and epsilon."""
    chosen: dict[tuple[Any, ...], dict[str, float]] = {}
    for row in (*context.rows("fig9a"), *context.rows("fig9b")):
        at = row["protocol"], row["k"], row["epsilon"]
        chosen.setdefault(at, {})[str(row["select"])] = float(row["parameter"] or 0)
    return chosen


@measures("selectors")
def similar(context: Context) -> Evidence:
    """How often the selectors' parameters are within a tenth of that of the weighted sum."""
    chosen = _chosen(context)
    found: dict[str, float] = {"settings": len(chosen)}
    shares = {}
    for rule in ("utopia", "hypervolume", "tchebycheff", "elbow", "epsilon-constraint"):
        near = [off(values[rule], values["weighted"]) <= 0.1 for values in chosen.values()]
        shares[rule] = found[f"{rule} within 10 % of weighted"] = float(np.mean(near))
        for name in ("ass", "alh"):
            ratios = [max(r, 1 / r) for at, v in chosen.items() if at[0] == name for r in [v[rule] / v["weighted"]]]
            found[f"{rule}, {name.upper()}: largest ratio"] = max(ratios)
    close = min(shares[rule] for rule in ("utopia", "hypervolume", "tchebycheff"))
    apart = max(shares[rule] for rule in ("elbow", "epsilon-constraint"))
    ends = {"least share of those that are to be near": close, "largest share of elbow and epsilon-constraint": apart}
    return found | ends


@measures("selectors-regimes")
def regimes(context: Context) -> Evidence:
    """The same of all but elbow, by how large epsilon is."""
    near: dict[str, list[bool]] = {"high": [], "medium": [], "low": []}
    for (_, _, epsilon), values in _chosen(context).items():
        regime = "high" if epsilon <= 2 else "medium" if epsilon <= 6 else "low"
        others = [values[rule] for rule in values if rule not in ("weighted", "elbow")]
        near[regime] += [off(value, values["weighted"]) <= 0.1 for value in others]
    return {f"near, {regime} privacy": float(np.mean(each)) for regime, each in near.items()}


def _curve(name: str, end: float | None = None) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Values, ASR and MSE of a family's non-dominated designs in the setting of Fig. 7."""
    family = FAMILIES[name]
    values = family.grid(K, 4.0) if end is None else np.linspace(0.5, end, 100)
    asr, mse = family.objectives(K, 4.0, family.place(values), "paper")
    kept = pareto(asr, mse)
    order = kept[np.argsort(asr[kept], kind="stable")]
    return values[order], asr[order], mse[order]


@measures("elbow")
def elbow(_: Context) -> Evidence:
    """The elbow of AUE for two ends of the grid, and where its frontier bends most."""
    found: dict[str, float] = {}
    for end in (0.999999, 0.99):
        p, asr, mse = _curve("aue", end)
        found[f"AUE, grid up to {end}"] = float(p[select(asr, mse, Preference("elbow", "none")).index])
        dx, dy = np.gradient(asr), np.gradient(mse)
        bend = np.abs(dx * np.gradient(dy) - dy * np.gradient(dx)) / np.hypot(dx, dy) ** 3
        found[f"AUE, largest curvature, grid up to {end}"] = float(p[1:-1][bend[1:-1].argmax()])
    return found


@measures("hypervolume")
def hypervolume(_: Context) -> Evidence:
    """The choices by the area that only one point adds, against those by the rectangle of one point."""
    found: dict[str, float] = {}
    others = 0
    for name in ORIGIN:
        values, asr, mse = _curve(name)
        inside = (asr < 1) & (mse < 1)
        x, y = asr[inside], mse[inside]
        own = (np.append(x[1:], 1.0) - x) * (np.append(1.0, y[:-1]) - y)
        best, rectangle = float(values[inside][own.argmax()]), chosen_at(name, K, 4.0, select="hypervolume").value
        found |= {f"{name.upper()}, area of its own": best, f"{name.upper()}, rectangle": rectangle}
        others += off(best, rectangle) > EXACT
    empty = [e for e in BUDGETS if chosen_at("ass", 1000, e, select="hypervolume").fallback]
    found["k=1000, ASS: largest epsilon for which every MSE is at least 1"] = max(empty)
    return found | {"protocols": len(ORIGIN), "the other choice than in Fig. 9": others}


@measures("fig15-n")
def number_of_people(_: Context) -> Evidence:
    """The choices with equal weights for several n, and their errors over the least of the family."""
    found: dict[str, float] = {}
    moved: list[str] = []
    for name, n in product(ORIGIN, (1, 100, 10**4, 10**6)):
        chosen = chosen_at(name, K, 4.0, n=n)
        least = chosen_at(name, K, 4.0, weight=0.0, n=n)
        found[f"{name.upper()}, n={n}"] = chosen.value
        found[f"{name.upper()}, n={n}, MSE over its least"] = chosen.mse / least.mse
        moved += [name] if off(chosen.value, found[f"{name.upper()}, n=1"]) > EXACT else []
    found |= {"choices that change with n": len(moved), "protocols": len(ORIGIN)}
    return found | {"protocols whose choice changes with n": len(set(moved))}
