"""What is published, to take away: pictures, CSV, JSON, Parquet."""

from __future__ import annotations

from base64 import b64decode

from starlette.requests import Request
from starlette.responses import Response

from deniable.service.collector import Collector
from deniable.service.http.problems import Problem
from deniable.service.http.tables import as_file
from deniable.service.logs import log
from deniable.service.pages.charts import ALONE, KINDS, picture
from deniable.service.pages.dashboard import known_task, windows_of
from deniable.service.pages.render import compressed
from deniable.service.pages.signin import Pages

__all__ = ["ROWS"]

ROWS = Pages()


@ROWS.page(
    "/tasks/{id}/export.{kind}",
    "All that is published about a task as a table.",
    "conflict",
    answers={200: "application/octet-stream"},
)
async def export(collector: Collector, request: Request) -> Response:
    """Everything that is published about a task as one table."""
    known = await known_task(collector, request)
    answer = await as_file(request, known.intake.task, await windows_of(collector, known))
    log("download", id=known.row.id, what=request.path_params["kind"], by=request.state.key.name)
    return answer


@ROWS.page("/tasks/{id}/{window}/{question}.{kind}", "An estimate as a picture.", answers={200: KINDS["svg"]})
async def chart(collector: Collector, request: Request) -> Response:
    """The estimate of a question in a window as a picture."""
    window, name, kind = (request.path_params[part] for part in ("window", "question", "kind"))
    if kind not in KINDS:
        raise Problem("not-found", f"There are pictures as {', '.join(KINDS)}.")
    known = await known_task(collector, request)
    task = known.intake.task
    for found in await windows_of(collector, known):
        for part in (found.document or {}).get("questions", ()):
            if str(found.number) == window and part["question"] == name and part.get("estimate"):
                labels = task.question(name).labels
                data = await picture(b64decode(part["tally"]), labels, part["text"], kind)
                drawn = Response(data, 200, dict(ALONE), KINDS[kind])
                return compressed(drawn, request) if kind == "svg" else drawn
    raise Problem("not-found", "Nothing is published about this question and window.")
