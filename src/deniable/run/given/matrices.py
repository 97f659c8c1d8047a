"""Matrices of chances as files: a row for each answer, a column for each output; JSON, or CSV with names or without."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from typing import Any

from deniable.core.channel import Chances
from deniable.errors import FormatError, InWords, require
from deniable.run.files import naming, open_input

__all__ = ["read_matrix"]

_BYTES = 1 << 24
"""The largest file that is read: more entries than a table may have."""
_APART = {";": "semicolons between them", "\t": "tabs between them"}
"""What other programs write between cells."""
_SHAPE = 'For example a .csv with the lines 0.75,0.25 and 0.25,0.75, or {"matrix": [[3, 1], [1, 3]], "labels": [..]}.'


def read_matrix(source: str) -> Chances:
    """The chances in a file, or in standard input for `-`; errors name the file.

    CSV: numbers or fractions such as 1/3. A first line of names is that of the columns; a first column of names is that
    of the answers. JSON: rows, or a mapping with `matrix`, and if wanted `labels` and `outputs`.
    """
    with open_input(source) as stream:
        data = stream.read(_BYTES + 1)
    with naming(source):
        require(len(data) <= _BYTES, "matrix", InWords(f"more than {_BYTES:,} bytes"), f"at most {_BYTES:,} bytes long")
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise FormatError(f"it is not UTF-8 text: {error}.", _SHAPE) from error
        require(bool(text.strip()), "matrix", InWords("nothing"), "rows of chances", _SHAPE)
        return _of_json(text) if text.lstrip()[0] in "{[" else _of_csv(text)


def _of_json(text: str) -> Chances:
    try:
        found: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"it is not JSON: {error}.", _SHAPE) from error
    given = found if isinstance(found, Mapping) else {"matrix": found}
    odd = sorted(given.keys() - {"matrix", "labels", "outputs"})
    require("matrix" in given and not odd, "fields", odd or sorted(given), "matrix, labels and outputs", _SHAPE)
    names = {name: _listed(name, given[name]) for name in ("labels", "outputs") if given.get(name) is not None}
    return Chances(given["matrix"], names.get("outputs"), names.get("labels"))


def _listed(name: str, given: Any) -> tuple[str, ...]:
    fits = isinstance(given, list) and all(isinstance(each, str) and each for each in given)
    require(fits, name, given, "a list of names")
    return tuple(given)


def _of_csv(text: str) -> Chances:
    try:
        lines = [[cell.strip() for cell in row] for row in csv.reader(io.StringIO(text)) if row]
    except csv.Error as error:
        raise FormatError(f"it is not CSV: {error}.", _SHAPE) from error
    apart = next((sign for sign in _APART if sign in text and all(len(row) == 1 for row in lines)), None)
    require(apart is None, "cells", InWords(_APART.get(apart or "", "")), "separated by commas", _SHAPE)
    above = not any(map(_is_number, lines[0][1:])) and len(lines[0]) > 1
    head, body = (lines[0], lines[1:]) if above else (None, lines)
    beside = bool(body) and all(row and not _is_number(row[0]) for row in body)
    labels = tuple(row[0] for row in body) if beside else None
    cells = [row[1:] if beside else row for row in body]
    outputs = None if head is None else head[1:] if beside and cells and len(head) == len(cells[0]) + 1 else head
    fits = outputs is None or not cells or len(outputs) == len(cells[0])
    require(fits, "the first line", InWords(f"{len(outputs or [])} names"), "a name for each column")
    return Chances(cells, None if outputs is None else tuple(outputs), labels)


def _is_number(cell: str) -> bool:
    top, _, bottom = cell.partition("/")
    try:
        float(top), float(bottom or 1)
    except ValueError:
        return False
    return True
