"""Whatever one collector's server does, every other one gets its reports, and nobody is asked more often than told."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from deniable_client import Ledger
from ledger.behaviours import BEHAVIOURS, SENT, serve
from tasks import noon, signed

DEADLINE = 1.0
READ_MAX = 1 << 16


@pytest.mark.slow
def test_no_server_keeps_reports_from_the_others(tmp_path: Path, record_property: Any) -> None:
    """Servers that hang do so until the end of the test: that `flush` returns at all is its deadline's work."""
    assert len(BEHAVIOURS) >= 40
    now = [noon()]
    ledger = Ledger(tmp_path / "ledger", clock=lambda: now[0], places=99)
    names = {}
    with serve() as servers:
        for i, (name, server) in enumerate(servers.items()):
            private = Ed25519PrivateKey.from_private_bytes(bytes([i]) * 32)
            task = signed(private, url=f"http://127.0.0.1:{server.port}")
            names[ledger.take(task).id] = name
        start = time.monotonic()
        ledger.flush(timeout=DEADLINE)
        held = time.monotonic() - start
        found = {names[row["id"]]: row["state"] for row in ledger.overview()["sent"]}
        assert found == {name: behaviour.expect for name, behaviour in BEHAVIOURS.items()}
        assert max(server.requests for server in servers.values()) == 1
        for name, behaviour in BEHAVIOURS.items():
            if behaviour.expect == SENT:
                assert [names[each] for each in servers[name].ids] == [name]
        record_property("longest time held", held)
        record_property("requests sent", sum(server.requests for server in servers.values()))


def test_no_server_is_read_further_than_told(tmp_path: Path, monkeypatch: Any) -> None:
    """The bytes that leave the socket, counted where they do."""
    import deniable_client.ledger.http as http

    read: list[int] = []
    receive = http._Wire.receive

    def counted(wire: Any, buffer: memoryview) -> int:
        got = receive(wire, buffer)
        read.append(got)
        return got

    monkeypatch.setattr(http._Wire, "receive", counted)
    endless = ("100 Continue for ever", "headers for ever", "a body for ever", "a body of a million bytes")
    with serve({name: BEHAVIOURS[name] for name in endless}) as servers:
        for server in servers.values():
            read.clear()
            reply = http.post(f"http://127.0.0.1:{server.port}/", b'{"reports":[{"id":"x"}]}', 20)
            assert 1000 < sum(read) <= READ_MAX
            assert reply.status in (0, 200)
