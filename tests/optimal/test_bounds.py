"""The least error for designs made in other ways: by classes, at levels, and never above what a design has."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.core.frontier import least_mse
from deniable.core.laws import epsilon_to
from deniable.core.promise.ranges import members
from deniable.mechanisms.optimal.bounds import ByClass, Least, least_at_levels, least_by_class, least_error, least_told
from deniable.mechanisms.utility.bound import least_mse_sum
from optimal.promises import GOLDEN


def _of_case(case: Any) -> tuple[dn.Promise, np.ndarray[Any, Any]]:
    items = [b for b, n in zip(case["budgets"], case["sizes"], strict=True) for _ in range(n)]
    k, theta = len(items) + case["harmless"], case["theta"] if case["harmless"] else 0.0
    promise = dn.promise(item_epsilon=items, rule=case["rule"], k=k, sensitive=len(items))
    prior = np.full(k, (1 - theta) / len(items))
    prior[len(items) :] = theta / max(1, case["harmless"])
    return promise, prior


@pytest.mark.parametrize("case", GOLDEN["classes"], ids=lambda case: case["id"])
def test_golden_classes(case: Any) -> None:
    promise, prior = _of_case(case)
    shares = [sum(prior[x] for x in members(ends)) for ends in promise.classes]
    found = least_by_class(promise, np.array(shares))
    assert isinstance(found, ByClass)
    assert found.kinds == case["orbits"]
    assert found.error == pytest.approx(case["mse"], rel=GOLDEN["tolerance"]["classes"])
    assert found.least <= found.error
    assert found.gap < 1e-9
    same = least_error(promise, prior)
    assert isinstance(same, Least)
    assert (same.error, same.by) == (pytest.approx(found.least, rel=1e-12), "classes")


def test_large_domains_have_the_known_optima() -> None:
    one = least_error(dn.promise(epsilon=1.0, k=1000), np.full(1000, 1e-3))
    assert one is not None
    assert one.error == pytest.approx(1000 * least_mse(1000, 1.0), rel=1e-9)
    some = least_error(dn.promise(epsilon=1.0, k=625, sensitive=25), np.array([0.05 / 25] * 25 + [0.95 / 600] * 600))
    assert some is not None
    assert some.error == pytest.approx(58.0656, rel=1e-6)
    assert some.error == pytest.approx(least_mse_sum(25, 600, 0.95, *epsilon_to(1.0)), rel=1e-9)


@pytest.mark.parametrize(
    "promise",
    [
        dn.promise(item_epsilon=[0.5, 1, 1, 2, 2], rule="own"),
        dn.promise(blocks=[3, 3], inside=1, across=2),
        dn.promise(item_epsilon=[1, 1, 2], rule="min", k=6, sensitive=3),
    ],
    ids=["own", "blocks", "harmless"],
)
def test_classes_and_all_outputs_say_the_same(promise: dn.Promise) -> None:
    """A prior that differs in the last digits only has no classes."""
    k = promise.k
    even = np.full(k, 1 / k)
    tilted = even * (1 + 1e-10 * np.arange(k))
    by_class, listed = least_error(promise, even), least_error(promise, tilted / tilted.sum())
    assert by_class is not None
    assert listed is not None
    assert (by_class.by, listed.by) == ("classes", "outputs")
    assert by_class.error == pytest.approx(listed.error, rel=1e-8)


def test_nothing_is_said_where_nothing_is_known() -> None:
    points = dn.promise(points=list(np.random.default_rng(0).uniform(0, 1, (20, 2))), epsilon=2)
    assert least_error(points, np.full(20, 0.05)) is None
    many = dn.promise(item_epsilon=[1 + i / 10 for i in range(8) for _ in range(3)], rule="own")
    assert least_error(many, np.full(24, 1 / 24)) is None
    assert least_error(dn.promise(budgets=[[0, 0], [0, 0]]), np.array([0.5, 0.5])) is None
    assert least_error(dn.promise(epsilon=1, k=3), np.array([0.5, 0.5, 0.0])) is None
    free = least_error(dn.promise(budgets=[[0, "inf"], ["inf", 0]]), np.array([0.5, 0.5]))
    assert free is not None
    assert free.error == 0.0
    assert free.distance(0.1, 2, 1) == {}


# ---- personal levels


def test_one_level_is_one_epsilon() -> None:
    m = dn.mechanism("pldp", k=5, levels=(1.0,))
    told = least_told(np.ones(1), np.ones(1), 5)
    listed = least_at_levels(m.promise, np.full(5, 0.2), np.ones(1))
    assert listed is not None
    assert told.error == pytest.approx(5 * least_mse(5, 1.0), rel=1e-12)
    assert listed.error == pytest.approx(told.error, rel=1e-9)


def test_levels_that_everybody_knows_are_a_promise_of_their_own() -> None:
    """If nothing is promised about the level, the bound as if it were told is reached."""
    m = dn.mechanism("pldp", k=3, levels=(0.5, 2.0), base="grr", level_epsilon=1.0, shares=(0.4, 0.6))
    loose = m.value_promise.with_levels(m.levels, 40.0, 40.0)
    shares = np.array(m.shares)
    found, told = least_at_levels(loose, np.full(3, 1 / 3), shares), least_told(np.array(m.levels), shares, 3)
    assert found is not None
    assert found.error == pytest.approx(told.error, rel=1e-7)
    hidden = least_at_levels(m.promise, np.full(3, 1 / 3), shares)
    assert hidden is not None
    assert hidden.error > told.error * 1.01


def _random_design(rng: random.Random) -> dn.Mechanism:
    """A design at personal levels, whose promise may also be to some answers only."""
    name = rng.choice(["pldp", "upldp"])
    k = rng.randint(3, 5)
    levels = sorted(rng.uniform(0.1, 4) for _ in range(2))
    own: dict[str, Any] = {"k": k, "levels": tuple(levels), "level_epsilon": rng.uniform(0.2, 2)}
    own |= {"base": rng.choice(["grr", "lh", "sue", "oue"])}
    own |= {"sensitive": rng.randint(2, k - 1), "theta": rng.uniform(0.05, 0.95)} if name == "upldp" else {}
    share = rng.uniform(0.05, 0.95)
    return dn.mechanism(name, shares=(share, 1 - share), **own)


def _holds(rng: random.Random) -> None:
    found = _random_design(rng).properties(10**6)
    assert found["gap"] >= -1e-9
    assert found["mse"] >= found["bound"] * (1 - 1e-9)


def test_no_design_at_levels_is_below_its_bound() -> None:
    rng = random.Random(8)
    for _ in range(6):
        _holds(rng)


@pytest.mark.slow
@pytest.mark.turns(5)
@pytest.mark.parametrize("part", range(10))
def test_many_designs_at_levels_are_not_below_their_bounds(part: int) -> None:
    rng = random.Random(80 + part)
    for _ in range(50):
        _holds(rng)


def test_long_lists_of_answers_have_the_bound_of_known_levels_or_none() -> None:
    plain = dn.mechanism("pldp", k=1000, levels=(1.0, 2.0, 4.0), level_epsilon=1.0).properties()
    assert plain["bound_by"] == "levels told"
    assert plain["gap"] > 0
    some = dn.mechanism("upldp", k=100, sensitive=50, levels=(1.0, 2.0), level_epsilon=1.0).properties()
    assert "bound" not in some


def test_budgets_of_answers_are_far_from_the_best() -> None:
    """The table of baselines: 147 % above the optimum for (1, 1, 2, 2) and two harmless answers."""
    m = dn.mechanism("uue-levels", k=6, sensitive=4, item_epsilon="1,1,2,2", theta=0.5)
    found = m.properties(100)
    assert found["gap"] == pytest.approx(1.466, abs=1e-3)
    assert found["bound"] * 600 == pytest.approx(5.6713, rel=1e-4)
