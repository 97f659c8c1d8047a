"""The survey page of a task, for the people who are asked."""

from __future__ import annotations

import gzip

from starlette.requests import Request
from starlette.responses import Response

from deniable.service.access.keys import Role
from deniable.service.collector import Collector, Known
from deniable.service.http.routes import FOR_EVER, Row
from deniable.service.pages import assets
from deniable.service.pages.asking import asked
from deniable.service.pages.charts import once
from deniable.service.pages.render import drawn_page, html, page, refused, takes_gzip
from deniable_client.errors import WindowError
from deniable_client.task import Task

__all__ = ["ROWS"]


async def survey(collector: Collector, request: Request) -> Response:
    """The page on which people answer a task."""
    id = request.path_params["id"]
    known = await collector.task(id) if len(id) == 64 and id.isascii() else None
    if known is None or known.row.state == "draft":
        return refused(
            404, "There is no such survey", "Perhaps the address is not complete, or the survey was never opened."
        )
    closed, small = _closed(collector, known), takes_gzip(request)
    text = await once((id, closed, small), _drawn, known.intake.task, closed, small)
    return drawn_page(text, small)


def _drawn(task: Task, closed: str, small: bool) -> bytes:
    """The page of a task: it is the same for everybody, and drawn once."""
    title = task.questions[0].text if len(task.questions) == 1 else f"A survey about {task.subject}"
    found = bytes(page("survey.html", title=title, task=task, questions=asked(task), closed=closed).body)
    return gzip.compress(found, 6, mtime=0) if small else found


def _closed(collector: Collector, known: Known) -> str:
    """Why the task takes no answers now; empty if it does."""
    if known.row.state == "closed":
        return "It was closed. Thank you for coming; nothing was sent."
    try:
        known.intake.task.window(collector.clock().date())
    except WindowError as error:
        return error.message[:1].upper() + error.message[1:]
    return ""


async def static(_: Collector, request: Request) -> Response:
    """A file that pages load."""
    version, path = request.path_params["version"], request.path_params["path"]
    found = assets.asset(path) if f"/static/{version}/" == assets.base() else None
    if found is None:
        return refused(404, "There is nothing here", "The page that asked for this file is out of date: load it again.")
    headers = {"cache-control": FOR_EVER, "vary": "accept-encoding"}
    if takes_gzip(request):
        return Response(found.small, 200, {**headers, "content-encoding": "gzip"}, found.kind)
    return Response(found.plain, 200, headers, found.kind)


ROWS = (
    Row(
        method="GET",
        path="/t/{id}",
        role=Role.PUBLIC,
        handler=survey,
        summary="The page on which people answer a task.",
        answers={200: html},
        problems=("not-found",),
    ),
    Row(
        method="GET",
        path="/static/{version}/{path:path}",
        role=Role.PUBLIC,
        handler=static,
        summary="A file that pages load.",
        answers={200: "application/octet-stream"},
        problems=("not-found",),
    ),
)
