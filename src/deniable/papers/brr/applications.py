"""BRR's figures and claims about learning: boosted trees, gradient descent and networks."""

from __future__ import annotations

import math

import numpy as np

from deniable.papers.brr.learning import (
    BOOSTED,
    LARGER,
    LEAVES,
    PUBLISHED,
    SIGNED,
    SYMMETRIC,
    boosting,
    local_sgd,
    networks,
    plain_leaves,
    recipe_sgd,
)
from deniable.papers.charts import Axes, lines
from deniable.papers.evidence import Evidence, Sampled
from deniable.papers.paper import Context, Figure, Measures, Rows, fewest_runs, made_up_in
from deniable.papers.rules import EXACT

__all__ = ["FIGURES", "measures"]

measures = Measures()

PRINTED = "DPBoost-BRR (paper: half the sensitivity)"
LAPLACE, NO_PRIVACY = "DPBoost (Laplace)", "not private"
Values = dict[tuple[str, float, str], Sampled]


def _values(rows: Rows) -> Values:
    """The last value of each data set, budget and method; of a single run the error is not known, and taken as huge."""
    found: Values = {}
    for row in rows:
        at, error = (str(row["data"]), float(row["epsilon"] or 0), str(row["method"])), row[_SPREAD]
        found[at] = Sampled(float(row["value"] or 0), 1e9 if error is None else float(error))
    return found


def _told_runs(rows: Rows) -> str:
    fewest, most = (end(int(row["runs"] or 0) for row in rows if row["method"] != LARGER) for end in (min, max))
    return "one run" if most == 1 else f"mean of {fewest} to {most} runs" if fewest < most else f"mean of {most} runs"


# ---- pictures

_IN_ALL, _RIGHT, _SPREAD = "privacy budget ε in all", "share of digits told right", "standard error"


def _against(rows: Rows, method: str) -> Rows:
    """The rows of the other methods, each with the value of this one on the same data as `plain`."""
    plain = {data: found.value for (data, _, name), found in _values(rows).items() if name == method}
    return [{**row, "plain": plain[str(row["data"])]} for row in rows if row["method"] != method]


_draw_fig9 = lines(
    Axes(
        "epsilon",
        "ratio",
        "method",
        "data",
        x_title=_IN_ALL,
        y_title="root mean squared error / that without privacy",
        reference=1.0,
        error="ratio error",
    ),
    "Boosted trees: error with privacy over error without",
    lambda rows: (
        f"{PUBLISHED['trees']} trees of depth {PUBLISHED['depth']}. Root mean squared error on a fifth of the data, "
        f"{_told_runs(rows)}, bars: one standard error; trusted curator, only the leaves' release differs. "
        "After BRR Fig. 9."
    ),
    lambda rows: [
        {
            **r,
            "ratio": float(r["value"] or 0) / float(r["plain"] or 0),
            "ratio error": float(r[_SPREAD] or 0) / float(r["plain"] or 0),
        }
        for r in _against(rows, "not private")
    ],
)
_draw_fig10 = lines(
    Axes("iteration", "value", "method", "panel", x_title="steps of the descent", y_title=_RIGHT),
    "Gradient descent by the printed recipe",
    lambda rows: (
        f"{rows[0]['data']}, softmax regression on 7 by 7 pixels, each with its best step, {_told_runs(rows)}. None of "
        "these is ε-private in all: ε is spent anew each time, and the interval by sign tells the sign for certain. "
        "After BRR Fig. 10."
    ),
    panel="ε = {epsilon:g} for each coordinate and iteration",
)
_draw_fig10b = lines(
    Axes("epsilon", "value", "method", x_title="privacy budget ε of a person, in all", y_title=_RIGHT, error=_SPREAD),
    "Gradient descent on locally perturbed gradients, done safely",
    lambda rows: (
        f"{rows[0]['people']:,} people drawn from {rows[0]['data']}, each taking part once with ε in all; "
        f"interval [-C, C] with a public C; steps tuned on public digits; {_told_runs(rows)}, bars: one standard "
        "error. Chance is 0.1."
    ),
)


def _networks_note(rows: Rows, more: str = "") -> str:
    return (
        "All training features released with ε in all, but for the codebook on few; importances from 1,000 public "
        f"people; labels public, tests on clean features; {_told_runs(rows)}{more}. After BRR Fig. 11."
    )


_draw_fig11 = lines(
    Axes(
        "epsilon",
        "gain",
        "method",
        "data",
        x_title=_IN_ALL,
        y_title="gain of accuracy, percentage points",
        log="x",
        error="gain error",
    ),
    "Networks on perturbed features: accuracy above that of always saying the larger class",
    lambda rows: _networks_note(rows, "; bars: one standard error"),
    lambda rows: [
        {
            **r,
            "gain": 100 * (float(r["value"] or 0) - float(r["plain"] or 0)),
            "gain error": 100 * float(r[_SPREAD] or 0),
        }
        for r in _against(rows, LARGER)
    ],
)
_draw_fig11b = lines(
    Axes("epsilon", "area", "method", "data", x_title=_IN_ALL, y_title="area under the ROC curve", log="x"),
    "Networks on perturbed features: telling the classes apart",
    _networks_note,
    lambda rows: [row for row in rows if row["method"] != LARGER],
)


