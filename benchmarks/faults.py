"""What becomes of acknowledged reports when machines, disks and processes fail.

    python benchmarks/faults.py [--quick] [--part NAME ...] [--json]

Every report is in a bucket of its own, so each count must be 0 or 1: a report that was acknowledged and is not counted
is lost, a 2 is a report that was counted twice, and a report that nobody sent would be seen too. After each fault all
reports are sent again: then every bucket must hold exactly 1.

- power: power failures at random calls of the file system; of what was not synced any part arrives. The same
  with `synchronous = NORMAL` must lose reports, or this test would show nothing (`control_failed`).
- disk: the disk is full, read-only or fails at each of the first calls, once or for a while.
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
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import apsw
import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "tests" / "service")]

from faulty_disk import Disk, disk_driver, write_image  # noqa: E402
from making import opened  # noqa: E402

import deniable as dn  # noqa: E402
from deniable.service.store import open_store  # noqa: E402
from deniable.service.store.care import migrate  # noqa: E402
from deniable.service.store.contract import Incoming, StoreUnavailableError, Upload  # noqa: E402
from deniable.service.store.database import Database  # noqa: E402
from deniable.service.store.sqlite import STANDARD, Driver, SqliteEngine  # noqa: E402
from deniable_client.task import Task  # noqa: E402

Found = Counter[str]
Tell = Callable[[str], None]
BUCKETS = 1024
TODAY = time.strftime("%Y-%m-%d", time.gmtime())


class Sent:
    """Reports with a bucket each; `acked` are those that were acknowledged, in that order."""

    def __init__(self, size: int = BUCKETS) -> None:
        self.design = dn.mechanism("grr", epsilon=1.0, k=size).design
        self.reports: list[Incoming] = []
        self.acked: list[int] = []

    def new(self, n: int) -> list[int]:
        """The next reports."""
        first = len(self.reports)
        self.reports += [Incoming(os.urandom(16), i.to_bytes(2, "little")) for i in range(first, first + n)]
        return list(range(first, first + n))

    def upload(self, task: Task, numbers: list[int]) -> Upload:
        """An upload of some of them."""
        return Upload(task.id, task.opens, [self.reports[i] for i in numbers])


def counts_of(store: Database, task: Task, size: int = BUCKETS) -> np.ndarray[Any, np.dtype[np.int64]]:
    """How often each bucket was counted, over all windows."""
    found = np.zeros(size, np.int64)
    for tally in store.tallies(task.id).values():
        found += tally.cells["support"][0]
    return found


def settle(store: Database, task: Task, sent: Sent, acked: int, known: int, found: Found) -> None:
    """Compare what is counted with what was sent and acknowledged; then send all again, and compare once more."""
    size = sent.design["domain"]["k"]
    if store.task(task.id) is None:
        found["lost"] += acked  # with the task itself: only where nothing is synced
        return
    counts = counts_of(store, task, size)
    found["lost"] += int((counts[sent.acked[:acked]] == 0).sum())
    found["doubled"] += int((counts > 1).sum())
    found["strays"] += int((counts[known:] > 0).sum())
    found["damaged"] += len(store.check())
    for start in range(0, known, 500):
        store.add([sent.upload(task, list(range(start, min(start + 500, known))))])
    again = counts_of(store, task, size)
    found["doubled"] += int((again > 1).sum())
    found["lost"] += int((again[:known] == 0).sum())


# ---- power failures


def power(losses: int, tell: Tell, *, synchronous: str = "FULL", seed: int = 1) -> Found:
    """Power failures at random calls, in many runs of a store on a disk that knows what is certain."""
    rng, found = random.Random(seed), Counter(power_losses=0)
    while found["power_losses"] < losses:
        with tempfile.TemporaryDirectory(dir=_memory()) as name:
            _one_run(Path(name), min(60, losses - found["power_losses"]), rng, synchronous, found)
        tell(f"power: {found['power_losses']} of {losses}, lost {found['lost']}, doubled {found['doubled']}")
    return found


def _one_run(folder: Path, losses: int, rng: random.Random, synchronous: str, found: Found) -> None:
    disk, sent = Disk(), Sent()
    driver, system = disk_driver(disk, checkpoint=rng.choice((8, 30, 200)))
    store = _store(folder / "x.db", driver, synchronous)
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
    disk.watch = lambda call: None
    store.close()
    del system
    for number, (image, acked, known) in enumerate(images[:losses]):
        found["power_losses"] += 1
        with guarded(found):
            place = folder / str(number)
            write_image(image, place)
            again = _store(place / "x.db", STANDARD, "FULL")
            try:
                settle(again, task, sent, acked, known, found)
            finally:
                again.close()
                shutil.rmtree(place)


def _store(path: Path, driver: Driver, synchronous: str) -> Database:
    engine = SqliteEngine(path, driver, synchronous=synchronous)
    migrate(engine)
    return Database(engine)


def _memory() -> str | None:
    """A folder in memory, where there is one: these disks need no real one."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


