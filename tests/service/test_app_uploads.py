"""Uploads: what is counted, what is refused and how that is told, and what a client cannot make the service do."""

from __future__ import annotations

import asyncio
import gzip
import json
import re
import zlib
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import deniable as dn
from deniable.mechanisms.dealt.base import dealt
from deniable.service.http import bodies
from deniable.service.ingest import Intake
from deniable.service.metrics import Metrics
from deniable.service.settings import Settings
from deniable.service.store.contract import Upload
from deniable.service.tasks import Asked
from deniable.service.writer import OverloadedError
from deniable_client.canonical import canonical
from service.calling import DESIGN, OPENS, Service, item, task_of
from service.making import task_document

GOLDEN = Path(__file__).resolve().parents[1] / "golden"


@pytest.fixture
def service() -> Service:
    return Service()


def counted(service: Service, id: str) -> int:
    return sum(tally.n for tally in service.store.tallies(id).values())


# ---- what is counted


def test_a_report_is_counted_once_whatever_is_sent_again(service: Service) -> None:
    id = service.add(task_of())
    assert service.fates(id, item(1)) == ["accepted"]
    assert service.fates(id, item(1)) == ["duplicate"]
    assert service.fates(id, item(1, b"\x02")) == ["other-body"]
    assert service.fates(id, item(2), item(2)) == ["accepted", "duplicate"]
    assert counted(service, id) == 2


def test_answers_come_in_the_order_of_the_request(service: Service) -> None:
    id = service.add(task_of())
    bad = [{"id": "x" * 32, "report": "AQ=="}, {"id": "0" * 31, "report": "AQ=="}, {"id": f"{9:032x}", "report": "?"}]
    sent = [item(1), bad[0], item(2, b"\x01\x01"), item(3), bad[1], item(1), bad[2], item(4, b"\x07")]
    assert service.fates(id, *sent) == [
        "accepted",
        "malformed",
        "length",
        "accepted",
        "malformed",
        "duplicate",
        "malformed",
        "impossible",
    ]
    assert counted(service, id) == 2


@pytest.mark.parametrize("digits", ["0" * 31 + " ", " " * 32, "0" * 31 + "\u0663", "0" * 33, "", "g" * 32])
def test_an_id_is_32_hexadecimal_digits(service: Service, digits: str) -> None:
    id = service.add(task_of())
    assert service.fates(id, {"id": digits, "report": "AQ=="}) == ["malformed"]


def test_an_id_may_be_written_in_capitals(service: Service) -> None:
    id = service.add(task_of())
    assert service.fates(id, {"id": "AB" * 16, "report": "AQ=="}) == ["accepted"]
    assert service.fates(id, {"id": "ab" * 16, "report": "AQ=="}) == ["duplicate"]


def test_octets_are_the_same_reports(service: Service) -> None:
    id = service.add(task_of())
    body = bytes.fromhex(f"{1:032x}") + b"\x01" + bytes.fromhex(f"{2:032x}") + b"\x09"
    reply = service.post(f"/v1/tasks/{id}/reports", body, {"content-type": "application/octet-stream"})
    assert reply.json == {
        "results": [
            {"id": f"{1:032x}", "status": "accepted"},
            {"id": f"{2:032x}", "status": "rejected", "reason": "impossible"},
        ]
    }
    assert service.fates(id, item(1)) == ["duplicate"]
    assert service.post(f"/v1/tasks/{id}/reports", b"", {"content-type": "application/octet-stream"}).json == {
        "results": []
    }


def test_chunks_may_end_anywhere(service: Service) -> None:
    id = service.add(task_of())
    body = json.dumps({"reports": [item(1), item(2)]}).encode()
    parts = [body[i : i + 1] for i in range(len(body))]
    reply = service.call("POST", f"/v1/tasks/{id}/reports", headers={"content-type": "application/json"}, parts=parts)
    assert reply is not None
    assert [result["status"] for result in reply.json["results"]] == ["accepted", "accepted"]


