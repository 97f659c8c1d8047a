"""The chart of a trade-off: designs as labelled points between two quantities that should be small, and a frontier."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from deniable.errors import InWords, need_extra, require
from deniable.present.theme import ESTIMATE, TRUTH, ZERO, finish, symbols

if TYPE_CHECKING:
    import altair

__all__ = ["scatter_chart"]

_KINDS = ("good", "cost", "plain", "out")
"""What a point can be: one to choose from, also for what the axes do not show, one that another beats, one that breaks
a limit."""

_WIDTH, _HEIGHT = 660.0, 420.0
_NEAR = 13.0
"""Points closer than this many pixels to each other share a label."""
_MOST_NAMES = 5
_NARROW = frozenset("ijl,. ")
_LETTER, _LINE_HEIGHT = 6.2, 14.0
"""Pixels that a label takes."""
_BESIDE = 16.0
"""Labels that are farther up or down get a line to their points."""
_UNREADABLE = 8.0
"""One label over another is as bad as over so many points."""
_LINE = "#333333"

_Row = dict[str, Any]


def scatter_chart(
    points: Sequence[Mapping[str, Any]],
    *,
    x: str,
    y: str,
    title: str,
    subtitle: str = "",
    x_title: str | None = None,
    y_title: str | None = None,
    line: Sequence[Mapping[str, float]] = (),
    line_name: str = "frontier",
    kinds: Mapping[str, str] | None = None,
    limits: Mapping[str, float] | None = None,
    tooltip: Sequence[str] = (),
) -> altair.LayerChart:
    """Points from rows with the columns `x`, `y`, `label` and `kind` (of KINDS), and a line through rows of x and y.

    Axes are logarithmic where the values span more than a factor of three. Labels of points that lie close together are
    joined. `limits` draws the largest allowed x or y; `kinds` names the kinds in the legend; `tooltip` names further
    columns to show. The wheel zooms, dragging moves.
    """
    table = _table(points, x, y, tooltip)
    scales = {axis: _scale([row[axis] for row in table], axis) for axis in ("x", "y")}
    curve = [row for row in ({"x": float(r[x]), "y": float(r[y])} for r in line) if _inside(row, scales)]
    names = dict(zip(_KINDS, _KINDS, strict=True)) | dict(kinds or {})
    rows = [row | {"kind": names[row["kind"]]} for row in sorted(table, key=lambda row: -_KINDS.index(row["kind"]))]
    texts = {"x": x_title or x, "y": y_title or y}
    labels = _labels(table, scales, curve, limits or {}, line_name)
    chart = _draw(rows, labels, curve, names, scales, texts, limits or {}, tooltip)
    drawn: altair.LayerChart = finish(chart, title=title, subtitle=subtitle, width=_WIDTH)
    return drawn


def _table(points: Sequence[Mapping[str, Any]], x: str, y: str, tooltip: Sequence[str]) -> list[_Row]:
    """The rows under fixed names."""
    require(len(points) > 0, "points", points, "at least one point")
    table = []
    for i, row in enumerate(points):
        missing = [name for name in (x, y, "label", "kind", *tooltip) if name not in row]
        require(
            not missing,
            "points",
            InWords(f"row {i} without {missing}"),
            f"rows with {[x, y, 'label', 'kind', *tooltip]}",
        )
        place = {"x": row[x], "y": row[y]}
        for name, value in place.items():
            good = isinstance(value, int | float) and math.isfinite(value) and value > 0
            require(good, "points", f"{name} = {value!r} in row {i}", "of positive finite numbers")
        require(row["kind"] in _KINDS, "kind", row["kind"], f"one of {', '.join(_KINDS)}")
        more = {f"t{j}": row[name] for j, name in enumerate(tooltip)}
        table.append(
            {axis: float(v) for axis, v in place.items()} | {"label": str(row["label"]), "kind": row["kind"]} | more
        )
    return table


def _scale(values: Sequence[float], axis: str) -> _Row:
    """Type and ends of an axis, with some air; the zero is no part of it."""
    least, most = min(values), max(values)
    if most > 3 * least:
        air = (most / least) ** 0.05
        return {"type": "log", "domain": [least / air, most * air * (air if axis == "x" else 1)], "nice": False}
    air = 0.06 * (most - least) or 0.1 * most
    return {"type": "linear", "domain": [max(0.0, least - air), most + air * (2 if axis == "x" else 1)], "nice": False}


def _inside(row: _Row, scales: Mapping[str, _Row]) -> bool:
    return all(scales[axis]["domain"][0] <= row[axis] <= scales[axis]["domain"][1] for axis in ("x", "y"))


def _share(value: float, scale: _Row) -> float:
    """Where a value lies on an axis, from 0 to 1."""
    low, high = scale["domain"]
    if scale["type"] == "log":
        return math.log(value / low) / math.log(high / low)
    return float((value - low) / (high - low))


class _Box(NamedTuple):
    """A rectangle in pixels."""

    left: float
    top: float
    right: float
    bottom: float
    cost: float = 1.0
    """How bad it is to cover this."""

    def meets(self, other: _Box) -> bool:
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )

    def covers(self, taken: Sequence[_Box]) -> float:
        """What is lost under it."""
        return sum(other.cost for other in taken if self.meets(other))

    @property
    def outside(self) -> bool:
        return self.left < 0 or self.right > _WIDTH or self.top < 0 or self.bottom > _HEIGHT


def _labels(
    table: Sequence[_Row],
    scales: Mapping[str, _Row],
    curve: Sequence[_Row],
    limits: Mapping[str, float],
    line_name: str,
) -> list[_Row]:
    """One label for each group of points that lie close together, where it covers nothing if that can be."""
    groups: list[tuple[float, float, list[_Row]]] = []
    taken = [_around(*place, 3) for place in _along(curve, scales)]
    if "x" in limits:
        wall = _share(limits["x"], scales["x"]) * _WIDTH
        taken.append(_Box(wall - 1, 0, wall + 1, _HEIGHT))
    for row in sorted(table, key=lambda row: _KINDS.index(row["kind"])):
        x, y = _pixels(row, scales)
        taken.append(_around(x, y, 6))
        near = next((g for g in groups if math.hypot(g[0] - x, g[1] - y) < _NEAR), None)
        groups += [(x, y, [row])] if near is None else []
        if near is not None:
            near[2].append(row)
    made = []
    for x, y, rows in groups:
        names = list(dict.fromkeys(row["label"] for row in rows))
        more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
        text = ", ".join(names[:_MOST_NAMES]) + more
        align, dx, dy, box = _room(x, y, _wide(text), taken)
        taken.append(box._replace(cost=_UNREADABLE))
        at = {"x": rows[0]["x"], "y": rows[0]["y"], "kind": rows[0]["kind"]}
        made.append(at | {"text": text, "align": align, "dx": dx, "dy": dy})
    if len(curve) > 1:
        made.append(_line_label(line_name, scales, curve, taken))
    return made


def _line_label(name: str, scales: Mapping[str, _Row], curve: Sequence[_Row], taken: Sequence[_Box]) -> _Row:
    """The frontier's name, along its middle, rather below than above."""
    tried = []
    for i, row in enumerate(curve):
        align, dx, dy, box = _room(*_pixels(row, scales), _wide(name), taken)
        clashes = box.covers(taken) + 100 * box.outside
        off = abs(2 * i / len(curve) - 1)
        tried.append((clashes + (align != "right") + off + abs(dy) / 25, row | {"align": align, "dx": dx, "dy": dy}))
    return min(tried, key=lambda t: t[0])[1] | {"text": name, "kind": "line"}


