"""The planner as a page: five questions, ranked designs with a chart, and a button that opens the task."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from deniable.core.domain import Domain
from deniable.errors import DeniableError, ParameterError, require
from deniable.mechanisms.entry import MEAN
from deniable.plan.answer import Plan
from deniable.plan.questions import plan
from deniable.present.export import save
from deniable.service.access import KEY_ROLES, Role
from deniable.service.collector import Collector
from deniable.service.http.problems import Problem
from deniable.service.http.routes import Row
from deniable.service.identity import Identity
from deniable.service.logs import log
from deniable.service.pages.charts import ALONE, KINDS, drawn, once
from deniable.service.pages.render import html, page
from deniable.service.pages.signin import FORM, form_of, told
from deniable.service.tasks import Asked, Terms, new_task
from deniable_client.canonical import canonical

__all__ = ["ROWS"]

_FIELDS = ("text", "kind", "answers", "low", "high", "sensitive", "people", "epsilon")
_TOP = 6
_LARGEST = 10**12
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
    epsilon, people = _number(fields["epsilon"], "protection"), _number(fields["people"], "people")
    require(people == int(people) and people >= 1, "people", fields["people"], "a whole number of at least 1")
    if fields["kind"] == "mean":
        ends = f"{_number(fields['low'], 'lowest number'):g},{_number(fields['high'], 'highest number'):g}"
        return plan(question=MEAN, interval=ends, epsilon=epsilon, n=int(people))
    labels = _lines(fields["answers"])
    require(len(labels) >= 2, "answers", fields["answers"], "at least two, one on each line")
    sensitive = ",".join(_lines(fields["sensitive"])) or None
    return plan(domain=Domain.of(labels), epsilon=epsilon, n=int(people), top=_TOP, sensitive=sensitive)


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _number(text: str, name: str) -> float:
    try:
        found = float(text)
    except ValueError:
        raise ParameterError(f"{name} must be a number, got {text[:40]!r}.") from None
    require(math.isfinite(found) and abs(found) < _LARGEST, name, text[:40], f"a number below {_LARGEST:,}")
    return found


async def form(_: Collector, request: Request) -> Response:
    """The five questions and, once they are answered, the designs."""
    fields = {name: request.query_params.get(name, "") for name in _FIELDS}
    parts: dict[str, Any] = {
        "title": "Plan a task",
        "fields": {**fields, "kind": fields["kind"] or "shares", "epsilon": fields["epsilon"] or "1"},
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
    text, days = fields.get("text", "").strip(), _number(fields.get("days", "7"), "days")
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
