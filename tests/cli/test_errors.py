"""Bad use and bad input: exit code 2, one clear error, no output left behind."""

from __future__ import annotations

import zlib

import pytest

import deniable as dn

GRR = ["grr", "--epsilon", 1, "--k", 3]


@pytest.fixture
def files(tmp_path):
    """Files that are fine, and files that are not."""
    (tmp_path / "v.txt").write_text("0\n1\n2\n")
    (tmp_path / "outside.txt").write_text("0\n1\n3\n")
    (tmp_path / "words.txt").write_text("0\none\n")
    (tmp_path / "half.txt").write_text("0\n1.5\n")
    (tmp_path / "gap.txt").write_text("0\n\n1\n")
    (tmp_path / "empty.txt").write_text("")
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "head.csv").write_text("a\n")
    (tmp_path / "two.csv").write_text("age,job\n1,2\n")
    (tmp_path / "twice.csv").write_text("a,a\n1,2\n")
    (tmp_path / "ragged.csv").write_text("age,job\n1,2\n1\n")
    (tmp_path / "open.csv").write_text('a\n"1\n')
    (tmp_path / "v.dat").write_text("0\n")
    (tmp_path / "latin.txt").write_bytes("caf\xe9\n".encode("latin-1"))
    (tmp_path / "no.parquet").write_text("0\n")
    m = dn.mechanism("grr", epsilon=1.0, k=3)
    reports = m.privatize([0, 1, 2, 1])
    tally = dn.dump(m.tally(reports))
    other = dn.mechanism("grr", epsilon=2.0, k=3)
    data = dn.dump(reports)
    (tmp_path / "good.r").write_bytes(data)
    (tmp_path / "good.t").write_bytes(tally)
    (tmp_path / "other.t").write_bytes(dn.dump(other.tally(other.privatize([0]))))
    (tmp_path / "none.r").write_bytes(dn.dump(reports[0:0]))
    (tmp_path / "cut.r").write_bytes(data[:-9])
    (tmp_path / "cut.t").write_bytes(tally[:-9])
    (tmp_path / "longer.r").write_bytes(data + b"x")
    (tmp_path / "altered.r").write_bytes(data[:-20] + bytes([data[-20] ^ 1]) + data[-19:])
    (tmp_path / "altered.t").write_bytes(tally[:-8] + bytes([tally[-8] ^ 1]) + tally[-7:])
    (tmp_path / "design.t").write_bytes(tally.replace(b'"epsilon":1.0', b'"epsilon":9.0'))
    (tmp_path / "forged.t").write_bytes(forged(tally))
    (tmp_path / "version.r").write_bytes(data[:4] + b"\x09" + data[5:])
    (tmp_path / "folder").mkdir()


def forged(tally: bytes) -> bytes:
    """A tally whose header says another epsilon than its integers, with a check sum that fits."""
    length = int.from_bytes(tally[5:9], "little")
    head = tally[9 : 9 + length].replace(b'"epsilon":1.0', b'"epsilon":9.0')
    return tally[:9] + head + zlib.crc32(head).to_bytes(4, "little") + tally[13 + length :]


