"""The collector: serve it, and who may ask it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from deniable.cli.options import Given, argument, option
from deniable.cli.output import Output
from deniable.errors import ParameterError, need_extra, require
from deniable.present.tables import Column, Table
from deniable.service.settings import rows, settings

if TYPE_CHECKING:
    from deniable.service.store.contract import Store

__all__ = ["KEY_COMMANDS", "SERVED", "Config", "DatabaseUrl", "database_of", "opened", "serve", "today"]

DatabaseUrl: TypeAlias = Annotated[
    str | None,
    option("--database", "URL", "sqlite:///FILE or postgresql://...; DENIABLE_DATABASE if left out."),
]
Config: TypeAlias = Annotated[str | None, option("--config", "FILE", "Settings of the collector, as TOML.")]
KeyName: TypeAlias = Annotated[str, argument("NAME", "The name of the key; `deniable key list` shows them.")]


def _usual(default: Any) -> str:
    return f" Usually {default}." if default not in ("", {}) else ""


SERVED: Given = {
    row.name: (
        row.type if row.type in (int, str) else int if row.type == "int" else str,
        row.metadata["metavar"],
        row.metadata["help"] + _usual(row.default_factory() if callable(row.default_factory) else row.default),
    )
    for row in rows()
}
"""The settings as options."""


def today() -> date:
    """The day, as tasks count days."""
    return datetime.now(UTC).date()


@contextmanager
def opened(database: str | None, config: str | None, *, new: bool = False) -> Iterator[Store]:
    """The store that is asked for, closed in the end; one that is not there is made only if it may be `new`."""
    url = database_of({"database": database}, config)
    from deniable.service.store import open_store

    if not new:
        _refuse_missing(url)
    store = open_store(url, settings({}, file=config).journal)
    try:
        yield store
    finally:
        store.close()


def _refuse_missing(url: str) -> None:
    """Refuse a file that is not there, so that a slip in its name is no new, empty database."""
    from deniable.service.store import engine_of
    from deniable.service.store.sqlite import SqliteEngine

    engine = engine_of(url)
    if isinstance(engine, SqliteEngine):
        hint = "Correct the name; `deniable task new`, `deniable key new` and `deniable serve` make a new one."
        require(engine.path.exists(), "database", url, "a database that is there", hint)


def database_of(given: Mapping[str, Any], config: str | None) -> str:
    """The URL of the database: an option, the environment or a file of settings say it."""
    url = settings(given, file=config).database
    if not url:
        hint = "For example --database sqlite:///collector.db, or set DENIABLE_DATABASE."
        raise ParameterError("database must be given.", hint)
    return url


def serve(given: Given, out: Output, config: Config = None) -> None:
    """Collect reports over HTTP.

    Prints one line with its address when it is ready to take reports, and serves until it is told to stop (SIGTERM or
    Control-C); requests that have begun are finished. Settings come from --config, from the environment (DENIABLE_PORT
    and so on) and from options; the last one wins. It speaks HTTP: put a proxy with TLS in front. It needs the
    extra service: pip install 'deniable[service]'.

    Example: deniable serve --database sqlite:///collector.db --port 8000
    """
    database_of(given, config)
    for module in ("starlette", "uvicorn", "httptools", "msgspec", *(["uvloop"] if sys.platform != "win32" else [])):
        need_extra(module, "service")
    from deniable.service.http.serve import run

    chosen = settings(given, file=config)
    run(chosen, lambda address: out.show({"address": address}, f"Listening on {address}"))


# ---- keys


def new(
    role: Annotated[str, option("--role", "analyst|administrator", "What the key is for.")],
    out: Output,
    name: Annotated[str | None, option("--name", "NAME", "What to call it; analyst-1 and so on if left out.")] = None,
    database: DatabaseUrl = None,
    config: Config = None,
) -> None:
    """Make a key and show it, this once.

    Analysts see what is published; administrators also make and close tasks, and keys.

    Example: deniable key new --role analyst --database sqlite:///collector.db
    """
    from deniable.service.access.keys import new_key

    with opened(database, config, new=True) as store:
        made, key = new_key(store, role, today=today(), name=name)
    out.note(f"made the key {made}; it is shown this once and cannot be shown again")
    out.show({"name": made, "role": role, "key": key}, key)


def listed(out: Output, database: DatabaseUrl = None, config: Config = None) -> None:
    """List the keys: names and roles, not the keys themselves."""
    with opened(database, config) as store:
        keys = list(store.keys())
    found = [
        {
            "name": k.name,
            "role": k.role,
            "created": str(k.created),
            "revoked": None if k.revoked is None else str(k.revoked),
        }
        for k in keys
    ]
    head = (Column("name"), Column("role"), Column("made on"), Column("void from"))
    table = Table(head, [[k["name"] or "", k["role"] or "", k["created"] or "", k["revoked"] or ""] for k in found])
    out.show({"keys": found}, table if found else "There are no keys yet: deniable key new --role analyst")


def revoke(name: KeyName, out: Output, database: DatabaseUrl = None, config: Config = None) -> None:
    """Make a key void, at once."""
    from deniable.service.access import keys

    with opened(database, config) as store:
        keys.revoke(store, name, today())
    out.show({"name": name, "revoked": str(today())}, f"The key {name} is void.")


def rotate(
    name: KeyName,
    out: Output,
    days: Annotated[int, option("--days", "D", "How long the old key still works.")] = 7,
    database: DatabaseUrl = None,
    config: Config = None,
) -> None:
    """Replace a key: a new one of the same role, while the old one still works for some days.

    Example: deniable key rotate analyst-1 --days 3
    """
    from deniable.service.access import keys

    with opened(database, config) as store:
        made, key, until = keys.rotate(store, name, today=today(), days=days)
    out.note(f"made the key {made}, shown this once; {name} works until {until}, not included")
    out.show({"name": made, "key": key, "replaces": name, "until": str(until)}, key)


KEY_COMMANDS: Mapping[str, Callable[..., int | None]] = {"new": new, "list": listed, "revoke": revoke, "rotate": rotate}
"""By their second word."""
