"""What runs on executors: functions of Arrow batches that travel with a design and little else."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from deniable.collect.codec import dump, load
from deniable.collect.parquet import REPORT, rows_array
from deniable.collect.reports import Design, Reports
from deniable.collect.tally import Tally
from deniable.errors import FormatError
from deniable.randomness import Simulation, Stream, simulation
from deniable.run.counting import Counted, Counting, Key
from deniable.run.tables import Group, count_group, mechanism_of

__all__ = ["RESULT", "Adding", "CountFrame", "CountGroups", "Privatize", "counted_in", "table_of"]

RESULT = pa.schema(
    [
        ("n", pa.int64()),
        ("tally", pa.binary()),
        ("skipped", pa.map_(pa.string(), pa.int64())),
        ("places", pa.map_(pa.string(), pa.string())),
    ]
)
"""The columns of what was counted, beside those of the group: reports, bytes of the tally, and what was skipped."""


def _alone() -> None:
    """A task has one core: it uses one thread."""
    os.environ.setdefault("DENIABLE_THREADS", "1")


def table_of(found: Mapping[Key, Counted], keys: pa.Schema) -> pa.Table:
    """Tallies of groups as a table: the columns of the group, then those of `RESULT`."""
    columns = [[key[i] for key in found] for i in range(len(keys))]
    parts = list(found.values())
    own = [
        [part.tally.n for part in parts],
        [dump(part.tally) for part in parts],
        [list(part.skipped.items()) for part in parts],
        [list(part.places.items()) for part in parts],
    ]
    return pa.table([*columns, *own], schema=pa.schema([*keys, *RESULT]))


def counted_in(tally: bytes, skipped: Any, places: Any) -> Counted:
    """The inverse of `table_of`, for one row."""
    found = load(bytes(tally))
    if not isinstance(found, Tally):
        raise FormatError("these bytes are reports, a tally is needed.")
    return Counted(found, dict(skipped), dict(places))


@dataclass(frozen=True)
class CountFrame:
    """Counts the reports of a partition: one row for each group."""

    designs: Design | Mapping[Any, Design]
    many: bool
    by: tuple[str, ...]
    column: str
    simulated: bool
    strict: bool

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        _alone()
        m = {k: mechanism_of(d) for k, d in self.designs.items()} if self.many else mechanism_of(self.designs)
        counting = Counting(m, self.by, self.column, self.simulated, self.strict)
        keys: list[pa.Field] = []
        for batch in batches:
            keys = keys or [batch.schema.field(name) for name in self.by]
            counting.add(batch, lambda i: f"row {i} of a batch of a partition")
        if counting.found:
            yield from table_of(counting.found, pa.schema(keys)).to_batches()


@dataclass(frozen=True)
class CountGroups:
    """Counts parts of files that executors open themselves: those whose numbers a partition has."""

    tasks: Sequence[Sequence[Group]]
    strict: bool

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        _alone()
        for batch in batches:
            for number in batch.column(0).to_pylist():
                parts = [count_group(group, strict=self.strict)[0] for group in self.tasks[number]]
                yield from table_of({(): sum(parts[1:], parts[0])}, pa.schema([])).to_batches()


@dataclass(frozen=True)
class Adding:
    """Adds up the tallies of a group, or those of a share of it."""

    keys: int
    """How many columns of the group stand before those of `RESULT`."""

    def __call__(self, table: pa.Table) -> pa.Table:
        rows = table.select([*table.column_names[: self.keys], *RESULT.names])
        parts = [
            counted_in(tally.as_buffer(), skipped.as_py(), places.as_py())
            for tally, skipped, places in zip(*(rows.column(name) for name in RESULT.names[1:]), strict=True)
        ]
        key = tuple(rows.column(i)[0].as_py() for i in range(self.keys))
        schema = pa.schema([rows.schema.field(i) for i in range(self.keys)])
        return table_of({key: sum(parts[1:], parts[0])}, schema)


@dataclass(frozen=True)
class Privatize:
    """Makes the reports of a partition, batch by batch; the columns that are kept stay beside them."""

    design: Design
    columns: tuple[str, ...]
    """The column of the values, and of the levels where people choose; or those of user, key and value."""
    pairs: bool
    keep: tuple[str, ...]
    seed: int | None

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        _alone()
        stream = None if self.seed is None else _seeded(self.seed)
        whole = _whole_people(batches, self.columns[0]) if self.pairs else batches
        for batch in whole:
            if batch.num_rows:
                made = rows_array(self._reports(batch, stream))
                kept = {name: batch.column(name) for name in self.keep}
                yield pa.RecordBatch.from_pydict({REPORT: made, **kept})

    def _reports(self, batch: Any, stream: Stream | None) -> Reports:
        m = mechanism_of(self.design)
        if self.pairs:
            return m.privatize(pa.table(batch), column=self.columns, rng=stream)
        values, *levels = (batch.column(name) for name in self.columns)
        more = {"levels": levels[0].to_pylist()} if levels else {}
        return m.privatize(values, rng=stream, **more)


def _seeded(seed: int) -> Simulation:
    """The stream of this partition: the same whenever its task is run again."""
    from pyspark import TaskContext

    context = TaskContext.get()
    number = 0 if context is None else context.partitionId()
    return simulation(seed).spawn(number + 1)[number]


def _whole_people(batches: Iterable[pa.RecordBatch], user: str) -> Iterator[pa.Table]:
    """Batches of rows in the order of their users, cut where a user ends: what is left waits for the next batch."""
    held: pa.Table | None = None
    for batch in batches:
        rows = pa.Table.from_batches([batch])
        rows = rows if held is None else pa.concat_tables([held, rows]).combine_chunks()
        last = rows.column(user)[rows.num_rows - 1].as_py()
        start = rows.num_rows
        while start and rows.column(user)[start - 1].as_py() == last:
            start -= 1
        if start:
            yield rows.slice(0, start)
        held = rows.slice(start)
    if held is not None and held.num_rows:
        yield held


def total_of(rows: Iterable[Any], make: Callable[[], Counted]) -> Counted:
    """The sum of rows of `RESULT` that were collected."""
    parts = [counted_in(row.tally, row.skipped, row.places) for row in rows]
    return sum(parts[1:], parts[0]) if parts else make()
