"""Protocols over rounds: each round is a task, and the next one is made of the published tallies of those before.

Each person is to answer in one round: whom a round is shown to is for the collector to say. A device that answers in
several pays for each of them. Nothing is kept beside the tasks: a protocol holds no state, and its rounds are known by
their designs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from deniable.collect.tally import Tally
from deniable.errors import ParameterError, require
from deniable.estimate.result import Estimate
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.protocol import Protocol
from deniable.service.access.identity import Identity
from deniable.service.ingest import intake_of
from deniable.service.release import tally_of, windows
from deniable.service.store.contract import Store
from deniable.service.tasks import Asked, Terms, new_task
from deniable_client.task import Task

__all__ = ["Round", "next_round", "round_task"]


@dataclass(frozen=True, slots=True)
class Round:
    """What comes next: a question to a share of the people."""

    number: int
    of: int
    name: str
    share: float
    mechanism: Mechanism


def next_round(protocol: Protocol[Any], store: Store, before: Sequence[str], now: datetime) -> Round | Estimate:
    """The next round after the tasks `before`, in order; or the estimate, when nothing is left to ask."""
    name, of = protocol.name, len(protocol.shares)
    hint = "Its steps add up to epsilon for everybody; rounds of a collector are for one answer of each person."
    require(not protocol.only_simulated, "NAME", name, "a protocol that collects", protocol.only_simulated)
    require(not protocol.repeated, "NAME", name, "a protocol in which everybody answers one step", hint)
    require(len(before) <= of, "after", len(before), f"at most {of} tasks, one for each round of {name}")
    tallies: list[Tally] = []
    step = protocol.first()
    for number, id in enumerate(before):
        known = _tally(store, id, now)
        if known.design != step.mechanism.design:
            told = f"task {id[:12]} is not round {number + 1} of {name} with these options: its design is another one"
            raise ParameterError(f"after must be the rounds before, in order; {told}.")
        tallies.append(known)
        found = protocol.next(tallies)
        if isinstance(found, Estimate):
            return found
        step = found
    return Round(len(before) + 1, of, step.name, step.share, step.mechanism)


def _tally(store: Store, id: str, now: datetime) -> Tally:
    """What is published of a round; it must be over, and have the minimum batch."""
    row = store.task(id)
    require(row is not None, "after", id, "the id of a task")
    assert row is not None
    intake = intake_of(row.document)
    found = tally_of(windows(store, row, intake, now), intake.task.questions[0].name)
    if found is None:
        hint = "Close it, if enough people have answered: deniable task close ID"
        raise ParameterError(f"after must be rounds that are over and published; task {id[:12]} is not.", hint)
    return found


def round_task(
    found: Round, identity: Identity, *, text: str, opens: date, before: Task | None = None, **terms: Any
) -> dict[str, Any]:
    """The task of a round: its terms are those of the round before."""
    if before is not None:
        known = {"subject": before.subject, "min_batch": before.min_batch, "window_days": before.days}
        terms = known | {"collector": before.collector, "url": before.url} | terms
    asked = Asked(text=text, design=found.mechanism.design, name=f"round-{found.number}")
    return new_task([asked], Terms(opens=opens, windows=1, **terms), identity)
