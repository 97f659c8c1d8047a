"""KSKV: keys before values [claims in `claims`, `cited` and `statements`, experiments in `study`]."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from deniable.papers.charts import Axes, lines
from deniable.papers.kskv import cited, claims, statements
from deniable.papers.kskv.study import SERIES, enough, several, single
from deniable.papers.paper import Figure, Rows, read_paper

if TYPE_CHECKING:
    import altair

__all__ = ["PAPER"]

_QUANTITIES = {
    "ncr": ("How well the most frequent keys are found", "normalised cumulative rank, 1 at best (NCR)"),
    "mse_frequency": ("Squared error of frequencies", "mean squared error of the keys found"),
    "mse_mean": ("Squared error of means", "mean squared error of the keys found"),
}


_RECORDS = ("Fig. 3", "Fig. 4", "Fig. 5")
"""Figures about single pairs: what is promised there is about records, not people."""


def _panel(row: Mapping[str, Any]) -> str:
    return f"{row['data']}, top {row['top']}"


_GRR = SERIES["ks-grr"]
_NAMES = {"ks-ue": "KS-UE", "ks-grr": "KS-GRR", "ks-adap": "KS-Adap", "pckv-ue": "PCKV-UE", "pckv-grr": "PCKV-GRR"}


def _called(series: str) -> str:
    """A series by the paper's name of its mechanism, if it has one."""
    name = next((name for name in _NAMES if series.startswith(name)), "")
    return series.replace(name, _NAMES[name], 1).replace(" l=", ", l = ") if name else series


def _draw(quantity: str, where: str, rows: Rows) -> altair.TopLevelMixin:
    title, name = _QUANTITIES[quantity]
    rows, alike = _once(rows) if quantity != "mse_mean" else (rows, False)
    told = [row for row in rows if quantity == "ncr" or enough(row)]
    panels = list(dict.fromkeys(_panel(row) for row in rows))
    shown = [
        {**row, "panel": _panel(row), "mechanism": _called(str(row["mechanism"]))}
        for row in sorted(told, key=lambda row: panels.index(_panel(row)))
    ]
    fewest, most = (end(int(row["runs"] or 0) for row in rows) for end in (min, max))
    runs = f"{fewest} to {most:,}" if fewest < most else f"{most:,}"
    notes = [f"Mean over {runs} runs, bars: one standard error; after KSKV {where}"]
    notes += ["every record counts as a person"] if where in _RECORDS else []
    notes += ["one clipping rule for all"] if quantity == "mse_mean" else []
    notes += ["KS-GRR is the same as printed and repaired"] if alike else []
    notes += ["points with less than one key found per run are left out"] if len(told) < len(rows) else []
    log, error = "" if quantity == "ncr" else "y", f"{quantity}_stderr"
    axes = Axes("epsilon", quantity, "mechanism", "panel", y_title=name, log=log, error=error)
    return lines(axes, title, f"{'; '.join(notes)}.")(shown)


def _once(rows: Rows) -> tuple[Rows, bool]:
    """KS-GRR once where only its means are another as printed, and whether that was so."""
    left = [row for row in rows if row["mechanism"] != _GRR["paper"]]
    shown = [{**row, "mechanism": "ks-grr"} if row["mechanism"] == _GRR["repaired"] else row for row in left]
    return shown, len(left) < len(rows)


def _figure(number: int, quantity: str, what: str) -> Figure:
    where = f"Fig. {number}"
    compute = single if number < 6 else several
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

PAPER = read_paper("kskv", FIGURES, *(part.measures for part in (claims, cited, statements)))
