"""Addresses that a device talks to: https, or http to this machine; the same for all clients."""

from __future__ import annotations

import re

from deniable_client.errors import ParameterError, show

__all__ = ["checked_url", "is_local"]

_LENGTH_MAX = 2000
_NAME = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_URL = re.compile(
    rf"(?:https://(?:{_NAME}(?:\.{_NAME})*|\[[0-9a-f:.]{{2,45}}\])|http://(?:localhost|127\.0\.0\.1|\[::1\]))"
    r"(?::(?P<port>[1-9][0-9]{0,4}))?"
    r"(?:/[A-Za-z0-9._~!$&'()*+,;=:@%-]*)*"
)
_START = re.compile("[A-Za-z]+://[^/]*")
_PORT_MAX = 65_535


def checked_url(url: object) -> str:
    """An address in its one form: scheme and host in small letters, no slash at its end; `ParameterError` for others.

    >>> checked_url("HTTPS://Collect.Example.org/a/")
    'https://collect.example.org/a'
    """
    need = "https, or http to this machine (localhost, 127.0.0.1)"
    if not isinstance(url, str) or len(url) > _LENGTH_MAX:
        raise ParameterError(f"url must be an address with {need}, got {show(url)}.")
    plain = _START.sub(lambda found: found[0].lower() if found[0].isascii() else found[0], url, count=1).rstrip("/")
    found = _URL.fullmatch(plain)
    if found is None or int(found["port"] or 0) > _PORT_MAX:
        hint = (
            "Reports are not sent openly; a user, a query or a # have no place in it, and other letters are %-escaped."
        )
        raise ParameterError(f"url must be an address with {need}, got {show(url)}.", hint)
    return plain


def is_local(url: str) -> bool:
    """Whether a checked address is on this machine."""
    return url.startswith("http://")
