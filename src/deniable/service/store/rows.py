"""Tallies as the store keeps them: small where few reports were counted, however many answers there are.

A row is 4 bytes magic, 1 byte version, 8 bytes that name the tally's header, then the cells and their check sum,
compressed. The header itself (it has the design) is the same for all tallies of a question and is not kept: the task
has it. Rows of older versions are whole tally files (`collect.codec`) and stay readable.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b

import numpy as np

from deniable.collect.codec import dump, load
from deniable.collect.tally import Tally
from deniable.errors import FormatError
from deniable.service.ingest import Intake
from deniable.service.store.contract import Batch

__all__ = ["MAGIC", "Recent", "Shapes", "Tallies"]

MAGIC = b"DNTZ"
"""How a row begins; a tally file begins with another word."""
_VERSION = 1
_HEAD = struct.Struct("<4sB8s")
_CRC = struct.Struct("<I")
_RECENT_BYTES = 32 << 20
"""Of tallies that are at hand between commits."""
_CHECK = "Run deniable store check; restore a backup if it finds damage."


class Shapes:
    """What all tallies of a task's questions have in common, found when it is needed."""

    def __init__(self, intake: Intake) -> None:
        self._intake = intake
        self._known: dict[int, _Shape] = {}

    def pack(self, question: int, tally: Tally) -> bytes:
        """The row of a tally."""
        return self._of(question).pack(tally)

    def unpack(self, question: int, row: bytes) -> Tally:
        """The tally of a row; `FormatError` if it is damaged or of another design."""
        if not row.startswith(MAGIC):
            return _of_file(row)
        return self._of(question).unpack(row)

    def _of(self, question: int) -> _Shape:
        if question not in self._known:
            if question >= len(self._intake.mechanisms):
                raise FormatError(
                    f"a tally of question {question} is not of the task's design: it has no such question.", _CHECK
                )
            self._known[question] = _Shape(self._intake.mechanisms[question].empty())
        return self._known[question]


class _Shape:
    """The header and the cells of one question's tallies."""

    def __init__(self, empty: Tally) -> None:
        self._design, self._strata = empty.design, empty.strata
        self._layout = sorted(empty.layout.items())
        self._size = 8 * sum(cell.size for cell in empty.cells.values())
        self._head = dump(empty)[: -self._size - _CRC.size]
        self._start = _HEAD.pack(MAGIC, _VERSION, blake2b(self._head, digest_size=8).digest())

    def pack(self, tally: Tally) -> bytes:
        data = dump(tally)
        if data[: -self._size - _CRC.size] != self._head:  # it knows more about itself than the task does
            return data
        return self._start + zlib.compress(data[len(self._head) :], 1)

    def unpack(self, row: bytes) -> Tally:
        if len(row) < _HEAD.size:
            raise FormatError(f"a row of tallies has {len(row)} bytes, its head alone {_HEAD.size}.", _CHECK)
        _, version, _ = _HEAD.unpack_from(row)
        if version != _VERSION:
            raise FormatError(f"a row of tallies has version {version}, this program reads {_VERSION}.", "Upgrade.")
        if row[: _HEAD.size] != self._start:
            raise FormatError("a tally is not of the task's design.", _CHECK)
        payload = self._cells(row[_HEAD.size :])
        cells, start = {}, 0
        for name, shape in self._layout:
            size = int(np.prod(shape))
            cells[name] = np.frombuffer(payload, "<i8", size, start).reshape(shape).astype(np.int64)
            start += 8 * size
        return Tally(self._design, self._strata, cells)

    def _cells(self, data: bytes) -> bytes:
        """The bytes of the cells; never more than they can have, whatever the row says."""
        whole, unpacker = self._size + _CRC.size, zlib.decompressobj()
        try:
            found = unpacker.decompress(data, whole + 1)
        except zlib.error as error:
            raise FormatError(f"a row of tallies is damaged: {error}.", _CHECK) from error
        if len(found) != whole or not unpacker.eof or unpacker.unused_data:
            raise FormatError(f"a row of tallies is damaged: {len(found)} bytes of cells instead of {whole}.", _CHECK)
        if _CRC.unpack_from(found, self._size)[0] != zlib.crc32(found[: self._size]):
            raise FormatError("a row of tallies is damaged: its cells do not match their check sum.", _CHECK)
        return found


class Tallies(Mapping[Batch, Tally]):
    """What has been counted for a task, shards added up; each tally is unpacked when it is asked for.

    Whoever goes through all of them holds one at a time, beside the rows.
    """

    def __init__(self, rows: Mapping[Batch, Sequence[bytes]], shapes: Shapes) -> None:
        self._rows, self._shapes = rows, shapes

    def __getitem__(self, batch: Batch) -> Tally:
        first, *others = (self._shapes.unpack(batch.question, row) for row in self._rows[batch])
        return sum(others, first)

    def __iter__(self) -> Iterator[Batch]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


def _of_file(row: bytes) -> Tally:
    found = load(row)
    if not isinstance(found, Tally):
        raise FormatError("a row of the table of tallies has something else in it.", _CHECK)
    return found


class Recent:
    """Tallies that are at hand between commits, with the bytes of their rows."""

    def __init__(self) -> None:
        self._tallies: dict[tuple[int, Batch], tuple[bytes, Tally]] = {}
        self._held = 0
        """Bytes of the cells of these tallies."""

    def of(self, key: tuple[int, Batch], data: bytes) -> Tally | None:
        """The tally of a row with these bytes, if it is known."""
        before = self._tallies.get(key)
        return before[1] if before is not None and before[0] == data else None

    def keep(self, key: tuple[int, Batch], data: bytes, tally: Tally) -> None:
        """Keep a tally at hand; if its transaction fails, the bytes differ from those in the row."""
        if key not in self._tallies:
            size = sum(cell.nbytes for cell in tally.cells.values())
            if self._held + size > _RECENT_BYTES:
                self._tallies.clear()
                self._held = 0
            self._held += size
        self._tallies[key] = data, tally
