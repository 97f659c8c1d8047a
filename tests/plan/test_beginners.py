"""The planner protects a beginner: no crash, no unknown that counts as zero, no odd first advice, words of caution."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

import deniable as dn
from deniable.core.space import Space
from deniable.mechanisms import registry
from deniable.mechanisms.entry import Traits
from deniable.mechanisms.registry import MECHANISMS
from tiers import every


@pytest.mark.parametrize("sensitive", [1, 5, *(pytest.param(s, marks=pytest.mark.slow) for s in (2, 19, 20, [3, 7]))])
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
    assert own.gap is None
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
        lambda k=k, e=e, i=i, **more: dn.plan_keyvalue(k=k, n=10_000, epsilon=e, interest=i, **more)
        for k, e, i in ((3, 1.0, 0.0), (5, 4.0, 1.0), (50, 2.0, 1.0), (20, 1.0, 0.5), (10, 0.5, 3.0))
    ),
    lambda **more: dn.plan_keyvalue(k=20, n=10_000, epsilon=1.0, length=3, **more),
    lambda **more: dn.plan_release(points=30, epsilon=2.0, **more),
    lambda **more: dn.plan_means(interval=(0, 100), epsilon=1.0, n=100, **more),
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
    assert only.best == min(only.designs, key=lambda d: d.stderr / least.stderr), "weights decide alone"


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"k": 10, "n": 1000, "epsilon": 6.0}, "epsilon 6 protects little, since a report may be e^6 = 404 times"),
        ({"k": 100, "n": 1000, "epsilon": 1.0}, "larger than the average share of an answer (1 points)"),
        ({"k": 4, "n": 1000, "target_error": 0.5}, "a standard error of 50 percentage points tells next to nothing"),
    ],
)
def test_words_of_caution(asked, words):
    assert any(words in note for note in dn.plan(**asked).notes)
    assert not dn.plan(k=4, n=100_000, epsilon=1.0).notes
    assert not dn.plan_keyvalue(k=4, n=1000, epsilon=1.0).notes
    assert "protects little" in dn.plan_means(interval=(0, 1), n=10, epsilon=5.0).notes[0]


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
    best = dn.plan_release(epsilon=2.0, **where).best
    assert best.constant == pytest.approx(np.abs(values - np.median(values)).mean(), rel=1e-4)
    assert best.saved == pytest.approx(1 - best.loss / best.constant)
    told = dn.plan_release(epsilon=2.0, **where).message
    assert f"{100 * best.saved:.3g} % less than one constant answer for everybody" in told


def test_a_release_that_says_hardly_anything_is_called_so():
    table = Space.places([[52.5, 13.4], [48.9, 2.4], [41.9, 12.5]])
    found = dn.plan_release(distances=table, epsilon=0.05)
    assert found.best.constant == pytest.approx(table.matrix().mean(axis=0).min())
    assert "hardly better than one constant answer" in found.notes[0]
    assert found.best.saved < 0.1
