"""Looking after a store: versions, checks, copies, and what is to be erased from its files."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from deniable.errors import DeniableError, FormatError, ParameterError
from deniable.service.ingest import Intake
from deniable.service.store import journal as journals
from deniable.service.store import schema
from deniable.service.store.contract import Batch
from deniable.service.store.engine import Engine, Session
from deniable.service.store.rows import Shapes, Tallies
from deniable.service.store.sqlite import SqliteEngine

__all__ = [
    "Restored",
    "backup",
    "erase",
    "faults",
    "migrate",
    "note_erase",
    "restore",
    "tallies_of",
]

_LOT = 5000
_ERASE, _SORTED = "erase", "sorted"
"""Notes in the table `meta`: something was deleted; the day on which tables were last written in order."""


# ---- versions


def version_of(engine: Engine) -> int:
    """The version of a database; 0 if it is empty."""
    with engine.read() as session:
        return _version(session)


def _version(session: Session) -> int:
    if not session.has("meta"):
        return 0
    return int(session.execute("SELECT value FROM meta WHERE name = 'version'")[0][0])


def migrate(engine: Engine, *, only_new: bool = False) -> tuple[int, int]:
    """Bring a database to the newest version, step by step, each in one transaction; the versions before and after.

    With `only_new` an empty database gets its tables and an older one is refused.
    """
    before = version_of(engine)
    newest = len(schema.MIGRATIONS)
    if before > newest:
        raise FormatError(
            f"the database has version {before}, this program knows versions up to {newest}.", "Upgrade deniable."
        )
    if only_new and 0 < before < newest:
        raise FormatError(
            f"the database has version {before}, this program needs {newest}.",
            "Make a backup, then run deniable store migrate.",
        )
    for number in range(before, newest):
        _step(engine, number)
    return before, newest


def _step(engine: Engine, number: int) -> None:
    """From version `number` to the next, unless another process was faster."""
    with engine.write() as session:
        session.lock(0, alone=True)
        if _version(session) != number:
            return
        for statement in schema.MIGRATIONS[number]:
            session.execute(statement.format(**engine.words()))
        if number == 0:
            session.execute("INSERT INTO meta (name, value) VALUES ('version', 1)")
        else:
            session.execute("UPDATE meta SET value = ? WHERE name = 'version'", (number + 1,))


# ---- erasing


def note_erase(session: Session) -> None:
    """Remember, in the transaction that deletes, that files still have to be cleaned: a number that grows."""
    sql = "INSERT INTO meta (name, value) VALUES (?, 1) ON CONFLICT (name) DO UPDATE SET value = meta.value + 1"
    session.execute(sql, (_ERASE,))


def erase(engine: Engine, today: date) -> bool:
    """Clean the files if something was deleted, or if the order of another day is still in them; whether they were.

    The note is taken back only as it was before: what somebody else deletes meanwhile stays noted.
    """
    noted = _noted(engine, _ERASE)
    if noted is None and _noted(engine, _SORTED) == today.toordinal():
        return False
    engine.erase()
    with engine.write() as session:
        session.execute("DELETE FROM meta WHERE name = ? AND value = ?", (_ERASE, noted or 0))
        sql = "INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
        session.execute(sql, (_SORTED, today.toordinal()))
    return True


def _noted(engine: Engine, name: str) -> int | None:
    with engine.read() as session:
        found = session.execute("SELECT value FROM meta WHERE name = ?", (name,))
    return int(found[0][0]) if found else None


# ---- checks


def tallies_of(session: Session, number: int, shapes: Shapes, window: int | None = None) -> Tallies:
    """What has been counted for a task, or for one of its windows."""
    only, given = ("", (number,)) if window is None else (" AND window_number = ?", (number, window))
    rows = session.execute(
        f"SELECT window_number, question, strata, tally FROM tallies WHERE task = ?{only} "
        "ORDER BY window_number, question, strata, shard",
        given,
    )
    found: dict[Batch, list[bytes]] = {}
    for window_number, question, strata, data in rows:
        found.setdefault(Batch(window_number, question, tuple(bytes(strata))), []).append(bytes(data))
    return Tallies(found, shapes)


def faults(engine: Engine) -> Iterator[str]:
    """What does not fit together: ids and tallies, bodies and tallies, tallies and tasks."""
    with engine.read(patient=True) as session:
        tasks = session.execute("SELECT number, id, document, state FROM tasks ORDER BY number")
        numbers = {row[0] for row in tasks}
        for table in ("seen", "tallies", "kept", "rejections", "sealed", "once"):
            stray = session.execute(f"SELECT DISTINCT task FROM {table}")
            yield from (f"{table}: there is no task number {n}" for (n,) in stray if n not in numbers)
        for number, id, document, state in tasks:
            try:
                yield from (f"task {id}: {what}" for what in _task_faults(session, number, bytes(document), state))
            except DeniableError as error:
                yield f"task {id}: {error}"


def _task_faults(session: Session, number: int, document: bytes, state: str) -> Iterator[str]:
    intake = Intake(document)
    tallies = tallies_of(session, number, Shapes(intake))
    counted = 0
    for batch, tally in tallies.items():
        counted += tally.n
        if batch.question >= len(intake.mechanisms) or tally.design != intake.mechanisms[batch.question].design:
            yield f"the tally of {batch} is not of the task's design"
            return
        made = intake.mechanisms[batch.question]
        made.bulk.refuse_impossible(dict(tally.cells))
        (bodies,) = session.execute(
            "SELECT count(*) FROM kept WHERE task = ? AND window_number = ? AND question = ? AND strata = ?",
            (number, batch.window, batch.question, bytes(batch.strata)),
        )[0]
        if bodies not in (0, tally.n):
            yield f"{bodies} reports are kept and {tally.n} counted in {batch}"
    (ids,) = session.execute("SELECT count(*) FROM seen WHERE task = ?", (number,))[0]
    if ids != counted and not (state == "closed" and ids == 0):
        yield f"{ids} ids are known and {counted} reports are counted"


# ---- copies


def backup(engine: Engine, path: Path) -> None:
    """A consistent copy as an SQLite file, whole or not at all, whatever the engine; only its owner may read it."""
    if path.exists():
        raise ParameterError(f"{path} exists.", "Give the backup a name of its own.")
    part = path.with_name(f".{path.name}.{os.urandom(6).hex()}.part")
    try:
        os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        copied = engine.copy(part)
        target = SqliteEngine(part)
        try:
            if copied:
                _forget(target)
            else:
                migrate(target)
                with engine.read() as read, target.write() as write:
                    _copy(read, write)
            target.empty_log()
        finally:
            target.close()
        with part.open("rb+") as file:
            os.fsync(file.fileno())
        part.rename(path)
        journals.sync_folder(path.parent)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


@dataclass(frozen=True, slots=True)
class Restored:
    """What was done to a copy that was restored, beside copying it."""

    rows: dict[str, int] = field(default_factory=dict)
    """How many rows of each table were copied."""
    journal: str | None = None
    noted: dict[str, int] = field(default_factory=dict)
    """What the journal knew that the copy did not: releases, seals, tasks that were opened or closed, keys revoked."""
    closed: list[str] = field(default_factory=list)
    """Tasks that were closed for want of a journal."""
    voided: int = 0
    """Windows of which nothing will be published, for want of a journal."""
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

    With the `journal` of the database that was copied, what was published, closed or revoked since then stays so.
    Without it nobody knows: all tasks are closed, windows that are not published in the copy never will be, and all
    keys are void from `today` on. `own`: where the restored database has its journal, if not in the same file.
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
                found.rows.update(_copy(read, write, told))
                if journal is not None:
                    found.noted.update(journals.applied(write, journals.since(journal, read)))
                else:
                    found = _doubtful(write, found, today)
                journals.continued(write, journal, own)
        finally:
            source.close()
    return found


_DOUBT = "restored from a copy without its journal: nobody knows whether this window was published before"


def _doubtful(session: Session, found: Restored, today: date) -> Restored:
    """Close and withhold all that may have been published since the copy was made."""
    from deniable.service.release import voided

    windows, closed = 0, []
    for number, id, document, state in session.execute("SELECT number, id, document, state FROM tasks ORDER BY number"):
        intake = Intake(bytes(document))
        task = intake.task
        known = session.execute("SELECT window_number FROM sealed WHERE task = ? AND document IS NOT NULL", (number,))
        counts: dict[tuple[int, int], int] = {}
        for (window, question, _), tally in tallies_of(session, number, Shapes(intake)).items():
            counts[window, question] = counts.get((window, question), 0) + tally.n
        todo = sorted(set(range(task.count)) - {window for (window,) in known})
        for window in todo:
            reports = [counts.get((window, question), 0) for question in range(len(task.questions))]
            session.execute("DELETE FROM sealed WHERE task = ? AND window_number = ?", (number, window))
            row = (number, window, voided(task, window, reports, _DOUBT))
            session.execute("INSERT INTO sealed (task, window_number, document) VALUES (?, ?, ?)", row)
        windows += len(todo)
        if state != "closed":
            session.execute("UPDATE tasks SET state = 'closed' WHERE number = ?", (number,))
            closed.append(id)
    day = today.isoformat()
    keys = session.execute("SELECT name FROM keys WHERE revoked IS NULL OR revoked > ? ORDER BY name", (day,))
    session.execute("UPDATE keys SET revoked = ? WHERE revoked IS NULL OR revoked > ?", (day, day))
    return replace(found, closed=closed, voided=windows, revoked=[name for (name,) in keys])


def _filled(engine: Engine) -> bool:
    with engine.read() as session:
        return any(session.execute(f"SELECT 1 FROM {table} LIMIT 1") for table in ("tasks", "keys"))


def _forget(engine: Engine) -> None:
    """Empty the tables that copies do not have."""
    with engine.write() as session:
        for table in schema.FLEETING:
            session.execute(f"DELETE FROM {table}")


def _copy(read: Session, write: Session, told: Callable[[str, int], None] = lambda table, rows: None) -> dict[str, int]:
    """All rows of all tables, from one consistent state; how many there are of each."""
    copied = {}
    for table, columns in schema.TABLES.items():
        names, n = ", ".join(columns), 0
        write.execute(f"DELETE FROM {table}")
        if table in schema.FLEETING:
            continue
        places = ", ".join("?" * len(columns))
        rows = read.scan(f"SELECT {names} FROM {table} ORDER BY 1, 2")
        while lot := list(islice(rows, _LOT)):
            write.many(f"INSERT INTO {table} ({names}) VALUES ({places})", lot)
            n += len(lot)
            told(table, n)
        copied[table] = n
    return copied
