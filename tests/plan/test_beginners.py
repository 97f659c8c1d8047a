"""The planner protects a beginner: no crash, no unknown that counts as zero, no odd first advice, words of caution."""

from __future__ import annotations

import math
import re
from itertools import product

import numpy as np
import pytest

import deniable as dn
from deniable.core.space import Space
from deniable.mechanisms import registry
from deniable.mechanisms.entry import Traits
from deniable.mechanisms.registry import MECHANISMS
from tiers import every


@pytest.mark.parametrize("sensitive", [1, *(pytest.param(s, marks=pytest.mark.slow) for s in (5, 2, 19, 20, [3, 7]))])
def test_a_target_with_sensitive_answers_finds_the_smallest_epsilon(sensitive):
    found = dn.plan(k=20, n=10_000, target_error=0.01, sensitive=sensitive)
    best = found.best
    assert best.stderr <= 0.01
    step = best.mechanism.epsilon - 1e-6
    m = dn.mechanism(best.name, epsilon=step, k=20, **best.options)
    assert math.sqrt(m.properties(10_000)["mse"]) > 0.01
    mixed = [d for d in found.designs if d.name == "ussmix"]
    assert all(d.mechanism.epsilon <= best.mechanism.epsilon * 1.001 for d in mixed), "nothing beats the optimum"


def test_sensitive_is_an_argument_and_a_typo_in_it_an_error_at_once():
    found = dn.plan(labels=["ill", "well", "gone"], n=1000, epsilon=1.0, sensitive=["ill"])
    assert found.best.mechanism.protection.kind == "ULDP"
    same = dn.plan(labels=["ill", "well", "gone"], n=1000, epsilon=1.0, given={"sensitive": ["ill"]})
    assert same.document() == found.document()
    for target in ({"epsilon": 1.0}, {"target_error": 0.01}):
        with pytest.raises(dn.ParameterError, match=r"sensitive must be among the 3 labels .*, got 'il'"):
            dn.plan(labels=["ill", "well", "gone"], n=1000, sensitive="il", **target)
        with pytest.raises(dn.ParameterError, match="sensitive must name at least one answer, got 0"):
            dn.plan(k=20, n=1000, sensitive=0, **target)
    with pytest.raises(dn.ParameterError, match="levels must be"):
        dn.plan(k=20, n=1000, epsilon=2.0, given={"levels": "0.5,one"})
    with pytest.raises(dn.ParameterError, match="left out if `given` has it"):
        dn.plan(k=20, n=1000, epsilon=2.0, sensitive=2, given={"sensitive": 2})


def test_levels_are_planned_with_their_work_and_their_bound():
    found = dn.plan(k=10, n=1000, epsilon=2.0, given={"levels": "0.5,2", "level_epsilon": 1.0}, max_work=1e6)
    own = next(d for d in found.designs if d.name == "pldp")
    assert own.gap > 1
    assert own.work > 0
    assert own.poisoning > 0


def test_what_is_unknown_is_never_told_as_zero(monkeypatch):
    for name in ("uss", "urr"):
        monkeypatch.setitem(registry.MECHANISMS, name, _without_traits(name))
    found = dn.plan(k=20, n=10_000, epsilon=1.0, sensitive=5)
    mine = next(d for d in found.designs if d.name == "uss")
    assert (mine.work, mine.poisoning) == (None, None)
    assert " 0 points" not in mine.why
    assert "an unknown number of operations" in mine.why
    rows = next(part for part in found.parts() if getattr(part, "rows", None)).rows
    assert next(row for row in rows if row[0] == "uss")[-2:] == ["unknown", "unknown"]


def _without_traits(name):
    from dataclasses import replace

    return replace(MECHANISMS[name], traits=Traits())


PLANS = [
    lambda **more: dn.plan(k=20, n=10_000, epsilon=1.0, sensitive=5, **more),
    lambda **more: dn.plan(k=3, n=500, epsilon=2.0, **more),
    lambda **more: dn.plan(k=100, n=1000, epsilon=4.0, weight=0.5, **more),
    lambda **more: dn.plan(k=50, epsilon=0.5, target_error=0.01, **more),
    *(
        lambda k=k, e=e, i=i, **more: dn.plan(question="key-value", k=k, n=10_000, epsilon=e, interest=i, **more)
        for k, e, i in ((3, 1.0, 0.0), (5, 4.0, 1.0), (50, 2.0, 1.0), (20, 1.0, 0.5), (10, 0.5, 3.0))
    ),
    lambda **more: dn.plan(question="key-value", k=20, n=10_000, epsilon=1.0, length=3, **more),
    lambda **more: dn.plan(question="release", points=30, epsilon=2.0, **more),
    lambda **more: dn.plan(question="key-value", k=20, n=10_000, epsilon=1.0, weights={"error": 1, "bits": 2}, **more),
    lambda **more: dn.plan(question="mean", interval=(0, 100), epsilon=1.0, n=100, **more),
    lambda **more: dn.plan(question="mean", interval=(0, 100), epsilon=2.0, n=100, weight=0.5, **more),
]


