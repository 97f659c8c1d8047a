"""A ledger takes a task up as a whole or declines it, spends before anything leaves, and no value is an error."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from deniable_client import (
    BudgetError,
    DeniableError,
    EntropyError,
    Ledger,
    LedgerError,
    ParameterError,
    PrivacyError,
    Task,
    WindowError,
)
from deniable_client.ledger import Receipt
from deniable_client.ledger.memory import Derived, DerivedWords
from deniable_client.ledger.store import Store
from tasks import asked, document, loaded, noon, signed, vectors

FILE = vectors("ledger")
SECRET = bytes.fromhex(FILE["secret"])
DAY = 86_400


class Clock:
    """A clock that is set by hand."""

    def __init__(self, day: str = "2026-11-16") -> None:
        self.now = noon(day)

    def __call__(self) -> float:
        return self.now

    def step(self, days: float = 1) -> None:
        """Later."""
        self.now += DAY * days


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def ledger(tmp_path: Path, clock: Clock) -> Ledger:
    return Ledger(tmp_path / "ledger", clock=clock)


def spent(ledger: Ledger) -> float:
    """What was spent in all."""
    found: float = ledger.overview()["left"]["spent"]
    return found


def rows(path: Path, question: str) -> list[Any]:
    """Rows of a ledger's file."""
    db = sqlite3.connect(path)
    found = db.execute(question).fetchall()
    db.close()
    return found


def state(path: Path) -> list[Any]:
    """Everything that is in a ledger, but for questions that are dealt."""
    tables = ("place", "allowed", "taken", "opened", "spend", "task", "report")
    return [rows(path, f"SELECT * FROM {table}") for table in tables]


def body(path: Path, name: str) -> bytes:
    """What will be sent, which nobody sees but the file."""
    found: bytes = rows(path, f"SELECT body FROM report WHERE id = '{name}'")[0][0]
    return found


def other(number: int = 0) -> Ed25519PrivateKey:
    """The key of another collector."""
    return Ed25519PrivateKey.from_private_bytes(bytes([100 + number]) * 32)


# ---- the vectors that all clients share


@pytest.mark.parametrize("case", FILE["derived"], ids=lambda case: f"{case['task']}-{case['question']}-{case['value']}")
def test_reports_are_derived_from_the_secret(case: dict[str, Any]) -> None:
    good = {row["about"]: row for row in vectors("tasks")["good"]}[case["task"]]
    task, source, window = Task.load(good["task"]), Derived(SECRET), case["window"]
    question = task.question(case["question"])
    device = question.device(good["harmless"])
    assert question.key == case["question_key"]
    known = device.known(question.value(case["value"]))
    if known is None:
        known = question.nothing(device, source.nothing_words(task.id, window))
    answer = json.loads(json.dumps(known))
    assert answer == case["answer"]
    words = source.report_words(question.key, answer, case["level"], task.id, window)
    keyed = DerivedWords(bytes.fromhex(case["report_key"]))
    assert [f"{keyed.word():016x}" for _ in case["words"]] == case["words"]
    report = device.randomise(answer, words, level=None if case["level"] is None else device.levels[case["level"]])
    assert report.hex() == case["report"]
    assert task.body(question, report, case["strata"]).hex() == case["body"]
    assert source.report_id(task.id, window) == case["id"]


def test_questions_are_dealt_from_the_secret() -> None:
    for version, name in (("task", "question"), ("task2", "question2")):
        task = Task.load(FILE["deals"][version])
        for case in FILE["deals"]["cases"]:
            assert task.deal(Derived(bytes.fromhex(case["secret"])).deal_words(task.id)).name == case[name]


OPTIONS = ("level", "harmless", "strata", "dealt", "question", "url", "places", "epsilon")


def done(ledger: Ledger, step: dict[str, Any]) -> Receipt | None:
    """One step of a sequence."""
    task = Task.load(FILE["tasks"][step["task"]]) if "task" in step else None
    if step["do"] == "allow":
        ledger.allow(task=task, **{name: step[name] for name in OPTIONS if name in step})
        return None
    assert task is not None
    if step["do"] == "forget":
        ledger.forget(task)
        return None
    options = {name: step[name] for name in OPTIONS if name in step}
    return ledger.answer(task, step["value"], **options) if step["do"] == "answer" else ledger.take(task, **options)


