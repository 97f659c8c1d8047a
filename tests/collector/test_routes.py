"""What each route answers, field by field: lists of tasks and keys, windows, files, and what bodies may be."""

from __future__ import annotations

import json
from base64 import b64decode
from typing import Any

import pytest

import deniable as dn
from deniable.collect.tally import Tally
from deniable.service.http import app
from deniable.service.settings import Settings
from deniable.service.sharing.qr import svg
from deniable.service.tasks import Asked
from deniable.service.texts.catalogue import texts
from pages.asks import Paged
from service.calling import DESIGN, Service, item, task_of

JSON = "application/json"


@pytest.fixture
def service() -> Service:
    return Service()


# ---- everybody


def test_a_task_document_may_be_kept_for_ever_by_its_name(service: Service) -> None:
    """Another name, or none, is answered with the document; a closed task is read as before, a draft by nobody."""
    id = service.add(task_of())
    whole = service.get(f"/v1/tasks/{id}")
    assert whole.headers["etag"] == f'"{id}"'
    assert whole.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert whole.headers["content-type"] == JSON
    for tag, status in ((f'"{id}"', 304), (id, 200), ('"x"', 200)):
        reply = service.get(f"/v1/tasks/{id}", {"if-none-match": tag})
        assert (reply.status, reply.headers["etag"]) == (status, f'"{id}"')
        assert reply.headers["cache-control"] == "public, max-age=31536000, immutable"
    service.store.set_state(id, "closed")
    service.collector.forget(id)
    assert service.get(f"/v1/tasks/{id}").body == whole.body
    draft = service.add(task_of(subject="draft"), "draft")
    for path in ("", "/reports"):
        assert service.call("OPTIONS", f"/v1/tasks/{draft}{path}") is not None
    reply = service.get(f"/v1/tasks/{draft}")
    assert (reply.problem, reply.json["detail"]) == ("not-found", "There is no task with this id here.")
    for path in ("status", "estimate", "tally"):
        assert service.get(f"/v1/tasks/{draft}/{path}", service.key("analyst")).json["state"] == "draft"


def test_health_is_said_in_few_words(service: Service) -> None:
    assert service.get("/healthz").json == {"status": "ok"}
    assert service.get("/readyz").json == {"status": "ready"}
    assert service.get("/readyz").headers["content-type"] == JSON
    service.collector._upkeep.faults = {"all": "KeyError", "f" * 64: "ValueError"}
    assert service.get("/readyz").json == {
        "status": "degraded",
        "why": [
            "upkeep failed for 1 task; the log says which",
            "the last round of upkeep failed; the log says how",
        ],
    }


