"""Loops at their edges: words that are drawn again, sums beyond a limit, and blocks against all of them one by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from deniable.errors import ParameterError
from deniable.kernels import loops, noise, populations, using
from deniable.kernels.cyclotomic import Blocks
from deniable.kernels.permutation import permute, place_rows
from deniable.kernels.sampling import (
    below,
    below_each,
    bernoulli_bits,
    draw_by_row,
    last_outputs,
    near,
    respond,
    row_thresholds,
    weighted,
)
from deniable.kernels.transforms import orthogonal_by_transform, walsh_hadamard
from deniable.randomness import simulation


@pytest.fixture(autouse=True)
def reference() -> Iterator[None]:
    """The loops that define the results; the compiled ones are held to them elsewhere."""
    with using("reference"):
        yield


class Words:
    """A stream that hands out what is written down, and nothing more."""

    def __init__(self, *draws: tuple[int, Sequence[int]]) -> None:
        self.draws = list(draws)

    def draw(self, bits: int, size: int) -> Any:
        wanted, words = self.draws.pop(0)
        assert (bits, size) == (wanted, len(words))
        return np.array(words, f"u{bits // 8}")


def written(*draws: tuple[int, Sequence[int]]) -> Any:
    return Words(*draws)


# ---- words


def test_words_that_would_favour_some_numbers_are_drawn_again() -> None:
    """Of 256 words 85 are for each of three numbers; the one that is left is the first."""
    stream = written((8, [0, 85, 86, 255]), (8, [0]), (8, [170]))
    assert below(stream, 3, 4, bits=8).tolist() == [1, 0, 1, 2]
    assert stream.draws == []
    every = [below(written((8, [word])), 3, 1, bits=8)[0] for word in range(1, 256)]
    assert np.bincount(every).tolist() == [85, 85, 85]
    assert below(written((8, [0, 7, 255])), 256, 3, bits=8).tolist() == [0, 7, 255]
    assert below(written((8, [0, 7, 255])), 1, 3, bits=8).tolist() == [0, 0, 0]
    for n, bits in ((0, 8), (257, 8), (2, 33)):
        with pytest.raises(ParameterError, match="n must be from 1 to"):
            below(written(), n, 1, bits=bits)


def test_numbers_below_sizes_of_their_own() -> None:
    stream = written((32, [1 << 31, 0]), (32, [(1 << 32) - 1]))
    assert below_each(stream, np.array([2, 0, 4, 1, 2])).tolist() == [1, 0, 3, 0, 0]


def test_another_item_is_told_also_where_its_word_is_drawn_again() -> None:
    """Of four items the three others are numbered without the own one."""
    coins = (64, [4, 5, 5, 5])
    stream = written(coins, (8, [9, 86, 0, 0]), (8, [85, 170]))
    assert respond(stream, np.array([2, 1, 1, 1]), 4, 5, bits=8).tolist() == [2, 2, 0, 2]
    with pytest.raises(ParameterError, match="k must be from 2 to"):
        respond(stream, np.array([0]), 1, 5)


def test_answers_near_a_start_are_in_the_window_below_the_threshold_and_outside_from_it_on() -> None:
    stream = written((64, [4, 4, 5, 5, 5]), (8, [0, 128, 1, 255, 0]), (8, []), (8, [170]))
    assert near(stream, np.array([1, 1, 1, 1, 1]), 2, 5, 5, bits=8).tolist() == [1, 2, 0, 4, 3]
    for m, outputs in ((0, 5), (5, 5), (2, 257)):
        with pytest.raises(ParameterError, match="outputs must be from m"):
            near(stream, np.array([0]), m, outputs, 5, bits=8)


def test_thresholds_at_both_ends_need_no_words() -> None:
    assert bernoulli_bits(written(), 0, 3, bits=8).tolist() == [0, 0, 0]
    assert bernoulli_bits(written(), 1 << 8, 3, bits=8).tolist() == [255, 255, 255]
    half = written((64, [0xFFFF0000FFFF0000]))
    assert bernoulli_bits(half, 1 << 7, 7, bits=8).tolist() == [255, 255, 0, 0, 255, 255, 0]
    for wrong in (-1, 257):
        with pytest.raises(ParameterError, match="threshold must be from 0 to"):
            bernoulli_bits(written(), wrong, 1, bits=8)


def test_a_word_on_a_threshold_is_not_below_it() -> None:
    thresholds = np.array([10, 10, 1 << 63], np.uint64)
    words = [0, 9, 10, (1 << 63) - 1, 1 << 63, (1 << 64) - 1]
    assert weighted(written((64, words)), thresholds, 6).tolist() == [0, 0, 2, 2, 3, 3]


def test_what_never_comes_is_not_drawn_by_the_largest_word() -> None:
    half, largest = 1 << 63, (1 << 64) - 1
    rows = [[half, half, 0, 0], [1, 0, 0, 2 * half - 1], [2 * half, 0, 0, 0]]
    thresholds, last = row_thresholds(rows), last_outputs(rows)
    assert thresholds.tolist() == [[half, largest, largest], [1, 1, 1], [largest] * 3]
    assert last is not None
    assert last.tolist() == [1, 3, 0]
    found = draw_by_row(written((64, [largest] * 3 + [half - 1, 0, 0])), thresholds, np.array([0, 1, 2] * 2), last)
    assert found.tolist() == [1, 3, 0, 0, 0, 0]
    assert last_outputs([[1, 2], [0, 3]]) is None


def test_a_negative_zero_is_drawn_again_until_it_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = iter([[0, 0, 3, 0], [0, 2], [1]])
    signs = iter([[True, False, True, True], [True, True], [False]])
    monkeypatch.setattr(noise, "_sizes", lambda stream, size, *_: np.array(next(sizes)))
    monkeypatch.setattr(noise, "bernoulli", lambda stream, threshold, size: np.array(next(signs)))
    assert noise.laplace_steps(written(), 4, 1, (), 0).tolist() == [1, 0, -3, -2]
    assert next(sizes, None) is None


def test_more_people_than_can_be_drawn_at_once_are_drawn_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two items everybody's other one is the other: nobody is lost, and nobody counted twice."""
    for most in (3, 5, 11, 100):
        monkeypatch.setattr(populations, "_MOST", most)
        assert populations.sets_of_others(simulation(1), np.array([7, 4]), 1).tolist() == [4, 7]
    three = populations.sets_of_others(simulation(1), np.array([50, 30, 20]), 2)
    assert three.tolist() == [50, 70, 80]
    monkeypatch.setattr(populations, "_PARTS", 2)
    monkeypatch.setattr(populations, "_MOST", 5)
    assert populations.sets_of_others(simulation(1), np.array([6, 4]), 1).tolist() == [4, 6]
    with pytest.raises(ParameterError, match="counts must be at most 10 people where reports are sets, got 11"):
        populations.sets_of_others(simulation(1), np.array([7, 4]), 1)


