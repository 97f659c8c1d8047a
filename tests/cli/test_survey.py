"""The command `survey`: from questions to estimates, in files, and what it says where something is wrong."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.cli import main
from deniable.run.survey import read_survey, write_survey

ASKED = ["--question", "smokes=no,yes", "--question", "sport=4", "--question", "income=0..5000"]


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    rng = dn.simulation(1).generator()
    rows = zip(rng.integers(0, 2, 4000), rng.integers(0, 4, 4000), rng.uniform(0, 5000, 4000), strict=True)
    path = tmp_path / "answers.csv"
    lines = [f"{'yes' if smokes else 'no'},{sport},{income:.2f}" for smokes, sport, income in rows]
    path.write_text("\n".join(["smokes,sport,income", *lines]) + "\n")
    return path


def told(capsys: pytest.CaptureFixture[str], *args: object) -> dict[str, Any]:
    assert main([*map(str, args), "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def refused(capsys: pytest.CaptureFixture[str], *args: object) -> str:
    assert main([*map(str, args), "--json"]) == 2
    return str(json.loads(capsys.readouterr().out)["error"]["message"])


def test_a_plan(capsys: pytest.CaptureFixture[str]) -> None:
    found = told(capsys, "survey", "plan", *ASKED, "--epsilon", 1, "--n", 20_000)
    asked = {"smokes": ["no", "yes"], "sport": 4, "income": {"interval": (0, 5000)}}
    made = dn.survey(asked, epsilon=1.0)
    assert found["shares"] == made.properties()["shares"]
    assert found["people"]["sport"] == pytest.approx(20_000 * found["shares"]["sport"])
    assert found["compared"]["together_from"] == pytest.approx(2.3442, abs=1e-3)
    assert found["compared"]["split"] > found["mse_sum"] * 20_000
    assert found["design"] == json.loads(json.dumps(made.design()))
    few = told(capsys, "survey", "plan", "--question", "a=2", "--question", "b=2", "--epsilon", 2, "--stderr", 0.01)
    assert (few["scheme"], few["n"]) == ("box", few["needed"])
    assert main(["survey", "plan", *ASKED, "--epsilon", "1"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "everybody answers one question" in text
    assert "Asking some of them together pays from epsilon 2.34 on." in text


def test_from_answers_to_estimates(tmp_path: Path, answers: Path, capsys: pytest.CaptureFixture[str]) -> None:
    survey, reports, tally = tmp_path / "s.json", tmp_path / "r.bin", tmp_path / "t.bin"
    assert main(["survey", "design", *ASKED, "--epsilon", "2", "--out", str(survey)]) == 0
    seeded = ["--seed", "1", "--out", str(reports)]
    assert main(["survey", "privatize", str(survey), str(answers), *seeded]) == 0
    capsys.readouterr()
    counted = told(capsys, "survey", "tally", survey, reports, "--out", tally)
    assert sum(counted["parts"].values()) == counted["n"] == 4000
    table, chart = tmp_path / "e.csv", tmp_path / "c.json"
    found = told(capsys, "survey", "estimate", survey, tally, "--out", table, "--chart", chart)
    assert list(found["questions"]) == ["smokes", "sport", "income"]
    assert found["questions"]["income"]["value"][0] == pytest.approx(2500, abs=300)
    assert {row["question"] for row in csv.DictReader(table.read_text().splitlines())} == {"smokes", "sport", "income"}
    assert len(json.loads(chart.read_text())["vconcat"]) == 3
    again = told(capsys, "survey", "estimate", survey, reports)
    assert again["questions"]["sport"] == found["questions"]["sport"]
    assert main(["survey", "estimate", str(survey), str(tally)]) == 0
    assert "smokes (" in capsys.readouterr().out


def test_parts_that_were_dealt_beforehand(tmp_path: Path, answers: Path, capsys: pytest.CaptureFixture[str]) -> None:
    survey, parts, reports = tmp_path / "s.json", tmp_path / "parts.csv", tmp_path / "r.bin"
    assert main(["survey", "design", *ASKED, "--epsilon", "1", "--out", str(survey)]) == 0
    capsys.readouterr()
    dealt = told(capsys, "survey", "assign", survey, "--n", 4000, "--out", parts, "--seed", 1)
    both = [f"{one},{two}" for one, two in zip(answers.read_text().split(), parts.read_text().split(), strict=True)]
    answers.write_text("\n".join(both) + "\n")
    given = ["--out", str(reports), "--part-column", "part", "--seed", "1"]
    assert main(["survey", "privatize", str(survey), str(answers), *given]) == 0
    capsys.readouterr()
    assert told(capsys, "survey", "tally", survey, reports)["parts"] == dealt["parts"]
    answers.write_text(answers.read_text().replace(",0\n", ",7\n", 1))
    message = refused(capsys, "survey", "privatize", survey, answers, *given, "--force")
    assert "a part is a number from 0 to 2, got '7'" in message


def test_tables(tmp_path: Path, answers: Path, capsys: pytest.CaptureFixture[str]) -> None:
    survey, reports = tmp_path / "s.json", tmp_path / "r.bin"
    tables = ["--tables", "smokes:sport"]
    assert main(["survey", "design", *ASKED, *tables, "--epsilon", "2", "--out", str(survey)]) == 0
    assert main(["survey", "privatize", str(survey), str(answers), "--seed", "2", "--out", str(reports)]) == 0
    capsys.readouterr()
    found = told(capsys, "survey", "table", survey, reports, "--of", "smokes,sport")
    assert len(found["cells"]["value"]) == 8
    assert sum(found["cells"]["value"]) == pytest.approx(1.0)
    assert 0 <= found["independence"]["pvalue"] <= 1
    assert main(["survey", "table", str(survey), str(reports), "--of", "sport,smokes"]) == 0
    assert "Are they independent?" in capsys.readouterr().out
    message = refused(capsys, "survey", "table", survey, reports, "--of", "smokes,income")
    assert "smokes and income have no table" in message


def test_questions_in_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "q.json"
    asked = {
        "ill": {"labels": ["no", "flu", "HIV"], "sensitive": ["HIV"]},
        "films": {"keys": ["a", "b", "c"], "length": 2, "range": [0, 10]},
        "word": {"mechanism": "olh", "k": 50},
    }
    path.write_text(json.dumps({"questions": asked, "epsilon": 1, "weights": {"word": 2}}))
    found = told(capsys, "survey", "plan", path)
    assert list(found["shares"]) == ["ill", "films", "word"]
    assert found["mechanisms"]["word"] == "olh"
    survey, answers, reports = tmp_path / "s.json", tmp_path / "a.csv", tmp_path / "r.bin"
    assert main(["survey", "design", str(path), "--out", str(survey)]) == 0
    rows = [
        'flu,"[[""a"", 5.0]]",3',
        'HIV,"[[""b"", 1.0], [""c"", 9]]",49',
        "no,,0",
    ] * 400  # so many that no group of pairs is without a report
    answers.write_text("\n".join(["ill,films,word", *rows]) + "\n")
    assert main(["survey", "privatize", str(survey), str(answers), "--out", str(reports)]) == 0
    capsys.readouterr()
    assert told(capsys, "survey", "estimate", survey, reports)["n"] == 1200
    answers.write_text("ill,films,word\nflu,oops,3\n")
    message = refused(capsys, "survey", "privatize", survey, answers, "--out", tmp_path / "x.bin")
    assert "line 2, column 'films': a list is needed, got 'oops'" in message


@pytest.mark.parametrize(
    ("written", "options", "read"),
    [
        ({"epsilon": 1}, ["--epsilon", "2"], {"epsilon": 2.0}),
        ({"epsilon": 1}, [], {"epsilon": 1.0}),
        ({}, ["--epsilon", "2"], {"epsilon": 2.0}),
        ({"epsilon": 1, "weights": {"b": 9}}, ["--weights", "a=9"], {"shares": "a"}),
        ({"epsilon": 1, "weights": {"b": 9}}, ["--epsilon", "3"], {"shares": "b", "epsilon": 3.0}),
    ],
)
def test_options_come_before_what_the_file_of_questions_says(
    written: dict[str, Any],
    options: list[str],
    read: dict[str, Any],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """And what only the file says stays."""
    path = tmp_path / "q.json"
    path.write_text(json.dumps({"questions": {"a": {"k": 4}, "b": {"k": 4}}, **written}))
    found = told(capsys, "survey", "plan", path, *options)
    found["shares"] = max(found["shares"], key=found["shares"].get)
    assert {name: found[name] for name in read} == read


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["plan"], "a file of them, or --question for each, got neither"),
        (["plan", "--question", "a"], "question must be NAME=WHAT, got 'a'"),
        (["plan", "--question", "a=2", "--question", "a=3"], "question must be given once, got 'a'"),
        (["plan", "--question", "a=2", "--epsilon", "1", "--weights", "a=x"], "weights must be numbers"),
        (["plan", "--question", "a=2", "--epsilon", "1", "--stderr", "0"], "stderr must be numbers > 0"),
        (["plan", "--question", "a=1", "--epsilon", "1"], "a: k must be an integer >= 2"),
        (["plan", "--question", "a=2", "--epsilon", "1", "--scheme", "x"], "scheme must be one of auto, one"),
    ],
)
def test_what_cannot_be_planned(args: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert message in refused(capsys, "survey", *args)


# ---- survey files


@pytest.mark.parametrize(
    "settings",
    [
        {"epsilon": 1.0},
        {"epsilon": 3.0},
        {"epsilon": 1.0, "weights": {"b": 0, "c": 7}},
        {"epsilon": 2.0, "stderr": 0.01},
        {"epsilon": 1.0, "tables": [("a", "b")]},
        {"epsilon": 1.0, "scheme": "effects"},
    ],
    ids=str,
)
def test_a_survey_comes_back_from_its_file(settings: dict[str, Any], tmp_path: Path) -> None:
    made = dn.survey({"a": ["no", "yes"], "b": 2, "c": 5, "d": 12}, **settings)
    write_survey(made, str(tmp_path / "s.json"))
    back = read_survey(str(tmp_path / "s.json"))
    assert back.design() == made.design()
    assert (back.parts, back.scheme, back.names) == (made.parts, made.scheme, made.names)
    frame = {"a": ["no", "yes"] * 200, "b": [0, 1] * 200, "c": [4, 2] * 200, "d": [11, 0] * 200}
    reports = made.privatize(frame, rng=dn.simulation(1))
    one, two = made.estimate(reports), back.estimate(reports)
    assert {name: e.labels for name, e in one.items()} == {name: e.labels for name, e in two.items()}
    assert all(np.array_equal(one[name].value, two[name].value) for name in one)
    assert back.properties(100)["shares"] == pytest.approx(made.properties(100)["shares"])


def test_survey_files_that_do_not_agree_with_themselves_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    write_survey(dn.survey({"a": 2, "b": 2, "c": 5}, epsilon=3.0), str(path))
    good = json.loads(path.read_text())
    other = dn.survey({"a": 2, "b": 2, "c": 5}, epsilon=1.0)
    changes: list[dict[str, Any]] = [
        {"survey": 2},
        {"parts": [[0, 2], [1]]},
        {"parts": [[0, 1], [2], [2]]},
        {"parts": [[0, 1]]},
        {"parts": [[0, 1], [9]]},
        {"parts": "x"},
        {"weights": [1, 1]},
        {"scheme": "mine"},
        {"questions": {}},
        {"design": other.design()},
        {"design": None},
        {"tables": [["a", "b"]]},
    ]
    for change in changes:
        path.write_text(json.dumps(good | change))
        with pytest.raises((dn.FormatError, dn.ParameterError)):
            read_survey(str(path))
    path.write_text(json.dumps({name: part for name, part in good.items() if name != "questions"}))
    with pytest.raises(dn.FormatError, match="not well formed"):
        read_survey(str(path))


def test_a_survey_is_tried_on_people_whose_answers_are_known(run, tmp_path):
    asked = ("--question", "smokes=no,yes", "--question", "sports=2 of football,swimming,chess", "--epsilon", 2)
    survey = tmp_path / "survey.json"
    assert run("survey", "design", *asked, "--out", survey).code == 0
    told = run("survey", "simulate", survey, "--n", 4000, "--runs", 12, "--json").json
    assert (told["n"], told["runs"], told["simulated"]) == (4000, 12, True)
    assert set(told["estimates"]) == {"smokes: frequency", "sports: frequency"}
    for found in told["estimates"].values():  # 24 or 36 errors: within a factor of 2 for one seed
        assert 0.5 < found["rmse"] / found["stderr"] < 2
        assert found["covered"] > 0.7
    answers = tmp_path / "answers.csv"
    answers.write_text("smokes,sports\n" + "no,football;chess\nyes,\n" * 500)
    read = run("survey", "simulate", survey, "--data", answers, "--runs", 4, "--json").json
    assert read["n"] == 1000
    assert read["estimates"] != told["estimates"]
    assert "left out without --data" in run("survey", "simulate", survey, "--columns", "a,b").err
    assert run("survey", "simulate", survey, "--runs", 0).code == 2
