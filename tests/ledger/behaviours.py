"""What servers may do to a device: small scripted TCP servers on this machine, one for each behaviour.

As a program it serves all of them, prints one line of JSON with their ports and what is expected of a device, and, once
its input ends, another one with what came in: for clients in other languages.
"""

from __future__ import annotations

import json
import re
import socket
import struct
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

__all__ = ["BEHAVIOURS", "Behaviour", "Server", "serve"]

SENT, REFUSED, WAITING = "sent", "refused", "waiting"
PACE = 0.02
"""Seconds between the bytes of servers that drip."""


@dataclass
class Server:
    """One server, and what came to it."""

    stop: threading.Event
    port: int = 0
    requests: int = 0
    taken: int = 0
    """Bytes that the device took of what was sent to it, at least."""
    ids: list[str] = field(default_factory=list)


class Talk:
    """One connection."""

    def __init__(self, server: Server, connection: socket.socket) -> None:
        self.server = server
        self.connection = connection
        self.name = ""

    def read(self) -> None:
        """The whole request."""
        data = b""
        while b"\r\n\r\n" not in data and (more := self.connection.recv(65536)):
            data += more
        head, _, body = data.partition(b"\r\n\r\n")
        length = re.search(rb"content-length: *([0-9]+)", head, re.IGNORECASE)
        while length and len(body) < int(length[1]) and (more := self.connection.recv(65536)):
            body += more
        if body:
            self.name = json.loads(body)["reports"][0]["id"]
            self.server.ids.append(self.name)
        self.server.requests += bool(data)

    def say(self, data: bytes) -> None:
        """Send something."""
        self.connection.sendall(data)
        self.server.taken += len(data)

    def answer(self, body: Any = None, status: str = "200 OK", headers: str = "", raw: bytes | None = None) -> None:
        """A whole answer."""
        content = json.dumps(self.results() if body is None else body).encode() if raw is None else raw
        self.say(f"HTTP/1.1 {status}\r\nContent-Length: {len(content)}\r\n{headers}\r\n".encode() + content)

    def results(self, status: Any = "accepted", **more: Any) -> dict[str, Any]:
        """What a collector says about the report."""
        return {"results": [{"id": self.name, "status": status} | more]}

    def hang(self) -> None:
        """Until everything is over."""
        self.server.stop.wait()

    def drip(self, parts: Iterator[bytes]) -> None:
        """One after the other, slowly."""
        for part in parts:
            self.say(part)
            if self.server.stop.wait(PACE):
                break


def forever(part: bytes) -> Iterator[bytes]:
    """The same again and again."""
    while True:
        yield part


def single(data: bytes) -> Iterator[bytes]:
    """Byte by byte."""
    return (data[i : i + 1] for i in range(len(data)))


@dataclass(frozen=True)
class Behaviour:
    """What a server does after it was asked, and what becomes of the report."""

    act: Callable[[Talk], None]
    expect: str = WAITING
    reads: bool = True


def status(line: str, expect: str = WAITING, headers: str = "") -> Behaviour:
    """An answer with this status."""
    return Behaviour(lambda talk: talk.answer({}, line, headers), expect)


def raw(data: bytes) -> Behaviour:
    """These bytes, and the end."""
    return Behaviour(lambda talk: talk.say(data))


def said(make: Callable[[Talk], Any], expect: str = WAITING) -> Behaviour:
    """An answer with status 200 and this document."""
    return Behaviour(lambda talk: talk.answer(make(talk)), expect)


def _reset(talk: Talk) -> None:
    talk.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def _twice(talk: Talk) -> None:
    talk.answer()
    talk.answer({}, "500 Oops")


def _slow_headers(talk: Talk) -> None:
    talk.say(b"HTTP/1.1 200 OK\r\n")
    talk.drip(b"X-%d: y\r\n" % i for i in range(10**9))


