"""What pages show of a question's results: its windows in time, the last one in full, groups, and what is claimed."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from deniable.core.types import Target
from deniable.errors import DeniableError
from deniable.estimate.change import Equality, Trend, equality, trend, trends
from deniable.estimate.result import Comparison, Estimate, holm
from deniable.mechanisms.entry import DIRECTION
from deniable.run.questions import question_of
from deniable.service.release import OPEN, PUBLISHED, Window
from deniable.service.results.reading import estimate_in, estimated, group_name
from deniable.service.texts.catalogue import Texts, texts
from deniable_client.questions import Single
from deniable_client.task import Question, Task

__all__ = [
    "Cell", "GroupView", "Moment", "QuestionView", "Wording", "cells_in", "clear", "close_in", "compared", "corrected",
    "moment_of", "trend_of", "views",
]  # fmt: skip

_ALPHA = 0.05
TOGETHER = " / "
"""Between the texts of questions that are asked together."""
_MOST_GROUPS = 24
"""Groups that are compared with each other on a page; the table has all of them."""


@dataclass(frozen=True, slots=True)
class Cell:
    """An estimate with its interval; None where nothing can be said."""

    value: float | None
    low: float | None
    high: float | None
    stderr: float | None = None


@dataclass(frozen=True, slots=True)
class Moment:
    """A window of a question: published with a cell for each answer, or not, and why."""

    number: int
    first: date
    last: date
    state: str
    why: str
    """Why nothing is told, as the release says it; empty if something is, or the window is open."""
    few: bool
    """Whether that is because too few reports came."""
    reports: int
    """Of a window that is published."""
    cells: tuple[Cell, ...] = ()


@dataclass(frozen=True, slots=True)
class GroupView:
    """A group of the last published window."""

    name: str
    reports: int
    cells: tuple[Cell, ...]
    joined: bool
    """Whether several groups were joined in it, because one of them was too small to stand alone."""


@dataclass(frozen=True, slots=True)
class Wording:
    """The words of a task in one language: those of its author."""

    subject: str
    purpose: str | None
    texts: tuple[str, ...]
    labels: tuple[tuple[str, ...] | None, ...]
    units: tuple[str | None, ...]

    @classmethod
    def of(cls, task: Task, tag: str) -> Wording:
        """The author's words in a language that the task has; else as it was written."""
        own: Mapping[str, Any] | None = task.translations.get(tag)
        asked = task.questions
        if own is None:
            asks, labels = tuple(q.text.replace("\n", TOGETHER) for q in asked), tuple(q.labels for q in asked)
            return cls(task.subject, task.purpose, asks, labels, tuple(q.unit for q in asked))
        told = [
            part[0] if len(part) == 1 else {"text": TOGETHER.join(one["text"] for one in part)}
            for part in own["questions"]
        ]
        labels = tuple(
            tuple(each["labels"]) if "labels" in each else q.labels for each, q in zip(told, asked, strict=True)
        )
        units = tuple(each.get("unit") for each in told)
        return cls(own["subject"], own.get("purpose"), tuple(each["text"] for each in told), labels, units)


@dataclass(frozen=True, slots=True)
class QuestionView:
    """A question with all that is published about it."""

    question: Question | Single
    text: str
    unit: str | None
    labels: tuple[str, ...]
    """The answers in the order in which they are asked; none if nothing is published."""
    numbers: bool
    """Whether these are means of numbers, not shares."""
    circular: bool
    """Whether they are on a circle, such as the time of day: there is no straight axis for them."""
    several: bool
    """Whether people may have several of the answers, so that their shares need not sum to 1."""
    span: tuple[float, float] | None
    """Where numbers begin and end."""
    target: Target
    level: float
    moments: tuple[Moment, ...]
    groups: tuple[GroupView, ...] = ()
    trend: Trend | None = None
    pvalue: float = 1.0
    """Of the trend, corrected for all questions of the task."""
    equal: Equality | None = None
    pairs: tuple[tuple[str, str, Comparison, float], ...] = ()
    """Groups compared: their names, the comparison, and the factor for all pairs."""
    close: tuple[int, ...] = ()
    """Answers that cannot be told from the largest one, that one first."""
    note: str = ""

    @property
    def published(self) -> list[Moment]:
        """The windows in which it is published."""
        return [moment for moment in self.moments if moment.cells]

    @property
    def last(self) -> Moment | None:
        """The last window that is published."""
        return self.published[-1] if self.published else None

    @property
    def mirrored(self) -> bool:
        """Whether there are two answers of which one is the rest: one of them says all."""
        return len(self.labels) == 2 and not self.numbers and not self.several

    @property
    def shown(self) -> Sequence[int]:
        """The answers that charts show: of two that mirror each other the first."""
        return range(1) if self.mirrored else range(len(self.labels))


def clear(pvalue: float) -> bool:
    """Whether a difference is called clear."""
    return pvalue < _ALPHA


def views(task: Task, windows: Sequence[Window], target: Target, tag: str) -> list[QuestionView]:
    """Every question of a task, in the words of a language."""
    words = Wording.of(task, tag)
    say = texts("see", tag)
    return corrected([_view(task, number, windows, target, words, say) for number in range(len(task.questions))])


def corrected(made: Sequence[QuestionView]) -> list[QuestionView]:
    """The same with p-values of trends for all of them."""
    tested = [view.trend for view in made if view.trend is not None]
    pvalues = iter(trends(tested).tolist()) if tested else iter(())
    return [view if view.trend is None else replace(view, pvalue=next(pvalues)) for view in made]


