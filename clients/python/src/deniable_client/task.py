"""The task: what a collector asks, under which promise, when and how often (docs/protocol.md)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from functools import cached_property
from typing import Any

from deniable_client.canonical import canonical, digest, parse
from deniable_client.device import Device, explain
from deniable_client.documents import fields_of, is_list, is_number, is_whole
from deniable_client.domains import Domain
from deniable_client.errors import DeniableError, FormatError, ParameterError, PrivacyError, WindowError, show
from deniable_client.explanation import Explanation
from deniable_client.texts import labels_fault, printable, quoted, text_fault
from deniable_client.words import Words, below

__all__ = ["UNITS", "Question", "Task", "amount_of", "seal"]

VERSION = 1
UNITS = 30
"""Amounts are whole multiples of 10**-UNITS."""

_NEEDED = (
    "version",
    "id",
    "subject",
    "epsilon",
    "questions",
    "window",
    "precision",
    "min_batch",
    "memory",
    "budget",
    "retention",
    "expires",
)
_MEMORIES = ("fresh", "remembered", "first")
_BUDGETS = ("task", "subject", "lifetime")
_BUDGET_MAX = 1000
_LEAST = 1e-12
_TEXT_MAX = 10_000
_LISTED_MAX = 255
"""Questions, and values of a stratum: one byte of a report."""
_STRATA_MAX = 8
_NAME = re.compile("[a-z0-9_-]{1,64}")
_DAY = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")


@dataclass(frozen=True, slots=True)
class Question:
    """A question of a task; its design has been proved to keep its promise."""

    name: str
    text: str
    share: int
    design: Mapping[str, Any]
    explanation: Explanation
    key: str
    """The same for the same question in another task: the hash of subject, text, design and labels."""
    labels: tuple[str, ...] | None
    """What people read for the answers 0, 1, ..; None if there are only numbers."""

    @property
    def width(self) -> int:
        """Bytes of a report of this question's design."""
        return self.explanation.design.kernel.width  # type: ignore[no-any-return]  # kernels are of any kind

    def device(self, harmless: Iterable[object] | None = None) -> Device:
        """A device for this question, if the person agrees to disclose exactly the `harmless` answers."""
        listed = harmless is None or isinstance(harmless, str | bytes | range) or not isinstance(harmless, Iterable)
        return Device(self.design, harmless=harmless if listed else [self.value(each) for each in harmless])  # type: ignore[union-attr]  # it is iterable

    def value(self, given: object) -> object:
        """What the design knows an answer as: the number of a label, where only the task has labels."""
        own = self.labels if self.explanation.design.domain.labels is None else None
        return own.index(given) if own and isinstance(given, str) and given in own else given


