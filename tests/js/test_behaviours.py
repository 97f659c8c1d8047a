"""Whatever one collector's server does to a device in Node, every other one gets its reports."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest

from js.conftest import JS
from ledger.behaviours import BEHAVIOURS, SENT, serve

DEADLINE = 3.0
READ_MAX = 2 * (1 << 16)
"""What is looked at, and what may be on its way when a device hangs up."""


@pytest.mark.slow
def test_no_server_keeps_reports_from_the_others(node: str, record_property: Any) -> None:
    """Servers that hang do so until the end of the test: that the program ends at all is its deadline's work."""
    with serve() as servers:
        given = {"ports": {name: server.port for name, server in servers.items()}, "timeout": DEADLINE}
        script = str(JS / "test" / "behaviours.js")
        done = subprocess.run([node, script], input=json.dumps(given), capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        told = json.loads(done.stdout)
        requests = sum(server.requests for server in servers.values())
        assert max(server.requests for server in servers.values()) == 1
        for name, behaviour in BEHAVIOURS.items():
            if behaviour.expect == SENT:
                assert [told["names"][each] for each in servers[name].ids] == [name]
    assert told["states"] == {name: behaviour.expect for name, behaviour in BEHAVIOURS.items()}
    assert told["connections"] == len(BEHAVIOURS) >= 40
    assert told["read"] <= READ_MAX
    for what in ("held", "read"):
        record_property(what, told[what])
    record_property("requests", requests)
