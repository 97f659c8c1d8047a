"""Which estimate to use when: raw, projected and fitted estimates of the same reports, compared with the truth.

    python benchmarks/estimators.py            the whole study (about ten minutes on two cores); keeps the numbers
    python benchmarks/estimators.py --quick    two runs per setting, printed only
    python benchmarks/estimators.py --render   only draw the picture again from the numbers

Writes docs/data/estimators.csv and docs/pictures/estimators.png; docs/generate.py writes the page. Everyone in a
population of known frequencies reports once; every estimate is made from the same reports, so differences are paired.
"""

from __future__ import annotations

import argparse
import csv
import importlib
import json
import math
import multiprocessing
import os
import sys
import textwrap
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from measure import read_csv, table

import deniable as dn
from deniable.datasets import Population, load, synthetic
from deniable.mechanisms.support import SupportMechanism
from deniable.present.charts import line_chart, save

ROOT = Path(__file__).resolve().parents[1]
NUMBERS = ROOT / "docs/data/estimators.csv"
PICTURE = ROOT / "docs/pictures/estimators.png"

SEED, RUNS, QUICK_RUNS, SMOOTH_RUNS = 20261115, 50, 2, 10
"""Smoothing takes long and is for ordered values only: the ages, and fewer runs."""
DATA = ("adult-age", "zipf")
MECHANISMS = ("grr", "ss", "oue", "olh")
EPSILONS = (0.5, 1.0, 2.0, 4.0)
MEASURES = ("mse", "mae", "worst")
ESTIMATES = ("raw", "projected", "em", "count-aware", "count-aware projected", "ems")


@dataclass(frozen=True, slots=True)
class Row:
    """One estimate in one setting: means over the runs with standard errors, and the paired difference to projected."""

    data: str
    mechanism: str
    epsilon: float
    n: int
    estimate: str
    runs: int
    mse: float
    mse_se: float
    mae: float
    mae_se: float
    worst: float
    worst_se: float
    mse_change: float
    """Mean of (MSE - MSE of projected) over the same runs, relative to the mean MSE of projected."""
    mse_change_se: float
    mae_change: float
    mae_change_se: float
    worst_change: float
    worst_change_se: float
    steps: float
    """Mean number of passes over the reports."""
    seconds: float


@dataclass(frozen=True, slots=True)
class Setting:
    """One population, mechanism and epsilon."""

    data: str
    mechanism: str
    epsilon: float
    index: int
    runs: int
    smooth_runs: int


def population(name: str) -> Population:
    """Adult age as it is, or 50,000 people over 100 items by Zipf's law."""
    return load(name) if name == "adult-age" else synthetic("zipf", k=100, n=50_000)


def settings(runs: int, smooth_runs: int) -> list[Setting]:
    """All of them, each with its place in the list of streams."""
    whole = [(d, m, e) for d in DATA for m in MECHANISMS for e in EPSILONS]
    return [Setting(*what, i, runs, smooth_runs if what[0] == "adult-age" else 0) for i, what in enumerate(whole)]


def measure(setting: Setting) -> list[Row]:
    """All estimates of one setting."""
    people = population(setting.data)
    made = dn.mechanism(setting.mechanism, epsilon=setting.epsilon, k=people.k)
    assert isinstance(made, SupportMechanism)
    errors: dict[str, list[tuple[float, ...]]] = {}
    costs: dict[str, list[tuple[float, float]]] = {}
    stream = dn.simulation(SEED).spawn(setting.index + 1)[-1]
    for run, rng in enumerate(stream.spawn(setting.runs)):
        reports = made.privatize_items(people.values(), rng)
        for name, value, steps, seconds in estimates(made, reports, smooth=run < setting.smooth_runs):
            off = np.abs(value - people.frequencies)
            errors.setdefault(name, []).append((float(np.mean(off**2)), float(off.mean()), float(off.max())))
            costs.setdefault(name, []).append((steps, seconds))
    base = np.array(errors["projected"])
    return [row(setting, people.n, name, np.array(errors[name]), base, np.array(costs[name])) for name in errors]


def estimates(
    m: SupportMechanism, reports: dn.Reports, *, smooth: bool
) -> Iterator[tuple[str, np.ndarray, float, float]]:
    """Name, value, passes over the reports and seconds of every estimate."""
    start = time.perf_counter()
    raw = m.estimate(m.tally(reports))
    yield "raw", raw.value, 1, time.perf_counter() - start
    yield "projected", raw.project().value, 1, time.perf_counter() - start
    methods = ["em", *(["count-aware"] if m.name == "oue" else []), *(["ems"] if smooth else [])]
    for method in methods:
        passes: list[tuple[int, float]] = []
        start = time.perf_counter()
        fitted = m.fit(reports, method, stderr=None, progress=partial(_note, passes))
        yield method, fitted.value, max(len(passes), 1), time.perf_counter() - start
        if method == "count-aware":
            yield "count-aware projected", fitted.project().value, 1, time.perf_counter() - start


