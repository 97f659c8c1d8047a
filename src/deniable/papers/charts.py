"""How figures of papers are drawn: as lines, as bars of a law in panels side by side, as a table of coloured cells."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

from deniable.errors import need_extra, require
from deniable.papers.paper import Rows
from deniable.present.lines import line_chart
from deniable.present.theme import ESTIMATE, INTERVAL, TRUTH, finish

if TYPE_CHECKING:
    import altair

__all__ = ["Axes", "bar_chart", "cell_chart", "lines", "marked"]

_WIDTH, _HEIGHT, _COLUMNS = 300, 220, 3
_FILLS = ("#F3F4F5", "#F6C9AE", "#B5DDC9", "#C4DDF0", "#F2DFA7")
"""Fills light enough for dark text, and apart for all kinds of colour vision."""
_STRONG = "#222222"
_CELL = (30, 24)


@dataclass(frozen=True, slots=True)
class Axes:
    """What the columns of a table are in a line chart: the axes, one line for each series, one panel for each facet."""

    x: str
    y: str
    series: str
    facet: str | None = None
    _: KW_ONLY
    y_title: str
    """What the axis shows, in words, with its unit."""
    x_title: str = "privacy budget ε"
    log: str = ""
    """The axes with logarithms: x, y, xy or none."""
    wide: bool = True
    """Three panels in a row, else two."""
    free: str = ""
    """The axis that has a scale of its own in every panel, x or y."""
    error: str | None = None
    """The standard error of y, for bars."""
    reference: float | None = None
    """A line across, e.g. at 1 where y are ratios."""
    ring: str | None = None
    """Whether a row is a ring beside the line of its series, e.g. a simulated value."""


def lines(
    axes: Axes,
    title: str,
    note: str | Callable[[Rows], str],
    shown: Callable[[Rows], Rows] = lambda rows: rows,
    **added: str,
) -> Callable[[Rows], altair.TopLevelMixin]:
    """How to draw a table as lines: the rows that are `shown`, each with columns `added` by filling in such a text."""

    def draw(rows: Rows) -> altair.TopLevelMixin:
        chart: Any = line_chart(
            [{**row, **{name: text.format_map(row) for name, text in added.items()}} for row in shown(rows)],
            x=axes.x,
            y=axes.y,
            series=axes.series,
            facet=axes.facet,
            error=axes.error,
            log_x="x" in axes.log,
            log_y="y" in axes.log,
            title=title,
            subtitle=note if isinstance(note, str) else note(rows),
            x_title=axes.x_title,
            y_title=axes.y_title,
            reference=axes.reference,
            ring=axes.ring,
            free=axes.free,
        )
        if not axes.wide:
            chart.columns = 2
        drawn: altair.TopLevelMixin = chart
        return drawn

    return draw


def marked(chart: Any, marks: Sequence[str]) -> Any:
    """The chart with marks about its data as the first lines below its title, and in its description."""
    if not marks:
        return chart
    heading = chart.to_dict()["title"]
    below = heading.get("subtitle", [])
    width = max(60, *map(len, [*heading["text"], *below]))
    told = " ".join(marks)
    shown = {**heading, "subtitle": [*textwrap.wrap(told, width), *below]}
    return chart.properties(title=shown, description=f"{chart.description} {told}")


def bar_chart(
    rows: Sequence[Mapping[str, Any]],
    *,
    x: str,
    y: str,
    panel: str,
    strong: str | None = None,
    own: object = None,
    title: str,
    subtitle: str = "",
    x_title: str | None = None,
    y_title: str | None = None,
) -> altair.FacetChart:
    """Bars of height `y` over the outcomes `x`, dark where `strong` is true; a mark over the outcome `own`.

    Outcomes and panels stand in the order in which they come first; all panels have the same scale.
    """
    roles = {"x": x, "y": y, "panel": panel} | ({"strong": strong} if strong is not None else {})
    table = _table(rows, roles)
    for row in table:
        row |= {"x": str(row["x"]), "strong": bool(row.get("strong", True)), "own": str(row["x"]) == str(own)}
    outcomes, panels = ([*dict.fromkeys(row[key] for row in table)] for key in ("x", "panel"))
    alt = need_extra("altair", "charts")
    every = -(-len(outcomes) // 12)
    axis = alt.Axis(labelAngle=0, grid=False, values=outcomes[every - 1 :: every])
    base = alt.Chart().encode(
        alt.X("x:N", sort=outcomes, title=x_title or x, axis=axis),
        alt.Y("y:Q", title=y_title or y, axis=alt.Axis(tickCount=5)),
        tooltip=[alt.Tooltip("x:N", title=x_title or x), alt.Tooltip("y:Q", title=y_title or y, format=".4~g")],
    )
    shade = alt.condition("datum.strong", alt.value(ESTIMATE), alt.value(INTERVAL))
    bars = base.mark_bar(opacity=1).encode(color=shade)
    mark = base.transform_filter("datum.own").mark_point(
        shape="triangle-up", size=70, color=TRUTH, filled=True, opacity=1, yOffset=-6
    )
    chart = alt.layer(bars, mark).properties(width=_WIDTH, height=_HEIGHT)
    drawn = chart.facet(alt.Facet("panel:N", sort=panels), columns=_COLUMNS, data=alt.Data(values=table))
    made: altair.FacetChart = finish(drawn, title=title, subtitle=subtitle, width=_WIDTH * min(len(panels), _COLUMNS))
    return made


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
    roles = {"x": x, "y": y, "text": text, "kind": kind} | ({"strong": strong} if strong is not None else {})
    table = _table(rows, roles)
    for row in table:
        row["x"], row["y"], row["strong"] = str(row["x"]), str(row["y"]), bool(row.get("strong", False))
    kinds = list(dict.fromkeys(row["kind"] for row in table))
    require(len(kinds) <= len(_FILLS), "kind", f"{len(kinds)} kinds", f"at most {len(_FILLS)} of them")
    alt = need_extra("altair", "charts")
    columns, lines = ([*dict.fromkeys(row[axis] for row in table)] for axis in ("x", "y"))
    axis = alt.Axis(labelAngle=0, grid=False)
    base = alt.Chart(alt.Data(values=table)).encode(
        alt.X("x:N", sort=columns, title=x_title or x, axis=alt.Axis(labelAngle=0, grid=False, orient="top")),
        alt.Y("y:N", sort=lines, title=y_title or y, axis=axis),
    )
    legend = alt.Legend(orient="bottom", symbolType="square", symbolSize=180, symbolStrokeWidth=0, columnPadding=24)
    fill = alt.Fill("kind:N", scale=alt.Scale(domain=kinds, range=list(_FILLS[: len(kinds)])), legend=legend)
    cells = base.mark_rect(stroke="white", strokeWidth=1.5).encode(fill)
    texts = base.mark_text(fontSize=11, color=_STRONG).encode(
        text="text:N", opacity=alt.condition("datum.strong", alt.value(1.0), alt.value(0.6))
    )
    bold = base.transform_filter("datum.strong").mark_text(fontSize=11, fontWeight=700, color=_STRONG)
    width, height = _CELL[0] * len(columns), _CELL[1] * len(lines)
    chart = alt.layer(cells, texts, bold.encode(text="text:N")).properties(width=width, height=height)
    drawn: altair.LayerChart = finish(chart, title=title, subtitle=subtitle, width=width)
    return drawn


def _table(rows: Sequence[Mapping[str, Any]], roles: Mapping[str, str]) -> list[dict[str, Any]]:
    """What a chart draws: the columns of the rows by their roles."""
    require(len(rows) > 0, "rows", rows, "at least one row")
    missing = [name for name in roles.values() if any(name not in row for row in rows)]
    require(not missing, "rows", f"rows without {missing}", f"mappings with {list(roles.values())}")
    return [{role: row[name] for role, name in roles.items()} for row in rows]
