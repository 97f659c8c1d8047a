"""What is read from estimates of answers in an order: ranges, cumulative shares in their band, quantiles."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

import deniable as dn
from deniable.core.types import Target
from deniable.estimate.ordered import _both_off, band_width
from deniable.mechanisms.base import Mechanism

AGES = [str(age) for age in range(18, 34)]


def people(m: Mechanism, n: int, seed: int) -> tuple[np.ndarray, dn.Estimate]:
    """The shares of a skewed population of reporters, and their estimate."""
    weights = np.exp(-0.5 * ((np.arange(m.k) - m.k / 4) / (m.k / 5)) ** 2)
    items = np.searchsorted(np.cumsum(weights / weights.sum()), (np.arange(n) + 0.5) / n)
    reports = m.privatize_items(items, dn.simulation(seed))
    return np.bincount(items, minlength=m.k) / n, m.estimate(m.tally(reports))


@pytest.fixture(scope="module", params=["windows", "tree", "ss"])
def estimate(request: pytest.FixtureRequest) -> dn.Estimate:
    return people(dn.mechanism(request.param, epsilon=1.0, labels=AGES), 4000, 1)[1]


def test_ranges_are_sums_with_the_variance_of_sums(estimate: dn.Estimate) -> None:
    """By the covariance matrix, for both targets; ends are included."""
    found = estimate.ranges(("18", "21"), "20,33", ("25", "25"), ("18", "33"))
    assert found.labels == ("18 to 21", "20 to 33", "25", "18 to 33")
    spans = [slice(0, 4), slice(2, 16), slice(7, 8), slice(0, 16)]
    assert found.value == pytest.approx([estimate.value[span].sum() for span in spans], abs=1e-12)
    for target in ("reporters", "population"):
        matrix = estimate.covariance(target)
        wanted = [max(0.0, matrix[span, span].sum()) for span in spans]
        assert found.variance(target) == pytest.approx(wanted, abs=1e-12)
    assert found.value[-1] == pytest.approx(1)
    assert found.stderr[-1] == pytest.approx(0, abs=1e-9)
    ends = found.interval(0.9)
    z = norm.ppf(0.95)
    np.testing.assert_allclose(ends.high - ends.low, 2 * z * found.stderr, rtol=1e-9)


def test_cumulative_shares_are_added_up_as_they_are(estimate: dn.Estimate) -> None:
    """Neither sorted nor cut off: these fall somewhere, and the last one is 1."""
    found = estimate.cumulative()
    np.testing.assert_allclose(found.value, np.cumsum(estimate.value), atol=1e-12)
    assert found.value[-1] == pytest.approx(1)
    matrix = estimate.covariance()
    wanted = np.diagonal(matrix.cumsum(axis=0).cumsum(axis=1))[:-1]
    np.testing.assert_allclose(found.variance()[:-1], wanted, rtol=1e-9, atol=1e-12)
    assert found.variance()[-1] == 0
    band, alone = found.interval(simultaneous=True), found.interval()
    inner = slice(0, -1)
    wide = (band.high - band.low)[inner] / (alone.high - alone.low)[inner]
    assert wide.min() == pytest.approx(wide.max())
    many = norm.isf(0.025 / 15) / norm.ppf(0.975)
    assert 1.2 < wide[0] <= many * (1 + 1e-9), "between one interval and Bonferroni for all"
    with pytest.raises(dn.ParameterError, match="covariances of sums"):
        found.covariance()


@pytest.mark.parametrize("name", ["oue", "olh", "hr", "she", "grr", "ss"])
@pytest.mark.parametrize("target", ["reporters", "population"])
def test_everybody_is_at_or_below_the_last_answer_under_every_design(name: str, target: Target) -> None:
    """Estimated shares need not sum to 1; what is told without an error must be right, all else keeps its error."""
    _, estimate = people(dn.mechanism(name, epsilon=1.0, labels=AGES), 500, 5)
    found = estimate.cumulative()
    ends = found.interval(0.95, target)
    assert found.value[-1] == ends.low[-1] == ends.high[-1] == 1
    assert found.variance(target)[-1] == 0
    np.testing.assert_allclose(found.value[:-1], np.cumsum(estimate.value)[:-1], atol=1e-12)
    matrix = estimate.covariance(target)
    wanted = np.diagonal(matrix.cumsum(axis=0).cumsum(axis=1))[:-1]
    np.testing.assert_allclose(found.variance(target)[:-1], wanted, rtol=1e-9, atol=1e-12)
    assert (ends.high - ends.low)[:-1].min() > 0


def test_estimates_that_are_not_sorted_stay_so() -> None:
    """With few reports cumulative shares fall, and are below 0 and above 1."""
    _, estimate = people(dn.mechanism("windows", epsilon=0.5, labels=AGES), 300, 5)
    value = estimate.cumulative().value
    assert np.diff(value).min() < -0.02
    assert value.min() < 0 or value.max() > 1


def test_quantiles_are_sets_that_tests_leave(estimate: dn.Estimate) -> None:
    """By the definition, share by share and answer by answer."""
    shares = (0.05, 0.25, 0.5, 0.9)
    found = estimate.quantiles(*shares, level=0.9)
    curve = estimate.cumulative()
    z = norm.ppf(0.95)
    upto, off = curve.value.tolist(), curve.stderr.tolist()
    upto[-1] = 1.0
    for i, share in enumerate(shares):
        left = []
        for t in range(16):
            below, loose = (0.0, 0.0) if t == 0 else (upto[t - 1], off[t - 1])
            more, less = below - z * loose > share, upto[t] + z * off[t] < share
            left += [] if more or less else [t]
        assert (found.low[i], found.high[i]) == (AGES[left[0]], AGES[left[-1]])
        first = next(t for t in range(16) if upto[t] >= share)
        assert found.value[i] == AGES[first]
        assert left[0] <= first <= left[-1]
    assert estimate.quantiles().shares == (0.5,)
    assert found.to_columns()["share"] == list(shares)
    assert "level 0.9: 0.05:" in repr(found)


def test_what_cannot_be_read_is_refused(estimate: dn.Estimate) -> None:
    for wrong in ("18", "18,", ("18",), ("18", "40"), 5, ("33", "18")):
        with pytest.raises(dn.ParameterError, match="range must be"):
            estimate.ranges(wrong)
    with pytest.raises(dn.ParameterError, match="ranges must be a list"):
        estimate.ranges()
    with pytest.raises(dn.ParameterError, match="different from each other"):
        estimate.ranges("18,19", ("18", "19"))
    for bad in (0, 1, -0.5, 1.5, math.nan, "0.5", None):
        with pytest.raises(dn.ParameterError, match="numbers between 0 and 1"):
            estimate.quantiles(bad)  # type: ignore[arg-type]
    projected = estimate.project()
    for read in (projected.cumulative, projected.quantiles, lambda: projected.ranges("18,19")):
        with pytest.raises(dn.ParameterError, match="must be unbiased"):
            read()  # type: ignore[operator]
    with pytest.raises(dn.ParameterError, match="shares of answers"):
        estimate.cumulative().cumulative()
    with pytest.raises(dn.ParameterError, match="shares of answers"):
        estimate.ranges("18,19").quantiles()


def test_labels_with_commas_are_found() -> None:
    m = dn.mechanism("windows", epsilon=1.0, labels=["none", "1,000", "2,000 or more"])
    found = people(m, 200, 2)[1].ranges("1,000,2,000 or more", "none,1,000")
    assert found.labels == ("1,000 to 2,000 or more", "none to 1,000")


# ---- the band


@pytest.mark.parametrize("rho", [0.0, 0.3, 0.8, 0.95, 1 - 1 / 512])
@pytest.mark.parametrize("z", [1.96, 3.3])
def test_both_off_is_the_law_of_two_normal_numbers(rho: float, z: float) -> None:
    law = multivariate_normal(cov=[[1, rho], [rho, 1]])
    corners = law.cdf([-z, -z]) + law.cdf([-z, -z])
    one = norm.cdf(-z)
    mixed = 2 * (one - law.cdf([-z, z]) + 0.0)  # first below -z, second above z: counted twice
    assert _both_off(np.array([rho]), z)[0] == pytest.approx(corners + mixed, rel=2e-3, abs=1e-9)


def test_a_band_of_one_or_of_equal_curves_is_as_wide_as_it_must_be() -> None:
    assert band_width(np.array([1.0, 0.0]), np.array([1.0, 1.0]), 0.95) == pytest.approx(norm.ppf(0.975))
    apart = band_width(np.ones(50), np.full(50, 2.0), 0.95)  # independent neighbours
    assert norm.isf(0.025 / 50) * 0.99 < apart <= norm.isf(0.025 / 50)
    together = band_width(np.ones(50), np.full(50, 1e-9), 0.95)  # one and the same curve
    assert norm.ppf(0.975) <= together < 2.6


@pytest.mark.stat
@pytest.mark.slow
@pytest.mark.turns(3)
@pytest.mark.parametrize("case", [("windows", 1.0), ("windows", 2.0), ("tree", 1.0)], ids=str)
def test_intervals_bands_and_quantiles_cover(case: tuple[str, float]) -> None:
    """1,000 runs of 3,000 people: shares and ranges 95 %, band and quantile sets at least.

    Alpha 3e-4 each: a share of 1,000 runs is within 3.6 standard errors (.69 %) of 95 %, that is 92.5 to 97.5 %. Power:
    intervals that are 15 % too short cover 90.4 %, which is seen with a chance of 98 %.
    """
    name, epsilon = case
    m = dn.mechanism(name, epsilon=epsilon, labels=AGES)
    runs, hits = 1000, np.zeros(5)
    for seed in range(runs):
        f, estimate = people(m, 3000, 10_000 + seed)
        true, curve = np.cumsum(f), estimate.cumulative()
        spans = estimate.ranges("18,22", "21,29").interval()
        told = [f[:5].sum(), f[3:12].sum()]
        median = AGES[int(np.argmax(true >= 0.5))]
        found = estimate.quantiles(0.5)
        inside = curve.interval(simultaneous=True).covers(true)[:-1].all()
        hits += [
            estimate.interval().covers(f).mean(),
            *spans.covers(np.array(told)),
            inside,
            int(found.low[0]) <= int(median) <= int(found.high[0]),
        ]
    shares = hits / runs
    assert (shares[:3] > 0.925).all(), shares
    assert (shares[:3] < 0.975).all(), shares
    assert (shares[3:] > 0.925).all(), shares


def test_charts_show_curves_with_their_band(estimate: dn.Estimate) -> None:
    pytest.importorskip("altair")
    curve = estimate.cumulative()
    drawn: Any = curve.chart(title="Ages").to_dict()
    text = str(drawn)
    assert "95 % band, everywhere at once" in text
    assert "step-after" in text
    rows = drawn["data"]["values"]
    band = curve.interval(simultaneous=True)
    assert [row["low"] for row in rows] == pytest.approx(band.low.tolist())
    assert [row["at"] for row in rows] == pytest.approx([float(age) for age in AGES])
    with pytest.raises(dn.ParameterError, match="top must be left out"):
        curve.chart(top=3)
