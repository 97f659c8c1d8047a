"""A disk that loses what was not synced, tears what it was writing, or refuses: file systems for SQLite, by apsw.

Files are real ones in a folder, so that the database reads what it wrote. Beside them the disk knows, for each file,
what is certain to survive a power failure (`xSync` was called after it was written) and what is under way.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw

from deniable.service.store.sqlite import Driver

SECTOR = 512
"""Bytes that a disk writes whole or not at all."""

Change = tuple[int, bytes | None]
"""Bytes at an offset, or a new length."""


@dataclass
class Disk:
    """What is on the platter, and what is on the way to it."""

    certain: dict[str, bytearray] = field(default_factory=dict)
    under_way: dict[str, list[Change]] = field(default_factory=dict)
    watch: Callable[[str], None] = lambda call: None
    """Told before every call; may raise what SQLite is to be told."""

    def change(self, name: str, call: str, change: Change) -> None:
        """Something is written to a file, or its length is changed."""
        self.watch(call)
        self.under_way.setdefault(name, []).append(change)

    def sync(self, name: str) -> None:
        """All that was written to a file is certain from now on."""
        self.watch("sync")
        content = self.certain.setdefault(name, bytearray())
        for change in self.under_way.pop(name, []):
            _apply(content, change)

    def forget(self, name: str) -> None:
        """A file is removed."""
        self.certain.pop(name, None)
        self.under_way.pop(name, None)

    def after_power_loss(self, rng: random.Random) -> dict[str, bytes]:
        """The files as they may be found: of what was under way any part arrived, in sectors, in any order."""
        chance = rng.choice((0.0, 0.2, 0.5, 0.8, 1.0))
        found = {}
        for name in {*self.certain, *self.under_way}:
            content = bytearray(self.certain.get(name, b""))
            for offset, data in self.under_way.get(name, ()):
                if data is None:
                    if rng.random() < chance:
                        _apply(content, (offset, None))
                    continue
                for start in range(0, len(data), SECTOR):
                    if rng.random() < chance:
                        _apply(content, (offset + start, data[start : start + SECTOR]))
            found[name] = bytes(content)
        return found


def _apply(content: bytearray, change: Change) -> None:
    offset, data = change
    if data is None:
        if offset < len(content):
            del content[offset:]
        else:
            content.extend(bytes(offset - len(content)))
        return
    if len(content) < offset:
        content.extend(bytes(offset - len(content)))
    content[offset : offset + len(data)] = data


class _File(apsw.VFSFile):
    def __init__(self, name: Any, flags: list[int], disk: Disk) -> None:
        super().__init__("", name, flags)
        path = name.filename() if isinstance(name, apsw.URIFilename) else name
        self._name, self._disk = os.path.basename(path or "temporary"), disk

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802
        self._disk.watch("read")
        return super().xRead(amount, offset)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        self._disk.change(self._name, "write", (offset, bytes(data)))
        super().xWrite(data, offset)

    def xTruncate(self, size: int) -> None:  # noqa: N802
        self._disk.change(self._name, "truncate", (size, None))
        super().xTruncate(size)

    def xSync(self, flags: int) -> None:  # noqa: N802
        self._disk.sync(self._name)  # and nothing else: what the real disk does takes time and shows nothing


class _System(apsw.VFS):
    def __init__(self, name: str, disk: Disk) -> None:
        self.name, self._disk = name, disk
        super().__init__(name, "")

    def xOpen(self, name: Any, flags: list[int]) -> _File:  # noqa: N802
        return _File(name, flags, self._disk)

    def xDelete(self, name: str, sync: bool) -> None:  # noqa: N802
        self._disk.watch("delete")
        super().xDelete(name, sync)
        self._disk.forget(os.path.basename(name))


def disk_driver(disk: Disk, *, checkpoint: int) -> tuple[Driver, Any]:
    """A driver whose files are on this disk, and what must be kept as long as it is used.

    After every `checkpoint` pages the log is written into the file, much oftener than usual, so that this happens.
    """
    system = _System(f"faulty-{id(disk)}-{os.urandom(4).hex()}", disk)

    def connect(path: str) -> apsw.Connection:
        link = apsw.Connection(path, vfs=system.name)
        link.execute(f"PRAGMA wal_autocheckpoint = {checkpoint}")
        return link

    return Driver(connect, apsw.Error, lambda error: getattr(error, "result", None)), system


def write_image(image: dict[str, bytes], folder: Path) -> None:
    """Put files into a folder, as a machine finds them when it starts again; SQLite's shared memory is gone."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in image.items():
        (folder / name).write_bytes(content)
