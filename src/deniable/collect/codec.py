"""Versioned bytes of reports and tallies. Each part of the header is checked on its own and refused by name.

A file is: 4 bytes magic, 1 byte version, a header (4 bytes length, canonical JSON, 4 bytes CRC-32), then
- reports: blocks of (4 bytes number of reports, 4 bytes CRC-32, the columns one after the other), and a last block of
  number 0 with an 8-byte total, so that a file that was cut short is noticed;
- tally: the cells in the order of the header as little-endian 64-bit integers, and their CRC-32. Version 2 is that of
  designs of parts: strata and cells are those of the parts, each with its part's name.
"""

from __future__ import annotations

import io
import json
import math
import re
import struct
import zlib
from collections.abc import Iterator
from dataclasses import replace
from hashlib import blake2b
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from deniable.collect.limits import BLOCK, BLOCK_WRITTEN, CELLS, HEADER, check_answers, parse_header, too_many
from deniable.collect.reports import Design, Field, Reports
from deniable.collect.tally import Tally
from deniable.core.types import Columns
from deniable.errors import FormatError, MergeError

__all__ = [
    "MAGIC",
    "Head",
    "ReportReader",
    "ReportWriter",
    "block_of",
    "canonical",
    "columns_in",
    "dump",
    "kind_of",
    "load",
    "read",
]

_VERSION, _OF_PARTS = 1, 2
"""Of files; tallies of a design of parts, whose cells have not all the same strata, are of the second version."""
MAGIC = {b"DNRP": "reports", b"DNTL": "tally"}
"""How files of reports and of tallies begin, whatever their names end in."""
_ID = re.compile("[0-9a-f]{32}")
_ROWS = 1 << 16
"""Reports of a block that `dump` writes, so that readers need not hold them all."""
_U32, _BLOCK, _END = struct.Struct("<I"), struct.Struct("<II"), struct.Struct("<Q")


def canonical(document: object) -> bytes:
    """The one JSON text of a document."""
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def dump(what: Reports | Tally, *, id: str = "") -> bytes:
    """Reports or a tally as bytes that carry their design; `id` is that of a new report file (`new_id`)."""
    out = io.BytesIO()
    if isinstance(what, Tally):
        _write_tally(out, what)
    elif isinstance(what, Reports):
        with ReportWriter(out, what.design, what.fields, simulated=what.simulated, id=id) as writer:
            for start in range(0, len(what), _ROWS):
                writer.write(what[start : start + _ROWS])
    else:
        hint = "A mechanism is written by dn.save(m, path), and travels as m.design."
        raise FormatError(f"only reports and tallies have bytes, got {type(what).__name__}.", hint)
    return out.getvalue()


def load(data: bytes) -> Reports | Tally:
    """The inverse of `dump`; `FormatError` says which part of the bytes is wrong."""
    found = read(io.BytesIO(bytes(data)))
    if isinstance(found, Tally):
        return found
    parts = list(found)
    reports = Reports.concat(parts) if parts else found.empty()
    known = (found.id,) if found.id else ()
    return replace(reports, sources=known, batches=known or (found.content,))


def kind_of(start: bytes) -> str:
    """'reports' or 'tally', by the first four bytes."""
    kind = MAGIC.get(bytes(start[:4]))
    if kind is None:
        raise FormatError(
            f"these bytes are neither reports nor a tally: they start with {bytes(start[:4])!r}.",
            "Answers become reports by privatize, and reports a tally by tally: give what one of them wrote.",
        )
    return kind


class Head(NamedTuple):
    """What stands before reports, in files of any format: what they are, and which file this is."""

    design: Design
    fields: tuple[Field, ...]
    simulated: bool
    id: str = ""

    def document(self) -> dict[str, Any]:
        """As plain data."""
        layout = [[f.name, f.kind, f.width] for f in self.fields]
        return {
            "design": self.design,
            "fields": layout,
            "simulated": self.simulated,
            **({"id": self.id} if self.id else {}),
        }

    @classmethod
    def of(cls, document: dict[str, Any]) -> Head:
        """The inverse of `document`; `FormatError` says which part is wrong."""
        rows = _rows(document, "fields", 3)
        if any(not (isinstance(a, str) and isinstance(b, str) and type(c) is int and c > 0) for a, b, c in rows):
            raise FormatError("the header's 'fields' are not well formed: each is a name, a kind and a width.")
        fields = tuple(Field(*row) for row in rows)
        id = "".join(_ids([document["id"]] if "id" in document else []))
        return cls(_part(document, "design", dict), fields, _part(document, "simulated", bool), id)


def block_of(reports: Reports) -> bytes:
    """The columns of reports, one after the other."""
    return b"".join(reports.columns[f.name].tobytes() for f in reports.fields)


