"""Which tests reach which functions: a plugin of pytest that writes it down, for lists of mutants.

    pytest -p mutants.reach --reach-to DIR -m "not slow"
    pytest -p mutants.reach --reach-to DIR --reach-few 2 -m "not slow" tests/service

Every worker writes DIR/NAME.json: for each function of ours ("file:line" of its first line) the quickest tests of
every file that call it, with their seconds; from time to time, so that what is known can be used before the end. With
`--reach-few` so many cases of every test are run, which says almost as much in a fraction of the time. Tests that start
other programs do not see these, as in `run.py`.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

from mutants.run import ROOT, SOURCES

KEPT = 4
"""So many tests of each function and file of tests."""
OFTEN = 50
"""What is known is written after so many tests."""


class Reach:
    """Collects for each function who calls it."""

    def __init__(self, folder: Path, worker: str) -> None:
        self.path = folder / f"{worker}.json"
        self.places: dict[CodeType, str] = {}
        self.now: set[str] = set()
        self.found: dict[str, dict[str, list[tuple[float, str]]]] = {}
        self.ran = 0

    def place(self, code: CodeType) -> str:
        """Where a function of ours begins; nothing for those of others."""
        for base in SOURCES:
            start = f"{ROOT}/{base}/"
            if code.co_filename.startswith(start):
                return f"{code.co_filename[len(str(ROOT)) + 1 :]}:{code.co_firstlineno}"
        return ""

    def trace(self, frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        place = self.places.get(code)
        if place is None:
            place = self.places[code] = self.place(code)
        if place:
            self.now.add(place)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.now = set()
        sys.settrace(self.trace)
        threading.settrace(self.trace)
        start = time.process_time()
        try:
            return (yield)
        finally:
            sys.settrace(None)
            threading.settrace(None)
            spent = round(time.process_time() - start, 3)
            for place in self.now:
                own = self.found.setdefault(place, {}).setdefault(item.nodeid.partition("::")[0], [])
                own.append((spent, item.nodeid))
                own.sort()
                del own[KEPT:]
            self.ran += 1
            if self.ran % OFTEN == 0:
                self.write()

    def pytest_sessionfinish(self) -> None:
        self.write()

    def write(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(json.dumps(self.found))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--reach-to", type=Path, help="a folder for what tests reach")
    parser.addoption("--reach-few", type=int, help="run so many cases of every test at most")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    few, seen = config.getoption("--reach-few"), Counter[str]()
    if few is not None:
        names = [item.nodeid.partition("[")[0] for item in items]
        items[:] = [item for item, name in zip(items, names, strict=True) if seen.update([name]) or seen[name] <= few]


def pytest_configure(config: pytest.Config) -> None:
    folder = config.getoption("--reach-to")
    if folder is not None:
        worker = getattr(config, "workerinput", {}).get("workerid", "main")
        config.pluginmanager.register(Reach(folder, worker), "reach")
