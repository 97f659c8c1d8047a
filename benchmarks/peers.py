"""Our time per user and that of other libraries for the same work, and the machine's limits, all in one run.

    python benchmarks/peers.py [--json] [--write] [--affine] [--environment DIR]

`--json` prints one JSON object, `--write` keeps the results in docs/data, `--affine` measures the rows of `affine` and
the limits alone. The other libraries live in an environment of their own, .venv-peers or another folder, which is made
when it is needed. Times are wall-clock nanoseconds per user, the best of several runs; ours use all cores, and
randomness is secure.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import limits
import numpy as np
from measure import best, cores, machine, read_csv, write_csv

import deniable as dn
from deniable.mechanisms.base import Mechanism

HERE = Path(__file__).resolve().parent
VENV = HERE.parent / ".venv-peers"
PACKAGES = ("multi-freq-ldpy", "pure-ldp", "xxhash<3", "scikit-learn", "statsmodels", "scipy", "numba")
K, EPSILON = 1000, 1.0
USERS = {"grr": 1_000_000, "ss": 200_000, "oue": 200_000, "olh": 200_000}
"""Users whose values are privatised at a time."""
LARGE, PEOPLE = (1000, 100_000), 1_000_000
"""Answers and users of `affine`, which no other library has: it is compared with the others' short reports, `olh`."""
DECODED = " and decode"
"""Counting reports of `affine` makes a table of reports; the others' counts are of answers, which decoding gives."""
REPORTS = {"grr": 20_000_000, "ss": 1_000_000, "oue": 1_000_000, "olh": 200_000}
"""Reports that are counted at a time: for the long ones, more than the caches hold."""


def say(text: str) -> None:
    """What is being done goes to standard error."""
    print(text, file=sys.stderr, flush=True)


def peers_python(folder: Path) -> Path:
    """The interpreter that has the other libraries, installed where it is not there yet."""
    python, stamp = folder / "bin/python", folder / "stamp"
    wanted = "\n".join(PACKAGES)
    if not stamp.exists() or stamp.read_text() != wanted:
        say(f"setting up: {folder.name} with {', '.join(PACKAGES)}")
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PACKAGES]
        subprocess.run(install, check=True, stdout=sys.stderr)
        stamp.write_text(wanted)
    return python


def theirs(folder: Path, k: int = K, *names: str) -> list[dict[str, Any]]:
    """The rows of peer_work.py, of all mechanisms unless some are named."""
    say(f"measuring: the other libraries, {k:,} answers")
    command = [str(peers_python(folder)), "-W", "ignore", str(HERE / "peer_work.py"), str(k), str(EPSILON), *names]
    found = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env={**os.environ})
    rows: list[dict[str, Any]] = json.loads(found.stdout)
    return rows


def ours(name: str) -> dict[str, float]:
    """Nanoseconds per user of one mechanism, by work."""
    say(f"measuring: {name}")
    m = dn.mechanism(name, epsilon=EPSILON, k=K)
    values = np.random.default_rng(1).integers(0, K, max(USERS[name], REPORTS[name]))
    few, reports = values[: USERS[name]], m.privatize(values[: REPORTS[name]])
    privatize, tally = best(lambda: m.privatize(few)), best(lambda: m.tally(reports))
    return {f"{name} privatize": privatize / few.size * 1e9, f"{name} tally": tally / len(reports) * 1e9}


def least(m: Mechanism, found: dict[str, float]) -> dict[str, tuple[str, float]]:
    """The unavoidable part of the work, in words and in nanoseconds per user."""
    return {
        "grr privatize": ("AES stream for a coin and a lie", 12 * found["cipher"]),
        "grr tally": ("memory read", 2 * found["read"]),
        "oue privatize": ("AES stream + bit loop", 8 * m.bulk.row_bytes * found["random_bit"]),
        "oue tally": ("memory copy", m.bulk.row_bytes * found["copy"]),
        "ss tally": ("memory copy", m.bulk.row_bytes * found["copy"]),
        "olh tally": ("hash loop without counting", K * found["hash"]),
    }


