"""Learners against sums by hand: noise is taken away or known, and every step of the training is made once more."""

from __future__ import annotations

import math
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from deniable.errors import ParameterError
from deniable.learn import leaves as leaves_module
from deniable.learn import network as network_module
from deniable.learn import release as release_module
from deniable.learn.boosting import UNIT, BoostedTrees
from deniable.learn.estimator import column_of, inside, matrix_of, numbers_of, span_of
from deniable.learn.labels import classes_of, codes_of, determination
from deniable.learn.leaves import STEPS, Leaf, clamped_laplace, laplace, noisy_ratio
from deniable.learn.ledger import Ledger, float_below
from deniable.learn.network import LocalNetwork, _adam, _forward, _start
from deniable.learn.release import Release
from deniable.learn.sgd import LocalSGDClassifier, LocalSGDRegressor, chances
from deniable.learn.vectors import (
    VectorRelease,
    best_coordinates,
    coordinates_for_means,
    coordinates_of,
    few_loss,
    sample_coordinates,
)
from deniable.randomness import simulation

ROWS = np.array([[0.1, -0.4], [0.9, 0.2], [-0.5, 0.5], [0.3, 0.8], [-0.2, -0.9], [0.7, -0.1], [0.4, 0.6]])
TARGETS = np.array([0.2, 0.5, -0.4, 0.1, 0.9, -0.7, 0.3])


# ---- gradient descent


@pytest.mark.parametrize("average", [True, False])
@pytest.mark.parametrize(("passes", "batch"), [(1, 3), (2, 3), (3, 7), (1, 7), (1, 100)])
def test_descent_without_noise_is_the_sum_by_hand(average: bool, passes: int, batch: int) -> None:
    """Steps shrink with the root of their number, the intercept does not decay, and the last half of them counts."""
    made = LocalSGDRegressor(
        epsilon=None, passes=passes, batch=batch, learning_rate=0.8, l2=0.3, average=average, seed=5
    ).fit(ROWS, TARGETS)
    stream, weights, path = simulation(5), [0.0, 0.0, 0.0], []
    for _ in range(passes):
        order = np.argsort(stream.draw(64, 7), kind="stable").tolist()
        for start in range(0, 7, batch):
            part = order[start : start + batch]
            slope = [0.0, 0.0, 0.0]
            for i in part:
                off = ROWS[i, 0] * weights[0] + ROWS[i, 1] * weights[1] + weights[2] - TARGETS[i]
                slope = [s + off * x / len(part) for s, x in zip(slope, (*ROWS[i].tolist(), 1.0), strict=True)]
            decay = [0.3 * weights[0], 0.3 * weights[1], 0.0]
            step = 0.8 / math.sqrt(len(path) + 1)
            weights = [w - step * (s + d) for w, s, d in zip(weights, slope, decay, strict=True)]
            path.append(weights)
    last = np.mean(path[len(path) // 2 :], axis=0) if average else np.array(weights)
    assert [*made.coef_[:, 0], made.intercept_[0]] == pytest.approx(last.tolist())
    assert made.predict([[2.0, -1.0]])[0] == pytest.approx(2 * last[0] - last[1] + last[2])


def test_classes_are_learned_by_the_logistic_slope_and_told_in_their_order() -> None:
    """One step from nothing: every chance is a half, or a third."""
    two = LocalSGDClassifier(epsilon=None, batch=9, average=False, l2=0.0, seed=1).fit(ROWS, ["b", "a"] * 3 + ["b"])
    yes = np.array([1, 0, 1, 0, 1, 0, 1])
    assert two.classes_.tolist() == ["a", "b"]
    assert two.coef_[:, 0] == pytest.approx(ROWS.T @ (yes - 0.5) / 7)
    assert two.intercept_[0] == pytest.approx((yes - 0.5).mean())
    chance = 1 / (1 + math.exp(-float(ROWS[0] @ two.coef_[:, 0] + two.intercept_[0])))
    assert two.predict_proba(ROWS[:1])[0] == pytest.approx([1 - chance, chance])
    three = LocalSGDClassifier(epsilon=None, batch=9, average=False, l2=0.0, seed=1).fit(ROWS, [5, 7, 9, 5, 7, 9, 5])
    own = np.eye(3)[[0, 1, 2, 0, 1, 2, 0]]
    assert three.coef_ == pytest.approx(ROWS.T @ (own - 1 / 3) / 7)
    powers = np.exp(ROWS @ three.coef_ + three.intercept_)
    assert three.predict_proba(ROWS) == pytest.approx(powers / powers.sum(axis=1, keepdims=True))
    assert three.predict(ROWS).tolist() == np.array([5, 7, 9])[powers.argmax(axis=1)].tolist()


def test_large_scores_have_chances() -> None:
    assert chances(np.array([[1000.0, 0.0], [-1000.0, 0.0]])) == pytest.approx(np.array([[1.0, 0.0], [0.0, 1.0]]))


class Told:
    """Releases that remember what they were made for and hand back what they are given."""

    made: list[tuple[str, float, int | None]]

    def __init__(self, kind: str, epsilon: float, points: int | None = None) -> None:
        self.made.append((kind, epsilon, points))

    def draw(self, numbers: np.ndarray[Any, Any], _: object) -> np.ndarray[Any, Any]:
        return numbers


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, float, int | None]]:
    Told.made = []
    for module in ("deniable.learn.sgd", "deniable.learn.vectors", "deniable.learn.boosting"):
        monkeypatch.setattr(f"{module}.Release", Told)
    return Told.made


