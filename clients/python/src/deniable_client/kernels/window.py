"""Kernels for values in an order: an answer near the value, or one bit that leans with it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from deniable_client.errors import require
from deniable_client.exact import WORD_BITS, check_epsilon, exp_bounds, keep_threshold, two_level_ratio
from deniable_client.hashing import ITEMS_MAX
from deniable_client.kernels.contract import check_k, check_threshold, check_value, check_whole
from deniable_client.packing import pack_int, uint_width
from deniable_client.words import Words, below, happens

__all__ = ["Leaning", "Window", "WindowOrBit"]


@dataclass(frozen=True, slots=True)
class Window:
    """One of the `m` answers around the value with probability keep/2**64, else one of the others, all alike.

    The answers are 0..outputs-1. The window of x starts at x - shift, or at the nearest place where it fits between
    the first and the last answer. With `tie` = 1 every report flips a fair coin between `shift` and `shift` - 1.
    """

    k: int
    outputs: int
    m: int
    shift: int
    tie: int
    keep: int
    kind: ClassVar[str] = "window"

    def __post_init__(self) -> None:
        check_k(self.k)
        check_whole("outputs", self.outputs, 2, ITEMS_MAX)
        check_whole("m", self.m, 1, self.outputs - 1)
        check_whole("tie", self.tie, 0, 1)
        check_whole("shift", self.shift, self.tie, self.k - 1)
        require(self.m > self.tie, "m", self.m, "at least 2 with a coin between two windows (tie = 1)")
        first, last = self.start(0, self.shift - self.tie), self.start(self.k - 1, self.shift)
        hint = "Otherwise a report would tell (almost) nothing."
        require(first < last, "shift", self.shift, "such that the first and the last value have windows apart", hint)
        check_threshold("keep", self.keep)

    @classmethod
    def calibrate(cls, epsilon: float, k: int, outputs: int, m: int, shift: int = 0, tie: int = 0) -> Window:
        """The most accurate integers within e^epsilon."""
        check_whole("outputs", outputs, 2, ITEMS_MAX)
        check_whole("m", m, 1, outputs - 1)
        return cls(k, outputs, m, shift, tie, keep_threshold(epsilon, m, outputs - m))

    def start(self, x: int, shift: int) -> int:
        """The first answer of the window of x, for one of the two shifts."""
        return min(max(x - shift, 0), self.outputs - self.m)

    @property
    def ratio(self) -> Fraction:
        """See `Kernel.ratio`.

        An answer has the same probability in all windows that contain it, the same in all others, and with a coin a
        mean of the two. The first answer of the first value's (later) window is in all windows of that value and in
        none of the last value's, so both extremes occur.
        """
        return two_level_ratio(self.keep, self.m, self.outputs - self.m)

    @property
    def width(self) -> int:
        return uint_width(self.outputs)

    def randomise(self, x: int, words: Words) -> bytes:
        check_value(x, self.k)
        first = self.start(x, self.shift - (below(2, words) if self.tie else 0))
        if happens(self.keep, words):
            return pack_int(first + below(self.m, words), self.width)
        y = below(self.outputs - self.m, words)
        return pack_int(y + (self.m if y >= first else 0), self.width)


@dataclass(frozen=True, slots=True)
class Leaning:
    """One bit that is 1 with probability (base + x slope)/2**64: its mean is exactly linear in the value."""

    k: int
    base: int
    slope: int
    kind: ClassVar[str] = "leaning"

    def __post_init__(self) -> None:
        check_k(self.k)
        check_threshold("base", self.base)
        room = ((1 << WORD_BITS) - 1 - self.base) // (self.k - 1)
        hint = "The bit of the last value must be able to come out either way."
        check_whole("slope", self.slope, 1, room, hint)

    @classmethod
    def calibrate(cls, epsilon: float, k: int) -> Leaning:
        """The steepest integers within e^epsilon, as good as symmetric: 1 is least likely for 0, 0 for k-1."""
        check_k(k)
        top, bottom = exp_bounds(check_epsilon(epsilon, sampling=True))[0].as_integer_ratio()
        word = 1 << WORD_BITS
        base = -(-word * bottom // (top + bottom))
        return cls(k, base, (word - 2 * base) // (k - 1))

    @property
    def ratio(self) -> Fraction:
        """See `Kernel.ratio`. Probabilities rise with the value, so the first and the last one are farthest apart."""
        word, last = 1 << WORD_BITS, self.base + (self.k - 1) * self.slope
        return max(Fraction(last, self.base), Fraction(word - self.base, word - last))

    @property
    def width(self) -> int:
        return 1

    def randomise(self, x: int, words: Words) -> bytes:
        check_value(x, self.k)
        return pack_int(int(happens(self.base + x * self.slope, words)), 1)


@dataclass(frozen=True, slots=True)
class WindowOrBit:
    """A leaning bit with probability coin/2**64, reported as outputs + bit, else the answer of a window."""

    window: Window
    bit: Leaning
    coin: int
    kind: ClassVar[str] = "window-or-bit"

    def __post_init__(self) -> None:
        fits = isinstance(self.window, Window) and isinstance(self.bit, Leaning)
        require(fits, "kernels", (self.window, self.bit), "a window kernel and a leaning kernel")
        require(self.window.k == self.bit.k, "k", self.bit.k, f"the same for both kernels, {self.window.k}")
        check_threshold("coin", self.coin)

    @property
    def k(self) -> int:
        return self.window.k

    @property
    def ratio(self) -> Fraction:
        """See `Kernel.ratio`. The coin does not look at the value, and no report can come from both kernels."""
        return max(self.window.ratio, self.bit.ratio)

    @property
    def width(self) -> int:
        return uint_width(self.window.outputs + 2)

    def randomise(self, x: int, words: Words) -> bytes:
        check_value(x, self.k)
        bit = happens(self.coin, words)
        answer = int.from_bytes((self.bit if bit else self.window).randomise(x, words), "little")
        return pack_int(answer + (self.window.outputs if bit else 0), self.width)
