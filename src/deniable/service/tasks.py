"""Task documents made from designs, with defaults that need no thought.

The document itself, and all checks that a device will make, are `deniable_client.task`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from deniable.collect.reports import Design
from deniable.errors import InWords, ParameterError, require
from deniable.mechanisms.registry import from_design
from deniable.plan.survey import AskedPart, Survey
from deniable.service.access.identity import Identity
from deniable.service.ingest import check_strata
from deniable_client.questions import NAME as _NAME
from deniable_client.questions import Single
from deniable_client.task import Question, Task, seal

__all__ = ["Asked", "Terms", "asked_by", "caution", "counted_as", "new_task", "none_in", "own_none"]

_BUDGET_MAX = 1000.0
UNNAMED = "A collector that gives no name"
DEVICE_YEAR = 2.0
"""What a device spends on one collector in a year, unless its person allows more (docs/protocol.md, section 3)."""

_USUAL: Any = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question as it is asked for."""

    text: str
    design: Design
    name: str = ""
    """q1, q2, .. if left out."""
    share: int = 1
    labels: Sequence[str] | None = None
    none: Any = _USUAL
    """What no answer counts as; if left out the answer for missing values, the middle of an interval, nothing ticked,
    no pairs, or else a random answer (null)."""
    kind: str | None = None
    """How pages ask, as in docs/protocol.md, section 1; as the design suggests if left out."""
    unit: str | None = None
    ends: Sequence[str] | None = None
    together: Sequence[Single] = ()
    """Questions that are asked together, in place of `text`, `name`, `labels`, `none` and how it is shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """When and how often is asked, and what is kept; everything has a default."""

    opens: date
    window_days: int = 7
    windows: int = 1
    min_batch: int = 100
    retention: str = "tally"
    retention_days: int = 30
    """After the last window, for retention `reports`."""
    subject: str | None = None
    """The first question's text if left out."""
    collector: str | None = None
    url: str | None = None
    """Where devices send reports, and nowhere else; where the person finds the task, if left out."""
    language: str = "en"
    strata: Mapping[str, Sequence[str]] | None = None
    titles: Mapping[str, str] | None = None
    """What people read for a group, by its name, where that is another text."""
    purpose: str | None = None
    results: str | None = None
    """"public" if everybody may read what is published."""
    translations: Mapping[str, Mapping[str, Any]] | None = None
    """By language tag, as the document has them (docs/protocol.md, section 1)."""
    budget: float | None = None
    """The most that this collector asks of one device in a year: 2 if left out, or what this task costs."""
    attempts: int = 8
    send_days: int = 7


def new_task(questions: Sequence[Asked], terms: Terms, identity: Identity) -> dict[str, Any]:
    """The sealed and signed document; `FormatError` or `PrivacyError` if a device would refuse it."""
    require(bool(questions), "questions", questions, "at least one")
    for asked in questions:
        from_design(asked.design)  # the collector must be able to count and estimate what it asks for
        hint = "Ask every part as a question of its own, with its share."
        require("parts" not in asked.design, "design", InWords("one of several parts"), "that of one question", hint)
        if asked.together:
            names, labels = zip(*((one.name, one.labels) for one in asked.together), strict=True)
            AskedPart(names, labels, from_design(asked.design))
    check_strata({name: ("not told", *values) for name, values in (terms.strata or {}).items()})
    require(1 <= terms.window_days <= 3660, "window_days", terms.window_days, "a whole number from 1 to 3660")
    require(1 <= terms.windows <= 10_000, "windows", terms.windows, "a whole number from 1 to 10000")
    first = questions[0].together[0].text if questions[0].together else questions[0].text
    subject = first if terms.subject is None else terms.subject
    require(len(subject) <= 200, "subject", subject, "given, in at most 200 characters, where the question is longer")
    epsilon = max(asked.design["epsilon"] for asked in questions)
    cost = epsilon * terms.windows
    most = f"epsilon {cost:g} for {terms.windows} windows, more than the {_BUDGET_MAX:g} that a task may cost"
    require(cost <= _BUDGET_MAX, "windows", terms.windows, "fewer, or of a smaller epsilon", f"It costs {most}.")
    enough = terms.budget is None or cost <= terms.budget <= _BUDGET_MAX
    hint = "It is the most that this collector asks of one device in a year, over all its tasks."
    require(enough, "budget", terms.budget, f"from {cost:g}, the cost of this task, to {_BUDGET_MAX:g}", hint)
    who = {"name": UNNAMED if terms.collector is None else terms.collector, "key": identity.key}
    document: dict[str, Any] = {
        "version": 2,
        "collector": who | ({"url": terms.url} if terms.url is not None else {}),
        "language": terms.language,
        "subject": subject,
        "epsilon": epsilon,
        "design": _design(questions, epsilon),
        "questions": [_part(asked, f"q{i}") for i, asked in enumerate(questions, start=1)],
        "window": {"opens": terms.opens.isoformat(), "days": terms.window_days, "count": terms.windows},
        "memory": "fresh",
        "sending": {"attempts": terms.attempts, "days": terms.send_days},
        "budget": max(cost, DEVICE_YEAR) if terms.budget is None else terms.budget,
        "min_batch": terms.min_batch,
        "retention": {"keep": terms.retention}
        | ({"days": terms.retention_days} if terms.retention == "reports" else {}),
    }
    if terms.strata:
        titles = terms.titles or {}
        document["strata"] = [
            {"name": name, "values": list(values)} | ({"title": titles[name]} if name in titles else {})
            for name, values in terms.strata.items()
        ]
    more = {"purpose": terms.purpose, "results": terms.results, "translations": terms.translations}
    document |= {name: part for name, part in more.items() if part}
    return seal(document, identity.sign)


