"""The store, for any engine: what is kept of tasks, reports, windows and keys, and in which transaction.

What is kept of a report that is counted, beside its place in the tally:

- a hash of its id, so that it is counted once. Ids have 128 random bits, so nobody finds an id from its hash;
- a mark of its body, keyed with the id, so that another body under the same id is refused. Without the id the mark says
  nothing about the body: trying all bodies does not help, with the whole database at hand and for ever. A mark has 32
  bits: one altered body in four billion is called a duplicate instead of being refused. It is not counted either way.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from hashlib import blake2b
from itertools import chain
from pathlib import Path

import numpy as np

from deniable.collect.tally import Tally
from deniable.core.types import BoolArray, Bytes, IntArray
from deniable.errors import DeniableError, FormatError, ParameterError, require
from deniable.service.access.identity import SEED_BYTES
from deniable.service.ingest import SKEW, Checked, Intake, check_strata, intake_of, window_of
from deniable.service.logs import log
from deniable.service.store import care
from deniable.service.store.contract import (
    ACCEPTED,
    DUPLICATE,
    ID_BYTES,
    REJECTED,
    SETTLE_SECONDS,
    STATES,
    Batch,
    DraftRow,
    Ending,
    Incoming,
    KeyRow,
    Outcome,
    StoreUnavailableError,
    TaskRow,
    Upload,
)
from deniable.service.store.engine import HASH, MARK, CrossedError, Engine, Row, Session
from deniable.service.store.journal import Journal, file_text
from deniable.service.store.rows import Recent, Shapes
from deniable.service.store.sessions import Sessions
from deniable.service.store.settling import Settler

__all__ = ["Database"]

_COUNTED, _AGAIN = Outcome(ACCEPTED), Outcome(DUPLICATE)
_PAGE = 1000
_TRIES = 4
_CACHED = 4096
"""Tasks that are remembered between commits."""


class Database:
    """A store on an engine; see `Store`."""

    def __init__(
        self, engine: Engine, journal: Journal | None = None, *, settle_seconds: float = SETTLE_SECONDS
    ) -> None:
        self.engine = engine
        self._journal = journal or Journal()
        self._settler = Settler(lambda log: engine.settle(log=log), seconds=settle_seconds, most=engine.most_fresh)
        self._intakes: dict[str, tuple[int, Intake]] = {}
        self._shapes: dict[int, Shapes] = {}
        self._recent = Recent()
        self._guard = threading.Lock()

    # ---- tasks

    def put_task(self, id: str, document: bytes) -> None:
        task = intake_of(document).task
        require(task.id == id, "id", id, f"the task's own, {task.id}")
        self._journal.ready(self.engine)
        with self.engine.write() as session:
            session.lock(0, alone=True)
            known = session.execute("SELECT document FROM tasks WHERE id = ?", (id,))
            if not known:
                check_strata(task.strata)
                session.execute(
                    "INSERT INTO tasks (number, id, document, state) "
                    "SELECT coalesce(max(number), 0) + 1, CAST(? AS TEXT), ?, 'draft' FROM tasks",
                    (id, document),
                )
            elif bytes(known[0][0]) != document:
                raise ParameterError(f"the task {id} is kept in another spelling already.", "Use the one that is kept.")

    def task(self, id: str) -> TaskRow | None:
        with self.engine.read() as session:
            found = session.execute("SELECT id, document, state FROM tasks WHERE id = ?", (id,))
        return TaskRow(found[0][0], bytes(found[0][1]), found[0][2]) if found else None

    def tasks(self) -> Sequence[TaskRow]:
        with self.engine.read() as session:
            found = session.execute("SELECT id, document, state FROM tasks ORDER BY number")
        return [TaskRow(id, bytes(document), state) for id, document, state in found]

    def set_state(self, id: str, state: str) -> None:
        require(state in STATES, "state", state, f"one of {', '.join(STATES)}")
        number = self._known(id)[0]
        self._journal.ready(self.engine)
        with self.engine.write() as session:
            session.lock(number, alone=True)
            now = _state(session, number)
            if STATES.index(state) < STATES.index(now):
                raise ParameterError(f"the task is {now} and cannot be {state} again.", "Make a new task.")
            if state != now:
                self._change(session, number, state)

    def _change(self, session: Session, number: int, state: str) -> None:
        """Give a task its next state, which a copy that is restored will have, too."""
        ((id, document),) = session.execute("SELECT id, document FROM tasks WHERE number = ?", (number,))
        if state == "open":
            self._journal.note(session, "opened", task=id, document=file_text(bytes(document)))
        elif state == "closed":
            self._journal.note(session, "closed", task=id)
        session.execute("UPDATE tasks SET state = ? WHERE number = ?", (state, number))

    # ---- reports

    def add(self, uploads: Sequence[Upload]) -> list[list[Outcome]]:
        groups: dict[tuple[str, date], list[int]] = {}
        for place, upload in enumerate(uploads):
            groups.setdefault((upload.task, upload.today), []).append(place)
        results: list[list[Outcome]] = [[Outcome(REJECTED, "not-open")] * len(upload.reports) for upload in uploads]
        jobs: list[tuple[_Job, list[int]]] = []
        for (task, today), places in groups.items():
            job = self._job(task, today, [uploads[i] for i in places])
            if job is not None:
                jobs.append((job, places))
        jobs.sort(key=lambda each: (each[0].number, each[0].today))  # everybody goes through tasks in one order
        for (_, places), outcomes in zip(jobs, self._decided([job for job, _ in jobs]), strict=True):
            left = iter(outcomes)
            for place in places:
                results[place] = [next(left) for _ in uploads[place].reports]
        counted = sum(outcome is _COUNTED for result in results for outcome in result)
        if counted:
            self._settler.touch(counted)
        return results

    def _decided(self, jobs: Sequence[_Job], tries: int = _TRIES) -> list[list[Outcome]]:
        """The outcomes of jobs, in one durable transaction; once more if another one crossed it."""
        try:
            with self.engine.write() as session:
                for number in sorted({job.number for job in jobs}):
                    session.lock(number)
                return [self._decide(session, job) for job in jobs]
        except CrossedError:
            if tries == 1:
                raise
            return self._decided(jobs, tries - 1)

    def _job(self, task: str, today: date, uploads: Sequence[Upload]) -> _Job | None:
        """What can be done before the transaction; None for a task that is not known."""
        try:
            number, intake = self._known(task)
        except ParameterError:
            return None
        reports = [report for upload in uploads for report in upload.reports]
        return _Job(number, intake, today, reports)

    def _decide(self, session: Session, job: _Job) -> list[Outcome]:
        """Decide about all reports of a job, count and keep those that are new; outcomes in their order."""
        window = _open_window(session, job)
        outcomes = [_COUNTED if reason is None else Outcome(REJECTED, reason) for reason in job.checked.reasons]
        fresh = np.zeros(len(job.firsts), np.bool_)
        if isinstance(window, int):
            fresh = session.add_ids(job.number, job.rows[job.firsts])
            chosen = job.candidates[job.firsts[fresh]]
            self._count(session, job, np.sort(chosen), window)
        if not fresh.all() or len(job.firsts) < len(job.rows):
            self._explain(session, job, fresh, str(window), outcomes)
        counts: dict[str, int] = {}
        for outcome in outcomes:
            if outcome.reason is not None:
                counts[outcome.reason] = counts.get(outcome.reason, 0) + 1
        for reason, n in sorted(counts.items()):
            session.execute(
                "INSERT INTO rejections (task, reason, shard, n) VALUES (?, ?, ?, ?) "
                "ON CONFLICT (task, reason, shard) DO UPDATE SET n = rejections.n + excluded.n",
                (job.number, reason, self.engine.shard, n),
            )
        return outcomes

    def _explain(self, session: Session, job: _Job, fresh: BoolArray, reason: str, outcomes: list[Outcome]) -> None:
        """The outcomes of reports whose ids were known before, or occur twice here, or that are in no open window."""
        marks = job.rows[job.firsts, HASH:].copy()
        known = fresh.copy()
        old = np.flatnonzero(~fresh)
        found, theirs = session.marks(job.number, job.rows[job.firsts[old]])
        known[old[found]], marks[old[found]] = True, theirs
        same = (job.rows[:, HASH:] == marks[job.group]).all(axis=1)
        counted = np.zeros(len(job.rows), np.bool_)
        counted[job.firsts[fresh]] = True
        for row in np.flatnonzero(~counted).tolist():
            why = None if same[row] else "other-body"
            if not known[job.group[row]]:
                why = reason
            outcomes[int(job.candidates[row])] = _AGAIN if why is None else Outcome(REJECTED, why)

    def _count(self, session: Session, job: _Job, chosen: IntArray, window: int) -> None:
        for batch, tally, rows in job.intake.tallies(job.checked, chosen, window) if chosen.size else ():
            self._add_tally(session, job, batch, tally)
            if job.intake.task.keep == "reports":
                bodies = np.concatenate([job.hash_of(rows), job.checked.table[rows]], axis=1)
                session.add_bodies(job.number, batch, bodies)

    def _add_tally(self, session: Session, job: _Job, batch: Batch, tally: Tally) -> None:
        number, shapes = job.number, self._shape(job.number, job.intake)
        place = (number, batch.window, batch.question, bytes(batch.strata), self.engine.shard)
        where = "WHERE task = ? AND window_number = ? AND question = ? AND strata = ? AND shard = ?"
        found = session.execute(f"SELECT tally FROM tallies {where}", place)
        if found:
            data = bytes(found[0][0])
            tally = (self._recent.of((number, batch), data) or shapes.unpack(batch.question, data)) + tally
        data = shapes.pack(batch.question, tally)
        if found:
            session.execute(f"UPDATE tallies SET tally = ? {where}", (data, *place))
        else:
            session.execute("INSERT INTO tallies VALUES (?, ?, ?, ?, ?, ?)", (*place, data))
        self._recent.keep((number, batch), data, tally)

    def _shape(self, number: int, intake: Intake) -> Shapes:
        """How tallies of a task are kept."""
        if number not in self._shapes:
            if len(self._shapes) >= _CACHED:
                self._shapes.clear()
            self._shapes[number] = Shapes(intake)
        return self._shapes[number]

    def tallies(self, task: str, window: int | None = None) -> Mapping[Batch, Tally]:
        number, intake = self._known(task)
        with self.engine.read() as session:
            return care.tallies_of(session, number, Shapes(intake), window)

    def reports(self, task: str, batch: Batch) -> Iterator[bytes]:
        number, last = self._known(task)[0], b""
        while True:
            with self.engine.read() as session:
                found = session.execute(
                    "SELECT id, body FROM kept WHERE task = ? AND window_number = ? AND question = ? AND strata = ? "
                    f"AND id > ? ORDER BY id LIMIT {_PAGE}",
                    (number, batch.window, batch.question, bytes(batch.strata), last),
                )
            yield from (bytes(body) for _, body in found)
            if len(found) < _PAGE:
                return
            last = bytes(found[-1][0])

    def rejections(self, task: str) -> Mapping[str, int]:
        number = self._known(task)[0]
        sql = "SELECT reason, sum(n) FROM rejections WHERE task = ? GROUP BY reason ORDER BY reason"
        with self.engine.read() as session:
            return {reason: int(n) for reason, n in session.execute(sql, (number,))}

    # ---- releases

    def seal(self, task: str, window: int) -> None:
        number = self._window(task, window)
        self._journal.ready(self.engine)
        with self.engine.write() as session:
            session.lock(number, alone=True)
            if not session.execute(_SEALED, (number, window)):
                self._journal.note(session, "sealed", task=task, window=window)
                session.execute(_SEAL, (number, window))

    def release(self, task: str, window: int) -> bytes | None:
        number = self._window(task, window)
        with self.engine.read() as session:
            found = session.execute(_SEALED, (number, window))
        return bytes(found[0][0]) if found and found[0][0] is not None else None

    def put_release(self, task: str, window: int, document: bytes) -> bytes:
        number = self._window(task, window)
        self._journal.ready(self.engine)
        with self.engine.write() as session:
            session.lock(number, alone=True)
            known = session.execute(_SEALED, (number, window))
            if known and known[0][0] is not None:
                return bytes(known[0][0])
            self._journal.note(session, "released", task=task, window=window, document=file_text(document))
            session.execute(_SEAL, (number, window))
            session.execute(
                "UPDATE sealed SET document = ? WHERE task = ? AND window_number = ?", (document, number, window)
            )
            return document

    def claimed(self, question: str) -> tuple[str, int] | None:
        with self.engine.read() as session:
            return _claimed(session, question)

    def claim(self, question: str, task: str, window: int) -> tuple[str, int]:
        number = self._window(task, window)
        with self.engine.write() as session:
            session.lock(0, alone=True)
            session.execute("INSERT INTO once VALUES (?, ?, ?) ON CONFLICT DO NOTHING", (question, number, window))
            found = _claimed(session, question)
        assert found is not None  # it was noted above, if not before
        return found

    # ---- who the collector is

    def identity(self) -> bytes:
        with self.engine.write() as session:
            session.lock(0, alone=True)
            found = session.execute("SELECT seed FROM identity WHERE name = 'collector'")
            if found:
                return bytes(found[0][0])
            seed = os.urandom(SEED_BYTES)
            session.execute("INSERT INTO identity (name, seed) VALUES ('collector', ?)", (seed,))
            return seed

    # ---- questionnaires

    def drafts(self) -> Sequence[DraftRow]:
        with self.engine.read() as session:
            return [_draft(row) for row in session.execute(f"{_DRAFTS} ORDER BY id")]

    def draft(self, id: str) -> DraftRow | None:
        with self.engine.read() as session:
            found = session.execute(f"{_DRAFTS} WHERE id = ?", (id,))
        return _draft(found[0]) if found else None

    def put_draft(self, draft: DraftRow) -> bool:
        row = (draft.id, draft.changed, draft.document, draft.trial, draft.task)
        with self.engine.write() as session:
            return bool(session.execute(_PUT_DRAFT, row))

    def drop_draft(self, id: str) -> None:
        with self.engine.write() as session:
            session.execute("DELETE FROM drafts WHERE id = ?", (id,))

    # ---- keys

    def put_key(self, key: KeyRow, *, instead: Ending | None = None) -> None:
        self._journal.ready(self.engine)
        with self.engine.write() as session:
            session.lock(0, alone=True)
            if instead is not None:
                found = session.execute("SELECT revoked FROM keys WHERE name = ?", (instead.name,))
                require(bool(found) and found[0][0] is None, "name", instead.name, "a key that is not revoked")
            if session.execute("SELECT 1 FROM keys WHERE name = ?", (key.name,)):
                raise ParameterError(f"there is a key named {key.name!r} already.", "Give the new one another name.")
            revoked = None if key.revoked is None else key.revoked.isoformat()
            session.execute(
                "INSERT INTO keys (name, role, digest, created, revoked) VALUES (?, ?, ?, ?, ?)",
                (key.name, key.role, key.digest, key.created.isoformat(), revoked),
            )
            if instead is not None:
                _end(session, self._journal, instead)

    def keys(self) -> Sequence[KeyRow]:
        with self.engine.read() as session:
            found = session.execute("SELECT name, role, digest, created, revoked FROM keys ORDER BY created, name")
        return [
            KeyRow(name, role, bytes(digest), date.fromisoformat(created), date.fromisoformat(gone) if gone else None)
            for name, role, digest, created, gone in found
        ]

    def revoke_key(self, name: str, day: date, *, later: bool = False) -> None:
        """See `Store.revoke_key`: a key without its hash is nobody's, also where the clock is a day behind."""
        self._journal.ready(self.engine)
        with self.engine.write() as session:
            session.lock(0, alone=True)
            if not session.execute("SELECT 1 FROM keys WHERE name = ?", (name,)):
                raise ParameterError(f"there is no key named {name!r}.", "See deniable key list.")
            _end(session, self._journal, Ending(name, day, later))

    @property
    def sessions(self) -> Sessions:
        return Sessions(self.engine)

    # ---- care

    def purge(self, today: date, failed: Callable[[str, Exception], None] | None = None) -> Mapping[str, int]:
        """See `Store.purge`: a task whose ids are dropped is closed for ever, so that nothing is counted again.

        The clock may be wrong: then a task is closed too early, but no report counts twice.
        """
        gone = {"ids": 0, "bodies": 0}
        for row in self.tasks():
            try:
                self._purge(row, today, gone)
            except StoreUnavailableError:
                raise
            except Exception as error:
                if failed is None:
                    raise
                failed(row.id, error)
        if not care.erase(self.engine, today):
            self.settle()
        return gone

    def _purge(self, row: TaskRow, today: date, gone: dict[str, int]) -> None:
        number, intake = self._known(row.id)
        kept_until = intake.task.closes + max(SKEW, timedelta(intake.task.keep_days))
        if row.state == "closed" or today >= intake.task.closes + SKEW:
            gone["ids"] += self._drop(number, "seen", close=row.state != "closed")
        if today >= kept_until:
            gone["bodies"] += self._drop(number, "kept", close=False)

    def settle(self) -> None:
        self.engine.settle(log=True)

    def settle_soon(self) -> None:
        """For the start of a service: settle at once, and see to what one that was killed has left.

        A thread of its own does it; what cannot be done now is tried again. Rows that are not in order are written anew
        by the next `purge`.
        """
        if self.engine.disorder():
            with self.engine.write() as session:
                care.note_erase(session)
        self._settler.soon()

    def writable(self) -> None:
        self.engine.writable()

    def advice(self) -> Sequence[str]:
        return list(self.engine.advice())

    def _drop(self, number: int, table: str, *, close: bool) -> int:
        """Delete a task's rows; how many there were."""
        count = f"SELECT count(*) FROM {table} WHERE task = ?"
        self._journal.ready(self.engine)
        if not close:
            with self.engine.read(patient=True) as session:
                if not session.execute(count, (number,))[0][0]:
                    return 0
        with self.engine.write(patient=True) as session:
            session.lock(number, alone=True)
            n = int(session.execute(count, (number,))[0][0])
            if close:
                self._change(session, number, "closed")
            if n:
                session.execute(f"DELETE FROM {table} WHERE task = ?", (number,))
                care.note_erase(session)
        return n

    def note(self, name: str) -> int | None:
        with self.engine.read() as session:
            found = session.execute("SELECT value FROM meta WHERE name = ?", (name,))
        return int(found[0][0]) if found else None

    def put_note(self, name: str, value: int) -> None:
        with self.engine.write() as session:
            session.execute(_NOTE, (name, value))

    def check(self) -> Sequence[str]:
        found: list[str] = []
        try:
            for fault in chain(self.engine.faults(), care.faults(self.engine)):
                found.append(fault)  # what was found before a page that cannot be read counts too
        except FormatError as error:
            found.append(str(error))
        return found

    def backup(self, path: Path) -> None:
        care.backup(self.engine, path)

    def close(self) -> None:
        """See `Store.close`: settled first, if it is not."""
        try:
            if self._settler.stop():
                self.engine.settle()
        except DeniableError as error:
            log("erasing is late: the next start does it", why=str(error))
        finally:
            self.engine.close()

    # ---- what is known

    def _known(self, id: str) -> tuple[int, Intake]:
        """The number of a task and what checks its reports; neither ever changes."""
        found = self._intakes.get(id)
        if found is None:
            with self.engine.read() as session:
                rows = session.execute("SELECT number, document FROM tasks WHERE id = ?", (id,))
            if not rows:
                raise ParameterError(f"there is no task {id!r}.", "See deniable task list.")
            found = int(rows[0][0]), intake_of(bytes(rows[0][1]))
            with self._guard:
                if len(self._intakes) >= _CACHED:
                    self._intakes.clear()
                self._intakes[id] = found
        return found

    def _window(self, task: str, window: int) -> int:
        number, intake = self._known(task)
        count = intake.task.count
        require(0 <= window < count, "window", window, f"a number from 0 to {count - 1}")
        return number


