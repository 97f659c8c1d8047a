"""What the collector asks of a database: one interface, kept by every engine.

A report is counted and its id is stored in one transaction, or neither is. Everything that is counted lies in cells of
`Batch`: a window of a task, one of its questions, and one combination of its strata.

A report does not say when it was made, so its window is that of the day on which it arrives (`ingest.window_of`), and
its id is known until the task takes no reports any more, whatever the window. Who publishes a window seals it first
(`seal`), then reads the tallies: nothing is added to a sealed window, so what was read stays true.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import NamedTuple, Protocol

from deniable.collect.tally import Tally
from deniable.errors import DeniableError
from deniable_client.ledger.memory import ID_BYTES

__all__ = [
    "ACCEPTED",
    "DUPLICATE",
    "ID_BYTES",
    "REJECTED",
    "SETTLE_SECONDS",
    "STATES",
    "Batch",
    "DraftRow",
    "Ending",
    "Incoming",
    "KeyRow",
    "Outcome",
    "SessionRow",
    "Store",
    "StoreUnavailableError",
    "TaskRow",
    "Upload",
]

STATES = ("draft", "open", "closed")
"""Of a task, in the order that it passes through."""

ACCEPTED, DUPLICATE, REJECTED = "accepted", "duplicate", "rejected"
STATES = ("draft", "open", "closed")
"""Of a task, in their order: none comes again."""
SETTLE_SECONDS = 60.0
"""How long a single report may be told from the others in the files of the database, after it was acknowledged."""


class StoreUnavailableError(DeniableError, OSError):
    """The database cannot be written or read now (full, read-only, unreachable); nothing was acknowledged, try later.

    Trying again is safe: reports that were kept after all are duplicates then.
    """


class Batch(NamedTuple):
    """What is counted together: a window, a question and the numbers of the strata, all from 0 on."""

    window: int
    question: int
    strata: tuple[int, ...]


class Incoming(NamedTuple):
    """A report as it was sent: 16 bytes of id, and the body (docs/protocol.md, section 4)."""

    id: bytes
    body: bytes


class Outcome(NamedTuple):
    """What became of a report; `reason` for rejected ones, from the table of reasons."""

    status: str
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Upload:
    """Reports of one task that arrived together, and the day on which they did."""

    task: str
    today: date
    reports: Sequence[Incoming]


@dataclass(frozen=True, slots=True)
class TaskRow:
    """A task as the store has it; the document never changes, its state goes draft, open, closed."""

    id: str
    document: bytes
    state: str


@dataclass(frozen=True, slots=True)
class KeyRow:
    """An access key: the hash of it, never the key. A key that was made void at once has no hash any more."""

    name: str
    role: str
    digest: bytes
    created: date
    revoked: date | None = None


class Ending(NamedTuple):
    """The end of a key, by its name: at once, whatever any clock says, or `later`, from that day on."""

    name: str
    day: date
    later: bool = False


@dataclass(frozen=True, slots=True)
class SessionRow:
    """Someone who signed in: the hash of the token, never the token. Times are seconds since 1970."""

    digest: bytes
    key: str
    """The name of the key."""
    created: int
    expires: int
    """When it ends, used or not."""
    idle: int
    """When it ends if it is not used before."""


@dataclass(frozen=True, slots=True)
class DraftRow:
    """A questionnaire as the store has it."""

    id: str
    changed: int
    """Counts its changes, so that nobody overwrites what another one wrote."""
    document: bytes
    trial: bytes | None = None
    """What came of the last trial with robots."""
    task: str | None = None
    """The task that was made of it; then it does not change any more."""


class SessionStore(Protocol):
    """The sessions of a database."""

    def put(self, row: SessionRow) -> None:
        """Keep a session's hash."""

    def get(self, digest: bytes) -> SessionRow | None:
        """The session of a hash, or None; what has expired may be there still."""

    def use(self, digest: bytes, idle: int) -> None:
        """Note when a session ends if it is not used again; one that is over stays over."""

    def end(self, digest: bytes) -> None:
        """Forget a session; one that is over already stays over."""

    def expire(self, now: int) -> int:
        """Erase sessions that have expired; how many."""


