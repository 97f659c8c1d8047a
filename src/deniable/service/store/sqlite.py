"""SQLite: one file, one writer at a time, a write-ahead log that is synced at every commit.

The log holds every page of every commit, so the difference of two of its tallies can be one person's report; and
though `secure_delete` is on, SQLite leaves copies of rows in the gaps of pages that it splits. Within a page, rows lie
in the order in which they came, whatever their keys. `settle` sees to all of that: it writes the table of tallies anew,
on zeroed pages, takes the new ids and bodies out and puts them back in the order of hashes, and empties the log.

Many rows go in by one statement that takes them apart itself: the interpreter lock is let go once, not once per row,
so the service answers while the database works.
"""

from __future__ import annotations

import os
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from deniable.core.types import BoolArray, Bytes, IntArray
from deniable.errors import FormatError
from deniable.service.store.contract import Batch, StoreUnavailableError
from deniable.service.store.engine import HASH, MARK, PROBE, ROW, Row, hashes, placed

__all__ = ["STANDARD", "Driver", "SqliteEngine"]

_BUSY_SECONDS = 10
_CACHE_KIB = 64 << 10
_PERM, _BUSY, _LOCKED, _NOMEM, _READONLY, _IOERR = 3, 5, 6, 7, 8, 10
_CORRUPT, _FULL, _CANTOPEN, _PROTOCOL, _NOTADB = 11, 13, 14, 15, 26
_LATER = {_PERM, _BUSY, _LOCKED, _NOMEM, _READONLY, _IOERR, _FULL, _CANTOPEN, _PROTOCOL}
"""Result codes after which the same call may work later."""
_DAMAGED = {_CORRUPT, _NOTADB}

_NUMBERS = "WITH RECURSIVE c(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM c WHERE i + 1 < ?2) "
_HASH = f"substr(?3, i * {ROW} + 1, {HASH})"
_MARK = f"substr(?3, i * {ROW} + {HASH + 1}, {MARK})"
_ADD_IDS = (
    _NUMBERS + f"INSERT INTO seen (task, id, mark) SELECT ?1, {_HASH}, {_MARK} FROM c WHERE true ON CONFLICT DO NOTHING"
)
_MARKS = _NUMBERS + f"SELECT i, mark FROM c CROSS JOIN seen WHERE task = ?1 AND id = {_HASH}"
_ADD_BODIES = (
    _NUMBERS + "INSERT INTO kept (task, window_number, question, strata, id, body) SELECT ?1, ?5, ?6, ?7, "
    f"substr(?3, i * ?4 + 1, {HASH}), substr(?3, i * ?4 + {HASH + 1}, ?4 - {HASH}) FROM c"
)
_ANEW = (
    "CREATE TEMP TABLE settled AS SELECT * FROM tallies",
    "DELETE FROM tallies",
    "INSERT INTO tallies SELECT * FROM settled ORDER BY task, window_number, question, strata, shard",
    "DROP TABLE settled",
)
"""Without a condition, SQLite deletes whole pages, and overwrites them; the copy meanwhile is in memory."""
_KEYS = {"seen": ("task", "id"), "kept": ("task", "window_number", "question", "strata", "id")}
"""Tables whose rows are put back in order, and the keys of their rows."""
_MOST_SORTED = 100_000
"""Rows between two settlings that are put back in order: beyond that `erase` does it, which writes all anew."""
_UNSORTED = "unsorted"
"""A note in the table `meta`: how many processes have rows that are not in order. One that is killed leaves its own."""
_NOTE = "INSERT INTO meta (name, value) VALUES (?, 1) ON CONFLICT (name) DO UPDATE SET value = meta.value + 1"


@dataclass(frozen=True)
class Driver:
    """A way to SQLite: the standard library's, or another one with the same calls (for file systems that fail)."""

    connect: Callable[[str], Any]
    error: type[Exception]
    code: Callable[[Any], int | None]
    """The primary result code of an error."""


def _connect(path: str) -> sqlite3.Connection:
    return sqlite3.connect(path, isolation_level=None, check_same_thread=False)


def _code(error: Any) -> int | None:
    code = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF


STANDARD = Driver(_connect, sqlite3.Error, _code)


