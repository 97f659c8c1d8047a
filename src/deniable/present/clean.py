"""Text that can be drawn: what XML has no place for makes renderers fail, so it is shown as the replacement character.

Control characters (but for tab and the ends of lines), halves of surrogate pairs and the code points that are not
characters stand in no honest question or label. Whatever is drawn goes through here: charts, pages, tables.
"""

from __future__ import annotations

import re
from typing import Any

__all__ = ["clean", "clean_all"]

_PLANES = "".join(f"{chr(plane | 0xFFFE)}{chr(plane | 0xFFFF)}" for plane in range(0, 0x110000, 0x10000))
_NOT_DRAWN = re.compile(f"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef{_PLANES}]")


def clean(text: str) -> str:
    """The text with a mark in place of each character that cannot be drawn.

    >>> clean("yes\\x00, no")
    'yes\ufffd, no'
    """
    return _NOT_DRAWN.sub("\ufffd", text) if _NOT_DRAWN.search(text) else text


def clean_all(data: Any) -> Any:
    """The same for all texts of plain data, names too."""
    if isinstance(data, str):
        return clean(data)
    if isinstance(data, dict):
        return {clean_all(name): clean_all(value) for name, value in data.items()}
    if isinstance(data, list | tuple):
        return [clean_all(value) for value in data]
    return data
