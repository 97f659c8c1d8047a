"""A network on perturbed features: its derivatives are right, its budget is exact, and it learns."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from deniable.errors import ParameterError
from deniable.learn.network import LocalNetwork, _forward, _slopes, _start
from deniable.learn.sgd import chances
from deniable.randomness import simulation


def corners(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Whether both of the first features are on the same side: no linear rule tells."""
    rows = simulation(seed).generator().random((n, 2))
    return rows, ((rows[:, 0] > 0.5) == (rows[:, 1] > 0.5)).astype(int)


def sides(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Whether the mean of four features is above the middle."""
    rows = simulation(seed).generator().random((n, 4))
    return rows, np.array(["low", "high"])[(rows.mean(axis=1) > 0.5).astype(int)]


@pytest.mark.parametrize("hidden", [(24,), (12, 8)])
def test_it_learns_what_no_line_tells(hidden: tuple[int, ...]) -> None:
    train, test = corners(3000, 1), corners(1000, 2)
    assert LocalNetwork(epsilon=None, hidden=hidden, seed=3).fit(*train).score(*test) > 0.93


@pytest.mark.parametrize("noise", [np.eye(3), np.full((3, 3), 0.2) + 0.4 * np.eye(3)])
def test_derivatives_are_those_of_the_loss(noise: np.ndarray) -> None:
    """Central differences of minus the log-probability of the released label, all weights of two hidden layers."""
    stream = simulation(5)
    layers = [_start(4, 5, stream), _start(5, 6, stream), _start(6, 3, stream)]
    rows, labels = stream.generator().normal(size=(7, 4)), np.array([0, 1, 2, 2, 1, 0, 1])

    def loss() -> float:
        chance = chances(_forward(rows, layers)[-1]) @ noise
        decay = sum(np.sum(weights**2) for weights, _ in layers) * 0.1 / 2
        return float(-np.log(chance[np.arange(7), labels]).mean() + decay)

    for layer, slopes in zip(layers, _slopes(rows, labels, noise, layers, 0.1), strict=True):
        for part, slope in zip(layer, slopes, strict=True):
            for at in np.ndindex(part.shape):
                kept, part[at] = part[at], part[at] + 1e-6
                above = loss()
                part[at] = kept - 1e-6
                below = loss()
                part[at] = kept
                assert (above - below) / 2e-6 == pytest.approx(slope[at], abs=1e-6)


@pytest.mark.parametrize("coordinates", ["all", "best", 2])
@pytest.mark.parametrize("kind", ["codebook", "brr"])
def test_it_learns_from_released_features(coordinates: object, kind: str) -> None:
    """Accuracy of 8000 people at epsilon 6, chance is 1/2; the seed is fixed."""
    train, test = sides(8000, 1), sides(2000, 2)
    found = LocalNetwork(epsilon=6.0, kind=kind, coordinates=coordinates, epochs=3, seed=4).fit(*train)
    assert found.score(*test) > 0.85
    assert found.ledger_ is not None
    assert found.ledger_.total == Fraction(6.0)
    assert next(iter(found.ledger_)).what == "label: public, not protected"


def test_labels_can_be_protected_and_the_law_is_allowed_for() -> None:
    train, test = sides(8000, 1), sides(2000, 2)
    found = LocalNetwork(epsilon=7.0, label_epsilon=1.0, epochs=3, seed=4).fit(*train)
    assert found.ledger_ is not None
    assert 0 <= Fraction(7.0) - found.ledger_.total < Fraction(1, 10**12)
    assert found.score(*test) > 0.8
    spread = found.predict_proba(test[0]).max(axis=1)
    assert spread.max() > 0.9, "chances are those of the true label, not of the released one (at most 0.73)"


def test_few_features_per_person_unless_weights_are_given() -> None:
    rows, labels = sides(100, 1)
    few = LocalNetwork(epsilon=1.0, epochs=1, seed=1).fit(rows, labels)
    assert few.release_.count_ == 1
    weighted = LocalNetwork(epsilon=1.0, weights=[1, 2, 1, 0], epochs=1, seed=1).fit(rows, labels)
    assert weighted.release_.budgets_ == [Fraction(1, 4), Fraction(1, 2), Fraction(1, 4), 0]


def test_what_is_learned_depends_on_released_rows_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the features' release replaced by a constant, the data make no difference."""
    from deniable.learn.vectors import VectorRelease

    monkeypatch.setattr(VectorRelease, "release_unit", lambda self, unit, stream: np.zeros_like(unit))
    labels = np.arange(60) % 2
    models = [LocalNetwork(epochs=1, seed=1).fit(np.full((60, 2), value), labels) for value in (0.1, 0.9)]
    assert all((a[0] == b[0]).all() for a, b in zip(models[0].layers_, models[1].layers_, strict=True))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"label_epsilon": 1.0}, "label_epsilon must be from 0 to below epsilon"),
        ({"hidden": ()}, "hidden must be the sizes of one or two layers"),
        ({"epochs": 0}, "epochs must be an integer >= 1"),
        ({"learning_rate": 0}, "learning_rate must be a finite number > 0"),
        ({"weights": [1, 2, 3]}, "weights must be 2 finite numbers"),
    ],
)
def test_what_does_not_fit_is_refused(options: dict[str, object], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        LocalNetwork(**options).fit(*corners(50, 1))  # type: ignore[arg-type]
