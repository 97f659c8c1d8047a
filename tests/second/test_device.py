"""The second time, of a device and its collector together: trouble at each statement of either, and on the way.

A device takes part in three windows and sends three reports. Each statement of its ledger and of the collector's
database fails once, or the device is dead from there on and starts again, or a second process of the device sends at
the same time; requests get lost, and answers do. Whatever happens, each window is paid for once and counted once, in
every time zone.
"""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from deniable.service.store import open_store
from deniable_client import DeniableError, Ledger
from deniable_client.ledger import outbox, windows
from deniable_client.ledger.http import Reply
from second.failing import Moments, died, failed, meanwhile, watched
from service.calling import Service
from service.making import DAY
from tasks import asked, noon, signed

WINDOW = {"opens": DAY.isoformat(), "days": 7, "count": 3}
TASK, DOCUMENT = signed(window=WINDOW), asked(window=WINDOW)
URL = "https://collector.example.org"
HOUR, DAYS, WEEK = 3600, 86_400, 7 * 86_400
ZONES = ("EAST-14", "UTC", "WEST+11")


class LostError(Exception):
    """What was on its way does not arrive."""


class World:
    """A device, a collector, and a network between them that may lose what it carries."""

    def __init__(self, folder: Path, moments: Moments, patch: pytest.MonkeyPatch) -> None:
        self.folder, self.moments, self.now = folder, moments, noon()
        self.store: Any = open_store(f"sqlite:///{folder / 'collector.db'}", settle_seconds=3600)
        self.service = Service(store=self.store)
        self.service.add(DOCUMENT)
        self.sent: Counter[str] = Counter()
        patch.setattr(outbox, "post", self.post)
        patch.setattr(windows, "seconds_up_to", lambda most: 0.0)  # moments are the first that there may be

    def device(self) -> Ledger:
        """The device's program, started anew."""
        return Ledger(self.folder / "ledger", clock=lambda: self.now, collector=10, delay=0)

    def post(self, url: str, body: bytes, timeout: float) -> Reply:
        try:
            self.moments.tick("request", LostError)
            self.service.to_day(DAY, 12)
            self.service.later(int((self.now - noon()) // DAYS))
            for report in json.loads(body)["reports"]:
                self.sent[report["id"]] += 1
            found = self.service.call("POST", url.removeprefix(URL), body, {"content-type": "application/json"})
            assert found is not None
            self.moments.tick("answer", LostError)
        except LostError:
            return Reply(0, {}, b"", "lost")
        return Reply(found.status, dict(found.headers), found.body)

    def counted(self) -> dict[int, int]:
        return {batch.window: tally.n for batch, tally in sorted(self.store.tallies(TASK.id).items())}


@pytest.fixture
def folder() -> Iterator[Path]:
    """In memory where there is such a place: each life syncs a few hundred times."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with TemporaryDirectory(dir=memory) as found:
        yield Path(found)


@contextmanager
def world(folder: Path, zone: str) -> Iterator[World]:
    folder.mkdir()
    with pytest.MonkeyPatch.context() as patch, watched(folder) as moments:
        patch.setenv("TZ", zone)
        time.tzset()
        made = World(folder, moments, patch)
        yield made
        moments.disarm()
        made.store.close()
    time.tzset()


def moment(window: int) -> float:
    """When a device wakes up: at noon of the first day, later in the second half of a week, late in UTC's evening."""
    return noon() + window * WEEK + (4 * DAYS + 11 * HOUR if window else 0)


def live(world: World, ledger: Ledger | None = None) -> None:
    """Take part, answer, and send in each window; what did not arrive is sent again the next day."""
    for window in range(3):
        world.now = moment(window)
        device = ledger or world.device()
        if window == 0:
            device.answer(TASK, "yes", url=URL)
        device.flush()
        world.now += DAYS
        device.flush()


def whole(folder: Path, zone: str, way: str, at: int) -> str:
    """A life with trouble at a moment, then the rest of it without: what the trouble was."""
    with world(folder, zone) as made:
        said = "nothing"
        ledger = made.device() if way == "failed" else None
        acts = {"failed": failed(made.moments), "died": died(made.moments)}
        acts["beside"] = meanwhile(made.moments, lambda: made.device().flush())
        made.moments.arm(at, acts[way])
        try:
            live(made, ledger)
        except DeniableError as error:
            said = type(error).__name__
        made.moments.disarm()
        stopped, total = made.now, Counter[str]()
        if not (made.folder / "ledger").exists() or not made.device().overview()["sent"]:
            made.device().answer(TASK, "yes", url=URL)
        for window in range(int((stopped - noon()) // WEEK), 3):  # what is left, once more the next day
            for later in (0, DAYS):
                made.now = max(made.now, moment(window)) + later
                found = (ledger or made.device()).flush()
                total += Counter(refused=found.refused, expired=found.expired)
        seen = made.device().overview()
        assert made.counted() == {0: 1, 1: 1, 2: 1}, f"{way} at {at} ({said}): lost, or counted twice"
        assert seen["left"]["spent"] == 3, f"{way} at {at} ({said}): paid otherwise"
        assert seen["counts"] == {"planned": 0, "waiting": 0, "sent": 3, "refused": 0, "expired": 0}
        assert (len(made.sent), total.total()) == (3, 0), "no window has a second report"
        assert way != "beside" or set(made.sent.values()) == {1}, "two processes sent one report"
        assert list(made.store.check()) == []
    return said


def moments_of(folder: Path) -> list[str]:
    with world(folder, "UTC") as made:
        made.moments.disarm()
        live(made)
        assert made.counted() == {0: 1, 1: 1, 2: 1}
        assert set(made.sent.values()) == {1}
        return list(made.moments.seen)


@pytest.mark.parametrize("way", ["failed", "died", "beside"])
def test_a_device_in_trouble_pays_and_is_counted_once(way: str, folder: Path) -> None:
    """A sample of the moments below, and some at which something is on its way."""
    seen = moments_of(folder / "whole")
    on_the_way = [at for at, what in enumerate(seen) if what in ("request", "answer")]
    assert len(on_the_way) == 6
    chosen = sorted({*range(60, len(seen), 211), *(on_the_way[1:3] if way != "beside" else [])})
    said = [whole(folder / str(at), ZONES[i % 3], way, at) for i, at in enumerate(chosen)]
    assert (set(said) <= {"nothing"}) is (way == "beside"), said


@pytest.mark.slow
@pytest.mark.turns(10)
@pytest.mark.parametrize("part", range(10))
@pytest.mark.parametrize("way", ["failed", "died", "beside"])
def test_a_device_in_trouble_at_many_moments(way: str, part: int, folder: Path) -> None:
    """Beside another process each transaction is a moment, else each statement; every third of them, all in all."""
    seen = moments_of(folder / "whole")
    every = [at for at, what in enumerate(seen) if way != "beside" or what.startswith("BEGIN")]
    for at in every[part::30]:
        whole(folder / str(at), ZONES[at % 3], way, at)
