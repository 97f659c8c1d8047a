"""How often the collector looks at its database, by a clock that is set by hand; and what it says about itself."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta
from typing import Any

import pytest

from deniable.service.collector import Collector
from deniable.service.settings import Settings
from deniable.service.store.contract import StoreUnavailableError, TaskRow
from service.calling import Service, item, task_of


class Hand:
    """The clock of a loop, which stands still."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        monkeypatch.setattr(asyncio.get_running_loop(), "time", lambda: self.now)


def counting(service: Service, name: str) -> list[Any]:
    """Calls of a function of the store, as they come."""
    calls, real = list[Any](), getattr(service.store, name)

    def called(*given: Any) -> Any:
        calls.append(given)
        return real(*given)

    setattr(service.store, name, called)
    return calls


# ---- tasks


def test_the_state_of_a_task_is_asked_for_again_after_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    """What another process changed is known a second later at most; within it nobody looks twice."""
    service = Service()
    id = service.add(task_of())
    looks = counting(service, "task")

    async def go() -> None:
        hand, found = Hand(monkeypatch), list[tuple[float, int, str]]()
        for seconds in (0.0, 0.5, 0.999, 1.0, 1.5, 2.5):
            if seconds == 0.5:
                service.store.set_state(id, "closed")
            hand.now = 1000.0 + seconds
            known = await service.collector.task(id)
            assert known is not None
            found.append((seconds, len(looks), known.row.state))
        assert found == [
            (0.0, 1, "open"), (0.5, 1, "open"), (0.999, 1, "open"), (1.0, 2, "closed"), (1.5, 2, "closed"),
            (2.5, 3, "closed"),
        ]  # fmt: skip

    asyncio.run(go())


def test_one_look_is_for_all_who_wait_for_a_task_and_none_is_kept_of_what_is_not_there() -> None:
    service = Service()
    document = task_of()
    looks = counting(service, "task")

    async def go() -> None:
        ask = service.collector.task
        assert await asyncio.gather(*(ask(document["id"]) for _ in range(20))) == [None] * 20
        assert len(looks) == 1
        service.add(document)
        assert len({id(known) for known in await asyncio.gather(*(ask(document["id"]) for _ in range(20)))}) == 1
        assert len(looks) == 2

    asyncio.run(go())


def test_a_look_that_began_before_a_change_is_not_believed_after_it() -> None:
    """Whoever asked before the change may have the old state; whoever asks after it has the new one."""
    service = Service()
    id = service.add(task_of())
    real, rows = service.store.task, list[TaskRow | None]()

    async def go() -> None:
        read, go_on = asyncio.Event(), asyncio.Event()
        loop = asyncio.get_running_loop()

        def slow(asked: str) -> TaskRow | None:
            row = real(asked)
            rows.append(row)
            if len(rows) == 1:
                loop.call_soon_threadsafe(read.set)
                asyncio.run_coroutine_threadsafe(go_on.wait(), loop).result(60)
            return row

        service.store.task = slow  # type: ignore[method-assign]
        early = asyncio.ensure_future(service.collector.task(id))
        await read.wait()
        service.store.set_state(id, "closed")
        service.collector.forget(id)
        late = asyncio.ensure_future(service.collector.task(id))
        found = await late
        assert found is not None
        assert found.row.state == "closed"
        go_on.set()
        old = await early
        assert old is not None
        assert old.row.state == "open"
        now = await service.collector.task(id)
        assert now is not None
        assert now.row.state == "closed"

    asyncio.run(go())


# ---- readiness


def test_one_look_a_second_tells_whether_reports_can_be_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """A look that fails is not believed: the next who asks looks again."""
    service = Service()
    looks = counting(service, "writable")

    async def go() -> None:
        hand, found = Hand(monkeypatch), list[tuple[float, int]]()
        for seconds in (0.0, 0.5, 0.999, 1.0, 1.9, 2.0):
            hand.now = 1000.0 + seconds
            await service.collector.probe()
            found.append((seconds, len(looks)))
        assert found == [(0.0, 1), (0.5, 1), (0.999, 1), (1.0, 2), (1.9, 2), (2.0, 3)]
        hand.now += 5
        service.store.fails = True
        for more in (4, 5):
            with pytest.raises(StoreUnavailableError):
                await service.collector.probe()
            assert len(looks) == more

    asyncio.run(go())


