"""Small tables for notebooks: what an object holds, with bars beside its numbers. All text is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape as escaped
from typing import Any, NamedTuple

import numpy as np

from deniable.core.types import FloatArray
from deniable.present.clean import clean
from deniable.present.tables import Table

__all__ = ["Bar", "bars_html", "counts_html", "facts_html", "parts_html", "scaled"]

_MOST = 12
"""Rows that are shown; of more the rest is counted."""
_PROSE = 30
"""Characters of a cell that is a sentence rather than a number."""
_CELL = "padding:1px 8px;text-align:{side};vertical-align:top"
_TRACK = "position:relative;width:10em;height:0.8em;margin-top:0.25em"
_FILL = "position:absolute;top:0;height:100%;left:{left:.2f}%;width:{width:.2f}%;background:{colour}"
_SOLID, _FAINT = "#4c78a8", "rgba(245,133,24,0.55)"


def escape(text: str) -> str:
    """Text for HTML, without what cannot be drawn."""
    return escaped(clean(text))


class Bar(NamedTuple):
    """A number as the length of a bar, and the interval around it where there is one; all from 0 to 1."""

    value: float
    low: float | None = None
    high: float | None = None


def facts_html(title: str, facts: Mapping[str, object], *, simulated: bool = False, bar: Bar | None = None) -> str:
    """Facts by name; `bar` stands beside the first of them."""
    bars = None if bar is None else [bar, *[None] * (len(facts) - 1)]
    return bars_html(title, ("", ""), [(name, str(fact)) for name, fact in facts.items()], bars, simulated=simulated)


def counts_html(title: str, counts: Iterable[tuple[str, Any, Sequence[object]]], *, simulated: bool = False) -> str:
    """Counts with bars: what is counted, how often, and the names of the entries, if there are as many."""
    blocks = []
    for name, found, names in counts:
        cells = np.asarray(found).ravel()
        known = names if len(names) == cells.size else range(cells.size)
        largest = max(1, int(np.abs(cells).max(initial=0)))
        rows = [(str(label), f"{int(x):,}") for label, x in zip(known, cells[:_MOST], strict=False)]
        bars = [Bar(abs(int(x)) / largest) for x in cells[:_MOST]]
        blocks.append(_table(("", name), rows, bars, cells.size))
    return _framed(title, "".join(blocks), simulated)


def bars_html(
    title: str,
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    bars: Sequence[Bar | None] | None = None,
    *,
    simulated: bool = False,
    notes: Sequence[str] = (),
) -> str:
    """A table under a title, with a bar at the end of each row if there are any."""
    below = "".join(f"<p style='margin:2px 8px'>{escape(note)}</p>" for note in notes)
    return _framed(title, _table(head, rows[:_MOST], bars, len(rows)) + below, simulated)


def parts_html(title: str, parts: Sequence[Table | str], bars: Sequence[Bar | None] | None = None) -> str:
    """Texts and tables, one after the other; bars go with the first table."""
    blocks = []
    for part in parts:
        if isinstance(part, str):
            blocks.append(f"<p style='margin:2px 8px'>{escape(part)}</p>")
        else:
            blocks.append(_table([c.title for c in part.columns], part.rows[:_MOST], bars, len(part.rows)))
            bars = None
    return _framed(title, "".join(blocks), False)


def scaled(value: FloatArray, low: FloatArray, high: FloatArray) -> list[Bar]:
    """Estimates with intervals on one scale from zero to the largest end."""
    most = float(np.nanmax(high, initial=0.0)) or 1.0
    cut = [np.clip(np.nan_to_num(x / most), 0.0, 1.0).tolist() for x in (value, low, high)]
    return [Bar(*row) for row in zip(*cut, strict=True)]


def _framed(title: str, body: str, simulated: bool) -> str:
    mark = " <b style='color:#b22'>SIMULATED: not private</b>" if simulated else ""
    return f"<div class='deniable'><p style='margin:2px 8px'><b>{escape(title)}</b>{mark}</p>{body}</div>"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], bars: Any, total: int) -> str:
    names = "".join(_cell("th", title, first=i == 0) for i, title in enumerate(head)) if any(head) else ""
    lines = [f"<thead><tr>{names}</tr></thead>"] if names else []
    for number, row in enumerate(rows):
        cells = "".join(_cell("td", cell, first=i == 0) for i, cell in enumerate(row))
        lines.append(f"<tr>{cells}{_drawn(bars[number]) if bars is not None else ''}</tr>")
    if total > len(rows):
        lines.append(f"<tr><td colspan='{len(head) + 1}'>and {total - len(rows):,} more</td></tr>")
    return f"<table style='border-collapse:collapse'>{''.join(lines)}</table>"


def _cell(tag: str, text: str, *, first: bool) -> str:
    """Numbers stand at the right; names, and what is too long for a number, at the left."""
    side = "left" if first or len(text) > _PROSE else "right"
    return f"<{tag} style='{_CELL.format(side=side)}'>{escape(text)}</{tag}>"


def _drawn(bar: Bar | None) -> str:
    if bar is None:
        return "<td></td>"
    parts = [_FILL.format(left=0.0, width=100 * bar.value, colour=_SOLID)]
    if bar.low is not None and bar.high is not None:
        parts.append(_FILL.format(left=100 * bar.low, width=100 * (bar.high - bar.low), colour=_FAINT))
    inner = "".join(f"<div style='{part}'></div>" for part in parts)
    return f"<td><div style='{_TRACK}'>{inner}</div></td>"