P = "privatize"
OUT = ["--out", "out.bin"]
BAD = {
    "k below 2": ([P, "ss", "--epsilon", 1, "--k", 1, "v.txt", *OUT], "k must be an integer >= 2, got 1."),
    "k no number": ([P, "ss", "--epsilon", 1, "--k", "many", "v.txt", *OUT], "k must be a whole number, got 'many'."),
    "k no whole number": (
        [P, "ss", "--epsilon", 1, "--k", "3.0", "v.txt", *OUT],
        "k must be a whole number, got '3.0'.",
    ),
    "epsilon 0": ([P, "ss", "--epsilon", 0, "--k", 3, "v.txt", *OUT], "epsilon must be a finite number > 0, got 0.0."),
    "epsilon negative": (
        [P, "ss", "--epsilon", -1, "--k", 3, "v.txt", *OUT],
        "epsilon must be a finite number > 0, got -1.0.",
    ),
    "epsilon nan": (
        [P, "ss", "--epsilon", "nan", "--k", 3, "v.txt", *OUT],
        "epsilon must be a finite number > 0, got nan.",
    ),
    "epsilon no number": (
        [P, "ss", "--epsilon", "lots", "--k", 3, "v.txt", *OUT],
        "epsilon must be a number, got 'lots'.",
    ),
    "epsilon too large": (
        [P, "ss", "--epsilon", 41, "--k", 3, "v.txt", *OUT],
        "epsilon must be at most 40 to draw reports, got 41.0.",
    ),
    "epsilon beyond floats": (["design", "ss", "--epsilon", 701, "--k", 3], "epsilon must be at most 700, got 701.0."),
    "epsilon left out": (["design", "ss", "--k", 3], "epsilon must be given."),
    "epsilon left out of audit": (["audit", "ss", "--k", 3], "epsilon must be given."),
    "a law's number as a prior": (
        ["attack", *GRR, "--prior", "zipf:x"],
        "--prior must be one of adult-age, adult-education, adult-country, bank-job, uniform, zipf[:S]",
    ),
    "a law's number out of range": (["simulate", *GRR, "--data", "zipf:-1"], "--data must be one of adult-age"),
    "two of three": (
        ["plan", "--k", 20, "--n", 100],
        "two of --n, --epsilon and --target-error must be given, got --n.",
    ),
    "an option of another choice": (
        ["design", "ass", "--epsilon", 1, "--k", 10, "--reference", "1,1"],
        "--reference must be left out unless --select is hypervolume; it is weighted, got '1,1'.",
    ),
    "needed and left out": (
        ["design", "pldp", "--levels", "1,2", "--k", 10],
        "--level-epsilon must be a number > 0, at most 700, but it was left out.",
    ),
    "all but no number": (
        ["plan", "--k", 9, "--n", 9, "--epsilon", 1, "--top", 0],
        "an integer >= 1; left out for all",
    ),
    "means of shares": (["estimate", "good.r", "--chart-means", "m.html"], "--chart-means must be left out"),
    "a design that is none": (
        ["estimate", "good.r", "--design", "v.txt"],
        "v.txt: this is not a design: it is not JSON.",
    ),
    "value outside": (
        [P, *GRR, "outside.txt", *OUT],
        "outside.txt, line 3: values must be whole numbers from 0 to 2, got '3'.",
    ),
    "value of wrong type": (
        [P, *GRR, "words.txt", *OUT],
        "words.txt, line 2: values must be whole numbers from 0 to 2, got 'one'.",
    ),
    "value not whole": (
        [P, *GRR, "half.txt", *OUT],
        "half.txt, line 2: values must be whole numbers from 0 to 2, got '1.5'.",
    ),
    "value missing": (
        [P, *GRR, "gap.txt", *OUT],
        "gap.txt, line 2: the value is missing; values must be whole numbers from 0 to 2.",
    ),
    "value no label": (
        [P, "grr", "--epsilon", 1, "--labels", "0,1", "v.txt", *OUT],
        "v.txt, line 3: values must be one of the 2 labels (0, 1), got '2'.",
    ),
    "no values": ([P, *GRR, "empty.txt", *OUT], "empty.txt has no values."),
    "no header": ([P, *GRR, "empty.csv", *OUT], "empty.csv is empty; a CSV file starts with a header row."),
    "only a header": ([P, *GRR, "head.csv", *OUT], "head.csv has no values."),
    "no column named": (
        [P, *GRR, "two.csv", *OUT],
        "column must be given, since two.csv has the columns age, job, but it was left out.",
    ),
    "no such column": (
        [P, *GRR, "two.csv", "--column", "x", *OUT],
        "column must be one of the columns of two.csv: age, job, got 'x'.",
    ),
    "column twice": (
        [P, *GRR, "twice.csv", "--column", "a", *OUT],
        "column must be a column that occurs once, got 'a'.",
    ),
    "column of lines": ([P, *GRR, "v.txt", "--column", "a", *OUT], "column must be left out, got 'a'."),
    "ragged row": (
        [P, *GRR, "ragged.csv", "--column", "age", *OUT],
        "ragged.csv, line 3: the row has 1 cell, the header has 2.",
    ),
    "open quote": (
        [P, *GRR, "open.csv", *OUT],
        "open.csv, line 2: this is not well-formed CSV: unexpected end of data.",
    ),
    "unknown suffix": (
        [P, *GRR, "v.dat", *OUT],
        "format must be given for 'v.dat': its suffix is none of .csv, .tsv, .parquet, .txt, .arrow, .feather, .ipc.",
    ),
    "unknown format": (
        [P, *GRR, "v.txt", "--format", "xml", *OUT],
        "format must be one of auto, csv, lines, parquet, arrow, got 'xml'.",
    ),
    "no UTF-8": ([P, *GRR, "latin.txt", *OUT], "latin.txt is not UTF-8 text (invalid continuation byte)."),
    "no Parquet": ([P, *GRR, "no.parquet", *OUT], "no.parquet is not in the Parquet format, or damaged: "),
    "Parquet through a pipe": (
        [P, *GRR, "-", "--format", "parquet", *OUT],
        "format must be csv or lines for standard input, got 'parquet'.",
    ),
    "no such file": ([P, *GRR, "nowhere.txt", *OUT], "cannot read 'nowhere.txt': No such file or directory."),
    "an empty folder to read": (
        [P, *GRR, "folder", "--format", "lines", *OUT],
        "'folder' is a folder without any file to read.",
    ),
    "a folder to write": ([P, *GRR, "v.txt", "--out", "folder"], "out must be the name of a file, got 'folder'."),
    "no folder to write to": (
        [P, *GRR, "v.txt", "--out", "gone/x"],
        "out must be in a folder that exists, got 'gone/x'.",
    ),
    "out left out": ([P, *GRR, "v.txt"], "Missing option '--out'."),
    "seed negative": ([P, *GRR, "v.txt", "--seed", -1, *OUT], "seed must be an integer >= 0, got -1."),
    "k and labels": (
        [P, *GRR, "--labels", "a,b", "v.txt", *OUT],
        "the domain must be given by exactly one of --k, --labels and --labels-file, got --k and --labels.",
    ),
    "no domain": (
        ["design", "grr", "--epsilon", 1],
        "the domain must be given by exactly one of --k, --labels and --labels-file, got none.",
    ),
    "missing without labels": (
        [P, *GRR, "--missing", "0", "v.txt", *OUT],
        "missing must be one of the labels, got '0'.",
    ),
    "other unlisted": (
        ["design", "grr", "--epsilon", 1, "--labels", "a,b", "--other", "c"],
        "other must be one of the labels, got 'c'.",
    ),
    "empty label": (
        ["design", "grr", "--epsilon", 1, "--labels", "a,,b"],
        "labels must be free of empty ones, got 'a,,b'.",
    ),
    "empty line of labels": (
        ["design", "grr", "--epsilon", 1, "--labels-file", "gap.txt"],
        "labels-file must be free of empty lines, got gap.txt, line 2.",
    ),
    "label twice": (["design", "grr", "--epsilon", 1, "--labels", "a,a"], "labels must be different from each other"),
    "unknown mechanism": (["design", "xyz", "--epsilon", 1, "--k", 3], "mechanism must be one of grr, ss"),
    "option of another mechanism": (
        ["design", "grr", "--epsilon", 1, "--k", 3, "--size", 2],
        "grr has no option --size",
    ),
    "option's value": (
        ["design", "ss", "--epsilon", 1, "--k", 3, "--rounding", "up"],
        "rounding must be one of paper, best, got 'up'.",
    ),
    "unknown option": (["design", *GRR, "--colour", "red"], "No such option: --colour"),
    "option without value": (["design", "grr", "--k"], "Option '--k' requires an argument."),
    "unknown command": (["desing", *GRR], "No such command 'desing'."),
    "n below 1": (["design", *GRR, "--n", 0], "n must be an integer >= 1, got 0."),
    "neither reports nor tally": (["tally", "v.txt", *OUT], "v.txt: these bytes are neither reports nor a tally"),
    "no report file": (["tally", "nowhere", *OUT], "cannot read 'nowhere': No such file or directory."),
    "another design": (
        ["tally", "good.t", "other.t", *OUT],
        "other.t: tallies of different designs do not add up: epsilon is 1.0 in one and 2.0 in the other",
    ),
    "another design to estimate": (["estimate", "good.r", "other.t"], "epsilon is 1.0 in one and 2.0 in the other"),
    "reports cut short": (["tally", "cut.r", *OUT], "cut.r: the file ends inside"),
    "tally cut short": (["tally", "cut.t", *OUT], "cut.t: the file ends inside"),
    "bytes appended": (["tally", "longer.r", *OUT], "longer.r: there are bytes after the end mark."),
    "reports altered": (
        ["tally", "good.t", "altered.r", *OUT],
        "altered.r: the block after report 0 does not match its check sum",
    ),
    "tally altered": (["tally", "altered.t", *OUT], "altered.t: the tally's cells does not match its check sum"),
    "header altered": (["estimate", "design.t"], "design.t: the header does not match its check sum"),
    "header forged": (["estimate", "forged.t"], "forged.t: the design does not agree with itself"),
    "unknown version": (
        ["tally", "version.r", *OUT],
        "version.r: this reports file has version 9, this program reads 1.",
    ),
    "standard input twice": (["tally", "-", "-", *OUT], "files must be a list with - at most once"),
    "no reports": (["estimate", "none.r"], "tally must be a tally of at least one report"),
    "level": (["estimate", "good.t", "--level", 95], "level must be a number between 0 and 1, got 95.0."),
    "target": (["estimate", "good.t", "--target", "all"], "target must be 'reporters' or 'population', got 'all'."),
    "top": (["estimate", "good.t", "--top", 0], "top must be an integer >= 1, got 0."),
    "table's suffix": (
        ["estimate", "good.t", "--out", "e.xls"],
        "out must be a name that ends in .csv or .json, got 'e.xls'.",
    ),
    "chart's suffix": (
        ["estimate", "good.t", "--chart", "e.gif"],
        "chart must be a name that ends in one of .html, .png, .svg, .pdf, .json, got 'e.gif'.",
    ),
    "chart's order": (
        ["estimate", "good.t", "--chart", "e.json", "--chart-order", "name"],
        "chart-order must be one of value, given, got 'name'.",
    ),
    "an order without a chart": (
        ["estimate", "good.t", "--chart-order", "given"],
        "chart-order must be given together with --chart, got 'given'.",
    ),
    "unknown data": (["simulate", "ss", "--epsilon", 1, "--data", "moon"], "must be one of adult-age"),
    "data without k": (["simulate", "ss", "--epsilon", 1, "--data", "zipf"], "k must be given"),
    "runs": (
        ["simulate", "ss", "--epsilon", 1, "--data", "bank-job", "--runs", 0],
        "runs must be an integer >= 1, got 0.",
    ),
    "object's options": (["audit", "json:dumps", "--k", 3], "k must be left out for 'json:dumps', got 3."),
    "no such object": (
        ["audit", "json:nothing"],
        "NAME must be a package.module:object that can be audited, got 'json:nothing'",
    ),
    "no such module": (["audit", "no.such.module:x"], "got 'no.such.module:x': ModuleNotFoundError"),
    "unsuitable object": (["audit", "math:pi", "--promise", 1], "audit takes a mechanism or a channel, got float."),
    "unknown paper": (["reproduce", "moon"], "got 'moon'."),
}


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(("line", "message"), BAD.values(), ids=BAD)
def test_bad_use_is_told_and_leaves_nothing(run, tmp_path, line, message):
    before = sorted(tmp_path.rglob("*"))
    done = run(*line)
    told = [text for text in done.err.splitlines() if text.startswith("error: ")]
    assert (done.code, done.raw) == (2, b"")
    assert len(told) == 1
    assert message in told[0]
    as_json = run(line[0], "--json", *line[1:])
    assert as_json.code == 2
    assert set(as_json.json) == {"error"}
    assert set(as_json.json["error"]) == {"type", "message", "hint"}
    assert message in as_json.json["error"]["message"]
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.usefixtures("files")
def test_an_old_output_stays_when_the_new_one_fails(run, tmp_path):
    (tmp_path / "out.bin").write_bytes(b"old")
    assert run("privatize", *GRR, "outside.txt", "--out", "out.bin", "--force").code == 2
    assert (tmp_path / "out.bin").read_bytes() == b"old"
    assert run("privatize", *GRR, "v.txt", "--out", "out.bin", "--force").code == 0
    assert len(dn.load((tmp_path / "out.bin").read_bytes())) == 3


@pytest.mark.usefixtures("files")
def test_json_and_bytes_do_not_share_standard_output(run):
    done = run("tally", "good.r", "--out", "-", "--json")
    assert done.code == 2
    assert "together with --json" in done.json["error"]["message"]


@pytest.mark.usefixtures("files")
def test_the_place_of_a_bad_value_is_right_in_later_chunks(run, tmp_path, monkeypatch):
    from deniable.run import inputs

    monkeypatch.setattr(inputs, "CHUNK_VALUES", 16)
    lines = ["a"] + ['"1\n"'] + ["2"] * 40 + ["1", "7", "9"]
    (tmp_path / "v.csv").write_text("\n".join(lines) + "\n")
    done = run("privatize", *GRR, "v.csv", "--out", "out.bin")
    assert "v.csv, line 45: values must be whole numbers from 0 to 2, got '7'." in done.err
    assert not (tmp_path / "out.bin").exists()
