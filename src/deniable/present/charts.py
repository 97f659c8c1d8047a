"""Charts of estimates and of experiments, and how to save them.

They are Altair charts: show them in a notebook, change them, or write them with `save` as HTML that needs no
network, PDF, PNG, SVG or JSON. The extra `charts` brings what is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from deniable.errors import need_extra
from deniable.present.estimates import estimate_chart
from deniable.present.export import save
from deniable.present.heat import channel_chart, promise_chart
from deniable.present.lines import line_chart
from deniable.present.maps import map_chart
from deniable.present.scatter import scatter_chart
from deniable.present.theme import finish

__all__ = [
    "caption",
    "channel_chart",
    "estimate_chart",
    "line_chart",
    "map_chart",
    "panels",
    "promise_chart",
    "save",
    "scatter_chart",
    "stacked",
]

_WIDE = 640
"""Pixels that the heading of several charts may take."""


def caption(mechanism: str, *, epsilon: float, n: int, simulated: bool = False) -> str:
    """A subtitle that says where an estimate comes from.

    >>> caption("olh", epsilon=1.0, n=48842, simulated=True)
    'olh · ε = 1 · n = 48,842 · simulated'
    """
    return f"{mechanism} · ε = {epsilon:g} · n = {n:,}" + (" · simulated" if simulated else "")


def panels(charts: Sequence[Any], *, title: str, subtitle: str = "") -> Any:
    """Small charts of the same series, two side by side under one heading, with one legend."""
    alt: Any = need_extra("altair", "charts")
    bare = [chart.copy(deep=False) for chart in charts]
    for chart in bare:
        chart.config = chart.title = alt.Undefined  # the whole has them
    whole = bare[0] if len(bare) == 1 else alt.concat(*bare, columns=2, spacing=36)
    return finish(whole, title=title, subtitle=subtitle, width=_WIDE)


def stacked(charts: Sequence[Any], *, title: str, subtitle: str = "") -> Any:
    """Several charts below each other under one heading, each with its own axes."""
    alt: Any = need_extra("altair", "charts")
    bare = [chart.copy(deep=False) for chart in charts]
    for chart in bare:
        chart.config = alt.Undefined  # the whole has it
    whole = alt.vconcat(*bare, spacing=36).resolve_scale(x="independent", y="independent", color="independent")
    return finish(whole, title=title, subtitle=subtitle, width=_WIDE)
