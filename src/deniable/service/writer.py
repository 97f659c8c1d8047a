"""Group commit: uploads that wait while the database works go in together, in the next transaction.

One thread does the database's work. Nothing is delayed on purpose: with one upload at a time each has a commit of its
own, under load a commit has as many as came meanwhile. What waits is bounded, in number and in time; who comes then is
told to come later, which is said at once and costs little.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from deniable.errors import DeniableError
from deniable.service.store.contract import Outcome, Store, StoreUnavailableError, Upload

__all__ = ["OverloadedError", "Writer"]

Found = list[Outcome] | BaseException


class OverloadedError(DeniableError):
    """More reports are waiting than the collector wants to hold; none of these were taken, try later."""


class _Waiting(NamedTuple):
    upload: Upload
    loop: asyncio.AbstractEventLoop
    answer: asyncio.Future[list[Outcome]]
    since: float


class Writer:
    """Takes uploads from coroutines and gives each its outcomes once they are durable.

    `reports` is the most that one transaction takes (an upload is never split), `waiting` the most that wait for one.
    Nothing new is taken either while the oldest that waits does so for more than `patience` seconds: the answer would
    come too late.
    """

    def __init__(self, store: Store, *, reports: int = 4096, waiting: int = 20_000, patience: float = 0.3) -> None:
        self._store, self._most, self._bound, self._patience = store, reports, waiting, patience
        self._queue: deque[_Waiting] = deque()
        self._size, self._stopping = 0, False
        self._wake = threading.Condition()
        self._thread = threading.Thread(target=self._work, name="deniable-writer", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        """How many reports wait or are being written."""
        return self._size

    @property
    def full(self) -> bool:
        """Whether nothing is taken now: too many reports wait, or the oldest does so for too long."""
        with self._wake:
            return self._late() or self._size >= self._bound

    def _late(self) -> bool:
        return bool(self._queue) and time.monotonic() - self._queue[0].since > self._patience

    async def add(self, upload: Upload) -> list[Outcome]:
        """Hand in an upload and wait until it is durable; `OverloadedError`, or what the store raises."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[list[Outcome]] = loop.create_future()
        with self._wake:
            if self._stopping:
                raise StoreUnavailableError("the collector is stopping.", "Try again.")
            if self._late() or (self._size and self._size + len(upload.reports) > self._bound):
                raise OverloadedError(f"{self._size} reports are waiting to be written.", "Try again later.")
            self._queue.append(_Waiting(upload, loop, answer, time.monotonic()))
            self._size += len(upload.reports)
            self._wake.notify()
        return await answer

    async def close(self) -> None:
        """Take nothing new, write what waits, and stop."""
        with self._wake:
            self._stopping = True
            self._wake.notify()
        await asyncio.get_running_loop().run_in_executor(None, self._thread.join)

    def _work(self) -> None:
        """The thread: until it is stopped and nothing waits."""
        while lot := self._take():
            found = self._write([each.upload for each in lot])
            with self._wake:
                self._size -= sum(len(each.upload.reports) for each in lot)
            _deliver(lot, found)

    def _take(self) -> list[_Waiting]:
        """What goes into the next transaction; nothing at the end."""
        lot: list[_Waiting] = []
        size = 0
        with self._wake:
            while not self._queue and not self._stopping:
                self._wake.wait()
            while self._queue and (not lot or size + len(self._queue[0].upload.reports) <= self._most):
                lot.append(self._queue.popleft())
                size += len(lot[-1].upload.reports)
        return lot

    def _write(self, uploads: Sequence[Upload]) -> list[Found]:
        """The outcomes of each upload. An upload that cannot be handled does not take the others with it."""
        try:
            return list(self._store.add(uploads))
        except StoreUnavailableError as error:
            return [error] * len(uploads)
        except Exception as error:
            return [error] if len(uploads) == 1 else [found for one in uploads for found in self._write([one])]


def _deliver(lot: Sequence[_Waiting], found: Sequence[Found]) -> None:
    """Wake up those who wait, with one call for each event loop."""
    loops: dict[asyncio.AbstractEventLoop, list[tuple[asyncio.Future[list[Outcome]], Found]]] = {}
    for each, what in zip(lot, found, strict=True):
        loops.setdefault(each.loop, []).append((each.answer, what))
    for loop, answers in loops.items():
        if not loop.is_closed():
            loop.call_soon_threadsafe(_answer, answers)


def _answer(answers: Sequence[tuple[asyncio.Future[list[Outcome]], Found]]) -> None:
    for future, what in answers:
        if future.done():  # whoever waited has gone
            continue
        if isinstance(what, BaseException):
            future.set_exception(what)
        else:
            future.set_result(what)