_NOTE = "INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
_SEAL = "INSERT INTO sealed (task, window_number) VALUES (?, ?) ON CONFLICT DO NOTHING"
_DRAFTS = "SELECT id, changed, document, trial, task FROM drafts"
_PUT_DRAFT = (
    "INSERT INTO drafts (id, changed, document, trial, task) VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET "
    "changed = excluded.changed, document = excluded.document, trial = excluded.trial, task = excluded.task "
    "WHERE drafts.changed = excluded.changed - 1 RETURNING id"
)
_SEALED = "SELECT document FROM sealed WHERE task = ? AND window_number = ?"


class _Job:
    """Reports of one task that arrived on one day, looked at before the transaction begins."""

    def __init__(self, number: int, intake: Intake, today: date, reports: Sequence[Incoming]) -> None:
        for report in reports:
            if len(report.id) != ID_BYTES:
                raise ParameterError(f"the id of a report has {ID_BYTES} bytes, got {len(report.id)}.")
        self.number, self.intake, self.today = number, intake, today
        self.checked: Checked = intake.check([report.body for report in reports])
        self.candidates: IntArray = np.flatnonzero(self.checked.fine)
        """Reports that some device can have sent, in the order of their hashes, first come first."""
        rows = _hashed([reports[i] for i in self.candidates.tolist()])
        words = np.ascontiguousarray(rows[:, :HASH]).view(">u8")
        order = np.lexsort((words[:, 1], words[:, 0]))
        self.candidates, self.rows = self.candidates[order], rows[order]
        words = words[order]
        starts = np.ones(len(order), np.bool_)
        starts[1:] = (words[1:] != words[:-1]).any(axis=1)
        self.firsts: IntArray = np.flatnonzero(starts)
        """The first report of each id among `rows`."""
        self.group: IntArray = np.cumsum(starts) - 1
        """To which of `firsts` each row belongs."""

    def hash_of(self, reports: IntArray) -> Bytes:
        """The hashes of the ids of some reports, by their numbers."""
        back = np.empty(len(self.checked.table), np.int64)
        back[self.candidates] = np.arange(len(self.candidates))
        return self.rows[back[reports], :HASH]


