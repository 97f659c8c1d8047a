"""The kernel of directions: an arc of a circle around the value is favoured."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from deniable_client.exact import keep_threshold, two_level_ratio
from deniable_client.kernels.contract import check_k, check_threshold, check_value, check_whole
from deniable_client.packing import pack_int, uint_width
from deniable_client.words import Words, below, happens

__all__ = ["Arc"]

DIRECTIONS_MAX = 1 << 20
"""Finest circle: tallies count every report."""


@dataclass(frozen=True, slots=True)
class Arc:
    """One of k directions around a circle, told by another one: report y favours y, y + 1, ..., y + size - 1 (mod k).

    With probability keep/2**64 the report is one of the `size` that favour the value, else one of the others.

    >>> Arc(4, 2, 3 << 62).ratio
    Fraction(3, 1)
    """

    k: int
    size: int
    keep: int
    kind: ClassVar[str] = "arc"
    words: ClassVar[int] = 2

    def __post_init__(self) -> None:
        check_k(self.k, DIRECTIONS_MAX)
        check_whole("size", self.size, 1, self.k - 1)
        check_threshold("keep", self.keep)

    @classmethod
    def calibrate(cls, epsilon: float, k: int, size: int) -> Arc:
        """The most accurate integers within e^epsilon."""
        check_k(k, DIRECTIONS_MAX)
        check_whole("size", size, 1, k - 1)
        return cls(k, size, keep_threshold(epsilon, size, k - size))

    @property
    def ratio(self) -> Fraction:
        """See `Kernel.ratio`: a report has one chance for directions that it favours and one for all others."""
        return two_level_ratio(self.keep, self.size, self.k - self.size)

    @property
    def width(self) -> int:
        return uint_width(self.k)

    def randomise(self, x: int, words: Words) -> bytes:
        """A report that begins so far behind the value that it favours it, or the other way round."""
        check_value(x, self.k)
        if happens(self.keep, words):
            return pack_int((x - below(self.size, words)) % self.k, self.width)
        return pack_int((x + 1 + below(self.k - self.size, words)) % self.k, self.width)
