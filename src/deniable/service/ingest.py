"""What a collector can check of a report: its length, its numbers, its padding, and that some device can have sent it.

All bodies of a task have one length (docs/protocol.md, section 4), so many are looked at as one table of bytes.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import date, timedelta
from hashlib import blake2b
from threading import Lock, RLock

import numpy as np

from deniable.collect.reports import Reports, split_rows
from deniable.collect.tally import Tally
from deniable.core.types import BoolArray, Bytes, IntArray
from deniable.errors import FormatError, ParameterError
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.framing import apart, filled, unframed
from deniable.mechanisms.registry import from_design
from deniable.service.limits.turns import short_turns
from deniable.service.store.contract import Batch
from deniable_client.task import Task

__all__ = [
    "LARGE",
    "NEVER",
    "REASONS",
    "SKEW",
    "Checked",
    "Intake",
    "check_strata",
    "first_day_after",
    "intake_of",
    "window_of",
]

SKEW = timedelta(1)
"""How far a device's clock may be off: reports are taken so much before the first window and after the last one."""
COMBINATIONS = 4096
"""Most combinations of strata of a new task: each has a tally of its own, which one forged report fills."""

REASONS = {
    "length": "the report does not have the length of the task's reports",
    "question": "the task has no question with this number",
    "stratum": "a stratum of the task has no value with this number",
    "padding": "the bytes after the report are not zero",
    "impossible": "no device that keeps to the task can have sent this report",
    "other-body": "another report was counted under this id; the first one stays",
    "not-open": "the task takes no reports: it is not open yet, or closed",
    "early": "the task's first window is not open yet",
    "late": "the task's last window is over",
    "sealed": "the results of this window are published; nothing is added any more",
}
"""Why a report is not counted: the words in answers and metrics, and what they mean."""
NEVER = frozenset({"length", "question", "stratum", "padding", "impossible"})
"""Reasons that no device gives that keeps to the task: someone forges reports, or a client is broken.

`other-body` is not among them: a device whose reports are derived from a secret, and whose ledger was lost or copied,
makes another report under the same id when its owner answers otherwise.
"""

_FINE = 0
_CODES = {reason: code for code, reason in enumerate(REASONS, start=1)}
_WORDS = (None, *REASONS)
LARGE = 64 << 10
_large = RLock()
"""One task with a document of more than so many bytes is proved at a time: proofs are all Python's, and whoever answers
devices must come in between. Small ones wait for nobody."""
_TASKS = 256
"""Tasks whose proofs are kept at hand."""


def window_of(task: Task, today: date) -> int | str:
    """The window in which a report that arrives today is counted, or the reason why it is in none.

    A report does not say when it was made. Devices' clocks may be off by `SKEW`: what comes that much before the first
    window is counted in it, what comes that much after the last one in that.
    """
    if today < task.opens - SKEW:
        return "early"
    if today >= task.closes + SKEW:
        return "late"
    inside = min(max(today, task.opens), task.closes - timedelta(1))
    return (inside - task.opens).days // task.days


def first_day_after(task: Task, window: int) -> date:
    """The first day on which no report is counted in a window any more, unless the clock goes back."""
    over = task.opens + timedelta((window + 1) * task.days)
    return over + SKEW if window == task.count - 1 else over


def check_strata(strata: Mapping[str, Sequence[str]]) -> None:
    """Refuse strata of a new task that have too many combinations."""
    found = math.prod(len(values) for values in strata.values())
    if found > COMBINATIONS:
        raise ParameterError(
            f"strata must have at most {COMBINATIONS:,} combinations, got {found:,}.",
            "Declare fewer strata, or fewer values of them: most combinations would have too few reports anyway.",
        )


@dataclass(frozen=True, slots=True)
class Checked:
    """What was found out about some bodies of a task, one row each."""

    table: Bytes
    codes: Bytes
    counted: tuple[int, Tally] | None
    """The only question that these reports answer, and their tally if all of them are fine and in one batch."""

    @property
    def fine(self) -> BoolArray:
        """Which bodies a device can have sent."""
        return np.equal(self.codes, _FINE)

    @property
    def reasons(self) -> list[str | None]:
        """Why each body is refused; None for those that are fine."""
        return [_WORDS[code] for code in self.codes.tolist()]


