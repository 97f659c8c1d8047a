"""Means and distributions of numbers on the command line."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

import deniable as dn

NAMES = ["sw", "pm", "duchi", "hm"]


@pytest.fixture
def ages(tmp_path):
    """400 ages with fractions, one per line."""
    values = np.round(100 * np.random.default_rng(3).beta(2, 5, 400), 2)
    (tmp_path / "ages.txt").write_text("\n".join(map(str, values.tolist())) + "\n")
    return values


def line(name, *more):
    return ["privatize", name, "--epsilon", 1, "--interval", "0,100", *more, "ages.txt", "--seed", 8, "--out", "r"]


@pytest.mark.parametrize("name", NAMES)
def test_numbers_go_all_the_way(run, ages, name):
    assert run(*line(name)).code == 0
    assert run("tally", "r", "--out", "t").code == 0
    m = dn.mechanism(name, epsilon=1.0, interval=(0, 100))
    tally = m.tally(m.privatize(ages, rng=dn.simulation(8)))
    expected = m.estimate(tally)
    found = run("estimate", "t", "--json").json
    assert (found["labels"], found["part"]) == (["mean"], "mean")
    assert found["value"] == expected.value.tolist()
    assert found["stderr"] == expected.stderr.tolist()
    shown = run("estimate", "r").out.splitlines()[-1].split()
    assert shown[0] == "mean"
    assert "%" not in shown
    assert float(shown[1]) == pytest.approx(expected.value[0], abs=0.5)


@pytest.mark.parametrize("method", ["em", "ems"])
def test_distributions_by_fitting(run, ages, method):
    run(*line("sw", "--points", 32))
    m = dn.mechanism("sw", epsilon=1.0, interval="0,100", points=32)
    expected = m.fit(m.privatize(ages, rng=dn.simulation(8)), method)
    found = run("estimate", "r", "--method", method, "--json", "--out", "shares.csv").json
    assert found["value"] == pytest.approx(expected.value.tolist(), abs=1e-9)
    assert found["labels"] == list(m.domain.labels_or_numbers)
    assert found["biased"]
    with open("shares.csv") as file:
        assert len(list(csv.DictReader(file))) == 32


def test_bits_have_no_distribution(run, ages):
    run(*line("duchi"))
    done = run("estimate", "r", "--method", "ems")
    assert done.code == 2
    assert "rank 2" in done.err


def test_other_methods_are_refused(run, ages):
    run(*line("sw"))
    done = run("estimate", "r", "--method", "magic")
    assert done.code == 2
    assert "method must be one of unbiased, em, ems" in done.err


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("101", "bad.txt, line 2: values must be numbers from 0 to 100, got '101'"),
        ("nan", "bad.txt, line 2: values must be numbers from 0 to 100, got 'nan'"),
        ("old", "bad.txt, line 2: values must be numbers from 0 to 100, got 'old'"),
        ("", "bad.txt, line 2: values must be numbers from 0 to 100, got ''"),
    ],
)
def test_what_is_no_number_of_the_interval_is_named_with_its_line(run, tmp_path, cell, message):
    (tmp_path / "bad.txt").write_text(f"5\n{cell}\n7\n")
    done = run("privatize", "pm", "--epsilon", 1, "--interval", "0,100", "bad.txt", "--out", "r")
    assert done.code == 2
    assert message in done.err
    assert "--clip" in done.err
    assert not (tmp_path / "r").exists()


def test_clipping_has_to_be_asked_for(run, tmp_path):
    (tmp_path / "far.txt").write_text("5\n1000\n-7\n")
    common = ["privatize", "pm", "--epsilon", 1, "--interval", "0,100", "far.txt", "--out", "r"]
    assert run(*common).code == 2
    assert run(*common, "--clip").code == 0
    assert dn.load((tmp_path / "r").read_bytes()).design["domain"]["clip"] is True


@pytest.mark.stat
@pytest.mark.parametrize("name", NAMES)
def test_simulations_of_means_agree_with_their_prediction(run, name):
    """200 runs, seed fixed: ratio and bias within 5 of their standard errors (alpha 1e-6 each, normal); half or twice
    the predicted error would be seen, since the ratio's standard error is about 0.1."""
    done = run("simulate", name, "--epsilon", 1, "--interval", "0,100", "--data", "adult-age", "--n", 2000)
    assert done.code == 0
    assert "true mean" in done.out
    more = ["--interval", "0,100", "--data", "adult-age", "--n", 2000, "--runs", 200, "--seed", 5, "--json"]
    found = run("simulate", name, "--epsilon", 1, *more).json
    table = dn.datasets.tables.load("adult-age")
    assert found["truth"] == pytest.approx(np.array(table.labels, float) @ table.frequencies, abs=0.2)
    assert abs(found["ratio"] - 1) < 5 * found["ratio_stderr"]
    assert found["ratio_stderr"] < 0.2
    assert abs(found["bias"]) < 5 * found["bias_stderr"]
    assert found["coverage"] > 0.88


