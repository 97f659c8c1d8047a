"""Made-up cases of Hypothesis are the same in every run, and no clock decides: a test fails for what it found alone.

pytest --hypothesis-profile=search     # other cases each time, to look further
pytest --turn 20774                    # of cases that take turns, those of this day only (tiers.py)
pytest --failed-to FILE                # also write which tests failed, for again.py
pytest --figures-to FILE               # also write how many tests there were, and where the time went
"""

from __future__ import annotations

import gc
import json
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tiers import LIMITS, waiting

settings.register_profile("same", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("search", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("same")

gc.disable()  # tens of thousands of tests are collected, none of which goes: looking through them takes a third of it


def pytest_collection_finish() -> None:
    """From here on only what is new is looked through."""
    gc.freeze()
    gc.enable()


def pytest_unconfigure() -> None:
    """At the end everything may go."""
    gc.unfreeze()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--turn", type=int, metavar="DAY", help="of cases that take turns only those of this day's number")
    parser.addoption("--failed-to", metavar="FILE", help="a file for the tests that failed and what they said, as JSON")
    parser.addoption("--figures-to", metavar="FILE", help="a file for numbers of tests and seconds, as JSON")


def pytest_configure(config: pytest.Config) -> None:
    for name, kind in (("--failed-to", Failures), ("--figures-to", Figures)):
        if config.getoption(name) and not hasattr(config, "workerinput"):
            config.pluginmanager.register(kind(Path(config.getoption(name))))


class Figures:
    """Writes down how many tests passed, failed and were skipped, and the files that took longest."""

    def __init__(self, path: Path) -> None:
        self._path, self._start = path, time.monotonic()
        self._outcomes, self._seconds = Counter[str](), Counter[str]()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A test passed if it was called and did; everything else counts in any of its phases."""
        self._seconds[report.nodeid.partition("::")[0]] += report.duration
        if report.when == "call" or report.outcome != "passed":
            self._outcomes[report.outcome] += 1

    def pytest_sessionfinish(self) -> None:
        """All of them are known now."""
        figures = {
            "day": str(datetime.now(UTC).date()),
            "minutes": round((time.monotonic() - self._start) / 60, 1),
            **dict(sorted(self._outcomes.items())),
            "seconds of files": {name: round(seconds) for name, seconds in self._seconds.most_common(25)},
        }
        self._path.write_text(json.dumps(figures, indent=1) + "\n")


class Failures:
    """Writes down which tests failed, with the last line of what each said."""

    def __init__(self, path: Path) -> None:
        self._path, self._failed = path, dict[str, str]()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Of set-up, the test and tear-down, whatever fails."""
        if report.failed:
            lines = str(report.longrepr).strip().splitlines() or [""]
            said = next((line[1:].strip() for line in lines if line.startswith("E ")), lines[-1])
            self._failed.setdefault(report.nodeid, said[:120].replace("|", "/"))

    def pytest_sessionfinish(self) -> None:
        """All of them are known now."""
        self._path.write_text(json.dumps(self._failed))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Every test has a limit of its own; cases whose turn is on another day are left out; what takes minutes begins."""
    for item in items:
        if item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(LIMITS[item.get_closest_marker("slow") is not None]))
    day = config.getoption("--turn")
    late = waiting(items, day) if day is not None else set()
    if late:
        config.hook.pytest_deselected(items=[item for item in items if item in late])
        items[:] = [item for item in items if item not in late]
    items.sort(key=lambda item: item.get_closest_marker("first") is None)
