"""What is PostgreSQL's own: locks that cross, servers that do not answer, roles and settings that cannot erase."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from deniable.errors import ParameterError
from deniable.service.store import care, engine_of, open_store, postgres
from deniable.service.store.contract import Batch, Incoming, Outcome, StoreUnavailableError, Upload
from deniable.service.store.postgres import PostgresEngine
from service.databases import forgetful_postgres, new_database, postgres_process
from service.making import DAY, fresh_id, opened, report

pytestmark = pytest.mark.slow
YES, AGAIN = Outcome("accepted"), Outcome("duplicate")


@pytest.fixture
def url(tmp_path: Path) -> str:
    return new_database("postgres", tmp_path)


def sql(url: str, *statements: str) -> list[Any]:
    import psycopg

    with psycopg.connect(url, autocommit=True) as link:
        for statement in statements:
            cursor = link.execute(statement.encode())
        return cursor.fetchall() if cursor.description else []


# ---- locks


def test_uploads_that_cross_never_fail(url: str) -> None:
    """The same ids of two tasks, in crossed order, from two collectors: each counts once, none is refused."""
    stores = [open_store(url) for _ in range(2)]
    tasks = [opened(stores[0], subject=name) for name in ("first", "second")]
    gate, outcomes, errors = threading.Barrier(2), list[Outcome](), list[BaseException]()
    lots = [[[report(i % 8) for i in range(40)] for _ in range(2)] for _ in range(15)]

    def work(number: int) -> None:
        try:
            for lot in lots:
                gate.wait(60)
                uploads = [Upload(task.id, DAY, sent) for task, sent in zip(tasks, lot, strict=True)]
                for found in stores[number].add(uploads if number else uploads[::-1]):
                    outcomes.extend(found)
        except BaseException as error:  # told by the test's own thread
            errors.append(error)
            gate.abort()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert (outcomes.count(YES), outcomes.count(AGAIN)) == (1200, 1200)
    for store in stores:
        store.close()


def test_settling_beside_uploads_and_copies_loses_and_doubles_nothing(url: str, tmp_path: Path) -> None:
    """Collectors that send the same reports, one that settles all the while, and copies that must be whole."""
    stores = [open_store(url, settle_seconds=1e9) for _ in range(4)]
    task = opened(stores[0], keep="3")
    sent, outcomes, copies = [report(i % 8) for i in range(400)], list[Outcome](), list[Path]()
    ended = threading.Event()

    def add(number: int) -> None:
        mine = sent if number else sent[::-1]
        for start in range(0, 400, 10):
            lot = Upload(task.id, DAY, mine[start : start + 10])
            outcomes.extend(again(partial(stores[number].add, [lot]))[0])

    def settle() -> None:
        while not ended.is_set():
            again(stores[2].settle)

    def copy() -> None:
        while not ended.is_set():
            path = tmp_path / f"copy{len(copies)}"
            again(partial(stores[3].backup, path))
            copies.append(path)

    def again(call: Any) -> Any:
        while True:
            try:
                return call()
            except StoreUnavailableError:
                time.sleep(0.01)

    others = [threading.Thread(target=each) for each in (settle, copy)]
    adders = [threading.Thread(target=add, args=(number,)) for number in range(2)]
    for thread in [*others, *adders]:
        thread.start()
    for thread in adders:
        thread.join()
    ended.set()
    for thread in others:
        thread.join()
    assert (outcomes.count(YES), outcomes.count(AGAIN)) == (400, 400)
    assert stores[0].tallies(task.id)[Batch(0, 0, ())].n == 400
    assert stores[0].check() == []
    assert copies
    for path in copies:
        one = open_store(f"sqlite:///{path}")
        assert one.check() == []
        one.close()
    for store in stores:
        store.close()


# ---- servers that do not answer


@contextmanager
def stopped(*processes: int) -> Iterator[None]:
    for process in processes:
        os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        for process in processes:
            os.kill(process, signal.SIGCONT)


def test_a_server_that_is_stopped_is_given_up_within_seconds(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres, "_ANSWER_SECONDS", 1)
    monkeypatch.setitem(postgres._LINK, "connect_timeout", 2)
    store = open_store(url)
    task, one = opened(store), report(1)
    assert isinstance(store.engine, PostgresEngine)
    backends: list[int] = []
    with store.engine.write() as session:
        backends += session.execute("SELECT pg_backend_pid()")[0]
    with store.engine.read() as session:
        backends += session.execute("SELECT pg_backend_pid()")[0]
    with stopped(postgres_process(), *backends):
        for _ in range(2):  # the connection that was open, then a new one
            start = time.monotonic()
            with pytest.raises(StoreUnavailableError, match="cannot be used now"):
                store.add([Upload(task.id, DAY, [one])])
            with pytest.raises(StoreUnavailableError, match="cannot be used now"):
                store.task(task.id)
            assert time.monotonic() - start < 60  # without limits it would be for ever
    assert store.add([Upload(task.id, DAY, [one])])[0][0] in (YES, AGAIN)
    assert store.tallies(task.id)[Batch(0, 0, ())].n == 1
    assert store.check() == []
    store.close()


def test_locks_and_statements_have_limits(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres, "_LOCK_SECONDS", 0.1)
    monkeypatch.setattr(postgres, "_STATEMENT_SECONDS", 0.2)
    store, other = open_store(url), engine_of(url)
    task = opened(store)
    store.engine.close()  # connections with the new limits
    with other.write() as session:
        session.lock(1, alone=True)
        with pytest.raises(StoreUnavailableError, match="lock timeout"):
            store.add([Upload(task.id, DAY, [report(1)])])
    with pytest.raises(StoreUnavailableError, match="statement timeout"), store.engine.read() as session:
        session.execute("SELECT pg_sleep(60)")
    with store.engine.read(patient=True) as session:
        session.execute("SELECT pg_sleep(0.3)")
    assert store.add([Upload(task.id, DAY, [report(1)])]) == [[YES]]
    other.close()
    store.close()


# ---- who may erase


def test_a_role_that_could_not_erase_is_refused(url: str) -> None:
    store = open_store(url)
    store.close()
    role = f"r{fresh_id().hex()}"
    sql(
        url,
        f"CREATE ROLE {role} LOGIN",
        f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {role}",
    )
    theirs = url.replace("//postgres:@", f"//{role}:@")
    assert theirs != url
    with pytest.raises(ParameterError, match=f"the role {role} .* the right to empty .*kept.*seen.*tallies"):
        open_store(theirs)
    sql(url, f"GRANT TRUNCATE ON seen, kept, tallies, seen_fresh, kept_fresh TO {role}")
    store = open_store(theirs)
    task = opened(store, keep="3")
    store.add([Upload(task.id, DAY, [report(1)])])
    store.settle()
    assert sql(url, "SELECT count(*) FROM ONLY seen") == [(1,)]
    assert any("may not give up the log" in note for note in store.advice())
    store.close()
    sql(url, f"DROP OWNED BY {role}", f"DROP ROLE {role}")


def test_a_role_that_does_not_own_an_older_database_is_told_so(url: str) -> None:
    engine = engine_of(url)
    care.migrate(engine)
    engine.close()
    role = f"r{fresh_id().hex()}"
    sql(url, f"CREATE ROLE {role} LOGIN", f"GRANT ALL ON ALL TABLES IN SCHEMA public TO {role}")
    with pytest.raises(ParameterError, match=f"the role {role} .* does not own the tables kept, seen, tallies"):
        open_store(url.replace("//postgres:@", f"//{role}:@"))
    sql(url, f"DROP OWNED BY {role}", f"DROP ROLE {role}")


# ---- what a server keeps


def test_what_a_server_keeps_is_said(url: str) -> None:
    store = open_store(url)
    assert [note.partition(":")[0] for note in store.advice()] == ["wal_recycle is on"]
    with forgetful_postgres():
        store.engine.close()
        assert store.advice() == []
        slot = f"s{fresh_id().hex()}"
        sql(url, f"SELECT pg_create_physical_replication_slot('{slot}')")
        assert ["replication slots" in note for note in store.advice()] == [True]
        sql(url, f"SELECT pg_drop_replication_slot('{slot}')")
    store.close()


def test_rows_do_not_say_in_which_transaction_they_came(url: str) -> None:
    """The server keeps a number of the transaction in every row; after `purge` all rows have the same."""
    store = open_store(url, settle_seconds=1e9)
    task = opened(store, keep="3")
    for _ in range(3):
        for i in range(5):
            store.add([Upload(task.id, DAY, [Incoming(fresh_id(), bytes([i]))])])
        store.settle()
    numbers = "SELECT count(DISTINCT xmin::text), count(*) FROM {}"
    assert sql(url, numbers.format("seen")) == [(3, 15)]
    store.purge(DAY)
    for table in ("seen", "kept"):
        assert sql(url, numbers.format(table)) == [(1, 15)]
    assert store.check() == []
    store.close()


def test_who_reads_sees_one_state_and_settling_waits_for_it(url: str) -> None:
    """Emptying a table takes its rows from readers that have not looked at it yet, unless they hold it."""
    store, other = open_store(url, settle_seconds=1e9), open_store(url)
    task = opened(store)
    store.add([Upload(task.id, DAY, [report(1), report(2)])])
    with store.engine.read() as session:
        session.execute("SELECT name FROM meta")
        with pytest.raises(StoreUnavailableError, match="lock timeout"):
            other.settle()
        assert session.execute("SELECT count(*) FROM seen") == [(2,)]
    other.settle()
    assert sql(url, "SELECT count(*) FROM seen_fresh") == [(0,)]
    assert store.check() == []
    store.close()
    other.close()
