"""Looking after a store: versions, checks, backups, and what is to be erased from its files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from datetime import date
from itertools import islice
from pathlib import Path

from deniable.errors import DeniableError, FormatError, ParameterError
from deniable.service.ingest import Intake
from deniable.service.store import schema
from deniable.service.store.contract import Batch
from deniable.service.store.engine import Engine, Session
from deniable.service.store.journal import sync_folder
from deniable.service.store.rows import Shapes, Tallies
from deniable.service.store.sqlite import SqliteEngine

__all__ = [
    "backup",
    "copy_rows",
    "erase",
    "faults",
    "migrate",
    "note_erase",
    "tallies_of",
    "version_of",
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
                    copy_rows(read, write)
            target.empty_log()
        finally:
            target.close()
        with part.open("rb+") as file:
            os.fsync(file.fileno())
        part.rename(path)
        sync_folder(path.parent)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _forget(engine: Engine) -> None:
    """Empty the tables that copies do not have."""
    with engine.write() as session:
        for table in schema.FLEETING:
            session.execute(f"DELETE FROM {table}")


def copy_rows(
    read: Session, write: Session, told: Callable[[str, int], None] = lambda table, rows: None
) -> dict[str, int]:
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
