"""Which reports are told about together: the strata of a question in one window, parted by how many reports they have.

A group is known by *names*. A name has a value for the first strata, for all of them or for fewer, and stands for every
declared combination that begins so and that no longer name stands for: the name without any value is "all others". So
every declared combination is in exactly one group whether anybody is there or not, and a group does not tell which of
its combinations have a report.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from deniable.collect.tally import Tally

__all__ = ["Group", "Name", "group_of", "grouped", "groups", "in_words", "shared_names"]

Name = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """Reports that are told about together."""

    names: tuple[Name, ...]
    tally: Tally


@dataclass(frozen=True, slots=True)
class _Rest:
    """What is left over of a part of the combinations: too few reports to stand alone."""

    tallies: tuple[Tally, ...]
    empty: bool
    """Whether every declared combination of the part has a group already."""

    @property
    def n(self) -> int:
        return sum(tally.n for tally in self.tallies)


@dataclass(frozen=True, slots=True)
class _Count:
    """How many reports there are, in place of their tally."""

    n: int

    def __add__(self, other: _Count) -> _Count:
        return _Count(self.n + other.n)


def shared_names(parts: Sequence[Mapping[Name, Tally]], least: int, sizes: Sequence[int]) -> list[tuple[Name, ...]]:
    """The names of groups that several questions have in common, each with at least so many reports of every one.

    For what is told of several questions together, such as a table of two. The fewest reports that a combination has
    of any question decide.
    """
    every = {name for cells in parts for name in cells}
    fewest: Any = {name: _Count(min(cells[name].n if name in cells else 0 for cells in parts)) for name in every}
    return [group.names for group in groups(fewest, least, sizes)] or [((),)]


def grouped(cells: Mapping[Name, Tally], named: Sequence[tuple[Name, ...]]) -> list[Group]:
    """The reports of a question in groups that are given by their names."""
    lots: list[list[Tally]] = [[] for _ in named]
    for strata, tally in cells.items():
        place = group_of(strata, named)
        if place is None:
            raise ValueError(f"no group has the combination {strata}")
        lots[place].append(tally)
    return [Group(names, sum(lot[1:], lot[0])) for names, lot in zip(named, lots, strict=True)]


def groups(cells: Mapping[Name, Tally], least: int, sizes: Sequence[int]) -> list[Group]:
    """Part the reports of a question into groups of at least so many each; none if there are fewer in all.

    `sizes`: how many values each stratum has. Combinations that have enough stand alone. The others are put together
    with those that agree with them in the first strata, as far as needed; what is still too small joins the smallest
    group. Only how many reports each combination has decides, so a report that moves from one combination of a group to
    another one, neither of them large enough to stand alone, changes nothing.
    """
    done, rest = _parted({strata: tally for strata, tally in cells.items() if tally.n}, (), sizes, least)
    if not done:
        return []
    if not rest.empty:
        joined = done.pop(min(range(len(done)), key=lambda i: (done[i].tally.n, done[i].names)))
        (name,) = joined.names
        kept = any(name[: len(other)] == other for group in done for other in group.names)  # else it is one of others
        done.append(Group((name, ()) if kept else ((),), sum(rest.tallies, joined.tally)))
    return sorted(done, key=lambda group: (() in group.names, group.names))


def _parted(cells: Mapping[Name, Tally], name: Name, sizes: Sequence[int], least: int) -> tuple[list[Group], _Rest]:
    """The groups of all combinations that begin like a name, and what is left over of them."""
    level = len(name)
    done: list[Group] = []
    if level == len(sizes):
        rest = _Rest(tuple(cells.values()), empty=False)
    else:
        left: list[_Rest] = []
        for value in sorted({strata[level] for strata in cells}):
            below = {strata: tally for strata, tally in cells.items() if strata[level] == value}
            found, small = _parted(below, (*name, value), sizes, least)
            done += found
            left.append(small)
        full = len(left) == sizes[level] and all(small.empty for small in left)
        rest = _Rest(tuple(tally for small in left for tally in small.tallies), empty=full)
    if rest.n < least or not rest.tallies:
        return done, rest
    return [*done, Group((name,), sum(rest.tallies[1:], rest.tallies[0]))], _Rest((), empty=True)


def group_of(strata: Name, named: Sequence[Iterable[Name]]) -> int | None:
    """The number of the group that a combination is in: the one with the longest name that it begins with."""
    found: tuple[int, int] | None = None
    for number, names in enumerate(named):
        for name in names:
            if strata[: len(name)] == name and (found is None or len(name) > found[0]):
                found = len(name), number
    return None if found is None else found[1]


def in_words(names: Sequence[Name], named: Sequence[Sequence[Name]], values: Sequence[Sequence[str]]) -> str:
    """A group for people to read; `named` has the names of all groups, `values` those of each stratum.

    >>> countries, both = [["DE", "FR", "IT"]], [[(0,)], [(1,), ()]]
    >>> [in_words(names, both, countries) for names in both]
    ['DE', 'FR; all others']
    """
    every = [name for each in named for name in each]
    return "; ".join(_in_words(name, every, values) for name in names)


def _in_words(name: Name, every: Sequence[Name], values: Sequence[Sequence[str]]) -> str:
    told = [values[level][number] for level, number in enumerate(name)]
    others = any(len(other) > len(name) and other[: len(name)] == name for other in every)
    if not name:
        return "all others" if others else "all"
    return ", ".join([*told, "others"] if others else told)