# ---- claims


def _runs(rows: Rows, *methods: str) -> dict[str, int]:
    """The fewest runs of these methods; without any, of all that were run."""
    return fewest_runs([row for row in rows if row["method"] in methods or (not methods and row["method"] != LARGER)])


def _apart(rows: Rows, one: str, two: str, label: str, *, logs: bool = False) -> dict[str, Sampled]:
    """Differences of two methods (or the logarithms of their ratios) by data and budget."""
    values = _values(rows)
    found = {}
    for (data, e, method), own in values.items():
        if method == one:
            other = values[data, e, two]
            found[f"{label}, {data.split(' (')[0]}, epsilon={e:g}"] = own.log_ratio(other) if logs else own - other
    return found


@measures("fig9")
def _boost_better(context: Context) -> Evidence:
    """In all settings, and on average at small and at large budgets."""
    rows = context.rows("fig9")
    found = _apart(rows, PRINTED, LAPLACE, "log ratio", logs=True)
    small = [one for at, one in found.items() if float(at.rpartition("=")[2]) <= 1]
    large = [one for at, one in found.items() if float(at.rpartition("=")[2]) >= 2]
    means = {"mean log ratio, epsilon up to 1": small, "mean log ratio, epsilon from 2 on": large}
    return found | {name: Sampled.mean(own) for name, own in means.items()} | _runs(rows, PRINTED, LAPLACE)


@measures("fig9-high")
def _boost_high(context: Context) -> Evidence:
    """The error of DPBoost over that without privacy."""
    rows = context.rows("fig9")
    return _apart(rows, LAPLACE, NO_PRIVACY, "log of DPBoost over no privacy", logs=True) | _runs(rows)


@measures("fig9-stable")
def _boost_stable(context: Context) -> Evidence:
    """How much the mean error changes from budget to budget, and how far apart the runs of one budget are."""
    rows = context.rows("fig9")
    values, found = _values(rows), dict[str, float | Sampled]()
    for data in dict.fromkeys(data for data, _, _ in values):
        change = {}
        for method in (PRINTED, LAPLACE):
            own = [one for (where, _, which), one in values.items() if (where, which) == (data, method)]
            most, least = (end(own, key=lambda one: one.value) for end in (max, min))
            change[method] = most.log_ratio(least)
        name = data.split(" (")[0]
        found[f"log of the change over the budgets, BRR over Laplace, {name}"] = change[PRINTED] - change[LAPLACE]
    found |= {f"log of the spread over runs, {name}": x for name, x in _spreads(rows, PRINTED, LAPLACE).items()}
    return found | _runs(rows, PRINTED, LAPLACE)


def _spreads(rows: Rows, one: str, two: str) -> dict[str, Sampled]:
    """Logarithms of ratios of the standard deviations over the runs of two methods, by what their rows share."""
    known = {
        (str(r["data"]), str(r["epsilon"]), str(r.get("iteration", "")), str(r["method"])): (
            float(r[_SPREAD] or 0),
            int(r["runs"] or 0),
        )
        for r in rows
    }
    found = {}
    for (data, epsilon, step, method), (own, runs) in known.items():
        other, often = known.get((data, epsilon, step, two), (0.0, 0))
        if method == one and min(runs, often) > 2 and own > 0 and other > 0:
            # of one run: the standard error times the root of their number; its logarithm is off by 1/sqrt(2(runs-1))
            ratio = math.log(own * math.sqrt(runs) / (other * math.sqrt(often)))
            error = math.sqrt(1 / (2 * (runs - 1)) + 1 / (2 * (often - 1)))
            found[f"{data.split(' (')[0]}, epsilon={epsilon}" + (f", {step}" if step else "")] = Sampled(ratio, error)
    return found


@measures("fig9-best")
def _boost_best(context: Context) -> Evidence:
    """What is better than both: sums and counts with noise, and for BRR all of the range."""
    rows = context.rows("fig9")
    found = {}
    for method in dict.fromkeys(str(row["method"]) for row in rows):
        if method in LEAVES and method != PRINTED:
            apart = _apart(rows, method, PRINTED, "log ratio", logs=True)
            found[f"{method} / BRR as printed, mean log ratio"] = Sampled.mean(apart.values())
    return found | _runs(rows)


