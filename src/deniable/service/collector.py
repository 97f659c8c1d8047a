"""The collector behind its routes: tasks at hand, uploads within limits, upkeep; without HTTP's spelling."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from deniable.errors import DeniableError
from deniable.service.http.bodies import Held
from deniable.service.http.problems import Problem
from deniable.service.ingest import Intake
from deniable.service.logs import log
from deniable.service.metrics import Metrics
from deniable.service.release import publish
from deniable.service.sessions import Failures, erase
from deniable.service.settings import Settings
from deniable.service.store.contract import Outcome, Store, TaskRow, Upload
from deniable.service.writer import OverloadedError

__all__ = ["Collector", "Known"]

Clock = Callable[[], datetime]
Submit = Callable[[Upload], Awaitable[Sequence[Outcome]]]
"""Gives an upload to the database; done when it is durable. `Problem` or `StoreUnavailableError` if it cannot be."""

_FRESH = 1.0
"""Seconds for which the state of a task is believed; the database itself checks it again for every report."""
_TASKS = 256
"""Tasks whose proofs are kept at hand."""


def utc_now() -> datetime:
    """The time of day."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Known:
    """A task that was read and proved."""

    row: TaskRow
    intake: Intake
    until: float
    """When its state must be asked for again, on the loop's clock."""


class Collector:
    """What the routes share."""

    def __init__(
        self,
        store: Store,
        submit: Submit,
        settings: Settings,
        *,
        clock: Clock = utc_now,
        waiting: Callable[[], int] = lambda: 0,
        full: Callable[[], bool] = lambda: False,
    ) -> None:
        """`waiting`: reports that wait for the database; `full`: whether it is no use to hand in more of them."""
        self.store, self.settings, self.clock = store, settings, clock
        self._submit, self._full = submit, full
        self.held = Held(settings.max_memory)
        self.stopping = False
        self.failures = Failures()
        self._tasks: OrderedDict[str, Known] = OrderedDict()
        self._tokens, self._refilled = float(settings.rate), 0.0
        self.metrics = Metrics(
            {
                "deniable_waiting_reports": ("Reports that wait for the database.", lambda: float(waiting())),
                "deniable_held_bytes": ("Bytes of requests that are being read.", lambda: float(self.held.now)),
            }
        )

    async def task(self, id: str) -> Known | None:
        """A task, proved once; its state is at most a second old."""
        now, known = asyncio.get_running_loop().time(), self._tasks.get(id)
        if known is not None and now < known.until:
            return known
        row = await asyncio.to_thread(self.store.task, id)
        if row is None:
            return None
        intake = known.intake if known is not None else await asyncio.to_thread(_prove, row)
        self._tasks[id] = found = Known(row, intake, now + _FRESH)
        self._tasks.move_to_end(id)
        if len(self._tasks) > _TASKS:
            self._tasks.popitem(last=False)
        return found

    def forget(self, id: str) -> None:
        """Ask for the state of a task again."""
        self._tasks.pop(id, None)

    def admit(self) -> None:
        """Turn a request away before anything of it is read, if its reports would not be taken anyway."""
        if self.stopping:
            raise Problem("busy", "The collector is stopping. Try again later.", headers={"connection": "close"})
        if self._full():
            raise OverloadedError("more reports are waiting than can be held.", "Try again later.")

    async def upload(self, upload: Upload) -> Sequence[Outcome]:
        """Count reports; done when they are durable."""
        self._pay(len(upload.reports))
        return await self._submit(upload) if upload.reports else []

    def _pay(self, reports: int) -> None:
        """A bucket of tokens that is refilled `rate` times a second and holds as many, or enough for one request."""
        rate = self.settings.rate
        if not rate:
            return
        now = asyncio.get_running_loop().time()
        self._tokens = min(float(rate), self._tokens + (now - self._refilled) * rate)
        self._refilled = now
        if self._tokens < min(reports, rate):
            raise Problem("rate", f"At most {rate:,} reports a second are taken. Try again later.")
        self._tokens -= reports

    async def upkeep(self) -> None:
        """Every now and then: publish windows that ended, erase what need not be kept."""
        while True:
            with suppress(DeniableError):  # the database cannot be used now: the next round will do it
                await asyncio.to_thread(self.tidy)
            await asyncio.sleep(self.settings.upkeep_seconds)

    def tidy(self) -> None:
        """One round of upkeep."""
        now = self.clock()
        erase(self.store, now)
        for row in self.store.tasks():
            if row.state != "draft":
                publish(self.store, row, Intake(row.document), now)
        erased = {what: n for what, n in self.store.purge(now.date()).items() if n}
        if erased:
            log("erased", what=erased)


def _prove(row: TaskRow) -> Intake:
    intake = Intake(row.document)
    _ = intake.mechanisms
    return intake
