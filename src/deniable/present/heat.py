"""Heat maps: the budgets of a promise, and the probabilities of a channel."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.core.promise import Promise
from deniable.core.types import FloatArray
from deniable.errors import InWords, need_extra, require
from deniable.present.theme import ESTIMATE, TRUTH, ZERO, finish

if TYPE_CHECKING:
    import altair

__all__ = ["channel_chart", "promise_chart"]

_MOST = 200
"""Rows and columns of the largest heat map."""
_WRITTEN = 12
"""Up to so many columns their numbers are written into the cells."""
_CELL, _SIDE = 46.0, 460.0
"""Pixels of a cell that has room, and of the longest side of all cells together."""
_PALE, _FREE, _OWN = "#EAF3FA", "#F2C9A8", "#F3F4F5"
"""Colours of the least number, of no limit, and of a value against itself."""
_LABEL = 26
"""Letters of a label that are shown; all of them are when the pointer is over the cell."""

_Row = dict[str, Any]


def promise_chart(promise: Promise, *, title: str = "", subtitle: str = "") -> altair.HConcatChart:
    """The budgets of a promise, a row for what a report speaks for; beside them those that follow, if others do."""
    require(promise.inputs <= _MOST, "promise", InWords(f"{promise.inputs:,} inputs"), f"of at most {_MOST} inputs")
    given, closed = promise.budgets, promise.closed.budgets
    names = _names([promise.name(x) for x in range(promise.inputs)])
    alt = need_extra("altair", "charts")
    finite = given[np.isfinite(given)]
    top = float(max(finite.max(initial=0.0), 1e-12))
    panels = [("", given)]
    if not np.array_equal(given, closed):
        panels = [("budgets as given", given), ("what follows from them", closed)]
    made = [_panel(alt, heading, names, names, matrix, top, _budget_look) for heading, matrix in panels]
    chart = alt.hconcat(*made, spacing=36).resolve_scale(color="shared")
    told = "The row says what a report speaks for, the column against what: by a factor of at most e^budget."
    told += " ∞: no limit." if np.isinf(given).any() else ""
    width = sum(_sides(len(names), len(names))[0] for _ in panels)
    drawn: altair.HConcatChart = finish(
        chart,
        title=title or f"What is promised to {promise.k:,} values",
        subtitle=subtitle or told,
        width=max(width, 420.0),
    )
    return drawn


def channel_chart(
    matrix: object,
    *,
    values: Sequence[str] | None = None,
    reports: Sequence[str] | None = None,
    title: str = "How likely each report is",
    subtitle: str = "A row for each value; its probabilities sum to 1.",
) -> altair.HConcatChart:
    """The probabilities of a channel, a row for each value and a column for each report."""
    law = np.asarray(matrix, np.float64)
    shape = law.ndim == 2 and 1 <= len(law) <= _MOST and 1 <= law.shape[1] <= _MOST
    require(shape, "matrix", InWords(f"an array of shape {law.shape}"), f"at most {_MOST} rows and columns")
    good = bool(np.isfinite(law).all() and (law >= 0).all()) and bool((np.abs(law.sum(axis=1) - 1) < 1e-6).all())
    require(good, "matrix", InWords("other numbers"), "probabilities, each row with the sum 1")
    rows = _names(_or_numbers(values, len(law), "values"))
    columns = _names(_or_numbers(reports, law.shape[1], "reports"))
    alt = need_extra("altair", "charts")
    panel = _panel(alt, "", rows, columns, law, float(law.max()), _chance_look)
    width = _sides(len(rows), len(columns))[0]
    drawn: altair.HConcatChart = finish(alt.hconcat(panel), title=title, subtitle=subtitle, width=max(width, 420.0))
    return drawn


def _or_numbers(given: Sequence[str] | None, count: int, name: str) -> list[str]:
    found = [str(i) for i in range(count)] if given is None else [str(each) for each in given]
    require(len(found) == count, name, len(found), f"one for each of {count}")
    return found


def _names(labels: Sequence[str]) -> list[str]:
    """Labels that fit beside a row, each of them once."""
    short = [label if len(label) <= _LABEL else f"{label[: _LABEL - 1]}…" for label in labels]
    return [name if short.count(name) == 1 else f"{name} ({i})" for i, name in enumerate(short)]


def _budget_look(cell: float, own: bool, top: float) -> tuple[str, str, str]:
    """What kind of cell a budget is, what is written into it, and what is told when it is pointed at."""
    if own:
        return "own", "", "a value against itself"
    if math.isinf(cell):
        return "free", "∞", "no limit: a report may tell the two apart for certain"
    return "number", f"{cell:.3g}", f"{cell:.6g}, a factor of at most {math.exp(cell):,.4g}"


def _chance_look(cell: float, own: bool, top: float) -> tuple[str, str, str]:
    if cell == 0:
        return "own", "", "never"
    shown = "" if cell < 5e-4 else f"{100 * cell:.1f}" if cell >= 0.0995 else f"{100 * cell:.2g}"
    return "number", shown, f"{100 * cell:.6g} %"


def _panel(
    alt: Any, heading: str, rows: Sequence[str], columns: Sequence[str], matrix: FloatArray, top: float, look: Any
) -> Any:
    """Cells in one colour from pale to full, numbers in them where there is room, and cells that are no numbers."""
    budgets = look is _budget_look
    cells: list[_Row] = []
    for i, row in enumerate(matrix.tolist()):
        for j, cell in enumerate(row):
            kind, text, told = look(cell, budgets and i == j, top)
            number = float(f"{cell:.9g}") if kind == "number" else 0.0
            cells.append(
                {"row": rows[i], "column": columns[j], "kind": kind, "number": number, "text": text, "told": told}
            )
    width, height = _sides(len(rows), len(columns))
    wide = any(len(name) > max(2, width / len(columns) / 7) for name in columns)
    axis: _Row = {"grid": False, "labelLimit": 190, "labelOverlap": len(columns) > 40}
    across = alt.X(
        "column:N", sort=list(columns), title="against" if budgets else "report",
        axis=alt.Axis(orient="top", labelAngle=-50 if wide else 0, labelAlign="left" if wide else "center", **axis),
    )  # fmt: skip
    down = alt.Y("row:N", sort=list(rows), title="for" if budgets else "value", axis=alt.Axis(**axis))
    tips = [
        alt.Tooltip("row:N", title="for" if budgets else "value"),
        alt.Tooltip("column:N", title="against" if budgets else "report"),
        alt.Tooltip("told:N", title="budget" if budgets else "chance"),
    ]
    base = alt.Chart(alt.Data(values=cells)).encode(x=across, y=down, tooltip=tips)
    scale = alt.Scale(domain=[0.0, top], range=[_PALE, ESTIMATE], nice=False)
    legend = alt.Legend(
        title="budget" if budgets else "probability", format=".3~g" if budgets else ".2~%", gradientLength=120
    )
    gap = 1 if len(columns) <= 40 else 0
    fill: _Row = {"stroke": "white", "strokeWidth": gap}
    layers = [
        base.transform_filter("datum.kind == 'number'").mark_rect(**fill).encode(
            color=alt.Color("number:Q", scale=scale, legend=legend)
        ),
        base.transform_filter("datum.kind == 'free'").mark_rect(color=_FREE, **fill),
        base.transform_filter("datum.kind == 'own'").mark_rect(color=_OWN, **fill),
    ]  # fmt: skip
    if len(columns) <= _WRITTEN:
        dark = f"datum.kind == 'number' && datum.number > {0.55 * top!r}"
        ink = alt.condition(dark, alt.value("white"), alt.value("#222222"))
        layers.append(base.mark_text(fontSize=11.5).encode(text="text:N", color=ink))
    elif any(cell["kind"] == "free" for cell in cells) and len(columns) <= 40:
        free = base.transform_filter("datum.kind == 'free'")
        layers.append(free.mark_text(fontSize=10, color=TRUTH).encode(text="text:N"))
    made = alt.layer(*layers).properties(width=width, height=height)
    if heading:
        made = made.properties(title=alt.TitleParams(heading, anchor="start", fontSize=13, fontWeight=600, color=ZERO))
    return made


def _sides(rows: int, columns: int) -> tuple[float, float]:
    """Pixels of the cells together: square ones, as large as there is room."""
    cell = min(_CELL, _SIDE / max(rows, columns))
    return cell * columns, cell * rows
