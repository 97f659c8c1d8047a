"""What is published: windows that are over, once and for ever, never about fewer reports than the minimum batch.

Whatever can be computed from what is published is about a union of *groups*: the reports of one window and one
question, parted by strata such that every group has at least the minimum batch. A draw of a device is counted in one
release, so groups do not overlap, and every difference of unions is again a union of whole groups. Who knows all other
reports of a group can still compute the one that is left (docs/howto/operate.md has the argument, and its limits).
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import product
from typing import Any

from deniable.collect.codec import dump, load
from deniable.collect.reports import Reports
from deniable.collect.tally import Tally
from deniable.errors import DeniableError, FormatError
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.registry import entry_of
from deniable.plan.prediction import FORGED, forged_gain
from deniable.plan.survey import AskedPart
from deniable.run.joint import joint_document
from deniable.run.questions import question_of
from deniable.service.groups import Name, group_of, grouped, groups, in_words, shared_names
from deniable.service.ingest import Intake, first_day_after
from deniable.service.store.contract import Store, TaskRow
from deniable.service.tasks import counted_as
from deniable_client.task import Question, Task
from deniable_client.telling import times

__all__ = ["Window", "asked_part", "copies", "kept_reports", "publish", "tally_in", "tally_of", "voided", "windows"]

LEVEL = 0.95
"""Of the intervals."""
READERS = (
    "Each report is counted in one release, in a group of at least the minimum batch; how many of its reports are "
    "forged nobody knows. Who knows or forged all other reports of a group can compute the one that is left: then this "
    "promise is what protects the answer, and nothing else. Taking part is not hidden."
)
"""What the minimum batch promises against those who read all that is published, and what it does not."""
OPEN, PUBLISHED, WITHHELD = "open", "published", "withheld"
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
    return store.put_release(row.id, window, _bytes(_release(store, intake, window)))


def _bytes(document: Mapping[str, Any]) -> bytes:
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


# ---- once


def copies(task: Task) -> bool:
    """Whether a device may send one draw again: in another window, or for another task that asks the same question.

    Ids differ from window to window, so a collector cannot see copies.
    """
    return task.memory != "fresh"


def _counted_elsewhere(store: Store, task: Task, window: int, question: Question) -> str | None:
    """Why a question whose draws may be sent again is not published here; None if this is its one release."""
    if not copies(task):
        return None
    holder = store.claimed(question.key)
    if holder is None:
        holder = store.claim(question.key, *(_published_first(store, question.key) or (task.id, window)))
    if holder == (task.id, window):
        return None
    where = "this task" if holder[0] == task.id else f"the task {holder[0][:12]}"
    return (
        f"devices send the same report for this question again, and window {holder[1] + 1} of {where} is published, or "
        "may have been: a report is counted in one release"
    )


def _published_first(store: Store, key: str) -> tuple[str, int] | None:
    """The first release of a question that there is, by an older program or before a restore; None if there is none."""
    for row in store.tasks():
        task = Intake(row.document).task
        names = {question.name for question in task.questions if question.key == key}
        for window in range(task.count) if names and copies(task) else ():
            told = json.loads(store.release(row.id, window) or b'{"questions": []}')["questions"]
            if any(part["question"] in names and part["state"] == PUBLISHED for part in told):
                return row.id, window
    return None


# ---- documents


def _head(task: Task, window: int) -> dict[str, Any]:
    start = task.opens + timedelta(window * task.days)
    last = start + timedelta(task.days - 1)
    return {"task": task.id, "window": window, "from": start.isoformat(), "to": last.isoformat()}


def _release(store: Store, intake: Intake, window: int) -> dict[str, Any]:
    task, questions = intake.task, []
    tallies = {batch: tally for batch, tally in store.tallies(task.id).items() if batch.window == window}
    every = [
        {batch.strata: tally for batch, tally in tallies.items() if batch.question == number}
        for number in range(len(task.questions))
    ]
    whys = [_why_not(store, task, window, *each) for each in zip(task.questions, every, strict=True)]
    named = _shared(task, [cells for cells, why in zip(every, whys, strict=True) if not why])
    for question, mechanism, cells, why in zip(task.questions, intake.mechanisms, every, whys, strict=True):
        reports = sum(tally.n for tally in cells.values())
        questions.append(_withheld(question, reports, why) if why else _told(task, question, mechanism, cells, named))
    whole = _whole(task, window, questions)
    return whole | {"survey": _survey(task, intake.mechanisms, questions)} if _asks_together(task) else whole


def _why_not(store: Store, task: Task, window: int, question: Question, cells: Mapping[Name, Tally]) -> str:
    """Why nothing is told about a question; empty if something is."""
    reports = sum(tally.n for tally in cells.values())
    if reports >= task.min_batch:
        return _counted_elsewhere(store, task, window, question) or ""
    return f"{reports} reports are fewer than the minimum batch of {task.min_batch}"


def _shared(task: Task, every: Sequence[Mapping[Name, Tally]]) -> list[tuple[Name, ...]] | None:
    """The groups of all questions, where some are asked together; None where each question has its own."""
    if not (_asks_together(task) and task.strata and every):
        return None
    return shared_names(every, task.min_batch, [len(values) for values in task.strata.values()])


def _asks_together(task: Task) -> bool:
    """Whether some questions are asked together: then releases tell of each question and of tables of two, too."""
    return any(question.together for question in task.questions)


def _survey(task: Task, made: Sequence[Mechanism], told: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What the published parts tell together, of all who answered and of each group.

    All of it is computed from the tallies that are published anyway, whole groups of at least the minimum batch.
    """
    parts = [asked_part(question, m) for question, m in zip(task.questions, made, strict=True)]
    kept = {i: part for i, part in enumerate(told) if part["state"] == PUBLISHED}
    found = joint_document(parts, {i: tally_in(part) for i, part in kept.items()}, level=LEVEL)
    if not task.strata:
        return found
    each = []
    for number, first in enumerate(next(iter(kept.values()))["groups"] if kept else ()):  # the same in all parts
        same = {i: tally_in(part["groups"][number]) for i, part in kept.items()}
        own = joint_document(parts, same, level=LEVEL)
        each.append({"name": first["name"], "strata": first["strata"], **own})
    return found | {"groups": each}


