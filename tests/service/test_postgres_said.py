"""What PostgreSQL is told, word for word, without a server: limits of time, locks, what is emptied, when the log goes.

That these statements do what they should is shown on a real server (test_postgres.py, test_medium.py, tests/second);
here it is shown that they are said: each time, in this order, and with the patience that each may have.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from deniable.errors import ParameterError
from deniable.service.store import postgres
from deniable.service.store.contract import StoreUnavailableError
from deniable.service.store.engine import PROBE, CrossedError
from deniable.service.store.postgres import PostgresEngine

psycopg = pytest.importorskip("psycopg")

HURRIED, PATIENT = 6, 3600
"""Seconds after which a server that says nothing is given up: while somebody waits, and else."""


class Server:
    """Stands in for a server: notes what it is told, and answers from a table."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.answers: dict[str, Any] = {}
        """Rows, or an error that is raised, by the beginning of a statement."""
        self.given: dict[str, Any] = {}
        self.waits: set[float] = set()

    def connect(self, url: str, **given: Any) -> Link:
        self.given = {"url": url, **given}
        self.said.append("connect")
        return Link(self)

    def answer(self, sql: str) -> Any:
        found = next((rows for start, rows in self.answers.items() if sql.startswith(start)), None)
        if isinstance(found, BaseException):
            raise found
        return found

    @contextmanager
    def over(self, handle: Any, seconds: float) -> Iterator[None]:
        self.waits.add(seconds)
        yield

    def since(self) -> list[str]:
        """What was said since the last time."""
        found, self.said = self.said, []
        return found


class Link:
    """A connection."""

    def __init__(self, server: Server) -> None:
        self.server, self.closed = server, False

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name == "autocommit":
            self.server.said.append(f"autocommit {value}")

    def execute(self, sql: str | bytes, params: Any = None) -> Cursor:
        text = " ".join((sql.decode() if isinstance(sql, bytes) else sql).split())
        self.server.said.append(text if params is None else f"{text} {params!r}")
        return Cursor(self.server.answer(text))

    def commit(self) -> None:
        self.server.said.append("COMMIT")
        self.server.answer("COMMIT")

    def rollback(self) -> None:
        self.server.said.append("ROLLBACK")
        self.server.answer("ROLLBACK")

    def close(self) -> None:
        self.closed = True
        self.server.said.append("close")


class Cursor:
    """What a statement gave."""

    def __init__(self, rows: Sequence[Any] | None) -> None:
        self.rows, self.description = rows, rows is not None

    def fetchall(self) -> list[Any]:
        return list(self.rows or ())

    def fetchone(self) -> Any:
        return (self.rows or [(None,)])[0]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Server:
    made = Server()
    monkeypatch.setattr(psycopg, "connect", made.connect)
    monkeypatch.setattr(postgres, "Watch", lambda: made)
    return made


@pytest.fixture
def engine(server: Server) -> PostgresEngine:
    made = PostgresEngine("postgresql://ann@db/x")
    made.shard = 5
    made._prepared = True
    return made


