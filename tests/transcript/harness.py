"""The law of everything that leaves a device, enumerated: real ledger code, all coins of its reports, scripted servers.

A *history* is private: what is answered in each window, in time, late or never. A *setting* is public: what servers
answer, whether another collector asks too, which coins choose the moments. A *transcript* is all that can be seen: when
something is sent, to whom, for which task, its bytes, and by which role of id; and so also when nothing is sent.
"""

from __future__ import annotations

import math
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from deniable_client import Ledger, Task, WindowError
from deniable_client.ledger import memory, outbox, windows
from deniable_client.ledger.http import Reply
from deniable_client.ledger.store import Store
from tasks import noon, signed

__all__ = ["KEEP", "Device", "Real", "Setting", "Transcript", "law", "ratio", "schedule"]

WORD = 1 << 64
KEEP = 2 * WORD // 3
"""A report of the two answers is true with this chance out of 2^64: ratio 2, and not a bit more."""
EPSILON = math.nextafter(math.log(2), 1)
DESIGN = {
    "mechanism": "grr",
    "version": 1,
    "epsilon": EPSILON,
    "domain": {"k": 2},
    "params": {},
    "kernel": {"kind": "response", "k": "2", "keep": str(KEEP)},
}
HOUR, DAY = 3600, 86_400
Event = tuple[Any, ...]
Transcript = tuple[Event, ...]
Coins = Mapping[tuple[str, int], bool]
"""For each task (A or B) and window: whether its report is the answer itself."""


@cache
def task_of(name: str, count: int) -> Task:
    """A task of collector A or B: so many windows of a day."""
    private = Ed25519PrivateKey.from_private_bytes(name.encode() * 32)
    return signed(
        private,
        url=f"https://{name.lower()}.example",
        epsilon=EPSILON,
        design=DESIGN,
        questions=[[{"name": "q", "text": f"{name}?", "none": 0}]],
        window={"opens": "2026-11-16", "days": 1, "count": count},
        subject="the same",
    )


Answer = Callable[[str, int, int], Reply]
"""What a server answers: to a collector, for its n-th request, for the m-th request about a report."""


@dataclass(frozen=True)
class Setting:
    """What is public."""

    windows: int
    server: Answer
    other: bool = False
    """Whether collector B asks too, in one window."""
    moment: Fraction = Fraction(1, 2)
    """Where in its interval every random time is."""
    days: int = 4

    def slots(self) -> list[tuple[str, int]]:
        """Windows that there are."""
        return [("A", i) for i in range(self.windows)] + [("B", 0)] * self.other


@dataclass
class Seen:
    """What the network sees."""

    server: Answer
    now: float = 0
    events: list[Event] = field(default_factory=list)
    roles: dict[str, int] = field(default_factory=dict)
    requests: dict[str, int] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def post(self, url: str, body: bytes, timeout: float) -> Reply:
        """One request."""
        import json

        row = json.loads(body)["reports"][0]
        with self.lock:
            peer = url[8:9].upper()
            role = self.roles.setdefault(row["id"], len(self.roles))
            before = sum(event[3] == role for event in self.events)
            self.requests[peer] = self.requests.get(peer, 0) + 1
            self.events.append((self.now - noon(), peer, url.count("/"), role, row["report"], len(body)))
            reply = self.server(peer, self.requests[peer], before)
        if reply.status == 200 and reply.body == b"accept":
            return Reply(200, {}, json.dumps({"results": [{"id": row["id"], "status": "accepted"}]}).encode())
        return reply


class Coin:
    """Words of which all that matters is whether they are below the threshold."""

    bits = 64

    def __init__(self, kept: bool) -> None:
        self._kept = kept

    def word(self) -> int:
        """The least word, or the greatest."""
        return 0 if self._kept else WORD - 1


class Device:
    """What is put to the test."""

    def __init__(self, setting: Setting, seen: Seen, coins: Coins) -> None:
        self.setting, self.seen, self.coins = setting, seen, coins

    def take(self, name: str) -> None:
        """Take part in the task of A or B."""

    def answer(self, name: str, window: int, value: object) -> None:
        """The person answers, or tries to."""

    def tick(self) -> None:
        """A timer."""


