"""Errors in the words of whoever typed the command, and before anything is announced."""

from __future__ import annotations

import pytest

import deniable as dn


@pytest.fixture
def files(tmp_path):
    (tmp_path / "values.csv").write_text("answer\nYes\nno\n")
    (tmp_path / "levels.csv").write_text("answer,level\nyes,0.5\nno,1\n")
    (tmp_path / "twice.txt").write_text("no\nyes\nno\n")
    (tmp_path / "none.txt").write_text("")
    (tmp_path / "short.csv").write_text("id,answer\n1\n")
    (tmp_path / "empty.bin").write_text("")
    (tmp_path / "folder").mkdir()
    m = dn.mechanism("grr", epsilon=1.0, labels=["no", "yes"])
    dn.save(m.privatize(["no", "yes"], rng=dn.simulation(1)), tmp_path / "r.bin")


GRR = ("privatize", "grr", "--epsilon", 1, "--labels", "no,yes")
PLDP = ("privatize", "pldp", "--levels", "0.5,1", "--level-epsilon", 1, "--labels", "no,yes")
TO = ("--out", "o.bin")
CASES = {
    "labels-file twice": (
        ("design", "grr", "--epsilon", 1, "--labels-file", "twice.txt"),
        "--labels-file must be a file of labels that differ from each other",
    ),
    "labels-file empty": (
        ("design", "grr", "--epsilon", 1, "--labels-file", "none.txt"),
        "--labels-file must be a file of at least 2 labels",
    ),
    "columns": (
        ("privatize", "kv-ss2", "--epsilon", 1, "--k", 2, "values.csv", *TO),
        "--columns must be one of the columns of values.csv: answer, got 'user'",
    ),
    "level-column": (
        (*PLDP, "levels.csv", "--column", "answer", "--level-column", "lvl", *TO),
        "--level-column must be one of the columns of levels.csv: answer, level, got 'lvl'",
    ),
    "promise": (
        ("audit", "ss", "--epsilon", 1, "--k", 4, "--promise", 0),
        "--promise must be a number > 0 and at most 700, got 0.0",
    ),
    "another spelling": ((*GRR, "values.csv", *TO), "Did you mean yes?"),
    "one cell": ((*GRR, "short.csv", "--column", "answer", *TO), "the row has 1 cell, the header has 2"),
    "no file in a folder": ((*GRR, "folder", *TO), "'folder' is a folder without any file to read"),
    "no file of a pattern": ((*GRR, "x-*.csv", *TO), "no file fits the pattern 'x-*.csv'"),
    "an empty file": (("tally", "empty.bin"), "empty.bin: the file is empty."),
    "a table without a design": (("tally", "values.csv"), "error: values.csv: the table does not say"),
    "a domain that is too large": (
        ("design", "plh", "--epsilon", 1, "--k", "1e12"),
        "--k must be at most 4,294,967,296",
    ),
    "level-epsilon": (
        ("design", "pldp", "--levels", "0.5,1", "--k", 4, "--level-epsilon", 0),
        "--level-epsilon must be a number > 0, at most 700, got 0.0",
    ),
    "share": (
        ("design", "ssmix", "--epsilon", 1, "--k", 4, "--share", 0.5),
        "--share must be given together with --size, got 0.5 alone",
    ),
    "options of a mechanism": (
        ("design", "ss", "--epsilon", 1, "--k", 4, "--g", 3),
        "ss has no option --g; its own options are: --size, --rounding, --encoding.",
    ),
    "sensitive": (
        ("design", "uss", "--epsilon", 1, "--labels", "often,never", "--sensitive", "oftn"),
        "Did you mean often?",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_an_error_names_what_was_typed(run, files, name):
    line, message = CASES[name]
    done = run(*line)
    assert done.code == 2
    assert message in done.err


@pytest.mark.parametrize(
    ("line", "flag"),
    [
        ((*GRR, "values.csv", "--out", "nowhere/o.bin"), "--out"),
        ((*GRR, "values.csv", "--out", "folder"), "--out"),
        (("plan", "--k", 4, "--n", 10, "--epsilon", 1, "--chart", "nowhere/c.png"), "--chart"),
        (("simulate", "grr", "--epsilon", 1, "--k", 4, "--data", "uniform", "--out", "nowhere/o.csv"), "--out"),
        (("estimate", "r.bin", "--top", 0), "--top"),
        (("estimate", "r.bin", "--out", "nowhere/e.csv"), "--out"),
        (("attack", "grr", "--epsilon", 1, "--k", 4, "--reports", 0), "--reports"),
        (("attack", "grr", "--epsilon", 1, "--k", 4, "--target", "names"), "--target"),
        (("attack", "grr", "--epsilon", 1, "--k", 4, "--target", "level"), "--target"),
    ],
)
def test_nothing_is_announced_before_a_wrong_option(run, files, line, flag):
    done = run(*line)
    assert done.code == 2
    assert done.err.startswith(f"error: {flag} must be "), done.err


def test_designs_that_differ_are_told_without_their_integers(run, files, tmp_path):
    m = dn.mechanism("grr", epsilon=2.0, labels=["no", "yes"])
    dn.save(m.privatize(["no", "yes"], rng=dn.simulation(2)), tmp_path / "s.bin")
    done = run("tally", "r.bin", "s.bin")
    assert "epsilon is 1.0 in one and 2.0 in the other" in done.err
    assert "kernel" not in done.err
