"""Subset selection as an interval of positions under a keyed permutation: the same law in a seed and log2 k bits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from deniable_client.kernels.basic import Subset
from deniable_client.kernels.contract import check_seed_words, check_value
from deniable_client.packing import pack_int, uint_width
from deniable_client.permutation import permute
from deniable_client.words import Words, below, happens

__all__ = ["Interval"]


@dataclass(frozen=True, slots=True)
class Interval(Subset):
    """The first of `size` neighbouring positions (on a ring of k), the own one among them with probability keep/2**64.

    A report y means the items at positions y, y+1, ..., y+size-1 (mod k) of the permutation that its seed gives. The
    law is that of `Subset`: given any permutation, `size` of the k reports have one mass and the rest another.
    """

    kind: ClassVar[str] = "interval"

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
