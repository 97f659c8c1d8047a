"""Budgets are fractions: they add up exactly, and nothing goes beyond the promise."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable.errors import ParameterError, PrivacyError
from deniable.learn.ledger import Ledger, float_below, shares_of

SETTINGS = settings(deadline=None, derandomize=True, max_examples=80)


def test_steps_add_up_and_parts_do_not() -> None:
    book = Ledger(1.0)
    for part in range(3):
        book.add("this", Fraction(1, 4), step=0, part=part)
        book.add("that", Fraction(1, 8), step=1, part=part)
    book.add("that again", Fraction(1, 8), step=1, part=1)
    assert book.total == Fraction(1, 2)
    assert len(book) == 7
    assert str(book).endswith("total 0.5 of 1")


def test_the_line_that_breaks_the_promise_is_not_written() -> None:
    book = Ledger(1.0)
    book.add("most", Fraction(9, 10))
    with pytest.raises(PrivacyError, match=r"the rest: 0\.2 would go beyond the budget of 1\.0"):
        book.add("the rest", Fraction(2, 10))
    assert book.total == Fraction(9, 10)
    book.add("the rest", Fraction(1) - book.total)
    assert book.total == 1
    with pytest.raises(PrivacyError, match="nothing was released"):
        book.add("less than a float can tell", Fraction(1, 1 << 80))


@SETTINGS
@given(st.floats(0.01, 40), st.lists(st.floats(0, 10), min_size=1, max_size=20).filter(lambda w: sum(w) > 0))
def test_shares_sum_exactly_and_mechanisms_spend_no_more(epsilon: float, weights: list[float]) -> None:
    shares = shares_of(epsilon, [Fraction(w) for w in weights])
    assert sum(shares) == Fraction(epsilon)
    assert sum(Fraction(float_below(share)) for share in shares) <= Fraction(epsilon)
    assert all(share - Fraction(float_below(share)) <= share * Fraction(1, 2**52) for share in shares if share > 1e-300)


@pytest.mark.parametrize("weights", [[], [0, 0], [1, -1], [2, -1]])
def test_weights_that_divide_nothing_are_refused(weights: list[int]) -> None:
    with pytest.raises(ParameterError, match="weights must be numbers >= 0, not all of them 0"):
        shares_of(1.0, [Fraction(w) for w in weights])


@SETTINGS
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.fractions(0, 1, max_denominator=50)), max_size=30))
def test_the_running_total_is_the_sum_of_the_largest_parts(lines: list[tuple[int, int, Fraction]]) -> None:
    book = Ledger(40.0)
    for step, part, epsilon in lines:
        book.add("something", epsilon, step, part)
    sums = {step: [sum(e for s, p, e in lines if (s, p) == (step, part)) for part in range(4)] for step in range(4)}
    assert book.total == sum(max(each) for each in sums.values())
