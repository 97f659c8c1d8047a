"""A plan as a chart: best guess against error, the frontier, and every design in its place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from deniable.plan.design import FORGED, Design
from deniable.present.scatter import scatter_chart

if TYPE_CHECKING:
    import altair

    from deniable.plan.frequency import Plan

__all__ = ["plan_chart"]

_KINDS = {"good": "worth a choice", "plain": "beaten by another in every respect", "out": "breaks a limit"}
_FAR = 6.0
"""Designs with so many times the least error are named, not drawn: they would press all others into a corner."""
_TOOLTIP = ("std. error", "best guess", "epsilon", "reports", "size", "operations", "forged", "why")


def plan_chart(p: Plan) -> altair.LayerChart:
    """The chart of a plan. The frontier is for a guesser without prior knowledge; under a prior it is left out."""
    r = p.request
    rows = [_row(d, "plain" if d.beaten_by else "good", d.why) for d in p.designs]
    rows += [_row(o.design, "out", o.reason) for o in p.out if o.design is not None]
    least = min(row["error"] for row in rows)
    far = [row for row in rows if row["error"] > _FAR * least]
    rows = [row for row in rows if row["error"] <= _FAR * least]
    line = [{"asr": 100 * row["asr"], "error": 100 * row["stderr"]} for row in p.frontier] if r.prior is None else []
    limits = {
        axis: 100 * r.limits[name]
        for axis, name in (("x", "asr"), ("y", "stderr"))
        if name in r.limits and r.n and r.epsilon
    }
    return scatter_chart(
        rows,
        x="asr",
        y="error",
        title=f"Designs for {r.k:,} answers: error against the best guess",
        subtitle=_subtitle(p, far),
        x_title="best guess from a report is right, %",
        y_title="standard error of an estimated share, percentage points",
        line=line,
        line_name="frontier: nothing can lie below",
        kinds=_KINDS,
        limits=limits,
        tooltip=_TOOLTIP,
    )


def _subtitle(p: Plan, far: Sequence[Mapping[str, Any]]) -> str:
    r = p.request
    n = "each with the fewest reports that do" if r.n is None else f"n = {r.n:,}"
    epsilon = "each with the least ε that does" if r.epsilon is None else f"ε = {r.epsilon:g}"
    blind = next((d.blind for d in p.designs), 1 / r.k)
    off = ", ".join(f"{row['label']} ({row['std. error']})" for row in far)
    text = f"{epsilon} · {n} · a guess without a report is right in {100 * blind:.3g} %"
    return text + (f" · off the chart: {off}" if far else "")


def _row(d: Design, kind: str, why: str) -> dict[str, Any]:
    forged = "unknown" if d.poisoning is None else f"{100 * FORGED:g} % move targets by {100 * d.poisoning:,.3g} points"
    return {
        "label": d.name,
        "kind": kind,
        "asr": 100 * d.asr,
        "error": 100 * d.stderr,
        "std. error": f"{100 * d.stderr:.4g} points",
        "best guess": f"{100 * d.asr:.4g} %",
        "epsilon": f"{d.mechanism.epsilon:g}",
        "reports": f"{d.n:,}",
        "size": f"{d.bytes:,} bytes ({d.bits:,.4g} bits)",
        "operations": "unknown" if d.work is None else f"{d.work:,.0f} per report",
        "forged": forged,
        "why": f"{d.title}: {why}",
    }
