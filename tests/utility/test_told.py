"""What is told of designs for sensitive answers, and how they are chosen: against formulas and searches through all."""

from __future__ import annotations

import math
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.core.intervals import told_interval
from deniable.core.laws import epsilon_to
from deniable.mechanisms.registry import MECHANISMS
from deniable.mechanisms.utility.bound import converse, least_mse_sum
from deniable.mechanisms.utility.budgets import check_item_epsilon
from deniable.mechanisms.utility.collaborative import GAIN
from deniable.mechanisms.utility.explicit import written_down
from deniable.mechanisms.utility.mixture import UtilityMixture, mixture_gain
from deniable.mechanisms.utility.sensitive import check_theta, promise_sensitive, split_items
from mechanisms.test_every_report import every, one


def refused(words: str, fine: bool = False) -> Any:
    return nullcontext() if fine else pytest.raises(dn.ParameterError, match=words)


DESIGNS: dict[str, tuple[str, dict[str, Any]]] = {
    "sets": ("uss", {"sensitive": 4}),
    "sets, spread out": ("uss", {"sensitive": "0,2,3,5", "size": 2}),
    "sets as ULDP": ("uss", {"sensitive": 4, "size": 2, "form": "glutf"}),
    "bits": ("uue", {"sensitive": 3}),
    "bits as ULDP": ("uue", {"sensitive": 3, "form": "glutf"}),
    "bits and values": ("urap", {"sensitive": 3, "form": "glutf"}),
    "hashes": ("ulh", {"sensitive": 3, "g": 3}),
    "hashes as ULDP": ("ulh", {"sensitive": 3, "g": 3, "form": "glutf"}),
    "answers": ("urr", {"sensitive": 3}),
    "answers as ULDP": ("urr", {"sensitive": 3, "form": "glutf"}),
    "Hadamard": ("uhr", {"sensitive": 5}),
    "blocks": ("utility", {"sensitive": 5, "base": "plh", "g": 2}),
    "noise": ("utility", {"sensitive": 3, "base": "she"}),
    "noise as ULDP": ("utility", {"sensitive": 3, "base": "she", "form": "glutf"}),
    "leaky bits": ("utility", {"sensitive": 3, "base": "the"}),
    "leaky bits as ULDP": ("utility", {"sensitive": 3, "base": "the", "form": "glutf"}),
    "one": ("utility", {"sensitive": 1}),
    "none": ("utility", {"sensitive": 0}),
    "all": ("uss", {"sensitive": 7}),
    "two sizes": ("ussmix", {"sensitive": 4, "size": 1, "share": 0.3}),
    "budgets": ("uue-levels", {"sensitive": 3, "item_epsilon": "0.5,1,1"}),
}


LISTED = [
    name for name in DESIGNS if name not in ("none", "noise", "noise as ULDP", "two sizes", "hashes", "hashes as ULDP")
]
"""Whose channel has an output for each report, and whose likelihood is written out."""


def design(name: str, **more: Any) -> Any:
    row, options = DESIGNS[name]
    theta = {"none": 1.0, "all": 0.0}.get(name, 0.6)
    return dn.mechanism(row, k=7, **{"epsilon": 1.0, "theta": theta} | options | more)


# ---- errors


@pytest.mark.parametrize("name", DESIGNS)
def test_the_error_that_is_told_is_the_sum_of_all_variances(name: str) -> None:
    """Sensitive and harmless answers as often as `theta` says; for more reports less, for all answers the mean."""
    m = design(name)
    own, rest = m.items
    f = np.zeros(7)
    f[own], f[rest] = (1 - m.theta) / max(1, own.size), m.theta / max(1, rest.size)
    total = float(np.trace(m.covariance(f, 1)))
    assert m.effective()["mse_sum"] == pytest.approx(total, rel=1e-9)
    assert m.effective(50)["mse_sum"] == pytest.approx(total / 50, rel=1e-9)
    assert m.effective()["mse"] == pytest.approx(total / 7, rel=1e-9)
    assert m.mse_sum(10) == pytest.approx(m.mse_sum() / 10, rel=1e-12)
    assert m.properties()["mse_sum"] == pytest.approx(total, rel=1e-3), "the ideal is near what is sampled"
    assert m.properties(10)["mse"] == pytest.approx(m.mse_sum() / 70, rel=1e-12)
    population = np.trace(m.covariance(f, 1, "population"))
    assert population == pytest.approx(total + 1 - float(f @ f), rel=1e-9), "who is drawn adds what a sample has"


