"""Boxes: how they are drawn, what a device spends on it, and what the collector reads of them."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.collect.reports import Reports
from deniable.testing import StreamWords
from deniable_client.kernels import Box
from deniable_client.words import ReplayWords

WORD = 1 << 64
CASES = [((2, 2), (1, 1)), ((4, 3), (2, 1)), ((3, 5, 2), (2, 3, 1)), ((9,), (4,)), ((2, 3, 4, 2), (1, 2, 1, 1))]


class Counting(ReplayWords):
    """Words that are counted; none of them has to be drawn again."""

    def __init__(self, words: list[int]) -> None:
        super().__init__(words)
        self.used = 0

    def word(self) -> int:
        self.used += 1
        return super().word()


def test_lists_of_sizes_become_tuples() -> None:
    """A kernel is a value: two that are equal are one key of a mapping."""
    assert hash(Box.calibrate(1.0, [3, 4], [1, 1])) == hash(Box.calibrate(1.0, (3, 4), (1, 1)))


@pytest.mark.parametrize(("sizes", "shape"), CASES, ids=str)
def test_the_words_of_a_report_do_not_tell_what_happened(sizes: tuple[int, ...], shape: tuple[int, ...]) -> None:
    """Kept or not, whichever set misses first, for every value: the same number of words, as it is stated."""
    kernel, rng = Box.calibrate(1.0, sizes, shape), dn.simulation(1).generator()
    seen = Counter()
    for x in range(kernel.k):
        for first in (0, WORD - 1):
            for share in (0.01, 0.3, 0.6, 0.99):
                rest = [int(w) for w in rng.integers(1 << 62, 1 << 63, 40)]
                words = Counting([first, int(share * WORD), *rest])
                kernel.randomise(x, words)
                seen[words.used] += 1
    assert set(seen) == {kernel.words} == {2 + sum(shape)}


@pytest.mark.parametrize(("sizes", "shape"), CASES, ids=str)
def test_the_first_miss_is_counted_exactly(sizes: tuple[int, ...], shape: tuple[int, ...]) -> None:
    """Among all boxes that miss an own answer, the first one that is missed, for one value that stands for all."""
    kernel = Box.calibrate(1.0, sizes, shape)
    bulk = dn.mechanism("box", sizes=sizes, shape=shape, epsilon=1.0).bulk
    x = kernel.answers_of(kernel.k // 2)
    missed = Counter(
        next(j for j, (own, held) in enumerate(zip(x, box, strict=True)) if own not in held)
        for box in bulk.boxes()
        if not all(own in held for own, held in zip(x, box, strict=True))
    )
    own, rest = kernel.reports
    assert sum(missed.values()) == rest
    drawn = Counter(kernel.first_miss(number) for number in range(kernel.levels[1]))
    for j, count in missed.items():
        assert Fraction(drawn[j], kernel.levels[1]) == Fraction(count, rest)
    assert own + rest == math.prod(math.comb(k, s) for k, s in zip(sizes, shape, strict=True))
    many = bulk._first_miss(np.arange(kernel.levels[1]))
    assert many.tolist() == [kernel.first_miss(number) for number in range(kernel.levels[1])]


def test_devices_and_many_people_follow_one_law() -> None:
    """The channel of the integers is that of the device's draws; of the bulk sampler, conformance tests say it."""
    m = dn.mechanism("box", sizes="3,2", shape="2,1", epsilon=1.5)
    rows = [m.kernel.randomise(x % 6, StreamWords(dn.simulation(x))) for x in range(200)]
    reports = Reports.from_rows(m.design, m.fields, rows, simulated=True)
    assert m.bulk.possible(reports.columns).all()
    assert m.tally(reports).cells["support"].sum() == 200 * 3


@pytest.mark.parametrize(
    ("row", "why"),
    [(0b00000, "nothing"), (0b00111, "three of the first"), (0b11011, "two of the second"), (0b101011, "a bit beyond")],
)
def test_what_is_no_box_is_refused(row: int, why: str) -> None:
    m = dn.mechanism("box", sizes="3,2", shape="2,1", epsilon=1.5)
    columns = {"bits": np.array([[0b01011], [row]], np.uint8)}
    assert m.bulk.possible(columns).tolist() == [True, False], why
    with pytest.raises(dn.FormatError, match="a report is no box"):
        m.bulk.count(columns)


