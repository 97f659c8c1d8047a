"""Ledgers of version 1: what was spent stays counted, what waits is still sent, and nothing becomes less."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from deniable_client.canonical import digest
from deniable_client.errors import LedgerError

if TYPE_CHECKING:
    import sqlite3

__all__ = ["migrate"]

_TABLES = ("own", "spend", "promise", "answered", "deal", "task", "memo", "report")
_DAY = 86_400
_TRIES, _DAYS = 8, 7
"""How often and for how many days a report of version 1 is tried to be sent."""


def migrate(db: sqlite3.Connection, schema: Sequence[str], now: float) -> None:
    """Take the place of a ledger of version 1: each of its tasks has a place of its own, which was given."""
    names = {row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if names != set(_TABLES) or db.execute("PRAGMA integrity_check(1)").fetchone() != ("ok",):
        raise LedgerError("the ledger is damaged; nothing was spent or sent.")
    own = db.execute("SELECT name, value FROM own").fetchall()
    spends = db.execute("SELECT task, amount, day FROM spend ORDER BY rowid").fetchall()
    answered = db.execute("SELECT task, window FROM answered ORDER BY rowid").fetchall()
    promised = [row[0] for row in db.execute("SELECT task FROM promise ORDER BY rowid")]
    deals = db.execute("SELECT task, question FROM deal ORDER BY rowid").fetchall()
    tasks = db.execute("SELECT id, document FROM task ORDER BY rowid").fetchall()
    reports = db.execute(
        "SELECT id, task, window, question, body, cost, day, url, state, reason, attempts, due, later, expires"
        " FROM report ORDER BY rowid"
    ).fetchall()
    if any(not isinstance(amount, str) or not amount.isdecimal() for _, amount, _ in spends):
        raise LedgerError("the ledger is damaged: an amount in it is not a number; nothing was spent or sent.")
    for name in _TABLES:
        db.execute(f"DROP TABLE {name}")
    for statement in schema:
        db.execute(statement)
    db.executemany("INSERT INTO own VALUES (?, ?)", own)
    places: dict[str, int] = {}
    for task in dict.fromkeys([*(task for task, _, _ in spends), *promised, *(task for task, _ in answered)]):
        places[task] = len(places) + 1
        name = digest({"task": task})
        db.execute("INSERT INTO place VALUES (?, ?, ?, ?)", (places[task], name, int(now), "1" + "0" * 33))
    db.executemany("INSERT INTO spend VALUES (?, ?, ?, ?)", [(places[task], task, *rest) for task, *rest in spends])
    db.executemany("INSERT INTO opened VALUES (?, ?)", answered)
    db.executemany("INSERT INTO deal VALUES (?, ?)", deals)
    db.executemany("INSERT INTO task VALUES (?, ?)", tasks)
    for *row, attempts, due, later, expires in reports:
        ends = min(expires, now + _DAYS * _DAY)
        started = now if attempts else None
        rest = (min(attempts, _TRIES - 1), started, due, 1, later, ends, ends, _TRIES, _DAYS)
        places_of = ", ".join("?" * 20)
        db.execute(f"INSERT INTO report VALUES ({places_of})", (None, *row, *rest))
