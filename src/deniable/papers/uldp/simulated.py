"""ULDP's collections, simulated: errors of all mechanisms, and theta learned from a part of the people.

Drug ratings and check-ins of New York are real where the data folder has them; Census is made up with the paper's n, s,
d and theta, and Normal as the paper makes it up: a bell over all items, sensitive ones drawn at random.
"""

from __future__ import annotations

import csv
import math
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from deniable.collect.tally import Tally
from deniable.core.intervals import spread
from deniable.core.types import FloatArray, IntArray
from deniable.datasets.folder import data_folder, read_table
from deniable.datasets.population import Population
from deniable.datasets.synthetic import apportion, synthetic
from deniable.estimate.pooled import pool
from deniable.estimate.scores import f1_top, ndcg_top
from deniable.mechanisms.registry import mechanism
from deniable.mechanisms.utility.base import Utility
from deniable.mechanisms.utility.bulk import UtilityBulk
from deniable.papers.charts import Axes, lines
from deniable.papers.paper import Context, Figure, Rows, made_up
from deniable.papers.uldp.figures import (
    BUDGETS,
    DATA,
    ERROR,
    KNOWN,
    OURS,
    PRINTED,
    PRIVATE,
    made,
    theory,
    theta_error,
)
from deniable.randomness import Simulation

__all__ = ["FIGURES", "people"]

_RATINGS = "drugscom_train_rating_counts_161297.csv"
_CHECKINS = "foursquare_nyc_poi.csv.gz"
_BOX = ((40.70, 40.88), (-74.02, -73.91))
"""Latitudes and longitudes of Manhattan, cut into 25 by 25 regions as in the paper (Sec. 6.1)."""
_RUNS = 50
_QUICK_RUNS, _MORE = {"Drug": 20, "Normal": 4}, {"Drug": 16, "Foursquare": 8}
"""Runs of collaborative sampling in a quick run; in full these times as many where few shares make up the error."""
"""Collections of each data set, as many as in the paper (Sec. 6.1)."""


