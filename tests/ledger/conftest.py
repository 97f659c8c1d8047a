"""A collector in this process, that answers as it is told."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest


class Collector:
    """Keeps the first body of each id; `answers` are given first, one by one, then it behaves."""

    def __init__(self) -> None:
        self.kept: dict[str, str] = {}
        self.seen: list[tuple[str, dict[str, str], Any]] = []
        self.answers: list[Any] = []
        self.doubled: Counter[str] = Counter()
        self.documents: dict[str, bytes] = {}
        self.places: dict[str, str] = {}
        self.told = threading.Semaphore(0)
        """One for each request that has got its answer from `answers`."""
        self.url = ""

    def at(self, prefix: str) -> set[str]:
        """Ids of the reports that came to addresses with this beginning."""
        return {name for name, place in list(self.places.items()) if f"{self.url}{place}".startswith(f"{prefix}/")}

    def take(self, rows: list[dict[str, str]], path: str) -> list[dict[str, str]]:
        """Store reports."""
        results = []
        for row in rows:
            self.places[row["id"]] = path
            known = self.kept.setdefault(row["id"], row["report"])
            self.doubled[row["id"]] += 1
            status = (
                "rejected" if known != row["report"] else "duplicate" if self.doubled[row["id"]] > 1 else "accepted"
            )
            results.append({"id": row["id"], "status": status})
        return results


class Handler(BaseHTTPRequestHandler):
    """One request."""

    collector: Collector

    def do_GET(self) -> None:  # the library calls it so
        found = self.collector.documents.get(self.path)
        self.answer(404 if found is None else 200, {}, found or b"")

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.collector.seen.append((self.path, dict(self.headers.items()), body))
        told = self.collector.answers.pop(0) if self.collector.answers else None
        if told is not None:
            self.collector.told.release()
        if told is None:
            self.answer(200, {}, json.dumps({"results": self.collector.take(body["reports"], self.path)}).encode())
        elif told == "drop":
            self.collector.take(body["reports"], self.path)
            self.close_connection = True
        elif told == "slow":
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"{")
            threading.Event().wait(0.5)
        else:
            self.answer(*told)

    def answer(self, status: int, headers: dict[str, str], body: bytes) -> None:
        """A whole answer."""
        self.send_response(status)
        for name, text in (headers | {"Content-Length": str(len(body))}).items():
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Nothing is printed."""


class Server(ThreadingHTTPServer):
    """Devices that die are part of the tests."""

    daemon_threads = True

    def handle_error(self, *_: Any) -> None:
        """Nothing is printed."""


@pytest.fixture
def collector() -> Iterator[Collector]:
    made = Collector()
    server = Server(("127.0.0.1", 0), type("Own", (Handler,), {"collector": made}))
    made.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield made
    server.shutdown()
    server.server_close()
    thread.join()
