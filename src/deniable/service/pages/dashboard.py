"""The pages of analysts: all tasks, one task with its estimates, its certificate, live counts."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse

from deniable.core.types import Target
from deniable.errors import DeniableError
from deniable.run.questions import question_of
from deniable.service.access.keys import KEY_ROLES, Role
from deniable.service.alerts.notices import alerts_of
from deniable.service.collector import Collector, Known
from deniable.service.http.problems import Problem
from deniable.service.http.routes import Row, key_of
from deniable.service.ingest import REASONS
from deniable.service.logs import log
from deniable.service.pages.charts import get_ready
from deniable.service.pages.looking import alarm, compared, doubled, needed, told
from deniable.service.pages.render import compressed, html, page
from deniable.service.pages.signin import FORM, form_of
from deniable.service.pages.signin import told as problem_page
from deniable.service.release import PUBLISHED, Window, certificate, forged, windows
from deniable.service.results.public import charts_of
from deniable.service.results.reading import TARGETS, check_target, estimated, published, strata_of
from deniable.service.results.view import views
from deniable.service.results.words import software
from deniable.service.store.contract import Store
from deniable.service.tasks import counted_as
from deniable.service.texts.catalogue import Texts, texts
from deniable_client.task import Task

__all__ = ["ROWS", "known_task", "windows_of"]

_EVERY = 1.0
"""Seconds after which it is asked again whether who watches live counts still may."""
_COUNTS = 2
"""Every how many times there are counts."""
_AT_ONCE = {"x-accel-buffering": "no"}
"""For proxies that would wait for more of a stream before they pass it on."""
_END = "event: end\ndata: {}\n\n"
"""The last event for who may not watch any more."""
_LONGEST = 3600.0
"""Seconds after which a page asks again for live counts."""


async def known_task(collector: Collector, request: Request) -> Known:
    """The task of a path; its state as it is now."""
    id = request.path_params["id"]
    collector.forget(id)
    known = await collector.task(id) if len(id) == 64 and id.isascii() else None
    if known is None:
        raise Problem("not-found", "There is no task with this id here.")
    return known


async def windows_of(collector: Collector, known: Known) -> list[Window]:
    """The windows of a task that have begun, published where they are over."""
    return await asyncio.to_thread(lambda: windows(collector.store, known.row, known.intake, collector.believed()))


def _may(request: Request, role: Role) -> bool:
    return KEY_ROLES[request.state.key.role].includes(role)


async def dashboard(collector: Collector, request: Request) -> Response:
    """All tasks, with their counts."""
    get_ready()
    rows = []
    for row in await asyncio.to_thread(collector.store.tasks):
        known = await collector.task(row.id)
        if known is not None:
            counted = await asyncio.to_thread(collector.store.tallies, row.id)
            rows.append((known.intake.task, row.state, sum(tally.n for tally in counted.values())))
    return page("dashboard.html", title="Tasks", rows=rows[::-1], admin=_may(request, Role.ADMINISTRATOR))


async def task(collector: Collector, request: Request) -> Response:
    """A task: counts, estimates by window, comparisons, rejections, bounds."""
    known = await known_task(collector, request)
    found, own = await windows_of(collector, known), known.intake.task
    target = check_target(request.query_params.get("target", "population"))
    rejected = await asyncio.to_thread(collector.store.rejections, own.id)
    t = texts("see", "en")
    wanted = request.query_params.get("error", "")
    parts: dict[str, Any] = {
        "title": own.questions[0].text,
        "task": own,
        "state": known.row.state,
        "admin": _may(request, Role.ADMINISTRATOR),
        "t": t.html,
        "level": t.language.share(95),
        "target": target,
        "other": next(each for each in TARGETS if each != target),
        "views": await asyncio.to_thread(_views, own, found, target, t),
        "alerts": alerts_of(own, found, known.row.state, rejected, collector.believed()),
        "windows": [_window(window, own, target, i == 0) for i, window in enumerate(reversed(found))],
        "reports": sum(window.reports for window in found),
        "rejected": sorted(((REASONS.get(why, why), n) for why, n in rejected.items()), key=lambda row: -row[1]),
        "alarm": alarm(rejected),
        "doubled": doubled(rejected),
        "compared": [(q.text, await asyncio.to_thread(compared, own, q, found)) for q in own.questions],
        "unit": _unit(known),
        "silent": [(q.text, counted_as(q)) for q in own.questions if own.version > 1 and counted_as(q)],
        "forged": [(q.text, forged(m)["text"]) for q, m in zip(own.questions, known.intake.mechanisms, strict=True)],
        "wanted": wanted,
        "needed": _needed(found, wanted),
    }
    return await asyncio.to_thread(lambda: compressed(page("task.html", **parts), request))


def _views(own: Task, found: list[Window], target: Target, t: Texts) -> list[dict[str, Any]]:
    """Every question with its charts; the tables of the windows stand below them."""
    shown = views(own, found, target, t.language.tag)
    return [charts_of(own, view, shown, t) | {"tables": []} for view in shown]


def _window(window: Window, own: Task, target: Target, last: bool) -> dict[str, Any]:
    document = window.told(own)
    questions = []
    for part in document.get("questions", ()):
        question = own.question(part["question"])
        groups = [
            (strata_of(group), told({**part, **group, "estimate": estimated(group, question, target)}))
            for group in part.get("groups", ())
        ]
        whole = told({**part, "estimate": estimated(part, question, target)})
        questions.append((whole, part["state"] == PUBLISHED and part.get("estimate") is not None, groups))
    return {"number": window.number, "state": window.state, "from": document["from"], "to": document["to"],
            "reports": window.reports, "questions": questions, "last": last}  # fmt: skip


def _unit(known: Known) -> str:
    """In what a wanted error is given, in words."""
    return ", of a mean ".join(sorted({question_of(m.name).unit for m in known.intake.mechanisms}))


def _needed(found: list[Window], wanted: str) -> list[tuple[str, str]]:
    """For each question of the last published window, in words, how many reports a wanted error takes."""
    if not wanted:
        return []
    try:
        error = float(wanted)
    except ValueError:
        return [("", f"{wanted[:20]!r} is not a number.")]
    for window in reversed(found):
        parts = [part for part in (window.document or {}).get("questions", ()) if part.get("estimate")]
        if parts:
            return [(part["text"], _in_words(part, error)) for part in parts]
    return [
        ("", "Nothing is published yet, so there is no error to start from. The planner knows the error of a design.")
    ]


def _in_words(part: dict[str, Any], error: float) -> str:
    try:
        total = needed(part, error)
    except DeniableError as refusal:
        return f"{refusal}"
    have = part["reports"]
    if total <= have:
        return f"{have:,} reports are enough: {total:,} would do."
    return f"{total:,} reports in one window, {total - have:,} more than the {have:,} there were."


async def certificates(collector: Collector, request: Request) -> Response:
    """What was promised to those who answer, with the proof: a page to print."""
    known = await known_task(collector, request)
    own, made = known.intake.task, known.intake.mechanisms
    told = await windows_of(collector, known)
    found = [
        certificate(own, question, m) | {"reports": sum(part["reports"] for _, part in published(told, question.name))}
        for question, m in zip(own.questions, made, strict=True)
    ]
    site = collector.settings.public_url or f"http://{request.headers.get('host', '')}"
    parts = {
        "task": own,
        "certificates": found,
        "day": collector.believed().date(),
        "version": software(),
        "site": site,
    }
    return page("certificate.html", title="Privacy certificate", **parts)


async def events(collector: Collector, request: Request) -> Response:
    """Live counts of a task as server-sent events, for as long as who watches them is signed in."""
    known = await known_task(collector, request)

    async def stream() -> AsyncIterator[str]:
        last, loop = "", asyncio.get_running_loop()
        until, turn = loop.time() + _LONGEST, 0
        while loop.time() < until and not collector.stopping and not await request.is_disconnected():
            if await key_of(collector, request, pages=True, used=False) is None:
                yield _END
                return
            if turn % _COUNTS == 0:
                text = json.dumps(await asyncio.to_thread(_counts, collector.store, known.row.id))
                yield f"data: {text}\n\n" if text != last else ": still here\n\n"
                last = text
            turn += 1
            await asyncio.sleep(_EVERY)

    return StreamingResponse(stream(), headers=_AT_ONCE, media_type="text/event-stream")


def _counts(store: Store, id: str) -> dict[str, int]:
    counted, rejected = store.tallies(id), store.rejections(id)
    return {"reports": sum(tally.n for tally in counted.values()), "rejected": sum(rejected.values())}


async def state(collector: Collector, request: Request) -> Response:
    """Open or close a task."""
    fields = await form_of(collector, request)
    known = await known_task(collector, request)
    wanted = fields.get("state", "")
    if wanted not in ("open", "closed"):
        raise Problem("invalid", "A task can be opened or closed.")
    await asyncio.to_thread(collector.store.set_state, known.row.id, wanted)
    collector.forget(known.row.id)
    log("task", id=known.row.id, state=wanted, by=request.state.key.name)
    return RedirectResponse(f"/tasks/{known.row.id}", 303)


def _row(path: str, handler: Any, summary: str, **more: Any) -> Row:
    common: dict[str, Any] = {"method": "GET", "role": Role.ANALYST, "answers": {200: html}, "page": problem_page}
    problems = ("no-key", "wrong-role", *(("not-found",) if "{id}" in path else ()))
    return Row(path=path, handler=handler, summary=summary, **{**common, "problems": problems, **more})


ROWS = (
    _row("/", dashboard, "The dashboard: all tasks."),
    _row("/tasks/{id}", task, "A task: counts, estimates, comparisons."),
    _row("/tasks/{id}/certificate", certificates, "The privacy certificate of a task, to print."),
    _row("/tasks/{id}/events", events, "Live counts of a task.", answers={200: "text/event-stream"}, live=True),
    _row(
        "/tasks/{id}/state",
        state,
        "Open or close a task by a form.",
        method="POST",
        role=Role.ADMINISTRATOR,
        takes={FORM: {"type": "object"}},
        answers={303: html},
    ),
)
