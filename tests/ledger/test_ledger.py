"""A ledger spends before anything leaves, remembers, and refuses: nothing is sent and nothing is spent by a refusal."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from deniable_client import (
    BudgetError,
    DeniableError,
    Device,
    EntropyError,
    Ledger,
    LedgerError,
    ParameterError,
    PrivacyError,
    Task,
    WindowError,
)
from deniable_client.ledger.memory import Derived, DerivedWords
from deniable_client.ledger.store import Store
from tasks import GRR, document, loaded, noon, vectors

FILE = vectors("ledger")
SECRET = bytes.fromhex(FILE["secret"])


class Clock:
    """A clock that is set by hand."""

    def __init__(self, day: str = "2026-11-16") -> None:
        self.now = noon(day)

    def __call__(self) -> float:
        return self.now

    def step(self, days: float = 1) -> None:
        """Later."""
        self.now += 86_400 * days


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def ledger(tmp_path: Path, clock: Clock) -> Ledger:
    return Ledger(tmp_path / "ledger", clock=clock)


def spent(ledger: Ledger) -> float:
    """What was spent in all."""
    found: float = ledger.overview()["left"]["lifetime"]["spent"]
    return found


def state(path: Path) -> list[Any]:
    """Everything that is in a ledger, but for questions that are dealt."""
    with sqlite3.connect(path) as db:
        tables = ("spend", "promise", "answered", "task", "memo", "report")
        rows = [db.execute(f"SELECT * FROM {table}").fetchall() for table in tables]
    db.close()
    return rows


# ---- the vectors that all clients share


@pytest.mark.parametrize("case", FILE["derived"], ids=lambda case: f"{case['task']}-{case['question']}-{case['value']}")
def test_reports_are_derived_from_the_secret(case: dict[str, Any]) -> None:
    good = {row["about"]: row for row in vectors("tasks")["good"]}[case["task"]]
    task, source = Task.load(good["task"]), Derived(SECRET)
    question = task.question(case["question"])
    device = question.device(good["harmless"])
    assert question.key == case["question_key"]
    answer = json.loads(json.dumps(device.answer(question.value(case["value"]))))
    assert answer == case["answer"]
    fresh = (task.id, case["window"]) if task.memory == "fresh" else None
    words = source.report_words(question.key, answer, case["level"], fresh)
    keyed = DerivedWords(bytes.fromhex(case["report_key"]))
    assert [f"{keyed.word():016x}" for _ in case["words"]] == case["words"]
    report = device.randomise(answer, words, level=None if case["level"] is None else device.levels[case["level"]])
    assert report.hex() == case["report"]
    assert task.body(question, report, case["strata"]).hex() == case["body"]
    assert source.report_id(task.id, case["window"]) == case["id"]


def test_questions_are_dealt_from_the_secret() -> None:
    task = Task.load(FILE["deals"]["task"])
    for case in FILE["deals"]["cases"]:
        assert task.deal(Derived(bytes.fromhex(case["secret"])).deal_words(task.id)).name == case["question"]


@pytest.mark.parametrize("case", FILE["sequences"], ids=lambda case: case["about"])
def test_ledgers_do_what_the_vectors_say(case: dict[str, Any], tmp_path: Path) -> None:
    clock = Clock()
    ledger = Ledger(tmp_path / "ledger", secret=SECRET, clock=clock, **case["limits"])
    for step in case["steps"]:
        clock.now = noon(step["today"])
        task = Task.load(FILE["tasks"][step["task"]])
        options = {name: step[name] for name in ("level", "harmless", "strata", "dealt", "question") if name in step}
        if "error" in step:
            before = state(tmp_path / "ledger")
            with pytest.raises(DeniableError) as refused:
                ledger.answer(task, step["value"], **options)
            assert type(refused.value).__name__.removesuffix("Error").lower() == step["error"]
            assert state(tmp_path / "ledger") == before
        else:
            got = ledger.answer(task, step["value"], **options)
            told = {"question": got.question, "window": got.window, "cost": got.cost, "new": got.new, "id": got.id}
            assert told | {"body": got.body.hex()} == step["receipt"]
        assert spent(ledger) == step["spent"]


# ---- memory


def bodies(ledger: Ledger, task: Task, values: list[str], clock: Clock) -> list[bytes]:
    """One report a day."""
    found = []
    for value in values:
        found.append(ledger.answer(task, value).body)
        clock.step()
    return found


@pytest.mark.slow
@pytest.mark.parametrize("memory", ["remembered", "first"])
@pytest.mark.parametrize("secret", [None, SECRET])
def test_a_thousand_rounds_give_as_many_reports_as_declared(
    memory: str, secret: bytes | None, tmp_path: Path, clock: Clock
) -> None:
    """Reports of 64 bits or more, so that two that are drawn anew are never equal by chance."""
    wide = next(row["task"]["questions"][0]["design"] for row in vectors("tasks")["good"] if row["about"] == "lh")
    task = loaded(memory=memory, questions=[{"name": "q", "text": "?", "design": wide, "share": 1}])
    ledger = Ledger(tmp_path / "ledger", secret=secret, clock=clock)
    found: dict[int, set[bytes]] = {0: set(), 1: set()}
    for i in range(1000):
        value = int(i % 7 == 3)
        found[value].add(ledger.answer(task, value).body)
        clock.step()
    assert len(found[0]) == len(found[1]) == 1
    assert (found[0] == found[1]) == (memory == "first")
    assert spent(ledger) == (1 if memory == "first" else 2)


def test_fresh_reports_are_drawn_anew_and_paid_for(tmp_path: Path, clock: Clock) -> None:
    task = loaded(memory="fresh", budget={"task": 40, "subject": 40, "lifetime": 40})
    ledger = Ledger(tmp_path / "ledger", clock=clock, subject=40, lifetime=40)
    found = bodies(ledger, task, ["yes"] * 40, clock)
    assert set(found) == {b"\0", b"\1"}  # equal bytes in all 40 rounds: probability below 1e-5
    assert spent(ledger) == 40
    with pytest.raises(BudgetError, match="of the 40 for this task 40 is spent already"):
        ledger.answer(task, "yes")


def guess(reports: list[bytes]) -> str:
    """The averaging attack: what most reports say."""
    return "yes" if sum(report[0] for report in reports) * 2 > len(reports) else "no"


def attack(make: Callable[[int], list[bytes]], people: int) -> float:
    """How often the attack on people who say yes is right."""
    return sum(guess(make(person)) == "yes" for person in range(people)) / people


ROUNDS, PEOPLE = 101, 40


def test_averaging_undoes_the_noise_of_a_device_without_memory() -> None:
    """Right for a person with p > 1 - 1e-6 by Hoeffding at epsilon 1, so for 40 people with p > 1 - 4e-5."""
    device = Device(GRR)
    assert attack(lambda _: [device.report("yes") for _ in range(ROUNDS)], PEOPLE) == 1


@pytest.mark.stat
def test_averaging_gains_nothing_from_a_ledger(tmp_path: Path, clock: Clock) -> None:
    """All rounds say the same: right for 73 % of 400 derived people, as one report; alpha 1e-5 (fixed secrets)."""
    task = loaded()

    def rounds(person: int) -> list[bytes]:
        source = Derived(person.to_bytes(32, "big"))
        device, key = Device(GRR), task.questions[0].key
        return [device.randomise(1, source.report_words(key, 1, None, None)) for _ in range(3)]

    assert all(len(set(rounds(person))) == 1 for person in range(20))
    share = attack(lambda person: rounds(person)[:1], 400)
    assert abs(share - 0.7311) < 4.42 * (0.7311 * 0.2689 / 400) ** 0.5
    ledger = Ledger(tmp_path / "ledger", clock=clock)
    assert len(set(bodies(ledger, task, ["yes"] * 20, clock))) == 1


def test_a_lost_ledger_with_a_secret_gives_the_same_again(tmp_path: Path, clock: Clock) -> None:
    survey = Task.load(FILE["deals"]["task"])
    strata = {"country": "DE", "phone": "no"}
    found = set()
    for i in range(5):
        ledger = Ledger(tmp_path / f"ledger{i}", secret=SECRET, clock=clock)
        got = ledger.answer(survey, 0, strata=strata)
        found.add((got.id, got.body, got.question))
    assert len(found) == 1
    others = {Ledger(tmp_path / f"other{i}", clock=clock).answer(survey, 0, strata=strata).id for i in range(5)}
    assert len(others) == 5


def test_the_first_report_is_the_first(tmp_path: Path, clock: Clock) -> None:
    """Also where a task that remembers has drawn more for the same question meanwhile."""
    wide = next(row["task"]["questions"][0]["design"] for row in vectors("tasks")["good"] if row["about"] == "lh")
    asked = [{"name": "q", "text": "?", "design": wide, "share": 1}]
    ledger = Ledger(tmp_path / "ledger", clock=clock)
    found = [ledger.answer(loaded(questions=asked, min_batch=11 + i), i).body for i in range(2)]
    assert found[0] != found[1]
    assert ledger.answer(loaded(questions=asked, memory="first"), 3).body == found[0]


def test_the_budget_of_a_task_holds_alone(ledger: Ledger, clock: Clock) -> None:
    task = loaded(memory="fresh", budget={"task": 1, "subject": 4, "lifetime": 8})
    ledger.answer(task, "yes")
    clock.step()
    with pytest.raises(BudgetError, match="of the 1 for this task 1 is spent already"):
        ledger.answer(task, "yes")


# ---- refusals


@pytest.mark.parametrize(
    ("changes", "options", "day", "error"),
    [
        ({}, {}, "2026-11-15", WindowError),
        ({"expires": "2032-05-09"}, {}, "2032-05-09", WindowError),
        ({}, {"value": "perhaps"}, "2026-11-16", ParameterError),
        ({}, {"level": 1.0}, "2026-11-16", ParameterError),
        ({}, {"harmless": ["no"]}, "2026-11-16", PrivacyError),
        ({}, {"question": "r"}, "2026-11-16", ParameterError),
        ({}, {"strata": {"a": "b"}}, "2026-11-16", ParameterError),
        ({}, {"url": "http://example.org"}, "2026-11-16", ParameterError),
        ({"epsilon": 9, "budget": {"task": 9, "subject": 9, "lifetime": 9}}, {}, "2026-11-16", BudgetError),
    ],
)
def test_a_refusal_spends_nothing_and_queues_nothing(
    changes: dict[str, Any], options: dict[str, Any], day: str, error: type[DeniableError], tmp_path: Path, clock: Clock
) -> None:
    ledger = Ledger(tmp_path / "ledger", clock=clock)
    before = state(tmp_path / "ledger")
    clock.now = noon(day)
    with pytest.raises(error):
        ledger.answer(loaded(**changes), **({"value": "yes"} | options))
    assert state(tmp_path / "ledger") == before
    assert ledger.overview()["counts"] == {"waiting": 0, "sent": 0, "refused": 0, "expired": 0}


def test_only_tasks_that_were_read_are_answered(ledger: Ledger) -> None:
    with pytest.raises(ParameterError, match=r"task must be a Task, got dict\. Read it with Task\.load"):
        ledger.answer(document(), "yes")  # type: ignore[arg-type]


def test_without_entropy_nothing_is_spent(ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = state(tmp_path / "ledger")

    def nothing(_: int) -> bytes:
        raise OSError

    monkeypatch.setattr(os, "urandom", nothing)
    with pytest.raises(EntropyError):
        ledger.answer(loaded(), "yes")
    assert state(tmp_path / "ledger") == before


@pytest.mark.parametrize(
    "options",
    [{"secret": b"short"}, {"secret": "x" * 32}, {"subject": -1}, {"lifetime": "8"}, {"delay": -1}, {"delay": None}],
)
def test_bad_settings_are_refused(options: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="must be"):
        Ledger(tmp_path / "ledger", **options)
    assert not (tmp_path / "ledger").exists()


# ---- the file


@pytest.mark.parametrize("content", [b"not a database at all" * 400, b"SQLite format 3\0" + b"\xff" * 4080])
def test_a_damaged_file_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "ledger").write_bytes(content)
    with pytest.raises(LedgerError, match=r"is not a ledger|is damaged|cannot be used") as refused:
        Ledger(tmp_path / "ledger")
    assert "nothing was spent or sent" in str(refused.value)
    assert (tmp_path / "ledger").read_bytes() == content


def test_every_damaged_page_is_refused_or_harmless(ledger: Ledger, tmp_path: Path, clock: Clock) -> None:
    """Zeros in place of any page: either the ledger is refused, or it spends no more than before."""
    path, task = tmp_path / "ledger", loaded(memory="fresh", budget={"task": 2, "subject": 2, "lifetime": 2})
    bodies(ledger, task, ["yes", "yes"], clock)
    good = path.read_bytes()
    refused = 0
    for start in range(0, len(good), 4096):
        path.write_bytes(good[:start] + bytes(4096) + good[start + 4096 :])
        with pytest.raises((LedgerError, BudgetError)) as told:
            ledger.answer(task, "yes")
        refused += isinstance(told.value, LedgerError)
    assert refused >= 3


def test_another_database_is_not_written(tmp_path: Path) -> None:
    db = sqlite3.connect(tmp_path / "ledger")
    db.execute("CREATE TABLE notes (text)")
    db.close()
    with pytest.raises(LedgerError, match="is a database, but not a ledger"):
        Ledger(tmp_path / "ledger")


def test_a_ledger_of_another_version_is_refused(ledger: Ledger, tmp_path: Path) -> None:
    db = sqlite3.connect(tmp_path / "ledger")
    db.execute("PRAGMA user_version = 2")
    db.close()
    with pytest.raises(LedgerError, match="is a ledger of version 2; this client knows 1"):
        ledger.overview()


def test_a_missing_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match=r"cannot be opened \(No such file or directory\)"):
        Ledger(tmp_path / "none" / "ledger")


def test_a_locked_file_is_refused(tmp_path: Path, clock: Clock) -> None:
    ledger = Ledger(tmp_path / "ledger", clock=clock, patience=0.01)
    db = sqlite3.connect(tmp_path / "ledger", isolation_level=None)
    db.execute("BEGIN IMMEDIATE")
    with pytest.raises(LedgerError, match="is in use by another program; nothing was spent or sent"):
        ledger.answer(loaded(), "yes")
    db.close()
    assert ledger.answer(loaded(), "yes").cost == 1


def test_a_file_that_cannot_be_written_is_refused(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = Ledger(tmp_path / "ledger", clock=clock)
    connect = sqlite3.connect

    def read_only(path: Path, **options: Any) -> sqlite3.Connection:
        return connect(f"file:{path}?mode=ro", uri=True, **options)

    monkeypatch.setattr(sqlite3, "connect", read_only)
    with pytest.raises(LedgerError, match="must not be written; nothing was spent or sent"):
        ledger.answer(loaded(), "yes")
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
got = Ledger(path, clock=lambda: 1794830400.0, patience=60).answer(Task.load(task), "yes")
print(got.id, got.body.hex(), got.cost)
"""


