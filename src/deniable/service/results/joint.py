"""Questions that are asked together, as pages show them: each as all parts tell it, and tables of two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from deniable.core.types import Target
from deniable.estimate.result import Estimate
from deniable.mechanisms.registry import from_design
from deniable.plan.survey import AskedPart, Told, tell
from deniable.run.results import Shown
from deniable.service.release import LEVEL, PUBLISHED, Window, asked_part
from deniable.service.results.reading import group_name, tally_in
from deniable.service.results.view import (
    Cell,
    GroupView,
    Moment,
    QuestionView,
    cells_in,
    close_in,
    compared,
    corrected,
    moment_of,
    trend_of,
)
from deniable.service.texts.catalogue import Texts, texts
from deniable_client.questions import Single
from deniable_client.task import Task

__all__ = ["TwoView", "apart", "two_of"]

Part = Mapping[str, Any]
Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class TwoView:
    """Two questions in the last window that tells of both: the share of each pair of answers."""

    texts: tuple[str, str]
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[Cell, ...], ...]
    """A row for each answer to the first question."""
    moment: Moment
    pvalue: float | None
    """Of the test that the answers have nothing to do with each other; None where that cannot be tested."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question that is asked together with others, in the words of a language."""

    single: Single
    text: str
    labels: tuple[str, ...]


def _asked(task: Task, tag: str) -> dict[str, _Asked]:
    """All that are, by name and in the order of the task."""
    own = task.translations.get(tag)
    found: dict[str, _Asked] = {}
    for number, question in enumerate(task.questions):
        for place, one in enumerate(question.together):
            words: Part = {"text": one.text, "labels": one.labels}
            if own is not None:
                words = own["questions"][number][place]
            found.setdefault(one.name, _Asked(one, words["text"], tuple(words["labels"])))
    return found


def _parts(task: Task) -> list[AskedPart]:
    return [asked_part(question, from_design(question.design)) for question in task.questions]


def _published(window: Window) -> dict[int, Part]:
    """What is published in a window, by the number of the part."""
    told = (window.document or {}).get("questions", ())
    return {i: part for i, part in enumerate(told) if part["state"] == PUBLISHED}


def _told(parts: Sequence[AskedPart], published: Mapping[int, Part]) -> Told:
    return tell(parts, {i: tally_in(part) for i, part in published.items()})


def apart(
    task: Task, windows: Sequence[Window], target: Target, tag: str, seen: Sequence[QuestionView]
) -> list[QuestionView]:
    """The questions of a task one by one; `seen` are its parts, of which those that ask one question stay."""
    asked = _asked(task, tag)
    if not asked:
        return list(seen)
    parts, say = _parts(task), texts("see", tag)
    told = {window.number: _told(parts, _published(window)) for window in windows}
    made: list[QuestionView] = []
    for number, question in enumerate(task.questions):
        for name in [one.name for one in question.together] or [question.name]:
            if name in asked:
                view = _view(task, asked.pop(name), parts, windows, told, target, say)
                made += [] if view is None else [view]
            elif not question.together and all(view.question.name != name for view in made):
                made.append(seen[number])
    return corrected(made)


def _view(
    task: Task,
    own: _Asked,
    parts: Sequence[AskedPart],
    windows: Sequence[Window],
    told: Mapping[int, Told],
    target: Target,
    say: Texts,
) -> QuestionView | None:
    """A question as all parts tell it; None if what is published tells of pairs only."""
    name = own.single.name
    having = [i for i, part in enumerate(parts) if name in part.names]
    known = {number: each.questions[name] for number, each in told.items() if name in each.questions}
    if not known and any(i in _published(window) for window in windows for i in having):
        return None
    moments = tuple(_moment(task, window, having, known.get(window.number), target) for window in windows)
    base: dict[str, Any] = {"question": own.single, "text": own.text, "unit": None, "labels": own.labels}
    base |= {"numbers": False, "circular": False, "several": False, "span": None, "target": target, "level": LEVEL}
    if not known:
        return QuestionView(**{**base, "labels": ()}, moments=moments)
    last = max(known)
    groups = _groups(parts, next(window for window in windows if window.number == last), name, say)
    return QuestionView(
        **base,
        moments=moments,
        groups=tuple(GroupView(each, found.n, _cells(found, target), joined) for each, found, joined in groups),
        trend=trend_of({number: partial(_same, found) for number, found in sorted(known.items())}),
        close=close_in(partial(_same, known[last])),
        **compared([(each, partial(_same, found)) for each, found, _ in groups]),
    )


def _same(found: Estimate) -> Estimate:
    """What is there already, where others are made when they are needed."""
    return found


def _cells(found: Estimate, target: Target) -> tuple[Cell, ...]:
    return cells_in(Shown.of(found, level=LEVEL, target=target, simultaneous=False).document())


def _moment(task: Task, window: Window, having: Sequence[int], found: Estimate | None, target: Target) -> Moment:
    """A window as one question has it: as the first part that asks it says, if nothing is told."""
    listed = (window.document or {}).get("questions", ())
    asked = [listed[i] for i in having if i < len(listed)]
    if found is None:
        return moment_of(task, window, next((part for part in asked if part["state"] != PUBLISHED), None), None)
    base = moment_of(task, window, asked[0], None)
    return Moment(base.number, base.first, base.last, PUBLISHED, "", False, found.n, _cells(found, target))


def _groups(parts: Sequence[AskedPart], window: Window, name: str, say: Texts) -> list[tuple[str, Estimate, bool]]:
    """The groups of a window, which are the same in all parts: names, estimates, and whether several were joined."""
    published = _published(window)
    first = next(iter(published.values()), {}).get("groups", ())
    found = []
    for number, group in enumerate(first):
        told = _told(parts, {i: part["groups"][number] for i, part in published.items()})
        if name in told.questions:
            joined = len(group["strata"]) > 1 or any(not strata for strata in group["strata"])
            found.append((group_name(group, say), told.questions[name], joined))
    return found


def two_of(task: Task, windows: Sequence[Window], tag: str) -> list[TwoView]:
    """Tables of two questions, each from the last window that has it; intervals are for the population."""
    asked, parts = _asked(task, tag), _parts(task) if _asked(task, tag) else []
    found: dict[Pair, TwoView] = {}
    for window in reversed(windows if parts else ()):
        published = _published(window)
        told = _told(parts, published)
        for pair in told.tables:
            if pair not in found and all(name in asked for name in pair):
                base = moment_of(task, window, next(iter(published.values())), None)
                found[pair] = _two(told, pair, asked, base)
    return list(found.values())


def _two(told: Told, pair: Pair, asked: Mapping[str, _Asked], moment: Moment) -> TwoView:
    table, test = told.tables[pair], told.tests[pair]
    one, two = (asked[name] for name in pair)
    cells = iter(cells_in(table.to_columns(LEVEL)))
    return TwoView(
        (one.text, two.text),
        one.labels,
        two.labels,
        tuple(tuple(next(cells) for _ in two.labels) for _ in one.labels),
        Moment(moment.number, moment.first, moment.last, PUBLISHED, "", False, table.n),
        None if isinstance(test, str) else test.pvalue,
    )
