"""One answer inside its transaction: found, or paid for, drawn, remembered and queued."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

from deniable_client.canonical import canonical
from deniable_client.device import Device
from deniable_client.errors import WindowError
from deniable_client.ledger.budgets import Limits, number_of, spend
from deniable_client.ledger.memory import Drawn
from deniable_client.task import Question, Task, amount_of

if TYPE_CHECKING:
    import sqlite3

__all__ = ["Known", "Receipt", "Step", "beginning", "erase"]


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of an answer: it is spent, remembered and queued."""

    id: str
    """The report's id: 32 hexadecimal digits."""
    question: str
    window: int
    cost: float
    """What it cost now; 0 if a report that was drawn before is sent again."""
    body: bytes
    """What is sent."""
    new: bool
    """Whether it was queued now; False if this window was answered so before."""


@dataclass(frozen=True, slots=True)
class Known:
    """What a person says: the number of the answer (or pairs of numbers), of the level, and what is sent openly."""

    answer: Any
    """None if it is not looked at."""
    level: int | None
    head: bytes


@dataclass(frozen=True, slots=True)
class Step:
    """An answer to a question of a task in a window."""

    db: sqlite3.Connection
    source: Drawn
    task: Task
    question: Question
    window: int
    today: date

    def first_report(self) -> bytes | None:
        """The report that is sent whatever the answer is: the first, for tasks that keep it."""
        if self.task.memory != "first":
            return None
        memos = self.db.execute("SELECT report FROM memo WHERE question = ? ORDER BY number", (self.question.key,))
        row = memos.fetchone()
        return None if row is None else row[0]

    def answered(self, known: Known) -> Receipt | None:
        """The report of this window, if there is one; `WindowError` if it was made of another answer."""
        place = (self.task.id, self.window)
        row = self.db.execute("SELECT id, body, answer FROM report WHERE task = ? AND window = ?", place).fetchone()
        if row is None and self.db.execute("SELECT 1 FROM answered WHERE task = ? AND window = ?", place).fetchone():
            raise WindowError(
                "this task was answered in this window already, and then forgotten; nothing was spent or sent.",
                "One answer is taken in each window.",
            )
        if row is None:
            return None
        other = known.answer is not None and row[2] != self._digest(known)
        if other or row[1][: len(known.head)] != known.head:
            raise WindowError(
                "this task was answered otherwise in this window already; nothing was spent or sent.",
                "The first answer of a window stays.",
            )
        return Receipt(row[0], self.question.name, self.window, 0, row[1], False)

    def report(self, device: Device, known: Known, limits: Limits) -> tuple[bytes, int]:
        """A report and what it costs: the one that is remembered, or one that is paid for, drawn and remembered now."""
        fresh = self.task.memory == "fresh"
        memo = (self.question.key, self._digest(known))
        if not fresh:
            row = self.db.execute("SELECT report FROM memo WHERE question = ? AND answer = ?", memo).fetchone()
            if row is not None:
                return row[0], 0
        spend(self.db, self.task, self._subject(), limits, self.today.isoformat())
        words = self.source.report_words(
            self.question.key, known.answer, known.level, (self.task.id, self.window) if fresh else None
        )
        drawn = device.randomise(known.answer, words, level=None if known.level is None else device.levels[known.level])
        if not fresh:
            self.db.execute("INSERT INTO memo (question, answer, report) VALUES (?, ?, ?)", (*memo, drawn))
        return drawn, amount_of(self.task.epsilon)

    def queue(self, known: Known, report: bytes, cost: int, url: str | None, due: float) -> Receipt:
        """Write down what the task promised, that it was answered, and the report as one that is to be sent."""
        task, body = self.task, (known.head + report).ljust(self.task.width, b"\0")
        name = self.source.report_id(task.id, self.window)
        most = (str(amount_of(task.budget[of])) for of in ("subject", "lifetime"))
        self.db.execute("INSERT OR IGNORE INTO promise VALUES (?, ?, ?, ?)", (task.id, self._subject(), *most))
        self.db.execute("INSERT OR IGNORE INTO task VALUES (?, ?)", (task.id, canonical(task.document)))
        self.db.execute("INSERT INTO answered VALUES (?, ?)", (task.id, self.window))
        own = (name, task.id, self.window, self.question.key, self._digest(known), body, str(cost))
        rest = (self.today.isoformat(), url, "waiting", "", 0, due, 0, beginning(task.expires))
        self.db.execute("INSERT INTO report VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", (*own, *rest))
        return Receipt(name, self.question.name, self.window, number_of(cost), body, True)

    def _digest(self, known: Known) -> bytes:
        """What an answer is recognised by: nobody can tell it from this without the key."""
        content = {"question": self.question.key, "answer": known.answer, "level": known.level}
        return self.source.digest("answer", content)

    def _subject(self) -> bytes:
        return self.source.digest("subject", {"subject": self.task.subject})


def beginning(day: date) -> float:
    """When a day begins, in seconds."""
    return datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()


def erase(db: sqlite3.Connection, *, task: str | None, question: str | None) -> int:
    """Delete what was asked, remembered and sent about a task or a question, or everything; how much that was."""
    if task is None and question is None:
        places: list[tuple[str, tuple[str, ...]]] = [(f"DELETE FROM {name}", ()) for name in ("report", "memo", "task")]
    elif task is not None:
        own = "SELECT question FROM report WHERE task = ?"
        places = [
            (f"DELETE FROM memo WHERE question IN ({own})", (task,)),
            ("DELETE FROM report WHERE task = ?", (task,)),
            ("DELETE FROM task WHERE id = ?", (task,)),
        ]
    else:
        named = (str(question),)
        places = [
            ("DELETE FROM memo WHERE question = ?", named),
            ("DELETE FROM report WHERE question = ?", named),
            ("DELETE FROM task WHERE id NOT IN (SELECT task FROM report)", ()),
        ]
    return sum(db.execute(statement, given).rowcount for statement, given in places)
