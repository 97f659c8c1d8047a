"""Addresses of databases: what may be shown of them. A password in one is never printed, whatever its form."""

from __future__ import annotations

import re
from urllib.parse import unquote, unquote_plus

__all__ = ["hidden", "shown"]

_STARS = "***"
_PARAMETERS = re.compile(r"(?i)(?:password|passwd|pwd|sslpassword)\s*=\s*('(?:[^'\\]|\\.)*'|[^&\s;#]*)")


def shown(url: str) -> str:
    """A URL that may be printed: without user and password, and without what follows a question mark.

    >>> shown("postgresql+psycopg://ann:secret@db/x?password=secret")
    'postgresql+psycopg://***@db/x'
    >>> shown("sqlite:///collector.db")
    'sqlite:///collector.db'
    """
    kind, mark, rest = url.partition("://")
    if not mark:
        kind, rest = "", url
    if kind != "sqlite" and (_secrets(url) or "?" in rest):
        rest = rest.partition("?")[0]
        rest = _STARS + "@" + rest.rpartition("@")[2] if "@" in rest else rest
        rest = hidden(rest, url)
    return kind + mark + rest


def hidden(text: str, url: str) -> str:
    """A text, such as another program's error, without any secret of a URL."""
    for secret in sorted(_secrets(url), key=len, reverse=True):
        text = text.replace(secret, _STARS)
    return text


def _secrets(url: str) -> set[str]:
    """The texts that must not be shown: passwords as they are written, and as they are meant."""
    found = {each.strip("'") for each in _PARAMETERS.findall(url)}
    rest = url.partition("://")[2] or url
    user, mark, _ = rest.rpartition("@")
    if mark and ":" in user:
        found |= {user.partition(":")[2], user.rpartition(":")[2]}
    found |= {unquote(each) for each in found} | {unquote_plus(each) for each in found}
    return {each for each in found if each}
