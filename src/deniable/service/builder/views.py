"""The pages of questionnaires: list, draft, outlook, preview, trial, opening."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Mapping
from dataclasses import replace
from datetime import date, timedelta
from functools import lru_cache
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from deniable.errors import DeniableError, FormatError
from deniable.service.access.identity import Identity
from deniable.service.access.keys import KEY_ROLES, Role
from deniable.service.builder import forms
from deniable.service.builder.preview import shown_task
from deniable.service.builder.trial import trial
from deniable.service.builder.uploads import MULTIPART, sent_by
from deniable.service.collector import Collector
from deniable.service.http.problems import Problem
from deniable.service.logs import log
from deniable.service.pages.render import FRAMING, html, page, silent_page
from deniable.service.pages.signin import FORM, Pages, form_of
from deniable.service.pages.survey import preview_page
from deniable.service.questionnaire import telling
from deniable.service.questionnaire.complete import Fault, problems
from deniable.service.questionnaire.document import KINDS, Questionnaire, dumped, read
from deniable.service.questionnaire.imports import imported
from deniable.service.questionnaire.kinds import can_join, can_skip
from deniable.service.questionnaire.opening import task_of
from deniable.service.questionnaire.outlook import OFFERED, Crossed, Outlook, outlook
from deniable.service.release import Window
from deniable.service.results.public import charts_of
from deniable.service.results.view import views
from deniable.service.store.contract import DraftRow
from deniable.service.tasks import DEVICE_YEAR
from deniable.service.texts.catalogue import Texts, texts
from deniable.service.texts.languages import LANGUAGES, direction_of, name_of, preferred
from deniable_client.canonical import canonical
from deniable_client.task import Task

__all__ = ["ROWS"]

_FIELDS = 4000
"""Fields of a form, at most."""
_YEAR = timedelta(365)

_KEPT = {200: "application/json", 303: html, 422: html}
"""What is answered to a draft that was filled in: to the script, to a browser, and what is wrong."""

ROWS = Pages()


def _say(request: Request) -> Texts:
    return texts("build", preferred(request.headers.get("accept-language", ""), list(LANGUAGES)))


def _page(request: Request, template: str, status: int = 200, /, **parts: Any) -> Response:
    say = _say(request)
    admin = KEY_ROLES[request.state.key.role].includes(Role.ADMINISTRATOR)
    common = {
        "t": say.html,
        "lang": say.language.tag,
        "dir": say.language.direction,
        "admin": admin,
        "name_of": name_of,
    }
    return page(template, status, **common, **parts)


async def _row(collector: Collector, request: Request) -> DraftRow:
    """The draft of a path, whether it can be read or not."""
    row = await asyncio.to_thread(collector.store.draft, request.path_params["id"])
    if row is None:
        raise Problem("not-found", "There is no questionnaire with this id here.")
    return row


async def _draft(collector: Collector, request: Request) -> tuple[DraftRow, Questionnaire]:
    """The questionnaire of a path."""
    row = await _row(collector, request)
    return row, read(row.document)


async def _kept(collector: Collector, row: DraftRow) -> bool:
    return await asyncio.to_thread(collector.store.put_draft, row)


def _fixed(request: Request, row: DraftRow) -> bool:
    """Whether nothing can be written: it is open, or whoever looks may only read."""
    return row.task is not None or not KEY_ROLES[request.state.key.role].includes(Role.ADMINISTRATOR)


def _refuse_opened(row: DraftRow, say: Texts) -> None:
    if row.task is not None:
        raise Problem("conflict", say("edit.fixed"))


# ---- the list


@ROWS.page("/q", "All questionnaires.")
async def listed(collector: Collector, request: Request) -> Response:
    """All questionnaires."""
    return await _list(collector, request)


async def _list(
    collector: Collector, request: Request, status: int = 200, problem: str = "", pasted: str = ""
) -> Response:
    """The list, with those that cannot be read: they stand in nobody's way."""
    rows = [(row, _readable(row)) for row in await asyncio.to_thread(collector.store.drafts)]
    return _page(request, "questionnaires.html", status, rows=rows, problem=problem, pasted=pasted)


