"""Real devices against the real server: the Python client's ledger, from the task's address to the estimate."""

from __future__ import annotations

import urllib.request
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from deniable.service.settings import Settings
from deniable.service.tasks import Asked
from deniable_client import BudgetError, Task, WindowError
from deniable_client.ledger import Ledger
from service.calling import DESIGN, task_of
from service.running import Running


@pytest.fixture
def running() -> Iterator[Running]:
    with Running(Settings(port=0)) as found:
        found.service.now = datetime.now(UTC)
        document = task_of(opens=found.service.now.date(), min_batch=5, windows=2, subject="devices", budget=3)
        found.id = found.service.add(document)
        yield found


def fetched(running: Running, url: str) -> Task:
    with urllib.request.urlopen(f"{url}/v1/tasks/{running.id}") as answer:
        return Task.load(answer.read(), expect=running.id)


def test_devices_answer_and_are_counted_once(running: Running, tmp_path: Path) -> None:
    url = f"http://127.0.0.1:{running.port}"
    task = fetched(running, url)
    for number in range(8):
        ledger = Ledger(tmp_path / f"{number}.ledger", delay=0)
        receipt = ledger.answer(task, "often", url=url)
        again = ledger.answer(task, "often", url=url)
        assert receipt.id == again.id
        ledger.answer(task, "nothing that is listed", url=url)
        ledger.answer(task, "never", url=url)
        assert ledger.flush(url).sent == 1
        assert ledger.flush(url).sent == 0
        with pytest.raises(WindowError):
            ledger.answer(task, "often", url=url)
    running.service.store.set_state(running.id, "closed")
    told = running.service.get(f"/v1/tasks/{running.id}/estimate", running.service.key("analyst")).json["windows"]
    assert [(window["state"], window["reports"]) for window in told] == [("published", 8)]
    assert sum(told[0]["questions"][0]["estimate"]["value"]) == pytest.approx(1)


def test_a_device_that_was_told_to_wait_sends_the_same_report_later(running: Running, tmp_path: Path) -> None:
    url, now = f"http://127.0.0.1:{running.port}", [running.service.now.timestamp()]
    ledger = Ledger(tmp_path / "one.ledger", delay=0, clock=lambda: now[0])
    ledger.answer(fetched(running, url), "never", url=url)
    running.service.store.fails = True
    running.service.collector.forget(running.id)
    assert ledger.flush(url).sent == 0
    running.service.store.fails = False
    now[0] += 120  # more than a random pause of up to a minute and what the collector asked for
    assert ledger.flush(url).sent == 1
    assert [tally.n for tally in running.service.store.tallies(running.id).values()] == [1]


def test_a_device_declines_what_costs_more_than_its_person_allows(running: Running, tmp_path: Path) -> None:
    """Two windows fill the collector's place for this year; a further task is declined before it is asked."""
    ledger = Ledger(tmp_path / "one.ledger", delay=0)
    url = f"http://127.0.0.1:{running.port}"
    ledger.answer(fetched(running, url), "often", url=url)
    asked = Asked(text="And now?", design=DESIGN)
    document = task_of(asked, opens=running.service.now.date(), budget=3)
    running.service.add(document)
    other = Task.load(document)
    with pytest.raises(BudgetError):
        ledger.take(other, url=url)
    ledger.allow(task=other, epsilon=1, url=url)
    ledger.take(other, url=url)
    assert ledger.flush(url).sent == 2
