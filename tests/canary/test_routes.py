"""Every route is sent a canary of every kind, and is made to fail while it holds them: they turn up nowhere.

The routes come from the application's table, so a new one is tried by itself. What is looked at: every answer with its
headers, the log, the metrics, and the files of the database. Two answers may show a secret: the one to who makes a key
has that key, and the one to who signs in has the cookie.
"""

from __future__ import annotations

import io
import json
import re
from base64 import b64encode
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

import deniable as dn
from canary.forms import found_in, leaked
from canary.loggers import kept
from deniable.service import logs
from deniable.service.http.app import ROWS
from deniable.service.http.routes import Row
from deniable.service.pages.table import PAGES
from deniable.service.store import open_store
from deniable.service.tasks import Asked
from pages.asks import FORM, LOCAL, Browser, Paged, new_key_of
from service.calling import Reply, task_of

DESIGN = dn.mechanism("oue", epsilon=1.0, k=512).design
"""Any 64 bytes are a report."""
SENT = {
    "report": b"canary-of-a-report".ljust(64, b"!"),
    "answer": b"canary-of-an-answer",
    "wrong key": b"deniable-analyst-canary-of-a-wrong-key",
    "wrong cookie": b"canary-of-a-wrong-cookie",
    "address": b"203.0.113.213",
    "agent": b"canary-of-an-agent",
    "referrer": b"canary-of-a-referrer",
}
EVERY = [*ROWS, *PAGES]


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], bytes]]:
    """What the service writes to its log."""
    out = io.StringIO()
    monkeypatch.setattr("sys.stderr", out)
    with kept():
        logs.set_up()
        yield lambda: out.getvalue().encode()