def _readable(row: DraftRow) -> Questionnaire | None:
    try:
        return read(row.document)
    except DeniableError:
        return None


@ROWS.form("/q/new", "Begin a questionnaire.")
async def new(collector: Collector, request: Request) -> Response:
    """An empty draft."""
    await form_of(collector, request)
    id = secrets.token_hex(8)
    start = Questionnaire(language=_say(request).language.tag)
    await _kept(collector, DraftRow(id, 1, dumped(start)))
    return RedirectResponse(f"/q/{id}", 303)


@ROWS.form(
    "/q/import",
    "Take a questionnaire over from a file.",
    takes={MULTIPART: {"type": "object"}, FORM: {"type": "object"}},
    answers={200: html, 303: html, 422: html},
)
async def taken(collector: Collector, request: Request) -> Response:
    """A draft from the file of ours, or of another tool, that was chosen or pasted."""
    fields = await sent_by(collector, request)
    pasted, file = fields.get("document", b""), fields.get("file", b"")
    try:
        if not file and not pasted.strip():
            raise FormatError(_say(request)("list.nothing"))
        asked, left = await asyncio.to_thread(imported, file or pasted)
        row = DraftRow(secrets.token_hex(8), 1, dumped(asked))
    except DeniableError as error:
        return await _list(collector, request, 422, f"{error}", pasted.decode(errors="replace"))
    await _kept(collector, row)
    if left:
        return await _shown(request, row, asked, left=left)
    return RedirectResponse(f"/q/{row.id}", 303)


# ---- writing


@ROWS.page("/q/{id}", "The form of a questionnaire.")
async def edited(collector: Collector, request: Request) -> Response:
    """The form of a draft."""
    row, asked = await _draft(collector, request)
    return await _shown(request, row, asked)


async def _shown(
    request: Request,
    row: DraftRow,
    asked: Questionnaire,
    status: int = 200,
    *,
    fields: Mapping[str, str] | None = None,
    faults: Mapping[str, Fault] | None = None,
    unsaved: str = "",
    left: list[str] | None = None,
) -> Response:
    say = _say(request)
    wrong = faults or {}
    levels = {f"{epsilon:g}": telling.level(epsilon, say) for epsilon in sorted({*OFFERED, asked.protection})}
    shown = forms.fields_of(asked) | {name: text for name, text in (fields or {}).items() if name in wrong or unsaved}
    missing = [(fault.where, telling.in_words(fault, say)) for fault in problems(asked)] if not wrong else []
    return _page(
        request,
        "questionnaire.html",
        status,
        row=row,
        fixed=_fixed(request, row),
        asked=asked,
        fields=shown,
        faults={name: telling.in_words(fault, say) for name, fault in wrong.items()},
        missing=missing,
        unsaved=unsaved,
        left=left or [],
        levels=levels,
        kinds={kind: f"kind.{kind.replace('-', '')}" for kind in KINDS},
        languages=[(each.tag, each.name) for each in LANGUAGES.values()],
        can_skip=can_skip,
        can_join=can_join,
        step="edit",
        texts=say.page(["edit.saved", "edit.saving", "edit.unsaved", "edit.crossed", "edit.large"]),
    )


@ROWS.form("/q/{id}", "Save a draft.", answers=_KEPT)
async def saved(collector: Collector, request: Request) -> Response:
    """Keep what was filled in; what cannot be read stays on the page, and as it was in the draft."""
    fields = await form_of(collector, request, most=_FIELDS)
    row, before = await _draft(collector, request)
    _refuse_opened(row, _say(request))
    filled = forms.Filled(fields)
    typed = forms.changed(before, filled)
    asked, place = forms.done(typed, fields.get("do", ""), filled)
    return await _answer(collector, request, row, asked, filled, f"/q/{row.id}", place, typed=typed)


