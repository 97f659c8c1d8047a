"""Whether the clock can be believed. What cannot be undone (to publish, to close, to erase) waits until it can.

Two things are looked at. While the process runs: whether the time of day went as fast as a clock that nobody sets; when
it starts: how many days are between today and the last day on which a collector of this database ran. An operator who
knows better says so (`deniable store clock`).
"""

from __future__ import annotations

import time as system
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta

from deniable.service.store.contract import Store

__all__ = ["Clock", "Watch", "confirm", "steady_seconds", "utc_now"]

Clock = Callable[[], datetime]
JUMP = timedelta(hours=1)
"""By how much the time of day may be set while the process runs."""
_DAY, _CONFIRMED = "last-day", "clock-confirmed"
"""Notes in the database: the last day on which a collector ran, and when an operator confirmed the clock."""


def utc_now() -> datetime:
    """The time of day."""
    return datetime.now(UTC)


def steady_seconds() -> float:
    """Seconds of a clock that nobody sets; where the system has one, it also goes while the machine sleeps."""
    boot = getattr(system, "CLOCK_BOOTTIME", None)
    return system.monotonic() if boot is None else system.clock_gettime(boot)


def confirm(store: Store, now: datetime) -> None:
    """An operator says that the clock is right."""
    store.put_note(_DAY, now.date().toordinal())
    store.put_note(_CONFIRMED, int(now.timestamp()))


class Watch:
    """Watches the clock of a collector; one thread at a time looks."""

    def __init__(self, store: Store, days: int, clock: Clock, steady: Callable[[], float]) -> None:
        """`days`: how long all collectors of the database may have been away."""
        self._store, self._days, self._clock, self._steady = store, days, clock, steady
        self._start: tuple[datetime, float] | None = None
        """The time of day that was believed first, and the steady clock then."""
        self._last: int | None = None
        self._confirmed: int | None = None
        self.why = ""
        """Why the clock is not believed; empty if it is."""

    def look(self) -> str:
        """Look at the clock, and note the day if it is believed; else the reason why it is not."""
        now, steady = self._clock(), self._steady()
        self._last, confirmed = self._store.note(_DAY), self._store.note(_CONFIRMED)
        if self._start is not None and confirmed != self._confirmed:
            self._start = now, steady
        self._confirmed = confirmed
        self.why = self._away(now) if self._start is None else self._jumped(now, steady)
        if not self.why:
            self._start = self._start or (now, steady)
            if self._last != now.date().toordinal():
                self._store.put_note(_DAY, now.date().toordinal())
        return self.why

    def believed(self) -> datetime:
        """The time of day; while the clock is not believed, the time that it was or should be by the steady clock."""
        if self._start is None:
            self.look()
        now, steady = self._clock(), self._steady()
        if self._start is None:
            return datetime.combine(date.fromordinal(self._last or 1), time(12), UTC)
        return self._expected(steady) if self._jumped(now, steady) else now

    def today(self) -> date:
        """The day on which a report arrives: that of the steady clock if the other one was set meanwhile."""
        now, steady = self._clock(), self._steady()
        return (self._expected(steady) if self._start is not None and self._jumped(now, steady) else now).date()

    def _expected(self, steady: float) -> datetime:
        assert self._start is not None
        return self._start[0] + timedelta(seconds=steady - self._start[1])

    def _jumped(self, now: datetime, steady: float) -> str:
        off = now - self._expected(steady)
        if abs(off) <= JUMP:
            return ""
        way = "ahead" if off > timedelta(0) else "back"
        return f"the clock was set {way} by {abs(off).total_seconds() / 3600:.1f} hours while the collector ran"

    def _away(self, now: datetime) -> str:
        """A clock behind the last day is as wrong as one that is far beyond it; a day is for collectors that differ."""
        if self._last is None or -1 <= now.date().toordinal() - self._last <= self._days:
            return ""
        last = date.fromordinal(self._last)
        return f"the clock says {now.date()}, and the last day on which a collector ran was {last}"
