"""What of a run is done already: it is in a file, so that a run that was ended goes on where it stood.

The rows of figures and what was measured for claims are kept; verdicts and pages are made of them anew.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from deniable.papers.evidence import Missing, as_evidence, as_plain
from deniable.papers.paper import Context, Found, Rows
from deniable.run.sweep.journal import Journal

__all__ = ["Unfinished", "journal_of"]

_NAME = "unfinished.jsonl"


def journal_of(folder: Path) -> Path:
    """The file beside a paper's figures while its run is not at its end."""
    return folder / _NAME


class Unfinished:
    """Figures and claims of one paper that are done; without a folder nothing is kept."""

    def __init__(self, context: Context, folder: Path | None) -> None:
        self.figures: dict[str, Rows] = {}
        self.claims: dict[str, Found] = {}
        self._context = context
        path = None if folder is None else journal_of(folder)
        hint = "Ask for the same, name another folder, or say --force to begin again."
        words = {"what": "reproduction", "name": "out", "hint": hint}
        self._journal = Journal(path, "deniable-reproduction", _asked(context), self._keep, **words)

    def _keep(self, part: Mapping[str, Any]) -> None:
        if "figure" in part:
            name, rows = self._context.paper.figure(part["figure"]).id, [_of_pairs(row) for row in part["rows"]]
            self.figures[name] = rows
            self._context.recall(name, rows, [str(stream) for stream in part["streams"]])
            return
        measured = (
            as_evidence(_of_pairs(part["measured"])) if part["missing"] is None else Missing(str(part["missing"]))
        )
        name = self._context.paper.claim(part["claim"]).id
        self.claims[name] = Found(measured, tuple(str(one) for one in part["shown"]))

    def rows(self, figure: str) -> Rows:
        """The rows of a figure, kept from now on."""
        if figure not in self.figures:
            rows = self.figures[figure] = self._context.rows(figure)
            self._journal.add(
                {"figure": figure, "rows": [_pairs(row) for row in rows], "streams": self._context.streams(figure)}
            )
        return self.figures[figure]

    def found(self, claim: str) -> Found:
        """What is measured for a claim, kept from now on."""
        if claim not in self.claims:
            found = self.claims[claim] = self._context.paper.claim(claim).find(self._context)
            lost = found.measured.reason if isinstance(found.measured, Missing) else None
            plain = {} if isinstance(found.measured, Missing) else as_plain(found.measured)
            self._journal.add({"claim": claim, "measured": _pairs(plain), "missing": lost, "shown": list(found.shown)})
        return self.claims[claim]

    def close(self) -> None:
        """Let go of the file."""
        self._journal.close()


def _pairs(row: Mapping[str, Any]) -> list[list[Any]]:
    """Names and values in their order, numbers of NumPy's as Python's."""
    return [[name, value.item() if isinstance(value, np.generic) else value] for name, value in row.items()]


def _of_pairs(pairs: list[list[Any]]) -> dict[str, Any]:
    """The same, read again."""
    return {str(name): value for name, value in pairs}


def _asked(context: Context) -> dict[str, Any]:
    """What a run must have been asked for to be gone on with: the same numbers come out of it."""
    data = [] if context.data_dir is None else sorted(f"{one.name} {one.stat().st_size}" for one in _files(context))
    head: dict[str, Any] = {"paper": context.paper.name, "quick": context.quick, "seed": context.seed}
    return head | {"data": hashlib.sha256("\n".join(data).encode()).hexdigest()[:16], "program": _program()}


def _files(context: Context) -> list[Path]:
    assert context.data_dir is not None
    return [one for one in Path(context.data_dir).iterdir() if one.is_file()]


@cache
def _program() -> str:
    """A digest of all sources: another program may measure something else."""
    found = hashlib.sha256()
    for package in ("deniable", "deniable_client"):
        root = Path(str(files(package)))
        for source in sorted(root.rglob("*.py")):
            found.update(source.relative_to(root).as_posix().encode() + b"\0" + source.read_bytes())
    return found.hexdigest()[:16]