def _note(passes: list[tuple[int, float]], count: int, gap: float) -> None:
    passes.append((count, gap))


def row(setting: Setting, n: int, name: str, found: np.ndarray, base: np.ndarray, costs: np.ndarray) -> Row:
    """Means over the runs, and differences to the projected estimate of the same runs."""
    numbers: dict[str, float] = {}
    for column, what in enumerate(MEASURES):
        own, other = found[:, column], base[: len(found), column]
        numbers |= {what: float(own.mean()), f"{what}_se": spread(own)}
        scale = float(other.mean())
        numbers |= {
            f"{what}_change": float((own - other).mean()) / scale,
            f"{what}_change_se": spread(own - other) / scale,
        }
    return Row(
        data=setting.data,
        mechanism=setting.mechanism,
        epsilon=setting.epsilon,
        n=n,
        estimate=name,
        runs=len(found),
        **numbers,
        steps=float(costs[:, 0].mean()),
        seconds=float(costs[:, 1].mean()),
    )


def spread(values: np.ndarray) -> float:
    """Standard error of a mean."""
    return float(values.std(ddof=1)) / math.sqrt(values.size)


def study(runs: int, smooth_runs: int, workers: int) -> list[Row]:
    """Measure all settings, the long ones first, on several processes with one thread each."""
    os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "DENIABLE_THREADS": "1"}
    todo = settings(runs, smooth_runs)
    found: dict[int, list[Row]] = {}
    start = time.perf_counter()
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        jobs = {s.index: pool.submit(measure, s) for s in todo}
        for s in todo:
            found[s.index] = jobs[s.index].result()
            done = f"{len(found)}/{len(todo)} after {time.perf_counter() - start:.0f} s"
            print(f"{done}: {s.data} {s.mechanism} epsilon {s.epsilon:g}", file=sys.stderr, flush=True)
    return [r for s in todo for r in found[s.index]]


# ---- files


def write_numbers(rows: Sequence[Row], path: Path = NUMBERS) -> None:
    """The table of all numbers."""
    path.parent.mkdir(exist_ok=True)
    with path.open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(f.name for f in fields(Row))
        out.writerows([f"{v:.5g}" if isinstance(v, float) else v for v in asdict(r).values()] for r in rows)


def read_numbers() -> list[Row]:
    """What `write_numbers` wrote."""
    return [_row(line) for line in read_csv("estimators")]


def _row(line: Mapping[str, Any]) -> Row:
    kinds = {f.name: f.type for f in fields(Row)}
    convert: Mapping[str, Any] = {"str": str, "int": int, "float": float}
    return Row(**{k: convert[str(kinds[k])](v) for k, v in line.items()})


def find(rows: Sequence[Row], data: str, mechanism: str, epsilon: float, estimate: str) -> Row:
    """The row of one estimate in one setting."""
    key = (data, mechanism, epsilon, estimate)
    return next(r for r in rows if (r.data, r.mechanism, r.epsilon, r.estimate) == key)


def percent(change: float, error: float) -> str:
    """A relative change with its standard error; bold where it is more than three of them from zero."""
    text = f"{100 * change:+.1f} ± {100 * error:.1f}"
    return f"**{text}**" if abs(change) > 3 * error else text


def render(numbers: Sequence[Mapping[str, Any]]) -> str:
    """The part of the page."""
    rows = [_row(each) for each in numbers]
    parts = [
        ("Change of the MSE, from the least to the largest over mechanisms and data:", _ranges(rows)),
        (
            "Settings (of 32) in which an estimate is better or worse than projected beyond 3 standard errors:",
            _summary(rows),
        ),
        (
            "All settings: errors are means over the runs, those of the worst item in percentage points. Changes are "
            "EM's against projected in per cent, ± their standard errors, bold beyond three of them:",
            _main_table(rows),
        ),
        ("Change of the MSE against projected, in per cent, by the methods for special cases:", _extra_table(rows)),
    ]
    return "\n\n".join(f"{textwrap.fill(text, 118)}\n\n{cells}" for text, cells in parts)


def _ranges(rows: Sequence[Row]) -> str:
    """By epsilon, the least and the largest change of the MSE in any setting."""
    lines = []
    for name, base, label in (
        ("projected", "raw", "projected against raw"),
        ("em", "projected", "EM against projected"),
        ("count-aware projected", "projected", "count-aware (`oue`) projected against projected"),
        ("ems", "projected", "EMS (ages) against projected"),
    ):
        cells = [label]
        for e in EPSILONS:
            own = [r for r in rows if r.estimate == name and r.epsilon == e]
            if base == "projected":
                found = [r.mse_change for r in own]
            else:
                found = [r.mse / find(rows, r.data, r.mechanism, e, base).mse - 1 for r in own]
            cells.append(f"{100 * min(found):+.0f} to {100 * max(found):+.0f} %")
        lines.append(cells)
    passes = ["EM, passes over the reports"]
    for e in EPSILONS:
        steps = [r.steps for r in rows if r.estimate == "em" and r.epsilon == e]
        passes.append(f"{min(steps):.0f} to {max(steps):.0f}")
    return table(["", *(f"epsilon {e:g}" for e in EPSILONS)], [*lines, passes])