@pytest.mark.parametrize("case", FILE["sequences"], ids=lambda case: case["about"])
def test_ledgers_do_what_the_vectors_say(case: dict[str, Any], tmp_path: Path) -> None:
    clock, path = Clock(), tmp_path / "ledger"
    ledger = Ledger(path, secret=SECRET, clock=clock, **case["limits"])
    for step in case["steps"]:
        clock.now = noon(step["today"])
        if "error" in step:
            before = state(path)
            with pytest.raises(DeniableError) as refused:
                done(ledger, step)
            assert type(refused.value).__name__.removesuffix("Error").lower() == step["error"]
            assert state(path) == before
        else:
            got = done(ledger, step)
            if got is not None:
                assert asdict(got) == step["receipt"]
                assert body(path, got.id).hex() == step["body"]
        seen = ledger.overview()
        places = [[place["spent"], place["reserved"], place["left"]] for place in seen["places"]]
        assert (spent(ledger), places, seen["left"]["places"]) == (step["spent"], step["accounts"], step["free"])


# ---- total answers


class Evil:
    """Nothing can be done with it."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError(name)

    def __eq__(self, other: object) -> bool:
        raise RuntimeError

    def __hash__(self) -> int:
        raise RuntimeError

    def __repr__(self) -> str:
        raise RuntimeError

    def __iter__(self) -> Any:
        raise RuntimeError

    def __bool__(self) -> bool:
        raise RuntimeError


class EvilText(str):
    """A text that is not what it seems."""

    def __eq__(self, other: object) -> bool:
        raise RuntimeError

    def __hash__(self) -> int:
        raise RuntimeError


class EvilNumber(float):
    """A number that does not compare."""

    def __lt__(self, other: object) -> bool:
        raise RuntimeError

    def __le__(self, other: object) -> bool:
        raise RuntimeError

    def __eq__(self, other: object) -> bool:
        raise RuntimeError

    __hash__ = float.__hash__


class EvilList(list[Any]):
    """A list that does not end well."""

    def __iter__(self) -> Any:
        raise RuntimeError

    def __len__(self) -> int:
        raise RuntimeError


LOOP: list[Any] = []
LOOP.append(LOOP)
VALUES: list[Any] = [
    None, "", "yes", "\ud800", "x" * 100_000, 0, 1, -1, 2**64, 10**5000, -(10**5000), 0.5, 1e308, 5e-324,
    float("nan"), float("inf"), -float("inf"), True, False, b"yes", 1j, [], [[]], [["a", 1]], [[0, 0.5]], [[0, 0.5, 1]],
    [[0, float("nan")]], [[0, 10**5000]], [[Evil(), 1]], [[0, Evil()]], LOOP, (), ((0, 1),), {}, {"a": 1}, set(),
    range(3), object(), object, Evil(), EvilText("yes"), EvilNumber(0.5), EvilList([[0, 1]]), lambda: 0, ...,
]  # fmt: skip
ABOUT = (
    "2: grr",
    "2: labels",
    "2: a grid",
    "2: codes",
    "2: places",
    "2: kv-ss2",
    "2: privkv",
    "2: urr",
    "2: pldp",
    "2: sets",
)


@pytest.mark.parametrize("about", [*ABOUT, "grr", "kv-ss2", "urr"])
def test_no_value_of_any_kind_is_an_error(about: str, tmp_path: Path, clock: Clock) -> None:
    """And the only difference that it makes is the body: of one size, in one window, at one moment, at one cost."""
    good = {row["about"]: row for row in vectors("tasks")["good"]}[about]
    made = dict(good["task"])
    task = Task.load(made) if made["version"] == 2 else loaded(**{n: made[n] for n in ("questions", "epsilon")}, **ONCE)
    path = tmp_path / "ledger"
    ledger = Ledger(path, clock=clock)
    ledger.take(task, harmless=good["harmless"])
    before = rows(path, "SELECT id, due, later, cost, state, attempts, length(body) FROM report")
    for value in VALUES:
        got = ledger.answer(task, value)
        assert (got.cost, got.new) == (0, False)
    assert rows(path, "SELECT id, due, later, cost, state, attempts, length(body) FROM report") == before
    assert ledger.answer(task, Evil()).answered == ("labels" in about)  # that design has an answer for all others


ONCE: dict[str, Any] = {
    "memory": "fresh",
    "window": {"opens": "2026-11-16", "days": 7, "count": 1},
    "budget": {"task": 9, "subject": 9, "lifetime": 9},
}


def test_what_is_drawn_for_no_answer(tmp_path: Path, clock: Clock) -> None:
    """With a secret the report of a value outside is that of the answer for no answer, bit by bit."""
    wide = next(row["task"]["design"] for row in vectors("tasks")["good"] if row["about"] == "2: lh")
    task = signed(design=wide, questions=[[{"name": "q", "text": "?", "none": 3}]])
    path = tmp_path / "ledger"
    ledger = Ledger(path, secret=SECRET, clock=clock)
    found = {}
    for value in (3, 9, None, "x", 0):
        found[value] = body(path, ledger.answer(task, value).id)
    assert found[3] == found[9] == found[None] == found["x"] != found[0]


def test_a_receipt_shows_no_report(ledger: Ledger, tmp_path: Path, clock: Clock) -> None:
    """Who saw a report and could still withdraw it would send true ones less often, or more."""
    assert [field.name for field in fields(Receipt)] == ["id", "question", "window", "cost", "new", "answered"]
    wide = next(row["task"]["design"] for row in vectors("tasks")["good"] if row["about"] == "2: lh")
    task = signed(design=wide, questions=[[{"name": "q", "text": "?", "none": 0}]])
    ledger.answer(task, 1)
    assert ledger.export()["reports"][0]["body"] is None
    assert "body" not in ledger.overview()["sent"][0]
    clock.step(8)
    ledger.flush()
    assert ledger.export()["reports"][0]["state"] == "expired"
    assert ledger.export()["reports"][0]["body"] is not None


# ---- places


def test_what_one_collector_does_shows_at_no_other(tmp_path: Path, clock: Clock) -> None:
    """The oracle of one subject and many budgets: B's task changes nothing of what A gets, or of what is declined."""
    seen = []
    for i, elsewhere in enumerate((None, asked(other(), subject="HIV test", budget=1), asked(other(), budget=1))):
        ledger = Ledger(tmp_path / f"ledger{i}", clock=clock, secret=SECRET)
        if elsewhere is not None:
            ledger.answer(Task.load(elsewhere), "yes")
        task = signed(subject="HIV test", window={"opens": "2026-11-16", "days": 1, "count": 2})
        got = ledger.answer(task, "yes")
        more = signed(questions=[[{"name": "q", "text": "More?", "none": "no"}]])
        with pytest.raises(BudgetError):
            ledger.take(more)
        seen.append((asdict(got), body(tmp_path / f"ledger{i}", got.id), ledger.overview()["places"][-1]))
    assert seen[0] == seen[1] == seen[2]


