"""What people ask: one table by `Entry.question`, which `simulate` and `estimate` ask, and pages will.

A row says what answers its question, and what may be told; what it does not list is refused. What `plan` may be told
is in `deniable.plan.questions`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from deniable.core.types import Target
from deniable.errors import require
from deniable.estimate.result import Estimate
from deniable.mechanisms.entry import FREQUENCY, KEY_VALUE, MEAN, RELEASE
from deniable.mechanisms.registry import entry_of
from deniable.present.studies import frequency_table, keyvalue_table, mean_table, release_table
from deniable.present.tables import Table
from deniable.run.results import Shown
from deniable.run.studies.frequency import simulate
from deniable.run.studies.keyvalue import show_pairs, simulate_keyvalue
from deniable.run.studies.mean import simulate_mean
from deniable.run.studies.release import simulate_release
from deniable.run.studies.study import Study

__all__ = ["QUESTIONS", "question_of"]


@dataclass(frozen=True, slots=True)
class Question:
    """A question: who studies and shows it, and what these may be told."""

    name: str
    about: str
    """What it is about, for refusals."""
    study: Callable[..., Study]
    settings: tuple[str, ...]
    """What a study may be told beside the data, people, runs and seed; and `chart` if there is something to draw."""
    table: Callable[[Mapping[str, Any]], Table]
    """Of a study's document, for people."""
    shown: Callable[..., Shown] = Shown.of
    readings: tuple[str, ...] = ()
    """What may be told beside the interval where an estimate is shown."""

    def check_study(self, given: Mapping[str, Any]) -> None:
        """Refuse settings that a study does not have."""
        for name, value in given.items():
            require(name in self.settings, name, value, f"left out for {self.about}")

    def show(self, estimate: Estimate, level: float, target: Target, simultaneous: bool, **given: Any) -> Shown:
        """The estimate with its intervals; what is None is not given."""
        own = {name: value for name, value in given.items() if value is not None}
        for name, value in own.items():
            require(name in self.readings, name, value, f"left out for {self.about}")
        return self.shown(estimate, level=level, target=target, simultaneous=simultaneous, **own)


QUESTIONS: Mapping[str, Question] = {
    FREQUENCY: Question(
        FREQUENCY,
        "shares of values",
        simulate,
        ("domain", "level", "project", "chart", "column", "format"),
        frequency_table,
    ),
    KEY_VALUE: Question(
        KEY_VALUE,
        "key-value data",
        simulate_keyvalue,
        ("domain", "level", "chart", "columns", "duplicates", "top", "format"),
        keyvalue_table,
        show_pairs,
        ("shrink",),
    ),
    RELEASE: Question(
        RELEASE,
        "single answers, which are judged by their losses",
        simulate_release,
        ("domain", "placed", "column", "format"),
        release_table,
    ),
    MEAN: Question(
        MEAN,
        "means",
        simulate_mean,
        ("level", "chart", "column", "format"),
        mean_table,
    ),
}
"""By what `Entry.question` says."""


def question_of(name: str) -> Question:
    """The question that a mechanism or a protocol answers."""
    asked = entry_of(name).question
    require(asked in QUESTIONS, "question", asked, f"one of {', '.join(QUESTIONS)}", f"The row of {name} says it.")
    return QUESTIONS[asked]
