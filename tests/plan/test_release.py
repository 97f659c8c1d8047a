"""The planner's answers about near answers and about means: exact numbers, never below the bounds."""

from __future__ import annotations

import json
import math
from itertools import product
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.core.grid import Grid
from deniable.core.space import Space
from deniable.errors import ParameterError
from deniable.mechanisms.metric.bound import optimal_release
from deniable.mechanisms.registry import MECHANISMS
from deniable.plan.release import ReleasePrediction
from tiers import every

RELEASES = {name for name, entry in MECHANISMS.items() if entry.question == "release" and not entry.needed}
MEANS = {name for name, entry in MECHANISMS.items() if entry.question == "mean"}


@pytest.mark.parametrize(
    ("where", "epsilon"),
    every(4, product([{"points": 12}, {"interval": "0,10"}, {"interval": (0, 10), "points": 9}], [0.5, 2.0, 4.0])),
)
def test_releases_on_a_line_are_ranked_and_no_loss_is_below_the_codebook(where: dict[str, Any], epsilon: float) -> None:
    found = dn.plan(question="release", epsilon=epsilon, **where)
    assert {d.name for d in found.designs} == RELEASES
    own = [{n: d.options[n] for n in ("rule", "form") if n in d.options} for d in found.designs if d.name == "brr"]
    assert sorted(map(str, own)) == ["{'form': 'paper'}", "{'rule': 'mean'}"]
    losses = [d.loss for d in found.designs]
    book = next(d for d in found.designs if d.name == "codebook")
    assert book.loss <= min(losses) * (1 + 1e-9)
    assert losses == pytest.approx(sorted(losses), rel=1e-8)
    for d in found.designs:
        assert d.loss == d.mechanism.properties()["loss"]
        assert d.worst is not None
        assert d.worst >= d.loss * (1 - 1e-12)
        assert d.bound is not None
        assert d.loss >= d.bound * (1 - 1e-9)
    if "points" not in where or "interval" not in where:
        assert "No mechanism with this epsilon has less." in book.why
        assert book.gap == pytest.approx(0, abs=1e-9)


def test_the_bound_of_a_space_is_that_of_all_channels() -> None:
    space = Space.places([[52.5, 13.4], [48.9, 2.4], [41.9, 12.5], [40.4, -3.7]])
    found = dn.plan(question="release", distances=space, epsilon=1.0)
    least = optimal_release(space.matrix(), 1.0).loss
    assert [d.bound for d in found.designs] == pytest.approx([least] * len(found.designs), rel=1e-9)
    best = next(d for d in found.designs if d.name == "optimal-release")
    assert best.loss == pytest.approx(least, rel=1e-9)
    assert all(d.loss >= least * (1 - 1e-9) for d in found.designs)
    assert {o.title for o in found.out} == {"laplace", "geometric"}
    assert "km" in found.message


def test_any_promise_has_its_best_release_and_others_as_far_above_it_as_they_are() -> None:
    space = Space.places([[52.5, 13.4], [48.9, 2.4], [41.9, 12.5], [40.4, -3.7]])
    p = dn.promise(space=space, epsilon=0.002)
    found = dn.plan(question="release", distances=space, promise=p)
    assert found.best is not None
    assert found.best.name == "optimal-release"
    least = dn.mechanism("optimal", promise=p, objective="release", distances=space).properties()["bound"]
    off = p.budgets[p.budgets > 0]
    for d in found.designs[1:]:
        assert d.gap == pytest.approx(d.loss / least - 1)
        assert d.mechanism.epsilon == off.min(), "what keeps the smallest budget keeps all of them"
    again = json.loads(json.dumps(found.document()))["designs"][0]
    told = again["options"]["promise"]
    assert dn.mechanism(again["mechanism"], promise=told, distances=space) == found.best.mechanism
    line = dn.plan(question="release", promise=dn.promise(points=[0, 1, 2, 3], epsilon=1.0))
    assert line.best is not None
    assert line.best.gap == pytest.approx(0, abs=1e-9)
    for wrong in ({}, {"epsilon": 1.0, "promise": p}):
        with pytest.raises(dn.ParameterError, match="epsilon or a promise"):
            dn.plan(question="release", distances=space, **wrong)


