"""The chart of an estimate: points on their intervals, with the truth where it is known."""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.core.types import FloatArray, IntArray
from deniable.errors import InWords, need_extra, require
from deniable.present.tables import width_of
from deniable.present.theme import ESTIMATE, GUIDE, INTERVAL, TRUTH, ZERO, finish, in_order, symbols

if TYPE_CHECKING:
    import altair

__all__ = ["ORDERS", "estimate_chart"]

_MOST_ROWS = 150
"""Up to so many items with names each get a row of their own; more go side by side under thinned names."""

_LONGEST = 40
"""Columns that a label takes on an axis, or each of its two lines beside a row."""

ORDERS = ("value", "given")
"""Orders of the items: the largest estimate first, or as they are given."""


def estimate_chart(
    labels: Sequence[str],
    value: Sequence[float] | FloatArray,
    low: Sequence[float] | FloatArray,
    high: Sequence[float] | FloatArray,
    *,
    title: str,
    subtitle: str = "",
    truth: Sequence[float] | FloatArray | None = None,
    level: float = 0.95,
    top: int | None = None,
    ends: tuple[float, float] | None = None,
    edges: Sequence[float] | FloatArray | None = None,
    order: str | None = None,
) -> altair.LayerChart:
    """Estimated shares as points on their intervals, with the truth as a tick where it is known.

    Items with names stand in rows, the largest estimate first; more than 150 side by side, in the same order. Items
    whose labels are rising numbers such as ages stand side by side on an axis of numbers, and labels that begin with
    rising numbers, such as 18-24, keep their order. `order` is "value" or "given" where another one is wanted, e.g. for
    never, rarely, often. `top` shows only the items with the largest estimates and says so. Negative estimates are
    shown: unbiased estimates of rare items often are. With
    `ends` these are no shares but means of values from a range with these ends; with `edges` they are the shares of
    bins, each from one edge to the next, and are drawn over these.
    """
    require(0 < level < 1, "level", level, "a number between 0 and 1, such as 0.95")
    require(order is None or order in ORDERS, "order", order, f"one of {', '.join(ORDERS)}, or None")
    items = replace(_items(labels, value, low, high, truth), ends=ends)
    drawn: altair.LayerChart
    if edges is not None:
        drawn = _bins(items, edges, f"{100 * level:g} % interval", title=title, subtitle=subtitle)
        return drawn
    shown = items if top is None else items.top(top)
    if len(shown.labels) < len(items.labels):
        note = f"the {len(shown.labels)} largest estimates of {len(items.labels):,} items"
        subtitle = f"{subtitle} · {note}" if subtitle else note
    if order == "value" or (order is None and not in_order(items.labels)):
        shown = shown.sorted()
    layout = _layout(shown.labels)
    chart = _draw(shown, layout, f"{100 * level:g} % interval")
    drawn = finish(chart, title=title, subtitle=subtitle, width=layout.width)
    return drawn


@dataclass(frozen=True)
class _Items:
    """What is to be drawn, item by item."""

    labels: tuple[str, ...]
    columns: dict[str, FloatArray]
    ends: tuple[float, float] | None = None
    """The range of the values, where means are drawn rather than shares."""

    def top(self, t: Any) -> _Items:
        """Those with the `t` largest estimates, in their order."""
        whole = isinstance(t, int | np.integer)
        require(whole and t >= 1, "top", t, "an integer >= 1, or None for all items")
        return self._taken(np.sort(np.argsort(-self.columns["value"], kind="stable")[:t]))

    def sorted(self) -> _Items:
        """The largest estimate first; equal ones keep their order."""
        return self._taken(np.argsort(-self.columns["value"], kind="stable"))

    def _taken(self, keep: IntArray) -> _Items:
        return _Items(tuple(self.labels[i] for i in keep), {c: v[keep] for c, v in self.columns.items()}, self.ends)

    def rows(self, numbers: Sequence[float] | None, *, wrapped: bool = False) -> list[dict[str, object]]:
        """One record per item, with its place on an axis of numbers if it has one."""
        shown = _wrapped(self.labels) if wrapped else _shortened(self.labels)
        columns: dict[str, Sequence[object]] = {"item": shown, "label": self.labels}
        columns |= {name: values.tolist() for name, values in self.columns.items()}
        columns |= {} if numbers is None else {"at": numbers}
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def domain(self) -> list[float]:
        """The range of the shares, zero included, with a little air; of means, that of the values and of all marks."""
        first, last = self.ends or (0.0, 0.0)
        least = min(first, *(float(v.min()) for v in self.columns.values()))
        most = max(last, *(float(v.max()) for v in self.columns.values()))
        if self.ends is not None:
            return [least, most]
        air = 0.03 * (most - least) or 0.01
        return [least - air if least < 0 else 0.0, most + air if most > 0 else 0.0]


