"""Errors say what to do next, in words that fit the command; spreadsheets, full disks and closed outputs."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

SS = ["--epsilon", 1, "--k", 4]
HINTS = {
    "a decimal comma": (["design", "ss", "--epsilon", "1,5", "--k", 4], "Decimals stand behind a point, as in 1.5."),
    "no number": (["design", "ss", "--epsilon", "one", "--k", 4], "For example 1 or 0.5."),
    "out of range": (["design", "ss", "--epsilon", 0, "--k", 4], "See `deniable design --help`."),
    "a value of a flag": (["design", "ss", *SS, "--json=1"], "See `deniable design --help`."),
    "a missing argument": (["design", *SS], "The mechanism; `deniable mechanisms` lists them."),
    "a missing option": (["simulate", "ss", *SS], "or a file as `privatize` takes it"),
    "before the command": (["--epsilon", 1, "design", "ss"], "Options stand behind the command that they belong to."),
    "part of a name": (["simulate", "ss", "--epsilon", 1, "--data", "adult"], "Did you mean adult-age or adult-edu"),
    "a misspelt name": (["simulate", "ss", *SS, "--data", "zipff"], "Did you mean zipf? A file is known by its ending"),
    "one label": (["design", "ss", "--epsilon", 1, "--labels", "a"], "For a yes/no question: --labels no,yes."),
    "a label twice": (["design", "ss", "--epsilon", 1, "--labels", "b,a,a"], "'a' is there twice."),
    "labels of another encoding": (["design", "ss", "--epsilon", 1, "--labels-file", "latin.txt"], "Save the labels"),
    "no distances": (["design", "brr", "--epsilon", 1, "--distances", "x.csv"], "columns latitude and longitude"),
    "a folder": (["privatize", "ss", *SS, "v.txt", "--out", "folder"], "a file in it: folder/NAME"),
    "an empty name": (["estimate", ""], "Give the path of a file"),
    "too many runs": (
        ["simulate", "ss", *SS, "--data", "uniform", "--runs", "1e12"],
        "closed forms (`deniable design`)",
    ),
    "too many people": (
        ["simulate", "hm", "--epsilon", 1, "--interval", "0,1", "--data", "uniform", "--n", "1e12"],
        "cl",
    ),
    "no unbiased estimate": (["estimate", "brr.bin"], "(on the command line estimate --method em)"),
}


@pytest.fixture
def files(tmp_path):
    import deniable as dn

    (tmp_path / "folder").mkdir()
    (tmp_path / "v.txt").write_text("0\n1\n")
    (tmp_path / "latin.txt").write_bytes("a\ncaf\xe9\n".encode("latin-1"))
    m = dn.mechanism("brr", epsilon=2.0, points=64)
    (tmp_path / "brr.bin").write_bytes(dn.dump(m.privatize([1, 2], rng=dn.simulation(1))))


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(("line", "hint"), HINTS.values(), ids=HINTS)
def test_an_error_says_what_to_do(run, line, hint):
    done = run(*line)
    assert done.code == 2
    told = [text for text in done.err.splitlines() if text.startswith("hint: ")]
    assert len(told) == 1
    assert hint in told[0]
    assert "(--" not in told[0], "calls of Python stay what they are"
    assert hint in run(*line, "--json").json["error"]["hint"]


@pytest.mark.parametrize("again", [["--sensitive", "b"], ["--sensitive=a"], ["--epsilon", 2]])
def test_an_option_is_given_once(run, again):
    """Of two lists of sensitive answers the second would be the only one that is protected."""
    line = ["design", "uss", "--epsilon", 1, "--labels", "a,b,c", "--sensitive", "a"]
    assert run(*line).code == 0
    done = run(*line, *again)
    assert done.code == 2
    assert f"{again[0].partition('=')[0]} must be given once, got it twice." in done.err


def test_options_that_take_several_and_values_that_look_like_options_stay(run, tmp_path):
    (tmp_path / "--k").write_text("0\n1\n")
    done = run("privatize", "ss", "--epsilon", 1, "--k", 2, "--format", "lines", "--out", "r.bin", "--", "--k")
    assert done.code == 0, done.err


def test_a_row_is_told_by_the_line_that_it_begins_in(run, tmp_path):
    (tmp_path / "v.csv").write_text('answer,note\n0,"one\ntwo"\n7,"one\ntwo\nthree"\n1,x\n')
    line = ["privatize", "ss", *SS, "v.csv", "--column", "answer", "--out", "r.bin"]
    assert "v.csv, line 4: values must be" in run(*line).err
    (tmp_path / "v.csv").write_text('answer,note\n0,"one\ntwo"\n1,"one"two\n')
    done = run(*line)
    assert "v.csv, line 4: this is not well-formed CSV" in done.err
    assert "stands in quotation marks" in done.err


@pytest.mark.parametrize("cell", ['"1,234.5"', '"1.234,5"', "1'234", "1 234"])
@pytest.mark.parametrize("clip", [[], ["--clip"]], ids=["", "clip"])
def test_separators_of_thousands_are_told(run, tmp_path, cell, clip):
    (tmp_path / "v.csv").write_text(f"amount\n{cell}\n")
    done = run("privatize", "hm", "--epsilon", 1, "--interval", "0,3000", *clip, "v.csv", "--out", "r.bin")
    assert done.code == 2
    assert "nothing between thousands: 1234.5" in done.err


def test_labels_of_a_file_are_told_by_their_lines(run, tmp_path):
    (tmp_path / "labels.txt").write_text("yes\nno\nyes\n")
    done = run("design", "ss", "--epsilon", 1, "--labels-file", "labels.txt")
    assert done.code == 2
    assert "--labels-file must be a file of labels that differ" in done.err
    assert "got 'yes' in the lines 1 and 3 of labels.txt." in done.err


def _shell(redirection: str, *args: str) -> subprocess.CompletedProcess[str]:
    """A command with its outputs redirected by a shell."""
    line = f'"{sys.executable}" -m deniable {" ".join(args)} {redirection}'
    return subprocess.run(["sh", "-c", line], capture_output=True, text=True, timeout=60, env={**os.environ})


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("json", [[], ["--json"]], ids=["", "json"])
def test_a_full_disk_is_told_without_a_traceback(json):
    done = _shell("> /dev/full", "design", "ss", "--epsilon", "1", "--k", "4", *json)
    assert done.returncode == 2
    assert done.stderr.startswith("error: the operating system refused: ")
    assert done.stderr.splitlines()[1].startswith("hint: ")
    assert len(done.stderr.splitlines()) == 2


def test_a_closed_output_is_no_reason_to_fail():
    done = _shell(">&-", "design", "ss", "--epsilon", "1", "--k", "4", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    done = _shell(">&- 2>&-", "design", "ss", "--epsilon", "0", "--k", "4")
    assert done.returncode == 2


def test_too_little_memory_is_told(run, monkeypatch):
    from deniable.cli import app

    def full(*_: object) -> int:
        raise MemoryError

    monkeypatch.setattr(app, "_run", full)
    done = run("mechanisms")
    assert done.code == 2
    assert "error: this takes more memory than there is." in done.err
