"""Files in and out: values read in chunks, and outputs that appear whole or not at all."""

from __future__ import annotations

import csv
import io
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

import numpy as np
from numpy.typing import NDArray

from deniable.collect.files import replacing
from deniable.core.domain import Domain
from deniable.core.space import Space
from deniable.core.types import IntArray
from deniable.core.values import is_missing
from deniable.errors import DeniableError, FormatError, InWords, ParameterError, meant, require
from deniable.run.columnar import COLUMNAR, table_parts
from deniable.run.layout import STANDARD, Layout
from deniable.run.sources import Progress, files_of, regular_size, told_of

__all__ = [
    "Chunk",
    "Progress",
    "ask_header",
    "check_output",
    "csv_bytes",
    "encode",
    "is_float",
    "named",
    "naming",
    "open_input",
    "open_output",
    "read_columns",
    "read_labels",
    "read_space",
    "read_values",
    "refuse_loss",
    "regular_size",
]

_FORMULA = re.compile(r"'*[=+\-@\t\r]")
"""How text begins that a spreadsheet would compute, with or without the apostrophes that keep it from doing so."""
_SIGNED = re.compile(r"[+-]([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_WHOLE = re.compile(r"[+-]?[0-9]{1,30}")
_SEPARATED = re.compile(r"[+-]?[0-9][0-9.,'\u2019\s]*")
"""Numbers as people read them, with commas, apostrophes or spaces in them."""

_Wanted = tuple[str | None, str]
"""A column, the only one if it is not named, and what the parameter is called that names it."""

_COORDINATES = ({"lat", "latitude"}, {"lon", "lng", "longitude"})
"""What the columns of places may be called."""

_SHORT = 18
"""Digits of a number that surely fits 64 bits."""


@contextmanager
def open_input(source: str) -> Iterator[BinaryIO]:
    """A file, or standard input for `-`, as bytes; an error that names it where it cannot be read."""
    if source == STANDARD:
        yield sys.stdin.buffer
        return
    with _open(source) as stream:
        yield stream


def _open(source: str) -> BinaryIO:
    hint = "Give the path of a file, or - for standard input."
    if not source:
        raise ParameterError("cannot read '': the name of a file is not empty.", hint)
    try:
        return Path(source).open("rb")
    except (OSError, ValueError) as error:
        raise ParameterError(f"cannot read {source!r}: {_why(error)}.", hint) from error


def _why(error: OSError | ValueError) -> str:
    """Why a path cannot be used, in the words of the operating system, or of Python for one that is not a path."""
    return (getattr(error, "strerror", None) or str(error)).rstrip(".")


def named(source: str) -> str:
    """A file to read, in words."""
    return "standard input" if source == STANDARD else source


def check_output(target: str, name: str = "out") -> None:
    """Refuse an output that cannot be written, before any work is done for it."""
    if target == STANDARD:
        return
    path = _place_of(target, name)
    require(path.parent.is_dir(), name, target, "in a folder that exists", f"Create {str(path.parent)!r} first.")
    require(not path.is_dir(), name, target, "the name of a file", f"This is a folder; a file in it: {path.name}/NAME.")
    place = path if _is_device(path) else path.parent
    require(os.access(place, os.W_OK), name, target, "where you may write", "Ask for the right, or choose a place.")


def refuse_loss(
    target: str, sources: Iterable[str] = (), *, force: bool = False, name: str = "out", how: str = "--force"
) -> None:
    """Refuse an output that is one of the inputs, and one that exists unless it may be replaced (`how` tells it)."""
    path = _place_of(target, name)
    if target == STANDARD or _is_device(path) or not path.exists():
        return
    for source in sources:
        same = source != STANDARD and os.path.exists(source) and os.path.samefile(path, source)
        require(not same, name, target, "another file than the input", "Nothing was written: choose another name.")
    hint = f"Nothing was written: choose another name, or say {how} to replace it."
    require(force, name, target, "the name of a new file: this one exists", hint)


def _place_of(target: str, name: str) -> Path:
    """Where an output goes; an error that names it where there can be no such file."""
    try:
        path = Path(os.path.realpath(target))
        path.exists()  # raises for names that no file can have
    except (OSError, ValueError) as error:
        raise ParameterError(f"{name} must be the name of a file, got {target!r}: {_why(error)}.") from error
    return path


@contextmanager
def naming(source: str) -> Iterator[None]:
    """Errors say in which file they were found."""
    try:
        yield
    except DeniableError as error:
        raise type(error)(f"{named(source)}: {error.message}", error.hint) from error


@contextmanager
def open_output(target: str, *, private: bool = False) -> Iterator[BinaryIO]:
    """A file to write bytes to, or standard output for `-`.

    The file appears when all is written; after an error (also an interruption) nothing is left, and what was there
    before stays. Devices and pipes are written directly. Only its owner can read a `private` one.
    """
    check_output(target)
    path = Path(os.path.realpath(target))
    if target == STANDARD:
        if sys.stdout.isatty():
            raise ParameterError(
                "out must not be - while standard output is a terminal: these bytes are not text.",
                "Give the name of a file, or pipe them into the next command.",
            )
        yield sys.stdout.buffer
        sys.stdout.flush()
    elif _is_device(path):
        with path.open("wb") as stream:
            yield stream
    else:
        with replacing(path, private=private) as stream:
            yield stream


def _is_device(path: Path) -> bool:
    """Something that is there and must not be replaced by a file: a device or a named pipe."""
    return path.exists() and not path.is_file()


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some values of a file, and where each of them stands."""

    cells: Sequence[Any] | NDArray[Any]
    places: Sequence[int]
    source: str
    unit: str
    column: str = ""
    """The column's name, where there are several."""
    header: str | None = None
    """What was taken for the name of the column, though nobody said that it is; with the first values only."""

    def place(self, i: int) -> str:
        """Where cell i stands, in words."""
        column = f", column {self.column!r}" if self.column else ""
        return f"{named(self.source)}, {self.unit} {self.places[i]}{column}"


def read_values(
    source: str,
    size: int,
    *,
    column: str | None = None,
    format: str | Layout = "auto",
    progress: Progress | None = None,
) -> Iterator[Chunk]:
    """The values of a file in chunks of `size` (the last one may be shorter), in bounded memory.

    A folder or a pattern (`day-*.csv`) stands for all files that it has, in the order of their names.

    CSV has a header row unless the layout says otherwise; `column` names the column, and may be left out where there is
    only one. `lines` has one value per line. Parquet needs the extra `frames`. Empty cells and lines are missing. In
    CSV the apostrophe that keeps spreadsheets from computing a cell is taken off (`csv_bytes`).
    """
    layout = Layout.of(format)
    lines = any(layout.kind(path) == "lines" for path in files_of(source))
    require(not lines or column is None, "column", column, "left out", "One value per line has no columns.")
    for path, told in told_of(source, progress):
        for (chunk,) in _read(path, size, ((column, "column"),), layout, told):
            yield chunk


def read_columns(
    source: str,
    size: int,
    columns: Sequence[str],
    *,
    called: Sequence[str] = ("columns",) * 3,
    format: str | Layout = "auto",
    progress: Progress | None = None,
) -> Iterator[tuple[Chunk, ...]]:
    """Several columns of a CSV or Parquet file together, `size` rows at a time, as `read_values` reads one.

    Errors name the parameter that each of them comes from as it is `called`.
    """
    wanted = tuple(zip(columns, called, strict=False))
    layout = Layout.of(format)
    hint = f"The columns {', '.join(columns)} are needed: give a CSV or Parquet file, or --format csv."
    for kind in {layout.kind(path) for path in files_of(source)}:
        require(kind != "lines", "format", kind, "csv or parquet", hint)
    twice = sorted({name for name in columns if list(columns).count(name) > 1})
    require(not twice, "columns", twice, "different from each other")
    for path, told in told_of(source, progress):
        for chunks in _read(path, size, wanted, layout, told):
            yield tuple(replace(chunk, column=name) for chunk, name in zip(chunks, columns, strict=True))


def _read(
    source: str, size: int, columns: Sequence[_Wanted], layout: Layout, progress: Progress | None
) -> Iterator[tuple[Chunk, ...]]:
    """Chunks of some columns, side by side."""
    kind = layout.kind(source)
    if kind in COLUMNAR:
        yield from _table_chunks(source, kind, size, columns, progress)
        return
    with open_input(source) as stream, layout.unpacked(stream, source) as plain:
        text = io.TextIOWrapper(plain, layout.codec, newline="" if kind == "csv" else None)
        total = regular_size(source)
        read = _csv_chunks(text, source, columns, size, layout) if kind == "csv" else _line_chunks(text, source, size)
        try:
            for chunk in read:
                yield chunk
                if progress is not None and total is not None:
                    progress(stream.tell(), total)
        except UnicodeError as error:
            hint = "Say what it is with --text-encoding, for example cp1252 or utf-16; or with --format."
            reason = getattr(error, "reason", error)
            raise FormatError(f"{source} is not {(layout.encoding or 'UTF-8')} text ({reason}).", hint) from error
        finally:
            text.detach()


def csv_bytes(rows: Sequence[Mapping[str, Any]]) -> bytes:
    """Rows of equal keys as CSV with a header; text that a spreadsheet would compute gets an apostrophe before it.

    `read_values` and `read_columns` take it off again. Numbers, also those in text, stay as they are.

    >>> csv_bytes([{"label": "=1+1", "value": -0.5}]).decode().splitlines()[1]
    "'=1+1,-0.5"
    """
    lines: list[Iterable[object]] = [rows[0].keys(), *(row.values() for row in rows)]
    return "".join(",".join(map(_cell, line)) + "\n" for line in lines).encode()


def _cell(cell: object) -> str:
    """A cell of a CSV file; one with a line end of any kind is quoted, which `csv.writer` does not do for all."""
    text = "" if cell is None else str(cell)
    if isinstance(cell, str) and _FORMULA.match(text) and not _SIGNED.fullmatch(text):
        text = f"'{text}"
    return '"' + text.replace('"', '""') + '"' if any(sign in text for sign in ',"\r\n') else text


def _unguarded(cell: str) -> str:
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def encode(domain: Domain, chunk: Chunk) -> IntArray:
    """The chunk's values as item numbers; the error for one that is not allowed says where it stands."""
    if chunk.header is not None:
        _ask(domain, chunk.header, chunk.source)
    cells = _numbers(chunk.cells) if domain.labels is None else chunk.cells
    try:
        return domain.encode(cells)
    except ParameterError:
        raise _refusal(domain, chunk, cells) from None


def read_labels(source: str) -> list[str]:
    """Labels from a file of UTF-8 text, one per line, in its order: at least two, each of them once."""
    found: dict[str, int] = {}
    try:
        for chunk in read_values(source, 1 << 16, format="lines"):
            for line, label in zip(chunk.places, chunk.cells, strict=True):
                place = InWords(f"{named(source)}, line {line}")
                require(label != "", "labels-file", place, "free of empty lines")
                twice = InWords(f"{label!r} in the lines {found.get(label)} and {line} of {named(source)}")
                require(label not in found, "labels-file", twice, "a file of labels that differ from each other")
                found[label] = line
    except FormatError as error:
        raise FormatError(error.message, "Save the labels as UTF-8 text.") from error
    held = InWords(f"{len(found)} in {named(source)}")
    require(len(found) >= 2, "labels-file", held, "a file of at least 2 labels", "It has one label per line.")
    return list(found)


def _ask(domain: Domain, header: str, source: str) -> None:
    """Ask whether a header is one, if it could just as well be the first value."""
    if not header.strip() or _is_value(domain, header):
        ask_header(header, source)


def ask_header(header: str, source: str) -> NoReturn:
    """Ask whether the first line is a header or a value, where nobody can tell."""
    raise ParameterError(
        f"{named(source)}: the first line, {header!r}, may be the header or the first value.",
        "Say --no-header if the values start there, or --column NAME if that is the name of the column.",
    )


def _is_value(domain: Domain, text: str) -> bool:
    """Whether a text is a value itself, not counting as one for being missing or another one."""
    if domain.labels is not None:
        return text in domain.labels
    try:
        domain.encode(_numbers((text,)))
    except ParameterError:
        return False
    return True


def _line_chunks(text: io.TextIOWrapper, source: str, size: int) -> Iterator[tuple[Chunk, ...]]:
    start = 1
    while cells := tuple(line.rstrip("\n") for line in islice(text, size)):
        yield (Chunk(cells, range(start, start + len(cells)), source, "line"),)
        start += len(cells)


def _csv_chunks(
    text: io.TextIOWrapper, source: str, columns: Sequence[_Wanted], size: int, layout: Layout
) -> Iterator[tuple[Chunk, ...]]:
    reader = _csv_rows(text, source, layout)
    _, first = next(reader, (1, None))
    if first is None:
        raise FormatError(f"{source} is empty; a CSV file starts with a header row.")
    first = first or [""]
    names = [_unguarded(name) for name in first] if layout.header else [str(i + 1) for i in range(len(first))]
    held = [] if layout.header else [(1, first)]
    picked, width = [_pick(names, column, source, layout) for column in columns], len(names)
    unsaid = names[picked[0]] if layout.header and columns[0][0] is None else None
    while True:
        places, rows = [], []
        for line, row in islice(chain(held, reader), size):
            places.append(line)
            rows.append(row if len(row) == width else _blank(row, width, f"{source}, line {line}"))
        if not rows:
            return
        cells = [tuple(row[at] for row in rows) for at in picked]
        cells = [tuple(map(_unguarded, column)) if "'" in "".join(column) else column for column in cells]
        yield tuple(Chunk(column, places, source, "line", header=unsaid) for column in cells)
        held, unsaid = [], None


def _csv_rows(text: io.TextIOWrapper, source: str, layout: Layout) -> Iterator[tuple[int, list[str]]]:
    """The rows of a CSV file, each with the line that it begins in: a cell in quotation marks may have several."""
    reader = csv.reader(text, strict=True, delimiter=layout.separator(source))
    line = 1
    try:
        for row in reader:
            yield line, row
            line = reader.line_num + 1
    except csv.Error as error:
        hint = (
            "A cell with a delimiter, a line end or a quotation mark in it stands in quotation marks, doubled inside."
        )
        raise FormatError(f"{source}, line {line}: this is not well-formed CSV: {error}.", hint) from error


def _blank(row: list[str], width: int, place: str) -> list[str]:
    """A blank line is an empty cell where there is one column; other rows that do not fit the header are refused."""
    if row or width > 1:
        raise FormatError(f"{place}: the row has {len(row)} cell{'s' * (len(row) != 1)}, the header has {width}.")
    return [""]


def _pick(names: Sequence[str], wanted: _Wanted, source: str, layout: Layout | None = None) -> int:
    """The number of the column to read."""
    column, called = wanted
    shown = ", ".join(names)
    hint = "" if layout is None else _advice(names, layout.header)
    if column is None:
        require(len(names) == 1, called, column, f"given, since {source} has the columns {shown}", hint)
        other = _delimiter_in(names[0], layout)
        if other:
            raise FormatError(f"{source} has one column, {names[0]!r}.", f"Say --delimiter {other} if it has several.")
        return 0
    near = f"{meant(column, names)} {hint}".strip()
    require(column in names, called, column, f"one of the columns of {source}: {shown}", near)
    twice = list(names).count(column) > 1
    require(not twice, called, column, "a column that occurs once", f"The columns are {shown}.")
    return list(names).index(column)


def _advice(names: Sequence[str], header: bool) -> str:
    """What may be the matter with the columns of a CSV file."""
    if not header:
        return "Without a header columns are named by their numbers, from 1 on."
    if len(names) == 1 and (other := _delimiter_in(names[0], None)):
        return f"Say --delimiter {other} if that is what stands between the columns."
    return "If the first line is not a header, say --no-header; columns are then named by their numbers, from 1 on."


def _delimiter_in(name: str, layout: Layout | None) -> str:
    """A sign in a single column's name that often separates columns, by its name; nothing if the caller chose one."""
    if layout is not None and (layout.delimiter is not None or not layout.header):
        return ""
    return next((known for known, sign in (("semicolon", ";"), ("tab", "\t"), ("pipe", "|")) if sign in name), "")


def _table_chunks(
    source: str, kind: str, size: int, columns: Sequence[_Wanted], progress: Progress | None
) -> Iterator[tuple[Chunk, ...]]:
    require(source != STANDARD, "format", kind, "csv or lines for standard input", "Save it first.")
    done = 0
    with open_input(source) as stream:

        def pick(known: Sequence[str]) -> list[str]:
            return [known[_pick(known, column, source)] for column in columns]

        for parts, total in table_parts(stream, source, kind, size, pick):
            places = range(done + 1, done + len(parts[0]) + 1)
            done += len(parts[0])
            yield tuple(Chunk(cells, places, source, "row") for cells in parts)
            if progress is not None:
                progress(done, total)


def _numbers(cells: Sequence[Any] | NDArray[Any]) -> Sequence[Any] | NDArray[Any]:
    """Whole numbers written as text, all at once where they are nothing but digits; the rest stays, to be refused."""
    if isinstance(cells, np.ndarray) and cells.dtype != object:
        return cells
    if isinstance(cells, tuple):
        digits = "".join(cells)
        if digits.isascii() and digits.isdigit() and all(cells) and max(map(len, cells)) <= _SHORT:
            return np.fromiter(map(int, cells), np.int64, len(cells))
    return [int(cell) if isinstance(cell, str) and _WHOLE.fullmatch(cell.strip()) else cell for cell in cells]


def _refusal(domain: Domain, chunk: Chunk, cells: Sequence[Any] | NDArray[Any]) -> ParameterError:
    """The error for the first cell that the domain does not take, found by halving."""
    good, bad = 0, len(cells)
    while bad - good > 1:
        middle = (good + bad) // 2
        try:
            domain.encode(cells[good:middle])
            good = middle
        except ParameterError:
            bad = middle
    cell = chunk.cells[good]
    if isinstance(cell, np.generic):
        cell = cell.item()
    numbers, place = domain.allowed.startswith("numbers"), chunk.place(good)
    if not numbers and is_missing(cell):
        hint = "Fill it in, or declare the label that missing values count as (--missing LABEL, with labels)."
        return ParameterError(f"{place}: the value is missing; values must be {domain.allowed}.", hint)
    hint = "Nothing was clipped or coerced: correct it, enlarge the domain, or declare a label for such values"
    hint += " (--other LABEL, with labels)."
    if numbers:
        hint = "Nothing was clipped: correct it, leave it out, declare another --interval, or say --clip."
        if isinstance(cell, str) and not is_float(cell) and _SEPARATED.fullmatch(cell.strip()):
            hint = "Numbers have a decimal point and nothing between thousands: 1234.5, not 1,234.5 or 1.234,5."
    near = _near(str(cell).strip(), domain.labels or ())
    return ParameterError(f"{place}: values must be {domain.allowed}, got {cell!r}.", f"{near} {hint}".strip())


def _near(text: str, labels: Sequence[str]) -> str:
    """A hint at the label that is probably meant: the same in other letters, or a similar one."""
    same = next((label for label in labels if label.casefold() == text.casefold()), None)
    return meant(text, labels) if same is None else f"Did you mean {same}?"


def read_space(path: str | Path) -> Space:
    """A table of losses from a .csv file, with labels in its first line or without; or places, by their columns.

    Places have the columns latitude and longitude (or lat and lon), and if wanted `label`.
    """
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            rows = [[cell.strip() for cell in row] for row in csv.reader(file) if row]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        why = getattr(error, "strerror", None) or error
        hint = "It is a .csv file of losses, or of places with the columns latitude and longitude."
        raise FormatError(f"distances must be a file that can be read, got {str(path)!r}: {why}.", hint) from error
    with naming(str(path)):
        return _space(rows)


def _space(rows: list[list[str]]) -> Space:
    require(len(rows) >= 2, "distances", InWords(f"{len(rows)} lines"), "a table of at least 2 lines")
    head = [name.lower() for name in rows[0]]
    at = [next((i for i, name in enumerate(head) if name in names), None) for names in _COORDINATES]
    if None not in at:
        return _places(rows[1:], [i for i in at if i is not None], head)
    numbers = [is_float(cell) for cell in rows[0]]
    if all(numbers):
        return Space.losses(rows)
    need = "numbers, or else labels"
    require(not any(numbers), "the first line", rows[0], need, "Labels that are numbers cannot be told.")
    body = rows[1:]
    square = len(body) == len(head)
    return Space.losses(body, rows[0] if square else None)


def _places(rows: list[list[str]], at: list[int], head: list[str]) -> Space:
    short = next((i for i, row in enumerate(rows) if len(row) != len(head)), None)
    if short is not None:
        raise ParameterError(f"line {short + 2} has {len(rows[short])} cells, the first line has {len(head)}.")
    labels = [row[head.index("label")] for row in rows] if "label" in head else None
    return Space.places([[row[i] for i in at] for row in rows], labels)


def is_float(cell: str) -> bool:
    """Whether a cell is a number."""
    try:
        float(cell)
    except ValueError:
        return False
    return True
