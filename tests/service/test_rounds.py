"""Protocols over rounds: the collector asks what the library's protocol asks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.estimate.result import Estimate
from deniable.mechanisms.protocol import Protocol
from deniable.service.access.identity import Identity
from deniable.service.rounds import Round, next_round, round_task
from deniable_client import Task
from service.calling import OPENS, Service, item

COLLABORATIVE = dn.protocol("collaborative", epsilon=2.0, k=8, sensitive=3)
PAIRS = dn.protocol("ks-adap", epsilon=2.0, k=12, top=3)
OWN = Identity(bytes(32))


def ask(service: Service, found: Round, before: Task | None, data: Any, start: int) -> str:
    """One round: its task, the reports of some people, closed."""
    document = round_task(found, OWN, text="Which?", opens=OPENS, before=before, **({} if before else {"min_batch": 5}))
    id = service.add(document)
    reports = found.mechanism.privatize(data)
    rows = [reports.row(i) for i in range(len(reports))]
    assert service.fates(id, *(item(start + i, row) for i, row in enumerate(rows))) == ["accepted"] * len(rows)
    service.store.set_state(id, "closed")
    return id


def test_the_collector_runs_the_library_s_protocol() -> None:
    service = Service()
    first = next_round(COLLABORATIVE, service.store, [], service.now)
    assert isinstance(first, Round)
    assert (first.number, first.of, first.share) == (1, 2, 0.05)
    one = ask(service, first, None, np.arange(80) % 8, 0)
    second = next_round(COLLABORATIVE, service.store, [one], service.now)
    assert isinstance(second, Round)
    tally = next(iter(service.store.tallies(one).values()))
    expected = COLLABORATIVE.next([tally])
    assert not isinstance(expected, Estimate)
    assert second.mechanism == expected.mechanism
    assert (second.number, second.of, second.name, second.share) == (2, 2, expected.name, 0.95)
    assert second.mechanism.theta == COLLABORATIVE.theta(tally)  # type: ignore[attr-defined]
    before = Task.load(service.store.task(one).document)  # type: ignore[union-attr]
    two = ask(service, second, before, np.arange(400) % 8, 1000)
    done = next_round(COLLABORATIVE, service.store, [one, two], service.now)
    assert isinstance(done, Estimate)
    both = [tally, next(iter(service.store.tallies(two).values()))]
    assert done == COLLABORATIVE.next(both)
    assert done.n == 480


def test_keys_of_pairs_in_three_rounds() -> None:
    """The first two rounds are plain questions for devices; the last one asks for pairs with the candidates."""
    service = Service()
    ids: list[str] = []
    data: list[Any] = [np.arange(60) % 13, np.arange(60) % 4]
    for number, values in enumerate(data):
        found = next_round(PAIRS, service.store, ids, service.now)
        assert isinstance(found, Round)
        assert found.number == number + 1
        before = Task.load(service.store.task(ids[-1]).document) if ids else None  # type: ignore[union-attr]
        ids.append(ask(service, found, before, values, 1000 * number))
    last = next_round(PAIRS, service.store, ids, service.now)
    assert isinstance(last, Round)
    assert (last.number, last.name, last.mechanism.k) == (3, "pairs", 6)


@pytest.mark.parametrize("protocol", [COLLABORATIVE, PAIRS], ids=lambda p: p.name)
def test_a_round_costs_epsilon_and_has_the_terms_of_the_one_before(protocol: Protocol[Any]) -> None:
    service = Service()
    found = next_round(protocol, service.store, [], service.now)
    assert isinstance(found, Round)
    first = Task.load(round_task(found, OWN, text="Which?", opens=OPENS, subject="sleep", collector="Institute"))
    second = Task.load(round_task(found, OWN, text="Which now?", opens=OPENS, before=first))
    for task in (first, second):
        assert (task.subject, task.collector, task.key, task.count) == ("sleep", "Institute", OWN.key, 1)
        assert task.epsilon == protocol.epsilon


@pytest.mark.parametrize(
    ("own", "read"),
    [
        ({"subject": "dreams"}, "subject"),
        ({"min_batch": 7}, "min_batch"),
        ({"window_days": 3}, "days"),
        ({"collector": "Ward"}, "collector"),
        ({"url": "https://two.example"}, "url"),
    ],
)
def test_terms_that_are_given_for_a_round_come_before_those_of_the_round_before(own: dict[str, Any], read: str) -> None:
    """And all others stay as they were."""
    found = next_round(COLLABORATIVE, Service().store, [], Service().now)
    assert isinstance(found, Round)
    usual: dict[str, Any] = {
        "subject": "sleep",
        "min_batch": 50,
        "window_days": 5,
        "collector": "Institute",
        "url": "https://one.example",
    }
    first = Task.load(round_task(found, OWN, text="Which?", opens=OPENS, **usual))
    second = Task.load(round_task(found, OWN, text="Which?", opens=OPENS, before=first, **own))
    names = ("subject", "min_batch", "days", "collector", "url")
    assert [getattr(first, name) for name in names] == list(usual.values())
    changed = {read: next(iter(own.values()))}
    assert {name: getattr(second, name) for name in names} == {name: getattr(first, name) for name in names} | changed


def test_rounds_must_be_over_large_enough_and_the_right_ones() -> None:
    service = Service()
    found = next_round(COLLABORATIVE, service.store, [], service.now)
    assert isinstance(found, Round)
    id = service.add(round_task(found, OWN, text="Which?", opens=OPENS, min_batch=6))
    with pytest.raises(dn.ParameterError, match="over and published"):
        next_round(COLLABORATIVE, service.store, [id], service.now)
    service.store.set_state(id, "closed")
    with pytest.raises(dn.ParameterError, match="over and published"):  # below the minimum batch
        next_round(COLLABORATIVE, service.store, [id], service.now)
    other = ask(service, found, None, np.arange(40) % 8, 0)
    another = dn.protocol("collaborative", epsilon=1.0, k=8, sensitive=3)
    with pytest.raises(dn.ParameterError, match="is not round 1 of collaborative"):
        next_round(another, service.store, [other], service.now)
    with pytest.raises(dn.ParameterError, match="at most 2 tasks"):
        next_round(COLLABORATIVE, service.store, [other] * 3, service.now)
    with pytest.raises(dn.ParameterError, match="the id of a task"):
        next_round(COLLABORATIVE, service.store, ["0" * 64], service.now)


def test_everybody_in_every_step_is_not_for_rounds_of_one_answer() -> None:
    with pytest.raises(dn.ParameterError, match="everybody answers one step"):
        next_round(dn.protocol("privkvm", epsilon=2.0, k=4), Service().store, [], Service().now)
