"""The planner as a page: five questions, ranked designs with a chart, and a button that opens the task."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from deniable.errors import DeniableError, require
from deniable.plan.answer import Plan
from deniable.plan.questions import plan
from deniable.present.export import save
from deniable.run.forms import ANSWERS, number_of
from deniable.run.questions import QUESTIONS
from deniable.service.access.identity import Identity
from deniable.service.access.keys import KEY_ROLES, Role
from deniable.service.collector import Collector
from deniable.service.http.problems import Problem
from deniable.service.http.routes import Row
from deniable.service.logs import log
from deniable.service.pages.charts import ALONE, KINDS, drawn, once
from deniable.service.pages.render import html, page
from deniable.service.pages.signin import FORM, form_of, told
from deniable.service.tasks import Asked, Terms, new_task
from deniable_client.canonical import canonical

__all__ = ["ROWS"]

_FIELDS = ("text", "kind", "answers", "low", "high", "sensitive", "people", "epsilon")
PROTECTION = {
    "0.5": "strong (epsilon 0.5)",
    "1": "usual (epsilon 1)",
    "2": "weak (epsilon 2)",
    "4": "little (epsilon 4)",
}
"""The promises that the page offers."""


def _given(fields: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """The fields of the form that the plan depends on."""
    return tuple((name, fields.get(name, "").strip()) for name in _FIELDS)


@lru_cache(maxsize=32)
def planned(given: tuple[tuple[str, str], ...]) -> Plan[Any]:
    """The plan for what was filled in; `ParameterError` in the words of the form."""
    fields = dict(given)
    epsilon, people = number_of(fields["epsilon"], "protection"), number_of(fields["people"], "people")
    require(people == int(people) and people >= 1, "people", fields["people"], "a whole number of at least 1")
    asked, form = _FORMS.get(fields["kind"]) or _FORMS[ANSWERS.kind]
    return plan(question=asked.name, **form.read(fields), epsilon=epsilon, n=int(people))


_FORMS = {asked.form.kind: (asked, asked.form) for asked in QUESTIONS.values() if asked.form is not None}
"""The questions that the page asks, by the field `kind`."""


async def form(_: Collector, request: Request) -> Response:
    """The five questions and, once they are answered, the designs."""
    fields = {name: request.query_params.get(name, "") for name in _FIELDS}
    parts: dict[str, Any] = {
        "title": "Plan a task",
        "fields": {**fields, "kind": fields["kind"] or ANSWERS.kind, "epsilon": fields["epsilon"] or "1"},
        "protections": PROTECTION,
        "admin": KEY_ROLES[request.state.key.role].includes(Role.ADMINISTRATOR),
        "answer": None,
        "problem": "",
        "query": urlencode(fields),
    }
    if fields["people"]:
        try:
            parts["answer"] = await asyncio.to_thread(planned, _given(fields))
        except DeniableError as error:
            parts["problem"] = f"{error}"
    return page("plan.html", **parts)


async def chart(_: Collector, request: Request) -> Response:
    """The designs as a picture: error against the best guess."""
    fields = {name: request.query_params.get(name, "") for name in _FIELDS}
    given = _given(fields)
    return Response(await once(given, _picture, given), 200, dict(ALONE), KINDS["svg"])


def _picture(given: tuple[tuple[str, str], ...]) -> bytes:
    found = planned(given)
    return drawn(lambda path: save(found.chart(), path), "svg")


async def open_task(collector: Collector, request: Request) -> Response:
    """Make a task of one of the designs, and open it."""
    fields = await form_of(collector, request)
    answer = await asyncio.to_thread(planned, _given(fields))
    chosen = [d for d in answer.designs if d.title == fields.get("design")]
    if not chosen:
        raise Problem("invalid", "There is no such design in this plan.")
    text, days = fields.get("text", "").strip(), number_of(fields.get("days", "7"), "days")
    require(bool(text), "question", text, "what people are to be asked")
    terms = Terms(
        opens=collector.clock().date(),
        window_days=int(days),
        collector=fields.get("collector") or None,
        url=collector.settings.public_url or None,
    )
    identity = Identity(await asyncio.to_thread(collector.store.identity))
    made = new_task([Asked(text=text, design=chosen[0].mechanism.design)], terms, identity)
    await asyncio.to_thread(collector.store.put_task, made["id"], canonical(made))
    log("task", id=made["id"], state="draft", by=request.state.key.name)
    await asyncio.to_thread(collector.store.set_state, made["id"], "open")
    log("task", id=made["id"], state="open", by=request.state.key.name)
    return RedirectResponse(f"/tasks/{made['id']}", 303)


def _row(path: str, handler: Any, summary: str, **more: Any) -> Row:
    common: dict[str, Any] = {"method": "GET", "role": Role.ANALYST, "answers": {200: html}, "page": told}
    return Row(path=path, handler=handler, summary=summary, problems=("no-key", "wrong-role"), **{**common, **more})


ROWS = (
    _row("/plan", form, "The planner as a page."),
    _row("/plan/chart.svg", chart, "The designs of a plan as a picture.", answers={200: KINDS["svg"]}),
    _row(
        "/plan/open",
        open_task,
        "Make a task of a design of the plan, and open it.",
        method="POST",
        role=Role.ADMINISTRATOR,
        takes={FORM: {"type": "object"}},
        answers={303: html},
    ),
)
