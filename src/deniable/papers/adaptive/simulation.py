"""AdaptiveLDP Figures 8 and 15: collections that are simulated report by report, and every report attacked."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

from deniable.datasets import load, synthetic
from deniable.papers.adaptive.designs import ORIGIN, TWELVE, make, point, printed_asr
from deniable.papers.adaptive.equations import LOW, K
from deniable.papers.charts import Axes, lines
from deniable.papers.checks import Agreement
from deniable.papers.montecarlo import Trials, collect_often
from deniable.papers.paper import Context, Figure, Measures, Rows, made_up

__all__ = ["FIG8", "FIG15", "measures"]

_AXES = Axes(
    "n_mse",
    "asr",
    "source",
    "panel",
    x_title="mean squared error × people (n MSE)",
    y_title="chance of a right guess (ASR)",
    log="xy",
)


def _runs(name: str, quick: bool) -> int:
    """100 as in the paper; in a quick run few, above all of SHE, whose reports are 100 noisy numbers each."""
    return 100 if not quick else 1 if name == "she" else 6


def _age_trials(context: Context) -> list[Trials]:
    """Ages of the Adult data, collected 100 times with each of the twelve protocols."""
    people, trials = load("adult-age"), []
    for epsilon, name in product((2.0, 4.0, 8.0) if context.quick else (2.0, 4.0, 6.0, 8.0, 10.0), TWELVE):
        stream, m = context.stream(f"{name} {epsilon:g}"), make(name, people.k, epsilon)
        trials.append(collect_often(m, people, _runs(name, context.quick), stream, context.progress))
    return trials


def _crowds(context: Context) -> list[Trials]:
    """Populations of a Dirichlet law and of several sizes."""
    many = (5_000, 50_000) if context.quick else (5_000, 50_000, 500_000)
    budgets, runs = ((2.0, 4.0, 8.0), 4) if context.quick else ((2.0, 4.0, 6.0, 8.0, 10.0), 20)
    trials = []
    for n in many:
        people = synthetic("dirichlet", k=K, n=n, rng=context.stream("Dirichlet"))
        for epsilon, (new, known) in product(budgets, ORIGIN.items()):
            for name in (known, new):
                stream = context.stream(f"{name} {epsilon:g} {n}")
                trials.append(collect_often(make(name, K, epsilon), people, runs, stream, context.progress))
    return trials


def _eq4(t: Trials) -> float:
    return float(t.mechanism.properties(t.population.n)["mse_approx"])


def _asr(t: Trials) -> float:
    return printed_asr(t.mechanism)


measures = Measures(
    {
        "eq3": Agreement("mse", _age_trials),
        "fig8-mse": Agreement("mse", _age_trials, _eq4),
        "fig8-asr": Agreement("asr", _age_trials, _asr),
        "fig15-mse": Agreement("mse", _crowds, _eq4),
        "fig15-asr": Agreement("asr", _crowds, _asr),
    }
)


def _ages(context: Context) -> Rows:
    """Closed forms for all budgets, and what was seen at some; errors times n."""
    rows: list[dict[str, str | int | float | None]] = []
    for name, epsilon in product(TWELVE, LOW):
        p = point(name, K, epsilon)
        for source, mse, asr in (("printed", p.mse_printed, p.asr_printed), ("exact", p.mse, p.asr)):
            rows.append({"protocol": name, "epsilon": epsilon, "source": source, "n_mse": mse, "asr": asr})
    for t in context.once(_age_trials):
        seen = {"n_mse": t.population.n * t.seen("mse"), "asr": t.seen("asr")}
        rows.append({"protocol": t.mechanism.name, "epsilon": t.mechanism.epsilon, "source": "simulated", **seen})
    return rows


def _ages_shown(rows: Rows) -> Rows:
    """Two lines and the simulated points on one of them; whole budgets of the lines only."""
    return [
        {**row, "panel": str(row["protocol"]).upper()}
        for row in rows
        if row["source"] == "simulated" or float(row["epsilon"] or 0).is_integer()
    ]


_draw_ages = lines(
    _AXES,
    "Ages of the Adult data: simulated error and best guess",
    "ε from 2 (right) to 10 (left), k = 100, n = 48,842. Printed: MSE by Eq. 4, ASR of hashing by Eq. 15; exact: the "
    "closed forms of this library; between simulated points lines are a guide only. After AdaptiveLDP Fig. 8.",
    _ages_shown,
)


def _by_crowd(context: Context) -> Rows:
    """What was seen with each number of people, beside the exact values; errors times n."""
    rows: list[dict[str, str | int | float | None]] = []
    for t in context.once(_crowds):
        m, n = t.mechanism, t.population.n
        seen = {"n_mse": n * t.seen("mse"), "asr": t.seen("asr")}
        exact = {"n_mse_exact": n * t.expected("mse"), "asr_exact": t.expected("asr")}
        who = {"data": made_up("Dirichlet population"), "protocol": m.name}
        rows.append({**who, "epsilon": m.epsilon, "n": n, "runs": t.errors.size, **seen, **exact})
    return rows


def _crowds_shown(rows: Rows) -> Rows:
    """A panel per pair of protocols."""
    pairs = {one: f"{known.upper()} and {new.upper()}" for new, known in ORIGIN.items() for one in (new, known)}
    shown = []
    for row in sorted(rows, key=lambda row: (str(row["protocol"]) in ORIGIN, row["n"])):
        who = str(row["protocol"])
        kind = "adaptive" if who in ORIGIN else "known"
        shown.append({**row, "panel": pairs[who], "series": f"{kind}, n = {row['n']:,}"})
    return shown


_draw_crowds = lines(
    replace(_AXES, series="series", wide=False),
    "Simulated error and best guess by number of people",
    "Simulated; ε from 2 (right) to 8 or more (left), k = 100, one Dirichlet population. Parameters are those chosen "
    "for n = 1: chosen for the n at hand they are others. After AdaptiveLDP Fig. 15.",
    _crowds_shown,
)

FIG8 = Figure("fig8", "Simulated ASR and MSE, ages of the Adult data", "Fig. 8", _ages, _draw_ages)
FIG15 = Figure("fig15", "Simulated ASR and MSE by number of people", "Fig. 15", _by_crowd, _draw_crowds)
