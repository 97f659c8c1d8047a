"""Rows of tallies: small for few reports, refused by name when damaged, and files of older versions stay readable."""

from __future__ import annotations

import os
import zlib
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.collect.codec import dump
from deniable.collect.tally import Tally
from deniable.errors import FormatError, ParameterError
from deniable.service.access.identity import Identity
from deniable.service.ingest import Intake
from deniable.service.store import care, open_store, schema
from deniable.service.store.contract import Batch, Incoming, SessionRow, Upload
from deniable.service.store.rows import MAGIC, Shapes, Tallies
from deniable.service.store.sqlite import SqliteEngine
from deniable.service.tasks import Asked, Terms, new_task
from deniable_client.canonical import canonical
from deniable_client.task import Task
from service.making import DAY, body, opened, report, task_document

MANY = dn.mechanism("grr", epsilon=1.0, k=4096)


def shapes() -> Shapes:
    return Shapes(Intake(canonical(task_document(MANY.design))))


def tally(*values: int) -> Tally:
    found = MANY.empty()
    found.cells["n"][0] = len(values)
    np.add.at(found.cells["support"][0], list(values), 1)
    return found


@pytest.mark.parametrize("values", [(), (7,), tuple(range(4096)), (5,) * 1000])
def test_a_row_is_the_tally_again(values: tuple[int, ...]) -> None:
    one = tally(*values)
    found = shapes().unpack(0, shapes().pack(0, one))
    assert dump(found) == dump(one)


def test_a_row_of_one_report_is_small() -> None:
    assert len(dump(tally(7))) > 32_000
    assert len(shapes().pack(0, tally(7))) < 300


def test_files_of_older_versions_are_read_and_what_knows_more_is_kept_as_one() -> None:
    one = tally(3, 4)
    assert dump(shapes().unpack(0, dump(one))) == dump(one)
    marked = Tally(one.design, one.strata, one.cells, simulated=True)
    assert shapes().unpack(0, shapes().pack(0, marked)).simulated


def harmed(row: bytes) -> dict[str, bytes]:
    head, cells = row[:13], zlib.decompress(row[13:])
    return {
        "its head alone": row[:9],
        "has version 9": row[:4] + b"\x09" + row[5:],
        "is not of the task's design": row[:5] + bytes(8) + row[13:],
        "is damaged: Error": head + b"\xff" * 30,
        "bytes of cells instead of": row[:-6],
        "instead of": head + zlib.compress(cells + bytes(8), 1),
        "instead of 32780": head + zlib.compress(bytes(1 << 26), 1),
        "32780 bytes of cells instead of 32780": row + b"more",
        "do not match": head + zlib.compress(cells[:8] + b"\x07" + cells[9:], 1),
        "neither reports nor a tally": b"XXXX" + row[4:],
    }


@pytest.mark.parametrize("told", list(harmed(bytes(13) + zlib.compress(b""))))
def test_a_damaged_row_is_refused_by_name(told: str) -> None:
    row = shapes().pack(0, tally(*range(2000)))
    with pytest.raises(FormatError, match=told):
        shapes().unpack(0, harmed(row)[told])


