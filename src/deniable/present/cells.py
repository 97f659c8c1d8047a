"""The chart of a table: coloured cells with a short text in each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from deniable.errors import need_extra, require
from deniable.present.theme import finish

if TYPE_CHECKING:
    import altair

__all__ = ["cell_chart"]

FILLS = ("#F3F4F5", "#F6C9AE", "#B5DDC9", "#C4DDF0", "#F2DFA7")
"""Fills light enough for dark text, and apart for all kinds of colour vision."""
_STRONG = "#222222"
_HEIGHT = 24


def cell_chart(
    rows: Sequence[Mapping[str, Any]],
    *,
    x: str,
    y: str,
    text: str,
    kind: str,
    strong: str | None = None,
    title: str,
    subtitle: str = "",
    x_title: str | None = None,
    y_title: str | None = None,
) -> altair.LayerChart:
    """One cell for each row, filled by `kind` (at most five of them) and with its text; bold where `strong` is true.

    Columns and rows of the table stand in the order in which they come first.
    """
    require(len(rows) > 0, "rows", rows, "at least one row")
    named = {"x": x, "y": y, "text": text, "kind": kind} | ({"strong": strong} if strong is not None else {})
    missing = [name for name in named.values() if any(name not in row for row in rows)]
    require(not missing, "rows", f"rows without {missing}", f"mappings with {list(named.values())}")
    table = [{role: row[name] for role, name in named.items()} for row in rows]
    for row in table:
        row["x"], row["y"], row["strong"] = str(row["x"]), str(row["y"]), bool(row.get("strong", False))
    kinds = list(dict.fromkeys(row["kind"] for row in table))
    require(len(kinds) <= len(FILLS), "kind", f"{len(kinds)} kinds", f"at most {len(FILLS)} of them")
    alt = need_extra("altair", "charts")
    columns, lines = ([*dict.fromkeys(row[axis] for row in table)] for axis in ("x", "y"))
    axis = alt.Axis(labelAngle=0, grid=False)
    base = alt.Chart(alt.Data(values=table)).encode(
        alt.X("x:N", sort=columns, title=x_title or x, axis=alt.Axis(labelAngle=0, grid=False, orient="top")),
        alt.Y("y:N", sort=lines, title=y_title or y, axis=axis),
    )
    legend = alt.Legend(orient="bottom", symbolType="square", symbolSize=180, symbolStrokeWidth=0, columnPadding=24)
    fill = alt.Fill("kind:N", scale=alt.Scale(domain=kinds, range=list(FILLS[: len(kinds)])), legend=legend)
    cells = base.mark_rect(stroke="white", strokeWidth=1.5).encode(fill)
    texts = base.mark_text(fontSize=11, color=_STRONG).encode(
        text="text:N",
        opacity=alt.condition("datum.strong", alt.value(1.0), alt.value(0.6)),
    )
    bold = base.transform_filter("datum.strong").mark_text(fontSize=11, fontWeight=700, color=_STRONG)
    width = max(30, _HEIGHT) * len(columns)
    chart = alt.layer(cells, texts, bold.encode(text="text:N")).properties(width=width, height=_HEIGHT * len(lines))
    drawn: altair.LayerChart = finish(chart, title=title, subtitle=subtitle, width=width)
    return drawn
