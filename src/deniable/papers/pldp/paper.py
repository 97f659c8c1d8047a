"""Personalised levels with protected budgets: Figures 2 to 8 and the claims of the paper."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from deniable.core.types import FloatArray
from deniable.datasets.population import Population
from deniable.datasets.tables import load
from deniable.papers.paper import Claim, Context, Figure, Paper, Rows
from deniable.papers.pldp import claims
from deniable.papers.pldp.study import LEVELS, Errors, power_law, study, uniform_shares
from deniable.present.lines import line_chart

if TYPE_CHECKING:
    import altair

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


def _once(name: str, make: Callable[[Context], Rows]) -> Callable[[Context], Rows]:
    return lambda context: context.once(name, make)


def _over_budgets(rows: Rows) -> altair.TopLevelMixin:
    both = [{**row, "error": row[m], "measure": m.upper()} for m in ("mse", "mae") for row in rows]
    return line_chart(
        both,
        x="level epsilon",
        y="error",
        series="data",
        facet="measure",
        log_y=True,
        y_title="mean error",
        title="Error of AUEM against the protection of the level",
        subtitle="Ten levels from 0.1 to 1, all alike; SUE. After PLDP Fig. 2.",
    )


def _shown(rows: Rows) -> Rows:
    return [{**row, "method": NAMES[str(row["method"])]} for row in rows if row["method"] in NAMES]


def _over_sizes(error: str) -> Callable[[Rows], altair.TopLevelMixin]:
    return lambda rows: line_chart(
        _shown(rows),
        x="k",
        y=error,
        series="method",
        facet="data",
        log_x=True,
        log_y=True,
        x_title="number of values",
        y_title=error.upper(),
        title=f"{error.upper()} against the number of values",
        subtitle=f"The most frequent values of each table. {TEN_TEXT}; SUE. After PLDP Fig. 3 and 4.",
    )


def _by_shares(error: str, levels: str, where: str) -> Callable[[Rows], altair.TopLevelMixin]:
    return lambda rows: line_chart(
        _shown(rows),
        x="shares",
        y=error,
        series="method",
        facet="data",
        log_y=True,
        x_title="people over the levels",
        y_title=error.upper(),
        title=f"{error.upper()} for two distributions of people over the levels",
        subtitle=f"{levels}; SUE. All methods read the same reports. After PLDP {where}.",
    )


PAIR_TEXT, TEN_TEXT = "Levels 0.1 and 0.2, level epsilon 0.1", "Ten levels from 0.1 to 1, level epsilon 0.3"


TEN, TWO = _once("ten levels", _ten_levels), _once("two levels", _two_levels)
BY_SIZE = _once("sizes", _sizes)

FIGURES = (
    Figure("fig2", "Error of AUEM against the protection of the level", "Fig. 2", _budgets, _over_budgets),
    Figure("fig3", "MSE against the number of values", "Fig. 3", BY_SIZE, _over_sizes("mse")),
    Figure("fig4", "MAE against the number of values", "Fig. 4", BY_SIZE, _over_sizes("mae")),
    Figure("fig5", "MSE with two levels", "Fig. 5", TWO, _by_shares("mse", PAIR_TEXT, "Fig. 5")),
    Figure("fig6", "MAE with two levels", "Fig. 6", TWO, _by_shares("mae", PAIR_TEXT, "Fig. 6")),
    Figure("fig7", "MSE with ten levels", "Fig. 7", TEN, _by_shares("mse", TEN_TEXT, "Fig. 7")),
    Figure("fig8", "MAE with ten levels", "Fig. 8", TEN, _by_shares("mae", TEN_TEXT, "Fig. 8")),
)

CLAIMS = (
    Claim(
        "level-private",
        "The level is protected by its own budget alone",
        "Sec. 5.1 (5)",
        "epsilon_p-LDP",
        claims.level_private,
    ),
    Claim(
        "thm52",
        "AUEM is approximately unbiased",
        "Theorem 5.2",
        "E = f, approximately",
        claims.unbiased,
    ),
    Claim("thm53", "Variance of AUEM", "Theorem 5.3", "V1 + V2 + V3 + V4", claims.variance),
    Claim(
        "emoa",
        "EMOA is an EM algorithm that improves AUEM",
        "Eq. 15, Algorithm 1",
        "improves",
        claims.printed_em,
        "fig7",
    ),
    Claim(
        "fig2",
        "The error of AUEM falls with epsilon_p, steeply below 0.4",
        "Sec. 7.3.1, Fig. 2",
        "steep below 0.4",
        claims.falls,
        "fig2",
    ),
    Claim("fig3", "Errors rise with the number of values", "Sec. 7.3.2, Fig. 3", "rise", claims.rises, "fig3"),
    Claim("ppda", "AUEM and EMOA always beat PPDA", "Sec. 7.3.3, Fig. 7", "always", claims.ppda, "fig7"),
    Claim(
        "rcf",
        "RCF and APLDP, which see the levels, beat AUEM; the optimised estimate comes close to them",
        "Sec. 7.3.2, Fig. 7",
        "comparable in most cases",
        claims.near_rcf,
        "fig7",
    ),
    Claim("pbp", "AUEM and EMOA beat PBP, by up to 87 %", "Sec. 7.3.3, Fig. 5", 0.87, claims.pbp, "fig5"),
    Claim("table1", "Job has 9 values", "Table 1", 9, claims.job_values),
    Claim(
        "country",
        "Country's errors are lower than Job's because there are more people",
        "Sec. 7.3.3",
        "lower",
        claims.country,
    ),
)

PAPER = Paper(
    "pldp",
    "PLDP",
    "Overcoming Challenges in PLDP: A New Paradigm for Protecting Privacy Budgets and Enhancing Data Utility",
    FIGURES,
    CLAIMS,
)
