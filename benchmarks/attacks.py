"""What an attacker can cost a collector: bytes in against processor time, memory, disk and what honest devices notice.

    python benchmarks/attacks.py [--json] [--seconds S] [--only NAME ...]
    python benchmarks/attacks.py --keep after      also write the rows to docs/data/attacks.json, under this name

For each attack a new `deniable serve` on this machine, with SQLite and cold tasks; the attack goes on for some seconds,
while an honest device in a process of its own sends a report forty times a second, each over a new connection. A row
has the bytes that the attacker sent, the processor time of the collector and its children (`cpu_s`), its largest memory
(`peak_mib`, children too), what the database grew by (`disk_mib`), the time that 99 of 100 honest uploads did not
exceed from when they should have gone (`p99_ms`), how many came (`honest`) and how many were not taken (`refused`).
`ended` says that the collector did not survive. The row `none` is what all this is without an attack.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from base64 import b64encode
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "benchmarks"))

from measure import DATA, machine  # noqa: E402

import deniable as dn  # noqa: E402
from deniable.core.space import Space  # noqa: E402
from deniable.service.access.identity import Identity  # noqa: E402
from deniable.service.access.keys import new_key  # noqa: E402
from deniable.service.store import open_store  # noqa: E402
from deniable.service.tasks import Asked, Terms, new_task  # noqa: E402
from deniable_client.canonical import canonical  # noqa: E402

HONEST_RATE = 40
HONEST_SECONDS = 20.0
"""How long an honest device waits for an answer before it counts as not taken."""
SERVER = [sys.executable]
MAPS = 3
PLACES = 800


# ---- the honest device


async def honest(port: int, task: str, seconds: float) -> dict[str, Any]:
    """Uploads at a fixed rate: how long each took, and how many were not taken."""
    times: list[float] = []
    refused = 0

    async def one(due: float) -> None:
        nonlocal refused
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        item = {"id": os.urandom(16).hex(), "report": b64encode(b"\1").decode()}
        body = json.dumps({"reports": [item]}).encode()
        try:
            async with asyncio.timeout(HONEST_SECONDS):
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(post(f"/v1/tasks/{task}/reports", body, "application/json", "connection: close\r\n"))
                taken = b'"accepted"' in await reader.read()
                writer.close()
        except (TimeoutError, OSError):
            taken = False
        times.append(time.monotonic() - due)
        refused += not taken

    start = time.monotonic()
    await asyncio.gather(*(one(start + i / HONEST_RATE) for i in range(int(HONEST_RATE * seconds))))
    ranked = sorted(times)
    p99 = ranked[int(0.99 * (len(ranked) - 1))]
    return {"p99_ms": round(1000 * p99, 1), "honest": len(times), "refused": refused}


def post(path: str, body: bytes, kind: str, more: str = "") -> bytes:
    """A request with a body."""
    head = f"POST {path} HTTP/1.1\r\nhost: x\r\ncontent-type: {kind}\r\n{more}content-length: {len(body)}\r\n\r\n"
    return head.encode() + body


# ---- the collector


def task_with(design: Any, **terms: Any) -> dict[str, Any]:
    """A task that is open today."""
    opens = datetime.now(UTC).date()
    asked = Asked(text="Where?", design=design)
    return new_task(
        [asked], Terms(opens=opens, windows=2, subject=os.urandom(8).hex(), **terms), Identity(os.urandom(32))
    )


@dataclass
class Target:
    """A collector, its tasks, and what was sent to it."""

    port: int
    tasks: dict[str, str]
    key: str
    sent: int = 0
    links: list[asyncio.StreamWriter] = field(default_factory=list)

    async def open(
        self, data: bytes = b"", *, small: bool = False
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection on which something is sent; with `small`, one that takes few bytes before it is read."""
        link = socket.socket()
        if small:
            link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        link.setblocking(False)
        await asyncio.get_running_loop().sock_connect(link, ("127.0.0.1", self.port))
        reader, writer = await asyncio.open_connection(sock=link, limit=4096)
        self.links.append(writer)
        await self.send(writer, data)
        return reader, writer

    async def send(self, writer: asyncio.StreamWriter, data: bytes) -> None:
        """Send, and count."""
        writer.write(data)
        self.sent += len(data)
        await writer.drain()

    async def ask(self, data: bytes) -> bytes:
        """The whole answer to a request that closes its connection."""
        reader, writer = await self.open(data)
        found = await reader.read()
        writer.close()
        return found


