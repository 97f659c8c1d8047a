"""Alerts: what is told, to whom, signed, once; and never anything about fewer reports than the minimum batch."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from types import SimpleNamespace
from typing import Any

import pytest

import deniable as dn
from deniable.errors import DeniableError, ParameterError
from deniable.service.access.identity import Identity
from deniable.service.alerts import webhook as calling
from deniable.service.alerts.notices import Notice, alerts_of, notices
from deniable.service.alerts.webhook import ATTEMPTS, SIGNED, Webhook, deliver
from deniable.service.ingest import Intake
from deniable.service.limits.clocks import Watch
from deniable.service.release import windows
from deniable.service.settings import settings
from deniable.service.store import open_store
from deniable.service.store.contract import Incoming, Store, Upload
from deniable.service.upkeep import Upkeep
from deniable_client.signing import verify
from service.making import DAY, fresh_id, opened, report

GRR = dn.mechanism("grr", epsilon=1.0, k=8).design
Sent = tuple[str, bytes, dict[str, str], bool]


@pytest.fixture
def store(tmp_path: Any) -> Iterator[Store]:
    found = open_store(f"sqlite:///{tmp_path}/a.db")
    yield found
    found.close()


def filled(store: Store, *counts: int) -> tuple[Any, datetime]:
    """A task whose windows had so many reports, and the time after the last of them."""
    task = opened(store, count=len(counts) + 1)
    for week, n in enumerate(counts):
        store.add([Upload(task.id, DAY + timedelta(7 * week), [report(i % 8) for i in range(n)])])
    return task, datetime.combine(DAY + timedelta(7 * len(counts) + 1), datetime.min.time(), UTC)


def told(store: Store, task: Any, now: datetime) -> list[Notice]:
    row = store.task(task.id)
    assert row is not None
    found = windows(store, row, Intake(row.document), now)
    return notices(task, found, store.rejections(task.id), now)


def test_windows_are_told_of_in_counts_and_never_below_the_minimum_batch(store: Store) -> None:
    task, now = filled(store, 12, 7)
    first, second = told(store, task, now)
    assert first.document["event"] == "published"
    assert first.document["questions"] == [{"question": "q0", "state": "published", "reports": 12}]
    assert second.document["event"] == "withheld"
    assert second.document["questions"] == [{"question": "q0", "state": "withheld"}]
    text = json.dumps(second.document)
    assert "reports" not in text
    assert "why" not in text
    assert set(first.document) == {"version", "event", "task", "min_batch", "window", "from", "to", "questions"}
    assert told(store, task, now + timedelta(60)) == [], "what ended long ago is not told to a new address"


@pytest.mark.parametrize("days", [1, 7, 40, 366])
def test_a_window_is_told_of_until_thirty_days_after_its_last_day(store: Store, days: int) -> None:
    """However long it was itself, and to the day."""
    task = opened(store, days=days, count=2)
    store.add([Upload(task.id, DAY, [report(i % 8) for i in range(12)])])
    last = DAY + timedelta(days - 1)
    for later, events in ((2, ["published"]), (30, ["published"]), (31, [])):
        now = datetime.combine(last + timedelta(later), datetime.max.time(), UTC)
        found = [notice.document for notice in told(store, task, now)]
        first = [document for document in found if document["window"] == 0]
        assert [document["event"] for document in first] == events
        assert {(document["from"], document["to"]) for document in first} <= {(DAY.isoformat(), last.isoformat())}


def test_refused_reports_are_told_of_in_numbers(store: Store) -> None:
    task, now = filled(store, 12)
    body = [report(200) for _ in range(9)]
    store.add([Upload(task.id, DAY, body)])
    assert [n.document["event"] for n in told(store, task, now)] == ["published"], "9 are too few to tell of"
    store.add([Upload(task.id, DAY, [report(200) for _ in range(3)])])
    last = told(store, task, now)[-1]
    assert (last.document["event"], last.document["refused"], last.document["impossible"]) == ("refused", 12, 12)
    row = store.task(task.id)
    assert row is not None
    found = windows(store, row, Intake(row.document), now)
    kinds = [kind for kind, _ in alerts_of(task, found, "open", store.rejections(task.id), now)]
    assert kinds == ["refused"]


def test_a_window_that_will_be_too_small_is_told_before_it_ends(store: Store) -> None:
    task = opened(store)
    store.add([Upload(task.id, DAY, [report(i % 8) for i in range(5)])])
    row = store.task(task.id)
    assert row is not None
    for days, said in ((1.0, []), (5.5, ["few"]), (6.5, ["few"])):
        now = datetime.combine(DAY, datetime.min.time(), UTC) + timedelta(days)
        found = windows(store, row, Intake(row.document), now)
        assert [kind for kind, _ in alerts_of(task, found, "open", {}, now)] == said
    store.add([Upload(task.id, DAY, [report(i % 8) for i in range(5)])])
    found = windows(store, row, Intake(row.document), now)
    assert alerts_of(task, found, "open", {}, now) == [], "10 of 10 are enough"
    for shares, kinds in (((1, 1), []), ((1, 3), ["few"])):
        uneven: Any = SimpleNamespace(
            opens=task.opens,
            days=task.days,
            min_batch=5,
            questions=[SimpleNamespace(share=share) for share in shares],
        )
        assert [kind for kind, _ in alerts_of(uneven, found, "open", {}, now)] == kinds, "the least asked has too few"


def test_a_window_of_several_questions_needs_enough_reports_of_each(store: Store) -> None:
    """Twice the questions, twice the reports: half of them in half of the time are on their way to enough."""
    task = opened(store, [GRR] * 2)
    row = store.task(task.id)
    assert row is not None
    now = datetime.combine(DAY, datetime.min.time(), UTC) + timedelta(5.6)  # four fifths of the window are over
    said = []
    for more in (15, 1):  # of 20 that are needed, 16 by now
        sent = [Incoming(fresh_id(), bytes([i % 2, i % 8])) for i in range(more)]
        store.add([Upload(task.id, DAY, sent)])
        found = windows(store, row, Intake(row.document), now)
        said.append([kind for kind, _ in alerts_of(task, found, "open", {}, now)])
    assert said == [["few"], []]


# ---- messages


def test_messages_are_signed_sent_once_and_survive_a_restart(store: Store) -> None:
    task, now = filled(store, 12, 7)
    sent: list[Sent] = []

    def post(address: str, body: bytes, headers: dict[str, str], private: bool) -> int:
        sent.append((address, body, headers, private))
        return 204

    found = told(store, task, now)
    for _ in range(2):  # the second one is a new process
        Webhook(store, ["https://a.example/x", "https://b.example/"], post=post).tell(found)
    assert [(address, json.loads(body)["event"]) for address, body, _, _ in sent] == [
        ("https://a.example/x", "published"),
        ("https://b.example/", "published"),
        ("https://a.example/x", "withheld"),
        ("https://b.example/", "withheld"),
    ]
    for _, body, headers, private in sent:
        key = Identity(store.identity()).key
        assert headers["deniable-key"] == key
        assert verify(bytes.fromhex(key), bytes.fromhex(headers["deniable-signature"]), SIGNED + body)
        assert not verify(bytes.fromhex(key), bytes.fromhex(headers["deniable-signature"]), SIGNED + body + b" ")
        assert not private


def test_what_fails_is_tried_again_ever_later_and_not_for_ever(store: Store) -> None:
    task, now = filled(store, 12)
    times: list[float] = []
    clock = [0.0]

    def post(*_: object) -> int:
        times.append(clock[0])
        return 302 if len(times) % 2 else 500

    hook = Webhook(store, ["https://a.example/"], post=post, clock=lambda: clock[0])
    found = told(store, task, now)
    for minute in range(2000):
        clock[0] = 60.0 * minute
        assert hook.tell(found) == 0
    assert times == [0.0, 60.0, 300.0, 1260.0, 5100.0, 20460.0]
    assert len(times) == ATTEMPTS


def test_upkeep_tells_what_it_publishes(store: Store) -> None:
    task, now = filled(store, 12)
    sent: list[bytes] = []
    hook = Webhook(store, ["https://a.example/"], post=lambda _, body, *__: sent.append(body) or 200)
    watch = Watch(store, 7, lambda: now, lambda: 0.0)
    Upkeep(store, watch, hook).round()
    assert [json.loads(body)["event"] for body in sent] == ["published"]
    assert json.loads(sent[0])["task"] == task.id
    Upkeep(store, watch, hook).round()
    assert len(sent) == 1


# ---- addresses


class Site:
    """A server of this machine that answers as it is told, and notes what came."""

    def __init__(self, status: int, headers: dict[str, str]) -> None:
        self.came: list[tuple[str, bytes, str]] = []

        class Handler(BaseHTTPRequestHandler):
            def do_POST(own) -> None:  # noqa: N805
                body = own.rfile.read(int(own.headers["content-length"]))
                self.came.append((own.path, body, own.headers.get("deniable-name", "")))
                own.send_response(status)
                for name, value in headers.items():
                    own.send_header(name, value)
                own.end_headers()

            def log_message(own, *_: object) -> None:  # noqa: N805
                """Say nothing."""

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        Thread(target=self.server.serve_forever, daemon=True).start()


def test_private_addresses_are_called_only_if_the_settings_say_so_and_no_redirect_is_followed() -> None:
    other = Site(200, {})
    site = Site(307, {"location": f"{other.url}/there"})
    try:
        assert deliver(f"{site.url}/hook?a=1", b"{}", {"deniable-name": "x"}, True) == 307
        assert site.came == [("/hook?a=1", b"{}", "x")]
        assert other.came == []
        with pytest.raises(DeniableError, match="without TLS"):
            deliver(f"{site.url}/hook", b"{}", {}, False)
        with pytest.raises(DeniableError, match="not public"):
            deliver(f"https://127.0.0.1:{site.server.server_port}/", b"{}", {}, False)
        assert len(site.came) == 1
    finally:
        for each in (site, other):
            each.server.shutdown()
            each.server.server_close()


HIDDEN = [
    *("127.0.0.1", "10.1.2.3", "192.168.0.1", "169.254.169.254", "::1", "fe80::1%lo", "fd00::1", "0.0.0.0"),
    *("100.64.0.0", "100.100.100.200", "100.127.255.255", "172.16.0.1", "172.31.255.255", "255.255.255.255"),
]  # fmt: skip
"""Addresses that are not public; those of 100.64.0.0/10, which networks of providers share, are not private either."""


@pytest.mark.parametrize("address", ["100.63.255.255", "100.128.0.0", "172.32.0.0", "93.184.216.34", "2606:4700::1"])
def test_a_name_that_leads_to_public_addresses_only_is_called(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    """At the address that was looked at, with the port of the name; private ones too, if the settings say so."""
    called: list[Any] = []

    def connect(where: tuple[str, int], **_: object) -> None:
        called.append(where)
        raise ConnectionRefusedError

    monkeypatch.setattr(socket, "create_connection", connect)
    for own, allowed in ((address, False), (HIDDEN[-1], True)):
        found = [(socket.AF_UNSPEC, socket.SOCK_STREAM, 6, "", (own, 8443))]
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, known=found, **__: known)
        with pytest.raises(ConnectionRefusedError):
            deliver("https://hook.example:8443/", b"{}", {}, allowed)
    assert called == [(address, 8443), (HIDDEN[-1], 8443)]


@pytest.mark.parametrize("address", HIDDEN)
def test_a_name_that_leads_to_any_private_address_is_refused(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    """Also if another one of its addresses is public: nobody chooses for us which is called."""
    public = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("93.184.216.34", 443))
    hidden = (socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 443))
    monkeypatch.setattr(calling.socket, "getaddrinfo", lambda *_, **__: [public, hidden])
    monkeypatch.setattr(socket, "create_connection", lambda *_, **__: pytest.fail("somebody is called"))
    with pytest.raises(DeniableError, match="not public"):
        deliver("https://rebound.example/", b"{}", {}, False)


def test_addresses_are_those_of_the_settings() -> None:
    given = settings({"webhooks": "https://a.example/hook, https://b.example:8443/"}, environment={})
    assert given.webhooks == ("https://a.example/hook", "https://b.example:8443/")
    assert settings({}, environment={"DENIABLE_WEBHOOKS": "http://10.0.0.5/x"}).webhooks == ("http://10.0.0.5/x",)
    for wrong in (
        "ftp://a.example",
        "https://user:secret@a.example/",
        "https://a.example/a b",
        "a.example",
        "https://",
    ):
        with pytest.raises(ParameterError, match="webhooks"):
            settings({"webhooks": wrong}, environment={})
    with pytest.raises(ParameterError, match="at most 8"):
        settings({"webhooks": ",".join(["https://a.example/"] * 9)}, environment={})
