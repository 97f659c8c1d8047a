"""What somebody who holds the files of a database finds out about single reports: a scan that knows what to look for.

Reports are sent one by one, each in a commit of its own, so the difference of two consecutive tallies is one report.
The scan is stronger than any thief: it knows every tally that ever was, every body and every hash of an id, and looks
for their bytes in all files, pages in use or not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path

import numpy as np

import deniable as dn
from deniable.service.ingest import Intake
from deniable.service.store import open_store
from deniable.service.store.contract import Incoming, Upload
from deniable.service.store.database import Database
from deniable.service.store.rows import Shapes
from deniable_client.task import Task
from service.databases import new_database, postgres_data
from service.making import DAY, opened

__all__ = ["COMMITTED", "Found", "Stage", "Trial", "chance", "files_of", "life"]

COMMITTED = ("committed", "committed again")
"""Stages in which the time of the last reports is not over: what is found then shows that the scan finds something."""
_END = DAY + timedelta(28)
"""After the last window of the trial's task."""
_TAIL = 12
"""Bytes at the end of a row: check sums of the cells, different for every tally."""
_PAGE = 4096
_DESIGN = dn.mechanism("oue", epsilon=1.0, k=64).design
"""Any 8 bytes are a report."""


@dataclass(frozen=True)
class Found:
    """What a scan found."""

    tallies: int
    """Former tallies: any but the last one."""
    reports: int
    """Reports that are the difference of two tallies that are there."""
    bodies: int
    order: float
    """How well the order of arrival can be told: 0 not at all, 1 for certain."""


@dataclass(frozen=True)
class Stage:
    """What was found after something happened to a database."""

    name: str
    found: Found
    sent: int
    kept: int
    """Bodies that are kept on purpose."""

    @property
    def clean(self) -> bool:
        """Nothing but what is kept on purpose is there, in an order that chance would give too."""
        found = self.found
        nothing = found.tallies == found.reports == 0 and found.bodies == self.kept
        return nothing and found.order < chance(self.sent)


def chance(n: int) -> float:
    """Four standard deviations of the order of n ids that is drawn at random (Kendall's coefficient)."""
    return float(4 * (2 * (2 * n + 5) / (9 * n * (n - 1))) ** 0.5)


def life(engine: str, folder: Path, n: int, *, bodies: bool) -> Iterator[Stage]:
    """Single reports through the life of a task: what can be found, after each stage."""
    url, copy = new_database(engine, folder), folder / "copy"
    trial = Trial(open_store(url, settle_seconds=1e9), bodies=bodies)
    store, id = trial.store, trial.task.id

    def look(name: str, *, kept: bool = bodies, files: Sequence[Path] = ()) -> Stage:
        found = trial.scan(files or list(files_of(engine, url, folder)))
        return Stage(name, found, len(trial.sent), len(trial.sent) * kept)

    trial.send(n)
    if engine == "postgres":
        _sampled(url)
    yield look("committed")
    store.settle()
    yield look("settled")
    trial.send(2)
    yield look("committed again")
    store.purge(DAY)
    yield look("purged")
    store.seal(id, 0)
    store.put_release(id, 0, b"{}")
    store.settle()
    yield look("published")
    store.backup(copy)
    yield look("copy", files=[copy])
    copy.unlink()
    store.set_state(id, "closed")
    store.purge(_END + timedelta(3))
    yield look("erased", kept=False)
    assert sum(tally.n for tally in store.tallies(id).values()) == len(trial.sent)
    assert store.check() == []
    store.close()
    yield look("closed", kept=False)


