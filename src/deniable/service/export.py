"""Reports that a task kept, as files that the command line and Spark count: one schema for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from hashlib import sha256
from typing import Any

from deniable.collect.codec import ReportWriter
from deniable.collect.parquet import TableWriter
from deniable.errors import need_extra
from deniable.run.counting import head_of
from deniable.service.ingest import Intake
from deniable.service.release import Window, kept_reports
from deniable.service.store.contract import Store

__all__ = ["write_reports"]

_WINDOW = "window"
"""The column, with one report per row, that has the first day of the window."""


def write_reports(
    store: Store, intake: Intake, found: Sequence[Window], question: str, out: Any, layout: str | None
) -> int:
    """Write the published reports of a question, some at a time; how many. `layout`: that of a table, or no table.

    The file's id is made of the task and the question: a later export has the reports of an earlier one, too, and the
    two are not counted together.
    """
    m = next(m for m, asked in zip(intake.mechanisms, intake.task.questions, strict=True) if asked.name == question)
    id = sha256(f"{intake.task.id}/{question}".encode()).hexdigest()[:32]
    batches = kept_reports(store, intake, found, question)
    if layout is None:
        with ReportWriter(out, m.design, m.fields, simulated=False, id=id) as writer:
            for _, reports in batches:
                writer.write(reports)
            return writer.total
    arrow = need_extra("pyarrow", "frames")
    extra = [arrow.field(_WINDOW, arrow.date32())] if layout == "rows" else []
    with TableWriter(out, head_of(m, id=id), layout=layout, extra=extra) as table:
        for window, reports in batches:
            day = intake.task.opens + timedelta(window * intake.task.days)
            table.write(reports, {_WINDOW: arrow.array([day] * len(reports))} if extra else None)
        return table.total
