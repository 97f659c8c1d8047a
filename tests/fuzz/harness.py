"""Runs forged files in a process of its own, and tells what came of them: answers, refusals, faults, time, memory.

    python -m fuzz.harness files|tables SEED COUNT [WAY]

prints one JSON object. WAY is `jobs` (the functions behind the commands) or `commands` (the command line itself).
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import tempfile
import time
import tracemalloc
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from deniable.cli import main
from deniable.errors import DeniableError
from deniable.kernels import using
from deniable.run.files import read_values
from deniable.run.local import estimate_files, tally_files
from fuzz.cases import Case, forged, forged_tables
from fuzz.memory import largest_memory

SHOWN = 20
"""Faults that are told in full."""


def by_jobs(path: str, case: Case) -> None:
    """Read a file in the ways that there are; values are only read."""
    if case.source.endswith((".reports", ".tally")):
        tally_files([path])
        estimate_files([path])
        return
    for chunk in read_values(path, 32, column=None):
        len(chunk.cells)


def by_commands(path: str, case: Case) -> None:
    """The same on the command line; exit codes but 0 and 2 are faults."""
    own = ["estimate", path]
    if not case.source.endswith((".reports", ".tally")):
        own = ["privatize", "grr", "--epsilon", "1", "--k", "100", path, "--out", path + ".out"]
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(own)
    if code == 2:
        raise DeniableError(err.getvalue())
    assert code == 0, f"exit code {code}: {err.getvalue()}"


WAYS: dict[str, Callable[[str, Case], None]] = {"jobs": by_jobs, "commands": by_commands}


def examine(what: str, seed: int, count: int, way: str = "jobs") -> dict[str, Any]:
    """What came of `count` forged files."""
    cases = {"files": forged, "tables": forged_tables}[what](seed, count)
    tried, kinds = Counter[str](), Counter[str]()
    faults: list[str] = []
    slowest: tuple[float, str] = (0.0, "")
    largest: tuple[int, str] = (0, "")
    if way == "jobs":  # parsing a command line would take far longer while it is watched
        tracemalloc.start()  # once: stopped beside a thread that allocates, it ends the process (CPython issue 128679)
    with tempfile.TemporaryDirectory() as folder, using("reference"):
        for i, case in enumerate(cases):
            path = Path(folder) / f"f{Path(case.source).suffix}"
            path.write_bytes(case.data)
            if way == "jobs":
                tracemalloc.reset_peak()
            held = tracemalloc.get_traced_memory()[0]
            begin = time.process_time()
            try:
                WAYS[way](str(path), case)
                outcome = "read"
            except DeniableError:
                outcome = "refused"
            except Exception as error:  # what is looked for
                outcome = "fault"
                faults.append(f"{i} {case.kind} {case.source}: {type(error).__name__}: {error}"[:400])
            spent, peak = time.process_time() - begin, tracemalloc.get_traced_memory()[1] - held
            tried[outcome] += 1
            kinds[f"{case.kind}, {outcome}"] += 1
            slowest = max(slowest, (spent, f"{i} {case.kind} {case.source}"))
            largest = max(largest, (peak, f"{i} {case.kind} {case.source}"))
    return {
        "tried": count,
        **{name: tried[name] for name in ("read", "refused", "fault")},
        "kinds": dict(sorted(kinds.items())),
        "faults": faults[:SHOWN],
        "seconds": slowest,
        "bytes": largest,
        "peak_mib": largest_memory(),
    }


if __name__ == "__main__":
    found = examine(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:5])
    sys.stdout.write(json.dumps(found, indent=1) + "\n")
