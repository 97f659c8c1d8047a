"""The file of a sweep: what was asked, then a line for each part that is done. It survives the end of the process."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from deniable.collect.codec import canonical
from deniable.errors import FormatError, ParameterError, show
from deniable.run.files import check_output

__all__ = ["Journal"]

_KIND, _VERSION = "deniable-study", 1
_LINE = 1 << 28
"""Bytes of a file that is read at most."""


class Journal:
    """Parts that are done, by cell and run; without a path they are kept in memory alone."""

    def __init__(self, path: str | os.PathLike[str] | None, asked: Mapping[str, Any]) -> None:
        self.done: dict[tuple[int, int], dict[str, Any]] = {}
        self.closed: dict[int, dict[str, Any]] = {}
        self._file: BinaryIO | None = None
        if path is None:
            return
        check_output(str(path), "resume")
        target = self._target = Path(path)
        self._new = not target.exists()
        head = {_KIND: _VERSION, "asked": dict(asked)}
        self._file = target.open("a+b")
        try:
            _claim(self._file, target)
            if target.stat().st_size:
                self._read(target, head)
            else:
                self._write(head)
        except BaseException:
            self.close()
            raise

    def _read(self, target: Path, head: Mapping[str, Any]) -> None:
        """What is there already; a last line that was cut short is taken off."""
        if target.stat().st_size > _LINE:
            raise FormatError(f"{target} has more than {_LINE:,} bytes: it is not the file of a study.")
        data = target.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        lines = whole.splitlines()
        try:
            found = json.loads(lines[0]) if lines else {}
            given = found["asked"] if found[_KIND] == _VERSION else None
        except (ValueError, LookupError, TypeError):
            given = None
        if not isinstance(given, dict):
            hint = "Name another file; nothing was written to this one."
            raise FormatError(f"{target} is not the file of a study.", hint)
        _compare(given, json.loads(canonical(head["asked"])), target)
        for number, line in enumerate(lines[1:], start=2):
            try:
                part = json.loads(line)
                self._keep(int(part["cell"]), int(part["first"]), list(part["rows"]), dict(part["closed"]))
            except (ValueError, LookupError, TypeError) as error:
                raise FormatError(f"{target}, line {number}, is damaged: {error}.", "Name another file.") from error
        assert self._file is not None
        self._file.truncate(len(whole))

    def _keep(self, cell: int, first: int, rows: list[dict[str, Any]], closed: dict[str, Any]) -> None:
        for i, row in enumerate(rows):
            self.done[cell, first + i] = dict(row)
        self.closed[cell] = closed

    def add(self, cell: int, first: int, rows: list[dict[str, Any]], closed: dict[str, Any]) -> None:
        """Some runs of a cell are done: they are in the file before this returns."""
        self._keep(cell, first, rows, closed)
        self._write({"cell": cell, "first": first, "rows": rows, "closed": closed})

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
            if self._new and not self.done:
                self._target.unlink(missing_ok=True)


def _claim(file: BinaryIO, target: Path) -> None:
    """One process at a time, where the system can tell."""
    with suppress(ImportError):
        import fcntl

        try:
            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ParameterError(
                f"resume must be a file that no other study writes to, got {show(str(target))}."
            ) from None


def _compare(found: Mapping[str, Any], asked: Mapping[str, Any], target: Path) -> None:
    """`ParameterError` that names what differs."""
    for name in dict.fromkeys([*asked, *found]):
        if found.get(name) != asked.get(name):
            told = f"{name} {show(found.get(name))}, not {show(asked.get(name))}"
            hint = "Ask for the same, or name another file."
            raise ParameterError(f"{target} is of another study: it has {told}.", hint)
