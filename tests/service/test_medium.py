"""Erasing holds on the medium: no file tells a single report or the order of arrival, a stated time after it came."""

from __future__ import annotations

import logging
import math
import queue
import shutil
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from deniable.errors import FormatError
from deniable.service.store import care, open_store, settling
from deniable.service.store.contract import StoreUnavailableError, Upload
from deniable.service.store.settling import Settler
from deniable.service.store.sqlite import STANDARD, Driver, SqliteEngine
from service.databases import ENGINES, forgetful_postgres, new_database
from service.making import DAY, opened, report
from service.recovery import COMMITTED, Stage, Trial, chance, files_of, life
from service.running import wait_for


@pytest.fixture
def url(engine: str, tmp_path: Path) -> str:
    return new_database(engine, tmp_path)


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Iterator[str]:
    with ExitStack() as stack:
        if request.param == "postgres":
            new_database("postgres", Path())  # so that there is a server
            stack.enter_context(forgetful_postgres())
        yield request.param


def check_life(engine: str, folder: Path, n: int, *, bodies: bool) -> None:
    """Nothing is found after any stage but those whose time is not over; there the same scan recovers reports."""
    for stage in life(engine, folder, n, bodies=bodies):
        assert stage.clean == (stage.name not in COMMITTED), stage
        if stage.name == COMMITTED[0]:
            assert stage.found.reports >= n // 4  # of a thousand, SQLite's log has written over the first ones
            assert stage.found.order > chance(n)
        elif stage.name == COMMITTED[1]:
            assert stage.found.reports >= 1


@pytest.mark.parametrize("bodies", [False, True])
def test_single_reports_cannot_be_recovered(engine: str, bodies: bool, tmp_path: Path) -> None:
    check_life(engine, tmp_path, 30, bodies=bodies)


@pytest.mark.slow
def test_a_thousand_single_reports_cannot_be_recovered(engine: str, tmp_path: Path) -> None:
    check_life(engine, tmp_path, 1000, bodies=True)


# ---- when


def test_reports_are_settled_in_time_without_being_asked(tmp_path: Path) -> None:
    """A thread does it; reports that come meanwhile are settled too, each in its time."""
    url = new_database("sqlite", tmp_path)
    trial = Trial(open_store(url, settle_seconds=0.02))
    log = Path(f"{url.partition(':///')[2]}-wal")
    for _ in range(3):
        trial.send(5)
        wait_for(lambda: log.stat().st_size == 0)
        found = trial.scan(list(files_of("sqlite", url, tmp_path)))
        assert (found.tallies, found.reports, found.bodies) == (0, 0, 0)
    trial.store.close()


def test_a_store_that_is_closed_leaves_nothing_to_be_settled(tmp_path: Path) -> None:
    """Reports whose time is not over are settled then, and a new file is nobody else's to read."""
    url = new_database("sqlite", tmp_path)
    trial = Trial(open_store(url, settle_seconds=3600))
    trial.send(40)
    trial.store.close()
    found = trial.scan(list(files_of("sqlite", url, tmp_path)))
    assert (found.tallies, found.reports, found.bodies) == (0, 0, 0)
    assert found.order < chance(len(trial.sent))
    assert {path.stat().st_mode & 0o777 for path in files_of("sqlite", url, tmp_path) if path.is_file()} == {0o600}


def test_the_time_counts_from_the_first_report_and_too_many_are_settled_at_once() -> None:
    calls: queue.Queue[bool] = queue.Queue()
    settler = Settler(calls.put, seconds=1e6, most=10)
    for _ in range(9):
        settler.touch(1)
    assert calls.empty()
    settler.touch(1)
    assert calls.get(timeout=60) is False  # the log has time
    settler.touch(1)
    settler.soon()
    assert calls.get(timeout=60) is True
    assert settler.stop() is False
    settler = Settler(calls.put, seconds=1e6, most=10)
    settler.touch(1)
    assert settler.stop() is True  # it is left to whoever closes the store


Event = tuple[float, str, int]


