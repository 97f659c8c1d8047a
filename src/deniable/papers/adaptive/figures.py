"""AdaptiveLDP Figures 1 to 7 and 9 to 14, from closed forms; tables have all settings, charts some of them."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from deniable.core.frontier import frontier_mse, mixture_mse, mixture_success, weighted_mixture
from deniable.core.laws import epsilon_to
from deniable.core.selection import SELECTORS
from deniable.mechanisms.frequency.families import FAMILIES
from deniable.mechanisms.frequency.options import Metric
from deniable.papers.adaptive import simulation
from deniable.papers.adaptive.designs import ORIGIN, TWELVE, chosen_at, known_parameter, points
from deniable.papers.adaptive.equations import BUDGETS, DOMAINS, LOW, SETTINGS, SMALL, K
from deniable.papers.charts import Axes, lines
from deniable.papers.paper import Context, Figure, Rows

__all__ = ["FIGURES"]

_GUESS, _ERROR = "chance of a right guess (ASR)", "mean squared error (MSE) for n = 1"
_BY_BUDGET = Axes("epsilon", "mse_printed", "series", "panel", y_title=_ERROR, log="y")
_TRADE_OFF = Axes("mse", "asr", "series", "panel", x_title=_ERROR, y_title=_GUESS, log="x")

_SHOWN = (25, 100, 1000, 10000)
"""Domain sizes that charts show."""
_WIDE = (100, 1000, 10000)
"""Those of Fig. 9."""

_EVEN = tuple(i / 2 for i in range(1, 21))
"""Budgets that charts show."""

Row = dict[str, str | int | float | None]


def _of(rows: Rows, **wanted: tuple[Any, ...]) -> list[dict[str, Any]]:
    """The rows with these values, each with the protocol in capitals as `panel`."""
    found = [row for row in rows if all(row[column] in values for column, values in wanted.items())]
    return [{**row, "panel": str(row["protocol"]).upper()} for row in found]


# ---- Figure 1: old and new


def _fig1(context: Context) -> Rows:
    """The four pairs, and the best mixture of subset sizes by the same rule: a point of the frontier."""
    table, rows = points(context), []
    for (new, known), epsilon in product(ORIGIN.items(), LOW):
        w, v = epsilon_to(epsilon)
        best = weighted_mixture(K, epsilon, asr_weight=0.5, mse_weight=0.5)
        at = [table[name, K, epsilon].row(metrics) for name in (known, new) for metrics in ("printed", "exact")]
        asr, mse = mixture_success(w, K, best.size, best.share), mixture_mse(w, v, K, best.size, best.share)
        at.append({**at[0], "protocol": "ssmix", "parameter": best.size + best.share, "metrics": "exact"})
        at[-1] |= {"mse": float(mse), "asr": float(asr)}
        for row in at:
            low = float(frontier_mse(K, epsilon, float(row["asr"] or 0))) if row["metrics"] == "exact" else None
            rows.append({"pair": f"{known.upper()} and {new.upper()}", **row, "least_mse_at_asr": low})
    return rows


_KIND = {**dict.fromkeys(ORIGIN, "adaptive"), **dict.fromkeys(ORIGIN.values(), "known")}
_draw_fig1 = lines(
    replace(_TRADE_OFF, facet="pair", log="xy", wide=False),
    "Known protocols, adaptive ones, and the frontier",
    "ε from 2 (right end of a line) to 10 (left end), k = 100. Printed: MSE by Eq. 4, ASR of hashing by Eq. 15. For "
    "each ε the mixture has the least exact sum of all mechanisms. After AdaptiveLDP Fig. 1.",
    lambda rows: [{**row, "kind": _KIND.get(str(row["protocol"]), "best mixture of subsets")} for row in rows],
    series="{kind}, {metrics}",
)


# ---- Figures 2 to 5: all settings


def _fig2(context: Context) -> Rows:
    """ASR as printed and exactly."""
    return [
        {"protocol": p.protocol, "k": p.k, "epsilon": p.epsilon, "asr_printed": p.asr_printed, "asr": p.asr}
        for p in points(context).values()
    ]


def _some(rows: Rows) -> Rows:
    return _of(rows, k=_SHOWN, epsilon=_EVEN)


_draw_fig2 = lines(
    replace(_BY_BUDGET, y="asr", y_title=_GUESS),
    "What one report gives away",
    "Exact success of the best guess. Adaptive protocols with equal weights and n = 1. After AdaptiveLDP Fig. 2; the "
    "table has all domain sizes and the printed values.",
    _some,
    series="k = {k:,}",
)


def _errors(context: Context, *names: str) -> Rows:
    found = (points(context)[name, k, epsilon] for name in names for k, epsilon in SETTINGS)
    return [
        {"protocol": p.protocol, "k": p.k, "epsilon": p.epsilon, "mse_printed": p.mse_printed, "mse": p.mse}
        for p in found
    ]


_GROUPS = {"Unary": ("sue", "oue", "aue"), "Hashing": ("blh", "olh", "alh"), "Histogram": ("she", "the", "athe")}


def _grouped(rows: Rows) -> Rows:
    shown = []
    for group, names in _GROUPS.items():
        for row in _of(rows, protocol=names, k=_SHOWN, epsilon=_EVEN):
            adaptive = row["protocol"] in ORIGIN
            if adaptive or row["k"] == K:
                series = f"adaptive, k = {row['k']:,}" if adaptive else row["panel"]
                shown.append({**row, "series": series, "group": f"{group}: {', '.join(names).upper()}"})
    return shown


_draw_fig3 = lines(
    replace(_BY_BUDGET, facet="group"),
    "Error of unary, hashing and histogram protocols",
    "As printed, by Eq. 4, which is free of k for the known protocols; the table has exact values, too. After "
    "AdaptiveLDP Fig. 3.",
    _grouped,
)
_draw_fig4 = lines(
    _BY_BUDGET,
    "Error of subset selection, with the usual and with the adaptive size",
    "Approximate values; the table has the exact ones, too. After AdaptiveLDP Eq. 4 and Fig. 4.",
    _some,
    series="k = {k:,}",
)


HIGH = tuple(epsilon for epsilon in BUDGETS if epsilon < LOW[0])
"""Budgets of high privacy."""
_MEDIUM, _LARGE = (250, 500, 750, 1000), (2500, 5000, 7500, 10000)


def _trade_off(number: int, sizes: tuple[int, ...], budgets: tuple[float, ...], what: str) -> Figure:
    """ASR against MSE of all protocols, as the paper computes them and exactly: Fig. 5 and 10 to 14."""

    def compute(context: Context) -> Rows:
        table = points(context)
        return [
            table[name, k, epsilon].row(metrics)
            for name, k, epsilon, metrics in product(TWELVE, sizes, budgets, ("printed", "exact"))
        ]

    def ends(rows: Rows) -> Rows:
        """The largest and the smallest domain; the table has the two between them, too."""
        some = budgets[:: 2 if budgets == LOW else 3]
        return [row for k in (sizes[-1], sizes[0]) for row in _of(rows, k=(k,), epsilon=some)]

    draw = lines(
        _TRADE_OFF,
        "What one report gives away, against the error of the estimate",
        f"ε from {budgets[0]:g} (right end of a line) to {budgets[-1]:g} (left end). Printed: MSE by Eq. 4, and the "
        f"ASR of BLH, OLH and ALH by Eq. 15. After AdaptiveLDP Fig. {number}.",
        ends,
        series="k = {k:,}, {metrics}",
    )
    return Figure(f"fig{number}", f"ASR against MSE of twelve protocols, {what}", f"Fig. {number}", compute, draw)


# ---- Figures 6, 7 and 9: parameters

_SIGNS = {"ass": "subset size", "aue": "p", "alh": "g", "athe": "threshold"}


def _fig6(_: Context) -> Rows:
    """Parameters by weight, on the paper's grid and objectives and by exact search."""
    rows: list[Row] = []
    metrics: tuple[tuple[str, Metric], ...] = (("printed", "paper"), ("exact", "exact"))
    for name, (label, metric), i in product(ORIGIN, metrics, range(21)):
        chosen = chosen_at(name, K, 4.0, weight=i / 20, metric=metric)
        found = {"parameter": chosen.value, "asr": chosen.asr, "mse": chosen.mse}
        known = known_parameter(name, K, 4.0)
        rows.append({"protocol": name, "weight_asr": i / 20, "metrics": label, **found, "known": known})
    return rows


