"""What is said of results, in the language of a page: sentences, the methods paragraph, the citation."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import timedelta
from importlib.metadata import version
from typing import Any

from markupsafe import Markup

from deniable.service.results.joint import Crossing
from deniable.service.results.view import Cell, Moment, QuestionView, clear, points_of
from deniable.service.tasks import own_none
from deniable.service.texts.catalogue import Texts, area, bdi
from deniable_client.questions import Single
from deniable_client.task import Task

__all__ = [
    "chance", "citation", "crossed", "gap", "group_claim", "mechanism", "method", "number", "sentences", "shown",
    "silent", "software", "trend_claim",
]  # fmt: skip

_RARE = 0.005
"""Shares below half a hundredth are not told as one."""
_ANSWERS = 5
"""Changes from first to last that are told in sentences; the table has all windows."""


def software() -> str:
    """The version of the program that published."""
    return version("deniable")


def chance(pvalue: float, t: Texts) -> str:
    """A p-value with its sign, three digits after the comma at most; on one line, so that it is read one way."""
    sign, value = ("<", 0.001) if pvalue < 0.001 else ("=", pvalue)
    return f"{sign}\u00a0{t.language.number(value, 3)}"


def number(view: QuestionView, value: float | None, t: Texts, digits: int = 1) -> str:
    """A share in hundredths, or a mean, as tables have it."""
    if value is None:
        return "–"
    return t.language.number(value, 2) if view.numbers else t.language.share(100 * value, digits)


def _hundred(value: float | None, t: Texts) -> str:
    whole = 0.0 if value is None else min(max(100 * value, 0.0), 100.0)
    return t.language.number(round(whole), 0)


def sentences(view: QuestionView, t: Texts) -> list[Markup]:
    """What the last published window says, in a sentence or two."""
    last = view.last
    if last is None:
        return []
    if view.numbers:
        cell, unit = shown(view, last.cells[0]), f" {view.unit}" if view.unit else ""
        if cell.value is None:
            return [t.html("say.nowhere")]
        told = {name: number(view, getattr(cell, name), t) for name in ("value", "low", "high")}
        return [t.html("say.mean", **{**told, "value": bdi(told["value"] + unit)})]
    if view.several:
        top = max(range(len(last.cells)), key=lambda i: last.cells[i].value or 0.0)
        return [_share(view.labels[top], last.cells[top], t), t.html("say.several")]
    if view.mirrored or view.question.kind == "yes-no":
        return [_share(view.labels[0], last.cells[0], t)]
    if view.rating is not None:
        told = {name: _rating(view, getattr(view.rating, name), t) for name in ("value", "low", "high")}
        return [t.html("say.rating", **told, first=bdi(view.ends[0]), last=bdi(view.ends[1]))]
    if view.middle is not None:
        answer, first, high = map(bdi, view.middle)
        return [t.html("say.middle", answer=answer, low=first, high=high)]
    if view.close and len(view.close) == 1:
        top = view.close[0]
        return [t.html("say.most", answer=bdi(view.labels[top]), **_ends(last.cells[top], t))]
    if view.close and len(view.close) <= _ANSWERS:
        return [t.html("say.close", answers=[bdi(view.labels[i]) for i in view.close])]
    return []


def silent(view: QuestionView, t: Texts) -> Markup | str:
    """What those who give no answer are counted as, where it is what others answer, too: they are in all estimates."""
    id, answer = _silent(view, t)
    return t.html(id, **({"answer": bdi(answer)} if answer else {})) if id else ""


def _silent(view: QuestionView, t: Texts) -> tuple[str, str]:
    """The id of the sentence, and the answer that is in it; nothing of questions that are asked together."""
    question = view.question
    if isinstance(question, Single) or own_none(question) is not None:
        return "", ""
    none, labels = question.none, question.labels or ()
    if none is None:
        return "say.silent.random", ""
    if none == []:
        return ("say.silent.none", "") if "ticks" in question.design["domain"] else ("", "")
    if isinstance(none, (int, float)) and not labels:
        return "say.silent", t.language.number(none) + (f" {view.unit}" if view.unit else "")
    scale = points_of(question)
    others = none in labels and (not scale or labels.index(none) in scale)
    return ("say.silent", (view.labels or labels)[labels.index(none)]) if others else ("", "")


def _rating(view: QuestionView, mean: float, t: Texts) -> str:
    """A mean within the scale, as sentences say it."""
    return t.language.number(min(max(mean, 1.0), float(view.points)), 2)


def shown(view: QuestionView, cell: Cell) -> Cell:
    """An estimate as people read it; on a circle each end is within one turn (from 22 to 3 o'clock, not to 27).

    Nothing is left of one whose interval goes round the whole circle: no direction can be told.
    """
    if not view.circular:
        return cell
    if view.span is None or cell.low is None or cell.high is None:
        return Cell(None, None, None)
    start, turn = view.span[0], view.span[1] - view.span[0]
    if cell.high - cell.low >= turn * (1 - 1e-9):
        return Cell(None, None, None)
    value, low, high = (None if x is None else start + (x - start) % turn for x in (cell.value, cell.low, cell.high))
    return Cell(value, low, high, cell.stderr)


def _share(label: str, cell: Cell, t: Texts) -> Markup:
    if cell.value is not None and cell.value < _RARE:
        high = math.ceil(100 * max(cell.high or 0.0, 0.0))
        return t.html("say.rare", answer=bdi(label), high=high)
    return t.html("say.share", answer=bdi(label), **_ends(cell, t))


def _ends(cell: Cell, t: Texts) -> dict[str, str]:
    return {"n": _hundred(cell.value, t), "low": _hundred(cell.low, t), "high": _hundred(cell.high, t)}


def gap(moment: Moment, task: Task, t: Texts) -> str:
    """Why a window is not shown."""
    days = {"first": moment.first, "last": moment.last}
    if moment.why:
        return t("gap.few", least=task.min_batch, **days) if moment.few else t("gap.other", **days)
    return t("gap.open", **days)


# ---- claims


def trend_claim(view: QuestionView, t: Texts, tests: int) -> list[Markup]:
    """Whether there is a trend, and how large the change from first to last is."""
    if view.trend is None:
        return []
    told = [t.html("trend.clear" if clear(view.pvalue) else "trend.none", p=chance(view.pvalue, t))]
    if tests > 1:
        told.append(t.html("trend.holm", n=tests))
    change = view.trend.change
    ends = change.interval(view.level)
    first, last = view.published[0], view.published[-1]
    shown = list(view.shown)
    if len(shown) > _ANSWERS:  # those that changed most, by their standard errors
        shown = sorted(sorted(shown, key=lambda i: -abs(change.value[i] / change.stderr[i]))[:_ANSWERS])
    for i in shown:
        unit = 1.0 if view.numbers else 100.0
        parts: dict[str, Any] = {"first": number(view, first.cells[i].value, t, 0)}
        parts["last"] = number(view, last.cells[i].value, t, 0)
        parts["change"] = t.language.signed(unit * float(change.value[i]))
        parts |= {"low": t.language.signed(unit * float(ends.low[i]))}
        parts |= {"high": t.language.signed(unit * float(ends.high[i]))}
        if view.numbers:
            told.append(t.html("trend.mean", **parts))
        else:
            told.append(t.html("trend.change", answer=bdi(view.labels[i]), **parts))
    return told


def group_claim(view: QuestionView, t: Texts) -> list[Markup]:
    """Whether groups differ, and which of them stand for several."""
    told = []
    if view.equal is not None:
        p = view.equal.pvalue
        told.append(t.html("group.clear" if clear(p) else "group.none", p=chance(p, t)))
    joined = [bdi(group.name) for group in view.groups if group.joined]
    if joined:
        told.append(t.html("group.joined", names=joined))
    return told


# ---- for papers


def _ratio_text(certificate: Mapping[str, Any], t: Texts) -> str:
    """The exact ratio rounded up to four digits after the comma, for sentences; the certificate has the fraction."""
    if certificate["ratio"] is None:
        return "–"
    top, bottom = map(int, certificate["ratio"].split("/"))
    return t.language.number(-(-top * 10_000 // bottom) / 10_000, 4)


def crossed(table: Crossing, t: Texts) -> dict[str, Any]:
    """A table of two questions for a template: what the test says, and each share with its interval."""
    rows = [
        (
            label,
            [
                (_share_of(value, t), t("range", low=_share_of(low, t), high=_share_of(high, t)))
                for value, low, high in row
            ],
        )
        for label, row in zip(table.rows, table.cells, strict=bool(table.cells))
    ]
    if not table.cells:
        claim = t("cross.lacking")
    elif table.pvalue is None:
        claim = t("cross.rough")
    else:
        claim = t("cross.clear" if clear(table.pvalue) else "cross.none", p=chance(table.pvalue, t))
    return {"table": table, "claim": claim, "rows": rows}


def _share_of(value: float, t: Texts) -> str:
    return t.language.share(100 * value, 1)


def _dealt(task: Task, t: Texts) -> list[str]:
    """Which parts of the people are dealt each question, in hundredths."""
    whole = sum(question.share for question in task.questions)
    return [t.language.share(100 * question.share / whole, 1) for question in task.questions]


def method(
    task: Task, found: Sequence[QuestionView], certificates: Sequence[Mapping[str, Any]], t: Texts, url: str
) -> str:
    """The methods paragraph, to paste."""
    who = task.collector or ""
    n = sum(known["reports"] for known in certificates)
    last = task.closes - timedelta(1)
    windows = len({moment.number for view in found for moment in view.published})
    said = [t("method.asked", who=who, first=task.opens, last=last, questions=len(found), windows=windows, n=n)]
    if len(found) > 1:
        said.append(
            t(
                "method.together" if any(q.together for q in task.questions) else "method.dealt",
                shares=_dealt(task, t),
            )
        )
    alike: dict[tuple[Any, ...], list[str]] = {}
    for known in certificates:
        same = known["mechanism"], known["epsilon"], _ratio_text(known, t)
        alike.setdefault(same, []).append(t("method.quoted", question=known["asked"]))
    for (name, epsilon, ratio), quoted in alike.items():
        own = {"mechanism": mechanism(name, t), "epsilon": epsilon, "ratio": ratio}
        said.append(t("method.mixed", questions=quoted, **own))
    for view in found:
        id, answer = _silent(view, t)
        head = f"{t('method.quoted', question=view.text)} – " if len(found) > 1 else ""
        said += [head + t(id, **({"answer": answer} if answer else {}))] if id else []
    said.append(t("method.population", level=t.language.share(95)))
    said.append(t("method.batch", least=task.min_batch))
    tests = sum(view.trend is not None for view in found)
    if tests:
        said.append(t("method.tests", n=tests))
    said += [t("method.self"), t("method.software", version=software(), id=task.id, url=url)]
    return " ".join(said)


def mechanism(name: str, t: Texts) -> str:
    """The name of a mechanism as people write it who publish, with its short one; that alone if there is no other."""
    id = f"mechanism.{name}"
    return f"{t(id)} ({name})" if id in area("see", "en") else name


def citation(task: Task, subject: str, t: Texts, url: str) -> str:
    """How the data set is cited."""
    who, year = task.collector or "", str((task.closes - timedelta(1)).year)
    return t("cite.text", who=who, year=year, title=subject, version=software(), id=task.id[:12], url=url)
