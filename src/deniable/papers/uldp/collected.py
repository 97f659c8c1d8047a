"""ULDP's claims that are read from collections: simulated errors, collaborative sampling, frequent items."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from deniable.papers.paper import Context, Measures
from deniable.papers.rules import ALPHA, Evidence, spread_of
from deniable.papers.uldp.figures import DATA, PRINTED, made, theta_error

__all__ = ["MEASURES"]

MEASURES = Measures()
measures = MEASURES.add

TABLE2 = {
    "uSS": {"Foursquare": 0.0123, "Census": 0.004, "Drug": 0.0151, "Normal": 0.0245},
    "uUE": {"Foursquare": 0.0335, "Census": 0.0438, "Drug": 0.0179, "Normal": 0.1809},
    "uLH": {"Foursquare": 0.0083, "Census": 0.0041, "Drug": 0.0126, "Normal": 0.029},
}
"""As printed."""
_RUNS = 50
"""Of the paper."""


@measures("table2")
def _table2(context: Context) -> Evidence:
    """Printed values over exact ones, whose mean over 50 runs varies by a known amount; and simulated over exact."""
    found: dict[str, float] = {}
    for label, row in TABLE2.items():
        for data, printed in row.items():
            n, s, d, theta = DATA[data]
            exact = theta_error(made(PRINTED[label], (s, 0.0, d), 0.5), n, theta)
            found[f"printed over exact, {data}, {label}"] = printed / exact
    values = {name: _pvalue(ratio, _RUNS) for name, ratio in found.items()}
    seen = {}
    for drawn in _rows(context, "fig6"):
        if drawn["epsilon"] == 0.5 and drawn["mechanism"] in PRINTED:
            name = f"simulated over exact, {drawn['setting']}, {drawn['mechanism']}"
            found[name] = drawn["theta_error"] / drawn["theta_error_exact"]
            seen[name] = _pvalue(found[name], drawn["runs"])
    others = {name: value for name, value in values.items() if "Census" not in name}
    for name, some in {"printed values": values, "printed values but Census": others, "simulated values": seen}.items():
        found[f"adjusted p-value of the {name}"] = min(1.0, len(some) * min(some.values()))
    return found


def _pvalue(ratio: float, runs: int) -> float:
    """Two-sided p-value of a mean of absolute normal errors over its expectation."""
    from scipy.stats import norm

    return float(2 * norm.sf(abs(ratio - 1) * math.sqrt(runs / (math.pi / 2 - 1))))


def _rows(context: Context, figure: str) -> list[dict[str, Any]]:
    return [dict(row) for row in context.rows(figure)]


@measures("collaborative")
def _collaborative(context: Context) -> Evidence:
    """Simulated extra error of both ways to use the first 5 % over theta known, with all people."""
    value = {(r["setting"], r["series"], r["epsilon"]): r for r in _rows(context, "fig6")}
    found: dict[str, float] = {}
    for (data, series, e), row in value.items():
        label, way = series.split(", ", 1)
        if way != "theta known":
            plain, name = value[data, f"{label}, theta known", e], f"{series}, {data}, epsilon={e:g}"
            ratio = row["n_mse"] / plain["n_mse"]
            found[name] = ratio - 1
            found[spread_of(name)] = ratio * math.hypot(
                row["n_mse_stderr"] / row["n_mse"], plain["n_mse_stderr"] / plain["n_mse"]
            )
    for series in dict.fromkeys(s for _, s, _ in value if not s.endswith("theta known")):
        own = [name for name in found if name.startswith(f"{series}, ") and not name.endswith("standard error")]
        found[f"{series}: mean"] = float(np.mean([found[name] for name in own]))
        total = math.sqrt(sum(found[spread_of(name)] ** 2 for name in own))
        found[spread_of(f"{series}: mean")] = total / len(own)
    return found | {"runs": min(r["runs"] for r in value.values())}


@measures("simulated")
def _simulated(context: Context) -> Evidence:
    """p-values of the exact errors, by Bonferroni's correction, of all mechanisms whose reports can be made."""
    rows = _rows(context, "fig8")
    values = {f"{t['data']} {t['mechanism']} {t['epsilon']:g}": t["pvalue"] * len(rows) for t in rows}
    return {
        "collections": len(rows),
        "smallest adjusted p-value": min(1.0, *values.values()),
        "mean of simulated/exact": float(np.mean([t["n_mse"] / t["exact"] for t in rows])),
        "rejected": ", ".join(name for name, p in values.items() if p <= ALPHA) or "none",
    }


def _apart(context: Context, key: str, one: str, two: str, data: tuple[str, ...] = tuple(DATA)) -> dict[str, float]:
    """Differences of a score between two mechanisms, by data and epsilon, as shares of the second, with errors."""
    seen = {(t["data"], t["mechanism"], t["epsilon"]): t for t in _rows(context, "fig8")}
    found: dict[str, float] = {}
    for (where, label, e), row in seen.items():
        if label == one and where in data:
            other, name = seen[where, two, e], f"{one} against {two}, {where}, epsilon={e:g}"
            found[name] = row[key] / other[key] - 1
            found[spread_of(name)] = math.hypot(row[f"{key}_stderr"], other[f"{key}_stderr"]) / other[key]
    return found


def _fewest(context: Context, data: tuple[str, ...] = tuple(DATA)) -> dict[str, float]:
    return {"runs": min(int(t["runs"]) for t in _rows(context, "fig8") if t["data"] in data)}


@measures("mae")
def _mae(context: Context) -> Evidence:
    """MAE of uSS over that of uRR, minus 1."""
    found = _apart(context, "mae", "uSS", "uRR")
    many = [name for name in found if name.split(", ")[1] in ("Census", "Normal") and not name.endswith("error")]
    mean = "mean over Census and Normal, uSS against uRR"
    spread = math.sqrt(sum(found[spread_of(name)] ** 2 for name in many)) / len(many)
    return found | {mean: float(np.mean([found[n] for n in many])), spread_of(mean): spread} | _fewest(context)


