"""What pages show of a question's results: its windows in time, the last one in full, groups, and what is claimed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import combinations
from statistics import NormalDist
from typing import Any

import numpy as np

from deniable.core.types import FloatArray, Target
from deniable.errors import DeniableError
from deniable.estimate.change import Equality, Trend, equality, trend, trends
from deniable.estimate.result import Comparison, holm
from deniable.mechanisms.entry import DIRECTION
from deniable.run.questions import question_of
from deniable.service.release import LEVEL, OPEN, PUBLISHED, Window
from deniable.service.results.joint import asks, by_question
from deniable.service.results.reading import estimate_in, estimated, group_names
from deniable.service.tasks import own_none
from deniable.service.texts.catalogue import Texts, texts
from deniable_client.questions import Single
from deniable_client.task import Question, Task

__all__ = ["Cell", "Moment", "QuestionView", "Wording", "clear", "points_of", "rated", "views"]

_ALPHA = 0.05
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
        asked = asks(task)
        if own is None:
            said, labels = tuple(q.text for q in asked), tuple(rated(q, q.labels, q.ends) for q in asked)
            return cls(task.subject, task.purpose, said, labels, tuple(q.unit for q in asked))
        by_name: dict[str, Mapping[str, Any]] = {}
        for part, each in zip(task.questions, own["questions"], strict=True):
            by_name |= dict(zip([one.name for one in part.together] or [part.name], each, strict=True))
        told = [by_name[q.name] for q in asked]
        labels = tuple(
            rated(q, tuple(each["labels"]) if "labels" in each else q.labels, each.get("ends", q.ends))
            for each, q in zip(told, asked, strict=True)
        )
        units = tuple(each.get("unit") for each in told)
        return cls(own["subject"], own.get("purpose"), tuple(each["text"] for each in told), labels, units)


def points_of(question: Question | Single) -> list[int]:
    """The answers of a rating, or of an order, that are on its scale, first to last; none of any other question.

    What no answer counts as is not on it if it stands for that alone, or if it stands last and is no number.
    """
    labels, apart = question.labels, None
    if question.kind not in ("rating", "ordered") or labels is None:
        return []
    if question.none is not None and not isinstance(question, Single):
        apart = own_none(question)
    if apart is None and labels[-1] == question.none and not labels[-1].isdecimal():
        apart = len(labels) - 1
    return [i for i in range(len(labels)) if i != apart]


def rated(
    question: Question | Single, labels: tuple[str, ...] | None, ends: Sequence[str] | None
) -> tuple[str, ...] | None:
    """The labels of a question; of a rating with what its first and its last point mean."""
    points = points_of(question)
    if labels is None or not ends or not points:
        return labels
    meant = {points[0]: ends[0], points[-1]: ends[1]}
    return tuple(f"{label} ({meant[i]})" if i in meant else label for i, label in enumerate(labels))


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
    rating: Cell | None = None
    """The mean of a rating over those who gave one."""
    ends: tuple[str, str] = ("", "")
    """The first and the last point of a rating, with what they mean."""
    points: int = 0
    """How many points it has."""
    middle: tuple[str, str, str] | None = None
    """Of ordered answers the median of those who gave one, and between which answers it is."""

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
    say, apart = texts("see", tag), by_question(task, windows, target)
    made = [_view(task, one, number, apart, target, words, say) for number, one in enumerate(asks(task))]
    tested = [view.trend for view in made if view.trend is not None]
    corrected = iter(trends(tested).tolist()) if tested else iter(())
    from dataclasses import replace

    return [view if view.trend is None else replace(view, pvalue=next(corrected)) for view in made]


def _view(
    task: Task,
    question: Question | Single,
    number: int,
    windows: Sequence[Window],
    target: Target,
    words: Wording,
    say: Texts,
) -> QuestionView:
    parts = [_part(window, question.name) for window in windows]
    told = [None if part is None else estimated(part, question, target) for part in parts]
    moments = tuple(_moment(task, *each) for each in zip(windows, parts, told, strict=True))
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
    lone = isinstance(question, Question)  # those that are asked together have shares of answers
    base["circular"] = lone and question_of(last["mechanism"]).name == DIRECTION
    if base["circular"]:
        return QuestionView(**base, several=False, moments=moments)
    base["several"] = _several(part, question)
    there = part.get("groups", ())
    named = list(zip(group_names(task, there, say), there, strict=True))
    groups = tuple(_group(name, group, question, target) for name, group in named)
    return QuestionView(
        **base,
        moments=moments,
        groups=tuple(group for group in groups if group is not None),
        trend=_trend(question, [(windows[i], parts[i]) for i, _ in known]),
        close=_close(part, question) if not numbers else (),
        **_mean_rating(part, question, labels, last["target"]),
        **_middle(part, question, labels, last["target"]),
        **_compared(named, question),
    )


def _part(window: Window, question: str) -> Mapping[str, Any] | None:
    found = [part for part in (window.document or {}).get("questions", ()) if part["question"] == question]
    return found[0] if found else None


def _moment(task: Task, window: Window, part: Mapping[str, Any] | None, told: Mapping[str, Any] | None) -> Moment:
    first = task.opens + timedelta(window.number * task.days)
    last = first + timedelta(task.days - 1)
    state = OPEN if part is None else part["state"]
    why = "" if part is None else part.get("why", "")
    few = part is not None and state != PUBLISHED and part["reports"] < task.min_batch
    if part is None or told is None:
        return Moment(window.number, first, last, state, why, few, 0)
    return Moment(window.number, first, last, state, "", False, part["reports"], _cells(told))


def _cells(told: Mapping[str, Any]) -> tuple[Cell, ...]:
    columns = [told[name] for name in ("value", "low", "high", "stderr")]
    return tuple(Cell(*map(_finite, each)) for each in zip(*columns, strict=True))


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _group(name: str, group: Mapping[str, Any], question: Question | Single, target: Target) -> GroupView | None:
    told = estimated(group, question, target)
    if told is None:
        return None
    joined = len(group["strata"]) > 1 or any(not strata for strata in group["strata"])
    return GroupView(name, group["reports"], _cells(told), joined)


def _trend(question: Question | Single, known: Sequence[tuple[Window, Mapping[str, Any] | None]]) -> Trend | None:
    """The trend over all published windows; none where the design has no unbiased estimates to test."""
    if len(known) < 2:
        return None
    try:
        found = [estimate_in(part, question) for _, part in known if part is not None]
        return trend(found, [float(window.number) for window, _ in known])
    except DeniableError:
        return None


def _several(part: Mapping[str, Any], question: Question | Single) -> bool:
    try:
        return next(iter(estimate_in(part, question).parts.values())).several
    except DeniableError:  # it is told as it was published
        return False


def _compared(named: Sequence[tuple[str, Mapping[str, Any]]], question: Question | Single) -> dict[str, Any]:
    """One test that all groups are the same, then each two of them."""
    there = [(name, group) for name, group in named if group.get("estimate")][:_MOST_GROUPS]
    if len(there) < 2:
        return {}
    try:
        found = [(name, estimate_in(group, question)) for name, group in there]
        whole = equality([estimate for _, estimate in found])
        pairs = list(combinations(found, 2))
        compared = [(a, b, one.compare(two), float(len(pairs))) for (a, one), (b, two) in pairs]
    except DeniableError:  # no unbiased estimates, so nothing to compare
        return {}
    return {"equal": whole, "pairs": tuple(compared)}


def _shares(
    part: Mapping[str, Any], question: Question | Single, labels: Sequence[str], target: Target
) -> tuple[FloatArray, FloatArray] | None:
    """The shares of all answers and their covariance; None where the design has other estimates."""
    if not points_of(question) or len(labels) != len(question.labels or ()):
        return None
    try:
        found = estimate_in(part, question)
        return found.value, found.covariance(target)
    except DeniableError:
        return None


def _z() -> float:
    return NormalDist().inv_cdf((1 + LEVEL) / 2)


def _middle(
    part: Mapping[str, Any], question: Question | Single, labels: Sequence[str], target: Target
) -> dict[str, Any]:
    """The median of ordered answers among those who gave one, and its interval: where the sum of shares up to an
    answer, less a half of all, cannot be told from 0 (as Woodruff does it). Each end fails once in 40, at most.
    """
    known = _shares(part, question, labels, target) if question.kind == "ordered" else None
    if known is None:
        return {}
    points, (value, spread) = points_of(question), known
    weights = np.zeros((len(points), len(labels)))
    weights[:, points] = np.tri(len(points)) - 0.5
    above, reach = weights @ value, _z() * np.sqrt(np.maximum(((weights @ spread) * weights).sum(axis=1), 0.0))
    if above[-1] < reach[-1]:  # hardly anybody gave one
        return {}
    low, middle = int(np.argmax(above > -reach)), int(np.argmax(above >= 0))
    high = int(np.max(np.flatnonzero(above < reach), initial=-1)) + 1
    return {"middle": tuple(labels[points[i]] for i in (middle, low, high))}


def _mean_rating(
    part: Mapping[str, Any], question: Question | Single, labels: Sequence[str], target: Target
) -> dict[str, Any]:
    """The mean of a rating over those who gave one, with Fieller's interval: points over shares, both estimated.

    Nothing where too few gave one to say so: then the interval has no ends.
    """
    points = points_of(question)
    known = _shares(part, question, labels, target) if question.kind == "rating" else None
    if known is None:
        return {}
    value, spread = known
    weights = np.zeros((2, len(labels)))
    weights[:, points] = np.arange(1, len(points) + 1), np.ones(len(points))
    (above, below), cov = weights @ value, weights @ spread @ weights.T
    z = _z()
    a, b, c = below**2 - z**2 * cov[1, 1], above * below - z**2 * cov[0, 1], above**2 - z**2 * cov[0, 0]
    if below <= 0 or a <= 0 or b**2 < a * c:
        return {}
    reach = math.sqrt(b**2 - a * c)
    cell = Cell(float(above / below), float((b - reach) / a), float((b + reach) / a))
    return {"rating": cell, "ends": (labels[points[0]], labels[points[-1]]), "points": len(points)}


def _close(part: Mapping[str, Any], question: Question | Single) -> tuple[int, ...]:
    """The largest answer, and those that cannot be told from it, by differences within one estimate (Holm)."""
    try:
        found = estimate_in(part, question)
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
