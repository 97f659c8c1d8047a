"""Ends of what lasts: sessions, failed sign-ins, what waits to be written, what is kept of flights, and upkeep."""

from __future__ import annotations

import asyncio
import logging
import sys
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from deniable.service.access.identity import Identity
from deniable.service.access.keys import new_key, revoke
from deniable.service.access.sessions import Failures, begin, end, erase, is_local, visitor
from deniable.service.limits.clocks import Watch
from deniable.service.limits.flights import Flights
from deniable.service.limits.held import CrowdedError, Held
from deniable.service.limits.turns import short_turns
from deniable.service.settings import Settings
from deniable.service.store.contract import Outcome, TaskRow, Upload
from deniable.service.upkeep import Upkeep
from deniable.service.writer import OverloadedError, Writer
from deniable_client.canonical import canonical
from service.calling import task_of
from service.making import DAY, report
from service.memory import MemoryStore

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
START = int(NOW.timestamp())
SETTINGS = Settings(session_seconds=10_000, session_idle_seconds=600)


# ---- sessions


def signed_in() -> tuple[MemoryStore, str]:
    store = MemoryStore()
    new_key(store, "analyst", today=NOW.date())
    return store, begin(store, "analyst-1", NOW, SETTINGS)


def seen(store: MemoryStore, token: str, seconds: int, *, used: bool = True) -> bool:
    return visitor(store, token, NOW + timedelta(seconds=seconds), SETTINGS, used=used) is not None


@pytest.mark.parametrize(
    ("seconds", "valid"), [(-301, False), (-300, True), (0, True), (599, True), (600, False), (10_000, False)]
)
def test_a_session_that_is_not_used_ends_after_its_time_to_the_second(seconds: int, valid: bool) -> None:
    """Clocks of several processes may differ by five minutes: so much earlier it is believed, too."""
    store, token = signed_in()
    (row,) = store.sessions.rows.values()
    assert (row.key, row.created, row.expires, row.idle) == ("analyst-1", START, START + 10_000, START + 600)
    assert seen(store, token, seconds) == valid


def test_a_session_that_is_used_goes_on_and_ends_all_the_same() -> None:
    """Noted at most once a minute; what pages ask by themselves does not count, and 10,000 seconds are the end."""
    store, token = signed_in()

    def idle() -> int:
        (row,) = store.sessions.rows.values()
        return row.idle - START

    for seconds, used, after in (
        (59, True, 600), (60, False, 600), (60, True, 660), (119, True, 660), (120, True, 720), (700, True, 1300),
    ):  # fmt: skip
        assert seen(store, token, seconds, used=used)
        assert idle() == after
    for seconds in range(1200, 9900, 500):
        assert seen(store, token, seconds)
    assert idle() > 10_000
    assert seen(store, token, 9999)
    assert not seen(store, token, 10_000)


def test_a_session_ends_with_its_key_or_by_its_owner() -> None:
    store, token = signed_in()
    assert end(store, "nonsense") is None
    assert end(store, token) == "analyst-1"
    assert not seen(store, token, 1)
    assert end(store, token) is None
    store, token = signed_in()
    store._keys["analyst-1"] = SimpleNamespace(name="analyst-1", revoked=DAY, digest=b"x")  # type: ignore[assignment]
    assert not seen(store, token, 1)
    store, token = signed_in()
    revoke(store, "analyst-1", NOW.date())
    assert not seen(store, token, 1)


def test_sessions_that_are_over_are_erased() -> None:
    store, _ = signed_in()
    assert erase(store, NOW + timedelta(seconds=599)) == 0
    assert erase(store, NOW + timedelta(seconds=600)) == 1
    assert store.sessions.rows == {}


def test_failed_sign_ins_are_told_ten_at_once_and_one_in_six_seconds_after() -> None:
    """What was not told goes into the next line; rest beyond a minute is no credit."""
    failures = Failures()
    assert [failures.note(1000.0) for _ in range(12)] == [1] * 10 + [0, 0]
    assert failures.note(1005.9) == 0
    assert failures.note(1006.0) == 4
    assert failures.note(1006.1) == 0
    assert [failures.note(1018.1) for _ in range(3)] == [2, 1, 0]
    assert [failures.note(9000.0) for _ in range(11)] == [2, *[1] * 9, 0]


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("localhost", True), ("localhost:1", True), ("127.0.0.1", True), ("127.255.0.1:80", True), ("[::1]:80", True),
        ("[::1]", True), ("128.0.0.1", False), ("localhost.", False), ("example.org:80", False), ("10.0.0.1", False),
        ("127.0.0.1:x", False), ("[::2]:80", False), ("", False),
    ],
)  # fmt: skip
def test_which_hosts_are_this_machine(host: str, local: bool) -> None:
    assert is_local(host) == local