@pytest.mark.parametrize(("coordinates", "count"), [("all", 3), (1, 1), (2, 2), ("best", 1)])
def test_what_is_released_is_scaled_back_to_the_mean_gradient(told: list[Any], coordinates: object, count: int) -> None:
    """Of coordinates that are drawn with chance k/d the sum counts d/k times; each has its part of the budget."""
    model = LocalSGDRegressor(epsilon=3.0, coordinates=coordinates, bound=0.5, passes=2, seed=2).fit(ROWS, TARGETS)
    assert model.count_ == count
    assert {(kind, epsilon) for kind, epsilon, _ in told} == {("pm", float_below(Fraction(3, 2) / count))}
    own = np.array([[0.5, -0.25, 0.125]] * 400)
    times = model._released(own, Fraction(3, 2), simulation(1)) / own[0]
    assert times.sum() == pytest.approx(3.0), "everybody sends so many of three, each of which counts for three of them"
    assert times == pytest.approx(np.ones(3)) if count == 3 else (times != 1).any()


# ---- vectors


def test_rows_are_scaled_to_their_public_bounds_and_back(told: list[Any]) -> None:
    made = VectorRelease(epsilon=3.0, low=[0, -1], high=[10, 3], weights=[1, 2], points=9, seed=1).fit(ROWS)
    assert made.budgets_ == [Fraction(1), Fraction(2)]
    assert made.transform([[0.0, 3.0], [2.5, 0.0], [10.0, -1.0]]) == pytest.approx(
        np.array([[0.0, 3.0], [2.5, 0.0], [10.0, -1.0]])
    )
    assert told == [("codebook", 1.0, 9), ("codebook", 2.0, 9)]
    assert [(line.what, line.epsilon) for line in made.ledger_] == [("column 0", 1), ("column 1", 2)]
    few = VectorRelease(epsilon=3.0, low=-1, high=1, coordinates=1, seed=1).fit(ROWS)
    assert [line.what for line in few.ledger_] == ["coordinate 1 of 1 drawn for each row"]
    out = few.transform(ROWS)
    assert (np.isclose(out, 0.0) | np.isclose(out, ROWS)).all()
    assert np.isclose(out, ROWS).sum() == 7, "one coordinate of each row, and the middle of the range for the other"
    assert told[-1] == ("codebook", 3.0, None)


def test_losses_of_few_coordinates_count_the_middle_for_the_rest() -> None:
    """Of the others a quarter of the range is lost on average; of equal numbers the smaller one is taken."""
    assert few_loss(4, 0, 1.0, lambda _: 9.0) == 0.25
    assert few_loss(4, 1, 1.0, lambda each: each / 10) == pytest.approx((0.1 + 0.75) / 4)
    assert few_loss(4, 4, 1.0, lambda each: each) == pytest.approx(0.25)
    assert best_coordinates(5, 1.0, lambda _: 0.25) == 0
    assert best_coordinates(5, 1.0, lambda each: 0.2 if each >= 0.5 else 0.3) == 2
    assert best_coordinates(2, 1.0, lambda _: 0.1) == 2
    assert [coordinates_for_means(4, x) for x in (0.1, 2.49, 5.0, 7.4, 7.5, 99.0)] == [1, 1, 2, 2, 3, 4]
    assert [coordinates_of(x, 4, "pm", 5.0) for x in ("all", "best", 1, 4)] == [4, 2, 1, 4]
    for wrong in (0, 5, "some", 1.5):
        with pytest.raises(ParameterError, match='coordinates must be "all", "best" or a number from 1 to 4'):
            coordinates_of(wrong, 4, "pm", 5.0)


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_coordinates_are_different_and_in_rising_order(count: int) -> None:
    drawn = sample_coordinates(300, 5, count, simulation(3))
    assert drawn.shape == (300, count)
    assert (np.diff(drawn, axis=1) > 0).all()
    assert (drawn.min(), drawn.max()) == (0, 4)


