"""The kernel of a channel that is simply written down: for each value, how often each output comes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import ClassVar

from deniable_client.errors import ParameterError, PrivacyError, require
from deniable_client.exact import WORD, WORD_BITS, check_epsilon, exp_bounds
from deniable_client.kernels.contract import check_k, check_seed_words, check_value
from deniable_client.packing import pack_int, uint_width
from deniable_client.words import Words

__all__ = ["ENTRIES_MAX", "Rows", "Table", "Written", "check_sizes"]

ENTRIES_MAX = 1 << 18
"""Values times outputs of the largest table: every design carries all of them, in about 20 digits each."""

_FLOAT_ERROR = 1e-9
"""Floats that are within e^epsilon up to this share are taken as meant to be; more is a breach."""

_UNIT = 1 << 16
"""Fine weights, before rounding, are whole numbers of this part of a weight."""

Rows = tuple[tuple[int, ...], ...]


class Written:
    """A kernel that is its table: output y of value x with probability weights[x][y] / 2**64; one word decides."""

    __slots__ = ()
    weights: Rows
    words: ClassVar[int] = 1

    @property
    def k(self) -> int:
        """Number of values."""
        return len(self.weights)

    @property
    def outputs(self) -> int:
        """Number of different reports."""
        return len(self.weights[0])

    @property
    def width(self) -> int:
        """Bytes of a report."""
        return uint_width(self.outputs)

    def randomise(self, x: int, words: Words) -> bytes:
        """See `Kernel.randomise`: the first output whose cumulated weight is above the word."""
        check_value(x, self.k)
        check_seed_words(words)
        word = words.word()
        y = next(y for y, total in enumerate(accumulate(self.weights[x])) if word < total)
        return pack_int(y, self.width)


@dataclass(frozen=True, slots=True)
class Table(Written):
    """A kernel that is its table, and every output of which is possible for every value.

    >>> Table(((3 << 62, 1 << 62), (1 << 62, 3 << 62))).ratio
    Fraction(3, 1)
    """

    weights: Rows
    kind: ClassVar[str] = "table"

    def __post_init__(self) -> None:
        shaped = isinstance(self.weights, tuple) and all(isinstance(row, tuple) for row in self.weights)
        require(shaped, "weights", self.weights, "a tuple of rows, one for each value")
        check_sizes(self.weights)
        for x, row in enumerate(self.weights):
            if set(map(type, row)) != {int} or min(row) < 1:
                hint = "An output that never comes would rule values out."
                require(False, f"weights[{x}]", row, "integers >= 1", hint)
            if sum(row) != WORD:
                require(False, f"weights[{x}]", sum(row), f"integers whose sum is 2**{WORD_BITS}")

    @classmethod
    def calibrate(cls, epsilon: float, matrix: Sequence[Sequence[float]]) -> Table:
        """The integers nearest to a matrix of ideal probabilities, a row for each value, that stay within e^epsilon.

        The least weight of a column is rounded up to a whole number a; all its weights are then kept from a to
        e^epsilon a, so that no rounding can break the promise. What a row's sum is then off by, about one unit for each
        output, is shared out among its outputs by their size and the room that they have within these bounds.
        """
        low = exp_bounds(check_epsilon(epsilon, sampling=True))[0]
        ideal = [[float(p) for p in row] for row in matrix]
        check_sizes(ideal)
        _check_ideal(ideal, low, epsilon)
        exact = [_weights(row) for row in ideal]
        floors = [-(-min(column) // _UNIT) for column in zip(*exact, strict=True)]
        tops = [min(WORD - 1, a * low.numerator // low.denominator) for a in floors]
        return cls(tuple(_fit(row, floors, tops) for row in exact))

    @property
    def ratio(self) -> Fraction:
        """See `Kernel.ratio`: the largest over all outputs of the largest weight by the least."""
        return _largest((max(column), min(column)) for column in zip(*self.weights, strict=True))

    @property
    def mapped_peak(self) -> Fraction:
        """The largest quotient of an output's likelihoods given some value, and on average over all values."""
        return _largest((self.k * max(column), sum(column)) for column in zip(*self.weights, strict=True))


