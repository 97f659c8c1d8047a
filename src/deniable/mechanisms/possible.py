"""Which counts are possible: what one report can add to the cells of a tally, and the refusal of all else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from deniable.collect.limits import REPORTS
from deniable.collect.tally import exact_sum
from deniable.core.types import IntArray
from deniable.errors import FormatError

__all__ = ["LABELS", "NUMBERED", "Cell", "Cells", "Entries", "check_reports_of", "loosened", "nothing"]

Cells = Mapping[str, IntArray]
"""The cells of a tally, by stratum."""


@dataclass(frozen=True, slots=True, eq=False)
class Entries:
    """What the entries of a cell are about: answers, all of them or those of some numbers, or numbered reports."""

    what: str
    """One of them, for people."""
    items: Sequence[int] | None = None
    """The numbers of the answers, where the entries are not about all of them, in their order."""
    answers: bool = True

    def names(self, labels: Sequence[str], size: int) -> Sequence[str]:
        """The names of so many entries, by the labels of all answers."""
        if not self.answers:
            return tuple(map(str, range(size)))
        return labels if self.items is None else tuple(labels[i] for i in self.items)

    def among(self, what: str, items: Sequence[int]) -> Entries:
        """The same where the answers are only those of these numbers among others."""
        if not self.answers:
            return self
        return Entries(what, items if self.items is None else [items[i] for i in self.items])


LABELS = Entries("label")
NUMBERED = Entries("report", answers=False)


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a tally: its entries in each stratum, and what one report adds to each of them and to their sum.

    >>> import numpy as np
    >>> Cell(3, total=(1, 1)).check("support", np.array([2, 1, 0]), 3)
    >>> Cell(3, total=(1, 1)).check("support", np.array([2, 2, 0]), 3)
    Traceback (most recent call last):
        ...
    deniable_client.errors.FormatError: no 3 reports give these counts: 'support' sums to 4, possible is 3. ...
    """

    size: int
    each: tuple[int, int] = (0, 1)
    total: tuple[int, int] | None = None
    """None: whatever the entries can add up to."""
    about: Entries = LABELS

    def check(self, name: str, entries: IntArray, n: int) -> None:
        """`FormatError` for entries that n reports cannot have added up to."""
        low, high = (n * ends for ends in self.each)
        odd = entries[(entries < low) | (entries > high)]
        if odd.size:
            raise _impossible(n, f"{name!r} has the entry {int(odd[0])}", low, high)
        if self.total is not None:
            found, (low, high) = exact_sum(entries), (n * ends for ends in self.total)
            if not low <= found <= high:
                raise _impossible(n, f"{name!r} sums to {found}", low, high)


def loosened(cell: Cell) -> Cell:
    """The same cell where only some of the reports add to it."""
    (low, high), total = cell.each, cell.total
    return replace(cell, each=(min(0, low), high), total=None if total is None else (min(0, total[0]), total[1]))


def nothing(size: int) -> Cell:
    """A cell that reports of a stratum leave as it is."""
    return Cell(size, (0, 0))


def check_reports_of(n: IntArray) -> None:
    """`FormatError` for numbers of reports that nobody can have counted."""
    if bool((n < 0).any()) or exact_sum(n) > REPORTS:
        shown = np.array2string(n, threshold=8, separator=", ")
        raise FormatError(f"a tally has from 0 to {REPORTS:,} reports, got n = {shown}.", _HINT)


def _impossible(n: int, what: str, low: int, high: int) -> FormatError:
    possible = f"{low}" if low == high else f"from {low} to {high}"
    return FormatError(f"no {n} reports give these counts: {what}, possible is {possible}.", _HINT)


_HINT = "The tally was forged or damaged; count the reports again."
