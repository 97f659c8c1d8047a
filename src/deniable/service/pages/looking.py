"""What the dashboard shows of a task: windows with estimates, groups and periods compared, people still needed."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from deniable.errors import DeniableError, ParameterError
from deniable.estimate.result import Estimate
from deniable.present.tables import number, percent
from deniable.service.ingest import NEVER
from deniable.service.release import PUBLISHED, Window
from deniable.service.results.reading import estimate_in, published
from deniable_client.task import Question, Task

__all__ = ["alarm", "compared", "doubled", "needed", "told"]

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
    note: str = ""


def told(question: Mapping[str, Any]) -> QuestionTable:
    """What was published about a question, as rows of text."""
    name, text, reports = question["question"], question["text"], question["reports"]
    estimate = question.get("estimate")
    if question["state"] != PUBLISHED or estimate is None:
        return QuestionTable(name, text, reports, why=question.get("why", ""))
    share = "mean" if estimate.get("part") == "mean" else "share"
    columns = {"answer": [str(label) for label in estimate["labels"]]}
    columns |= _interval(estimate, "", share, number if share == "mean" else percent)
    if "mean" in estimate:
        columns |= _interval(estimate, "mean_", "mean", number)
    rows = tuple(zip(*columns.values(), strict=True))
    return QuestionTable(
        name, text, reports, tuple(columns), rows[:_SHOWN], rows[_SHOWN:], note=estimate.get("note", "")
    )


def _interval(
    estimate: Mapping[str, Any], before: str, name: str, show: Callable[[float], str]
) -> dict[str, list[str]]:
    """A column of values, and those of their standard errors and intervals that were published."""
    titles = {"": name, "stderr": f"standard error of the {name}", "low": f"{name} from", "high": f"{name} to"}
    found = {}
    for column, title in titles.items():
        cells = estimate.get(before.rstrip("_") if before and not column else before + (column or "value"))
        if cells is not None:
            found[title] = ["too rare to say" if cell is None or cell != cell else show(cell) for cell in cells]
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
    unit: str
    """Of differences and their standard errors; empty for means, which have the unit of the numbers."""


def compared(task: Task, question: Question, windows: Sequence[Window], most: int = 12) -> list[Compared]:
    """Each published window with the one before."""
    pairs = _periods(question, windows)[:most]
    found = []
    for (first, one), (second, two) in pairs:
        try:
            a, b = (estimate_in(part, question) for part in (one, two))
            found.append(_compared(first, second, a, b, len(pairs)))
        except DeniableError:  # no unbiased estimate, so nothing to compare: the windows say so
            return []
    return found


_Pair = tuple[tuple[str, Mapping[str, Any]], tuple[str, Mapping[str, Any]]]


def _periods(question: Question, windows: Sequence[Window]) -> list[_Pair]:
    named = [(f"window {window.number + 1}", part) for window, part in published(windows, question.name)]
    return list(zip(named[1:], named[:-1], strict=True))


def _in_points(share: float) -> str:
    return f"{100 * share:.2f}"


def _compared(first: str, second: str, a: Estimate, b: Estimate, pairs: int) -> Compared:
    difference = a.compare(b)
    corrected = [min(1.0, float(p) * pairs) for p in difference.pvalue_adjusted]
    show = _in_points if a.range is None else number
    rows = [
        (label, show(float(value)), show(float(spread)), f"{p:.3g}")
        for label, value, spread, p in zip(
            difference.labels, difference.value, difference.stderr, corrected, strict=True
        )
    ]
    unit = "percentage points" if a.range is None else ""
    order = sorted(range(len(rows)), key=lambda i: corrected[i])[:_SHOWN]
    return Compared(first, second, tuple(rows[i] for i in order), sum(p < 0.05 for p in corrected), unit)


# ---- reports that were not counted


def alarm(rejected: Mapping[str, int]) -> str:
    """What reports say that no device sends which keeps to the task; empty if there were none."""
    count = sum(n for reason, n in rejected.items() if reason in NEVER)
    if not count:
        return ""
    came = "1 report came" if count == 1 else f"{count:,} reports came"
    return f"{came} that no device sends which keeps to the task: someone forges reports, or a client is broken."


def doubled(rejected: Mapping[str, int]) -> str:
    """What is known of reports under ids that others had before; empty if there were none."""
    count = rejected.get("other-body", 0)
    if not count:
        return ""
    came = "1 report came under the id of another report"
    if count > 1:
        came = f"{count:,} reports came under ids of other reports"
    return (
        f"{came}: a device that lost its ledger, or a copy of it, may send that when its owner answers otherwise, "
        "and so may somebody who knows the id. The first report counts."
    )


# ---- how many more


def needed(part: Mapping[str, Any], wanted: float) -> int:
    """How many reports a window needs in all for this standard error of every answer: errors fall as 1/sqrt(n).

    `wanted` is in percentage points, for a mean in the unit of its numbers.
    """
    estimate = part["estimate"]
    unit = 1.0 if estimate.get("part") == "mean" else 0.01
    n, largest = int(estimate["n"]), float(max(estimate["stderr"])) / unit
    if not largest / _FINEST <= wanted <= largest * _FINEST:
        raise ParameterError(
            f"error must be from {largest / _FINEST:.2g} to {largest * _FINEST:.2g} here, got {wanted:g}.",
            f"It is {largest:.3g} now.",
        )
    return math.ceil(n * (largest / wanted) ** 2)
