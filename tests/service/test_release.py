"""Releases: never about fewer than the minimum batch, whatever is subtracted from whatever; the same for ever."""

from __future__ import annotations

import json
from base64 import b64decode
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.collect.tally import Tally
from deniable.service.ingest import Intake
from deniable.service.release import publish, tally_of, voided, windows
from deniable.service.store.contract import Batch
from deniable.service.tasks import Asked
from deniable_client.canonical import canonical
from deniable_client.checking import verify
from service.calling import DESIGN, OPENS, Service, item, task_of

GRR = dn.mechanism("grr", epsilon=1.0, k=2)


def tally(n: int) -> Tally:
    return GRR.simulate_tally([n, 0], dn.simulation(n))


# ---- windows


@pytest.fixture
def service() -> Service:
    return Service()


def fill(service: Service, id: str, n: int, start: int = 0, body: bytes = b"\x01") -> None:
    fates = service.fates(id, *(item(start + i, body) for i in range(n)))
    assert fates == ["accepted"] * n


def told(service: Service, id: str, query: str = "") -> list[dict[str, Any]]:
    reply = service.get(f"/v1/tasks/{id}/estimate{query}", service.key("analyst"))
    assert reply.status == 200
    found: list[dict[str, Any]] = reply.json["windows"]
    return found


def test_an_open_window_tells_its_number_of_reports_only(service: Service) -> None:
    id = service.add(task_of(min_batch=5))
    fill(service, id, 20)
    only = {"task": id, "window": 0, "from": "2026-11-16", "to": "2026-11-22", "state": "open", "reports": 20}
    assert told(service, id) == [only]
    accept = {**service.key("analyst"), "accept": "application/octet-stream"}
    assert service.get(f"/v1/tasks/{id}/tally", accept).problem == "conflict"


def test_windows_are_told_from_the_day_they_begin_or_have_reports(service: Service) -> None:
    """Reports of the day before the first window are counted in it: from then on it is shown, with all of them."""
    id = service.add(task_of(min_batch=5, windows=3))
    days = ["2026-11-16", "2026-11-22"], ["2026-11-23", "2026-11-29"], ["2026-11-30", "2026-12-06"]

    def seen(day: int) -> list[int]:
        """The reports of each window, which are the same wherever they are told."""
        service.to_day(OPENS + timedelta(day))
        found = told(service, id)
        assert [window["window"] for window in found] == list(range(len(found)))
        assert [[window["from"], window["to"]] for window in found] == list(days[: len(found)])
        status = service.get(f"/v1/tasks/{id}/status", service.key("analyst")).json
        assert [window["reports"] for window in status["windows"]] == [window["reports"] for window in found]
        return [window["reports"] for window in found]

    assert (seen(-2), seen(-1)) == ([], [])
    fill(service, id, 3)
    assert (seen(-1), seen(-2)) == ([3], [3])
    assert (seen(0), seen(6)) == ([3], [3])
    fill(service, id, 4, start=100)
    assert seen(7) == [7, 0]
    fill(service, id, 2, start=200)
    assert (seen(7), seen(5), seen(-3)) == ([7, 2], [7, 2], [7, 2]), "also if the clock goes back"
    assert (seen(14), seen(400)) == ([7, 2, 0], [7, 2, 0])


@pytest.mark.parametrize(("n", "state"), [(0, "withheld"), (9, "withheld"), (10, "published"), (11, "published")])
def test_nothing_below_the_minimum_batch(service: Service, n: int, state: str) -> None:
    id = service.add(task_of(min_batch=10))
    fill(service, id, n)
    service.store.set_state(id, "closed")
    (window,) = told(service, id)
    assert (window["state"], window["reports"]) == (state, n)
    (question,) = window["questions"]
    assert question["state"] == state
    assert ("estimate" in question) == (state == "published")
    tallies = service.get(f"/v1/tasks/{id}/tally", service.key("analyst")).json["windows"]
    assert ("tally" in tallies[0]["questions"][0]) == (state == "published")


def test_a_window_is_over_when_its_last_day_is_for_every_clock(service: Service) -> None:
    id = service.add(task_of(min_batch=1, windows=2))
    fill(service, id, 3)
    end = datetime(2026, 11, 23, tzinfo=UTC)
    for minutes, state in ((-1, "open"), (0, "open"), (4, "open"), (5, "published")):
        service.now = end + timedelta(minutes=minutes)
        assert told(service, id)[0]["state"] == state
    fill(service, id, 2, start=100)
    service.now = datetime(2026, 11, 30, 12, tzinfo=UTC)
    assert [window["state"] for window in told(service, id)] == ["published", "open"]  # a day more for wrong clocks
    service.later(1)
    assert [(window["state"], window["reports"]) for window in told(service, id)] == [
        ("published", 3),
        ("published", 2),
    ]
    assert [window["window"] for window in told(service, id, "?window=1")] == [1]
    assert service.get(f"/v1/tasks/{id}/estimate?window=2", service.key("analyst")).problem == "invalid"


