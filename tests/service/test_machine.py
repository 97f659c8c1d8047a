"""A machine that does to a collector whatever the world does, with a model beside it that is too simple to be wrong.

Uploads, replays, the same report from many at once, requests and answers that get lost, restarts with and without a
warning, clocks that jump, windows that end, keys that are replaced, erasing, backups: after each step the service must
have answered, counted and kept what the model says.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from deniable.service.access.keys import new_key, rotate
from deniable.service.limits.clocks import confirm
from deniable.service.store import open_store
from deniable.service.store.contract import Batch, Outcome, Upload
from deniable.service.writer import Writer
from deniable_client.task import Task
from service.calling import Reply, Service, item
from service.making import DAY, opened

STEPS = int(os.environ.get("DENIABLE_STEPS", "5000"))
"""How many steps the slow test does; all of it: DENIABLE_STEPS=100000."""
_PER_RUN = 50
DAYS, COUNT = 3, 3


class Running(Service):
    """The application on a real store, by way of group commit."""

    writer: Writer

    async def submit(self, upload: Upload) -> Sequence[Outcome]:
        return await self.writer.add(upload)

    def together(self, path: str, bodies: Sequence[bytes]) -> list[Reply | None]:
        """Several requests at the same time."""

        async def run() -> list[Reply | None]:
            kind = {"content-type": "application/json"}
            return await asyncio.gather(*(self._call("POST", path, [body], kind) for body in bodies))

        return asyncio.run(run())


@dataclass
class Known:
    """What the model knows of a task."""

    task: Task
    counted: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Body and window of each report, by its number."""
    sealed: set[int] = field(default_factory=set)
    rejected: Counter[str] = field(default_factory=Counter)
    published: dict[int, Any] = field(default_factory=dict)
    closed: bool = False
    dropped: bool = False
    erased: bool = False

    def outcome(self, number: int, body: int, today: date) -> str:
        """What must become of a report."""
        found = self._outcome(number, body, today)
        if found not in ("accepted", "duplicate"):
            self.rejected[found] += 1
        return found

    def _outcome(self, number: int, body: int, today: date) -> str:
        if body >= 8:
            return "impossible"
        if number in self.counted and not self.dropped:
            return "duplicate" if self.counted[number][0] == body else "other-body"
        if self.closed:
            return "not-open"
        day = (today - DAY).days
        if not -1 <= day < DAYS * COUNT + 1:
            return "early" if day < 0 else "late"
        window = min(max(day, 0), DAYS * COUNT - 1) // DAYS
        if window in self.sealed:
            return "sealed"
        self.counted[number] = body, window
        return "accepted"

    def over(self, window: int, now: datetime) -> bool:
        """Whether a window takes no more reports."""
        end = DAYS * (window + 1) + (window == COUNT - 1)
        return self.closed or (now - timedelta(minutes=5)).date() >= DAY + timedelta(end)

    def publish(self, now: datetime, least: int = 0) -> None:
        """Windows that are over are sealed when somebody looks at them."""
        begun = min(COUNT, (now.date() - DAY).days // DAYS + 1)
        self.sealed |= {w for w in range(max(begun, least)) if self.over(w, now)}

    def purge(self, today: date) -> None:
        """What need not be kept is erased; a task without ids is closed."""
        day = (today - DAY).days
        if self.closed or day >= DAYS * COUNT + 1:
            self.closed = self.dropped = True
        if day >= DAYS * COUNT + 5:
            self.erased = True


class Collecting(RuleBasedStateMachine):
    """The machine."""

    @initialize()
    def start(self) -> None:
        memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.folder = Path(tempfile.mkdtemp(dir=memory))
        self.url = f"sqlite:///{self.folder}/x.db"
        self.abandoned: list[Any] = []
        self._open(datetime(2026, 11, 16, 12, tzinfo=UTC))
        store: Any = self.service.store
        self.known = [
            Known(opened(store, days=DAYS, count=COUNT)),
            Known(opened(store, days=DAYS, count=COUNT, keep="5")),
        ]
        name, key = new_key(store, "analyst", today=self.today)
        self.keys: dict[str, tuple[str, date | None]] = {name: (key, None)}

    def teardown(self) -> None:
        if hasattr(self, "service"):
            self._close()
            for writer, store in self.abandoned:
                asyncio.run(writer.close())
                store.close()
            shutil.rmtree(self.folder)

    def _open(self, now: datetime) -> None:
        store: Any = open_store(self.url)
        confirm(store, now)  # whoever starts it has looked at the clock: how it is doubted is tested elsewhere
        self.service = Running(store=store, now=now)
        self.service.collector.believed()
        self.service.writer = Writer(store, patience=60)  # the model knows no machine that stands still

    def _close(self) -> None:
        asyncio.run(self.service.writer.close())
        self.service.store.close()  # type: ignore[attr-defined]  # a real store has something to close

    @property
    def today(self) -> date:
        return self.service.now.date()

    # ---- devices

    reports = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 9)), min_size=1, max_size=6)
    which = st.integers(0, 1)

    @rule(which=which, reports=reports)
    def upload(self, which: int, reports: list[tuple[int, int]]) -> None:
        known = self.known[which]
        expected = [known.outcome(number, body, self.today) for number, body in reports]
        found = self.service.fates(known.task.id, *(item(number, bytes([body])) for number, body in reports))
        assert found == expected

    @rule(which=which, reports=reports)
    def answer_is_lost(self, which: int, reports: list[tuple[int, int]]) -> None:
        known = self.known[which]
        for number, body in reports:
            known.outcome(number, body, self.today)
        self.service.send(known.task.id, *(item(number, bytes([body])) for number, body in reports))

    @rule(which=which, number=st.integers(0, 30), cut=st.integers(0, 60))
    def request_is_lost(self, which: int, number: int, cut: int) -> None:
        body = _json(item(number))[:cut]
        path = f"/v1/tasks/{self.known[which].task.id}/reports"
        kind = {"content-type": "application/json", "content-length": "80"}
        assert self.service.call("POST", path, headers=kind, parts=[body, None]) is None

    @rule(which=which, number=st.integers(0, 30), body=st.integers(0, 8), times=st.integers(2, 5))
    def many_at_once(self, which: int, number: int, body: int, times: int) -> None:
        known = self.known[which]
        expected = Counter(known.outcome(number, body, self.today) for _ in range(times))
        path = f"/v1/tasks/{known.task.id}/reports"
        replies = self.service.together(path, [_json(item(number, bytes([body])))] * times)
        results = [reply.json["results"][0] for reply in replies if reply is not None]
        assert Counter(result.get("reason") or result["status"] for result in results) == expected

    # ---- time and machines

    @rule(days=st.integers(-4, 4), hour=st.sampled_from((0, 12, 23)))
    def clock_jumps(self, days: int, hour: int) -> None:
        self.service.to_day(self.today + timedelta(days), hour)

    @rule()
    def far_away(self) -> None:
        self.service.to_day(DAY + timedelta(9), 12)

    @rule(warned=st.booleans())
    def restart(self, warned: bool) -> None:
        now = self.service.now
        if warned:
            self._close()
        else:
            self.abandoned.append((self.service.writer, self.service.store))
        self._open(now)

    # ---- people who look after it

    @rule()
    def upkeep(self) -> None:
        self.service.collector.tidy()
        for known in self.known:
            known.publish(self.service.now)
        for known in self.known:
            known.purge(self.today)

    @rule(which=which)
    def closed_by_hand(self, which: int) -> None:
        known = self.known[which]
        if len(known.counted) > 12:  # not at once, or nothing else would happen
            self.service.store.set_state(known.task.id, "closed")
            self.service.collector.forget(known.task.id)
            known.closed = True

    @rule(which=which)
    def results(self, which: int) -> None:
        known = self.known[which]
        valid = [key for key, void in self.keys.values() if void is None or self.today < void]
        if not valid:
            return
        reply = self.service.get(f"/v1/tasks/{known.task.id}/estimate", {"authorization": f"Bearer {valid[0]}"})
        assert reply.status == 200
        most = max((window for _, window in known.counted.values()), default=-1)
        known.publish(self.service.now, most + 1)
        for window in reply.json["windows"]:
            n = sum(place == window["window"] for _, place in known.counted.values())
            assert window["reports"] == n
            assert (window["state"] != "open") == (window["window"] in known.sealed)
            if window["state"] != "open":
                assert known.published.setdefault(window["window"], window) == window
                assert (window["state"] == "published") == (n >= known.task.min_batch)

    @rule(days=st.integers(0, 3))
    def key_is_replaced(self, days: int) -> None:
        name = next((name for name, (_, void) in self.keys.items() if void is None), None)
        if name is not None and len(self.keys) < 6:
            store: Any = self.service.store
            made, key, until = rotate(store, name, today=self.today, days=days)
            void = until if days else date.min  # at once, whatever the clock says later
            self.keys |= {name: (self.keys[name][0], void), made: (key, None)}

    @rule()
    def keys_are_tried(self) -> None:
        for key, void in self.keys.values():
            reply = self.service.get("/v1/tasks", {"authorization": f"Bearer {key}"})
            assert reply.status == (200 if void is None or self.today < void else 401)
        assert self.service.get("/v1/tasks").status == 401

    @rule()
    def settled(self) -> None:
        self.service.store.settle()

    @rule()
    def check(self) -> None:
        assert list(self.service.store.check()) == []

    @rule()
    def backup(self) -> None:
        path = self.folder / "copy"
        self.service.store.backup(path)
        copy = open_store(f"sqlite:///{path}")
        self._compare(copy)
        copy.close()
        for left in self.folder.glob("copy*"):
            left.unlink()

    @invariant()
    def model_and_service_agree(self) -> None:
        if hasattr(self, "service"):
            self._compare(self.service.store)

    def _compare(self, store: Any) -> None:
        for known in self.known:
            expected: dict[Batch, list[int]] = {}
            for body, window in known.counted.values():
                expected.setdefault(Batch(window, 0, ()), [0] * 8)[body] += 1
            tallies = store.tallies(known.task.id)
            assert {batch: tally.cells["support"][0].tolist() for batch, tally in tallies.items()} == expected
            assert store.rejections(known.task.id) == dict(known.rejected)
            if known.task.keep == "reports":
                kept = {batch: sorted(body[0] for body in store.reports(known.task.id, batch)) for batch in expected}
                whole = {b: [v for v, n in enumerate(counts) for _ in range(n)] for b, counts in expected.items()}
                assert kept == ({batch: [] for batch in expected} if known.erased else whole)


def _json(*items: dict[str, str]) -> bytes:
    inner = ",".join(f'{{"id":"{each["id"]}","report":"{each["report"]}"}}' for each in items)
    return f'{{"reports":[{inner}]}}'.encode()


def run(steps: int) -> None:
    """So many steps, in runs of some."""
    chosen = settings(
        max_examples=max(1, steps // _PER_RUN),
        stateful_step_count=_PER_RUN,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(Collecting, settings=chosen)  # type: ignore[no-untyped-call]


def test_model_and_service_agree() -> None:
    run(150)


@pytest.mark.slow
def test_model_and_service_agree_for_long() -> None:
    run(STEPS)
