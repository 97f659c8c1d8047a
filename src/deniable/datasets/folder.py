"""Larger data sets from a folder of the user's: tables of numbers and images, where they are present.

The folder is given, or named by the environment variable DENIABLE_DATA; nothing is ever fetched.
"""

from __future__ import annotations

import csv
import gzip
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from deniable.core.types import FloatArray
from deniable.errors import FormatError, require

__all__ = ["Table", "data_folder", "read_images", "read_table"]


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Columns of numbers by name."""

    names: tuple[str, ...]
    rows: FloatArray

    def column(self, name: str) -> FloatArray:
        """One column."""
        require(name in self.names, "name", name, f"one of {', '.join(self.names)}")
        return np.asarray(self.rows[:, self.names.index(name)])

    def without(self, *names: str) -> FloatArray:
        """All columns but these."""
        return self.rows[:, [i for i, name in enumerate(self.names) if name not in names]]


def data_folder(given: Path | str | None = None) -> Path | None:
    """The folder with larger data sets, or None if there is none."""
    named = given or os.environ.get("DENIABLE_DATA") or None
    if named is None:
        return None
    folder = Path(named)
    require(folder.is_dir(), "data folder", str(folder), "a folder that exists", "Look at DENIABLE_DATA or --data-dir.")
    return folder


def read_table(path: Path) -> Table:
    """A table of numbers with a heading, CSV, gzipped or not; `FormatError` for cells that are no numbers."""
    opened: Any = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8", newline="") as file:
        names, *rows = csv.reader(file)
    try:
        return Table(tuple(names), np.array(rows, np.float64).reshape(len(rows), len(names)))
    except ValueError as error:
        raise FormatError(f"{path.name} is not a table of numbers: {error}.") from error


def read_images(path: Path) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Images or labels in IDX format, gzipped: whole numbers from 0 to 255 in one to three dimensions."""
    data = gzip.decompress(path.read_bytes())
    sizes = data[3] if len(data) >= 4 and data[:3] == b"\x00\x00\x08" else 0
    head = 4 + 4 * sizes
    shape = tuple(int.from_bytes(data[4 + 4 * i : 8 + 4 * i], "big") for i in range(sizes))
    if not 1 <= sizes <= 3 or len(data) != head + int(np.prod(shape)):
        raise FormatError(f"{path.name} is not a file of bytes in IDX format, or is cut off.")
    return np.frombuffer(data, np.uint8, offset=head).reshape(shape)
