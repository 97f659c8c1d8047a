"""What the best designs cost: processor time and memory, each in a process of its own, against what is asked for.

    python benchmarks/costs.py [NAME ...] [--json] [--write]

`--write` keeps the results in docs/data; names leave the others out. Times are processor time on one core, so that
other work on the machine counts little; the shortest of some runs where one takes less than a second. Memory is the
most that the process ever held, Python and libraries included.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from measure import largest_memory, table, write_csv

import deniable as dn
from deniable_client.kernels import kernel_from
from deniable_client.words import SystemWords

ONE_CORE = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "DENIABLE_THREADS"), "1")
"""Threads that wait for each other would count as work."""
Work = Callable[[], Mapping[str, float]]


class Cost(NamedTuple):
    """What is done, its bars in seconds and megabytes, and the work, which says what it took and its gap."""

    does: str
    seconds: float
    megabytes: float | None
    work: Work


def spent(work: Callable[[], object], runs: int = 1) -> float:
    """Seconds of processor time, the least of some runs."""
    found = []
    for _ in range(runs):
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return min(found)


def report() -> Mapping[str, float]:
    """A report of `affine` on a device."""
    kernel, words = dn.mechanism("affine", k=700_000, epsilon=1.0).bulk.kernel, SystemWords()
    return {"seconds": spent(lambda: [kernel.randomise(5, words) for _ in range(500)], 9) / 500}


def proof() -> Mapping[str, float]:
    """A device's proof of a design of `affine`."""
    document = dn.mechanism("affine", k=700_000, epsilon=1.0).design["kernel"]
    return {"seconds": spent(lambda: kernel_from(document).ratio, 20)}


def audit() -> Mapping[str, float]:
    """A device's proof of a design of `om` at epsilon 4."""
    m = dn.mechanism("om", epsilon=4.0, interval=(-1, 1))
    assert (m.table.points, m.table.outputs) == (65, 63)
    document = m.design["kernel"]
    return {"seconds": spent(lambda: kernel_from(document).ratio, 20), "gap": m.properties()["gap"]}


def million() -> Mapping[str, float]:
    """Reports of half a million answers: made, counted, estimated."""
    m = dn.mechanism("affine", k=500_000, epsilon=1.0)
    values = np.random.default_rng(1).integers(0, 1000, 1_000_000)
    return {"seconds": spent(lambda: m.estimate(m.tally(m.privatize(values)))), "gap": m.properties()["gap"]}


def generic(k: int) -> Work:
    """The best channel for budgets of which none follows from others."""

    def work() -> Mapping[str, float]:
        budgets = np.random.default_rng(k).uniform(1, 1.9, (k, k))
        np.fill_diagonal(budgets, 0)
        p = dn.promise(budgets=budgets.tolist())
        return _made(lambda: dn.mechanism("optimal", promise=p))

    return work


def release() -> Mapping[str, float]:
    """The best release of a number on a line."""
    p = dn.promise(points=list(range(200)), epsilon=0.1)
    return _made(lambda: dn.mechanism("optimal", promise=p, objective="release"))


def _made(make: Callable[[], dn.Mechanism]) -> Mapping[str, float]:
    kept: list[dn.Mechanism] = []
    seconds = spent(lambda: kept.append(make()))
    return {"seconds": seconds, "gap": kept[0].properties()["gap"]}


COSTS: Mapping[str, Cost] = {
    "affine-report": Cost("`affine`, 700,000 answers: a report on a device", 20e-6, None, report),
    "affine-proof": Cost("the same: a device's proof", 5e-3, None, proof),
    "affine-memory": Cost("`affine`, 500,000 answers: 10^6 reports made, counted, estimated", 6.0, 1074, million),
    "om-proof": Cost("`om`, 65 x 63 numbers: a device's proof", 5e-3, None, audit),
    "optimal-8": Cost("`optimal`, any budgets of 8 answers", 2.0, 200, generic(8)),
    "optimal-10": Cost("`optimal`, any budgets of 10 answers", 30.0, 500, generic(10)),
    "release-200": Cost("`optimal`, a release of 200 values on a line", 60.0, None, release),
}
"""Names are for the command line. A gibibyte are 1,074 megabytes."""


def apart(name: str) -> dict[str, Any]:
    """A cost in a process of its own, with its bars."""
    print(f"measuring: {name}", file=sys.stderr, flush=True)
    command = [sys.executable, __file__, "--case", name]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env={**os.environ, **ONE_CORE})
    found, cost = json.loads(done.stdout), COSTS[name]
    return {
        "name": name,
        "does": cost.does,
        "seconds": found["seconds"],
        "seconds_asked": cost.seconds,
        "megabytes": found["megabytes"],
        "megabytes_asked": cost.megabytes,
        "gap": found.get("gap"),
    }


def case(name: str) -> dict[str, float]:
    """A cost in this process."""
    found = COSTS[name].work()
    return {**found, "megabytes": largest_memory() * 1.048576}


def render(rows: Sequence[Mapping[str, str]]) -> str:
    """The kept results as a table."""
    return table(["work", "processor time", "at most", "memory", "at most", "above the bound"], list(_lines(rows)))


def _lines(rows: Sequence[Mapping[str, str]]) -> Iterator[list[str]]:
    for row in rows:
        asked = f"{float(row['megabytes_asked']):,.0f} MB" if row["megabytes_asked"] else ""
        memory = f"{float(row['megabytes']):,.0f} MB" if asked else ""
        gap = f"{100 * max(0.0, float(row['gap'])):.2g} %" if row["gap"] else ""
        yield [row["does"], _time(row["seconds"]), _time(row["seconds_asked"]), memory, asked, gap]


def _time(text: str) -> str:
    seconds = float(text)
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= 0.3 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} µs"


def main() -> None:
    """Measure, then print or keep the results; the command fails if one is above its bar."""
    parser = argparse.ArgumentParser(description="Processor time and memory of the best designs.")
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"what is measured, all if left out: {', '.join(COSTS)}"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--write", action="store_true", help="keep the results in docs/data")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.case:
        print(json.dumps(case(asked.case)))
        return
    if set(asked.names) - COSTS.keys():
        parser.error(f"names must be of {', '.join(COSTS)}, got {', '.join(asked.names)}")
    if asked.write and asked.names:
        parser.error("results are kept all together: leave the names out, or --write")
    rows = [apart(name) for name in asked.names or COSTS]
    if asked.write:
        write_csv("costs", rows)
    if asked.json:
        print(json.dumps({"rows": rows}))
    for row in rows if not asked.json else ():
        limit = "" if row["megabytes_asked"] is None else f" of {row['megabytes_asked']}"
        gap = "" if row["gap"] is None else f", gap {row['gap']:.2g}"
        time_ = f"{_time(str(row['seconds']))} of {_time(str(row['seconds_asked']))}"
        print(f"{row['name']:14} {time_}, {row['megabytes']:.0f}{limit} MB{gap}")
    sys.exit(any(above(row) for row in rows))


def above(row: Mapping[str, Any]) -> bool:
    """Whether a row is above one of its bars."""
    return any(row[f"{name}_asked"] and row[name] > row[f"{name}_asked"] for name in ("seconds", "megabytes"))


if __name__ == "__main__":
    main()
