"""Whatever is published, over windows, tasks, strata, exports and restored copies: no subtraction is about few.

A machine does to a collector what people, operators and attackers do, and a reader keeps all that was ever published.
Every draw of a device has a number of its own, and its report is that number, so a published tally says which draws it
counts. The reader forms all whole-number combinations; none of them may be a set of fewer draws than the minimum batch.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

import deniable as dn
from deniable.collect.reports import Reports
from deniable.collect.tally import Tally
from deniable.errors import FormatError, ParameterError
from deniable.service import release
from deniable.service.groups import Group
from deniable.service.ingest import Intake
from deniable.service.release import publish, windows
from deniable.service.store import engine_of, open_store, restoring
from deniable.service.store import journal as journals
from deniable.service.store.contract import Incoming, TaskRow, Upload
from deniable_client.task import Task
from service.making import fresh_id, opened
from service.reader import Reader

LEAST = 3
PEOPLE = 8
DRAWS = 250
DAYS, COUNT = 1, 12
DESIGN = dn.mechanism("grr", epsilon=1.0, k=DRAWS).design
STRATA = {"country": ["DE", "FR"], "version": ["1", "2"]}
STEPS = int(os.environ.get("DENIABLE_STEPS", "4000"))
_PER_RUN = 40
MEMORIES = st.sampled_from(("fresh", "remembered", "first"))
CROWDS = st.integers(0, PEOPLE).map(lambda away: range(PEOPLE - away))
"""People who act together: the same ones, and some more."""
ACTS = (
    *("day",) * 6,
    *("again",) * 3,
    *("backup", "restore", "ask", "export") * 2,
    *("answer", "forge", "close", "upkeep", "doubt", "doubt"),
)
NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)


@dataclass
class Devices:
    """What the people's devices do: their draws, and what they sent, to be sent again while nobody answers."""

    draws: int = 0
    remembered: dict[tuple[Any, ...], int] = field(default_factory=dict)
    sent: dict[tuple[str, int, int], Incoming] = field(default_factory=dict)
    """By task, window and person."""

    def draw(self) -> int | None:
        """A number for a new draw; None when there are no more."""
        self.draws += 1
        return self.draws - 1 if self.draws <= DRAWS else None

    def report(self, task: Task, window: int, person: int, answer: int, strata: tuple[int, ...]) -> Incoming | None:
        """The report of a person in a window; the same one again, whatever the answer."""
        place = (task.id, window, person)
        if place not in self.sent:
            number = self._number(task, window, person, answer)
            if number is None:
                return None
            self.sent[place] = Incoming(fresh_id(), bytes([*strata, number]))
        return self.sent[place]

    def _number(self, task: Task, window: int, person: int, answer: int) -> int | None:
        key = task.questions[0].key
        memory = {
            "fresh": (task.id, window, person),
            "remembered": (key, person, answer),
            "first": (key, person),
        }[task.memory]
        if memory not in self.remembered:
            number = self.draw()
            if number is None:
                return None
            self.remembered[memory] = number
        return self.remembered[memory]


