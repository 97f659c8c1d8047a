"""Files that pages load: scripts, styles and the client, read once, compressed once, and named by their content."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import NamedTuple

from deniable.errors import DeniableError
from deniable.service.pages.bundle import bundled

__all__ = ["Asset", "asset", "base", "client", "of_page", "scripts"]

_TYPES = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}
_ENTRY = "survey.js"
"""The script that has in it all modules it needs at once: many small files are many heads, and compress badly."""
_LOOKS = {"light": b"not all", "dark": b"all"}
"""For previews: the style of the survey page as it is by day and by night, whatever the browser prefers."""
_NODE = frozenset({"client/exchange_node.js", "client/store_file.js"})
"""Modules of the client that browsers have no use for."""
_UNUSED = frozenset({"index.js", "replay.js", "types.js"})
"""Modules of the client that no page loads: the whole of it for programs, words of tests, and types."""


class Asset(NamedTuple):
    """A file as it is served."""

    kind: str
    plain: bytes
    small: bytes
    """The same, compressed."""


def asset(path: str) -> Asset | None:
    """A file by its name below `base`, or None."""
    return _all().get(path)


def of_page() -> dict[str, Asset]:
    """All files, by their names."""
    return dict(_all())


@cache
def base() -> str:
    """Where the files lie: a path that changes with any of them, so that browsers may keep them for ever."""
    digest = hashlib.sha256()
    for name, found in sorted(_all().items()):
        digest.update(f"{name}\0".encode() + hashlib.sha256(found.plain).digest())
    return f"/static/{digest.hexdigest()[:16]}/"


@cache
def _all() -> dict[str, Asset]:
    own = files("deniable.service.pages") / "static"
    found = {name: part.read_bytes() for name, part in _within(own)}
    found |= {name: text.encode() for name, text in scripts().items() if name not in _NODE}
    for look, when in _LOOKS.items():
        found[f"survey-{look}.css"] = found["survey.css"].replace(b"(prefers-color-scheme: dark)", when)
    return {name: _made(name, data) for name, data in found.items() if Path(name).suffix in _TYPES}


def scripts() -> dict[str, str]:
    """All scripts as they are served, and modules of the client that are only for Node."""
    own = {name: part for name, part in _within(files("deniable.service.pages") / "static") if name.endswith(".js")}
    return bundled(_ENTRY, {name: part.read_text("utf-8") for name, part in own.items()} | client())


def client() -> dict[str, str]:
    """The modules of the JavaScript client that pages may load, as they are written, below `client/`."""
    return {f"client/{name}": part.read_text("utf-8") for name, part in _within(_client()) if name not in _UNUSED}


def _made(name: str, plain: bytes) -> Asset:
    return Asset(_TYPES[Path(name).suffix], plain, gzip.compress(plain, 9, mtime=0))


def _client() -> Traversable:
    """The JavaScript client: packed with the wheel, or in the folder that an editable installation points into."""
    packed = files("deniable.service.pages") / "client"
    beside = Path(__file__).parents[4] / "clients" / "js" / "src"
    found: Traversable = packed if packed.is_dir() else beside
    if not found.is_dir():
        raise DeniableError("the JavaScript client is not installed with this package.", "Install deniable again.")
    return found


def _within(folder: Traversable, before: str = "") -> Iterator[tuple[str, Traversable]]:
    for part in folder.iterdir():
        if part.is_dir():
            yield from _within(part, f"{before}{part.name}/")
        else:
            yield before + part.name, part
