"""The ledger: answers tasks within their budgets, remembers what was drawn, queues what is to be sent."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

from deniable_client.canonical import canonical
from deniable_client.device import Device
from deniable_client.errors import LedgerError, ParameterError, PrivacyError, WindowError, require, show
from deniable_client.ledger.budgets import Limits, export, number_of, overview, spend
from deniable_client.ledger.memory import Derived, Drawn, checked_secret, random_bytes
from deniable_client.ledger.outbox import Outbox, Sent, checked_url, seconds_up_to
from deniable_client.ledger.store import Store
from deniable_client.questions import Question, amount_of
from deniable_client.task import Task

if TYPE_CHECKING:
    import sqlite3

__all__ = ["Ledger", "Receipt"]


# ---- one answer inside its transaction: found, or paid for, drawn, remembered and queued


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


Clock = Callable[[], float]


class Ledger:
    """What a device spent, remembers and has to send, in a file of its own.

    An answer is checked, paid for, remembered and queued in one transaction, before anything leaves the device; `flush`
    sends what is due. A refusal sends nothing and spends nothing. See docs/protocol.md, sections 2 to 6.

    `subject` and `lifetime` are the device's own limits, which hold whatever a task says. With a `secret` (at least 32
    random bytes that outlive the file) reports are derived from it, so that a lost ledger does not draw them anew;
    without one they are drawn by the operating system and kept. `delay` is the longest random time in seconds that a
    report waits before `flush(due=True)` sends it.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        secret: bytes | None = None,
        subject: float = 8,
        lifetime: float = 16,
        delay: float = 3600,
        clock: Clock = time.time,
        patience: float = 10,
    ) -> None:
        self._secret = None if secret is None else checked_secret(secret)
        self._limits = Limits(subject, lifetime)
        number = isinstance(delay, int | float) and not isinstance(delay, bool)
        require(number and 0 <= delay <= 604_800, "delay", delay, "a number of seconds from 0 to 604800 (a week)")
        self._delay = delay
        self._clock = clock
        self._store = Store(path, patience)
        self._outbox = Outbox(self._store, clock)
        with self._store.write() as db:
            self._source(db)

    # ---- answering

    def question(self, task: Task, *, dealt: str | None = None) -> Question:
        """The question of a task that this device answers, which is dealt once and for all.

        `dealt` names the one that the collector dealt to it; the device draws one itself if it is left out.
        """
        if dealt is not None:
            task.question(dealt)
        if len(task.questions) == 1:
            return task.questions[0]
        with self._store.write() as db:
            source = self._source(db)
            row = db.execute("SELECT question FROM deal WHERE task = ?", (task.id,)).fetchone()
            if row is None:
                found = task.question(dealt) if dealt is not None else task.deal(source.deal_words(task.id))
                db.execute("INSERT INTO deal VALUES (?, ?)", (task.id, task.questions.index(found)))
            else:
                found = task.questions[row[0]]
        _same_question(found, dealt)
        return found

    def answer(
        self,
        task: Task,
        value: object,
        *,
        level: float | None = None,
        harmless: Iterable[object] | None = None,
        strata: Mapping[str, str] | None = None,
        dealt: str | None = None,
        question: str | None = None,
        url: str | None = None,
    ) -> Receipt:
        """Answer a task in today's window: spent, remembered and queued when this returns, or refused with an error.

        `value`, `level` and `harmless` are those of `Device`, for the question that was dealt to this device (see
        `question`; naming it here makes sure of it). `strata` has a value for each stratum that the task declares; they
        are sent in the clear. `url` is the collector's, for `flush`.
        """
        if not isinstance(task, Task):
            raise ParameterError(f"task must be a Task, got {type(task).__name__}.", "Read it with Task.load(data).")
        now, today = self._clock(), self.today()
        window = task.window(today)
        base = None if url is None else checked_url(url)
        if question is not None:
            task.question(question)
        asked = self.question(task, dealt=dealt)
        _same_question(asked, question)
        device = asked.device(harmless)
        with self._store.write() as db:
            step = Step(db, self._source(db), task, asked, window, today)
            kept = step.first_report()
            answer = None if kept is not None else device.answer(asked.value(value))  # later ones are not looked at
            chosen = device.level(level)
            known = Known(
                sorted(answer) if isinstance(answer, list) else answer,
                chosen if device.levels else None,
                task.head(asked, strata),
            )
            before = step.answered(known)
            if before is not None:
                return before
            report, cost = (kept, 0) if kept is not None else step.report(device, known, self._limits)
            due = now + seconds_up_to(min(self._delay, max(0.0, beginning(task.expires) - now)))
            return step.queue(known, report, cost, base, due)

    def today(self) -> date:
        """The day in UTC, by the ledger's clock."""
        return datetime.fromtimestamp(self._clock(), UTC).date()

    # ---- sending

    def flush(
        self, url: str | None = None, *, task: Task | str | None = None, due: bool = False, timeout: float = 20
    ) -> Sent:
        """Send the reports that wait, one by one, each to the `url` it was answered with, else to this one.

        Only those of one `task`, if it is given. With `due` only those whose random time has come: what a timer should
        call, since reports that leave at once tell when they were answered. A report that could not be delivered is
        not tried again before its time in either case. Reports without any url stay where they are.
        """
        base = None if url is None else checked_url(url)
        return self._outbox.flush(base, task.id if isinstance(task, Task) else task, due=due, timeout=timeout)

    # ---- what a person may see and do

    def overview(self) -> dict[str, Any]:
        """What was asked, what was sent, what waits or was lost, and what is left of the budgets."""
        with self._store.write() as db:
            return overview(db, self._source(db), self._limits)

    def export(self) -> dict[str, Any]:
        """Everything that the ledger has about its person, as a document for JSON."""
        with self._store.write() as db:
            return export(db, self._source(db), self._limits)

    def forget(self, task: Task | str | None = None, *, question: str | None = None, everything: bool = False) -> int:
        """Erase what was asked, remembered and sent about a task (its id), a question (its key) or everything.

        Reports that wait are not sent any more. What was spent stays: amounts, days, ids of tasks, hashes of subjects.
        Returns how many reports and memories were erased.
        """
        if (task is not None) + (question is not None) + everything != 1:
            raise ParameterError("forget needs exactly one of task, question and everything=True.")
        named = task.id if isinstance(task, Task) else task
        with self._store.write() as db:
            self._source(db)
            erased = erase(db, task=named, question=question)
            if not erased and not everything:
                raise ParameterError(f"this ledger has nothing about {show(named or question)}.", "See its overview.")
        self._store.rewrite()
        return erased

    def _source(self, db: sqlite3.Connection) -> Drawn:
        """Where this ledger's randomness comes from; `LedgerError` if its file was made with another secret."""
        own: dict[str, bytes] = dict(db.execute("SELECT name, value FROM own"))
        source = Drawn(own.get("key") or random_bytes(32)) if self._secret is None else Derived(self._secret)
        mark = ("key", source.key) if self._secret is None else ("secret", source.digest("ledger", {}))
        if not own:
            db.execute("INSERT INTO own VALUES (?, ?)", mark)
        elif own != dict([mark]):
            raise LedgerError(
                f"the ledger {self._store.path} was made with another secret, or without one; nothing was sent.",
                "Open it with the same secret as before.",
            )
        return source


def _same_question(found: Question, named: str | None) -> None:
    if named not in (None, found.name):
        raise PrivacyError(
            f"question {found.name} was dealt to this device, and {named} is asked; nothing was spent or sent.",
            "A device answers one question of a task, the same in all windows.",
        )
