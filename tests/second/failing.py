"""Moments at which something can happen: every statement of a database, every file that is written, synced or renamed.

`Moments` counts them, and does something at one: the statement fails, the process is dead from then on, or somebody
else does something meanwhile. A server has one moment more: it has committed, and its answer is lost on the way.
"""

from __future__ import annotations

import builtins
import errno
import io
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

__all__ = ["Moments", "died", "failed", "meanwhile", "watched"]

Act = Callable[[str, Callable[[], Exception]], None]
"""What happens at a moment: told what is about to be done there, and how that would fail."""


class Moments:
    """Counts, and acts from the moment `at` on; before it is armed, and after it is disarmed, it counts only."""

    def __init__(self) -> None:
        self.count = 0
        self.seen: list[str] = []
        """What was done, in order."""
        self._at, self._act = -1, None  # type: tuple[int, Act | None]

    def arm(self, at: int, act: Act) -> None:
        """Begin to count anew, and act from a moment on."""
        self.count, self._at, self._act = 0, at, act
        self.seen.clear()

    def disarm(self) -> None:
        """Begin to count anew; nothing happens."""
        self.count, self._act = 0, None
        self.seen.clear()

    def tick(self, what: str, fails: Callable[[], Exception]) -> None:
        """One more moment, before something is done."""
        now, self.count = self.count, self.count + 1
        self.seen.append(what)
        if self._act is not None and now >= self._at:
            self._act(what, fails)


def failed(moments: Moments) -> Act:
    """This once it fails, and all goes on."""

    def act(what: str, fails: Callable[[], Exception]) -> None:
        moments._act = None
        raise fails()

    return act


def died(moments: Moments) -> Act:
    """From now on nothing reaches the disk: whatever the program still does, it does as if it were not there."""

    def act(what: str, fails: Callable[[], Exception]) -> None:
        raise fails()

    return act


def meanwhile(moments: Moments, do: Callable[[], None]) -> Act:
    """Somebody else does something before the next transaction begins: within one, a second process would wait."""

    def act(what: str, fails: Callable[[], Exception]) -> None:
        if what.startswith("BEGIN"):
            moments._act = None
            do()

    return act


def _full() -> Exception:
    """What SQLite says when the disk is full."""
    error = sqlite3.OperationalError("database or disk is full")
    error.sqlite_errorcode = sqlite3.SQLITE_FULL
    return error


def _no_space() -> Exception:
    return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _server_full() -> Exception:
    """What PostgreSQL says when its disk is full."""
    import psycopg

    return psycopg.errors.DiskFull("could not extend file: No space left on device")


def _server_gone() -> Exception:
    """What its driver says when a connection breaks."""
    import psycopg

    return psycopg.OperationalError("server closed the connection unexpectedly")


def _text(query: Any) -> str:
    return query.decode() if isinstance(query, bytes) else str(query)


def _linked_postgres(moments: Moments) -> Any:
    """Connections of PostgreSQL whose statements are watched; the first of each transaction also begins it."""
    import psycopg

    class Watched(psycopg.Cursor[Any]):
        """What runs a statement."""

        def execute(self, query: Any, *args: Any, **options: Any) -> Any:
            begins = self.connection.info.transaction_status is psycopg.pq.TransactionStatus.IDLE
            moments.tick(f"{'BEGIN; ' * begins}{_text(query)}", _server_full)
            return super().execute(query, *args, **options)

        def executemany(self, query: Any, *args: Any, **options: Any) -> None:
            moments.tick(_text(query), _server_full)
            super().executemany(query, *args, **options)

    class Scanning(psycopg.ServerCursor[Any]):
        """What is read a page at a time."""

        def execute(self, query: Any, *args: Any, **options: Any) -> Any:
            moments.tick(_text(query), _server_full)
            return super().execute(query, *args, **options)

        def fetchmany(self, size: int = 0) -> Any:
            moments.tick("FETCH", _server_gone)
            return super().fetchmany(size)

    class Link(psycopg.Connection[Any]):
        """A connection."""

        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            self.cursor_factory, self.server_cursor_factory = Watched, Scanning

        def commit(self) -> None:
            moments.tick("COMMIT", _server_full)
            super().commit()
            moments.tick("answer to COMMIT", _server_gone)

    def linked(*args: Any, **options: Any) -> Any:
        moments.tick("connect", _server_gone)
        return Link.connect(*args, **options)

    return linked


@contextmanager
def watched(folder: Path, *, postgres: bool = False) -> Iterator[Moments]:
    """Every statement of a database, and every file below a folder that this process writes, syncs or renames."""
    moments, connect = Moments(), sqlite3.connect

    class Watched(sqlite3.Connection):
        """A connection whose statements are watched."""

        def execute(self, sql: str, *args: Any) -> sqlite3.Cursor:
            moments.tick(sql, _full)
            return super().execute(sql, *args)

        def executemany(self, sql: str, *args: Any) -> sqlite3.Cursor:
            moments.tick(sql, _full)
            return super().executemany(sql, *args)

    def around(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def watching(*args: Any, **options: Any) -> Any:
            moments.tick(name, _no_space)
            return call(*args, **options)

        return watching

    def opening(call: Callable[..., Any]) -> Callable[..., Any]:
        def watching(file: Any, mode: str = "r", *args: Any, **options: Any) -> Any:
            inside = isinstance(file, str | os.PathLike) and Path(os.fspath(file)).is_relative_to(folder)
            if inside and set(mode) & set("wxa+"):
                moments.tick(f"open {mode}", _no_space)
            return call(file, mode, *args, **options)

        return watching

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sqlite3, "connect", lambda *args, **options: connect(*args, **options, factory=Watched))
        for name in ("fsync", "rename", "replace"):
            patch.setattr(os, name, around(name, getattr(os, name)))
        patch.setattr(io, "open", opening(io.open))
        patch.setattr(builtins, "open", opening(builtins.open))
        if postgres:
            patch.setattr("psycopg.connect", _linked_postgres(moments))
        yield moments
