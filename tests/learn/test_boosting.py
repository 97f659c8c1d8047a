"""Boosted trees: they learn, they spend exactly epsilon, and most of the gain is to stay inside the range."""

from __future__ import annotations

from fractions import Fraction
from itertools import chain

import numpy as np
import pytest

from deniable.errors import ParameterError, PrivacyError
from deniable.learn.boosting import LEAVES, BoostedTrees, Tree, values_of
from deniable.randomness import simulation


def made_up(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A smooth target in [-1, 1.5] of four of six features."""
    rows = simulation(seed).generator().random((n, 6))
    return rows, np.clip(np.sin(3 * rows[:, 0]) + rows[:, 1] * rows[:, 2] - rows[:, 3], -1, 1.5)


TRAIN, TEST = made_up(3000, 1), made_up(2000, 2)


def rmse(model: BoostedTrees) -> float:
    return float(np.sqrt(np.mean((model.predict(TEST[0]) - TEST[1]) ** 2)))


def model(**options: object) -> BoostedTrees:
    return BoostedTrees(target=(-1, 1.5), **options)  # type: ignore[arg-type]


def test_it_learns_without_noise() -> None:
    found = model(epsilon=None, trees=5, ensembles=6, seed=1).fit(*TRAIN)
    assert found.score(*TEST) > 0.95
    assert found.ledger_ is None


def test_routes_through_trees() -> None:
    tree = Tree(np.array([0, 1, 1]), np.array([2, 1, 3]), np.arange(4.0))
    other = Tree(np.array([1, 0, 0]), np.array([1, 1, 3]), np.arange(4.0, 8.0))
    bins = np.array([[0, 0], [1, 1], [2, 2], [3, 3]])
    assert values_of([tree, other], bins).tolist() == [[0, 1, 2, 3], [4, 6, 6, 7]]
    assert values_of([other], bins[:0]).shape == (1, 0)


@pytest.mark.parametrize("leaf", LEAVES)
def test_the_ledger_says_where_exactly_epsilon_went(leaf: str) -> None:
    found = model(epsilon=1.7, leaf=leaf, trees=3, ensembles=2, depth=2, seed=3).fit(TRAIN[0][:400], TRAIN[1][:400])
    book = found.ledger_
    assert book is not None
    assert book.total == Fraction(1.7)
    assert len(book) == 2 * 3 * 2
    assert {line.epsilon for line in book} == {Fraction(1.7) / 4}
    assert found.simulated_
    with pytest.raises(PrivacyError, match="nothing was released"):
        book.add("one more tree", Fraction(1, 10**9), step=2)


def test_no_person_is_in_two_trees_of_an_ensemble(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every row is marked by its first feature; each tree hands over the rows that it was grown on."""
    seen: list[list[int]] = []
    rows = np.column_stack([(np.arange(200) + 0.5) / 200, np.zeros(200)])
    grow = BoostedTrees._grow

    def spy(self: BoostedTrees, bins: np.ndarray, *rest: object) -> Tree:
        seen.append(bins[:, 0].tolist())
        return grow(self, bins, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(BoostedTrees, "_grow", spy)
    BoostedTrees(trees=4, ensembles=2, depth=1, bins=200, seed=9).fit(rows, np.zeros(200))
    assert [sorted(chain.from_iterable(seen[i : i + 4])) for i in (0, 4)] == [list(range(200))] * 2


def test_later_trees_have_fewer_people(monkeypatch: pytest.MonkeyPatch) -> None:
    """As much fewer as their residuals are smaller; 20,000 people, each number within 5 of its standard errors."""
    sizes: list[int] = []

    def grown(self: BoostedTrees, bins: np.ndarray, *_: object) -> Tree:
        sizes.append(len(bins))
        return Tree(np.zeros(1, np.int64), np.ones(1, np.int64), np.zeros(2))

    monkeypatch.setattr(BoostedTrees, "_grow", grown)
    BoostedTrees(trees=3, depth=1, learning_rate=0.4, seed=1).fit(np.full((20_000, 1), 0.5), np.zeros(20_000))
    law = 0.6 ** np.arange(3) / (0.6 ** np.arange(3)).sum()
    assert np.abs(np.array(sizes) - 20_000 * law).max() < 5 * np.sqrt(20_000 * 0.25)
    assert sum(sizes) == 20_000


@pytest.mark.parametrize("leaf", ["codebook", "brr"])
@pytest.mark.parametrize("c", ["clip", "half_sensitivity"])
def test_leaves_stay_in_their_range(leaf: str, c: str) -> None:
    found = model(leaf=leaf, c=c, trees=4, learning_rate=0.5, l2=0.1, seed=5).fit(*TRAIN)
    for number, tree in enumerate(found.trees_):
        clip = 0.5**number
        most = clip if c == "clip" else min(1 / 1.1, 2 * clip) / 2
        assert np.abs(tree.value).max() <= most


@pytest.mark.slow
@pytest.mark.stat
def test_staying_inside_the_range_is_most_of_the_gain() -> None:
    """Paired runs at epsilon 0.5, signs of the differences over 20 pairs: alpha = 2^-20 each.

    Truncated Laplace alone removes most of what sets bipartite response apart from raw Laplace noise; noise on sums and
    counts, which shrinks as leaves grow, beats all of them.
    """
    runs = {
        leaf: np.array(
            [rmse(model(epsilon=0.5, leaf=leaf, depth=2, trees=5, seed=seed).fit(*TRAIN)) for seed in range(20)]
        )
        for leaf in ("laplace", "truncated", "brr", "sums")
    }
    assert (runs["truncated"] < runs["laplace"]).all()
    assert (runs["sums"] < runs["laplace"]).all()
    gain = {leaf: float(np.mean(runs["laplace"] - runs[leaf])) for leaf in ("truncated", "brr")}
    assert gain["truncated"] > 0.7 * gain["brr"] > 0


def test_seeds_repeat_and_secure_runs_do_not() -> None:
    few = TRAIN[0][:200], TRAIN[1][:200]
    one, two = (model(seed=7, trees=2).fit(*few).predict(TEST[0]) for _ in range(2))
    assert (one == two).all()
    three, four = (model(trees=2).fit(*few) for _ in range(2))
    assert (three.predict(TEST[0]) != four.predict(TEST[0])).any()
    assert not three.simulated_


def test_predictions_stay_within_the_target() -> None:
    found = model(leaf="laplace", epsilon=0.05, seed=1).fit(*TRAIN).predict(TEST[0])
    assert found.min() >= -1
    assert found.max() <= 1.5


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"leaf": "gauss"}, "leaf must be one of sums, codebook"),
        ({"c": "sign"}, "c must be one of clip, half_sensitivity"),
        ({"trees": 0}, "trees must be an integer from 1 to 1000"),
        ({"depth": 99}, "depth must be an integer from 1 to 10"),
        ({"learning_rate": 1.0}, "learning_rate must be between 0 and 1"),
        ({"l2": 0.12345}, "l2 must be from 0 to 1000, in thousandths"),
        ({"epsilon": -1}, "epsilon must be a finite number > 0"),
        ({"target": (0, 0.5)}, "y must be within its public bounds"),
        ({"high": 0.5}, "X must be within its public bounds"),
    ],
)
def test_what_does_not_fit_is_refused(options: dict[str, object], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        model(**options).set_params(**options).fit(*TRAIN) if "target" not in options else BoostedTrees(
            **options  # type: ignore[arg-type]
        ).fit(*TRAIN)


def test_lengths_must_agree() -> None:
    with pytest.raises(ParameterError, match="y must be 3000 values, one per row of X"):
        model().fit(TRAIN[0], TRAIN[1][:-1])
    with pytest.raises(ParameterError, match="y must be finite numbers, got 'NaN at position 2'"):
        model().fit(TRAIN[0][:3], [0.0, 0.0, float("nan")])
