"""Tables of whole numbers whose rows have exactly the right mean, from a base measure on a lattice.

Every weight stays between N = floor(nu 2^64) and U = floor(low N), low the certified lower bound of e^epsilon, so the
ratio holds by construction. A row favours the outputs between two of them (docs/maths/mean-optimum.md, section 5).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import accumulate

from deniable.core.types import FloatArray, IntArray
from deniable.errors import ParameterError, PrivacyError, require
from deniable_client.exact import WORD, WORD_BITS, exp_bounds
from deniable_client.kernels import Lattice

__all__ = ["FINEST", "log_uniform", "whole_table"]

FINEST = 1 << 30
"""Most numbers that a device tells apart."""
_HELPERS = 3
"""Outputs that are moved by some units, nearest first, are looked for on so many sides of the window."""


def whole_table(epsilon: float, half: int, values: IntArray, measure: FloatArray, fine: int | None = None) -> Lattice:
    """The kernel of points -half..half and estimates values/half, exactly unbiased at every point.

    Numbers are told apart on 2^fine steps between neighbouring points; by default as many as fit in `FINEST`.
    """
    low = exp_bounds(epsilon)[0]
    least = [int(math.ldexp(mass, WORD_BITS)) for mass in measure.tolist()]
    most = [min(WORD, low.numerator * n // low.denominator) for n in least]
    table = _Table(values.tolist(), least, most)
    mirrored = [-v for v in reversed(table.values)] == table.values and least == least[::-1]
    rows = {}
    for point in range(0 if mirrored else -half, half + 1):
        rows[point] = table.row(point)
        if mirrored:
            rows[-point] = _mirror(rows[point], len(table.values)) if point else rows[point]
    bits = int(math.log2((FINEST - 1) // (2 * half))) if fine is None else fine
    return Lattice(
        (2 * half << bits) + 1,
        tuple(i << bits for i in range(2 * half + 1)),
        tuple(v - table.values[0] for v in table.values),
        tuple(least),
        tuple(most),
        tuple(rows[point] for point in range(-half, half + 1)),
    )


def _mirror(row: tuple[int, ...], outputs: int) -> tuple[int, ...]:
    """The row of the mirrored point."""
    first, end, *own = row
    pairs = sorted((outputs - 1 - j, weight) for j, weight in zip(own[::2], own[1::2], strict=True))
    return (outputs - end, outputs - first, *(number for pair in pairs for number in pair))


class _Table:
    """Values with the least and the most weight of each, and sums of them."""

    def __init__(self, values: Sequence[int], least: Sequence[int], most: Sequence[int]) -> None:
        self.values, self.least = list(values), list(least)
        self.room = [b - a for a, b in zip(least, most, strict=True)]
        self.most = list(most)
        self.up_to = list(accumulate(self.room, initial=0))
        moved = (room * v for room, v in zip(self.room, values, strict=True))
        self.moved = list(accumulate(moved, initial=0))
        self.missing = WORD - sum(least)
        self.mean = sum(n * v for n, v in zip(least, values, strict=True))

    def row(self, point: int) -> tuple[int, ...]:
        """The row whose mean is exactly `point`, of least variance up to some units of 2^-64."""
        for a, b, share in self._windows(point):
            found = self._rounded(point, a, b, share)
            if found is not None:
                return found
        told = "Take more outputs or points, so that the numbers at the ends can be told from each other."
        raise ParameterError(f"no row of whole numbers has the mean {point} of its values.", told)

    def _windows(self, point: int) -> Iterator[tuple[int, int, Fraction]]:
        """Outputs a < b such that all between them are at their most, others at their least, and what b has more."""
        if self.missing < 0:
            raise PrivacyError("these probabilities need more than 64-bit words to stay within e^epsilon.")
        for a in range(len(self.values) - 1):
            start = max(a + 1, bisect_left(self.up_to, self.missing + self.up_to[a]) - 1)
            for b in range(start, len(self.values)):
                more = self.missing - (self.up_to[b] - self.up_to[a + 1])
                if more < 0:
                    break
                need = point * WORD - self.mean - (self.moved[b] - self.moved[a + 1])
                share = Fraction(need - more * self.values[a], self.values[b] - self.values[a])
                if 0 <= share <= self.room[b] and 0 <= more - share <= self.room[a]:
                    yield a, b, share

    def _rounded(self, point: int, a: int, b: int, share: Fraction) -> tuple[int, ...] | None:
        """The window in whole numbers: what rounding leaves of the mean is moved by some units of a third output."""
        more = self.missing - (self.up_to[b] - self.up_to[a + 1])
        gap, floor = self.values[b] - self.values[a], int(share)
        rest = (share - floor) * gap
        assert rest.denominator == 1
        own = {a: self.least[a] + more - floor, b: self.least[b] + floor}
        if rest == 0:
            return self._listed(a, b, own)
        for c in sorted(set(range(len(self.values))) - {a, b}, key=lambda c: min(abs(c - a), abs(c - b))):
            inside = a < c < b
            for units in _solutions(self.values[b] - self.values[c], gap, int(rest), take=inside):
                back = (units * (self.values[b] - self.values[c]) - int(rest)) // gap
                plain = self.most[c] if inside else self.least[c]
                tried = {a: own[a] + back, b: own[b] + units - back, c: plain - units}
                if all(self.least[j] <= weight <= self.most[j] for j, weight in tried.items()):
                    return self._listed(a, b, tried)
        return None

    def _listed(self, a: int, b: int, own: dict[int, int]) -> tuple[int, ...]:
        return (a + 1, b, *(number for pair in sorted(own.items()) for number in pair))


def _solutions(step: int, gap: int, rest: int, *, take: bool) -> Iterator[int]:
    """Units u, the first few, with u step = rest modulo gap: taken from the third output (u > 0) or given to it."""
    common = math.gcd(step, gap)
    if rest % common:
        return
    size = gap // common
    first = rest // common * pow(step // common, -1, size) % size if size > 1 else 0
    for turn in range(_HELPERS):
        units = first + turn * size if take else first - (turn + 1) * size
        if units:
            yield units


def log_uniform(epsilon: float, outputs: int, finest: int = FINEST) -> Lattice:
    """The kernel of `lu`: C = outputs/2 estimates of each sign, log-uniform, C of all favoured at each of C + 1 places.

    Weights are the same for all favoured outputs, and for all others; C is a power of 2, so that they are whole. The
    estimates are whole numbers whose sums are the places, so that means are exactly on a line.
    """
    count = outputs // 2
    low, share = exp_bounds(epsilon)[0], WORD // count
    slight = -int(-share // (low + 1))
    tau, total = math.tanh(epsilon / 2), (finest - 1) // 2
    ideal = [math.exp(2 * tau * (c - (count - 1) / 2) / count) for c in range(count)]
    sizes = _apportioned(ideal, total)
    rising = all(a < b for a, b in zip([0, *sizes], sizes, strict=False))
    require(rising, "outputs", outputs, f"so few that {finest} numbers tell them apart")
    sums = list(accumulate(sizes, initial=0))
    least, most = (slight,) * outputs, (share - slight,) * outputs
    numbers = [-size for size in reversed(sizes)] + sizes
    return Lattice(
        2 * total + 1,
        tuple(total + sums[i] - sums[count - i] for i in range(count + 1)),
        tuple(number - numbers[0] for number in numbers),
        least,
        most,
        tuple((i, count + i) for i in range(count + 1)),
    )


def _apportioned(ideal: Sequence[float], total: int) -> list[int]:
    """Rising whole numbers with this sum, in proportion to rising numbers; the last one takes what rounding leaves."""
    unit = total / math.fsum(ideal)
    found = [round(number * unit) for number in ideal[:-1]]
    return [*found, total - sum(found)]