def test_a_client_that_goes_away_early_is_not_counted(service: Service) -> None:
    id = service.add(task_of())
    body = json.dumps({"reports": [item(1)]}).encode()
    for parts in ([None], [body[:10], None], [body[:-1], None]):
        headers = {"content-type": "application/json", "content-length": str(len(body))}
        assert service.call("POST", f"/v1/tasks/{id}/reports", headers=headers, parts=parts) is None
    assert counted(service, id) == 0
    assert service.collector.held.now == 0
    assert service.fates(id, item(1)) == ["accepted"]


def test_a_survey_takes_its_own_bodies_only(service: Service) -> None:
    long = dn.mechanism("oue", epsilon=1.0, k=20).design
    two = [Asked(text="How often?", design=DESIGN), Asked(text="Where?", design=long)]
    id = service.add(task_of(*two, strata={"country": ["DE", "FR"]}))
    good, padded = b"\x01\x00\x01\x00\x00", b"\x01\x00\x01\x00\x01"
    other = b"\x02\x02\x01\x00\x00"  # FR, and a question that there is not
    assert service.fates(id, item(1, good), item(2, padded), item(3, other)) == ["accepted", "padding", "question"]
    assert service.fates(id, item(4, b"\x03" + good[1:]), item(5, good[:-1])) == ["stratum", "length"]
    assert service.fates(id, item(6, b"\x02" + good[1:])) == ["accepted"]


def test_a_survey_of_version_1_has_its_question_first() -> None:
    document = task_document([DESIGN, dn.mechanism("oue", epsilon=1.0, k=20).design], strata={"country": ["DE", "FR"]})
    found = Intake(canonical(document)).check(
        [b"\x00\x01\x01\x00\x00", b"\x02\x01\x01\x00\x00", b"\x00\x02\x01\x00\x00"]
    )
    assert found.reasons == [None, "question", "stratum"]


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.reports")), ids=lambda path: path.stem)
def test_a_report_alone_is_taken_as_in_company(path: Path) -> None:
    """Devices send one by one; whatever kind of report it is, none of the others is needed to look at it."""
    reports = dn.load(path)
    assert isinstance(reports, dn.Reports)
    parts = reports.design.get("parts", [reports.design])
    intake = Intake(canonical(task_of(*(Asked(text="?", design=design) for design in parts))))
    rows = [reports.row(i) for i in range(min(12, len(reports)))]
    assert intake.check(rows).fine.all()
    assert [bool(intake.check([row]).fine.all()) for row in rows] == [True] * len(rows)


def test_a_question_asks_for_one_part() -> None:
    whole = dealt([dn.from_design(DESIGN), dn.mechanism("oue", epsilon=1.0, k=20)])
    with pytest.raises(dn.ParameterError, match="design must be that of one question, got one of several parts"):
        task_of(Asked(text="?", design=whole.design))


# ---- when


@pytest.mark.parametrize(
    ("days", "fate"),
    [
        (-2, "early"),
        (-1, "accepted"),
        (0, "accepted"),
        (13, "accepted"),
        (14, "accepted"),
        (15, "late"),
        (4000, "late"),
    ],
)
def test_reports_come_in_the_task_s_days_and_one_more_for_wrong_clocks(service: Service, days: int, fate: str) -> None:
    id = service.add(task_of(windows=2))
    service.to_day(OPENS + timedelta(days))
    assert service.fates(id, item(1)) == [fate]


def test_a_window_that_is_published_takes_no_more(service: Service) -> None:
    id = service.add(task_of(windows=2))
    service.later(7)
    assert service.get(f"/v1/tasks/{id}/estimate", service.key("analyst")).status == 200
    service.later(-7)  # a clock that goes back
    assert service.fates(id, item(1)) == ["sealed"]


