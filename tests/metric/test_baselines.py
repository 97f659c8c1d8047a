"""Ideal channels of the baselines: golden numbers, levels, and the staircase's groups."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from deniable.core.types import FloatArray
from deniable.errors import ParameterError
from deniable.mechanisms.metric import baselines
from deniable.mechanisms.metric.codes_search import equal_bins
from deniable.mechanisms.metric.staircase import (
    band_groups,
    calibrated_staircase,
    group_sizes,
    prefix_groups,
    rank_groups,
    shared_levels,
    staircase,
)

GOLDEN = json.loads((Path(__file__).parents[1] / "golden/brr.json").read_text())
EPSILONS = [1e-9, 0.1, 1.0, 4.0, 20.0, 100.0]


def line(points: int) -> FloatArray:
    at = np.arange(points, dtype=float)
    return np.abs(at[:, None] - at)


def tanimoto(points: int) -> FloatArray:
    x = np.arange(1, points + 1, dtype=float)
    return 1 - x[:, None] * x / (x[:, None] ** 2 + x**2 - x[:, None] * x)


def loss(matrix: FloatArray, losses: FloatArray) -> float:
    assert np.allclose(matrix.sum(axis=1), 1, rtol=0, atol=1e-12)
    return float((matrix * losses).sum(axis=1).mean())


def level(matrix: FloatArray) -> float:
    return baselines.level(np.log(matrix))


@pytest.mark.parametrize("row", GOLDEN["base"], ids=lambda row: str(row["eps"]))
def test_losses_and_levels_on_a_line_of_40_points_are_the_golden_ones(row: dict[str, float]) -> None:
    e, losses = row["eps"], line(40)
    printed = baselines.exponential(losses, e, calibrated=False)
    found = {
        "EM": loss(printed, losses),
        "EM_exact_eps": level(printed),
        "EM_calibrated": loss(baselines.exponential(losses, e), losses),
        "geometric_clamped": loss(baselines.geometric(40, e), losses),
        "laplace_clamped": loss(baselines.laplace_clamped(40, e, calibrated=False), losses),
        "laplace_truncated": loss(baselines.laplace_truncated(40, e), losses),
        "laplace_truncated_exact_eps": level(baselines.laplace_truncated(40, e)),
    }
    assert found == pytest.approx({name: row[name] for name in found}, rel=1e-10)


@pytest.mark.parametrize("row", GOLDEN["jac"], ids=lambda row: f"{row['N']}-{row['eps']}")
def test_the_exponential_mechanism_on_tanimoto_losses_is_the_golden_one(row: dict[str, float]) -> None:
    losses = tanimoto(int(row["N"]))
    printed, better = (baselines.exponential(losses, row["eps"], calibrated=c) for c in (False, True))
    found = {"U_EM": 1 - loss(printed, losses), "EM_exact_eps": level(printed), "U_EM_cal": 1 - loss(better, losses)}
    assert found == pytest.approx({name: row[name] for name in found}, rel=1e-10)


@pytest.mark.parametrize("row", GOLDEN["cont"], ids=lambda row: str(row["eps"]))
def test_losses_on_the_unit_interval_are_the_golden_ones(row: dict[str, float]) -> None:
    """Golden losses of bins are sums over a fine grid (to 1e-8); that of clamped noise is a simulation (to 3e-5)."""
    e = row["eps"]
    bins = row["grr_by_N_mid"]
    assert isinstance(bins, dict)
    assert {n: equal_bins(e, int(n)).loss for n in bins} == pytest.approx(bins, rel=0, abs=1e-8)
    assert baselines.laplace_loss(e, "raw") == row["laplace_raw"]
    assert baselines.laplace_loss(e, "clamp") == pytest.approx(row["laplace_clamped"], rel=0, abs=3e-5)


def test_laplace_noise_on_an_interval_of_length_2_has_the_stated_errors() -> None:
    """On [-1, 1] everything is twice as large: raw, clamped and truncated noise at epsilon 1 and 5."""
    found = [[2 * baselines.laplace_loss(e, v) for v in ("raw", "clamp", "truncate")] for e in (1.0, 5.0)]
    assert found[0] == pytest.approx([2.0, 0.736, 0.571], abs=1e-3)
    assert found[1] == pytest.approx([0.40, 0.320, 0.306], abs=1e-3)


@pytest.mark.parametrize("epsilon", [1e-6, 0.3, 1.0, 5.0, 30.0])
def test_losses_on_the_interval_are_the_limits_of_fine_grids(epsilon: float) -> None:
    points = 801
    losses = line(points) / (points - 1)
    weights = np.full(points, 1.0)
    weights[[0, -1]] = 0.5  # the trapezoidal rule over the values
    weights /= weights.sum()
    for variant, matrix in (
        ("clamp", baselines.laplace_clamped(points, epsilon)),
        ("truncate", baselines.laplace_truncated(points, epsilon)),
    ):
        fine = float(weights @ (matrix * losses).sum(axis=1))
        assert baselines.laplace_loss(epsilon, variant) == pytest.approx(fine, rel=4e-3 * max(1, epsilon / 5))


def test_tiny_and_huge_epsilon_have_the_right_limits() -> None:
    assert baselines.laplace_loss(1e-9, "clamp") == pytest.approx(1 / 2, abs=1e-9)
    assert baselines.laplace_loss(1e-9, "truncate") == pytest.approx(1 / 3, abs=1e-9)
    series, formula = (baselines.laplace_loss(epsilon, "clamp") for epsilon in (0.999e-4, 1.001e-4))
    assert series - formula == pytest.approx(2e-7 / 6, rel=0.1), "the one goes on where the other ends"
    assert baselines.laplace_loss(700.0, "truncate") * 700 == pytest.approx(1, abs=3e-3)


MATRICES: dict[str, Callable[[float], FloatArray]] = {
    "exponential on a line": lambda e: baselines.exponential(line(9), e),
    "exponential on Tanimoto losses": lambda e: baselines.exponential(tanimoto(12), e),
    "exponential with other outputs": lambda e: baselines.exponential(line(9)[:, ::3], e),
    "laplace clamped": lambda e: baselines.laplace_clamped(9, e),
    "laplace clamped on two points": lambda e: baselines.laplace_clamped(2, e),
    "laplace truncated": lambda e: baselines.laplace_truncated(9, e),
    "geometric": lambda e: baselines.geometric(9, e),
}


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("name", MATRICES)
def test_all_calibrated_channels_have_the_level_epsilon(name: str, epsilon: float) -> None:
    matrix = MATRICES[name](epsilon)
    assert level(matrix) == pytest.approx(epsilon, rel=1e-9, abs=1e-14)
    assert np.allclose(matrix.sum(axis=1), 1, rtol=0, atol=1e-12)


def test_the_printed_exponential_mechanism_uses_half_of_epsilon_on_a_line() -> None:
    for points in (2, 7, 40):
        assert level(baselines.exponential(line(points), 2.0, calibrated=False)) == pytest.approx(1.0, rel=1e-12)


def test_losses_that_differ_by_a_constant_only_have_no_level() -> None:
    with pytest.raises(ParameterError, match=r"no level of 1\.0 is reached"):
        baselines.exponential(np.array([[0.0, 1.0], [2.0, 3.0]]), 1.0)
    with pytest.raises(ParameterError, match="losses that depend on the value"):
        baselines.exponential(np.ones((3, 3)), 1.0)


def test_quadtree_levels_are_common_prefixes_of_interleaved_bits() -> None:
    rng = np.random.default_rng(20_260_901)
    cells = rng.integers(0, 16, (30, 2))
    cells[:2] = [[0, 0], [15, 15]]
    points = (cells + 0.5) / 16 - 0.5 / 16  # the lowest corner at 0, so that cells of the tree are those cells
    strings = ["".join(f"{x >> b & 1}{y >> b & 1}" for b in (3, 2, 1, 0)) for x, y in cells.tolist()]
    points[1] = [1.0, 1.0]
    found = shared_levels(points, 4)
    for i, one in enumerate(strings):
        for j, two in enumerate(strings):
            same = next((b for b in range(8) if one[b] != two[b]), 8) // 2
            assert found[i, j] == same


def test_groups_by_rank_have_the_given_sizes_and_the_nearest_first() -> None:
    groups = rank_groups(line(7), (1, 2, 4))
    assert [np.bincount(row).tolist() for row in groups] == [[1, 2, 4]] * 7
    assert groups[3].tolist() == [2, 2, 1, 0, 1, 2, 2]
    assert level(np.exp(staircase(groups, 3, 1.5))) == pytest.approx(1.5, rel=1e-12)


def test_group_sizes_are_whole_and_complete() -> None:
    groups = band_groups(line(9), 3)
    sizes = group_sizes(groups, 3)
    assert sum(sizes) == 9
    assert min(sizes) >= 1
    assert group_sizes(np.zeros((4, 5), np.int64), 3) == (3, 1, 1)
    uneven = np.array([[0, 0, 1, 2, 2]] * 3 + [[0, 1, 1, 2, 2]] * 2)
    assert group_sizes(uneven, 3) == (2, 1, 2), "1.6 and 1.4 outputs: the edge between them is rounded, not cut"


def test_the_staircase_is_the_printed_formula() -> None:
    groups, c = band_groups(line(9), 3), math.exp(1.3)
    for row, found in zip(groups, np.exp(staircase(groups, 3, 1.3)), strict=True):
        low = 2 / (2 * 9 * c - (c - 1) * sum(j * int((row == j).sum()) for j in (1, 2)))
        assert found == pytest.approx([c * low - j * (c * low - low) / 2 for j in row], rel=1e-12)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0, 20.0])
def test_the_calibrated_staircase_has_the_level_epsilon_and_the_printed_one_more(epsilon: float) -> None:
    rng = np.random.default_rng(20_260_902)
    points = np.concatenate([rng.normal(0.2, 0.05, (60, 2)), rng.normal(0.8, 0.1, (12, 2))])
    groups = prefix_groups(shared_levels(points, 6), (2, 1))
    assert baselines.level(calibrated_staircase(groups, 3, epsilon)) == pytest.approx(epsilon, rel=1e-10)
    assert baselines.level(staircase(groups, 3, epsilon)) > 1.02 * epsilon


@pytest.mark.parametrize("prefixes", [(), (1, 2), (2, 2), (1, 0), (1.5, 1)])
def test_prefixes_that_do_not_fall_are_refused(prefixes: tuple[int, ...]) -> None:
    with pytest.raises(ParameterError, match="prefixes must be falling integers >= 1"):
        prefix_groups(np.zeros((2, 2), np.int64), prefixes)
