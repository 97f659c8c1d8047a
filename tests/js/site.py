"""A page's origin for tests: the modules of the client, and a collector that keeps what it is sent."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

SOURCE = Path(__file__).resolve().parents[2] / "clients" / "js" / "src"
PAGE = b"<!doctype html><title>Devices</title>"


class Site:
    """A server on this machine, on a free port."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, str, str]] = []
        """Task, id and report (base64) of everything that came, also what came twice."""
        self.headers: list[dict[str, str]] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def reports(self, task: str) -> dict[str, bytes]:
        """What counts: one report for each id."""
        return {name: base64.b64decode(report) for own, name, report in self.requests if own == task}

    def take(self, path: str, body: bytes, headers: dict[str, str]) -> Any:
        """Keep what was sent."""
        task = path.split("/")[3]
        self.headers.append(headers)
        results = []
        for report in json.loads(body)["reports"]:
            known = report["id"] in self.reports(task)
            self.requests.append((task, report["id"], report["report"]))
            results.append({"id": report["id"], "status": "duplicate" if known else "accepted"})
        return {"results": results}


def _handler(site: Site) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = SOURCE.parent / self.path.lstrip("/")
            if self.path == "/":
                self._answer(PAGE, "text/html")
            elif self.path == "/clear":
                self._answer(PAGE, "text/html", {"Clear-Site-Data": '"storage"'})
            elif path.is_file() and SOURCE in path.resolve().parents:
                self._answer(path.read_bytes(), "text/javascript")
            else:
                self.send_error(HTTPStatus.NOT_FOUND)

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            told = site.take(self.path, body, {name.lower(): value for name, value in self.headers.items()})
            self._answer(json.dumps(told).encode(), "application/json")

        def _answer(self, data: bytes, kind: str, more: Mapping[str, str] = MappingProxyType({})) -> None:
            self.send_response(HTTPStatus.OK)
            for name, value in more.items():
                self.send_header(name, value)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Nothing is written to the terminal."""

    return Handler
