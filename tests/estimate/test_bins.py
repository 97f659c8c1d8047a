"""Distributions of numbers in bins: sums with their errors, as many as the reports can tell apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import deniable as dn


def fitted(n: int, points: int = 256, layout: str = "midpoints") -> dn.Estimate:
    m = dn.mechanism("sw", epsilon=1.0, interval=(0, 100), points=points, layout=layout)
    values = np.random.default_rng(3).uniform(0, 100, n)
    return m.fit(m.privatize(values, rng=dn.simulation(5)), method="ems")


@pytest.fixture(scope="module")
def flat() -> dn.Estimate:
    return fitted(10_000)


def test_shares_and_covariances_are_summed(flat: dn.Estimate) -> None:
    four = flat.binned(4)
    assert four.labels == ("0 to 25", "25 to 50", "50 to 75", "75 to 100")
    assert four.value == pytest.approx(flat.value.reshape(4, 64).sum(axis=1))
    assert four.value.sum() == pytest.approx(1.0)
    over = np.kron(np.eye(4), np.ones(64))
    assert four.covariance("population") == pytest.approx(over @ flat.covariance("population") @ over.T)
    assert four.steps == (*flat.steps, "summed in 4 bins")
    assert four.biased
    ends = four.interval()
    assert (ends.low < four.value).all()
    assert (four.value < ends.high).all()


def test_flat_data_get_few_bins_and_more_reports_get_more(flat: dn.Estimate) -> None:
    """No bin of flat data is far from its even share, and the standard errors are as small as was promised."""
    few, more = flat.binned(), fitted(400_000).binned()
    assert 3 <= len(few.labels) < len(more.labels) <= 64
    for found in (few, more):
        even = 1 / len(found.labels)
        assert 7 * found.stderr.max() <= even
        assert np.abs(found.value - even).max() < 0.6 * even
    finer = next(b for b in range(len(few.labels) + 1, 65) if 256 % b == 0 or 256 // b >= 20)
    assert 7 * flat.binned(finer).stderr.max() > 1 / finer, "more bins would show noise"


def test_points_at_the_ends_have_half_bins(flat: dn.Estimate) -> None:
    ends = fitted(3000, points=5, layout="endpoints").binned(5)
    assert ends.labels == ("0 to 12.5", "12.5 to 37.5", "37.5 to 62.5", "62.5 to 87.5", "87.5 to 100")


def rows(chart: Any) -> list[dict[str, Any]]:
    spec = chart.to_dict()
    return list(spec["data"]["values"])


def test_a_chart_shows_the_bins(flat: dn.Estimate) -> None:
    pytest.importorskip("altair", reason="charts need altair: pip install 'deniable[charts]'")
    shown = rows(flat.chart())
    few = flat.binned()
    assert [row["label"] for row in shown] == list(few.labels)
    assert shown[0]["start"] == 0
    assert [row["stop"] for row in shown[:-1]] == [row["start"] for row in shown[1:]]
    assert shown[-1]["stop"] == 100
    spec = flat.chart().to_dict()
    assert {layer["mark"]["type"] for layer in spec["layer"]} == {"rect", "rule", "point"}
    assert rows(flat.chart(top=3)) != shown, "single points where they are asked for"
    assert len(rows(flat.chart(top=3))) == 3


@pytest.mark.parametrize("bins", [0, 257, 2.5, True, "4"])
def test_wrong_numbers_of_bins_are_refused(flat: dn.Estimate, bins: Any) -> None:
    with pytest.raises(dn.ParameterError, match="bins must be an integer from 1 to 256, the number of points"):
        flat.binned(bins)


def test_what_has_no_bins_says_so() -> None:
    m = dn.mechanism("grr", epsilon=1.0, k=30)
    with pytest.raises(dn.ParameterError, match="only the distribution of numbers of an interval"):
        m.estimate(m.tally(m.privatize(list(range(30))))).binned()
    d = dn.mechanism("duchi", epsilon=1.0, interval=(0, 1))
    with pytest.raises(dn.ParameterError, match="only the distribution of numbers of an interval"):
        d.estimate(d.tally(d.privatize([0.5, 0.7]))).binned()
