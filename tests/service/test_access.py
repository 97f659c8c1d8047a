"""Roles and keys: no route without its role, no key that can be read, none that stops working unannounced."""

from __future__ import annotations

import hmac
import logging
from datetime import date, timedelta
from typing import Any

import pytest
from starlette.routing import Route

import deniable as dn
from deniable.service.access import keys as access
from deniable.service.access.keys import KEY_ROLES, Role, holder, new_key, revoke, rotate
from deniable.service.http.app import ROWS, application
from deniable.service.http.routes import Row
from deniable.service.pages.table import PAGES
from service.calling import Service, task_of
from service.memory import MemoryStore

TODAY = date(2026, 11, 16)
PUBLIC = {
    ("GET", "/healthz"),
    ("GET", "/readyz"),
    ("GET", "/metrics"),
    ("GET", "/openapi.json"),
    ("GET", "/v1/tasks/{id}"),
    ("POST", "/v1/tasks/{id}/reports"),
}
"""What everybody may do; whoever adds to it thinks twice."""


# ---- routes


def test_every_route_of_the_application_is_in_the_table() -> None:
    """Enumerated, not listed: a route that is added elsewhere has no role and is found here."""
    rows = [*ROWS, *PAGES]
    routes = application(Service().collector, more=PAGES).routes
    assert all(type(route) is Route for route in routes)
    found = {(method, route.path) for route in routes for method in route.endpoint.rows}  # type: ignore[attr-defined]
    assert found == {(row.method, row.path) for row in rows}
    assert len(found) == len(rows)
    assert all(isinstance(row.role, Role) for row in rows)


def test_what_is_public_is_known() -> None:
    assert {(row.method, row.path) for row in ROWS if row.role is Role.PUBLIC} == PUBLIC


WHO = [None, "nonsense", "revoked", "analyst", "administrator"]


@pytest.mark.parametrize("who", WHO)
@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.method} {row.path}")
def test_the_matrix_of_roles(row: Row, who: str | None) -> None:
    service = Service()
    id = service.add(task_of())
    headers: dict[str, str] = {"content-type": "application/json"}
    if who == "nonsense":
        headers["authorization"] = "Bearer nonsense"
    elif who == "revoked":
        headers |= service.key("administrator")
        service.store.revoke_key("administrator-1", TODAY)
    elif who is not None:
        headers |= service.key(who)
    reply = service.post(row.path.format(id=id, name="nobody", kind="csv"), b"{}", headers, method=row.method)
    has = KEY_ROLES.get(who or "", Role.PUBLIC)
    expected = None if has.includes(row.role) else "no-key" if has is Role.PUBLIC else "wrong-role"
    found = reply.problem if reply.status in (401, 403) else None
    assert found == expected
    assert (reply.status == 401) == ("www-authenticate" in reply.headers)
    assert reply.status < 500


@pytest.mark.parametrize("spelled", ["{}", "Basic {}", "Bearer", "Bearer {}x", "Bearer  ", "bearer:{}", "Bearer {} {}"])
def test_a_key_must_be_spelled_right(spelled: str) -> None:
    service = Service()
    key = service.key("analyst")["authorization"].removeprefix("Bearer ")
    assert service.get("/v1/tasks", {"authorization": spelled.replace("{}", key)}).problem == "no-key"
    assert service.get("/v1/tasks", {"authorization": f"bearer {key}"}).status == 200


# ---- keys


def test_keys_are_kept_as_hashes_and_shown_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    service = Service()
    made = service.post("/v1/keys", {"role": "analyst"}, service.key("administrator"))
    assert (made.status, made.headers["cache-control"]) == (201, "no-store")
    key = made.json["key"]
    assert service.get("/v1/tasks", {"authorization": f"Bearer {key}"}).status == 200
    listed = service.get("/v1/keys", service.key("administrator"))
    assert key not in listed.body.decode()
    assert key not in repr(service.store.keys())
    assert key not in caplog.text
    assert "analyst-1" in listed.body.decode()


def test_all_keys_are_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    store = MemoryStore()
    keys = [new_key(store, "analyst", today=TODAY)[1] for _ in range(5)]
    asked: list[int] = []
    usual = hmac.compare_digest

    def compare(one: bytes, two: bytes) -> bool:
        asked.append(1)
        return usual(one, two)

    monkeypatch.setattr(access.hmac, "compare_digest", compare)
    for key in (*keys, "nobody"):
        asked.clear()
        found = holder(store.keys(), key, TODAY)
        assert (found is None) == (key == "nobody")
        assert len(asked) == 5


