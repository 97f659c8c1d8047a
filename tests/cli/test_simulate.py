"""`simulate` on people's own data, labelled and laid out as `privatize` takes them; errors before announcements."""

from __future__ import annotations

import gzip

import pytest

import deniable as dn

QUICK = ("--runs", 1, "--json")


@pytest.fixture
def people(tmp_path):
    rows = ["yes;31", "no;45", "no;52.5", ";18", "perhaps;99"]
    text = "answer;age\n" + "\n".join(rows * 40) + "\n"
    (tmp_path / "people.csv").write_text(text)
    (tmp_path / "people.dat").write_bytes(gzip.compress(text.encode("utf-16")))
    (tmp_path / "answers.txt").write_text("\n".join(["no", "no", "yes"] * 50))
    (tmp_path / "bare.csv").write_text("\n".join(["yes", "no", "no"] * 50))
    (tmp_path / "pairs.csv").write_text("user|key|value\n" + "".join(f"{i}|{'ab'[i % 2]}|0.5\n" for i in range(90)))


def truth(done):
    assert done.code == 0, done.err
    first = done.json["first"]
    return dict(zip(first["labels"], first["truth"], strict=True))


def test_values_of_a_file_are_sorted_into_labels(run, people):
    line = ("simulate", "grr", "--epsilon", 2, "--column", "answer", *QUICK)
    rest = ("--labels", "yes,no,rest,never", "--missing", "rest", "--other", "rest")
    expected = {"yes": 0.2, "no": 0.4, "rest": 0.4, "never": 0.0}
    assert truth(run(*line, *rest, "--data", "people.csv", "--delimiter", "semicolon")) == pytest.approx(expected)
    odd = ("--format", "csv", "--compression", "gzip", "--text-encoding", "utf-16", "--delimiter", ";")
    assert truth(run(*line, *rest, "--data", "people.dat", *odd)) == pytest.approx(expected)
    refused = run(*line, "--labels", "yes,no", "--data", "people.csv", "--delimiter", ";")
    assert refused.code == 2
    assert "people.csv, line 5" in refused.json["error"]["message"]


def test_values_of_a_data_set_and_of_made_up_people_have_the_labels_that_are_given(run, tmp_path):
    line = ("simulate", "ss", "--epsilon", 2, *QUICK)
    merged = truth(run(*line, "--data", "adult-education", "--labels", "HS-grad,rest", "--other", "rest"))
    assert merged == pytest.approx({"HS-grad": 10501 / 32561, "rest": 22060 / 32561})
    (tmp_path / "labels.txt").write_text("low\nhigh\n")
    assert list(truth(run(*line, "--data", "zipf", "--n", 90, "--labels-file", "labels.txt"))) == ["low", "high"]
    keys = run("simulate", "kv-ss2", "--epsilon", 2, "--labels", "hats,shoes", "--data", "uniform", "--n", 50, *QUICK)
    assert list(truth(keys)) == ["hats", "shoes"]
    refused = run(*line, "--data", "adult-education", "--labels", "HS-grad,Bachelors")
    assert refused.code == 2
    assert "--other" in refused.json["error"]["hint"]


def test_lines_and_a_file_without_a_header(run, people):
    line = ("simulate", "grr", "--epsilon", 2, *QUICK)
    assert truth(run(*line, "--data", "answers.txt")) == pytest.approx({"no": 2 / 3, "yes": 1 / 3})
    for more in ((), ("--labels", "no,yes")):
        asked = run(*line, "--data", "bare.csv", *more)
        assert asked.code == 2
        assert "'yes', may be the header or the first value" in asked.json["error"]["message"]
        found = truth(run(*line, "--data", "bare.csv", "--no-header", *more))
        assert found == pytest.approx({"no": 2 / 3, "yes": 1 / 3})


def test_numbers_of_a_file_for_means_and_near_answers(run, people):
    column = ("--data", "people.csv", "--delimiter", ";", "--column", "age")
    mean = run("simulate", "hm", "--epsilon", 2, "--interval", "0,100", *column, *QUICK).json
    assert mean["n"] == 200
    assert mean["truth"] == pytest.approx((31 + 45 + 52.5 + 18 + 99) / 5, abs=0.05)
    near = run("simulate", "brr", "--epsilon", 2, "--interval", "0,100", "--points", 20, *column, *QUICK).json
    assert (near["n"], near["unit"]) == (200, "")
    m = dn.mechanism("brr", epsilon=2.0, interval=(0, 100), points=20)
    ages = [31, 45, 52.5, 18, 99]
    points, channel = m.domain.points, m.bulk.matrix
    expected = sum(channel[m.domain.encode([age])[0]] @ abs(points - age) for age in ages) / 5
    assert near["loss_predicted"] == pytest.approx(expected)
    for name in ("hm", "brr"):
        small = run("simulate", name, "--epsilon", 2, "--interval", "0,50", *column, *QUICK)
        assert small.code == 2
        assert "from 0 to 50" in small.json["error"]["message"]


def test_pairs_with_another_delimiter(run, people):
    line = ("simulate", "kv-ss2", "--epsilon", 2, "--data", "pairs.csv", "--delimiter", "pipe", *QUICK)
    assert truth(run(*line)) == pytest.approx({"a": 0.5, "b": 0.5})
    assert truth(run(*line, "--labels", "b,a,c")) == pytest.approx({"b": 0.5, "a": 0.5, "c": 0.0})


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("ss", ("--k", 4, "--size", 9)),
        ("ss", ("--k", 4, "--g", 9)),
        ("ss", ("--k", 4, "--n", 0)),
        ("ss", ("--k", 4, "--runs", 0)),
        ("ss", ("--k", 4, "--level", 2)),
        ("ss", ("--k", 4, "--delimiter", ";")),
        ("ss", ("--k", 4, "--column", "a")),
        ("uss", ("--labels", "a,b", "--sensitive", "c")),
        ("kv-ss2", ("--k", 4, "--top", 9)),
        ("hm", ("--interval", "1,0")),
        ("brr", ("--points", 5, "--rule", "best")),
    ],
)
def test_what_is_wrong_is_told_before_anything_is_announced(run, name, more):
    done = run("simulate", name, "--epsilon", 1, "--data", "uniform", *more)
    assert done.code == 2
    assert done.err.startswith("error: "), "nothing is announced"
    assert "simulating" not in done.err
    flag = [word for word in more if str(word).startswith("--")][-1]
    assert flag in done.err, "in the words of who typed it"