def _both(rows: Rows) -> Rows:
    """By weight, the choices and the known parameter."""
    shown = []
    for row in _of(rows):
        panel = f"{row['panel']}: {_SIGNS[row['protocol']]}"
        if row["metrics"] == "printed":
            shown.append({**row, "panel": panel, "series": "known protocol", "parameter": row["known"]})
        shown.append({**row, "panel": panel, "series": f"adaptive, {row['metrics']} objectives"})
    return sorted(shown, key=lambda row: list(ORIGIN).index(str(row["protocol"])))


_draw_fig6 = lines(
    Axes(
        "weight_asr",
        "parameter",
        "series",
        "panel",
        x_title="weight on the ASR, from 0 to 1",
        y_title="parameter that is chosen",
        wide=False,
        free="y",
    ),
    "The parameter that a weight on the ASR chooses",
    "k = 100, ε = 4, n = 1; the rest of the weight is on the MSE. After AdaptiveLDP Fig. 6.",
    _both,
)


def _fig7(_: Context) -> Rows:
    """The equally weighted sum over the paper's grids, at the choice and at the known parameter."""
    rows: list[Row] = []
    for name in ORIGIN:
        family = FAMILIES[name]
        places = {
            "grid": family.grid(K, 4.0),
            "adaptive": np.array([chosen_at(name, K, 4.0).value]),
            "known": np.array([known_parameter(name, K, 4.0)]),
        }
        for what, values in places.items():
            asr, mse = family.objectives(K, 4.0, family.place(values), "paper")
            for value, a, m in zip(values.tolist(), asr.tolist(), mse.tolist(), strict=True):
                row = {"parameter": value, "objective": (a + m) / 2, "asr": a, "mse": m}
                rows.append({"protocol": name, "what": what, **row})
    return rows


