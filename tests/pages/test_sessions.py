"""Who is signed in: until they sign out, time is up or their key is void, here and nowhere else, and what is logged."""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import re
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from deniable.service.access import keys
from deniable.service.access.sessions import Failures, begin, end, is_local, visitor
from deniable.service.http.app import ROWS
from deniable.service.logs import _Lines
from deniable.service.pages import dashboard
from deniable.service.pages.table import PAGES
from deniable.service.settings import Settings
from deniable.service.store import engine_of, open_store, restoring
from deniable.service.store.contract import StoreUnavailableError
from pages.asks import LOCAL, TODAY, Browser, Paged, fill, mechanisms, post, task
from pages.asks import new_key_of as new_key
from service.calling import HOST
from service.databases import ENGINES, new_database

PUBLIC = "https://collect.example.org"
FAR = {"host": "collect.example.org", "origin": PUBLIC}
DAY = timedelta(1)


@pytest.fixture
def service() -> Paged:
    return Paged()


@pytest.fixture
def ann(service: Paged) -> Browser:
    """An administrator who is signed in."""
    found = Browser(service, new_key(service))
    assert found.get() == 200
    return found


# ---- what the cookie is


def test_the_cookie_is_not_the_key_and_opens_nothing_but_pages(service: Paged) -> None:
    """Neither as a key, nor at another collector; and a key is no cookie."""
    key = new_key(service)
    ann = Browser(service, key)
    assert ann.get() == 200
    assert key not in ann.set_cookie
    assert len(ann.token) == 43
    assert service.get("/v1/tasks", {"authorization": f"Bearer {ann.token}"}).problem == "no-key"
    assert service.get("/", {"authorization": f"Bearer {ann.token}"}).status == 401
    assert service.get("/v1/tasks", {"cookie": ann.cookie}).problem == "no-key"
    assert service.get("/", {"cookie": ann.cookie.replace(ann.token, key)}).status == 401
    other = Paged()
    new_key(other)
    assert ann.get(service=other) == 401


def test_tokens_are_random_and_kept_as_hashes(service: Paged) -> None:
    key = new_key(service)
    tokens = [Browser(service, key).token for _ in range(20)]
    assert len(set(tokens)) == 20
    kept = repr(service.store) + repr(vars(service.store.sessions))
    assert kept.count("SessionRow(") == 20, "all of them are there"
    assert not any(token in kept for token in tokens)


@pytest.mark.parametrize("wrong", ["", "x", "\u20ac", "a" * 4000, '"', "deniable-administrator-x"])
def test_nonsense_is_no_session(service: Paged, wrong: str) -> None:
    assert service.get("/", {"cookie": f"deniable-local={wrong}"}).status == 401


def attributes(cookie: str) -> tuple[str, dict[str, str]]:
    """The name of a cookie, and what is said about it."""
    first, *rest = cookie.split("; ")
    said = {name.lower(): value for name, _, value in (part.partition("=") for part in rest)}
    return first.partition("=")[0], said


@pytest.mark.parametrize("forwarded", [{}, {"x-forwarded-proto": "http"}, {"forwarded": "proto=http"}])
def test_over_tls_the_cookie_is_for_the_host_alone(forwarded: dict[str, str]) -> None:
    """The settings say that there is TLS; what a proxy or a stranger says about it does not count."""
    service = Paged(Settings(public_url=PUBLIC, session_seconds=7200))
    ann = Browser(service, new_key(service), {**FAR, **forwarded})
    expected = {"path": "/", "secure": "", "httponly": "", "samesite": "strict", "max-age": "7200"}
    assert attributes(ann.set_cookie) == ("__Host-deniable", expected)
    assert ann.get() == 200
    assert service.get("/", {"cookie": f"deniable-local={ann.token}"}).status == 401
    out = attributes(ann.post("/sign-out").headers["set-cookie"])
    assert out[0] == "__Host-deniable"
    assert {**out[1], "max-age": "7200"}.items() >= expected.items()


