"""Spark against the local engine: packed tables, and one report per row, on local[2] after start-up.

`python benchmarks/spark.py [--quick] [--json]`: 5 * 10^7 GRR and 5 * 10^6 OUE reports (k = 1000); quick: 1/20.

`spark_frame` is a data frame of the file as it is, which tasks open themselves; `spark_rows` one that Spark has to read
and hand over, since something was done to it; `spark_handed` is what Spark needs to hand the same rows to a function
that does nothing with them. So `spark_rows` less `spark_handed` is all that counting can gain there.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from measure import best, largest_memory, machine

import deniable as dn
from deniable.collect.parquet import write_table
from deniable.collect.reports import new_id
from deniable.run import spark
from deniable.run.counting import head_of
from deniable.run.local import tally_files

CASES = {"grr": 50_000_000, "oue": 5_000_000}
BATCH = 1 << 18


def batches(m: dn.Mechanism, n: int) -> Iterator[dn.Reports]:
    """Reports of n people, some at a time."""
    for start in range(0, n, BATCH):
        yield m.privatize_items(np.arange(start, min(start + BATCH, n)) % m.k)


def nothing(parts: Iterator[Any]) -> Iterator[Any]:
    """Take what Spark hands over, and say only how many rows there were."""
    import pyarrow as pa

    yield pa.RecordBatch.from_pydict({"n": pa.array([sum(part.num_rows for part in parts)])})


def compare(session: Any, folder: Path, name: str, n: int, layout: str) -> dict[str, Any]:
    """Seconds of both engines for one table; their tallies must have the same bytes."""
    m = dn.mechanism(name, epsilon=1.0, k=1000)
    path = str(folder / f"{name}-{layout}.parquet")
    write_table(path, head_of(m, id=new_id()), batches(m, n), layout=layout)
    same = dn.dump(tally_files([path])) == dn.dump(spark.count_files(session, [path]).tally)
    ours = best(lambda: tally_files([path]), least=3)
    files = best(lambda: spark.count_files(session, [path]), least=3)
    frame = best(lambda: spark.tally(session.read.parquet(path)), least=3)
    read = session.read.parquet(path).filter("true = (rand() < 2)")  # nothing is left out, but Spark cannot know
    rows = best(lambda: spark.tally(read, m), least=3)
    handed = best(lambda: read.mapInArrow(nothing, "n long").collect(), least=3)
    row = {"work": f"{name}, {layout}", "reports": n, "local": ours, "spark_files": files, "spark_frame": frame}
    row |= {"spark_rows": rows, "spark_handed": handed}
    row["bytes"] = Path(path).stat().st_size
    return row | {
        "ratio_files": files / ours,
        "ratio_frame": frame / ours,
        "ratio_rows": rows / ours,
        "same_bytes": same,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a twentieth of the reports")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    args = parser.parse_args()
    session = spark.start("local[2]", **{"spark.log.level": "OFF", "spark.ui.showConsoleProgress": "false"})
    share = 20 if args.quick else 1
    with tempfile.TemporaryDirectory() as folder:
        rows = [compare(session, Path(folder), name, n // share, "packed") for name, n in CASES.items()]
        rows += [compare(session, Path(folder), name, n // share // 10, "rows") for name, n in CASES.items()]
    session.stop()
    packed = [row for row in rows if row["work"].endswith("packed")]
    both = sum(row["spark_files"] for row in packed) / sum(row["local"] for row in packed)
    memory = round(largest_memory())
    found = {"rows": rows, "ratio_packed": both, "driver_mib": memory, "quick": args.quick, "machine": machine()}
    if args.json:
        print(json.dumps(found))
        return
    for row in rows:
        print(", ".join(f"{k} {v:.3g}" if isinstance(v, float) else f"{k} {v}" for k, v in row.items()))
    print(f"packed, both together: {both:.2f} times the local engine; driver {memory} MiB")


if __name__ == "__main__":
    main()
