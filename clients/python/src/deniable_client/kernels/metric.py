"""Kernels for values with distances or an order: an answer near the value, one of a few codes, a bit that leans."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import ClassVar

from deniable_client.errors import require
from deniable_client.exact import WORD, check_epsilon, exp_bounds, keep_threshold, two_level_ratio
from deniable_client.hashing import ITEMS_MAX
from deniable_client.kernels.basic import Response, Whole
from deniable_client.kernels.contract import check_k, check_threshold, check_value, check_whole
from deniable_client.packing import pack_int, uint_width
from deniable_client.words import Words, below, happens

__all__ = ["Constant", "Leaning", "Neighbours", "Recode", "Window", "WindowOrBit"]

NEIGHBOURS_MAX = 1 << 18
"""Most numbers in the lists of neighbours: every design carries them all."""


@dataclass(frozen=True, slots=True)
class Neighbours:
    """One of the value's `m` nearest answers with probability keep/2**64, else one of the others, all alike.

    `neighbours[x]` are the nearest answers of x in rising order, equally many for every value: with lists of
    different lengths the probabilities of an answer would differ by more than two levels.
    """

    outputs: int
    neighbours: tuple[tuple[int, ...], ...]
    keep: int
    kind: ClassVar[str] = "neighbours"
    words: ClassVar[int] = 2

    def __post_init__(self) -> None:
        shaped = isinstance(self.neighbours, tuple) and all(isinstance(row, tuple) for row in self.neighbours)
        require(shaped, "neighbours", self.neighbours, "a tuple of lists, one for each value")
        check_k(len(self.neighbours))
        _check_lists(self.neighbours, self.outputs)
        check_threshold("keep", self.keep)

    @classmethod
    def calibrate(cls, epsilon: float, neighbours: tuple[tuple[int, ...], ...], outputs: int) -> Neighbours:
        """The most accurate integers within e^epsilon."""
        _check_lists(neighbours, outputs)
        m = len(neighbours[0])
        return cls(outputs, neighbours, keep_threshold(epsilon, m, outputs - m))

    @property
    def k(self) -> int:
        return len(self.neighbours)

    @property
    def m(self) -> int:
        """How many answers are favoured."""
        return len(self.neighbours[0])

    @property
    def ratio(self) -> Fraction:
        """See `Kernel.ratio`.

        An answer has one probability for all values that have it among their nearest, and one for all others. Lists
        are equally long, so two that differ have an answer each that the other has not; if none differ, reports tell
        nothing.
        """
        if len(set(self.neighbours)) == 1:
            return Fraction(1)
        return two_level_ratio(self.keep, self.m, self.outputs - self.m)

    @property
    def width(self) -> int:
        return uint_width(self.outputs)

    def randomise(self, x: int, words: Words) -> bytes:
        """See `Kernel.randomise`: the r-th of the others is r, moved up past every neighbour that is not above it."""
        check_value(x, self.k)
        near = self.neighbours[x]
        if happens(self.keep, words):
            return pack_int(near[below(self.m, words)], self.width)
        y = below(self.outputs - self.m, words)
        for answer in near:
            y += answer <= y
        return pack_int(y, self.width)


@dataclass(frozen=True, slots=True)
class Recode:
    """Each value has a public code; another kernel randomises the code.

    Values come in runs: those from starts[i] on, up to the next start, have the code codes[i].
    """

    k: int
    starts: tuple[int, ...]
    codes: tuple[int, ...]
    base: Response
    kind: ClassVar[str] = "recode"

    def __post_init__(self) -> None:
        check_k(self.k)
        require(isinstance(self.base, Response), "base", type(self.base).__name__, "a response kernel")
        numbers = isinstance(self.starts, tuple) and all(_is_whole(v, 0, self.k - 1) for v in self.starts)
        rising = numbers and all(a < b for a, b in pairwise(self.starts))
        require(rising and self.starts[:1] == (0,), "starts", self.starts, "rising integers from 0 on, below k")
        room = isinstance(self.codes, tuple) and all(_is_whole(v, 0, self.base.k - 1) for v in self.codes)
        require(room and len(self.codes) == len(self.starts), "codes", self.codes, "a code of the base for each run")

    @property
    def ratio(self) -> Fraction:
        """See `Kernel.ratio`: that of the codes, unless all values have the same one."""
        return self.base.ratio if len(set(self.codes)) > 1 else Fraction(1)

    @property
    def width(self) -> int:
        return self.base.width

    @property
    def words(self) -> int:
        return self.base.words

    def code(self, x: int) -> int:
        """The code of a value."""
        return self.codes[bisect_right(self.starts, x) - 1]

    def randomise(self, x: int, words: Words) -> bytes:
        check_value(x, self.k)
        return self.base.randomise(self.code(x), words)


@dataclass(frozen=True, slots=True)
class Constant(Whole):
    """Always the same report, one byte: what is best where the budget is too small to say anything."""

    kind: ClassVar[str] = "constant"
    width: ClassVar[int] = 1

    def blind(self, words: Words) -> bytes:
        return pack_int(0, 1)


def _is_whole(value: object, least: int, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _check_lists(lists: tuple[tuple[int, ...], ...], outputs: int) -> None:
    """Refuse lists that are too long together, of different lengths, not rising, or of answers that there are not."""
    require(_is_whole(outputs, 2, 1 << 32), "outputs", outputs, "an integer >= 2")
    sizes = {len(row) for row in lists}
    require(len(sizes) == 1, "neighbours", sorted(sizes), "lists of one length, common to all values")
    m = min(sizes)
    require(1 <= m < outputs, "m", m, f"an integer from 1 to outputs - 1 = {outputs - 1}")
    require(
        len(lists) * m <= NEIGHBOURS_MAX,
        "neighbours",
        len(lists) * m,
        f"at most {NEIGHBOURS_MAX} numbers, which every design carries",
        "Use fewer points, or a mechanism that needs no lists: codebook.",
    )
    for x, row in enumerate(lists):
        if set(map(type, row)) != {int} or row[0] < 0 or row[-1] >= outputs or any(a >= b for a, b in pairwise(row)):
            require(False, f"neighbours[{x}]", row, f"rising integers from 0 to {outputs - 1}")


# ---- values in an order


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
    words: ClassVar[int] = 3

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
    words: ClassVar[int] = 1
    width: ClassVar[int] = 1

    def __post_init__(self) -> None:
        check_k(self.k)
        check_threshold("base", self.base)
        room = (WORD - 1 - self.base) // (self.k - 1)
        hint = "The bit of the last value must be able to come out either way."
        check_whole("slope", self.slope, 1, room, hint)

    @classmethod
    def calibrate(cls, epsilon: float, k: int) -> Leaning:
        """The steepest integers within e^epsilon, as good as symmetric: 1 is least likely for 0, 0 for k-1."""
        check_k(k)
        top, bottom = exp_bounds(check_epsilon(epsilon, sampling=True))[0].as_integer_ratio()
        base = -(-WORD * bottom // (top + bottom))
        return cls(k, base, (WORD - 2 * base) // (k - 1))

    @property
    def ratio(self) -> Fraction:
        """See `Kernel.ratio`. Probabilities rise with the value, so the first and the last one are farthest apart."""
        last = self.base + (self.k - 1) * self.slope
        return max(Fraction(last, self.base), Fraction(WORD - self.base, WORD - last))

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
    words: ClassVar[int] = 5

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
