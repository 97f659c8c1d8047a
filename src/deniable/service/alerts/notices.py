"""What is worth telling about a task: windows that were published or withheld, too few or refused reports. Counts only.

Nothing here is about fewer reports than the minimum batch: of a window that was withheld it is told that it was, and
never how many reports it had.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from deniable.service.ingest import NEVER
from deniable.service.release import OPEN, PUBLISHED, Window
from deniable.service.texts.catalogue import Texts, texts
from deniable_client.task import Task

__all__ = ["Notice", "alerts_of", "notices"]

SHARE, LEAST = 0.01, 10
"""Refused reports are told of if they are more than this share of all that came, and at least so many."""
AHEAD = timedelta(2)
"""How long before the end of a window it is told that it will have too few reports."""
_RECENT = timedelta(30)
"""Windows that ended longer ago are not told of: whoever adds an address need not hear of years."""


@dataclass(frozen=True, slots=True)
class Notice:
    """Something to tell: what happened to which task, under a name that it has once and for ever."""

    name: str
    document: Mapping[str, Any]


def _refused(counted: int, rejected: Mapping[str, int]) -> int:
    """How many reports were refused, if that is a number to tell of; else 0."""
    count = sum(rejected.values())
    return count if count >= LEAST and count > SHARE * (count + counted) else 0


def notices(task: Task, windows: Sequence[Window], rejected: Mapping[str, int], now: datetime) -> list[Notice]:
    """All that can be told of a task now, oldest first; who tells knows which of them were told before."""
    found = []
    for window in windows:
        if window.document is None or date.fromisoformat(window.document["to"]) < (now - _RECENT).date():
            continue
        told = [
            {"question": part["question"], "state": part["state"]}
            | ({"reports": part["reports"]} if part["state"] == PUBLISHED else {})
            for part in window.document["questions"]
        ]
        days = {"window": window.number, "from": window.document["from"], "to": window.document["to"]}
        found.append(_notice(task, window.state, f"window-{window.number}", **days, questions=told))
    count = _refused(sum(window.reports for window in windows), rejected)
    if count:
        never = sum(n for reason, n in rejected.items() if reason in NEVER)
        size = len(str(count))  # told again when there are ten times as many
        found.append(_notice(task, "refused", f"refused-{size}", refused=count, impossible=never))
    return found


def _notice(task: Task, event: str, name: str, **more: Any) -> Notice:
    head = {"version": 1, "event": event, "task": task.id, "min_batch": task.min_batch}
    return Notice(f"{task.id}/{name}", head | more)


def alerts_of(
    task: Task,
    windows: Sequence[Window],
    state: str,
    rejected: Mapping[str, int],
    now: datetime,
    say: Texts | None = None,
) -> list[tuple[str, str]]:
    """What the page of a task says first: kinds and sentences (in English, or by `say`), none if all is well."""
    say = say or texts("desk", "en")
    found = []
    last = windows[-1] if windows else None
    if last is not None and last.state == OPEN and state == "open":
        found += _too_few(task, last, now, say)
    withheld = [window.number + 1 for window in windows if window.document is not None and window.state != PUBLISHED]
    if withheld:
        named = ", ".join(map(str, withheld))
        found.append(("withheld", say("alert.withheld", numbers=named)))
    count = _refused(sum(window.reports for window in windows), rejected)
    if count:
        found.append(("refused", say("alert.refused", n=count)))
    return found


def _too_few(task: Task, window: Window, now: datetime, say: Texts) -> list[tuple[str, str]]:
    """Whether a window that is about to end will have fewer reports than the minimum batch, if they go on as before."""
    start = datetime.combine(task.opens + timedelta(window.number * task.days), datetime.min.time(), now.tzinfo)
    end = start + timedelta(task.days)
    if not end - AHEAD <= now < end or now <= start:
        return []
    expected = window.reports * (end - start) / (now - start)
    shares = [question.share for question in task.questions]
    if expected * min(shares) >= task.min_batch * sum(shares):  # of the question that the fewest are dealt
        return []
    last = end.date() - timedelta(1)
    return [("few", say("alert.few", n=window.number + 1, date=last, least=task.min_batch))]