def test_keys_have_enough_randomness() -> None:
    store = MemoryStore()
    secrets = {new_key(store, "analyst", today=TODAY)[1].removeprefix("deniable-analyst-") for _ in range(50)}
    assert len(secrets) == 50
    assert {len(secret) for secret in secrets} == {43}


def test_rotation_locks_nobody_out() -> None:
    store = MemoryStore()
    name, old = new_key(store, "analyst", today=TODAY)
    fresh, key, until = rotate(store, name, today=TODAY, days=7)
    assert (name, fresh, until) == ("analyst-1", "analyst-2", TODAY + timedelta(7))

    def valid(key: str, days: int) -> bool:
        return holder(store.keys(), key, TODAY + timedelta(days)) is not None

    assert [valid(old, days) for days in (0, 6, 7, 800)] == [True, True, False, False]
    assert [valid(key, days) for days in (0, 6, 7, 800)] == [True] * 4
    revoke(store, name, TODAY)
    assert not valid(old, 0)
    again, _, _ = rotate(store, "analyst-2", today=TODAY, days=0)
    assert again == "analyst-3"
    assert not valid(key, 0)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda store: new_key(store, "root", today=TODAY), "role must be one of analyst, administrator"),
        (lambda store: new_key(store, "analyst", today=TODAY, name="No Way"), "name must be small letters"),
        (lambda store: new_key(store, "analyst", today=TODAY, name="analyst-1"), "a name that no other key has"),
        (lambda store: revoke(store, "analyst-l", TODAY), "Did you mean analyst-1"),
        (lambda store: rotate(store, "nobody", today=TODAY, days=7), "must be the name of a key"),
        (lambda store: rotate(store, "analyst-1", today=TODAY, days=-1), "days must be"),
        (
            lambda store: (revoke(store, "analyst-1", TODAY), rotate(store, "analyst-1", today=TODAY, days=7)),
            "a key that is not revoked",
        ),
    ],
)
def test_what_cannot_be_a_key(call: Any, says: str) -> None:
    store = MemoryStore()
    new_key(store, "analyst", today=TODAY)
    with pytest.raises(dn.ParameterError, match=says):
        call(store)


# ---- what administrators do


def test_administrators_make_open_and_close_tasks() -> None:
    service = Service()
    boss, document = service.key("administrator"), task_of()
    id = document["id"]
    made = service.post("/v1/tasks", document, boss)
    assert (made.status, made.headers["location"]) == (201, f"/v1/tasks/{id}")
    assert service.get(f"/v1/tasks/{id}").problem == "not-found"
    for state in ("open", "open", "closed"):
        assert service.post(f"/v1/tasks/{id}/state", {"state": state}, boss, method="PUT").json["state"] == state
    assert service.get(f"/v1/tasks/{id}").json == document
    assert service.post(f"/v1/tasks/{id}/state", {"state": "open"}, boss, method="PUT").problem == "conflict"
    assert service.post(f"/v1/tasks/{id}/state", {"state": "draft"}, boss, method="PUT").problem == "invalid"
    listed = service.get("/v1/tasks", service.key("analyst")).json["tasks"]
    assert [(task["id"], task["state"]) for task in listed] == [(id, "closed")]


@pytest.mark.parametrize("change", [{"epsilon": 0.5}, {"min_batch": 0}, {"more": 1}, {"id": "0" * 64}])
def test_a_task_that_devices_would_refuse_is_refused(change: dict[str, Any]) -> None:
    service = Service()
    assert service.post("/v1/tasks", task_of() | change, service.key("administrator")).problem == "invalid"
    assert service.store.tasks() == []


def test_administrators_revoke_keys() -> None:
    service = Service()
    boss, analyst = service.key("administrator"), service.key("analyst")
    assert service.post("/v1/keys/analyst-1", b"", boss, method="DELETE").status == 204
    assert service.get("/v1/tasks", analyst).problem == "no-key"
    assert service.post("/v1/keys/analyst-9", b"", boss, method="DELETE").problem == "not-found"
