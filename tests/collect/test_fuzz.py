"""Forged files: every one is read or refused, none is a fault of ours, and none takes long or much memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fuzz.cases import KINDS, forged, forged_tables

TESTS = Path(__file__).parents[1]
SECONDS, BYTES, PEAK_MIB = 5.0, 1 << 26, 1024.0
"""The most processor time that one file may take, what it may hold of memory, and what the process may."""


def examined(what: str, seed: int, count: int, way: str = "jobs", timeout: float = 900) -> dict[str, Any]:
    """What came of forged files, in a process of its own."""
    paths = [str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])]
    command = [
        sys.executable,
        "-X",
        "faulthandler",
        "-W",
        "ignore",
        "-m",
        "fuzz.harness",
        what,
        str(seed),
        str(count),
        way,
    ]
    env = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=timeout, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def sound(found: dict[str, Any], count: int) -> None:
    assert found["fault"] == 0, found["faults"]
    assert found["read"] + found["refused"] == found["tried"] == count
    assert found["read"] > 0, "the changes are too wild: nothing is read any more"
    assert found["refused"] > 0
    assert found["seconds"][0] < SECONDS, found["seconds"]
    assert found["bytes"][0] < BYTES, found["bytes"]
    assert found["peak_mib"] < PEAK_MIB


def test_forged_reports_and_tallies_are_read_or_refused() -> None:
    found = examined("files", 1, 900)
    sound(found, 900)
    assert {kind.split(",")[0] for kind in found["kinds"]} == set(KINDS)


def test_damaged_tables_are_read_or_refused() -> None:
    sound(examined("tables", 1, 600), 600)


def test_commands_never_end_in_a_fault() -> None:
    sound(examined("files", 4, 40, "commands"), 40)


def test_cases_are_the_same_for_the_same_seed() -> None:
    for make in (forged, forged_tables):
        assert list(make(9, 30)) == list(make(9, 30)) != list(make(10, 30))


@pytest.mark.slow
@pytest.mark.turns(5)
@pytest.mark.parametrize("seed", range(100, 105))
def test_many_forged_reports_and_tallies_are_read_or_refused(seed: int) -> None:
    """100,000 in all, about 4 minutes."""
    sound(examined("files", seed, 20_000, timeout=1800), 20_000)


@pytest.mark.slow
def test_many_damaged_tables_are_read_or_refused() -> None:
    """About a minute."""
    sound(examined("tables", 200, 20_000, timeout=1800), 20_000)


@pytest.mark.slow
@pytest.mark.turns(2)
@pytest.mark.parametrize("what", ["files", "tables"])
def test_many_commands_never_end_in_a_fault(what: str) -> None:
    """About a minute each."""
    sound(examined(what, 300, 600, "commands", timeout=1800), 600)
