"""Where the collector keeps tasks, tallies, ids, releases and keys: SQLite by default, PostgreSQL by its URL."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from deniable.errors import ParameterError
from deniable.service.store.address import shown
from deniable.service.store.contract import SETTLE_SECONDS

if TYPE_CHECKING:  # loaded when they are needed: who reads reports needs the contract only, and it is read by engines
    from deniable.service.store.database import Database
    from deniable.service.store.engine import Engine

__all__ = ["engine_of", "journal_of", "open_store"]


def open_store(url: str, journal: str = "", *, settle_seconds: float = SETTLE_SECONDS) -> Database:
    """The store at `sqlite:///FILE` or `postgresql://...`; a new one is made, an older one is brought up to date.

    Made by a newer program, it is refused (`FormatError`). `journal`: see `journal_of`. `settle_seconds` after a report
    was counted, nothing in the files tells it from the others any more.
    """
    from deniable.service.store.care import migrate
    from deniable.service.store.database import Database
    from deniable.service.store.journal import Journal

    engine = engine_of(url)
    try:
        migrate(engine)
        engine.prepare()
    except BaseException:
        engine.close()
        raise
    return Database(engine, Journal(journal_of(engine, journal)), settle_seconds=settle_seconds)


def journal_of(engine: Engine, journal: str = "") -> Path | None:
    """Where the journal of a database is: as the setting says, else beside the file of SQLite, else nowhere."""
    from deniable.service.store.sqlite import SqliteEngine

    if journal:
        return Path(journal)
    return engine.path.with_name(f"{engine.path.name}.journal") if isinstance(engine, SqliteEngine) else None


def engine_of(url: str) -> Engine:
    """The engine for a URL; nothing is opened yet."""
    kind, mark, rest = url.partition("://")
    if mark and kind in ("postgresql", "postgres"):
        from deniable.service.store.postgres import PostgresEngine

        return PostgresEngine(url)
    if mark and kind == "sqlite" and rest.startswith("/") and len(rest) > 1:
        from deniable.service.store.sqlite import SqliteEngine

        return SqliteEngine(Path(unquote(rest[1:])))
    raise ParameterError(
        f"database must be sqlite:///FILE or postgresql://USER@HOST/NAME, got {shown(url)!r}.",
        "For a file in the current folder: sqlite:///collector.db. For one elsewhere: sqlite:////var/lib/deniable/collector.db.",
    )
