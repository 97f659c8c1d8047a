"""The store: counts once, keeps what it must and nothing else, on both engines."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.collect.codec import dump
from deniable.errors import DeniableError, FormatError, ParameterError
from deniable.service.ingest import REASONS
from deniable.service.store import care, engine_of, open_store, restoring, schema
from deniable.service.store.contract import (
    Batch,
    DraftRow,
    Ending,
    Incoming,
    KeyRow,
    Outcome,
    SessionRow,
    Store,
    StoreUnavailableError,
    Upload,
)
from deniable.service.store.database import Database
from deniable.service.store.engine import ROW, CrossedError
from deniable_client.canonical import canonical
from deniable_client.task import Task
from service.databases import ENGINES, new_database, started
from service.making import DAY, body, fresh_id, opened, report, task_document

YES, AGAIN = Outcome("accepted"), Outcome("duplicate")


def no(reason: str) -> Outcome:
    assert reason in REASONS
    return Outcome("rejected", reason)


@pytest.fixture(params=ENGINES)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    engine: str = request.param
    return new_database(engine, tmp_path)


@pytest.fixture
def store(url: str, tmp_path: Path) -> Iterator[Database]:
    store = open_store(url, str(tmp_path / "journal"))
    yield store
    assert store.check() == []
    store.close()


def send(store: Store, task: Task, *reports: Incoming, today: date = DAY) -> list[Outcome]:
    (found,) = store.add([Upload(task.id, today, reports)])
    return found


def counted(store: Store, task: Task) -> int:
    return sum(tally.n for tally in store.tallies(task.id).values())


def test_reports_are_counted_and_tallied(store: Database) -> None:
    task = opened(store)
    values = [0, 1, 1, 7, 7, 7]
    assert send(store, task, *map(report, values)) == [YES] * 6
    assert send(store, task, report(2)) == [YES]
    (found,) = store.tallies(task.id).items()
    assert found[0] == Batch(0, 0, ())
    assert found[1].cells["support"].tolist() == [[1, 2, 1, 0, 0, 0, 0, 3]]
    m = dn.mechanism("grr", epsilon=1.0, k=8)
    assert m.estimate(found[1]).n == 7


def test_a_report_counts_once_and_its_first_body_wins(store: Database) -> None:
    task, one, two = opened(store), report(1), report(2)
    other = Incoming(one.id, bytes([3]))
    assert send(store, task, one, one, other, two) == [YES, AGAIN, no("other-body"), YES]
    assert send(store, task, other, two, one) == [no("other-body"), AGAIN, AGAIN]
    assert send(store, task, one, today=DAY + timedelta(7)) == [AGAIN]  # an answer got lost, and the window went by
    assert list(store.tallies(task.id)) == [Batch(0, 0, ())]
    assert counted(store, task) == 2
    assert store.rejections(task.id) == {"other-body": 2}


def test_uploads_of_one_transaction_each_get_their_own_outcomes(store: Database) -> None:
    task, one = opened(store), report(1)
    second = opened(store, subject="food")
    found = store.add(
        [
            Upload(task.id, DAY, [one, report(9)]),
            Upload("0" * 64, DAY, [report(1)]),
            Upload(second.id, DAY, [one]),
            Upload(task.id, DAY + timedelta(8), [report(0), one]),
            Upload(task.id, DAY, [one]),
            Upload(task.id, DAY, []),
        ]
    )
    assert found == [[YES, no("impossible")], [no("not-open")], [YES], [YES, AGAIN], [AGAIN], []]
    assert {batch.window: tally.n for batch, tally in store.tallies(task.id).items()} == {0: 1, 1: 1}


def test_one_bad_report_does_not_spoil_the_others(store: Database) -> None:
    task = opened(store)
    values = [report(i % 8 if i % 5 else 8 + i % 200) for i in range(100)]
    assert send(store, task, *values) == [YES if i % 5 else no("impossible") for i in range(100)]
    assert counted(store, task) == 80
    assert store.rejections(task.id) == {"impossible": 20}


def test_the_window_is_that_of_the_day_of_arrival(store: Database) -> None:
    task = opened(store)  # four windows of seven days
    days: dict[int, int | str] = {
        -2: "early",
        -1: 0,
        0: 0,
        6: 0,
        7: 1,
        13: 1,
        14: 2,
        27: 3,
        28: 3,
        29: "late",
        3650: "late",
        -3650: "early",
    }
    for day, window in days.items():
        expected = no(window) if isinstance(window, str) else YES
        assert send(store, task, report(0), today=DAY + timedelta(day)) == [expected], day
    assert {batch.window: tally.n for batch, tally in store.tallies(task.id).items()} == {0: 3, 1: 2, 2: 1, 3: 2}


def test_states_go_one_way(store: Database) -> None:
    document = task_document()
    task, one = Task.load(document), report(1)
    for _ in range(2):
        store.put_task(task.id, canonical(document))
    assert send(store, task, one) == [no("not-open")]
    store.set_state(task.id, "open")
    assert send(store, task, one) == [YES]
    store.set_state(task.id, "closed")
    assert send(store, task, one, report(2)) == [AGAIN, no("not-open")]  # what was counted is still told so
    with pytest.raises(ParameterError, match="closed and cannot be open"):
        store.set_state(task.id, "open")
    assert store.task(task.id) == store.tasks()[0]
    assert store.task("nothing") is None
    with pytest.raises(ParameterError, match="id must be"):
        store.put_task("0" * 64, canonical(document))


def test_a_sealed_window_takes_nothing_more(store: Database) -> None:
    task, one = opened(store), report(1)
    assert send(store, task, one) == [YES]
    assert store.release(task.id, 0) is None
    store.seal(task.id, 0)
    store.seal(task.id, 0)
    assert store.release(task.id, 0) is None
    assert send(store, task, report(2), one) == [no("sealed"), AGAIN]
    assert send(store, task, report(2), today=DAY + timedelta(7)) == [YES]
    assert store.put_release(task.id, 0, b"first") == b"first"
    assert store.put_release(task.id, 0, b"second") == b"first" == store.release(task.id, 0)
    store.put_release(task.id, 1, b"other")
    assert send(store, task, report(2), today=DAY + timedelta(7)) == [no("sealed")]
    with pytest.raises(ParameterError, match="window must be a number from 0 to 3"):
        store.seal(task.id, 4)


def test_questions_and_strata_are_counted_apart(store: Database) -> None:
    one, two = dn.mechanism("grr", epsilon=1.0, k=300), dn.mechanism("oue", epsilon=0.5, k=17)
    task = opened(store, [one.design, two.design], strata={"country": ["DE", "FR", "IT"], "version": ["1", "2"]})
    grr = [body(task, 0, (i % 3, i % 2), (250 + i).to_bytes(2, "little")) for i in range(12)]
    oue = [body(task, 1, (2, 1), bytes([255, 0, i % 2])) for i in range(5)]
    bad = {
        "question": body(task, 2, (0, 0), b"\0"),
        "stratum": body(task, 0, (3, 0), b"\0"),
        "padding": body(task, 0, (0, 0), b"\0\0\1"),
        "impossible": body(task, 1, (0, 0), b"\0\0\2"),
        "length": bytes(7),
    }
    sent = [*grr, *bad.values(), *oue]
    expected = [YES] * 12 + [no(reason) for reason in bad] + [YES] * 5
    assert send(store, task, *(Incoming(fresh_id(), each) for each in sent)) == expected
    tallies = store.tallies(task.id)
    assert tallies[Batch(0, 1, (2, 1))].cells["support"].tolist() == [[5] * 8 + [0] * 8 + [2]]
    assert sum(tally.n for batch, tally in tallies.items() if batch.question == 0) == 12
    assert tallies[Batch(0, 0, (0, 0))].cells["support"][0].nonzero()[0].tolist() == [250, 256]


def test_bodies_are_kept_in_no_order_of_arrival_and_erased_in_time(store: Database) -> None:
    task = opened(store, keep="10")
    sent = [report(i % 8) for i in range(64)]
    for each in sent:
        assert send(store, task, each) == [YES]
    batch = Batch(0, 0, ())
    found = list(store.reports(task.id, batch))
    arrival = [each.body for each in sent]
    assert sorted(found) == sorted(arrival)
    assert found != arrival
    assert found == list(store.reports(task.id, batch))
    assert send(store, task, sent[0]) == [AGAIN]
    end = DAY + timedelta(28)
    assert store.purge(end) == {"ids": 0, "bodies": 0}
    assert store.purge(end + timedelta(1)) == {"ids": 64, "bodies": 0}
    assert store.purge(end + timedelta(9)) == {"ids": 0, "bodies": 0}
    assert len(list(store.reports(task.id, batch))) == 64
    assert store.purge(end + timedelta(10)) == {"ids": 0, "bodies": 64}
    assert list(store.reports(task.id, batch)) == []
    assert counted(store, task) == 64


def test_tasks_that_keep_tallies_keep_no_body(store: Database) -> None:
    task = opened(store)
    send(store, task, report(1))
    assert list(store.reports(task.id, Batch(0, 0, ()))) == []


def test_ids_are_dropped_only_when_nothing_is_counted_any_more(store: Database) -> None:
    task, one = opened(store), report(1)
    assert send(store, task, one) == [YES]
    for day in (0, 27, 28):
        assert store.purge(DAY + timedelta(day)) == {"ids": 0, "bodies": 0}
    assert send(store, task, one, today=DAY + timedelta(28)) == [AGAIN]
    assert store.purge(DAY + timedelta(29)) == {"ids": 1, "bodies": 0}
    # The clock was wrong, and goes back: the task stays closed, so the report is not counted again.
    assert send(store, task, one, report(2)) == [no("not-open")] * 2
    assert counted(store, task) == 1
    closed = opened(store, subject="closed by hand")
    send(store, closed, one)
    store.set_state(closed.id, "closed")
    assert store.purge(DAY) == {"ids": 1, "bodies": 0}


def test_many_reports_are_read_page_by_page(store: Database) -> None:
    task = opened(store, keep="10")
    send(store, task, *(report(i % 8) for i in range(2500)))
    assert len(list(store.reports(task.id, Batch(0, 0, ())))) == 2500


def test_a_transaction_that_was_given_up_is_tried_again_a_few_times(
    store: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    task, one = opened(store), report(1)
    real, faults = store.engine.write, [1] * 3

    @contextmanager
    def write(*, patient: bool = False) -> Iterator[Any]:
        with real(patient=patient) as session:
            yield session
            if faults:
                faults.pop()
                raise CrossedError("crossed.")

    monkeypatch.setattr(store.engine, "write", write)
    assert send(store, task, one) == [YES]
    faults += [1] * 5
    with pytest.raises(CrossedError):
        send(store, task, report(2))
    assert faults == [1], "four times, and not for ever"
    monkeypatch.undo()
    assert send(store, task, one) == [AGAIN]
    assert counted(store, task) == 1


def test_a_database_that_is_gone_is_not_taken_for_damage_of_its_tasks(
    store: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is wrong with a task is told, and the others go on; what is wrong with the database ends the round."""
    ids = [opened(store, subject=name).id for name in ("fourth", "third", "second", "first")]
    assert ids != sorted(ids), "tasks are gone through as they were made"
    told: list[str] = []

    def purge(error: type[Exception]) -> None:
        def fails(*_: object) -> None:
            raise error("no.")

        monkeypatch.setattr(store, "_purge", fails)
        store.purge(DAY, lambda id, _: told.append(id))

    purge(FormatError)
    assert told == ids == [row.id for row in store.tasks()]
    with pytest.raises(StoreUnavailableError):
        purge(StoreUnavailableError)
    assert told == ids


