"""One public choice of a part: a coin that looks at no answer says which of several kernels is used.

A report begins with the number of its part, so that nothing is told about any other part, and the ratio of the whole is
that of the worst part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar

from deniable_client.errors import ParameterError, require, show
from deniable_client.exact import WORD, WORD_BITS
from deniable_client.kernels.contract import AnyKernel, Disclosing, check_value, check_whole, promised_ratio
from deniable_client.words import Words, by_shares

__all__ = ["PARTS_MAX", "Deal", "Dealt"]

PARTS_MAX = 255
"""Parts of a deal: their number is one byte of a report."""
_LISTED = 1 << 16
"""Records that are gone through one by one, at most: a design from outside may have any number of them."""


class Deal:
    """What all deals have: a report is the number of a part, that part's report, and zeros up to the longest one."""

    __slots__ = ()
    if TYPE_CHECKING:  # a data class would take them for the defaults of its fields

        @property
        def parts(self) -> tuple[AnyKernel, ...]:
            """The kernels one of which is used."""

        @property
        def shares(self) -> tuple[int, ...]:
            """How often each part is used: whole numbers, in proportion."""

    @property
    def width(self) -> int:
        """See `Kernel.width`: the longest part's, after the number of the part."""
        return 1 + max(part.width for part in self.parts)

    @property
    def words(self) -> int:
        """See `Kernel.words`: the most of any part, after the deal."""
        return 1 + max(part.words for part in self.parts)

    def deal(self, words: Words) -> int:
        """The number of a part, drawn by the shares."""
        return by_shares(self.shares, words)

    def frame(self, part: int, report: bytes) -> bytes:
        """A report of one of the parts as a report of the whole."""
        check_whole("part", part, 0, len(self.parts) - 1)
        require(len(report) == self.parts[part].width, "report", len(report), f"{self.parts[part].width} bytes")
        return (bytes([part]) + report).ljust(self.width, b"\0")


@dataclass(frozen=True, slots=True)
class Dealt(Deal, Disclosing):
    """One of the parts with probability share/sum of shares; the input is a record, with an input for each part.

    The number of a record counts the inputs of the last part fastest. What a part discloses is disclosed, so this is a
    `Disclosing` kernel whatever the parts are: its values, records, are not those of any part.
    """

    parts: tuple[AnyKernel, ...]
    shares: tuple[int, ...]
    kind: ClassVar[str] = "dealt"

    def __post_init__(self) -> None:
        check_whole("number of parts", len(self.parts), 2, PARTS_MAX)
        nested = [part for part in self.parts if isinstance(part, Dealt)]
        require(not nested, "parts", len(nested), "kernels that are not dealt themselves", "Deal all parts at once.")
        require(len(self.shares) == len(self.parts), "shares", self.shares, f"one for each of {len(self.parts)} parts")
        for share in self.shares:
            check_whole("share", share, 1, WORD)
        total = sum(self.shares)
        require(total <= WORD, "sum of shares", total, f"at most 2**{WORD_BITS}")

    @property
    def k(self) -> int:
        """Number of records; of kernels for pairs, those that they number."""
        return prod(part.k for part in self.parts)

    @property
    def hidden_ratio(self) -> Fraction:
        """See `Disclosing.hidden_ratio`: the deal is public and looks at no value, so the worst part's."""
        return max(promised_ratio(part) for part in self.parts)

    @property
    def protected(self) -> tuple[int, ...]:
        """See `Disclosing.protected`: records all of whose answers are protected; refused where they are too many."""
        ranges = [(0, 1)]
        for part in self.parts:
            own = _told(part)[0]
            if own == (0, part.k):
                ranges = [(start * part.k, end * part.k) for start, end in ranges]
            else:
                count = sum(end - start for start, end in ranges)
                hint = "Ask the parts what they protect."
                require(count <= _LISTED, "records of the first parts", count, f"at most {_LISTED} to be listed", hint)
                places = [place for start, end in ranges for place in range(start, end)]
                spans = list(zip(own[::2], own[1::2], strict=True))
                ranges = [(place * part.k + start, place * part.k + end) for place in places for start, end in spans]
        return tuple(end for span in _joined(ranges) for end in span)

    @property
    def disclosed(self) -> Fraction:
        """See `Disclosing.disclosed`: of a record with nothing but such answers."""
        told = (share * _told(part)[1] for share, part in zip(self.shares, self.parts, strict=True))
        return sum(told, Fraction(0)) / sum(self.shares)

    def record(self, x: int) -> tuple[int, ...]:
        """The inputs of a record by its number."""
        check_value(x, self.k)
        found: list[int] = []
        for part in reversed(self.parts):
            x, own = divmod(x, part.k)
            found.insert(0, own)
        return tuple(found)

    def randomise(self, x: int | Sequence[Any], words: Words) -> bytes:
        """A report for a record, or for the number of one."""
        record = self.record(x) if isinstance(x, int) else x
        if not isinstance(record, list | tuple) or len(record) != len(self.parts):
            raise ParameterError(f"value must be a list of {len(self.parts)} inputs, one for each part, got {show(x)}.")
        part = self.deal(words)
        return self.frame(part, self.parts[part].randomise(record[part], words))


def _told(part: AnyKernel) -> tuple[tuple[int, ...], Fraction]:
    """The values of a part that no report gives away, and the chance that a report gives away another one."""
    return (part.protected, part.disclosed) if isinstance(part, Disclosing) else ((0, part.k), Fraction(0))


def _joined(ranges: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Ranges in order, those that touch as one."""
    found: list[tuple[int, int]] = []
    for start, end in ranges:
        if found and found[-1][1] == start:
            found[-1] = found[-1][0], end
        else:
            found.append((start, end))
    return found