@dataclass(frozen=True)
class Task:
    """A task that has the right form and id, and whose designs all keep their promises.

    `Task.load` reads one; there is no other way to make a task that a ledger answers.
    """

    id: str
    subject: str
    epsilon: float
    questions: tuple[Question, ...]
    strata: Mapping[str, tuple[str, ...]]
    opens: date
    days: int
    count: int
    min_batch: int
    memory: str
    budget: Mapping[str, float]
    keep: str
    keep_days: int
    expires: date
    collector: str | None
    document: Mapping[str, Any] = field(repr=False)

    @classmethod
    def load(cls, data: bytes | str | Mapping[str, Any], *, expect: str | None = None) -> Task:
        """Read a task; `FormatError` if it is none or was altered, `PrivacyError` if it leaks.

        `expect` is the id that the task should have, where it is known beforehand.
        """
        document = parse(canonical(data) if isinstance(data, Mapping) else data, "the task")
        version = document.get("version", VERSION)
        if version != VERSION or isinstance(version, bool):
            raise FormatError(f"task version {show(version)} is unknown; this client has {VERSION}.")
        given = fields_of(document, "a task", _NEEDED, ("collector", "strata"))
        found = digest({name: part for name, part in document.items() if name != "id"})
        if given["id"] != found or expect not in (None, found):
            named = given["id"] if expect is None else expect
            raise FormatError(
                f"the task was altered: its content has the id {found}, not {show(named)}.",
                "Nothing is sent. Ask for the task again.",
            )
        return _read(given)

    @property
    def closes(self) -> date:
        """The first day after the last window."""
        return self.opens + timedelta(self.days * self.count)

    @cached_property
    def width(self) -> int:
        """Bytes of every report body of this task."""
        return (len(self.questions) > 1) + len(self.strata) + max(question.width for question in self.questions)

    def window(self, today: date) -> int:
        """The number of the window that a day is in; `WindowError` if there is none."""
        if today >= self.expires:
            raise WindowError(f"this task expired on {self.expires}; nothing is sent any more.")
        if not self.opens <= today < self.closes:
            told = f"opens on {self.opens}" if today < self.opens else f"was open until {self.closes - timedelta(1)}"
            raise WindowError(f"this task is not open today, {today}: it {told}.")
        return (today - self.opens).days // self.days

    def question(self, name: str) -> Question:
        """A question by its name."""
        for question in self.questions:
            if question.name == name:
                return question
        known = ", ".join(question.name for question in self.questions)
        raise ParameterError(f"question must be one of {known}, got {show(name)}.")

    def deal(self, words: Words) -> Question:
        """One of the questions, drawn by their shares."""
        drawn = below(sum(question.share for question in self.questions), words)
        for question in self.questions:
            drawn -= question.share
            if drawn < 0:
                break
        return question

    def body(self, question: Question, report: bytes, strata: Mapping[str, str] | None = None) -> bytes:
        """What is sent: the numbers of the question and of the strata, the report, and zeros up to `width`."""
        return (self.head(question, strata) + report).ljust(self.width, b"\0")

    def head(self, question: Question, strata: Mapping[str, str] | None = None) -> bytes:
        """The first bytes of a body, which are sent in the clear: the numbers of the question and of the strata."""
        given = strata or {}
        if set(given) != set(self.strata):
            need = ", ".join(self.strata) or "none"
            raise ParameterError(f"strata must be given for exactly {need}, got {show(sorted(given))}.")
        head = [self.questions.index(question)] if len(self.questions) > 1 else []
        for name, values in self.strata.items():
            if given[name] not in values:
                raise ParameterError(f"{name} must be one of {', '.join(values)}, got {show(given[name])}.")
            head.append(values.index(given[name]))
        return bytes(head)

    def terms(self) -> tuple[str, ...]:
        """What the task says, in sentences for a person who decides whether to answer; one line each, safe to print."""
        who = f"{self.collector} asks." if self.collector else "The collector does not say who it is."
        lines = [who]
        if len(self.questions) > 1:
            lines.append(f"One of {len(self.questions)} questions is drawn for you; only that one is answered.")
        for question in self.questions:
            lines += [f"The collector asks: {quoted(question.text)}", *question.explanation.text.splitlines()]
            if question.labels and question.explanation.design.domain.labels is None:
                named = (f"{number} is {label}" for number, label in enumerate(question.labels))
                lines.append(f"Answers by number: {', '.join(named)}.")
        for name, values in self.strata.items():
            lines.append(f"Sent openly with your report: {name}, one of {', '.join(values)}.")
        until = f"{self.opens} to {self.closes - timedelta(1)}"
        days = "a day" if self.days == 1 else f"{self.days} days"
        often = "once" if self.count == 1 else f"once in each of {self.count} windows of {days}"
        kept = f"Reports are kept for {self.keep_days} days after the last window."
        lines += [
            f"Asked {often}, {until}. {_MEANING[self.memory]}",
            f"An answer costs epsilon {self.epsilon:.12g}; at most {self.budget['task']:.12g} for this task, "
            f"{self.budget['subject']:.12g} for all about {quoted(self.subject)}, "
            f"{self.budget['lifetime']:.12g} in all.",
            f"Results are published for at least {self.min_batch} reports. "
            + ("Reports are erased once they are counted." if self.keep == "tally" else kept),
        ]
        return tuple(map(printable, lines))


