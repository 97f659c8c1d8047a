"""Task documents made from designs, with defaults that need no thought.

The document itself, and all checks that a device will make, are `deniable_client.task`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from deniable.collect.reports import Design
from deniable.errors import FormatError, ParameterError, require
from deniable.mechanisms.registry import from_design
from deniable.service.ingest import SKEW, check_strata
from deniable_client.task import seal

__all__ = ["Asked", "Terms", "design_of", "new_task"]

_BUDGET_MAX = 1000.0
_LIFETIME = 4
"""All that a device may spend, in budgets of one subject."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question as it is asked for."""

    text: str
    design: Design
    name: str = ""
    """q1, q2, .. if left out."""
    share: int = 1
    labels: Sequence[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """When and how often is asked, and what is kept; everything has a default."""

    opens: date
    window_days: int = 7
    windows: int = 1
    min_batch: int = 100
    memory: str = "remembered"
    retention: str = "tally"
    retention_days: int = 30
    """After the last window, for retention `reports`."""
    subject: str | None = None
    """The first question's text if left out."""
    collector: str | None = None
    strata: Mapping[str, Sequence[str]] | None = None
    budget: float | None = None
    """What a device may spend on this task, and on its subject: once for each window if answers are fresh, twice for
    several windows if they are remembered, else once."""
    lifetime: float | None = None
    expires: date | None = None
    """The first day on which no report is counted any more, if left out."""


def new_task(questions: Sequence[Asked], terms: Terms) -> dict[str, Any]:
    """The sealed document; `FormatError` or `PrivacyError` if a device would refuse it."""
    require(bool(questions), "questions", questions, "at least one")
    for asked in questions:
        from_design(asked.design)  # the collector must be able to count and estimate what it asks for
    check_strata(terms.strata or {})
    require(1 <= terms.window_days <= 3660, "window_days", terms.window_days, "a whole number from 1 to 3660")
    require(1 <= terms.windows <= 10_000, "windows", terms.windows, "a whole number from 1 to 10000")
    subject = questions[0].text if terms.subject is None else terms.subject
    require(len(subject) <= 200, "subject", subject, "given, in at most 200 characters, where the question is longer")
    epsilon = max(asked.design["epsilon"] for asked in questions)
    enough = terms.budget is None or epsilon <= terms.budget <= _BUDGET_MAX
    hint = "It is what a device may spend on this task and its subject."
    require(enough, "budget", terms.budget, f"from {epsilon:g}, the cost of one answer, to {_BUDGET_MAX:g}", hint)
    closes = terms.opens + timedelta(terms.window_days * terms.windows)
    keep = {"keep": terms.retention} | ({"days": terms.retention_days} if terms.retention == "reports" else {})
    document = {
        "version": 1,
        "subject": subject,
        "epsilon": epsilon,
        "questions": [_question(asked, f"q{i}") for i, asked in enumerate(questions, start=1)],
        "window": {"opens": terms.opens.isoformat(), "days": terms.window_days, "count": terms.windows},
        "precision": "day",
        "min_batch": terms.min_batch,
        "memory": terms.memory,
        "budget": _budget(terms, epsilon),
        "retention": keep,
        "expires": (terms.expires or closes + SKEW).isoformat(),
    }
    if terms.collector is not None:
        document["collector"] = terms.collector
    if terms.strata:
        document["strata"] = [{"name": name, "values": list(values)} for name, values in terms.strata.items()]
    return seal(document)


def _question(asked: Asked, usual: str) -> dict[str, Any]:
    found = {"name": asked.name or usual, "text": asked.text, "design": asked.design, "share": asked.share}
    return found | ({"labels": list(asked.labels)} if asked.labels is not None else {})


def _budget(terms: Terms, epsilon: float) -> dict[str, float]:
    """The budgets of task, subject and lifetime: small, and enough for what is asked."""
    times = {"fresh": terms.windows, "remembered": min(2, terms.windows)}.get(terms.memory, 1)
    own = min(times * epsilon, _BUDGET_MAX) if terms.budget is None else terms.budget
    life = min(_LIFETIME * own, _BUDGET_MAX) if terms.lifetime is None else terms.lifetime
    return {"task": own, "subject": own, "lifetime": life}


def design_of(text: bytes | str, where: str = "design") -> Design:
    """A design from a file: the design itself, or what `deniable design --json` or `deniable plan --json` prints."""
    need = "a design, or the output of `deniable design --json` or `deniable plan --json`"
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{where} must be {need}, got no JSON: {error}.") from error
    if isinstance(found, dict) and found.get("feasible") is False:
        raise ParameterError(f"{where} must be {need}; this plan has none that meets its limits.")
    inner = found.get("design", found) if isinstance(found, dict) else found
    if not isinstance(inner, dict) or "kernel" not in inner:
        raise FormatError(f"{where} must be {need}; there is no design with a kernel in it.")
    return inner
