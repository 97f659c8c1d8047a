"""Files are not overwritten by surprise, nobody is counted twice, and files are not misread."""

from __future__ import annotations

import bz2
import gzip
import lzma
import shutil
from pathlib import Path
from typing import Any

import pytest

import deniable as dn
from deniable.run.layout import Layout
from deniable.run.local import estimate_files, privatize_file, tally_files

from .conftest import Run

SS = ("ss", "--epsilon", 1, "--labels", "yes,no")


@pytest.fixture
def values(tmp_path: Path) -> Path:
    path = tmp_path / "values.txt"
    path.write_text("yes\nno\nyes\n" * 20)
    return path


@pytest.fixture
def reports(run: Run, values: Path, tmp_path: Path) -> Path:
    assert run("privatize", *SS, values, "--out", "r.bin").code == 0
    return tmp_path / "r.bin"


def writing(reports: Path) -> dict[str, tuple[Any, ...]]:
    """A command for every output there is, without the output."""
    table = reports.with_name("t.csv")
    return {
        "privatize --out": ("privatize", *SS, "values.txt", "--out", "x.bin"),
        "tally --out": ("tally", reports, "--out", "x.bin"),
        "estimate --out": ("estimate", reports, "--out", table),
        "estimate --chart": ("estimate", reports, "--chart", "x.json"),
        "simulate --out": (
            "simulate",
            "grr",
            "--epsilon",
            1,
            "--k",
            3,
            "--data",
            "uniform",
            "--runs",
            1,
            "--out",
            table,
        ),
        "simulate --chart": (
            *("simulate", "grr", "--epsilon", 1, "--k", 3, "--data", "uniform", "--runs", 1, "--chart", "x.json"),
        ),
        "plan --chart": ("plan", "--k", 3, "--n", 100, "--epsilon", 1, "--chart", "x.json"),
        "demo --out": ("demo", "--out", "folder", "--people", 1000),
        "reproduce --out": ("reproduce", "uldp", "--figure", "6", "--quick", "--out", "folder"),
    }


NAMES = list(writing(Path("r")))


@pytest.mark.parametrize("name", NAMES)
def test_an_output_that_exists_needs_force(run: Run, reports: Path, tmp_path: Path, name: str) -> None:
    args = writing(reports)[name]
    if name in ("demo --out", "reproduce --out"):
        held = "estimate.csv" if args[0] == "demo" else "uldp/claims.json"
        (tmp_path / "folder" / held).parent.mkdir(parents=True)
        place = tmp_path / "folder" / held
    else:
        place = tmp_path / args[-1]
    place.write_bytes(b"mine")
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    done = run(*args)
    assert done.code == 2
    assert "exists" in done.err
    assert "--force" in done.err
    assert place.read_bytes() == b"mine"
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before
    if args[0] not in ("reproduce", "demo"):  # which take long, and have their own tests
        assert run(*args, "--force").code == 0
        assert place.read_bytes() != b"mine"


@pytest.mark.parametrize("name", ["privatize --out", "tally --out"])
def test_an_output_is_never_the_input(run: Run, reports: Path, values: Path, name: str) -> None:
    source = values if name.startswith("privatize") else reports
    link = source.with_name("link.csv")
    link.symlink_to(source)
    before = source.read_bytes()
    for target in (source, link):
        done = run(*writing(reports)[name][:-1], target, "--force")
        assert (done.code, "out must be another file than the input" in done.err) == (2, True)
    assert source.read_bytes() == before


def test_labels_and_other_outputs_are_not_overwritten(run: Run, reports: Path, values: Path, tmp_path: Path) -> None:
    (tmp_path / "labels.txt").write_text("yes\nno\n")
    given = ("privatize", "ss", "--epsilon", 1, "--labels-file", "labels.txt", values, "--force", "--out")
    assert "out must be another file than the input" in run(*given, "labels.txt").err
    done = run("estimate", reports, "--out", "x.json", "--chart", "x.json")
    assert (done.code, "chart must be another file than the other outputs" in done.err) == (2, True)
    assert not (tmp_path / "x.json").exists()


def test_standard_output_and_devices_need_no_force(run: Run, values: Path) -> None:
    assert run("privatize", *SS, values, "--out", "/dev/null").code == 0
    assert run("privatize", *SS, values, "--out", "-").raw[:4] == b"DNRP"


def test_new_reports_of_the_same_people_are_told_to_cost_again(run: Run, reports: Path, values: Path) -> None:
    done = run("privatize", *SS, values, "--out", reports, "--force")
    assert done.code == 0
    assert "replacing" in done.err
    assert "ss (epsilon = 1, k = 2, size = 1)" in done.err
    assert "a second epsilon: 1.0 and that of the new ones; the two add up" in done.err
    again = run("privatize", *SS, reports, "--format", "lines", "--out", "second.bin")
    assert (again.code, "this one holds reports" in again.err, "second epsilon" in again.err) == (2, True, True)


