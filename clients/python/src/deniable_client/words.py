"""Random words for one report: from the operating system, or replayed for test vectors."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Protocol

from deniable_client.errors import EntropyError, ParameterError, require

__all__ = ["ReplayWords", "SystemWords", "Words", "below", "by_shares", "happens", "subset"]


class Words(Protocol):
    """Where random words come from. `bits` is their size; all primitives below work for any size."""

    @property
    def bits(self) -> int:
        """Size of a word."""

    def word(self) -> int:
        """The next word, uniform on 0..2**bits-1."""


class SystemWords:
    """64-bit words of the operating system's generator. If it fails, nothing is drawn."""

    bits = 64

    def word(self) -> int:
        """The next word; `EntropyError` if the system has none."""
        try:
            return int.from_bytes(os.urandom(8), "little")
        except (OSError, NotImplementedError) as error:
            raise EntropyError("the operating system gave no randomness; no report was made.") from error


class ReplayWords:
    """Words given beforehand: for test vectors and exhaustive tests only."""

    def __init__(self, words: Iterable[int], bits: int = 64) -> None:
        self.bits = bits
        self._words: Iterator[int] = iter(words)

    def word(self) -> int:
        """The next given word; `ParameterError` when they are used up."""
        for word in self._words:
            require(0 <= word < 1 << self.bits, "word", word, f"an unsigned {self.bits}-bit integer")
            return word
        raise ParameterError("the given words are used up.", "Give more of them.")


def happens(threshold: int, words: Words) -> bool:
    """True with probability exactly threshold/2**bits."""
    return words.word() < threshold


def below(n: int, words: Words) -> int:
    """Uniform on 0..n-1, exactly: words that would favour some numbers are drawn again."""
    size = 1 << words.bits
    require(0 < n <= size, "n", n, f"between 1 and 2**{words.bits}")
    while True:
        product = words.word() * n
        if product % size >= size % n:
            return product >> words.bits


def by_shares(shares: Sequence[int], words: Words) -> int:
    """The number of one of some shares, drawn by them: the first whose cumulated share is above a uniform number."""
    drawn = below(sum(shares), words)
    return next(i for i, total in enumerate(accumulate(shares)) if drawn < total)


def subset(n: int, size: int, words: Words) -> set[int]:
    """A uniform subset of {0..n-1} with `size` elements (Floyd's method)."""
    require(0 <= size <= n, "size", size, f"between 0 and {n}")
    chosen: set[int] = set()
    for last in range(n - size, n):
        pick = below(last + 1, words)
        chosen.add(last if pick in chosen else pick)
    return chosen
