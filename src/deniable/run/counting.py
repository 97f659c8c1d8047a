"""Counting reports that lie in Arrow batches: one per row or packed, by groups or not; what does not count is named.

The same function counts for frames, for files and on Spark's executors, so that all of them skip the same rows.
"""

from __future__ import annotations

import binascii
import zlib
from base64 import b64decode
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from deniable.collect.codec import Head, columns_in
from deniable.collect.limits import BLOCK
from deniable.collect.parquet import DESIGN, PACKED, REPORT, fingerprint
from deniable.collect.reports import Reports, split_rows
from deniable.collect.tally import Tally
from deniable.core.types import Bytes, IntArray
from deniable.errors import FormatError, ParameterError, need_extra, require
from deniable.mechanisms.base import Mechanism

__all__ = ["Counted", "Counting", "Key", "head_of", "skipped_text"]

Key: TypeAlias = tuple[Any, ...]
"""The values of the columns that rows are grouped by; empty where they are not."""

REASONS: Mapping[str, str] = {
    "null": "missing",
    "length": "of another length than reports of this design have",
    "impossible": "that no device can have sent",
    "damaged": "in blocks that are damaged",
    "design": "of another design",
}
"""Why something in a table is not counted, in words that follow a number of reports."""

_MORE = "Say --strict (strict=True) to stop at the first one."


@dataclass(frozen=True, slots=True)
class Counted:
    """A tally, and what was not counted: how many reports for each reason, and where the first of them stood."""

    tally: Tally
    skipped: Mapping[str, int] = field(default_factory=dict)
    places: Mapping[str, str] = field(default_factory=dict)

    def __add__(self, other: Counted) -> Counted:
        skipped = Counter(self.skipped) + Counter(other.skipped)
        return Counted(self.tally + other.tally, dict(sorted(skipped.items())), {**other.places, **self.places})

    @property
    def reports(self) -> int:
        """How many were counted."""
        return self.tally.n


def skipped_text(counted: Counted) -> str:
    """What was not counted, in words; nothing if all was."""
    told = [
        f"{n:,} {REASONS[reason]}" + (f" (first: {counted.places[reason]})" if reason in counted.places else "")
        for reason, n in counted.skipped.items()
    ]
    return f"not counted: {'; '.join(told)}" if told else ""


def head_of(m: Mechanism, *, simulated: bool = False, id: str = "") -> Head:
    """The header of reports of a mechanism."""
    return Head(m.design, m.fields, simulated, id)