Attack = Callable[[Target], Awaitable[object]]


async def for_ever(each: Callable[[], Coroutine[Any, Any, object]], rate: float) -> None:
    """Something so many times a second, answered or not."""
    under_way: set[asyncio.Task[object]] = set()
    while True:
        made = asyncio.ensure_future(_quietly(each))
        under_way.add(made)
        made.add_done_callback(under_way.discard)
        await asyncio.sleep(1 / rate)


async def _quietly(each: Callable[[], Coroutine[Any, Any, object]]) -> None:
    with suppress(OSError, asyncio.IncompleteReadError):  # the collector ended the connection, as it may
        await each()


# ---- the attacks


async def none(_: Target) -> None:
    """Nothing but the honest device."""


def reports_path(target: Target, name: str = "plain") -> str:
    return f"/v1/tasks/{target.tasks[name]}/reports"


async def dripping(target: Target) -> None:
    """64 chunked bodies of 10 bytes a second each."""
    head = f"POST {reports_path(target)} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
    start = f"{head}transfer-encoding: chunked\r\n\r\n".encode()

    async def one() -> None:
        while True:
            with suppress(OSError):  # ended by the collector: once more
                _, writer = await target.open(start)
                while not writer.is_closing():
                    await target.send(writer, b"1\r\n \r\n")
                    await asyncio.sleep(0.1)
            await asyncio.sleep(0.1)

    await asyncio.gather(*(one() for _ in range(64)))


async def claiming(target: Target) -> None:
    """64 requests that claim 4 MB each and send one byte."""
    head = f"POST {reports_path(target)} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
    for _ in range(64):
        await target.open(f"{head}content-length: {4 << 20}\r\n\r\n ".encode())
    await asyncio.Event().wait()