def test_a_task_must_be_open(service: Service) -> None:
    closed = service.add(task_of(subject="closed"), "closed")
    assert service.fates(closed, item(1)) == ["not-open"]
    draft = service.add(task_of(subject="draft"), "draft")
    for id in (draft, "0" * 64, "nonsense", "\u0663" * 64):
        assert service.send(id, item(1)).problem == "not-found"
        assert service.get(f"/v1/tasks/{id}").problem == "not-found"
    service.store.set_state(draft, "open")
    service.collector.forget(draft)
    assert service.fates(draft, item(1)) == ["accepted"]


# ---- what is refused as a whole


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"", "malformed"),
        (b"{", "malformed"),
        (b"\xff\xfe", "malformed"),
        (b'{"reports": [{"id": "\xff", "report": ""}]}', "malformed"),
        (b'{"\xff": [{"id": 1, "report": ""}]}', "malformed"),
        (b"[" * 100_000, "invalid"),
        (b"{}", "invalid"),
        (b"[]", "invalid"),
        (b"null", "invalid"),
        (b'{"reports": 1}', "invalid"),
        (b'{"reports": [1]}', "invalid"),
        (b'{"reports": [{"id": 1, "report": "AQ=="}]}', "invalid"),
        (b'{"reports": [{"id": "00112233445566778899aabbccddeeff"}]}', "invalid"),
        (b'{"reports": [], "name": "me"}', "invalid"),
        (b'{"reports": [{"id": "00112233445566778899aabbccddeeff", "report": "AQ==", "user": 7}]}', "invalid"),
    ],
)
def test_a_body_that_is_no_list_of_reports(service: Service, body: bytes, problem: str) -> None:
    id = service.add(task_of())
    assert service.post(f"/v1/tasks/{id}/reports", body).problem == problem
    assert service.uploads == []


def test_octets_must_be_whole_records(service: Service) -> None:
    id = service.add(task_of())
    reply = service.post(f"/v1/tasks/{id}/reports", bytes(18), {"content-type": "application/octet-stream"})
    assert reply.problem == "invalid"
    assert "17 bytes" in reply.json["detail"]


@pytest.mark.parametrize("kind", ["text/plain", "multipart/form-data", "", "application/jsonx"])
def test_other_media_types(service: Service, kind: str) -> None:
    id = service.add(task_of())
    reply = service.post(f"/v1/tasks/{id}/reports", b"{}", {"content-type": kind})
    assert reply.problem == "media-type"
    assert reply.headers["accept-post"] == "application/json, application/octet-stream"


def test_the_media_type_may_have_parameters(service: Service) -> None:
    id = service.add(task_of())
    assert service.send(id, item(1), headers={"content-type": "Application/JSON; charset=utf-8"}).status == 200


def test_too_many_bytes_or_reports() -> None:
    service = Service(Settings(max_body=2048, max_reports=10))
    id = service.add(task_of())
    path, head = f"/v1/tasks/{id}/reports", {"content-type": "application/json"}
    assert service.send(id, *map(item, range(11))).problem == "too-large"
    assert service.post(path, b" " * 2049).problem == "too-large"
    said_less = service.call("POST", path, headers={**head, "content-length": "5"}, parts=[b" " * 2000, b" " * 49])
    assert said_less is not None
    assert said_less.problem == "too-large"
    unsaid = service.call("POST", path, headers={**head, "content-length": "-1"}, parts=[b" " * 2000, b" " * 49])
    assert unsaid is not None
    assert unsaid.problem == "too-large"
    assert service.collector.held.now == 0
    assert len(service.fates(id, *map(item, range(10)))) == 10


