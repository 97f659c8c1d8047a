"""The chart of an experiment: one line per series over a quantity that was varied."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.errors import InWords, need_extra, require
from deniable.present.theme import DASHES, PALETTE, SHAPES, ZERO, finish, in_order, symbols

if TYPE_CHECKING:
    import altair

__all__ = ["line_chart"]

_MOST_SERIES = 2 * len(PALETTE)
_COLUMNS = 3
_WIDTHS = {1: 560, 2: 360}

_Row = dict[str, Any]


def line_chart(
    rows: Sequence[Mapping[str, object]],
    *,
    x: str,
    y: str,
    series: str,
    title: str,
    subtitle: str = "",
    log_x: bool = False,
    log_y: bool = False,
    facet: str | None = None,
    error: str | None = None,
    x_title: str | None = None,
    y_title: str | None = None,
    reference: float | None = None,
    ring: str | None = None,
    free: str = "",
    line: str | None = None,
    small: bool = False,
) -> altair.LayerChart | altair.FacetChart:
    """Lines with points from the rows of a table; `x`, `y`, `series`, `facet`, `error` and `ring` name its columns.

    Up to 14 series, each with a colour and a symbol of its own (the second seven hollow), in the order of their
    first rows; likewise the facets, three side by side. `x` may be text: unless it begins with
    rising numbers it has no order, and points stand side by side without lines. A `y` that is None or not a finite
    number leaves a gap in its line. Bars reach from y - error to y + error; where that is no number there is none, and
    on an axis with logarithms one that reaches below zero ends at the axis. `reference` is a y with a line across: 1
    where y are ratios. Rows for which `ring` is true are rings in the colour of their series, beside its line. `free`
    is the axis, x or y, that has a scale of its own in every facet. `line` names the column through which lines go
    instead of the points, such as a closed form beside what was measured. A `small` chart is one of several.
    """
    more = {"facet": facet, "error": error, "ring": ring, "line": line}
    named = {"x": x, "y": y, "series": series} | {role: column for role, column in more.items() if column is not None}
    table = _table(rows, named)
    if error is not None:
        _bars(table, log=log_y)
    axes = {"x": _axis(table, "x", log=log_x, free=free == "x"), "y": _axis(table, "y", log=log_y, reference=reference)}
    axes["x"]["title"] = x if x_title is None else x_title
    axes["y"]["title"] = y if y_title is None else y_title
    facets = list(dict.fromkeys(row["facet"] for row in table)) if facet is not None else []
    panels = max(1, len(facets))
    width = _WIDTHS.get(2 if small else panels, 270)
    chart = _draw(table, axes, reference).properties(width=width, height=340 if panels == 1 and not small else 280)
    chart = _faceted(chart, table, facets)
    if free and facets:
        chart = chart.resolve_scale(**{free: "independent"})
    drawn: altair.LayerChart | altair.FacetChart
    drawn = finish(chart, title=title, subtitle=subtitle, width=width * min(panels, _COLUMNS))
    return drawn


def _table(rows: Sequence[Mapping[str, object]], named: Mapping[str, str]) -> list[_Row]:
    """The named columns under fixed names, so that no name of a caller means something to the chart."""
    require(len(rows) > 0, "rows", rows, "at least one row")
    table: list[_Row] = []
    for i, row in enumerate(rows):
        missing = [column for column in named.values() if column not in row]
        require(not missing, "rows", InWords(f"row {i} without {missing}"), f"mappings with {list(named.values())}")
        plain = {role: _plain(row[column]) for role, column in named.items()}
        texts = {role: str(plain[role]) for role in ("series", "facet") if role in plain}
        table.append(plain | texts | {"y": plain["y"] if _is_number(plain["y"]) else None})
    names = list(dict.fromkeys(row["series"] for row in table))
    hint = "Split them over several charts or facets."
    require(
        len(names) <= _MOST_SERIES, "series", InWords(f"{len(names)} series"), f"at most {_MOST_SERIES} series", hint
    )
    return [row | {"pattern": names.index(row["series"]) % len(DASHES)} for row in table]


def _bars(table: list[_Row], *, log: bool) -> None:
    """Ends of the bars of those rows that have one."""
    for row in table:
        y, error = row["y"], row.pop("error")
        if y is not None and _is_number(error) and error > 0:
            row |= {"low": y - error if y > error or not log else None, "high": y + error}
    least = min(
        (x for row in table for x in (row["y"], row.get("low")) if x is not None and (x > 0 or not log)), default=None
    )
    for row in table:
        if "high" in row and row["low"] is None:
            row["low"] = least


def _plain(value: object) -> object:
    return value.item() if isinstance(value, np.generic) else value


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _axis(table: list[_Row], role: str, *, log: bool, reference: float | None = None, free: bool = False) -> _Row:
    """Type, scale and ticks of one axis, from the values on it."""
    values = [row[role] for row in table if role == "x" or row[role] is not None]
    values += [row[end] for row in table for end in ("low", "high") if role == "y" and end in row]
    values += [row["line"] for row in table if role == "y" and _is_number(row.get("line"))]
    require(len(values) > 0, role, "no number in any row", "the name of a column with numbers")
    values += [] if reference is None else [reference]
    if not all(_is_number(value) for value in values):
        require(not log, "log_x", log, "False, because x is not numbers throughout")
        for row in table:
            row[role] = str(row[role])
        return {"type": "N", "scale": {}, "axis": {"labelAngle": 0, "labelOverlap": True}}
    if not log:
        return {"type": "Q", "scale": _linear(values, role), "axis": _ticks(values, role, free=free)}
    odd = [value for value in values if value <= 0][:3]
    need = f"a column of positive numbers, because of log_{role}"
    require(not odd, role, odd, need, f"Leave these rows out or set log_{role}=False.")
    domain = _log_domain(values)
    return {"type": "Q", "scale": {"type": "log", "nice": False, "domain": domain}, "axis": _decades(*domain)}


def _linear(values: list[float], role: str) -> _Row:
    """A vertical axis starts at zero unless the values stay far from it; a horizontal one does not."""
    if role == "x":
        return {"zero": False, "nice": False, "padding": 14}
    return {"zero": min(values) >= 0 and 2 * min(values) < max(values), "nice": True}


def _ticks(values: list[float], role: str, *, free: bool) -> _Row:
    """Ticks where something was measured, if these places are few and the same in all panels.

    Digits are given, because a number of them that follows from the ticks can be too small to tell two ticks apart.
    """
    distinct = sorted(set(values))
    axis: _Row = {"format": "~s" if max(map(abs, distinct)) >= 10_000 else ".6~r", "labelOverlap": True}
    same = role == "x" and not free and len(distinct) <= 12
    return axis | ({"values": distinct} if same else {"tickCount": 6})


def _log_domain(values: list[float]) -> list[float]:
    """The range of the values and 4 per cent more at both ends, as seen on the axis."""
    least, most = math.log10(min(values)), math.log10(max(values))
    air = 0.04 * (most - least) or 0.5
    return [10 ** (least - air), 10 ** (most + air)]


def _decades(least: float, most: float) -> _Row:
    """Ticks at powers of ten; on less than two decades at 2 and 5 times these, too, and on less than one at more."""
    first, last = math.floor(math.log10(least)), math.ceil(math.log10(most))
    steps = (1, 1.5, 2, 3, 4, 5, 7) if most < 10 * least else (1, 2, 5) if most < 100 * least else (1,)
    every = max(1, (last - first) // 8)
    ticks = [float(f"{step}e{power}") for power in range(first, last + 1, every) for step in steps]
    values = [tick for tick in ticks if least <= tick <= most]
    shape = "~s" if least >= 0.5 else "~r" if least >= 5e-4 and most < 1e4 else "~e"
    return {"values": values, "format": shape, "labelOverlap": True}


def _draw(table: list[_Row], axes: Mapping[str, _Row], reference: float | None) -> Any:
    """From back to front: the reference, bars, lines, points."""
    alt = need_extra("altair", "charts")
    filled = zip(PALETTE, PALETTE, SHAPES, strict=True)
    hollow = ((colour, "white", shape) for colour, shape in zip(PALETTE, SHAPES, strict=True))
    looks = dict(zip(dict.fromkeys(row["series"] for row in table), chain(filled, hollow), strict=False))
    key = symbols(alt, "series", looks, symbolStrokeWidth=1.8, rowPadding=5, offset=20)
    kinds = {"series": "N", "x": axes["x"]["type"], "y": "Q"}
    titles = {"series": "series"} | {role: axis["title"] for role, axis in axes.items()}
    tooltip = [alt.Tooltip(f"{role}:{kind}", title=titles[role]) for role, kind in kinds.items()]
    base = alt.Chart().encode(_channel(alt.X, "x", axes), _channel(alt.Y, "y", axes), tooltip=tooltip)
    apart = axes["x"]["type"] == "N" and not in_order(list(dict.fromkeys(row["x"] for row in table)))
    if apart:
        base = base.encode(alt.XOffset("series:N", scale=alt.Scale(domain=list(looks), paddingOuter=0.5)))
    dash = alt.ExprRef(f"{json.dumps(DASHES)}[datum.pattern]")
    line = base.mark_line(strokeWidth=1.8, opacity=1, strokeDash=dash).encode(key["stroke"])
    if any("line" in row for row in table):
        line = line.encode(_channel(alt.Y, "y", axes, "line"))
    lines = [] if apart else [line]
    points = base.mark_point(size=52, strokeWidth=1.6, opacity=1).encode(**key)
    across = [] if reference is None else [_across(alt, reference, axes["y"])]
    if any(row.get("ring") for row in table):
        rings = base.transform_filter("datum.ring").mark_point(
            shape="circle", size=150, filled=False, strokeWidth=1.6, opacity=1
        )
        lines = [rings.encode(key["stroke"]), *(one.transform_filter("!datum.ring") for one in lines)]
        points = points.transform_filter("!datum.ring")
    if not any("high" in row for row in table):
        return alt.layer(*across, *lines, points)
    ends = {"y": _channel(alt.Y, "y", axes, "low"), "y2": alt.Y2("high:Q")}
    bars = base.transform_filter("isValid(datum.high)").mark_rule(strokeWidth=1.1, opacity=1)
    return alt.layer(*across, bars.encode(key["stroke"], **ends), *lines, points)


def _across(alt: Any, reference: float, axis: _Row) -> Any:
    """The line at a value of the vertical axis, through every panel."""
    grid = axis["axis"] | {"grid": True}
    place = alt.YDatum(reference, type="quantitative", title=axis["title"], scale=axis["scale"], axis=grid)
    return alt.Chart(alt.Data(values=[{}])).mark_rule(color=ZERO, strokeWidth=1.4).encode(place)


def _channel(channel: Any, role: str, axes: Mapping[str, _Row], column: str = "") -> Any:
    axis = axes[role]
    order = {"sort": None} if axis["type"] == "N" else {}
    return channel(
        f"{column or role}:{axis['type']}", title=axis["title"], scale=axis["scale"], axis=axis["axis"], **order
    )


def _faceted(chart: Any, table: list[_Row], facets: list[str]) -> Any:
    """The data, and one panel per facet; where the last row has gaps, every panel gets its own x axis."""
    alt = need_extra("altair", "charts")
    data = alt.Data(values=table)
    if not facets:
        return chart.properties(data=data)
    chart = chart.facet(alt.Facet("facet:N", sort=facets), columns=_COLUMNS, data=data)
    gaps = len(facets) > _COLUMNS and len(facets) % _COLUMNS > 0
    return chart.resolve_axis(x="independent") if gaps else chart
