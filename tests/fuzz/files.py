"""Forged files: changes of stored ones that keep their check sums right."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Callable
from typing import Any

from deniable.collect.codec import canonical

Change = Callable[[dict[str, Any]], Any]
"""Alters a header in place, or gives another document, or its bytes."""


def header_of(data: bytes) -> dict[str, Any]:
    """The header of a report or tally file."""
    (length,) = struct.unpack_from("<I", data, 5)
    document: dict[str, Any] = json.loads(data[9 : 9 + length])
    return document


def body_of(data: bytes) -> bytes:
    """What stands after the header."""
    (length,) = struct.unpack_from("<I", data, 5)
    return data[13 + length :]


def reheaded(data: bytes, change: Change) -> bytes:
    """The same file with another header, its length and check sum put right: what a careful forger would send."""
    document = header_of(data)
    found = change(document)
    text = found if isinstance(found, bytes) else canonical(document if found is None else found)
    return data[:5] + struct.pack("<I", len(text)) + text + struct.pack("<I", zlib.crc32(text)) + body_of(data)


def retold(data: bytes, cells: bytes) -> bytes:
    """The same tally file with other cells."""
    return data[: len(data) - len(body_of(data))] + cells + struct.pack("<I", zlib.crc32(cells))