@pytest.mark.parametrize("memory", ["fresh", "remembered"])
def test_several_processes_spend_once(memory: str, tmp_path: Path) -> None:
    path, task = tmp_path / "ledger", json.dumps(document(memory=memory))
    command = [sys.executable, "-c", PROGRAM, str(path), task]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(6)]
    got = [process.communicate(timeout=300)[0].split() for process in started]
    assert len({tuple(row[:2]) for row in got}) == 1
    assert sorted(float(row[2]) for row in got) == [0] * 5 + [1]
    assert spent(Ledger(path)) == 1


def test_nobody_looks_at_a_budget_while_another_spends(tmp_path: Path) -> None:
    one, other = Store(tmp_path / "ledger", 10), Store(tmp_path / "ledger", 0.01)
    with one.write(), pytest.raises(LedgerError, match="is in use by another program"), other.write():
        pass
    with other.write() as db:
        assert db.execute("SELECT count(*) FROM spend").fetchone() == (0,)


def test_several_threads_keep_to_the_budget(tmp_path: Path) -> None:
    path = tmp_path / "ledger"
    budget = {"task": 2, "subject": 2, "lifetime": 2}

    def answer(i: int) -> str:
        clock = Clock()
        clock.step(i)
        try:
            Ledger(path, clock=clock, patience=60).answer(loaded(memory="fresh", budget=budget), "yes")
        except BudgetError:
            return "refused"
        return "spent"

    with ThreadPoolExecutor(4) as pool:
        assert Counter(pool.map(answer, range(10))) == {"spent": 2, "refused": 8}
    assert spent(Ledger(path)) == 2


