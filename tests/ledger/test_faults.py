"""A device that dies at any call, or whose disk is full at any write: never an overspend, never a report unpaid for."""

from __future__ import annotations

import os
import resource
import signal
import socket
import sqlite3
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deniable_client import Ledger, LedgerError
from tasks import noon, signed

DEAD = 77
PIECES = 8
"""By how many calls lives may differ, since an answer comes in more pieces or fewer."""
TASK = signed(budget=1)
LATER = noon() + 8 * 3600


class Calls:
    """Counts what goes to the disk and to the network, and ends the process at one of them: before it, or after."""

    def __init__(self, fatal: int | None) -> None:
        self.fatal = fatal
        self.count = 0

    def around(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """The same call, watched."""

        def watched(*args: Any, **options: Any) -> Any:
            self.tick()
            result = call(*args, **options)
            self.tick()
            return result

        return watched

    def tick(self) -> None:
        """One more moment at which the power may fail."""
        if self.count == self.fatal:
            os._exit(DEAD)
        self.count += 1

    def install(self) -> None:
        """Watch all calls of this process from now on."""
        execute, connect = self.around(sqlite3.Connection.execute), sqlite3.connect

        class Watched(sqlite3.Connection):
            """A connection whose statements are watched."""

            def execute(self, *args: Any) -> sqlite3.Cursor:
                cursor: sqlite3.Cursor = execute(self, *args)
                return cursor

        sqlite3.connect = lambda *args, **options: connect(*args, **options, factory=Watched)  # type: ignore[assignment]
        for name in ("connect", "sendall", "recv_into", "close"):
            setattr(socket.socket, name, self.around(getattr(socket.socket, name)))


def child(work: Callable[[], int]) -> int:
    """Does something in a process of its own; how it ended (a signal is negative)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the collector's thread stays in this process
        process = os.fork()
    if process == 0:
        try:
            os._exit(work())
        except BaseException:
            os._exit(99)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def whole_life(path: Path, url: str, fatal: int | None) -> int:
    """Answer and send, with the process ended at a call; how many calls there were, if it is not."""
    calls = Calls(fatal)
    calls.install()
    ledger = Ledger(path, clock=noon)
    ledger.answer(TASK, "yes")
    ledger.flush(url)
    path.with_suffix(".calls").write_text(str(calls.count))
    return 0


def spent(ledger: Ledger) -> float:
    """What was spent in all."""
    found: float = ledger.overview()["left"]["spent"]
    return found


def check_after(path: Path, collector: Any, url: str) -> str:
    """What a device finds when it starts again: all or nothing; then it answers once more, and is counted once."""
    arrived = collector.at(url)
    ledger = Ledger(path, clock=lambda: LATER)
    seen = ledger.overview()
    assert seen["left"]["spent"] == len(seen["sent"]) <= 1, "a spend without its report, or the reverse"
    if arrived:
        assert arrived == {row["id"] for row in seen["sent"]}, "a report left the device before it was paid for"
    found = seen["sent"][0]["state"] if seen["sent"] else "nothing"
    ledger.take(TASK)
    ledger.flush(url)
    after = ledger.overview()
    assert after["left"]["spent"] == 1, "overspent"
    assert after["counts"] == {"planned": 0, "waiting": 0, "sent": 1, "refused": 0, "expired": 0}
    assert collector.at(url) == {after["sent"][0]["id"]}, "lost, or counted twice"
    return str(found)


@pytest.mark.slow
@pytest.mark.turns(3)
def test_killed_at_every_call(tmp_path: Path, collector: Any) -> None:
    """Before and after every statement and every call of a socket, from the first to the last."""
    assert child(lambda: whole_life(tmp_path / "whole", collector.url, None)) == 0
    calls = int((tmp_path / "whole.calls").read_text())
    assert calls > 150
    found, ended = [], []
    for fatal in range(calls):
        path, url = tmp_path / f"ledger{fatal}", f"{collector.url}/{fatal}"
        ended.append(child(lambda path=path, url=url, fatal=fatal: whole_life(path, url, fatal)))  # type: ignore[misc]
        found.append(check_after(path, collector, url))
    # An answer may arrive in fewer pieces than in another life, so that the last calls are not made, or come earlier.
    assert set(ended[: calls - PIECES]) == {DEAD}
    assert set(ended) <= {DEAD, 0}
    assert set(found) == {"nothing", "waiting", "sent"}
    paid, sent = found.index("waiting"), found.index("sent")
    assert "nothing" not in found[paid:], "forgotten after it was paid for"
    assert "waiting" not in found[sent + PIECES :], "sent again long after it was known to have arrived"


@pytest.mark.slow
def test_killed_around_the_commit_and_the_sending(tmp_path: Path, collector: Any) -> None:
    """A sample of the moments above, for the default tier: every 31st."""
    assert child(lambda: whole_life(tmp_path / "whole", collector.url, None)) == 0
    for fatal in range(5, int((tmp_path / "whole.calls").read_text()) - PIECES, 31):
        path, url = tmp_path / f"ledger{fatal}", f"{collector.url}/{fatal}"
        assert child(lambda path=path, url=url, fatal=fatal: whole_life(path, url, fatal)) == DEAD  # type: ignore[misc]
        check_after(path, collector, url)


def test_what_was_spent_and_never_sent_is_shown(tmp_path: Path, collector: Any) -> None:
    """Killed between the spend and the sending, and switched on when the task is void: lost, counted and shown."""

    def dies() -> int:
        Ledger(tmp_path / "ledger", clock=noon).answer(TASK, "yes")
        return DEAD

    assert child(dies) == DEAD
    ledger = Ledger(tmp_path / "ledger", clock=lambda: noon("2026-11-24"))
    assert ledger.flush(collector.url).expired == 1
    assert collector.kept == {}
    assert ledger.overview()["lost"] == {"reports": 1, "epsilon": 1}
    assert spent(ledger) == 1


def limited(path: Path, size: int, deadly: bool) -> int:
    """Answer with files that cannot grow beyond a size: 0 if it worked, 1 if it was refused."""
    if deadly:
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    try:
        Ledger(path, clock=noon).answer(TASK, "yes")
    except LedgerError as error:
        return 1 if "nothing was spent or sent" in str(error) else 98
    return 0


@pytest.mark.turns(2)
@pytest.mark.slow
@pytest.mark.parametrize("deadly", [False, True])
def test_full_disk_at_every_size(deadly: bool, tmp_path: Path, collector: Any) -> None:
    """Refused in words, or killed inside a write (so inside a commit): spent or not, never half."""
    ended = []
    for size in range(0, 100_000, 1024 if deadly else 4096):
        path = tmp_path / f"ledger{size}"
        code = child(lambda path=path, size=size: limited(path, size, deadly))  # type: ignore[misc]
        ended.append(code)
        assert code in (0, -signal.SIGXFSZ if deadly else 1)
        if code == 1:
            assert spent(Ledger(path, clock=noon)) == 0
        check_after(path, collector, f"{collector.url}/{size}")
    assert ended[0] != 0
    assert ended[-1] == 0
    assert len([code for code in ended if code]) > (20 if deadly else 5)
