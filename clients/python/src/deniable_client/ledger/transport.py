"""HTTP as a device uses it: https, or http to this machine; no redirects, no cookies, the same headers for all."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from deniable_client.errors import LedgerError, ParameterError, show

__all__ = ["Reply", "checked_url", "fetch", "post"]

_REPLY_MAX = 1 << 16
"""Bytes of an answer that are looked at."""
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class Reply:
    """What a collector answered; status 0 if it did not."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    trouble: str = ""


def checked_url(url: object) -> str:
    """An address that a device talks to, without a slash at its end; `ParameterError` for others."""
    from urllib.parse import urlsplit

    need = "https, or http to this machine (localhost, 127.0.0.1)"
    if not isinstance(url, str) or not url.isprintable() or " " in url:
        raise ParameterError(f"url must be an address with {need}, got {show(url)}.")
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise ParameterError(f"url must be an address with {need}, got {show(url)}.") from error
    safe = parts.scheme == "https" or (parts.scheme == "http" and host in _LOOPBACK)
    if not safe or not host:
        raise ParameterError(f"url must be an address with {need}, got {show(url)}.", "Reports are not sent openly.")
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise ParameterError(f"url must be without a user, a query or a #, got {show(url)}.")
    return url.rstrip("/")


def post(url: str, body: bytes, timeout: float) -> Reply:
    """Send a JSON document; whatever goes wrong is told in the reply."""
    return _exchange(url, body, timeout, _REPLY_MAX)


def fetch(url: str, timeout: float, most: int) -> bytes:
    """A document from an address; `LedgerError` if there is none to be had."""
    reply = _exchange(checked_url(url), None, timeout, most + 1)
    if reply.status != 200:
        raise LedgerError(f"{url} gave no task: {reply.trouble or f'status {reply.status}'}.")
    return reply.body


def _exchange(url: str, body: bytes | None, timeout: float, most: int) -> Reply:
    import http.client
    import urllib.error
    import urllib.request

    class Stay(urllib.request.HTTPRedirectHandler):
        """Who redirects a device learns whom it talks to, and decides where a report goes."""

        def redirect_request(self, *_: Any) -> None:
            return None

    straight = [urllib.request.ProxyHandler({})] if url.startswith("http:") else []
    opener = urllib.request.build_opener(Stay, *straight)
    opener.addheaders = [("User-Agent", "deniable-client")]
    request = urllib.request.Request(url, data=body, method="GET" if body is None else "POST")
    if body is not None:
        request.add_header("Content-Type", "application/json")
    try:
        with opener.open(request, timeout=timeout) as response:
            return Reply(response.status, _lower(response.headers), _read(response, timeout, most))
    except urllib.error.HTTPError as error:
        with error:
            return Reply(error.code, _lower(error.headers), b"")
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        return Reply(0, {}, b"", f"no answer ({show(str(reason))})")


def _lower(headers: Any) -> dict[str, str]:
    """Headers by their names in small letters."""
    return {name.lower(): text for name, text in headers.items()}


def _read(response: Any, timeout: float, most: int) -> bytes:
    """The first bytes of an answer, within the time there is for all of it."""
    end, read = time.monotonic() + timeout, bytearray()
    while len(read) < most and (more := response.read1(most - len(read))):
        read += more
        if time.monotonic() > end:
            raise TimeoutError("the answer is too slow")
    return bytes(read)