def brute_worst(d: ReleasePrediction) -> float:
    """The largest expected loss over many numbers of the interval, each encoded by the domain itself."""
    m, domain = d.mechanism, d.mechanism.domain
    numbers = np.linspace(0, 10, 20_001)
    points = np.asarray(domain.points)  # type: ignore[attr-defined]  # grids and codes have them
    outputs = points if m.output_points is None else points[m.output_points]
    rows = m.matrix()[domain.encode(numbers)]
    return float((rows * np.abs(numbers[:, None] - outputs)).sum(axis=1).max())


@pytest.mark.parametrize(
    "where", [{"interval": "0,10"}, {"interval": "0,10", "points": 9, "layout": "endpoints"}], ids=str
)
def test_the_worst_value_of_an_interval_is_the_worst_of_all_numbers(where: dict[str, Any]) -> None:
    for d in dn.plan(question="release", epsilon=2.0, **where).designs:
        if d.mechanism.k <= 16:
            assert d.worst == pytest.approx(brute_worst(d), rel=2e-3)
            assert d.worst >= brute_worst(d) * (1 - 1e-12)


def test_rule_min_leaves_no_value_worse_off_than_randomised_response() -> None:
    found = dn.plan(question="release", points=60, epsilon=1.0)
    kept = next(d for d in found.designs if d.options.get("form") == "paper")
    assert "no value has a larger expected loss" in kept.why

    def losses(m: Any) -> Any:
        return (m.matrix() * m.loss_matrix()).sum(axis=1)

    assert (losses(kept.mechanism) <= losses(dn.mechanism("brr", points=60, epsilon=1.0, size=1)) * (1 + 1e-12)).all()


def test_weight_moves_the_choice_from_the_loss_to_the_best_guess() -> None:
    plain = dn.plan(question="release", points=20, epsilon=2.0)
    assert "least expected loss" in plain.message
    for weight in (0.0, 0.5, 0.8, 1.0):
        found = dn.plan(question="release", points=20, epsilon=2.0, weight=weight)
        first = plain.designs[0]
        rank = [(1 - weight) * d.loss / first.loss + weight * d.asr / first.asr for d in found.designs]
        assert rank == pytest.approx(sorted(rank), rel=1e-9)
        assert found.best is not None
        assert not found.best.beaten_by
        assert ("is the best compromise" in found.message) == (0 < weight < 1)
        told = {"loss": 1 - weight, "asr": weight}
        want = {name: x for name, x in told.items() if x}
        assert found.document()["request"].get("weights", {"loss": 1.0}) == pytest.approx(want)
    assert found.best.asr == min(d.asr for d in plain.designs) < first.asr
    assert found.best.loss > first.loss


def test_long_lines_are_planned_and_say_what_is_unknown() -> None:
    found = dn.plan(question="release", points=10**6, epsilon=2.0)
    assert [d.name for d in found.designs] == ["codebook", "brr", "brr"]
    assert all(d.worst is None and d.bound is None for d in found.designs)
    assert all("worst" not in d.why for d in found.designs)
    assert {o.title for o in found.out} == {"exponential", "laplace", "geometric", "lsrr"}
    assert not dn.plan(question="release", points=10**6, epsilon=2.0, max_worst=1e9).feasible, "unknown meets no limit"


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0])
def test_means_are_ranked_by_the_worst_variance(epsilon: float) -> None:
    found = dn.plan(question="mean", interval=(0, 100), n=10_000, epsilon=epsilon)
    assert {d.name for d in found.designs} == MEANS
    worst = [d.variance_worst for d in found.designs]
    assert worst == pytest.approx(sorted(worst), rel=1e-8)
    assert found.designs[0].name == "om"
    hybrid = next(d for d in found.designs if d.name == "hm")
    others = [d.variance_worst for d in found.designs if d.name not in ("om", "lu")]
    assert hybrid.variance_worst <= min(others) * (1 + 1e-9)
    for d in found.designs:
        own = d.mechanism.properties(10_000)
        even = own["variance_even" if d.name in ("om", "lu") else "variance_mean"]
        assert (d.variance_mean, d.variance_worst) == pytest.approx((even, own["variance_worst"]), rel=1e-12)
        assert isinstance(d.mechanism.domain, Grid)
        assert d.rounding == d.mechanism.domain.step / 2


