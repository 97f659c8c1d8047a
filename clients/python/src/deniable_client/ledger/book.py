"""The ledger: takes tasks up within the places of their collectors, fills windows with answers, queues what is sent."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

from deniable_client.addresses import checked_url
from deniable_client.canonical import canonical
from deniable_client.errors import BudgetError, ParameterError, PrivacyError, WindowError, require, show
from deniable_client.ledger.memory import checked_secret
from deniable_client.ledger.outbox import Outbox, Sent
from deniable_client.ledger.overview import export, overview
from deniable_client.ledger.places import Limits, next_place, number_of, place_for, place_name, places_left, reserve
from deniable_client.ledger.store import Store
from deniable_client.ledger.windows import NOTHING, Slot, Taken, beginning, slot_of, taken_of, windows_left
from deniable_client.questions import Question, amount_of
from deniable_client.task import Task

if TYPE_CHECKING:
    import sqlite3

__all__ = ["Ledger", "Receipt"]

Clock = Callable[[], float]
_DAY = 86_400


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of an answer, or of taking part: it is spent and queued. What is sent is shown once it is."""

    id: str
    """The report's id: 32 hexadecimal digits."""
    question: str
    window: int
    cost: float
    """What it cost now; 0 if this window was open before."""
    new: bool
    """Whether this window was opened now."""
    answered: bool
    """Whether the value was an answer of the question; if not, the report is that of no answer."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A task in today's window, and what a person says about it that does not depend on the answer."""

    task: Task
    window: int
    asked: Question
    level: int | None
    head: bytes
    url: str | None
    now: float
    today: date


