"""How much a file may ask for: looked at before anything is done for it (docs/formats.md, "Limits")."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from deniable.errors import FormatError

__all__ = [
    "ANSWERS",
    "BLOCK",
    "BLOCK_WRITTEN",
    "CELLS",
    "HEADER",
    "REPORTS",
    "check_answers",
    "parse_header",
    "too_many",
]

HEADER = 1 << 25
"""Bytes of a header."""
DEPTH = 32
"""How deep lists and objects of a header may stand in each other."""
VALUES = 1 << 23
"""Values of a header, in lists and objects of any depth."""
ANSWERS = 1 << 22
"""Answers of a domain."""
CELLS = 1 << 23
"""Cells of a tally."""
BLOCK = 1 << 30
"""Bytes of a block of reports."""
BLOCK_WRITTEN = 1 << 25
"""Bytes of a block as they are written, if it has more than one report."""
REPORTS = 1 << 48
"""Reports of a tally that is estimated."""

_TEXT = re.compile(rb'"(?:[^"\\]|\\.)*"')
_STEPS = np.zeros(256, np.int8)
_STEPS[list(b"[{")], _STEPS[list(b"]}")] = 1, -1


def parse_header(text: bytes) -> dict[str, Any]:
    """The JSON object of a header; `FormatError` for one that is too deep, too large or not plain JSON."""
    bare = np.frombuffer(_TEXT.sub(b"", text), np.uint8)
    steps = _STEPS[bare]
    if bare.size and int(np.cumsum(steps, dtype=np.int32).max()) > DEPTH:
        raise FormatError(f"the header is nested more than {DEPTH} deep.")
    values = 1 + int(np.count_nonzero(steps > 0) + np.count_nonzero(bare == ord(",")))
    if values > VALUES:
        raise FormatError(f"the header has {values:,} values, at most {VALUES:,} are allowed.")
    try:
        document = json.loads(
            text.decode(), parse_constant=_constant, parse_float=_finite, object_pairs_hook=_without_repeats
        )
        if b"\\u" in text:  # half of a pair of signs, which no text can be stored with
            json.dumps(document, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise FormatError("the header is not a JSON text.") from error
    if not isinstance(document, dict):
        raise FormatError("the header is not a JSON object.")
    return document


def _constant(name: str) -> float:
    raise ValueError(f"{name} is no number of JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is too large")
    return number


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name occurs twice")
    return found


_BY_PLACES = ("lattice",)
"""Kernels whose tables are for places among the answers: nothing that a file asks for grows with the answers."""


def check_answers(design: Mapping[str, Any]) -> None:
    """`FormatError` for a design with more answers than a file may have; what else is wrong with it is not said."""
    parts = design.get("parts")
    for part in parts if isinstance(parts, list) else ():
        if isinstance(part, Mapping):
            check_answers(part)
    domain, kernel = design.get("domain"), design.get("kernel")
    if not isinstance(domain, Mapping) or (isinstance(kernel, Mapping) and kernel.get("kind") in _BY_PLACES):
        return
    for name in ("k", "points"):
        found = domain.get(name)
        if isinstance(found, int) and found > ANSWERS:
            raise FormatError(f"the design has {found:,} answers, files may have at most {ANSWERS:,}.", _HINT)


def too_many(cells: int) -> FormatError:
    """The error for a tally of more than `CELLS`."""
    return FormatError(f"a tally of this design has {cells:,} cells, at most {CELLS:,} are allowed.", _HINT)


_HINT = "Take a smaller domain, for instance by grouping rare answers."
