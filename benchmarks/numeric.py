"""Numbers in an interval: distributions and means by every mechanism, the choice of the grid, and the time of reports.

    python benchmarks/numeric.py [--runs 40] [--quick] [--json]     measure; without --quick, keep the results

Writes docs/data/numeric.csv, numeric-grids.csv and numeric-speed.csv; docs/generate.py writes the page.
All methods of a run see the same 20,000 people; errors are against these people's own values on the grid.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from measure import best, table, write_csv

import deniable as dn
from deniable.core.grid import Grid
from deniable.core.types import FloatArray
from deniable.mechanisms.metric.brr import make_brr
from deniable.mechanisms.numeric.base import Duchi, Hybrid, Numeric, Piecewise, SquareWave

SEED = 20261116
PEOPLE, POINTS, RUNS, QUICK = 20_000, 64, 40, 3
EPSILONS = (1.0, 2.0)
GRIDS = (16, 32, 64, 128, 256, 512, 1024)
USERS = 1_000_000
Row = Mapping[str, Any]


def two_peaks(draw: np.random.Generator, n: int) -> FloatArray:
    """Half around 1/4 and half around 3/4, standard deviation 1/20; what would fall outside is drawn again."""
    values = np.where(draw.random(n) < 0.5, 0.25, 0.75) + draw.normal(0, 0.05, n)
    outside = np.flatnonzero((values < 0) | (values > 1))
    if outside.size:
        values[outside] = two_peaks(draw, outside.size)
    return np.asarray(values)


POPULATIONS: dict[str, Callable[[np.random.Generator, int], FloatArray]] = {
    "beta(2, 5)": lambda draw, n: draw.beta(2, 5, n),
    "two peaks": two_peaks,
    "beta(1, 20)": lambda draw, n: draw.beta(1, 20, n),
}


def affine_mean(m: Any, counts: FloatArray) -> float:
    """The mean from BRR's reports as if no window were moved inwards at an end: biased there."""
    inside = m.kernel.keep / 2**64
    pull = 1 - (1 - inside) * m.k / (m.k - m.m)
    centre = (m.k - 1) / 2
    return float(m.domain.at((counts @ np.arange(m.k) / counts.sum() - centre) / pull + centre))


def collection(
    values: FloatArray, epsilon: float, rng: dn.Simulation
) -> Iterator[tuple[str, FloatArray | None, float]]:
    """One collection by every method: its name, the distribution where there is one, and the mean."""
    grid = Grid.of(0, 1, POINTS)
    items, points = grid.encode(values), grid.points
    streams = iter(rng.spawn(8))
    for name in ("grr", "oue"):
        plain = dn.mechanism(name, epsilon=epsilon, k=POINTS)
        found = plain.estimate(plain.tally(plain.privatize_items(items, next(streams)))).project().value
        yield f"{name} projected", found, float(found @ points)
    brr, sw = make_brr(epsilon=epsilon, domain=grid), SquareWave.optimal(epsilon=epsilon, domain=grid)
    for m in (brr, sw):
        tally = m.tally(m.privatize_items(items, next(streams)))
        for method in ("em", "ems"):
            found = m.fit(tally, method, stderr=None, max_steps=20_000).value
            yield f"{m.name} {method}", found, float(found @ points)
        if m is brr:
            yield "brr affine", None, affine_mean(m, tally.cells["value"][0])
        else:
            yield "sw mean", None, float(sw.estimate(tally).value[0])
    means: list[tuple[str, Numeric]] = [
        ("pm", Piecewise.optimal(epsilon=epsilon, domain=grid)),
        ("pm, paper's window", Piecewise.optimal(epsilon=epsilon, domain=grid, window="paper")),
        ("duchi", Duchi(epsilon=epsilon, domain=grid)),
        ("hm", Hybrid.optimal(epsilon=epsilon, domain=grid)),
    ]
    for name, own in means:
        tally = own.tally(own.privatize_items(items, next(streams)))
        yield name, None, float(own.estimate(tally).value[0])


def study(runs: int) -> list[Row]:
    """Errors of all methods: L1 and Wasserstein distance of the distribution, error of the mean."""
    rows: list[Row] = []
    for data, draw in POPULATIONS.items():
        for epsilon in EPSILONS:
            errors: dict[str, list[tuple[float, float, float]]] = {}
            for rng in dn.simulation(SEED).spawn(runs):
                people, reports = rng.spawn(2)
                values = draw(people.generator(), PEOPLE)
                grid = Grid.of(0, 1, POINTS)
                truth = np.bincount(grid.encode(values), minlength=POINTS) / PEOPLE
                for name, found, mean in collection(values, epsilon, reports):
                    off = math.nan if found is None else float(np.abs(found - truth).sum())
                    moved = math.nan if found is None else float(np.abs(np.cumsum(found - truth)).mean())
                    errors.setdefault(name, []).append((off, moved, mean - float(truth @ grid.points)))
            rows += [_summary(data, epsilon, name, np.array(found)) for name, found in errors.items()]
    return rows


def _summary(data: str, epsilon: float, method: str, found: FloatArray) -> Row:
    runs = len(found)
    absolute = np.abs(found[:, 2])
    row: dict[str, Any] = {"data": data, "epsilon": epsilon, "method": method, "runs": runs}
    numbers = {"l1": found[:, 0], "w1": found[:, 1], "mean": absolute, "bias": found[:, 2]}
    for name, column in numbers.items():
        row[name] = float(column.mean())
        row[f"{name}_se"] = float(column.std(ddof=1)) / math.sqrt(runs)
    return row


