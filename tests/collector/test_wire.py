"""A connection byte by byte, on a wire and a loop without time: heads up to a byte, deadlines, and what closes it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from uvicorn.config import Config
from uvicorn.server import ServerState

from deniable.service.http.connections import ABORT, SLICE, connections
from deniable.service.settings import Settings

HEADERS, READING = 7, 11
SETTINGS = Settings(max_connections=3, header_seconds=HEADERS, read_seconds=READING)
MOST = 32 * 1024
"""Bytes that a head may have."""


class Wait:
    """Something that is to be called later."""

    def __init__(self, seconds: float, call: Callable[..., Any]) -> None:
        self.seconds, self.call, self.cancelled = seconds, call, False

    def cancel(self) -> None:
        self.cancelled = True


class Loop:
    """A loop in which no time passes: what is to be called later is called by the test, or not at all."""

    def __init__(self) -> None:
        self._real = asyncio.get_running_loop()
        self.waits: list[Wait] = []

    def call_later(self, seconds: float, call: Callable[..., Any]) -> Wait:
        self.waits.append(Wait(seconds, call))
        return self.waits[-1]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def due(self, seconds: float) -> list[Wait]:
        """What is waited for so long, and not cancelled."""
        return [wait for wait in self.waits if wait.seconds == seconds and not wait.cancelled]


class Wire:
    """A transport: what is written is kept, and how it was ended."""

    def __init__(self) -> None:
        self.written, self.closed, self.aborted, self.high = b"", False, False, 0

    def get_extra_info(self, _: str, default: Any = None) -> Any:
        return default

    def set_write_buffer_limits(self, *, high: int) -> None:
        self.high = high

    def is_closing(self) -> bool:
        return self.closed

    def write(self, data: bytes) -> None:
        self.written += data

    def close(self) -> None:
        self.closed = True

    def abort(self) -> None:
        self.closed = self.aborted = True

    def pause_reading(self) -> None:
        """What was sent is there already."""

    resume_reading = pause_reading

    @property
    def problem(self) -> tuple[int, dict[str, str], dict[str, Any]]:
        """The last answer: its status, headers and document, which is as long as it says."""
        head, _, body = self.written[self.written.rindex(b"HTTP/1.1 ") :].partition(b"\r\n\r\n")
        first, *rest = head.decode().split("\r\n")
        headers = dict(line.split(": ") for line in rest)
        assert headers["content-length"] == str(len(body))
        return int(first.split()[1]), headers, json.loads(body)


class Site:
    """A server whose connections are wires; `seen` are the scopes of its requests."""

    def __init__(self, settings: Settings = SETTINGS) -> None:
        self.loop, self.state = Loop(), ServerState()
        self.seen: list[Any] = []
        self.config = Config(self.app, interface="asgi3", lifespan="off", log_config=None, proxy_headers=False)
        self.config.load()
        self._kind = connections(settings)

    async def app(self, scope: Any, _: Any, send: Any) -> None:
        self.seen.append(scope)
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    def connect(self) -> tuple[Any, Wire]:
        wire = Wire()
        made: Any = self._kind(self.config, self.state, {}, self.loop)  # type: ignore[arg-type]  # it has what is needed
        made.connection_made(wire)
        return made, wire

    async def served(self) -> int:
        """How many requests were answered by now."""
        for _ in range(20):
            await asyncio.sleep(0)
        return len(self.seen)


def on_a_site(test: Callable[[Site], Awaitable[None]], settings: Settings = SETTINGS) -> None:
    async def run() -> None:
        await test(Site(settings))

    asyncio.run(run())


def head(size: int) -> bytes:
    """A request whose path, and names and values of headers with four signs around each, have so many bytes."""
    return b"GET / HTTP/1.1\r\nhost: x\r\nx: " + b"y" * (size - 1 - 9 - 5) + b"\r\n\r\n"


@pytest.mark.parametrize(("size", "fits"), [(MOST - 1, True), (MOST, True), (MOST + 1, False), (2 * MOST, False)])
def test_a_head_in_one_piece_may_have_32_kb_and_not_a_byte_more(size: int, fits: bool) -> None:
    async def test(site: Site) -> None:
        made, wire = site.connect()
        made.data_received(head(size))
        assert await site.served() == fits
        assert wire.closed == (not fits)
        if not fits:
            status, headers, told = wire.problem
            assert (status, headers["connection"], "retry-after" in headers) == (431, "close", False)
            assert told["detail"] == "Headers may have 32,768 bytes."

    on_a_site(test)


def test_each_head_of_a_connection_may_be_as_large_as_the_first() -> None:
    async def test(site: Site) -> None:
        made, wire = site.connect()
        for number in range(1, 4):
            made.data_received(head(MOST))
            assert await site.served() == number
        made.data_received(head(20_000) * 3)  # three in one piece
        assert await site.served() == 6
        assert not wire.closed

    on_a_site(test)


@pytest.mark.parametrize("piece", [1024, 4096])
def test_what_has_come_of_a_head_that_does_not_end_is_counted(piece: int) -> None:
    """As much as a head may have is waited for, a byte more is not; each head of a connection begins from nothing."""

    async def test(site: Site) -> None:
        made, wire = site.connect()
        for number in (1, 2):
            made.data_received(b"GET / HTTP/1.1\r\nx: ".ljust(piece, b"y"))
            for _ in range(MOST // piece - 1):
                made.data_received(b"y" * piece)
            if number == 1:
                made.data_received(b"\r\n\r\n")
                assert await site.served() == 1
        assert not wire.closed
        made.data_received(b"y")
        assert (wire.problem[0], wire.closed) == (431, True)
        made.data_received(b"y" * piece)  # what comes after that is not looked at
        assert await site.served() == 1
        assert wire.written.count(b"HTTP/1.1 ") == 2

    on_a_site(test)


@pytest.mark.parametrize("size", [MOST - 100, MOST + 1])
def test_what_comes_after_a_body_is_counted_as_a_head(size: int) -> None:
    async def test(site: Site) -> None:
        made, wire = site.connect()
        made.data_received(b"POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n1\r\nb\r\n0\r\n")
        made.data_received(b"x: " + b"y" * size + b"\r\n\r\n")
        assert await site.served() == 1
        assert [name for name, _ in site.seen[0]["headers"]] == [b"host", b"transfer-encoding"]
        assert (b"HTTP/1.1 431 " in wire.written) == (size > MOST)

    on_a_site(test)


def test_as_many_connections_as_the_settings_say_are_taken() -> None:
    async def test(site: Site) -> None:
        taken = [site.connect() for _ in range(3)]
        assert [wire.written for _, wire in taken] == [b""] * 3
        for made, wire in (site.connect(), site.connect()):
            status, headers, told = wire.problem
            assert (status, headers["retry-after"], headers["connection"]) == (503, "2", "close")
            assert headers["content-type"] == "application/problem+json"
            assert told["type"] == "urn:deniable:problem:busy"
            assert wire.closed
            assert wire.abort in [
                wait.call for wait in site.loop.due(READING)
            ]  # who does not read that is not waited for
            made.connection_lost(None)
        taken[0][0].connection_lost(None)
        assert site.connect()[1].written == b""
        assert {wire.high for _, wire in taken} == {SLICE // 2}

    on_a_site(test)


def test_a_head_has_its_time_and_nothing_else_has() -> None:
    """From the connection on, and from the first byte of each further request; not while a body or an answer goes."""

    async def test(site: Site) -> None:
        made, wire = site.connect()
        (first,) = site.loop.due(HEADERS)
        made.data_received(b"POST / HTTP/1.1\r\nhost: x\r\n")
        assert site.loop.due(HEADERS) == [first]
        made.data_received(b"content-length: 4\r\n\r\n")
        assert site.loop.due(HEADERS) == []
        made.data_received(b"12")
        assert site.loop.due(HEADERS) == []
        made.data_received(b"34")
        assert await site.served() == 1
        assert site.seen[0]["state"][ABORT] == wire.abort
        assert site.loop.due(HEADERS) == []  # an idle connection is closed by another rule
        made.data_received(b"G")
        (second,) = site.loop.due(HEADERS)
        made.data_received(b"E")
        assert site.loop.due(HEADERS) == [second]
        second.call()
        status, headers, told = wire.problem
        assert (status, headers["retry-after"], headers["connection"]) == (408, "5", "close")
        assert told["detail"] == "Headers must arrive within 7 seconds."
        assert wire.closed
        assert [wait.call for wait in site.loop.due(READING)] == [wire.abort]
        made.connection_lost(None)
        assert site.loop.due(READING) == []

    on_a_site(test)


@pytest.mark.parametrize("end", ["answer", "idle", "nonsense"])
def test_what_was_said_last_is_to_be_read_in_time(end: str) -> None:
    async def test(site: Site) -> None:
        made, wire = site.connect()
        if end == "answer":
            made.data_received(b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
            assert await site.served() == 1
        elif end == "idle":
            made.data_received(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
            assert await site.served() == 1
            assert (wire.closed, site.loop.due(READING)) == (False, [])
            made.timeout_keep_alive_handler()
        else:
            made.data_received(b"NONSENSE\r\n\r\n")
            assert (wire.problem[0], wire.problem[2]["title"]) == (400, "The request is not well formed")
        assert wire.closed
        (last,) = site.loop.due(READING)
        last.call()
        assert wire.aborted
        assert site.loop.due(HEADERS) == []

    on_a_site(test)


def test_a_client_that_goes_away_is_told_to_whoever_answers_it() -> None:
    """Also where later requests of the connection came meanwhile: none of them is waited for."""

    async def test(site: Site) -> None:
        began, gone = asyncio.Event(), list[str]()

        async def app(_: Any, receive: Any, __: Any) -> None:
            began.set()
            assert (await receive())["type"] == "http.request"
            gone.append((await receive())["type"])

        site.config.loaded_app = app
        made, _ = site.connect()
        made.data_received(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n" * 2)
        await began.wait()
        made.connection_lost(None)
        await site.served()
        assert gone == ["http.disconnect"]
        assert [wait for wait in site.loop.waits if not wait.cancelled] == []

    on_a_site(test)