def test_who_serves_anothers_task_has_a_place_of_their_own(tmp_path: Path, clock: Clock) -> None:
    ledger = Ledger(tmp_path / "ledger", clock=clock)
    ledger.take(signed(), url="https://b.example")
    ledger.take(signed(questions=[[{"name": "q", "text": "More?", "none": "no"}]]), url="https://a.example")
    assert [place["spent"] for place in ledger.overview()["places"]] == [1, 1]
    with pytest.raises(PrivacyError, match=r"go to 'https://b\.example', which it was taken up with"):
        ledger.answer(signed(), "yes", url="https://a.example")


def test_a_signed_address_is_the_only_one(ledger: Ledger) -> None:
    task = signed(url="https://a.example")
    with pytest.raises(PrivacyError, match=r"go to 'https://a\.example', which its collector signed, not to"):
        ledger.take(task, url="https://b.example")
    assert ledger.take(task, url="https://a.example").new


def test_the_budget_of_the_first_task_holds_for_its_collector(tmp_path: Path, clock: Clock) -> None:
    """Who says at most 2 with the first task does not get 3 with the next, though the device would give 10."""
    ledger = Ledger(tmp_path / "ledger", clock=clock, collector=10)
    ledger.answer(signed(budget=2), "yes")
    weeks = {"opens": "2026-11-16", "days": 7, "count": 2}
    other = {"subject": "dreams", "questions": [[{"name": "q", "text": "Dreaming?", "none": "no"}]]}
    with pytest.raises(BudgetError, match="this task costs epsilon 2, and of the 2 for this collector in a year 1 is"):
        ledger.answer(signed(window=weeks, **other), "yes")
    assert ledger.overview()["left"]["spent"] == 1
    ledger.answer(signed(**other), "yes")
    assert ledger.overview()["left"]["spent"] == 2


