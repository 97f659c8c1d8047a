"""What was spent and what may still be, in exact sums of decimal numbers, and what a person may see of it."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from deniable_client.errors import BudgetError, LedgerError, require
from deniable_client.ledger.memory import Drawn
from deniable_client.questions import UNITS, amount_of
from deniable_client.task import Task

if TYPE_CHECKING:
    import sqlite3

__all__ = ["Limits", "export", "number_of", "overview", "spend"]


class Limits:
    """The most that a device spends on one subject and in all, whatever a server says."""

    def __init__(self, subject: float, lifetime: float) -> None:
        for name, given in (("subject", subject), ("lifetime", lifetime)):
            number = isinstance(given, int | float) and not isinstance(given, bool)
            require(number and 0 <= given <= 1000, name, given, "a number from 0 to 1000")
        self.subject, self.lifetime = amount_of(subject), amount_of(lifetime)


def spend(db: sqlite3.Connection, task: Task, subject: bytes, limits: Limits, day: str) -> None:
    """Write down what one report of a task costs; `BudgetError` if that is more than there is left."""
    cost = amount_of(task.epsilon)
    of_task = _total(db.execute("SELECT amount FROM spend WHERE task = ?", (task.id,)))
    of_subject = _total(db.execute("SELECT amount FROM spend WHERE subject = ?", (subject,)))
    in_all = _total(db.execute("SELECT amount FROM spend"))
    most_subject, most_lifetime = most_of(db, subject, limits)
    for what, spent, most in (
        ("this task", of_task, amount_of(task.budget["task"])),
        (f"the subject {task.subject!r}", of_subject, min(most_subject, amount_of(task.budget["subject"]))),
        ("everything together", in_all, min(most_lifetime, amount_of(task.budget["lifetime"]))),
    ):
        if spent + cost > most:
            raise BudgetError(
                f"this answer costs epsilon {_show(cost)}, and of the {_show(most)} for {what} "
                f"{_show(spent)} is spent already; nothing was spent or sent.",
                "What was spent does not come back; this device stays silent here.",
            )
    db.execute("INSERT INTO spend VALUES (?, ?, ?, ?)", (task.id, subject, str(cost), day))


def most_of(db: sqlite3.Connection, subject: bytes, limits: Limits) -> tuple[int, int]:
    """The most for a subject and in all: the device's own limits, and what tasks promised that were answered before."""
    of_subject = db.execute("SELECT most_subject FROM promise WHERE subject = ?", (subject,))
    in_all = db.execute("SELECT most_lifetime FROM promise")
    return min([limits.subject, *_amounts(of_subject)]), min([limits.lifetime, *_amounts(in_all)])


def left_of(db: sqlite3.Connection, limits: Limits) -> tuple[dict[bytes, tuple[int, int]], tuple[int, int]]:
    """What was spent and what is the most, for each subject and in all."""
    spent: dict[bytes, int] = {row[0]: 0 for row in db.execute("SELECT subject FROM promise")}
    for subject, amount in db.execute("SELECT subject, amount FROM spend"):
        spent[subject] = spent.get(subject, 0) + _amount(amount)
    in_all = min([limits.lifetime, *_amounts(db.execute("SELECT most_lifetime FROM promise"))])
    return {subject: (total, most_of(db, subject, limits)[0]) for subject, total in spent.items()}, (
        sum(spent.values()),
        in_all,
    )


def number_of(amount: int) -> float:
    """An amount as a number for people and documents."""
    return float(Decimal(amount).scaleb(-UNITS))


def _total(rows: Iterable[tuple[object]]) -> int:
    return sum(_amounts(rows))


def _amounts(rows: Iterable[tuple[object]]) -> list[int]:
    return [_amount(row[0]) for row in rows]


def _amount(text: object) -> int:
    if not isinstance(text, str) or not text.isdecimal():
        raise LedgerError("the ledger is damaged: an amount in it is not a number; nothing was spent or sent.")
    return int(text)


def _show(amount: int) -> str:
    return f"{number_of(amount):.12g}"


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
