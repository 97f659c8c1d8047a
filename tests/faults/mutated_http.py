"""Altered reports and broken requests over HTTP, on a real collector with SQLite.

    python tests/faults/mutated_http.py --json              200,000 altered reports
    python tests/faults/mutated_http.py --count 5000

Reports of every mechanism are altered (`mutated_reports.py`) and sent as JSON or as bytes, some compressed; what is
accepted must be valid by a check that shares nothing with the collector (`tests/service/oracle.py`), and the other way
round. Between them go requests that are broken themselves: bytes of the body or of the head changed, cut, repeated.
Counts what must be 0: `accepted_invalid`, `refused_valid`, `server_errors`, `lost` (connections left without an answer
by whole requests); and the slowest answer.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from base64 import b64encode
from collections import Counter
from pathlib import Path
from typing import Any

from mutated_reports import Target, altered, targets

from deniable.service.store import open_store
from deniable_client.canonical import canonical

LOT = 50
BROKEN = 10
"""Broken requests for each whole one."""


class Link:
    """A connection that is kept, and made anew when the collector closes it."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._socket: socket.socket | None = None

    def send(self, data: bytes) -> bytes:
        """What is answered to some bytes; nothing if the connection is closed without an answer."""
        if self._socket is None:
            self._socket = socket.create_connection(("127.0.0.1", self._port), timeout=30)
        found = b""
        try:
            self._socket.sendall(data)
            while not _whole(found):
                part = self._socket.recv(1 << 16)
                if not part:
                    self.close()
                    break
                found += part
        except ConnectionError:
            self.close()
        if b"connection: close" in found.lower():
            self.close()
        return found

    def close(self) -> None:
        """Leave the connection."""
        if self._socket is not None:
            self._socket.close()
        self._socket = None


def _whole(answer: bytes) -> bool:
    head, mark, body = answer.partition(b"\r\n\r\n")
    if not mark:
        return False
    length = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
    return len(body) >= int(length or b"0")


def request(target: Target, ids: list[bytes], bodies: list[bytes], rng: random.Random) -> bytes:
    """A whole request with these reports, in one of the ways that there are."""
    if rng.random() < 0.3 and all(len(body) == target.width for body in bodies):
        kind, data = "application/octet-stream", b"".join(id + body for id, body in zip(ids, bodies, strict=True))
    else:
        items = [{"id": i.hex(), "report": b64encode(b).decode()} for i, b in zip(ids, bodies, strict=True)]
        kind, data = "application/json", json.dumps({"reports": items}).encode()
    extra = ""
    if rng.random() < 0.2:
        data, extra = gzip.compress(data, 1), "Content-Encoding: gzip\r\n"
    head = f"POST /v1/tasks/{target.intake.task.id}/reports HTTP/1.1\r\nHost: x\r\nContent-Type: {kind}\r\n{extra}"
    return f"{head}Content-Length: {len(data)}\r\n\r\n".encode() + data


def broken(data: bytes, rng: random.Random) -> bytes:
    """The same request with something wrong in it; its length fits, so that an answer can be waited for."""
    head, _, body = data.partition(b"\r\n\r\n")
    lines = [line for line in head.split(b"\r\n") if not line.startswith(b"Content-Length")]
    text = bytearray(body)
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(len(text) + 1)
        way = rng.randrange(4)
        if way == 0:
            text[at : at + 1] = bytes([rng.randrange(256)])
        elif way == 1:
            del text[at : at + rng.randrange(1, 20)]
        elif way == 2:
            text[at:at] = rng.choice((b'"', b"{", b"[" * 50, b"\0", b"\xff\xfe", b"1e999", b"null", b'{"id":'))
        else:
            text[at:at] = text[: rng.randrange(1, 40)]
    if rng.random() < 0.1:
        lines[0] = rng.choice((b"PUT /v1/tasks/x/reports HTTP/1.1", b"POST /%00%ff HTTP/1.1", b"POST * HTTP/1.1"))
    if rng.random() < 0.1:
        lines[1:] = [*lines[1:], rng.choice((b"Content-Encoding: gzip", b"Content-Type: x", b"X: " + b"y" * 1000))]
    return b"\r\n".join([*lines, b"Content-Length: %d" % len(text)]) + b"\r\n\r\n" + bytes(text)


