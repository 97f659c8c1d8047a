"""What is published of a task as a flat table over HTTP: CSV, JSON or Parquet, for a target."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import Response

from deniable.service.collector import Collector, Known
from deniable.service.http.problems import Problem
from deniable.service.release import Window, windows
from deniable.service.results.flat import FORMS, NOTHING, flat
from deniable.service.results.reading import TARGETS, check_target
from deniable_client.task import Task

__all__ = ["FILES", "TARGET", "as_file", "windows_now"]

FILES = tuple(media.partition(";")[0] for media, _ in FORMS.values())
"""Media types of the files."""
TARGET = {
    "target": (
        {"type": "string", "enum": list(TARGETS), "default": "population"},
        "What intervals are for: the population, or those who answered (reporters).",
    )
}
"""The parameter that says what intervals are for."""


async def windows_now(collector: Collector, known: Known) -> list[Window]:
    """The windows of a task that have begun, published where they are over; by its state as it is kept now."""
    row = await asyncio.to_thread(collector.store.task, known.row.id)
    assert row is not None  # tasks are never taken away
    return await asyncio.to_thread(lambda: windows(collector.store, row, known.intake, collector.believed()))


async def as_file(request: Request, task: Task, found: Sequence[Window]) -> Response:
    """The table as the file that the path asks for; `Problem` if there is none."""
    kind = request.path_params["kind"]
    if kind not in FORMS:
        raise Problem("not-found", f"There are tables as {', '.join(FORMS)}.")
    target = check_target(request.query_params.get("target", "population"))
    rows = await asyncio.to_thread(flat, task, found, target)
    if not rows:
        raise Problem("conflict", NOTHING)
    media, write = FORMS[kind]
    headers = {"content-disposition": f'attachment; filename="deniable-{task.id[:8]}.{kind}"'}
    return Response(await asyncio.to_thread(write, rows), 200, headers, media)
