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


SMALL: dict[type[Any], dict[str, Any]] = {
    BoostedTrees: {"trees": 2, "depth": 1, "bins": 4},
    LocalNetwork: {"epochs": 1, "hidden": (2,), "coordinates": "all"},
    LocalSGDClassifier: {"batch": 30},
    LocalSGDRegressor: {"batch": 30},
    VectorRelease: {},
}
Two = dict[str, tuple[Any, Any]]
SGD: Two = {"epsilon": (1.0, 2.0), "kind": ("pm", "duchi"), "coordinates": (1, 2), "bound": (0.25, 0.5)}
SGD |= {"passes": (1, 2), "batch": (30, 60), "learning_rate": (1.0, 0.5), "l2": (0.0, 0.5), "average": (True, False)}
VECTORS: Two = {"epsilon": (2.0, 4.0), "kind": ("codebook", "brr"), "coordinates": ("all", 1), "points": (4, 9)}
VECTORS |= {"weights": (None, (1, 2, 3)), "low": (0.0, -1.0), "high": (1.0, 2.0)}
MATTER: dict[type[Any], Two] = {
    BoostedTrees: {"epsilon": (1.0, 2.0), "leaf": ("laplace", "clamped"), "split_share": (0.5, 0.2), "trees": (2, 3)}
    | {"ensembles": (1, 2), "depth": (1, 2), "learning_rate": (0.3, 0.5), "l2": (0.1, 5.0), "bins": (4, 7)}
    | {"low": (0.0, -1.0), "high": (1.0, 3.0), "target": ((-1, 1), (-2, 2))},
    LocalNetwork: VECTORS
    | {"epsilon": (2.0, 4.0), "label_epsilon": (0.0, 0.5), "hidden": ((2,), (3,)), "epochs": (1, 2)}
    | {"batch": (30, 60), "learning_rate": (0.01, 0.1), "l2": (0.0, 0.5), "classes": (None, (0, 1, 2))},
    LocalSGDClassifier: SGD | {"classes": (None, (0, 1, 2))},
    LocalSGDRegressor: SGD,
    VectorRelease: VECTORS,
}
"""Two values of every parameter, with one seed; `seed` itself is one, and those below are looked at by themselves."""
BESIDE = {"c": ({"leaf": "brr"}, "clip", "half_sensitivity"), "clip": ({"high": 0.4}, True, None)}
BESIDE |= {"points": ({"leaf": "brr"}, 5, 9)}


@pytest.mark.parametrize("cls", LEARNERS)
def test_every_parameter_reaches_what_is_learned(cls: type[Any]) -> None:
    """Of each parameter two values that change what comes out; `clip` takes what is refused without it."""

    def came_out(**given: Any) -> list[float]:
        made = cls(**({"seed": 1} | SMALL[cls] | given)).fit(ROWS, LABELS)
        if cls is VectorRelease:
            return made.transform(ROWS[:5]).ravel().tolist()  # type: ignore[no-any-return]
        found = made.predict_proba(ROWS[:5]) if hasattr(made, "predict_proba") else made.predict(ROWS[:5])
        return [*np.ravel(found).tolist(), float(len(made.ledger_))]

    usual = came_out()
    assert came_out() == usual
    assert came_out(seed=2) != usual
    tried = {"seed", *MATTER[cls]}
    for name, values in MATTER[cls].items():
        one, two = (came_out(**{name: value}) for value in values)
        assert one != two, f"{name} of {cls.__name__} changes nothing"
    for name in sorted(set(cls().get_params()) - tried):
        beside, first, second = BESIDE[name]
        if second is None:
            assert came_out(**beside, **{name: first})
            with pytest.raises(ParameterError, match="within its public bounds"):
                came_out(**beside)
        else:
            assert came_out(**beside, **{name: first}) != came_out(**beside, **{name: second}), name


@pytest.mark.parametrize("cls", [LocalNetwork, LocalSGDClassifier])
def test_numbers_between_whole_ones_are_no_labels(cls: type[Any]) -> None:
    with pytest.raises(ParameterError, match=r"Unknown label type: continuous.*such as 0\.5.*Use a regressor"):
        cls(seed=1).fit(ROWS, LABELS + 0.5)
    assert cls(seed=1).fit(ROWS, LABELS * 1.0).classes_.tolist() == [0.0, 1.0]


@pytest.mark.parametrize("cls", [LocalNetwork, LocalSGDClassifier])
@pytest.mark.parametrize("label", [-1, 1, 9])
def test_a_label_that_is_not_listed_is_refused_wherever_it_would_stand(cls: type[Any], label: int) -> None:
    labels = 2 * LABELS
    labels[7] = label
    with pytest.raises(ParameterError, match=rf"y must be one of \[0, 2\], got {label} at position 7"):
        cls(classes=(2, 0), seed=1).fit(ROWS, labels)


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
