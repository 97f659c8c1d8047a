"""A trial: robots answer a draft by the real client, and their reports are counted and published by the real code."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
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
from deniable_client.questions import Question, Single
from deniable_client.task import Task
from deniable_client.words import SystemWords, Words, below

__all__ = ["trial"]

_ROBOTS = 200
_MOST_ROWS = 40
"""Answers that the report of a trial lists."""


def trial(asked: Questionnaire, now: datetime, robots: int = _ROBOTS) -> dict[str, Any]:
    """What the final report will look like: estimates of made-up answers, beside what was made up. It is simulated.

    `task` and `windows` are what pages of results are made of. Robots, their reports and the database are gone when
    this returns. The minimum batch is 1.
    """
    once = replace(asked, opens="", windows=1)
    identity = Identity(os.urandom(32))
    document = task_of(once, identity, today=now.date(), min_batch=1)
    task = Task.load(document)
    truths = {one.name: _truth(one) for part in task.questions for one in part.together or (part,)}
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
    published = window.document or {}
    told = {"tables": [], **published.get("survey", {"questions": published.get("questions", ())})}
    found = outlook(asked)
    planned = {each.question: each.half for each in found.known}
    crossed = {(each.question, each.other): each.half for each in found.crossed}
    return {
        "simulated": True,
        "robots": robots,
        "task": document,
        "windows": [window.document],
        "questions": [_report(part, truths[part["question"]], planned[part["question"]]) for part in told["questions"]],
        "tables": [_crossed(table, truths, crossed) for table in told["tables"]],
    }


def _values(question: Question | Single) -> list[Any]:
    """What robots answer: the first values are common, the last rare. Of numbers eleven of them."""
    if isinstance(question, Single):
        return list(question.labels)
    domain = question.design["domain"]
    if "interval" in domain:
        low, high = domain["interval"]
        return [low + (high - low) * i / 10 for i in range(11)]
    labels = list(question.labels or ())
    if "ticks" not in domain:
        return labels
    return [labels[i : i + min(2, domain["most"])] for i in range(len(labels))] + [[]]  # two beside each other, or none


def _truth(question: Question | Single) -> list[float]:
    """Made-up shares of the answers, or of those who tick each option."""
    values = _values(question)
    k = len(values)
    shares = [2 * (k - i) / (k * (k + 1)) for i in range(k)]
    if isinstance(question, Single) or "ticks" not in question.design["domain"]:
        return shares
    return [
        sum(f for f, ticked in zip(shares, values, strict=True) if label in ticked) for label in question.labels or ()
    ]


def _robot(task: Task) -> Incoming:
    """The report of one robot: it is dealt a question, has an answer and groups, and draws as any device does.

    Its answers to questions that are asked together have nothing to do with each other.
    """
    words = SystemWords()
    question = task.deal(words)
    answers = [values[_drawn(len(values), words)] for values in map(_values, question.together or (question,))]
    device = question.device(question.explanation.harmless or None)
    drawn = device.report(question.value(answers) if question.together else answers[0])
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


def _crossed(
    table: dict[str, Any], truths: Mapping[str, Sequence[float]], planned: Mapping[tuple[str, str], float]
) -> dict[str, Any]:
    """Rows of a table of two questions: both answers, what was made up, and what was found."""
    one, two = table["questions"]
    found = {"questions": [one, two], "reports": table.get("reports", 0), "half": planned[one, two], "rows": []}
    cells = table["cells"]
    if cells is None:
        return found | {"why": table["why"]}
    real = [a * b for a in truths[one] for b in truths[two]]
    each = zip(cells[one], cells[two], real, cells["value"], cells["low"], cells["high"], strict=True)
    for first, second, truth, value, low, high in list(each)[:_MOST_ROWS]:
        row = {"label": f"{first}, {second}", "truth": truth, "found": value, "low": low, "high": high}
        found["rows"].append(row)
    return found