def test_concurrent_duplicates_count_once(url: str) -> None:
    """Several collectors with the same reports at the same time, in different orders."""
    stores = [open_store(url) for _ in range(3)]
    task = opened(stores[0])
    sent = [report(i % 8) for i in range(120)]
    outcomes: list[Outcome] = []

    def work(number: int) -> None:
        mine = sent if number % 2 else sent[::-1]
        for start in range(0, 120, 10):
            outcomes.extend(send(stores[number], task, *mine[start : start + 10]))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(outcomes) == 360
    assert outcomes.count(YES) == 120
    assert outcomes.count(AGAIN) == 240
    assert stores[0].tallies(task.id)[Batch(0, 0, ())].cells["support"].tolist() == [[15] * 8]
    for store in stores:
        assert store.check() == []
        store.close()


def test_keys(store: Database) -> None:
    store.put_key(KeyRow("one", "analyst", b"\x01" * 32, DAY))
    store.put_key(KeyRow("two", "administrator", b"\x02" * 32, DAY, DAY))
    with pytest.raises(ParameterError, match="'one' already"):
        store.put_key(KeyRow("one", "analyst", b"\x03" * 32, DAY))
    store.revoke_key("one", DAY + timedelta(5), later=True)
    store.revoke_key("one", DAY + timedelta(9), later=True)  # never later than once said
    keys = store.keys()
    assert [key.revoked for key in keys] == [DAY + timedelta(5), DAY]
    store.revoke_key("one", DAY + timedelta(1), later=True)
    assert store.keys()[0] == KeyRow("one", "analyst", b"\x01" * 32, DAY, DAY + timedelta(1))
    store.revoke_key("one", DAY + timedelta(7))
    assert store.keys()[0] == KeyRow("one", "analyst", b"", DAY, DAY + timedelta(1))
    with pytest.raises(ParameterError, match="no key named 'three'"):
        store.revoke_key("three", DAY)