class Real(Device):
    """A ledger as it is, with its file in memory, coins given, and the network replaced."""

    def __init__(self, setting: Setting, seen: Seen, coins: Coins) -> None:
        super().__init__(setting, seen, coins)
        self.tasks = {"A": task_of("A", setting.windows), "B": task_of("B", 1)}
        self.names = {task.id: name for name, task in self.tasks.items()}
        self.db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        self.lock = threading.RLock()
        with self.replaced():
            self.ledger = Ledger("memory", clock=lambda: seen.now, collector=3)

    @contextmanager
    def replaced(self) -> Iterator[None]:
        """The file, the network and the coins, for as long as this lasts."""

        @contextmanager
        def connected(store: Store) -> Iterator[sqlite3.Connection]:
            with self.lock:
                try:
                    yield self.db
                finally:
                    if self.db.in_transaction:
                        self.db.execute("ROLLBACK")

        def words(source: object, question: str, answer: object, level: object, task: str, window: int) -> Coin:
            return Coin(self.coins[self.names[task], window])

        def time_of(most: float) -> float:
            return int(most * self.setting.moment * 1000) / 1000

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Store, "_connected", connected)
            patch.setattr(memory.Drawn, "report_words", words)
            patch.setattr(outbox, "post", self.seen.post)
            patch.setattr(outbox, "seconds_up_to", time_of)
            patch.setattr(windows, "seconds_up_to", time_of)
            yield

    def take(self, name: str) -> None:
        with self.replaced():
            self.ledger.take(self.tasks[name])

    def answer(self, name: str, window: int, value: object) -> None:
        with self.replaced(), suppress(WindowError):  # it is too late: the person sees that, and nobody else
            self.ledger.answer(self.tasks[name], value)

    def tick(self) -> None:
        with self.replaced():
            self.ledger.flush(due=True)


TIMER = (15, 45, 75, 365, 660, 715)
"""Minutes after noon at which the timer calls, every day."""
SAYS: Mapping[str, Sequence[tuple[float, object]]] = {
    "0": [(0.05, 0)],
    "1": [(0.05, 1)],
    "outside": [(0.05, 7.25)],
    "none": [],
    "late": [(11.9, 1)],
    "changed": [(0.05, 0), (0.1, 1)],
}
"""What a person says in a window: hours after its noon (the first window) or its beginning, and the value."""
History = Mapping[tuple[str, int], str]


def schedule(make: type[Device], setting: Setting, history: History, coins: Coins) -> Transcript:
    """A life: taking part at noon, answers as the history says, a timer, to the last day; what could be seen of it."""
    seen = Seen(setting.server)
    seen.now = start = noon()
    device = make(setting, seen, coins)
    acts: list[tuple[float, int, Callable[[], None]]] = [(start, 0, lambda: device.take("A"))]
    if setting.other:
        acts.append((start + 60, 0, lambda: device.take("B")))
    for (name, window), says in history.items():
        for hours, value in SAYS[says]:
            begins = start + 120 if window == 0 else start - DAY / 2 + window * DAY

            def act(name: str = name, window: int = window, value: object = value) -> None:
                device.answer(name, window, value)

            acts.append((begins + hours * HOUR, 1, act))
    ticks = [start + day * DAY + minutes * 60 for day in range(setting.days) for minutes in TIMER]
    acts += [(moment, 2, device.tick) for moment in ticks]
    for moment, _, act in sorted(acts, key=lambda each: each[:2]):
        seen.now = moment
        act()
    return tuple(sorted(seen.events))


def law(make: type[Device], setting: Setting, history: History) -> dict[Transcript, Fraction]:
    """The probability of each transcript, over all coins of the reports."""
    slots, found = setting.slots(), {}
    for kept in product((True, False), repeat=len(slots)):
        chance = Fraction(1)
        for each in kept:
            chance *= Fraction(KEEP, WORD) if each else 1 - Fraction(KEEP, WORD)
        seen = schedule(make, setting, history, dict(zip(slots, kept, strict=True)))
        found[seen] = found.get(seen, Fraction(0)) + chance
    return found


def ratio(one: Mapping[Transcript, Fraction], two: Mapping[Transcript, Fraction]) -> Fraction | float:
    """How much more likely a transcript can be under one law than under another."""
    if set(one) - set(two):
        return math.inf
    return max(one[seen] / two[seen] for seen in one)