def _largest(quotients: Iterable[tuple[int, int]]) -> Fraction:
    """The largest of some quotients; without a fraction for each, since tables are large."""
    over, under = 0, 1
    for top, bottom in quotients:
        if top * under > over * bottom:
            over, under = top, bottom
    return Fraction(over, under)


def check_sizes(rows: Sequence[Sequence[object]]) -> None:
    """Refuse tables that are too large, have rows of different lengths or fewer than two outputs."""
    check_k(len(rows))
    sizes = {len(row) for row in rows}
    require(len(sizes) == 1, "weights", sorted(sizes), "rows of one length")
    outputs = len(rows[0])
    require(outputs >= 2, "outputs", outputs, "at least 2")
    require(
        len(rows) * outputs <= ENTRIES_MAX,
        "values times outputs",
        len(rows) * outputs,
        f"at most {ENTRIES_MAX} for a table, which every design carries whole",
        "Use fewer points, or a mechanism that needs no table: brr or codebook.",
    )


def _check_ideal(ideal: list[list[float]], low: Fraction, epsilon: float) -> None:
    """Refuse rows that are no distributions, and columns that are further apart than rounding explains."""
    for x, row in enumerate(ideal):
        good = all(0 < p <= 1 for p in row) and abs(math.fsum(row) - 1) < _FLOAT_ERROR
        if not good:
            raise ParameterError(
                f"matrix[{x}] must be probabilities above 0 whose sum is 1, got a sum of {math.fsum(row)!r} "
                f"and values from {min(row)!r} to {max(row)!r}.",
                "An output that some value never gives has no likelihood ratio.",
            )
    worst = max(max(column) / min(column) for column in zip(*ideal, strict=True))
    if worst > float(low) * (1 + _FLOAT_ERROR):
        raise PrivacyError(
            f"this matrix has the level {math.log(worst)!r}, above epsilon {epsilon!r}; no table was made.",
            "Calibrate it: make its rows more alike until the level is at most epsilon.",
        )


def _weights(row: list[float]) -> list[int]:
    """Probabilities as they are, divided by their exact sum, in units of 2**-64 / `_UNIT`."""
    parts = [int(math.ldexp(p, 150)) for p in row]
    total = sum(parts)
    return [max(1, part * WORD * _UNIT // total) for part in parts]


def _fit(row: list[int], floors: list[int], tops: list[int]) -> tuple[int, ...]:
    """A row of fine weights as whole numbers between the columns' bounds whose sum is 2**64."""
    bounds = list(zip(floors, tops, strict=True))
    weights = [min(max((w + _UNIT // 2) // _UNIT, a), b) for w, (a, b) in zip(row, bounds, strict=True)]
    missing = WORD - sum(weights)
    if missing > 0:
        room = [min(b - w, w) for w, (_, b) in zip(weights, bounds, strict=True)]
    else:
        room = [w - a for w, (a, _) in zip(weights, bounds, strict=True)]
    if sum(room) < abs(missing):
        raise PrivacyError("these probabilities need more than 64-bit words to stay within e^epsilon.")
    sign = 1 if missing > 0 else -1
    steps = _share_out(abs(missing), room)
    return tuple(w + sign * step for w, step in zip(weights, steps, strict=True))


def _share_out(amount: int, room: list[int]) -> list[int]:
    """Whole numbers with the sum `amount`, as good as in proportion to `room` and none above it."""
    if not amount:
        return [0] * len(room)
    total = sum(room)
    steps = [space * amount // total for space in room]
    rest = amount - sum(steps)
    for i, space in enumerate(room):
        more = rest > 0 and steps[i] < space
        steps[i] += more
        rest -= more
    return steps
