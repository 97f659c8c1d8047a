"""Simulated releases: measured losses agree with the exact ones."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.core.domain import Domain
from deniable.datasets.spec import resolve
from deniable.errors import ParameterError
from deniable.mechanisms.metric.base import MetricMechanism
from deniable.run.studies.release import simulate_release
from deniable.run.studies.study import Study

OWN: list[tuple[str, dict[str, Any]]] = [
    ("brr", {"points": 40}),
    ("codebook", {"points": 40}),
    ("laplace", {"points": 20}),
    ("brr", {"interval": "0,100", "points": 25}),
    ("codebook", {"interval": "0,100"}),
]


def study(name: str, data: str, own: dict[str, Any], **more: Any) -> Study:
    return simulate_release(
        data, lambda _: dn.mechanism(name, epsilon=1.5, **own), placed=True, runs=20, seed=7, **more
    )


@pytest.mark.parametrize(("name", "own"), OWN)
def test_measured_losses_are_the_predicted_ones(name: str, own: dict[str, Any]) -> None:
    """alpha = 1e-4 for each (20 runs of 10,000 people, t law): 5 times the standard error; 3 % more would be seen."""
    found = study(name, "zipf:0.7", own).document()
    assert abs(found["ratio"] - 1) < 5 * found["ratio_stderr"]
    assert 1.03 - 5 * found["ratio_stderr"] > 1
    assert found["loss_remapped_predicted"] <= found["loss_predicted"] * (1 + 1e-12)


def test_the_prediction_is_the_expected_loss_under_the_population() -> None:
    found = study("brr", "zipf", {"points": 30})
    m = dn.mechanism("brr", epsilon=1.5, points=30)
    assert isinstance(m, MetricMechanism)
    prior = resolve("zipf", n=10_000, k=30).frequencies
    assert found.measured["loss_predicted"] == pytest.approx(m.loss(prior), rel=1e-9)
    assert found.measured["loss_remapped_predicted"] == pytest.approx(m.remap(prior).loss, rel=1e-9)


def test_uniform_numbers_of_an_interval_have_the_closed_form() -> None:
    found = study("codebook", "uniform", {"interval": "0,1"})
    m = dn.mechanism("codebook", epsilon=1.5, interval="0,1")
    assert isinstance(m, MetricMechanism)
    assert found.measured["loss_predicted"] == pytest.approx(m.loss(), rel=1e-5)


def test_a_table_brings_its_answers_or_its_numbers() -> None:
    own = simulate_release("adult-age", lambda d: dn.mechanism("brr", epsilon=1.0, domain=d), runs=1)
    assert own.made.domain.labels == resolve("adult-age").labels
    assert own.document()["ratio_stderr"] is None
    far = study("codebook", "adult-age", {"interval": "0,100"})
    assert far.n == 48_842
    losses = [row["loss"] for row in far.rows()]
    assert len(losses) == 20
    assert np.isclose(np.mean(losses), far.measured["loss_predicted"], rtol=5 / math.sqrt(20 * far.n))


@pytest.mark.parametrize(
    ("data", "own", "message"),
    [
        ("adult-age", {"interval": "0,50"}, "numbers outside"),
        ("bank-job", {"interval": "0,50"}, "must have numbers"),
        ("adult-age", {"points": 7}, "k must be 100"),
    ],
)
def test_people_who_do_not_fit_are_refused(data: str, own: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        study("codebook", data, own)


def test_runs_and_domains_are_checked() -> None:
    with pytest.raises(ParameterError, match="runs must be"):
        simulate_release("zipf", lambda d: dn.mechanism("brr", epsilon=1.0, domain=d), domain=Domain.of(5), runs=0)
    with pytest.raises(ParameterError, match="k must be given"):
        simulate_release("zipf", lambda d: dn.mechanism("brr", epsilon=1.0, domain=d))
    wide = simulate_release(
        "zipf", lambda d: dn.mechanism("brr", epsilon=1.0, domain=d or Domain.of(2)), domain=Domain.of(5), runs=2
    )
    assert [row["run"] for row in wide.rows()] == [1, 2]