_MEANING = {
    "fresh": "Each answer is randomised anew and costs again.",
    "remembered": "The same answer sends the same report again, at no cost; that an answer changed can be noticed.",
    "first": "Your first answer is kept: the same report is sent each time, at no further cost.",
}


def seal(document: Mapping[str, Any]) -> dict[str, Any]:
    """A document with its id, after the checks that a device will make."""
    sealed = {**document, "id": digest({name: part for name, part in document.items() if name != "id"})}
    return dict(Task.load(sealed).document)


def amount_of(epsilon: float) -> int:
    """A number as it is written in decimals, in units of 10**-UNITS: sums of them are exact.

    >>> 3 * amount_of(0.1) == amount_of(0.3)
    True
    """
    return int(Decimal(repr(epsilon)).scaleb(UNITS))


# ---- reading the parts


def _read(given: Mapping[str, Any]) -> Task:
    subject = _text(given["subject"], "subject", 200)
    epsilon = _amount(given["epsilon"], "epsilon")
    questions = _list(given["questions"], "questions", 1, _LISTED_MAX)
    found = tuple(_question(question, subject, epsilon) for question in questions)
    _need(len({question.name for question in found}) == len(found), "names of questions", "different", "two alike")
    window = fields_of(given["window"], "window", ("opens", "days", "count"))
    days, count = _whole(window["days"], "days", 1, 3660), _whole(window["count"], "count", 1, 10_000)
    opens, expires = _day(window["opens"], "opens"), _day(given["expires"], "expires")
    latest = (date.max - opens).days
    _need(
        days * count <= latest and expires >= opens + timedelta(days * count),
        "expires",
        "after the last window",
        expires,
    )
    _need(given["precision"] == "day", "precision", "day", given["precision"])
    memory = given["memory"]
    _need(isinstance(memory, str) and memory in _MEMORIES, "memory", f"one of {', '.join(_MEMORIES)}", memory)
    keep = fields_of(given["retention"], "retention", ("keep",), ("days",))
    _need(keep["keep"] in ("tally", "reports"), "retention", "tally or reports", keep["keep"])
    _need((keep["keep"] == "reports") == ("days" in keep), "retention", "days with reports, and only then", keep)
    return Task(
        id=given["id"],
        subject=subject,
        epsilon=epsilon,
        questions=found,
        strata=_strata(given.get("strata", [])),
        opens=opens,
        days=days,
        count=count,
        min_batch=_whole(given["min_batch"], "min_batch", 1, 10**9),
        memory=memory,
        budget=_budget(given["budget"], epsilon),
        keep=keep["keep"],
        keep_days=_whole(keep.get("days", 0), "days of retention", 0, 3660),
        expires=expires,
        collector=_text(given["collector"], "collector", 200) if "collector" in given else None,
        document=given,
    )


def _question(document: object, subject: str, epsilon: float) -> Question:
    given = fields_of(document, "a question", ("name", "text", "design", "share"), ("labels",))
    name, design = given["name"], given["design"]
    _need(
        isinstance(name, str) and bool(_NAME.fullmatch(name)),
        "name of a question",
        "small letters, digits, - or _",
        name,
    )
    text = _text(given["text"], f"text of {name}", _TEXT_MAX, prose=True)
    try:
        explanation = explain(design)
    except DeniableError as error:
        raise type(error)(f"question {name}: {error.message}", error.hint) from error
    proved = explanation.design
    if proved.epsilon > epsilon:
        told = f"epsilon {proved.epsilon:g}, more than the {epsilon:g} that the task says"
        raise PrivacyError(f"question {name} costs {told}; nothing is sent.")
    return Question(
        name=name,
        text=text,
        share=_whole(given["share"], f"share of {name}", 1, 1_000_000),
        design=design,
        explanation=explanation,
        key=digest({"subject": subject, "text": text, "design": design, "labels": given.get("labels")}),
        labels=_labels(given["labels"], name, proved.domain) if "labels" in given else proved.domain.labels,
    )


