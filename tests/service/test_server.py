"""The server on a real socket: slow and broken clients, what it tells about itself, and how it stops."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from deniable.service.settings import Settings
from service.calling import item, task_of
from service.running import LONG, Running, everything

QUICK = replace(
    Settings(port=0, idle_seconds=5, stop_seconds=5, max_connections=20), header_seconds=0.3, body_seconds=0.3
)
"""Shorter than settings may be, so that the tests are. Whoever is not slow on purpose may be so by chance, where a
machine stands still for a moment: only those who are to be told so are sent there, others to `running`."""


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    with Running(Settings(port=0, stop_seconds=5)) as found:
        yield found


@pytest.fixture(scope="module")
def hasty() -> Iterator[Running]:
    with Running(QUICK) as found:
        yield found


def alive(running: Running) -> None:
    """The next client is served as if nothing had happened; one that stood still itself may try again."""
    for _ in range(10):
        client = http.client.HTTPConnection("127.0.0.1", running.port, timeout=LONG)
        client.request("GET", "/healthz")
        status = client.getresponse().status
        client.close()
        if status != 408:
            break
    assert status == 200


def post(running: Running, body: bytes, extra: str = "") -> bytes:
    head = f"POST /v1/tasks/{running.id}/reports HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n{extra}"
    return f"{head}content-length: {len(body)}\r\n\r\n".encode() + body


def test_a_kept_connection_serves_many_requests_and_tells_no_versions(running: Running) -> None:
    client = http.client.HTTPConnection("127.0.0.1", running.port, timeout=LONG)
    for number in range(3):
        body = json.dumps({"reports": [item(1000 + number)]})
        client.request("POST", f"/v1/tasks/{running.id}/reports", body, {"Content-Type": "application/json"})
        reply = client.getresponse()
        assert json.loads(reply.read())["results"][0]["status"] == "accepted"
        assert reply.getheader("server") is None
        assert not re.search("uvicorn|starlette|python|deniable/", str(reply.headers).lower())
    client.close()


@pytest.mark.parametrize("start", [b"", b"\r\n", b"GET / HT", b"GET /healthz HTTP/1.1\r\nhost: x\r\nx: "])
def test_headers_that_never_end_are_not_waited_for(hasty: Running, start: bytes) -> None:
    answer = hasty.raw(start)
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"application/problem+json" in answer
    alive(hasty)


def test_a_second_request_that_never_ends_is_not_waited_for(hasty: Running) -> None:
    for _ in range(10):
        with hasty.connect() as client:
            client.sendall(b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n")
            first = client.recv(65536)
            if first.startswith(b"HTTP/1.1 408 "):
                continue  # this client itself stood still before it sent anything
            client.sendall(b"GET /he")
            rest = everything(client)
            break
    assert first.startswith(b"HTTP/1.1 200 ")
    assert b"HTTP/1.1 408 " in rest


def test_a_body_that_never_ends_is_not_waited_for(hasty: Running) -> None:
    answer = hasty.raw(post(hasty, b"{" + b" " * 100)[:-50])
    assert answer.startswith(b"HTTP/1.1 408 ")
    alive(hasty)


def test_headers_without_end_are_cut(running: Running) -> None:
    line = b"x-more: " + b"y" * 8000 + b"\r\n"
    answer = running.raw(b"GET /healthz HTTP/1.1\r\nhost: x\r\n", *[line] * 5)
    assert answer.startswith(b"HTTP/1.1 431 ")
    alive(running)


@pytest.mark.parametrize(
    "junk",
    [b"\x16\x03\x01\x02\x00\x01", b"NONSENSE\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x00" * 100],
)
def test_what_is_not_http_is_told_so(running: Running, junk: bytes) -> None:
    answer = running.raw(junk)
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["type"] == "urn:deniable:problem:malformed"
    alive(running)


def test_a_large_body_with_its_headers_in_one_piece_is_no_large_header(running: Running) -> None:
    body = json.dumps({"reports": [item(n) for n in range(2000, 3500)]}).encode()
    assert len(body) > 64 << 10
    answer = running.raw(post(running, body, "connection: close\r\n"))
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert answer.count(b"accepted") == 1500


def test_a_response_that_nobody_waits_for_is_counted_once(running: Running) -> None:
    body = json.dumps({"reports": [item(7000)]}).encode()
    with running.connect() as client:
        client.sendall(post(running, body))
    answer = running.raw(post(running, body, "connection: close\r\n"), b"")
    assert b"duplicate" in answer or b"accepted" in answer
    again = running.raw(post(running, body, "connection: close\r\n"))
    assert b"duplicate" in again


def test_too_many_connections_are_refused_and_others_go_on(hasty: Running) -> None:
    idle = [hasty.connect() for _ in range(QUICK.max_connections)]
    answers = [everything(client) for client in idle]
    for client in idle:
        client.close()
    assert {answer[:12] for answer in answers} <= {b"HTTP/1.1 408", b"HTTP/1.1 503"}
    alive(hasty)


# ---- the whole program


def start(folder: Path, *more: str) -> tuple[subprocess.Popen[str], str]:
    """`deniable serve`, and its address."""
    command = [sys.executable, "-m", "deniable", "serve", "--database", "sqlite:///c.db", "--port", "0", *more]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    line = process.stdout.readline()
    return process, line.strip()


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX are needed")
def test_sigterm_finishes_what_has_begun(tmp_path: Path) -> None:
    """A request that is half sent when the signal comes is answered, and its report is in the database afterwards."""
    from deniable.service.store import open_store
    from deniable_client.canonical import canonical

    document = task_of(opens=datetime.now(UTC).date(), windows=2)
    store = open_store(f"sqlite:///{tmp_path / 'c.db'}")
    store.put_task(document["id"], canonical(document))
    store.set_state(document["id"], "open")
    store.close()
    process, line = start(tmp_path)
    try:
        assert re.fullmatch(r"Listening on http://127\.0\.0\.1:\d+", line)
        body = json.dumps({"reports": [item(1)]}).encode()
        head = f"POST /v1/tasks/{document['id']}/reports HTTP/1.1\r\nhost: canary-host\r\nuser-agent: canary-agent\r\n"
        head += f"content-type: application/json\r\nexpect: 100-continue\r\ncontent-length: {len(body)}\r\n\r\n"
        with socket.create_connection(("127.0.0.1", int(line.rpartition(":")[2])), timeout=LONG) as client:
            client.sendall(head.encode())
            assert client.recv(100).startswith(b"HTTP/1.1 100 ")  # the request has begun
            client.sendall(body[:20])
            process.send_signal(signal.SIGTERM)
            client.sendall(body[20:])
            answer = everything(client)
        assert b'"accepted"' in answer
        out, err = process.communicate(timeout=LONG)
    finally:
        process.kill()
        process.wait()
    assert (process.returncode, out) == (0, "")
    events = [json.loads(line) for line in err.splitlines()]
    assert [event["event"] for event in events] == ["ready", "stopped"]
    assert "canary" not in err
    store = open_store(f"sqlite:///{tmp_path / 'c.db'}")
    assert [tally.n for tally in store.tallies(document["id"]).values()] == [1]
    store.close()
