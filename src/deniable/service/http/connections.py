"""Connections that must not cost us more than they cost the client: headers within limits of size and time."""

from __future__ import annotations

from asyncio import TimerHandle, Transport

import msgspec
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from deniable.service.http.problems import KINDS, MEDIA_TYPE, Problem, document
from deniable.service.settings import Settings

__all__ = ["connections"]

_HEADER_BYTES = 32 << 10


def connections(settings: Settings) -> type[HttpToolsProtocol]:
    """The protocol of the server, with the limits of the settings."""

    class Bounded(_Bounded):
        most, seconds = settings.max_connections, settings.header_seconds

    return Bounded


class _Bounded(HttpToolsProtocol):
    """uvicorn's protocol waits for headers for ever and takes any number of them; this one does not."""

    most: int
    seconds: int
    _deadline: TimerHandle | None = None
    _early = 0
    """Bytes that arrived before the headers were complete."""

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Take the connection, unless there are too many."""
        super().connection_made(transport)
        if len(self.connections) > self.most:
            self._refuse(Problem("busy", "There are too many connections. Try again later."))
        else:
            self._wait()

    def data_received(self, data: bytes) -> None:
        """Look at what came; a request starts its own deadline."""
        if self.transport.is_closing():
            return
        if self._deadline is None and (self.cycle is None or self.cycle.response_complete):
            self._wait()
        super().data_received(data)
        if self._deadline is not None:
            self._early += len(data)
            if self._early > _HEADER_BYTES:
                self._refuse(Problem("headers", f"Headers may have {_HEADER_BYTES:,} bytes."))

    def on_headers_complete(self) -> None:
        """The request may begin."""
        self._arrived()
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is waited for any more."""
        self._arrived()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Tell as a problem document what uvicorn tells as text."""
        self._refuse(Problem("malformed", msg))

    def _wait(self) -> None:
        self._early = 0
        self._deadline = self.loop.call_later(self.seconds, self._late)

    def _arrived(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _late(self) -> None:
        self._deadline = None
        self._refuse(Problem("slow", f"Headers must arrive within {self.seconds} seconds."))

    def _refuse(self, problem: Problem) -> None:
        """Answer without a request, and close."""
        self._arrived()
        kind, text = KINDS[problem.kind], msgspec.json.encode(document(problem))
        lines = [f"content-type: {MEDIA_TYPE}", f"content-length: {len(text)}", "connection: close"]
        lines += [f"retry-after: {kind.retry}"] if kind.retry else []
        self.transport.write(STATUS_LINE[kind.status] + "\r\n".join(lines).encode() + b"\r\n\r\n" + text)
        self.transport.close()
