"""The best guess from reports: what is measured agrees with what is expected, for every mechanism and prior."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest

import deniable as dn
from deniable.audit.reconstruction import best_guesses
from deniable.core.guess import check_prior
from deniable.mechanisms.frequency.grr import GRR, ResponseBulk
from deniable.mechanisms.reader import Reader
from tiers import every

OWN: dict[str, dict[str, Any]] = {"ue": {"p": 0.8}, "lh": {"g": 5}, "ssmix": {"size": 3, "share": 0.4}}
OWN["affine"] = {"tolerance": 0.1}  # for 20 answers ss is the better one
NAMES = [
    name
    for name, entry in dn.MECHANISMS.items()
    if entry.kind == "mechanism" and (not entry.needed or name in OWN) and entry.question == "frequency"
]
PRIORS: dict[str, Any] = {
    "uniform": None,
    "zipf": (1 / np.arange(1, 21)) / (1 / np.arange(1, 21)).sum(),
    "one missing": np.concatenate([[0.0], np.full(19, 1 / 19)]),
}
ALPHA = 1e-3 / (len(NAMES) * len(PRIORS))
"""Family-wise 1e-3."""


def test_priors_sum_to_one_up_to_a_billionth() -> None:
    """What rounding leaves is forgiven, from both sides; what somebody mistyped is not."""
    for off in (5e-10, -5e-10):
        assert check_prior([0.5, 0.5 + off], 2).tolist() == [0.5, 0.5 + off]
    for off in (2e-9, -2e-9, 1e-4):
        with pytest.raises(dn.ParameterError, match="prior must sum to 1"):
            check_prior([0.5, 0.5 + off], 2)


@pytest.mark.stat
@pytest.mark.parametrize(("name", "prior"), every(2, product(NAMES, PRIORS)))
def test_measured_success_is_the_expected_one(name: str, prior: str) -> None:
    """20,000 reports each at k = 20, epsilon 2, alpha 1e-3 for all together; a tenth more would be seen."""
    found = dn.attack(dn.mechanism(name, k=20, epsilon=2.0, **OWN.get(name, {})), prior=PRIORS[prior], seed=14)
    expected = found.expected.success
    assert binomtest(found.hits, found.reports, expected).pvalue > ALPHA
    assert expected >= found.expected.blind - 1e-12
    assert found.stderr == pytest.approx(np.sqrt(expected * (1 - expected) / 20_000))


@pytest.mark.stat
def test_a_wrong_expectation_would_be_seen() -> None:
    """The same test on every mechanism rejects an expected success that is an eighth too high."""
    for name in ("grr", "oue", "olh", "ssmix", "she"):
        found = dn.attack(dn.mechanism(name, k=20, epsilon=2.0, **OWN.get(name, {})), seed=14)
        assert binomtest(found.hits, found.reports, found.expected.success * 1.125).pvalue < ALPHA


@pytest.mark.parametrize("name", ["grr", "ss", "oue", "hr", "pgr", "the", "ssmix"])
def test_guesses_are_the_most_probable_values(name: str) -> None:
    """Report by report, against the posterior probabilities of the enumerated channel."""
    k = 5
    m: Any = dn.mechanism(name, k=k, epsilon=1.3, **({"size": 2, "share": 0.5} if name == "ssmix" else {}))
    prior = np.array([0.35, 0.05, 0.3, 0.1, 0.2])
    reports = m.privatize(np.arange(60) % k, rng=dn.simulation(5))
    channel = m.channel()
    law = dict(zip(channel.supported, channel.weights, strict=True))
    held = np.unpackbits(m.bulk.supported(reports.columns), axis=1, count=k, bitorder="little")
    for guess, row in zip(best_guesses(m, reports.columns, prior), held, strict=True):
        weights = law[frozenset(np.flatnonzero(row).tolist())]
        posterior = [Fraction(w) * Fraction(float(p)) for w, p in zip(weights, prior, strict=True)]
        assert posterior[guess] >= max(posterior) * (1 - Fraction(1, 10**9))


def test_a_point_mass_is_guessed_blindly() -> None:
    prior = np.zeros(6)
    prior[4] = 1
    found = dn.attack(dn.mechanism("oue", k=6, epsilon=1.0), prior=prior, reports=50)
    assert found.hits == 50
    assert (found.expected.blind, found.expected.success) == (1, pytest.approx(1))


def test_without_a_likelihood_only_the_expectation_is_there() -> None:
    class SilentBulk(ResponseBulk):
        reads = Reader

    class Silent(GRR):
        @cached_property
        def bulk(self) -> SilentBulk:
            return SilentBulk(super().bulk.kernel)

    found = dn.attack(Silent(epsilon=1.0, domain=dn.Domain.of(4)))
    assert found.expected == dn.mechanism("grr", k=4, epsilon=1.0).guess()
    assert (found.measured, found.stderr, found.reports) == (None, None, 0)
    assert found.document()["measured"] is None


def test_the_document_has_both_guesses() -> None:
    found = dn.attack(dn.mechanism("oue", k=100, epsilon=2.0), reports=100, seed=3).document()
    assert found["blind"] == 0.01
    assert found["gain"] == pytest.approx(found["asr"] - 0.01)
    assert (found["reports"], found["seed"], found["simulated"]) == (100, 3, True)


def test_zipf_as_in_the_text() -> None:
    """k = 100, epsilon 2, Zipf(1), largest prior 0.193: 0.253, 0.252 and 0.253; uniform prior: 0.042, 0.042, 0.041."""
    prior = 1 / np.arange(1, 101)
    prior /= prior.sum()
    assert prior.max() == pytest.approx(0.193, abs=5e-4)
    for name, zipf, flat in (("ss", 0.253, 0.042), ("oue", 0.252, 0.042), ("olh", 0.253, 0.041)):
        m = dn.mechanism(name, k=100, epsilon=2.0)
        assert m.guess(prior).success == pytest.approx(zipf, abs=5e-4)
        assert m.guess().success == pytest.approx(flat, abs=5e-4)


@pytest.mark.parametrize(
    ("given", "what"),
    [
        ({"prior": [0.5, 0.6, 0.0, 0.0]}, "prior must sum to 1"),
        ({"prior": [1.0]}, "prior must be 4 finite numbers"),
        ({"reports": 0}, "reports must be an integer >= 1"),
        ({"seed": -1}, "seed must be an integer >= 0"),
    ],
)
def test_what_makes_no_sense_is_refused(given: dict[str, Any], what: str) -> None:
    with pytest.raises(dn.ParameterError, match=what):
        dn.attack(dn.mechanism("grr", k=4, epsilon=1.0), **given)
    with pytest.raises(dn.ParameterError, match="attack takes a mechanism"):
        dn.attack("grr")  # type: ignore[arg-type]