def _along(curve: Sequence[_Row], scales: Mapping[str, _Row]) -> list[tuple[float, float]]:
    """Places on the drawn line, a few pixels apart."""
    corners = [_pixels(row, scales) for row in curve]
    found = []
    for (x, y), (to_x, to_y) in pairwise(corners):
        steps = max(1, round(math.hypot(to_x - x, to_y - y) / 6))
        found += [(x + (to_x - x) * i / steps, y + (to_y - y) * i / steps) for i in range(steps)]
    return found


def _pixels(row: _Row, scales: Mapping[str, _Row]) -> tuple[float, float]:
    return _share(row["x"], scales["x"]) * _WIDTH, (1 - _share(row["y"], scales["y"])) * _HEIGHT


def _wide(text: str) -> float:
    """About how many pixels a text takes, rather more than fewer: some letters are half as wide as others."""
    return sum(_LETTER / 2 if sign in _NARROW else _LETTER for sign in text)


def _around(x: float, y: float, reach: float) -> _Box:
    return _Box(x - reach, y - reach, x + reach, y + reach)


def _room(x: float, y: float, width: float, taken: Sequence[_Box]) -> tuple[str, float, float, _Box]:
    """The place near a point where a label of that width meets least of what is there, and is not too far."""
    tried = []
    for dy in (0.0, *(sign * step for step in (16.0, 30.0, 44.0, 58.0, 72.0, 86.0) for sign in (-1, 1))):
        for align, dx in (("left", 9.0 if abs(dy) < 16 else 2.0), ("right", -9.0 if abs(dy) < 16 else -2.0)):
            left = x + dx if align == "left" else x + dx - width
            box = _Box(left, y + dy - _LINE_HEIGHT / 2, left + width, y + dy + _LINE_HEIGHT / 2)
            clashes = 100 * box.outside + box.covers(taken)
            tried.append((clashes + abs(dy) / 25, align, dx, dy, box))
    _, align, dx, dy, box = min(tried, key=lambda t: t[0])
    return align, dx, dy, box


