"""What the learners really spend, counted where the randomness is drawn and not where it is written down."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from deniable.errors import ParameterError, PrivacyError
from deniable.learn import boosting, leaves
from deniable.learn.boosting import LEAVES, UNIT, BoostedTrees
from deniable.learn.leaves import STEPS, Truncated
from deniable.learn.ledger import Ledger
from deniable.learn.network import LocalNetwork
from deniable.learn.release import Release
from deniable.learn.sgd import LocalSGDClassifier
from deniable.learn.vectors import VectorRelease
from deniable.mechanisms.frequency.grr import GRR
from deniable_client.exact import exp_bounds

ROWS = (np.arange(96 * 4).reshape(96, 4) * 37 % 101) / 101
LABELS = np.arange(96) % 2
WORD = 1 << 64


class Meter:
    """Every release: what it was, what it costs each person who takes part, and how many do."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, Fraction, int]] = []

    def spy(
        self, patch: pytest.MonkeyPatch, where: object, name: str, cost: Callable[..., tuple[Fraction, int]]
    ) -> None:
        real = getattr(where, name)

        def call(*args: object, **options: object) -> object:
            self.lines.append((name, *cost(*args, **options)))
            return real(*args, **options)

        patch.setattr(where, name, call)

    def costs(self, name: str) -> list[Fraction]:
        return [cost for what, cost, _ in self.lines if what == name]

    def per_person(self, people: int) -> Fraction:
        """What a person spends who takes part as often as all others."""
        return sum((cost * count for _, cost, count in self.lines), Fraction(0)) / people


@pytest.fixture
def meter(monkeypatch: pytest.MonkeyPatch) -> Meter:
    """Numbers cost epsilon per number of a row, labels epsilon, a choice 2 x rate x sensitivity [LiWu20 Lemma 1]."""
    made = Meter()
    made.spy(
        monkeypatch,
        Release,
        "draw",
        lambda self, numbers, rng: (Fraction(self.epsilon) * (np.size(numbers) // len(numbers)), len(numbers)),
    )
    made.spy(monkeypatch, GRR, "privatize_items", lambda self, items, rng: (Fraction(self.epsilon), len(items)))
    made.spy(monkeypatch, boosting, "choose", lambda stream, gains, rate: (rate * 2 * 3 * UNIT**2, 1))
    return made


def nearly(spent: Fraction, epsilon: float) -> bool:
    """Not more, and less only by the rounding of floats."""
    return Fraction(epsilon) * (1 - Fraction(1, 10**9)) < spent <= Fraction(epsilon)


@pytest.mark.parametrize("coordinates", ["all", "best", 1, 2])
@pytest.mark.parametrize("passes", [1, 3])
def test_gradients_of_all_passes_cost_epsilon_together(meter: Meter, coordinates: object, passes: int) -> None:
    model = LocalSGDClassifier(epsilon=6.0, passes=passes, coordinates=coordinates, batch=40, seed=1)
    model.fit(ROWS, LABELS)
    assert len(meter.lines) == 3 * passes
    assert nearly(meter.per_person(96), 6.0)
    assert model.ledger_ is not None
    assert meter.per_person(96) <= model.ledger_.total == 6
    assert len({cost for _, cost, _ in meter.lines}) == 1


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"weights": [1, 2, 0, 5]},
        {"weights": [3, 1, 0, 7]},
        {"coordinates": 3},
        {"coordinates": 1},
        {"coordinates": "best", "kind": "pm"},
    ],
    ids=str,
)
def test_a_row_costs_epsilon_however_it_is_divided(meter: Meter, options: dict[str, object]) -> None:
    made = VectorRelease(epsilon=6.0, seed=1, **options)  # type: ignore[arg-type]
    out = made.fit_transform(ROWS)
    assert nearly(meter.per_person(96), 6.0)
    assert meter.per_person(96) <= made.ledger_.total == 6
    moved = np.count_nonzero(out != 0.5, axis=1)
    assert moved.max() <= sum(1 for budget in made.budgets_ if budget)


@pytest.mark.parametrize("label_epsilon", [0.0, 0.75])
@pytest.mark.parametrize("options", [{}, {"coordinates": "all"}, {"weights": [1, 2, 0, 5]}], ids=str)
def test_label_and_features_cost_epsilon_together(
    meter: Meter, options: dict[str, object], label_epsilon: float
) -> None:
    model = LocalNetwork(epsilon=3.0, label_epsilon=label_epsilon, epochs=1, seed=1, **options)  # type: ignore[arg-type]
    model.fit(ROWS, LABELS)
    assert sum(meter.costs("privatize_items")) == Fraction(label_epsilon)
    assert nearly(meter.per_person(96), 3.0)
    assert model.ledger_ is not None
    assert nearly(model.ledger_.total, 3.0)
    assert meter.per_person(96) <= model.ledger_.total


