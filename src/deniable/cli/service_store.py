"""The database of the collector: check it, copy it, bring it up to date."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from deniable.cli.options import argument, option
from deniable.cli.output import Output
from deniable.cli.service import Config, DatabaseUrl, database_of, opened, today
from deniable.present.tables import Whole, number
from deniable.service.settings import settings

if TYPE_CHECKING:
    from deniable.service.store.engine import Engine
    from deniable.service.store.restoring import Restored

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
    journal: Annotated[
        str | None,
        option("--journal", "FILE", "The journal of the database that was copied; usually FILE.journal beside it."),
    ] = None,
    database: DatabaseUrl = None,
    config: Config = None,
) -> None:
    """Fill a new database from a copy; also the way from SQLite to PostgreSQL and back.

    With the journal of the database that was copied, all that was published, closed or revoked since then stays so.
    Without it nobody knows what was: all tasks are closed, what is not published in the copy never will be, and all
    keys are void. A database that still uses the journal can publish, close and revoke nothing any more. Reports that
    came after the copy was made are not in it: devices were told that they count, and do not send again.

    Example: deniable store restore collector-2026-11-16.backup --database postgresql://collector@db/collector
    """
    from deniable.service.store import journal_of, restoring

    with _engine(database, config) as engine, out.progress("restoring"):
        own = journal_of(engine, settings({}, file=config).journal)
        known = Path(journal) if journal is not None else own if own is not None and own.exists() else None
        found = restoring.restore(Path(path), engine, journal=known, own=own, today=today())
    tasks = found.rows["tasks"]
    told = f"{_counted(tasks, 'task')} and {number(found.rows['seen'])} ids of reports"
    document = {"restored": path, **asdict(found)}
    out.show(document, Whole(f"Restored {told} from {path}."), *_changes(found, own is None))


def _counted(n: int, what: str) -> str:
    return f"{number(n)} {what}{'s' * (n != 1)}"


_NOTED = {
    "released": "published window",
    "sealed": "sealed window",
    "opened": "opened task",
    "closed": "closed task",
    "revoked": "revoked key",
}


def _changes(found: Restored, named: bool) -> Iterator[str]:
    """What was done to the copy, in sentences; `named`: the journal must be named in the settings."""
    if found.journal is not None:
        noted = [_counted(found.noted[what], words) for what, words in _NOTED.items() if what in found.noted]
        yield f"By the journal, all that happened since then stays so: {', '.join(noted) or 'nothing did'}."
        if found.closed or found.voided:
            yield "Reports that are published came after the copy was made, and nobody knows their ids any more."
            yield _stopped(found)
        if named:
            yield f"Name it in the settings from now on: journal = {found.journal}"
        return
    yield "There is no journal, so nobody knows what was published, closed or revoked since the copy was made."
    yield _stopped(found)
    yield f"{_counted(len(found.revoked), 'key')} made void: {', '.join(found.revoked) or 'none'}."
    yield "Do not ask again what a task asked that was made after the copy: the copy does not know it."


def _stopped(found: Restored) -> str:
    closed = (
        f"{_counted(len(found.closed), 'task')} closed for good: {', '.join(i[:12] for i in found.closed) or 'none'}."
    )
    return f"{closed} {_counted(found.voided, 'window')} will never be published."


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


def confirm_clock(out: Output, database: DatabaseUrl = None, config: Config = None) -> None:
    """Say that the clock is right, after the collector stopped believing it.

    A collector publishes, closes and erases nothing while its clock was set by more than an hour, or is further from
    the last day on which it ran than the setting clock_days: after a long pause, a restored copy, or a clock that is
    wrong. Look at the date first. A running collector goes on with its next round of upkeep.

    Example: deniable store clock --database sqlite:///collector.db
    """
    from deniable.service.limits.clocks import confirm, utc_now

    now = utc_now()
    with opened(database, config) as store:
        confirm(store, now)
    told = f"Confirmed: it is {now:%Y-%m-%d %H:%M} UTC."
    out.show({"confirmed": now.isoformat(timespec="seconds")}, told)


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
    "clock": confirm_clock,
}
"""By their second word."""