def test_the_seed_of_a_key_is_not_printed() -> None:
    made = Identity(bytes(range(32)))
    assert repr(made) == f"Identity(key={made.key!r})"
    assert made.seed.hex() not in repr(made)
    assert len(made.sign(b"x")) == 64
    assert made.sign(b"x") != made.sign(b"y")
    assert len(made.key) == 64


# ---- what waits to be written


class Store:
    """Takes what it is given, in lots."""

    def __init__(self) -> None:
        self.lots: list[list[int]] = []

    def add(self, uploads: Any) -> list[list[Outcome]]:
        self.lots.append([len(upload.reports) for upload in uploads])
        return [[Outcome("accepted")] * len(upload.reports) for upload in uploads]


class Still(Writer):
    """A writer whose thread does nothing: the test takes its lots."""

    def _work(self) -> None:
        """Nothing."""


def upload(n: int) -> Upload:
    return Upload("t", DAY, [report(1)] * n)


def test_what_just_fits_waits_and_one_report_more_is_told_to_come_later() -> None:
    async def run() -> None:
        writer = Still(Store(), reports=10, waiting=30, patience=60.0)  # type: ignore[arg-type]
        waiting = [asyncio.ensure_future(writer.add(upload(n))) for n in (14, 15)]
        await asyncio.sleep(0)
        assert (writer.waiting, writer.full) == (29, False)
        with pytest.raises(OverloadedError, match="29 reports are waiting to be written"):
            await writer.add(upload(2))
        last = asyncio.ensure_future(writer.add(upload(1)))
        await asyncio.sleep(0)
        assert (writer.waiting, writer.full) == (30, True)
        with pytest.raises(OverloadedError, match="30 reports"):
            await writer.add(upload(1))
        for each in (*waiting, last):
            each.cancel()

    asyncio.run(run())


@pytest.mark.parametrize(
    ("sizes", "lots"),
    [
        ([3, 3, 4, 1], [[3, 3, 4], [1]]),
        ([3, 3, 5], [[3, 3], [5]]),
        ([10, 1], [[10], [1]]),
        ([11, 1], [[11], [1]]),
        ([1, 11, 1], [[1], [11], [1]]),
        ([5], [[5]]),
    ],
)
def test_a_transaction_takes_as_many_as_it_may_and_at_least_one_upload(sizes: list[int], lots: list[list[int]]) -> None:
    async def run() -> list[list[int]]:
        writer = Still(Store(), reports=10, waiting=1000, patience=60.0)  # type: ignore[arg-type]
        waiting = [asyncio.ensure_future(writer.add(upload(n))) for n in sizes]
        await asyncio.sleep(0)
        found = []
        while writer._queue:
            found.append([len(each.upload.reports) for each in writer._take()])
        writer._stopping = True
        assert writer._take() == [], "at the end there is nothing"
        for each in waiting:
            each.cancel()
        return found

    assert asyncio.run(run()) == lots


def test_nobody_is_taken_while_the_oldest_waits_longer_than_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("deniable.service.writer.time", SimpleNamespace(monotonic=lambda: now[0]))

    async def run() -> None:
        writer = Still(Store(), patience=0.25)  # type: ignore[arg-type]
        first = asyncio.ensure_future(writer.add(upload(1)))
        await asyncio.sleep(0)
        now[0] = 100.25
        assert not writer.full
        second = asyncio.ensure_future(writer.add(upload(1)))
        await asyncio.sleep(0)
        now[0] = 100.5  # the second one waits no longer than it may
        assert writer.full
        with pytest.raises(OverloadedError):
            await writer.add(upload(1))
        writer._take()
        assert not writer.full
        first.cancel()
        second.cancel()

    asyncio.run(run())


# ---- flights, memory, turns


def test_of_what_is_kept_the_one_goes_that_was_asked_for_longest_ago() -> None:
    async def run() -> None:
        made: list[str] = []
        flights: Flights[str, str] = Flights(2)

        async def ask(key: str) -> None:
            async def make() -> str:
                made.append(key)
                return key

            assert await flights.get(key, make) == key

        for key in ("a", "b", "a", "c", "a", "b"):
            await ask(key)
        assert made == ["a", "b", "c", "b"]

    asyncio.run(run())


def test_whoever_goes_away_does_not_end_the_work_that_others_wait_for() -> None:
    async def run() -> None:
        flights: Flights[str, str] = Flights(0)
        go, made = asyncio.Event(), list[int]()

        async def make() -> str:
            made.append(1)
            await go.wait()
            return "done"

        first, second = (asyncio.ensure_future(flights.get("a", make)) for _ in range(2))
        await asyncio.sleep(0)
        first.cancel()
        await asyncio.sleep(0)
        go.set()
        assert await second == "done"
        assert made == [1]
        assert await flights.get("a", make) == "done"
        assert made == [1, 1], "of none the result is kept"

    asyncio.run(run())


