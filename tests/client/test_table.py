"""The table kernel: whole numbers that keep a promise exactly, and what one word makes of them."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable_client.errors import FormatError, ParameterError, PrivacyError
from deniable_client.exact import exp_bounds, log_upper
from deniable_client.kernels import Table, kernel_from, kernel_to
from deniable_client.kernels.table import ENTRIES_MAX
from deniable_client.words import ReplayWords

WORD = 1 << 64


def falling(points: int, epsilon: float) -> list[list[float]]:
    """Probabilities in proportion to exp(-epsilon |x-y|/(points-1)), whose level is epsilon up to rounding."""
    rows = [[math.exp(-epsilon * abs(x - y) / (points - 1)) for y in range(points)] for x in range(points)]
    return [[p / math.fsum(row) for p in row] for row in rows]


def test_the_law_for_all_first_bytes_of_words() -> None:
    """Weights that are multiples of 2^56 are decided by the first byte of a word."""
    bytes_of = [(200, 50, 6), (1, 254, 1), (85, 85, 86)]
    table = Table(tuple(tuple(b << 56 for b in row) for row in bytes_of))
    for x, row in enumerate(bytes_of):
        found = Counter(table.randomise(x, ReplayWords([(b << 56) + 12345]))[0] for b in range(256))
        assert [found[y] for y in range(3)] == list(row)


def test_the_borders_between_outputs_are_exact() -> None:
    table = Table(((5, WORD - 5), (WORD - 1, 1)))
    words = {0: [0, 4, 5, WORD - 1], 1: [0, WORD - 2, WORD - 1]}
    found = {x: [table.randomise(x, ReplayWords([w]))[0] for w in given] for x, given in words.items()}
    assert found == {0: [0, 0, 1, 1], 1: [0, 0, 1]}


@pytest.mark.parametrize("points", [2, 3, 40])
@pytest.mark.parametrize("epsilon", [1e-9, 0.1, 1.0, 6.0, 20.0, 40.0])
def test_calibration_keeps_the_promise_and_gives_little_away(points: int, epsilon: float) -> None:
    ideal = falling(points, epsilon)
    table = Table.calibrate(epsilon, ideal)
    assert table.ratio <= exp_bounds(epsilon)[0]
    off = max(
        abs(w / WORD - p) for row, own in zip(table.weights, ideal, strict=True) for w, p in zip(row, own, strict=True)
    )
    assert off <= 4e-16
    spare = epsilon - log_upper(table.ratio)
    least = min(map(min, ideal)) * WORD  # whole numbers: the least weight is rounded up, by one at most
    assert 0 <= spare <= 2 / least + 4e-15


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_calibration_of_any_channel_at_its_own_level(data: Any) -> None:
    k, outputs = data.draw(st.integers(2, 5)), data.draw(st.integers(2, 6))
    heights = st.floats(1.0, 50.0)
    rows = [[data.draw(heights) for _ in range(outputs)] for _ in range(k)]
    ideal = [[h / math.fsum(row) for h in row] for row in rows]
    level = max(math.log(max(column) / min(column)) for column in zip(*ideal, strict=True))
    if level < 1e-6:
        return
    table = Table.calibrate(level, ideal)
    assert table.ratio <= exp_bounds(level)[0]
    assert all(sum(row) == WORD for row in table.weights)
    assert all(
        math.isclose(w / WORD, p, rel_tol=1e-12)
        for row, own in zip(table.weights, ideal, strict=True)
        for w, p in zip(row, own, strict=True)
    )


def test_the_ratio_is_the_worst_of_all_columns() -> None:
    table = Table(((3 << 60, 5 << 60, 8 << 60), (6 << 60, 6 << 60, 4 << 60), (4 << 60, 10 << 60, 2 << 60)))
    assert table.ratio == Fraction(4)
    assert (table.k, table.outputs, table.width) == (3, 3, 1)


def test_documents_go_there_and_back() -> None:
    table = Table.calibrate(1.0, falling(4, 1.0))
    document = kernel_to(table)
    assert document["kind"] == "table"
    assert all(isinstance(w, str) for row in document["weights"] for w in row)
    assert kernel_from(document) == table
    document["weights"][0][0] = str(int(document["weights"][0][0]) + 1)
    with pytest.raises((ParameterError, FormatError), match=r"whose sum is 2\*\*64"):
        kernel_from(document)


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        (((WORD - 1, 1), (WORD, 0)), r"weights\[1\] must be integers >= 1"),
        (((WORD - 1, 1), (WORD - 1, 2)), r"weights\[1\] must be integers whose sum is 2\*\*64"),
        (((WORD - 1, 1), (WORD - 2, 1, 1)), "rows of one length"),
        (((WORD,), (WORD,)), "outputs must be at least 2"),
        (((WORD - 1, 1),), "k must be an integer from 2"),
        ([[WORD - 1, 1], [WORD - 1, 1]], "a tuple of rows"),
        (((float(WORD - 4096), 4096.0), (1, WORD - 1)), "integers >= 1"),
    ],
)
def test_weights_that_are_no_channel_are_refused(weights: Any, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        Table(weights)


def test_a_level_above_the_promise_is_refused_and_named() -> None:
    with pytest.raises(PrivacyError, match=r"level 1\.0\d*, above epsilon 0\.99"):
        Table.calibrate(0.99, falling(5, 1.0))


@pytest.mark.parametrize("row", [[0.5, 0.4], [1.0, 0.0], [0.5, math.nan], [1.5, -0.5]])
def test_rows_that_are_no_distribution_are_refused(row: list[float]) -> None:
    with pytest.raises(ParameterError, match=r"matrix\[1\] must be probabilities"):
        Table.calibrate(1.0, [[0.5, 0.5], row])


def test_too_large_tables_are_refused_with_a_way_out() -> None:
    side = math.isqrt(ENTRIES_MAX) + 1
    with pytest.raises(ParameterError, match=f"at most {ENTRIES_MAX}.*brr or codebook"):
        Table.calibrate(1.0, [[1 / side] * side] * side)


def test_values_outside_are_refused() -> None:
    table = Table.calibrate(1.0, falling(4, 1.0))
    with pytest.raises(ParameterError, match="value must be an integer from 0 to 3"):
        table.randomise(4, ReplayWords([1]))
