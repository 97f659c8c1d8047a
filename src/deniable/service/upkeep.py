"""Upkeep: windows that ended are published, and what need not be kept is erased; one bad task does not stop the others.

Nothing of this can be undone, so it waits while the clock is not believed.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from deniable.service.access.sessions import erase
from deniable.service.alerts.notices import Notice, notices
from deniable.service.alerts.webhook import Webhook
from deniable.service.ingest import intake_of
from deniable.service.limits.clocks import Watch
from deniable.service.logs import log
from deniable.service.release import publish, windows
from deniable.service.store.contract import Store

__all__ = ["Upkeep"]

_ALL = "all"
"""Stands for a round that failed as a whole."""


class Upkeep:
    """Rounds of upkeep, and what went wrong in the last one."""

    def __init__(self, store: Store, watch: Watch, webhook: Webhook | None = None) -> None:
        self._store, self._watch = store, watch
        self._webhook = webhook
        self.faults: dict[str, str] = {}
        """Kinds of errors by task, of the last round; those of no task are under `all`."""

    @property
    def notes(self) -> list[str]:
        """What an operator should know, without naming tasks."""
        found = [f"nothing is published or erased: {self._watch.why}"] if self._watch.why else []
        tasks = len(self.faults) - (_ALL in self.faults)
        if tasks:
            found.append(f"upkeep failed for {tasks} task{'s' * (tasks != 1)}; the log says which")
        if _ALL in self.faults:
            found.append("the last round of upkeep failed; the log says how")
        return found

    def round(self) -> None:
        """Publish and erase; what fails is noted and left to the next round."""
        faults: dict[str, str] = {}

        def failed(task: str, error: Exception) -> None:
            faults[task] = type(error).__name__
            log("upkeep", error=error, task=task)

        try:
            self._round(failed)
        except Exception as error:
            failed(_ALL, error)
        self.faults = faults

    def _round(self, failed: Callable[[str, Exception], None]) -> None:
        before = self._watch.why
        if self._watch.look():
            if self._watch.why != before:
                log("clock", why=self._watch.why, hint="Set the clock right, or run deniable store clock.")
            return
        now = self._watch.believed()
        erase(self._store, now)
        for row in self._store.tasks():
            if row.state == "draft":
                continue
            try:
                publish(self._store, row, intake_of(row.document), now)
            except Exception as error:
                failed(row.id, error)
        erased = {what: n for what, n in self._store.purge(now.date(), failed).items() if n}
        if erased:
            log("erased", what=erased)
        if self._webhook:
            self._webhook.tell(self._noted(now, failed))

    def _noted(self, now: datetime, failed: Callable[[str, Exception], None]) -> list[Notice]:
        """All that can be told of all tasks."""
        found: list[Notice] = []
        for row in self._store.tasks():
            if row.state == "draft":
                continue
            try:
                intake = intake_of(row.document)
                told = windows(self._store, row, intake, now)
                found += notices(intake.task, told, self._store.rejections(row.id), now)
            except Exception as fault:
                failed(row.id, fault)
        return found
