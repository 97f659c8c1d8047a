"""The count-aware estimator of unary reports: unbiased by enumeration, its moments exact, its gain as predicted."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, norm

import deniable as dn
from deniable.errors import ParameterError
from deniable.estimate.count_aware import CountAware, independent_sizes
from deniable.mechanisms.frequency.unary import UnaryBulk
from deniable.mechanisms.support import SupportMechanism

CASES: list[tuple[str, dict[str, Any]]] = [
    ("oue", {"epsilon": 1.0, "k": 2}),
    ("oue", {"epsilon": 1.0, "k": 5}),
    ("oue", {"epsilon": 4.0, "k": 3}),
    ("sue", {"epsilon": 2.0, "k": 4}),
    ("ue", {"epsilon": 0.5, "k": 4, "p": 0.8}),
    ("ue", {"epsilon": 2.0, "k": 3, "p": 0.25}),
    ("the", {"epsilon": 2.0, "k": 4}),
]


def made(name: str, **options: Any) -> SupportMechanism:
    m = dn.mechanism(name, **options)
    assert isinstance(m, SupportMechanism)
    assert isinstance(m.bulk, UnaryBulk)
    return m


def all_reports(m: SupportMechanism) -> dn.Reports:
    """Every possible report once, in the order of the channel's outputs."""
    supported = m.channel().supported
    assert supported is not None
    bits = np.array([[i in items for i in range(m.k)] for items in supported])
    return dn.Reports(m.design, m.fields, {"bits": np.packbits(bits, axis=1, bitorder="little")}, simulated=True)


def weights_of(m: SupportMechanism) -> tuple[np.ndarray, np.ndarray]:
    """Pr[output | value], and what each output contributes to the estimate of each item."""
    reports = all_reports(m)
    each = np.array([m.fit(reports[i : i + 1], "count-aware").value for i in range(len(reports))])
    return m.channel().matrix(), each


@pytest.mark.parametrize(("name", "options"), CASES, ids=str)
def test_unbiased_by_enumeration(name: str, options: dict[str, Any]) -> None:
    m = made(name, **options)
    law, each = weights_of(m)
    np.testing.assert_allclose(law @ each, np.eye(m.k), atol=1e-12)
    np.testing.assert_allclose(each.sum(axis=1), 1, atol=1e-12)


@pytest.mark.parametrize(("name", "options"), CASES, ids=str)
def test_moments_and_error_by_enumeration(name: str, options: dict[str, Any]) -> None:
    """Every variance and covariance given every value; and the average MSE, the same for two very different truths."""
    m = made(name, **options)
    law, each = weights_of(m)
    rule = CountAware(m.bulk.odds, m.bulk.size_law)
    own, other, one, none = rule._moments()
    for x in range(m.k):
        matrix = np.einsum("y,yi,yj->ij", law[x], each, each) - np.outer(np.eye(m.k)[x], np.eye(m.k)[x])
        held = np.arange(m.k) == x
        stated = np.where(held[:, None] | held[None, :], one, none)
        np.fill_diagonal(stated, np.where(held, own, other))
        np.testing.assert_allclose(matrix, stated, atol=1e-11)
    for f in (np.full(m.k, 1 / m.k), np.eye(m.k)[0]):
        second = np.einsum("x,xy,yi->i", f, law, each**2)
        assert np.mean(second - f) == pytest.approx(rule.mse(), rel=1e-11)
    assert rule.mse() <= m.support_effective.mse(m.k) * (1 + 1e-12)


def test_batch_is_the_mean_of_its_reports() -> None:
    m = made("oue", epsilon=1.0, k=4)
    reports = all_reports(m)
    _, each = weights_of(m)
    estimate = m.fit(reports, "count-aware")
    np.testing.assert_allclose(estimate.value, each.mean(axis=0), atol=1e-12)
    assert not estimate.biased
    assert estimate.n == 16
    assert "each weighed by its number of ones" in estimate.steps[0]
    assert estimate.project().biased


@pytest.mark.parametrize(
    ("k", "epsilon", "gain"),
    [(5, 1.0, 0.22), (25, 2.0, 0.08), (100, 4.0, 0.093), (100, 1.0, 0.013)],
)
def test_predicted_gain_over_oue(k: int, epsilon: float, gain: float) -> None:
    """To the digits of the published gains."""
    m = made("oue", epsilon=epsilon, k=k)
    found = 1 - CountAware(m.bulk.odds, m.bulk.size_law).mse() / m.mse()
    assert round(found, 3 if gain < 0.1 and round(100 * gain) != 100 * gain else 2) == pytest.approx(gain)


