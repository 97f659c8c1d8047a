"""Our time per user and that of other libraries for the same work, and the machine's limits, all in one run.

    python benchmarks/peers.py [--json] [--write]

`--json` prints one JSON object, `--write` keeps the results in docs/data. The other libraries live in an environment of
their own, .venv-peers, which is made when it is needed. Times are wall-clock nanoseconds per user, the best of several
runs; ours use all cores, and randomness is secure.
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
from measure import best, cores, machine, write_csv

import deniable as dn
from deniable.mechanisms.base import Mechanism

HERE = Path(__file__).resolve().parent
VENV = HERE.parent / ".venv-peers"
PACKAGES = ("multi-freq-ldpy", "pure-ldp", "xxhash<4", "scikit-learn", "statsmodels", "scipy", "numba")
K, EPSILON = 1000, 1.0
USERS = {"grr": 1_000_000, "ss": 200_000, "oue": 200_000, "olh": 200_000}
"""Users whose values are privatised at a time."""
REPORTS = {"grr": 20_000_000, "ss": 1_000_000, "oue": 1_000_000, "olh": 200_000}
"""Reports that are counted at a time: for the long ones, more than the caches hold."""


def say(text: str) -> None:
    """What is being done goes to standard error."""
    print(text, file=sys.stderr, flush=True)


def peers_python() -> Path:
    """The interpreter that has the other libraries, installed where it is not there yet."""
    python, stamp = VENV / "bin/python", VENV / "stamp"
    wanted = "\n".join(PACKAGES)
    if not stamp.exists() or stamp.read_text() != wanted:
        say(f"setting up: {VENV.name} with {', '.join(PACKAGES)}")
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(VENV)], check=True)
        install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PACKAGES]
        subprocess.run(install, check=True, stdout=sys.stderr)
        stamp.write_text(wanted)
    return python


def theirs() -> list[dict[str, Any]]:
    """The rows of peer_work.py."""
    say("measuring: the other libraries")
    command = [str(peers_python()), "-W", "ignore", str(HERE / "peer_work.py"), str(K), str(EPSILON)]
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


def compare() -> dict[str, Any]:
    """All rows, with the machine and its limits."""
    before, found = machine(), limits.measure()
    mine = {work: time for name in USERS for work, time in ours(name).items()}
    lowest = least(dn.mechanism("oue", epsilon=EPSILON, k=K), found)
    rows = [
        {
            "work": row["work"],
            "peer": row["peer"],
            "ours": mine[row["work"]],
            "theirs": row["theirs"],
            "ratio": row["theirs"] / mine[row["work"]],
            "limit": lowest[row["work"]][0] if row["work"] in lowest else None,
            "limit_share": lowest[row["work"]][1] / mine[row["work"]] if row["work"] in lowest else None,
        }
        for row in theirs()
    ]
    return {"unit": "ns per user", "k": K, "epsilon": EPSILON, "machine": before, "limits": found, "rows": rows}


def main() -> None:
    """Measure, then print or keep the results."""
    parser = argparse.ArgumentParser(description="Compare with other libraries and with the machine's limits.")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--write", action="store_true", help="keep the results in docs/data")
    asked = parser.parse_args()
    say(f"machine: {cores()} cores; load {os.getloadavg()[0]:.2f}, which should be near 0")
    result = compare()
    if asked.write:
        write_csv("peers", [{**row} for row in result["rows"]])
        figures = {**result["machine"], **{f"{name}_ns": value for name, value in result["limits"].items()}}
        write_csv("machine", [{"what": name, "value": value} for name, value in figures.items()])
    if asked.json:
        print(json.dumps(result))
        return
    for row in result["rows"]:
        share = "" if row["limit_share"] is None else f"  {row['limit_share']:.0%} of the limit ({row['limit']})"
        print(f"{row['work']:14} {row['peer']:16} {row['ours']:8.1f} {row['theirs']:11.0f} {row['ratio']:9.0f}x{share}")


if __name__ == "__main__":
    main()
