"""Subset selection as an interval of positions under a keyed permutation: the same law in a seed and log2 k bits."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from deniable_client.errors import require
from deniable_client.exact import keep_threshold, two_level_ratio
from deniable_client.kernels.contract import check_k, check_seed_words, check_threshold, check_value
from deniable_client.packing import pack_int, uint_width
from deniable_client.permutation import permute
from deniable_client.words import Words, below, happens

__all__ = ["Interval"]


@dataclass(frozen=True, slots=True)
class Interval:
    """The first of `size` neighbouring positions (on a ring of k), the own one among them with probability keep/2**64.

    A report y means the items at positions y, y+1, ..., y+size-1 (mod k) of the permutation that its seed gives.
    """

    k: int
    size: int
    keep: int
    kind: ClassVar[str] = "interval"

    def __post_init__(self) -> None:
        check_k(self.k)
        ok = isinstance(self.size, int) and 1 <= self.size < self.k
        require(ok, "size", self.size, f"an integer from 1 to k-1 = {self.k - 1}")
        check_threshold("keep", self.keep)

    @classmethod
    def calibrate(cls, epsilon: float, k: int, size: int) -> Interval:
        """The most accurate integers within e^epsilon."""
        check_k(k)
        require(1 <= size < k, "size", size, f"an integer from 1 to k-1 = {k - 1}")
        return cls(k, size, keep_threshold(epsilon, size, k - size))

    @property
    def ratio(self) -> Fraction:
        """See `Kernel.ratio`. Given any permutation, `size` of the k reports have one mass and the rest another."""
        return two_level_ratio(self.keep, self.size, self.k - self.size)

    @property
    def width(self) -> int:
        """See `Kernel.width`."""
        return 8 + uint_width(self.k)

    def randomise(self, x: int, words: Words) -> bytes:
        """See `Kernel.randomise`."""
        check_value(x, self.k)
        check_seed_words(words)
        seed = words.word()
        back = below(self.size, words) if happens(self.keep, words) else self.size + below(self.k - self.size, words)
        y = (permute(seed, x, self.k) - back) % self.k
        return pack_int(seed, 8) + pack_int(y, uint_width(self.k))
