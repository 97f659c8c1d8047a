"""Every way in which the words of a randomiser can fall: exact channels from the code that makes the reports.

A word is not a number here but a range of numbers. Comparing it with a threshold splits the range, each half with its
exact chance; a uniform number below n is tried at all n values, since `words.below` draws words again that would favour
some (tests/client/test_primitives.py shows that it does). So 64-bit thresholds are enumerated without 2**64 steps, and
nothing is shared with the formulas of the kernels.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any

__all__ = ["channel", "worst"]

_MANY = 256
"""Uniform numbers below more than this are ranges, too: nothing but comparisons is done with them."""

Law = Mapping[bytes, Fraction]


class Ways:
    """Words that fall as the choices say, then in the first way that is possible; other ways are left for later."""

    bits = 64

    def __init__(self, choices: tuple[int, ...], seed: int) -> None:
        self.choices, self.seed, self.at = choices, seed, 0
        self.chance = Fraction(1)
        self.untried: list[tuple[int, ...]] = []

    def word(self) -> Word:
        return Word(self, 0, 1 << 64)

    def choose(self, chances: list[Fraction]) -> int:
        possible = [i for i, chance in enumerate(chances) if chance]
        if self.at == len(self.choices):
            self.untried += [(*self.choices, i) for i in possible[1:]]
            self.choices = (*self.choices, possible[0])
        choice = self.choices[self.at]
        self.at += 1
        self.chance *= chances[choice]
        return choice


class Word(int):
    """A uniform number from `low` to `high` - 1. As a seed, which is not compared with anything, it is a fixed one."""

    ways: Ways
    low: int
    high: int

    def __new__(cls, ways: Ways, low: int, high: int) -> Word:
        made = super().__new__(cls, ways.seed)
        made.ways, made.low, made.high = ways, low, high
        return made

    def __lt__(self, threshold: int) -> bool:
        middle = min(max(int(threshold), self.low), self.high)
        below = Fraction(middle - self.low, self.high - self.low)
        if self.ways.choose([below, 1 - below]) == 0:
            self.high = middle
            return True
        self.low = middle
        return False

    def __ge__(self, threshold: int) -> bool:
        return not self < threshold

    __hash__ = int.__hash__

    def __mul__(self, n: int) -> Any:
        return _Scaled(self.ways, n)


class _Scaled:
    """What `below` makes of a word: never one that is drawn again, then any of the n numbers."""

    def __init__(self, ways: Ways, n: int) -> None:
        self.ways, self.n = ways, n

    def __mod__(self, size: int) -> _Scaled:
        return self

    def __ge__(self, least: int) -> bool:
        return True

    def __rshift__(self, bits: int) -> int:
        if self.n > _MANY:
            return Word(self.ways, 0, self.n)
        return self.ways.choose([Fraction(1, self.n)] * self.n)


def channel(act: Callable[[Any], bytes], seed: int = 0) -> Law:
    """The exact chance of every report that `act` makes of words."""
    law: dict[bytes, Fraction] = defaultdict(Fraction)
    left: list[tuple[int, ...]] = [()]
    while left:
        ways = Ways(left.pop(), seed)
        law[act(ways)] += ways.chance
        left += ways.untried
    assert sum(law.values()) == 1
    return law


def worst(laws: Iterable[Law], among: Callable[[bytes], bool] = lambda report: True) -> Fraction:
    """The largest likelihood ratio between any two laws over all reports, or those among them that are asked for."""
    laws = list(laws)
    found = Fraction(1)
    for report in {report for law in laws for report in law if among(report)}:
        chances = [law.get(report, Fraction(0)) for law in laws]
        assert min(chances) > 0, f"report {report!r} rules an input out"
        found = max(found, max(chances) / min(chances))
    return found
