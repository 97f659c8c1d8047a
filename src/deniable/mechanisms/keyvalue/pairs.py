"""Key-value pairs of many people, checked and brought to integers: keys to numbers, values to steps of their range."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any

import numpy as np

from deniable.core.domain import Domain
from deniable.core.grid import check_interval, numbers_of
from deniable.core.types import IntArray
from deniable.core.values import cells_of, columns_of, is_missing
from deniable.errors import InWords, ParameterError, require, show
from deniable_client.kernels.keyvalue import GRID

__all__ = ["PairSets", "check_range", "group_pairs", "number_people", "steps_of"]

_COLUMNS = ("user", "key", "value")


def check_range(given: object) -> tuple[float, float]:
    """A value range (low, high), from two numbers or a text such as "1,5"."""
    low, high = check_interval(given, "range", "Ratings from 1 to 5 are range=(1, 5).")
    return low, high


@dataclass(frozen=True, slots=True, eq=False)
class PairSets:
    """Person i has the pairs offsets[i] to offsets[i+1]; keys are 0..k-1, values 0..GRID steps of their range."""

    offsets: IntArray
    keys: IntArray
    values: IntArray

    def __len__(self) -> int:
        return self.offsets.size - 1

    @property
    def sizes(self) -> IntArray:
        """How many pairs each person has."""
        return np.diff(self.offsets)

    @classmethod
    def of(
        cls,
        given: object,
        domain: Domain,
        ends: tuple[float, float],
        *,
        duplicates: str = "refuse",
        columns: Sequence[str] | None = None,
    ) -> PairSets:
        """From a tuple (offsets, keys, values), a frame with user, key and value, or (user, key, value) rows.

        `columns` are the names of user, key and value in a frame.

        A second value of one person for one key is refused, or left out with duplicates="first". People without any
        pair are told by offsets, or by a row of their own without key and value.
        """
        require(duplicates in ("refuse", "first"), "duplicates", duplicates, "'refuse' or 'first'")
        if isinstance(given, PairSets):
            return given
        offsets, keys, values, order = _columns(given, columns)
        codes = domain.encode(keys) if len(keys) else np.zeros(0, np.int64)
        return cls(offsets, codes[order], steps_of(values, ends)[order])._unique(duplicates, domain)

    @classmethod
    def signed(cls, items: IntArray, k: int) -> PairSets:
        """People with one pair each, by signed key: its value is the top of the range, or, from k on, the bottom.

        2k stands for a person without any pair.
        """
        minus, keys = np.divmod(items, k)
        held = minus < 2
        return cls(np.r_[0, np.cumsum(held)].astype(np.int64), keys[held], GRID * (1 - minus[held]))

    def _unique(self, duplicates: str, domain: Domain) -> PairSets:
        people = np.repeat(np.arange(len(self)), self.sizes)
        marks = people * domain.k + self.keys
        _, first = np.unique(marks, return_index=True)
        if first.size == marks.size:
            return self
        if duplicates == "refuse":
            twice = np.setdiff1d(np.arange(marks.size), first)
            label = domain.labels_or_numbers[int(self.keys[twice[0]])]
            raise ParameterError(
                f"pairs of one person must have different keys, but person {people[twice[0]]} has the key "
                f"{show(label)} twice ({twice.size} such pairs).",
                'Keep one of them yourself, or say duplicates="first".',
            )
        kept = np.sort(first)
        sizes = np.bincount(people[kept], minlength=len(self))
        return PairSets(np.r_[0, np.cumsum(sizes)], self.keys[kept], self.values[kept])

    def take(self, people: IntArray) -> PairSets:
        """The pairs of some people, in the given order."""
        sizes = self.sizes[people]
        offsets = np.r_[0, np.cumsum(sizes)]
        at = np.repeat(self.offsets[people] - offsets[:-1], sizes) + np.arange(offsets[-1])
        return PairSets(offsets, self.keys[at], self.values[at])

    def only(self, places: IntArray) -> PairSets:
        """Pairs with the keys whose place is not -1, under these as their new numbers."""
        new = places[self.keys]
        people = np.repeat(np.arange(len(self)), self.sizes)[new >= 0]
        sizes = np.bincount(people, minlength=len(self))
        return PairSets(np.r_[0, np.cumsum(sizes)], new[new >= 0], self.values[new >= 0])

    def truth(self, k: int) -> tuple[Any, Any]:
        """Frequencies of the keys, and means of their values from -1 to 1 (0 for keys that nobody has)."""
        counts = np.bincount(self.keys, minlength=k)
        sums = np.bincount(self.keys, self.values * (2 / GRID) - 1, minlength=k)
        return counts / len(self), sums / np.maximum(counts, 1)


def _columns(given: object, names: Sequence[str] | None) -> tuple[IntArray, Any, Any, Any]:
    """Offsets, and keys and values as they were given with the order that the offsets are for."""
    three = names is None or (not isinstance(names, str) and len(names) == 3)
    require(three, "column", names, "three names: of user, key and value")
    found = columns_of(given, names or _COLUMNS)
    require(names is None or found is not None, "column", names, f"left out for {type(given).__name__}")
    if isinstance(given, tuple) and len(given) == 3 and not isinstance(given[0], tuple | str):
        return *_checked(*given), slice(None)
    if found is not None:
        users, keys, values = _checked_columns(*found)
    else:
        rows = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else [given]
        require(len(rows) > 0, "pairs", InWords("none"), "at least one pair", "Empty data have no estimate.")
        odd = [row for row in rows if not isinstance(row, Sequence) or isinstance(row, str) or len(row) != 3]
        if odd:
            raise ParameterError(
                f"pairs must be (offsets, keys, values), a frame with {', '.join(_COLUMNS)}, or rows of these three; "
                f"got {show(odd[0])} for a row.",
                "For example [('ann', 'shoes', 4.5), ('ann', 'hats', 2), ('bob', 'shoes', 5)].",
            )
        users, keys, values = (list(column) for column in zip(*rows, strict=True))
    people = number_people(users, lambda i: f"at position {i}")
    held = np.array([not (is_missing(k) and is_missing(v)) for k, v in zip(keys, values, strict=True)], np.bool_)
    offsets, order = group_pairs(people, held, lambda i: f"at position {i}")
    rank = np.cumsum(held) - 1  # rows without a pair are left out
    return offsets, list(compress(keys, held)), list(compress(values, held)), rank[order]


def number_people(users: Sequence[Any], place: Callable[[int], str]) -> IntArray:
    """People by number, in the order of their first rows; `place` says in words where a row stands."""
    numbers: dict[Any, int] = {}
    people = np.fromiter((numbers.setdefault(user, len(numbers)) for user in users), np.int64, len(users))
    nobody = [number for user, number in numbers.items() if is_missing(user)]
    if nobody:
        at = int(np.flatnonzero(np.isin(people, nobody))[0])
        raise ParameterError(f"the user {place(at)} is missing.", "Pairs of one person have the same user.")
    return people


def group_pairs(people: IntArray, held: Any, place: Callable[[int], str]) -> tuple[IntArray, IntArray]:
    """Offsets, and the rows with a pair in the order of their people.

    A row whose `held` is false stands for a person without any pair; such a person has no other row.
    """
    counts = np.bincount(people)
    contrary = np.flatnonzero(~held & (counts[people] > 1))
    if contrary.size:
        raise ParameterError(
            f"the row {place(int(contrary[0]))} has neither key nor value, which stands for a person without any pair, "
            "but the same user has other rows.",
            "Leave one of them out.",
        )
    at = np.flatnonzero(held)
    order = at[np.argsort(people[at], kind="stable")]
    sizes = np.bincount(people[at], minlength=counts.size)
    return np.r_[0, np.cumsum(sizes)].astype(np.int64), order


def _checked_columns(*columns: list[Any]) -> Any:
    """Three columns of a frame that go together."""
    sizes = [len(column) for column in columns]
    require(len(set(sizes)) == 1, "columns", sizes, "of one length")
    require(sizes[0] > 0, "pairs", InWords("none"), "at least one pair", "Empty data have no estimate.")
    return columns


def _checked(offsets: Any, keys: Any, values: Any) -> tuple[IntArray, Any, Any]:
    ends = np.asarray(offsets)
    rising = ends.ndim == 1 and ends.size >= 2 and np.issubdtype(ends.dtype, np.integer)
    ok = rising and ends[0] == 0 and ends[-1] == len(keys) == len(values) and bool((np.diff(ends) >= 0).all())
    hint = "Person i has the pairs offsets[i] to offsets[i+1]."
    require(ok, "offsets", offsets, f"whole numbers that rise from 0 to the number of pairs, {len(keys)}", hint)
    return ends.astype(np.int64), keys, values


def steps_of(values: Any, ends: tuple[float, float]) -> IntArray:
    """Values as steps of 1/GRID of their range, each to the nearest; what is outside of it is refused."""
    low, high = ends
    try:
        numbers = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        numbers = numbers_of(cells_of(values))  # says which of them is none
    require(numbers.ndim == 1, "values", InWords(f"an array of shape {numbers.shape}"), "one-dimensional")
    bad = np.flatnonzero(~((numbers >= low) & (numbers <= high)))
    if bad.size:
        raise ParameterError(
            f"values must be numbers from {low:g} to {high:g}, got {numbers[bad[0]]:g} at position {bad[0]} "
            f"({bad.size} of {numbers.size} are outside or missing).",
            "Nothing was clipped; correct them, leave them out, or declare another range.",
        )
    return np.rint((numbers - low) / (high - low) * GRID).astype(np.int64)
