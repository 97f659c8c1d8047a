"""Weights and limits for every question: one score, the first design has the least of it, and best guesses are true."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.mechanisms.registry import MECHANISMS
from deniable.plan.answer import Plan
from deniable.plan.candidates import Wish, _best, _columns
from deniable.plan.frequency import _Planner
from deniable.plan.prediction import forged_gain, points
from deniable.plan.request import request
from deniable.plan.scoring import WEIGHED, Weights, check_weights, excess, missed
from tiers import every

Question = tuple[str, Callable[..., Plan[Any]]]
"""The column of the error, and the plan for weights and limits."""


def _shares(**more: Any) -> Plan[Any]:
    return dn.plan(k=12, n=2000, epsilon=1.5, **more)


QUESTIONS: dict[str, Question] = {
    "shares": ("mse", _shares),
    "sensitive": ("mse", lambda **more: _shares(sensitive=4, **more)),
    "people": ("n", lambda **more: dn.plan(k=12, epsilon=1.5, target_error=0.02, **more)),
    "pairs": ("cost", lambda **more: dn.plan(question="key-value", k=8, n=2000, epsilon=1.5, **more)),
    "several pairs": (
        "cost",
        lambda **more: dn.plan(question="key-value", k=8, n=2000, epsilon=2.0, length=2, interest=3, **more),
    ),
    "near": ("loss", lambda **more: dn.plan(question="release", points=14, epsilon=2.0, **more)),
    "mean": ("variance_worst", lambda **more: dn.plan(question="mean", interval=(0, 10), n=50, epsilon=1.5, **more)),
    "people for a mean": (
        "n",
        lambda **more: dn.plan(question="mean", interval=(0, 10), epsilon=3.0, **{"target_error": 0.1, **more}),
    ),
}


def column(d: Any, name: str) -> float:
    return float(getattr(d, name))


def drawn(count: int) -> list[dict[str, float]]:
    """Two things that count alone, and random weights of random things, over four orders of magnitude."""
    rng = np.random.default_rng(7)
    some = [rng.permutation(WEIGHED)[: rng.integers(2, 6)].tolist() for _ in range(count)]
    return [{"bits": 1.0}, {"poisoning": 1.0}] + [{name: 10 ** rng.uniform(-2, 2) for name in names} for names in some]


SLOW = ("several pairs", "sensitive", "people", "people for a mean")
"""Questions whose kin are in the default tier."""
NAMES = [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in QUESTIONS]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("count", [1, pytest.param(40, marks=[pytest.mark.slow, pytest.mark.turns(4)])])
def test_the_first_design_is_the_best_by_its_score_and_beaten_by_none(name: str, count: int) -> None:
    """Scores are relative to the design of least error; of shares one that hardly differs may stand for it."""
    error, plan = QUESTIONS[name]
    near = 0.02 if name in ("shares", "sensitive", "people") else 1e-9
    for weights in drawn(count):
        found = plan(weights=weights)
        best = found.best
        assert best is not None
        assert best.beaten_by == ""
        assert all(math.isfinite(column(d, error if w == "error" else w)) for d in found.designs for w in weights)
        if set(weights) == {"error"}:
            assert best.score is None
            continue
        first, total = min(found.designs, key=lambda d: column(d, error)), sum(weights.values())
        for d in found.designs:
            parts = [(w / total, error if word == "error" else word) for word, w in weights.items()]
            want = sum(w * column(d, word) / column(first, word) for w, word in parts)
            assert d.score == pytest.approx(want, rel=near), (weights, d.title)
        assert best.score == pytest.approx(min(d.score for d in found.designs), rel=1e-8), weights


@pytest.mark.parametrize("name", NAMES)
def test_all_weight_on_the_error_is_the_plan_without_weights(name: str) -> None:
    _, plan = QUESTIONS[name]
    plain = plan().document()
    assert "score" not in plain["designs"][0]
    assert len(plain["request"].get("weights", {"error": 1.0})) == 1
    assert "score" in plan(weight=0.5).document()["designs"][0]
    assert plan(weights={"error": 7}).document() == plain
    assert plan(weight=0).document() == plain
    assert plan(weights="error=2,asr=0").document() == plain


@pytest.mark.parametrize(("word", "name"), every(5, product(("asr", "bits", "work", "poisoning"), QUESTIONS)))
def test_all_weight_on_something_else_finds_the_least_of_it(name: str, word: str) -> None:
    _, plan = QUESTIONS[name]
    found = plan(weights={word: 1})
    assert found.best is not None
    assert column(found.best, word) == pytest.approx(min(column(d, word) for d in found.designs), rel=1e-9)


@pytest.mark.parametrize(("asked", "error"), [({"n": 500}, "variance_range"), ({"target_error": 0.02}, "n")])
def test_designs_for_ranges_are_weighed_by_their_error_or_by_the_people_they_take(
    asked: dict[str, Any], error: str
) -> None:
    def told(weights: dict[str, float]) -> Any:
        return dn.plan(question="range", k=9, epsilon=1.5, **asked, weights=weights)

    plain = told({"error": 1}).designs
    first = plain[0]
    assert [column(d, error) for d in plain] == sorted(column(d, error) for d in plain)
    assert column(plain[-1], error) > 1.1 * column(first, error)
    for weights in ({"error": 1.0, "asr": 1.0}, {"error": 5.0, "bits": 2.0}, {"work": 1.0, "bits": 3.0, "error": 4.0}):
        found, total = told(weights).designs, sum(weights.values())
        for d in found:
            parts = {error if word == "error" else word: w / total for word, w in weights.items()}
            want = sum(w * column(d, name) / column(first, name) for name, w in parts.items())
            assert d.score == pytest.approx(want, rel=1e-9)
        scores = [round(d.score, 9) for d in found]
        assert scores == sorted(scores)
    with pytest.raises(dn.ParameterError, match="weights must be named by error, asr, bits, work for ranges"):
        told({"error": 1.0, "poisoning": 1.0})
    assert told({"error": 1.0, "poisoning": 0.0}).designs == plain


LIMITS = ("asr", "bits", "bytes", "work", "poisoning")


@pytest.mark.parametrize(
    ("word", "name"), every(4, product(LIMITS, [name for name in QUESTIONS if not name.startswith("people")]))
)
def test_every_limit_is_kept_and_what_breaks_it_is_named(name: str, word: str) -> None:
    _, plan = QUESTIONS[name]
    values = sorted(column(d, word) for d in plan().designs)
    most = values[len(values) // 2]
    found = plan(**{f"max_{word}": most})
    assert found.designs
    assert all(column(d, word) <= most for d in found.designs)
    if values[-1] > most:
        assert any("instead of at most" in o.reason for o in found.out)
    assert not plan(**{f"max_{word}": values[0] / 1e9}).feasible


@pytest.mark.parametrize("limits", [{"asr": 0.04}, {"poisoning": 0.1}], ids=str)
def test_limits_move_the_parameters_of_pairs(limits: dict[str, float]) -> None:
    """To the least error within the limit: of all sizes none is better."""
    job: dict[str, Any] = {"k": 30, "n": 1000, "epsilon": 2.0}
    found = dn.plan(question="key-value", **job, **{f"max_{name}": most for name, most in limits.items()})
    moved = next(d for d in found.designs if d.name == "kv-ss2" and not d.options.get("encoding"))
    plain = next(d for d in dn.plan(question="key-value", **job).designs if d.name == "kv-ss2")
    assert plain.mechanism.size != moved.mechanism.size

    def at(size: int) -> Any:
        entry = MECHANISMS["kv-ss2"]
        m = dn.mechanism("kv-ss2", epsilon=2.0, k=30, size=size)
        own, pull = m.properties(1000), entry.traits.pull
        assert pull is not None
        met = {"asr": m.guess_pair().success, "poisoning": max(0.01 * pull(m, 10), 0)}
        return math.inf if any(met[x] > most for x, most in limits.items()) else own["variance"] + own["variance_mean"]

    assert moved.cost == pytest.approx(min(at(size) for size in range(1, 60)), rel=1e-9)
    titles = [d.title for d in found.designs]
    assert len(set(titles)) == len(titles)


def test_the_usual_parameter_stands_for_a_better_one_only_where_it_scores_as_well() -> None:
    best = dn.plan(k=100, n=1000, epsilon=1.0).best
    assert best is not None
    tuned, usual = replace(best, options={"size": 27}), replace(best, mse=1.001 * best.mse, options={})
    for weights, kept in (({"error": 1}, usual), ({"error": 1, "bits": 1}, tuned)):
        weighed = check_weights(None, weights, "mse")
        wanted = request(dn.Domain.of(100), 1000, 1.0, {}, weighed, None, None, {}, None)
        score = weighed.among([tuned, usual])
        assert _Planner(wanted)._merged([tuned, usual], score) == [kept]


def test_the_reasons_tell_the_score_and_the_bits_that_are_weighed() -> None:
    found = dn.plan(question="mean", interval=(0, 1), n=100, epsilon=1.0, weights={"error": 1, "bits": 1})
    assert found.best is not None
    assert found.best.why.startswith("The best score")
    assert "the fewest bits" in min(found.designs, key=lambda d: d.bits).why
    plain = [d.why for d in dn.plan(question="mean", interval=(0, 1), n=100, epsilon=1.0).designs]
    assert not any("score" in why or "fewest bits" in why for why in plain)


# ---- best guesses, by all reports that there are

PAIRS = [(name, case) for name, e in MECHANISMS.items() if e.question == "key-value" for case in e.small]
NUMBERS = [(name, case) for name, e in MECHANISMS.items() if e.question == "mean" for case in e.small]


@pytest.mark.parametrize(("name", "case"), every(3, PAIRS), ids=str)
def test_the_best_guess_of_a_pair_is_that_of_the_enumerated_channel(name: str, case: dict[str, Any]) -> None:
    """Of the signed key of somebody who has one pair: with a length, digit i of an input in base 3 is that of key i."""
    m = dn.mechanism(name, **case)
    matrix = m.channel().matrix()
    if m.length:
        matrix = matrix[[sign * 3**key for key in range(m.k) for sign in (1, 2)]]
    found = m.guess_pair()
    assert found.success == pytest.approx(matrix.max(axis=0).sum() / (2 * m.k), rel=1e-12)
    assert found.blind == 1 / (2 * m.k)
    if not m.length:
        assert found.success == pytest.approx(m.guess().success, rel=1e-12)


@pytest.mark.parametrize(("name", "case"), every(3, NUMBERS), ids=str)
def test_the_best_guess_of_a_half_is_that_of_the_enumerated_channel(name: str, case: dict[str, Any]) -> None:
    m = dn.mechanism(name, **case)
    matrix = m.channel().matrix() / m.k
    middle = np.sign(m.grid.points - (m.grid.low + m.grid.high) / 2).round(9)
    upper = (1 + np.where(np.abs(m.grid.points - (m.grid.low + m.grid.high) / 2) < 1e-9, 0, middle)) / 2
    found = m.guess_half()
    assert found.success == pytest.approx(np.maximum(upper @ matrix, (1 - upper) @ matrix).sum(), rel=1e-12)
    assert found.blind == 0.5
    assert 0.5 < found.success < 1


@pytest.mark.parametrize("name", ["sw", "pm", "duchi", "hm"])
def test_the_best_guess_of_a_half_hardly_depends_on_the_grid(name: str) -> None:
    """So designs with different grids can be compared, which the best guess of the very point does not allow."""
    fine, coarse = (dn.mechanism(name, interval=(0, 1), points=k, epsilon=1.0) for k in (1024, 512))
    assert fine.guess_half().success == pytest.approx(coarse.guess_half().success, rel=2e-3)
    assert fine.guess().success < 0.51 * coarse.guess().success


# ---- what is not known


class Known:
    """A design with three columns."""

    def __init__(self, mse: float, work: float | None, asr: float = 0.5) -> None:
        self.mse, self.work, self.asr = mse, work, asr


def test_what_is_not_known_meets_no_limit_and_is_never_zero() -> None:
    designs = [Known(1.0, None), Known(2.0, 30.0), Known(4.0, 10.0), Known(8.0, 0.0)]
    score = check_weights(None, {"error": 1, "work": 1}, "mse").among(designs)
    assert score.units == {"mse": 1.0, "work": 30.0}, "the least error of those that know it"
    assert [score.of(d) for d in designs] == [math.inf, pytest.approx(1.5), pytest.approx(2 + 1 / 6), 4.0]
    assert sorted(designs, key=score.key)[0] is designs[1]
    assert missed(designs[0], {"work": 5.0}) == "work not known"
    assert excess(designs[0], {"work": 5.0}) == math.inf
    nobody = check_weights(None, {"work": 1, "error": 1}, "mse").among([Known(2.0, None), Known(1.0, None)])
    assert nobody.key(Known(1.0, None)) < nobody.key(Known(2.0, None)), "then the error decides"


def test_weights_are_read_from_text_and_shared_out() -> None:
    assert check_weights(None, "error=3, asr = 1", "cost") == Weights("cost", {"cost": 0.75, "asr": 0.25})
    assert check_weights(0.25, None, "loss") == Weights("loss", {"asr": 0.25, "loss": 0.75})
    assert check_weights(1, None, "loss").columns == {"asr": 1.0}
    for bad in ({"asr": True}, {"asr": math.nan}, {"asr": -1}, {}, {"asr": 0}, "asr", "asr=1;bits=2", 3, {"asr": "1"}):
        with pytest.raises(dn.ParameterError, match="weights must be"):
            check_weights(None, bad, "mse")  # type: ignore[arg-type]


def test_what_is_missed_is_told_of_the_limit_that_is_missed_by_most() -> None:
    design: Any = SimpleNamespace(bits=6.0, asr=0.05, work=None)
    assert excess(design, {"bits": 3.0, "asr": 0.1}) == 2.0
    assert excess(design, {"bits": 3.0, "work": 1.0}) == math.inf
    assert excess(design, {}) == 0.0


def test_forged_reports_that_cannot_gain_gain_nothing() -> None:
    assert forged_gain(np.array([-2.0, 0.0, 3.0])).tolist() == [0.0, 0.0, 0.03]
    assert [points(0.1231), points(0.12301), points(0.5)] == ["12.4 pt", "12.4 pt", "50 pt"], "rounded up"


def test_a_parameter_outside_all_limits_is_the_closest_to_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Inside them the best by its score; an error is that of all n reports."""
    score = Weights("mse", {"mse": 1.0}).among([SimpleNamespace(mse=1.0)])
    curve: Any = SimpleNamespace(
        values=np.arange(4.0), mse=np.array([9.0, 3.0, 5.0, 7.0]), bits=np.array([8.0, 6.0, 4.0, 5.0])
    )
    curve.asr = curve.bytes = curve.bits
    recipe: Any = SimpleNamespace(entry=SimpleNamespace(traits=SimpleNamespace(work=None, pull=None)))
    asked: Any = SimpleNamespace(targets=1, prior=None)
    wishes = [Wish(asked, 100, {"bits": most}, score) for most in (2.0, 5.0, 9.0)]
    assert [_best(curve, recipe, 1.0, wish) for wish in wishes] == [2, 2, 1]
    assert _best(curve, recipe, 1.0, Wish(asked, 100, {"mse": 0.04, "bits": 9.0}, score)) == 1
    assert _columns(curve, recipe, 1.0, wishes[0])["mse"].tolist() == [0.09, 0.03, 0.05, 0.07]