@pytest.mark.parametrize(("top", "at"), every(5, product((None, 3), range(len(PLANS)))))
def test_the_first_design_is_beaten_by_none(top, at):
    assert PLANS[at](top=top).best.beaten_by == ""


def test_long_reports_are_no_first_advice():
    found = dn.plan(k=1_000_000, n=100_000, epsilon=1.0)
    least = min(found.designs, key=lambda d: d.stderr)
    assert least.bytes == 125_000 or found.best is least
    assert found.best.bytes <= 12
    assert found.best.stderr <= 1.05 * least.stderr
    only = dn.plan(k=20_000, n=1000, epsilon=0.5, weights={"error": 1, "asr": 0.01})
    assert only.best.stderr == pytest.approx(min(d.stderr for d in only.designs), rel=1e-9)
    assert only.best.bytes == 2500, "weights decide alone"


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"k": 10, "n": 1000, "epsilon": 6.0}, "epsilon 6 protects little, since a report may be e^6 = 404 times"),
        ({"k": 100, "n": 1000, "epsilon": 1.0}, "larger than the average share of an answer (1 point)"),
        ({"k": 4, "n": 1000, "target_error": 0.5}, "a standard error of 50 percentage points tells next to nothing"),
    ],
)
def test_words_of_caution(asked, words):
    assert any(words in note for note in dn.plan(**asked).notes)
    assert not dn.plan(k=4, n=100_000, epsilon=1.0).notes
    assert not dn.plan(question="key-value", k=4, n=1000, epsilon=1.0).notes
    assert "protects little" in dn.plan(question="mean", interval=(0, 1), n=10, epsilon=5.0).notes[0]


def test_the_reports_that_a_caution_asks_for_do():
    n = 36_000
    assert any(f"About {n:,} reports" in note for note in dn.plan(k=100, n=1000, epsilon=1.0).notes)
    assert dn.plan(k=100, n=n, epsilon=1.0).best.stderr == pytest.approx(0.01, rel=0.02)


def test_a_target_of_a_whole_share_or_more_is_refused():
    with pytest.raises(dn.ParameterError, match="target_error must be below 1, got 50"):
        dn.plan(k=4, n=1000, target_error=50)


@pytest.mark.parametrize(
    ("where", "values"),
    [
        ({"points": 30}, np.arange(30.0)),
        ({"points": 7}, np.arange(7.0)),
        pytest.param({"interval": (0, 10)}, np.linspace(0, 10, 200_001), marks=pytest.mark.slow),
        ({"interval": (2, 4), "points": 9, "layout": "endpoints"}, np.linspace(2, 4, 200_001)),
    ],
)
def test_how_much_better_than_a_constant_answer_a_release_is(where, values):
    best = dn.plan(question="release", epsilon=2.0, **where).best
    assert best.constant == pytest.approx(np.abs(values - np.median(values)).mean(), rel=1e-4)
    assert best.saved == pytest.approx(1 - best.loss / best.constant)
    told = dn.plan(question="release", epsilon=2.0, **where).message
    assert f"{100 * best.saved:.3g} % less than one constant answer for everybody" in told


def test_a_release_that_says_hardly_anything_is_called_so():
    table = Space.places([[52.5, 13.4], [48.9, 2.4], [41.9, 12.5]])
    found = dn.plan(question="release", distances=table, epsilon=0.05)
    assert found.best.constant == pytest.approx(table.matrix().mean(axis=0).min())
    assert "no better than one constant answer" in found.notes[0]
    assert found.best.saved < 0.1


@pytest.mark.parametrize("name", ["epsilon", "n", "target_error"])
def test_zero_is_given_and_wrong_not_left_out(name):
    given = {"n": 1000, "epsilon": 1.0} | {name: 0}
    with pytest.raises(dn.ParameterError, match=rf"{name} must be .*, got 0"):
        dn.plan(k=20, **given)


