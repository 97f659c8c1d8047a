"""Documents from outside: what they may be made of, and how whole numbers are written in them.

Everything here looks at the form alone, before any number in a document is believed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from deniable_client.errors import FormatError

__all__ = [
    "check_document",
    "fields_of",
    "is_list",
    "is_number",
    "is_whole",
    "parts_of",
    "read_budgets",
    "read_whole",
    "read_wholes",
]

_DEPTH_MAX = 12
"""Lists and mappings within each other; the deepest design that we make has 7."""

_NODES_MAX = (1 << 19) + (1 << 12)
"""Parts of a document, which is room for the largest table beside the largest space."""

_TEXT_MAX = 1 << 16
"""Characters of one text."""

_TEXTS_MAX = 1 << 24
"""Characters of all texts."""

_LISTS = (list, tuple)
_HOLDERS = (*_LISTS, Mapping)
_WHOLE = re.compile("0|[1-9][0-9]{0,39}")


def check_document(document: object, what: str = "the design") -> None:
    """`FormatError` for what is not made of a bounded number of plain parts: mappings, lists, texts, numbers, nothing.

    Numbers are finite and whole ones have at most 64 bits; texts can be stored as UTF-8.
    """
    if not isinstance(document, Mapping):
        raise FormatError(f"{what} must be a mapping of names to values, got {type(document).__name__}.")
    nodes = texts = 0
    stack: list[tuple[object, int]] = [(document, 1)]
    while stack:
        part, depth = stack.pop()
        nodes += 1
        if isinstance(part, str):
            texts += len(part) if part.isascii() and len(part) <= _TEXT_MAX else _length(part, what)
        elif isinstance(part, _HOLDERS):
            if depth > _DEPTH_MAX:
                raise FormatError(f"{what} is nested more than {_DEPTH_MAX} deep.")
            if nodes + len(stack) + len(part) > _NODES_MAX:
                raise FormatError(f"{what} has more than {_NODES_MAX} parts.")
            inner = part if isinstance(part, _LISTS) else part.values()
            for name in () if inner is part else part:
                texts += _length(name, what)
                _check_texts(texts, what)
            stack += [(value, depth + 1) for value in inner]
        elif not (part is None or isinstance(part, bool) or is_number(part)):
            raise FormatError(f"{what} has a part that is no finite number, text, list or mapping: {_show(part)}.")
        _check_texts(texts, what)


def parts_of(document: object) -> int:
    """Parts of a document: it, and every mapping, list, text, number, true, false and null in it; no names."""
    count, stack = 0, [document]
    while stack:
        part = stack.pop()
        count += 1
        if isinstance(part, _HOLDERS):
            stack += part if isinstance(part, _LISTS) else part.values()
    return count


def _length(text: object, what: str) -> int:
    if not isinstance(text, str):
        raise FormatError(f"{what} has a name that is no text: {_show(text)}.")
    if len(text) > _TEXT_MAX:
        raise FormatError(f"{what} has a text of {len(text)} characters, more than {_TEXT_MAX}.")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise FormatError(f"{what} has a text that cannot be stored as UTF-8: {_show(text)}.") from error
    return len(text)


def _check_texts(texts: int, what: str) -> None:
    if texts > _TEXTS_MAX:
        raise FormatError(f"{what} has more than {_TEXTS_MAX} characters.")


def _show(part: object) -> str:
    """A part for a message; numbers of thousands of digits have no text in Python."""
    if isinstance(part, int) and part.bit_length() > 128:
        return f"a whole number of {part.bit_length()} bits"
    text = ascii(part)
    return text if len(text) <= 60 else text[:57] + "..."


def is_number(part: object) -> bool:
    """Whether it is a finite number; whole ones of at most 64 bits."""
    if isinstance(part, bool):
        return False
    return (isinstance(part, float) and math.isfinite(part)) or (isinstance(part, int) and -(2**63) <= part < 2**64)


def is_whole(part: object, least: int, most: int) -> bool:
    """Whether it is a whole number, written as a number, from `least` to `most`.

    Numbers of a document are doubles in most languages, so 1.0 is 1 here too.
    """
    whole = isinstance(part, int) and not isinstance(part, bool)
    return (whole or (isinstance(part, float) and part.is_integer())) and least <= part <= most  # type: ignore[operator]


def is_list(part: object) -> bool:
    """Whether it is a list."""
    return isinstance(part, _LISTS)


def read_whole(part: object, where: str) -> int:
    """A whole number from 0 on that is written as text, in the one way there is: decimal digits, no leading zero.

    >>> read_whole("13835058055282163711", "keep")
    13835058055282163711
    """
    if not isinstance(part, str) or not _WHOLE.fullmatch(part):
        raise FormatError(f"{where} needs whole numbers, written as text in at most 40 digits, got {_show(part)}.")
    return int(part)


def read_wholes(parts: object, where: str) -> tuple[int, ...]:
    """The same for a list of them."""
    if not isinstance(parts, _LISTS):
        raise FormatError(f"{where} must be a list, got {type(parts).__name__}.")
    if set(map(type, parts)) <= {str} and all(map(_WHOLE.fullmatch, parts)):  # as below, in half the time
        return tuple(map(int, parts))
    return tuple(read_whole(part, where) for part in parts)


def read_budgets(parts: object, where: str) -> tuple[float, ...]:
    """A list of budgets: numbers, or the text "inf" for no limit.

    >>> read_budgets([0, 0.5, "inf"], "budgets")
    (0.0, 0.5, inf)
    """
    if not isinstance(parts, _LISTS):
        raise FormatError(f"{where} must be a list, got {type(parts).__name__}.")
    for part in parts:
        if not is_number(part) and part != "inf":
            raise FormatError(f'{where} needs numbers, or "inf" for no limit, got {_show(part)}.')
    return tuple(math.inf if part == "inf" else float(part) for part in parts)


def fields_of(document: Any, where: str, needed: Sequence[str], optional: Sequence[str] = ()) -> Mapping[str, Any]:
    """A mapping that has all of the needed names, and no others than these and the optional ones."""
    if not isinstance(document, Mapping):
        raise FormatError(f"{where} must be a mapping of names to values, got {_show(document)}.")
    missing = [name for name in needed if name not in document]
    unknown = [name for name in document if name not in needed and name not in optional]
    if missing or unknown:
        also = f", perhaps {', '.join(optional)}" if optional else ""
        told = ", ".join([f"{name} is missing" for name in missing] + [f"{_show(name)} is unknown" for name in unknown])
        raise FormatError(f"{where} has the fields {', '.join(needed) or 'none'}{also}; {told}.")
    return document