def test_one_key_takes_the_place_of_another_in_one_step(store: Database) -> None:
    """Both, or neither; and once only."""

    def kept() -> dict[str, KeyRow]:
        return {key.name: key for key in list(store.keys())}

    store.put_key(KeyRow("two", "analyst", b"\x02" * 32, DAY))
    store.put_key(KeyRow("four", "analyst", b"\x04" * 32, DAY))
    with pytest.raises(ParameterError, match="a key named 'two' already"):
        store.put_key(KeyRow("two", "analyst", b"\x05" * 32, DAY), instead=Ending("four", DAY))
    assert kept()["four"].revoked is None
    store.put_key(KeyRow("five", "analyst", b"\x05" * 32, DAY), instead=Ending("four", DAY))
    assert (kept()["four"].revoked, kept()["four"].digest) == (DAY, b"")
    for name in ("four", "nobody"):
        with pytest.raises(ParameterError, match=f"a key that is not revoked, got '{name}'"):
            store.put_key(KeyRow("six", "analyst", b"\x06" * 32, DAY), instead=Ending(name, DAY))
    assert set(kept()) == {"two", "four", "five"}


def test_sessions(store: Database) -> None:
    """Kept, used, ended one by one, with their key, and when they have expired."""
    rows = [SessionRow(bytes([i]) * 32, f"key-{i % 2}", 100, 200 + i, 150) for i in range(6)]
    for i in range(2):
        store.put_key(KeyRow(f"key-{i}", "analyst", bytes([i + 1]) * 32, DAY))
    for row in rows:
        store.sessions.put(row)
    assert [store.sessions.get(row.digest) for row in rows] == rows
    assert store.sessions.get(b"\x09" * 32) is None
    store.sessions.use(rows[0].digest, 180)
    store.sessions.use(rows[0].digest, 170)  # of a slower request, or a clock behind
    store.sessions.use(b"\x09" * 32, 180)
    assert store.sessions.get(rows[0].digest) == replace(rows[0], idle=180)
    assert store.sessions.get(b"\x09" * 32) is None
    for _ in range(2):
        store.sessions.end(rows[2].digest)
    assert [store.sessions.get(row.digest) is not None for row in rows] == [True, True, False, True, True, True]
    store.revoke_key("key-1", DAY + timedelta(3), later=True)
    assert [store.sessions.get(row.digest) is not None for row in rows] == [True, False, False, False, True, False]
    assert [store.sessions.expire(now) for now in (149, 150, 179, 180, 10**12)] == [0, 1, 0, 1, 0]
    store.sessions.put(replace(rows[0], idle=500))
    assert [store.sessions.expire(now) for now in (199, 200)] == [0, 1]