def people(name: str, context: Context, n: int | None = None) -> Population:
    """A data set's people, sensitive items first, scaled to n."""
    total, s, d, theta = DATA[name]
    total = total if n is None else n
    folder = data_folder(context.data_dir)
    if name == "Drug" and folder is not None and (folder / _RATINGS).is_file():
        rows = list(csv.DictReader((folder / _RATINGS).read_text(encoding="utf-8").splitlines()))
        counts = apportion([int(row["count"]) for row in rows], total)
        return Population("Drug (ratings of drugs.com)", tuple(row["rating"] for row in rows), counts)
    if name == "Normal":
        bell, order = synthetic("normal", k=d, n=total), context.stream("sensitive items").generator().permutation(d)
        first = np.concatenate([np.sort(order[:s]), np.sort(order[s:])])
        return Population(made_up(name), tuple(map(str, first)), bell.counts[first])
    if name == "Foursquare" and folder is not None and (folder / _CHECKINS).is_file():
        counts = apportion(_regions(folder, s, context), total)
        return Population("Foursquare (check-ins of New York)", tuple(map(str, range(d))), counts)
    own = round(total * (1 - theta))
    weights = [[10**9 // (i + 1) for i in range(size)] for size in (s, d - s)]
    counts = np.concatenate([apportion(weights[0], own), apportion(weights[1], total - own)])
    return Population(made_up(name), tuple(map(str, range(d))), counts)


def _regions(folder: Path, s: int, context: Context) -> list[int]:
    """Check-ins of 25 by 25 regions, s of them first: which are sensitive is drawn among those that are visited.

    The paper's are those with hospitals, casinos or strip clubs; these check-ins have no kinds of places.
    """
    table = read_table(folder / _CHECKINS)
    edges = [np.linspace(*ends, 26) for ends in _BOX]
    seen, _, _ = np.histogram2d(table.column("lat"), table.column("lon"), edges, weights=table.column("checkins"))
    counts = seen.ravel().round().astype(int)
    visited = np.flatnonzero(counts)
    chosen = context.sample("sensitive regions").generator().choice(visited, s, replace=False)
    rest = np.delete(counts, chosen)
    return [*counts[np.sort(chosen)].tolist(), *rest.tolist()]


# ---- all mechanisms


def trials(context: Context) -> list[dict[str, Any]]:
    """Collections of all data sets with all mechanisms: n MSE, MAE, F1 and NDCG, averaged over the runs.

    Of uLH as printed, whose reports would not be private, counts are drawn.
    """
    budgets = (1.0, 3.0, 5.0) if context.quick else (0.5, 1.0, 2.0, 3.0, 4.0, 5.0)
    chosen = KNOWN | PRINTED | PRIVATE | OURS
    out = []
    for data, epsilon in product(DATA, budgets):
        n, runs = (4_000, 4) if context.quick else (DATA[data][0], _RUNS)
        population = people(data, context, n)
        f, s = population.frequencies, DATA[data][1]
        theta = float(f[s:].sum())
        context.progress(f"uldp: collecting {population.name} at epsilon {epsilon:g}, {runs} times {n} people")
        for label, which in chosen.items():
            m = made(which, (s, theta, population.k), epsilon)
            stream = context.stream(f"{data} {epsilon:g} {label}")
            values = [m.estimate(drawn_tally(m, population.counts, rng)).value for rng in stream.spawn(runs)]
            out.append({"data": data, "source": population.name, "mechanism": label, **_measured(m, n, f, values)})
    return out


def drawn_tally(m: Utility, counts: IntArray, rng: Simulation) -> Tally:
    """What people with these items report, counted, drawn from its law also where reports are hashed.

    Under functions that are drawn anew for everybody, other items than the own one are supported independently of each
    other, each with the chance 1/g, and the own one with p: the law of a unary encoding with this p. No report is made,
    so that also a form can be drawn whose reports would not be private.
    """
    if m.bulk.knows_counts:
        return m.simulate_tally(counts, rng)
    assert m.base is not None
    unary = mechanism("ue", k=m.base.k, epsilon=m.epsilon, p=float(m.law.base.p))
    alike = UtilityBulk(replace(m.bulk.kernel, base=(unary.kernel,)), unary.bulk)  # type: ignore[arg-type]
    return Tally(m.design, m.bulk.strata, alike.simulate_counts(counts, rng), simulated=True, names=m.entry_names)


def _measured(m: Utility, n: int, f: FloatArray, values: list[FloatArray]) -> dict[str, Any]:
    errors = np.array([((value - f) ** 2).sum() for value in values])
    top = min(30, m.k // 2)
    scores = {
        "mae": [float(np.abs(value - f).mean()) for value in values],
        "f1": [f1_top(value, f, top) for value in values],
        "ndcg": [ndcg_top(value, f, top) for value in values],
    }
    row: dict[str, Any] = {
        "epsilon": m.epsilon,
        "n": n,
        "runs": len(values),
        "n_mse": float(n * errors.mean()),
        "exact": float(m.effective()["mse_sum"]),
        "pvalue": _pvalue(m, f, n, errors),
        "top": top,
    }
    for name, found in scores.items():
        row |= {name: float(np.mean(found)), f"{name}_stderr": spread(np.array(found))}
    return row


def _pvalue(m: Utility, f: FloatArray, n: int, errors: FloatArray) -> float:
    """Two-sided p-value of the exact MSE: squared errors are a mixture of chi-square laws, matched in three moments.

    Two moments are not enough: one error that all items share makes the upper tail longer.
    """
    from scipy.stats import chi2

    covariance = m.covariance(f, n)
    squared = covariance @ covariance
    mean, variance = float(np.trace(covariance)), 2 * float(np.trace(squared)) / errors.size
    third = 8 * float((squared * covariance).sum()) / errors.size**2
    freedom = 8 * variance**3 / third**2
    law, x = chi2(freedom), freedom + math.sqrt(2 * freedom / variance) * (float(errors.mean()) - mean)
    return float(min(1.0, 2 * min(law.cdf(x), law.sf(x))))


# ---- theta learned


_FIRST = 0.05
_WAYS: dict[str, tuple[tuple[str, str], float | None]] = {
    **{label: (which, 0.0) for label, which in PRINTED.items()},
    "uSS ours": (OURS["uSS ours"], None),
}
"""Mechanism and first guess of theta; the paper has 0."""
KNOWN_THETA, APART, POOLED = "theta known", "5 % thrown away", "pooled"


def collaboration(context: Context) -> list[dict[str, Any]]:
    """Collaborative sampling at the papers' numbers of people, beside the same mechanism with theta known.

    From the same runs: the errors if the first 5 % are thrown away, as in the paper, if they are kept, and the relative
    error of theta. What is estimated from some people is held against their own shares: with the first 5 % thrown away
    that is "the frequency of the remaining 95 % of users" [ULDP Sec. 6.3].
    """
    sets = ("Drug", "Normal") if context.quick else tuple(DATA)
    budgets = (0.5, 2.0) if context.quick else (0.5, 1.0, 2.0, 5.0)
    rows: list[dict[str, Any]] = []
    for data, epsilon in product(sets, budgets):
        runs = _QUICK_RUNS[data] if context.quick else _MORE.get(data, 1) * _RUNS
        population = people(data, context)
        context.progress(
            f"uldp: collaborative sampling of {population.n} people of {population.name}, epsilon {epsilon:g}"
        )
        for label in _WAYS:
            stream = context.stream(f"collaborative {data} {epsilon:g} {label}")
            rows += _collaborate(data, population, label, epsilon, [*stream.spawn(runs)])
    return rows


def _collaborate(
    data: str, population: Population, label: str, epsilon: float, streams: list[Any]
) -> list[dict[str, Any]]:
    """One mechanism at one budget: a row for each way to use the people."""
    which, told = _WAYS[label]
    s, k, counts = DATA[data][1], population.k, population.counts
    theta = float(population.frequencies[s:].sum())
    guess = 1 - s / k if told is None else told
    known, first = made(which, (s, theta, k), epsilon), made(which, (s, guess, k), epsilon)
    errors: dict[str, list[float]] = {KNOWN_THETA: [], APART: [], POOLED: []}
    off, of_all = [], []
    for stream in streams:
        few = stream.generator().multivariate_hypergeometric(counts, round(_FIRST * population.n), method="marginals")
        asked = drawn_tally(first, few, stream)
        found = min(1.0, max(0.0, first.theta_of(asked)))
        second = made(which, (s, found, k), epsilon)
        rest = second.estimate(drawn_tally(second, counts - few, stream))
        plain = known.estimate(drawn_tally(known, counts, stream))
        pooled = pool([first.estimate(asked), rest])
        for way, estimate, own in zip(errors, (plain, rest, pooled), (counts, counts - few, counts), strict=True):
            errors[way].append(float(((estimate.value - own / own.sum()) ** 2).sum()))
        of_all.append(float(((rest.value - population.frequencies) ** 2).sum()))
        off.append(abs(found / theta - 1))
    shared = {"setting": data, "source": population.name, "mechanism": label, "epsilon": epsilon}
    seen = {"theta_error": float(np.mean(off)), "theta_error_stderr": spread(np.array(off))}
    return [
        {
            **shared,
            "series": f"{label}, {way}",
            "runs": len(each),
            "n_mse": population.n * float(np.mean(each)),
            "n_mse_stderr": population.n * (spread(np.array(each)) or math.inf),
            "n_mse_known_exact": float(known.law_effective.mse_sum(s, theta)),
            "n_mse_of_all": population.n * float(np.mean(of_all)) if way == APART else None,
            **seen,
            "theta_error_exact": theta_error(first, population.n, theta),
        }
        for way, each in errors.items()
    ]


# ---- figures


def _fig4(context: Context) -> Rows:
    seen = {(t["data"], t["mechanism"], t["epsilon"]): t for t in context.once(trials)}
    rows = theory([(name, (s, theta, d)) for name, (_, s, d, theta) in DATA.items()], BUDGETS)
    empty: dict[str, Any] = {"n_mse": None, "source": "closed form"}
    out = []
    for row in rows:
        found = seen.get((row["setting"], row["mechanism"], row["epsilon"]), empty)
        out.append({**row, "simulated": found["n_mse"], "source": found["source"]})
    return out


def _with_points(rows: Rows) -> Rows:
    """Closed forms as lines, and simulated values as rings."""
    seen = [row for row in rows if row["simulated"] is not None]
    return [{**row, "ring": False} for row in rows] + [{**row, "n_mse": row["simulated"], "ring": True} for row in seen]


_IN_WORDS = {
    "mae": "mean absolute error of the shares",
    "ndcg": "discounted gain, 1 at best (NDCG)",
    "f1": "F1 score, 1 at best",
}


def _draw_seen(key: str, title: str, where: str) -> Any:
    log = "y" if key == "mae" else ""
    axes = Axes("epsilon", key, "mechanism", "data", y_title=_IN_WORDS[key], log=log, wide=False, error=f"{key}_stderr")
    return lines(axes, title, lambda rows: f"{_told(rows, key)} After ULDP {where}.")


def _told(rows: Rows, key: str) -> str:
    """How many people and runs there were, and of how many items the most frequent are looked for."""
    people, runs = ({str(row["data"]): int(row[name] or 0) for row in rows} for name in ("n", "runs"))
    shown = ", ".join(f"{data} {n:,} ({runs[data]} runs)" for data, n in people.items())
    tops = {str(row["data"]): int(row["top"] or 0) for row in rows}
    top = "" if key == "mae" else f" The {max(tops.values())} most frequent items; of Drug {tops['Drug']}."
    return f"People: {shown}.{top} Bars: one standard error."


def _table2(context: Context) -> Rows:
    """theta from 5 % of the people, parameters for theta = 0: by closed form, and simulated where reports can be."""
    seen = {(r["mechanism"], r["setting"], r["epsilon"]): r for r in context.once(collaboration)}
    rows: list[dict[str, str | float | None]] = []
    for label, which in (PRINTED | PRIVATE | {"uSS ours": OURS["uSS ours"]}).items():
        for data, (n, s, d, theta) in DATA.items():
            guess = 0.0 if label != "uSS ours" else 1 - s / d
            found = [theta_error(made(which, (s, guess, d), e), n, theta) for e in BUDGETS]
            drawn = seen.get((label, data, 0.5))
            rows.append(
                {
                    "mechanism": label,
                    "data": data,
                    "source": drawn["source"] if drawn else "closed form",
                    "at epsilon 0.5": found[0],
                    "simulated at epsilon 0.5": drawn["theta_error"] if drawn else None,
                    "mean over epsilon": float(np.mean(found)),
                }
            )
    return rows


def _table2_shown(rows: Rows) -> Rows:
    shown = [{**row, "series": row["mechanism"], "error": row["at epsilon 0.5"]} for row in rows]
    seen = [row for row in rows if row["simulated at epsilon 0.5"] is not None]
    return shown + [
        {**row, "series": f"{row['mechanism']}, simulated", "error": row["simulated at epsilon 0.5"]} for row in seen
    ]


FIGURES = (
    Figure(
        "fig4",
        "Error on four data sets",
        "Fig. 4",
        _fig4,
        lines(
            replace(ERROR, wide=False, ring="ring"),
            "Error on the paper's four data sets",
            "Lines: closed forms; rings: simulated. uLH as printed is not private: only its counts are drawn; ours: "
            "null branch, values disclosed alone. After ULDP Fig. 4.",
            _with_points,
        ),
    ),
    Figure(
        "fig6",
        "Collaborative sampling",
        "Fig. 6",
        lambda context: context.once(collaboration),
        lines(
            replace(ERROR, series="series", wide=False, error="n_mse_stderr"),
            "What it costs not to know the share of harmless answers",
            "Simulated at the paper's numbers of people; theta learned from 5 % of them, under theta = 0 as in "
            "the paper; those who remain against their own shares. Bars: one standard error. After ULDP Fig. 6.",
        ),
    ),
    Figure("fig8", "Mean absolute error", "Fig. 8", trials, _draw_seen("mae", "Mean absolute error", "Fig. 8")),
    Figure(
        "fig9",
        "Most frequent items, NDCG",
        "Fig. 9",
        trials,
        _draw_seen("ndcg", "NDCG of the most frequent items", "Fig. 9"),
    ),
    Figure(
        "fig9b",
        "Most frequent items, F1",
        "Fig. 9",
        trials,
        _draw_seen("f1", "F1 of the most frequent items", "Fig. 9"),
    ),
    Figure(
        "table2",
        "Estimated share of harmless answers",
        "Table 2",
        _table2,
        lines(
            Axes("data", "error", "series", x_title="population", y_title="relative error of theta", log="y"),
            "Relative error of the estimated share of harmless answers",
            "From 5 % of the people at ε = 0.5, parameters for theta = 0. After ULDP Table 2.",
            _table2_shown,
        ),
    ),
)
