"""BRR's figures and claims about learning: boosted trees, gradient descent and networks."""

from __future__ import annotations

import numpy as np

from deniable.papers.brr.learning import LARGER, LEAVES, NETWORKS, boosting, local_sgd, networks, recipe_sgd
from deniable.papers.brr.places import judged
from deniable.papers.charts import Axes, lines
from deniable.papers.paper import Claims, Context, Figure, Rows, Verdict

__all__ = ["CLAIMS", "FIGURES"]

CLAIMS = Claims()
claim = CLAIMS.add

PRINTED = "DPBoost-BRR (paper: half the sensitivity)"
LAPLACE = "DPBoost (Laplace)"
SIGNED = "BRR, interval by sign (paper)"
Values = dict[tuple[str, float, str], float]


def _values(rows: Rows, key: str = "value") -> Values:
    """The last value of each data set, budget and method."""
    return {(str(r["data"]), float(r["epsilon"] or 0), str(r["method"])): float(r[key] or 0) for r in rows}


def _runs(rows: Rows) -> str:
    runs = rows[0]["runs"]
    return "one run" if runs == 1 else f"mean of {runs} runs"


# ---- pictures


def _against(rows: Rows, method: str) -> Rows:
    """The rows of the other methods, each with the value of this one on the same data as `plain`."""
    plain = {key[0]: value for key, value in _values(rows).items() if key[2] == method}
    return [{**row, "plain": plain[str(row["data"])]} for row in rows if row["method"] != method]


_draw_fig9 = lines(
    Axes("epsilon", "ratio", "method", "data", "ε in all", "RMSE / RMSE without privacy"),
    "Boosted trees: error with privacy over error without",
    lambda rows: (
        f"Root mean squared error on a fifth of the data, {_runs(rows)}; trusted curator, only the leaves' "
        "release differs. After BRR Fig. 9."
    ),
    lambda rows: [
        {**r, "ratio": float(r["value"] or 0) / float(r["plain"] or 0)} for r in _against(rows, "not private")
    ],
)
_draw_fig10 = lines(
    Axes("iteration", "value", "method", "panel", y_title="accuracy"),
    "Gradient descent by the printed recipe: the advantage is the sign, which is told for certain",
    lambda rows: (
        f"{rows[0]['data']}, softmax regression on 7 by 7 pixels, {_runs(rows)}. None of these is ε-private in "
        "all. On a symmetric interval BRR learns as little as with Laplace noise. After BRR Fig. 10."
    ),
    panel="ε = {epsilon:g} for each coordinate and iteration",
)
_draw_fig10b = lines(
    Axes("epsilon", "value", "method", x_title="ε of a person, in all", y_title="accuracy"),
    "Gradient descent on locally perturbed gradients, done safely",
    lambda rows: (
        f"{rows[0]['people']:,} people drawn from {rows[0]['data']}, each taking part once with ε in all; "
        f"interval [-C, C] with a public C; {_runs(rows)}. Chance is 0.1."
    ),
)


def _networks_note(rows: Rows) -> str:
    return (
        "All training features perturbed with ε in all, in equal shares but for the codebook; labels public, tests on "
        f"clean features; {_runs(rows)}. After BRR Fig. 11."
    )


_draw_fig11 = lines(
    Axes("epsilon", "gain", "method", "data", "ε in all", "gain in percentage points", "x"),
    "Networks on perturbed features: accuracy above that of always saying the larger class",
    _networks_note,
    lambda rows: [
        {**r, "gain": 100 * (float(r["value"] or 0) - float(r["plain"] or 0))} for r in _against(rows, LARGER)
    ],
)
_draw_fig11b = lines(
    Axes("epsilon", "area", "method", "data", "ε in all", "area under the curve", "x"),
    "Networks on perturbed features: telling the classes apart",
    _networks_note,
    lambda rows: [row for row in rows if row["method"] != LARGER],
)


# ---- claims


@claim(
    "fig9",
    "DPBoost-BRR consistently outperforms DPBoost",
    "Fig. 9, App. B.1",
    {"Bias, epsilon=5": 0.66, "abalone, epsilon=5": 0.45, "superconduct, epsilon=5": 0.67},
    "fig9",
)
def _boost_better(context: Context) -> Verdict:
    """Fig. 9: in all settings, and by how much at epsilon 5."""
    rows = context.rows("fig9")
    values, errors = _values(rows), _values(rows, "standard error")
    settings = [(data, e) for data, e, method in values if method == LAPLACE]
    worse = [
        at
        for at in settings
        if values[*at, PRINTED] - values[*at, LAPLACE] > 2 * np.hypot(errors[*at, PRINTED], errors[*at, LAPLACE])
    ]
    better = [
        at
        for at in settings
        if values[*at, LAPLACE] - values[*at, PRINTED] > 2 * np.hypot(errors[*at, PRINTED], errors[*at, LAPLACE])
    ]
    found: dict[str, float] = {"settings": len(settings), "better": len(better), "worse": len(worse)}
    for data, e in settings:
        if e in (1.0, 5.0):
            found[f"{data}, epsilon={e:g}, BRR/Laplace"] = values[data, e, PRINTED] / values[data, e, LAPLACE]
    note = (
        "better or worse by two standard errors; ahead at small budgets, where Laplace noise leaves the range, but not "
        "at larger ones: noise that is scaled to how far one person moves a leaf shrinks, BRR's range does not"
    )
    ahead = all(values[*at, PRINTED] < values[*at, LAPLACE] for at in settings)
    return judged(ahead, found, note, rows)


