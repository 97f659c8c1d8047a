"""Charts of places: what is reported from one of them how often, and how they are divided into regions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.core.types import FloatArray
from deniable.errors import InWords, ParameterError, need_extra, require
from deniable.present.theme import ESTIMATE, INTERVAL, PALETTE, TRUTH, ZERO, finish

if TYPE_CHECKING:
    import altair

__all__ = ["map_chart", "regions_chart"]

_SIDE, _COLUMNS = 300.0, 3
"""Pixels of the longer side of a map, and how many of them are put side by side."""
_SEVEN = range(len(PALETTE))
_WIDER = 420.0
"""Pixels of the longer side of a map with regions."""
_LEAST, _MOST = 8.0, 150.0
"""Areas of the circles of the rarest and the most frequent report."""
_AIR = 0.04
_RARE = 1e-12
"""Less than this is no report."""

_Row = dict[str, Any]


def map_chart(
    points: object,
    panels: Mapping[str, object],
    *,
    own: int,
    title: str,
    subtitle: str = "",
    globe: bool = True,
    released: Mapping[str, int] | None = None,
    labels: Sequence[str] | None = None,
) -> altair.ConcatChart:
    """One map for each way to release a place: all places in grey, and circles for those reported from place `own`.

    `points` are (latitude, longitude) in degrees, or (x, y) if `globe` is False; each of `panels` has the chance of
    every place to be reported, 0 for those that never are. Area and colour of a circle say how often, on a logarithmic
    scale that all maps share. `released` draws a line to one report of each panel; `labels` names the places when the
    pointer is over them.
    """
    places = _check_points(points, own)
    chances = {name: _check_chances(name, given, len(places)) for name, given in panels.items()}
    require(len(chances) > 0, "panels", dict(panels), "at least one way to release a place")
    sent = dict(released or {})
    unknown = [name for name in sent if name not in chances]
    require(not unknown, "released", unknown, f"among {', '.join(chances)}")
    names = [str(i) for i in range(len(places))] if labels is None else [str(label) for label in labels]
    require(len(names) == len(places), "labels", len(names), f"one for each of {len(places)} places")
    if globe:
        places = places[:, ::-1]  # longitude to the right, latitude upwards
    alt = need_extra("altair", "charts")
    every = np.concatenate(list(chances.values()))
    ends = [float(every[every > _RARE].min()), float(every.max())]
    maps = [_panel(alt, name, places, law, own, sent.get(name), names, ends, globe) for name, law in chances.items()]
    chart = alt.concat(*maps, columns=_COLUMNS, spacing=28).resolve_scale(color="shared", size="shared")
    width = min(len(maps), _COLUMNS) * _size(places, globe)[0]
    drawn: altair.ConcatChart = finish(chart, title=title, subtitle=subtitle, width=max(width, 420.0))
    return drawn


def regions_chart(
    maps: Mapping[str, tuple[object, Sequence[Any], bool]], *, title: str, subtitle: str = ""
) -> altair.ConcatChart:
    """One map for each set of places: its points, the region of each, and whether they are latitudes and longitudes.

    Every region has a colour, an outline and its name; with more than seven, colours come again, far from each other.
    """
    require(len(maps) > 0, "maps", dict(maps), "at least one set of places")
    alt = need_extra("altair", "charts")
    drawn, width = [], 0.0
    for name, (points, regions, globe) in maps.items():
        places = _check_points(points, 0)
        require(len(regions) == len(places), "regions", len(regions), f"one for each of {len(places)} places")
        places = places[:, ::-1] if globe else places
        drawn.append(_divided(alt, name, places, [str(region) for region in regions], globe))
        width += _size(places, globe, _WIDER)[0]
    chart = alt.concat(*drawn, columns=2, spacing=28).resolve_scale(color="independent", fill="independent")
    made: altair.ConcatChart = finish(chart, title=title, subtitle=subtitle, width=max(width, 420.0))
    return made


def _divided(alt: Any, name: str, places: FloatArray, regions: list[str], globe: bool) -> Any:
    """Outlines, places, and names of the regions."""
    names = sorted(set(regions), key=lambda region: (len(region), region))
    outlines: list[_Row] = []
    labels: list[_Row] = []
    for region in names:
        own = places[[i for i, other in enumerate(regions) if other == region]]
        ends = [*_outline(own), *_outline(own)[:1]]
        outlines += [{"x": x, "y": y, "region": region, "order": i} for i, (x, y) in enumerate(ends)]
        labels.append({"x": float(np.mean(own[:, 0])), "y": float(np.mean(own[:, 1])), "region": region})
    rows = [{"x": x, "y": y, "region": region} for (x, y), region in zip(places.tolist(), regions, strict=True)]
    colours = alt.Scale(domain=names, range=_apart(np.array([[label["x"], label["y"]] for label in labels])))
    axes = _axes(alt, places, globe)
    colour = alt.Color("region:N", scale=colours, legend=None)

    def layer(values: list[_Row]) -> Any:
        return alt.Chart(alt.Data(values=values)).encode(**axes)

    shapes = layer(outlines).mark_line(filled=True, fillOpacity=0.12, strokeWidth=1.2, opacity=0.9)
    dots = layer(rows).mark_circle(size=9, opacity=0.75, clip=True)
    texts = layer(labels).mark_text(fontSize=12, fontWeight=700, stroke="white", strokeWidth=3, strokeOpacity=0.9)
    front = layer(labels).mark_text(fontSize=12, fontWeight=700, color="#222222").encode(text="region:N")
    width, height = _size(places, globe, _WIDER)
    heading = alt.TitleParams(name, anchor="start", fontSize=13, fontWeight=600, offset=6)
    layers = (
        shapes.encode(color=colour, fill=alt.Fill("region:N", scale=colours, legend=None), order="order:Q"),
        dots.encode(color=colour, tooltip=[alt.Tooltip("region:N", title="region")]),
        texts.encode(text="region:N"),
        front,
    )
    return alt.layer(*layers).properties(width=width, height=height, title=heading)


def _apart(centres: FloatArray) -> list[str]:
    """A colour for each region: in turn the one whose nearest bearer so far is farthest."""
    unit = (centres - centres.min(axis=0)) / (np.ptp(centres, axis=0) + 1e-12)
    chosen: list[int] = []
    for at in unit:
        far = [min([float(np.hypot(*(at - unit[j]))) for j, c in enumerate(chosen) if c == i] or [9.0]) for i in _SEVEN]
        chosen.append(int(np.argmax(far)))
    return [PALETTE[i] for i in chosen]


def _outline(places: FloatArray) -> list[list[float]]:
    """The corners of the convex hull, in order; all places if they are too few, or on a line."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        corners = places[ConvexHull(places).vertices]
    except (QhullError, ValueError):
        corners = places
    found: list[list[float]] = corners.tolist()
    return found


