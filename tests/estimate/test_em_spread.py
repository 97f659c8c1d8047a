"""Standard errors of fitted estimates: the information is the curvature, and predicts the spread that is seen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2

import deniable as dn
from deniable.estimate.em import em_move, ems_move, smooth, squarem, uniform
from deniable.estimate.evidence import DenseEvidence, Evidence, PackedRows, RowEvidence, ValueEvidence
from deniable.estimate.fitted import information_spread, smoothed_spread
from deniable.mechanisms.support import SupportMechanism
from deniable.mechanisms.utility.estimate import UtilityEvidence
from tiers import every

ALPHA = 1e-3
"""False alarm rate of each of the comparisons with simulations below."""


def made(name: str, epsilon: float, k: int) -> SupportMechanism:
    m = dn.mechanism(name, epsilon=epsilon, k=k)
    assert isinstance(m, SupportMechanism)
    return m


def evidence_of(m: SupportMechanism, reports: dn.Reports) -> Evidence:
    return (
        m.bulk.reader.tally_evidence(m.tally(reports).cells)
        if m.bulk.reader.sufficient
        else m.bulk.reader.evidence([reports.columns])
    )


def some_rows(k: int = 7, n: int = 300) -> RowEvidence:
    bits = dn.simulation(1).generator().random((n, k)) < 0.4
    return RowEvidence(PackedRows.of([np.packbits(bits, axis=1, bitorder="little")], k), 3.5)


def some_dense(k: int = 7, n: int = 300) -> DenseEvidence:
    draw = dn.simulation(2).generator()
    return DenseEvidence(draw.random((n, k)) + 0.1, 1.0 + draw.integers(3, size=n))


def some_disclosed(hidden: Evidence) -> UtilityEvidence:
    """Some reports disclose one of the last three of seven items, others see all items through the evidence given."""
    return UtilityEvidence(hidden, np.array([0.0, 0, 0, 0, 40, 0, 25]))


# ---- the information itself

EVIDENCE = {
    "rows": some_rows(),
    "dense": some_dense(),
    "disclosed beside rows": some_disclosed(some_rows()),
    "disclosed beside dense": some_disclosed(some_dense()),
    "disclosed alone": some_disclosed(some_dense(n=0)),
}


@pytest.mark.parametrize("evidence", EVIDENCE.values(), ids=EVIDENCE)
def test_information_is_minus_the_second_derivative(evidence: Evidence) -> None:
    """Along random directions in the simplex, by central differences of the gradient n g."""
    draw = dn.simulation(3).generator()
    f = draw.dirichlet(np.full(evidence.k, 5.0))
    matrix = evidence.information(f)
    np.testing.assert_allclose(matrix @ f, evidence.n * evidence.step(f)[0], rtol=1e-11)
    for _ in range(4):
        d = draw.normal(size=evidence.k)
        d -= d.mean()
        up, down = (evidence.n * evidence.step(f + s * 1e-6 * d)[0] for s in (1, -1))
        np.testing.assert_allclose(matrix @ d, (down - up) / 2e-6, rtol=1e-5, atol=1e-4)


def test_expected_information_is_that_of_expected_counts() -> None:
    """GRR: at counts that are what f predicts, observed and expected information are the same."""
    f, odds = np.array([0.5, 0.3, 0.2, 0.0]), 4.0
    law = (1 + (odds - 1) * f) / (len(f) + odds - 1)
    rows = PackedRows.of([np.array([[1], [2], [4], [8]], np.uint8)], 4, (law * 10_000).round().astype(int))
    observed = RowEvidence(rows, odds)
    for complete in (RowEvidence(rows, odds, complete=True), ValueEvidence(rows.weights, odds)):
        np.testing.assert_allclose(complete.information(f), observed.information(f), rtol=1e-3)
        uneven = ValueEvidence(rows.weights[::-1].copy(), odds)
        np.testing.assert_allclose(complete.information(f), uneven.information(f), rtol=1e-9)


@pytest.mark.parametrize("name", ["grr", "ss", "oue", "olh"])
def test_variances_of_reporters_are_never_negative(name: str) -> None:
    """Louis' identity: what the values themselves would say is at least what the reports say, at every f."""
    m, draw = made(name, 4.0, 6), dn.simulation(5).generator()
    reports = m.privatize_items(draw.integers(6, size=400), dn.simulation(6))
    evidence = evidence_of(m, reports)
    for f in [*draw.dirichlet(np.ones(6), size=5), m.fit(reports).value]:
        spread = information_spread(evidence, f)
        difference = spread.population - spread.reporters
        assert np.linalg.eigvalsh(spread.reporters).min() >= -1e-12
        assert np.linalg.eigvalsh(difference).min() >= -1e-12
        assert np.diagonal(difference).max() > 0
        np.testing.assert_allclose(spread.population.sum(axis=0), 0, atol=1e-12)