def test_simulations_of_made_up_numbers(run, tmp_path):
    more = ["--interval", "-1,1", "--points", 16, "--data", "uniform", "--n", 500, "--runs", 3, "--out", "runs.csv"]
    found = run("simulate", "pm", "--epsilon", 2, *more, "--json").json
    assert (found["k"], found["n"], found["runs"], found["interval"]) == (16, 500, 3, [-1.0, 1.0])
    assert found["truth"] == pytest.approx(0, abs=0.01)
    with open(tmp_path / "runs.csv") as file:
        assert [row["run"] for row in csv.DictReader(file)] == ["1", "2", "3"]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--interval", "0,1"], "adult-age has values that do not fit"),
        (["--interval", "0,100", "--project"], "project must be left out for means"),
        (["--k", 5], "domain must be a grid of numbers"),
        (["--points", 5], "domain must be a grid of numbers"),
        (["--interval", "5"], "interval must be two numbers"),
        (["--interval", "5,1"], "interval must be two finite numbers, the lower one first"),
        (["--interval", "0,100", "--points", 1], "points must be an integer from 2"),
        (["--interval", "0,100", "--window", "wide"], "window must be one of best, paper"),
        ([], "the domain must be given by"),
    ],
)
def test_what_does_not_fit_is_refused(run, more, message):
    done = run("simulate", "pm", "--epsilon", 1, "--data", "adult-age", "--runs", 1, *more)
    assert done.code == 2
    assert message in done.err


def test_a_mean_is_not_projected(run, ages):
    run(*line("pm"))
    done = run("estimate", "r", "--project")
    assert done.code == 2
    assert "Only frequencies sum to 1" in done.err


def test_design_tells_both_variances(run):
    found = run("design", "pm", "--epsilon", 2, "--interval", "-1,1", "--n", 1000, "--json").json
    assert found["params"] == {"m": 605}
    assert found["variance_worst"] == pytest.approx(1.09e-3, rel=1e-3)
    assert found["variance_mean"] < found["variance_worst"]
    assert found["bytes"] == 2
    paper = run("design", "pm", "--epsilon", 2, "--interval", "-1,1", "--window", "paper", "--json").json
    assert paper["params"] == {"m": 377}


def test_a_mean_is_drawn_on_its_interval(run, tmp_path):
    pytest.importorskip("altair")
    line = ("simulate", "pm", "--epsilon", 1, "--data", "adult-age", "--runs", 1, "--interval", "0,100")
    assert run(*line, "--chart", "c.json").code == 0
    drawn = json.loads((tmp_path / "c.json").read_text())
    assert drawn["layer"][0]["encoding"]["x"]["scale"]["domain"] == [0.0, 100.0]
    assert drawn["layer"][0]["encoding"]["x"]["title"] == "mean of the values"
