"""BRR's experiments with places: losses of all ways to release one, with and without restriction to regions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deniable.core.laws import epsilon_to
from deniable.core.space import Space
from deniable.core.types import FloatArray, IntArray
from deniable.datasets.folder import Table, data_folder, read_table
from deniable.mechanisms.metric import staircase
from deniable.mechanisms.metric.baselines import level
from deniable.mechanisms.metric.bipartite import choose_m, loss_of, two_level
from deniable.mechanisms.metric.codes_search import search_codes
from deniable.mechanisms.metric.losses import MatrixLosses
from deniable.papers.brr.regions import halved_regions, prefix_regions, tile_codes
from deniable.papers.paper import Context, Rows, made_up, shared

__all__ = ["BUDGETS", "all_losses", "fig8", "fig8b", "find_table", "laws", "load_places", "mean_row", "some_places"]

BUDGETS = (0.25, 0.5, 1.0, 1.5, 2.0)
"""Of BRR Fig. 8."""

_FILES = {"Gowalla": ("gowalla_brr_1000.csv.gz", 1000), "FourSquare": ("foursquare_nyc_poi.csv.gz", 3000)}
_REGIONS = {"Gowalla": (14, 7), "FourSquare": (13, 64)}
"""Regions of BRR Fig. 7, and the places of the smallest."""
_LEAST = 6
"""Places that make a region in the published program."""
_PREFIXES = ((1,), (2, 1), (3, 2, 1), (4, 3, 2, 1))
"""Levels of the quadtree that places must share to be in the first, the second, ... group of L-SRR."""
_DEPTH = 10
_LEVEL = "level of "
"""Before the names of mechanisms whose exact level is told, too: those that may miss epsilon."""
_QUICK = 300


def mean_row(data: str, epsilon: float, label: str, values: list[float]) -> dict[str, str | int | float | None]:
    """Mean and standard error over the runs of an experiment; of a single run no error is known."""
    error = float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else None
    return {
        "data": data,
        "epsilon": epsilon,
        "method": label,
        "runs": len(values),
        "value": float(np.mean(values)),
        "standard error": error,
    }


def find_table(context: Context, file: str) -> Table | None:
    """A table of the data folder; None if it is not there."""
    folder = data_folder(context.data_dir)
    return None if folder is None or not (folder / file).is_file() else read_table(folder / file)


@dataclass(frozen=True, eq=False)
class Places:
    """Places and what it costs to report one for another."""

    name: str
    points: FloatArray
    globe: bool
    """Latitudes and longitudes; else coordinates of a plane."""

    @cached_property
    def losses(self) -> MatrixLosses:
        """Great-circle distances in kilometres, or distances in the plane."""
        space = Space.places(self.points) if self.globe else Space.vectors(self.points)
        return MatrixLosses(space.matrix(), space.unit)

    @cached_property
    def spread(self) -> float:
        """Mean distance of two places drawn at random."""
        return float(self.losses.table.mean())

    @cached_property
    def regions(self) -> IntArray:
        """The region of each place; for the paper's own places of Gowalla those of the paper."""
        codes = tile_codes(self.points)
        if self.name in _REGIONS and not self.globe:
            return prefix_regions(codes, _LEAST)
        return halved_regions(codes, self.losses.table, *_REGIONS[self.name.split()[0]])

    @cached_property
    def members(self) -> list[IntArray]:
        """The places of each region."""
        return [np.flatnonzero(self.regions == region) for region in range(int(self.regions.max()) + 1)]

    @cached_property
    def groups(self) -> list[tuple[IntArray, int]]:
        """Groups of L-SRR for several thresholds, with their number."""
        shared = staircase.shared_levels(self.points, _DEPTH)
        return [(staircase.prefix_groups(shared, prefixes), len(prefixes) + 1) for prefixes in _PREFIXES]

    def part(self, members: IntArray) -> Places:
        """Some of the places."""
        return Places(self.name, self.points[members], self.globe)


def some_places(context: Context, name: str) -> Places:
    """All of them; in a quick run a sample, for what takes long if many places may be reported."""
    places = load_places(context, name)
    if not context.quick:
        return places
    order = context.sample(f"some places of {name}").generator().permutation(len(places.points))
    return places.part(np.sort(order[:_QUICK]))


@shared
def load_places(context: Context, name: str) -> Places:
    """The paper's 1,000 places of Gowalla, or 3,000 of FourSquare's places in New York; else made up in clusters."""
    file, count = _FILES[name]
    found = find_table(context, file)
    draw = context.sample(f"places of {name}").generator()
    if found is None:
        centres, own = draw.random((12, 2)), draw.integers(0, 12, count)
        points = centres[own] + draw.normal(0, 0.05, (count, 2))
        return Places(made_up(name), np.clip(points, 0, 1), False)
    columns = ["x", "y"] if name == "Gowalla" else ["lat", "lon"]
    points = np.column_stack([found.column(column) for column in columns])
    chosen = np.sort(draw.permutation(len(points))[:count])
    return Places(name, points[chosen], name != "Gowalla")


# ---- losses


def _under(matrix: FloatArray, table: FloatArray) -> float:
    return float(np.einsum("xy,xy->", matrix, table) / len(table))


