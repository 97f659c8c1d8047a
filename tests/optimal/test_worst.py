"""The least worst case: golden values, both sides certified, and no population that does worse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.mechanisms.optimal.estimation import best, rounded
from deniable.mechanisms.optimal.extremes import extremes
from deniable.mechanisms.optimal.goal import Goal, Worth
from deniable.mechanisms.optimal.worst import Minimax, minimax
from optimal.promises import GOLDEN, budgets_of_case, line, random_promise
from tiers import few_of_each


def _of(budgets: Any) -> Minimax:
    k = len(budgets)
    return minimax(extremes(budgets), Goal(np.full(k, 1 / k), np.eye(k)))


CASES = few_of_each(GOLDEN["worst_case"], lambda case: "all", (1, 3), name=lambda case: case["id"])


@pytest.mark.parametrize("case", CASES)
def test_golden_worst_cases(case: Any) -> None:
    budgets = budgets_of_case(case)
    found = _of(budgets)
    assert found.lower == pytest.approx(case["lower"], rel=GOLDEN["tolerance"]["worst"])
    assert found.upper == pytest.approx(case["upper"], rel=GOLDEN["tolerance"]["worst"])
    assert found.lower <= found.error <= found.lower * (1 + 2e-7)
    assert np.abs(found.worth.goal.prior - case["least_favourable"]).max() < 5e-3
    table = rounded(extremes(budgets), found.tops, budgets)
    own = Worth(found.worth.goal, table.matrix)
    assert float(own.errors.max()) == pytest.approx(found.error, rel=1e-11)
    least = own.error - own.certificate(extremes(budgets)).gap * own.used[0].spread(own.used[1])
    assert least == pytest.approx(found.lower, rel=1e-6)


@pytest.mark.slow
def test_no_population_does_worse_and_the_uniform_design_does() -> None:
    """Errors are linear in the frequencies, so that single values are the worst there is."""
    found, every = _of(line(6, 1.0)), extremes(line(6, 1.0))
    even = best(every, Goal(np.full(6, 1 / 6), np.eye(6)))
    assert found.error == pytest.approx(6.46166, rel=1e-6)
    assert float(even.worth.errors.max()) == pytest.approx(7.339, rel=1e-3)
    assert even.error < found.worth.error


@pytest.mark.slow
def test_random_promises_have_a_certified_worst_case() -> None:
    rng = np.random.default_rng(5)
    for i in range(4):
        budgets, _ = random_promise(rng, endless=bool(i % 2))
        found = _of(budgets)
        assert found.lower <= found.upper * (1 + 1e-12)
        assert found.error <= found.lower * (1 + 1e-5)
        for _ in range(5):
            prior = rng.dirichlet(np.ones(len(budgets))) * 0.9 + 0.1 / len(budgets)
            other = best(extremes(budgets), Goal(prior, np.eye(len(budgets))))
            assert other.least <= found.upper * (1 + 1e-9), "a population at which everybody has a larger error"


@pytest.mark.slow
def test_the_worst_case_of_a_mean_is_that_of_its_ends() -> None:
    values = np.linspace(-1, 1, 4)[None]
    plain = dn.promise(epsilon=1.0, k=4).budgets
    found = minimax(extremes(plain), Goal(np.full(4, 0.25), values))
    assert found.lower <= found.error <= found.lower * (1 + 1e-5)
    assert found.error >= best(extremes(plain), Goal(np.full(4, 0.25), values)).error
