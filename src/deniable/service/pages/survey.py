"""The survey page of a task, for the people who are asked: in their language, alone, framed, or on a shared tablet."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from datetime import timedelta
from math import ceil
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from deniable.service.collector import Collector, Known
from deniable.service.http.routes import FOR_EVER, Rows
from deniable.service.pages import assets
from deniable.service.pages.asking import asked, groups, told
from deniable.service.pages.charts import once
from deniable.service.pages.render import drawn_page, html, page, refused, takes_gzip
from deniable.service.texts.catalogue import bdi, texts
from deniable.service.texts.languages import LANGUAGES, direction_of, language, preferred
from deniable_client.task import Task

__all__ = ["LANG", "ROWS", "SAID", "known_task", "missing", "preview_page", "tag_of"]

SAID = (
    "start.promise.checked",
    "start.promise.nearly",
    "start.broken",
    "error.summary",
    "error.load",
    "error.ledger",
    "error.choose",
    "error.digits",
    "error.number",
    "error.max",
    "error.agree",
    "error.group",
    "question.nothing",
    "question.found",
    "question.skip",
    "check.beyond",
    "check.clipped",
    "receipt.title",
    "receipt.has",
    "receipt.told",
    "receipt.told.level",
    "receipt.may",
    "receipt.open",
    "receipt.means",
    "receipt.rest",
    "receipt.size",
    "receipt.number",
    "receipt.cost",
    "receipt.epsilon",
    "receipt.left",
    "receipt.amount",
    "receipt.next",
    "return.title",
    "return.text",
    "budget.text",
    "budget.places",
    "budget.collector",
    "budget.cost",
    "budget.todo",
    "offline.title",
    "offline.text",
    "offline.last",
    "wait.text",
    "wait.never",
    "wait.same",
    "wait.other",
    "rejected.title",
    "rejected.text",
    "rejected.final",
    "rejected.gone",
    "reason.dates",
    "reason.broken",
    "reason.twice",
    "range",
)
"""What the page's script says; all else is in the page."""
LANG: tuple[Mapping[str, Any], str] = ({"type": "string", "maxLength": 35}, "One of the languages of the task.")

ROWS = Rows()


class _How(NamedTuple):
    """What a page depends on beside its task."""

    tag: str
    state: str
    """Why no answers are taken now: early, over, closed; empty if they are."""
    kiosk: bool
    embed: bool
    preview: str = ""
    """"light" or "dark" if it is shown to its author, without a device behind it."""


async def known_task(collector: Collector, request: Request) -> Known | None:
    """The task that an address names, if people may see it."""
    id = request.path_params["id"]
    known = await collector.task(id) if len(id) == 64 and id.isascii() else None
    return None if known is None or known.row.state == "draft" else known


def tag_of(task: Task, request: Request) -> str:
    """The language of the task that somebody chose, else the one that the browser asks for first."""
    offered = [task.language or "en", *task.translations]
    chosen = request.query_params.get("lang", "")
    return chosen if chosen in offered else preferred(request.headers.get("accept-language", ""), offered)


def missing(request: Request) -> Response:
    """What people see who ask for a survey that is not there."""
    tag = preferred(request.headers.get("accept-language", ""), list(LANGUAGES))
    t = texts("answer", tag)
    return refused(404, t("missing.title"), t("missing.text"), tag)


@ROWS.public(
    "/t/{id}",
    "The page on which people answer a task.",
    "not-found",
    answers={200: html},
    query={
        "lang": LANG,
        "kiosk": ({"type": "string"}, "For a tablet that many people use: nothing is kept, and it is cleared."),
        "embed": ({"type": "string"}, "In a frame of another site, if the settings allow that site (`frames`)."),
    },
)
async def survey(collector: Collector, request: Request) -> Response:
    """The page on which people answer a task."""
    known = await known_task(collector, request)
    if known is None:
        return missing(request)
    task, small = known.intake.task, takes_gzip(request)
    embed = "embed" in request.query_params
    how = _How(tag_of(task, request), _state(collector, known), "kiosk" in request.query_params, embed)
    text = await once((task.id, *how, small), _drawn, task, how, small)
    framed = collector.settings.frames if embed else {}
    return drawn_page(text, small, framed.get(task.id, framed.get("*", ())))


def _drawn(task: Task, how: _How, small: bool) -> bytes:
    """The page of a task: it is the same for everybody who reads the same language, and drawn once."""
    t, own, tag = texts("answer", how.tag), told(task, how.tag), how.tag
    questions = asked(task, tag)
    several = len(questions) > 1 or bool(questions[0].parts)
    most = max(len(q.parts) or 1 for q in questions)
    parts = {
        "t": t.html,
        "bdi": bdi,
        "tag": tag,
        "lang": t.language.tag,
        "dir": t.language.direction,
        "own_direction": direction_of(tag),
        "number": t.language.number,
        "share": lambda n: t("start.promise.nearly") if n >= 100 else t.language.share(n),
        "title": t("start.title", subject=own["subject"]) if several else own["questions"][0]["text"],
        "own": own,
        "task": task,
        "questions": questions,
        "groups": groups(task, tag),
        "total": len({one.name for q in questions for one in q.parts or (q,)}),
        "minutes": ceil((40 + 15 * most) / 60),
        "languages": [
            (each, language(each).name if each in LANGUAGES else each)
            for each in (task.language or "en", *task.translations)
        ],
        "said": t.page((*SAID, *(["kiosk.idle"] if how.kiosk else []), *(["question.progress"] if most > 1 else []))),
        "how": how,
        "opens": task.opens,
        "ended": task.closes - timedelta(1),
        "windows": [task.opens + timedelta(task.days * i) for i in range(task.count + 1)],
    }
    found = bytes(page("survey.html", **parts).body)
    return gzip.compress(found, 6, mtime=0) if small else found


def preview_page(task: Task, tag: str, look: str) -> bytes:
    """The page of a task that is not there yet, for its author: nothing of it sends, and its script opens nothing."""
    return _drawn(task, _How(tag, "", kiosk=False, embed=False, preview=look), small=False)


def _state(collector: Collector, known: Known) -> str:
    """Why the task takes no answers now; empty if it does."""
    task, today = known.intake.task, collector.today()
    if known.row.state == "closed":
        return "closed"
    return "early" if today < task.opens else "over" if today >= min(task.closes, task.expires) else ""


@ROWS.public(
    "/static/{version}/{path:path}", "A file that pages load.", "not-found", answers={200: "application/octet-stream"}
)
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
