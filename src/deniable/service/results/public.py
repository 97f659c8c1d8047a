"""The public page of a task's results: for everybody, if the task says so, with what is needed to check it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from deniable.collect.codec import dump
from deniable.collect.tally import Tally
from deniable.mechanisms.entry import FREQUENCY
from deniable.run.questions import question_of
from deniable.service.collector import Collector, Known
from deniable.service.http.bodies import JSON, OCTETS
from deniable.service.http.problems import KINDS, Problem
from deniable.service.http.routes import Rows
from deniable.service.http.tables import FILES, TARGET, as_file, windows_now
from deniable.service.pages.charts import once
from deniable.service.pages.render import drawn_page, html, page, refused, takes_gzip
from deniable.service.release import PUBLISHED, Window, certificate, forged, tally_in, tally_of
from deniable.service.results import svg, words
from deniable.service.results.flat import FORMS
from deniable.service.results.joint import by_question, crossings
from deniable.service.results.reading import published
from deniable.service.results.view import QuestionView, Wording, views
from deniable.service.texts.catalogue import Texts, texts
from deniable.service.texts.languages import LANGUAGES, preferred
from deniable_client.task import Task

__all__ = ["ROWS", "charts_of", "crossed_of"]

_SEVERAL = 5
"""Answers on one chart over time; more get a chart each."""
MOST = 40
"""Answers with a chart; the table has all of them."""

ROWS = Rows()


async def _public(collector: Collector, request: Request) -> Known:
    """The task of a path, if its results are for everybody; whether another one exists is not told."""
    id = request.path_params["id"]
    known = await collector.task(id) if len(id) == 64 and id.isascii() else None
    if known is None or known.row.state == "draft" or known.intake.task.results != "public":
        raise Problem("not-found", "There are no public results here.")
    return known


def _told(problem: Problem, request: Request) -> Response:
    if problem.kind != "not-found":
        return refused(
            KINDS[problem.kind].status, KINDS[problem.kind].title, f"{problem.detail} {problem.hint}".strip()
        )
    t = texts("see", _language(request))
    return refused(404, t("result.head"), t("result.private"), t.language.tag)


def _language(request: Request) -> str:
    asked = request.query_params.get("lang", "")
    return asked if asked in LANGUAGES else preferred(request.headers.get("accept-language", ""), list(LANGUAGES))


@ROWS.public("/r/{id}", "The results of a task for everybody.", "not-found", answers={200: html}, page=_told)
async def result(collector: Collector, request: Request) -> Response:
    """The results of a task for everybody: sentences, charts, tables, method, certificate, downloads."""
    known = await _public(collector, request)
    found, tag, small = await windows_now(collector, known), _language(request), takes_gzip(request)
    states = tuple((window.number, window.state) for window in found)
    day = collector.believed().date()
    site = collector.settings.public_url or f"http://{request.headers.get('host', '')}"
    key = known.row.id, states, tag, small, day, site
    return drawn_page(await once(key, _drawn, known, found, tag, small, day, site), small)


def _drawn(known: Known, found: Sequence[Window], tag: str, small: bool, day: Any, site: str) -> bytes:
    import gzip

    task, t = known.intake.task, texts("see", tag)
    shown = views(task, found, "population", tag)
    wording = Wording.of(task, tag)
    texts_of = {view.question.name: view.text for view in shown}
    made = [
        certificate(task, q, m)
        | {
            "asked": " / ".join(texts_of[one.name] for one in q.together or (q,)),
            "reports": sum(part["reports"] for _, part in published(found, q.name)),
        }
        for q, m in zip(task.questions, known.intake.mechanisms, strict=True)
    ]
    url = f"{site}/r/{task.id}"
    parts: dict[str, Any] = {
        "t": t.html,
        "lang": t.language.tag,
        "dir": t.language.direction,
        "languages": [(each.tag, each.name) for each in LANGUAGES.values()],
        "title": wording.subject,
        "wording": wording,
        "task": task,
        "views": [charts_of(task, view, shown, t) for view in shown],
        "crossed": crossed_of(task, found, shown, t),
        "reports": sum(each["reports"] for each in made),
        "days": _days(task, shown),
        "level": t.language.share(95),
        "method": words.method(task, shown, made, t, url),
        "certificates": [_certified(each, t) for each in made],
        "citation": words.citation(task, wording.subject, t, url),
        "forged": _forged(known, t),
        "day": day,
        "version": words.software(),
        "site": site,
        "commands": _commands(task, site),
        "kinds": list(FORMS),
        "texts": json.dumps(t.page(["verify."]), ensure_ascii=False).replace("<", "\\u003c"),
    }
    text = bytes(page("result.html", **parts).body)
    return gzip.compress(text, 6, mtime=0) if small else text


def _commands(task: Task, site: str) -> str:
    """What does the same as the script, with programs of one's own."""
    lines = [f"curl -O {site}/v1/tasks/{task.id}", f"deniable-client show {task.id}"]
    for question in task.questions:
        lines += ["", f"curl -O {site}/r/{task.id}/{question.name}.tally"]
        lines.append(f"deniable estimate {question.name}.tally --target population")
    return "\n".join(lines)


