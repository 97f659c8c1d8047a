"""Every caution of a plan by itself: from which number on it is given, and the numbers that it tells."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from deniable.plan import cautions


def told(said: Iterable[str]) -> str:
    return " ".join(said)


def test_a_weak_promise_is_told_above_four_and_not_at_it() -> None:
    assert told(cautions.about_epsilon(4.0)) == ""
    assert told(cautions.about_epsilon(4.25)) == (
        "Caution: epsilon 4.25 protects little, since a report may be e^4.25 = 70.2 times as likely for one answer as "
        "for another. Values from 0.5 to 4 are usual."
    )


@pytest.mark.parametrize(
    ("weights", "limits", "given"),
    [
        ({}, {}, False),
        ({"asr": 1.0}, {}, True),
        ({"asr": 0.5, "bits": 0.5}, {"bytes": 3.0}, True),
        ({"asr": 0.5, "mse": 0.5}, {}, False),
        ({"asr": 1.0}, {"stderr": 0.1}, False),
        ({"poisoning": 1.0}, {"loss": 0.1, "asr": 0.2}, False),
    ],
)
def test_weights_without_the_error_are_told_unless_a_target_limits_it(
    weights: dict[str, float], limits: dict[str, float], given: bool
) -> None:
    assert bool(told(cautions.about_weights(weights, limits))) == given


def test_a_target_of_ten_points_or_more_is_told() -> None:
    assert [bool(told(cautions.about_target(x))) for x in (None, 0.0999, 0.1, 0.5)] == [False, False, True, True]
    assert "of 12.5 percentage points tells" in told(cautions.about_target(0.125))


def test_shares_are_called_vague_where_the_error_is_above_the_average_share() -> None:
    assert told(cautions.about_shares(4, 1000, 0.25)) == "", "as large as the average is not larger"
    said = told(cautions.about_shares(4, 1000, 0.5))
    assert "average share of an answer (25 points)" in said
    assert "About 4,000 reports would bring it down to that;" in said, "twice the error takes four times as many"
    assert "(1 point)" in told(cautions.about_shares(100, 1000, 0.5))
    assert "About 19,000 reports" in told(cautions.about_shares(8, 1234, 0.49)), "1234 (0.49 8)^2, in two digits"


@pytest.mark.parametrize(
    ("k", "length", "stderr", "words"),
    [
        (10, 1, 0.1, ""),
        (10, 2, 0.2, ""),
        (10, 1, 0.2, "average frequency of a key (10 points at most)"),
        (10, 2, 0.4, "average frequency of a key (20 points at most)"),
        (10, 20, 1.0, ""),
        (10, 20, 2.0, "average frequency of a key (100 points at most)"),
    ],
)
def test_keys_are_counted_against_what_people_may_have_of_them(k: int, length: int, stderr: float, words: str) -> None:
    """Nobody has more keys than there are."""
    said = told(cautions.about_keys(k, length, 500, stderr))
    assert words in said
    assert bool(said) == bool(words)
    assert not said or "About 2,000 people would bring it down to that; fewer keys" in said


def test_a_mean_is_called_vague_from_a_quarter_of_its_range_on() -> None:
    assert told(cautions.about_mean(10.0, 30.0, 100, 4.99)) == ""
    assert told(cautions.about_mean(10.0, 30.0, 100, 5.0)) == (
        "Caution: the error is 25 % of the range, so the mean may lie nearly anywhere between 10 and 30. About 62,000 "
        "people would bring it down to 1 % of the range; a larger epsilon helps too."
    )


def test_rounding_is_told_where_it_is_more_than_the_error() -> None:
    assert told(cautions.about_rounding(8, 0.5, 0.5)) == ""
    said = told(cautions.about_rounding(1024, 0.5, 0.49))
    assert "rounded to 1,024 points first, which may move the mean by up to 0.5: more than" in said


@pytest.mark.parametrize(
    ("saved", "words"),
    [
        (None, ""),
        (0.1, ""),
        (0.0999, "hardly better than"),
        (1e-8, "hardly better than"),
        (5e-10, "no better than"),
        (0.0, "no better than"),
        (-5e-10, "no better than"),
        (-1e-8, "worse than"),
        (-0.5, "worse than"),
    ],
)
def test_near_answers_are_held_against_one_answer_for_everybody(saved: float | None, words: str) -> None:
    said = told(cautions.about_saved(saved))
    assert f"the reports are {words} one constant answer" in said if words else not said


def test_more_people_than_there_are_is_told() -> None:
    some: list[Any] = [told(cautions.about_people(n)) for n in (1, 8_000_000_000, 8_000_000_001)]
    assert [bool(said) for said in some] == [False, False, True]
