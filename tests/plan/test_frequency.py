"""Plans: predictions are the mechanisms' own, ranking and limits hold, and the registry is all there is."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import deniable as dn
from deniable.core.frontier import frontier_mse, least_mse
from deniable.mechanisms import registry
from deniable.mechanisms.entry import Traits
from deniable.mechanisms.frequency.grr import GRR
from deniable.mechanisms.registry import MECHANISMS
from deniable.plan.candidates import recipes

SETTINGS = [(2, 1.0), (16, 0.5), (100, 4.0), (1000, 1.0)]


def zipf(k):
    pi = 1 / np.arange(1, k + 1)
    return pi / pi.sum()


@pytest.mark.parametrize(("k", "epsilon"), SETTINGS)
def test_predictions_are_the_mechanisms_own_closed_forms(k, epsilon):
    found = dn.plan(k=k, n=12_345, epsilon=epsilon)
    for d in found.designs:
        m = dn.mechanism(d.name, epsilon=epsilon, k=k, **d.options)
        own = m.properties(12_345)
        assert m == d.mechanism
        assert (d.mse, d.asr, d.bits, d.bytes) == (own["mse"], own["asr"], own["bits"], own["bytes"])
        assert (d.bound, d.gap, d.stderr) == (own["bound"], own["gap"], math.sqrt(own["mse"]))
        assert d.blind == 1 / k
        assert d.document()["epsilon_exact"] == m.epsilon_exact <= epsilon
        assert d.mse >= least_mse(k, epsilon, 12_345) * (1 - 1e-12)
        assert d.why.endswith(".")


@pytest.mark.parametrize(("k", "epsilon"), SETTINGS)
def test_every_mechanism_is_ranked_or_told_why_not(k, epsilon):
    found = dn.plan(k=k, n=1000, epsilon=epsilon)
    names = {d.name for d in found.designs} | {o.title.partition(" ")[0] for o in found.out}
    assert names == {r.name for r in recipes({})}
    assert {"grr", "ss", "ue", "oue", "sue", "lh", "olh", "blh", "plh", "the", "she", "wheel", "hr", "pgr"} <= names
    errors = [d.stderr for d in found.designs[found.designs[0].name == "affine" :]]
    assert all(b >= a * (1 - 1e-9) for a, b in pairwise(errors))
    assert found.designs[0].stderr <= errors[0] * 1.005


@pytest.mark.parametrize(("k", "epsilon"), SETTINGS[1:])
def test_subset_selection_is_first_by_error(k, epsilon):
    """Up to reports of a few bytes; from there on, the same law in a few bytes goes ahead."""
    plan = dn.plan(k=k, n=1000, epsilon=epsilon)
    sets = next(d for d in plan.designs if d.name == "ss")
    assert sets.gap == pytest.approx(0, abs=1e-12)
    assert sets.why.startswith("The least error")
    assert plan.best.name == ("affine" if k == 1000 else "ss")


@pytest.mark.parametrize(
    ("k", "epsilon", "first"),
    [
        (50, 1.0, "ss"),  # 7 bytes are not long
        (65, 1.0, "ss"),  # 9 bytes are not six times two
        (100, 1.0, "affine"),
        (114, 1.0, "ss"),  # the next prime is far: .2 % more error
        (114, 4.0, "ss"),  # 3.6 % more: affine has no design
        (400, 1.0, "affine"),
        (401, 4.0, "affine"),  # .3 % more error, and 2 bytes instead of 51
        (500, 6.0, "grr"),
        (3000, 2.0, "affine"),
    ],
)
def test_affine_is_first_where_it_is_as_good_in_far_fewer_bytes(k, epsilon, first):
    plan = dn.plan(k=k, n=100_000, epsilon=epsilon)
    assert plan.best.name == first
    if first == "affine":
        sets = next(d for d in plan.designs if d.name == "ss")
        assert 6 * plan.best.bytes <= sets.bytes
        assert plan.best.gap <= (1e-3 if sets.bytes <= 50 else 1e-2)


def test_only_shares_are_answered_in_fewer_bytes_at_once():
    """Whoever asks for the fewest people, or weighs, gets what is least."""
    found = dn.plan(k=1000, epsilon=1.0, target_error=0.01)
    assert found.best.n == min(d.n for d in found.designs)
    weighed = dn.plan(k=1000, n=100_000, epsilon=1.0, weight=0.5)
    assert weighed.best.score == pytest.approx(min(d.score for d in weighed.designs), rel=1e-9)


@pytest.mark.parametrize(
    ("limits", "first"),
    [
        ({"max_bits": 20}, {"affine"}),
        ({"max_bits": 12}, {"pgr", "hr"}),
        ({"max_bytes": 9}, {"affine"}),
        ({"max_work": 10}, {"affine"}),
        ({"max_work": 5}, {"pgr", "hr"}),
    ],
)
def test_limits_on_reports_and_server_bring_the_short_and_quick_ones(limits, first):
    found = dn.plan(k=1000, n=100_000, epsilon=1.0, **limits)
    ((name, most),) = limits.items()
    assert found.best.name in first
    assert all(getattr(d, name.removeprefix("max_")) <= most for d in found.designs)
    assert all("instead of at most" in o.reason for o in found.out if o.design is not None)


@pytest.mark.parametrize("asr", [0.02, 0.05, 0.1, 0.2])
def test_a_limit_on_the_best_guess_is_met_at_the_least_error(asr):
    found = dn.plan(k=100, n=1000, epsilon=4.0, max_asr=asr)
    for d in found.designs:
        m = dn.mechanism(d.name, epsilon=4.0, k=100, **d.options)
        assert m.guess().success <= asr
    assert found.best.name == "ssmix"
    assert found.best.mse == pytest.approx(frontier_mse(100, 4.0, asr, 1000), rel=1e-6)
    sizes = [dn.mechanism("ss", epsilon=4.0, k=100, size=s) for s in range(1, 100)]
    least = min((m for m in sizes if m.asr <= asr), key=lambda m: m.mse())
    assert {d.mechanism.size for d in found.designs if type(d.mechanism) is type(least)} == {least.size}


def test_variants_are_the_best_of_their_family_under_any_limit():
    """Against a plain search over all values."""
    found = dn.plan(k=60, n=1000, epsilon=3.0, max_asr=0.15, max_poisoning=0.1, max_work=2_000)
    plh = [dn.mechanism("plh", epsilon=3.0, k=60, g=g) for g in range(2, 61)]
    traits = MECHANISMS["plh"].traits
    able = [m for m in plh if m.asr <= 0.15 and 0.01 * traits.pull(m, 10) <= 0.1 and traits.work(m, 1000) <= 2_000]
    best = min(able, key=lambda m: m.mse())
    assert [d.mechanism.g for d in found.designs if d.name == "plh"] == [best.g]


def test_a_prior_counts_in_the_best_guess():
    pi = zipf(50)
    found = dn.plan(k=50, n=1000, epsilon=2.0, prior=pi, max_asr=0.3)
    assert found.designs
    for d in found.designs:
        guess = d.mechanism.guess(pi)
        assert (d.asr, d.blind) == (guess.success, guess.blind)
        assert d.asr <= 0.3
    assert any("best guess" in o.reason for o in found.out)


def test_weights_move_the_choice_from_error_to_the_best_guess():
    plans = [dn.plan(k=100, n=1000, epsilon=4.0, weight=w) for w in (0.0, 0.3, 0.6, 0.9)]
    asrs = [p.best.asr for p in plans]
    assert asrs == sorted(asrs, reverse=True)
    assert len(set(asrs)) == 4
    even = dn.plan(k=100, n=77, epsilon=4.0, weight=0.5)
    assert (even.best.name, even.best.mechanism.size) == ("ssmix", 3)
    assert even.best.mechanism.share == pytest.approx(0.9348, abs=1e-3)


def test_weights_of_anything():
    light = dn.plan(k=1000, n=100_000, epsilon=1.0, weights={"error": 1, "bits": 1, "work": 1})
    assert light.best.name in ("pgr", "hr")
    guarded = dn.plan(k=100, n=1000, epsilon=4.0, weights={"error": 1, "poisoning": 5})
    assert guarded.best.poisoning < dn.plan(k=100, n=1000, epsilon=4.0).best.poisoning
    with pytest.raises(dn.ParameterError, match="weights must be named by error, asr, bits, work, poisoning"):
        dn.plan(k=100, n=1000, epsilon=4.0, weights={"speed": 1})


def test_no_design_meets_what_cannot_be_met():
    found = dn.plan(k=100, n=1000, epsilon=4.0, max_asr=0.05, max_bits=3)
    assert not found.feasible
    assert found.best is None
    near = found.closest
    assert found.message == (
        f"No design meets the limits (best guess at most 0.05, bits at most 3); the closest is {near.title}: "
        f"bits {near.bits:.4g} instead of at most 3."
    )
    ratios = [max(o.design.asr / 0.05, o.design.bits / 3) for o in found.out if o.design is not None]
    assert len(ratios) > 15
    assert max(near.asr / 0.05, near.bits / 3) == pytest.approx(min(ratios))


def test_no_report_helps_less_than_none():
    found = dn.plan(k=10, n=1000, epsilon=1.0, max_asr=0.09)
    assert not found.feasible
    assert "Without any report a guess is right 10 % of the time already." in found.message


def test_what_a_target_takes_is_told_where_it_is_missed():
    found = dn.plan(k=100, n=1000, epsilon=1.0, target_error=0.01)
    assert not found.feasible
    assert found.message.startswith("No design meets the limits (standard error at most 0.01); the closest is ")
    n = dn.plan(k=100, epsilon=1.0, target_error=0.01).best.n
    epsilon = dn.plan(k=100, n=1000, target_error=0.01).best.mechanism.epsilon
    assert f"That error takes {n:,} reports" in found.message
    assert f"or epsilon {epsilon!r}." in found.message
    assert dn.plan(k=100, n=n, epsilon=1.0, target_error=0.01).feasible
    assert not dn.plan(k=100, n=n - 1, epsilon=1.0, target_error=0.01).feasible


def test_what_differs_by_nothing_that_counts_is_no_reason_for_a_choice():
    """`aue` guesses 0.35 % worse than `ass` and errs 1.3 % more: nobody should have to choose between the two."""
    found = dn.plan(k=100, n=100_000, epsilon=1.0)
    named = {d.name: d for d in found.designs}
    aue, ass = named["aue"], named["ass"]
    assert ass.stderr < aue.stderr
    assert aue.asr < ass.asr < 1.005 * aue.asr
    assert aue.beaten_by == ass.title
    assert "at least as good in everything, up to half a percent: " in aue.why
    assert "at least as good in everything: " in named["plh"].why  # which is so without any allowance
    assert not named["pgr"].beaten_by


def test_a_plan_is_a_frame():
    found = dn.plan(k=16, n=1000, epsilon=1.0)
    columns = found.to_columns()
    assert columns["mechanism"] == [d.name for d in found.designs]
    assert columns["mse"] == [d.mse for d in found.designs]
    assert {"design", "epsilon", "asr", "bytes", "beaten_by", "why"} <= set(columns)
    assert len(found.to_frame()) == len(found.designs)


def test_beaten_designs_are_named_and_the_others_win_somewhere():
    found = dn.plan(k=100, n=1000, epsilon=4.0)
    aspects = [(d.stderr, d.asr, d.bytes, d.work, d.poisoning) for d in found.designs]
    for d, mine in zip(found.designs, aspects, strict=True):
        better = [o for o in aspects if all(x <= y for x, y in zip(o, mine, strict=True)) and o != mine]
        clearly = [o for o in better if any(x < 0.99 * y for x, y in zip(o, mine, strict=True))]
        assert bool(d.beaten_by) or not clearly, d.title
    she = next(d for d in found.designs if d.name == "she")
    assert she.beaten_by
    assert she.why.startswith("Beaten by")


def test_top_cuts_the_list_and_nothing_else():
    every, two = (dn.plan(k=16, n=1000, epsilon=1.0, top=top) for top in (None, 2))
    assert [d.title for d in two.designs] == [d.title for d in every.designs[:2]]
    assert len(every.designs) > 8
    with pytest.raises(dn.ParameterError, match="top must be an integer >= 1"):
        dn.plan(k=16, n=1000, epsilon=1.0, top=0)


def test_labels_stay_with_the_design():
    found = dn.plan(labels=["no", "yes", "maybe"], n=1000, epsilon=1.0)
    assert found.best.mechanism.design["domain"] == {"labels": ["no", "yes", "maybe"]}


def test_frontier_is_what_ssmix_attains():
    found = dn.plan(k=100, n=1000, epsilon=4.0)
    assert len(found.frontier) > 100
    for row in found.frontier[::23]:
        m = dn.mechanism("ssmix", epsilon=4.0, k=100, size=row["size"], share=row["share"])
        assert (m.asr, m.mse(1000)) == pytest.approx((row["asr"], row["mse"]), rel=1e-9)
    asrs = [row["asr"] for row in found.frontier]
    assert asrs == sorted(asrs, reverse=True)


def test_document_is_plain_json_with_designs_best_first():
    found = dn.plan(k=100, n=1000, epsilon=1.0, max_asr=0.018)
    document = json.loads(json.dumps(found.document(), allow_nan=False))
    assert set(document) == {"request", "feasible", "message", "next", "notes", "designs", "out", "frontier", "design"}
    keys = "mechanism params options epsilon epsilon_exact k n stderr mse asr blind bits bytes work poisoning bound gap"
    assert set(document["designs"][0]) == {*keys.split(), "beaten_by", "why", "protection", "vetted"}
    assert [d["mechanism"] for d in document["designs"]] == [d.name for d in found.designs]
    assert document["designs"][0]["stderr"] == found.best.stderr
    assert document["design"] == json.loads(json.dumps(found.best.mechanism.design))


# ---- the registry


def test_a_new_row_is_planned_without_further_ado(monkeypatch):
    row = replace(MECHANISMS["grr"], traits=Traits(MECHANISMS["grr"].traits.work))
    monkeypatch.setitem(registry.MECHANISMS, "mine", row)
    found = dn.plan(k=3, n=1000, epsilon=4.0)
    mine = next(d for d in found.designs + tuple(o for o in found.out) if getattr(d, "title", "").startswith("mine"))
    assert "grr" in mine.reason
    limited = dn.plan(k=3, n=1000, epsilon=4.0, max_poisoning=10)
    assert any(o.title == "mine" for o in limited.out)


def test_a_new_row_of_another_kind_is_ranked(monkeypatch):
    def half(*, epsilon, domain):
        return registry.mechanism("grr", epsilon=epsilon / 2, domain=domain)

    monkeypatch.setitem(registry.MECHANISMS, "half", replace(MECHANISMS["grr"], make=half, traits=Traits()))
    found = dn.plan(k=3, n=1000, epsilon=2.0)
    mine = next(d for d in found.designs if d.name == "half")
    assert (mine.work, mine.poisoning) == (None, None)
    assert mine.mse == dn.mechanism("grr", epsilon=1.0, k=3).mse(1000)
    assert mine.document()["work"] is None
    limited = dn.plan(k=3, n=1000, epsilon=2.0, max_work=50)
    assert {o.title: o.reason for o in limited.out}["half"] == "work not known"


def test_rows_for_another_question_are_no_rivals(monkeypatch):
    monkeypatch.setitem(registry.MECHANISMS, "other", replace(MECHANISMS["grr"], question="mean"))
    names = {r.name for r in recipes({})}
    assert "other" not in names
    assert "grr" in names
    assert {MECHANISMS[name].question for name in names} == {"frequency"}


def test_rows_that_cannot_be_made_say_why(monkeypatch):
    def never(*, epsilon, domain):
        raise dn.ParameterError("k must be 2, got 3.")

    monkeypatch.setitem(registry.MECHANISMS, "never", replace(MECHANISMS["grr"], make=never))
    found = dn.plan(k=3, n=10, epsilon=1.0)
    assert {o.title: o.reason for o in found.out}["never"] == "cannot be made: k must be 2, got 3."


def test_rows_without_an_error_to_compare_are_out(monkeypatch):
    class Odd(GRR):
        def properties(self, n=1):
            return {"loss": 1.0}

    def make(*, epsilon, domain):
        return Odd(epsilon=epsilon, domain=domain)

    monkeypatch.setitem(registry.MECHANISMS, "odd", replace(MECHANISMS["grr"], cls=Odd, make=make))
    reasons = {o.title: o.reason for o in dn.plan(k=3, n=10, epsilon=1.0).out}
    assert reasons["odd"].startswith("cannot be made: odd has no mse and no asr")
    small = {o.title: o.reason for o in dn.plan(k=3, n=10_000, target_error=0.01).out}
    assert "odd" in small


def test_options_that_are_given_bring_in_the_rows_that_need_them():
    plain, harmless = (dn.plan(k=20, n=1000, epsilon=1.0, given=given) for given in ({}, {"sensitive": 5}))
    assert not any(d.name.startswith("u") and d.name != "ue" for d in plain.designs)
    assert harmless.best.name == "uss"
    assert harmless.best.mse == dn.mechanism("uss", epsilon=1.0, k=20, sensitive=5).properties(1000)["mse"]
    with pytest.raises(dn.ParameterError, match="given must be named by options of mechanisms"):
        dn.plan(k=20, n=1000, epsilon=1.0, given={"sensitiv": 5})
