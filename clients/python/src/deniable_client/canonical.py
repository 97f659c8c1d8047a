"""One spelling of a JSON document (RFC 8785), so that all clients hash it alike, and the strict way to read one."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from deniable_client.documents import check_document
from deniable_client.errors import FormatError, show

__all__ = ["BYTES_MAX", "canonical", "digest", "parse"]

BYTES_MAX = 1 << 24
"""Of a document that is read."""

_SAFE = (1 << 53) - 1
"""The largest whole number that every reader of JSON keeps."""


def canonical(part: Any) -> bytes:
    """The canonical form: no white space, names sorted by UTF-16 units, numbers as ECMAScript writes them.

    `FormatError` for what RFC 8785 cannot write.

    >>> canonical({"b": 1.0, "a": [1e21, 0.1, None, "\u20ac"]}).decode()
    '{"a":[1e+21,0.1,null,"€"],"b":1}'
    """
    try:
        return _text(part).encode()
    except UnicodeEncodeError as error:
        raise FormatError(f"a text cannot be stored as UTF-8: {ascii(error.object)[:60]}.") from error
    except RecursionError as error:
        raise FormatError("the document is nested too deep.") from error


def _text(part: Any) -> str:
    if isinstance(part, Mapping):
        return "{" + ",".join(f"{_text(name)}:{_text(part[name])}" for name in sorted(part, key=_units)) + "}"
    if isinstance(part, list | tuple):
        return "[" + ",".join(map(_text, part)) + "]"
    if part is None or isinstance(part, str | bool):
        return json.dumps(part, ensure_ascii=False)  # these are written alike by both
    if isinstance(part, int | float):
        return _number(part)
    raise FormatError(f"a document has no place for {show(part)}.")


def _units(name: object) -> bytes:
    """What names are sorted by."""
    if not isinstance(name, str):
        raise FormatError(f"names of a document must be texts, got {show(name)}.")
    return name.encode("utf-16-be")


def _number(value: float) -> str:
    if isinstance(value, int):
        if abs(value) > _SAFE:
            told = f"whole numbers of a document must be at most 2^53 - 1, got {show(value)}."
            raise FormatError(told, "Use a text.")
        return str(value)
    if not math.isfinite(value):
        raise FormatError(f"{value!r} is no number of a document.")
    sign, numerals, exponent = Decimal(repr(value)).as_tuple()
    digits = "".join(map(str, numerals)).rstrip("0")
    point = len(numerals) + int(exponent)
    if not digits:
        return "0"
    if -6 < point <= 0:
        text = "0." + "0" * -point + digits
    elif len(digits) <= point <= 21:
        text = digits.ljust(point, "0")
    elif 0 < point <= 21:
        text = digits[:point] + "." + digits[point:]
    else:
        text = digits[0] + ("." + digits[1:] if digits[1:] else "") + f"e{point - 1:+d}"
    return "-" * sign + text


def digest(document: Mapping[str, Any]) -> str:
    """Lower-case hex SHA-256 of the canonical form."""
    return hashlib.sha256(canonical(document)).hexdigest()


def parse(data: bytes | str, what: str = "the document", most: int = BYTES_MAX) -> dict[str, Any]:
    """A document from its bytes; `FormatError` for what RFC 8785 cannot write.

    Numbers are doubles, whichever way they are written: 1.0 is 1.
    """
    try:
        raw = data.encode() if isinstance(data, str) else data
        if len(raw) > most:
            raise FormatError(f"{what} has {len(raw)} bytes, more than {most}.")
        found = json.loads(
            raw.decode(), object_pairs_hook=_once, parse_int=_double, parse_float=_double, parse_constant=_no_number
        )
    except (UnicodeError, json.JSONDecodeError) as error:
        raise FormatError(f"{what} is not JSON in UTF-8: {error}.") from error
    except RecursionError as error:
        raise FormatError(f"{what} is nested too deep.") from error
    check_document(found, what)
    return found  # type: ignore[no-any-return]  # it is a mapping of names to values


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise FormatError("a name appears twice in the document, so that readers may take one for the other.")
    return found


def _double(text: str) -> float:
    value = float(text)
    return int(value) if abs(value) <= _SAFE and value == int(value) else value


def _no_number(text: str) -> float:
    raise FormatError(f"{text} is no number of a document.")