@pytest.mark.parametrize("name", ["sets", "bits", "Hadamard", "one", "two sizes"])
def test_the_bound_is_that_of_one_answer_and_the_gap_is_the_rest(name: str) -> None:
    m = design(name)
    s = m.s
    bound = least_mse_sum(s, 7 - s, 0.6, *epsilon_to(1.0))
    told = m.properties(20)
    assert told["bound"] == pytest.approx(bound / 20 / 7, rel=1e-12)
    assert told["gap"] == pytest.approx(m.mse_sum() / bound - 1, abs=1e-12)
    assert told["mse"] >= told["bound"] * (1 - 1e-12)


def test_with_one_sensitive_answer_the_bound_is_met() -> None:
    w, v = epsilon_to(1.3)
    for theta in (0.2, 0.9):
        m: Any = dn.mechanism("utility", epsilon=1.3, k=6, sensitive=1, theta=theta)
        assert m.mse_sum() == pytest.approx(2 * theta * w / v, rel=1e-12)
        assert least_mse_sum(1, 5, theta, w, v) == converse(1, theta, w, v) == 2 * theta * w / v
    assert least_mse_sum(0, 5, 1.0, w, v) == 0.0


@pytest.mark.parametrize("name", [name for name in DESIGNS if name not in ("all",)])
def test_the_share_of_harmless_answers_is_told_by_what_is_disclosed(name: str) -> None:
    m = design(name)
    tally = m.tally(m.privatize(np.arange(700) % 7, rng=dn.simulation(3)))
    value = m.estimate(tally).value
    assert m.theta_of(tally) == pytest.approx(float(value[m.items[1]].sum()), rel=1e-9)
    if "noise" not in name and name != "two sizes":
        told = float(tally.cells["n"][-1]) / tally.n
        assert m.theta_of(tally) == pytest.approx(told / m.effective()["z"], rel=1e-9)
    assert m.effective()["z"] == pytest.approx(float(m.disclosed_chance), rel=1e-12)


@pytest.mark.parametrize("name", LISTED)
def test_likelihoods_are_those_of_the_channel(name: str) -> None:
    """Of every kind of report that occurs: in proportion to the chances of all answers, for these that are drawn."""
    m = design(name)
    reports = m.privatize(np.arange(210) % 7, rng=dn.simulation(4))
    rows = m.bulk.reader.likelihood(reports.columns)
    channel = m.channel()
    known = {tuple(round(w / max(row), 9) for w in row) for row in channel.weights if max(row)}
    seen = {tuple(round(float(x / row.max()), 9) for x in row) for row in rows}
    assert seen <= known
    assert len(seen) >= min(len(known), 4) // 2


@pytest.mark.parametrize(
    "name", ["sets", "bits", "bits as ULDP", "bits and values", "answers", "leaky bits", "budgets", "Hadamard"]
)
def test_evidence_is_the_likelihood_of_all_reports(name: str) -> None:
    """Differences of log-likelihoods between two truths, by the evidence and by the likelihood of report by report."""
    m = design(name)
    reports = m.privatize(np.arange(210) % 7, rng=dn.simulation(4))
    parts = [reports[:100].columns, reports[100:].columns]
    evidence = m.bulk.reader.evidence(parts)
    one, two = np.full(7, 1 / 7), np.arange(1.0, 8) / 28
    rows = m.bulk.reader.likelihood(reports.columns)
    wanted = float(np.log(rows @ one).sum() - np.log(rows @ two).sum())
    assert evidence.step(one)[1] - evidence.step(two)[1] == pytest.approx(wanted, rel=1e-7)
    assert evidence.n == 210
    gain = (rows / (rows @ two)[:, None]).mean(axis=0)
    assert evidence.step(two)[0] == pytest.approx(gain, rel=1e-7)
    score = rows / (rows @ two)[:, None]
    assert evidence.information(two) == pytest.approx(score.T @ score, rel=1e-6)
    again = evidence.resampled(dn.simulation(7))
    assert again.n == 210
    same = evidence.resampled(dn.simulation(7))
    assert again.step(two)[1] == same.step(two)[1] != evidence.step(two)[1]