def _days(task: Task, shown: Sequence[QuestionView]) -> tuple[Any, Any]:
    moments = [moment for view in shown for moment in view.published] or list(shown[0].moments)
    if not moments:
        return task.opens, task.closes
    return min(moment.first for moment in moments), max(moment.last for moment in moments)


def charts_of(task: Task, view: QuestionView, shown: Sequence[QuestionView], t: Texts) -> dict[str, Any]:
    """A question with its charts, its sentences and its tables, ready for a template."""
    tests = sum(each.trend is not None for each in shown)
    parts: dict[str, Any] = {"view": view, "sentences": words.sentences(view, t), "trend": [], "rows": [], "tables": []}
    parts |= {
        "number": t.language.number,
        "day": t.language.date,
        "gaps": [words.gap(m, task, t) for m in view.moments if not m.cells],
        "groups": [],
        "pairs": [],
        "silent": words.silent(view, t),
    }
    if view.last is None:
        return parts
    parts["tables"] = [(moment, _table(view, moment.cells, t)) for moment in reversed(view.published)]
    if view.circular:
        return parts
    scale, last = svg.scale_of(view, t), view.last
    listed = _largest(view) if len(view.labels) > MOST else list(range(len(view.labels)))
    chosen = [i for i in listed if i in view.shown]
    parts["axis"] = svg.axis(scale)
    parts["rows"] = [_row(view, i, last.cells[i], scale, t) for i in listed]
    if len(view.moments) > 1 and len(view.published) > 1:
        split = [chosen] if len(chosen) <= _SEVERAL else [[i] for i in chosen]
        parts["trend"] = [
            (view.labels[each[0]] if len(split) > 1 else "", svg.lines(view, scale, t, each, height=_height(split)))
            for each in split
        ]
        parts["claims"] = words.trend_claim(view, t, tests)
        parts["legend"] = [(svg.swatch(i), view.labels[i], _said(view, last.cells[i], t)) for i in chosen]
    parts["groups"] = _grouped(view, scale, t)
    parts["group_claims"] = words.group_claim(view, t)
    parts["pairs"] = _pairs(view, t)
    return parts


def crossed_of(task: Task, windows: Sequence[Window], shown: Sequence[QuestionView], t: Texts) -> list[dict[str, Any]]:
    """The tables of two of the last window that has some, ready for a template."""
    said = Wording.of(task, t.language.tag)
    words_by = {view.question.name: (view.text, said.labels[i] or ()) for i, view in enumerate(shown)}
    return [words.crossed(table, t) for table in crossings(task, by_question(task, windows, "population"), words_by)]


def _largest(view: QuestionView) -> list[int]:
    """Of very many answers those with the largest estimates, largest first; tables have all of them."""
    assert view.last is not None
    cells = view.last.cells
    return sorted(range(len(cells)), key=lambda i: -(cells[i].value or 0.0))[:MOST]


def _height(split: Sequence[Sequence[int]]) -> int:
    return 240 if len(split) == 1 else 130


def _said(view: QuestionView, cell: Any, t: Texts) -> str:
    ends = t("range", low=words.number(view, cell.low, t, 0), high=words.number(view, cell.high, t, 0))
    return f"{words.number(view, cell.value, t, 0)} ({ends})"


def _row(view: QuestionView, i: int, cell: Any, scale: svg.Scale, t: Texts) -> tuple[str, str, Any]:
    return view.labels[i], _said(view, cell, t), svg.bars(scale, cell, 0)


def _table(view: QuestionView, cells: Sequence[Any], t: Texts) -> list[tuple[str, ...]]:
    return [
        (label, *(words.number(view, part, t) for part in (cell.value, cell.low, cell.high)))
        for label, cell in zip(view.labels, (words.shown(view, each) for each in cells), strict=True)
    ]


