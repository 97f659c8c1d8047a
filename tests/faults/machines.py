"""What becomes of acknowledged reports when machines, disks and processes fail.

    python benchmarks/faults.py [--quick] [--part NAME ...] [--json]

Every report is in a bucket of its own, so each count must be 0 or 1: a report that was acknowledged and is not counted
is lost, a 2 is a report that was counted twice, and a report that nobody sent would be seen too. After each fault all
reports are sent again: then every bucket must hold exactly 1.

- power: power failures at random calls of the file system; of what was not synced any part arrives. The same
  with `synchronous = NORMAL` must lose reports, or this test would show nothing (`control_failed`).
- disk: the disk is full, read-only or fails at each of the first calls, once or for a while; over HTTP, where the
  answer must be 503 with `Retry-After`, and without a restart (`refusing_disks.py`).
- kills: `deniable serve` is killed (SIGKILL) under load, on SQLite.
- postgres: the same on PostgreSQL, and the server itself is killed.
- mutated: altered reports through the decoder, against a check of its own (`mutated_reports.py`).
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections import Counter
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "service"))

from buckets import BUCKETS, Found, Sent, Tell, guarded, in_memory, settle, store_on
from faulty_disk import Disk, disk_driver, write_image
from making import opened
from refusing_disks import disk_faults

from deniable.service.store import open_store
from deniable.service.store.sqlite import STANDARD
from deniable_client.task import Task

ROOT = Path(__file__).resolve().parents[2]
TODAY = time.strftime("%Y-%m-%d", time.gmtime())


# ---- power failures


def power(losses: int, tell: Tell, *, synchronous: str = "FULL", seed: int = 1) -> Found:
    """Power failures at random calls, in many runs of a store on a disk that knows what is certain."""
    rng, found = random.Random(seed), Counter(power_losses=0)
    while found["power_losses"] < losses:
        with tempfile.TemporaryDirectory(dir=in_memory()) as name:
            _one_run(Path(name), min(60, losses - found["power_losses"]), rng, synchronous, found)
        tell(f"power: {found['power_losses']} of {losses}, lost {found['lost']}, doubled {found['doubled']}")
    return found


def _one_run(folder: Path, losses: int, rng: random.Random, synchronous: str, found: Found) -> None:
    disk, sent = Disk(), Sent()
    driver, system = disk_driver(disk, checkpoint=rng.choice((8, 30, 200)))
    store = store_on(folder / "x.db", driver, synchronous)
    task = opened(store, sent.design)
    images: list[tuple[dict[str, bytes], int, int]] = []
    left = rng.randrange(1, 20)

    def watch(call: str) -> None:
        nonlocal left
        left -= call != "read"
        if left == 0:
            images.append((disk.after_power_loss(rng), len(sent.acked), len(sent.reports)))
            left = rng.randrange(1, 30)

    disk.watch = watch
    while len(images) < losses and len(sent.reports) < BUCKETS - 8:
        numbers = sent.new(rng.randrange(1, 8))
        store.add([sent.upload(task, numbers)])
        sent.acked += numbers
        if rng.randrange(6) == 0:
            store.settle()
    disk.watch = lambda call: None
    store.close()
    del system
    for number, (image, acked, known) in enumerate(images[:losses]):
        found["power_losses"] += 1
        with guarded(found):
            place = folder / str(number)
            write_image(image, place)
            again = store_on(place / "x.db", STANDARD, "FULL")
            try:
                settle(again, task, sent, acked, known, found)
            finally:
                again.close()
                shutil.rmtree(place)


# ---- kills


class Load:
    """Threads that send reports over HTTP until they are told to stop; what was not acknowledged is sent again."""

    def __init__(self, address: str, task: Task, size: int, threads: int = 4) -> None:
        self.sent, self.found = Sent(size), Counter[str]()
        self._lock, self._stop = threading.Lock(), threading.Event()
        self._address, self._path, self._size = address, f"/v1/tasks/{task.id}/reports", size
        self._threads = [threading.Thread(target=self._work, args=(n,)) for n in range(threads)]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Stop and wait for all."""
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _work(self, seed: int) -> None:
        rng, link, waiting = random.Random(seed), None, list[int]()
        while not self._stop.is_set():
            if not waiting:
                with self._lock:
                    if len(self.sent.reports) >= self._size - 20:
                        return
                    waiting = self.sent.new(rng.randrange(1, 20))
            try:
                if link is None:
                    parts = urlsplit(self._address)
                    link = HTTPConnection(parts.hostname or "", parts.port, timeout=20)
                if self._post(link, waiting):
                    waiting = []
            except (OSError, HTTPException):
                link = None  # killed: nothing was acknowledged
                time.sleep(0.02)

    def _post(self, link: HTTPConnection, numbers: list[int]) -> bool:
        data = b"".join(id + body for id, body in (self.sent.reports[i] for i in numbers))
        link.request("POST", self._path, data, {"Content-Type": "application/octet-stream"})
        answer = link.getresponse()
        content = answer.read()
        if answer.status in (429, 503):
            self.found["refused"] += 1
            time.sleep(0.05)
            return False
        if answer.status != 200:
            self.found["server_errors"] += 1
            print(answer.status, content[:300], file=sys.stderr)
            return False
        results = json.loads(content)["results"]
        with self._lock:
            self.sent.acked += [
                i for i, each in zip(numbers, results, strict=True) if each["status"] in ("accepted", "duplicate")
            ]
            self.found["answered"] += len(numbers)
        return True


