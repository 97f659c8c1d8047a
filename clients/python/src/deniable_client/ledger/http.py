"""HTTP as a device uses it: https, or http to this machine; no redirects, no cookies, the same headers for all.

One deadline holds for a whole exchange, from looking up the name to the last byte, and so does one number of bytes:
whatever a server does, nobody waits longer, and nothing larger is kept.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from deniable_client.addresses import checked_url, is_local
from deniable_client.errors import LedgerError, show

if TYPE_CHECKING:
    import socket

__all__ = ["Reply", "fetch", "post"]

_REPLY_MAX = 1 << 16
"""Bytes of an answer that are looked at, its headers too."""
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Reply:
    """What a collector answered; status 0 if it did not."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    trouble: str = ""


def post(url: str, body: bytes, timeout: float) -> Reply:
    """Send a JSON document; whatever goes wrong is told in the reply."""
    return _exchange(url, body, timeout, _REPLY_MAX)


def fetch(url: str, timeout: float, most: int) -> bytes:
    """A document from an address; `LedgerError` if there is none to be had."""
    reply = _exchange(checked_url(url), None, timeout, most + _REPLY_MAX)
    if reply.status != 200:
        raise LedgerError(f"{url} gave no task: {reply.trouble or f'status {reply.status}'}.")
    return reply.body


def _exchange(url: str, body: bytes | None, timeout: float, most: int) -> Reply:
    import http.client
    from urllib.parse import urlsplit

    deadline, parts = time.monotonic() + timeout, urlsplit(url)
    host, port = parts.hostname or "", parts.port or _PORTS[parts.scheme]
    wire = None
    try:
        wire = _Wire(_connect(host, port, url, deadline), deadline, most)
        made = http.client.HTTPConnection(parts.netloc)
        made.sock = wire  # it has what is used of a socket
        headers = {"Host": parts.netloc, "User-Agent": "deniable-client", "Connection": "close"}
        headers |= {} if body is None else {"Content-Type": "application/json"}
        made.request("GET" if body is None else "POST", parts.path or "/", body, headers)
        response = made.getresponse()
        told = {name.lower(): text for name, text in response.getheaders()}
        return Reply(response.status, told, response.read(most) if response.status == 200 else b"")
    except Exception as error:  # a server can say anything; what it said ends here
        return Reply(0, {}, b"", f"no answer ({show(str(error) or type(error).__name__)})")
    finally:
        if wire is not None:
            wire.end()


def _connect(host: str, port: int, url: str, deadline: float) -> socket.socket:
    """A connection to a server, through the proxy of the environment if there is one and it is not this machine."""
    import ssl

    if is_local(url):
        return _reach(host, port, deadline)
    proxy = _proxy(host)
    sock = _reach(host, port, deadline) if proxy is None else _tunnel(proxy, host, port, deadline)
    try:
        sock.settimeout(_left(deadline))
        return ssl.create_default_context().wrap_socket(sock, server_hostname=host)
    except BaseException:
        sock.close()
        raise


def _reach(host: str, port: int, deadline: float) -> socket.socket:
    import socket
    import threading

    found: list[Any] = []

    def look_up() -> None:
        try:
            found.append(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except OSError as error:
            found.append(error)

    looking = threading.Thread(target=look_up, daemon=True)  # it cannot be stopped, only left behind
    looking.start()
    looking.join(_left(deadline))
    if not found:
        raise TimeoutError("the name was not found in time")
    if isinstance(found[0], OSError):
        raise found[0]
    trouble: OSError = OSError("the name has no address")
    for family, kind, protocol, _, address in found[0]:
        sock = socket.socket(family, kind, protocol)
        try:
            sock.settimeout(_left(deadline))
            sock.connect(address)
        except OSError as error:
            trouble = error
            sock.close()
        else:
            return sock
    raise trouble


def _proxy(host: str) -> Any:
    from urllib.parse import urlsplit
    from urllib.request import getproxies, proxy_bypass

    known = getproxies().get("https")
    return urlsplit(known if "//" in known else f"//{known}") if known and not proxy_bypass(host) else None


def _tunnel(proxy: Any, host: str, port: int, deadline: float) -> socket.socket:
    """A connection through a proxy, which sees where it goes and nothing of what is in it."""
    import http.client
    from base64 import b64encode
    from urllib.parse import unquote

    sock = _reach(proxy.hostname, proxy.port or _PORTS["http"], deadline)
    try:
        where = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        user = f"{unquote(proxy.username or '')}:{unquote(proxy.password or '')}"
        who = f"Proxy-Authorization: Basic {b64encode(user.encode()).decode()}\r\n" if proxy.username else ""
        wire = _Wire(sock, deadline, _REPLY_MAX)
        wire.sendall(f"CONNECT {where} HTTP/1.1\r\nHost: {where}\r\n{who}\r\n".encode())
        response = http.client.HTTPResponse(wire, method="CONNECT")  # type: ignore[arg-type]  # as above
        response.begin()
        if response.status != 200:
            raise OSError(f"the proxy answered {response.status}")
    except BaseException:
        sock.close()
        raise
    return sock


def _left(deadline: float) -> float:
    """Seconds until then; `TimeoutError` if there are none."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError("the answer took too long")
    return left


class _Wire:
    """A socket until a deadline, from which so many bytes are read at most."""

    def __init__(self, sock: socket.socket, deadline: float, most: int) -> None:
        self._sock = sock
        self._deadline = deadline
        self._most = most

    def sendall(self, data: bytes) -> None:
        """Send all of it in time."""
        self._sock.settimeout(_left(self._deadline))
        self._sock.sendall(data)

    def makefile(self, mode: str = "rb") -> Any:
        """What is received, for a reader of lines and bytes."""
        from io import BufferedReader, RawIOBase

        wire = self

        class Raw(RawIOBase):
            """Bytes as they come."""

            def readable(self) -> bool:
                return True

            def readinto(self, buffer: Any) -> int:
                return wire.receive(memoryview(buffer))

        return BufferedReader(Raw(), 4096)

    def receive(self, buffer: memoryview) -> int:
        """Some bytes; `OSError` if there are more than there may be."""
        if not self._most:
            raise OSError("the answer is too long")
        self._sock.settimeout(_left(self._deadline))
        read = self._sock.recv_into(buffer[: self._most])
        self._most -= read
        return read

    def close(self) -> None:
        """Nothing yet: a response is read from the file after its connection was closed."""

    def end(self) -> None:
        """Close the connection."""
        self._sock.close()
