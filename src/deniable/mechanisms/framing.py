"""Reports of several kinds in one form: the number of the kind, the report, and zeros up to the longest.

What a public choice between kernels needs of them, whoever makes it: groups of reporters, parts of a survey, the
questions of a task.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from deniable.collect.reports import Field, join_rows, split_rows
from deniable.core.channel import Channel
from deniable.core.types import BoolArray, Bytes, Columns, IntArray, UintArray
from deniable.errors import FormatError
from deniable.mechanisms.bulk import Bulk, Cells, refuse_values

__all__ = [
    "apart",
    "chosen_channel",
    "counted_apart",
    "filled",
    "framed",
    "framed_fields",
    "log2_sum",
    "possible_frames",
    "unframed",
]

_REPORT = "report"


def framed_fields(number: str, parts: Sequence[Bulk[Any]]) -> tuple[Field, ...]:
    """The number of the kind, under its name, and as many bytes as the longest report has."""
    return Field(number, "uint", 1), Field(_REPORT, "bytes", max(part.row_bytes for part in parts))


def framed(
    fields: Sequence[Field],
    parts: Sequence[Bulk[Any]],
    numbers: IntArray | UintArray | BoolArray,
    made: Callable[[int, IntArray], Columns],
) -> Columns:
    """Reports of the kinds with these numbers; `made` gives those of a kind for the people at these places."""
    rows = np.zeros((numbers.size, fields[1].width), np.uint8)
    for i, part in enumerate(parts):
        at = np.flatnonzero(numbers == i)
        if at.size:
            rows[at, : part.row_bytes] = join_rows(part.fields, made(i, at))
    return {fields[0].name: numbers.astype(np.uint8), _REPORT: rows}


def apart(numbers: IntArray | UintArray, rows: Bytes) -> Iterator[tuple[int, IntArray, Bytes]]:
    """Each kind that occurs, with the places of its reports and their bytes."""
    for i in np.flatnonzero(np.bincount(numbers)).tolist():
        at = np.flatnonzero(numbers == i)
        yield i, at, rows if at.size == numbers.size else rows[at]


def unframed(part: Bulk[Any], rows: Bytes) -> Columns:
    """Reports of one kind without what fills them up; `FormatError` where that is not zero."""
    if rows.shape[1] > part.row_bytes and rows[:, part.row_bytes :].any():
        raise FormatError("a report has bytes after its end that are not zero.")
    return split_rows(part.fields, rows)


def filled(part: Bulk[Any], rows: Bytes) -> BoolArray:
    """Which reports of one kind have nothing but zeros after their end."""
    return np.logical_not(rows[:, part.row_bytes :].any(axis=1))


def counted_apart(number: str, parts: Sequence[Bulk[Any]], columns: Columns) -> list[Cells]:
    """The cells of each kind; `FormatError` for a kind that does not exist, and for reports that no device sends."""
    refuse_values(columns[number], len(parts), number)
    found: dict[int, Cells] = {
        i: parts[i].count(unframed(parts[i], rows)) for i, _, rows in apart(columns[number], columns[_REPORT])
    }
    return [found[i] if i in found else _none(part) for i, part in enumerate(parts)]


def _none(part: Bulk[Any]) -> Cells:
    """The cells of no reports."""
    return {name: np.zeros(shape, np.int64) for name, shape in part.layout.items()}


def possible_frames(number: str, parts: Sequence[Bulk[Any]], columns: Columns) -> BoolArray:
    """Which reports a device can have sent: of a kind that exists, possible there, and with zeros after their end."""
    found = np.zeros(columns[number].size, np.bool_)
    for i, at, rows in apart(columns[number], columns[_REPORT]):
        if i < len(parts):
            found[at] = filled(parts[i], rows) & parts[i].possible(split_rows(parts[i].fields, rows))
    return found


def log2_sum(outputs: Sequence[float]) -> float:
    """The base-2 logarithm of how many reports there are of all kinds together, from those of each."""
    return max(outputs) + math.log2(sum(2.0 ** (v - max(outputs)) for v in outputs))


def chosen_channel(names: Sequence[str], channels: Sequence[Channel], shares: Sequence[int]) -> Channel:
    """The channel of inputs that all kinds have, where one kind is drawn by shares and shown."""
    whole = math.lcm(*(channel.total for channel in channels))
    weights = [
        tuple(w * share * (whole // channel.total) for w in row)
        for channel, share in zip(channels, shares, strict=True)
        for row in channel.weights
    ]
    outputs = [f"{name}, {o}" for name, channel in zip(names, channels, strict=True) for o in channel.outputs]
    return Channel(tuple(outputs), tuple(weights), whole * sum(shares))