# ---- what reports cannot tell


def test_values_that_reports_do_not_tell_apart_have_infinite_errors() -> None:
    """Two reports about six items: all that is known is how three groups of items compare."""
    m = made("oue", 1.0, 6)
    bits = np.array([[0b000011], [0b000100]], np.uint8)
    estimate = m.fit(dn.Reports(m.design, m.fields, {"bits": bits}, simulated=True))
    told = np.isfinite(estimate.stderr)
    assert told.tolist() == [False, False, True, False, False, False]
    assert "5 values cannot be told apart" in estimate.steps[1]
    ends = estimate.interval()
    assert ends.low[~told].tolist() == [0] * 5
    assert ends.high[~told].tolist() == [1] * 5


def test_unseen_values_of_a_complete_tally_have_finite_errors() -> None:
    """GRR reports of two values only: the law of all reports is known, so silence about the others is information."""
    m = made("grr", 2.0, 5)
    values = np.array([0] * 40 + [1] * 20, np.uint8)
    estimate = m.fit(dn.Reports(m.design, m.fields, {"value": values}, simulated=True))
    assert np.isfinite(estimate.stderr).all()
    assert estimate.value[2:].max() < 1e-3
    assert (estimate.interval().high[2:] < 0.5).all()


# ---- against simulations


def pvalue(values: np.ndarray, predicted: np.ndarray, centre: np.ndarray | None = None) -> float:
    """Two-sided p-value of a predicted covariance, from the squared distances of runs to their mean (or a known one).

    Estimates are close to normal, so a run's squared distance is a weighted sum of chi-squares; the one chi-square law
    with the same mean and variance stands for it.
    """
    runs = len(values) - (1 if centre is None else 0)
    seen = float(((values - (values.mean(axis=0) if centre is None else centre)) ** 2).sum())
    freedom = runs * np.trace(predicted) ** 2 / (predicted**2).sum()
    law, scaled = chi2(freedom), seen * freedom / (runs * np.trace(predicted))
    return float(2 * min(law.cdf(scaled), law.sf(scaled)))


SHARES = np.array([0.3, 0.25, 0.2, 0.15, 0.1])
PEOPLE, RUNS = 2000, 250