class Subtracting(RuleBasedStateMachine):
    """The machine."""

    @initialize(
        memories=st.tuples(MEMORIES, MEMORIES),
        siblings=st.booleans(),
        strata=st.tuples(st.booleans(), st.booleans()),
    )
    def start(self, memories: tuple[str, str], siblings: bool, strata: tuple[bool, bool]) -> None:
        self.folder = Path(tempfile.mkdtemp(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None))
        self.now, self.numbers = NOON, iter(range(10**6))
        self.devices, self.reader = Devices(), Reader()
        self.known: set[bytes] = set()
        self.doubtful = False
        self.copies: list[tuple[Path, int]] = []
        self.journal = self.folder / "journal"
        self.store = open_store(self._url(), str(self.journal))
        self.tasks: list[Task] = []
        subjects = ("sleep", "sleep" if siblings else "food")
        for memory, subject, has in zip(memories, subjects, strata, strict=True):
            self._ask(memory, subject, has)

    def _url(self) -> str:
        return f"sqlite:///{self.folder}/{next(self.numbers)}.db"

    def _ask(self, memory: str, subject: str, has: bool) -> None:
        terms: dict[str, Any] = {"memory": memory, "subject": subject, "strata": STRATA if has else None}
        terms |= {"days": DAYS, "count": COUNT, "min_batch": LEAST, "keep": "30"}
        terms["expires"] = (NOON + timedelta(300 + len(self.tasks))).date().isoformat()  # another id each time
        self.tasks.append(opened(self.store, DESIGN, **terms))

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.store.close()
            shutil.rmtree(self.folder)

    # ---- people

    @rule(
        act=st.sampled_from(ACTS),
        which=st.integers(0, 3),
        crowds=st.tuples(CROWDS, CROWDS),
        answer=st.integers(0, 1),
        strata=st.tuples(st.integers(0, 1), st.integers(0, 1)),
        memory=MEMORIES,
    )
    def step(self, act: str, **given: Any) -> None:
        """One rule for all acts: they are as frequent as the list says."""
        wanted = {
            "day": lambda which, crowds, answer, strata, memory: self.a_day(crowds, answer, strata, unseen=which == 3),
            "answer": lambda which, crowds, answer, strata, memory: self.answer(which, crowds[0], answer, strata),
            "again": lambda which, crowds, answer, strata, memory: self.answers_were_lost(crowds[0]),
            "forge": lambda which, crowds, answer, strata, memory: self.forge(which, len(crowds[0]) // 2, strata),
            "upkeep": lambda which, crowds, answer, strata, memory: self.upkeep(),
            "close": lambda which, crowds, answer, strata, memory: self.close(which),
            "backup": lambda which, crowds, answer, strata, memory: self.backup(),
            "restore": lambda which, crowds, answer, strata, memory: self.restore(which),
            "doubt": lambda which, crowds, answer, strata, memory: self.restore_without_a_journal(which),
            "ask": lambda which, crowds, answer, strata, memory: self.ask_again(memory, answer, bool(strata[0])),
            "export": lambda which, crowds, answer, strata, memory: self.export(),
        }
        wanted[act](**given)

    def _task(self, which: int) -> Task:
        return self.tasks[which % len(self.tasks)]

    def _send(self, task: Task, reports: list[Incoming]) -> None:
        if self.store.task(task.id) is not None:
            self.store.add([Upload(task.id, self.now.date(), reports)])

    def a_day(self, crowds: tuple[range, range], answer: int, strata: tuple[int, ...], unseen: bool) -> None:
        """People answer some tasks; then a window ends, and is published when somebody looks."""
        for which in range(len(self.tasks)):
            self.answer(which, crowds[which % 2], answer, strata)
        self.now += timedelta(DAYS)
        if not unseen:
            self.upkeep()

    def answer(self, which: int, people: range, answer: int, strata: tuple[int, ...]) -> None:
        task = self._task(which)
        window = (self.now.date() - task.opens).days // DAYS
        where = strata if task.strata else ()
        if 0 <= window < COUNT:
            elsewhere = where[::-1]  # where one person is
            found = (self.devices.report(task, window, p, answer, where if p else elsewhere) for p in people)
            self._send(task, [report for report in found if report is not None])

    def answers_were_lost(self, people: range) -> None:
        """Devices that did not hear that their reports were counted send them again, of all tasks and windows."""
        for task in self.tasks:
            sent = self.devices.sent.items()
            self._send(task, [report for (id, _, person), report in sent if id == task.id and person in people])

    def forge(self, which: int, n: int, strata: tuple[int, ...]) -> None:
        task = self._task(which)
        numbers = [number for _ in range(n) if (number := self.devices.draw()) is not None]
        where = strata if task.strata else ()
        self._send(task, [Incoming(fresh_id(), bytes([*where, number])) for number in numbers])

    # ---- who looks after it

    def close(self, which: int) -> None:
        task = self._task(which)
        if self.store.task(task.id) is not None:
            self.store.set_state(task.id, "closed")

    def upkeep(self) -> None:
        for row in self.store.tasks():
            publish(self.store, row, Intake(row.document), self.now)
        self.store.purge(self.now.date())

    def backup(self) -> None:
        if len(self.copies) < 4:
            path = self.folder / f"copy-{next(self.numbers)}"
            self.store.backup(path)
            self.copies.append((path, len(self.tasks)))

    def restore(self, which: int) -> None:
        if self.copies:
            self._restore(which, with_journal=True)

    def restore_without_a_journal(self, which: int) -> None:
        if self.copies and not self.doubtful:  # once: it closes everything
            self.doubtful = True
            self._restore(which, with_journal=False)
            for task in self.tasks[:2]:  # all are closed: whoever wants to know asks once more
                self._ask(task.memory, task.subject, bool(task.strata))

    def _restore(self, which: int, *, with_journal: bool) -> None:
        """Into a new database, which goes on in place of the other one."""
        path, tasks = self.copies[which % len(self.copies)]
        url = self._url()
        target = engine_of(url)
        aside = self.folder / f"aside-{next(self.numbers)}"
        if not with_journal and self.journal.exists():
            self.journal.rename(aside)
        known = self.journal if with_journal else None
        try:
            restoring.restore(path, target, journal=known, own=self.journal, today=self.now.date())
        except ParameterError:  # a copy from before a restore without a journal: it has no journal any more
            assert with_journal
            target.close()
            return
        target.close()
        self.store.close()
        self.store = open_store(url, str(self.journal))
        if not with_journal:
            del self.tasks[tasks:]  # tasks that were made later are not made again, and their questions not asked again

    def ask_again(self, memory: str, number: int, has: bool) -> None:
        subject = ("sleep", "food")[number]
        if len(self.tasks) < 4 and any(task.subject == subject for task in self.tasks):
            self._ask(memory, subject, has)

    # ---- who reads

    def export(self) -> None:
        for row in self.store.tasks():
            self._export(row)

    def _export(self, row: TaskRow) -> None:
        intake = Intake(row.document)
        found = windows(self.store, row, intake, self.now)
        lots = release.kept_reports(self.store, intake, found, "q0")
        while True:
            try:
                _, lot = next(lots)
            except (StopIteration, FormatError):  # the copy lacks some of those that are published: not written
                return
            numbers = [lot.row(i)[0] for i in range(len(lot))]
            assert numbers == sorted(numbers)
            self.reader.see({number: numbers.count(number) for number in numbers})

    @invariant()
    def nothing_is_about_few(self) -> None:
        if hasattr(self, "reader"):
            assert self.few() == []

    def few(self) -> list[frozenset[int]]:
        """What the reader can compute that is about fewer draws than the minimum batch."""
        for task in self.tasks:
            for window in range(COUNT) if self.store.task(task.id) is not None else ():
                self._read(self.store.release(task.id, window))
        return list(self.reader.sets(LEAST))

    def _read(self, document: bytes | None) -> None:
        if document is not None and document not in self.known:
            self.known.add(document)
            for part in json.loads(document)["questions"]:
                for told in (part, *part.get("groups", ())):
                    if "tally" in told:
                        self.reader.see(_counts(told["tally"]))


def _counts(tally: str) -> dict[int, int]:
    found = dn.load(b64decode(tally))
    assert isinstance(found, Tally)
    return {number: int(n) for number, n in enumerate(found.cells["support"][0]) if n}


def run(steps: int, **more: Any) -> None:
    chosen = settings(
        max_examples=max(1, steps // _PER_RUN),
        stateful_step_count=_PER_RUN,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        **more,
    )
    run_state_machine_as_test(Subtracting, settings=chosen)  # type: ignore[no-untyped-call]


def test_no_subtraction_is_about_few() -> None:
    run(120)


@pytest.mark.slow
def test_no_subtraction_is_about_few_for_long() -> None:
    run(STEPS)


# ---- rules that are switched off, one at a time


def _reports_by_combination(store: Any, intake: Intake, found: Any, question: str) -> Iterator[tuple[int, Any]]:
    """As reports were exported before: one lot for each combination of strata of a window that is published."""
    m, head = intake.mechanisms[0], len(intake.task.strata)
    told = {window.number for window in found if window.state == release.PUBLISHED}
    for batch in sorted(store.tallies(intake.task.id)):
        rows = sorted(body[head:] for body in store.reports(intake.task.id, batch)) if batch.window in told else []
        if rows:
            yield batch.window, Reports.from_rows(m.design, m.fields, rows, simulated=False)


def _every_combination(cells: Any, least: int, sizes: Any) -> list[Group]:
    return [Group((strata,), tally) for strata, tally in sorted(cells.items()) if tally.n]


FAULTS: dict[str, tuple[tuple[Any, str, Any], ...]] = {
    "copies are published again": ((release, "copies", lambda task: False),),
    "the journal is not heeded": (
        (journals, "applied", lambda session, entries: {}),
        (restoring, "_unknown", lambda session, entries: []),
    ),
    "lost ids are not heeded": ((restoring, "_unknown", lambda session, entries: []),),
    "doubtful windows are published": ((restoring, "_stopped", lambda session, found, ids, why: found),),
    "doubtful questions are asked again": ((restoring, "_claim", lambda session: None),),
    "reports lie by combination": ((release, "kept_reports", _reports_by_combination),),
    "small combinations stand alone": ((release, "groups", _every_combination),),
}
"""What is switched off: in which module, which name, and what it is replaced by."""


def test_who_forged_all_others_reads_the_report_that_is_left() -> None:
    """Nothing that a collector can do prevents it: the minimum batch promises a number of reports, not of people."""
    machine = Subtracting()
    try:
        machine.start(("fresh", "fresh"), siblings=False, strata=(False, False))
        machine.answer(0, range(1), 0, ())
        machine.forge(0, LEAST - 1, ())
        machine.a_day((NOBODY, NOBODY), 0, (), unseen=False)
        assert machine.few() == []
        (atom,) = machine.reader.atoms().values()
        assert len(atom) == LEAST
        machine.reader.see({draw: 1 for draw in atom if draw > 0})  # the attacker's own ones
        assert frozenset({0}) in machine.few()
    finally:
        machine.teardown()


ALL, MOST, NOBODY = range(5), range(4), range(0)


def _script(machine: Subtracting, fault: str) -> None:
    """The shortest way to what a fault lets a reader compute, found by hand."""
    here = (0, 0)
    if fault == "copies are published again":
        machine.start(("remembered", "fresh"), siblings=False, strata=(False, False))
        machine.a_day((MOST, NOBODY), 0, here, unseen=False)
        machine.a_day((ALL, NOBODY), 0, here, unseen=False)
    elif fault in ("the journal is not heeded", "doubtful windows are published"):
        machine.start(("fresh", "fresh"), siblings=False, strata=(False, False))
        machine.answer(0, MOST, 0, here)
        machine.backup()
        machine.a_day((ALL, NOBODY), 0, here, unseen=False)
        machine.nothing_is_about_few()
        machine.restore(0) if "journal" in fault else machine.restore_without_a_journal(0)
        machine.upkeep()
    elif fault == "lost ids are not heeded":
        machine.start(("fresh", "fresh"), siblings=False, strata=(False, False))
        machine.backup()
        machine.a_day((ALL, NOBODY), 0, here, unseen=False)
        machine.nothing_is_about_few()
        machine.restore(0)
        machine.answers_were_lost(MOST)
        machine.a_day((NOBODY, NOBODY), 0, here, unseen=False)
    elif fault == "doubtful questions are asked again":
        machine.start(("first", "fresh"), siblings=False, strata=(False, False))
        machine.backup()
        machine.a_day((MOST, NOBODY), 0, here, unseen=False)
        machine.nothing_is_about_few()
        machine.restore_without_a_journal(0)
        machine.answer(2, ALL, 0, here)
        machine.a_day((NOBODY, NOBODY), 0, here, unseen=False)
    else:
        machine.start(("fresh", "fresh"), siblings=False, strata=(True, False))
        machine.answer(0, range(1), 0, (1, 1))
        machine.a_day((ALL, NOBODY), 0, here, unseen=False)
        machine.export()


@contextmanager
def _planted(fault: str) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for module, name, wrong in FAULTS[fault]:
            assert hasattr(module, name)
            patch.setattr(module, name, wrong)
        yield


@pytest.mark.parametrize("fault", FAULTS)
def test_a_reader_finds_what_a_rule_prevents(fault: str) -> None:
    """The same acts, with the rule and without it."""
    for wrong in (False, True):
        machine = Subtracting()
        try:
            with _planted(fault) if wrong else nullcontext():
                _script(machine, fault)
                found = [len(each) for each in machine.few()]
            assert bool(found) == wrong
            assert all(n < LEAST for n in found)
        finally:
            machine.teardown()
