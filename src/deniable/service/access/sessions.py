"""Who is signed in to the pages: a random token in a cookie, and what the database knows of it.

A token is no key: it is good for pages only, of this collector only, until it expires, its owner signs out or its key
is revoked. Every request asks the database, so that all of this holds at once, for all processes that serve it.

Over TLS the cookie has the prefix `__Host-`: browsers take it only with `Secure`, for all paths, from the host itself.
Without TLS there is a cookie of another name, to browsers on this machine only. Cookies do not know ports: another
service of the same host and scheme is sent the same cookie, and finds no key in it.
"""

from __future__ import annotations

import hashlib
import os
from base64 import urlsafe_b64encode
from contextlib import suppress
from datetime import datetime
from ipaddress import ip_address

from deniable.service.access.keys import is_valid
from deniable.service.settings import Settings
from deniable.service.store.contract import KeyRow, SessionRow, Store, StoreUnavailableError

__all__ = ["COOKIES", "LOCAL", "SECURE", "Failures", "begin", "cookie_name", "end", "erase", "is_local", "visitor"]

SECURE, LOCAL = "__Host-deniable", "deniable-local"
"""Names of the cookie, over TLS and on this machine."""
COOKIES = (SECURE, LOCAL)
_OFTEN = 60
"""Seconds between two notes of the same session being used."""
_SKEW = 300
"""Seconds by which the clocks of processes that serve one database may differ."""


def cookie_name(settings: Settings) -> str:
    """Under which name tokens come and go here."""
    return SECURE if settings.public_url else LOCAL


def is_local(host: str) -> bool:
    """Whether a browser that asks for this host, as in the header of that name, asks its own machine."""
    name = host.rpartition(":")[0] if host.rpartition(":")[2].isdecimal() else host
    if name == "localhost":
        return True
    try:
        return ip_address(name.removeprefix("[").removesuffix("]")).is_loopback
    except ValueError:
        return False


def begin(store: Store, key: str, now: datetime, settings: Settings) -> str:
    """Start a session of who has the key of this name; its token."""
    token, start = urlsafe_b64encode(os.urandom(32)).rstrip(b"=").decode(), int(now.timestamp())
    limits = (start + settings.session_seconds, start + settings.session_idle_seconds)
    store.sessions.put(SessionRow(_digest(token), key, start, *limits))
    return token


def visitor(store: Store, token: str, now: datetime, settings: Settings, *, used: bool = True) -> KeyRow | None:
    """The key with which a session began, if both are valid now; `used` if a person asks, not a page by itself."""
    row, at = store.sessions.get(_digest(token)), int(now.timestamp())
    if row is None or not row.created - _SKEW <= at < min(row.expires, row.idle):
        return None
    key = next((key for key in list(store.keys()) if key.name == row.key and is_valid(key, now.date())), None)
    idle = at + settings.session_idle_seconds
    if key is not None and used and idle - row.idle >= _OFTEN:
        with suppress(StoreUnavailableError):  # it cannot be written now: the session ends sooner, not later
            store.sessions.use(row.digest, idle)
    return key


def end(store: Store, token: str) -> str | None:
    """End a session now; the name of its key, if there was one."""
    row = store.sessions.get(_digest(token))
    if row is None:
        return None
    store.sessions.end(row.digest)
    return row.key


def erase(store: Store, now: datetime) -> int:
    """Erase what is left of sessions that have expired; how many."""
    return store.sessions.expire(int(now.timestamp()))


def _digest(token: str) -> bytes:
    return hashlib.sha256(b"session:" + token.encode("utf-8", "surrogatepass")).digest()


class Failures:
    """A small bucket for sign-ins that fail: beyond it they are told to wait, and go into a later line of the log.

    Keys have 256 random bits: their size defeats guessing, not this. A valid key is taken however many others fail,
    so nobody is locked out by strangers.
    """

    MOST, SECONDS = 10, 6.0
    """How many in a row, and after how many seconds one more."""

    def __init__(self) -> None:
        self._tokens, self._refilled, self._untold = float(self.MOST), 0.0, 0

    def note(self, now: float) -> int:
        """Count one, at a time of a clock that only goes on; how many to tell in the log, 0 if the bucket is empty."""
        self._untold += 1
        self._tokens = min(float(self.MOST), self._tokens + (now - self._refilled) / self.SECONDS)
        self._refilled = now
        if self._tokens < 1:
            return 0
        self._tokens -= 1
        told, self._untold = self._untold, 0
        return told
