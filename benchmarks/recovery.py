"""How many single reports, and how much of their order, the files of a database tell, after each stage of a task.

    python benchmarks/recovery.py [--reports N] [--engine sqlite|postgres ...] [--json]

Reports come one by one, each in a commit of its own. The scan knows every former tally, every body and every hash of an
id, and looks for them in all files: of PostgreSQL (`pip install pgserver`) those of the tables and the server's log,
with the settings of docs/howto/operate.md. `committed` is the control: the time of these reports is not over.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[0] = str(ROOT / "tests")  # in place of this folder, which has another `service`

from service.databases import forgetful_postgres  # noqa: E402
from service.recovery import COMMITTED, life  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reports", type=int, default=1000, metavar="N", help="single reports (1000)")
    parser.add_argument("--engine", action="append", choices=("sqlite", "postgres"), help="both if left out")
    parser.add_argument("--json", action="store_true", help="print one JSON object a line")
    given = parser.parse_args()
    late = 0
    for engine in given.engine or ("sqlite", "postgres"):
        with tempfile.TemporaryDirectory() as folder, forgetful_postgres() if engine == "postgres" else nullcontext():
            for stage in life(engine, Path(folder), given.reports, bodies=True):
                late += not stage.clean and stage.name not in COMMITTED
                found = {"engine": engine, "stage": stage.name, **asdict(stage.found), "kept": stage.kept}
                print(json.dumps(found) if given.json else "  ".join(f"{name} {what}" for name, what in found.items()))
    return 1 if late else 0


if __name__ == "__main__":
    raise SystemExit(main())
