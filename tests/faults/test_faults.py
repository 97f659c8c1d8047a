"""Machines, disks and processes that fail: nothing that was acknowledged is lost, and the control does lose."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ZEROS = ("lost", "doubled", "strays", "damaged", "crashes", "server_errors", "accepted_invalid")


def run(*args: str) -> dict[str, object]:
    command = [sys.executable, str(ROOT / "benchmarks" / "faults.py"), "--quick", "--json", *args]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, object] = json.loads(done.stdout)
    assert {name: found[name] for name in ZEROS} == dict.fromkeys(ZEROS, 0)
    return found


@pytest.mark.turns(2)
@pytest.mark.slow
def test_disks_that_lose_and_refuse() -> None:
    found = run("--part", "power", "--part", "disk", "--part", "mutated")
    assert found["control_failed"] is True
    assert (found["power_losses"], found["mutated"]) == (150, 100_000)
    assert int(str(found["disk_faults"])) > 100
    assert int(str(found["refused"])) > 100


@pytest.mark.slow
def test_processes_that_are_killed() -> None:
    found = run("--part", "kills")
    assert found["kills"] == 4


@pytest.mark.slow
def test_processes_that_are_killed_on_postgres() -> None:
    pytest.importorskip("pgserver", reason="pip install pgserver (Python below 3.13) to test PostgreSQL")
    found = run("--part", "postgres")
    assert (found["postgres_kills"], found["postgres_server_kills"]) == (2, 2)
