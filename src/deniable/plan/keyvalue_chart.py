"""A key-value plan as a chart: error of frequencies against error of means, the frontier, every design in its place."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.plan.design import FORGED
from deniable.present.scatter import scatter_chart

if TYPE_CHECKING:
    import altair

    from deniable.plan.keyvalue import PairDesign, PairPlan

__all__ = ["pairs_chart"]

_KINDS = {"good": "worth a choice", "plain": "beaten by another in every respect"}
_FAR = 4.0
"""Designs with so many times the least error in either are named, not drawn: they would press others into a corner."""
_POINTS = 400
_TOOLTIP = ("std. error", "rarest key", "size", "operations", "forged", "why")


def pairs_chart(p: PairPlan) -> altair.LayerChart:
    """The chart of a plan with at least one design."""
    rows = [_row(d) for d in p.designs]
    least = {axis: min(row[axis] for row in rows) for axis in ("mean", "frequency")}
    near = [row for row in rows if all(row[axis] <= _FAR * least[axis] for axis in least)]
    far = ", ".join(row["label"] for row in rows if row not in near)
    ends = [scale * row["mean"] for row in near for scale in (0.9, 1.1)]
    line = [
        {"mean": 100 * math.sqrt(row["variance_mean"]), "frequency": 100 * math.sqrt(row["variance"])}
        for row in p.least((np.linspace(min(ends), max(ends), _POINTS) / 100) ** 2)
        if row["variance"] > 0
    ]
    several = "" if p.length is None else f" · up to {p.length} pairs per person; the frontier is that of one pair"
    return scatter_chart(
        near,
        x="mean",
        y="frequency",
        title=f"Key-value designs for {p.domain.k:,} keys: frequencies against means",
        subtitle=f"ε = {p.epsilon:g} · n = {p.n:,}{several}" + (f" · off the chart: {far}" if far else ""),
        x_title="standard error of frequency times mean, percentage points",
        y_title="standard error of a frequency, percentage points",
        line=line,
        line_name="frontier: nothing can lie below",
        kinds=_KINDS,
        tooltip=_TOOLTIP,
    )


def _row(d: PairDesign) -> dict[str, Any]:
    return {
        "label": d.name + (" cyclic" if d.options.get("encoding") else ""),
        "kind": "plain" if d.beaten_by else "good",
        "mean": 100 * math.sqrt(d.variance_mean),
        "frequency": 100 * d.stderr,
        "std. error": f"{100 * d.stderr:.4g} points",
        "rarest key": f"{100 * d.rarest:.3g} % of the people for a mean within a tenth of the range",
        "size": f"{d.bytes:,} bytes ({d.bits:,.4g} bits)",
        "operations": f"{d.work:,.0f} per report",
        "forged": f"{100 * FORGED:g} % move targets by {100 * d.poisoning:,.3g} points",
        "why": f"{d.title}: {d.why}",
    }
