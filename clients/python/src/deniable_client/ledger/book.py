"""The ledger: answers tasks within their budgets, remembers what was drawn, queues what is to be sent."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

from deniable_client.errors import LedgerError, ParameterError, PrivacyError, require, show
from deniable_client.ledger.budgets import Limits
from deniable_client.ledger.memory import Derived, Drawn, checked_secret, random_bytes
from deniable_client.ledger.outbox import Outbox, Sent, seconds_up_to
from deniable_client.ledger.step import Known, Receipt, Step, beginning, erase
from deniable_client.ledger.store import Store
from deniable_client.ledger.transport import checked_url
from deniable_client.ledger.views import export, overview
from deniable_client.task import Question, Task

if TYPE_CHECKING:
    import sqlite3

__all__ = ["Ledger"]

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
