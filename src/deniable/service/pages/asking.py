"""What the survey page shows of a task: how each question is asked, and in which words its promise is told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.service.tasks import counted_as, own_none
from deniable_client.domains import Domain
from deniable_client.task import Question, Task
from deniable_client.telling import number

__all__ = ["Choice", "QuestionForm", "asked", "regions"]

_LISTED = 12
"""Answers that are shown as buttons; more of them are a list to choose from."""
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
class QuestionForm:
    """A question as the page asks it.

    `kind` is "choice", "places", "number" or "ratings"; `low` and `high` belong to numbers and ratings.
    """

    name: str
    text: str
    kind: str
    promise: tuple[str, ...]
    phrase: str
    """The word for the protection of the answers that are protected."""
    choices: tuple[Choice, ...] = ()
    low: float = 0.0
    high: float = 1.0
    levels: tuple[tuple[float, str], ...] = ()
    """The levels of protection that a person may choose, most protective first, each with the word for it."""
    harmless: tuple[str, ...] = ()
    """Answers that a report may name, in the words that consent is given to."""
    none: int | None = None
    """The answer that means none, if it is one of the choices; it is offered first."""
    counted: str = ""
    """What no answer is counted as, where it is not an answer of its own."""
    clip: bool = False
    """Whether numbers beyond are counted as the nearer end."""

    @property
    def ends(self) -> str:
        """Where numbers or ratings begin and end."""
        return f"{number(self.low)} to {number(self.high)}"

    @property
    def buttons(self) -> bool:
        """Whether the answers fit as buttons."""
        return len(self.choices) <= _LISTED


def asked(task: Task) -> tuple[QuestionForm, ...]:
    """Every question of a task."""
    return tuple(_asked(question, _reports(task)) for question in task.questions)


def _asked(question: Question, reports: int) -> QuestionForm:
    found = question.explanation
    told = found.over(reports)
    design, domain = found.design, found.design.domain
    common: dict[str, Any] = {
        "name": question.name,
        "text": question.text,
        "promise": tuple(told.text.splitlines()),
        "phrase": told.phrase,
        "levels": tuple((level, f"{number(level)}: {words}") for level, words in found.levels(reports)),
        "harmless": tuple(_in_words(part) for part in found.harmless),
        "counted": f"sent and protected like any other answer: {counted_as(question)}".rstrip(": "),
    }
    if design.kernel.kind == "pairs":
        low, high = design.params["range"]
        return QuestionForm(**common, kind="ratings", choices=_choices(question, domain, ()), low=low, high=high)
    if domain.border is not None:
        clip = bool(question.design["domain"].get("clip"))
        return QuestionForm(
            **common, kind="number", low=domain.border(0), high=domain.border(domain.answers), clip=clip
        )
    outlines = _outlines(question.design["domain"])
    kind = "places" if outlines else "choice"
    choices = _choices(question, domain, found.disclosed, outlines)
    none = own_none(question)
    first = [choice for choice in choices if choice.number == none]
    ordered = (*first, *(choice for choice in choices if choice.number != none))
    return QuestionForm(**common, kind=kind, choices=ordered, none=none)


def _choices(
    question: Question, domain: Domain, disclosed: Sequence[int], outlines: Sequence[tuple[str, Point]] = ()
) -> tuple[Choice, ...]:
    texts = question.labels or tuple(str(number) for number in range(domain.answers))
    named = {i for start, end in zip(disclosed[::2], disclosed[1::2], strict=True) for i in range(start, end)}
    shapes = outlines or [("", (0.0, 0.0))] * len(texts)
    return tuple(
        Choice(i, text, i in named, outline, centre)
        for i, (text, (outline, centre)) in enumerate(zip(texts, shapes, strict=True))
    )


def _reports(task: Task) -> int:
    """Reports that a device may draw anew, and that tell together."""
    return task.count if task.memory == "fresh" else 1


def _in_words(part: object) -> str:
    """Answers that may be named, as consent is given to them: a label, a pair of numbers, or a range of numbers."""
    if isinstance(part, range):
        return f"{part.start}" if len(part) == 1 else f"{part.start} to {part.stop - 1}"
    if isinstance(part, tuple):
        low, high = part
        return f"{number(low)} to {number(high)}"
    return str(part)


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
