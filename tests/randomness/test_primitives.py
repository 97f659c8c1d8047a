"""The bulk primitives, by enumerating every word of 8 bits: exact laws, no luck. Both sets of loops."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from importlib.util import find_spec
from itertools import combinations, product

import numpy as np
import pytest

from deniable.errors import ParameterError
from deniable.kernels import using
from deniable.kernels.sampling import below, bernoulli_bits, near, respond, subset_bits, weighted
from deniable.randomness import Replay, Stream, bernoulli

ALL_8_BIT = np.arange(256)


@pytest.fixture(params=["reference", "compiled"], autouse=True)
def loops(request: pytest.FixtureRequest) -> Iterator[str]:
    if request.param == "compiled" and find_spec("numba") is None:
        pytest.skip("numba is not installed; get it with: pip install 'deniable[fast]'")
    with using(request.param):
        yield request.param


class TwoSizes(Replay):
    """Given words of several sizes, each with a queue of its own."""

    def __init__(self, **words: list[int]) -> None:
        self.queues = {
            int(size.removeprefix("w")): Replay(given, int(size.removeprefix("w"))) for size, given in words.items()
        }

    def draw(self, bits: int, size: int) -> np.ndarray:
        return self.queues[bits].draw(bits, size)


def test_bernoulli_for_all_8_bit_words_and_all_257_thresholds() -> None:
    for threshold in range(257):
        found = bernoulli(Replay(ALL_8_BIT, 8), threshold, 256, bits=8)
        assert (found == (threshold > ALL_8_BIT)).all()


def test_bernoulli_with_64_bit_words_decides_at_the_threshold_itself() -> None:
    """Neighbouring integers that are one and the same float: only an integer comparison tells them apart."""
    threshold = 2**63 + 2**9 + 1
    assert float(threshold) == float(threshold - 1)
    words = np.array([threshold - 1, threshold, threshold + 1], np.uint64)
    assert bernoulli(Replay(words, 64), threshold, 3).tolist() == [True, False, False]


@pytest.mark.parametrize("threshold", [-1, 257])
def test_bernoulli_refuses_impossible_thresholds(threshold: int) -> None:
    with pytest.raises(ParameterError, match=r"threshold must be from 0 to 2\*\*8"):
        bernoulli(Replay(ALL_8_BIT, 8), threshold, 1, bits=8)
    with pytest.raises(ParameterError, match=r"threshold must be from 0 to 2\*\*8"):
        bernoulli_bits(Replay(ALL_8_BIT, 64), threshold, 8, bits=8)


def lane_words(numbers: range, bits: int) -> list[int]:
    """For 64 numbers, one word per level from the highest bit down: lane j carries that bit of the j-th number."""
    assert len(numbers) == 64
    return [sum((x >> level & 1) << lane for lane, x in enumerate(numbers)) for level in range(bits - 1, -1, -1)]


def test_bernoulli_bits_for_all_8_bit_numbers_and_all_257_thresholds() -> None:
    """All 65 792 comparisons of an 8-bit number with a threshold, 64 of them at once."""
    words = {start: lane_words(range(start, start + 64), 8) for start in range(0, 256, 64)}
    for threshold in range(257):
        for start, levels in words.items():
            packed = bernoulli_bits(Replay(levels, 64), threshold, 8, bits=8)
            found = np.unpackbits(packed, bitorder="little")
            assert (found == (np.arange(start, start + 64) < threshold)).all(), threshold


@pytest.mark.parametrize("threshold", [1, 2**63, 2**63 + 1, 2**64 - 1, 0xFEDCBA9876543211])
def test_bernoulli_bits_of_64_bits_around_the_threshold(threshold: int) -> None:
    """Lanes with the 32 numbers below the threshold and the 32 from it on, as far as 64 bits go."""
    first = min(max(0, threshold - 32), 2**64 - 64)
    numbers = range(first, first + 64)
    packed = bernoulli_bits(Replay(lane_words(numbers, 64), 64), threshold, 8, bits=64)
    assert np.unpackbits(packed, bitorder="little").tolist() == [x < threshold for x in numbers]


@pytest.mark.parametrize("n", [1, 2, 3, 5, 7, 10, 64, 100, 127, 128, 129, 200, 255, 256])
def test_below_for_all_8_bit_words_up_to_the_first_rejection(n: int) -> None:
    """A rejected position takes the next word that is accepted; the accepted ones are spread evenly."""
    rejected = [w for w in range(256) if (w * n) % 256 < 256 % n]
    assert len(rejected) == 256 % n
    accepted = next(w for w in range(256) if w not in rejected)
    stream = Replay([*ALL_8_BIT, *[accepted] * len(rejected)], 8)
    found = below(stream, n, 256, bits=8)
    assert stream.used == 256 + len(rejected), "no more words are rejected than must be"
    first = np.delete(found, rejected)
    assert Counter(first.tolist()) == dict.fromkeys(range(n), 256 // n)
    assert (found[rejected] == accepted * n // 256).all()


def test_below_repeats_rejections_until_none_is_left() -> None:
    n = 200
    rejected = [w for w in range(256) if (w * n) % 256 < 56]
    accepted = np.array([w for w in range(256) if w not in rejected][100:104])
    stream = Replay([*rejected[:4], *rejected[4:8], *accepted], 8)
    found = below(stream, n, 4, bits=8)
    assert stream.used == 12
    assert (found == accepted * n // 256).all()


@pytest.mark.parametrize(("n", "bits"), [(0, 8), (257, 8), (5, 64)])
def test_below_refuses_ranges_that_words_cannot_cover(n: int, bits: int) -> None:
    with pytest.raises(ParameterError, match="n must be from 1 to"):
        below(Replay([], 8), n, 1, bits=bits)


@pytest.mark.parametrize("k", [2, 3, 6, 100, 256])
def test_respond_for_all_8_bit_words_of_the_lie(k: int) -> None:
    """Kept where the coin is below the threshold; else all other items alike, over all words of the lie."""
    keep, n = 2**63 + 1, k - 1
    rejected = [w for w in range(256) if (w * n) % 256 < 256 % n]
    for own in {0, k // 2, k - 1}:
        number = min(own, n - 1)  # a second draw: the number of the own item, where there is one, is the next item's
        accepted = next(w for w in range(256) if w not in rejected and w * n // 256 == number)
        coins = [keep] * 256 + [keep - 1] * 256
        words = [*range(256)] * 2 + [accepted] * (2 * len(rejected))
        items = np.full(512, own, np.int64)
        found = respond(TwoSizes(w64=coins, w8=words), items, k, keep, bits=8)
        lies = Counter(np.delete(found[:256], rejected).tolist())
        assert lies == dict.fromkeys([y for y in range(k) if y != own], 256 // n)
        assert (found[256:] == own).all()
        assert (found[rejected] == number + (number >= own)).all()


@pytest.mark.parametrize(("m", "outputs"), [(1, 2), (2, 5), (3, 7), (100, 256), (255, 256), (1, 256)])
def test_near_for_all_8_bit_words(m: int, outputs: int) -> None:
    """Inside the window where the coin is below the threshold, all alike; else outside, all alike."""
    keep, rest = 2**63 + 1, outputs - m
    for start in {0, rest // 2, rest}:
        for coin, n in ((keep - 1, m), (keep, rest)):
            rejected = [w for w in range(256) if (w * n) % 256 < 256 % n]
            accepted = next(w for w in range(256) if w not in rejected)
            stream = TwoSizes(w64=[coin] * 256, w8=[*range(256), *[accepted] * len(rejected)])
            found = near(stream, np.full(256, start), m, outputs, keep, bits=8)
            window = range(start, start + m)
            wanted = [y for y in range(outputs) if (y in window) == (coin < keep)]
            assert Counter(np.delete(found, rejected).tolist()) == dict.fromkeys(wanted, 256 // n)
            assert set(found[rejected].tolist()) <= {wanted[accepted * n // 256]}
            assert stream.queues[8].used == 256 + len(rejected)


def test_near_refuses_windows_that_are_not_inside() -> None:
    for m, outputs in ((0, 5), (5, 5), (3, 257)):
        with pytest.raises(ParameterError, match="outputs must be from m"):
            near(TwoSizes(), np.zeros(1, np.int64), m, outputs, 1, bits=8)


def classes(k: int) -> dict[int, tuple[int, int]]:
    """For each position of 0..k-1, a word that leads there and how many do; -1 for words that are rejected."""
    found: dict[int, list[int]] = {}
    for word in range(256):
        low, high = word * k % 256, word * k // 256
        found.setdefault(-1 if low < 256 % k else high, []).append(word)
    return {position: (words[0], len(words)) for position, words in found.items()}


def test_position_classes_are_those_of_below() -> None:
    for k in (2, 3, 5, 7):
        for position, (word, count) in classes(k).items():
            if position >= 0:
                assert below(Replay([word], 8), k, 1, bits=8) == [position]
                assert count == 256 // k


def sets_by_depth(k: int, size: int, own: int, kept: bool, depth: int) -> Counter[bytes]:
    """How many sequences of `depth` 8-bit words lead to each set, over all 256**depth of them.

    Words that lead to the same position are run once and counted as many times as there are. Further words of a
    batch lead to the own position, which changes nothing.
    """
    table = classes(k)
    idle = table[own][0]
    found: Counter[bytes] = Counter()
    for sequence in product(table.values(), repeat=depth):
        words = [word for word, _ in sequence]
        stream: Stream = Replay([*words, *[idle] * (16 - depth)], 8)
        try:
            row = subset_bits(stream, k, np.array([size]), np.array([own]), np.array([kept]), bits=8)
        except ParameterError:
            continue  # not there yet after these words
        weight = 1
        for _, count in sequence:
            weight *= count
        found[row.tobytes()] += weight
    return found


@pytest.mark.parametrize(
    ("k", "size", "own", "kept"),
    [(3, 1, 0, False), (4, 2, 1, True), (5, 2, 4, False), (5, 3, 2, True), (6, 2, 0, True), (4, 3, 0, False)],
)
def test_subset_bits_for_all_sequences_of_8_bit_words_depth_by_depth(k: int, size: int, own: int, kept: bool) -> None:
    """After any number of words, the sequences that are through are spread evenly over all possible sets."""
    others = [i for i in range(k) if i != own]
    every = set()
    for rest in combinations(others, size - kept):
        number = sum(1 << i for i in rest) | (kept << own)
        every.add(number.to_bytes(1, "little"))
    steps = size - kept
    before = 0
    for depth in range(steps, min(steps + 3, 5)):
        found = sets_by_depth(k, size, own, kept, depth)
        assert set(found) == every, f"some sets are not reached with {depth} words"
        assert len(set(found.values())) == 1, f"after {depth} words sets are not equally likely: {found}"
        share = Fraction(sum(found.values()), 256**depth)
        assert share > before
        before = share


@pytest.mark.slow
def test_subset_bits_for_all_65536_pairs_of_8_bit_words_one_by_one(loops: str) -> None:
    """The same without grouping words: nothing but the words themselves is believed."""
    if loops == "reference" and find_spec("numba") is not None:
        pytest.skip("the compiled loops do this faster, and both are held equal elsewhere")
    found: Counter[bytes] = Counter()
    for first, second in product(range(256), repeat=2):
        stream = Replay([first, second, *[0] * 14], 8)  # word 0 is rejected for k = 5
        try:
            row = subset_bits(stream, 5, np.array([2]), np.array([3]), np.array([True]), bits=8)
        except ParameterError:
            continue
        found[row.tobytes()] += 1
    assert len(found) == 4
    assert len(set(found.values())) == 1


def test_weighted_decides_at_the_thresholds_themselves() -> None:
    thresholds = np.array([5, 5, 2**63 + 1, 2**64 - 1], np.uint64)
    words = [0, 4, 5, 2**63, 2**63 + 1, 2**64 - 2, 2**64 - 1]
    assert weighted(Replay(words, 64), thresholds, len(words)).tolist() == [0, 0, 2, 2, 3, 3, 4]