def test_a_mean_that_may_lie_anywhere_is_told():
    for vague in (
        dn.plan(question="mean", interval=(0, 100), epsilon=1.0, target_error=50),
        dn.plan(question="mean", interval=(0, 1), epsilon=1.0, n=1),
    ):
        assert any("the mean may lie nearly anywhere between 0 and 1" in note for note in vague.notes)
    clear = dn.plan(question="mean", interval=(0, 100), epsilon=1.0, n=10_000)
    assert clear.notes == ()
    n = 11_000  # as the caution says
    assert dn.plan(question="mean", interval=(0, 100), epsilon=1.0, n=n).best.stderr == pytest.approx(1.0, rel=0.05)


def test_keys_that_cannot_be_told_apart_are_told():
    few = dn.plan(question="key-value", k=2, n=1, epsilon=1.0)
    assert few.best.rarest > 1
    assert "% of the people have" not in few.message
    assert "even if everybody has it" in few.message
    assert any("larger than the average frequency of a key (50 points at most)" in note for note in few.notes)
    many = dn.plan(question="key-value", k=2, n=100_000, epsilon=1.0)
    assert many.notes == ()
    assert "% of the people have" in many.message


def test_reasons_name_designs_that_are_worth_a_choice_and_say_the_numbers_of_the_table():
    for given in ({"k": 2, "n": 1}, {"k": 20, "n": 10_000}, {"k": 20, "n": 10_000, "sensitive": 5}):
        found = dn.plan(epsilon=1.0, **given)
        beaten = {d.name for d in found.designs} - {d.name for d in found.designs if not d.beaten_by}
        for d in found.designs:
            if d.beaten_by:
                continue
            named = set(re.findall(r"that of ([a-z0-9-]+)|\(([a-z0-9-]+)\)", d.why))
            assert not {name for pair in named for name in pair if name} & beaten, d.why
            told = re.search(r"forged reports add up to ([0-9.,]+) points", d.why)
            assert told is None or f"{told[1]} pt" == found.columns["forged"](d)


def test_what_is_beaten_by_a_design_of_its_own_name_is_told_by_its_parameters():
    found = dn.plan(question="key-value", k=2, n=1000, epsilon=1.0)
    told = next(part for part in found.parts() if isinstance(part, str) and part.startswith("Not worth a choice"))
    assert "kv-ss2 (size = 1) beats kv-ss2 (size = 1, encoding = cyclic)" in told


@pytest.mark.parametrize("length", [0, 6, -1, 1.5])
def test_a_length_that_no_design_can_have_is_an_error_at_once(length):
    with pytest.raises(dn.ParameterError, match=r"length must be an integer from 1 to the number of keys, 5, got"):
        dn.plan(question="key-value", k=5, n=100, epsilon=1.0, length=length)


@pytest.mark.parametrize("interval", [(0, 1e300), (0, 1e-300)])
def test_intervals_whose_squares_are_no_floats_are_refused(interval):
    for ask in (
        lambda: dn.plan(question="mean", interval=interval, epsilon=1.0, n=10),
        lambda: dn.mechanism("hm", epsilon=1.0, interval=interval),
    ):
        with pytest.raises(dn.ParameterError, match=r"interval must be from 1e-100 to 1e\+100 wide"):
            ask()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"max_loss": 0.5}, "max_loss must be left out for the question 'mean', got 0.5. Did you mean max_asr"),
        ({"laiout": "endpoints"}, "laiout must be left out .*Did you mean layout?"),
        ({"limits": {"stderr": 0.5}}, "limits must be left out .*: target_error, max_asr, .*, max_poisoning."),
        ({"length": 2}, "length must be left out for the question 'mean', got 2. It belongs to question='key-value'"),
        ({"prior": [0.5, 0.5]}, "prior must be left out .* It belongs to question='frequency'."),
        (
            {"question": "median"},
            "question must be one of frequency, key-value, release, mean, direction, range, got 'median'",
        ),
    ],
)
def test_slips_in_plans_of_means_are_told(given, says):
    with pytest.raises(dn.ParameterError, match=says):
        dn.plan(**{"question": "mean", "interval": (0, 100), "epsilon": 1.0, **given})
    assert dn.plan(question="mean", interval=(0, 1), epsilon=1.0, n=np.int64(100)).best.n == 100