# ---- what is handed in


def test_shares_of_harmless_answers_are_from_none_to_all() -> None:
    assert check_theta(None, 3, 10) == 0.7
    assert check_theta("0.25", 3, 10) == 0.25
    assert check_theta(1, 3, 10) == 1.0
    assert check_theta(None, 0, 10) == 1.0
    assert check_theta(None, 10, 10) == 0.0
    for wrong in (-0.1, 1.1, "much", True, math.nan):
        with refused("theta must be between 0 and 1"):
            check_theta(wrong, 3, 10)
    for theta, s in ((0.5, 0), (0.5, 10), (0.0, 0), (1.0, 10)):
        with refused(rf"theta must be {1.0 if s == 0 else 0.0} with {s} of 10 answers sensitive"):
            check_theta(theta, s, 10)
    own, rest = split_items((1, 3, 5, 6), 8)
    assert (own.tolist(), rest.tolist()) == ([1, 2, 5], [0, 3, 4, 6, 7])


def test_where_all_answers_are_sensitive_the_promise_is_the_plain_one() -> None:
    every = dn.mechanism("uss", epsilon=1.0, k=4, sensitive=4).promise
    assert every.sensitive is None
    assert every.strict is None
    assert every.between(0, 3) == 1.0
    some = dn.mechanism("uss", epsilon=1.0, k=4, sensitive=3)
    assert some.promise.sensitive is not None
    assert some.promise.strict is not None
    assert some.promise.between(0, 3) == 1.0
    assert some.promise.between(3, 0) == math.inf
    assert promise_sensitive(some).limit(0, 3) == some.promise.limit(0, 3) == 1.0


def test_a_label_for_those_who_keep_it_private_is_sensitive() -> None:
    labels = ["well", "tired", "ill"]
    m: Any = dn.utility("ss", ["ill"], epsilon=1.0, labels=labels, kept_private=True)
    assert m.domain.labels == (*labels, "kept private")
    assert m.items[0].tolist() == [2, 3]
    m = dn.utility("ss", ["well", "ill"], epsilon=1.0, labels=labels, kept_private=True)
    assert m.items[0].tolist() == [0, 2, 3]
    with refused("kept_private must be left out for a domain without labels"):
        dn.utility("ss", 2, epsilon=1.0, k=3, kept_private=True)


def test_a_base_that_is_made_keeps_what_it_is() -> None:
    base = dn.mechanism("ss", epsilon=1.0, k=3, size=1)
    with refused("options must be left out with a base that is made already"):
        dn.utility(base, 3, k=6, size=2)
    with refused("epsilon must be that of the base, 1.0, got 2.0"):
        dn.utility(base, 3, k=6, epsilon=2.0)
    assert dn.utility(base, 3, k=6).epsilon == 1.0
    coin = dn.Channel(("no", "yes"), ((3, 1), (1, 3)), 4)
    assert dn.utility(coin, 2, k=3, epsilon=2.0).epsilon == 2.0
    with refused("epsilon must be given with the name of a base"):
        dn.utility("ss", 3, k=6)
    named = dn.mechanism("grr", epsilon=1.0, labels=["b", "a"])
    assert dn.utility(named, ["b", "a"], labels=["b", "c", "a"]).epsilon == 1.0
    with refused("labels of the base must be those of the sensitive answers"):
        dn.utility(named, ["a", "b"], labels=["a", "c", "b"])
    for name in ("hr", "pgr"):
        with refused(f"form must be null for base {name}, got 'glutf'"):
            dn.utility(dn.mechanism(name, epsilon=1.0, k=3), 3, k=6, form="glutf")
    m: Any = dn.utility(base, 3, k=6)
    assert m.at(2.0).base.epsilon == 2.0
    assert (m.at(2.0).epsilon, m.at(2.0).base.size) == (2.0, 1)


