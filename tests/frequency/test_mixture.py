"""Mixtures of two subset sizes: enumerated, unbiased, with the error and the best guess of the formulas."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, chi2

import deniable as dn
from deniable.core.frontier import frontier_mse
from deniable.errors import FormatError
from deniable.mechanisms.frequency.mixture import SubsetMixture
from deniable.mechanisms.frequency.subset import SubsetSelection
from deniable.testing import StreamWords
from deniable_client import Device

CASES = [
    pytest.param(k, e, s, t, id=f"k={k}-epsilon={e}-size={s}-share={t}")
    for k, e, s, t in [
        (2, 1.0, 1, 0.4),
        (2, 3.0, 1, 0.0),
        (3, 0.1, 1, 0.5),
        (4, 1.0, 2, 0.25),
        (5, 2.0, 4, 0.75),
        (6, 4.0, 2, 0.9),
        (7, 0.7, 5, 0.1),
    ]
]


def made(k: int, epsilon: float, size: int, share: float) -> SubsetMixture:
    return SubsetMixture(epsilon=epsilon, domain=dn.Domain.of(k), size=size, share=share)


def weights(m: SubsetMixture) -> list[list[Fraction]]:
    """What one report adds to each estimate, from the definition of the profile, by output of the channel."""
    channel = m.channel()
    mean = [Fraction(sum(row), channel.total * m.k) for row in channel.weights]
    profile = [[Fraction(v, channel.total) / mu for v in row] for row, mu in zip(channel.weights, mean, strict=True)]
    spread = [sum((x - 1) ** 2 for x in row) / m.k for row in profile]
    a = Fraction(m.k, m.k - 1) * sum((mu * v for mu, v in zip(mean, spread, strict=True)), Fraction(0))
    return [[Fraction(1, m.k) + (x - 1) / a for x in row] for row in profile]


@pytest.mark.parametrize(("k", "epsilon", "size", "share"), CASES)
def test_enumerated(k: int, epsilon: float, size: int, share: float) -> None:
    """Unbiased in fractions; every covariance, the error and the best guess as stated; the ratio by looking at all."""
    m = made(k, epsilon, size, share)
    channel, weight = m.channel(), weights(m)
    assert channel.proof().ratio == m.proof.ratio == m.kernel.ratio
    assert float(channel.asr()) == pytest.approx(m.effective()["asr"], rel=1e-12)
    tally = m.tally(m.privatize(np.arange(6) % k, rng=dn.simulation(0)))
    part: Any = m.parts(tally)["frequency"]
    total = Fraction(0)
    for x in range(k):
        law = [Fraction(row[x], channel.total) for row in channel.weights]
        for i, j in product(range(k), repeat=2):
            mean = sum((p * w[i] for p, w in zip(law, weight, strict=True)), Fraction(0))
            assert mean == (i == x)
            joint = sum((p * w[i] * w[j] for p, w in zip(law, weight, strict=True)), Fraction(0))
            stated = (part.own if i == x else part.other) if i == j else (part.one if x in (i, j) else part.none)
            assert stated == pytest.approx(float(joint - (i == x) * (j == x)), rel=1e-11, abs=1e-11)
            total += joint - (i == x) if i == j else 0
    assert float(total / k**2) == pytest.approx(m.effective()["mse"], rel=1e-12)
    assert m.effective()["mse"] == pytest.approx(m.mse(), rel=1e-9)


@pytest.mark.parametrize(("k", "epsilon", "size", "share"), CASES)
def test_the_estimate_is_the_mean_of_those_weights(k: int, epsilon: float, size: int, share: float) -> None:
    m = made(k, epsilon, size, share)
    channel, weight = m.channel(), weights(m)
    assert channel.supported is not None
    by_set = dict(zip(channel.supported, weight, strict=True))
    reports = m.privatize(np.arange(40) % k, rng=dn.simulation(1))
    sets = [
        frozenset(np.flatnonzero(row).tolist())
        for row in np.unpackbits(m.bulk.supported(reports.columns), axis=1, count=k, bitorder="little")
    ]
    mean = [float(sum((by_set[s][i] for s in sets), Fraction(0)) / len(sets)) for i in range(k)]
    assert m.estimate(m.tally(reports)).value == pytest.approx(mean, rel=1e-11, abs=1e-11)


@pytest.mark.stat
def test_sampled_sizes_and_sets_follow_the_law() -> None:
    """Alpha 1e-6: every set of the enumerated channel, bulk and device; a share of 0.35 instead of 0.25 is seen."""
    m, n = made(5, 1.0, 2, 0.25), 40_000
    words = StreamWords(dn.simulation(3))
    device = [m.kernel.randomise(1, words) for _ in range(n // 4)]
    bulk = m.privatize(np.full(n, 1), rng=dn.simulation(2))
    wrong = made(5, 1.0, 2, 0.35).privatize(np.full(n, 1), rng=dn.simulation(2))
    from_device = dn.Reports.from_rows(m.design, m.fields, device, simulated=True)
    assert pvalue(m, 1, bulk) > 1e-6
    assert pvalue(m, 1, from_device) > 1e-6
    assert pvalue(m, 1, wrong) < 1e-6


def pvalue(m: SubsetMixture, x: int, reports: dn.Reports) -> float:
    """Of all outputs: binomial, two-sided, corrected for their number."""
    channel = m.channel()
    assert channel.supported is not None
    keys = np.packbits([[i in s for i in range(m.k)] for s in channel.supported], axis=1, bitorder="little")[
        :, 0
    ].tolist()
    seen = np.bincount(m.bulk.supported(reports.columns)[:, 0], minlength=256)[keys]
    assert seen.sum() == len(reports)
    law = np.array([row[x] / channel.total for row in channel.weights])
    tail = np.minimum(binom.cdf(seen, len(reports), law), binom.sf(seen - 1, len(reports), law))
    return float(min(1.0, 2 * law.size * tail.min()))


@pytest.mark.stat
def test_the_measured_error_is_the_predicted_one() -> None:
    """k = 20, epsilon 2, 60 % of one item, 400 runs of 500 people. Alpha 1e-6; a quarter more error is seen."""
    m = made(20, 2.0, 4, 0.4)
    items = np.concatenate([np.zeros(300, np.int64), np.arange(200) % 20])
    truth = np.bincount(items, minlength=20) / items.size
    values = np.array([m.estimate(m.tally(m.privatize(items, rng=s))).value for s in dn.simulation(5).spawn(400)])
    estimate = m.estimate(m.tally(m.privatize(items, rng=dn.simulation(6))))
    errors = ((values - truth) ** 2).mean(axis=1)
    covariance = np.cov(values.T)
    freedom = 400 * np.trace(covariance) ** 2 / (covariance**2).sum()
    for scale, fine in ((1.0, True), (1.25, False)):
        seen = freedom * errors.mean() / (scale * m.effective(items.size)["mse"])
        assert bool(2 * min(chi2.cdf(seen, freedom), chi2.sf(seen, freedom)) > 1e-6) is fine
    assert np.abs(values.mean(axis=0) - truth).max() < 5.5 * np.sqrt(estimate.variance().max() / 400)


def test_intervals_cover() -> None:
    """95 % intervals of 20 items in 300 runs: within five binomial standard errors of runs times items."""
    m = made(20, 2.0, 4, 0.4)
    items = np.concatenate([np.zeros(300, np.int64), np.arange(200) % 20])
    truth = np.bincount(items, minlength=20) / items.size
    hits = [
        m.estimate(m.tally(m.privatize(items, rng=s))).interval().covers(truth) for s in dn.simulation(8).spawn(300)
    ]
    assert np.mean(hits) == pytest.approx(0.95, abs=5 * np.sqrt(0.95 * 0.05 / 6000))


def test_on_the_frontier_everywhere() -> None:
    for k, epsilon, share in product((2, 5, 100), (0.5, 4.0), (0.0, 0.3, 0.999)):
        first = dn.mechanism("ss", k=k, epsilon=epsilon, rounding="best").params["size"]
        for size in sorted({first, (first + k) // 2, k - 1} - {k}):
            m = made(k, epsilon, size, share)
            assert m.mse() == pytest.approx(frontier_mse(k, epsilon, m.asr), rel=1e-9)
            assert abs(m.properties()["gap_at_asr"]) < 1e-9


def test_one_size_is_subset_selection() -> None:
    m, s = made(12, 1.5, 3, 0.0), dn.mechanism("ss", k=12, epsilon=1.5, size=3)
    assert isinstance(s, SubsetSelection)
    for key in ("mse", "asr", "bits", "bytes", "gap"):
        assert m.properties(10)[key] == pytest.approx(s.properties(10)[key], rel=1e-12, abs=1e-12)
    reports = m.privatize(np.arange(500) % 12, rng=dn.simulation(1))
    tally = m.tally(reports)
    assert tally.cells["n"].tolist() == [500, 0]
    plain = dn.Tally(s.design, s.bulk.strata, {name: cell[:1] for name, cell in tally.cells.items()})
    one, two = m.estimate(tally), s.estimate(plain)
    assert one.value == pytest.approx(two.value, rel=1e-9, abs=1e-12)
    for mine, theirs in ((one.interval(), two.interval()), (one.interval(target="population"), None)):
        if theirs is not None:
            assert mine.low == pytest.approx(theirs.low, rel=1e-9, abs=1e-12)
            assert mine.high == pytest.approx(theirs.high, rel=1e-9, abs=1e-12)
        assert (mine.low < one.value).all()


def test_the_best_guess_under_a_prior_is_that_of_the_channel() -> None:
    m = made(5, 1.2, 2, 0.6)
    prior = [Fraction(x, 20) for x in (9, 5, 3, 2, 1)]
    assert m.guess([float(x) for x in prior]).success == pytest.approx(float(m.channel().asr(prior)), rel=1e-12)
    assert m.guess([float(x) for x in prior]).blind == 0.45


def test_a_size_that_says_nothing() -> None:
    """All items: the same report for everyone, and the information is that of the rest."""
    m = made(4, 1.0, 3, 0.5)
    reports = m.privatize(np.arange(400) % 4, rng=dn.simulation(2))
    whole = reports.columns["bits"][:, 0] == 15
    assert 130 < whole.sum() < 270
    plain: Any = dn.mechanism("ss", k=4, epsilon=1.0, size=3)
    information = 1 / (plain.mse() * 4 / 3 + 1 / 4)
    assert m.mse() == pytest.approx(3 / 4 * (2 / information - 1 / 4))


def test_foreign_reports_are_refused() -> None:
    m = made(10, 1.0, 3, 0.5)
    reports = m.privatize(np.arange(5), rng=dn.simulation(2))
    for bad in ([255, 0], [0, 0], [3, 0], [3, 4]):
        columns = {"bits": reports.columns["bits"].copy()}
        columns["bits"][2] = bad
        with pytest.raises(FormatError):
            m.bulk.count(columns)


def test_a_device_takes_the_design_and_refuses_a_leaky_one() -> None:
    m = made(10, 1.0, 3, 0.5)
    device = Device(m.design)
    assert len(device.report(4)) == m.bulk.row_bytes == 2
    kernel = m.design["kernel"]
    leaky = {**m.design, "kernel": {**kernel, "second": {**kernel["second"], "keep": str((1 << 64) - 5)}}}
    with pytest.raises(dn.PrivacyError):
        Device(leaky)
    for field, value in (("coin", str(1 << 64)), ("first", "7"), ("second", {"kind": "whole", "k": "11"})):
        with pytest.raises(dn.FormatError):
            Device({**m.design, "kernel": {**kernel, field: value}})


def test_fitting_reads_the_likelihood() -> None:
    """EM on a mixture agrees with the linear estimate to a few standard errors, and keeps to the simplex."""
    m = made(8, 3.0, 1, 0.5)
    items = np.concatenate([np.zeros(900, np.int64), np.arange(800) % 8])
    reports = m.privatize(items, rng=dn.simulation(4))
    fitted, linear = m.fit(reports), m.estimate(m.tally(reports))
    assert fitted.value.sum() == pytest.approx(1)
    assert fitted.value.min() >= 0
    assert (np.abs(fitted.value - linear.value) < 4 * linear.stderr).all()