# ---- what a person may see and do

WORDS = "Eine seltene Frage?"


@pytest.fixture
def told(ledger: Ledger, tmp_path: Path, clock: Clock) -> tuple[Ledger, Task, bytes]:
    """A ledger with an answer to a long question, and the bytes of its report."""
    wide = next(row["task"]["questions"][0]["design"] for row in vectors("tasks")["good"] if row["about"] == "lh")
    task = loaded(questions=[{"name": "q", "text": WORDS, "design": wide, "share": 1}], subject="Seltenes")
    return ledger, task, ledger.answer(task, 1).body


def test_the_overview_says_what_was_asked_sent_and_is_left(told: tuple[Ledger, Task, bytes]) -> None:
    ledger, _, _ = told
    seen = ledger.overview()
    assert seen["asked"][0]["questions"] == [WORDS]
    assert seen["sent"][0]["state"] == "waiting"
    assert seen["left"]["subjects"] == [{"subject": "Seltenes", "spent": 1, "most": 4, "left": 3}]
    assert seen["left"]["lifetime"] == {"spent": 1, "most": 8, "left": 7}
    assert json.loads(json.dumps(seen)) == seen


def test_the_export_has_everything_but_the_key(told: tuple[Ledger, Task, bytes], tmp_path: Path) -> None:
    ledger, task, _ = told
    seen = json.dumps(ledger.export())
    assert json.loads(seen)["tasks"] == [json.loads(json.dumps(task.document))]
    assert json.loads(seen)["spent"] == [{"task": task.id, "epsilon": 1, "day": "2026-11-16"}]
    with sqlite3.connect(tmp_path / "ledger") as db:
        key = db.execute("SELECT value FROM own").fetchone()[0]
        digest = db.execute("SELECT answer FROM memo").fetchone()[0]
    db.close()
    assert key.hex() not in seen
    assert digest.hex() not in seen