class Ledger:
    """What a device took part in, spent and has to send, in a file of its own.

    A task is taken up as a whole, or declined for reasons that have nothing to do with an answer; then each of its
    windows sends one report, whatever is answered. Everything is on the disk before anything leaves the device; `flush`
    sends what is due. See docs/protocol.md, sections 2 to 6.

    `collector` is the most that is spent for one collector in a year, `places` how many collectors have a place at the
    beginning; each quarter of a year adds one. With a `secret` (at least 32 random bytes that outlive the file) reports
    are derived from it, so that a lost ledger does not draw them anew; without one they are drawn by the operating
    system and kept. `delay` is the longest random time in seconds that a report waits, beyond ten minutes, before
    `flush(due=True)` sends it. `pause` is for stores that others can erase: tasks of several windows are then taken up
    only when the ledger is older than a window.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        secret: bytes | None = None,
        collector: float = 2,
        places: int = 2,
        delay: float = 3600,
        clock: Clock = time.time,
        patience: float = 10,
        pause: bool = False,
        **gone: object,
    ) -> None:
        if gone:
            told = f"Ledger does not know {', '.join(gone)}"
            raise TypeError(f"{told}: limits are kept for each collector, see collector= and places=.")
        self._limits = Limits(collector, places)
        number = isinstance(delay, int | float) and not isinstance(delay, bool)
        require(number and 0 <= delay <= 604_800, "delay", delay, "a number of seconds from 0 to 604800 (a week)")
        self._delay, self._clock, self._pause = delay, clock, pause
        self._store = Store(path, patience, None if secret is None else checked_secret(secret), clock)
        self._outbox = Outbox(self._store, clock, delay)
        with self._store.write():
            pass  # a new file is made, and another is checked

    # ---- taking part

    def question(self, task: Task, *, dealt: str | None = None) -> Question:
        """The question of a task that this device answers, which is dealt once and for all.

        `dealt` names the one that the collector dealt to it; the device draws one itself if it is left out.
        """
        if dealt is not None:
            task.question(dealt)
        if not task.several:
            return task.questions[0]
        with self._store.write() as db:
            row = db.execute("SELECT question FROM deal WHERE task = ?", (task.id,)).fetchone()
            if row is None:
                words = self._store.source(db).deal_words(task.id)
                found = task.question(dealt) if dealt is not None else task.deal(words)
                db.execute("INSERT INTO deal VALUES (?, ?)", (task.id, task.questions.index(found)))
            else:
                found = task.questions[row[0]]
        _same_question(found, dealt)
        return found

    def take(
        self,
        task: Task,
        *,
        level: float | None = None,
        harmless: Iterable[object] | None = None,
        strata: Mapping[str, str] | None = None,
        dealt: str | None = None,
        url: str | None = None,
    ) -> Receipt:
        """Take a task up before its question is asked: a report is sent for each of its windows from now on.

        What is left out of `level`, `harmless` (the answers that may be named), `strata` (sent in the clear) and `url`
        is as it was when the task was taken up, or the most protective. `dealt` is as for `question`. Declining costs
        nothing and sends nothing: it is an error that says why.
        """
        return self._step(task, NOTHING, level, harmless, strata, dealt, None, url)

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
        """Answer a task in today's window, after taking it up if that was not done: spent and queued when this returns.

        No value is an error: what the question has no answer for counts as no answer. Another answer takes the place of
        the one before until the report is on its way. `question` makes sure that it is the one that was dealt; the rest
        is as for `take`.
        """
        return self._step(task, value, level, harmless, strata, dealt, question, url)

    def _step(
        self,
        task: Task,
        value: object,
        level: float | None,
        harmless: Iterable[object] | None,
        strata: Mapping[str, str] | None,
        dealt: str | None,
        question: str | None,
        url: str | None,
    ) -> Receipt:
        if not isinstance(task, Task):
            raise ParameterError(f"task must be a Task, got {type(task).__name__}.", "Read it with Task.load(data).")
        now, today = self._clock(), self.today()
        window = task.window(today)
        if question is not None:
            task.question(question)
        asked = self.question(task, dealt=dealt)
        _same_question(asked, question)
        with self._store.write() as db:
            before = taken_of(db, task.id)
            device = asked.device(asked.explanation.harmless or None if before and harmless is None else harmless)
            chosen = device.level(level) if device.levels or level is not None else None
            head = task.head(asked, strata) if before is None or strata is not None else before.head
            if before is not None and level is None:
                chosen = before.level
            offer = Offer(task, window, asked, chosen, head, _address(task, url, before), now, today)
            taken = self._take_up(db, offer) if before is None else _renewed(db, offer, before)
            slot = Slot(db, self._store.source(db), task, taken, window, now)
            return self._filled(slot, value, first=before is None)

    def _filled(self, slot: Slot, value: object, *, first: bool) -> Receipt:
        """Open a window if it is not yet, and draw the report of a value."""
        state = slot.state()
        new = state is None or state[0] == "planned"
        if state is None:
            if slot.was_opened():
                raise _done("was taken up in this window before, and then forgotten")
            slot.plan(first=first, delay=self._delay)
        if new:
            slot.open()
        elif value is not NOTHING and state not in (None, ("waiting", 0)):
            raise _done("sent its report of this window already, or tried to")
        answered = value is not NOTHING and slot.fill(value)
        own = (slot.task.id, slot.slot)
        (name,) = slot.db.execute("SELECT id FROM report WHERE task = ? AND window = ?", own).fetchone()
        cost = number_of(amount_of(slot.task.epsilon)) if new else 0.0
        return Receipt(name, slot.question.name, slot.slot, cost, new, answered)

    def _take_up(self, db: sqlite3.Connection, offer: Offer) -> Taken:
        """Reserve all windows that are left; by looking at public things only, or not at all."""
        task, now = offer.task, offer.now
        windows = windows_left(task, offer.window)
        opened = [row[0] for row in db.execute("SELECT window FROM opened WHERE task = ?", (task.id,))]
        if slot_of(task, offer.window) in opened or (opened and task.memory != "fresh"):
            raise _done("was answered in this window already, or taken up and then forgotten")
        _check_question(db, offer)
        self._check_age(db, offer)
        name, left = place_name(task, offer.url), places_left(db, self._limits, self._store.born(db), now)
        place = place_for(db, name, now)
        told = str(reserve(db, task, place, name, self._limits, len(windows), offer.today))
        if place is not None:
            number = place.number
            db.execute("UPDATE place SET most = ? WHERE number = ?", (told, number))
        elif left <= 0:
            raise BudgetError(
                "this collector has no place on this device, and all places were given; nothing was spent or sent.",
                f"There is one more on {next_place(self._store.born(db), now)}, or the person allows more.",
            )
        else:
            given = (name, int(now), told)
            number = db.execute("INSERT INTO place (name, began, most) VALUES (?, ?, ?)", given).lastrowid or 0
        asked = task.questions.index(offer.asked)
        taken = Taken(number, windows[0], windows[-1], asked, offer.level, offer.head, offer.url)
        db.execute("DELETE FROM taken WHERE task = ?", (task.id,))
        own = (task.id, number, str(amount_of(task.epsilon)), task.opens.toordinal(), task.days)
        rest = (taken.first, taken.last, taken.question, offer.asked.key, taken.level, taken.head, taken.url)
        db.execute(
            "INSERT INTO taken (task, place, epsilon, opens, days, first, last, question, key, level, head, url)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*own, *rest),
        )
        db.execute("DELETE FROM task WHERE id = ?", (task.id,))
        db.execute("INSERT INTO task VALUES (?, ?)", (task.id, canonical(task.document)))
        return taken

    def _check_age(self, db: sqlite3.Connection, offer: Offer) -> None:
        """A store that may be new only because it was erased waits out a window."""
        task = offer.task
        start = beginning(task.opens) + offer.window * task.days * _DAY
        if self._pause and task.count > 1 and start < self._store.born(db) + task.days * _DAY:
            raise WindowError(
                "this ledger is too new to know what was sent before it; nothing was spent or sent.",
                "The task can be taken up in the first window that begins after a whole one was waited out.",
            )

    def today(self) -> date:
        """The day in UTC, by the ledger's clock."""
        return datetime.fromtimestamp(self._clock(), UTC).date()

    # ---- sending

    def flush(
        self, url: str | None = None, *, task: Task | str | None = None, due: bool = False, timeout: float = 20
    ) -> Sent:
        """Open the windows that have come to their moment, and send what is open, each report by itself.

        A report goes to the address that its collector signed, else to the one it was answered with, else to `url`;
        without any it stays. Only those of one `task`, if it is given. With `due` only those whose moment has come,
        which is for a timer, every few minutes: reports that leave at once tell when they were answered. `timeout` is
        for each report's whole exchange, in seconds.
        """
        base = None if url is None else checked_url(url)
        number = isinstance(timeout, int | float) and not isinstance(timeout, bool)
        require(number and 0 < timeout <= 3600, "timeout", timeout, "a number of seconds above 0, 3600 at most")
        return self._outbox.flush(base, task.id if isinstance(task, Task) else task, due=due, timeout=timeout)

    # ---- what a person may see and do

    def overview(self) -> dict[str, Any]:
        """What was asked, what was sent, what waits or was lost, and what is left in the places."""
        with self._store.read() as db:
            return overview(db, self._limits, self._store.born(db), self._clock())

    def export(self) -> dict[str, Any]:
        """Everything that the ledger has about its person, as a document for JSON; reports only once they are done."""
        with self._store.read() as db:
            return export(db, self._limits, self._store.born(db), self._clock())

    def allow(self, *, places: int = 0, task: Task | None = None, epsilon: float = 0, url: str | None = None) -> None:
        """What the person allows beyond the limits: so many places more, or so much more for the collector of a task.

        `url` is the address that the task will be answered to, if its collector signed none.
        """
        whole = isinstance(places, int) and not isinstance(places, bool)
        require(whole and 0 <= places <= 1000, "places", places, "a whole number from 0 to 1000")
        number = isinstance(epsilon, int | float) and not isinstance(epsilon, bool)
        require(number and 0 <= epsilon <= 1000, "epsilon", epsilon, "a number from 0 to 1000")
        if (task is not None) != (epsilon > 0):
            raise ParameterError("allow needs a task and an epsilon above 0 together, or places.")
        with self._store.write() as db:
            if places:
                db.execute("INSERT INTO allowed VALUES ('', ?)", (str(places),))
            if task is not None:
                taken = taken_of(db, task.id)
                base = None if url is None else checked_url(url)
                name = place_name(task, taken.url if taken else base)
                db.execute("INSERT INTO allowed VALUES (?, ?)", (name, str(amount_of(epsilon))))

    def forget(self, task: Task | str | None = None, *, question: str | None = None, everything: bool = False) -> int:
        """Withdraw, and erase what was asked and sent about a task (its id), a question (its key) or everything.

        Reports that wait are not sent any more. What was spent stays: amounts, days, places, ids of tasks with the
        windows that were opened. Returns how many entries were erased.
        """
        if (task is not None) + (question is not None) + everything != 1:
            raise ParameterError("forget needs exactly one of task, question and everything=True.")
        named = task.id if isinstance(task, Task) else task
        with self._store.write() as db:
            erased = _erase(db, named, question)
            if not erased and not everything:
                raise ParameterError(f"this ledger has nothing about {show(named or question)}.", "See its overview.")
        self._store.rewrite()
        return erased


