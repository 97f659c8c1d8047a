"""Estimates: values with error bars and a history; parts, frames, projection and comparison."""

from __future__ import annotations

import math
import sys
from dataclasses import fields, replace
from typing import Any

import numpy as np
import polars as pl
import pytest

import deniable as dn
from deniable.core.intervals import critical
from deniable.errors import MergeError, ParameterError
from deniable.estimate.result import Comparison
from deniable.mechanisms.support import SupportMechanism
from tiers import every

LABELS = ["never", "sometimes", "often"]


def make(**arguments: Any) -> SupportMechanism:
    m = dn.mechanism("oue", **({"epsilon": 1.0, "labels": LABELS} | arguments))
    assert isinstance(m, SupportMechanism)
    return m


def estimate(shares: tuple[int, ...] = (600, 300, 100), seed: int = 1, **arguments: Any) -> dn.Estimate:
    m = make(**arguments)
    items = np.repeat(np.arange(len(shares)), shares)
    return m.estimate(m.tally(m.privatize_items(items, dn.simulation(seed))))


def test_an_estimate_says_what_it_is() -> None:
    e = estimate()
    assert e.labels == tuple(LABELS)
    assert e.n == 1000
    assert e.design == make().design
    assert e.simulated
    assert not e.biased
    assert e.steps == ("unbiased estimate from 1000 reports",)
    assert "<Estimate from 1,000 reports of oue, epsilon = 1, SIMULATED: never " in repr(e)


def test_estimates_are_equal_if_all_that_they_say_is() -> None:
    """Each thing that it says makes another of it; `n` and the mark do so though no number changes."""
    m = dn.mechanism("grr", epsilon=1.0, labels=["a", "b"])
    made = m.estimate(m.simulate_tally([70, 30], dn.simulation(1)))
    assert replace(made) == made
    other = m.estimate(m.simulate_tally([30, 70], dn.simulation(2)))
    changes: dict[str, Any] = {
        "labels": ("a", "c"),
        "parts": other.parts,
        "n": 101,
        "design": {**made.design, "version": 2},
    }
    changes |= {"simulated": False, "steps": (*made.steps, "more"), "bias": ("fitted",)}
    assert set(changes) == {f.name for f in fields(made)}
    for name, value in changes.items():
        assert replace(made, **{name: value}) != made, name
    assert made != "estimate"


def test_numbers_are_the_labels_where_there_are_none() -> None:
    m = dn.mechanism("oue", epsilon=1.0, k=3)
    assert m.estimate(m.tally(m.privatize([0, 1, 2]))).labels == ("0", "1", "2")


def test_values_and_errors_are_those_of_the_support() -> None:
    m, e = make(), estimate()
    s = m.support_effective
    tally = m.tally(m.privatize_items(np.repeat(np.arange(3), (600, 300, 100)), dn.simulation(1)))
    assert e.value == pytest.approx(s.unbias(tally.cells["support"][0] / 1000), rel=1e-12)
    assert e.stderr == pytest.approx(np.sqrt(s.variance(e.value, 1000)), rel=1e-9)
    assert e.variance("population") == pytest.approx(s.variance(e.value, 1000, "population"), rel=1e-9)
    assert e.covariance() == pytest.approx(s.covariance(e.value, 1000), rel=1e-9)
    assert np.diag(e.covariance("population")) == pytest.approx(e.variance("population"))


def test_nothing_is_clipped_or_renormalised() -> None:
    """1000 people who all give one answer of 50, with little epsilon: estimates go below 0 and above 1, and stay so."""
    m = dn.mechanism("grr", epsilon=0.5, k=50)
    e = m.estimate(m.tally(m.privatize(np.zeros(1000, int), rng=dn.simulation(3))))
    assert e.value.min() < 0
    assert e.value.sum() == pytest.approx(1, abs=1e-9)  # one item per report: the sum is known
    assert abs(e.value[0] - 1) < 5 * e.stderr[0]


def test_parts_by_name() -> None:
    e = estimate()
    same = e["frequency"]
    assert isinstance(same, dn.Estimate)
    assert (same.value == e.value).all()
    with pytest.raises(ParameterError, match="part must be one of frequency, got 'mean'"):
        e["mean"]


