"""A process that draws: reads charts (Vega-Lite as JSON) from its standard input, writes pictures to its output.

    python -m deniable.present.renderer

Whatever a chart makes the renderer do, it is this process that does it: with limits of memory and processor time, with
no file and no socket of the process that started it. It ends when its input does. A request is a byte for the kind of
the picture, 4 bytes of length and the chart; an answer the same byte, 4 bytes of length and the picture, which is empty
if there is none.
"""

from __future__ import annotations

import json
import os
import sys
from typing import BinaryIO

from deniable.errors import DeniableError
from deniable.present.export import rendered

__all__ = ["DrawingError", "drawn", "request"]

_KINDS = {"svg": b"s", "png": b"p"}
_HEAD = 5
"""Bytes before a chart or a picture."""
_MEMORY = 1536 << 20
_CPU_SECONDS = 600
_NICE = 10
_LARGEST = 1 << 28


class DrawingError(DeniableError):
    """A picture cannot be drawn: the renderer failed, or it took too long."""


def request(spec: bytes, kind: str) -> bytes:
    """What is sent to have a chart drawn."""
    return _KINDS[kind] + len(spec).to_bytes(4, "big") + spec


def drawn(source: BinaryIO) -> bytes | None:
    """The picture of an answer, empty if the chart could not be drawn; None if the process ended instead."""
    head = source.read(_HEAD)
    if len(head) < _HEAD:
        return None
    size = int.from_bytes(head[1:], "big")
    found = source.read(size)
    return found if len(found) == size else None


def _limit() -> None:
    """Bound what this process may use, where the system can."""
    if sys.platform != "linux":
        return
    import resource

    for kind, most in (
        (resource.RLIMIT_DATA, _MEMORY),
        (resource.RLIMIT_CPU, _CPU_SECONDS),
        (resource.RLIMIT_FSIZE, _LARGEST),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(kind, (most, most))
    os.nice(_NICE)


def main() -> None:
    """Draw until the input ends."""
    _limit()
    source, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever else writes to the output must not stand between answers
    kinds = {mark: kind for kind, mark in _KINDS.items()}
    while len(head := source.read(_HEAD)) == _HEAD:
        spec = source.read(int.from_bytes(head[1:], "big"))
        try:
            found = rendered(json.loads(spec), f".{kinds[head[:1]]}")
        except Exception:
            found = b""  # whoever asked for the picture is told
        answers.write(head[:1] + len(found).to_bytes(4, "big") + found)
        answers.flush()


if __name__ == "__main__":
    main()
