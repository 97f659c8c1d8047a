"""Ten thousand devices and a server that wants to know: what arrives tells no more than epsilon, and silence nothing.

Reports are derived from fixed secrets, for fixed tasks on a fixed day: the same in every run.
"""

from __future__ import annotations

import hashlib
import math
import os
import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import deniable as dn
from deniable.service.access.identity import Identity
from deniable.service.settings import Settings
from deniable.service.tasks import Asked
from deniable_client import Task
from deniable_client.ledger import Ledger
from service.calling import OPENS, task_of
from service.running import Running

pytestmark = [pytest.mark.slow, pytest.mark.stat, pytest.mark.first, pytest.mark.turns(3)]

DEVICES = 5000
"""Of each of the two questions."""
NOW = datetime(OPENS.year, OPENS.month, OPENS.day, 12, tzinfo=UTC)
YES_NO = dn.mechanism("grr", epsilon=1.0, labels=["no", "yes"])
BOUND = math.e / (1 + math.e)
"""How often the best guess between two answers is right at epsilon 1."""


@pytest.fixture
def running() -> Iterator[Running]:
    with Running(Settings(port=0)) as found:
        found.service.now = NOW
        yield found


@pytest.fixture
def folder() -> Iterator[Path]:
    """In memory where there is such a place: ledgers wait for the disk at every step."""
    place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=place) as made:
        yield Path(made)


def asked(text: str, seed: int) -> dict[str, Any]:
    return task_of(Asked(text=text, design=YES_NO.design, none="no"), identity=Identity(bytes([seed]) * 32))


def ledger_of(folder: Path, number: int) -> Ledger:
    secret = hashlib.sha256(f"device {number}".encode()).digest()
    return Ledger(folder / str(number), secret=secret, delay=0, clock=NOW.timestamp)


def said(running: Running, task: str) -> dict[str, bytes]:
    """What the server has: the body of each report by its id."""
    return {
        row.id.hex(): row.body for upload in running.service.uploads if upload.task == task for row in upload.reports
    }


def error(share: float, n: int) -> float:
    return math.sqrt(share * (1 - share) / n)


def right(guesses: Sequence[bool], truth: Sequence[bool]) -> float:
    return sum(guess == true for guess, true in zip(guesses, truth, strict=True)) / len(truth)


def test_outside_or_inside_is_told_no_better_than_epsilon_allows(running: Running, folder: Path) -> None:
    """Half of the people have a value that the question has no answer for. Three standard errors: alpha 0.0027."""
    task = Task.load(asked("Tea today?", 1))
    running.service.add(task.document)
    url, ids, truth = f"http://127.0.0.1:{running.port}", [], []
    for number in range(DEVICES):
        ledger, inside = ledger_of(folder, number), number % 2 == 0
        ids.append(ledger.answer(task, "yes" if inside else 73.41528, url=url).id)
        truth.append(inside)
        assert ledger.flush(url).sent == 1
        (folder / str(number)).unlink()
    found = said(running, task.id)
    assert set(ids) == set(found)  # nobody is silent
    accuracy = right([found[id] == b"\1" for id in ids], truth)
    assert abs(accuracy - BOUND) < 3 * error(BOUND, DEVICES)
    assert right(truth, truth) - BOUND > 3 * error(BOUND, DEVICES)  # who was silent outside would be read each time


def test_whether_somebody_took_part_elsewhere_is_not_told(running: Running, folder: Path) -> None:
    """Half of the people answered another collector about the same subject before. Three standard errors."""
    ours, theirs = Task.load(asked("Tea today?", 1)), Task.load(asked("Ever tested?", 2))
    assert ours.key != theirs.key
    for each in (ours, theirs):
        running.service.add(each.document)
    url, ids, truth = f"http://127.0.0.1:{running.port}", [], []
    for number in range(DEVICES):
        ledger, elsewhere = ledger_of(folder, number), number % 2 == 0
        if elsewhere:
            ledger.answer(theirs, "yes", url=url)
            assert ledger.flush(url, task=theirs).sent == 1
        ids.append(ledger.answer(ours, "yes", url=url).id)
        truth.append(elsewhere)
        assert ledger.flush(url, task=ours).sent == 1
        (folder / str(number)).unlink()
    found = said(running, ours.id)
    assert set(ids) == set(found)
    told = [found[id] == b"\1" for id in ids]
    assert abs(right(told, truth) - 0.5) < 3 * error(0.5, DEVICES)
