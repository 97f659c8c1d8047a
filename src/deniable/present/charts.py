"""Charts of estimates and of experiments, and how to save them.

They are Altair charts: show them in a notebook, change them, or write them with `save` as HTML that needs no
network, PNG, SVG or JSON. The extra `charts` brings what is needed.
"""

from __future__ import annotations

from deniable.present.estimates import estimate_chart
from deniable.present.export import save
from deniable.present.heat import channel_chart, promise_chart
from deniable.present.lines import line_chart
from deniable.present.maps import map_chart
from deniable.present.scatter import scatter_chart

__all__ = [
    "caption",
    "channel_chart",
    "estimate_chart",
    "line_chart",
    "map_chart",
    "promise_chart",
    "save",
    "scatter_chart",
]


def caption(mechanism: str, *, epsilon: float, n: int, simulated: bool = False) -> str:
    """A subtitle that says where an estimate comes from.

    >>> caption("olh", epsilon=1.0, n=48842, simulated=True)
    'olh · ε = 1 · n = 48,842 · simulated'
    """
    return f"{mechanism} · ε = {epsilon:g} · n = {n:,}" + (" · simulated" if simulated else "")