def _renewed(db: sqlite3.Connection, offer: Offer, before: Taken) -> Taken:
    """How a task is taken up from now on, if level or strata are others than before."""
    if (offer.level, offer.head) != (before.level, before.head):
        given = (offer.level, offer.head, offer.task.id)
        db.execute("UPDATE taken SET level = ?, head = ? WHERE task = ?", given)
    return replace(before, level=offer.level, head=offer.head)


def _address(task: Task, url: str | None, before: Taken | None) -> str | None:
    """Where reports of a task go; `PrivacyError` for another address than the collector signed, or than before."""
    base = None if url is None else checked_url(url)
    known = task.url if before is None else before.url
    if base is not None and base != known and (before is not None or task.url is not None):
        whose = "its collector signed" if task.url is not None else "it was taken up with"
        raise PrivacyError(
            f"reports of this task go to {show(known)}, which {whose}, not to {show(base)}; nothing was spent or sent.",
            "Leave out url.",
        )
    return known or base


def _check_question(db: sqlite3.Connection, offer: Offer) -> None:
    """`WindowError` if the same collector asks the same question in another task at the same time."""
    if offer.task.key is None:  # what one collector asked must not show at another, and these have no name
        return
    today = offer.today.toordinal()
    rows = db.execute(
        "SELECT 1 FROM taken WHERE key = ? AND task <> ? AND opens + first * days <= ?"
        " AND opens + (last + 1) * days > ?",
        (offer.asked.key, offer.task.id, today, today),
    )
    if rows.fetchone() is not None:
        raise WindowError(
            "the same collector asks the same question in another task at the same time; nothing was spent or sent.",
            "It is answered once.",
        )


