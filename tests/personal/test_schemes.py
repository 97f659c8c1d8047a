"""Schemes for personal levels by the names of papers: what they compute, how exact their errors are, and that they
are for simulations only."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import product
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.errors import ParameterError
from deniable.mechanisms.personal.published import emoa, ppda_covariance, response_is_better
from deniable.service.rounds import next_round

NAMES = ("rcf", "apldp", "ppda", "pbp", "auem", "emoa")
LEVELS = (0.5, 1.0, 2.0)
HELD = np.repeat(np.arange(4), [900, 500, 400, 200])
TRUTH = np.bincount(HELD) / HELD.size


def made(name: str, **own: Any) -> Any:
    return dn.protocol(name, levels=LEVELS, k=4, **own)


def ran(name: str, seed: int = 1) -> tuple[Any, Any, Any]:
    """The protocol, its estimate and its tallies."""
    p = made(name)
    estimate, _, tallies = p.run(HELD, dn.simulation(seed))
    return p, estimate, tallies


@pytest.mark.parametrize("name", NAMES)
def test_its_form_is_the_paper_s_and_there_is_no_other(name: str) -> None:
    assert made(name, form="paper") == made(name)
    with pytest.raises(ParameterError, match="form must be paper"):
        made(name, form="null")


@pytest.mark.parametrize("name", NAMES)
def test_levels_are_tenths_of_epsilon_unless_given(name: str) -> None:
    p = dn.protocol(name, epsilon=2.0, k=3)
    assert p.levels == tuple(2.0 * i / 10 for i in range(1, 11))
    assert p.params["shares"] == pytest.approx([0.1] * 10)
    assert dn.protocol(name, levels="1,0.5", shares="0.25,0.75", k=3).params["shares"] == [0.75, 0.25]
    with pytest.raises(ParameterError, match="epsilon must be given, or levels"):
        dn.protocol(name, k=3)
    with pytest.raises(ParameterError, match=r"epsilon must be at least the largest level, 2\.0"):
        made(name, epsilon=1.0)


def test_public_levels_are_weighted_by_one_over_their_variances() -> None:
    p, estimate, tallies = ran("rcf")
    each = [step.mechanism for step in p.outline]
    assert [(m.name, m.epsilon) for m in each] == [("sue", level) for level in LEVELS]
    weights = np.array(
        [t.n * m.support.gap**2 / (m.support.q * m.support.q_not) for m, t in zip(each, tallies, strict=True)]
    )
    values = [m.estimate(t).value for m, t in zip(each, tallies, strict=True)]
    assert np.allclose(estimate.value, (weights / weights.sum()) @ values, atol=1e-12)
    assert sum(t.n for t in tallies) == estimate.n == HELD.size


def test_the_better_protocol_is_taken_at_each_level() -> None:
    wide = dn.protocol("apldp", levels=(0.5, 4.0), k=9)
    assert [step.mechanism.name for step in wide.outline] == ["sue", "grr"]
    assert [response_is_better(9, level) for level in (0.5, 4.0)] == [False, True]


def test_hidden_levels_are_estimated_as_it_is_told() -> None:
    """From the tally alone; EMOA from the reports, at which it says so."""
    for name in ("pbp", "ppda", "auem"):
        p, estimate, (tally,) = ran(name)
        counts = p.mechanism.level_counts(tally)
        law = p.mechanism.law_effective
        share = counts.support.sum(axis=0) / HELD.size
        if name == "ppda":
            q, p_blended = float(share[4:].mean()), 1 - float(share[4:].mean())
        elif name == "pbp":
            p_blended, q = (float(np.mean(law.of(which))) for which in ("p", "q"))
        else:
            told = law.channel[0, 0] - law.channel[0, 1]
            rho = (counts.n / HELD.size - law.channel[0, 1]) / told
            p_blended, q = (float(rho @ law.of(which)) for which in ("p", "q"))
        assert np.allclose(estimate.value, (share[:4] - q) / (p_blended - q), atol=1e-12), name
    p, estimate, tallies = ran("emoa")
    assert estimate.value.sum() == pytest.approx(1)
    assert np.isinf(estimate.stderr).all()
    with pytest.raises(ParameterError, match="emoa reads every report"):
        p.next(tallies)


def test_the_method_of_the_same_name_reads_reports_of_pldp() -> None:
    m = dn.mechanism("pldp", levels=LEVELS, k=4, form="paper", level_epsilon=0.3)
    reports = m.privatize_items(HELD, dn.simulation(1))
    tally = m.tally(reports)
    assert np.allclose(m.fit(reports, method="emoa").value, ran("emoa")[1].value, atol=1e-12)
    sets = np.unpackbits(m.bases[0].bulk.supported(reports.columns), axis=1, count=4, bitorder="little")
    first = emoa(sets.astype(float), m.law_effective, np.full(4, 0.25), np.full(3, 1 / 3), steps=1)
    assert first.shape == (4,)
    assert m.estimate(tally, "pbp").value == pytest.approx(made("pbp").run(HELD, dn.simulation(1))[0].value, abs=0.2)
    with pytest.raises(ParameterError, match="data must be reports: emoa reads every one, got a tally"):
        m.fit(tally, method="emoa")
    some = dn.mechanism("upldp", levels=LEVELS, k=4, sensitive=2, level_epsilon=0.3)
    with pytest.raises(ParameterError, match="method must be one of em, em-known, em-blind, got 'emoa'"):
        some.fit(some.privatize_items(HELD, dn.simulation(1)), method="emoa")
    with pytest.raises(ParameterError, match="method must be auto or one of auem, self, grouped, got 'pbp'"):
        some.estimate(some.tally(some.privatize_items(HELD, dn.simulation(1))), "pbp")


def test_the_covariance_of_ppda_is_that_of_all_reports() -> None:
    """Exact: every level, value and report of two values with one bit of nobody for each, to first order."""
    p = dn.protocol("ppda", levels=(0.5, 2.0), k=2)
    law, f, n = p.mechanism.law_effective, np.array([0.7, 0.3]), 50.0
    bits = np.array(list(product((0, 1), repeat=4)))
    joint = np.zeros((2, 2))
    for share, high, low in zip(law.shares, law.of("p"), law.of("q"), strict=True):
        for x in range(2):
            on = np.where(np.arange(4) == x, high, low)
            chance = np.prod(np.where(bits > 0, on, 1 - on), axis=1) * share * f[x]
            z = bits[:, :2] - (1 - 2 * f) * bits[:, 2:].mean(axis=1)[:, None] - f
            joint += (z * chance[:, None]).T @ z
    assert np.allclose(ppda_covariance(law, f, n, 2, "population"), joint / (n * law.gap**2), rtol=1e-9)
    drawn = (np.diag(f) - np.outer(f, f)) / n
    assert np.allclose(ppda_covariance(law, f, n, 2, "reporters"), joint / (n * law.gap**2) - drawn, rtol=1e-9)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "emoa"])
def test_drawing_people_adds_what_a_sample_of_them_has(name: str) -> None:
    """Of every scheme: between the covariances for both targets lies that of the people's own frequencies."""
    sums = []
    for seed in (1, 2, 3):
        p, found, _ = ran(name, seed)
        apart = found.covariance("population") - found.covariance("reporters")
        sums.append(float(np.clip(found.value, 0, 1).sum()))
        f = np.clip(found.value, 0, 1) / (max(1.0, sums[-1]) if name in ("ppda", "auem") else 1.0)
        drawn = (np.diag(f) - np.outer(f, f)) / HELD.size
        for target in ("population", "reporters"):
            assert np.diag(found.covariance(target)) == pytest.approx(found.variance(target), rel=1e-12)
            if name == "ppda":  # as many bits of nobody as there are values
                want = ppda_covariance(p.mechanism.law_effective, f, HELD.size, p.k, target)
                assert found.covariance(target) == pytest.approx(want, rel=1e-12)
        assert apart == pytest.approx(drawn, rel=1e-9, abs=1e-12)
    assert max(sums) > 1 or name not in ("ppda", "auem"), "estimates with a larger sum are brought to 1 first"