def test_tables_are_kept_as_they_are_or_made_whole() -> None:
    third = dn.Channel(("a", "b"), ((2, 1), (1, 2)), 3)
    m = written_down(third, None)
    assert m.epsilon >= math.log(2)
    assert m.proof.epsilon <= m.epsilon
    assert m.proof.epsilon == pytest.approx(math.log(2), rel=1e-12)
    assert all(sum(row) == 1 << 64 for row in m.table.weights)
    with pytest.raises(
        dn.PrivacyError, match=r"has the level 1\.0986122886681098, above epsilon 0\.5; no table was made"
    ):
        written_down(dn.Channel(("a", "b"), ((3, 1), (1, 3)), 4), 0.5)
    assert m.guess([0.8, 0.2]).blind == 0.8
    assert m.guess([0.6, 0.4]).success == pytest.approx(0.4 + 0.8 / 3)
    assert set(m.properties()) == {"asr", "bits", "bytes"}
    with pytest.raises(dn.PrivacyError, match="a base must not rule values out"):
        written_down(dn.Channel(("a", "b"), ((1, 0), (1, 2)), 2), None)


def test_the_paper_s_form_is_the_valid_one_of_five_rows_and_the_printed_one_of_others() -> None:
    forms = {
        "uss": "glutf",
        "uue": "glutf",
        "urr": "glutf",
        "urap": "separate",
        "uhr": "null",
        "ulh": "paper",
        "uwheel": "paper",
    }
    for name, form in forms.items():
        m: Any = dn.mechanism(name, epsilon=1.0, k=6, sensitive=3, form="paper")
        assert m.form == form
        assert m.vetted == (form != "paper")
        assert m.params["form"] == ("glutf" if name == "urap" else form)
        assert dn.from_design(m.design) == m


# ---- guesses


def test_one_sensitive_answer_is_guessed_from_what_discloses_nothing() -> None:
    m = design("one")
    z = m.properties()["z"]
    assert m.guess().success == pytest.approx((6 * z + 1) / 7)
    rare = [0.01, 0.39, 0.12, 0.12, 0.12, 0.12, 0.12]
    assert m.guess(rare).success == pytest.approx(0.99 * z + max(0.01, 0.39 * (1 - z)))
    often = [0.4, *[0.1] * 6]
    assert m.guess(often).success == pytest.approx(0.6 * z + max(0.4, 0.1 * (1 - z)))
    assert m.guess(often).blind == 0.4
    assert design("none").guess(rare).success == pytest.approx(1.0)


# ---- budgets


def test_budgets_are_as_many_as_sensitive_answers() -> None:
    assert check_item_epsilon("0.5, 1,2", 3) == (0.5, 1.0, 2.0)
    assert check_item_epsilon([1, 2]) == (1.0, 2.0)
    for given, s in (([1, 2], 3), ([1, 2, 3, 4], 3), ([1], 0)):
        with refused(f"item_epsilon must be {s} numbers, got {len(given)} numbers"):
            check_item_epsilon(given, s)
    with refused("item_epsilon must be at least one number"):
        check_item_epsilon([], 0)
    for flip, fine in ((0.0, False), (0.4999, True), (0.5, False)):
        with refused("flip must be between 0 and 0.5", fine):
            design("budgets", flip=flip)
    with refused("epsilon must be at least the largest of item_epsilon, 1.0"):
        design("budgets", epsilon=0.9)


def test_at_another_epsilon_budgets_keep_their_proportion() -> None:
    m = design("budgets", epsilon=2.0)
    assert m.at(4.0).item_epsilon == (1.0, 2.0, 2.0)
    assert m.at(1.0).item_epsilon == (0.25, 0.5, 0.5)
    assert m.at(1.0).epsilon == 1.0


