"""Answers to several questions in one report: a random box, one set of answers for each question."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate
from math import comb, prod
from typing import ClassVar

from deniable_client.errors import require
from deniable_client.exact import keep_threshold
from deniable_client.kernels.contract import Base, check_k, check_threshold, check_value, check_whole, favoured
from deniable_client.packing import bits_width, pack_bits
from deniable_client.words import Words, below, happens, subset

__all__ = ["QUESTIONS_MAX", "Box"]

QUESTIONS_MAX = 32
"""Questions that are asked together: yes/no questions have as many sets of answers as items may be."""


@dataclass(frozen=True, slots=True)
class Box(Base):
    """One set of `shape[j]` answers for each question j; all of them hold the own answers with chance keep/2**64.

    A value is the number of a person's answers to all questions, those to the last one counting fastest. Each of the
    boxes that hold them is as likely as any other, and so is each of those that do not. A report has a bit for each
    answer to each question, in their order.
    """

    sizes: tuple[int, ...]
    shape: tuple[int, ...]
    keep: int
    kind: ClassVar[str] = "box"

    def __post_init__(self) -> None:
        _check(self.sizes, self.shape)
        check_threshold("keep", self.keep)

    @classmethod
    def calibrate(cls, epsilon: float, sizes: Iterable[int], shape: Iterable[int]) -> Box:
        """The most accurate integers within e^epsilon."""
        sizes, shape = tuple(sizes), tuple(shape)
        _check(sizes, shape)
        own = prod(shape)
        return cls(sizes, shape, keep_threshold(epsilon, own, prod(sizes) - own))

    @property
    def k(self) -> int:  # type: ignore[override]  # it follows from the sizes
        """Number of sets of answers, one to each question."""
        return prod(self.sizes)

    @property
    def reports(self) -> tuple[int, int]:
        """See `Base.reports`: boxes that hold given answers to all questions, and those that do not."""
        both = list(zip(self.sizes, self.shape, strict=True))
        own = prod(comb(k - 1, s - 1) for k, s in both)
        return own, prod(comb(k, s) for k, s in both) - own

    @property
    def levels(self) -> tuple[int, int]:
        own = prod(self.shape)
        return own, self.k - own

    @property
    def least(self) -> int:
        return favoured(self)

    @property
    def favours(self) -> int:
        return prod(self.shape)

    @property
    def starts(self) -> tuple[int, ...]:
        """The bit of the first answer to each question."""
        return tuple(accumulate(self.sizes, initial=0))[:-1]

    @property
    def width(self) -> int:
        return bits_width(sum(self.sizes))

    @property
    def words(self) -> int:
        """See `Kernel.words`: the same number whatever the answers are and whatever happens to them."""
        return 2 + sum(self.shape)

    def answers_of(self, x: int) -> tuple[int, ...]:
        """The answer to each question, of somebody with this value."""
        check_value(x, self.k)
        found: list[int] = []
        for size in reversed(self.sizes):
            x, own = divmod(x, size)
            found.insert(0, own)
        return tuple(found)

    def first_miss(self, drawn: int) -> int:
        """The first question whose set does not hold the own answer, from a uniform number below `levels[1]`.

        Of boxes that do not hold all own answers, that is question j for so many of prod(sizes) - prod(shape):
        prod(shape[:j]) (sizes[j] - shape[j]) prod(sizes[j+1:]). It depends on no answer.
        """
        missing = 0
        for j, (k, s) in enumerate(zip(self.sizes, self.shape, strict=True)):
            missing += prod(self.shape[:j]) * (k - s) * prod(self.sizes[j + 1 :])
            if drawn < missing:
                return j
        raise AssertionError(f"{drawn} is not below {missing}")

    def randomise(self, x: int, words: Words) -> bytes:
        answers = self.answers_of(x)
        kept = happens(self.keep, words)
        miss = self.first_miss(below(self.levels[1], words))
        chosen: set[int] = set()
        for j, (own, start) in enumerate(zip(answers, self.starts, strict=True)):
            holds = True if kept or j < miss else None if j > miss else False
            chosen |= {start + i for i in _one_set(own, self.sizes[j], self.shape[j], holds, words)}
        return pack_bits(chosen, sum(self.sizes))

    def blind(self, words: Words) -> bytes:
        chosen: set[int] = set()
        for k, s, start in zip(self.sizes, self.shape, self.starts, strict=True):
            chosen |= {start + i for i in subset(k, s, words)}
        return pack_bits(chosen, sum(self.sizes))


def _one_set(own: int, k: int, size: int, holds: bool | None, words: Words) -> set[int]:
    """A uniform set of `size` out of k answers that holds the own one, or does not, or may; always `size` words."""
    if holds is None:
        return subset(k, size, words)
    others = subset(k - 1, size - holds, words)
    if holds:
        words.word()  # so that nobody who counts words learns whether the own answer is there
    return {i + (i >= own) for i in others} | ({own} if holds else set())


def _check(sizes: tuple[int, ...], shape: tuple[int, ...]) -> None:
    check_whole("number of questions", len(sizes), 1, QUESTIONS_MAX)
    require(len(shape) == len(sizes), "shape", shape, f"a number for each of {len(sizes)} questions")
    for k, s in zip(sizes, shape, strict=True):
        check_k(k)
        check_whole("shape", s, 1, k - 1, "A set has at least one answer, and not all of them.")
    check_k(prod(sizes))