@measures("half-range")
def _half_range(context: Context) -> Evidence:
    """How many leaves of trees that are grown without noise lie beyond c, and where DPBoost clips."""
    rate, l2 = PUBLISHED["learning_rate"], PUBLISHED["l2"]
    clips = [(1 - rate) ** number for number in range(PUBLISHED["trees"])]
    halves = [min(1 / (1 + l2), 2 * clip) / 2 for clip in clips]
    found: dict[str, float] = {"tree 1, c": halves[0], "tree 1, DPBoost clips at": clips[0]}
    for name in BOOSTED:
        label, trees = plain_leaves(context, name)
        context.shown.extend(made_up_in([{"data": label}]))
        beyond = [int(np.count_nonzero(np.abs(leaves) > c)) for leaves, c in zip(trees, halves, strict=True)]
        found |= {f"{name}: leaves beyond c": sum(beyond), f"{name}: of the {trees[0].size} of tree 1": beyond[0]}
    wider = sum(half > clip * (1 + EXACT) for half, clip in zip(halves, clips, strict=True))
    narrower = sum(half < clip * (1 - EXACT) for half, clip in zip(halves, clips, strict=True))
    return found | {"trees with a narrower range": narrower, "trees with a wider range than DPBoost's": wider}


@measures("fig10")
def _sgd_sign(context: Context) -> Evidence:
    """The gain with the paper's recipe."""
    rows = [row for row in _ends(context) if float(row["epsilon"] or 0) < 1]
    found: dict[str, float | Sampled] = {}
    found |= _apart(rows, SIGNED, "Laplace", "BRR by sign minus Laplace")
    for (_, e, method), one in _values(rows).items():
        found |= {f"not private, epsilon={e:g}": one.value} if method == "not private" else {}
    return found | _runs(rows)


def _ends(context: Context) -> Rows:
    """The rows of the last iteration."""
    rows = context.rows("fig10")
    last = max(int(row["iteration"] or 0) for row in rows)
    return [row for row in rows if row["iteration"] == last]


@measures("fig10-high")
def _sgd_large(context: Context) -> Evidence:
    """The gap at the smallest budget against that at the largest, and all differences there."""
    ends = _ends(context)
    budgets = [float(row["epsilon"] or 0) for row in ends]
    few, rows = ([row for row in ends if row["epsilon"] == end(budgets)] for end in (min, max))
    found = _apart(rows, SIGNED, "Laplace", "BRR by sign minus Laplace")
    (small,), (large,) = (_apart(part, SIGNED, "Laplace", "gap").values() for part in (few, rows))
    found["gap by sign at the smallest budget minus that at the largest"] = small - large
    found |= _apart(rows, "not private", "Laplace", "not private minus Laplace")
    found |= _apart(rows, "not private", SIGNED, "not private minus BRR by sign")
    found |= _apart(rows, SYMMETRIC, "Laplace", "without the sign: BRR minus Laplace")
    return found | _runs(rows)


@measures("fig10-sign")
def _sgd_without_sign(context: Context) -> Evidence:
    """The gain on one interval for both signs."""
    rows = [row for row in _ends(context) if float(row["epsilon"] or 0) < 1]
    found = _apart(rows, SYMMETRIC, "Laplace", "BRR on [-C, C] minus Laplace")
    return found | _runs(rows, SYMMETRIC, "Laplace")


@measures("fig10-stable")
def _sgd_stable(context: Context) -> Evidence:
    """How far apart the runs are, at every budget and iteration; those of one budget are read from the same runs."""
    rows = context.rows("fig10")
    each = _spreads(rows, SIGNED, "Laplace")
    budgets: dict[str, list[Sampled]] = {}
    for name, one in each.items():
        budgets.setdefault(name.rpartition(", ")[0], []).append(one)
    alike = {at: Sampled(float(np.mean([x.value for x in own])), own[0].error) for at, own in budgets.items()}
    told = "log of the spread over runs, BRR by sign over Laplace"
    found: dict[str, float | Sampled] = {f"{told}, {at}": one for at, one in alike.items()}
    return found | {f"{told}, mean": Sampled.mean(alike.values())} | _runs(rows)


@measures("fig10-safe")
def _sgd_safe(context: Context) -> Evidence:
    """The gain at small budgets, in the safe version."""
    rows = context.rows("fig10b")
    found: dict[str, float | Sampled] = {}
    found |= {f"epsilon={e:g}, {method}": one.value for (_, e, method), one in _values(rows).items()}
    small = [row for row in rows if float(row["epsilon"] or 0) <= 1]
    others = ("piecewise mechanism", "Duchi", "codebook")
    for way in others:
        apart = _apart(small, "BRR (Alg. 4)", way, "apart")
        found[f"BRR minus {way}, epsilon up to 1, mean"] = Sampled.mean(apart.values())
    return found | fewest_runs([row for row in small if row["method"] in ("BRR (Alg. 4)", *others)])


FIGURES = (
    Figure("fig9", "Boosted trees with perturbed leaves", "Fig. 9", boosting, _draw_fig9),
    Figure("fig10", "Gradient descent by the printed recipe", "Fig. 10", recipe_sgd, _draw_fig10),
    Figure("fig10b", "Gradient descent on locally perturbed gradients", "Fig. 10", local_sgd, _draw_fig10b),
    Figure("fig11", "Networks on perturbed features, accuracy", "Fig. 11", networks, _draw_fig11),
    Figure("fig11b", "Networks on perturbed features, area under the curve", "Fig. 11", networks, _draw_fig11b),
)
