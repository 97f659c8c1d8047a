"""The clock of erasing: a while after a commit, what it left beside the tables is wiped out, also under traffic."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from deniable.errors import DeniableError
from deniable.service.logs import log

__all__ = ["Settler"]

_AGAIN_SECONDS = 5.0


class Settler:
    """Calls `settle` so many seconds after the first report that is not settled, or as soon as `most` of them wait.

    `settle` is told whether the time is over; if it is not, it need not clean the log of the database. A thread of its
    own does it, which is started with the first report. What cannot be done now is said in the log and tried again.
    """

    def __init__(self, settle: Callable[[bool], None], *, seconds: float, most: int) -> None:
        self._settle, self._seconds, self._most = settle, seconds, most
        self._wake = threading.Condition()
        self._due: float | None = None
        self._waiting, self._stopped = 0, False
        self._thread: threading.Thread | None = None

    def touch(self, reports: int) -> None:
        """Reports were kept just now."""
        self._ask(self._seconds, reports)

    def soon(self) -> None:
        """Settle at once, whatever was before: at a start, nobody knows what a crash has left."""
        self._ask(0.0, 0)

    def _ask(self, seconds: float, reports: int) -> None:
        with self._wake:
            due = time.monotonic() + seconds
            self._due = due if self._due is None else min(due, self._due)
            self._waiting += reports
            if self._thread is None and not self._stopped:
                self._thread = threading.Thread(target=self._work, name="deniable-settler", daemon=True)
                self._thread.start()
            self._wake.notify()

    def stop(self) -> bool:
        """Stop the thread; whether something is left to be settled."""
        with self._wake:
            self._stopped = True
            self._wake.notify()
        if self._thread is not None:
            self._thread.join()
        return self._due is not None

    def _work(self) -> None:
        """The thread: until it is stopped."""
        while (over := self._next()) is not None:
            try:
                self._settle(over)
            except Exception as error:  # whatever it is: nothing stops the clock, and everything is said
                known = isinstance(error, DeniableError)
                log("erasing is late: trying again", error=None if known else error, why=str(error) if known else "")
                self._ask(_AGAIN_SECONDS, 0)

    def _next(self) -> bool | None:
        """Wait for the next time; whether it is over, or there are too many reports. None at the end."""
        with self._wake:
            while not self._stopped:
                now = time.monotonic()
                over = self._due is not None and self._due <= now
                if over or self._waiting >= self._most:
                    self._waiting = 0
                    if over:
                        self._due = None
                    return over
                self._wake.wait(None if self._due is None else self._due - now)
        return None
