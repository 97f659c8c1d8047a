"""Structured Streaming: tallies that grow batch by batch, and count no batch twice."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from deniable.collect.files import replacing
from deniable.collect.parquet import REPORT
from deniable.errors import MergeError, need_extra, require
from deniable.run.counting import Counted, Key
from deniable.run.spark.frames import Designs, _keys, collected, tally
from deniable.run.spark.tasks import RESULT, counted_in, table_of

__all__ = ["State", "tally_stream"]

_BATCH, _QUERY = b"deniable.batch", b"deniable.query"


class State:
    """The tallies of a stream so far, in one file that is replaced whole: with the number of the last batch."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.path = Path(folder) / "tallies.parquet"

    def read(self) -> tuple[int, str, dict[Key, Counted], pa.Schema]:
        """The last batch that was counted (-1: none), the query that counts, the tallies, and the group's columns."""
        if not self.path.exists():
            return -1, "", {}, pa.schema([])
        table = parquet.read_table(self.path)
        keys = pa.schema([field for field in table.schema if field.name not in RESULT.names])
        found = {}
        for row in table.to_pylist():
            key = tuple(row[name] for name in keys.names)
            found[key] = counted_in(row["tally"], row["skipped"], row["places"])
        known = table.schema.metadata or {}
        return int(known[_BATCH]), known[_QUERY].decode(), found, keys

    @property
    def tallies(self) -> dict[Key, Counted]:
        """The tallies so far, by group; of one group the key is empty."""
        return self.read()[2]

    def add(self, batch: int, query: str, part: dict[Key, Counted], keys: pa.Schema) -> bool:
        """Add a batch, unless it was counted before; says whether it was new.

        `MergeError` for a batch of another query: its numbers start again, and would be taken for counted ones.
        """
        last, owner, found, known = self.read()
        if owner and query != owner:
            raise MergeError(
                f"the tallies in {self.path} are of another stream: its checkpoint was removed, or is another one.",
                "Start in a new folder, and add the two tallies if nobody is counted in both.",
            )
        if batch <= last:
            return False
        for key, counted in part.items():
            found[key] = found[key] + counted if key in found else counted
        table = table_of(found, keys if len(keys) else known)
        marked = table.replace_schema_metadata({_BATCH: str(batch).encode(), _QUERY: query.encode()})
        with replacing(self.path) as file:
            parquet.write_table(marked, file)
        return True


def tally_stream(
    frame: Any,
    m: Designs | None,
    state: str | os.PathLike[str],
    *,
    by: str | Sequence[str] | None = None,
    column: str = REPORT,
    strict: bool = False,
    trigger: dict[str, Any] | None = None,
) -> Any:
    """Count the reports of a streaming frame into a folder `state`, batch by batch; returns the running query.

    The folder has the checkpoint and the tallies (`State(folder).tallies`). A batch that Spark hands over again, after
    a crash between counting and its checkpoint, is known by its number and not counted again. `trigger` is that of
    Spark: `{"availableNow": True}` counts what is there and stops.
    """
    require(frame.isStreaming, "frame", frame, "a streaming data frame", "Count others with tally(frame, m).")
    folder = Path(state)
    folder.mkdir(parents=True, exist_ok=True)
    held, keys = State(folder), _keys(frame, by)
    need_extra("pyspark.sql", "spark")

    def count(batch: Any, number: int) -> None:
        query = str(batch.sparkSession.sparkContext.getLocalProperty("sql.streaming.queryId"))
        if number <= held.read()[0] and held.read()[1] == query:
            return
        part, schema = _counted(batch, m, keys, column, strict)
        held.add(number, query, part, schema)

    writer = frame.writeStream.foreachBatch(count).option("checkpointLocation", str(folder / "checkpoint"))
    return writer.trigger(**(trigger or {"processingTime": "10 seconds"})).start()


def _counted(
    batch: Any, m: Designs | None, keys: tuple[str, ...], column: str, strict: bool
) -> tuple[dict[Key, Counted], pa.Schema]:
    """What a batch adds, and the columns of its groups."""
    if not keys:
        return {(): tally(batch, m, column=column, strict=strict)}, pa.schema([])
    from pyspark.sql.pandas.types import to_arrow_schema

    schema = to_arrow_schema(batch.select(*keys).schema)
    return collected(tally(batch, m, by=keys, column=column, strict=strict), keys), schema