def grids(runs: int) -> list[Row]:
    """Wasserstein distance of the square wave's smoothed fit to the people's own values, by the number of points."""
    rows: list[Row] = []
    edges = np.linspace(0, 1, 2 * max(GRIDS) + 1)
    for data, draw in POPULATIONS.items():
        for epsilon in EPSILONS:
            found: dict[int, list[float]] = {points: [] for points in GRIDS}
            for rng in dn.simulation(SEED + 1).spawn(runs):
                people, *streams = rng.spawn(1 + len(GRIDS))
                values = np.sort(draw(people.generator(), PEOPLE))
                truth = np.searchsorted(values, edges, side="right") / PEOPLE
                for points, stream in zip(GRIDS, streams, strict=True):
                    m = SquareWave.optimal(epsilon=epsilon, domain=Grid.of(0, 1, points))
                    f = m.fit(m.tally(m.privatize(values, rng=stream)), "ems", stderr=None, max_steps=20_000).value
                    shares = np.interp(edges, np.linspace(0, 1, points + 1), np.concatenate([[0.0], np.cumsum(f)]))
                    found[points].append(float(np.abs(shares - truth).mean()))
            for points, w1 in found.items():
                row = {"data": data, "epsilon": epsilon, "points": points, "runs": runs, "w1": float(np.mean(w1))}
                rows.append(row | {"w1_se": float(np.std(w1, ddof=1)) / math.sqrt(runs)})
    return rows


def speed() -> list[Row]:
    """Seconds for the reports of a million users, with secure randomness, values being encoded already."""
    rows: list[Row] = []
    for points in (64, 1024, 10**9):
        grid = Grid.of(0, 1, points)
        items = np.random.default_rng(SEED).integers(0, points, USERS)
        made: list[Any] = [make_brr(epsilon=1.0, domain=grid)]
        if points < 1 << 20:
            own = {"epsilon": 1.0, "domain": grid}
            made += [SquareWave.optimal(**own), Piecewise.optimal(**own), Duchi(**own), Hybrid.optimal(**own)]
        for m in made:
            seconds = best(lambda m=m, items=items: m.privatize_items(items))
            rows.append({"mechanism": m.name, "points": points, "users": USERS, "seconds": seconds})
    return rows


def render_study(rows: Sequence[Row]) -> str:
    """L1 / W1 / mean error of each method, a column per method with a distribution; then the means alone."""
    keys = list(dict.fromkeys((row["data"], f"{float(row['epsilon']):g}") for row in rows))
    found = {(r["data"], f"{float(r['epsilon']):g}", r["method"]): r for r in rows}
    methods = list(dict.fromkeys(str(r["method"]) for r in rows))
    full = [m for m in methods if not math.isnan(float(found[*keys[0], m]["l1"]))]
    means = [m for m in methods if m not in full]
    first = [
        [f"{d}, {e}", *(" / ".join(f"{float(found[d, e, m][c]):.3f}" for c in ("l1", "w1", "mean")) for m in full)]
        for d, e in keys
    ]
    second = [[f"{d}, {e}", *(_with_error(found[d, e, m]) for m in means)] for d, e in keys]
    return table(["data, epsilon", *full], first, 1) + "\n\n" + table(["data, epsilon", *means], second, 1)


def _with_error(row: Row) -> str:
    return f"{float(row['mean']):.4f} ± {float(row['mean_se']):.4f}"


def render_grids(rows: Sequence[Row]) -> str:
    """A row per population, a column per number of points."""
    keys = list(dict.fromkeys((row["data"], f"{float(row['epsilon']):g}") for row in rows))
    found = {(r["data"], f"{float(r['epsilon']):g}", int(r["points"])): float(r["w1"]) for r in rows}
    points = sorted({int(r["points"]) for r in rows})
    lines = [[f"{d}, {e}", *(f"{found[d, e, p]:.4f}" for p in points)] for d, e in keys]
    return table(["data, epsilon", *map(str, points)], lines, 1)


def render_speed(rows: Sequence[Row]) -> str:
    """A row per mechanism and grid."""
    lines = [[f"`{r['mechanism']}`", f"{int(r['points']):,}", f"{float(r['seconds']):.3f} s"] for r in rows]
    return table(["mechanism", "points", "a million reports"], lines, 1)


PARTS: dict[str, tuple[str, Callable[[Sequence[Row]], str]]] = {
    "study": ("numeric", render_study),
    "grids": ("numeric-grids", render_grids),
    "speed": ("numeric-speed", render_speed),
}
"""Parts of the page: where their numbers are kept, and how they are shown."""


def main(arguments: Sequence[str]) -> int:
    """Measure, and keep or print the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--only", choices=list(PARTS), help="measure this part alone")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} runs, printed only")
    parser.add_argument("--json", action="store_true", help="print the numbers as JSON")
    options = parser.parse_args(arguments)
    runs = QUICK if options.quick else options.runs
    work: dict[str, Callable[[], list[Row]]] = {
        "study": lambda: study(runs),
        "grids": lambda: grids(runs),
        "speed": speed,
    }
    chosen = [options.only] if options.only else list(work)
    results = {name: work[name]() for name in chosen}
    for name, rows in results.items():
        if not options.quick:
            write_csv(PARTS[name][0], rows)
        if not options.json:
            print(PARTS[name][1](rows))
    if options.json:
        print(json.dumps(results))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
