"""Everyone chooses a level of protection: one data kernel per level, and a channel that hides the chosen level.

All data kernels have one report format, so that no report shows its level by its form. Its content may still tell: the
quotients of likelihoods between levels are computed here in whole numbers, for any number of values.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import ClassVar

from deniable_client.errors import require
from deniable_client.exact import WORD_BITS, exp_bounds, log_upper
from deniable_client.kernels.basic import Response, Unary
from deniable_client.kernels.contract import Kernel, check_k, check_threshold, check_value
from deniable_client.kernels.personal_ratios import add_up, bit_ratio, form_of, other_value, same_value
from deniable_client.kernels.seeded import Hashing
from deniable_client.kernels.utility import Utility
from deniable_client.packing import pack_int
from deniable_client.words import Words, happens

__all__ = ["Bit", "Personal"]

_WORD = 1 << WORD_BITS


@dataclass(frozen=True, slots=True)
class Bit:
    """One bit: 1 with probability chances[x]/2**64 for value x. A level report that says no more than a mean needs."""

    chances: tuple[int, ...]
    kind: ClassVar[str] = "bit"

    def __post_init__(self) -> None:
        check_k(len(self.chances))
        for chance in self.chances:
            check_threshold("chances", chance)

    @classmethod
    def calibrate(cls, epsilon: float, places: tuple[Fraction, ...]) -> Bit:
        """Chances that rise linearly with `places`, from -1 to 1, as steeply as e^epsilon allows.

        1/2 + place (e-1)/(2(e+1)), rounded towards 1/2.
        """
        ok = len(places) >= 2 and all(abs(place) <= 1 for place in places)
        require(ok, "places", places, "at least two numbers from -1 to 1")
        low = exp_bounds(epsilon)[0]
        steep = (low - 1) / (low + 1) / 2
        half = _WORD // 2
        return cls(tuple(half + int(place * steep * _WORD) for place in places))

    @property
    def k(self) -> int:
        """See `Kernel.k`."""
        return len(self.chances)

    @property
    def ratio(self) -> Fraction:
        """See `Kernel.ratio`."""
        low, high = min(self.chances), max(self.chances)
        return max(Fraction(high, low), Fraction(_WORD - low, _WORD - high))

    @property
    def width(self) -> int:
        """See `Kernel.width`."""
        return 1

    def randomise(self, x: int, words: Words) -> bytes:
        """See `Kernel.randomise`."""
        check_value(x, self.k)
        return pack_int(int(happens(self.chances[x], words)), 1)


@dataclass(frozen=True, slots=True)
class Personal:
    """The data kernel of the chosen level, then the level itself through a channel of its own.

    `data` has one kernel for each level, from the most protective on; `level` has the channel on the numbers of the
    levels, or is empty: then nothing is sent about the level. The two draws are independent given value and level.
    """

    data: tuple[Kernel, ...]
    level: tuple[Kernel, ...]
    kind: ClassVar[str] = "personal"

    def __post_init__(self) -> None:
        hint = "Reports of another form, e.g. another hash range, would show the level."
        alike = len({form_of(kernel) for kernel in self.data}) == 1
        require(alike, "data", self.data, "kernels of one kind, size and report format", hint)
        for kernel in self.data:
            _check_data(kernel)
        t = len(self.data)
        channel = len(self.level) <= 1 and all(isinstance(c, Response | Bit) and c.k == t for c in self.level)
        require(channel, "level", self.level, f"empty, or one response or bit kernel on {t} levels")

    @property
    def k(self) -> int:
        """See `Kernel.k`."""
        return self.data[0].k

    @property
    def ratio(self) -> Fraction:
        """See `Kernel.ratio`: of values at one level, which an attacker may know; the largest over the levels.

        The level report does not depend on the value given the level, so it cancels.
        """
        return max(kernel.ratio for kernel in self.data)

    @property
    def width(self) -> int:
        """See `Kernel.width`."""
        return self.data[0].width + sum(kernel.width for kernel in self.level)

    def randomise(self, x: int, words: Words, level: int = 0) -> bytes:
        """A report for value `x` at a level, given by its number; the most protective one unless told otherwise."""
        t = len(self.data)
        ok = isinstance(level, int) and not isinstance(level, bool) and 0 <= level < t
        require(ok, "level", level, f"the number of one of the {t} levels, from 0 to {t - 1}")
        told = self.data[level].randomise(x, words)
        return told + b"".join(kernel.randomise(level, words) for kernel in self.level)

    # ---- what a report tells about the level

    @property
    def report(self) -> float:
        """Exact epsilon of the level report alone, rounded up; 0 if there is none."""
        return max((log_upper(kernel.ratio) for kernel in self.level), default=0.0)

    @property
    def leakage(self) -> float:
        """Exact largest log-ratio of a data report between two levels, the value being the same; rounded up."""
        return max((same_value(a, b) for a, b in self._pairs()), default=0.0)

    @property
    def level_guarantee(self) -> float:
        """Exact largest log-ratio of the whole report between two levels, the value being the same; rounded up."""
        pairs = self._numbered()
        return max((add_up(same_value(self.data[i], self.data[j]), self._told(i, j)) for i, j in pairs), default=0.0)

    @property
    def pair_guarantee(self) -> float:
        """The same between any two pairs of a value and a level: what is left if the level depends on the value.

        Where values may be disclosed: of reports that disclose nothing, and between levels of those that do.
        """
        own = log_upper(self.ratio)
        found = [
            add_up(max(same_value(a, b), other_value(a, b)), self._told(i, j))
            for i, j in self._numbered()
            for a, b in [(self.data[i], self.data[j])]
        ]
        return max(own, *found) if found else own

    def _numbered(self) -> list[tuple[int, int]]:
        return [(i, j) for i, j in product(range(len(self.data)), repeat=2) if i != j]

    def _pairs(self) -> Iterator[tuple[Kernel, Kernel]]:
        return ((self.data[i], self.data[j]) for i, j in self._numbered())

    def _told(self, i: int, j: int) -> float:
        """Largest log-ratio of the level report between levels i and j."""
        for kernel in self.level:
            if isinstance(kernel, Bit):
                return bit_ratio(kernel.chances[i], kernel.chances[j])
            return log_upper(kernel.ratio)
        return 0.0


def _check_data(kernel: Kernel) -> None:
    """Refuse kernels of which it is not known what they tell about the level."""
    base = kernel
    if isinstance(kernel, Utility):
        require(
            len(kernel.base) == 1 and kernel.s < kernel.k,
            "data",
            kernel,
            "with two sensitive values and a harmless one",
        )
        told = kernel.blind == 1 and kernel.attach == 0 and kernel.plain > 0
        hint = "A level that never discloses would be ruled out by every disclosed value."
        require(told, "data", kernel, "with blind reports, and values disclosed alone now and then", hint)
        base = kernel.base[0]
    known = type(base) in (Response, Unary, Hashing)
    require(known, "data", base.kind, "response, unary or hashing kernels, or utility kernels on these")