def columns_in(fields: tuple[Field, ...], n: int, block: Any) -> Columns:
    """The inverse of `block_of`: columns of n reports, which are views of the block."""
    columns: Columns = {}
    start = 0
    for field in fields:
        column = np.frombuffer(block, field.dtype, n * field.width // field.dtype.itemsize, start)
        columns[field.name] = column.reshape(field.shape(n))
        start += n * field.width
    return columns


class ReportWriter:
    """Writes reports block by block; `close` (or leaving the `with`) writes the end mark."""

    def __init__(
        self, out: BinaryIO, design: Design, fields: tuple[Field, ...], *, simulated: bool, id: str = ""
    ) -> None:
        self._out, self.design, self.simulated, self.total = out, design, simulated, 0
        _write_header(out, b"DNRP", Head(design, fields, simulated, id).document())

    def __enter__(self) -> ReportWriter:
        return self

    def __exit__(self, kind: object, *rest: object) -> None:
        if kind is None:
            self.close()

    def write(self, reports: Reports) -> None:
        """Append a batch of the same design; simulated reports never hide in a file that is not marked so."""
        if reports.design != self.design or (reports.simulated and not self.simulated):
            raise MergeError("these reports are of another design than the file, or simulated while it is not.")
        rows = max(1, BLOCK_WRITTEN // reports.row_bytes)
        for start in range(0, len(reports), rows):
            part = reports[start : start + rows]
            payload = block_of(part)
            self._out.write(_BLOCK.pack(len(part), zlib.crc32(payload)) + payload)
            self.total += len(part)

    def close(self) -> None:
        """Write the end mark."""
        self._out.write(_BLOCK.pack(0, 0) + _END.pack(self.total))


class Block(NamedTuple):
    """Some reports of a file, as bytes."""

    first: int
    n: int
    crc: int
    payload: bytes


class ReportReader:
    """Reads a report file block by block, in bounded memory."""

    def __init__(self, stream: BinaryIO, magic: bytes | None = None) -> None:
        self._stream = stream
        header = _read_header(stream, "reports", magic)
        self.head = Head.of(header)
        self.design, self.fields, self.simulated, self.id = self.head
        self._row_bytes, self.total = sum(field.width for field in self.fields), 0
        self._digest = blake2b(canonical(header), digest_size=16)

    @property
    def content(self) -> str:
        """A hash of what was read of a file that has no id: once it is all read, it tells this file from others."""
        return self._digest.hexdigest()

    def empty(self) -> Reports:
        """No reports of this design."""
        columns: Columns = {f.name: np.empty(f.shape(0), f.dtype) for f in self.fields}
        return Reports(self.design, self.fields, columns, self.simulated)

    def __iter__(self) -> Iterator[Reports]:
        return map(self.decode, self.blocks())

    def blocks(self) -> Iterator[Block]:
        """The blocks as they are in the file; `decode`, which may run on another thread, checks them."""
        while True:
            n, crc = _BLOCK.unpack(_take(self._stream, _BLOCK.size, "a block's head"))
            if n == 0:
                self._finish(crc)
                return
            if n * self._row_bytes > BLOCK:
                size = f"{n:,} reports of {self._row_bytes:,} bytes each"
                raise FormatError(f"a block has {size}, at most {BLOCK:,} bytes are allowed.")
            payload = _take(self._stream, n * self._row_bytes, f"a block of {n} reports")
            if not self.id:
                self._digest.update(payload)
            yield Block(self.total, n, crc, payload)
            self.total += n

    def decode(self, block: Block) -> Reports:
        """The reports of a block; `FormatError` if its bytes do not match its check sum."""
        first, n, crc, payload = block
        _check_crc(payload, crc, f"the block after report {first}")
        return Reports(self.design, self.fields, columns_in(self.fields, n, payload), self.simulated)

    def _finish(self, crc: int) -> None:
        (total,) = _END.unpack(_take(self._stream, _END.size, "the end mark"))
        if crc:
            raise FormatError("the end mark is damaged: its check sum is not 0.")
        if total != self.total:
            raise FormatError(f"the end mark says {total} reports, {self.total} were found.")
        if self._stream.read(1):
            raise FormatError(
                "there are bytes after the end mark.", "Was something appended? Tally files apart, then add."
            )


def read(stream: BinaryIO) -> Tally | ReportReader:
    """A tally, or a reader of reports, whichever the stream holds (it need not be seekable)."""
    magic = _take(stream, 4, _MAGIC_NAME)
    return _read_tally(stream, magic) if kind_of(magic) == "tally" else ReportReader(stream, magic)


def _write_tally(out: BinaryIO, tally: Tally) -> None:
    size = sum(cell.size for cell in tally.cells.values())
    if size > CELLS:
        raise too_many(size)
    names = sorted(tally.cells)
    layout = [[name, list(tally.cells[name].shape)] for name in names]
    header = {"design": tally.design, "strata": list(tally.strata), "cells": layout, "simulated": tally.simulated}
    header |= {"sources": list(tally.sources)} if tally.sources else {}
    _write_header(out, b"DNTL", header, _version_of(tally.design))
    payload = b"".join(tally.cells[name].astype("<i8").tobytes() for name in names)
    out.write(payload + _U32.pack(zlib.crc32(payload)))


def _read_tally(stream: BinaryIO, magic: bytes | None = None) -> Tally:
    header = _read_header(stream, "tally", magic)
    layout = _layout(_rows(header, "cells", 2))
    payload = b"".join(_take(stream, 8 * size, f"cell {name!r}") for name, _, size in layout)
    _check_crc(payload, _U32.unpack(_take(stream, 4, "the check sum"))[0], "the tally's cells")
    if stream.read(1):
        raise FormatError("there are bytes after the tally.")
    cells, start = {}, 0
    for name, shape, size in layout:
        cells[name] = np.frombuffer(payload, "<i8", size, start).reshape(shape).astype(np.int64)
        start += 8 * size
    strata, simulated = tuple(_part(header, "strata", list)), _part(header, "simulated", bool)
    return Tally(_part(header, "design", dict), strata, cells, simulated, _ids(header.get("sources", [])))


def _ids(given: Any) -> tuple[str, ...]:
    """Ids of report files, of 32 hexadecimal digits each."""
    if not isinstance(given, list) or not all(isinstance(x, str) and _ID.fullmatch(x) for x in given):
        raise FormatError("the header's ids of report files are not well formed.")
    return tuple(given)


def _rows(header: dict[str, Any], name: str, width: int) -> list[list[Any]]:
    """A list of the header: at least one entry of `width` things, each with a name of its own."""
    rows: list[Any] = _part(header, name, list)
    if not rows or any(not isinstance(row, list) or len(row) != width for row in rows):
        raise FormatError(f"the header's {name!r} are not well formed: a list of {width} things each, at least one.")
    if len({str(row[0]) for row in rows}) < len(rows):
        raise FormatError(f"one of the header's {name!r} occurs twice.")
    return rows


def _layout(rows: list[list[Any]]) -> list[tuple[str, tuple[int, ...], int]]:
    """Name, shape and number of entries of each cell."""
    for name, shape in rows:
        if (
            not isinstance(name, str)
            or not isinstance(shape, list)
            or not all(type(s) is int and s >= 0 for s in shape)
        ):
            raise FormatError("the header's 'cells' are not well formed: each is a name and a list of sizes.")
        if len(shape) not in (1, 2) or not shape[0]:
            raise FormatError(
                f"the header's cells {name!r} have the shape {shape}; it is strata, or strata by entries."
            )
    layout = [(name, tuple(shape), math.prod(shape)) for name, shape in rows]
    whole = sum(size for *_, size in layout)
    if whole > CELLS:
        raise too_many(whole)
    return layout


def _version_of(design: Design) -> int:
    """The version of a tally's file."""
    return _OF_PARTS if "parts" in design else _VERSION


def _write_header(out: BinaryIO, magic: bytes, document: dict[str, Any], version: int = _VERSION) -> None:
    check_answers(document["design"])
    text = canonical(document)
    _check_length(len(text))
    out.write(magic + bytes([version]) + _U32.pack(len(text)) + text + _U32.pack(zlib.crc32(text)))


def _read_header(stream: BinaryIO, kind: str, magic: bytes | None) -> dict[str, Any]:
    found = kind_of(magic or _take(stream, 4, _MAGIC_NAME))
    if found != kind:
        raise FormatError(f"this is a {found} file, a {kind} file is needed.")
    version = _take(stream, 1, "the version")[0]
    known = (_VERSION, _OF_PARTS) if kind == "tally" else (_VERSION,)
    if version not in known:
        read = " and ".join(map(str, known))
        raise FormatError(f"this {kind} file has version {version}, this program reads {read}.", "Upgrade deniable.")
    (length,) = _U32.unpack(_take(stream, 4, "the header's length"))
    _check_length(length)
    text = _take(stream, length, "the header")
    _check_crc(text, _U32.unpack(_take(stream, 4, "the header's check sum"))[0], "the header")
    document = parse_header(text)
    design = _part(document, "design", dict)
    check_answers(design)
    if kind == "tally" and version != _version_of(design):
        raise FormatError(f"this tally file has version {version}; a tally of its design has {_version_of(design)}.")
    if version == _OF_PARTS and not all(isinstance(part, dict) for part in _part(design, "parts", list)):
        raise FormatError("the design's 'parts' are not well formed: each is a design.")
    return document


def _check_length(length: int) -> None:
    if length > HEADER:
        raise FormatError(f"the header has {length:,} bytes, at most {HEADER:,} are allowed; is the file damaged?")


def _part(header: dict[str, Any], name: str, kind: type) -> Any:
    value = header.get(name)
    if not isinstance(value, kind):
        raise FormatError(f"the header's {name!r} is missing or no {kind.__name__}.")
    return value


_MAGIC_NAME = "the magic"
"""What a file begins with, in errors."""


def _take(stream: BinaryIO, size: int, what: str) -> bytes:
    parts, left = [], size
    while left:
        part = stream.read(min(left, 1 << 24))
        if not part and left == size and what == _MAGIC_NAME:
            raise FormatError("the file is empty.", "Give a file that deniable wrote.")
        if not part:
            raise FormatError(
                f"the file ends inside {what}: {size} bytes are needed, {size - left} are there.", "Is it truncated?"
            )
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def _check_crc(payload: bytes, crc: int, what: str) -> None:
    if zlib.crc32(payload) != crc:
        raise FormatError(f"{what} does not match its check sum; the bytes were altered or damaged.")