def test_every_budget_has_its_exact_epsilon() -> None:
    m = dn.mechanism("uue-levels", k=6, sensitive=4, item_epsilon="2,0.5,1,0.5")
    found = m.properties()["guarantee"]
    assert [level for level, _ in found["by_level"]] == [0.5, 1.0, 2.0]
    assert found["kept"] is True
    for level, exact in found["by_level"]:
        own = [e for budget, e in zip((2.0, 0.5, 1.0, 0.5), found["items"], strict=True) if budget == level]
        assert exact == max(own) <= level


# ---- two sizes, two steps


def test_sizes_and_shares_of_a_mixture_may_be_given() -> None:
    given: dict[str, Any] = {"epsilon": 1.0, "k": 12, "sensitive": 5, "theta": 0.95}
    best: Any = dn.mechanism("ussmix", **given)
    assert dn.mechanism("ussmix", **given, size=3).params["share"] == 0.0
    m: Any = dn.mechanism("ussmix", **given, share=0.25)
    assert (m.size, m.share) == (best.size, 0.25)
    for size, share in ((1, 0.0), (1, 0.5), (2, 0.0), (2, 0.4), (4, 0.9)):
        assert best.mse_sum() <= dn.mechanism("ussmix", **given, size=size, share=share).mse_sum() * (1 + 1e-12)  # type: ignore[attr-defined]
    for size, fine in ((0, False), (1, True), (4, True), (5, False)):
        with refused("size must be an integer from 1 to s-1 = 4", fine):
            dn.mechanism("ussmix", **given, size=size)
    for share, fine in ((0, True), (0.99, True), (1, False), (-0.1, False)):
        with refused("share must be from 0 to below 1", fine):
            dn.mechanism("ussmix", **given, size=2, share=share)
    for sensitive, fine in ((1, False), (2, True), (11, True), (12, False)):
        with refused("sensitive must be from 2 to 11 items", fine):
            dn.mechanism("ussmix", epsilon=1.0, k=12, sensitive=sensitive)


@pytest.mark.parametrize("target", ["reporters", "population"])
def test_intervals_of_what_is_hardly_ever_disclosed_hold_those_of_its_reports_alone(target: Any) -> None:
    m = design("two sizes")
    people = np.array([4] * 2 + [5] * 300 + [0, 1, 2, 3] * 60)
    found = m.estimate(m.tally(m.privatize(people, rng=dn.simulation(2))))
    part = found.parts["frequency"]
    told = told_interval(part.disclosed, part.law.z, part.n, level=0.9, target=target)
    whole = part.interval(0.9, target, False)
    at_once, together = (
        told_interval(part.disclosed, part.law.z, part.n, level=1 - 0.1 / 7, target=target),
        part.interval(0.9, target, True),
    )
    items = part.harmless
    few = np.zeros(3, bool)
    for some in told.notes.values():
        few |= some
    assert few.any()
    assert not few.all()
    assert (whole.low[items][few] <= told.low[few]).all()
    assert (whole.high[items][few] >= told.high[few]).all()
    assert (together.low[items][few] <= at_once.low[few]).all()
    assert (together.high[items][few] >= at_once.high[few]).all()
    every = np.zeros(7, int)
    for about in whole.notes.values():
        every += about
    assert every.max() <= 1, "one note for each answer"
    together = part.interval(0.9, target, True)
    assert (together.high - together.low >= whole.high - whole.low - 1e-12).all()


@pytest.mark.parametrize("name", ["sets", "bits as ULDP", "answers", "noise", "budgets"])
def test_intervals_of_all_answers_together_are_those_of_a_higher_level(name: str) -> None:
    m = design(name)
    part = m.estimate(m.tally(m.privatize(np.arange(700) % 7, rng=dn.simulation(3)))).parts["frequency"]
    together, alone = part.interval(0.9, "reporters", True), part.interval(1 - 0.1 / 7, "reporters", False)
    assert together.low == pytest.approx(alone.low, rel=1e-9, abs=1e-12)
    assert together.high == pytest.approx(alone.high, rel=1e-9, abs=1e-12)
    assert (together.level, together.simultaneous) == (0.9, True)