@pytest.mark.parametrize("way", ["task", "id", "question", "everything"])
def test_forget_erases_from_the_file_and_keeps_what_was_spent(
    way: str, told: tuple[Ledger, Task, bytes], tmp_path: Path, clock: Clock
) -> None:
    ledger, task, body = told
    key = task.questions[0].key
    with sqlite3.connect(tmp_path / "ledger") as db:
        digest = db.execute("SELECT answer FROM memo").fetchone()[0]
    db.close()
    traces = [WORDS.encode(), b"Seltenes", body, key.encode(), digest]
    assert all(trace in (tmp_path / "ledger").read_bytes() for trace in traces)
    ways: dict[str, dict[str, Any]] = {"task": {"task": task}, "id": {"task": task.id}, "question": {"question": key}}
    assert ledger.forget(**ways.get(way, {"everything": True})) == 3
    left = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert not [trace for trace in traces if trace in left]
    assert spent(ledger) == 1
    assert ledger.overview()["left"]["subjects"][0]["most"] == 4
    with pytest.raises(WindowError, match="answered in this window already, and then forgotten"):
        ledger.answer(task, 1)
    clock.step()
    assert ledger.answer(task, 1).cost == 1
    assert spent(ledger) == 2


def test_forget_needs_to_know_what(ledger: Ledger) -> None:
    for wrong in ({}, {"task": "a", "question": "b"}, {"task": "a", "everything": True}):
        with pytest.raises(ParameterError, match="exactly one of"):
            ledger.forget(**wrong)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="has nothing about 'abc'"):
        ledger.forget("abc")


def test_a_dealt_question_is_not_dealt_again_after_forgetting(tmp_path: Path, clock: Clock) -> None:
    survey = Task.load(FILE["deals"]["task"])
    for i in range(6):
        ledger = Ledger(tmp_path / f"ledger{i}", clock=clock)
        name = ledger.question(survey).name
        ledger.answer(survey, 0, strata={"country": "DE", "phone": "no"})
        ledger.forget(everything=True)
        assert ledger.question(survey).name == name