def test_windows_that_never_opened_are_given_back(ledger: Ledger, clock: Clock) -> None:
    two = signed(window={"opens": "2026-11-16", "days": 1, "count": 2})
    ledger.take(two)
    more = [signed(questions=[[{"name": "q", "text": f"{i}?", "none": "no"}]]) for i in range(2)]
    with pytest.raises(BudgetError, match="of the 2 for this collector in a year 2 is spent or reserved"):
        ledger.take(more[0])
    clock.step(2)
    assert ledger.take(more[0]).cost == 1
    with pytest.raises(BudgetError):
        ledger.take(more[1])


def test_places_grow_with_the_ledgers_age(tmp_path: Path, clock: Clock) -> None:
    ledger = Ledger(tmp_path / "ledger", clock=clock)
    years = {"opens": "2026-11-16", "days": 3660, "count": 1}
    taken = 0
    for quarter in range(5):
        for i in range(3):
            with suppress(BudgetError):
                ledger.take(signed(other(10 * quarter + i), window=years))
                taken += 1
        assert taken == 2 + quarter
        clock.now += 7_889_400
    assert spent(ledger) == 6


def test_a_clock_that_is_set_back_gives_nothing(tmp_path: Path, clock: Clock) -> None:
    ledger = Ledger(tmp_path / "ledger", clock=clock)
    years = {"opens": "1990-01-01", "days": 3660, "count": 5}
    for i in range(2):
        ledger.take(signed(other(i), window=years, epsilon=0.1, design=LITTLE))
    clock.step(-3660)
    with pytest.raises(BudgetError, match="all places were given"):
        ledger.take(signed(other(3), window=years, epsilon=0.1, design=LITTLE))


LITTLE = FILE["tasks"]["tenths"]["design"] | {"domain": {"labels": ["no", "yes"]}}


def test_a_new_store_that_others_can_erase_waits_out_a_window(tmp_path: Path, clock: Clock) -> None:
    weekly = signed(window={"opens": "2026-11-09", "days": 7, "count": 5}, epsilon=0.1, design=LITTLE)
    ledger = Ledger(tmp_path / "ledger", clock=clock, pause=True)
    assert ledger.take(signed()).new, "one window cannot wait"
    for _ in range(2):
        with pytest.raises(WindowError, match="this ledger is too new"):
            ledger.take(weekly)
        clock.step(7)
    assert ledger.take(weekly).window == 3


# ---- moments