TABLES = "seen, kept, tallies, seen_fresh, kept_fresh"
LOOK = f"LOCK TABLE {TABLES} IN ACCESS SHARE MODE"
WRITES = ["connect", "SET statement_timeout = '5s'", "SET lock_timeout = '3s'", "SET synchronous_commit = on", "COMMIT"]
READS = [
    *WRITES[:3],
    "SET default_transaction_read_only = on",
    "SET default_transaction_isolation = 'repeatable read'",
    "COMMIT",
]
PATIENTLY = ["connect", "SET statement_timeout = '0s'", "SET lock_timeout = '30s'", "SET synchronous_commit = on"]
PATIENTLY += ["COMMIT"]
ALONE = ["SELECT pg_advisory_xact_lock(%s, 0) (7003,)", f"LOCK TABLE {TABLES} IN ACCESS EXCLUSIVE MODE"]
KEPT = "task, window_number, question, strata, id, body"
MOVED = [
    "INSERT INTO seen (task, id, mark) SELECT task, id, mark FROM seen_fresh ORDER BY task, id",
    f"INSERT INTO kept ({KEPT}) SELECT {KEPT} FROM kept_fresh ORDER BY task, window_number, question, strata, id",
    "TRUNCATE seen_fresh, kept_fresh",
    "CREATE TEMP TABLE settled ON COMMIT DROP AS SELECT * FROM tallies",
    "TRUNCATE tallies",
    "INSERT INTO tallies SELECT * FROM settled ORDER BY task, window_number, question, strata, shard",
]
SORTED = [
    "CREATE TEMP TABLE seen_settled ON COMMIT DROP AS SELECT task, id, mark FROM ONLY seen",
    f"CREATE TEMP TABLE kept_settled ON COMMIT DROP AS SELECT {KEPT} FROM ONLY kept",
    "TRUNCATE ONLY seen, ONLY kept",
    "INSERT INTO seen (task, id, mark) SELECT task, id, mark FROM seen_settled ORDER BY task, id",
    f"INSERT INTO kept ({KEPT}) SELECT {KEPT} FROM kept_settled ORDER BY task, window_number, question, strata, id",
]
ASK_FRESH = "SELECT EXISTS (SELECT 1 FROM seen_fresh)"
MAY_ASK = ["connect", "autocommit True", postgres._LOG_MAY]
NEXT_LOG = [*MAY_ASK, "SELECT pg_switch_wal()", "CHECKPOINT", "close"]


def test_who_waits_has_little_time_and_connections_are_kept(server: Server, engine: PostgresEngine) -> None:
    """One connection that writes and one that reads, each opened once; limits of time in their units."""
    engine.writable()
    assert server.since() == [*WRITES, PROBE, "COMMIT"]
    engine.writable()
    assert server.since() == [PROBE, "COMMIT"]
    for opened in (READS, []):
        with engine.read() as session:
            session.execute("SELECT ?", (1,))
        assert server.since() == [*opened, LOOK, "SELECT %s (1,)", "COMMIT"]
    assert server.waits == {HURRIED}
    limits = {"connect_timeout": 5, "tcp_user_timeout": 6000, "keepalives": 1, "keepalives_idle": 10}
    assert server.given.items() >= limits.items()
    assert server.given["url"] == "postgresql://ann@db/x"
    engine.close()
    assert server.since() == ["close", "close"]
    engine.writable()
    assert server.since() == [*WRITES, PROBE, "COMMIT"]


def test_who_is_patient_has_a_connection_of_their_own(server: Server, engine: PostgresEngine) -> None:
    with engine.write(patient=True) as session:
        session.execute("SELECT 1")
    assert server.since() == [*PATIENTLY, "SELECT 1", "COMMIT", "close"]
    assert server.waits == {HURRIED, PATIENT}


def test_a_database_that_is_not_prepared_has_no_tables_to_wait_for(server: Server, engine: PostgresEngine) -> None:
    engine._prepared = False
    with engine.read() as session:
        session.execute("SELECT 1")
    assert server.since() == [*READS, "SELECT 1", "COMMIT"]


@pytest.mark.parametrize("fresh", [False, True])
@pytest.mark.parametrize("log", [False, True])
def test_what_is_settled_is_moved_over_in_order(server: Server, engine: PostgresEngine, fresh: bool, log: bool) -> None:
    """Only if something was counted; the log only if it is asked for, and the role may."""
    server.answers = {ASK_FRESH: [(fresh,)], "SELECT has_function": [(True,)]}
    engine.settle(log=log)
    moved = [*PATIENTLY, "SET LOCAL lock_timeout = '500ms'", *ALONE, *MOVED, "COMMIT", "close"]
    assert server.since() == [*READS, LOOK, ASK_FRESH, "COMMIT", *(moved * fresh), *(NEXT_LOG * log)]


@pytest.mark.parametrize("may", [False, True])
def test_what_is_erased_is_written_anew_and_the_log_given_up(server: Server, engine: PostgresEngine, may: bool) -> None:
    server.answers = {"SELECT has_function": [(may,)]}
    engine.erase()
    log = NEXT_LOG if may else [*MAY_ASK, "close"]
    assert server.since() == [*PATIENTLY, *ALONE, *MOVED, *SORTED, "COMMIT", "close", *log]


