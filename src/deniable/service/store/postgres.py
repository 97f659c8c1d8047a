"""PostgreSQL, by psycopg 3: several collectors on one database.

Collectors that count for a task hold it together; who closes it, seals a window or erases holds it alone. Each of them
adds to a shard of its own, so that they seldom wait for each other.

PostgreSQL keeps former versions of rows in its files, rows in the order in which they came, and the number of the
transaction that wrote each. So ids and bodies first go to small tables (`seen_fresh`, `kept_fresh`, which inherit from
the large ones: whoever asks for `seen` gets both), and `settle` moves them over, sorted, in one transaction. It empties
those tables and writes the tallies anew, which takes new files. The server's log is its own: what it keeps of it is
looked at (`advice`), and where the role may, a new file of it is begun and the old ones are given up. Erased reports
can be recovered from that log, copies of it and the text log until then; `docs/howto/operate.md` has the settings that
keep nothing.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.core.types import BoolArray, Bytes, IntArray
from deniable.errors import ParameterError, need_extra
from deniable.service.limits.unanswered import Watch
from deniable.service.store.address import hidden, shown
from deniable.service.store.contract import Batch, StoreUnavailableError
from deniable.service.store.engine import HASH, MARK, PROBE, ROW, CrossedError, Row, hashes, placed

if TYPE_CHECKING:
    import psycopg

__all__ = ["KEPT_ASK", "PostgresEngine"]

Asking = AbstractContextManager[None]
"""A block in which the server must answer."""

_SHARDS = 64
_PAGE = 1000
_TASKS, _SHARD_LOCKS, _SETTLING = 7001, 7002, 7003
"""Kinds of advisory locks; their second number is the task's or the shard's."""
_HASH = f"substring(%(rows)b::bytea from i * {ROW} + 1 for {HASH})"
_MARK = f"substring(%(rows)b::bytea from i * {ROW} + {HASH + 1} for {MARK})"
_NUMBERS = "generate_series(0, %(n)s::int - 1) AS i"
_ADD_IDS = (
    f"INSERT INTO seen_fresh (task, id, mark) SELECT %(task)s, {_HASH}, {_MARK} FROM {_NUMBERS} "
    f"WHERE (SELECT true FROM ONLY seen WHERE task = %(task)s AND id = {_HASH}) IS NULL "
    "ON CONFLICT DO NOTHING RETURNING id"
)
"""Ids that are not there yet. Each is looked up by itself: a join may be planned as a walk through the whole table."""
_MARKS = (
    f"SELECT i, mark FROM {_NUMBERS}, "
    f"LATERAL (SELECT mark FROM seen WHERE task = %(task)s AND id = {_HASH} LIMIT 1) AS known"
)
_ADD_BODIES = (
    "INSERT INTO kept_fresh (task, window_number, question, strata, id, body) "
    "SELECT %(task)s, %(window)s, %(question)s, "
    f"%(strata)b, substring(%(rows)b::bytea from i * %(width)s::int + 1 for {HASH}), "
    f"substring(%(rows)b::bytea from i * %(width)s::int + {HASH + 1} for %(width)s::int - {HASH}) FROM {_NUMBERS}"
)
_KEPT = "task, window_number, question, strata, id, body"
_SAMPLED = {"seen": ("id", "mark"), "kept": ("id", "body"), "tallies": ("tally",)}
"""Columns of which the server would put samples into its statistics, and keep them when the rows are long gone."""
_FRESH = (
    "CREATE TABLE seen_fresh (PRIMARY KEY (task, id)) INHERITS (seen)",
    "CREATE TABLE kept_fresh (PRIMARY KEY (task, window_number, question, strata, id)) INHERITS (kept)",
    *(
        f"ALTER TABLE {table} ALTER COLUMN {column} {what}"
        for table, columns in _SAMPLED.items()
        for column in columns
        for what in ("TYPE bytea", "SET STATISTICS 0")  # the first one drops samples that are there
    ),
)
_SETTLE = (
    "INSERT INTO seen (task, id, mark) SELECT task, id, mark FROM seen_fresh ORDER BY task, id",
    f"INSERT INTO kept ({_KEPT}) SELECT {_KEPT} FROM kept_fresh ORDER BY task, window_number, question, strata, id",
    "TRUNCATE seen_fresh, kept_fresh",
    "CREATE TEMP TABLE settled ON COMMIT DROP AS SELECT * FROM tallies",
    "TRUNCATE tallies",
    "INSERT INTO tallies SELECT * FROM settled ORDER BY task, window_number, question, strata, shard",
)
_ANEW = (
    "CREATE TEMP TABLE seen_settled ON COMMIT DROP AS SELECT task, id, mark FROM ONLY seen",
    f"CREATE TEMP TABLE kept_settled ON COMMIT DROP AS SELECT {_KEPT} FROM ONLY kept",
    "TRUNCATE ONLY seen, ONLY kept",
    "INSERT INTO seen (task, id, mark) SELECT task, id, mark FROM seen_settled ORDER BY task, id",
    f"INSERT INTO kept ({_KEPT}) SELECT {_KEPT} FROM kept_settled ORDER BY task, window_number, question, strata, id",
)
"""Moved by hand: what the server has for this keeps the number of the transaction that wrote each row."""
_TABLES = ("seen", "kept", "tallies", "seen_fresh", "kept_fresh")
"""What is written anew, and what must be read as one state: emptying a table does not wait for former states."""
_CONNECT_SECONDS, _LOCK_SECONDS, _STATEMENT_SECONDS, _ANSWER_SECONDS = 5, 3, 5, 6
"""How long a connection, a lock, a statement may take; and after how long a server that says nothing is given up."""
_PATIENT_SECONDS, _PATIENT_LOCK_SECONDS = 3600, 30
_LINK = {
    "connect_timeout": _CONNECT_SECONDS,
    "application_name": "deniable",
    "keepalives": 1,
    "keepalives_idle": 10,
    "keepalives_interval": 3,
    "keepalives_count": 3,
    "tcp_user_timeout": 1000 * _ANSWER_SECONDS,
}
_CROSSED_STATES = ("40001", "40P01")
_LATER_STATES = ("08", "25006", "40", "53", "55", "57", "58")
"""Beginnings of SQL states after which the same call may work later: connection, read-only, deadlock, full, stopped."""


class PostgresSession:
    """A transaction of PostgreSQL."""

    def __init__(self, link: psycopg.Connection[Row], shard: int, asking: Callable[[], Asking]) -> None:
        self._link, self._shard, self._asking, self._held = link, shard, asking, False

    def execute(self, sql: str, params: Sequence[object] = ()) -> list[Row]:
        return self._run(sql.replace("?", "%s"), tuple(params) or None)

    def _run(self, sql: str, params: Any) -> list[Row]:
        with self._asking():
            found = self._link.execute(sql.encode(), params)
            return found.fetchall() if found.description else []

    def many(self, sql: str, rows: Sequence[Row]) -> None:
        with self._asking(), self._link.cursor() as cursor:
            cursor.executemany(sql.replace("?", "%s").encode(), rows)

    def scan(self, sql: str) -> Iterator[Row]:
        with self._link.cursor("scan") as cursor:
            with self._asking():
                cursor.execute(sql.encode())
            while rows := self._page(cursor):
                yield from rows

    def _page(self, cursor: Any) -> list[Row]:
        with self._asking():
            found: list[Row] = cursor.fetchmany(_PAGE)
        return found

    def has(self, table: str) -> bool:
        return self.execute("SELECT to_regclass(?) IS NOT NULL", (table,))[0][0] is True

    def lock(self, task: int, *, alone: bool = False) -> None:
        """See `Session.lock`: who counts also holds its shard, before any id, so that nobody waits in a ring."""
        kind = "" if alone else "_shared"
        self.execute(
            f"SELECT pg_advisory_xact_lock_shared(?, 0), pg_advisory_xact_lock{kind}(?, ?)", (_SETTLING, _TASKS, task)
        )
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


# ---- what the server keeps beside its tables

_MAY_CHECKPOINT = (
    "EXISTS (SELECT 1 FROM pg_roles AS r WHERE r.rolname = 'pg_checkpoint' AND pg_has_role(r.oid, 'USAGE')) "
    "OR current_setting('is_superuser') = 'on'"
)
_MAY_SWITCH = "has_function_privilege('pg_switch_wal()', 'EXECUTE')"
_LOG_MAY = f"SELECT {_MAY_SWITCH} AND ({_MAY_CHECKPOINT}) AND current_setting('archive_mode') = 'off'"
"""Whether the role may begin a new file of the log and give up the old ones, and that is of use."""

_SIGNS = {
    "archive_mode": "current_setting('archive_mode') <> 'off'",
    "wal_keep_size": "current_setting('wal_keep_size') <> '0'",
    "wal_recycle": "current_setting('wal_recycle') = 'on'",
    "slots": "EXISTS (SELECT 1 FROM pg_replication_slots)",
    "standbys": "EXISTS (SELECT 1 FROM pg_stat_replication)",
    "checkpoint": f"NOT ({_MAY_CHECKPOINT}) OR NOT {_MAY_SWITCH}",
    "statements": "current_setting('log_statement') IN ('mod', 'all') "
    "OR current_setting('log_min_duration_statement') <> '-1'",
    "timestamps": "current_setting('track_commit_timestamp') = 'on'",
}
_LOG = "single reports can be recovered from the server's log"
_WORDS = {
    "archive_mode": f"archive_mode is on: {_LOG} for as long as its archive is kept. Switch it off.",
    "wal_keep_size": f"wal_keep_size is not 0: {_LOG} until it has grown by as much. Set it to 0.",
    "wal_recycle": f"wal_recycle is on: {_LOG} until its files are written over, which may take days. Switch it off.",
    "slots": f"the server has replication slots: {_LOG} until all of them were read. Drop them.",
    "standbys": f"the log is sent to another server: {_LOG} there, by that server's settings.",
    "checkpoint": f"the role may not give up the log: {_LOG} until the server does so itself (checkpoint_timeout). "
    "GRANT pg_checkpoint and EXECUTE ON FUNCTION pg_switch_wal to it.",
    "statements": "the server writes statements to its text log (log_statement, log_min_duration_statement), with the "
    "tallies in them. Switch that off.",
    "timestamps": "track_commit_timestamp is on: the server keeps the time of every transaction. Switch it off.",
}
KEPT_ASK = "SELECT " + ", ".join(f"({test}) AS {name}" for name, test in _SIGNS.items())
"""One question about all of that."""


def _kept_by(session: Any) -> list[str]:
    """Sentences about what the server of a session keeps; none if it keeps nothing."""
    found = dict(zip(_SIGNS, session.execute(KEPT_ASK)[0], strict=True))
    return [_WORDS[name] for name, so in found.items() if so]


class PostgresEngine:
    """A database of PostgreSQL, by its URL."""

    most_fresh = 200_000

    def __init__(self, url: str) -> None:
        self._psycopg = need_extra("psycopg", "postgres")
        self._url = url
        self.shard = int.from_bytes(os.urandom(2), "little") % _SHARDS
        self._locks = {True: threading.RLock(), False: threading.RLock()}
        self._links: dict[bool, Any] = {}
        self._watch, self._prepared = Watch(), False
        self._logged = False
        """Whether the log has nothing of ours any more, as far as we could do that."""

    def __repr__(self) -> str:
        return f"<PostgresEngine {shown(self._url)}>"

    def words(self) -> dict[str, str]:
        return {"bytes": "BYTEA", "sorted": ""}

    def prepare(self) -> None:
        with self.write(patient=True) as session:
            session.lock(0, alone=True)
            if not session.has("seen_fresh"):
                self._need(session, "pg_has_role(c.relowner, 'USAGE')", ("seen", "kept", "tallies"), "own")
                for statement in _FRESH:
                    session.execute(statement)
            self._need(session, "has_table_privilege(c.oid, 'TRUNCATE')", _TABLES, "have the right to empty")
        self._prepared = True

    def _need(self, session: PostgresSession, test: str, tables: Sequence[str], what: str) -> None:
        """Refuse a role that lacks something on tables: what it counts could not be erased."""
        marks = ", ".join("?" * len(tables))
        lacking = session.execute(
            f"SELECT c.oid::regclass::text, current_user FROM pg_class c "
            f"WHERE c.oid IN (SELECT to_regclass(name)::oid FROM unnest(ARRAY[{marks}]::text[]) AS name) "
            f"AND NOT {test} ORDER BY 1",
            tables,
        )
        if lacking:
            names, role = ", ".join(name for name, _ in lacking), lacking[0][1]
            raise ParameterError(
                f"the role {role} of the database does not {what} the tables {names}: reports could not be erased.",
                f"Connect as their owner; or open the database as that once, and GRANT TRUNCATE ON {names} TO {role}.",
            )

    @contextmanager
    def write(self, *, patient: bool = False) -> Iterator[PostgresSession]:
        with self._transaction(writes=True, patient=patient) as session:
            yield session

    @contextmanager
    def read(self, *, patient: bool = False) -> Iterator[PostgresSession]:
        with self._transaction(writes=False, patient=patient) as session:
            yield session

    def settle(self, *, log: bool = True) -> None:
        """See `Engine.settle`: nothing is to be done while the small tables are empty, as every count fills them."""
        with self.read() as look:
            fresh = look.execute("SELECT EXISTS (SELECT 1 FROM seen_fresh)")[0][0]
        if fresh:
            with self.write(patient=True) as session:
                session.execute("SET LOCAL lock_timeout = '500ms'")
                _alone(session, _SETTLE)
        if log:
            self._next_log()

    def disorder(self) -> bool:
        """See `Engine.disorder`: what a process left in the small tables is settled by any other."""
        return False

    def erase(self) -> None:
        """See `Engine.erase`: all is settled, and the large tables are written anew, in the order of hashes."""
        with self.write(patient=True) as session:
            _alone(session, _SETTLE + _ANEW)
        self._next_log()

    def _next_log(self) -> None:
        """Begin a new file of the server's log and give up the old ones, where the role may and the server does.

        On a connection of its own: reports go on meanwhile.
        """
        if self._logged:
            return
        self._logged = True
        with self._telling():
            link = self._connected()
            try:
                link.autocommit = True
                with self._asking(link, _PATIENT_SECONDS):
                    if link.execute(_LOG_MAY).fetchone()[0]:
                        link.execute("SELECT pg_switch_wal()")
                        link.execute("CHECKPOINT")
            except BaseException:
                self._logged = False
                raise
            finally:
                link.close()

    def empty_log(self) -> None:
        """See `Engine.empty_log`: the server looks after its log itself."""

    def writable(self) -> None:
        with self.write() as session:
            session.execute(PROBE)

    def advice(self) -> Iterator[str]:
        with self.read() as session:
            return iter(_kept_by(session))

    def faults(self) -> Iterator[str]:
        """See `Engine.faults`: the server checks its pages itself when it reads them."""
        return iter(())

    def copy(self, path: Path) -> bool:
        return False

    def close(self) -> None:
        for writes, lock in self._locks.items():
            with lock:
                link = self._links.pop(writes, None)
                if link is not None:
                    link.close()

    # ---- connections

    @contextmanager
    def _transaction(self, *, writes: bool, patient: bool) -> Iterator[PostgresSession]:
        """Anything that goes wrong with the database closes the connection, and the next call opens another one.

        Who is patient has a connection of its own, so that nobody else waits for it here.
        """
        with self._telling(), self._linked(writes, patient) as link:
            seconds = _PATIENT_SECONDS if patient else _ANSWER_SECONDS
            session = PostgresSession(link, self.shard, lambda: self._asking(link, seconds))
            try:
                if self._prepared and not writes:  # before the first look: who is emptying tables is waited for
                    session.execute(f"LOCK TABLE {', '.join(_TABLES)} IN ACCESS SHARE MODE")
                yield session
                with self._asking(link, seconds):
                    link.commit()
            except self._psycopg.Error:
                link.close()
                raise
            except BaseException:
                self._undo(link)
                raise
            finally:  # also what was undone is in the log, and a commit whose answer was lost
                self._logged = self._logged and not writes

    @contextmanager
    def _linked(self, writes: bool, patient: bool) -> Iterator[Any]:
        """A connection: the one of this kind, opened if need be, or a new one."""
        if patient:
            link = self._opened(writes, statement=0, lock=_PATIENT_LOCK_SECONDS)
            try:
                yield link
            finally:
                link.close()
            return
        with self._locks[writes]:
            if writes not in self._links or self._links[writes].closed:
                self._links[writes] = self._opened(writes, statement=_STATEMENT_SECONDS, lock=_LOCK_SECONDS)
            yield self._links[writes]

    def _opened(self, writes: bool, *, statement: float, lock: float) -> Any:
        link = self._connected()
        try:
            with self._asking(link, _ANSWER_SECONDS):
                link.execute(f"SET statement_timeout = '{statement}s'")
                link.execute(f"SET lock_timeout = '{lock}s'")
                link.execute("SET synchronous_commit = on" if writes else "SET default_transaction_read_only = on")
                if not writes:
                    link.execute("SET default_transaction_isolation = 'repeatable read'")
                link.commit()
        except BaseException:
            link.close()
            raise
        return link

    def _asking(self, link: Any, seconds: float) -> Asking:
        return self._watch.over(lambda: int(link.pgconn.socket), seconds)

    def _undo(self, link: Any) -> None:
        try:
            with self._asking(link, _ANSWER_SECONDS):
                link.rollback()
        except self._psycopg.Error:
            link.close()

    def _connected(self) -> Any:
        """A new connection. What the driver says of a URL may quote it, so its own error is not passed on."""
        try:
            return self._psycopg.connect(self._url, **_LINK)
        except self._psycopg.OperationalError as error:
            told = hidden(_first_line(error), self._url)
        except self._psycopg.Error:
            told = ""
        if told:
            raise StoreUnavailableError(f"the database cannot be used now: {told}.", "Is the server running?")
        raise ParameterError(
            f"database must be postgresql://USER@HOST/NAME, got {shown(self._url)!r}, which the driver does not read.",
            "Characters such as / ? # @ in a name or password are written as %2F %3F %23 %40.",
        )

    @contextmanager
    def _telling(self) -> Iterator[None]:
        """Errors of the driver as ours where it may work later; others are mistakes of ours and stay."""
        try:
            yield
        except self._psycopg.Error as error:
            state = error.sqlstate or "08"
            if state in _CROSSED_STATES:
                raise CrossedError("the database was asked for the same by somebody else.", "Try again.") from error
            if isinstance(error, self._psycopg.OperationalError) or state.startswith(_LATER_STATES):
                told = hidden(_first_line(error) or state, self._url)
                raise StoreUnavailableError(
                    f"the database cannot be used now: {told}.", "Is the server running?"
                ) from error
            raise


def _alone(session: PostgresSession, statements: Sequence[str]) -> None:
    """Run statements while nobody else counts, or reads."""
    session.execute("SELECT pg_advisory_xact_lock(?, 0)", (_SETTLING,))
    session.execute(f"LOCK TABLE {', '.join(_TABLES)} IN ACCESS EXCLUSIVE MODE")
    for statement in statements:
        session.execute(statement)


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else ""
