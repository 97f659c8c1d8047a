"""Report and tally files with the standard library alone: their header, their check sums, and how many reports."""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Mapping
from typing import Any, BinaryIO, NamedTuple

from deniable_client.canonical import parse
from deniable_client.errors import FormatError, show

__all__ = ["MAGIC", "read_binary"]

MAGIC = {b"DNRP": "reports", b"DNTL": "tally"}
"""How files begin."""
_VERSIONS = {b"DNRP": (1,), b"DNTL": (1, 2)}
_HEADER_MAX, _BLOCK_MAX, _CELLS_MAX = 1 << 25, 1 << 30, 1 << 23
_PIECE = 1 << 20
_U32, _BLOCK, _END = struct.Struct("<I"), struct.Struct("<II"), struct.Struct("<Q")


class Binary(NamedTuple):
    """What a file holds."""

    header: Mapping[str, Any]
    n: int
    """Reports in it."""


def read_binary(magic: bytes, stream: BinaryIO) -> Binary:
    """Read a file behind its first four bytes; `FormatError` says which part is wrong. Nothing large is kept."""
    version = _take(stream, 1, "the version")[0]
    if version not in _VERSIONS[magic]:
        raise FormatError(f"this {MAGIC[magic]} file has version {version}, which is not known.")
    (length,) = _U32.unpack(_take(stream, 4, "the header's length"))
    if length > _HEADER_MAX:
        raise FormatError(f"the header has {length:,} bytes, at most {_HEADER_MAX:,} are allowed.")
    text = _take(stream, length, "the header")
    _check(zlib.crc32(text), _U32.unpack(_take(stream, 4, "the header's check sum"))[0], "the header")
    header = parse(text, "the header", _HEADER_MAX)
    if not isinstance(header.get("design"), Mapping) or not isinstance(header.get("simulated"), bool):
        raise FormatError("the header needs a design, and whether the reports are simulated.")
    n = _reports(header, stream) if magic == b"DNRP" else _tally(header, stream)
    if stream.read(1):
        raise FormatError("there are bytes after the end.")
    return Binary(header, n)


def _reports(header: Mapping[str, Any], stream: BinaryIO) -> int:
    fields = header.get("fields")
    if not isinstance(fields, list) or not fields or not all(_is_field(f) for f in fields):
        raise FormatError("the header's fields are not well formed: each is a name, a kind and a width.")
    width, total = sum(f[2] for f in fields), 0
    while True:
        n, crc = _BLOCK.unpack(_take(stream, _BLOCK.size, "a block's head"))
        if n == 0:
            (told,) = _END.unpack(_take(stream, _END.size, "the end mark"))
            if crc or told != total:
                raise FormatError(f"the end mark says {told:,} reports, {total:,} were found.")
            return total
        if n * width > _BLOCK_MAX:
            raise FormatError(f"a block has {n * width:,} bytes, at most {_BLOCK_MAX:,} are allowed.")
        _check(_summed(stream, n * width, f"the block after report {total:,}")[0], crc, f"the block after {total:,}")
        total += n


def _is_field(given: Any) -> bool:
    return (
        isinstance(given, list)
        and len(given) == 3
        and isinstance(given[0], str)
        and type(given[2]) is int
        and 0 < given[2] < 1 << 32
    )


def _tally(header: Mapping[str, Any], stream: BinaryIO) -> int:
    """The number of reports is the sum of the cell n."""
    cells, sizes = header.get("cells"), list[tuple[str, int]]()
    for cell in cells if isinstance(cells, list) else []:
        fits = isinstance(cell, list) and len(cell) == 2 and isinstance(cell[1], list) and len(cell[1]) in (1, 2)
        if not fits or not all(type(size) is int and 0 <= size <= _CELLS_MAX for size in cell[1]):
            raise FormatError(f"the header's cells are not well formed: {show(cell)}.")
        sizes.append((str(cell[0]), math.prod(cell[1])))
    if not sizes or sum(size for _, size in sizes) > _CELLS_MAX:
        raise FormatError(f"a tally has from 1 to {_CELLS_MAX:,} cells.")
    crc, n = 0, None
    for name, size in sizes:
        crc, data = _summed(stream, 8 * size, f"cell {name}", crc, keep=name == "n")
        if name == "n":
            counts = struct.unpack(f"<{size}q", data)
            if min(counts, default=0) < 0:
                raise FormatError("the tally counts fewer than no reports.")
            n = int(sum(counts))
    _check(crc, _U32.unpack(_take(stream, 4, "the check sum"))[0], "the tally's cells")
    if n is None:
        raise FormatError("a tally needs the cell n, the number of reports.")
    return n


def _summed(stream: BinaryIO, size: int, what: str, crc: int = 0, keep: bool = False) -> tuple[int, bytes]:
    """The check sum of so many bytes, piece by piece; the bytes if they are to be kept."""
    kept = bytearray()
    while size:
        piece = _take(stream, min(size, _PIECE), what)
        crc, size = zlib.crc32(piece, crc), size - len(piece)
        kept += piece if keep else b""
    return crc, bytes(kept)


def _take(stream: BinaryIO, size: int, what: str) -> bytes:
    found = stream.read(size)
    if len(found) < size:
        raise FormatError(f"the file ends within {what}: {len(found)} of {size} bytes are there.")
    return found


def _check(found: int, told: int, what: str) -> None:
    if found != told:
        raise FormatError(f"{what} is damaged: its check sum does not fit.")
