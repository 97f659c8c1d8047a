"""Accounts: after every step, what a ledger tells of its places is what a model says that adds up by hand.

The steps are those of several tasks of two collectors, over weeks and in two processes: taken up, answered, forgotten
and taken up again, sent, refused, given up, and allowed more.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from deniable_client import Ledger, Task
from deniable_client.canonical import canonical
from deniable_client.ledger import outbox
from deniable_client.ledger.http import Reply
from tasks import noon, signed

LIMIT, PLACES, DAYS = 6, 3, 7
OWN = "https://person.example"
"""The address that the person answers to."""


def of(number: int, text: str, count: int, budget: int) -> Task:
    """A task of one of two collectors, in which each window costs 1."""
    private = Ed25519PrivateKey.from_private_bytes(bytes([number]) * 32)
    asks = [[{"name": "q", "text": text, "none": "no"}]]
    window = {"opens": "2026-11-16", "days": DAYS, "count": count}
    return signed(private, questions=asks, subject=text, window=window, budget=budget)


FIRST, SECOND = of(1, "One?", 3, 8), of(1, "Two?", 1, 1000)
OTHER = of(2, "Three?", 2, 4)
WHOSE: Mapping[str, str] = {FIRST.id: "a", SECOND.id: "a", OTHER.id: "b"}
COUNTS: Mapping[str, int] = {FIRST.id: 3, SECOND.id: 1, OTHER.id: 2}


@dataclass
class Account:
    """A place, as the model has it."""

    told: int
    allowed: int = 0
    opened: dict[str, set[int]] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)

    def document(self, week: int) -> dict[str, float]:
        """Its amounts in a week."""
        most, spent = min(LIMIT + self.allowed, self.told), sum(map(len, self.opened.values()))
        later = {task: set(range(week, COUNTS[task])) - self.opened.get(task, set()) for task in self.taken}
        reserved = sum(map(len, later.values()))
        return {"most": most, "spent": spent, "reserved": reserved, "left": max(0, most - spent - reserved)}


class Walk:
    """A ledger, opened anew for each step, beside the model of it."""

    def __init__(self, path: Path) -> None:
        self.path, self.week = path, 0
        self.accounts: dict[str, Account] = {}
        self.states: list[str] = []
        """What became of the reports that are not forgotten, in the order of their tasks."""

    def ledger(self) -> Ledger:
        return Ledger(self.path, clock=lambda: noon() + self.week * DAYS * 86_400, collector=LIMIT, places=PLACES)

    def take(self, task: Task, budget: int) -> None:
        assert self.ledger().take(task, url=OWN).cost == 1
        own = self.accounts.setdefault(WHOSE[task.id], Account(budget))
        own.told = min(own.told, budget)
        own.taken.add(task.id)
        own.opened.setdefault(task.id, set()).add(self.week)
        self.states.append("waiting")

    def forget(self, task: Task, left: list[str]) -> None:
        self.ledger().forget(task)
        self.accounts[WHOSE[task.id]].taken.discard(task.id)
        self.states = left

    def check(self) -> None:
        seen = self.ledger().overview()
        assert [{name: place[name] for name in ("most", "spent", "reserved", "left")} for place in seen["places"]] == [
            account.document(self.week) for account in self.accounts.values()
        ]
        assert [report["state"] for report in seen["sent"]] == self.states
        lost = sum(state in ("refused", "expired") for state in self.states)
        assert seen["lost"] == {"reports": lost, "epsilon": lost}
        assert seen["counts"] == {state: self.states.count(state) for state in seen["counts"]}
        total = sum(len(windows) for account in self.accounts.values() for windows in account.opened.values())
        exported = self.ledger().export()
        assert (seen["left"]["spent"], sum(each["epsilon"] for each in exported["spent"])) == (total, total)
        assert seen["left"]["places"] == PLACES - len(self.accounts)
        assert [exported[name] for name in ("places", "left", "lost")] == [seen[n] for n in ("places", "left", "lost")]
        with sqlite3.connect(self.path) as link:  # what was taken up once more took the place of what was there
            names = [task for (task,) in link.execute("SELECT task FROM taken ORDER BY task")]
        assert names == sorted(task for account in self.accounts.values() for task in account.opened)


def answering(monkeypatch: pytest.MonkeyPatch, fates: Mapping[str, str]) -> None:
    """A collector that says this of the reports of each task; of others nothing."""

    def post(url: str, body: bytes, timeout: float) -> Reply:
        (told,) = json.loads(body)["reports"]
        fate = next((fate for task, fate in fates.items() if f"/{task}/" in url), None)
        if fate is None:
            return Reply(0, {}, b"", "no answer")
        return Reply(200, {}, canonical({"results": [{"id": told["id"], "status": fate}]}))

    monkeypatch.setattr(outbox, "post", post)


def test_accounts_are_those_of_the_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    walk = Walk(tmp_path / "ledger")
    walk.take(FIRST, 8)
    walk.check()
    walk.take(SECOND, 1000)  # who says more later does not get it
    walk.check()
    walk.ledger().allow(task=FIRST, epsilon=4)  # without its address: the ledger knows where it is answered
    walk.accounts["a"].allowed += 4
    walk.check()
    assert walk.accounts["a"].document(0)["most"] == 8, "the collector's own budget still holds"
    walk.take(OTHER, 4)
    walk.check()
    answering(monkeypatch, {FIRST.id: "accepted", OTHER.id: "rejected"})
    walk.ledger().flush()
    walk.states = ["sent", "waiting", "refused"]
    walk.check()
    walk.forget(FIRST, ["waiting", "refused"])
    walk.check()
    walk.week = 1
    walk.take(FIRST, 8)
    walk.check()
    walk.ledger().flush()  # what nobody confirmed in a week is given up, and the next window of the other is planned
    walk.states = ["expired", "refused", "sent", "planned"]
    walk.check()
    walk.week = 2
    walk.ledger().flush()  # that one was never opened: it costs nothing, and is not reserved any more
    walk.states = ["expired", "refused", "sent", "planned"]
    walk.check()
    assert walk.accounts["b"].document(2) == {"most": 4, "spent": 1, "reserved": 0, "left": 3}
