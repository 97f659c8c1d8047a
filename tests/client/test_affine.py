"""The device's half of `affine`: which reports a draw can give, and which numbers are refused."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from deniable_client.errors import FormatError, ParameterError
from deniable_client.kernels import Affine, kernel_from, kernel_to
from deniable_client.kernels.affine import CELLS_MAX, is_primitive, primitive_root
from deniable_client.packing import unpack_int
from deniable_client.words import ReplayWords

WORD = 1 << 64
DESIGNS = [
    (13, 13, 4, 1, 1),
    (11, 13, 4, 1, 0),
    (3, 3, 1, 0, 1),
    (2, 3, 2, 1, 0),
    (19, 19, 6, 2, 1),
    (11, 11, 2, 1, 0),
    (29, 31, 5, 1, 1),
    (17, 17, 16, 5, 0),
    (7, 7, 6, 5, 1),
    (37, 37, 3, 2, 1),
]


def block(kernel: Affine, report: int) -> set[int]:
    """The points of a report, by definition."""
    i, b = divmod(report, kernel.q)
    classes = [(i + turn) % kernel.m for turn in range(kernel.j)]
    powers = (pow(kernel.g, e, kernel.q) for e in range(kernel.q - 1) if e % kernel.m in classes)
    return {(point + b) % kernel.q for point in powers} | ({b} if kernel.zero else set())


def word_for(number: int, below: int) -> int:
    """A word of which a uniform number below another is made: in the middle of those that give it."""
    return ((2 * number + 1) << 64) // (2 * below)


@pytest.mark.parametrize("numbers", DESIGNS, ids=str)
def test_draws_and_reports_are_a_bijection(numbers: tuple[int, ...]) -> None:
    """Kept: each report with x exactly once; otherwise each of the others exactly once."""
    kernel = Affine.calibrate(1.0, *numbers)
    blocks = [block(kernel, report) for report in range(kernel.order)]
    assert {len(points) for points in blocks} == {kernel.points}
    for x in range(kernel.k):
        for kept, number in ((True, kernel.points), (False, kernel.q - kernel.points)):
            coin = 0 if kept else WORD - 1
            draws = [(i, r) for i in range(kernel.m) for r in range(number)]
            words = ([coin, word_for(i, kernel.m), word_for(r, number)] for i, r in draws)
            made = [unpack_int(kernel.randomise(x, ReplayWords(three)), kernel.width) for three in words]
            assert sorted(made) == [report for report, points in enumerate(blocks) if (x in points) == kept]


@pytest.mark.parametrize("numbers", DESIGNS[:5], ids=str)
def test_a_dealt_union_is_used_and_reports_of_every_one_are_private(numbers: tuple[int, ...]) -> None:
    """Given the union, each of its blocks with x exactly once where x is kept, else each of its others once."""
    kernel = Affine.calibrate(1.0, *numbers)
    for x, coin in product(range(kernel.k), range(kernel.m)):
        for kept, number in ((True, kernel.points), (False, kernel.q - kernel.points)):
            words = ([0 if kept else WORD - 1, word_for(r, number)] for r in range(number))
            made = [unpack_int(kernel.randomise_dealt(x, coin, ReplayWords(two)), kernel.width) for two in words]
            shifts = range(coin * kernel.q, (coin + 1) * kernel.q)
            assert sorted(made) == [report for report in shifts if (x in block(kernel, report)) == kept]
    for wrong in (-1, kernel.m, True, 0.0):
        with pytest.raises(ParameterError, match=f"coin must be an integer from 0 to {kernel.m - 1}"):
            kernel.randomise_dealt(0, wrong, ReplayWords([0, 0]))  # type: ignore[arg-type]  # as somebody may give it


def test_the_first_word_keeps_the_second_is_the_union_the_third_its_point() -> None:
    """The order of draws, which all clients share, written out for one design: classes {1, 8, 12, 5} and so on.

    g = 2 is primitive for 13, and m = 3 gives classes of 4 points; draws count through one class, then the next.
    """
    kernel = Affine(13, 13, 3, 1, 1, 2, WORD // 2)
    words = [WORD // 2 - 1, word_for(1, 3), word_for(2, 5)]  # kept, i = 1, third point of class 1: 2^(1 + 6) = 11
    assert kernel.randomise(7, ReplayWords(words)) == bytes([13 + (7 - 11) % 13])
    words = [WORD // 2 - 1, word_for(1, 3), word_for(4, 5)]  # the last of the own points is 0
    assert kernel.randomise(7, ReplayWords(words)) == bytes([13 + 7])
    words = [WORD // 2, word_for(1, 3), word_for(5, 8)]  # not kept: classes 2, then 0; second point of class 0: 8
    assert kernel.randomise(7, ReplayWords(words)) == bytes([13 + (7 - 8) % 13])


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"q": 15}, "q must be a prime number, got 15"),
        ({"q": 11}, "q must be an integer from 12 to"),
        ({"q": CELLS_MAX + 9}, "q must be an integer from 12 to"),
        ({"k": 1}, "k must be an integer from 2"),
        ({"k": 2, "q": 2, "m": 1}, "q must be an integer from 3"),
        ({"m": 5}, "m must be a divisor of q-1 = 12, got 5"),
        ({"m": 0}, "m must be an integer from 1"),
        ({"m": CELLS_MAX // 13 + 1}, "m must be an integer from 1 to 645277"),
        ({"j": 3}, "j must be an integer from 0 to 2"),
        ({"j": -1}, "j must be an integer from 0 to 2"),
        ({"j": 0}, "j must be at least 1 if zero is 0"),
        ({"zero": 2}, "zero must be an integer from 0 to 1"),
        ({"zero": True}, "zero must be an integer from 0 to 1"),
        ({"g": 4}, "g must be a primitive root of 13, got 4"),
        ({"g": 1}, "g must be a primitive root of 13, got 1"),
        ({"g": 12}, "g must be a primitive root of 13, got 12"),
        ({"g": 0}, "g must be an integer from 1 to 12"),
        ({"g": 15}, "g must be an integer from 1 to 12"),
        ({"keep": 0}, "keep must be an integer between 0"),
        ({"keep": WORD}, "keep must be an integer between 0"),
    ],
    ids=str,
)
def test_numbers_that_do_not_fit_are_refused(wrong: dict[str, Any], told: str) -> None:
    kernel = Affine(12, 13, 3, 1, 0, 2, WORD // 2)
    assert kernel_from(kernel_to(kernel)) == kernel
    with pytest.raises(ParameterError, match=told):
        replace(kernel, **wrong)


def test_a_design_of_any_size_is_refused_before_any_work() -> None:
    document = kernel_to(Affine(12, 13, 3, 1, 0, 2, WORD // 2))
    for name in ("k", "q", "m", "j", "g"):
        with pytest.raises((ParameterError, FormatError), match=f"{name} must be"):
            kernel_from(document | {name: str(2**61 - 1)})


def test_a_square_in_place_of_a_primitive_root_would_give_answers_away() -> None:
    """Its powers are half of the points: some reports could not be made of some values."""
    kernel = Affine(13, 13, 3, 1, 0, 2, WORD // 2)
    object.__setattr__(kernel, "g", 4)
    words = (
        [coin, word_for(i, 3), word_for(r, n)]
        for coin, n in ((0, 4), (WORD - 1, 9))
        for i in range(3)
        for r in range(n)
    )
    made = {unpack_int(kernel.randomise(0, ReplayWords(three)), 1) for three in words}
    assert len(made) < kernel.order


@pytest.mark.parametrize(("q", "least"), [(3, 2), (7, 3), (23, 5), (41, 6), (409, 21), (100003, 2)])
def test_primitive_roots(q: int, least: int) -> None:
    assert primitive_root(q) == least
    for g in range(1, min(q, 50)):
        power, order = g, 1
        while power != 1 and order < q:
            power, order = power * g % q, order + 1
        assert is_primitive(g, q) == (order == q - 1)
