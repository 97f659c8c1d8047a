"""Certified bounds and thresholds: they bracket, they are the best possible, and they give almost nothing away."""

from __future__ import annotations

import math
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import pytest

from deniable_client.errors import ParameterError, PrivacyError
from deniable_client.exact import (
    EPSILON_MAX,
    check_epsilon,
    exp_bounds,
    flip_threshold,
    keep_threshold,
    log_upper,
    two_level_ratio,
    unary_ratio,
)
from tasks import vectors

PRECISE = Context(prec=800)
EPSILONS = [0.01, 0.1, 0.25, 0.5, math.log(3), 1.0, 1.5, 2.0, math.log(10), 3.0, 4.0, 6.0, 8.0, 10.0, 12.0]
DOMAINS = [2, 3, 10, 1000, 10**6]
GIVEN_AWAY = 1e-12
"""No design may have an exact epsilon further below its promise than this."""


def independent_exp(x: float) -> Fraction:
    """e^x of the exact float, by the decimal module: 800 digits, so its error is below 1e-798 of the value."""
    return Fraction(PRECISE.exp(Decimal(x)))


def independent_log(ratio: Fraction) -> Fraction:
    quotient = PRECISE.divide(Decimal(ratio.numerator), Decimal(ratio.denominator))
    return Fraction(PRECISE.ln(quotient))


SPREAD = [10.0**e for e in range(-9, 3)] + [0.3, 0.7, 1.0986122886681098, 7.25, 33.3, 39.999, 345.6, 699.999, 700.0]
SPREAD += [2.0**-193]  # here the terms are exact, so that only the remainder of the series is left


@pytest.mark.parametrize("x", SPREAD)
def test_bounds_bracket_the_exponential(x: float) -> None:
    low, high = exp_bounds(x)
    true, slack = independent_exp(x), independent_exp(x) / 10**790
    assert low < true - slack
    assert true + slack < high


@pytest.mark.parametrize("x", SPREAD)
def test_bounds_are_180_bits_tight(x: float) -> None:
    low, high = exp_bounds(x)
    assert high - low < low / 2**180


def test_bounds_at_zero_hold_one() -> None:
    low, high = exp_bounds(0.0)
    assert low == 1 <= high


@pytest.mark.parametrize("x", [-1e-9, 700.1, math.nan, math.inf])
def test_bounds_refuse_what_they_cannot_bound(x: float) -> None:
    with pytest.raises(ParameterError, match="x must be between 0 and 700"):
        exp_bounds(x)


RATIOS = [Fraction(3), Fraction(10**6 + 1, 10**6), Fraction(7, 5), Fraction(2) ** 900, 1 + Fraction(1, 2**90)]


@pytest.mark.parametrize("ratio", RATIOS)
def test_log_upper_is_above_the_logarithm_and_the_float_below_is_not(ratio: Fraction) -> None:
    found = log_upper(ratio)
    true = independent_log(ratio)
    assert Fraction(found) >= true
    assert Fraction(math.nextafter(found, 0.0)) < true


@pytest.mark.parametrize("ratio", [1 + Fraction(1, 2**120), 1 + Fraction(1, 10**400), Fraction(10) ** 400])
def test_log_upper_is_safe_where_floats_end(ratio: Fraction) -> None:
    found = log_upper(ratio)
    assert math.isfinite(found)
    assert found > 0
    if ratio < 2:
        assert Fraction(found) >= ratio - 1 > 0  # ln(1 + t) <= t
    else:
        assert found == pytest.approx(400 * math.log(10), rel=1e-15)
        assert Fraction(found) >= independent_log(ratio)


@pytest.mark.parametrize("case", vectors("promise")["logs"], ids=lambda case: repr(case["log"]))
def test_log_upper_is_what_the_vectors_say(case: dict[str, Any]) -> None:
    assert log_upper(Fraction(*map(int, case["ratio"]))) == case["log"]


def test_log_upper_of_one_is_zero() -> None:
    assert log_upper(Fraction(1)) == 0.0


def test_log_upper_refuses_less_than_one() -> None:
    with pytest.raises(ParameterError, match="ratio must be at least 1"):
        log_upper(Fraction(99, 100))


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_log_upper_of_a_ratio_within_the_promise_is_within_the_promise(epsilon: float) -> None:
    assert log_upper(exp_bounds(epsilon)[0]) <= epsilon


def given_away(ratio: Fraction, epsilon: float) -> Fraction:
    return Fraction(epsilon) - independent_log(ratio)


