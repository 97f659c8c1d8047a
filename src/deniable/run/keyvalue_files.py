"""Key-value pairs from files: a row for each pair, with the columns user, key and value.

Pairs of one person may stand anywhere in the file, so all of it is read before anything is drawn. A row with neither
key nor value stands for a person without any pair.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from typing import Any

import numpy as np

from deniable.collect.codec import ReportWriter
from deniable.core.domain import Domain
from deniable.core.types import IntArray
from deniable.errors import ParameterError, require
from deniable.kernels.parallel import ahead
from deniable.mechanisms.keyvalue.base import KeyValue
from deniable.mechanisms.keyvalue.pairs import PairSets, group_pairs, number_people, steps_of
from deniable.randomness import Stream, secure
from deniable.run.files import Chunk, Progress, encode, open_output, read_columns
from deniable.run.local import CHUNK_VALUES, chunk_size, with_streams

__all__ = ["DUPLICATES", "PAIR_COLUMNS", "chunks_of_people", "privatize_pairs", "read_pairs"]

PAIR_COLUMNS = ("user", "key", "value")
"""Names of the columns unless told otherwise."""

DUPLICATES = ("refuse", "first")
"""What happens to a second value of one person for one key."""

_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,4})?")


@dataclass(slots=True)
class _Rows:
    """The rows read so far: who, which key, which value, whether there is a pair, and where each stands."""

    users: list[Any] = field(default_factory=list)
    keys: list[IntArray] = field(default_factory=list)
    values: list[IntArray] = field(default_factory=list)
    held: list[Any] = field(default_factory=list)
    chunks: list[Chunk] = field(default_factory=list)

    def place(self, i: int) -> str:
        """Where row i stands, in words."""
        for chunk in self.chunks:
            if i < len(chunk.cells):
                return f"({replace(chunk, column='').place(i)})"
            i -= len(chunk.cells)
        raise AssertionError(f"row {i} was not read")


def read_pairs(
    source: str,
    domain: Domain,
    ends: tuple[float, float],
    *,
    columns: Sequence[str] = PAIR_COLUMNS,
    format: str = "auto",
    duplicates: str = "refuse",
    progress: Progress | None = None,
) -> PairSets:
    """The pairs of a CSV or Parquet file, people in the order of their first rows.

    Errors name the line (Parquet: the row) and the column. `duplicates`: a second value of one person for one key is
    refused, or left out ("first").
    """
    require(len(columns) == 3, "columns", columns, "three names: of user, key and value")
    require(duplicates in DUPLICATES, "duplicates", duplicates, f"one of {', '.join(DUPLICATES)}")
    rows = _Rows()
    for users, keys, values in read_columns(source, CHUNK_VALUES, columns, format=format, progress=progress):
        held = np.array([not (_empty(k) and _empty(v)) for k, v in zip(keys.cells, values.cells, strict=True)], bool)
        rows.users.extend(users.cells)
        rows.held.append(held)
        rows.keys.append(_codes(domain, _only(keys, held)))
        rows.values.append(_steps(ends, _only(values, held)))
        rows.chunks.append(users)
    if not rows.users:
        raise ParameterError(f"{source} has no pairs.", "At least one row is needed.")
    return _grouped(rows, domain, duplicates)


def _grouped(rows: _Rows, domain: Domain, duplicates: str) -> PairSets:
    held, keys, values = (np.concatenate(parts) for parts in (rows.held, rows.keys, rows.values))
    people = number_people(rows.users, rows.place)
    at = np.flatnonzero(held)
    _, first = np.unique(people[at] * domain.k + keys, return_index=True)
    if first.size < at.size:
        again = np.setdiff1d(np.arange(at.size), first)
        if duplicates == "refuse":
            label = domain.labels_or_numbers[int(keys[again[0]])]
            raise ParameterError(
                f"the row {rows.place(int(at[again[0]]))} is the second one of its user with the key {label!r} "
                f"({again.size} such rows).",
                "Keep one value of each key, or say --duplicates first.",
            )
        kept = np.sort(first)
        gone = np.ones(held.size, np.bool_)
        gone[at[again]] = False
        people, held, keys, values = people[gone], held[gone], keys[kept], values[kept]
    offsets, order = group_pairs(people, held, rows.place)
    rank = np.cumsum(held) - 1
    return PairSets(offsets, keys[rank[order]], values[rank[order]])


def _only(chunk: Chunk, held: Any) -> Chunk:
    """The cells of rows with a pair."""
    if held.all():
        return chunk
    cells = chunk.cells[held] if isinstance(chunk.cells, np.ndarray) else tuple(compress(chunk.cells, held))
    return replace(chunk, cells=cells, places=list(compress(chunk.places, held)))


def _codes(domain: Domain, chunk: Chunk) -> IntArray:
    return encode(domain, chunk) if len(chunk.cells) else np.zeros(0, np.int64)


def _steps(ends: tuple[float, float], chunk: Chunk) -> IntArray:
    """Values in steps of their range; the error for one that is not allowed says where it stands."""
    numbers = np.array([_number(cell) for cell in chunk.cells], np.float64)
    bad = np.flatnonzero(~((numbers >= ends[0]) & (numbers <= ends[1])))
    if bad.size:
        i = int(bad[0])
        cell = chunk.cells[i]
        given = "it is missing" if _empty(cell) else f"got {cell!r}"
        raise ParameterError(
            f"{chunk.place(i)}: the value must be a number from {ends[0]:g} to {ends[1]:g}, {given}.",
            "Nothing was clipped: correct it, leave the pair out, or declare another range (--range LOW,HIGH).",
        )
    return steps_of(numbers, ends)


def _number(cell: Any) -> float:
    """A number; NaN for what is none."""
    if isinstance(cell, str):
        text = cell.strip()
        return float(text) if _NUMBER.fullmatch(text) else np.nan
    real = isinstance(cell, int | float | np.integer | np.floating) and not isinstance(cell, bool)
    return float(cell) if real else np.nan


def _empty(cell: Any) -> bool:
    return cell is None or (isinstance(cell, str) and not cell.strip()) or bool(cell != cell)


def chunks_of_people(m: KeyValue, pairs: PairSets) -> Iterator[PairSets]:
    """The people in their order, as many at a time as share a stream."""
    size = chunk_size(m)
    for start in range(0, len(pairs), size):
        yield pairs.take(np.arange(start, min(start + size, len(pairs))))


def privatize_pairs(m: KeyValue, pairs: PairSets, target: str, *, rng: Stream | None = None) -> int:
    """A report file with one report per person; returns how many. Secure unless `rng` says otherwise."""
    m.check_sizes(pairs)
    stream = secure() if rng is None else rng
    with (
        open_output(target) as out,
        ReportWriter(out, m.design, m.fields, simulated=stream.simulated) as writer,
    ):
        jobs = with_streams(chunks_of_people(m, pairs), stream)
        for reports in ahead(lambda job: m.privatize(job[0], rng=job[1]), jobs):
            writer.write(reports)
        return writer.total
