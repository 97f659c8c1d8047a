"""Designs for the least favourable share of harmless answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.core.laws import epsilon_to
from deniable.mechanisms.utility.bound import least_mse_sum
from deniable.mechanisms.utility.minimax import worst_error

ROWS = ("uss", "ussmix", "uue", "ulh", "uwheel", "upgr", "urr", "uhr", "urap")
SETTINGS = [(5, 40, 2.0), (3, 10, 1.0), (12, 20, 0.5), (4, 6, 3.0)]


def made(name: str, s: int, k: int, epsilon: float, **own: Any) -> Any:
    return dn.mechanism(name, k=k, epsilon=epsilon, sensitive=s, **own)


def test_the_worst_case_of_the_default_and_of_minimax() -> None:
    """s = 5, d = 40, epsilon 2: 3.33 by default, 2.06 by one size, and 1.96 by two, which is the least possible."""
    assert worst_error(made("uss", 5, 40, 2.0)) == pytest.approx(3.329492, abs=1e-6)
    one, two = (made(name, 5, 40, 2.0, theta="minimax") for name in ("uss", "ussmix"))
    assert worst_error(one) == pytest.approx(2.055132, abs=1e-6)
    assert worst_error(two) == pytest.approx(1.959038, abs=1e-6)
    assert (one.base.size, one.theta, two.size) == (1, 1.0, 1)


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize(("s", "k", "epsilon"), SETTINGS)
def test_errors_are_linear_in_theta_and_largest_as_told(name: str, s: int, k: int, epsilon: float) -> None:
    m = made(name, s, k, epsilon, theta="minimax")
    ends = [m.mse_sum(theta=t) for t in (0.0, 1.0)]
    for theta in (0.2, 0.5, 0.9):
        assert m.mse_sum(theta=theta) == pytest.approx((1 - theta) * ends[0] + theta * ends[1], rel=1e-6)
    assert m.properties()["mse_sum"] == pytest.approx(max(ends), rel=1e-5)
    assert dn.from_design(m.design) == m


@pytest.mark.parametrize(("s", "k", "epsilon"), SETTINGS)
@pytest.mark.parametrize(
    ("name", "option", "values"),
    [
        ("uss", "size", range(1, 12)),
        ("ulh", "g", range(2, 40)),
        ("uue", "p", np.linspace(0.3, 0.99, 60)),
        ("uwheel", "arc", np.linspace(0.02, 0.7, 60)),
        ("upgr", "prime", (2, 3, 5, 7, 11)),
    ],
)
def test_no_other_design_of_the_family_has_a_lower_worst_case(
    name: str, option: str, values: Any, s: int, k: int, epsilon: float
) -> None:
    found = worst_error(made(name, s, k, epsilon, theta="minimax"))
    for value in values:
        if option != "size" or value < s:
            own = {option: value if isinstance(value, int) else float(value)}
            assert worst_error(made(name, s, k, epsilon, **own)) >= found * (1 - 1e-9)


@pytest.mark.parametrize(("s", "k", "epsilon"), SETTINGS)
def test_the_mixture_has_the_least_worst_case_of_all_mechanisms(s: int, k: int, epsilon: float) -> None:
    """No ULDP mechanism has less error at its theta, and its own error is no larger at any other."""
    m = made("ussmix", s, k, epsilon, theta="minimax")
    assert worst_error(m) == pytest.approx(least_mse_sum(s, k - s, m.theta, *epsilon_to(epsilon)), rel=1e-6)


def test_a_given_parameter_stays_and_theta_is_its_worst() -> None:
    assert made("uss", 5, 40, 2.0, size=2, theta="minimax").theta == 0.0
    assert made("uss", 5, 40, 2.0, size=1, theta="minimax").theta == 1.0
    assert dn.utility(dn.mechanism("ss", k=5, epsilon=2.0, size=2), 5, k=40, theta="minimax").theta == 0.0
    both = dn.utility(dn.mechanism("ssmix", k=5, epsilon=2.0, size=1, share=0.2), 5, k=40, theta="minimax")
    assert worst_error(both) < worst_error(
        dn.utility(dn.mechanism("ssmix", k=5, epsilon=2.0, size=1, share=0.2), 5, k=40)
    )
    separate = made("urap", 3, 10, 1.0, theta="minimax", form="glutf")
    assert separate.mse_sum() == worst_error(separate)


def test_budgets_of_their_own() -> None:
    own: dict[str, Any] = {"item_epsilon": "1,1,2", "k": 9, "sensitive": 3}
    m = dn.mechanism("uue-levels", theta="minimax", **own)
    assert worst_error(m) == m.mse_sum()  # type: ignore[attr-defined]
    for flip in np.linspace(m.flip, 0.49, 20):  # type: ignore[attr-defined]
        assert worst_error(dn.mechanism("uue-levels", flip=float(flip), **own)) >= worst_error(m) * (1 - 1e-9)


@pytest.mark.parametrize(("s", "theta"), [(0, 1.0), (4, 0.0)])
def test_without_a_choice_theta_is_what_it_must_be(s: int, theta: float) -> None:
    assert made("uss", s, 4, 1.0, theta="minimax").theta == theta


@pytest.mark.parametrize("theta", ["minmax", "", "1.5", "nan"])
def test_what_is_no_share_is_refused(theta: str) -> None:
    with pytest.raises(dn.ParameterError, match="theta must be between 0 and 1"):
        made("uss", 2, 4, 1.0, theta=theta)


def test_personal_budgets_have_no_worst_case() -> None:
    with pytest.raises(dn.ParameterError, match="theta must be between 0 and 1, got 'minimax'"):
        dn.mechanism("pldp", levels=(1.0, 2.0), level_epsilon=1.0, k=5, sensitive=2, theta="minimax")