def _check_points(points: object, own: int) -> FloatArray:
    try:
        places = np.asarray(points, np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"points must be pairs of numbers: {error}.") from error
    good = places.ndim == 2 and places.shape[1] == 2 and len(places) >= 2 and bool(np.isfinite(places).all())
    require(good, "points", InWords(f"an array of shape {places.shape}"), "at least 2 pairs of finite numbers")
    require(0 <= own < len(places), "own", own, f"from 0 to {len(places) - 1}")
    return np.asarray(places, np.float64)


def _check_chances(name: str, given: object, count: int) -> FloatArray:
    law = np.asarray(given, np.float64)
    require(law.shape == (count,), f"panels[{name!r}]", f"an array of shape {law.shape}", f"{count} chances")
    good = bool(np.isfinite(law).all() and (law >= 0).all()) and abs(float(law.sum()) - 1) < 1e-6
    require(good, f"panels[{name!r}]", f"a sum of {float(law.sum())!r}", "chances >= 0 whose sum is 1")
    return law


def _size(places: FloatArray, globe: bool, side: float = _SIDE) -> tuple[float, float]:
    """Width and height of a map with the same scale both ways; a degree of longitude shrinks towards the poles."""
    span = np.ptp(places, axis=0)
    shrink = math.cos(math.radians(float(places[:, 1].mean()))) if globe else 1.0
    wide, high = max(float(span[0]) * shrink, 1e-12), max(float(span[1]), 1e-12)
    scale = side / max(wide, high)
    return max(wide * scale, 120.0), max(high * scale, 120.0)


def _panel(
    alt: Any,
    name: str,
    places: FloatArray,
    law: FloatArray,
    own: int,
    sent: int | None,
    names: Sequence[str],
    ends: list[float],
    globe: bool,
) -> Any:
    """From back to front: all places, reports, the line to one of them, the own place."""
    rows = [{"x": x, "y": y, "place": names[i], "chance": float(law[i])} for i, (x, y) in enumerate(places.tolist())]
    axes = _axes(alt, places, globe)

    def layer(values: Sequence[_Row]) -> Any:
        return alt.Chart(alt.Data(values=list(values))).encode(**axes)

    tips = [alt.Tooltip("place:N", title="place"), alt.Tooltip("chance:Q", title="chance of report", format=".3~%")]
    ground = layer(rows).mark_circle(size=6, color=ZERO, opacity=0.45, clip=True)
    reports = layer([row for row in rows if row["chance"] > _RARE]).mark_circle(opacity=0.75, clip=True)
    legend = alt.Legend(title="chance of report", format=".2~%", orient="right", titleFontSize=11, tickCount=5)
    log = {"type": "log", "domain": [ends[0] / 1.2, ends[1] * 1.2], "nice": False}
    colour = alt.Color("chance:Q", scale=alt.Scale(range=[INTERVAL, ESTIMATE], **log), legend=legend)
    size = alt.Size("chance:Q", scale=alt.Scale(range=[_LEAST, _MOST], **log), legend=None)
    layers = [ground, reports.encode(color=colour, size=size, tooltip=tips)]
    if sent is not None:
        require(0 <= sent < len(rows), f"released[{name!r}]", sent, f"from 0 to {len(rows) - 1}")
        line = [{k: rows[i][k] for k in ("x", "y")} | {"order": j} for j, i in enumerate((own, sent))]
        layers.append(layer(line).mark_line(color=TRUTH, strokeWidth=1.4, strokeDash=[4, 3], clip=True))
    mark = layer([rows[own]]).mark_point(shape="cross", angle=45, size=150, color=TRUTH, filled=True, opacity=1)
    layers.append(mark.encode(tooltip=[alt.Tooltip("place:N", title="own place")]))
    width, height = _size(places, globe)
    heading = alt.TitleParams(name, anchor="start", fontSize=13, fontWeight=600, offset=6)
    return alt.layer(*layers).properties(width=width, height=height, title=heading)


def _axes(alt: Any, places: FloatArray, globe: bool) -> _Row:
    titles = ("longitude", "latitude") if globe else ("x", "y")
    made = {}
    for i, (axis, channel) in enumerate((("x", alt.X), ("y", alt.Y))):
        low, high = float(places[:, i].min()), float(places[:, i].max())
        air = _AIR * (high - low) or 0.5
        scale = alt.Scale(domain=[low - air, high + air], nice=False, zero=False)
        made[axis] = channel(f"{axis}:Q", title=titles[i], scale=scale, axis=alt.Axis(tickCount=4, format="~r"))
    return made
