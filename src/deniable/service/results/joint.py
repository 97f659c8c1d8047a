"""Releases of questions that are asked together, read by question: each once, with all that its parts tell of it.

What is published are parts, such as cells of two questions, and the estimates made of them. Pages show questions and
tables of two, for the target that somebody wants.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from deniable.core.types import Target
from deniable.mechanisms.registry import from_design
from deniable.plan.survey import AskedPart, Told, tell
from deniable.run.joint import told_document
from deniable.service.release import LEVEL, PUBLISHED, WITHHELD, Window, asked_part, tally_in
from deniable_client.questions import Single
from deniable_client.task import Question, Task

__all__ = ["Crossing", "asks", "by_question", "crossings"]


def asks(task: Task) -> list[Question | Single]:
    """The questions of a task, each once, also where it is asked in several parts."""
    found: dict[str, Question | Single] = {}
    for part in task.questions:
        each: Sequence[Question | Single] = part.together or (part,)
        for one in each:
            found.setdefault(one.name, one)
    return list(found.values())


def by_question(task: Task, windows: Sequence[Window], target: Target) -> list[Window]:
    """The windows with what they tell of each question in place of the parts; as they are if none are together."""
    if not any(part.together for part in task.questions):
        return list(windows)
    return [
        window if window.document is None else replace(window, document=_apart(task, window.document, target))
        for window in windows
    ]


def _apart(task: Task, document: Mapping[str, Any], target: Target) -> dict[str, Any]:
    """A published window by question, and its tables of two."""
    parts = {i: part for i, part in enumerate(document["questions"]) if part["state"] == PUBLISHED}
    whole = _read(task, {i: part["tally"] for i, part in parts.items()}, target)
    groups = []
    for number, first in enumerate(next(iter(parts.values())).get("groups", ()) if parts else ()):
        own = _read(task, {i: part["groups"][number]["tally"] for i, part in parts.items()}, target)
        groups.append(({"name": first["name"], "strata": first["strata"]}, own))
    found = []
    for one in asks(task):
        about = [
            part for part, asked in zip(document["questions"], task.questions, strict=True) if _has(asked, one.name)
        ]
        base = {"question": one.name, "text": one.text, "reports": sum(part["reports"] for part in about)}
        if one.name not in whole:
            least = min(about, key=lambda part: part["reports"])
            found.append({**base, "reports": least["reports"], "state": WITHHELD, "why": least.get("why", "")})
            continue
        told: list[dict[str, Any]] = [{**name, **own[one.name]} for name, own in groups if one.name in own]
        found.append({**base, "state": PUBLISHED, **whole[one.name], **({"groups": told} if groups else {})})
    tables = whole[""]["tables"] if whole else []
    return {**document, "questions": found, "tables": tables}


def _has(part: Question, name: str) -> bool:
    return name in [one.name for one in part.together or (part,)]


def _read(task: Task, tallies: Mapping[int, str], target: Target) -> dict[str, dict[str, Any]]:
    """By question the estimate, as an object (`found`) and as plain data; tables under the empty name."""
    if not tallies:
        return {}
    asked = tuple(
        asked_part(task.questions[i], from_design(tally_in({"tally": text}).design)) for i, text in tallies.items()
    )
    told = _told(tuple((part.names, part.labels) for part in asked), tuple(tallies.values()))
    document = told_document(asked, told, level=LEVEL, target=target)
    found: dict[str, dict[str, Any]] = {
        part["question"]: {
            "reports": part["reports"],
            "estimate": part["estimate"],
            "found": told.questions[part["question"]],
        }
        for part in document["questions"]
    }
    return found | {"": {"tables": document["tables"]}}


@lru_cache(maxsize=256)
def _told(named: tuple[Any, ...], tallies: tuple[str, ...]) -> Told:
    """What some parts tell; it is made once for all who ask."""
    counted = [tally_in({"tally": text}) for text in tallies]
    parts = [
        AskedPart(names, labels, from_design(tally.design))
        for (names, labels), tally in zip(named, counted, strict=True)
    ]
    return tell(parts, dict(enumerate(counted)))


# ---- tables of two


@dataclass(frozen=True, slots=True)
class Crossing:
    """The table of two questions in one window: rows are the answers to the first of them."""

    texts: tuple[str, str]
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[tuple[float, float, float], ...], ...]
    """Share, and both ends of its interval; nothing if there is no table."""
    reports: int
    window: int
    pvalue: float | None
    """Of the test that the two have nothing to do with each other; None where it could not be made."""


def crossings(task: Task, windows: Sequence[Window], words: Mapping[str, tuple[str, Sequence[str]]]) -> list[Crossing]:
    """The tables of the last window that has some, in these words: text and answers by question."""
    last = next((w for w in reversed(windows) if w.document is not None and w.document.get("tables")), None)
    if last is None or last.document is None:
        return []
    return [_crossing(table, last.number, words) for table in last.document["tables"]]


def _crossing(table: Mapping[str, Any], window: int, words: Mapping[str, tuple[str, Sequence[str]]]) -> Crossing:
    one, two = table["questions"]
    (first, rows), (second, columns) = words[one], words[two]
    head: dict[str, Any] = {"texts": (first, second), "rows": tuple(rows), "columns": tuple(columns), "window": window}
    told = table["cells"]
    if told is None:
        return Crossing(**head, cells=(), reports=0, pvalue=None)
    each = list(zip(told["value"], told["low"], told["high"], strict=True))
    wide = len(columns)
    cells = tuple(tuple(each[i : i + wide]) for i in range(0, len(each), wide))
    test = table["independence"]
    known = test is not None and math.isfinite(test["pvalue"])
    return Crossing(**head, cells=cells, reports=table["reports"], pvalue=test["pvalue"] if known else None)
