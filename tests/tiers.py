"""Which of many cases are in the default tier: a few that stand for all; the full tier has every one.

Some take long and look for what is not known: `@pytest.mark.turns(N)` (with `slow`). In the full tier such a test runs
each of its cases every N days, by the day's number and its own name, so that no day has all of them; the nightly tier
(./bin/test --nightly) runs every case.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import groupby
from typing import Any
from zlib import crc32

import pytest

__all__ = ["LIMITS", "every", "few_of_each", "slow", "waiting"]

LIMITS = {False: 300, True: 1800}
"""Seconds on the clock of a test that is not slow, and of one that is: what takes longer stands still."""


def waiting(items: Sequence[pytest.Item], day: int) -> set[pytest.Item]:
    """The slow cases that take turns and whose turn is not today: the i-th case of a test is on days s + i, s + i + N,
    .., where s is a number of its name. Cases of the default tier take none.
    """
    late: set[pytest.Item] = set()
    for name, cases in groupby(items, lambda item: item.nodeid.partition("[")[0]):
        first = crc32(name.encode())
        for i, item in enumerate(cases):
            mark = item.get_closest_marker("turns") if item.get_closest_marker("slow") is not None else None
            if mark is not None and (day - first - i) % mark.args[0]:
                late.add(item)
    return late


def every(step: int, cases: Iterable[Any], *, name: Callable[[Any], str] = str) -> list[Any]:
    """The cases as parameters; all but each `step`-th, counted from the first, are slow."""
    return [_case(case, slow=bool(i % step), id=name(case)) for i, case in enumerate(cases)]


def few_of_each(
    cases: Sequence[Any], group: Callable[[Any], Hashable], places: Sequence[int], *, name: Callable[[Any], str] = str
) -> list[Any]:
    """The same; of every group those at `places` are in the default tier, such as (0, -1): the first and the last."""
    members: dict[Hashable, list[int]] = {}
    for i, case in enumerate(cases):
        members.setdefault(group(case), []).append(i)
    kept = {own[place] for own in members.values() for place in places if -len(own) <= place < len(own)}
    kept |= {own[0] for own in members.values() if not kept & set(own)}
    return [_case(case, slow=i not in kept, id=name(case)) for i, case in enumerate(cases)]


def slow(cases: Iterable[Any], *, name: Callable[[Any], str] = str) -> list[Any]:
    """The same, all slow."""
    return [_case(case, slow=True, id=name(case)) for case in cases]


def _case(case: Any, *, slow: bool, id: str) -> Any:
    values = case if isinstance(case, tuple) else (case,)
    return pytest.param(*values, id=id, marks=[pytest.mark.slow] * slow)
