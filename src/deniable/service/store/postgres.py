"""PostgreSQL, by psycopg 3: several collectors on one database.

Collectors that count for a task hold it together; who closes it, seals a window or erases holds it alone. Each of them
adds to a shard of its own, so that they seldom wait for each other.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.core.types import BoolArray, Bytes, IntArray
from deniable.errors import need_extra
from deniable.service.store.contract import Batch, StoreUnavailableError
from deniable.service.store.engine import HASH, MARK, ROW, Row, hashes, placed

if TYPE_CHECKING:
    import psycopg

__all__ = ["PostgresEngine"]

_SHARDS = 64
_TASKS, _SHARD_LOCKS = 7001, 7002
"""Kinds of advisory locks; their second number is the task's or the shard's."""
_HASH = f"substring(%(rows)b::bytea from i * {ROW} + 1 for {HASH})"
_MARK = f"substring(%(rows)b::bytea from i * {ROW} + {HASH + 1} for {MARK})"
_NUMBERS = "generate_series(0, %(n)s::int - 1) AS i"
_ADD_IDS = (
    f"INSERT INTO seen (task, id, mark) SELECT %(task)s, {_HASH}, {_MARK} FROM {_NUMBERS} "
    "ON CONFLICT DO NOTHING RETURNING id"
)
_MARKS = f"SELECT i, mark FROM {_NUMBERS} JOIN seen ON task = %(task)s AND id = {_HASH}"
_ADD_BODIES = (
    "INSERT INTO kept (task, window_number, question, strata, id, body) SELECT %(task)s, %(window)s, %(question)s, "
    f"%(strata)b, substring(%(rows)b::bytea from i * %(width)s::int + 1 for {HASH}), "
    f"substring(%(rows)b::bytea from i * %(width)s::int + {HASH + 1} for %(width)s::int - {HASH}) FROM {_NUMBERS}"
)
_LATER_STATES = ("08", "25006", "40", "53", "55", "57", "58")
"""Beginnings of SQL states after which the same call may work later: connection, read-only, deadlock, full, stopped."""


class PostgresSession:
    """A transaction of PostgreSQL."""

    def __init__(self, link: psycopg.Connection[Row], shard: int) -> None:
        self._link, self._shard, self._held = link, shard, False

    def execute(self, sql: str, params: Sequence[object] = ()) -> list[Row]:
        return self._run(sql.replace("?", "%s"), tuple(params) or None)

    def _run(self, sql: str, params: Any) -> list[Row]:
        found = self._link.execute(sql.encode(), params)
        return found.fetchall() if found.description else []

    def many(self, sql: str, rows: Sequence[Row]) -> None:
        with self._link.cursor() as cursor:
            cursor.executemany(sql.replace("?", "%s").encode(), rows)

    def scan(self, sql: str) -> Iterator[Row]:
        with self._link.cursor("scan") as cursor:
            yield from cursor.execute(sql.encode())

    def has(self, table: str) -> bool:
        return self.execute("SELECT to_regclass(?) IS NOT NULL", (table,))[0][0] is True

    def lock(self, task: int, *, alone: bool = False) -> None:
        """See `Session.lock`: who counts also holds its shard, before any id, so that nobody waits in a ring."""
        self.execute(f"SELECT pg_advisory_xact_lock{'' if alone else '_shared'}(?, ?)", (_TASKS, task))
        if not alone and not self._held:
            self.execute("SELECT pg_advisory_xact_lock(?, ?)", (_SHARD_LOCKS, self._shard))
            self._held = True

    def add_ids(self, task: int, rows: Bytes) -> BoolArray:
        """See `Session.add_ids`: an id that another collector is about to keep is waited for."""
        if not len(rows):
            return np.zeros(0, np.bool_)
        found = self._run(_ADD_IDS, {"task": task, "n": len(rows), "rows": rows.tobytes()})
        if len(found) == len(rows):
            return np.ones(len(rows), np.bool_)
        fresh = {row[0] for row in found}
        return np.array([id in fresh for id in hashes(rows)], np.bool_)

    def marks(self, task: int, rows: Bytes) -> tuple[IntArray, Bytes]:
        given = {"task": task, "n": len(rows), "rows": rows.tobytes()}
        return placed(self._run(_MARKS, given) if len(rows) else [])

    def add_bodies(self, task: int, batch: Batch, rows: Bytes) -> None:
        place = {"window": batch.window, "question": batch.question, "strata": bytes(batch.strata)}
        given = {"task": task, "n": len(rows), "rows": rows.tobytes(), "width": rows.shape[1], **place}
        self._run(_ADD_BODIES, given)


class PostgresEngine:
    """A database of PostgreSQL, by its URL."""

    def __init__(self, url: str) -> None:
        self._psycopg = need_extra("psycopg", "postgres")
        self._url = url
        self.shard = int.from_bytes(os.urandom(2), "little") % _SHARDS
        self._locks = {True: threading.RLock(), False: threading.RLock()}
        self._links: dict[bool, Any] = {}

    def words(self) -> dict[str, str]:
        return {"bytes": "BYTEA", "sorted": ""}

    @contextmanager
    def write(self) -> Iterator[PostgresSession]:
        with self._transaction(writes=True) as session:
            yield session

    @contextmanager
    def read(self) -> Iterator[PostgresSession]:
        with self._transaction(writes=False) as session:
            yield session

    def erase(self) -> None:
        """See `Engine.erase`: tables are written anew. The server's own log keeps deleted rows until it is recycled."""
        with self._locks[True], self._telling(True):
            link = self._link(True)
            link.autocommit = True
            try:
                for table in ("seen", "kept"):
                    link.execute(f"VACUUM FULL {table}")
            finally:
                self._drop(True)

    def empty_log(self) -> None:
        """See `Engine.empty_log`: the server looks after its log itself."""

    def faults(self) -> Iterator[str]:
        """See `Engine.faults`: the server checks its pages itself when it reads them."""
        return iter(())

    def copy(self, path: Path) -> bool:
        return False

    def close(self) -> None:
        for writes, lock in self._locks.items():
            with lock:
                self._drop(writes)

    # ---- connections

    @contextmanager
    def _transaction(self, *, writes: bool) -> Iterator[PostgresSession]:
        """Anything that goes wrong with the database closes the connection, and the next call opens another one."""
        with self._locks[writes], self._telling(writes):
            link = self._link(writes)
            try:
                yield PostgresSession(link, self.shard)
                link.commit()
            except self._psycopg.Error:
                self._drop(writes)
                raise
            except BaseException:
                self._undo(link, writes)
                raise

    def _undo(self, link: Any, writes: bool) -> None:
        try:
            link.rollback()
        except self._psycopg.Error:
            self._drop(writes)

    def _link(self, writes: bool) -> Any:
        if writes not in self._links:
            link = self._psycopg.connect(self._url, connect_timeout=10, application_name="deniable")
            self._links[writes] = link
            link.execute("SET synchronous_commit = on" if writes else "SET default_transaction_read_only = on")
            if not writes:
                link.execute("SET default_transaction_isolation = 'repeatable read'")
            link.commit()
        return self._links[writes]

    def _drop(self, writes: bool) -> None:
        link = self._links.pop(writes, None)
        if link is not None:
            with suppress(self._psycopg.Error):  # a connection that is given up anyway
                link.close()

    @contextmanager
    def _telling(self, writes: bool) -> Iterator[None]:
        """Errors of the driver as ours where it may work later; others are mistakes of ours and stay."""
        try:
            yield
        except self._psycopg.Error as error:
            self._drop(writes)
            state = error.sqlstate or "08"
            if isinstance(error, self._psycopg.OperationalError) or state.startswith(_LATER_STATES):
                told = str(error).strip().splitlines()
                raise StoreUnavailableError(
                    f"the database cannot be used now: {told[0] if told else state}.", "Is the server running?"
                ) from error
            raise
