"""Reports that wait to be sent: each at a random time, again with the same id until it is counted or void.

HTTP as a device uses it: https, or http to this machine; no redirects, no cookies, the same headers for all.
"""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from deniable_client.canonical import canonical
from deniable_client.errors import LedgerError, ParameterError, show
from deniable_client.ledger.store import Store
from deniable_client.words import SystemWords, below

if TYPE_CHECKING:
    import sqlite3

__all__ = ["Outbox", "Sent", "checked_url", "fetch", "seconds_up_to"]

_REPLY_MAX = 1 << 16
"""Bytes of an answer that are looked at."""
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class Reply:
    """What a collector answered; status 0 if it did not."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    trouble: str = ""


def checked_url(url: object) -> str:
    """An address that a device talks to, without a slash at its end; `ParameterError` for others."""
    from urllib.parse import urlsplit

    need = "https, or http to this machine (localhost, 127.0.0.1)"
    if not isinstance(url, str) or not url.isprintable() or " " in url:
        raise ParameterError(f"url must be an address with {need}, got {show(url)}.")
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise ParameterError(f"url must be an address with {need}, got {show(url)}.") from error
    safe = parts.scheme == "https" or (parts.scheme == "http" and host in _LOOPBACK)
    if not safe or not host:
        raise ParameterError(f"url must be an address with {need}, got {show(url)}.", "Reports are not sent openly.")
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise ParameterError(f"url must be without a user, a query or a #, got {show(url)}.")
    return url.rstrip("/")


def post(url: str, body: bytes, timeout: float) -> Reply:
    """Send a JSON document; whatever goes wrong is told in the reply."""
    return _exchange(url, body, timeout, _REPLY_MAX)


def fetch(url: str, timeout: float, most: int) -> bytes:
    """A document from an address; `LedgerError` if there is none to be had."""
    reply = _exchange(checked_url(url), None, timeout, most + 1)
    if reply.status != 200:
        raise LedgerError(f"{url} gave no task: {reply.trouble or f'status {reply.status}'}.")
    return reply.body


def _exchange(url: str, body: bytes | None, timeout: float, most: int) -> Reply:
    import http.client
    import urllib.error
    import urllib.request

    class Stay(urllib.request.HTTPRedirectHandler):
        """Who redirects a device learns whom it talks to, and decides where a report goes."""

        def redirect_request(self, *_: Any) -> None:
            return None

    straight = [urllib.request.ProxyHandler({})] if url.startswith("http:") else []
    opener = urllib.request.build_opener(Stay, *straight)
    opener.addheaders = [("User-Agent", "deniable-client")]
    request = urllib.request.Request(url, data=body, method="GET" if body is None else "POST")
    if body is not None:
        request.add_header("Content-Type", "application/json")
    try:
        with opener.open(request, timeout=timeout) as response:
            return Reply(response.status, _lower(response.headers), _read(response, timeout, most))
    except urllib.error.HTTPError as error:
        with error:
            return Reply(error.code, _lower(error.headers), b"")
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        return Reply(0, {}, b"", f"no answer ({show(str(reason))})")


def _lower(headers: Any) -> dict[str, str]:
    """Headers by their names in small letters."""
    return {name.lower(): text for name, text in headers.items()}


def _read(response: Any, timeout: float, most: int) -> bytes:
    """The first bytes of an answer, within the time there is for all of it."""
    end, read = time.monotonic() + timeout, bytearray()
    while len(read) < most and (more := response.read1(most - len(read))):
        read += more
        if time.monotonic() > end:
            raise TimeoutError("the answer is too slow")
    return bytes(read)


_FINAL = frozenset((400, 401, 403, 404, 405, 410, 413, 415, 422))
"""Answers that sending again does not change."""
_STEP, _STEPS_MAX, _LATER_MAX = 30, 10, 6 * 3600
_WAIT_MAX = 86_400
"""Seconds that a collector can make a device wait."""
_REASON_MAX = 200


@dataclass(frozen=True, slots=True)
class Sent:
    """What `flush` did, in numbers of reports."""

    sent: int
    """The collector has them."""
    refused: int
    """The collector does not count them."""
    expired: int
    """Given up, since their task is void."""
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

    def __init__(self, store: Store, clock: Callable[[], float]) -> None:
        self._store = store
        self._clock = clock

    def flush(self, url: str | None, task: str | None, *, due: bool, timeout: float) -> Sent:
        """Send one by one; each is put off before it is sent, so that nobody else sends it meanwhile."""
        expired = self._give_up()
        done: list[str] = []
        counts = {"sent": 0, "refused": 0}
        while (entry := self._claim(url, task, due, done)) is not None:
            done.append(entry.id)
            told = [{"id": entry.id, "report": base64.b64encode(entry.body).decode()}]
            reply = post(f"{entry.url}/v1/tasks/{entry.task}/reports", canonical({"reports": told}), timeout)
            state, reason = verdict(reply, entry.id)
            self._settle(entry, state, reason, reply)
            if state in counts:
                counts[state] += 1
        with self._store.read() as db:
            waiting: int = db.execute("SELECT count(*) FROM report WHERE state = 'waiting'").fetchone()[0]
        return Sent(counts["sent"], counts["refused"], expired, waiting)

    def _give_up(self) -> int:
        with self._store.write() as db:
            return db.execute(
                "UPDATE report SET state = 'expired', reason = 'the task expired before the collector confirmed it',"
                " due = NULL WHERE state = 'waiting' AND expires <= ?",
                (self._clock(),),
            ).rowcount

    def _claim(self, url: str | None, task: str | None, due: bool, done: list[str]) -> _Entry | None:
        """The next report, with its next attempt put off already: a device that dies now sends it later."""
        now = self._clock()
        with self._store.write() as db:
            rows = db.execute(
                "SELECT id, task, body, coalesce(url, ?), attempts FROM report WHERE state = 'waiting' AND expires > ?"
                " AND later <= ? AND (due <= ? OR NOT ?) AND coalesce(url, ?) IS NOT NULL AND task = coalesce(?, task)"
                " ORDER BY due",
                (url, now, now, now, due, url, task),
            )
            entry = next((_Entry(*row) for row in rows if row[0] not in done), None)
            if entry is not None:
                self._put_off(db, entry, now)
            return entry

    def _settle(self, entry: _Entry, state: str, reason: str, reply: Reply) -> None:
        now = self._clock()
        with self._store.write() as db:
            db.execute("UPDATE report SET state = ?, reason = ? WHERE id = ?", (state, reason, entry.id))
            if state == "waiting":
                self._put_off(db, entry, now + retry_after(reply.headers, now))
            else:
                db.execute("UPDATE report SET due = NULL WHERE id = ?", (entry.id,))

    @staticmethod
    def _put_off(db: sqlite3.Connection, entry: _Entry, start: float) -> None:
        """The next attempt is at a random time after `start`."""
        attempts = entry.attempts + 1
        pause = seconds_up_to(min(_STEP << min(attempts, _STEPS_MAX), _LATER_MAX))
        given = (start + pause, attempts, entry.id)
        db.execute("UPDATE report SET later = ?, attempts = ? WHERE id = ?", given)


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
        return "refused", str(reason)[:_REASON_MAX]
    return "waiting", "the collector's answer was not understood"


def retry_after(headers: Mapping[str, str], now: float) -> float:
    """Seconds that the collector asks to wait, a day at most; 0 if it says nothing that can be read."""
    from email.utils import parsedate_to_datetime

    text = (headers.get("retry-after") or "").strip()
    if text.isascii() and text.isdecimal():
        return float(min(int(text[:9]), _WAIT_MAX))
    try:
        wait = parsedate_to_datetime(text).timestamp() - now
    except (ValueError, TypeError, IndexError, OverflowError):
        return 0.0
    return min(max(wait, 0.0), _WAIT_MAX)


def seconds_up_to(most: float) -> float:
    """A random time, in steps of a millisecond."""
    return below(int(most * 1000) + 1, SystemWords()) / 1000
