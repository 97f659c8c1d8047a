"""Promises as files: the arguments of `dn.promise` or a promise's document as JSON, or a matrix of budgets as CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from deniable.core.promise import Promise
from deniable.core.promise.making import promise, read_promise
from deniable.core.space import Space
from deniable.errors import FormatError, InWords, ParameterError, is_whole, meant, require, show
from deniable.run.files import is_float, naming, open_input

__all__ = ["promise_document", "read_losses", "read_numbers", "read_promise_file"]

SHAPE = 'For example {"budgets": [[0, 1], ["inf", 0]], "labels": ["ill", "well"]}, or {"epsilon": 1, "k": 4}.'
"""What a file may look like."""

_BYTES = 1 << 25
"""The largest file that is read."""
_PAIRS = 1024
"""Values of the largest promise that is said pair by pair."""
_VALUES = 1_000_000
"""Values of the largest promise that is said value by value."""
_WAYS = ("item_epsilon", "graph", "distances", "points", "places", "blocks", "budgets")
"""Lists that say a promise."""
_ARGUMENTS = ("epsilon", "k", "labels", "sensitive", "rule", "inside", "across", *_WAYS)
_WRITTEN = "classes"
"""What only the document of a promise has."""


def read_numbers(source: str, labels: Sequence[str], name: str = "values") -> list[float]:
    """A number for each value from a file: a JSON list or mapping, or lines of numbers, or of a label and a number.

    Without labels they are in the order of the values.
    """
    with open_input(source) as stream:
        data = stream.read(_BYTES + 1)
    with naming(source):
        need = f"a number for each of the {len(labels)} values, in their order or with their labels"
        try:
            text = data.decode("utf-8-sig").strip()
            found = _numbers_of(text)
        except (UnicodeDecodeError, csv.Error, ValueError, RecursionError, TypeError) as error:
            raise FormatError(f"{name} must be {need}: {error}.") from error
        if isinstance(found, dict):
            odd = sorted(set(labels) ^ set(found))
            require(not odd, name, InWords(f"other labels, such as {show(next(iter(odd), ''))}"), need)
            found = [found[label] for label in labels]
        require(len(found) == len(labels), name, InWords(f"{len(found)} numbers"), need)
        return found


def _numbers_of(text: str) -> list[float] | dict[str, float]:
    if text[:1] in ("[", "{"):
        given = json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant)
        return (
            {label: _plain(x) for label, x in given.items()} if isinstance(given, dict) else [_plain(x) for x in given]
        )
    rows = [[cell.strip() for cell in row] for row in csv.reader(io.StringIO(text), strict=True) if any(row)]
    body = rows[1:] if rows and not is_float(rows[0][-1]) else rows
    if any(len(row) != 2 for row in body):
        return [float(cell) for row in body for cell in row]
    return _once([(label, float(cell)) for label, cell in body])


def _plain(x: object) -> float:
    if isinstance(x, bool) or not isinstance(x, int | float):
        raise TypeError(f"{show(x)} is not a number")
    return float(x)


def read_losses(given: str) -> str | list[list[str]]:
    """The name of a loss, or the rows of a .csv file of losses, with labels above them or without."""
    if "." not in given and given != "-":
        return given
    with open_input(given) as stream:
        data = stream.read(_BYTES + 1)
    with naming(given):
        try:
            text = data.decode("utf-8-sig")
            rows = [[cell.strip() for cell in row] for row in csv.reader(io.StringIO(text), strict=True) if any(row)]
        except (UnicodeDecodeError, csv.Error) as error:
            raise FormatError(f"loss must be a .csv file of numbers: {error}.") from error
        named = bool(rows) and not any(map(is_float, rows[0]))
        body = rows[1:] if named else rows
        inner = named and all(row and not is_float(row[0]) for row in body)
        return [row[1:] if inner else row for row in body]


def read_promise_file(source: str) -> Promise:
    """The promise that a file says, or standard input for `-`; errors name the file, and the place in it.

    JSON: the arguments of `dn.promise`, places being `"places": [[latitude, longitude], ...]`; or what
    `Promise.to_document` gives. CSV: a square of budgets, `inf` for no limit, with a line of labels above it or
    without; where there are labels, they may stand in front of the rows too.
    """
    with open_input(source) as stream:
        data = stream.read(_BYTES + 1)
    with naming(source):
        size = InWords(f"more than {_BYTES:,} bytes")
        require(len(data) <= _BYTES, "the file of a promise", size, f"at most {_BYTES:,} bytes long")
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise FormatError(f"it is not UTF-8 text: {error}.", SHAPE) from error
        require(bool(text.strip()), "the file of a promise", InWords("nothing"), "a JSON object or a CSV matrix", SHAPE)
        return _of_json(text) if text.lstrip()[0] in "{[" else _of_csv(text)


def promise_document(p: Promise) -> dict[str, Any]:
    """All that is to be said about a promise, as plain data; the matrices of promises that are not too large."""
    found: dict[str, Any] = {"k": p.k} | ({} if p.labels is None else {"labels": list(p.labels)})
    found |= {"epsilon": p.epsilon, "promise": p.to_document()}
    if p.inputs <= _PAIRS:
        found |= {"budgets": _spelt(p), "closed": _spelt(p.closed)}
    found["implied"] = [
        {"likely": i.likely, "unlikely": i.unlikely, "given": _word(i.given), "budget": i.budget, "path": list(i.path)}
        for i in p.implied
    ]
    return found


def _spelt(p: Promise) -> list[list[float | str]]:
    return [[_word(b) for b in row] for row in p.budgets.tolist()]


def _word(budget: float) -> float | str:
    return "inf" if budget == float("inf") else budget


# ---- JSON


def _of_json(text: str) -> Promise:
    try:
        given = json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant)
    except (json.JSONDecodeError, RecursionError) as error:
        raise FormatError(f"it is not JSON that can be read: {error}.", SHAPE) from error
    require(isinstance(given, dict), "a promise", InWords("a list"), "a JSON object", SHAPE)
    if _WRITTEN in given:
        return read_promise(given)
    unknown = [name for name in given if name not in _ARGUMENTS]
    if unknown:
        hint = f"{meant(unknown[0], _ARGUMENTS)} {SHAPE}".lstrip()
        raise ParameterError(f"a promise is said with {', '.join(_ARGUMENTS)}, got {show(unknown[0])}.", hint)
    _check_sizes(given)
    own = {name: what for name, what in given.items() if name != "places"}
    if "places" in given:
        own["space"] = Space.places(given["places"])
        own |= {} if "labels" in own else {"k": len(given["places"])}
    return promise(**own)


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise FormatError(f"{show(twice)} is there twice.", "Leave one of them out.")
    return found


def _no_constant(name: str) -> NoReturn:
    raise FormatError(f"{name} is not a number of JSON.", 'No limit is written "inf".')


def _check_sizes(given: Mapping[str, Any]) -> None:
    """Refuse what is not of the kind that it must be, and what would be too large, before anything is made of it."""
    labels, k = given.get("labels"), given.get("k")
    texts = labels is None or (isinstance(labels, list) and all(isinstance(label, str) for label in labels))
    require(texts, "labels", labels, "a list of texts")
    require(k is None or is_whole(k, 1), "k", k, "a whole number >= 1")
    for name in (name for name in _WAYS if name in given):
        require(isinstance(given[name], list), name, given[name], "a list")
    pairs = [len(given[name]) for name in ("distances", "points", "places", "budgets") if name in given]
    pairs += [k or len(labels or ())] if "graph" in given else []
    most = max(pairs, default=0)
    require(most <= _PAIRS, "k", most, f"at most {_PAIRS:,} where budgets are said pair by pair")
    values = [part for part in given.get("blocks", ()) if is_whole(part, 1)]
    many = max(sum(values), k or 0) if {"blocks", "item_epsilon"} & given.keys() else 0
    require(many <= _VALUES, "k", many, f"at most {_VALUES:,} where budgets are said value by value")


# ---- CSV


def _of_csv(text: str) -> Promise:
    try:
        rows = [[cell.strip() for cell in row] for row in csv.reader(io.StringIO(text), strict=True) if any(row)]
    except csv.Error as error:
        raise FormatError(f"it is not CSV that can be read: {error}.", SHAPE) from error
    labels = None
    if not any(is_float(cell) for cell in rows[0]):
        labels, rows = rows[0], rows[1:]
        inner = len(labels) == len(rows) + 1 and all(len(row) == len(labels) for row in rows)
        if inner:
            labels, front, rows = labels[1:], [row[0] for row in rows], [row[1:] for row in rows]
            need = "the same as those above the columns, in the same order"
            require(front == labels, "labels in front of the rows", front, need)
    require(bool(rows), "budgets", InWords("no line of numbers"), "a square of numbers", SHAPE)
    require(len(rows) <= _PAIRS, "k", len(rows), f"at most {_PAIRS:,} where budgets are said pair by pair")
    return promise(budgets=[[float(cell) if is_float(cell) else cell for cell in row] for row in rows], labels=labels)
