"""What is told of levels and of people's choice of them: shares, ends of ranges, choices of designs, and reports."""

from __future__ import annotations

import math
import re
import warnings
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.core.domain import Domain
from deniable.estimate.result import Estimate
from deniable.mechanisms.optimal.bounds import least_told
from deniable.mechanisms.personal.base import _distance
from deniable.mechanisms.personal.laws import calibration_slope, common_range, ideal_channel, leak_warning, places
from deniable.mechanisms.personal.levels import (
    check_base,
    check_blocks,
    check_level_report,
    check_levels,
    check_shares,
    common_blocks,
    level_numbers,
)
from deniable.mechanisms.personal.make import _candidates
from deniable.mechanisms.personal.published import emoa
from deniable_client.kernels.affine import CELLS_MAX


def refused(words: str, fine: bool = False) -> Any:
    return nullcontext() if fine else pytest.raises(dn.ParameterError, match=words)


def made(**given: Any) -> Any:
    return dn.mechanism("pldp", **{"k": 6, "levels": "0.5,1,2", "base": "sue", "level_epsilon": 0.7} | given)


def some(**given: Any) -> Any:
    return made(**{"sensitive": 4, "theta": 0.4} | given)


# ---- levels and shares


def test_levels_come_in_any_order_with_their_shares() -> None:
    m = made(levels="2,0.5,1", shares="0.6,0.1,0.3")
    assert m.levels == (0.5, 1.0, 2.0)
    assert m.shares == (0.1, 0.3, 0.6)
    p: Any = dn.protocol("rcf", levels="2,0.5,1", shares="0.6,0.1,0.3", k=4)
    assert p.levels == (0.5, 1.0, 2.0)
    assert p.shares == (0.1, 0.3, 0.6)
    assert [step.share for step in p.outline] == [0.1, 0.3, 0.6]


@pytest.mark.parametrize(
    ("levels", "words"),
    [
        ("0.5,x", "levels must be numbers"),
        (0.5, "levels must be numbers"),
        ([], "levels must be at least one number > 0"),
        ([0.0, 1.0], "levels must be finite numbers > 0, got 0.0"),
        ([1.0, math.inf], "levels must be finite numbers > 0, got inf"),
        ([1.0, 2.0, 1.0], "levels must be different from each other, got 1.0"),
    ],
)
def test_levels_are_different_numbers_above_zero(levels: object, words: str) -> None:
    assert check_levels("2, 0.5") == [2.0, 0.5]
    with refused(words):
        check_levels(levels)


def test_shares_of_levels_sum_to_one() -> None:
    assert check_shares(None, 4) == [0.25] * 4
    assert check_shares("0.25,0.75", 2) == [0.25, 0.75]
    assert sum(check_shares([0.5, 0.5 + 5e-10], 2)) == pytest.approx(1, abs=1e-15)
    for shares, words in (
        ([0.5, 0.6], "shares must be numbers whose sum is 1, got 1.1"),
        ([0.5, 0.5 + 1e-8], "shares must be numbers whose sum is 1"),
        ([1.0], "shares must be 2 numbers >= 0, one for each level"),
        ([1.5, -0.5], "shares must be 2 numbers >= 0"),
        ([math.nan, 1.0], "shares must be 2 numbers >= 0"),
        ("a,b", "shares must be numbers"),
    ):
        with refused(words):
            check_shares(shares, 2)


def test_people_have_one_of_the_levels() -> None:
    known = (0.5, 1.0, 2.0)
    assert level_numbers(known, [2.0, 0.5, 1.0], 3).tolist() == [2, 0, 1]
    assert level_numbers(known, 1.0, 3).tolist() == [1, 1, 1]
    for levels in ([0.5, 0.7, 1.0], [0.5, 3.0, 1.0], [0.5, 0.1, 1.0], 9.0):
        with refused("levels must be among 0.5, 1, 2, got "):
            level_numbers(known, levels, 3)
    with refused("levels must be one level, or 3 of them"):
        level_numbers(known, [0.5, 1.0], 3)


