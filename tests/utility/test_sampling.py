"""What is drawn: estimates of whole collections against the closed forms, and device against bulk sampler."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, chi2, norm

import deniable as dn
import tiers
from deniable.collect.reports import Reports
from deniable.core.types import FloatArray
from deniable.mechanisms.utility.base import Utility
from deniable.randomness import simulation
from deniable.testing import StreamWords

ALPHA = 1e-3
"""False alarm rate of all collections below together, and of all counts below together."""
RUNS, PEOPLE, K, S = 30, 10_000, 60, 25

DESIGNS: list[tuple[str, dict[str, Any]]] = [
    ("uss", {}),
    ("uss", {"form": "glutf"}),
    ("uue", {}),
    ("uue", {"form": "glutf"}),
    ("ulh", {}),
    ("ulh", {"form": "glutf"}),
    ("uwheel", {}),
    ("upgr", {}),
    ("urr", {}),
    ("urap", {}),
    ("urap", {"form": "glutf"}),
    ("uhr", {}),
    ("utility", {"base": "iss"}),
    ("utility", {"base": "plh"}),
    ("utility", {"base": "she"}),
    ("utility", {"base": "she", "form": "glutf"}),
]
ids = [f"{name}-{options}" for name, options in DESIGNS]


def people() -> Any:
    """Zipf over 60 items; 25 of them, spread over the ranks, are sensitive."""
    return dn.datasets.synthetic("zipf", k=K, n=PEOPLE)


SENSITIVE = [str(i) for i in range(1, 2 * S, 2)]


@cache
def collected(at: int) -> tuple[Utility, float, float, float, FloatArray]:
    """The mechanism; mean squared error, summed over the items; its degrees of freedom; exact MSE; mean estimate."""
    name, options = DESIGNS[at]
    population = people()
    f, items = population.frequencies, population.values()
    theta = float(np.delete(f, [int(i) for i in SENSITIVE]).sum())
    m = dn.mechanism(name, epsilon=1.5, k=K, sensitive=SENSITIVE, theta=theta, **options)
    assert isinstance(m, Utility)
    values = []
    for rng in simulation(100 + at).spawn(RUNS):
        values.append(m.estimate(m.tally(m.privatize_items(items, rng))).value)
    errors = np.array(values) - f
    covariance = m.covariance(f, PEOPLE)
    freedom = RUNS * np.trace(covariance) ** 2 / float((covariance**2).sum())
    return m, float((errors**2).sum(axis=1).mean()), freedom, float(np.trace(covariance)), np.mean(values, axis=0)


SLOW = {"iss", "plh", "she"}
"""Bases whose reports are long or take long to decode."""
every = [
    pytest.param(at, id=name, marks=[pytest.mark.slow] if DESIGNS[at][1].get("base") in SLOW else [])
    for at, name in enumerate(ids)
]


@pytest.mark.stat
@pytest.mark.parametrize("at", every)
def test_simulated_error_agrees_with_the_closed_form(at: int) -> None:
    """Squared errors add up to a mixture of chi-square laws; one law with its mean and variance stands for it."""
    m, seen, freedom, exact, _ = collected(at)
    assert m.effective(PEOPLE)["mse_sum"] == pytest.approx(exact, rel=1e-9)
    law, x = chi2(freedom), freedom * seen / exact
    found = 2 * min(law.cdf(x), law.sf(x))
    assert found > ALPHA / len(DESIGNS), f"simulated/exact = {seen / exact:.3f}, p = {found:.2g}"


@pytest.mark.stat
@pytest.mark.parametrize("at", every)
def test_mean_estimate_is_the_truth(at: int) -> None:
    """Normal law of the mean over the runs, all items of all designs together (Bonferroni)."""
    m, _, _, _, mean = collected(at)
    f = people().frequencies
    spread = np.sqrt(np.diag(m.covariance(f, PEOPLE)) / RUNS)
    worst = float(2 * norm.sf(np.max(np.abs(mean - f) / spread))) * K * len(DESIGNS)
    assert worst > ALPHA


@pytest.mark.stat
def test_the_comparison_would_see_a_quarter_more_epsilon() -> None:
    """Power: an error as small as that of 1.25 times the budget is more than eight standard deviations away."""
    m, seen, freedom, exact, _ = collected(0)
    wrong = dn.mechanism("uss", epsilon=1.25 * m.epsilon, k=K, sensitive=SENSITIVE, theta=m.theta).effective(PEOPLE)
    assert (1 - wrong["mse_sum"] / exact) > 8 * np.sqrt(2 / freedom) * wrong["mse_sum"] / exact
    law, x = chi2(freedom), freedom * seen / wrong["mse_sum"]
    assert 2 * min(law.cdf(x), law.sf(x)) < ALPHA / len(DESIGNS)


SMALL: list[tuple[str, dict[str, Any]]] = [
    *((name, case) for name in ("uss", "uue", "ulh", "uwheel", "upgr", "urr", "urap", "uhr", "utility")
      for case in dn.MECHANISMS[name].small),
    ("utility", {"k": 3, "sensitive": 2, "epsilon": 2.0, "base": "she", "grid": 0, "reach": 1}),
]  # fmt: skip


@pytest.mark.stat
@pytest.mark.parametrize(
    ("at", "way"),
    tiers.every(5, product(range(len(SMALL)), ["bulk", "device"]), name=lambda case: f"{SMALL[case[0]]}-{case[1]}"),
)
def test_kinds_of_reports_follow_the_enumerated_channel(at: int, way: str) -> None:
    """How often each harmless item is disclosed and each sensitive one supported, exactly binomial, for every value.

    Alpha is shared by all counts of all cases; `n` is such that 10 % more disclosure would be seen in most of them.
    """
    name, case = SMALL[at]
    m = dn.mechanism(name, **case)
    assert isinstance(m, Utility)
    channel = m.channel()
    n = 30_000 if way == "bulk" else 300
    chance = channel.matrix()
    tests = 2 * len(SMALL) * m.k * (m.k + 1)
    for x, rng in enumerate(simulation(7 + at).spawn(m.k)):
        reports = m.privatize_items(np.full(n, x), rng) if way == "bulk" else _device(m, x, n, rng)
        tally = m.tally(reports)
        told = sum(chance[x, o] for o in channel.disclosing)
        assert _two_sided(int(tally.cells["n"][1]), n, told) * tests > ALPHA
        if m.k > m.s:
            for i, item in enumerate(m.items[1]):
                own = sum(chance[x, o] for o in channel.disclosing if item in (channel.supported or ())[o])
                assert _two_sided(int(tally.cells["disclosed"][1, i]), n, own) * tests > ALPHA
        if m.base is not None and m.base.name != "she":
            counts = m.reading.supported(tally.cells)  # type: ignore[attr-defined]
            for i, item in enumerate(m.items[0]):
                own = sum(p for p, s in zip(chance[x], channel.supported or (), strict=True) if item in s)
                assert _two_sided(int(counts[i]), n, own) * tests > ALPHA


def _two_sided(count: int, n: int, p: float) -> float:
    p = min(1.0, max(0.0, p))
    return float(min(1.0, 2 * min(binom.cdf(count, n, p), binom.sf(count - 1, n, p))))


def _device(m: Utility, x: int, n: int, rng: Any) -> Reports:
    words = StreamWords(rng)
    return Reports.from_rows(m.design, m.fields, [m.kernel.randomise(x, words) for _ in range(n)], simulated=True)