WAYS_TO_END = {
    "a commit": None,
    "a commit whose answer is lost": ("COMMIT", psycopg.OperationalError("server closed the connection")),
    "a statement that fails": ("INSERT", psycopg.errors.DiskFull("full")),
    "an error of ours": ("INSERT", ParameterError("of ours")),
}


@pytest.mark.parametrize("way", WAYS_TO_END)
def test_the_log_is_given_up_again_after_whatever_was_written(server: Server, engine: PostgresEngine, way: str) -> None:
    """What was undone is in it, too; while nobody writes, once is enough; what fails is tried again."""
    server.answers = {ASK_FRESH: [(False,)], "SELECT has_function": [(True,)]}
    usual = dict(server.answers)

    def switched() -> int:
        server.since()
        engine.settle()
        return server.since().count("SELECT pg_switch_wal()")

    engine.writable()
    assert [switched(), switched()] == [1, 0]
    trouble = WAYS_TO_END[way]
    if trouble is None:
        engine.writable()
    else:
        server.answers = {trouble[0]: trouble[1], **usual}
        with pytest.raises((StoreUnavailableError, ParameterError)):
            engine.writable()
        server.answers = usual
    assert [switched(), switched()] == [1, 0]
    engine.writable()
    server.answers = {"CHECKPOINT": psycopg.OperationalError("no"), **usual}
    with pytest.raises(StoreUnavailableError):
        engine.settle()
    server.answers = usual
    assert [switched(), switched()] == [1, 0]


def test_a_task_is_held_in_one_order_by_all(server: Server, engine: PostgresEngine) -> None:
    """Who counts holds its shard after its first task, once, and settling is waited for by all."""
    with engine.write() as session:
        session.lock(3)
        session.lock(4)
        session.lock(0, alone=True)
    shared = "SELECT pg_advisory_xact_lock_shared(%s, 0), pg_advisory_xact_lock_shared(%s, %s)"
    assert server.since()[len(WRITES) :] == [
        f"{shared} (7003, 7001, 3)",
        "SELECT pg_advisory_xact_lock(%s, %s) (7002, 5)",
        f"{shared} (7003, 7001, 4)",
        "SELECT pg_advisory_xact_lock_shared(%s, 0), pg_advisory_xact_lock(%s, %s) (7003, 7001, 0)",
        "COMMIT",
    ]


ERRORS = {
    "DeadlockDetected": CrossedError,
    "SerializationFailure": CrossedError,
    "ConnectionFailure": StoreUnavailableError,
    "ReadOnlySqlTransaction": StoreUnavailableError,
    "TransactionRollback": StoreUnavailableError,
    "DiskFull": StoreUnavailableError,
    "TooManyConnections": StoreUnavailableError,
    "LockNotAvailable": StoreUnavailableError,
    "QueryCanceled": StoreUnavailableError,
    "AdminShutdown": StoreUnavailableError,
    "IoError": StoreUnavailableError,
    "OperationalError": StoreUnavailableError,
    "UniqueViolation": psycopg.Error,
    "UndefinedTable": psycopg.Error,
    "SyntaxError": psycopg.Error,
}


@pytest.mark.parametrize("name", ERRORS)
def test_what_may_work_later_is_told_so_and_mistakes_of_ours_stay(
    server: Server, engine: PostgresEngine, name: str
) -> None:
    """Whatever it was, the connection is given up, and the next one works."""
    raised = getattr(psycopg.errors, name, None) or getattr(psycopg, name)
    server.answers = {"INSERT": raised("no: postgresql://ann@db/x\nand more")}
    with pytest.raises(ERRORS[name]) as told:
        engine.writable()
    assert type(told.value) in (ERRORS[name], raised)
    assert "and more" not in str(told.value) or type(told.value) is raised
    assert server.since()[-2:] == [PROBE, "close"]
    server.answers = {}
    engine.writable()
    assert server.since() == [*WRITES, PROBE, "COMMIT"]
