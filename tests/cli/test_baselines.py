"""Baselines of near answers and leaky recipes on the command line."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

import deniable as dn
from deniable.collect.codec import dump
from deniable.papers.leaks import LEAKS


@pytest.mark.parametrize("name", LEAKS)
def test_leaky_recipes_are_refuted_with_exit_code_1(run, name):
    done = run("audit", f"deniable.papers.leaks:{name}", "--json")
    assert done.code == 1
    found = done.json
    assert not found["holds"]
    assert found["epsilon_exact"] is None or found["epsilon_exact"] > 1.05
    assert "THE PROMISE IS BROKEN" in run("audit", f"deniable.papers.leaks:{name}").out


@pytest.mark.parametrize(
    ("name", "options", "loss"),
    [
        ("exponential", ("--points", 40), 11.344970686886995),
        ("exponential", ("--points", 40, "--form", "paper"), 12.313769697301197),
        ("laplace", ("--points", 40), 11.344970686886995),
        ("geometric", ("--points", 40), 14.293891285890727),
    ],
)
def test_losses_of_design_are_the_golden_ones(run, name, options, loss):
    found = run("design", name, *options, "--epsilon", 1, "--json").json
    assert found["loss"] == pytest.approx(loss, rel=1e-12)
    assert found["bound"] == pytest.approx(8.531461492932946, rel=1e-9)
    assert found["gap"] == pytest.approx(loss / 8.531461492932946 - 1, rel=1e-9)
    assert found["epsilon_exact"] <= 1.0


@pytest.mark.parametrize("name", ["exponential", "laplace", "geometric", "lsrr"])
def test_audits_hold_and_both_ways_agree(run, name):
    found = run("audit", name, "--interval", "0,10", "--points", 12, "--epsilon", 2, "--json").json
    assert found["holds"]
    assert found["agrees"]
    assert found["epsilon_exact"] == pytest.approx(2.0, abs=1e-9)
    assert "12 outputs" in found["enumerated"]


def test_places_go_from_a_file_to_an_estimate(run, tmp_path):
    (tmp_path / "city.csv").write_text("label,lat,lon\nzoo,52.52,13.40\npub,52.53,13.41\npark,52.46,13.29\n")
    (tmp_path / "values.csv").write_text("place\n" + "zoo\npub\npark\n" * 20)
    options = ("--distances", "city.csv", "--epsilon", 2)
    found = {}
    for name in ("exponential", "lsrr"):
        assert run("privatize", name, *options, "values.csv", "--out", f"{name}.bin").code == 0
        assert run("tally", f"{name}.bin", "--out", f"{name}.tally").code == 0
        found[name] = run("estimate", f"{name}.tally", "--json")
    assert found["exponential"].code == 0
    assert found["exponential"].json["n"] == 60
    assert found["lsrr"].code == 2  # zoo and pub have the same groups, so reports cannot tell them apart
    assert "the channel of lsrr has rank 2" in found["lsrr"].json["error"]["message"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("laplace", "--points", 1), "points must be an integer >= 2"),
        (("laplace", "--points", 9, "--variant", "raw"), "variant must be one of truncate, clamp"),
        (("laplace", "--interval", "3,1"), "the lower one first"),
        (("geometric", "--points", 9, "--size", 3), "geometric has no option --size"),
        (("lsrr", "--points", 9, "--size", 1), "size must be an integer from 2 to 16"),
        (("lsrr", "--distances", "nowhere.csv"), "--distances must be a file that can be read, got 'nowhere.csv'"),
    ],
)
def test_bad_options_are_told(run, arguments, said):
    done = run("design", *arguments, "--epsilon", 1, "--json")
    assert done.code == 2
    assert said in done.json["error"]["message"]


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("lat,lon\n1,2\n3,nan\n", "finite numbers"),
        ("lat,lon\n1,2\n3,400\n", "longitude from -180 to 180"),
        ("0,1\n-1,0\n", "losses must be >= 0"),
        ("0,1\n1,0,2\n", "same dimension"),
        ("lat,lon\n", "at least 2 lines"),
    ],
)
def test_bad_tables_of_distances_are_told(run, tmp_path, table, said):
    (tmp_path / "d.csv").write_text(table)
    done = run("design", "exponential", "--distances", "d.csv", "--epsilon", 1, "--json")
    assert done.code == 2
    assert said in done.json["error"]["message"]


def test_numbers_outside_of_the_interval_are_refused_unless_clipped(run, tmp_path):
    (tmp_path / "values.csv").write_text("number\n0.5\n1.5\n")
    options = ("--interval", "0,1", "--points", 8, "--epsilon", 1)
    done = run("privatize", "laplace", *options, "values.csv", "--out", "r.bin", "--json")
    assert done.code == 2
    assert "1.5" in done.json["error"]["message"]
    assert run("privatize", "laplace", *options, "--clip", "values.csv", "--out", "r.bin").code == 0


def test_the_loss_of_an_interval_is_near_that_of_continuous_noise(run):
    found = run("design", "laplace", "--interval", "0,1", "--epsilon", 1, "--json").json
    assert found["k"] == 256
    assert found["loss"] == pytest.approx(0.2851, rel=0.005)
    assert found["bits"] == pytest.approx(math.log2(256))


def test_values_that_reports_cannot_tell_apart_have_no_standard_error(run):
    """They are infinite, which JSON cannot say: null, and `inf` in tables and CSV."""
    m = dn.mechanism("lsrr", epsilon=1.0, points=8)
    reports = m.privatize_items(np.arange(400) % m.k, dn.simulation(1))
    Path("r").write_bytes(dump(reports))
    found = run("estimate", "r", "--method", "em", "--json")
    assert found.code == 0
    assert found.json["stderr"] == [None] * m.k
    assert "inf" in run("estimate", "r", "--method", "em").out
    assert run("estimate", "r", "--method", "em", "--out", "e.json").code == 0
    assert json.loads(Path("e.json").read_text())["stderr"] == [None] * m.k
    assert run("estimate", "r", "--method", "em", "--out", "e.csv").code == 0
    assert ",inf," in Path("e.csv").read_text()


def test_hiding_an_answer_among_fakes_is_refuted_with_its_exact_epsilon(run):
    done = run("audit", "rsfd", "--epsilon", 1, "--sizes", "3,3,3", "--json")
    assert done.code == 1
    found = done.json
    assert found["epsilon_exact"] == pytest.approx(math.log(3 * (math.e - 1) + 1), rel=1e-10)
    assert found["agrees"]
    assert found["one_answer"] == pytest.approx(1.0)
    assert found["variance"]["one_question"] < found["variance"]["recipe"] / 3
    shown = run("audit", "rsrfd", "--epsilon", 1, "--fakes", "0.9,0.1;0.9,0.1")
    assert shown.code == 1
    assert "NOT KEPT" in shown.out
    assert "THE PROMISE IS BROKEN" in shown.out


def test_recipes_take_their_own_options_alone(run):
    assert "left out for rsfd" in run("audit", "rsfd", "--epsilon", 1, "--k", 4).err
    assert "left out for grr" in run("audit", "grr", "--epsilon", 1, "--k", 4, "--fakes", "1").err
    assert run("design", "rsfd", "--epsilon", 1, "--sizes", "4,4").code == 2


def test_interactions_on_the_command_line(run):
    found = run("design", "interaction", "--epsilon", 1, "--sizes", "3,3", "--json").json
    assert found["params"] == {"sizes": [3, 3], "g": 3, "size": 1}
    assert found["slope"] == pytest.approx(0.5462629907231156, rel=1e-10)
    assert run("audit", "interaction", "--epsilon", 1, "--sizes", "3,3").code == 0
    refused = run("simulate", "interaction", "--epsilon", 1, "--sizes", "3,3", "--data", "zipf")
    assert refused.code == 2
    assert "simulations are of one question" in refused.err
