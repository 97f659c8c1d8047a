"""Histogram with discrete Laplace noise: exact, because a geometric number is coins that do not depend on each other.

Noise is a multiple of 1/S, S = 2**grid. Its size is S Q + R: the quotient Q counts heads before the first tail of a
coin with probability again/2**64, near e^(-epsilon/2); the remainder R has `grid` binary digits, independent, digit i
being 1 with probability near r/(1+r), r = e^(-epsilon 2^i / (2S)). So one step of S multiplies a probability by exactly
again/2**64, however far out.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import isqrt, prod
from typing import ClassVar

from deniable_client.errors import PrivacyError, require
from deniable_client.exact import EPSILON_MAX, WORD_BITS, check_epsilon, exp_bounds
from deniable_client.kernels.contract import Base, check_k, check_threshold, check_value
from deniable_client.packing import pack_int
from deniable_client.words import Words, happens

__all__ = ["EPSILON_MIN", "Laplace", "grid_for"]

_WORD = 1 << WORD_BITS
GRID_MAX = 16
EPSILON_MIN = 200 / (1 << 31)
"""Below it the noise of 32-bit numbers would not hold 100 standard scales even without a grid."""


def grid_for(epsilon: float) -> int:
    """Bits of the grid so that 2**31 steps reach 100 standard scales 2/epsilon, at most `GRID_MAX`."""
    if epsilon < EPSILON_MIN:
        raise PrivacyError(f"epsilon must be at least {EPSILON_MIN:.2g} for Laplace noise in 32 bits, got {epsilon!r}.")
    return next(grid for grid in range(GRID_MAX, -1, -1) if 200 / epsilon * 2**grid <= 1 << 31)


@cache
def digit_thresholds(epsilon_top: int, epsilon_bottom: int, grid: int) -> tuple[int, ...]:
    """Thresholds of the remainder's digits: nearest to 2**64/(1 + e^(epsilon 2^i/(2S)))."""
    epsilon = epsilon_top / epsilon_bottom
    lows = (exp_bounds(epsilon * 2.0 ** (i - grid - 1))[0] for i in range(grid))
    return tuple(round(_WORD / (1 + low)) for low in lows)


@dataclass(frozen=True, slots=True)
class Laplace(Base):
    """One-hot vector plus noise in every coordinate, in steps of 1/2**grid, cut off at `reach` steps.

    `level` is the epsilon that the digits are made for, as an exact fraction's numerator and denominator.
    """

    k: int
    again: int
    grid: int
    reach: int
    level_top: int
    level_bottom: int
    kind: ClassVar[str] = "laplace"

    def __post_init__(self) -> None:
        check_k(self.k)
        check_threshold("again", self.again)
        require(0 <= self.grid <= GRID_MAX, "grid", self.grid, f"from 0 to {GRID_MAX} (bits)")
        require(1 << self.grid <= self.reach < 1 << 31, "reach", self.reach, f"from 2**{self.grid} to 2**31 - 1")
        ok = self.level_top > 0 and self.level_bottom > 0 and self.level_top <= EPSILON_MAX * self.level_bottom
        require(ok, "level", (self.level_top, self.level_bottom), f"a fraction above 0 and at most {EPSILON_MAX:g}")

    @classmethod
    def calibrate(cls, epsilon: float, k: int, *, grid: int | None = None, reach: int | None = None) -> Laplace:
        """The least `again` whose square root bound stays within e^epsilon: two coordinates change at most."""
        check_epsilon(epsilon, sampling=True)
        top, bottom = exp_bounds(epsilon)[0].as_integer_ratio()
        again = isqrt(-(-(_WORD**2) * bottom // top) - 1) + 1
        bits = grid_for(epsilon) if grid is None else grid
        return cls(k, again, bits, (1 << 31) - 1 if reach is None else reach, *float(epsilon).as_integer_ratio())

    @property
    def digits(self) -> tuple[int, ...]:
        """Thresholds of the remainder's binary digits."""
        return digit_thresholds(self.level_top, self.level_bottom, self.grid)

    @property
    def ratio(self) -> Fraction:
        """See `Kernel.ratio`: two coordinates are shifted against each other."""
        return self.shift**2

    @property
    def shift(self) -> Fraction:
        """The worst ratio of one coordinate with and without its unit.

        Outside (0, S) a step of S changes a probability by exactly 2**64/again. Inside, j against S - j: above the
        lowest 1 of j their digits are opposite, so the worst is j = 1, with all higher digits against it.
        """
        inside = prod((Fraction(_WORD - t, t) for t in self.digits[1:]), start=Fraction(1))
        return max(Fraction(_WORD, self.again), inside)

    @property
    def width(self) -> int:
        """See `Kernel.width`: 4 bytes a coordinate, the number of steps plus 2**31."""
        return 4 * self.k

    def randomise(self, x: int, words: Words) -> bytes:
        check_value(x, self.k)
        return self._around(x, words)

    def blind(self, words: Words) -> bytes:
        """See `Base.blind`: noise alone."""
        return self._around(-1, words)

    @property
    def blind_peak(self) -> Fraction:
        """See `Base.blind_peak`: one coordinate differs."""
        return self.shift

    def _around(self, x: int, words: Words) -> bytes:
        steps = ((1 << self.grid if i == x else 0) + self._noise(words) for i in range(self.k))
        return b"".join(pack_int(max(-self.reach, min(self.reach, y)) + (1 << 31), 4) for y in steps)

    def _noise(self, words: Words) -> int:
        while True:
            negative = happens(_WORD // 2, words)
            size = sum(1 << i for i, t in enumerate(self.digits) if happens(t, words))
            while happens(self.again, words):
                size += 1 << self.grid
            if size or not negative:
                return -size if negative else size
