"""What is published: windows that are over, once and for ever, never about fewer reports than the minimum batch.

Whatever can be computed from what is published is about a union of *groups*: the reports of one window and one
question, parted by strata such that every group has at least the minimum batch. Groups of one window and question do
not overlap, so every difference of unions is again a union of whole groups (docs/howto/operate.md has the argument).
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from deniable.collect.codec import dump, load
from deniable.collect.reports import Reports
from deniable.collect.tally import Tally
from deniable.errors import DeniableError, FormatError
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.entry import FREQUENCY, KEY_VALUE, MEAN, RELEASE
from deniable.mechanisms.registry import entry_of
from deniable.plan.prediction import FORGED, forged_gain, points
from deniable.run.questions import question_of
from deniable.service.ingest import Intake, first_day_after
from deniable.service.store.contract import Batch, Store, TaskRow
from deniable_client.task import Question, Task

__all__ = ["Window", "groups", "kept_reports", "publish", "tally_of", "windows"]

LEVEL = 0.95
"""Of the intervals."""
OPEN, WAITING, PUBLISHED, WITHHELD = "open", "waiting", "published", "withheld"
_AT_ONCE = 1 << 16
"""Reports that are looked at together."""
_LEEWAY = timedelta(minutes=5)
"""After the end of a window, for clocks of several collectors that differ."""


@dataclass(frozen=True, slots=True)
class Window:
    """A window of a task, and what may be told about it."""

    number: int
    state: str
    reports: int
    document: Mapping[str, Any] | None
    """What was published, if anything was."""

    def told(self, task: Task) -> dict[str, Any]:
        """As plain data: what was published, or how many reports there are."""
        if self.document is not None:
            return dict(self.document)
        return _head(task, self.number) | {"state": self.state, "reports": self.reports}


def windows(store: Store, row: TaskRow, intake: Intake, now: datetime) -> list[Window]:
    """All windows that have begun; those that are over are published now, if they were not before."""
    task, found = intake.task, []
    if row.state == "draft":
        return []
    tallies = store.tallies(row.id)
    counts: dict[int, int] = {}
    for batch, tally in tallies.items():
        counts[batch.window] = counts.get(batch.window, 0) + tally.n
    begun = min(task.count, (now.date() - task.opens).days // task.days + 1)
    for number in range(max(begun, 1 + max(counts, default=-1))):
        if _over(row, task, number, now) or store.release(row.id, number) is not None:  # also if clocks went back
            document = json.loads(_published(store, row, intake, number))
            found.append(Window(number, document["state"], document["reports"], document))
        else:
            found.append(Window(number, OPEN, counts.get(number, 0), None))
    return found


def publish(store: Store, row: TaskRow, intake: Intake, now: datetime) -> list[int]:
    """Publish the windows that are over and were not published; their numbers."""
    task = intake.task
    begun = min(task.count, (now.date() - task.opens).days // task.days + 1)
    todo = [n for n in range(begun) if _over(row, task, n, now) and store.release(row.id, n) is None]
    for number in todo:
        _published(store, row, intake, number)
    return todo


def _over(row: TaskRow, task: Task, window: int, now: datetime) -> bool:
    """Whether no report can come any more: the task is closed, or the window's last day is over for every clock."""
    return row.state == "closed" or (now - _LEEWAY).date() >= first_day_after(task, window)


def _published(store: Store, row: TaskRow, intake: Intake, window: int) -> bytes:
    """What is published about a window: the first document that ever was."""
    known = store.release(row.id, window)
    if known is not None:
        return known
    store.seal(row.id, window)
    document = _release(intake, window, store.tallies(row.id))
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return store.put_release(row.id, window, text.encode())


# ---- groups


@dataclass(frozen=True, slots=True)
class Group:
    """Reports that are told about together: some combinations of strata of one question in one window."""

    strata: tuple[tuple[int, ...], ...]
    tally: Tally


