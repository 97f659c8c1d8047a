"""The kernels for values in an order: exact laws by enumerating words, tight ratios, what they refuse."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product

import pytest

from deniable_client.errors import ParameterError, PrivacyError
from deniable_client.exact import exp_bounds
from deniable_client.kernels import Leaning, Window, WindowOrBit, kernel_from, kernel_to
from deniable_client.words import ReplayWords

WORD = 1 << 64

WINDOWS = [
    (4, 4, 2, 1, 1),  # BRR on a line, even window, coin
    (4, 4, 2, 1, 0),
    (4, 4, 2, 0, 0),
    (5, 5, 4, 2, 1),
    (5, 5, 3, 1, 0),
    (4, 4, 1, 0, 0),  # randomised response
    (3, 5, 3, 0, 0),  # square wave
    (2, 2, 1, 0, 0),
    (6, 7, 2, 0, 0),
    (3, 2, 1, 1, 0),  # windows cut at both ends
]


def exact_law(kernel: Window, x: int) -> list[Fraction]:
    """By the words of the description, in fractions; no code of the kernel but its fields."""
    chance = Fraction(kernel.keep, WORD)
    law = [Fraction(0)] * kernel.outputs
    for shift in {kernel.shift, kernel.shift - kernel.tie}:
        first = min(max(x - shift, 0), kernel.outputs - kernel.m)
        window = range(first, first + kernel.m)
        for y in range(kernel.outputs):
            inside = chance / kernel.m if y in window else (1 - chance) / (kernel.outputs - kernel.m)
            law[y] += inside / (1 + kernel.tie)
    return law


@pytest.mark.parametrize("shape", WINDOWS, ids=str)
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_the_ratio_is_the_worst_of_all_outputs_and_pairs(shape: tuple[int, ...], epsilon: float) -> None:
    kernel = Window.calibrate(epsilon, *shape)
    laws = [exact_law(kernel, x) for x in range(kernel.k)]
    assert {sum(law) for law in laws} == {1}
    worst = max(max(column) / min(column) for column in zip(*laws, strict=True))
    low = exp_bounds(epsilon)[0]
    assert worst == kernel.ratio
    assert low * (1 - Fraction(1, 10**12)) < kernel.ratio <= low


@pytest.mark.parametrize("shape", WINDOWS, ids=str)
def test_all_short_words_give_the_exact_law(shape: tuple[int, ...]) -> None:
    """Words of 4 bits, with a threshold of 7/16: sequences that need no second try have the law of the description."""
    kernel = Window(*shape, keep=7)
    draws = 2 + kernel.tie
    for x in range(kernel.k):
        found: Counter[int] = Counter()
        for words in product(range(16), repeat=draws):
            try:
                report = kernel.randomise(x, ReplayWords(words, 4))
            except ParameterError:
                continue  # a word had to be drawn again
            found[int.from_bytes(report, "little")] += 1
        expected = [0] * kernel.outputs
        for shift in (kernel.shift, kernel.shift - 1)[: 1 + kernel.tie]:
            first = min(max(x - shift, 0), kernel.outputs - kernel.m)
            for y in range(kernel.outputs):
                inside = first <= y < first + kernel.m
                each = 7 * (16 // kernel.m) if inside else 9 * (16 // (kernel.outputs - kernel.m))
                expected[y] += each * 16**kernel.tie // (1 + kernel.tie)
        assert [found[y] for y in range(kernel.outputs)] == expected


@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1.0, 8.0, 40.0])
@pytest.mark.parametrize("k", [2, 3, 1000, 1 << 20])
def test_a_leaning_bit_keeps_the_promise_and_wastes_nothing(epsilon: float, k: int) -> None:
    kernel = Leaning.calibrate(epsilon, k)
    low = exp_bounds(epsilon)[0]
    assert kernel.ratio <= low
    assert low - kernel.ratio <= (low - 1) * (Fraction(1, 10**6) + Fraction(2, kernel.base))
    assert 2 * kernel.base + (k - 1) * kernel.slope > WORD - k, "symmetric up to what division leaves"


def test_the_leaning_bit_for_all_8_bit_words() -> None:
    kernel = Leaning(4, 20, 30)
    for x in range(4):
        ones = sum(kernel.randomise(x, ReplayWords([w], 8)) == b"\x01" for w in range(256))
        assert ones == 20 + 30 * x


def test_a_window_or_a_bit_for_all_short_words() -> None:
    """Words of 4 bits: the coin, then what either kernel does; numbers after the answers are bits."""
    kernel = WindowOrBit(Window(3, 5, 3, 0, 0, keep=7), Leaning(3, 2, 5), coin=6)
    for x in range(3):
        found: Counter[int] = Counter()
        for words in product(range(16), repeat=3):
            try:
                report = kernel.randomise(x, ReplayWords(words, 4))
            except ParameterError:
                continue  # a word had to be drawn again
            found[int.from_bytes(report, "little")] += 1
        ones = 2 + 5 * x
        inside, outside = 10 * 7 * (16 // 3), 10 * 9 * (16 // 2)
        answers = [inside if x <= y < x + 3 else outside for y in range(5)]
        assert [found[y] for y in range(7)] == [*answers, 6 * (16 - ones) * 16, 6 * ones * 16]


def test_a_window_or_a_bit_leaks_as_the_worse_of_them() -> None:
    window, bit = Window.calibrate(1.0, 6, 9, 4), Leaning.calibrate(2.0, 6)
    assert WindowOrBit(window, bit, 1).ratio == bit.ratio > window.ratio
    assert WindowOrBit(window, Leaning.calibrate(0.5, 6), 1).ratio == window.ratio
    with pytest.raises(ParameterError, match="k must be the same for both kernels, 6"):
        WindowOrBit(window, Leaning.calibrate(1.0, 7), 1)
    with pytest.raises(ParameterError, match="coin must be an integer between 0 and"):
        WindowOrBit(window, bit, 0)
    with pytest.raises(ParameterError, match="kernels must be a window kernel and a leaning kernel"):
        WindowOrBit(bit, window, 1)  # type: ignore[arg-type]


def test_documents_round_trip() -> None:
    window, bit = Window.calibrate(1.0, 10, 10, 4, 2, 1), Leaning.calibrate(1.0, 10)
    for kernel in (window, bit, WindowOrBit(window, bit, 5)):
        assert kernel_from(kernel_to(kernel)) == kernel


def test_a_billion_points_take_no_time() -> None:
    kernel = Window.calibrate(1.0, 10**9, 10**9, 3 * 10**8, 15 * 10**7, 1)
    assert kernel.ratio <= exp_bounds(1.0)[0]
    assert len(kernel.randomise(5, ReplayWords([2**63, 1, 2**62 + 12345]))) == 4


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Window(4, 4, 4, 2, 0, 9), "m must be an integer from 1 to 3, got 4"),
        (lambda: Window(4, 4, 0, 0, 0, 9), "m must be an integer from 1 to 3, got 0"),
        (lambda: Window(4, 1, 1, 0, 0, 9), "outputs must be an integer from 2"),
        (lambda: Window(4, 4, 2, 4, 0, 9), "shift must be an integer from 0 to 3, got 4"),
        (lambda: Window(4, 4, 2, 0, 1, 9), "shift must be an integer from 1 to 3, got 0"),
        (lambda: Window(4, 4, 2, 1, 2, 9), "tie must be an integer from 0 to 1, got 2"),
        (lambda: Window(4, 4, 1, 1, 1, 9), "m must be at least 2 with a coin"),
        (lambda: Window(4, 4, 2, 3, 0, 9), "shift must be such that the first and the last value have windows apart"),
        (lambda: Window(4, 4, 2, 1, 0, 0), "keep must be an integer between 0 and"),
        (lambda: Window(1, 4, 2, 1, 0, 9), "k must be an integer from 2"),
        (lambda: Leaning(4, 0, 1), "base must be an integer between 0 and"),
        (lambda: Leaning(4, 9, 0), "slope must be an integer from 1 to"),
        (lambda: Leaning(4, WORD - 3, 1), "slope must be an integer from 1 to 0"),
    ],
)
def test_impossible_kernels_are_refused(make: object, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        make()  # type: ignore[operator]


def test_too_much_epsilon_is_refused() -> None:
    for make in (lambda: Window.calibrate(41.0, 4, 4, 2, 1), lambda: Leaning.calibrate(41.0, 4)):
        with pytest.raises(PrivacyError, match="epsilon must be at most 40"):
            make()


@pytest.mark.parametrize("bad", [-1, 10, True, 1.0, None])
def test_values_outside_make_no_report(bad: object) -> None:
    for kernel in (Window.calibrate(1.0, 10, 10, 4, 2, 1), Leaning.calibrate(1.0, 10)):
        with pytest.raises(ParameterError, match="value must be an integer from 0 to 9"):
            kernel.randomise(bad, ReplayWords([0] * 9))  # type: ignore[arg-type]
