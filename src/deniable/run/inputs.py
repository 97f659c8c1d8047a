"""What people hand in, read from files: one table by `Mechanism.takes`, which whoever reads data asks.

An input lists what may be said about the columns of a file, and reads it in batches: as many people as share a stream,
whose reports are made when the batch is called with it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, compress, islice
from typing import Any, TypeAlias, TypeVar

import numpy as np

from deniable.collect.reports import Reports
from deniable.core.domain import Domain
from deniable.core.types import FloatArray, IntArray
from deniable.core.values import is_missing
from deniable.errors import ParameterError, is_number, require
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.keyvalue.pairs import PairSets, group_pairs, number_people, steps_of
from deniable.mechanisms.personal.levels import listed
from deniable.randomness import Stream
from deniable.run.files import Chunk, Progress, encode, read_columns, read_values
from deniable.run.layout import Layout

__all__ = [
    "CHUNK_VALUES",
    "INPUTS",
    "PAIR_COLUMNS",
    "Batch",
    "chunk_size",
    "chunks_of_people",
    "input_of",
    "read_pairs",
    "with_streams",
]

C = TypeVar("C")
Batch: TypeAlias = Callable[[Stream], Reports]
"""Some people's data, waiting for the randomness that makes their reports."""

CHUNK_VALUES = 1 << 16
"""Most values that are handled at a time."""

PAIR_COLUMNS = ("user", "key", "value")
"""Names of the columns of key-value data unless told otherwise."""

DUPLICATES = ("refuse", "first")
"""What happens to a second value of one person for one key."""

_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,4})?")


@dataclass(frozen=True, slots=True)
class Input:
    """A kind of data that people hand in."""

    columns: tuple[str, ...]
    """What may be said about its columns."""
    read: Callable[..., Iterator[Batch]]
    """Batches of a file for a mechanism: (m, source, format, progress), and what is said about the columns."""
    other: Mapping[str, str]
    """Why something else may not be said, where more is to be told than that."""
    names: tuple[str, ...] = ()
    """The columns of one person's rows, by their usual names, where a person may have several; else none."""

    def check_kept(self, m: Mechanism, keep: Sequence[str]) -> None:
        """Refuse columns that are kept beside reports, where these are not one for each row."""
        need = f"left out for {m.takes}, of which a person has several rows"
        require(not (self.names and keep), "keep", list(keep), need)


def input_of(m: Mechanism, given: Mapping[str, Any]) -> Input:
    """The input of a mechanism, if it knows all that is given."""
    hint = "Give them to m.privatize as a frame."
    require(m.takes in INPUTS, "mechanism", m.name, f"one that takes {' or '.join(INPUTS)}, for files", hint)
    found = INPUTS[m.takes]
    for name in given:
        if name not in found.columns:
            why = found.other.get(name, "left out: {m.name} takes {m.takes}").format(m=m)
            hint = f"Of the options for columns it takes: --{', --'.join(found.columns).replace('_', '-')}."
            require(False, name.replace("_", "-"), given[name], why, hint)
    return found


def chunk_size(m: Mechanism) -> int:
    """How many values of this mechanism are handled at a time: those that share a stream, so seeded runs repeat."""
    return min(CHUNK_VALUES, m.bulk.block)


def with_streams(chunks: Iterable[C], stream: Stream) -> Iterator[tuple[C, Stream]]:
    """Each chunk with the stream that `Mechanism.privatize` would use for it, were they given all at once."""
    todo = iter(chunks)
    held = list(islice(todo, 2))
    if len(held) < 2:
        yield from ((chunk, stream) for chunk in held)
        return
    for chunk in chain(held, todo):
        yield chunk, stream.spawn(1)[0]


# ---- values, and values with levels


def _values(
    m: Mechanism, source: str, format: str | Layout, progress: Progress | None, *, column: str | None = None
) -> Iterator[Batch]:
    """One value per person."""
    for chunk in read_values(source, chunk_size(m), column=column, format=format, progress=progress):
        yield lambda rng, chunk=chunk: m.privatize_items(encode(m.domain, chunk), rng)  # type: ignore[misc]


def _leveled(
    m: Any,
    source: str,
    format: str | Layout,
    progress: Progress | None,
    *,
    column: str | None = None,
    level_column: str | None = None,
) -> Iterator[Batch]:
    """One value per person in a column, and in another the level that the person chose, where there is a choice."""
    if level_column is None and len(m.levels) == 1:
        yield from _values(m, source, format, progress, column=column)
        return
    if level_column is None:
        raise ParameterError(
            f"level-column must be given for {m.name}: everyone reports at a level of their own choice.",
            f"Name the column that has it, one of {listed(m.levels)} in each row, and the column of the values.",
        )
    if column is None:
        raise ParameterError("column must be given with level-column.", "Name the column of the values: --column NAME.")
    both = {"columns": (column, level_column), "called": ("column", "level-column")}
    for values, levels in read_columns(source, chunk_size(m), **both, format=format, progress=progress):
        yield lambda rng, values=values, levels=levels: m.privatize_items(  # type: ignore[misc]
            encode(m.domain, values), rng, levels=_levels(m.levels, levels)
        )


