"""Answers as they leave the table of routes: slices of large ones, headers for browsers, counters, and time limits."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from deniable.errors import DeniableError, FormatError, ParameterError
from deniable.present.renderer import DrawingError
from deniable.service.access.keys import Role
from deniable.service.collector import Collector, RateError, StoppingError
from deniable.service.http.app import application
from deniable.service.http.connections import SLICE
from deniable.service.http.problems import Problem, problem_of
from deniable.service.http.routes import Row
from deniable.service.limits.held import CrowdedError
from deniable.service.settings import Settings
from deniable.service.store.contract import StoreUnavailableError
from deniable.service.writer import OverloadedError
from service.calling import Service, task_of

KB = 1024


@dataclass
class Sent:
    """What was sent, message by message, and how much memory was held at each."""

    messages: list[Any]
    held: list[int]

    @property
    def status(self) -> int:
        return int(self.messages[0]["status"])

    @property
    def headers(self) -> dict[str, str]:
        return {name.decode(): value.decode() for name, value in self.messages[0]["headers"]}

    @property
    def parts(self) -> list[bytes]:
        return [message.get("body", b"") for message in self.messages[1:]]


def ask(
    service: Service,
    rows: Sequence[Row],
    method: str = "GET",
    headers: Mapping[str, str] | None = None,
    path: str = "/x",
) -> Sent:
    """What is answered to a request without a body."""
    found = Sent([], [])
    app = application(service.collector, more=rows)
    given = {"host": "127.0.0.1", **(headers or {})}
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in given.items()],
    }

    async def receive() -> Any:
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        found.messages.append(message)
        found.held.append(service.collector.held.now)

    asyncio.run(app(scope, receive, send))
    return found


def row(answer: Any, method: str = "GET", role: Role = Role.PUBLIC, **more: Any) -> Row:
    """A route that gives this answer, or raises it."""

    async def handler(_: Collector, __: Request) -> Response:
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, Response) else Response(answer)

    return Row(method=method, path="/x", role=role, handler=handler, summary="", answers={}, **more)


# ---- large answers


@pytest.mark.parametrize("size", [0, 1, SLICE - 1, SLICE, SLICE + 1, 2 * SLICE - 1, 2 * SLICE, 2 * SLICE + 1])
def test_an_answer_goes_in_slices_of_64_kb_of_which_the_last_says_so(size: int) -> None:
    service = Service()
    body = bytes(i % 251 for i in range(size))
    sent = ask(service, [row(body)])
    assert b"".join(sent.parts) == body
    assert [len(part) for part in sent.parts] == [64 * KB] * (size // (64 * KB)) + [size % (64 * KB)] * (
        size % (64 * KB) > 0 or size == 0
    )
    assert [message.get("more_body", False) for message in sent.messages[1:]] == [True] * (len(sent.parts) - 1) + [
        False
    ]
    assert sent.headers["content-length"] == str(size)
    assert set(sent.held) == {size if size > 64 * KB else 0}, "an answer of several slices is memory while it goes"
    assert service.collector.held.now == 0


def test_a_large_answer_for_which_there_is_no_memory_is_not_begun() -> None:
    service = Service(Settings(max_memory=1 << 20))
    for size, status in (((1 << 20), 200), ((1 << 20) + 1, 503)):
        sent = ask(service, [row(bytes(size))])
        assert sent.status == status
        assert service.collector.held.now == 0
    assert json.loads(sent.parts[0])["type"] == "urn:deniable:problem:busy"
    assert (sent.headers["retry-after"], sent.headers["connection"]) == ("2", "close")


# ---- headers


def test_every_answer_says_how_browsers_are_to_take_it_and_own_words_stay() -> None:
    service = Service()
    for answer in (b"", Problem("conflict", "no."), ValueError("ours")):
        headers = ask(service, [row(answer)]).headers
        assert (headers["x-content-type-options"], headers["referrer-policy"]) == ("nosniff", "no-referrer")
        assert "cache-control" not in headers
        assert "vary" not in headers
    own = ask(service, [row(Response(b"", 200, {"referrer-policy": "origin", "cache-control": "public"}))]).headers
    assert (own["referrer-policy"], own["cache-control"]) == ("origin", "public")


@pytest.mark.parametrize("role", [Role.ANALYST, Role.ADMINISTRATOR])
def test_what_needs_a_key_is_kept_by_nobody(role: Role) -> None:
    """Whatever the answer says itself, and whoever asks; also what is public of the same path."""
    service = Service()
    rows = [row(Response(b"", 200, {"cache-control": "public"}), role=role), row(b"", "POST")]
    for headers, status in (({}, 401), (service.key("administrator"), 200)):
        sent = ask(service, rows, headers=headers)
        assert (sent.status, sent.headers["cache-control"]) == (status, "no-store")
    assert ask(service, rows, "POST").headers["cache-control"] == "no-store"


def test_methods_of_a_path_are_named_in_their_order() -> None:
    service = Service()
    rows = [row(b"got"), row(b"put", "PUT"), row(b"gone", "DELETE")]
    assert ask(service, rows, "HEAD").status == 200
    for method in ("POST", "OPTIONS", "PATCH"):
        sent = ask(service, rows, method)
        assert (sent.status, sent.headers["allow"]) == (405, "GET, PUT, DELETE, HEAD")
        told = json.loads(sent.parts[0])["detail"]
        assert told == f"{method} is not possible here; GET, PUT, DELETE, HEAD is."
    only = ask(service, [row(b"", "POST")], "GET")
    assert (only.status, only.headers["allow"]) == (405, "POST"), "HEAD is there where GET is"
    counted = service.collector.metrics.requests
    assert counted["/x", "HEAD", 200] == 1
    assert counted["/x", "other", 405] == 4


def test_pages_of_other_sites_are_told_what_they_may_send() -> None:
    service = Service(Settings(cors={"*": ("https://a.example",)}))
    rows = [row(b"", "POST", shared=True)]
    sent = ask(service, rows, "OPTIONS", {"origin": "https://a.example"})
    assert (sent.status, sent.headers["allow"]) == (204, "POST, OPTIONS")
    allowed = {name: value for name, value in sent.headers.items() if name.startswith("access-control-")}
    assert allowed == {
        "access-control-allow-origin": "https://a.example",
        "access-control-allow-methods": "POST, OPTIONS",
        "access-control-allow-headers": "content-type, content-encoding",
        "access-control-max-age": "3600",
    }
    for method, origin in (("OPTIONS", "https://b.example"), ("OPTIONS", ""), ("POST", "https://b.example")):
        other = ask(service, rows, method, {"origin": origin} if origin else {})
        assert not [name for name in other.headers if name.startswith("access-control-")]
        assert other.headers["vary"] == "Origin"
    sent = ask(service, rows, "POST", {"origin": "https://a.example"})
    assert [name for name in sent.headers if name.startswith("access-control-")] == ["access-control-allow-origin"]


def test_origins_of_one_task_are_not_those_of_another() -> None:
    id = task_of()["id"]
    service = Service(Settings(cors={id: ("https://a.example",)}))
    service.add(task_of())
    for path, allowed in ((f"/v1/tasks/{id}", True), (f"/v1/tasks/{'0' * 64}", False)):
        sent = ask(service, [], headers={"origin": "https://a.example"}, path=path)
        assert ("access-control-allow-origin" in sent.headers) == allowed


# ---- what goes wrong


def test_errors_are_told_as_what_they_are() -> None:
    """By their kinds: the status, the words, when to try again, and whether the connection goes on."""
    said = "Says why. Do this."
    table: list[tuple[type[DeniableError], int, str, str | None, bool]] = [
        (StoreUnavailableError, 503, "Nothing of this request was acknowledged. Try again later.", "10", False),
        (DrawingError, 500, said, None, False),
        (RateError, 429, said, "1", False),
        (CrowdedError, 503, said, "2", True),
        (StoppingError, 503, said, "2", True),
        (OverloadedError, 503, "More reports are waiting than can be held. Try again later.", "2", False),
        (ParameterError, 422, "says why.", None, False),
        (FormatError, 422, "says why.", None, False),
        (DeniableError, 422, "says why.", None, False),
    ]
    service = Service()
    for kind, status, detail, retry, closes in table:
        error = kind("says why.", "Do this.")
        sent = ask(service, [row(error)])
        document = json.loads(sent.parts[0])
        assert (sent.status, document["status"], document["detail"]) == (status, status, detail)
        assert (sent.headers.get("retry-after"), sent.headers.get("connection") == "close") == (retry, closes)
        assert document.get("hint") == ("Do this." if status == 422 else None)
        assert problem_of(error).detail == detail
        assert service.collector.metrics.requests["/x", "GET", status] >= 1


def test_pages_tell_problems_in_their_own_way() -> None:
    """Also what is refused before their own work begins; a fault of ours is the same for everybody."""

    def page(problem: Problem, _: Request) -> Response:
        return Response(f"<{problem.kind}>".encode(), 418)

    service = Service()
    for answer, role, status in (
        (Problem("conflict", "no."), Role.PUBLIC, 418),
        (FormatError("wrong."), Role.PUBLIC, 418),
        (b"", Role.ANALYST, 418),
        (ValueError("ours"), Role.PUBLIC, 500),
    ):
        assert ask(service, [row(answer, role=role, page=page)]).status == status


def test_a_client_that_goes_away_is_counted_and_told_nothing() -> None:
    service = Service()
    sent = ask(service, [row(ClientDisconnect())])
    assert sent.messages == []
    assert service.collector.metrics.requests == {("/x", "GET", 499): 1}


def test_an_answer_has_the_time_of_the_body_and_of_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both together; whoever waited longer is told so, and that nothing is counted twice."""
    asked: list[float] = []

    @asynccontextmanager
    async def over(seconds: float) -> AsyncIterator[None]:
        asked.append(seconds)
        raise TimeoutError
        yield

    monkeypatch.setattr(asyncio, "timeout", over)
    for settings, seconds in ((Settings(), 50), (Settings(body_seconds=3, work_seconds=5), 8)):
        sent = ask(Service(settings), [row(b"")])
        assert asked.pop() == seconds
        told = f"There was no answer within {seconds} seconds. What was sent may be sent again: it counts once."
        assert (sent.status, json.loads(sent.parts[0])["detail"]) == (503, told)
        assert (sent.headers["retry-after"], sent.headers["connection"]) == ("2", "close")
