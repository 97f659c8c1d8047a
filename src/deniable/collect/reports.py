"""Reports of many people, packed in columns; each row is one report of constant length."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from deniable.collect.frames import Columned
from deniable.core.same import Same
from deniable.core.types import Bytes, Columns, UintArray
from deniable.errors import FormatError, InWords, MergeError, is_number, require

__all__ = [
    "BATCHES",
    "Design",
    "Field",
    "Reports",
    "batches_of",
    "difference",
    "join_rows",
    "new_id",
    "once",
    "split_rows",
    "title_of",
]

BATCHES = 256
"""Batches that a collection remembers, so that what it holds stays small however many are added up."""

Design = Mapping[str, Any]
"""The canonical description of a mechanism: plain data, equal if and only if the mechanism is."""


@dataclass(frozen=True, slots=True)
class Field:
    """A report field: an unsigned integer of `width` bytes, or `width` bytes of packed bits."""

    name: str
    kind: str
    width: int

    def __post_init__(self) -> None:
        widths = {"uint": (1, 2, 4, 8), "bytes": range(1, 1 << 32)}
        if self.width not in widths.get(self.kind, ()):
            raise FormatError(
                f"a report field is an unsigned integer of 1, 2, 4 or 8 bytes ('uint') or some 'bytes', "
                f"got {self.kind!r} of width {self.width!r}."
            )

    @property
    def dtype(self) -> np.dtype[Any]:
        """Little-endian type of the column."""
        return np.dtype(f"<u{self.width}" if self.kind == "uint" else "u1")

    def shape(self, n: int) -> tuple[int, ...]:
        """Shape of a column of n reports."""
        return (n,) if self.kind == "uint" else (n, self.width)


@dataclass(frozen=True, slots=True, eq=False)
class Reports(Same, Columned):
    """n reports of one design. `simulated` says whether any of them came from a seeded stream."""

    design: Design
    fields: tuple[Field, ...]
    columns: Columns
    simulated: bool = False
    sources: tuple[str, ...] = ()
    """Ids of the report files that these are all the reports of."""
    batches: tuple[str, ...] = ()
    """Names of the calls and files that these reports came from, in memory only: none is counted twice.

    Some reports of a batch, such as `reports[:100]`, are a new one that is not known: what is taken apart is the
    caller's business.
    """

    tells: ClassVar[tuple[str, ...]] = ("design", "fields", "simulated", "columns")

    def __post_init__(self) -> None:
        n = len(self)
        for field in self.fields:
            column = self.columns.get(field.name)
            if column is None or column.shape != field.shape(n) or column.dtype != field.dtype:
                found = "nothing" if column is None else f"{column.dtype} of shape {column.shape}"
                raise FormatError(
                    f"report field {field.name!r} must be {field.dtype} of shape {field.shape(n)}, got {found}."
                )

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __getitem__(self, rows: Any) -> Reports:
        """Some of the reports: a slice, an array as NumPy takes it, or one number for one of them."""
        if isinstance(rows, int | np.integer) and not isinstance(rows, bool):
            if not -len(self) <= rows < len(self):
                raise IndexError(f"there are {len(self)} reports, got the index {rows}.")
            rows = [int(rows)]
        elif not isinstance(rows, slice):
            rows = np.asarray(rows) if np.size(rows) else np.zeros(0, np.int64)
            if rows.ndim != 1 or rows.dtype.kind not in "iub":
                raise IndexError("reports are taken by a number, a slice, or a list of numbers or of True and False.")
        part = {name: column[rows] for name, column in self.columns.items()}
        return Reports(self.design, self.fields, part, self.simulated)

    def __add__(self, other: Reports) -> Reports:
        if not isinstance(other, Reports):
            return NotImplemented
        return Reports.concat([self, other])

    def __radd__(self, other: object) -> Reports:
        """So that `sum` adds up, which starts with 0."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __repr__(self) -> str:
        mark = ", SIMULATED" if self.simulated else ""
        n, size = len(self), self.row_bytes
        counted, sized = f"{n:,} report{'s' * (n != 1)}", f"{size:,} byte{'s' * (size != 1)} each"
        return f"<{counted} of {title_of(self.design)}, {sized}{mark}>"

    def _repr_html_(self) -> str:
        """A small table for notebooks."""
        from deniable.present.html import facts_html

        facts = {"reports": f"{len(self):,}", "bytes each": f"{self.row_bytes:,}", "bytes in all": f"{self.nbytes:,}"}
        return facts_html(f"Reports of {title_of(self.design)}", facts, simulated=self.simulated)

    @property
    def row_bytes(self) -> int:
        """Bytes of one report."""
        return sum(field.width for field in self.fields)

    @property
    def nbytes(self) -> int:
        """Bytes of all reports."""
        return self.row_bytes * len(self)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        """The reports as NumPy has rows of several fields: `np.asarray(reports)["value"]`."""
        kinds = [(f.name, f.dtype, f.shape(1)[1:]) for f in self.fields]
        rows = np.empty(len(self), kinds)
        for field in self.fields:
            rows[field.name] = self.columns[field.name]
        return rows if dtype is None else rows.astype(dtype)

    def to_columns(self) -> dict[str, list[Any]]:
        """The fields of the reports by name, a row for each, and the mark of simulated data, as plain lists.

        Numbers are numbers; packed bits are bytes.
        """
        parts = self._framed().items()
        return {name: list(column) if isinstance(column, list) else column.tolist() for name, column in parts}

    def _framed(self) -> dict[str, Any]:
        """See `Columned._framed`: numbers as arrays, and packed bits as lists of bytes."""
        numbers = ((f.name, f.kind == "uint", self.columns[f.name]) for f in self.fields)
        found = {name: column if plain else [row.tobytes() for row in column] for name, plain, column in numbers}
        return {**found, "simulated": np.full(len(self), self.simulated)}

    def row(self, i: int) -> bytes:
        """One report as a device would send it."""
        return b"".join(np.ascontiguousarray(self.columns[f.name][i]).tobytes() for f in self.fields)

    @classmethod
    def from_rows(cls, design: Design, fields: tuple[Field, ...], rows: Sequence[bytes], *, simulated: bool) -> Reports:
        """Reports as devices sent them, into columns; they do not tell whether they are `simulated`, so say it."""
        width = sum(field.width for field in fields)
        wrong = next((i for i, row in enumerate(rows) if len(row) != width), None)
        if wrong is not None:
            raise FormatError(f"report {wrong} has {len(rows[wrong])} bytes, this design's reports have {width}.")
        table = np.frombuffer(b"".join(rows), np.uint8).reshape(len(rows), width)
        return cls(design, fields, split_rows(fields, table), simulated)

    @classmethod
    def concat(cls, parts: Sequence[Reports]) -> Reports:
        """Several batches of one design as one; `MergeError` if one of them comes twice."""
        require(
            len(parts) > 0, "parts", InWords("none"), "at least one batch of reports", "What would their design be?"
        )
        first = parts[0]
        sources, batches = first.sources, first.batches
        for part in parts[1:]:
            if part.design != first.design:
                raise MergeError(f"reports of different designs do not mix: {difference(first.design, part.design)}.")
            sources, batches = once(sources, part.sources), batches_of(batches, part.batches)
        columns = {f.name: np.concatenate([p.columns[f.name] for p in parts]) for f in first.fields}
        return cls(first.design, first.fields, columns, any(p.simulated for p in parts), sources, batches)


