"""Support, laws and intervals: identities between the closed forms, and equations that the intervals solve."""

from __future__ import annotations

import math
from dataclasses import astuple
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable.core.frontier import best_subset_size, least_mse
from deniable.core.intervals import Interval, critical, score_interval, wald_interval
from deniable.core.laws import (
    balanced,
    epsilon_to,
    hadamard,
    hashing,
    projective,
    ratio_to,
    response,
    subset,
    unary,
    wheel,
)
from deniable.core.support import Support
from deniable.errors import ParameterError

SETTINGS = settings(deadline=None, derandomize=True, max_examples=150)
EPSILONS = st.floats(0.01, 12.0)


@st.composite
def supports(draw: st.DrawFn) -> tuple[int, Support[Fraction]]:
    """An exact support of one of the families, with its number of items."""
    ratio, k = Fraction(draw(st.integers(101, 90_000)), 100), draw(st.integers(2, 60))
    w, v = ratio_to(ratio)
    p = Fraction(draw(st.integers(1, 99)), 100)
    made = {
        "response": lambda: response(w, v, k),
        "subset": lambda: subset(w, v, k, draw(st.integers(1, k - 1))),
        "unary": lambda: unary(p, 1 - p, w, v),
        "hashing": lambda: hashing(w, v, draw(st.integers(2, 50))),
    }
    return k, made[draw(st.sampled_from(sorted(made)))]()


def test_laws_of_fractions_are_fractions() -> None:
    w, v = ratio_to(Fraction(3))
    arc = Fraction(1, 5)
    laws = [
        response(w, v, 4),
        subset(w, v, 4, 2),
        unary(arc, 1 - arc, w, v),
        hashing(w, v, 3),
        balanced(w, v, 7, 3),
        wheel(w, v, arc),
        hadamard(w, v),
        projective(w, v, 2, 3),
    ]
    assert {type(part) for law in laws for part in astuple(law)} == {Fraction}
    assert hashing(w, v, 3).q == Fraction(1, 3)


@SETTINGS
@given(supports())
def test_parts_fit_together(case: tuple[int, Support[Fraction]]) -> None:
    _, s = case
    assert 0 < s.q < s.p <= 1
    assert (s.gap, s.p_not, s.q_not) == (s.p - s.q, 1 - s.p, 1 - s.q)
    assert 0 <= s.both_one <= s.q
    assert 0 <= s.both_none <= s.q
    assert s.unbias(s.p) == 1
    assert s.unbias(s.q) == 0


@SETTINGS
@given(supports(), st.data())
def test_average_error_does_not_depend_on_the_frequencies(case: tuple[int, Support[Fraction]], data: Any) -> None:
    k, s = case
    raw = data.draw(st.lists(st.integers(0, 20), min_size=k, max_size=k).filter(any))
    f = [Fraction(v, sum(raw)) for v in raw]
    n = data.draw(st.integers(1, 1000))
    assert sum(s.variance(v, n) for v in f) / k == s.mse(k, n)
    mu = (s.p + (k - 1) * s.q) / k
    assert s.mse(k) == mu * (1 - mu) / s.gap**2 - Fraction(k - 1, k * k)
    assert s.variance(Fraction(0), n) == s.mse_approx(n)
    extra = sum(s.variance(v, n, "population") for v in f) / k - s.mse(k, n)
    assert extra == (1 - sum(v * v for v in f)) / (k * n)


@SETTINGS
@given(EPSILONS, st.integers(2, 500), st.data())
def test_special_cases_are_each_other(epsilon: float, k: int, data: Any) -> None:
    w, v = epsilon_to(epsilon)
    one, grr = subset(w, v, k, 1), response(w, v, k)
    for name in ("p", "q", "gap", "p_not", "q_not"):
        assert getattr(one, name) == pytest.approx(getattr(grr, name), rel=1e-12)
    half = math.exp(-epsilon / 2)
    sue = unary(1 / (1 + half), half / (1 + half), w, v)
    assert sue.q == pytest.approx(sue.p_not, rel=1e-12)
    oue = unary(0.5, 0.5, w, v)
    assert oue.q == pytest.approx(1 / (math.exp(epsilon) + 1), rel=1e-12)
    assert oue.mse_approx() == pytest.approx(4 * w / (v * v), rel=1e-10)


@SETTINGS
@given(EPSILONS, st.integers(2, 300))
def test_no_family_is_below_the_bound(epsilon: float, k: int) -> None:
    w, v = epsilon_to(epsilon)
    bound = least_mse(k, epsilon)
    sizes = range(1, k)
    every = [subset(w, v, k, s).mse(k) for s in sizes]
    assert bound == pytest.approx(min(every), rel=1e-12)
    assert subset(w, v, k, best_subset_size(k, epsilon)).mse(k) == pytest.approx(bound, rel=1e-12)
    others = [response(w, v, k), unary(0.5, 0.5, w, v), hashing(w, v, 2), hashing(w, v, round(1 / w) + 1)]
    assert min(s.mse(k) for s in others) >= bound * (1 - 1e-12)
    assert least_mse(k, epsilon, 10) == pytest.approx(bound / 10)


