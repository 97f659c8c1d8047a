"""A draw is counted in one release: windows and tasks that devices send the same report to are not published twice."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import deniable as dn
from deniable.collect.tally import Tally
from deniable.service.ingest import Intake
from deniable.service.release import copies, publish, windows
from deniable.service.store import open_store
from deniable.service.store.contract import Incoming, Store, Upload
from deniable_client.task import Task
from service.making import DAY, fresh_id, opened

LEAST = 10
WEEK = timedelta(7)


@pytest.fixture
def store(tmp_path: Path) -> Any:
    store = open_store(f"sqlite:///{tmp_path}/x.db")
    yield store
    assert store.check() == []
    store.close()


def asked(store: Store, memory: str, **more: Any) -> Task:
    return opened(store, dn.mechanism("grr", epsilon=1.0, k=64).design, memory=memory, **{"count": 3} | more)


def answer(store: Store, task: Task, people: Iterable[int], window: int = 0) -> None:
    """Each sends the report that has the person's number: the same one in each window, under another id."""
    sent = [Incoming(fresh_id(), bytes([person])) for person in people]
    (found,) = store.add([Upload(task.id, DAY + window * WEEK, sent)])
    assert {outcome.status for outcome in found} == {"accepted"}


def told(store: Store, task: Task, window: int = 3) -> list[dict[str, Any]]:
    """What is published once so many windows are over: the first question of each."""
    row = store.task(task.id)
    assert row is not None
    now = datetime(2026, 11, 16, 12, tzinfo=UTC) + window * WEEK + timedelta(1)
    return [dict(w.document["questions"][0]) for w in windows(store, row, Intake(row.document), now) if w.document]


def counts(part: dict[str, Any]) -> list[int]:
    found = dn.load(b64decode(part["tally"]))
    assert isinstance(found, Tally)
    counted: list[int] = found.cells["support"][0].tolist()
    return counted


@pytest.mark.parametrize("memory", ["remembered", "first"])
def test_windows_of_the_same_people_cannot_be_subtracted(store: Store, memory: str) -> None:
    """Ten people, then the same ten and one more: the difference of the tallies would be that person's report."""
    task = asked(store, memory)
    answer(store, task, range(LEAST))
    answer(store, task, range(LEAST + 1), window=1)
    answer(store, task, range(40), window=2)
    first, second, third = told(store, task)
    assert counts(first)[:12] == [1] * 10 + [0, 0]
    for part in (second, third):
        assert part["state"] == "withheld"
        assert "tally" not in part
        assert "estimate" not in part
        assert "window 1 of this task is published" in part["why"]
        assert "counted in one release" in part["why"]


def test_the_first_window_that_reaches_the_batch_is_published(store: Store) -> None:
    task = asked(store, "remembered")
    answer(store, task, range(LEAST - 1))
    answer(store, task, range(LEAST), window=1)
    answer(store, task, range(LEAST), window=2)
    found = told(store, task)
    assert [part["state"] for part in found] == ["withheld", "published", "withheld"]
    assert "fewer than the minimum batch" in found[0]["why"]
    assert "window 2 of this task is published" in found[2]["why"]


def test_fresh_reports_are_published_in_every_window(store: Store) -> None:
    task = asked(store, "fresh")
    for window in range(3):
        answer(store, task, range(20 * window, 20 * window + LEAST), window)
    assert [part["state"] for part in told(store, task)] == ["published"] * 3
    assert not copies(task)


@pytest.mark.parametrize("memory", ["remembered", "first"])
def test_two_tasks_that_ask_one_question_are_like_two_windows(store: Store, memory: str) -> None:
    one, two = asked(store, memory, count=1), asked(store, memory, count=1, min_batch=LEAST - 1)
    assert one.questions[0].key == two.questions[0].key
    answer(store, one, range(LEAST))
    answer(store, two, range(LEAST + 1))
    assert [part["state"] for part in told(store, two)] == ["published"]
    (later,) = told(store, one)
    assert later["state"] == "withheld"
    assert f"window 1 of the task {two.id[:12]} is published" in later["why"]


def test_other_questions_and_fresh_tasks_are_no_copies(store: Store) -> None:
    tasks = [
        asked(store, "remembered", count=1),
        asked(store, "remembered", count=1, subject="food"),
        asked(store, "fresh", count=1),
    ]
    for task in tasks:
        answer(store, task, range(LEAST))
    assert [told(store, task)[0]["state"] for task in tasks] == ["published"] * 3


def test_a_question_of_a_task_may_be_published_later_than_the_others(store: Store) -> None:
    """Each question has its own first window."""
    designs = [dn.mechanism("grr", epsilon=1.0, k=64).design] * 2
    task = opened(store, designs, memory="remembered", count=2)
    for window, sizes in enumerate([(LEAST, 3), (LEAST, LEAST)]):
        for question, n in enumerate(sizes):
            sent = [Incoming(fresh_id(), bytes([question, person])) for person in range(n)]
            store.add([Upload(task.id, DAY + window * WEEK, sent)])
    row = store.task(task.id)
    assert row is not None
    found = windows(store, row, Intake(row.document), datetime(2026, 12, 16, tzinfo=UTC))
    states = [[part["state"] for part in w.document["questions"]] for w in found if w.document]
    assert states == [["published", "withheld"], ["withheld", "published"]]


def test_what_was_published_by_an_older_program_counts(store: Store) -> None:
    """Its databases have releases, and no note of which question they were about."""
    task = asked(store, "remembered")
    part = {"question": "q0", "text": "?", "reports": 12, "state": "published"}
    document = {"task": task.id, "window": 1, "state": "published", "reports": 12, "questions": [part]}
    store.put_release(task.id, 1, json.dumps(document).encode())
    answer(store, task, range(LEAST))
    first = told(store, task)[0]
    assert first["state"] == "withheld"
    assert "window 2 of this task is published" in first["why"]


def test_two_collectors_publish_one_of_two_windows(tmp_path: Path) -> None:
    """Both look before either has published: the one that notes the question first may publish it."""
    url = f"sqlite:///{tmp_path}/x.db"
    one, two = open_store(url), open_store(url)
    task = asked(one, "remembered", count=2)
    answer(one, task, range(LEAST))
    answer(one, task, range(LEAST), window=1)
    key = task.questions[0].key
    assert one.claimed(key) is None
    assert two.claim(key, task.id, 1) == (task.id, 1)
    assert one.claim(key, task.id, 0) == (task.id, 1)
    row = one.task(task.id)
    assert row is not None
    assert publish(one, row, Intake(row.document), datetime(2026, 12, 16, tzinfo=UTC)) == [0, 1]
    assert [part["state"] for part in told(two, task)] == ["withheld", "published"]
    one.close()
    two.close()