def laws(places: Places, epsilon: float, own: int) -> dict[str, FloatArray]:
    """What is reported from one place, by name."""
    losses, n = places.losses, len(places.points)
    m = choose_m(losses, epsilon, "min")
    book = search_codes(losses.table, losses.weights(), epsilon)
    codes = [int(code) for code in book.codes]
    high, low = two_level(*epsilon_to(epsilon), m, n)
    brr, coded, alone = np.full(n, low), np.zeros(n), np.zeros(n)
    brr[losses.order[own, :m]] = high
    first, rest = two_level(*epsilon_to(epsilon), 1, len(codes))
    coded[codes] = rest
    coded[codes[int(losses.table[own, codes].argmin())]] = first
    members = places.members[int(places.regions[own])]
    inner = places.part(members).losses
    m = choose_m(inner, epsilon, "min")
    high, low = two_level(*epsilon_to(epsilon), m, members.size)
    alone[members] = low
    alone[members[inner.order[int(np.searchsorted(members, own)), :m]]] = high
    return {"own region only: not private": alone, "BRR, any place": brr, "codebook": coded}


def all_losses(places: Places, epsilon: float, *, more: bool = True) -> dict[str, float]:
    """Mean losses by name; `more` adds what goes beyond the paper, and the exact levels of all forms of L-SRR."""
    losses = places.losses
    table = losses.table
    groups = places.groups
    as_printed = [staircase.staircase(own, count, epsilon) for own, count in groups]
    lost = [_under(np.exp(logs), table) for logs in as_printed]
    best = int(np.argmin(lost))
    kept = staircase.calibrated_staircase(*groups[best], epsilon)
    out = {
        "GRR": loss_of(losses, epsilon, 1),
        "L-SRR, printed": lost[best],
        "L-SRR, printed, other groups": max(lost),
        "L-SRR, calibrated": _under(np.exp(kept), table),
        "BRR, rule min (paper)": loss_of(losses, epsilon, choose_m(losses, epsilon, "min")),
    }
    if more:
        own, count = groups[best]
        by_rank = staircase.staircase(staircase.rank_groups(table, staircase.group_sizes(own, count)), count, epsilon)
        m = choose_m(losses, epsilon, "mean")
        out |= {
            "L-SRR, by rank": _under(np.exp(by_rank), table),
            "BRR, rule mean": loss_of(losses, epsilon, m),
            "BRR, remapped": remapped(losses, epsilon, m),
            "codebook": search_codes(table, losses.weights(), epsilon).loss,
            "best constant": float(table.mean(axis=0).min()),
        }
        steps = {"printed": as_printed[best], "calibrated": kept, "by rank": by_rank}
        out |= {f"{_LEVEL}L-SRR, {label}": level(logs) for label, logs in steps.items()}
    return out


def remapped(losses: MatrixLosses, epsilon: float, m: int) -> float:
    """Mean loss of BRR if each report is taken for the best place, all places being equally likely."""
    k = losses.k
    high, low = two_level(*epsilon_to(epsilon), m, k)
    held = np.zeros((k, k), np.float32)
    np.put_along_axis(held, losses.order[:, :m], 1, axis=1)
    table = losses.table.astype(np.float32)
    costs = (held.T @ table).astype(np.float64) * (high - low) + low * table.sum(axis=0, dtype=np.float64)
    return float(costs.min(axis=1).sum() / k)


def _rows(places: Places, epsilon: float, found: dict[str, float]) -> Rows:
    known = {name: loss for name, loss in found.items() if not name.startswith(_LEVEL)}
    levels = {name.removeprefix(_LEVEL): at for name, at in found.items() if name.startswith(_LEVEL)}
    return [
        {
            "data": places.name,
            "places": len(places.points),
            "epsilon": epsilon,
            "mechanism": name,
            "loss": loss,
            "unit": places.losses.unit or "units",
            "share of the mean distance": loss / places.spread,
            "exact level": levels.get(name),
        }
        for name, loss in known.items()
    ]


def fig8(context: Context) -> Rows:
    """Any place may be reported: epsilon-LDP for all but L-SRR as printed."""
    rows: list[dict[str, str | int | float | None]] = []
    for name in _FILES:
        places = some_places(context, name)
        for epsilon in BUDGETS:
            context.progress(f"brr: releasing {len(places.points)} places of {places.name}, epsilon {epsilon:g}")
            rows += [dict(row) for row in _rows(places, epsilon, all_losses(places, epsilon))]
    return rows


def fig8b(context: Context) -> Rows:
    """The paper's way: only places of the own region are reported."""
    rows: list[dict[str, str | int | float | None]] = []
    for name in _FILES:
        places = load_places(context, name)
        parts = [places.part(members) for members in places.members]
        context.progress(f"brr: releasing {len(places.points)} places of {places.name} in {len(parts)} regions")
        for epsilon in BUDGETS:
            found: dict[str, float] = {}
            for part in parts:
                share = len(part.points) / len(places.points)
                for label, loss in all_losses(part, epsilon, more=False).items():
                    found[label] = found.get(label, 0.0) + loss * share
            for row in _rows(places, epsilon, found):
                rows.append({**row, "regions": len(parts)})
    return rows