@pytest.mark.parametrize("command", ["tally", "estimate"])
def test_a_report_file_counts_once(run: Run, reports: Path, values: Path, tmp_path: Path, command: str) -> None:
    """By its id: also as a copy, and within a tally."""
    shutil.copy(reports, tmp_path / "copy.bin")
    assert run("privatize", *SS, values, "--out", "other.bin").code == 0
    assert run("tally", reports, "--out", "a.tally").code == 0
    assert run("tally", "other.bin", "--out", "b.tally").code == 0
    assert run("tally", "a.tally", "b.tally", "--out", "ab.tally").code == 0
    count = tally_files if command == "tally" else estimate_files
    for files in (
        ("r.bin", "r.bin"),
        ("r.bin", "copy.bin"),
        ("a.tally", "r.bin"),
        ("r.bin", "a.tally"),
        ("a.tally", "a.tally"),
        ("ab.tally", "other.bin"),
        ("ab.tally", "b.tally"),
    ):
        with pytest.raises(dn.MergeError, match=f"{files[1]}: these reports were counted already, in {files[0]}"):
            count(files)
    assert run(command, "r.bin", "r.bin").code == 2
    assert count(["r.bin", "other.bin"]).n == count(["ab.tally"]).n == 120


def test_fits_of_reports_count_files_once_too(run: Run, values: Path) -> None:
    args = ("oue", "--epsilon", 1, "--labels", "yes,no")
    assert run("privatize", *args, values, "--out", "r.bin").code == 0
    assert "counted already" in run("estimate", "r.bin", "r.bin", "--method", "em").err


@pytest.mark.filterwarnings("default:.*hold the same counts")
def test_files_without_an_id_are_known_by_their_content(run: Run, tmp_path: Path, values: Path) -> None:
    m = dn.mechanism("ss", epsilon=1.0, labels=["yes", "no"])
    first, second = (m.privatize(["yes", "no"] * 100) for _ in range(2))
    (tmp_path / "a").write_bytes(dn.dump(first))
    (tmp_path / "b").write_bytes(dn.dump(first))
    (tmp_path / "c").write_bytes(dn.dump(second))
    assert "b: these reports were counted already, in a" in run("tally", "a", "b").err
    assert run("tally", "a", "c", "--json").json["n"] == 400
    (tmp_path / "t").write_bytes(dn.dump(m.tally(first)))
    (tmp_path / "u").write_bytes(dn.dump(m.tally(first)))
    assert "this tally was counted already" in run("tally", "t", "t").err
    done = run("tally", "t", "u", "--json")
    assert (done.json["n"], "hold the same counts" in done.err) == (400, True)  # which may be by chance


def test_in_python_tallies_of_one_file_do_not_add_up(run: Run, reports: Path) -> None:
    assert run("tally", reports, "--out", "t").code == 0
    tally = dn.load("t")
    with pytest.raises(dn.MergeError, match="would be counted twice"):
        _ = tally + tally


# ---- CSV files


M = dn.mechanism("grr", epsilon=40.0, labels=["yes", "no", "où"])
"""At epsilon 40 all reports are true, but for a chance below 10^-15."""
LAYOUT = {
    "--format": "format",
    "--delimiter": "delimiter",
    "--text-encoding": "encoding",
    "--compression": "compression",
}


def answers(source: str, *args: object) -> Any:
    """The counts of what a file in the current folder holds, or the error: `privatize` and `tally` without parsing."""
    words = iter(map(str, args))
    how, column = {}, None
    for word in words:
        if word == "--no-header":
            how["header"] = False
        elif word == "--column":
            column = next(words)
        else:
            how[LAYOUT[word]] = next(words)
    try:
        privatize_file(M, source, "r", format=Layout(**how), column=column)  # type: ignore[arg-type]
    except dn.DeniableError as error:
        return str(error)
    return tally_files(["r"]).cells["support"][0].tolist()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_command_hands_on_how_a_file_is_made(run: Run, tmp_path: Path) -> None:
    (tmp_path / "v.dat").write_bytes(gzip.compress("30;où\n31;no\n".encode("latin-1")))
    how = ("--format", "csv", "--delimiter", ";", "--text-encoding", "latin-1", "--compression", "gzip", "--no-header")
    done = run("privatize", "grr", "--epsilon", 40, "--labels", "no,où", "v.dat", *how, "--column", 2, "--out", "r")
    assert done.code == 0
    assert run("tally", "r", "--json").json["cells"]["support"] == [[1, 1]]


@pytest.mark.parametrize("first", ["yes", "", '" "'])
def test_a_header_that_may_be_a_value_is_asked_about(folder: Path, first: str) -> None:
    (folder / "v.csv").write_text(f"{first}\nno\nno\n")
    told = answers("v.csv")
    assert "may be the header or the first value" in told
    assert "--no-header" in told
    assert "--column" in told
    if first == "yes":
        assert answers("v.csv", "--no-header") == [1, 2, 0]
        assert answers("v.csv", "--column", "yes") == [0, 2, 0]


def test_numbers_as_headers_are_asked_about(run: Run, tmp_path: Path) -> None:
    (tmp_path / "v.csv").write_text("1\n0\n1\n")
    for args in (("grr", "--k", 2), ("sw", "--interval", "0,10")):
        done = run("privatize", *args, "--epsilon", 1, "v.csv", "--out", "r")
        assert "the first line, '1', may be the header" in done.err
    (tmp_path / "w.csv").write_text("7\n0\n1\n")  # no answer, so it can only be a name
    assert run("privatize", "grr", "--k", 2, "--epsilon", 1, "w.csv", "--out", "r").code == 0


