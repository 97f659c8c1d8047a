"""BRR's figures and claims about learning: boosted trees, gradient descent and networks."""

from __future__ import annotations

import numpy as np

from deniable.papers.brr.learning import (
    BOOSTED,
    LARGER,
    LEAVES,
    NETWORKS,
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

__all__ = ["FIGURES", "MEASURES"]

MEASURES = Measures()
measures = MEASURES.add

PRINTED = "DPBoost-BRR (paper: half the sensitivity)"
LAPLACE = "DPBoost (Laplace)"
DNN_BRR, DNN_DP = "DNN-BRR (Alg. 4, by importance)", "DNN-DP (Laplace, by importance)"
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


def _runs(rows: Rows) -> dict[str, int]:
    return fewest_runs([row for row in rows if row["method"] != LARGER])


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
    """In all settings."""
    rows = context.rows("fig9")
    return _apart(rows, PRINTED, LAPLACE, "log ratio", logs=True) | _runs(rows)


@measures("fig9-size")
def _boost_size(context: Context) -> Evidence:
    """The ratios at epsilon 5."""
    rows = [row for row in context.rows("fig9") if row["epsilon"] == 5.0]
    return _apart(rows, PRINTED, LAPLACE, "log ratio", logs=True) | _runs(rows)


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
    """The gain, and the gain without the sign."""
    rows = [row for row in _ends(context) if float(row["epsilon"] or 0) < 1]
    found: dict[str, float | Sampled] = {}
    found |= _apart(rows, SIGNED, "Laplace", "BRR by sign minus Laplace")
    found |= _apart(rows, SYMMETRIC, "Laplace", "BRR on [-C, C] minus Laplace")
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
    """All differences at the largest budget."""
    rows = _ends(context)
    most = max(float(row["epsilon"] or 0) for row in rows)
    rows = [row for row in rows if row["epsilon"] == most]
    found = _apart(rows, SYMMETRIC, "Laplace", "BRR on [-C, C] minus Laplace")
    found |= _apart(rows, "not private", "Laplace", "not private minus Laplace")
    found |= _apart(rows, "not private", SYMMETRIC, "not private minus BRR on [-C, C]")
    return found | _runs(rows)


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


@measures("fig11")
def _dnn_better(context: Context) -> Evidence:
    """Accuracy against Laplace noise, and against always saying the larger class."""
    rows = [row for row in context.rows("fig11") if float(row["epsilon"] or 0) <= 3.5]
    values = {at: one.value for at, one in _values(rows).items()}
    gains = _apart(rows, DNN_BRR, DNN_DP, "gain over Laplace")
    census = [gain for name, gain in gains.items() if "US Census" in name]
    over = [max(values[d, e, way] for way in NETWORKS) - values[d, e, LARGER] for d, e, m in values if m == DNN_BRR]
    means: dict[str, float | Sampled] = {"US Census, mean gain over Laplace": Sampled.mean(census)}
    return gains | means | {"largest gain over the larger class": max(over)} | _runs(rows)


FIGURES = (
    Figure("fig9", "Boosted trees with perturbed leaves", "Fig. 9", boosting, _draw_fig9),
    Figure("fig10", "Gradient descent by the printed recipe", "Fig. 10", recipe_sgd, _draw_fig10),
    Figure("fig10b", "Gradient descent on locally perturbed gradients", "Fig. 10", local_sgd, _draw_fig10b),
    Figure("fig11", "Networks on perturbed features, accuracy", "Fig. 11", networks, _draw_fig11),
    Figure("fig11b", "Networks on perturbed features, area under the curve", "Fig. 11", networks, _draw_fig11b),
)
