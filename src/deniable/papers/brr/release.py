"""BRR's figures and claims about places: their regions, a map of what is reported, and losses on two data sets."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from deniable.errors import require
from deniable.papers.brr.places import BUDGETS, fig8, fig8b, laws, load_places
from deniable.papers.charts import Axes, lines
from deniable.papers.evidence import Evidence, Missing
from deniable.papers.paper import Context, Figure, Measures, Rows
from deniable.papers.rules import EXACT
from deniable.present.maps import map_chart, regions_chart

if TYPE_CHECKING:
    import altair

__all__ = ["FIGURES", "measures"]

measures = Measures()

PAPER = "BRR, rule min (paper)"


# ---- maps


def _fig7(context: Context) -> Rows:
    """The places of both data sets with their regions."""
    rows: list[dict[str, str | int | float]] = []
    for name in ("Gowalla", "FourSquare"):
        places = load_places(context, name)
        rows += [
            {
                "data": places.name,
                "x": float(x),
                "y": float(y),
                "region": int(region) + 1,
                "unit": places.losses.unit or "units",
            }
            for (x, y), region in zip(places.points.tolist(), places.regions, strict=True)
        ]
    return rows


def _draw_fig7(rows: Rows) -> altair.TopLevelMixin:
    maps = {}
    for name in dict.fromkeys(str(row["data"]) for row in rows):
        own = [row for row in rows if row["data"] == name]
        sizes = np.bincount([int(row["region"] or 0) for row in own])[1:]
        title = f"{name}: {len(own):,} places, {len(sizes)} regions of {sizes.min()} to {sizes.max()}"
        maps[title] = ([[r["x"], r["y"]] for r in own], [r["region"] for r in own], own[0]["unit"] == "km")
    return regions_chart(
        maps,
        title="Places of two data sets, divided into regions",
        subtitle="Regions are cells of map tiles, with a prefix of their codes in common; the number is that of the "
        "region. After BRR Fig. 7.",
    )


@measures("fig7")
def _region_sizes(context: Context) -> Evidence | Missing:
    """Regions of the paper's own places, by the published rule: the smallest tile with at least 6 places."""
    if load_places(context, "Gowalla").name != "Gowalla":
        return Missing("it needs the file gowalla_brr_1000.csv.gz in the data folder")
    found: dict[str, float] = {}
    for name in ("Gowalla", "FourSquare"):
        sizes = [members.size for members in load_places(context, name).members]
        found |= {f"{name}, regions": len(sizes), f"{name}, smallest": min(sizes), f"{name}, largest": max(sizes)}
    return found


def _fig7b(context: Context) -> Rows:
    """From one place of Gowalla, what is reported how often; and the regions."""
    places = load_places(context, "Gowalla")
    middle = np.median(places.points, axis=0)
    own = int(((places.points - middle) ** 2).sum(axis=1).argmin())
    chances = laws(places, 2.0, own)
    return [
        {
            "data": places.name,
            "x": float(x),
            "y": float(y),
            "region": int(places.regions[i]),
            "own": int(i == own),
            **{name: float(law[i]) for name, law in chances.items()},
        }
        for i, (x, y) in enumerate(places.points.tolist())
    ]


def _draw_fig7b(rows: Rows) -> altair.TopLevelMixin:
    known = ("data", "x", "y", "region", "own")
    panels = {name: [row[name] for row in rows] for name in rows[0] if name not in known}
    regions = len({row["region"] for row in rows})
    return map_chart(
        [[row["x"], row["y"]] for row in rows],
        panels,
        own=next(i for i, row in enumerate(rows) if row["own"]),
        globe=False,
        title="What is reported from one place (the cross)",
        subtitle=f"{len(rows)} places of {rows[0]['data']}, ε = 2. Reports from the own region only (one of {regions}, "
        "as in BRR Fig. 7) give the region away; BRR over all places and the codebook do not.",
    )


# ---- losses


def _places(
    part: str,
    what: str,
    compute: Callable[[Context], Rows],
    title: str,
    note: str,
    panel: str = "{data}, {places} places",
) -> Figure:
    """A part of Fig. 8."""
    axes = Axes(
        "epsilon", "share of the mean distance", "mechanism", "panel", y_title="mean loss / mean distance of two places"
    )
    told = f"Mean distance of a report from the truth over that of two random places. {note} After BRR Fig. 8."
    draw = lines(axes, f"Loss on two sets of places, {title}", told, panel=panel)
    return Figure(part, what, "Fig. 8", compute, draw)


def _losses(rows: Rows) -> dict[tuple[str, float], dict[str, float]]:
    cells: dict[tuple[str, float], dict[str, float]] = {}
    for row in rows:
        at = (str(row["data"]).split()[0], float(row["epsilon"] or 0))
        cells.setdefault(at, {})[str(row["mechanism"])] = float(row["loss"] or 0)
    return cells


def _reductions(rows: Rows, other: str) -> dict[str, list[float]]:
    """By how much BRR is below another one, for each data set over the budgets."""
    found: dict[str, list[float]] = {}
    for (data, _), at in _losses(rows).items():
        found.setdefault(data, []).append(1 - at[PAPER] / at[other])
    return found