def _done(what: str) -> WindowError:
    return WindowError(f"this task {what}; nothing more was spent or sent.", "One report is sent in each window.")


def _same_question(found: Question, named: str | None) -> None:
    if named not in (None, found.name):
        raise PrivacyError(
            f"question {found.name} was dealt to this device, and {named} is asked; nothing was spent or sent.",
            "A device answers one question of a task, the same in all windows.",
        )


def _erase(db: sqlite3.Connection, task: str | None, question: str | None) -> int:
    """Withdraw tasks, and delete what was asked and sent; how much that was."""
    if task is not None:
        tasks = {task}
    elif question is not None:
        rows = db.execute(
            "SELECT task FROM taken WHERE key = ? UNION SELECT task FROM report WHERE question = ?", (question,) * 2
        )
        tasks = {row[0] for row in rows}
    else:
        tasks = {
            row[0]
            for row in db.execute("SELECT task FROM taken UNION SELECT id FROM task UNION SELECT task FROM report")
        }
    erased = 0
    for name in sorted(tasks):
        db.execute("UPDATE taken SET key = NULL, level = NULL, head = x'', url = NULL WHERE task = ?", (name,))
        for statement in ("DELETE FROM report WHERE task = ?", "DELETE FROM task WHERE id = ?"):
            erased += db.execute(statement, (name,)).rowcount
    return erased
