"""The pages of analysts: all tasks, one task with its estimates, its certificate, live counts."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import AsyncIterator
from datetime import date, timedelta
from typing import Any

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse

from deniable.core.types import Target
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.entry import FREQUENCY, MEAN
from deniable.run.questions import question_of
from deniable.service.access.keys import KEY_ROLES, Role
from deniable.service.alerts.notices import alerts_of
from deniable.service.collector import Collector, Known
from deniable.service.http.problems import Problem
from deniable.service.http.routes import key_of
from deniable.service.logs import log
from deniable.service.pages.charts import get_ready
from deniable.service.pages.looking import alarm, compared, needed, told, wanted_range
from deniable.service.pages.render import compressed, desk, own_page
from deniable.service.pages.signin import Pages, form_of
from deniable.service.release import PUBLISHED, Window, certificate, forged, windows
from deniable.service.results.joint import asks, by_question
from deniable.service.results.public import charts_of, crossed_of
from deniable.service.results.reading import TARGETS, check_target, estimated, group_names, published
from deniable.service.results.view import views
from deniable.service.results.words import software
from deniable.service.store.contract import Store
from deniable.service.tasks import counted_as
from deniable.service.texts.catalogue import Texts, texts
from deniable_client.task import Question, Task

__all__ = ["ROWS", "known_task", "windows_of"]

_EVERY = 1.0
"""Seconds after which it is asked again whether who watches live counts still may."""
_COUNTS = 2
"""Every how many times there are counts."""
_AT_ONCE = {"x-accel-buffering": "no"}
"""For proxies that would wait for more of a stream before they pass it on."""
_END = "event: end\ndata: {}\n\n"
"""The last event for who may not watch any more."""
_FILES = (("csv", "CSV"), ("json", "JSON"), ("parquet", "Parquet"))
_PICTURES = (("svg", "SVG"), ("png", "PNG"))
_LONGEST = 3600.0
"""Seconds after which a page asks again for live counts."""

ROWS = Pages()


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


@ROWS.page("/", "The dashboard: all tasks.")
async def dashboard(collector: Collector, request: Request) -> Response:
    """All tasks, with their counts."""
    get_ready()
    rows = []
    for row in await asyncio.to_thread(collector.store.tasks):
        known = await collector.task(row.id)
        if known is not None:
            counted = await asyncio.to_thread(collector.store.tallies, row.id)
            own = known.intake.task
            rows.append((own, _titles(own), row.state, sum(tally.n for tally in counted.values())))
    return own_page(request, "dashboard.html", title=desk(request)("page.tasks"), rows=rows[::-1], day=timedelta(1))


def _titles(own: Task) -> list[str]:
    """What stands above a task: its question, or the subject of several, and then each of them."""
    asked = [question.text for question in asks(own)]
    return asked if len(asked) == 1 else [own.subject, *asked]


@ROWS.page("/tasks/{id}", "A task: counts, estimates, comparisons.")
async def task(collector: Collector, request: Request) -> Response:
    """A task: counts, estimates by window, comparisons, rejections, bounds."""
    known = await known_task(collector, request)
    found, own = await windows_of(collector, known), known.intake.task
    target = check_target(request.query_params.get("target", "population"))
    rejected = await asyncio.to_thread(collector.store.rejections, own.id)
    say = desk(request)
    t = texts("see", say.language.tag)
    wanted = request.query_params.get("error", "")
    asked, apart = asks(own), await asyncio.to_thread(by_question, own, found, target)
    parts: dict[str, Any] = {
        "title": _titles(own)[0],
        "about": own.subject if _titles(own)[0] != own.subject else "",
        "last": own.closes - timedelta(1),
        "task": own,
        "state": known.row.state,
        "admin": KEY_ROLES[request.state.key.role].includes(Role.ADMINISTRATOR),
        "t": t.html,
        "level": t.language.share(95),
        "target": target,
        "other": next(each for each in TARGETS if each != target),
        "views": await asyncio.to_thread(_views, own, found, target, t),
        "crossed": await asyncio.to_thread(
            lambda: crossed_of(own, found, views(own, found, target, t.language.tag), t)
        ),
        "alerts": alerts_of(own, found, known.row.state, rejected, collector.believed(), say),
        "windows": [_window(window, own, target, i == 0, say) for i, window in enumerate(reversed(apart))],
        "reports": sum(window.reports for window in found),
        "rejected": sorted(((why.replace("-", ""), n) for why, n in rejected.items()), key=lambda row: -row[1]),
        "alarm": alarm(rejected),
        "doubled": rejected.get("other-body", 0),
        "compared": [(q.text, await asyncio.to_thread(compared, q, apart, say)) for q in asked],
        "unit": _unit(known),
        "silent": [
            (q.text, _silent(q, say), question_of(m.name).name == FREQUENCY)
            for q, m in zip(own.questions, known.intake.mechanisms, strict=True)
            if own.version > 1 and counted_as(q)
        ],
        "forged": [(q.text, *_forged(m, say)) for q, m in zip(own.questions, known.intake.mechanisms, strict=True)],
        "wanted": wanted,
        "needed": _needed(apart, wanted, say),
        "option": Markup("<code>--missing</code>"),
        "files": _FILES,
        "pictures": _PICTURES,
    }
    return await asyncio.to_thread(lambda: compressed(own_page(request, "task.html", **parts), request))


def _silent(question: Question, say: Texts) -> Markup:
    """What those who give no answer are counted as."""
    return say.html("silent.random") if question.none is None else say.html("silent.as", answer=question.none)


def _forged(m: Mechanism, say: Texts) -> tuple[str, bool]:
    """What a hundredth of forged reports can do, rounded up, and whether that is in English only."""
    known, asks = forged(m), question_of(m.name).name
    if known["gain"] is None:
        return say("forge.unknown"), False
    if asks == FREQUENCY:
        return say("forge.share", points=math.ceil(10_000 * known["gain"]) / 100), False
    if asks == MEAN:
        digits = 2 - math.floor(math.log10(known["gain"])) if known["gain"] > 0 else 0
        return say("forge.mean", value=math.ceil(known["gain"] * 10**digits) / 10**digits), False
    return known["text"], True


def _views(own: Task, found: list[Window], target: Target, t: Texts) -> list[dict[str, Any]]:
    """Every question with its charts; the tables of the windows stand below them."""
    shown = views(own, found, target, t.language.tag)
    return [charts_of(own, view, shown, t) | {"tables": []} for view in shown]


def _window(window: Window, own: Task, target: Target, last: bool, say: Texts) -> dict[str, Any]:
    document, least = window.told(own), own.min_batch
    questions, named = [], {one.name: one for one in asks(own)}
    for part in document.get("questions", ()):
        question = named[part["question"]]
        there = part.get("groups", ())
        groups = [
            (name, told({**part, **group, "estimate": estimated(group, question, target)}, say, least))
            for name, group in zip(group_names(own, there, say), there, strict=True)
        ]
        whole = told({**part, "estimate": estimated(part, question, target)}, say, least)
        questions.append(
            (whole, part["state"] == PUBLISHED and part.get("estimate") is not None and "tally" in part, groups)
        )
    first, end = (date.fromisoformat(document[name]) for name in ("from", "to"))
    return {"number": window.number, "state": window.state, "from": first, "to": end,
            "reports": window.reports, "questions": questions, "last": last}  # fmt: skip


def _unit(known: Known) -> str:
    """The text that says in what a wanted error is given."""
    means = {question_of(m.name).name == MEAN for m in known.intake.mechanisms}
    return "need.both" if len(means) > 1 else "need.numbers" if True in means else "need.shares"


def _needed(found: list[Window], wanted: str, say: Texts) -> list[tuple[str, str]]:
    """For each question of the last published window, in words, how many reports a wanted error takes."""
    if not wanted:
        return []
    try:
        error = float(wanted)
    except ValueError:
        return [("", say("need.number", text=wanted[:20]))]
    for window in reversed(found):
        parts = [part for part in (window.document or {}).get("questions", ()) if part.get("estimate")]
        if parts:
            return [(part["text"], _in_words(part, error, say)) for part in parts]
    return [("", say("need.nothing"))]


def _in_words(part: dict[str, Any], error: float, say: Texts) -> str:
    total, have = needed(part, error), part["reports"]
    if total is None:
        low, high, now = (f"{each:.2g}" for each in wanted_range(part))
        return say("need.range", low=low, high=high, now=now)
    return say("need.enough" if total <= have else "need.more", total=total, have=have, more=total - have)


@ROWS.page("/tasks/{id}/certificate", "The privacy certificate of a task, to print.")
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
        "title": desk(request)("task.certificate"),
        "task": own,
        "id": Markup('<code dir="ltr">{}</code>').format(own.id),
        "certificates": found,
        "day": collector.believed().date(),
        "version": software(),
        "commands": f"curl -O {site}/v1/tasks/{own.id}\ndeniable-client show {own.id}",
    }
    return own_page(request, "certificate.html", **parts)


@ROWS.page("/tasks/{id}/events", "Live counts of a task.", answers={200: "text/event-stream"}, live=True)
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


@ROWS.form("/tasks/{id}/state", "Open or close a task by a form.")
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
