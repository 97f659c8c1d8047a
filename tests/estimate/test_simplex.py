"""Projection onto the simplex: the nearest point, by two independent ways."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from deniable.errors import ParameterError
from deniable.estimate.simplex import project_simplex

SETTINGS = settings(deadline=None, derandomize=True, max_examples=150)
VECTORS = st.lists(st.floats(-3, 3), min_size=1, max_size=6).map(np.array)


def nearest_by_brute_force(value: np.ndarray) -> np.ndarray:
    """For every set of entries that stay positive, the nearest point of that face; the best of them all."""
    best, found = np.inf, value
    for size in range(1, value.size + 1):
        for kept in combinations(range(value.size), size):
            face = np.zeros(value.size)
            index = list(kept)
            face[index] = value[index] + (1 - value[index].sum()) / size
            distance = float(((face - value) ** 2).sum())
            if (face >= -1e-12).all() and distance < best:
                best, found = distance, face
    return found


@SETTINGS
@given(VECTORS)
def test_projection_is_the_nearest_point_of_all_faces(value: np.ndarray) -> None:
    found = project_simplex(value)
    assert (found >= 0).all()
    assert found.sum() == pytest.approx(1, abs=1e-12)
    assert found == pytest.approx(nearest_by_brute_force(value), abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_projection_is_what_a_solver_finds(seed: int) -> None:
    value = np.random.default_rng(seed).normal(0.1, 0.3, 12)
    solved = minimize(
        lambda x: ((x - value) ** 2).sum(),
        np.full(12, 1 / 12),
        jac=lambda x: 2 * (x - value),
        bounds=[(0, None)] * 12,
        constraints={"type": "eq", "fun": lambda x: x.sum() - 1},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert solved.success
    assert project_simplex(value) == pytest.approx(solved.x, abs=1e-6)


@SETTINGS
@given(VECTORS)
def test_projecting_twice_changes_nothing_and_order_is_kept(value: np.ndarray) -> None:
    once = project_simplex(value)
    assert project_simplex(once) == pytest.approx(once, abs=1e-12)
    order = np.argsort(value, kind="stable")
    assert (np.diff(once[order]) >= -1e-12).all()


def test_points_of_the_simplex_stay_where_they_are() -> None:
    assert project_simplex(np.array([0.2, 0.3, 0.5])) == pytest.approx([0.2, 0.3, 0.5])
    assert project_simplex(np.array([7.0])).tolist() == [1.0]
    assert project_simplex(np.array([-5.0, -5.0])).tolist() == [0.5, 0.5]


@pytest.mark.parametrize("bad", [[], [np.nan, 0.5], [np.inf, 0.5], [[0.5, 0.5]]])
def test_what_cannot_be_projected_is_refused(bad: list[float]) -> None:
    with pytest.raises(ParameterError, match="value must be finite numbers"):
        project_simplex(np.array(bad, float))