def test_a_label_without_budget_goes_as_it_is_and_one_with_budget_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the training sees: the labels themselves, or what randomised response made of them."""
    seen: list[np.ndarray] = []
    train = LocalNetwork._train

    def spy(self: LocalNetwork, unit: np.ndarray, codes: np.ndarray, *rest: object) -> None:
        seen.append(codes)
        train(self, unit, codes, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(LocalNetwork, "_train", spy)
    for label_epsilon in (0.0, 0.25):
        LocalNetwork(epsilon=1.0, label_epsilon=label_epsilon, epochs=1, seed=1).fit(ROWS, LABELS)
    assert (seen[0] == LABELS).all()
    assert 20 < np.count_nonzero(seen[1] != LABELS) < 65  # 42 are expected, +-5: the seed is fixed


@pytest.mark.parametrize("leaf", LEAVES)
@pytest.mark.parametrize("c", ["clip", "half_sensitivity"])
def test_splits_and_leaves_cost_half_of_a_tree_each(
    meter: Meter, leaf: str, c: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ensembles add up, trees of one do not: four trees in two ensembles, half of epsilon each."""
    ratios: list[Fraction] = []
    noise, table = leaves.laplace_steps, Truncated.draw

    def noisy(stream: object, size: int, again: int, digits: tuple[int, ...], grid: int) -> np.ndarray:
        ratios.append(Fraction(WORD, again))
        return noise(stream, size, again, digits, grid)  # type: ignore[arg-type]

    def drawn(self: Truncated, inputs: np.ndarray, stream: object) -> np.ndarray:
        ratios.append(self.ratio)
        return table(self, inputs, stream)  # type: ignore[arg-type]

    monkeypatch.setattr(leaves, "laplace_steps", noisy)
    monkeypatch.setattr(Truncated, "draw", drawn)
    model = BoostedTrees(epsilon=4.0, leaf=leaf, c=c, trees=2, ensembles=2, depth=2, seed=1)
    model.fit(ROWS, 2 * ROWS[:, 0] - 1)
    # a tree costs 2: 1 for two levels of splits, 1 for the leaves
    assert meter.costs("choose") == [Fraction(1, 2)] * (4 * 3)
    near = exp_bounds(0.999)[0]
    if leaf == "sums":
        assert len(ratios) == 8
        assert all(near < r ** (2 * STEPS) <= exp_bounds(1.0)[0] for r in ratios[::2])  # one person moves a sum by g
        assert all(near < r**2 <= exp_bounds(1.0)[0] for r in ratios[1::2])  # and a count by 1
    elif leaf in ("laplace", "clamped"):
        assert len(ratios) == 4
        assert all(near < r**STEPS <= exp_bounds(1.0)[0] for r in ratios)
    elif leaf == "truncated":
        assert len(ratios) == 4
        assert all(near < r <= exp_bounds(1.0)[0] for r in ratios)
    else:
        assert meter.costs("draw") == [1] * 4


def test_gradients_of_trees_are_bounded_whatever_the_guess(monkeypatch: pytest.MonkeyPatch) -> None:
    """Noise is made for gradients within +-UNIT; leaves that lead far away must not make larger ones."""
    seen: list[np.ndarray] = []
    grow = BoostedTrees._grow

    def spy(self: BoostedTrees, bins: np.ndarray, gradients: np.ndarray, *rest: object) -> boosting.Tree:
        seen.append(gradients)
        return grow(self, bins, gradients, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(BoostedTrees, "_grow", spy)
    BoostedTrees(epsilon=0.5, leaf="laplace", trees=1, ensembles=6, seed=1).fit(ROWS, 2 * ROWS[:, 0] - 1)
    assert max(np.abs(part).max() for part in seen) == UNIT


def test_leaves_are_bounded_by_what_is_left_of_the_residual(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tree t of an ensemble has leaves within (1 - rate)^t: its noise is made for that."""
    found: list[Fraction] = []
    release = BoostedTrees._leaves

    def spy(self: BoostedTrees, made: list[leaves.Leaf], *rest: object) -> np.ndarray:
        found.extend({leaf.bound for leaf in made})
        return release(self, made, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(BoostedTrees, "_leaves", spy)
    BoostedTrees(trees=3, learning_rate=0.5, seed=1).fit(ROWS, 2 * ROWS[:, 0] - 1)
    assert found == [1, Fraction(1, 2), Fraction(1, 4)]


def test_the_ledger_promises_what_was_given_and_takes_nothing_back() -> None:
    with pytest.raises(ParameterError, match="epsilon must be a finite number > 0"):
        Ledger(0.0)
    book = Ledger(1.0)
    with pytest.raises(ParameterError, match="epsilon must be at least 0"):
        book.add("a gift", Fraction(-1, 2))
    assert len(book) == 0


@pytest.mark.parametrize("model", [LocalSGDClassifier, LocalNetwork, VectorRelease, BoostedTrees])
def test_more_than_words_can_express_is_refused(model: type) -> None:
    with pytest.raises(PrivacyError, match="epsilon must be at most 40 to draw reports"):
        model(epsilon=41.0, seed=1).fit(ROWS, LABELS)
