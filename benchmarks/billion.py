"""A billion people on one machine: made up by a seeded law, privatised securely, counted, estimated, in little memory.

`python benchmarks/billion.py [--quick] [--json]`: GRR (k = 16) for 10^9 people, OLH (k = 1000) for 10^8; quick: 1/100.
Nothing is kept but a batch and a tally. The share is that of the least time that this machine could take, measured in
the same run: random bytes of the secure stream, reading and writing the reports once, and hashing for OLH.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

import numpy as np
from limits import measure
from measure import largest_memory, machine

import deniable as dn

CASES = {"grr": (16, 1_000_000_000), "olh": (1000, 100_000_000)}
BATCH = 1 << 20


def people(k: int) -> np.ndarray[Any, Any]:
    """Items of a batch of people, by a seeded law: rare ones are many."""
    weights = 1 / np.arange(1, k + 1)
    return np.random.default_rng(18).choice(k, BATCH, p=weights / weights.sum())


def run(name: str, k: int, n: int, limits: dict[str, float]) -> dict[str, Any]:
    """Seconds, bytes, memory and share of the limit of one mechanism."""
    m = dn.mechanism(name, epsilon=1.0, k=k)
    items = people(k)
    truth = np.zeros(k)
    total = m.empty()
    m.tally(m.privatize_items(items[: 1 << 18]))  # loads the compiled loops
    start, done = time.perf_counter(), 0
    while done < n:
        part = np.roll(items, done)[: min(BATCH, n - done)]
        total = total + m.tally(m.privatize_items(part))
        truth += np.bincount(part, minlength=k)
        done += part.size
    estimate = m.estimate(total)
    seconds = time.perf_counter() - start
    size = m.bulk.row_bytes
    least = 8 * limits["cipher"] + 2 * size * limits["copy"] + (k * limits["hash"] if name == "olh" else 0)
    worst = float(np.abs((estimate.value - truth / n) / estimate.stderr).max())
    return {
        "work": f"{name} (k = {k})",
        "people": n,
        "seconds": round(seconds, 2),
        "per_second": round(n / seconds),
        "bytes": n * size,
        "peak_mib": round(largest_memory()),
        "limit_share": round(least * 1e-9 * n / seconds, 3),
        "largest_error_in_standard_errors": round(worst, 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a hundredth of the people")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    args = parser.parse_args()
    limits = measure()
    rows = [run(name, k, n // (100 if args.quick else 1), limits) for name, (k, n) in CASES.items()]
    found = {"rows": rows, "quick": args.quick, "limits_ns": limits, "machine": machine()}
    if args.json:
        print(json.dumps(found))
        return
    for row in rows:
        print(
            ", ".join(
                f"{name} {value:,}" if isinstance(value, int) else f"{name} {value}" for name, value in row.items()
            )
        )


if __name__ == "__main__":
    main()
