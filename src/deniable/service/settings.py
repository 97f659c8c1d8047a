"""The settings of the collector: one table, and where their values come from.

Each setting may stand in a file (TOML), in the environment (`DENIABLE_...`) or on the command line; what comes later in
this list wins.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, field, fields
from pathlib import Path
from typing import Any

from deniable.errors import ParameterError, is_whole, meant, require

__all__ = ["PREFIX", "Settings", "rows", "settings"]

PREFIX = "DENIABLE_"
"""Of the names in the environment: `max_body` is DENIABLE_MAX_BODY."""

_ORIGIN = re.compile(r"https?://[^\s/,;=*]+")
_PUBLIC = re.compile(r"https://([a-z0-9]([a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:]+\])(:(?!443$)[1-9][0-9]{0,4})?")
_HOOK = re.compile(r"https?://([A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9a-f:]+\])(:[1-9][0-9]{0,4})?(/[!-~]*)?")
_HOOKS = 8
_TASK = re.compile(r"\*|[0-9a-f]{64}")


def _text(given: object, name: str) -> str:
    require(isinstance(given, str) and bool(given), name, given, "a text")
    return str(given)


def _whole(least: int, most: int) -> Callable[[object, str], int]:
    def read(given: object, name: str) -> int:
        found = int(given) if isinstance(given, str) and re.fullmatch("[0-9]{1,18}", given) else given
        require(is_whole(found, least, most), name, given, f"a whole number from {least:,} to {most:,}")
        return found  # type: ignore[return-value]  # it is a whole number

    return read


def _origins(given: object, name: str) -> Mapping[str, tuple[str, ...]]:
    """Origins by task: a table of lists in a file, `ID=https://a.example,https://b.example;*=...` as text."""
    need = "origins such as https://example.org by the id of a task, or by * for all"
    table: Any = given
    if isinstance(given, str):
        parts = [part.partition("=") for part in given.split(";") if part.strip()]
        table = {task.strip(): [origin.strip() for origin in listed.split(",")] for task, _, listed in parts}
    require(isinstance(table, Mapping) and all(isinstance(x, list | tuple) for x in table.values()), name, given, need)
    for task, listed in table.items():
        require(bool(_TASK.fullmatch(task)), name, task, need)
        for origin in listed:
            require(isinstance(origin, str) and bool(_ORIGIN.fullmatch(origin)), name, origin, need)
    return {task: tuple(listed) for task, listed in table.items()}


def _public(given: object, name: str) -> str:
    """An origin as browsers spell it, so that it can be compared with what they send."""
    need = "https:// and a host in small letters, with its port if that is not 443, and nothing after it"
    require(isinstance(given, str) and (not given or bool(_PUBLIC.fullmatch(given))), name, given, need)
    return str(given)


def _hooks(given: object, name: str) -> tuple[str, ...]:
    """Addresses: a list in a file, with commas between them as text."""
    need = "addresses such as https://example.org/hook, with commas between them"
    listed: Any = [part.strip() for part in given.split(",") if part.strip()] if isinstance(given, str) else given
    require(isinstance(listed, list | tuple) and len(listed) <= _HOOKS, name, given, f"at most {_HOOKS} {need}")
    for address in listed:
        require(isinstance(address, str) and bool(_HOOK.fullmatch(address)), name, _host_of(address), need)
    return tuple(listed)


def _host_of(address: object) -> object:
    """An address that may be shown: what comes after the host, or before it, is often a secret."""
    if not isinstance(address, str):
        return address
    kind, mark, rest = address.rpartition("://")
    host, slash, _ = rest.partition("/")
    return f"{kind}{mark}{host.rpartition('@')[2]}{slash and '/...'}"


def _setting(read: Callable[[object, str], Any], default: Any, metavar: str, help: str) -> Any:
    known = {"read": read, "metavar": metavar, "help": help}
    if isinstance(default, Mapping):
        return field(default_factory=lambda: dict(default), metadata=known)
    return field(default=default, metadata=known, repr=not metavar.startswith("URL"))  # it may have a password


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All settings; the fields are the table."""

    database: str = _setting(_text, "", "URL", "sqlite:///FILE, or postgresql://USER@HOST/NAME.")
    journal: str = _setting(
        _text, "", "FILE", "What must stay true if a copy is restored; FILE.journal beside an SQLite file if left out."
    )
    host: str = _setting(_text, "127.0.0.1", "HOST", "The address to listen on; a proxy in front speaks TLS.")
    port: int = _setting(_whole(0, 65535), 8000, "PORT", "The port to listen on; 0 is a free one.")
    public_url: str = _setting(
        _public, "", "URL", "How browsers reach it over TLS: https://HOST; without it, pages are for this machine only."
    )
    session_seconds: int = _setting(
        _whole(60, 7 * 86400), 12 * 3600, "S", "How long somebody who signed in to the pages stays so."
    )
    session_idle_seconds: int = _setting(
        _whole(60, 7 * 86400), 3600, "S", "How long somebody stays so who does nothing."
    )
    max_body: int = _setting(
        _whole(1024, 1 << 30), 4 << 20, "BYTES", "Most bytes of a request's body, also after decompression."
    )
    max_reports: int = _setting(_whole(1, 10**6), 10_000, "N", "Most reports of one request.")
    max_waiting: int = _setting(
        _whole(1, 10**8), 20_000, "N", "Reports that may wait for the database; beyond that clients are told to wait."
    )
    max_memory: int = _setting(
        _whole(1 << 20, 1 << 40),
        256 << 20,
        "BYTES",
        "Bodies and answers that may be held at once, all requests together.",
    )
    max_connections: int = _setting(_whole(1, 10**6), 4096, "N", "Most connections; further ones are closed.")
    rate: int = _setting(
        _whole(0, 10**9), 0, "N", "Reports per second that are taken, with a second's worth in a burst; 0: any number."
    )
    header_seconds: int = _setting(_whole(1, 3600), 10, "S", "How long a client may take to send its headers.")
    body_seconds: int = _setting(_whole(1, 3600), 20, "S", "How long a client may take to send its body.")
    body_rate: int = _setting(
        _whole(1, 10**6), 100, "BYTES", "Bytes a second at which a body must arrive at least, over ten seconds."
    )
    work_seconds: int = _setting(_whole(1, 3600), 30, "S", "How long the answer to a request may take to make.")
    read_seconds: int = _setting(
        _whole(1, 3600), 30, "S", "How long a client may take to read the next 64 kB of an answer."
    )
    idle_seconds: int = _setting(_whole(1, 3600), 75, "S", "How long a connection may wait for the next request.")
    stop_seconds: int = _setting(_whole(1, 3600), 20, "S", "How long requests may take to finish after SIGTERM.")
    upkeep_seconds: int = _setting(
        _whole(1, 86400), 600, "S", "How often ended windows are published and what need not be kept is erased."
    )
    clock_days: int = _setting(
        _whole(1, 36500),
        7,
        "DAYS",
        "Days without a collector after which it publishes and erases only once the clock is confirmed.",
    )
    cors: Mapping[str, tuple[str, ...]] = _setting(
        _origins, {}, "ID=ORIGIN,...;...", "Web sites whose pages may send reports, by task; * for all tasks."
    )
    frames: Mapping[str, tuple[str, ...]] = _setting(
        _origins, {}, "ID=ORIGIN,...;...", "Web sites that may show a survey in a frame, by task; * for all tasks."
    )
    webhooks: tuple[str, ...] = _setting(
        _hooks, (), "URL,...", "Your own addresses, which are told when a window is published, withheld or refused."
    )
    webhook_private: int = _setting(
        _whole(0, 1), 0, "0|1", "Whether these may be private addresses, and without TLS; 1 for your own network."
    )


def rows() -> tuple[Field[Any], ...]:
    """The table: name, default, and `metadata` with what it takes and what it is."""
    return fields(Settings)


def settings(
    flags: Mapping[str, Any], *, file: str | None = None, environment: Mapping[str, str] = os.environ
) -> Settings:
    """Settings from a file, the environment and flags, the last of which wins; what is None is not given."""
    given: dict[str, Any] = {} if file is None else _of_file(file)
    known = {row.name: row for row in rows()}
    given |= {name: environment[PREFIX + name.upper()] for name in known if PREFIX + name.upper() in environment}
    given |= {name: value for name, value in flags.items() if value is not None}
    return Settings(**{name: known[name].metadata["read"](value, name) for name, value in given.items()})


def _of_file(path: str) -> dict[str, Any]:
    try:
        found = tomllib.loads(Path(path).read_text("utf-8"))
    except OSError as error:
        raise ParameterError(f"config must be a file that can be read, got {path!r}: {error}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ParameterError(f"config must be a TOML file, got {path!r}: {error}.") from error
    names = [row.name for row in rows()]
    for name in found:
        require(name in names, f"settings in {path}", name, f"one of {', '.join(names)}", meant(name, names))
    return found
