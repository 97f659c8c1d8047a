"""The scalar primitives, by enumerating every word: exact laws, no luck."""

from __future__ import annotations

import math
import os
from collections import Counter
from itertools import combinations, product

import pytest

from deniable_client.errors import EntropyError, ParameterError
from deniable_client.words import ReplayWords, SystemWords, below, happens, subset

ALL_8_BIT = range(256)


def test_happens_for_all_8_bit_words_and_all_257_thresholds() -> None:
    for threshold in range(257):
        hits = sum(happens(threshold, ReplayWords([word], 8)) for word in ALL_8_BIT)
        assert hits == threshold


def test_happens_with_64_bit_words_decides_at_the_threshold_itself() -> None:
    """Neighbouring integers that are one and the same float: only an integer comparison tells them apart."""
    threshold = 2**63 + 2**9 + 1
    assert float(threshold) == float(threshold - 1)
    assert happens(threshold, ReplayWords([threshold - 1]))
    assert not happens(threshold, ReplayWords([threshold]))


def first_draws(n: int, bits: int) -> Counter[int | None]:
    """What `below` makes of each first word; None where it wants a second one."""
    found: Counter[int | None] = Counter()
    for word in range(1 << bits):
        try:
            found[below(n, ReplayWords([word], bits))] += 1
        except ParameterError:
            found[None] += 1
    return found


def test_below_for_all_8_bit_words_up_to_the_first_rejection() -> None:
    for n in range(1, 257):
        found = first_draws(n, 8)
        assert found.pop(None, 0) == 256 % n, f"below {n} no more words are rejected than must be"
        assert found == dict.fromkeys(range(n), 256 // n)


def test_below_for_all_pairs_of_8_bit_words_with_a_rejected_first_one() -> None:
    n = 200
    rejected = [w for w in ALL_8_BIT if (w * n) % 256 < 256 % n]
    assert len(rejected) == 56
    for first in rejected:
        second = Counter()
        for word in ALL_8_BIT:
            if word not in rejected:
                second[below(n, ReplayWords([first, word], 8))] += 1
        assert second == dict.fromkeys(range(n), 1)


@pytest.mark.parametrize("n", [0, -1, 257])
def test_below_refuses_ranges_that_words_cannot_cover(n: int) -> None:
    with pytest.raises(ParameterError, match=r"n must be between 1 and 2\*\*8"):
        below(n, ReplayWords([0], 8))


def sets_from_all_words(n: int, size: int, bits: int) -> Counter[frozenset[int] | None]:
    found: Counter[frozenset[int] | None] = Counter()
    for words in product(range(1 << bits), repeat=size):
        try:
            found[frozenset(subset(n, size, ReplayWords(words, bits)))] += 1
        except ParameterError:
            found[None] += 1
    return found


@pytest.mark.parametrize(
    ("n", "size", "bits"), [(5, 1, 8), (4, 2, 8), (3, 3, 4), (6, 3, 4), (5, 4, 3), (7, 2, 4), (4, 0, 8)]
)
def test_subset_for_all_words_up_to_the_first_rejection(n: int, size: int, bits: int) -> None:
    found = sets_from_all_words(n, size, bits)
    found.pop(None, None)
    every = {frozenset(c) for c in combinations(range(n), size)}
    assert set(found) == every
    assert len(set(found.values())) == 1, f"subsets are not equally likely: {found}"
    accepted = math.prod((1 << bits) - (1 << bits) % (last + 1) for last in range(n - size, n))
    assert sum(found.values()) == accepted


@pytest.mark.parametrize("size", [-1, 6])
def test_subset_refuses_impossible_sizes(size: int) -> None:
    with pytest.raises(ParameterError, match="size must be between 0 and 5"):
        subset(5, size, ReplayWords([], 8))


def test_replayed_words_must_fit_and_end() -> None:
    with pytest.raises(ParameterError, match="word must be an unsigned 8-bit integer, got 256"):
        ReplayWords([256], 8).word()
    with pytest.raises(ParameterError, match="used up"):
        ReplayWords([]).word()


@pytest.mark.parametrize("error", [OSError("no entropy"), NotImplementedError("no source")])
def test_without_entropy_there_is_no_word(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(size: int) -> bytes:
        raise error

    monkeypatch.setattr(os, "urandom", fail)
    with pytest.raises(EntropyError, match="no report was made"):
        SystemWords().word()


def test_system_words_have_64_bits_and_differ() -> None:
    words = [SystemWords().word() for _ in range(64)]
    assert all(0 <= w < 2**64 for w in words)
    assert len(set(words)) == 64
    assert max(words).bit_length() > 56