@claim("fig9-best", "BRR is the better release of leaves", "App. B.1", "outperforms", "fig9")
def _boost_best(context: Context) -> Verdict:
    """What is better than both: sums and counts with noise, and for BRR all of the range."""
    rows = context.rows("fig9")
    values = _values(rows)
    found: dict[str, float] = {}
    for method in LEAVES:
        if method != PRINTED:
            ratios = [value / values[d, e, PRINTED] for (d, e, m), value in values.items() if m == method]
            found[f"{method} / BRR as printed, mean ratio"] = float(np.exp(np.mean(np.log(ratios))))
    sums = found["noisy sums and counts / BRR as printed, mean ratio"]
    note = "with a trusted curator the noise may shrink with the size of a leaf, which no local mechanism can use"
    return judged(sums >= 1, found, note, rows)


@claim(
    "fig10",
    "BRR-SGD is significantly better than DP-SGD at small budgets",
    "Fig. 10, App. B.2",
    {"epsilon=0.3": 0.28, "epsilon=0.5": 0.21, "epsilon=0.7": 0.12},
    "fig10",
)
def _sgd_sign(context: Context) -> Verdict:
    """Fig. 10: the gain, and the gain without the sign."""
    rows = context.rows("fig10")
    values = _values(rows)
    found: dict[str, float] = {}
    for data, e, method in values:
        if method == SIGNED:
            found[f"epsilon={e:g}, BRR by sign - Laplace"] = values[data, e, SIGNED] - values[data, e, "Laplace"]
            found[f"epsilon={e:g}, BRR on [-C, C]"] = values[data, e, "BRR, [-C, C]"]
            found[f"epsilon={e:g}, not private"] = values[data, e, "not private"]
    fooled = all(v < 0.35 for k, v in found.items() if k.endswith("[-C, C]"))
    ahead = all(v > 0.1 for k, v in found.items() if k.endswith("Laplace"))
    note = (
        "the gain is there, and all of it comes from the interval being chosen by the sign: what is learned from is "
        "the sign of every gradient, unperturbed; the budget is also spent anew for every coordinate and iteration"
    )
    return judged(not (fooled and ahead), found, note, rows)


@claim(
    "fig10-safe",
    "The same without leaks: BRR is significantly better at small budgets",
    "App. B.2",
    "significantly better",
    "fig10b",
)
def _sgd_safe(context: Context) -> Verdict:
    """App. B.2: the gain at small budgets, in the safe version."""
    rows = context.rows("fig10b")
    values = _values(rows)
    found = {f"epsilon={e:g}, {method}": value for (_, e, method), value in values.items()}
    small = sorted({e for _, e, _ in values if e <= 1})
    for e in small:
        others = max(found[f"epsilon={e:g}, {way}"] for way in ("piecewise mechanism", "Duchi", "codebook"))
        found[f"epsilon={e:g}, BRR - best other"] = found[f"epsilon={e:g}, BRR"] - others
    ahead = all(found[f"epsilon={e:g}, BRR - best other"] > 0.1 for e in small)
    note = (
        "with a symmetric interval, a public bound and one budget for all that a person sends, nothing is learned up "
        "to epsilon 1, and above it BRR, codebook and piecewise mechanism are about alike"
    )
    return judged(ahead, found, note, rows)


@claim(
    "fig11",
    "DNN-BRR consistently outperforms DNN-DP",
    "Fig. 11, App. B.3",
    {"mean gain": 0.0322, "epsilon=0.25": 0.0529},
    "fig11",
)
def _dnn_better(context: Context) -> Verdict:
    """Fig. 11: accuracy against Laplace noise, and against always saying the larger class."""
    rows = context.rows("fig11")
    values, areas = _values(rows), _values(rows, "area")
    found: dict[str, float] = {}
    gains, over = [], []
    for data, e, method in values:
        if method != "BRR" or e > 3.5:
            continue
        gains.append(values[data, e, "BRR"] - values[data, e, "Laplace, clamped"])
        over.append(max(values[data, e, way] for way in NETWORKS) - values[data, e, LARGER])
        if e in (0.25, 3.5):
            found[f"{data}, epsilon={e:g}, BRR - Laplace"] = gains[-1]
            found[f"{data}, epsilon={e:g}, BRR - larger class"] = values[data, e, "BRR"] - values[data, e, LARGER]
            found[f"{data}, epsilon={e:g}, area, BRR"] = areas[data, e, "BRR"]
            found[f"{data}, epsilon={e:g}, area, Laplace"] = areas[data, e, "Laplace, clamped"]
    found |= {"mean gain over Laplace": float(np.mean(gains)), "largest gain over the larger class": max(over)}
    note = (
        "with epsilon divided over all features, up to 3.5 neither learns more than which class is larger; gains of "
        "several per cent need noise that is not tied to epsilon, as in the published code"
    )
    return judged(float(np.mean(gains)) > 0.02, found, note, rows)


FIGURES = (
    Figure("fig9", "Boosted trees with perturbed leaves", "Fig. 9", boosting, _draw_fig9),
    Figure("fig10", "Gradient descent by the printed recipe", "Fig. 10", recipe_sgd, _draw_fig10),
    Figure("fig10b", "Gradient descent on locally perturbed gradients", "Fig. 10", local_sgd, _draw_fig10b),
    Figure("fig11", "Networks on perturbed features, accuracy", "Fig. 11", networks, _draw_fig11),
    Figure("fig11b", "Networks on perturbed features, area under the curve", "Fig. 11", networks, _draw_fig11b),
)