def _slow_body(talk: Talk) -> None:
    talk.say(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
    talk.drip(forever(b" "))


def _slow_status(talk: Talk) -> None:
    talk.drip(single(b"HTTP/1.1 200 " + b"O" * 10**4))


def _slow_but_whole(talk: Talk) -> None:
    content = json.dumps(talk.results()).encode()
    talk.say(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(content))
    for part in (content[:10], content[10:]):
        talk.say(part)


def _hang_in_headers(talk: Talk) -> None:
    talk.say(b"HTTP/1.1 200 OK\r\nContent-Le")
    talk.hang()


def _hang_in_body(talk: Talk) -> None:
    talk.say(b'HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{"results')
    talk.hang()


def _flood(talk: Talk) -> None:
    talk.say(b"HTTP/1.1 200 OK\r\n\r\n")
    while not talk.server.stop.is_set():
        talk.say(b" " * 65536)


def _huge_headers(talk: Talk) -> None:
    talk.say(b"HTTP/1.1 200 OK\r\n")
    while not talk.server.stop.is_set():
        talk.say(b"X: " + b"y" * 60000 + b"\r\n")


def _continue(talk: Talk) -> None:
    while not talk.server.stop.is_set():
        talk.say(b"HTTP/1.1 100 Continue\r\n\r\n")


def _chunks(talk: Talk, content: bytes) -> None:
    talk.say(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + content)


def _chunked(talk: Talk) -> None:
    content = json.dumps(talk.results()).encode()
    _chunks(talk, b"%x\r\n%s\r\n0\r\n\r\n" % (len(content), content))


def _compressed(talk: Talk) -> None:
    import gzip

    talk.answer(headers="Content-Encoding: gzip\r\n", raw=gzip.compress(json.dumps(talk.results()).encode()))


def _deep(talk: Talk) -> None:
    talk.answer(raw=b'{"results":' + b"[" * 20000 + b"]" * 20000 + b"}")


def _long(talk: Talk) -> None:
    talk.answer(raw=json.dumps(talk.results()).encode() + b" " * 10**6)


BEHAVIOURS: Mapping[str, Behaviour] = {
    "accepts": Behaviour(lambda talk: talk.answer(), SENT),
    "accepts in pieces": Behaviour(_slow_but_whole, SENT),
    "accepts in chunks": Behaviour(_chunked, SENT),
    "says that it is there already": said(lambda talk: talk.results("duplicate"), SENT),
    "answers twice": Behaviour(_twice, SENT),
    "rejects": said(lambda talk: talk.results("rejected", reason="no"), REFUSED),
    "rejects, and the reason is a mapping": said(
        lambda talk: talk.results("rejected", reason={"toString": 1, "length": -1}), REFUSED
    ),
    "rejects, and the reason is long": said(lambda talk: talk.results("rejected", reason="x" * 50_000), REFUSED),
    "400": status("400 Bad Request", REFUSED),
    "404": status("404 Not Found", REFUSED),
    "410": status("410 Gone", REFUSED),
    "closes at once": Behaviour(lambda talk: None, reads=False),
    "resets": Behaviour(_reset),
    "closes after the request": Behaviour(lambda talk: None),
    "never answers": Behaviour(lambda talk: talk.hang()),
    "never reads": Behaviour(lambda talk: talk.hang(), reads=False),
    "hangs in the headers": Behaviour(_hang_in_headers),
    "hangs in the body": Behaviour(_hang_in_body),
    "drips the status": Behaviour(_slow_status),
    "drips headers": Behaviour(_slow_headers),
    "drips the body": Behaviour(_slow_body),
    "100 Continue for ever": Behaviour(_continue),
    "drips 100 Continue": Behaviour(lambda talk: talk.drip(forever(b"HTTP/1.1 100 Continue\r\n\r\n"))),
    "headers for ever": Behaviour(_huge_headers),
    "a body for ever": Behaviour(_flood),
    "a body of a million bytes": Behaviour(_long),
    "garbage": raw(bytes(range(256)) * 10),
    "an alert of TLS": raw(b"\x15\x03\x01\x00\x02\x02\x28"),
    "HTTP/9.9": raw(b"HTTP/9.9 200 OK\r\n\r\n"),
    "no status": raw(b"HTTP/1.1 \r\n\r\n"),
    "a status of five digits": raw(b"HTTP/1.1 20000 OK\r\n\r\n"),
    "a length that is too long": raw(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{}"),
    "a length that is no number": raw(b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n{}"),
    "a length below zero": raw(b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n{}"),
    "a length of 10^18": raw(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000000000000\r\n\r\n{}"),
    "chunks that are none": Behaviour(lambda talk: _chunks(talk, b"zz\r\nhello\r\n")),
    "a chunk of 2^64": Behaviour(lambda talk: _chunks(talk, b"ffffffffffffffff\r\n{}")),
    "compressed": Behaviour(_compressed),
    "not JSON": Behaviour(lambda talk: talk.answer(raw=b"<html>hello</html>")),
    "deep JSON": Behaviour(_deep),
    "a number of 5,000 digits": Behaviour(lambda talk: talk.answer(raw=b'{"results":' + b"1" * 5000 + b"}")),
    "results of another report": said(lambda talk: {"results": [{"id": "0" * 32, "status": "accepted"}]}),
    "results that are none": said(lambda talk: {"results": {"id": talk.name, "status": "accepted"}}),
    "a status that is none": said(lambda talk: talk.results({"accepted": True})),
    "204": Behaviour(lambda talk: talk.say(b"HTTP/1.1 204 No Content\r\n\r\n")),
    "206": status("206 Partial Content"),
    "redirects": status("302 Found", headers="Location: http://127.0.0.1:9/\r\n"),
    "429 for a day": status("429 Too Many Requests", headers="Retry-After: 86400\r\n"),
    "429 for ever": status("429 Too Many Requests", headers=f"Retry-After: {'9' * 4000}\r\n"),
    "429 until nonsense": status("429 Too Many Requests", headers="Retry-After: Mon, 99 Foo -1 25:61:61 GMT\r\n"),
    "500": status("500 Internal Server Error"),
    "503": status("503 Service Unavailable", headers="Retry-After: -1\r\n"),
    "999": status("999 Strange"),
}


@contextmanager
def serve(behaviours: Mapping[str, Behaviour] = BEHAVIOURS) -> Iterator[dict[str, Server]]:
    """All of these servers, until the end of the block."""
    stop, servers, listening = threading.Event(), {}, []
    for name, behaviour in behaviours.items():
        listener = socket.create_server(("127.0.0.1", 0))
        servers[name] = server = Server(stop, listener.getsockname()[1])
        listening.append(listener)
        threading.Thread(target=_listen, args=(listener, server, behaviour), daemon=True).start()
    try:
        yield servers
    finally:
        stop.set()
        for listener in listening:
            with suppress(OSError):  # a thread may be inside of accept
                listener.shutdown(socket.SHUT_RDWR)
            listener.close()


def _listen(listener: socket.socket, server: Server, behaviour: Behaviour) -> None:
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        threading.Thread(target=_talk, args=(connection, server, behaviour), daemon=True).start()


def _talk(connection: socket.socket, server: Server, behaviour: Behaviour) -> None:
    with connection, suppress(OSError):  # devices hang up when they have had enough
        talk = Talk(server, connection)
        if behaviour.reads:
            talk.read()
        behaviour.act(talk)


def main() -> None:
    """Serve until the input ends."""
    with serve() as servers:
        told = {name: {"port": server.port, "expect": BEHAVIOURS[name].expect} for name, server in servers.items()}
        print(json.dumps(told), flush=True)
        sys.stdin.read()
        print(json.dumps({name: {"requests": each.requests, "ids": each.ids} for name, each in servers.items()}))


if __name__ == "__main__":
    main()