@pytest.mark.parametrize("size", [64 << 10, (64 << 10) + 1])
def test_a_body_is_read_the_same_beside_the_event_loop_and_on_it(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    import asyncio

    service, beside = Service(), list[Any]()
    id = service.add(task_of())
    real = asyncio.to_thread

    async def to_thread(call: Any, *given: Any, **named: Any) -> Any:
        beside.append(call)
        return await real(call, *given, **named)

    monkeypatch.setattr(app.asyncio, "to_thread", to_thread)
    body = json.dumps({"reports": [item(1)]}).encode().ljust(size)
    reply = service.post(f"/v1/tasks/{id}/reports", body)
    assert reply.json == {"results": [{"id": f"{1:032x}", "status": "accepted"}]}
    assert (app.read_reports in beside) == (size > 64 << 10)


# ---- analysts


def test_tasks_are_listed_with_their_days_and_all_their_questions(service: Service) -> None:
    two = [Asked(text="One?", design=DESIGN), Asked(text="Two?", design=DESIGN)]
    first = service.add(task_of(*two, subject="both", window_days=5, windows=3))
    draft = service.add(task_of(subject="later"), "draft")
    reply = service.get("/v1/tasks", service.key("analyst"))
    assert reply.headers["content-type"] == JSON
    assert reply.json == {
        "tasks": [
            {
                "id": first, "state": "open", "subject": "both", "questions": ["One?", "Two?"],
                "opens": "2026-11-16", "closes": "2026-12-01",
            },
            {
                "id": draft, "state": "draft", "subject": "later", "questions": ["How often?"],
                "opens": "2026-11-16", "closes": "2026-11-23",
            },
        ]
    }  # fmt: skip


def test_the_status_of_a_task_counts_what_came_and_what_was_refused(service: Service) -> None:
    id = service.add(task_of(windows=3))
    service.fates(id, item(1), item(2), item(3, b"\x09"), item(4, b"\x09"), item(1, b"\x02"))
    service.later(7)
    service.fates(id, item(5))
    service.later(7)
    found = service.get(f"/v1/tasks/{id}/status", service.key("analyst")).json
    assert found == {
        "task": id,
        "state": "open",
        "windows": [
            {"window": 0, "state": "withheld", "reports": 2},
            {"window": 1, "state": "withheld", "reports": 1},
            {"window": 2, "state": "open", "reports": 0},
        ],
        "rejected": {"impossible": 2, "other-body": 1},
    }


@pytest.fixture
def over(service: Service) -> tuple[Service, str, dict[str, str]]:
    """A task of two questions and two windows, both over, of which the second has too few reports of one question."""
    two = [Asked(text="One?", design=DESIGN, name="one"), Asked(text="Two?", design=DESIGN, name="two")]
    id = service.add(task_of(*two, windows=2, min_batch=3, strata={"land": ["DE", "FR"]}))
    number = 0
    for counts in ((4, 3), (5, 2)):
        for question, n in enumerate(counts):
            service.fates(id, *(item(number + i, bytes([1, question, 1])) for i in range(n)))
            number += 100
        service.later(7)
    service.later(7)
    return service, id, service.key("analyst")


def test_estimates_and_tallies_are_of_the_window_and_the_question_that_are_asked_for(
    over: tuple[Service, str, dict[str, str]],
) -> None:
    service, id, analyst = over
    for route in ("estimate", "tally"):
        whole = service.get(f"/v1/tasks/{id}/{route}", analyst).json
        assert (whole["task"], whole["state"]) == (id, "open")
        assert [window["window"] for window in whole["windows"]] == [0, 1]
        for number in (0, 1):
            (one,) = service.get(f"/v1/tasks/{id}/{route}?window={number}", analyst).json["windows"]
            assert one == whole["windows"][number]
        for wrong in ("2", "-1", "00", "x", ""):
            reply = service.get(f"/v1/tasks/{id}/{route}?window={wrong}", analyst)
            assert reply.problem == "invalid"
            assert reply.json["detail"] == f"There is no window {wrong!r} (yet); there are 2, from 0 on."
    octets = {**analyst, "accept": "application/octet-stream"}
    for query, n in (
        ("", 9),
        ("?question=one", 9),
        ("?question=two", 3),
        ("?window=1", 5),
        ("?window=0&question=two", 3),
    ):
        reply = service.get(f"/v1/tasks/{id}/tally{query}", octets)
        assert reply.headers["content-type"] == "application/octet-stream"
        found = dn.load(reply.body)
        assert isinstance(found, Tally)
        assert found.n == n
    assert service.get(f"/v1/tasks/{id}/tally?window=1&question=two", octets).problem == "conflict"
    assert (
        service.get(f"/v1/tasks/{id}/tally?question=One?", analyst).json["detail"] == "The task has no question 'One?'."
    )


def test_an_answer_with_tallies_has_what_they_are_of_and_nothing_else(
    over: tuple[Service, str, dict[str, str]],
) -> None:
    service, id, analyst = over
    windows = service.get(f"/v1/tasks/{id}/tally", analyst).json["windows"]
    for window in windows:
        assert set(window) == {"task", "window", "from", "to", "state", "min_batch", "reports", "questions"}
    published, withheld = windows[1]["questions"]
    assert set(published) == {"question", "state", "reports", "tally", "groups"}
    assert withheld == {"question": "two", "state": "withheld", "reports": 2}
    for group in published["groups"]:
        assert set(group) == {"strata", "reports", "tally"}
    assert isinstance(dn.load(b64decode(published["tally"])), Tally)
    estimated = service.get(f"/v1/tasks/{id}/estimate", analyst).json["windows"][1]["questions"][0]
    assert {"estimate", "privacy", "forged", "none", "text", "groups"} <= set(estimated)
    assert "tally" not in json.dumps(estimated)


def test_tables_are_files_with_the_name_of_the_task(over: tuple[Service, str, dict[str, str]]) -> None:
    service, id, analyst = over
    for kind, media in (("csv", "text/csv; charset=utf-8"), ("json", JSON)):
        reply = service.get(f"/v1/tasks/{id}/results.{kind}", analyst)
        assert reply.headers["content-type"] == media
        assert reply.headers["content-disposition"] == f'attachment; filename="deniable-{id[:8]}.{kind}"'
        other = service.get(f"/v1/tasks/{id}/results.{kind}?target=reporters", analyst)
        assert other.body != reply.body
        assert service.get(f"/v1/tasks/{id}/results.{kind}?target=population", analyst).body == reply.body
    for path, problem in (("results.xlsx", "not-found"), ("results.csv?target=people", "invalid")):
        assert service.get(f"/v1/tasks/{id}/{path}", analyst).problem == problem
    new = service.add(task_of(subject="new"))
    assert service.get(f"/v1/tasks/{new}/results.csv", analyst).problem == "conflict"


# ---- administrators


def test_keys_are_listed_without_themselves(service: Service) -> None:
    boss = service.key("administrator")
    service.key("analyst")
    service.later(3)
    made = service.post("/v1/keys", {"role": "analyst", "name": "eve"}, boss)
    assert (made.status, made.headers["content-type"]) == (201, JSON)
    assert set(made.json) == {"name", "role", "created", "key"}
    assert (made.json["name"], made.json["created"]) == ("eve", "2026-11-19")
    service.later(1)
    gone = service.post("/v1/keys/analyst-1", b"", boss, method="DELETE")
    assert (gone.status, gone.body) == (204, b"")
    assert service.get("/v1/keys", boss).json == {
        "keys": [
            {"name": "administrator-1", "role": "administrator", "created": "2026-11-16"},
            {"name": "analyst-1", "role": "analyst", "created": "2026-11-16", "revoked": "2026-11-20"},
            {"name": "eve", "role": "analyst", "created": "2026-11-19"},
        ]
    }


@pytest.mark.parametrize(
    ("path", "method", "body", "problem"),
    [
        ("/v1/keys", "POST", b'{"role": "public"}', "invalid"),
        ("/v1/keys", "POST", b'{"role": "analysts"}', "invalid"),
        ("/v1/keys", "POST", b'{"role": "analyst", "more": 1}', "invalid"),
        ("/v1/keys", "POST", b"{}", "invalid"),
        ("/v1/keys", "POST", b"{", "malformed"),
        ("/v1/keys", "POST", b'{"role": "\xff"}', "malformed"),
        ("/v1/keys", "POST", b'{"role": "analyst", "name": "No"}', "invalid"),
        ("/v1/tasks/{id}/state", "PUT", b'{"state": "opened"}', "invalid"),
        ("/v1/tasks/{id}/state", "PUT", b'{"state": "open", "why": ""}', "invalid"),
        ("/v1/tasks/{id}/state", "PUT", b'"open"', "invalid"),
        ("/v1/tasks/{id}/state", "PUT", b"", "malformed"),
        ("/v1/tasks", "POST", b"[]", "invalid"),
    ],
)
def test_bodies_that_administrators_may_not_send(
    service: Service, path: str, method: str, body: bytes, problem: str
) -> None:
    id = service.add(task_of())
    boss = service.key("administrator")
    reply = service.post(path.format(id=id), body, boss, method=method)
    assert reply.problem == problem
    other = service.post(path.format(id=id), body, {**boss, "content-type": "text/plain"}, method=method)
    assert (other.problem, other.headers["connection"]) == ("media-type", "close")
    kept = service.store.task(id)
    assert kept is not None
    assert kept.state == "open"
    assert [key.name for key in list(service.store.keys())] == ["administrator-1"]


@pytest.mark.parametrize(
    ("now", "wanted", "status"),
    [
        ("draft", "open", 200), ("draft", "closed", 200), ("open", "open", 200), ("open", "closed", 200),
        ("closed", "closed", 200), ("closed", "open", 409),
    ],
)  # fmt: skip
def test_a_task_goes_on_and_never_back(service: Service, now: str, wanted: str, status: int) -> None:
    id = service.add(task_of(), now)
    reply = service.post(f"/v1/tasks/{id}/state", {"state": wanted}, service.key("administrator"), method="PUT")
    assert reply.status == status
    kept = service.store.task(id)
    assert kept is not None
    assert kept.state == (wanted if status == 200 else now)
    if status == 200:
        assert reply.json == {"id": id, "state": wanted}
    else:
        assert reply.json["detail"] == "The task is closed; it cannot become open again."


def test_a_task_that_was_just_opened_takes_reports_at_once(service: Service) -> None:
    """And none from the moment on in which it is closed: nobody waits for the next look at the database."""
    boss, document = service.key("administrator"), task_of()
    id = document["id"]
    made = service.post("/v1/tasks", document, boss)
    assert (made.status, made.json) == (201, {"id": id, "state": "draft"})
    assert service.post("/v1/tasks", document, boss).status == 201, "the same once more changes nothing"
    assert service.send(id, item(1)).problem == "not-found"
    service.post(f"/v1/tasks/{id}/state", {"state": "open"}, boss, method="PUT")
    assert service.fates(id, item(1)) == ["accepted"]
    service.post(f"/v1/tasks/{id}/state", {"state": "closed"}, boss, method="PUT")
    assert service.fates(id, item(2)) == ["not-open"]


# ---- ways to a survey


def test_the_code_of_a_survey_leads_to_where_browsers_find_it() -> None:
    """By the settings, or as this request came; it is not kept, for the language may be another one next time."""
    far, title = "https://collect.example.org", texts("answer", "en")("print.alt")
    for settings, base in ((Settings(public_url=far), far), (Settings(), "http://127.0.0.1:8000")):
        service = Paged(settings=settings)
        id = service.add(
            task_of(
                translations={"de": {"subject": "Oft?", "questions": [[{"text": "Wie oft?", "labels": list("abc")}]]}}
            )
        )
        plain = service.get(f"/t/{id}/qr.svg")
        assert plain.body == svg(f"{base}/t/{id}", title).encode()
        assert (plain.headers["cache-control"], plain.headers["content-type"]) == ("no-store", "image/svg+xml")
        assert "accept-encoding" in plain.headers["vary"].lower()
        german = service.get(f"/t/{id}/qr.svg?lang=de")
        assert german.body == svg(f"{base}/t/{id}?lang=de", texts("answer", "de")("print.alt")).encode()
        sheet = service.get(f"/t/{id}/print").body.decode()
        assert f"{base}/t/{id}<" in sheet
        assert f'src="/t/{id}/qr.svg"' in sheet


def test_the_script_for_frames_is_kept_for_an_hour() -> None:
    reply = Paged().get("/embed.js")
    assert reply.headers["cache-control"] == "public, max-age=3600"
    assert reply.headers["content-type"].startswith("text/javascript")
