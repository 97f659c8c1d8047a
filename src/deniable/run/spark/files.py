"""Files of reports on Spark: every task opens its share of them and counts it as one machine would."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from deniable.collect.codec import ReportReader, read
from deniable.collect.parquet import TableReader
from deniable.collect.reports import Design, difference
from deniable.errors import MergeError, ParameterError, require
from deniable.mechanisms.registry import from_design
from deniable.run.counting import Counted
from deniable.run.files import naming, open_input
from deniable.run.layout import STANDARD
from deniable.run.local import Found, Seen
from deniable.run.local import count_files as count_here
from deniable.run.sources import files_of
from deniable.run.spark.frames import tally
from deniable.run.spark.parts import count_groups
from deniable.run.tables import claimed, open_table

__all__ = ["count_files"]


def count_files(spark: Any, sources: Sequence[str], *, design: Design | None = None, strict: bool = False) -> Counted:
    """The tally of all reports in files, folders and patterns, and what was not counted: that of the local engine.

    Paths without a scheme are opened by the tasks themselves, so every executor must see them; those with one
    (`hdfs://`, `s3a://`, ...) are tables, and are read by Spark. Report and tally files are counted where this is
    called: it is tables that are spread over machines.
    """
    require(len(sources) > 0, "files", list(sources), "at least one report or tally file")
    require(STANDARD not in sources, "files", STANDARD, "names of files, for Spark", "Use --engine local for this.")
    remote = [source for source in sources if "://" in source and not source.startswith("file:")]
    if remote:
        require(len(remote) == len(sources), "files", sources, "all with a scheme, or all without one")
        return _count_remote(spark, remote, design, strict)
    return _count_shared(
        spark, [source.removeprefix("file://").removeprefix("file:") for source in sources], design, strict
    )


def _count_shared(spark: Any, sources: Sequence[str], given: Design | None, strict: bool) -> Counted:
    """Count files that every executor can open."""
    seen, here = Seen(), []
    tables: list[TableReader] = []
    others: list[TableReader] = []
    first: Design | None = None
    for origin in sources:
        for path in files_of(origin):
            with naming(path):
                found = _opened(path, given)
                seen.start(found, path, origin)
                first = first or found.design
                seen.end(found, path)
            if not isinstance(found, TableReader):
                here.append(path)
            else:
                (tables if found.design == first else others).append(found)
    if first is None:
        raise ParameterError("files must be at least one report or tally file, got none.")
    m = from_design(first)
    total = Counted(m.empty())
    for other in others:
        total += _refused(other, first, strict)
    if here:
        counted = count_here(here, strict=strict)
        total += replace(counted, tally=replace(counted.tally, sources=()))
    if tables:
        total += count_groups(spark, tables, strict)
    return replace(total, tally=replace(total.tally, sources=tuple(sorted(seen.reports))))


def _opened(path: str, given: Design | None) -> Found:
    table = open_table(path, given)
    if table is not None:
        return table
    with open_input(path) as stream:
        found = read(stream)
        if isinstance(found, ReportReader) and not found.id:
            for _ in found.blocks():  # it is known by its content alone, which has to be read
                continue
        return found


def _refused(other: TableReader, first: Design, strict: bool) -> Counted:
    told = f"{other.path}: {difference(first, other.design)}"
    if strict:
        raise MergeError(f"{other.path}: these reports are of another design: {difference(first, other.design)}.")
    return Counted(from_design(first).empty(), {"design": claimed(other)}, {"design": told})


def _count_remote(spark: Any, sources: Sequence[str], design: Design | None, strict: bool) -> Counted:
    """Count tables that Spark reads, by the header that Spark finds in one of them: all must be of that design."""
    m = None if design is None else from_design(design)
    counted: Counted = tally(spark.read.parquet(*sources), m, strict=strict)
    return counted
