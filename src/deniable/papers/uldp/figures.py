"""ULDP: sensitive and harmless answers. Figures 1, 3, 5 and 7 and Table 1, by closed forms; the rest is simulated.

Errors are n MSE, summed over all items. "paper" is a mechanism with the printed parameters and estimator (uLH's are not
private: closed forms only), "ours" the null branch with disclosed values alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from itertools import product
from typing import Any

from deniable.core.laws import epsilon_to
from deniable.mechanisms.registry import mechanism
from deniable.mechanisms.support import SupportMechanism
from deniable.mechanisms.utility.base import Utility
from deniable.mechanisms.utility.bound import least_mse_sum
from deniable.mechanisms.utility.laws import mapped_law, mapped_share_of
from deniable.papers.charts import Axes, lines
from deniable.papers.paper import Context, Figure, Rows

__all__ = [
    "BUDGETS",
    "DATA",
    "ERROR",
    "FIGURES",
    "KNOWN",
    "OURS",
    "PRINTED",
    "PRIVATE",
    "bits",
    "made",
    "theory",
    "theta_error",
]

DATA = {
    "Foursquare": (419_959, 25, 625, 0.95),
    "Census": (2_458_285, 424, 1200, 0.56),
    "Drug": (215_063, 3, 10, 0.78),
    "Normal": (99_732, 230, 1000, 0.77),
}
"""n, number of sensitive items, number of items, share of harmless answers."""

ERROR = Axes("epsilon", "n_mse", "mechanism", "setting", y_title="squared errors × people (n MSE)", log="y")

BUDGETS = tuple(i / 2 for i in range(1, 11))
KNOWN = {"uRR": ("urr", "null"), "uRAP": ("urap", "paper"), "uHR": ("uhr", "null")}
PRINTED = {"uSS": ("uss", "paper"), "uUE": ("uue", "paper"), "uLH": ("ulh", "paper")}
OURS = {"uSS ours": ("uss", "null"), "uLH ours": ("ulh", "null"), "uPGR ours": ("upgr", "null")}
PRIVATE = {"uLH valid": ("ulh", "glutf")}


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


# ---- figures and tables


def theory(settings: Iterable[tuple[str, tuple[int, float, int]]], budgets: Iterable[float]) -> Rows:
    """n MSE by closed forms of all mechanisms in some settings, beside the least possible."""
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
    kinds = {"n_mse": "error of the shares (n MSE)", "bits": "bits of a report"}
    return [{**row, "what": what, "value": row[key]} for key, what in kinds.items() for row in rows]


_draw_fig1 = lines(
    Axes(
        "s",
        "value",
        "mechanism",
        "what",
        x_title="number of sensitive items",
        y_title="squared errors × people, or bits",
        log="xy",
    ),
    "Error and size of a report against the number of sensitive items",
    "ε = 1, half of the answers harmless, d = 2s; uLH as printed is not private. After ULDP Fig. 1.",
    _long,
)


def _fig3(_: Context) -> Rows:
    settings = [(f"s = {s}, theta = {t:g}", (s, t, 2 * s)) for s, t in product((5, 50, 500), (0.2, 0.8))]
    return theory(settings, BUDGETS)


def _draw_theory(title: str, where: str, more: str = "") -> Any:
    note = f"{more}uLH as printed is not private; ours: null branch, values disclosed alone. After ULDP {where}."
    return lines(ERROR, title, note)


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
    replace(ERROR, x="share", x_title="share of items that are sensitive", wide=False),
    "Error against the share of sensitive items",
    "ε = 2, closed forms; at share 1 all are plain LDP mechanisms. After ULDP Fig. 5.",
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
    Axes(
        "epsilon",
        "reduction",
        "mechanism",
        "setting",
        y_title="share of the mean squared error that is saved",
        wide=False,
    ),
    "How much the largest z saves",
    "1 - MSE(largest z)/MSE(z = 0), closed forms; uLH as printed is not private. After ULDP Fig. 7.",
)


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
    Axes("mechanism", "ratio", "regime", x_title="mechanism", y_title="error / order of the optimum", log="y"),
    "Error over the order of the optimum: constant in s if a mechanism is order-optimal",
    "n MSE (e-1)^2/(s e), theta = 0.5, d = 2s. After ULDP Table 1.",
    lambda rows: [{**row, "regime": key, "ratio": row[key]} for row in rows for key in _REGIMES],
)


def theta_error(m: Utility, people: int, theta: float, sampled: float = 0.05) -> float:
    """Mean relative error of theta estimated from a sample without replacement."""
    count = people * sampled
    variance = theta * (1 - m.law.z) / (count * m.law.z) + theta * (1 - theta) * (1 - sampled) / count
    return math.sqrt(2 * variance / math.pi) / theta


FIGURES = (
    Figure("fig1", "Error and bits against the number of sensitive items", "Fig. 1", _fig1, _draw_fig1),
    Figure(
        "fig3", "Closed-form error in six scenarios", "Fig. 3", _fig3, _draw_theory("Error by closed forms", "Fig. 3")
    ),
    Figure("fig5", "Error against the share of sensitive items", "Fig. 5", _fig5, _draw_fig5),
    Figure("fig7", "What the largest z saves", "Fig. 7", _fig7, _draw_fig7),
    Figure("table1", "Bits and order of the error", "Table 1", _table1, _draw_table1),
)