def test_tallies_that_no_boxes_add_up_to_are_refused() -> None:
    """The sum over all answers is right, that of each question is not."""
    m = dn.mechanism("box", sizes="3,2", shape="2,1", epsilon=1.5)
    good: dict[str, Any] = {"n": np.array([2]), "support": np.array([[2, 1, 1, 1, 1]])}
    m.bulk.refuse_impossible(good)
    with pytest.raises(dn.FormatError, match="'support' sums to 3, possible is 4"):
        m.bulk.refuse_impossible(good | {"support": np.array([[1, 1, 1, 2, 1]])})


def test_questions_of_a_box_one_by_one() -> None:
    m = dn.mechanism("box", sizes="3,2", epsilon=3.0)
    values = m.numbers([np.array([0, 1, 2] * 2000), np.array([0, 1] * 3000)])
    assert sorted(set(values.tolist())) == list(range(6))
    tally = m.tally(m.privatize(values, rng=dn.simulation(1)))
    whole, each = m.estimate(tally), m.questions(tally, [("a", "b", "c"), ("no", "yes")])
    assert whole.labels == ("q1: 0", "q1: 1", "q1: 2", "q2: 0", "q2: 1")
    assert np.concatenate([e.value for e in each]).tolist() == whole.value.tolist()
    assert [e.labels for e in each] == [("a", "b", "c"), ("no", "yes")]
    assert each[0].value.sum() == pytest.approx(1.0)
    assert each[0].covariance().shape == (3, 3)
    ends, own = whole.interval(), each[1].interval()
    assert ends.low[3:].tolist() == own.low.tolist()
    with pytest.raises(dn.ParameterError, match="covariance of answers to different questions is not told"):
        whole.covariance()
    with pytest.raises(dn.ParameterError, match="single"):
        whole.project()
    both = m.fit(m.privatize(values, rng=dn.simulation(1)))
    assert both.labels == tuple(map(str, range(6))), "EM finds the table of both"


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"sizes": "2,1"}, "sizes must be at least 2 answers to each question"),
        ({"sizes": "2,x"}, "sizes must be whole numbers, one for each question"),
        ({"sizes": ""}, "sizes must be whole numbers"),
        ({"sizes": [2.5, 2]}, "sizes must be whole numbers"),
        ({"sizes": "2,2", "shape": "1"}, "shape must be 2 whole numbers, one for each question"),
        ({"sizes": "2,3", "shape": "2,1"}, "shape must be from 1 to the question's number of answers less 1"),
        ({"sizes": ["2"] * 33}, "sizes must be whole numbers"),
        ({"sizes": [2] * 33}, "sizes must be those of at most 32 questions"),
        ({"sizes": [1 << 20] * 2}, "k must be at most"),
        ({"k": 4}, "box needs its own parameter sizes"),
        ({"sizes": "2,2", "k": 4}, "domain must be given by exactly one"),
    ],
)
def test_what_is_no_box_cannot_be_made(options: dict[str, Any], told: str) -> None:
    with pytest.raises(dn.ParameterError, match=told):
        dn.mechanism("box", epsilon=1.0, **options)


@pytest.mark.parametrize(
    ("sizes", "shape", "told"),
    [
        ((4, 3), (4, 1), "shape must be an integer from 1 to 3"),
        ((4, 3), (2, 0), "shape must be an integer from 1 to 2"),
        ((4, 3), (2,), "shape must be a number for each of 2 questions"),
        ((4, 1), (2, 1), "k must be an integer from 2"),
        ((), (), "number of questions must be an integer from 1 to 32"),
        ((1 << 17, 1 << 17), (1, 1), "k must be an integer from 2"),
    ],
)
def test_numbers_that_are_no_box_are_refused_by_devices(
    sizes: tuple[int, ...], shape: tuple[int, ...], told: str
) -> None:
    with pytest.raises(dn.ParameterError, match=told):
        Box(sizes, shape, WORD // 2)


def test_the_best_shape_is_the_default() -> None:
    assert dn.mechanism("box", sizes="2,2", epsilon=2.0).shape == (1, 1)
    found = dn.mechanism("box", sizes=(5, 4), epsilon=1.0)
    told = found.properties()["mse"]
    for shape in product(range(1, 5), range(1, 4)):
        assert sum(dn.mechanism("box", sizes=(5, 4), shape=shape, epsilon=1.0).properties()["mse"]) >= sum(told) - 1e-12
