"""The command: terms in words, answers from a terminal, refusals that a person understands, and three ways to end."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from deniable_client import Ledger
from deniable_client.command import main
from tasks import GRR, asked, document, vectors

TODAY = {"window": {"opens": "2020-01-01", "days": 3660, "count": 1}}
OLD = TODAY | {"expires": "2200-01-01", "memory": "fresh"}
"""Open whenever the tests are run."""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    path = tmp_path / "task.json"
    path.write_text(json.dumps(asked(**TODAY)))
    return path


class Runner:
    """Runs the command on a ledger of its own."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.ledger = str(folder / "ledger.db")
        self.capsys = capsys

    def __call__(self, *arguments: object, code: int = 0) -> str:
        """What it prints; the ledger is named last."""
        assert main([*map(str, arguments), "--ledger", self.ledger]) == code
        out, err = self.capsys.readouterr()
        return err if code else out

    def json(self, *arguments: object) -> Any:
        """The same as data."""
        return json.loads(self(*arguments, "--json"))


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Runner:
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    return Runner(tmp_path, capsys)


def person(monkeypatch: pytest.MonkeyPatch, *answers: str) -> None:
    """Somebody sits at the terminal and types."""

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdin", Terminal("".join(f"{answer}\n" for answer in answers)))


def write(folder: Path, **changes: Any) -> Path:
    """A task in a file."""
    path = folder / "other.json"
    path.write_text(json.dumps(asked(**(TODAY | changes))))
    return path


def of(about: str) -> dict[str, Any]:
    """The design and questions of a task of the vectors."""
    found = next(row["task"] for row in vectors("tasks")["good"] if row["about"] == f"2: {about}")
    return {"design": found["design"], "questions": found["questions"]}


def test_show_says_the_terms(run: Runner, place: Path) -> None:
    shown = run("show", place)
    assert 'The collector asks: "Tired?"' in shown
    assert "A report costs epsilon 1, whether or not you answered." in shown
    assert run.json("show", place)["task"] == asked(**TODAY)


def test_an_answer_is_written_down_once(run: Runner, place: Path) -> None:
    first, second = (run.json("answer", place, "--value", "yes") for _ in range(2))
    assert (first["cost"], first["new"], second["cost"], second["new"]) == (1, False, 0, False)
    assert first["id"] == second["id"]
    assert "1 waiting, 0 sent" in run("status")
    assert "Place of Institute: 1 of 2 left (spent 1, reserved 0), until" in run("status")
    assert "Places for other collectors: 1; one more on" in run("status")


