"""What the survey page shows of a task in one language: how each question is asked, and what its promise is worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from deniable.service.results.view import rated
from deniable.service.tasks import own_none
from deniable.service.texts.catalogue import Texts, texts
from deniable_client.domains import Domain
from deniable_client.task import NOT_TOLD, Question, Task
from deniable_client.telling import GRADES

__all__ = ["Choice", "QuestionForm", "asked", "groups", "regions", "told"]

_LISTED = 16
"""Answers that are shown as buttons; more of them are a list to search and choose from."""
_MAP = (320, 240)
"""Width and height of a map of regions, in its own units."""
_MARGIN = 12
_EARTH_SPACES = ("places",)
_FLAT_SPACES = ("euclidean", "manhattan", "chebyshev")

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Choice:
    """An answer to choose: its number, what people read, and whether a report may name it."""

    number: int
    text: str
    harmless: bool = False
    outline: str = ""
    """The region of the answer on the map, as the path of a drawing; empty without a map."""
    centre: Point = (0.0, 0.0)


@dataclass(frozen=True, slots=True)
class _Group:
    """A group that is sent openly: its name in the task, and what people read for it and for its values."""

    name: str
    title: str
    values: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceForm:
    """A question with answers to choose from."""

    name: str
    text: str
    kind: str = "choice"
    choices: tuple[Choice, ...] = ()
    none: int | None = None
    """The answer that means none, if it is one of the choices; it is offered first."""
    counted: str = ""
    """What no answer is counted as, in words."""

    @property
    def buttons(self) -> bool:
        """Whether the answers fit as buttons."""
        return len(self.choices) <= _LISTED


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionForm(ChoiceForm):
    """A question as the page asks it, or several that are asked together.

    `kind` is "choice", "places", "ticks", "number", "ratings" or "together"; `low` and `high` belong to numbers and
    ratings.
    """

    sure: int
    """How sure a report makes somebody at even odds, in hundredths that are rounded up; 100: nearly certain."""
    sure_all: int
    """The same for the reports of all windows."""
    level: int
    """Which word for protection holds for all windows, from 1 (very strong) to 6 (hardly any)."""
    bound: str
    """Between which answers that holds: "" for any two, "some" for protected ones, "between" for those with a limit."""
    low: float = 0.0
    high: float = 1.0
    levels: tuple[tuple[float, str], ...] = ()
    """The levels of protection that a person may choose, most protective first, each with the word for it."""
    harmless: tuple[str, ...] = ()
    """Answers that a report may name, in the words that consent is given to."""
    clip: bool = False
    """Whether numbers beyond are counted as the nearer end."""
    most: int = 0
    """How many answers may be ticked; 0: any number."""
    unit: str = ""
    parts: tuple[ChoiceForm, ...] = ()
    """The questions that are asked together, one after the other."""


def told(task: Task, tag: str) -> Mapping[str, Any]:
    """The collector's own texts in one of the languages of a task."""
    found = task.translations.get(tag)
    if found is not None:
        return {"purpose": None, **found, "questions": [_words(part) for part in found["questions"]]}
    own = [[_told(one) for one in each.together or (each,)] for each in task.questions]
    return {"subject": task.subject, "purpose": task.purpose, "questions": [_words(part) for part in own]}


def _told(one: Any) -> dict[str, Any]:
    return {"text": one.text, "labels": one.labels, "unit": one.unit, "ends": one.ends}


