"""Sets of numbers as ends of half-open ranges, in order and apart from each other: few ends for millions of values."""

from __future__ import annotations

import csv
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

import numpy as np

from deniable.core.domain import Domain
from deniable.errors import ParameterError, meant, require, show

__all__ = ["Ranges", "joined", "members", "others", "ranges_of", "refined", "sensitive_ranges", "size"]

Ranges = tuple[int, ...]


def size(ends: Ranges) -> int:
    """How many numbers there are."""
    return sum(ends[1::2]) - sum(ends[::2])


def members(ends: Ranges) -> Iterator[int]:
    """The numbers, in order."""
    return chain.from_iterable(map(range, ends[::2], ends[1::2]))


def joined(groups: Iterable[Ranges]) -> Ranges:
    """The numbers of all groups together.

    >>> joined([(0, 1, 4, 6), (1, 2)])
    (0, 2, 4, 6)
    """
    found: list[int] = []
    for start, end in sorted(pair for ends in groups for pair in zip(ends[::2], ends[1::2], strict=True)):
        found[-1:] = [end] if found and found[-1] == start else [*found[-1:], start, end]
    return tuple(found)


def others(ends: Ranges, k: int) -> Ranges:
    """The numbers of 0..k-1 that are not among them."""
    between = (0, *ends, k)
    return joined((a, b) for a, b in zip(between[::2], between[1::2], strict=True) if a < b)


def ranges_of(numbers: Iterable[int]) -> Ranges:
    """The ranges of single numbers."""
    return joined((int(x), int(x) + 1) for x in numbers)


def refined(one: tuple[Ranges, ...], two: tuple[Ranges, ...]) -> tuple[tuple[Ranges, ...], list[int], list[int]]:
    """The classes of values that two divisions have in common, and the class of each in both."""
    if one == two:
        return one, list(range(len(one))), list(range(len(two)))
    places = [sorted((at, i) for i, ends in enumerate(classes) for at in ends[::2]) for classes in (one, two)]
    starts = sorted({start for found in places for start, _ in found})
    ends = [*starts[1:], max(end for classes in (one, two) for each in classes for end in each)]
    found: dict[tuple[int, int], list[Ranges]] = {}
    for start, end in zip(starts, ends, strict=True):
        owners = [found[bisect_right(found, (start, len(found))) - 1][1] for found in places]
        found.setdefault((owners[0], owners[1]), []).append((start, end))
    keys = sorted(found, key=lambda key: found[key][0])
    return tuple(joined(found[key]) for key in keys), [i for i, _ in keys], [j for _, j in keys]


def sensitive_ranges(sensitive: object, domain: Domain) -> tuple[int, ...]:
    """The sensitive items as ends of half-open ranges.

    A whole number (also as text) means the first so many items, whatever their labels are; else labels, in a list or
    separated by commas. A label that is a number stands in a list, or in quotation marks.

    >>> sensitive_ranges("b,d", Domain.of(["a", "b", "c", "d"])), sensitive_ranges(2, Domain.of(5))
    ((1, 2, 3, 4), (0, 2))
    """
    if isinstance(sensitive, str) and sensitive.strip().isascii() and sensitive.strip().isdigit():
        sensitive = int(sensitive)
    if isinstance(sensitive, int | np.integer) and not isinstance(sensitive, bool):
        ok = bool(0 <= sensitive <= domain.k)
        require(ok, "sensitive", sensitive, f"a number from 0 to {domain.k}, or labels of the domain")
        return (0, int(sensitive)) if sensitive else ()
    names = next(csv.reader([sensitive]), []) if isinstance(sensitive, str) else sensitive
    listed = isinstance(names, Sequence | set | frozenset | np.ndarray)
    require(listed, "sensitive", sensitive, "a number of items or a list of labels")
    index = {label: i for i, label in enumerate(domain.labels_or_numbers)}
    wanted = [str(name) for name in names]  # type: ignore[attr-defined]
    unknown = [name for name in wanted if name not in index]
    if unknown:
        shown = ", ".join(list(index)[:6]) + (", ..." if domain.k > 6 else "")
        raise ParameterError(
            f"sensitive must be among the {domain.k} labels of the domain ({shown}), got {show(unknown[0])}.",
            f"{meant(unknown[0], index)} Correct it, or add the label to the domain.".lstrip(),
        )
    return ranges_of(index[name] for name in set(wanted))