def test_the_second_step_mixes_sizes_where_that_gains_half_a_per_cent() -> None:
    near = []
    for s in (2, 3, 5, 8):
        p: Any = dn.protocol("collaborative", epsilon=1.0, k=40, sensitive=s)
        for theta in np.linspace(0.6, 0.99, 40).tolist():
            gain = mixture_gain(s, 40 - s, theta, 1.0)
            if 0.0025 < gain < 0.01:
                near.append(gain > GAIN)
                assert isinstance(p._second(theta), UtilityMixture) == (gain > GAIN)
                assert not isinstance(replace(p, mix=False)._second(theta), UtilityMixture)
    assert GAIN == 0.005
    assert set(near) == {False, True}


def test_the_share_of_the_first_step_is_moved_into_what_is_possible() -> None:
    p: Any = dn.protocol("collaborative", epsilon=1.0, k=10, sensitive=4)
    first = p.first().mechanism
    assert p.shares == (0.05, 0.95)
    every = first.tally(first.privatize([9] * 50, rng=dn.simulation(1)))
    told = first.theta_of(every)
    assert p.theta(every) == min(1.0, told)
    none = first.tally(first.privatize([0] * 50, rng=dn.simulation(1)))
    assert p.theta(none) == first.theta_of(none) == 0.0
    high = next(
        t
        for seed in range(40)
        if first.theta_of(t := first.tally(first.privatize([9] * 4, rng=dn.simulation(seed)))) > 1
    )
    assert p.theta(high) == 1.0
    assert p.next([every]).share == 0.95
    for guess in (0.1, 0.9):
        own = replace(p, guess=guess).first().mechanism
        assert own.theta == guess
    for share, fine in ((0, False), (0.5, True), (1, False)):
        with refused("first_share must be between 0 and 1", fine):
            replace(p, first_share=share)
    with refused("form must be null or glutf"):
        replace(p, form="paper")


def test_no_step_discloses_more_often_than_is_said() -> None:
    p: Any = dn.protocol("collaborative", epsilon=1.0, k=10, sensitive=4)
    told = p.protection.disclosed
    assert told == pytest.approx(1 - math.exp(-1), abs=1e-12)
    assert told >= 1 - math.exp(-1)
    assert all(p._second(theta).disclosed_chance <= told for theta in (0.01, 0.5, 0.99))


# ---- forged reports


def test_what_a_forged_report_discloses_costs_the_server_one_look() -> None:
    work = {
        name: float(MECHANISMS[DESIGNS[name][0]].traits.work(design(name), 10))
        for name in ("sets", "bits", "answers", "hashes", "one", "two sizes", "budgets")
    }
    assert work == {
        "sets": 2.0,
        "bits": 2.0,
        "answers": 2.0,
        "hashes": 1.0 + 4 * 3,
        "one": 2.0,
        "two sizes": 2.0,
        "budgets": 2.0,
    }