def _sampled(url: str) -> None:
    """The server takes samples of all tables, as it does by itself when they have grown."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as link:
        link.execute("ANALYZE")


@dataclass
class Trial:
    """A store with a task, and reports that come one by one."""

    store: Database
    bodies: bool = False
    """Whether the task keeps bodies for three days."""
    sent: list[Incoming] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.task: Task = opened(self.store, _DESIGN, keep="3" if self.bodies else None)
        row = self.store.task(self.task.id)
        assert row is not None
        self._intake = Intake(row.document)
        self._shapes = Shapes(self._intake)
        self._tally = self._intake.mechanisms[0].empty()
        self._tails: list[bytes] = []

    def send(self, reports: int) -> None:
        """Some reports, each in a commit of its own; the same ones in every run."""
        for number in range(len(self.sent), len(self.sent) + reports):
            one = Incoming(_made(number, 16), _made(-1 - number, 8))
            (found,) = self.store.add([Upload(self.task.id, DAY, [one])])
            assert found[0].status == "accepted"
            self.sent.append(one)
            checked = self._intake.check([one.body])
            ((_, tally, _),) = self._intake.tallies(checked, np.array([0]), 0)
            self._tally = self._tally + tally
            self._tails.append(self._shapes.pack(0, self._tally)[-_TAIL:])

    def scan(self, files: Sequence[Path]) -> Found:
        """Look for all of it in files."""
        bodies, hashes = (
            [one.body for one in self.sent],
            [blake2b(one.id, digest_size=16).digest() for one in self.sent],
        )
        seen: set[bytes] = set()
        order, data = 0.0, [_written(path) for path in files if path.is_file()]
        assert any(data)
        for part in data:
            places = _places(part, [*self._tails, *bodies, *hashes])
            seen |= places.keys()
            order = max(order, _ordered([places[each] for each in hashes if each in places], len(self.sent)))
        there = [tail in seen for tail in self._tails]
        recovered = sum(one and two for one, two in pairwise([True, *there]))  # the tally of nothing is known to all
        return Found(sum(there[:-1]), recovered, len(seen.intersection(bodies)), order)


def _places(data: bytes, wanted: Sequence[bytes]) -> dict[bytes, int]:
    """Where each of some texts of at least eight bytes is first, by one look at all of the data."""
    by_start = {each[:8]: each for each in wanted}
    assert len(by_start) == len(wanted)
    possible = np.zeros(1 << 20, np.bool_)
    possible[np.frombuffer(b"".join(by_start), "<u8") & 0xFFFFF] = True
    found: dict[bytes, int] = {}
    for shift in range(min(8, len(data))):
        words = np.frombuffer(data, "<u8", (len(data) - shift) // 8, shift)
        for place in (8 * np.flatnonzero(possible[words & 0xFFFFF]) + shift).tolist():
            each = by_start.get(data[place : place + 8])
            if each is not None and data.startswith(each, place):
                found[each] = min(place, found.get(each, place))
    return found


def _ordered(places: Sequence[int], of: int) -> float:
    """Of all pairs of ids in a file, how many more are in the order of arrival than not, or the other way round.

    The same of pairs that are in one page, if that is more.
    """
    if len(places) < max(3, of // 4):
        return 0.0
    given, upper = np.array(places), np.triu_indices(len(places), 1)
    signs = np.sign(given[None, :] - given[:, None])[upper]
    together = (given[None, :] // _PAGE == given[:, None] // _PAGE)[upper]
    return float(max(abs(signs.mean()), abs(signs[together].mean()) if together.any() else 0.0))


def _written(path: Path) -> bytes:
    """What a file has, without its empty pages: logs are made of them."""
    data = path.read_bytes()
    pages = (data[start : start + 4096] for start in range(0, len(data), 4096))
    return b"".join(page for page in pages if page.strip(b"\0"))


def _made(number: int, size: int) -> bytes:
    return blake2b(str(number).encode(), digest_size=size).digest()


def files_of(engine: str, url: str, folder: Path) -> Iterator[Path]:
    """All files that a database has: of PostgreSQL those of its tables and the server's log."""
    if engine == "sqlite":
        yield from (path for path in sorted(folder.rglob("*")) if path.is_file())
    else:
        yield from postgres_data(url)
