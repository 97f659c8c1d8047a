"""The pipeline by the name of an engine: on this machine, or on Spark; the tallies have the same bytes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from deniable.collect.reports import Design
from deniable.errors import ParameterError, need_extra, require
from deniable.estimate.methods import UNBIASED
from deniable.estimate.result import Estimate
from deniable.mechanisms.base import Mechanism
from deniable.run import local
from deniable.run.counting import Counted
from deniable.run.layout import STANDARD, Layout
from deniable.run.sources import Progress, files_of

__all__ = ["ENGINES", "check_engine", "count_with", "estimate_with", "privatize_on_spark"]

ENGINES = ("local", "spark")
"""Where the work is done."""
_QUIET = {"spark.log.level": "OFF", "spark.ui.showConsoleProgress": "false"}


def check_engine(engine: str, master: str | None) -> None:
    """Refuse an engine that is not known or not installed, and a master for one that has none."""
    require(engine in ENGINES, "engine", engine, f"one of {', '.join(ENGINES)}")
    require(engine == "spark" or master is None, "master", master, "left out, unless --engine spark is said")
    for module in ("pyspark", "pyarrow") if engine == "spark" else ():
        need_extra(module, "spark")


def count_with(
    engine: str,
    sources: Sequence[str],
    *,
    master: str | None = None,
    design: Design | None = None,
    strict: bool = False,
    progress: Progress | None = None,
) -> Counted:
    """Count the reports in files with an engine."""
    if engine == "local":
        return local.count_files(sources, design=design, strict=strict, progress=progress)
    from deniable.run import spark

    return spark.count_files(spark.start(master, **_QUIET), sources, design=design, strict=strict)


def estimate_with(
    engine: str,
    sources: Sequence[str],
    method: str = UNBIASED,
    *,
    master: str | None = None,
    design: Design | None = None,
    strict: bool = False,
    progress: Progress | None = None,
) -> tuple[Estimate, Counted]:
    """Estimate from files with an engine: on Spark from the tally, which tells all that a fit needs, or else not."""
    if engine == "local":
        return local.estimate_counted(sources, method, design=design, strict=strict, progress=progress)
    counted = count_with(engine, sources, master=master, design=design, strict=strict)
    return local.estimate_tally(counted.tally, method), counted


def privatize_on_spark(
    m: Mechanism,
    source: str,
    target: str,
    *,
    master: str | None = None,
    layout: Layout | None = None,
    seed: int | None = None,
    force: bool = False,
    **columns: Any,
) -> int:
    """Privatise what CSV or Parquet files hold into a folder of Parquet files; returns how many reports."""
    from deniable.run import spark

    require(STANDARD not in (source, target), "out", STANDARD, "a folder, and files as values, for Spark")
    given = {name: value for name, value in columns.items() if value is not None}
    unknown = [name for name in given if name not in ("column", "columns", "level_column")]
    require(not unknown, "options", unknown, "left out for Spark")
    session = spark.start(master, **_QUIET)
    frame = _read(session, source, layout or Layout())
    names = given.get("columns", given.get("column"))
    mode = "overwrite" if force else "error"
    more: dict[str, Any] = {"level_column": given.get("level_column"), "mode": mode, "seed": seed}
    made = spark.privatize(frame, m, target, column=names, **more)
    n = int(made.count())
    if not n:
        raise ParameterError(f"{source} has no values.", "At least one is needed.")
    return n


def _read(session: Any, source: str, layout: Layout) -> Any:
    """Values as a Spark data frame: of the same format in all files."""
    paths = [source] if "://" in source else [str(Path(path).resolve()) for path in files_of(source)]
    kinds = {layout.kind(path) for path in paths}
    require(kinds <= {"csv", "parquet"} and len(kinds) == 1, "format", sorted(kinds), "csv or parquet, for Spark")
    if kinds == {"parquet"}:
        return session.read.parquet(*paths)
    how = {
        "header": json.dumps(layout.header),
        "sep": layout.separator(paths[0]),
        "encoding": layout.encoding or "UTF-8",
    }
    return session.read.options(**how, mode="FAILFAST").csv(paths)
