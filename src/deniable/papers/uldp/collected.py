"""ULDP's claims that are read from collections: simulated errors, collaborative sampling, frequent items."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np

from deniable.papers.evidence import Evidence, Sampled
from deniable.papers.paper import Context, Measures, fewest_runs
from deniable.papers.rules import ALPHA
from deniable.papers.uldp.figures import DATA, PRINTED, made, theta_error
from deniable.papers.uldp.simulated import APART, KNOWN_THETA

__all__ = ["measures"]

measures = Measures()

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
    """Extra error of both ways to use the first 5 % over the exact one with theta known and all people.

    Those who remain are estimated, and held against their own shares; beside it, against the shares of all people.
    """
    rows = _rows(context, "fig6")
    found: dict[str, float | Sampled] = {}
    same: dict[str, list[Sampled]] = {}
    all_people: dict[str, list[float]] = {}
    for row in rows:
        way, exact = row["series"].split(", ", 1)[1], row["n_mse_known_exact"]
        if way != KNOWN_THETA:
            more = Sampled(row["n_mse"] / exact - 1, row["n_mse_stderr"] / exact)
            found[f"{row['series']}, {row['setting']}, epsilon={row['epsilon']:g}"] = more
            same.setdefault(row["series"], []).append(more)
        if way == APART:
            all_people.setdefault(row["series"], []).append(row["n_mse_of_all"] / exact - 1)
    found |= {f"mean, {series}": Sampled.mean(own) for series, own in same.items()}
    found |= {f"for the shares of all people, mean, {name}": float(np.mean(own)) for name, own in all_people.items()}
    return found | fewest_runs(rows)


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


def _sampled(row: Mapping[str, Any], key: str) -> Sampled:
    return Sampled(row[key], row[f"{key}_stderr"])


def _apart(context: Context, one: str, two: str, data: tuple[str, ...] = tuple(DATA)) -> dict[str, Sampled]:
    """Differences of the MAE of two mechanisms, by data and epsilon, as shares of the second."""
    seen = {(t["data"], t["mechanism"], t["epsilon"]): _sampled(t, "mae") for t in _rows(context, "fig8")}
    found = {}
    for (where, label, e), own in seen.items():
        if label == one and where in data:
            other = seen[where, two, e]
            more = Sampled(own.value / other.value - 1, (own - other).error / other.value)
            found[f"{one} against {two}, {where}, epsilon={e:g}"] = more
    return found


def _fewest(context: Context, data: tuple[str, ...] = tuple(DATA)) -> dict[str, int]:
    return fewest_runs([row for row in context.rows("fig8") if row["data"] in data])


@measures("mae")
def _mae(context: Context) -> Evidence:
    """MAE of uSS over that of uRR, minus 1."""
    found = _apart(context, "uSS", "uRR")
    mean = Sampled.mean(_apart(context, "uSS", "uRR", ("Census", "Normal")).values())
    return found | {"mean over Census and Normal, uSS against uRR": mean} | _fewest(context)


@measures("mae-uhr")
def _mae_uhr(context: Context) -> Evidence:
    """MAE of uHR over that of the others on Foursquare, averaged over the budgets."""
    found = {}
    for other in ("uRR", "uRAP", "uSS", "uUE", "uLH"):
        each = _apart(context, "uHR", other, ("Foursquare",))
        found[f"uHR against {other}, Foursquare, mean"] = Sampled.mean(each.values())
    return found | _fewest(context, ("Foursquare",))


@measures("mae-similar")
def _mae_similar(context: Context) -> Evidence:
    """MAE of uLH as printed, and with the corrected z, over that of uUE, minus 1, everywhere and on average."""
    found: dict[str, Sampled] = {}
    for label in ("uLH", "uLH valid"):
        each = _apart(context, label, "uUE")
        found |= each | {f"mean, {label} against uUE": Sampled.mean(each.values())}
    return found | _fewest(context)


@measures("mae-urap")
def _mae_urap(context: Context) -> Evidence:
    """The excess of uUE's MAE over uRAP's that chance explains least, its error widened for having been picked."""
    from scipy.stats import t

    sets = ("Foursquare", "Normal")
    runs = _fewest(context, sets)["runs"]
    found: dict[str, Sampled] = {}
    for data in sets:
        each = _apart(context, "uUE", "uRAP", (data,))
        most = max(each.values(), key=lambda one: one.value / one.error)
        wider = float(t.isf(ALPHA / (2 * len(each)), runs - 1) / t.isf(ALPHA / 2, runs - 1))
        found |= {f"{data}, where uUE is most above uRAP": Sampled(most.value, most.error * wider), **each}
    return found | {"runs": runs}


@measures("theta-z")
def _theta_z(context: Context) -> Evidence:
    """Relative errors of theta of two mechanisms on the data on which their z differ."""
    rows = {(r["setting"], r["mechanism"]): r for r in _rows(context, "fig6") if r["epsilon"] == 0.5}
    found: dict[str, float | Sampled] = {}
    for data in dict.fromkeys(data for data, _ in rows):
        z = {label: made(PRINTED[label], (DATA[data][1], 0.0, DATA[data][2]), 0.5).law.z for label in ("uSS", "uUE")}
        if z["uSS"] > z["uUE"] * 1.1:
            one, two = (_sampled(rows[data, label], "theta_error") for label in ("uUE", "uSS"))
            found[f"{data}, log of the error of uUE over that of uSS"] = one.log_ratio(two)
            found |= {f"{data}, z of {label}": value for label, value in z.items()}
    return found | fewest_runs([*rows.values()])


_OTHERS = ("uRAP", "uHR", "uSS", "uUE", "uLH")
_MINED = ("Foursquare", "Census", "Normal")
"""Data with more than 30 items: of Drug's ten, five are looked for, and all find them."""


@measures("frequent")
def _frequent(context: Context) -> Evidence:
    """uRR against the worst of the others by F1 and NDCG of the 30 most frequent items."""
    found = {}
    for name, score, budgets in _mined(context):
        low = min((score[label] for label in _OTHERS), key=lambda one: one.value)
        if budgets != "epsilon up to 3":
            found[f"{budgets}, {name}, uRR minus the least of the others"] = score["uRR"] - low
    return found | _fewest(context, _MINED)


@measures("frequent-similar")
def _frequent_similar(context: Context) -> Evidence:
    """The best against the worst of the others."""
    found = {}
    for name, score, budgets in _mined(context):
        low, high = (pick((score[label] for label in _OTHERS), key=lambda one: one.value) for pick in (min, max))
        found[f"{budgets}, {name}, largest minus least of the others"] = high - low
    return found | _fewest(context, _MINED)


def _mined(context: Context) -> Iterator[tuple[str, dict[str, Sampled], str]]:
    """Mean scores by mechanism, for each data set, score and set of budgets."""
    rows = _rows(context, "fig9")
    for data, key in product(_MINED, ("f1", "ndcg")):
        for budgets, least, most in (("mean", 0, 5), ("epsilon=5", 5, 5), ("epsilon up to 3", 0, 3)):
            own = [t for t in rows if t["data"] == data and least <= t["epsilon"] <= most]
            scores = {
                label: Sampled.mean(_sampled(t, key) for t in own if t["mechanism"] == label)
                for label in ("uRR", *_OTHERS)
            }
            yield f"{data}, {key.upper()}", scores, budgets
