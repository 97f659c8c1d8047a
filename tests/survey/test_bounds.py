"""No survey and no mechanism is below the bound, what attains it does, and boxes are the best sets there are."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.mechanisms.survey import laws
from deniable.mechanisms.survey.bounds import least_sum, most_of_all, simple_bound
from deniable.mechanisms.survey.laws import best_shape, box_costs, box_information, least_cost, most_information

NAMES = ("grr", "ss", "sue", "oue", "olh", "plh", "hr", "iss")
"""Mechanisms that protect all answers alike."""


def random_survey(seed: int) -> tuple[float, list[int], list[float], dict[str, Any]]:
    """A survey of plain questions, some asked by whatever mechanism, in whatever way and with whatever weights."""
    rng = np.random.default_rng(seed)
    epsilon = float(rng.choice([0.1, 0.5, 1.0, 1.5, 2.0, 3.0, 4.5, 6.0]))
    sizes = [int(k) for k in rng.choice([2, 2, 2, 3, 4, 5, 9, 16, 40], rng.integers(1, 6))]
    weights = [float(w) for w in rng.choice([0.1, 1.0, 1.0, 5.0], len(sizes))]
    asked: dict[str, Any] = {}
    for j, k in enumerate(sizes):
        name = str(rng.choice(NAMES))
        asked[f"q{j}"] = dn.mechanism(name, epsilon=epsilon, k=k) if rng.random() < 0.4 else k
    return epsilon, sizes, weights, asked


def check(seed: int) -> float:
    epsilon, sizes, weights, asked = random_survey(seed)
    smallest = math.inf
    for scheme in ("auto", "one", *["split"] * (seed % 5 == 0)):
        given = dict(zip(asked, sizes, strict=True)) if scheme == "split" else asked
        told = dn.survey(given, epsilon=epsilon, weights=weights, scheme=scheme).properties()
        assert told["gap"] >= -1e-12, (seed, scheme)
        assert told["mse_sum"] >= told["bound"] * (1 - 1e-12)
        smallest = min(smallest, told["gap"])
    return smallest


def test_no_survey_is_below_the_bound() -> None:
    found = [check(seed) for seed in range(12)]
    assert min(found) < 1e-9, "some attain it, so it is no bound of nothing"


@pytest.mark.slow
@pytest.mark.turns(5)
@pytest.mark.parametrize("part", range(5))
def test_no_survey_is_below_the_bound_in_a_thousand_settings(part: int) -> None:
    assert min(check(seed) for seed in range(1000 + 200 * part, 1200 + 200 * part)) < 1e-9


@pytest.mark.parametrize(("k", "d", "epsilon"), list(product((16, 17, 31, 64, 100), (2, 8), (0.25, 0.5, 1.0, 2.0))))
def test_one_question_each_is_within_a_per_cent_or_so_of_the_bound(k: int, d: int, epsilon: float) -> None:
    told = dn.survey({f"q{j}": k for j in range(d)}, epsilon=epsilon, scheme="one").properties()
    assert 0 <= told["gap"] + 1e-12 < 0.014


def test_a_wrong_bound_would_be_noticed() -> None:
    """The information of yes/no questions, taken as 1 % less than it is: then a survey is below the bound."""
    epsilon = 1.0
    assert least_sum(epsilon, [2, 2], [1, 1]) == pytest.approx(4 * least_cost(2, epsilon))
    assert most_of_all(epsilon, (2, 2)) == pytest.approx(most_information(2, epsilon))
    told = dn.survey({"a": 2, "b": 2}, epsilon=epsilon).properties()
    assert told["mse_sum"] < 1.01 * (told["bound"] + 0.5) - 0.5


@pytest.mark.parametrize("sizes", [(2, 2), (2, 3), (3, 3), (2, 2, 2), (2, 2, 3), (2, 2, 2, 2), (4, 4), (2, 8)], ids=str)
def test_no_set_tells_more_than_the_best_box(sizes: tuple[int, ...]) -> None:
    """All 2^K sets of answers, and boxes of all shapes on all blocks of questions: the largest sums are the same."""
    for epsilon in (0.5, 1.5, 3.0, 4.0):
        best = 0.0
        for chosen in product((False, True), repeat=len(sizes)):
            block = [k for k, asked in zip(sizes, chosen, strict=True) if asked]
            shapes = product(*(range(1, k) for k in block)) if block else ()
            best = max([best, *(sum(box_information(epsilon, block, shape)) for shape in shapes)])
        assert most_of_all(epsilon, tuple(sorted(sizes))) == pytest.approx(best, rel=1e-12)


def test_information_adds_up_to_at_most_that_of_the_whole() -> None:
    """Sets drawn at random: what they tell of all questions is at most V_ss of all cells, which is at most I."""
    rng = np.random.default_rng(2)
    for sizes in ((2, 3, 4), (5, 5), (3, 3, 3)):
        k = math.prod(sizes)
        for epsilon in (0.3, 1.0, 3.0):
            whole = most_information(k, epsilon)
            assert whole <= simple_bound(epsilon) * (1 + 1e-12)
            profile = 1 + (math.exp(epsilon) - 1) * (rng.random((300, k)) < rng.random((300, 1)))
            profile /= profile.mean(axis=1, keepdims=True)
            table = profile.reshape(-1, *sizes)
            told = sum(
                table.mean(axis=tuple(1 + i for i in range(len(sizes)) if i != j)).var(axis=1)
                for j in range(len(sizes))
            )
            assert np.max(told) <= whole * (1 + 1e-12)


def test_the_best_shape_by_steps_is_that_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many shapes only some are tried: on sizes where all can be, the result is as good."""
    for sizes in ((20, 20), (6, 6, 6), (2, 30, 10)):
        for epsilon in (2.0, 5.0):
            shapes = [best_shape(epsilon, sizes)]
            with monkeypatch.context() as patch:
                patch.setattr(laws, "_SHAPES", 1)
                shapes.append(best_shape(epsilon, sizes))
            best, found = (sum(box_costs(epsilon, sizes, shape)) for shape in shapes)
            assert best <= found <= best * 1.01


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("keys", [2, 5, 40])
def test_keys_with_values_are_not_below_their_bound_and_close_to_it(keys: int, epsilon: float) -> None:
    """Of people with one pair each (Y1b); with more of them nothing is said."""
    made = dn.survey({"films": {"keys": keys}, "a": 3}, epsilon=epsilon)
    assert -1e-9 <= made.gap <= (0.6 if keys < 3 else 0.2)
    alone = dn.survey({"films": {"keys": keys}}, epsilon=epsilon)
    told = dn.survey({"films": {"keys": keys}}, epsilon=epsilon).questions[0]
    assert alone.gap == pytest.approx(told.cost * np.sinh(epsilon / 2) ** 2 / (2 - 1 / keys) ** 2 - 1, abs=1e-12)
    assert dn.survey({"films": {"keys": 40, "length": 2}, "a": 3}, epsilon=epsilon).gap is None
