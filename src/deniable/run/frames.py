"""Frames of pandas, Polars, Arrow and DuckDB in, and a frame of the same kind back.

Values become reports beside the columns that are kept; reports become tallies or estimates, for all rows or by groups.
Frames travel by Arrow's C interface, batch by batch where the library can hand over batches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from deniable.collect.parquet import METADATA, REPORT, head_in, metadata_of, rows_array
from deniable.errors import ParameterError, need_extra, require
from deniable.estimate.methods import UNBIASED
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.registry import from_design
from deniable.randomness import Stream
from deniable.run.counting import Counted, Counting, head_of
from deniable.run.inputs import INPUTS
from deniable.run.local import estimate_tally

__all__ = ["estimate", "privatize", "tally"]


def privatize(
    frame: Any,
    m: Mechanism,
    *,
    column: Any = None,
    levels: str | None = None,
    keep: Sequence[str] = (),
    rng: Stream | None = None,
) -> Any:
    """The reports of a frame's values, as a frame of the same kind with the column `report`.

    Only the columns that `keep` names stay beside them: nobody perturbs those. Arrow tables also carry the design.
    """
    arrow = need_extra("pyarrow", "frames")
    names = [column] if isinstance(column, str) else list(column or ())
    told = [name for name in keep if name in (*names, levels)]
    require(not told, "keep", told, "other columns than those that are protected", "Their reports stand for them.")
    INPUTS[m.takes].check_kept(m, keep)
    table = _batches(frame).read_all()
    reports = m.privatize(table, column=column, rng=rng, **({} if levels is None else {"levels": levels}))
    kept = [table.column(name) for name in keep]
    made = arrow.table([rows_array(reports), *kept], names=[REPORT, *keep])
    text = metadata_of(head_of(m, simulated=reports.simulated))
    return _like(frame, made.replace_schema_metadata({METADATA: text}))


def tally(
    frame: Any, m: Mechanism | None = None, *, by: str | Sequence[str] = (), column: str = REPORT, strict: bool = False
) -> Counted | Any:
    """The tally of a frame's reports, and what was not counted, by reason; with `by` a frame with one for each group.

    That frame is of the same kind as the one given: the columns of `by`, then n and tally (bytes that `deniable.load`
    reads). `m` may be left out for Arrow tables and readers that carry the design.
    """
    keys = [by] if isinstance(by, str) else list(by)
    counting, first = _counting(frame, m, keys, column, strict)
    if not keys:
        return counting.result()
    from deniable.collect.codec import dump

    arrow = need_extra("pyarrow", "frames")
    groups = counting.found
    columns = [arrow.array([key[i] for key in groups], first.field(name).type) for i, name in enumerate(keys)]
    own = [[part.tally.n for part in groups.values()], [dump(part.tally) for part in groups.values()]]
    own += [[sum(part.skipped.values()) for part in groups.values()]]
    return _like(frame, arrow.table([*columns, *own], names=[*keys, "n", "tally", "skipped"]))


def estimate(
    frame: Any,
    m: Mechanism | None = None,
    *,
    by: str | Sequence[str] = (),
    column: str = REPORT,
    method: str = UNBIASED,
    level: float = 0.95,
    strict: bool = False,
) -> Any:
    """Estimates from a frame's reports, as a frame of the same kind: a row for each label, of every group with `by`."""
    arrow = need_extra("pyarrow", "frames")
    keys = [by] if isinstance(by, str) else list(by)
    counting, first = _counting(frame, m, keys, column, strict)
    parts = []
    for key, counted in (counting.found if keys else {(): counting.result()}).items():
        if keys and not counted.tally.n:
            continue
        found = estimate_tally(counted.tally, method).to_columns(level)
        size = len(found["label"])
        columns = {name: arrow.array([key[i]] * size, first.field(name).type) for i, name in enumerate(keys)}
        skipped = [sum(counted.skipped.values())] * size
        parts.append(arrow.table(columns | found | {"n": [counted.tally.n] * size, "skipped": skipped}))
    if not parts:
        raise ParameterError("the frame has no reports that count.", "At least one is needed.")
    return _like(frame, arrow.concat_tables(parts))


def _counting(frame: Any, m: Mechanism | None, by: Sequence[str], column: str, strict: bool) -> tuple[Counting, Any]:
    """What was counted of a frame, and its schema."""
    batches = _batches(frame)
    head = head_in(batches.schema.metadata)
    if m is None and head is None:
        hint = "Give the mechanism: tally(frame, m). Arrow tables that privatize made carry it."
        raise ParameterError("the frame does not say of which design its reports are.", hint)
    if m is not None and head is not None:
        require(m.design == head[0].design, "m", m, "left out, or the design that the frame's reports are of")
    simulated = head is not None and head[0].simulated
    known = from_design(head[0].design) if m is None and head is not None else m
    assert known is not None
    counting = Counting(known, by, column, simulated, strict)
    row = 0
    for batch in _some(batches):
        counting.add(batch, lambda i, row=row: f"row {row + i}")  # type: ignore[misc]
        row += batch.num_rows
    return counting, batches.schema


def _some(batches: Iterable[Any], size: int = 1 << 16) -> Iterator[Any]:
    """Batches of at most so many rows."""
    for batch in batches:
        yield from (batch.slice(start, size) for start in range(0, batch.num_rows, size))


def _batches(frame: Any) -> Any:
    """A reader of a frame's batches, without a copy where its library shares its memory."""
    arrow = need_extra("pyarrow", "frames")
    if isinstance(frame, arrow.RecordBatchReader):
        return frame
    if hasattr(frame, "collect_batches"):  # a lazy frame of Polars, whose batches are computed one by one
        frame = frame.collect(engine="streaming")
    if hasattr(type(frame), "__arrow_c_stream__"):
        return arrow.RecordBatchReader.from_stream(frame)
    if type(frame).__module__.startswith("pandas"):
        return arrow.Table.from_pandas(frame, preserve_index=False).to_reader()
    if isinstance(frame, arrow.RecordBatch):
        return arrow.Table.from_batches([frame]).to_reader()
    kind = f"{type(frame).__module__.partition('.')[0]} {type(frame).__name__}"
    raise ParameterError(f"frame must be of pandas, Polars, Arrow or DuckDB, got {kind}.")


def _like(frame: Any, table: Any) -> Any:
    """A table as the kind of frame that was given."""
    kind, home = type(frame).__name__, type(frame).__module__.partition(".")[0].lstrip("_")
    if home == "pandas":
        return table.to_pandas()
    if home == "polars":
        made = need_extra("polars", "frames").from_arrow(table)
        return made.lazy() if kind == "LazyFrame" else made
    if home == "duckdb":
        return need_extra("duckdb", "frames").from_arrow(table)
    return table.to_reader() if kind == "RecordBatchReader" else table
