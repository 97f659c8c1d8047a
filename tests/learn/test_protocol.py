"""The manners of scikit-learn: parameters as given, clones, pipelines, cross-validation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from deniable.errors import ParameterError
from deniable.learn import BoostedTrees, LocalNetwork, LocalSGDClassifier, LocalSGDRegressor, VectorRelease
from deniable.learn.estimator import Learner
from deniable.randomness import simulation

LEARNERS: tuple[type[Learner], ...] = (
    BoostedTrees,
    LocalNetwork,
    LocalSGDClassifier,
    LocalSGDRegressor,
    VectorRelease,
)
ROWS = simulation(1).generator().random((120, 3))
LABELS = (ROWS[:, 0] > 0.5).astype(int)


@pytest.mark.parametrize("cls", LEARNERS)
def test_parameters_are_kept_as_given(cls: type[Learner]) -> None:
    given: dict[str, Any] = {name: object() for name in cls().get_params()}
    made = cls(**given)
    assert all(made.get_params()[name] is value for name, value in given.items())
    assert made.set_params(seed=5) is made
    assert made.get_params()["seed"] == 5
    with pytest.raises(ParameterError, match="the name of a parameter must be one of"):
        made.set_params(colour="red")


@pytest.mark.parametrize("cls", LEARNERS)
def test_parameters_stay_as_they_are_in_fit(cls: type[Any]) -> None:
    made = cls(seed=3)
    before = made.get_params()
    made.fit(ROWS, LABELS)
    assert made.get_params() == before
    assert made.n_features_in_ == 3


@pytest.mark.parametrize("cls", [c for c in LEARNERS if c is not VectorRelease])
def test_nothing_is_predicted_before_it_is_learned(cls: type[Any]) -> None:
    with pytest.raises(ParameterError, match="has learned nothing yet"):
        cls().predict(ROWS)


@pytest.mark.parametrize("cls", LEARNERS)
def test_scikit_learn_clones_them(cls: type[Learner]) -> None:
    base = pytest.importorskip("sklearn.base", reason="needs scikit-learn: pip install scikit-learn")
    made = cls(seed=3, epsilon=2.5)  # type: ignore[call-arg]
    twin = base.clone(made)
    assert twin is not made
    assert twin.get_params() == made.get_params()
    assert base.is_classifier(made) == (cls in (LocalNetwork, LocalSGDClassifier))
    assert base.is_regressor(made) == (cls in (BoostedTrees, LocalSGDRegressor))


def test_scikit_learn_cross_validates_searches_and_chains() -> None:
    selection = pytest.importorskip("sklearn.model_selection", reason="needs scikit-learn: pip install scikit-learn")
    pipeline = pytest.importorskip("sklearn.pipeline")
    scores = selection.cross_val_score(LocalSGDClassifier(epsilon=None, seed=1, batch=8, passes=20), ROWS, LABELS, cv=3)
    assert scores.shape == (3,)
    assert scores.min() > 0.7
    search = selection.GridSearchCV(BoostedTrees(seed=1, epsilon=None), {"depth": [1, 2], "trees": [1, 5]}, cv=2)
    search.fit(ROWS, 2 * LABELS - 1)
    assert search.best_params_["trees"] == 5
    chain = pipeline.make_pipeline(VectorRelease(epsilon=30.0, seed=1), LocalNetwork(epsilon=None, seed=1))
    assert chain.fit(ROWS, LABELS).score(ROWS, LABELS) > 0.8
    assert np.isfinite(chain.predict_proba(ROWS)).all()
