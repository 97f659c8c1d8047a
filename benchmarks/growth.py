"""Time and memory against the number of reports and of answers: reports are made, counted and dropped, part by part.

    python benchmarks/growth.py [--quick] [--json] [--write]

Every case runs in a process of its own, which tells its peak memory. `--write` keeps the results in docs/data,
`--quick` leaves the largest cases out. The exponents are slopes of least squares in logarithms.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from measure import DATA, cores, largest_memory, read_csv, write_csv

import deniable as dn

EPSILON = 1.0
BY_N = {
    "grr": [5_000_000, 10_000_000, 20_000_000, 50_000_000, 100_000_000],
    "oue": [500_000, 1_000_000, 2_000_000, 5_000_000, 10_000_000],
    "ss": [500_000, 1_000_000, 2_000_000, 5_000_000],
    "olh": [500_000, 1_000_000, 2_000_000, 5_000_000],
}
"""Numbers of reports at k = 1000."""
ANSWERS = [250, 500, 1000, 2000, 4000, 8000, 16_000]
BY_K = {"grr": 10_000_000, "oue": 100_000, "ss": 100_000, "olh": 100_000}
"""Numbers of answers, and how many reports each."""
PART = 16
"""Blocks of reports that are made and counted at a time."""
TURNS, SECONDS = 3, 3.0
"""A case is run at least so often and so long; the fastest run counts."""


def once(name: str, n: int, k: int) -> dict[str, Any]:
    """Make and count n reports, in bounded memory; seconds of both."""
    m = dn.mechanism(name, epsilon=EPSILON, k=k)
    values = np.arange(min(n, PART * m.bulk.block)) % k
    spent = {"privatize": 0.0, "tally": 0.0}
    total = m.empty()
    for start in range(0, n, values.size):
        begin = time.perf_counter()
        reports = m.privatize(values[: n - start])
        middle = time.perf_counter()
        total = total + m.tally(reports)
        spent["privatize"] += middle - begin
        spent["tally"] += time.perf_counter() - middle
    assert total.n == n
    return {"seconds": sum(spent.values()), **spent}


def case(name: str, n: int, k: int) -> dict[str, Any]:
    """The fastest of some runs, in this process, with its peak memory."""
    once(name, min(n, 100_000), k)
    found: list[dict[str, Any]] = []
    while len(found) < TURNS or sum(run["seconds"] for run in found) < SECONDS:
        found.append(once(name, n, k))
    fastest = min(found, key=lambda run: run["seconds"])
    peak = largest_memory()
    return {"mechanism": name, "n": n, "k": k, **fastest, "peak_mib": peak}


def apart(name: str, n: int, k: int) -> dict[str, Any]:
    """`case` in a process of its own."""
    print(f"measuring: {n:,} reports of {name}, k = {k:,}", file=sys.stderr, flush=True)
    command = [sys.executable, __file__, "--case", name, str(n), str(k)]
    found: dict[str, Any] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    return found


def exponent(x: Sequence[float], y: Sequence[float]) -> float:
    """The slope of log y over log x."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def exponents(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """How the time grows, by mechanism and by what was varied."""
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault((str(row["varied"]), str(row["mechanism"])), []).append(row)
    return [
        {
            "varied": varied,
            "mechanism": mechanism,
            "from": int(group[0][varied]),
            "to": int(group[-1][varied]),
            "exponent": exponent([float(r[varied]) for r in group], [float(r["seconds"]) for r in group]),
            "peak_mib": max(float(r["peak_mib"]) for r in group),
        }
        for (varied, mechanism), group in groups.items()
    ]


def measure(*, quick: bool) -> list[dict[str, Any]]:
    """All cases."""
    rows = []
    for name, sizes in BY_N.items():
        rows += [{"varied": "n", **apart(name, n, 1000)} for n in (sizes[:2] if quick else sizes)]
    for name, n in BY_K.items():
        rows += [{"varied": "k", **apart(name, n, k)} for k in (ANSWERS[:3] if quick else ANSWERS)]
    return rows


def charts() -> Iterator[tuple[str, Any]]:
    """The charts of the page, by name."""
    from deniable.present.charts import line_chart

    rows, machine = read_csv("growth"), {row["what"]: row["value"] for row in read_csv("machine")}
    for varied, title, x_title in (
        ("n", "Time to make and count reports, k = 1,000", "reports"),
        ("k", "Time per report over the number of answers", "answers k"),
    ):
        unit, per = ("seconds", 1.0) if varied == "n" else ("ns per report", 1e9)
        points = [
            {
                "mechanism": row["mechanism"],
                varied: float(row[varied]),
                unit: per * float(row["seconds"]) / (1 if varied == "n" else float(row["n"])),
            }
            for row in rows
            if row["varied"] == varied
        ]
        chart = line_chart(
            points,
            x=varied,
            y=unit,
            series="mechanism",
            title=title,
            subtitle=f"epsilon 1, secure randomness, {machine['cores']} cores",
            log_x=True,
            log_y=True,
            x_title=x_title,
        )
        yield f"growth-{varied}", chart


def draw() -> None:
    """The charts as pictures in docs/data."""
    from deniable.present.charts import save

    sys.path.append(str(DATA.parent))
    squeezed = importlib.import_module("make_pictures").squeezed
    for name, chart in charts():
        picture = save(chart, DATA / f"{name}.png")
        picture.write_bytes(squeezed(picture.read_bytes()))


def main() -> None:
    """Measure, then print or keep the results."""
    parser = argparse.ArgumentParser(description="Time and memory against the numbers of reports and answers.")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--write", action="store_true", help="keep the results in docs/data, and draw them")
    parser.add_argument("--quick", action="store_true", help="leave out the largest cases")
    parser.add_argument("--case", nargs=3, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.case:
        name, n, k = asked.case
        print(json.dumps(case(name, int(n), int(k))))
        return
    print(f"machine: {cores()} cores; load {os.getloadavg()[0]:.2f}, which should be near 0", file=sys.stderr)
    rows = measure(quick=asked.quick)
    if asked.write:
        write_csv("growth", rows)
        draw()
    if asked.json:
        print(json.dumps({"rows": rows, "exponents": exponents(rows)}))
        return
    for found in exponents(rows):
        print(
            f"{found['mechanism']:4} over {found['varied']} from {found['from']:,} to {found['to']:,}: "
            f"exponent {found['exponent']:.3f}, at most {found['peak_mib']:.0f} MiB"
        )


if __name__ == "__main__":
    main()
