"""`attack`, and what `design` says of choices."""

from __future__ import annotations

import pytest

import deniable as dn
from deniable.run.given.priors import read_prior


def test_attack_is_what_the_library_says(run):
    done = run("attack", "oue", "--k", 20, "--epsilon", 2, "--reports", 500, "--seed", 4, "--json")
    assert done.code == 0
    assert done.json == {
        **dn.attack(dn.mechanism("oue", k=20, epsilon=2.0), reports=500, seed=4).document(),
        "prior": "uniform",
    }
    assert "attacking 500 reports of oue" in done.err


def test_attack_with_a_prior(run):
    found = run("attack", "ss", "--k", 100, "--epsilon", 2, "--prior", "zipf", "--reports", 10, "--json").json
    assert (found["blind"], found["asr"]) == (pytest.approx(0.193, abs=5e-4), pytest.approx(0.253, abs=5e-4))
    table = run("attack", "ss", "--k", 100, "--epsilon", 2, "--prior", "zipf", "--reports", 10).out
    assert "blind guess" in table
    assert "0.1928" in table


def test_a_data_set_as_prior_brings_its_labels(run):
    found = run("attack", "grr", "--epsilon", 1, "--prior", "adult-education", "--reports", 10, "--json").json
    population = dn.datasets.load("adult-education")
    assert found["k"] == population.k
    assert found["blind"] == pytest.approx(population.frequencies.max())


def test_a_file_of_counts_as_prior(run, tmp_path):
    """Counts belong to answers by their labels, whatever the order; without --labels they bring the answers."""
    path = tmp_path / "drinks.csv"
    path.write_text("drink,count\ntea,10\nmilk,30\ncoffee,60\n")
    line = ("attack", "grr", "--epsilon", 1, "--prior", path, "--reports", 10, "--json")
    asked = run(*line, "--labels", "coffee,tea,milk").json
    m = dn.mechanism("grr", epsilon=1.0, labels=["coffee", "tea", "milk"])
    assert asked["asr"] == m.guess([0.6, 0.1, 0.3]).success
    assert read_prior(str(path), m.domain).tolist() == [0.6, 0.1, 0.3]
    assert read_prior(str(path), dn.Domain.of(3)).tolist() == [0.1, 0.3, 0.6]
    assert run(*line).json["asr"] == pytest.approx(asked["asr"])
    assert run(*line, "--k", 3).json["asr"] == pytest.approx(asked["asr"])
    refused = run(*line, "--labels", "coffee,tea,beer").json["error"]["message"]
    assert "prior must be counts of the 3 answers, by their labels" in refused
    assert "prior must be counts of the 4 answers" in run(*line, "--k", 4).json["error"]["message"]
    for text, told in (("tea,1.5\n", "whole counts"), ("tea\n", "a label and a count"), ("", "a label and a count")):
        path.write_text("drink,count\n" * bool(text) + text)
        assert told in run(*line).json["error"]["message"]


def test_designs_are_chosen_for_a_prior(run):
    options = ("--k", 100, "--epsilon", 4, "--prior", "zipf:1.2")
    prior = dn.datasets.resolve("zipf:1.2", n=10**9, k=100).frequencies
    made = dn.mechanism("ass", k=100, epsilon=4.0, prior=prior)
    found = run("design", "ass", *options, "--json").json
    assert found["params"] == made.params != dn.mechanism("ass", k=100, epsilon=4.0).params
    assert found["selection"]["asr_under_prior"] == pytest.approx(made.guess(prior).success, rel=1e-12)
    assert "for a prior: asr 0.4293" in run("design", "ass", *options).out
    attacked = ("attack", "ass", *options, "--reports", 10, "--json")
    assert run(*attacked, "--tuned").json["asr"] == made.guess(prior).success
    assert run(*attacked).json["params"] == dn.mechanism("ass", k=100, epsilon=4.0).params
    uniform = run("design", "ass", "--k", 100, "--epsilon", 4, "--prior", "uniform", "--json").json
    assert uniform["selection"]["prior"] == "uniform"
    assert run("design", "ass", "--epsilon", 4, "--prior", "adult-education", "--json").json["k"] == 16


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (("design", "ass", "--k", 9, "--prior", "guesswork"), "prior must be uniform, zipf"),
        (("design", "grr", "--k", 9, "--prior", "zipf"), "prior must be left out"),
        (("design", "brr", "--points", 9, "--prior", "zipf"), "prior must be left out"),
        (("attack", "grr", "--k", 9, "--prior", "zipf", "--tuned"), "tuned must be left out for this mechanism"),
    ],
)
def test_a_prior_without_effect_is_refused(run, line, told):
    done = run(*line, "--epsilon", 1, "--json")
    assert done.code == 2
    assert told in done.json["error"]["message"]


