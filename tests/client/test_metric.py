"""Kernels for values with distances: their law word by word, their ratio, and what they refuse."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from deniable_client.errors import FormatError, ParameterError
from deniable_client.exact import exp_bounds, two_level_ratio
from deniable_client.kernels import Constant, Neighbours, Recode, Response, kernel_from, kernel_to
from deniable_client.words import ReplayWords

LISTS = ((0, 1), (1, 4), (0, 5))


def law(kernel: Any, x: int, bits: int = 4) -> dict[int, Fraction]:
    """The exact law with words of few bits: every pair of words is as likely as any other."""
    size = 1 << bits
    found = Counter(kernel.randomise(x, ReplayWords(words, bits))[0] for words in product(range(size), repeat=2))
    return {y: Fraction(count, size * size) for y, count in found.items()}


@pytest.mark.parametrize("x", range(3))
def test_neighbours_share_one_probability_and_all_others_another(x: int) -> None:
    kernel = Neighbours(6, LISTS, 12)
    near, far = Fraction(12, 16) / 2, Fraction(4, 16) / 4
    assert law(kernel, x) == {y: near if y in LISTS[x] else far for y in range(6)}


def test_neighbours_have_the_ratio_of_two_levels_unless_all_lists_are_the_same() -> None:
    kernel = Neighbours.calibrate(1.0, LISTS, 6)
    assert kernel.ratio == two_level_ratio(kernel.keep, 2, 4) <= exp_bounds(1.0)[0]
    assert two_level_ratio(kernel.keep + 1, 2, 4) > exp_bounds(1.0)[0]
    assert Neighbours.calibrate(1.0, ((0, 1),) * 4, 6).ratio == 1


def test_recoded_values_have_the_law_of_their_code() -> None:
    base = Response(3, 10)
    kernel = Recode(7, (0, 2, 3, 6), (0, 2, 1, 0), base)
    assert [kernel.code(x) for x in range(7)] == [0, 0, 2, 1, 1, 1, 0]
    for x in range(7):
        assert law(kernel, x) == law(base, kernel.code(x))
    assert kernel.ratio == base.ratio
    assert Recode(7, (0,), (2,), base).ratio == 1


def test_a_constant_tells_nothing() -> None:
    kernel = Constant(5)
    assert {kernel.randomise(x, ReplayWords([])) for x in range(5)} == {b"\0"}
    assert kernel.ratio == 1


@pytest.mark.parametrize(
    "kernel",
    [Neighbours.calibrate(2.0, LISTS, 6), Recode(4, (0, 2), (1, 0), Response.calibrate(1.0, 2)), Constant(9)],
    ids=lambda kernel: kernel.kind,
)
def test_documents_come_back(kernel: Any) -> None:
    assert kernel_from(kernel_to(kernel)) == kernel
    for x in (-1, kernel.k, 0.5, True):
        with pytest.raises(ParameterError, match="value must be"):
            kernel.randomise(x, ReplayWords(range(9)))


@pytest.mark.parametrize(
    ("lists", "outputs", "what"),
    [
        (((0, 1), (2,)), 6, "one length"),
        (((1, 0), (1, 2)), 6, "rising"),
        (((0, 0), (1, 2)), 6, "rising"),
        (((0, 6), (1, 2)), 6, "rising integers from 0 to 5"),
        (((0, 1), (0, 1)), 2, "m must be"),
        (((), ()), 2, "m must be"),
        (((0, 1),), 4, "k must be"),
        ((tuple(range(600)),) * 600, 700, "at most 262144"),
    ],
)
def test_lists_that_are_none_are_refused(lists: Any, outputs: int, what: str) -> None:
    with pytest.raises(ParameterError, match=what):
        Neighbours(outputs, lists, 1 << 63)


@pytest.mark.parametrize(
    ("starts", "codes"),
    [((1, 2), (0, 1)), ((0, 0), (0, 1)), ((0, 9), (0, 1)), ((0, 2), (0, 3)), ((0, 2), (0,)), ((), ())],
)
def test_runs_that_are_none_are_refused(starts: Any, codes: Any) -> None:
    with pytest.raises(ParameterError, match=r"starts|codes"):
        Recode(4, starts, codes, Response(3, 1 << 62))


def test_a_design_cannot_hide_another_kernel_behind_the_codes() -> None:
    document = kernel_to(Recode(4, (0, 2), (1, 0), Response.calibrate(1.0, 2)))
    with pytest.raises(ParameterError, match="a response kernel"):
        kernel_from(document | {"base": kernel_to(Constant(2))})
    with pytest.raises(FormatError):
        kernel_from(document | {"extra": "1"})
