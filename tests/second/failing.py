"""Moments at which something can happen: every statement of a database, every file that is written, synced or renamed.

`Moments` counts them, and does something at one: the statement fails, the process is dead from then on, or somebody
else does something meanwhile.
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


@contextmanager
def watched(folder: Path) -> Iterator[Moments]:
    """Every statement of SQLite, and every file below a folder that this process writes, syncs or renames."""
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
        yield moments
