"""The service called within the test's process: a store in memory, a clock that is set by hand, no sockets."""

from __future__ import annotations

import asyncio
import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any

import deniable as dn
from deniable.service.access.identity import Identity
from deniable.service.access.keys import new_key
from deniable.service.collector import Collector
from deniable.service.http.app import application
from deniable.service.settings import Settings
from deniable.service.store.contract import Outcome, Upload
from deniable.service.tasks import Asked, Terms, new_task
from deniable_client.canonical import canonical
from service.memory import MemoryStore

HOST = "127.0.0.1:8000"
OPENS = date(2026, 11, 16)
DESIGN = dn.mechanism("grr", epsilon=1.0, labels=["never", "sometimes", "often"]).design


@dataclass(frozen=True)
class Reply:
    """What a request was answered; `cut` if the connection was left without one."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def problem(self) -> str:
        """The kind of a problem document, which is whole."""
        assert self.headers["content-type"] == "application/problem+json"
        found = self.json
        assert found["status"] == self.status
        assert found["title"]
        assert found["detail"]
        return str(found["type"]).removeprefix("urn:deniable:problem:")


def task_of(*questions: Asked, **terms: Any) -> dict[str, Any]:
    """A task document; one question of three answers if none are given."""
    asked = questions or [Asked(text="How often?", design=DESIGN)]
    identity = terms.pop("identity", Identity(bytes(32)))
    return new_task(asked, Terms(**{"opens": OPENS, **terms}), identity)


def item(number: int, body: bytes = b"\x01") -> dict[str, str]:
    """A report of JSON."""
    return {"id": f"{number:032x}", "report": b64encode(body).decode()}


@dataclass
class Service:
    """An application, what stands behind it, and a client."""

    settings: Settings = field(default_factory=Settings)
    store: MemoryStore = field(default_factory=MemoryStore)
    now: datetime = datetime(2026, 11, 16, 12, tzinfo=UTC)

    def __post_init__(self) -> None:
        self.wrong = timedelta(0)
        """By how much the time of day is wrong."""
        self.collector = Collector(
            self.store,
            self.submit,
            self.settings,
            clock=lambda: self.now + self.wrong,
            steady=lambda: self.now.timestamp(),
        )
        self.app = application(self.collector)
        self.uploads: list[Upload] = []

    async def submit(self, upload: Upload) -> Sequence[Outcome]:
        self.uploads.append(upload)
        return self.store.add([upload])[0]

    def add(self, document: Mapping[str, Any], state: str = "open") -> str:
        """Keep a task; its id."""
        id = str(document["id"])
        self.store.put_task(id, canonical(document))
        for step in ("open", "closed")[: ("draft", "open", "closed").index(state)]:
            self.store.set_state(id, step)
        return id

    def key(self, role: str) -> dict[str, str]:
        """The header of a new key."""
        return {"authorization": f"Bearer {new_key(self.store, role, today=self.now.date())[1]}"}

    def to_day(self, day: date, hour: int = 12) -> None:
        """Set the clock."""
        self.now = datetime(day.year, day.month, day.day, hour, tzinfo=UTC)

    def later(self, days: int) -> None:
        self.now += timedelta(days)

    def call(
        self,
        method: str,
        path: str,
        body: bytes = b"",
        headers: Mapping[str, str] | None = None,
        *,
        parts: Sequence[bytes | None] | None = None,
    ) -> Reply | None:
        """Send a request; `parts` of its body arrive one by one, None is a connection that breaks."""
        return asyncio.run(self._call(method, path, parts if parts is not None else [body], headers or {}))

    def get(self, path: str, headers: Mapping[str, str] | None = None) -> Reply:
        found = self.call("GET", path, headers=headers)
        assert found is not None
        return found

    def post(self, path: str, content: Any, headers: Mapping[str, str] | None = None, method: str = "POST") -> Reply:
        """Send JSON, or bytes as they are."""
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        found = self.call(method, path, body, {"content-type": "application/json", **(headers or {})})
        assert found is not None
        return found

    def send(self, id: str, *items: Any, headers: Mapping[str, str] | None = None) -> Reply:
        """Upload reports."""
        return self.post(f"/v1/tasks/{id}/reports", {"reports": list(items)}, headers)

    def fates(self, id: str, *items: Any) -> list[str]:
        """What became of reports: accepted, duplicate, or the reason."""
        reply = self.send(id, *items)
        assert reply.status == 200, reply.body
        assert [result["id"] for result in reply.json["results"]] == [each["id"] for each in items]
        assert all(("reason" in result) == (result["status"] == "rejected") for result in reply.json["results"])
        return [result.get("reason") or result["status"] for result in reply.json["results"]]

    async def _call(
        self, method: str, path: str, parts: Sequence[bytes | None], headers: Mapping[str, str]
    ) -> Reply | None:
        whole = b"".join(part for part in parts if part is not None)
        head = {"host": HOST, "content-length": str(len(whole)), **headers}
        bare, _, query = path.partition("?")
        scope = {
            "type": "http",
            "method": method,
            "path": bare,
            "raw_path": bare.encode(),
            "query_string": query.encode(),
            "headers": [(name.encode(), value.encode()) for name, value in head.items()],
            "client": ("203.0.113.7", 4711),
        }
        coming = list(parts)
        sent: list[Any] = []

        async def receive() -> dict[str, Any]:
            part = coming.pop(0) if coming else None
            if part is None:
                return {"type": "http.disconnect"}
            return {"type": "http.request", "body": part, "more_body": bool(coming)}

        async def send(message: Any) -> None:
            sent.append(message)

        await self.app(scope, receive, send)
        if not sent:
            return None
        found = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
        return Reply(sent[0]["status"], found, b"".join(message.get("body", b"") for message in sent[1:]))
