"""Spark data frames in, tallies and estimates out: one tally for all, or one for each group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from deniable.collect.parquet import DESIGN, METADATA, PACKED, REPORT, parse_head
from deniable.errors import ParameterError, need_extra, require
from deniable.estimate.methods import UNBIASED
from deniable.estimate.result import Estimate
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.registry import from_design
from deniable.run.counting import Counted, Key
from deniable.run.local import estimate_tally
from deniable.run.spark.parts import added, count_groups, result_schema, tables_of
from deniable.run.spark.session import bounded, calling
from deniable.run.spark.tasks import CountFrame, counted_in, total_of

__all__ = ["collected", "estimate", "tally"]

Designs = Mechanism | Mapping[Any, Mechanism]
"""A mechanism, or one for each value of the column that rows are grouped by."""


def tally(
    frame: Any,
    m: Designs | None = None,
    *,
    by: str | Sequence[str] | None = None,
    column: str = REPORT,
    strict: bool = False,
) -> Counted | Any:
    """The tally of the reports in a Spark data frame, and what was not counted, by reason.

    The reports are one per row, in `column`, or packed blocks; `m` may be left out where the frame was read from tables
    that say what their reports are. With `strict` the first row that does not count is an error.
    With `by` a Spark data frame with one tally for each group: the columns of `by`, then n, tally (bytes that
    `deniable.load` reads), skipped and places; `collected` fetches it. Designs may then go by the values of one column,
    such as the task: `tally(frame, {"a": m1, "b": m2}, by="task")`.
    """
    keys = _keys(frame, by)
    simulated = False
    if not isinstance(m, Mapping):
        m, simulated = _known(frame, m, column)
        tables = None if keys or column != REPORT else tables_of(frame, m.design)
        if tables:
            return count_groups(frame.sparkSession, tables, strict)
    parts = added(_partials(frame, m, keys, column, simulated, strict), keys)
    if keys:
        return parts
    if isinstance(m, Mapping):
        raise ParameterError("by must be given where designs go by the values of a column.")
    none = Counted(m.empty(simulated=simulated))
    with calling():
        return total_of(parts.collect(), lambda: none)


def _keys(frame: Any, by: str | Sequence[str] | None) -> tuple[str, ...]:
    keys = (by,) if isinstance(by, str) else tuple(by or ())
    for name in keys:
        require(name in frame.columns, "by", name, f"one of the columns {', '.join(frame.columns)}")
    return keys


def collected(frame: Any, by: str | Sequence[str]) -> dict[Key, Counted]:
    """What `tally` by groups gives, here: by the values of the columns, in the order of these."""
    keys = (by,) if isinstance(by, str) else tuple(by)
    with calling():
        rows = frame.collect()
    found = {tuple(row[k] for k in keys): counted_in(row.tally, row.skipped, row.places) for row in rows}
    return dict(sorted(found.items(), key=lambda pair: tuple((v is None, str(v)) for v in pair[0])))


def estimate(
    frame: Any,
    m: Designs | None = None,
    *,
    by: str | Sequence[str] | None = None,
    column: str = REPORT,
    method: str = UNBIASED,
    level: float = 0.95,
    strict: bool = False,
) -> Estimate | Any:
    """The estimate from the reports of a Spark data frame; with `by` a data frame with a row for each group and label.

    A fit (`method`) needs no more than the tally where that counts every possible report (`reader.sufficient`); where
    it does not, fits read reports, and belong on one machine.
    """
    if by is None:
        counted = tally(frame, m, column=column, strict=strict)
        return estimate_tally(counted.tally, method)
    keys = _keys(frame, by)
    groups: Any = tally(frame, m, by=keys, column=column, strict=strict)
    types = need_extra("pyspark.sql.types", "spark")
    own = [("label", types.StringType()), *((name, types.DoubleType()) for name in ("value", "stderr", "low", "high"))]
    own += [("n", types.LongType()), ("simulated", types.BooleanType())]
    schema = types.StructType([groups.schema[name] for name in keys])
    for name, kind in own:
        schema = schema.add(name, kind)
    return groups.mapInArrow(_Estimating(keys, method, level), schema)


class _Estimating:
    """Estimates from the tallies of a partition."""

    def __init__(self, keys: tuple[str, ...], method: str, level: float) -> None:
        self._keys, self._method, self._level = keys, method, level

    def __call__(self, batches: Any) -> Any:
        import pyarrow as pa

        for batch in batches:
            for i in range(batch.num_rows):
                counted = counted_in(batch.column("tally")[i].as_buffer(), [], [])
                if not counted.tally.n:
                    continue
                found = estimate_tally(counted.tally, self._method).to_columns(self._level)
                size = len(found["label"])
                rows = {
                    name: pa.array([batch.column(name)[i].as_py()] * size, batch.schema.field(name).type)
                    for name in self._keys
                }
                numbers = {name: pa.array(found[name], pa.float64()) for name in ("value", "stderr", "low", "high")}
                marks = {"n": pa.array([counted.tally.n] * size, pa.int64()), "simulated": pa.array(found["simulated"])}
                yield pa.RecordBatch.from_pydict(rows | {"label": pa.array(found["label"])} | numbers | marks)


def _known(frame: Any, m: Mechanism | None, column: str) -> tuple[Mechanism, bool]:
    """The mechanism, and whether reports are simulated: as given, or as the frame's columns say."""
    for known in (column, PACKED[2]):
        text = frame.schema[known].metadata.get(METADATA) if known in frame.columns else None
        if text is not None:
            head, _ = parse_head(str(text).encode())
            same = m is None or m.design == head.design
            require(same, "m", m, "left out, or the design that the frame's reports are of")
            return m or from_design(head.design), head.simulated
    if m is None:
        hint = "Give the mechanism: tally(frame, m). Frames that were read from tables of reports know it."
        raise ParameterError("the frame does not say of which design its reports are.", hint)
    return m, False


def _partials(frame: Any, m: Designs, by: tuple[str, ...], column: str, simulated: bool, strict: bool) -> Any:
    """A tally for each partition and group."""
    bounded(frame.sparkSession)
    wanted = [name for name in dict.fromkeys([column, *PACKED, DESIGN, *by]) if name in frame.columns]
    held = column in wanted or set(PACKED) <= set(wanted)
    hint = f"Reports are in the column {REPORT!r}, or packed in {', '.join(PACKED)}."
    require(held, "column", column, f"one of the columns {', '.join(frame.columns)}", hint)
    many = isinstance(m, Mapping)
    designs = {k: each.design for k, each in m.items()} if isinstance(m, Mapping) else m.design
    task = CountFrame(designs, many, by, column, simulated, strict)
    chosen = frame.select(*wanted)
    return chosen.mapInArrow(task, result_schema(chosen, by))