def affine(k: int) -> dict[str, float]:
    """Nanoseconds per user of `affine`: making reports, counting them, and decoding the tally of all users."""
    say(f"measuring: affine, {k:,} answers")
    m = dn.mechanism("affine", epsilon=EPSILON, k=k)
    values = np.random.default_rng(1).integers(0, k, PEOPLE)
    reports = m.privatize(values)
    tally, blocks = m.tally(reports), m.bulk.blocks  # type: ignore[attr-defined]  # it supports items
    room = np.zeros(blocks._length)
    works = {"privatize": lambda: m.privatize(values), "tally": lambda: m.tally(reports)}
    works["decode"] = lambda: m.bulk.support_counts(tally.cells)  # type: ignore[attr-defined]  # it supports items
    works["transforms"] = lambda: [np.fft.rfft(room) for _ in range(blocks.m + 1)]
    return {work: best(run) / PEOPLE * 1e9 for work, run in works.items()} | {"bytes": m.bulk.row_bytes}


def large(found: dict[str, float], folder: Path) -> list[dict[str, Any]]:
    """The rows of `affine`, each with its like in the other libraries and the unavoidable part of the work."""
    rows = []
    for k in LARGE:
        mine, others = affine(k), theirs(folder, k, "olh")
        read, transforms = mine["bytes"] * found["read"], mine["transforms"]
        times = {
            "privatize": (mine["privatize"], "AES stream for a coin and two numbers", 16 * found["cipher"]),
            "tally": (mine["tally"] + mine["decode"], "memory read + Fourier transforms", read + transforms),
        }
        for row in others:
            work = row["work"].removeprefix("olh ")
            time, limit, lowest = times[work]
            name = f"affine {work}{DECODED if work == 'tally' else ''}, k = {k:,}"
            rows.append(compared(name, row, time, (limit, lowest)))
    return rows


def compared(work: str, row: dict[str, Any], time: float, lowest: tuple[str, float] | None) -> dict[str, Any]:
    """A row of the results: another library's time and ours, their ratio, and the share of the machine's limit."""
    limit, least = lowest or (None, None)
    return {
        "work": work,
        "peer": row["peer"],
        "ours": time,
        "theirs": row["theirs"],
        "ratio": row["theirs"] / time,
        "limit": limit,
        "limit_share": least and least / time,
    }


def compare(folder: Path = VENV, *, alone: bool = False) -> dict[str, Any]:
    """All rows, with the machine and its limits; or those of `affine` alone."""
    before, found = machine(), limits.measure()
    kept = {"unit": "ns per user", "epsilon": EPSILON, "k": K, "machine": before, "limits": found}
    rows = []
    if not alone:
        mine = {work: time for name in USERS for work, time in ours(name).items()}
        lowest = least(dn.mechanism("oue", epsilon=EPSILON, k=K), found)
        rows = [compared(row["work"], row, mine[row["work"]], lowest.get(row["work"])) for row in theirs(folder)]
    return {**kept, "rows": rows + large(found, folder)}


def keep(result: dict[str, Any], *, alone: bool) -> None:
    """The rows into docs/data; those of `affine` beside the others that are there."""
    before = [row for row in read_csv("peers") if not row["work"].startswith("affine")] if alone else []
    write_csv("peers", [*before, *({**row, "load": result["machine"]["load"]} for row in result["rows"])])
    if not alone:
        figures = {**result["machine"], **{f"{name}_ns": value for name, value in result["limits"].items()}}
        write_csv("machine", [{"what": name, "value": value} for name, value in figures.items()])


def main() -> None:
    """Measure, then print or keep the results."""
    parser = argparse.ArgumentParser(description="Compare with other libraries and with the machine's limits.")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--write", action="store_true", help="keep the results in docs/data")
    parser.add_argument("--affine", action="store_true", help="measure the rows of affine and the limits alone")
    parser.add_argument("--environment", type=Path, default=VENV, metavar="DIR", help="where the other libraries live")
    asked = parser.parse_args()
    say(f"machine: {cores()} cores; load {os.getloadavg()[0]:.2f}, which should be near 0")
    result = compare(asked.environment, alone=asked.affine)
    if asked.write:
        keep(result, alone=asked.affine)
    if asked.json:
        print(json.dumps(result))
        return
    for row in result["rows"]:
        share = "" if row["limit_share"] is None else f"  {row['limit_share']:.0%} of the limit ({row['limit']})"
        print(f"{row['work']:38} {row['ours']:8.2f} {row['peer']:16} {row['theirs']:13.0f} {row['ratio']:9.0f}x{share}")


if __name__ == "__main__":
    main()
