"""The service on a real socket of this machine, with a store in memory."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable

from deniable.service.http.app import application
from deniable.service.http.serve import server
from deniable.service.settings import Settings
from service.calling import Service, task_of

LONG = 60.0
"""Seconds that only a test waits for in which something hangs."""


class Running:
    """A server in a thread."""

    def __init__(self, settings: Settings) -> None:
        self.service = Service(settings)
        self.id = self.service.add(task_of())
        self.port = 0
        ready = threading.Event()

        def told(address: str) -> None:
            self.port = int(address.rpartition(":")[2])
            ready.set()

        self.server = server(application(self.service.collector), settings, told)
        self.thread = threading.Thread(target=self.server.run)
        self.thread.start()
        assert ready.wait(LONG)

    def __enter__(self) -> Running:
        return self

    def __exit__(self, *_: object) -> None:
        self.server.should_exit = True
        self.thread.join(LONG)
        assert not self.thread.is_alive()

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=LONG)

    def raw(self, *parts: bytes) -> bytes:
        """Everything that is answered until the connection is closed."""
        with self.connect() as client:
            for part in parts:
                client.sendall(part)
            return everything(client)


def everything(client: socket.socket) -> bytes:
    found = b""
    while part := client.recv(65536):
        found += part
    return found


def wait_for(done: Callable[[], bool]) -> None:
    """Wait until something has happened, however long that takes this machine."""
    for _ in range(6000):
        if done():
            return
        time.sleep(0.01)
    raise AssertionError("it did not happen in a minute")
