"""What becomes of one window of a task: its moment, its report, and the answer that fills it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

from deniable_client.device import Device, plain
from deniable_client.errors import WindowError
from deniable_client.ledger.memory import Drawn
from deniable_client.questions import Question, amount_of
from deniable_client.task import Task
from deniable_client.words import SystemWords, below

if TYPE_CHECKING:
    import sqlite3

__all__ = ["NOTHING", "Slot", "Taken", "beginning", "seconds_up_to", "slot_of", "taken_of", "windows_left"]

_DAY = 86_400
_LEAD = 600
"""Seconds between taking up and the first moment at which something may be sent."""

NOTHING = object()
"""Given by nobody: what a window has before somebody answers."""


def beginning(day: date) -> float:
    """When a day begins, in seconds."""
    return datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()


def seconds_up_to(most: float) -> float:
    """A random time, in steps of a millisecond."""
    return below(int(most * 1000) + 1, SystemWords()) / 1000


def slot_of(task: Task, window: int) -> int:
    """The number that a window's report has; tasks of version 1 that are not fresh have one report in all."""
    return window if task.memory == "fresh" else 0


def windows_left(task: Task, window: int) -> range:
    """The windows that a task is taken up for in this one; `WindowError` for an old task whose silences would tell."""
    if task.memory == "remembered" and task.count > 1:
        raise WindowError(
            "this is an old task (version 1) that asks again and remembers answers: whether something is sent would "
            "tell when an answer changes; nothing was spent or sent.",
            "Ask its collector for a task of version 2.",
        )
    return range(window, task.count) if task.memory == "fresh" else range(1)


@dataclass(frozen=True, slots=True)
class Taken:
    """A task that was taken up: in which place, with which question, and what is sent openly."""

    place: int
    first: int
    last: int
    question: int
    level: int | None
    head: bytes
    url: str | None


def taken_of(db: sqlite3.Connection, task: str) -> Taken | None:
    """How a task was taken up; None if it was not, or was forgotten."""
    row = db.execute(
        "SELECT place, first, last, question, level, head, url FROM taken WHERE task = ? AND key IS NOT NULL", (task,)
    ).fetchone()
    return None if row is None else Taken(*row)


@dataclass(frozen=True, slots=True)
class Slot:
    """A window of a task that was taken up, inside a transaction."""

    db: sqlite3.Connection
    source: Drawn
    task: Task
    taken: Taken
    window: int
    """The number of the window in time; `slot` is that of its report."""
    now: float

    @property
    def slot(self) -> int:
        """The number of the window's report."""
        return slot_of(self.task, self.window)

    @property
    def question(self) -> Question:
        """The one that was dealt."""
        return self.task.questions[self.taken.question]

    @property
    def end(self) -> float:
        """When the window is over."""
        return beginning(self.task.opens + timedelta(self.task.days)) + self.window * self.task.days * _DAY

    def state(self) -> tuple[str, int] | None:
        """The state of the window's report and how often it was tried to be sent; None if nothing is there yet."""
        row = self.db.execute(
            "SELECT state, attempts FROM report WHERE task = ? AND window = ?", (self.task.id, self.slot)
        ).fetchone()
        return None if row is None else (row[0], row[1])

    def due(self) -> float:
        """When the window's report is to be sent."""
        own = (self.task.id, self.slot)
        moment: float = self.db.execute("SELECT due FROM report WHERE task = ? AND window = ?", own).fetchone()[0]
        return moment

    def was_opened(self) -> bool:
        """Whether it was, in this ledger or in what was forgotten of it."""
        own = (self.task.id, self.slot)
        return self.db.execute("SELECT 1 FROM opened WHERE task = ? AND window = ?", own).fetchone() is not None

    def plan(self, *, first: bool, delay: float) -> None:
        """Draw the moment at which the window is opened and its report is sent.

        In later windows its law is the same whenever it is drawn, also if it is over by then: an answer may be what
        makes the ledger look at a window for the first time, and must not move anything.
        """
        low, high = (self.now + _LEAD, self.now + _LEAD + delay) if first else (self._half(), self.end)
        high = min(high, self.end - 1)
        low = min(low, high) if low <= high else min(self.now, high)
        own = (self.source.report_id(self.task.id, self.slot), self.task.id, self.slot, self.question.key)
        today = datetime.fromtimestamp(self.now, UTC).date().isoformat()
        sending = (low + seconds_up_to(high - low), self.end, beginning(self.task.expires))
        self.db.execute(
            "INSERT INTO report (id, task, window, question, cost, day, url, state, reason, attempts, due, moved,"
            " later, until, void, tries, days) VALUES (?, ?, ?, ?, '0', ?, ?, 'planned', '', 0, ?, 0, 0, ?, ?, ?, ?)",
            (*own, today, self.taken.url, *sending, self.task.attempts, self.task.send_days),
        )

    def _half(self) -> float:
        """The middle of the window."""
        return self.end - self.task.days * _DAY / 2

    def open(self) -> None:
        """Spend what the window costs, and draw the report of no answer."""
        cost = str(amount_of(self.task.epsilon))
        today = datetime.fromtimestamp(self.now, UTC).date().isoformat()
        self.db.execute("INSERT INTO opened VALUES (?, ?)", (self.task.id, self.slot))
        self.db.execute("INSERT INTO spend VALUES (?, ?, ?, ?)", (self.taken.place, self.task.id, cost, today))
        self.db.execute(
            "UPDATE report SET state = 'waiting', cost = ?, day = ? WHERE task = ? AND window = ?",
            (cost, today, self.task.id, self.slot),
        )
        self.fill()

    def fill(self, value: object = NOTHING) -> bool:
        """Draw the report of a value in place of the one before; whether the value was an answer."""
        asked = self.question
        device = asked.device(asked.explanation.harmless or None)
        known = None if value is NOTHING else device.known(asked.value(plain(value)))
        answer = self._nothing(device) if known is None else known
        body = self.taken.head + self._draw(device, answer)
        given = (body.ljust(self.task.width, b"\0"), self.task.id, self.slot)
        self.db.execute("UPDATE report SET body = ? WHERE task = ? AND window = ?", given)
        return known is not None

    def _nothing(self, device: Device) -> Any:
        return self.question.nothing(device, self.source.nothing_words(self.task.id, self.slot))

    def _draw(self, device: Device, answer: Any) -> bytes:
        level = self.taken.level
        chosen = sorted(answer) if isinstance(answer, list) else answer
        words = self.source.report_words(self.question.key, chosen, level, self.task.id, self.slot)
        return device.randomise(chosen, words, level=None if level is None else device.levels[level])
