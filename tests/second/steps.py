"""What a collector goes through in its life, step by step; each step may be done again, here or in another process.

Two tasks: one with two questions, two strata, three windows of five days and reports that are kept; one whose devices
send the same report in both of its windows, so that only one of them is ever published. What the steps must lead to
stands in `SENT`, `LEAST` and the model in test_store.py, not in what the first run found.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import deniable as dn
from deniable.collect.codec import ReportReader, dump, read
from deniable.errors import ParameterError
from deniable.service.access.keys import is_valid, new_key, revoke, rotate
from deniable.service.export import write_reports
from deniable.service.ingest import intake_of
from deniable.service.limits.clocks import Watch, confirm
from deniable.service.release import Window, publish
from deniable.service.store import open_store
from deniable.service.store.contract import Batch, Incoming, StoreUnavailableError, Upload
from deniable.service.store.database import Database
from deniable.service.upkeep import Upkeep
from deniable_client.canonical import canonical
from deniable_client.task import Task
from service.making import DAY, body, task_document

__all__ = ["LEAST", "SAME", "SENT", "STEPS", "TWO", "Place", "do", "insist", "state_of"]

LEAST, DAYS = 10, 5
DESIGN = dn.mechanism("grr", epsilon=1.0, k=250).design
TWO = task_document([DESIGN] * 2, strata={"a": ["0", "1"]}, min_batch=LEAST, keep="60", days=DAYS, count=3)
SAME = task_document(DESIGN, subject="same", min_batch=LEAST, memory="remembered", days=DAYS, count=2)
SENT: Mapping[tuple[str, int, int], int] = {
    ("two", 0, 0): 12,
    ("two", 0, 1): 15,
    ("two", 1, 0): 20,
    ("two", 1, 1): 9,  # fewer than the minimum batch
    ("two", 2, 0): 11,
    ("two", 2, 1): 3,
    ("same", 0, 0): 10,
    ("same", 1, 0): 11,  # the same ten and one more
}
"""Reports of each task, window and question."""
_TASKS = {"two": TWO, "same": SAME}
_LOADED: dict[str, Task] = {}


def task_of(name: str) -> Task:
    """A task by its short name, read once."""
    if name not in _LOADED:
        _LOADED[name] = Task.load(_TASKS[name])
    return _LOADED[name]


def value_of(window: int, question: int, i: int) -> int:
    """The report of a person: which window and question it belongs to can be seen from it."""
    return 80 * window + 40 * question + i


def reports_of(name: str, window: int) -> list[Incoming]:
    """All reports of a window, with ids that are the same in every life."""
    task, found = task_of(name), []
    for (whose, when, question), n in SENT.items():
        for i in range(n) if (whose, when) == (name, window) else ():
            id = sha256(f"{name}/{window}/{question}/{i}".encode()).digest()[:16]
            sent = bytes([value_of(0 if name == "same" else window, question, i)])
            found.append(Incoming(id, body(task, question, [i % 2] if name == "two" else [], sent)))
    return found


@dataclass
class Place:
    """A database, its journal, where copies go, and who has it open."""

    url: str
    journal: str
    folder: Path

    @contextmanager
    def opened(self) -> Iterator[Database]:
        """The store; nothing is settled but by the steps."""
        store = open_store(self.url, self.journal, settle_seconds=3600)
        try:
            yield store
        finally:
            store.engine.close()  # as a process that ends without a word


# ---- steps


def _begin(store: Database, place: Place, now: datetime) -> None:
    for document in _TASKS.values():
        store.put_task(str(document["id"]), canonical(document))
        store.set_state(str(document["id"]), "open")
    for name in ("ann", "bob", "eve"):
        try:
            new_key(store, "analyst", today=now.date(), name=name)
        except ParameterError:  # it was made before, or a moment ago by another process
            assert name in {key.name for key in list(store.keys())}


def _sent(window: int) -> Callable[[Database, Place, datetime], None]:
    def step(store: Database, place: Place, now: datetime) -> None:
        """Uploads of both tasks, cut in the midst: each is one commit."""
        for name in ("two", "same"):
            reports, task = reports_of(name, window), task_of(name)
            for part in (reports[: len(reports) // 2], reports[len(reports) // 2 :]) if reports else ():
                (outcomes,) = store.add([Upload(task.id, now.date(), part)])
                assert {outcome.status for outcome in outcomes} <= {"accepted", "duplicate"}, outcomes

    return step


def _tidied(store: Database, place: Place, now: datetime) -> None:
    """A round of upkeep; what it could not do is an error here."""
    watch = Watch(store, 366, lambda: now, lambda: now.timestamp())
    confirm(store, now)
    upkeep = Upkeep(store, watch)
    upkeep.round()
    if upkeep.faults:
        raise StoreUnavailableError(f"upkeep: {upkeep.faults}")


def _keys(store: Database, place: Place, now: datetime) -> None:
    """One is replaced and works for a while, one is void at once."""
    revoke(store, "eve", now.date())
    if {key.name: key.revoked for key in list(store.keys())}["bob"] is None:
        try:
            rotate(store, "bob", today=now.date(), days=3)
        except ParameterError:  # another process did it a moment ago, wholly
            assert {key.name: key.revoked for key in list(store.keys())}["bob"] is not None


def _copied(store: Database, place: Place, now: datetime) -> None:
    """A copy for which nobody needs to have waited: a second one is refused, as it should be."""
    target = place.folder / "copy"
    try:
        store.backup(target)
    except ParameterError:
        assert target.exists()


def _settled(store: Database, place: Place, now: datetime) -> None:
    store.settle()


def _closed(store: Database, place: Place, now: datetime) -> None:
    """By hand, before its last window is over; and published."""
    id = task_of("two").id
    store.set_state(id, "closed")
    row = store.task(id)
    assert row is not None
    publish(store, row, intake_of(row.document), now)


def _at(day: int, hour: int = 12) -> datetime:
    return datetime(DAY.year, DAY.month, DAY.day, hour, tzinfo=UTC) + timedelta(day)


STEPS: Mapping[str, tuple[datetime, Callable[[Database, Place, datetime], None]]] = {
    "begin": (_at(0), _begin),
    "first window": (_at(1, 23), _sent(0)),
    "settle": (_at(1), _settled),
    "keys": (_at(2, 23), _keys),
    "copy": (_at(3), _copied),
    "first upkeep": (_at(DAYS, 1), _tidied),
    "second window": (_at(DAYS, 1), _sent(1)),
    "second upkeep": (_at(2 * DAYS + 2), _tidied),
    "third window": (_at(2 * DAYS + 2, 14), _sent(2)),
    "close": (_at(2 * DAYS + 3), _closed),
    "last upkeep": (_at(2 * DAYS + 3), _tidied),
    "erase": (_at(3 * DAYS + 61), _tidied),
}
"""Each with the time at which it is done."""


def do(name: str, store: Database, place: Place) -> None:
    """One step."""
    now, step = STEPS[name]
    step(store, place, now)


def insist(name: str, place: Place, tries: int = 20) -> None:
    """One step by a process of its own, again while others are in its way."""
    for left in range(tries, 0, -1):
        try:
            with place.opened() as store:
                do(name, store, place)
            return
        except StoreUnavailableError:
            if left == 1:
                raise


# ---- what is there


def state_of(store: Database, now: datetime) -> dict[str, Any]:
    """Everything that must be the same whichever way a step was done; nothing is changed by looking."""
    found: dict[str, Any] = {"faults": list(store.check())}
    for name in _TASKS:
        row = store.task(task_of(name).id)
        if row is None:
            found[name] = None
            continue
        tallies = store.tallies(row.id)
        told = {number: store.release(row.id, number) for number in range(task_of(name).count)}
        found[name] = {
            "state": row.state,
            "counted": {batch: dump(tally) for batch, tally in sorted(tallies.items())},
            "kept": {batch: sorted(store.reports(row.id, batch)) for batch in sorted(tallies)},
            "told": told,
            "exported": {q.name: _exported(store, name, told, q.name) for q in task_of(name).questions},
        }
    own = [key for key in list(store.keys()) if "-" not in key.name]
    found["keys"] = {key.name: is_valid(key, now.date()) for key in own}
    found["keys of old"] = {key.name: is_valid(key, DAY) for key in own}  # should the clock go back
    return found


def _exported(store: Database, name: str, told: Mapping[int, bytes | None], question: str) -> list[bytes]:
    """The lots of an export of what is published."""
    row = store.task(task_of(name).id)
    assert row is not None
    documents = {number: json.loads(data) for number, data in told.items() if data is not None}
    windows = [Window(number, each["state"], each["reports"], each) for number, each in documents.items()]
    out = io.BytesIO()
    n = write_reports(store, intake_of(row.document), windows, question, out, None)
    reader = read(io.BytesIO(out.getvalue()))
    assert isinstance(reader, ReportReader)
    lots = [block.payload for block in reader.blocks()]
    assert sum(map(len, lots)) == n  # a byte each
    return lots


def batch_of(window: int, question: int, stratum: int | None) -> Batch:
    """Where a report is counted."""
    return Batch(window, question, () if stratum is None else (stratum,))
