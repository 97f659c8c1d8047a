"""The chart of a law: one bar for each outcome, in panels side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from deniable.errors import need_extra, require
from deniable.present.theme import ESTIMATE, INTERVAL, TRUTH, finish

if TYPE_CHECKING:
    import altair

__all__ = ["bar_chart"]

_WIDTH, _HEIGHT, _COLUMNS = 300, 220, 3


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
    require(len(rows) > 0, "rows", rows, "at least one row")
    named = {"x": x, "y": y, "panel": panel} | ({"strong": strong} if strong is not None else {})
    missing = [name for name in named.values() if any(name not in row for row in rows)]
    require(not missing, "rows", f"rows without {missing}", f"mappings with {list(named.values())}")
    table = [{role: row[name] for role, name in named.items()} for row in rows]
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
