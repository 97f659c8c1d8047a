"""A second process on the same database, in another time zone: does the steps that it is told, one a line.

As a program it reads lines of JSON, each a call of `do`, and answers each with a line: empty, or what went wrong.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
ZONE = "EAST-14"
"""Fourteen hours ahead: in the evening of UTC it is tomorrow there."""


class Beside:
    """The other process; it is there until `close`."""

    def __init__(self) -> None:
        known = os.pathsep.join(map(str, (TESTS, TESTS.parent / "src", TESTS.parent / "clients/python/src")))
        self._process = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "TZ": ZONE, "PYTHONPATH": known},
        )

    def do(self, name: str, place: object) -> None:
        """One step, over there; `AssertionError` if it went wrong."""
        self.begin(name, place)
        self.end()

    def begin(self, name: str, place: object) -> None:
        """The same, without waiting for it."""
        assert self._process.stdin is not None
        told = {key: str(value) for key, value in asdict(place).items()}  # type: ignore[call-overload]
        self._process.stdin.write(json.dumps([name, told]) + "\n")
        self._process.stdin.flush()

    def end(self) -> None:
        """Wait for what was begun."""
        assert self._process.stdout is not None
        answer = self._process.stdout.readline()
        assert answer == "\n", f"the second process: {answer or 'is gone'}"

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


def main() -> None:
    from second.steps import Place, insist

    for line in sys.stdin:
        name, told = json.loads(line)
        place = Place(told["url"], told["journal"], Path(told["folder"]))
        try:
            insist(name, place)
            print(flush=True)
        except Exception as error:
            print(f"{type(error).__name__}: {error}".replace("\n", " "), flush=True)


if __name__ == "__main__":
    main()
