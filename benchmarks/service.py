"""How many reports a collector takes, durably, on this machine; and what it does when twice as many come.

    python benchmarks/service.py [--quick] [--database URL] [--json]

`deniable serve` in a process of its own, and a client that sends prepared requests over keep-alive connections, as fast
as they are answered: batches of 100 reports (JSON, as devices send them, and binary, in turns), and single ones.
Reports are of randomised response with 8 answers: one byte and an id. In the same run the database alone is measured:
the same rows into the same table, with transactions of as many reports as is best for it (`engine_per_s`); `ratio` is
the collector's share of that. Then requests come at twice the measured rate, whether they are answered or not.

`lost` is the number of acknowledged reports that are not in the tally in the end; it must be 0.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import selectors
import socket
import subprocess
import sys
import tempfile
import time
from base64 import b64encode
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "tests" / "service")]

from making import opened  # noqa: E402
from measure import machine  # noqa: E402

from deniable.service.store import engine_of, open_store  # noqa: E402
from deniable.service.store.care import migrate  # noqa: E402
from deniable.service.store.engine import ROW  # noqa: E402
from deniable_client.task import Task  # noqa: E402

BATCH = 100
ENGINE_SIZES = (100, 1000, 4000)
TURNS = 6
_LENGTH = re.compile(rb"content-length: (\d+)", re.IGNORECASE)


# ---- the client


@dataclass
class Link:
    """A keep-alive connection with at most one request under way."""

    socket: socket.socket
    sent: float = 0.0
    rest: bytes = b""
    got: bytearray = field(default_factory=bytearray)


@dataclass
class Run:
    """What came of some requests."""

    seconds: float
    statuses: Counter[int]
    times: list[float]
    accepted: int

    def add(self, other: Run) -> None:
        """Take what came of others, too."""
        self.seconds += other.seconds
        self.statuses += other.statuses
        self.times += other.times
        self.accepted += other.accepted

    def slowest(self, share: float = 0.99) -> float:
        """The time that so many answers did not exceed, in milliseconds."""
        return round(1000 * sorted(self.times)[int(share * (len(self.times) - 1))], 1)


def send(address: str, requests: Sequence[bytes], links: int, *, rate: float = 0.0) -> Run:
    """Send all requests over so many connections; with a `rate`, so many a second, answered or not.

    A request that finds no free connection waits, and its time counts from when it should have gone.
    """
    parts = urlsplit(address)
    select, free = selectors.DefaultSelector(), deque[Link]()
    for _ in range(links):
        made = socket.create_connection((parts.hostname or "", parts.port or 0))
        made.setblocking(False)
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        free.append(Link(made))
    statuses, times, accepted, done, gone = Counter[int](), list[float](), 0, 0, 0
    start = time.perf_counter()
    while done < len(requests):
        now = time.perf_counter()
        while free and gone < len(requests) and (not rate or now - start >= gone / rate):
            link = free.popleft()
            link.sent, link.rest = start + gone / rate if rate else now, requests[gone]
            gone += 1
            _push(link)
            select.register(link.socket, _events(link), link)
        due = start + gone / rate - now if rate and free and gone < len(requests) else None
        for key, event in select.select(max(0.0, due) if due is not None else 1.0):
            link = key.data
            if event & selectors.EVENT_WRITE:
                _push(link)
                select.modify(link.socket, _events(link), link)
            if event & selectors.EVENT_READ and (answer := _pull(link)) is not None:
                statuses[answer[0]] += 1
                accepted += answer[1].count(b'"accepted"')
                times.append(time.perf_counter() - link.sent)
                select.unregister(link.socket)
                free.append(link)
                done += 1
    seconds = time.perf_counter() - start
    for link in free:
        link.socket.close()
    select.close()
    return Run(seconds, statuses, times, accepted)


def _events(link: Link) -> int:
    return selectors.EVENT_READ | (selectors.EVENT_WRITE if link.rest else 0)


def _push(link: Link) -> None:
    try:
        link.rest = link.rest[link.socket.send(link.rest) :]
    except BlockingIOError:
        return


def _pull(link: Link) -> tuple[int, bytes] | None:
    """The status and body of an answer, once it is there."""
    data = link.socket.recv(1 << 18)
    if not data:
        raise RuntimeError("the collector closed a connection")
    link.got += data
    end = link.got.find(b"\r\n\r\n")
    if end < 0:
        return None
    length = _LENGTH.search(link.got, 0, end)
    whole = end + 4 + (int(length[1]) if length else 0)
    if len(link.got) < whole:
        return None
    status, body = int(link.got[9:12]), bytes(link.got[end + 4 : whole])
    link.got.clear()
    return status, body


def as_json(task: Task, reports: int) -> bytes:
    """A request with new reports, as devices send them."""
    items = ",".join(
        f'{{"id":"{os.urandom(16).hex()}","report":"{b64encode(bytes([i % 8])).decode()}"}}' for i in range(reports)
    )
    return _request(task, "application/json", f'{{"reports":[{items}]}}'.encode())


def as_bytes(task: Task, reports: int) -> bytes:
    """The same in the binary form."""
    return _request(task, "application/octet-stream", b"".join(os.urandom(16) + bytes([i % 8]) for i in range(reports)))


def _request(task: Task, kind: str, body: bytes) -> bytes:
    head = (
        f"POST /v1/tasks/{task.id}/reports HTTP/1.1\r\nHost: x\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}"
    )
    return f"{head}\r\n\r\n".encode() + body


# ---- the database alone


def engine_rate(url: str, seconds: float) -> tuple[float, int]:
    """Rows per second that the database itself takes, durably, and the size of transaction that was best."""
    best = (0.0, 0)
    engine = engine_of(url)
    migrate(engine)
    for size in ENGINE_SIZES:
        lots = [_rows(size) for _ in range(max(1, int(200_000 * seconds / size)))]
        done, start = 0, time.perf_counter()
        for lot in lots:
            with engine.write() as session:
                session.many("INSERT INTO seen (task, id, mark) VALUES (999, ?, ?)", lot)
            done += size
            if time.perf_counter() - start > seconds:
                break
        best = max(best, (done / (time.perf_counter() - start), size))
    with engine.write() as session:
        session.execute("DELETE FROM seen WHERE task = 999")
    engine.close()
    return best


def _rows(size: int) -> list[tuple[bytes, bytes]]:
    made = (blake2b(os.urandom(16), digest_size=ROW).digest() for _ in range(size))
    return sorted((each[:16], each[16:]) for each in made)


# ---- the collector


class Server:
    """`deniable serve` on a database, with a task that is open."""

    def __init__(self, url: str) -> None:
        self.url = url
        store = open_store(url)
        today = time.strftime("%Y-%m-%d", time.gmtime())
        window = {"opens": today, "days": 7, "count": 1}
        self.task = opened(store, window=window, subject=os.urandom(8).hex())
        store.close()
        command = [sys.executable, "-m", "deniable", "serve", "--database", url, "--port", "0", "--json"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=ROOT)
        assert self.process.stdout is not None
        self.address = str(json.loads(self.process.stdout.readline())["address"])

    def peak_mib(self) -> float:
        """The most memory that the process ever had, where the system tells."""
        status = Path(f"/proc/{self.process.pid}/status")
        found = re.search(r"VmHWM:\s+(\d+) kB", status.read_text()) if status.exists() else None
        return round(int(found[1]) / 1024, 1) if found else 0.0

    def stop(self) -> int:
        """Stop it gracefully; how many reports are in the tally then."""
        self.process.terminate()
        self.process.wait(30)
        store = open_store(self.url)
        n = sum(tally.n for tally in store.tallies(self.task.id).values())
        store.close()
        return n


def alternating(server: Server, kinds: Sequence[Callable[[Task, int], bytes]], requests: int) -> list[Run]:
    """Batches of each kind, in lots that take turns: whoever came last would find the largest tables."""
    runs = [Run(0.0, Counter(), [], 0) for _ in kinds]
    for _ in range(TURNS):
        for run, kind in zip(runs, kinds, strict=True):
            lot = [kind(server.task, BATCH) for _ in range(requests // TURNS)]
            run.add(send(server.address, lot, 32))
    return runs


def measure(url: str, seconds: float) -> dict[str, Any]:
    """All figures."""
    raw, size = engine_rate(url, seconds / 2)
    server = Server(url)
    try:
        warm = send(server.address, [as_json(server.task, BATCH) for _ in range(40)], 4)
        batch, binary = alternating(server, (as_json, as_bytes), int(300 * seconds))
        single = send(server.address, [as_json(server.task, 1) for _ in range(int(2000 * seconds))], 64)
        calm = server.peak_mib()
        rate = batch.accepted / batch.seconds
        asked = 2 * rate / BATCH
        over = send(server.address, [as_json(server.task, BATCH) for _ in range(int(asked * seconds))], 512, rate=asked)
        peak = server.peak_mib()
    finally:
        counted = server.stop()
    accepted = sum(run.accepted for run in (warm, batch, binary, single, over))
    path = Path(url.partition("sqlite://")[2] or "-")
    return {
        "bytes_per_report": round(path.stat().st_size / counted, 1) if path.is_file() else None,
        "batch_per_s": round(rate),
        "binary_per_s": round(binary.accepted / binary.seconds),
        "single_per_s": round(single.accepted / single.seconds),
        "engine_per_s": round(raw),
        "engine_transaction": size,
        "ratio": round(rate / raw, 3),
        "p99_ms": batch.slowest(),
        "single_p99_ms": single.slowest(),
        "peak_mib": peak,
        "calm_mib": calm,
        "overload": {
            "offered_per_s": round(asked * BATCH),
            "accepted_per_s": round(over.accepted / over.seconds),
            "answers": {str(status): n for status, n in sorted(over.statuses.items())},
            "p99_ms": over.slowest(),
        },
        "accepted": accepted,
        "lost": max(0, accepted - counted),
        "doubled": max(0, counted - accepted),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a few seconds only")
    parser.add_argument("--database", help="a database of PostgreSQL; a new file of SQLite if left out")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        url = given.database or f"sqlite:///{folder}/x.db"
        result = {"database": url.partition(":")[0], **measure(url, 1.0 if given.quick else 5.0), "machine": machine()}
    print(json.dumps(result) if given.json else "\n".join(f"{name}: {value}" for name, value in result.items()))
    return 1 if result["lost"] or result["doubled"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
