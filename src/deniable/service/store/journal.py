"""The journal of a store: what must stay true when an old copy of the database is restored.

What was published, sealed, closed or revoked after a copy was made is not in the copy. Restored without it, a window
could be published twice, and the difference of the two would be about the few reports in between. So each of these is
written to a file outside of the database and its copies, and is on the disk before anybody can see its effect.

The file has a JSON object a line. `after` is a mark of the line before, so that nothing can be missing in the midst;
`life` is the database that wrote it. The database has the mark of its last line, and so has each copy: a journal fits a
copy if that line is in it. A database that was restored goes on with the journal under another life, and the one that
it replaces can change nothing any more, should it still run.
"""

from __future__ import annotations

import json
import os
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO

from deniable.collect.files import replacing
from deniable.errors import FormatError, ParameterError
from deniable.service.store.contract import StoreUnavailableError
from deniable.service.store.engine import Engine, Session

__all__ = ["RESTORED", "Journal", "applied", "continued", "file_text", "since", "sync_folder"]

_LIFE, _LAST = "life", "journal"
"""Rows of `meta`: who writes, and the mark of the last line."""
_BEGAN, RESTORED = "began", "restored"
_CHUNK = 1 << 16
_HINT = "See Care in docs/howto/operate.md."

Entry = Mapping[str, Any]


class Journal:
    """The journal of an open database; without a path nothing is written."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path

    def ready(self, engine: Engine) -> None:
        """Begin the journal of a database that has none yet."""
        with engine.read() as session:
            if self.path is None or _meta(session, _LIFE) is not None:
                return
        with engine.write() as session:
            session.lock(0, alone=True)
            if _meta(session, _LIFE) is None:
                self._begin(session, self.path)

    def _begin(self, session: Session, path: Path) -> None:
        if path.exists():
            if any(entry["what"] != _BEGAN for entry, _ in _entries(path)):
                raise ParameterError(
                    f"the journal {path} belongs to a database that is not here.",
                    f"Restore its last copy with deniable store restore, or move the journal away. {_HINT}",
                )
            path.unlink()  # somebody began it and stopped before anything happened
        _renew(session, path, _BEGAN, 0)

    def note(self, session: Session, what: str, **content: Any) -> None:
        """Write a line, within the transaction that it is about; it is on the disk when this returns."""
        life = _meta(session, _LIFE)
        if life is None:
            return
        if self.path is None:
            told = "the database has a journal, and nobody says where it is"
            raise ParameterError(f"{told}.", f"Say it with the setting journal. {_HINT}")
        session.lock(0, alone=True)
        last = _meta(session, _LAST)
        line = _line(life, _checked(self.path, life, last), what, content)
        _append(self.path, line)
        _set_meta(session, _LAST, _mark(line))


# ---- the file


def _line(life: int, after: int, what: str, content: Mapping[str, Any]) -> bytes:
    return json.dumps({"life": life, "after": after, "what": what, **content}, sort_keys=True).encode() + b"\n"


def _mark(line: bytes) -> int:
    """63 bits of a line's hash, which every database can hold as a number."""
    return int.from_bytes(sha256(line).digest()[:8], "big") >> 1


def _append(path: Path, line: bytes) -> None:
    try:
        with path.open("ab") as file:
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise StoreUnavailableError(
            f"the journal {path} cannot be written now: {error.strerror}.", "Is the disk full or read-only?"
        ) from error


def _checked(path: Path, life: int, last: int | None) -> int:
    """The mark of the last line, if the file is the journal of this database; an unfinished line is cut off."""
    if not path.exists():
        raise FormatError(
            f"the journal {path} is missing, so nothing can be published, closed or revoked.",
            f"Put it back; a copy of a database is used by deniable store restore, never as it is. {_HINT}",
        )
    with path.open("r+b") as file:
        line = _last_line(file)
    if not line or _read(line, path)["life"] != life:
        raise FormatError(
            f"the journal {path} goes on with another database, which was restored from a copy of this one.",
            f"Use that one: this one can publish, close and revoke nothing any more. {_HINT}",
        )
    if _mark(line) != last and not any(mark == last for _, mark in _entries(path)):
        raise FormatError(
            f"the journal {path} lacks what this database wrote last.", f"Put the whole of it back. {_HINT}"
        )
    return _mark(line)


def _last_line(file: BinaryIO) -> bytes:
    """The last whole line; what comes after it was never acted upon and is cut off."""
    size, tail = file.seek(0, os.SEEK_END), b""
    while tail.count(b"\n") < 2 and len(tail) < size:
        start = max(0, size - len(tail) - _CHUNK)
        file.seek(start)
        tail = file.read(size - len(tail) - start) + tail
    whole, end, rest = tail.rpartition(b"\n")
    if rest:
        file.truncate(size - len(rest))
        os.fsync(file.fileno())
    return whole.rpartition(b"\n")[2] + end


def _read(line: bytes, path: Path) -> dict[str, Any]:
    try:
        found = json.loads(line)
        if not all(type(found[name]) is kind for name, kind in (("life", int), ("after", int), ("what", str))):
            raise TypeError
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise FormatError(f"{path} is damaged or not a journal.", _HINT) from error
    return dict(found)