@pytest.mark.parametrize(
    ("report", "epsilon", "t", "found"),
    [
        ("response", 0.5, 3, ("response", 0.5)),
        ("bit", 700.0, 3, ("bit", 700.0)),
        ("none", 0.5, 3, ("none", None)),
        ("response", 0.5, 1, ("none", None)),
        ("response", 700.1, 3, None),
        ("response", 0, 3, None),
        ("response", None, 3, None),
        ("response", True, 3, None),
        ("other", 0.5, 3, None),
    ],
)
def test_what_is_sent_about_a_level_is_protected(report: str, epsilon: Any, t: int, found: Any) -> None:
    with refused("level_epsilon must be a number > 0, at most 700|level_report must be", found is not None):
        assert check_level_report(report, epsilon, t) == found


def test_a_base_has_its_own_numbers_and_no_others() -> None:
    assert check_base("lh", (0.5, 2.0), "response", None) == common_range((0.5, 2.0)) == 4
    assert check_base("lh", (0.5, 2.0), "response", 7) == 7
    assert check_base("sue", (0.5, 2.0), "none", None) is None
    assert check_base("grr", (0.5,), "none", None) is None
    assert common_range((0.1, 1.0)) == 3
    assert common_range((0.01, 0.02)) == 2
    for base in ("sue", "oue", "grr", "affine"):
        with refused("g must be left out unless the base is lh, got 3"):
            check_base(base, (0.5, 2.0), "response", 3)
    for base in ("grr", "affine"):
        with refused(f"level_report must not be none for base {base}"):
            check_base(base, (0.5, 2.0), "none", None)
    with refused("blocks must be left out unless the base is affine"):
        check_blocks("sue", (0.5, 2.0), 9, (7, 3, 1, 0, 3))
    for wrong in ((7, 3, 1, 0), (7, 3, 1, 0, 3.5), (7, 3, 1, 0, -1), "73103"):
        with refused("blocks must be 5 whole numbers: q, m, j, zero, g"):
            check_blocks("affine", (0.5, 2.0), 6, wrong)
    assert check_blocks("affine", (0.5, 2.0), 6, [7, 3, 1, 0, 3]) == (7, 3, 1, 0, 3)
    own = made(base="affine", k=9)
    q, m, j, zero, _ = own.blocks
    assert own.one_in == pytest.approx(q / (j * (q - 1) // m + zero))
    assert own.one_in == pytest.approx(own.bases[0].q / own.bases[0].points)


def test_a_tally_of_levels_has_as_many_cells_as_one_without() -> None:
    """Of 200,000 answers a tally counts every report for each level: with more levels designs have fewer reports."""
    for levels in ((1.0,), (0.5, 1.0, 1.5), tuple(0.1 * i for i in range(1, 40))):
        found = common_blocks(levels, 200_000)
        assert found is None or found[0] * found[1] * len(levels) <= CELLS_MAX
    assert common_blocks((1.0,), 200_000) is not None
    assert common_blocks((1.0,), CELLS_MAX) is None


def test_numbers_of_levels_lie_between_minus_one_and_one() -> None:
    assert places([0.1, 0.4, 0.2]) == pytest.approx([-1, 1, -1 / 3])
    assert places([0.4, 0.1]) == pytest.approx([1, -1])
    steep = math.tanh(0.35) / 2
    bit = ideal_channel("bit", 0.7, [0.1, 0.4, 0.2])
    assert bit[:, 1] == pytest.approx([0.5 - steep, 0.5 + steep, 0.5 - steep / 3])
    assert bit.sum(axis=1) == pytest.approx(np.ones(3))
    response = ideal_channel("response", 0.7, [0.1, 0.4, 0.2])
    assert np.diag(response) == pytest.approx(np.full(3, math.exp(0.7) / (math.exp(0.7) + 2)))
    assert ideal_channel("response", None, [0.1, 0.4]).tolist() == [[1.0], [1.0]]


def test_self_calibrated_estimates_fall_as_the_sum_of_support_says() -> None:
    f = np.array([0.0, 0.25, 1.0])
    assert calibration_slope("sue", 6, f) == pytest.approx((1 - 2 * f) / 4)
    assert calibration_slope("oue", 6, f) == pytest.approx((1 - f) / 5)
    assert calibration_slope("lh", 6, f) == pytest.approx(f)
    assert calibration_slope("sue", 3, f) == pytest.approx(1 - 2 * f)
    with refused("k must be at least 3 for self-calibration of base sue, got 2"):
        calibration_slope("sue", 2, f)


@pytest.mark.parametrize(
    ("leakage", "report", "warned"), [(0.6, 0.5, True), (0.5, 0.5, False), (0.4, 0.5, False), (0.6, 0.0, False)]
)
def test_a_warning_comes_where_data_tell_more_of_the_level_than_its_report(
    leakage: float, report: float, warned: bool
) -> None:
    assert bool(leak_warning({"leakage": leakage, "level_report": report})) == warned


# ---- what one hands in


def test_levels_are_given_unless_there_is_one() -> None:
    rng = dn.simulation(1)
    alone = made(levels="1")
    assert alone.tally(alone.privatize([0, 1, 2])).n == 3
    m = made()
    with refused("levels must be given for pldp: one for each value, of 0.5, 1, 2"):
        m.privatize([0, 1, 2], rng=rng)
    with refused("levels must be given for pldp, of 0.5, 1, 2"):
        m.privatize_items(np.array([0, 1]))
    with refused("coins must be left out for pldp: its seeds are drawn by the devices"):
        m.privatize([0, 1], levels=[0.5, 1.0], coins=[1, 2], rng=rng)
    with refused("coins must be left out for pldp"):
        m.privatize_items(np.array([0, 1]), rng, coins=[1, 2])
    with refused("column must be given with the name of a column of levels"):
        m.privatize([0, 1], levels="level", rng=rng)
    frame = {"answer": [0, 1, 2], "level": [0.5, 2.0, 1.0]}
    assert m.tally(m.privatize(frame, column="answer", levels="level", rng=rng)).n == 3
    with refused("levels must be a list of numbers, or the name of a column of the frame"):
        m.privatize([0, 1], column="answer", levels="level", rng=rng)


def test_a_simulation_draws_levels_by_their_shares() -> None:
    """10,000 people at shares 0.9 and 0.1, told almost openly: within 6 standard errors (alpha 1e-8), seed 3."""
    m = made(levels="0.5,1", shares="0.9,0.1", level_epsilon=30.0)
    told = m.tally(m.privatize_items(np.zeros(10_000, np.int64), dn.simulation(3))).cells["n"]
    assert abs(int(told[0]) - 9000) < 6 * math.sqrt(900)


def test_every_level_has_its_witness_and_its_part() -> None:
    m = made(levels="0.5,1,2", k=6)
    base = m.proof.witness
    for i, (ratio, witness) in enumerate(m.proof.ratios):
        assert (witness.likely, witness.unlikely) == (6 * i + base.likely, 6 * i + base.unlikely)
        assert math.log(ratio) == pytest.approx(m.levels[i], rel=1e-9)
    ((name, ratio),) = m.proof.parts
    assert name == "level report"
    assert math.log(ratio) == pytest.approx(0.7, rel=1e-9)


# ---- estimates and fits


@pytest.mark.parametrize("base", ["sue", "oue", "lh"])
@pytest.mark.parametrize("make", [made, some], ids=["all", "some"])
def test_estimates_by_the_sum_of_support_sum_to_one(base: str, make: Any) -> None:
    m = make(base=base)
    people = np.arange(3000) % 6
    tally = m.tally(m.privatize_items(people, dn.simulation(5)))
    found = m.estimate(tally, method="self")
    assert float(found.value.sum()) == pytest.approx(1.0, abs=1e-9)
    assert "self-calibrated" in found.steps[0]


def test_public_shares_are_the_planned_ones() -> None:
    m = made(shares="0.7,0.2,0.1")
    tally = m.tally(m.privatize_items(np.arange(1200) % 6, dn.simulation(5), levels=np.tile([2.0, 1.0, 2.0], 400)))
    law = m.law_effective
    share = tally.cells["support"].sum(axis=0) / 1200
    p, q = (float(np.dot(m.shares, law.of(name))) for name in ("p", "q"))
    assert m.estimate(tally, method="pbp").value == pytest.approx((share - q) / (p - q), rel=1e-9)


@pytest.mark.parametrize("make", [made, some], ids=["all", "some"])
def test_who_is_drawn_adds_what_a_sample_has(make: Any) -> None:
    m = make(level_epsilon=3.0)
    reports = m.privatize_items(np.arange(3000) % 6, dn.simulation(5))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found: list[Estimate] = [m.fit(reports), m.fit(reports, method="em-known")]
    for estimate in found:
        part, f = estimate.parts["frequency"], estimate.value
        more = part.variance("population") - part.variance("reporters")
        assert more == pytest.approx(f * (1 - f) / 3000, rel=1e-6)
        assert "from 3000 reports" in estimate.steps[0]
        assert estimate.simulated
    free, known = (estimate.parts["frequency"].variance("population") for estimate in found)
    assert float(known.sum()) <= float(free.sum()) * (1 + 1e-6)
    told = found[1].steps[-1]
    assert told == "shares of the levels: 0.5: 0.333, 1: 0.333, 2: 0.333", "known shares stay as they are"


def test_a_tolerance_ends_the_steps() -> None:
    m = made(level_epsilon=2.0)
    reports = m.privatize_items(np.arange(2000) % 6, dn.simulation(5))

    def steps(**given: Any) -> tuple[int, float]:
        text = m.fit(reports, stderr=None, **given).steps[0]
        return int(text.split("reports: ")[1].split(" steps")[0]), float(text.split("at most ")[1].split(" nats")[0])

    usual, fine, coarse = steps(), steps(tolerance=1e-4), steps(tolerance=5.0)
    assert usual[1] <= 0.02
    assert fine[1] <= 1e-4
    assert coarse[1] <= 5.0
    assert coarse[0] <= usual[0] < fine[0]
    with refused("stderr must be 'information' or None for levels"):
        m.fit(reports, stderr="bootstrap", rng=dn.simulation(1))


def test_level_reports_are_needed_where_values_and_levels_look_alike() -> None:
    m = made(base="grr")
    reports = m.privatize_items(np.arange(600) % 6, dn.simulation(5))
    with refused("method em-blind is not for base grr: values and levels cannot be told apart then"):
        m.fit(reports, method="em-blind")
    bits = made()
    with refused("a tally of pldp with base sue does not tell the sets of items in a report"):
        bits.fit(bits.tally(bits.privatize_items(np.arange(600) % 6, dn.simulation(5))))
    assert m.fit(m.tally(reports), stderr=None).value == pytest.approx(m.fit(reports, stderr=None).value)


# ---- choices


def test_within_a_leak_budget_the_design_of_least_error_is_taken() -> None:
    given: dict[str, Any] = {"epsilon": 2.0, "domain": Domain.of(6), "levels": (0.5, 1.0, 2.0), "level_epsilon": 0.7}
    designs = list(_candidates(None, given))
    assert [m.base for m in designs].count("lh") == len({*range(2, 9), common_range((0.5, 2.0))})
    leaks = sorted({float(m.guarantee["level"]) for m in designs})
    for budget in (leaks[0], leaks[len(leaks) // 2], leaks[-1]):
        fitting = [m for m in designs if m.guarantee["level"] <= budget]
        found: Any = dn.mechanism("pldp", k=6, levels="0.5,1,2", level_epsilon=0.7, leak_budget=budget)
        assert found.error == min(m.error for m in fitting)
        assert found.guarantee["level"] <= budget
        assert f"the least error of {len(fitting)} designs within the leak budget" in found.selection["note"]
        assert ("beyond it: " in found.selection["note"]) == (len(fitting) < len(designs))
    with refused(f"leak_budget must be at least {leaks[0]:.4g} for these levels"):
        dn.mechanism("pldp", k=6, levels="0.5,1,2", level_epsilon=0.7, leak_budget=leaks[0] * 0.999)
    with refused("leak_budget must be a number > 0"):
        dn.mechanism("pldp", k=6, levels="0.5,1,2", level_epsilon=0.7, leak_budget=0)


def test_capped_disclosure_is_taken_where_it_has_less_error_and_tells_no_more() -> None:
    for levels in ("0.5,1,2", "0.1,1"):
        left = some(levels=levels, base="lh")
        ways = [some(levels=levels, base="lh", disclosure=rule) for rule in ("common", "capped")]
        fitting = [m for m in ways if m.guarantee["level"] <= ways[0].guarantee["level"] * (1 + 1e-12)]
        assert left.error == min(m.error for m in fitting)
    assert some(levels="0.5,1,2", base="lh", level_report="bit").disclosure == "common"
    one = some(levels="1", base="grr", disclosure="capped")
    assert one.disclosure == "capped"
    with refused("disclosure must be common unless level_report is response"):
        some(base="lh", level_report="bit", disclosure="own")
    with refused("frequency must be left out where some are sensitive"):
        some(frequency=0.1)
    for frequency, fine in ((0, True), (1, True), (1.1, False), (-0.1, False)):
        with refused("frequency must be from 0 to 1", fine):
            made(frequency=frequency)


@pytest.mark.parametrize("rule", ["common", "capped", "own"])
def test_chances_of_disclosure_are_one_capped_or_as_large_as_can_be(rule: str) -> None:
    m = some(base="lh", disclosure=rule)
    own = some(base="lh", disclosure="own").law.z
    cap = {"common": 1.0, "capped": math.exp(m.guarantee["leakage"]), "own": math.inf}[rule]
    assert m.law.z == pytest.approx(np.minimum(own, own.min() * cap), rel=1e-6)
    assert m.law_effective.z == pytest.approx(m.law.z, rel=1e-9)
    assert float(m.disclosed_chance) == pytest.approx(m.law.z.max(), rel=1e-9)
    assert m.guarantee["disclosure"] == pytest.approx(math.log(m.law.z.max() / m.law.z.min()), abs=1e-9)


@pytest.mark.parametrize("base", ["sue", "oue", "lh", "grr"])
@pytest.mark.parametrize("rule", ["common", "capped", "own"])
def test_ideal_promises_are_bounds_of_the_exact_ones(base: str, rule: str) -> None:
    m = some(base=base, disclosure=rule)
    ideal, exact = m._ideal_guarantee(), m.guarantee
    for name in ("data", "level_report", "disclosure"):
        assert ideal[name] == pytest.approx(exact[name], rel=1e-9, abs=1e-9)
    assert ideal["data_by_level"] == pytest.approx(exact["data_by_level"], rel=1e-9)
    for name in ("leakage", "level", "pair"):
        assert ideal[name] >= exact[name] * (1 - 1e-9)
    assert ideal["level"] == pytest.approx(ideal["level_report"] + ideal["leakage"])
    assert ideal["leakage"] >= exact["disclosure"] * (1 - 1e-9)


def test_the_best_guess_is_that_at_the_largest_level() -> None:
    prior = [0.3, 0.2, 0.2, 0.1, 0.1, 0.1]
    for base in ("sue", "grr", "lh"):
        m = made(base=base)
        assert m.guess(prior) == m.bases[-1].guess(prior)
        assert m.guess(prior).success > m.bases[0].guess(prior).success
    limits = {"sue": 0.7, "lh": 0.7}
    for base, level in limits.items():
        found = made(base=base, shares="0.2,0.5,0.3").guess_level()
        odds = math.exp(made(base=base).guarantee["level"]) * 0.5
        assert found.bound == pytest.approx(odds / (odds + 0.5))
        response = math.exp(level) / (math.exp(level) + 2)
        other = (1 - response) / 2
        shares = (0.2, 0.5, 0.3)
        columns = [[s * (response if i == r else other) for i, s in enumerate(shares)] for r in range(3)]
        assert found.report == pytest.approx(sum(max(column) for column in columns), rel=1e-9)


def test_the_error_is_for_equally_frequent_answers_or_those_of_theta() -> None:
    m = some(base="lh", theta=0.4)
    assert m.expected == pytest.approx(np.array([0.15] * 4 + [0.2] * 2))
    assert made().expected == pytest.approx(np.full(6, 1 / 6))
    told = made(frequency=0.25, base="lh").properties(100)
    assert told["frequency"] == 0.25
    law = made(base="lh").law
    assert told["variance"] == pytest.approx(law.auem(0.25, 100).random_levels, rel=1e-12)
    assert told["mse"] == pytest.approx(law.moments(told["estimator"], "lh", 6, 1 / 6, 100).random_levels, rel=1e-12)
    own = some(base="lh").properties(100)
    assert own["mse_sum"] == pytest.approx(6 * own["mse"])
    assert own["mse"] == pytest.approx(some(base="lh").error / 100, rel=1e-9)


def test_a_bound_for_all_answers_alike_is_for_no_others() -> None:
    promise, shares = made(k=300, levels="0.5,1", base="lh").promise, (0.5, 0.5)
    even, uneven = np.full(300, 1 / 300), np.r_[0.5, np.full(299, 0.5 / 299)]
    known = _distance(promise, even, shares, 1.0, 10)
    assert known["bound"] == least_told(np.array([0.5, 1.0]), np.array(shares), 300).distance(1.0, 300, 10)["bound"]  # type: ignore[union-attr]
    assert _distance(promise, uneven, shares, 1.0, 10) == {}
    parts = made(k=300, levels="0.5,1", base="lh", sensitive=200).promise
    assert _distance(parts, even, shares, 1.0, 10) == {}


# ---- schemes of papers


def emoa_by_hand(sets: Any, law: Any, f: Any, rho: Any, steps: int) -> Any:
    """Report by report and level by level, as it is printed."""
    p, q = law.of("p"), law.of("q")
    for _ in range(steps):
        like = np.where(sets[:, :, None] == 1, p, q)  # reports, items, levels
        joint = rho * np.einsum("x,rxi->ri", f, like)
        level = joint / joint.sum(axis=1, keepdims=True)
        f, rho = np.einsum("ri,rxi->x", level, like) / len(sets), level.mean(axis=0)
    return f


@pytest.mark.parametrize("steps", [1, 2, 10])
def test_emoa_is_what_is_printed_step_by_step(steps: int) -> None:
    m = made(k=4)
    sets = np.array([[1, 0, 0, 1], [0, 1, 0, 0], [1, 1, 1, 0], [0, 0, 0, 0], [1, 0, 0, 0]], float)
    f, rho = np.array([0.4, 0.3, 0.2, 0.1]), np.array([0.5, 0.3, 0.2])
    found = emoa(sets, m.law_effective, f, rho, steps)
    assert found == pytest.approx(emoa_by_hand(sets, m.law_effective, f, rho, steps), rel=1e-9)
    assert f.tolist() == [0.4, 0.3, 0.2, 0.1], "what is given stays as it is"


def test_schemes_have_the_numbers_of_their_papers() -> None:
    assert dn.protocol("auem", levels="0.5,1", k=4).level_epsilon == 0.3  # type: ignore[attr-defined]
    assert dn.protocol("emoa", levels="0.5,1", k=4, level_epsilon=0.6).level_epsilon == 0.6  # type: ignore[attr-defined]
    assert dn.protocol("pbp", levels="0.5,1", k=4).level_epsilon is None  # type: ignore[attr-defined]
    with refused("epsilon must be given, or levels"):
        dn.protocol("pbp", k=4)
    with refused("epsilon must be at least the largest level, 1.0"):
        dn.protocol("pbp", levels="0.5,1", k=4, epsilon=0.9)
    reports = {
        "rcf": "PLDP App. A.5",
        "ppda": "PLDP App. A.5",
        "auem": "PLDP Sec. 5 and 6",
        "emoa": "PLDP Sec. 5 and 6",
    }
    assert {name: dn.PROTOCOLS[name].source for name in reports} == reports


def test_estimates_that_are_fitted_say_so() -> None:
    people = np.arange(400) % 4
    for name, bias in (("emoa", ("fitted",)), ("auem", ()), ("pbp", ()), ("ppda", ())):
        p = dn.protocol(name, levels="0.5,2", k=4)
        assert p.run(people, dn.simulation(2))[0].bias == bias
    p = dn.protocol("rcf", levels="0.5,2", k=4)
    found = p.run(people, dn.simulation(2))[0]
    part, f = found.parts["frequency"], np.clip(found.value, 0, 1)
    more = np.diag(part.covariance("population") - part.covariance("reporters"))
    assert more == pytest.approx(f * (1 - f) / 400, rel=1e-9)


def test_a_level_without_people_is_left_out() -> None:
    p: Any = dn.protocol("rcf", levels="0.5,2", k=4)
    one, two = (step.mechanism for step in p.outline)
    tally = two.tally(two.privatize([0] * 30 + [1, 2, 3], rng=dn.simulation(2)))
    found = p.next([one.empty(simulated=True), tally])
    assert found.value == pytest.approx(two.estimate(tally).value)
    assert found.steps == ("estimates of 1 levels, weighted by one over their variances",)
    single = one.tally(one.privatize([0], rng=dn.simulation(2)))
    both = p.next([single, tally])
    assert both.steps == ("estimates of 2 levels, weighted by one over their variances",)
    q, p_own = one.support.q, one.support.p
    weights = [n * (m.support.gap**2) / (m.support.q * m.support.q_not) for m, n in ((one, 1), (two, 33))]
    wanted = (weights[0] * one.estimate(single).value + weights[1] * two.estimate(tally).value) / sum(weights)
    assert p_own > q
    assert both.value == pytest.approx(wanted, rel=1e-6)


# ---- small print


@pytest.mark.parametrize("report", ["response", "bit"])
def test_errors_by_level_reports_are_those_of_two_unbiased_numbers(report: str) -> None:
    """q and p - q of the reported level, solved for; their covariances level by level, and those of who is drawn."""
    m = made(level_report=report, shares="0.5,0.3,0.2")
    law, f, n = m.law, 0.3, 200
    shares, channel = np.array(m.shares), law.channel
    q, d = law.of("q"), law.of("p") - law.of("q")
    one, two = (np.linalg.lstsq(channel, values, rcond=None)[0] for values in (q, d))

    def spread(a: Any, b: Any) -> float:
        return float(shares @ (channel @ (a * b) - (channel @ a) * (channel @ b)))

    assert law.unbiased(q) == pytest.approx(one, rel=1e-6)
    qq, qd, dd = spread(one, one), spread(one, two), spread(two, two)
    gap = float(shares @ d)
    found = law.auem(f, n)
    scale = n * gap**2
    bits = float(shares @ (f * law.of("p") * law.of("p_not") + (1 - f) * q * law.of("q_not")))
    if report == "response":
        assert found.level == pytest.approx((qq + 2 * f * qd + f * f * dd) / scale, rel=1e-6)
        assert found.bias == pytest.approx((qd + f * dd) / scale, rel=1e-6)
        assert law.gap_error(n) == pytest.approx(math.sqrt(dd / n), rel=1e-6)
    assert found.data == pytest.approx(bits / scale, rel=1e-9)
    assert found.fixed == pytest.approx(found.data + found.level, rel=1e-12)
    drawn = f * (1 - f) * float(shares @ (d - gap) ** 2) / scale
    assert found.random_levels - found.fixed == pytest.approx(drawn, rel=1e-6)
    assert found.iid - found.random_levels == pytest.approx(f * (1 - f) / n, rel=1e-6)
    a = float(shares @ law.of("q")) + f * gap
    assert law.known_shares(f, n) == pytest.approx(a * (1 - a) / scale, rel=1e-9)


def test_one_in_so_many_blocks_supports_an_answer_zero_counted() -> None:
    m = replace(made(base="affine", k=6), blocks=(7, 3, 1, 1, 3))
    assert m.one_in == pytest.approx(7 / 3)
    assert replace(made(base="affine", k=6), blocks=(7, 3, 1, 0, 3)).one_in == pytest.approx(7 / 2)
    assert made(base="lh", g=5).one_in == 5
    assert made().one_in is None


def test_one_level_tells_nothing_by_what_it_discloses() -> None:
    one = some(levels="1", base="grr")
    assert one.guarantee["disclosure"] == 0.0
    assert one.guarantee["level"] == 0.0
    two = some(sensitive=2, base="sue", levels="0.5,1")
    tally = two.tally(two.privatize_items(np.arange(3000) % 6, dn.simulation(5)))
    assert float(two.estimate(tally, method="self").value.sum()) == pytest.approx(1.0, abs=1e-9)


def test_the_reason_for_an_estimator_tells_how_much_less_error_it_has() -> None:
    """At a faint level report the sum of support is better; at a loud one with shared disclosure the report may be."""
    for make in (made, some):
        for epsilon in (0.05, 8.0):
            for base in ("sue", "oue", "lh"):
                told = make(base=base, level_epsilon=epsilon).properties(1000)
                words = told["estimator_reason"]
                ratio = re.search(r"([0-9.e+]+) times less", words)
                assert ratio is not None, words
                assert float(ratio[1]) >= 1
                assert told["estimator"] == ("self" if words.startswith("the sum") else "auem")
                assert epsilon > 1 or told["estimator"] == "self"


def test_work_and_size_of_reports_at_levels() -> None:
    assert made().properties()["bits"] == pytest.approx(6 + math.log2(3))
    assert made(level_report="none", level_epsilon=None).properties()["bits"] == 6.0
    assert made(level_report="bit").properties()["bits"] == 7.0
    assert made().properties()["bytes"] == 2
    work = dn.MECHANISMS["pldp"].traits.work
    assert work is not None
    assert [float(work(made(base=base, k=20), 10)) for base in ("sue", "grr", "lh")] == [4.0, 2.0, 81.0]
    assert float(work(made(base="sue", k=20, sensitive=10), 10)) == 4.0


def test_schemes_take_a_tally_for_each_of_their_steps() -> None:
    p: Any = dn.protocol("rcf", levels="0.5,2", k=4)
    first = p.outline[0].mechanism
    tally = first.tally(first.privatize([0, 1], rng=dn.simulation(2)))
    assert p.next([tally]) == p.outline[1]
    for tallies in ([], [tally] * 3):
        with refused(r"tallies must be one for each level \(1 to 2\)"):
            p.next(tallies)
    hidden: Any = dn.protocol("auem", levels="0.5,2", k=4)
    for tallies in ([], [tally] * 2):
        with refused("tallies must be that of the one step"):
            hidden.next(tallies)
    assert hidden.shares == (1.0,)
    assert dn.protocol("ppda", levels="0.5,2", k=4).outline[0].mechanism.k == 8, "as many bits that nobody holds"
    assert hidden.protection.steps == "one"
    assert p.protection.promise.levels == (0.5, 2.0)
