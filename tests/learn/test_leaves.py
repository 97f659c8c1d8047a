"""Leaves: what one person can change, and that what is released hides it, exactly."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta, chisquare

from deniable.errors import PrivacyError
from deniable.learn import leaves
from deniable.learn.boosting import UNIT, split_gains
from deniable.learn.leaves import (
    STEPS,
    Leaf,
    Truncated,
    clamped_laplace,
    geometric,
    laplace,
    noisy_ratio,
    truncated_laplace,
)
from deniable.randomness import Stream, simulation
from deniable_client.exact import exp_bounds

SETTINGS = settings(deadline=None, derandomize=True, max_examples=200)
WORD = 1 << 64
Release = Callable[[list[Leaf], Fraction, Stream], np.ndarray]

gradients = st.lists(st.integers(-UNIT, UNIT), max_size=12)
penalties = st.sampled_from([Fraction(0), Fraction(1, 10), Fraction(1), Fraction(10)])
bounds = st.sampled_from([Fraction(1), Fraction(1, 2), Fraction(1, 10)])


def leaf_of(values: list[int], l2: Fraction, bound: Fraction) -> Leaf:
    return Leaf(sum(values), len(values), UNIT, l2, bound)


@SETTINGS
@given(gradients, st.integers(-UNIT, UNIT), penalties, bounds)
def test_one_person_moves_a_leaf_by_no_more_than_said(
    values: list[int], one: int, l2: Fraction, bound: Fraction
) -> None:
    before, after = leaf_of(values, l2, bound), leaf_of([*values, one], l2, bound)
    assert abs(before.value - after.value) <= before.sensitivity == after.sensitivity
    shift = [int((leaf.value * STEPS / leaf.sensitivity).__floor__()) for leaf in (before, after)]
    assert abs(shift[0] - shift[1]) <= STEPS


@pytest.mark.parametrize(
    ("values", "l2", "bound", "most"),
    [
        ([], Fraction(1, 10), Fraction(1), Fraction(10, 11)),
        ([], Fraction(10), Fraction(1, 10), Fraction(1, 11)),
        ([-UNIT // 2], Fraction(0), Fraction(1, 10), Fraction(1, 5)),
        ([-UNIT // 2], Fraction(1, 10), Fraction(1, 10), Fraction(1, 5)),
    ],
    ids=["of one", "of one, far from others", "of the range", "of the range, with a penalty"],
)
def test_the_sensitivity_is_attained(values: list[int], l2: Fraction, bound: Fraction, most: Fraction) -> None:
    """So that a smaller one would be wrong, and a larger one noise for nothing: 1/(1 + l2), or the whole range."""
    before, after = leaf_of(values, l2, bound), leaf_of([*values, UNIT], l2, bound)
    assert abs(before.value - after.value) == before.sensitivity == after.sensitivity == most


@SETTINGS
@given(st.data(), st.sampled_from([Fraction(0), Fraction(1, 10), Fraction(3)]))
def test_one_person_moves_a_gain_by_no_more_than_said(data: st.DataObject, l2: Fraction) -> None:
    n = data.draw(st.integers(1, 10))
    rows = data.draw(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=n + 1, max_size=n + 1))
    slopes = np.array(
        data.draw(st.lists(st.sampled_from([-UNIT, -UNIT // 3, 0, UNIT]), min_size=n + 1, max_size=n + 1))
    )
    bins = np.array(rows)
    more, less = split_gains(bins, slopes, 4, l2), split_gains(bins[:-1], slopes[:-1], 4, l2)
    assert np.abs(more - less).max() <= 3 * UNIT**2


def test_gains_are_the_formula() -> None:
    bins, slopes = np.array([[0, 1], [1, 1], [2, 0]]), np.array([512, -1024, 100])
    found = split_gains(bins, slopes, 3, Fraction(1, 2)).reshape(2, 2)
    groups = [([512], [-1024, 100]), ([512, -1024], [100]), ([100], [512, -1024]), ([512, -1024, 100], [])]
    expected = [sum(int(sum(g) ** 2 / (len(g) + Fraction(1, 2))) for g in pair) for pair in groups]
    assert found.ravel().tolist() == expected


def test_gains_of_many_people_do_not_overflow() -> None:
    """The same gains by integers without limit, where those of 64 bits would not do."""
    n = 1 << 22
    bins = np.zeros((n, 1), np.int64)
    (gain,) = split_gains(bins, np.full(n, UNIT), 2, Fraction(1, 10))
    assert gain == (n * UNIT) ** 2 * 10 // (n * 10 + 1)


@pytest.mark.parametrize("epsilon", [Fraction(1, 100), Fraction(1, 2), Fraction(3), Fraction(20)])
@pytest.mark.parametrize("steps", [1, STEPS])
def test_geometric_noise_hides_the_shift_and_is_the_least_that_does(epsilon: Fraction, steps: int) -> None:
    again, limit = geometric(epsilon, steps), exp_bounds(epsilon)[0]
    assert Fraction(WORD, again) ** steps <= limit
    assert Fraction(WORD, again - 1) ** steps > limit


@pytest.mark.parametrize("points", [2, 9, STEPS + 1, 45])
@pytest.mark.parametrize("epsilon", [Fraction(1, 20), Fraction(1), Fraction(6)])
def test_truncated_table_is_exactly_private_between_neighbours(epsilon: Fraction, points: int) -> None:
    table = Truncated.calibrate(epsilon, points)
    rows = table.weights
    assert all(sum(row) == WORD and min(row) > 0 for row in rows)
    pairs = [(x, z) for x in range(points) for z in range(points) if 0 < abs(x - z) <= STEPS]
    worst = max(Fraction(rows[x][y], rows[z][y]) for x, z in pairs for y in range(points))
    assert worst == table.ratio
    assert exp_bounds(epsilon * Fraction(999, 1000))[0] < worst <= exp_bounds(epsilon)[0]


def test_the_ratio_of_a_table_counts_both_directions() -> None:
    assert Truncated(Fraction(1), ((2, 2), (1, 3))).ratio == 2
    assert Truncated(Fraction(1), ((1, 3), (2, 2))).ratio == 2


def test_a_table_beyond_epsilon_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the floats propose: here a first table made for a fifth more."""
    monkeypatch.setattr(leaves, "_SLACKS", (-0.2, 1e-3))
    assert Truncated.calibrate(Fraction(11, 10), 12).ratio <= exp_bounds(1.1)[0]
    monkeypatch.setattr(leaves, "_SLACKS", (-0.2,))
    with pytest.raises(PrivacyError, match="no table of 12 points is within epsilon"):
        Truncated.calibrate(Fraction(12, 10), 12)