def test_a_closed_window_answers_the_same_for_ever(service: Service) -> None:
    id = service.add(task_of(min_batch=2, windows=3))
    fill(service, id, 5)
    service.later(7)
    first = service.get(f"/v1/tasks/{id}/estimate?window=0", service.key("analyst")).body
    tallies = service.get(f"/v1/tasks/{id}/tally?window=0", service.key("analyst")).body
    batch = next(iter(service.store.tallies(id)))
    service.store._tallies[id][batch] = tally(1)  # whatever happens to the counts afterwards
    fill(service, id, 4, start=100)
    service.later(7)
    assert service.get(f"/v1/tasks/{id}/estimate?window=0", service.key("analyst")).body == first
    assert service.get(f"/v1/tasks/{id}/tally?window=0", service.key("analyst")).body == tallies


def test_upkeep_publishes_what_is_over(service: Service) -> None:
    id = service.add(task_of(min_batch=2, windows=3))
    fill(service, id, 5)
    service.collector.tidy()
    assert service.store.release(id, 0) is None
    service.later(7)
    service.collector.tidy()
    found = service.store.release(id, 0)
    assert found is not None
    assert json.loads(found)["state"] == "published"
    row = service.store.task(id)
    assert row is not None
    assert publish(service.store, row, Intake(row.document), service.now) == []


def test_the_first_of_two_releases_wins(service: Service) -> None:
    id = service.add(task_of(min_batch=1), "closed")
    service.store.put_release(id, 0, b'{"state": "withheld", "reports": 7, "questions": []}')
    assert told(service, id)[0]["reports"] == 7


def test_a_release_can_be_verified_and_a_changed_one_cannot(service: Service) -> None:
    id = service.add(task_of(min_batch=3))
    fill(service, id, 5)
    service.store.set_state(id, "closed")
    (window,) = told(service, id)
    assert "agrees with itself" in verify(json.dumps(window).encode()).lines[1]
    window = json.loads(service.store.release(id, 0) or b"")
    found = verify(json.dumps(window).encode())
    assert (found.kind, found.holds, found.facts.get("reports")) == ("release", True, 5), found.lines
    assert verify(json.dumps({"task": id, "state": "closed", "windows": [window]}).encode()).holds
    for change in ({"reports": 6}, {"privacy": {**window["questions"][0]["privacy"], "epsilon_exact": 0.5}}):
        (question,) = window["questions"]
        assert not verify(json.dumps({**window, "questions": [{**question, **change}]}).encode()).holds
    assert not verify(json.dumps({**window, "reports": 4}).encode()).holds


def test_drafts_have_no_windows(service: Service) -> None:
    assert told(service, service.add(task_of(), "draft")) == []


# ---- what is said


def test_a_release_has_estimate_intervals_certificate_and_bound(service: Service) -> None:
    id = service.add(task_of(min_batch=3))
    for number, body in enumerate([b"\x00", b"\x01", b"\x01", b"\x02", b"\x01"]):
        assert service.fates(id, item(number, body)) == ["accepted"]
    service.store.set_state(id, "closed")
    (question,) = told(service, id)[0]["questions"]
    m = dn.mechanism("grr", epsilon=1.0, labels=["never", "sometimes", "often"])
    expected = m.estimate(m.tally(dn.load(reports_of(m, [0, 1, 1, 2, 1]))))  # type: ignore[arg-type]
    found = question["estimate"]
    assert found["labels"] == ["never", "sometimes", "often"]
    assert found["value"] == expected.value.tolist()
    assert found["stderr"] == expected.stderr.tolist()
    assert found["low"] == expected.interval().low.tolist()
    assert found["high"] == expected.interval().high.tolist()
    privacy = question["privacy"]
    assert (privacy["task"], privacy["epsilon"], privacy["epsilon_exact"]) == (id, 1.0, m.epsilon_exact)
    assert privacy["ratio"] == f"{m.proof.ratio.numerator}/{m.proof.ratio.denominator}"  # type: ignore[union-attr]
    assert privacy["witness"] == str(m.proof.witness)
    assert privacy["text"] == m.protection.text
    p, q = m.support_effective.p, m.support_effective.q  # type: ignore[attr-defined]
    assert question["forged"]["gain"] == pytest.approx(0.01 * (1 - q) / (p - q))
    assert "percentage points" in question["forged"]["text"]


def reports_of(m: Any, values: list[int]) -> bytes:
    from deniable.collect.reports import Reports

    return dn.dump(Reports.from_rows(m.design, m.fields, [bytes([v]) for v in values], simulated=False))


def test_tallies_are_files_that_add_up(service: Service) -> None:
    id = service.add(task_of(min_batch=3, windows=2))
    fill(service, id, 4)
    service.later(7)
    fill(service, id, 5, start=50, body=b"\x02")
    service.store.set_state(id, "closed")
    accept = {**service.key("analyst"), "accept": "application/octet-stream"}
    whole = dn.load(service.get(f"/v1/tasks/{id}/tally", accept).body)
    assert isinstance(whole, Tally)
    assert whole.n == 9
    assert not whole.simulated
    parts = service.get(f"/v1/tasks/{id}/tally", service.key("analyst")).json["windows"]
    files = [dn.load(b64decode(part["questions"][0]["tally"])) for part in parts]
    assert files[0] + files[1] == whole  # type: ignore[operator]
    assert service.get(f"/v1/tasks/{id}/tally?question=nope", accept).problem == "invalid"


