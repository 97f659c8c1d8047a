"""The NumPy loops against definitions written out item by item."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from deniable.errors import ParameterError
from deniable.kernels import reference, using
from deniable.kernels.geometry import coordinates
from deniable.kernels.hashing import hash_values, interval_rows
from deniable.kernels.sampling import bernoulli_bits, respond, subset_bits, weighted
from deniable.kernels.transforms import count_intervals, count_orthogonal, orthogonal_by_transform, walsh_hadamard
from deniable.randomness import Replay, simulation
from deniable_client.hashing import bucket
from deniable_client.kernels.geometry import points
from deniable_client.packing import unpack_bits

SEED = 77_001


def generator(*key: int) -> np.random.Generator:
    return np.random.default_rng([SEED, *key])


@pytest.mark.parametrize("k", [1, 7, 8, 9, 130])
def test_counts_of_bits(k: int) -> None:
    rng = generator(k)
    bits = rng.random((300, k)) < rng.random(k)
    rows = np.packbits(bits, axis=1, bitorder="little")
    assert reference.count_bits(rows, k).tolist() == bits.sum(axis=0).tolist()
    assert reference.popcounts(rows).tolist() == bits.sum(axis=1).tolist()


def test_counts_of_hashed_items() -> None:
    rng, k, g = generator(), 11, 5
    seeds, values = rng.integers(0, 2**64, 200, dtype=np.uint64), rng.integers(0, g, 200).astype(np.uint8)
    pairs = list(zip(seeds.tolist(), values.tolist(), strict=True))
    naive = [sum(bucket(s, x, g) == y for s, y in pairs) for x in range(k)]
    assert reference.count_hashed(seeds, values, k, g).tolist() == naive
    items = rng.integers(0, k, 200)
    expected = [bucket(s, x, g) for s, x in zip(seeds.tolist(), items.tolist(), strict=True)]
    assert reference.buckets(seeds, items, g).tolist() == expected


@pytest.mark.parametrize("threshold", [1, 5, 8, 13, 15])
def test_bits_are_comparisons_with_the_threshold(threshold: int) -> None:
    """Lane by lane, the words of the levels hold the bits of a number, which is compared with the threshold."""
    words = generator(threshold).integers(0, 2**64, (4, 3), dtype=np.uint64)
    pattern = np.array([threshold >> level & 1 for level in (3, 2, 1, 0)], np.bool_)
    out, lanes = np.empty(3, np.uint64), np.empty(3, np.uint64)
    reference.begin(out, lanes, words, pattern)
    for word, lane in product(range(3), range(64)):
        number = sum((int(words[level, word]) >> lane & 1) << (3 - level) for level in range(4))
        assert int(out[word]) >> lane & 1 == (number < threshold)
        assert int(lanes[word]) >> lane & 1 == (number == threshold)


def test_later_bits_decide_what_is_left() -> None:
    """Comparing 3 bits, then 5 more of the words that are left, is comparing all 8."""
    rng, n, threshold = generator(), 40, 0b10110101
    words = rng.integers(0, 2**64, (8, n), dtype=np.uint64)
    words[:3, ::2] = np.where(np.array([[1], [0], [1]]), ~np.uint64(0), np.uint64(0))  # undecided after 3 bits
    words[:3, 1::2] = ~words[:3, [0]]  # and decided after the first one
    pattern = np.array([threshold >> level & 1 for level in range(7, -1, -1)], np.bool_)
    whole, all_lanes = np.empty(n, np.uint64), np.empty(n, np.uint64)
    reference.begin(whole, all_lanes, words, pattern)
    out, lanes = np.empty(n, np.uint64), np.empty(n, np.uint64)
    reference.begin(out, lanes, words[:3], pattern[:3])
    left, undecided = reference.unfinished(lanes)
    assert left.tolist() == list(range(0, n, 2))
    reference.compare(out, left, undecided, np.ascontiguousarray(words[3:, ::2]), pattern[3:])
    np.testing.assert_array_equal(out, whole)


@pytest.mark.parametrize(("threshold", "expected"), [(0, 0), (1 << 64, 255)])
def test_certain_bits_draw_no_words(threshold: int, expected: int) -> None:
    assert set(bernoulli_bits(Replay([], 64), threshold, 9).tolist()) == {expected}


def test_threshold_out_of_range_is_refused() -> None:
    with pytest.raises(ParameterError, match="threshold"):
        bernoulli_bits(simulation(1), (1 << 64) + 1, 8)


@pytest.mark.parametrize(("bits", "threshold"), [(2, 1), (3, 5), (10, 769)])
@pytest.mark.stat
def test_share_of_ones(bits: int, threshold: int) -> None:
    """Two-sided binomial test at alpha = 1e-6 each; a threshold one higher, of at most 10 bits, is seen."""
    from scipy.stats import binomtest

    n, p = 1 << 24, threshold / (1 << bits)
    ones = int(np.bitwise_count(bernoulli_bits(simulation(31), threshold, n // 8, bits=bits)).sum())
    assert binomtest(ones, n, p).pvalue > 1e-6
    assert binomtest(ones, n, p + 2.0**-bits).pvalue < 1e-6


def test_scaled_words_hit_every_number_equally_often() -> None:
    for n in range(1, 257):
        numbers = reference.scale(np.arange(256, dtype=np.uint8), n, 8)
        hits = np.bincount(numbers[numbers >= 0], minlength=n)
        assert set(hits.tolist()) == {256 // n}
        assert (numbers < 0).sum() == 256 % n


def test_response_is_the_item_or_another_one() -> None:
    """All words of 8 bits and both coins: kept items stay, and every other item is hit equally often."""
    k, keep = 7, 1 << 63
    words = np.arange(256, dtype=np.uint8)
    for item, coin in product(range(k), (keep - 1, keep)):
        out = np.full(256, 99, np.uint8)
        coins, items = np.full(256, coin, np.uint64), np.full(256, item)
        again = reference.respond(out, items, coins, keep, words, k - 1, 8)
        if coin < keep:
            assert set(out.tolist()) == {item}
            assert again.size == 0
        else:
            assert again.size == 256 % (k - 1)
            hits = np.bincount(np.delete(out, again), minlength=k)
            assert hits.tolist() == [0 if x == item else 256 // (k - 1) for x in range(k)]


def test_answers_that_are_drawn_again() -> None:
    """With 255 other items and 8-bit words the word 0 is drawn again: here that happens twice to every third item."""
    n = 90
    items = np.arange(n)
    first = np.where(np.arange(n) % 3, 7, 0)
    stream = Mixed([2**64 - 1] * n, [*first, *[0] * (n // 3), *[200] * (n // 3)])
    out = respond(stream, items, 256, 1, np.uint8, bits=8)
    lies = np.where(np.arange(n) % 3, 6, 199)  # floor(255 word / 256)
    assert out.tolist() == (lies + (lies >= items)).tolist()


@pytest.mark.parametrize("loops", ["reference", "compiled"])
def test_intervals_of_hash_values_begin_with_their_first_and_end_before_the_next(loops: str) -> None:
    """Every boundary is set at the hash value of an item itself, so that one more or less is seen."""
    if loops == "compiled":
        pytest.importorskip("numba", reason="needs the extra: pip install 'deniable[fast]'")
    seeds, k = np.arange(5, dtype=np.uint64), 6
    with using(loops):
        for x in range(k):
            own = hash_values(seeds, np.full(5, x))
            one = np.ones(5, np.uint64)
            for first, length, held in (
                (own, one, 1),
                (own + one, one, 0),
                (own - one, one, 0),
                (own - one, 2 * one, 1),
            ):
                start = first & np.uint64(0xFFFFFFFF)
                rows = np.unpackbits(interval_rows(seeds, start, length, k), axis=1, count=k, bitorder="little")
                assert rows[:, x].tolist() == [held] * 5
                assert count_intervals(seeds, start, length, k)[x] == 5 * held


class Mixed:
    """Given words of 64 and of 8 bits."""

    simulated = True

    def __init__(self, long: list[int], short: list[int]) -> None:
        self.streams = {64: Replay(long, 64), 8: Replay(short, 8)}

    def draw(self, bits: int, size: int) -> np.ndarray:
        return self.streams[bits].draw(bits, size)

    def spawn(self, count: int) -> list[Mixed]:
        raise AssertionError(count)


@pytest.mark.parametrize("k", [2, 5, 63, 64, 65, 400])
@pytest.mark.parametrize("share", [0.01, 0.3, 0.97])
def test_subsets_have_their_sizes(k: int, share: float) -> None:
    rng, n = generator(k), 50
    size = np.clip(rng.integers(-1, 2, n) + round(share * k), 1, k - 1)
    own, kept = rng.integers(0, k, n), rng.random(n) < 0.5
    rows = subset_bits(simulation(k), k, size, own, kept)
    for i in range(n):
        items = unpack_bits(rows[i].tobytes(), k)
        assert len(items) == size[i]
        assert (own[i] in items) == kept[i]


def test_weighted_draws_are_the_intervals_of_the_words() -> None:
    thresholds = np.array([0, 10, 10, 2**63], np.uint64)
    words = [0, 9, 10, 11, 2**63 - 1, 2**63, 2**64 - 1]
    assert weighted(Replay(words, 64), thresholds, len(words)).tolist() == [1, 1, 3, 3, 3, 4, 4]


@pytest.mark.parametrize("order", [1, 2, 8, 32])
def test_walsh_hadamard_is_the_sylvester_matrix(order: int) -> None:
    matrix = np.array([[(-1) ** (i & j).bit_count() for j in range(order)] for i in range(order)])
    vector = generator(order).integers(-50, 50, order)
    before = vector.copy()
    assert walsh_hadamard(vector).tolist() == (matrix @ vector).tolist()
    assert vector.tolist() == before.tolist()


@pytest.mark.parametrize("size", [0, 3, 12])
def test_other_lengths_have_no_transform(size: int) -> None:
    with pytest.raises(ParameterError, match="power of two"):
        walsh_hadamard(np.zeros(size, np.int64))


SPACES = [(2, 2), (2, 5), (3, 2), (3, 4), (5, 3), (7, 2)]


@pytest.mark.parametrize(("prime", "t"), SPACES)
@pytest.mark.parametrize("factor", [1, 10**8])
def test_orthogonal_points_by_definition_and_by_transform(prime: int, t: int, factor: int) -> None:
    size = points(prime, t)
    counts = generator(prime, t).integers(0, 100, size) * factor
    vectors = coordinates(np.arange(size), prime, t).tolist()
    naive = [
        sum(
            int(c)
            for y, c in zip(vectors, counts, strict=True)
            if sum(a * b for a, b in zip(x, y, strict=True)) % prime == 0
        )
        for x in vectors
    ]
    assert reference.count_orthogonal(counts, prime, t, size).tolist() == naive
    assert orthogonal_by_transform(counts, prime, t, size).tolist() == naive
    assert count_orthogonal(counts, prime, t, size - 1).tolist() == naive[:-1]


def test_transform_of_more_reports_than_one_modulus_holds() -> None:
    counts = np.array([2**57, 3, 0, 2**56 + 1, 5, 6, 7])
    assert orthogonal_by_transform(counts, 2, 3, 7).tolist() == reference.count_orthogonal(counts, 2, 3, 7).tolist()
    with pytest.raises(ParameterError, match="counts"):
        orthogonal_by_transform(counts * 32, 2, 3, 7)


def test_em_sums_by_definition() -> None:
    rng, k, n = generator(5), 6, 40
    parts = rng.integers(1, 20, k).tolist()
    f = [Fraction(p, sum(parts)) for p in parts]
    high, low = [Fraction(3), Fraction(1, 4)], [Fraction(1), Fraction(1, 2)]
    member, kinds, weights = rng.random((n, k)) < 0.4, rng.integers(0, 2, n), rng.integers(1, 4, n)
    items, inside, outside, log = [Fraction(0)] * k, [Fraction(0)] * 2, [Fraction(0)] * 2, 0.0
    for row, c, w in zip(member.tolist(), kinds.tolist(), weights.tolist(), strict=True):
        share = sum(f[x] for x in range(k) if row[x])
        likelihood = low[c] + (high[c] - low[c]) * share
        log += w * math.log(likelihood)
        inside[c] += w * share / likelihood
        outside[c] += w * (1 - share) / likelihood
        items = [item + (high[c] - low[c]) * w / likelihood if row[x] else item for x, item in enumerate(items)]
    bits = np.packbits(member, axis=1, bitorder="little")
    floats = (np.array(f, float), bits, weights.astype(float), kinds, np.array(high, float), np.array(low, float))
    found = reference.em_levels(*floats)
    for got, expected in zip(found, (items, inside, outside, log), strict=True):
        np.testing.assert_allclose(got, np.array(expected, float), rtol=1e-12)
