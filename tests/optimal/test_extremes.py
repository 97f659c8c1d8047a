"""Extreme outputs: how many there are, that they keep the promise, and that every other output is made of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.optimize import nnls

import deniable as dn
from deniable.core.types import FloatArray
from deniable.errors import EnumerationError, ParameterError
from deniable.mechanisms.optimal import extremes as module
from deniable.mechanisms.optimal.extremes import IMPOSSIBLE, MOST_VALUES, NONE, closed_units, extremes, generating
from optimal.promises import GOLDEN, budgets_of_case, generic, line, random_promise


@pytest.mark.parametrize("case", GOLDEN["estimation"], ids=lambda case: case["id"])
def test_there_are_as_many_as_there_should_be(case: Any) -> None:
    assert len(extremes(budgets_of_case(case))) == case["extreme_outputs"]


def _said(text: str) -> FloatArray:
    """The promise of a golden count."""
    kind, *words = text.replace("=", " ").replace(",", "").split()
    numbers = [int(word) for word in words if word.isdigit()]
    k = numbers[0]
    ways: dict[str, Any] = {
        "plain": {"epsilon": 1, "k": k},
        "line": {"graph": [(x, x + 1) for x in range(k - 1)], "epsilon": 0.7, "k": k},
        "uldp": {"epsilon": 1, "k": sum(numbers), "sensitive": k},
        "cycle": {"graph": [(x, (x + 1) % k) for x in range(k)], "epsilon": 1, "k": k},
        "star": {"graph": [(0, x) for x in range(1, k)], "epsilon": 1, "k": k},
    }
    return generic(k) if kind == "generic" else dn.promise(**ways[kind]).budgets


@pytest.mark.parametrize("case", GOLDEN["counts"], ids=lambda case: case["promise"])
def test_counts_of_known_promises(case: Any) -> None:
    assert len(extremes(_said(case["promise"]))) == case["extreme_outputs"]


def test_generic_budgets_have_the_largest_number_of_all() -> None:
    assert [len(extremes(generic(k))) for k in (4, 7, 8)] == [math.comb(2 * k - 2, k - 1) for k in (4, 7, 8)]


def _looks_right(budgets: FloatArray) -> None:
    """By the definition: within all limits, and connected by pairs that are just at theirs."""
    found = extremes(budgets)
    units, bits = closed_units(budgets)
    assert (np.ldexp(np.where(units < NONE, units, 0).astype(float), -bits) <= np.where(units < NONE, budgets, 0)).all()
    for u in found.potentials:
        at = np.flatnonzero(u != IMPOSSIBLE)
        rest = np.flatnonzero(u == IMPOSSIBLE)
        assert (units[np.ix_(at, rest)] == NONE).all(), "an output that a value rules out against its limit"
        slack = u[at][None, :] + units[np.ix_(at, at)] - u[at][:, None]
        assert slack.min() == 0 == u[at].min()
        tight = (slack == 0) | (slack == 0).T
        reached = {0}
        while more := {int(z) for x in reached for z in np.flatnonzero(tight[x])} - reached:
            reached |= more
        assert len(reached) == at.size, "a part of it could be scaled alone"
    assert len({u.tobytes() for u in found.potentials}) == len(found)


def _holds_all(budgets: FloatArray, rng: np.random.Generator) -> None:
    """Any output that keeps the promise is a sum of extreme ones."""
    rays = extremes(budgets).rays
    kept = dn.promise(budgets=np.where(np.isinf(budgets), "inf", budgets.astype(object)).tolist()).closed.budgets
    for _ in range(4):
        start = rng.uniform(-3, 3, len(budgets))
        inside = np.exp((kept + start[None, :]).min(axis=1))
        assert nnls(rays.T, inside)[1] < 1e-9 * inside.max()


@pytest.mark.parametrize("part", range(2))
def test_random_promises(part: int) -> None:
    rng = np.random.default_rng(part)
    for i in range(12):
        budgets, _ = random_promise(rng, endless=bool(i % 2))
        _looks_right(budgets)
        _holds_all(budgets, rng)


@pytest.mark.slow
@pytest.mark.turns(5)
@pytest.mark.parametrize("part", range(10, 20))
def test_many_random_promises(part: int) -> None:
    rng = np.random.default_rng(part)
    for i in range(50):
        budgets, _ = random_promise(rng, endless=bool(i % 2))
        _looks_right(budgets)
        _holds_all(budgets, rng)


def test_a_tree_and_one_epsilon_are_found_in_closed_form_and_by_walking_alike() -> None:
    """The same vertices, whichever way they are found."""
    star = dn.promise(graph=[(0, 1), (0, 2), (2, 3), (2, 4)], epsilon=0.3, k=5).budgets
    uneven = line(5, 0.7) * np.where(np.subtract.outer(range(5), range(5)) > 0, 1.0, 2.5)
    for budgets in (star, uneven, line(6, 0.7), 0.9 * (1 - np.eye(5))):
        known = extremes(budgets).potentials
        units = closed_units(budgets)[0]
        walked = module._walk(units, module._Meter(len(units), None))
        assert {u.tobytes() for u in walked} == {u.tobytes() for u in known}
    assert generating(closed_units(line(4, 0.7))[0]).sum() == 6


def test_a_long_promise_is_refused_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deniable.mechanisms.optimal.extremes._CHECKS", 1 << 20)  # not for minutes
    with pytest.raises(EnumerationError, match=r"binom\(22, 11\) = 705432 .*objective release") as refused:
        extremes(generic(12))
    assert "affine" in str(refused.value)
    with pytest.raises(EnumerationError, match=f"{MOST_VALUES + 1} values are more than"):
        extremes(line(MOST_VALUES + 1, 1.0))
    assert len(extremes(line(MOST_VALUES, 0.5))) == 1 << (MOST_VALUES - 1)


def test_values_that_cannot_be_told_apart_are_refused() -> None:
    with pytest.raises(ParameterError, match=r"budgets must be at least 2\^-50.*merged"):
        extremes(np.array([[0, 0.0], [1.0, 0]]))


def test_large_budgets_and_none_at_all() -> None:
    """Potentials stay whole numbers of 64 bits; without any limit every value has its own output."""
    long = line(14, 40.0)
    found = extremes(np.where(long > 40, math.inf, long))
    assert found.bits == 49
    assert found.potentials.max() == 13 * 40 << 49
    assert extremes(np.where(np.eye(4) > 0, 0.0, math.inf)).rays.tolist() == np.eye(4).tolist()


def test_somebody_hears_how_many_are_known() -> None:
    heard: list[int] = []
    budgets = generic(7, seed=3)
    assert len(extremes(budgets, heard.append)) == heard[-1] == 924
    assert heard == sorted(heard)
    assert len(heard) > 3
