"""What the collector says of itself and of tasks: logs, metrics, notices, the clock, and what its routes are."""

from __future__ import annotations

import json
import logging
import sys
import time
from datetime import UTC, date, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from deniable.service import logs
from deniable.service.alerts.notices import alerts_of, notices
from deniable.service.http.app import ROWS
from deniable.service.http.bodies import room_of_reports
from deniable.service.http.connections import SLICE
from deniable.service.http.openapi import openapi
from deniable.service.http.serve import server
from deniable.service.ingest import NEVER, REASONS
from deniable.service.limits.clocks import Watch, confirm
from deniable.service.metrics import Metrics
from deniable.service.release import OPEN, PUBLISHED, WITHHELD, Window
from deniable.service.settings import Settings
from service.calling import Service, item, task_of
from service.making import DAY, make_task
from service.memory import MemoryStore

MIDNIGHT = datetime(DAY.year, DAY.month, DAY.day, tzinfo=UTC)


# ---- logs


def line(record: logging.LogRecord) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(logs._Lines().format(record))
    return found


def record(level: int = logging.INFO, error: Any = None, **facts: object) -> logging.LogRecord:
    made = logging.LogRecord("deniable.service", level, "x.py", 1, "hap%s", ("pened",), error)
    made.created = 1_767_225_599.9  # the last second of 2025
    if facts:
        made.facts = facts
    return made


def test_a_line_of_the_log_is_in_universal_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        found = line(record(task="f", n=3))
    finally:
        monkeypatch.undo()
        time.tzset()
    assert found == {"time": "2025-12-31T23:59:59Z", "level": "info", "event": "happened", "task": "f", "n": 3}
    assert line(record(logging.WARNING))["level"] == "warning"


def test_an_error_is_logged_by_its_kind_and_its_last_five_places() -> None:
    def deep(depth: int) -> None:
        if not depth:
            raise ValueError("the canary sings")
        deep(depth - 1)

    try:
        deep(9)
    except ValueError:
        found = line(record(logging.ERROR, sys.exc_info()))
    assert (found["level"], found["error"], len(found["at"])) == ("error", "ValueError", 5)
    assert all(place.startswith(__file__) and place.endswith(" deep") for place in found["at"])
    assert "canary" not in json.dumps(found)
    assert "error" not in line(record(error=(None, None, None)))


def test_an_error_is_logged_as_one(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logging.getLogger("deniable.service"), "propagate", True)
    caplog.set_level(logging.INFO, "deniable.service")
    logs.log("went well", n=1)
    logs.log("went wrong", error=KeyError("x"), n=2)
    assert [(each.getMessage(), each.levelno) for each in caplog.records] == [
        ("went well", logging.INFO),
        ("went wrong", logging.ERROR),
    ]
    assert [line(each)["n"] for each in caplog.records] == [1, 2]
    assert [line(each).get("error") for each in caplog.records] == [None, "KeyError"]


def test_the_log_goes_to_standard_error_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """However often it is set up; of others only errors are told, and nothing goes on to other handlers."""
    names = ("deniable.service", "uvicorn", "asyncio")
    before = {name: (logging.getLogger(name).handlers, logging.getLogger(name).propagate, logging.getLogger(name).level)
              for name in names}  # fmt: skip
    try:
        for _ in range(2):
            logs.set_up()
        levels = {name: logging.getLogger(name).level for name in names}
        assert levels == {"deniable.service": logging.INFO, "uvicorn": logging.ERROR, "asyncio": logging.ERROR}
        for name in names:
            (handler,) = logging.getLogger(name).handlers
            assert isinstance(handler, logging.StreamHandler)
            assert handler.stream is sys.stderr
            assert not logging.getLogger(name).propagate
    finally:
        for name, (handlers, propagate, level) in before.items():
            logger = logging.getLogger(name)
            logger.handlers, logger.propagate = handlers, propagate
            logger.setLevel(level)


