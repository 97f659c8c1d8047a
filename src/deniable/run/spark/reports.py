"""Values of a Spark data frame to reports in files: each report is drawn once, and written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from deniable.collect.parquet import METADATA, REPORT, metadata_of
from deniable.collect.reports import new_id
from deniable.errors import need_extra, require
from deniable.mechanisms.base import Mechanism
from deniable.run.counting import head_of
from deniable.run.inputs import INPUTS
from deniable.run.spark.session import bounded, calling
from deniable.run.spark.tasks import Privatize

__all__ = ["privatize"]

MODES = ("error", "overwrite")
"""What happens to a folder that is there already; reports are never appended to others of the same people."""


def privatize(
    frame: Any,
    m: Mechanism,
    target: str,
    *,
    column: str | Sequence[str] | None = None,
    level_column: str | None = None,
    keep: Sequence[str] = (),
    mode: str = MODES[0],
    seed: int | None = None,
) -> Any:
    """Privatise values of a Spark data frame into a folder of Parquet files, one report per row; returns it as a frame.

    Reports are written rather than handed back as a plan: a plan that Spark runs twice would draw two reports of each
    person, which cost a second epsilon. Only the columns that `keep` names stay beside them, and nobody perturbs those.
    `column` is the column of the values, or those of user, key and value; `level_column` that of the levels. A value
    that is missing or not allowed is an error, and nothing is published. `seed` makes a simulation, which is marked.
    """
    require(mode in MODES, "mode", mode, f"one of {', '.join(MODES)}")
    asked = INPUTS[m.takes]
    columns = _columns(frame, m, column, level_column)
    unknown = [name for name in (*columns, *keep) if name not in frame.columns]
    require(not unknown, "columns", unknown, f"among those of the frame: {', '.join(frame.columns)}")
    told = [name for name in keep if name in columns]
    require(not told, "keep", told, "other columns than those that are protected", "Their reports stand for them.")
    asked.check_kept(m, keep)
    require(REPORT not in keep, "keep", REPORT, f"other names than {REPORT!r}, which the reports have")
    m.bulk  # noqa: B018  # refuses an epsilon that is too large, here and not on every executor
    chosen = frame.select(*columns, *keep)
    if asked.names:
        chosen = chosen.repartition(columns[0]).sortWithinPartitions(columns[0])
    bounded(frame.sparkSession)
    made = chosen.mapInArrow(
        Privatize(m.design, columns, bool(asked.names), tuple(keep), seed), _schema(chosen, m, keep, seed)
    )
    with calling():
        made.write.mode(mode).parquet(target)
    return frame.sparkSession.read.parquet(target)


def _columns(frame: Any, m: Mechanism, column: str | Sequence[str] | None, level_column: str | None) -> tuple[str, ...]:
    """The columns that are read."""
    asked = INPUTS[m.takes]
    if asked.names:
        names = asked.names if column is None else tuple(column)
        require(len(names) == 3 and not isinstance(column, str), "column", column, "three names: user, key and value")
        return names
    many = len(frame.columns) != 1 and level_column is None
    require(column is not None or not many, "column", column, f"one of {', '.join(frame.columns)}")
    own = str(column) if column is not None else str(frame.columns[0])
    known = level_column is None or "level_column" in asked.columns
    require(known, "level_column", level_column, f"left out: {m.name} has one level for all")
    return (own,) if level_column is None else (own, level_column)


def _schema(frame: Any, m: Mechanism, keep: Sequence[str], seed: int | None) -> Any:
    """The column of reports, which says what they are, and those that are kept."""
    types = need_extra("pyspark.sql.types", "spark")
    head = head_of(m, simulated=seed is not None, id="" if seed is not None else new_id())
    known = {METADATA: metadata_of(head, parts=True)}
    return types.StructType(
        [types.StructField(REPORT, types.BinaryType(), True, known), *map(frame.schema.__getitem__, keep)]
    )
