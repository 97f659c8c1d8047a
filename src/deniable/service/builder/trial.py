"""A trial: robots answer a draft by the real client, and their reports are counted and published by the real code."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from tempfile import TemporaryDirectory
from typing import Any

from deniable.service.access.identity import Identity
from deniable.service.ingest import Intake
from deniable.service.questionnaire.document import Questionnaire
from deniable.service.questionnaire.opening import task_of
from deniable.service.questionnaire.outlook import outlook
from deniable.service.release import windows
from deniable.service.store import open_store
from deniable.service.store.contract import ID_BYTES, Incoming, Upload
from deniable_client.canonical import canonical
from deniable_client.task import Question, Task
from deniable_client.words import SystemWords, Words, below

__all__ = ["trial"]

_ROBOTS = 200
_MOST_ROWS = 40
"""Answers that the report of a trial lists."""


def trial(asked: Questionnaire, now: datetime, robots: int = _ROBOTS) -> dict[str, Any]:
    """What the final report will look like: estimates of made-up answers, beside what was made up. It is simulated.

    Nothing is kept: robots, their reports and the database are gone when this returns. The minimum batch is 1.
    """
    once = replace(asked, opens="", windows=1)
    identity = Identity(os.urandom(32))
    document = task_of(once, identity, today=now.date(), min_batch=1)
    task = Task.load(document)
    truths = {question.name: _truth(question) for question in task.questions}
    with TemporaryDirectory() as folder:
        store = open_store(f"sqlite:///{folder}/trial.db")
        try:
            store.put_task(task.id, canonical(document))
            store.set_state(task.id, "open")
            reports = [_robot(task) for _ in range(robots)]
            outcomes = store.add([Upload(task.id, now.date(), reports)])[0]
            assert all(outcome.status == "accepted" for outcome in outcomes), "a robot is a device like any other"
            store.set_state(task.id, "closed")
            row = store.task(task.id)
            assert row is not None
            (window,) = windows(store, row, Intake(row.document), now)
        finally:
            store.close()
    told = (window.document or {}).get("questions", ())
    planned = {each.question: each.half for each in outlook(asked).known}
    return {
        "simulated": True,
        "robots": robots,
        "questions": [_report(part, truths[part["question"]], planned[part["question"]]) for part in told],
    }


def _values(question: Question) -> list[Any]:
    """What robots answer: the first values are common, the last rare. Of numbers eleven of them."""
    domain = question.design["domain"]
    if "interval" in domain:
        low, high = domain["interval"]
        return [low + (high - low) * i / 10 for i in range(11)]
    labels = list(question.labels or ())
    if "ticks" not in domain:
        return labels
    return [labels[i : i + min(2, domain["most"])] for i in range(len(labels))] + [[]]  # two beside each other, or none


def _truth(question: Question) -> list[float]:
    """Made-up shares of the answers, or of those who tick each option."""
    values = _values(question)
    k = len(values)
    shares = [2 * (k - i) / (k * (k + 1)) for i in range(k)]
    if "ticks" not in question.design["domain"]:
        return shares
    return [
        sum(f for f, ticked in zip(shares, values, strict=True) if label in ticked) for label in question.labels or ()
    ]


def _robot(task: Task) -> Incoming:
    """The report of one robot: it is dealt a question, has an answer and groups, and draws as any device does."""
    words = SystemWords()
    question = task.deal(words)
    values = _values(question)
    device = question.device(question.explanation.harmless or None)
    drawn = device.report(values[_drawn(len(values), words)])
    strata = {name: told[1 + below(len(told) - 1, words)] for name, told in task.strata.items()}
    return Incoming(os.urandom(ID_BYTES), task.body(question, drawn, strata))


def _drawn(count: int, words: Words) -> int:
    """The number of an answer, drawn by the made-up shares: of k answers the first is k times as common as the last."""
    left = below(count * (count + 1) // 2, words)
    return next(i for i in range(count) if left < sum(range(count - i, count + 1)))


def _report(part: dict[str, Any], truth: Sequence[float], half: float) -> dict[str, Any]:
    """Rows of a question: the answer, what was made up, what was found with its interval, and the interval planned."""
    found = {"question": part["question"], "reports": part["reports"], "half": half, "rows": []}
    estimate = part.get("estimate")
    if estimate is None:
        return found | {"why": part.get("why", "")}
    labels = estimate["labels"]
    mean = len(labels) == 1
    for i, label in enumerate(labels[:_MOST_ROWS]):
        real = None if mean else truth[i]
        row = {
            "label": label,
            "truth": real,
            "found": estimate["value"][i],
            "low": estimate["low"][i],
            "high": estimate["high"][i],
        }
        found["rows"].append(row)
    return found | {"mean": mean, "truth": list(truth)}
