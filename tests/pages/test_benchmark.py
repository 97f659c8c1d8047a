"""The mechanics of benchmarks/pages.py. No test here measures time."""

from __future__ import annotations

import importlib.util
from copy import deepcopy
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "pages.py"
FINE: dict[str, Any] = {
    "k": 1000,
    "dashboard": {
        "server": {"first": 300.0, "again": 50.0},
        "bytes": 17_000,
        "bare": 40.0,
        "cold": {"text": 500.0, "browser": 2500.0},
        "text": {"first": 400.0, "again": 200.0},
        "browser": {"first": 900.0, "again": 400.0},
    },
    "survey": {"choice": 55_000, "places": 60_000},
    "paint": 120.0,
}


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("benchmark_of_pages", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def test_nothing_is_missed_where_all_is_fine(script: ModuleType) -> None:
    """The pictures of a process that has drawn nothing yet have no bar; without a browser there is less to miss."""
    assert script.missed(FINE) == []
    assert script.missed({"k": 1000, "dashboard": {"server": {"first": 300.0, "again": 50.0}}}) == []


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        (("dashboard", "server", "again"), 1000.0, "1,000 ms (server, again)"),
        (("dashboard", "text", "first"), 1200.0, "1,200 ms (text, first)"),
        (("dashboard", "browser", "first"), 1500.0, "1,500 ms (browser, first)"),
        (("dashboard", "cold", "text"), 1100.0, "1,100 ms (text, cold)"),
        (("survey", "places"), 60_001, "of the kind places loads 60,001 bytes"),
        (("paint",), None, "paints nothing without its scripts"),
    ],
)
def test_every_bar_can_be_missed(script: ModuleType, path: tuple[str, ...], value: Any, told: str) -> None:
    found = deepcopy(FINE)
    place = found
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    (wrong,) = script.missed(found)
    assert told in wrong