def _summary(rows: Sequence[Row]) -> str:
    """Counts of settings in which an estimate is better or worse than projected, beyond three standard errors."""
    lines = []
    for name in ("raw", "em"):
        own = [r for r in rows if r.estimate == name]
        cells = [name]
        for what in MEASURES:
            change = [getattr(r, f"{what}_change") / getattr(r, f"{what}_change_se") for r in own]
            better, worse = sum(c < -3 for c in change), sum(c > 3 for c in change)
            cells.append(f"{better} better, {worse} worse, {len(own) - better - worse} alike")
        lines.append(cells)
    return table(["against projected", "MSE", "MAE", "worst item"], lines, 4)


def _main_table(rows: Sequence[Row]) -> str:
    lines = []
    for d in DATA:
        for m in MECHANISMS:
            for e in EPSILONS:
                raw, flat, em = (find(rows, d, m, e, name) for name in ("raw", "projected", "em"))
                mse = [f"{r.mse:.2e}" for r in (raw, flat, em)]
                changes = [percent(getattr(em, f"{w}_change"), getattr(em, f"{w}_change_se")) for w in MEASURES]
                worst = [f"{100 * r.worst:.2f}" for r in (raw, flat, em)]
                lines.append([d, f"`{m}`", f"{e:g}", *mse, *changes, *worst])
    head = ["data", "mechanism", "epsilon", "raw MSE", "projected", "EM"]
    head += ["EM: change of MSE", "of MAE", "of worst item", "raw worst item", "projected", "EM"]
    return table(head, lines, 2)


def _extra_table(rows: Sequence[Row]) -> str:
    """The methods for special cases, against the usual estimate of the same reports."""
    lines = []
    for d in DATA:
        for m in MECHANISMS:
            for e in EPSILONS:
                cells = [d, f"`{m}`", f"{e:g}"]
                for name in ("count-aware projected", "ems"):
                    own = [r for r in rows if (r.data, r.mechanism, r.epsilon, r.estimate) == (d, m, e, name)]
                    cells.append(percent(own[0].mse_change, own[0].mse_change_se) if own else "")
                if any(cells[3:]):
                    lines.append(cells)
    return table(["data", "mechanism", "epsilon", "count-aware projected", "EMS"], lines, 2)


def chart(rows: Sequence[Row]) -> Any:
    """MSE relative to the raw estimate, by epsilon; `grr`, whose lines lie on each other, is left out."""
    points = [
        {
            "setting": f"{d}, {m}",
            "epsilon": f"{e:g}",
            "share": find(rows, d, m, e, name).mse / find(rows, d, m, e, "raw").mse,
            "estimate": {"em": "EM"}.get(name, name),
        }
        for d in DATA
        for m in ("ss", "oue", "olh")
        for name in ("projected", "em")
        for e in EPSILONS
    ]
    return line_chart(
        points,
        x="epsilon",
        y="share",
        series="estimate",
        facet="setting",
        title="Projection pays where epsilon is small, EM where it is large",
        subtitle=f"error relative to raw estimates of the same reports; 100 values, about 50,000 people, {RUNS} runs",
        x_title="privacy budget ε",
        y_title="mean squared error / that of raw estimates",
        reference=1.0,
    )


def draw(rows: Sequence[Row]) -> None:
    """The picture, and its description, by which a test sees whether it is up to date."""
    drawn = chart(rows)
    save(drawn, PICTURE.with_suffix(".json"))
    save(drawn, PICTURE)
    sys.path.insert(0, str(ROOT / "docs"))
    squeezed = importlib.import_module("make_pictures").squeezed
    PICTURE.write_bytes(squeezed(PICTURE.read_bytes()))


def main(arguments: Sequence[str]) -> int:
    """Run the study or draw its picture again."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_RUNS} runs per setting, printed only")
    parser.add_argument("--render", action="store_true", help="draw the picture from the stored numbers")
    parser.add_argument("--json", action="store_true", help="print the numbers as JSON")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args(arguments)
    if options.render:
        rows = read_numbers()
    else:
        rows = study(*((QUICK_RUNS, QUICK_RUNS) if options.quick else (RUNS, SMOOTH_RUNS)), options.workers)
    if not options.quick:
        if not options.render:
            write_numbers(rows)
        draw(read_numbers())
    if options.json:
        print(json.dumps({"rows": [asdict(r) for r in rows]}))
    elif options.quick:
        print(render([asdict(row) for row in rows]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
