"""What of a sweep is done, by cell and run; in a file, if one is named, that survives the end of the process."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from deniable.run.journal import Journal

__all__ = ["Done"]


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