def test_too_many_reports_are_refused_before_any_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Well formed or not: reports that are no base64 count as reports, and none of them costs anything."""
    service = Service(Settings(max_reports=10))
    id = service.add(task_of())
    wrong = {"id": "0" * 32, "report": "?"}
    assert len(service.fates(id, *[item(1), *[wrong] * 9])) == 10

    def looked(body: bytes) -> Any:
        raise AssertionError("a report was looked at")

    monkeypatch.setattr(bodies, "_read_json", looked)
    assert service.send(id, *map(item, range(11))).problem == "too-large"
    assert service.send(id, *[wrong] * 11).problem == "too-large"


# ---- compression


def zipped(service: Service, id: str, body: bytes, encoding: str = "gzip") -> Any:
    return service.post(f"/v1/tasks/{id}/reports", body, {"content-encoding": encoding})


def test_compressed_bodies(service: Service) -> None:
    id = service.add(task_of())
    whole = gzip.compress(json.dumps({"reports": [item(1)]}).encode())
    assert zipped(service, id, whole).json["results"][0]["status"] == "accepted"
    for broken in (whole[:-1], whole + b"x", whole + whole, b"nothing", b"", zlib.compress(b"{}")):
        assert zipped(service, id, broken).problem == "malformed"
    assert zipped(service, id, whole, "br").problem == "media-type"
    assert zipped(service, id, whole, "gzip, gzip").problem == "media-type"


def test_a_bomb_stays_small() -> None:
    service = Service(Settings(max_body=1 << 16))
    id = service.add(task_of())
    bomb = gzip.compress(b" " * (30 << 20), 9)
    assert len(bomb) < 1 << 16
    import tracemalloc

    tracemalloc.start()
    assert zipped(service, id, bomb).problem == "too-large"
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 << 20  # 30 MiB if it were unpacked


# ---- slow, many, broken


def test_a_slow_body_is_not_waited_for() -> None:
    service = Service(Settings(body_seconds=0.02))  # type: ignore[arg-type]  # shorter than settings allow
    id = service.add(task_of())

    async def never() -> Any:
        await asyncio.sleep(60)

    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    path = f"/v1/tasks/{id}/reports"
    headers = [(b"content-type", b"application/json"), (b"content-length", b"100")]
    scope = {"type": "http", "method": "POST", "path": path, "query_string": b"", "headers": headers}
    asyncio.run(service.app(scope, never, send))
    assert sent[0]["status"] == 408
    assert (b"connection", b"close") in sent[0]["headers"]
    assert service.collector.held.now == 0


def test_more_than_memory_holds_is_told_to_wait() -> None:
    service = Service(Settings(max_memory=1000))
    id = service.add(task_of())
    reply = service.post(f"/v1/tasks/{id}/reports", b" " * 1001)
    assert reply.problem == "busy"
    assert int(reply.headers["retry-after"]) > 0
    assert service.fates(id, item(1)) == ["accepted"]


def test_more_than_the_rate_is_told_to_wait() -> None:
    service = Service(Settings(rate=5))
    id = service.add(task_of())

    async def burst() -> list[int]:
        found = []
        for start in range(0, 12, 4):
            body = json.dumps({"reports": [item(i) for i in range(start, start + 4)]}).encode()
            reply = await service._call("POST", f"/v1/tasks/{id}/reports", [body], {"content-type": "application/json"})
            assert reply is not None
            found.append(reply.status)
        return found

    assert asyncio.run(burst()) == [200, 429, 429]
    assert service.send(id, item(99), item(98)).headers["retry-after"] == "1"
    assert counted(service, id) == 4


def test_an_upload_larger_than_the_rate_is_taken_once_a_second_has_passed_and_paid_for_after(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A bucket of 5, on a clock of our own: reports beyond it are a debt, and rest beyond a second is no credit."""
    service = Service(Settings(rate=5))
    id = service.add(task_of())
    steps = [
        (0, 12, 200),  # the bucket was full: 7 are owed
        (0, 1, 429),
        (1, 1, 429),  # 2 are owed
        (1.5, 1, 429),  # half of a report is there
        (1.75, 1, 200),  # 1.75 were there, 0.75 are left
        (2.5, 12, 429),  # 4.5
        (2.75, 12, 200),  # all of 5: 7 are owed
        (3.75, 5, 429),
        (5, 4, 200),  # 4.25 were there
        (60, 5, 200),
        (60, 1, 429),  # 5 and no more in a minute
    ]

    async def burst() -> list[tuple[float, int, int]]:
        loop = asyncio.get_running_loop()
        start, found = float(int(loop.time()) + 1), list[tuple[float, int, int]]()
        for number, (seconds, n, _) in enumerate(steps):
            monkeypatch.setattr(loop, "time", lambda now=start + seconds: now)
            body = json.dumps({"reports": [item(100 * number + i) for i in range(n)]}).encode()
            reply = await service._call("POST", f"/v1/tasks/{id}/reports", [body], {"content-type": "application/json"})
            assert reply is not None
            found.append((seconds, n, reply.status))
        return found

    assert asyncio.run(burst()) == steps
    assert counted(service, id) == 12 + 1 + 12 + 4 + 5


