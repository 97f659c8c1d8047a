"""Messages to other servers and connections to them: what is sent, how often, for how long, and when they are cut."""

from __future__ import annotations

import http.client
import logging
import socket
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from deniable.errors import DeniableError
from deniable.service.alerts import webhook as calling
from deniable.service.alerts.notices import Notice
from deniable.service.alerts.webhook import Webhook, deliver
from deniable.service.limits import unanswered
from service.memory import MemoryStore

Facts = Callable[[], list[tuple[str, dict[str, Any]]]]


@pytest.fixture
def logged(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> Facts:
    """Events of the log with their facts."""
    monkeypatch.setattr(logging.getLogger("deniable.service"), "propagate", True)
    caplog.set_level(logging.INFO, "deniable.service")
    return lambda: [(record.getMessage(), record.__dict__["facts"]) for record in caplog.records]


# ---- messages


def noted(count: int) -> list[Notice]:
    return [Notice(f"task/window-{i}", {"b": i, "a": "\u00e9"}) for i in range(count)]


def test_a_round_tells_twenty_messages_and_the_next_one_the_rest() -> None:
    """What was told before, or is not due, takes no place of the twenty."""
    store, sent = MemoryStore(), list[str]()
    hook = Webhook(store, ["https://a.example/", "https://b.example/"], post=lambda a, *_: sent.append(a) or 200)
    assert [hook.tell(noted(23)) for _ in range(4)] == [20, 20, 6, 0]
    assert sent == ["https://a.example/", "https://b.example/"] * 23


def test_a_message_is_short_and_says_what_it_is() -> None:
    store, sent = MemoryStore(), list[Any]()
    Webhook(store, ["https://a.example/"], private=True, post=lambda *given: sent.append(given) or 299).tell(noted(1))
    ((address, body, headers, private),) = sent
    assert (address, body, private) == ("https://a.example/", b'{"a":"\\u00e9","b":0}', True)
    assert (headers["content-type"], headers["deniable-name"]) == ("application/json", "task/window-0")
    assert set(headers) == {"content-type", "deniable-key", "deniable-signature", "deniable-name"}


@pytest.mark.parametrize(("status", "taken"), [(199, 0), (200, 1), (204, 1), (299, 1), (300, 0), (404, 0), (500, 0)])
def test_a_message_is_taken_if_the_status_says_so(status: int, taken: int, logged: Facts) -> None:
    hook = Webhook(MemoryStore(), ["https://a.example/secret"], post=lambda *_: status)
    assert hook.tell(noted(1)) == taken
    facts = {"host": "a.example", "attempt": 1, "status": status}
    assert logged() == ([] if taken else [("webhook", facts)])


@pytest.mark.parametrize("error", [OSError, http.client.BadStatusLine, DeniableError])
def test_a_server_that_is_away_is_logged_without_the_address(error: type[Exception], logged: Facts) -> None:
    def post(*_: Any) -> int:
        raise error("https://a.example/secret")

    clock = [0.0]
    hook = Webhook(MemoryStore(), ["https://a.example/secret"], post=post, clock=lambda: clock[0])
    for attempt in (1, 2):
        assert hook.tell(noted(1)) == 0
        clock[0] += 59.9
        assert hook.tell(noted(1)) == 0, "a minute is waited for"
        clock[0] += 0.1
        assert logged()[-1] == ("webhook", {"host": "a.example", "attempt": attempt})
        clock[0] += 240
    assert "secret" not in str(logged())


def test_other_errors_are_faults_of_ours() -> None:
    def post(*_: Any) -> int:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        Webhook(MemoryStore(), ["https://a.example/"], post=post).tell(noted(1))


def test_without_an_address_nobody_is_told() -> None:
    assert not Webhook(MemoryStore(), [])
    assert Webhook(MemoryStore(), ["https://a.example/"])


class Line:
    """A connection: what is sent, and an answer."""

    def __init__(self) -> None:
        self.sent, self.ended = b"", list[str]()

    def sendall(self, data: bytes) -> None:
        self.sent += data

    def makefile(self, *_: Any, **__: Any) -> Any:
        import io

        return io.BytesIO(b"HTTP/1.1 207 x\r\ncontent-length: 0\r\n\r\n")

    def shutdown(self, how: int) -> None:
        self.ended.append("shut")
        if how != socket.SHUT_RDWR or len(self.ended) > 1:
            raise OSError

    def close(self) -> None:
        self.ended.append("closed")


@pytest.mark.parametrize(
    ("address", "host", "port", "path"),
    [
        ("http://a.example", "a.example", 80, "/"),
        ("http://a.example/", "a.example", 80, "/"),
        ("http://a.example:8080/x/y?b=1&c=2", "a.example", 8080, "/x/y?b=1&c=2"),
        ("http://a.example?b=1", "a.example", 80, "/?b=1"),
        ("https://a.example/x", "a.example", 443, "/x"),
        ("https://a.example:8443/x", "a.example", 8443, "/x"),
    ],
)
def test_a_message_goes_to_the_address_that_was_checked_and_has_ten_seconds(
    address: str, host: str, port: int, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    line, steps = Line(), list[Any]()

    class Late:
        def __init__(self, seconds: float, call: Any, given: list[Any]) -> None:
            steps.append(("limit", seconds, given == [line]))

        def start(self) -> None:
            steps.append("start")

        def cancel(self) -> None:
            steps.append("cancel")

    def look(name: str, number: int, **_: Any) -> list[Any]:
        steps.append(("look", name, number))
        return [(0, 0, 0, "", ("192.0.2.7", number)), (0, 0, 0, "", ("192.0.2.8", number))]

    def connect(where: Any, timeout: float) -> Line:
        steps.append(("connect", where, timeout))
        return line

    def wrapped(own: Any, server_hostname: str, do_handshake_on_connect: bool) -> Any:
        steps.append(("tls", server_hostname, do_handshake_on_connect))
        return own

    monkeypatch.setattr(calling, "Timer", Late)
    monkeypatch.setattr(socket, "getaddrinfo", look)
    monkeypatch.setattr(socket, "create_connection", connect)
    monkeypatch.setattr(calling.ssl, "create_default_context", lambda: SimpleNamespace(wrap_socket=wrapped))
    assert deliver(address, b"{}", {"deniable-name": "n"}, True) == 207
    tls = [("tls", host, False)] if address.startswith("https") else []
    assert steps == [
        ("look", host, port), ("connect", ("192.0.2.7", port), 10.0), *tls, ("limit", 10.0, True), "start", "cancel",
    ]  # fmt: skip
    head, _, body = line.sent.partition(b"\r\n\r\n")
    first, *rest = head.decode().split("\r\n")
    assert (first, body) == (f"POST {path} HTTP/1.1", b"{}")
    names = {name.lower(): value for name, value in (one.split(": ") for one in rest)}
    assert (names["connection"], names["deniable-name"], names["content-length"]) == ("close", "n", "2")
    assert names["host"].partition(":")[0] == host
    assert line.ended[-1] == "closed"


def test_a_message_that_takes_too_long_is_cut_whoever_waits() -> None:
    line = Line()
    calling._cut(line)  # type: ignore[arg-type]  # as much of a socket as is needed
    assert line.ended == ["shut"]
    calling._cut(line)  # type: ignore[arg-type]
    assert line.ended == ["shut", "shut", "closed"], "where it has ended by itself"


# ---- connections that do not answer


class Threads:
    """Threads that do not run: the test does their work, step by step."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.started, self.cut = 100.0, list[Any](), list[int]()
        outer = self

        class Thread:
            def __init__(self, target: Any, name: str, daemon: bool) -> None:
                assert daemon
                self.target = target

            def start(self) -> None:
                outer.started.append(self.target)

        class EndError(Exception):
            pass

        self.end = EndError

        def sleep(seconds: float) -> None:
            assert 0 < seconds <= 1
            raise EndError

        time = SimpleNamespace(monotonic=lambda: self.now, sleep=sleep)
        monkeypatch.setattr(unanswered, "time", time)
        monkeypatch.setattr(unanswered.threading, "Thread", Thread)
        monkeypatch.setattr(unanswered, "_cut", lambda handle: self.cut.append(handle()))

    def look(self) -> list[int]:
        """One look of the thread; the handles that it cuts."""
        self.cut.clear()
        with pytest.raises(self.end):
            self.started[0]()
        return list(self.cut)


def test_a_connection_is_cut_when_its_time_is_over_and_not_before(monkeypatch: pytest.MonkeyPatch) -> None:
    threads, watch = Threads(monkeypatch), unanswered.Watch()
    with watch.over(lambda: 1, 5.0), watch.over(lambda: 2, 3.0):
        assert threads.look() == []
        threads.now = 102.9
        assert threads.look() == []
        threads.now = 103.0
        assert threads.look() == [2]
        threads.now = 104.9
        assert threads.look() == [], "each is cut once"
        threads.now = 105.0
        assert threads.look() == [1]
    assert len(threads.started) == 1, "one thread looks at all of them"


def test_what_was_answered_in_time_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    threads, watch = Threads(monkeypatch), unanswered.Watch()
    with watch.over(lambda: 1, 50.0):
        with watch.over(lambda: 2, 1.0):
            pass
        with pytest.raises(KeyError), watch.over(lambda: 3, 1.0):
            raise KeyError
        threads.now = 110.0
        assert threads.look() == []
        with watch.over(lambda: 4, 1.0):
            threads.now = 111.0
            assert threads.look() == [4]
            threads.now = 150.0
            assert threads.look() == [1]


def test_a_connection_that_is_cut_stays_open_for_its_owner() -> None:
    here, there = socket.socketpair()
    with here, there:
        unanswered._cut(here.fileno)
        assert there.recv(1) == b""
        assert here.recv(1) == b""
        assert here.fileno() >= 0
    unanswered._cut(lambda: -1)  # gone meanwhile: that is what was wanted
