"""What a person may see of a ledger."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

from deniable_client.ledger.budgets import Limits, left_of, number_of
from deniable_client.ledger.memory import Drawn

if TYPE_CHECKING:
    import sqlite3

__all__ = ["export", "overview"]

_COLUMNS = ("id", "task", "window", "question", "body", "cost", "day", "url", "state", "reason", "attempts")


def overview(db: sqlite3.Connection, source: Drawn, limits: Limits) -> dict[str, Any]:
    """What was asked, what became of the reports, what is left."""
    documents = _documents(db)
    reports = _reports(db)
    names = {source.digest("subject", {"subject": task["subject"]}): task["subject"] for task in documents.values()}
    subjects, (spent, most) = left_of(db, limits)
    asked = [
        {
            "task": name,
            "collector": task.get("collector"),
            "subject": task["subject"],
            "questions": [question["text"] for question in task["questions"]],
            "expires": task["expires"],
        }
        for name, task in documents.items()
    ]
    counted = {state: sum(row["state"] == state for row in reports) for state in STATES}
    lost = [row for row in reports if row["state"] in ("refused", "expired")]
    return {
        "asked": asked,
        "sent": [{name: row[name] for name in row if name not in ("body", "url")} for row in reports],
        "counts": counted,
        "lost": {"reports": len(lost), "epsilon": sum(row["cost"] for row in lost)},
        "left": {
            "subjects": [
                {"subject": names.get(key, f"forgotten ({key.hex()[:8]})"), **_balance(*amounts)}
                for key, amounts in subjects.items()
            ],
            "lifetime": _balance(spent, most),
        },
    }


STATES = ("waiting", "sent", "refused", "expired")
"""What can become of a report."""


def export(db: sqlite3.Connection, source: Drawn, limits: Limits) -> dict[str, Any]:
    """Everything in the ledger but its key, and digests, which mean nothing without it."""
    spends = db.execute("SELECT task, amount, day FROM spend ORDER BY day, rowid")
    memos = db.execute("SELECT question, report FROM memo ORDER BY number")
    return {
        "version": 1,
        **{name: part for name, part in overview(db, source, limits).items() if name in ("left", "lost")},
        "tasks": list(_documents(db).values()),
        "reports": _reports(db),
        "remembered": [{"question": key, "report": base64.b64encode(report).decode()} for key, report in memos],
        "spent": [{"task": task, "epsilon": number_of(int(amount)), "day": day} for task, amount, day in spends],
    }


def _documents(db: sqlite3.Connection) -> dict[str, Any]:
    return {name: json.loads(text) for name, text in db.execute("SELECT id, document FROM task ORDER BY rowid")}


def _reports(db: sqlite3.Connection) -> list[dict[str, Any]]:
    found = []
    for row in db.execute(f"SELECT {', '.join(_COLUMNS)} FROM report ORDER BY day, rowid"):
        told = dict(zip(_COLUMNS, row, strict=True))
        found.append(told | {"body": base64.b64encode(told["body"]).decode(), "cost": number_of(int(told["cost"]))})
    return found


def _balance(spent: int, most: int) -> dict[str, float]:
    return {"spent": number_of(spent), "most": number_of(most), "left": number_of(max(0, most - spent))}
