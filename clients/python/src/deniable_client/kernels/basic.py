"""The basic families: randomised response, subset selection, unary encoding, noise, and mixtures of two kernels."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import comb, isqrt, prod
from typing import ClassVar

from deniable_client.errors import PrivacyError, require
from deniable_client.exact import (
    EPSILON_MAX,
    WORD,
    WORD_BITS,
    check_epsilon,
    exp_bounds,
    flip_threshold,
    unary_ratio,
)
from deniable_client.kernels.contract import (
    Base,
    Kernel,
    Mixed,
    check_k,
    check_plain,
    check_threshold,
    check_value,
    favoured,
    other_than,
)
from deniable_client.kernels.laws import Bits, OneOf
from deniable_client.packing import bits_width, pack_bits, pack_int, uint_width
from deniable_client.words import Words, below, happens, subset

__all__ = ["EPSILON_MIN", "Laplace", "Mixture", "Response", "Subset", "Unary", "Whole", "grid_for"]

GRID_MAX = 16
EPSILON_MIN = 200 / (1 << 31)
"""Below it the noise of 32-bit numbers would not hold 100 standard scales even without a grid."""


@dataclass(frozen=True, slots=True)
class Response(Base):
    """Generalised randomised response: the value with probability keep/2**64, else another one, all alike."""

    k: int
    keep: int
    kind: ClassVar[str] = "response"
    words: ClassVar[int] = 2
    favours: ClassVar[int] = 1

    def __post_init__(self) -> None:
        check_k(self.k)
        check_threshold("keep", self.keep)

    @property
    def reports(self) -> tuple[int, int]:
        return 1, self.k - 1

    least = property(favoured)

    @property
    def law(self) -> OneOf:
        return OneOf.of(self.k, self.keep)

    def odds(self, x: int) -> list[int]:
        """Whole numbers in proportion to the chances of all reports of a value."""
        own, other = self.keep * (self.k - 1), WORD - self.keep
        return [own if y == x else other for y in range(self.k)]

    @property
    def width(self) -> int:
        return uint_width(self.k)

    def randomise(self, x: int, words: Words) -> bytes:
        check_value(x, self.k)
        y = x if happens(self.keep, words) else other_than(x, self.k, words)
        return pack_int(y, self.width)

    def blind(self, words: Words) -> bytes:
        return pack_int(below(self.k, words), self.width)


@dataclass(frozen=True, slots=True)
class Subset(Base):
    """Subset selection: `size` values, the own one among them with probability keep/2**64, as bits (no order)."""

    k: int
    size: int
    keep: int
    kind: ClassVar[str] = "subset"

    def __post_init__(self) -> None:
        check_k(self.k)
        ok = isinstance(self.size, int) and 1 <= self.size < self.k
        require(ok, "size", self.size, f"an integer from 1 to k-1 = {self.k - 1}")
        check_threshold("keep", self.keep)

    @property
    def reports(self) -> tuple[int, int]:
        """See `Base.reports`. A set with x has mass keep/C(k-1,size-1), one without (1-keep)/C(k-1,size)."""
        return comb(self.k - 1, self.size - 1), comb(self.k - 1, self.size)

    @property
    def levels(self) -> tuple[int, int]:
        return self.size, self.k - self.size

    least = property(favoured)

    @property
    def favours(self) -> int:
        return self.size

    @property
    def width(self) -> int:
        return bits_width(self.k)

    @property
    def words(self) -> int:
        return self.size + 1

    def randomise(self, x: int, words: Words) -> bytes:
        check_value(x, self.k)
        kept = happens(self.keep, words)
        others = subset(self.k - 1, self.size - kept, words)
        chosen = {i + (i >= x) for i in others} | ({x} if kept else set())
        return pack_bits(chosen, self.k)

    def blind(self, words: Words) -> bytes:
        return pack_bits(subset(self.k, self.size, words), self.k)


@dataclass(frozen=True, slots=True)
class Unary(Base):
    """Unary encoding: k independent bits, 1 with probability keep/2**64 (own value) or flip/2**64 (others)."""

    k: int
    keep: int
    flip: int
    kind: ClassVar[str] = "unary"

    def __post_init__(self) -> None:
        check_k(self.k)
        check_threshold("keep", self.keep)
        check_threshold("flip", self.flip)
        require(self.flip < self.keep, "flip", self.flip, "less than keep")

    @classmethod
    def calibrate(cls, epsilon: float, k: int, keep: int) -> Unary:
        """The most accurate `flip` within e^epsilon for a given `keep`."""
        check_k(k)
        return cls(k, keep, flip_threshold(epsilon, keep))

    @property
    def ratio(self) -> Fraction:
        """See `Kernel.ratio`. Only the two bits that differ between two inputs count."""
        return unary_ratio(self.keep, self.flip)

    @property
    def share(self) -> Fraction:
        return Fraction(self.flip, WORD)

    @property
    def law(self) -> Bits:
        return Bits(self.k, self.keep, self.flip)

    @property
    def width(self) -> int:
        return bits_width(self.k)

    @property
    def words(self) -> int:
        return self.k

    def randomise(self, x: int, words: Words) -> bytes:
        check_value(x, self.k)
        ones = [i for i in range(self.k) if happens(self.keep if i == x else self.flip, words)]
        return pack_bits(ones, self.k)

    def blind(self, words: Words) -> bytes:
        return pack_bits([i for i in range(self.k) if happens(self.flip, words)], self.k)


@dataclass(frozen=True, slots=True)
class Whole(Base):
    """The set of all k values, whatever the value is: a report that says nothing."""

    k: int
    kind: ClassVar[str] = "whole"
    words: ClassVar[int] = 0
    ratio: ClassVar[Fraction] = Fraction(1)
    blind_peak: ClassVar[Fraction] = Fraction(1)
    """See `Base.blind_peak`: all reports are alike."""

    def __post_init__(self) -> None:
        check_k(self.k)

    @property
    def width(self) -> int:
        return bits_width(self.k)

    def randomise(self, x: int, words: Words) -> bytes:
        check_value(x, self.k)
        return self.blind(words)

    def blind(self, words: Words) -> bytes:
        return pack_bits(range(self.k), self.k)


@dataclass(frozen=True, slots=True)
class Mixture(Mixed):
    """The second kernel with probability coin/2**64, else the first one; both have reports of one length.

    A report of a mixture is at most as telling as the more telling of the two kernels, whether or not it shows which of
    them made it.
    """

    first: Kernel
    second: Kernel
    coin: int
    kind: ClassVar[str] = "mixture"

    def __post_init__(self) -> None:
        ok = isinstance(self.coin, int) and 0 <= self.coin < WORD
        require(ok, "coin", self.coin, f"an integer from 0 to 2**{WORD_BITS} - 1")
        check_plain("part of a mixture", self.first, self.second)
        for name in ("k", "width"):
            one, two = getattr(self.first, name, None), getattr(self.second, name, None)
            require(one is not None and one == two, f"{name} of the kernels in a mixture", (one, two), "the same")

    @property
    def ratio(self) -> Fraction:
        """See `Kernel.ratio`: the larger one, of those that can happen."""
        return max(self.first.ratio, self.second.ratio) if self.coin else self.first.ratio


# ---- noise


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
    return tuple(round(WORD / (1 + low)) for low in lows)


@dataclass(frozen=True, slots=True)
class Laplace(Base):
    """Histogram: one-hot vector plus discrete Laplace noise in every coordinate, cut off at `reach` steps of 1/2**grid.

    Exact, because a geometric number is coins that do not depend on each other. With S = 2**grid the size of the noise
    is S Q + R steps: the quotient Q counts heads before the first tail of a coin with probability again/2**64, near
    e^(-epsilon/2); the remainder R has `grid` binary digits, independent, digit i being 1 with probability near
    r/(1+r), r = e^(-epsilon 2^i / (2S)). So one step of S multiplies a probability by exactly again/2**64, however far.

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
        again = isqrt(-(-(WORD**2) * bottom // top) - 1) + 1
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
        inside = prod((Fraction(WORD - t, t) for t in self.digits[1:]), start=Fraction(1))
        return max(Fraction(WORD, self.again), inside)

    @property
    def width(self) -> int:
        """See `Kernel.width`: 4 bytes a coordinate, the number of steps plus 2**31."""
        return 4 * self.k

    @property
    def words(self) -> int:
        """See `Kernel.words`: a sign, the digits, and coins until the first tail, which may be far away."""
        return self.k * (self.grid + 2 + -(-WORD // (WORD - self.again)))

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
            negative = happens(WORD // 2, words)
            size = sum(1 << i for i, t in enumerate(self.digits) if happens(t, words))
            while happens(self.again, words):
                size += 1 << self.grid
            if size or not negative:
                return -size if negative else size