class Store(Protocol):
    """A database of tasks, tallies, ids of reports, releases, keys and drafts. All calls may come from any thread."""

    # ---- tasks
    def put_task(self, id: str, document: bytes) -> None:
        """Keep a new task as a draft; the same document again changes nothing, another one under its id is an error."""

    def task(self, id: str) -> TaskRow | None:
        """A task, or None."""

    def tasks(self) -> Sequence[TaskRow]:
        """All tasks, in the order in which they were made."""

    def set_state(self, id: str, state: str) -> None:
        """Open or close a task: draft, open, closed, in this order only."""

    # ---- reports
    def add(self, uploads: Sequence[Upload]) -> list[list[Outcome]]:
        """Check, count and keep the reports of several uploads in one durable transaction; an outcome for each.

        Raises `StoreUnavailableError` if it is not certain that all is kept; the same call is safe and may work later.
        """

    def tallies(self, task: str, window: int | None = None) -> Mapping[Batch, Tally]:
        """What has been counted so far, or that of one window; each tally may be made only when it is asked for."""

    def reports(self, task: str, batch: Batch) -> Iterator[bytes]:
        """The bodies that are kept, in no order of arrival; none if the task keeps tallies only."""

    def rejections(self, task: str) -> Mapping[str, int]:
        """Rejected reports by reason."""

    # ---- releases
    def seal(self, task: str, window: int) -> None:
        """Take no more reports for a window, for ever, whatever the clock says; sealed once more, nothing changes."""

    def release(self, task: str, window: int) -> bytes | None:
        """What was published about a window, or None."""

    def put_release(self, task: str, window: int, document: bytes) -> bytes:
        """Publish a window once, which seals it; returns what is published, which is the first document."""

    def claimed(self, question: str) -> tuple[str, int] | None:
        """The task and window of the one release of a question, by its key; None if there is no such claim."""

    def claim(self, question: str, task: str, window: int) -> tuple[str, int]:
        """Note the one release of a question whose draws may be sent again; returns the first one that was noted."""

    # ---- who the collector is
    def identity(self) -> bytes:
        """The seed of the key that signs tasks: made once, the same for ever, kept with everything else."""

    # ---- keys
    def put_key(self, key: KeyRow, *, instead: Ending | None = None) -> None:
        """Keep a key's hash. With `instead`, another key ends in the same step; it must not have been ended before."""

    def keys(self) -> Sequence[KeyRow]:
        """All keys, revoked ones too."""

    def revoke_key(self, name: str, day: date, *, later: bool = False) -> None:
        """Make a key void: at once, whatever any clock says, or `later`, from that day on. Its sessions end now."""

    @property
    def sessions(self) -> SessionStore:
        """Who is signed in."""

    # ---- questionnaires
    def drafts(self) -> Sequence[DraftRow]:
        """All questionnaires, by their ids."""

    def draft(self, id: str) -> DraftRow | None:
        """A questionnaire, or None."""

    def put_draft(self, draft: DraftRow) -> bool:
        """Keep a questionnaire if it is new, or if `changed` is one more than what is kept; whether it was."""

    def drop_draft(self, id: str) -> None:
        """Forget a questionnaire; one that is not there stays so."""

    # ---- care
    def purge(self, today: date, failed: Callable[[str, Exception], None] | None = None) -> Mapping[str, int]:
        """Erase what need not be kept any more: bodies, ids of windows whose reports are refused; counts of each.

        With `failed`, a task that cannot be looked after is told by its id and error, and the others go on.
        """

    def note(self, name: str) -> int | None:
        """A number that is kept beside the tasks, or None."""

    def put_note(self, name: str, value: int) -> None:
        """Keep a number beside the tasks."""

    def settle(self) -> None:
        """Leave nothing in the files that tells one counted report from the others, or their order.

        Done by itself a minute after a report was counted, at the latest; this is for whoever cannot wait.
        """

    def writable(self) -> None:
        """Write a little, durably; `StoreUnavailableError` if reports could not be kept now."""

    def advice(self) -> Sequence[str]:
        """What of the database's own settings keeps erased reports for longer, in sentences for whoever runs it."""

    def check(self) -> Sequence[str]:
        """What is wrong with the database; nothing if all is well."""

    def backup(self, path: Path) -> None:
        """A consistent copy, while the service goes on."""

    def close(self) -> None:
        """Finish and let go of the database."""