def test_all_is_there_after_closing_and_opening(url: str) -> None:
    store = open_store(url)
    task, one = opened(store), report(1)
    send(store, task, one)
    before = dump(store.tallies(task.id)[Batch(0, 0, ())])
    store.close()
    store = open_store(url)
    assert dump(store.tallies(task.id)[Batch(0, 0, ())]) == before
    assert send(store, task, one) == [AGAIN]
    store.close()


# ---- copies


@pytest.mark.parametrize("target", ENGINES)
def test_a_backup_answers_the_same_on_any_engine(store: Database, target: str, tmp_path: Path) -> None:
    task, sent = opened(store, keep="3"), [report(i % 8) for i in range(30)]
    send(store, task, *sent, report(9))
    store.seal(task.id, 1)
    store.put_release(task.id, 2, b"published")
    store.put_key(KeyRow("one", "analyst", b"\x01" * 32, DAY))
    store.backup(tmp_path / "copy")
    assert (tmp_path / "copy").stat().st_mode & 0o777 == 0o600
    assert not list(tmp_path.glob(".copy*"))
    with pytest.raises(ParameterError, match="exists"):
        store.backup(tmp_path / "copy")
    url = new_database(target, tmp_path)
    engine = engine_of(url)
    told: dict[str, int] = {}
    journal = tmp_path / "journal"
    restoring.restore(tmp_path / "copy", engine, told.__setitem__, journal=journal, today=DAY)
    assert told["seen"] == 30
    with pytest.raises(ParameterError, match="tasks or keys already"):
        restoring.restore(tmp_path / "copy", engine, journal=journal, today=DAY)
    engine.close()
    again = open_store(url)
    assert again.check() == []
    assert again.tasks() == store.tasks()
    assert again.tallies(task.id) == store.tallies(task.id)
    assert again.rejections(task.id) == {"impossible": 1}
    assert list(again.reports(task.id, Batch(0, 0, ()))) == list(store.reports(task.id, Batch(0, 0, ())))
    assert again.release(task.id, 2) == b"published"
    assert send(again, task, report(0), today=DAY + timedelta(7)) == [no("sealed")]
    assert again.keys() == store.keys()
    assert send(again, task, *sent) == [AGAIN] * 30
    again.close()


