"""The mixture of two sizes, likelihoods and maximum likelihood, collaborative sampling, metrics."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2

import deniable as dn
from deniable.core.laws import epsilon_to
from deniable.core.types import FloatArray
from deniable.mechanisms.utility.base import Utility
from deniable.mechanisms.utility.bound import best_mixture, best_single, single_mse
from deniable.mechanisms.utility.collaborative import CollaborativeSampling
from deniable.mechanisms.utility.mixture import UtilityMixture, mixture_gain
from deniable.randomness import simulation

CASES = [
    (3, 2, 1.0, 0.95),
    (3, 2, 2.0, 0.95),
    (4, 2, 3.0, 0.95),
    (5, 2, 2.0, 0.77),
    (2, 3, 2.0, 0.95),
    (4, 1, 0.5, 0.9),
]
ids = [f"s={s}-m={m}-eps={e}-theta={t}" for s, m, e, t in CASES]


def mixture(s: int, m: int, epsilon: float, theta: float, **own: Any) -> UtilityMixture:
    made = dn.mechanism("ussmix", epsilon=epsilon, k=s + m, sensitive=s, theta=theta, **own)
    assert isinstance(made, UtilityMixture)
    return made


def weights(m: UtilityMixture, supported: Any, disclosing: Any) -> FloatArray:
    """What a report of each output adds to the estimates, by the formulas of the protocol."""
    own, rest = m.items
    out = np.zeros((len(supported), m.k))
    for o, items in enumerate(supported):
        if o in disclosing:
            out[o, own] = m.law.base[2]
            out[o, rest] = m.law.side[2] + np.array([x in items for x in rest]) / m.law.z
        else:
            i = m.law.sizes.index(len(items))
            member = np.array([x in items for x in own])
            out[o, own] = m.law.slope[i] * (member - len(items) / m.s) + m.law.base[i]
            out[o, rest] = m.law.side[i]
    return out


@pytest.mark.parametrize(("s", "m", "epsilon", "theta"), CASES, ids=ids)
def test_mixture_is_the_optimum_and_exactly_private(s: int, m: int, epsilon: float, theta: float) -> None:
    made = mixture(s, m, epsilon, theta)
    found = dn.audit(made)
    assert (found.holds, found.agrees) == (True, True)
    assert found.exact == pytest.approx(epsilon, rel=1e-12)
    best = best_mixture(s, m, theta, *epsilon_to(epsilon))
    assert made.mse_sum() == pytest.approx(best.mse, rel=1e-12)
    assert made.properties()["gap"] == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("assumed", [0.3, 0.95, 0.99])
@pytest.mark.parametrize(("s", "m", "epsilon", "theta"), CASES, ids=ids)
def test_mixture_is_unbiased_whatever_theta_is_assumed(
    s: int, m: int, epsilon: float, theta: float, assumed: float
) -> None:
    """By enumeration, with both sizes in use: means, covariances, error, best guess."""
    made = mixture(s, m, epsilon, assumed, size=1, share=0.4)
    channel = made.channel()
    chance, adds = channel.matrix(), weights(made, channel.supported, channel.disclosing)
    assert np.abs(chance @ adds - np.eye(made.k)).max() < 1e-12 * np.abs(adds).max()
    f = np.array([2 * (made.k - i) / (made.k * (made.k + 1)) for i in range(made.k)])
    second = np.einsum("x,xo,oi,oj->ij", f, chance, adds, adds)
    true = second - np.diag(f)
    assert np.allclose(made.covariance(f), true, rtol=0, atol=1e-11 * np.abs(true).max())
    assert np.allclose(
        made.covariance(f, 1, "population"), second - np.outer(f, f), rtol=0, atol=1e-10 * np.abs(true).max()
    )
    assert made.mse_sum(theta=float(f[s:].sum())) == pytest.approx(np.trace(true), rel=1e-10)
    for prior in (f, f[::-1]):
        assert made.guess(prior).success == pytest.approx(np.max(prior[:, None] * chance, axis=0).sum(), rel=1e-10)


def test_one_size_gives_the_estimates_of_subset_selection() -> None:
    one = dn.mechanism("uss", epsilon=1.0, k=9, sensitive=5, theta=0.7, size=2)
    two = mixture(5, 4, 1.0, 0.7, size=2, share=0.0)
    items = np.arange(500) % 9
    reports = one.privatize_items(items, simulation(4))
    same = dn.Reports(two.design, two.fields, reports.columns, simulated=True)
    assert np.allclose(one.estimate(one.tally(reports)).value, two.estimate(two.tally(same)).value, rtol=0, atol=1e-12)


@pytest.mark.stat
@pytest.mark.parametrize("at", range(3), ids=ids[:3])
def test_simulated_error_of_the_mixture(at: int) -> None:
    """False alarm rate 1e-3 for the three together; the mean estimate is checked by enumeration above."""
    s, m, epsilon, theta = CASES[at]
    made, n, runs = mixture(s, m, epsilon, theta), 1000, 300
    own = round(n * (1 - theta))
    counts = [own // s + (i < own % s) for i in range(s)] + [(n - own) // m + (i < (n - own) % m) for i in range(m)]
    items, f = np.repeat(np.arange(s + m), counts), np.array(counts) / n
    errors = [
        ((made.estimate(made.tally(made.privatize_items(items, rng))).value - f) ** 2).sum()
        for rng in simulation(30 + at).spawn(runs)
    ]
    covariance = made.covariance(f, n)
    freedom = runs * np.trace(covariance) ** 2 / (covariance**2).sum()
    law, x = chi2(freedom), freedom * np.mean(errors) / np.trace(covariance)
    assert 2 * min(law.cdf(x), law.sf(x)) > 1e-3 / 3


def test_gain_of_the_mixture() -> None:
    """Up to 5.3 % for many harmless items, 8.8 % for one; none where one size is optimal."""
    assert mixture_gain(3, 2, 0.95, 1.0) == pytest.approx(5.4658439 / 5.2957297 - 1, rel=1e-6)
    assert mixture_gain(25, 600, 0.95, 1.0) == pytest.approx(0, abs=1e-4)
    w, v = epsilon_to(1.0)
    assert single_mse(best_single(2, 0.95, w, v), 2, 0.95, w, v) == best_mixture(2, 10**6, 0.95, w, v).mse


@pytest.mark.parametrize("field", ["disclosed", "bits"])
def test_mixture_refuses_reports_that_no_device_can_have_sent(field: str) -> None:
    made = mixture(4, 2, 1.0, 0.9, size=1, share=0.5)
    reports = made.privatize([0, 1, 5], rng=simulation(1))
    columns = {name: column.copy() for name, column in reports.columns.items()}
    columns[field][:] = 15 if field == "bits" else 7
    with pytest.raises(dn.FormatError):
        made.tally(dn.Reports(made.design, made.fields, columns))


# ---- likelihoods


@pytest.mark.parametrize(
    ("name", "case"),
    [(n, c) for n in ("uss", "uue", "urr", "urap", "uhr", "upgr") for c in dn.MECHANISMS[n].small]
    + [
        ("utility", {"k": 4, "sensitive": 2, "epsilon": 2.0, "base": "the"}),
        ("utility", {"k": 3, "sensitive": 1, "epsilon": 1.0}),
    ],
)
def test_likelihoods_are_those_of_the_channel(name: str, case: dict[str, Any]) -> None:
    m = dn.mechanism(name, **case)
    assert isinstance(m, Utility)
    channel = m.channel()
    chance = channel.matrix()
    reports = m.privatize_items(np.arange(60) % m.k, simulation(9))
    told = m.bulk.reader.likelihood(reports.columns)
    rows = {frozenset(s): chance[:, o] for o, s in enumerate(channel.supported or ()) if o not in channel.disclosing}
    for i in range(60):
        if reports.columns["disclosed"][i]:
            assert told[i].tolist().count(0.0) == m.k - 1
            continue
        one = {name: column[i : i + 1] for name, column in reports.columns.items()}
        held = np.unpackbits(m.base.bulk.supported(one), axis=1, count=m.s, bitorder="little")[0] if m.base else [1]  # type: ignore[attr-defined]
        exact = rows[frozenset(m.items[0][np.flatnonzero(held)].tolist())]
        assert np.allclose(told[i] / told[i].max(), exact / exact.max(), rtol=1e-12)


@pytest.mark.parametrize("form", ["null", "glutf"])
def test_maximum_likelihood_climbs_the_likelihood_of_the_reports(form: str) -> None:
    """The fit is at least as likely as the truth and the projected estimate, and keeps disclosed items."""
    people = dn.datasets.synthetic("zipf", k=20, n=4000)
    m = dn.mechanism("uss", epsilon=1.0, k=20, sensitive=8, theta=0.4, form=form)
    reports = m.privatize_items(people.values(), simulation(8))
    fitted = m.fit(reports, stderr=None)
    assert fitted.biased
    assert fitted.value.min() >= 0
    assert fitted.value.sum() == pytest.approx(1)
    dense = m.bulk.reader.likelihood(reports.columns)
    linear = m.estimate(m.tally(reports)).project().value
    for other in (people.frequencies, 0.999 * linear + 0.001 / 20):
        assert np.log(dense @ fitted.value).sum() >= np.log(dense @ other).sum() - 0.05
    again = m.fit(reports, stderr="bootstrap", runs=5, rng=simulation(2))
    assert np.isfinite(again.stderr).all()


# ---- collaborative sampling


def test_collaborative_sampling_pools_both_phases() -> None:
    n, k, s = 40_000, 40, 10
    people = dn.datasets.synthetic("zipf", k=k, n=n)
    sensitive = [str(i) for i in range(20, 20 + s)]
    protocol = CollaborativeSampling(epsilon=1.0, domain=dn.Domain.of(k), sensitive=sensitive, guess=0.0)
    found, steps, tallies = protocol.run(people.values(), simulation(2))
    first, second = (step.mechanism for step in steps)
    assert isinstance(first, Utility)
    assert isinstance(second, Utility)
    truth = 1 - people.frequencies[20:30].sum()
    assert (first.theta, second.theta) == (0, pytest.approx(truth, abs=0.1))
    assert [t.n for t in tallies] == [2000, 38_000]
    one, two = (m.estimate(t) for m, t in zip((first, second), tallies, strict=True))
    assert np.allclose(found.value, 0.05 * one.value + 0.95 * two.value)
    assert np.allclose(found.stderr**2, 0.05**2 * one.stderr**2 + 0.95**2 * two.stderr**2)
    assert found.n == n
    assert (np.abs(found.value - people.frequencies) < 5 * found.stderr + 1e-9).all()
    assert np.trace(found.covariance()) < np.trace(two.covariance())


def test_collaborative_sampling_mixes_sizes_where_that_pays() -> None:
    protocol = CollaborativeSampling(epsilon=1.0, domain=dn.Domain.of(5), sensitive=3, guess=0.5)
    first = protocol.first().mechanism
    tally = first.tally(first.privatize_items(np.repeat([0, 3, 4], [500, 4750, 4750]), simulation(5)))
    step = protocol.next([tally])
    assert not isinstance(step, dn.Estimate)
    assert isinstance(step.mechanism, UtilityMixture)
    plain = CollaborativeSampling(epsilon=1.0, domain=dn.Domain.of(5), sensitive=3, guess=0.5, mix=False).next([tally])
    assert not isinstance(plain, dn.Estimate)
    assert isinstance(plain.mechanism, Utility)
    with pytest.raises(dn.ParameterError, match="tallies"):
        protocol.next([])
    with pytest.raises(dn.MergeError):
        CollaborativeSampling(epsilon=2.0, domain=dn.Domain.of(5), sensitive=3).next([tally])
    with pytest.raises(dn.ParameterError, match="form must be null or glutf"):
        CollaborativeSampling(epsilon=2.0, domain=dn.Domain.of(5), sensitive=3, form="paper")


@pytest.mark.parametrize("s", [0, 1, 6])
def test_collaborative_sampling_at_the_edges(s: int) -> None:
    protocol = CollaborativeSampling(epsilon=1.0, domain=dn.Domain.of(6), sensitive=s)
    found, _, _ = protocol.run(np.arange(1200) % 6, simulation(5))
    assert np.isfinite(found.value).all()