def test_questions_and_strata_are_told_apart(service: Service) -> None:
    two = [
        Asked(text="How often?", design=DESIGN, name="often"),
        Asked(text="Since when?", design=DESIGN, name="since"),
    ]
    id = service.add(task_of(*two, strata={"country": ["DE", "FR", "IT"]}, min_batch=4))
    for number, (head, n) in enumerate([(b"\1\0", 6), (b"\2\0", 3), (b"\3\0", 2), (b"\1\1", 2)]):
        fill(service, id, n, start=100 * number, body=head + b"\1")
    service.store.set_state(id, "closed")
    often, since = told(service, id)[0]["questions"]
    assert (since["question"], since["state"], since["reports"]) == ("since", "withheld", 2)
    assert [(group["name"], group["strata"], group["reports"]) for group in often["groups"]] == [
        ("DE", [{"country": "DE"}], 6),
        ("all others", [{}], 5),
    ]
    assert often["estimate"]["n"] == 11
    assert [group["estimate"]["n"] for group in often["groups"]] == [6, 5]
    parts = {route: service.get(f"/v1/tasks/{id}/{route}", service.key("analyst")) for route in ("estimate", "tally")}
    for route, names in (("estimate", {"estimate"}), ("tally", {"tally"})):
        (window,) = parts[route].json["windows"]
        part = window["questions"][0]
        assert all(names == {"estimate", "tally"} & own.keys() for own in (part, *part["groups"])), route


def test_labels_of_the_task_are_told(service: Service) -> None:
    bare = Asked(text="?", design=dn.mechanism("grr", epsilon=1.0, k=2).design, labels=["no", "yes"])
    id = service.add(task_of(bare, min_batch=1))
    fill(service, id, 3)
    service.store.set_state(id, "closed")
    assert told(service, id)[0]["questions"][0]["estimate"]["labels"] == ["no", "yes"]


def test_where_there_is_no_estimate_the_tally_is_there(service: Service) -> None:
    m = dn.mechanism("brr", epsilon=1.0, interval=(0, 10), points=11)
    id = service.add(task_of(Asked(text="?", design=m.design), min_batch=2))
    reports = m.privatize(np.arange(11.0), rng=dn.simulation(1))
    for number in range(11):
        assert service.fates(id, item(number, reports.row(number))) == ["accepted"]
    service.store.set_state(id, "closed")
    (question,) = told(service, id)[0]["questions"]
    assert question["state"] == "published"
    assert question["estimate"] is None or "value" in question["estimate"]
    row = service.store.task(id)
    assert row is not None
    total = tally_of(windows(service.store, row, Intake(row.document), service.now), "q1")
    assert total is not None
    assert total.n == 11


def test_all_kinds_of_mechanisms_can_be_released(service: Service) -> None:
    designs = [
        dn.mechanism("oue", epsilon=1.0, k=5),
        dn.mechanism("olh", epsilon=1.0, k=5),
        dn.mechanism("uss", epsilon=1.0, k=5, sensitive=2),
        dn.mechanism("hm", epsilon=1.0, interval=(0, 10)),
        dn.mechanism("kv-ss2", epsilon=1.0, k=4),
    ]
    for m in designs:
        document = task_of(Asked(text="?", design=m.design), min_batch=1, subject=m.name)
        id = service.add(document)
        empty = m.empty()
        service.store._tallies[id] = {Batch(0, 0, ()): empty}
        service.store.set_state(id, "closed")
        assert told(service, id)[0]["state"] == "withheld"
        assert OPENS.isoformat() == told(service, id)[0]["from"]


def test_what_those_are_counted_as_who_give_no_answer_is_published(service: Service) -> None:
    """A random answer unless the question says what; nothing where there is an answer of its own for them."""
    own = dn.mechanism("grr", epsilon=1.0, labels=["no", "yes", "not said"], missing="not said").design
    asked = [Asked(text="How often?", design=DESIGN), Asked(text="Often?", design=DESIGN, none="often")]
    ids = [service.add(task_of(each, min_batch=2)) for each in (*asked, Asked(text="Really?", design=own))]
    for id in ids:
        fill(service, id, 3)
        service.store.set_state(id, "closed")
    found = [service.get(f"/v1/tasks/{id}/estimate", service.key("analyst")).json["windows"][0] for id in ids]
    told = [window["questions"][0].get("none") for window in found]
    assert told == [
        "those who give no answer are counted as a random answer.",
        "those who give no answer are counted as 'often'.",
        None,
    ]


def test_a_document_tells_the_reports_of_all_questions() -> None:
    made = task_of(Asked(text="One?", design=DESIGN), Asked(text="Two?", design=DESIGN))
    document = json.loads(voided(Intake(canonical(made)).task, 0, [20, 30], "nobody may know"))
    assert (document["reports"], [part["reports"] for part in document["questions"]]) == (50, [20, 30])
