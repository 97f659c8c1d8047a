"""Tasks and reports for tests of the collector."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any

import deniable as dn
from deniable.service.store.contract import Incoming, Store
from deniable_client.canonical import canonical
from deniable_client.task import Task, seal

__all__ = ["DAY", "body", "fresh_id", "make_task", "opened", "report", "task_document"]

DAY = date(2026, 11, 16)
"""The first day of the tasks made here."""


def task_document(
    designs: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
    *,
    strata: Mapping[str, Sequence[str]] | None = None,
    days: int = 7,
    count: int = 4,
    keep: str | None = None,
    **more: Any,
) -> dict[str, Any]:
    """A task's document with its id; by default one question with randomised response of 8 answers."""
    if designs is None:
        designs = dn.mechanism("grr", epsilon=1.0, k=8).design
    several = [designs] if isinstance(designs, Mapping) else list(designs)
    document = {
        "version": 1,
        "subject": "sleep",
        "epsilon": max(design["epsilon"] for design in several),
        "questions": [
            {"name": f"q{i}", "text": f"Question {i}?", "design": design, "share": 1}
            for i, design in enumerate(several)
        ],
        "window": {"opens": DAY.isoformat(), "days": days, "count": count},
        "precision": "day",
        "min_batch": 10,
        "memory": "fresh",
        "budget": {"task": 40, "subject": 40, "lifetime": 40},
        "retention": {"keep": "tally"} if keep is None else {"keep": "reports", "days": int(keep)},
        "expires": "2030-01-01",
        **more,
    }
    if strata:
        document["strata"] = [{"name": name, "values": list(values)} for name, values in strata.items()]
    return seal(document)


def make_task(*args: Any, **kwargs: Any) -> Task:
    """The task itself."""
    return Task.load(task_document(*args, **kwargs))


def opened(store: Store, *args: Any, **kwargs: Any) -> Task:
    """A task that a store has and that is open."""
    document = task_document(*args, **kwargs)
    task = Task.load(document)
    store.put_task(task.id, canonical(document))
    store.set_state(task.id, "open")
    return task


def fresh_id() -> bytes:
    """An id as devices make them."""
    return os.urandom(16)


def report(value: int, id: bytes | None = None) -> Incoming:
    """A report of randomised response with up to 256 answers, for a task with one question and no strata."""
    return Incoming(fresh_id() if id is None else id, bytes([value]))


def body(task: Task, question: int, strata: Iterable[int], sent: bytes) -> bytes:
    """A body by the protocol: numbers, the report, zeros."""
    head = bytes([question] if len(task.questions) > 1 else []) + bytes(strata)
    return (head + sent).ljust(task.width, b"\0")