def asked_part(question: Question, m: Mechanism) -> AskedPart:
    """A part of a task with its questions."""
    if not question.together:
        return AskedPart((question.name,), (question.labels or (),), m)
    return AskedPart(tuple(one.name for one in question.together), tuple(one.labels for one in question.together), m)


def tally_in(part: Mapping[str, Any]) -> Tally:
    """The tally that was published with an estimate."""
    found = load(b64decode(part["tally"]))
    if not isinstance(found, Tally):
        raise FormatError("what is published has no tally in it.")
    return found


def voided(task: Task, window: int, reports: Sequence[int], why: str) -> bytes:
    """The document of a window of which nothing will ever be published; `reports`: those of each question."""
    parts = zip(task.questions, reports, strict=True)
    return _bytes(_whole(task, window, [_withheld(question, n, why) for question, n in parts]))


def _whole(task: Task, window: int, questions: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    told = any(question["state"] == PUBLISHED for question in questions)
    return _head(task, window) | {
        "state": PUBLISHED if told else WITHHELD,
        "min_batch": task.min_batch,
        "reports": sum(question["reports"] for question in questions),
        "questions": list(questions),
    }


def _withheld(question: Question, reports: int, why: str) -> dict[str, Any]:
    known = {"question": question.name, "text": question.text, "reports": reports}
    return known | {"state": WITHHELD, "why": why}


def _told(
    task: Task,
    question: Question,
    m: Mechanism,
    cells: Mapping[Name, Tally],
    shared: Sequence[tuple[Name, ...]] | None = None,
) -> dict[str, Any]:
    """Everything about one question in one window that has the minimum batch."""
    values = list(task.strata.values())
    own = shared is None
    parts = groups(cells, task.min_batch, [len(each) for each in values]) if own else grouped(cells, shared or ())
    total = sum((group.tally for group in parts[1:]), parts[0].tally)
    found: dict[str, Any] = {"question": question.name, "text": question.text, "reports": total.n}
    found |= {"state": PUBLISHED, **_estimated(question, m, total)}
    if task.strata:
        named = [group.names for group in parts]
        found["groups"] = [
            {
                "name": in_words(group.names, named, values),
                "strata": [_spelled(task, name) for name in group.names],
                "reports": group.tally.n,
                **_estimated(question, m, group.tally),
            }
            for group in parts
        ]
    if task.version > 1 and (counted := counted_as(question)):
        found["none"] = counted
    return found | {"privacy": certificate(task, question, m), "forged": forged(m)}


def _spelled(task: Task, name: Name) -> dict[str, str]:
    return {stratum: values[number] for (stratum, values), number in zip(task.strata.items(), name, strict=False)}


def _name(task: Task, spelled: Mapping[str, str]) -> Name:
    """The name that was published; older programs gave a value of every stratum."""
    return tuple(task.strata[stratum].index(spelled[stratum]) for stratum in list(task.strata)[: len(spelled)])


def _estimated(question: Question, m: Mechanism, tally: Tally) -> dict[str, Any]:
    """The estimate with its intervals, or why there is none, and the tally as a file."""
    file = {"tally": b64encode(dump(tally)).decode()}
    try:
        shown = question_of(m.name).show(m.estimate(tally), LEVEL, "reporters", False)
    except DeniableError as error:
        return {"estimate": None, "why": f"{error}"} | file
    document = shown.document()
    document["labels"] = list(_answers_of(question, document["labels"]))
    return {"estimate": document} | file


def _answers_of(question: Question, labels: Sequence[str]) -> Sequence[str]:
    """What people read for the answers of an estimate: the task's words in place of numbers, where only it has some."""
    numbers = [str(i) for i in range(len(labels))]
    if question.together:
        cells = [", ".join(each) for each in product(*(one.labels for one in question.together))]
        apart = [f"{one.name}: {label}" for one in question.together for label in one.labels]
        by_question = question.explanation.design.kernel.kind == "box"
        return apart if by_question else cells if list(labels) == numbers else labels
    own = question.labels
    return own if own is not None and list(labels) == numbers and len(own) == len(labels) else labels


def _device(task: Task, question: Question) -> str:
    """What all reports of a device tell together, and what its silences tell (docs/protocol.md, section 0)."""
    if task.version == 1:
        return "A task of version 1: devices could stay silent for reasons that depend on the answer."
    told = question.explanation.over(task.count)
    one = "a protected answer" if question.explanation.disclosed else "one answer"
    sent = "its report" if task.count == 1 else f"its {task.count} reports together"
    return (
        f"Whatever else a device was asked, by whomever: {sent} for this question, and whether and when something was "
        f"sent, are at most {times(told.ratio)} times as likely for {one}, or none, as for another."
    )


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
        "device": _device(task, question),
        "memory": task.memory,
        "readers": READERS,
    }


