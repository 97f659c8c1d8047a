"""Connections that must not cost us more than they cost the client: heads within limits of size and time, answers that
are read.
"""

from __future__ import annotations

from asyncio import TimerHandle, Transport
from typing import Any

import msgspec
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from deniable.service.http.problems import KINDS, MEDIA_TYPE, Problem, document
from deniable.service.settings import Settings

__all__ = ["ABORT", "SLICE", "connections"]

_HEADER_BYTES = 32 << 10
_AROUND = len(": \r\n")
SLICE = 64 << 10
"""Bytes of an answer that are given to a connection at a time; what was not read of them is all that it holds."""
ABORT = "deniable.abort"
"""In the scope of a request: ends its connection at once, whatever of the answer was not read."""


def connections(settings: Settings) -> type[HttpToolsProtocol]:
    """The protocol of the server, with the limits of the settings."""

    class Bounded(_Bounded):
        most, seconds, patience = settings.max_connections, settings.header_seconds, settings.read_seconds

    return Bounded


class _HeadError(Exception):
    """The head of a request is too large."""


class _Bounded(HttpToolsProtocol):
    """uvicorn's protocol waits for heads and for readers for ever, and takes heads of any size; this one does not."""

    most: int
    seconds: float
    patience: float
    _deadline: TimerHandle | None = None
    _unread: TimerHandle | None = None
    _heading, _complete = True, False
    """Whether a head is being read, and whether one was complete in what came last."""
    _answering: RequestResponseCycle | None = None
    _early = 0
    """Bytes that arrived before the headers were complete."""
    _head = 0
    """Bytes of the request line, the headers, and those that come after a body."""

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Take the connection, unless there are too many."""
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=SLICE // 2)
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
        heading, self._complete = self._heading, False
        super().data_received(data)
        if not heading:  # the rest of a body
            self._early = 0
        elif self._heading and not self._complete and not self.transport.is_closing():
            self._early += len(data)
            if self._early > _HEADER_BYTES:
                self._refuse(_large_head())

    def on_message_begin(self) -> None:
        """A request begins; whoever answers it can end the connection."""
        super().on_message_begin()
        self._head = 0
        self.scope["state"][ABORT] = self.transport.abort

    def on_url(self, url: bytes) -> None:
        """A part of the request line."""
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header, also one that comes after the body: those are counted, and not kept."""
        self._count(len(name) + len(value) + _AROUND)
        if self._heading:
            super().on_header(name, value)

    def _count(self, size: int) -> None:
        """The parser's own measure: a head that arrives in one piece with a body is seen here only."""
        self._head += size
        if self._head > _HEADER_BYTES:
            raise _HeadError

    def on_headers_complete(self) -> None:
        """The request may begin."""
        self._arrived()
        self._heading, self._complete, self._early = False, True, 0
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """The next head may come."""
        self._heading = True
        super().on_message_complete()

    def pause_writing(self) -> None:
        """The client does not read: it is waited for, but not for ever."""
        super().pause_writing()
        if self._unread is None:
            self._unread = self.loop.call_later(self.patience, self.transport.abort)

    def resume_writing(self) -> None:
        """The client reads."""
        super().resume_writing()
        if self._unread is not None and not self.transport.is_closing():
            self._unread.cancel()
            self._unread = None

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        """Remember which of several requests is being answered."""
        self._answering = cycle
        super()._start_asgi_task(cycle, app)

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is waited for any more; the answer under way is told, too, where later requests came meanwhile."""
        self._arrived()
        if self._answering is not None and not self._answering.response_complete:
            self._answering.disconnected = True
            self._answering.message_event.set()
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        """The next request may come; of a connection that is closed now, the rest must be read soon."""
        super().on_response_complete()
        if self.transport.is_closing():
            self._last_words()

    def timeout_keep_alive_handler(self) -> None:
        """Close what is idle; what it did not read is not kept for ever."""
        super().timeout_keep_alive_handler()
        self._last_words()

    def send_400_response(self, msg: str) -> None:
        """Tell as a problem document what uvicorn tells as text."""
        self._refuse(_large_head() if self._head > _HEADER_BYTES else Problem("malformed", msg))

    def _wait(self) -> None:
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
        self._last_words()

    def _last_words(self) -> None:
        """What was sent before the connection was closed is to be read in time."""
        if self._unread is None:
            self._unread = self.loop.call_later(self.patience, self.transport.abort)


def _large_head() -> Problem:
    return Problem("headers", f"Headers may have {_HEADER_BYTES:,} bytes.")
