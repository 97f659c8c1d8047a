"""`privatize`, `tally` and `estimate`: the files they write are those of the library."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

import deniable as dn
from deniable.mechanisms.registry import MECHANISMS
from deniable.run import inputs

LABELS = ["never", "sometimes", "often"]
SS = ["ss", "--epsilon", 1, "--labels", ",".join(LABELS)]


@pytest.fixture
def values(tmp_path):
    """300 answers, one per line."""
    answers = [LABELS[i * i % 3] for i in range(300)]
    (tmp_path / "values.txt").write_text("\n".join(answers) + "\n")
    return answers


def mechanism():
    return dn.mechanism("ss", epsilon=1.0, labels=LABELS)


def load(path):
    return dn.load(path.read_bytes())


def test_seeded_reports_are_those_of_the_library(run, values, tmp_path):
    done = run("privatize", *SS, "values.txt", "--out", "reports.bin", "--seed", 7, "--json")
    m = mechanism()
    expected = m.privatize(values, rng=dn.simulation(7))
    assert (tmp_path / "reports.bin").read_bytes() == dn.dump(expected)
    assert "SIMULATED" in done.err
    assert done.json == {
        "mechanism": "ss",
        "epsilon": 1.0,
        "k": 3,
        "n": 300,
        "simulated": True,
        "bytes": 1,
        "out": "reports.bin",
        "design": m.design,
    }


def test_without_a_seed_reports_are_fresh_and_not_simulated(run, values, tmp_path):
    for name in ("one", "two"):
        done = run("privatize", *SS, "values.txt", "--out", name)
        assert done.code == 0
        assert "SIMULATED" not in done.err
        assert done.raw == b""
    one, two = load(tmp_path / "one"), load(tmp_path / "two")
    assert (len(one), one.simulated, one.design) == (300, False, mechanism().design)
    assert (one.columns["bits"] != two.columns["bits"]).any()  # equal with probability 3**-300


def as_csv(path, answers):
    rows = [[i, f"x,{i}", answer] for i, answer in enumerate(answers)]
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([["id", "note", "answer"], *rows])


def as_parquet(path, answers):
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = arrow.table({"id": list(range(len(answers))), "answer": answers})
    parquet.write_table(table, path, row_group_size=37)


@pytest.mark.parametrize("chunk", [64, 1 << 16])
def test_the_format_does_not_matter(run, values, tmp_path, monkeypatch, chunk):
    monkeypatch.setattr(inputs, "CHUNK_VALUES", chunk)
    as_csv(tmp_path / "v.csv", values)
    as_parquet(tmp_path / "v.parquet", values)
    (tmp_path / "bom.data").write_bytes("\ufeff".encode() + "\r\n".join(values).encode())
    answers = "\n".join(values)
    sources = [
        ["values.txt"],
        ["v.csv", "--column", "answer"],
        ["v.parquet", "--column", "answer"],
        ["bom.data", "--format", "lines"],
        ["-"],
    ]
    found = set()
    for source in sources:
        done = run("privatize", *SS, *source, "--seed", 3, "--out", "r.bin", "--force", stdin=answers)
        assert done.code == 0, done.err
        found.add((tmp_path / "r.bin").read_bytes())
    assert len(found) == 1


def test_a_file_of_many_chunks_gives_the_tally_of_all_in_one_go(run, tmp_path, monkeypatch):
    n, size = 5_000, 512
    monkeypatch.setattr(inputs, "CHUNK_VALUES", size)
    values = (np.arange(n) ** 2 % 7).tolist()
    (tmp_path / "v.txt").write_text("\n".join(map(str, values)))
    assert run("privatize", "olh", "--epsilon", 1, "--k", 7, "v.txt", "--seed", 1, "--out", "r").code == 0
    assert run("tally", "r", "--out", "t").code == 0
    m = dn.mechanism("olh", epsilon=1.0, k=7)
    starts = range(0, n, size)
    streams = dn.simulation(1).spawn(len(starts))
    batches = [m.privatize(values[i : i + size], rng=rng) for i, rng in zip(starts, streams, strict=True)]
    whole = dn.Reports.concat(batches)
    assert len(batches) > 5
    assert (tmp_path / "t").read_bytes() == dn.dump(m.tally(whole))
    (tmp_path / "one-block").write_bytes(dn.dump(whole))
    assert run("tally", "one-block", "--out", "t2").code == 0
    assert (tmp_path / "t2").read_bytes() == (tmp_path / "t").read_bytes()


def test_numbers_missing_and_other_values(run, tmp_path):
    (tmp_path / "v.csv").write_text('answer\nno\n""\nperhaps\n\nyes\n')
    line = ["--labels", "no,yes,blank,else", "--missing", "blank", "--other", "else"]
    assert run("privatize", "grr", "--epsilon", 1, *line, "v.csv", "--seed", 5, "--out", "r").code == 0
    m = dn.mechanism(
        "grr", epsilon=1.0, domain=dn.Domain.of(["no", "yes", "blank", "else"], missing="blank", other="else")
    )
    expected = m.privatize(["no", "blank", "else", "blank", "yes"], rng=dn.simulation(5))
    assert (tmp_path / "r").read_bytes() == dn.dump(expected)


def test_tally_adds_reports_and_tallies(run, values, tmp_path):
    run("privatize", *SS, "values.txt", "--out", "r", "--seed", 1)
    run("privatize", *SS, "values.txt", "--out", "s")
    run("tally", "s", "--out", "t")
    run("privatize", *SS, "values.txt", "--out", "u")
    done = run("tally", "r", "t", "u", "--out", "sum", "--json")
    m = mechanism()
    expected = sum(m.tally(load(tmp_path / name)) for name in "rsu")
    assert load(tmp_path / "sum") == expected
    assert (done.json["n"], done.json["simulated"], done.json["labels"]) == (900, True, LABELS)
    assert done.json["cells"] == {name: cell.tolist() for name, cell in expected.cells.items()}


def test_tally_without_out_shows_the_counts(run, values, tmp_path):
    run("privatize", *SS, "values.txt", "--out", "r")
    counts = mechanism().tally(load(tmp_path / "r")).cells["support"][0]
    lines = run("tally", "r").out.splitlines()
    assert "300 reports" in lines[0]
    assert [line.split() for line in lines[3:]] == [[a, str(c)] for a, c in zip(LABELS, counts, strict=True)]


@pytest.fixture
def tally(run, values, tmp_path):
    run("privatize", *SS, "values.txt", "--out", "r", "--seed", 11)
    run("tally", "r", "--out", "t")
    return load(tmp_path / "t")


def test_estimate_is_what_the_library_says(run, tally):
    e = mechanism().estimate(tally)
    for source in ("t", "r"):
        found = run("estimate", source, "--json").json
        ends = e.interval()
        assert found == {
            "mechanism": "ss",
            "epsilon": 1.0,
            "n": 300,
            "simulated": True,
            "steps": list(e.steps),
            "biased": False,
            "level": 0.95,
            "target": "reporters",
            "simultaneous": False,
            "skipped": {},
            "labels": LABELS,
            "value": e.value.tolist(),
            "stderr": e.stderr.tolist(),
            "low": ends.low.tolist(),
            "high": ends.high.tolist(),
        }


def test_estimate_options(run, tally):
    line = ["--level", 0.8, "--target", "population", "--simultaneous", "--project", "--json"]
    found = run("estimate", "t", *line).json
    e = mechanism().estimate(tally).project()
    ends = e.interval(0.8, "population", simultaneous=True)
    assert found["value"] == e.value.tolist()
    assert found["stderr"] == np.sqrt(e.variance("population")).tolist()
    assert (found["low"], found["high"]) == (ends.low.tolist(), ends.high.tolist())
    assert found["biased"] is True
    assert found["steps"] == list(e.steps)


def test_estimate_top_and_files(run, tally, tmp_path):
    whole = run("estimate", "t", "--json", "--out", "e.json").json
    assert json.loads((tmp_path / "e.json").read_text()) == whole
    found = run("estimate", "t", "--top", 2, "--json", "--out", "e.csv").json
    order = sorted(range(3), key=lambda i: -whole["value"][i])[:2]
    assert found["labels"] == [whole["labels"][i] for i in order]
    assert found["high"] == [whole["high"][i] for i in order]
    with (tmp_path / "e.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["label"] for row in rows] == found["labels"]
    assert [float(row["stderr"]) for row in rows] == found["stderr"]


def test_estimate_writes_csv_to_standard_output_alone(run, tally):
    done = run("estimate", "t", "--out", "-")
    assert done.out.splitlines()[0] == "label,value,stderr,low,high,simulated"
    assert len(done.out.splitlines()) == 4


def test_estimate_draws(run, tally, tmp_path):
    pytest.importorskip("altair")
    assert run("estimate", "t", "--chart", "c.json", "--top", 2, "--project").code == 0
    drawn = json.loads((tmp_path / "c.json").read_text())
    assert drawn["title"]["text"] == ["Estimated shares"]
    assert " ".join(drawn["title"]["subtitle"]) == "ss · ε = 1 · n = 300 · simulated · projected (biased)"
    assert len(drawn["data"]["values"]) == 3, "--top cuts the table, not the chart"


def test_answers_stand_by_their_estimates_in_the_chart_or_as_they_are_given(run, tally, tmp_path):
    pytest.importorskip("altair")
    values = json.loads(run("estimate", "t", "--json").out)["value"]
    largest_first = [label for _, label in sorted(zip(values, LABELS, strict=True), reverse=True)]
    assert largest_first != LABELS, "else the orders could not be told apart"
    for order, labels in (([], largest_first), (["value"], largest_first), (["given"], LABELS)):
        line = ["--chart-order", *order] if order else []
        assert run("estimate", "t", "--chart", "c.json", "--force", *line).code == 0
        rows = json.loads((tmp_path / "c.json").read_text())["data"]["values"]
        assert [row["label"] for row in rows] == labels


def test_estimate_table_is_plain_in_a_pipe_and_fits_where_columns_says(run, tally, monkeypatch):
    plain = run("estimate", "t").out
    assert plain.isascii()
    assert "SIMULATED" in plain
    assert [line.split()[0] for line in plain.splitlines()[-3:]] == LABELS
    monkeypatch.setenv("COLUMNS", "60")
    assert max(map(len, run("estimate", "t").out.splitlines())) <= 60


@pytest.mark.parametrize(
    "name",
    [
        name
        for name, entry in MECHANISMS.items()
        if not entry.needed and entry.cls.takes == "values" and entry.question == "frequency"
    ],
)
def test_every_mechanism_goes_all_the_way(run, values, name):
    line = ["privatize", name, "--epsilon", 1, "--labels", ",".join(LABELS), "values.txt", "--seed", 8, "--out", "r"]
    assert run(*line).code == 0
    assert run("tally", "r", "--out", "t").code == 0
    m = dn.mechanism(name, epsilon=1.0, labels=LABELS)
    expected = m.estimate(m.tally(m.privatize(values, rng=dn.simulation(8))))
    assert run("estimate", "t", "--json").json["value"] == expected.value.tolist()
    lines = [line.split() for line in run("tally", "t").out.splitlines()[3:]]
    tally = m.tally(m.privatize(values, rng=dn.simulation(8)))
    columns = [row for kind, cell in tally.cells.items() if kind != "n" for row in cell.tolist()]
    names = list(map(str, range(len(columns[0])))) if "value" in tally.cells else LABELS
    expected = [[name, *map(str, row)] for name, *row in zip(names, *columns, strict=True)]
    assert [[cell.replace(",", "") for cell in line] for line in lines] == expected


def test_standard_input_and_output_in_a_row(run, values):
    first = run("privatize", *SS, "-", "--out", "-", "--seed", 2, stdin="\n".join(values))
    second = run("tally", "-", "--out", "-", stdin=first.raw)
    third = run("estimate", "-", "--json", stdin=second.raw)
    m = mechanism()
    tally = m.tally(m.privatize(values, rng=dn.simulation(2)))
    assert second.raw == dn.dump(tally)
    assert third.json["value"] == m.estimate(tally).value.tolist()


def test_labels_cannot_move_the_cursor(run, tmp_path):
    (tmp_path / "labels").write_text("plain\nred\x1b[31m\n")
    (tmp_path / "v.txt").write_text("plain\nred\x1b[31m\n")
    done = run("privatize", "grr", "--epsilon", 1, "--labels-file", "labels", "v.txt", "--out", "r")
    assert done.code != 0
    assert "\x1b" not in done.out + done.err
    assert "red\\u001b[31m" in done.err
