"""Files that are written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

__all__ = ["replace_file", "replacing"]


def replace_file(target: Path, data: bytes) -> None:
    """Write a file whole or not at all."""
    with replacing(target) as file:
        file.write(data)


@contextmanager
def replacing(target: Path, *, private: bool = False) -> Iterator[BinaryIO]:
    """A file beside the target that takes its name when all is written: a crash leaves the old file or the new one.

    Only its owner can read a `private` one, from the first byte on.
    """
    part = target.with_name(f".{target.name}.{os.urandom(6).hex()}.part")
    try:
        mode = 0o600 if private else 0o666
        with open(part, "xb", opener=lambda path, flags: os.open(path, flags, mode)) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
