"""What must not be kept is not in the files: planted values, ids, addresses and agents are looked for byte by byte."""

from __future__ import annotations

import os
from base64 import b64encode
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import deniable as dn
from canary.forms import found_in
from deniable.service.store import open_store
from deniable.service.store.contract import Batch, Incoming, Store, Upload
from deniable_client.task import Task
from service.calling import Service
from service.databases import new_database, postgres_files
from service.making import DAY, opened

DESIGN = dn.mechanism("oue", epsilon=1.0, k=512).design
"""Any 64 bytes are a report."""
VALUE, ID, AGENT, ADDRESS = b"canary-of-a-value", b"canary-of-an-id", b"canary-of-an-agent", b"203.0.113.7"
END = DAY + timedelta(28)


def fill(store: Store, task: Task, reports: int = 1500) -> None:
    """Reports with canaries among others, a few at a time, so that pages are split and joined."""
    for start in range(0, reports, 100):
        sent = []
        for i in range(start, start + 100):
            canary = i % 3 == 0
            body = (VALUE + os.urandom(47)) if canary else os.urandom(64)
            sent.append(Incoming(ID + bytes([i // 3 % 256]) if canary and i < 700 else os.urandom(16), body))
        store.add([Upload(task.id, DAY, sent)])


def test_erased_reports_are_in_no_file(tmp_path: Path) -> None:
    store = open_store(new_database("sqlite", tmp_path))
    task = opened(store, DESIGN, keep="3")
    fill(store, task)
    assert found_in(tmp_path, VALUE, ID) == {VALUE}  # kept as it should be; ids never are
    assert store.purge(END + timedelta(1))["ids"] > 1000
    assert found_in(tmp_path, VALUE) == {VALUE}
    assert store.purge(END + timedelta(3))["bodies"] > 1000
    assert found_in(tmp_path, VALUE, ID) == set()  # the service goes on, its log is there
    (tmp_path / "copies").mkdir()
    store.backup(tmp_path / "copies" / "copy")
    assert sum(tally.n for tally in store.tallies(task.id).values()) > 1000
    store.close()
    assert found_in(tmp_path, VALUE, ID) == set()


def test_reports_that_are_only_counted_are_never_in_a_file(tmp_path: Path) -> None:
    store = open_store(new_database("sqlite", tmp_path))
    task = opened(store, DESIGN)
    fill(store, task, 300)
    assert found_in(tmp_path, VALUE, ID) == set()
    assert found_in(tmp_path, task.id.encode())  # what is kept would be found
    store.close()


def test_marks_say_nothing_about_bodies_without_ids(tmp_path: Path) -> None:
    """All 8 bodies are tried with everything that the database has; with the id it would work."""
    from hashlib import blake2b

    store = open_store(new_database("sqlite", tmp_path))
    task = opened(store)
    ids = [os.urandom(16) for _ in range(200)]
    store.add([Upload(task.id, DAY, [Incoming(id, b"\5") for id in ids])])
    with store.engine.read() as session:
        rows = session.execute("SELECT id, mark FROM seen ORDER BY id")
    store.close()

    def hits(keys: list[bytes]) -> int:
        marks = {bytes(mark) for _, mark in rows}
        return sum(blake2b(b"\5", digest_size=4, key=key).digest() in marks for key in keys)

    assert hits(ids) == 200
    assert hits([bytes(id) for id, _ in rows]) == 0
    assert len({bytes(mark) for _, mark in rows}) > 190  # equal bodies have different marks


def test_addresses_and_agents_are_in_no_file(tmp_path: Path) -> None:
    store: Any = open_store(new_database("sqlite", tmp_path))
    task = opened(store, DESIGN, keep="3")
    service = Service(store=store)
    reports = {"reports": [{"id": (ID + b"0").hex(), "report": b64encode(VALUE.ljust(64)).decode()}] * 2}
    told = {"user-agent": AGENT.decode(), "x-forwarded-for": ADDRESS.decode(), "cookie": "a=canary-of-a-cookie"}
    reply = service.post(f"/v1/tasks/{task.id}/reports", reports, told)
    assert [each["status"] for each in reply.json["results"]] == ["accepted", "duplicate"]
    assert len(list(store.reports(task.id, Batch(0, 0, ())))) == 1
    assert found_in(tmp_path, VALUE, ID, AGENT, ADDRESS, b"canary-of-a-cookie") == {VALUE}
    store.close()


@pytest.mark.slow
def test_erased_reports_are_not_in_tables_of_postgres(tmp_path: Path) -> None:
    """Tables are written anew; the server's own log is not ours to clean (docs/howto/operate.md)."""
    store = open_store(new_database("postgres", tmp_path))
    task = opened(store, DESIGN, keep="3")
    fill(store, task)
    assert found_in(postgres_files(), VALUE, ID) == {VALUE}
    assert store.purge(END + timedelta(3))["bodies"] > 1000
    assert found_in(postgres_files(), VALUE, ID) == set()
    store.close()
