"""Plans as charts: designs between two quantities that should be small, and the frontier where it is known."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.errors import require
from deniable.plan.prediction import FORGED, Prediction
from deniable.plan.scoring import rounded
from deniable.present.scatter import scatter_chart

if TYPE_CHECKING:
    import altair

    from deniable.plan.frequency import FrequencyPlan, FrequencyPrediction
    from deniable.plan.keyvalue import KeyValuePlan, KeyValuePrediction

__all__ = ["answer_chart", "keyvalue_chart", "plan_chart", "reason"]

_KINDS = {
    "good": "worth a choice",
    "cost": "only for bytes, work or forged reports",
    "plain": "beaten by another",
    "out": "breaks a limit",
}
_FAR, _FAR_EITHER = 6.0, 4.0
"""Designs with so many times the least error are named, not drawn: they would press all others into a corner."""
_POINTS = 400
_SAME = 1 - 1e-3
"""What is less by more than that is less."""
_FRONTIER = "frontier: nothing can lie below"


def answer_chart(rows: Sequence[Mapping[str, Any]], *, x: str, y: str, **more: Any) -> altair.LayerChart:
    """Designs as points between two columns of their rows; the further columns are shown when pointed at."""
    _some(rows)
    tooltip = [name for name in rows[0] if name not in (x, y, "label", "kind")]
    placed = [_placed(row, x, y) for row in rows]
    line = [_placed(point, x, y) for point in more.pop("line", ())]
    return scatter_chart(placed, x=x, y=y, line=line, line_name=_FRONTIER, kinds=_KINDS, tooltip=tooltip, **more)


def _placed(row: Mapping[str, Any], *axes: str) -> dict[str, Any]:
    """The row with its place rounded to what can be seen and more: last bits differ from machine to machine."""
    return {**row, **dict(zip(axes, rounded(row[name] for name in axes), strict=True))}


def _some(rows: Sequence[Any]) -> None:
    """Refuse to draw nothing."""
    require(len(rows) > 0, "designs", 0, "at least one", "There is nothing to draw.")


def reason(d: Prediction[Any]) -> dict[str, str]:
    """The last columns of a design's row: what kind of point it is, and why."""
    return {"kind": "plain" if d.beaten_by else "good", "why": f"{d.title}: {d.why}"}


def _costs(d: FrequencyPrediction | KeyValuePrediction) -> dict[str, str]:
    """What is shown of a design when it is pointed at."""
    forged = "unknown" if d.poisoning is None else f"{100 * FORGED:g} % move targets by {100 * d.poisoning:,.3g} points"
    return {
        "size": f"{d.bytes:,} bytes ({d.bits:,.4g} bits)",
        "operations": "unknown" if d.work is None else f"{d.work:,.0f} per report",
        "forged": forged,
    }


# ---- frequencies: best guess against error


def plan_chart(p: FrequencyPlan) -> altair.LayerChart:
    """The chart of a plan. The frontier is for a guesser without prior knowledge; under a prior it is left out."""
    asked = p.request
    rows = _by_cost([_row(d) for d in p.designs], "asr", "error")
    rows += [_row(o.design) | {"kind": "out", "why": f"{o.title}: {o.reason}"} for o in p.out if o.design is not None]
    _some(rows)
    least = min(row["error"] for row in rows)
    far = [row for row in rows if row["error"] > _FAR * least]
    edge = p.frontier if asked["prior"] == "uniform" else ()
    limits = {
        axis: 100 * p.limits[name]
        for axis, name in (("x", "asr"), ("y", "stderr"))
        if name in p.limits and asked["n"] and asked["epsilon"]
    }
    return answer_chart(
        [row for row in rows if row["error"] <= _FAR * least],
        x="asr",
        y="error",
        title=f"Designs for {asked['k']:,} answers: error against the best guess",
        subtitle=_subtitle(p, far),
        x_title="best guess from a report is right, %",
        y_title="standard error of an estimated share, percentage points",
        line=[{"asr": 100 * row["asr"], "error": 100 * row["stderr"]} for row in edge],
        limits=limits,
    )