def _design(questions: Sequence[Asked], epsilon: float) -> Design:
    """The design of the task: that of its question, or one of parts, of which each person gets one."""
    if len(questions) == 1:
        return questions[0].design
    shares, parts = [asked.share for asked in questions], [asked.design for asked in questions]
    return {"mechanism": "dealt", "version": 1, "epsilon": epsilon, "shares": shares, "parts": parts}


def _part(asked: Asked, usual: str) -> list[dict[str, Any]]:
    """What a part asks: a question, or several together."""
    if not asked.together:
        return [_question(asked, usual)]
    return [
        {"name": one.name, "text": one.text, "labels": list(one.labels), "none": one.none}
        | ({"kind": one.kind} if one.kind else {})
        | ({"ends": list(one.ends)} if one.ends else {})
        for one in asked.together
    ]


def asked_by(made: Survey, question: Sequence[str]) -> list[Asked]:
    """What a survey asks, with a text for each question that is asked, in their order.

    Part by part: a part asks one question, or several together.
    """
    asked = [name for name in made.names if name in made.asked]
    need = f"given once for each of {', '.join(asked)}, in this order"
    require(len(question) == len(asked), "question", question, need)
    require(all(text.strip() for text in question), "question", "", "a text that people can see")
    texts, design = dict(zip(asked, question, strict=True)), made.design()
    parts, shares = design.get("parts", [design]), design.get("shares", [1])
    domains = {question.name: question.mechanism.domain for question in made.questions}
    lone = [name for name in made.names if _NAME.fullmatch(name) is None]
    hint = "Give it another name in the file of questions; people read its text."
    require(not lone, "name of a question", lone and lone[0], "small letters, digits, - or _, at most 64", hint)
    about = [made.about(part) for part in made.parts]
    joint = {name for names in about if len(names) > 1 for name in names}
    found = []
    for names, own, share in zip(about, parts, shares, strict=True):
        if len(names) > 1:
            each = [Single(name, texts[name], domains[name].labels_or_numbers) for name in names]
            found.append(Asked(text="", design=own, share=share, together=each))
        else:
            (name,) = names
            numbers = name in joint and domains[name].labels is None
            labels = domains[name].labels_or_numbers if numbers else None
            found.append(Asked(text=texts[name], design=own, name=name, share=share, labels=labels))
    return found


def _question(asked: Asked, usual: str) -> dict[str, Any]:
    none = usual_none(asked.design) if asked.none is _USUAL else asked.none
    found = {"name": asked.name or usual, "text": asked.text, "none": none}
    more = {"labels": asked.labels, "kind": asked.kind, "unit": asked.unit, "ends": asked.ends}
    return found | {name: part for name, part in more.items() if part is not None}


def usual_none(design: Design) -> Any:
    """What no answer counts as: missing values' answer, the middle, nothing ticked, no pairs, else a random answer."""
    domain, params = design["domain"], design["params"]
    if "missing" in domain:
        return domain["missing"]
    if "interval" in domain:
        low, high = domain["interval"]
        return low + (high - low) / 2
    if "ticks" in domain:
        return []
    return [] if design["kernel"]["kind"] == "pairs" and params.get("length", 0) else None


def none_in(design: Mapping[str, Any], text: str) -> Any:
    """What a text for no answer means for a design: a label, options with semicolons between, or a number."""
    if "labels" in design["domain"]:
        return text
    if "ticks" in design["domain"]:
        named = isinstance(design["domain"]["ticks"], list)
        return [part.strip() if named else int(part) for part in text.split(";") if part.strip()]
    try:
        return float(text) if "interval" in design["domain"] else int(text)
    except ValueError:
        raise ParameterError(f"none must be a number here, got {text!r}.") from None


def caution(task: Task) -> str:
    """That devices decline a task that costs more than they spend on one collector; nothing if it does not."""
    cost = task.epsilon * task.count
    if cost <= DEVICE_YEAR:
        return ""
    return (
        f"it costs epsilon {cost:g} in all, and devices spend at most {DEVICE_YEAR:g} on one collector in a year: they "
        "decline it unless their person allows more; ask less often, in longer windows, or with a smaller epsilon."
    )


def own_none(question: Question) -> int | None:
    """The number of the answer that stands for no answer and for nothing else; None where there is none."""
    domain = question.explanation.design.domain
    if domain.missing is None or question.none != domain.missing:
        return None
    number: int = domain.index(domain.missing)
    return number


def counted_as(question: Question) -> str:
    """What those who give no answer are counted as, in words; nothing where it is an answer of its own."""
    if question.none is None:
        return "those who give no answer are counted as a random answer."
    if own_none(question) is not None or question.none == []:
        return ""
    told = ", ".join(question.none) if question.together else repr(question.none)
    return f"those who give no answer are counted as {told}."
