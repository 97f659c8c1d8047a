"""A database from a copy: what was published, closed or revoked since the copy was made stays so, or nobody knows."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from deniable.errors import FormatError, ParameterError
from deniable.service.ingest import Intake
from deniable.service.store import journal as journals
from deniable.service.store.care import copy_rows, migrate, tallies_of, version_of
from deniable.service.store.engine import Engine, Session
from deniable.service.store.rows import Shapes
from deniable.service.store.sqlite import SqliteEngine
from deniable_client.task import Task

__all__ = ["Restored", "restore"]


@dataclass(frozen=True, slots=True)
class Restored:
    """What was done to a copy that was restored, beside copying it."""

    rows: dict[str, int] = field(default_factory=dict)
    """How many rows of each table were copied."""
    journal: str | None = None
    noted: dict[str, int] = field(default_factory=dict)
    """What the journal knew that the copy did not: releases, seals, tasks that were opened or closed, keys revoked."""
    closed: list[str] = field(default_factory=list)
    """Tasks that had to be closed: for want of a journal, or of the ids of reports that are published."""
    voided: int = 0
    """Windows of these tasks of which nothing will be published."""
    revoked: list[str] = field(default_factory=list)
    """Keys that were made void for want of a journal."""


def restore(
    path: Path,
    engine: Engine,
    told: Callable[[str, int], None] = lambda table, rows: None,
    *,
    journal: Path | None = None,
    own: Path | None = None,
    today: date,
) -> Restored:
    """Fill an empty database from a copy, in one transaction; `told` hears how many rows of a table are copied.

    With the `journal` of the database that was copied, what was published, closed or revoked since then stays so. A
    task of which reports are published that the copy does not know is closed: their ids are lost, so a device that
    sends one again would be counted in a second release. Without a journal nobody knows: all tasks are closed, windows
    that are not published in the copy never will be, and all keys are void from `today` on. `own`: where the restored
    database has its journal, if not in the same file.
    """
    if not path.is_file():
        raise ParameterError(f"there is no backup {path}.", "Give the path of a file that deniable store backup wrote.")
    if version_of(engine) and _filled(engine):
        raise ParameterError("the database has tasks or keys already.", "Restore into a new one.")
    found = Restored(journal=None if journal is None else str(journal))
    with TemporaryDirectory() as folder:
        source = SqliteEngine(shutil.copy(path, folder))
        try:
            if not version_of(source):
                raise FormatError(f"{path} is not a backup of a store.")
            migrate(source)
            migrate(engine)
            with source.read() as read, engine.write() as write:
                found.rows.update(copy_rows(read, write, told))
                if journal is not None:
                    entries = journals.since(journal, read)
                    found.noted.update(journals.applied(write, entries))
                    found = _stopped(write, found, _unknown(write, entries), _LOST)
                else:
                    found = _stopped(write, found, _all(write), _DOUBT)
                    _claim(write)
                    found = _revoked(write, found, today)
                journals.continued(write, journal, own)
        finally:
            source.close()
    return found


_DOUBT = "restored from a copy without its journal: nobody knows whether this window was published before"
_LOST = "restored from a copy that lacks reports which are published: nobody can tell whether they are sent again"


def _all(session: Session) -> list[str]:
    return [id for (id,) in session.execute("SELECT id FROM tasks ORDER BY number")]


def _unknown(session: Session, entries: Sequence[Mapping[str, Any]]) -> list[str]:
    """Tasks with windows that were published after the copy was made, of which the copy does not have all reports.

    A database only adds reports, so the copy has all of them if it has as many; unless another copy was restored since.
    """
    other = any(entry["what"] == journals.RESTORED for entry in entries)
    found = []
    for id, window in sorted({(entry["task"], entry["window"]) for entry in entries if entry["what"] == "released"}):
        ((number, document),) = session.execute(
            "SELECT number, sealed.document FROM sealed JOIN tasks ON number = task WHERE id = ? AND window_number = ?",
            (id, window),
        )
        told = json.loads(bytes(document))
        counted = sum(tally.n for tally in tallies_of(session, number, _shapes(session, number), window).values())
        if told["state"] == "published" and (other or told["reports"] != counted) and id not in found:
            found.append(id)
    return found


def _shapes(session: Session, number: int) -> Shapes:
    ((document,),) = session.execute("SELECT document FROM tasks WHERE number = ?", (number,))
    return Shapes(Intake(bytes(document)))


def _stopped(session: Session, found: Restored, ids: Sequence[str], why: str) -> Restored:
    """Close tasks and withhold all of them that is not published, for ever."""
    closed, windows = [], 0
    for id in ids:
        ((number, document, state),) = session.execute("SELECT number, document, state FROM tasks WHERE id = ?", (id,))
        task = Intake(bytes(document)).task
        windows += _withhold(session, number, task, why)
        if state != "closed":
            session.execute("UPDATE tasks SET state = 'closed' WHERE number = ?", (number,))
            closed.append(id)
    return replace(found, closed=closed, voided=windows)


def _claim(session: Session) -> None:
    """Nor are questions whose draws may be sent again published by a task that asks them once more."""
    from deniable.service.release import copies

    for number, document in session.execute("SELECT number, document FROM tasks ORDER BY number"):
        task = Intake(bytes(document)).task
        for question in task.questions if copies(task) else ():
            row = (question.key, number, 0)
            session.execute("INSERT INTO once VALUES (?, ?, ?) ON CONFLICT DO NOTHING", row)


def _withhold(session: Session, number: int, task: Task, why: str) -> int:
    """Withhold every window of a task that is not published; how many."""
    from deniable.service.release import voided

    known = session.execute("SELECT window_number FROM sealed WHERE task = ? AND document IS NOT NULL", (number,))
    counts: dict[tuple[int, int], int] = {}
    for (window, question, _), tally in tallies_of(session, number, _shapes(session, number)).items():
        counts[window, question] = counts.get((window, question), 0) + tally.n
    todo = sorted(set(range(task.count)) - {window for (window,) in known})
    for window in todo:
        reports = [counts.get((window, question), 0) for question in range(len(task.questions))]
        session.execute("DELETE FROM sealed WHERE task = ? AND window_number = ?", (number, window))
        row = (number, window, voided(task, window, reports, why))
        session.execute("INSERT INTO sealed (task, window_number, document) VALUES (?, ?, ?)", row)
    return len(todo)


def _revoked(session: Session, found: Restored, today: date) -> Restored:
    """Make all keys void."""
    day = today.isoformat()
    keys = session.execute("SELECT name FROM keys WHERE revoked IS NULL OR revoked > ? ORDER BY name", (day,))
    session.execute("UPDATE keys SET revoked = ?, digest = ? WHERE revoked IS NULL OR revoked > ?", (day, b"", day))
    return replace(found, revoked=[name for (name,) in keys])


def _filled(engine: Engine) -> bool:
    with engine.read() as session:
        return any(session.execute(f"SELECT 1 FROM {table} LIMIT 1") for table in ("tasks", "keys"))
