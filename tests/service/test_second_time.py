"""The second time: after a commit that failed, beside another process, with what was known a moment ago."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from deniable.service.store import open_store
from deniable.service.store.contract import Store, StoreUnavailableError, Upload
from deniable_client.task import Task
from service.calling import Service, item, task_of
from service.making import DAY, opened, report


def counted(store: Store, task: Task) -> int:
    return sum(tally.n for tally in store.tallies(task.id).values())


@contextmanager
def failing_commit(store: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What is written meanwhile is undone at its end, as if the disk were full."""
    usual = store.engine.write

    @contextmanager
    def write(**given: Any) -> Iterator[Any]:
        with usual(**given) as session:
            yield session
            raise StoreUnavailableError("no room is left.")

    with monkeypatch.context() as patch:
        patch.setattr(store.engine, "write", write)
        yield


def test_what_a_failed_commit_counted_is_not_counted_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its tally was at hand already: the next one goes on from what is on the disk."""
    store: Any = open_store(f"sqlite:///{tmp_path / 'c.db'}")
    task = opened(store)
    lost = [report(value) for value in (5, 6)]
    store.add([Upload(task.id, DAY, [report(1), report(2)])])
    with failing_commit(store, monkeypatch), pytest.raises(StoreUnavailableError):
        store.add([Upload(task.id, DAY, lost)])
    assert counted(store, task) == 2
    (told,) = store.add([Upload(task.id, DAY, [report(3)])])
    assert [outcome.status for outcome in told] == ["accepted"]
    assert counted(store, task) == 3
    (told,) = store.add([Upload(task.id, DAY, lost)])
    assert [outcome.status for outcome in told] == ["accepted"] * 2, "they were not counted, so they are no duplicates"
    (tally,) = store.tallies(task.id).values()
    assert tally.cells["support"][0].tolist() == [0, 1, 1, 1, 0, 1, 1, 0]
    assert store.check() == []
    store.close()


def test_two_processes_count_into_one_tally(tmp_path: Path) -> None:
    """Each has its own memory of the tally; in turns, neither forgets what the other counted."""
    one, two = (open_store(f"sqlite:///{tmp_path / 'c.db'}") for _ in range(2))
    task = opened(one)
    for turn in range(6):
        (one, two)[turn % 2].add([Upload(task.id, DAY, [report(turn)])])
    for store in (one, two):
        (tally,) = store.tallies(task.id).values()
        assert tally.cells["support"][0].tolist() == [1, 1, 1, 1, 1, 1, 0, 0]
    same = report(7)
    assert [store.add([Upload(task.id, DAY, [same])])[0][0].status for store in (one, two)] == ["accepted", "duplicate"]
    one.close()
    two.close()


def test_what_another_process_did_to_a_task_is_seen_within_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    service, later = Service(), [0.0]
    usual = asyncio.BaseEventLoop.time
    monkeypatch.setattr(asyncio.BaseEventLoop, "time", lambda loop: usual(loop) + later[0])
    id = service.add(task_of(), "draft")
    assert service.get(f"/v1/tasks/{id}").status == 404
    service.store.set_state(id, "open")  # by a command, beside the service
    later[0] = 1.5
    assert service.get(f"/v1/tasks/{id}").status == 200
    assert service.fates(id, item(1)) == ["accepted"]
    service.store.set_state(id, "closed")
    later[0] = 3.0
    assert service.fates(id, item(2)) == ["not-open"]


@pytest.mark.parametrize("keep", [0, 1, 2, 10])
def test_bodies_are_erased_so_many_days_after_the_end_and_not_before_it(keep: int, tmp_path: Path) -> None:
    """Devices whose clocks are late still send on the day after the last one: what they send is kept till then, too."""
    store: Any = open_store(f"sqlite:///{tmp_path / 'c.db'}")
    task = opened(store, keep=str(keep), count=1)
    store.add([Upload(task.id, task.closes, [report(1)])])
    bodies = [store.purge(task.closes + timedelta(day))["bodies"] for day in range(12)]
    assert bodies == [int(day == max(1, keep)) for day in range(12)]
    store.close()


@pytest.mark.parametrize("early_last", [False, True])
def test_a_look_that_began_before_a_task_was_opened_is_not_believed_after_it(
    early_last: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever asks from then on is told the new state, whichever look ends first."""
    service = Service()
    id, usual = service.add(task_of(), "draft"), service.store.task
    began, go = threading.Event(), threading.Event()

    def slow(asked: str) -> Any:
        row = usual(asked)
        began.set()
        assert go.wait(60)
        return row

    async def run() -> list[str]:
        monkeypatch.setattr(service.store, "task", slow)
        early = asyncio.create_task(service.collector.task(id))
        await asyncio.to_thread(began.wait, 60)
        monkeypatch.setattr(service.store, "task", usual)
        service.store.set_state(id, "open")
        service.collector.forget(id)
        late = asyncio.create_task(service.collector.task(id))
        if early_last:
            await asyncio.wait([late], timeout=5)  # where it waits for the early one, that goes on then
        go.set()
        found = [await early, await late, await service.collector.task(id)]
        return [known.row.state for known in found if known is not None]

    assert asyncio.run(run())[1:] == ["open", "open"]
