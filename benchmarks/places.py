"""Mean losses of location releases on real places: the staircase of L-SRR, brr and codebook.

    DENIABLE_DATA=FOLDER python benchmarks/places.py     # measures, writes docs/data/places.csv

Losses are expectations of the ideal channels over all places, nothing is drawn.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import sys
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path

from measure import write_csv

import deniable as dn
from deniable.datasets.folder import data_folder
from deniable.mechanisms.metric.brr import make_brr
from deniable.mechanisms.metric.codebook import make_codebook
from deniable.mechanisms.metric.tables import TableMechanism

EPSILONS = (1.0, 2.0, 4.0)
SETS = {
    "1000 of the paper": ("gowalla_brr_1000.csv.gz", ("x", "y"), 1000),
    "500 busiest, Foursquare": ("foursquare_nyc_poi.csv.gz", ("lat", "lon"), 500),
    "500 busiest, Gowalla": ("gowalla_nyc_venues.csv.gz", ("lat", "lon"), 500),
}
WAYS = ("lsrr calibrated", "lsrr rank", "brr", "brr remapped", "codebook")


def places(folder: Path, name: str) -> dn.Space:
    """The places of a set: points of the plane, or on the globe; the busiest where check-ins are counted."""
    file, columns, most = SETS[name]
    with gzip.open(folder / file, "rt", newline="", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    if "checkins" in rows[0]:
        rows.sort(key=lambda row: -int(row["checkins"]))
    points = [[float(row[c]) for c in columns] for row in rows[:most]]
    return dn.Space.vectors(points) if columns == ("x", "y") else dn.Space.places(points)


def losses(space: dn.Space, epsilon: float) -> dict[str, float]:
    """The mean loss of each way."""
    near = make_brr(epsilon=epsilon, domain=space)
    found = (
        TableMechanism(recipe="lsrr", epsilon=epsilon, domain=space, size=3).loss(),
        TableMechanism(recipe="lsrr", epsilon=epsilon, domain=space, size=3, variant="rank").loss(),
        near.loss(),
        near.remap().loss,
        make_codebook(epsilon=epsilon, domain=space).loss(),
    )
    return dict(zip(WAYS, found, strict=True))


def measure(folder: Path) -> list[dict[str, object]]:
    """All sets and budgets."""
    rows: list[dict[str, object]] = []
    for name in SETS:
        space = places(folder, name)
        for epsilon in EPSILONS:
            print(f"measuring: {name}, epsilon {epsilon:g}", file=sys.stderr, flush=True)
            rows.append({"places": name, "epsilon": epsilon, **losses(space, epsilon)})
    return rows


def render(rows: Sequence[Mapping[str, str]]) -> str:
    """The page's table."""
    heads = ["places", "epsilon", *(f"`{way.split()[0]}`{way.removeprefix(way.split()[0])}" for way in WAYS)]
    lines = [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    for name, group in groupby(rows, key=lambda row: row["places"]):
        for i, row in enumerate(group):
            cells = [f"{float(row['epsilon']):g}", *(f"{float(row[way]):.2f}" for way in WAYS)]
            lines.append(f"| {name + ' ' if not i else ''}| {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Measure, and keep the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.parse_args()
    folder = data_folder()
    if folder is None:
        parser.error("set DENIABLE_DATA to the folder with the places")
    write_csv("places", measure(folder))


if __name__ == "__main__":
    main()
