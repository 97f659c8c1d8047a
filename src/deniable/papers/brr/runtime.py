"""BRR's running times: on the paper's axes, one user after the other, and for many users by the library's tables."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np

from deniable.core.laws import epsilon_to
from deniable.core.space import Space
from deniable.core.types import FloatArray, IntArray
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.metric.bipartite import choose_m, two_level
from deniable.mechanisms.metric.losses import MatrixLosses
from deniable.mechanisms.registry import mechanism
from deniable.papers.brr.places import load_places, mean_row, some_places
from deniable.papers.brr.regions import tile_codes
from deniable.papers.charts import Axes, lines
from deniable.papers.evidence import Evidence, Sampled
from deniable.papers.paper import Context, Figure, Measures, Rows, fewest_runs

__all__ = ["FIGURES", "measures"]

measures = Measures()

Uniform: TypeAlias = Callable[[], float]
"""Numbers from 0 to 1, one at a time."""

_EPSILON = 1.0
_STEPS = 3
"""Groups of L-SRR; places of the first share four levels of the tree more than all places of the region do."""
_DATA = ("Gowalla", "FourSquare")


# ---- one user after the other


class _Region:
    """The places of a region, their distances and codes: what is there before the clock starts."""

    def __init__(self, table: FloatArray, codes: IntArray) -> None:
        self.table, self.codes, self.size = table, codes, len(codes)
        self.common = _shared(codes, int(codes[0])).min()

    def grr(self, users: Iterable[int], draw: Uniform) -> list[int]:
        """The truth, or any place."""
        high, low = two_level(*epsilon_to(_EPSILON), 1, self.size)
        kept = (high - low) * 1.0
        return [own if draw() < kept else int(draw() * self.size) for own in users]

    def brr(self, users: Iterable[int], draw: Uniform) -> list[int]:
        """m by Algorithm 2; then for each user the m nearest places, one of which is reported, or any place."""
        m = choose_m(MatrixLosses(self.table), _EPSILON, "min")
        high, low = two_level(*epsilon_to(_EPSILON), m, self.size)
        near = (high - low) * m
        found = []
        for own in users:
            nearest = np.argpartition(self.table[own], m - 1)[:m]
            one = draw() < near
            found.append(int(nearest[int(draw() * m)]) if one else int(draw() * self.size))
        return found

    def lsrr(self, users: Iterable[int], draw: Uniform) -> list[int]:
        """For each user the groups by common prefix, the law over all places, and a report."""
        heights = np.linspace(math.exp(_EPSILON), 1, _STEPS)
        found = []
        for own in users:
            more = _shared(self.codes, int(self.codes[own])) - self.common
            law = np.cumsum(heights[np.clip(_STEPS - 1 - more // 2, 0, _STEPS - 1)])
            found.append(int(np.searchsorted(law, draw() * law[-1], side="right")))
        return found


def _shared(codes: IntArray, own: int) -> IntArray:
    """Levels of the tree of tiles that each code has in common with one of them."""
    apart = np.frexp((codes ^ own).astype(np.float64))[1]
    return np.asarray(23 - (apart + 1) // 2)


_WAYS: Mapping[str, Callable[[_Region, Iterable[int], Uniform], list[int]]] = {
    "GRR": _Region.grr,
    "BRR": _Region.brr,
    "L-SRR": _Region.lsrr,
}


def _fig12(context: Context) -> Rows:
    """Seconds of processor time for a share of the users, one of them at each place; regions are made beforehand."""
    runs = 6 if context.quick else 12
    rows: list[dict[str, str | int | float | None]] = []
    for name in _DATA:
        places = load_places(context, name)
        codes = tile_codes(places.points)
        regions = [_Region(places.losses.table[np.ix_(own, own)], codes[own]) for own in places.members]
        draw = context.stream(f"users of {name}").generator()
        times: dict[tuple[str, int], list[float]] = {}
        for run in range(runs + 1):  # the first one warms up
            order = [draw.permutation(region.size).tolist() for region in regions]
            for percent in range(10, 101, 10):
                chosen = [own[: max(1, len(own) * percent // 100)] for own in order]
                for label, way in _WAYS.items():
                    seconds = _seconds(way, regions, chosen, draw.random)
                    if run:
                        times.setdefault((label, percent), []).append(seconds)
        for (label, percent), seen in times.items():
            row = mean_row(places.name, _EPSILON, label, seen)
            rows.append({**row, "users, percent": percent, "users": len(codes) * percent // 100})
    return rows


def _seconds(way: Any, regions: list[_Region], chosen: list[list[int]], draw: Uniform) -> float:
    start = time.process_time()
    for region, users in zip(regions, chosen, strict=True):
        way(region, users, draw)
    return time.process_time() - start


_draw_fig12 = lines(
    Axes(
        "users, percent",
        "value",
        "method",
        "panel",
        x_title="users, in per cent of the places",
        y_title="processor time, seconds",
        free="y",
        error="standard error",
    ),
    "Time to perturb the places of users, one after the other",
    lambda rows: (
        f"ε = 1, reports from the own region; the division into regions is made beforehand. Processor time on this "
        f"machine, mean of {rows[0]['runs']} runs, bars: one standard error. After BRR Fig. 12."
    ),
    panel="{data}",
)


def _seconds_of(context: Context) -> dict[tuple[str, str, int], Sampled]:
    """The seconds by data, mechanism and share of the users, in per cent."""
    return {
        (str(row["data"]).split()[0], str(row["method"]), int(row["users, percent"] or 0)): Sampled(
            float(row["value"] or 0), float(row["standard error"] or 0)
        )
        for row in context.rows("fig12")
    }


@measures("fig12")
def _order_of_times(context: Context) -> Evidence:
    """Seconds of GRR and L-SRR over those of BRR, all users."""
    seconds = _seconds_of(context)
    found = {
        f"{data}, log of {label} over BRR": seconds[data, label, 100].log_ratio(seconds[data, "BRR", 100])
        for data in _DATA
        for label in ("GRR", "L-SRR")
    }
    return found | fewest_runs(context.rows("fig12"))


@measures("fig12-growth")
def _growth(context: Context) -> Evidence:
    """What a further user costs."""
    seconds, found = _seconds_of(context), dict[str, float | Sampled]()
    for data in _DATA:
        users = {int(r["users"] or 0) for r in context.rows("fig12") if str(r["data"]).split()[0] == data}
        further, name = (max(users) - min(users)) / 1e6, f"{data}, microseconds of a further user"
        brr, lsrr = ((seconds[data, way, 100] - seconds[data, way, 10]) / further for way in ("BRR", "L-SRR"))
        found |= {f"{name}, BRR": brr.value, f"{name}, L-SRR": lsrr.value, f"{name}, BRR minus L-SRR": brr - lsrr}
    return found | fewest_runs(context.rows("fig12"))


# ---- many users


def _designs(context: Context) -> Mapping[str, Mechanism]:
    places = some_places(context, "Gowalla").points[:500]
    space = Space.vectors(places)
    return {
        "GRR": mechanism("grr", epsilon=_EPSILON, k=len(places)),
        "BRR": mechanism("brr", epsilon=_EPSILON, distances=space, form="paper"),
        "L-SRR": mechanism("lsrr", epsilon=_EPSILON, distances=space),
        "codebook": mechanism("codebook", epsilon=_EPSILON, distances=space),
    }


def _fig12b(context: Context) -> Rows:
    """Seconds for all users together, best of three; the tables of a design are made beforehand."""
    designs = context.once(_designs)
    rows: list[dict[str, str | int | float]] = []
    for users in (1_000, 10_000, 100_000) if context.quick else (1_000, 10_000, 100_000, 1_000_000):
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


_draw_fig12b = lines(
    Axes("users", "seconds", "mechanism", x_title="number of users", y_title="time, seconds", log="xy"),
    "Time to perturb the places of many users by tables",
    lambda rows: (
        f"{rows[0]['places']} places, users drawn at random, ε = 1, secure randomness, on this machine: best of three "
        "runs; tables are made beforehand."
    ),
)

FIGURES = (
    Figure("fig12", "Running times, one user after the other", "Fig. 12", _fig12, _draw_fig12),
    Figure("fig12b", "Running times of many users", "Fig. 12", _fig12b, _draw_fig12b),
)