@SETTINGS
@given(supports(), st.data())
def test_covariance_is_symmetric_with_the_variances_and_adds_up(case: tuple[int, Support[Fraction]], data: Any) -> None:
    """One item per report, or `size` of them: then the estimates add up to a constant, so each row sums to 0."""
    k, exact = case
    s = exact.map(float)
    raw = np.array(data.draw(st.lists(st.integers(0, 9), min_size=k, max_size=k).filter(any)), float)
    f = raw / raw.sum()
    matrix = s.covariance(f, 7)
    assert (matrix == matrix.T).all()
    assert np.diag(matrix) == pytest.approx(s.variance(f, 7))
    assert np.linalg.eigvalsh(matrix).min() > -1e-9 * np.abs(matrix).max()
    for size in {1, max(1, k // 3)}:
        fixed = subset(*(float(x) for x in ratio_to(Fraction(3))), k, size).covariance(f, 7)
        assert fixed.sum(axis=1) == pytest.approx(0, abs=1e-9 * np.abs(fixed).max())


def test_population_adds_the_sampling_of_people() -> None:
    s = response(*epsilon_to(1.0), 3)
    f = np.array([0.5, 0.3, 0.2])
    extra = (s.covariance(f, 10, "population") - s.covariance(f, 10)) * 10
    assert extra == pytest.approx(np.diag(f) - np.outer(f, f))


@pytest.mark.parametrize("target", ["sample", "", None])
def test_unknown_targets_are_refused(target: Any) -> None:
    s = response(*epsilon_to(1.0), 3)
    with pytest.raises(ParameterError, match="target must be 'reporters' or 'population', got"):
        s.variance(0.5, 10, target)
    with pytest.raises(ParameterError, match="target must be 'reporters' or 'population', got"):
        score_interval(np.array([0.5]), s, 10, level=0.95, target=target)


@SETTINGS
@given(supports(), st.floats(0, 1), st.integers(5, 10**6), st.floats(0.5, 0.999))
def test_score_intervals_solve_their_own_equation(
    case: tuple[int, Support[Fraction]], share: float, n: int, level: float
) -> None:
    """At both ends the observed share is exactly z standard errors away from what that frequency would give."""
    _, exact = case
    s, z = exact.map(float), critical(level)
    ends = score_interval(np.array([share]), s, n, level=level, target="reporters")
    for end, sign in ((ends.low[0], 1), (ends.high[0], -1)):
        spread = math.sqrt(max(0.0, float(s.variance(end, n))))
        off = float(s.unbias(share)) - end
        assert off == pytest.approx(sign * z * spread, rel=1e-6, abs=1e-6 * (abs(end) + abs(off) + spread))
    wide = score_interval(np.array([share]), s, n, level=level, target="population")
    for end, sign in ((wide.low[0], 1), (wide.high[0], -1)):
        chance = min(1.0, max(0.0, s.q + end * s.gap))
        spread = math.sqrt(chance * (1 - chance) / n)
        assert share - chance == pytest.approx(sign * z * spread, rel=1e-6, abs=1e-7)


def test_population_intervals_are_wider_and_simultaneous_ones_too() -> None:
    s, share = response(*epsilon_to(1.0), 4), np.array([0.35, 0.28, 0.19, 0.18])

    def width(**choices: Any) -> Any:
        ends = score_interval(share, s, 1000, **({"level": 0.95, "target": "reporters"} | choices))
        return ends.high - ends.low

    assert (width(target="population") > width()).all()
    assert (width(simultaneous=True) > width()).all()
    assert (width(level=0.99) > width()).all()
    bonferroni = score_interval(share, s, 1000, level=1 - 0.05 / 4, target="reporters")
    together = score_interval(share, s, 1000, level=0.95, target="reporters", simultaneous=True)
    assert together.low == pytest.approx(bonferroni.low)
    assert (together.simultaneous, together.level) == (True, 0.95)


@pytest.mark.parametrize("level", [0, 1, 95, -0.1, math.nan])
def test_levels_are_between_0_and_1(level: float) -> None:
    with pytest.raises(ParameterError, match=r"level must be a number between 0 and 1, got .* 95 % is level=0.95"):
        critical(level)


def test_critical_values_are_the_known_ones() -> None:
    assert critical(0.95) == pytest.approx(1.959963984540054)
    assert critical(0.95, 10) == pytest.approx(2.807033768343811)


def test_wald_intervals_and_covering() -> None:
    ends = wald_interval(np.array([0.2, 0.5]), np.array([0.1, 0.2]), level=0.95, target="population")
    assert ends.high - ends.low == pytest.approx(2 * 1.959963984540054 * np.array([0.1, 0.2]))
    assert isinstance(ends, Interval)
    assert ends.covers(np.array([0.0, 1.0])).tolist() == [False, False]
    assert ends.covers(np.array([0.2, 0.5])).tolist() == [True, True]
