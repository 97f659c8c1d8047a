"""The test of independence: golden statistics, false alarms, power beforehand, and when it is refused."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, chi2

import deniable as dn
from deniable.collect.tally import Tally
from deniable.errors import ParameterError
from deniable.mechanisms.survey.independence import (
    Independence,
    dependence,
    independence,
    independence_people,
    independence_power,
    null_covariance,
)
from deniable.mechanisms.survey.tables import Tables, effects_parts, pairs_parts

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "tables.json").read_text())["settings"]
RUNS, LEVEL = 4_000, 0.05
EVEN = None
FINE: list[tuple[tuple[int, int], float, int, Any]] = [
    ((2, 2), 1.0, 20_000, EVEN),
    ((2, 3), 1.0, 20_000, EVEN),
    ((3, 3), 1.0, 20_000, EVEN),
    ((3, 3), 2.0, 5_000, EVEN),
    ((2, 4), 1.5, 8_000, EVEN),
    ((3, 4), 1.0, 10_000, EVEN),
    ((4, 4), 2.0, 10_000, EVEN),
    ((2, 3), 1.5, 12_000, ([0.3, 0.7], [0.5, 0.3, 0.2])),
]
"""Sizes, epsilon, people, margins. The last two were fixed before any run."""
UNSAFE: list[tuple[tuple[int, int], float, int, Any]] = [
    ((2, 2), 0.5, 2_000, ([0.9, 0.1], [0.95, 0.05])),
    ((3, 3), 0.5, 1_000, EVEN),
    ((3, 3), 0.5, 1_000, ([0.6, 0.3, 0.1], [0.6, 0.3, 0.1])),
]


def plan_of(sizes: Sequence[int], epsilon: float) -> Tables:
    return pairs_parts({"a": sizes[0], "b": sizes[1]}, epsilon)


def product_of(sizes: Sequence[int], margins: Any) -> np.ndarray[Any, Any]:
    first, second = ([1 / k] * k for k in sizes) if margins is None else margins
    return np.outer(first, second)


def results(case: tuple[Any, ...], runs: int, seed: int) -> tuple[list[Independence], int]:
    """Tests of tables of independent questions, people drawn from the population, and how many were refused."""
    sizes, epsilon, n, margins = case
    plan, rng = plan_of(sizes, epsilon), dn.simulation(seed)
    people, found, refused = rng.generator(), [], 0
    shares = product_of(sizes, margins).reshape(-1)
    for _ in range(runs):
        try:
            found.append(
                independence(plan, plan.mechanism.simulate_tally(people.multinomial(n, shares), rng), "a", "b")
            )
        except ParameterError:
            refused += 1
    return found, refused


@pytest.mark.parametrize(
    "case", [row for row in GOLDEN if row["kind"] == "independence_pairs"], ids=lambda c: str(c["sizes"])
)
def test_statistics_are_the_golden_ones(case: dict[str, Any]) -> None:
    """The golden counts are rounded means, which no reports give: they go past the checks of tallies."""
    plan, n = plan_of(case["sizes"], case["epsilon"]), case["n"]
    m: Any = plan.mechanism
    assert m.size == case["size"]
    value = m.support_effective.unbias(np.array(case["support"]) / n).reshape(case["sizes"])
    found = dependence(value, lambda margins: null_covariance(plan, ("a", "b"), margins, {"a x b": n}))
    assert found == pytest.approx(case["statistic"], rel=1e-10)
    degrees = (case["sizes"][0] - 1) * (case["sizes"][1] - 1)
    assert degrees == case["df"]
    assert chi2.sf(found, degrees) == pytest.approx(case["p_value"], rel=1e-10)


@pytest.mark.slow
@pytest.mark.stat
@pytest.mark.turns(8)
@pytest.mark.parametrize("case", FINE, ids=str)
def test_false_alarms_are_as_many_as_stated(case: tuple[Any, ...]) -> None:
    """4 to 6 % in 4,000 runs, seed fixed: a test with a rate of 5 % is outside with probability 0.4 %.

    The usual test finds an association in most of the same tables, so a wrong covariance would be seen.
    """
    found, refused = results(case, RUNS, seed=1)
    assert refused == 0
    assert 0.04 <= np.mean([one.pvalue < LEVEL for one in found]) <= 0.06
    assert np.mean([one.pearson_pvalue < LEVEL for one in found]) > 0.4


@pytest.mark.stat
def test_false_alarms_of_one_table_in_few_runs() -> None:
    """Seed fixed; a rate of 5 % gives a count outside with probability 1e-3, one of 12 % inside with 3.5 %."""
    found, refused = results(FINE[3], 400, seed=2)
    low, high = binom.ppf(5e-4, 400, LEVEL), binom.isf(5e-4, 400, LEVEL)
    alarms = sum(one.pvalue < LEVEL for one in found)
    assert refused == 0
    assert low <= alarms <= high
    assert binom.cdf(high, 400, 0.12) < 0.035
    assert sum(one.pearson_pvalue < LEVEL for one in found) > 200


@pytest.mark.parametrize("case", UNSAFE, ids=str)
def test_unsafe_tables_are_refused(case: tuple[Any, ...]) -> None:
    found, refused = results(case, 60, seed=3)
    assert (len(found), refused) == (0, 60)
    plan = plan_of(*case[:2])
    told = independence_power(plan, "a", "b", product_of(case[0], case[3]), case[2])
    assert "±" in told.refused


def test_the_refusal_says_which_margin_and_what_to_do() -> None:
    plan = plan_of((2, 2), 0.5)
    tally = plan.mechanism.simulate_tally(np.array([1800, 100, 90, 10]), dn.simulation(0))
    with pytest.raises(ParameterError, match=r"a margin must be at least 3 times its standard error, got . of .*±"):
        independence(plan, tally, "a", "b")


def linked(size: float = 0.05) -> np.ndarray[Any, Any]:
    return np.full((3, 3), 1 / 9) + size * np.outer([1, -1, 0], [1, 0, -1]) / 2


@pytest.mark.stat
def test_power_beforehand_is_what_comes_out() -> None:
    """200 runs with a fixed seed at a stated power of about 60 %: outside with probability 1e-3."""
    plan, n = plan_of((3, 3), 2.0), 5_000
    told = independence_power(plan, "a", "b", linked(0.033), n)
    assert 0.5 < told.power < 0.75
    assert told.refused == ""
    rng = dn.simulation(4)
    people, hits = rng.generator(), 0
    for _ in range(200):
        tally = plan.mechanism.simulate_tally(people.multinomial(n, linked(0.033).reshape(-1)), rng)
        hits += independence(plan, tally, "a", "b").pvalue < LEVEL
    assert binom.ppf(5e-4, 200, told.power) <= hits <= binom.isf(5e-4, 200, told.power)


def test_people_needed_have_the_power_that_is_wanted() -> None:
    for plan in (plan_of((3, 3), 1.0), effects_parts({"a": 3, "b": 3, "c": 2}, 1.0)):
        n = independence_people(plan, "a", "b", linked(), power=0.8)
        assert independence_power(plan, "a", "b", linked(), n).power >= 0.8
        assert independence_power(plan, "a", "b", linked(), n).refused == ""
        assert independence_power(plan, "a", "b", linked(), 0.97 * n).power < 0.8 or n > 10_000
    even = independence_power(plan_of((3, 3), 1.0), "a", "b", np.full((3, 3), 1 / 9), 1000)
    assert even.power == even.level == 0.05
    with pytest.raises(ParameterError, match="without any association"):
        independence_people(plan_of((3, 3), 1.0), "a", "b", np.full((3, 3), 1 / 9))
    with pytest.raises(ParameterError, match="sum to 1"):
        independence_power(plan_of((3, 3), 1.0), "a", "b", np.full((3, 3), 0.2), 1000)


@pytest.mark.parametrize(
    "plan", [plan_of((3, 2), 1.0), effects_parts({"a": 3, "b": 2, "c": 2}, 1.0)], ids=["pairs", "effects"]
)
def test_a_table_has_a_row_for_each_answer_to_the_question_that_is_named_first(plan: Tables) -> None:
    """Whichever that is: the plan has the table of `a` and `b`. A table the wrong way round is told as it was given."""
    table = np.array([[0.3, 0.1], [0.2, 0.1], [0.05, 0.25]])
    told = independence_power(plan, "a", "b", table, 2000)
    assert independence_power(plan, "b", "a", table.T, 2000) == told
    assert told.degrees == 2
    assert independence_people(plan, "b", "a", table.T) == independence_people(plan, "a", "b", table)
    for first, second, wrong, need in (("a", "b", table.T, "3 times 2"), ("b", "a", table, "2 times 3")):
        says = rf"{need} cells .* got an array of shape \({wrong.shape[0]}, {wrong.shape[1]}\).* answer to {first}"
        with pytest.raises(ParameterError, match=f"(?s){says}"):
            independence_power(plan, first, second, wrong, 2000)
        with pytest.raises(ParameterError, match=f"(?s){says}"):
            independence_people(plan, first, second, wrong)


def test_noncentrality_at_uniform_margins_has_its_closed_form() -> None:
    """n |Delta|^2 K V/(K-1) for pairs; the share of the interaction k k V/((k-1)(k-1)) for effects."""
    delta = linked() - 1 / 9
    for epsilon in (0.5, 1.0, 2.0):
        pairs = plan_of((3, 3), epsilon)
        cells = dn.mechanism("ss", epsilon=epsilon, k=9, rounding="best")
        told = 8 / 9 / (cells.mse() + 8 / 81)  # type: ignore[attr-defined]
        found = independence_power(pairs, "a", "b", linked(), 1000).noncentrality
        assert found == pytest.approx(1000 * (delta**2).sum() * told, rel=1e-9)
        effects = effects_parts({"a": 3, "b": 3}, epsilon)
        law: Any = effects.mechanisms[-1]
        g, s = law.g, law.size
        e = np.exp(epsilon)
        information = s * (g - s) * (e - 1) ** 2 / (s * e + g - s) ** 2
        if g == 3:  # nothing is filled up
            wanted = 1000 * effects.chances[-1] * (delta**2).sum() * 9 * information / 4
            assert independence_power(effects, "a", "b", linked(), 1000).noncentrality == pytest.approx(
                wanted, rel=1e-9
            )


def yes_no(plan: Tables, shares: np.ndarray[Any, Any], n: int, rng: Any) -> dict[str, Tally]:
    """Tallies of two yes/no questions and their interaction, in their exact law: one count tells the latter."""
    people, tallies = rng.generator(), {}
    for name, m, count in zip(plan.names, plan.mechanisms, people.multinomial(n, plan.chances), strict=True):
        if name in ("a", "b"):
            f = shares.sum(axis=1 if name == "a" else 0)
            tallies[name] = m.simulate_tally(people.multinomial(count, f), rng)
            continue
        even = people.binomial(count, shares[0, 0] + shares[1, 1])
        p = m.bulk.effects.buckets.p  # type: ignore[attr-defined]
        own = people.binomial(even, p) + people.binomial(count - even, 1 - p)
        support = np.array([[own, count - own, count - own, own]])
        tallies[name] = Tally(m.design, m.bulk.strata, {"n": np.array([count]), "support": support}, simulated=True)
    return tallies


@pytest.mark.slow
@pytest.mark.stat
@pytest.mark.parametrize("margins", [([0.5, 0.5], [0.5, 0.5]), ([0.3, 0.7], [0.6, 0.4])], ids=str)
def test_effects_have_the_right_test_too(margins: Any) -> None:
    """No second tally is needed: the covariance follows from the margins. 500 runs, seed fixed, alpha 1e-3."""
    plan, rng = effects_parts({"a": 2, "b": 2}, 1.0), dn.simulation(6)
    shares = np.outer(*margins)
    found = [independence(plan, yes_no(plan, shares, 20_000, rng), "a", "b") for _ in range(500)]
    alarms = sum(one.pvalue < LEVEL for one in found)
    assert binom.ppf(5e-4, 500, LEVEL) <= alarms <= binom.isf(5e-4, 500, LEVEL)
    far = shares + 0.05 * np.array([[1, -1], [-1, 1]])
    told = independence_power(plan, "a", "b", far, 20_000)
    hits = sum(independence(plan, yes_no(plan, far, 20_000, rng), "a", "b").pvalue < LEVEL for _ in range(100))
    assert hits >= 100 * told.power - 15
    assert told.power > 0.9


def test_what_is_told_of_the_test() -> None:
    plan = plan_of((2, 3), 2.0)
    rng = dn.simulation(0)
    tally = plan.mechanism.simulate_tally(np.array([3000, 2000, 1000, 1000, 2000, 3000]), rng)
    found = independence(plan, tally, "a", "b")
    assert found.pvalue < 1e-6
    assert found.degrees == 2
    document = found.document()
    assert document["pearson"]["valid"] is False
    assert "takes the noise of reports for an association" in document["pearson"]["warning"]
    assert document["simulated"] is True
    assert "not valid: Pearson" in repr(found)
    assert independence(plan, tally, "b", "a") == found


def test_independence_of_a_pair_is_judged_by_reports_about_it_alone() -> None:
    """The same as of a survey of these two questions, whatever is reported of other pairs."""
    three, rng = pairs_parts({"a": 2, "b": 3, "c": 2}, 2.0), dn.simulation(3)
    tallies = {
        name: m.simulate_tally(np.linspace(1000, 3000, m.k).astype(np.int64), rng)
        for name, m in zip(three.names, three.mechanisms, strict=True)
    }
    others = tallies | {"a x c": three.mechanisms[1].simulate_tally(np.array([9000, 10, 20, 4000]), rng)}
    for (one, two), k in ((("a", "b"), (2, 3)), (("a", "c"), (2, 2)), (("b", "c"), (3, 2))):
        own, name = pairs_parts(dict(zip((one, two), k, strict=True)), 2.0), f"{one} x {two}"
        found = independence(three, tallies, one, two)
        alone = independence(own, {name: tallies[name]}, one, two)
        assert found.statistic == pytest.approx(alone.statistic, rel=1e-9)
        assert (found.n, found.degrees) == (tallies[name].n, (k[0] - 1) * (k[1] - 1)) == (alone.n, alone.degrees)
        assert found.pvalue == pytest.approx(chi2.sf(found.statistic, found.degrees), rel=1e-9)
        assert found.pearson == pytest.approx(alone.pearson, rel=1e-9)
        assert found.pearson_pvalue == pytest.approx(chi2.sf(found.pearson, found.degrees), rel=1e-9)
        assert independence(three, tallies, two, one) == found
        assert (independence(three, others, one, two) == found) == (name != "a x c")
