"""The collector behind its routes: tasks at hand, uploads within limits, upkeep; without HTTP's spelling."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date, datetime

from deniable.errors import DeniableError
from deniable.service.access.sessions import Failures
from deniable.service.alerts.webhook import Webhook
from deniable.service.ingest import LARGE, Intake, intake_of
from deniable.service.limits.clocks import Clock, Watch, steady_seconds, utc_now
from deniable.service.limits.flights import Flights
from deniable.service.limits.held import Held
from deniable.service.metrics import Metrics
from deniable.service.settings import Settings
from deniable.service.store.contract import Outcome, Store, TaskRow, Upload
from deniable.service.upkeep import Upkeep
from deniable.service.writer import OverloadedError

__all__ = ["Collector", "Known", "RateError", "StoppingError"]

Submit = Callable[[Upload], Awaitable[Sequence[Outcome]]]
"""Gives an upload to the database; done when it is durable, else `OverloadedError` or `StoreUnavailableError`."""

_FRESH = 1.0
"""Seconds for which the state of a task is believed; the database itself checks it again for every report."""
_LARGE_TASKS = ThreadPoolExecutor(1, thread_name_prefix="proofs")
"""Large tasks wait here for their proofs: the threads that look into the database are for everybody."""
_TASKS = 256
"""Tasks whose proofs are kept at hand."""


class RateError(DeniableError):
    """More reports come in a second than the settings allow; none of these were taken, try later."""


class StoppingError(OverloadedError):
    """The collector is about to stop; nothing of this request was taken, try later."""


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
        steady: Callable[[], float] = steady_seconds,
        waiting: Callable[[], int] = lambda: 0,
        full: Callable[[], bool] = lambda: False,
    ) -> None:
        """`waiting`: reports that wait for the database; `full`: whether it is no use to hand in more of them.

        `steady`: seconds of a clock that nobody sets.
        """
        self.store, self.settings, self.clock = store, settings, clock
        self._submit, self._full = submit, full
        self.held = Held(settings.max_memory)
        self.stopping = False
        self.failures = Failures()
        self._watch = Watch(store, settings.clock_days, clock, steady)
        hook = Webhook(store, settings.webhooks, private=bool(settings.webhook_private))
        self._upkeep = Upkeep(store, self._watch, hook)
        self._probes: Flights[str, None] = Flights(0)
        self._probed = 0.0
        self._tasks: OrderedDict[str, Known] = OrderedDict()
        self._looks: Flights[str, Known | None] = Flights(0)
        self._forgotten = 0
        """How often a state was to be asked for again: a look that began before is not believed after it."""
        self._tokens, self._refilled = float(settings.rate), 0.0
        self.metrics = Metrics(
            {
                "deniable_waiting_reports": ("Reports that wait for the database.", lambda: float(waiting())),
                "deniable_held_bytes": ("Bytes of bodies and answers in memory.", lambda: float(self.held.now)),
                "deniable_upkeep_faults": (
                    "Tasks for which the last round of upkeep failed.",
                    lambda: float(len(self._upkeep.faults)),
                ),
                "deniable_clock_doubtful": (
                    "1 while the clock is not believed: nothing is published or erased.",
                    lambda: float(bool(self._watch.why)),
                ),
            }
        )

    async def task(self, id: str) -> Known | None:
        """A task, proved once; its state is at most a second old. One look at the database is for all who wait."""
        now, known = asyncio.get_running_loop().time(), self._tasks.get(id)
        if known is not None and now < known.until:
            return known
        return await self._looks.get(id, lambda: self._look(id))

    async def _look(self, id: str) -> Known | None:
        before, row = self._forgotten, await asyncio.to_thread(self.store.task, id)
        if row is None:
            return None
        pool = _LARGE_TASKS if len(row.document) > LARGE else None
        intake = await asyncio.get_running_loop().run_in_executor(pool, _prove, row)
        found = Known(row, intake, asyncio.get_running_loop().time() + _FRESH)
        if before != self._forgotten:
            return found
        self._tasks[id] = found
        self._tasks.move_to_end(id)
        if len(self._tasks) > _TASKS:
            self._tasks.popitem(last=False)
        return found

    def forget(self, id: str) -> None:
        """Ask for the state of a task again."""
        self._forgotten += 1
        self._tasks.pop(id, None)
        self._looks.drop(id)

    def admit(self) -> None:
        """Turn a request away before anything of it is read, if its reports would not be taken anyway."""
        if self.stopping:
            raise StoppingError("the collector is stopping.", "Try again later.")
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
            raise RateError(f"at most {rate:,} reports a second are taken.", "Try again later.")
        self._tokens -= reports

    def today(self) -> date:
        """The day on which a report that comes now arrives."""
        return self._watch.today()

    def believed(self) -> datetime:
        """The time by which windows are over: the clock's, unless that cannot be believed."""
        return self._watch.believed()

    @property
    def notes(self) -> list[str]:
        """What an operator should know though reports are taken; nothing if all is well."""
        return self._upkeep.notes

    async def probe(self) -> None:
        """See that reports can be taken: something can be written. One look a second is for all who ask."""
        now = asyncio.get_running_loop().time()
        if now >= self._probed:
            await self._probes.get("", lambda: asyncio.to_thread(self.store.writable))
            self._probed = now + _FRESH

    async def upkeep(self) -> None:
        """Every now and then: publish windows that ended, erase what need not be kept."""
        while True:
            await asyncio.to_thread(self.tidy)
            await asyncio.sleep(self.settings.upkeep_seconds)

    def tidy(self) -> None:
        """One round of upkeep."""
        self._upkeep.round()


def _prove(row: TaskRow) -> Intake:
    intake = intake_of(row.document)
    _ = intake.mechanisms
    return intake
