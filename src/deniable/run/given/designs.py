"""Mechanisms in files: a design, the designs of a task, those of a report or tally file, or a matrix of chances."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from deniable.errors import FormatError
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.registry import from_design, mechanism
from deniable.run.files import naming
from deniable.run.given.matrices import read_matrix
from deniable_client.checking import verify_place
from deniable_client.task import Task

__all__ = ["is_file", "read_designs"]


def is_file(name: str) -> bool:
    """Whether a name is that of a file: it has a suffix or a folder, or one of this name is there."""
    path = Path(name)
    return path.suffix.lower() in (".json", ".csv", ".bin", ".reports", ".tally") or path.is_file() or "/" in name


def read_designs(source: str) -> list[tuple[str, Mechanism]]:
    """The mechanisms of a file, each with the name of its question in a task, else with its own."""
    with naming(source):
        if Path(source).suffix.lower() == ".csv":
            made = mechanism("matrix", matrix=read_matrix(source))
            return [(made.name, made)]
        found = verify_place(source)
        if not found.holds or found.document is None:
            raise FormatError(f"it does not hold: {' '.join(found.lines[1:])}", "`deniable verify` says more.")
        if found.kind == "task":
            return [(question.name, from_design(question.design)) for question in Task.load(found.document).questions]
        design: Any = found.document.get("design", found.document)
        made = from_design(design)
        return [(made.name, made)]
