"""The Pareto filter and the six selectors, on points made for the purpose."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from deniable.core.selection import NORMALISED, SELECTORS, Preference, SelectionWarning, pareto, select
from deniable.errors import ParameterError

ASR = np.array([0.9, 0.5, 0.3, 0.1])
MSE = np.array([0.1, 0.2, 0.5, 2.0])


def by_definition(asr: np.ndarray, mse: np.ndarray) -> list[int]:
    """No other point is at most as large in both and differs."""
    points = list(zip(asr, mse, strict=True))
    return [i for i, (a, m) in enumerate(points) if not any(x <= a and y <= m and (x, y) != (a, m) for x, y in points)]


@given(arrays(np.int64, st.tuples(st.integers(1, 30), st.just(2)), elements=st.integers(0, 6)))
def test_the_filter_is_its_definition(points: np.ndarray) -> None:
    """Few different numbers, so that ties and equal points are common."""
    asr, mse = points[:, 0] / 7, points[:, 1] / 7
    assert pareto(asr, mse).tolist() == by_definition(asr, mse)


def test_a_point_that_is_no_better_in_either_is_beaten_and_equal_points_stay() -> None:
    """All sets of three points of a grid of nine, so every tie in one number or in both; in each order."""
    grid = list(product((0.1, 0.2, 0.3), (1.0, 2.0, 3.0)))
    for points in product(grid, repeat=3):
        asr, mse = (np.array(column) for column in zip(*points, strict=True))
        assert pareto(asr, mse).tolist() == by_definition(asr, mse), points
    assert pareto(np.array([0.1, 0.3]), np.array([2.0, 2.0])).tolist() == [0], "the same error, a larger guess"
    assert pareto(np.array([0.1, 0.1]), np.array([2.0, 1.0])).tolist() == [1], "the same guess, a larger error"
    assert pareto(np.array([0.1, 0.1]), np.array([2.0, 2.0])).tolist() == [0, 1]


def test_the_filter_takes_a_million_points() -> None:
    rng = np.random.default_rng(0)
    asr, mse = rng.random(10**6), rng.random(10**6)
    front = pareto(asr, mse)
    assert 5 < front.size < 100
    assert asr[front].min() == asr.min()
    assert mse[front].min() == mse.min()


def value(how: Preference, i: int) -> float:
    """What the authors' selectors compare, written anew and one point at a time."""
    a, m, w = float(ASR[i]), float(MSE[i]), how.weight
    if how.normalize == "anchor":
        a, m = a / float(ASR[MSE.argmin()]), m / float(MSE.min())
    if how.normalize == "log":
        a, m = math.log(a / float(ASR.min())), math.log(m / float(MSE.min()))
    chord = (ASR[0] - ASR[3], MSE[0] - MSE[3])
    return {
        "utopia": (a * a + m * m) ** 0.5,
        "weighted": w * a + (1 - w) * m,
        "elbow": -abs(chord[0] * (m - MSE[3]) - chord[1] * (a - ASR[3])),
        "epsilon-constraint": m if a <= how.limit else float("inf"),
        "hypervolume": -max(0.0, 1 - a) * max(0.0, 1 - m),
        "tchebycheff": max(w * a, (1 - w) * m) + 1e-6 * (w * a + (1 - w) * m),
    }[how.select]


@pytest.mark.parametrize("select_by", SELECTORS)
@pytest.mark.parametrize("weight", [0.1, 0.5, 0.8])
@pytest.mark.parametrize("limit", [0.35, 0.5, 0.95])
def test_each_selector_minimises_its_criterion(select_by: str, weight: float, limit: float) -> None:
    how = Preference(select_by, "none", weight, limit)  # type: ignore[arg-type]
    assert select(ASR, MSE, how).index == min(range(4), key=lambda i: value(how, i))


@pytest.mark.parametrize("select_by", NORMALISED)
@pytest.mark.parametrize("scale", ["anchor", "log"])
def test_scaled_objectives_are_those_of_the_least_error_or_of_the_least_of_each(select_by: str, scale: str) -> None:
    for weight in (0.1, 0.4, 0.5, 0.6, 0.9):
        how = Preference(select_by, scale, weight)  # type: ignore[arg-type]
        found = select(ASR, MSE, how)
        assert found.criterion(ASR, MSE) == pytest.approx([value(how, i) for i in range(4)], rel=1e-12, abs=1e-12)
        assert found.index == min(range(4), key=lambda i: value(how, i))


def test_the_first_of_equal_points_wins() -> None:
    asr, mse = np.array([0.5, 0.2, 0.5, 0.2]), np.array([0.2, 0.5, 0.2, 0.5])
    for how in ("utopia", "weighted", "hypervolume", "tchebycheff"):
        assert select(asr, mse, Preference(how, "none")).index == 0  # type: ignore[arg-type]


def test_two_points_have_no_elbow_and_utopia_decides() -> None:
    asr, mse = np.array([0.9, 0.1, 0.95]), np.array([0.3, 2.0, 0.3])
    assert pareto(asr, mse).tolist() == [0, 1]
    assert select(asr, mse, Preference("elbow", "none")).index == 0


def test_an_infeasible_limit_falls_back_to_utopia_with_a_warning() -> None:
    with pytest.warns(SelectionWarning, match="no design has an ASR of at most 0.05"):
        found = select(ASR, MSE, Preference("epsilon-constraint", limit=0.05))
    assert found.index == select(ASR, MSE, Preference("utopia")).index
    assert "utopia chose instead" in found.fallback


def test_no_hypervolume_at_all_falls_back_to_utopia_with_a_warning() -> None:
    with pytest.warns(SelectionWarning, match="every MSE is at least 1"):
        found = select(ASR[::-1], 10 * MSE[::-1], Preference("hypervolume"))
    assert found.index == select(ASR[::-1], 10 * MSE[::-1], Preference("utopia")).index == 3
    assert select(ASR, MSE, Preference("hypervolume")).fallback == ""


@pytest.mark.parametrize("select_by", NORMALISED)
@pytest.mark.parametrize("scale", ["anchor", "log"])
@pytest.mark.parametrize("weight", [0.3, 0.5, 0.7])
def test_scaled_objectives_do_not_depend_on_units(select_by: str, scale: str, weight: float) -> None:
    how = Preference(select_by, scale, weight)  # type: ignore[arg-type]
    assert len({select(ASR * a, MSE * m, how).index for a in (1.0, 0.01) for m in (1.0, 1e-6, 1e6)}) == 1


def test_raw_objectives_do_depend_on_units() -> None:
    """The test above could see it."""
    assert len({select(ASR, MSE * m, Preference("weighted", "none")).index for m in (1.0, 1e-6)}) == 2


@pytest.mark.parametrize(
    ("given_", "what"),
    [
        ({"select": "best"}, "select must be one of utopia"),
        ({"normalize": "unit"}, "normalize must be one of none, anchor, log"),
        ({"weight": 1.1}, "weight must be from 0 to 1"),
        ({"weight": True}, "weight must be from 0 to 1"),
        ({"limit": 0.0}, "limit must be above 0"),
    ],
)
def test_what_is_no_preference_is_refused(given_: dict[str, object], what: str) -> None:
    with pytest.raises(ParameterError, match=what):
        Preference(**given_)  # type: ignore[arg-type]