class SqliteSession:
    """A transaction of SQLite."""

    def __init__(self, link: Any) -> None:
        self._link = link
        self.fresh: list[tuple[str, tuple[object, ...], Bytes]] = []
        """Rows that were added: the table, the key without its end, and rows that begin with hashes."""

    def execute(self, sql: str, params: Sequence[object] = ()) -> list[Row]:
        return self._link.execute(sql, tuple(params)).fetchall()  # type: ignore[no-any-return]  # any driver's rows

    def many(self, sql: str, rows: Sequence[Row]) -> None:
        self._link.executemany(sql, rows)

    def scan(self, sql: str) -> Iterator[Row]:
        return iter(self._link.execute(sql))

    def has(self, table: str) -> bool:
        return bool(self.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (table,)))

    def lock(self, task: int, *, alone: bool = False) -> None:
        """See `Session.lock`: there is one writer at a time anyway."""

    def add_ids(self, task: int, rows: Bytes) -> BoolArray:
        """See `Session.add_ids`: all at once, which is what nearly always works; one look at each, if not."""
        if not len(rows):
            return np.zeros(0, np.bool_)
        self.execute("SAVEPOINT ids")
        fresh = np.ones(len(rows), np.bool_)
        if self._insert(task, rows) < len(rows):
            self.execute("ROLLBACK TO ids")
            fresh[self.marks(task, rows)[0]] = False
            if fresh.any():
                self._insert(task, rows[fresh])
        self.execute("RELEASE ids")
        self.fresh.append(("seen", (task,), rows[fresh]))
        return fresh

    def _insert(self, task: int, rows: Bytes) -> int:
        self.execute(_ADD_IDS, (task, len(rows), rows.tobytes()))
        return int(self.execute("SELECT changes()")[0][0])

    def marks(self, task: int, rows: Bytes) -> tuple[IntArray, Bytes]:
        return placed(self.execute(_MARKS, (task, len(rows), rows.tobytes())) if len(rows) else [])

    def add_bodies(self, task: int, batch: Batch, rows: Bytes) -> None:
        place = (batch.window, batch.question, bytes(batch.strata))
        self.execute(_ADD_BODIES, (task, len(rows), rows.tobytes(), rows.shape[1], *place))
        self.fresh.append(("kept", (task, *place), np.ascontiguousarray(rows[:, :HASH])))