class House:
    """A collector with its pages on a database in a file, and the secrets of those who use it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.store = folder, open_store(f"sqlite:///{folder / 'c.db'}", settle_seconds=3600)
        self.service = Paged(store=self.store)  # type: ignore[arg-type]  # a real store instead of one in memory
        asked = Asked(text="Which?", design=DESIGN)
        self.id = self.service.add(task_of(asked, opens=self.service.now.date(), min_batch=2))
        self.key = new_key_of(self.service)
        self.browser = Browser(self.service, self.key)
        assert self.browser.token
        self.secrets = {self.key.encode(), self.browser.token.encode(), *SENT.values()}
        self.replies: list[tuple[Row, Reply]] = []

    def path(self, row: Row) -> str:
        """The path of a row with something that is there; a secret in the query, where people put them by mistake."""
        known = {"id": self.id, "name": "nobody", "kind": "csv", "window": "0", "question": "q1", "version": "0"}
        bare = re.sub(r"\{([a-z]+)(:path)?\}", lambda found: known.get(found[1], "x"), row.path)
        return f"{bare}?{urlencode({'key': self.key, 'token': self.browser.token, 'answer': 'canary-of-an-answer'})}"

    def ways(self) -> Iterator[tuple[dict[str, str], bytes]]:
        """Headers and bodies: by key and by cookie, right and wrong; as JSON, as a form and as bytes."""
        about = {name: value.decode() for name, value in SENT.items()}
        agent = {"user-agent": about["agent"], "x-forwarded-for": about["address"], "referer": about["referrer"]}
        named = self.browser.cookie.partition("=")[0]
        report = {"id": SENT["answer"].ljust(16)[:16].hex(), "report": b64encode(SENT["report"]).decode()}
        told = {"reports": [report], "answer": about["answer"], "key": about["wrong key"]}
        form = {"key": about["wrong key"], "answer": about["answer"], "report": report["report"]}
        kinds = {"json": ({"content-type": "application/json"}, json.dumps(told).encode())}
        kinds["form"] = (FORM, urlencode(form).encode())
        kinds["bytes"] = ({"content-type": "application/octet-stream"}, SENT["answer"][:16] + SENT["report"])
        for who, kind in (
            ({"authorization": f"Bearer {self.key}"}, "json"),
            ({"authorization": f"Bearer {about['wrong key']}", "cookie": f"{named}={about['wrong cookie']}"}, "bytes"),
            ({**LOCAL, "cookie": self.browser.cookie}, "form"),
        ):
            head, body = kinds[kind]
            yield {**agent, **who, **head}, body

    def visit(self, rows: list[Row]) -> None:
        """Every row, in every way."""
        for row in rows:
            for headers, body in self.ways():
                reply = self.service.call(row.method, self.path(row), body, headers)
                if reply is not None:
                    self.replies.append((row, reply))

    def told(self) -> bytes:
        """All answers and the metrics."""
        said = [reply.body + repr(dict(reply.headers)).encode() for _, reply in self.replies]
        return b"\n".join([*said, self.service.get("/metrics").body])


def test_no_route_tells_a_secret_to_anybody(tmp_path: Path, lines: Callable[[], bytes]) -> None:
    house = House(tmp_path)
    signing_out = [row for row in EVERY if "sign" in row.path]
    house.visit([row for row in EVERY if row not in signing_out])
    headers = {"authorization": f"Bearer {house.key}", "content-type": "application/json"}
    made = house.service.post("/v1/keys", {"role": "analyst", "name": "ann"}, headers).json["key"]
    again = Browser(house.service, made)
    assert again.get() == 200
    assert len({reply.status for _, reply in house.replies}) > 5, "some were answered, others refused, each in its way"
    statuses = {row.path: reply.status for row, reply in house.replies if reply.status < 300}
    assert {"/v1/tasks/{id}/reports", "/v1/keys", "/v1/tasks", "/metrics"} <= set(statuses), "some did what was asked"
    house.visit(signing_out)
    secrets = house.secrets | {made.encode(), again.token.encode()}
    assert leaked(house.told(), secrets) == set()
    assert b'"event": "key"' in lines(), "the log was looked at"
    assert leaked(lines(), secrets) == set()
    assert found_in(tmp_path, *secrets) == set()
    house.store.close()
    assert found_in(tmp_path, *secrets) == set()
    assert found_in(tmp_path, house.id.encode()) != set(), "what is kept would be found"


class Failing:
    """A store that fails in all that it is asked, with words that quote everything."""

    def __init__(self, words: str) -> None:
        self._words = words

    def __getattr__(self, name: str) -> Any:
        def fail(*args: Any, **options: Any) -> Any:
            raise ValueError(f"{name}{args!r}{options!r}: {self._words}")

        return fail


def test_no_route_tells_a_secret_when_it_fails(
    tmp_path: Path, lines: Callable[[], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where we fail we may hold anything: errors quote what they were given, and are not repeated."""
    house = House(tmp_path)
    words = " ".join(secret.decode() for secret in sorted(house.secrets))
    keys = house.store.keys()

    async def submit(upload: Any) -> Any:
        raise KeyError(f"{upload!r}: {words}")

    failing = Failing(words)
    failing.keys, failing.sessions = lambda: keys, house.store.sessions  # type: ignore[attr-defined]  # who comes in
    house.service.collector.store = failing  # type: ignore[assignment]
    monkeypatch.setattr(house.service.collector, "_submit", submit)
    house.visit([row for row in EVERY if row.path != "/metrics"])
    house.service.collector._upkeep._store = failing  # type: ignore[assignment]
    house.service.collector.tidy()
    failed = {row.path for row, reply in house.replies if reply.status == 500}
    assert {"/", "/q", "/v1/tasks", "/v1/tasks/{id}/reports"} <= failed, failed
    assert leaked(house.told(), house.secrets) == set()
    assert lines().count(b'"event": "fault"') >= len(failed)
    assert b'"event": "upkeep"' in lines()
    assert leaked(lines(), house.secrets) == set()
    house.store.close()


@pytest.mark.parametrize("where", ["as it is", "base64", "hex", "url", "json", "python"])
def test_a_canary_is_found_in_any_form(where: str) -> None:
    """What looks for secrets would find them."""
    secret = b'deniable-analyst-Ab_\xff"-x/y+z'
    shown = {
        "as it is": secret,
        "base64": b64encode(b"12345" + secret + b"6789"),
        "hex": secret.hex().encode(),
        "url": urlencode({"key": secret}).encode(),
        "json": json.dumps({"key": secret.decode("latin-1")}).encode(),
        "python": repr([secret]).encode(),
    }[where]
    assert leaked(b"some " + shown + b" text", [secret]) == {secret}
    assert leaked(b"some text", [secret]) == set()
