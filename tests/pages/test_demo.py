"""The demonstration with its collector left open: whoever ends it gets no traceback, and nothing stays behind."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest


def begun(people: int, folder: Path, *more: str) -> subprocess.Popen[str]:
    """A demonstration as a terminal starts it: in a group of its own."""
    command = [sys.executable, "-u", "-m", "deniable", "demo", "--people", str(people), "--out", str(folder), *more]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, start_new_session=True)


def told(process: subprocess.Popen[str], what: str) -> re.Match[str]:
    """Wait until it says so."""
    assert process.stdout is not None
    assert process.stderr is not None
    text = ""
    while not (found := re.search(what, text)):
        line = process.stdout.readline()
        assert line, text + process.stderr.read()
        text += line
    return found


def all_gone(process: subprocess.Popen[str]) -> bool:
    """No process of the group is left, a moment after it ended: helpers notice that and go."""
    for _ in range(300):
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.2)
    return False


@pytest.mark.turns(2)
@pytest.mark.slow
@pytest.mark.parametrize("to_all", [True, False], ids=["group", "process"])
def test_a_demonstration_is_interrupted_while_devices_answer(tmp_path: Path, to_all: bool) -> None:
    """By Control-C, which all processes get, and by a signal to it alone: a word, the usual code, nothing left behind.

    It does not wait for the devices that have not answered: these are few of 45,000.
    """
    with begun(45_000, tmp_path) as process:
        told(process, "3. OPEN")
        time.sleep(3)  # the collector starts, and devices begin
        (os.killpg if to_all else os.kill)(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=300)
    assert errors.splitlines()[-1].startswith("interrupted;")
    assert "Traceback" not in errors
    assert process.returncode == 130
    assert all_gone(process)
    assert not (tmp_path / "tally.bin").exists()


@pytest.mark.turns(2)
@pytest.mark.slow
@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def test_a_demonstration_is_kept_until_it_is_ended(tmp_path: Path, by: signal.Signals) -> None:
    with begun(1000, tmp_path, "--keep") as process:
        found = told(process, r"http://127\.0\.0\.1:\d+/t/[0-9a-f]{64}")
        with urllib.request.urlopen(found[0], timeout=60) as page:
            assert b"What is your job?" in page.read()
        os.killpg(process.pid, by)
        rest, errors = process.communicate(timeout=300)
    assert errors == ""
    assert "The collector is stopped." in rest
    assert process.returncode == 0
    assert all_gone(process)
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(found[0], timeout=60)
    kept = (tmp_path / "dashboard.html").read_text("utf-8")
    assert "<svg" in kept
    assert not re.search(r'(?:src|href)="/static', kept)
    assert "<script" not in kept
