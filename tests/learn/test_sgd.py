"""Gradient descent on perturbed gradients: unbiased where it says so, each person once, and it learns."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from deniable.errors import ParameterError
from deniable.learn.release import KINDS
from deniable.learn.sgd import LocalSGDClassifier, LocalSGDRegressor, _LocalSGD, chances
from deniable.randomness import simulation


def made_up(n: int, seed: int, classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Points in a square whose class depends on their direction."""
    rows = simulation(seed).generator().uniform(-1, 1, (n, 2))
    return rows, np.floor((np.arctan2(rows[:, 1], rows[:, 0]) / np.pi + 1) / 2 * classes).clip(0, classes - 1).astype(
        int
    )


@pytest.mark.parametrize("classes", [2, 3])
def test_it_learns_with_and_without_noise(classes: int) -> None:
    """Accuracy of 40,000 people: chance is 1/2 or 1/3; the seed is fixed."""
    train, test = made_up(40_000, 1, classes), made_up(4000, 2, classes)
    clear = LocalSGDClassifier(epsilon=None, seed=3).fit(*train)
    noisy = LocalSGDClassifier(epsilon=2.0, batch=1000, seed=3).fit(*train)
    assert clear.score(*test) > 0.85
    assert noisy.score(*test) > 0.75
    assert noisy.predict_proba(test[0]).sum(axis=1) == pytest.approx(1)


def test_regularisation_leaves_the_intercept_alone() -> None:
    """However strong it is, a constant target is found: only slopes are drawn to nothing."""
    rows = simulation(4).generator().uniform(-1, 1, (400, 2))
    found = LocalSGDRegressor(epsilon=None, l2=0.9, passes=60, batch=400, seed=5).fit(
        rows, np.full(400, 0.7) + rows[:, 0]
    )
    assert found.intercept_ == pytest.approx([0.7], abs=0.05)
    assert np.abs(found.coef_).max() < 0.5


def test_regression_learns() -> None:
    rows = simulation(4).generator().uniform(-1, 1, (40_000, 3))
    truth = rows @ [0.5, -0.3, 0.0] + 0.1
    found = LocalSGDRegressor(epsilon=4.0, batch=1000, seed=5).fit(rows, truth)
    assert found.score(rows, truth) > 0.8
    clear = LocalSGDRegressor(epsilon=None, l2=0.0, passes=8, seed=5).fit(rows, truth)
    assert clear.coef_[:, 0] == pytest.approx([0.5, -0.3, 0], abs=0.01)


def released(kind: str, own: np.ndarray, coordinates: object, seed: int) -> np.ndarray:
    model = _LocalSGD(kind=kind, coordinates=coordinates, epsilon=2.0, bound=1.0)
    model.count_ = model._count(own.shape[1], 2.0)
    return model._released(own, Fraction(2), simulation(seed))


@pytest.mark.stat
@pytest.mark.parametrize("kind", ["pm", "duchi"])
@pytest.mark.parametrize("coordinates", ["best", 2, "all"])
def test_the_released_gradient_has_the_right_mean(kind: str, coordinates: object) -> None:
    """400 batches of the same 50 people; z-tests of 4 coordinates at alpha = 1e-6."""
    own = simulation(6).generator().uniform(-1, 1, (50, 4))
    runs = np.array([released(kind, own, coordinates, seed) for seed in range(400)])
    z = (runs.mean(axis=0) - own.mean(axis=0)) / (runs.std(axis=0) / 20)
    assert np.abs(z).max() < 4.9


@pytest.mark.stat
@pytest.mark.parametrize("kind", ["codebook", "brr"])
def test_near_answers_are_biased_and_the_same_test_sees_it(kind: str) -> None:
    own = np.full((50, 4), 0.9)
    runs = np.array([released(kind, own, 2, seed) for seed in range(400)])
    z = (runs.mean(axis=0) - 0.9) / (runs.std(axis=0) / 20)
    assert (z < -4.9).all()


@pytest.mark.stat
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_made_of_a_gradient_of_zero(kind: str) -> None:
    """Ties go to one side in a mechanism; a random sign undoes that. z-tests of 4 coordinates at alpha = 1e-6."""
    runs = np.array([released(kind, np.zeros((50, 4)), "all", seed) for seed in range(200)])
    spread = runs.std(axis=0)
    assert (np.abs(runs.mean(axis=0)) < 4.9 * spread / np.sqrt(200)).all()
    assert spread.min() > 0


def test_everybody_once_and_the_ledger_says_so() -> None:
    rows, labels = made_up(1000, 7)
    one = LocalSGDClassifier(epsilon=1.5, batch=300, seed=1).fit(rows, labels)
    assert one.ledger_ is not None
    assert one.ledger_.total == Fraction(1.5)
    assert [(line.step, line.part) for line in one.ledger_] == [(0, part) for part in range(4)]
    three = LocalSGDClassifier(epsilon=1.5, batch=300, passes=3, seed=1).fit(rows, labels)
    assert three.ledger_ is not None
    assert three.ledger_.total == Fraction(1.5)
    assert {line.epsilon for line in three.ledger_} == {Fraction(1.5) / 3}


def test_each_pass_takes_every_row_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[float] = []
    gradient = _LocalSGD._gradient

    def spy(self: _LocalSGD, inputs: np.ndarray, *rest: object) -> np.ndarray:
        seen.extend(inputs[:, 0].tolist())
        return gradient(self, inputs, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(_LocalSGD, "_gradient", spy)
    rows = np.arange(100.0)[:, None]
    LocalSGDClassifier(batch=30, passes=2, seed=2).fit(rows / 100, np.arange(100) % 2)
    assert sorted(seen[:100]) == sorted(seen[100:]) == (rows[:, 0] / 100).tolist()
    assert seen[:100] != seen[100:]


def test_gradients_are_clipped_to_the_public_bound() -> None:
    """Whatever the data, what is released comes from [-C, C]: far examples send no more than near ones."""
    model = LocalSGDRegressor(kind="duchi", bound=0.5, coordinates="all", seed=1)
    model.count_ = 2
    sent = []
    for size in (1.0, 1e6):
        inputs = np.column_stack([np.full(8, size), np.ones(8)])
        sent.append(model._gradient(inputs, np.full((8, 1), -size), np.zeros((2, 1)), Fraction(1), simulation(3)))
    assert (sent[0] == sent[1]).all()


def test_softmax_of_one_column_is_logistic() -> None:
    assert chances(np.array([[0.0], [np.log(3)]]))[:, 0] == pytest.approx([0.5, 0.75])
    assert np.isfinite(chances(np.array([[-1e9], [1e9]]))).all()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"kind": "laplace"}, "kind must be one of"),
        ({"bound": 0}, "bound must be a finite number > 0"),
        ({"passes": 0}, "passes must be an integer >= 1"),
        ({"classes": [0, 5]}, r"y must be one of \[0, 5\], got .*1"),
        ({"coordinates": 0}, "coordinates must be"),
    ],
)
def test_what_does_not_fit_is_refused(options: dict[str, object], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        LocalSGDClassifier(**options).fit(*made_up(50, 1))  # type: ignore[arg-type]
