"""Upkeep that one bad task does not stop, a clock that is not believed, and readiness that tells the truth."""

from __future__ import annotations

import asyncio
import json
import logging
import sqlite3
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from deniable.cli import main
from deniable.service.collector import Collector
from deniable.service.limits.clocks import Watch, confirm
from deniable.service.settings import Settings
from deniable.service.store import open_store
from deniable.service.store.contract import Outcome, Store, StoreUnavailableError, Upload
from deniable.service.store.database import Database
from deniable.service.store.sqlite import STANDARD, Driver, SqliteEngine
from service.calling import Service, item, task_of
from service.making import DAY, opened, report
from service.memory import MemoryStore

NOON = datetime(DAY.year, DAY.month, DAY.day, 12, tzinfo=UTC)


@pytest.fixture
def told(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Events of the log with their facts."""
    monkeypatch.setattr(logging.getLogger("deniable.service"), "propagate", True)
    caplog.set_level(logging.INFO, "deniable.service")
    return lambda: [(record.getMessage(), record.__dict__["facts"]) for record in caplog.records]


def collector_of(store: Store, now: datetime) -> Collector:
    async def submit(upload: Upload) -> list[Outcome]:
        return store.add([upload])[0]

    return Collector(store, submit, Settings(), clock=lambda: now, steady=now.timestamp)


# ---- one bad task


def damaged(path: Path, statement: str) -> None:
    with sqlite3.connect(path) as link:
        link.execute(statement)
    link.close()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE tallies SET tally = x'00' WHERE task = 1",
        "UPDATE tasks SET document = x'7b7d' WHERE number = 1",
    ],
)
def test_a_damaged_row_stops_upkeep_of_its_task_only(tmp_path: Path, statement: str, told: Any) -> None:
    store = open_store(f"sqlite:///{tmp_path / 'c.db'}")
    tasks = [opened(store, days=1, count=1, subject=f"subject {i}", min_batch=1) for i in range(3)]
    store.add([Upload(task.id, DAY, [report(1)]) for task in tasks])
    store.close()
    damaged(tmp_path / "c.db", statement)
    store = open_store(f"sqlite:///{tmp_path / 'c.db'}")
    collector = collector_of(store, NOON + timedelta(3))
    confirm(store, NOON + timedelta(3))
    collector.tidy()
    with sqlite3.connect(tmp_path / "c.db") as link:
        published = {n for (n,) in link.execute("SELECT task FROM sealed WHERE document IS NOT NULL")}
        kept = {n for (n,) in link.execute("SELECT DISTINCT task FROM seen")}
        closed = {n for (n,) in link.execute("SELECT number FROM tasks WHERE state = 'closed'")}
    link.close()
    assert published == {2, 3}
    assert closed >= {2, 3}
    assert not kept & {2, 3}
    assert "deniable_upkeep_faults 1\n" in collector.metrics.text()
    assert {facts["task"] for event, facts in told() if event == "upkeep"} == {tasks[0].id}
    assert collector.notes == ["upkeep failed for 1 task; the log says which"]
    store.close()


def test_upkeep_that_fails_as_a_whole_is_told_and_tried_again(told: Any) -> None:
    service = Service()
    service.store.fails = True
    service.collector.tidy()
    assert service.collector.notes == ["the last round of upkeep failed; the log says how"]
    assert [facts["task"] for event, facts in told() if event == "upkeep"] == ["all"]
    service.store.fails = False
    service.collector.tidy()
    assert service.collector.notes == []


@pytest.mark.parametrize("error", [KeyError, ValueError, RuntimeError, AssertionError, OSError])
def test_upkeep_outlives_errors_of_every_kind(error: type[Exception], monkeypatch: pytest.MonkeyPatch) -> None:
    service = Service()

    def failing() -> Any:
        raise error("anything")

    with monkeypatch.context() as patch:
        patch.setattr(service.store, "tasks", failing)
        for _ in range(2):
            service.collector.tidy()
            assert service.collector.notes == ["the last round of upkeep failed; the log says how"]
    service.collector.tidy()
    assert service.collector.notes == []


def test_readiness_tells_of_upkeep_without_naming_a_task(monkeypatch: pytest.MonkeyPatch) -> None:
    service = Service()
    id = service.add(task_of())
    assert service.get("/readyz").json == {"status": "ready"}
    row = service.store.task(id)
    assert row is not None
    service.store._tasks["f" * 64] = type(row)("f" * 64, b"{}", "open")
    service.collector.tidy()
    reply = service.get("/readyz")
    assert reply.status == 200  # reports of other tasks are taken
    assert reply.json == {"status": "degraded", "why": ["upkeep failed for 1 task; the log says which"]}
    assert service.fates(id, item(1)) == ["accepted"]


# ---- a disk that takes nothing


def refusing(writes: list[bool]) -> Driver:
    """SQLite on a disk that is read-only as long as there is something in the list."""

    def connect(path: str) -> Any:
        link = STANDARD.connect(path)

        class Link:
            def execute(self, sql: str, *given: Any) -> Any:
                if writes and sql.startswith(("INSERT", "COMMIT", "DELETE")):
                    link.execute("PRAGMA query_only = ON")
                return link.execute(sql, *given)

            def __getattr__(self, name: str) -> Any:
                return getattr(link, name)

        return Link()

    return Driver(connect, STANDARD.error, STANDARD.code)


def test_readiness_is_refused_while_nothing_can_be_written(tmp_path: Path) -> None:
    open_store(f"sqlite:///{tmp_path / 'c.db'}").close()
    full: list[bool] = []
    store = Database(SqliteEngine(tmp_path / "c.db", refusing(full)))
    collector = collector_of(store, NOON)
    asyncio.run(collector.probe())
    full.append(True)
    collector._probed = 0.0
    assert store.task("0" * 64) is None  # what was looked at before: it can be read
    for _ in range(2):  # a look that failed is not believed for a second
        with pytest.raises(StoreUnavailableError):
            asyncio.run(collector.probe())
    full.clear()
    asyncio.run(collector.probe())
    store.close()


def test_readiness_is_looked_at_once_for_all_who_ask() -> None:
    service, looks = Service(), [0]

    def counted() -> None:
        looks[0] += 1

    service.store.writable = counted  # type: ignore[method-assign]

    async def many() -> None:
        for _ in range(2):
            await asyncio.gather(*(service.collector.probe() for _ in range(50)))

    asyncio.run(many())
    assert looks == [1]


# ---- the clock


class Times:
    """A time of day and a steady clock, set by hand."""

    def __init__(self) -> None:
        self.now, self.steady = NOON, 1000.0

    def go(self, **by: float) -> None:
        self.now += timedelta(**by)
        self.steady += timedelta(**by).total_seconds()

    def set(self, **by: float) -> None:
        self.now += timedelta(**by)

    def watch(self, store: Store, days: int = 7) -> Watch:
        return Watch(store, days, lambda: self.now, lambda: self.steady)


@pytest.mark.parametrize("jump", [{"days": 400}, {"hours": 1.1}, {"days": -3}])
def test_a_clock_that_is_set_is_not_believed_until_it_is_right_again(jump: dict[str, float]) -> None:
    times, store = Times(), MemoryStore()
    watch = times.watch(store)
    assert watch.look() == ""
    times.go(days=2)
    assert watch.look() == ""
    right, last = times.now, store.note("last-day")
    times.set(**jump)
    assert watch.today() == right.date()
    assert watch.believed() == right
    assert "was set" in watch.look()
    assert store.note("last-day") == last
    times.go(hours=5)
    assert watch.believed() == right + timedelta(hours=5)
    times.set(**{unit: -by for unit, by in jump.items()})
    assert watch.look() == ""
    assert watch.believed() == times.now


def test_small_corrections_and_long_runs_are_believed() -> None:
    times = Times()
    watch = times.watch(MemoryStore())
    for _ in range(400):
        times.go(days=1)
        assert watch.look() == ""
    times.set(minutes=59)
    assert watch.look() == ""


@pytest.mark.parametrize(("away", "believed"), [(7, True), (8, False), (4000, False), (-1, True), (-2, False)])
def test_after_a_long_pause_the_clock_must_be_confirmed(away: int, believed: bool) -> None:
    times, store = Times(), MemoryStore()
    assert times.watch(store).look() == ""
    times.go(days=away)
    watch = times.watch(store)  # another process
    assert (watch.look() == "") is believed
    if believed:
        return
    assert watch.why == f"the clock says {times.now.date()}, and the last day on which a collector ran was {DAY}"
    assert watch.believed().date() == DAY
    assert watch.today() == times.now.date()
    confirm(store, times.now)
    assert watch.look() == ""
    assert watch.believed() == times.now


def test_an_operator_confirms_a_clock_that_was_set() -> None:
    times, store = Times(), MemoryStore()
    watch = times.watch(store)
    watch.look()
    times.set(days=30)
    assert watch.look()
    assert watch.look()
    confirm(store, times.now)
    assert watch.look() == ""
    times.set(days=30)
    assert watch.look()  # one word is for one clock


def test_a_wrong_clock_publishes_closes_and_erases_nothing(told: Any) -> None:
    service = Service()
    id = service.add(task_of(min_batch=1))
    analyst = service.key("analyst")
    service.collector.tidy()
    assert service.fates(id, item(1)) == ["accepted"]
    before = list(service.store.purged)
    service.wrong = timedelta(400)
    service.collector.tidy()
    assert service.store.purged == before
    windows = service.get(f"/v1/tasks/{id}/estimate", analyst).json["windows"]
    assert [window["state"] for window in windows] == ["open"]
    assert service.store._sealed == {}
    assert service.fates(id, item(2)) == ["accepted"]  # by the steady clock it is still today
    assert "deniable_clock_doubtful 1\n" in service.collector.metrics.text()
    reply = service.get("/readyz")
    assert (reply.status, reply.json["status"]) == (200, "degraded")
    assert "clock was set ahead by 9600.0 hours" in reply.json["why"][0]
    service.collector.tidy()
    assert [event for event, _ in told()].count("clock") == 1  # said once
    service.wrong = timedelta(0)
    service.later(30)
    service.collector.tidy()
    assert service.store._sealed
    assert service.get("/readyz").json == {"status": "ready"}


def test_the_clock_is_confirmed_by_a_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    url = f"sqlite:///{tmp_path / 'c.db'}"
    store = open_store(url)
    store.put_note("last-day", date(2020, 1, 1).toordinal())
    watch = Watch(store, 7, lambda: datetime.now(UTC), lambda: 0.0)
    assert watch.look()
    assert main(["store", "clock", "--database", url, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["confirmed"].startswith(str(datetime.now(UTC).year))
    assert watch.look() == ""
    store.close()
