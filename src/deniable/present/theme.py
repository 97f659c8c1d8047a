"""How charts look: colours safe for colour-blind readers, fonts, grids and titles, on white."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

__all__ = [
    "DASHES",
    "ESTIMATE",
    "GUIDE",
    "INTERVAL",
    "PALETTE",
    "SHAPES",
    "TRUTH",
    "ZERO",
    "finish",
    "in_order",
    "symbols",
]

ESTIMATE, INTERVAL, TRUTH = "#0072B2", "#9CC9E3", "#D55E00"
"""Colours of the three marks of an estimate: blues and vermilion stay apart for all kinds of colour vision."""

ZERO, GUIDE = "#80868B", "#F3F4F5"
"""Greys of the zero line and of the lines that lead from a name to its marks."""

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#333333")
"""Seven colours after Okabe and Ito."""

_STAR = "M0,-1L0.25,-0.35L0.95,-0.31L0.4,0.13L0.59,0.81L0,0.43L-0.59,0.81L-0.4,0.13L-0.95,-0.31L-0.25,-0.35Z"
SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross", _STAR)
"""Seven symbols; they and the colours have the same number, so that filled and hollow make fourteen pairs."""

DASHES = ([1, 0], [7, 3], [2, 2], [8, 3, 2, 3])
"""Line patterns: solid, dashed, dotted, dash and dot."""

_LEADING = re.compile(r"[\[(<>≤≥=\s]*(-?\d+(?:\.\d+)?)(?!\d*[^\W\d])")
"""A number that a label begins with, as in 18-24, < 5 or [0, 10); not the one of a name such as 7th."""

_INK, _SOFT, _GRID = "#222222", "#5F6368", "#E8EAED"
_FONT = "Helvetica Neue, Helvetica, Arial, Liberation Sans, sans-serif"


def in_order(labels: Sequence[str]) -> bool:
    """Whether the labels have an order of their own: they begin with numbers that rise, but for the last two.

    >>> in_order(["< 18", "18-24", "25-64", "65+", "no answer"]), in_order(["7th", "8th", "9th"])
    (True, False)
    """
    found = [_LEADING.match(label) for label in labels]
    while len(found) > max(2, len(labels) - 2) and found[-1] is None:
        found.pop()
    numbers = [float(number[1]) for number in found if number is not None]
    return len(numbers) == len(found) > 1 and all(a <= b for a, b in pairwise(numbers)) and numbers[0] < numbers[-1]


def symbols(alt: Any, column: str, looks: Mapping[str, tuple[str, str, str]], **legend: Any) -> dict[str, Any]:
    """Stroke, fill and shape by the names in a column; as they share their domain, they make one legend."""
    shared = alt.Legend(symbolSize=80, **legend)
    channels = zip((alt.Stroke, alt.Fill, alt.Shape), zip(*looks.values(), strict=True), strict=True)
    made = (
        channel(f"{column}:N", scale=alt.Scale(domain=list(looks), range=list(values)), legend=shared)
        for channel, values in channels
    )
    return dict(zip(("stroke", "fill", "shape"), made, strict=True))


def finish(chart: Any, *, title: str, subtitle: str, width: float) -> Any:
    """The chart with a title over its plot of `width` pixels, and with the look that all charts share."""
    heading = {"text": textwrap.wrap(title, max(24, int(width / 8.2)))}
    if subtitle:
        heading["subtitle"] = textwrap.wrap(subtitle, max(30, int(width / 6.0)))
    described = chart.properties(title=heading, description=f"{title}. {subtitle}".rstrip())
    return described.configure(**_config())


def _config() -> dict[str, Any]:
    return {
        "background": "white",
        "font": _FONT,
        "padding": 16,
        "title": {
            "anchor": "start",
            "frame": "group",
            "color": _INK,
            "fontSize": 17,
            "fontWeight": 600,
            "subtitleColor": _SOFT,
            "subtitleFontSize": 12.5,
            "subtitleLineHeight": 17,
            "subtitlePadding": 5,
            "offset": 12,
        },
        "view": {"stroke": None},
        "axis": {
            "labelColor": _INK,
            "labelFontSize": 11.5,
            "titleColor": _SOFT,
            "titleFontSize": 12,
            "titleFontWeight": "normal",
            "titlePadding": 10,
            "domain": False,
            "ticks": False,
            "labelPadding": 6,
            "labelFlush": False,
            "gridColor": _GRID,
        },
        "legend": {"title": None, "labelColor": _INK, "labelFontSize": 12, "labelLimit": 260},
        "header": {"title": None, "labelColor": _INK, "labelFontSize": 13, "labelFontWeight": 600},
    }
