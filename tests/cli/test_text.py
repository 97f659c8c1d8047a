"""What labels, values and file names say is shown, never done: by terminals and by spreadsheets."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deniable as dn
from deniable.run.files import csv_bytes, read_columns, read_values

from .conftest import Run

RED, TITLE, TURN = "\x1b[31mred", "\x1b]0;owned\x07", "\u202elive"
NASTY = [RED, TITLE, TURN, "back\b\b", "line\rover", "\x9b2J", "plain"]
STEERING = [chr(c) for c in (*range(32), *range(127, 160), 0x202E, 0x2066) if chr(c) != "\n"]


def quiet(text: str) -> None:
    """Nothing but lines of characters that are printed."""
    assert [c for c in text if c in STEERING] == []


@pytest.mark.parametrize("label", NASTY[:-1])
def test_no_design_has_labels_that_steer_the_terminal(label: str) -> None:
    with pytest.raises(dn.ParameterError, match="people can") as caught:
        dn.mechanism("grr", epsilon=1.0, labels=["plain", label])
    quiet(str(caught.value))


def test_errors_do_not_steer_the_terminal(run: Run, tmp_path: Path) -> None:
    (tmp_path / "labels").write_text("\n".join(label for label in NASTY if "\r" not in label))
    (tmp_path / "values.txt").write_text("plain\n\x1b[31mother\n")
    (tmp_path / "values.csv").write_text(f"{RED},{TITLE}\n1,2\n")
    (tmp_path / f"{RED}.csv").write_text("a,b\n1,2\n")
    grr = ["privatize", "grr", "--epsilon", 1]
    cases: list[list[object]] = [
        [*grr, "--labels-file", "labels", "values.txt", "--out", "o"],
        [*grr, "--labels", f"a,{RED}", "values.txt", "--out", "o"],
        [*grr, "--k", 3, "values.csv", "--out", "o"],
        [*grr, "--k", 3, "--column", TITLE + "x", "values.csv", "--out", "o"],
        [*grr, "--k", 3, f"{RED}.csv", "--out", "o"],
        [*grr, "--k", 3, f"{RED}.none", "--out", "o"],
        ["tally", f"{RED}.csv"],
        ["tally", f"missing {TITLE}"],
        ["estimate", f"missing {TURN}"],
        ["design", RED, "--epsilon", 1, "--k", 3],
        ["design", "grr", "--epsilon", RED, "--k", 3],
        ["design", "grr", f"--{RED}"],
        [RED],
        ["plan", RED],
    ]
    for args in cases:
        done = run(*args)
        assert done.code == 2, (args, done)
        assert done.err.strip()
        quiet(done.out + done.err)
        quiet(run(*args, "--json").out)


def test_tracebacks_do_not_steer_the_terminal(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DENIABLE_DEBUG", "1")
    done = run("tally", f"missing {RED}")
    assert "Traceback" in done.err
    quiet(done.err)


def test_warnings_are_written_out(capsys: pytest.CaptureFixture[str]) -> None:
    from deniable.cli import app

    app._warn(f"careful {RED}")
    assert capsys.readouterr().err == "warning: careful \\x1b[31mred\n"


# ---- spreadsheets

FORMULAS = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "'=x", "''@", "=", "-", "-inf"]
HARMLESS = ["plain", "a=b", "'quoted'", "-5", "+1.5", "-1e3", "it's", "'", "-.5"]


def test_formulas_in_labels_are_not_computed_by_spreadsheets(run: Run, tmp_path: Path) -> None:
    labels = FORMULAS + HARMLESS
    m = dn.mechanism("grr", epsilon=1.0, labels=labels)
    (tmp_path / "r.bin").write_bytes(dn.dump(m.privatize(labels, rng=dn.simulation(1))))
    assert run("estimate", "r.bin", "--out", "x.csv").code == 0
    with (tmp_path / "x.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["label"] for row in rows] == [f"'{label}" for label in FORMULAS] + HARMLESS
    shown = run("estimate", "r.bin", "--json").json
    for name in ("value", "stderr", "low", "high"):
        assert [float(row[name]) for row in rows] == shown[name]
        assert any(row[name].startswith("-") for row in rows) == any(x < 0 for x in shown[name])
    (chunk,) = read_values(str(tmp_path / "x.csv"), 1 << 10, column="label")
    assert list(chunk.cells) == labels
    assert (m.domain.encode(chunk.cells) == range(len(labels))).all()


def test_an_exported_table_is_read_as_values_again(run: Run, tmp_path: Path) -> None:
    m = dn.mechanism("grr", epsilon=1.0, labels=["=a", "-b"])
    (tmp_path / "r.bin").write_bytes(dn.dump(m.privatize(["=a"], rng=dn.simulation(1))))
    assert run("estimate", "r.bin", "--out", "x.csv").code == 0
    args = ("--epsilon", 1, "--labels", "=a,-b", "--column", "label", "x.csv", "--out", "again.bin", "--seed", 1)
    assert run("privatize", "grr", *args).code == 0


CELLS: list[tuple[object, str]] = [
    ("a", "a"), ("a b", "a b"), ("", ""), (None, ""), (1, "1"), (-0.5, "-0.5"), (True, "True"), ("it's", "it's"),
    ("a,b", '"a,b"'), ('a"b', '"a""b"'), ("a\nb", '"a\nb"'), ("a\rb", '"a\rb"'), ("a\r\nb", '"a\r\nb"'),
    ("a\r", '"a\r"'), ("a;b", "a;b"), ("a\tb", "a\tb"), ("\rb", '"\'\rb"'), ("=a,b", '"\'=a,b"'), ("=a", "'=a"),
]  # fmt: skip


@pytest.mark.parametrize(("cell", "written"), CELLS)
def test_a_cell_is_quoted_if_a_sign_in_it_would_end_it(cell: object, written: str) -> None:
    """Commas, quotation marks and line ends of every kind: a carriage return alone is one for many readers."""
    made = csv_bytes([{"label": cell, "value": 1}, {"label": "b", "value": 2}])
    assert made == f"label,value\n{written},1\nb,2\n".encode()
    rows = list(csv.reader(io.StringIO(made.decode(), newline="")))
    assert [len(row) for row in rows] == [2, 2, 2]


@settings(deadline=None, derandomize=True, max_examples=300)
@given(st.lists(st.text(st.sampled_from("='+-@\t\ra1,\"\n."), min_size=1, max_size=6), min_size=1, max_size=6))
def test_what_is_written_is_read_again(tmp_path_factory: pytest.TempPathFactory, labels: list[str]) -> None:
    path = tmp_path_factory.mktemp("csv") / "x.csv"
    path.write_bytes(csv_bytes([{"=label": label, "value": -1.5} for label in labels]))
    ((names, values),) = read_columns(str(path), 1 << 10, ["=label", "value"])
    assert list(names.cells) == labels
    assert list(values.cells) == ["-1.5"] * len(labels)
    for row in list(csv.reader(io.StringIO(path.read_bytes().decode(), newline="")))[1:]:
        assert row[0][:1] not in ("=", "@", "\t", "\r")
        assert row[1] == "-1.5"


def test_parameters_are_told_in_words_that_are_true(run, tmp_path):
    """`sensitive` is kept as ends of half-open ranges, which nobody reads so; what is not there is not told."""
    (tmp_path / "v.txt").write_text("a\nb\nc\nd\n")
    line = ("uss", "--epsilon", 1, "--labels", "a,b,c,d", "--sensitive", "a,b,d")
    told = [run("privatize", *line, "v.txt", "--out", "r.bin", "--seed", 1).err]
    told += [run(command, "r.bin").out for command in ("tally", "estimate")]
    told += [run("simulate", *line, "--data", "v.txt", "--runs", 1).out, run("design", *line).out]
    told += [run("design", "collaborative", *line[1:]).out]
    for text in told:
        plain = " ".join(text.split())
        assert "0 to 1 and 3" in plain, text
        assert "None" not in text
        assert "[0, 2" not in text
