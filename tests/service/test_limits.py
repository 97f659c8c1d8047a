"""What strangers cannot make the service do: hold memory, unpack bombs, read large heads, keep answers, prove twice."""

from __future__ import annotations

import asyncio
import gzip
import json
import logging
import secrets
import socket
import sys
import threading
import time
import zlib
from contextlib import suppress
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

import deniable as dn
from deniable.errors import FormatError
from deniable.service import collector as collecting
from deniable.service import ingest
from deniable.service.http.bodies import room_of_reports
from deniable.service.http.connections import connections
from deniable.service.ingest import intake_of
from deniable.service.limits.flights import Flights
from deniable.service.limits.held import CrowdedError, Held
from deniable.service.limits.turns import short_turns
from deniable.service.settings import Settings
from deniable.service.tasks import Asked
from deniable_client.canonical import canonical
from service.calling import Service, item, task_of
from service.running import LONG, Running, everything, wait_for

JSON = {"content-type": "application/json"}
ZIPPED = {**JSON, "content-encoding": "gzip"}


# ---- memory


def test_memory_counts_bytes_that_came_and_whoever_holds_most_makes_room() -> None:
    held, lost = Held(100), []
    with held.lease() as large, held.lease() as old, held.lease() as new:
        large.take(40)
        large.give_up = lambda: lost.append("large")
        old.take(30)
        old.give_up = lambda: lost.append("old")
        new.take(20)
        assert held.now == 90
        new.take(10)
        assert (held.now, lost) == (100, [])
        new.take(5)
        assert (held.now, lost, large.lost) == (65, ["large"], True)
        new.take(35)
        assert (held.now, lost) == (100, ["large"])
        with pytest.raises(CrowdedError, match="too many requests"):
            new.take(1)  # nobody holds more than this one
        assert held.now == 100
    assert held.now == 0


def test_the_oldest_of_equal_ones_makes_room_and_nobody_who_is_worked_for() -> None:
    held, lost = Held(30), []
    with held.lease() as worked_for, held.lease() as first, held.lease() as second, held.lease() as new:
        worked_for.take(10)
        for name, lease in (("first", first), ("second", second)):
            lease.take(10)
            lease.give_up = lambda name=name: lost.append(name)  # type: ignore[misc]
        new.take(10)
        assert lost == ["first"]


def test_a_length_that_is_claimed_takes_no_room_and_the_rest_of_a_body_does() -> None:
    """Two requests that claim the whole memory and send nothing, while a third is served."""
    service = Service(Settings(max_memory=1 << 20, max_body=1 << 20))
    id = service.add(task_of())
    path, body = f"/v1/tasks/{id}/reports", json.dumps({"reports": [item(1)]}).encode()

    async def hold(started: asyncio.Event, end: asyncio.Event) -> None:
        async def receive() -> dict[str, Any]:
            started.set()
            await end.wait()
            return {"type": "http.disconnect"}

        async def send(_: Any) -> None:
            raise AssertionError("nothing is answered to a client that goes away")

        headers = [(b"content-type", b"application/json"), (b"content-length", str(1 << 20).encode())]
        scope = {"type": "http", "method": "POST", "path": path, "raw_path": path.encode(), "query_string": b""}
        await service.app({**scope, "headers": headers}, receive, send)

    async def attack() -> Any:
        started, end = [asyncio.Event() for _ in range(2)], asyncio.Event()
        holding = [asyncio.ensure_future(hold(each, end)) for each in started]
        for each in started:
            await each.wait()
        reply = await service._call("POST", path, [body], JSON)
        end.set()
        await asyncio.gather(*holding)
        return reply

    assert asyncio.run(attack()).status == 200
    assert service.collector.held.now == 0