async def _answer(
    collector: Collector,
    request: Request,
    row: DraftRow,
    asked: Questionnaire,
    filled: forms.Filled,
    path: str,
    place: str,
    tag: str = "",
    typed: Questionnaire | None = None,
) -> Response:
    say, fields = _say(request), filled.fields
    fresh, kept = fields.get("changed") == str(row.changed), row
    try:
        if fresh:
            kept = replace(row, changed=row.changed + 1, document=dumped(asked))
            fresh = await _kept(collector, kept)
    except FormatError:
        return await _too_large(request, row, typed or asked, filled, tag)
    said = {name: telling.in_words(fault, say) for name, fault in filled.faults.items()}
    if "application/json" in request.headers.get("accept", ""):
        return JSONResponse(
            {"changed": kept.changed, "faults": said} if fresh else {"crossed": True}, 200 if fresh else 409
        )
    if not fresh or filled.faults:
        shown = kept if fresh else row
        status = 422 if fresh else 409
        unsaved = "" if fresh else "edit.crossed"
        if tag:
            return _language(request, shown, asked, tag, status, filled, unsaved=unsaved)
        return await _shown(request, shown, asked, status, fields=fields, faults=filled.faults, unsaved=unsaved)
    if fields.get("do") == "next":
        return RedirectResponse(f"/q/{row.id}/outlook", 303)
    return RedirectResponse(path + (f"#{place}" if place else ""), 303)


async def _too_large(request: Request, row: DraftRow, typed: Questionnaire, filled: forms.Filled, tag: str) -> Response:
    """Say that a draft cannot hold what was filled in: it stays on the page, and the draft as it was."""
    if "application/json" in request.headers.get("accept", ""):
        return JSONResponse({"large": True}, 422)
    if tag:
        return _language(request, row, typed, tag, 422, filled, unsaved="edit.large")
    return await _shown(request, row, typed, 422, fields=filled.fields, faults=filled.faults, unsaved="edit.large")


@ROWS.form("/q/{id}/copy", "Copy a questionnaire.")
async def copied(collector: Collector, request: Request) -> Response:
    """A draft with the same content."""
    await form_of(collector, request)
    _, asked = await _draft(collector, request)
    id = secrets.token_hex(8)
    title = _say(request)("list.copied", title=asked.title)[:200] if asked.title else ""
    await _kept(collector, DraftRow(id, 1, dumped(replace(asked, title=title, opens=""))))
    return RedirectResponse(f"/q/{id}", 303)


@ROWS.form("/q/{id}/delete", "Delete a draft.")
async def deleted(collector: Collector, request: Request) -> Response:
    """Forget a draft."""
    await form_of(collector, request)
    row = await _row(collector, request)
    _refuse_opened(row, _say(request))
    await asyncio.to_thread(collector.store.drop_draft, row.id)
    log("questionnaire", id=row.id, state="deleted", by=request.state.key.name)
    return RedirectResponse("/q", 303)


@ROWS.page("/q/{id}/questionnaire.json", "A questionnaire as a file.", answers={200: "application/json"})
async def exported(collector: Collector, request: Request) -> Response:
    """The questionnaire as a file."""
    row = await _row(collector, request)
    headers = {"content-disposition": f'attachment; filename="questionnaire-{row.id}.json"'}
    return Response(row.document, 200, headers, "application/json")


@ROWS.page("/q/{id}/language/{tag}", "The texts of another language.")
async def language(collector: Collector, request: Request) -> Response:
    """The form for the texts of another language."""
    row, asked = await _draft(collector, request)
    tag = _tag(request, asked)
    return _language(request, row, asked, tag, 200, forms.Filled({}))


def _tag(request: Request, asked: Questionnaire) -> str:
    tag = str(request.path_params["tag"])
    if tag not in asked.translations:
        raise Problem("not-found", "There is no such language in this questionnaire.")
    return tag


def _language(
    request: Request,
    row: DraftRow,
    asked: Questionnaire,
    tag: str,
    status: int,
    filled: forms.Filled,
    *,
    unsaved: str = "",
) -> Response:
    say = _say(request)
    typed = {name: text for name, text in filled.fields.items() if name in filled.faults or unsaved}
    return _page(
        request,
        "translation.html",
        status,
        row=row,
        fixed=_fixed(request, row),
        asked=asked,
        tag=tag,
        way=direction_of(tag),
        fields=forms.language_fields(asked, tag) | typed,
        faults={name: telling.in_words(fault, say) for name, fault in filled.faults.items()},
        unsaved=unsaved,
        step="edit",
        texts=say.page(["edit.saved", "edit.saving", "edit.unsaved", "edit.crossed", "edit.large"]),
    )