def test_a_share_that_says_nothing_is_refused() -> None:
    VectorRelease(epsilon=1.0, weights=[1e-6, 1 - 1e-6]).fit(ROWS)
    with pytest.raises(ParameterError, match="the smallest share of epsilon must be at least 1e-06, got 5e-07"):
        VectorRelease(epsilon=1.0, weights=[5e-7, 1 - 5e-7]).fit(ROWS)
    assert VectorRelease(epsilon=1.0, weights=[0, 1]).fit(ROWS).budgets_ == [0, 1], "nothing at all is no share"
    with pytest.raises(ParameterError, match='weights must be given with "all" only'):
        VectorRelease(epsilon=1.0, weights=[1, 1], coordinates=1).fit(ROWS)


def test_unbiased_releases_are_rounded_by_chance_to_the_two_nearest_points(monkeypatch: pytest.MonkeyPatch) -> None:
    """The word of chance is added before rounding down; the highest number stays on the last point."""
    seen: list[list[int]] = []
    made: Any = SimpleNamespace(
        k=5,
        privatize_items=lambda items, rng: seen.append(items.tolist()) or items,
        unbiased=lambda items: items / 2 - 1,
    )
    monkeypatch.setattr(release_module, "_mechanism", lambda *_: made)
    words = iter([[0] * 5, [(1 << 32) - 1] * 5, [1 << 31] * 5])
    stream: Any = SimpleNamespace(draw=lambda bits, n: np.array(next(words), np.uint64))
    numbers = np.array([-1.0, -0.75, 0.0, 0.9, 1.0])
    for _ in range(3):
        Release("pm", 1.0).draw(numbers, stream)
    assert seen == [[0, 0, 2, 3, 4], [0, 1, 2, 4, 4], [0, 1, 2, 4, 4]]
    assert Release("pm", 1.0).draw(np.zeros((0, 3)), stream).shape == (0, 3)
    assert Release("pm", 1.0).mean_of(numbers).tolist() == numbers.tolist()


# ---- trees


@pytest.fixture
def silent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """Noise of nothing, and for which budgets and shifts it was asked."""
    asked: list[tuple[Any, ...]] = []
    monkeypatch.setattr(leaves_module, "geometric", lambda epsilon, steps: asked.append((epsilon, steps)) or steps)
    monkeypatch.setattr(leaves_module, "laplace_steps", lambda stream, size, again, *_: np.zeros(size, np.int64))
    return asked


def leaf(total: int, count: int, l2: Fraction = Fraction(1, 4), bound: Fraction = Fraction(1, 2)) -> Leaf:
    return Leaf(total, count, 100, l2, bound)


def test_values_of_leaves_and_how_far_one_person_moves_them() -> None:
    made = [leaf(-300, 9), leaf(0, 0), leaf(999, 1), leaf(-999, 1)]
    assert [one.value for one in made] == [Fraction(12, 37), 0, Fraction(-1, 2), Fraction(1, 2)]
    assert leaf(0, 0).sensitivity == Fraction(4, 5)
    assert leaf(0, 0, bound=Fraction(1, 5)).sensitivity == Fraction(2, 5), "no further than from end to end"
    assert leaf(0, 0, l2=Fraction(0), bound=Fraction(9)).sensitivity == 1


