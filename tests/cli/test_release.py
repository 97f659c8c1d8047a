"""`deniable release`: near answers as values, in the order of their reports."""

from __future__ import annotations

import csv
import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import deniable as dn
from deniable.cli import main
from deniable.run.release import read_released, release_files

PLACES = "label,latitude,longitude\nBerlin,52.5,13.4\nParis,48.9,2.4\n=Rome,41.9,12.5\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def near(name: str, *options: str, values: str = "1\n2\n3.5\n9\n", out: str = "r") -> dn.Reports:
    Path("v.txt").write_text(values)
    assert main(["privatize", name, "--epsilon", "2", *options, "v.txt", "--out", out, "--force"]) == 0
    found = dn.load(out)
    assert isinstance(found, dn.Reports)
    return found


@pytest.mark.parametrize("name", ["brr", "codebook", "exponential", "laplace", "geometric", "lsrr"])
def test_values_are_those_that_the_mechanism_releases(
    name: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ["--points", "10"] if name in ("geometric", "lsrr") else ["--interval", "0,10"]
    reports = near(name, *where, values="1\n2\n3\n9\n")
    m = dn.from_design(reports.design)
    assert main(["release", "r", "--out", "near.csv"]) == 0
    rows = list(csv.DictReader(Path("near.csv").read_text().splitlines()))
    assert [float(row["value"]) for row in rows] == m.released(reports).tolist()  # type: ignore[attr-defined]
    assert {row["simulated"] for row in rows} == {"False"}
    capsys.readouterr()
    assert main(["release", "r", "--json", "--remap"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["values"] == m.remap().apply(reports).tolist()  # type: ignore[attr-defined]
    assert (found["n"], found["mechanism"], found["remapped"], found["simulated"]) == (4, name, True, False)
    assert main(["release", "r", "--out", "remapped.csv", "--remap", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["n"], told["remapped"], told["out"], "values" in told) == (4, True, "remapped.csv", False)
    rows = list(csv.DictReader(Path("remapped.csv").read_text().splitlines()))
    assert [float(row["value"]) for row in rows] == found["values"]


def test_labels_come_back_and_simulated_ones_are_marked(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("places.csv").write_text(PLACES)
    near("brr", "--distances", "places.csv", "--seed", "1", values="Berlin\n" * 20 + "=Rome\n" * 20)
    capsys.readouterr()
    assert main(["release", "r"]) == 0
    told = capsys.readouterr()
    head, *lines = told.out.splitlines()
    assert head == "value,simulated"
    assert len(lines) == 40
    assert {line.rpartition(",")[0] for line in lines} == {"Berlin", "Paris", "'=Rome"}, "no formula for a spreadsheet"
    assert {line.rpartition(",")[2] for line in lines} == {"True"}
    assert "SIMULATED" in told.err


def test_several_files_follow_each_other(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, two = (near("brr", "--interval", "0,10", out=name) for name in ("a", "b"))
    m = dn.from_design(one.design)
    capsys.readouterr()
    assert main(["release", "a", "b", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["values"]
    assert found == np.concatenate([m.released(one), m.released(two)]).tolist()  # type: ignore[attr-defined]


@pytest.mark.parametrize("order", [("a", "s"), ("s", "a"), ("a", "s", "b"), ("a", "b")], ids="".join)
def test_one_simulated_file_marks_the_whole_wherever_it_stands(
    order: tuple[str, ...], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """And each value for itself: whoever takes the real ones only knows which these are."""
    for name in order:
        near("brr", "--interval", "0,10", *(["--seed", "1"] if name == "s" else []), out=name)
    capsys.readouterr()
    marks = [name == "s" for name in order for _ in range(4)]
    for options in ([], ["--out", "near.csv"]):
        assert main(["release", *order, *options]) == 0
        told = capsys.readouterr()
        rows = list(csv.DictReader((Path("near.csv").read_text() if options else told.out).splitlines()))
        assert [row["simulated"] == "True" for row in rows] == marks
        assert ("SIMULATED" in told.err + (told.out if options else "")) is any(marks)
    assert main(["release", *order, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["simulated"] is any(marks)
    assert release_files(order, "again.csv")[1:] == (len(marks), any(marks))


def test_wrong_calls_are_told_and_leave_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    near("brr", "--interval", "0,10")
    near("brr", "--interval", "0,20", out="other")
    near("grr", "--k", "10", values="1\n2\n", out="grr")
    assert main(["tally", "r", "--out", "t"]) == 0
    capsys.readouterr()
    for line, said in {
        "grr": "single reports of grr say nothing that can be read as a value",
        "t": "this is a tally, which has no single reports any more",
        "r other": "other: the reports are brr",
        "r r": "these reports were counted already",
        "r --out near.txt": "--out must be a name that ends in .csv",
        "r --out r": "--out",
        "missing": "cannot read 'missing'",
        "v.txt": "v.txt",
    }.items():
        assert main(["release", *line.split()]) == 2, line
        told = capsys.readouterr()
        assert said in told.err, line
        assert told.out == "" or " " in line, "the first file may be told already"
    assert sorted(path.name for path in folder.iterdir()) == ["grr", "other", "r", "t", "v.txt"]


def test_files_of_both_kinds_are_simulated_together_and_progress_goes_on(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One simulated report makes all that is read simulated, whichever file comes first."""
    near("brr", "--points", "10", values="1\n2\n", out="real")
    near("brr", "--points", "10", "--seed", "1", values="3\n4\n5\n", out="made-up")
    capsys.readouterr()
    for names in (["real", "made-up"], ["made-up", "real"]):
        assert main(["release", *names, "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert (found["n"], found["simulated"]) == (5, True)
        done: list[int] = []
        read_released(names, lambda values, mark: None, progress=partial(_noted, done))
        assert done == sorted(done)
        assert done[-1] > (folder / names[0]).stat().st_size


def _noted(done: list[int], now: int, whole: int | None) -> None:
    assert whole is not None
    assert now <= whole
    done.append(now)
