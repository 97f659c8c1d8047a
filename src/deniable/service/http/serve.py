"""The process that serves: the application on uvicorn, from the first line to the last report."""

from __future__ import annotations

import socket
import sys
from collections.abc import Callable

import uvicorn
from starlette.types import ASGIApp

from deniable.service.collector import Collector
from deniable.service.http.app import application
from deniable.service.http.connections import SLICE, connections
from deniable.service.logs import log, set_up
from deniable.service.pages.charts import RENDERER
from deniable.service.pages.table import PAGES
from deniable.service.settings import Settings
from deniable.service.store import open_store
from deniable.service.writer import Writer

__all__ = ["run", "server"]


class _Server(uvicorn.Server):
    """Says where it listens as soon as it does."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[str], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve; a signal that was obeyed is done with, and does not also kill the process."""
        with self.capture_signals():
            await self._serve(sockets)
            self._captured_signals.clear()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then tell the address. The system's own buffers hold a few slices, not megabytes."""
        await super().startup(sockets)
        for each in (listening for made in self.servers for listening in made.sockets):
            each.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SLICE)
            each.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2 * SLICE)
        if self.started:
            host, port = self.servers[0].sockets[0].getsockname()[:2]
            self._ready(f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}")


def server(app: ASGIApp, settings: Settings, ready: Callable[[str], None]) -> uvicorn.Server:
    """What serves the application until SIGTERM or SIGINT; requests that have begun are finished.

    `ready` is told the address.
    """
    config = uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        http=connections(settings),
        ws="none",
        loop="auto" if sys.platform == "win32" else "uvloop",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=settings.idle_seconds,
        timeout_graceful_shutdown=settings.stop_seconds,
        backlog=2048,
    )
    return _Server(config, ready)


def run(settings: Settings, ready: Callable[[str], None]) -> None:
    """Open the database and serve it."""
    set_up()
    store = open_store(settings.database, settings.journal)
    store.settle_soon()
    for sentence in store.advice():
        log("the database keeps more than it should", why=sentence)
    writer = Writer(store, waiting=settings.max_waiting)
    collector = Collector(store, writer.add, settings, waiting=lambda: writer.waiting, full=lambda: writer.full)

    def started(address: str) -> None:
        log("ready", address=address)
        ready(address)

    try:
        server(application(collector, more=PAGES, stop=writer.close), settings, started).run()
    finally:
        RENDERER.close()
        store.close()
    log("stopped")
