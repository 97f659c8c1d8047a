"""What tests of pages share: a collector with tasks of every kind, some of them with estimates."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest

import deniable as dn
from js.conftest import node
from pages.asks import EVIL, TODAY, Paged, fill, kinds, mechanisms, signed_in, task

__all__ = ["Shown", "node", "published", "shown"]


@dataclass
class Shown:
    """A service whose tasks were answered a week ago, with their ids by kind, and the headers of an administrator."""

    service: Paged
    ids: dict[str, str]
    headers: dict[str, str]


def evil() -> Any:
    """A design whose labels try to be more than text."""
    return dn.mechanism("ss", epsilon=1.0, labels=EVIL)


def published(n: int = 60) -> Shown:
    """Every kind of task with one window that is over, and `evil` with names that try to be more."""
    service = Paged()
    begun = TODAY - timedelta(14)
    made, tasks = mechanisms(), kinds(opens=begun, windows=4, budget=8)
    made["evil"] = [evil()]
    words = {"collector": "<b>us</b>", "subject": "<i>subject</i>", "windows": 4, "budget": 8}
    tasks["evil"] = task(made["evil"], f"{EVIL[0]}{EVIL[2]}", opens=begun, **words)
    ids = {}
    for seed, (name, document) in enumerate(tasks.items()):
        ids[name] = service.add(document)
        for week in range(2):
            fill(service.store, document, made[name], n, day=begun + timedelta(7 * week), seed=seed, shift=week)
    return Shown(service, ids, signed_in(service))


@pytest.fixture(scope="session")
def shown() -> Shown:
    return published()