def _words(part: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """What people read of a part; of questions that are asked together also their texts (`together`)."""
    if len(part) == 1:
        return part[0]
    labels = [" / ".join(each) for each in product(*(one["labels"] for one in part))]
    return {"text": "\n".join(one["text"] for one in part), "labels": labels, "together": part}


def groups(task: Task, tag: str) -> tuple[_Group, ...]:
    """The groups of a task as people read them; who does not tell is offered that first."""
    own = told(task, tag).get("strata") or []
    silent = texts("answer", tag)("question.skip")
    found = []
    for i, (name, values) in enumerate(task.strata.items()):
        rest = [value for value in values if value != NOT_TOLD]
        words = own[i]["values"] if own else rest
        first = [(NOT_TOLD, silent)] if NOT_TOLD in values else []
        title = own[i]["title"] if own else task.titles.get(name, name)
        found.append(_Group(name, title, (*first, *zip(rest, words, strict=True))))
    return tuple(found)


def asked(task: Task, tag: str = "en") -> tuple[QuestionForm, ...]:
    """Every question of a task in one of its languages."""
    own, t = told(task, tag)["questions"], texts("answer", tag)
    return tuple(_asked(q, words, _reports(task), t) for q, words in zip(task.questions, own, strict=True))


def _asked(question: Question, words: Mapping[str, Any], reports: int, t: Texts) -> QuestionForm:
    found = question.explanation
    design, domain = found.design, found.design.domain
    labels = rated(question, tuple(words.get("labels") or ()), words.get("ends")) or ()
    protected = getattr(design.kernel, "protected", ())
    common: dict[str, Any] = {
        "name": question.name,
        "text": words["text"],
        "sure": _hundredths(found.over(1).sure),
        "sure_all": _hundredths(found.over(reports).sure),
        "level": _grade(found.over(reports).phrase),
        "bound": "" if not found.disclosed else "some" if len(protected) else "between",
        "levels": tuple(
            (level, f"{t.language.number(level)}: {t(f'level.{_grade(phrase)}')}")
            for level, phrase in found.levels(reports)
        ),
        "harmless": tuple(_in_words(part, question, labels, t) for part in found.harmless),
        "counted": _counted(question, labels, t),
        "unit": words.get("unit") or "",
    }
    if question.together:
        return QuestionForm(**common, kind="together", parts=_together(question, words["together"], t))
    if design.kernel.kind == "pairs":
        low, high = design.params["range"]
        return QuestionForm(**common, kind="ratings", choices=_choices(labels, domain, ()), low=low, high=high)
    if "ticks" in question.design["domain"]:
        most = question.design["domain"].get("most") or 0
        choices = tuple(Choice(i, text) for i, text in enumerate(labels))
        return QuestionForm(**common, kind="ticks", choices=choices, most=most if most < len(choices) else 0)
    if domain.border is not None:
        clip = bool(question.design["domain"].get("clip"))
        return QuestionForm(
            **common, kind="number", low=domain.border(0), high=domain.border(domain.answers), clip=clip
        )
    outlines = _outlines(question.design["domain"])
    kind = "places" if outlines else "choice"
    choices = _choices(labels, domain, found.disclosed, outlines)
    none = own_none(question)
    return QuestionForm(**common, kind=kind, choices=_first(none, choices), none=none)


def _first(none: int | None, choices: Sequence[Choice]) -> tuple[Choice, ...]:
    """The answers, beginning with the one that means none."""
    return tuple(sorted(choices, key=lambda choice: choice.number != none))


def _together(question: Question, words: Sequence[Mapping[str, Any]], t: Texts) -> tuple[ChoiceForm, ...]:
    """Questions that are asked together: a label that says that somebody prefers not to say is not offered twice."""
    skip, found = t("question.skip"), []
    for one, own in zip(question.together, words, strict=True):
        labels, number = own["labels"], None if one.none is None else one.labels.index(one.none)
        none = number if number is not None and labels[number] == skip else None
        if number is None:
            counted = t("question.counted.together")
        else:
            counted = t("question.counted" if none is not None else "question.counted.as", answer=labels[number])
        named = rated(one, tuple(labels), own.get("ends"))
        choices = _first(none, [Choice(i, label) for i, label in enumerate(named or ())])
        found.append(ChoiceForm(name=one.name, text=own["text"], choices=choices, none=none, counted=counted))
    return tuple(found)


def _hundredths(sure: Fraction) -> int:
    """Rounded up; what is nearly certain is 100."""
    return min(100, -int(-100 * sure // 1))


def _grade(phrase: str) -> int:
    """The number of a word for protection, from 1 to 6."""
    return next((number for number, (_, words) in enumerate(GRADES, 1) if words == phrase), len(GRADES) + 1)


def _counted(question: Question, labels: Sequence[str], t: Texts) -> str:
    """What those who give no answer are counted as."""
    if question.none is None:
        return t("question.counted.random")
    if own_none(question) is not None or question.none == []:
        return t("question.counted")
    number = question.none
    if isinstance(number, str) and question.labels:
        number = labels[question.labels.index(number)]
    return t("question.counted.as", answer=number if isinstance(number, (int, float, str)) else str(number))


def _choices(
    labels: Sequence[str], domain: Domain, disclosed: Sequence[int], outlines: Sequence[tuple[str, Point]] = ()
) -> tuple[Choice, ...]:
    words = labels or tuple(str(number) for number in range(domain.answers))
    named = {i for start, end in zip(disclosed[::2], disclosed[1::2], strict=True) for i in range(start, end)}
    shapes = outlines or [("", (0.0, 0.0))] * len(words)
    return tuple(
        Choice(i, text, i in named, outline, centre)
        for i, (text, (outline, centre)) in enumerate(zip(words, shapes, strict=True))
    )


def _reports(task: Task) -> int:
    """Reports that a device may draw anew, and that tell together."""
    return task.count if task.memory == "fresh" else 1


def _in_words(part: object, question: Question, labels: Sequence[str], t: Texts) -> str:
    """Answers that may be named, as consent is given to them: a label, a pair of numbers, or a range of numbers."""
    if isinstance(part, range):
        shown = [labels[i] for i in part] if labels else []
        ends = t("range", low=part.start, high=part.stop - 1) if len(part) > 1 else str(part.start)
        return t.language.list(shown) if shown else ends
    if isinstance(part, tuple):
        low, high = part
        return t("range", low=low, high=high)
    known = question.labels or ()
    return labels[known.index(str(part))] if part in known else str(part)


# ---- maps


def _outlines(domain: Mapping[str, Any]) -> list[tuple[str, Point]]:
    """The regions of a space in the plane or on the globe; nothing for any other domain."""
    kind = domain.get("space")
    points = domain.get("points", ())
    if kind in _EARTH_SPACES:
        return regions([(longitude, latitude) for latitude, longitude in points])
    if kind in _FLAT_SPACES and all(len(point) == 2 for point in points):
        return regions([(x, y) for x, y in points])
    return []


def regions(points: Sequence[Point]) -> list[tuple[str, Point]]:
    """For each point the region of a map that is nearest to it, as a path, and its own place; north is up.

    >>> regions([(0, 0), (1, 0)])[0]
    ('M0 0L160 0L160 240L0 240Z', (12.0, 120.0))
    """
    placed = np.array(_placed(points), np.float64).reshape(-1, 2)
    corners = [(0.0, 0.0), (float(_MAP[0]), 0.0), (float(_MAP[0]), float(_MAP[1])), (0.0, float(_MAP[1]))]
    found = []
    for own in placed:
        squares = ((placed - own) ** 2).sum(axis=1)
        near = np.argsort(squares, kind="stable")
        at, cell = (float(own[0]), float(own[1])), list(corners)
        for place in near[squares[near] > 0].tolist():
            if squares[place] > 4 * max(((x - at[0]) ** 2 + (y - at[1]) ** 2 for x, y in cell), default=0.0):
                break  # the border to this place, and to all that are farther away, is outside of the cell
            cell = _nearer(cell, at, (float(placed[place, 0]), float(placed[place, 1])))
        found.append((_path(cell), at))
    return found


def _placed(points: Sequence[Point]) -> list[Point]:
    """Points moved and stretched, alike in both directions, into the map's frame."""
    xs, ys = [x for x, _ in points], [y for _, y in points]
    wide, tall = max(xs) - min(xs), max(ys) - min(ys)
    scale = min((_MAP[0] - 2 * _MARGIN) / (wide or 1e-9), (_MAP[1] - 2 * _MARGIN) / (tall or 1e-9))
    left, top = (_MAP[0] - wide * scale) / 2, (_MAP[1] - tall * scale) / 2
    return [(round(left + (x - min(xs)) * scale, 2), round(top + (max(ys) - y) * scale, 2)) for x, y in points]


def _nearer(cell: list[Point], own: Point, other: Point) -> list[Point]:
    """The part of a convex cell that is nearer to one point than to another (Sutherland and Hodgman)."""
    ax, ay = other[0] - own[0], other[1] - own[1]
    limit = (other[0] ** 2 + other[1] ** 2 - own[0] ** 2 - own[1] ** 2) / 2

    def beyond(point: Point) -> float:
        return ax * point[0] + ay * point[1] - limit

    kept: list[Point] = []
    for k, end in enumerate(cell):
        start = cell[k - 1]
        a, b = beyond(start), beyond(end)
        if (a <= 0) != (b <= 0):
            share = a / (a - b)
            kept.append((start[0] + share * (end[0] - start[0]), start[1] + share * (end[1] - start[1])))
        if b <= 0:
            kept.append(end)
    return kept


def _path(cell: list[Point]) -> str:
    return "M" + "L".join(f"{x:.4g} {y:.4g}" for x, y in cell) + "Z" if cell else ""
