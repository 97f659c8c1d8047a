"""Signed messages about tasks to the operator's own addresses: those of the settings, and no others.

A message is a POST of JSON, signed with the key that signs the collector's tasks. No redirect is followed, nothing that
is answered is read beyond its status, and a name that leads to a private address is refused unless the settings allow
it; the address that was looked at is the one that is called. What was told is noted in the database, so that it is told
once, also after a restart; what fails is tried again, a few times and ever later.
"""

from __future__ import annotations

import http.client
import ipaddress
import json
import socket
import ssl
import time
from collections.abc import Callable, Iterable
from hashlib import sha256
from threading import Timer
from urllib.parse import urlsplit

from deniable.errors import DeniableError
from deniable.service.access.identity import Identity
from deniable.service.alerts.notices import Notice
from deniable.service.logs import log
from deniable.service.store.contract import Store

__all__ = ["Webhook"]

SIGNED = b"deniable webhook 1\n"
"""What the signature begins with, before the body: no message is taken for a task, or a task for a message."""
ATTEMPTS = 6
_TOLD = 1 << 20
"""The note of what was told; below it are numbers of attempts."""
_WAIT = 60.0
"""Seconds before the second attempt; four times as long before each next one."""
_SECONDS = 10.0
"""How long one message may take, all in all."""
_AT_ONCE = 20
"""Messages of one round; the others wait for the next."""

Post = Callable[[str, bytes, dict[str, str], bool], int]


class RefusedError(DeniableError):
    """An address that may not be called."""


class Webhook:
    """Tells notices to all addresses, each once; the rounds of upkeep call it."""

    def __init__(
        self,
        store: Store,
        addresses: Iterable[str],
        *,
        private: bool = False,
        post: Post | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store, self._addresses, self._private = store, tuple(addresses), private
        self._post, self._clock = deliver if post is None else post, clock
        self._due: dict[str, float] = {}

    def __bool__(self) -> bool:
        return bool(self._addresses)

    def tell(self, found: Iterable[Notice]) -> int:
        """Tell what was not told before; how many messages were taken."""
        waiting = [(address, notice) for notice in found for address in self._addresses]
        told = tried = 0
        for address, notice in waiting:
            name = f"told/{sha256(f'{address} {notice.name}'.encode()).hexdigest()[:32]}"
            before = self._store.note(name) or 0
            if before >= ATTEMPTS or self._clock() < self._due.get(name, 0.0):
                continue
            if tried == _AT_ONCE:
                break
            tried += 1
            done = self._tell(address, notice, before + 1)
            self._store.put_note(name, _TOLD if done else before + 1)
            self._due[name] = self._clock() + _WAIT * 4**before
            told += done
        return told

    def _tell(self, address: str, notice: Notice, attempt: int) -> bool:
        identity = Identity(self._store.identity())
        body = json.dumps(notice.document, sort_keys=True, separators=(",", ":")).encode()
        headers = {
            "content-type": "application/json",
            "deniable-key": identity.key,
            "deniable-signature": identity.sign(SIGNED + body).hex(),
            "deniable-name": notice.name,
        }
        try:
            status = self._post(address, body, headers, self._private)
        except (DeniableError, OSError, http.client.HTTPException) as error:
            log("webhook", error=error, host=urlsplit(address).hostname, attempt=attempt)
            return False
        if not 200 <= status < 300:
            log("webhook", host=urlsplit(address).hostname, attempt=attempt, status=status)
        return 200 <= status < 300


def deliver(address: str, body: bytes, headers: dict[str, str], private: bool) -> int:
    """Send a message; the status that came back. It is sent to the network address that was checked."""
    parts = urlsplit(address)
    safe = parts.scheme == "https"
    if not safe and not private:
        raise RefusedError("an address without TLS is called only with webhook_private.", "Use https.")
    host, port = parts.hostname or "", parts.port or (443 if safe else 80)
    own = socket.create_connection((_checked(host, port, private), port), timeout=_SECONDS)
    if safe:
        around = ssl.create_default_context()
        own = around.wrap_socket(own, server_hostname=host, do_handshake_on_connect=False)
    late = Timer(_SECONDS, _cut, [own])
    late.start()
    try:
        connection = http.client.HTTPConnection(host, port, timeout=_SECONDS)
        connection.sock = own
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection.request("POST", path, body, {**headers, "connection": "close"})
        return connection.getresponse().status
    finally:
        late.cancel()
        own.close()


def _cut(own: socket.socket) -> None:
    """End a connection that takes too long, whoever waits on it."""
    try:
        own.shutdown(socket.SHUT_RDWR)
    except OSError:  # it has ended by itself
        own.close()


def _checked(host: str, port: int, private: bool) -> str:
    """A network address of a host; all that it has must be public ones, unless private ones are allowed."""
    found = [str(each[4][0]) for each in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
    for each in found:
        if not private and not ipaddress.ip_address(each.partition("%")[0]).is_global:
            raise RefusedError(
                f"{host} leads to an address that is not public.", "Set webhook_private if it is your own."
            )
    return found[0]
