"""What a plan says is true of every design that it names, and said in numbers that people can read."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np
import pytest

import deniable as dn
from deniable.core.protection import weakest
from tiers import every

LIMITS = [
    (20, {"max_bytes": 12}),
    (20, {"max_asr": 1.0}),
    (20, {"max_poisoning": 0.3}),
    (300, {"max_poisoning": 0.05}),
    (20, {"weight": 0.9, "max_poisoning": 0.15}),
]


@pytest.mark.parametrize(("k", "limits"), every(2, LIMITS))
def test_a_design_that_cannot_be_sampled_is_passed_over_where_epsilon_is_looked_for(k, limits):
    """At large epsilon the integers of some designs cannot follow their ideal: no reason to fail for all of them."""
    found = dn.plan(k=k, n=20_000, target_error=0.02, **limits)
    if found.best is not None:
        assert found.best.stderr <= 0.02
    assert found.best is not None or found.closest is not None


# ---- who is protected from what


SENSITIVE = [{"epsilon": 1.0, "n": 10_000}, {"target_error": 0.01, "n": 10_000}, {"target_error": 0.01, "epsilon": 1.0}]


@pytest.mark.parametrize("asked", every(2, SENSITIVE))
def test_statements_about_several_designs_hold_for_each_of_them(asked):
    found = dn.plan(k=20, sensitive=5, **asked)
    lead, *others = found.protection
    first = found.best.mechanism.protection
    assert lead == first.text
    seen = set()
    for d in found.designs:
        own = d.mechanism.protection
        if (own.kind, own.disclosed, own.sensitive) == (first.kind, first.disclosed, first.sensitive):
            continue
        group = [
            e.mechanism.protection
            for e in found.designs
            if e.mechanism.protection.kind == own.kind and e.mechanism.protection.disclosed != first.disclosed
        ]
        worst = max(p.epsilon for p in group), max(p.disclosed for p in group)
        text = next(text for text in others if ": Protects every" in text) if own.kind == "LDP" else others[0]
        told = replace(own.against(worst[0]), disclosed=worst[1]).text
        short = worst[0] == first.epsilon and own.kind == first.kind
        assert text.split(": ", 1)[1] == (told[told.index("Harmless") :] if short else told), d.name
        assert ("(told for the largest epsilon among them)" in text) == (len({p.epsilon for p in group}) > 1)
        seen.add(own.kind)
    assert "ULDP" in seen, "designs that disclose harmless answers more often than the first are told"


def test_the_weakest_of_several_claims_is_implied_by_each():
    one = dn.mechanism("urr", **SMALL).protection
    two = dn.mechanism("uss", **SMALL | {"epsilon": 0.5}).protection
    both = weakest([one, two])
    assert both.epsilon == 1.0
    assert both.disclosed == max(one.disclosed, two.disclosed)


SMALL = {"k": 6, "sensitive": 2, "epsilon": 1.0}


@pytest.mark.parametrize(
    ("name", "options", "holds", "breaks"),
    [
        ("pldp", {"k": 3, "levels": "0.5,2", "level_epsilon": 1.0, "base": "sue"}, 3.0, 1.0),
        ("uue-levels", {"k": 4, "sensitive": 2, "item_epsilon": "0.5,2"}, 1.0, 0.1),
        ("uss", {"k": 4, "sensitive": 2, "epsilon": 1.0}, 3.0, 0.5),
    ],
)
def test_an_audit_of_another_promise_says_that_promise_and_not_the_own_one(name, options, holds, breaks):
    m = dn.mechanism(name, **options)
    own = m.protection.text
    assert dn.audit(m).verdict == f"The promise is kept. {own}"
    for epsilon in (holds, breaks):
        found = dn.audit(m, epsilon=epsilon)
        assert found.holds == (epsilon == holds)
        assert own not in found.verdict
        assert f"e^{epsilon:g} = " in found.verdict


# ---- if no design will do


def test_whoever_asks_too_much_hears_what_comes_closest_and_how_many_people_it_takes():
    means = dn.plan(question="mean", interval=(0, 100), epsilon=1.0, n=10_000, target_error=0.5)
    assert "the closest is om" in means.message
    people = int(re.search(r"That error takes ([\d,]+) people", means.message)[1].replace(",", ""))
    assert dn.plan(question="mean", interval=(0, 100), epsilon=1.0, n=people, target_error=0.5).feasible
    assert not dn.plan(question="mean", interval=(0, 100), epsilon=1.0, n=people - 1, target_error=0.5).feasible
    keys = {"k": 50, "epsilon": 2.0, "target_error": 0.005}
    found = dn.plan(question="key-value", n=10_000, **keys)
    people = int(re.search(r"That error takes ([\d,]+) people", found.message)[1].replace(",", ""))
    assert dn.plan(question="key-value", n=people, **keys).feasible
    near = dn.plan(question="release", points=40, epsilon=2.0, target_error=5.0)
    assert "the closest is codebook (size = 3): expected loss 6.238 instead of at most 5" in near.message
    assert near.document()["closest"]["mechanism"] == "codebook"
    assert "closest" not in dn.plan(question="release", points=40, epsilon=2.0).document()


def test_a_limit_below_a_blind_guess_is_told_for_every_question():
    words = "Without any report a guess is right"
    assert words in dn.plan(question="mean", interval=(0, 1), epsilon=1.0, n=100, max_asr=0.5).message
    assert words in dn.plan(question="key-value", k=50, epsilon=2.0, n=100, max_asr=0.005).message
    closest = dn.plan(question="key-value", k=50, epsilon=2.0, n=100, max_asr=0.005).nearest()
    assert closest.asr < 0.0115, "with its parameter moved as far as it goes"


def test_sensitive_answers_that_no_design_makes_use_of_are_told():
    found = dn.plan(k=20, n=10_000, epsilon=1.0, sensitive=5, max_asr=0.2)
    assert found.best.mechanism.protection.kind == "LDP"
    assert any("no design here makes use of sensitive" in note and "miss the limits" in note for note in found.notes)
    assert not dn.plan(k=20, n=10_000, epsilon=1.0, sensitive=5).notes
    first = dn.plan(k=20, n=10_000, epsilon=1.0, sensitive=5, weights={"work": 1}, top=1)
    assert first.best.name == "grr"
    assert not any("makes use of" in note for note in first.notes), "others are further down"


# ---- what beats what


@pytest.mark.parametrize("where", [{"points": 10}, {"points": 40}, {"interval": (0, 10)}])
def test_near_answers_are_beaten_in_what_is_said_and_no_more_is_said(where):
    found = dn.plan(question="release", epsilon=2.0, **where)
    columns = {"loss": "loss", "worst loss": "worst", "bytes": "bytes"}
    assert found.compared == "loss, worst loss and bytes"
    beaten = [d for d in found.designs if d.beaten_by]
    assert beaten
    for d in beaten:
        winner = next(w for w in found.designs if w.title == d.beaten_by)
        assert all(getattr(winner, name) <= getattr(d, name) * (1 + 1e-6) for name in columns.values())
        assert f"at least as good in {found.compared}: " in d.why
    assert any(d.asr < next(w for w in found.designs if w.title == d.beaten_by).asr for d in beaten), "not everything"
    assert any(isinstance(part, str) and f"at least as good in {found.compared}: " in part for part in found.parts())


def test_people_for_evenly_spread_numbers_are_enough_and_agree_with_what_beats_what():
    found = dn.plan(question="mean", interval=(0, 100), epsilon=1.0, target_error=0.5)
    cell = found.columns["evenly spread"]
    people = {d.name: int(cell(d).replace(",", "")) for d in found.designs}
    for d in found.designs:
        assert math.sqrt(d.mechanism.properties(people[d.name])["variance_mean"]) <= 0.5
        if d.beaten_by:
            assert people[d.beaten_by.split()[0]] <= people[d.name]
    assert "evenly spread: people that are enough where all values are equally likely" in found.legend
    assert "evenly spread: the same where" in dn.plan(question="mean", interval=(0, 100), epsilon=1.0, n=100).legend


def test_of_designs_that_take_as_many_people_the_one_with_the_least_error_is_first():
    found = dn.plan(question="mean", interval=(0, 100), epsilon=1.0, target_error=1000)
    assert {d.n for d in found.designs} == {1}
    assert found.best.stderr == min(d.stderr for d in found.designs)
    assert found.message.startswith("1 person is enough")


def test_more_interest_in_frequencies_never_makes_them_worse():
    """Where hardly anybody would send pairs, other shares of those who do are tried, not only all."""
    errors = [
        dn.plan(question="key-value", k=50, n=10_000, epsilon=2.0, interest=i).best.stderr for i in (1.0, 10.0, 1e6)
    ]
    assert errors == sorted(errors, reverse=True)


# ---- numbers and words


def test_large_numbers_are_written_out():
    found = dn.plan(k=2, n=1, epsilon=0.01)
    assert "a standard error of 10,000 percentage points" in found.message
    assert found.columns["error"](found.best) == "10,000 pt"
    weak = dn.plan(k=100_000, n=1000, epsilon=40.0)
    cells = [weak.columns["excess"](d) for d in weak.designs]
    assert all(len(cell) <= 13 for cell in cells), cells
    assert "> 1,000,000 %" in cells
    assert dn.plan(question="mean", interval=(0, 1e6), n=1, epsilon=1.0).message.count("999,400") == 1
    assert "156,2" in dn.plan(question="release", interval=(0, 1e6), epsilon=2.0).message


def test_a_parameter_near_a_whole_number_is_not_told_as_one():
    found = dn.plan(k=20, n=10_000, epsilon=1.0, max_asr=0.0500001)
    p = found.best.mechanism.params["p"]
    assert found.best.title == f"ue (p = {p!r})"
    assert "(p = 1)" not in found.message


@pytest.mark.parametrize(
    "ask",
    [
        lambda **w: dn.plan(k=20, n=10_000, epsilon=1.0, **w),
        lambda **w: dn.plan(question="key-value", k=20, n=10_000, epsilon=1.0, **w),
        lambda **w: dn.plan(question="release", points=20, epsilon=2.0, **w),
        lambda **w: dn.plan(question="mean", interval=(0, 1), n=100, epsilon=1.0, **w),
    ],
)
def test_weights_that_leave_out_the_error_are_told_and_called_no_compromise(ask):
    words = "the error has no weight"
    alone = ask(weight=1.0)
    assert any(words in note for note in alone.notes)
    assert "has the lowest chance of a right guess" in alone.message
    some = ask(weight=0.5)
    assert not any(words in note for note in some.notes)
    assert "is the best compromise" in some.message
    limited = dn.plan(k=20, n=10_000, epsilon=1.0, target_error=0.05, weight=1.0)
    assert limited.best.stderr <= 0.05
    assert not any(words in note for note in limited.notes), "the target says of what size it may be"
    with pytest.raises(dn.ParameterError, match="Did you mean error"):
        ask(weights={"eror": 1})


def test_limits_are_told_with_the_answer_to_every_question():
    for found in (
        dn.plan(question="key-value", k=50, n=10_000, epsilon=2.0, max_bytes=1),
        dn.plan(question="release", points=40, epsilon=2.0, max_bytes=1),
        dn.plan(question="mean", interval=(0, 1), n=100, epsilon=1.0, max_bytes=1),
    ):
        assert "within the limits (bytes at most 1)" in found.message


# ---- cautions


def test_a_grid_that_counts_for_more_than_the_noise_is_told():
    coarse = dn.plan(question="mean", interval=(0, 100), n=10_000, epsilon=1.0, points=2)
    assert any("rounded to 2 points first, which may move the mean by up to 25: more than" in x for x in coarse.notes)
    m = coarse.best.mechanism
    moved = [abs(np.asarray(m.grid.points)[m.domain.encode([x])[0]] - x) for x in (0.0, 49.999, 100.0)]
    assert max(moved) == pytest.approx(25.0, abs=0.01)
    assert any(
        "rounded to 1,024 points" in x for x in dn.plan(question="mean", interval=(0, 100), n=10**12, epsilon=9.0).notes
    )
    assert dn.plan(question="mean", interval=(0, 100), n=10_000, epsilon=1.0).notes == ()


def test_near_answers_that_are_worse_than_a_constant_are_called_so():
    found = dn.plan(question="release", points=40, epsilon=0.1, weight=1.0)
    assert found.best.saved < -0.1
    assert "worse than one constant answer" in found.notes[-1]
    assert f"{100 * -found.best.saved:.3g} % more than one constant answer" in found.message
    flat = dn.plan(question="release", points=10, epsilon=0.01)
    assert 0 < flat.best.saved < 0.1
    assert "hardly better than one constant answer" in flat.notes[-1]


def test_on_an_interval_the_guess_is_said_to_be_that_of_a_cell():
    assert "of the cell that a value is in" in dn.plan(question="release", interval=(0, 10), epsilon=2.0).legend
    assert "of the cell" not in dn.plan(question="release", points=10, epsilon=2.0).legend
