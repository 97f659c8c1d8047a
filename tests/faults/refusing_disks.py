"""Disks that are full, read-only or fail, under a collector that is asked over HTTP all the while."""

from __future__ import annotations

import json
import tempfile
import threading
from base64 import b64encode
from collections import Counter
from datetime import UTC, datetime
from datetime import time as clock_time
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import apsw
from buckets import BUCKETS, Found, Sent, Tell, guarded, in_memory, settle, store_on
from faulty_disk import Disk, disk_driver
from making import opened

from deniable.service.collector import Collector
from deniable.service.http.app import application
from deniable.service.http.serve import server
from deniable.service.settings import Settings
from deniable.service.store.database import Database
from deniable.service.writer import Writer
from deniable_client.task import Task

REFUSALS: dict[str, tuple[int, tuple[str, ...]]] = {
    "full": (apsw.SQLITE_FULL, ("write", "truncate")),
    "read-only": (apsw.SQLITE_READONLY, ("write", "truncate", "delete")),
    "I/O error": (apsw.SQLITE_IOERR, ("read", "write", "truncate", "sync", "delete")),
}
"""What SQLite is told, and by which calls."""


class Served:
    """A store behind the real server in a thread, and a connection to it."""

    def __init__(self, store: Database, task: Task) -> None:
        writer, ready = Writer(store), threading.Event()
        now = datetime.combine(task.opens, clock_time(12), UTC)
        collector = Collector(
            store, writer.add, Settings(), clock=lambda: now, steady=now.timestamp, full=lambda: writer.full
        )
        self._path, self._address = f"/v1/tasks/{task.id}/reports", ""

        def told(address: str) -> None:
            self._address = address
            ready.set()

        self._server = server(application(collector, stop=writer.close), Settings(port=0), told)
        self._thread = threading.Thread(target=self._server.run)
        self._thread.start()
        if not ready.wait(20):
            raise RuntimeError("the server did not start")
        parts = urlsplit(self._address)
        self._link = HTTPConnection(parts.hostname or "", parts.port, timeout=20)

    def send(self, sent: Sent, numbers: list[int], found: Found) -> bool:
        """Send reports; whether they were taken. What is answered otherwise must be 503 and tell when to come again."""
        reports = [sent.reports[i] for i in numbers]
        items = [{"id": each.id.hex(), "report": b64encode(each.body).decode()} for each in reports]
        self._link.request("POST", self._path, json.dumps({"reports": items}), {"Content-Type": "application/json"})
        answer = self._link.getresponse()
        content = answer.read()
        if answer.status == 503:
            found["refused"] += 1
            found["without_retry_after"] += not int(answer.headers.get("retry-after", "0")) > 0
            return False
        if answer.status != 200:
            found["server_errors"] += 1
            return False
        results = json.loads(content)["results"]
        told = {each["id"] for each in results if each["status"] in ("accepted", "duplicate")}
        sent.acked += [i for i, item in zip(numbers, items, strict=True) if item["id"] in told]
        return True

    def stop(self) -> None:
        """Stop it gracefully."""
        self._link.close()
        self._server.should_exit = True
        self._thread.join(20)


def disk_faults(calls: int, tell: Tell) -> Found:
    """A fault at each of the first calls, once or for a while; the same process must work afterwards."""
    found: Found = Counter(disk_faults=0, server_errors=0, refused=0, without_retry_after=0, stuck=0)
    for kind, (code, where) in REFUSALS.items():
        for lasting in (False, True):
            for call in range(calls):
                with guarded(found), tempfile.TemporaryDirectory(dir=in_memory()) as name:
                    _one_fault(Path(name), code, where, call, lasting, found)
            tell(f"disk: {kind}{', lasting' * lasting}: {found['disk_faults']} faults, {found['refused']} refused")
    return found


def _one_fault(folder: Path, code: int, where: tuple[str, ...], number: int, lasting: bool, found: Found) -> None:
    disk, sent = Disk(), Sent()
    driver, system = disk_driver(disk, checkpoint=8)
    store = store_on(folder / "x.db", driver, "FULL")
    task = opened(store, sent.design)
    served = Served(store, task)
    calls = 0

    def watch(call: str) -> None:
        nonlocal calls
        if call in where:
            calls += 1
            if calls == number + 1 or (lasting and number < calls < number + 40):
                found["disk_faults"] += 1
                raise apsw.exception_for(code)

    try:
        disk.watch = watch
        waiting: list[list[int]] = []
        while calls <= number + 40 and len(sent.reports) < BUCKETS - 4:
            numbers = sent.new(3)
            if not served.send(sent, numbers, found):
                waiting.append(numbers)
        disk.watch = lambda call: None
        found["stuck"] += sum(not served.send(sent, numbers, found) for numbers in waiting)  # without a restart
    finally:
        disk.watch = lambda call: None
        served.stop()
    settle(store, task, sent, len(sent.acked), len(sent.reports), found)
    store.close()
    del system