def test_a_database_that_does_not_answer_is_waited_for_five_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    service = Service()
    real = asyncio.timeout
    asked: list[float | None] = []

    def timeout(seconds: float | None) -> Any:
        asked.append(seconds)
        return real(0 if seconds == 5 else seconds)

    async def never() -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(asyncio, "timeout", timeout)
    monkeypatch.setattr(service.collector, "probe", never)
    reply = service.get("/readyz")
    assert (reply.status, reply.problem) == (503, "unavailable")
    assert 5 in asked


# ---- upkeep


def test_upkeep_comes_first_and_then_as_often_as_the_settings_say(monkeypatch: pytest.MonkeyPatch) -> None:
    service = Service(Settings(upkeep_seconds=77))
    steps: list[Any] = []

    async def sleep(seconds: float) -> None:
        steps.append(seconds)
        if len(steps) >= 4:
            raise asyncio.CancelledError

    monkeypatch.setattr(service.collector, "tidy", lambda: steps.append("tidy"))
    monkeypatch.setattr(asyncio, "sleep", sleep)
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(service.collector.upkeep())
    assert steps == ["tidy", 77, "tidy", 77]


# ---- what is taken


def test_an_upload_without_reports_is_not_handed_in() -> None:
    service = Service(Settings(rate=1))
    id = service.add(task_of())
    for _ in range(3):
        assert service.send(id).json == {"results": []}
    assert service.uploads == []
    assert service.fates(id, item(1)) == ["accepted"]
    (upload,) = service.uploads
    assert (upload.task, upload.today, len(upload.reports)) == (id, service.now.date(), 1)


def test_what_is_turned_away_is_told_why() -> None:
    """A stop is told before a queue that is full; both without reading anything."""
    service = Service()
    id = service.add(task_of())
    service.collector._full = lambda: True
    full = service.send(id, item(1))
    service.collector.stopping = True
    stopping = service.send(id, item(1))
    assert full.json["detail"] == "More reports are waiting than can be held. Try again later."
    assert stopping.json["detail"] == "The collector is stopping. Try again later."
    assert [reply.headers.get("connection") for reply in (full, stopping)] == [None, "close"]
    assert service.get("/readyz").json["detail"] == "The collector is stopping."


def test_the_rate_is_told_in_reports_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    service = Service(Settings(rate=1500))
    id = service.add(task_of())

    async def burst() -> list[Any]:
        Hand(monkeypatch)
        body = json.dumps({"reports": [item(1)] * 1000}).encode()
        path, head = f"/v1/tasks/{id}/reports", {"content-type": "application/json"}
        return [await service._call("POST", path, [body], head) for _ in range(2)]

    first, second = asyncio.run(burst())
    assert (first.status, second.status) == (200, 429)
    assert second.json["detail"] == "At most 1,500 reports a second are taken. Try again later."


# ---- what it says about itself


def gauges(collector: Collector) -> dict[str, str]:
    lines = collector.metrics.text().splitlines()
    kinds = {line.split()[2]: line.split()[3] for line in lines if line.startswith("# TYPE ")}
    helped = {line.split()[2] for line in lines if line.startswith("# HELP ")}
    assert helped == set(kinds)
    found = dict(line.split(" ") for line in lines if not line.startswith("#") and "{" not in line)
    return {name: value for name, value in found.items() if kinds.get(name) == "gauge"}


def test_gauges_tell_what_is_the_case_when_they_are_read() -> None:
    service = Service()
    waiting = [0]

    async def submit(_: Any) -> Any:
        return []

    collector = Collector(
        service.store,
        submit,
        Settings(),
        clock=lambda: service.now + service.wrong,
        steady=lambda: service.now.timestamp(),
        waiting=lambda: waiting[0],
    )
    well = dict.fromkeys(
        ("deniable_waiting_reports", "deniable_held_bytes", "deniable_upkeep_faults", "deniable_clock_doubtful"), "0"
    )
    collector.tidy()
    assert gauges(collector) == well
    waiting[0] = 17
    with collector.held.lease() as lease:
        lease.take(4711)
        assert gauges(collector) == well | {"deniable_waiting_reports": "17", "deniable_held_bytes": "4711"}
    waiting[0] = 0
    for number in range(3):
        service.store._tasks[f"{number:064x}"] = TaskRow(f"{number:064x}", b"{}", "open")
    collector.tidy()
    assert gauges(collector) == well | {"deniable_upkeep_faults": "3"}
    assert collector.notes == ["upkeep failed for 3 tasks; the log says which"]
    service.wrong = timedelta(30)
    collector.tidy()
    assert gauges(collector) == well | {"deniable_clock_doubtful": "1"}
    (note,) = collector.notes
    assert note.startswith("nothing is published or erased: the clock was set ahead by 720.0 hours")
