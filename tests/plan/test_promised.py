"""Plans of shares for promises of any kind: the best channel first, and others as far above it as they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.core.promise.paths import implies
from deniable.errors import ParameterError

PROMISES: dict[str, tuple[dict[str, Any], float, dict[str, float]]] = {
    "smaller budgets": (
        {"item_epsilon": [1, 2, 3, 4], "rule": "min"},
        4.6487,
        {"grr": 62.5, "uue-levels": 238.1, "oue": 238.4},
    ),
    "a line": ({"graph": [(0, 1), (1, 2), (2, 3), (3, 4)], "epsilon": 0.5, "k": 5}, 26.702, {"ss": 85.2}),
    "harmless ones": (
        {"item_epsilon": [1, 1, 2, 2, "inf", "inf"], "rule": "min"},
        5.9158,
        {"uss": 34.3, "uue-levels": 146.2, "ss": 151.5},
    ),
}
"""Promises, the least summed error of one report, and how many per cent others are above it."""


@pytest.mark.parametrize("name", PROMISES)
def test_the_best_channel_is_first_and_others_that_keep_the_promise_are_held_to_it(name: str) -> None:
    said, least, above = PROMISES[name]
    p = dn.promise(**said)
    found = dn.plan(promise=p, n=1000)
    assert found.best is not None
    assert found.best.name == "optimal"
    assert found.best.mse * 1000 * p.k == pytest.approx(least, rel=2e-5)
    for d in found.designs:
        assert implies(d.mechanism.promise, p)
        assert d.bound == pytest.approx(found.best.bound)
        assert d.gap == pytest.approx(d.mse / found.best.mse - 1, abs=1e-9)
    excess = {d.name: d.gap for d in reversed(found.designs)}
    assert {each: round(100 * (excess[each] or 0), 1) for each in above} == above
    assert found.document()["request"]["promise"] == p.to_document()
    assert found.frontier == (), "that of one epsilon is not that of a promise"


def test_budgets_of_answers_are_a_promise_and_their_unary_code_is_no_longer_first() -> None:
    given = {"item_epsilon": "1,1,2,2", "sensitive": 4, "theta": 0.5}
    found = dn.plan(k=6, n=10_000, epsilon=2.0, given=given)
    assert found.best is not None
    assert found.best.name == "optimal"
    assert found.best.mse * 10_000 * 6 == pytest.approx(5.67130383, rel=1e-8)
    p = dn.promise(item_epsilon=[1, 1, 2, 2, "inf", "inf"], rule="min")
    assert all(implies(d.mechanism.promise, p) for d in found.designs), "grr at epsilon 2 would break it"
    levels = next(d for d in found.designs if d.name == "uue-levels")
    assert levels.gap == pytest.approx(1.4659, abs=1e-4)


def test_a_target_error_finds_the_fewest_reports_and_no_epsilon_is_looked_for() -> None:
    p = dn.promise(graph=[(0, 1), (1, 2)], epsilon=0.5, k=3)
    found = dn.plan(promise=p, target_error=0.01)
    assert found.best is not None
    assert found.message.endswith("reports are enough for a standard error of 0.01 under this promise: optimal.")
    enough = found.best.n
    assert dn.plan(promise=p, n=enough, target_error=0.01).best is not None
    fewer = dn.plan(promise=p, n=enough - 1, target_error=0.01)
    assert not fewer.feasible
    assert f"That error takes {enough:,} reports with optimal." in fewer.message


def test_many_answers_have_a_bound_where_the_best_channel_is_not_found() -> None:
    found = dn.plan(promise=dn.promise(epsilon=1.0, k=60, sensitive=6), n=1000, given={"theta": 0.9})
    gaps = {d.name: d.gap for d in reversed(found.designs)}
    assert gaps["uss"] is not None
    assert 0 <= gaps["uss"] < 0.05
    assert gaps["ss"] > 1
    assert all(d.bound == found.designs[0].bound for d in found.designs)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"epsilon": 1.0}, "epsilon must be left out with a promise"),
        ({"k": 4}, "promise must be one to 4 answers"),
        ({"sensitive": 2}, "sensitive must be left out: the promise says it"),
        ({"given": {"theta": 0.5}}, "theta must be left out: no answer of this promise is harmless"),
        ({"promise": dn.promise(budgets=[[0, 0], [1, 0]])}, "with finite budgets above 0 alone"),
        ({"promise": dn.promise(budgets=[[0, "inf"], ["inf", 0]])}, "with finite budgets above 0 alone"),
        ({"promise": {"epsilon": 1, "k": 3}}, "promise must be a promise"),
    ],
)
def test_what_does_not_go_with_a_promise_is_refused(wrong: dict[str, Any], told: str) -> None:
    with pytest.raises(ParameterError, match=told):
        dn.plan(**({"promise": dn.promise(epsilon=1.0, k=3), "n": 100} | wrong))


def test_which_promises_follow_from_others() -> None:
    rng = np.random.default_rng(7)
    seen = set()
    for _ in range(60):
        one, two = (np.where(rng.random((4, 4)) < 0.2, np.inf, rng.choice([0.5, 1.0, 2.0], (4, 4))) for _ in range(2))
        np.fill_diagonal(one, 0)
        np.fill_diagonal(two, 0)
        two = np.where(rng.random() < 0.5, np.maximum(one, two), two)
        p, q = dn.promise(budgets=one.tolist()), dn.promise(budgets=two.tolist())
        seen.add(implies(p, q))
        assert implies(p, q) == bool((p.closed.budgets <= q.budgets).all())
    assert seen == {True, False}
    assert implies(dn.promise(epsilon=1.0, k=10**6), dn.promise(epsilon=1.0, k=10**6, sensitive=5))
    assert not implies(dn.promise(epsilon=1.0, k=10**6, sensitive=5), dn.promise(epsilon=1.0, k=10**6))