@pytest.mark.parametrize("forwarded", [{}, {"x-forwarded-proto": "https"}, {"x-forwarded-host": HOST}])
@pytest.mark.parametrize(
    "host", ["collect.example.org", "192.0.2.1:8000", "127.0.0.1.example.org", "localhost.example"]
)
def test_without_tls_pages_are_for_this_machine(service: Paged, host: str, forwarded: dict[str, str]) -> None:
    """Nobody is asked for a key there, and none is taken; keys in headers are the business of who sends them."""
    headers = {"host": host, "origin": f"http://{host}", **forwarded}
    key = new_key(service)
    asked = service.get("/", headers)
    assert (asked.status, b"public_url" in asked.body, b"Access key" in asked.body) == (409, True, False)
    refused = Browser(service, key, headers)
    assert (refused.reply.status, refused.set_cookie) == (409, "")
    ann = Browser(service, key)
    assert service.get("/", {**headers, "cookie": ann.cookie}).status == 409
    assert service.get("/v1/tasks", {**headers, "authorization": f"Bearer {key}"}).status == 200


@pytest.mark.parametrize("host", ["localhost", "localhost:8000", "127.0.0.1", "127.8.9.1:1", "[::1]:8000", "[::1]"])
def test_this_machine_has_a_cookie_of_its_own(service: Paged, host: str) -> None:
    ann = Browser(service, new_key(service), {"host": host, "origin": f"http://{host}"})
    name, said = attributes(ann.set_cookie)
    assert (name, "secure" in said, "httponly" in said, said["samesite"]) == ("deniable-local", False, True, "strict")
    assert ann.get() == 200


@pytest.mark.parametrize("host", ["", ":8000", "[", "[::2]", "127.1", "0.0.0.0", "localhost:x", "LOCALHOST.", "::1:x"])
def test_what_is_not_this_machine(host: str) -> None:
    assert not is_local(host)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        (FAR, 303),
        ({"host": "collect.example.org", "sec-fetch-site": "same-origin"}, 303),
        ({"host": HOST, "origin": PUBLIC}, 303),  # a proxy that keeps the host's name to itself
        ({**FAR, "sec-fetch-site": "same-site"}, 403),
        ({**FAR, "origin": "http://collect.example.org"}, 403),
        ({**FAR, "origin": f"{PUBLIC}:8443"}, 403),
        ({**FAR, "origin": "http://collect.example.org", "sec-fetch-site": "same-origin"}, 403),
        ({"host": HOST, "origin": f"http://{HOST}"}, 403),
        ({"host": "evil.example", "origin": "https://evil.example"}, 403),
        ({"host": "collect.example.org", "origin": "https://evil.example", "x-forwarded-host": "evil.example"}, 403),
    ],
)
def test_forms_come_from_the_public_address(headers: dict[str, str], status: int) -> None:
    service = Paged(Settings(public_url=PUBLIC))
    id = service.add(task(mechanisms()["choice"]), "draft")
    ann = Browser(service, new_key(service), FAR)
    reply = post(service, f"/tasks/{id}/state", {"state": "open"}, {"cookie": ann.cookie, **headers})
    row = service.store.task(id)
    assert row is not None
    assert (reply.status, row.state) == (status, "open" if status == 303 else "draft")
    assert Browser(service, new_key(service), headers).reply.status == status


# ---- when it ends


def test_signing_out_ends_the_session_on_the_server(service: Paged, ann: Browser) -> None:
    """Whoever kept the cookie has nothing; another session of the same key goes on."""
    other = Browser(service, new_key(service))
    reply = ann.post("/sign-out")
    assert (reply.status, attributes(reply.headers["set-cookie"])[1]["max-age"]) == (303, "0")
    assert (ann.get(), other.get()) == (401, 200)
    assert ann.post("/plan/draft").status == 401
    assert ann.post("/sign-out").status == 303
    assert service.get("/sign-out", {"cookie": other.cookie}).status == 405
    assert other.get() == 200


def test_signing_in_again_ends_the_session_before(service: Paged, ann: Browser) -> None:
    fields = {"key": new_key(service)}
    assert post(service, "/sign-in", fields, {**LOCAL, "cookie": ann.cookie}).status == 303
    assert ann.get() == 401


@pytest.mark.parametrize("behind", [timedelta(0), DAY, 400 * DAY])
def test_a_revoked_key_is_void_whatever_the_clock_says(service: Paged, behind: timedelta) -> None:
    """The one who revokes it may be a day ahead of the collector, as around midnight."""
    key = new_key(service, "analyst")
    ann = Browser(service, key)
    assert ann.get() == 200
    keys.revoke(service.store, "analyst-1", service.now.date() + behind)
    assert ann.get() == 401
    assert service.get("/v1/tasks", {"authorization": f"Bearer {key}"}).problem == "no-key"
    assert Browser(service, key).reply.status == 401