def test_intervals_by_target_level_and_together() -> None:
    e = estimate()
    plain = e.interval()
    assert (plain.level, plain.target, plain.simultaneous) == (0.95, "reporters", False)
    for wider in (e.interval(0.99), e.interval(target="population"), e.interval(simultaneous=True)):
        assert (wider.low < plain.low).all()
        assert (wider.high > plain.high).all()
    assert (plain.low < e.value).all()
    assert (e.value < plain.high).all()
    for level in (0, 1, 95, "0.95", None):
        with pytest.raises(ParameterError, match="level must be a number between 0 and 1"):
            e.interval(level)  # type: ignore[arg-type]
    for act in (e.interval, e.variance, e.covariance):
        with pytest.raises(ParameterError, match="target must be 'reporters' or 'population', got 'everybody'"):
            act(target="everybody")


# ---- projection


def test_projection_is_a_named_step_and_marks_the_estimate_as_biased() -> None:
    raw = estimate((990, 10, 0))
    flat = raw.project()
    assert flat.biased
    assert flat.steps[:-1] == raw.steps
    assert flat.steps[-1].startswith("projected onto the simplex (biased")
    assert flat.value.sum() == pytest.approx(1)
    assert flat.value.min() >= 0
    assert (flat.stderr == raw.stderr).all()
    assert (flat.covariance() == raw.covariance()).all()
    assert not raw.biased
    assert flat.project().steps == flat.steps


def test_intervals_after_projection_stay_within_0_and_1_and_hold_the_value() -> None:
    for shares in ((990, 10, 0), (0, 0, 1000), (334, 333, 333)):
        raw = estimate(shares)
        ends, before = raw.project().interval(), raw.interval()
        value = raw.project().value
        assert (ends.low >= 0).all()
        assert (ends.high <= 1).all()
        assert (ends.low <= value).all()
        assert (value <= ends.high).all()
        inside = np.clip(before.low, 0, 1), np.clip(before.high, 0, 1)
        assert (ends.low <= inside[0]).all(), "they cover no less than before"
        assert (ends.high >= inside[1]).all()


# ---- comparison


def test_comparison_tests_label_by_label_with_holm() -> None:
    one, two = estimate((600, 300, 100), seed=1), estimate((300, 600, 100), seed=2)
    found = one.compare(two)
    assert found.value == pytest.approx(one.value - two.value)
    assert found.stderr == pytest.approx(np.sqrt(one.variance("population") + two.variance("population")))
    assert found.n == (1000, 1000)
    assert found.target == "population"
    z = np.abs(found.value) / found.stderr
    assert found.pvalue == pytest.approx([math.erfc(v / math.sqrt(2)) for v in z])
    p = np.sort(found.pvalue)
    by_hand = np.minimum(1, [3 * p[0], max(3 * p[0], 2 * p[1]), max(3 * p[0], 2 * p[1], p[2])])
    assert np.sort(found.pvalue_adjusted) == pytest.approx(by_hand)
    assert (found.pvalue_adjusted >= found.pvalue).all()
    assert found.pvalue_adjusted[0] < 0.05, "600 against 300 of 1000 is seen"
    plain, together = found.interval(), found.interval(simultaneous=True)
    assert (together.high > plain.high).all()
    assert plain.high - plain.low == pytest.approx(2 * 1.959963984540054 * found.stderr)


def test_holm_keeps_ties_and_the_order_of_the_labels() -> None:

    value = np.array([0.0, 3.0, 1.0, 3.0])
    found = Comparison(("a", "b", "c", "d"), value, np.ones(4), "population", (1, 1), simulated=True)
    assert found.pvalue_adjusted[1] == pytest.approx(4 * found.pvalue[1])
    assert found.pvalue_adjusted[3] == pytest.approx(4 * found.pvalue[3])
    assert found.pvalue_adjusted[2] == pytest.approx(2 * found.pvalue[2])
    assert found.pvalue_adjusted[0] == 1


def test_comparison_refuses_what_cannot_be_compared() -> None:
    one = estimate()
    other = dn.mechanism("oue", epsilon=1.0, labels=["never", "often", "sometimes"])
    two = other.estimate(other.tally(other.privatize(["never"])))
    with pytest.raises(MergeError, match="same labels, in the same order"):
        one.compare(two)
    with pytest.raises(ParameterError, match="compare takes unbiased estimates"):
        one.compare(one.project())
    with pytest.raises(ParameterError, match="target must be"):
        one.compare(one, target="all")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="other must be an estimate, got None"):
        one.compare(None)  # type: ignore[arg-type]