def test_columns_without_names_have_numbers(run: Run, tmp_path: Path) -> None:
    (tmp_path / "v.csv").write_text("30,yes\n31,no\n")
    assert answers("v.csv", "--no-header", "--column", 2) == [1, 1, 0]
    assert "--no-header" in answers("v.csv", "--column", "answer")
    assert "by their numbers, from 1 on" in answers("v.csv", "--no-header", "--column", "answer")
    (tmp_path / "p.csv").write_text("u,0,1\nv,1,-1\n")
    args = ("privatize", "kv-ss2", "--epsilon", 1, "--k", 2, "p.csv", "--no-header", "--columns", "1,2,3", "--json")
    assert run(*args, "--out", "pairs").json["n"] == 2


def test_near_names_of_columns_are_told(folder: Path) -> None:
    (folder / "v.csv").write_text("age,answer\n30,yes\n")
    assert "Did you mean answer?" in answers("v.csv", "--column", "anser")


@pytest.mark.parametrize(("sign", "name"), [(";", "semicolon"), ("\t", "tab"), ("|", "pipe")])
def test_other_delimiters_are_asked_about(folder: Path, sign: str, name: str) -> None:
    (folder / "v.csv").write_text(f"age{sign}answer\n30{sign}yes\n")
    for args in ((), ("--column", "answer")):
        assert f"--delimiter {name}" in answers("v.csv", *args)
    assert answers("v.csv", "--delimiter", name, "--column", "answer") == [1, 0, 0]
    assert answers("v.csv", "--delimiter", sign, "--column", "answer") == [1, 0, 0]
    assert answers("v.csv", "--delimiter", sign, "--no-header", "--column", "2").count("line 1") == 1


def test_endings_say_how_a_file_is_made(folder: Path) -> None:
    text = "age\tanswer\n30\tyes\n31\toù\n"
    plain, lines = text.encode(), b"yes\nno\n"
    for name, data in {
        "v.tsv": plain,
        "v.tsv.gz": gzip.compress(plain),
        "v.TSV.XZ": lzma.compress(plain),
        "v.tsv.bz2": bz2.compress(plain),
    }.items():
        (folder / name).write_bytes(data)
        assert answers(name, "--column", "answer") == [1, 0, 1]
    (folder / "v.txt.gz").write_bytes(gzip.compress(lines))
    assert answers("v.txt.gz") == [1, 1, 0]
    (folder / "v.dat").write_bytes(gzip.compress(lines))
    assert "format must be given" in answers("v.dat")
    assert answers("v.dat", "--format", "lines", "--compression", "gzip") == [1, 1, 0]


def test_files_that_are_not_as_they_say_are_refused(folder: Path) -> None:
    (folder / "v.txt.gz").write_bytes(b"yes\nno\n")
    assert "v.txt.gz is not compressed by gzip" in answers("v.txt.gz")
    assert answers("v.txt.gz", "--compression", "none") == [1, 1, 0]
    for name, packed in {"c.txt.gz": gzip.compress, "c.txt.bz2": bz2.compress, "c.txt.xz": lzma.compress}.items():
        (folder / name).write_bytes(packed(b"yes\nno\n" * 5000)[:-9])
        assert "or damaged" in answers(name)
    assert tally_files(["r"]).n == 2  # the one that could be read


def test_encodings_are_given_by_name(folder: Path) -> None:
    for name in ("latin-1", "utf-16", "cp1252"):
        (folder / "v.txt").write_text("où\nyes\n", name)
        assert "is not UTF-8 text" in answers("v.txt")
        assert answers("v.txt", "--text-encoding", name) == [1, 0, 1]
    assert "text-encoding must be the name of an encoding of text, got 'nonsense'" in answers(
        "v.txt", "--text-encoding", "nonsense"
    )


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("v.txt", "--delimiter", "tab"), "delimiter must be left out for the format lines"),
        (("v.txt", "--no-header"), "no-header must be left out for the format lines"),
        (("v.csv", "--delimiter", "ab"), "delimiter must be one sign"),
        (("v.csv", "--compression", "zip"), "compression must be one of auto, none, gzip"),
        (("v.parquet", "--text-encoding", "latin-1"), "text-encoding must be left out for the format parquet"),
        (("v.parquet.gz",), "compression must be left out for the format parquet"),
    ],
)
def test_what_a_format_does_not_have_is_refused(folder: Path, args: tuple[str, ...], said: str) -> None:
    (folder / args[0]).write_text("yes\n")
    assert said in answers(*args)


def test_errors_of_distances_name_the_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("0,1\n-1,0\n")
    with pytest.raises(dn.ParameterError, match=r"d\.csv: losses must be >= 0"):
        dn.load(tmp_path / "d.csv")
    assert "d.csv: losses must be" in run("design", "brr", "--epsilon", 1, "--distances", "d.csv").err