def test_a_body_that_drips_is_ended_and_one_that_is_slow_but_moves_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a clock of our own: a step of the clock for each part that comes."""
    service = Service(Settings(body_seconds=20, body_rate=100))
    id = service.add(task_of())

    async def drip(size: int, seconds: float) -> Any:
        loop = asyncio.get_running_loop()
        start, late = loop.time(), [0.0]
        monkeypatch.setattr(loop, "time", lambda: start + late[0])
        body = json.dumps({"reports": [item(1)]}).encode().ljust(4000)
        parts = [body[i : i + size] for i in range(0, len(body), size)]
        sent: list[Any] = []

        async def receive() -> dict[str, Any]:
            late[0] += seconds
            await asyncio.sleep(0)  # whoever is late is told so before the next part
            await asyncio.sleep(0)
            part = parts.pop(0)
            return {"type": "http.request", "body": part, "more_body": bool(parts)}

        async def send(message: Any) -> None:
            sent.append(message)

        path = f"/v1/tasks/{id}/reports"
        scope = {"type": "http", "method": "POST", "path": path, "raw_path": path.encode(), "query_string": b""}
        await service.app({**scope, "headers": [(b"content-type", b"application/json")]}, receive, send)
        return sent[0]["status"], late[0]

    status, after = asyncio.run(drip(1, 0.1))
    assert status == 408
    assert after < 10.5
    assert asyncio.run(drip(210, 0.95))[0] == 200  # 4 kB within 20 seconds: the slowest device that is waited for
    status, after = asyncio.run(drip(120, 0.95))  # it keeps its pace, and still may not take longer than that
    assert status == 408
    assert 19.0 < after < 21.0


# ---- what is packed


def bomb(size: int) -> bytes:
    return gzip.compress(b" " * size, 9)


def test_a_bomb_is_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    real = zlib.decompressobj

    class Counting:
        def __init__(self, **given: Any) -> None:
            self._real = real(**given)

        def decompress(self, data: bytes, most: int) -> bytes:
            found = self._real.decompress(data, most)
            made.append(len(found))
            return found

        def __getattr__(self, name: str) -> Any:
            return getattr(self._real, name)

    service = Service()
    id = service.add(task_of())
    monkeypatch.setattr(zlib, "decompressobj", Counting)
    reply = service.post(f"/v1/tasks/{id}/reports", bomb(4 << 20), ZIPPED)
    assert (reply.status, reply.problem) == (413, "too-large")
    assert sum(made) <= 200_000
    assert service.collector.held.now == 0


def test_honest_reports_may_be_packed_as_well_as_they_can_be() -> None:
    """Random ids and bodies of zeros, the best case of every packer: no honest upload is taken for a bomb."""
    for width in (1, 100, 5000):
        reports = [{"id": secrets.token_hex(16), "report": "A" * (4 * -(-width // 3))} for _ in range(200)]
        plain = json.dumps({"reports": reports}, indent=1).encode()
        assert len(plain) <= room_of_reports(width)(len(gzip.compress(plain, 9)))


def test_a_body_that_is_unpacked_in_steps_is_whole() -> None:
    service = Service(Settings(max_body=8 << 20))
    service.collector.metrics.reports.clear()
    id = service.add(task_of())
    body = json.dumps({"reports": [{"id": secrets.token_hex(16), "report": "AQ=="} for _ in range(9000)]}).encode()
    assert len(body) > 2 * (1 << 18)
    reply = service.post(f"/v1/tasks/{id}/reports", gzip.compress(body), ZIPPED)
    assert reply.status == 200
    assert {result["status"] for result in reply.json["results"]} == {"accepted"}
    cut = service.post(f"/v1/tasks/{id}/reports", gzip.compress(body)[:-100], ZIPPED)
    assert cut.problem == "malformed"


def test_more_reports_than_may_come_are_counted_and_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    from deniable.service.http import bodies

    def looked(*_: Any) -> Any:
        raise AssertionError("none of these reports need be looked at")

    service = Service()
    id = service.add(task_of())
    many = b'{"reports":[' + b",".join([b'{"id":"","report":""}'] * 150_000) + b"]}"
    monkeypatch.setattr(bodies, "_read_json", looked)
    reply = service.post(f"/v1/tasks/{id}/reports", many)
    assert (reply.status, reply.problem) == (413, "too-large")
    assert "150,000" in reply.json["detail"]


# ---- heads and answers


def test_a_large_head_in_one_piece_is_refused() -> None:
    with Running(Settings(port=0, stop_seconds=5)) as running:
        head = b"GET /healthz HTTP/1.1\r\nhost: x\r\n" + b"".join(b"x-%d: %s\r\n" % (i, b"y" * 900) for i in range(40))
        assert running.raw(head + b"\r\n").startswith(b"HTTP/1.1 431 ")
        assert running.raw(b"GET /" + b"x" * 40_000 + b" HTTP/1.1\r\nhost: x\r\n\r\n").startswith(b"HTTP/1.1 431 ")
        fine = b"GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\nx: " + b"y" * 30_000 + b"\r\n\r\n"
        assert running.raw(fine).startswith(b"HTTP/1.1 200 ")
        body = json.dumps({"reports": [item(1)]}).encode()
        start = (
            f"POST /v1/tasks/{running.id}/reports HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n".encode()
        )
        chunk = b"transfer-encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n" % (len(body), body)
        after = running.raw(start + chunk + b"".join([b"x: %s\r\n" % (b"y" * 900)] * 40) + b"\r\n")
        assert b"HTTP/1.1 431 " in after


def test_requests_that_come_together_keep_their_headers_and_their_limits() -> None:
    with Running(Settings(port=0, stop_seconds=5)) as running:
        head = f"POST /v1/tasks/{running.id}/reports HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
        bodies = [json.dumps({"reports": [item(n)]}).encode() for n in (1, 2)]
        first, last = (f"{head}content-length: {len(body)}\r\n".encode() for body in bodies)
        both = first + b"\r\n" + bodies[0] + last + b"connection: close\r\n\r\n" + bodies[1]
        assert running.raw(both).count(b"accepted") == 2
        many = b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n" * 2000  # 70 kB of small heads
        end = b"GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"
        assert running.raw(many, end).count(b"HTTP/1.1 200 ") == 2001
        with running.connect() as client:
            client.sendall(first + b"\r\n" + bodies[0] + b"GET / HTTP/1.1\r\nx: ")
            assert sent_before_the_end(client, b"y" * 4096) < 20 << 20  # what the buffers of the system take


class Wire:
    """A transport without a network: what is written to it is kept."""

    def __init__(self) -> None:
        self.written, self.closed = b"", False

    def get_extra_info(self, _: str, default: Any = None) -> Any:
        return default

    def set_write_buffer_limits(self, **_: int) -> None:
        """There is no buffer."""

    def is_closing(self) -> bool:
        return self.closed

    def write(self, data: bytes) -> None:
        self.written += data

    def close(self) -> None:
        self.closed = True

    def pause_reading(self) -> None:
        """What was sent is there already."""

    abort, resume_reading = close, pause_reading


@pytest.mark.parametrize("pieces", [1, 2, 4, 40])
def test_the_last_piece_of_a_body_is_no_head(pieces: int) -> None:
    """However the bytes of a large body come: what ends it is not the beginning of another request."""
    from uvicorn.config import Config
    from uvicorn.server import ServerState

    got: list[int] = []

    async def app(_: Any, receive: Any, send: Any) -> None:
        size, more = 0, True
        while more:
            message = await receive()
            size, more = size + len(message["body"]), message["more_body"]
        got.append(size)
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body", "body": b""})

    async def serve() -> bytes:
        config = Config(app, lifespan="off")
        config.load()
        wire = Wire()
        protocol = connections(Settings())(config, ServerState(), {})
        protocol.connection_made(wire)  # type: ignore[arg-type]
        for _ in range(2):  # the connection goes on
            protocol.data_received(b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 400000\r\n\r\n")
            for _ in range(pieces):
                protocol.data_received(b"x" * (400_000 // pieces))
            for _ in range(20):
                await asyncio.sleep(0)
        large = b"GET / HTTP/1.1\r\nx: "
        for _ in range(20):
            if not wire.closed:
                protocol.data_received(large + b"y" * 4000)
                large = b""
        wire.closed = True
        protocol.connection_lost(None)
        return wire.written

    told = asyncio.run(serve())
    assert got == [400_000] * 2
    assert told.count(b"HTTP/1.1 200 ") == 2
    assert told.count(b"HTTP/1.1 431 ") == 1, "a head that is large is refused all the same"


def sent_before_the_end(client: socket.socket, part: bytes) -> int:
    """How many bytes are sent until the connection is ended; the deadline of a head would take far more."""
    sent = 0
    with suppress(ConnectionError):  # what is waited for
        while sent < 1 << 30:
            client.sendall(part)
            sent += len(part)
    return sent


def send_for_ever(client: socket.socket, request: bytes) -> None:
    """Until the connection is ended: the buffers of the system are full before."""
    while True:
        client.sendall(request)


def test_answers_that_nobody_reads_are_given_up(caplog: pytest.LogCaptureFixture) -> None:
    """Also the answer under way where more requests came meanwhile; and nothing is logged that strangers can repeat."""
    settings = replace(Settings(port=0, stop_seconds=5), read_seconds=0.3)
    with Running(settings) as running:
        collector = running.service.collector
        items = [item(n) for n in range(10_000)]
        body = json.dumps({"reports": items}).encode()
        head = f"POST /v1/tasks/{running.id}/reports HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
        request = f"{head}content-length: {len(body)}\r\n\r\n".encode() + body
        with running.connect() as client, pytest.raises(ConnectionError):
            send_for_ever(client, request)
        wait_for(lambda: collector.held.now == 0)
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR] == []  # as is logged


def test_a_client_that_stops_reading_again_is_waited_for_as_long_again() -> None:
    """Each time that it does not read, a time begins; it ends when the client reads, and is not there after that."""
    waits: list[Any] = []

    class Wait:
        cancelled = False

        def cancel(self) -> None:
            self.cancelled = True

    def call_later(seconds: float, call: Any) -> Wait:
        waits.append(Wait())
        assert (seconds, call) == (30, made.transport.abort)
        return waits[-1]  # type: ignore[no-any-return]

    made: Any = object.__new__(connections(Settings(read_seconds=30)))
    made.loop = SimpleNamespace(call_later=call_later)
    made.transport = SimpleNamespace(abort=lambda: None, is_closing=lambda: False)
    made.flow = SimpleNamespace(pause_writing=lambda: None, resume_writing=lambda: None)
    for times in (1, 2, 3):
        made.pause_writing()
        made.pause_writing()
        assert [wait.cancelled for wait in waits] == [True] * (times - 1) + [False]
        made.resume_writing()
        assert all(wait.cancelled for wait in waits)


def test_an_answer_that_is_given_up_is_no_fault_where_more_requests_came(caplog: pytest.LogCaptureFixture) -> None:
    settings = replace(Settings(port=0, stop_seconds=5), read_seconds=0.3)
    with Running(settings) as running:
        design = dn.mechanism("grr", epsilon=1.0, labels=[f"{i:05}" + "x" * 250 for i in range(4000)]).design
        id = running.service.add(task_of(Asked(text="?", design=design)))
        with running.connect() as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.sendall(f"GET /v1/tasks/{id} HTTP/1.1\r\nhost: x\r\n\r\n".encode() * 4)
            until = time.monotonic() + LONG
            while not ended(client) and time.monotonic() < until:
                time.sleep(0.01)
            assert ended(client)
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR] == []  # as is logged


def ended(client: socket.socket) -> bool:
    """Whether the other side has ended the connection, without reading from it."""
    try:
        return client.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) != 0 or client.send(b"x") == 0
    except ConnectionError:
        return True


def test_a_large_answer_is_whole() -> None:
    with Running(Settings(port=0, stop_seconds=5)) as running:
        body = json.dumps({"reports": [item(n) for n in range(5000)]}).encode()
        head = f"POST /v1/tasks/{running.id}/reports HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
        request = f"{head}connection: close\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body
        with running.connect() as client:
            client.sendall(request)
            answer = everything(client)
        found = json.loads(answer.partition(b"\r\n\r\n")[2])
        assert len(found["results"]) == 5000
        wait_for(lambda: running.service.collector.held.now == 0)  # the answer is there a moment before


def test_an_answer_that_takes_too_long_to_make_is_not_waited_for() -> None:
    settings = replace(Settings(), work_seconds=0.05, body_seconds=0.05)
    service = Service(settings)
    id = service.add(task_of())

    async def never(_: Any) -> Any:
        await asyncio.Event().wait()

    service.collector._submit = never
    reply = service.send(id, item(1))
    assert (reply.status, reply.problem) == (503, "busy")
    assert service.collector.held.now == 0


# ---- one proof


def test_a_task_is_proved_once_however_many_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[bytes] = []
    real = ingest.Intake

    class Slow(real):  # type: ignore[misc, valid-type]
        def __init__(self, document: bytes) -> None:
            made.append(document)
            time.sleep(0.02)  # long enough for others to ask
            super().__init__(document)

    service = Service()
    id = service.add(task_of(subject="asked for by many"))
    monkeypatch.setattr(ingest, "Intake", Slow)

    async def many() -> list[Any]:
        path = f"/v1/tasks/{id}/reports"
        bodies = [json.dumps({"reports": [item(n)]}).encode() for n in range(20)]
        return await asyncio.gather(*(service._call("POST", path, [body], JSON) for body in bodies))

    replies = asyncio.run(many())
    assert {reply.status for reply in replies} == {200}
    assert len(made) == 1
    service.collector.tidy()
    assert len(made) == 1


def test_large_tasks_that_are_being_proved_hold_up_no_small_one(monkeypatch: pytest.MonkeyPatch) -> None:
    free, real = threading.Event(), ingest.Intake

    class Slow(real):  # type: ignore[misc, valid-type]
        def __init__(self, document: bytes) -> None:
            assert len(document) <= ingest.LARGE or free.wait(LONG)
            super().__init__(document)

    service = Service()
    design = dn.mechanism("grr", epsilon=1.0, labels=[f"{i:03}" + "x" * 250 for i in range(300)]).design
    large = [service.add(task_of(Asked(text="?", design=design), subject=f"large {i}")) for i in range(40)]
    small = service.add(task_of(subject="small"))
    monkeypatch.setattr(ingest, "Intake", Slow)

    async def many() -> list[Any]:
        waiting = [asyncio.ensure_future(service._call("GET", f"/v1/tasks/{id}", [b""], {})) for id in large]
        body = json.dumps({"reports": [item(1)]}).encode()
        first = await service._call("POST", f"/v1/tasks/{small}/reports", [body], JSON)
        assert not any(each.done() for each in waiting)
        free.set()
        return [first, *await asyncio.gather(*waiting)]

    assert {reply.status for reply in asyncio.run(many())} == {200}


def test_a_document_that_is_refused_is_refused_to_all_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(2):
        with pytest.raises(FormatError):
            intake_of(b'{"version": 1}')


def test_threads_share_one_proof() -> None:
    document, found = canonical(task_of(subject="asked for by threads")), list[Any]()
    threads = [threading.Thread(target=lambda: found.append(intake_of(document))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG)
    assert len(found) == 8
    assert len({id(each) for each in found}) == 1
    assert len({id(each.mechanisms) for each in found}) == 1


def test_turns_are_short_as_long_as_somebody_works_and_usual_again_after() -> None:
    usual = sys.getswitchinterval()
    with short_turns():
        with short_turns():
            assert sys.getswitchinterval() < usual
        assert sys.getswitchinterval() < usual
    assert sys.getswitchinterval() == usual


def test_one_flight_is_for_all_who_wait_and_errors_are_not_kept() -> None:
    made: list[str] = []

    async def work() -> int:
        made.append("once")
        await asyncio.sleep(0)
        if len(made) == 1:
            raise FormatError("the first try fails.")
        return len(made)

    async def ask() -> None:
        flights: Flights[str, int] = Flights(1)
        first = await asyncio.gather(*(flights.get("a", work) for _ in range(3)), return_exceptions=True)
        assert [type(each) for each in first] == [FormatError] * 3
        assert await asyncio.gather(*(flights.get("a", work) for _ in range(3))) == [2, 2, 2]
        assert await flights.get("a", work) == 2
        flights.drop("a")
        assert await flights.get("a", work) == 3
        assert await flights.get("b", work) == 4
        assert await flights.get("a", work) == 5  # one is kept

    asyncio.run(ask())


def test_of_several_who_hold_more_the_one_with_most_makes_room() -> None:
    held, lost = Held(100), list[str]()
    with held.lease() as small, held.lease() as large, held.lease() as middle, held.lease() as new:
        for name, lease, size in (("small", small, 20), ("large", large, 45), ("middle", middle, 30)):
            lease.take(size)
            lease.give_up = lambda name=name: lost.append(name)  # type: ignore[misc]
        new.take(10)
        assert lost == ["large"]
        assert held.now == 60


def test_a_document_that_was_refused_is_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was wrong may have been ours: a second look is a look."""
    looks = list[bytes]()

    def made(document: bytes) -> Any:
        looks.append(document)
        if len(looks) == 1:
            raise FormatError("the first look fails.")
        return "an intake"

    monkeypatch.setattr(ingest, "Intake", made)
    document = b"a document that nobody else asks for"
    with pytest.raises(FormatError):
        intake_of(document)
    assert intake_of(document) == "an intake"
    assert intake_of(document) == "an intake"
    assert len(looks) == 2


def test_what_is_dropped_while_it_is_made_is_not_kept() -> None:
    async def ask() -> None:
        flights: Flights[str, str] = Flights(9)
        go = asyncio.Event()

        async def old() -> str:
            await go.wait()
            return "old"

        async def new() -> str:
            return "new"

        waiting = asyncio.ensure_future(flights.get("a", old))
        await asyncio.sleep(0)
        flights.drop("a")
        go.set()
        assert await waiting == "old"
        await asyncio.sleep(0)
        assert await flights.get("a", new) == "new"

    asyncio.run(ask())


def test_of_the_tasks_at_hand_the_oldest_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collecting, "_TASKS", 2)
    service = Service()
    ids = [service.add(task_of(subject=f"one of {i}")) for i in range(3)]

    async def ask() -> None:
        for id in (ids[0], ids[1], ids[0], ids[2]):
            assert await service.collector.task(id) is not None
        assert list(service.collector._tasks) == [ids[1], ids[2]]
        service.collector.forget(ids[1])
        assert list(service.collector._tasks) == [ids[2]]

    asyncio.run(ask())
