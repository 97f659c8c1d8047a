"""Reports that wait to be sent: each at its moment, again with the same bytes until it is counted or given up."""

from __future__ import annotations

import base64
import json
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from deniable_client.canonical import canonical
from deniable_client.ledger.http import Reply, post
from deniable_client.ledger.store import Store
from deniable_client.ledger.windows import Slot, seconds_up_to, taken_of
from deniable_client.task import Task

if TYPE_CHECKING:
    import sqlite3

__all__ = ["Outbox", "Sent", "retry_after"]

_FINAL = frozenset((400, 401, 403, 404, 405, 410, 413, 415, 422))
"""Answers that sending again does not change."""
_STEP, _STEPS_MAX, _LATER_MAX = 30, 10, 6 * 3600
_WAIT_MAX = 86_400
"""Seconds that a collector can make a device wait."""
_REASON_MAX = 200
_DAY = 86_400
_LATE = 600
"""Seconds after which a moment was missed, at least: the device was off, and another moment is drawn."""


@dataclass(frozen=True, slots=True)
class Sent:
    """What `flush` did, in numbers of reports."""

    sent: int
    """The collector has them."""
    refused: int
    """The collector does not count them."""
    expired: int
    """Given up: not delivered in the attempts and days that there were, or before the task was void."""
    waiting: int
    """Not due yet, or to be sent again later."""


class _Entry(NamedTuple):
    id: str
    task: str
    body: bytes
    url: str
    attempts: int


class Outbox:
    """The reports of a ledger that are to be sent."""

    def __init__(self, store: Store, clock: Callable[[], float], delay: float) -> None:
        self._store = store
        self._clock = clock
        self._delay = delay

    def flush(self, url: str | None, task: str | None, *, due: bool, timeout: float) -> Sent:
        """Open and send what is to be; places do not wait for each other, so that nobody holds up another's reports."""
        counts: Counter[str] = Counter()
        with self._store.write() as db:
            self._tend(db, task)
            counts["expired"] += self._give_up(db)
            lanes = [row[0] for row in db.execute(f"SELECT DISTINCT {_LANE} FROM report WHERE state = 'waiting'")]
        results: list[Counter[str]] = []
        failures: list[BaseException] = []

        def run(lane: str) -> None:
            try:
                results.append(self._send_lane(lane, url, task, due=due, timeout=timeout))
            except BaseException as error:  # told by the thread that waits for this one
                failures.append(error)

        workers = [threading.Thread(target=run, args=(lane,), daemon=True) for lane in lanes]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        if failures:
            raise failures[0]
        counts = sum(results, counts)
        with self._store.write() as db:
            counts["expired"] += self._give_up(db)
            waiting: int = db.execute("SELECT count(*) FROM report WHERE state = 'waiting'").fetchone()[0]
        return Sent(counts["sent"], counts["refused"], counts["expired"], waiting)

    def _send_lane(self, lane: str, url: str | None, task: str | None, *, due: bool, timeout: float) -> Counter[str]:
        """Send the reports of one place one by one; each is put off before, so that nobody else sends it meanwhile."""
        counts: Counter[str] = Counter()
        done: set[str] = set()
        while (entry := self._claim(lane, url, task, due, done)) is not None:
            done.add(entry.id)
            told = [{"id": entry.id, "report": base64.b64encode(entry.body).decode()}]
            reply = post(f"{entry.url}/v1/tasks/{entry.task}/reports", canonical({"reports": told}), timeout)
            state, reason = verdict(reply, entry.id)
            self._settle(entry, state, reason, reply)
            counts[state] += 1
        return counts

    def _tend(self, db: sqlite3.Connection, only: str | None) -> None:
        """Plan the windows that have begun, and open those whose moment has come."""
        now = self._clock()
        today, source = datetime.fromtimestamp(now, UTC).date().toordinal(), self._store.source(db)
        db.execute("DELETE FROM report WHERE state = 'planned' AND until <= ?", (now,))
        self._move(db, now)
        rows = db.execute("SELECT task, opens, days, first, last FROM taken WHERE key IS NOT NULL").fetchall()
        for name, opens, days, first, last in rows:
            window, taken = (today - opens) // days, taken_of(db, name)
            if not first <= window <= last or only not in (None, name) or taken is None:
                continue
            planned = db.execute(
                "SELECT state, due FROM report WHERE task = ? AND window = ?", (name, window)
            ).fetchone()
            began = db.execute("SELECT 1 FROM opened WHERE task = ? AND window = ?", (name, window)).fetchone()
            if (planned is None and began) or (planned and (planned[0] != "planned" or planned[1] > now)):
                continue
            (document,) = db.execute("SELECT document FROM task WHERE id = ?", (name,)).fetchone()
            slot = Slot(db, source, Task.load(document), taken, window, now)
            if planned is None:
                slot.plan(first=False, delay=self._delay)
                self._move(db, now)
            if slot.due() <= now:
                slot.open()

    def _move(self, db: sqlite3.Connection, now: float) -> None:
        """Draw another moment, once, for what was missed because the device was off."""
        missed = "state IN ('planned', 'waiting') AND attempts = 0 AND moved = 0 AND due < ? AND until > ?"
        late = (now - max(self._delay, _LATE), now)
        for number, until in db.execute(f"SELECT number, until FROM report WHERE {missed}", late).fetchall():
            moment = now + seconds_up_to(min(self._delay, max(0.0, until - 1 - now)))
            db.execute("UPDATE report SET due = ?, moved = 1 WHERE number = ?", (moment, number))

    def _give_up(self, db: sqlite3.Connection) -> int:
        now = self._clock()
        given = 0
        for reason, when, values in (
            ("the task was void before the collector confirmed it", "void <= ?", (now,)),
            ("its window was over before it could be sent", "attempts = 0 AND until <= ?", (now,)),
            ("the collector did not confirm it in as many attempts as there are", "attempts >= tries", ()),
            ("the collector did not confirm it in as many days as there are", f"started + days * {_DAY} <= ?", (now,)),
        ):
            given += db.execute(
                "UPDATE report SET state = 'expired', reason = ?, due = NULL, later = 0"
                f" WHERE state = 'waiting' AND {when}",
                (reason, *values),
            ).rowcount
        return given

    def _claim(self, lane: str, url: str | None, task: str | None, due: bool, done: set[str]) -> _Entry | None:
        """The next report, with its next attempt put off already: a device that dies now sends it later."""
        now = self._clock()
        with self._store.write() as db:
            rows = db.execute(
                "SELECT id, task, body, coalesce(url, ?), attempts FROM report WHERE state = 'waiting' AND void > ?"
                " AND attempts < tries AND later <= ? AND (due <= ? OR NOT ?) AND coalesce(url, ?) IS NOT NULL"
                f" AND task = coalesce(?, task) AND {_LANE} = ? ORDER BY due",
                (url, now, now, now, due, url, task, lane),
            ).fetchall()
            entry = next((_Entry(*row) for row in rows if row[0] not in done), None)
            if entry is not None:
                self._put_off(db, entry, now)
                db.execute("UPDATE report SET started = coalesce(started, ?) WHERE id = ?", (now, entry.id))
            return entry

    def _settle(self, entry: _Entry, state: str, reason: str, reply: Reply) -> None:
        now = self._clock()
        with self._store.write() as db:
            given = (state, reason, entry.id)
            if state != "waiting":  # another process may have given it up meanwhile: the collector knows better
                sql = "UPDATE report SET state = ?, reason = ?, due = NULL, later = 0 WHERE id = ?"
                db.execute(f"{sql} AND state IN ('waiting', 'expired')", given)
            elif db.execute(
                "UPDATE report SET state = ?, reason = ? WHERE id = ? AND state = 'waiting'", given
            ).rowcount:
                self._put_off(db, entry, now + retry_after(reply.headers, now))

    @staticmethod
    def _put_off(db: sqlite3.Connection, entry: _Entry, start: float) -> None:
        """The next attempt is at a random time after `start`."""
        attempts = entry.attempts + 1
        pause = seconds_up_to(min(_STEP << min(attempts, _STEPS_MAX), _LATER_MAX))
        given = (start + pause, attempts, entry.id)
        db.execute("UPDATE report SET later = ?, attempts = ? WHERE id = ?", given)


