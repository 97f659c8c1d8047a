"""Group commit: everybody gets their own answer, once it is durable; what waits is bounded; a stop loses nothing."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from deniable.service.store import open_store
from deniable.service.store.contract import Outcome, StoreUnavailableError, Upload
from deniable.service.writer import OverloadedError, Writer
from service.making import DAY, opened, report

YES = Outcome("accepted")


LONG = 60.0
"""Seconds that only a test waits for in which something hangs."""


class Slow:
    """A store whose commits wait for a signal; uploads with the task "poison" break it."""

    def __init__(self) -> None:
        self.begun, self.go, self.calls = threading.Event(), threading.Event(), []
        self.error: Exception | None = None

    calls: list[int]

    def add(self, uploads: Sequence[Upload]) -> list[list[Outcome]]:
        self.begun.set()
        assert self.go.wait(LONG)
        self.calls.append(len(uploads))
        if self.error:
            raise self.error
        if any(upload.task == "poison" for upload in uploads):
            raise RuntimeError("a mistake")
        return [[Outcome("accepted", str(report.body[0])) for report in upload.reports] for upload in uploads]


def upload(*values: int, task: str = "t") -> Upload:
    return Upload(task, DAY, [report(value) for value in values])


async def started(coroutine: Any) -> asyncio.Task[Any]:
    task = asyncio.create_task(coroutine)
    await asyncio.sleep(0)
    return task


async def writing(store: Slow, coroutine: Any) -> asyncio.Task[Any]:
    """An upload that is being written now: nothing that comes later goes in with it."""
    task = await started(coroutine)
    assert store.begun.wait(LONG)
    return task


def made(store: Slow, **limits: Any) -> Writer:
    """A writer on as much of a store as it needs, that is in no hurry unless told so: machines may stand still."""
    return Writer(store, **{"patience": LONG, **limits})  # type: ignore[arg-type]


def test_uploads_that_wait_go_in_together_and_answers_find_their_way() -> None:
    async def run() -> None:
        store = Slow()
        writer = made(store)
        first = await writing(store, writer.add(upload(0)))
        rest = [await started(writer.add(upload(i, i + 1))) for i in range(1, 50)]
        assert writer.waiting == 1 + 98
        store.go.set()
        assert await first == [Outcome("accepted", "0")]
        for i, found in enumerate(await asyncio.gather(*rest), start=1):
            assert [outcome.reason for outcome in found] == [str(i), str(i + 1)]
        assert store.calls == [1, 49]
        assert writer.waiting == 0
        await writer.close()

    asyncio.run(run())


def test_transactions_and_what_waits_are_bounded() -> None:
    async def run() -> None:
        store = Slow()
        writer = made(store, reports=10, waiting=30)
        first = await writing(store, writer.add(upload(*range(40))))  # larger than a transaction: never split
        with pytest.raises(OverloadedError, match="40 reports are waiting"):
            await writer.add(upload(1))
        assert writer.full
        store.go.set()
        assert len(await first) == 40, "what is larger than all that may wait is taken where nothing waits"
        assert not writer.full
        rest = [await started(writer.add(upload(1, 2, 3))) for _ in range(10)]
        await asyncio.gather(*rest)
        assert max(store.calls[1:]) <= 3
        await writer.close()

    asyncio.run(run())


def test_nothing_new_is_taken_while_others_wait_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that is set by hand."""
    now = [1000.0]
    monkeypatch.setattr("deniable.service.writer.time", SimpleNamespace(monotonic=lambda: now[0]))

    async def run() -> None:
        store = Slow()
        writer = made(store, patience=0.3)
        first = await writing(store, writer.add(upload(0)))
        now[0] += 5  # what is being written has been waited for long, and nobody waits for its turn
        assert not writer.full
        second = await started(writer.add(upload(1)))
        now[0] += 0.2
        third = await started(writer.add(upload(2)))
        assert not writer.full
        now[0] += 0.2
        assert writer.full
        with pytest.raises(OverloadedError, match="3 reports are waiting"):
            await writer.add(upload(3))
        store.go.set()
        assert len(await asyncio.gather(first, second, third)) == 3
        assert len(await writer.add(upload(4))) == 1
        await writer.close()

    asyncio.run(run())


def test_a_database_that_is_away_is_told_to_all_and_may_come_back() -> None:
    async def run() -> None:
        store = Slow()
        store.error = StoreUnavailableError("full")
        writer = made(store)
        both = [await started(writer.add(upload(i))) for i in range(2)]
        store.go.set()
        for found in await asyncio.gather(*both, return_exceptions=True):
            assert isinstance(found, StoreUnavailableError)
        store.error = None
        assert len(await writer.add(upload(1))) == 1
        await writer.close()

    asyncio.run(run())


def test_an_upload_that_breaks_something_breaks_no_other() -> None:
    async def run() -> None:
        store = Slow()
        writer = made(store)
        first = await writing(store, writer.add(upload(0)))
        rest = [await started(writer.add(upload(i, task="poison" if i == 2 else "t"))) for i in range(4)]
        store.go.set()
        await first
        found = await asyncio.gather(*rest, return_exceptions=True)
        assert [type(each) for each in found] == [list, list, RuntimeError, list]
        await writer.close()

    asyncio.run(run())


def test_a_stop_writes_what_waits_and_takes_nothing_new() -> None:
    async def run() -> None:
        store = Slow()
        writer = made(store)
        waiting = [await started(writer.add(upload(i))) for i in range(20)]
        gone = await started(writer.add(upload(99)))
        gone.cancel()  # who does not wait for the answer is written all the same
        closing = await started(writer.close())
        with pytest.raises(StoreUnavailableError, match="stopping"):
            await writer.add(upload(1))
        store.go.set()
        await closing
        assert [len(found) for found in await asyncio.gather(*waiting)] == [1] * 20
        assert sum(store.calls) == 21

    asyncio.run(run())


def test_with_a_real_store(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path}/x.db")
    task = opened(store)

    async def run() -> list[list[Outcome]]:
        writer = Writer(store, patience=LONG)
        sent = [Upload(task.id, DAY, [report(i % 8), report(9)]) for i in range(200)]
        found = await asyncio.gather(*(writer.add(each) for each in sent))
        await writer.close()
        return found

    assert asyncio.run(run()) == [[YES, Outcome("rejected", "impossible")]] * 200
    (tally,) = store.tallies(task.id).values()
    assert tally.cells["support"].tolist() == [[25] * 8]
    store.close()
