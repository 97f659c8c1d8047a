"""What the dashboard shows of a task: windows with estimates, groups and periods compared, people still needed."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from deniable.errors import DeniableError
from deniable.estimate.result import Estimate
from deniable.service.ingest import NEVER
from deniable.service.release import PUBLISHED, WITHHELD, Window
from deniable.service.results.reading import estimate_in, published
from deniable.service.texts.catalogue import Texts
from deniable_client.questions import Single
from deniable_client.task import Question

__all__ = ["alarm", "compared", "needed", "told", "wanted_range"]

_SHOWN = 50
"""Answers in a table that is open; the others unfold."""
_FINEST = 1e4
"""How many times smaller or larger than it is now an error may be wanted."""


@dataclass(frozen=True, slots=True)
class QuestionTable:
    """A question in a window as the table behind its chart, or the reason why nothing is told."""

    question: str
    text: str
    reports: int
    head: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    rest: tuple[tuple[str, ...], ...] = ()
    why: str = ""
    english: bool = False
    """Whether that is there in English only."""
    note: str = ""


def told(question: Mapping[str, Any], say: Texts, least: int) -> QuestionTable:
    """What was published about a question, as rows of text; `least` is the minimum batch."""
    name, text, reports = question["question"], question["text"], question["reports"]
    estimate = question.get("estimate")
    if question["state"] != PUBLISHED or estimate is None:
        why, few = question.get("why", ""), question["state"] == WITHHELD and reports < least
        why = say("window.few", n=reports, least=least) if few else why
        return QuestionTable(name, text, reports, why=why, english=not few)
    mean, numbers = estimate.get("part") == "mean", say.language.number
    labels = [say("head.mean")] if mean and len(estimate["labels"]) == 1 else map(str, estimate["labels"])
    columns = {say("head.answer"): list(labels)}
    columns |= _interval(estimate, "", "mean" if mean else "share", say, numbers if mean else _share_in(say))
    if "mean" in estimate:
        columns |= _interval(estimate, "mean_", "mean", say, numbers)
    rows = tuple(zip(*columns.values(), strict=True))
    return QuestionTable(
        name, text, reports, tuple(columns), rows[:_SHOWN], rows[_SHOWN:], note=estimate.get("note", "")
    )


def _share_in(say: Texts) -> Callable[[float], str]:
    return lambda share: say.language.share(100 * share, 2)


def _interval(
    estimate: Mapping[str, Any], before: str, name: str, say: Texts, show: Callable[[float], str]
) -> dict[str, list[str]]:
    """A column of values, and those of their standard errors and intervals that were published."""
    found = {}
    for column in ("", "stderr", "low", "high"):
        cells = estimate.get(before.rstrip("_") if before and not column else before + (column or "value"))
        if cells is not None:
            title = say(f"head.{name}.{column}".rstrip("."))
            found[title] = [say("head.rare") if cell is None or cell != cell else show(cell) for cell in cells]
    return found


# ---- comparisons


@dataclass(frozen=True, slots=True)
class Compared:
    """Two periods, answer by answer; p-values are corrected for all answers and pairs on the page."""

    first: str
    second: str
    rows: tuple[tuple[str, str, str, str], ...]
    """Label, difference, its standard error, p-value: the smallest p-values first."""
    clear: int
    """Answers that differ clearly: corrected p-value below 0.05."""
    points: bool
    """Whether differences are in percentage points; those of means are in the unit of the numbers."""


def compared(question: Question | Single, windows: Sequence[Window], say: Texts, most: int = 12) -> list[Compared]:
    """Each published window with the one before."""
    pairs = _periods(question, windows, say)[:most]
    found = []
    for (first, one), (second, two) in pairs:
        try:
            a, b = (estimate_in(part, question) for part in (one, two))
            found.append(_compared(first, second, a, b, len(pairs), say))
        except DeniableError:  # no unbiased estimate, so nothing to compare: the windows say so
            return []
    return found


_Pair = tuple[tuple[str, Mapping[str, Any]], tuple[str, Mapping[str, Any]]]


def _periods(question: Question | Single, windows: Sequence[Window], say: Texts) -> list[_Pair]:
    named = [(say("window.name", n=window.number + 1), part) for window, part in published(windows, question.name)]
    return list(zip(named[1:], named[:-1], strict=True))


def _compared(first: str, second: str, a: Estimate, b: Estimate, pairs: int, say: Texts) -> Compared:
    difference = a.compare(b)
    corrected = [min(1.0, float(p) * pairs) for p in difference.pvalue_adjusted]
    points, write = a.range is None, say.language.number
    unit = 100.0 if points else 1.0
    rows = []
    for row in zip(difference.labels, difference.value, difference.stderr, corrected, strict=True):
        label, p = row[0] if points else say("head.mean"), row[3]
        value, spread = (write(unit * float(each), 2) for each in row[1:3])
        rows.append((label, value, spread, write(p) if p >= 0.001 else f"{p:.1e}"))
    order = sorted(range(len(rows)), key=lambda i: corrected[i])[:_SHOWN]
    return Compared(first, second, tuple(rows[i] for i in order), sum(p < 0.05 for p in corrected), points)


# ---- reports that were not counted


def alarm(rejected: Mapping[str, int]) -> int:
    """How many reports came that no device sends which keeps to the task."""
    return sum(n for reason, n in rejected.items() if reason in NEVER)


# ---- how many more


def wanted_range(part: Mapping[str, Any]) -> tuple[float, float, float]:
    """The smallest and the largest error that may be wanted, and the one that there is.

    In percentage points, for a mean in the unit of its numbers.
    """
    estimate = part["estimate"]
    unit = 1.0 if estimate.get("part") == "mean" else 0.01
    largest = float(max(estimate["stderr"])) / unit
    return largest / _FINEST, largest * _FINEST, largest


def needed(part: Mapping[str, Any], wanted: float) -> int | None:
    """How many reports a window needs in all for this standard error of every answer: errors fall as 1/sqrt(n).

    None for one that is too far from what there is.
    """
    low, high, now = wanted_range(part)
    return math.ceil(int(part["estimate"]["n"]) * (now / wanted) ** 2) if low <= wanted <= high else None