@pytest.mark.slow
@pytest.mark.stat
@pytest.mark.parametrize("name", [name for name in NAMES if name != "emoa"])
def test_standard_errors_are_those_of_the_estimates(name: str) -> None:
    """Mean squared standardised error over 150 runs and 4 values, within the 1e-6 limits of 600 squares, which are
    nearly independent; standard errors that are a quarter too small or too large would be found."""
    errors = []
    for seed in range(150):
        _, estimate, _ = ran(name, seed)
        errors.append((estimate.value - TRUTH) / estimate.stderr)
    mean = float(np.mean(np.square(errors)))
    assert 0.7 < mean < 1.35
    assert not 0.7 < mean / 0.75**2 < 1.35
    assert not 0.7 < mean / 1.25**2 < 1.35


@pytest.mark.parametrize("name", NAMES)
def test_no_collection_is_made_with_it(name: str) -> None:
    """Refused before anything is asked of a store."""
    with pytest.raises(
        ParameterError, match=f"NAME must be a protocol that collects, got '{name}'.* Collect with pldp"
    ):
        next_round(made(name), None, [], datetime.now(UTC))  # type: ignore[arg-type]


def test_levels_that_everybody_sees_are_said_to_be_so() -> None:
    told = made("rcf").protection
    assert "About the level: everybody sees it, nothing is promised" in told.text
    assert told.document()["level"] is None
    assert "About the level: a report is at most e^" in made("pbp").protection.text
