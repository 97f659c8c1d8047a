"""A run of pytest whose failures are tried once more, each alone: what passes then is unstable, not broken.

    python tests/again.py [ARGUMENTS OF PYTEST]      from the folder of the project

A test that fails among others and passes alone shares something with them, or hangs on a clock or on load: a fault like
any other, but not of what was changed. The run is then green; its last lines name the test, and `unstable.md` gets a
row with the day and what the test said, which stays until its cause is found and mended. A test that fails again is
broken, and so is a run that could not collect its tests or in which many of them fail.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

__all__ = ["LIST", "rows_of", "tried"]

LIST = Path("tests/unstable.md")
FAILED_TO = "--failed-to"
MOST = 10
"""More failures than these are no accident; they are not tried again."""
_FAILED = 1
"""How pytest says that tests failed, and nothing else went wrong."""


def tried(arguments: Sequence[str]) -> int:
    """Run pytest; the exit status: 0 if all tests passed, or those that did not passed alone."""
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder) / "failed.json"
        status = _pytest(*arguments, FAILED_TO, str(told))
        failed: dict[str, str] = json.loads(told.read_text()) if told.exists() else {}
    if status != _FAILED or not failed:
        return status
    if len(failed) > MOST:
        print(f"{len(failed)} tests failed: too many to be tried again alone.")
        return status
    print(f"\n{len(failed)} failed; each is tried once more, alone.")
    broken = [test for test in failed if _pytest("-q", "-n", "0", test)]
    unstable = {test: said for test, said in failed.items() if test not in broken}
    note(unstable)
    for test in broken:
        print(f"broken: {test}")
    for test, said in unstable.items():
        print(f"unstable, passed alone: {test} ({said}); find out why: {LIST}")
    return _FAILED if broken else 0


def _pytest(*arguments: str) -> int:
    sys.stdout.flush()
    return subprocess.run([sys.executable, "-m", "pytest", *arguments], check=False).returncode


def rows_of(text: str) -> list[tuple[str, str, str]]:
    """The rows of the list: day, test, and what it said or why."""
    cells = [line.strip().strip("|").split(" | ") for line in text.splitlines() if line.startswith("| 2")]
    return [(day.strip(), test.strip().strip("`"), " | ".join(why).strip()) for day, test, *why in cells]


def note(unstable: dict[str, str]) -> None:
    """Add rows to the list, for tests that it does not have."""
    known = {test for _, test, _ in rows_of(LIST.read_text())}
    day = datetime.now(UTC).date()
    with LIST.open("a") as file:
        for test, said in unstable.items():
            if test not in known:
                file.write(f"| {day} | `{test}` | not known yet: {said} |\n")


if __name__ == "__main__":
    sys.exit(tried(sys.argv[1:]))