def test_estimates_of_different_mechanisms_can_be_compared() -> None:
    m = dn.mechanism("grr", epsilon=2.0, labels=LABELS)
    other = m.estimate(m.tally(m.privatize_items(np.repeat(np.arange(3), (600, 300, 100)), dn.simulation(9))))
    found = estimate().compare(other)
    assert (found.pvalue_adjusted > 1e-4).all()


# ---- frames


def test_frames_keep_labels_and_numbers() -> None:
    e = estimate()
    frame = e.to_frame()
    assert isinstance(frame, pl.DataFrame)
    assert frame.columns == ["label", "value", "stderr", "low", "high", "simulated"]
    assert frame["label"].to_list() == LABELS
    assert frame["value"].to_list() == e.value.tolist()
    assert frame["low"].to_list() == e.interval().low.tolist()
    wide = e.to_frame(0.99, "population")
    assert wide["high"].to_list() == e.interval(0.99, "population").high.tolist()
    assert wide["stderr"].to_list() == np.sqrt(e.variance("population")).tolist()


def test_without_a_frame_library_there_are_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    e = estimate()
    want = e.to_columns()
    for library in ("polars", "pandas"):
        monkeypatch.setitem(sys.modules, library, None)
    found = e.to_frame()
    assert found == want
    assert found["label"] == LABELS
    assert set(found) == {"label", "value", "stderr", "low", "high", "simulated"}


# ---- refusals


def test_no_reports_have_no_estimate() -> None:
    m = make()
    with pytest.raises(ParameterError, match=r"at least one report.*Empty data have no estimate"):
        m.estimate(m.empty())


def test_reports_can_be_estimated_directly() -> None:
    m = make()
    reports = m.privatize(["never", "often"], rng=dn.simulation(1))
    assert (m.estimate(reports).value == m.estimate(m.tally(reports)).value).all()  # type: ignore[arg-type]


# ---- spread


@pytest.mark.stat
@pytest.mark.parametrize("name", every(2, ["ss", "grr", "olh", "oue"]))
def test_variances_and_covariances_are_those_of_repeated_runs(name: str) -> None:
    """Every entry of the covariance matrix from 4000 runs of 200 people; alpha 1e-4 for all entries together.

    A sample covariance of R runs has standard error sqrt((c_ii c_jj + c_ij^2)/R) (normal estimates); the largest of
    10 entries is compared with the Bonferroni quantile. Power: 25 % more variance would be rejected.
    """
    runs, alpha = 4000, 1e-4
    m = dn.mechanism(name, epsilon=1.5, k=4)
    assert isinstance(m, SupportMechanism)
    shares = np.array([100, 60, 40, 0])
    items = np.repeat(np.arange(4), shares)
    reports = m.privatize_items(np.tile(items, runs), dn.simulation(40))
    values = np.array([m.estimate(m.tally(reports[i * 200 : (i + 1) * 200])).value for i in range(runs)])
    f = shares / 200
    true = m.support_effective.covariance(f, 200)
    limit = critical(1 - alpha, 10 + 4)
    assert (np.abs(values.mean(axis=0) - f) < limit * np.sqrt(np.diag(true) / runs)).all(), "estimates are biased"
    found = np.cov(values.T)
    spread = np.sqrt((np.outer(np.diag(true), np.diag(true)) + true**2) / runs)
    assert (np.abs(found - true) < limit * spread).all()
    assert (0.25 * np.diag(true) > 2 * limit * np.diag(spread)).all()


def test_an_estimate_names_what_made_it_biased() -> None:
    """In words of its own: what steps say in sentences is for people."""
    m = dn.mechanism("grr", epsilon=1.0, k=4)
    tally = m.tally(m.privatize([0, 0, 1, 2] * 50, rng=dn.simulation(1)))
    raw = m.estimate(tally)
    found = [raw, raw.project(), m.fit(tally, "em"), m.fit(tally, "ems"), m.fit(tally, "em").project()]
    assert [e.bias for e in found] == [(), ("projected",), ("fitted",), ("smoothed",), ("fitted", "projected")]
    assert [e.biased for e in found] == [False, True, True, True, True]
    assert raw.project() != raw.project().__class__(raw.labels, raw.project().parts, raw.n, raw.design, True, raw.steps)