def groups(cells: Mapping[tuple[int, ...], Tally], least: int) -> list[Group]:
    """Part the reports of a question into groups of at least so many each; none if there are fewer in all.

    Combinations of strata that have enough stand alone. The others are put together with those that agree with them in
    the first strata, as far as needed; what is still too small joins the smallest group.
    """
    leaves = [Group((strata,), tally) for strata, tally in sorted(cells.items()) if tally.n]
    depth = max((len(strata) for strata in cells), default=0)
    done, rest = _parted(leaves, 0, depth, least)
    if rest is None:
        return done
    if not done:
        return []
    smallest = min(range(len(done)), key=lambda i: done[i].tally.n)
    done[smallest] = _joined([done[smallest], rest])
    return sorted(done, key=lambda group: group.strata)


def _parted(leaves: Sequence[Group], level: int, depth: int, least: int) -> tuple[list[Group], Group | None]:
    """Groups that are large enough, and what is left over of them, too small to stand alone."""
    done: list[Group] = []
    small: list[Group] = []
    if level == depth:
        done, small = [g for g in leaves if g.tally.n >= least], [g for g in leaves if g.tally.n < least]
    else:
        for value in sorted({leaf.strata[0][level] for leaf in leaves}):
            below = [leaf for leaf in leaves if leaf.strata[0][level] == value]
            found, rest = _parted(below, level + 1, depth, least)
            done += found
            small += [] if rest is None else [rest]
    if not small:
        return done, None
    joined = _joined(small)
    return ([*done, joined], None) if joined.tally.n >= least else (done, joined)


def _joined(parts: Sequence[Group]) -> Group:
    strata = tuple(sorted(strata for part in parts for strata in part.strata))
    return Group(strata, sum((part.tally for part in parts[1:]), parts[0].tally))


# ---- documents


def _head(task: Task, window: int) -> dict[str, Any]:
    start = task.opens + timedelta(window * task.days)
    last = start + timedelta(task.days - 1)
    return {"task": task.id, "window": window, "from": start.isoformat(), "to": last.isoformat()}


def _release(intake: Intake, window: int, tallies: Mapping[Batch, Tally]) -> dict[str, Any]:
    task = intake.task
    of_window = {batch: tally for batch, tally in tallies.items() if batch.window == window}
    questions = []
    for number, (question, mechanism) in enumerate(zip(task.questions, intake.mechanisms, strict=True)):
        cells = {batch.strata: tally for batch, tally in of_window.items() if batch.question == number}
        questions.append(_told(task, question, mechanism, cells))
    told = any(question["state"] == PUBLISHED for question in questions)
    reports = sum(tally.n for tally in of_window.values())
    state = PUBLISHED if told else WITHHELD
    return _head(task, window) | {
        "state": state,
        "min_batch": task.min_batch,
        "reports": reports,
        "questions": questions,
    }


def _told(task: Task, question: Question, m: Mechanism, cells: Mapping[tuple[int, ...], Tally]) -> dict[str, Any]:
    """Everything about one question in one window."""
    parts = groups(cells, task.min_batch)
    reports = sum(tally.n for tally in cells.values())
    found: dict[str, Any] = {"question": question.name, "text": question.text, "reports": reports}
    if not parts:
        why = f"{reports} reports are fewer than the minimum batch of {task.min_batch}"
        return found | {"state": WITHHELD, "why": why}
    found |= {"state": PUBLISHED, **_estimated(question, m, _joined(parts).tally)}
    if task.strata:
        found["groups"] = [
            {"strata": list(_named(task, group)), "reports": group.tally.n, **_estimated(question, m, group.tally)}
            for group in parts
        ]
    return found | {"privacy": certificate(task, question, m), "forged": forged(m)}


def _named(task: Task, group: Group) -> Iterator[dict[str, str]]:
    for strata in group.strata:
        yield {name: values[number] for (name, values), number in zip(task.strata.items(), strata, strict=True)}


