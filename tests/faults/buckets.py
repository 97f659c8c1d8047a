"""Reports with a bucket each, and what is counted of them: what the tests of faults have in common."""

from __future__ import annotations

import os
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import deniable as dn
from deniable.service.store.care import migrate
from deniable.service.store.contract import Incoming, Upload
from deniable.service.store.database import Database
from deniable.service.store.sqlite import Driver, SqliteEngine
from deniable_client.task import Task

Found = Counter[str]
Tell = Callable[[str], None]
BUCKETS = 1024


class Sent:
    """Reports with a bucket each; `acked` are those that were acknowledged, in that order."""

    def __init__(self, size: int = BUCKETS) -> None:
        self.design = dn.mechanism("grr", epsilon=1.0, k=size).design
        self.reports: list[Incoming] = []
        self.acked: list[int] = []

    def new(self, n: int) -> list[int]:
        """The next reports."""
        first = len(self.reports)
        self.reports += [Incoming(os.urandom(16), i.to_bytes(2, "little")) for i in range(first, first + n)]
        return list(range(first, first + n))

    def upload(self, task: Task, numbers: list[int]) -> Upload:
        """An upload of some of them."""
        return Upload(task.id, task.opens, [self.reports[i] for i in numbers])


def counts_of(store: Database, task: Task, size: int = BUCKETS) -> np.ndarray[Any, np.dtype[np.int64]]:
    """How often each bucket was counted, over all windows."""
    found = np.zeros(size, np.int64)
    for tally in store.tallies(task.id).values():
        found += tally.cells["support"][0]
    return found


def settle(store: Database, task: Task, sent: Sent, acked: int, known: int, found: Found) -> None:
    """Compare what is counted with what was sent and acknowledged; then send all again, and compare once more."""
    size = sent.design["domain"]["k"]
    if store.task(task.id) is None:
        found["lost"] += acked  # with the task itself: only where nothing is synced
        return
    counts = counts_of(store, task, size)
    found["lost"] += int((counts[sent.acked[:acked]] == 0).sum())
    found["doubled"] += int((counts > 1).sum())
    found["strays"] += int((counts[known:] > 0).sum())
    found["damaged"] += len(store.check())
    for start in range(0, known, 500):
        store.add([sent.upload(task, list(range(start, min(start + 500, known))))])
    again = counts_of(store, task, size)
    found["doubled"] += int((again > 1).sum())
    found["lost"] += int((again[:known] == 0).sum())


def store_on(path: Path, driver: Driver, synchronous: str) -> Database:
    engine = SqliteEngine(path, driver, synchronous=synchronous)
    migrate(engine)
    return Database(engine)


def in_memory() -> str | None:
    """A folder in memory, where there is one: these disks need no real one."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


@contextmanager
def guarded(found: Found) -> Iterator[None]:
    """Whatever is raised is a crash, is shown, and does not end the run."""
    try:
        yield
    except Exception:
        shown(found, "crashes")


def shown(found: Found, name: str) -> None:
    """Count what should not be, and show the first few."""
    found[name] += 1
    if found[name] <= 3:
        traceback.print_exc()
