"""Personalised levels with protected budgets: Figures 2 to 8 and the claims of the paper."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from deniable.core.types import FloatArray
from deniable.datasets.population import Population
from deniable.datasets.tables import load
from deniable.papers.charts import Axes, lines
from deniable.papers.paper import Context, Figure, Paper, Rows
from deniable.papers.pldp.claims import CLAIMS
from deniable.papers.pldp.study import LEVELS, Errors, power_law, study, uniform_shares

__all__ = ["PAPER"]

DATA = {"Education": "adult-education", "Job": "bank-job", "Country": "adult-country"}
SIZES = {"Education": (4, 8, 12, 16), "Job": (3, 6, 9, 12), "Country": (10, 20, 30, 42)}
BUDGETS = tuple(round(0.1 * i, 1) for i in range(1, 11))
PAIR = (0.1, 0.2)
SHOWN = (
    "auem",
    "auem projected",
    "self projected",
    "em",
    "rcf",
    "rcf projected",
    "ppda",
    "emoa printed",
    "emoa normalised",
)
"""APLDP is RCF here: for these values and levels it uses the same mechanism at every level."""

NAMES = {
    "auem": "AUEM",
    "auem projected": "AUEM, projected",
    "self projected": "self-calibrated, projected",
    "em": "EM",
    "rcf": "RCF (levels public)",
    "rcf projected": "RCF, projected",
    "ppda": "PPDA",
    "pbp": "PBP, true shares",
    "pbp random": "PBP, random shares",
    "emoa normalised": "EMOA as printed, normalised",
}
"""What charts call the methods. The printed EMOA's output before it is normalised is in the tables only: its errors,
about 0.2, would leave no room for the others."""


def shares(levels: tuple[float, ...]) -> dict[str, FloatArray]:
    """The two distributions of people over the levels."""
    return {"uniform": uniform_shares(len(levels)), "power law": power_law(levels)}


def largest(population: Population, k: int) -> Population:
    """The people who hold one of the k most frequent values."""
    kept = np.sort(np.argsort(-population.counts, kind="stable")[:k])
    return Population(population.name, tuple(population.labels[i] for i in kept), population.counts[kept])


# ---- studies, each computed once for a figure by squared and one by absolute errors


def _budgets(context: Context) -> Rows:
    runs = 5 if context.quick else 50
    rows: list[dict[str, str | int | float | None]] = []
    for name, table in DATA.items():
        for budget in BUDGETS:
            stream = context.stream(f"budget {name} {budget}")
            found = study(load(table), runs, stream, level_epsilon=budget, methods=("auem",))
            rows.append({"data": name, "level epsilon": budget, **_measured(found, "auem")})
    return rows


def _sizes(context: Context) -> Rows:
    runs = 2 if context.quick else 20
    rows: list[dict[str, str | int | float | None]] = []
    for name, table in DATA.items():
        for k in SIZES[name] if not context.quick else SIZES[name][-2:]:
            found = study(largest(load(table), k), runs, context.stream(f"size {name} {k}"), methods=SHOWN)
            rows += [{"data": name, "k": k, **_measured(found, method)} for method in SHOWN]
    return rows


def _two_levels(context: Context) -> Rows:
    runs = 3 if context.quick else 50
    shown = ("pbp", "pbp random", "auem", "auem projected", "em", "emoa printed", "emoa normalised")
    rows: list[dict[str, str | int | float | None]] = []
    for name, table in DATA.items():
        for kind, rho in shares(PAIR).items():
            stream = context.stream(f"two {name} {kind}")
            found = study(load(table), runs, stream, levels=PAIR, shares=rho, level_epsilon=0.1, methods=shown)
            rows += [{"data": name, "shares": kind, **_measured(found, method)} for method in shown]
    return rows


def _ten_levels(context: Context) -> Rows:
    runs = 3 if context.quick else 50
    rows: list[dict[str, str | int | float | None]] = []
    for name, table in DATA.items():
        for kind, rho in shares(LEVELS).items():
            context.progress(f"pldp: {runs} collections of {name}, {kind} levels")
            found = study(load(table), runs, context.stream(f"ten {name} {kind}"), shares=rho, methods=SHOWN)
            rows += [{"data": name, "shares": kind, **_measured(found, method)} for method in SHOWN]
    return rows


def _measured(found: Errors, method: str) -> dict[str, str | int | float | None]:
    mse, mae = found.mse[method], found.mae[method]
    return {
        "method": method,
        "runs": int(mse.size),
        "mse": float(mse.mean()),
        "mse median": float(np.median(mse)),
        "mae": float(mae.mean()),
    }


PAIR_TEXT, TEN_TEXT = "Levels 0.1 and 0.2, level epsilon 0.1", "Ten levels from 0.1 to 1, level epsilon 0.3"

_over_budgets = lines(
    Axes("level epsilon", "error", "data", "measure", y_title="mean error", log="y"),
    "Error of AUEM against the protection of the level",
    "Ten levels from 0.1 to 1, all alike; SUE. After PLDP Fig. 2.",
    lambda rows: [{**row, "error": row[m], "measure": m.upper()} for m in ("mse", "mae") for row in rows],
)


def _shown(rows: Rows) -> Rows:
    return [{**row, "method": NAMES[str(row["method"])]} for row in rows if row["method"] in NAMES]


def _figure(number: int, error: str, what: str, compute: Callable[[Context], Rows], levels: str = "") -> Figure:
    """By the number of values, or by the shares of the levels where these are told."""
    where, name = f"Fig. {number}", error.upper()
    if levels:
        axes = Axes("shares", error, "method", "data", "people over the levels", name, "y")
        title = f"{name} for two distributions of people over the levels"
        note = f"{levels}; SUE. All methods read the same reports. After PLDP {where}."
    else:
        axes = Axes("k", error, "method", "data", "number of values", name, "xy")
        title = f"{name} {what}"
        note = f"The most frequent values of each table. {TEN_TEXT}; SUE. After PLDP Fig. 3 and 4."
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

PAPER = Paper(
    "pldp",
    "PLDP",
    "Overcoming Challenges in PLDP: A New Paradigm for Protecting Privacy Budgets and Enhancing Data Utility",
    FIGURES,
    CLAIMS,
)