async def filling(target: Target) -> None:
    """80 bodies of 4 MB that are sent but for the last byte, at 50 MB a second."""
    head = f"POST {reports_path(target)} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
    size, part = 4 << 20, b" " * (64 << 10)

    async def one() -> None:
        with suppress(OSError):  # the collector needed the room
            _, writer = await target.open(f"{head}content-length: {size}\r\n\r\n".encode())
            for _ in range(size // len(part) - 1):
                await target.send(writer, part)
                await asyncio.sleep(80 * len(part) / 50e6)
            await target.send(writer, part[1:])

    await asyncio.gather(*(one() for _ in range(80)))
    await asyncio.Event().wait()


async def bombs(target: Target) -> None:
    """20 bodies of 12 kB a second that are 4 MB of empty reports in gzip."""
    many = b'{"reports":[' + b",".join([b'{"id":"","report":""}'] * 190_000) + b"]}"
    request = post(
        reports_path(target),
        gzip.compress(many, 9),
        "application/json",
        "content-encoding: gzip\r\nconnection: close\r\n",
    )
    await for_ever(lambda: target.ask(request), 20)


async def junk(target: Target) -> None:
    """5 bodies of 4 MB of empty reports a second, not compressed."""
    many = b'{"reports":[' + b",".join([b'{"id":"","report":""}'] * 190_000) + b"]}"
    request = post(reports_path(target), many, "application/json", "connection: close\r\n")
    await for_ever(lambda: target.ask(request), 5)


async def cold_maps(target: Target) -> None:
    """The pages of three maps of 800 places and uploads to them, 20 times each, at once."""
    body = json.dumps({"reports": [{"id": "0" * 32, "report": "AAA="}]}).encode()
    asked = []
    for i in range(MAPS):
        page = f"GET /t/{target.tasks[f'map{i}']} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n".encode()
        upload = post(reports_path(target, f"map{i}"), body, "application/json", "connection: close\r\n")
        asked += [page, upload] * 20
    await asyncio.gather(*(_quietly(lambda request=request: target.ask(request)) for request in asked))  # type: ignore[misc]


async def unread(target: Target) -> None:
    """400 connections that ask four times for a document of 1.4 MB and read nothing."""
    request = f"GET /v1/tasks/{target.tasks['map0']} HTTP/1.1\r\nhost: x\r\n\r\n".encode()

    async def one() -> None:
        with suppress(OSError):  # ended by the collector
            _, writer = await target.open(request * 4, small=True)
            writer.transport.pause_reading()  # type: ignore[attr-defined]  # a transport of a socket

    for _ in range(400):
        await one()
    await asyncio.Event().wait()


async def large_heads(target: Target) -> None:
    """50 heads of 60 kB a second."""
    lines = "".join(f"x-{i}: {'y' * 1000}\r\n" for i in range(59))
    request = f"GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{lines}\r\n".encode()
    await for_ever(lambda: target.ask(request), 50)


async def strata(target: Target) -> None:
    """Forged reports, each in another combination of strata, until 1 MB is sent."""
    number = 0
    for _ in range(40):
        items = []
        for _ in range(100):
            number += 1
            body = bytes([number // 200 % 200, number % 200]) + bytes(128)
            items.append({"id": os.urandom(16).hex(), "report": b64encode(body).decode()})
        body = json.dumps({"reports": items}).encode()
        with suppress(OSError):  # refused
            await target.ask(post(reports_path(target, "strata"), body, "application/json", "connection: close\r\n"))


async def charts(target: Target) -> None:
    """An analyst's key: pictures of 20 plans, each another one, with control characters in their answers."""

    def request(i: int) -> bytes:
        fields = {
            "text": "?",
            "kind": "shares",
            "answers": f"no\x00{i}\nyes\x1b\n\ufffe",
            "people": "1000",
            "epsilon": "1",
        }
        head = f"GET /plan/chart.svg?{urlencode({**fields, 'sensitive': ''})} HTTP/1.1\r\nhost: x\r\n"
        return f"{head}authorization: Bearer {target.key}\r\nconnection: close\r\n\r\n".encode()

    asked = [request(i) for i in range(20)]
    await asyncio.gather(*(_quietly(lambda one=one: target.ask(one)) for one in asked))  # type: ignore[misc]


async def sign_ins(target: Target) -> None:
    """50 keys a second that are not right."""
    body = urlencode({"key": "deniable-analyst-" + "x" * 43, "next": "/"}).encode()
    more = "sec-fetch-site: same-origin\r\nconnection: close\r\n"
    request = post("/sign-in", body, "application/x-www-form-urlencoded", more)
    await for_ever(lambda: target.ask(request), 50)


async def probes(target: Target) -> None:
    """200 looks at readiness a second."""
    await for_ever(lambda: target.ask(b"GET /readyz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"), 200)


ATTACKS: dict[str, Attack] = {
    attack.__name__: attack
    for attack in (
        none,
        dripping,
        claiming,
        filling,
        bombs,
        junk,
        cold_maps,
        unread,
        large_heads,
        strata,
        charts,
        sign_ins,
        probes,
    )
}

NEEDED = {"cold_maps": MAPS, "unread": 1}
"""Maps that are in the database."""
COLD = ("cold_maps",)
"""Attacks on a collector that has just started; the others come when it is calm."""


# ---- measuring


def prepared(folder: Path, maps: list[dict[str, Any]]) -> tuple[dict[str, str], str]:
    """A database with tasks; their ids, and a key."""
    tasks = {
        "plain": task_with(dn.mechanism("grr", epsilon=1.0, labels=["never", "sometimes", "often"]).design),
        "strata": task_with(
            dn.mechanism("oue", epsilon=1.0, k=1024).design,
            strata={name: [f"{name} {i}" for i in range(60)] for name in ("city", "job")},
        ),
    } | {f"map{i}": document for i, document in enumerate(maps)}
    store = open_store(f"sqlite:///{folder / 'c.db'}")
    for document in tasks.values():
        store.put_task(document["id"], canonical(document))
        store.set_state(document["id"], "open")
    key = new_key(store, "analyst", today=datetime.now(UTC).date())[1]
    store.close()
    return {name: document["id"] for name, document in tasks.items()}, key


def made_maps() -> list[dict[str, Any]]:
    """Tasks about places, each with a subject of its own."""
    points = [[40 + i * 0.754877666 % 1.0, -74 + i * 0.569840296 % 1.0] for i in range(1, PLACES + 1)]
    space = Space.places(points, [f"place {i}" for i in range(PLACES)])
    design = dn.mechanism("brr", epsilon=1.0, distances=space).design
    return [task_with(design) for _ in range(MAPS)]


class Costs:
    """What a process and its children use, as the system tells."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self.peak = 0.0

    def _family(self) -> list[int]:
        found, todo = [], [self._pid]
        while todo:
            pid = todo.pop()
            found.append(pid)
            with suppress(OSError):  # it has ended
                todo += map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
        return found

    def cpu(self) -> float:
        """Seconds of processor time, of children that ended too."""
        total = 0
        for pid in self._family():
            with suppress(OSError):  # it has ended
                total += sum(map(int, Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:15]))
        return total / os.sysconf("SC_CLK_TCK")

    def wait_until_calm(self) -> None:
        """Until the process has nothing to do: what it does at its start is not the attack's cost."""
        before, until = -1.0, time.monotonic() + 20
        while self.cpu() - before > 0.02 and time.monotonic() < until:
            before = self.cpu()
            time.sleep(0.5)

    async def watch(self) -> None:
        """Note the largest memory of all of them together."""
        while True:
            now = 0
            for pid in self._family():
                with suppress(OSError):  # it has ended
                    found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
                    now += int(found[1]) if found else 0
            self.peak = max(self.peak, now / 1024)
            await asyncio.sleep(0.05)


def size_of(folder: Path) -> float:
    """Bytes of the database and its log, in MiB."""
    return sum(path.stat().st_size for path in folder.iterdir()) / (1 << 20)


async def under(attack: Attack, target: Target, costs: Costs, seconds: float) -> dict[str, Any]:
    """The honest device while an attack goes on."""
    watching = asyncio.ensure_future(costs.watch())
    attacking = asyncio.ensure_future(attack(target))
    await asyncio.sleep(0.5)
    command = [sys.executable, __file__, "--honest", str(target.port), target.tasks["plain"], str(seconds)]
    device = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
    out, _ = await device.communicate()
    for task in (attacking, watching):
        task.cancel()
    ended = await asyncio.gather(attacking, watching, return_exceptions=True)
    for error in ended:
        if error is not None and not isinstance(error, asyncio.CancelledError | OSError):
            raise error if isinstance(error, BaseException) else RuntimeError(error)
    for writer in target.links:
        writer.transport.abort()
    return dict(json.loads(out))


def measured(name: str, maps: list[dict[str, Any]], seconds: float) -> dict[str, Any]:
    """A row: one attack on a new collector."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        tasks, key = prepared(folder, maps[: NEEDED.get(name, 0)])
        command = [*SERVER, "-m", "deniable", "serve", "--database", f"sqlite:///{folder / 'c.db'}"]
        command += ["--port", "0", "--json"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=folder)
        try:
            assert process.stdout is not None
            address = str(json.loads(process.stdout.readline())["address"])
            target = Target(int(address.rpartition(":")[2]), tasks, key)
            costs = Costs(process.pid)
            if name not in COLD:
                costs.wait_until_calm()
            before, disk = costs.cpu(), size_of(folder)
            found = asyncio.run(under(ATTACKS[name], target, costs, seconds))
            ended = process.poll() is not None
            cpu = 0.0 if ended else costs.cpu() - before
            grown = size_of(folder) - disk
        finally:
            process.terminate()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
    return {
        "attack": name,
        "what": (ATTACKS[name].__doc__ or "").strip(),
        "sent_kib": round(target.sent / 1024, 1),
        "cpu_s": round(cpu, 2),
        "peak_mib": round(costs.peak, 1),
        "disk_mib": round(grown, 2),
        **found,
        "ended": ended,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=6.0, help="how long each attack goes on")
    parser.add_argument("--only", nargs="*", choices=list(ATTACKS), help="these attacks; all if left out")
    parser.add_argument("--keep", metavar="NAME", help="keep the rows in docs/data/attacks.json under this name")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--honest", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.honest:
        port, task, seconds = given.honest
        print(json.dumps(asyncio.run(honest(int(port), task, float(seconds)))))
        return 0
    maps, rows = made_maps(), []
    for name in given.only or ATTACKS:
        rows.append(measured(name, maps, given.seconds))
        print(rows[-1], file=sys.stderr)
    if given.keep:
        path = DATA / "attacks.json"
        kept = json.loads(path.read_text()) if path.exists() else {}
        kept[given.keep] = {"machine": machine(), "seconds": given.seconds, "rows": rows}
        path.write_text(json.dumps(kept, indent=1) + "\n")
    if given.json:
        print(json.dumps({"machine": machine(), "seconds": given.seconds, "rows": rows}))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
