"""The exponential mechanism decides by integers, and has its law."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chisquare

from deniable.errors import ParameterError
from deniable.learn.choice import accepts, choose
from deniable.randomness import Replay, simulation
from deniable_client.exact import exp_bounds

WORD = 1 << 64
NONE = Replay([], 64)


@pytest.mark.parametrize(
    "x", [Fraction(1, 10**9), Fraction(1, 3), Fraction(1), Fraction(7, 2), Fraction(40), Fraction(44)]
)
def test_words_on_both_sides_of_the_threshold_decide_alone(x: Fraction) -> None:
    low, high = exp_bounds(x)
    inside, outside = int(WORD // high) - 1, -int(-WORD // low)
    assert outside - inside <= 3
    assert accepts(x.numerator, x.denominator, inside, NONE)
    assert not accepts(x.numerator, x.denominator, outside, NONE)


def test_the_one_word_in_between_asks_for_more_bits() -> None:
    low, _ = exp_bounds(Fraction(1, 2))
    between = int(WORD // low)
    for more, answer in ((0, True), (WORD - 1, False)):
        further = Replay([more], 64)
        assert accepts(1, 2, between, further) is answer
        assert further.used == 1


def test_far_exponents_are_as_good_as_never() -> None:
    assert not accepts(10**6, 1, 1, NONE)
    further = Replay([0, 5], 64)
    assert not accepts(10**6, 1, 0, further)
    assert further.used == 2


def test_certain_coin() -> None:
    assert accepts(0, 1, WORD - 1, NONE)


@pytest.mark.stat
def test_choices_have_their_law() -> None:
    """Chi-square at alpha = 1e-6; a rate 15 % off is found at the same level, so the test can see."""
    utilities, n = np.array([0, 3, 4, 9]), 6000
    stream = simulation(20261116)
    counts = np.bincount([choose(stream, utilities, Fraction(1, 4)) for _ in range(n)], minlength=4)

    def p_value(rate: float) -> float:
        law = np.exp(rate * utilities)
        return float(chisquare(counts, n * law / law.sum()).pvalue)

    assert p_value(0.25) > 1e-6
    assert p_value(0.25 * 1.15) < 1e-6


def test_nothing_to_choose_from_is_an_error() -> None:
    with pytest.raises(ParameterError, match="utilities must be a list of at least one number"):
        choose(simulation(1), np.array([], np.int64), Fraction(1))