def _shortened(labels: Sequence[str]) -> tuple[str, ...]:
    """Labels with the middle of long ones left out; all stay as they are if two of them would look the same.

    >>> _shortened(["short", "the answer that begins like many others and ends in its own way"])
    ('short', 'the answer that begin…ends in its own way')
    """
    head, tail = _LONGEST // 2 + 1, _LONGEST // 2 - 1
    short = tuple(x if len(x) <= _LONGEST + 1 else f"{x[:head].rstrip()}…{x[-tail:].lstrip()}" for x in labels)
    return short if len(set(short)) == len(short) else tuple(labels)


def _wrapped(labels: Sequence[str]) -> tuple[str, ...]:
    """Labels with long ones in two lines, and with the middle of longer ones left out; or all as they are, as above.

    >>> _wrapped(["short", "the answer that begins like many others and ends in its own way"])[1].splitlines()
    ['the answer that begins like many others', 'and ends in its own way']
    """
    lines = tuple(map(_in_two_lines, labels))
    return lines if len(set(lines)) == len(lines) else tuple(labels)


def _in_two_lines(label: str) -> str:
    room = max(1, _LONGEST * len(label) // max(1, width_of(label)))
    lines = textwrap.wrap(label, room, break_on_hyphens=False) if len(label) > room + 1 else [label]
    if len(lines) <= 2:
        return "\n".join(lines)
    end = label[1 - room :]
    words = end.partition(" ")[2]
    return f"{lines[0]}\n…{words if len(words) >= room // 2 else end}"


def _items(labels: Sequence[str], value: Any, low: Any, high: Any, truth: Any) -> _Items:
    names = tuple(str(label) for label in labels)
    require(len(names) >= 1, "labels", names, "at least one label")
    twice = [name for name, times in Counter(names).items() if times > 1]
    require(not twice, "labels", twice, "unique", "Every item has a place of its own in the chart.")
    given = {"value": value, "low": low, "high": high} | ({} if truth is None else {"truth": truth})
    columns = {}
    for name, numbers in given.items():
        column = np.asarray(numbers, dtype=np.float64)
        shape = InWords(f"an array of shape {column.shape}")
        require(column.shape == (len(names),), name, shape, f"one number for each of the {len(names)} labels")
        odd = column[~np.isfinite(column)][:3].tolist()
        require(not odd, name, odd, "finite numbers", "Leave out the items that have no estimate.")
        columns[name] = column
    wrong = [names[i] for i in np.flatnonzero(columns["low"] > columns["high"])[:3]]
    require(not wrong, "low", InWords(f"a higher number for {wrong}"), "at most `high`", "Swap low and high.")
    return _Items(names, columns)


def _bins(items: _Items, edges: Sequence[float] | FloatArray, interval: str, *, title: str, subtitle: str) -> Any:
    """Shares of bins: a line across each over the band of its interval."""
    alt = need_extra("altair", "charts")
    need = f"{len(items.labels) + 1} numbers, one more than there are bins"
    require(len(edges) == len(items.labels) + 1, "edges", InWords(f"{len(edges)} numbers"), need)
    known = "truth" in items.columns
    looks = {"estimate": (ESTIMATE, ESTIMATE, "M-1.5,0L1.5,0"), interval: (INTERVAL, INTERVAL, "square")}
    looks |= {"truth": (TRUTH, "transparent", "M-1.5,0L1.5,0")} if known else {}
    key = symbols(alt, "role", looks, orient="top", symbolStrokeWidth=2.6, columnPadding=22, offset=10)
    layout = _Layout(False, None, 24.0, 640.0, 300.0)
    share = _share_axis(alt, items, layout, f"share of people in each of {len(items.labels)} bins")
    axis = alt.Axis(title="value", grid=False, ticks=True, format="~r", labelOverlap=True)
    scale = alt.Scale(domain=[float(edges[0]), float(edges[-1])], nice=False, zero=False)
    place = {"x": alt.X("start:Q", axis=axis, scale=scale), "x2": "stop:Q"}
    base = alt.Chart().encode(**place, tooltip=_tooltip(alt, known, shares=True))

    def role(name: str) -> Any:
        return base.transform_calculate(role=f"'{name}'")

    band = role(interval).mark_rect(opacity=1).encode(y=share("low"), y2="high:Q", fill=key["fill"])
    line = role("estimate").mark_rule(strokeWidth=2.4).encode(y=share("value"), stroke=key["stroke"])
    named = role("estimate").mark_point(size=0, strokeWidth=0).encode(y=share("value"), **key)  # for the legend alone
    true = [role("truth").mark_rule(strokeWidth=2.0).encode(y=share("truth"), stroke=key["stroke"])] if known else []
    starts = {"start": [float(x) for x in edges[:-1]], "stop": [float(x) for x in edges[1:]]}
    rows = [row | {n: x[i] for n, x in starts.items()} for i, row in enumerate(items.rows(None))]
    chart = alt.layer(band, *true, line, named, data=alt.Data(values=rows)).properties(width=640, height=300)
    return finish(chart, title=title, subtitle=subtitle, width=640.0)


@dataclass(frozen=True)
class _Layout:
    """Where the items stand: in rows, side by side under their names, or on an axis of numbers."""

    rows: bool
    numbers: tuple[float, ...] | None
    slot: float
    """Pixels for one item."""
    width: float
    height: float


def _layout(labels: Sequence[str]) -> _Layout:
    k = len(labels)
    numbers = _rising_numbers(labels)
    if numbers is None and k <= _MOST_ROWS:
        slot = 26.0 if k <= 20 else 19.0 if k <= 60 else 15.0
        slot = max(slot, 34.0) if any("\n" in label for label in _wrapped(labels)) else slot
        return _Layout(True, None, slot, 560.0, slot * k)
    slots = k
    if numbers is not None:
        gap = min(b - a for a, b in pairwise(numbers))
        slots = round((numbers[-1] - numbers[0]) / gap) + 1
    width = min(1100.0, max(420.0 if slots <= 9 else 540.0, 8.6 * slots))
    return _Layout(False, numbers, width / slots, width, 260.0 if slots <= 12 else 340.0)


def _rising_numbers(labels: Sequence[str]) -> tuple[float, ...] | None:
    """The labels as numbers, if they are written as such, rise, and fill at least a third of their range."""
    if len(labels) < 3:
        return None
    try:
        numbers = tuple(float(label) for label in labels)
    except ValueError:
        return None
    plain = all(f"{x:.15g}" == label for x, label in zip(numbers, labels, strict=True))
    gaps = [b - a for a, b in pairwise(numbers)]
    if not plain or not all(math.isfinite(x) for x in numbers) or min(gaps) <= 0:
        return None
    return numbers if (numbers[-1] - numbers[0]) / min(gaps) <= 3 * len(labels) else None


def _draw(items: _Items, layout: _Layout, interval: str) -> Any:
    """From back to front: zero line, intervals, truth, points; ticks too short to show past a point go on top."""
    alt = need_extra("altair", "charts")
    known = "truth" in items.columns
    line, tick = ("M-1.5,0L1.5,0", "M0,-1L0,1") if layout.rows else ("M0,-1.3L0,1.3", "M-1,0L1,0")
    looks = {"estimate": (ESTIMATE, ESTIMATE, "circle"), interval: (INTERVAL, "transparent", line)}
    looks |= {"truth": (TRUTH, "transparent", tick)} if known else {}
    place, along, until = ("y", "x", "x2") if layout.rows else ("x", "y", "y2")
    share = _share_axis(alt, items, layout)
    told = _tooltip(alt, known, shares=items.ends is None)
    base = alt.Chart().encode(**{place: _item_axis(alt, items.labels, layout)}, tooltip=told)
    key = symbols(alt, "role", looks, orient="top", symbolStrokeWidth=2.6, columnPadding=22, offset=10)
    slot = layout.slot

    def role(name: str) -> Any:
        return base.transform_calculate(role=f"'{name}'")

    zero = alt.Chart(alt.Data(values=[{}])).mark_rule(color=ZERO, strokeWidth=1)
    bar = role(interval).mark_rule(opacity=1, strokeWidth=_between(0.9, 0.5 * slot, 6))
    point = _points(role("estimate"), _between(2.0, 0.5 * slot, 8), 0)
    marks = [point.encode(**{along: share("value")}, **key)]
    if known:
        truth = _points(role("truth"), _between(2.0, 0.85 * slot, 18), _between(1.1, 0.3 * slot, 2.2))
        marks.insert(0 if slot >= 4 else 1, truth.encode(**{along: share("truth")}, **key))
    layers = [
        *([zero.encode(**{along: alt.datum(0)})] if items.ends is None else []),
        bar.encode(**{along: share("low"), until: "high:Q"}, stroke=key["stroke"]),
        *marks,
    ]
    size = {"width": layout.width, "height": alt.Step(slot) if layout.rows else layout.height}
    return alt.layer(*layers, data=alt.Data(values=items.rows(layout.numbers, wrapped=layout.rows))).properties(**size)


def _points(chart: Any, diameter: float, stroke: float) -> Any:
    return chart.mark_point(size=diameter**2, strokeWidth=stroke, opacity=1)


def _between(least: float, x: float, most: float) -> float:
    return min(most, max(least, x))


def _share_axis(alt: Any, items: _Items, layout: _Layout, named: str = "") -> Callable[[str], Any]:
    """The axis of the shares in per cent, or of the means, for any of the columns."""
    channel, ticks = (alt.X, 8) if layout.rows else (alt.Y, 6)
    text = "format(100 * datum.value, '~g') + ' %'" if items.ends is None else "format(datum.value, '~g')"
    axis = alt.Axis(labelExpr=text, tickCount=ticks, grid=True)
    scale = alt.Scale(domain=items.domain(), nice=False, **({} if items.ends is None else {"zero": False}))
    title = named or ("share of people" if items.ends is None else "mean of the values")
    return lambda column: channel(f"{column}:Q", title=title, axis=axis, scale=scale)


def _item_axis(alt: Any, labels: Sequence[str], layout: _Layout) -> Any:
    """The axis of the items; where names would overlap, every second, third, ... is shown."""
    if layout.rows:
        two = {"test": "indexof(datum.value, '\\n') >= 0", "value": "line-bottom"}  # half a line up: their middle
        axis = alt.Axis(
            title=None,
            grid=True,
            gridColor=GUIDE,
            labelLimit=300,
            labelOverlap=False,
            labelExpr="split(datum.label, '\\n')",
            labelBaseline={"condition": two, "value": "middle"},
        )
        return alt.Y("item:N", sort=None, axis=axis)
    if layout.numbers is not None:
        gap = (layout.numbers[-1] - layout.numbers[0]) / (layout.width / layout.slot - 1)
        ends = [layout.numbers[0] - gap / 2, layout.numbers[-1] + gap / 2]
        axis = alt.Axis(title="value", grid=False, ticks=True, tickMinStep=gap, format="~r", labelOverlap=True)
        return alt.X("at:Q", axis=axis, scale=alt.Scale(domain=ends, nice=False, zero=False))
    every = math.ceil(22 / layout.slot)
    named = "answers" if every == 1 else f"answers, one in {every} named"
    axis = alt.Axis(
        title=named, grid=False, values=list(_shortened(labels)[::every]), ticks=True, labelAngle=-45, labelLimit=180
    )
    return alt.X("item:N", sort=None, axis=axis, scale=alt.Scale(padding=0))


def _tooltip(alt: Any, known: bool, *, shares: bool) -> list[Any]:
    columns = {"value": "estimate", "low": "from", "high": "to"} | ({"truth": "truth"} if known else {})
    style = ".3~%" if shares else ".4~g"
    numbers = [alt.Tooltip(f"{column}:Q", title=name, format=style) for column, name in columns.items()]
    return [alt.Tooltip("label:N", title="answer"), *numbers]