def test_a_session_that_began_while_its_key_was_revoked_is_void(service: Paged) -> None:
    new_key(service, "analyst")
    keys.revoke(service.store, "analyst-1", service.now.date() + DAY)
    token = begin(service.store, "analyst-1", service.now, service.settings)
    assert visitor(service.store, token, service.now, service.settings) is None


def test_rotating_a_key_ends_its_sessions(service: Paged) -> None:
    """The old key still opens the door for its days, and with 0 days not once more."""
    key = new_key(service, "analyst")
    other = new_key(service, "analyst")
    ann, bob = Browser(service, key), Browser(service, other)
    keys.rotate(service.store, "analyst-1", today=service.now.date(), days=7)
    assert (ann.get(), bob.get()) == (401, 200)
    again = Browser(service, key)
    assert again.get() == 200
    service.later(7)
    assert Browser(service, key).reply.status == 401
    service.later(-8)
    assert Browser(service, other).get() == 200
    keys.rotate(service.store, "analyst-2", today=service.now.date() + DAY, days=0)
    assert (bob.get(), Browser(service, other).reply.status) == (401, 401)


def test_a_session_ends_on_the_day_on_which_its_key_does() -> None:
    service = Paged(Settings(session_seconds=3 * 86400, session_idle_seconds=3 * 86400))
    key = new_key(service, "analyst")
    keys.rotate(service.store, "analyst-1", today=service.now.date(), days=1)
    ann = Browser(service, key)
    assert ann.get() == 200
    service.later(1)
    assert ann.get() == 401


def test_a_session_runs_out(service: Paged) -> None:
    """After an hour without a request, and after twelve in any case."""
    ann, bob = (Browser(service, new_key(service)) for _ in range(2))
    for _ in range(13):
        service.now += timedelta(minutes=54)
        assert ann.get() == 200
    assert bob.get() == 401
    service.now += timedelta(minutes=17)
    assert ann.get() == 200
    service.now += timedelta(minutes=1)
    assert ann.get() == 401
    service.now -= timedelta(minutes=1)
    assert ann.get() == 200
    service.now -= timedelta(hours=12, minutes=5)
    assert ann.get() == 401, "a clock that was put back makes it no longer"


@pytest.mark.parametrize(("whole", "idle"), [(600, 180), (180, 600), (300, 300)])
def test_a_session_lasts_as_long_as_the_settings_say_to_the_second(whole: int, idle: int) -> None:
    """Its end for those who keep working, and the other limit for those who do nothing, at the start and later."""
    service = Paged(Settings(session_seconds=whole, session_idle_seconds=idle))
    key, start, second = new_key(service), service.now, timedelta(seconds=1)
    working, idler, later = (Browser(service, key) for _ in range(3))
    for passed in range(60, whole, 60):
        service.now = start + timedelta(seconds=passed)
        assert working.get() == 200
        if passed == 60:
            assert later.get() == 200
    for browser, last in ((working, whole), (later, min(whole, 60 + idle)), (idler, min(whole, idle))):
        for now, status in ((last, 401), (last - 1, 200)):  # the first of them is not noted as use
            service.now = start + now * second
            assert browser.get() == status


def test_pages_that_ask_by_themselves_keep_nobody_signed_in(service: Paged, ann: Browser) -> None:
    id = service.add(task(mechanisms()["choice"]))
    for _ in range(2):
        service.now += timedelta(minutes=40)
        status, _ = watched(service, id, {"cookie": ann.cookie}, [])
        assert status == (200 if service.now.minute == 40 else 401)
    assert ann.get() == 401


