"""Questionnaires on the command line: what will come of one, files of other tools, the task and back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from deniable.cli import main
from deniable.service.questionnaire.document import read
from deniable.service.store import open_store
from questionnaire.test_document import SHEETS, SURVEYJS, workbook

ASKED: dict[str, Any] = {
    "questionnaire": 1,
    "title": "Exams",
    "who": "Uni Bern",
    "why": "To plan exams.",
    "people": 60,
    "response": 0.8,
    "questions": [{"kind": "yes-no", "text": "Did you ever copy?", "skip": False}],
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DENIABLE_DATABASE", "sqlite:///t.db")
    (tmp_path / "asked.json").write_text(json.dumps(ASKED))
    (tmp_path / "js.json").write_text(json.dumps(SURVEYJS))
    (tmp_path / "form.xlsx").write_bytes(workbook(SHEETS))
    return tmp_path


def test_what_will_come_of_it_is_said(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["task", "questionnaire", "asked.json"]) == 0
    told = capsys.readouterr().out
    assert "Shares to within about 31 points" in told
    assert "Results are published from 25 answers on." in told
    assert "Ask more people: 450 answers are enough" in told


def test_sixty_people_get_a_result_and_closing_says_if_there_is_none(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["task", "new", "--from", "asked.json", "--opens", "2027-01-04", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["task"]["min_batch"], found["task"]["subject"]) == (25, "Exams")
    assert found["task"]["window"]["opens"] == "2027-01-04"
    id = found["id"]
    assert main(["task", "questionnaire", id[:12], "--out", "again.json"]) == 1, "people are not known of a task"
    again = read(Path("again.json").read_bytes())
    assert (again.title, again.questions) == ("Exams", read(ASKED).questions)
    capsys.readouterr()
    assert main(["task", "close", id[:12]]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "Nothing is published: no question has the minimum batch of 25" in told
    assert "export" not in told


def test_files_of_other_tools_are_taken_over_and_the_rest_is_listed_first(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for file, title, left in (("js.json", "Sleep", "matrix"), ("form.xlsx", "Schlaf", "text")):
        assert main(["task", "questionnaire", file, "--out", f"{title}.json"]) == 1
        out, err = capsys.readouterr()
        assert f"questions of the type {left}" in err
        assert "It cannot be opened yet" in out
        assert "who: Say who asks" in out
        assert read(Path(f"{title}.json").read_bytes()).title == title
    assert main(["task", "questionnaire", "asked.json", "--out", "-"]) == 0
    assert read(capsys.readouterr().out) == read(ASKED)


def test_what_cannot_be_opened_makes_no_database(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "windows.json").write_text(json.dumps(ASKED | {"windows": 12}))
    for file, told in (("js.json", "who: Say who asks"), ("windows.json", "windows cost 2 at most"), ("none.json", "")):
        assert main(["task", "new", "--from", file]) == 2
        assert told in " ".join(capsys.readouterr().err.split())
    assert not (folder / "t.db").exists()
    assert main(["task", "new", "--from", "asked.json", "--subject", "x"]) == 2
    assert "left out with --from" in capsys.readouterr().err
    assert main(["task", "new"]) == 2
    assert "--design must be given, or --survey, or --from" in capsys.readouterr().err


def test_a_weekly_task_that_devices_decline_is_warned_about(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Eight weekly windows went silent from the third on, and nothing said so."""
    (folder / "weekly.json").write_text(json.dumps(ASKED | {"windows": 8, "protection": 0.25, "people": 5000}))
    assert main(["task", "new", "--from", "weekly.json", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)["task"]
    assert document["epsilon"] * document["window"]["count"] <= document["budget"] == 2
    store = open_store("sqlite:///t.db")
    assert len(store.tasks()) == 1
    store.close()


def test_a_file_asks_questions_together(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What it gives and costs is said, and the task is that of the file."""
    items = [{"name": "a", "kind": "yes-no", "text": "Did you?"}, {"name": "b", "kind": "yes-no", "text": "Do you?"}]
    Path("both.json").write_text(json.dumps({**ASKED, "people": 9000, "questions": items, "together": [["a", "b"]]}))
    assert main(["task", "new", "--from", "both.json"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "Asked together (Did you? and Do you?): you also get their table, 9 cells" in told
    assert "dealt one by one, without the table, to within about" in told
    store = open_store("sqlite:///t.db")
    (row,) = store.tasks()
    store.close()
    (part,) = json.loads(row.document)["questions"]
    assert [one["name"] for one in part] == ["a", "b"]
    assert main(["task", "questionnaire", row.id[:12], "--out", "again.json"]) == 1, "people are not known of a task"
    assert read(Path("again.json").read_bytes()).together == (("a", "b"),)