class SqliteEngine:
    """A file of SQLite. `synchronous` is FULL: with anything less, acknowledged reports are lost by a power failure."""

    shard = 0
    most_fresh = sys.maxsize

    def __init__(self, path: str | os.PathLike[str], driver: Driver = STANDARD, *, synchronous: str = "FULL") -> None:
        self.path, self._driver, self._synchronous = Path(path), driver, synchronous
        self._locks = {True: threading.RLock(), False: threading.RLock()}
        self._links: dict[bool, Any] = {}
        """The connection that writes (True) and the one that reads."""
        self._fresh: list[tuple[str, tuple[object, ...], Bytes]] = []
        """Rows since the last settling: the table, the key without its end, and rows that begin with hashes."""
        self._added = 0
        """How many there are; beyond `_MOST_SORTED` they are not held."""

    def words(self) -> dict[str, str]:
        return {"bytes": "BLOB", "sorted": " WITHOUT ROWID"}

    def prepare(self) -> None:
        """See `Engine.prepare`: nothing is needed."""

    @contextmanager
    def write(self, *, patient: bool = False) -> Iterator[SqliteSession]:
        with self._locks[True]:
            with self._transaction("BEGIN IMMEDIATE", writes=True) as session:
                yield session
                added = sum(len(rows) for _, _, rows in session.fresh)
                if added and not self._added:
                    session.execute(_NOTE, (_UNSORTED,))
            self._added += added
            if self._added <= _MOST_SORTED:
                self._fresh += session.fresh
            else:
                self._fresh.clear()

    @contextmanager
    def read(self, *, patient: bool = False) -> Iterator[SqliteSession]:
        with self._transaction("BEGIN", writes=False) as session:
            yield session

    def erase(self) -> None:
        """See `Engine.erase`: the file is written anew without what was deleted, and the log is emptied."""
        with self._alone() as link:
            with self.write() as session:
                session.execute("UPDATE meta SET value = 0 WHERE name = ?", (_UNSORTED,))
            link.execute("VACUUM").fetchall()
            self._added, self._fresh = 0, []
            self._empty_log(link)

    def settle(self, *, log: bool = True) -> None:
        with self._alone() as link:
            with self.write() as session:
                for statement in _ANEW:
                    session.execute(statement)
                if self._fresh:
                    self._sort(session)
                    session.execute("UPDATE meta SET value = max(0, value - 1) WHERE name = ?", (_UNSORTED,))
            self._added, self._fresh = 0, []
            self._empty_log(link)

    def _sort(self, session: SqliteSession) -> None:
        """Take new rows out and put them back by their keys: slots of deleted rows are overwritten, then filled."""
        for table, columns in _KEYS.items():
            keys, places = ", ".join(columns), ", ".join("?" * len(columns))
            found = ((*key, each) for name, key, rows in self._fresh if name == table for each in hashes(rows))
            session.execute(f"CREATE TEMP TABLE fresh ({keys})")
            session.many(f"INSERT INTO fresh VALUES ({places})", list(found))
            session.execute(
                f"CREATE TEMP TABLE sorted AS SELECT {table}.* FROM fresh CROSS JOIN {table} USING ({keys})"
            )
            session.execute(f"DELETE FROM {table} WHERE ({keys}) IN (SELECT {keys} FROM sorted)")
            session.execute(f"INSERT INTO {table} SELECT * FROM sorted ORDER BY {keys}")
            session.execute("DROP TABLE fresh")
            session.execute("DROP TABLE sorted")

    def disorder(self) -> bool:
        with self.read() as session:
            return bool(session.execute("SELECT 1 FROM meta WHERE name = ? AND value > 0", (_UNSORTED,)))

    def writable(self) -> None:
        with self.write() as session:
            session.execute(PROBE)

    def advice(self) -> Iterator[str]:
        """See `Engine.advice`: all that it needs is set by this program."""
        return iter(())

    def empty_log(self) -> None:
        """See `Engine.empty_log`: all that is in it goes to the file."""
        with self._alone() as link:
            self._empty_log(link)

    def _empty_log(self, link: Any) -> None:
        if link.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()[0][0]:
            raise StoreUnavailableError(
                "what was deleted is still in the log of the database: somebody else is reading it.", "Try again."
            )

    def faults(self) -> Iterator[str]:
        with self.read() as session:
            found = [str(row[0]) for row in session.execute("PRAGMA integrity_check")]
        yield from (f"SQLite finds: {line}" for line in found if line != "ok")

    def copy(self, path: Path) -> bool:
        """See `Engine.copy`: without free pages and in order, so that nothing deleted is in it."""
        with self._locks[False], self._telling():
            self._link(False).execute("VACUUM INTO ?", (os.fspath(path),)).fetchall()
        return True

    def close(self) -> None:
        """See `Engine.close`: SQLite moves the log into the file and removes it."""
        for writes, lock in self._locks.items():
            with lock:
                self._drop(writes)

    # ---- connections

    @contextmanager
    def _transaction(self, begin: str, *, writes: bool) -> Iterator[SqliteSession]:
        """Anything that goes wrong with the database closes the connection, and the next call opens another one."""
        with self._locks[writes], self._telling():
            link = self._link(writes)
            try:
                link.execute(begin)
                yield SqliteSession(link)
                link.execute("COMMIT")
            except self._driver.error:
                self._drop(writes)
                raise
            except BaseException:
                self._undo(link, writes)
                raise

    @contextmanager
    def _alone(self) -> Iterator[Any]:
        """The connection that writes, with no transaction, while nobody in this process reads."""
        with self._locks[True], self._locks[False], self._telling():
            self._drop(False)
            yield self._link(True)

    def _undo(self, link: Any, writes: bool) -> None:
        try:
            link.execute("ROLLBACK")
        except self._driver.error:
            self._drop(writes)

    def _link(self, writes: bool) -> Any:
        if writes not in self._links:
            self._links[writes] = self._opened()
        return self._links[writes]

    def _opened(self) -> Any:
        if not self.path.exists():
            with suppress(FileExistsError, OSError):  # SQLite says better than we what is wrong with the folder
                os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        link = self._driver.connect(os.fspath(self.path))
        try:
            for line in (
                f"busy_timeout = {_BUSY_SECONDS * 1000}",
                "journal_mode = WAL",
                f"synchronous = {self._synchronous}",
                "secure_delete = ON",
                "temp_store = MEMORY",
                f"cache_size = -{_CACHE_KIB}",
            ):
                link.execute(f"PRAGMA {line}").fetchall()
        except BaseException:
            link.close()
            raise
        return link

    def _drop(self, writes: bool) -> None:
        link = self._links.pop(writes, None)
        if link is not None:
            with suppress(self._driver.error):  # a connection that is given up anyway
                link.close()

    @contextmanager
    def _telling(self) -> Iterator[None]:
        """Errors of the driver as ours: try again later, or damaged; others are mistakes of ours and stay."""
        try:
            yield
        except self._driver.error as error:
            code = self._driver.code(error)
            if code in _LATER:
                raise StoreUnavailableError(
                    f"the database {self.path} cannot be used now: {error}.", "Is the disk full or read-only?"
                ) from error
            if code in _DAMAGED:
                hint = "Restore a backup with deniable store restore; keep this file for whoever looks into it."
                raise FormatError(f"{self.path} is damaged or not a database: {error}.", hint) from error
            raise
