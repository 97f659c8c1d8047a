"""Second moments: what parts say of their errors, held against the channel and against each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.core import intervals
from deniable.estimate import result
from deniable.estimate.pooled import pool
from deniable.testing import check_closed_forms, check_intervals

ONE_OF_EACH: list[tuple[str, Mapping[str, Any]]] = [
    ("grr", {"k": 5, "epsilon": 1.0}),
    ("she", {"k": 2, "epsilon": 4.0, "grid": 0, "reach": 16}),
    ("ssmix", {"k": 5, "epsilon": 1.0}),
    ("uss", {"k": 6, "sensitive": 4, "epsilon": 1.0}),
    ("ussmix", {"k": 5, "sensitive": 3, "epsilon": 1.0, "theta": 0.95}),
    ("uue-levels", {"k": 5, "sensitive": "0,2,4", "item_epsilon": "0.5,4,1", "theta": 0.5}),
    ("pldp", {"k": 5, "levels": "0.5,1", "base": "grr", "level_epsilon": 0.3}),
    ("kv-ss", {"k": 4, "epsilon": 1.0, "length": 2}),
    ("privkv", {"k": 3, "epsilon": 1.0}),
    ("exponential", {"points": 4, "epsilon": 2.0}),
    ("hm", {"interval": "0,10", "points": 4, "epsilon": 1.0}),
    ("duchi", {"interval": "0,10", "points": 4, "epsilon": 1.0}),
]
"""One of every kind of part."""


@pytest.mark.parametrize(("name", "case"), ONE_OF_EACH, ids=[name for name, _ in ONE_OF_EACH])
def test_errors_agree_with_each_other_and_with_the_channel(name: str, case: Mapping[str, Any]) -> None:
    m = dn.mechanism(name, **case)
    assert "of 40 and 4000 people" in check_intervals(m)
    assert "moments" in check_closed_forms(m)


# ---- the check itself: planted faults


def planted(monkeypatch: pytest.MonkeyPatch, **changed: Any) -> dn.Mechanism:
    """`grr`, whose intervals are those of counts, with a wrong one in their place."""
    usual = result.Estimate.interval

    def wrong(self: dn.Estimate, level: float = 0.95, target: Any = "reporters", **given: Any) -> Any:
        return changed["change"](usual, self, level, target, **given)

    monkeypatch.setattr(result.Estimate, "interval", wrong)
    return dn.mechanism("grr", k=5, epsilon=1.0)


FAULTS: dict[str, tuple[Any, str]] = {
    "simultaneous": (lambda usual, e, level, target, **_: usual(e, level, target), "not those of the level"),
    "level": (lambda usual, e, level, target, **given: usual(e, 0.95, target, **given), "not those of the level"),
    "above": (
        lambda usual, e, level, target, **given: replace(usual(e, level, target, **given), low=e.value + 0.1),
        "begins above its value",
    ),
    "deaf": (
        lambda usual, e, level, target, simultaneous=False: replace(
            usual(e, 0.9, target), level=level, simultaneous=simultaneous
        ),
        "a higher level is no wider",
    ),
    "turned": (lambda usual, e, level, target, **given: usual(e, 1 - level, target, **given), "higher level begins"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_wrong_intervals_are_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    change, said = FAULTS[fault]
    with pytest.raises(AssertionError, match=said):
        check_intervals(planted(monkeypatch, change=change))


@pytest.mark.parametrize(
    ("name", "factor", "said"),
    [("variance", {"reporters": 1.0, "population": 0.5}, "known too well|diagonal"), ("covariance", {}, "diagonal")],
    ids=["population", "diagonal"],
)
def test_other_wrong_errors_are_found(
    name: str, factor: Mapping[str, float], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = getattr(result.Estimate, name)
    wrong = lambda self, target="reporters": usual(self, target) * factor.get(target, 1.01)  # noqa: E731
    monkeypatch.setattr(result.Estimate, name, wrong)
    with pytest.raises(AssertionError, match=said):
        check_intervals(dn.mechanism("grr", k=5, epsilon=1.0))


@pytest.mark.parametrize(("seed", "above"), [(8, False), (12, True)], ids=["downwards", "upwards"])
def test_a_projected_interval_holds_its_value_at_both_ends(seed: int, above: bool) -> None:
    """Projection moves values out of their intervals, upwards or downwards: both ends follow."""
    m = dn.mechanism("oue", k=6, epsilon=0.2)
    e = m.estimate(m.tally(m.privatize_items(np.arange(200) % 6, dn.simulation(seed))))
    raw, cut = e.interval(0.05), e.project()
    low, high = np.clip(raw.low, 0, 1), np.clip(raw.high, 0, 1)
    assert (cut.value > high if above else cut.value < low).any(), "the case shows this end"
    ends = cut.interval(0.05)
    assert (ends.low <= np.minimum(cut.value, low)).all()
    assert (ends.high >= np.maximum(cut.value, high)).all()


def test_exact_intervals_of_few_reports_share_the_level() -> None:
    """With 12 reports intervals are exact; all at once they are those of the level 1 - alpha/k, count by count."""
    support = dn.mechanism("grr", k=4, epsilon=2.0).support_effective
    share = np.array([0, 1, 3, 8]) / 12
    at_once = intervals.count_interval(share, support, 12, level=0.9, target="reporters", simultaneous=True)
    one = intervals.count_interval(share, support, 12, level=0.975, target="reporters")
    assert at_once.notes, "they are exact, which is said"
    assert at_once.low == pytest.approx(one.low, abs=1e-12)
    assert at_once.high == pytest.approx(one.high, abs=1e-12)


@pytest.mark.parametrize("target", ["reporters", "population"])
def test_reports_are_few_where_a_count_of_them_would_vary_too_little(target: Any) -> None:
    """By the variance of the count itself, for people as they are and for people who are drawn."""
    s = dn.mechanism("grr", k=9, epsilon=3.0).support_effective
    gap, seen = s.p - s.q, set()
    for n, f in product((20, 60, 100, 200, 400, 900), (0.0, 0.05, 0.5, 1.0)):
        a, b = s.q * s.q_not / (n * gap**2), (s.p * s.p_not - s.q * s.q_not) / (n * gap**2)
        curve = intervals.drawn((a, b, 0.0), n, target)
        mean = s.q + f * gap
        own = f * s.p * s.p_not + (1 - f) * s.q * s.q_not
        count = n * (own if target == "reporters" else mean * (1 - mean))
        found = bool(intervals._few(np.array([f]), curve, n, target)[0])
        assert found == (count < intervals._FEW), (n, f, count)
        seen.add(found)
    assert seen == {True, False}


def test_pooled_covariances_are_weighted_by_squares() -> None:
    """Two groups of 3,000 and 1,000: the pooled covariance is 9/16 of the first's and 1/16 of the second's."""
    m = dn.mechanism("oue", epsilon=1.0, k=3)
    groups = [m.estimate(m.tally(m.privatize_items(np.arange(n) % 3, dn.simulation(n)))) for n in (3000, 1000)]
    both = pool(groups)
    for target in ("reporters", "population"):
        expected = groups[0].covariance(target) * 9 / 16 + groups[1].covariance(target) / 16
        assert both.covariance(target) == pytest.approx(expected, rel=1e-12)
        assert both.variance(target) == pytest.approx(np.diag(expected), rel=1e-12)
    assert both.value == pytest.approx(0.75 * groups[0].value + 0.25 * groups[1].value, rel=1e-12)


def test_what_was_pooled_is_biased_as_each_of_them_was() -> None:
    m = dn.mechanism("oue", epsilon=1.0, k=3)
    one, two = (m.estimate(m.tally(m.privatize_items(np.arange(n) % 3, dn.simulation(n)))) for n in (300, 100))
    for several in ([one.project(), two], [one, two.project()], [one.project(), two.project()]):
        assert pool(several).bias == ("projected",)
    assert pool([one, two]).bias == ()


def test_bins_without_covariances_are_told_the_most_that_they_can_be() -> None:
    """Standard errors add up where nothing is known of how errors go together: never their squares."""
    from deniable.estimate.bins import _summed

    spread = np.array([4.0, 9.0, 16.0, 25.0])
    assert _summed(spread, np.array([0, 2])).tolist() == [25.0, 81.0]


# ---- many people, and other units

MANY = 40_000
"""So many that intervals are those of the normal distribution."""


def estimated(name: str, case: Mapping[str, Any], n: int = MANY) -> dn.Estimate:
    """Of people with all answers, the first ones more often."""
    m = dn.mechanism(name, **case)
    items = np.minimum(np.arange(n) % 7, np.arange(n) % 5) % m.k
    return m.estimate(m.tally(m.privatize_items(items, dn.simulation(3))))


@pytest.mark.parametrize(("name", "case"), ONE_OF_EACH, ids=[name for name, _ in ONE_OF_EACH])
def test_intervals_of_many_people_are_as_wide_as_their_standard_errors(name: str, case: Mapping[str, Any]) -> None:
    """Where nothing is cut off and nothing is noted, an interval is about value +- 1.96 standard errors."""
    seen, cautious = 0, name == "duchi"  # one bit does not tell how unlike the values are
    found = estimated(name, case)
    for part in found.parts:
        one = found[part]
        for target in ("reporters", "population")[cautious:]:
            ends, error = one.interval(0.95, target), 1.959964 * np.sqrt(one.variance(target))
            low, high = one.range or (0.0, 1.0)
            inside = (ends.low > low) & (ends.high < high) & (error > 0)
            told = (ends.high - ends.low)[inside] / (2 * error[inside])
            seen += told.size
            assert told == pytest.approx(np.ones(told.size), abs=0.1), f"{part}, {target}"
    assert seen > 0


@pytest.mark.parametrize(
    ("name", "case", "option"),
    [
        ("kv-ss", {"k": 4, "epsilon": 2.0, "length": 2}, "range"),
        ("privkv", {"k": 3, "epsilon": 2.0}, "range"),
        ("hm", {"points": 4, "epsilon": 1.0}, "interval"),
        ("duchi", {"points": 4, "epsilon": 1.0}, "interval"),
        ("pm", {"points": 4, "epsilon": 1.0}, "interval"),
    ],
)
def test_means_in_other_units_have_errors_in_these_units(name: str, case: dict[str, Any], option: str) -> None:
    """The same reports of values from -1 to 1 and from 0 to 10: everything is five times as large, and five more."""
    one, ten = (estimated(name, case | {option: ends}, 3000)["mean"] for ends in ("-1,1", "0,10"))
    assert ten.value == pytest.approx(5 + 5 * one.value)
    for target in ("reporters", "population"):
        assert ten.variance(target) == pytest.approx(25 * one.variance(target))
        ends, wide = one.interval(0.9, target), ten.interval(0.9, target)
        assert wide.low == pytest.approx(5 + 5 * ends.low)
        assert wide.high == pytest.approx(5 + 5 * ends.high)


@pytest.mark.parametrize("name", ["grr", "ss", "hr", "pgr"])
def test_the_covariance_of_an_estimate_is_that_of_its_mechanism_at_the_estimate(name: str) -> None:
    """Also where third values add to the chance that a report supports a pair."""
    m: Any = dn.mechanism(name, k=6, epsilon=1.0)
    e = m.estimate(m.tally(m.privatize_items(np.arange(3000) ** 2 % 5, dn.simulation(2))))
    apart = ~np.eye(6, dtype=bool)
    for target in ("reporters", "population"):
        wanted = m.covariance(e.value, e.n, target)
        assert e.covariance(target)[apart] == pytest.approx(wanted[apart], rel=1e-6, abs=1e-12)