def forged(m: Mechanism) -> dict[str, Any]:
    """By how much a hundredth of forged reports can change what is asked for, at most."""
    pull = entry_of(m.name).traits.pull
    if pull is None:
        return {"share": FORGED, "gain": None, "text": "How much forged reports can change is not known."}
    gain = float(forged_gain(pull(m, 1)))
    text = f"{100 * FORGED:g} % of forged reports can {question_of(m.name).forged(gain)}."
    return {"share": FORGED, "gain": gain, "text": text}


def tally_of(found: Sequence[Window], question: str) -> Tally | None:
    """What was published of a question, all windows together; None if nothing was."""
    total: Tally | None = None
    for _, told in _published_parts(found, question):
        part = load(b64decode(told["tally"]))
        if not isinstance(part, Tally):
            raise FormatError("what is published about a window has no tally in it.")
        total = part if total is None else total + part
    return total


def _published_parts(found: Sequence[Window], question: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The windows in which a question is published, by number, and what is told there."""
    for window in found:
        for told in window.document["questions"] if window.document is not None else ():
            if told["question"] == question and told["state"] == PUBLISHED:
                yield window.number, told


def kept_reports(store: Store, intake: Intake, found: Sequence[Window], question: str) -> Iterator[tuple[int, Reports]]:
    """The reports that were kept of a question, with their window: one lot for each group that is published.

    In the order of their bytes, without strata: a lot tells nothing that its tally does not tell. Reports that are not
    those of the published tally (a copy that was restored lacks some) are refused: the difference would be about few.
    """
    number = next(i for i, known in enumerate(intake.task.questions) if known.name == question)
    m, head = intake.mechanisms[number], intake.head
    batches = [batch for batch in sorted(store.tallies(intake.task.id)) if batch.question == number]
    for window, part in _published_parts(found, question):
        told = part.get("groups", [part])
        named = [[_name(intake.task, spelled) for spelled in group.get("strata", [{}])] for group in told]
        lots: list[list[bytes]] = [[] for _ in told]
        for batch in batches:
            place = group_of(batch.strata, named) if batch.window == window else None
            if place is not None:
                bodies = store.reports(intake.task.id, batch)
                lots[place] += [body[head : head + m.bulk.row_bytes] for body in bodies]
        for group, rows in zip(told, lots, strict=True):
            if rows:  # else they were erased in time
                reports = Reports.from_rows(m.design, m.fields, sorted(rows), simulated=False)
                _refuse_others(m, reports, group, window)
                yield window, reports


def _refuse_others(m: Mechanism, reports: Reports, group: Mapping[str, Any], window: int) -> None:
    if dump(m.tally(reports)) != b64decode(group["tally"]):
        raise FormatError(
            f"{len(reports)} reports are kept of a group of window {window + 1}; they are not the {group['reports']} "
            "that were published, so they are not written.",
            "A restored copy lacks what came after it was made. The tally is as it was: --what tally.",
        )
