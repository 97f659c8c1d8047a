"""Pages that lead to a survey: its QR code, a sheet to print, and the script that puts it into somebody's page."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from deniable.service.collector import Collector
from deniable.service.http.routes import Rows
from deniable.service.pages import assets
from deniable.service.pages.asking import asked, told
from deniable.service.pages.render import compressed, html, page
from deniable.service.pages.survey import LANG, known_task, missing, tag_of
from deniable.service.sharing.qr import svg
from deniable.service.texts.catalogue import bdi, texts
from deniable_client.task import Task

__all__ = ["ROWS"]

_PICTURE = "image/svg+xml"
_HOUR = "public, max-age=3600"

ROWS = Rows()


def _address(collector: Collector, request: Request, task: Task) -> str:
    """Where people find a survey, in the language that was chosen."""
    base = collector.settings.public_url or f"{request.url.scheme}://{request.url.netloc}"
    chosen = request.query_params.get("lang", "")
    return f"{base}/t/{task.id}" + (f"?lang={chosen}" if chosen and chosen == tag_of(task, request) else "")


@ROWS.public(
    "/t/{id}/qr.svg",
    "The address of a survey as a QR code.",
    "not-found",
    answers={200: _PICTURE},
    query={"lang": LANG},
)
async def code(collector: Collector, request: Request) -> Response:
    """The address of a survey as a QR code."""
    known = await known_task(collector, request)
    if known is None:
        return missing(request)
    task = known.intake.task
    title = texts("answer", tag_of(task, request))("print.alt")
    picture = svg(_address(collector, request, task), title)
    return compressed(Response(picture, 200, {"cache-control": "no-store"}, _PICTURE), request)


@ROWS.public(
    "/t/{id}/print",
    "The questions of a survey on paper, with the way to it.",
    "not-found",
    answers={200: html},
    query={"lang": LANG},
)
async def sheet(collector: Collector, request: Request) -> Response:
    """The questions of a survey on paper, with the way to it."""
    known = await known_task(collector, request)
    if known is None:
        return missing(request)
    task = known.intake.task
    tag = tag_of(task, request)
    t, own, address = texts("answer", tag), told(task, tag), _address(collector, request, task)
    query = address.partition("?")[2]
    made = page(
        "print.html",
        t=t.html,
        bdi=bdi,
        tag=tag,
        lang=t.language.tag,
        dir=t.language.direction,
        title=own["subject"],
        own=own,
        task=task,
        forms=list({one.name: one for q in asked(task, tag) for one in q.parts or (q,)}.values()),
        address=address,
        picture=f"/t/{task.id}/qr.svg" + (f"?{query}" if query else ""),
    )
    return compressed(made, request)


@ROWS.public(
    "/embed.js",
    "The script of the element that shows a survey in a frame of another site.",
    answers={200: "text/javascript"},
)
async def element(_: Collector, request: Request) -> Response:
    """The script of the element `<deniable-survey>`, under an address that does not change."""
    found = assets.asset("embed.js")
    assert found is not None
    return compressed(Response(found.plain, 200, {"cache-control": _HOUR}, found.kind), request)