_LANE = "coalesce((SELECT place FROM taken WHERE taken.task = report.task), report.task)"
"""Whose reports are sent one after the other: those of one place."""


def verdict(reply: Reply, name: str) -> tuple[str, str]:
    """What an answer means for a report: it is sent, refused or still waiting, and why."""
    if reply.status in _FINAL:
        return "refused", f"the collector answered {reply.status}"
    if reply.status != 200:
        return "waiting", reply.trouble or f"the collector answered {reply.status}"
    try:
        rows = json.loads(reply.body)["results"]
        row = next(row for row in rows if row["id"] == name)
        status, reason = row["status"], row.get("reason", "")
    except (ValueError, TypeError, KeyError, AttributeError, StopIteration, RecursionError):
        return "waiting", "the collector's answer was not understood"
    if status in ("accepted", "duplicate"):
        return "sent", ""
    if status == "rejected":
        return "refused", reason[:_REASON_MAX] if isinstance(reason, str) else ""
    return "waiting", "the collector's answer was not understood"


def retry_after(headers: Mapping[str, str], now: float) -> float:
    """Seconds that the collector asks to wait, a day at most; 0 if it says nothing that can be read."""
    from email.utils import parsedate_to_datetime

    text = (headers.get("retry-after") or "").strip()
    if text.isascii() and text.isdecimal():
        return float(min(int(text[:9]), _WAIT_MAX))
    if not text.endswith(" GMT"):  # a date of HTTP; others would be read in the device's own time zone
        return 0.0
    try:
        until = parsedate_to_datetime(text)
        wait = until.timestamp() - now if until.tzinfo is not None else 0.0
    except (ValueError, TypeError, IndexError, OverflowError):
        return 0.0
    return min(max(wait, 0.0), _WAIT_MAX)
