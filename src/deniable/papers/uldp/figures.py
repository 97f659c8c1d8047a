"""ULDP: sensitive and harmless answers. Figures 1 and 3 to 9, Tables 1 and 2, by closed forms and by simulation.

Errors are n MSE, summed over all items. "paper" is a mechanism with the printed parameters and estimator (uLH's are not
private: closed forms only), "ours" the null branch with disclosed values alone. Drug ratings are real where the data
folder has them; the other three data sets are made up with the paper's n, s, d and theta.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from deniable.core.laws import epsilon_to
from deniable.datasets.population import Population
from deniable.datasets.synthetic import apportion
from deniable.mechanisms.registry import mechanism
from deniable.mechanisms.support import SupportMechanism
from deniable.mechanisms.utility.base import Utility
from deniable.mechanisms.utility.bound import least_mse_sum
from deniable.mechanisms.utility.laws import mapped_law, mapped_share_of
from deniable.papers.charts import Axes, lines
from deniable.papers.paper import Context, Figure, Rows, made_up
from deniable.papers.uldp.metrics import f1_top, ndcg_top

__all__ = [
    "BUDGETS",
    "DATA",
    "FIGURES",
    "KNOWN",
    "OURS",
    "PRINTED",
    "PRIVATE",
    "bits",
    "made",
    "people",
    "theta_error",
    "trials",
]

DATA = {
    "Foursquare": (419_959, 25, 625, 0.95),
    "Census": (2_458_285, 424, 1200, 0.56),
    "Drug": (215_063, 3, 10, 0.78),
    "Normal": (99_732, 230, 1000, 0.77),
}
"""n, number of sensitive items, number of items, share of harmless answers."""

_ERROR = Axes("epsilon", "n_mse", "mechanism", "setting", y_title="n MSE", log="y")

BUDGETS = tuple(i / 2 for i in range(1, 11))
KNOWN = {"uRR": ("urr", "null"), "uRAP": ("urap", "glutf"), "uHR": ("uhr", "null")}
PRINTED = {"uSS": ("uss", "glutf"), "uUE": ("uue", "glutf"), "uLH": ("ulh", "paper")}
OURS = {"uSS ours": ("uss", "null"), "uLH ours": ("ulh", "null"), "uPGR ours": ("upgr", "null")}
PRIVATE = {"uLH valid": ("ulh", "glutf")}

_RATINGS = "drugscom_train_rating_counts_161297.csv"


def made(which: tuple[str, str], data: str | tuple[int, float, int], epsilon: float, **own: Any) -> Utility:
    """A mechanism by (registry name, form) at the setting of a data set, or at (s, theta, d)."""
    if isinstance(data, str):
        _, s, d, theta = DATA[data]
    else:
        s, theta, d = data
    m = mechanism(which[0], epsilon=epsilon, k=d, sensitive=s, theta=theta, form=which[1], **own)
    assert isinstance(m, Utility)
    return m


def bits(m: Utility, *, seed: float = 0.0) -> float:
    """log2 of the number of different reports; `seed` bits for naming a public hash function."""
    harmless = m.k - m.s
    own = m.base.bulk.outputs if m.base is not None else 0.0
    if m.base is not None and "seed" in {f.name for f in m.base.fields}:
        own += seed - 64
    pairs = harmless if m.form != "null" else 0
    return own + math.log2(1 + pairs + (harmless * 2.0**-own if own < 1000 else 0.0))


def people(name: str, context: Context, n: int | None = None) -> Population:
    """A data set's people, sensitive items first: real counts or, scaled to n, Zipf's law among either kind of item."""
    total, s, d, theta = DATA[name]
    total = total if n is None else n
    path = context.data_dir / _RATINGS if context.data_dir is not None else None
    if name == "Drug" and path is not None and path.is_file():
        rows = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
        counts = apportion([int(row["count"]) for row in rows], total)
        return Population("Drug (ratings of drugs.com)", tuple(row["rating"] for row in rows), counts)
    own = round(total * (1 - theta))
    weights = [[10**9 // (i + 1) for i in range(size)] for size in (s, d - s)]
    counts = np.concatenate([apportion(weights[0], own), apportion(weights[1], total - own)])
    return Population(made_up(name), tuple(map(str, range(d))), counts)


# ---- simulation


def trials(context: Context) -> list[dict[str, Any]]:
    """Collections of all data sets with all private mechanisms: n MSE, MAE, F1 and NDCG, averaged over the runs."""
    n, runs = (4_000, 4) if context.quick else (40_000, 10)
    budgets = (1.0, 3.0) if context.quick else (0.5, 1.0, 2.0, 3.0, 4.0, 5.0)
    chosen = KNOWN | {k: v for k, v in PRINTED.items() if k != "uLH"} | PRIVATE | OURS
    out = []
    for data, epsilon in product(DATA, budgets):
        population = people(data, context, n)
        items, f = population.values(), population.frequencies
        s = DATA[data][1]
        theta = float(f[s:].sum())
        context.progress(f"uldp: collecting {population.name} at epsilon {epsilon:g}, {runs} times {n} people")
        for label, which in chosen.items():
            m = made(which, (s, theta, population.k), epsilon)
            stream = context.stream(f"{data} {epsilon:g} {label}")
            values = [m.estimate(m.tally(m.privatize_items(items, rng))).value for rng in stream.spawn(runs)]
            out.append(_measured(data, population.name, label, m, n, f, values))
    return out


def _measured(data: str, source: str, label: str, m: Utility, n: int, f: Any, values: list[Any]) -> dict[str, Any]:
    errors = np.array([((value - f) ** 2).sum() for value in values])
    top = min(30, m.k // 2)
    return {
        "data": data,
        "source": source,
        "mechanism": label,
        "epsilon": m.epsilon,
        "n": n,
        "runs": len(values),
        "n_mse": float(n * errors.mean()),
        "exact": float(m.effective()["mse_sum"]),
        "pvalue": _pvalue(m, f, n, errors),
        "mae": float(np.mean([np.abs(value - f).mean() for value in values])),
        "top": top,
        "f1": float(np.mean([f1_top(value, f, top) for value in values])),
        "ndcg": float(np.mean([ndcg_top(value, f, top) for value in values])),
    }


def _pvalue(m: Utility, f: Any, n: int, errors: Any) -> float:
    """Two-sided p-value of the exact MSE: squared errors are a mixture of chi-square laws, matched in two moments."""
    from scipy.stats import chi2

    covariance = m.covariance(f, n)
    total = float(np.trace(covariance))
    freedom = errors.size * total**2 / float((covariance**2).sum())
    law, x = chi2(freedom), freedom * float(errors.mean()) / total
    return float(min(1.0, 2 * min(law.cdf(x), law.sf(x))))


# ---- figures and tables


def _theory(settings: Iterable[tuple[str, tuple[int, float, int]]], budgets: Iterable[float]) -> Rows:
    chosen = KNOWN | PRINTED | OURS
    return [
        {
            "setting": name,
            "mechanism": label,
            "epsilon": epsilon,
            "n_mse": made(which, at, epsilon).mse_sum(),
            "optimum": least_mse_sum(at[0], at[2] - at[0], at[1], *epsilon_to(epsilon)),
        }
        for (name, at), epsilon in product(settings, budgets)
        for label, which in chosen.items()
    ]


def _fig1(_: Context) -> Rows:
    """Error and bits against the number of sensitive items, epsilon 1, theta 0.5, twice as many items."""
    chosen = KNOWN | {"uLH": PRINTED["uLH"]} | OURS
    sizes = (4, 8, 16, 32, 64, 128, 256, 512, 1024)
    return [
        {
            "mechanism": label,
            "s": s,
            "n_mse": (m := made(which, (s, 0.5, 2 * s), 1.0)).mse_sum(),
            "bits": bits(m),
            "bits_with_hash": bits(m, seed=math.log2(100_000)),
        }
        for s in sizes
        for label, which in chosen.items()
    ]


def _long(rows: Rows) -> Rows:
    kinds = {"n_mse": "n MSE", "bits": "bits"}
    return [{**row, "what": what, "value": row[key]} for key, what in kinds.items() for row in rows]


_draw_fig1 = lines(
    Axes("s", "value", "mechanism", "what", x_title="sensitive items", y_title="", log="xy"),
    "Error and size of a report against the number of sensitive items",
    "ε = 1, half of the answers harmless, d = 2s; uLH as printed is not private. After ULDP Fig. 1.",
    _long,
)


def _fig3(_: Context) -> Rows:
    settings = [(f"s = {s}, theta = {t:g}", (s, t, 2 * s)) for s, t in product((5, 50, 500), (0.2, 0.8))]
    return _theory(settings, BUDGETS)


def _draw_theory(title: str, where: str, more: str = "") -> Any:
    note = f"{more}uLH as printed is not private; ours: null branch, values disclosed alone. After ULDP {where}."
    return lines(_ERROR, title, note)


def _fig4(context: Context) -> Rows:
    seen = {(t["data"], t["mechanism"], t["epsilon"]): t for t in context.once(trials)}
    rows = _theory([(name, (s, theta, d)) for name, (_, s, d, theta) in DATA.items()], BUDGETS)
    empty: dict[str, Any] = {"n_mse": None, "source": "closed form"}
    out = []
    for row in rows:
        found = seen.get((row["setting"], row["mechanism"], row["epsilon"]), empty)
        out.append({**row, "simulated": found["n_mse"], "source": found["source"]})
    return out


def _fig5(_: Context) -> Rows:
    """Epsilon 2; the share of sensitive items and of people with one grow together."""
    shares = (0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0)
    rows: list[dict[str, str | float]] = []
    for data, share in product(DATA, shares):
        d = DATA[data][2]
        at = (max(1, round(share * d)), 0.0 if share == 1 else 1 - share, d)
        for label, which in (KNOWN | PRINTED | OURS).items():
            rows.append({"setting": data, "mechanism": label, "share": share, "n_mse": made(which, at, 2.0).mse_sum()})
    return rows


_draw_fig5 = lines(
    replace(_ERROR, x="share", x_title="share of items that are sensitive"),
    "The more items are sensitive, the larger the error",
    "ε = 2, closed forms; at share 1 all are plain LDP mechanisms. After ULDP Fig. 5.",
)


def _fig6(context: Context) -> Rows:
    """theta known; learned from 5 % who are then thrown away (the paper); learned from 5 % who are kept."""
    rows: list[dict[str, str | float]] = []
    for data, epsilon in product(DATA, BUDGETS):
        _, s, d, theta = DATA[data]
        for label, which in {"uSS": PRINTED["uSS"], "uUE": PRINTED["uUE"], "uSS ours": OURS["uSS ours"]}.items():
            known = made(which, data, epsilon).mse_sum()
            blind = made(which, (s, 0.0, d), epsilon).mse_sum(theta=theta)
            ways = {"theta known": known, "5 % thrown away": known / 0.95, "pooled": 0.05 * blind + 0.95 * known}
            ways["theta = 0 throughout"] = blind
            for way, n_mse in ways.items():
                rows.append({"setting": data, "series": f"{label}, {way}", "epsilon": epsilon, "n_mse": n_mse})
    return rows


_draw_fig6 = lines(
    replace(_ERROR, series="series"),
    "What it costs not to know the share of harmless answers",
    "Closed forms; theta learned from 5 % of the people under theta = 0. After ULDP Fig. 6.",
)


def _without_pairs(m: Utility) -> float:
    """n MSE of a GLUTF mechanism if values are never put beside reports (z = 0)."""
    assert isinstance(m.base, SupportMechanism)
    law = m.base.support
    return float(mapped_law(law, m.s, 1 - mapped_share_of(law, m.s)).mse_sum(m.s, m.theta))


def _fig7(_: Context) -> Rows:
    rows: list[dict[str, str | float]] = []
    for data, epsilon in product(DATA, BUDGETS):
        for label, which in (PRINTED | PRIVATE).items():
            m = made(which, data, epsilon)
            gain = 1 - m.mse_sum() / _without_pairs(m)
            rows.append({"setting": data, "mechanism": label, "epsilon": epsilon, "reduction": gain})
    return rows


_draw_fig7 = lines(
    Axes("epsilon", "reduction", "mechanism", "setting", y_title="reduction of the MSE"),
    "How much the largest z saves",
    "1 - MSE(largest z)/MSE(z = 0), closed forms; uLH as printed is not private. After ULDP Fig. 7.",
)


def _draw_seen(key: str, title: str, where: str) -> Any:
    axes = Axes("epsilon", key, "mechanism", "data", log="y" if key == "mae" else "")
    return lines(axes, title, f"Simulated; populations as the table says. After ULDP {where}.")


def _table1(_: Context) -> Rows:
    """Bits at epsilon 1; and n MSE relative to the order of the optimum, at s and at 100 s, theta 0.5."""
    rows = []
    for label, which in (KNOWN | PRINTED | OURS).items():
        row: dict[str, Any] = {"mechanism": label, "private": which[1] != "paper" or label != "uLH"}
        for data in DATA:
            m = made(which, data, 1.0)
            row |= {f"bits {data}": bits(m), f"bits with hash {data}": bits(m, seed=math.log2(100_000))}
        for epsilon, regime in ((0.5, "high privacy"), (3.0, "medium privacy")):
            w, v = epsilon_to(epsilon)
            few, many = (made(which, (s, 0.5, 2 * s), epsilon).mse_sum() * v * v / (s * w) for s in (100, 10_000))
            row |= {f"{regime}, s = 100": few, f"{regime}, s = 10000": many}
        rows.append(row)
    return rows


_REGIMES = ("high privacy, s = 100", "high privacy, s = 10000", "medium privacy, s = 100", "medium privacy, s = 10000")
_draw_table1 = lines(
    Axes("mechanism", "ratio", "regime", log="y"),
    "Error over the order of the optimum: constant in s if a mechanism is order-optimal",
    "n MSE (e-1)^2/(s e), theta = 0.5, d = 2s. After ULDP Table 1.",
    lambda rows: [{**row, "regime": key, "ratio": row[key]} for row in rows for key in _REGIMES],
)


def theta_error(m: Utility, people: int, theta: float, sampled: float = 0.05) -> float:
    """Mean relative error of theta estimated from a sample without replacement."""
    count = people * sampled
    variance = theta * (1 - m.law.z) / (count * m.law.z) + theta * (1 - theta) * (1 - sampled) / count
    return math.sqrt(2 * variance / math.pi) / theta


def _table2(_: Context) -> Rows:
    rows: list[dict[str, str | float]] = []
    for label, which in (PRINTED | PRIVATE | OURS).items():
        for data, (n, s, d, theta) in DATA.items():
            found = [theta_error(made(which, (s, 0.0, d), e), n, theta) for e in BUDGETS]
            rows.append(
                {
                    "mechanism": label,
                    "data": data,
                    "at epsilon 0.5": found[0],
                    "mean over epsilon": float(np.mean(found)),
                }
            )
    return rows


_draw_table2 = lines(
    Axes("data", "at epsilon 0.5", "mechanism", y_title="", log="y"),
    "Relative error of the estimated share of harmless answers",
    "From 5 % of the people at ε = 0.5, parameters for theta = 0. After ULDP Table 2.",
)

FIGURES = (
    Figure("fig1", "Error and bits against the number of sensitive items", "Fig. 1", _fig1, _draw_fig1),
    Figure(
        "fig3", "Closed-form error in six scenarios", "Fig. 3", _fig3, _draw_theory("Error by closed forms", "Fig. 3")
    ),
    Figure(
        "fig4",
        "Error on four data sets",
        "Fig. 4",
        _fig4,
        _draw_theory(
            "Error on the paper's four data sets",
            "Fig. 4",
            "Lines: closed forms; the table has simulated values, too. ",
        ),
    ),
    Figure("fig5", "Error against the share of sensitive items", "Fig. 5", _fig5, _draw_fig5),
    Figure("fig6", "Collaborative sampling", "Fig. 6", _fig6, _draw_fig6),
    Figure("fig7", "What the largest z saves", "Fig. 7", _fig7, _draw_fig7),
    Figure("fig8", "Mean absolute error", "Fig. 8", trials, _draw_seen("mae", "Mean absolute error", "Fig. 8")),
    Figure(
        "fig9", "Most frequent items", "Fig. 9", trials, _draw_seen("ndcg", "NDCG of the most frequent items", "Fig. 9")
    ),
    Figure("table1", "Bits and order of the error", "Table 1", _table1, _draw_table1),
    Figure("table2", "Estimated share of harmless answers", "Table 2", _table2, _draw_table2),
)