def test_a_session_goes_on_where_its_use_cannot_be_noted(
    service: Paged, ann: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise StoreUnavailableError("the disk is full.")

    monkeypatch.setattr(type(service.store.sessions), "use", full)
    service.now += timedelta(minutes=30)
    assert ann.get() == 200
    service.now += timedelta(minutes=30)
    assert ann.get() == 401


def test_upkeep_erases_sessions_that_are_over(service: Paged, ann: Browser) -> None:
    service.now += timedelta(minutes=59)
    bob = Browser(service, new_key(service))
    service.collector.tidy()
    assert (ann.get(), bob.get()) == (200, 200)
    service.now += timedelta(minutes=60)
    service.collector.tidy()
    assert service.store.sessions.rows == {}


# ---- open pages


Step = Callable[[], object]


def watched(service: Paged, id: str, headers: Mapping[str, str], steps: list[Step]) -> tuple[int, list[str]]:
    """Live counts: the status, and the events; a step is taken each time that the stream waits, and then it is over."""
    coming, parts, waits = iter(steps), list[Any](), list[float]()

    async def sleep(seconds: float) -> None:
        waits.append(seconds)
        step = next(coming, None)
        if step is None:
            service.collector.stopping = True
        else:
            step()

    async def receive() -> dict[str, Any]:
        await asyncio.Event().wait()  # the page stays open
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        parts.append(message)

    scope = {"type": "http", "method": "GET", "path": f"/tasks/{id}/events", "query_string": b""}
    head = {"host": HOST, **headers}
    scope["headers"] = [(name.encode(), value.encode()) for name, value in head.items()]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dashboard.asyncio, "sleep", sleep)  # type: ignore[attr-defined]
        asyncio.run(service.app(scope, receive, send))
    service.collector.stopping = False
    assert all(seconds <= 1 for seconds in waits), "it is asked at least once a second"
    body = b"".join(part.get("body", b"") for part in parts[1:]).decode()
    return parts[0]["status"], body.split("\n\n")[:-1]


COUNTS = 'data: {"reports": 0, "rejected": 0}'
END = "event: end\ndata: {}"


def test_an_open_stream_ends_with_the_session(service: Paged) -> None:
    """By signing out elsewhere, when the key is revoked or rotated, and when time is up; also that of a key itself."""
    id = service.add(task(mechanisms()["choice"]))
    key = new_key(service)
    today = service.now.date()

    def wait() -> None:
        service.now += timedelta(hours=1)

    ends: list[tuple[Step, bool]] = [
        (lambda: end(service.store, ann.token), True),
        (lambda: keys.rotate(service.store, "administrator-1", today=today, days=3), True),
        (wait, True),
        (lambda: keys.revoke(service.store, "administrator-1", today + DAY), True),
        (lambda: None, False),
    ]
    for step, over in ends:
        ann = Browser(service, key if over else new_key(service))
        status, events = watched(service, id, {"cookie": ann.cookie}, [lambda: None, step, lambda: None])
        assert (status, events[0], events[-1] == END) == (200, COUNTS, over)
        assert len(events) == 2 if not over else events.index(END) == len(events) - 1 <= 2
    other = {"authorization": f"Bearer {new_key(service, 'analyst')}"}
    stop = [lambda: keys.revoke(service.store, "analyst-1", today)]
    assert watched(service, id, other, [*stop, lambda: None]) == (200, [COUNTS, END])


# ---- several processes


@pytest.fixture(params=ENGINES)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return new_database(request.param, tmp_path)


@pytest.fixture
def two(url: str) -> Iterator[list[Paged]]:
    """Two collectors on one database."""
    stores: list[Any] = [open_store(url) for _ in range(2)]
    yield [Paged(store=store) for store in stores]
    for store in stores:
        store.close()


def test_all_processes_of_a_database_know_who_is_signed_in(two: list[Paged]) -> None:
    """Signed in at one, signed out at the other; revoked at one, void at the other, at the very next request."""
    one, other = two
    key = new_key(one)
    ann = Browser(one, key)
    assert (ann.get(), ann.get(service=other)) == (200, 200)
    assert post(other, "/sign-out", {}, {**LOCAL, "cookie": ann.cookie}).status == 303
    assert (ann.get(), ann.get(service=other)) == (401, 401)
    ann, bob = Browser(other, key), Browser(other, new_key(one, "analyst"))
    keys.revoke(one.store, "administrator-1", one.now.date() + DAY)
    assert (ann.get(), ann.get(service=one), bob.get()) == (401, 401, 200)
    assert [Browser(each, key).reply.status for each in two] == [401, 401]
    one.now = other.now = one.now + timedelta(minutes=50)
    assert bob.get(service=one) == 200
    one.now = other.now = one.now + timedelta(minutes=50)
    assert bob.get() == 200, "what one process notes holds for the other"
    one.now = other.now = one.now + timedelta(minutes=61)
    assert bob.get() == 401
    assert [other.store.sessions.expire(int(one.now.timestamp())) for _ in range(2)] == [1, 0]