_DATA = ("Gowalla", "FourSquare")
_GROUPS = {"best groups": "L-SRR, printed", "other groups": "L-SRR, printed, other groups"}


@measures("fig8")
def _below_staircase(context: Context) -> Evidence:
    """Fig. 8 as in the paper (own region, L-SRR as printed), and over all places against calibrated L-SRR."""
    found: dict[str, float] = {}
    for name, figure, other in (
        *((f"own region, {groups}", "fig8b", label) for groups, label in _GROUPS.items()),
        ("own region, calibrated", "fig8b", "L-SRR, calibrated"),
        ("any place, calibrated", "fig8", "L-SRR, calibrated"),
    ):
        for data, gains in _reductions(context.rows(figure), other).items():
            found[f"{data}, {name}, mean reduction"] = float(np.mean(gains))
            found[f"{data}, {name}, smallest"] = min(gains)
            found[f"{data}, {name}, largest"] = max(gains)
    for data in _DATA:
        best, worst = (found[f"{data}, own region, {groups}, mean reduction"] for groups in _GROUPS)
        found[f"{data}, own region, what the groups change"] = worst - best
    return found


@measures("fig8-largest")
def _largest_gain(context: Context) -> Evidence:
    """The gain over L-SRR by budget, and where it is largest."""
    found: dict[str, float] = {}
    for groups, label in _GROUPS.items():
        for data, gains in _reductions(context.rows("fig8b"), label).items():
            found |= {f"{data}, epsilon={e:g}, {groups}": gain for e, gain in zip(BUDGETS, gains, strict=True)}
            found[f"{data}, budget of the largest gain, {groups}"] = BUDGETS[int(np.argmax(gains))]
    return found


@measures("fig8-falls")
def _falls(context: Context) -> Evidence:
    """From each budget to the next, on both data sets, the three schemes as in the paper."""
    cells = _losses(context.rows("fig8b"))
    steps = [
        (cells[data, a][scheme], cells[data, b][scheme])
        for data in _DATA
        for a, b in pairwise(BUDGETS)
        for scheme in ("GRR", "L-SRR, printed", PAPER)
    ]
    return {"steps": len(steps), "steps in which a loss does not fall": sum(b >= a for a, b in steps)}


@measures("fig8-best")
def _best_of_three(context: Context) -> Evidence:
    """Only places of the own region are reported, as in the paper."""
    cells = _losses(context.rows("fig8b"))
    found: dict[str, float] = {"settings": len(cells)}
    for other in ("GRR", "L-SRR, printed", "L-SRR, calibrated"):
        found[f"{other}: better than BRR"] = sum(at[other] < at[PAPER] * (1 - 1e-9) for at in cells.values())
    return found


@measures("fig8-others")
def _best_of_all(context: Context) -> Evidence:
    """Any place may be reported."""
    cells = _losses(context.rows("fig8"))
    found: dict[str, float] = {"settings": len(cells)}
    for other in ("codebook", "BRR, remapped", "BRR, rule mean", "L-SRR, by rank", "best constant"):
        found[f"{other}: better than BRR"] = sum(at[other] < at[PAPER] * (1 - 1e-9) for at in cells.values())
        found[f"{other}: mean ratio to BRR"] = float(np.mean([at[other] / at[PAPER] for at in cells.values()]))
    kept = sum(at["codebook"] < at["L-SRR, calibrated"] for at in cells.values())
    return found | {"codebook: better than calibrated L-SRR": kept}


@measures("lsrr-level")
def _printed_level(context: Context) -> Evidence:
    """L-SRR with c = e^epsilon: its exact level; and that of the calibrated one."""
    found: dict[str, float] = {}
    for label, before in (("printed", ""), ("calibrated", "calibrated: ")):
        rows = [row for row in context.rows("fig8") if row["mechanism"] == f"L-SRR, {label}"]
        spent = {(str(row["data"]), row["epsilon"]): row["exact level"] for row in rows}
        levels = {at: level for at, level in spent.items() if isinstance(level, float)}
        require(len(levels) == len(rows) > 0, "exact level", spent, "a number for every setting")
        found |= {f"{before}{data}, promised {epsilon:g}": level for (data, epsilon), level in levels.items()}
        beyond = [at for at, level in levels.items() if level > float(at[1] or 0) * (1 + EXACT)]
        found[f"{before}settings beyond epsilon"] = len(beyond)
    return found


FIGURES = (
    Figure("fig7", "Two maps of places, divided into regions", "Fig. 7", _fig7, _draw_fig7),
    Figure("fig7b", "A map of what is reported from one place", "Fig. 7", _fig7b, _draw_fig7b),
    _places(
        "fig8",
        "Losses on two sets of places, any place reported",
        fig8,
        "any place may be reported",
        "All keep ε but L-SRR as printed (the table has its exact level).",
    ),
    _places(
        "fig8b",
        "Losses if only places of the own region are reported",
        fig8b,
        "reports from the own region only",
        "Not ε-LDP: the region is given away. L-SRR with the best and the worst of four groupings.",
        "{data}, {places} places in {regions} regions",
    ),
)
