"""Places: a device's account for each collector, in exact sums of decimal numbers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from deniable_client.canonical import digest
from deniable_client.errors import BudgetError, LedgerError, require
from deniable_client.questions import UNITS, amount_of
from deniable_client.task import Task

if TYPE_CHECKING:
    import sqlite3

__all__ = [
    "YEAR",
    "Limits",
    "amount",
    "most_for",
    "next_place",
    "number_of",
    "place_for",
    "place_name",
    "places_left",
    "reserve",
    "reserved_in",
    "spent_in",
]

QUARTER = 7_889_400
"""Seconds of a quarter of a year of 365.25 days."""
YEAR = 4 * QUARTER


class Limits:
    """What a device gives whatever a server says: the most for one collector in a year, and places at the beginning."""

    def __init__(self, collector: float, places: int) -> None:
        number = isinstance(collector, int | float) and not isinstance(collector, bool)
        require(number and 0 <= collector <= 1000, "collector", collector, "a number from 0 to 1000")
        whole = isinstance(places, int) and not isinstance(places, bool)
        require(whole and 0 <= places <= 1000, "places", places, "a whole number from 0 to 1000")
        self.collector, self.places = amount_of(collector), places


@dataclass(frozen=True, slots=True)
class Place:
    """An account for one collector and one year."""

    number: int
    name: str
    began: int
    told: int
    """The smallest budget that its collector ever gave."""


def place_name(task: Task, url: str | None) -> str:
    """Whose place it is: the collector's key and the address that it signed, or that the person answers to."""
    if task.key is None:
        return digest({"task": task.id})
    return digest({"collector": task.key, "url": task.url or url})


def place_for(db: sqlite3.Connection, name: str, now: float) -> Place | None:
    """The place that has not ended, if there is one."""
    rows = db.execute("SELECT number, name, began, most FROM place WHERE name = ? ORDER BY number", (name,)).fetchall()
    found = [Place(row[0], row[1], row[2], amount(row[3])) for row in rows if now < row[2] + YEAR]
    return found[-1] if found else None


def places_left(db: sqlite3.Connection, limits: Limits, born: float, now: float) -> int:
    """Places that are still to be given: those of the beginning, one for each quarter since, and what was allowed."""
    given: int = db.execute("SELECT count(*) FROM place").fetchone()[0]
    more = sum(amount(row[0]) for row in db.execute("SELECT amount FROM allowed WHERE name = ''"))
    return limits.places + more + max(0, int(now - born)) // QUARTER - given


def next_place(born: float, now: float) -> date:
    """The day on which there is one place more."""
    age = max(0, int(now - born))
    return datetime.fromtimestamp(born + (age // QUARTER + 1) * QUARTER, UTC).date()


def reserve(
    db: sqlite3.Connection, task: Task, place: Place | None, name: str, limits: Limits, windows: int, today: date
) -> int:
    """The smallest budget of the collector from now on; `BudgetError` unless all these windows fit into its place."""
    need, told = windows * amount_of(task.epsilon), amount_of(task.most)
    least = told if place is None else min(told, place.told)
    most = min(most_for(db, name, limits), least)
    used = 0 if place is None else spent_in(db, place.number) + reserved_in(db, place.number, today)
    if task.version == 1 and told < need:
        what = f"this task asks for epsilon {show_amount(need)} in all, and says at most {show_amount(told)}"
        raise BudgetError(
            f"{what}; nothing was spent or sent.", "Ask its collector for a task that says what it costs."
        )
    if used + need > most:
        whose = "this task" if task.version == 1 else "this collector"
        raise BudgetError(
            f"this task costs epsilon {show_amount(need)}, and of the {show_amount(most)} for {whose} in a year "
            f"{show_amount(used)} is spent or reserved; nothing was spent or sent.",
            "What was spent does not come back before the year is over; the person can allow more.",
        )
    return least


def most_for(db: sqlite3.Connection, name: str, limits: Limits) -> int:
    """The most that is spent in a place: the device's limit, and what the person allowed beyond it."""
    extra = db.execute("SELECT amount FROM allowed WHERE name = ?", (name,))
    return limits.collector + _total(extra)


def spent_in(db: sqlite3.Connection, place: int) -> int:
    """What the windows cost that were opened."""
    return _total(db.execute("SELECT amount FROM spend WHERE place = ?", (place,)))


def reserved_in(db: sqlite3.Connection, place: int, today: date) -> int:
    """What the windows will cost that are not over and not opened yet."""
    total = 0
    rows_of = "SELECT task, epsilon, opens, days, first, last FROM taken WHERE place = ? AND key IS NOT NULL"
    rows = db.execute(rows_of, (place,)).fetchall()
    for task, epsilon, opens, days, first, last in rows:
        now = max(first, (today.toordinal() - opens) // days)
        opened = {row[0] for row in db.execute("SELECT window FROM opened WHERE task = ?", (task,))}
        total += amount(epsilon) * sum(window not in opened for window in range(now, last + 1))
    return total


def number_of(units: int) -> float:
    """An amount as a number for people and documents."""
    return float(Decimal(units).scaleb(-UNITS))


def show_amount(units: int) -> str:
    """An amount in a sentence."""
    return f"{number_of(units):.12g}"


def amount(text: object) -> int:
    """An amount as it is stored."""
    if not isinstance(text, str) or not text.isdecimal():
        raise LedgerError("the ledger is damaged: an amount in it is not a number; nothing was spent or sent.")
    return int(text)


def _total(rows: Iterable[tuple[object]]) -> int:
    return sum(amount(row[0]) for row in rows)
