"""Tables whose parts are counted by tasks, and partial tallies that are added up: what files and frames share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from deniable.collect.parquet import TableReader
from deniable.collect.reports import Design
from deniable.errors import need_extra
from deniable.mechanisms.registry import from_design
from deniable.run.counting import Counted
from deniable.run.sources import regular_size
from deniable.run.spark.session import calling, parallelism
from deniable.run.spark.tasks import RESULT, Adding, CountGroups, total_of
from deniable.run.tables import Group, given_head

__all__ = ["added", "count_groups", "result_schema", "tables_of"]

FAN_IN = 32
"""Tallies that are added up in one place; more of them are added in two steps."""
TASK_BYTES = 1 << 27
"""Bytes of a task, unless there are fewer for each core."""


def tables_of(frame: Any, given: Design) -> list[TableReader] | None:
    """The tables of a data frame that is what some Parquet files hold and nothing else; None for all other frames.

    Whoever counts them need not wait until Spark has read every report, copied it and handed it to Python, which takes
    several times as long as counting it. Sessions on another machine do not tell what a frame is made of.
    """
    plan = frame._jdf.queryExecution().analyzed() if hasattr(frame, "_jdf") else None
    if plan is None or plan.getClass().getSimpleName() != "LogicalRelation":
        return None
    relation = plan.relation()
    whole = relation.getClass().getSimpleName() == "HadoopFsRelation" and relation.partitionSchema().isEmpty()
    if not whole or relation.fileFormat().getClass().getSimpleName() != "ParquetFileFormat":
        return None
    places = [urlsplit(place) for place in frame.inputFiles()]
    if any(place.scheme != "file" for place in places):
        return None
    found = [TableReader(unquote(place.path), given_head(given)) for place in places]
    return found if all(set(table.schema.names) == set(frame.columns) for table in found) else None


def count_groups(spark: Any, tables: Sequence[TableReader], strict: bool) -> Counted:
    """Count the parts of tables, in tasks of about equal size."""
    groups, sizes = [], []
    for table in tables:
        given = None if table.given is None else table.given.design
        groups += [Group(str(Path(table.path).resolve()), number, given) for number in range(table.groups)]
        sizes += [(regular_size(table.path) or 0) / max(1, table.groups)] * table.groups
    none = Counted(from_design(tables[0].design).empty(simulated=any(table.simulated for table in tables)))
    if not groups:
        return none
    count = min(len(groups), max(parallelism(spark), int(sum(sizes) // TASK_BYTES) + 1))
    tasks = _shares(groups, sizes, count)
    numbers = spark.range(0, len(tasks), 1, len(tasks))
    parts = numbers.mapInArrow(CountGroups(tasks, strict), result_schema(numbers, ()))
    with calling():
        return none + total_of((added(parts, ()) if len(tasks) > FAN_IN else parts).collect(), lambda: none)


def _shares(groups: Sequence[Group], sizes: Sequence[float], count: int) -> list[list[Group]]:
    """Neighbouring parts in so many tasks of about equal size, none of them empty."""
    whole, done = sum(sizes) or 1.0, 0.0
    tasks: list[list[Group]] = [[] for _ in range(count)]
    for group, size in zip(groups, sizes, strict=True):
        tasks[min(count - 1, int(done / whole * count))].append(group)
        done += size
    return [task for task in tasks if task]


def result_schema(frame: Any, by: Sequence[str]) -> Any:
    """The columns of the group, then those of what was counted, as Spark knows them."""
    types = need_extra("pyspark.sql.types", "spark")
    text, whole = types.StringType(), types.LongType()
    kinds = {
        "n": whole,
        "tally": types.BinaryType(),
        "skipped": types.MapType(text, whole),
        "places": types.MapType(text, text),
    }
    schema = types.StructType([types.StructField(name, frame.schema[name].dataType) for name in by])
    for name in RESULT.names:
        schema = schema.add(name, kinds[name])
    return schema


def added(parts: Any, by: tuple[str, ...]) -> Any:
    """Partial tallies added up, in two steps where there are many: nobody holds more than a share of them at a time."""
    functions = need_extra("pyspark.sql.functions", "spark")
    count = parts.rdd.getNumPartitions()
    adding = Adding(len(by))

    def add(table: Any) -> Any:  # Spark counts the parameters of a function: one is the rows of a group
        return adding(table)

    if count > FAN_IN:
        shares = math.isqrt(count - 1) + 1
        share = functions.spark_partition_id() % shares
        salted = parts.withColumn("share", share)
        parts = salted.groupBy(*by, "share").applyInArrow(add, parts.schema)
    return parts.groupBy(*by).applyInArrow(add, parts.schema) if by else parts