@ROWS.form("/q/{id}/language/{tag}", "Save the texts of another language.", answers=_KEPT)
async def language_saved(collector: Collector, request: Request) -> Response:
    """Keep the texts of another language."""
    fields = await form_of(collector, request, most=_FIELDS)
    row, before = await _draft(collector, request)
    _refuse_opened(row, _say(request))
    tag, filled = _tag(request, before), forms.Filled(fields)
    asked = forms.translated(before, tag, filled)
    path = f"/q/{row.id}/language/{tag}" if fields.get("do") != "back" else f"/q/{row.id}"
    return await _answer(collector, request, row, asked, filled, path, "", tag)


# ---- what comes of it


@lru_cache(maxsize=64)
def _outlook(document: bytes) -> Outlook:
    return outlook(read(document))


def _missing(collector: Collector, request: Request, row: DraftRow, asked: Questionnaire) -> list[tuple[str, str]]:
    """What keeps a draft from being opened today, with where that is in the form."""
    wrong = problems(asked, collector.clock().date() if row.task is None else None)
    return [(fault.where, telling.in_words(fault, _say(request))) for fault in wrong]


async def _complete(
    collector: Collector, request: Request
) -> tuple[DraftRow, Questionnaire, Outlook | None, list[Any]]:
    row, asked = await _draft(collector, request)
    missing = _missing(collector, request, row, asked)
    found = None if missing else await asyncio.to_thread(_outlook, row.document)
    return row, asked, found, missing


@ROWS.page("/q/{id}/outlook", "What will come of a questionnaire.")
async def foreseen(collector: Collector, request: Request) -> Response:
    """What will come of a draft."""
    row, asked, found, missing = await _complete(collector, request)
    say = _say(request)
    parts: dict[str, Any] = {"row": row, "asked": asked, "missing": missing, "step": "outlook", "found": found}
    if found is not None:
        told = telling.lines(found, tag=say.language.tag)
        parts |= {
            "told": told["told"],
            "cautions": told["cautions"],
            "known": [_known(found, each, say) for each in (*found.known, *found.crossed)],
            "groups": _groups(found, say),
            "spent": await asyncio.to_thread(_spent, collector, say),
            "grade": f"out.grade.{found.grade}",
        }
    return _page(request, "outlook.html", **parts)


def _known(found: Outlook, each: Any, say: Texts) -> dict[str, Any]:
    """A row of the details: a question, or the table of two, with the mechanisms whose reports tell of it."""
    item, made = found.asked.item(each.question), found.survey
    names = {each.question, each.other} if isinstance(each, Crossed) else {each.question}
    about = [(set(made.about(part)), m.name) for part, m in zip(made.parts, made.mechanisms, strict=True)]
    exact = [name for part, name in about if part == names]
    return {
        "text": " × ".join(found.asked.item(name).text for name in (each.question, *names - {each.question})),
        "reports": say.language.number(round(each.reports)),
        "half": telling.half(each, item, say),
        "grade": each.grade,
        "mechanism": (exact or [name for part, name in about if part > names])[0],
    }


def _groups(found: Outlook, say: Texts) -> list[tuple[str, str, str, str]]:
    """For each group how well the question that is known worst will be known."""
    rows = []
    for group in found.asked.groups:
        for value, part in zip(group.values, found.groups[group.name], strict=True):
            worst = max(
                (found.of_group(item, part) for item in found.asked.questions),
                key=lambda each: each.half / each.relevant,
            )
            rows.append((group.title, value, telling.half(worst, found.asked.item(worst.question), say), worst.grade))
    return rows


def _spent(collector: Collector, say: Texts) -> str:
    """What this collector's tasks of the last year cost a device that answered all of them; empty if there are none."""
    since = collector.clock().date() - _YEAR
    tasks = [Task.load(row.document) for row in collector.store.tasks() if row.state != "draft"]
    recent = [task for task in tasks if task.version == 2 and task.opens >= since]
    if not recent:
        return ""
    left = max(0.0, DEVICE_YEAR - sum(task.epsilon * task.count for task in recent))
    return say("out.spent", count=len(recent), n=len(recent), left=left)


