"""The chart of cumulative shares: a line of steps in its band."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.core.types import FloatArray
from deniable.errors import InWords, need_extra, require
from deniable.present.theme import ESTIMATE, INTERVAL, TRUTH, ZERO, finish, symbols

if TYPE_CHECKING:
    import altair

__all__ = ["cumulative_chart"]

_WIDTH, _HEIGHT = 640.0, 340.0
_NAMED = 30
"""So many names fit under the axis."""


def cumulative_chart(
    labels: Sequence[str],
    value: Sequence[float] | FloatArray,
    low: Sequence[float] | FloatArray,
    high: Sequence[float] | FloatArray,
    *,
    title: str,
    subtitle: str = "",
    level: float = 0.95,
    simultaneous: bool = True,
    truth: Sequence[float] | FloatArray | None = None,
) -> altair.LayerChart:
    """The share of people at or below each answer, as steps in the order of the answers.

    The band holds everywhere at once if it is `simultaneous`, else at each answer alone. The line is the estimate as it
    is: it may fall somewhere, and leave the range from 0 to 100 %.
    """
    require(0 < level < 1, "level", level, "a number between 0 and 1, such as 0.95")
    rows, numbers = _rows(labels, {"value": value, "low": low, "high": high}, truth)
    alt = need_extra("altair", "charts")
    band = f"{100 * level:g} % band, everywhere at once" if simultaneous else f"{100 * level:g} % interval"
    looks = {"estimate": (ESTIMATE, "transparent", "M-1.5,0L1.5,0"), band: (INTERVAL, INTERVAL, "square")}
    looks |= {} if truth is None else {"truth": (TRUTH, "transparent", "M-1.5,0L1.5,0")}
    key = symbols(alt, "role", looks, orient="top", symbolStrokeWidth=2.6, columnPadding=22, offset=10)
    scale = alt.Scale(domain=_domain(rows), nice=False)
    percent = alt.Axis(labelExpr="format(100 * datum.value, '~g') + ' %'", tickCount=6, grid=True)

    def share(column: str) -> Any:
        return alt.Y(f"{column}:Q", title="share of people at or below", axis=percent, scale=scale)

    told = [alt.Tooltip("label:N", title="at or below")]
    told += [alt.Tooltip(f"{c}:Q", title=t, format=".3~%") for c, t in (("value", "estimate"), ("low", "from"))]
    told.append(alt.Tooltip("high:Q", title="to", format=".3~%"))
    base = alt.Chart().encode(x=_place(alt, labels, numbers), tooltip=told)

    def role(name: str) -> Any:
        return base.transform_calculate(role=f"'{name}'")

    steps = {"interpolate": "step-after"}
    marks = [role(band).mark_area(opacity=1, **steps).encode(y=share("low"), y2="high:Q", fill=key["fill"])]
    marks += [
        alt.Chart(alt.Data(values=[{}])).mark_rule(color=ZERO, strokeWidth=1).encode(y=alt.datum(at)) for at in (0, 1)
    ]
    if truth is not None:
        marks.append(role("truth").mark_line(strokeWidth=1.8, **steps).encode(y=share("truth"), stroke=key["stroke"]))
    marks.append(role("estimate").mark_line(strokeWidth=2.2, **steps).encode(y=share("value"), stroke=key["stroke"]))
    marks.append(role("estimate").mark_point(size=0, strokeWidth=0).encode(y=share("value"), **key))  # for the legend
    chart = alt.layer(*marks, data=alt.Data(values=rows)).properties(width=_WIDTH, height=_HEIGHT)
    drawn: altair.LayerChart = finish(chart, title=title, subtitle=subtitle, width=_WIDTH)
    return drawn


def _rows(labels: Sequence[str], columns: dict[str, Any], truth: Any) -> tuple[list[dict[str, Any]], bool]:
    """One record per answer with its place, and whether places are the numbers that the labels are."""
    given = columns | ({} if truth is None else {"truth": truth})
    arrays = {name: np.asarray(column, np.float64) for name, column in given.items()}
    for name, column in arrays.items():
        fits = column.shape == (len(labels),) and bool(np.isfinite(column).all())
        require(fits, name, InWords(f"an array of shape {column.shape}"), f"{len(labels)} finite numbers")
    places = _as_numbers(labels)
    at: Sequence[object] = tuple(labels) if places is None else places
    lists = {"at": at, "label": tuple(labels)} | {name: column.tolist() for name, column in arrays.items()}
    return [dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)], places is not None


def _as_numbers(labels: Sequence[str]) -> tuple[float, ...] | None:
    """The labels as numbers, if all are and rise."""
    try:
        found = tuple(float(label) for label in labels)
    except ValueError:
        return None
    rising = all(a < b for a, b in pairwise(found))
    return found if rising and len(found) > 1 and bool(np.isfinite(found).all()) else None


def _domain(rows: Sequence[dict[str, Any]]) -> list[float]:
    least, most = min(0.0, *(row["low"] for row in rows)), max(1.0, *(row["high"] for row in rows))
    air = 0.02 * (most - least)
    return [least - air, most + air]


def _place(alt: Any, labels: Sequence[str], numbers: bool) -> Any:
    if numbers:
        axis = alt.Axis(title="answer", grid=False, ticks=True, format="~r", labelOverlap=True)
        return alt.X("at:Q", axis=axis, scale=alt.Scale(nice=False, zero=False))
    every = -(-len(labels) // _NAMED)
    axis = alt.Axis(title="answers in their order", values=list(labels[::every]), labelAngle=-45, labelLimit=180)
    return alt.X("at:N", sort=None, axis=axis, scale=alt.Scale(type="point", padding=0.5))
