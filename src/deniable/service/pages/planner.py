"""The planner as a page, for experts: five questions, ranked designs with a chart, and a draft that takes one over."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import urlencode

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from deniable.errors import DeniableError, require
from deniable.mechanisms.registry import entry_of
from deniable.plan.answer import Plan
from deniable.plan.questions import plan
from deniable.present.export import save
from deniable.run.forms import ANSWERS, NUMBERS, lines_of, number_of
from deniable.run.questions import QUESTIONS
from deniable.service.access.keys import KEY_ROLES, Role
from deniable.service.collector import Collector
from deniable.service.http.problems import Problem
from deniable.service.logs import log
from deniable.service.pages.charts import ALONE, KINDS, drawn, once
from deniable.service.pages.render import desk, own_page
from deniable.service.pages.signin import Pages, form_of
from deniable.service.questionnaire.document import Item, Questionnaire, dumped, read, written
from deniable.service.questionnaire.outlook import level_of
from deniable.service.store.contract import DraftRow
from deniable.service.texts.catalogue import Texts

__all__ = ["ROWS"]

_FIELDS = ("text", "kind", "answers", "low", "high", "sensitive", "people", "epsilon")
PROTECTION = ("0.5", "1", "2", "4")
"""The promises that the page offers."""

ROWS = Pages()


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


@ROWS.page("/plan", "The planner as a page.")
async def form(_: Collector, request: Request) -> Response:
    """The five questions and, once they are answered, the designs."""
    fields = {name: request.query_params.get(name, "") for name in _FIELDS}
    say = desk(request)
    parts: dict[str, Any] = {
        "title": say("page.plan"),
        "link": Markup('<a href="/q">{}</a>').format(say("plan.help.link")),
        "fields": {**fields, "kind": fields["kind"] or ANSWERS.kind, "epsilon": fields["epsilon"] or "1"},
        "protections": {each: _level(float(each), say) for each in PROTECTION},
        "admin": KEY_ROLES[request.state.key.role].includes(Role.ADMINISTRATOR),
        "answer": None,
        "problem": "",
        "query": urlencode(fields),
    }
    if fields["people"]:
        try:
            answer = await asyncio.to_thread(planned, _given(fields))
            parts["answer"] = answer
            name = entry_of(answer.designs[0].mechanism.name).summary
            parts["best"] = Markup('<bdi lang="en" dir="ltr">{}</bdi>').format(name)
            parts["others"] = [d for d in answer.designs[1:] if not d.beaten_by]
            parts["beaten"] = [d for d in answer.designs[1:] if d.beaten_by]
            parts["spelled"] = {d.mechanism.name: entry_of(d.mechanism.name).summary for d in answer.designs}
        except DeniableError as error:
            parts["problem"] = f"{error}"
    return own_page(request, "plan.html", **parts)


def _level(epsilon: float, say: Texts) -> str:
    return say("plan.level", level=say(f"level.{level_of(epsilon)}"), epsilon=epsilon)


@ROWS.page("/plan/chart.svg", "The designs of a plan as a picture.", answers={200: KINDS["svg"]})
async def chart(_: Collector, request: Request) -> Response:
    """The designs as a picture: error against the best guess."""
    fields = {name: request.query_params.get(name, "") for name in _FIELDS}
    given = _given(fields)
    return Response(await once(given, _picture, given), 200, dict(ALONE), KINDS["svg"])


def _picture(given: tuple[tuple[str, str], ...]) -> bytes:
    found = planned(given)
    return drawn(lambda path: save(found.chart(), path), "svg")


@ROWS.form("/plan/draft", "Make a draft of a questionnaire with a design of the plan.")
async def draft(collector: Collector, request: Request) -> Response:
    """A draft that asks the question of the plan by one of its designs; it is opened on its own pages, if at all."""
    fields = await form_of(collector, request)
    given = _given(fields)
    answer = await asyncio.to_thread(planned, given)
    chosen = next((d for d in answer.designs if d.title == fields.get("design")), None)
    if chosen is None:
        raise Problem("invalid", "There is no such design in this plan.")
    made = read(written(_questionnaire(dict(given), answer, chosen)))  # what could not be read again is not kept
    row = DraftRow(secrets.token_hex(8), 1, dumped(made))
    await asyncio.to_thread(collector.store.put_draft, row)
    log("questionnaire", id=row.id, state="draft", by=request.state.key.name)
    return RedirectResponse(f"/q/{row.id}", 303)


def _questionnaire(fields: Mapping[str, str], answer: Plan[Any], chosen: Any) -> Questionnaire:
    """What was planned, as a questionnaire: who asks, and why, is left to be written."""
    told: dict[str, Any] = {"name": "q1", "text": fields["text"]}
    told |= {"mechanism": chosen.mechanism.name} if chosen is not answer.designs[0] else {}
    if fields["kind"] == NUMBERS.kind:
        low, high = (number_of(fields[end], f"{end}est number") for end in ("low", "high"))
        item = Item(**told, kind="number", low=low, high=high)
    else:
        some = chosen.mechanism.protection.sensitive is not None
        sensitive = tuple(lines_of(fields["sensitive"])) if some else ()
        item = Item(**told, kind="one", options=tuple(lines_of(fields["answers"])), sensitive=sensitive)
    people, protection = (number_of(fields[name], name) for name in ("people", "epsilon"))
    return Questionnaire(questions=(item,), people=int(people), protection=protection)
