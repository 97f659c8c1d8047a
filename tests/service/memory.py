"""A store in memory, with the contract of the real ones, for tests of what stands before it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from threading import RLock

import numpy as np

from deniable.collect.tally import Tally
from deniable.service.ingest import Intake, window_of
from deniable.service.store.contract import (
    ACCEPTED,
    DUPLICATE,
    REJECTED,
    Batch,
    DraftRow,
    Ending,
    KeyRow,
    Outcome,
    SessionRow,
    StoreUnavailableError,
    TaskRow,
    Upload,
)


@dataclass
class MemorySessions:
    """Sessions of such a store."""

    alive: Callable[[], None]
    rows: dict[bytes, SessionRow] = field(default_factory=dict)

    def put(self, row: SessionRow) -> None:
        self.alive()
        self.rows[row.digest] = row

    def get(self, digest: bytes) -> SessionRow | None:
        self.alive()
        return self.rows.get(digest)

    def use(self, digest: bytes, idle: int) -> None:
        self.alive()
        if digest in self.rows:
            self.rows[digest] = replace(self.rows[digest], idle=idle)

    def end(self, digest: bytes) -> None:
        self.alive()
        self.rows.pop(digest, None)

    def forget(self, key: str) -> None:
        """End the sessions of a key."""
        self.rows = {digest: row for digest, row in self.rows.items() if row.key != key}

    def expire(self, now: int) -> int:
        before = len(self.rows)
        self.rows = {digest: row for digest, row in self.rows.items() if now < min(row.expires, row.idle)}
        return before - len(self.rows)


@dataclass
class MemoryStore:
    """Everything is in dictionaries; one lock makes each call whole."""

    fails: bool = False
    """Whether the database cannot be used now."""
    _tasks: dict[str, TaskRow] = field(default_factory=dict)
    _seen: dict[tuple[str, bytes], bytes] = field(default_factory=dict)
    _tallies: dict[str, dict[Batch, Tally]] = field(default_factory=dict)
    _sealed: dict[tuple[str, int], bytes | None] = field(default_factory=dict)
    _claims: dict[str, tuple[str, int]] = field(default_factory=dict)
    _rejected: dict[str, Counter[str]] = field(default_factory=dict)
    _keys: dict[str, KeyRow] = field(default_factory=dict)
    _drafts: dict[str, DraftRow] = field(default_factory=dict)
    _notes: dict[str, int] = field(default_factory=dict)
    purged: list[date] = field(default_factory=list)
    """The days on which something was to be erased."""
    _lock: RLock = field(default_factory=RLock)

    def __post_init__(self) -> None:
        self.sessions = MemorySessions(self._alive)

    def _alive(self) -> None:
        if self.fails:
            raise StoreUnavailableError("the database cannot be used now.")

    def identity(self) -> bytes:
        return bytes(32)

    def put_task(self, id: str, document: bytes) -> None:
        self._alive()
        self._tasks.setdefault(id, TaskRow(id, document, "draft"))

    def task(self, id: str) -> TaskRow | None:
        self._alive()
        return self._tasks.get(id)

    def tasks(self) -> Sequence[TaskRow]:
        self._alive()
        return list(self._tasks.values())

    def set_state(self, id: str, state: str) -> None:
        self._tasks[id] = replace(self._tasks[id], state=state)

    def add(self, uploads: Sequence[Upload]) -> list[list[Outcome]]:
        with self._lock:
            self._alive()
            return [self._add(upload) for upload in uploads]

    def _add(self, upload: Upload) -> list[Outcome]:
        row = self._tasks[upload.task]
        intake = Intake(row.document)
        window = window_of(intake.task, upload.today)
        closed = "not-open" if row.state != "open" else window if isinstance(window, str) else None
        if closed is None and (upload.task, window) in self._sealed:
            closed = "sealed"
        return [self._one(upload.task, intake, window, closed, *report) for report in upload.reports]

    def _one(self, task: str, intake: Intake, window: int | str, closed: str | None, id: bytes, body: bytes) -> Outcome:
        if self._seen.get((task, id)) == body:
            return Outcome(DUPLICATE)
        checked = intake.check([body])
        reason = "other-body" if (task, id) in self._seen else closed or checked.reasons[0]
        if reason is not None:
            self._rejected.setdefault(task, Counter())[reason] += 1
            return Outcome(REJECTED, reason)
        assert isinstance(window, int)
        counted = self._tallies.setdefault(task, {})
        for batch, tally, _ in intake.tallies(checked, np.array([0]), window):
            counted[batch] = counted[batch] + tally if batch in counted else tally
        self._seen[task, id] = body
        return Outcome(ACCEPTED)

    def tallies(self, task: str, window: int | None = None) -> Mapping[Batch, Tally]:
        self._alive()
        found = self._tallies.get(task, {})
        return {batch: tally for batch, tally in found.items() if window is None or batch.window == window}

    def reports(self, task: str, batch: Batch) -> Iterator[bytes]:
        return iter(())

    def rejections(self, task: str) -> Mapping[str, int]:
        self._alive()
        return dict(self._rejected.get(task, {}))

    def seal(self, task: str, window: int) -> None:
        self._sealed.setdefault((task, window), None)

    def release(self, task: str, window: int) -> bytes | None:
        self._alive()
        return self._sealed.get((task, window))

    def put_release(self, task: str, window: int, document: bytes) -> bytes:
        with self._lock:
            found = self._sealed.get((task, window)) or document
            self._sealed[task, window] = found
            return found

    def claimed(self, question: str) -> tuple[str, int] | None:
        return self._claims.get(question)

    def claim(self, question: str, task: str, window: int) -> tuple[str, int]:
        return self._claims.setdefault(question, (task, window))

    def drafts(self) -> Sequence[DraftRow]:
        return [self._drafts[id] for id in sorted(self._drafts)]

    def draft(self, id: str) -> DraftRow | None:
        return self._drafts.get(id)

    def put_draft(self, draft: DraftRow) -> bool:
        known = self._drafts.get(draft.id)
        if known is not None and known.changed != draft.changed - 1:
            return False
        self._drafts[draft.id] = draft
        return True

    def drop_draft(self, id: str) -> None:
        self._drafts.pop(id, None)

    def put_key(self, key: KeyRow, *, instead: Ending | None = None) -> None:
        self._keys[key.name] = key
        if instead is not None:
            self.revoke_key(instead.name, instead.day, later=instead.later)

    def keys(self) -> Sequence[KeyRow]:
        self._alive()
        return list(self._keys.values())

    def revoke_key(self, name: str, day: date, *, later: bool = False) -> None:
        with self._lock:
            key = self._keys[name]
            self._keys[name] = replace(key, revoked=day, digest=key.digest if later else b"")
            self.sessions.forget(name)

    def purge(self, today: date, failed: Callable[[str, Exception], None] | None = None) -> Mapping[str, int]:
        self._alive()
        self.purged.append(today)
        return {}

    def note(self, name: str) -> int | None:
        self._alive()
        return self._notes.get(name)

    def put_note(self, name: str, value: int) -> None:
        self._alive()
        self._notes[name] = value

    def settle(self) -> None:
        self._alive()

    def writable(self) -> None:
        self._alive()

    def advice(self) -> Sequence[str]:
        return []

    def check(self) -> Sequence[str]:
        return []

    def backup(self, path: Path) -> None:
        raise NotImplementedError

    def close(self) -> None:
        self.fails = True