# ---- transforms


@pytest.mark.parametrize("scale", [1, 1 << 28, 1 << 33, 1 << 40])
def test_sums_over_orthogonal_points_are_exact_for_any_counts(scale: int) -> None:
    """From 2^30 reports on two moduli are joined."""
    for prime, t, points in ((2, 3, 7), (3, 2, 4), (3, 3, 13), (5, 2, 6)):
        counts = np.array([scale * (x + 1) + x * x for x in range(points)], np.int64)
        for k in (1, points):
            want = loops().count_orthogonal(counts, prime, t, k)
            assert orthogonal_by_transform(counts, prime, t, k).tolist() == want.tolist()


def test_only_lengths_that_are_powers_of_two_are_transformed() -> None:
    assert walsh_hadamard(np.array([1, 2, 3, 4])).tolist() == [10, -2, -4, 0]
    given = np.array([5])
    assert walsh_hadamard(given).tolist() == [5]
    for size in (0, 3, 6):
        with pytest.raises(ParameterError, match="a vector whose length is a power of two"):
            walsh_hadamard(np.zeros(size, np.int64))


# ---- blocks

DESIGNS = [(5, 2, 1, 0, 2), (7, 3, 1, 1, 3), (7, 2, 1, 1, 3), (13, 3, 2, 0, 2), (13, 4, 1, 1, 2), (11, 5, 3, 1, 2)]


