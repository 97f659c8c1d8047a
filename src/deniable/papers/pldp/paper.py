"""Personalised levels with protected budgets: Figures 2 to 8 and the claims of the paper."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from deniable.core.intervals import spread
from deniable.papers.charts import Axes, lines
from deniable.papers.paper import Context, Figure, Rows, read_paper
from deniable.papers.pldp import claims, comparisons
from deniable.papers.pldp.experiments import BUDGETS, DATA, SHARES, by_budget, by_size, sizes, ten_levels, two_levels
from deniable.papers.pldp.study import Errors

__all__ = ["PAPER"]

CODED = ("auem as coded", "emoa as coded")
"""What the authors' published program computes."""
SHOWN = (
    "auem",
    "auem projected",
    "self projected",
    "em",
    "rcf",
    "rcf projected",
    "apldp",
    "ppda",
    "emoa printed",
    "emoa normalised",
    *CODED,
)
TWO = ("pbp", "pbp random", "auem", "auem projected", "em", "emoa printed", "emoa normalised", *CODED)

NAMES = {
    "auem": "AUEM",
    "auem projected": "AUEM, projected",
    "auem as coded": "AUEM as the authors coded it",
    "self projected": "self-calibrated, projected",
    "em": "EM",
    "rcf": "RCF (levels public)",
    "rcf projected": "RCF, projected",
    "apldp": "APLDP (levels public)",
    "ppda": "PPDA",
    "pbp": "PBP, true shares",
    "pbp random": "PBP, random shares",
    "emoa normalised": "EMOA as printed, normalised",
    "emoa as coded": "EMOA as the authors coded it",
}
"""What charts call the methods. The printed EMOA's output before it is normalised is in the tables only: its errors,
about 0.2, would leave no room for the others."""


def _budgets(context: Context) -> Rows:
    return [
        {"data": name, "level epsilon": budget, **_measured(by_budget(context, name, budget), "auem")}
        for name, budget in product(DATA, BUDGETS)
    ]


def _sizes(context: Context) -> Rows:
    return [
        {"data": name, "k": k, **_measured(by_size(context, name, k), method)}
        for name in DATA
        for k in sizes(context, name)
        for method in SHOWN
    ]


def _by_shares(compute: Callable[[Context, str, str], Errors], methods: Sequence[str], context: Context) -> Rows:
    return [
        {"data": name, "shares": kind, **_measured(compute(context, name, kind), method)}
        for name, kind, method in product(DATA, SHARES, methods)
    ]


_two_levels, _ten_levels = partial(_by_shares, two_levels, TWO), partial(_by_shares, ten_levels, SHOWN)


def _measured(found: Errors, method: str) -> dict[str, str | int | float | None]:
    mse, mae = found.mse[method], found.mae[method]
    return {
        "method": method,
        "runs": int(mse.size),
        "mse": float(mse.mean()),
        "mse median": float(np.median(mse)),
        "mse stderr": spread(mse),
        "mae": float(mae.mean()),
        "mae stderr": spread(mae),
    }


PAIR_TEXT, TEN_TEXT = "Levels 0.1 and 0.2, level epsilon 0.1", "Ten levels from 0.1 to 1, level epsilon 0.3"

_over_budgets = lines(
    Axes(
        "level epsilon",
        "error",
        "data",
        "measure",
        x_title="ε of the level",
        y_title="mean error of a share",
        log="y",
        error="stderr",
    ),
    "Error of AUEM against the protection of the level",
    "Ten levels from 0.1 to 1, all alike; SUE. Bars: one standard error over the runs. After PLDP Fig. 2.",
    lambda rows: [
        {**row, "error": row[m], "stderr": row[f"{m} stderr"], "measure": m.upper()}
        for m in ("mse", "mae")
        for row in rows
    ],
)


_IN_WORDS = {"mse": "mean squared error of a share", "mae": "mean absolute error of a share"}
_BARS = "Bars: one standard error over the runs."
_TOLD = {PAIR_TEXT: "PBP as PLDP describes it.", TEN_TEXT: "PPDA, RCF and APLDP as PLDP describes them."}
"""Schemes whose own papers were not at hand."""


def _shown(rows: Rows) -> Rows:
    return [{**row, "method": NAMES[str(row["method"])]} for row in rows if row["method"] in NAMES]


def _figure(number: int, error: str, what: str, compute: Callable[[Context], Rows], levels: str = "") -> Figure:
    """By the number of values, or by the shares of the levels where these are told."""
    where, name = f"Fig. {number}", error.upper()
    shown: dict[str, Any] = {"y_title": f"{_IN_WORDS[error]} ({name})", "error": f"{error} stderr"}
    if levels:
        axes = Axes("shares", error, "method", "data", x_title="people over the levels", log="y", **shown)
        title = f"{name} {what}, for two distributions of people over them"
        note = f"{levels}; SUE. All methods read the same reports. {_BARS} {_TOLD[levels]} After PLDP {where}."
    else:
        axes = Axes("k", error, "method", "data", x_title="number of values", log="y", free="x", **shown)
        title = f"{name} {what}"
        note = f"The most frequent values of each table. {TEN_TEXT}; SUE. {_BARS} {_TOLD[TEN_TEXT]} After PLDP {where}."
    return Figure(f"fig{number}", f"{name} {what}", where, compute, lines(axes, title, note, _shown))


FIGURES = (
    Figure("fig2", "Error of AUEM against the protection of the level", "Fig. 2", _budgets, _over_budgets),
    _figure(3, "mse", "against the number of values", _sizes),
    _figure(4, "mae", "against the number of values", _sizes),
    _figure(5, "mse", "with two levels", _two_levels, PAIR_TEXT),
    _figure(6, "mae", "with two levels", _two_levels, PAIR_TEXT),
    _figure(7, "mse", "with ten levels", _ten_levels, TEN_TEXT),
    _figure(8, "mae", "with ten levels", _ten_levels, TEN_TEXT),
)

PAPER = read_paper("pldp", FIGURES, *(part.measures for part in (claims, comparisons)))
