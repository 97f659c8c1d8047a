"""What one person hands in where there are several parts: an answer to each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from deniable.collect.reports import Reports
from deniable.core.domain import Domain
from deniable.core.types import IntArray
from deniable.core.values import arrays_of
from deniable.errors import InWords, ParameterError, require, show
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.keyvalue.pairs import PairSets
from deniable.randomness import Stream
from deniable_client.errors import within

__all__ = ["Answers", "Drawn", "columns_by_part", "items_of", "reader_of"]

Drawn: TypeAlias = Callable[[IntArray, Stream], Reports]
"""What makes the reports of some of the people, by their places."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers(Domain):
    """A set of answers, one for each part; k is how many such sets there are."""

    each: tuple[Domain, ...] = ()
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """See `Domain`: there may be more of them than of any single answer; they are never listed."""

    @property
    def labels_or_numbers(self) -> tuple[str, ...]:
        """What is listed: the names of the parts."""
        return self.names

    @property
    def allowed(self) -> str:
        told = (f"{name}: {domain.allowed}" for name, domain in zip(self.names, self.each, strict=True))
        return f"an answer for each part ({'; '.join(told)})"


def columns_by_part(given: object, names: Sequence[str], columns: object) -> list[Any]:
    """The answers to each part, from a frame or a mapping, by the names of its columns, or from rows in order."""
    hint = f"A frame with the columns {', '.join(names)}, or rows with {len(names)} answers each; column= renames them."
    wanted = names if columns is None else columns
    several = isinstance(wanted, Sequence) and not isinstance(wanted, str) and len(wanted) == len(names)
    require(several, "column", columns, f"{len(names)} names of columns, in the order of the parts", hint)
    found = arrays_of(given, list(wanted))  # type: ignore[call-overload]  # it is a sequence
    if found is not None:
        return list(found)
    require(columns is None, "column", columns, "left out for rows of answers", hint)
    if isinstance(given, np.ndarray):
        fits = given.ndim == 2 and given.shape[1] == len(names)
        shape = InWords(f"an array of shape {given.shape}")
        require(fits, "values", shape, f"with {len(names)} columns", hint)
        return list(given.T)
    rows = list(given) if isinstance(given, Iterable) and not isinstance(given, str | bytes) else []
    require(len(rows) > 0, "values", given, "answers of at least one person", hint)
    odd = [row for row in rows if not isinstance(row, Sequence) or isinstance(row, str) or len(row) != len(names)]
    if odd:
        raise ParameterError(f"values must be rows with {len(names)} answers each, got {show(odd[0])}.", hint)
    return [list(column) for column in zip(*rows, strict=True)]


def reader_of(m: Mechanism, name: str, column: Any) -> tuple[int, Drawn]:
    """How many people a column has, and what makes reports of some; all of its answers are checked, not only those."""
    require(m.takes in _READERS, "parts", m.takes, f"such as take {', '.join(_READERS)}")
    with within(name):
        return _READERS[m.takes](m, column)


def items_of(m: Mechanism, items: IntArray) -> Drawn:
    """What makes reports of people whose answers are encoded already."""
    return lambda at, rng: m.privatize_items(items[at], rng)


def _values(m: Mechanism, column: Any) -> tuple[int, Drawn]:
    items = m.domain.encode(column)
    return items.size, items_of(m, items)


def _leveled(m: Any, column: Any) -> tuple[int, Drawn]:
    """Each cell is a value and the level that its person chose."""
    both = [cell for cell in column if isinstance(cell, Sequence) and not isinstance(cell, str) and len(cell) == 2]
    require(len(both) == len(column), "answers", InWords("others"), "pairs of a value and a level, one for each person")
    values, levels = zip(*both, strict=True)
    items, chosen = m.domain.encode(list(values)), np.array(levels)
    return items.size, lambda at, rng: m.privatize_items(items[at], rng, levels=chosen[at])


def _pairs(m: Any, column: Any) -> tuple[int, Drawn]:
    """Each cell is a list of a person's pairs of a key and a value."""
    sizes = [len(cell) for cell in column]
    pairs = [pair for cell in column for pair in cell]
    odd = [pair for pair in pairs if not isinstance(pair, Sequence) or isinstance(pair, str) or len(pair) != 2]
    require(not odd, "pairs", odd and odd[0], "a key and a value each")
    keys, values = [key for key, _ in pairs], [value for _, value in pairs]
    found = PairSets.of((np.r_[0, np.cumsum(sizes)], keys, values), m.domain, m.range)
    m.check_sizes(found)
    return len(found), lambda at, rng: m.privatize(found.take(at), rng=rng)


_READERS: Mapping[str, Callable[[Any, Any], tuple[int, Drawn]]] = {
    "values": _values,
    "values with levels": _leveled,
    "key-value pairs": _pairs,
}
"""By what `Mechanism.takes` says."""
