"""What people ask: one table by `Entry.question`, which `simulate`, `plan`, `estimate`, releases and pages ask.

A row says what answers its question, and what may be told; what it does not list is refused. It has a value for
everything that differs by question: a row that leaves one out cannot be made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from deniable.core.types import Target
from deniable.errors import ParameterError, require
from deniable.estimate.result import Estimate
from deniable.mechanisms.entry import FREQUENCY, KEY_VALUE, MEAN, RELEASE
from deniable.mechanisms.registry import entry_of
from deniable.plan.answer import Answer
from deniable.plan.frequency import plan
from deniable.plan.keyvalue import plan_keyvalue
from deniable.plan.mean import plan_means
from deniable.plan.prediction import points
from deniable.plan.release import plan_release
from deniable.present.studies import frequency_table, keyvalue_table, mean_table, release_table
from deniable.present.tables import Table
from deniable.run.files import read_space
from deniable.run.forms import ANSWERS, NUMBERS, Form
from deniable.run.results import Shown
from deniable.run.studies.frequency import simulate
from deniable.run.studies.keyvalue import shrink_means, simulate_keyvalue
from deniable.run.studies.mean import simulate_mean
from deniable.run.studies.release import simulate_release
from deniable.run.studies.study import Study

__all__ = ["QUESTIONS", "question_of"]


@dataclass(frozen=True, slots=True)
class Question:
    """A question: who studies and plans it, what these may be told, and the words that go with it."""

    name: str
    about: str
    """What it is about, for refusals."""
    study: Callable[..., Study]
    settings: tuple[str, ...]
    """What a study may be told beside the data, people, runs and seed; and `chart` if there is something to draw."""
    table: Callable[[Mapping[str, Any]], Table]
    """Of a study's document, for people."""
    plan: Callable[..., Answer[Any]]
    asked: tuple[str, ...]
    """What a plan may be told beside limits."""
    limits: Mapping[str, str]
    """What a plan may limit, by the names that its designs have them under."""
    needed: Mapping[str, str]
    """What a plan must be told, each with an example."""
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

    def check_plan(self, given: Mapping[str, Any]) -> None:
        """Refuse what a plan is not told, with the questions that it belongs to."""
        for name, value in given.items():
            those = [each for each, asked in QUESTIONS.items() if name in (*asked.asked, *asked.limits)]
            hint = f"It belongs to --question {' and to --question '.join(those)}." if those else ""
            shown = name.replace("_", "-")
            require(self.name in those, shown, value, f"left out for the question {self.name!r}", hint)

    def answer(self, given: Mapping[str, Any]) -> Answer[Any]:
        """The plan for what is given, by the names of the command line's options."""
        self.check_plan(given)
        for name, example in self.needed.items():
            if name not in given:
                raise ParameterError(f"{name} must be given for the question {self.name!r}.", f"For example {example}.")
        limits = {self.limits[name]: value for name, value in given.items() if name in self.limits}
        return self.plan(limits=limits, **{name: value for name, value in given.items() if name in self.asked})

    def show(self, estimate: Estimate, level: float, target: Target, simultaneous: bool, **given: Any) -> Shown:
        """The estimate with its intervals; what is None is not given."""
        for name, value in given.items():
            if value is not None:
                require(name in self.readings, name, value, f"left out for {self.about}")
                estimate = self.readings[name](estimate, value)
        return Shown.of(estimate, level=level, target=target, simultaneous=simultaneous)


def _plan_shares(*, limits: Mapping[str, Any], **asked: Any) -> Answer[Any]:
    return plan(**limits, **asked)


def _plan_near(*, distances: str | None = None, **asked: Any) -> Answer[Any]:
    """Distances are a file: it is read once, and told by its name."""
    if distances is None:
        return plan_release(**asked)
    return plan_release(distances=read_space(distances), **asked).naming(distances=distances)


def _points(gain: float) -> str:
    return points(gain).replace(" pt", " percentage points")


_SHARES, _NUMBERS = "in percentage points", "in the unit of the numbers"
_WEIGHED = ("weight", "weights")
_GUESS = {"max_asr": "asr"}
_SIZE = {"max_bits": "bits", "max_bytes": "bytes"}
_SERVER = {"max_work": "work", "max_poisoning": "poisoning"}
_PROMISE = {"epsilon": "--epsilon 1"}

QUESTIONS: Mapping[str, Question] = {
    FREQUENCY: Question(
        FREQUENCY,
        "shares of values",
        simulate,
        ("domain", "level", "project", "chart", "column", "format"),
        frequency_table,
        _plan_shares,
        ("domain", "n", "epsilon", "targets", *_WEIGHED, "sensitive", "top"),
        {name: name for name in ("target_error", *_GUESS, *_SIZE, *_SERVER)},
        {},
        _SHARES,
        lambda gain: f"raise the share of one answer by at most {_points(gain)}",
        ANSWERS,
        {},
    ),
    KEY_VALUE: Question(
        KEY_VALUE,
        "key-value data",
        simulate_keyvalue,
        ("domain", "level", "chart", "columns", "duplicates", "top", "format"),
        keyvalue_table,
        plan_keyvalue,
        ("domain", "n", "epsilon", "length", "interest", "targets", *_WEIGHED, "top"),
        {"target_error": "stderr", **_GUESS, **_SIZE, **_SERVER},
        {"n": "--n 10000", **_PROMISE},
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
        _plan_near,
        ("epsilon", "points", "interval", "distances", *_WEIGHED, "top"),
        {"target_error": "loss", **_GUESS, **_SIZE, **_SERVER},
        _PROMISE,
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
        plan_means,
        ("epsilon", "n", "points", "interval", *_WEIGHED, "top"),
        {"target_error": "stderr", **_GUESS, **_SIZE, **_SERVER},
        {**_PROMISE, "interval": "--interval 0,100"},
        _NUMBERS,
        lambda gain: f"move the mean by at most {gain:.3g}",
        NUMBERS,
        {},
    ),
}
"""By what `Entry.question` says."""


def question_of(name: str) -> Question:
    """The question that a mechanism or a protocol answers."""
    asked = entry_of(name).question
    require(asked in QUESTIONS, "question", asked, f"one of {', '.join(QUESTIONS)}", f"The row of {name} says it.")
    return QUESTIONS[asked]