def _labels(given: object, name: str, domain: Domain) -> tuple[str, ...]:
    """Labels that a task gives to the answers of a design which has numbers only."""
    where = f"labels of {name}"
    _need(
        domain.labels is None and domain.border is None,
        where,
        "left out, since its design says what answers are",
        given,
    )
    labels = tuple(_list(given, where, domain.answers, domain.answers))
    _need(all(isinstance(label, str) for label in labels), where, "texts", given)
    _need_apart(labels, where)
    return labels


def _need_apart(labels: Sequence[str], where: str) -> None:
    wrong = labels_fault(labels)
    if wrong:
        raise FormatError(f"{where} must be texts that people can see and tell apart: {wrong}.")


def _strata(given: object) -> Mapping[str, tuple[str, ...]]:
    found = {}
    for entry in _list(given, "strata", 0, _STRATA_MAX):
        stratum = fields_of(entry, "a stratum", ("name", "values"))
        name, values = stratum["name"], _list(stratum["values"], "values of a stratum", 2, _LISTED_MAX)
        fits = isinstance(name, str) and _NAME.fullmatch(name) and name not in found
        _need(bool(fits), "name of a stratum", "small letters, digits, - or _, and no other's", name)
        texts = [_text(value, f"a value of {name}", 200) for value in values]
        _need_apart(texts, f"values of {name}")
        found[name] = tuple(texts)
    return found


def _budget(given: object, epsilon: float) -> Mapping[str, float]:
    fields = fields_of(given, "budget", _BUDGETS)
    found = {name: _amount(fields[name], f"budget of {name}") for name in _BUDGETS}
    rising = epsilon <= found["task"] <= found["subject"] <= found["lifetime"] <= _BUDGET_MAX
    _need(rising, "budget", f"epsilon <= task <= subject <= lifetime <= {_BUDGET_MAX}", given)
    return found


def _amount(given: object, where: str) -> float:
    fits = is_number(given) and _LEAST <= given <= _BUDGET_MAX  # type: ignore[operator]  # it is a number
    _need(fits, where, f"a number from {_LEAST:g} to {_BUDGET_MAX}", given)
    return given  # type: ignore[return-value]  # it is a number


def _whole(given: object, where: str, least: int, most: int) -> int:
    _need(is_whole(given, least, most), where, f"a whole number from {least} to {most}", given)
    return int(given)  # type: ignore[call-overload, no-any-return]  # it is a whole number, perhaps written 1.0


def _text(given: object, where: str, most: int, *, prose: bool = False) -> str:
    told = f"a text that people can see, of at most {most} characters"
    _need(isinstance(given, str) and len(given) <= most, where, told, given)
    wrong = text_fault(given, prose=prose)  # type: ignore[arg-type]  # it is a text
    if wrong:
        raise FormatError(f"{where} of a task must be {told}: {wrong}.")
    return given  # type: ignore[return-value]  # it is a text


def _list(given: object, where: str, least: int, most: int) -> Sequence[Any]:
    fits = is_list(given) and least <= len(given) <= most  # type: ignore[arg-type]  # it is a list
    _need(fits, where, f"a list of {least} to {most} entries" if least < most else f"a list of {most} entries", given)
    return given  # type: ignore[return-value]  # it is a list


def _day(given: object, where: str) -> date:
    need = "a day such as 2026-11-16"
    _need(isinstance(given, str) and bool(_DAY.fullmatch(given)), where, need, given)
    try:
        return date.fromisoformat(given)  # type: ignore[arg-type]  # it is a text
    except ValueError as error:
        raise FormatError(f"{where} of a task must be {need}, got {show(given)}.") from error


def _need(ok: bool, where: str, need: str, got: object) -> None:
    if not ok:
        raise FormatError(f"{where} of a task must be {need}, got {show(got)}.")
