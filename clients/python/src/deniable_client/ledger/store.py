"""The file that a ledger is kept in: one SQLite database, opened anew for each step, safe for several processes.

Whoever opens it first compares everything in it with an authentication tag, and writes a new tag with every change: a
damaged ledger is refused, never repaired. There are no indexes, so that what is read is what the tag was made of.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from deniable_client.errors import DeniableError, LedgerError
from deniable_client.ledger.memory import Derived, Drawn, random_bytes

if TYPE_CHECKING:
    import sqlite3

__all__ = ["Store"]

_APPLICATION = 0x446E4C67
"""Tells a ledger from other databases."""
_VERSION = 2

SCHEMA = (
    # Kept for good: places, what was spent in them, which tasks were taken up, and which question was dealt.
    "CREATE TABLE own (name TEXT NOT NULL, value BLOB NOT NULL)",
    "CREATE TABLE place (number INTEGER PRIMARY KEY, name TEXT NOT NULL, began INTEGER NOT NULL, most TEXT NOT NULL)",
    "CREATE TABLE allowed (name TEXT NOT NULL, amount TEXT NOT NULL)",
    "CREATE TABLE taken (number INTEGER PRIMARY KEY, task TEXT NOT NULL, place INTEGER NOT NULL, epsilon TEXT NOT NULL,"
    " opens INTEGER NOT NULL, days INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,"
    " question INTEGER NOT NULL, key TEXT, level INTEGER, head BLOB NOT NULL, url TEXT)",
    "CREATE TABLE opened (task TEXT NOT NULL, window INTEGER NOT NULL)",
    "CREATE TABLE spend (place INTEGER NOT NULL, task TEXT NOT NULL, amount TEXT NOT NULL, day TEXT NOT NULL)",
    "CREATE TABLE deal (task TEXT NOT NULL, question INTEGER NOT NULL)",
    # Erased by `forget`: what was asked and sent.
    "CREATE TABLE task (id TEXT NOT NULL, document BLOB NOT NULL)",
    "CREATE TABLE report (number INTEGER PRIMARY KEY, id TEXT NOT NULL, task TEXT NOT NULL, window INTEGER NOT NULL,"
    " question TEXT NOT NULL, body BLOB, cost TEXT NOT NULL, day TEXT NOT NULL, url TEXT, state TEXT NOT NULL,"
    " reason TEXT NOT NULL, attempts INTEGER NOT NULL, started REAL, due REAL, moved INTEGER NOT NULL,"
    " later REAL NOT NULL, until REAL NOT NULL, void REAL NOT NULL, tries INTEGER NOT NULL, days INTEGER NOT NULL)",
)
_TABLES = ("own", "place", "allowed", "taken", "opened", "spend", "deal", "task", "report")
_WORDS = {
    5: ("is in use by another program", "Try again in a moment."),
    6: ("is in use by another program", "Try again in a moment."),
    8: ("must not be written", "Give the person who runs this the right to write the file and its folder."),
    10: ("could not be read or written by the disk", "See whether the disk is full or damaged."),
    13: ("cannot grow: the disk is full", "Make room and try again."),
    14: ("cannot be opened", "See that its folder is there and may be written."),
    26: ("is not a ledger", "Name another file."),
}
"""What an error of SQLite means, by its primary code; others mean damage."""
_DAMAGED = ("is damaged", "A new ledger would not know what was spent: it could spend it again.")


class Store:
    """A ledger's file. Every step is one transaction: it is written as a whole, or not at all."""

    def __init__(
        self, path: str | os.PathLike[str], patience: float, secret: bytes | None, clock: Callable[[], float]
    ) -> None:
        self.path = os.fspath(path)
        self._patience = patience
        self._secret = secret
        self._clock = clock

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """A transaction that others wait for; on the disk when this ends, and undone if anything is raised."""
        with self._open("BEGIN IMMEDIATE") as connection:
            yield connection
            self._sign(connection)
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

    def source(self, db: sqlite3.Connection) -> Drawn:
        """Where this ledger's randomness comes from; `LedgerError` if its file was made with another secret."""
        own = self._own(db)
        source = Drawn(own.get("key", b"")) if self._secret is None else Derived(self._secret)
        mark = ("key", source.key) if self._secret is None else ("secret", source.digest("ledger", {}))
        if own.get(mark[0]) != mark[1] or not mark[1]:
            raise LedgerError(
                f"the ledger {self.path} was made with another secret, or without one; nothing was spent or sent.",
                "Open it with the same secret as before.",
            )
        return source

    def born(self, db: sqlite3.Connection) -> float:
        """When the ledger was made."""
        return float(self._own(db)["born"])

    # ---- opening

    @contextmanager
    def _open(self, begin: str) -> Iterator[sqlite3.Connection]:
        with self._words(), self._connected() as connection:
            connection.execute("BEGIN")  # another process may make the ledger meanwhile
            version = self._version(connection)
            connection.execute("COMMIT")
            if version != _VERSION:
                connection.execute("BEGIN IMMEDIATE")
                self._begin(connection)
                connection.execute("COMMIT")
            connection.execute(begin)
            self._check(connection)
            yield connection

    def _begin(self, connection: sqlite3.Connection) -> None:
        """Make a new ledger, or one of this version out of an older one."""
        version = self._version(connection)
        if version == _VERSION:  # another process was quicker
            return
        if version == 0:
            source = Drawn(random_bytes(32)) if self._secret is None else Derived(self._secret)
            mark = ("key", source.key) if self._secret is None else ("secret", source.digest("ledger", {}))
            for statement in SCHEMA:
                connection.execute(statement)
            connection.execute("INSERT INTO own VALUES (?, ?)", mark)
        else:
            from deniable_client.ledger.migration import migrate

            migrate(connection, SCHEMA, self._clock())
        connection.execute("INSERT INTO own VALUES ('born', ?)", (str(int(self._clock())).encode(),))
        connection.execute(f"PRAGMA application_id = {_APPLICATION}")
        connection.execute(f"PRAGMA user_version = {_VERSION}")
        self._sign(connection)

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
        if version not in (1, _VERSION):
            raise LedgerError(
                f"{self.path} is a ledger of version {version}; this client knows {_VERSION}.",
                "Use the client that wrote it, or a newer one.",
            )
        return int(version)

    # ---- the tag

    def _check(self, connection: sqlite3.Connection) -> None:
        """`LedgerError` unless the file is whole, and everything in it is as it was written."""
        told = connection.execute("PRAGMA integrity_check(1)").fetchone()
        statements = [row[0] for row in connection.execute("SELECT sql FROM sqlite_master")]
        if told != ("ok",) or set(statements) != set(SCHEMA) or len(statements) != len(SCHEMA):
            raise self._damage()
        wanted = self._own(connection).get("tag", b"")
        self.source(connection)
        if not isinstance(wanted, bytes) or not hmac.compare_digest(wanted, self._tag(connection)):
            raise self._damage()

    def _sign(self, connection: sqlite3.Connection) -> None:
        connection.execute("DELETE FROM own WHERE name = 'tag'")
        connection.execute("INSERT INTO own VALUES ('tag', ?)", (self._tag(connection),))

    def _tag(self, connection: sqlite3.Connection) -> bytes:
        """What everything in the file but itself is recognised by."""
        content = hashlib.sha256()
        for table in _TABLES:
            content.update(f"{table}\n".encode())
            for row in connection.execute(f"SELECT * FROM {table} ORDER BY rowid"):
                if (table, row[0]) != ("own", "tag"):
                    content.update(f"{row!r}\n".encode())
        return hmac.digest(self.source(connection).key, b"deniable/2 ledger\0" + content.digest(), "sha256")

    def _own(self, connection: sqlite3.Connection) -> dict[str, Any]:
        return dict(connection.execute("SELECT name, value FROM own").fetchall())

    def _damage(self) -> LedgerError:
        return LedgerError(f"the ledger {self.path} {_DAMAGED[0]}; nothing was spent or sent.", _DAMAGED[1])

    # ---- connections

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
        except (sqlite3.Error, UnicodeDecodeError) as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            told, hint = _WORDS.get(code, _DAMAGED)
            raise LedgerError(f"the ledger {self.path} {told}; nothing was spent or sent.", hint) from error
        except OSError as error:
            if isinstance(error, DeniableError):
                raise
            raise LedgerError(
                f"the ledger {self.path} cannot be opened ({error.strerror}); nothing was spent or sent.",
                "See that its folder is there and may be written.",
            ) from error