def test_forged_reports_in_all_combinations_cost_little(tmp_path: Path) -> None:
    """One report in each of 4,096 combinations: 33 kB a tally as a file, 160 MB in all."""
    store = open_store(f"sqlite:///{tmp_path}/x.db")
    strata = {name: [str(i) for i in range(64)] for name in ("a", "b")}
    task = opened(store, MANY.design, strata=strata)
    for start in range(0, 4096, 1024):
        places = [(i // 64, i % 64) for i in range(start, start + 1024)]
        sent = [Incoming(os.urandom(16), body(task, 0, place, b"\1\2")) for place in places]
        store.add([Upload(task.id, DAY, sent)])
    found = store.tallies(task.id)
    assert len(found) == 4096
    assert found[Batch(0, 0, (63, 1))].cells["support"][0].nonzero()[0].tolist() == [513]
    store.close()
    assert (tmp_path / "x.db").stat().st_size < 4 << 20


def test_tallies_of_one_window(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path}/x.db")
    task = opened(store)
    for day in (0, 7, 8):
        store.add([Upload(task.id, DAY + timedelta(day), [report(1)])])
    assert {batch.window: each.n for batch, each in store.tallies(task.id).items()} == {0: 1, 1: 2}
    assert {batch.window: each.n for batch, each in store.tallies(task.id, 1).items()} == {1: 2}
    assert list(store.tallies(task.id, 2)) == []
    with store.engine.read() as session:
        assert all(bytes(row).startswith(MAGIC) for (row,) in session.execute("SELECT tally FROM tallies"))
    store.close()


def test_strata_with_too_many_combinations_are_refused_and_kept_ones_go_on(tmp_path: Path) -> None:
    strata = {"a": [str(i) for i in range(241)], "b": [str(i) for i in range(17)]}
    asked = [Asked(text="What?", design=MANY.design)]
    told = r"strata must have at most 4,096 combinations, got 4,{}\."
    with pytest.raises(ParameterError, match=told.format(356)):  # each may be not told
        new_task(asked, Terms(opens=DAY, strata=strata), Identity(bytes(32)))
    assert new_task(asked, Terms(opens=DAY, strata={"a": strata["a"][:226], "b": strata["b"]}), Identity(bytes(32)))
    document = task_document(strata=strata)
    task = Task.load(document)
    store = open_store(f"sqlite:///{tmp_path}/x.db")
    with pytest.raises(ParameterError, match=told.format("097")):
        store.put_task(task.id, canonical(document))
    with store.engine.write() as session:
        row = (1, task.id, canonical(document), "open")
        session.execute("INSERT INTO tasks (number, id, document, state) VALUES (?, ?, ?, ?)", row)
    store.put_task(task.id, canonical(document))  # it was there before there was a limit
    (found,) = store.add([Upload(task.id, DAY, [Incoming(os.urandom(16), bytes([240, 16, 1]))])])
    assert found[0].status == "accepted"
    store.close()


def test_what_several_processes_counted_is_added_up() -> None:
    made, batch = shapes(), Batch(0, 0, ())
    found = Tallies({batch: [made.pack(0, tally(*values)) for values in ((1, 2), (2,), (7, 7, 7))]}, made)
    assert dump(found[batch]) == dump(tally(1, 2, 2, 7, 7, 7))


def test_what_several_processes_refused_is_added_up(tmp_path: Path) -> None:
    """Each has a shard of its own, and counts on from what it refused before."""
    stores: list[Any] = [open_store(f"sqlite:///{tmp_path / 'a.db'}") for _ in range(2)]
    task = opened(stores[0])
    for number, store in enumerate(stores):
        store.engine.shard = number
        for n in (1, 2 + number):
            store.add([Upload(task.id, DAY, [report(200) for _ in range(n)] + [report(1)])])
    for store in stores:
        assert store.rejections(task.id) == {"impossible": 7}
        assert sum(found.n for found in store.tallies(task.id).values()) == 4
        assert store.check() == []
        store.close()


def test_two_processes_that_start_at_once_make_the_tables_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both saw an older version: whoever comes second finds each step done, and does none again."""
    engine = SqliteEngine(tmp_path / "a.db")
    assert care.migrate(engine) == (0, schema.VERSION)
    for seen in range(schema.VERSION):
        monkeypatch.setattr(care, "version_of", lambda _, seen=seen: seen)
        assert care.migrate(engine) == (seen, schema.VERSION)
    monkeypatch.undo()
    assert care.version_of(engine) == schema.VERSION
    engine.close()


def test_a_copy_that_fails_leaves_no_part_of_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store: Any = open_store(f"sqlite:///{tmp_path / 'a.db'}")
    opened(store)

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    before = sorted(path.name for path in tmp_path.iterdir())
    with monkeypatch.context() as patch:
        patch.setattr(care.os, "fsync", full)
        with pytest.raises(OSError, match="No space left"):
            store.backup(tmp_path / "copy")
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    store.backup(tmp_path / "copy")
    store.close()


def test_all_lots_of_rows_that_are_copied_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(care, "_LOT", 2)
    store: Any = open_store(f"sqlite:///{tmp_path / 'a.db'}")
    task = opened(store)
    store.add([Upload(task.id, DAY, [report(value) for value in range(5)])])
    store.sessions.put(SessionRow(b"1" * 32, "ann", 1, 2, 3))  # nobody is signed in by a copy
    target, told = SqliteEngine(tmp_path / "b.db"), list[tuple[str, int]]()
    care.migrate(target)
    with store.engine.read() as read, target.write() as write:
        copied = care.copy_rows(read, write, lambda table, rows: told.append((table, rows)))
        assert write.execute("SELECT count(*) FROM sessions") == [(0,)]
    assert copied["seen"] == 5
    assert copied.keys() == schema.TABLES.keys() - schema.FLEETING
    assert [rows for table, rows in told if table == "seen"] == [2, 4, 5]
    target.close()
    store.close()