@measures("mae-uhr")
def _mae_uhr(context: Context) -> Evidence:
    """MAE of uHR over that of the others on Foursquare, averaged over the budgets."""
    found: dict[str, float] = {}
    for other in ("uRR", "uRAP", "uSS", "uUE"):
        each = _apart(context, "mae", "uHR", other, ("Foursquare",))
        names = [name for name in each if not name.endswith("error")]
        mean = f"uHR against {other}, Foursquare, mean"
        found[mean] = float(np.mean([each[name] for name in names]))
        found[spread_of(mean)] = math.sqrt(sum(each[spread_of(name)] ** 2 for name in names)) / len(names)
    return found | _fewest(context, ("Foursquare",))


@measures("mae-similar")
def _mae_similar(context: Context) -> Evidence:
    """MAE of valid uLH over that of uUE, minus 1, everywhere and on average."""
    found = _apart(context, "mae", "uLH valid", "uUE")
    names = [name for name in found if not name.endswith("error")]
    mean = "mean, uLH valid against uUE"
    spread = math.sqrt(sum(found[spread_of(name)] ** 2 for name in names)) / len(names)
    return found | {mean: float(np.mean([found[n] for n in names])), spread_of(mean): spread} | _fewest(context)


@measures("mae-urap")
def _mae_urap(context: Context) -> Evidence:
    """The excess of uUE's MAE over uRAP's that chance explains least, its error widened for having been picked."""
    from scipy.stats import t

    sets = ("Foursquare", "Normal")
    runs = _fewest(context, sets)["runs"]
    found: dict[str, float] = {}
    for data in sets:
        each = _apart(context, "mae", "uUE", "uRAP", (data,))
        own = [(each[name], each[spread_of(name)]) for name in each if not name.endswith("error")]
        value, noise = max(own, key=lambda pair: pair[0] / pair[1])
        name = f"{data}, where uUE is most above uRAP"
        wider = float(t.isf(ALPHA / (2 * len(own)), runs - 1) / t.isf(ALPHA / 2, runs - 1))
        found |= {name: value, spread_of(name): noise * wider}
        found |= each
    return found | {"runs": runs}


@measures("theta-z")
def _theta_z(context: Context) -> Evidence:
    """Relative errors of theta of two mechanisms on the data on which their z differ."""
    rows = {(r["setting"], r["mechanism"]): r for r in _rows(context, "fig6") if r["epsilon"] == 0.5}
    found: dict[str, float] = {}
    for data in dict.fromkeys(data for data, _ in rows):
        z = {label: made(PRINTED[label], (DATA[data][1], 0.0, DATA[data][2]), 0.5).law.z for label in ("uSS", "uUE")}
        if z["uSS"] > z["uUE"] * 1.1:
            one, two = rows[data, "uUE"], rows[data, "uSS"]
            name = f"{data}, log of the error of uUE over that of uSS"
            found[name] = math.log(one["theta_error"] / two["theta_error"])
            found[spread_of(name)] = math.hypot(*(r["theta_error_stderr"] / r["theta_error"] for r in (one, two)))
            found |= {f"{data}, z of {label}": value for label, value in z.items()}
    return found | {"runs": min(row["runs"] for row in rows.values())}


_OTHERS = ("uRAP", "uHR", "uSS", "uUE")


_LEAST = "uRR minus the least of the others"
_MINED = ("Foursquare", "Census", "Normal")
"""Data with more than 30 items: of Drug's ten, five are looked for, and all find them."""


@measures("frequent")
def _frequent(context: Context) -> Evidence:
    """uRR against the worst of the others by F1 and NDCG of the 30 most frequent items."""
    found: dict[str, float] = {}
    for name, score, budgets in _mined(context):
        low = min(_OTHERS, key=lambda x: score[x][0])
        if budgets != "epsilon up to 3":
            found |= _minus(f"{budgets}, {name}, {_LEAST}", score["uRR"], score[low])
    return found | _fewest(context, _MINED)


@measures("frequent-similar")
def _frequent_similar(context: Context) -> Evidence:
    """The best against the worst of the others."""
    found: dict[str, float] = {}
    for name, score, budgets in _mined(context):
        low, high = (pick(_OTHERS, key=lambda x: score[x][0]) for pick in (min, max))
        found |= _minus(f"{budgets}, {name}, largest minus least of the others", score[high], score[low])
    return found | _fewest(context, _MINED)


def _mined(context: Context) -> Iterator[tuple[str, dict[str, tuple[float, float]], str]]:
    """Mean scores and their standard errors by mechanism, for each data set, score and set of budgets."""
    rows = _rows(context, "fig9")
    for data, key in product(_MINED, ("f1", "ndcg")):
        for budgets, least, most in (("mean", 0, 5), ("epsilon=5", 5, 5), ("epsilon up to 3", 0, 3)):
            scores: dict[str, tuple[float, float]] = {}
            for label in ("uRR", *_OTHERS):
                own = [
                    t for t in rows if (t["mechanism"], t["data"]) == (label, data) and least <= t["epsilon"] <= most
                ]
                error = math.sqrt(sum(t[f"{key}_stderr"] ** 2 for t in own)) / len(own)
                scores[label] = float(np.mean([t[key] for t in own])), error
            yield f"{data}, {key.upper()}", scores, budgets


def _minus(name: str, one: tuple[float, float], two: tuple[float, float]) -> dict[str, float]:
    return {name: one[0] - two[0], spread_of(name): math.hypot(one[1], two[1])}
