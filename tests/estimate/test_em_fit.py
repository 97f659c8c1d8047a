"""`Mechanism.fit`: what it takes, what it gives, what it refuses."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.errors import MergeError, ParameterError
from deniable.estimate.em import ConvergenceWarning, em_move
from deniable.estimate.fitted import MATRIX_MAX
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.reader import Reader

SUFFICIENT = ("grr", "hr", "pgr")


def collected(name: str, *, epsilon: float = 1.0, k: int = 9, n: int = 3000, seed: int = 3) -> tuple[Mechanism, Any]:
    """A mechanism, and reports of a population in which every value is half as frequent as the one before."""
    m, stream = dn.mechanism(name, epsilon=epsilon, k=k), dn.simulation(seed)
    weights = 0.5 ** np.arange(k)
    return m, m.privatize_items(stream.generator().choice(k, size=n, p=weights / weights.sum()), stream)


# ---- what it gives


@pytest.mark.parametrize("name", ["grr", "ss", "sue", "oue", "olh", "the", "she", "plh", "wheel", "hr", "pgr"])
def test_fit_gives_frequencies_and_says_how(name: str) -> None:
    m, reports = collected(name, epsilon=2.0, n=1500)
    estimate = m.fit(reports)
    assert estimate.value.min() >= 0
    assert estimate.value.sum() == pytest.approx(1, abs=1e-9)
    assert estimate.biased
    assert estimate.n == 1500
    assert estimate.simulated
    assert estimate.design == m.design
    assert list(estimate.parts) == ["frequency"]
    assert "maximum likelihood by EM from 1500 reports" in estimate.steps[0]
    assert "nats below the maximum (certificate)" in estimate.steps[0]
    assert "biased near the edge of the simplex" in estimate.steps[1]
    assert ("expected" if name in SUFFICIENT else "observed") + " information" in estimate.steps[1]
    assert np.isfinite(estimate.stderr).all()
    ends = estimate.interval()
    assert (ends.low >= 0).all()
    assert (ends.high <= 1).all()
    assert (ends.low <= estimate.value).all()
    assert (estimate.value <= ends.high).all()
    wider = estimate.interval(simultaneous=True)
    assert (wider.high - wider.low >= ends.high - ends.low).all()


def test_labels_are_kept() -> None:
    m = dn.mechanism("oue", epsilon=2.0, labels=["never", "sometimes", "often"])
    estimate = m.fit(m.privatize(["often"] * 400 + ["never"] * 100, rng=dn.simulation(1)))
    assert estimate.labels == ("never", "sometimes", "often")
    assert int(estimate.value.argmax()) == 2


@pytest.mark.parametrize("name", ["oue", "olh", "grr"])
def test_batches_are_one_collection(name: str) -> None:
    m, reports = collected(name)
    whole = m.fit(reports)
    in_batches = m.fit(reports[start : start + 700] for start in range(0, len(reports), 700))
    as_list = m.fit([reports[:10], reports[10:]])
    for other in (in_batches, as_list):
        np.testing.assert_allclose(other.value, whole.value, atol=1e-9)
        np.testing.assert_allclose(other.stderr, whole.stderr, rtol=1e-9)
        assert other.n == whole.n


@pytest.mark.parametrize("name", SUFFICIENT)
def test_tally_is_enough_where_it_counts_every_report(name: str) -> None:
    m, reports = collected(name)
    from_tally, from_reports = m.fit(m.tally(reports)), m.fit(reports)
    assert from_tally.value.tolist() == from_reports.value.tolist()
    assert from_tally.stderr.tolist() == from_reports.stderr.tolist()
    assert from_tally.steps == from_reports.steps
    assert from_tally.simulated


@pytest.mark.parametrize("name", SUFFICIENT)
def test_tally_says_the_same_as_the_kept_reports(name: str) -> None:
    """Through the supported items of every report, as for other mechanisms."""
    m, reports = collected(name)
    f = dn.simulation(2).generator().dirichlet(np.ones(m.k))
    one, two = m.bulk.reader.tally_evidence(m.tally(reports).cells), m.bulk.reader.evidence([reports.columns])
    np.testing.assert_allclose(one.step(f)[0], two.step(f)[0], rtol=1e-11)
    assert one.step(f)[1] == pytest.approx(two.step(f)[1], rel=1e-11)


def test_real_reports_are_not_marked_simulated() -> None:
    m = dn.mechanism("grr", epsilon=1.0, k=3)
    assert not m.fit(m.privatize([0, 1, 2, 0])).simulated


# ---- GRR, where the maximum is known


def test_inside_the_simplex_grr_is_the_linear_estimate() -> None:
    """There the likelihood is saturated: same values, same standard errors, for both targets."""
    m = dn.mechanism("grr", epsilon=2.0, k=6)
    tally = m.tally(m.privatize_items(np.repeat(np.arange(6), [900, 700, 500, 300, 300, 300]), dn.simulation(4)))
    linear, fitted = m.estimate(tally), m.fit(tally, tolerance=1e-10)
    assert linear.value.min() > 0.02
    np.testing.assert_allclose(fitted.value, linear.value, atol=1e-6)
    for target in ("reporters", "population"):
        np.testing.assert_allclose(fitted.covariance(target), linear.covariance(target), rtol=1e-4, atol=1e-9)


def water_level(counts: np.ndarray, odds: float) -> np.ndarray:
    """The maximum of sum c_y log(1 + (odds-1) f_y): f_y = max(0, c_y/level - 1/(odds-1)), by bisection."""
    low, high = 0.0, float(counts.sum()) * odds
    for _ in range(200):
        level = (low + high) / 2
        f = np.maximum(0, counts / level - 1 / (odds - 1))
        low, high = (level, high) if f.sum() > 1 else (low, level)
    return f


@pytest.mark.parametrize("seed", range(4))
def test_at_the_edge_grr_is_the_constrained_maximum(seed: int) -> None:
    m, reports = collected("grr", epsilon=0.7, k=15, seed=seed)
    tally = m.tally(reports)
    assert m.estimate(tally).value.min() < 0
    fitted = m.fit(tally, tolerance=1e-9)
    np.testing.assert_allclose(fitted.value, water_level(tally.cells["support"][0], m.bulk.odds), atol=1e-5)  # type: ignore[attr-defined]


# ---- methods


def test_smoothing_helps_ordered_values() -> None:
    """A smooth population of 64 ordered values: less than half the error of EM on the same reports (5 of 5 runs)."""
    people = dn.datasets.synthetic("normal", k=64, n=10_000)
    m = dn.mechanism("grr", epsilon=2.0, k=64)
    for stream in dn.simulation(20261115).spawn(5):
        tally = m.tally(m.privatize_items(people.values(), stream))
        em, ems = (np.mean((m.fit(tally, how).value - people.frequencies) ** 2) for how in ("em", "ems"))
        assert ems < em / 2


def test_smoothing_says_what_it_is() -> None:
    m, reports = collected("oue")
    estimate = m.fit(reports, "ems")
    assert estimate.biased
    assert "no certificate" in estimate.steps[0]
    assert "for values in an order" in estimate.steps[0]
    assert "biased by the smoothing" in estimate.steps[1]
    assert estimate.value.sum() == pytest.approx(1, abs=1e-9)


def test_tolerance_is_kept() -> None:
    m, reports = collected("oue")
    evidence = m.bulk.reader.evidence([reports.columns])
    for tolerance in (5.0, 0.5, 1e-3):
        assert em_move(evidence)(m.fit(reports, tolerance=tolerance, stderr=None).value).gap <= tolerance


def test_too_few_steps_are_told_and_warned_of() -> None:
    m, reports = collected("oue")
    with pytest.warns(ConvergenceWarning, match="raise max_steps or the tolerance"):
        estimate = m.fit(reports, max_steps=3)
    assert "stopped before the certificate was met" in estimate.steps[0]
    with pytest.warns(ConvergenceWarning, match="above the tolerance"):
        assert "stopped before it settled" in m.fit(reports, "ems", max_steps=3).steps[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        m.fit(reports)


def test_progress_is_told() -> None:
    m, reports = collected("oue")
    heard: list[float] = []
    m.fit(reports, progress=lambda count, gap: heard.append(gap))
    assert len(heard) > 3
    assert heard[-1] <= 0.02 < heard[0]


def test_without_standard_errors_there_are_none() -> None:
    m, reports = collected("oue")
    estimate = m.fit(reports, stderr=None)
    assert "no standard errors" in estimate.steps[1]
    with pytest.raises(ParameterError, match="fitted without standard errors"):
        _ = estimate.stderr


def test_projection_changes_nothing() -> None:
    m, reports = collected("oue")
    estimate = m.fit(reports)
    np.testing.assert_allclose(estimate.project().value, estimate.value, atol=1e-12)


def test_fitted_estimates_are_not_compared() -> None:
    m, reports = collected("oue")
    with pytest.raises(ParameterError, match="unbiased"):
        m.fit(reports).compare(m.fit(reports))


# ---- refusals


def test_unknown_method_lists_the_known_ones() -> None:
    m, reports = collected("oue")
    with pytest.raises(ParameterError, match=r"method must be one of em, ems, count-aware\b.*, got 'mle'"):
        m.fit(reports, "mle")


@pytest.mark.parametrize("name", ["oue", "ss", "olh", "the", "wheel", "she"])
def test_tally_that_is_not_enough_is_refused(name: str) -> None:
    m, reports = collected(name, n=50)
    with pytest.raises(ParameterError, match="Keep the reports"):
        m.fit(m.tally(reports))


def test_other_designs_are_refused() -> None:
    m, reports = collected("grr")
    other = dn.mechanism("grr", epsilon=1.5, k=9)
    for data in (reports, [reports], m.tally(reports)):
        with pytest.raises(MergeError, match=r"epsilon is 1\.5 in one and 1\.0 in the other"):
            other.fit(data)


def test_damaged_reports_are_refused() -> None:
    m = dn.mechanism("ss", epsilon=1.0, k=9)
    wrong = dn.Reports(m.design, m.fields, {"bits": np.full((2, 2), 255, np.uint8)})
    with pytest.raises(dn.FormatError, match="not a subset"):
        m.fit(wrong)


@pytest.mark.parametrize("data", [7, None, [1, 2], "reports"])
def test_other_things_are_refused(data: object) -> None:
    with pytest.raises(ParameterError, match="data must be reports, batches of reports or a tally, got"):
        dn.mechanism("grr", epsilon=1.0, k=3).fit(data)


@pytest.mark.parametrize("name", ["grr", "oue"])
def test_no_reports_are_refused(name: str) -> None:
    m, reports = collected(name)
    for data in ([], reports[:0], *([m.empty()] if name == "grr" else [])):
        with pytest.raises(ParameterError, match="at least one report"):
            m.fit(data)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"tolerance": 0}, "tolerance must be a number > 0, got 0"),
        ({"tolerance": "small"}, "tolerance must be a number > 0, got 'small'"),
        ({"max_steps": 0}, "max_steps must be an integer >= 1, got 0"),
        ({"max_steps": True}, "max_steps must be an integer >= 1, got True"),
        ({"stderr": "exact"}, "stderr must be 'information', 'bootstrap' or None, got 'exact'"),
        ({"stderr": "bootstrap"}, "rng must be a seeded stream"),
        ({"stderr": "bootstrap", "rng": dn.secure()}, "rng must be a seeded stream"),
        ({"stderr": "bootstrap", "rng": dn.simulation(1), "runs": 1}, "runs must be an integer >= 2, got 1"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], text: str) -> None:
    m, reports = collected("grr", n=10)
    with pytest.raises(ParameterError, match=text):
        m.fit(reports, **options)


@pytest.mark.parametrize("runs", [2, 5])
def test_a_bootstrap_has_as_many_runs_as_were_asked_for(runs: int) -> None:
    m, reports = collected("grr", n=200)
    steps: list[int] = []
    m.fit(reports, stderr="bootstrap", runs=runs, rng=dn.simulation(2), progress=lambda step, _: steps.append(step))
    assert steps.count(1) == 1 + runs


def test_large_domains_have_no_matrix_but_a_fit() -> None:
    k = MATRIX_MAX + 1
    m = dn.mechanism("grr", epsilon=8.0, k=k)
    reports = m.privatize_items(np.zeros(60, np.int64), dn.simulation(1))
    with pytest.raises(ParameterError, match=f"at most {MATRIX_MAX} with stderr='information'"):
        m.fit(reports)
    estimate = m.fit(reports, stderr="bootstrap", runs=2, rng=dn.simulation(2))
    assert int(estimate.value.argmax()) == 0
    assert estimate.stderr.shape == (k,)
    with pytest.raises(ParameterError, match="no covariance matrix"):
        estimate.covariance()


def test_mechanisms_without_a_likelihood_say_so() -> None:
    m = dn.mechanism("grr", epsilon=1.0, k=3)
    with pytest.raises(ParameterError, match="is not written out"):
        Reader(m.bulk).likelihood({})
    with pytest.raises(ParameterError, match="give the reports"):
        Reader(m.bulk).tally_evidence(m.empty().cells)