@dataclass(slots=True)
class Counting:
    """Adds up the reports in batches; `found` has the tally of every group."""

    m: Mechanism | Mapping[Any, Mechanism]
    """The mechanism; or those of the values of the one column that rows are grouped by, such as the task."""
    by: Sequence[str] = ()
    column: str = REPORT
    simulated: bool = False
    strict: bool = False
    keep: bool = False
    """Whether the reports themselves are kept, too, for methods that read them."""
    found: dict[Key, Counted] = field(default_factory=dict)
    kept: list[Reports] = field(default_factory=list)
    _prints: dict[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        many = isinstance(self.m, Mapping)
        require(not many or len(self.by) == 1, "by", list(self.by), "one column, where designs go by its values")

    @property
    def columns(self) -> list[str]:
        """The columns that are read, as far as a table has them."""
        return list(dict.fromkeys([self.column, *PACKED, DESIGN, *self.by]))

    def result(self, key: Key = ()) -> Counted:
        """What was counted of a group; nothing yet is a tally of no reports."""
        m = self._mechanism(key)
        if m is None:
            raise ParameterError(f"there is no design for {key[0]!r}.", "Give one for every value of the column.")
        return self.found.get(key) or Counted(m.empty(simulated=self.simulated))

    def add(self, batch: Any, place: Callable[[int], str] = "row {}".format) -> None:
        """Count the reports of a batch; `place` says in words where its row i stands."""
        names = batch.schema.names
        for name in self.by:
            require(name in names, "by", name, f"one of the columns {', '.join(names)}")
        there = self.column in names or _is_packed(batch, self.column)
        hint = f"Reports are in the column {REPORT!r}, or packed in {', '.join(PACKED)}."
        require(there, "column", self.column, f"one of {', '.join(names)}", hint)
        batch = _plain(batch.select([name for name in self.columns if name in names]))
        for key, rows, part in groups_of(batch, self.by):
            m = self._mechanism(key)
            if m is None:
                self._no_design(key, part, place(int(rows[0])))
                continue
            counted = self._count(m, part, lambda i, rows=rows: place(int(rows[i])))  # type: ignore[misc]
            self.found[key] = self.found[key] + counted if key in self.found else counted

    def _mechanism(self, key: Key) -> Mechanism | None:
        return self.m.get(key[0]) if isinstance(self.m, Mapping) else self.m

    def _no_design(self, key: Key, part: Any, place: str) -> None:
        told = f"{place}: there is no design for {self.by[0]} = {key[0]!r}"
        raise ParameterError(f"{told} ({part.num_rows:,} rows).", "Give one for every value, or leave these rows out.")

    def _count(self, m: Mechanism, part: Any, place: Callable[[int], str]) -> Counted:
        tally, skips = m.empty(simulated=self.simulated), _Skips(self.strict, place)
        rows = _of_design(part, self._print(m), skips)
        parts = _packed(m, part, rows, skips) if _is_packed(part, self.column) else self._rows(m, part, rows, skips)
        for reports, at in parts:
            reports = replace(reports, simulated=self.simulated)
            counted, bad = _possible(m, reports)
            skips.add("impossible", at[bad])
            if counted is not None:
                tally = tally + counted
            if self.keep:
                self.kept.append(reports[np.setdiff1d(np.arange(len(reports)), bad)] if bad.size else reports)
        return Counted(tally, skips.counts, skips.places)

    def _rows(self, m: Mechanism, part: Any, rows: IntArray, skips: _Skips) -> Iterator[tuple[Reports, IntArray]]:
        table, at = _fixed(part.column(self.column), rows, m.bulk.row_bytes, skips)
        if at.size:
            yield Reports(m.design, m.fields, split_rows(m.fields, table)), at

    def _print(self, m: Mechanism) -> str:
        if id(m) not in self._prints:
            self._prints[id(m)] = fingerprint(m.design)
        return self._prints[id(m)]


class _Skips:
    """What is not counted of a batch; the first of it is an error where nothing may be left out."""

    def __init__(self, strict: bool, place: Callable[[int], str]) -> None:
        self._strict, self._place = strict, place
        self.counts: dict[str, int] = {}
        self.places: dict[str, str] = {}

    def add(self, reason: str, rows: IntArray, reports: int | None = None) -> None:
        """Take note of some rows, which hold one report each unless told otherwise."""
        if not rows.size:
            return
        place = self._place(int(rows[0]))
        if self._strict:
            told = "the report is missing" if reason == "null" else f"this is a report {REASONS[reason]}"
            hint = "Leave it out, or count without strict: what is skipped is counted and named."
            raise FormatError(f"{place}: {told}.", hint)
        self.counts[reason] = self.counts.get(reason, 0) + (rows.size if reports is None else reports)
        self.places.setdefault(reason, place)


def _plain(batch: Any) -> Any:
    """A batch whose texts and bytes lie one after the other; Polars hands over views, which few functions take."""
    arrow = need_extra("pyarrow", "frames")
    views = {arrow.string_view(): arrow.large_string(), arrow.binary_view(): arrow.large_binary()}
    if not any(column.type in views for column in batch.columns):
        return batch
    columns = [column.cast(views.get(column.type, column.type)) for column in batch.columns]
    return arrow.record_batch(columns, names=batch.schema.names)


def groups_of(batch: Any, by: Sequence[str]) -> Iterator[tuple[Key, IntArray, Any]]:
    """The rows of a batch by the values of some columns: the values, the numbers of the rows, and the rows."""
    everything = np.arange(batch.num_rows)
    if not batch.num_rows:
        return
    if not by:
        yield (), everything, batch
        return
    codes = np.zeros(batch.num_rows, np.int64)
    for name in by:
        column = batch.column(name).dictionary_encode(null_encoding="encode")
        part = np.asarray(column.indices.to_numpy(zero_copy_only=False), np.int64)
        _, codes = np.unique(codes * (len(column.dictionary) + 1) + part, return_inverse=True)
    order = np.argsort(codes, kind="stable")
    bounds = [0, *(np.flatnonzero(np.diff(codes[order])) + 1).tolist(), batch.num_rows]
    sorted_rows = batch if len(bounds) == 2 else batch.take(need_extra("pyarrow", "frames").array(order))
    for start, end in pairwise(bounds):
        key = tuple(sorted_rows.column(name)[start].as_py() for name in by)
        yield key, order[start:end], sorted_rows.slice(start, end - start)


def _is_packed(batch: Any, column: str) -> bool:
    return column not in batch.schema.names and all(name in batch.schema.names for name in PACKED)


def _of_design(batch: Any, known: str, skips: _Skips) -> IntArray:
    """The rows whose design, where the table has that column, is ours."""
    if DESIGN not in batch.schema.names:
        return np.arange(batch.num_rows)
    compute = need_extra("pyarrow.compute", "frames")
    same = compute.fill_null(compute.equal(batch.column(DESIGN).cast("string"), known), False)
    ours = np.asarray(same.to_numpy(zero_copy_only=False), np.bool_)
    other = np.flatnonzero(~ours)
    held = (
        int(np.asarray(batch.column("n").fill_null(1).to_numpy(zero_copy_only=False))[other].sum())
        if ("n" in batch.schema.names and "payload" in batch.schema.names)
        else None
    )
    skips.add("design", other, held)
    return np.flatnonzero(ours)


def _fixed(column: Any, rows: IntArray, width: int, skips: _Skips) -> tuple[Bytes, IntArray]:
    """Reports of a column as a table of bytes, and the rows that have one; a text is read as base64."""
    arrow = need_extra("pyarrow", "frames")
    if len(rows) < len(column):
        column = column.take(arrow.array(rows))
    kinds = arrow.types
    if kinds.is_string(column.type) or kinds.is_large_string(column.type) or kinds.is_string_view(column.type):
        column = arrow.array([_decoded(text) for text in column.to_pylist()], arrow.large_binary())
    known = kinds.is_large_binary(column.type) or kinds.is_binary(column.type)
    if not known:
        try:
            column = column.cast(arrow.large_binary())
        except arrow.ArrowException as error:
            need = "a column of bytes, or of text in base64"
            raise ParameterError(f"reports must be {need}, got {column.type}.") from error
    empty = np.asarray(column.is_null().to_numpy(zero_copy_only=False), np.bool_)
    skips.add("null", rows[empty])
    offsets = _offsets(column)
    wrong = ~empty & (np.diff(offsets) != width)
    skips.add("length", rows[wrong])
    good = ~(empty | wrong)
    if not good.all():
        column, rows = column.filter(arrow.array(good)), rows[good]
        offsets = _offsets(column)
    data = column.buffers()[2]
    flat = np.frombuffer(data, np.uint8) if data is not None and rows.size else np.zeros(0, np.uint8)
    start = int(offsets[0]) if rows.size else 0
    return flat[start : start + rows.size * width].reshape(rows.size, width), rows


def _offsets(column: Any) -> IntArray:
    """Where the bytes of each row begin, and where the last ones end."""
    large = need_extra("pyarrow", "frames").types.is_large_binary(column.type)
    kind = np.dtype(np.int64 if large else np.int32)
    buffer = column.buffers()[1]
    if buffer is None or not len(column):
        return np.zeros(1, np.int64)
    found = np.frombuffer(buffer, kind, len(column) + 1, column.offset * kind.itemsize)
    return found.astype(np.int64)


def _decoded(text: str | None) -> bytes | None:
    """A report that was written as text; one that cannot be read has a length that no report has."""
    if not text:
        return None
    try:
        return b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return b""


def _packed(m: Mechanism, batch: Any, rows: IntArray, skips: _Skips) -> Iterator[tuple[Reports, IntArray]]:
    """The reports of packed blocks, each block at its row."""
    width = m.bulk.row_bytes
    counts, sums = (batch.column(name).to_pylist() for name in PACKED[:2])
    blocks = batch.column(PACKED[2])
    for i in rows.tolist():
        n, crc, block = counts[i], sums[i], blocks[i].as_buffer()
        at = np.array([i])
        if block is None or n is None or crc is None:
            skips.add("null", at)
        elif not 0 < n <= BLOCK // width or zlib.crc32(block) != crc:
            skips.add("damaged", at, max(1, block.size // width))
        elif n * width != block.size:
            skips.add("length", at, n)
        else:
            yield Reports(m.design, m.fields, columns_in(m.fields, n, block)), np.repeat(at, n)


def _possible(m: Mechanism, reports: Reports) -> tuple[Tally | None, IntArray]:
    """The tally of the reports that a device can have sent, and the numbers of the others, found by halving."""
    try:
        return m.tally(reports), np.zeros(0, np.int64)
    except FormatError:
        if len(reports) == 1:
            return None, np.zeros(1, np.int64)
    middle = len(reports) // 2
    (one, bad), (two, worse) = _possible(m, reports[:middle]), _possible(m, reports[middle:])
    both = [tally for tally in (one, two) if tally is not None]
    return sum(both[1:], both[0]) if both else None, np.concatenate([bad, worse + middle])