def two_level_splits(k: int, epsilon: float) -> set[tuple[int, int]]:
    """The (own, rest) of randomised response, subset selection and hashing for k values."""
    w = math.exp(-epsilon)
    size = max(1, round(k * w / (1 + w)))
    return {(1, k - 1), (size, k - size), (k // 2, k - k // 2), (1, round(1 / w))}


@pytest.mark.parametrize("k", DOMAINS)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_keep_threshold_is_within_the_bound_and_the_next_one_is_not(epsilon: float, k: int) -> None:
    low, high = exp_bounds(epsilon)
    for own, rest in two_level_splits(k, epsilon):
        keep = keep_threshold(epsilon, own, rest)
        assert two_level_ratio(keep, own, rest) <= low
        assert two_level_ratio(keep + 1, own, rest) > high
        assert 0 <= given_away(two_level_ratio(keep, own, rest), epsilon) < GIVEN_AWAY


KEEPS = [2**63, 2**62, round(0.8 * 2**64), round(0.999 * 2**64)]


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("keep", [*KEEPS, None], ids=["half", "quarter", "0.8", "0.999", "symmetric"])
def test_flip_threshold_is_within_the_bound_and_the_next_one_is_not(epsilon: float, keep: int | None) -> None:
    low, high = exp_bounds(epsilon)
    keep = round(Fraction(1 / (1 + math.exp(-epsilon / 2))) * 2**64) if keep is None else keep
    flip = flip_threshold(epsilon, keep)
    assert unary_ratio(keep, flip) <= low
    assert unary_ratio(keep, flip - 1) > high
    assert 0 <= given_away(unary_ratio(keep, flip), epsilon) < GIVEN_AWAY


def test_ideal_thresholds_would_break_the_promise_somewhere() -> None:
    """Why thresholds are rounded with care: to the nearest integer, the promise does not always hold."""
    broken = 0
    for epsilon in EPSILONS:
        for k in DOMAINS:
            ideal = independent_exp(epsilon) / (independent_exp(epsilon) + k - 1)
            broken += two_level_ratio(round(ideal * 2**64), 1, k - 1) > exp_bounds(epsilon)[1]
    assert broken > 10


@pytest.mark.parametrize("bits", [8, 16, 32])
def test_thresholds_of_small_words_are_maximal_too(bits: int) -> None:
    for epsilon in (0.5, 1.0, 2.0):
        low = exp_bounds(epsilon)[0]
        keep = keep_threshold(epsilon, 1, 3, bits=bits)
        every = [t for t in range(1, 1 << min(bits, 12)) if two_level_ratio(t, 1, 3, bits=bits) <= low]
        assert two_level_ratio(keep, 1, 3, bits=bits) <= low < two_level_ratio(keep + 1, 1, 3, bits=bits)
        if bits == 8:
            assert max(every) == keep


def test_words_too_small_for_epsilon_are_an_error() -> None:
    with pytest.raises(PrivacyError, match="needs more than 8-bit words"):
        keep_threshold(0.01, 1, 10**6, bits=8)
    with pytest.raises(PrivacyError, match="needs more than 8-bit words"):
        keep_threshold(0.001, 1, 1, bits=8)  # 128 of 256: no answer is favoured
    with pytest.raises(PrivacyError, match="needs more than 8-bit words"):
        flip_threshold(0.001, 128, bits=8)


def test_favouring_the_other_answers_leaks_as_much() -> None:
    assert two_level_ratio(1, 1, 1, bits=8) == two_level_ratio(255, 1, 1, bits=8) == 255
    assert two_level_ratio(64, 3, 1, bits=8) == 9


@pytest.mark.parametrize("bad", [0, 0.0, -1.0, math.nan, math.inf, -math.inf, True, "1", None, 1j, [1.0]])
def test_epsilon_must_be_a_positive_number(bad: object) -> None:
    with pytest.raises(ParameterError, match="epsilon must be a finite number > 0, got"):
        check_epsilon(bad)  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [1e-13, 5e-324, Fraction(1, 10**400)])
def test_epsilon_that_says_nothing_is_refused(bad: float) -> None:
    with pytest.raises(ParameterError, match="epsilon must be at least 1e-12"):
        check_epsilon(bad)


@pytest.mark.parametrize("bad", [700.0001, 10**400])
def test_epsilon_above_700_is_refused_by_formulas(bad: float) -> None:
    with pytest.raises(ParameterError, match="epsilon must be at most 700"):
        check_epsilon(bad)


def test_epsilon_above_40_is_refused_by_samplers_only() -> None:
    assert check_epsilon(EPSILON_MAX, sampling=True) == EPSILON_MAX == 40.0
    assert check_epsilon(40.001) == 40.001
    with pytest.raises(PrivacyError, match=r"epsilon must be at most 40 to draw reports, got 40\.001"):
        check_epsilon(40.001, sampling=True)
