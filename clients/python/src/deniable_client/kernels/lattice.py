"""The kernel of tables whose reports are numbers with exactly the right mean: rounding by chance, then a row."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import ClassVar

from deniable_client.errors import ParameterError, require
from deniable_client.exact import WORD, WORD_BITS
from deniable_client.kernels.contract import check_k, check_seed_words, check_value
from deniable_client.kernels.table import ENTRIES_MAX
from deniable_client.packing import pack_int, uint_width
from deniable_client.words import Words, below

__all__ = ["Lattice"]

PLACES_MAX = 1 << 30
"""Most numbers that are told apart: as many as a grid has points."""
VALUE_MAX = 1 << 40
"""Largest number that a report may stand for."""
OWN_MAX = 8
"""Most outputs of a row that have a weight of their own."""

Rows = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Lattice:
    """A number x of 0..k-1 becomes one of the two `places` beside it, by chance, so that it is x on average; the place
    has a row of weights of the outputs, out of 2**64. Rounding and row have a random word each, always both.

    Output j stands for the number values[j], and no row gives it less than least[j] or more than most[j]. A row is
    (first, end, j, weight, j, weight, ...): the outputs from first to end - 1 have their most, the others their least,
    except that the listed ones have a weight of their own. The mean of the values of every row is on one line over the
    places, exactly: that line read backwards makes reports unbiased.

    >>> coin = Lattice(5, (0, 4), (0, 1), (1 << 62,) * 2, (3 << 62,) * 2, ((0, 1), (1, 2)))
    >>> coin.ratio, coin.line
    (Fraction(3, 1), (4611686018427387904, 9223372036854775808))
    """

    k: int
    places: tuple[int, ...]
    values: tuple[int, ...]
    least: tuple[int, ...]
    most: tuple[int, ...]
    rows: Rows
    kind: ClassVar[str] = "lattice"
    words: ClassVar[int] = 2

    def __post_init__(self) -> None:
        check_k(self.k, PLACES_MAX)
        self._check_sizes()
        _check_rising("places", self.places, PLACES_MAX)
        _check_rising("values", self.values, VALUE_MAX)
        require(self.places[-1] == self.k - 1, "places", self.places[-1], f"numbers from 0 to k - 1 = {self.k - 1}")
        for j, (low, high) in enumerate(zip(self.least, self.most, strict=True)):
            hint = "An output that never comes would rule numbers out."
            ok = type(low) is int is type(high) and 0 < low <= high <= WORD
            require(ok, f"least[{j}] and most[{j}]", (low, high), "integers from 1 to 2**64, the lower one first", hint)
        for i, row in enumerate(self.rows):
            self._check_row(i, row)
        self._check_means()

    def _check_sizes(self) -> None:
        """Sizes before any work."""
        lists = (self.places, self.values, self.least, self.most, self.rows)
        require(all(isinstance(part, tuple) for part in lists), "lists", [type(part) for part in lists], "tuples")
        places, outputs = len(self.places), len(self.values)
        require(places >= 2, "places", places, "at least 2 of them")
        require(outputs >= 2, "values", outputs, "at least 2 of them")
        require(places * outputs <= ENTRIES_MAX, "places times values", places * outputs, f"at most {ENTRIES_MAX}")
        for name, part, need in (("least", self.least, outputs), ("most", self.most, outputs)):
            require(len(part) == need, name, len(part), f"one number for each of {need} values")
        require(len(self.rows) == places, "rows", len(self.rows), f"one for each of {places} places")

    def _check_row(self, i: int, row: tuple[int, ...]) -> None:
        """A row is a range of outputs and rising outputs with a weight between their least and their most."""
        shaped = isinstance(row, tuple) and len(row) % 2 == 0 and 2 <= len(row) <= 2 + 2 * OWN_MAX
        require(shaped and set(map(type, row)) == {int}, f"rows[{i}]", row, "a range of outputs, and outputs' weights")
        first, end, own, weights = row[0], row[1], row[2::2], row[3::2]
        fits = 0 <= first <= end <= len(self.values) and all(0 <= j < len(self.values) for j in own)
        require(fits and all(a < b for a, b in pairwise(own)), f"rows[{i}]", row[:2] + own, "rising outputs")
        inside = all(self.least[j] <= weight <= self.most[j] for j, weight in zip(own, weights, strict=True))
        require(inside, f"rows[{i}]", weights, "weights from the least to the most of their outputs")

    def _check_means(self) -> None:
        """`ParameterError` unless every row is a distribution and its mean is on the line through the ends."""
        sums = list(self.sums(1))
        wrong = next((i for i, total in enumerate(sums) if total != WORD), None)
        if wrong is not None:
            raise ParameterError(f"rows[{wrong}] must have weights whose sum is 2**{WORD_BITS}, got {sums[wrong]}.")
        means = list(self.sums(2))
        base, rise, last = means[0], means[-1] - means[0], self.k - 1
        require(rise > 0, "rows", rise, "such that the mean report rises with the number")
        for i, (place, mean) in enumerate(zip(self.places, means, strict=True)):
            if (mean - base) * last != rise * place:
                raise ParameterError(
                    f"rows[{i}] is biased: the mean of its values is {mean} / 2**{WORD_BITS}, "
                    f"where {base + Fraction(rise * place, last)} is needed for reports without bias."
                )

    def sums(self, power: int) -> Iterator[int]:
        """For every row the sum of its weights (1), of weights times values (2) or times squares of values (3)."""
        factors = [value ** (power - 1) for value in self.values]
        low = _cumulated(a * f for a, f in zip(self.least, factors, strict=True))
        extra = _cumulated((b - a) * f for a, b, f in zip(self.least, self.most, factors, strict=True))
        for first, end, *own in self.rows:
            total = low[-1] + extra[end] - extra[first]
            for j, weight in zip(own[::2], own[1::2], strict=True):
                plain = self.most[j] if first <= j < end else self.least[j]
                total += (weight - plain) * factors[j]
            yield total

    @property
    def line(self) -> tuple[int, int]:
        """The mean of the values times 2**64, for the number 0, and how much more it is for k - 1."""
        means = list(self.sums(2))
        return means[0], means[-1] - means[0]

    @property
    def points(self) -> int:
        """Number of places."""
        return len(self.places)

    @property
    def outputs(self) -> int:
        """Number of different reports."""
        return len(self.values)

    @property
    def ratio(self) -> Fraction:
        """See `Kernel.ratio`: the largest weight of an output by its least, in any rows.

        Rounding mixes two rows, which makes no likelihood larger or smaller than both.
        """
        over, under = 1, 1
        for low, high in self.extremes():
            if high * under > over * low:
                over, under = high, low
        return Fraction(over, under)

    def extremes(self) -> list[tuple[int, int]]:
        """The least and the largest weight that each output has in any row."""
        outputs = len(self.values)
        steps, own, apart = [0] * (outputs + 1), [list[int]() for _ in self.values], [0] * outputs
        for first, end, *listed in self.rows:
            steps[first] += 1
            steps[end] -= 1
            for j, weight in zip(listed[::2], listed[1::2], strict=True):
                own[j].append(weight)
                apart[j] += first <= j < end
        found = []
        for j, favoured in enumerate(accumulate(steps[:-1])):
            slighted = len(self.rows) - favoured - (len(own[j]) - apart[j])
            seen = [*own[j], *[self.most[j]] * (favoured > apart[j]), *[self.least[j]] * (slighted > 0)]
            found.append((min(seen), max(seen)))
        return found

    def row(self, i: int) -> list[int]:
        """The weights of a place's outputs."""
        first, end, *own = self.rows[i]
        made = [*self.least[:first], *self.most[first:end], *self.least[end:]]
        for j, weight in zip(own[::2], own[1::2], strict=True):
            made[j] = weight
        return made

    @property
    def width(self) -> int:
        return uint_width(self.outputs)

    def randomise(self, x: int, words: Words) -> bytes:
        """See `Kernel.randomise`: one word for the place, then one for the output, whatever the number is."""
        check_value(x, self.k)
        check_seed_words(words)
        i = min(bisect_right(self.places, x) - 1, len(self.places) - 2)
        start, end = self.places[i], self.places[i + 1]
        i += below(end - start, words) < x - start
        word = words.word()
        y = next(y for y, total in enumerate(accumulate(self.row(i))) if word < total)
        return pack_int(y, self.width)


def _check_rising(name: str, numbers: Sequence[int], most: int) -> None:
    """Refuse what are no rising integers from 0 on."""
    whole = set(map(type, numbers)) == {int} and numbers[0] == 0 and numbers[-1] < most
    ok = whole and all(a < b for a, b in pairwise(numbers))
    require(ok, name, numbers, f"rising integers from 0 on, below {most}")


def _cumulated(numbers: Iterator[int]) -> list[int]:
    """Sums of the first numbers: of none, of one, and so on."""
    return list(accumulate(numbers, initial=0))