def holds(design: tuple[int, ...], report: int, x: int) -> bool:
    """By the definition: the logarithm of x - b, modulo m, is one of i, .., i+j-1; or x is b."""
    q, m, j, zero, g = design
    i, b = divmod(report, q)
    away = (x - b) % q
    if away == 0:
        return bool(zero)
    power = next(e for e in range(q - 1) if pow(g, e, q) == away)
    return (power - i) % m < j


@pytest.mark.parametrize("design", DESIGNS)
def test_blocks_hold_what_the_definition_says(design: tuple[int, ...]) -> None:
    q, m = design[:2]
    blocks = Blocks(*design)
    table = np.array([[holds(design, y, x) for x in range(q)] for y in range(m * q)])
    reports = np.arange(m * q)
    for x in range(q):
        assert blocks.holding(x).ravel().tolist() == table[:, x].tolist()
        assert blocks.hold(x, reports).tolist() == table[:, x].tolist()
    for k in (1, 2, q):
        rows = np.unpackbits(blocks.rows(reports, k), axis=1, count=k, bitorder="little")
        assert rows.tolist() == table[:, :k].astype(int).tolist()
        assert blocks.empty(k) == int((~table[:, :k].any(axis=1)).sum())
    assert [blocks.empty(k) for k in range(1, q + 1)] == [
        int((~table[:, :k].any(axis=1)).sum()) for k in range(1, q + 1)
    ]
    pairs = {int((table[:, x] & table[:, y]).sum()) for x in range(q) for y in range(x)}
    assert pairs == {blocks.pairs}
    threes = [int((table[:, 0] & table[:, 1] & table[:, c]).sum()) for c in range(q)]
    assert blocks.triples.tolist() == threes


@pytest.mark.parametrize("design", DESIGNS)
def test_sums_over_blocks_are_exact_however_many_reports_there_are(design: tuple[int, ...]) -> None:
    q, m = design[:2]
    blocks = Blocks(*design)
    table = np.array([[holds(design, y, x) for x in range(q)] for y in range(m * q)]).astype(np.int64)
    for scale in (1, 1 << 26, 1 << 31, 1 << 41):
        cells = np.arange(m * q, dtype=np.int64) ** 2 * 7 % 31 * scale + np.arange(m * q) % 3
        assert blocks.by_point(cells.reshape(m, q)).tolist() == (cells @ table).tolist()
    f = np.arange(1, q, dtype=np.float64)
    assert blocks.sum_by_block(f).ravel() == pytest.approx(table[:, : q - 1] @ f)


@pytest.mark.parametrize("design", DESIGNS)
def test_third_items_count_by_how_their_triples_differ_from_the_mean(design: tuple[int, ...]) -> None:
    q, m = design[:2]
    table = np.array([[holds(design, y, x) for x in range(q)] for y in range(m * q)])
    k = q - 2
    f = np.linspace(0.1, 0.9, k)
    want = np.zeros((k, k))
    for x in range(k):
        for y in range(k):
            if x != y:
                t = {z: int((table[:, x] & table[:, y] & table[:, z]).sum()) for z in range(q) if z not in (x, y)}
                mean = sum(t.values()) / (q - 2)
                want[x, y] = sum(f[z] * (t[z] - mean) for z in range(k) if z in t)
    assert Blocks(*design).third_sums(f) == pytest.approx(want, abs=1e-9)


def test_rows_of_places_are_the_items_between_two_ends_also_over_the_end_of_the_ring() -> None:
    k = 11
    seeds = np.arange(60, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    first, length = np.arange(60) % k, np.arange(60) // 5 % (k + 1)
    rows = np.unpackbits(place_rows(seeds, first, length, k), axis=1, count=k, bitorder="little")
    places = np.stack([permute(seeds, np.full(60, x), k) for x in range(k)], axis=1)
    assert rows.tolist() == ((places - first[:, None]) % k < length[:, None]).astype(int).tolist()
    assert place_rows(seeds[:3], first[:3], np.zeros(3, np.int64), k).tolist() == [[0, 0]] * 3
