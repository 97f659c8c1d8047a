"""What differs between two documents, in words: between two tasks, what was asked otherwise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from deniable_client.errors import show

__all__ = ["changes"]

_MOST = 60
"""Differences that are told one by one."""
_NOTHING = object()


def changes(one: Mapping[str, Any], two: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The differences from one document to another: where, what was there and what is there now, and a line.

    Ids and signatures follow from the rest and come last.

    >>> [each["line"] for each in changes({"epsilon": 1, "id": "a"}, {"epsilon": 2, "id": "b"})]
    ['epsilon: 1 became 2', 'id: the content is another one']
    """
    found = list(_differences(one, two, ""))
    follows = [each for each in found if each["where"] in ("id", "signature")]
    own = [each for each in found if each not in follows]
    for each in follows:
        each["line"] = f"{each['where']}: the content is another one"
    if len(own) > _MOST:
        more = len(own) - _MOST
        own = [*own[:_MOST], {"where": "", "before": None, "after": None, "line": f"and {more:,} more"}]
    return own + follows


def _differences(one: Any, two: Any, where: str) -> Iterator[dict[str, Any]]:
    if isinstance(one, Mapping) and isinstance(two, Mapping):
        for name in dict.fromkeys([*one, *two]):
            yield from _differences(one.get(name, _NOTHING), two.get(name, _NOTHING), f"{where}.{name}".lstrip("."))
    elif isinstance(one, list) and isinstance(two, list):
        if any(isinstance(each, Mapping | list) for each in (*one, *two)):
            for i in range(max(len(one), len(two))):
                before, after = (each[i] if i < len(each) else _NOTHING for each in (one, two))
                yield from _differences(before, after, f"{where}[{i + 1}]")
        elif one != two:
            yield _listed(one, two, where)
    elif type(one) is not type(two) or one != two:
        yield _told(one, two, where)


def _listed(one: list[Any], two: list[Any], where: str) -> dict[str, Any]:
    """Of plain lists: what came and what went; or only the order is another one."""
    gone, new = [x for x in one if x not in two], [x for x in two if x not in one]
    parts = [f"without {show(gone)}"] * bool(gone) + [f"with {show(new)}"] * bool(new)
    return {"where": where, "before": one, "after": two, "line": f"{where}: {' and '.join(parts) or 'another order'}"}


def _told(one: Any, two: Any, where: str) -> dict[str, Any]:
    before, after = (None if each is _NOTHING else each for each in (one, two))
    line = f"{where}: {show(before)} became {show(after)}"
    if one is _NOTHING:
        line = f"{where}: new, {show(after)}"
    elif two is _NOTHING:
        line = f"{where}: gone, it was {show(before)}"
    return {"where": where, "before": before, "after": after, "line": line}