def _hashed(reports: Sequence[Incoming]) -> Bytes:
    """What is kept of each report: the hash of its id, and the mark of its body."""
    parts = []
    for id, body in reports:
        parts += [blake2b(id, digest_size=HASH).digest(), blake2b(body, digest_size=MARK, key=id).digest()]
    return np.frombuffer(b"".join(parts), np.uint8).reshape(len(reports), HASH + MARK)


def _open_window(session: Session, job: _Job) -> int | str:
    """The window in which these reports are counted, or the reason why they are not."""
    if _state(session, job.number) != "open":
        return "not-open"
    window = window_of(job.intake.task, job.today)
    if isinstance(window, int) and session.execute(_SEALED, (job.number, window)):
        return "sealed"
    return window


def _state(session: Session, number: int) -> str:
    return str(session.execute("SELECT state FROM tasks WHERE number = ?", (number,))[0][0])


def _end(session: Session, journal: Journal, key: Ending) -> None:
    """A key ends, and so do the sessions of who signed in with it; it never ends later than was said once."""
    day = key.day.isoformat()
    journal.note(session, "revoked", key=key.name, on=day, void=not key.later)
    sql = "UPDATE keys SET revoked = ? WHERE name = ? AND (revoked IS NULL OR revoked > ?)"
    session.execute(sql, (day, key.name, day))
    if not key.later:
        session.execute("UPDATE keys SET digest = ? WHERE name = ?", (b"", key.name))
    session.execute("DELETE FROM sessions WHERE key_name = ?", (key.name,))


def _draft(row: Row) -> DraftRow:
    id, changed, document, trial, task = row
    return DraftRow(id, int(changed), bytes(document), None if trial is None else bytes(trial), task)


def _claimed(session: Session, question: str) -> tuple[str, int] | None:
    sql = "SELECT id, window_number FROM once JOIN tasks ON number = task WHERE question = ?"
    found = session.execute(sql, (question,))
    return (str(found[0][0]), int(found[0][1])) if found else None
