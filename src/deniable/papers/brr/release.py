"""BRR's figures and claims about places: a map of what is reported, losses on two data sets, and running times."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.core.space import Space
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.registry import mechanism
from deniable.papers.brr.places import BUDGETS, fig8, fig8b, laws, load_places
from deniable.papers.charts import Axes, lines
from deniable.papers.paper import Claims, Context, Figure, Rows
from deniable.papers.rules import Evidence, Rule, above, at_least, at_most, below, equal
from deniable.present.maps import map_chart

if TYPE_CHECKING:
    import altair

__all__ = ["CLAIMS", "FIGURES"]

CLAIMS = Claims()
claim = CLAIMS.add

PAPER = "BRR, rule min (paper)"


# ---- the map


def _fig7(context: Context) -> Rows:
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


def _draw_fig7(rows: Rows) -> altair.TopLevelMixin:
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


def _places(part: str, what: str, compute: Callable[[Context], Rows], title: str, note: str) -> Figure:
    """A part of Fig. 8."""
    axes = Axes("epsilon", "share of the mean distance", "mechanism", "panel", y_title="mean loss / mean distance")
    told = f"Mean distance of a report from the truth over that of two random places. {note} After BRR Fig. 8."
    draw = lines(axes, f"Loss on two sets of places, {title}", told, panel="{data}, {places} places")
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


GAINS = {"Gowalla, mean reduction": 0.087, "Gowalla, largest": 0.234, "FourSquare, mean reduction": 0.067}
"""As printed."""
_AHEAD = (above("*, own region, printed, smallest", 0), above("*, any place, calibrated, smallest", 0))


@claim(
    "fig8",
    "BRR has a lower loss than L-SRR on both data sets, by so much",
    "Fig. 8, Sec. 5.3",
    GAINS,
    Rule(
        (
            *_AHEAD,
            at_least("Gowalla, own region, printed, mean reduction", GAINS["Gowalla, mean reduction"] / 1.5),
            at_most("Gowalla, own region, printed, mean reduction", GAINS["Gowalla, mean reduction"] * 1.5),
            at_least("FourSquare, own region, printed, mean reduction", GAINS["FourSquare, mean reduction"] / 1.5),
            at_most("FourSquare, own region, printed, mean reduction", GAINS["FourSquare, mean reduction"] * 1.5),
        ),
        _AHEAD,
        "it is ahead at every budget, also over all places and against calibrated L-SRR, but by another amount",
        note="the same amount: within a factor of 1.5. Places, groups of L-SRR and regions are not exactly the "
        "paper's; as printed L-SRR is not epsilon-LDP, and the restriction to regions is not either",
    ),
    "fig8b",
)
def _below_staircase(context: Context) -> Evidence:
    """Fig. 8 as in the paper (own region, L-SRR as printed), and over all places against calibrated L-SRR."""
    found: dict[str, float] = {}
    for name, figure, other in (
        ("own region, printed", "fig8b", "L-SRR, printed"),
        ("own region, calibrated", "fig8b", "L-SRR, calibrated"),
        ("any place, calibrated", "fig8", "L-SRR, calibrated"),
    ):
        for data, gains in _reductions(context.rows(figure), other).items():
            found[f"{data}, {name}, mean reduction"] = float(np.mean(gains))
            found[f"{data}, {name}, smallest"] = min(gains)
            found[f"{data}, {name}, largest"] = max(gains)
    return found


@claim(
    "fig8-largest",
    "The gain is largest at epsilon 2 on Gowalla and at epsilon 0.25 on FourSquare",
    "Sec. 5.3",
    {"Gowalla, epsilon=2": 0.234, "FourSquare, epsilon=0.25": 0.143},
    Rule(
        (equal("Gowalla, budget of the largest gain", 2), equal("FourSquare, budget of the largest gain", 0.25)),
        why="the gain grows with epsilon on both data sets; near epsilon 0 all mechanisms are alike",
    ),
    "fig8b",
)
def _largest_gain(context: Context) -> Evidence:
    """The gain over L-SRR by budget, and where it is largest."""
    found: dict[str, float] = {}
    for data, gains in _reductions(context.rows("fig8b"), "L-SRR, printed").items():
        found |= {f"{data}, epsilon={e:g}": gain for e, gain in zip(BUDGETS, gains, strict=True)}
        found[f"{data}, budget of the largest gain"] = BUDGETS[int(np.argmax(gains))]
    return found


@claim(
    "fig8-best",
    "BRR performs the best of the three across all budgets",
    "Sec. 5.3",
    "the best",
    Rule((equal("GRR: better than BRR", 0), equal("L-SRR, printed: better than BRR", 0))),
    "fig8b",
)
def _best_of_three(context: Context) -> Evidence:
    """Only places of the own region are reported, as in the paper."""
    cells = _losses(context.rows("fig8b"))
    found: dict[str, float] = {"settings": len(cells)}
    for other in ("GRR", "L-SRR, printed", "L-SRR, calibrated"):
        found[f"{other}: better than BRR"] = sum(at[other] < at[PAPER] * (1 - 1e-9) for at in cells.values())
    return found


@claim(
    "fig8-others",
    "No way to report a place is better than BRR",
    "Sec. 1, 4.2, 5.3",
    "the best",
    Rule(
        (equal("*: better than BRR", 0),),
        (equal("codebook: better than BRR", "settings"), equal("codebook: better than calibrated L-SRR", "settings")),
        "better are a codebook, everywhere, taking each report for the best place (free), and at small budgets a "
        "constant",
    ),
    "fig8",
)
def _best_of_all(context: Context) -> Evidence:
    """Any place may be reported."""
    cells = _losses(context.rows("fig8"))
    found: dict[str, float] = {"settings": len(cells)}
    for other in ("codebook", "BRR, remapped", "BRR, rule mean", "L-SRR, by rank", "best constant"):
        found[f"{other}: better than BRR"] = sum(at[other] < at[PAPER] * (1 - 1e-9) for at in cells.values())
        found[f"{other}: mean ratio to BRR"] = float(np.mean([at[other] / at[PAPER] for at in cells.values()]))
    kept = sum(at["codebook"] < at["L-SRR, calibrated"] for at in cells.values())
    return found | {"codebook: better than calibrated L-SRR": kept}


@claim(
    "lsrr-level",
    "L-SRR with c = e^epsilon is epsilon-LDP",
    "Sec. 5.3",
    "epsilon",
    Rule(
        (equal("settings beyond epsilon", 0),),
        (equal("calibrated: settings beyond epsilon", 0),),
        "groups have different sizes at different places, and so have the normalisers; calibrated it keeps epsilon",
    ),
    "fig8",
)
def _printed_level(context: Context) -> Evidence:
    """L-SRR with c = e^epsilon: its exact level; and that of the calibrated one."""
    rows = [row for row in context.rows("fig8") if str(row["mechanism"]).startswith("L-SRR, ")]
    found: dict[str, float] = {}
    for row in rows:
        if row["mechanism"] == "L-SRR, printed":
            found[f"{row['data']}, promised {row['epsilon']:g}"] = float(row["exact level"] or 0)
    for name, label in (("settings beyond epsilon", "printed"), ("calibrated: settings beyond epsilon", "calibrated")):
        own = [row for row in rows if row["mechanism"] == f"L-SRR, {label}"]
        found[name] = sum(float(row["exact level"] or 0) > float(row["epsilon"] or 0) * (1 + 1e-9) for row in own)
    return found


# ---- running times


def _designs(context: Context) -> Mapping[str, Mechanism]:
    places = load_places(context, "Gowalla").points[:500]
    space = Space.vectors(places)
    return {
        "GRR": mechanism("grr", epsilon=1.0, k=len(places)),
        "BRR": mechanism("brr", epsilon=1.0, distances=space, rule="min"),
        "L-SRR": mechanism("lsrr", epsilon=1.0, distances=space),
        "codebook": mechanism("codebook", epsilon=1.0, distances=space),
    }


def _fig12(context: Context) -> Rows:
    """Seconds for all users together, best of three; the tables of a design are made beforehand."""
    designs = context.once(_designs)
    rows: list[dict[str, str | int | float]] = []
    for users in (1_000, 3_000, 10_000, 100_000) if context.quick else (1_000, 3_000, 10_000, 100_000, 1_000_000):
        for label, made in designs.items():
            items = context.stream(f"users {users}").generator().integers(0, made.k, users)
            seconds = min(_time(made, items) for _ in range(3))
            rows.append(
                {
                    "data": load_places(context, "Gowalla").name,
                    "mechanism": label,
                    "places": made.k,
                    "users": users,
                    "seconds": seconds,
                    "microseconds each": 1e6 * seconds / users,
                }
            )
    return rows


def _time(made: Mechanism, items: Any) -> float:
    """Seconds of one run with secure randomness."""
    start = time.perf_counter()
    made.privatize_items(items)
    return time.perf_counter() - start


_draw_fig12 = lines(
    Axes("users", "seconds", "mechanism", log="xy"),
    "Time to perturb the places of many users",
    lambda rows: (
        f"{rows[0]['places']} places, users drawn at random, ε = 1, secure randomness, on this machine: best of three "
        "runs. After BRR Fig. 12."
    ),
)


@claim(
    "fig12",
    "GRR takes little time, BRR more, L-SRR more than BRR",
    "Fig. 12, App. B.4",
    "GRR, BRR, L-SRR",
    Rule(
        (below("GRR over BRR, most users", 1), above("L-SRR over BRR, most users", 1)),
        note="times on this machine, best of three runs, tables made beforehand",
    ),
    "fig12",
)
def _order_of_times(context: Context) -> Evidence:
    """Seconds of GRR and L-SRR over those of BRR, at the largest number of users."""
    seconds = _seconds(context)
    most = max(users for _, users in seconds)
    found = {f"{label}, {most} users, seconds": seconds[label, most] for label in ("GRR", "BRR", "L-SRR")}
    for label in ("GRR", "L-SRR"):
        found[f"{label} over BRR, most users"] = seconds[label, most] / seconds["BRR", most]
    return found


PRINTED_SECONDS = {"seconds of a user": 0.03, "seconds of 3000 users": 4.0}


@claim(
    "fig12-seconds",
    "A user needs 0.03 s, 3,000 users of FourSquare 4 s",
    "Fig. 12, App. B.4",
    PRINTED_SECONDS,
    Rule(
        tuple(at_least(name, value / 10) for name, value in PRINTED_SECONDS.items()),
        why="it takes less than a tenth of that here: what the paper measures is its program, not the mechanism",
        note="times on this machine; the same: within a factor of 10 below what is printed",
    ),
    "fig12",
)
def _fast(context: Context) -> Evidence:
    """Seconds for 3,000 users together, and for one of them."""
    seconds = _seconds(context)
    return {"seconds of a user": seconds["BRR", 3000] / 3000, "seconds of 3000 users": seconds["BRR", 3000]}


def _seconds(context: Context) -> dict[tuple[str, int], float]:
    return {(str(r["mechanism"]), int(r["users"] or 0)): float(r["seconds"] or 0) for r in context.rows("fig12")}


FIGURES = (
    Figure("fig7", "A map of what is reported from one place", "Fig. 7", _fig7, _draw_fig7),
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
        "Not ε-LDP: the region is given away.",
    ),
    Figure("fig12", "Running times", "Fig. 12", _fig12, _draw_fig12),
)
