"""KSKV: keys before values [claims about formulas in `kskv_claims`, experiments in `kskv_study`]."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from deniable.papers.kskv_claims import CLAIMS
from deniable.papers.kskv_study import several, single
from deniable.papers.paper import Context, Figure, Paper, Rows
from deniable.present.charts import line_chart

if TYPE_CHECKING:
    import altair

__all__ = ["PAPER"]

_QUANTITIES = {
    "ncr": ("How well the most frequent keys are found", "NCR"),
    "mse_frequency": ("Squared error of frequencies", "MSE, keys found"),
    "mse_mean": ("Squared error of means", "MSE, keys found"),
}


def _single(context: Context) -> Rows:
    return context.once("single", single)


def _several(context: Context) -> Rows:
    return context.once("several", several)


def _draw(quantity: str, where: str, rows: Rows) -> altair.TopLevelMixin:
    title, name = _QUANTITIES[quantity]
    shown = [{**row, "panel": f"{row['data']}, top {row['top']}"} for row in rows]
    return line_chart(
        shown,
        x="epsilon",
        y=quantity,
        series="mechanism",
        facet="panel",
        log_y=quantity != "ncr",
        title=title,
        subtitle=f"Mean over the runs. After KSKV {where}; means by one clipping rule for all.",
        x_title="ε",
        y_title=name,
    )


def _figure(number: int, quantity: str, what: str) -> Figure:
    where = f"Fig. {number}"
    compute = _single if number < 6 else _several
    return Figure(
        f"fig{number}", f"{_QUANTITIES[quantity][0]}, {what}", where, compute, partial(_draw, quantity, where)
    )


_ONE, _MANY = "one pair per record", "several pairs per person"

FIGURES = (
    _figure(3, "ncr", _ONE),
    _figure(4, "mse_frequency", _ONE),
    _figure(5, "mse_mean", _ONE),
    _figure(6, "ncr", _MANY),
    _figure(7, "mse_frequency", _MANY),
    _figure(8, "mse_mean", _MANY),
)

PAPER = Paper(
    "kskv",
    "KSKV",
    "KSKV: Key-Strategy for Key-Value Data Collection with Local Differential Privacy",
    FIGURES,
    CLAIMS,
)
