"""What a person may see of a ledger: what was asked, what became of the reports, what is left."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from deniable_client.ledger.places import (
    YEAR,
    Limits,
    amount,
    most_for,
    next_place,
    number_of,
    places_left,
    reserved_in,
    spent_in,
)

if TYPE_CHECKING:
    import sqlite3

__all__ = ["export", "overview"]

STATES = ("planned", "waiting", "sent", "refused", "expired")
"""What can become of a report; in the first two it is not done."""
_COLUMNS = ("id", "task", "window", "question", "body", "cost", "day", "url", "state", "reason", "attempts")


def overview(db: sqlite3.Connection, limits: Limits, born: float, now: float) -> dict[str, Any]:
    """What was asked, what became of the reports, what is left."""
    documents, reports = _documents(db), _reports(db)
    lost = [row for row in reports if row["state"] in ("refused", "expired")]
    return {
        "asked": [_asked(name, task) for name, task in documents.items()],
        "sent": [{name: row[name] for name in row if name not in ("body", "url")} for row in reports],
        "counts": {state: sum(row["state"] == state for row in reports) for state in STATES},
        "lost": {"reports": len(lost), "epsilon": sum(row["cost"] for row in lost)},
        "places": _places(db, limits, documents, now),
        "left": {
            "places": max(0, places_left(db, limits, born, now)),
            "next": next_place(born, now).isoformat(),
            "spent": number_of(sum(amount(row[0]) for row in db.execute("SELECT amount FROM spend"))),
        },
    }


def _asked(name: str, task: Any) -> dict[str, Any]:
    first = task["version"] == 1
    questions = task["questions"] if first else [each for part in task["questions"] for each in part]
    collector = task.get("collector") if first else task["collector"]["name"]
    texts = [question["text"] for question in questions]
    return {"task": name, "collector": collector, "subject": task["subject"], "questions": texts}


def _places(db: sqlite3.Connection, limits: Limits, documents: dict[str, Any], now: float) -> list[dict[str, Any]]:
    today, found = datetime.fromtimestamp(now, UTC).date(), []
    for number, name, began, told in db.execute(
        "SELECT number, name, began, most FROM place ORDER BY number"
    ).fetchall():
        tasks = [row[0] for row in db.execute("SELECT task FROM taken WHERE place = ? ORDER BY number", (number,))]
        named = [_asked(task, documents[task])["collector"] for task in tasks if task in documents]
        most, spent = min(most_for(db, name, limits), amount(told)), spent_in(db, number)
        kept = reserved_in(db, number, today)
        ends = datetime.fromtimestamp(began + YEAR, UTC).date().isoformat()
        amounts = {"most": most, "spent": spent, "reserved": kept, "left": max(0, most - spent - kept)}
        own = {"collector": named[-1] if named else None, "ends": ends, "over": now >= began + YEAR}
        found.append(own | {what: number_of(units) for what, units in amounts.items()})
    return found


def export(db: sqlite3.Connection, limits: Limits, born: float, now: float) -> dict[str, Any]:
    """Everything in the ledger but its key; what will be sent is not shown before it is done."""
    seen = overview(db, limits, born, now)
    spends = db.execute("SELECT task, amount, day FROM spend ORDER BY rowid").fetchall()
    return {
        "version": 2,
        **{name: seen[name] for name in ("places", "left", "lost")},
        "tasks": list(_documents(db).values()),
        "reports": _reports(db),
        "spent": [{"task": task, "epsilon": number_of(amount(units)), "day": day} for task, units, day in spends],
    }


def _documents(db: sqlite3.Connection) -> dict[str, Any]:
    return {name: json.loads(text) for name, text in db.execute("SELECT id, document FROM task ORDER BY rowid")}


def _reports(db: sqlite3.Connection) -> list[dict[str, Any]]:
    found = []
    for row in db.execute(f"SELECT {', '.join(_COLUMNS)} FROM report ORDER BY number").fetchall():
        told = dict(zip(_COLUMNS, row, strict=True))
        done = told["state"] not in ("planned", "waiting") and told["body"] is not None
        body = base64.b64encode(told["body"]).decode() if done else None
        found.append(told | {"body": body, "cost": number_of(amount(told["cost"]))})
    return found