def _thinned(rows: Rows) -> Rows:
    """Every third value of the grids, up to a sum of 2."""
    kept = [row for i, row in enumerate(rows) if row["what"] != "grid" or i % 3 == 0]
    return [{**row, "sign": _SIGNS[row["protocol"]]} for row in _of(kept) if row["objective"] < 2]


_draw_fig7 = lines(
    Axes(
        "parameter",
        "objective",
        "what",
        "panel",
        x_title="parameter of the protocol",
        y_title="half the ASR plus half the MSE",
        log="y",
        wide=False,
        free="x",
    ),
    "What the adaptive protocols make small",
    "Half the ASR plus half the MSE as printed, k = 100, ε = 4, n = 1. After AdaptiveLDP Fig. 7.",
    _thinned,
    panel="{panel}: {sign}",
)


def _fig9(context: Context) -> Rows:
    """Choices of the six selectors; fewer budgets in a quick run."""
    budgets = _EVEN if context.quick else BUDGETS
    rows: list[Row] = []
    for name, k, select, epsilon in product(ORIGIN, _WIDE, SELECTORS, budgets):
        chosen = chosen_at(name, k, epsilon, select=select)  # type: ignore[arg-type]
        found: Row = {"parameter": chosen.value, "asr": chosen.asr, "mse": chosen.mse, "fallback": chosen.fallback}
        rows.append({"protocol": name, "k": k, "epsilon": epsilon, "select": select, **found})
    return rows


def _selected(part: str, what: str, title: str, names: tuple[str, str], log: str = "") -> Figure:
    """A part of Fig. 9, for two of the protocols."""
    draw = lines(
        Axes("epsilon", "parameter", "select", "panel", y_title="parameter that is chosen", log=log),
        title,
        "On the paper's grids and objectives, n = 1. Hypervolume without any area (every MSE at least 1) takes the "
        "point nearest to zero. After AdaptiveLDP Fig. 9.",
        lambda rows: _of(rows, epsilon=_EVEN),
        panel="{panel}, k = {k:,}",
    )
    return Figure(part, what, "Fig. 9", lambda c: [r for r in c.once(_fig9) if r["protocol"] in names], draw)


assert set(_SHOWN) | set(_WIDE) <= set(DOMAINS)

FIGURES = (
    Figure("fig1", "ASR against MSE of four pairs and the frontier, k=100", "Fig. 1", _fig1, _draw_fig1),
    Figure("fig2", "ASR of twelve protocols by epsilon and k", "Fig. 2", _fig2, _draw_fig2),
    Figure(
        "fig3",
        "MSE of unary, hashing and histogram protocols by epsilon and k",
        "Fig. 3",
        lambda context: _errors(context, *(name for group in _GROUPS.values() for name in group)),
        _draw_fig3,
    ),
    Figure("fig4", "MSE of SS and ASS by epsilon and k", "Fig. 4", lambda c: _errors(c, "ss", "ass"), _draw_fig4),
    _trade_off(5, SMALL, LOW, "k up to 100, epsilon from 2 to 10"),
    Figure("fig6", "Parameters by weight, k=100, epsilon=4", "Fig. 6", _fig6, _draw_fig6),
    Figure("fig7", "Objectives by parameter, k=100, epsilon=4", "Fig. 7", _fig7, _draw_fig7),
    simulation.FIG8,
    _selected(
        "fig9a",
        "Subset sizes and ranges by six selectors",
        "Sizes and ranges that six selectors choose",
        ("ass", "alh"),
        log="y",
    ),
    _selected(
        "fig9b", "p and thresholds by six selectors", "p and thresholds that six selectors choose", ("aue", "athe")
    ),
    _trade_off(10, SMALL, HIGH, "k up to 100, epsilon below 2"),
    _trade_off(11, _MEDIUM, HIGH, "k from 250 to 1,000, epsilon below 2"),
    _trade_off(12, _LARGE, HIGH, "k from 2,500 to 10,000, epsilon below 2"),
    _trade_off(13, _MEDIUM, LOW, "k from 250 to 1,000, epsilon from 2 to 10"),
    _trade_off(14, _LARGE, LOW, "k from 2,500 to 10,000, epsilon from 2 to 10"),
    simulation.FIG15,
)
"""In the order of the paper; Fig. 9 in two parts, because its parameters need different axes."""