def test_memory_is_held_up_to_the_last_byte_and_given_back() -> None:
    held = Held(100)
    with held.lease() as one:
        one.take(99)
        one.take(1)
        with held.lease() as two, pytest.raises(CrowdedError):
            two.take(1)
        assert (held.now, one.size) == (100, 100)
        one.give_up = lambda: None
        with held.lease() as equal:
            equal.take(100)  # who holds as much as is asked for makes room
            assert (one.lost, one.size, held.now) == (True, 0, 100)
            one.take(0)
        with held.lease() as more:
            more.take(50)
            with pytest.raises(CrowdedError):
                one.take(51)
    assert (held.now, held.leases) == (0, {})


def test_turns_are_a_tenth_as_long_and_usual_again_in_whatever_order_they_end() -> None:
    usual = sys.getswitchinterval()
    one, two = short_turns(), short_turns()
    one.__enter__()
    assert sys.getswitchinterval() == pytest.approx(usual / 10)
    two.__enter__()
    one.__exit__(None, None, None)
    assert sys.getswitchinterval() == pytest.approx(usual / 10)
    two.__exit__(None, None, None)
    assert sys.getswitchinterval() == usual
    with pytest.raises(KeyError), short_turns():
        raise KeyError
    assert sys.getswitchinterval() == usual


# ---- upkeep


@pytest.fixture
def logged(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(logging.getLogger("deniable.service"), "propagate", True)
    caplog.set_level(logging.INFO, "deniable.service")
    return lambda: [(record.getMessage(), record.__dict__["facts"]) for record in caplog.records]


class Hook:
    """Keeps what it is told."""

    def __init__(self, on: bool) -> None:
        self.on, self.told = on, list[list[str]]()

    def __bool__(self) -> bool:
        return self.on

    def tell(self, found: Any) -> None:
        self.told.append([notice.document["event"] for notice in found])


def test_a_round_of_upkeep_erases_publishes_and_tells(logged: Any) -> None:
    """Drafts are left alone; what was erased is logged with its number, and nothing where nothing was."""
    store, now = MemoryStore(), [NOW]
    watch = Watch(store, 7, lambda: now[0], lambda: now[0].timestamp())
    for name in ("draft", "open"):
        document = task_of(subject=name, min_batch=1)
        store.put_task(document["id"], canonical(document))
    store.set_state(document["id"], "open")
    new_key(store, "analyst", today=NOW.date())
    begin(store, "analyst-1", NOW, SETTINGS)
    purged = [{"ids": 0, "bodies": 0}, {"ids": 7, "bodies": 0}]
    days: list[Any] = []

    def purge(today: Any, failed: Any) -> dict[str, int]:
        days.append(today)
        return purged.pop(0)

    store.purge = purge  # type: ignore[method-assign, assignment]
    hook = Hook(True)
    upkeep = Upkeep(store, watch, hook)  # type: ignore[arg-type]
    upkeep.round()
    assert (hook.told, logged(), len(store.sessions.rows)) == ([[]], [], 1)
    now[0] += timedelta(9)
    upkeep.round()
    assert (upkeep.notes, hook.told) == ([], [[], ["withheld"]])
    assert days == [NOW.date(), now[0].date()]
    assert logged() == [("erased", {"what": {"ids": 7}})]
    assert store.sessions.rows == {}


def test_a_webhook_without_addresses_is_not_asked() -> None:
    store = MemoryStore()
    hook = Hook(False)
    Upkeep(store, Watch(store, 7, lambda: NOW, lambda: 0.0), hook).round()  # type: ignore[arg-type]
    assert hook.told == []


def test_faults_are_those_of_the_last_round(logged: Any) -> None:
    store = MemoryStore()
    upkeep = Upkeep(store, Watch(store, 7, lambda: NOW, lambda: 0.0))
    for name in "ab":
        store._tasks[name * 64] = TaskRow(name * 64, b"{}", "open")
    upkeep.round()
    assert upkeep.faults == {"a" * 64: "FormatError", "b" * 64: "FormatError"}
    assert upkeep.notes == ["upkeep failed for 2 tasks; the log says which"]
    assert [facts["task"] for _, facts in logged()] == ["a" * 64, "b" * 64]
    del store._tasks["a" * 64]
    upkeep.round()
    assert upkeep.faults == {"b" * 64: "FormatError"}
    assert upkeep.notes == ["upkeep failed for 1 task; the log says which"]
    store._tasks.clear()
    upkeep.round()
    assert (upkeep.faults, upkeep.notes) == ({}, [])