def _by_cost(rows: Sequence[dict[str, Any]], *axes: str) -> list[dict[str, Any]]:
    """The rows; what another one beats on all axes, beyond rounding, is worth a choice for what they do not show."""
    good = [row for row in rows if row["kind"] == "good"]
    behind = [row for row in good if any(all(other[a] < row[a] * _SAME for a in axes) for other in good)]
    return [row | {"kind": "cost"} if row in behind else row for row in rows]


def _subtitle(p: FrequencyPlan, far: Sequence[Mapping[str, Any]]) -> str:
    asked = p.request
    n = "each with the fewest reports that do" if asked["n"] is None else f"n = {asked['n']:,}"
    epsilon = "each with the least ε that does" if asked["epsilon"] is None else f"ε = {asked['epsilon']:g}"
    epsilon = "each as it keeps the promise" if "promise" in asked else epsilon
    blind = next((d.blind for d in p.designs), 1 / asked["k"])
    off = ", ".join(f"{row['label']} ({row['std. error']})" for row in far)
    text = f"{epsilon} · {n} · a guess without a report is right {100 * blind:.3g} % of the time"
    return text + (f" · off the chart: {off}" if far else "")


def _row(d: Any) -> dict[str, Any]:
    return {
        "label": d.name,
        "asr": 100 * d.asr,
        "error": 100 * d.stderr,
        "std. error": f"{100 * d.stderr:.4g} points",
        "best guess": f"{100 * d.asr:.4g} %",
        "epsilon": f"{d.mechanism.epsilon:g}",
        "reports": f"{d.n:,}",
        **_costs(d),
        **reason(d),
    }


# ---- key-value data: error of frequencies against error of means


def keyvalue_chart(p: KeyValuePlan) -> altair.LayerChart:
    """The chart of a plan with at least one design."""
    _some(p.designs)
    rows = [_pair_row(d) for d in p.designs]
    least = {axis: min(row[axis] for row in rows) for axis in ("mean", "frequency")}
    near = [row for row in rows if all(row[axis] <= _FAR_EITHER * least[axis] for axis in least)]
    far = ", ".join(row["label"] for row in rows if row not in near)
    ends = [scale * row["mean"] for row in near for scale in (0.9, 1.1)]
    line = [
        {"mean": 100 * math.sqrt(row["variance_mean"]), "frequency": 100 * math.sqrt(row["variance"])}
        for row in p.least((np.linspace(min(ends), max(ends), _POINTS) / 100) ** 2)
        if row["variance"] > 0
    ]
    asked = p.request
    notes = [f"ε = {asked['epsilon']:g}", f"n = {asked['n']:,}"]
    if asked["length"] is not None:
        notes.append(f"up to {asked['length']} pairs per person; the frontier is that of one pair")
    notes += [f"off the chart: {far}"] if far else []
    return answer_chart(
        near,
        x="mean",
        y="frequency",
        title=f"Key-value designs for {asked['k']:,} keys: frequencies against means",
        subtitle=" · ".join(notes),
        x_title="standard error of frequency times mean, percentage points",
        y_title="standard error of a frequency, percentage points",
        line=line,
    )


def _pair_row(d: KeyValuePrediction) -> dict[str, Any]:
    return {
        "label": d.name + (" cyclic" if d.options.get("encoding") else ""),
        "mean": 100 * math.sqrt(d.variance_mean),
        "frequency": 100 * d.stderr,
        "std. error": f"{100 * d.stderr:.4g} points",
        "best guess": f"{100 * d.asr:.4g} %",
        "rarest key": f"{100 * d.rarest:.3g} % of the people for a mean within a tenth of the range",
        **_costs(d),
        **reason(d),
    }
