"""Tables of reports in files, opened by what they are, and counted part by part: here or on another machine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from deniable.collect.codec import MAGIC, Head, canonical
from deniable.collect.limits import parse_header
from deniable.collect.parquet import PACKED, TableReader
from deniable.collect.reports import Design, Reports
from deniable.errors import need_extra
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.registry import from_design
from deniable.run.counting import Counted, Counting, head_of
from deniable.run.files import read_values
from deniable.run.layout import STANDARD

__all__ = ["Group", "claimed", "count_group", "mechanism_of", "open_table"]

_STARTS = {b"PAR1": "parquet", b"ARRO": "arrow"}
_TEXT = (".csv", ".tsv")


class Group(NamedTuple):
    """A part of a file that is counted on its own, wherever."""

    path: str
    number: int
    given: Design | None
    """The design, where the file does not say it."""


class TextReader(TableReader):
    """Reports in the column `report` of a CSV file, in base64; what they are must be given."""

    @property
    def kind(self) -> str:
        """Text."""
        return "csv"

    @property
    def schema(self) -> Any:
        """One column of text."""
        arrow = need_extra("pyarrow", "frames")
        return arrow.schema([("report", arrow.string())])

    @property
    def metadata(self) -> None:
        """Text says nothing of itself."""

    @property
    def groups(self) -> int:
        """Text is read from its beginning."""
        return 1

    @property
    def rows(self) -> int:
        """Counted line by line."""
        return sum(batch.num_rows for batch in self.batches(0, ["report"]))

    def first_row(self, group: int) -> int:
        """Nothing stands before the one part."""
        return 0

    def batches(self, group: int, columns: Iterable[str], size: int = 1 << 16) -> Iterator[Any]:
        """The reports, some at a time."""
        arrow = need_extra("pyarrow", "frames")
        for chunk in read_values(self.path, size, column="report", format="csv"):
            yield arrow.record_batch([arrow.array(list(chunk.cells), arrow.string())], ["report"])


def table_kind(path: str) -> str:
    """`parquet`, `arrow` or `csv` for a file that may hold a table of reports; nothing for others."""
    if path == STANDARD:
        return ""
    text = "csv" if Path(path).suffix.lower() in _TEXT else ""
    try:
        with Path(path).open("rb") as file:
            start = file.read(4)
    except OSError:  # whoever opens it says what is wrong
        return text
    return "" if start in MAGIC else _STARTS.get(start, text)


def open_table(path: str, given: Design | None = None) -> TableReader | None:
    """A table of reports, or None for a file that is none. `given`: what its reports are, where it does not say so."""
    kind = table_kind(path)
    if not kind:
        return None
    head = given_head(given)
    return TextReader(path, head) if kind == "csv" else TableReader(path, head)


def given_head(design: Design | None) -> Head | None:
    """The header that a design stands for."""
    return None if design is None else head_of(mechanism_of(design))


def mechanism_of(design: Design) -> Mechanism:
    """The mechanism of a design; made once for each."""
    return _made(canonical(design))


@cache
def _made(text: bytes) -> Mechanism:
    return from_design(parse_header(text))


def count_group(group: Group, *, strict: bool = False, keep: bool = False) -> tuple[Counted, list[Reports]]:
    """Count a part of a table; with `keep`, its reports too. Nothing but the path and a design need travel here."""
    reader = open_table(group.path, group.given)
    if reader is None:
        raise AssertionError(f"{group.path} is no table any more")
    counting = Counting(mechanism_of(reader.design), simulated=reader.simulated, strict=strict, keep=keep)
    row = reader.first_row(group.number) + 1
    for batch in reader.batches(group.number, counting.columns):
        counting.add(batch, lambda i, row=row: f"{group.path}, row {row + i}")  # type: ignore[misc]
        row += batch.num_rows
    return counting.result(), counting.kept


def claimed(reader: TableReader) -> int:
    """How many reports a table says it has; nothing of it is checked."""
    if not set(PACKED) <= set(reader.schema.names):
        return reader.rows
    parts = (part for group in range(reader.groups) for part in reader.batches(group, ["n"]))
    return sum(n or 0 for part in parts for n in part.column("n").to_pylist())