def _view(
    task: Task, number: int, windows: Sequence[Window], target: Target, words: Wording, say: Texts
) -> QuestionView:
    question = task.questions[number]
    parts = [_part(window, question.name) for window in windows]
    told = [None if part is None else estimated(part, question, target) for part in parts]
    moments = tuple(moment_of(task, *each) for each in zip(windows, parts, told, strict=True))
    known = [(i, estimate) for i, estimate in enumerate(told) if estimate is not None]
    base: dict[str, Any] = {"question": question, "text": words.texts[number], "unit": words.units[number]}
    if not known:
        return QuestionView(
            **base,
            labels=(),
            numbers=False,
            circular=False,
            several=False,
            span=None,
            target=target,
            level=0.95,
            moments=moments,
        )
    place, last = known[-1]
    own = words.labels[number]
    labels = tuple(own if own is not None and len(own) == len(last["labels"]) else map(str, last["labels"]))
    numbers = last.get("part") == "mean"
    labels = (say("column.mean"),) if numbers and len(labels) == 1 else labels
    base |= {"labels": labels, "numbers": numbers, "target": last["target"], "level": last["level"]}
    base |= {"span": tuple(last["interval"]) if numbers else None, "note": last.get("note", "")}
    part = parts[place]
    assert part is not None
    base["circular"] = question_of(last["mechanism"]).name == DIRECTION
    if base["circular"]:
        return QuestionView(**base, several=False, moments=moments)
    base["several"] = _several(part, question)
    groups = tuple(_group(group, question, target, say) for group in part.get("groups", ()))
    return QuestionView(
        **base,
        moments=moments,
        groups=tuple(group for group in groups if group is not None),
        trend=_trend(question, [(windows[i], parts[i]) for i, _ in known]),
        close=_close(part, question) if not numbers else (),
        **_compared(part, question, say),
    )


def _part(window: Window, question: str) -> Mapping[str, Any] | None:
    found = [part for part in (window.document or {}).get("questions", ()) if part["question"] == question]
    return found[0] if found else None


def moment_of(task: Task, window: Window, part: Mapping[str, Any] | None, told: Mapping[str, Any] | None) -> Moment:
    """A window of a question: `part` is what the release says of it, `told` its estimate."""
    first = task.opens + timedelta(window.number * task.days)
    last = first + timedelta(task.days - 1)
    state = OPEN if part is None else part["state"]
    why = "" if part is None else part.get("why", "")
    few = part is not None and state != PUBLISHED and part["reports"] < task.min_batch
    if part is None or told is None:
        return Moment(window.number, first, last, state, why, few, 0)
    return Moment(window.number, first, last, state, "", False, part["reports"], cells_in(told))


def cells_in(told: Mapping[str, Any]) -> tuple[Cell, ...]:
    """An estimate as plain data, answer by answer."""
    columns = [told[name] for name in ("value", "low", "high", "stderr")]
    return tuple(Cell(*map(_finite, each)) for each in zip(*columns, strict=True))


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _group(group: Mapping[str, Any], question: Question, target: Target, say: Texts) -> GroupView | None:
    told = estimated(group, question, target)
    if told is None:
        return None
    joined = len(group["strata"]) > 1 or any(not strata for strata in group["strata"])
    return GroupView(group_name(group, say), group["reports"], cells_in(told), joined)


def _trend(question: Question, known: Sequence[tuple[Window, Mapping[str, Any] | None]]) -> Trend | None:
    return trend_of({window.number: partial(estimate_in, part, question) for window, part in known if part})


def trend_of(known: Mapping[int, Callable[[], Estimate]]) -> Trend | None:
    """The trend over all published windows; none where the design has no unbiased estimates to test."""
    if len(known) < 2:
        return None
    try:
        return trend([made() for made in known.values()], [float(number) for number in known])
    except DeniableError:
        return None


def _several(part: Mapping[str, Any], question: Question) -> bool:
    try:
        return next(iter(estimate_in(part, question).parts.values())).several
    except DeniableError:  # it is told as it was published
        return False


def _compared(part: Mapping[str, Any], question: Question, say: Texts) -> dict[str, Any]:
    there = [group for group in part.get("groups", ()) if group.get("estimate")]
    return compared([(group_name(group, say), partial(estimate_in, group, question)) for group in there])


def compared(groups: Sequence[tuple[str, Callable[[], Estimate]]]) -> dict[str, Any]:
    """One test that all groups are the same, then each two of them; nothing where there are none to compare."""
    named = groups[:_MOST_GROUPS]
    if len(named) < 2:
        return {}
    try:
        found = [(name, made()) for name, made in named]
        whole = equality([estimate for _, estimate in found])
        pairs = list(combinations(found, 2))
        each = [(a, b, one.compare(two), float(len(pairs))) for (a, one), (b, two) in pairs]
    except DeniableError:  # no unbiased estimates, so nothing to compare
        return {}
    return {"equal": whole, "pairs": tuple(each)}


def _close(part: Mapping[str, Any], question: Question) -> tuple[int, ...]:
    return close_in(lambda: estimate_in(part, question))


def close_in(made: Callable[[], Estimate]) -> tuple[int, ...]:
    """The largest answer, and those that cannot be told from it, by differences within one estimate (Holm)."""
    try:
        found = made()
        spread = found.covariance("population")
    except DeniableError:
        return ()
    if found.range is not None or len(found.labels) < 2:
        return ()
    top = int(np.argmax(found.value))
    others = [i for i in range(len(found.labels)) if i != top]
    variance = [float(spread[top, top] + spread[i, i] - 2 * spread[top, i]) for i in others]
    away = [float(found.value[top] - found.value[i]) for i in others]
    chances = [math.erfc(d / math.sqrt(2 * v)) if v > 0 else 0.0 for d, v in zip(away, variance, strict=True)]
    corrected = holm(np.array(chances))
    return (top, *(i for i, p in zip(others, corrected, strict=True) if not clear(float(p))))
