"""scikit-learn's own checks pass for every learner; what contradicts privacy is waived by tag, with the reason."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from deniable.errors import ParameterError
from deniable.learn import BoostedTrees, LocalNetwork, LocalSGDClassifier, LocalSGDRegressor, VectorRelease
from deniable.learn.vectors import NothingReleased

SKIPPED = {
    "check_array_api_input": "needs SCIPY_ARRAY_API set before scipy is loaded",
    "check_pipeline_consistency": "a release is drawn anew each time: the same row must not give the same report",
    "check_transformer_general": "the same",
    "check_transformer_data_not_an_array": "the same",
}
"""Skipped by scikit-learn itself, the last three because of the tag `non_deterministic`."""

LEARNERS = (
    BoostedTrees(clip=True, seed=1),
    LocalNetwork(clip=True, seed=1),
    LocalSGDClassifier(seed=1),
    LocalSGDRegressor(seed=1),
    VectorRelease(clip=True, seed=1),
)


@pytest.mark.slow
@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_all_checks_pass(learner: Any) -> None:
    checks = pytest.importorskip(
        "sklearn.utils.estimator_checks", reason="needs scikit-learn: pip install scikit-learn"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = checks.check_estimator(learner, on_fail=None, on_skip=None)
    failed = {one["check_name"]: repr(one["exception"]) for one in found if one["status"] == "failed"}
    skipped = {one["check_name"] for one in found if one["status"] == "skipped"}
    assert not failed
    assert skipped <= set(SKIPPED)
    assert sum(one["status"] == "passed" for one in found) >= 40


def test_what_is_waived_is_said_by_tag() -> None:
    pytest.importorskip("sklearn")
    tags = {type(learner): learner.__sklearn_tags__() for learner in LEARNERS}
    assert all(tags[cls].classifier_tags.poor_score for cls in (LocalNetwork, LocalSGDClassifier))
    assert all(tags[cls].regressor_tags.poor_score for cls in (BoostedTrees, LocalSGDRegressor))
    assert [cls for cls, tag in tags.items() if tag.non_deterministic] == [VectorRelease]


def test_a_column_is_read_as_a_list_and_says_so() -> None:
    rows = np.linspace(0, 1, 40)[:, None]
    with pytest.warns(UserWarning, match="column-vector y was passed"):
        one = LocalSGDRegressor(epsilon=None, seed=1).fit(rows, rows)
    two = LocalSGDRegressor(epsilon=None, seed=1).fit(rows, rows[:, 0])
    assert one.predict(rows).tolist() == two.predict(rows).tolist()


def test_a_release_that_says_nothing_warns() -> None:
    """At epsilon 0.25 the middle of the range is better than any report of 14 columns; with more it is not."""
    rows = np.full((5, 14), 0.3)
    with pytest.warns(NothingReleased, match="nothing is released: at epsilon = 0.25"):
        made = VectorRelease(epsilon=0.25, coordinates="best", kind="brr", seed=1).fit(rows)
    assert made.transform(rows).tolist() == np.full((5, 14), 0.5).tolist()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        VectorRelease(epsilon=8.0, coordinates="best", kind="brr", seed=1).fit(rows)


def test_splits_and_leaves_share_the_budget_as_told() -> None:
    rows, y = np.linspace(0, 1, 60)[:, None], np.linspace(-1, 1, 60)
    for share, splits in ((0.5, 1.0), (0.25, 0.5)):
        made = BoostedTrees(epsilon=2.0, trees=2, split_share=share, seed=1).fit(rows, y)
        assert made.ledger_ is not None
        lines = {line.what: float(line.epsilon) for line in made.ledger_}
        assert lines["splits of tree 1, ensemble 1"] == splits
        assert lines["leaves of tree 1, ensemble 1"] == 2.0 - splits
        assert float(made.ledger_.total) == 2.0
    for bad in (0, 1, -0.1):
        with pytest.raises(ParameterError, match="split_share must be between 0 and 1"):
            BoostedTrees(split_share=bad).fit(rows, y)