def test_no_linear_rule_by_counts_is_better_than_the_frontier() -> None:
    """The gain ends at the least error that any mechanism of this epsilon has."""
    for k, epsilon in ((5, 1.0), (25, 2.0), (100, 4.0)):
        m = made("oue", epsilon=epsilon, k=k)
        least = dn.mechanism("ss", epsilon=epsilon, k=k, rounding="best")
        assert CountAware(m.bulk.odds, m.bulk.size_law).mse() > least.mse()  # type: ignore[attr-defined]


@pytest.mark.stat
@pytest.mark.parametrize(("k", "epsilon"), [(5, 1.0), (25, 2.0), (100, 4.0)])
def test_gain_is_seen(k: int, epsilon: float) -> None:
    """200 paired runs of 300 people, seed fixed. The mean difference of the two errors agrees with the predicted
    one (two-sided, false alarm rate 1e-3 per case) and is beyond doubt positive (power)."""
    m = made("oue", epsilon=epsilon, k=k)
    items = np.arange(300) % k
    truth = np.bincount(items, minlength=k) / items.size
    gains = []
    for stream in dn.simulation(20261115).spawn(200):
        reports = m.privatize_items(items, stream)
        usual, aware = m.estimate(m.tally(reports)).value, m.fit(reports, "count-aware").value
        gains.append(np.mean((usual - truth) ** 2) - np.mean((aware - truth) ** 2))
    predicted = m.support_effective.mse(k, 300) - CountAware(m.bulk.odds, m.bulk.size_law).mse(300)
    error = np.std(gains, ddof=1) / np.sqrt(200)
    assert abs(np.mean(gains) - predicted) < norm.isf(0.5e-3) * error
    assert np.mean(gains) > 5 * error


@pytest.mark.parametrize(("k", "p", "q"), [(2, 0.5, 0.25), (7, 0.9, 0.3), (100, 0.5, 0.018), (3000, 0.5, 0.2)])
def test_law_of_the_number_of_ones(k: int, p: float, q: float) -> None:
    law = independent_sizes(k, p, q)
    wanted = np.convolve(binom.pmf(np.arange(k), k - 1, q), [1 - p, p])
    np.testing.assert_allclose(law, wanted, rtol=1e-9, atol=1e-300)
    assert law.sum() == pytest.approx(1, abs=1e-12)


def test_law_is_that_of_the_channel() -> None:
    """The number of ones does not depend on the value: that is what makes the rule unbiased."""
    m = made("oue", epsilon=1.0, k=4)
    channel = m.channel()
    assert channel.supported is not None
    for x in range(4):
        law = [Fraction(0)] * 5
        for row, items in zip(channel.weights, channel.supported, strict=True):
            law[len(items)] += Fraction(row[x], channel.total)
        np.testing.assert_allclose([float(v) for v in law], m.bulk.size_law, rtol=1e-12)


@pytest.mark.parametrize("name", ["grr", "ss", "olh", "she", "hr"])
def test_other_reports_are_refused(name: str) -> None:
    m = dn.mechanism(name, epsilon=1.0, k=5)
    reports = m.privatize_items(np.arange(20) % 5, dn.simulation(1))
    with pytest.raises(ParameterError, match="independent bits only"):
        m.fit(reports, "count-aware")


def test_bootstrap_is_refused() -> None:
    m = made("oue", epsilon=1.0, k=5)
    reports = m.privatize_items(np.arange(20) % 5, dn.simulation(1))
    with pytest.raises(ParameterError, match="need no simulation"):
        m.fit(reports, "count-aware", stderr="bootstrap", rng=dn.simulation(1))


def test_large_domains_are_no_obstacle() -> None:
    m = made("oue", epsilon=3.0, k=5000)
    estimate = m.fit(m.privatize_items(np.zeros(300, np.int64), dn.simulation(1)), "count-aware")
    assert int(estimate.value.argmax()) == 0
    assert estimate.value[0] == pytest.approx(1, abs=5 * estimate.stderr[0])