def settled(monkeypatch: pytest.MonkeyPatch, events: list[Event], *, seconds: float, most: int) -> list[Event]:
    """When a settler settles, on a clock of our own: it waits for no time, but for what happens next.

    Events are a time, `touch` or `soon`, and a number of reports; what is told is a time, `over` or `full`, and 0.
    """
    now, coming, told = [0.0], list(events), list[Event]()

    def settle(over: bool) -> None:
        told.append((now[0], "over" if over else "full", 0))

    settler = Settler(settle, seconds=seconds, most=most)

    class Wake(AbstractContextManager["Wake"]):
        def __exit__(self, *_: object) -> None:
            """There is one thread."""

        def notify(self) -> None:
            """It is awake."""

        def wait(self, timeout: float | None) -> None:
            due = math.inf if timeout is None else now[0] + timeout
            if coming and coming[0][0] <= due:
                now[0], what, reports = coming.pop(0)
                settler.soon() if what == "soon" else settler.touch(reports)
            elif timeout is None:
                settler._stopped = True
            else:
                now[0] = due

    monkeypatch.setattr(settling, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(settler, "_wake", Wake())
    monkeypatch.setattr(settler, "_thread", SimpleNamespace())  # this one does its work
    settler._work()
    assert (coming, settler._due) == ([], None)
    return told


def test_under_steady_traffic_each_report_is_settled_in_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time counts from the first report that is not settled; those that come after it do not put it off."""
    steady = [(float(second), "touch", 1) for second in range(21)]
    told = settled(monkeypatch, steady, seconds=5.0, most=1000)
    assert told == [(5.0, "over", 0), (11.0, "over", 0), (17.0, "over", 0), (23.0, "over", 0)]


CLOCKS: dict[str, tuple[list[Event], list[Event]]] = {
    "one": ([(2.0, "touch", 1)], [(7.0, "over", 0)]),
    "nine of ten": ([(0.0, "touch", 5), (1.0, "touch", 4)], [(5.0, "over", 0)]),
    "ten": ([(0.0, "touch", 5), (1.0, "touch", 5)], [(1.0, "full", 0), (5.0, "over", 0)]),
    "many at once": ([(0.0, "touch", 25)], [(0.0, "full", 0), (5.0, "over", 0)]),
    "they count from zero again": (
        [(0.0, "touch", 10), (1.0, "touch", 9), (2.0, "touch", 1)],
        [(0.0, "full", 0), (2.0, "full", 0), (5.0, "over", 0)],
    ),
    "at once": ([(0.0, "touch", 1), (1.0, "soon", 0), (3.0, "touch", 1)], [(1.0, "over", 0), (8.0, "over", 0)]),
    "at a start": ([(0.0, "soon", 0)], [(0.0, "over", 0)]),
}


@pytest.mark.parametrize("name", CLOCKS)
def test_when_reports_are_settled(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Five seconds after the first of them, or as soon as there are ten; the log of the database has its time."""
    events, told = CLOCKS[name]
    assert settled(monkeypatch, events, seconds=5.0, most=10) == told


def test_the_clock_of_erasing_hears_of_each_report_that_was_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither of uploads, nor of what was refused or counted before."""
    store, heard, one = open_store(new_database("sqlite", tmp_path)), list[int](), report(1)
    task = opened(store)
    monkeypatch.setattr(store._settler, "touch", heard.append)
    store.add([Upload(task.id, DAY, [one, report(2), report(200)]), Upload(task.id, DAY, [one, report(3)])])
    store.add([Upload(task.id, DAY, [one, report(200)])])
    assert heard == [3]
    store.close()


def test_what_cannot_be_settled_now_is_said_and_tried_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("deniable.service.store.settling._AGAIN_SECONDS", 0.01)
    monkeypatch.setattr(logging.getLogger("deniable.service"), "propagate", True)
    faults: list[Exception] = [StoreUnavailableError("somebody reads."), RuntimeError("a mistake of ours")]
    done = threading.Event()

    def settle(over: bool) -> None:
        if faults:
            raise faults.pop()
        done.set()

    settler = Settler(settle, seconds=0.0, most=10)
    with caplog.at_level(logging.INFO, "deniable.service"):
        settler.touch(1)
        assert done.wait(60)
    assert settler.stop() is False
    assert settler._thread is not None
    own = [record.getMessage() for record in caplog.records if record.thread == settler._thread.ident]
    assert own == ["erasing is late: trying again"] * 2


def test_a_killed_collector_leaves_nothing_once_another_has_started(tmp_path: Path) -> None:
    """Copies of its files are what a kill leaves: the log, and rows in the order of their arrival."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    url = new_database("sqlite", tmp_path / "a")
    trial = Trial(open_store(url, settle_seconds=1e9), bodies=True)
    trial.send(30)
    for path in (tmp_path / "a").iterdir():
        shutil.copy(path, tmp_path / "b")
    left = url.replace(str(tmp_path / "a"), str(tmp_path / "b"))
    files = list(files_of("sqlite", left, tmp_path / "b"))
    assert trial.scan(files).reports == 30
    store = open_store(left)
    store.settle_soon()
    log = Path(f"{left.partition(':///')[2]}-wal")
    wait_for(lambda: log.stat().st_size == 0)
    found = trial.scan(files)
    assert (found.tallies, found.reports) == (0, 0)
    store.purge(DAY)
    assert Stage("purged", trial.scan(files), 30, kept=30).clean
    assert store.check() == []
    store.close()
    trial.store.close()


def test_what_a_killed_process_left_is_written_anew_on_the_same_day(tmp_path: Path) -> None:
    """Nothing was deleted, and the files were in order that day: it is noted all the same when the next one starts."""
    url = new_database("sqlite", tmp_path)
    trial = Trial(open_store(url, settle_seconds=3600))
    trial.store.purge(DAY)
    trial.send(3)
    trial.store.engine.close()  # without a word
    store = open_store(url, settle_seconds=3600)
    assert store.engine.disorder()
    store.settle_soon()
    store.purge(DAY)
    assert not store.engine.disorder()
    store.close()


def test_more_rows_than_are_put_in_order_at_once_wait_for_the_next_day(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deniable.service.store.sqlite._MOST_SORTED", 20)
    url = new_database("sqlite", tmp_path)
    trial = Trial(open_store(url, settle_seconds=1e9))
    store = trial.store
    store.purge(DAY)
    trial.send(30)
    store.settle()
    files = list(files_of("sqlite", url, tmp_path))
    found = trial.scan(files)
    assert (found.tallies, found.reports) == (0, 0)
    assert found.order > chance(30)
    assert store.engine.disorder()
    store.purge(DAY + timedelta(1))
    assert Stage("purged", trial.scan(files), 30, kept=0).clean
    assert not store.engine.disorder()
    trial.send(15)
    assert store.engine.disorder()
    store.settle()
    assert not store.engine.disorder()
    assert store.check() == []
    store.close()


# ---- notes


def test_what_somebody_else_deletes_meanwhile_stays_noted(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One collector erases while another deletes: the first must not take the other's note back."""
    one, two = open_store(url), open_store(url)
    tasks = [opened(one, keep="3", subject=name) for name in ("first", "second")]
    for task in tasks:
        one.add([Upload(task.id, DAY, [report(1), report(2)])])
        one.set_state(task.id, "closed")
    erase = one.engine.erase

    def erase_and_delete() -> None:
        erase()
        with two.engine.write() as session:
            session.execute("DELETE FROM kept")
            care.note_erase(session)

    monkeypatch.setattr(one.engine, "erase", erase_and_delete)
    one.purge(DAY)
    monkeypatch.undo()
    calls: list[int] = []
    monkeypatch.setattr(two.engine, "erase", lambda: calls.append(1))
    two.purge(DAY)
    assert calls == [1]
    two.purge(DAY)
    assert calls == [1]
    one.close()
    two.close()


def test_a_store_that_can_be_written_says_so(url: str) -> None:
    store = open_store(url)
    store.writable()
    store.writable()
    assert store.check() == []
    store.close()


def test_a_full_disk_is_noticed(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path}/x.db")
    store.writable()
    with store.engine.write() as session:
        session.execute("PRAGMA query_only = ON")  # SQLite refuses it as it does on a disk that takes nothing
    with pytest.raises(StoreUnavailableError, match="cannot be used now"):
        store.writable()
    store.close()


def test_a_file_that_may_not_grow_is_told_as_such_and_takes_reports_again_later(tmp_path: Path) -> None:
    """SQLite says that the disk is full; nothing of the upload is counted, and it can be sent again."""
    store = open_store(f"sqlite:///{tmp_path}/x.db")
    task = opened(store, keep="3")
    upload = Upload(task.id, DAY, [report(i % 8) for i in range(2000)])
    with store.engine.write() as session:
        session.execute("PRAGMA max_page_count = 1")  # as many as there are
    with pytest.raises(StoreUnavailableError, match=r"database or disk is full.*Is the disk full or read-only"):
        store.add([upload])
    assert store.tallies(task.id) == {}
    assert {outcome.status for outcome in store.add([upload])[0]} == {"accepted"}  # by a connection without that limit
    store.close()


LATER = {"PERM", "BUSY", "LOCKED", "NOMEM", "READONLY", "IOERR", "FULL", "CANTOPEN", "PROTOCOL"}
DAMAGED = {"CORRUPT", "NOTADB"}
OURS = {"ERROR", "INTERNAL", "ABORT", "INTERRUPT", "NOTFOUND", "EMPTY", "SCHEMA", "TOOBIG", "CONSTRAINT", "MISMATCH"}
OURS |= {"MISUSE", "NOLFS", "AUTH", "FORMAT", "RANGE"}


@pytest.mark.parametrize("name", sorted(LATER | DAMAGED | OURS))
def test_what_a_driver_says_is_to_try_again_or_damage_or_a_mistake_of_ours(name: str, tmp_path: Path) -> None:
    """Also where it says more of the cause; what it says of nothing that we know is a mistake of ours."""
    code = getattr(sqlite3, f"SQLITE_{name}")
    for said in (code, code | 7 << 8):

        def connect(_: str, said: int = said) -> Any:
            error = sqlite3.OperationalError("something")
            error.sqlite_errorcode = said
            raise error

        engine = SqliteEngine(tmp_path / "x.db", Driver(connect, sqlite3.Error, STANDARD.code))
        for begin in (engine.read, engine.write):
            kind = StoreUnavailableError if name in LATER else FormatError if name in DAMAGED else sqlite3.Error
            with pytest.raises(kind), begin():
                pytest.fail("there is no connection")
