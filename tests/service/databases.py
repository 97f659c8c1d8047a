"""Databases for tests: a file of SQLite, or a database of a PostgreSQL server that lives as long as the tests do."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import pytest

__all__ = [
    "ENGINES",
    "copied_database",
    "drop_database",
    "forgetful_postgres",
    "new_database",
    "postgres_data",
    "postgres_files",
    "postgres_process",
    "started",
]

ENGINES = ["sqlite", pytest.param("postgres", marks=pytest.mark.slow)]
"""Engines that tests run on; PostgreSQL in the full tier."""

_NUMBERS = count()


@cache
def _server() -> Any:
    """The server that all tests of this process share; it stops when the process ends."""
    pytest.importorskip("pgserver", reason="pip install pgserver (Python below 3.13) to test PostgreSQL")
    return started(tempfile.mkdtemp(prefix="deniable-pg-"))


def started(folder: str) -> Any:
    """A PostgreSQL server with its data in a folder. Its library gives it ten seconds, a busy machine may need more."""
    import pgserver

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a library that looks for a folder of the user's session
        try:
            return pgserver.get_server(folder, cleanup_mode="delete")
        except (subprocess.TimeoutExpired, AssertionError):
            server = pgserver.get_server(folder)  # the same one, which is on its way
        for left in range(60, -1, -1):
            try:
                server.ensure_postgres_running()
            except (subprocess.SubprocessError, AssertionError):
                if not left:
                    raise
                time.sleep(1)
            else:
                break
        server.global_process_id_list.get_and_add(os.getpid())  # so that it is stopped with this process
        return server


def new_database(engine: str, folder: Path) -> str:
    """The URL of an empty database."""
    if engine == "sqlite":
        return f"sqlite:///{folder / f'{next(_NUMBERS)}.db'}"
    return _made("")


def copied_database(url: str) -> str:
    """The URL of a copy of a database of PostgreSQL, to which nobody is connected."""
    return _made(f" TEMPLATE {_name(url)}")


def drop_database(url: str) -> None:
    """Take a database of PostgreSQL away."""
    _on_server(f"DROP DATABASE {_name(url)} WITH (FORCE)")


def _made(how: str) -> str:
    name = f"t{next(_NUMBERS)}"
    _on_server(f"CREATE DATABASE {name}{how}")
    return str(_server().get_uri()).replace("/postgres?", f"/{name}?")


def _name(url: str) -> str:
    return url.partition("?")[0].rpartition("/")[2]


def _on_server(sql: str) -> None:
    import psycopg

    with psycopg.connect(_server().get_uri(), autocommit=True) as link:
        link.execute(sql.encode())


def postgres_files() -> Path:
    """The folder of the server's tables, after all that it holds in memory was written to them."""
    import psycopg

    with psycopg.connect(_server().get_uri(), autocommit=True) as link:
        link.execute("CHECKPOINT")
    return Path(_server().pgdata) / "base"


def postgres_data(url: str) -> list[Path]:
    """The files of one database, and of the server's log, after all that is held in memory was written to them."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as link:
        link.execute("CHECKPOINT")
        found = link.execute("SELECT oid FROM pg_database WHERE datname = current_database()").fetchone()
    assert found is not None
    data = Path(_server().pgdata)
    return [path for folder in (data / "base" / str(found[0]), data / "pg_wal") for path in sorted(folder.rglob("*"))]


@contextmanager
def forgetful_postgres() -> Iterator[None]:
    """The server gives up old files of its log, as docs/howto/operate.md asks."""
    import psycopg

    def alter(sql: bytes) -> None:
        with psycopg.connect(_server().get_uri(), autocommit=True) as link:
            link.execute(sql)
            link.execute("SELECT pg_reload_conf()")

    alter(b"ALTER SYSTEM SET wal_recycle = off")
    try:
        yield
    finally:
        alter(b"ALTER SYSTEM RESET wal_recycle")


def postgres_process() -> int:
    """The server's first process, which takes new connections."""
    return int((Path(_server().pgdata) / "postmaster.pid").read_text().split()[0])