def test_the_level_can_be_the_target(run):
    line = ("attack", "pldp", "--levels", "0.5,1,2", "--level-epsilon", 0.3, "--base", "sue", "--k", 16)
    line = (*line, "--target", "level", "--reports", 500)
    m = dn.mechanism("pldp", levels=(0.5, 1.0, 2.0), level_epsilon=0.3, base="sue", k=16)
    found = run(*line, "--json").json
    assert found == {**dn.attack(m, target="level", reports=500).document(), "prior": "uniform"}
    assert found["blind"] < found["level_report"] < found["asr"] < found["bound"]
    text = " ".join(run(*line).out.split())
    assert "the most that the promise about levels allows" in text
    assert "simulated reports whose level was guessed" in text
    assert run("attack", "grr", "--k", 4, "--epsilon", 1, "--target", "level").code == 2


def test_attack_refuses_what_makes_no_sense(run):
    assert run("attack", "grr", "--epsilon", 1, "--json").code == 2
    assert "prior" in run("attack", "grr", "--epsilon", 1, "--k", 9, "--prior", "adult-education").err
    assert run("attack", "grr", "--epsilon", 1, "--k", 9, "--prior", "guesswork", "--json").json["error"]["message"]


def test_design_chooses_for_its_n_and_says_so(run):
    options = ("--k", 100, "--epsilon", 4, "--form", "paper", "--json")
    assert run("design", "ass", *options).json["params"] == {"size": 7}
    at_100 = run("design", "ass", *options, "--n", 100).json
    assert at_100["params"] == {"size": 49}
    assert at_100["selection"]["n"] == 100
    text = run("design", "aue", "--k", 100, "--epsilon", 4, "--select", "utopia", "--n", 100).out
    assert "utopia reads raw objectives: the choice is for n = 100 reports." in " ".join(text.split())


@pytest.mark.filterwarnings("default")
def test_a_fallback_is_told_on_standard_error(run):
    done = run("design", "ass", "--k", 100, "--epsilon", 1, "--select", "hypervolume", "--json")
    assert done.code == 0
    assert done.err.startswith("warning: every MSE is at least 1")
    assert (
        done.json["params"]
        == run("design", "ass", "--k", 100, "--epsilon", 1, "--select", "utopia", "--json").json["params"]
    )


def test_distance_at_the_same_best_guess(run):
    found = run("design", "alh", "--k", 100, "--epsilon", 4, "--form", "paper", "--json").json
    assert found["bound_at_asr"] == pytest.approx(0.1163, abs=5e-5)
    assert found["gap_at_asr"] == pytest.approx(0.118, abs=5e-4)
    mixed = run("design", "ssmix", "--k", 100, "--epsilon", 4, "--json").json
    assert abs(mixed["gap_at_asr"]) < 1e-9
    assert mixed["gap"] > 0.1


def test_the_seed_reaches_a_prior_that_is_drawn(run):
    told = [
        run(
            "attack",
            "grr",
            "--k",
            6,
            "--epsilon",
            1,
            "--prior",
            "dirichlet:0.5",
            "--reports",
            100,
            "--seed",
            s,
            "--json",
        ).json
        for s in (1, 2, 1)
    ]
    assert told[0] == told[2]
    assert told[0]["blind"] != told[1]["blind"]
