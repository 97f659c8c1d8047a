"""AdaptiveLDP Figures 8 and 15: collections that are simulated report by report, and every report attacked."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

from deniable.datasets import load, synthetic
from deniable.papers.adaptive.designs import ORIGIN, TWELVE, make, point, printed_asr
from deniable.papers.adaptive.equations import LOW, K
from deniable.papers.checks import Agreement
from deniable.papers.montecarlo import Trials, collect_often
from deniable.papers.paper import Context, Rows
from deniable.present.charts import line_chart

if TYPE_CHECKING:
    import altair

__all__ = [
    "ASR_SEEN",
    "EQ3_SEEN",
    "EQ4_SEEN",
    "FIG15_ASR",
    "FIG15_MSE",
    "draw_fig8",
    "draw_fig15",
    "fig8",
    "fig15",
    "two_by_two",
]


def two_by_two(rows: Rows, **how: Any) -> Any:
    """A line chart of four panels, two in a row."""
    chart: Any = line_chart(rows, **how)
    chart.columns = 2
    return chart


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


EQ3_SEEN = Agreement("mse", _age_trials)
EQ4_SEEN = Agreement("mse", _age_trials, _eq4)
ASR_SEEN = Agreement("asr", _age_trials, lambda t: printed_asr(t.mechanism))
FIG15_MSE = Agreement("mse", _crowds, _eq4, "crowds")
FIG15_ASR = Agreement("asr", _crowds, lambda t: printed_asr(t.mechanism), "crowds")


def fig8(context: Context) -> Rows:
    """Closed forms for all budgets, and what was seen at some; errors times n."""
    rows: list[dict[str, str | int | float | None]] = []
    for name, epsilon in product(TWELVE, LOW):
        p = point(name, K, epsilon)
        for source, mse, asr in (("printed", p.mse_printed, p.asr_printed), ("exact", p.mse, p.asr)):
            rows.append({"protocol": name, "epsilon": epsilon, "source": source, "n_mse": mse, "asr": asr})
    for t in context.once("trials", _age_trials):
        seen = {"n_mse": t.population.n * t.seen("mse"), "asr": t.seen("asr")}
        rows.append({"protocol": t.mechanism.name, "epsilon": t.mechanism.epsilon, "source": "simulated", **seen})
    return rows


def draw_fig8(rows: Rows) -> altair.TopLevelMixin:
    """Two lines and the simulated points on one of them; whole budgets of the lines only."""
    shown = [
        {**row, "panel": str(row["protocol"]).upper()}
        for row in rows
        if row["source"] == "simulated" or float(row["epsilon"] or 0).is_integer()
    ]
    return line_chart(
        shown,
        x="n_mse",
        y="asr",
        series="source",
        facet="panel",
        log_x=True,
        log_y=True,
        title="Ages of the Adult data: simulated error and best guess",
        subtitle="ε from 2 (right) to 10 (left), k = 100, n = 48,842. Printed: MSE by Eq. 4, ASR of hashing by Eq. 15; "
        "exact: the closed forms of this library; between simulated points lines are a guide only. After "
        "AdaptiveLDP Fig. 8.",
        x_title="n MSE",
        y_title="ASR",
    )


def fig15(context: Context) -> Rows:
    """What was seen with each number of people, beside the exact values; errors times n."""
    rows: list[dict[str, str | int | float | None]] = []
    for t in context.once("crowds", _crowds):
        m, n = t.mechanism, t.population.n
        seen = {"n_mse": n * t.seen("mse"), "asr": t.seen("asr")}
        exact = {"n_mse_exact": n * t.expected("mse"), "asr_exact": t.expected("asr")}
        rows.append({"protocol": m.name, "epsilon": m.epsilon, "n": n, "runs": t.errors.size, **seen, **exact})
    return rows


def draw_fig15(rows: Rows) -> altair.TopLevelMixin:
    """A panel per pair of protocols."""
    pairs = {one: f"{known.upper()} and {new.upper()}" for new, known in ORIGIN.items() for one in (new, known)}
    kind = {one: "adaptive" if one in ORIGIN else "known" for one in pairs}
    shown = []
    for row in sorted(rows, key=lambda row: (str(row["protocol"]) in ORIGIN, row["n"])):
        who = str(row["protocol"])
        shown.append({**row, "panel": pairs[who], "series": f"{kind[who]}, n = {row['n']:,}"})
    chart: altair.TopLevelMixin = two_by_two(
        shown,
        x="n_mse",
        y="asr",
        series="series",
        facet="panel",
        log_x=True,
        log_y=True,
        title="More people divide the error and leave the curve as it is",
        subtitle="Simulated; ε from 2 (right) to 8 or more (left), k = 100, one Dirichlet population. Parameters are "
        "those chosen for n = 1: chosen for the n at hand they are others. After AdaptiveLDP Fig. 15.",
        x_title="n MSE",
        y_title="ASR",
    )
    return chart