def _grouped(view: QuestionView, scale: svg.Scale, t: Texts) -> list[tuple[str, list[tuple[str, str, Any]]]]:
    """For each answer all groups on one axis; of two answers that mirror each other the first."""
    if len(view.groups) < 2:
        return []
    return [
        (view.labels[i], [(g.name, _said(view, g.cells[i], t), svg.bars(scale, g.cells[i], 0)) for g in view.groups])
        for i in list(view.shown)[:MOST]
    ]


def _pairs(view: QuestionView, t: Texts) -> list[tuple[str, str, list[tuple[str, str, str]]]]:
    found = []
    unit = 1.0 if view.numbers else 100.0
    for first, second, compared, many in view.pairs:
        told = []
        for i in list(view.shown)[:MOST]:
            p = min(1.0, float(compared.pvalue_adjusted[i]) * many)
            difference = t.language.number(unit * float(compared.value[i]), 1)
            told.append((view.labels[i], difference, words.chance(p, t)))
        found.append((first, second, told))
    return found


def _certified(made: Mapping[str, Any], t: Texts) -> dict[str, Any]:
    sure = None
    if made["ratio"] is not None:
        top, bottom = map(int, made["ratio"].split("/"))
        sure = t.language.share(-(-1000 * top // (top + bottom)) / 10, 1)
    told = {"mechanism": words.mechanism(made["mechanism"], t), "epsilon": t.language.number(made["epsilon"], 6)}
    return {**made, **told, "text": made["asked"], "reports": t.language.number(made["reports"]), "sure": sure}


def _forged(known: Known, t: Texts) -> str:
    """What a hundredth of forged reports can add to a share at most, over all questions; empty if it is not known."""
    shares = [forged(m)["gain"] for m in known.intake.mechanisms if question_of(m.name).name == FREQUENCY]
    gains = [gain for gain in shares if gain is not None]
    return t.language.number(-(-max(gains) * 1000 // 1) / 10, 1) if gains else ""


# ---- what is checked


@ROWS.public(
    "/r/{id}/counts.json", "What was published, with the counts.", "not-found", answers={200: {"type": "object"}}
)
async def counts(collector: Collector, request: Request) -> Response:
    """What was published about a task, with tallies and the counts in them: all that estimates are made of."""
    known = await _public(collector, request)
    found = await windows_now(collector, known)
    told = await asyncio.to_thread(lambda: [_counted(window.told(known.intake.task)) for window in found])
    content = {"task": known.row.id, "state": known.row.state, "windows": [each for each in told if each is not None]}
    return Response(json.dumps(content, allow_nan=False), media_type=JSON)


def _counted(told: Mapping[str, Any]) -> dict[str, Any] | None:
    """A published window without what was withheld, and with the counts of its tallies in plain numbers."""
    parts = [part for part in told.get("questions", ()) if part["state"] == PUBLISHED]
    if not parts:
        return None
    head = {name: told[name] for name in ("task", "window", "from", "to", "min_batch")}
    return head | {"questions": [{**part, "counts": _counts(tally_in(part))} for part in parts]}


def _counts(tally: Tally) -> dict[str, Any]:
    return {name: cell.tolist() for name, cell in sorted(tally.cells.items())}


@ROWS.public("/r/{id}/{question}.tally", "The tally of a question.", "not-found", answers={200: OCTETS})
async def tally(collector: Collector, request: Request) -> Response:
    """The tally of a question, all published windows together, as a file for `deniable estimate`."""
    known = await _public(collector, request)
    name = request.path_params["question"]
    if name not in {question.name for question in known.intake.task.questions}:
        raise Problem("not-found", "The task has no such question.")
    found = await asyncio.to_thread(tally_of, await windows_now(collector, known), name)
    if found is None:
        raise Problem("not-found", "Nothing is published yet.")
    headers = {"content-disposition": f'attachment; filename="{name}.tally"'}
    return Response(await asyncio.to_thread(dump, found), 200, headers, OCTETS)


@ROWS.public(
    "/r/{id}/results.{kind}",
    "All that is published as a flat table.",
    *("not-found", "invalid", "conflict"),
    answers={200: FILES},
    query=TARGET,
)
async def table(collector: Collector, request: Request) -> Response:
    """All that is published about a task as one flat table, for everybody."""
    known = await _public(collector, request)
    return await as_file(request, known.intake.task, await windows_now(collector, known))