@ROWS.page("/q/{id}/preview", "What people will see.")
async def preview(collector: Collector, request: Request) -> Response:
    """What people will see: the survey page itself in a frame like a phone, and all texts one after another."""
    row, asked = await _draft(collector, request)
    tags = [asked.language, *asked.translations]
    tag = request.query_params.get("language", asked.language)
    tag = tag if tag in tags else asked.language
    task = await asyncio.to_thread(shown_task, row.document, collector.clock().date())
    made = _page(
        request,
        "preview.html",
        row=row,
        asked=asked,
        tags=tags,
        tag=tag,
        dark="dark" in request.query_params,
        shown=[] if task is None else [(question.name, question.text) for question in task.questions],
        missing=_missing(collector, request, row, asked),
        step="preview",
    )
    made.headers["content-security-policy"] = FRAMING
    return made


@ROWS.page("/q/{id}/preview/page", "The survey page of a draft; nothing can be sent from it.")
async def preview_frame(collector: Collector, request: Request) -> Response:
    """The survey page of a draft, from which nothing can be sent."""
    row, asked = await _draft(collector, request)
    task = await asyncio.to_thread(shown_task, row.document, collector.clock().date())
    if task is None:
        raise Problem("not-found", "There is no question to show yet.")
    tag = request.query_params.get("language", asked.language)
    offered = [asked.language, *task.translations]
    tag = tag if tag in offered else asked.language
    look = "dark" if "dark" in request.query_params else "light"
    return silent_page(await asyncio.to_thread(preview_page, task, tag, look))


# ---- robots


@ROWS.page("/q/{id}/trial", "The report of a trial with robots.")
async def tried(collector: Collector, request: Request) -> Response:
    """The report of the last trial."""
    row, asked, found, missing = await _complete(collector, request)
    last = None if row.trial is None else json.loads(row.trial)
    old = last is not None and last["document"] != row.document.decode()
    say = _say(request)
    told, names = {"questions": (), "tables": (), **(last or {})}, {item.name for item in asked.questions}
    see, report = texts("see", say.language.tag), await asyncio.to_thread(_report, told, say.language.tag)
    drawn = [_drawn(part, asked, say) for part in told["questions"] if part["question"] in names]
    drawn += [_drawn_table(part, asked, say) for part in told["tables"] if names.issuperset(part["questions"])]
    possible = found is not None and found.asked.protection <= DEVICE_YEAR
    return _page(
        request, "trial.html", row=row, asked=asked, missing=missing, last=last, old=old, drawn=drawn, step="trial",
        report=report, possible=possible and row.task is None, see=see.html, level=see.language.share(95),
    )  # fmt: skip


def _report(told: Mapping[str, Any], tag: str) -> dict[str, Any]:
    """For each question the final report, as pages of results have it; nothing of trials of older programs."""
    if "task" not in told:
        return {}
    task, t = Task.load(told["task"]), texts("see", tag)
    found = [Window(i, each["state"], each["reports"], each) for i, each in enumerate(told["windows"])]
    shown = views(task, found, "population", tag)
    return {view.question.name: charts_of(task, view, shown, t) | {"tables": []} for view in shown}


def _drawn(part: Mapping[str, Any], asked: Questionnaire, say: Texts) -> dict[str, Any]:
    """A question of the report as rows of texts."""
    item = asked.item(part["question"])
    told = {"name": item.name, "text": item.text, "reports": part["reports"], "why": part.get("why", "")}
    return told | _rows(part, item, say)


def _drawn_table(part: Mapping[str, Any], asked: Questionnaire, say: Texts) -> dict[str, Any]:
    """The same of a table of two questions, with a row for each two answers."""
    one, two = (asked.item(name) for name in part["questions"])
    told = {"name": "", "text": f"{one.text} × {two.text}", "reports": part["reports"], "why": part.get("why", "")}
    return told | _rows(part, one, say)