def test_plain_truncation_would_leak() -> None:
    """Noise of scale sensitivity/epsilon, conditioned on the range, leaks more than epsilon; the table does not."""
    epsilon, points = 1.0, 71
    x = np.arange(points)
    naive = np.exp(-epsilon / STEPS * np.abs(x[:, None] - x[None, :]))
    naive /= naive.sum(axis=1, keepdims=True)
    leak = max(np.abs(np.log(naive[k:] / naive[:-k])).max() for k in range(1, STEPS + 1))
    assert leak > 1.3 * epsilon
    assert float(Truncated.calibrate(Fraction(1), points).ratio) <= np.exp(epsilon)


@pytest.mark.stat
def test_truncated_draws_have_the_table_law() -> None:
    """Chi-square at alpha = 1e-6; against the neighbouring row the same test fails."""
    table, n = Truncated.calibrate(Fraction(4), 9), 20_000
    counts = np.bincount(table.draw(np.full(n, 2), simulation(5)), minlength=9)
    p_values = [chisquare(counts, n * np.array([w / WORD for w in table.weights[row]])).pvalue for row in (2, 3)]
    assert p_values[0] > 1e-6 > p_values[1]


def test_released_leaves_are_near_at_a_large_epsilon_and_in_range_if_they_should() -> None:
    made = [
        leaf_of([UNIT // 4] * 40, Fraction(1, 10), Fraction(1)),
        leaf_of([-UNIT] * 30, Fraction(1, 10), Fraction(1)),
    ]
    truth = np.array([float(leaf.value) for leaf in made])
    for release in (laplace, truncated_laplace, noisy_ratio):
        near = release(made, Fraction(38), simulation(1))
        assert np.abs(near - truth).max() < 0.15, release.__name__
    many = made * 200
    assert np.abs(truncated_laplace(many, Fraction(1, 5), simulation(2))).max() <= 1
    assert np.abs(noisy_ratio(many, Fraction(1, 5), simulation(2))).max() <= 1
    assert np.abs(laplace(many, Fraction(1, 5), simulation(2))).max() > 5


def leak_found(release: Release, epsilon: Fraction, seed: int) -> float:
    """A lower bound of ln Pr[event | a person is there]/Pr[event | is not], events being `at most t`, both ways.

    Clopper-Pearson bounds at 1e-7 for each of 20 events and 2 directions: wrong with probability below 1e-5.
    """
    n, l2 = 20_000, Fraction(1, 10)
    drawn = [
        release([leaf_of(values, l2, Fraction(1))] * n, epsilon, simulation(seed + i))
        for i, values in enumerate(([], [UNIT]))
    ]
    worst = 0.0
    for t in np.linspace(-0.95, 0.95, 10):
        for counts in ([int(np.sum(d <= t)) for d in drawn], [int(np.sum(d > t)) for d in drawn]):
            for a, b in (counts, counts[::-1]):
                low, high = (
                    beta.ppf(1e-7, a, n - a + 1) if a else 0.0,
                    beta.ppf(1 - 1e-7, b + 1, n - b) if b < n else 1.0,
                )
                worst = max(worst, float(np.log(low / high)) if low else 0.0)
    return worst


@pytest.mark.stat
@pytest.mark.parametrize("release", [laplace, clamped_laplace, truncated_laplace, noisy_ratio])
def test_an_attacker_finds_no_more_than_epsilon(release: Release) -> None:
    """The worst neighbours: an empty leaf, and one person in it. Noise made for three times epsilon is found out."""
    assert leak_found(release, Fraction(1), 31) <= 1
    assert leak_found(release, Fraction(3), 33) > 1
