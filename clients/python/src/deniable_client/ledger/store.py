"""The file that a ledger is kept in: one SQLite database, opened anew for each step, safe for several processes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from deniable_client.errors import DeniableError, LedgerError

if TYPE_CHECKING:
    import sqlite3

__all__ = ["Store"]

_APPLICATION = 0x446E4C67
"""Tells a ledger from other databases."""
_VERSION = 1

_SCHEMA = (
    # Kept for good: what was spent, what was promised, which windows were answered, and which question was dealt.
    "CREATE TABLE own (name TEXT PRIMARY KEY, value BLOB NOT NULL)",
    "CREATE TABLE spend (task TEXT NOT NULL, subject BLOB NOT NULL, amount TEXT NOT NULL, day TEXT NOT NULL)",
    "CREATE TABLE promise (task TEXT PRIMARY KEY, subject BLOB NOT NULL, most_subject TEXT NOT NULL,"
    " most_lifetime TEXT NOT NULL)",
    "CREATE TABLE answered (task TEXT NOT NULL, window INTEGER NOT NULL, PRIMARY KEY (task, window))",
    "CREATE TABLE deal (task TEXT PRIMARY KEY, question INTEGER NOT NULL)",
    # Erased by `forget`: what was asked, remembered and sent.
    "CREATE TABLE task (id TEXT PRIMARY KEY, document BLOB NOT NULL)",
    "CREATE TABLE memo (number INTEGER PRIMARY KEY, question TEXT NOT NULL, answer BLOB NOT NULL,"
    " report BLOB NOT NULL, UNIQUE (question, answer))",
    "CREATE TABLE report (id TEXT PRIMARY KEY, task TEXT NOT NULL, window INTEGER NOT NULL, question TEXT NOT NULL,"
    " answer BLOB NOT NULL, body BLOB NOT NULL, cost TEXT NOT NULL, day TEXT NOT NULL, url TEXT, state TEXT NOT NULL,"
    " reason TEXT NOT NULL, attempts INTEGER NOT NULL, due REAL, later REAL NOT NULL, expires REAL NOT NULL,"
    " UNIQUE (task, window))",
    f"PRAGMA application_id = {_APPLICATION}",
    f"PRAGMA user_version = {_VERSION}",
)
_WORDS = {
    5: ("is in use by another program", "Try again in a moment."),
    6: ("is in use by another program", "Try again in a moment."),
    8: ("must not be written", "Give the person who runs this the right to write the file and its folder."),
    10: ("could not be read or written by the disk", "See whether the disk is full or damaged."),
    11: ("is damaged", "Restore it from a backup. A new ledger would not know what was spent."),
    13: ("cannot grow: the disk is full", "Make room and try again."),
    14: ("cannot be opened", "See that its folder is there and may be written."),
    26: ("is not a ledger", "Name another file."),
}
"""What an error of SQLite means, by its primary code."""


class Store:
    """A ledger's file. Every step is one transaction: it is written as a whole, or not at all."""

    def __init__(self, path: str | os.PathLike[str], patience: float) -> None:
        self.path = os.fspath(path)
        self._patience = patience

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """A transaction that others wait for; on the disk when this ends, and undone if anything is raised."""
        with self._open("BEGIN IMMEDIATE") as connection:
            yield connection
            connection.execute("COMMIT")

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """One view of the file."""
        with self._open("BEGIN") as connection:
            yield connection

    def rewrite(self) -> None:
        """Writes the whole file anew, so that nothing is left of what was deleted."""
        with self._words(), self._connected() as connection:
            connection.execute("VACUUM")

    @contextmanager
    def _open(self, begin: str) -> Iterator[sqlite3.Connection]:
        with self._words(), self._connected() as connection:
            if not self._version(connection):
                connection.execute("BEGIN IMMEDIATE")
                if not self._version(connection):  # another process may have been quicker
                    for statement in _SCHEMA:
                        connection.execute(statement)
                connection.execute("COMMIT")
            connection.execute(begin)
            yield connection

    def _version(self, connection: sqlite3.Connection) -> int:
        """The version of the ledger in the file; 0 if the file is empty."""
        own, version, parts = (
            connection.execute(question).fetchone()[0]
            for question in ("PRAGMA application_id", "PRAGMA user_version", "SELECT count(*) FROM sqlite_master")
        )
        if (own, version, parts) == (0, 0, 0):
            return 0
        if own != _APPLICATION:
            raise LedgerError(f"{self.path} is a database, but not a ledger.", "Name another file.")
        if version != _VERSION:
            raise LedgerError(
                f"{self.path} is a ledger of version {version}; this client knows {_VERSION}.",
                "Use the client that wrote it, or a newer one.",
            )
        return int(version)

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        import sqlite3

        with suppress(FileExistsError):  # nobody else may read a new file
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        connection = sqlite3.connect(self.path, timeout=self._patience, isolation_level=None)
        try:
            for setting in ("secure_delete = ON", "temp_store = MEMORY", "journal_mode = TRUNCATE"):
                connection.execute(f"PRAGMA {setting}").fetchall()
            connection.execute("PRAGMA synchronous = EXTRA")
            yield connection
        finally:
            connection.close()  # what was not committed is undone

    @contextmanager
    def _words(self) -> Iterator[None]:
        """Errors of the file in words."""
        import sqlite3

        try:
            yield
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            told, hint = _WORDS.get(code, (f"cannot be used ({error})", "Nothing was changed."))
            raise LedgerError(f"the ledger {self.path} {told}; nothing was spent or sent.", hint) from error
        except OSError as error:
            if isinstance(error, DeniableError):
                raise
            raise LedgerError(
                f"the ledger {self.path} cannot be opened ({error.strerror}); nothing was spent or sent.",
                "See that its folder is there and may be written.",
            ) from error