def test_a_full_queue_is_told_to_wait(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    id = service.add(task_of())

    async def full(_: Upload) -> Any:
        raise OverloadedError("full.")

    monkeypatch.setattr(service.collector, "_submit", full)
    reply = service.send(id, item(1))
    assert (reply.status, reply.problem) == (503, "busy")
    assert int(reply.headers["retry-after"]) > 0


def test_nothing_is_read_of_a_request_that_would_not_be_taken(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under load most requests are turned away: that must cost next to nothing."""
    id = service.add(task_of())
    read = []
    monkeypatch.setattr("deniable.service.http.app.read_reports", lambda *given: read.append(given))
    monkeypatch.setattr(service.collector, "_full", lambda: True)
    reply = service.send(id, item(1))
    assert (reply.status, reply.problem, read) == (503, "busy", [])
    assert int(reply.headers["retry-after"]) > 0


def test_a_database_that_cannot_be_used_is_told_and_recovers(service: Service) -> None:
    id = service.add(task_of())
    service.store.fails = True
    for reply in (service.send(id, item(1)), service.get("/readyz"), service.get(f"/v1/tasks/{id}")):
        assert (reply.status, reply.problem) == (503, "unavailable")
        assert int(reply.headers["retry-after"]) > 0
    assert service.get("/healthz").status == 200
    service.store.fails = False
    assert service.get("/readyz").status == 200
    assert service.fates(id, item(1)) == ["accepted"]


def test_a_service_that_stops_takes_nothing_new(service: Service) -> None:
    id = service.add(task_of())
    service.collector.stopping = True
    assert service.send(id, item(1)).problem == "busy"
    assert service.get("/readyz").problem == "busy"
    assert counted(service, id) == 0


def test_a_fault_of_ours_says_nothing_about_the_inside(
    service: Service, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    id = service.add(task_of())

    async def broken(_: Upload) -> Any:
        raise RuntimeError("the canary sings")

    monkeypatch.setattr(service.collector, "_submit", broken)
    reply = service.send(id, item(1))
    assert reply.problem == "fault"
    assert b"canary" not in reply.body
    assert [record.getMessage() for record in caplog.records if record.name == "deniable.service"] == ["fault"]


# ---- pages of other sites


def test_other_sites_are_allowed_by_task() -> None:
    one, two = task_of(subject="one"), task_of(subject="two")
    service = Service(Settings(cors={one["id"]: ("https://a.example",), "*": ("https://all.example",)}))
    for document in (one, two):
        service.add(document)
    for id, origin, allowed in [
        (one["id"], "https://a.example", True),
        (one["id"], "https://all.example", True),
        (two["id"], "https://a.example", False),
        (two["id"], "https://all.example", True),
        (one["id"], "https://evil.example", False),
        (one["id"], "null", False),
    ]:
        for reply in (
            service.send(id, item(1), headers={"origin": origin}),
            service.get(f"/v1/tasks/{id}", {"origin": origin}),
            service.call("OPTIONS", f"/v1/tasks/{id}/reports", headers={"origin": origin}),
        ):
            assert reply is not None
            assert reply.status in (200, 204)
            assert reply.headers.get("access-control-allow-origin") == (origin if allowed else None)
            assert reply.headers["vary"] == "Origin"
            assert "access-control-allow-credentials" not in reply.headers
    estimate = service.get(f"/v1/tasks/{one['id']}/estimate", {"origin": "https://a.example", **service.key("analyst")})
    assert "access-control-allow-origin" not in estimate.headers


# ---- other answers


def test_the_task_document_is_what_was_sealed(service: Service) -> None:
    document = task_of()
    id = service.add(document)
    reply = service.get(f"/v1/tasks/{id}")
    assert reply.json == document
    assert "immutable" in reply.headers["cache-control"]
    again = service.get(f"/v1/tasks/{id}", {"if-none-match": reply.headers["etag"]})
    assert (again.status, again.body) == (304, b"")


def test_what_is_not_there(service: Service) -> None:
    assert service.get("/v2").problem == "not-found"
    reply = service.call("DELETE", "/healthz")
    assert reply is not None
    assert reply.problem == "method"
    assert reply.headers["allow"] == "GET, HEAD"
    head = service.call("HEAD", "/healthz")
    assert head is not None
    assert head.status == 200


def test_metrics_count_reports_and_requests(service: Service) -> None:
    id = service.add(task_of())
    service.fates(id, item(1), item(2), item(2), item(3, b"\x09"))
    service.call("BREW", "/healthz")
    lines = service.get("/metrics").body.decode().splitlines()
    assert 'deniable_reports_total{status="accepted",reason=""} 2' in lines
    assert 'deniable_reports_total{status="rejected",reason="impossible"} 1' in lines
    assert 'deniable_requests_total{route="/v1/tasks/{id}/reports",method="POST",status="200"} 1' in lines
    assert 'deniable_requests_total{route="/healthz",method="other",status="405"} 1' in lines
    assert "deniable_upload_seconds_count 1" in lines
    assert id not in "".join(lines)


def test_buckets_of_times_are_cumulative() -> None:
    """As Prometheus wants them: each has all uploads that took at most so long, the last one all."""
    metrics = Metrics({})
    for seconds in (0.0005, 0.0015, 0.0015, 0.3, 99.0):
        metrics.uploaded(seconds)
    found = dict(re.findall(r'bucket\{le="([^"]+)"\} (\d+)', metrics.text()))
    assert {end: int(found[end]) for end in ("0.001", "0.002", "0.2", "0.5", "10.0", "+Inf")} == {
        "0.001": 1,
        "0.002": 3,
        "0.2": 3,
        "0.5": 4,
        "10.0": 4,
        "+Inf": 5,
    }
    assert "deniable_upload_seconds_count 5\n" in metrics.text()


def test_what_is_unpacked_is_memory_that_is_held() -> None:
    """A small body of gzip that becomes a large one waits for the room of the large one."""
    service = Service(Settings(max_memory=1 << 20))
    id = service.add(task_of())
    seen: list[int] = []
    usual = service.collector.upload

    async def upload(given: Upload) -> Any:
        seen.append(service.collector.held.now)
        return await usual(given)

    service.collector.upload = upload  # type: ignore[method-assign]
    plain = json.dumps({"reports": [item(number) for number in range(500)]}).encode()
    packed = gzip.compress(plain, 9)
    assert zipped(service, id, packed).status == 200
    assert seen[0] >= len(plain) + len(packed)
    assert service.collector.held.now == 0


def test_a_time_at_the_end_of_a_bucket_is_inside_it() -> None:
    metrics = Metrics({})
    for seconds in (0.001, 0.0011, 10.0, 10.1):
        metrics.uploaded(seconds)
    found = dict(re.findall(r'bucket\{le="([^"]+)"\} (\d+)', metrics.text()))
    assert {end: int(found[end]) for end in ("0.001", "0.002", "5.0", "10.0", "+Inf")} == {
        "0.001": 1,
        "0.002": 2,
        "5.0": 2,
        "10.0": 3,
        "+Inf": 4,
    }
