"""A collector with pages on a socket of this machine, and a proxy before it that keeps all that browsers send."""

from __future__ import annotations

import socket
import threading
import time
from dataclasses import dataclass
from typing import Self

from deniable.service.http.serve import server
from deniable.service.settings import Settings
from pages.asks import Paged

__all__ = ["Proxy", "Request", "Running"]


class Running:
    """A server in a thread, with the store of a `Paged` service in memory."""

    def __init__(self, service: Paged) -> None:
        self.service = service
        ready = threading.Event()

        def told(address: str) -> None:
            self.url = address
            ready.set()

        self._server = server(service.app, Settings(port=0), told)
        self._thread = threading.Thread(target=self._server.run)
        self._thread.start()
        assert ready.wait(20)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._thread.join(20)
        assert not self._thread.is_alive()


@dataclass(frozen=True)
class Request:
    """One request as it came: when its first byte did, its head and its body."""

    when: float
    head: bytes
    body: bytes

    @property
    def path(self) -> str:
        return self.head.split()[1].decode()


class Proxy:
    """Forwards connections byte by byte; each request is kept before it is forwarded."""

    def __init__(self, url: str) -> None:
        self._to = int(url.rpartition(":")[2])
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.requests: list[Request] = []
        self.received = 0
        """Bytes that came back, with the heads of the answers."""
        self._threads: list[threading.Thread] = []
        self._open: list[socket.socket] = []
        self._counting = threading.Lock()
        self._accepting = threading.Thread(target=self._accept)

    def __enter__(self) -> Self:
        self._accepting.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._accepting.join(10)
        for each in self._open:
            try:
                each.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue  # the other side has closed it
        for thread in self._threads:
            thread.join(10)
        for each in self._open:
            each.close()

    def sent(self, what: str) -> list[Request]:
        """The requests whose path ends so."""
        return [request for request in self.requests if request.path.endswith(what)]

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            behind = socket.create_connection(("127.0.0.1", self._to))
            self._open += [client, behind]
            for work, one, two in ((self._forward, client, behind), (self._back, behind, client)):
                thread = threading.Thread(target=work, args=(one, two))
                thread.start()
                self._threads.append(thread)

    def _forward(self, client: socket.socket, behind: socket.socket) -> None:
        waiting, when = b"", 0.0
        while part := _received(client):
            when = when if waiting else time.perf_counter()
            waiting += part
            while (cut := _whole(waiting)) is not None:
                head, body = waiting[: cut[0]], waiting[cut[0] : cut[1]]
                self.requests.append(Request(when, head, body))
                waiting = waiting[cut[1] :]
                try:
                    behind.sendall(head + body)
                except OSError:  # the server has just closed a line that was idle: the browser must know, too
                    _ended(client)
                    return
        _ended(behind)

    def _back(self, behind: socket.socket, client: socket.socket) -> None:
        try:
            while part := _received(behind):
                with self._counting:
                    self.received += len(part)
                client.sendall(part)
        except OSError:
            return  # the browser left
        _ended(client)


def _received(line: socket.socket) -> bytes:
    try:
        return line.recv(65536)
    except OSError:
        return b""


def _ended(line: socket.socket) -> None:
    try:
        line.shutdown(socket.SHUT_WR)
    except OSError:
        return  # it is closed already


def _whole(data: bytes) -> tuple[int, int] | None:
    """Where the head and the body of the first request end; None if it is not all there."""
    end = data.find(b"\r\n\r\n")
    if end < 0:
        return None
    length = 0
    for line in data[:end].split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    whole = end + 4 + length
    return (end + 4, whole) if len(data) >= whole else None