@contextmanager
def guarded(found: Found) -> Iterator[None]:
    """Whatever is raised is a crash, is shown, and does not end the run."""
    try:
        yield
    except Exception:
        _shown(found, "crashes")


def _shown(found: Found, name: str) -> None:
    """Count what should not be, and show the first few."""
    found[name] += 1
    if found[name] <= 3:
        traceback.print_exc()


# ---- disks that refuse

REFUSALS: dict[str, tuple[int, tuple[str, ...]]] = {
    "full": (apsw.SQLITE_FULL, ("write", "truncate")),
    "read-only": (apsw.SQLITE_READONLY, ("write", "truncate", "delete")),
    "I/O error": (apsw.SQLITE_IOERR, ("read", "write", "truncate", "sync", "delete")),
}
"""What SQLite is told, and by which calls."""


def disk_faults(calls: int, tell: Tell) -> Found:
    """A fault at each of the first calls, once or for a while; the same store must work afterwards."""
    found: Found = Counter(disk_faults=0, server_errors=0, refused=0)
    for kind, (code, where) in REFUSALS.items():
        for lasting in (False, True):
            for call in range(calls):
                with guarded(found), tempfile.TemporaryDirectory(dir=_memory()) as name:
                    _one_fault(Path(name), code, where, call, lasting, found)
            tell(f"disk: {kind}{', lasting' * lasting}: {found['disk_faults']} faults, {found['refused']} refused")
    return found


def _one_fault(folder: Path, code: int, where: tuple[str, ...], number: int, lasting: bool, found: Found) -> None:
    disk, sent = Disk(), Sent()
    driver, system = disk_driver(disk, checkpoint=8)
    store = _store(folder / "x.db", driver, "FULL")
    task = opened(store, sent.design)
    calls = 0

    def watch(call: str) -> None:
        nonlocal calls
        if call in where:
            calls += 1
            if calls == number + 1 or (lasting and number < calls < number + 40):
                found["disk_faults"] += 1
                raise apsw.exception_for(code)

    disk.watch = watch
    waiting: list[list[int]] = []
    while calls <= number + 40 and len(sent.reports) < BUCKETS - 4:
        numbers = sent.new(3)
        if not _tried(store, task, sent, numbers, found):
            waiting.append(numbers)
    disk.watch = lambda call: None
    for numbers in waiting:
        if not _tried(store, task, sent, numbers, found):
            found["stuck"] += 1  # it must work again without a restart
    settle(store, task, sent, len(sent.acked), len(sent.reports), found)
    store.close()
    del system


def _tried(store: Database, task: Task, sent: Sent, numbers: list[int], found: Found) -> bool:
    try:
        (outcomes,) = store.add([sent.upload(task, numbers)])
    except StoreUnavailableError:
        found["refused"] += 1
        return False
    except Exception:
        _shown(found, "server_errors")
        return False
    if all(outcome.status in ("accepted", "duplicate") for outcome in outcomes):
        sent.acked += numbers
    return True


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
    import pgserver

    folder = Path(tempfile.mkdtemp(prefix="deniable-pg-"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        server = pgserver.get_server(folder, cleanup_mode="delete")
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
    wrong = ("lost", "doubled", "strays", "damaged", "crashes", "server_errors", "stuck", "accepted_invalid")
    bad = [name for name in wrong if found.get(name)]
    bad += ["control_failed"] * (not result.get("control_failed", True))
    sys.stderr.write("\n")
    print(json.dumps(result) if given.json else "\n".join(f"{name}: {value}" for name, value in result.items()))
    if bad:
        sys.stderr.write(f"not as it should be: {', '.join(bad)}\n")
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