def run(count: int, seed: int = 6) -> dict[str, Any]:
    """Send so many altered reports."""
    rng = random.Random(seed)
    every = list(targets())
    others = [body for target in every for body in target.bodies[:2]]
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{Path(folder) / 'c.db'}"
        store = open_store(url)
        for target in every:
            store.put_task(target.intake.task.id, canonical(target.intake.task.document))
            store.set_state(target.intake.task.id, "open")
        store.close()
        command = [sys.executable, "-m", "deniable", "serve", "--database", url, "--port", "0"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert process.stdout is not None
        try:
            port = int(process.stdout.readline().strip().rpartition(":")[2])
            found = _send(Link(port), every, others, count, rng)
            process.send_signal(signal.SIGTERM)
            _, log = process.communicate(timeout=60)
        finally:
            process.kill()
        found["ended_with"] = process.returncode
        found["faults_logged"] = log.count('"fault"')
    return found


def _send(link: Link, every: list[Target], others: list[bytes], count: int, rng: random.Random) -> dict[str, Any]:
    found = Counter(
        reports=0, requests=0, accepted_invalid=0, refused_valid=0, server_errors=0, lost=0, hangs=0, not_answered=0
    )
    statuses: Counter[str] = Counter()
    slowest = 0.0
    for target in every:
        for lot in (target.bodies[:1], target.bodies[:LOT], [altered(target, others, rng) for _ in range(LOT)]):
            link.send(request(target, [rng.randbytes(16) for _ in lot], lot, rng))  # loaded before anything is timed
    while found["reports"] < count:
        target = rng.choice(every)
        bodies = [altered(target, others, rng) for _ in range(LOT)]
        ids = [rng.randbytes(16) for _ in bodies]
        whole = request(target, ids, bodies, rng)
        for data in [whole, *(broken(whole, rng) for _ in range(rng.randrange(2 * BROKEN // 10 + 1)))]:
            start = time.perf_counter()
            answer = link.send(data)
            took = time.perf_counter() - start
            slowest = max(slowest, took)
            found["requests"] += 1
            found["hangs"] += took > 0.1
            status = answer[9:12].decode("ascii", "replace")
            statuses[status] += 1
            found["server_errors"] += status.startswith("5")
            if data is whole:
                found["reports"] += len(bodies)
                found["lost"] += not answer
                _compare(target, bodies, answer, found)
    return dict(found) | {"statuses": dict(statuses), "slowest_ms": round(1000 * slowest, 1)}


def _compare(target: Target, bodies: list[bytes], answer: bytes, found: Counter[str]) -> None:
    if not answer.startswith(b"HTTP/1.1 200 "):
        sys.stderr.write(f"{target.intake.task.id}: {answer[:2000]!r}\n")
        found["not_answered"] += 1
        return
    results = json.loads(answer.partition(b"\r\n\r\n")[2])["results"]
    for body, result in zip(bodies, results, strict=True):
        ours, theirs = result["status"] == "accepted", target.oracle(body)
        found["accepted_invalid"] += ours and not theirs
        found["refused_valid"] += theirs and not ours


def main() -> int:
    """Run it; the exit code is 1 if something is not 0 that must be."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200_000, help="altered reports")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    given = parser.parse_args()
    found = run(given.count)
    print(json.dumps(found) if given.json else "\n".join(f"{name}: {value}" for name, value in found.items()))
    wrong = (
        "accepted_invalid",
        "refused_valid",
        "server_errors",
        "lost",
        "not_answered",
        "faults_logged",
        "ended_with",
    )
    return 1 if any(found[name] for name in wrong) else 0


if __name__ == "__main__":
    sys.exit(main())
