"""All small cases: four people, two windows, two strata, a minimum batch of two; what a reader of all can compute.

People are alike, so a case is how many of them have each history: absent, in the first stratum or in the second one, in
each of two windows, 495 cases. A draw is its own report, so a tally says which draws it counts.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import cache
from itertools import combinations_with_replacement, product
from typing import Any

import pytest

import deniable as dn
from deniable.collect.codec import dump
from deniable.collect.reports import Reports
from deniable.collect.tally import Tally
from deniable.service import release
from deniable.service.ingest import Intake
from deniable.service.store.contract import Batch, TaskRow
from deniable_client.canonical import canonical
from service.making import task_document
from service.memory import MemoryStore
from service.reader import Reader

LEAST, PEOPLE = 2, 4
NOW = datetime(2027, 1, 1, tzinfo=UTC)
M = dn.mechanism("grr", epsilon=1.0, k=2 * PEOPLE)
ONE = [M.tally(Reports.from_rows(M.design, M.fields, [bytes([n])], simulated=False)) for n in range(2 * PEOPLE)]
ABSENT = 2
History = tuple[int, int]
"""The stratum of a person in each window, or ABSENT."""


@pytest.fixture(autouse=True)
def only_tallies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Estimates and certificates are functions of tallies and tasks, and take time; tasks are proved once."""
    monkeypatch.setattr(release, "_estimated", lambda question, m, tally: {"tally": b64encode(dump(tally)).decode()})
    monkeypatch.setattr(release, "certificate", lambda task, question, m: {})
    monkeypatch.setattr(release, "Intake", cache(Intake))


@cache
def asked(memory: str, tasks: int) -> list[tuple[TaskRow, Intake]]:
    """A task of two windows, or two tasks of one that ask the same; closed."""
    terms: dict[str, Any] = {"strata": {"s": ["0", "1"]}, "memory": memory, "count": 2 // tasks, "min_batch": LEAST}
    made = [task_document(M.design, expires=f"2030-01-0{1 + i}", **terms) for i in range(tasks)]
    rows = [TaskRow(document["id"], canonical(document), "closed") for document in made]
    return [(row, Intake(row.document)) for row in rows]


def cases() -> Iterator[Sequence[History]]:
    yield from combinations_with_replacement(list(product((0, 1, ABSENT), repeat=2)), PEOPLE)


def published(people: Sequence[History], memory: str, *, tasks: int = 1) -> Reader:
    """What is published when each person answers as the history says, in two windows of a task or in two tasks."""
    found = asked(memory, tasks)
    store, reader = MemoryStore(_tasks={row.id: row for row, _ in found}), Reader()
    for person, history in enumerate(people):
        for window, stratum in enumerate(history):
            if stratum != ABSENT:
                draw = ONE[2 * person + window if memory == "fresh" else person]
                cells = store._tallies.setdefault(found[window % tasks][0].id, {})
                batch = Batch(window if tasks == 1 else 0, 0, (stratum,))
                cells[batch] = cells[batch] + draw if batch in cells else draw
    for row, intake in found:
        for told in release.windows(store, row, intake, NOW):
            _see(reader, told.document)
    return reader


def _see(reader: Reader, document: Any) -> None:
    for part in document["questions"]:
        for told in (part, *part.get("groups", ())):
            if "tally" in told:
                tally = dn.load(b64decode(told["tally"]))
                assert isinstance(tally, Tally)
                reader.see({draw: int(n) for draw, n in enumerate(tally.cells["support"][0])})


def read(memory: str, **more: Any) -> tuple[int, int, int]:
    """Cases, those in which something is published, and those in which a set below the minimum batch is computed."""
    seen = few = n = 0
    for people in cases():
        reader = published(people, memory, **more)
        atoms = reader.atoms()
        seen += bool(atoms)
        found = list(reader.sets(LEAST))
        few += bool(found)
        assert found or all(len(draws) >= LEAST for draws in atoms.values()), "atoms are groups"
        n += 1
    return n, seen, few


def test_fresh_draws_cannot_be_subtracted() -> None:
    assert read("fresh") == (495, 482, 0)


@pytest.mark.parametrize(("memory", "tasks"), [("remembered", 1), ("first", 2)])
def test_draws_that_are_sent_again_cannot_be_subtracted(memory: str, tasks: int) -> None:
    assert read(memory, tasks=tasks) == (495, 482, 0)


def test_published_twice_they_could_be(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same cases as they were published before: a lone joiner or leaver is read."""
    monkeypatch.setattr(release, "copies", lambda task: False)
    assert sum(any(published(people, "remembered").sets(LEAST)) for people in cases()) == 120