def _levels(offered: tuple[float, ...], chunk: Chunk) -> FloatArray:
    """The levels of the rows, all of which are offered."""
    hint = "Nothing was assumed: whoever made no choice may be given the smallest level, the most protective."
    return _numbers(chunk, lambda x: np.isin(x, offered), f"the level must be one of {listed(offered)}", hint)


def _numbers(chunk: Chunk, good: Callable[[FloatArray], Any], need: str, hint: str) -> FloatArray:
    """Numbers that are all good; the error for one that is not says where it stands."""
    numbers = np.array([_number(cell) for cell in chunk.cells], np.float64)
    odd = np.flatnonzero(~good(numbers))
    if odd.size:
        i, cell = int(odd[0]), chunk.cells[odd[0]]
        told = cell.item() if isinstance(cell, np.generic) else cell
        given = "it is missing" if _empty(cell) else f"got {told!r}"
        raise ParameterError(f"{chunk.place(i)}: {need}, {given}.", hint)
    return numbers


# ---- key-value pairs


@dataclass(slots=True)
class _Rows:
    """The rows read so far: who, which key, which value, whether there is a pair, and where each stands."""

    users: list[Any] = field(default_factory=list)
    keys: list[IntArray] = field(default_factory=list)
    values: list[FloatArray] = field(default_factory=list)
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
    format: str | Layout = "auto",
    duplicates: str = "refuse",
    progress: Progress | None = None,
) -> PairSets:
    """The pairs of a CSV or Parquet file, a row for each, people in the order of their first rows.

    Pairs of one person may stand anywhere, so all is read before anything is drawn. A row with neither key nor value
    stands for a person without any pair.
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
        rows.values.append(_pair_values(ends, _only(values, held)))
        rows.chunks.append(users)
    if not rows.users:
        raise ParameterError(f"{source} has no pairs.", "At least one row is needed.")
    return _grouped(rows, domain, ends, duplicates)


def _grouped(rows: _Rows, domain: Domain, ends: tuple[float, float], duplicates: str) -> PairSets:
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
    return PairSets(offsets, keys[rank[order]], steps_of(values[rank[order]], ends))


def _only(chunk: Chunk, held: Any) -> Chunk:
    """The cells of rows with a pair."""
    if held.all():
        return chunk
    cells = chunk.cells[held] if isinstance(chunk.cells, np.ndarray) else tuple(compress(chunk.cells, held))
    return replace(chunk, cells=cells, places=list(compress(chunk.places, held)))


def _codes(domain: Domain, chunk: Chunk) -> IntArray:
    return encode(domain, chunk) if len(chunk.cells) else np.zeros(0, np.int64)


def _pair_values(ends: tuple[float, float], chunk: Chunk) -> FloatArray:
    """Values as numbers of their range, in which all must be."""
    low, high = ends
    hint = "Nothing was clipped: correct it, leave the pair out, or declare another range (--range LOW,HIGH)."
    need = f"the value must be a number from {low:g} to {high:g}"
    return _numbers(chunk, lambda x: (x >= low) & (x <= high), need, hint)


def _number(cell: Any) -> float:
    """A number; NaN for what is none."""
    if isinstance(cell, str):
        text = cell.strip()
        return float(text) if _NUMBER.fullmatch(text) else np.nan
    real = is_number(cell)
    return float(cell) if real else np.nan


def _empty(cell: Any) -> bool:
    return is_missing(cell.strip() if isinstance(cell, str) else cell)


def chunks_of_people(m: Mechanism, pairs: PairSets) -> Iterator[PairSets]:
    """The people in their order, as many at a time as share a stream."""
    size = chunk_size(m)
    for start in range(0, len(pairs), size):
        yield pairs.take(np.arange(start, min(start + size, len(pairs))))


def _pairs(m: Any, source: str, format: str | Layout, progress: Progress | None, **how: Any) -> Iterator[Batch]:
    """Every person's pairs."""
    pairs = read_pairs(source, m.domain, m.range, format=format, progress=progress, **how)
    m.check_sizes(pairs)
    for part in chunks_of_people(m, pairs):
        yield lambda rng, part=part: m.privatize(part, rng=rng)  # type: ignore[misc]


_ONE_LEVEL = {"level_column": "left out: {m.name} has one level for all"}
INPUTS: Mapping[str, Input] = {
    "values": Input(("column",), _values, _ONE_LEVEL),
    "values with levels": Input(("column", "level_column"), _leveled, {}),
    "key-value pairs": Input(("columns", "duplicates"), _pairs, _ONE_LEVEL, PAIR_COLUMNS),
}
"""By what `Mechanism.takes` says."""