def _estimated(question: Question, m: Mechanism, tally: Tally) -> dict[str, Any]:
    """The estimate with its intervals, or why there is none, and the tally as a file."""
    file = {"tally": b64encode(dump(tally)).decode()}
    try:
        shown = question_of(m.name).show(m.estimate(tally), LEVEL, "reporters", False)
    except DeniableError as error:
        return {"estimate": None, "why": f"{error}"} | file
    document = shown.document()
    if question.labels is not None and len(question.labels) == len(document["labels"]):
        document["labels"] = list(question.labels)
    return {"estimate": document} | file


def certificate(task: Task, question: Question, m: Mechanism) -> dict[str, Any]:
    """What was promised to those who answered, and the proof: the exact likelihood ratio with its witness."""
    proof = m.proof
    ratio = None if proof.ratio is None else f"{proof.ratio.numerator}/{proof.ratio.denominator}"
    return {
        "task": task.id,
        "question": question.name,
        "mechanism": m.name,
        "epsilon": m.epsilon,
        "epsilon_exact": m.epsilon_exact,
        "ratio": ratio,
        "method": proof.method,
        "argument": proof.argument,
        "witness": str(proof.witness),
        "vetted": m.vetted,
        "protection": m.protection.document(),
        "text": m.protection.text,
        "budget": dict(task.budget),
        "memory": task.memory,
    }


def _points(gain: float) -> str:
    return points(gain).replace(" pt", " percentage points")


_FORGED: Mapping[str, Callable[[float], str]] = {
    FREQUENCY: lambda gain: f"raise the share of one answer by at most {_points(gain)}",
    KEY_VALUE: lambda gain: f"raise the frequency of one key by at most {_points(gain)}",
    MEAN: lambda gain: f"move the mean by at most {gain:.3g}",
    RELEASE: lambda gain: f"add at most {gain:.3g} to the mean loss",
}
"""What forged reports can do, by what is asked for."""


def forged(m: Mechanism) -> dict[str, Any]:
    """By how much a hundredth of forged reports can change what is asked for, at most."""
    entry = entry_of(m.name)
    pull = entry.traits.pull
    if pull is None:
        return {"share": FORGED, "gain": None, "text": "How much forged reports can change is not known."}
    gain = float(forged_gain(pull(m, 1)))
    text = f"{100 * FORGED:g} % of forged reports can {_FORGED[entry.question](gain)}."
    return {"share": FORGED, "gain": gain, "text": text}


def tally_of(found: Sequence[Window], question: str) -> Tally | None:
    """What was published of a question, all windows together; None if nothing was."""
    total: Tally | None = None
    for window in found:
        for told in window.document["questions"] if window.document is not None else ():
            if told["question"] == question and told["state"] == PUBLISHED:
                part = load(b64decode(told["tally"]))
                if not isinstance(part, Tally):
                    raise FormatError("what is published about a window has no tally in it.")
                total = part if total is None else total + part
    return total


def kept_reports(store: Store, intake: Intake, found: Sequence[Window], question: str) -> Iterator[tuple[int, Reports]]:
    """The reports that were kept of a question, with their window, some at a time; of windows that are published.

    Strata are left out: those of few people are in no result either.
    """
    number = next(i for i, known in enumerate(intake.task.questions) if known.name == question)
    m, head = intake.mechanisms[number], intake.head
    told = {
        window.number
        for window in found
        for part in (window.document or {"questions": ()})["questions"]
        if part["question"] == question and part["state"] == PUBLISHED
    }
    width = m.bulk.row_bytes
    for batch in sorted(store.tallies(intake.task.id)):
        if batch.window in told and batch.question == number:
            bodies = iter(store.reports(intake.task.id, batch))
            while rows := [body[head : head + width] for body in islice(bodies, _AT_ONCE)]:
                yield batch.window, Reports.from_rows(m.design, m.fields, rows, simulated=False)
