"""`privatize` with a column of levels: the reports are those of the library, and wrong rows are named."""

from __future__ import annotations

import csv

import numpy as np
import pytest

import deniable as dn

LABELS = ["never", "sometimes", "often", "daily"]
PLDP = ["pldp", "--levels", "0.5,1,2", "--level-epsilon", 0.5, "--labels", ",".join(LABELS)]
COLUMNS = ["--column", "answer", "--level-column", "choice"]


@pytest.fixture
def people(tmp_path):
    """300 answers with the levels that were chosen, in a file with a column more."""
    rows = [(i, LABELS[i * i % 4], ["0.5", "1", "2.0"][i % 3]) for i in range(300)]
    with (tmp_path / "people.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("id", "answer", "choice"), *rows])
    return [row[1] for row in rows], [float(row[2]) for row in rows]


@pytest.mark.parametrize("own", [["--base", "sue"], ["--base", "lh", "--sensitive", "often,daily"]])
def test_seeded_reports_are_those_of_the_library(run, people, tmp_path, own):
    done = run("privatize", *PLDP, *own, "people.csv", *COLUMNS, "--out", "reports.bin", "--seed", 7, "--json")
    assert done.code == 0, done.err
    given = dict(zip((name[2:] for name in own[::2]), own[1::2], strict=True))
    m = dn.mechanism("pldp", levels="0.5,1,2", level_epsilon=0.5, labels=LABELS, **given)
    values, levels = people
    expected = m.privatize(values, levels=levels, rng=dn.simulation(7))
    assert (tmp_path / "reports.bin").read_bytes() == dn.dump(expected)
    assert done.json["n"] == 300
    assert run("tally", "reports.bin", "--out", "tally.bin").code == 0
    found = run("estimate", "tally.bin", "--json")
    assert np.allclose(found.json["value"], m.estimate(expected).value)
    assert "SIMULATED" in done.err


def test_chunks_do_not_change_seeded_reports(run, people, tmp_path, monkeypatch):
    monkeypatch.setattr("deniable.run.inputs.CHUNK_VALUES", 64)
    monkeypatch.setattr("deniable.mechanisms.bulk._BLOCK_MOST", 64)
    assert run("privatize", *PLDP, "people.csv", *COLUMNS, "--out", "reports.bin", "--seed", 7).code == 0
    m = dn.mechanism("pldp", levels="0.5,1,2", level_epsilon=0.5, labels=LABELS)
    values, levels = people
    expected = m.privatize(values, levels=levels, rng=dn.simulation(7))
    found = dn.load((tmp_path / "reports.bin").read_bytes())
    assert all(np.array_equal(found.columns[name], column) for name, column in expected.columns.items())


def test_parquet_has_levels_as_numbers(run, people, tmp_path):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    values, levels = people
    parquet.write_table(arrow.table({"answer": values, "choice": levels}), tmp_path / "people.parquet")
    assert run("privatize", *PLDP, "people.parquet", *COLUMNS, "--out", "reports.bin", "--seed", 7).code == 0
    m = dn.mechanism("pldp", levels="0.5,1,2", level_epsilon=0.5, labels=LABELS)
    assert (tmp_path / "reports.bin").read_bytes() == dn.dump(m.privatize(values, levels=levels, rng=dn.simulation(7)))


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ("0.7", "people.csv, line 5, column 'choice': the level must be one of 0.5, 1, 2, got '0.7'"),
        ("", "people.csv, line 5, column 'choice': the level must be one of 0.5, 1, 2, it is missing"),
        ("high", "got 'high'"),
        ("nan", "got 'nan'"),
    ],
)
def test_a_wrong_level_is_refused_with_its_row(run, people, tmp_path, cell, text):
    lines = (tmp_path / "people.csv").read_text().splitlines()
    lines[4] = f"3,often,{cell}"
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n")
    done = run("privatize", *PLDP, "people.csv", *COLUMNS, "--out", "reports.bin")
    assert done.code == 2
    assert text in done.err
    assert "the most protective" in done.err
    assert not (tmp_path / "reports.bin").exists()


def test_columns_are_asked_for(run, people):
    done = run("privatize", *PLDP, "people.csv", "--column", "answer", "--out", "r.bin", "--seed", 1)
    assert done.code == 2
    assert "level-column must be given for pldp" in done.err, "also in a simulation: levels of a file are not made up"
    done = run("privatize", *PLDP, "people.csv", "--level-column", "choice", "--out", "r.bin")
    assert (done.code, "column must be given with level-column" in done.err) == (2, True)
    done = run("privatize", *PLDP, "people.csv", "--column", "answer", "--level-column", "choices", "--out", "r.bin")
    assert (done.code, "one of the columns of people.csv: id, answer, choice" in done.err) == (2, True)
    done = run("privatize", "grr", "--epsilon", 1, "--k", 2, "people.csv", *COLUMNS, "--out", "r.bin")
    assert (done.code, "level-column must be left out: grr has one level for all" in done.err) == (2, True)


def test_one_level_needs_no_column(run, tmp_path):
    (tmp_path / "values.txt").write_text("never\noften\n" * 20)
    one = ["pldp", "--levels", "1", "--labels", ",".join(LABELS)]
    assert run("privatize", *one, "values.txt", "--out", "r.bin").code == 0


@pytest.mark.parametrize("name", ["uss", "upldp"])
def test_counts_of_sensitive_and_harmless_labels_are_shown_apart(run, people, name):
    own = PLDP[1:] if name == "upldp" else ["--epsilon", 1, *PLDP[-2:]]
    columns = COLUMNS if name == "upldp" else COLUMNS[:2]
    given = [name, *own, "--sensitive", "often,daily", "people.csv", *columns]
    assert run("privatize", *given, "--out", "r.bin").code == 0
    shown = run("tally", "r.bin")
    assert shown.code == 0, shown.err
    lines = shown.out.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("sensitive label"))
    assert [line.split()[0] for line in lines[start + 1 : start + 3]] == ["often", "daily"]
    start = next(i for i, line in enumerate(lines) if line.startswith("harmless label"))
    assert [line.split()[0] for line in lines[start + 1 : start + 3]] == ["never", "sometimes"]