@pytest.mark.parametrize(("budgets", "theta"), [("4,2,3,1", 0.5), ("4,3,2,3", 0.95), ("1,0.2,0.5,0.5", 0.05)])
def test_a_forger_of_budgets_takes_the_answers_with_most_room(budgets: str, theta: float) -> None:
    """All four that are sensitive are the most of which bits can be forged, however many targets there are."""
    m = dn.mechanism("uue-levels", k=6, sensitive=4, item_epsilon=budgets, theta=theta)
    law: Any = m.law  # type: ignore[attr-defined]
    rooms = sorted(((1 - law.base.q) / law.base.gap).tolist(), reverse=True)
    assert rooms[0] > 1.03 * rooms[-1], "rooms differ"
    for r in (1, 2, 3, 4, 5, 6):
        wanted = max(sum(rooms[:r]), 1 / law.z)
        assert float(MECHANISMS["uue-levels"].traits.pull(m, r)) == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize(
    "name", ["sets", "sets as ULDP", "bits as ULDP", "bits and values", "answers as ULDP", "one", "all", "two sizes"]
)
def test_no_report_does_more_for_a_forger_than_is_told(name: str) -> None:
    """Every report that can be sent, alone: the largest estimates of its best targets, by the integers sampled."""
    m = design(name)
    columns = every(m.bulk)
    fine = np.flatnonzero(m.bulk.possible(columns)).tolist()
    found = []
    for i in fine:
        reports = dn.Reports(m.design, m.fields, one(columns, i), True)
        found.append(-np.sort(-m.estimate(m.tally(reports)).value))
    sums = np.cumsum(np.array(found), axis=1).max(axis=0)
    pull = MECHANISMS[DESIGNS[name][0]].traits.pull
    for r in range(1, 7):
        assert float(pull(m, r)) == pytest.approx(float(sums[r - 1]), rel=1e-6), r


# ---- small print


def test_every_budget_but_a_single_largest_one_is_compared() -> None:
    """With nothing harmless the item of the largest budget is compared to no other; where something is, all are."""
    m = dn.mechanism("uue-levels", k=3, sensitive=3, item_epsilon="0.5,1,2")
    ratios = m.item_ratios  # type: ignore[attr-defined]
    found = [(ratio, witness.likely) for ratio, witness in m.proof.ratios]
    assert found == [(ratios[1], 1), (ratios[0], 0)]
    some = dn.mechanism("uue-levels", k=4, sensitive=3, item_epsilon="0.5,1,2")
    assert [witness.likely for _, witness in some.proof.ratios] == [2, 1, 0]
    for ratio, level in zip((r for r, _ in some.proof.ratios), (2.0, 1.0, 0.5), strict=True):
        assert math.log(ratio) <= level


def test_designs_that_disclose_draw_no_blind_counts() -> None:
    m = design("one")
    with refused("blind must be 0 for kernels that disclose"):
        m.bulk.simulate_counts(np.full(7, 10), dn.simulation(1), 1)
    cells = m.bulk.simulate_counts(np.full(7, 10), dn.simulation(1))
    assert cells["n"].sum() == 70
    assert cells["n"][1] == cells["disclosed"][1].sum()
    assert [design(name).bulk.knows_counts for name in ("one", "sets", "hashes", "noise")] == [True, True, False, False]


@pytest.mark.parametrize("name", ["sets", "sets as ULDP", "bits and values", "answers as ULDP", "one"])
def test_counts_that_are_drawn_have_the_means_of_reports(name: str) -> None:
    """70,000 people: estimates within 6 standard errors of the truth (alpha below 1e-7), seed 6; not of another one."""
    m = design(name)
    counts = np.array([20_000, 0, 10_000, 5_000, 25_000, 0, 10_000])
    tally = m.simulate_tally(counts, dn.simulation(6))
    assert tally.n == 70_000
    found = m.estimate(tally)
    truth = counts / 70_000
    assert (np.abs(found.value - truth) <= 6 * found.stderr + 1e-12).all()
    assert (np.abs(found.value - np.roll(truth, 1)) > 20 * found.stderr).any()


def test_both_steps_are_pooled_and_there_are_no_more() -> None:
    p: Any = dn.protocol("collaborative", epsilon=1.0, k=10, sensitive=4)
    first = p.first().mechanism
    one_tally = first.tally(first.privatize(np.arange(100) % 10, rng=dn.simulation(1)))
    second = p.next([one_tally]).mechanism
    other = second.tally(second.privatize(np.arange(1900) % 10, rng=dn.simulation(2)))
    found = p.next([one_tally, other])
    assert found.n == 2000
    one_value, two_value = first.estimate(one_tally).value, second.estimate(other).value
    assert found.value == pytest.approx(0.05 * one_value + 0.95 * two_value, rel=1e-9)
    for tallies in ([], [one_tally, other, other]):
        with refused(r"tallies must be one tally per step that is over \(1 or 2\)"):
            p.next(tallies)
