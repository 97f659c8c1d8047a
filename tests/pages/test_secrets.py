"""Secrets: a canary of every kind, looked for in logs, answers, metrics and names."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any

import pytest

import deniable as dn
from canary.forms import leaked
from canary.loggers import kept
from deniable.service import logs
from deniable.service.access.keys import new_key, rotate
from deniable.service.settings import Settings
from deniable.service.store import engine_of
from deniable.service.store.contract import Upload
from deniable.service.tasks import Asked
from pages.asks import LOCAL, Browser, Paged
from service.calling import Service, item, task_of

REPORT = b"canary-of-an-answer".ljust(64, b"!")
PUBLIC = "https://collect.example.org"
FAR = {"host": "collect.example.org", "origin": PUBLIC}
DESIGN = dn.mechanism("oue", epsilon=1.0, k=512).design
"""Any 64 bytes are a report."""


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """What the service writes to its log: as bytes of lines, each one object."""
    out = io.StringIO()
    monkeypatch.setattr("sys.stderr", out)

    def read() -> list[dict[str, Any]]:
        return [json.loads(line) for line in out.getvalue().splitlines()]

    with kept():
        logs.set_up()
        yield read


def test_keys_and_cookies_are_in_no_line_of_the_log(lines: Any) -> None:
    service = Paged()
    administrator = new_key(service.store, "administrator", today=service.now.date())[1]
    headers = {"authorization": f"Bearer {administrator}"}
    made = service.post("/v1/keys", {"role": "analyst", "name": "ann"}, headers).json["key"]
    browser = Browser(service, made)
    assert browser.get() == 200
    wrong = "deniable-analyst-canary-of-a-wrong-key"
    assert Browser(service, wrong).reply.status == 401
    assert service.get("/v1/tasks", {"authorization": f"Bearer {wrong}"}).status == 401
    _, turned, _ = rotate(service.store, "ann", today=service.now.date(), days=3)
    assert service.post("/v1/keys/ann", b"", headers, method="DELETE").status == 204
    told = lines()
    assert {line["event"] for line in told} >= {"key", "sign-in"}
    text = json.dumps(told) + service.get("/metrics").body.decode() + repr(service.store.keys())
    assert browser.token
    for secret in (administrator, made, wrong, turned, browser.token):
        assert secret not in text
        assert secret.removeprefix("deniable-analyst-") not in text


def test_an_answer_is_in_no_line_and_no_reply_also_where_we_fail(lines: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error quotes what was sent, as errors do; its type and place are told, its words are not."""
    service = Service()
    id = service.add(task_of(Asked(text="Which?", design=DESIGN)))
    assert service.fates(id, item(1, REPORT)) == ["accepted"]
    assert service.fates(id, item(2, REPORT[:-1])) == ["length"]

    async def broken(upload: Upload) -> Any:
        raise ValueError(f"cannot count {upload.reports[0].body!r}")

    monkeypatch.setattr(service.collector, "_submit", broken)
    reply = service.send(id, item(3, REPORT))
    assert reply.problem == "fault"

    def failing(*_: Any) -> Any:
        raise KeyError(REPORT.decode())

    monkeypatch.setattr(service.store, "tasks", failing)
    service.collector.tidy()
    told = lines()
    assert [(line["event"], line.get("error")) for line in told] == [("fault", "ValueError"), ("upkeep", "KeyError")]
    for line in told:
        assert any("test_secrets.py" in place for place in line["at"]), "where it happened is told"
    text = json.dumps(told).encode() + reply.body + service.get("/metrics").body
    assert leaked(text, [REPORT.strip(b"!")]) == set()


def test_a_password_in_the_address_of_a_database_is_not_shown() -> None:
    pytest.importorskip("psycopg")
    engine = engine_of("postgresql://ann:canary-of-a-password@127.0.0.1:1/db")
    assert "canary" not in repr(engine)
    assert "127.0.0.1:1/db" in repr(engine)


def test_behind_a_proxy_with_tls_the_cookie_is_for_tls_only() -> None:
    for url, secure in ((PUBLIC, True), ("", False)):
        service = Paged(settings=Settings(public_url=url))
        key = new_key(service.store, "analyst", today=service.now.date())[1]
        cookie = Browser(service, key, FAR if url else LOCAL).set_cookie.lower()
        assert ("; secure" in cookie) is secure
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