def runs_of(name: str, method: str, target: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Fitted values of many runs, and the mean of the covariances they state."""
    m = made(name, 2.5, SHARES.size)
    values, stated = [], []
    for stream in dn.simulation(seed).spawn(RUNS):
        if target == "reporters":
            items = np.repeat(np.arange(SHARES.size), (SHARES * PEOPLE).astype(int))
        else:
            items = stream.generator().choice(SHARES.size, size=PEOPLE, p=SHARES)
        estimate = m.fit(m.privatize_items(items, stream), method)
        values.append(estimate.value)
        stated.append(estimate.covariance(target))
    return np.array(values), np.mean(stated, axis=0)


@pytest.mark.stat
@pytest.mark.parametrize(
    ("name", "target"),
    every(2, [("grr", "reporters"), ("grr", "population"), ("olh", "population"), ("oue", "reporters")]),
)
def test_information_predicts_the_spread(name: str, target: str) -> None:
    """All shares are far (six standard errors) from the edge, where theory holds. Seeds fixed beforehand; a false alarm
    has probability 1e-3 per case. Power: a covariance that is wrong by 30 % either way is rejected."""
    values, stated = runs_of(name, "em", target, seed=20261115)
    assert (6 * np.sqrt(np.diagonal(stated)) < SHARES).all()
    assert pvalue(values, stated, SHARES) > ALPHA
    assert pvalue(values, 1.3 * stated, SHARES) < ALPHA
    assert pvalue(values, stated / 1.3, SHARES) < ALPHA


@pytest.mark.stat
def test_delta_method_predicts_the_spread_of_smoothed_fits() -> None:
    """The same for EM with smoothing, around its own (biased) mean."""
    values, stated = runs_of("grr", "ems", "population", seed=20261116)
    assert pvalue(values, stated) > ALPHA
    assert pvalue(values, 1.3 * stated) < ALPHA
    assert pvalue(values, stated / 1.3) < ALPHA


def test_delta_method_without_smoothing_is_the_information(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the model fits exactly (GRR inside the simplex is saturated), both give the same matrix."""
    evidence = ValueEvidence(np.array([400.0, 300.0, 200.0, 150.0]), 6.0)
    f = squarem(em_move(evidence), uniform(4), tolerance=1e-12, max_steps=10_000).value
    assert f.min() > 0.01
    monkeypatch.setattr("deniable.estimate.fitted.smooth", lambda x: x)
    plain = smoothed_spread(evidence, f).population
    np.testing.assert_allclose(plain, information_spread(evidence, f).population, rtol=1e-6, atol=1e-12)


def test_smoothing_shrinks_the_spread() -> None:
    evidence = ValueEvidence(np.array([400.0, 300.0, 200.0, 150.0]), 6.0)
    f = squarem(ems_move(evidence), uniform(4), tolerance=1e-12, max_steps=10_000, slack=3.0).value
    np.testing.assert_allclose(smooth(f * evidence.step(f)[0]), f, atol=1e-10)
    less, more = smoothed_spread(evidence, f).population, information_spread(evidence, f).population
    assert np.trace(less) < np.trace(more) / 2


@pytest.mark.stat
@pytest.mark.parametrize("name", ["grr", "oue"])
def test_bootstrap_agrees_with_the_information(name: str) -> None:
    """150 runs know a variance to 12 % (one standard error), their mean over five values to about 7 %; the information
    is itself right to a few per cent. So 30 % is some four standard errors: a false alarm has probability < 1e-3."""
    m = made(name, 2.5, SHARES.size)
    items = np.repeat(np.arange(SHARES.size), (SHARES * PEOPLE).astype(int))
    reports = m.privatize_items(items, dn.simulation(20261115))
    exact = m.fit(reports)
    drawn = m.fit(reports, stderr="bootstrap", runs=150, rng=dn.simulation(20261116))
    ratio = drawn.variance("population").mean() / exact.variance("population").mean()
    assert abs(ratio - 1) < 0.3
    assert drawn.value.tolist() == exact.value.tolist()
    assert drawn.variance("reporters").tolist() == drawn.variance("population").tolist()
    assert "bootstrap of 150 runs" in drawn.steps[1]
    again = m.fit(reports, stderr="bootstrap", runs=150, rng=dn.simulation(20261116))
    assert again.stderr.tolist() == drawn.stderr.tolist()


@pytest.mark.stat
def test_intervals_cover_at_the_edge() -> None:
    """Zipf-like shares down to 0.2 %, where estimates stick at 0. Coverage of 95 % intervals, over values and 80 runs:
    at least 90 % in the mean (1,200 intervals; standard error below 1 %, so chance hardly moves it). Standard errors
    that take items at zero as known would miss the five rarest more often than one time in five."""
    shares = 1 / np.arange(1, 16) ** 2
    shares /= shares.sum()
    m = made("oue", 1.0, 15)
    covered, at_edge, by_face = [], [], []
    for stream in dn.simulation(20261115).spawn(80):
        items = stream.generator().choice(15, size=3000, p=shares)
        reports = m.privatize_items(items, stream)
        estimate = m.fit(reports)
        covered.append(estimate.interval(0.95, "population").covers(shares))
        at_edge.append(estimate.value < 1e-6)
        half = 1.96 * face_stderr(evidence_of(m, reports), estimate.value)
        by_face.append(np.abs(estimate.value - shares) <= half)
    assert 0.1 < np.mean(at_edge) < 0.6
    assert np.mean(covered) >= 0.9
    assert np.mean(covered, axis=0).min() >= 0.85
    assert np.mean(by_face, axis=0)[-5:].mean() < 0.8


def face_stderr(evidence: Evidence, f: np.ndarray) -> np.ndarray:
    """From the information about the items that are not at zero, the others taken as known."""
    on = f > 1e-6
    matrix = evidence.information(f)[np.ix_(on, on)]
    basis = np.linalg.svd(np.ones((1, on.sum())))[2][1:].T
    stderr = np.zeros(f.size)
    stderr[on] = np.sqrt(np.diagonal(basis @ np.linalg.inv(basis.T @ matrix @ basis) @ basis.T))
    return stderr


def any_matrix(estimate: Any) -> np.ndarray:
    return estimate.covariance("population")


def test_covariance_sums_to_nothing() -> None:
    """Fitted frequencies sum to 1, so their covariances sum to 0 by row."""
    m = made("ss", 1.0, 8)
    estimate = m.fit(m.privatize_items(np.arange(800) % 8, dn.simulation(1)))
    np.testing.assert_allclose(any_matrix(estimate).sum(axis=0), 0, atol=1e-9)