def test_a_person_is_asked(run: Runner, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """First whether they take part, then the question, with no answer as the first one."""
    person(monkeypatch, "y", "maybe", "4", "3")
    shown = run("answer", place)
    assert shown.index("Take part? [y/N]") < shown.index("  1  prefer not to say\n  2  no\n  3  yes")
    assert shown.count("Please type a number from 1 to 3.") == 2
    assert "is written down; it cost epsilon 1." in shown
    assert "can now be at most 73.2 % sure of one of them. This is good protection." in shown
    assert "no answer." not in shown.splitlines()[-3]


def test_a_person_may_decline(run: Runner, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for says in ("n", "", "what?"):
        person(monkeypatch, says)
        assert "you do not take part; nothing was spent or sent" in run("answer", place, code=1)
    assert run.json("status")["sent"] == []


def test_a_person_may_prefer_not_to_say(run: Runner, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the first answer, by --none, or by a value that is no answer: a report is sent all the same."""
    person(monkeypatch, "y", "1")
    assert "It is that of no answer." in run("answer", place)
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    assert "It is that of no answer." in run("answer", place, "--none")
    assert "It is that of no answer." in run("answer", place, "--value", "perhaps")
    assert run.json("status")["counts"]["waiting"] == 1


def test_a_person_agrees_or_not(run: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, **of("urr"), strata=[{"name": "country", "values": ["DE", "FR"]}])
    person(monkeypatch, "y", "n")
    assert "you did not agree to that; nothing was spent or sent" in run("answer", path, code=1)
    person(monkeypatch, "y", "y", "2", "9", "3")
    shown = run("answer", path)
    assert "Not protected: 2 to 3." in shown
    assert "country (sent openly), 1 to 3:" in shown
    assert "This question has no answer '9'." in shown
    assert run.json("status")["counts"]["waiting"] == 1


def test_a_person_may_stop_and_is_told_the_truth(run: Runner, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    person(monkeypatch)
    assert "stopped: nothing was spent or sent." in run("answer", place, code=1)
    assert run.json("status")["counts"]["waiting"] == 0
    person(monkeypatch, "y")
    told = run("answer", place, code=1)
    assert "stopped: you take part, without an answer; that is spent, and the report waits." in told
    assert run.json("status")["counts"]["waiting"] == 1

    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Ledger, "flush", interrupted)
    person(monkeypatch, "y", "2")
    told = run("answer", place, "--send", code=1)
    assert "stopped: you take part, with your answer; that is spent, and the report waits." in told


def test_a_person_allows_more(run: Runner, tmp_path: Path) -> None:
    path = write(tmp_path, epsilon=3)
    assert "of the 2 for this collector in a year 0 is spent" in run("answer", path, "--none", code=1)
    assert run("allow", "--task", path, "--epsilon", "1") == "Allowed: epsilon 1 more.\n"
    assert run.json("answer", path, "--none")["cost"] == 3
    assert run("allow", "--places", "2") == "Allowed: 2 places more.\n"
    assert run.json("status")["left"]["places"] == 3
    assert "allow needs a task and an epsilon" in run("allow", "--epsilon", "1", code=2)


@pytest.mark.parametrize(
    ("about", "value", "options"),
    [
        ("urr", "3", ["--agree", "2", "3"]),
        ("kv-ss2", "0=1,1=-0.5", []),
        ("a grid", "0.7", []),
        ("pldp", "1", ["--level", "1"]),
        ("places", "b", []),
    ],
)
def test_values_of_all_kinds(about: str, value: str, options: Sequence[str], run: Runner, tmp_path: Path) -> None:
    path = write(tmp_path, **of(about))
    assert run.json("answer", path, "--value", value, *options)["cost"] == 1


@pytest.mark.parametrize(
    ("changes", "options", "code", "told"),
    [
        ({}, [], 2, "--value or --none must be given where nobody can be asked"),
        ({}, ["--value", "yes", "--level", "2"], 2, "level must be left out"),
        ({}, ["--value", "yes", "--agree", "no"], 1, "this design may disclose none of its answers"),
        ({}, ["--value", "yes", "--stratum", "x"], 2, "--stratum must be NAME=VALUE"),
        ({}, ["--value", "yes", "--stratum", "x=y"], 2, "strata must be given for exactly none"),
        ({}, ["--value", "yes", "--url", "http://example.org"], 2, "https, or http to this machine"),
        ({}, ["--value", "yes", "--dealt", "r"], 2, "question must be one of q"),
        (of("urr"), ["--value", "0"], 1, "you did not agree to that"),
        ({"window": {"opens": "2199-01-01", "days": 1, "count": 1}}, ["--value", "yes"], 1, "it opens on 2199-01-01"),
        ({"window": {"opens": "2020-01-01", "days": 1, "count": 1}}, [], 1, "expired on 2020-01-03"),
        ({"epsilon": 9}, ["--none"], 1, "this task costs epsilon 9, and of the 2 for this collector in a year 0"),
    ],
)
def test_refusals_are_clear_and_spend_nothing(
    changes: dict[str, Any], options: Sequence[str], code: int, told: str, run: Runner, tmp_path: Path
) -> None:
    assert told in run("answer", write(tmp_path, **changes), *options, code=code)
    seen = run.json("status")
    assert seen["left"]["spent"] == 0
    assert seen["sent"] == []


@pytest.mark.parametrize(
    ("change", "told"),
    [({"min_batch": 11}, "refused: the task was altered"), ({"version": 3}, "refused: task version 3")],
)
def test_altered_tasks_are_refused(change: dict[str, Any], told: str, run: Runner, place: Path) -> None:
    place.write_text(json.dumps(asked(**TODAY) | change))
    assert told in run("answer", place, "--value", "yes", code=1)
    assert not Path(run.ledger).exists()


def test_a_leaking_task_is_refused(run: Runner, tmp_path: Path) -> None:
    leaking = GRR | {"kernel": GRR["kernel"] | {"keep": "13485650502877570763"}}
    path = write(tmp_path)
    path.write_text(json.dumps(document(**OLD, questions=[{"name": "q", "text": "?", "design": leaking, "share": 1}])))
    assert "refused: question q: this design promises epsilon 1" in run("show", path, code=1)


def test_a_file_that_is_not_there(run: Runner, tmp_path: Path) -> None:
    assert "cannot be read (No such file or directory)" in run("show", tmp_path / "none", code=2)


def test_a_task_from_its_collector_is_answered_there(run: Runner, collector: Any) -> None:
    made = asked(**TODAY)
    collector.documents[f"/v1/tasks/{made['id']}"] = json.dumps(made).encode()
    where = f"{collector.url}/v1/tasks/{made['id']}"
    assert run.json("answer", where, "--value", "yes", "--send")["flush"]["sent"] == 1
    assert len(collector.kept) == 1
    other = asked(**TODAY, min_batch=11)
    collector.documents[f"/v1/tasks/{made['id']}"] = json.dumps(other).encode()
    assert "the task was altered" in run("show", where, code=1)
    assert "gave no task: status 404" in run("show", f"{collector.url}/v1/tasks/{'0' * 64}", code=1)


def test_send_keeps_to_the_random_time_unless_told(run: Runner, place: Path, collector: Any) -> None:
    run("answer", place, "--value", "yes", "--url", collector.url)
    assert run("send", "--now") == "1 sent, 0 refused, 0 expired, 0 waiting.\n"
    assert run.json("send") == {"sent": 0, "refused": 0, "expired": 0, "waiting": 0}
    assert "1 sent" in run("status")


def test_forget_and_export(run: Runner, place: Path) -> None:
    name = asked(**TODAY)["id"]
    run("answer", place, "--value", "yes")
    assert json.loads(run("export"))["tasks"][0]["id"] == name
    assert "Erased 2 entries" in run("forget", "--task", name[:12])
    exported = json.loads(run("export"))
    assert (exported["tasks"], exported["reports"], len(exported["spent"])) == ([], [], 1)
    assert "has nothing about" in run("forget", "--task", name, code=2)
    assert "Erased 0 entries" in run("forget", "--all")


def test_a_task_is_forgotten_by_the_beginning_of_its_name_where_no_other_begins_so(run: Runner, tmp_path: Path) -> None:
    (asks,) = asked()["questions"]
    made: dict[str, Any] = {}
    for number in range(17):  # two of seventeen begin alike
        one = asked(**TODAY, questions=[[{**asks[0], "text": f"{number}?"}]])
        other = made.setdefault(one["id"][0], one)
        if other is not one:
            break
    for each in (one, other):
        path = write(tmp_path)
        path.write_text(json.dumps(each))
        run("answer", path, "--none")
    assert "has nothing about" in run("forget", "--task", one["id"][0], code=2)
    assert run.json("status")["counts"]["waiting"] == 2
    longer = next(i for i in range(64) if one["id"][i] != other["id"][i]) + 1
    assert "Erased 2 entries" in run("forget", "--task", one["id"][:longer])
    assert [each["task"] for each in run.json("status")["asked"]] == [other["id"]]


def test_wrong_use_ends_with_2(run: Runner) -> None:
    for wrong in ([], ["dance"], ["show"], ["forget"]):
        with pytest.raises(SystemExit) as ended:
            main(wrong)
        assert ended.value.code == 2


def test_what_strangers_write_moves_no_cursor(run: Runner, tmp_path: Path) -> None:
    path = write(tmp_path)
    evil = [{"name": "q", "text": "A?\nLeft in all: 99?", "design": GRR, "share": 1}]
    path.write_text(json.dumps(document(**OLD, questions=evil)))
    run("answer", path, "--value", "yes")
    for shown in (run("show", path), run("status")):
        assert "A? Left in all: 99?" in shown
        assert "\nLeft in all: 99?" not in shown


def test_it_is_a_module_too_with_a_ledger_at_its_place(place: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "deniable_client", "answer", str(place), "--value", "yes", "--json"]
    done = subprocess.run(
        command, capture_output=True, text=True, env={"XDG_DATA_HOME": str(tmp_path / "data")}, check=True
    )
    assert json.loads(done.stdout)["cost"] == 1
    assert (tmp_path / "data" / "deniable" / "ledger.db").stat().st_size > 0


def test_an_app_that_imports_the_client_does_not_wait() -> None:
    code = "import deniable_client, sys; print([m for m in ('sqlite3', 'urllib.request', 'json') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    code = (
        "from deniable_client import Ledger; import sys; print([m for m in ('sqlite3', 'urllib') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
