"""Groups: each is large enough, each declared combination is in one of them, and moves among small ones do not show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable.service.groups import Group, Name, group_of, groups, in_words

Cells = Mapping[Name, Any]


@dataclass(frozen=True)
class People:
    """What groups need of a tally: a number, and a sum. It says who is counted, so that nothing can hide."""

    who: frozenset[int]

    @property
    def n(self) -> int:
        return len(self.who)

    def __add__(self, other: People) -> People:
        assert not self.who & other.who
        return People(self.who | other.who)


def crowd(counts: Mapping[Name, int]) -> dict[Name, Any]:
    """So many people in each combination, numbered through."""
    found, first = {}, 0
    for name, n in counts.items():
        found[name] = People(frozenset(range(first, first + n)))
        first += n
    return found


def members(found: Sequence[Group], sizes: Sequence[int]) -> list[set[Name]]:
    """The declared combinations of each group."""
    named = [group.names for group in found]
    held: list[set[Name]] = [set() for _ in found]
    for strata in product(*map(range, sizes)) if found else ():
        place = group_of(strata, named)
        assert place is not None
        held[place].add(strata)
    return held


@st.composite
def counted(draw: st.DrawFn) -> tuple[dict[Name, int], int, list[int]]:
    """Reports by combinations of up to three strata, a minimum batch, and how many values each stratum has."""
    sizes = draw(st.lists(st.integers(2, 4), max_size=3))
    cells = draw(st.sets(st.tuples(*(st.integers(0, size - 1) for size in sizes)), min_size=1, max_size=12))
    return {cell: draw(st.integers(0, 30)) for cell in sorted(cells)}, draw(st.integers(1, 40)), sizes


@settings(deadline=None, max_examples=150)
@given(counted())
def test_groups_part_the_reports(case: tuple[dict[Name, int], int, list[int]]) -> None:
    """Each declared combination is in one group, each group is large enough; if there are enough, none is lost."""
    counts, least, sizes = case
    cells = crowd(counts)
    found = groups(cells, least, sizes)
    if sum(counts.values()) < least:
        assert found == []
        return
    held = members(found, sizes)
    for group, combinations in zip(found, held, strict=True):
        assert combinations  # no name is idle
        inside = [cells[strata].who for strata in combinations if strata in cells]
        assert group.tally == People(frozenset().union(*inside))  # type: ignore[comparison-overlap]  # people for a tally
        assert group.tally.n >= least
        alone = [strata for strata in combinations if counts.get(strata, 0) >= least]
        assert len(alone) <= 1  # what can stand alone is joined by too small ones only


def test_groups_stay_within_the_first_stratum_if_they_can() -> None:
    counts = {(0, 0): 6, (0, 1): 5, (1, 0): 20, (1, 1): 3, (2, 0): 2}
    found = groups(crowd(counts), 10, [3, 2])
    assert [(group.names, group.tally.n) for group in found] == [(((1, 0),), 20), (((),), 16)]
    values = [["DE", "FR", "IT"], ["old", "new"]]
    told = [in_words(group.names, [each.names for each in found], values) for group in found]
    assert told == ["FR, old", "all others"]  # 3 and 2 are too few together, too
    assert members(found, [3, 2])[1] == {(0, 0), (0, 1), (1, 1), (2, 0), (2, 1)}


def words(counts: Mapping[Name, int]) -> list[str]:
    found = groups(crowd(counts), 10, [2, 3])
    named = [group.names for group in found]
    return [in_words(names, named, [["DE", "FR"], "abc"]) for names in named]


def test_names_say_others_where_some_are_named_elsewhere() -> None:
    assert words({(0, 0): 12, (0, 1): 6, (0, 2): 6, (1, 0): 11}) == ["DE, others", "DE, a", "all others"]
    assert words({(0, 0): 10, (0, 1): 6, (0, 2): 6, (1, 0): 11}) == ["DE, others", "FR, a", "DE, a; all others"]
    assert words({(0, 0): 9, (1, 0): 1}) == ["all"]


def test_nothing_is_left_to_others_where_every_combination_stands_alone() -> None:
    assert [group.names for group in groups(crowd({(0,): 5, (1,): 5}), 5, [2])] == [((0,),), ((1,),)]
    assert [group.names for group in groups(crowd({(0,): 5, (1,): 5}), 5, [3])] == [((1,),), ((),)]


# ---- one person among small combinations


def moves(sizes: Sequence[int], most: int, least: int) -> Iterator[tuple[dict[Name, int], Name, Name]]:
    """All counts up to a number, and all moves of one person between two that are too small before and after."""
    names = list(product(*map(range, sizes)))
    for counts in product(range(most + 1), repeat=len(names)):
        cells = dict(zip(names, counts, strict=True))
        for one, two in product(names, repeat=2):
            if one != two and 1 <= cells[one] < least and cells[two] + 1 < least:
                yield cells, one, two


def told(cells: Cells, least: int, sizes: Sequence[int]) -> list[tuple[tuple[Name, ...], Any]]:
    return [(group.names, group.tally) for group in groups(cells, least, sizes)]


def told_by_presence(cells: Cells, least: int, sizes: Sequence[int]) -> list[tuple[set[Name], Any]]:
    """As it was told before: a group named the combinations in which somebody is."""
    found = groups(cells, least, sizes)
    held = members(found, sizes)
    here = [{strata for strata in names if cells[strata].n} for names in held]
    return [(names, group.tally) for names, group in zip(here, found, strict=True)]


def changed(cells: Mapping[Name, int], one: Name, two: Name) -> tuple[dict[Name, Any], dict[Name, Any]]:
    before = crowd(cells)
    person = min(before[one].who)
    after = dict(before)
    after[one], after[two] = People(before[one].who - {person}), before[two] + People(frozenset({person}))
    return before, after


def test_one_person_moved_between_two_small_strata_changes_nothing() -> None:
    """All cases of four values with up to five people each and a batch of four; named by presence, some show."""
    cases = shown = 0
    for cells, one, two in moves([4], 5, 4):
        before, after = changed(cells, one, two)
        assert told(before, 4, [4]) == told(after, 4, [4]), (cells, one, two)
        cases += 1
        shown += told_by_presence(before, 4, [4]) != told_by_presence(after, 4, [4])
    assert (cases, shown) == (3888, 1992)


def test_one_person_moved_within_a_group_changes_nothing() -> None:
    """Two strata, all cases. Across the first stratum a sum can reach the batch, or the two are in different groups."""
    for cells, one, two in moves([2, 2], 4, 3):
        before, after = changed(cells, one, two)
        held = [members(groups(each, 3, [2, 2]), [2, 2]) for each in (before, after)]
        together = all(any({one, two} <= names for names in each) or not each for each in held)
        assert together or one[0] != two[0]
        if together and held[0] == held[1]:
            assert told(before, 3, [2, 2]) == told(after, 3, [2, 2])
        else:
            assert one[0] != two[0]


@pytest.mark.parametrize("sizes", [[255] * 8, [2, 255]])
def test_many_declared_combinations_take_few_names(sizes: list[int]) -> None:
    here = {tuple([value] + [0] * (len(sizes) - 1)): 10 for value in range(2)}
    found = groups(crowd(here), 5, sizes)
    assert sum(len(group.names) for group in found) == 2
