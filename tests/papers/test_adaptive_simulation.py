"""AdaptiveLDP: simulated collections of the twelve protocols."""

from __future__ import annotations

import pytest

from deniable.datasets import load, synthetic
from deniable.mechanisms.registry import mechanism
from deniable.papers.adaptive.designs import TWELVE, make, printed_asr
from deniable.papers.montecarlo import Trials, collect_often
from deniable.papers.rules import ALPHA
from deniable.randomness import simulation


@pytest.mark.stat
def test_collections_of_noisy_histograms_agree_with_closed_forms() -> None:
    """False alarms: 2e-6. The attack takes the largest coordinate; other values are rejected."""
    people = synthetic("zipf", k=12, n=2_000)
    t = collect_often(mechanism("she", k=12, epsilon=3.0), people, 40, simulation(11))
    assert t.pvalue("mse", t.expected("mse")) > 1e-6
    assert t.pvalue("asr", t.expected("asr")) > 1e-6
    for factor in (1.5, 1 / 1.5):
        assert t.pvalue("mse", factor * t.expected("mse")) < 1e-6
        assert t.pvalue("asr", factor * t.expected("asr")) < 1e-6


# The paper's Figure 8 at epsilon 4: ages of the Adult data, 100 collections with each of the twelve protocols


@pytest.fixture(scope="module")
def trials() -> list[Trials]:
    people = load("adult-age")
    streams = simulation(20261).spawn(len(TWELVE))
    return [
        collect_often(make(name, people.k, 4.0), people, 100, stream)
        for name, stream in zip(TWELVE, streams, strict=True)
    ]


@pytest.mark.slow
@pytest.mark.stat
def test_twelve_protocols_agree_with_closed_forms_on_ages(trials: list[Trials]) -> None:
    """24 tests with a false alarm rate of 1e-3 together, by Bonferroni's correction; errors of 3 and 20 % are found."""
    assert [t.mechanism.name for t in trials] == list(TWELVE)
    assert {t.errors.size for t in trials} == {100}
    level = ALPHA / (2 * len(trials))
    values = {(t.mechanism.name, what): t.pvalue(what, t.expected(what)) for t in trials for what in ("mse", "asr")}
    assert min(values.values()) > level, values
    for t in trials:
        for what, factor in (("asr", 1.03), ("asr", 0.97), ("mse", 1.2), ("mse", 1 / 1.2)):
            assert t.pvalue(what, factor * t.expected(what)) < level, (t.name, what, factor)


@pytest.mark.slow
@pytest.mark.stat
def test_printed_forms_that_are_wrong_are_rejected_on_ages(trials: list[Trials]) -> None:
    level = ALPHA / (2 * len(trials))
    mse = {t.mechanism.name: t.pvalue("mse", t.mechanism.properties(t.population.n)["mse_approx"]) for t in trials}
    asr = {t.mechanism.name: t.pvalue("asr", printed_asr(t.mechanism)) for t in trials}
    assert mse["grr"] < level
    assert mse["ss"] < level
    assert {name for name, value in asr.items() if value < level} == {"olh"}
