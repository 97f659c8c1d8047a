"""What people ask: one table by `Entry.question`, which `simulate`, `estimate`, releases and pages ask.

A row says what answers its question, and what may be told; what it does not list is refused. It has a value for
everything that differs by question: a row that leaves one out cannot be made. What a plan may be told is in
`deniable.plan.questions`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from deniable.core.types import Target
from deniable.errors import require
from deniable.estimate.result import Estimate
from deniable.mechanisms.entry import DIRECTION, FREQUENCY, KEY_VALUE, MEAN, RANGE, RELEASE
from deniable.mechanisms.registry import entry_of
from deniable.plan.prediction import points
from deniable.present.studies import direction_table, frequency_table, keyvalue_table, mean_table, release_table
from deniable.present.tables import Table
from deniable.run.forms import ANSWERS, NUMBERS, Form
from deniable.run.results import Shown
from deniable.run.studies.direction import simulate_direction
from deniable.run.studies.frequency import simulate
from deniable.run.studies.keyvalue import shrink_means, simulate_keyvalue
from deniable.run.studies.mean import simulate_mean
from deniable.run.studies.release import simulate_release
from deniable.run.studies.study import Study

__all__ = ["QUESTIONS", "question_of"]


@dataclass(frozen=True, slots=True)
class Question:
    """A question: who studies it, what a study may be told, and the words that go with it."""

    name: str
    about: str
    """What it is about, for refusals."""
    study: Callable[..., Study]
    settings: tuple[str, ...]
    """What a study may be told beside the data, people, runs and seed; and `chart` if there is something to draw."""
    table: Callable[[Mapping[str, Any]], Table]
    """Of a study's document, for people."""
    unit: str
    """In what an error is given, in words."""
    forged: Callable[[float], str]
    """What forged reports can do, from how much they change."""
    form: Form | None
    """How a page asks for a plan; None where none does."""
    readings: Mapping[str, Callable[[Estimate, Any], Estimate]]
    """What an estimate may be made into before it is shown, by the name under which that is told."""

    def check_study(self, given: Mapping[str, Any]) -> None:
        """Refuse settings that a study does not have."""
        for name, value in given.items():
            require(name in self.settings, name, value, f"left out for {self.about}")

    def show(self, estimate: Estimate, level: float, target: Target, simultaneous: bool, **given: Any) -> Shown:
        """The estimate with its intervals; what is None is not given."""
        for name, value in given.items():
            if value is not None:
                require(name in self.readings, name, value, f"left out for {self.about}")
                estimate = self.readings[name](estimate, value)
        return Shown.of(estimate, level=level, target=target, simultaneous=simultaneous)


def _points(gain: float) -> str:
    return points(gain).replace(" pt", " percentage points")


_ORDERED: Mapping[str, Callable[[Estimate, Any], Estimate]] = {
    "range": lambda estimate, ranges: estimate.ranges(*ranges),
    "cdf": lambda estimate, _: estimate.cumulative(),
}
"""Readings of answers in an order."""

_SHARES, _NUMBERS = "in percentage points", "in the unit of the numbers"

QUESTIONS: Mapping[str, Question] = {
    FREQUENCY: Question(
        FREQUENCY,
        "shares of values",
        simulate,
        ("domain", "level", "project", "chart", "column", "format"),
        frequency_table,
        _SHARES,
        lambda gain: f"raise the share of one answer by at most {_points(gain)}",
        ANSWERS,
        _ORDERED,
    ),
    RANGE: Question(
        RANGE,
        "answers in an order",
        simulate,
        ("domain", "level", "project", "chart", "column", "format"),
        frequency_table,
        _SHARES,
        lambda gain: f"raise the share of a range by at most {_points(gain)}",
        None,
        _ORDERED,
    ),
    KEY_VALUE: Question(
        KEY_VALUE,
        "key-value data",
        simulate_keyvalue,
        ("domain", "level", "chart", "columns", "duplicates", "top", "format"),
        keyvalue_table,
        _SHARES,
        lambda gain: f"raise the frequency of one key by at most {_points(gain)}",
        None,
        {"shrink": shrink_means},
    ),
    RELEASE: Question(
        RELEASE,
        "single answers, which are judged by their losses",
        simulate_release,
        ("domain", "placed", "column", "format"),
        release_table,
        _SHARES,
        lambda gain: f"add at most {gain:.3g} to the mean loss",
        None,
        {},
    ),
    MEAN: Question(
        MEAN,
        "means",
        simulate_mean,
        ("level", "chart", "column", "format"),
        mean_table,
        _NUMBERS,
        lambda gain: f"move the mean by at most {gain:.3g}",
        NUMBERS,
        {},
    ),
    DIRECTION: Question(
        DIRECTION,
        "mean directions",
        simulate_direction,
        ("level", "chart", "column", "format"),
        direction_table,
        _NUMBERS,
        lambda gain: f"move the end of the resultant by at most {gain:.3g}",
        None,
        {},
    ),
}
"""By what `Entry.question` says."""


def question_of(name: str) -> Question:
    """The question that a mechanism or a protocol answers."""
    asked = entry_of(name).question
    require(asked in QUESTIONS, "question", asked, f"one of {', '.join(QUESTIONS)}", f"The row of {name} says it.")
    return QUESTIONS[asked]
