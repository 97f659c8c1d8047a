"""The file of a sweep, or of something else that is long: what was asked, then a line for each part that is done."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from deniable.collect.codec import canonical
from deniable.errors import FormatError, ParameterError, show
from deniable.run.files import check_output

__all__ = ["Done", "Journal"]

_VERSION = 1
_LINE = 1 << 28
"""Bytes of a file that is read at most."""


class Journal:
    """Parts that are done, each handed to `keep` when it is read again; without a path nothing is written.

    `kind` is the name of such files in their first line, `what` the same in words; `name` is the option that named the
    file, and `asked` what it must have been asked for.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None,
        kind: str,
        asked: Mapping[str, Any],
        keep: Callable[[dict[str, Any]], None],
        *,
        what: str = "study",
        name: str = "resume",
        hint: str = "Ask for the same, or name another file.",
    ) -> None:
        self._kind, self._what, self._hint, self._keep = kind, what, hint, keep
        self._empty = True
        self._file: BinaryIO | None = None
        if path is None:
            return
        check_output(str(path), name)
        self.path = Path(path)
        self._new = not self.path.exists()
        head = {kind: _VERSION, "asked": dict(asked)}
        self._file = self.path.open("a+b")
        try:
            self._claim(name)
            if self.path.stat().st_size:
                self._read(head)
            else:
                self._write(head)
        except BaseException:
            self.close()
            raise

    def _read(self, head: Mapping[str, Any]) -> None:
        """What is there already; a last line that was cut short is taken off."""
        target = self.path
        if target.stat().st_size > _LINE:
            raise FormatError(f"{target} has more than {_LINE:,} bytes: it is not the file of a {self._what}.")
        data = target.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        lines = whole.splitlines()
        try:
            found = json.loads(lines[0]) if lines else {}
            given = found["asked"] if found[self._kind] == _VERSION else None
        except (ValueError, LookupError, TypeError):
            given = None
        if not isinstance(given, dict):
            hint = "Name another file; nothing was written to this one."
            raise FormatError(f"{target} is not the file of a {self._what}.", hint)
        self._compare(given, json.loads(canonical(head["asked"])))
        for number, line in enumerate(lines[1:], start=2):
            try:
                self._keep(json.loads(line))
            except (ValueError, LookupError, TypeError) as error:
                raise FormatError(f"{target}, line {number}, is damaged: {error}.", "Name another file.") from error
            self._empty = False
        assert self._file is not None
        self._file.truncate(len(whole))

    def add(self, part: Mapping[str, Any]) -> None:
        """A part is done: it is in the file before this returns."""
        self._empty = False
        self._write(part)

    def _write(self, line: Mapping[str, Any]) -> None:
        if self._file is None:
            return
        self._file.write(canonical(line) + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Let go of the file; one that was made for nothing goes."""
        if self._file is not None:
            self._file.close()
            self._file = None
            if self._new and self._empty:
                self.path.unlink(missing_ok=True)

    def _claim(self, name: str) -> None:
        """One process at a time, where the system can tell."""
        assert self._file is not None
        with suppress(ImportError):
            import fcntl

            try:
                fcntl.flock(self._file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                need = f"a file that no other {self._what} writes to"
                raise ParameterError(f"{name} must be {need}, got {show(str(self.path))}.") from None

    def _compare(self, found: Mapping[str, Any], asked: Mapping[str, Any]) -> None:
        """`ParameterError` that names what differs."""
        for name in dict.fromkeys([*asked, *found]):
            if found.get(name) != asked.get(name):
                there, wanted = _apart(found.get(name), asked.get(name))
                told = f"{name} {show(there)}, not {show(wanted)}"
                raise ParameterError(f"{self.path} is of another {self._what}: it has {told}.", self._hint)


def _apart(one: Any, two: Any) -> tuple[Any, Any]:
    """Both, or of two lists what only one of them has: they may begin alike, and be too long to be shown whole."""
    if not (isinstance(one, list) and isinstance(two, list)):
        return one, two
    left, right = [x for x in one if x not in two], [x for x in two if x not in one]
    return (left, right) if left or right else (one, two)


class Done:
    """Parts that are done; without a path they are kept in memory alone."""

    def __init__(self, path: str | os.PathLike[str] | None, asked: Mapping[str, Any]) -> None:
        self.done: dict[tuple[int, int], dict[str, Any]] = {}
        self.closed: dict[int, dict[str, Any]] = {}
        self._journal = Journal(path, "deniable-study", asked, self._keep)

    def _keep(self, part: Mapping[str, Any]) -> None:
        cell, first = int(part["cell"]), int(part["first"])
        rows, closed = list(part["rows"]), dict(part["closed"])
        for i, row in enumerate(rows):
            self.done[cell, first + i] = dict(row)
        self.closed[cell] = closed

    def add(self, cell: int, first: int, rows: list[dict[str, Any]], closed: dict[str, Any]) -> None:
        """Some runs of a cell are done: they are in the file before this returns."""
        part = {"cell": cell, "first": first, "rows": rows, "closed": closed}
        self._keep(part)
        self._journal.add(part)

    def close(self) -> None:
        """Let go of the file."""
        self._journal.close()