def _draw(
    rows: list[_Row],
    labels: list[_Row],
    curve: list[_Row],
    names: Mapping[str, str],
    scales: Mapping[str, _Row],
    texts: Mapping[str, str],
    limits: Mapping[str, float],
    tooltip: Sequence[str],
) -> Any:
    """From back to front: limits, frontier, points, labels."""
    alt = need_extra("altair", "charts")
    place = {
        axis: channel(f"{axis}:Q", title=texts[axis], scale=alt.Scale(**scales[axis]), axis=_axis(alt, scales[axis]))
        for axis, channel in (("x", alt.X), ("y", alt.Y))
    }

    def layer(values: list[_Row]) -> Any:
        return alt.Chart(alt.Data(values=values)).encode(**place)

    layers = []
    for axis, most in limits.items():
        rule = alt.Chart(alt.Data(values=[{"limit": f"limit {most:.4g}"}])).mark_rule(
            color=TRUTH, strokeDash=[5, 4], strokeWidth=1.4, clip=True
        )
        layers.append(rule.encode(**{axis: alt.datum(most)}, tooltip=alt.Tooltip("limit:N", title=" ")))
    if len(curve) > 1:
        drawn = layer(curve).mark_line(color=_LINE, strokeWidth=2, clip=True, interpolate="linear")
        tips = [alt.Tooltip(f"{axis}:Q", title=texts[axis], format=".4~g") for axis in ("x", "y")]
        layers.append(drawn.encode(tooltip=tips))
    far = [row for row in labels if abs(row["dy"]) > _BESIDE and row["kind"] != "line"]
    led = [row | {"to": math.copysign(abs(row["dy"]) - _LINE_HEIGHT / 2, row["dy"])} for row in far]
    if led:  # a label that stands apart is led to its points
        ends = {"y2Offset": alt.ExprRef("datum.to"), "x2Offset": alt.ExprRef("3 * datum.dx")}
        leader = layer(led).mark_rule(color=ZERO, strokeWidth=0.8, clip=True, **ends)
        layers.append(leader.encode(x2="x", y2="y"))
    layers.append(_points(alt, layer(rows), names, [row["kind"] for row in rows], tooltip))
    place_by = {name: alt.ExprRef(f"datum.{name}") for name in ("align", "dx", "dy")}
    slanted = alt.ExprRef("datum.kind == 'line' ? 'italic' : 'normal'")
    text = layer(labels).mark_text(fontSize=11.5, baseline="middle", fontStyle=slanted, clip=True, **place_by)
    soft = alt.condition(
        "datum.kind == 'good' || datum.kind == 'cost' || datum.kind == 'line'",
        alt.value("#222222"),
        alt.value("#6F747A"),
    )
    layers.append(text.encode(text="text:N", color=soft))
    return alt.layer(*layers).properties(width=_WIDTH, height=_HEIGHT).interactive()


def _points(alt: Any, chart: Any, names: Mapping[str, str], present: Sequence[str], tooltip: Sequence[str]) -> Any:
    """Filled, hollow or crossed by kind, with the details on hovering."""
    looks = {
        "good": (ESTIMATE, ESTIMATE, "circle"),
        "cost": (ESTIMATE, "white", "circle"),
        "plain": (ZERO, "white", "circle"),
        "out": (TRUTH, "white", "cross"),
    }
    shown = {names[kind]: look for kind, look in looks.items() if names[kind] in present}
    key = symbols(alt, "kind", shown, orient="top", symbolStrokeWidth=1.6, columnPadding=22, offset=10)
    tips = [alt.Tooltip("label:N", title="design")]
    tips += [alt.Tooltip(f"t{j}:N", title=name) for j, name in enumerate(tooltip)]
    return chart.mark_point(size=72, strokeWidth=1.5, opacity=1, clip=True).encode(**key, tooltip=tips)


def _axis(alt: Any, scale: _Row) -> Any:
    if scale["type"] == "linear":
        return alt.Axis(tickCount=7, grid=True, format="~g")
    low, high = scale["domain"]
    steps: tuple[float, ...] = (1, 2, 5) if high / low < 1000 else (1,)
    steps = (1, 2, 3, 4, 5, 7) if high / low < 20 else steps
    steps = (1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9) if high / low < 5 else steps
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [float(f"{step}e{power}") for power in powers for step in steps]
    return alt.Axis(values=[t for t in ticks if low <= t <= high], grid=True, format="~g", labelOverlap=True)