def test_noise_is_added_to_the_middle_of_a_step(silent: list[Any]) -> None:
    """A step is one part in 32 of what one person moves; values are rounded down to steps."""
    made, step = [leaf(-300, 9), leaf(300, 9), leaf(0, 0)], Fraction(4, 5) / STEPS
    whole = [math.floor(one.value / step) for one in made]
    found = laplace(made, Fraction(3, 7), simulation(1))
    assert found == pytest.approx([float((w + Fraction(1, 2)) * step) for w in whole])
    assert silent == [(Fraction(3, 7), 32)]
    ends = clamped_laplace([leaf(-999, 1), leaf(999, 1)], Fraction(1), simulation(1))
    assert ends == pytest.approx([0.5, -0.4875]), "the middle of the last step is beyond the end"


def test_sums_and_counts_have_half_of_the_budget_each(silent: list[Any]) -> None:
    found = noisy_ratio([leaf(-310, 9), leaf(40, 0), leaf(-990, 3)], Fraction(1), simulation(1))
    assert silent == [(Fraction(1, 2), 32), (Fraction(1, 2), 1)]
    sums = [-310 * 32 // 100, 40 * 32 // 100]
    wanted = [-(sums[0] + 0.5) / 32 / 9.25, -(sums[1] + 0.5) / 32 / 1.25, 0.5]
    assert found == pytest.approx(wanted), "an empty leaf counts as one person, and ends are the bound's"


def test_a_tree_without_noise_splits_where_the_gain_is_largest() -> None:
    """Two groups: thresholds are public bins, values -S/(n + l2), the prediction a step of them in the own unit."""
    rows = np.array([[0.0, 0.9], [0.24, 0.1], [0.25, 0.5], [0.5, 0.3], [0.99, 0.6], [1.0, 0.2]])
    goal = np.array([0.0, 0.0, 10.0, 10.0, 10.0, 10.0])
    made = BoostedTrees(
        epsilon=None, trees=1, depth=1, bins=4, l2=0.5, learning_rate=0.4, target=(0.0, 10.0), seed=1
    ).fit(rows, goal)
    (tree,) = made.trees_
    assert (tree.feature.tolist(), tree.threshold.tolist()) == ([0], [1])
    assert tree.value == pytest.approx([-2 / 2.5, 4 / 4.5])
    assert made.predict(rows) == pytest.approx(5 + 5 * 0.4 * np.array([-0.8, -0.8, *[8 / 9] * 4]))
    assert made._bins(rows)[:, 0].tolist() == [0, 0, 1, 2, 3, 3], "the highest number is in the last bin"
    assert made.score(rows, goal) == pytest.approx(
        1 - ((goal - made.predict(rows)) ** 2).sum() / ((goal - goal.mean()) ** 2).sum()
    )


def test_the_next_ensemble_learns_what_is_left() -> None:
    rows, goal = np.array([[0.1]] * 5 + [[0.9]] * 5), np.array([-1.0] * 5 + [1.0] * 5)
    made = BoostedTrees(epsilon=None, trees=1, ensembles=3, depth=1, bins=2, l2=0.0, learning_rate=0.5, seed=1)
    values = [tree.value.tolist() for tree in made.fit(rows, goal).trees_]
    assert values == [[-1.0, 1.0], pytest.approx([-0.5, 0.5]), pytest.approx([-0.25, 0.25])]
    assert made.predict([[0.1], [0.9]]) == pytest.approx([-0.875, 0.875])


def test_what_a_leaf_releases_has_the_rest_of_the_budget_and_the_range_that_is_asked_for(told: list[Any]) -> None:
    some = [Leaf(-50, 3, 100, Fraction(1, 4), Fraction(1)), Leaf(-9999, 1, 100, Fraction(1, 4), Fraction(1))]
    model = BoostedTrees(leaf="brr", split_share=0.75, points=7)
    truth = [float(one.value) for one in some]
    assert model._leaves(some, Fraction(2), simulation(1)) == pytest.approx(truth)
    narrow = BoostedTrees(leaf="brr", split_share=0.75, c="half_sensitivity", points=7)
    assert narrow._leaves(some, Fraction(2), simulation(1)) == pytest.approx([truth[0], 0.4]), "cut at its half"
    assert told == [("brr", 0.5, 7)] * 2
    assert BoostedTrees()._leaves(some, None, simulation(1)) == pytest.approx(truth)


def test_gradients_are_whole_numbers_within_one(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    grow = BoostedTrees._grow

    def spy(self: BoostedTrees, bins: Any, gradients: Any, bound: Fraction, budget: Any, stream: Any) -> Any:
        seen.append((gradients.tolist(), bound, budget))
        return grow(self, bins, gradients, bound, budget, stream)

    monkeypatch.setattr(BoostedTrees, "_grow", spy)
    BoostedTrees(trees=1, ensembles=2, depth=1, target=(0, 2), learning_rate=0.25, seed=1).fit(
        [[0.1], [0.2], [0.3]], [0.0, 1.0, 2.0]
    )
    assert seen[0] == ([UNIT, 0, -UNIT], Fraction(1), Fraction(1, 2))
    seen.clear()
    BoostedTrees(epsilon=None, trees=3, depth=1, learning_rate=0.25, seed=1).fit([[0.5]] * 40, [0.5] * 40)
    assert [(bound, budget) for _, bound, budget in seen] == [
        (1, None),
        (Fraction(3, 4), None),
        (Fraction(9, 16), None),
    ]


# ---- networks


def test_a_step_of_adam_is_the_published_one() -> None:
    weights, first, second = np.array([1.0, -2.0]), np.zeros(2), np.zeros(2)
    m, v, w = np.zeros(2), np.zeros(2), weights.copy()
    for step, slope in enumerate(([0.5, -4.0], [0.1, 2.0], [-3.0, 0.0]), 1):
        g = np.array(slope)
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        w = w - 0.05 * (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)
        weights = _adam(weights, g, (first, second), step, 0.05)
        assert weights == pytest.approx(w)


def test_layers_pass_on_what_is_above_zero_and_the_last_one_all() -> None:
    layers = [
        (np.array([[1.0, -1.0], [2.0, 0.5]]), np.array([0.5, -0.5])),
        (np.array([[1.0, -3.0], [1.0, 1.0]]), np.array([-9.0, 0.0])),
    ]
    first, hidden, scores = _forward(np.array([[1.0, -2.0]]), layers)
    assert first.tolist() == [[1.0, -2.0]]
    assert hidden.tolist() == [[0.0, 0.0]]
    assert scores.tolist() == [[-9.0, 0.0]]
    assert _forward(np.array([[-1.0, 1.0]]), layers)[1].tolist() == [[1.5, 1.0]]


def test_weights_start_within_their_reach_and_offsets_at_nothing() -> None:
    weights, offsets = _start(3, 5, simulation(1))
    reach = math.sqrt(6 / 8)
    assert (weights.shape, offsets.tolist()) == ((3, 5), [0.0] * 5)
    assert 0.8 * reach < weights.max() < reach
    assert -reach < weights.min() < -0.8 * reach


def test_labels_that_are_protected_take_their_part_and_features_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    laws: list[Any] = []
    monkeypatch.setattr(network_module.LocalNetwork, "_train", lambda self, *given: laws.append(given[2]))
    rows, labels = np.array([[0.0, 0.5], [1.0, 0.25], [0.5, 0.5]]), [0, 1, 2]
    made = LocalNetwork(epsilon=2.0, label_epsilon=0.5, coordinates="all", seed=1).fit(rows, labels)
    assert made.ledger_ is not None
    assert [(line.what, line.epsilon) for line in made.ledger_] == [
        ("label", Fraction(1, 2)), ("features, column 0", Fraction(3, 4)), ("features, column 1", Fraction(3, 4)),
    ]  # fmt: skip
    e = math.exp(0.5)
    assert laws[0] == pytest.approx((np.ones((3, 3)) + (e - 1) * np.eye(3)) / (e + 2))
    public = LocalNetwork(epsilon=2.0, coordinates=1, seed=1).fit(rows, labels)
    assert public.ledger_ is not None
    assert [line.epsilon for line in public.ledger_] == [0, 2]
    assert laws[1].tolist() == np.eye(3).tolist()
    assert LocalNetwork(epsilon=None, seed=1).fit(rows, labels).ledger_ is None
    assert made._unit(np.array([[0.0, 1.0]])).tolist() == [[-1.0, 1.0]]
    for wrong in (-0.1, 2.0, 2.5):
        with pytest.raises(ParameterError, match=r"label_epsilon must be from 0 to below epsilon = 2\.0"):
            LocalNetwork(epsilon=2.0, label_epsilon=wrong).fit(rows, labels)
    for hidden in ((), (1, 1, 1), (0,), (2.5,)):
        with pytest.raises(ParameterError, match="hidden must be the sizes of one or two layers"):
            LocalNetwork(hidden=hidden).fit(rows, labels)  # type: ignore[arg-type]


# ---- tables, labels, ledgers


def test_tables_are_taken_as_they_are_or_refused_with_the_first_wrong_cell() -> None:
    assert matrix_of([["1", 2], [3, 4]]).tolist() == [[1.0, 2.0], [3.0, 4.0]]
    for wrong, said in (
        ([[1, 2], [math.inf, math.nan]], r"X must be finite numbers, got inf in row 1, column 0 \(2 cells\)"),
        ([[1, math.nan]], r"got NaN in row 0, column 1 \(1 cells\)"),
        ([1, 2], "two-dimensional: a row per person"),
        (np.zeros((0, 2)), r"X has 0 sample\(s\)"),
        (np.zeros((2, 0)), r"X has 0 feature\(s\)"),
        ([[1j]], "Complex data not supported"),
        ([["a"]], "X must be an array of numbers"),
    ):
        with pytest.raises(ParameterError, match=said):
            matrix_of(wrong)
    for wrong, said in (
        ([1.0], "y must be 2 values, one per row of X, got '1 values'"),
        ([1.0, math.inf], "got 'inf at position 1'"),
        (None, "the target y is None"),
    ):
        with pytest.raises(ParameterError, match=said):
            numbers_of(wrong, 2)
    with pytest.warns(UserWarning, match="A column-vector y was passed"):
        assert column_of([[1], [2]]).tolist() == [1, 2]
    assert column_of([[1, 2]]).tolist() == [[1, 2]]


def test_public_bounds_are_kept_at_their_ends() -> None:
    low, high = span_of(0, [1, 2], 2)
    assert (low.tolist(), high.tolist()) == ([0, 0], [1, 2])
    ends = np.array([[0.0, 2.0], [1.0, 0.0]])
    assert inside(ends, low, high, False, "X").tolist() == ends.tolist()
    beyond = np.array([[0.0, 2.5], [-1.0, 0.0]])
    with pytest.raises(ParameterError, match=r"X must be within its public bounds, got 2\.5 at \(0, 1\) \(2 of 4\)"):
        inside(beyond, low, high, False, "X")
    assert inside(beyond, low, high, True, "X").tolist() == [[0.0, 2.0], [0.0, 0.0]]
    for wrong, said in (
        ((0, 0), "below high = 0"),
        (([0, 1], [1, 1]), "in every column"),
        ((0, [1, 2, 3]), "one number, or"),
    ):
        with pytest.raises(ParameterError, match=said):
            span_of(*wrong, 2)
    with pytest.raises(ParameterError, match="high must be finite"):
        span_of(0, math.inf, 2)


def test_labels_are_numbered_in_their_order() -> None:
    classes = classes_of(None, ["b", "a", "c", "a"])
    assert classes.tolist() == ["a", "b", "c"]
    assert codes_of(["c", "a"], classes, 2).tolist() == [2, 0]
    assert classes_of([3, 1], [1]).tolist() == [1, 3]
    for wrong, said in ((["a"], "y must be 2 labels, one per row of X"), (["a", "z"], "got 'z' at position 1")):
        with pytest.raises(ParameterError, match=said):
            codes_of(wrong, classes, 2)
    with pytest.raises(ParameterError, match="at least two labels"):
        classes_of(None, [1, 1])


def test_determination_is_one_of_all_and_nothing_of_the_mean() -> None:
    truth = np.array([1.0, 2.0, 6.0])
    assert determination(truth, truth) == 1.0
    assert determination(truth, np.full(3, 3.0)) == 0.0
    assert determination(truth, np.array([1.0, 2.0, 3.0])) == pytest.approx(1 - 9 / 14)
    with pytest.raises(ParameterError, match="not constant, for a score"):
        determination(np.ones(3), truth)


def test_a_ledger_is_read_line_by_line() -> None:
    book = Ledger(1.0)
    book.add("one", Fraction(1, 4))
    book.add("two", Fraction(1, 2), step=1, part=2)
    assert str(book) == "step 0, part 0: 0.25 for one\nstep 1, part 2: 0.5 for two\ntotal 0.75 of 1"
    assert [line.what for line in book] == ["one", "two"]
    book.add("the rest", Fraction(1, 4))
    assert book.total == 1, "exactly the promise may be spent"
    with pytest.raises(ParameterError, match="epsilon must be at least 0"):
        book.add("less", Fraction(-1, 9))