def serving(url: str) -> tuple[subprocess.Popen[bytes], str]:
    """`deniable serve` on a database, and its address once it is ready."""
    command = [sys.executable, "-m", "deniable", "serve", "--database", url, "--port", "0", "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=ROOT)
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line:
        raise RuntimeError(f"deniable serve ended with {process.wait()}")
    return process, str(json.loads(line)["address"])


def kills(number: int, url: str, tell: Tell, *, name: str = "kills", seed: int = 2) -> Found:
    """Kill the collector under load, again and again, on one database."""
    rng, found, size = random.Random(seed), Counter({name: 0, "server_errors": 0, "answered": 0}), 4096
    for _ in range(number):
        with guarded(found):
            store = open_store(url)
            task = opened(store, Sent(size).design, window={"opens": TODAY, "days": 7, "count": 1}, subject=_subject())
            store.close()
            process, address = serving(url)
            load = Load(address, task, size)
            time.sleep(rng.uniform(0.02, 0.5))
            process.send_signal(signal.SIGKILL)
            process.wait()
            load.stop()
            found[name] += 1
            found.update(load.found)
            store = open_store(url)
            settle(store, task, load.sent, len(load.sent.acked), len(load.sent.reports), found)
            store.close()
        tell(f"{name}: {found[name]} of {number}, lost {found['lost']}, doubled {found['doubled']}")
    return found


def _subject() -> str:
    return os.urandom(8).hex()


def postgres(collectors: int, servers: int, tell: Tell) -> Found:
    """Kill collectors on PostgreSQL, then the server under a collector that goes on."""
    from databases import started

    folder = Path(tempfile.mkdtemp(prefix="deniable-pg-"))
    server = started(str(folder))
    try:
        found = kills(collectors, server.get_uri(), tell, name="postgres_kills")
        return found + _server_kills(server, servers, tell)
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


def _server_kills(server: Any, number: int, tell: Tell) -> Found:
    rng, found, size = random.Random(3), Counter(postgres_server_kills=0, server_errors=0, refused=0), 16384
    url = server.get_uri()
    store = open_store(url)
    task = opened(store, Sent(size).design, window={"opens": TODAY, "days": 7, "count": 1}, subject=_subject())
    store.close()
    process, address = serving(url)
    load = Load(address, task, size, threads=2)
    for _ in range(number):
        time.sleep(rng.uniform(0.1, 0.5))
        os.kill(server.get_pid(), signal.SIGKILL)
        time.sleep(0.3)
        _restarted(server)
        found["postgres_server_kills"] += 1
        tell(f"postgres: server killed {found['postgres_server_kills']} of {number}, {load.found['answered']} answered")
    time.sleep(1)
    load.stop()
    found["crashes"] += process.poll() is not None  # it must have gone on
    process.kill()
    process.wait()
    found.update(load.found)
    store = open_store(url)
    settle(store, task, load.sent, len(load.sent.acked), len(load.sent.reports), found)
    store.close()
    return found


def _restarted(server: Any) -> None:
    """Start a server again that was killed; its children may take a moment to go."""
    for attempt in range(50):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                (server.pgdata / "postmaster.pid").unlink(missing_ok=True)
                server.ensure_postgres_running()
        except (subprocess.SubprocessError, AssertionError, OSError):
            if attempt == 49:
                raise
            time.sleep(0.2)
        else:
            return


# ---- all of it


class Told:
    """Progress on standard error: one line that changes on terminals, a line every few seconds elsewhere."""

    def __init__(self) -> None:
        self._last = 0.0

    def __call__(self, text: str) -> None:
        now = time.monotonic()
        if sys.stderr.isatty():
            sys.stderr.write(f"\r\x1b[K{text}")
        elif now - self._last > 10:
            sys.stderr.write(f"{text}\n")
            self._last = now
        sys.stderr.flush()


SIZES = {
    "power": (3000, 150),
    "disk": (200, 12),
    "kills": (300, 4),
    "postgres": (50, 2),
    "servers": (20, 2),
    "mutated": (10_000_000, 100_000),
}
"""How many faults of each kind there are, and how many with --quick."""


def run(parts: list[str], *, quick: bool, tell: Tell) -> Found:
    """The parts that are asked for; all counts together."""
    size = {name: sizes[quick] for name, sizes in SIZES.items()}
    found: Found = Counter(lost=0, doubled=0, strays=0, damaged=0, crashes=0, server_errors=0, accepted_invalid=0)
    if "power" in parts:
        found.update(power(size["power"], tell))
        control = power(size["power"] // 10, tell, synchronous="NORMAL")
        found.update(control_losses=control["power_losses"], control_lost=control["lost"])
    if "disk" in parts:
        found.update(disk_faults(size["disk"], tell))
    if "kills" in parts:
        with tempfile.TemporaryDirectory() as folder:
            found.update(kills(size["kills"], f"sqlite:///{folder}/x.db", tell))
    if "postgres" in parts:
        found.update(postgres(size["postgres"], size["servers"], tell))
    if "mutated" in parts:
        from mutated_reports import mutated

        found.update(mutated(size["mutated"], tell))
    return found


PARTS = ("power", "disk", "kills", "postgres", "mutated")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a small part of it, in less than a minute")
    parser.add_argument("--part", action="append", choices=PARTS, help="only this; may be given several times")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    given = parser.parse_args()
    parts = given.part or list(PARTS)
    start = time.perf_counter()
    found = dict(run(parts, quick=given.quick, tell=Told()))
    result: dict[str, Any] = {"parts": parts, **found, "seconds": round(time.perf_counter() - start, 1)}
    if "power" in parts:
        result["control_failed"] = found["control_lost"] > 0
    wrong = (
        "lost",
        "doubled",
        "strays",
        "damaged",
        "crashes",
        "server_errors",
        "stuck",
        "without_retry_after",
        "accepted_invalid",
    )
    bad = [name for name in wrong if found.get(name)]
    bad += ["control_failed"] * (not result.get("control_failed", True))
    sys.stderr.write("\n")
    print(json.dumps(result) if given.json else "\n".join(f"{name}: {value}" for name, value in result.items()))
    if bad:
        sys.stderr.write(f"not as it should be: {', '.join(bad)}\n")
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