def test_what_is_no_backup_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("not a database " * 100)
    sqlite3.connect(tmp_path / "empty").close()
    for name, error in (("text", "damaged or not a database"), ("empty", "not a backup"), ("none", "no backup")):
        engine = engine_of(f"sqlite:///{tmp_path}/{name}.new")
        with pytest.raises(DeniableError, match=error):
            restoring.restore(tmp_path / name, engine, today=DAY)
        engine.close()


# ---- versions and checks


def test_older_databases_become_like_new_ones(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_store(url)
    task = opened(store)
    send(store, task, report(1))
    store.close()
    newest = schema.VERSION
    later = (*schema.MIGRATIONS, ("CREATE TABLE more (x {bytes}){sorted}".replace("{sorted}", ""),))
    monkeypatch.setattr(schema, "MIGRATIONS", later)
    engine = engine_of(url)
    with pytest.raises(FormatError, match=f"has version {newest}, this program needs {newest + 1}"):
        care.migrate(engine, only_new=True)
    assert care.migrate(engine) == (newest, newest + 1)
    assert care.migrate(engine) == (newest + 1, newest + 1)
    engine.close()
    again = open_store(url)
    assert again.check() == []
    assert counted(again, task) == 1
    again.close()
    monkeypatch.undo()
    with pytest.raises(FormatError, match=f"has version {newest + 1}, this program knows versions up to {newest}"):
        open_store(url)


@pytest.mark.parametrize(
    ("harm", "told"),
    [
        ("DELETE FROM seen WHERE id = (SELECT min(id) FROM seen)", "2 ids are known and 3 reports are counted"),
        ("DELETE FROM kept WHERE id = (SELECT min(id) FROM kept)", "2 reports are kept and 3 counted"),
        ("UPDATE tallies SET question = 1", "is not of the task's design"),
        ("UPDATE tallies SET tally = substr(tally, 1, 20)", "a row of tallies is damaged"),
        ("UPDATE seen SET task = 9", "seen: there is no task number 9"),
        (
            "UPDATE tasks SET document = CAST(replace(CAST(document AS TEXT), 'sleep', 'food') AS BLOB)",
            "the task was altered",
        ),
    ],
)
def test_check_finds_what_does_not_fit(harm: str, told: str, tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path}/x.db")
    task = opened(store, keep="3")
    send(store, task, *map(report, range(3)))
    assert store.check() == []
    with store.engine.write() as session:
        session.execute(harm)
    assert told in "\n".join(store.check())
    store.close()


def test_check_finds_damaged_pages(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    store = open_store(f"sqlite:///{path}")
    send(store, opened(store), *(report(i % 8) for i in range(2000)))
    store.close()
    data = bytearray(path.read_bytes())
    data[-4096:-3996] = b"\xff" * 100
    path.write_bytes(data)
    store = open_store(f"sqlite:///{path}")
    assert "SQLite finds" in "\n".join(store.check()) or "is damaged" in "\n".join(store.check())
    store.close()


def test_columns_are_those_of_the_list(tmp_path: Path) -> None:
    """Whoever adds a column must say so in TABLES, and so here: none is about who sent a report, or when."""
    store = open_store(f"sqlite:///{tmp_path}/x.db")
    with store.engine.read() as session:
        names = [name for (name,) in session.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        found = {name: tuple(row[1] for row in session.execute(f"PRAGMA table_info({name})")) for name in names}
    store.close()
    assert found == schema.TABLES
    assert {column for columns in found.values() for column in columns} == {
        *("name", "value", "number", "id", "document", "state", "task", "mark", "window_number", "question", "strata"),
        *("shard", "tally", "body", "reason", "n", "role", "digest", "created", "revoked"),
        *("key_name", "expires", "idle"),  # of who signed in to read
        "seed",  # of the collector's own key
        *("changed", "trial"),  # of questionnaires, and of what robots answered to them
    }


@pytest.mark.parametrize("url", ["x.db", "sqlite://x.db", "sqlite:///", "mysql://a/b", ""])
def test_other_urls_are_refused(url: str) -> None:
    with pytest.raises(ParameterError, match="database must be sqlite:///FILE or postgresql://"):
        open_store(url)


@pytest.mark.slow
def test_ids_are_looked_up_one_by_one(tmp_path: Path) -> None:
    """PostgreSQL may plan a join of a batch with all ids as a walk through all of them, once it knows the statement."""
    looked_at = "SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relname = 'seen'"
    with closing(open_store(new_database("postgres", tmp_path))) as store:
        engine, rows = store.engine, np.frombuffer(os.urandom(80_000 * ROW), np.uint8).reshape(-1, ROW)
        with engine.write() as session:
            session.lock(1)
            session.add_ids(1, rows[:60_000])
        engine.settle()
        with engine.write() as session:
            session.execute("ANALYZE seen")
        with engine.write() as session:
            for start in range(60_000, 80_000, 1000):
                session.add_ids(1, rows[start : start + 1000])
                session.marks(1, rows[start - 50_000 : start - 49_900])
            assert session.execute(looked_at) == [(20 * 100,)]  # those whose marks were asked for


# ---- the server that these tests start


@pytest.mark.slow
def test_a_server_that_takes_its_time_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library gives up before it is there; it is there a moment later, and stops when it is told."""
    own = pytest.importorskip("pgserver.postgres_server", reason="pip install pgserver (Python below 3.13)")
    real, late = own.pg_ctl, [subprocess.TimeoutExpired("pg_ctl", 10)]

    def pg_ctl(*args: Any, **more: Any) -> Any:
        found = real(*args, **more | {"timeout": 60})
        if late:
            raise late.pop()
        return found

    monkeypatch.setattr(own, "pg_ctl", pg_ctl)
    server = started(tempfile.mkdtemp(prefix="deniable-pg-"))
    assert late == []
    assert "PostgreSQL" in server.psql("SELECT version()")
    server.cleanup()
    assert not server.pgdata.exists()


def test_drafts_are_kept_and_nobody_overwrites_what_another_one_wrote(store: Store) -> None:
    first = DraftRow("a", 1, b"{}")
    assert store.put_draft(first)
    assert store.put_draft(DraftRow("a", 2, b"two", b"trial", "task"))
    assert not store.put_draft(DraftRow("a", 2, b"late"))
    assert not store.put_draft(DraftRow("a", 4, b"early"))
    assert store.put_draft(DraftRow("b", 1, b""))
    assert store.draft("a") == DraftRow("a", 2, b"two", b"trial", "task")
    assert [row.id for row in store.drafts()] == ["a", "b"]
    store.drop_draft("a")
    store.drop_draft("a")
    assert store.draft("a") is None
    assert [row.id for row in store.drafts()] == ["b"]