def test_moments_do_not_depend_on_answers(tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same coins give the same moment, whatever is answered and when."""
    coins = iter(range(10**6))
    monkeypatch.setattr(os, "urandom", lambda count: (next(coins) * 0x9E3779B97F4A7C15 % 2**64).to_bytes(8, "big") * 4)
    task = signed(window={"opens": "2026-11-16", "days": 1, "count": 2})
    found = []
    for i, values in enumerate(([], ["yes"], ["no", "yes"], [Evil()])):
        coins = iter(range(10**6))
        clock.now = noon()
        path = tmp_path / f"ledger{i}"
        ledger = Ledger(path, clock=clock, secret=SECRET)
        ledger.take(task)
        for value in values:
            ledger.answer(task, value)
        clock.step()
        ledger.flush(due=True)
        for value in values:
            ledger.answer(task, value)
        found.append(rows(path, "SELECT window, due, cost FROM report ORDER BY window"))
    assert found[0] == [(0, None, "1" + "0" * 30), (1, found[0][1][1], "0")]
    assert [[row[:2] for row in each] for each in found] == [[row[:2] for row in found[0]]] * 4


def test_the_first_moment_is_in_the_hour_after_ten_minutes(tmp_path: Path, clock: Clock) -> None:
    found = []
    for i in range(12):
        ledger = Ledger(tmp_path / f"ledger{i}", clock=clock)
        ledger.take(signed())
        found.append(rows(tmp_path / f"ledger{i}", "SELECT due FROM report")[0][0] - clock.now)
    assert min(found) >= 600
    assert max(found) <= 4200
    assert max(found) - min(found) > 600  # all 12 within ten minutes of an hour: probability below 1e-7


def test_later_moments_are_in_the_second_half(tmp_path: Path, clock: Clock) -> None:
    task = signed(window={"opens": "2026-11-16", "days": 2, "count": 2})
    ledger = Ledger(tmp_path / "ledger", clock=clock)
    ledger.take(task)
    clock.step(2)
    ledger.flush(due=True)
    ((due, state_, cost),) = rows(tmp_path / "ledger", "SELECT due, state, cost FROM report WHERE window = 1")
    assert noon("2026-11-18") + DAY / 2 <= due < noon("2026-11-20") - DAY / 2
    assert (state_, cost) == ("planned", "0")
    clock.now = due
    ledger.flush(due=True)
    assert rows(tmp_path / "ledger", "SELECT state FROM report WHERE window = 1") == [("waiting",)]
    assert spent(ledger) == 2


def test_a_moment_just_before_the_end_is_in_the_window(tmp_path: Path, clock: Clock) -> None:
    clock.now = noon("2026-11-22") + DAY / 2 - 60
    ledger = Ledger(tmp_path / "ledger", clock=clock, delay=7 * DAY)
    ledger.take(signed())
    due = rows(tmp_path / "ledger", "SELECT due FROM report")[0][0]
    assert clock.now <= due < clock.now + 60


def test_a_moment_that_was_missed_is_drawn_again_once(tmp_path: Path, clock: Clock) -> None:
    ledger = Ledger(tmp_path / "ledger", clock=clock)
    ledger.take(signed())
    clock.step(2)
    ledger.flush(due=True)
    due = rows(tmp_path / "ledger", "SELECT due FROM report")[0][0]
    assert clock.now <= due <= clock.now + 3600
    clock.step(2)
    ledger.flush(due=True)
    assert rows(tmp_path / "ledger", "SELECT due FROM report")[0][0] == due


# ---- declining


@pytest.mark.parametrize(
    ("changes", "options", "day", "error"),
    [
        ({}, {}, "2026-11-15", WindowError),
        ({}, {}, "2026-11-23", WindowError),
        ({}, {"level": 1.0}, "2026-11-16", ParameterError),
        ({}, {"harmless": ["no"]}, "2026-11-16", PrivacyError),
        ({}, {"question": "r"}, "2026-11-16", ParameterError),
        ({}, {"strata": {"a": "b"}}, "2026-11-16", ParameterError),
        ({}, {"url": "http://example.org"}, "2026-11-16", ParameterError),
        ({"epsilon": 2.1}, {}, "2026-11-16", BudgetError),
    ],
)
def test_declining_spends_nothing_and_queues_nothing(
    changes: dict[str, Any], options: dict[str, Any], day: str, error: type[DeniableError], tmp_path: Path, clock: Clock
) -> None:
    ledger = Ledger(tmp_path / "ledger", clock=clock)
    before = state(tmp_path / "ledger")
    clock.now = noon(day)
    with pytest.raises(error):
        ledger.answer(signed(**changes), **({"value": "yes"} | options))
    assert state(tmp_path / "ledger") == before
    assert set(ledger.overview()["counts"].values()) == {0}


def test_only_tasks_that_were_read_are_answered(ledger: Ledger) -> None:
    with pytest.raises(ParameterError, match=r"task must be a Task, got dict\. Read it with Task\.load"):
        ledger.answer(document(), "yes")  # type: ignore[arg-type]


def test_without_entropy_nothing_is_spent(ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = state(tmp_path / "ledger")

    def nothing(_: int) -> bytes:
        raise OSError

    monkeypatch.setattr(os, "urandom", nothing)
    with pytest.raises(EntropyError):
        ledger.answer(signed(), "yes")
    assert state(tmp_path / "ledger") == before


@pytest.mark.parametrize(
    "options",
    [
        {"secret": b"short"},
        {"secret": "x" * 32},
        {"collector": -1},
        {"collector": "8"},
        {"places": 1.5},
        {"places": -1},
        {"delay": -1},
        {"delay": None},
    ],
)
def test_bad_settings_are_refused(options: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="must be"):
        Ledger(tmp_path / "ledger", **options)
    assert not (tmp_path / "ledger").exists()


@pytest.mark.parametrize("name", ["subject", "lifetime"])
def test_limits_of_old_are_named(name: str, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=f"does not know {name}: limits are kept for each collector, see collector="):
        Ledger(tmp_path / "ledger", **{name: 1})


def test_a_lost_ledger_with_a_secret_gives_the_same_again(tmp_path: Path, clock: Clock) -> None:
    survey = Task.load(FILE["deals"]["task2"])
    found = set()
    for i in range(5):
        ledger = Ledger(tmp_path / f"ledger{i}", secret=SECRET, clock=clock)
        got = ledger.answer(survey, 0)
        found.add((got.id, body(tmp_path / f"ledger{i}", got.id), got.question))
    assert len(found) == 1
    others = {Ledger(tmp_path / f"other{i}", clock=clock).answer(survey, 0).id for i in range(5)}
    assert len(others) == 5


# ---- the file


@pytest.mark.parametrize("content", [b"not a database at all" * 400, b"SQLite format 3\0" + b"\xff" * 4080])
def test_a_damaged_file_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "ledger").write_bytes(content)
    with pytest.raises(LedgerError, match=r"is not a ledger|is damaged|cannot be used") as refused:
        Ledger(tmp_path / "ledger")
    assert "nothing was spent or sent" in str(refused.value)
    assert (tmp_path / "ledger").read_bytes() == content


def test_another_database_is_not_written(tmp_path: Path) -> None:
    db = sqlite3.connect(tmp_path / "ledger")
    db.execute("CREATE TABLE notes (text)")
    db.close()
    with pytest.raises(LedgerError, match="is a database, but not a ledger"):
        Ledger(tmp_path / "ledger")


def test_a_ledger_of_another_version_is_refused(ledger: Ledger, tmp_path: Path) -> None:
    db = sqlite3.connect(tmp_path / "ledger")
    db.execute("PRAGMA user_version = 3")
    db.close()
    with pytest.raises(LedgerError, match="is a ledger of version 3; this client knows 2"):
        ledger.overview()


def test_a_missing_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match=r"cannot be opened \(No such file or directory\)"):
        Ledger(tmp_path / "none" / "ledger")


def test_a_locked_file_is_refused(tmp_path: Path, clock: Clock) -> None:
    ledger = Ledger(tmp_path / "ledger", clock=clock, patience=0.01)
    db = sqlite3.connect(tmp_path / "ledger", isolation_level=None)
    db.execute("BEGIN IMMEDIATE")
    with pytest.raises(LedgerError, match="is in use by another program; nothing was spent or sent"):
        ledger.answer(signed(), "yes")
    db.close()
    assert ledger.answer(signed(), "yes").cost == 1


def test_a_file_that_cannot_be_written_is_refused(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = Ledger(tmp_path / "ledger", clock=clock)
    connect = sqlite3.connect

    def read_only(path: Path, **options: Any) -> sqlite3.Connection:
        return connect(f"file:{path}?mode=ro", uri=True, **options)

    monkeypatch.setattr(sqlite3, "connect", read_only)
    with pytest.raises(LedgerError, match="must not be written; nothing was spent or sent"):
        ledger.answer(signed(), "yes")
    monkeypatch.undo()
    assert spent(ledger) == 0


def test_nobody_else_may_read_the_file(ledger: Ledger, tmp_path: Path) -> None:
    assert stat.S_IMODE((tmp_path / "ledger").stat().st_mode) == 0o600


def test_a_ledger_is_opened_with_its_secret_only(tmp_path: Path) -> None:
    Ledger(tmp_path / "with", secret=SECRET)
    Ledger(tmp_path / "without")
    for path, secret in (("with", None), ("with", bytes(32)), ("without", SECRET)):
        with pytest.raises(LedgerError, match="was made with another secret, or without one"):
            Ledger(tmp_path / path, secret=secret)
    assert SECRET not in (tmp_path / "with").read_bytes()


# ---- several at once


PROGRAM = """
import sys
from deniable_client import Ledger, Task
path, task = sys.argv[1:]
got = Ledger(path, clock=lambda: 1794916800.0, patience=60).answer(Task.load(task), "yes")
print(got.id, got.cost)
"""


def test_several_processes_spend_once(tmp_path: Path) -> None:
    path, task = tmp_path / "ledger", json.dumps(asked())
    command = [sys.executable, "-c", PROGRAM, str(path), task]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(6)]
    got = [process.communicate(timeout=300)[0].split() for process in started]
    assert len({row[0] for row in got}) == 1
    assert sorted(float(row[1]) for row in got) == [0] * 5 + [1]
    assert spent(Ledger(path)) == 1


def test_a_ledger_that_another_makes_meanwhile_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What tells a new file from a ledger is read at one moment, however long that takes."""
    one, two = (Store(tmp_path / "ledger", 0.01, None, noon) for _ in range(2))
    connected, tried = one._connected, []

    @contextmanager
    def slowly() -> Iterator[Any]:
        with connected() as connection:
            yield Mock(execute=lambda *given: meanwhile(connection.execute(*given), given[0]))

    def meanwhile(found: Any, statement: str) -> Any:
        if statement != "PRAGMA application_id" or tried:
            return found
        row = found.fetchone()
        tried.append(statement)
        with suppress(LedgerError), two.write():
            pass
        return Mock(fetchone=lambda: row)

    monkeypatch.setattr(one, "_connected", slowly)
    with one.write() as db:
        assert db.execute("SELECT count(*) FROM spend").fetchone() == (0,)
    assert tried


def test_nobody_looks_at_a_budget_while_another_spends(tmp_path: Path) -> None:
    one, two = (Store(tmp_path / "ledger", patience, None, noon) for patience in (10, 0.01))
    looked = []
    with one.write(), pytest.raises(LedgerError, match="is in use by another program"), two.write():
        looked.append("too early")
    assert looked == []
    with two.write() as db:
        assert db.execute("SELECT count(*) FROM spend").fetchone() == (0,)


def test_several_threads_keep_to_the_place(tmp_path: Path) -> None:
    path = tmp_path / "ledger"

    def take(i: int) -> str:
        try:
            task = signed(questions=[[{"name": "q", "text": f"{i}?", "none": "no"}]])
            Ledger(path, clock=Clock(), patience=60).answer(task, "yes")
        except BudgetError:
            return "declined"
        return "spent"

    with ThreadPoolExecutor(4) as pool:
        assert Counter(pool.map(take, range(10))) == {"spent": 2, "declined": 8}
    assert spent(Ledger(path)) == 2


# ---- what a person may see and do

WORDS = "Eine seltene Frage?"


@pytest.fixture
def told(ledger: Ledger, tmp_path: Path, clock: Clock) -> tuple[Ledger, Task, bytes]:
    """A ledger with an answer to a long question, and the bytes of its report."""
    wide = next(row["task"]["design"] for row in vectors("tasks")["good"] if row["about"] == "2: lh")
    asks = [[{"name": "q", "text": WORDS, "none": 0}]]
    task = signed(
        design=wide, questions=asks, subject="Seltenes", window={"opens": "2026-11-16", "days": 1, "count": 2}
    )
    return ledger, task, body(tmp_path / "ledger", ledger.answer(task, 1, url="https://a.example").id)


def test_the_overview_says_what_was_asked_sent_and_is_left(told: tuple[Ledger, Task, bytes]) -> None:
    ledger, _, _ = told
    seen = ledger.overview()
    assert seen["asked"][0]["questions"] == [WORDS]
    assert seen["sent"][0]["state"] == "waiting"
    amounts = {"most": 2, "spent": 1, "reserved": 1, "left": 0}
    assert seen["places"] == [{"collector": "Institute", "ends": "2027-11-16", "over": False} | amounts]
    assert seen["left"] == {"places": 1, "next": "2027-02-15", "spent": 1}
    assert json.loads(json.dumps(seen)) == seen


def test_the_export_has_everything_but_the_key(told: tuple[Ledger, Task, bytes], tmp_path: Path) -> None:
    ledger, task, _ = told
    seen = json.dumps(ledger.export())
    assert json.loads(seen)["tasks"] == [json.loads(json.dumps(task.document))]
    assert json.loads(seen)["spent"] == [{"task": task.id, "epsilon": 1, "day": "2026-11-16"}]
    for _, value in rows(tmp_path / "ledger", "SELECT name, value FROM own WHERE name <> 'born'"):
        assert value.hex() not in seen


@pytest.mark.parametrize("way", ["task", "id", "question", "everything"])
def test_forget_erases_from_the_file_and_keeps_what_was_spent(
    way: str, told: tuple[Ledger, Task, bytes], tmp_path: Path, clock: Clock
) -> None:
    ledger, task, sent = told
    key = task.questions[0].key
    traces = [WORDS.encode(), b"Seltenes", sent, key.encode(), b"a.example"]
    assert all(trace in (tmp_path / "ledger").read_bytes() for trace in traces)
    ways: dict[str, dict[str, Any]] = {"task": {"task": task}, "id": {"task": task.id}, "question": {"question": key}}
    assert ledger.forget(**ways.get(way, {"everything": True})) == 2
    left = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert not [trace for trace in traces if trace in left]
    assert spent(ledger) == 1
    assert ledger.overview()["places"][0]["reserved"] == 0
    with pytest.raises(WindowError, match="taken up and then forgotten"):
        ledger.answer(task, 1)
    assert ledger.flush().waiting == 0
    clock.step()
    assert ledger.answer(task, 1, url="https://a.example").cost == 1
    assert spent(ledger) == 2


def test_forget_needs_to_know_what(ledger: Ledger) -> None:
    for wrong in ({}, {"task": "a", "question": "b"}, {"task": "a", "everything": True}):
        with pytest.raises(ParameterError, match="exactly one of"):
            ledger.forget(**wrong)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="has nothing about 'abc'"):
        ledger.forget("abc")


def test_a_dealt_question_is_not_dealt_again_after_forgetting(tmp_path: Path, clock: Clock) -> None:
    survey = Task.load(FILE["deals"]["task2"])
    for i in range(6):
        ledger = Ledger(tmp_path / f"ledger{i}", clock=clock)
        name = ledger.question(survey).name
        ledger.answer(survey, 0)
        ledger.forget(everything=True)
        assert ledger.question(survey).name == name


def test_allow_needs_to_know_what(ledger: Ledger) -> None:
    for wrong in ({"epsilon": 1}, {"task": signed()}, {"places": -1}, {"epsilon": -1, "task": signed()}):
        with pytest.raises(ParameterError, match=r"must be|allow needs"):
            ledger.allow(**wrong)  # type: ignore[arg-type]
