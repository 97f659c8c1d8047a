"""Ways to say a promise: one epsilon, budgets of answers, a graph, distances, blocks or a matrix; and its document."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from deniable.core.domain import Domain
from deniable.core.promise.ranges import joined, members, others, ranges_of, sensitive_ranges, size
from deniable.core.promise.value import Promise
from deniable.core.space import Space
from deniable.core.types import FloatArray
from deniable.errors import FormatError, InWords, ParameterError, is_number, is_whole, require, show

__all__ = ["promise", "read_promise"]

_MOST = 40.0
"""The largest finite budget: rarer than e^-40 nothing is sampled."""
_RULES: Mapping[str, bool] = {"own": False, "min": True}
"""Whether the smaller one of two budgets counts, by the name of the rule."""
_HINT = f'Use a number from 0 to {_MOST:g}, or "inf" for no limit.'


def promise(
    *,
    epsilon: object = None,
    k: int | None = None,
    labels: Sequence[str] | None = None,
    sensitive: object = None,
    item_epsilon: object = None,
    rule: str | None = None,
    graph: object = None,
    distances: object = None,
    points: object = None,
    space: Space | None = None,
    blocks: object = None,
    inside: object = None,
    across: object = None,
    budgets: object = None,
) -> Promise:
    """A promise, said in one of these ways; values are `labels`, or k numbers from 0 on.

    `epsilon`: between any two values; only for the `sensitive` ones where these are given.
    `item_epsilon` with a `rule`: a budget for each value (or each sensitive one). `own`: a report speaks for a value by
    at most its own budget. `min`: by at most the smaller budget of the two values.
    `graph` with `epsilon`: pairs of values that are neighbours; epsilon for each step, no limit where no path leads.
    `distances` (a matrix), `points` (numbers, or rows of them) or `space`: `epsilon` for each unit of distance.
    `blocks` with `inside` and `across`: lists of values, or how many values each block has.
    `budgets`: a matrix, the row being what a report speaks for; "inf": no limit.

    >>> p = promise(item_epsilon=[1, 2, 3, 4], rule="min")
    >>> p.closed.budgets[3].tolist(), [found.path for found in p.implied][0]
    ([1.0, 2.0, 2.0, 0.0], ('2', '0', '3'))
    """
    ways: dict[str, Any] = {"item_epsilon": item_epsilon, "graph": graph, "distances": distances, "points": points}
    ways |= {"space": space, "blocks": blocks, "budgets": budgets}
    given = [name for name, what in ways.items() if what is not None]
    if len(given) > 1:
        raise ParameterError(f"a promise must be said in one way, got {' and '.join(given)}.", "Join two by p & q.")
    way = given[0] if given else "epsilon"
    made, beside = _WAYS[way]
    own = {"epsilon": epsilon, "sensitive": sensitive, "rule": rule, "inside": inside, "across": across}
    for name, what in own.items():
        hint = f"It goes with {', '.join(w for w, (_, names) in _WAYS.items() if name in names)}."
        require(what is None or name in beside, name, what, f"left out with {way}", hint)
    return made(ways.get(way), (k, labels), own)


Values = tuple[int | None, Sequence[str] | None]


def _domain(values: Values, size: int | None = None) -> Domain:
    """The domain that was given, of this size where that is known; numbers if nothing was given."""
    k, labels = values
    if k is None and labels is None and size is not None:
        k = size
    domain = Domain.given(k, labels)
    fits = size is None or size == domain.k
    require(fits, "k" if labels is None else "labels", domain.k, f"{size}, as there are so many values")
    return domain


def _plain(_: object, values: Values, own: Mapping[str, Any]) -> Promise:
    domain, epsilon = _domain(values), _budget("epsilon", own["epsilon"])
    if own["sensitive"] is None:
        return Promise.plain(epsilon, domain.k, domain.labels)
    some = sensitive_ranges(own["sensitive"], domain)
    return Promise.by_class(domain.k, (some, others(some, domain.k)), (epsilon, math.inf), domain.labels)


def _items(item_epsilon: Any, values: Values, own: Mapping[str, Any]) -> Promise:
    hint = "own: a report speaks for a value by at most its own budget; min: by at most the smaller one of two values'."
    require(own["rule"] in _RULES, "rule", own["rule"], "own or min", hint)
    listed = isinstance(item_epsilon, Sequence | np.ndarray) and not isinstance(item_epsilon, str)
    require(listed, "item_epsilon", item_epsilon, "a list of budgets, one for each value")
    found = [_budget("item_epsilon", b) for b in item_epsilon]
    domain = _domain(values, len(found) if own["sensitive"] is None else None)
    some = (0, domain.k) if own["sensitive"] is None else sensitive_ranges(own["sensitive"], domain)
    hint = "Give one for each sensitive value, in the order of the values."
    fits = len(found) == size(some)
    require(fits, "item_epsilon", InWords(f"{len(found)} budgets"), f"{size(some)} budgets", hint)
    every = np.full(domain.k, math.inf)
    every[list(members(some))] = found
    kinds = np.unique(every).tolist()
    classes = [ranges_of(np.flatnonzero(every == b)) for b in kinds]
    return Promise.by_class(domain.k, classes, kinds, domain.labels, least=_RULES[own["rule"]])


def _graph(graph: Any, values: Values, own: Mapping[str, Any]) -> Promise:
    epsilon, domain = _budget("epsilon", own["epsilon"]), _domain(values)
    steps = np.where(np.eye(domain.k, dtype=bool), 0.0, np.inf)
    require(isinstance(graph, Iterable), "graph", graph, "pairs of values that are neighbours")
    near: dict[int, set[int]] = {x: set() for x in range(domain.k)}
    for edge in graph:
        two = isinstance(edge, Sequence) and not isinstance(edge, str) and len(edge) == 2
        require(two, "graph", edge, "pairs of values that are neighbours")
        one, other = (_place("graph", value, domain) for value in edge)
        near[one].add(other)
        near[other].add(one)
    for x in range(domain.k):
        seen, new, step = {x}, {x}, 0
        while new:
            steps[x, list(new)] = step
            new = {z for y in new for z in near[y]} - seen
            seen, step = seen | new, step + 1
    return _of_matrix("graph", epsilon * steps if epsilon else np.where(np.isinf(steps), np.inf, 0.0), domain)


def _distances(given: Any, values: Values, own: Mapping[str, Any]) -> Promise:
    epsilon = _budget("epsilon", own["epsilon"])
    require(math.isfinite(epsilon), "epsilon", epsilon, "a finite number for each unit of distance")
    matrix = _matrix("distances", given)
    return _of_matrix("distances", epsilon * matrix, _domain(values, len(matrix)))


def _points(points: Any, values: Values, own: Mapping[str, Any]) -> Promise:
    try:
        rows = np.array(points, np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"points must be numbers, or rows of numbers, got {show(points)}.") from None
    fine = rows.ndim in (1, 2) and rows.size > 0 and bool(np.isfinite(rows).all())
    require(fine, "points", InWords(f"an array of shape {rows.shape}"), "finite numbers, or rows of them")
    rows = rows.reshape(len(rows), -1)
    return _distances(np.sqrt(((rows[:, None] - rows[None]) ** 2).sum(axis=2)), values, own)


def _space(space: Any, values: Values, own: Mapping[str, Any]) -> Promise:
    require(isinstance(space, Space), "space", space, "a dn.Space", "For example dn.Space.places([(48.1, 11.6), ...]).")
    return _distances(
        space.distances(), (None, space.labels) if space.labels and values == (None, None) else values, own
    )


def _blocks(blocks: Any, values: Values, own: Mapping[str, Any]) -> Promise:
    inside, across = (_budget(name, own[name]) for name in ("inside", "across"))
    require(isinstance(blocks, Iterable) and not isinstance(blocks, str), "blocks", blocks, "lists of values, or sizes")
    parts = list(blocks)
    if parts and all(is_whole(part, 1) for part in parts):
        ends = np.cumsum([0, *parts]).tolist()
        domain, parts = _domain(values, ends[-1]), [range(a, b) for a, b in pairwise(ends)]
    else:
        require(all(isinstance(part, Iterable) for part in parts), "blocks", blocks, "lists of values, or sizes")
        domain = _domain(values, sum(map(len, parts)) if values == (None, None) else None)
    classes = [tuple(_place("blocks", value, domain) for value in part) for part in parts]
    hint = "Every value is in exactly one block."
    fits = sorted(x for part in classes for x in part) == list(range(domain.k)) and all(classes)
    require(fits, "blocks", blocks, f"blocks that hold each of the {domain.k} values once", hint)
    table = np.full((len(classes), len(classes)), across)
    np.fill_diagonal(table, inside)
    return Promise(domain.k, tuple(map(ranges_of, classes)), table, labels=domain.labels)


def _budgets(budgets: Any, values: Values, own: Mapping[str, Any]) -> Promise:
    matrix = _matrix("budgets", budgets)
    return _of_matrix("budgets", matrix, _domain(values, len(matrix)))


_WAYS: Mapping[str, tuple[Callable[[Any, Values, Mapping[str, Any]], Promise], tuple[str, ...]]] = {
    "epsilon": (_plain, ("epsilon", "sensitive")),
    "item_epsilon": (_items, ("rule", "sensitive")),
    "graph": (_graph, ("epsilon",)),
    "distances": (_distances, ("epsilon",)),
    "points": (_points, ("epsilon",)),
    "space": (_space, ("epsilon",)),
    "blocks": (_blocks, ("inside", "across")),
    "budgets": (_budgets, ()),
}
"""How a promise is made of what was given, and what goes with it beside k and labels."""


# ---- what is given


def _budget(name: str, given: Any) -> float:
    """A budget: a number from 0 to 40, or inf for no limit."""
    require(given is not None, name, given, "given", _HINT)
    number = _number(name, given)
    require(number <= _MOST or math.isinf(number), name, given, f"at most {_MOST:g}, or inf", _HINT)
    return number


def _number(name: str, given: Any) -> float:
    """A number >= 0, or inf in words."""
    number = math.inf if isinstance(given, str) and given.strip().lower() == "inf" else given
    ok = is_number(number) and bool(number >= 0)
    require(ok, name, given, "a number >= 0", _HINT)
    return float(number)


def _matrix(name: str, given: Any) -> FloatArray:
    """A square matrix with 0 on its diagonal."""
    fine = isinstance(given, Iterable) and not isinstance(given, str | Mapping)
    rows = (
        [list(row) if isinstance(row, Iterable) and not isinstance(row, str) else [row] for row in given]
        if fine
        else []
    )
    square = bool(rows) and all(len(row) == len(rows) for row in rows)
    told = InWords(f"{len(rows)} rows of {sorted({len(row) for row in rows})} numbers") if rows else given
    require(square, name, told, "a square matrix: a row and a column for each value")
    found = _numbers(name, rows)
    for i, b in enumerate(found.diagonal().tolist()):
        require(b == 0, f"{name}[{i}][{i}]", b, "0: a value has no budget against itself")
    return found


def _numbers(name: str, rows: Iterable[Iterable[Any]]) -> FloatArray:
    cells = [[_number(f"{name}[{i}][{j}]", b) for j, b in enumerate(row)] for i, row in enumerate(rows)]
    return np.array(cells, np.float64)


def _of_matrix(name: str, matrix: FloatArray, domain: Domain) -> Promise:
    far = np.argwhere(np.isfinite(matrix) & (matrix > _MOST)).tolist()
    if far:
        x, z = far[0]
        raise ParameterError(
            f"{name} must give budgets of at most {_MOST:g}, got {matrix[x, z]:g} between the values "
            f"{domain.labels_or_numbers[x]} and {domain.labels_or_numbers[z]}.",
            f'Use {_MOST:g}, or "inf" for no limit: reports that are rarer than e^-{_MOST:g} are never seen.',
        )
    return Promise.of_matrix(matrix, domain.labels)


def _place(name: str, value: Any, domain: Domain) -> int:
    """The number of a value, from its label or number."""
    if isinstance(value, str) and domain.labels is not None:
        require(value in domain.labels, name, value, f"labels of the domain ({', '.join(domain.labels[:6])})")
        return domain.labels.index(value)
    require(is_whole(value, 0, domain.k - 1), name, value, f"made of labels, or numbers from 0 to {domain.k - 1}")
    return int(value)


# ---- documents


def read_promise(document: object) -> Promise:
    """The promise of `Promise.to_document`; `FormatError` for anything else."""
    known = {"k", "labels", "classes", "budgets", "strict", "levels", "same", "parts"}
    if not isinstance(document, Mapping) or not {"classes", "budgets"} <= document.keys() <= known:
        raise FormatError("a promise is a mapping with classes, budgets, and k or labels.")
    try:
        return _read(document)
    except (ParameterError, TypeError, ValueError, AttributeError, KeyError) as error:
        raise FormatError(f"this is not a promise: {error}") from error


def _read(document: Mapping[str, Any]) -> Promise:
    labels, k = document.get("labels"), document.get("k")
    domain = _domain((k, labels))
    classes = tuple(tuple(ends) for ends in document["classes"])
    numbers = all(is_whole(end, 0, domain.k) for ends in classes for end in ends)
    whole = numbers and all(len(ends) % 2 == 0 and ends == joined([ends]) and size(ends) > 0 for ends in classes)
    told = f"ranges that hold each of 0..{domain.k - 1} once"
    require(whole and joined(classes) == (0, domain.k), "classes", classes, told)
    table, strict = (_numbers(name, document[name]) if name in document else None for name in ("budgets", "strict"))
    levels = tuple(_finite("levels", level) for level in document.get("levels", ()))
    same = np.array([_numbers("same", each) for each in document["same"]]) if levels else None
    parts = {str(name): _finite("parts", b) for name, b in document.get("parts", {}).items()}
    assert table is not None
    return Promise(domain.k, classes, table, strict, levels, same, parts, domain.labels)


def _finite(name: str, given: Any) -> float:
    number = _number(name, given)
    require(math.isfinite(number), name, given, "finite numbers")
    return number
