"""The database of the collector: check it, copy it, bring it up to date."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from deniable.cli.options import argument
from deniable.cli.output import Output
from deniable.cli.service import Config, DatabaseUrl, database_of, opened
from deniable.present.tables import Whole, number

if TYPE_CHECKING:
    from deniable.service.store.engine import Engine

__all__ = ["COMMANDS"]


def check(out: Output, database: DatabaseUrl = None, config: Config = None) -> int:
    """Look whether all of the database fits together.

    As many ids as counted reports, tallies that reports can have given, bodies where a task keeps them, and whatever
    the database itself can check. Exits with 1 if something is wrong. The service may go on meanwhile. Notes say which
    settings of a server keep reports that were erased, and for how long.

    Example: deniable store check --database sqlite:///collector.db
    """
    with opened(database, config) as store, out.progress("checking"):
        faults, notes = list(store.check()), list(store.advice())
    told = [*(faults or ["Nothing is wrong."]), *(f"Note: {note}" for note in notes)]
    out.show({"faults": faults, "notes": notes}, "\n".join(told))
    return 1 if faults else 0


def backup(
    path: Annotated[str, argument("FILE", "Where the copy goes; it must not exist.")],
    out: Output,
    database: DatabaseUrl = None,
    config: Config = None,
) -> None:
    """Copy the database to a file, while the service goes on.

    The copy is one consistent state, an SQLite file whatever the database is, without anything that was erased. Only
    its owner can read it. Copies keep what is erased from the database later: delete them in time.

    Example: deniable store backup collector-2026-11-16.backup --database sqlite:///collector.db
    """
    target = Path(path)
    with opened(database, config) as store, out.progress("copying"):
        store.backup(target)
    size = target.stat().st_size
    out.show({"backup": path, "bytes": size}, Whole(f"Wrote {path}, {number(size)} bytes."))


def restore(
    path: Annotated[str, argument("FILE", "A copy that `deniable store backup` made.")],
    out: Output,
    database: DatabaseUrl = None,
    config: Config = None,
) -> None:
    """Fill a new database from a copy; also the way from SQLite to PostgreSQL and back.

    Reports that came after the copy was made are not in it: devices were told that they count, and do not send again.

    Example: deniable store restore collector-2026-11-16.backup --database postgresql://collector@db/collector
    """
    from deniable.service.store import care

    copied: dict[str, int] = {}
    with _engine(database, config) as engine, out.progress("restoring"):
        care.restore(Path(path), engine, copied.__setitem__)
    tasks = copied.get("tasks", 0)
    told = f"{tasks} task{'s' * (tasks != 1)} and {number(copied.get('seen', 0))} ids of reports"
    out.show({"restored": path, "rows": copied}, Whole(f"Restored {told} from {path}."))


def migrate(out: Output, database: DatabaseUrl = None, config: Config = None) -> None:
    """Bring the database to the newest version; make a copy before.

    Every command that opens an older database does this too. A database of a newer program is refused.

    Example: deniable store migrate --database sqlite:///collector.db
    """
    from deniable.service.store import care

    with _engine(database, config) as engine:
        before, after = care.migrate(engine)
    told = f"The database has version {after} already." if before == after else f"From version {before} to {after}."
    out.show({"before": before, "after": after}, told)


@contextmanager
def _engine(database: str | None, config: str | None) -> Iterator[Engine]:
    """The database that is asked for, as it is."""
    from deniable.service.store import engine_of

    engine = engine_of(database_of({"database": database}, config))
    try:
        yield engine
    finally:
        engine.close()


COMMANDS: Mapping[str, Callable[..., int | None]] = {
    "check": check,
    "backup": backup,
    "restore": restore,
    "migrate": migrate,
}
"""By their second word."""