@pytest.mark.parametrize("clip", [True, False])
@pytest.mark.parametrize("more", [{}, {"points": 9, "layout": "endpoints"}], ids=["", "grid"])
def test_every_advised_mechanism_for_means_clips_if_it_was_asked_for(clip: bool, more: dict[str, Any]) -> None:
    """Also those that have a grid of their own, which take neither points nor a layout from the question."""
    found = dn.plan(question="mean", interval=(2, 10), n=1000, epsilon=1.0, clip=clip, **more)
    assert {d.name for d in found.designs} == MEANS
    for d in found.designs:
        domain = d.mechanism.domain
        assert isinstance(domain, Grid)
        assert (domain.low, domain.high, domain.clip) == (2, 10, clip), d.name
        own = d.name in ("om", "lu")
        assert d.options == {"interval": (2, 10), "clip": clip} | ({} if own else more), d.name
        if more and not own:
            assert (domain.k, domain.layout) == (9, "endpoints")
        if clip:
            assert domain.decode(domain.encode([1, 11])) == pytest.approx([2, 10], abs=domain.step), d.name
        else:
            with pytest.raises(ParameterError):
                domain.encode([11])


def test_people_for_a_standard_error_are_the_fewest() -> None:
    found = dn.plan(question="mean", interval="0,100", epsilon=1.0, target_error=0.5)
    for d in found.designs:
        assert d.mechanism.properties(d.n)["variance_worst"] <= 0.25 < d.mechanism.properties(d.n - 1)["variance_worst"]
    assert found.designs[0].n == min(d.n for d in found.designs)
    assert f"{found.designs[0].n:,} people are enough" in found.message


def test_limits_leave_out() -> None:
    short = dn.plan(question="mean", interval="0,1", n=100, epsilon=1.0, max_bytes=1)
    assert [d.name for d in short.designs] == ["om", "lu", "duchi"]
    none = dn.plan(question="mean", interval="0,1", n=100, epsilon=1.0, max_bytes=1, target_error=1e-6)
    assert (none.feasible, none.best) == (False, None)
    told = "No design meets the limits (standard error at most 1e-06, bytes at most 1); the closest is "
    assert none.message.startswith(told)
    near = dn.plan(question="release", points=20, epsilon=1.0, target_error=5.0, top=1)
    assert len(near.designs) == 1
    assert near.designs[0].loss <= 5.0
    assert all("instead of at most 5" in o.reason for o in near.out)


@pytest.mark.parametrize(
    ("question", "given", "words"),
    [
        ("release", {}, "domain must be given by points, interval or distances"),
        ("release", {"points": 1}, "points must be"),
        ("release", {"points": 9, "weight": 2}, "weight must be from 0 to 1, got 2"),
        (
            "release",
            {"k": 5},
            "k must be left out .*'release', got 5. It belongs to question='frequency' and",
        ),
        ("release", {"points": 5, "n": 9}, "n must be left out for the question 'release', got 9"),
        ("release", {"points": 5, "top": 0}, "top must be"),
        ("mean", {"interval": "0,1"}, "n must be an integer"),
        ("mean", {"interval": "1,0", "n": 5}, "interval must be"),
        ("mean", {"interval": "0,1", "n": 0}, "n must be"),
        (
            "mean",
            {"interval": "0,1", "n": 5, "distances": "x"},
            "distances must be left out .*, got 'x'. It belongs to question='release'.",
        ),
        (
            "mean",
            {"interval": "0,1", "n": 5, "target_error": math.nan},
            "target_error must be a finite number",
        ),
    ],
)
def test_bad_questions_are_refused(question: str, given: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        dn.plan(question=question, epsilon=1.0, **given)


def test_documents_are_plain_and_charts_have_all_designs() -> None:
    for found in (
        dn.plan(question="release", points=10, epsilon=1.0),
        dn.plan(question="mean", interval=(0, 1), n=1000, epsilon=1.0),
    ):
        document = json.loads(json.dumps(found.document(), allow_nan=False))
        assert [d["mechanism"] for d in document["designs"]] == [d.name for d in found.designs]
        again = document["designs"][0]
        made = dn.mechanism(again["mechanism"], epsilon=1.0, **again["options"])
        assert made == found.designs[0].mechanism
    pytest.importorskip("altair")
    chart = json.dumps(dn.plan(question="release", points=10, epsilon=1.0).chart().to_dict())
    assert all(name in chart for name in RELEASES)
    chart = json.dumps(dn.plan(question="mean", interval=(0, 1), n=1000, epsilon=1.0).chart().to_dict())
    assert all(name in chart for name in MEANS)