class Intake:
    """A task as its collector sees it: checks bodies and counts them. Never changes, so one serves all threads."""

    head: int
    """Bytes of a body before the report: the numbers of the question and of the strata."""

    def __init__(self, document: bytes) -> None:
        self.task = Task.load(document)
        self._sizes = [len(values) for values in self.task.strata.values()]
        self._width = self.task.width
        self._question_at = self.task.question_at
        self._strata_at = self.task.strata_at
        self.head = (self._question_at is not None) + len(self._sizes)
        self._mechanisms: tuple[Mechanism, ...] = ()
        self._making = _large if len(document) > LARGE else RLock()

    @property
    def mechanisms(self) -> tuple[Mechanism, ...]:
        """The mechanism of each question, made when it is first asked for, and once."""
        if not self._mechanisms:
            with self._making, short_turns():
                if not self._mechanisms:
                    self._mechanisms = tuple(from_design(question.design) for question in self.task.questions)
        return self._mechanisms

    def check(self, bodies: Sequence[bytes]) -> Checked:
        """Look at all bodies at once; only where something is wrong, it is found out where."""
        width = self._width
        wrong = [i for i, body in enumerate(bodies) if len(body) != width]
        if wrong:
            blank = bytes(width)
            bodies = [body if len(body) == width else blank for body in bodies]
        table = np.frombuffer(b"".join(bodies), np.uint8).reshape(len(bodies), width)
        codes = np.zeros(len(bodies), np.uint8)
        codes[wrong] = _CODES["length"]
        if self._question_at is not None:
            _mark(codes, table[:, self._question_at] >= len(self.task.questions), "question")
        for column, size in enumerate(self._sizes, start=self._strata_at):
            _mark(codes, table[:, column] >= size, "stratum")
        counted, fine = None, np.flatnonzero(codes == _FINE)
        for question, at, reports in self._questions(table if fine.size == len(table) else table[fine]):
            try:
                found = self._tally(question, reports)
            except FormatError:
                codes[fine[at]] = self._faults(question, reports)
            else:
                counted = (question, found) if len(reports) == len(table) else None
        return Checked(table, codes, counted)

    def tallies(self, checked: Checked, chosen: IntArray, window: int) -> Iterator[tuple[Batch, Tally, IntArray]]:
        """Count the chosen rows, which are fine, batch by batch: their tally, and which they are."""
        if checked.counted and chosen.size == len(checked.table) and not self._sizes:
            question, tally = checked.counted
            yield Batch(window, question, ()), tally, chosen
            return
        bodies = checked.table[chosen]
        for question, own, reports in self._questions(bodies):
            for strata, at in self._strata(bodies[own]):
                yield Batch(window, question, strata), self._tally(question, reports[at]), chosen[own][at]

    def _questions(self, bodies: Bytes) -> Iterator[tuple[int, IntArray | slice, Bytes]]:
        """Each question that some bodies answer, which of them do, and their reports."""
        reports = bodies[:, self.head :]
        if self._question_at is not None:
            yield from apart(bodies[:, self._question_at], reports)
        elif len(bodies):
            yield 0, slice(None), reports

    def _strata(self, bodies: Bytes) -> Iterator[tuple[tuple[int, ...], IntArray | slice]]:
        """Each combination of strata that occurs, and which of the bodies are of it."""
        if not self._sizes:
            yield (), slice(None)
            return
        own = bodies[:, self._strata_at : self._strata_at + len(self._sizes)]
        heads, which = np.unique(own, axis=0, return_inverse=True)
        for number, head in enumerate(heads.tolist()):
            yield tuple(head), np.flatnonzero(which.ravel() == number)

    def _tally(self, question: int, reports: Bytes) -> Tally:
        made = self.mechanisms[question]
        return made.tally(Reports(made.design, made.fields, unframed(made.bulk, reports)))

    def _faults(self, question: int, reports: Bytes) -> Bytes:
        """What is wrong with each of some reports of a question."""
        bulk = self.mechanisms[question].bulk
        possible = bulk.possible(split_rows(bulk.fields, reports))
        wrong = np.where(possible, _FINE, _CODES["impossible"])
        return np.where(filled(bulk, reports), wrong, _CODES["padding"]).astype(np.uint8)


def _mark(codes: Bytes, wrong: BoolArray, reason: str) -> None:
    """Give a reason to rows that are wrong and have none yet."""
    codes[wrong & (codes == _FINE)] = _CODES[reason]


_proved: OrderedDict[bytes, Future[Intake]] = OrderedDict()
_guard = Lock()


def intake_of(document: bytes) -> Intake:
    """The intake of a task document, proved once however many threads ask for it; the last ones are kept.

    A document that is refused is looked at again whenever somebody asks.
    """
    key = blake2b(document).digest()
    with _guard:
        found = _proved.get(key)
        first = found is None
        if found is None:
            found = _proved[key] = Future()
            if len(_proved) > _TASKS:
                _proved.popitem(last=False)
        else:
            _proved.move_to_end(key)
    if first:
        try:
            with _large if len(document) > LARGE else nullcontext(), short_turns():
                made = Intake(document)
            found.set_result(made)
        except BaseException as error:
            with _guard:
                _proved.pop(key, None)
            found.set_exception(error)
    return found.result()