def test_a_restored_database_has_signed_nobody_in(two: list[Paged], url: str, tmp_path: Path) -> None:
    ann = Browser(two[0], new_key(two[0]))
    assert ann.get() == 200
    two[0].store.backup(tmp_path / "copy")
    used: Any = open_store(f"sqlite:///{shutil.copy(tmp_path / 'copy', tmp_path / 'used.db')}")
    assert ann.get(service=Paged(store=used)) == 401, "a copy that is used as it is"
    used.close()
    engine = engine_of(new_database("sqlite", tmp_path))
    restoring.restore(tmp_path / "copy", engine, today=TODAY)
    engine.close()
    store: Any = open_store(f"sqlite:///{engine.path}")  # type: ignore[attr-defined]
    assert (ann.get(service=Paged(store=store)), ann.get()) == (401, 200)
    assert [key.name for key in list(store.keys())] == ["administrator-1"]
    store.close()


# ---- signing in


def test_whatever_is_wrong_with_a_key_the_answer_is_the_same(service: Paged, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unknown, void, of nobody's form: the same bytes, after the same comparisons; and nothing is said of names."""
    void = new_key(service, "analyst")
    keys.revoke(service.store, "analyst-1", service.now.date())
    right, compared = new_key(service), list[int]()
    usual = hmac.compare_digest

    def compare(one: bytes, two: bytes) -> bool:
        compared.append(1)
        return usual(one, two)

    monkeypatch.setattr(keys.hmac, "compare_digest", compare)
    wrong = (void, right[:-1] + ("A" if right[-1] != "A" else "B"), "x", "", "administrator-1", "\u20ac" * 500)
    replies = []
    for key in wrong:
        compared.clear()
        replies.append(Browser(service, key).reply)
        assert len(compared) == 2
    assert {(reply.status, reply.body, tuple(reply.headers.items())) for reply in replies} == {
        (401, replies[0].body, tuple(replies[0].headers.items()))
    }
    assert replies[0].headers["cache-control"] == "no-store"


def test_failed_sign_ins_are_limited_and_lock_nobody_out(service: Paged, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    key = new_key(service)
    replies = [Browser(service, "x").reply for _ in range(Failures.MOST + 20)]
    assert [reply.status for reply in replies] == [401] * Failures.MOST + [429] * 20
    assert {reply.headers.get("retry-after") for reply in replies[-20:]} == {"6"}
    assert Browser(service, key).get() == 200
    failed = [record.facts for record in caplog.records if "failed" in getattr(record, "facts", {})]  # type: ignore[attr-defined]
    assert failed == [{"failed": 1}] * Failures.MOST
    assert b"deniable_failed_sign_ins_total 30\n" in service.get("/metrics").body


def test_the_bucket_of_failures_fills_again() -> None:
    bucket, start = Failures(), 1000.0
    told = [bucket.note(start) for _ in range(Failures.MOST + 5)]
    assert told == [1] * Failures.MOST + [0] * 5
    assert bucket.note(start + Failures.SECONDS / 2) == 0
    assert bucket.note(start + Failures.SECONDS) == 7, "those that were not told are, in the next line"
    assert bucket.note(start + Failures.SECONDS) == 0
    assert sum(bucket.note(start + 1e6) > 0 for _ in range(50)) == Failures.MOST


KEYED = [row for row in (*ROWS, *PAGES) if row.role is not keys.Role.PUBLIC]


@pytest.mark.parametrize("row", KEYED, ids=lambda row: f"{row.method} {row.path}")
def test_nothing_behind_a_key_is_kept_by_browsers(row: Any) -> None:
    """Neither what was asked for nor the refusal."""
    service = Paged()
    made = mechanisms()["choice"]
    document = task(made, opens=TODAY - 14 * DAY)
    id = service.add(document)
    fill(service.store, document, made, 20, day=TODAY - 14 * DAY, seed=1)
    path = row.path.format(
        id=id, window=0, question="q0", kind="csv" if "export" in row.path else "svg", name="x", tag="de"
    )
    if row.live:
        service.collector.stopping = True
    key = service.key("administrator")
    for headers in ({}, key):
        reply = service.post(path, b"{}", headers, method=row.method)
        assert reply.headers["cache-control"] == "no-store"
        assert headers or reply.status == 401


# ---- what is logged


def facts(caplog: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    found = [{"event": record.getMessage(), **record.facts} for record in caplog.records if hasattr(record, "facts")]
    caplog.clear()
    return found


PLAN = {"text": "How often?", "kind": "shares", "answers": "never\nsometimes\noften", "people": "10000", "epsilon": "1"}


def test_every_action_is_logged_with_the_name_of_the_key(service: Paged, caplog: pytest.LogCaptureFixture) -> None:
    """On pages as over HTTP; looking is not an action."""
    caplog.set_level(logging.INFO)
    made = mechanisms()["choice"]
    document = task(made, opens=TODAY - 14 * DAY)
    id = service.add(document, "draft")
    ann = Browser(service, new_key(service))
    by = {"by": "administrator-1"}
    assert facts(caplog) == [{"event": "sign-in", **by}]
    ann.post(f"/tasks/{id}/state", state="open")
    assert facts(caplog) == [{"event": "task", "id": id, "state": "open", **by}]
    fill(service.store, document, made, 20, day=TODAY - 14 * DAY, seed=1)
    for kind in ("csv", "json", "parquet"):
        assert ann.get(f"/tasks/{id}/export.{kind}") == 200
        assert facts(caplog) == [{"event": "download", "id": id, "what": kind, **by}]
    for path in ("/", f"/tasks/{id}", f"/tasks/{id}/certificate", f"/plan?{urlencode(PLAN)}"):
        assert ann.get(path) == 200
    key = service.key("administrator")
    assert service.get("/v1/tasks", key).status == 200
    assert facts(caplog) == []
    for accept in ("application/json", "application/octet-stream"):
        assert service.get(f"/v1/tasks/{id}/tally", {**key, "accept": accept}).status == 200
        assert facts(caplog) == [{"event": "download", "id": id, "what": "tally", "by": "administrator-2"}]
    ann.post(f"/tasks/{id}/state", state="closed")
    assert facts(caplog) == [{"event": "task", "id": id, "state": "closed", **by}]
    text = service.get(f"/plan?{urlencode(PLAN)}", {"cookie": ann.cookie}).body.decode()
    design = re.search(r'name="design" value="([^"]+)"', text)
    assert design is not None
    drafted = ann.post("/plan/draft", **PLAN, design=design[1]).headers["location"].rpartition("/")[2]
    assert facts(caplog) == [{"event": "questionnaire", "id": drafted, "state": "draft", **by}]
    assert service.post("/v1/keys", {"role": "analyst", "name": "bob"}, key).status == 201
    assert service.post("/v1/keys/bob", b"", key, method="DELETE").status == 204
    assert facts(caplog) == [
        {"event": "key", "name": "bob", "role": "analyst", "by": "administrator-2"},
        {"event": "key", "name": "bob", "revoked": True, "by": "administrator-2"},
    ]
    ann.post("/sign-out")
    assert facts(caplog) == [{"event": "sign-out", **by}]


@pytest.mark.parametrize("zone", ["UTC", "EAST-14", "WEST+11", "HALF-5:45"])
@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (0, "1970-01-01T00:00:00Z"),
        (1_798_761_599.999, "2026-12-31T23:59:59Z"),
        (1_798_761_600, "2027-01-01T00:00:00Z"),
        (1_782_864_000, "2026-07-01T00:00:00Z"),
    ],
)
def test_lines_of_the_log_have_the_time_of_utc_wherever_the_service_is(
    zone: str, seconds: float, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = logging.LogRecord("deniable.service", logging.INFO, __file__, 1, "started", None, None)
    record.created = seconds
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        assert json.loads(_Lines().format(record)) == {"time": told, "level": "info", "event": "started"}
    finally:
        monkeypatch.delenv("TZ")
        time.tzset()


def test_no_secret_is_logged(service: Paged, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    """No key, no token, no password, right or wrong, also when something goes wrong inside."""
    caplog.set_level(logging.DEBUG)
    key = new_key(service)
    ann = Browser(service, key)
    secrets = [key, ann.token, "canary-of-a-password"]
    Browser(service, secrets[2])
    service.get("/", {"authorization": f"Bearer {secrets[2]}"})
    post(service, "/sign-in", {"key": key, "next": f"/{secrets[2]}"}, {**LOCAL, "host": "evil.example"})

    def broken(_: object, digest: bytes) -> None:
        raise RuntimeError(f"{key} {ann.token} {secrets[2]}")

    with monkeypatch.context() as patch:
        patch.setattr(type(service.store.sessions), "get", broken)
        assert ann.get() == 500
    made = service.post("/v1/keys", {"role": "analyst"}, {"authorization": f"Bearer {key}"}).json["key"]
    ann.post("/sign-out")
    text = "\n".join(_Lines().format(record) for record in caplog.records)
    assert [line["event"] for line in map(json.loads, text.splitlines()) if "event" in line].count("fault") == 1
    for secret in (*secrets, made):
        assert secret not in text