def _entries(path: Path) -> Iterator[tuple[Entry, int]]:
    """All lines with their marks; `FormatError` where one does not follow the one before."""
    before = 0
    try:
        with path.open("rb") as file:
            for line in file:
                if not line.endswith(b"\n"):
                    return  # not finished, so never acted upon
                entry = _read(line, path)
                if entry["after"] != before:
                    raise FormatError(f"{path} is damaged: something is missing in the midst of it.", _HINT)
                before = _mark(line)
                yield entry, before
    except OSError as error:
        raise ParameterError(
            f"journal must be a file that can be read, got {str(path)!r}: {error.strerror}."
        ) from error


def _renew(session: Session, path: Path, what: str, after: int) -> None:
    """Go on under a new life, in a file that may have to be made."""
    life = int.from_bytes(os.urandom(8), "big") >> 1
    line = _line(life, after, what, {})
    if path.exists():
        with path.open("r+b") as file:
            _last_line(file)  # a line that was not finished is cut off
    else:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        sync_folder(path.parent)
    _append(path, line)
    _set_meta(session, _LIFE, life)
    _set_meta(session, _LAST, _mark(line))


def sync_folder(folder: Path) -> None:
    """Make a new name in a folder durable."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def file_text(data: bytes) -> str:
    """Bytes as a line can hold them."""
    return b64encode(data).decode()


def _file_bytes(text: str) -> bytes:
    """What `file_text` wrote."""
    return b64decode(text, validate=True)


# ---- the database's side


def _meta(session: Session, name: str) -> int | None:
    found = session.execute("SELECT value FROM meta WHERE name = ?", (name,))
    return int(found[0][0]) if found else None


def _set_meta(session: Session, name: str, value: int) -> None:
    sql = "INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
    session.execute(sql, (name, value))


def since(path: Path, session: Session) -> list[Entry]:
    """What happened after a copy was made, which the session reads; a journal that does not fit it is refused."""
    last, found, fits = _meta(session, _LAST), [], False
    for entry, mark in _entries(path):
        if fits:
            found.append(entry)
        fits = fits or mark == last
    if not fits:
        raise ParameterError(
            f"the journal {path} is not that of this copy, or began after it was made.",
            "Name the right one with --journal. To restore without one, move it away: all tasks are closed then, "
            "and all keys are void.",
        )
    return found


def continued(session: Session, source: Path | None, own: Path | None) -> None:
    """The restored database takes the journal over, in a file of its own if it has one; without one it begins anew."""
    if source is None:
        session.execute("DELETE FROM meta WHERE name IN (?, ?)", (_LIFE, _LAST))
        return
    after = 0
    for _, mark in _entries(source):
        after = mark
    if own is not None and own.resolve() != source.resolve():
        if own.exists():
            raise ParameterError(f"there is a journal {own} already.", "Restore to a new place, or move it away.")
        with replacing(own, private=True) as file, source.open("rb") as lines:
            file.writelines(lines)
        _renew(session, source, RESTORED, after)  # its database, should it still run, can change nothing any more
    _renew(session, own or source, RESTORED, after)


def applied(session: Session, entries: Sequence[Entry]) -> dict[str, int]:
    """Make all of this true in a database that was copied; how many of each there are."""
    done: dict[str, int] = {}
    for entry in entries:
        what = entry["what"]
        if what in (_BEGAN, RESTORED):
            continue
        if what not in _STEPS:
            raise FormatError(f"the journal has {what!r} in it, which this program does not know.", "Upgrade deniable.")
        try:
            for sql, values in _STEPS[what](entry):
                session.execute(sql, values)
        except (KeyError, ValueError, TypeError) as error:
            raise FormatError(f"the journal has a line {what!r} that says too little.", _HINT) from error
        done[what] = done.get(what, 0) + 1
    return done


_Steps = Iterator[tuple[str, tuple[object, ...]]]


def _opened(entry: Entry) -> _Steps:
    """A task that was made after the copy is made again, without reports."""
    make = (
        "INSERT INTO tasks (number, id, document, state) SELECT coalesce(max(number), 0) + 1, CAST(? AS TEXT), ?, "
        "'draft' FROM tasks WHERE true ON CONFLICT (id) DO NOTHING"
    )
    yield make, (entry["task"], _file_bytes(entry["document"]))
    yield "UPDATE tasks SET state = 'open' WHERE id = ? AND state = 'draft'", (entry["task"],)


def _closed(entry: Entry) -> _Steps:
    yield "UPDATE tasks SET state = 'closed' WHERE id = ?", (entry["task"],)


def _sealed(entry: Entry) -> _Steps:
    made = "INSERT INTO sealed (task, window_number) SELECT number, CAST(? AS INTEGER) FROM tasks WHERE id = ?"
    yield f"{made} ON CONFLICT DO NOTHING", (int(entry["window"]), entry["task"])


def _released(entry: Entry) -> _Steps:
    """The last line is what was published: those before it were written by somebody who did not come that far."""
    yield from _sealed(entry)
    document = _file_bytes(entry["document"])
    sql = "UPDATE sealed SET document = ? WHERE task = (SELECT number FROM tasks WHERE id = ?) AND window_number = ?"
    yield sql, (document, entry["task"], int(entry["window"]))


def _revoked(entry: Entry) -> _Steps:
    sql = "UPDATE keys SET revoked = ? WHERE name = ? AND (revoked IS NULL OR revoked > ?)"
    yield sql, (entry["on"], entry["key"], entry["on"])
    if entry.get("void"):  # older programs did not write whether it was void at once
        yield "UPDATE keys SET digest = ? WHERE name = ?", (b"", entry["key"])


_STEPS = {"opened": _opened, "closed": _closed, "sealed": _sealed, "released": _released, "revoked": _revoked}
"""What is noted, and how it is made true in a copy."""
