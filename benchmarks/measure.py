"""Time of a piece of work, and what kind of machine it ran on."""

from __future__ import annotations

import csv
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))
from fuzz.memory import largest_memory

__all__ = ["DATA", "best", "cores", "largest_memory", "machine", "read_csv", "table", "write_csv"]

DATA = Path(__file__).resolve().parents[1] / "docs/data"
"""Where results are kept."""


def best(work: Callable[[], object], *, least: int = 5, seconds: float = 1.0) -> float:
    """The shortest of at least `least` runs that take `seconds` together, in seconds; one run before does not count."""
    work()
    times: list[float] = []
    while len(times) < least or sum(times) < seconds:
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def machine() -> dict[str, Any]:
    """Cores, wide instructions and load: what a figure depends on, and no name."""
    flags = _flags()
    wide = [name for name in ("avx2", "avx512f", "vaes", "aes", "neon") if name in flags]
    return {"cores": cores(), "instructions": " ".join(wide), "load": round(os.getloadavg()[0], 2)}


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _flags() -> set[str]:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    return {flag for line in lines if line.startswith(("flags", "Features")) for flag in line.split()}


def write_csv(name: str, rows: Sequence[Mapping[str, object]]) -> Path:
    """Rows of a table into docs/data, columns as in the first row."""
    DATA.mkdir(exist_ok=True)
    path = DATA / f"{name}.csv"
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return path


def read_csv(name: str) -> list[dict[str, str]]:
    """The inverse of `write_csv`; all cells are text."""
    with (DATA / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def table(head: Sequence[str], rows: Sequence[Sequence[str]], right: int = 1) -> str:
    """A Markdown table; columns from number `right` on are flush right."""
    line = ["---"] * right + ["---:"] * (len(head) - right)
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, line, *rows])
