"""Parameters that are left out are the best of all: by closed forms of where errors turn, and by long searches."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.core.domain import Domain
from deniable.core.laws import epsilon_to, hashing, subset, unary
from deniable.mechanisms.utility import laws
from deniable.mechanisms.utility.bases import ideal_law
from deniable.mechanisms.utility.bound import best_mixture, converse, single_mse
from deniable.mechanisms.utility.budgets import _error, _ideal, _law, best_flip
from deniable.mechanisms.utility.make import make_separate
from deniable.mechanisms.utility.minimax import at_worst, least_favourable, worst_error
from deniable_client.kernels.geometry import is_prime

# ---- the best parameters


def _cost(name: str, **own: Any) -> float:
    return float(dn.mechanism(name, **own).mse_sum())  # type: ignore[attr-defined]


@pytest.mark.parametrize("theta", [0.1, 0.6, 0.95])
@pytest.mark.parametrize("form", ["null", "glutf"])
def test_parameters_left_out_are_the_best_of_all(form: str, theta: float) -> None:
    given: dict[str, Any] = {"epsilon": 1.0, "k": 30, "sensitive": 12, "theta": theta, "form": form}

    def best(name: str, option: str, values: Any, **more: Any) -> None:
        least = _cost(name, **given, **more)
        others = [_cost(name, **given, **more, **{option: value}) for value in values]
        assert least <= min(others) * (1 + 1e-12), (name, option)

    best("uss", "size", range(1, 12))
    best("ulh", "g", range(2, 40))
    best("utility", "g", range(2, 13), base="plh")
    p = dn.mechanism("uue", **given).base.p  # type: ignore[attr-defined]
    best("uue", "p", [p * 0.99, 1 - (1 - p) * 0.99])
    if form == "null":
        arc = dn.mechanism("uwheel", **given).base.arc  # type: ignore[attr-defined]
        best("uwheel", "arc", [arc * 0.99, arc * 1.01])
        best("upgr", "prime", [q for q in range(2, 40) if is_prime(q)])


@pytest.mark.parametrize("theta", [0.1, 0.6, 0.95])
def test_real_parameters_are_where_the_error_turns(theta: float) -> None:
    """The closed forms of best sizes, shares and ranges: a step to either side costs more."""
    (w, v), s = epsilon_to(1.0), 40
    t: dict[str, tuple[float, Any, str]] = {
        "null size": (laws.null_size(s, theta, w, v), lambda x: (subset(w, v, s, x), x), "null"),
        "null share": (laws.null_share(s, theta, w), lambda x: (unary(x, 1 - x, w, v), 1), "null"),
        "null range": (laws.null_range(s, theta, w), lambda x: (hashing(w, v, x), 1), "null"),
        "size": (laws.mapped_size(s, theta, w, v), lambda x: (subset(w, v, s, x), x), "glutf"),
        "share": (laws.mapped_share(s, theta, w, v), lambda x: (unary(x, 1 - x, w, v), 1), "glutf"),
        "range": (laws.mapped_range(s, theta, w, v), lambda x: (hashing(w, v, x), 1), "glutf"),
    }
    for name, (real, law_at, form) in t.items():
        near = [law_at(real * step) for step in (0.99, 1.0, 1.01)]
        cost = [float(ideal_law(law, s, least, form, w, v).mse_sum(s, theta)) for law, least in near]
        assert cost[1] == min(cost), name


def test_whole_numbers_are_next_to_real_ones_and_the_smaller_of_two() -> None:
    def even(x: float) -> float:
        return (x - 4.5) ** 2

    assert laws.near(4.5, 1, 9, even) == 4
    assert laws.near(4.2, 1, 9, lambda x: -x) == 5
    assert laws.near(7.7, 1, 5, even) == 5
    assert laws.near(-3.0, 1, 5, even) == 1
    assert laws.walk(1.2, 1, 9, lambda x: (x - 7) ** 2) == 7
    assert laws.walk(9, 1, 9, lambda x: (x - 7) ** 2) == 7
    assert laws.walk(2.0, 1, 5, lambda x: (x - 7) ** 2) == 5
    assert laws.golden(lambda x: (x - 0.3) ** 2, 0.0, 1.0, 60) == pytest.approx(0.3, abs=1e-7)
    assert laws.golden(lambda x: x, 0.0, 1.0, 60) == pytest.approx(0.0, abs=1e-9)


def test_a_base_that_leaks_all_that_is_promised_has_the_odds_of_the_promise() -> None:
    (w, v), law = epsilon_to(1.0), unary(0.6, 0.4, *epsilon_to(1.0))
    assert laws.leaking_odds(1.0, 1.0) is None
    assert laws.leaking_odds(0.7, 1.0) == math.exp(0.7)
    assert laws.null_law(law, w, v, 1 / w).z == pytest.approx(laws.null_law(law, w, v).z)
    assert laws.null_law(law, w, v, math.exp(0.5)).z > laws.null_law(law, w, v).z
    for least in (1, 2, 5):
        same = laws.mapped_disclosure(least, 5, w, v)
        assert laws.mapped_disclosure(least, 5, w, v, 1 / w) == pytest.approx(same)
        assert 1 - same == pytest.approx(5 * w / (least + (5 - least) * w) * 1.0)


# ---- the worst case


def test_the_worst_case_is_at_an_end_and_as_good_as_can_be() -> None:
    given: dict[str, Any] = {"epsilon": 1.0, "k": 20, "sensitive": 6}
    m: Any = dn.mechanism("uue", theta="minimax", **given)
    assert m.theta in (0.0, 1.0)
    assert m.mse_sum() == pytest.approx(worst_error(m), rel=1e-9)
    for theta in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0):
        other: Any = dn.mechanism("uue", theta=theta, **given)
        assert worst_error(m) <= worst_error(other) * (1 + 1e-9)
        assert at_worst(other).theta == float(other.mse_sum(theta=1.0) >= other.mse_sum(theta=0.0))
    for form in ("null", "glutf"):
        separate = make_separate(
            name="urap", epsilon=1.0, domain=Domain.of(20), sensitive=6, theta="minimax", form=form
        )
        assert separate.form == ("null" if form == "null" else "separate")
        assert separate.mse_sum() == pytest.approx(worst_error(separate), rel=1e-9)


class Straight:
    """A design whose error is a straight line of theta."""

    def __init__(self, at: float, low: float, high: float) -> None:
        self.at, self.low, self.high = at, low, high

    def mse_sum(self, *, theta: float) -> float:
        return self.low + theta * (self.high - self.low)


def test_the_design_of_least_largest_error_is_between_rising_and_falling_ones() -> None:
    """Tangents of a concave parabola with its top at 0.3: the level one is found; without a top an end is taken."""

    def tangent(at: float) -> Straight:
        slope = 2 * (0.3 - at)
        return Straight(at, 1 - (at - 0.3) ** 2 - slope * at, 1 - (at - 0.3) ** 2 + slope * (1 - at))

    assert least_favourable(tangent).at == pytest.approx(0.3, abs=1e-9)
    assert least_favourable(lambda at: Straight(at, 2.0, 1.0)).at == 0.0
    assert least_favourable(lambda at: Straight(at, 1.0, 2.0)).at == 1.0
    step = least_favourable(lambda at: Straight(at, 1.0, 2.0) if at < 0.5 else Straight(at, 3.0, 1.5))
    assert (step.low, step.high) == (1.0, 2.0), "the one whose larger end is the smaller"
    step = least_favourable(lambda at: Straight(at, 1.0, 4.0) if at < 0.5 else Straight(at, 3.0, 1.5))
    assert (step.low, step.high) == (3.0, 1.5)


# ---- bounds and budgets


def test_the_closed_bound_is_below_the_best_and_meets_it_where_sizes_are_whole() -> None:
    met = 0
    for s in (2, 3, 10, 40):
        for theta in (0.0, 0.3, 0.9, 0.99):
            for epsilon in (0.3, 1.0, 3.0):
                w, v = epsilon_to(epsilon)
                low, best = converse(s, theta, w, v), best_mixture(s, math.inf, theta, w, v)
                single = [single_mse(size, s, theta, w, v) for size in range(1, s)]
                assert low <= best.mse * (1 + 1e-9)
                assert best.mse <= min(single) * (1 + 1e-12)
                if laws.null_size(s, theta, w, v) <= 1:
                    assert low == pytest.approx(single[0], rel=1e-12)
                    met += 1
                else:
                    real = laws.null_size(s, theta, w, v)
                    assert low == pytest.approx(single_mse(real, s, theta, w, v), rel=1e-9)
    assert met > 3


@pytest.mark.parametrize("budgets", [(1.0,), (0.5, 1.0, 1.0), (0.3, 0.3, 2.0, 4.0)])
@pytest.mark.parametrize("theta", [0.0, 0.5, 0.9])
def test_the_best_flip_is_that_of_a_long_search(budgets: tuple[float, ...], theta: float) -> None:
    def cost(flip: float) -> float:
        return _error(_law(*_ideal(np.array(budgets), flip)), theta, len(budgets))

    least = 1 / (1 + math.exp(min(budgets)))
    found = best_flip(budgets, theta)
    assert least <= found < 0.5
    assert cost(found) <= min(cost(least + (0.5 - least) * i / 500) for i in range(500)) * (1 + 1e-9)


def test_noise_of_budgets_grows_from_the_largest_to_the_smallest() -> None:
    """Each has its own least noise, or as much as the budget below it needs."""
    epsilons = np.array([2.0, 0.5, 1.0, 0.5])
    q, z = _ideal(epsilons, 0.0)
    w = np.exp(-epsilons)
    for i in range(4):
        below = [j for j in range(4) if epsilons[j] < epsilons[i]]
        need = max([float((1 - q[j]) * w[j]) for j in below], default=0.0)
        assert q[i] == pytest.approx(max(w[i] / (1 + w[i]), need))
    assert 1 - z == pytest.approx(max(w / (2 * q)))
    assert _ideal(epsilons, 0.49)[0][1] == 0.49
