"""Sensitive values with budgets of their own: independent bits whose noise depends on the value that they stand for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from typing import ClassVar

from deniable_client.errors import PrivacyError, require
from deniable_client.exact import WORD_BITS, check_epsilon, exp_bounds, flip_threshold
from deniable_client.kernels.contract import Disclosing, check_k, check_threshold, check_value
from deniable_client.kernels.utility import check_ranges, most_disclosure, place
from deniable_client.packing import bits_width, pack_bits, pack_int, uint_width
from deniable_client.words import Words, happens

__all__ = ["UtilityBudgets", "check_budgets"]

_WORD = 1 << WORD_BITS


@dataclass(frozen=True, slots=True)
class UtilityBudgets(Disclosing):
    """One bit for each value in the half-open ranges `sensitive` = (start, end, start, end, ...).

    Bits are independent: 1 with probability keep/2**64 for the own value, and flips[i]/2**64 for the i-th sensitive
    value if it is another one. Any other value is disclosed alone with probability plain/2**64, else all bits are those
    of other values.

    The first field of a report is 0 (nothing disclosed) or 1 + j (the j-th harmless value); the bits follow, zero if
    something is disclosed.
    """

    k: int
    sensitive: tuple[int, ...]
    keep: int
    flips: tuple[int, ...]
    plain: int
    kind: ClassVar[str] = "utility-levels"

    def __post_init__(self) -> None:
        check_k(self.k)
        check_ranges(self.sensitive, self.k)
        s = sum(self.sensitive[1::2]) - sum(self.sensitive[::2])
        fits = isinstance(self.flips, tuple) and len(self.flips) == s >= 1
        require(fits, "flips", self.flips, f"one threshold for each of the {s} sensitive values, at least one")
        check_threshold("keep", self.keep)
        for flip in self.flips:
            check_threshold("flips", flip)
            require(flip < self.keep, "flips", flip, "less than keep")
        ok = isinstance(self.plain, int) and 0 <= self.plain < _WORD
        require(ok, "plain", self.plain, f"from 0 to 2**{WORD_BITS} - 1")

    @classmethod
    def calibrate(cls, epsilons: Sequence[float], k: int, sensitive: tuple[int, ...], flip: int) -> UtilityBudgets:
        """Own bits 1 with probability 1/2; the least flips within all budgets, and the most disclosure.

        `flip` is for the values of the smallest budget (at least what that budget needs is taken): the noisier their
        bits are, the less noise the bits of the others need.
        """
        keep = _WORD // 2
        found: dict[float, int] = {}
        for epsilon in sorted(set(epsilons)):
            own = flip_threshold(epsilon, keep)
            needs = [_least(_WORD - found[e], exp_bounds(e)[0]) for e in found]
            found[epsilon] = max(own, *needs) if needs else max(own, flip)
        flips = tuple(found[epsilon] for epsilon in epsilons)
        plain = min(most_disclosure(epsilon, Fraction(keep, found[epsilon])) for epsilon in found)
        return cls(k, sensitive, keep, flips, plain)

    @property
    def s(self) -> int:
        """Number of sensitive values."""
        return len(self.flips)

    @property
    def protected(self) -> tuple[int, ...]:
        return self.sensitive

    @property
    def disclosed(self) -> Fraction:
        return Fraction(self.plain, _WORD)

    @property
    def hidden_ratio(self) -> Fraction:
        """See `Disclosing.hidden_ratio`: whatever the budgets are."""
        return max(self.item_ratios([0.0] * self.s))

    def item_ratios(self, epsilons: Sequence[float]) -> tuple[Fraction, ...]:
        """For each sensitive value the largest ratio against harmless values and those with no smaller a budget.

        All pairs keep the smaller of their two budgets if and only if each of these is within its own value's budget.
        A report's likelihood, relative to other values' bits only, is p/q or (1-p)/(1-q) by the own bit, and the chance
        that nothing is disclosed for harmless values; bits are independent, so any two of them meet in some report.
        Both quotients are farthest from 1 for the least q, so of the other values that one alone counts.
        """
        require(len(epsilons) == self.s, "epsilons", len(epsilons), f"one for each of {self.s} sensitive values")
        order = sorted(range(self.s), key=lambda i: -epsilons[i])
        found, least = [Fraction(1)] * self.s, [_WORD, _WORD]  # the two least flips so far, by falling budget
        for _, group in groupby(order, key=lambda i: epsilons[i]):
            alike = list(group)
            least = sorted([*least, *(self.flips[i] for i in alike)])[:2]
            for i in alike:
                found[i] = self._farthest(self.flips[i], least[self.flips[i] == least[0]])
        return tuple(found)

    def _farthest(self, flip: int, other: int) -> Fraction:
        """Largest ratio of a sensitive value's bit against harmless values, and against one with another's flip."""
        kept = Fraction(_WORD - self.plain, _WORD)
        others = [(kept, kept)] if self.s < self.k else []
        others += [self._ends(other)] if other < _WORD else []
        high, low = self._ends(flip)
        return max((max(high / under, over / low) for over, under in others), default=Fraction(1))

    def _ends(self, flip: int) -> tuple[Fraction, Fraction]:
        return Fraction(self.keep, flip), Fraction(_WORD - self.keep, _WORD - flip)

    @property
    def head(self) -> int:
        """Bytes of the first field."""
        return uint_width(1 + self.k - self.s)

    @property
    def width(self) -> int:
        return self.head + bits_width(self.s)

    def randomise(self, x: int, words: Words) -> bytes:
        check_value(x, self.k)
        sensitive, rank = place(self.sensitive, x)
        if not sensitive and happens(self.plain, words):
            return pack_int(1 + rank, self.head) + bytes(self.width - self.head)
        own = rank if sensitive else -1
        ones = [i for i, flip in enumerate(self.flips) if happens(self.keep if i == own else flip, words)]
        return pack_int(0, self.head) + pack_bits(ones, self.s)


def _least(mass: int, limit: Fraction) -> int:
    """Least whole number that is at least mass/limit."""
    top, bottom = limit.as_integer_ratio()
    return -(-mass * bottom // top)


def check_budgets(kernel: UtilityBudgets, epsilons: Sequence[float]) -> None:
    """`PrivacyError` unless every pair of values is within the smaller of its budgets; harmless values have none."""
    for i, (epsilon, ratio) in enumerate(zip(epsilons, kernel.item_ratios(epsilons), strict=True)):
        low = exp_bounds(check_epsilon(epsilon, sampling=True))[0]
        if ratio > low:
            raise PrivacyError(
                f"sensitive value number {i} is promised epsilon {epsilon!r} but has likelihood ratio "
                f"{float(ratio)!r}, above e^epsilon = {float(low)!r}; no report was made.",
                "Do not take part; tell whoever runs the task.",
            )
