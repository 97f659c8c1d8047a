"""Counts drawn without reports have the law of counts of reports."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chisquare, norm

import deniable as dn
from deniable.core.channel import Channel
from deniable.errors import ParameterError

ALPHA = 1e-6
KNOWN = ["grr", "oue", "sue", "the"]


def law_of_counts(channel: Channel, counts: list[int]) -> dict[tuple[int, ...], Fraction]:
    """The exact law of the support counts of so many people per item, from the channel, report by report."""
    law = {(0,) * len(counts): Fraction(1)}
    for x, people in enumerate(counts):
        reports = [
            (Fraction(weights[x], channel.total), [int(i in s) for i in range(len(counts))])
            for weights, s in zip(channel.weights, channel.supported, strict=True)
        ]
        for _ in range(people):
            new: dict[tuple[int, ...], Fraction] = Counter()
            for done, p in law.items():
                for q, support in reports:
                    new[tuple(a + b for a, b in zip(done, support, strict=True))] += p * q
            law = new
    return law


def p_value(found: Counter[tuple[int, ...]], law: dict[tuple[int, ...], Fraction]) -> float:
    """Chi-square test; outcomes that are expected fewer than 10 times are one class."""
    runs = sum(found.values())
    often = [outcome for outcome, p in law.items() if runs * p >= 10]
    expected = np.array([float(law[outcome]) for outcome in often])
    observed = np.array([found[outcome] for outcome in often])
    rest = 1 - expected.sum()
    if runs * rest >= 10:
        expected, observed = np.append(expected, rest), np.append(observed, runs - observed.sum())
    return float(chisquare(observed, expected / expected.sum() * observed.sum()).pvalue)


@pytest.mark.stat
@pytest.mark.parametrize("name", KNOWN)
def test_joint_law_of_a_small_population(name: str) -> None:
    """All joint counts of five people, against the exact channel: alpha = 1e-6, and epsilon 1.3 for 1 is rejected."""
    counts, runs = [2, 0, 3], 8_000
    m = dn.mechanism(name, epsilon=1.0, k=3)
    rng = dn.simulation(6_001)
    found = Counter(tuple(m.simulate_tally(counts, rng).cells["support"][0].tolist()) for _ in range(runs))
    law = law_of_counts(m.channel(), counts)
    assert sum(law.values()) == 1
    assert set(found) <= set(law)
    assert p_value(found, law) > ALPHA
    other = law_of_counts(dn.mechanism(name, epsilon=1.3, k=3).channel(), counts)
    assert p_value(found, other) < ALPHA


@pytest.mark.stat
@pytest.mark.parametrize("name", KNOWN)
def test_moments_of_a_large_population(name: str) -> None:
    """Means and all covariances of the estimates of 10^9 people, 400 runs; Bonferroni over them at alpha = 1e-6."""
    k, n, runs = 6, 10**9, 400
    people = np.array([n // 2, n // 4, n // 8, n // 8, 0, 0])
    m = dn.mechanism(name, epsilon=1.0, k=k)
    rng = dn.simulation(6_002)
    tallies = [m.simulate_tally(people, rng) for _ in range(runs)]
    assert all(t.n == n and t.simulated and t.design == m.design for t in tallies)
    values = np.array([m.estimate(t).value for t in tallies])
    f = people / n
    covariance = m.support_effective.covariance(f, n)
    spread = np.sqrt(np.diag(covariance))
    z = (values.mean(axis=0) - f) / (spread / np.sqrt(runs))
    products = (values - f)[:, :, None] * (values - f)[:, None, :]
    expected = np.sqrt((np.outer(spread**2, spread**2) + covariance**2) / runs)  # of a normal sample covariance
    zz = (products.mean(axis=0) - covariance) / expected
    limit = norm.isf(ALPHA / 2 / (k + k * k))
    assert np.abs(z).max() < limit
    assert np.abs(zz).max() < limit
    wrong = products.mean(axis=0) / 1.6 - covariance  # a variance 60 % off would be seen
    assert np.abs(wrong / expected).max() > limit


def test_seeded_counts_repeat() -> None:
    m = dn.mechanism("oue", epsilon=1.0, k=4)
    one, two, three = (m.simulate_tally([5, 6, 7, 8], dn.simulation(seed)) for seed in (1, 1, 2))
    assert one == two
    assert one != three


def test_only_seeded_streams() -> None:
    m = dn.mechanism("oue", epsilon=1.0, k=4)
    with pytest.raises(ParameterError, match=r"rng must be a seeded stream.*deniable\.simulation"):
        m.simulate_tally([1, 2, 3, 4], dn.secure())  # type: ignore[arg-type]


@pytest.mark.parametrize("counts", [[1, 2], [1, 2, -1], [1, 2, 0.5], [[1, 2, 3]]])
def test_other_counts_are_refused(counts: object) -> None:
    with pytest.raises(ParameterError, match="counts must be 3 whole numbers"):
        dn.mechanism("grr", epsilon=1.0, k=3).simulate_tally(counts, dn.simulation(1))


@pytest.mark.parametrize("name", ["olh", "ss"])
def test_families_without_a_simple_law_say_so(name: str) -> None:
    with pytest.raises(ParameterError, match=r"not drawn without reports.*privatize_items"):
        dn.mechanism(name, epsilon=1.0, k=3).simulate_tally([1, 2, 3], dn.simulation(1))