def once(one: Sequence[str], two: Sequence[str]) -> tuple[str, ...]:
    """The ids of report files in two collections together; `MergeError` if a file is in both."""
    twice = set(one) & set(two)
    if twice:
        raise MergeError(
            f"a report file would be counted twice: the one with the id {min(twice)}"
            f"{f' and {len(twice) - 1} more' * (len(twice) > 1)} is in both.",
            "Everybody counts once: leave one of the two out.",
        )
    return tuple(sorted({*one, *two}))


def batches_of(one: Sequence[str], two: Sequence[str]) -> tuple[str, ...]:
    """The batches of two collections together, the last `BATCHES` of them; `MergeError` if one is in both."""
    if set(one) & set(two):
        raise MergeError(
            "the same reports would be counted twice: some are in both.",
            "Everybody counts once: leave one of the two out. In a notebook, was a cell run twice?",
        )
    return (*one, *two)[-BATCHES:]


def new_id() -> str:
    """An id for a new batch or report file: 128 random bits, in hexadecimal digits."""
    return os.urandom(16).hex()


def split_rows(fields: Sequence[Field], rows: Bytes) -> Columns:
    """Reports, one row of bytes each, into columns; bytes after the last field are left out."""
    columns: Columns = {}
    start = 0
    for field in fields:
        part: UintArray = np.ascontiguousarray(rows[:, start : start + field.width])
        columns[field.name] = part.view(field.dtype).reshape(field.shape(len(rows)))
        start += field.width
    return columns


def join_rows(fields: Sequence[Field], columns: Columns) -> Bytes:
    """The inverse of `split_rows`: reports, one row of bytes each."""
    parts = [
        np.ascontiguousarray(columns[f.name].astype(f.dtype, copy=False)).view(np.uint8).reshape(-1, f.width)
        for f in fields
    ]
    return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)


def title_of(design: Design) -> str:
    """A design in a few words.

    >>> title_of({"mechanism": "ss", "epsilon": 1.0, "domain": {"k": 16}, "params": {"size": 4}})
    'ss (epsilon = 1, k = 16, size = 4)'
    """
    domain = design.get("domain", {})
    k = len(domain["labels"]) if "labels" in domain else domain.get("k", domain.get("points", ""))
    size = {"k": f"{k:,}"} if isinstance(k, int) else {}
    parts = design.get("parts")
    size |= {"parts": f"{len(parts)}"} if isinstance(parts, list) else {}
    own = {name: f"{x:,.6g}" for name, x in design.get("params", {}).items() if is_number(x)}
    shown = {"epsilon": f"{design.get('epsilon', 0.0):g}", **size, **own}
    return f"{design.get('mechanism')} ({', '.join(f'{name} = {x}' for name, x in shown.items())})"


def difference(one: Design, two: Design) -> str:
    """What differs between two designs, in words.

    >>> difference({"mechanism": "grr", "epsilon": 1.0}, {"mechanism": "grr", "epsilon": 2.0})
    'epsilon is 1.0 in one and 2.0 in the other'
    """
    keys = [key for key in dict.fromkeys((*one, *two)) if one.get(key) != two.get(key)]
    keys = [key for key in keys if key != "kernel"] or keys  # what else differs says why the integers do
    shown = (f"{key} is {_short(one.get(key))} in one and {_short(two.get(key))} in the other" for key in keys)
    return "; ".join(shown) or "they are the same"


def _short(value: object, limit: int = 120) -> str:
    text = repr(value)
    return text if len(text) <= limit else f"{text[: limit - 3]}..."