def test_what_administrators_and_analysts_do_is_logged_with_the_name_of_their_key(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each step once, by whom, and nothing that only looks; uploads are not logged at all."""
    monkeypatch.setattr(logging.getLogger("deniable.service"), "propagate", True)
    caplog.set_level(logging.INFO, "deniable.service")
    service, document = Service(), task_of(min_batch=2)
    boss, analyst, id = service.key("administrator"), service.key("analyst"), document["id"]
    service.post("/v1/tasks", document, boss)
    service.post(f"/v1/tasks/{id}/state", {"state": "open"}, boss, method="PUT")
    service.fates(id, item(1), item(2))
    octets = {**analyst, "accept": "application/octet-stream"}
    assert service.get(f"/v1/tasks/{id}/tally", octets).problem == "conflict"
    service.post(f"/v1/tasks/{id}/state", {"state": "closed"}, boss, method="PUT")
    for path in ("status", "estimate", "tally", "results.csv", "results.json"):
        assert service.get(f"/v1/tasks/{id}/{path}", analyst).status == 200
    assert service.get(f"/v1/tasks/{id}/tally", octets).status == 200
    service.post("/v1/keys", {"role": "analyst", "name": "eve"}, boss)
    service.post("/v1/keys/eve", b"", boss, method="DELETE")
    by, who = {"by": "administrator-1"}, {"by": "analyst-1"}
    assert [(each.getMessage(), each.__dict__["facts"]) for each in caplog.records] == [
        ("task", {"id": id, "state": "draft", **by}),
        ("task", {"id": id, "state": "open", **by}),
        ("task", {"id": id, "state": "closed", **by}),
        ("download", {"id": id, "what": "tally", **who}),
        ("download", {"id": id, "what": "csv", **who}),
        ("download", {"id": id, "what": "json", **who}),
        ("download", {"id": id, "what": "tally", **who}),
        ("key", {"name": "eve", "role": "analyst", **by}),
        ("key", {"name": "eve", "revoked": True, **by}),
    ]


# ---- metrics


def test_counters_are_written_in_order_with_their_kinds() -> None:
    metrics = Metrics({"deniable_x": ("Help.", lambda: 2.5)})
    metrics.requests["/b", "GET", 200] += 2
    metrics.requests["/a", "PUT", 404] += 1
    metrics.reports["rejected", "late"] += 3
    metrics.reports["accepted", ""] += 4
    metrics.failed_sign_ins = 5
    lines = metrics.text().splitlines()
    assert [text for text in lines if not text.startswith("#") and "bucket" not in text] == [
        'deniable_requests_total{route="/a",method="PUT",status="404"} 1',
        'deniable_requests_total{route="/b",method="GET",status="200"} 2',
        'deniable_reports_total{status="accepted",reason=""} 4',
        'deniable_reports_total{status="rejected",reason="late"} 3',
        "deniable_failed_sign_ins_total 5",
        "deniable_upload_seconds_sum 0.000000",
        "deniable_upload_seconds_count 0",
        "deniable_x 2.5",
    ]
    kinds = [text.split()[2:] for text in lines if text.startswith("# TYPE ")]
    assert kinds == [
        ["deniable_requests_total", "counter"],
        ["deniable_reports_total", "counter"],
        ["deniable_failed_sign_ins_total", "counter"],
        ["deniable_upload_seconds", "histogram"],
        ["deniable_x", "gauge"],
    ]
    ends = [text.partition('le="')[2].partition('"')[0] for text in lines if "bucket" in text]
    assert " ".join(ends) == "0.001 0.002 0.005 0.01 0.02 0.05 0.1 0.2 0.5 1.0 2.0 5.0 10.0 +Inf"
    assert metrics.text().endswith("\n")


def test_metrics_are_text_of_prometheus_and_uploads_are_timed() -> None:
    service = Service()
    id = service.add(task_of())
    service.fates(id, item(1))
    service.send(id, {"id": 1})  # what is refused as a whole is no upload that was durable
    reply = service.get("/metrics")
    assert reply.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert "deniable_upload_seconds_count 1\n" in reply.body.decode()
    found = dict(
        line.split(" ") for line in reply.body.decode().splitlines() if line.startswith("deniable_upload_seconds_sum")
    )
    assert 0 < float(found["deniable_upload_seconds_sum"]) < 60


# ---- notices


def ended(number: int, state: str, reports: int, last: date = DAY) -> Window:
    document = {"from": "x", "to": last.isoformat(), "questions": []}
    return Window(number, state, reports, document)


@pytest.mark.parametrize(
    ("counted", "rejected", "told"),
    [
        (0, 9, 0),
        (0, 10, 10),
        (990, 10, 0),  # exactly one in a hundred of all that came
        (989, 10, 10),
        (1980, 20, 0),
        (1979, 20, 20),
        (10_000, 99, 0),
    ],
)
def test_refused_reports_are_told_of_from_ten_on_and_beyond_one_in_a_hundred_of_all(
    counted: int, rejected: int, told: int
) -> None:
    """All windows together; those that no device sends are told apart from those that only came at a wrong time."""
    windows = [ended(0, PUBLISHED, counted - counted // 3), Window(1, OPEN, counted // 3, None)]
    reasons = {"late": rejected - rejected // 3, "impossible": rejected // 3}
    found = [each for each in notices(make_task(), windows, reasons, MIDNIGHT) if each.document["event"] == "refused"]
    assert [(each.document["refused"], each.document["impossible"]) for each in found] == (
        [(rejected, rejected // 3)] if told else []
    )
    kinds = [kind for kind, _ in alerts_of(make_task(), windows, "closed", reasons, MIDNIGHT)]
    assert ("refused" in kinds) == bool(told)


def test_refused_reports_are_told_of_again_when_there_are_ten_times_as_many() -> None:
    task = make_task()
    names = [notices(task, [], {"late": n}, MIDNIGHT)[0].name for n in (10, 99, 100, 999, 1000)]
    assert names == [f"{task.id}/refused-{size}" for size in (2, 2, 3, 3, 4)]


def test_reasons_that_no_honest_device_gives_are_these() -> None:
    assert set(REASONS) - NEVER == {"other-body", "not-open", "early", "late", "sealed"}


def test_withheld_windows_are_named_by_their_numbers_from_one_on() -> None:
    windows = [ended(0, WITHHELD, 3), ended(1, PUBLISHED, 30), ended(2, WITHHELD, 3), Window(3, OPEN, 0, None)]
    ((kind, text),) = alerts_of(make_task(), windows, "closed", {}, MIDNIGHT + timedelta(21))
    assert kind == "withheld"
    assert "1, 3" in text


@pytest.mark.parametrize(
    ("hours", "reports", "warned"),
    [
        (5 * 24 - 1, 0, False),  # two days before the end it begins
        (5 * 24, 0, True),
        (5 * 24, 7, True),  # 7 in five days are 9.8 in seven
        (5 * 24, 8, False),
        (6 * 24, 8, True),  # 9.33
        (6 * 24, 9, False),
        (7 * 24 - 1, 9, True),
        (7 * 24 - 1, 10, False),
        (7 * 24, 0, False),
    ],
)
def test_a_window_with_too_few_reports_is_told_of_in_its_last_two_days(hours: int, reports: int, warned: bool) -> None:
    """By what it will have if they go on as before, of a minimum batch of 10; only of a task that is open."""
    now = MIDNIGHT + timedelta(7, hours=hours)
    windows = [ended(0, PUBLISHED, 20), Window(1, OPEN, reports, None)]
    found = alerts_of(make_task(), windows, "open", {}, now)
    assert [kind for kind, _ in found] == ["few"] * warned
    assert alerts_of(make_task(), windows, "closed", {}, now) == []
    for _, text in found:
        assert text.startswith("Window 2 ends on November 29, 2026, ")
        assert "fewer reports than the minimum batch of 10 for" in text


# ---- the clock


@pytest.mark.parametrize(
    ("off", "says"),
    [
        (timedelta(hours=1), ""),
        (timedelta(hours=-1), ""),
        (timedelta(hours=1, seconds=1), "ahead by 1.0 hours"),
        (timedelta(hours=-1, seconds=-1), "back by 1.0 hours"),
        (timedelta(hours=36), "ahead by 36.0 hours"),
        (timedelta(days=-2), "back by 48.0 hours"),
    ],
)
def test_a_clock_may_be_set_by_an_hour_in_either_direction(off: timedelta, says: str) -> None:
    now, steady = [MIDNIGHT + timedelta(hours=12)], [0.0]
    watch = Watch(MemoryStore(), 7, lambda: now[0], lambda: steady[0])
    assert watch.look() == ""
    now[0] += timedelta(minutes=10) + off
    steady[0] += 600
    assert watch.look() == (f"the clock was set {says} while the collector ran" if says else "")
    assert watch.believed() == (MIDNIGHT + timedelta(hours=12, minutes=10) if says else now[0])


def test_each_day_is_noted_once_and_what_was_confirmed_with_its_second() -> None:
    store, now = MemoryStore(), [MIDNIGHT]
    noted: list[tuple[str, int]] = []
    real = store.put_note

    def put(name: str, value: int) -> None:
        noted.append((name, value))
        real(name, value)

    store.put_note = put  # type: ignore[method-assign]
    watch = Watch(store, 7, lambda: now[0], lambda: now[0].timestamp())
    for hours in (0, 5, 24, 30):
        now[0] = MIDNIGHT + timedelta(hours=hours)
        assert watch.look() == ""
    day = DAY.toordinal()
    assert noted == [("last-day", day), ("last-day", day + 1)]
    noted.clear()
    confirm(store, MIDNIGHT + timedelta(seconds=7.9))
    assert noted == [("last-day", day), ("clock-confirmed", int(MIDNIGHT.timestamp()) + 7)]


# ---- the server


def test_the_server_has_the_limits_of_the_settings() -> None:
    async def app(*_: Any) -> None:
        """Answers nothing."""

    made = Settings(host="127.0.0.9", port=4711, idle_seconds=17, stop_seconds=19, max_connections=23,
                    header_seconds=29, read_seconds=31)  # fmt: skip
    config = server(app, made, print).config
    assert (config.host, config.port, config.timeout_keep_alive) == ("127.0.0.9", 4711, 17)
    assert (config.timeout_graceful_shutdown, config.lifespan) == (19, "on")
    protocol: Any = config.http
    assert (protocol.most, protocol.seconds, protocol.patience) == (23, 29, 31)
    tells = (config.access_log, config.server_header, config.proxy_headers, config.log_config)
    assert tells == (False, False, False, None), "nothing about senders, and no word of theirs about themselves"
    assert config.ws == "none"


@pytest.mark.parametrize(
    ("host", "address"),
    [("127.0.0.1", "http://127.0.0.1:81"), ("::1", "http://[::1]:81"), ("2001:db8::7", "http://[2001:db8::7]:81")],
)
def test_the_address_is_told_as_browsers_write_it(host: str, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once it listens, whose buffers then hold slices and no more; not before."""
    import asyncio
    import socket

    import uvicorn

    told, buffers = list[str](), list[Any]()

    class Listening:
        def getsockname(self) -> tuple[Any, ...]:
            return (host, 81, 0, 0)

        def setsockopt(self, *given: Any) -> None:
            buffers.append(given)

    async def started(own: Any, sockets: Any = None) -> None:
        own.servers, own.started = [SimpleNamespace(sockets=[Listening()])], begins

    monkeypatch.setattr(uvicorn.Server, "startup", started)
    for begins in (False, True):
        asyncio.run(server(lambda *_: None, Settings(), told.append).startup())  # type: ignore[arg-type, return-value]
        assert told == [address] * begins
    sizes = [(socket.SOL_SOCKET, socket.SO_SNDBUF, SLICE), (socket.SOL_SOCKET, socket.SO_RCVBUF, 2 * SLICE)]
    assert buffers == sizes * 2


# ---- bodies


@pytest.mark.parametrize("width", [1, 3, 64, 1000])
def test_what_gzip_may_become_grows_with_what_came(width: int) -> None:
    """64 kB of anything; beyond it for each 16 bytes one report in base64 with its id and 128 bytes around them."""
    room = room_of_reports(width)
    assert [room(size) for size in (0, 15)] == [65_536, 65_536]
    for reports in (1, 2, 1000):
        most = 65_536 + reports * (width * 4 // 3 + 128 + 32)
        assert [room(16 * reports), room(16 * reports + 15)] == [most, most]


# ---- the description


def test_each_route_is_described_with_what_it_takes_and_gives() -> None:
    found = openapi(ROWS)["paths"]
    upload = found["/v1/tasks/{id}/reports"]["post"]
    kinds = upload["requestBody"]["content"]
    assert list(kinds) == ["application/json", "application/octet-stream"]
    assert kinds["application/json"]["schema"] == {"$ref": "#/components/schemas/Batch"}
    assert kinds["application/octet-stream"]["schema"] == {"type": "string", "format": "binary"}
    assert upload["requestBody"]["required"] is True
    assert upload["parameters"] == [
        {"name": "id", "in": "path", "required": True, "schema": {"type": "string", "pattern": "^[0-9a-f]{64}$"}}
    ]
    assert upload["responses"]["200"]["content"] == {
        "application/json": {"schema": {"$ref": "#/components/schemas/Results"}}
    }
    assert "requestBody" not in found["/v1/tasks/{id}"]["get"]
    assert found["/v1/tasks/{id}"]["get"]["responses"]["304"] == {"description": "Done"}
    assert found["/v1/keys/{name}"]["delete"]["responses"]["204"] == {"description": "Done"}
    results = found["/v1/tasks/{id}/results.{kind}"]["get"]
    assert [(one["name"], one["in"]) for one in results["parameters"]] == [
        ("id", "path"), ("kind", "path"), ("target", "query"),
    ]  # fmt: skip
    assert results["parameters"][1]["schema"]["enum"] == ["csv", "json", "parquet"]
    assert "required" not in results["parameters"][2]
    assert set(results["responses"]["200"]["content"]) == {
        "text/csv", "application/json", "application/vnd.apache.parquet",
    }  # fmt: skip
    assert list(found["/metrics"]["get"]["responses"]["200"]["content"]) == ["text/plain"]


def test_problems_are_described_once_for_each_status_with_when_to_try_again() -> None:
    """Of two problems with one status the first is described: the one that the route itself names."""
    found = openapi(ROWS)["paths"]
    for path, methods in found.items():
        for method, operation in methods.items():
            problems = {status: told for status, told in operation["responses"].items() if int(status) >= 400}
            assert {"405", "500"} <= set(problems), (path, method)
            for status, told in problems.items():
                assert list(told["content"]) == ["application/problem+json"]
                assert ("Retry-After" in told.get("headers", {})) == (status in ("408", "429", "503"))
    assert found["/readyz"]["get"]["responses"]["503"]["description"] == "The collector is busy"
    assert found["/v1/tasks/{id}"]["get"]["responses"]["503"]["description"] == "The database cannot be used now"
    assert found["/v1/keys"]["get"]["security"] == [{"key": []}]
    assert openapi(ROWS)["components"]["securitySchemes"] == {"key": {"type": "http", "scheme": "bearer"}}
