"""Sets of answers in one report: a random box, with a set for each question; or one that meets what is ticked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import comb, prod
from typing import ClassVar

from deniable_client.errors import require
from deniable_client.exact import WORD, WORD_BITS
from deniable_client.hashing import ITEMS_MAX
from deniable_client.kernels.contract import Base, check_k, check_threshold, check_value, check_whole, favoured
from deniable_client.packing import bits_width, pack_bits
from deniable_client.words import Words, below, happens, subset

__all__ = ["OPTIONS_MAX", "QUESTIONS_MAX", "Box", "Several", "number_of", "set_of", "sets_up_to", "ways"]

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

    least = property(favoured)

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


# ---- what is ticked of a list of options

OPTIONS_MAX = 64
"""Options of a list: of more, the best size would have more sets of outputs than one random word tells apart."""


def sets_up_to(options: int, most: int) -> int:
    """How many sets of at most so many options there are, the empty one included.

    >>> sets_up_to(4, 2)
    11
    """
    return sum(comb(options, size) for size in range(most + 1))


def number_of(chosen: Iterable[int], options: int) -> int:
    """The number of a set of options: smaller sets come first, and of one size those whose largest option is less.

    >>> [number_of(own, 3) for own in ((), (0,), (2,), (0, 1), (0, 2), (1, 2))]
    [0, 1, 3, 4, 5, 6]
    """
    own = sorted(chosen)
    return sets_up_to(options, len(own) - 1) + sum(comb(option, i) for i, option in enumerate(own, start=1))


def set_of(number: int, options: int) -> list[int]:
    """The inverse of `number_of`, in falling order."""
    size = 0
    while number >= comb(options, size):
        number -= comb(options, size)
        size += 1
    found: list[int] = []
    option = options
    for i in range(size, 0, -1):
        option -= 1
        while comb(option, i) > number:
            option -= 1
        number -= comb(option, i)
        found.append(option)
    return found


def ways(outputs: int, marks: int, size: int) -> Sequence[int]:
    """How many sets of `size` outputs hold so many (0, 1, ..) of `marks` given ones."""
    return [comb(marks, held) * comb(outputs - marks, size - held) for held in range(min(marks, size) + 1)]


@dataclass(frozen=True, slots=True)
class Several(Base):
    """A set of `size` outputs that holds at least one of the `marks` own ones with probability keep/2**64.

    Each of `options` has an output; the others make the own ones of everybody as many. Where there are `ticks` marks,
    they are dummies that fill up what somebody ticks, at most so many options. Where there are as many as options, they
    say that an option is not ticked. All sets that hold an own output are equally likely, and so are all others. A
    value is the number of a set of options (`number_of`); a report has a bit for each output.
    """

    options: int
    ticks: int
    marks: int
    size: int
    keep: int
    kind: ClassVar[str] = "several"

    def __post_init__(self) -> None:
        _check_ticks(self.options, self.ticks, self.marks, self.size)
        check_threshold("keep", self.keep)

    @property
    def k(self) -> int:  # type: ignore[override]  # it follows from the options
        """Number of sets of options that somebody may tick."""
        return sets_up_to(self.options, self.ticks)

    @property
    def outputs(self) -> int:
        """Options, and what makes the own outputs of everybody as many."""
        return self.options + self.marks

    @property
    def reports(self) -> tuple[int, int]:
        """See `Base.reports`: sets that hold an own output, and those that hold none."""
        miss, *hits = ways(self.outputs, self.marks, self.size)
        return sum(hits), miss

    @property
    def width(self) -> int:
        return bits_width(self.outputs)

    @property
    def words(self) -> int:
        """See `Kernel.words`: the same number whatever is ticked and whatever happens to it."""
        return 2 + self.size

    def own_of(self, x: int) -> list[int]:
        """The own outputs of somebody with this value, in rising order."""
        check_value(x, self.k)
        ticked = sorted(set_of(x, self.options))
        if self.marks == self.options:
            return ticked + [self.options + i for i in range(self.options) if i not in ticked]
        return ticked + [self.options + i for i in range(self.marks - len(ticked))]

    def randomise(self, x: int, words: Words) -> bytes:
        own = self.own_of(x)
        kept = happens(self.keep, words)
        _, *hits = ways(self.outputs, self.marks, self.size)
        drawn, held = below(sum(hits), words), 1
        while drawn >= hits[held - 1]:
            drawn -= hits[held - 1]
            held += 1
        held = held if kept else 0
        others = [y for y in range(self.outputs) if y not in own]
        chosen = {own[i] for i in subset(self.marks, held, words)}
        chosen |= {others[i] for i in subset(len(others), self.size - held, words)}
        return pack_bits(chosen, self.outputs)

    def blind(self, words: Words) -> bytes:
        return pack_bits(subset(self.outputs, self.size, words), self.outputs)


def _check_ticks(options: int, ticks: int, marks: int, size: int) -> None:
    check_whole("options", options, 2, OPTIONS_MAX)
    check_whole("ticks", ticks, 1, options)
    few = sets_up_to(options, ticks)
    require(few <= ITEMS_MAX, "ticks", ticks, f"such that there are at most {ITEMS_MAX} sets of so many options")
    require(marks in (ticks, options), "marks", marks, f"{ticks}, as many as may be ticked, or all {options} options")
    check_whole("size", size, 1, 1 if marks == options else options)
    total = sum(ways(options + marks, marks, size))
    require(total <= WORD, "size", size, f"such that there are at most 2**{WORD_BITS} sets of so many outputs")