def _rows(part: Mapping[str, Any], item: Any, say: Texts) -> dict[str, Any]:
    """Rows of texts: what was made up, what was found, and how close it will be with the people who are asked."""
    number, mean = say.language.number, part.get("mean", False)
    rows = []
    for row in part["rows"]:
        planned = telling.rounded_up(part["half"]) if mean else 100 * part["half"]
        rows.append(
            {
                "label": say("trial.mean") if mean else row["label"],
                "truth": _made_up(part, item, say) if mean else say.language.share(100 * row["truth"]),
                "found": number(row["found"], 2) if mean else say.language.share(100 * row["found"]),
                "planned": f"± {number(planned, 1)}",
            }
        )
    return {"rows": rows}


def _made_up(part: Mapping[str, Any], item: Any, say: Texts) -> str:
    """The mean of what the robots were given."""
    last = len(part["truth"]) - 1
    mean = sum(share * i / last for i, share in enumerate(part["truth"]))
    return say.language.number((item.low or 0.0) + mean * ((item.high or 0.0) - (item.low or 0.0)), 2)


@ROWS.form("/q/{id}/trial", "Let robots answer a draft.")
async def let_try(collector: Collector, request: Request) -> Response:
    """Let robots answer a draft."""
    await form_of(collector, request)
    row, asked, found, missing = await _complete(collector, request)
    _refuse_opened(row, _say(request))
    if missing or found is None:
        return RedirectResponse(f"/q/{row.id}/trial", 303)
    done = await asyncio.to_thread(trial, asked, collector.clock())
    text = json.dumps(done | {"document": row.document.decode()}, ensure_ascii=False).encode()
    if not await _kept(collector, replace(row, changed=row.changed + 1, trial=text)):
        raise Problem("conflict", _say(request)("edit.crossed"))
    return RedirectResponse(f"/q/{row.id}/trial", 303)


# ---- opening


@ROWS.page("/q/{id}/open", "What can never change once it is open.")
async def before_open(collector: Collector, request: Request) -> Response:
    """What can never change once it is open; for what is not worth it a page before that, with what else to do."""
    row, asked, found, missing = await _complete(collector, request)
    say = _say(request)
    vain = found is not None and found.grade == "vain" and "anyway" not in request.query_params
    opens = date.fromisoformat(asked.opens) if asked.opens else collector.clock().date()
    parts: dict[str, Any] = {
        "row": row,
        "asked": asked,
        "missing": missing,
        "found": found,
        "vain": vain,
        "step": "open",
    }
    parts |= {"opens": opens, "closes": opens + timedelta(asked.days * asked.windows - 1), "ways": [], "told": []}
    if found is not None:
        parts |= {"told": telling.lines(found, tag=say.language.tag)["told"], "ways": telling.ways(found, say)}
        parts["half"] = telling.half(found.worst, asked.item(found.worst.question), say)
    return _page(request, "opening.html", **parts)


@ROWS.form("/q/{id}/open", "Open a questionnaire.")
async def opened(collector: Collector, request: Request) -> Response:
    """Make the task of a draft and open it; what robots answered is erased."""
    fields = await form_of(collector, request)
    row, asked, found, missing = await _complete(collector, request)
    if row.task is not None:
        return RedirectResponse(f"/tasks/{row.task}", 303)
    if missing or found is None or not found.possible or (found.grade == "vain" and fields.get("anyway") != "1"):
        return RedirectResponse(f"/q/{row.id}/open", 303)
    identity = Identity(await asyncio.to_thread(collector.store.identity))
    url, today = collector.settings.public_url or None, collector.clock().date()
    made = await asyncio.to_thread(lambda: task_of(asked, identity, today=today, url=url, found=found))
    await asyncio.to_thread(collector.store.put_task, made["id"], canonical(made))
    if not await _kept(collector, replace(row, changed=row.changed + 1, trial=None, task=made["id"])):
        raise Problem("conflict", _say(request)("edit.crossed"))
    await asyncio.to_thread(collector.store.set_state, made["id"], "open")
    log("task", id=made["id"], state="open", by=request.state.key.name)
    return RedirectResponse(f"/tasks/{made['id']}", 303)
